// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/verdictstrip.h"

#include "ui/theme/patterns.h"
#include "ui/viewmodel/numbers.h"

#include <QKeyEvent>
#include <QPainter>

namespace kerf {

VerdictStrip::VerdictStrip(QWidget *parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("verdictStrip"));
    setAccessibleName(tr("Verdict"));
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setWhatsThis(tr("What the plan, or the selected compaction, means for the cache, and why."));
    setVerdict(nullptr, CutPicture(), 0);
}

QSize VerdictStrip::sizeHint() const
{
    const QFontMetrics metrics(font());
    return {600, m_collapsed ? metrics.height() + 10 : std::max(52, metrics.height() * 2 + 18)};
}

void VerdictStrip::setVerdict(const PlanValue *plan, const CutPicture &picture, int staleBy)
{
    m_figures.clear();
    m_stale = staleBy > 0;
    m_outcome.clear();
    m_outcomeSign.clear();
    m_tone = 0;
    const bool sim = picture.simulated;
    if (!plan || picture.cut == CutPicture::Cut::None) {
        m_headline = plan ? verdictHeadline(*plan) : tr("No plan");
        m_reason = plan
            ? (plan->notes.isEmpty() ? tr("The window is below its trigger of %1.").arg(number(plan->triggerAt))
                                     : plan->notes.first())
            : tr("Press F6 to plan a cut. Planning sends nothing.");
        if (plan && plan->pressure == QLatin1String("anchor_overflow")) {
            m_tone = 3;
            m_reason = tr("Unpin something, or give the session a larger window.");
        }
        if (picture.reused && picture.sentTotal > 0) {
            m_figures.append({number(*picture.reused, !sim), tr("reused, last turn"), 1});
            if (picture.prefilled)
                m_figures.append({number(*picture.prefilled, !sim), tr("prefilled, last turn"), 2});
            m_figures.append({picture.ms ? milliseconds(*picture.ms) : tr("not reported"), tr("time, last turn"), 0});
        }
    } else {
        const bool past = picture.cut == CutPicture::Cut::Compaction;
        m_headline = verdictHeadline(*plan);
        m_reason =
            plan->cacheReason.isEmpty() ? (plan->notes.isEmpty() ? QString() : plan->notes.first()) : plan->cacheReason;
        if (m_stale)
            m_reason = tr("The session has moved on by %n episode(s). Plan again (F6).", nullptr, staleBy);
        const bool measured = picture.measured;
        if (picture.rangeOnly) {
            m_figures.append(
                {tr("%1 to %2").arg(number(picture.reusedLow), number(picture.reusedHigh)), tr("may be reused"), 0});
        } else {
            m_figures.append({picture.reused ? number(*picture.reused, measured && !sim) : tr("not reported"),
                              sim            ? tr("reused, model only")
                                  : measured ? tr("reused, measured")
                                             : tr("reused, predicted"),
                              1});
            m_figures.append({picture.prefilled ? number(*picture.prefilled, measured && !sim) : tr("not reported"),
                              sim            ? tr("prefilled, model only")
                                  : measured ? tr("prefilled, measured")
                                             : tr("prefilled, predicted"),
                              2});
        }
        if (picture.ms)
            m_figures.append(
                {sim ? tr("~%1").arg(milliseconds(*picture.ms)) : milliseconds(*picture.ms),
                 picture.predictedMs ? tr("predicted %1").arg(qRound64(*picture.predictedMs)) : tr("no prediction"),
                 0});
        else if (picture.predictedMs)
            m_figures.append({tr("~%1").arg(shortMilliseconds(*picture.predictedMs)),
                              past ? tr("not reported yet") : tr("predicted"), 0});
        if (past) {
            m_outcome = outcomeWord(plan->outcome);
            m_outcomeSign = outcomeSign(plan->outcome);
            m_tone = plan->outcome == QLatin1String("refuted")                                            ? 2
                : plan->outcome == QLatin1String("confirmed") || plan->outcome == QLatin1String("better") ? 1
                                                                                                          : 0;
            if (m_tone == 2 && !plan->cause.isEmpty())
                m_reason = tr("Predicted %1, measured %2: %3")
                               .arg(number(plan->boundary.predictedReuse), numberOr(plan->measuredReuse), plan->cause);
        } else {
            m_outcome = plan->applied ? outcomeWord(QStringLiteral("waiting")) : tr("planned");
            m_outcomeSign = QStringLiteral("\u25C7");
            m_tone = plan->verdict == Verdict::FullReprefill ? 3 : plan->verdict == Verdict::PrefixPreserved ? 0 : 1;
        }
    }
    if (sim) {
        m_tone = 4;
        m_outcome = tr("simulated");
    }
    QStringList spoken{m_headline, m_reason};
    for (const Figure &figure : std::as_const(m_figures))
        spoken << tr("%1 %2").arg(figure.word, figure.value);
    if (!m_outcome.isEmpty())
        spoken << m_outcome;
    setAccessibleDescription(spoken.join(QStringLiteral(". ")));
    QString tip = m_headline;
    if (plan) {
        tip = tr("%1\n%2\nverdict %3, cache_status %4, pairs_with_cache %5")
                  .arg(m_headline, m_reason, verdictName(plan->verdict), cacheStatusName(plan->cacheStatus),
                       plan->boundary.pairsWithCache ? QStringLiteral("true") : QStringLiteral("false"));
    }
    setToolTip(tip);
    update();
}

