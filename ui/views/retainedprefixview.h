// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/access/tabletext.h"
#include "ui/theme/semanticcolors.h"
#include "ui/viewmodel/cutpicture.h"
#include "ui/viewmodel/selection.h"

#include <QAbstractScrollArea>

namespace kerf {

/// Two prompts side by side and what of them was asked for: where they stop being equal, token by token.
struct PrefixComparison {
    QString aName; ///< "held"
    QString bName; ///< "sent"
    DiffValue diff;
    PromptValue a; ///< parts, and tokens around the difference
    PromptValue b;
    std::optional<int> reused; ///< of b, from cache
    bool measured = false;
    bool simulated = false;
    friend bool operator==(const PrefixComparison &, const PrefixComparison &) = default;
};

/// How a token reads as a chip: a newline is a sign, bytes that are no UTF-8 stand as <0xE2>.
QString tokenText(const PromptToken &token);
bool isSpecialToken(const PromptToken &token);

/// Held against sent (read-only): equal tokens fold, the first difference is marked and its part named.
class RetainedPrefixView : public QAbstractScrollArea, public TableText
{
    Q_OBJECT
public:
    explicit RetainedPrefixView(Selection *selection, QWidget *parent = nullptr);

    /// nullopt: there is nothing to compare; `why` says so.
    void setComparison(std::optional<PrefixComparison> comparison, const QString &why = {});
    const std::optional<PrefixComparison> &comparison() const { return m_comparison; }
    bool showsIds() const { return m_ids; }
    void setShowsIds(bool ids);
    QString headline() const;
    QString footer() const;
    QString selectedText() const;

    QSize sizeHint() const override { return {420, 280}; }
    QSize minimumSizeHint() const override { return {240, 120}; }

    QString tableDescription() const override;
    int tableRows() const override { return static_cast<int>(m_table.size()); }
    int tableColumns() const override { return 4; }
    QString tableHeader(int column) const override;
    QString tableCell(int row, int column) const override;
    int tableCurrentRow() const override { return -1; }
    void tableSelectRow(int row) override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void changeEvent(QEvent *event) override;
    void scrollContentsBy(int dx, int dy) override;
    bool viewportEvent(QEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;

private:
    enum class Side { Both, A, B };
    struct Chip {
        QRectF rect; ///< relative to its line
        int token = 0; ///< index into a.tokens or b.tokens
        QString text;
    };
    struct Line {
        enum Kind { Header, Folded, Tokens, Marker, Note } kind = Note;
        qreal y = 0;
        QString text;
        QString detail;
        Side side = Side::Both;
        int position = 0;
        QList<Chip> chips;
    };
    struct TableRow {
        Side side = Side::Both;
        int token = 0;
    };
    void rebuild();
    qreal lineHeight() const;
    qreal bandHeight() const;
    const PromptToken *tokenAt(QPointF point) const;
    QString partTitle(const PromptPartValue &part, QString *detail) const;
    const PromptPartValue *partAt(const PromptValue &prompt, int position) const;

    Selection *m_selection;
    std::optional<PrefixComparison> m_comparison;
    QString m_why;
    bool m_ids = false;
    QList<Line> m_lines;
    QList<TableRow> m_table;
    int m_markerLine = -1;
};

} // namespace kerf
