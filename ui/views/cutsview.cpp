// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/cutsview.h"

#include "ui/theme/patterns.h"
#include "ui/theme/semanticcolors.h"
#include "ui/viewmodel/numbers.h"

#include <QComboBox>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace kerf {

namespace {

double niceStep(double range, int most)
{
    const double raw = range / std::max(1, most);
    if (raw <= 0)
        return 1;
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 2.5, 5.0, 10.0}) {
        if (power * factor >= raw)
            return power * factor;
    }
    return power * 10;
}

} // namespace

CutsView::CutsView(WhatIf *whatIf, QWidget *parent)
    : QWidget(parent)
    , m_whatIf(whatIf)
    , m_axisBox(new QComboBox(this))
{
    installTableAccess();
    setObjectName(QStringLiteral("cutsView"));
    setAccessibleName(tr("Cuts"));
    setWhatsThis(tr("Every legal cut as a point: how large the prompt would be after it, and what the next request "
                    "would then have to compute. No other cut beats those on the joined line in both."));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    m_axisBox->setObjectName(QStringLiteral("cutsAxis"));
    m_axisBox->setAccessibleName(tr("Across"));
    m_axisBox->setToolTip(tr("What is drawn across"));
    m_axisBox->addItem(tr("window after the cut"));
    m_axisBox->addItem(tr("recent context kept"));
    m_axisBox->addItem(tr("tokens reclaimed"));
    connect(m_axisBox, &QComboBox::currentIndexChanged, this, [this](int index) { setAxis(static_cast<Axis>(index)); });
}

void CutsView::setReport(std::shared_ptr<const CutReport> report)
{
    if (report == m_report)
        return;
    const QString before = tableDescription();
    m_report = std::move(report);
    m_current = -1;
    rebuild();
    if (tableDescription() != before)
        announceTable(this);
}

void CutsView::setMarks(std::optional<int> whatIf, std::optional<int> planCut)
{
    m_trial = whatIf;
    m_planCut = planCut;
    update();
}

void CutsView::setAxis(Axis axis)
{
    m_axis = axis;
    m_axisBox->setCurrentIndex(static_cast<int>(axis));
    rebuild();
}

double CutsView::xOf(const LegalCut &row) const
{
    switch (m_axis) {
    case Axis::Window:
        return row.tokensAfter;
    case Axis::RecentKept:
        return row.recentKept;
    case Axis::Reclaimed:
        return row.reclaimedTokens;
    }
    return 0;
}

double CutsView::yOf(const CutValue &value) const
{
    const bool range = !value.claimable && value.high > value.low;
    const int reused = range ? value.low : m_report->claimed(value);
    return m_report->ms(reused, value.tokensAfter).value_or(value.tokensAfter - reused);
}

void CutsView::rebuild()
{
    m_order.clear();
    m_frontier.clear();
    if (m_report && !m_report->legal.isEmpty()) {
        for (int i = 0; i < m_report->legal.size(); ++i)
            m_order.append(i);
        const auto value = [this](int i) {
            return std::pair(xOf(m_report->legal.at(i)), -yOf(m_report->legal.at(i).value));
        };
        std::stable_sort(m_order.begin(), m_order.end(), [&](int a, int b) { return value(a) < value(b); });
        // More is better across, less is better upwards: from the right, each that is cheaper than all before it.
        double least = 1e300;
        for (qsizetype k = m_order.size() - 1; k >= 0; --k) {
            const double cost = -value(m_order.at(k)).second;
            if (cost < least - 1e-9) {
                least = cost;
                m_frontier.prepend(m_order.at(k));
            }
        }
        double yMost = 0;
        double yLeast = 1e300;
        m_xFrom = value(m_order.constFirst()).first;
        m_xTo = value(m_order.constLast()).first;
        for (const int i : std::as_const(m_order)) {
            yMost = std::max(yMost, yOf(m_report->legal.at(i).value));
            yLeast = std::min(yLeast, yOf(m_report->legal.at(i).value));
        }
        if (m_axis == Axis::Window) {
            m_xFrom = std::min<double>(m_xFrom, m_report->target);
            m_xTo = std::max<double>(m_xTo, m_report->target);
        }
        const double pad = std::max(8.0, (m_xTo - m_xFrom) * 0.08);
        m_xFrom = std::max(0.0, m_xFrom - pad);
        m_xTo += pad;
        // From zero, unless the points then all stand in one narrow band; that is said in words.
        m_yFrom = 0;
        if (yLeast > 0.55 * yMost) {
            const double step = niceStep(std::max(yMost - yLeast, yMost * 0.05), 4);
            m_yFrom = std::max(0.0, std::floor((yLeast - (yMost - yLeast) * 0.25) / step) * step);
        }
        m_yTo = std::max(m_yFrom + 1, yMost + (yMost - m_yFrom) * 0.12);
    }
    update();
}

