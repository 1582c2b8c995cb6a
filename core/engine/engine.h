// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/calibration/calibration.h"
#include "core/diagnosis/promptdiff.h"
#include "core/engine/keptprompts.h"
#include "core/engine/kerfservice.h"
#include "core/engine/session.h"
#include "core/engine/slothistory.h"
#include "core/eviction/planner.h"

#include <QHash>

#include <memory>

namespace kerf {

/// The whole engine behind the methods of PROTOCOL.md. One thread, the one that made it; store and planning run
/// elsewhere, so that its event loop never waits. Every method works on a snapshot of its session between two
/// awaits and looks the session up again behind each.
class Engine : public MethodHandler, public std::enable_shared_from_this<Engine>
{
    Q_OBJECT
public:
    Engine(std::shared_ptr<Store> store, std::unique_ptr<Backend> backend, ServiceOptions options,
           QString profileVariable);
    ~Engine() override;

    /// What earlier runs kept of servers, from the store; before start().
    QCoro::Task<void> readEvidence();
    QCoro::Task<void> readFolds();
    void start();

    bool knows(const QString &method) const override;
    QCoro::Task<Result<QJsonObject>> call(QString method, QJsonObject params, CallContext context) override;
    std::optional<Result<QJsonObject>> callNow(const QString &method, const QJsonObject &params,
                                               const CallContext &context) override;
    QString render(const QString &method, const QJsonObject &result) const override;

private:
    struct DiffPrompt { ///< one side of context.diff
        DiffSide side;
        QJsonArray parts;
    };
    using SessionPtr = std::shared_ptr<Session>;
    using Answer = QCoro::Task<Result<QJsonObject>>;
    using Method = Answer (Engine::*)(QJsonObject, CallContext);
    static const QHash<QString, Method> &methods();

    // sessions and episodes (episodemethods.cpp)
    Answer sessionConfigure(QJsonObject params, CallContext context);
    Answer sessionCreate(QJsonObject params, CallContext context);
    Answer sessionRename(QJsonObject params, CallContext context);
    Answer sessionDelete(QJsonObject params, CallContext context);
    Answer sessionList(QJsonObject params, CallContext context);
    Answer sessionGet(QJsonObject params, CallContext context);
    Answer sessionEpisodes(QJsonObject params, CallContext context);
    Answer commitEpisode(QJsonObject params, CallContext context);
    Answer pin(QJsonObject params, CallContext context);
    Answer unpin(QJsonObject params, CallContext context);
    Answer recall(QJsonObject params, CallContext context);
    Answer getEpisode(QJsonObject params, CallContext context);

    // context (planmethods.cpp, cutmethods.cpp, requestmethods.cpp)
    Answer planEviction(QJsonObject params, CallContext context);
    Answer cuts(QJsonObject params, CallContext context);
    Answer applyPlan(QJsonObject params, CallContext context);
    Answer undo(QJsonObject params, CallContext context);
    Answer assemble(QJsonObject params, CallContext context);
    Answer recordTimings(QJsonObject params, CallContext context);
    Answer recordUsage(QJsonObject params, CallContext context);
    Answer receipt(QJsonObject params, CallContext context);
    Answer compactions(QJsonObject params, CallContext context);
    Answer promptTokens(QJsonObject params, CallContext context);
    Answer diff(QJsonObject params, CallContext context); // diffmethod.cpp
    QCoro::Task<Result<DiffPrompt>> diffPrompt(SessionPtr session, QJsonValue which, QString field);

    // server, profile, service (servermethods.cpp)
    Answer doctor(QJsonObject params, CallContext context);
    Answer slots(QJsonObject params, CallContext context);
    Answer simulate(QJsonObject params, CallContext context);
    Answer profileGet(QJsonObject params, CallContext context);
    Answer profileSet(QJsonObject params, CallContext context);
    Answer profileReset(QJsonObject params, CallContext context);
    Answer status(QJsonObject params, CallContext context);
    Answer subscribe(QJsonObject params, CallContext context);
    QJsonObject statusJson() const;

    // for operators (operatormethods.cpp)
    Answer slotAction(QJsonObject params, CallContext context);
    Answer evidence(QJsonObject params, CallContext context);
    Answer forget(QJsonObject params, CallContext context);
    Answer serverLog(QJsonObject params, CallContext context);
    Answer replayStart(QJsonObject params, CallContext context);
    Answer replayCancel(QJsonObject params, CallContext context);
    Answer replayStatus(QJsonObject params, CallContext context);
    struct ReplayRun;
    QCoro::Task<void> runReplay(std::shared_ptr<ReplayRun> run);
    void watchSlots();
    QCoro::Task<void> keepEvidence();
    QJsonArray savesJson() const;

    // folds and snapshots (foldmethods.cpp)
    Answer fold(QJsonObject params, CallContext context);
    Answer unfold(QJsonObject params, CallContext context);
    Answer recallFold(QJsonObject params, CallContext context);
    Answer snapshot(QJsonObject params, CallContext context);
    Answer restoreSnapshot(QJsonObject params, CallContext context);
    int openFoldCount() const;
    qint64 openFoldOf(const QString &sessionId) const;
    Result<QJsonObject> foldOf(const QJsonObject &params) const;
    QCoro::Task<Result<Checkpoint>> saveHeld(SessionPtr session, int slotId, CheckpointKind kind, QString file);
    QString faultOf(const Checkpoint &save) const;
    QCoro::Task<void> pruneSaves(SessionPtr session, int slotId);
    QCoro::Task<bool> proveRollback(SessionPtr session, int reused);

