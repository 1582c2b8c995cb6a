// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/ring/checkpointring.h"

#include "ui/theme/patterns.h"
#include "ui/viewmodel/numbers.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolButton>
#include <QToolTip>

#include <cmath>
#include <numbers>

namespace kerf {

namespace {

constexpr qreal kLeastForNumbers = 76; ///< px: inner radius from which the positions have room inside

constexpr qint64 kGhostMs = 10'000;
constexpr int kMergeAbove = 48;
constexpr qreal kMergePixels = 6;

QPainterPath arcPath(const RingScale &scale, qreal begin, qreal end, qreal inner, qreal outer)
{
    const qreal from = 90 - scale.angleOf(begin);
    const qreal sweep = -(scale.angleOf(end) - scale.angleOf(begin));
    const QRectF out(scale.center.x() - outer, scale.center.y() - outer, 2 * outer, 2 * outer);
    const QRectF in(scale.center.x() - inner, scale.center.y() - inner, 2 * inner, 2 * inner);
    QPainterPath path;
    path.arcMoveTo(out, from);
    path.arcTo(out, from, sweep);
    path.arcTo(in, from + sweep, -sweep);
    path.closeSubpath();
    return path;
}

int niceStep(int span)
{
    int step = 1;
    while (true) {
        for (const int factor : {1, 2, 5}) {
            if (span / (step * factor) < 9)
                return step * factor;
        }
        step *= 10;
    }
}

/// Where a label outside of the ring stands: at its angle, or the nearest angle where it is free.
QRectF placeLabel(QList<QRectF> &taken, const RingScale &scale, qreal position, qreal distance, QSizeF size,
                  const QRectF &bounds)
{
    QRectF best;
    qreal least = 1e12;
    constexpr int kTries = 25;
    for (int tries = 0; tries < kTries && least > 0; ++tries) {
        const qreal turn = (tries + 1) / 2 * 5.0 * (tries % 2 ? 1 : -1);
        const qreal radians = (scale.angleOf(position) + turn) * std::numbers::pi / 180;
        const qreal sx = std::sin(radians);
        const qreal sy = -std::cos(radians);
        const QPointF anchor(scale.center.x() + distance * sx, scale.center.y() + distance * sy);
        QRectF rect(QPointF(anchor.x() + (sx - 1) * size.width() / 2, anchor.y() + (sy - 1) * size.height() / 2), size);
        rect.moveLeft(std::clamp(rect.left(), bounds.left(), std::max(bounds.left(), bounds.right() - size.width())));
        rect.moveTop(std::clamp(rect.top(), bounds.top(), std::max(bounds.top(), bounds.bottom() - size.height())));
        // What it costs: lying on the track most, on another label or head next, far from its place least.
        const QPointF nearest(std::clamp(scale.center.x(), rect.left(), rect.right()),
                              std::clamp(scale.center.y(), rect.top(), rect.bottom()));
        const qreal inside = std::max<qreal>(0, scale.radius + 2 - QLineF(scale.center, nearest).length());
        qreal cost = inside * 1000;
        for (const QRectF &other : std::as_const(taken)) {
            const QRectF common = other.intersected(rect);
            cost += common.width() * common.height();
        }
        if (cost < least) {
            least = cost;
            best = rect;
        }
    }
    taken.append(best);
    return best;
}

} // namespace

QPointF RingScale::pointAt(qreal position, qreal distance) const
{
    const qreal radians = angleOf(position) * std::numbers::pi / 180;
    return {center.x() + distance * std::sin(radians), center.y() - distance * std::cos(radians)};
}

std::optional<int> RingScale::positionAt(QPointF point, qreal inside, qreal outside) const
{
    const QPointF d = point - center;
    const qreal distance = std::hypot(d.x(), d.y());
    if (distance < radius - thickness - inside || distance > radius + outside)
        return std::nullopt;
    qreal angle = std::atan2(d.x(), -d.y()) * 180 / std::numbers::pi;
    if (angle < 0)
        angle += 360;
    return static_cast<int>(angle / 360.0 * span);
}

CheckpointRing::CheckpointRing(Selection *selection, QWidget *parent)
    : QWidget(parent)
    , m_selection(selection)
    , m_fitButton(new QToolButton(this))
{
    installTableAccess();
    setObjectName(QStringLiteral("checkpointRing"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(tr("Checkpoint ring"));
    setWhatsThis(
        tr("The prompt of this slot on a circle, 0 at the top. Solid is reused, stripes are equal tokens that "
           "must be computed again, the thin hatch is evicted. Heads outside are checkpoints: positions that the "
           "server can go back to."));
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Expanding);
    setSizePolicy(policy);
    m_clock.start();
    m_ghostTimer.setSingleShot(true);
    connect(&m_ghostTimer, &QTimer::timeout, this, [this] {
        m_ghosts.removeIf([this](const Ghost &ghost) { return ghost.until <= m_clock.elapsed(); });
        if (!m_ghosts.isEmpty())
            m_ghostTimer.start(static_cast<int>(std::max<qint64>(50, m_ghosts.first().until - m_clock.elapsed())));
        update();
    });
    m_fitButton->setAutoRaise(true);
    m_fitButton->setFocusPolicy(Qt::NoFocus);
    m_fitButton->setVisible(false);
    connect(m_fitButton, &QToolButton::clicked, this, [this] { setFit(!m_fit); });
    connect(selection, &Selection::changed, this, qOverload<>(&QWidget::update));
    connect(selection, &Selection::hoverChanged, this, qOverload<>(&QWidget::update));
}

void CheckpointRing::setPicture(const CutPicture &picture)
{
    if (picture == m_picture)
        return;
    const bool sameRing = m_picture.cut != CutPicture::Cut::Compaction && picture.cut != CutPicture::Cut::Compaction
        && m_picture.slotId == picture.slotId && m_picture.contextSize == picture.contextSize
        && m_picture.ring == CutPicture::Ring::Visible;
    if (sameRing) {
        for (const CheckpointMark &old : m_picture.checkpoints) {
            const bool still =
                std::any_of(picture.checkpoints.begin(), picture.checkpoints.end(), [&old](const CheckpointMark &now) {
                    return now.checkpoint.position == old.checkpoint.position
                        && now.checkpoint.kind == old.checkpoint.kind;
                });
            if (!still)
                m_ghosts.append(Ghost{old.checkpoint, m_clock.elapsed() + kGhostMs});
        }
        if (!m_ghosts.isEmpty() && !m_ghostTimer.isActive())
            m_ghostTimer.start(kGhostMs);
    } else {
        m_ghosts.clear();
    }
    const QString before = describeRing(m_picture);
    m_picture = picture;
    m_current = std::min<int>(m_current, static_cast<int>(m_picture.checkpoints.size()) - 1);
    m_fitButton->setVisible(canFit());
    m_fitButton->setText(isFit() ? tr("Full", "ring scale") : tr("Fit", "ring scale"));
    m_fitButton->setToolTip(isFit() ? tr("Show the whole context of %1 tokens").arg(number(m_picture.contextSize))
                                    : tr("Scale the circle to the prompt"));
    update();
    if (describeRing(m_picture) != before)
        announceTable(this);
    Q_EMIT fitChanged();
}

bool CheckpointRing::canFit() const
{
    return m_picture.contextSize > 0 && m_picture.promptTokens > 0
        && m_picture.promptTokens * 3 < m_picture.contextSize;
}

void CheckpointRing::setFit(bool fit)
{
    m_fit = fit;
    m_fitButton->setText(isFit() ? tr("Full", "ring scale") : tr("Fit", "ring scale"));
    update();
    Q_EMIT fitChanged();
}

qreal CheckpointRing::legendHeight() const { return height() < 300 ? 0 : fontMetrics().height() * 3.6 + 10; }

RingScale CheckpointRing::ringScale() const
{
    RingScale scale;
    const qreal room = height() - legendHeight();
    const QFontMetrics metrics(font());
    const qreal side = std::min<qreal>(width() - metrics.height() * 1.4, room - metrics.height() * 1.6);
    scale.radius = std::max<qreal>(40, side / 2 - 30);
    scale.thickness = std::min<qreal>(30, scale.radius * 0.27);
    scale.center = QPointF(width() / 2.0, room / 2.0);
    int furthest = m_picture.promptTokens;
    if (m_picture.nPast)
        furthest = std::max(furthest, *m_picture.nPast);
    if (isFit())
        scale.span = std::max(1, furthest + furthest / 5);
    else
        scale.span = std::max({1, m_picture.contextSize, furthest});
    return scale;
}

QList<RingHead> CheckpointRing::heads() const
{
    QList<RingHead> result;
    const RingScale scale = ringScale();
    if (m_picture.ring == CutPicture::Ring::FullAttention || m_picture.ring == CutPicture::Ring::NotVisible
        || m_picture.ring == CutPicture::Ring::NoSession)
        return result;
    const qreal distance = scale.radius + 20;
    const bool merge = m_picture.checkpoints.size() > kMergeAbove;
    for (qsizetype i = 0; i < m_picture.checkpoints.size(); ++i) {
        const CheckpointValue &checkpoint = m_picture.checkpoints.at(i).checkpoint;
        const QPointF center = scale.pointAt(checkpoint.position, distance);
        if (merge && !result.isEmpty() && QLineF(result.last().center, center).length() < kMergePixels) {
            result.last().marks.append(static_cast<int>(i));
            continue;
        }
        // Durable ones stand one row further out where an in-memory one has the same place.
        QPointF place = center;
        if (!result.isEmpty() && QLineF(result.last().center, center).length() < 10)
            place = scale.pointAt(checkpoint.position, distance + 12);
        result.append(RingHead{place, {static_cast<int>(i)}, false, checkpoint.kind, checkpoint.position});
    }
    for (const Ghost &ghost : m_ghosts)
        result.append(RingHead{scale.pointAt(ghost.checkpoint.position, distance),
                               {},
                               true,
                               ghost.checkpoint.kind,
                               ghost.checkpoint.position});
    return result;
}

QString CheckpointRing::centerNumber() const
{
    if (m_picture.ring == CutPicture::Ring::NoSession)
        return {};
    if (m_picture.rangeOnly)
        return tr("%1 to %2").arg(number(m_picture.reusedLow), number(m_picture.reusedHigh, m_picture.exact));
    if (m_picture.reused) {
        const bool plain = !m_picture.simulated && (m_picture.measured || m_picture.exact);
        return number(*m_picture.reused, plain);
    }
    return number(m_picture.promptTokens, !m_picture.estimated());
}

QString CheckpointRing::centerState() const
{
    switch (m_picture.ring) {
    case CutPicture::Ring::NoSession:
        return tr("No session");
    case CutPicture::Ring::NoServer:
        return tr("no server");
    case CutPicture::Ring::BeforeFirstTask:
        return tr("not run yet");
    case CutPicture::Ring::Empty:
        return tr("no checkpoint yet");
    case CutPicture::Ring::NotVisible:
        return tr("ring not visible");
    case CutPicture::Ring::FullAttention:
        return tr("no ring needed");
    case CutPicture::Ring::Visible:
        break;
    }
    return {};
}

void CheckpointRing::paintTrack(QPainter &painter, const RingScale &scale, const SemanticColors &c) const
{
    const qreal outer = scale.radius;
    const qreal inner = scale.radius - scale.thickness;
    const QColor ground = c.base;
    const qreal strength = m_picture.disconnected ? 0.34 : 1.0;
    const auto faded = [&](const QColor &color) { return mixed(color, ground, strength); };

    // Free: an empty outline.
    painter.fillPath(arcPath(scale, 0, scale.span, inner, outer), mixed(c.text, c.base, 0.04));

    for (const Segment &segment : m_picture.segments) {
        const QPainterPath path =
            arcPath(scale, segment.range.begin, std::min(segment.range.end, scale.span), inner, outer);
        switch (segment.kind) {
        case SegmentKind::Reused:
            painter.fillPath(path, faded(c.reused));
            break;
        case SegmentKind::Prefilled:
            painter.fillPath(path, faded(c.prefilled));
            break;
        case SegmentKind::Recent:
            painter.fillPath(path, faded(c.recent));
            break;
        case SegmentKind::KeptAgain:
            fillStriped(painter, path, faded(c.reused), ground);
            break;
        case SegmentKind::Evicted:
            fillHatched(painter, path, faded(c.evicted), ground);
            break;
        case SegmentKind::MaybeReused:
            fillDotted(painter, path, faded(c.reused), ground);
            break;
        case SegmentKind::Moved:
            fillMoved(painter, path, faded(c.reused), c.onFill);
            break;
        case SegmentKind::Held:
            painter.fillPath(path, mixed(c.text, c.base, 0.22 * strength));
            break;
        }
    }
    painter.setPen(QPen(c.axis, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawEllipse(scale.center, outer, outer);
    painter.drawEllipse(scale.center, inner, inner);

    // Ring on full attention has no use; on memory that hides it, dots stand round the outside.
    if (m_picture.ring == CutPicture::Ring::NotVisible && m_picture.promptTokens > 0) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(c.dimText);
        for (int i = 0; i < 36; ++i)
            painter.drawEllipse(scale.pointAt(scale.span * i / 36.0, outer + 14), 1.2, 1.2);
    }

    // Numbers inside.
    QFont small = font();
    small.setPointSizeF(std::max(8.0, small.pointSizeF() - 1));
    painter.setFont(small);
    const QFontMetricsF metrics(small);
    if (m_picture.contextSize > 0 || m_picture.promptTokens > 0) {
        const int step = niceStep(scale.span);
        for (int p = 0; p < scale.span; p += step) {
            if (p > 0 && scale.span - p < step * 0.55)
                continue; // would run into the zero
            painter.setPen(QPen(c.axis, 1));
            painter.drawLine(scale.pointAt(p, inner - 4), scale.pointAt(p, inner));
            if (inner < kLeastForNumbers)
                continue; // they would lie on what the centre says
            const QString label = shortPosition(p);
            const QSizeF size(metrics.horizontalAdvance(label), metrics.height());
            const QPointF at = scale.pointAt(p, inner - 7 - std::max(size.width(), size.height()) / 2);
            painter.setPen(c.dimText);
            painter.drawText(
                QRectF(at.x() - size.width() / 2 - 1, at.y() - size.height() / 2, size.width() + 2, size.height()),
                Qt::AlignCenter, label);
        }
    }

    // The break between the prompt and n_ctx when the scale is fitted.
    if (isFit()) {
        const qreal gap = scale.span - (scale.span - m_picture.promptTokens) * 0.4;
        for (const qreal shift : {-0.012, 0.006}) {
            const qreal p = gap + shift * scale.span;
            painter.setPen(QPen(c.base, 4));
            painter.drawLine(scale.pointAt(p, inner - 3), scale.pointAt(p + 0.012 * scale.span, outer + 3));
            painter.setPen(QPen(c.text, 1.2));
            painter.drawLine(scale.pointAt(p, inner - 3), scale.pointAt(p + 0.012 * scale.span, outer + 3));
        }
    }
}

void CheckpointRing::paintCenter(QPainter &painter, const RingScale &scale, const SemanticColors &c) const
{
    struct Line {
        QString text;
        QFont font;
        QColor color;
    };
    QFont small = font();
    QFont bold = font();
    bold.setBold(true);
    QFont big = font();
    big.setBold(true);
    big.setPointSizeF(big.pointSizeF() + 9);
    QList<Line> lines;
    const bool idle = m_picture.cut == CutPicture::Cut::None;
    const QString state = centerState();
    if (m_picture.ring == CutPicture::Ring::NoSession) {
        lines.append({state, bold, c.dimText});
    } else {
        if (m_picture.disconnected)
            lines.append({m_picture.asOf.isValid() ? tr("as of %1")
                                                         .arg(QLocale().toString(m_picture.asOf.toLocalTime().time(),
                                                                                 QStringLiteral("HH:mm:ss")))
                                                   : tr("never answered"),
                          bold, c.warning});
        else if (m_picture.simulated)
            lines.append({tr("SIMULATED"), bold, c.simulated});
        else if (m_picture.rangeOnly)
            lines.append({tr("may reuse"), small, c.dimText});
        else if (m_picture.cut == CutPicture::Cut::Planned || m_picture.cut == CutPicture::Cut::WhatIf)
            lines.append({tr("would reuse"), small, c.dimText});
        else
            lines.append({m_picture.reused ? tr("reused") : tr("in the prompt"), small, c.dimText});
        QString value = centerNumber();
        QFont fitted = big;
        const qreal room = 2 * (scale.radius - scale.thickness) - 70;
        while (fitted.pointSizeF() > font().pointSizeF() + 2 && QFontMetricsF(fitted).horizontalAdvance(value) > room)
            fitted.setPointSizeF(fitted.pointSizeF() - 1);
        lines.append(
            {value, fitted, m_picture.disconnected || m_picture.rangeOnly || !m_picture.reused ? c.text : c.reused});
        if (m_picture.disconnected) {
            lines.append({m_picture.measured ? tr("last measured") : tr("last known"), small, c.dimText});
        } else if (m_picture.simulated) {
            lines.append({m_picture.reused ? (idle ? tr("reused, model only") : tr("reused, model only"))
                                           : tr("tokens, model only"),
                          small, c.dimText});
        } else if (!m_picture.rangeOnly) {
            if (m_picture.reused && m_picture.sentTotal > 0)
                lines.append(
                    {m_picture.whatIf
                         ? tr("of %1").arg(number(m_picture.sentTotal, false))
                         : tr("of %1 sent").arg(number(m_picture.sentTotal, m_picture.exact || m_picture.measured)),
                     small, c.dimText});
            else if (m_picture.contextSize > 0)
                lines.append({tr("of %1").arg(number(m_picture.contextSize)), small, c.dimText});
        }
        if (!state.isEmpty() && !m_picture.disconnected) {
            const bool warn = m_picture.ring == CutPicture::Ring::NotVisible;
            lines.append({state, bold, warn ? c.warning : c.dimText});
        }
    }
    qreal total = 0;
    for (const Line &line : lines)
        total += QFontMetricsF(line.font).height();
    qreal y = scale.center.y() - total / 2;
    for (const Line &line : lines) {
        const qreal h = QFontMetricsF(line.font).height();
        painter.setFont(line.font);
        painter.setPen(line.color);
        painter.drawText(QRectF(scale.center.x() - scale.radius, y, 2 * scale.radius, h), Qt::AlignCenter, line.text);
        y += h;
    }
}

void CheckpointRing::paintLegend(QPainter &painter, const SemanticColors &c) const
{
    const qreal heightOfIt = legendHeight();
    if (heightOfIt <= 0 || m_picture.ring == CutPicture::Ring::NoSession)
        return;
    struct Entry {
        SegmentKind kind;
        QString word;
    };
    QList<Entry> entries;
    const bool idle = m_picture.cut == CutPicture::Cut::None;
    const auto offer = [&](SegmentKind kind, const QString &word) {
        if (m_picture.tokensOf(kind) > 0)
            entries.append({kind, word});
    };
    offer(SegmentKind::Reused, tr("Reused"));
    offer(SegmentKind::MaybeReused, tr("Kept, reuse unknown"));
    offer(SegmentKind::KeptAgain, tr("Kept, computed again"));
    offer(SegmentKind::Prefilled, tr("Prefilled"));
    offer(SegmentKind::Evicted, tr("Evicted"));
    offer(SegmentKind::Moved, tr("Moved, reused"));
    offer(SegmentKind::Recent, tr("Recent"));
    offer(SegmentKind::Held, idle ? tr("New since then") : tr("Held"));
    const QFontMetricsF metrics(font());
    const qreal row = metrics.height() + 3;
    const qreal margin = 12;
    QFont bold = font();
    bold.setBold(true);
    const QFontMetricsF boldMetrics(bold);
    // Two columns, the width shared by what stands in them.
    qreal left = 0;
    for (qsizetype i = 0; i < entries.size(); i += 2)
        left = std::max(left,
                        18 + metrics.horizontalAdvance(entries.at(i).word) + 10
                            + boldMetrics.horizontalAdvance(number(m_picture.tokensOf(entries.at(i).kind), false)));
    const qreal columnTwo = std::min(left + margin + 22, width() * 0.56);
    const qreal top = height() - heightOfIt;
    for (qsizetype i = 0; i < entries.size() && i < 4; ++i) {
        const bool second = i % 2;
        const qreal x = second ? columnTwo : margin;
        const qreal right = second ? width() - margin : columnTwo - 16;
        const qreal y = top + (i / 2) * row;
        QPainterPath box;
        box.addRect(QRectF(x + 0.5, y + row / 2 - 5, 11, 10));
        switch (entries.at(i).kind) {
        case SegmentKind::Reused:
            painter.fillPath(box, c.reused);
            break;
        case SegmentKind::Prefilled:
            painter.fillPath(box, c.prefilled);
            break;
        case SegmentKind::Recent:
            painter.fillPath(box, c.recent);
            break;
        case SegmentKind::KeptAgain:
            fillStriped(painter, box, c.reused, c.base);
            break;
        case SegmentKind::Evicted:
            fillHatched(painter, box, c.evicted, c.base);
            break;
        case SegmentKind::MaybeReused:
            fillDotted(painter, box, c.reused, c.base);
            break;
        case SegmentKind::Moved:
            fillMoved(painter, box, c.reused, c.onFill);
            break;
        case SegmentKind::Held:
            painter.fillPath(box, mixed(c.text, c.base, 0.22));
            break;
        }
        const int tokens = m_picture.tokensOf(entries.at(i).kind);
        const QString figure = number(tokens, !m_picture.estimated());
        const qreal figureWidth = boldMetrics.horizontalAdvance(figure) + 4;
        painter.setFont(font());
        painter.setPen(c.text);
        const QRectF text(x + 17, y, right - x - 17 - figureWidth, row);
        painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(entries.at(i).word, Qt::ElideRight, text.width()));
        painter.setFont(bold);
        painter.drawText(QRectF(right - figureWidth, y, figureWidth, row), Qt::AlignRight | Qt::AlignVCenter, figure);
    }
    // Shapes of the heads that are there.
    const qreal y = top + ((std::min<qsizetype>(entries.size(), 4) + 1) / 2) * row;
    painter.setFont(font());
    qreal x = margin;
    QString note;
    switch (m_picture.ring) {
    case CutPicture::Ring::Empty:
        note = tr("No checkpoint yet: the server makes them while it works.");
        break;
    case CutPicture::Ring::BeforeFirstTask:
        note = tr("This slot has not run yet.");
        break;
    case CutPicture::Ring::NoServer:
        note = tr("No slot to look at.");
        break;
    case CutPicture::Ring::FullAttention:
        note = tr("Any token can be a cut.");
        break;
    case CutPicture::Ring::NotVisible:
        note = tr("The server lists no checkpoints; attach its log.");
        break;
    case CutPicture::Ring::NoSession:
    case CutPicture::Ring::Visible:
        break;
    }
    if (!note.isEmpty()) {
        painter.setPen(c.dimText);
        painter.drawText(QRectF(margin, y, width() - 2 * margin, row), Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(note, Qt::ElideRight, width() - 2 * margin));
        return;
    }
    for (const CheckpointKind kind : {CheckpointKind::InternalCheckpoint, CheckpointKind::SlotSaveFile,
                                      CheckpointKind::FoldMarker, CheckpointKind::PreRewrite}) {
        const bool there = std::any_of(m_picture.checkpoints.begin(), m_picture.checkpoints.end(),
                                       [kind](const CheckpointMark &mark) { return mark.checkpoint.kind == kind; });
        if (!there)
            continue;
        const QString word = checkpointKindWord(kind);
        const qreal advance = 14 + metrics.horizontalAdvance(word) + 12;
        if (x + advance > width() - margin)
            break;
        drawCheckpointHead(painter, QPointF(x + 5, y + row / 2), 4, kind, c.checkpoint(kind));
        painter.setPen(c.dimText);
        painter.drawText(QRectF(x + 14, y, advance, row), Qt::AlignLeft | Qt::AlignVCenter, word);
        x += advance;
    }
}

void CheckpointRing::paintEvent(QPaintEvent *)
{
    const SemanticColors c = SemanticColors::of(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), c.base);
    const RingScale scale = ringScale();
    const qreal outer = scale.radius;
    const qreal inner = scale.radius - scale.thickness;
    if (m_picture.simulated) {
        fillSimulated(painter, QRectF(0, 0, width(), height() - legendHeight()), c);
        painter.setPen(Qt::NoPen);
        painter.setBrush(c.base);
        painter.drawEllipse(scale.center, outer + 38, outer + 38);
    }
    const qreal strength = m_picture.disconnected ? 0.4 : 1.0;
    const auto faded = [&](const QColor &color) { return mixed(color, c.base, strength); };

    paintTrack(painter, scale, c);

    QList<QRectF> labels;
    const QRectF bounds(3, 2, width() - 6, height() - legendHeight() - 4);
    const QFontMetricsF metrics(font());
    QFont bold = font();
    bold.setBold(true);
    const QFontMetricsF boldMetrics(bold);

    // Stalks and heads.
    const QList<RingHead> all = heads();
    const std::optional<int> selected = m_selection->checkpoint();
    for (const RingHead &head : all) {
        const QColor color = faded(c.checkpoint(head.kind));
        painter.setPen(QPen(color, 1.6));
        if (!head.erased)
            painter.drawLine(scale.pointAt(head.position, inner + 3), scale.pointAt(head.position, outer + 15));
    }
    for (const RingHead &head : all) {
        const QColor color = faded(c.checkpoint(head.kind));
        const qreal r = 4.6;
        drawCheckpointHead(painter, head.center, r, head.kind, color, head.erased, c.base);
        const bool used = std::any_of(head.marks.begin(), head.marks.end(), [this](int i) {
            return m_picture.checkpoints.at(i).fate == CheckpointMark::Fate::Used;
        });
        painter.setBrush(Qt::NoBrush);
        if (used) {
            painter.setPen(QPen(c.text, 1.8));
            painter.drawEllipse(head.center, r + 4, r + 4);
        }
        if (selected && *selected == head.position && !head.erased) {
            painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
            painter.drawEllipse(head.center, r + 7, r + 7);
        }
        if (head.marks.size() > 1) {
            const QString count = number(head.marks.size());
            const QRectF box = placeLabel(labels, scale, head.position, outer + 30,
                                          QSizeF(metrics.horizontalAdvance(count) + 4, metrics.height()), bounds);
            painter.setPen(c.dimText);
            painter.drawText(box, Qt::AlignCenter, count);
        }
        labels.append(QRectF(head.center.x() - 8, head.center.y() - 8, 16, 16));
    }
    if (hasFocus() && m_current >= 0 && m_current < m_picture.checkpoints.size()) {
        const int position = m_picture.checkpoints.at(m_current).checkpoint.position;
        painter.setPen(QPen(c.focus, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(scale.pointAt(position, outer + 20), 11, 11);
    }

    // Tolerance: what lies below the request but may be snapped to.
    const bool cut = m_picture.cut != CutPicture::Cut::None;
    if (cut && m_picture.requested && m_picture.tolerance > 0 && m_picture.ring == CutPicture::Ring::Visible) {
        const int from = std::max(0, *m_picture.requested - m_picture.tolerance);
        painter.fillPath(arcPath(scale, from, *m_picture.requested, inner - 14, inner - 6),
                         mixed(c.warning, c.base, c.dark ? 0.5 : 0.45));
    }

    // Trigger and target: notches outside with their share.
    const auto notch = [&](int at) {
        if (at <= 0 || at >= scale.span || m_picture.budget <= 0)
            return;
        painter.setPen(QPen(c.dimText, 1.4));
        painter.drawLine(scale.pointAt(at, outer + 1), scale.pointAt(at, outer + 10));
        const QString share = tr("%1 %").arg(QLocale().toString(qRound(100.0 * at / m_picture.budget)));
        const QRectF box = placeLabel(labels, scale, at, outer + 14,
                                      QSizeF(metrics.horizontalAdvance(share) + 2, metrics.height()), bounds);
        painter.setFont(font());
        painter.setPen(c.dimText);
        painter.drawText(box, Qt::AlignCenter, share);
    };

    // The cuts: always text colour; dashed as requested, solid as aligned. Labels go first, they matter most.
    if (m_picture.whatIf) {
        const auto radius = [&](int at, const QPen &pen, qreal reach) {
            painter.setPen(pen);
            painter.drawLine(scale.pointAt(at, inner - 16), scale.pointAt(at, outer + reach));
        };
        if (m_picture.planCut && m_picture.planCut != m_picture.whatIf) {
            QPen dotted(c.text, 1.6, Qt::CustomDashLine, Qt::FlatCap);
            dotted.setDashPattern({1.6, 1.6});
            radius(*m_picture.planCut, dotted, 6);
            const QString text = tr("plan %1").arg(number(*m_picture.planCut, !m_picture.estimated()));
            const QRectF box = placeLabel(labels, scale, *m_picture.planCut, outer + 30,
                                          QSizeF(metrics.horizontalAdvance(text) + 2, metrics.height()), bounds);
            painter.setFont(font());
            painter.setPen(c.dimText);
            painter.drawText(box, Qt::AlignCenter, text);
        }
        radius(*m_picture.whatIf, QPen(c.text, 2.8, Qt::SolidLine, Qt::FlatCap), 12);
        const QString text = tr("what-if %1").arg(number(*m_picture.whatIf, !m_picture.estimated()));
        const QRectF box = placeLabel(labels, scale, *m_picture.whatIf, outer + 34,
                                      QSizeF(boldMetrics.horizontalAdvance(text) + 2, boldMetrics.height()), bounds);
        painter.setFont(bold);
        painter.setPen(c.text);
        painter.drawText(box, Qt::AlignCenter, text);
    } else if (cut) {
        const bool equal = m_picture.requested && m_picture.aligned && *m_picture.requested == *m_picture.aligned;
        if (m_picture.aligned) {
            const bool onHead = std::any_of(
                all.begin(), all.end(), [this](const RingHead &head) { return head.position == *m_picture.aligned; });
            painter.setPen(QPen(c.text, 2.8, Qt::SolidLine, Qt::FlatCap));
            painter.drawLine(scale.pointAt(*m_picture.aligned, inner - 16),
                             scale.pointAt(*m_picture.aligned, outer + (onHead ? 12 : 8)));
            QString text = number(*m_picture.aligned, !m_picture.estimated());
            if (equal)
                text = tr("%1 as requested").arg(text);
            const QRectF box =
                placeLabel(labels, scale, *m_picture.aligned, outer + (onHead ? 34 : 12),
                           QSizeF(boldMetrics.horizontalAdvance(text) + 2, boldMetrics.height()), bounds);
            painter.setFont(bold);
            painter.setPen(c.text);
            painter.drawText(box, Qt::AlignCenter, text);
        }
        if (m_picture.requested && !equal) {
            QPen dash(c.text, 1.8, Qt::CustomDashLine, Qt::FlatCap);
            dash.setDashPattern({2.2, 1.6});
            painter.setPen(dash);
            painter.drawLine(scale.pointAt(*m_picture.requested, inner - 16),
                             scale.pointAt(*m_picture.requested, outer + 8));
            const QString text = m_picture.rangeOnly
                ? tr("%1 kept").arg(number(m_picture.retained, m_picture.exact))
                : tr("%1 requested").arg(number(*m_picture.requested, !m_picture.estimated()));
            const QRectF box = placeLabel(labels, scale, *m_picture.requested, outer + 12,
                                          QSizeF(metrics.horizontalAdvance(text) + 2, metrics.height()), bounds);
            painter.setFont(font());
            painter.setPen(m_picture.rangeOnly ? c.text : c.dimText);
            painter.drawText(box, Qt::AlignCenter, text);
        }
    }
    if (m_picture.nPast && *m_picture.nPast > 0) {
        const int at = *m_picture.nPast;
        const QPointF tip = scale.pointAt(at, inner);
        const qreal radians = scale.angleOf(at) * std::numbers::pi / 180;
        const QPointF out(std::sin(radians), -std::cos(radians));
        const QPointF side(out.y(), -out.x());
        QPolygonF wedge({tip, tip - out * 11 + side * 5, tip - out * 11 - side * 5});
        painter.setPen(QPen(c.text, 1.4));
        painter.setBrush(m_picture.nPastBooked ? QBrush(c.base) : QBrush(c.text));
        painter.drawPolygon(wedge);
        painter.setPen(QPen(c.text, 2.2));
        painter.drawLine(tip, scale.pointAt(at, outer + 4));
        QStringList text{tr("n_past"), number(at, !m_picture.simulated)};
        if (m_picture.nPastBooked)
            text << tr("booked");
        qreal w = 0;
        for (const QString &line : std::as_const(text))
            w = std::max(w, boldMetrics.horizontalAdvance(line));
        const QRectF box =
            placeLabel(labels, scale, at, outer + 30, QSizeF(w + 2, boldMetrics.height() * text.size()), bounds);
        painter.setFont(bold);
        painter.drawText(box, Qt::AlignCenter, text.join(QLatin1Char('\n')));
    }
    notch(m_picture.triggerAt);
    notch(m_picture.target);

    // Token under the pointer anywhere, and the selected one.
    const auto tick = [&](int at, const QColor &color, qreal width) {
        painter.setPen(QPen(color, width));
        painter.drawLine(scale.pointAt(at, inner - 3), scale.pointAt(at, outer + 3));
    };
    if (const auto token = m_selection->token(); token && !m_selection->checkpoint() && *token < scale.span)
        tick(*token, palette().color(QPalette::Highlight), 2.4);
    if (const auto token = m_selection->hoverToken(); token && *token < scale.span)
        tick(*token, c.text, 1);

    paintCenter(painter, scale, c);
    paintLegend(painter, c);

    if (hasFocus()) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(QPen(c.focus, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
    }
}

void CheckpointRing::resizeEvent(QResizeEvent *)
{
    m_fitButton->adjustSize();
    m_fitButton->move(width() - m_fitButton->width() - 4, 4);
}

int CheckpointRing::headIndexAt(QPointF point) const
{
    const QList<RingHead> all = heads();
    int best = -1;
    qreal distance = 12;
    for (const RingHead &head : all) {
        const qreal d = QLineF(head.center, point).length();
        if (!head.erased && d < distance) {
            distance = d;
            best = head.marks.first();
        }
    }
    return best;
}

QString CheckpointRing::tooltipAt(QPointF point) const
{
    const int head = headIndexAt(point);
    if (head >= 0)
        return describeCheckpoint(m_picture.checkpoints.at(head), m_picture);
    const RingScale scale = ringScale();
    const auto position = scale.positionAt(point, 2, 2);
    if (!position)
        return {};
    const bool exact = !m_picture.estimated();
    for (const Segment &segment : m_picture.segments) {
        if (!segment.range.contains(*position))
            continue;
        const QString size = number(segment.range.size(), exact);
        switch (segment.kind) {
        case SegmentKind::Reused:
            return m_picture.measured ? tr("%1 tokens reused, measured. The server took them from its cache.").arg(size)
                                      : tr("%1 tokens would be reused, predicted.").arg(size);
        case SegmentKind::KeptAgain:
            if (m_picture.ring == CutPicture::Ring::Visible && segment.range.end <= m_picture.retained)
                return tr("%1 tokens are the same as before but lie above the checkpoint, so the server computes them "
                          "again.")
                    .arg(size);
            return tr("%1 tokens are kept but stand behind the cut, so the server computes them again.").arg(size);
        case SegmentKind::Evicted:
            return tr("%1 tokens are evicted. Their text stays in the store.").arg(size);
        case SegmentKind::Recent:
            return tr("%1 recent tokens. They stay word for word.").arg(size);
        case SegmentKind::Prefilled:
            return tr("%1 tokens prefilled by the last request, measured.").arg(size);
        case SegmentKind::Moved:
            return tr("%1 tokens moved by chunk reuse: same text, new place, not computed again.").arg(size);
        case SegmentKind::MaybeReused:
            return tr("%1 tokens stay equal. Whether the server can reuse them is not known: its ring is not visible.")
                .arg(size);
        case SegmentKind::Held:
            return tr("%1 tokens of the prompt. Nothing was measured for them yet.").arg(size);
        }
    }
    return tr("Free. No checkpoint here.");
}

std::optional<int> CheckpointRing::currentCheckpoint() const
{
    if (m_current < 0 || m_current >= m_picture.checkpoints.size())
        return std::nullopt;
    return m_picture.checkpoints.at(m_current).checkpoint.position;
}

void CheckpointRing::mouseMoveEvent(QMouseEvent *event)
{
    const auto position = ringScale().positionAt(event->position(), 4, 30);
    m_selection->setHoverToken(position && *position < m_picture.promptTokens ? position : std::nullopt);
}

void CheckpointRing::leaveEvent(QEvent *) { m_selection->setHoverToken(std::nullopt); }

void CheckpointRing::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton)
        return;
    const int head = headIndexAt(event->position());
    if (head >= 0) {
        m_current = head;
        m_selection->selectCheckpoint(m_picture.checkpoints.at(head).checkpoint.position);
        update();
        return;
    }
    const auto position = ringScale().positionAt(event->position(), 2, 2);
    if (position && *position < m_picture.promptTokens) {
        for (const BlockValue &block : m_picture.blocks) {
            if (block.seq > 0 && block.range.contains(*position)) {
                m_selection->selectEpisode(block.seq, *position);
                return;
            }
        }
        m_selection->selectToken(*position);
    }
}

void CheckpointRing::mouseDoubleClickEvent(QMouseEvent *event)
{
    const int head = headIndexAt(event->position());
    if (head >= 0)
        Q_EMIT zoomRequested(m_picture.checkpoints.at(head).checkpoint.position);
    else if (const auto position = ringScale().positionAt(event->position(), 2, 2))
        Q_EMIT zoomRequested(*position);
}

void CheckpointRing::stepCurrent(int step)
{
    const int count = static_cast<int>(m_picture.checkpoints.size());
    if (count == 0)
        return;
    m_current = m_current < 0 ? (step > 0 ? 0 : count - 1) : std::clamp(m_current + step, 0, count - 1);
    m_selection->setHoverToken(m_picture.checkpoints.at(m_current).checkpoint.position);
    update();
}

void CheckpointRing::keyPressEvent(QKeyEvent *event)
{
    const int count = static_cast<int>(m_picture.checkpoints.size());
    switch (event->key()) {
    case Qt::Key_Left:
        stepCurrent(-1);
        return;
    case Qt::Key_Right:
        stepCurrent(1);
        return;
    case Qt::Key_Home:
        if (count > 0) {
            m_current = 0;
            stepCurrent(0);
        }
        return;
    case Qt::Key_End:
        if (count > 0) {
            m_current = count - 1;
            stepCurrent(0);
        }
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (const auto position = currentCheckpoint()) {
            m_selection->selectCheckpoint(*position);
            return;
        }
        break;
    case Qt::Key_C:
        if (const auto position = currentCheckpoint(); position && event->modifiers() == Qt::NoModifier) {
            Q_EMIT cutRequested(*position);
            return;
        }
        break;
    case Qt::Key_Escape:
        m_selection->clear();
        m_selection->setHoverToken(std::nullopt);
        return;
    default:
        break;
    }
    QWidget::keyPressEvent(event);
}

bool CheckpointRing::event(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *help = static_cast<QHelpEvent *>(event);
        QToolTip::showText(help->globalPos(), tooltipAt(help->pos()), this);
        return true;
    }
    return QWidget::event(event);
}

void CheckpointRing::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        update();
    QWidget::changeEvent(event);
}

