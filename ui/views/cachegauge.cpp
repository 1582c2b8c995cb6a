// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/cachegauge.h"

#include "ui/theme/patterns.h"
#include "ui/viewmodel/numbers.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>

namespace kerf {

CacheGauge::CacheGauge(QWidget *parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("cacheGauge"));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setWhatsThis(tr("The server's host cache keeps prompts that a slot loses. The bar is what it holds against "
                    "--cache-ram; hatched is what the next save adds. Amber from 80 %, red before it would exceed."));
}

QSize CacheGauge::sizeHint() const { return {260, fontMetrics().height() * 4 + 34}; }
QSize CacheGauge::minimumSizeHint() const { return {150, sizeHint().height()}; }

void CacheGauge::setPicture(const SlotsPicture &picture)
{
    m_picture = picture;
    setAccessibleName(tr("Host cache"));
    setAccessibleDescription(tr("%1 %2").arg(headline(), forecastText()));
    update();
}

QString CacheGauge::headline() const
{
    if (!m_picture.known)
        return tr("No server was looked at yet.");
    const QString text = cacheHeadline(m_picture);
    switch (m_picture.level()) {
    case CacheLevel::Near:
        return tr("%1: nearly full").arg(text);
    case CacheLevel::Full:
        return tr("%1: full").arg(text);
    default:
        return text;
    }
}

QString CacheGauge::forecastText() const { return m_picture.known ? cacheForecastText(m_picture) : QString(); }

double CacheGauge::full() const
{
    double most = double(m_picture.cacheBytes.value_or(0));
    if (m_picture.forecast)
        most = std::max(most, double(m_picture.forecast->bytes));
    // Where far less than the limit is held, the limit is the end all the same: how little it is is the message.
    if (m_picture.cacheLimit && !m_picture.cacheUnlimited)
        return std::max(most, double(*m_picture.cacheLimit));
    return std::max(1.0, most * 1.25);
}

QRectF CacheGauge::barRect() const
{
    const int line = fontMetrics().height();
    return {8, qreal(line) + 10, qreal(width()) - 16, qreal(line) + 2};
}

void CacheGauge::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const SemanticColors c = SemanticColors::of(palette());
    painter.fillRect(rect(), palette().color(QPalette::Base));
    const int line = fontMetrics().height();
    const CacheLevel level = m_picture.level();
    const QColor alarm = level == CacheLevel::Full ? c.refuted : level == CacheLevel::Near ? c.warning : c.reused;
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(level == CacheLevel::Full || level == CacheLevel::Near ? alarm : c.text);
    const QFontMetrics boldMetrics(bold);
    painter.drawText(QRectF(8, 5, width() - 16, line), Qt::AlignLeft | Qt::AlignVCenter,
                     boldMetrics.elidedText(headline(), Qt::ElideRight, width() - 16));
    painter.setFont(font());
    const QRectF bar = barRect();
    const bool counts = level != CacheLevel::Unknown && level != CacheLevel::Off;
    QPainterPath frame;
    frame.addRect(bar);
    if (!counts) {
        painter.setPen(QPen(c.axis, 0, Qt::DashLine));
        painter.drawRect(bar);
    } else {
        const double scale = bar.width() / full();
        qreal x = bar.left();
        const bool simulated = m_picture.simulated;
        for (const CachedPrompt &entry : m_picture.cached) {
            if (!entry.bytes)
                continue;
            const qreal next = x + double(*entry.bytes) * scale;
            painter.fillRect(QRectF(x, bar.top(), std::max(0.5, next - x - (next - x > 3 ? 1 : 0)), bar.height()),
                             simulated ? c.simulated : alarm);
            x = next;
        }
        const qreal held = bar.left() + double(m_picture.cacheBytes.value_or(0)) * scale;
        if (held > x) // the server's total is more than its entries
            painter.fillRect(QRectF(x, bar.top(), held - x, bar.height()), mixed(alarm, c.base, 0.6));
        if (m_picture.forecast) {
            QPainterPath added;
            const qreal to = std::min(bar.right(), bar.left() + double(m_picture.forecast->bytes) * scale);
            if (to > std::max(x, held)) {
                added.addRect(QRectF(std::max(x, held), bar.top(), to - std::max(x, held), bar.height()));
                fillHatched(painter, added, m_picture.forecast->exceeds ? c.refuted : c.evicted, c.base);
            }
        }
        painter.setPen(QPen(c.axis, 0));
        painter.drawRect(bar);
        if (m_picture.cacheLimit && !m_picture.cacheUnlimited) {
            const qreal mark = bar.left() + double(*m_picture.cacheLimit) * 0.8 * scale;
            painter.setPen(QPen(c.text, 1, Qt::DashLine));
            painter.drawLine(QPointF(mark, bar.top() - 3), QPointF(mark, bar.bottom() + 3));
            const qreal end = bar.left() + double(*m_picture.cacheLimit) * scale;
            if (end < bar.right() - 1) { // it is exceeded
                painter.setPen(QPen(c.text, 2));
                painter.drawLine(QPointF(end, bar.top() - 3), QPointF(end, bar.bottom() + 3));
            }
        }
    }
    painter.setPen(level == CacheLevel::Full ? c.refuted : c.dimText);
    QString below = forecastText();
    if (below.isEmpty() && counts)
        below = tr("%n saved prompt(s)", nullptr, static_cast<int>(m_picture.cached.size()));
    painter.drawText(QRectF(8, bar.bottom() + 5, width() - 16, height() - bar.bottom() - 7),
                     Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, below);
}

bool CacheGauge::event(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        auto *help = static_cast<QHelpEvent *>(event);
        QString text = headline();
        if (const QString forecast = forecastText(); !forecast.isEmpty())
            text += QLatin1Char('\n') + forecast;
        if (!m_picture.cacheKnown && m_picture.cacheEnabled)
            text += QLatin1Char('\n') + tr("Start llama-server with -lv 4 and give Kerf its log.");
        QToolTip::showText(help->globalPos(), text, this);
        return true;
    }
    return QWidget::event(event);
}

} // namespace kerf
