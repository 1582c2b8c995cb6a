// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/store/store.h"

#include <QHash>
#include <QLockFile>
#include <QSqlDatabase>
#include <QSqlQuery>

#include <functional>
#include <memory>

namespace kerf {

/// The SQLite file, synchronously. Used on one thread only, the one that opens it. Every function is one transaction.
class Database
{
public:
    Database() = default;
    ~Database();
    Database(const Database &) = delete;
    Database &operator=(const Database &) = delete;

    static constexpr int kSchema = 1; ///< PRAGMA user_version that this build writes

    Result<void> open(const QString &path);
    void close();
    Result<StoreStats> count();

    Result<SessionRecord> createSession(const QString &id, const QString &title);
    Result<SessionData> loadSession(const QString &id);
    Result<QList<SessionRecord>> listSessions();
    Result<void> renameSession(const QString &id, const QString &title);
    Result<int> deleteSession(const QString &id); ///< how many episodes went with it

    Result<AppendedEpisode> appendEpisode(Episode draft);
    Result<AppendedEpisode> closeFold(const QString &key, const QJsonObject &fold, const QList<TierChange> &tiers,
                                      Episode summary, const QJsonObject &state);
    Result<Episode> episode(qint64 id);
    Result<QList<Episode>> episodesById(const QList<qint64> &ids);
    Result<QList<Episode>> episodesFrom(const QString &sessionId, int fromSeq, int limit, bool withContent);

    Result<qint64> saveConfig(const QString &sessionId, const SessionConfig &config);
    Result<void> saveState(const QString &sessionId, const QJsonObject &state, const QString &serverIdentity, int turn);
    Result<std::pair<Anchor, qint64>> addAnchor(Anchor anchor);
    Result<std::pair<Anchor, qint64>> removeAnchor(qint64 anchorId);
    Result<void> updateAnchors(const QList<Anchor> &anchors);

    Result<void> savePlan(const PlanRecord &plan);
    Result<PlanRecord> plan(const QString &id);
    Result<PlanRecord> applyPlan(PlanRecord plan, const QList<TierChange> &tiers, const QJsonObject &state,
                                 const QList<Anchor> &anchors);
    Result<qint64> undoPlan(const QString &planId, const QList<TierChange> &tiers, const QJsonObject &state,
                            const QList<Anchor> &anchors);
    Result<QList<PlanRecord>> appliedPlans(const QString &sessionId, int limit);
    Result<void> settlePlan(const QString &planId, const QString &outcome, const QJsonObject &settlement);

    Result<void> saveReceipt(const QString &sessionId, int turn, const QJsonObject &receipt);
    Result<QJsonObject> receipt(const QString &sessionId, int turn);
    Result<void> saveUsage(const QString &sessionId, int turn, const QJsonObject &usage);
    Result<QList<QJsonObject>> usages(const QString &sessionId, int limit);

    Result<std::optional<int>> tokenCount(const QString &tokenizer, const QByteArray &hash);
    Result<void> saveTokenCount(const QString &tokenizer, const QByteArray &hash, int count);
    Result<void> saveEpisodeCount(qint64 episodeId, int count, bool exact);

    Result<qint64> saveCheckpoint(const QString &sessionId, const Checkpoint &checkpoint);
    Result<QList<Checkpoint>> checkpoints(const QString &sessionId);
    Result<void> deleteCheckpoint(qint64 recordId);

    Result<QList<RecallHit>> recall(const QString &query, int k, const QString &sessionId, bool includeFolded);

    Result<QJsonObject> value(const QString &key);
    Result<void> setValue(const QString &key, const QJsonObject &value);
    Result<QList<std::pair<QString, QJsonObject>>> valuesWithPrefix(const QString &prefix);

private:
    Result<AppendedEpisode> insertEpisode(Episode draft); ///< inside a transaction
    struct SessionMark {
        int seq = 0;
        qint64 revision = 0;
    };
    QSqlQuery *prepared(const QString &sql, Error *error);
    Result<QSqlQuery *> run(const QString &sql, const QVariantList &values);
    Result<void> exec(const QString &sql);
    Result<void> migrate();
    Result<void> check();
    Result<SessionMark *> mark(const QString &sessionId);
    Result<qint64> bump(const QString &sessionId);
    Result<void> writeTiers(const QList<TierChange> &tiers);
    Result<void> writeAnchors(const QList<Anchor> &anchors);
    Error failed(const QString &what, const QString &driverText) const;

    template<typename T>
    Result<T> transaction(const std::function<Result<T>()> &work);

    QString m_path;
    QString m_connection;
    QSqlDatabase m_db;
    std::unique_ptr<QLockFile> m_lock;
    QHash<QString, std::shared_ptr<QSqlQuery>> m_queries;
    QHash<QString, SessionMark> m_marks; ///< last seq and revision of the sessions that were touched
};

} // namespace kerf
