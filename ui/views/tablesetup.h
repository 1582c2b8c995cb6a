// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QHeaderView>
#include <QTableView>

namespace kerf {

/// The console's look of a table: rows of one height, whole rows selected, no grid.
inline void setUpConsoleTable(QTableView *view, QAbstractItemModel *model, const QString &objectName,
                              const QString &accessibleName)
{
    view->setObjectName(objectName);
    view->setAccessibleName(accessibleName);
    view->setModel(model);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    view->setAlternatingRowColors(true);
    view->setShowGrid(false);
    view->setWordWrap(false);
    view->setFrameShape(QFrame::NoFrame);
    view->setTabKeyNavigation(false);
    view->verticalHeader()->hide();
    // Fixed: 100,000 rows must not be measured one by one.
    view->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    view->verticalHeader()->setDefaultSectionSize(qMax(22, view->fontMetrics().height() + 6));
    view->horizontalHeader()->setHighlightSections(false);
    view->horizontalHeader()->setMinimumSectionSize(30);
    view->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    view->setContextMenuPolicy(Qt::ActionsContextMenu);
}

/// Pixels for a text in the view's font, with the cell's margins.
inline int columnFor(const QTableView *view, const QString &text)
{
    return view->fontMetrics().horizontalAdvance(text) + 16;
}

} // namespace kerf
