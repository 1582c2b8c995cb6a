// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/timeline/timelineview.h"

#include "ui/theme/patterns.h"
#include "ui/theme/theme.h"
#include "ui/viewmodel/numbers.h"
#include "ui/viewmodel/whatif.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QSet>
#include <QToolTip>
#include <QWheelEvent>

#include <cmath>

namespace kerf {

namespace {

constexpr qreal kMergePixels = 3;
using Lane = TimelineView::Lane;

QPainterPath rectPath(const QRectF &rect)
{
    QPainterPath path;
    path.addRect(rect);
    return path;
}

int binaryStep(qreal tokensPerLabel)
{
    int step = 1;
    while (step < tokensPerLabel)
        step *= 2;
    return step;
}

double niceCeiling(double value)
{
    if (value <= 0)
        return 1;
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    for (const double factor : {1.0, 2.0, 2.5, 5.0, 10.0}) {
        if (power * factor >= value)
            return power * factor;
    }
    return power * 10;
}

/// Text on a ground of its own, so that it can be read over a hatch.
void drawPlate(QPainter &p, const QRectF &rect, const QString &text, const QColor &color, const QColor &ground)
{
    const QFontMetricsF metrics(p.font());
    const qreal width = metrics.horizontalAdvance(text) + 8;
    if (width > rect.width())
        return;
    const QRectF plate(rect.center().x() - width / 2, rect.center().y() - metrics.height() / 2, width,
                       metrics.height());
    p.fillRect(plate, ground);
    p.setPen(color);
    p.drawText(plate, Qt::AlignCenter, text);
}

} // namespace

TimelineView::TimelineView(Selection *selection, QWidget *parent)
    : QAbstractScrollArea(parent)
    , m_selection(selection)
{
    installTableAccess();
    setObjectName(QStringLiteral("timeline"));
    setAccessibleName(tr("Timeline"));
    setWhatsThis(
        tr("The prompt on a token axis. Each lane says one thing about the same tokens: the checkpoints, what the "
           "slot holds, the episodes, what stays of them, what the next request sends, and what each legal cut "
           "would cost. Ctrl+wheel zooms, drag selects a range."));
    setFrameShape(QFrame::NoFrame);
    // Always there: a scroll bar that comes and goes changes the width and looks like a zoom.
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setMouseTracking(true);

    const auto action = [this](const QString &name, const QString &text, const QString &icon, QList<QKeySequence> keys,
                               auto &&slot) {
        auto *made = new QAction(themedIcon(icon), text, this);
        made->setObjectName(name);
        made->setShortcuts(keys);
        made->setShortcutContext(Qt::WidgetShortcut);
        connect(made, &QAction::triggered, this, slot);
        addAction(made);
        return made;
    };
    const auto zoomBy = [this](qreal factor) {
        const TokenScale scale = tokenScale();
        int anchor = (m_visible.begin + m_visible.end) / 2;
        if (const auto token = m_selection->token(); token && m_visible.contains(*token))
            anchor = *token;
        setVisibleRange(scale.zoomed(anchor, factor, axisTotal()));
    };
    m_zoomIn = action(QStringLiteral("zoomIn"), tr("Zoom in"), QStringLiteral("zoom-in"),
                      {Qt::Key_W, Qt::Key_Plus, QKeySequence(Qt::CTRL | Qt::Key_Plus)}, [zoomBy] { zoomBy(1.5); });
    m_zoomOut =
        action(QStringLiteral("zoomOut"), tr("Zoom out"), QStringLiteral("zoom-out"),
               {Qt::Key_S, Qt::Key_Minus, QKeySequence(Qt::CTRL | Qt::Key_Minus)}, [zoomBy] { zoomBy(1 / 1.5); });
    m_fit = action(QStringLiteral("zoomFit"), tr("Fit"), QStringLiteral("zoom-fit-best"),
                   {QKeySequence(Qt::CTRL | Qt::Key_0)}, [this] { setVisibleRange(fitRange()); });
    m_zoomBack = action(QStringLiteral("zoomBack"), tr("Zoom back"), QStringLiteral("zoom-original"),
                        {Qt::Key_Backspace}, [this] {
                            if (m_zoomStack.isEmpty())
                                return;
                            const TokenRange range = m_zoomStack.takeLast();
                            setVisibleRange(range, false);
                        });
    m_zoomSelection = action(QStringLiteral("zoomSelection"), tr("Zoom to selection"), QStringLiteral("zoom-in"),
                             {Qt::Key_Z}, [this] {
                                 if (const auto range = m_selection->range(); range && range->size() > 0)
                                     setVisibleRange(*range);
                                 else if (const int row = tableCurrentRow(); row >= 0)
                                     setVisibleRange(m_index.at(row).range);
                             });
    m_previous = action(QStringLiteral("previousEpisode"), tr("Previous episode"), QStringLiteral("go-previous"),
                        {Qt::Key_Comma}, [this] { stepEpisode(-1, false); });
    m_next = action(QStringLiteral("nextEpisode"), tr("Next episode"), QStringLiteral("go-next"), {Qt::Key_Period},
                    [this] { stepEpisode(1, false); });
    m_center = action(QStringLiteral("centerSelection"), tr("Centre selection, then fit"), QStringLiteral("go-jump"),
                      {Qt::Key_F}, [this] {
                          const int row = tableCurrentRow();
                          const int at = row >= 0 ? (m_index.at(row).range.begin + m_index.at(row).range.end) / 2
                                                  : m_selection->token().value_or(-1);
                          const int middle = (m_visible.begin + m_visible.end) / 2;
                          const TokenRange moved = TokenScale::clamped(
                              TokenRange{at - m_visible.size() / 2, at - m_visible.size() / 2 + m_visible.size()},
                              axisTotal());
                          if (at < 0 || std::abs(at - middle) <= 1 || moved == m_visible)
                              setVisibleRange(fitRange());
                          else
                              setVisibleRange(moved);
                      });
    m_pin = action(QStringLiteral("pinEpisode"), tr("Pin episode"), QStringLiteral("kerf-pin"), {Qt::Key_P}, [this] {
        if (const auto seq = m_selection->episodeSeq())
            Q_EMIT pinRequested(*seq);
    });
    for (int i = 0; i < kLaneCount; ++i) {
        const Lane lane = static_cast<Lane>(i);
        if (lane == Lane::Ruler)
            continue;
        auto *toggle = new QAction(laneTitle(lane), this);
        toggle->setCheckable(true);
        toggle->setChecked(true);
        connect(toggle, &QAction::toggled, this, [this, lane](bool on) { setLaneShown(lane, on); });
        m_laneActions << toggle;
    }
    const auto repaint = [this] {
        updateActions();
        viewport()->update();
    };
    connect(selection, &Selection::changed, this, repaint);
    connect(selection, &Selection::hoverChanged, viewport(), qOverload<>(&QWidget::update));
    updateActions();
}

QString TimelineView::laneTitle(Lane lane) const
{
    switch (lane) {
    case Lane::Ruler:
        return tr("Tokens");
    case Lane::Checkpoints:
        return tr("Checkpoints");
    case Lane::Holds:
        return m_picture.slotId >= 0 ? tr("Slot %1 holds").arg(m_picture.slotId) : tr("Slot holds");
    case Lane::Episodes:
        return tr("Episodes");
    case Lane::Tier:
        return tr("Tier");
    case Lane::Flow:
        return tr("Flow");
    case Lane::Sent:
        return m_picture.cut == CutPicture::Cut::None ? tr("Sent last") : tr("Sent next");
    case Lane::CutRuler:
        return tr("Cut ruler");
    case Lane::Strip:
        return tr("Session");
    }
    return {};
}

int TimelineView::axisTotal() const
{
    return std::max(
        {m_picture.contextSize, m_picture.promptTokens, m_picture.nPast.value_or(0), TokenScale::kMinimumTokens});
}

TokenRange TimelineView::fitRange() const
{
    const int used = std::max({m_picture.promptTokens, m_picture.nPast.value_or(0), m_picture.sentTotal});
    if (used > 0 && used * 3 < m_picture.contextSize)
        return TokenScale::clamped(TokenRange{0, used + used / 6 + 8}, axisTotal());
    return TokenScale::clamped(TokenRange{0, axisTotal()}, axisTotal());
}

void TimelineView::setPicture(const CutPicture &picture)
{
    if (picture == m_picture)
        return;
    const QString before = tableDescription();
    const bool other = picture.cut != m_picture.cut || picture.number != m_picture.number;
    const bool sameBlocks = picture.blocks.size() == m_picture.blocks.size()
        && picture.blocks.constData() == m_picture.blocks.constData(); // shared: a move of the cut
    m_picture = picture;
    if (!sameBlocks)
        m_index.setBlocks(picture.blocks);
    m_cutRuler.setReport(picture.cuts);
    m_costInMs = std::any_of(picture.alternatives.begin(), picture.alternatives.end(),
                             [](const AlternativeValue &a) { return a.predictedMs.has_value(); });
    m_costMaximum = 0;
    for (const AlternativeValue &alternative : picture.alternatives)
        m_costMaximum = std::max(m_costMaximum, alternativeCost(alternative).value_or(0));
    if (m_fitted || other)
        m_visible = m_fitted ? fitRange() : TokenScale::clamped(m_visible, axisTotal());
    m_stripDirty = m_stripDirty || !sameBlocks;
    layoutLanes();
    viewport()->update();
    if (tableDescription() != before)
        announceTable(this);
}

void TimelineView::setWhatIf(WhatIf *whatIf)
{
    m_whatIf = whatIf;
    connect(whatIf, &WhatIf::moved, viewport(), qOverload<>(&QWidget::update));
}

const CutRuler &TimelineView::cutRuler() const
{
    m_cutRuler.setPlace(tokenScale(), m_lanes[static_cast<int>(Lane::CutRuler)], font());
    const bool cut = m_picture.cut == CutPicture::Cut::Planned;
    m_cutRuler.setMarks(trying() ? m_picture.whatIf : std::nullopt,
                        trying()  ? m_picture.planCut
                            : cut ? std::optional<int>(m_picture.retained)
                                  : std::nullopt,
                        trying() && m_whatIf ? m_whatIf->headline() : QString());
    return m_cutRuler;
}

QPointF TimelineView::handlePoint() const
{
    if (!trying() || *m_picture.whatIf < m_visible.begin || *m_picture.whatIf > m_visible.end)
        return {};
    return {tokenScale().toX(*m_picture.whatIf), m_lanes[0].bottom() - 8};
}

bool TimelineView::isEvicted(const BlockValue &block) const
{
    if (!trying())
        return block.tierAfter.has_value();
    const QList<TokenRange> &gone = m_picture.evicted;
    const auto it = std::upper_bound(gone.cbegin(), gone.cend(), block.range.begin,
                                     [](int at, const TokenRange &range) { return at < range.end; });
    return it != gone.cend() && it->begin < block.range.end;
}

void TimelineView::setEpisodes(const QList<EpisodeValue> &episodes)
{
    m_session.setEpisodes(episodes);
    m_stripDirty = true;
    viewport()->update();
}

qreal TimelineView::labelWidth() const
{
    QFont bold = font();
    bold.setBold(true);
    const QFontMetricsF metrics(bold);
    return std::max(metrics.horizontalAdvance(laneTitle(Lane::Checkpoints)),
                    metrics.horizontalAdvance(laneTitle(Lane::Holds)))
        + 34;
}

qreal TimelineView::laneHeight(Lane lane) const
{
    const qreal line = QFontMetricsF(font()).height();
    if (m_collapsed.contains(lane))
        return line + 6;
    switch (lane) {
    case Lane::Ruler:
        return line + 14;
    case Lane::Checkpoints:
        return std::max(2 * line + 8, 40.0);
    case Lane::Holds:
    case Lane::Episodes:
    case Lane::Sent:
        return std::max(2 * line + 14, 44.0);
    case Lane::Tier:
        return line + 10;
    case Lane::Flow:
        return 26;
    case Lane::CutRuler:
        return line * (m_cutRuler.isEmpty() ? 5 : 8) + 24;
    case Lane::Strip:
        return 2 * line + 8;
    }
    return 0;
}

void TimelineView::layoutLanes()
{
    const qreal left = labelWidth();
    const qreal width = std::max<qreal>(20, viewport()->width() - left - 10);
    qreal middle = 0;
    for (const Lane lane : std::as_const(m_order)) {
        if (!m_hidden.contains(lane))
            middle += laneHeight(lane);
    }
    const qreal rulerHeight = laneHeight(Lane::Ruler);
    const qreal stripHeight = m_hidden.contains(Lane::Strip) ? 0 : laneHeight(Lane::Strip);
    const qreal room = viewport()->height() - rulerHeight - stripHeight;
    verticalScrollBar()->setPageStep(static_cast<int>(std::max<qreal>(1, room)));
    verticalScrollBar()->setRange(0, std::max(0, qCeil(middle - room)));
    verticalScrollBar()->setSingleStep(20);
    const qreal spare = std::max<qreal>(0, room - middle);
    m_lanes[0] = QRectF(left, 0, width, rulerHeight);
    qreal y = rulerHeight - verticalScrollBar()->value();
    for (const Lane lane : std::as_const(m_order)) {
        const int i = static_cast<int>(lane);
        if (m_hidden.contains(lane)) {
            m_lanes[i] = QRectF();
            continue;
        }
        const bool takesRest = lane == Lane::CutRuler && !m_collapsed.contains(lane);
        const qreal height = laneHeight(lane) + (takesRest ? spare : 0);
        m_lanes[i] = QRectF(left, y, width, height);
        y += height;
    }
    m_lanes[kLaneCount - 1] =
        stripHeight > 0 ? QRectF(left, viewport()->height() - stripHeight, width, stripHeight) : QRectF();
}

void TimelineView::setLaneCollapsed(Lane lane, bool collapsed)
{
    if (collapsed)
        m_collapsed.insert(lane);
    else
        m_collapsed.remove(lane);
    layoutLanes();
    viewport()->update();
}

void TimelineView::moveLane(Lane lane, int place)
{
    const qsizetype from = m_order.indexOf(lane);
    if (from < 0)
        return;
    m_order.move(from, std::clamp<qsizetype>(place, 0, m_order.size() - 1));
    layoutLanes();
    viewport()->update();
}

QByteArray TimelineView::saveLanes() const
{
    QByteArray state;
    for (const Lane lane : m_order) {
        state += QByteArray::number(static_cast<int>(lane));
        state += m_collapsed.contains(lane) ? "c " : " ";
    }
    return state.trimmed();
}

void TimelineView::restoreLanes(const QByteArray &state)
{
    QList<Lane> order;
    QSet<Lane> collapsed;
    const QList<QByteArray> words = state.split(' ');
    for (QByteArray word : words) {
        const bool thin = word.endsWith('c');
        if (thin)
            word.chop(1);
        bool ok = false;
        const Lane lane = static_cast<Lane>(word.toInt(&ok));
        if (!ok || !m_order.contains(lane) || order.contains(lane))
            return;
        order.append(lane);
        if (thin)
            collapsed.insert(lane);
    }
    if (order.size() != m_order.size())
        return;
    m_order = order;
    m_collapsed = collapsed;
    layoutLanes();
    viewport()->update();
}

std::optional<TimelineView::Lane> TimelineView::titleAt(QPointF point) const
{
    if (point.x() >= m_lanes[0].left() - 8 || point.y() < m_lanes[0].bottom())
        return std::nullopt;
    if (!m_lanes[kLaneCount - 1].isEmpty() && point.y() >= m_lanes[kLaneCount - 1].top())
        return std::nullopt;
    for (const Lane lane : m_order) {
        const QRectF rect = m_lanes[static_cast<int>(lane)];
        if (!rect.isEmpty() && point.y() >= rect.top() && point.y() < rect.bottom())
            return lane;
    }
    return std::nullopt;
}

void TimelineView::dragLane(qreal y)
{
    // It changes places with a neighbour when the pointer is past that one's middle.
    const qsizetype at = m_order.indexOf(*m_pressLane);
    for (const int step : {-1, 1}) {
        qsizetype other = at + step;
        while (other >= 0 && other < m_order.size() && m_lanes[static_cast<int>(m_order.at(other))].isEmpty())
            other += step;
        if (other < 0 || other >= m_order.size())
            continue;
        const qreal middle = m_lanes[static_cast<int>(m_order.at(other))].center().y();
        if (step < 0 ? y < middle : y > middle) {
            moveLane(*m_pressLane, static_cast<int>(other));
            return;
        }
    }
}

QString TimelineView::whyOf(const BlockValue &block) const
{
    const QString name = block.seq > 0 ? tr("Episode %1").arg(number(block.seq)) : tr("This part");
    const bool exact = !m_picture.estimated();
    if (isEvicted(block)) {
        return tr("%1 is evicted: it lies in the run that begins at the cut, %2. Its text stays in the store.")
            .arg(name, number(m_picture.retained, exact));
    }
    if (block.pinned)
        return tr("%1 is kept: it is pinned, and no cut evicts a pin.").arg(name);
    if (block.role == Role::System)
        return tr("%1 is kept: the system prompt is never evicted.").arg(name);
    if (block.recent || (m_picture.cuts && block.range.begin >= m_picture.cuts->recentBegin))
        return tr("%1 is kept: it belongs to the recent part, which stays word for word.").arg(name);
    if (m_picture.cut == CutPicture::Cut::None)
        return tr("%1 is kept: nothing is planned.").arg(name);
    if (block.range.begin < m_picture.retained)
        return tr("%1 is kept: it lies in front of the cut at %2.").arg(name, number(m_picture.retained, exact));
    return tr("%1 is kept: the run takes enough without it, or it is the last user message.").arg(name);
}

QRectF TimelineView::laneRect(Lane lane) const { return m_lanes[static_cast<int>(lane)]; }

void TimelineView::setLaneShown(Lane lane, bool shown)
{
    if (shown)
        m_hidden.remove(lane);
    else
        m_hidden.insert(lane);
    layoutLanes();
    viewport()->update();
}

TokenScale TimelineView::tokenScale() const { return {m_visible, m_lanes[0]}; }

void TimelineView::setVisibleRange(TokenRange range, bool remember)
{
    range = TokenScale::clamped(range, axisTotal());
    if (range == m_visible)
        return;
    if (remember) {
        m_zoomStack.append(m_visible);
        if (m_zoomStack.size() > 50)
            m_zoomStack.removeFirst();
    }
    m_visible = range;
    m_fitted = range == fitRange();
    updateActions();
    viewport()->update();
    Q_EMIT rangeShown(m_visible);
}

void TimelineView::zoomToPosition(int position)
{
    const int size = std::max(TokenScale::kMinimumTokens, axisTotal() / 8);
    setVisibleRange(TokenRange{position - size / 2, position - size / 2 + size});
}

void TimelineView::updateActions()
{
    m_zoomBack->setEnabled(!m_zoomStack.isEmpty());
    m_zoomSelection->setEnabled(m_selection->range().has_value() || m_selection->episodeSeq().has_value());
    m_pin->setEnabled(m_selection->episodeSeq().has_value());
}

// ---- painting ---------------------------------------------------------------------------------------------

QRectF TimelineView::rangeRect(const TokenScale &scale, TokenRange range, QRectF lane, qreal inset) const
{
    const qreal x0 = std::max(scale.toX(range.begin), lane.left() - 2);
    const qreal x1 = std::min(scale.toX(range.end), lane.right() + 2);
    return QRectF(x0, lane.top() + inset, std::max<qreal>(0, x1 - x0), lane.height() - 2 * inset);
}

std::optional<double> TimelineView::alternativeCost(const AlternativeValue &alternative) const
{
    if (m_costInMs)
        return alternative.predictedMs;
    if (alternative.predictedPrefill)
        return *alternative.predictedPrefill;
    return std::nullopt;
}

QString TimelineView::alternativeText(const AlternativeValue &alternative) const
{
    if (alternative.predictedMs)
        return tr("~%1").arg(shortMilliseconds(*alternative.predictedMs));
    if (alternative.predictedPrefill)
        return tr("%1 tokens").arg(number(*alternative.predictedPrefill, !m_picture.estimated()));
    return tr("not known");
}

qreal TimelineView::alternativeY(const AlternativeValue &alternative, const QRectF &lane) const
{
    const double top = niceCeiling(m_costMaximum * 1.08);
    const qreal floor = lane.bottom() - 6;
    const qreal height = lane.height() - 24;
    return floor - height * alternativeCost(alternative).value_or(0) / top;
}

void TimelineView::paintEvent(QPaintEvent *)
{
    const SemanticColors c = SemanticColors::of(palette());
    QPainter p(viewport());
    p.fillRect(viewport()->rect(), c.base);
    const QRectF axis = m_lanes[0];
    const qreal stripTop = m_lanes[kLaneCount - 1].isEmpty() ? viewport()->height() : m_lanes[kLaneCount - 1].top();

    p.save();
    p.setClipRect(QRectF(0, axis.bottom(), viewport()->width(), stripTop - axis.bottom()));
    paintGround(p, c);
    p.save();
    p.setClipRect(QRectF(axis.left() - 8, axis.bottom(), axis.width() + 16, stripTop - axis.bottom()),
                  Qt::IntersectClip);
    p.setRenderHint(QPainter::Antialiasing);
    paintFlow(p, c);
    paintHolds(p, c);
    paintEpisodes(p, c);
    paintTiers(p, c);
    paintSent(p, c);
    paintCutRuler(p, c);
    paintCuts(p, c);
    paintCheckpoints(p, c);
    paintSelection(p, c);
    if (trying() && !m_collapsed.contains(Lane::CutRuler))
        cutRuler().paintCard(p, c);
    p.restore();
    paintLaneTitles(p, c);
    p.restore();

    p.setRenderHint(QPainter::Antialiasing);
    paintRuler(p, c);
    paintHandle(p, c);
    paintStrip(p, c);
    paintMarks(p, c);

    if (m_index.count() == 0 && m_picture.ring != CutPicture::Ring::NoSession
        && m_picture.cut == CutPicture::Cut::None) {
        p.setPen(c.dimText);
        const QRectF room(axis.left() + 8, axis.bottom() + laneHeight(Lane::Checkpoints) + laneHeight(Lane::Holds),
                          axis.width() - 16, laneHeight(Lane::Episodes));
        p.fillRect(room.adjusted(0, 4, 0, -4), c.base);
        p.drawText(room, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap,
                   tr("No episodes yet. Point your harness at this service: kerfd mcp"));
    }
    if (hasFocus()) {
        p.setRenderHint(QPainter::Antialiasing, false);
        p.setPen(QPen(c.focus, 2));
        p.setBrush(Qt::NoBrush);
        p.drawRect(viewport()->rect().adjusted(1, 1, -1, -1));
    }
}

void TimelineView::paintGround(QPainter &p, const SemanticColors &c) const
{
    const QRectF axis = m_lanes[0];
    if (m_picture.simulated)
        fillSimulated(
            p, QRectF(axis.left() - 8, axis.bottom(), viewport()->width() - axis.left() + 8, viewport()->height()), c);
    const TokenScale scale = tokenScale();
    // Tolerance, under everything.
    if (m_picture.requested && m_picture.tolerance > 0 && m_picture.cut != CutPicture::Cut::None
        && m_picture.ring == CutPicture::Ring::Visible) {
        const QRectF band =
            rangeRect(scale, TokenRange{std::max(0, *m_picture.requested - m_picture.tolerance), *m_picture.requested},
                      QRectF(axis.left(), axis.bottom(), axis.width(), viewport()->height()), 0);
        p.fillRect(band, mixed(c.warning, c.base, c.dark ? 0.20 : 0.11));
    }
    // Grid of the ruler.
    const int step = binaryStep(88 / std::max<qreal>(1e-9, scale.pixelsPerToken()));
    p.setPen(QPen(mixed(c.axis, c.base, 0.35), 0));
    for (int t = m_visible.begin / step * step; t <= m_visible.end; t += step) {
        if (t >= m_visible.begin)
            p.drawLine(QPointF(scale.toX(t), axis.bottom()), QPointF(scale.toX(t), viewport()->height()));
    }
    QPen lanePen(mixed(c.axis, c.base, 0.5), 0, Qt::DotLine);
    p.setPen(lanePen);
    for (int i = 1; i < kLaneCount - 1; ++i) {
        if (!m_lanes[i].isEmpty() && static_cast<Lane>(i) != Lane::Flow)
            p.drawLine(QPointF(0, m_lanes[i].top()), QPointF(viewport()->width(), m_lanes[i].top()));
    }
}

void TimelineView::paintLaneTitles(QPainter &p, const SemanticColors &c) const
{
    const QRectF axis = m_lanes[0];
    p.fillRect(QRectF(0, axis.bottom(), axis.left() - 8, viewport()->height()), mixed(c.text, c.base, 0.035));
    QFont bold = font();
    bold.setBold(true);
    const QFontMetricsF boldMetrics(bold);
    QFont small = font();
    small.setPointSizeF(std::max(8.0, small.pointSizeF() - 1));
    const QFontMetricsF smallMetrics(small);
    const bool exact = !m_picture.estimated();
    for (int i = 1; i < kLaneCount - 1; ++i) {
        const Lane lane = static_cast<Lane>(i);
        const QRectF rect = m_lanes[i];
        if (rect.isEmpty() || lane == Lane::Flow)
            continue;
        QString second;
        switch (lane) {
        case Lane::Checkpoints:
            if (m_picture.ring == CutPicture::Ring::Visible)
                second = m_picture.ringSource.isEmpty()
                    ? number(m_picture.checkpoints.size())
                    : tr("%1 · %2", "number of checkpoints, source")
                          .arg(number(m_picture.checkpoints.size()), m_picture.ringSource);
            break;
        case Lane::Holds:
            if (m_picture.promptTokens > 0)
                second =
                    tr("%1 tokens")
                        .arg(number(m_picture.nPast && m_picture.cut == CutPicture::Cut::None ? *m_picture.nPast
                                                                                              : m_picture.promptTokens,
                                    exact));
            break;
        case Lane::Episodes:
            if (m_index.count() > 0 || m_picture.cut != CutPicture::Cut::Compaction)
                second = tr("%1 in prompt").arg(number(m_index.count()));
            break;
        case Lane::Sent:
            if (m_picture.sentTotal > 0)
                second = tr("%1 tokens").arg(number(m_picture.sentTotal, (exact || m_picture.measured) && !trying()));
            break;
        case Lane::CutRuler:
            second = !m_cutRuler.isEmpty() ? (m_cutRuler.inMilliseconds() ? tr("prefill, ms") : tr("prefill, tokens"))
                : m_picture.alternatives.isEmpty() ? tr("prefill")
                : m_costInMs                       ? tr("prefill, ms")
                                                   : tr("prefill, tokens");
            break;
        default:
            break;
        }
        if (lane == Lane::CutRuler && !m_cutRuler.isEmpty() && !m_collapsed.contains(lane)) {
            // The numbers of its axis stand at the right edge of the title.
            const CutRuler &ruler = cutRuler();
            p.setFont(small);
            p.setPen(c.dimText);
            const QList<double> ticks = ruler.ticks();
            for (const double tick : ticks) {
                const qreal y = ruler.yOf(tick);
                p.drawText(QRectF(0, y - smallMetrics.height() / 2, axis.left() - 12, smallMetrics.height()),
                           Qt::AlignRight | Qt::AlignVCenter, ruler.tickText(tick));
            }
        }
        const QRectF room(18, rect.top() + 2, axis.left() - 28, rect.height() - 4);
        const bool thin = m_collapsed.contains(lane);
        const bool tall = !second.isEmpty() && rect.height() >= boldMetrics.height() + smallMetrics.height();
        const qreal total = boldMetrics.height() + (tall ? smallMetrics.height() : 0);
        const qreal top = room.top() + (room.height() - total) / 2;
        {
            const QPointF at(10, top + boldMetrics.height() / 2);
            p.setRenderHint(QPainter::Antialiasing);
            p.setPen(Qt::NoPen);
            p.setBrush(c.dimText);
            p.drawPolygon(thin ? QPolygonF({at + QPointF(-2, -4), at + QPointF(3, 0), at + QPointF(-2, 4)})
                               : QPolygonF({at + QPointF(-4, -2), at + QPointF(4, -2), at + QPointF(0, 3)}));
        }
        p.setFont(bold);
        p.setPen(c.text);
        p.drawText(QRectF(room.left(), top, room.width(), boldMetrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
                   boldMetrics.elidedText(laneTitle(lane), Qt::ElideRight, room.width()));
        if (tall) {
            p.setFont(small);
            p.setPen(c.dimText);
            p.drawText(QRectF(room.left(), top + boldMetrics.height(), room.width(), smallMetrics.height()),
                       Qt::AlignLeft | Qt::AlignVCenter, smallMetrics.elidedText(second, Qt::ElideRight, room.width()));
        }
    }
}

void TimelineView::paintRuler(QPainter &p, const SemanticColors &c) const
{
    const QRectF axis = m_lanes[0];
    p.fillRect(QRectF(0, 0, viewport()->width(), axis.height()), mixed(c.text, c.base, 0.06));
    p.setPen(QPen(mixed(c.axis, c.base, 0.7), 1));
    p.drawLine(QPointF(0, axis.bottom() - 0.5), QPointF(viewport()->width(), axis.bottom() - 0.5));
    QFont small = font();
    small.setPointSizeF(std::max(8.0, small.pointSizeF() - 1));
    const QFontMetricsF metrics(small);
    p.setFont(small);
    p.setPen(c.dimText);
    p.drawText(QRectF(8, 0, axis.left() - 16, axis.height()), Qt::AlignLeft | Qt::AlignVCenter, tr("tokens"));

    const TokenScale scale = tokenScale();
    QList<QRectF> taken;
    const bool cut = m_picture.cut != CutPicture::Cut::None;
    const bool exact = !m_picture.estimated();
    struct Chip {
        int position;
        QString text;
        enum Kind { Aligned, Requested, Share } kind;
    };
    QList<Chip> chips;
    if (trying()) {
        chips.append({*m_picture.whatIf, tr("what-if %1").arg(number(*m_picture.whatIf, exact)), Chip::Aligned});
        if (m_picture.planCut)
            chips.append({*m_picture.planCut, tr("plan %1").arg(number(*m_picture.planCut, exact)), Chip::Requested});
    }
    const bool equal = cut && m_picture.requested && m_picture.aligned && *m_picture.requested == *m_picture.aligned;
    if (cut && !trying() && m_picture.aligned)
        chips.append({*m_picture.aligned,
                      equal ? tr("cut %1 as requested").arg(number(*m_picture.aligned, exact))
                            : tr("cut %1").arg(number(*m_picture.aligned, exact)),
                      Chip::Aligned});
    if (cut && m_picture.requested && !equal)
        chips.append(
            {*m_picture.requested, tr("requested %1").arg(number(*m_picture.requested, exact)), Chip::Requested});
    if (m_picture.budget > 0) {
        const auto share = [this](int at) { return QLocale().toString(qRound(100.0 * at / m_picture.budget)); };
        if (m_picture.triggerAt > 0)
            chips.append({m_picture.triggerAt, tr("trigger %1 %").arg(share(m_picture.triggerAt)), Chip::Share});
        if (m_picture.target > 0)
            chips.append({m_picture.target, tr("target %1 %").arg(share(m_picture.target)), Chip::Share});
    }
    QFont bold = font();
    bold.setBold(true);
    struct Placed {
        QRectF rect;
        Chip chip;
    };
    QList<Placed> placed;
    for (const Chip &chip : std::as_const(chips)) {
        if (chip.position < m_visible.begin || chip.position > m_visible.end)
            continue;
        const QFontMetricsF chipMetrics(chip.kind == Chip::Aligned ? bold : small);
        const qreal width = chipMetrics.horizontalAdvance(chip.text) + 12;
        const qreal x = scale.toX(chip.position);
        // Beside its line: the cut to the left or right of it, others where there is room.
        QList<qreal> tries = trying() && chip.kind == Chip::Aligned ? QList<qreal>{x + 9, x - width - 9}
            : chip.kind == Chip::Aligned                            ? QList<qreal>{x - width, x - width / 2, x}
                                         : QList<qreal>{x + 2, x - width - 2, x + 8 + width / 3};
        for (qreal left : std::as_const(tries)) {
            left = std::clamp(left, axis.left() - 4, std::max(axis.left() - 4, axis.right() + 8 - width));
            const QRectF rect(left, 3, width, axis.height() - 7);
            if (std::any_of(taken.begin(), taken.end(), [&rect](const QRectF &t) { return t.intersects(rect); }))
                continue;
            taken.append(rect.adjusted(-2, 0, 2, 0));
            placed.append({rect, chip});
            break;
        }
    }
    // Ticks, and numbers where no chip stands.
    const int step = binaryStep(88 / std::max<qreal>(1e-9, scale.pixelsPerToken()));
    const int minor = std::max(1, step / 4);
    for (int t = m_visible.begin / minor * minor; t <= m_visible.end; t += minor) {
        if (t < m_visible.begin)
            continue;
        const qreal x = scale.toX(t);
        const bool major = t % step == 0;
        p.setPen(QPen(c.axis, 1));
        p.drawLine(QPointF(x, axis.bottom() - (major ? 6 : 3)), QPointF(x, axis.bottom() - 1));
        if (!major)
            continue;
        const QString label = number(t);
        const QRectF rect(x + 3, 2, metrics.horizontalAdvance(label) + 2, axis.height() - 9);
        if (rect.right() > viewport()->width() - 2
            || std::any_of(taken.begin(), taken.end(), [&rect](const QRectF &chip) { return chip.intersects(rect); }))
            continue;
        p.setFont(small);
        p.setPen(c.dimText);
        p.drawText(rect, Qt::AlignLeft | Qt::AlignVCenter, label);
    }
    for (const Placed &one : std::as_const(placed)) {
        const QRectF r = one.rect.adjusted(0.5, 0.5, -0.5, -0.5);
        switch (one.chip.kind) {
        case Chip::Aligned:
            p.setPen(Qt::NoPen);
            p.setBrush(c.text);
            p.drawRoundedRect(r, 3, 3);
            p.setFont(bold);
            p.setPen(c.base);
            break;
        case Chip::Requested: {
            QPen pen(c.text, 1, Qt::CustomDashLine);
            pen.setDashPattern({3, 2});
            p.setPen(pen);
            p.setBrush(c.base);
            p.drawRoundedRect(r, 3, 3);
            p.setFont(small);
            p.setPen(c.text);
            break;
        }
        case Chip::Share:
            p.setPen(QPen(c.axis, 1));
            p.setBrush(c.base);
            p.drawRoundedRect(r, 3, 3);
            p.setFont(small);
            p.setPen(c.dimText);
            break;
        }
        p.drawText(r, Qt::AlignCenter, one.chip.text);
    }
}

void TimelineView::paintCheckpoints(QPainter &p, const SemanticColors &c) const
{
    const QRectF lane = m_lanes[static_cast<int>(Lane::Checkpoints)];
    if (lane.isEmpty())
        return;
    p.setFont(font());
    QString note;
    switch (m_picture.ring) {
    case CutPicture::Ring::NotVisible:
        note = tr("not visible on this server");
        break;
    case CutPicture::Ring::FullAttention:
        note = tr("not used: any token can be a cut");
        break;
    case CutPicture::Ring::Empty:
        note = tr("no checkpoint yet: the server makes them while it works");
        break;
    case CutPicture::Ring::BeforeFirstTask:
        note = tr("this slot has not run yet");
        break;
    case CutPicture::Ring::NoServer:
        note = tr("no slot to look at");
        break;
    case CutPicture::Ring::NoSession:
    case CutPicture::Ring::Visible:
        break;
    }
    if (!note.isEmpty()) {
        p.setPen(c.dimText);
        p.drawText(lane, Qt::AlignCenter, note);
        return;
    }
    const TokenScale scale = tokenScale();
    const qreal y = lane.top() + lane.height() * 0.38;
    qreal last = -100;
    const auto selected = m_selection->checkpoint();
    for (const CheckpointMark &mark : m_picture.checkpoints) {
        const int position = mark.checkpoint.position;
        if (position < m_visible.begin || position > m_visible.end)
            continue;
        const qreal x = scale.toX(position);
        const bool must = mark.fate == CheckpointMark::Fate::Used || (selected && *selected == position)
            || mark.checkpoint.kind != CheckpointKind::InternalCheckpoint;
        if (x - last < 1 && !must)
            continue; // at most one a pixel; the one that is used is always drawn
        const bool beside = x - last < 9 && x - last >= 0;
        const qreal cx = beside ? last + 10 : x;
        const QColor color = mixed(c.checkpoint(mark.checkpoint.kind), c.base, m_picture.disconnected ? 0.4 : 1);
        p.setPen(QPen(color, 1.4));
        p.drawLine(QPointF(x, y), QPointF(x, lane.bottom() - 1));
        drawCheckpointHead(p, QPointF(cx, y), 4.4, mark.checkpoint.kind, color);
        p.setBrush(Qt::NoBrush);
        if (mark.fate == CheckpointMark::Fate::Used) {
            p.setPen(QPen(c.text, 1.8));
            p.drawEllipse(QPointF(cx, y), 8, 8);
        }
        if (selected && *selected == position) {
            p.setPen(QPen(palette().color(QPalette::Highlight), 2));
            p.drawEllipse(QPointF(cx, y), 11, 11);
        }
        last = cx;
    }
}

void TimelineView::paintHolds(QPainter &p, const SemanticColors &c) const
{
    const QRectF lane = m_lanes[static_cast<int>(Lane::Holds)];
    if (lane.isEmpty())
        return;
    const TokenScale scale = tokenScale();
    const qreal inset = (lane.height() - std::min<qreal>(28, lane.height() - 8)) / 2;
    const bool exact = !m_picture.estimated();
    const qreal strength = m_picture.disconnected ? 0.34 : 1;
    QFont bold = font();
    bold.setBold(true);
    const QFontMetricsF metrics(bold);
    int end = 0;
    for (const Segment &segment : m_picture.segments) {
        end = std::max(end, segment.range.end);
        const QRectF rect = rangeRect(scale, segment.range, lane, inset);
        if (rect.width() <= 0)
            continue;
        // Of a what-if the first stretch speaks for all that is reused, the few tokens behind the cut too.
        const bool whole = trying() && segment.kind == SegmentKind::Reused && segment.range.begin == 0;
        const QString figure = number(whole ? m_picture.tokensOf(segment.kind) : segment.range.size(), exact);
        QString word;
        QColor ink = c.onFill;
        const auto faded = [&](const QColor &color) { return mixed(color, c.base, strength); };
        switch (segment.kind) {
        case SegmentKind::Reused:
            p.fillRect(rect, faded(c.reused));
            word = tr("reused %1").arg(figure);
            break;
        case SegmentKind::Prefilled:
            p.fillRect(rect, faded(c.prefilled));
            word = tr("prefilled %1").arg(figure);
            break;
        case SegmentKind::Recent:
            p.fillRect(rect, faded(c.recent));
            word = tr("recent %1").arg(figure);
            ink = c.onRecent;
            break;
        case SegmentKind::KeptAgain:
            fillStriped(p, rectPath(rect), faded(c.reused), c.base);
            word = tr("kept %1").arg(figure);
            ink = c.text;
            break;
        case SegmentKind::Evicted:
            fillHatched(p, rectPath(rect), faded(c.evicted), c.base);
            word = tr("evicted %1").arg(figure);
            ink = c.text;
            break;
        case SegmentKind::Moved:
            fillMoved(p, rectPath(rect), faded(c.reused), c.onFill);
            word = tr("moved %1").arg(figure);
            ink = c.text;
            break;
        case SegmentKind::MaybeReused:
            fillDotted(p, rectPath(rect), faded(c.reused), c.base);
            word = tr("kept %1").arg(figure);
            ink = c.text;
            break;
        case SegmentKind::Held:
            p.fillRect(rect, mixed(c.text, c.base, 0.18 * strength));
            word = m_picture.sentTotal > 0 ? tr("new %1").arg(figure) : tr("in the prompt %1").arg(figure);
            ink = c.text;
            break;
        }
        if (m_picture.disconnected)
            ink = c.text;
        p.setFont(bold);
        if (metrics.horizontalAdvance(word) + 8 > rect.width())
            word = figure;
        const bool patterned = segment.kind == SegmentKind::Evicted || segment.kind == SegmentKind::KeptAgain
            || segment.kind == SegmentKind::MaybeReused || segment.kind == SegmentKind::Moved;
        if (m_collapsed.contains(Lane::Holds))
            continue;
        if (patterned) {
            drawPlate(p, rect, word, ink, c.base);
        } else if (metrics.horizontalAdvance(word) + 6 <= rect.width()) {
            p.setPen(ink);
            p.drawText(rect, Qt::AlignCenter, word);
        }
    }
    const int used = std::max(end, m_picture.promptTokens);
    if (m_picture.contextSize > used && used > 0) {
        const QRectF rect =
            rangeRect(scale, TokenRange{used, m_picture.contextSize}, lane, inset).adjusted(1, 0.5, -1, -0.5);
        if (rect.width() > 4) {
            QPen pen(c.axis, 1, Qt::CustomDashLine);
            pen.setDashPattern({3, 2});
            p.setPen(pen);
            p.setBrush(Qt::NoBrush);
            p.drawRect(rect);
            p.setFont(font());
            const QString word = tr("free %1").arg(number(m_picture.contextSize - used, exact));
            if (QFontMetricsF(font()).horizontalAdvance(word) + 8 < rect.width()) {
                p.setPen(c.dimText);
                p.drawText(rect, Qt::AlignCenter, word);
            }
        }
    }
}

void TimelineView::paintEpisodes(QPainter &p, const SemanticColors &c) const
{
    const QRectF lane = m_lanes[static_cast<int>(Lane::Episodes)];
    if (!lane.isEmpty() && m_index.count() == 0 && m_picture.cut == CutPicture::Cut::Compaction) {
        p.setFont(font());
        p.setPen(c.dimText);
        p.drawText(lane.adjusted(8, 0, -8, 0), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("The messages of that prompt are not kept."));
    }
    if (lane.isEmpty() || m_index.count() == 0)
        return;
    const TokenScale scale = tokenScale();
    const qreal inset = (lane.height() - std::min<qreal>(28, lane.height() - 8)) / 2;
    QFont bold = font();
    bold.setBold(true);
    p.setFont(bold);
    const QFontMetricsF metrics(bold);
    const qreal fade = m_picture.disconnected ? 0.34 : 1;
    int i = m_index.firstEndingAfter(m_visible.begin);
    qreal x = lane.left() - 1;
    while (i < m_index.count() && m_index.at(i).range.begin < m_visible.end) {
        const BlockValue &block = m_index.at(i);
        const qreal x0 = std::max(scale.toX(block.range.begin), x);
        const qreal x1 = scale.toX(block.range.end);
        if (x1 - x0 >= kMergePixels) {
            const QRectF rect(x0, lane.top() + inset, std::min(x1, lane.right() + 3) - x0, lane.height() - 2 * inset);
            const bool evicted = isEvicted(block);
            const QColor color = mixed(c.role(block.role), c.base, evicted ? 0.42 * fade : fade);
            p.fillRect(rect.adjusted(0, 0, -1, 0), color);
            const QString letter = roleLetter(block.role);
            QString label = letter;
            if (block.seq > 0
                && metrics.horizontalAdvance(QStringLiteral("%1 %2").arg(block.seq).arg(letter)) + 10 < rect.width())
                label = QStringLiteral("%1 %2").arg(block.seq).arg(letter);
            if (metrics.horizontalAdvance(label) + 3 < rect.width() && !m_collapsed.contains(Lane::Episodes)) {
                p.setPen(evicted || fade < 1 ? c.text : c.onFill);
                p.drawText(rect.adjusted(0, 0, -1, 0), Qt::AlignCenter, label);
            }
            if (block.pinned && rect.width() > 6) {
                p.setPen(QPen(c.text, 1.6));
                p.setBrush(Qt::NoBrush);
                p.drawRect(rect.adjusted(0.8, 0.8, -1.8, -0.8));
                drawPin(p, QPointF(rect.center().x(), rect.top() - 1), 8, c.text);
            }
            x = x1;
            ++i;
            continue;
        }
        // Under three pixels: one column for all that fall in it, coloured by the largest role.
        const qreal columnEnd = x0 + kMergePixels;
        const int last =
            std::max(i, std::min(m_index.count() - 1, m_index.firstEndingAfter(scale.toPosition(columnEnd) - 1)));
        const EpisodeIndex::Summary sum = m_index.summary(i, last);
        const bool mostlyEvicted = trying() ? isEvicted(m_index.at((i + last) / 2)) : sum.evicted * 2 > sum.episodes;
        p.fillRect(QRectF(x0, lane.top() + inset, kMergePixels, lane.height() - 2 * inset),
                   mixed(c.role(sum.largest), c.base, mostlyEvicted ? 0.42 * fade : fade));
        if (sum.pinned)
            drawPin(p, QPointF(x0 + kMergePixels / 2, lane.top() + inset - 1), 8, c.text);
        x = std::max(columnEnd, std::min(scale.toX(m_index.at(last).range.end), columnEnd + kMergePixels));
        i = last + 1;
    }
}

QList<QRectF> TimelineView::drawnBlocks() const
{
    QList<QRectF> list;
    const TokenScale scale = tokenScale();
    const QRectF lane = m_lanes[static_cast<int>(Lane::Episodes)];
    int i = m_index.firstEndingAfter(m_visible.begin);
    qreal x = lane.left() - 1;
    while (!lane.isEmpty() && i < m_index.count() && m_index.at(i).range.begin < m_visible.end) {
        const qreal x0 = std::max(scale.toX(m_index.at(i).range.begin), x);
        qreal x1 = scale.toX(m_index.at(i).range.end);
        int last = i;
        if (x1 - x0 < kMergePixels) {
            const qreal end = x0 + kMergePixels;
            last = std::max(i, std::min(m_index.count() - 1, m_index.firstEndingAfter(scale.toPosition(end) - 1)));
            x1 = std::max(end, std::min(scale.toX(m_index.at(last).range.end), end + kMergePixels));
        }
        list.append(QRectF(x0, lane.top() + 8, x1 - x0, 28));
        x = x1;
        i = last + 1;
    }
    for (const Lane other : {Lane::Holds, Lane::Sent}) {
        const QRectF place = m_lanes[static_cast<int>(other)];
        for (const Segment &segment : m_picture.segments)
            list.append(rangeRect(scale, segment.range, place, 8));
    }
    // The cut ruler fills a column and its tip for each of its points where it is zoomed out.
    const QRectF ruler = m_lanes[static_cast<int>(Lane::CutRuler)];
    for (int k = 0; k < m_cutRuler.drawnPoints() && !ruler.isEmpty(); ++k) {
        list.append(QRectF(ruler.left() + k / 2, ruler.top() + 20, 1, ruler.height() - 30));
        list.append(QRectF(ruler.left() + k / 2, ruler.top() + 18, 1, 2));
    }
    return list;
}

void TimelineView::paintTiers(QPainter &p, const SemanticColors &c) const
{
    const QRectF lane = m_lanes[static_cast<int>(Lane::Tier)];
    if (lane.isEmpty() || m_index.count() == 0)
        return;
    const TokenScale scale = tokenScale();
    QFont bold = font();
    bold.setBold(true);
    bold.setPointSizeF(std::max(8.0, bold.pointSizeF() - 0.5));
    p.setFont(bold);
    const auto band = [&](qreal x0, qreal x1, Tier tier, int episodes) {
        const QRectF rect(x0, lane.top() + 4, x1 - x0 - 1, lane.height() - 8);
        if (rect.width() <= 0)
            return;
        QString word = tierWord(tier);
        if (tier == Tier::Live) {
            p.setPen(QPen(c.axis, 1));
            p.setBrush(c.base);
            p.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
        } else {
            fillHatched(p, rectPath(rect.adjusted(0.5, 0.5, -0.5, -0.5)), c.evicted, c.base);
            word = tr("%1 ×%2", "tier, number of episodes").arg(word, number(episodes));
        }
        drawPlate(p, rect, word, c.text, c.base);
    };
    // Runs of one tier; those under three pixels merge into a column.
    int i = m_index.firstEndingAfter(m_visible.begin);
    qreal start = lane.left() - 1;
    Tier tier = Tier::Live;
    int count = 0;
    bool open = false;
    qreal x = start;
    while (i < m_index.count() && m_index.at(i).range.begin < m_visible.end) {
        const BlockValue &block = m_index.at(i);
        const qreal x0 = std::max(scale.toX(block.range.begin), x);
        qreal x1 = std::min(scale.toX(block.range.end), lane.right() + 2);
        Tier now = trying() && isEvicted(block) ? Tier::Referenced : m_index.tierOf(i);
        int n = 1;
        int next = i + 1;
        if (x1 - x0 < kMergePixels) {
            const int last = std::max(
                i, std::min(m_index.count() - 1, m_index.firstEndingAfter(scale.toPosition(x0 + kMergePixels) - 1)));
            const EpisodeIndex::Summary sum = m_index.summary(i, last);
            now = trying() && isEvicted(m_index.at((i + last) / 2)) ? Tier::Referenced : sum.lowest;
            n = sum.episodes;
            next = last + 1;
            x1 = std::max(x0 + kMergePixels, std::min(scale.toX(m_index.at(last).range.end), x0 + 2 * kMergePixels));
        }
        if (open && now != tier) {
            band(start, x0, tier, count);
            open = false;
        }
        if (!open) {
            start = x0;
            tier = now;
            count = 0;
            open = true;
        }
        count += n;
        x = x1;
        i = next;
    }
    if (open)
        band(start, x, tier, count);
}

void TimelineView::paintFlow(QPainter &p, const SemanticColors &c) const
{
    const QRectF lane = m_lanes[static_cast<int>(Lane::Flow)];
    if (lane.isEmpty() || m_picture.cut == CutPicture::Cut::None || m_picture.sentTotal <= 0)
        return;
    const TokenScale scale = tokenScale();
    const auto band = [&](TokenRange from, TokenRange to, const QColor &color) {
        if (from.size() <= 0 || to.size() <= 0)
            return;
        const auto x = [&](int position) {
            return std::clamp(scale.toX(position), lane.left() - 4000, lane.right() + 4000);
        };
        const qreal top = lane.top() + 2;
        const qreal bottom = lane.bottom();
        const qreal middle = (top + bottom) / 2;
        QPainterPath path;
        path.moveTo(x(from.begin), top);
        path.lineTo(x(from.end), top);
        path.cubicTo(QPointF(x(from.end), middle), QPointF(x(to.end), middle), QPointF(x(to.end), bottom));
        path.lineTo(x(to.begin), bottom);
        path.cubicTo(QPointF(x(to.begin), middle), QPointF(x(from.begin), middle), QPointF(x(from.begin), top));
        p.fillPath(path, mixed(color, c.base, c.dark ? 0.26 : 0.2));
    };
    int evictedEnd = 0;
    for (const Segment &segment : m_picture.segments) {
        if (segment.kind == SegmentKind::Evicted)
            evictedEnd = segment.range.end;
    }
    band(TokenRange{0, m_picture.retained}, TokenRange{0, m_picture.retained}, c.reused);
    const int tail = m_picture.promptTokens - evictedEnd;
    if (evictedEnd > 0 && tail > 0)
        band(TokenRange{evictedEnd, m_picture.promptTokens},
             TokenRange{std::max(0, m_picture.sentTotal - tail), m_picture.sentTotal}, c.recent);
}

void TimelineView::paintSent(QPainter &p, const SemanticColors &c) const
{
    const QRectF lane = m_lanes[static_cast<int>(Lane::Sent)];
    if (lane.isEmpty() || m_picture.sentTotal <= 0)
        return;
    const TokenScale scale = tokenScale();
    const qreal inset = (lane.height() - std::min<qreal>(28, lane.height() - 8)) / 2;
    const bool exact = !m_picture.simulated && (m_picture.measured || m_picture.exact);
    const qreal strength = m_picture.disconnected ? 0.34 : 1;
    QFont bold = font();
    bold.setBold(true);
    const QFontMetricsF metrics(bold);
    p.setFont(bold);
    const auto put = [&](TokenRange range, int kind, const QString &longWord, const QString &shortWord) {
        const QRectF rect = rangeRect(scale, range, lane, inset);
        if (rect.width() <= 0)
            return;
        QString word = metrics.horizontalAdvance(longWord) + 8 <= rect.width() ? longWord : shortWord;
        if (kind == 1) {
            fillDotted(p, rectPath(rect), mixed(c.reused, c.base, strength), c.base);
            drawPlate(p, rect, word, c.text, c.base);
            return;
        }
        if (kind == 3)
            fillMoved(p, rectPath(rect), mixed(c.reused, c.base, strength), c.onFill);
        else
            p.fillRect(rect, mixed(kind == 0 ? c.reused : c.prefilled, c.base, strength));
        if (kind == 3) {
            drawPlate(p, rect, word, c.text, c.base);
        } else if (metrics.horizontalAdvance(word) + 6 <= rect.width()) {
            p.setPen(strength < 1 ? c.text : c.onFill);
            p.drawText(rect, Qt::AlignCenter, word);
        }
    };
    const int total = m_picture.sentTotal;
    QString beside;
    QColor besideColor = c.warning;
    if (m_picture.rangeOnly) {
        const int kept = std::clamp(m_picture.reusedHigh, 0, total);
        put(TokenRange{0, kept}, 1,
            tr("reused %1 to %2").arg(number(m_picture.reusedLow), number(m_picture.reusedHigh, exact)),
            number(kept, exact));
        put(TokenRange{kept, total}, 2, tr("prefilled %1").arg(number(total - kept, exact)),
            number(total - kept, exact));
        beside = tr("or up to %1").arg(number(total - m_picture.reusedLow, exact));
        besideColor = c.prefilled;
    } else if (m_picture.reused) {
        const int moved = std::min(m_picture.tokensOf(SegmentKind::Moved), total);
        const int head = std::clamp(*m_picture.reused - moved, 0, total);
        put(TokenRange{0, head}, 0, tr("from cache %1").arg(number(head, exact)), number(head, exact));
        if (moved > 0) {
            const int fresh = std::max(0, total - head - moved);
            put(TokenRange{head, head + moved}, 3, tr("moved %1").arg(number(moved, exact)), number(moved, exact));
            put(TokenRange{head + moved, total}, 2, tr("prefilled %1").arg(number(fresh, exact)), number(fresh, exact));
            beside = tr("%1 prefilled").arg(number(fresh, exact));
            besideColor = c.prefilled;
        } else {
            // A what-if's size is summed over messages, not rendered.
            put(TokenRange{head, total}, 2, tr("prefilled %1").arg(number(total - head, exact && !trying())),
                number(total - head, exact && !trying()));
        }
    }
    if (m_picture.targetMissed > 0) {
        beside = tr("target %1 missed by %2").arg(number(m_picture.target), number(m_picture.targetMissed, exact));
        besideColor = c.warning;
    }
    if (beside.isEmpty())
        return;
    const qreal x = std::max(scale.toX(total) + 8, lane.left());
    const QRectF room(x, lane.top(), lane.right() - x + 6, lane.height());
    if (room.width() > 40) {
        p.setPen(besideColor);
        p.drawText(room, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, beside);
    }
}

void TimelineView::paintCutRuler(QPainter &p, const SemanticColors &c) const
{
    const QRectF lane = m_lanes[static_cast<int>(Lane::CutRuler)];
    if (lane.isEmpty())
        return;
    if (m_collapsed.contains(Lane::CutRuler))
        return;
    if (const CutRuler &ruler = cutRuler(); !ruler.isEmpty()) {
        const QColor ground = m_picture.simulated ? mixed(c.simulated, c.base, 0.10) : c.base;
        ruler.paint(p, c, ground);
        return;
    }
    const QList<AlternativeValue> &all = m_picture.alternatives;
    p.setFont(font());
    if (all.isEmpty() || m_costMaximum <= 0) {
        p.setPen(c.dimText);
        QString note = m_picture.cut == CutPicture::Cut::None
            ? tr("No plan. Press F6 to see what each legal cut would cost.")
            : tr("What the other cuts would have cost is not on record.");
        if (!all.isEmpty())
            note = tr("What a cut costs is not known on this server.");
        p.drawText(lane.adjusted(8, 0, -8, 0), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, note);
        return;
    }
    const TokenScale scale = tokenScale();
    const double top = niceCeiling(m_costMaximum * 1.08);
    QFont small = font();
    small.setPointSizeF(std::max(8.0, small.pointSizeF() - 1));
    const QFontMetricsF metrics(small);
    p.setFont(small);
    const qreal floor = lane.bottom() - 6;
    const qreal height = lane.height() - 24;
    for (const double share : {0.5, 1.0}) {
        const qreal y = floor - height * share;
        p.setPen(QPen(mixed(c.axis, c.base, 0.6), 0));
        p.drawLine(QPointF(lane.left(), y), QPointF(lane.right(), y));
        const QString label = m_costInMs ? shortMilliseconds(top * share) : number(qRound64(top * share));
        p.setPen(c.dimText);
        p.drawText(QRectF(lane.right() - 90, y + 1, 88, metrics.height()), Qt::AlignRight | Qt::AlignTop, label);
    }
    p.setPen(QPen(mixed(c.axis, c.base, 0.8), 1));
    p.drawLine(QPointF(lane.left(), floor), QPointF(lane.right(), floor));

    // One point a pixel column at most.
    const auto firstFrom = [&all](int position) {
        return static_cast<int>(std::lower_bound(all.begin(), all.end(), position,
                                                 [](const AlternativeValue &a, int at) { return a.cut < at; })
                                - all.begin());
    };
    struct Point {
        qreal x, y;
        int index;
    };
    QList<Point> points;
    int i = std::max(0, firstFrom(m_visible.begin) - 1);
    while (i < all.size()) {
        const AlternativeValue &alternative = all.at(i);
        if (!alternativeCost(alternative)) {
            ++i;
            continue;
        }
        const qreal x = scale.toX(alternative.cut);
        points.append({x, alternativeY(alternative, lane), i});
        if (alternative.cut > m_visible.end)
            break;
        const int next = firstFrom(scale.toPosition(x + 1));
        i = std::max(i + 1, next);
    }
    if (points.isEmpty())
        return;
    const QColor under =
        mixed(c.prefilled, m_picture.simulated ? mixed(c.simulated, c.base, 0.12) : c.base, c.dark ? 0.25 : 0.16);
    if (points.size() > lane.width() / 2) {
        // A column each: a zigzag of hundreds of long antialiased lines would cost a frame.
        for (const Point &point : std::as_const(points)) {
            p.fillRect(QRectF(qFloor(point.x), point.y, 1, floor - point.y), under);
            p.fillRect(QRectF(qFloor(point.x), point.y, 1, 2), c.prefilled);
        }
    } else {
        QPainterPath line;
        QPainterPath area;
        line.moveTo(points.first().x, points.first().y);
        area.moveTo(points.first().x, floor);
        area.lineTo(points.first().x, points.first().y);
        for (qsizetype k = 1; k < points.size(); ++k) {
            line.lineTo(points.at(k).x, points.at(k).y);
            area.lineTo(points.at(k).x, points.at(k).y);
        }
        area.lineTo(points.last().x, floor);
        area.closeSubpath();
        p.fillPath(area, under);
        p.setPen(QPen(c.prefilled, 1.6));
        p.setBrush(Qt::NoBrush);
        p.drawPath(line);
    }
    const int planCut = m_picture.retained;
    qreal lastLabel = -1000;
    qreal lastCircle = -1000;
    for (const Point &point : std::as_const(points)) {
        const AlternativeValue &alternative = all.at(point.index);
        if (alternative.cut < m_visible.begin || alternative.cut > m_visible.end)
            continue;
        const bool plan = alternative.cut == planCut;
        if (point.x - lastCircle < 7 && !plan)
            continue;
        lastCircle = point.x;
        p.setPen(QPen(c.text, 1.4));
        p.setBrush(plan ? c.text : c.base);
        if (alternative.atCheckpoint)
            p.drawRect(QRectF(point.x - 3, point.y - 3, 6, 6));
        else
            p.drawEllipse(QPointF(point.x, point.y), 3.8, 3.8);
        const QString label = alternativeText(alternative);
        const qreal width = metrics.horizontalAdvance(label);
        if (point.x - width / 2 > lastLabel + 8 && point.x + width / 2 < lane.right() - 60) {
            p.setPen(plan ? c.text : c.dimText);
            p.drawText(QPointF(point.x - width / 2, std::min(point.y + 4 + metrics.ascent() + 3, floor - 3)), label);
            lastLabel = point.x + width / 2;
        }
    }
}

void TimelineView::paintCuts(QPainter &p, const SemanticColors &c) const
{
    const TokenScale scale = tokenScale();
    const QRectF axis = m_lanes[0];
    const QRectF ruler = m_lanes[static_cast<int>(Lane::CutRuler)];
    const qreal bottom = ruler.isEmpty() ? viewport()->height() : ruler.bottom();
    const QRectF sent = m_lanes[static_cast<int>(Lane::Sent)];
    QPen thin(c.dimText, 1, Qt::CustomDashLine);
    thin.setDashPattern({4, 3});
    for (const int at : {m_picture.triggerAt, m_picture.target}) {
        if (at <= 0 || at < m_visible.begin || at > m_visible.end)
            continue;
        p.setPen(thin);
        p.drawLine(QPointF(scale.toX(at), axis.bottom()),
                   QPointF(scale.toX(at), sent.isEmpty() ? bottom : sent.bottom()));
    }
    if (m_picture.cut == CutPicture::Cut::None)
        return;
    if (trying()) {
        const auto line = [&](int at, const QPen &pen) {
            if (at < m_visible.begin || at > m_visible.end)
                return;
            p.setPen(pen);
            p.drawLine(QPointF(scale.toX(at), axis.bottom()), QPointF(scale.toX(at), bottom));
        };
        QPen dotted(c.text, 1.6, Qt::CustomDashLine, Qt::FlatCap);
        dotted.setDashPattern({1.6, 1.6});
        if (m_picture.planCut && m_picture.planCut != m_picture.whatIf)
            line(*m_picture.planCut, dotted);
        const bool legal = m_picture.cuts && m_picture.cuts->legalAt(*m_picture.whatIf) >= 0;
        QPen solid(c.text, 2.4);
        if (!legal) {
            solid = QPen(c.text, 1.8, Qt::CustomDashLine, Qt::FlatCap);
            solid.setDashPattern({3.2, 2});
        }
        line(*m_picture.whatIf, solid);
        return;
    }
    if (m_picture.requested && m_picture.requested != m_picture.aligned) {
        QPen dash(c.text, 2, Qt::CustomDashLine, Qt::FlatCap);
        dash.setDashPattern({2.6, 1.6});
        p.setPen(dash);
        p.drawLine(QPointF(scale.toX(*m_picture.requested), axis.bottom()),
                   QPointF(scale.toX(*m_picture.requested), bottom));
    }
    if (m_picture.aligned) {
        const qreal x = scale.toX(*m_picture.aligned);
        p.setPen(QPen(c.text, 2.4));
        p.drawLine(QPointF(x, axis.bottom()), QPointF(x, bottom));
        p.setPen(Qt::NoPen);
        p.setBrush(c.text);
        p.drawPolygon(
            QPolygonF({QPointF(x - 5, axis.bottom()), QPointF(x + 5, axis.bottom()), QPointF(x, axis.bottom() + 7)}));
    }
}

void TimelineView::paintHandle(QPainter &p, const SemanticColors &c) const
{
    const QPointF at = handlePoint();
    if (at.isNull())
        return;
    const QRectF grip(at.x() - 5, m_lanes[0].top() + 3, 10, m_lanes[0].height() - 8);
    p.setPen(QPen(c.text, 1.4));
    p.setBrush(c.base);
    p.drawRoundedRect(grip, 2.5, 2.5);
    p.setPen(QPen(c.text, 1));
    for (const qreal dx : {-1.6, 1.6})
        p.drawLine(QPointF(at.x() + dx, grip.top() + 4), QPointF(at.x() + dx, grip.bottom() - 4));
    p.setPen(Qt::NoPen);
    p.setBrush(c.text);
    p.drawPolygon(QPolygonF({QPointF(at.x() - 5, m_lanes[0].bottom() - 1), QPointF(at.x() + 5, m_lanes[0].bottom() - 1),
                             QPointF(at.x(), m_lanes[0].bottom() + 6)}));
}

void TimelineView::paintSelection(QPainter &p, const SemanticColors &c) const
{
    const TokenScale scale = tokenScale();
    const QRectF axis = m_lanes[0];
    const QColor highlight = palette().color(QPalette::Highlight);
    const QRectF episodes = m_lanes[static_cast<int>(Lane::Episodes)];
    if (const int row = tableCurrentRow(); row >= 0 && !episodes.isEmpty()) {
        const qreal inset = (episodes.height() - std::min<qreal>(28, episodes.height() - 8)) / 2 - 2;
        QRectF rect = rangeRect(scale, m_index.at(row).range, episodes, inset);
        if (rect.width() < 3)
            rect.setWidth(3);
        if (rect.right() >= episodes.left() && rect.left() <= episodes.right()) {
            p.setPen(QPen(highlight, 2.4));
            p.setBrush(Qt::NoBrush);
            p.drawRect(rect.adjusted(-1, 0, 0, 0));
        }
    }
    if (const auto range = m_selection->range(); range && range->size() > 0) {
        QColor fill = highlight;
        fill.setAlphaF(0.18f);
        const QRectF band =
            rangeRect(scale, *range, QRectF(axis.left(), axis.bottom(), axis.width(), viewport()->height()), 0);
        p.fillRect(band, fill);
        p.setPen(QPen(highlight, 1.4));
        p.drawLine(band.topLeft(), band.bottomLeft());
        p.drawLine(band.topRight(), band.bottomRight());
        const int first = m_index.indexAt(range->begin);
        const int last = m_index.indexAt(range->end - 1);
        QString text = tr("%1 – %2: %3 tokens").arg(number(range->begin), number(range->end), number(range->size()));
        if (first >= 0 && last >= first)
            text = tr("%1, %n episode(s)", nullptr, last - first + 1).arg(text);
        if (m_picture.cuts) {
            if (const auto ms = m_picture.cuts->ms(range->begin, range->end))
                text = tr("%1, ~%2 to prefill").arg(text, shortMilliseconds(*ms));
        }
        QFont bold = font();
        bold.setBold(true);
        p.setFont(bold);
        const QFontMetricsF metrics(bold);
        QRectF plate(band.center().x() - metrics.horizontalAdvance(text) / 2 - 6,
                     episodes.isEmpty() ? axis.bottom() + 4 : episodes.bottom() - 6,
                     metrics.horizontalAdvance(text) + 12, metrics.height() + 4);
        plate.moveLeft(std::clamp(plate.left(), axis.left(), std::max(axis.left(), axis.right() - plate.width())));
        p.setPen(QPen(highlight, 1));
        p.setBrush(c.base);
        p.drawRoundedRect(plate, 3, 3);
        p.setPen(c.text);
        p.drawText(plate, Qt::AlignCenter, text);
    }
    const auto line = [&](int at, const QColor &color, qreal width) {
        if (at >= m_visible.begin && at <= m_visible.end) {
            p.setPen(QPen(color, width));
            p.drawLine(QPointF(scale.toX(at + 0.5), axis.bottom()), QPointF(scale.toX(at + 0.5), viewport()->height()));
        }
    };
    if (const auto token = m_selection->token(); token && !m_selection->checkpoint())
        line(*token, highlight, 1.4);
    if (const auto token = m_selection->hoverToken())
        line(*token, mixed(c.text, c.base, 0.55), 1);
}

void TimelineView::paintStrip(QPainter &p, const SemanticColors &c)
{
    const QRectF lane = m_lanes[kLaneCount - 1];
    if (lane.isEmpty())
        return;
    p.fillRect(QRectF(0, lane.top(), viewport()->width(), lane.height()), c.base);
    p.fillRect(QRectF(0, lane.top(), lane.left() - 8, lane.height()), mixed(c.text, c.base, 0.035));
    p.setPen(QPen(mixed(c.axis, c.base, 0.7), 1));
    p.drawLine(QPointF(0, lane.top() + 0.5), QPointF(viewport()->width(), lane.top() + 0.5));
    QFont bold = font();
    bold.setBold(true);
    QFont small = font();
    small.setPointSizeF(std::max(8.0, small.pointSizeF() - 1));
    const QFontMetricsF boldMetrics(bold);
    p.setFont(bold);
    p.setPen(c.text);
    p.drawText(QRectF(8, lane.top() + 3, lane.left() - 16, boldMetrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
               laneTitle(Lane::Strip));
    p.setFont(small);
    p.setPen(c.dimText);
    const QString count = tr("%n episode(s)", nullptr, m_session.count());
    p.drawText(QRectF(8, lane.top() + 3 + boldMetrics.height(), lane.left() - 16, QFontMetricsF(small).height()),
               Qt::AlignLeft | Qt::AlignVCenter,
               QFontMetricsF(small).elidedText(count, Qt::ElideRight, lane.left() - 16));
    if (m_session.count() == 0)
        return;
    const QRectF bar = lane.adjusted(0, 8, 0, -8);
    const qreal ratio = devicePixelRatioF();
    const QSize pixels(qCeil(bar.width() * ratio), qCeil(bar.height() * ratio));
    if (m_stripDirty || m_stripPixmap.size() != pixels) {
        m_stripPixmap = QPixmap(pixels);
        m_stripPixmap.setDevicePixelRatio(ratio);
        m_stripPixmap.fill(mixed(c.text, c.base, 0.05));
        QPainter s(&m_stripPixmap);
        const qreal perToken = bar.width() / static_cast<qreal>(std::max<qint64>(1, m_session.total()));
        int i = 0;
        while (i < m_session.count()) {
            const qreal x0 = static_cast<qreal>(m_session.beginOf(i)) * perToken;
            qreal x1 = static_cast<qreal>(m_session.beginOf(i + 1)) * perToken;
            int last = i;
            if (x1 - x0 < 2) {
                last = std::max(i, m_session.indexAt(static_cast<qint64>((x0 + 2) / perToken)));
                x1 = static_cast<qreal>(m_session.beginOf(last + 1)) * perToken;
            }
            const SessionIndex::Column column = m_session.column(i, last);
            // What has left the prompt is pale and half as high.
            const qreal h = bar.height() * (0.5 + 0.5 * column.inPrompt);
            s.fillRect(QRectF(x0, bar.height() - h, std::max<qreal>(1, x1 - x0 - (x1 - x0 > 3 ? 1 : 0)), h),
                       mixed(c.role(column.largest), c.base, 0.38 + 0.55 * column.inPrompt));
            i = last + 1;
        }
        m_stripDirty = false;
    }
    p.drawPixmap(bar.topLeft(), m_stripPixmap);
    // Frame: the part of the session that the lanes show.
    const int first =
        m_index.count() > 0 ? std::min(m_index.firstEndingAfter(m_visible.begin), m_index.count() - 1) : -1;
    const int last =
        m_index.count() > 0 ? std::min(m_index.firstEndingAfter(m_visible.end - 1), m_index.count() - 1) : -1;
    const auto seqNear = [this](int index, int step) {
        while (index >= 0 && index < m_index.count() && m_index.at(index).seq <= 0)
            index += step;
        return index >= 0 && index < m_index.count() ? m_index.at(index).seq : -1;
    };
    const int from = m_session.indexOfSeq(seqNear(first, 1));
    const int to = m_session.indexOfSeq(seqNear(last, -1));
    if (from >= 0 && to >= from) {
        const qreal perToken = bar.width() / static_cast<qreal>(std::max<qint64>(1, m_session.total()));
        const QRectF frame(bar.left() + static_cast<qreal>(m_session.beginOf(from)) * perToken, bar.top() - 4,
                           static_cast<qreal>(m_session.beginOf(to + 1) - m_session.beginOf(from)) * perToken,
                           bar.height() + 8);
        p.setPen(QPen(c.focus, 2));
        p.setBrush(Qt::NoBrush);
        p.drawRoundedRect(frame.adjusted(-1, 0, 1, 0), 2, 2);
    }
}

// ---- pointing ---------------------------------------------------------------------------------------------

TimelineView::Hit TimelineView::hitTest(QPointF point) const
{
    Hit hit;
    for (int i = kLaneCount - 1; i >= 0; --i) { // the strip and the ruler lie over the lanes that scroll
        const int order = i == kLaneCount - 1 ? kLaneCount - 1 : (i == kLaneCount - 2 ? 0 : kLaneCount - 2 - i);
        const QRectF rect = m_lanes[order];
        if (!rect.isEmpty() && point.y() >= rect.top() && point.y() < rect.bottom()) {
            hit.lane = static_cast<Lane>(order);
            break;
        }
    }
    const TokenScale scale = tokenScale();
    if (!hit.lane || point.x() < scale.area.left() || point.x() > scale.area.right())
        return hit;
    if (*hit.lane == Lane::Strip)
        return hit;
    hit.position = std::clamp(scale.toPosition(point.x()), 0, axisTotal());
    const int block = m_index.indexAt(hit.position);
    if (block >= 0) {
        hit.firstBlock = hit.lastBlock = block;
        if (m_index.at(block).range.size() * scale.pixelsPerToken() < kMergePixels) {
            const qreal column =
                scale.area.left() + qFloor((point.x() - scale.area.left()) / kMergePixels) * kMergePixels;
            hit.firstBlock =
                std::max(0, std::min(m_index.firstEndingAfter(scale.toPosition(column)), m_index.count() - 1));
            hit.lastBlock = std::max(
                hit.firstBlock,
                std::min(m_index.firstEndingAfter(scale.toPosition(column + kMergePixels) - 1), m_index.count() - 1));
        }
    }
    const auto nearest = [&](const auto &list, auto &&positionOf) {
        const int reach = qCeil(8 / std::max<qreal>(1e-9, scale.pixelsPerToken()));
        auto it = std::lower_bound(list.begin(), list.end(), hit.position - reach,
                                   [&](const auto &item, int at) { return positionOf(item) < at; });
        int best = -1;
        int distance = reach + 1;
        for (; it != list.end() && positionOf(*it) <= hit.position + reach; ++it) {
            if (std::abs(positionOf(*it) - hit.position) < distance) {
                distance = std::abs(positionOf(*it) - hit.position);
                best = static_cast<int>(it - list.begin());
            }
        }
        return best;
    };
    if (*hit.lane == Lane::Checkpoints)
        hit.checkpoint =
            nearest(m_picture.checkpoints, [](const CheckpointMark &mark) { return mark.checkpoint.position; });
    if (const QPointF handle = handlePoint(); !handle.isNull() && std::abs(point.x() - handle.x()) <= 8
        && (*hit.lane == Lane::Ruler || *hit.lane == Lane::CutRuler))
        hit.handle = true;
    if (*hit.lane == Lane::CutRuler)
        hit.legal = cutRuler().legalNear(point);
    if (*hit.lane == Lane::CutRuler && m_cutRuler.isEmpty())
        hit.alternative =
            nearest(m_picture.alternatives, [](const AlternativeValue &alternative) { return alternative.cut; });
    return hit;
}

QString TimelineView::tooltipAt(QPointF point) const
{
    const Hit hit = hitTest(point);
    if (!hit.lane || hit.position < 0)
        return {};
    const bool exact = !m_picture.estimated();
    if (hit.checkpoint >= 0)
        return describeCheckpoint(m_picture.checkpoints.at(hit.checkpoint), m_picture);
    if (*hit.lane == Lane::Checkpoints)
        return tr("No checkpoint here.");
    if (*hit.lane == Lane::CutRuler && !m_cutRuler.isEmpty()) {
        const CutReport &report = *m_cutRuler.report();
        const int at = hit.legal >= 0 ? report.legal.at(hit.legal).cut : hit.position;
        const std::optional<CutValue> value = report.at(at);
        if (!value)
            return at < report.curve.constFirst().begin ? tr("The head: no cut is possible here.")
                                                        : tr("Nothing is left to evict here.");
        QString text = hit.legal >= 0 ? tr("Legal cut at %1").arg(number(at, exact))
                                      : tr("A cut at %1, which is no message edge").arg(number(at, exact));
        text = tr("%1: %2.").arg(text, cutCostText(report, *value));
        text = tr("%1\n%2 reused, ~%3 prefilled, ~%4 left. Predicted; sizes are sums over messages.")
                   .arg(text,
                        !value->claimable && value->high > value->low
                            ? tr("%1 to %2").arg(number(value->low), number(value->high, exact))
                            : number(report.claimed(*value), exact),
                        number(report.prefill(*value)), number(value->tokensAfter));
        if (value->checkpoint >= 0)
            text = tr("%1\nNeeds the checkpoint at %2 to stay in the ring.").arg(text, number(value->checkpoint));
        return text;
    }
    if (hit.alternative >= 0) {
        const AlternativeValue &a = m_picture.alternatives.at(hit.alternative);
        QString text = tr("Legal cut at %1: %2").arg(number(a.cut, exact), alternativeText(a));
        if (a.predictedReuse && a.predictedPrefill)
            text = tr("%1, %2 reused, %3 prefilled (predicted)")
                       .arg(text, number(*a.predictedReuse, exact), number(*a.predictedPrefill, exact));
        if (a.tokensAfter)
            text = tr("%1. Window after it: %2.").arg(text, number(*a.tokensAfter, exact));
        return text;
    }
    if (hit.firstBlock >= 0 && hit.lastBlock > hit.firstBlock) {
        const EpisodeIndex::Summary sum = m_index.summary(hit.firstBlock, hit.lastBlock);
        return tr("%n episode(s), %1 tokens", nullptr, sum.episodes).arg(number(sum.tokens, exact));
    }
    if (hit.firstBlock >= 0) {
        const BlockValue &block = m_index.at(hit.firstBlock);
        QString text = block.seq > 0 ? tr("Episode %1, %2").arg(number(block.seq), roleWord(block.role))
                                     : tr("Part of the prompt, %1").arg(roleWord(block.role));
        text = tr("%1: %2 tokens, %3 – %4")
                   .arg(text, number(block.range.size(), exact), number(block.range.begin, exact),
                        number(block.range.end, exact));
        if (block.pinned)
            text = tr("%1. Pinned.").arg(text);
        if (block.tierAfter)
            text = tr("%1. This cut makes it %2.").arg(text, tierWord(*block.tierAfter));
        else if (trying() && isEvicted(block))
            text = tr("%1. This cut would evict it.").arg(text);
        return text;
    }
    return hit.position >= m_picture.promptTokens ? tr("Free.") : tr("Token %1").arg(number(hit.position, exact));
}

void TimelineView::resizeEvent(QResizeEvent *) { layoutLanes(); }

void TimelineView::scrollContentsBy(int, int)
{
    layoutLanes();
    viewport()->update();
}

void TimelineView::wheelEvent(QWheelEvent *event)
{
    const TokenScale scale = tokenScale();
    const int delta = event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x();
    if (event->modifiers() & Qt::ControlModifier) {
        setVisibleRange(
            scale.zoomed(scale.toPosition(event->position().x()), std::pow(1.2, delta / 120.0), axisTotal()));
    } else if ((event->modifiers() & Qt::ShiftModifier) || event->angleDelta().x() != 0) {
        setVisibleRange(scale.panned(-qRound(m_visible.size() * 0.1 * delta / 120.0), axisTotal()), false);
    } else {
        verticalScrollBar()->setValue(verticalScrollBar()->value() - delta / 3);
    }
    event->accept();
}

void TimelineView::moveFrame(qreal x)
{
    const QRectF lane = m_lanes[kLaneCount - 1];
    if (m_session.count() == 0 || lane.width() <= 0)
        return;
    const qint64 at = static_cast<qint64>((x - lane.left()) / lane.width() * static_cast<qreal>(m_session.total()));
    const int index = m_session.indexAt(at);
    // The nearest episode that still stands in the prompt.
    int best = -1;
    for (int distance = 0; distance < m_session.count() && best < 0; ++distance) {
        for (const int candidate : {index + distance, index - distance}) {
            if (candidate >= 0 && candidate < m_session.count()
                && m_index.indexOfSeq(m_session.seqAt(candidate)) >= 0) {
                best = m_index.indexOfSeq(m_session.seqAt(candidate));
                break;
            }
        }
    }
    if (best < 0)
        return;
    const int middle = m_index.at(best).range.begin;
    setVisibleRange(TokenRange{middle - m_visible.size() / 2, middle - m_visible.size() / 2 + m_visible.size()}, false);
}

void TimelineView::mousePressEvent(QMouseEvent *event)
{
    m_press = event->position();
    m_pressButton = event->button();
    m_pressVisible = m_visible;
    m_dragging = false;
    m_pressLane.reset();
    if (event->button() == Qt::LeftButton) {
        if (const auto lane = titleAt(event->position()); lane && *lane != Lane::Flow) {
            m_pressLane = lane;
            return;
        }
    }
    const Hit hit = hitTest(event->position());
    if (event->button() == Qt::LeftButton && trying() && m_whatIf) {
        const CutRuler::Card card = cutRuler().card();
        const int below =
            card.below.contains(event->position()) ? m_cutRuler.report()->legalBelow(*m_picture.whatIf) : -1;
        const int above =
            card.above.contains(event->position()) ? m_cutRuler.report()->legalAbove(*m_picture.whatIf) : -1;
        if (below >= 0 || above >= 0) {
            m_whatIf->moveTo(m_cutRuler.report()->legal.at(below >= 0 ? below : above).cut);
            m_press.reset();
            return;
        }
        if (hit.handle || (hit.position >= 0 && (hit.lane == Lane::CutRuler || hit.lane == Lane::Ruler))) {
            m_draggingCut = true;
            m_whatIf->endDrag();
            if (!hit.handle)
                dragCut(event->position().x(), event->modifiers());
            return;
        }
    }
    if (event->button() == Qt::LeftButton && hit.legal >= 0 && m_whatIf) {
        Q_EMIT whatIfRequested(m_cutRuler.report()->legal.at(hit.legal).cut);
        m_draggingCut = trying();
        return;
    }
    if (event->button() == Qt::LeftButton && hit.lane == Lane::Strip) {
        m_draggingFrame = true;
        moveFrame(event->position().x());
    }
}

void TimelineView::dragCut(qreal x, Qt::KeyboardModifiers modifiers)
{
    const TokenScale scale = tokenScale();
    const int at =
        qRound(scale.visible.begin + (x - scale.area.left()) / std::max<qreal>(1e-9, scale.pixelsPerToken()));
    // Alt is free; otherwise a legal cut within twelve pixels is taken.
    const int reach = modifiers & Qt::AltModifier ? -1 : qFloor(kSnapPixels / scale.pixelsPerToken());
    m_whatIf->moveTo(reach < 0 ? at : m_whatIf->snapped(at, reach), true);
}

void TimelineView::mouseMoveEvent(QMouseEvent *event)
{
    const TokenScale scale = tokenScale();
    if (m_draggingCut && m_whatIf) {
        dragCut(event->position().x(), event->modifiers());
        return;
    }
    if (m_pressLane && m_press) {
        m_dragging = m_dragging || std::abs(event->position().y() - m_press->y()) > QApplication::startDragDistance();
        if (m_dragging) {
            viewport()->setCursor(Qt::ClosedHandCursor);
            dragLane(event->position().y());
        }
        return;
    }
    if (!m_press) {
        const Hit hit = hitTest(event->position());
        viewport()->setCursor(hit.handle           ? Qt::SizeHorCursor
                                  : hit.legal >= 0 ? Qt::PointingHandCursor
                                                   : Qt::ArrowCursor);
        m_selection->setHoverToken(hit.position >= 0 ? std::optional<int>(hit.position) : std::nullopt);
        return;
    }
    if (m_draggingFrame) {
        moveFrame(event->position().x());
        return;
    }
    const QPointF moved = event->position() - *m_press;
    if (m_pressButton == Qt::MiddleButton) {
        const int tokens = qRound(-moved.x() / std::max<qreal>(1e-9, scale.pixelsPerToken()));
        setVisibleRange(
            TokenScale::clamped(TokenRange{m_pressVisible.begin + tokens, m_pressVisible.end + tokens}, axisTotal()),
            false);
        return;
    }
    if (m_pressButton == Qt::LeftButton && (m_dragging || std::abs(moved.x()) > QApplication::startDragDistance())) {
        if (m_press->x() < scale.area.left())
            return;
        m_dragging = true;
        const int a = scale.toPosition(m_press->x());
        const int b = scale.toPosition(event->position().x());
        m_selection->selectRange(
            TokenRange{std::clamp(std::min(a, b), 0, axisTotal()), std::clamp(std::max(a, b) + 1, 0, axisTotal())});
    }
}

void TimelineView::mouseReleaseEvent(QMouseEvent *event)
{
    if (m_pressLane) {
        const Lane lane = *m_pressLane;
        if (!m_dragging && m_press && event->position().x() < 18)
            setLaneCollapsed(lane, !isLaneCollapsed(lane));
        m_pressLane.reset();
        m_press.reset();
        m_dragging = false;
        viewport()->unsetCursor();
        return;
    }
    const bool click =
        m_press && !m_dragging && !m_draggingFrame && !m_draggingCut && event->button() == Qt::LeftButton;
    m_press.reset();
    m_dragging = false;
    if (m_draggingCut && m_whatIf)
        m_whatIf->endDrag();
    m_draggingCut = false;
    m_draggingFrame = false;
    if (!click)
        return;
    const Hit hit = hitTest(event->position());
    if (!hit.lane || hit.position < 0) {
        m_selection->clear();
        return;
    }
    if (hit.checkpoint >= 0) {
        m_selection->selectCheckpoint(m_picture.checkpoints.at(hit.checkpoint).checkpoint.position);
        return;
    }
    if (hit.firstBlock >= 0) {
        const BlockValue &block = m_index.at(hit.firstBlock);
        const int current = tableCurrentRow();
        if ((event->modifiers() & (Qt::ShiftModifier | Qt::ControlModifier)) && current >= 0) {
            const TokenRange have = m_selection->range().value_or(m_index.at(current).range);
            m_selection->selectRange(
                TokenRange{std::min(have.begin, block.range.begin), std::max(have.end, block.range.end)});
            return;
        }
        if (block.seq > 0) {
            m_selection->selectEpisode(block.seq, hit.position);
            return;
        }
    }
    if (hit.position < m_picture.promptTokens)
        m_selection->selectToken(hit.position);
    else
        m_selection->clear();
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent *event)
{
    if (const auto lane = titleAt(event->position()); lane && *lane != Lane::Flow) {
        setLaneCollapsed(*lane, !isLaneCollapsed(*lane));
        return;
    }
    const Hit hit = hitTest(event->position());
    if (hit.firstBlock >= 0 && event->button() == Qt::LeftButton) {
        const TokenRange range = m_index.at(hit.firstBlock).range;
        const int margin = std::max(4, range.size() / 2);
        setVisibleRange(TokenRange{range.begin - margin, range.end + margin});
    }
}

void TimelineView::stepEpisode(int step, bool extend)
{
    if (m_index.count() == 0)
        return;
    const int current = tableCurrentRow();
    int row = current < 0 ? (step > 0 ? 0 : m_index.count() - 1) : std::clamp(current + step, 0, m_index.count() - 1);
    while (row >= 0 && row < m_index.count() && m_index.at(row).seq <= 0)
        row += step > 0 ? 1 : -1;
    if (row < 0 || row >= m_index.count())
        return;
    const BlockValue &block = m_index.at(row);
    const std::optional<TokenRange> before = m_selection->range() ? m_selection->range()
        : current >= 0                                            ? std::optional<TokenRange>(m_index.at(current).range)
                                                                  : std::nullopt;
    m_selection->selectEpisode(block.seq);
    if (extend && before)
        m_selection->selectRange(
            TokenRange{std::min(before->begin, block.range.begin), std::max(before->end, block.range.end)});
    if (block.range.begin < m_visible.begin || block.range.end > m_visible.end) {
        const int middle = (block.range.begin + block.range.end) / 2;
        setVisibleRange(TokenRange{middle - m_visible.size() / 2, middle - m_visible.size() / 2 + m_visible.size()},
                        false);
    }
}

bool TimelineView::cutKey(QKeyEvent *event)
{
    if (!m_whatIf || !m_whatIf->isActive())
        return false;
    const Qt::KeyboardModifiers mods = event->modifiers() & ~Qt::KeypadModifier;
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right: {
        const int step = event->key() == Qt::Key_Right ? 1 : -1;
        if (mods == Qt::ControlModifier)
            m_whatIf->stepLegal(step);
        else if (mods == Qt::AltModifier)
            m_whatIf->stepCheckpoint(step);
        else if (mods == Qt::NoModifier)
            m_whatIf->stepTokens(step);
        else
            return false;
        break;
    }
    case Qt::Key_Home:
    case Qt::Key_End:
        if (mods != Qt::NoModifier)
            return false;
        m_whatIf->toEnd(event->key() == Qt::Key_End);
        break;
    case Qt::Key_BracketLeft:
    case Qt::Key_BracketRight:
        if (mods != Qt::NoModifier)
            return false;
        m_whatIf->stepCost(event->key() == Qt::Key_BracketRight);
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (mods != Qt::NoModifier)
            return false;
        Q_EMIT useCutRequested();
        return true;
    case Qt::Key_Escape:
        m_whatIf->leave();
        return true;
    default:
        return false;
    }
    // The cut never leaves the view.
    if (const int at = m_whatIf->position(); at >= 0 && (at < m_visible.begin || at > m_visible.end)) {
        const int size = m_visible.size();
        setVisibleRange(TokenRange{at - size / 2, at - size / 2 + size}, false);
    }
    return true;
}

void TimelineView::keyPressEvent(QKeyEvent *event)
{
    if (cutKey(event))
        return;
    const bool extend = event->modifiers() & Qt::ShiftModifier;
    const TokenScale scale = tokenScale();
    switch (event->key()) {
    case Qt::Key_A:
        setVisibleRange(scale.panned(-m_visible.size() / 8, axisTotal()), false);
        return;
    case Qt::Key_D:
        setVisibleRange(scale.panned(m_visible.size() / 8, axisTotal()), false);
        return;
    case Qt::Key_Left:
        stepEpisode(-1, extend);
        return;
    case Qt::Key_Right:
        stepEpisode(1, extend);
        return;
    case Qt::Key_Home:
        if (m_index.count() > 0) {
            m_selection->clear();
            stepEpisode(1, false);
        }
        return;
    case Qt::Key_End:
        if (m_index.count() > 0) {
            m_selection->clear();
            stepEpisode(-1, false);
        }
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (const auto seq = m_selection->episodeSeq()) {
            Q_EMIT textRequested(*seq);
            return;
        }
        break;
    case Qt::Key_Escape:
        m_selection->clear();
        return;
    default:
        break;
    }
    QAbstractScrollArea::keyPressEvent(event);
}

void TimelineView::contextMenuEvent(QContextMenuEvent *event)
{
    const Hit hit = hitTest(event->pos());
    QMenu menu(this);
    if (hit.firstBlock >= 0 && hit.firstBlock == hit.lastBlock && m_index.at(hit.firstBlock).seq > 0) {
        const BlockValue block = m_index.at(hit.firstBlock);
        m_selection->selectEpisode(block.seq, hit.position);
        menu.addAction(tr("Show text"), this, [this, block] { Q_EMIT textRequested(block.seq); });
        menu.addAction(m_pin);
        QAction *cutHere = menu.addAction(tr("Cut here (what-if)"), this,
                                          [this, block] { Q_EMIT whatIfRequested(block.range.begin); });
        cutHere->setEnabled(m_whatIf && m_whatIf->whyNotStart().isEmpty());
        menu.addAction(isEvicted(block) ? tr("Why is it evicted?") : tr("Why is it kept?"), this,
                       [this, block, at = event->globalPos()] {
                           const QString why = whyOf(block);
                           QToolTip::showText(at, why, viewport());
                           Q_EMIT explained(why);
                       });
        menu.addAction(m_zoomSelection);
        menu.addSeparator();
    }
    menu.addAction(tr("Copy as text"), this, [this] { QApplication::clipboard()->setText(tableAsText(*this)); });
    menu.addSeparator();
    menu.addActions({m_zoomIn, m_zoomOut, m_fit, m_zoomBack});
    QMenu *lanes = menu.addMenu(tr("Lanes"));
    lanes->addActions(m_laneActions);
    menu.exec(event->globalPos());
}

void TimelineView::focusInEvent(QFocusEvent *event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void TimelineView::focusOutEvent(QFocusEvent *event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

void TimelineView::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        m_stripDirty = true;
        layoutLanes();
        viewport()->update();
    }
    QAbstractScrollArea::changeEvent(event);
}

bool TimelineView::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *help = static_cast<QHelpEvent *>(event);
        QToolTip::showText(help->globalPos(), tooltipAt(help->pos()), viewport());
        return true;
    }
    if (event->type() == QEvent::Leave)
        m_selection->setHoverToken(std::nullopt);
    return QAbstractScrollArea::viewportEvent(event);
}

