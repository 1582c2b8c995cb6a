// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/access/tabletext.h"
#include "ui/viewmodel/cutpicture.h"
#include "ui/viewmodel/selection.h"

#include <QtCharts/QChartView>

class QScrollBar;

QT_BEGIN_NAMESPACE
class QBarCategoryAxis;
class QBarSet;
class QLineSeries;
class QScatterSeries;
class QStackedBarSeries;
class QValueAxis;
QT_END_NAMESPACE

namespace kerf {

class PrefillPlot;

/// What each compaction cost: tokens reused and prefilled stacked (left axis), milliseconds as a line (right
/// axis). Filled = measured, hollow = predicted. 200 at a time, the rest by the scroll bar.
class PrefillChart : public QWidget, public TableText
{
    Q_OBJECT
public:
    static constexpr int kWindow = 200;

    explicit PrefillChart(Selection *selection, QWidget *parent = nullptr);

    void setCompactions(const QList<PlanValue> &newestFirst);
    const QList<PlanValue> &rows() const { return m_rows; } ///< oldest first
    int firstShown() const { return m_first; }
    int shownCount() const { return m_count; }
    QRectF plotArea() const; ///< in this widget's coordinates
    QPointF pointOf(int row, double tokens) const;

    QSize sizeHint() const override { return {420, 280}; }
    QSize minimumSizeHint() const override { return {220, 150}; }

    QString tableDescription() const override;
    int tableRows() const override { return static_cast<int>(m_rows.size()); }
    int tableColumns() const override { return 7; }
    QString tableHeader(int column) const override;
    QString tableCell(int row, int column) const override;
    int tableCurrentRow() const override;
    void tableSelectRow(int row) override;

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    friend class PrefillPlot;
    void rebuild();
    void recolour();
    void showAround(int row);
    int rowAt(QPointF point) const;
    void zoom(qreal factor, int anchor);

    Selection *m_selection;
    QList<PlanValue> m_rows;
    int m_first = 0;
    int m_count = 0;
    int m_span = kWindow; ///< how many are shown at most
    bool m_atEnd = true; ///< follows the newest
    PrefillPlot *m_plot;
    QScrollBar *m_scroll;
    QChart *m_chart;
    QBarSet *m_reused;
    QBarSet *m_prefilled;
    QStackedBarSeries *m_bars;
    QBarCategoryAxis *m_categories;
    QValueAxis *m_tokens;
    QValueAxis *m_ms;
};

} // namespace kerf
