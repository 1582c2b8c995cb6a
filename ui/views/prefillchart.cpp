// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/prefillchart.h"

#include "ui/theme/semanticcolors.h"
#include "ui/viewmodel/numbers.h"

#include <QGraphicsLayout>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QScrollBar>
#include <QtCharts/QBarCategoryAxis>
#include <QtCharts/QBarSet>
#include <QtCharts/QChart>
#include <QtCharts/QStackedBarSeries>
#include <QtCharts/QValueAxis>
#include <QToolTip>
#include <QVBoxLayout>

#include <cmath>

namespace kerf {

namespace {

/// Highest axis value: a round number above, so that four steps are round too.
double roundUp(double value)
{
    if (value <= 0)
        return 100;
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    for (const double factor : {1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0}) {
        if (power * factor >= value)
            return power * factor;
    }
    return power * 10;
}

} // namespace

/// The chart with our marks over it: Qt Charts has no hollow diamonds, no gaps in a line and no second sign.
class PrefillPlot : public QChartView
{
public:
    PrefillPlot(QChart *chart, PrefillChart *owner)
        : QChartView(chart, owner)
        , m_owner(owner)
    {
        setRenderHint(QPainter::Antialiasing);
        setFrameShape(QFrame::NoFrame);
        setFocusPolicy(Qt::NoFocus);
        setMouseTracking(true);
    }

protected:
    void drawBackground(QPainter *painter, const QRectF &rect) override
    {
        const SemanticColors c = SemanticColors::of(m_owner->palette());
        painter->fillRect(rect, c.base);
        // The selected column lies under the bars: a tint over them would change what their colours say.
        const int current = m_owner->tableCurrentRow();
        if (m_owner->m_count <= 0 || current < m_owner->m_first || current >= m_owner->m_first + m_owner->m_count)
            return;
        const QRectF area = chart()->plotArea();
        const qreal slot = area.width() / m_owner->m_count;
        const QRectF band(area.left() + (current - m_owner->m_first) * slot, area.top() - 4, slot, area.height() + 22);
        painter->fillRect(band, mixed(m_owner->palette().color(QPalette::Highlight), c.base, 0.2));
    }
    void drawForeground(QPainter *painter, const QRectF &) override { paintMarks(*painter); }
    void mousePressEvent(QMouseEvent *event) override
    {
        const int row = m_owner->rowAt(event->position());
        if (row >= 0)
            m_owner->tableSelectRow(row);
        m_owner->setFocus();
    }
    void wheelEvent(QWheelEvent *event) override
    {
        m_owner->zoom(std::pow(1.2, event->angleDelta().y() / 120.0), m_owner->rowAt(event->position()));
        event->accept();
    }
    bool viewportEvent(QEvent *event) override
    {
        if (event->type() == QEvent::ToolTip) {
            const auto *help = static_cast<QHelpEvent *>(event);
            const int row = m_owner->rowAt(help->pos());
            QToolTip::showText(help->globalPos(), row >= 0 ? tip(row) : PrefillChart::tr("No compaction here."), this);
            return true;
        }
        return QChartView::viewportEvent(event);
    }

private:
    QString tip(int row) const
    {
        const PlanValue &plan = m_owner->m_rows.at(row);
        const bool sim = plan.boundary.simulated;
        QString text = PrefillChart::tr("Compaction %1: %2").arg(number(plan.number), verdictHeadline(plan));
        text = PrefillChart::tr("%1\nreused %2, prefilled %3, %4")
                   .arg(text, numberOr(plan.measuredReuse, !sim), numberOr(plan.measuredPrefill, !sim),
                        plan.measuredMs ? milliseconds(*plan.measuredMs) : PrefillChart::tr("ms not reported"));
        text = PrefillChart::tr("%1\npredicted %2, %3")
                   .arg(text, approx(plan.boundary.predictedReuse),
                        plan.boundary.predictedMs >= 0
                            ? PrefillChart::tr("~%1").arg(shortMilliseconds(plan.boundary.predictedMs))
                            : PrefillChart::tr("no cost known"));
        if (!plan.cause.isEmpty())
            text = PrefillChart::tr("%1\n%2").arg(text, plan.cause);
        return text;
    }

