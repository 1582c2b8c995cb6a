// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/models/loglinesmodel.h"

#include "ui/models/tablemodels.h"
#include "ui/theme/semanticcolors.h"
#include "ui/theme/theme.h"
#include "ui/viewmodel/numbers.h"

#include <QFont>
#include <QGuiApplication>
#include <QJsonArray>

namespace kerf {

QVariant LogLinesModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const LogLineValue &at = line(index.row());
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
        switch (index.column()) {
        case Number:
            return number(at.number);
        case Raw:
            return at.text;
        case Reading:
            return at.reading;
        default:
            return {};
        }
    case Qt::ToolTipRole:
        if (at.withheld)
            return tr("Line %1 is not kept: debug lines can quote prompts.").arg(number(at.number));
        if (!at.understood)
            return tr("Line %1 looks like a slot or cache line, but is none that Kerf knows.").arg(number(at.number));
        return at.reading.isEmpty() ? at.text : tr("%1\n%2").arg(at.reading, at.text);
    case Qt::TextAlignmentRole:
        return index.column() == Number ? QVariant(static_cast<int>(Qt::AlignRight | Qt::AlignVCenter)) : QVariant();
    case Qt::FontRole:
        return index.column() == Raw ? QVariant(tokenFont()) : QVariant();
    case Qt::ForegroundRole: {
        const SemanticColors colors = SemanticColors::of(QGuiApplication::palette());
        if (!at.understood && index.column() == Reading)
            return colors.warning;
        if (at.level == QLatin1Char('E'))
            return colors.refuted;
        if (at.level == QLatin1Char('W') && index.column() == Raw)
            return colors.warning;
        return index.column() == Number || at.withheld || (index.column() == Raw && at.reading.isEmpty())
            ? QVariant(colors.dimText)
            : QVariant();
    }
    case SortRole:
    case RawRole:
        return index.column() == Number ? QVariant(at.number) : data(index, Qt::DisplayRole);
    default:
        return {};
    }
}

QVariant LogLinesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Number:
        return tr("Line");
    case Raw:
        return tr("As written");
    case Reading:
        return tr("Reading");
    default:
        return {};
    }
}

void LogLinesModel::append(const QList<LogLineValue> &lines)
{
    QList<LogLineValue> fresh;
    fresh.reserve(lines.size());
    for (const LogLineValue &value : lines) {
        if (value.number >= nextNumber() && (fresh.isEmpty() || value.number > fresh.constLast().number))
            fresh.append(value);
    }
    if (fresh.size() > kLimit)
        fresh.remove(0, fresh.size() - kLimit);
    if (fresh.isEmpty())
        return;
    const int over = static_cast<int>(rowCount() + fresh.size() - kLimit);
    if (over > 0) {
        beginRemoveRows({}, 0, over - 1);
        m_lines.erase(m_lines.begin(), m_lines.begin() + over);
        endRemoveRows();
    }
    beginInsertRows({}, rowCount(), static_cast<int>(rowCount() + fresh.size() - 1));
    for (const LogLineValue &value : std::as_const(fresh))
        m_lines.push_back(value);
    endInsertRows();
}

void LogLinesModel::clear()
{
    if (m_lines.empty())
        return;
    beginResetModel();
    m_lines.clear();
    endResetModel();
}

void LogFilter::setLevel(Level level)
{
    if (level == m_level)
        return;
    m_level = level;
    invalidateFilter();
}

void LogFilter::setSlot(std::optional<int> slotId)
{
    if (slotId == m_slot)
        return;
    m_slot = slotId;
    invalidateFilter();
}

void LogFilter::setTask(std::optional<qint64> task)
{
    if (task == m_task)
        return;
    m_task = task;
    invalidateFilter();
}

QString LogFilter::setExpression(const QString &expression)
{
    const QRegularExpression wanted(expression, QRegularExpression::CaseInsensitiveOption);
    if (!wanted.isValid())
        return tr("%1 (at character %2)").arg(wanted.errorString(), number(wanted.patternErrorOffset() + 1));
    if (wanted.pattern() != m_expression.pattern()) {
        m_expression = wanted;
        m_expression.optimize();
        invalidateFilter();
    }
    return {};
}

void LogFilter::setNotUnderstoodOnly(bool on)
{
    if (on == m_odd)
        return;
    m_odd = on;
    invalidateFilter();
}

bool LogFilter::filters() const
{
    return m_level != Level::All || m_slot || m_task || !m_expression.pattern().isEmpty() || m_odd;
}

void LogFilter::clearAll()
{
    m_level = Level::All;
    m_slot.reset();
    m_task.reset();
    m_expression = QRegularExpression();
    m_odd = false;
    invalidateFilter();
}

bool LogFilter::filterAcceptsRow(int row, const QModelIndex &) const
{
    const LogLineValue &at = static_cast<const LogLinesModel *>(sourceModel())->line(row);
    switch (m_level) {
    case Level::All:
        break;
    case Level::NoDebug:
        if (at.level == QLatin1Char('D'))
            return false;
        break;
    case Level::Warnings:
        if (at.level != QLatin1Char('W') && at.level != QLatin1Char('E'))
            return false;
        break;
    case Level::Read:
        if (at.reading.isEmpty())
            return false;
        break;
    case Level::Errors:
        if (at.level != QLatin1Char('E'))
            return false;
        break;
    }
    if ((m_odd && at.understood) || (m_slot && at.slotId != *m_slot) || (m_task && at.task != *m_task))
        return false;
    return m_expression.pattern().isEmpty() || m_expression.match(at.text).hasMatch()
        || m_expression.match(at.reading).hasMatch();
}

LogAnswer parseLog(const QJsonObject &object)
{
    LogAnswer answer;
    answer.attached = object.value(QLatin1String("attached")).toBool();
    answer.source = object.value(QLatin1String("source")).toString();
    answer.first = object.value(QLatin1String("first")).toInteger(1);
    answer.next = object.value(QLatin1String("next")).toInteger(1);
    answer.notUnderstood = object.value(QLatin1String("not_understood")).toInteger();
    const QJsonArray lines = object.value(QLatin1String("lines")).toArray();
    answer.lines.reserve(lines.size());
    for (const QJsonValue &value : lines) {
        const QJsonObject row = value.toObject();
        LogLineValue line;
        line.number = row.value(QLatin1String("number")).toInteger();
        const QString level = row.value(QLatin1String("level")).toString();
        line.level = level.isEmpty() ? QChar() : level.at(0);
        line.slotId = row.value(QLatin1String("slot_id")).toInt(-1);
        line.task = row.value(QLatin1String("task")).toInteger(-1);
        line.text = row.value(QLatin1String("text")).toString();
        line.reading = row.value(QLatin1String("reading")).toString();
        line.understood = row.value(QLatin1String("understood")).toBool(true);
        line.withheld = row.value(QLatin1String("withheld")).toBool();
        answer.lines.append(line);
    }
    return answer;
}

} // namespace kerf
