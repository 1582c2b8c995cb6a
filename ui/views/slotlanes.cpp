// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/slotlanes.h"

#include "ui/theme/patterns.h"
#include "ui/viewmodel/numbers.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <array>
#include <cmath>

namespace kerf {

namespace {

constexpr qint64 kLeastSpanMs = 2000;
constexpr int kTextInBand = 44; ///< no text in a busy band that is narrower

QString clock(qint64 ms, qint64 step)
{
    const QTime time = QDateTime::fromMSecsSinceEpoch(ms).time();
    return QLocale().toString(time, step < 1000 ? QStringLiteral("mm:ss.zzz").left(7) : QStringLiteral("HH:mm:ss"));
}

} // namespace

qint64 TimeScale::step(qreal least) const
{
    static constexpr std::array<qint64, 16> steps{100,       200,       500,       1000,      2000,    5000,
                                                  10'000,    30'000,    60'000,    120'000,   300'000, 600'000,
                                                  1'800'000, 3'600'000, 7'200'000, 21'600'000};
    for (const qint64 candidate : steps) {
        if (qreal(candidate) * width / qreal(qMax<qint64>(1, endMs - beginMs)) >= least)
            return candidate;
    }
    return steps.back();
}

SlotLanes::SlotLanes(QWidget *parent)
    : QAbstractScrollArea(parent)
{
    setObjectName(QStringLiteral("slotLanes"));
    setAccessibleName(tr("Slots over time"));
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setBackgroundRole(QPalette::Base);
    viewport()->setAutoFillBackground(true);
    viewport()->setMouseTracking(true);
    setWhatsThis(tr("One lane a slot. The area is the tokens that it held, the band below when it was busy and with "
                    "which task, for which session. A cross marks where checkpoints or the slot were erased. "
                    "Up and Down choose a slot, + and − zoom, Enter shows its task in the log."));
}

int SlotLanes::laneHeight() const { return fontMetrics().height() * 4 + 10; }
int SlotLanes::axisHeight() const { return fontMetrics().height() + 8; }
int SlotLanes::labelWidth() const
{
    const int wanted = fontMetrics().horizontalAdvance(QStringLiteral("000,000 tokens  ")) + 14;
    return std::min(wanted, std::max(60, viewport()->width() / 3));
}

QSize SlotLanes::sizeHint() const { return {480, laneHeight() * 2 + axisHeight() + 4}; }
QSize SlotLanes::minimumSizeHint() const { return {200, laneHeight() + axisHeight() + 4}; }

void SlotLanes::setPicture(const SlotsPicture &picture, int contextSize)
{
    if (picture == m_picture && contextSize == m_contextSize)
        return;
    m_picture = picture;
    m_contextSize = contextSize;
    if (!m_picture.lane(m_currentSlot))
        setCurrentSlot(m_picture.lanes.isEmpty() ? -1 : m_picture.lanes.constFirst().slotId);
    updateBars();
    viewport()->update();
}

void SlotLanes::setSpan(int seconds)
{
    m_spanSeconds = std::max(0, seconds);
    viewport()->update();
}

void SlotLanes::setCurrentSlot(int slotId)
{
    if (slotId == m_currentSlot)
        return;
    m_currentSlot = slotId;
    viewport()->update();
    Q_EMIT currentSlotChanged(slotId);
    if (hasFocus())
        announceTable(this);
}

TimeScale SlotLanes::scale() const
{
    TimeScale scale;
    scale.left = labelWidth();
    scale.width = std::max<qreal>(20, viewport()->width() - scale.left - 10);
    qint64 first = m_picture.nowMs;
    qint64 last = 0;
    for (const SlotLane &lane : m_picture.lanes) {
        if (lane.points.isEmpty())
            continue;
        first = std::min(first, lane.points.constFirst().atMs);
        last = std::max(last, lane.points.constLast().atMs);
    }
    // Of a server that has long been idle its work is shown, not the idle time behind it.
    const bool busy =
        std::any_of(m_picture.lanes.cbegin(), m_picture.lanes.cend(), [](const SlotLane &lane) { return lane.busy; });
    const qint64 worked = std::max<qint64>(kLeastSpanMs, last - first);
    const qint64 now = std::max(last, m_picture.nowMs);
    scale.endMs = m_spanSeconds > 0 || busy || last == 0 ? now : std::min(now, last + worked / 12 + 500);
    scale.beginMs = m_spanSeconds > 0 ? scale.endMs - qint64(m_spanSeconds) * 1000 : first;
    if (scale.endMs - scale.beginMs < kLeastSpanMs)
        scale.beginMs = scale.endMs - kLeastSpanMs;
    return scale;
}

QRectF SlotLanes::laneRect(int index) const
{
    return {0, qreal(index * laneHeight() - verticalScrollBar()->value()), qreal(viewport()->width()),
            qreal(laneHeight())};
}

int SlotLanes::laneAt(int y) const
{
    if (y >= viewport()->height() - axisHeight())
        return -1;
    const int index = (y + verticalScrollBar()->value()) / laneHeight();
    return index >= 0 && index < m_picture.lanes.size() ? index : -1;
}

int SlotLanes::mostTokens() const
{
    int most = m_contextSize;
    for (const SlotLane &lane : m_picture.lanes) {
        for (const LanePoint &point : lane.points)
            most = std::max(most, point.tokens);
        most = std::max(most, lane.tokens.value_or(0));
    }
    return std::max(1, most);
}

const SlotTask *SlotLanes::taskAt(int slotId, qint64 ms) const
{
    for (auto it = m_picture.tasks.crbegin(); it != m_picture.tasks.crend(); ++it) {
        if (it->slotId == slotId && it->beginMs && *it->beginMs <= ms && (!it->endMs || *it->endMs >= ms))
            return &*it;
    }
    return nullptr;
}

QString SlotLanes::ownerWords(const SlotTask *task, const SlotLane &lane) const
{
    const QString owner = task ? task->session : lane.owner;
    return owner.isEmpty() ? tr("another client, or not known") : owner;
}

void SlotLanes::paintLane(QPainter &painter, const SlotLane &lane, const QRectF &rect, const TimeScale &scale) const
{
    const SemanticColors c = SemanticColors::of(palette());
    const int line = fontMetrics().height();
    const qreal bandHeight = line + 1;
    const QRectF plot(scale.left, rect.top() + 5, scale.width, rect.height() - bandHeight - 12);
    const QRectF band(scale.left, plot.bottom() + 3, scale.width, bandHeight);
    const int most = mostTokens();
    const auto y = [&](int tokens) { return plot.bottom() - qreal(tokens) * plot.height() / most; };

    // Label, in the lane's own column.
    const int labelRight = static_cast<int>(scale.left) - 8;
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(c.text);
    painter.drawText(QRectF(8, rect.top() + 4, labelRight - 8, line), Qt::AlignLeft | Qt::AlignVCenter,
                     tr("Slot %1").arg(lane.slotId));
    painter.setFont(font());
    painter.setPen(c.dimText);
    const auto label = [&](int row, const QString &text, const QColor &color) {
        painter.setPen(color);
        painter.drawText(QRectF(8, rect.top() + 4 + row * line, labelRight - 8, line), Qt::AlignLeft | Qt::AlignVCenter,
                         fontMetrics().elidedText(text, Qt::ElideRight, labelRight - 8));
    };
    label(1,
          lane.tokens && lane.hasRun ? tr("%1 tokens").arg(lane.verified ? number(*lane.tokens) : approx(*lane.tokens))
              : lane.hasRun          ? tr("not reported")
                                     : tr("not run yet"),
          c.dimText);
    if (lane.busy)
        label(2, lane.task ? tr("task %1").arg(*lane.task) : tr("busy"), c.prefilled);
    else
        label(2, tr("idle"), c.dimText);
    if (lane.checkpoints && *lane.checkpoints > 0)
        label(3, tr("%1 chkpts", "checkpoints, short").arg(number(*lane.checkpoints)), c.dimText);

    painter.setPen(QPen(mixed(c.axis, c.base, 0.5), 0));
    painter.drawLine(QPointF(plot.left(), plot.bottom()), QPointF(plot.right(), plot.bottom()));
    painter.setPen(QPen(mixed(c.axis, c.base, 0.4), 0, Qt::DotLine));
    painter.drawLine(QPointF(plot.left(), plot.top()), QPointF(plot.right(), plot.top()));

    painter.save();
    painter.setClipRect(QRectF(scale.left, rect.top(), scale.width + 1, rect.height()));
    // Tokens held: a step at each point. No more points than pixels are drawn.
    QPainterPath area;
    QPainterPath edge;
    const QList<LanePoint> &points = lane.points;
    if (!points.isEmpty()) {
        qreal x = std::max(scale.left, scale.toX(points.constFirst().atMs));
        area.moveTo(x, plot.bottom());
        int held = points.constFirst().tokens;
        area.lineTo(x, y(held));
        edge.moveTo(x, y(held));
        for (qsizetype i = 1; i < points.size(); ++i) {
            const qreal next = scale.toX(points.at(i).atMs);
            if (next < scale.left) {
                held = points.at(i).tokens;
                area = QPainterPath(QPointF(scale.left, plot.bottom()));
                area.lineTo(scale.left, y(held));
                edge = QPainterPath(QPointF(scale.left, y(held)));
                x = scale.left;
                continue;
            }
            if (next - x < 0.5 && i + 1 < points.size() && points.at(i).tokens == held)
                continue;
            area.lineTo(next, y(held));
            edge.lineTo(next, y(held));
            held = points.at(i).tokens;
            area.lineTo(next, y(held));
            edge.lineTo(next, y(held));
            x = next;
        }
        const qreal end = std::max(x, std::min(scale.left + scale.width, scale.toX(m_picture.nowMs)));
        area.lineTo(end, y(held));
        edge.lineTo(end, y(held));
        area.lineTo(end, plot.bottom());
        area.closeSubpath();
        painter.setRenderHint(QPainter::Antialiasing, true);
        painter.fillPath(area, mixed(c.reused, c.base, c.dark ? 0.30 : 0.22));
        painter.setPen(QPen(c.reused, 1.4));
        painter.drawPath(edge);
        painter.setRenderHint(QPainter::Antialiasing, false);
    }

    // Busy and idle, with the task; idle is an empty band.
    painter.setPen(QPen(mixed(c.axis, c.base, 0.6), 0));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(band.adjusted(0, 0, -1, -1));
    qreal lastRight = -1e9;
    for (qsizetype i = 0; i < points.size(); ++i) {
        if (!points.at(i).busy)
            continue;
        qsizetype end = i;
        while (end + 1 < points.size() && points.at(end + 1).busy && points.at(end + 1).task == points.at(i).task)
            ++end;
        const qint64 until = end + 1 < points.size() ? points.at(end + 1).atMs : m_picture.nowMs;
        const qreal x1 = std::max(band.left(), scale.toX(points.at(i).atMs));
        const qreal x2 = std::min(band.right(), std::max(scale.toX(until), x1 + 1.5));
        if (x2 >= band.left() && x1 <= band.right() && x2 > lastRight + 0.2) {
            const QRectF bar(x1, band.top() + 1, std::max(1.5, x2 - x1), band.height() - 2);
            painter.fillRect(bar, c.prefilled);
            lastRight = bar.right();
            if (bar.width() >= kTextInBand && points.at(i).task) {
                const SlotTask *task = taskAt(lane.slotId, points.at(i).atMs);
                QString text = tr("task %1").arg(*points.at(i).task);
                if (task && !task->session.isEmpty())
                    text = tr("task %1 · %2").arg(*points.at(i).task).arg(task->session);
                painter.setPen(c.onFill);
                painter.drawText(bar.adjusted(4, 0, -2, 0), Qt::AlignLeft | Qt::AlignVCenter,
                                 fontMetrics().elidedText(text, Qt::ElideRight, static_cast<int>(bar.width()) - 6));
            }
        }
        i = end;
    }

    // What was erased: a cross on the lane's top, and a thin line down.
    for (const SlotErasure &erasure : m_picture.erasures) {
        if (erasure.slotId != lane.slotId)
            continue;
        const qreal x = scale.toX(erasure.atMs);
        if (x < scale.left || x > scale.left + scale.width)
            continue;
        painter.setRenderHint(QPainter::Antialiasing, true);
        painter.setPen(QPen(c.refuted, 1.0, Qt::DotLine));
        painter.drawLine(QPointF(x, plot.top() + 5), QPointF(x, plot.bottom()));
        painter.setPen(QPen(c.refuted, 1.8));
        painter.drawLine(QPointF(x - 3.5, plot.top() - 2), QPointF(x + 3.5, plot.top() + 5));
        painter.drawLine(QPointF(x - 3.5, plot.top() + 5), QPointF(x + 3.5, plot.top() - 2));
        painter.setRenderHint(QPainter::Antialiasing, false);
    }

    // A prefill that runs: how far it is, in words and as a part of the plot's height at the right end.
    if (lane.busy && lane.prefillTotal && *lane.prefillTotal > 0) {
        const int reused = lane.prefillReused.value_or(0);
        const int done = lane.prefillDone.value_or(0);
        const qreal right = std::min(scale.left + scale.width, scale.toX(m_picture.nowMs));
        const QRectF column(right - 10, plot.top(), 10, plot.height());
        QPainterPath whole;
        whole.addRect(QRectF(column.left(), y(*lane.prefillTotal), 10, plot.bottom() - y(*lane.prefillTotal)));
        fillHatched(painter, whole, c.evicted, c.base);
        painter.fillRect(QRectF(column.left(), y(reused + done), 10, y(reused) - y(reused + done)), c.prefilled);
        painter.fillRect(QRectF(column.left(), y(reused), 10, plot.bottom() - y(reused)), c.reused);
        const QString text = tr("prefill %1 of %2").arg(number(done), number(*lane.prefillTotal - reused));
        const int width = fontMetrics().horizontalAdvance(text) + 8;
        const QRectF box(column.left() - width - 4, plot.top() + 1, width, line + 2);
        painter.fillRect(box, mixed(c.base, c.base, 1));
        painter.setPen(c.prefilled);
        painter.drawText(box, Qt::AlignCenter, text);
    }
    painter.restore();

    painter.setPen(c.dimText);
    const QString top = shortPosition(most);
    painter.drawText(QRectF(scale.left + scale.width - fontMetrics().horizontalAdvance(top) - 3, plot.top(),
                            fontMetrics().horizontalAdvance(top) + 3, line),
                     Qt::AlignRight | Qt::AlignTop, top);
}

void SlotLanes::paintEvent(QPaintEvent *)
{
    QPainter painter(viewport());
    const SemanticColors c = SemanticColors::of(palette());
    if (m_picture.lanes.isEmpty()) {
        painter.setPen(c.dimText);
        const QString text = !m_picture.known ? tr("No server was looked at yet.")
            : m_picture.readable              ? tr("The server names no slots.")
            : m_picture.reason.isEmpty()      ? tr("The slots cannot be read.")
                                              : tr("The slots cannot be read: %1").arg(m_picture.reason);
        painter.drawText(viewport()->rect().adjusted(12, 8, -12, -8), Qt::AlignCenter | Qt::TextWordWrap, text);
        return;
    }
    const TimeScale at = scale();
    if (m_picture.simulated)
        fillSimulated(painter, QRectF(at.left, 0, at.width, viewport()->height()), c);
    const int axisTop = viewport()->height() - axisHeight();
    painter.save();
    painter.setClipRect(0, 0, viewport()->width(), axisTop);
    for (int i = 0; i < m_picture.lanes.size(); ++i) {
        const QRectF rect = laneRect(i);
        if (rect.bottom() < 0 || rect.top() > axisTop)
            continue;
        painter.fillRect(QRectF(0, rect.top(), at.left - 4, rect.height() - 1), c.window);
        const bool current = m_picture.lanes.at(i).slotId == m_currentSlot;
        if (current) {
            painter.fillRect(QRectF(0, rect.top(), 3, rect.height() - 1), c.focus);
        }
        paintLane(painter, m_picture.lanes.at(i), rect, at);
        painter.setPen(QPen(mixed(c.axis, c.base, 0.6), 0));
        painter.drawLine(QPointF(0, rect.bottom() - 0.5), QPointF(rect.right(), rect.bottom() - 0.5));
        if (current && hasFocus()) {
            painter.setPen(QPen(c.focus, 2));
            painter.drawRect(rect.adjusted(1, 1, -2, -2));
        }
    }
    painter.restore();
    // Axis.
    painter.fillRect(QRectF(0, axisTop, viewport()->width(), axisHeight()), c.base);
    painter.setPen(QPen(c.axis, 0));
    painter.drawLine(QPointF(at.left, axisTop), QPointF(at.left + at.width, axisTop));
    const qreal room = fontMetrics().horizontalAdvance(QStringLiteral("00:00:00")) + 24;
    const qint64 step = at.step(room);
    for (qint64 mark = (at.beginMs / step + 1) * step; mark <= at.endMs; mark += step) {
        const qreal x = at.toX(mark);
        painter.setPen(QPen(c.axis, 0));
        painter.drawLine(QPointF(x, axisTop), QPointF(x, axisTop + 4));
        painter.setPen(c.dimText);
        const QRectF box(x - room / 2, axisTop + 4, room, axisHeight() - 4);
        if (box.left() >= at.left - 4 && box.right() <= at.left + at.width + 14)
            painter.drawText(box, Qt::AlignHCenter | Qt::AlignTop, clock(mark, step));
    }
    painter.setPen(c.dimText);
    painter.drawText(QRectF(8, axisTop + 4, at.left - 12, axisHeight() - 4), Qt::AlignLeft | Qt::AlignTop, tr("time"));
}

QString SlotLanes::tipAt(QPoint position) const
{
    const int index = laneAt(position.y());
    if (index < 0)
        return tr("nothing here");
    const SlotLane &lane = m_picture.lanes.at(index);
    const TimeScale at = scale();
    if (position.x() < at.left) {
        QString text = tr("Slot %1: %2").arg(lane.slotId).arg(laneState(lane));
        text += QLatin1Char('\n') + tr("Used by %1").arg(ownerWords(nullptr, lane));
        if (lane.saveBytes && *lane.saveBytes > 0)
            text += QLatin1Char('\n')
                + tr("Saving it takes about %1 MiB of the host cache.").arg(mebibytes(*lane.saveBytes));
        return text;
    }
    for (const SlotErasure &erasure : m_picture.erasures) {
        if (erasure.slotId == lane.slotId && std::abs(at.toX(erasure.atMs) - position.x()) <= 5)
            return erasure.text;
    }
    const qint64 ms = at.toMs(position.x());
    const LanePoint *held = nullptr;
    for (const LanePoint &point : lane.points) {
        if (point.atMs > ms)
            break;
        held = &point;
    }
    if (!held)
        return tr("Nothing is known of slot %1 at %2.")
            .arg(lane.slotId)
            .arg(QLocale().toString(QDateTime::fromMSecsSinceEpoch(ms).time(), QStringLiteral("HH:mm:ss")));
    QString text = tr("Slot %1 at %2: %3 tokens, %4")
                       .arg(lane.slotId)
                       .arg(QLocale().toString(QDateTime::fromMSecsSinceEpoch(ms).time(), QStringLiteral("HH:mm:ss")),
                            number(held->tokens), held->busy ? tr("busy") : tr("idle"));
    if (const SlotTask *task = taskAt(lane.slotId, ms)) {
        text += QLatin1Char('\n') + tr("Task %1, %2").arg(task->task).arg(ownerWords(task, lane));
        if (task->promptTokens && task->reused && task->prefilled)
            text += QLatin1Char('\n')
                + tr("Prompt of %1 tokens: %2 reused, %3 prefilled%4")
                      .arg(number(*task->promptTokens), number(*task->reused), number(*task->prefilled),
                           task->promptMs ? tr(" in %1").arg(milliseconds(*task->promptMs)) : QString());
    }
    return text;
}

bool SlotLanes::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        auto *help = static_cast<QHelpEvent *>(event);
        QToolTip::showText(help->globalPos(), tipAt(help->pos()), viewport());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void SlotLanes::updateBars()
{
    const int all = laneHeight() * static_cast<int>(m_picture.lanes.size()) + axisHeight();
    verticalScrollBar()->setRange(0, std::max(0, all - viewport()->height()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(laneHeight() / 2);
}

void SlotLanes::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    updateBars();
}

void SlotLanes::mousePressEvent(QMouseEvent *event)
{
    const int index = laneAt(event->position().toPoint().y());
    if (index >= 0)
        setCurrentSlot(m_picture.lanes.at(index).slotId);
}

void SlotLanes::mouseDoubleClickEvent(QMouseEvent *event)
{
    const int index = laneAt(event->position().toPoint().y());
    if (index < 0)
        return;
    const SlotLane &lane = m_picture.lanes.at(index);
    if (const SlotTask *task = taskAt(lane.slotId, scale().toMs(event->position().x())))
        Q_EMIT taskActivated(task->task);
    else if (lane.task)
        Q_EMIT taskActivated(*lane.task);
}

void SlotLanes::keyPressEvent(QKeyEvent *event)
{
    const int row = tableCurrentRow();
    switch (event->key()) {
    case Qt::Key_Up:
        tableSelectRow(std::max(0, row - 1));
        return;
    case Qt::Key_Down:
        tableSelectRow(row + 1);
        return;
    case Qt::Key_Home:
        tableSelectRow(0);
        return;
    case Qt::Key_End:
        tableSelectRow(tableRows() - 1);
        return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
    case Qt::Key_Minus: {
        const TimeScale at = scale();
        const qint64 now = (at.endMs - at.beginMs) / 1000;
        setSpan(static_cast<int>(std::clamp<qint64>(event->key() == Qt::Key_Minus ? now * 2 : now / 2, 2, 86'400)));
        return;
    }
    case Qt::Key_0:
        setSpan(0);
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (row >= 0 && m_picture.lanes.at(row).task)
            Q_EMIT taskActivated(*m_picture.lanes.at(row).task);
        return;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void SlotLanes::wheelEvent(QWheelEvent *event)
{
    if (!(event->modifiers() & Qt::ControlModifier)) {
        QAbstractScrollArea::wheelEvent(event);
        return;
    }
    const TimeScale at = scale();
    const qint64 now = std::max<qint64>(2, (at.endMs - at.beginMs) / 1000);
    setSpan(
        static_cast<int>(std::clamp<qint64>(event->angleDelta().y() > 0 ? now * 2 / 3 : now * 3 / 2 + 1, 2, 86'400)));
    event->accept();
}

void SlotLanes::focusInEvent(QFocusEvent *event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void SlotLanes::focusOutEvent(QFocusEvent *event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

QString SlotLanes::tableDescription() const
{
    if (m_picture.lanes.isEmpty())
        return tr("Slots over time, none");
    QStringList lanes;
    for (const SlotLane &lane : m_picture.lanes)
        lanes << tr("slot %1 %2").arg(lane.slotId).arg(laneState(lane));
    return tr("Slots over time: %1").arg(lanes.join(QStringLiteral("; ")));
}

QString SlotLanes::tableHeader(int column) const
{
    switch (column) {
    case 0:
        return tr("Slot");
    case 1:
        return tr("Tokens");
    case 2:
        return tr("State");
    case 3:
        return tr("Used by");
    case 4:
        return tr("Checkpoints");
    default:
        return {};
    }
}

QString SlotLanes::tableCell(int row, int column) const
{
    if (row < 0 || row >= m_picture.lanes.size())
        return {};
    const SlotLane &lane = m_picture.lanes.at(row);
    switch (column) {
    case 0:
        return QString::number(lane.slotId);
    case 1:
        return numberOr(lane.tokens, lane.verified);
    case 2:
        return lane.busy  ? (lane.task ? tr("busy, task %1").arg(*lane.task) : tr("busy"))
            : lane.hasRun ? tr("idle")
                          : tr("has not run yet");
    case 3:
        return ownerWords(nullptr, lane);
    case 4:
        return lane.checkpoints ? number(*lane.checkpoints) : tr("not reported");
    default:
        return {};
    }
}

int SlotLanes::tableCurrentRow() const
{
    for (int i = 0; i < m_picture.lanes.size(); ++i) {
        if (m_picture.lanes.at(i).slotId == m_currentSlot)
            return i;
    }
    return -1;
}

void SlotLanes::tableSelectRow(int row)
{
    if (row < 0 || row >= m_picture.lanes.size())
        return;
    setCurrentSlot(m_picture.lanes.at(row).slotId);
    const QRectF rect = laneRect(row);
    if (rect.top() < 0)
        verticalScrollBar()->setValue(row * laneHeight());
    else if (rect.bottom() > viewport()->height() - axisHeight())
        verticalScrollBar()->setValue((row + 1) * laneHeight() - viewport()->height() + axisHeight());
}

} // namespace kerf
