// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/cutpicture.h"

#include <QAbstractTableModel>

namespace kerf {

/// Raw values for sorting and for copying; DisplayRole is for people.
enum TableRole { SortRole = Qt::UserRole + 1, RawRole };

/// What all tables of the console share: equal rows are left alone, changed ones signalled as one range.
template<typename Row>
class RowsModel : public QAbstractTableModel
{
public:
    using QAbstractTableModel::QAbstractTableModel;
    int rowCount(const QModelIndex &parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
    }
    const QList<Row> &rows() const { return m_rows; }

    /// Rows with the same key keep their place in the selection: the list is spliced, not reset.
    template<typename Key>
    void setRows(const QList<Row> &rows, Key keyOf)
    {
        qsizetype front = 0;
        while (front < m_rows.size() && front < rows.size() && keyOf(m_rows.at(front)) == keyOf(rows.at(front)))
            ++front;
        qsizetype back = 0;
        while (back < m_rows.size() - front && back < rows.size() - front
               && keyOf(m_rows.at(m_rows.size() - 1 - back)) == keyOf(rows.at(rows.size() - 1 - back)))
            ++back;
        const qsizetype gone = m_rows.size() - front - back;
        const qsizetype come = rows.size() - front - back;
        if (gone > 0) {
            beginRemoveRows({}, static_cast<int>(front), static_cast<int>(front + gone - 1));
            m_rows.remove(front, gone);
            endRemoveRows();
        }
        if (come > 0) {
            beginInsertRows({}, static_cast<int>(front), static_cast<int>(front + come - 1));
            for (qsizetype i = 0; i < come; ++i)
                m_rows.insert(front + i, rows.at(front + i));
            endInsertRows();
        }
        qsizetype firstChanged = -1;
        qsizetype lastChanged = -1;
        for (qsizetype i = 0; i < rows.size(); ++i) {
            if (!(m_rows.at(i) == rows.at(i))) {
                m_rows[i] = rows.at(i);
                firstChanged = firstChanged < 0 ? i : firstChanged;
                lastChanged = i;
            }
        }
        if (firstChanged >= 0)
            Q_EMIT dataChanged(index(static_cast<int>(firstChanged), 0),
                               index(static_cast<int>(lastChanged), columnCount() - 1));
    }

protected:
    QList<Row> m_rows;
};

class CompactionsModel : public RowsModel<PlanValue>
{
    Q_OBJECT
public:
    enum Column { Number, VerdictColumn, Reused, Prefilled, Ms, Outcome, ColumnCount };
    using RowsModel::RowsModel;
    void setCompactions(const QList<PlanValue> &rows);
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    int rowOf(int number) const;
};

/// Checkpoints of the shown ring. The last lines (sum) stand under the table, not in it.
class CheckpointsModel : public RowsModel<CheckpointMark>
{
    Q_OBJECT
public:
    enum Column { Position, Kind, Size, MadeBy, Age, ForThisCut, ColumnCount };
    using RowsModel::RowsModel;
    void setPicture(const CutPicture &picture, const QDateTime &now);
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    int rowOf(int position) const;
    QString sumText() const; ///< "8 checkpoints, 9.0 MiB"; sizes that are not reported are said so

private:
    CutPicture m_picture; ///< without blocks and alternatives: words only
    QDateTime m_now;
};

class EvidenceModel : public RowsModel<EvidenceRow>
{
    Q_OBJECT
public:
    enum Column { Claim, Value, Source, When, ColumnCount };
    using RowsModel::RowsModel;
    void setEvidence(const QList<EvidenceRow> &rows);
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
};

/// Newest last; keeps the last 10,000. Appending is batched by the caller.
class EventsModel : public RowsModel<EventValue>
{
    Q_OBJECT
public:
    enum Column { Time, Kind, Slot, Text, ColumnCount };
    static constexpr int kLimit = 10000;
    using RowsModel::RowsModel;
    void append(const QList<EventValue> &events);
    void clear();
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
};

} // namespace kerf
