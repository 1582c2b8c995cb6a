// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/theme/semanticcolors.h"

#include <QPainter>
#include <QPainterPath>

namespace kerf {

/// The second signs: hatches and shapes that say the same as a colour.

/// Diagonal lines inside `shape`; `rising` = from bottom left to top right.
void fillLines(QPainter &painter, const QPainterPath &shape, const QColor &color, qreal spacing, qreal width,
               bool rising = true);
/// Kept, computed again: broad stripes on the ground colour.
void fillStriped(QPainter &painter, const QPainterPath &shape, const QColor &color, const QColor &ground);
/// Evicted: a thin hatch on the ground colour.
void fillHatched(QPainter &painter, const QPainterPath &shape, const QColor &color, const QColor &ground);
/// Reach unknown: dots on the ground colour with a dashed outline.
void fillDotted(QPainter &painter, const QPainterPath &shape, const QColor &color, const QColor &ground);
/// Moved by chunk reuse: solid with arrow heads that point to where it goes (left).
void fillMoved(QPainter &painter, const QPainterPath &shape, const QColor &color, const QColor &mark);
/// Simulated: broad diagonal stripes over a whole view.
void fillSimulated(QPainter &painter, const QRectF &rect, const SemanticColors &colors);

/// Head of a checkpoint by kind: circle, square, triangle, diamond. Hollow = erased.
void drawCheckpointHead(QPainter &painter, QPointF center, qreal radius, CheckpointKind kind, const QColor &color,
                        bool hollow = false, const QColor &ground = Qt::white);
/// A flask (simulated), centred in `rect`.
void drawFlask(QPainter &painter, const QRectF &rect, const QColor &color);
/// Small pin.
void drawPin(QPainter &painter, QPointF tip, qreal size, const QColor &color);

} // namespace kerf
