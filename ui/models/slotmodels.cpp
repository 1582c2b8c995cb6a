// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/models/slotmodels.h"

#include "ui/theme/semanticcolors.h"
#include "ui/viewmodel/numbers.h"

#include <QGuiApplication>
#include <QLocale>

namespace kerf {

namespace {
const QVariant kRightAligned = static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
}

void CacheModel::setEntries(const QList<CachedPrompt> &rows)
{
    setRows(rows, [](const CachedPrompt &row) { return std::pair(row.tokens, row.owner); });
}

QVariant CacheModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= m_rows.size())
        return {};
    const CachedPrompt &row = m_rows.at(index.row());
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
        switch (index.column()) {
        case Tokens:
            return number(row.tokens, row.verified);
        case Checkpoints:
            return row.checkpoints ? number(*row.checkpoints) : tr("not reported");
        case Size:
            return row.bytes ? mebibytes(*row.bytes) : tr("not reported");
        case Whose:
            return row.owner.isEmpty() ? tr("another client, or not known") : row.owner;
        default:
            return {};
        }
    case Qt::TextAlignmentRole:
        return index.column() == Whose ? QVariant() : kRightAligned;
    case Qt::ForegroundRole:
        return index.column() == Whose && row.owner.isEmpty()
            ? QVariant(SemanticColors::of(QGuiApplication::palette()).dimText)
            : QVariant();
    case Qt::ToolTipRole: {
        QString text = tr("Saved prompt of %1 tokens").arg(number(row.tokens, row.verified));
        if (row.bytes)
            text += QLatin1Char('\n') + tr("%1 MiB with its checkpoints").arg(mebibytes(*row.bytes));
        if (index.row() == 0)
            text += QLatin1Char('\n') + tr("The oldest: it goes first when there is no room.");
        if (!row.verified)
            text += QLatin1Char('\n') + tr("Booked, not confirmed: only the server's log shows what is still there.");
        return text;
    }
    case SortRole:
    case RawRole:
        switch (index.column()) {
        case Tokens:
            return row.tokens;
        case Checkpoints:
            return row.checkpoints.value_or(-1);
        case Size:
            return row.bytes.value_or(-1);
        default:
            return row.owner;
        }
    default:
        return {};
    }
}

QVariant CacheModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return section == Whose ? QVariant(static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter)) : kRightAligned;
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Tokens:
        return tr("Tokens");
    case Checkpoints:
        return tr("Chkpts", "checkpoints, column");
    case Size:
        return tr("MiB");
    case Whose:
        return tr("Whose prompt");
    default:
        return {};
    }
}

void ErasuresModel::setErasures(const QList<SlotErasure> &rows)
{
    setRows(rows, [](const SlotErasure &row) { return std::tuple(row.atMs, row.slotId, row.task.value_or(-1)); });
}

QVariant ErasuresModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= m_rows.size())
        return {};
    const SlotErasure &row = m_rows.at(index.row());
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
        switch (index.column()) {
        case Time:
            return QLocale().toString(QDateTime::fromMSecsSinceEpoch(row.atMs).time(), QStringLiteral("HH:mm:ss"));
        case Slot:
            return number(row.slotId);
        case Text:
            return row.text;
        default:
            return {};
        }
    case Qt::ToolTipRole:
        return row.text;
    case Qt::TextAlignmentRole:
        return index.column() == Slot ? kRightAligned : QVariant();
    case Qt::ForegroundRole:
        return index.column() == Time ? QVariant(SemanticColors::of(QGuiApplication::palette()).dimText) : QVariant();
    case SortRole:
    case RawRole:
        return index.column() == Time ? QVariant(row.atMs) : index.column() == Slot ? QVariant(row.slotId) : row.text;
    default:
        return {};
    }
}

QVariant ErasuresModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Time:
        return tr("Time");
    case Slot:
        return tr("Slot");
    case Text:
        return tr("What erased what");
    default:
        return {};
    }
}

} // namespace kerf