QRectF CutsView::plot() const
{
    const QFontMetricsF metrics(font());
    const qreal left = metrics.horizontalAdvance(QStringLiteral("000,000")) + 14;
    const qreal top = std::max<qreal>(m_axisBox->sizeHint().height() + 8, metrics.height() * 1.6);
    return QRectF(left, top, std::max<qreal>(20, width() - left - 18),
                  std::max<qreal>(20, height() - top - metrics.height() * 2.5));
}

QPointF CutsView::toPoint(double x, double y) const
{
    const QRectF area = plot();
    return {area.left() + (x - m_xFrom) / std::max(1e-9, m_xTo - m_xFrom) * area.width(),
            area.bottom() - (y - m_yFrom) / std::max(1e-9, m_yTo - m_yFrom) * area.height()};
}

QPointF CutsView::pointOf(int legal) const
{
    const LegalCut &row = m_report->legal.at(legal);
    return toPoint(xOf(row), yOf(row.value));
}

void CutsView::paintEvent(QPaintEvent *)
{
    const SemanticColors c = SemanticColors::of(palette());
    QPainter p(this);
    p.fillRect(rect(), c.base);
    const QFontMetricsF metrics(font());
    QFont bold = font();
    bold.setBold(true);
    QFont small = font();
    small.setPointSizeF(std::max(8.0, small.pointSizeF() - 1));
    const QFontMetricsF smallMetrics(small);
    const QFontMetricsF boldMetrics(bold);
    const QRectF area = plot();
    if (!m_report || m_report->legal.isEmpty()) {
        p.setPen(c.dimText);
        p.drawText(rect().adjusted(16, 0, -16, 0), Qt::AlignCenter | Qt::TextWordWrap,
                   m_report ? tr("There is no legal cut: everything is pinned, recent or part of the head.")
                            : tr("No cut is known yet. Open a session."));
        return;
    }
    if (m_report->simulated)
        fillSimulated(p, area, c);
    const bool time = m_report->cost.known();
    QString what = time ? tr("predicted prefill, ms") : tr("predicted prefill, tokens");
    if (m_report->isRange())
        what = tr("%1 (worst case)").arg(what);
    if (m_yFrom > 0)
        what = tr("%1 (axis starts at %2)").arg(what, number(qRound64(m_yFrom)));
    p.setFont(small);
    p.setPen(c.dimText);
    p.drawText(QRectF(8, 0, m_axisBox->x() - 14, area.top() - 4), Qt::AlignLeft | Qt::AlignVCenter,
               smallMetrics.elidedText(what, Qt::ElideRight, m_axisBox->x() - 22));
    // Over the target: shaded, and said.
    if (m_axis == Axis::Window && m_report->target > 0) {
        const qreal x = std::clamp(toPoint(m_report->target, m_yFrom).x(), area.left(), area.right());
        p.fillRect(QRectF(x, area.top(), area.right() - x, area.height()),
                   mixed(c.warning, c.base, c.dark ? 0.20 : 0.11));
        QPen dash(c.dimText, 1.2, Qt::CustomDashLine);
        dash.setDashPattern({4, 3});
        p.setPen(dash);
        p.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
        const QString meets = tr("meets target");
        const QString over = tr("over target");
        const qreal y = area.bottom() - smallMetrics.height() - 2;
        if (x - area.left() > smallMetrics.horizontalAdvance(meets) + 10) {
            p.setPen(c.dimText);
            p.drawText(QRectF(area.left(), y, x - area.left() - 6, smallMetrics.height()),
                       Qt::AlignRight | Qt::AlignVCenter, meets);
        }
        if (area.right() - x > smallMetrics.horizontalAdvance(over) + 10) {
            p.setPen(c.warning);
            p.drawText(QRectF(x + 6, y, area.right() - x, smallMetrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
                       over);
        }
    }
    // Axes.
    const double xStep = niceStep(m_xTo - m_xFrom, std::max(2, static_cast<int>(area.width() / 90)));
    const double yStep = niceStep(m_yTo - m_yFrom, std::max(2, static_cast<int>(area.height() / 44)));
    p.setFont(small);
    for (double y = std::ceil(m_yFrom / yStep) * yStep; y <= m_yTo + 1e-9; y += yStep) {
        const qreal at = toPoint(m_xFrom, y).y();
        p.setPen(QPen(mixed(c.axis, c.base, 0.35), 0));
        p.drawLine(QPointF(area.left(), at), QPointF(area.right(), at));
        p.setPen(c.dimText);
        p.drawText(QRectF(0, at - smallMetrics.height() / 2, area.left() - 6, smallMetrics.height()),
                   Qt::AlignRight | Qt::AlignVCenter,
                   time && yStep >= 1000 ? shortMilliseconds(y) : number(qRound64(y)));
    }
    for (double x = std::ceil(m_xFrom / xStep) * xStep; x <= m_xTo + 1e-9; x += xStep) {
        const qreal at = toPoint(x, m_yFrom).x();
        p.setPen(QPen(mixed(c.axis, c.base, 0.35), 0));
        p.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
        p.setPen(c.dimText);
        p.drawText(QRectF(at - 50, area.bottom() + 2, 100, smallMetrics.height()), Qt::AlignHCenter | Qt::AlignTop,
                   number(qRound64(x)));
    }
    p.setPen(QPen(c.axis, 1));
    p.drawLine(area.bottomLeft(), area.bottomRight());
    p.drawLine(area.bottomLeft(), area.topLeft());
    p.setPen(c.dimText);
    p.drawText(QRectF(area.left(), area.bottom() + smallMetrics.height() + 2, area.width(), smallMetrics.height()),
               Qt::AlignRight | Qt::AlignVCenter, tr("%1, tokens").arg(m_axisBox->currentText()));

    p.setRenderHint(QPainter::Antialiasing);
    const auto exact = m_report->exact && !m_report->simulated;
    // Frontier.
    if (m_frontier.size() > 1) {
        QPolygonF line;
        for (const int i : std::as_const(m_frontier))
            line.append(pointOf(i));
        p.setPen(QPen(c.reused, 2));
        p.setBrush(Qt::NoBrush);
        p.drawPolyline(line);
    }
    QList<QRectF> taken;
    const auto label = [&](const QPointF &at, const QString &text, const QFont &own, const QColor &ink) {
        const QFontMetricsF m(own);
        const QSizeF size(m.horizontalAdvance(text) + 2, m.height());
        for (const QPointF &corner :
             {QPointF(at.x() - size.width() / 2, at.y() - size.height() - 6),
              QPointF(at.x() - size.width() / 2, at.y() + 7), QPointF(at.x() + 9, at.y() - size.height() / 2),
              QPointF(at.x() - 9 - size.width(), at.y() - size.height() / 2)}) {
            const QRectF box(corner, size);
            if (box.left() < area.left() || box.right() > width() - 2 || box.top() < area.top() - 2
                || box.bottom() > area.bottom())
                continue;
            if (std::any_of(taken.cbegin(), taken.cend(), [&](const QRectF &other) { return other.intersects(box); }))
                continue;
            taken.append(box);
            p.setFont(own);
            p.setPen(ink);
            p.drawText(box, Qt::AlignCenter, text);
            return;
        }
    };
    // Plan and what-if first: their labels matter most.
    std::optional<QPointF> planPoint;
    std::optional<QPointF> trialPoint;
    const auto valuePoint = [&](int position) -> std::optional<QPointF> {
        if (const int i = m_report->legalAt(position); i >= 0)
            return pointOf(i);
        const auto value = m_report->at(position);
        if (!value || m_axis != Axis::Window)
            return std::nullopt;
        return toPoint(value->tokensAfter, yOf(*value));
    };
    if (m_planCut)
        planPoint = valuePoint(*m_planCut);
    if (m_trial)
        trialPoint = valuePoint(*m_trial);
    if (planPoint && trialPoint && *planPoint != *trialPoint) {
        QPen dotted(c.text, 1.2, Qt::DotLine);
        p.setPen(dotted);
        p.drawLine(*planPoint, *trialPoint);
    }
    const bool many = m_report->legal.size() > 400;
    QPointF last(-1e9, -1e9);
    for (const int i : std::as_const(m_order)) {
        const QPointF at = pointOf(i);
        if (many && std::abs(at.x() - last.x()) < 1.5 && std::abs(at.y() - last.y()) < 1.5)
            continue; // one a place
        last = at;
        const bool best = std::find(m_frontier.cbegin(), m_frontier.cend(), i) != m_frontier.cend();
        p.setPen(QPen(best ? c.reused : c.dimText, 1.4));
        p.setBrush(best ? c.reused : c.base);
        const qreal radius = many ? 2.2 : 4;
        p.drawEllipse(at, radius, radius);
        taken.append(QRectF(at.x() - 5, at.y() - 5, 10, 10));
    }
    const auto mark = [&](const QPointF &at, bool trial) {
        p.setPen(QPen(trial ? c.reused : c.text, trial ? 2 : 1.4));
        p.setBrush(c.text);
        p.drawEllipse(at, trial ? 6.4 : 5, trial ? 6.4 : 5);
    };
    if (planPoint)
        mark(*planPoint, false);
    if (trialPoint)
        mark(*trialPoint, true);
    if (trialPoint && m_trial)
        label(*trialPoint, tr("%1 what-if").arg(number(*m_trial, exact)), bold, c.text);
    if (planPoint && m_planCut && m_planCut != m_trial)
        label(*planPoint, tr("%1 plan").arg(number(*m_planCut, exact)), bold, c.text);
    for (const int i : std::as_const(m_frontier)) {
        const int cut = m_report->legal.at(i).cut;
        if (m_frontier.size() <= 12 && cut != m_trial && cut != m_planCut)
            label(pointOf(i), number(cut, exact), small, c.reused);
    }
    if (m_frontier.size() > 1) {
        const QPointF a = pointOf(m_frontier.constFirst());
        const QPointF b = pointOf(m_frontier.constLast());
        label((a + b) / 2, tr("frontier"), bold, c.reused);
    }
    if (!many) {
        for (const int i : std::as_const(m_order)) {
            const int cut = m_report->legal.at(i).cut;
            if (cut != m_trial && cut != m_planCut
                && std::find(m_frontier.cbegin(), m_frontier.cend(), i) == m_frontier.cend())
                label(pointOf(i), number(cut, exact), small, c.dimText);
        }
    }
    if (hasFocus()) {
        if (m_current >= 0 && m_current < m_report->legal.size()) {
            p.setPen(QPen(c.focus, 2));
            p.setBrush(Qt::NoBrush);
            p.drawEllipse(pointOf(m_current), 9, 9);
        }
        p.setRenderHint(QPainter::Antialiasing, false);
        p.setPen(QPen(c.focus, 2));
        p.setBrush(Qt::NoBrush);
        p.drawRect(rect().adjusted(1, 1, -1, -1));
    }
}

int CutsView::legalAt(QPointF point) const
{
    int best = -1;
    qreal distance = 12;
    for (const int i : m_order) {
        const qreal d = QLineF(pointOf(i), point).length();
        if (d < distance) {
            distance = d;
            best = i;
        }
    }
    return best;
}

QString CutsView::tooltipAt(QPointF point) const
{
    const int i = legalAt(point);
    if (i < 0)
        return m_report && !m_report->legal.isEmpty() ? tr("No legal cut here.") : QString();
    const LegalCut &row = m_report->legal.at(i);
    return tr("Legal cut at %1: %2.\n~%3 left, ~%4 reclaimed, ~%5 kept word for word behind it. Predicted.")
        .arg(number(row.cut), cutCostText(*m_report, row.value), number(row.tokensAfter), number(row.reclaimedTokens),
             number(row.recentKept));
}

void CutsView::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton)
        return;
    if (const int i = legalAt(event->position()); i >= 0) {
        m_current = i;
        Q_EMIT cutRequested(m_report->legal.at(i).cut);
        update();
    }
}

