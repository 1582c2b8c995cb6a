// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/models/tablemodels.h"

#include "ui/theme/semanticcolors.h"
#include "ui/viewmodel/numbers.h"

#include <QFont>
#include <QGuiApplication>
#include <QLocale>

namespace kerf {

namespace {

constexpr int kRight = static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);

QColor outcomeColor(const QString &outcome)
{
    const SemanticColors c = SemanticColors::of(QGuiApplication::palette());
    if (outcome == QLatin1String("confirmed") || outcome == QLatin1String("better"))
        return c.reused;
    if (outcome == QLatin1String("refuted"))
        return c.refuted;
    return c.dimText;
}

} // namespace

// ---- compactions ------------------------------------------------------------------------------------------

void CompactionsModel::setCompactions(const QList<PlanValue> &rows)
{
    setRows(rows, [](const PlanValue &plan) { return plan.number; });
}

int CompactionsModel::rowOf(int number) const
{
    for (qsizetype i = 0; i < m_rows.size(); ++i) {
        if (m_rows.at(i).number == number)
            return static_cast<int>(i);
    }
    return -1;
}

QVariant CompactionsModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= m_rows.size())
        return {};
    const PlanValue &plan = m_rows.at(index.row());
    const bool sim = plan.boundary.simulated;
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole) {
        switch (index.column()) {
        case Number:
            return number(plan.number);
        case VerdictColumn:
            return verdictShort(plan);
        case Reused:
            return plan.measuredReuse ? number(*plan.measuredReuse, !sim) : approx(plan.boundary.predictedReuse);
        case Prefilled:
            return plan.measuredPrefill ? number(*plan.measuredPrefill, !sim) : approx(plan.boundary.predictedPrefill);
        case Ms:
            if (plan.measuredMs)
                return number(qRound64(*plan.measuredMs), !sim);
            return plan.boundary.predictedMs >= 0 ? approx(qRound64(plan.boundary.predictedMs)) : tr("not reported");
        case Outcome:
            return sim ? tr("~ %1", "simulated outcome").arg(outcomeWord(plan.outcome))
                       : tr("%1 %2", "sign, outcome").arg(outcomeSign(plan.outcome), outcomeWord(plan.outcome));
        default:
            return {};
        }
    }
    if (role == Qt::TextAlignmentRole && index.column() != VerdictColumn && index.column() != Outcome)
        return kRight;
    if (role == Qt::ForegroundRole && index.column() == Outcome)
        return sim ? SemanticColors::of(QGuiApplication::palette()).simulated : outcomeColor(plan.outcome);
    if (role == Qt::ForegroundRole && !plan.measuredReuse
        && (index.column() == Reused || index.column() == Prefilled || index.column() == Ms))
        return SemanticColors::of(QGuiApplication::palette()).dimText;
    if (role == Qt::FontRole && index.column() == Outcome) {
        QFont bold;
        bold.setBold(true);
        return bold;
    }
    if (role == SortRole || role == RawRole) {
        switch (index.column()) {
        case Number:
            return plan.number;
        case VerdictColumn:
            return verdictName(plan.verdict);
        case Reused:
            return plan.measuredReuse.value_or(plan.boundary.predictedReuse);
        case Prefilled:
            return plan.measuredPrefill.value_or(plan.boundary.predictedPrefill);
        case Ms:
            return plan.measuredMs.value_or(plan.boundary.predictedMs);
        case Outcome:
            return plan.outcome;
        default:
            return {};
        }
    }
    if (role == Qt::ToolTipRole) {
        const QString when = QLocale().toString(plan.appliedAt.toLocalTime(), QLocale::ShortFormat);
        QString text = tr("Compaction %1, %2.\n%3\ncache_status %4")
                           .arg(number(plan.number), when, verdictHeadline(plan), cacheStatusName(plan.cacheStatus));
        if (plan.outcome == QLatin1String("refuted"))
            text = tr("%1\nPredicted %2, measured %3: %4")
                       .arg(text, number(plan.boundary.predictedReuse), numberOr(plan.measuredReuse),
                            plan.cause.isEmpty() ? tr("cause unknown") : plan.cause);
        return text;
    }
    return {};
}

