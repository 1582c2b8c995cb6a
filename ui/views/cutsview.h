// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/access/tabletext.h"
#include "ui/viewmodel/whatif.h"

#include <QWidget>

class QComboBox;

namespace kerf {

/// Legal cuts as points: what is kept (or won) across, predicted cost upwards. Those that no other cut beats in both
/// are joined: the frontier. A click tries a cut.
class CutsView : public QWidget, public TableText
{
    Q_OBJECT
public:
    enum class Axis { Window, RecentKept, Reclaimed };

    explicit CutsView(WhatIf *whatIf, QWidget *parent = nullptr);

    void setReport(std::shared_ptr<const CutReport> report);
    void setMarks(std::optional<int> whatIf, std::optional<int> planCut);
    void setAxis(Axis axis);
    Axis axis() const { return m_axis; }
    const CutReport *report() const { return m_report.get(); }
    const QList<int> &frontier() const { return m_frontier; } ///< indices of legal cuts, by x
    QPointF pointOf(int legal) const;
    int legalAt(QPointF point) const;
    QString tooltipAt(QPointF point) const;
    bool startsAtZero() const { return m_yFrom <= 0; }

    QSize sizeHint() const override { return {440, 280}; }
    QSize minimumSizeHint() const override { return {240, 170}; }

    QString tableDescription() const override;
    int tableRows() const override { return m_report ? static_cast<int>(m_report->legal.size()) : 0; }
    int tableColumns() const override { return 5; }
    QString tableHeader(int column) const override;
    QString tableCell(int row, int column) const override;
    int tableCurrentRow() const override;
    void tableSelectRow(int row) override;

Q_SIGNALS:
    void cutRequested(int position);

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    bool event(QEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    double xOf(const LegalCut &row) const;
    double yOf(const CutValue &value) const;
    QRectF plot() const;
    QPointF toPoint(double x, double y) const;
    void rebuild();
    void step(int by);

    WhatIf *m_whatIf;
    std::shared_ptr<const CutReport> m_report;
    std::optional<int> m_trial;
    std::optional<int> m_planCut;
    Axis m_axis = Axis::Window;
    QComboBox *m_axisBox;
    QList<int> m_order; ///< legal cuts by x
    QList<int> m_frontier;
    double m_xFrom = 0, m_xTo = 1, m_yFrom = 0, m_yTo = 1;
    int m_current = -1; ///< under the keyboard
};

} // namespace kerf
