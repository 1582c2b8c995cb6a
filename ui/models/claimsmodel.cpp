// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/models/claimsmodel.h"

#include "ui/theme/semanticcolors.h"
#include "ui/viewmodel/numbers.h"

#include <QCoreApplication>
#include <QGuiApplication>
#include <QJsonArray>
#include <QLocale>

namespace kerf {

namespace {

QString say(const char *text) { return QCoreApplication::translate("Evidence", text); }

QString sourceWord(const QString &source)
{
    if (source == QLatin1String("calibration"))
        return say("calibration");
    if (source == QLatin1String("observed"))
        return say("observed requests");
    if (source == QLatin1String("log"))
        return say("server log");
    if (source == QLatin1String("flags"))
        return say("start flags");
    if (source == QLatin1String("gguf"))
        return say("model file");
    if (source == QLatin1String("name"))
        return say("model's name");
    if (source == QLatin1String("slots"))
        return say("slot payload");
    return source;
}

} // namespace

QString claimWord(const QString &claim)
{
    if (claim == QLatin1String("memory_kind"))
        return say("Memory kind");
    if (claim == QLatin1String("chunk_reuse"))
        return say("Chunk reuse");
    if (claim == QLatin1String("ring"))
        return say("Checkpoint ring");
    if (claim == QLatin1String("idle_slots_cleared"))
        return say("Idle slots cleared");
    QString word = claim;
    word.replace(QLatin1Char('_'), QLatin1Char(' '));
    if (!word.isEmpty())
        word[0] = word.at(0).toUpper();
    return word;
}

QString claimValueWord(const QString &claim, const QString &value)
{
    if (claim == QLatin1String("memory_kind"))
        return value == QLatin1String("full_attention") ? say("full attention") : value;
    if (claim == QLatin1String("chunk_reuse")) {
        bool isNumber = false;
        const int tokens = value.toInt(&isNumber);
        if (isNumber)
            return tokens == 0 ? say("off") : say("from %1 tokens").arg(number(tokens));
    }
    return value;
}

EvidenceValue parseEvidence(const QJsonObject &object)
{
    EvidenceValue result;
    result.known = true;
    result.key = object.value(QLatin1String("key")).toString();
    result.simulated = object.value(QLatin1String("simulated")).toBool();
    const QJsonArray rows = object.value(QLatin1String("rows")).toArray();
    for (const QJsonValue &value : rows) {
        const QJsonObject row = value.toObject();
        ClaimValue claim;
        claim.claim = row.value(QLatin1String("claim")).toString();
        claim.value = row.value(QLatin1String("value")).toString();
        claim.evidence = row.value(QLatin1String("evidence")).toString();
        claim.detail = row.value(QLatin1String("detail")).toString();
        const QString when = row.value(QLatin1String("when")).toString();
        claim.when = QDateTime::fromString(when, Qt::ISODateWithMs);
        if (!claim.when.isValid())
            claim.when = QDateTime::fromString(when, Qt::ISODate);
        claim.stored = row.value(QLatin1String("stored")).toBool();
        claim.forgettable = row.value(QLatin1String("forgettable")).toBool();
        const QJsonArray against = row.value(QLatin1String("contradicted_by")).toArray();
        for (const QJsonValue &entry : against) {
            const QJsonObject other = entry.toObject();
            claim.contradictedBy << say("%1: %2").arg(
                sourceWord(other.value(QLatin1String("evidence")).toString()),
                claimValueWord(claim.claim, other.value(QLatin1String("value")).toString()));
        }
        result.claims << claim;
    }
    const QJsonArray probe = object.value(QLatin1String("probe")).toArray();
    for (const QJsonValue &value : probe) {
        const QJsonObject row = value.toObject();
        ProbeValue step;
        step.name = row.value(QLatin1String("name")).toString();
        step.route = row.value(QLatin1String("route")).toString();
        if (const QJsonValue status = row.value(QLatin1String("http_status")); status.isDouble())
            step.httpStatus = status.toInt();
        step.ok = row.value(QLatin1String("ok")).toBool();
        step.message = row.value(QLatin1String("message")).toString();
        result.probe << step;
    }
    return result;
}

void ClaimsModel::setClaims(const QList<ClaimValue> &rows)
{
    setRows(rows,
            [](const ClaimValue &row) { return QStringLiteral("%1|%2|%3").arg(row.claim, row.evidence, row.value); });
}

QVariant ClaimsModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= m_rows.size())
        return {};
    const ClaimValue &row = m_rows.at(index.row());
    const SemanticColors colors = SemanticColors::of(QGuiApplication::palette());
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
    case SortRole:
        switch (index.column()) {
        case Claim:
            return claimWord(row.claim);
        case Value:
            return claimValueWord(row.claim, row.value);
        case Source: {
            const QString source = row.stored ? tr("%1, kept").arg(sourceWord(row.evidence)) : sourceWord(row.evidence);
            return row.detail.isEmpty() ? source : tr("%1: %2").arg(source, row.detail);
        }
        case When: {
            if (!row.when.isValid())
                return tr("not reported");
            const QDateTime local = row.when.toLocalTime();
            return local.date() == QDate::currentDate() ? QLocale().toString(local.time(), QStringLiteral("HH:mm:ss"))
                                                        : QLocale().toString(local, QLocale::ShortFormat);
        }
        case Contradicted:
            return row.contradictedBy.isEmpty() ? tr("nothing") : row.contradictedBy.join(QStringLiteral("; "));
        default:
            return {};
        }
    case Qt::ToolTipRole: {
        QString text = tr("%1: %2").arg(claimWord(row.claim), claimValueWord(row.claim, row.value));
        text += QLatin1Char('\n') + index.siblingAtColumn(Source).data().toString();
        if (row.stored)
            text += QLatin1Char('\n') + tr("Kept from an earlier run of this build, model and window.");
        if (!row.contradictedBy.isEmpty())
            text += QLatin1Char('\n') + tr("Contradicted by %1").arg(row.contradictedBy.join(QStringLiteral("; ")));
        return text;
    }
    case Qt::ForegroundRole:
        if (index.column() == Contradicted)
            return row.contradictedBy.isEmpty() ? colors.dimText : colors.warning;
        return index.column() == When ? QVariant(colors.dimText) : QVariant();
    case RawRole:
        return index.column() == Claim ? row.claim : index.column() == Value ? row.value : row.evidence;
    default:
        return {};
    }
}

