// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/access/tabletext.h"
#include "ui/viewmodel/slotspicture.h"

#include <QAbstractScrollArea>

namespace kerf {

/// Time to pixels, for the lanes.
struct TimeScale {
    qint64 beginMs = 0;
    qint64 endMs = 1;
    qreal left = 0;
    qreal width = 1;
    qreal toX(qint64 ms) const { return left + qreal(ms - beginMs) * width / qreal(qMax<qint64>(1, endMs - beginMs)); }
    qint64 toMs(qreal x) const
    {
        return beginMs + qint64((x - left) * qreal(qMax<qint64>(1, endMs - beginMs)) / width);
    }
    /// Distance between two marks of the axis, at least `least` pixels apart.
    qint64 step(qreal least) const;
};

/// What every slot did over time: tokens held as an area, busy and idle, the task and who it was for, a prefill in
/// progress, and what was erased. One lane a slot.
class SlotLanes : public QAbstractScrollArea, public TableText
{
    Q_OBJECT
public:
    explicit SlotLanes(QWidget *parent = nullptr);

    void setPicture(const SlotsPicture &picture, int contextSize);
    const SlotsPicture &picture() const { return m_picture; }
    /// The last so many seconds; 0 = all that is known.
    void setSpan(int seconds);
    int span() const { return m_spanSeconds; }
    int currentSlot() const { return m_currentSlot; }
    void setCurrentSlot(int slotId);
    TimeScale scale() const;
    QRectF laneRect(int index) const; ///< in the viewport
    QString tipAt(QPoint position) const;

    QString tableDescription() const override;
    int tableRows() const override { return static_cast<int>(m_picture.lanes.size()); }
    int tableColumns() const override { return 5; }
    QString tableHeader(int column) const override;
    QString tableCell(int row, int column) const override;
    int tableCurrentRow() const override;
    void tableSelectRow(int row) override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void currentSlotChanged(int slotId);
    void taskActivated(qint64 task); ///< double click, or Enter on a lane: show it in the log

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;
    bool viewportEvent(QEvent *event) override;

private:
    void updateBars();
    int laneHeight() const;
    int labelWidth() const;
    int axisHeight() const;
    int mostTokens() const;
    int laneAt(int y) const; ///< -1 = none
    const SlotTask *taskAt(int slotId, qint64 ms) const;
    void paintLane(QPainter &painter, const SlotLane &lane, const QRectF &rect, const TimeScale &scale) const;
    QString ownerWords(const SlotTask *task, const SlotLane &lane) const;

    SlotsPicture m_picture;
    int m_contextSize = 0;
    int m_spanSeconds = 0;
    int m_currentSlot = -1;
};

} // namespace kerf