void CutsView::mouseMoveEvent(QMouseEvent *event)
{
    setCursor(legalAt(event->position()) >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void CutsView::step(int by)
{
    if (m_order.isEmpty())
        return;
    const int from = m_current >= 0 ? m_current : (m_trial ? m_report->legalAt(*m_trial) : -1);
    const auto it = std::find(m_order.cbegin(), m_order.cend(), from);
    const int at = it == m_order.cend() ? (by > 0 ? -1 : static_cast<int>(m_order.size()))
                                        : static_cast<int>(it - m_order.cbegin());
    m_current = m_order.at(std::clamp(at + by, 0, static_cast<int>(m_order.size()) - 1));
    update();
    announceTable(this);
}

void CutsView::keyPressEvent(QKeyEvent *event)
{
    switch (event->key()) {
    case Qt::Key_Left:
        step(-1);
        return;
    case Qt::Key_Right:
        step(1);
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
        if (m_current >= 0) {
            Q_EMIT cutRequested(m_report->legal.at(m_current).cut);
            return;
        }
        break;
    case Qt::Key_Escape:
        if (m_whatIf->isActive()) {
            m_whatIf->leave();
            return;
        }
        break;
    default:
        break;
    }
    QWidget::keyPressEvent(event);
}

void CutsView::resizeEvent(QResizeEvent *)
{
    const QSize size = m_axisBox->sizeHint();
    m_axisBox->setGeometry(width() - size.width() - 8, 4, size.width(), size.height());
}

bool CutsView::event(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *help = static_cast<QHelpEvent *>(event);
        QToolTip::showText(help->globalPos(), tooltipAt(help->pos()), this);
        return true;
    }
    return QWidget::event(event);
}

void CutsView::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        update();
    QWidget::changeEvent(event);
}

