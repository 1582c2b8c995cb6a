// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/access/tabletext.h"
#include "ui/theme/semanticcolors.h"
#include "ui/timeline/cutruler.h"
#include "ui/timeline/episodeindex.h"
#include "ui/timeline/tokenscale.h"
#include "ui/viewmodel/selection.h"

#include <QAbstractScrollArea>
#include <QAction>
#include <QPixmap>
#include <QSet>

namespace kerf {

class WhatIf;

/// A place that Find has found.
struct FindMark {
    std::optional<int> token; ///< in the prompt
    int seq = 0; ///< of the session; 0 = none
    friend bool operator==(const FindMark &, const FindMark &) = default;
};

/// The prompt on a token axis: lanes one under the other, the cut through all of them.
class TimelineView : public QAbstractScrollArea, public TableText
{
    Q_OBJECT
public:
    enum class Lane { Ruler, Checkpoints, Holds, Episodes, Tier, Flow, Sent, CutRuler, Strip };
    static constexpr int kLaneCount = 9;

    struct Hit {
        std::optional<Lane> lane;
        int position = -1; ///< -1 = not on the token axis
        int firstBlock = -1; ///< merged blocks: first..last
        int lastBlock = -1;
        int checkpoint = -1; ///< index into the picture's
        int alternative = -1;
        int legal = -1; ///< index of the legal cut under the pointer, in the curve
        bool handle = false; ///< the what-if cut's handle
    };
    static constexpr int kSnapPixels = 12;

    explicit TimelineView(Selection *selection, QWidget *parent = nullptr);

    void setPicture(const CutPicture &picture);
    /// Whom moves of the cut go to; without one the cut ruler is only looked at.
    void setWhatIf(WhatIf *whatIf);
    /// What was found, ascending: drawn on ruler and strip.
    void setMarks(const QList<FindMark> &marks);
    const QList<FindMark> &marks() const { return m_marks; }
    const CutRuler &cutRuler() const;
    QPointF handlePoint() const; ///< middle of the what-if cut's handle; null point = there is none
    void setEpisodes(const QList<EpisodeValue> &episodes); ///< the whole session, for the strip
    const CutPicture &picture() const { return m_picture; }
    const EpisodeIndex &index() const { return m_index; }

    TokenScale tokenScale() const;
    TokenRange visibleRange() const { return m_visible; }
    void setVisibleRange(TokenRange range, bool remember = true);
    int axisTotal() const; ///< end of the axis: n_ctx, or the prompt if it is longer
    TokenRange fitRange() const;
    void zoomToPosition(int position);
    QRectF laneRect(Lane lane) const; ///< in viewport coordinates; empty when hidden
    bool isLaneShown(Lane lane) const { return !m_hidden.contains(lane); }
    void setLaneShown(Lane lane, bool shown);
    /// A collapsed lane is one line high. Click on the triangle at its title; drag the title to move the lane.
    bool isLaneCollapsed(Lane lane) const { return m_collapsed.contains(lane); }
    void setLaneCollapsed(Lane lane, bool collapsed);
    QList<Lane> laneOrder() const { return m_order; } ///< those between ruler and strip, from the top
    void moveLane(Lane lane, int place);
    QByteArray saveLanes() const;
    void restoreLanes(const QByteArray &state); ///< what is not understood leaves the lanes as they are
    Hit hitTest(QPointF point) const;
    QString tooltipAt(QPointF point) const;
    /// The blocks of all lanes as the level of detail merges them: what a repaint fills. For measuring.
    QList<QRectF> drawnBlocks() const;
    QString laneTitle(Lane lane) const;

    QList<QAction *> zoomActions() const { return {m_zoomIn, m_zoomOut, m_fit, m_zoomBack, m_zoomSelection}; }
    QList<QAction *> stepActions() const { return {m_previous, m_next, m_center}; }
    QAction *pinAction() const { return m_pin; }
    QList<QAction *> laneActions() const { return m_laneActions; }

    QSize sizeHint() const override { return {700, 420}; }
    QSize minimumSizeHint() const override { return {320, 200}; }

