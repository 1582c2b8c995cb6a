// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/ipc/serviceclient.h"
#include "ui/viewmodel/caller.h"
#include "ui/viewmodel/consolestate.h"
#include "ui/views/retainedprefixview.h"

#include <QElapsedTimer>
#include <QObject>
#include <QSet>
#include <QTimer>

#include <functional>
#include <memory>

namespace kerf {

/// What to connect to. The key lives here and in the engine's memory only: it is never stored or logged.
struct ConnectionSpec {
    enum class Kind { Embedded, Server, Service };
    Kind kind = Kind::Embedded;
    QString url;
    QString apiKey;
    QString logFile;
    QString socketPath; ///< Service; empty = the default socket
    QString name; ///< given by people; empty = its address
    QString launchCommand; ///< Server: Kerf starts it; empty = it runs already
    int slotId = -1; ///< slot box at the start; -1 = any
    int limitMs = 0; ///< how long an answer to the probe may take; 0 = the usual
    QString title() const;
};

using ClientResult = Result<std::shared_ptr<ServiceClient>>;
/// Opens a client without blocking; calls back on the GUI thread. Given by the program (app/kerf_main.cpp).
using ClientOpener = std::function<void(ConnectionSpec spec, std::function<void(ClientResult)> done)>;

/// Between the service and the state of the window: turns calls and events into values, at most ten updates a
/// second, and never waits. Every answer of an older client or session is dropped.
class Controller : public QObject
{
    Q_OBJECT
public:
    explicit Controller(ConsoleState *state, QObject *parent = nullptr);
    ~Controller() override;

    void setClient(std::shared_ptr<ServiceClient> client);
    bool hasClient() const { return m_client != nullptr; }
    const ServiceClient *client() const { return m_client.get(); }
    std::shared_ptr<ServiceClient> sharedClient() const { return m_client; }
    void disconnectClient();

    void openSession(const QString &id);
    void createSession(const QString &title);
    void plan(std::optional<int> requestedCut = std::nullopt);
    void apply();
    void undoLast();
    void setProfile(const QString &name);
    void setSlotChoice(int slotId);
    void pin(int seq);
    void showText(int seq);
    void refresh(bool probe = false);
    /// Whether somebody looks at the retained prefix: it is asked for only then.
    void setComparing(bool comparing);
    void setPaused(bool paused);
    bool isPaused() const { return m_paused; }
    /// Asks again what every cut would cost.
    void refreshCuts() { want(WantCuts); }

    /// For docks and dialogs of their own: asks, and drops the answers of an older connection.
    void request(const QString &method, const QJsonObject &params,
                 const std::function<void(const Result<QJsonObject> &)> &answered);
    Caller caller();
    QString sessionId() const { return m_sessionId; }
    /// Only watches: plans, applies and pins nothing.
    void setViewer(bool viewer) { m_viewer = viewer; }

    /// Empty when Apply may be pressed; else why not, for the tooltip.
    QString whyNotApply() const;
    QString whyNotPlan() const;
    int staleBy() const; ///< episodes since the current plan was made

Q_SIGNALS:
    void said(const QString &text); ///< for the status bar
    void failed(const QString &what, const kerf::Error &error);
    void happened(const QList<kerf::EventValue> &events);
    void compared(const std::optional<kerf::PrefixComparison> &comparison, const QString &why);
    void textShown(const QString &title, const QString &text);
    void connectedChanged();
    void planChanged();
    void profileChanged(const QString &by); ///< somebody set it; the values follow

private:
    enum Want : uint {
        WantDoctor = 1,
        WantSlots = 2,
        WantSessions = 4,
        WantSession = 8,
        WantEpisodes = 16,
        WantCompactions = 32,
        WantReceipt = 64,
        WantProfile = 128,
        WantComparison = 256,
        WantCuts = 512
    };
    template<typename Handler>
    void ask(const QString &method, const QJsonObject &params, Handler handler);
    void want(uint parts);
    void fetch();
    void fetchOne(uint part);
    void done(uint part);
    void fetchEpisodes(int fromSeq, QList<EpisodeValue> soFar, bool tail);
    void compare();
    void fetchCuts();
    void onEvent(const QString &topic, const QJsonObject &params);
    void linkChanged(bool connected);
    QJsonObject inSession(QJsonObject params = {}) const;

    ConsoleState *m_state;
    std::shared_ptr<ServiceClient> m_client;
    quint64 m_generation = 0; ///< rises with the client
    quint64 m_sessionGeneration = 0;
    QString m_sessionId;
    uint m_wanted = 0;
    uint m_running = 0;
    QTimer m_fetchTimer;
    QTimer m_pollTimer;
    QTimer m_eventTimer;
    QList<EventValue> m_events;
    bool m_comparing = false;
    bool m_paused = false;
    bool m_viewer = false;
    bool m_fullEpisodes = true;
    int m_planEpisodes = 0;
    qint64 m_planRevision = -1;
    QElapsedTimer m_cutsClock; ///< since they were asked for
    qint64 m_cutsTookMs = 0;
};

} // namespace kerf