QString CutsView::tableDescription() const
{
    if (!m_report)
        return tr("Cuts, nothing known yet");
    QString text = tr("Cuts, %1 legal").arg(number(tableRows()));
    if (m_current >= 0 && m_current < m_report->legal.size()) {
        const LegalCut &row = m_report->legal.at(m_current);
        text = tr("%1, at %2: %3").arg(text, number(row.cut), cutCostText(*m_report, row.value));
    }
    return text;
}

QString CutsView::tableHeader(int column) const
{
    switch (column) {
    case 0:
        return tr("Cut");
    case 1:
        return tr("Window");
    case 2:
        return tr("Recent context kept");
    case 3:
        return tr("Tokens reclaimed");
    case 4:
        return tr("Cost");
    default:
        return {};
    }
}

QString CutsView::tableCell(int row, int column) const
{
    if (row < 0 || row >= tableRows())
        return {};
    const LegalCut &cut = m_report->legal.at(row);
    switch (column) {
    case 0:
        return number(cut.cut, m_report->exact && !m_report->simulated);
    case 1:
        return approx(cut.tokensAfter);
    case 2:
        return approx(cut.recentKept);
    case 3:
        return approx(cut.reclaimedTokens);
    case 4:
        return cutCostText(*m_report, cut.value);
    default:
        return {};
    }
}

int CutsView::tableCurrentRow() const { return m_trial && m_report ? m_report->legalAt(*m_trial) : -1; }

void CutsView::tableSelectRow(int row)
{
    if (row >= 0 && row < tableRows())
        Q_EMIT cutRequested(m_report->legal.at(row).cut);
}

} // namespace kerf
