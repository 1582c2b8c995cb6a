// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/models/findmodel.h"

namespace kerf {

void FindModel::setHits(const QList<FindHit> &hits)
{
    setRows(hits, [](const FindHit &hit) { return std::pair(hit.kind, hit.id); });
}

QVariant FindModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= rows().size())
        return {};
    const FindHit &hit = rows().at(index.row());
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
        return index.column() == What ? hit.what : index.column() == Where ? hit.where : hit.text.simplified();
    case Qt::ToolTipRole:
        return index.column() == Text ? hit.text : QVariant();
    case SortRole:
    case RawRole:
        return index.column() == What ? QVariant(hit.id) : index.column() == Where ? QVariant(hit.where) : hit.text;
    default:
        return {};
    }
}

QVariant FindModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case What:
        return tr("What");
    case Where:
        return tr("Where");
    default:
        return tr("Text");
    }
}

} // namespace kerf
