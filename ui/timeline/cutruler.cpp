// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/timeline/cutruler.h"

#include "ui/theme/patterns.h"
#include "ui/viewmodel/numbers.h"
#include "ui/viewmodel/whatif.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace kerf {

namespace {

struct Ruler {
    Q_DECLARE_TR_FUNCTIONS(CutRuler)
};

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

void drawText(QPainter &p, const QRectF &rect, const QString &text, const QColor &ink, const QColor &halo)
{
    // A thin halo keeps a label readable over the line that it stands on.
    QColor soft = halo;
    soft.setAlphaF(0.8F);
    p.fillRect(rect.adjusted(-1, 1, 1, -1), soft);
    p.setPen(ink);
    p.drawText(rect, Qt::AlignCenter, text);
}

} // namespace

void CutRuler::setReport(std::shared_ptr<const CutReport> report)
{
    if (report == m_report)
        return;
    m_report = std::move(report);
    m_cliffs.clear();
    m_top = 1;
    m_range = false;
    if (!m_report)
        return;
    m_cliffs = m_report->cliffs();
    m_range = m_report->isRange();
    double most = 0;
    for (const CutPiece &piece : m_report->curve) {
        most = std::max(most, costOf(piece.at(piece.begin), false));
        most = std::max(most, costOf(piece.at(piece.end - 1), false));
    }
    m_top = std::max(1.0, most * 1.12);
}

void CutRuler::setPlace(const TokenScale &scale, const QRectF &lane, const QFont &font)
{
    m_scale = scale;
    m_lane = lane;
    m_font = font;
}

void CutRuler::setMarks(std::optional<int> whatIf, std::optional<int> planCut, const QString &headline)
{
    m_whatIf = whatIf;
    m_planCut = planCut;
    m_headline = headline;
}

QFont CutRuler::smallFont() const
{
    QFont small = m_font;
    small.setPointSizeF(std::max(8.0, small.pointSizeF() - 1));
    return small;
}

qreal CutRuler::floorY() const { return m_lane.bottom() - QFontMetricsF(smallFont()).height() - 6; }

qreal CutRuler::yOf(double cost) const
{
    const qreal height = floorY() - m_lane.top() - 8;
    return floorY() - height * cost / m_top;
}

double CutRuler::costOf(const CutValue &value, bool best) const
{
    const bool range = !value.claimable && value.high > value.low;
    const int reused = range ? (best ? value.high : value.low) : m_report->claimed(value);
    return m_report->ms(reused, value.tokensAfter).value_or(value.tokensAfter - reused);
}

QPointF CutRuler::pointOf(const CutValue &value) const
{
    return {m_scale.toX(value.position), yOf(costOf(value, false))};
}

QList<double> CutRuler::ticks() const
{
    QList<double> list;
    const double step = niceStep(
        m_top, std::max(1, static_cast<int>((floorY() - m_lane.top()) / QFontMetricsF(m_font).height() / 1.6)));
    for (double at = 0; at <= m_top * 1.0001; at += step)
        list.append(at);
    return list;
}

QString CutRuler::tickText(double cost) const
{
    if (!inMilliseconds())
        return number(qRound64(cost));
    return cost > 0 ? shortMilliseconds(cost) : number(0);
}

