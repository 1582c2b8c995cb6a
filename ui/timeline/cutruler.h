// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/eviction/cutcurve.h"
#include "ui/theme/semanticcolors.h"
#include "ui/timeline/tokenscale.h"

#include <QFont>
#include <QPainter>

#include <memory>

namespace kerf {

/// The lane that says what a cut at each position would cost. Geometry and painting apart from the view: the view
/// gives scale and place, and asks the same object what is under the pointer.
class CutRuler
{
public:
    struct Card { ///< "1,742 is inside episode 12": the two legal neighbours, to be clicked
        QRectF rect;
        QRectF below;
        QRectF above;
        bool isEmpty() const { return rect.isEmpty(); }
    };

    void setReport(std::shared_ptr<const CutReport> report);
    const CutReport *report() const { return m_report.get(); }
    bool isEmpty() const { return !m_report || m_report->legal.isEmpty(); }
    void setPlace(const TokenScale &scale, const QRectF &lane, const QFont &font);
    void setMarks(std::optional<int> whatIf, std::optional<int> planCut, const QString &headline);

    bool inMilliseconds() const { return m_report && m_report->cost.known(); }
    double top() const { return m_top; } ///< value at the lane's upper end; the axis starts at 0
    qreal floorY() const;
    qreal yOf(double cost) const;
    double costOf(const CutValue &value, bool best) const;
    QPointF pointOf(const CutValue &value) const;
    QList<double> ticks() const;
    QString tickText(double cost) const;

    int legalNear(QPointF point, qreal reach = 8) const; ///< index of the circle under the pointer; -1 = none
    Card card() const; ///< empty while the cut is legal or there is none

    void paint(QPainter &p, const SemanticColors &c, const QColor &ground) const;
    void paintCard(QPainter &p, const SemanticColors &c) const;
    int drawnPoints() const { return m_drawn; } ///< of the last paint: bounded by the width, for tests

private:
    QPolygonF outline(bool best) const;
    QFont smallFont() const;

    std::shared_ptr<const CutReport> m_report;
    QList<std::pair<int, int>> m_cliffs;
    TokenScale m_scale;
    QRectF m_lane;
    QFont m_font;
    double m_top = 1;
    bool m_range = false;
    std::optional<int> m_whatIf;
    std::optional<int> m_planCut;
    QString m_headline;
    mutable int m_drawn = 0;
};

} // namespace kerf
