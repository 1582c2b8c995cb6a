// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QtCharts/QChartView>

#include <QJsonObject>

namespace kerf {

/// Prefill times of a calibration: what was measured (filled) against what the fitted curve says (hollow), by the
/// tokens that were processed. Both come from the service.
class CostPlot : public QChartView
{
    Q_OBJECT
public:
    explicit CostPlot(QWidget *parent = nullptr);
    void setSteps(const QJsonArray &steps);

protected:
    void changeEvent(QEvent *event) override;

private:
    void restyle();
    QString m_description;
};

} // namespace kerf
