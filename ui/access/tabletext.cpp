// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/access/tabletext.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <QHash>
#include <QPointer>
#include <QStringList>
#include <QWidget>

namespace kerf {

namespace {

class TableAccess;

class CellAccess : public QAccessibleInterface, public QAccessibleTableCellInterface
{
public:
    CellAccess(TableAccess *table, int row, int column)
        : m_table(table)
        , m_row(row)
        , m_column(column)
    {
    }

    bool isValid() const override;
    QObject *object() const override { return nullptr; }
    QAccessibleInterface *parent() const override;
    QAccessibleInterface *child(int) const override { return nullptr; }
    QAccessibleInterface *childAt(int, int) const override { return nullptr; }
    int childCount() const override { return 0; }
    int indexOfChild(const QAccessibleInterface *) const override { return -1; }
    QString text(QAccessible::Text type) const override;
    void setText(QAccessible::Text, const QString &) override { }
    QRect rect() const override;
    QAccessible::Role role() const override { return QAccessible::Cell; }
    QAccessible::State state() const override;
    void *interface_cast(QAccessible::InterfaceType type) override
    {
        return type == QAccessible::TableCellInterface ? static_cast<QAccessibleTableCellInterface *>(this) : nullptr;
    }

    bool isSelected() const override;
    QList<QAccessibleInterface *> columnHeaderCells() const override { return {}; }
    QList<QAccessibleInterface *> rowHeaderCells() const override { return {}; }
    int columnIndex() const override { return m_column; }
    int rowIndex() const override { return m_row; }
    int columnExtent() const override { return 1; }
    int rowExtent() const override { return 1; }
    QAccessibleInterface *table() const override { return parent(); }

private:
    TableAccess *m_table;
    int m_row;
    int m_column;
};

class TableAccess : public QAccessibleWidget, public QAccessibleTableInterface
{
public:
    TableAccess(QWidget *widget, TableText *text)
        : QAccessibleWidget(widget, QAccessible::Table)
        , m_text(text)
    {
    }
    ~TableAccess() override { forget(); }

    TableText *source() const { return m_text; }
    bool alive() const { return object() != nullptr; }

    QString text(QAccessible::Text type) const override
    {
        if (type == QAccessible::Description && alive())
            return m_text->tableDescription();
        return QAccessibleWidget::text(type);
    }
    int childCount() const override { return m_text->tableRows() * m_text->tableColumns(); }
    QAccessibleInterface *child(int index) const override
    {
        const int columns = m_text->tableColumns();
        return columns > 0 ? cellAt(index / columns, index % columns) : nullptr;
    }
    int indexOfChild(const QAccessibleInterface *interface) const override
    {
        const auto *cell = static_cast<const QAccessibleTableCellInterface *>(
            const_cast<QAccessibleInterface *>(interface)->interface_cast(QAccessible::TableCellInterface));
        return cell ? cell->rowIndex() * m_text->tableColumns() + cell->columnIndex() : -1;
    }
    void *interface_cast(QAccessible::InterfaceType type) override
    {
        if (type == QAccessible::TableInterface)
            return static_cast<QAccessibleTableInterface *>(this);
        return QAccessibleWidget::interface_cast(type);
    }

