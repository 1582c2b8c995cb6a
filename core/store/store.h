// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"
#include "core/cache/reuse.h"
#include "core/session/episode.h"

#include <QCoroTask>

#include <QJsonArray>
#include <QJsonObject>
#include <QList>
#include <QObject>
#include <QString>

#include <memory>
#include <optional>

namespace kerf {

struct SessionRecord {
    QString id;
    QString title;
    qint64 revision = 0;
    int turn = 0; ///< requests recorded so far
    SessionConfig config;
    QJsonObject state; ///< the engine's own: marker host, sent mark, profile overrides, ...
    QString serverIdentity; ///< (build, model) of its last request
    QDateTime createdAt;
    QDateTime updatedAt;
    qint64 episodeCount = 0;
};

/// Everything of a session that the engine keeps in memory.
struct SessionData {
    SessionRecord record;
    QList<Episode> episodes; ///< by seq; content loaded only for tiers in the prompt
    QList<Anchor> anchors;
};

struct AppendedEpisode {
    Episode episode;
    qint64 revision = 0;
    bool duplicate = false; ///< the client_ref was there already: `episode` is that one, nothing was written
};

struct TierChange {
    qint64 episodeId = 0;
    Tier tier = Tier::Live;
};

/// A plan as kept: prediction when planned, outcome when settled.
struct PlanRecord {
    QString id;
    QString sessionId;
    qint64 sessionRevision = 0; ///< it was planned on
    QString status; ///< planned|applied|undone
    QJsonObject plan; ///< the wire object of context.plan_eviction
    QJsonObject internal; ///< what the engine needs beside it to apply
    QString outcome; ///< waiting|confirmed|better|refuted|none; empty while only planned
    QJsonObject settlement;
    QDateTime plannedAt; ///< when the prediction was stored
    QDateTime appliedAt;
    int number = 0; ///< 1, 2, ... among the applied plans of its session; 0 = not applied
    qint64 appliedRevision = 0;
};

struct RecallHit {
    qint64 id = 0; ///< episode id
    QString kind; ///< episode role name
    double score = 0; ///< larger = better
    QString text; ///< byte-identical content
    Tier tier = Tier::Live;
    int seq = 0;
    int tokenCount = 0;
    bool tokenCountExact = false;
    QString sessionId;
};

struct StoreStats {
    QString path;
    qint64 bytes = 0;
    int schema = 0;
    qint64 episodes = 0;
    qint64 sessions = 0;
    qint64 anchors = 0;
    qint64 openFolds = 0;
};

/// SQLite behind one writer thread of its own (SPEC section 12): WAL, synchronous FULL. An answered write is
/// on disk. All functions may be called from the engine's thread only and never block it; jobs run in the
/// order they were given, and a result is delivered on the caller's thread.
/// Errors: Code::Store with the driver's text and the file, Code::NotFound where said.
class Store : public QObject
{
    Q_OBJECT
public:
    /// ":memory:" works. A damaged or newer file is refused and left as it is. Creates parent folders (0700), file
    /// 0600.
    static QCoro::Task<Result<std::shared_ptr<Store>>> open(QString path);
    ~Store() override;

    QString path() const;
    int schemaVersion() const;
    /// Last counted; kept in step with the writes, no query.
    StoreStats stats() const;

    QCoro::Task<Result<SessionRecord>> createSession(QString id, QString title); ///< returns the one that is there, too
    QCoro::Task<Result<SessionData>> loadSession(QString id); ///< NotFound
    QCoro::Task<Result<QList<SessionRecord>>> listSessions();
    QCoro::Task<Result<void>> renameSession(QString id, QString title);
    QCoro::Task<Result<void>> deleteSession(QString id);