// ---- as a table -------------------------------------------------------------------------------------------

QString TimelineView::tableDescription() const
{
    if (m_picture.ring == CutPicture::Ring::NoSession)
        return tr("Timeline, no session open");
    QString text = tr("Timeline, %n episode(s) in the prompt", nullptr, m_index.count());
    text = tr("%1, %2 tokens").arg(text, number(m_picture.promptTokens, !m_picture.estimated()));
    if (trying() && m_whatIf)
        return tr("%1. %2").arg(text, m_whatIf->sentence());
    if (m_picture.aligned && m_picture.cut != CutPicture::Cut::None)
        text = tr("%1, cut at %2").arg(text, number(*m_picture.aligned, !m_picture.estimated()));
    return text;
}

QString TimelineView::tableHeader(int column) const
{
    switch (column) {
    case 0:
        return tr("Episode");
    case 1:
        return tr("Role");
    case 2:
        return tr("Begin");
    case 3:
        return tr("End");
    case 4:
        return tr("Tokens");
    case 5:
        return tr("Tier");
    default:
        return {};
    }
}

QString TimelineView::tableCell(int row, int column) const
{
    if (row < 0 || row >= m_index.count())
        return {};
    const BlockValue &block = m_index.at(row);
    const bool exact = !m_picture.estimated();
    switch (column) {
    case 0:
        return block.seq > 0 ? number(block.seq) : tr("not an episode");
    case 1:
        return roleWord(block.role);
    case 2:
        return number(block.range.begin, exact);
    case 3:
        return number(block.range.end, exact);
    case 4:
        return number(block.range.size(), exact);
    case 5:
        return block.tierAfter ? tr("%1, then %2").arg(tierWord(block.tier), tierWord(*block.tierAfter))
                               : tierWord(block.tier);
    default:
        return {};
    }
}

int TimelineView::tableCurrentRow() const
{
    const auto seq = m_selection->episodeSeq();
    return seq ? m_index.indexOfSeq(*seq) : -1;
}

void TimelineView::tableSelectRow(int row)
{
    if (row >= 0 && row < m_index.count() && m_index.at(row).seq > 0)
        m_selection->selectEpisode(m_index.at(row).seq);
}

} // namespace kerf
