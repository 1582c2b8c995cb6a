// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/calibrationtext.h"

#include "core/engine/text.h"

#include <QJsonArray>
#include <QStringList>

#include <algorithm>

namespace kerf {

namespace {

QString count(const QJsonObject &row, const char *field)
{
    const QJsonValue value = row.value(QLatin1String(field));
    return value.isDouble() ? groupedNumber(value.toInt()) : QString(); // has no meaning for this step
}

QString yesNo(const QJsonValue &value, const QString &yes, const QString &no)
{
    return value.isBool() ? (value.toBool() ? yes : no) : QStringLiteral("not tried");
}

QString milliseconds(const QJsonValue &value, int digits)
{
    return value.isDouble() ? QString::number(value.toDouble(), 'f', digits) : QStringLiteral("not reported");
}

} // namespace

QString renderCalibrationPlan(const QJsonObject &plan)
{
    QStringList lines;
    const QJsonValue ms = plan.value(QStringLiteral("ms_at_most"));
    lines.append(
        QStringLiteral("To slot %1: at most %2 requests that generate nothing, at most %3 tokens to prefill%4.")
            .arg(plan.value(QStringLiteral("slot_id")).toInt())
            .arg(plan.value(QStringLiteral("requests_at_most")).toInt())
            .arg(count(plan, "tokens_at_most"),
                 ms.isDouble() ? QStringLiteral(", ~%1 s").arg(ms.toDouble() / 1000, 0, 'f', 1)
                               : QStringLiteral("; how long that takes is not known yet")));
    const QJsonArray warnings = plan.value(QStringLiteral("warnings")).toArray();
    for (const QJsonValue &warning : warnings)
        lines.append(QStringLiteral("Careful: %1.").arg(warning.toString()));
    return lines.join(QLatin1Char('\n'));
}

QString renderCalibration(const QJsonObject &result)
{
    if (result.value(QStringLiteral("dry_run")).toBool())
        return renderCalibrationPlan(result.value(QStringLiteral("plan")).toObject());
    const bool simulated = result.value(QStringLiteral("simulated")).toBool();
    const auto line = [](const QString &name, const QString &text) {
        return QStringLiteral("%1 %2").arg(name + QLatin1Char(':'), -15).arg(text);
    };
    QStringList lines;
    lines.append(line(QStringLiteral("calibration"),
                      result.value(QStringLiteral("summary")).toString()
                          + (simulated ? QStringLiteral(" [simulated]") : QString())));
    const QJsonValue grain = result.value(QStringLiteral("rewind_grain_tokens"));
    lines.append(line(QStringLiteral("memory"),
                      QStringLiteral("%1; %2").arg(
                          result.value(QStringLiteral("memory_kind")).toString(),
                          !grain.isDouble() ? QStringLiteral("how much a rewind loses is not known")
                              : grain.toInt() == 1
                              ? QStringLiteral("a rewind loses nothing")
                              : QStringLiteral("a rewind lost up to %1 tokens").arg(groupedNumber(grain.toInt())))));
    const QJsonValue chunks = result.value(QStringLiteral("chunk_reuse"));
    lines.append(line(QStringLiteral("chunk reuse"),
                      !chunks.isDouble()        ? QStringLiteral("not tried")
                          : chunks.toInt() == 0 ? QStringLiteral("off")
                                                : QStringLiteral("runs of %1 tokens and more").arg(chunks.toInt())));
    lines.append(
        line(QStringLiteral("restore"),
             yesNo(result.value(QStringLiteral("restore_holds")), QStringLiteral("holds: the next request reused it"),
                   QStringLiteral("does not hold: the next request did not reuse it"))));
    const QJsonObject cost = result.value(QStringLiteral("prefill_cost")).toObject();
    lines.append(
        line(QStringLiteral("prefill"),
             cost.value(QStringLiteral("ms_per_token")).isDouble()
                 ? QStringLiteral("%1 ms a token, %2 ms more a token for each 1,000 in front of it, %3 ms a request")
                       .arg(milliseconds(cost.value(QStringLiteral("ms_per_token")), 3),
                            milliseconds(cost.value(QStringLiteral("ms_per_token_per_1k")), 4),
                            milliseconds(cost.value(QStringLiteral("ms_per_request")), 1))
                 : QStringLiteral("not measured")));
    const QJsonArray notes = result.value(QStringLiteral("notes")).toArray();
    for (const QJsonValue &note : notes)
        lines.append(line(QStringLiteral("note"), note.toString()));

    lines.append(QString());
    lines.append(QStringLiteral("%1 %2 %3 %4 %5  %6")
                     .arg(QStringLiteral("step"), -16)
                     .arg(QStringLiteral("sent"), 8)
                     .arg(QStringLiteral("reused"), 8)
                     .arg(QStringLiteral("prefilled"), 9)
                     .arg(QStringLiteral("ms"), 10)
                     .arg(QStringLiteral("concluded")));
    const QJsonArray steps = result.value(QStringLiteral("steps")).toArray();
    for (const QJsonValue &value : steps) {
        const QJsonObject step = value.toObject();
        const QJsonValue ms = step.value(QStringLiteral("ms"));
        lines.append(QStringLiteral("%1 %2 %3 %4 %5  %6")
                         .arg(step.value(QStringLiteral("name")).toString(), -16)
                         .arg(count(step, "sent"), 8)
                         .arg(count(step, "reused"), 8)
                         .arg(count(step, "prefilled"), 9)
                         .arg(ms.isDouble() ? QString::number(ms.toDouble(), 'f', 1) : QString(), 10)
                         .arg(step.value(QStringLiteral("concluded")).toString()));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace kerf
