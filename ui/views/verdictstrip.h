// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/cutpicture.h"

#include <QWidget>

namespace kerf {

/// The verdict in words, its reason, and what it came to. Click collapses it to one line.
class VerdictStrip : public QWidget
{
    Q_OBJECT
public:
    explicit VerdictStrip(QWidget *parent = nullptr);

    /// `plan` may be null: nothing is planned. `staleBy` > 0: the session has moved on by so many episodes.
    void setVerdict(const PlanValue *plan, const CutPicture &picture, int staleBy);
    QString headline() const { return m_headline; }
    QString reason() const { return m_reason; }
    QString outcome() const { return m_outcome; }
    bool isCollapsed() const { return m_collapsed; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {300, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    struct Figure {
        QString value;
        QString word;
        int color = 0; ///< 0 text, 1 reused, 2 prefilled
    };
    QString m_headline;
    QString m_reason;
    QString m_outcome;
    QString m_outcomeSign;
    int m_tone = 0; ///< 0 dim, 1 reused, 2 refuted, 3 warning, 4 simulated
    bool m_stale = false;
    bool m_collapsed = false;
    QList<Figure> m_figures;
};

} // namespace kerf