    void paintMarks(QPainter &p)
    {
        const SemanticColors c = SemanticColors::of(m_owner->palette());
        p.setRenderHint(QPainter::Antialiasing);
        const QRectF area = chart()->plotArea();
        if (m_owner->m_count <= 0) {
            p.setPen(c.dimText);
            p.setFont(m_owner->font());
            p.drawText(QRectF(viewport()->rect()), Qt::AlignCenter | Qt::TextWordWrap,
                       PrefillChart::tr("No compaction yet. F6 plans one, Ctrl+Return applies it."));
            return;
        }
        const qreal slot = area.width() / m_owner->m_count;
        const double msTop = std::max(1e-9, m_owner->m_ms->max());
        const auto x = [&](int row) { return area.left() + (row - m_owner->m_first + 0.5) * slot; };
        const auto yMs = [&](double ms) { return area.bottom() - area.height() * std::min(1.0, ms / msTop); };
        const auto yTokens = [&](double tokens) {
            return area.bottom() - area.height() * tokens / std::max(1.0, m_owner->m_tokens->max());
        };
        p.save();
        p.setClipRect(area.adjusted(-6, -10, 6, 10));
        const int current = m_owner->tableCurrentRow();
        const qreal r = std::clamp(slot / 7, 2.0, 4.2);
        std::optional<QPointF> before;
        // The line: measured only; where ms is missing there is a gap, never a zero.
        p.setPen(QPen(c.text, 1.6));
        for (int row = m_owner->m_first; row < m_owner->m_first + m_owner->m_count; ++row) {
            const PlanValue &plan = m_owner->m_rows.at(row);
            if (!plan.measuredMs) {
                before.reset();
                continue;
            }
            const QPointF here(x(row), yMs(*plan.measuredMs));
            if (before)
                p.drawLine(*before, here);
            before = here;
        }
        for (int row = m_owner->m_first; row < m_owner->m_first + m_owner->m_count; ++row) {
            const PlanValue &plan = m_owner->m_rows.at(row);
            const std::optional<QPointF> predicted = plan.boundary.predictedMs >= 0
                ? std::optional<QPointF>(QPointF(x(row), yMs(plan.boundary.predictedMs)))
                : std::nullopt;
            const std::optional<QPointF> measured =
                plan.measuredMs ? std::optional<QPointF>(QPointF(x(row), yMs(*plan.measuredMs))) : std::nullopt;
            if (predicted) {
                if (measured) {
                    QPen dotted(c.text, 1.2, Qt::DotLine);
                    p.setPen(dotted);
                    p.drawLine(*predicted, *measured);
                }
                p.setPen(QPen(c.text, 1.3));
                p.setBrush(c.base);
                const qreal d = r * 1.25;
                p.drawPolygon(QPolygonF({*predicted + QPointF(0, -d), *predicted + QPointF(d, 0),
                                         *predicted + QPointF(0, d), *predicted + QPointF(-d, 0)}));
            }
            const bool refuted = plan.outcome == QLatin1String("refuted");
            if (refuted) {
                QPen dash(c.refuted, 2.2, Qt::CustomDashLine, Qt::FlatCap);
                dash.setDashPattern({2.4, 1.4});
                p.setPen(dash);
                const qreal y = yTokens(plan.boundary.predictedReuse);
                p.drawLine(QPointF(x(row) - slot * 0.36, y), QPointF(x(row) + slot * 0.36, y));
            }
            if (measured) {
                p.setPen(QPen(c.base, 1));
                if (refuted) {
                    const qreal big = std::max(r * 1.6, 5.0);
                    p.setBrush(c.refuted);
                    p.drawEllipse(*measured, big, big);
                    p.setPen(QPen(c.dark ? QColor(0x111111) : QColor(0xFFFFFF), 1.6));
                    const qreal k = big * 0.42;
                    p.drawLine(*measured + QPointF(-k, -k), *measured + QPointF(k, k));
                    p.drawLine(*measured + QPointF(-k, k), *measured + QPointF(k, -k));
                } else {
                    p.setBrush(c.text);
                    p.drawEllipse(*measured, r, r);
                }
            }
        }
        p.restore();
        // Cause of the refuted one that is selected, else of the newest that is shown.
        int told = -1;
        for (int row = m_owner->m_first; row < m_owner->m_first + m_owner->m_count; ++row) {
            if (m_owner->m_rows.at(row).outcome == QLatin1String("refuted") && (told < 0 || told != current))
                told = row;
        }
        QFont font = m_owner->font();
        font.setPointSizeF(std::max(8.0, font.pointSizeF() - 1));
        const QFontMetricsF metrics(font);
        if (told >= 0) {
            const PlanValue &plan = m_owner->m_rows.at(told);
            const QString first =
                PrefillChart::tr("%1: predicted %2, measured %3")
                    .arg(number(plan.number), number(plan.boundary.predictedReuse), numberOr(plan.measuredReuse));
            const QString second = plan.cause.isEmpty() ? PrefillChart::tr("cause unknown") : plan.cause;
            QFont bold = font;
            bold.setBold(true);
            const qreal limit = area.width() - 8;
            const qreal width = std::min(
                limit, std::max(QFontMetricsF(bold).horizontalAdvance(first), metrics.horizontalAdvance(second)) + 14);
            const qreal height = metrics.height() * 2 + 6;
            QRectF box(x(told) - width / 2, area.top() + 3, width, height);
            box.moveLeft(std::clamp(box.left(), area.left() + 4, std::max(area.left() + 4, area.right() - width - 4)));
            if (plan.measuredMs && yMs(*plan.measuredMs) < box.bottom() + 10)
                box.moveTop(std::min(yMs(*plan.measuredMs) + 12, area.bottom() - height - 4));
            p.setPen(QPen(c.refuted, 1));
            p.setBrush(mixed(c.refuted, c.base, 0.12));
            p.drawRoundedRect(box, 3, 3);
            p.setFont(bold);
            p.setPen(c.refuted);
            p.drawText(box.adjusted(7, 3, -4, -height / 2), Qt::AlignLeft | Qt::AlignVCenter,
                       QFontMetricsF(bold).elidedText(first, Qt::ElideRight, width - 11));
            p.setFont(font);
            p.setPen(c.text);
            p.drawText(box.adjusted(7, height / 2 - 1, -4, -3), Qt::AlignLeft | Qt::AlignVCenter,
                       metrics.elidedText(second, Qt::ElideRight, width - 11));
        }
        paintLegend(p, c, font);
    }

