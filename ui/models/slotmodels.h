// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/models/tablemodels.h"
#include "ui/viewmodel/slotspicture.h"

namespace kerf {

/// Prompts in the host cache, oldest first: the order in which they go.
class CacheModel : public RowsModel<CachedPrompt>
{
    Q_OBJECT
public:
    enum Column { Tokens, Checkpoints, Size, Whose, ColumnCount };
    using RowsModel::RowsModel;
    void setEntries(const QList<CachedPrompt> &rows);
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
};

/// What erased what, newest first, in the service's own sentences.
class ErasuresModel : public RowsModel<SlotErasure>
{
    Q_OBJECT
public:
    enum Column { Time, Slot, Text, ColumnCount };
    using RowsModel::RowsModel;
    void setErasures(const QList<SlotErasure> &rows);
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
};

} // namespace kerf
