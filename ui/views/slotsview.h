// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/models/slotmodels.h"

#include <QWidget>

class QAction;
class QComboBox;
class QLabel;
class QSplitter;
class QTableView;
class QToolButton;

namespace kerf {

class CacheGauge;
class ServerDesk;
class SlotLanes;

/// Slots over time, and the host prompt cache below or beside them.
class SlotsView : public QWidget
{
    Q_OBJECT
public:
    explicit SlotsView(ServerDesk *desk, QWidget *parent = nullptr);

    SlotLanes *lanes() { return m_lanes; }
    CacheGauge *gauge() { return m_gauge; }
    CacheModel *cacheModel() { return m_cache; }
    ErasuresModel *erasuresModel() { return m_erasures; }
    void setContextSize(int tokens); ///< n_ctx: the lanes' height; 0 = unknown
    /// Save, Restore and Erase for the slot that is chosen here.
    void setSlotActions(QAction *save, QAction *restore, QAction *erase, QAction *attachLog);
    QString detail() const; ///< for the dock's title

Q_SIGNALS:
    void currentSlotChanged(int slotId);
    void taskActivated(qint64 task);
    void detailChanged();

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    void refresh();

    ServerDesk *m_desk;
    SlotLanes *m_lanes;
    CacheGauge *m_gauge;
    CacheModel *m_cache;
    ErasuresModel *m_erasures;
    QTableView *m_cacheView;
    QTableView *m_erasuresView;
    QComboBox *m_span;
    QLabel *m_state;
    QSplitter *m_split;
    QToolButton *m_attach;
    QList<QToolButton *> m_acts;
    int m_contextSize = 0;
};

} // namespace kerf
