// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QAbstractTableModel>
#include <QJsonObject>
#include <QList>
#include <QRegularExpression>
#include <QSortFilterProxyModel>

#include <deque>
#include <optional>

namespace kerf {

/// One line of the server's log, raw and read.
struct LogLineValue {
    qint64 number = 0;
    QChar level; ///< I, W, E, D; null = not said
    int slotId = -1;
    qint64 task = -1;
    QString text;
    QString reading; ///< empty = nothing to say
    bool understood = true;
    bool withheld = false; ///< the text is not the line's own: it could quote a prompt
};

/// The last 100,000 lines of the server's log, oldest first.
class LogLinesModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Number, Raw, Reading, ColumnCount };
    static constexpr int kLimit = 100'000;
    using QAbstractTableModel::QAbstractTableModel;

    int rowCount(const QModelIndex &parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(m_lines.size());
    }
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    void append(const QList<LogLineValue> &lines);
    void clear();
    const LogLineValue &line(int row) const { return m_lines[static_cast<std::size_t>(row)]; }
    qint64 nextNumber() const { return m_lines.empty() ? 0 : m_lines.back().number + 1; } ///< 0 = nothing was read yet

private:
    std::deque<LogLineValue> m_lines;
};

/// By level, slot, task and text; only lines that were not understood.
class LogFilter : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    enum class Level { All, NoDebug, Warnings, Errors, Read };
    using QSortFilterProxyModel::QSortFilterProxyModel;

    void setLevel(Level level);
    void setSlot(std::optional<int> slotId);
    void setTask(std::optional<qint64> task);
    /// Matches the raw text or the reading. An invalid expression is not used; returns what is wrong with it.
    QString setExpression(const QString &expression);
    void setNotUnderstoodOnly(bool on);
    bool filters() const;
    void clearAll();

protected:
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override;

private:
    Level m_level = Level::All;
    std::optional<int> m_slot;
    std::optional<qint64> m_task;
    QRegularExpression m_expression;
    bool m_odd = false;
};

struct LogAnswer {
    bool attached = false;
    QString source; ///< path, or words
    qint64 first = 1;
    qint64 next = 1;
    qint64 notUnderstood = 0;
    QList<LogLineValue> lines;
};
LogAnswer parseLog(const QJsonObject &object);

} // namespace kerf