    void paintLegend(QPainter &p, const SemanticColors &c, const QFont &font)
    {
        const QFontMetricsF metrics(font);
        p.setFont(font);
        p.setPen(c.dimText);
        const QRectF area = chart()->plotArea();
        p.drawText(QRectF(4, 1, 90, metrics.height()), Qt::AlignLeft, PrefillChart::tr("tokens"));
        p.drawText(QRectF(viewport()->width() - 64, 1, 60, metrics.height()), Qt::AlignRight, PrefillChart::tr("ms"));
        bool refuted = false;
        bool predicted = false;
        for (const PlanValue &plan : std::as_const(m_owner->m_rows)) {
            refuted = refuted || plan.outcome == QLatin1String("refuted");
            predicted = predicted || plan.boundary.predictedMs >= 0;
        }
        struct Entry {
            int sign;
            QString text;
        };
        QList<Entry> entries{
            {0, PrefillChart::tr("reused")}, {1, PrefillChart::tr("prefilled")}, {2, PrefillChart::tr("ms measured")}};
        if (predicted)
            entries.append({3, PrefillChart::tr("ms predicted")});
        if (refuted)
            entries.append({4, PrefillChart::tr("predicted, not met")});
        const qreal left = 10;
        const qreal right = viewport()->width() - 6;
        // Two rows at most; what does not fit is in the tooltips.
        qreal x = left;
        qreal y = area.bottom() + metrics.height() + 12;
        for (const Entry &entry : std::as_const(entries)) {
            const qreal width = 18 + metrics.horizontalAdvance(entry.text) + 12;
            if (x + width > right && x > left) {
                x = left;
                y += metrics.height() + 2;
            }
            if (y + metrics.height() > viewport()->height() + 1)
                break;
            const QPointF m(x + 7, y + metrics.height() / 2);
            switch (entry.sign) {
            case 0:
            case 1:
                p.fillRect(QRectF(m.x() - 5, m.y() - 5, 10, 10), entry.sign == 0 ? c.reused : c.prefilled);
                break;
            case 2:
                p.setPen(QPen(c.text, 1.6));
                p.drawLine(m - QPointF(7, 0), m + QPointF(7, 0));
                p.setBrush(c.text);
                p.drawEllipse(m, 3, 3);
                break;
            case 3:
                p.setPen(QPen(c.text, 1.3));
                p.setBrush(c.base);
                p.drawPolygon(
                    QPolygonF({m + QPointF(0, -5), m + QPointF(5, 0), m + QPointF(0, 5), m + QPointF(-5, 0)}));
                break;
            default: {
                QPen dash(c.refuted, 2.2, Qt::CustomDashLine, Qt::FlatCap);
                dash.setDashPattern({2.0, 1.2});
                p.setPen(dash);
                p.drawLine(m - QPointF(7, 0), m + QPointF(7, 0));
            }
            }
            p.setPen(c.text);
            p.drawText(QRectF(x + 18, y, width, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter, entry.text);
            x += width;
        }
    }

    PrefillChart *m_owner;
};

PrefillChart::PrefillChart(Selection *selection, QWidget *parent)
    : QWidget(parent)
    , m_selection(selection)
    , m_scroll(new QScrollBar(Qt::Horizontal, this))
    , m_chart(new QChart)
    , m_reused(new QBarSet(tr("reused")))
    , m_prefilled(new QBarSet(tr("prefilled")))
    , m_bars(new QStackedBarSeries)
    , m_categories(new QBarCategoryAxis)
    , m_tokens(new QValueAxis)
    , m_ms(new QValueAxis)
{
    installTableAccess();
    setObjectName(QStringLiteral("prefillChart"));
    setAccessibleName(tr("Prefill cost"));
    setWhatsThis(
        tr("Each column is a compaction: tokens the server reused and tokens it had to prefill. The line is the time. "
           "Filled marks were measured, hollow ones predicted before the request was sent."));
    setFocusPolicy(Qt::StrongFocus);
    m_bars->append(m_reused);
    m_bars->append(m_prefilled);
    m_bars->setBarWidth(0.56);
    m_chart->addSeries(m_bars);
    m_chart->addAxis(m_categories, Qt::AlignBottom);
    m_chart->addAxis(m_tokens, Qt::AlignLeft);
    m_chart->addAxis(m_ms, Qt::AlignRight);
    m_bars->attachAxis(m_categories);
    m_bars->attachAxis(m_tokens);
    m_chart->legend()->hide();
    m_chart->setBackgroundRoundness(0);
    m_chart->layout()->setContentsMargins(0, 0, 0, 0);
    m_categories->setGridLineVisible(false);
    m_ms->setGridLineVisible(false);
    m_tokens->setTickCount(5);
    m_ms->setTickCount(5);
    m_tokens->setLabelFormat(QStringLiteral("%.0f"));
    m_ms->setLabelFormat(QStringLiteral("%.0f"));
    m_chart->setLocalizeNumbers(true);
    m_plot = new PrefillPlot(m_chart, this);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_plot, 1);
    layout->addWidget(m_scroll);
    m_scroll->hide();
    connect(m_scroll, &QScrollBar::valueChanged, this, [this](int value) {
        if (value == m_first)
            return;
        m_first = value;
        m_atEnd = value >= m_scroll->maximum();
        rebuild();
    });
    m_plot->setCacheMode(QGraphicsView::CacheNone);
    connect(selection, &Selection::changed, this, [this] {
        showAround(tableCurrentRow());
        m_plot->viewport()->update();
    });
    recolour();
    rebuild();
}

void PrefillChart::setCompactions(const QList<PlanValue> &newestFirst)
{
    QList<PlanValue> rows = newestFirst;
    std::reverse(rows.begin(), rows.end());
    if (rows == m_rows)
        return;
    m_rows = std::move(rows);
    if (m_atEnd)
        m_first = std::max(0, static_cast<int>(m_rows.size()) - m_span);
    rebuild();
    announceTable(this);
}

void PrefillChart::rebuild()
{
    const int total = static_cast<int>(m_rows.size());
    m_first = std::clamp(m_first, 0, std::max(0, total - m_span));
    m_count = std::min(m_span, total - m_first);
    m_scroll->setRange(0, std::max(0, total - m_span));
    m_scroll->setPageStep(m_span);
    m_scroll->setValue(m_first);
    m_scroll->setVisible(total > m_span);
    QList<qreal> reused;
    QList<qreal> prefilled;
    QStringList names;
    double tokens = 0;
    double ms = 0;
    for (int row = m_first; row < m_first + m_count; ++row) {
        const PlanValue &plan = m_rows.at(row);
        // Nothing measured yet: no bar; the hollow mark and the table say what is predicted.
        reused << plan.measuredReuse.value_or(0);
        prefilled << plan.measuredPrefill.value_or(0);
        tokens =
            std::max({tokens, reused.last() + prefilled.last(), static_cast<double>(plan.boundary.predictedReuse)});
        ms = std::max({ms, plan.measuredMs.value_or(0), plan.boundary.predictedMs});
        names << number(plan.number);
    }
    m_reused->remove(0, m_reused->count());
    m_prefilled->remove(0, m_prefilled->count());
    m_reused->append(reused);
    m_prefilled->append(prefilled);
    m_categories->clear();
    if (names.isEmpty())
        names << QString();
    if (names.size() > 24) { // numbers that would run into each other are left out; the axis needs them unlike
        const int every = static_cast<int>(names.size()) / 12;
        for (qsizetype i = 0; i < names.size(); ++i) {
            if (i % every != 0)
                names[i] = QString(static_cast<int>(i) + 1, QChar(0x200B));
        }
    }
    m_categories->append(names);
    for (QAbstractAxis *axis : {static_cast<QAbstractAxis *>(m_categories), static_cast<QAbstractAxis *>(m_tokens),
                                static_cast<QAbstractAxis *>(m_ms)})
        axis->setVisible(m_count > 0);
    m_tokens->setRange(0, roundUp(tokens));
    m_ms->setRange(0, roundUp(ms));
    // Room for our legend under the plot.
    QFont small = font();
    small.setPointSizeF(std::max(8.0, small.pointSizeF() - 1));
    const int line = QFontMetrics(small).height();
    m_chart->setMargins(QMargins(2, line + 4, 2, height() > 180 ? 2 * line + 6 : line + 4));
    m_plot->viewport()->update();
}

void PrefillChart::recolour()
{
    const SemanticColors c = SemanticColors::of(palette());
    m_chart->setBackgroundBrush(Qt::NoBrush);
    m_chart->setBackgroundPen(Qt::NoPen);
    m_reused->setColor(c.reused);
    m_reused->setBorderColor(c.base);
    m_prefilled->setColor(c.prefilled);
    m_prefilled->setBorderColor(c.base);
    QFont small = font();
    small.setPointSizeF(std::max(8.0, small.pointSizeF() - 1));
    for (QAbstractAxis *axis : {static_cast<QAbstractAxis *>(m_categories), static_cast<QAbstractAxis *>(m_tokens),
                                static_cast<QAbstractAxis *>(m_ms)}) {
        axis->setLabelsFont(small);
        axis->setLabelsColor(c.dimText);
        axis->setLinePen(QPen(c.axis, 1));
        axis->setGridLinePen(QPen(mixed(c.axis, c.base, 0.4), 0));
    }
}

QRectF PrefillChart::plotArea() const { return m_chart->plotArea(); }

QPointF PrefillChart::pointOf(int row, double tokens) const
{
    const QRectF area = plotArea();
    return {area.left() + (row - m_first + 0.5) * area.width() / std::max(1, m_count),
            area.bottom() - area.height() * tokens / std::max(1.0, m_tokens->max())};
}

int PrefillChart::rowAt(QPointF point) const
{
    const QRectF area = m_chart->plotArea();
    if (m_count <= 0 || area.width() <= 0 || !area.adjusted(0, -20, 0, 24).contains(point))
        return -1;
    return std::clamp(m_first + static_cast<int>((point.x() - area.left()) / area.width() * m_count), m_first,
                      m_first + m_count - 1);
}

void PrefillChart::zoom(qreal factor, int anchor)
{
    const int total = static_cast<int>(m_rows.size());
    const int span = std::clamp(qRound(m_span / factor), 4, kWindow);
    const int effective = std::min(m_span, std::max(total, 4));
    const int wanted = factor > 1 ? std::clamp(qRound(effective / factor), 4, kWindow) : span;
    if (anchor >= 0)
        m_first = anchor - qRound(static_cast<qreal>(anchor - m_first) / std::max(1, m_count) * wanted);
    m_span = wanted;
    m_first = std::clamp(m_first, 0, std::max(0, total - m_span));
    m_atEnd = m_first + m_span >= total;
    rebuild();
}

void PrefillChart::showAround(int row)
{
    if (row < 0 || (row >= m_first && row < m_first + m_count))
        return;
    m_first = std::max(0, row - m_span / 2);
    m_atEnd = false;
    rebuild();
}

void PrefillChart::keyPressEvent(QKeyEvent *event)
{
    const int total = static_cast<int>(m_rows.size());
    const int current = tableCurrentRow();
    switch (event->key()) {
    case Qt::Key_Left:
        tableSelectRow(current < 0 ? total - 1 : std::max(0, current - 1));
        return;
    case Qt::Key_Right:
        tableSelectRow(current < 0 ? total - 1 : std::min(total - 1, current + 1));
        return;
    case Qt::Key_Home:
        tableSelectRow(0);
        return;
    case Qt::Key_End:
        tableSelectRow(total - 1);
        return;
    case Qt::Key_Plus:
        zoom(1.5, current);
        return;
    case Qt::Key_Minus:
        zoom(1 / 1.5, current);
        return;
    default:
        break;
    }
    QWidget::keyPressEvent(event);
}

void PrefillChart::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        recolour();
        rebuild();
    }
    QWidget::changeEvent(event);
}