QVariant CompactionsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return section == VerdictColumn || section == Outcome ? static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter)
                                                              : kRight;
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Number:
        return tr("#");
    case VerdictColumn:
        return tr("Verdict");
    case Reused:
        return tr("Reused");
    case Prefilled:
        return tr("Prefilled");
    case Ms:
        return tr("ms");
    case Outcome:
        return tr("Outcome");
    default:
        return {};
    }
}

// ---- checkpoints ------------------------------------------------------------------------------------------

void CheckpointsModel::setPicture(const CutPicture &picture, const QDateTime &now)
{
    const bool words = picture.cut != m_picture.cut || picture.requested != m_picture.requested
        || picture.aligned != m_picture.aligned || picture.simulated != m_picture.simulated;
    m_picture = picture;
    m_picture.blocks.clear();
    m_picture.alternatives.clear();
    m_now = now;
    QList<CheckpointMark> rows = picture.checkpoints;
    std::reverse(rows.begin(), rows.end()); // deepest first, as the ring fills
    setRows(rows, [](const CheckpointMark &mark) { return std::pair(mark.checkpoint.position, mark.checkpoint.kind); });
    if (words && !m_rows.isEmpty())
        Q_EMIT dataChanged(index(0, 0), index(static_cast<int>(m_rows.size()) - 1, ColumnCount - 1));
}

int CheckpointsModel::rowOf(int position) const
{
    for (qsizetype i = 0; i < m_rows.size(); ++i) {
        if (m_rows.at(i).checkpoint.position == position)
            return static_cast<int>(i);
    }
    return -1;
}

QString CheckpointsModel::sumText() const
{
    qint64 bytes = 0;
    int unknown = 0;
    for (const CheckpointMark &mark : m_rows) {
        if (mark.checkpoint.sizeBytes)
            bytes += *mark.checkpoint.sizeBytes;
        else
            ++unknown;
    }
    QString text = tr("%n checkpoint(s)", nullptr, static_cast<int>(m_rows.size()));
    if (unknown < m_rows.size())
        text = tr("%1, %2 MiB").arg(text, mebibytes(bytes));
    if (unknown > 0)
        text = tr("%1, size of %2 not reported").arg(text, number(unknown));
    return text;
}

QVariant CheckpointsModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= m_rows.size())
        return {};
    const CheckpointMark &mark = m_rows.at(index.row());
    const CheckpointValue &checkpoint = mark.checkpoint;
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole) {
        switch (index.column()) {
        case Position:
            return number(checkpoint.position, !m_picture.simulated);
        case Kind:
            return checkpointKindWord(checkpoint.kind);
        case Size:
            return checkpoint.sizeBytes ? mebibytes(*checkpoint.sizeBytes) : tr("not reported");
        case MadeBy:
            return checkpoint.taskId && *checkpoint.taskId >= 0 ? tr("task %1").arg(*checkpoint.taskId)
                                                                : tr("not reported");
        case Age: {
            if (!checkpoint.createdAt.isValid())
                return tr("not reported");
            const qint64 seconds = std::max<qint64>(0, checkpoint.createdAt.secsTo(m_now));
            if (seconds < 120)
                return tr("%1 s").arg(QLocale().toString(seconds));
            if (seconds < 7200)
                return tr("%1 min").arg(QLocale().toString(seconds / 60));
            return tr("%1 h").arg(QLocale().toString(seconds / 3600));
        }
        case ForThisCut:
            return fateWord(mark, m_picture);
        default:
            return {};
        }
    }
    if (role == Qt::TextAlignmentRole
        && (index.column() == Position || index.column() == Size || index.column() == Age))
        return kRight;
    if (role == Qt::DecorationRole && index.column() == Kind)
        return QVariant::fromValue(static_cast<int>(checkpoint.kind)); // the delegate draws the head's shape
    if (role == Qt::FontRole && mark.fate == CheckpointMark::Fate::Used && index.column() == ForThisCut) {
        QFont bold;
        bold.setBold(true);
        return bold;
    }
    if (role == Qt::ForegroundRole && index.column() == ForThisCut && mark.fate != CheckpointMark::Fate::Used)
        return SemanticColors::of(QGuiApplication::palette()).dimText;
    if (role == Qt::ToolTipRole)
        return describeCheckpoint(mark, m_picture);
    if (role == SortRole || role == RawRole) {
        switch (index.column()) {
        case Position:
            return checkpoint.position;
        case Kind:
            return checkpointKindName(checkpoint.kind);
        case Size:
            return checkpoint.sizeBytes.value_or(-1);
        case MadeBy:
            return checkpoint.taskId.value_or(-1);
        case Age:
            return checkpoint.createdAt;
        case ForThisCut:
            return static_cast<int>(mark.fate);
        default:
            return {};
        }
    }
    return {};
}

