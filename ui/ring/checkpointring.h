// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/access/tabletext.h"
#include "ui/theme/semanticcolors.h"
#include "ui/viewmodel/cutpicture.h"
#include "ui/viewmodel/selection.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

class QToolButton;

namespace kerf {

/// Prompt positions on a circle: 0 at the top, clockwise. A value, apart from painting.
struct RingScale {
    int span = 1; ///< tokens of the full circle
    QPointF center;
    qreal radius = 0; ///< of the track's outer edge
    qreal thickness = 0;

    qreal angleOf(qreal position) const { return 360.0 * position / qMax(1, span); }
    QPointF pointAt(qreal position, qreal distance) const;
    /// Position under a point; nullopt outside of the track and its heads.
    std::optional<int> positionAt(QPointF point, qreal inside, qreal outside) const;
    friend bool operator==(const RingScale &, const RingScale &) = default;
};

/// A head on the outside of the ring; several checkpoints share one where there are too many.
struct RingHead {
    QPointF center;
    QList<int> marks; ///< indices into CutPicture::checkpoints
    bool erased = false; ///< gone, shown hollow for ten seconds
    CheckpointKind kind = CheckpointKind::InternalCheckpoint;
    int position = 0;
};

/// The checkpoint ring of one slot (what is reused, computed again, evicted; where one can rewind to).
class CheckpointRing : public QWidget, public TableText
{
    Q_OBJECT
public:
    explicit CheckpointRing(Selection *selection, QWidget *parent = nullptr);

    void setPicture(const CutPicture &picture);
    const CutPicture &picture() const { return m_picture; }

    /// Fit scales to the prompt when it fills under a third of the context; Full shows all of it.
    bool canFit() const;
    bool isFit() const { return m_fit && canFit(); }
    void setFit(bool fit);
    RingScale ringScale() const;
    QList<RingHead> heads() const;
    QString centerNumber() const;
    QString centerState() const; ///< the word under it
    QString tooltipAt(QPointF point) const;
    std::optional<int> currentCheckpoint() const; ///< position under the keyboard

    QSize sizeHint() const override { return {340, 400}; }
    QSize minimumSizeHint() const override { return {220, 250}; }

    QString tableDescription() const override;
    int tableRows() const override;
    int tableColumns() const override { return 4; }
    QString tableHeader(int column) const override;
    QString tableCell(int row, int column) const override;
    int tableCurrentRow() const override;
    void tableSelectRow(int row) override;

Q_SIGNALS:
    void zoomRequested(int position);
    void cutRequested(int position);
    void fitChanged();

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool event(QEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    struct Ghost {
        CheckpointValue checkpoint;
        qint64 until = 0;
    };
    void paintTrack(QPainter &painter, const RingScale &scale, const SemanticColors &colors) const;
    void paintCenter(QPainter &painter, const RingScale &scale, const SemanticColors &colors) const;
    void paintLegend(QPainter &painter, const SemanticColors &colors) const;
    qreal legendHeight() const;
    int headIndexAt(QPointF point) const;
    void stepCurrent(int step);

    Selection *m_selection;
    CutPicture m_picture;
    bool m_fit = true;
    int m_current = -1; ///< row under the keyboard
    QList<Ghost> m_ghosts;
    QElapsedTimer m_clock;
    QTimer m_ghostTimer;
    QToolButton *m_fitButton;
};

} // namespace kerf