    /// Appends in one transaction: seq = last + 1, revision + 1. Creates the session if it is new.
    QCoro::Task<Result<AppendedEpisode>> appendEpisode(Episode draft);
    /// Closes a fold in one transaction: tiers, state, the fold's record (a setting), and its summary as an episode.
    QCoro::Task<Result<AppendedEpisode>> closeFold(QString key, QJsonObject fold, QList<TierChange> tiers,
                                                   Episode summary, QJsonObject state);
    QCoro::Task<Result<Episode>> episode(qint64 id); ///< NotFound
    /// Content of these episodes (undo, recall), by id, in the order asked; missing ids are left out.
    QCoro::Task<Result<QList<Episode>>> episodesById(QList<qint64> ids);
    /// For paging views: by seq, content not loaded unless asked.
    QCoro::Task<Result<QList<Episode>>> episodesFrom(QString sessionId, int fromSeq, int limit, bool withContent);

    QCoro::Task<Result<qint64>> saveConfig(QString sessionId, SessionConfig config); ///< new revision
    QCoro::Task<Result<void>> saveState(QString sessionId, QJsonObject state, QString serverIdentity, int turn);
    QCoro::Task<Result<std::pair<Anchor, qint64>>> addAnchor(Anchor anchor); ///< id filled, new revision
    QCoro::Task<Result<std::pair<Anchor, qint64>>> removeAnchor(
        qint64 anchorId); ///< NotFound; the removed one, new revision
    QCoro::Task<Result<void>> updateAnchors(QList<Anchor> anchors); ///< inHead, hostSeq, counts

    QCoro::Task<Result<void>> savePlan(PlanRecord plan); ///< insert or replace; returns when it is on disk
    QCoro::Task<Result<PlanRecord>> plan(QString id); ///< NotFound
    /// One transaction: tiers, state, anchors, plan status applied with its number, revision + 1.
    QCoro::Task<Result<PlanRecord>> applyPlan(PlanRecord plan, QList<TierChange> tiers, QJsonObject state,
                                              QList<Anchor> anchors);
    /// One transaction: tiers back, plan status undone, revision + 1. Returns the new revision.
    QCoro::Task<Result<qint64>> undoPlan(QString planId, QList<TierChange> tiers, QJsonObject state,
                                         QList<Anchor> anchors);
    QCoro::Task<Result<QList<PlanRecord>>> appliedPlans(QString sessionId,
                                                        int limit); ///< newest first; limit <= 0 = all
    QCoro::Task<Result<void>> settlePlan(QString planId, QString outcome, QJsonObject settlement);

    /// A recorded request of a session: its receipt is `receipt` (JSON as on the wire).
    QCoro::Task<Result<void>> saveReceipt(QString sessionId, int turn, QJsonObject receipt);
    QCoro::Task<Result<QJsonObject>> receipt(QString sessionId, int turn); ///< turn <= 0 = the last; NotFound
    QCoro::Task<Result<void>> saveUsage(QString sessionId, int turn, QJsonObject usage);
    QCoro::Task<Result<QList<QJsonObject>>> usages(QString sessionId, int limit); ///< newest first

    QCoro::Task<Result<std::optional<int>>> tokenCount(QString tokenizer, QByteArray textHash);
    QCoro::Task<Result<void>> saveTokenCount(QString tokenizer, QByteArray textHash, int count);
    QCoro::Task<Result<void>> saveEpisodeCount(qint64 episodeId, int count, bool exact);

    QCoro::Task<Result<qint64>> saveCheckpoint(QString sessionId, Checkpoint checkpoint); ///< row id
    QCoro::Task<Result<QList<Checkpoint>>> checkpoints(QString sessionId);
    QCoro::Task<Result<void>> deleteCheckpoint(qint64 recordId);

    /// Full text, trigram (finds Chinese and Japanese too); queries under three characters by LIKE.
    QCoro::Task<Result<QList<RecallHit>>> recall(QString query, int k, QString sessionId, bool includeFolded);

    /// Small settings: saved profiles, server evidence. Empty object = not there.
    QCoro::Task<Result<QJsonObject>> value(QString key);
    QCoro::Task<Result<void>> setValue(QString key, QJsonObject value);
    QCoro::Task<Result<QList<std::pair<QString, QJsonObject>>>> valuesWithPrefix(QString prefix);

private:
    class Private;
    explicit Store(std::unique_ptr<Private> d);
    std::unique_ptr<Private> d;
};

} // namespace kerf