    Answer importTranscript(QJsonObject params, CallContext context); // importmethod.cpp

    // the experiment (calibratemethod.cpp)
    Answer calibrate(QJsonObject params, CallContext context);
    Answer calibrateCancel(QJsonObject params, CallContext context);
    QCoro::Task<Result<CalibrationReply>> calibrationAct(CalibrationRequest request, int slotId, QString file);
    QCoro::Task<void> useCalibration(CalibrationFinding finding);

    // shared
    QCoro::Task<Result<SessionPtr>> openSession(QString id, bool create);
    QCoro::Task<Result<void>> saveState(SessionPtr session);
    QCoro::Task<Result<LivePrompt>> livePrompt(SessionPtr session);
    QCoro::Task<Result<LivePrompt>> renderPrompt(QList<Episode> episodes, QList<Anchor> anchors, PromptState state,
                                                 SessionConfig config, qint64 revision);
    Result<EvictionPolicy> policyFor(const Session *session) const;
    Result<EvictionPolicy> policyNamed(const QString &name, const QString &because) const;
    QJsonObject policyJson(const EvictionPolicy &policy, const Session *session) const;
    bool reuseEstablished() const;
    int windowFor(const Session &session) const;
    Budget budgetOf(const Session &session, const EvictionPolicy &policy) const;
    QJsonObject statsJson(const Session &session) const;
    QJsonObject breakdownJson(const Session &session, const LivePrompt &live) const;
    QJsonObject receiptFor(const Session &session, const OpenPrediction &prediction, const QJsonObject &settlement,
                           const QJsonValue &eviction, int turn) const;
    int newTokensOf(const Session &session, const LivePrompt &live) const;
    int replyEqualTokens(const Session &session, const LivePrompt &live) const;
    void applyReplyMode(const Session &session, ReusePrediction &prediction) const;
    QCoro::Task<Result<KeptPrompt>> promptOf(SessionPtr session, QString which, QString field);
    QCoro::Task<Result<QJsonObject>> applyRecord(SessionPtr session, PlanRecord record, int slotId);
    QCoro::Task<QStringList> takeSnapshot(SessionPtr session, const PlanRecord &record, int slotId);

    void publish(const QString &topic, QJsonObject params);
    void queueCount(const QString &sessionId, qint64 episodeId);
    QCoro::Task<void> drainCounts();
    void watchBackend();

    std::shared_ptr<Store> m_store;
    std::unique_ptr<Backend> m_backend;
    ServiceOptions m_options;
    QString m_profileVariable; ///< value of KERF_EVICTION_PROFILE; empty = not set
    QString m_profileVariableName;
    QJsonObject m_serviceProfile; ///< {name?, overrides?} set without a session
    QHash<QString, QJsonObject> m_savedProfiles; ///< name -> {base, overrides}
    QHash<QString, SessionPtr> m_sessions;
    QHash<QString, LivePrompt> m_live; ///< last rendered prompt a session
    QHash<QString, QJsonObject> m_relaxed; ///< answers of plans that had nothing to do, by plan id (a few)
    QStringList m_relaxedOrder;
    QList<std::pair<QString, qint64>> m_countQueue;
    bool m_counting = false;
    qint64 m_planCounter = 0;
    QString m_lastSlotsDigest;
    KeptPrompts m_keptPrompts;
    SlotHistory m_slotHistory;
    QHash<QString, QJsonArray> m_evidence; ///< what is kept of servers, by Backend::evidenceKey()
    QList<std::shared_ptr<ReplayRun>> m_replays; ///< newest last
    QHash<qint64, QJsonObject> m_folds; ///< open and closed, by id
    bool m_calibrating = false;
    bool m_calibrationCancelled = false;
    BackendOptions m_replayBackend; ///< with the API key: a replay's service talks to the same server
};

// Reading parameters. All errors are InvalidParams and name the field.
namespace params {
Result<QString> text(const QJsonObject &object, const QString &field, bool required);
Result<int> integer(const QJsonObject &object, const QString &field, int otherwise, int least, int most);
Result<qint64> id(const QJsonObject &object, const QString &field); ///< required, positive
Result<bool> flag(const QJsonObject &object, const QString &field, bool otherwise);
Result<double> number(const QJsonObject &object, const QString &field, double otherwise);
Result<int> slot(const QJsonObject &object); ///< slot_id: integer or decimal string; -1 = the server's choice
Result<QString> session(const QJsonObject &object, const QString &defaultSession);
QString iso(const QDateTime &time);
QJsonValue orNull(int value); ///< negative = null
QJsonValue orNull(double value); ///< negative = null
QJsonValue orNull(const QString &text); ///< empty = null
} // namespace params

} // namespace kerf

/// Leaves the method with the error of a failed step.
#define KERF_TRY(variable, expression) \
    auto variable##Result = (expression); \
    if (!variable##Result) \
        co_return std::unexpected(variable##Result.error()); \
    auto variable = std::move(*variable##Result)
#define KERF_TRY_VOID(expression) \
    if (auto voidResult = (expression); !voidResult) \
    co_return std::unexpected(voidResult.error())