QVariant ClaimsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Claim:
        return tr("Claim");
    case Value:
        return tr("Value");
    case Source:
        return tr("Evidence");
    case When:
        return tr("When");
    case Contradicted:
        return tr("Contradicted by");
    default:
        return {};
    }
}

void ProbeModel::setProbe(const QList<ProbeValue> &rows)
{
    setRows(rows, [](const ProbeValue &row) { return row.name; });
}

QVariant ProbeModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= m_rows.size())
        return {};
    const ProbeValue &row = m_rows.at(index.row());
    const SemanticColors colors = SemanticColors::of(QGuiApplication::palette());
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
    case SortRole:
        switch (index.column()) {
        case Step:
            return row.route.isEmpty() ? row.name : row.route;
        case Status: {
            const QString sign = row.ok ? QStringLiteral("✓") : QStringLiteral("✕");
            return row.httpStatus ? tr("%1 %2").arg(sign).arg(*row.httpStatus) : tr("%1 no answer").arg(sign);
        }
        case Message:
            return row.message.isEmpty() ? (row.ok ? tr("works") : tr("not reported")) : row.message;
        default:
            return {};
        }
    case Qt::ToolTipRole:
        return tr("Probe step %1, %2: %3")
            .arg(row.name, row.httpStatus ? tr("HTTP %1").arg(*row.httpStatus) : tr("no answer"),
                 row.message.isEmpty() ? (row.ok ? tr("works") : tr("not reported")) : row.message);
    case Qt::ForegroundRole:
        if (index.column() == Status)
            return row.ok ? colors.reused : colors.warning;
        return index.column() == Message && row.message.isEmpty() ? QVariant(colors.dimText) : QVariant();
    case RawRole:
        return index.column() == Status ? QVariant(row.httpStatus.value_or(0)) : QVariant(row.name);
    default:
        return {};
    }
}

QVariant ProbeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Step:
        return tr("Probe step");
    case Status:
        return tr("Status");
    case Message:
        return tr("What the server says");
    default:
        return {};
    }
}

} // namespace kerf