QString PrefillChart::tableDescription() const
{
    QString text = tr("Prefill cost, %n compaction(s)", nullptr, static_cast<int>(m_rows.size()));
    if (!m_rows.isEmpty()) {
        const PlanValue &last = m_rows.last();
        text = tr("%1; the last reused %2 and prefilled %3")
                   .arg(text, numberOr(last.measuredReuse), numberOr(last.measuredPrefill));
    }
    return text;
}

QString PrefillChart::tableHeader(int column) const
{
    switch (column) {
    case 0:
        return tr("Compaction");
    case 1:
        return tr("Reused");
    case 2:
        return tr("Prefilled");
    case 3:
        return tr("ms measured");
    case 4:
        return tr("Reuse predicted");
    case 5:
        return tr("ms predicted");
    case 6:
        return tr("Outcome");
    default:
        return {};
    }
}

QString PrefillChart::tableCell(int row, int column) const
{
    if (row < 0 || row >= m_rows.size())
        return {};
    const PlanValue &plan = m_rows.at(row);
    switch (column) {
    case 0:
        return number(plan.number);
    case 1:
        return numberOr(plan.measuredReuse);
    case 2:
        return numberOr(plan.measuredPrefill);
    case 3:
        return plan.measuredMs ? milliseconds(*plan.measuredMs) : tr("not reported");
    case 4:
        return number(plan.boundary.predictedReuse);
    case 5:
        return plan.boundary.predictedMs >= 0 ? shortMilliseconds(plan.boundary.predictedMs) : tr("not known");
    case 6:
        return outcomeWord(plan.outcome);
    default:
        return {};
    }
}

int PrefillChart::tableCurrentRow() const
{
    for (qsizetype i = 0; i < m_rows.size(); ++i) {
        if (m_rows.at(i).number == m_selection->compaction())
            return static_cast<int>(i);
    }
    return -1;
}

void PrefillChart::tableSelectRow(int row)
{
    if (row >= 0 && row < m_rows.size())
        m_selection->selectCompaction(m_rows.at(row).number);
}

} // namespace kerf