    QAccessibleInterface *caption() const override { return nullptr; }
    QAccessibleInterface *summary() const override { return nullptr; }
    QAccessibleInterface *cellAt(int row, int column) const override
    {
        if (row < 0 || column < 0 || row >= m_text->tableRows() || column >= m_text->tableColumns())
            return nullptr;
        const std::pair<int, int> key(row, column);
        if (const auto it = m_cells.constFind(key); it != m_cells.constEnd()) {
            if (QAccessibleInterface *known = QAccessible::accessibleInterface(*it))
                return known;
        }
        auto *cell = new CellAccess(const_cast<TableAccess *>(this), row, column); // owned by QAccessible's cache
        m_cells.insert(key, QAccessible::registerAccessibleInterface(cell));
        return cell;
    }
    int selectedCellCount() const override { return m_text->tableCurrentRow() >= 0 ? m_text->tableColumns() : 0; }
    QList<QAccessibleInterface *> selectedCells() const override
    {
        QList<QAccessibleInterface *> cells;
        for (int column = 0; column < selectedCellCount(); ++column)
            cells << cellAt(m_text->tableCurrentRow(), column);
        return cells;
    }
    QString columnDescription(int column) const override { return m_text->tableHeader(column); }
    QString rowDescription(int row) const override { return m_text->tableCell(row, 0); }
    int selectedColumnCount() const override { return 0; }
    int selectedRowCount() const override { return m_text->tableCurrentRow() >= 0 ? 1 : 0; }
    int columnCount() const override { return m_text->tableColumns(); }
    int rowCount() const override { return m_text->tableRows(); }
    QList<int> selectedColumns() const override { return {}; }
    QList<int> selectedRows() const override
    {
        return m_text->tableCurrentRow() >= 0 ? QList<int>{m_text->tableCurrentRow()} : QList<int>();
    }
    bool isColumnSelected(int) const override { return false; }
    bool isRowSelected(int row) const override { return row == m_text->tableCurrentRow(); }
    bool selectRow(int row) override
    {
        if (row < 0 || row >= m_text->tableRows())
            return false;
        m_text->tableSelectRow(row);
        return true;
    }
    bool selectColumn(int) override { return false; }
    bool unselectRow(int) override { return false; }
    bool unselectColumn(int) override { return false; }
    void modelChange(QAccessibleTableModelChangeEvent *) override { forget(); }

    void forget()
    {
        const auto ids = m_cells.values();
        m_cells.clear();
        for (const QAccessible::Id id : ids)
            QAccessible::deleteAccessibleInterface(id);
    }

private:
    TableText *m_text;
    mutable QHash<std::pair<int, int>, QAccessible::Id> m_cells;
};

bool CellAccess::isValid() const { return m_table->alive(); }
QAccessibleInterface *CellAccess::parent() const { return m_table; }
QString CellAccess::text(QAccessible::Text type) const
{
    if (!isValid() || m_row >= m_table->source()->tableRows())
        return {};
    if (type == QAccessible::Description)
        return m_table->source()->tableHeader(m_column);
    return type == QAccessible::Name || type == QAccessible::Value ? m_table->source()->tableCell(m_row, m_column)
                                                                   : QString();
}
QRect CellAccess::rect() const { return m_table->rect(); }
QAccessible::State CellAccess::state() const
{
    QAccessible::State state;
    state.selectable = true;
    state.selected = isSelected();
    state.readOnly = true;
    return state;
}
bool CellAccess::isSelected() const { return m_table->source()->tableCurrentRow() == m_row; }

QAccessibleInterface *makeTableAccess(const QString &, QObject *object)
{
    auto *widget = qobject_cast<QWidget *>(object);
    auto *text = dynamic_cast<TableText *>(object);
    return widget && text ? new TableAccess(widget, text) : nullptr;
}

} // namespace

QString tableAsText(const TableText &table)
{
    QStringList lines;
    QStringList cells;
    for (int column = 0; column < table.tableColumns(); ++column)
        cells << table.tableHeader(column);
    lines << cells.join(QLatin1Char('\t'));
    for (int row = 0; row < table.tableRows(); ++row) {
        cells.clear();
        for (int column = 0; column < table.tableColumns(); ++column)
            cells << table.tableCell(row, column);
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

void installTableAccess()
{
    static const bool once = [] {
        QAccessible::installFactory(makeTableAccess);
        return true;
    }();
    Q_UNUSED(once)
}

void announceTable(QWidget *view)
{
    if (!QAccessible::isActive())
        return;
    QAccessibleEvent event(view, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
}

} // namespace kerf