QString CheckpointRing::tableDescription() const { return describeRing(m_picture); }
int CheckpointRing::tableRows() const { return static_cast<int>(m_picture.checkpoints.size()); }

QString CheckpointRing::tableHeader(int column) const
{
    switch (column) {
    case 0:
        return tr("Position");
    case 1:
        return tr("Kind");
    case 2:
        return tr("MiB");
    case 3:
        return tr("For this cut");
    default:
        return {};
    }
}

QString CheckpointRing::tableCell(int row, int column) const
{
    if (row < 0 || row >= m_picture.checkpoints.size())
        return {};
    const CheckpointMark &mark = m_picture.checkpoints.at(row);
    switch (column) {
    case 0:
        return number(mark.checkpoint.position, !m_picture.simulated);
    case 1:
        return checkpointKindWord(mark.checkpoint.kind);
    case 2:
        return mark.checkpoint.sizeBytes ? mebibytes(*mark.checkpoint.sizeBytes) : tr("not reported");
    case 3:
        return fateWord(mark, m_picture);
    default:
        return {};
    }
}

int CheckpointRing::tableCurrentRow() const
{
    const auto position = m_selection->checkpoint();
    if (!position)
        return -1;
    for (qsizetype i = 0; i < m_picture.checkpoints.size(); ++i) {
        if (m_picture.checkpoints.at(i).checkpoint.position == *position)
            return static_cast<int>(i);
    }
    return -1;
}

void CheckpointRing::tableSelectRow(int row)
{
    if (row >= 0 && row < m_picture.checkpoints.size()) {
        m_current = row;
        m_selection->selectCheckpoint(m_picture.checkpoints.at(row).checkpoint.position);
    }
}

} // namespace kerf