    QString tableDescription() const override;
    int tableRows() const override { return m_index.count(); }
    int tableColumns() const override { return 6; }
    QString tableHeader(int column) const override;
    QString tableCell(int row, int column) const override;
    int tableCurrentRow() const override;
    void tableSelectRow(int row) override;

Q_SIGNALS:
    void rangeShown(kerf::TokenRange range);
    void whatIfRequested(int position);
    void useCutRequested();
    void pinRequested(int seq);
    void textRequested(int seq);
    void explained(const QString &text); ///< why an episode is kept or evicted

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;
    void changeEvent(QEvent *event) override;
    void scrollContentsBy(int dx, int dy) override;
    bool viewportEvent(QEvent *event) override;

private:
    struct Label {
        QRectF rect;
        QString text;
    };
    qreal labelWidth() const;
    qreal laneHeight(Lane lane) const;
    void layoutLanes();
    void updateActions();
    void stepEpisode(int step, bool extend);
    void moveFrame(qreal x);
    void dragCut(qreal x, Qt::KeyboardModifiers modifiers);
    bool cutKey(QKeyEvent *event);
    std::optional<Lane> titleAt(QPointF point) const;
    void dragLane(qreal y);
    QString whyOf(const BlockValue &block) const;
    bool isEvicted(const BlockValue &block) const;
    void paintMarks(QPainter &p, const SemanticColors &c) const;
    void paintHandle(QPainter &p, const SemanticColors &c) const;
    bool trying() const { return m_picture.cut == CutPicture::Cut::WhatIf && m_picture.whatIf.has_value(); }

    void paintGround(QPainter &p, const SemanticColors &c) const;
    void paintRuler(QPainter &p, const SemanticColors &c) const;
    void paintCheckpoints(QPainter &p, const SemanticColors &c) const;
    void paintHolds(QPainter &p, const SemanticColors &c) const;
    void paintEpisodes(QPainter &p, const SemanticColors &c) const;
    void paintTiers(QPainter &p, const SemanticColors &c) const;
    void paintFlow(QPainter &p, const SemanticColors &c) const;
    void paintSent(QPainter &p, const SemanticColors &c) const;
    void paintCutRuler(QPainter &p, const SemanticColors &c) const;
    void paintStrip(QPainter &p, const SemanticColors &c);
    void paintCuts(QPainter &p, const SemanticColors &c) const;
    void paintLaneTitles(QPainter &p, const SemanticColors &c) const;
    void paintSelection(QPainter &p, const SemanticColors &c) const;
    QRectF rangeRect(const TokenScale &scale, TokenRange range, QRectF lane, qreal inset) const;
    qreal alternativeY(const AlternativeValue &alternative, const QRectF &lane) const;
    std::optional<double> alternativeCost(const AlternativeValue &alternative) const;
    QString alternativeText(const AlternativeValue &alternative) const;

    Selection *m_selection;
    CutPicture m_picture;
    EpisodeIndex m_index;
    SessionIndex m_session;
    TokenRange m_visible{0, 1};
    bool m_fitted = true;
    QList<TokenRange> m_zoomStack;
    QSet<Lane> m_hidden;
    QSet<Lane> m_collapsed;
    QList<Lane> m_order{Lane::Checkpoints, Lane::Holds, Lane::Episodes, Lane::Tier,
                        Lane::Flow,        Lane::Sent,  Lane::CutRuler};
    std::optional<Lane> m_pressLane; ///< its title is being held
    QRectF m_lanes[kLaneCount];
    double m_costMaximum = 0;
    bool m_costInMs = true;
    QPixmap m_stripPixmap;
    bool m_stripDirty = true;
    std::optional<QPointF> m_press;
    Qt::MouseButton m_pressButton = Qt::NoButton;
    TokenRange m_pressVisible;
    bool m_dragging = false;
    bool m_draggingFrame = false;
    bool m_draggingCut = false;
    WhatIf *m_whatIf = nullptr;
    QList<FindMark> m_marks;
    mutable CutRuler m_cutRuler;
    QAction *m_zoomIn, *m_zoomOut, *m_fit, *m_zoomBack, *m_zoomSelection, *m_previous, *m_next, *m_center, *m_pin;
    QList<QAction *> m_laneActions;
};

inline size_t qHash(TimelineView::Lane lane, size_t seed = 0) { return ::qHash(static_cast<int>(lane), seed); }

} // namespace kerf
