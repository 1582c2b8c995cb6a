// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/slotspicture.h"

#include <QWidget>

namespace kerf {

/// The host prompt cache against its limit: what is in it by prompt, what the next save adds, the 80 % mark. The level
/// is always a word too.
class CacheGauge : public QWidget
{
    Q_OBJECT
public:
    explicit CacheGauge(QWidget *parent = nullptr);
    void setPicture(const SlotsPicture &picture);
    QString headline() const; ///< with the level's word
    QString forecastText() const;
    CacheLevel level() const { return m_picture.level(); }
    QRectF barRect() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;

private:
    double full() const; ///< bytes at the bar's right end
    SlotsPicture m_picture;
};

} // namespace kerf