QVariant CheckpointsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return section == Position || section == Size || section == Age
            ? kRight
            : static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Position:
        return tr("Position");
    case Kind:
        return tr("Kind");
    case Size:
        return tr("MiB");
    case MadeBy:
        return tr("Made by");
    case Age:
        return tr("Age");
    case ForThisCut:
        return tr("For this cut");
    default:
        return {};
    }
}

// ---- evidence ---------------------------------------------------------------------------------------------

void EvidenceModel::setEvidence(const QList<EvidenceRow> &rows)
{
    setRows(rows, [](const EvidenceRow &row) { return row.claim; });
}

QVariant EvidenceModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= m_rows.size())
        return {};
    const EvidenceRow &row = m_rows.at(index.row());
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != SortRole && role != Qt::AccessibleTextRole)
        return {};
    switch (index.column()) {
    case Claim:
        return row.claim;
    case Value:
        return row.value;
    case Source:
        return row.evidence;
    case When:
        return row.when;
    default:
        return {};
    }
}

QVariant EvidenceModel::headerData(int section, Qt::Orientation orientation, int role) const
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
    default:
        return {};
    }
}

// ---- events -----------------------------------------------------------------------------------------------

void EventsModel::append(const QList<EventValue> &events)
{
    if (events.isEmpty())
        return;
    const QList<EventValue> fresh = events.size() > kLimit ? events.last(kLimit) : events;
    const int over = static_cast<int>(m_rows.size() + fresh.size()) - kLimit;
    if (over > 0) {
        beginRemoveRows({}, 0, over - 1);
        m_rows.remove(0, over);
        endRemoveRows();
    }
    beginInsertRows({}, static_cast<int>(m_rows.size()), static_cast<int>(m_rows.size() + fresh.size()) - 1);
    m_rows += fresh;
    endInsertRows();
}

void EventsModel::clear()
{
    beginResetModel();
    m_rows.clear();
    endResetModel();
}

QVariant EventsModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= m_rows.size())
        return {};
    const EventValue &event = m_rows.at(index.row());
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole) {
        switch (index.column()) {
        case Time:
            return QLocale().toString(event.time.toLocalTime().time(), QStringLiteral("HH:mm:ss"));
        case Kind:
            return event.kind;
        case Slot:
            return event.slotId >= 0 ? number(event.slotId) : QString();
        case Text:
            return event.text;
        default:
            return {};
        }
    }
    if (role == Qt::TextAlignmentRole && index.column() == Slot)
        return kRight;
    if (role == Qt::ForegroundRole && event.problem)
        return SemanticColors::of(QGuiApplication::palette()).refuted;
    if (role == Qt::ToolTipRole)
        return event.text;
    if (role == SortRole)
        return index.column() == Time ? QVariant(event.time) : data(index, Qt::DisplayRole);
    return {};
}

QVariant EventsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Time:
        return tr("Time");
    case Kind:
        return tr("Kind");
    case Slot:
        return tr("Slot");
    case Text:
        return tr("Text");
    default:
        return {};
    }
}

} // namespace kerf
