// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/models/cutmodels.h"

#include "ui/theme/semanticcolors.h"
#include "ui/viewmodel/numbers.h"

#include <QFont>
#include <QGuiApplication>

namespace kerf {

namespace {
constexpr int kRight = static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);

QFont boldFont()
{
    QFont bold;
    bold.setBold(true);
    return bold;
}
} // namespace

void LegalCutsModel::setReport(std::shared_ptr<const CutReport> report)
{
    if (report == m_report)
        return;
    // A new prompt or a new ring: another document.
    beginResetModel();
    m_report = std::move(report);
    m_cheapest = -1;
    for (int i = 0; m_report && i < m_report->legal.size(); ++i) {
        if (m_cheapest < 0
            || m_report->prefill(m_report->legal.at(i).value) < m_report->prefill(m_report->legal.at(m_cheapest).value))
            m_cheapest = i;
    }
    endResetModel();
}

void LegalCutsModel::setMarks(std::optional<int> whatIf, std::optional<int> planCut)
{
    if (whatIf == m_whatIf && planCut == m_planCut)
        return;
    QList<int> rows;
    for (const auto &cut : {m_whatIf, m_planCut, whatIf, planCut}) {
        if (cut && rowOf(*cut) >= 0)
            rows.append(rowOf(*cut));
    }
    m_whatIf = whatIf;
    m_planCut = planCut;
    for (const int row : std::as_const(rows))
        Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
}

QString LegalCutsModel::noteOf(const LegalCut &row) const
{
    const int over = row.tokensAfter + m_report->pendingRecall - m_report->target;
    const QString target = over > 0 ? tr("over target by %1").arg(approx(over)) : tr("meets target");
    QStringList notes;
    if (m_planCut && *m_planCut == row.cut)
        notes << tr("current plan");
    if (m_cheapest >= 0 && m_report->legal.at(m_cheapest).cut == row.cut)
        notes << tr("lowest prefill");
    notes << target;
    return notes.join(QStringLiteral(", "));
}

QVariant LegalCutsModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || !m_report || index.row() >= m_report->legal.size())
        return {};
    const LegalCut &row = m_report->legal.at(index.row());
    const CutValue &value = row.value;
    const bool exact = m_report->exact && !m_report->simulated;
    const bool range = !value.claimable && value.high > value.low;
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole) {
        switch (index.column()) {
        case Cut:
            return number(row.cut, exact);
        case Edge:
            return row.afterSeq > 0 ? tr("after episode %1").arg(number(row.afterSeq)) : tr("behind the head");
        case CheckpointColumn:
            return value.checkpoint >= 0 ? number(value.checkpoint, !m_report->simulated) : tr("none");
        case Reused:
            return range ? tr("%1 to %2").arg(number(value.low), number(value.high, exact))
                         : number(m_report->claimed(value), exact);
        case Prefilled:
            return range ? tr("%1 to %2").arg(approx(row.tokensAfter - value.high), approx(row.tokensAfter - value.low))
                         : approx(m_report->prefill(value));
        case Ms: {
            const auto ms = [&](int reused) { return number(qRound64(*m_report->ms(reused, row.tokensAfter))); };
            if (!m_report->cost.known())
                return tr("not known");
            return range ? tr("%1 to %2").arg(ms(value.high), ms(value.low)) : ms(m_report->claimed(value));
        }
        case Window:
            return approx(row.tokensAfter);
        case VerdictColumn:
            if (row.verdict.isEmpty())
                return tr("not known");
            return row.verdict == QLatin1String("snapped") || row.verdict == QLatin1String("aligned")
                    || row.verdict == QLatin1String("partial-reuse")
                ? tr("%1 %2", "verdict, distance").arg(row.verdict, signedNumber(row.snapDelta))
                : row.verdict;
        case Note:
            return noteOf(row);
        default:
            return {};
        }
    }
    if (role == Qt::TextAlignmentRole && index.column() != Edge && index.column() != VerdictColumn
        && index.column() != Note)
        return kRight;
    if (role == Qt::FontRole && ((m_planCut && *m_planCut == row.cut) || (m_whatIf && *m_whatIf == row.cut))
        && index.column() == Cut)
        return boldFont();
    if (role == Qt::ForegroundRole && index.column() == Note)
        return SemanticColors::of(QGuiApplication::palette()).dimText;
    if (role == SortRole || role == RawRole) {
        switch (index.column()) {
        case Cut:
        case Edge:
            return row.cut;
        case CheckpointColumn:
            return value.checkpoint;
        case Reused:
            return m_report->claimed(value);
        case Prefilled:
            return m_report->prefill(value);
        case Ms:
            return row.predictedMs;
        case Window:
            return row.tokensAfter;
        case VerdictColumn:
            return row.verdict;
        case Note:
            return row.tokensAfter + m_report->pendingRecall - m_report->target;
        default:
            return {};
        }
    }
    if (role == Qt::ToolTipRole)
        return tr("Cut at %1. Evicts %2, keeps %3 word for word behind it. Predicted: the sizes are sums over "
                  "messages; a plan renders them.")
            .arg(number(row.cut, exact), approx(row.reclaimedTokens), approx(row.recentKept));
    return {};
}

QVariant LegalCutsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole && section != Edge && section != VerdictColumn && section != Note)
        return kRight;
    if (role == Qt::ToolTipRole && section == Window)
        return tr("Tokens of the prompt after the cut");
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Cut:
        return tr("Cut");
    case Edge:
        return tr("Edge");
    case CheckpointColumn:
        return tr("Checkpoint");
    case Reused:
        return tr("Reused");
    case Prefilled:
        return tr("Prefilled");
    case Ms:
        return tr("~ms");
    case Window:
        return tr("Window");
    case VerdictColumn:
        return tr("Verdict");
    case Note:
        return tr("Note");
    default:
        return {};
    }
}

void ComparisonModel::setComparison(const QList<ComparisonRow> &rows)
{
    setRows(rows, [](const ComparisonRow &row) { return row.name; });
}

QVariant ComparisonModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= m_rows.size())
        return {};
    const ComparisonRow &row = m_rows.at(index.row());
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole || role == RawRole || role == SortRole) {
        switch (index.column()) {
        case Name:
            return row.name;
        case Plan:
            return row.plan;
        case Trial:
            return row.whatIf;
        case Change:
            // A reader hears what the colour says.
            if (role == Qt::AccessibleTextRole && row.better != 0)
                return row.better > 0 ? tr("%1, better").arg(row.change) : tr("%1, worse").arg(row.change);
            return row.change;
        default:
            return {};
        }
    }
    if (role == Qt::TextAlignmentRole && index.column() != Name)
        return kRight;
    if (role == Qt::FontRole && index.column() >= Trial)
        return boldFont();
    if (role == Qt::ForegroundRole && index.column() == Change && row.better != 0) {
        const SemanticColors c = SemanticColors::of(QGuiApplication::palette());
        return row.better > 0 ? c.reused : c.warning;
    }
    return {};
}

QVariant ComparisonModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole && section != Name)
        return kRight;
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Name:
        return tr("Value");
    case Plan:
        return tr("Plan");
    case Trial:
        return tr("What-if");
    case Change:
        return tr("Change");
    default:
        return {};
    }
}

} // namespace kerf
