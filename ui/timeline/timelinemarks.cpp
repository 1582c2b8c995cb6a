// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/theme/semanticcolors.h"
#include "ui/timeline/timelineview.h"
#include "ui/timeline/tokenscale.h"

#include <QPainter>

// What Find has found, as marks on ruler and strip: a triangle each, so that no colour is alone.

namespace kerf {

void TimelineView::setMarks(const QList<FindMark> &marks)
{
    if (marks == m_marks)
        return;
    m_marks = marks;
    viewport()->update();
}

void TimelineView::paintMarks(QPainter &p, const SemanticColors &c) const
{
    if (m_marks.isEmpty())
        return;
    p.save();
    p.setPen(Qt::NoPen);
    p.setBrush(c.warning);
    const auto triangle = [&p](qreal x, qreal y) {
        const QPointF points[] = {QPointF(x - 4, y), QPointF(x + 4, y), QPointF(x, y + 6)};
        p.drawPolygon(points, 3);
    };
    const TokenScale scale = tokenScale();
    const QRectF axis = m_lanes[0];
    const QRectF strip = m_lanes[kLaneCount - 1];
    qreal lastRuler = -100;
    qreal lastStrip = -100;
    for (const FindMark &mark : m_marks) { // ascending: those that would touch are one
        if (mark.token && *mark.token >= m_visible.begin && *mark.token <= m_visible.end) {
            const qreal x = scale.toX(*mark.token);
            if (x - lastRuler >= 2) {
                triangle(x, axis.bottom() - 7);
                lastRuler = x;
            }
        }
        if (!strip.isEmpty() && mark.seq > 0 && m_session.total() > 0) {
            const int index = m_session.indexOfSeq(mark.seq);
            if (index < 0)
                continue;
            const qreal x = strip.left()
                + strip.width() * static_cast<qreal>(m_session.beginOf(index)) / static_cast<qreal>(m_session.total());
            if (x - lastStrip >= 2) {
                triangle(x, strip.top() + 1);
                lastStrip = x;
            }
        }
    }
    p.restore();
}

} // namespace kerf