/// The curve as points, at most a few a pixel. Where pieces are narrower than a pixel, each column shows its ends.
QPolygonF CutRuler::outline(bool best) const
{
    QPolygonF points;
    const QList<CutPiece> &curve = m_report->curve;
    const auto from = std::lower_bound(curve.cbegin(), curve.cend(), m_scale.visible.begin - 1,
                                       [](const CutPiece &piece, int at) { return piece.end <= at; });
    const auto to = std::upper_bound(from, curve.cend(), m_scale.visible.end + 1,
                                     [](int at, const CutPiece &piece) { return at < piece.begin; });
    const auto put = [&](const CutValue &value, qreal x) { points.append({x, yOf(costOf(value, best))}); };
    if (to - from <= static_cast<qsizetype>(2 * m_lane.width())) {
        for (auto it = from; it != to; ++it) {
            put(it->at(it->begin), m_scale.toX(it->begin));
            // A straight line in tokens bends in ms: a few points between show it.
            const qreal width = (it->end - it->begin) * m_scale.pixelsPerToken();
            const int between = std::clamp(static_cast<int>(width / 40), 0, 24);
            for (int k = 1; k <= between; ++k) {
                const int at = it->begin + static_cast<int>((qint64(it->end) - it->begin) * k / (between + 1));
                if (at > it->begin && at < it->end - 1)
                    put(it->at(at), m_scale.toX(at));
            }
            if (it->end - 1 > it->begin)
                put(it->at(it->end - 1), m_scale.toX(it->end - 1));
        }
        return points;
    }
    const int width = qCeil(m_lane.width());
    for (int column = 0; column <= width; ++column) {
        const qreal x = m_lane.left() + column;
        const int a = m_scale.toPosition(x);
        const int b = std::max(a, m_scale.toPosition(x + 1) - 1);
        const auto first = m_report->at(a);
        if (!first)
            continue;
        put(*first, x);
        if (const auto last = m_report->at(b); last && b > a)
            put(*last, x + 0.5);
    }
    return points;
}

int CutRuler::legalNear(QPointF point, qreal reach) const
{
    if (isEmpty() || !m_lane.contains(point))
        return -1;
    const int tokens = qCeil(reach / std::max<qreal>(1e-9, m_scale.pixelsPerToken()));
    const int at = m_scale.toPosition(point.x());
    int best = -1;
    qreal distance = reach;
    for (int i = std::max(0, m_report->legalAbove(at - tokens));
         i >= 0 && i < m_report->legal.size() && m_report->legal.at(i).cut <= at + tokens; ++i) {
        const qreal d = std::abs(m_scale.toX(m_report->legal.at(i).cut) - point.x());
        if (d < distance) {
            distance = d;
            best = i;
        }
    }
    return best;
}

CutRuler::Card CutRuler::card() const
{
    Card card;
    if (isEmpty() || !m_whatIf || m_report->legalAt(*m_whatIf) >= 0)
        return card;
    QFont bold = m_font;
    bold.setBold(true);
    const QFontMetricsF metrics(m_font);
    const qreal row = metrics.height() + 4;
    const qreal width =
        std::max(QFontMetricsF(bold).horizontalAdvance(m_headline) + 24,
                 metrics.horizontalAdvance(QStringLiteral("<   0,000,000   00,000 tokens   ~0,000 ms")) + 24);
    const qreal height = 3 * row + 10;
    const qreal x = m_scale.toX(*m_whatIf);
    qreal left = x + 18;
    if (left + width > m_lane.right())
        left = x - 18 - width;
    left = std::clamp(left, m_lane.left(), std::max(m_lane.left(), m_lane.right() - width));
    qreal top = std::max(m_lane.top() + 2, floorY() - height - 4);
    if (top + height > m_lane.bottom())
        top = m_lane.bottom() - height;
    card.rect = QRectF(left, top, width, height);
    card.below = QRectF(left + 1, top + 5 + row, width - 2, row);
    card.above = QRectF(left + 1, top + 5 + 2 * row, width - 2, row);
    return card;
}

