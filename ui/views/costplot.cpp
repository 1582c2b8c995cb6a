// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/costplot.h"

#include "ui/theme/semanticcolors.h"
#include "ui/viewmodel/numbers.h"

#include <QtCharts/QChart>
#include <QtCharts/QLegend>
#include <QtCharts/QScatterSeries>
#include <QtCharts/QValueAxis>

#include <QEvent>
#include <QJsonArray>

#include <algorithm>

namespace kerf {

CostPlot::CostPlot(QWidget *parent)
    : QChartView(new QChart, parent)
{
    setRenderHint(QPainter::Antialiasing);
    setMinimumHeight(190);
    setAccessibleName(tr("Prefill time by tokens processed"));
    chart()->setMargins({4, 4, 4, 4});
    chart()->setBackgroundRoundness(0);
    chart()->legend()->setAlignment(Qt::AlignTop);
    restyle();
}

void CostPlot::setSteps(const QJsonArray &steps)
{
    QChart *const chart = this->chart();
    chart->removeAllSeries();
    const QList<QAbstractAxis *> old = chart->axes();
    for (QAbstractAxis *axis : old) {
        chart->removeAxis(axis);
        delete axis;
    }
    auto *measured = new QScatterSeries;
    measured->setName(tr("measured"));
    auto *fitted = new QScatterSeries;
    fitted->setName(tr("by the curve"));
    fitted->setMarkerShape(QScatterSeries::MarkerShapeRotatedRectangle);
    double most = 0;
    double tokens = 0;
    for (const QJsonValue &value : steps) {
        const QJsonObject step = value.toObject();
        const QJsonValue ms = step.value(QStringLiteral("ms"));
        const QJsonValue prefilled = step.value(QStringLiteral("prefilled"));
        if (!ms.isDouble() || !prefilled.isDouble())
            continue;
        measured->append(prefilled.toDouble(), ms.toDouble());
        most = std::max(most, ms.toDouble());
        tokens = std::max(tokens, prefilled.toDouble());
        if (const QJsonValue by = step.value(QStringLiteral("fitted_ms")); by.isDouble()) {
            fitted->append(prefilled.toDouble(), by.toDouble());
            most = std::max(most, by.toDouble());
        }
    }
    auto *x = new QValueAxis;
    x->setRange(0, std::max(1.0, tokens * 1.05));
    x->setLabelFormat(QStringLiteral("%d"));
    x->setTitleText(tr("tokens processed"));
    auto *y = new QValueAxis;
    y->setRange(0, std::max(1.0, most * 1.1));
    y->setLabelFormat(QStringLiteral("%d"));
    y->setTitleText(tr("ms"));
    x->applyNiceNumbers();
    y->applyNiceNumbers();
    chart->addSeries(measured);
    chart->addSeries(fitted);
    chart->addAxis(x, Qt::AlignBottom);
    chart->addAxis(y, Qt::AlignLeft);
    for (QScatterSeries *series : {measured, fitted}) {
        series->attachAxis(x);
        series->attachAxis(y);
    }
    m_description = measured->count() == 0
        ? tr("Nothing was measured.")
        : tr("%1 measured, the longest %2 for %3 tokens")
              .arg(number(measured->count()), milliseconds(most), number(qint64(tokens)));
    setAccessibleDescription(m_description);
    restyle();
}

void CostPlot::changeEvent(QEvent *event)
{
    QChartView::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        restyle();
}

void CostPlot::restyle()
{
    const SemanticColors colors = SemanticColors::of(palette());
    QChart *const chart = this->chart();
    chart->setBackgroundBrush(palette().base());
    setBackgroundBrush(palette().base());
    chart->legend()->setLabelColor(palette().color(QPalette::Text));
    chart->legend()->setFont(font());
    const QList<QAbstractAxis *> axes = chart->axes();
    for (QAbstractAxis *axis : axes) {
        axis->setLabelsFont(font());
        axis->setLabelsColor(colors.dimText);
        axis->setTitleFont(font());
        axis->setTitleBrush(colors.dimText);
        axis->setLinePen(QPen(colors.axis));
        axis->setGridLinePen(QPen(colors.axis, 0.5, Qt::DotLine));
    }
    const QList<QAbstractSeries *> all = chart->series();
    for (qsizetype i = 0; i < all.size(); ++i) {
        auto *series = qobject_cast<QScatterSeries *>(all.at(i));
        series->setMarkerSize(i == 0 ? 8 : 11);
        series->setColor(i == 0 ? palette().color(QPalette::Text) : Qt::transparent);
        series->setBorderColor(palette().color(QPalette::Text));
    }
}

} // namespace kerf
