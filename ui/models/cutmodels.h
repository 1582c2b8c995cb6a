// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/models/tablemodels.h"
#include "ui/viewmodel/whatif.h"

namespace kerf {

/// Every legal cut of the present prompt with what it would cost. The report is shared, not copied.
class LegalCutsModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Cut, Edge, CheckpointColumn, Reused, Prefilled, Ms, Window, VerdictColumn, Note, ColumnCount };
    using QAbstractTableModel::QAbstractTableModel;
    void setReport(std::shared_ptr<const CutReport> report);
    void setMarks(std::optional<int> whatIf, std::optional<int> planCut);
    const CutReport *report() const { return m_report.get(); }
    int rowOf(int cut) const { return m_report ? m_report->legalAt(cut) : -1; }
    int rowCount(const QModelIndex &parent = {}) const override
    {
        return parent.isValid() || !m_report ? 0 : static_cast<int>(m_report->legal.size());
    }
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QString noteOf(const LegalCut &row) const;

    std::shared_ptr<const CutReport> m_report;
    std::optional<int> m_whatIf;
    std::optional<int> m_planCut;
    int m_cheapest = -1; ///< index of the lowest prefill
};

/// What-if against plan, line by line.
class ComparisonModel : public RowsModel<ComparisonRow>
{
    Q_OBJECT
public:
    enum Column { Name, Plan, Trial, Change, ColumnCount };
    using RowsModel::RowsModel;
    void setComparison(const QList<ComparisonRow> &rows);
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
};

} // namespace kerf