void CutRuler::paintCard(QPainter &p, const SemanticColors &c) const
{
    const Card place = card();
    if (place.isEmpty())
        return;
    p.setPen(QPen(c.text, 1));
    p.setBrush(c.base);
    p.drawRoundedRect(place.rect.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    QFont bold = m_font;
    bold.setBold(true);
    const QFontMetricsF metrics(m_font);
    p.setFont(bold);
    p.setPen(c.text);
    p.drawText(QRectF(place.rect.left() + 12, place.rect.top() + 4, place.rect.width() - 20, metrics.height() + 4),
               Qt::AlignLeft | Qt::AlignVCenter,
               QFontMetricsF(bold).elidedText(m_headline, Qt::ElideRight, place.rect.width() - 20));
    const auto row = [&](const QRectF &rect, int index, const QString &sign) {
        p.setFont(m_font);
        p.setPen(index >= 0 ? c.text : c.dimText);
        const qreal left = rect.left() + 11;
        p.drawText(QRectF(left, rect.top(), 16, rect.height()), Qt::AlignLeft | Qt::AlignVCenter, sign);
        if (index < 0) {
            p.drawText(QRectF(left + 20, rect.top(), rect.width() - 30, rect.height()),
                       Qt::AlignLeft | Qt::AlignVCenter, Ruler::tr("no legal cut on this side"));
            return;
        }
        const LegalCut &legal = m_report->legal.at(index);
        QFont strong = m_font;
        strong.setBold(true);
        p.setFont(strong);
        const QString cut = number(legal.cut);
        p.drawText(QRectF(left + 20, rect.top(), rect.width(), rect.height()), Qt::AlignLeft | Qt::AlignVCenter, cut);
        const qreal next = left + 20
            + std::max(QFontMetricsF(strong).horizontalAdvance(cut),
                       metrics.horizontalAdvance(QStringLiteral("00,000")))
            + 12;
        p.setFont(m_font);
        QString text = cutCostText(*m_report, legal.value);
        if (inMilliseconds() && (legal.value.claimable || legal.value.high == legal.value.low))
            text = Ruler::tr("~%1 tokens, %2").arg(number(m_report->prefill(legal.value)), text);
        p.drawText(QRectF(next, rect.top(), rect.right() - next - 6, rect.height()), Qt::AlignLeft | Qt::AlignVCenter,
                   metrics.elidedText(text, Qt::ElideRight, rect.right() - next - 6));
    };
    row(place.below, m_report->legalBelow(*m_whatIf), QStringLiteral("<"));
    row(place.above, m_report->legalAbove(*m_whatIf), QStringLiteral(">"));
}

void CutRuler::paint(QPainter &p, const SemanticColors &c, const QColor &ground) const
{
    m_drawn = 0;
    if (isEmpty())
        return;
    const qreal floor = floorY();
    p.setRenderHint(QPainter::Antialiasing, false);
    const QList<double> grid = ticks();
    for (const double at : grid) {
        p.setPen(QPen(mixed(c.axis, ground, at > 0 ? 0.35 : 0.9), at > 0 ? 0 : 1));
        p.drawLine(QPointF(m_lane.left(), yOf(at)), QPointF(m_lane.right(), yOf(at)));
    }
    p.setRenderHint(QPainter::Antialiasing);
    const QPolygonF worst = outline(false);
    const QPolygonF best = m_range ? outline(true) : QPolygonF();
    m_drawn = static_cast<int>(worst.size() + best.size());
    const QColor under = mixed(c.prefilled, ground, c.dark ? 0.25 : 0.16);
    if (worst.size() > 1) {
        QPolygonF area = m_range ? best : worst;
        area.prepend({area.constFirst().x(), floor});
        area.append({area.constLast().x(), floor});
        const bool dense = worst.size() > 2 * m_lane.width() * 0.8;
        p.setRenderHint(QPainter::Antialiasing, !dense);
        p.setPen(Qt::NoPen);
        p.setBrush(under);
        if (dense) {
            // A zigzag of thousands of long edges would cost a frame; a column a pixel is the same picture.
            const QPolygonF &line = m_range ? best : worst;
            for (const QPointF &point : line)
                p.fillRect(QRectF(qFloor(point.x()), point.y(), 1, floor - point.y()), under);
            for (const QPointF &point : worst)
                p.fillRect(QRectF(qFloor(point.x()), point.y() - 1, 1, 2), c.prefilled);
            if (m_range) {
                for (const QPointF &point : best)
                    p.fillRect(QRectF(qFloor(point.x()), point.y() - 1, 1, 2), c.reused);
            }
        } else {
            p.drawPolygon(area);
            if (m_range) {
                // Between best and worst nothing is claimed: dots.
                QPolygonF between = worst;
                for (qsizetype i = best.size() - 1; i >= 0; --i)
                    between.append(best.at(i));
                QPainterPath path;
                path.addPolygon(between);
                path.closeSubpath();
                fillDotted(p, path, c.prefilled, ground);
                p.setPen(QPen(c.prefilled, 1.4, Qt::DashLine));
                p.setBrush(Qt::NoBrush);
                p.drawPolyline(best);
            }
            p.setPen(QPen(c.prefilled, 1.6));
            p.setBrush(Qt::NoBrush);
            p.drawPolyline(worst);
        }
    }
    p.setRenderHint(QPainter::Antialiasing);

    const QFont small = smallFont();
    QFont bold = small;
    bold.setBold(true);
    const QFontMetricsF metrics(small);
    const QFontMetricsF boldMetrics(bold);
    QList<QRectF> taken;
    QList<QRectF> below;
    const auto place = [](QList<QRectF> &list, const QRectF &rect) {
        for (const QRectF &other : std::as_const(list)) {
            if (other.intersects(rect.adjusted(-4, 0, 4, 0)))
                return false;
        }
        list.append(rect);
        return true;
    };
    const auto inside = [this](int at) { return at >= m_scale.visible.begin && at <= m_scale.visible.end; };
    if (const Card shown = card(); !shown.isEmpty())
        taken.append(shown.rect);

    struct Mark {
        CutValue value;
        bool plan = false;
        bool whatIf = false;
    };
    QList<Mark> marks;
    if (m_whatIf && inside(*m_whatIf)) {
        if (const auto value = m_report->at(*m_whatIf))
            marks.append({*value, m_planCut == m_whatIf, true});
    }
    if (m_planCut && m_planCut != m_whatIf && inside(*m_planCut)) {
        if (const auto value = m_report->at(*m_planCut))
            marks.append({*value, true, false});
    }
    qreal lastX = -1e9;
    for (int i = std::max(0, m_report->legalAbove(m_scale.visible.begin)); i < m_report->legal.size();) {
        const LegalCut &row = m_report->legal.at(i);
        if (row.cut > m_scale.visible.end)
            break;
        const qreal x = m_scale.toX(row.cut);
        if (x - lastX >= 7 && row.cut != m_planCut && row.cut != m_whatIf) {
            marks.append({row.value, false, false});
            lastX = x;
        }
        // On to the first one that can be drawn beside this one.
        const int next = m_report->legalAbove(std::max(row.cut + 1, m_scale.toPosition(lastX + 7)));
        if (next < 0)
            break;
        i = std::max(i + 1, next);
    }
    // The floor of each mark, then the marks from the plain to the important, so that those lie on top.
    for (const Mark &mark : std::as_const(marks)) {
        if (marks.size() > 60 && !mark.plan && !mark.whatIf)
            continue;
        const QPointF at = pointOf(mark.value);
        p.setPen(QPen(mixed(c.axis, ground, 0.8), 1, Qt::DotLine));
        p.drawLine(QPointF(at.x(), at.y() + 5), QPointF(at.x(), floor));
    }
    for (qsizetype k = marks.size() - 1; k >= 0; --k) {
        const Mark &mark = marks.at(k);
        const QPointF at = pointOf(mark.value);
        p.setPen(QPen(c.text, 1.4));
        p.setBrush(mark.plan || mark.whatIf ? c.text : c.base);
        const qreal radius = mark.whatIf ? 5.6 : 3.8;
        p.drawEllipse(at, radius, radius);
        if (m_range && !mark.value.claimable && mark.value.high > mark.value.low) {
            p.setBrush(c.base);
            p.drawEllipse(QPointF(at.x(), yOf(costOf(mark.value, true))), 2.6, 2.6);
        }
    }
    for (const Mark &mark : std::as_const(marks)) {
        const bool strong = mark.plan || mark.whatIf;
        const QFontMetricsF &own = strong ? boldMetrics : metrics;
        p.setFont(strong ? bold : small);
        const QPointF at = pointOf(mark.value);
        const QString text = m_range && !mark.value.claimable && mark.value.high > mark.value.low
            ? Ruler::tr("up to %1")
                  .arg(inMilliseconds() ? shortMilliseconds(costOf(mark.value, false))
                                        : number(qRound64(costOf(mark.value, false))))
            : cutCostText(*m_report, mark.value);
        const QSizeF size(own.horizontalAdvance(text) + 2, own.height());
        QList<QPointF> tries{{at.x() + 8, at.y() + 3},
                             {at.x() - 8 - size.width(), at.y() + 3},
                             {at.x() + 8, at.y() - size.height() - 2},
                             {at.x() - 8 - size.width(), at.y() - size.height() - 2}};
        if (!strong)
            tries.resize(2);
        for (const QPointF &corner : std::as_const(tries)) {
            const QRectF rect(corner, size);
            // Plain ones stand apart: few that can be read say more than all of them.
            if (!strong && std::any_of(taken.cbegin(), taken.cend(), [&rect](const QRectF &other) {
                    return other.intersects(rect.adjusted(-26, -6, 26, 6));
                }))
                continue;
            if (rect.left() < m_lane.left() || rect.right() > m_lane.right() || rect.bottom() > floor
                || rect.top() < m_lane.top() || !place(taken, rect))
                continue;
            drawText(p, rect, text, strong ? c.text : c.dimText, ground);
            break;
        }
        // Its position under the axis.
        const QString label = number(mark.value.position);
        const QRectF under_(at.x() - own.horizontalAdvance(label) / 2 - 1, floor + 3, own.horizontalAdvance(label) + 2,
                            own.height());
        if (under_.left() >= m_lane.left() - 6 && under_.right() <= m_lane.right() + 6 && place(below, under_)) {
            p.setPen(strong ? c.text : c.dimText);
            p.drawText(under_, Qt::AlignCenter, label);
        }
    }
    // The cliffs are named where there is room: the one nearest to what is looked at first.
    const int near = m_whatIf.value_or(m_planCut.value_or((m_scale.visible.begin + m_scale.visible.end) / 2));
    QList<std::pair<int, int>> shown;
    const auto first = std::lower_bound(m_cliffs.cbegin(), m_cliffs.cend(), m_scale.visible.begin,
                                        [](const auto &cliff, int at) { return cliff.second < at; });
    for (auto it = first; it != m_cliffs.cend() && it->second <= m_scale.visible.end && shown.size() < 200; ++it)
        shown.append(*it);
    std::sort(shown.begin(), shown.end(),
              [near](const auto &a, const auto &b) { return std::abs(a.second - near) < std::abs(b.second - near); });
    p.setFont(bold);
    int named = 0;
    QList<int> said;
    for (const auto &[before, at] : std::as_const(shown)) {
        const auto value = m_report->at(before);
        if (!value || named >= 3)
            break;
        const int checkpoint = m_report->at(at)->checkpoint;
        if (said.contains(checkpoint))
            continue; // the same fall, seen from the tokens that two messages begin with
        const QPointF point = pointOf(*value);
        if (point.y() > pointOf(*m_report->at(at)).y() - 10)
            continue; // too low a step to be worth a word
        const QString cost = inMilliseconds() ? shortMilliseconds(costOf(*value, false))
                                              : Ruler::tr("%1 tokens").arg(number(qRound64(costOf(*value, false))));
        const QString text = Ruler::tr("cliff: ~%1 below %2").arg(cost, number(at));
        const QSizeF size(boldMetrics.horizontalAdvance(text) + 2, boldMetrics.height());
        for (const QPointF &corner : {QPointF(point.x() - size.width() - 6, point.y() - size.height() - 2),
                                      QPointF(point.x() + 6, point.y() - size.height() / 2 - 2)}) {
            const QRectF rect(corner, size);
            if (rect.left() < m_lane.left() || rect.right() > m_lane.right() || rect.top() < m_lane.top()
                || !place(taken, rect))
                continue;
            p.setPen(Qt::NoPen);
            p.setBrush(c.refuted);
            p.drawEllipse(point, 3, 3);
            drawText(p, rect, text, c.refuted, ground);
            ++named;
            said.append(checkpoint);
            break;
        }
    }
}

} // namespace kerf