void VerdictStrip::paintEvent(QPaintEvent *)
{
    const SemanticColors c = SemanticColors::of(palette());
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    const QRectF all = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    p.fillRect(all, c.base);
    if (m_stale) {
        QPainterPath path;
        path.addRect(all);
        fillLines(p, path, mixed(c.text, c.base, 0.10), 8, 2);
    }
    p.setPen(QPen(mixed(c.axis, c.base, 0.6), 1));
    p.drawRect(all);
    const QColor tones[] = {c.dimText, c.reused, c.refuted, c.warning, c.simulated};
    const QColor tone = tones[m_tone];
    p.fillRect(QRectF(8, 7, 3.5, height() - 14), tone);
    QFont big = font();
    big.setBold(true);
    big.setPointSizeF(big.pointSizeF() + (m_collapsed ? 0 : 3));
    QFont bold = font();
    bold.setBold(true);
    QFont figureFont = bold;
    figureFont.setPointSizeF(figureFont.pointSizeF() + (m_collapsed ? 0 : 2));
    const QFontMetricsF bigMetrics(big);
    const QFontMetricsF sans(font());
    const QFontMetricsF figureMetrics(figureFont);
    const QFontMetricsF boldMetrics(bold);

    // From the right: outcome, then the figures while there is room for the words.
    qreal right = width() - 12;
    if (!m_outcome.isEmpty()) {
        const bool flask = m_tone == 4;
        const QString word = flask ? m_outcome : tr("%1 %2", "sign, outcome").arg(m_outcomeSign, m_outcome);
        const qreal w = boldMetrics.horizontalAdvance(word) + (flask ? 22 : 0);
        p.setFont(bold);
        p.setPen(m_tone == 0 ? c.text : tone);
        if (flask)
            drawFlask(p, QRectF(right - w, (height() - 16) / 2.0, 16, 16), tone);
        p.drawText(QRectF(right - w + (flask ? 22 : 0), 0, w, height()), Qt::AlignLeft | Qt::AlignVCenter, word);
        right -= w + 10;
        p.setPen(QPen(mixed(c.axis, c.base, 0.6), 1));
        p.drawLine(QPointF(right, 10), QPointF(right, height() - 10));
        right -= 8;
    }
    // Words come first; of the figures the last go where there is no room for all.
    const qreal wanted = std::clamp(bigMetrics.horizontalAdvance(m_headline) + 30, 150.0, width() * 0.6);
    const auto widthOf = [&](const Figure &figure) {
        return std::max(figureMetrics.horizontalAdvance(figure.value),
                        m_collapsed ? 0 : sans.horizontalAdvance(figure.word))
            + 16;
    };
    qsizetype shown = 0;
    qreal used = 0;
    while (shown < m_figures.size() && right - used - widthOf(m_figures.at(shown)) >= wanted)
        used += widthOf(m_figures.at(shown++));
    qreal x = right - used;
    for (qsizetype i = 0; i < shown; ++i) {
        const Figure &figure = m_figures.at(i);
        const qreal w = widthOf(figure) - 14;
        x += 14;
        p.setFont(figureFont);
        p.setPen(figure.color == 1 ? c.reused : figure.color == 2 ? c.prefilled : c.text);
        if (m_collapsed) {
            p.drawText(QRectF(x, 0, w, height()), Qt::AlignRight | Qt::AlignVCenter, figure.value);
        } else {
            const qreal total = figureMetrics.height() + sans.height();
            const qreal top = (height() - total) / 2;
            p.drawText(QRectF(x, top, w, figureMetrics.height()), Qt::AlignRight | Qt::AlignVCenter, figure.value);
            p.setFont(font());
            p.setPen(c.dimText);
            p.drawText(QRectF(x, top + figureMetrics.height(), w, sans.height()), Qt::AlignRight | Qt::AlignVCenter,
                       figure.word);
        }
        x += w;
    }
    right -= used;
    const qreal left = 22;
    const qreal room = std::max<qreal>(40, right - left - 4);
    p.setFont(big);
    p.setPen(c.text);
    if (m_collapsed) {
        p.drawText(QRectF(left, 0, room, height()), Qt::AlignLeft | Qt::AlignVCenter,
                   bigMetrics.elidedText(m_headline, Qt::ElideRight, room));
    } else {
        const qreal total = bigMetrics.height() + sans.height();
        const qreal top = (height() - total) / 2;
        p.drawText(QRectF(left, top, room, bigMetrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
                   bigMetrics.elidedText(m_headline, Qt::ElideRight, room));
        p.setFont(font());
        p.setPen(m_stale ? c.warning : c.dimText);
        p.drawText(QRectF(left, top + bigMetrics.height(), room, sans.height()), Qt::AlignLeft | Qt::AlignVCenter,
                   sans.elidedText(m_reason, Qt::ElideRight, room));
    }
    if (hasFocus()) {
        p.setPen(QPen(c.focus, 2));
        p.setBrush(Qt::NoBrush);
        p.drawRect(all.adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

void VerdictStrip::mouseDoubleClickEvent(QMouseEvent *)
{
    m_collapsed = !m_collapsed;
    updateGeometry();
    update();
}

void VerdictStrip::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Space || event->key() == Qt::Key_Return) {
        m_collapsed = !m_collapsed;
        updateGeometry();
        update();
        return;
    }
    QWidget::keyPressEvent(event);
}

void VerdictStrip::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        update();
    QWidget::changeEvent(event);
}

} // namespace kerf
