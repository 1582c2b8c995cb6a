// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/ipc/serviceclient.h"
#include "ui/models/claimsmodel.h"
#include "ui/models/loglinesmodel.h"
#include "ui/viewmodel/slotspicture.h"

#include <QObject>
#include <QTimer>

#include <memory>

namespace kerf {

/// The server's side for the views: slots over time, log, evidence, and what an operator does to a slot. Asks only
/// while a view is watched, at most ten times a second, and never waits. Answers of an older client are dropped.
class ServerDesk : public QObject
{
    Q_OBJECT
public:
    explicit ServerDesk(QObject *parent = nullptr);
    ~ServerDesk() override;

    void setClient(std::shared_ptr<ServiceClient> client);
    bool hasClient() const { return m_client != nullptr; }
    void setPaused(bool paused);
    bool isPaused() const { return m_paused; }

    const SlotsPicture &slotsPicture() const { return m_slots; }
    void watchSlots(bool on);
    LogLinesModel *logLines() { return &m_log; }
    const LogAnswer &logState() const { return m_logState; } ///< without its lines
    qint64 logHeldBack() const { return m_held; } ///< lines that came while paused
    void watchLog(bool on);
    const EvidenceValue &evidence() const { return m_evidence; }
    void watchEvidence(bool on);
    void probeAgain();
    void forget(const QString &claim, const QString &evidence);

    /// Each answers by said(), or failed(). Erase, restore and delete act only with `consent`.
    void saveSlot(int slotId);
    void restoreSlot(int slotId, const QString &file, bool consent);
    void eraseSlot(int slotId, bool consent);
    void deleteSave(const QString &file, bool consent);

Q_SIGNALS:
    void clientChanged();
    void slotsChanged();
    void logChanged(); ///< lines came, or source and counts changed
    void evidenceChanged();
    void pausedChanged();
    void said(const QString &text);
    void failed(const QString &what, const kerf::Error &error);

private:
    template<typename Handler>
    void ask(const QString &method, const QJsonObject &params, Handler handler);
    void act(const QJsonObject &params, const QString &what, std::function<QString(const QJsonObject &)> done);
    void onEvent(const QString &topic, const QJsonObject &params);
    void fetch();
    void fetchSlots();
    void fetchLog();
    void fetchEvidence(bool refresh);

    std::shared_ptr<ServiceClient> m_client;
    quint64 m_generation = 0;
    bool m_paused = false;
    SlotsPicture m_slots;
    LogLinesModel m_log;
    LogAnswer m_logState;
    qint64 m_held = 0;
    qint64 m_newest = 0; ///< number of the newest line that an event named
    EvidenceValue m_evidence;
    bool m_slotsWatched = false;
    bool m_logWatched = false;
    bool m_evidenceWatched = false;
    bool m_slotsWanted = false;
    bool m_logWanted = false;
    bool m_evidenceWanted = false;
    bool m_slotsRunning = false;
    bool m_logRunning = false;
    bool m_evidenceRunning = false;
    QTimer m_timer; ///< coalesces
    QTimer m_tick; ///< a busy slot moves without an event
};

} // namespace kerf
