// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/theme/patterns.h"

#include <cmath>

namespace kerf {

void fillLines(QPainter &painter, const QPainterPath &shape, const QColor &color, qreal spacing, qreal width,
               bool rising)
{
    const QRectF bounds = shape.boundingRect();
    if (bounds.isEmpty())
        return;
    painter.save();
    painter.setClipPath(shape, Qt::IntersectClip);
    painter.setPen(QPen(color, width, Qt::SolidLine, Qt::FlatCap));
    // Anchored at the origin of the widget, so that neighbouring pieces join without a seam.
    const qreal step = spacing * std::sqrt(2.0);
    const qreal height = bounds.height();
    const qreal from = std::floor((bounds.left() - height) / step) * step;
    QList<QLineF> lines;
    for (qreal x = from; x < bounds.right() + height; x += step) {
        if (rising)
            lines.append(QLineF(x, bounds.bottom(), x + height, bounds.top()));
        else
            lines.append(QLineF(x, bounds.top(), x + height, bounds.bottom()));
    }
    painter.drawLines(lines);
    painter.restore();
}

void fillStriped(QPainter &painter, const QPainterPath &shape, const QColor &color, const QColor &ground)
{
    painter.fillPath(shape, ground);
    fillLines(painter, shape, color, 6, 3.2);
    painter.save();
    painter.setPen(QPen(color, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(shape);
    painter.restore();
}

void fillHatched(QPainter &painter, const QPainterPath &shape, const QColor &color, const QColor &ground)
{
    painter.fillPath(shape, ground);
    fillLines(painter, shape, color, 4.6, 1.2, false);
    painter.save();
    painter.setPen(QPen(color, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(shape);
    painter.restore();
}

void fillDotted(QPainter &painter, const QPainterPath &shape, const QColor &color, const QColor &ground)
{
    painter.fillPath(shape, ground);
    const QRectF bounds = shape.boundingRect();
    painter.save();
    painter.setClipPath(shape, Qt::IntersectClip);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    constexpr qreal step = 7;
    int row = 0;
    for (qreal y = bounds.top() + 3; y < bounds.bottom(); y += step, ++row) {
        for (qreal x = bounds.left() + (row % 2 ? 3 : 6); x < bounds.right(); x += step)
            painter.drawEllipse(QPointF(x, y), 0.95, 0.95);
    }
    painter.restore();
    painter.save();
    QPen pen(color, 1.6, Qt::CustomDashLine, Qt::FlatCap);
    pen.setDashPattern({3, 2});
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(shape);
    painter.restore();
}

void fillMoved(QPainter &painter, const QPainterPath &shape, const QColor &color, const QColor &mark)
{
    painter.fillPath(shape, color);
    const QRectF bounds = shape.boundingRect();
    painter.save();
    painter.setClipPath(shape, Qt::IntersectClip);
    painter.setPen(QPen(mark, 1.3));
    for (qreal y = bounds.top() + 5; y < bounds.bottom(); y += 9) {
        for (qreal x = bounds.left() + 4; x < bounds.right(); x += 11) {
            painter.drawLine(QPointF(x + 3, y - 3), QPointF(x, y));
            painter.drawLine(QPointF(x, y), QPointF(x + 3, y + 3));
        }
    }
    painter.restore();
}

void fillSimulated(QPainter &painter, const QRectF &rect, const SemanticColors &colors)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect, mixed(colors.simulated, colors.base, colors.dark ? 0.10 : 0.12));
    QPainterPath path;
    path.addRect(rect);
    fillLines(painter, path, mixed(colors.simulated, colors.base, colors.dark ? 0.26 : 0.34), 16, 7);
    painter.restore();
}

void drawCheckpointHead(QPainter &painter, QPointF c, qreal r, CheckpointKind kind, const QColor &color, bool hollow,
                        const QColor &ground)
{
    painter.save();
    painter.setPen(QPen(color, hollow ? 1.4 : 1));
    painter.setBrush(hollow ? ground : color);
    switch (kind) {
    case CheckpointKind::InternalCheckpoint:
        painter.drawEllipse(c, r, r);
        break;
    case CheckpointKind::SlotSaveFile:
        painter.drawRect(QRectF(c.x() - r * 0.9, c.y() - r * 0.9, r * 1.8, r * 1.8));
        break;
    case CheckpointKind::FoldMarker:
        painter.drawPolygon(QPolygonF({QPointF(c.x(), c.y() - r * 1.15), QPointF(c.x() + r * 1.15, c.y() + r * 0.85),
                                       QPointF(c.x() - r * 1.15, c.y() + r * 0.85)}));
        break;
    case CheckpointKind::PreRewrite:
        painter.drawPolygon(QPolygonF({QPointF(c.x(), c.y() - r * 1.2), QPointF(c.x() + r * 1.2, c.y()),
                                       QPointF(c.x(), c.y() + r * 1.2), QPointF(c.x() - r * 1.2, c.y())}));
        break;
    }
    painter.restore();
}

void drawFlask(QPainter &painter, const QRectF &rect, const QColor &color)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const qreal s = std::min(rect.width(), rect.height()) / 16.0;
    painter.translate(rect.center().x() - 8 * s, rect.center().y() - 8 * s);
    painter.scale(s, s);
    QPainterPath path;
    path.moveTo(6, 2);
    path.lineTo(6, 6.5);
    path.lineTo(2.4, 12.6);
    path.cubicTo(1.8, 13.8, 2.4, 14.5, 3.6, 14.5);
    path.lineTo(12.4, 14.5);
    path.cubicTo(13.6, 14.5, 14.2, 13.8, 13.6, 12.6);
    path.lineTo(10, 6.5);
    path.lineTo(10, 2);
    QPainterPath liquid;
    liquid.moveTo(4.3, 10.5);
    liquid.lineTo(11.7, 10.5);
    liquid.lineTo(13, 12.9);
    liquid.lineTo(12.4, 14);
    liquid.lineTo(3.6, 14);
    liquid.lineTo(3, 12.9);
    liquid.closeSubpath();
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPath(liquid);
    painter.setPen(QPen(color, 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
    painter.drawLine(QPointF(4.8, 2), QPointF(11.2, 2));
    painter.restore();
}

void drawPin(QPainter &painter, QPointF tip, qreal size, const QColor &color)
{
    painter.save();
    painter.setPen(QPen(color, 1.2));
    painter.setBrush(Qt::NoBrush);
    const qreal u = size / 6.0;
    painter.drawLine(tip, QPointF(tip.x(), tip.y() - 2.4 * u));
    painter.drawLine(QPointF(tip.x() - 2.4 * u, tip.y() - 2.4 * u), QPointF(tip.x() + 2.4 * u, tip.y() - 2.4 * u));
    painter.drawRect(QRectF(tip.x() - 1.4 * u, tip.y() - 6 * u, 2.8 * u, 3.6 * u));
    painter.restore();
}

} // namespace kerf
