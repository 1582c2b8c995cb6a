// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/models/tablemodels.h"
#include "ui/viewmodel/findquery.h"

namespace kerf {

/// What was found, in the order of the prompt.
class FindModel : public RowsModel<FindHit>
{
    Q_OBJECT
public:
    enum Column { What, Where, Text, ColumnCount };
    using RowsModel::RowsModel;
    void setHits(const QList<FindHit> &hits);
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
};

} // namespace kerf
