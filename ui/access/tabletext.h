// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QString>

class QWidget;

namespace kerf {

/// What a painted view says in words: a name, a sentence on its state, and its content as a table. Screen
/// readers get it through a QAccessibleTableInterface, "Copy as text" prints it.
class TableText
{
public:
    virtual ~TableText() = default;
    virtual QString tableDescription() const = 0;
    virtual int tableRows() const = 0;
    virtual int tableColumns() const = 0;
    virtual QString tableHeader(int column) const = 0;
    virtual QString tableCell(int row, int column) const = 0;
    virtual int tableCurrentRow() const { return -1; }
    virtual void tableSelectRow(int row) = 0;
};

/// Header and rows with tabs between the cells.
QString tableAsText(const TableText &table);

/// Makes every TableText widget accessible; safe to call often.
void installTableAccess();

/// Tells readers once, politely, that the description has changed.
void announceTable(QWidget *view);

} // namespace kerf
