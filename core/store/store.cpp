// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/store/store.h"

#include "core/base/log.h"
#include "core/store/database.h"

#include <QThread>

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace kerf {

namespace {

/// The writer thread: jobs run one after another in the order in which they were given.
class Worker
{
public:
    Worker()
        : m_thread([this] { loop(); })
    {
    }

    ~Worker()
    {
        {
            const std::lock_guard lock(m_mutex);
            m_ending = true;
        }
        m_wake.notify_one();
        m_thread.join(); // what was accepted is done first
    }

    void post(std::function<void(Database &)> job)
    {
        {
            const std::lock_guard lock(m_mutex);
            m_jobs.push_back(std::move(job));
        }
        m_wake.notify_one();
    }

private:
    void loop()
    {
        Database database; // lives and dies on this thread, with its connection
        for (;;) {
            std::function<void(Database &)> job;
            {
                std::unique_lock lock(m_mutex);
                m_wake.wait(lock, [this] { return m_ending || !m_jobs.empty(); });
                if (m_jobs.empty())
                    return;
                job = std::move(m_jobs.front());
                m_jobs.pop_front();
            }
            job(database);
        }
    }

    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::deque<std::function<void(Database &)>> m_jobs;
    bool m_ending = false;
    std::thread m_thread;
};

/// Awaiting one runs a job on the worker and comes back on the thread of `context`. It lives in the caller's frame.
template<typename T>
class Answer
{
public:
    Answer(Worker &worker, QObject *context, std::function<Result<T>(Database &)> work)
        : m_worker(worker)
        , m_context(context)
        , m_work(std::move(work))
    {
    }

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting)
    {
        m_worker.post([this, waiting](Database &database) {
            m_result = m_work(database);
            QMetaObject::invokeMethod(
                m_context, [waiting] { waiting.resume(); }, Qt::QueuedConnection);
        });
    }
    Result<T> await_resume() { return std::move(*m_result); }

private:
    Worker &m_worker;
    QObject *m_context;
    std::function<Result<T>(Database &)> m_work;
    std::optional<Result<T>> m_result;
};

} // namespace

class Store::Private
{
public:
    Worker worker;
    QObject context; ///< on the caller's thread; results of a store that is gone are dropped with it
    QString path;
    StoreStats stats;

    template<typename T>
    QCoro::Task<Result<T>> ask(std::function<Result<T>(Database &)> work)
    {
        // Named, not a temporary of the co_await: gcc 12 destroys such temporaries twice.
        Answer<T> answer(worker, &context, std::move(work));
        co_return co_await answer;
    }
};

Store::Store(std::unique_ptr<Private> p)
    : d(std::move(p))
{
}

Store::~Store() = default;

QCoro::Task<Result<std::shared_ptr<Store>>> Store::open(QString path)
{
    auto inner = std::make_unique<Private>();
    inner->path = path;
    Private *raw = inner.get();
    std::function<Result<StoreStats>(Database &)> work = [path](Database &database) -> Result<StoreStats> {
        if (auto done = database.open(path); !done) {
            database.close();
            return std::unexpected(done.error());
        }
        return database.count();
    };
    auto opened = co_await raw->ask<StoreStats>(std::move(work));
    if (!opened)
        co_return std::unexpected(opened.error());
    inner->stats = *opened;
    co_return std::shared_ptr<Store>(new Store(std::move(inner)));
}

QString Store::path() const { return d->path; }
int Store::schemaVersion() const { return d->stats.schema; }
StoreStats Store::stats() const { return d->stats; }

// Arguments are copied into the job: it runs on the other thread.
QCoro::Task<Result<SessionRecord>> Store::createSession(QString id, QString title)
{
    std::function<Result<std::pair<SessionRecord, StoreStats>>(Database &)> work =
        [=](Database &database) -> Result<std::pair<SessionRecord, StoreStats>> {
        auto record = database.createSession(id, title);
        if (!record)
            return std::unexpected(record.error());
        auto stats = database.count();
        if (!stats)
            return std::unexpected(stats.error());
        return std::pair{*record, *stats};
    };
    auto made = co_await d->ask<std::pair<SessionRecord, StoreStats>>(std::move(work));
    if (!made)
        co_return std::unexpected(made.error());
    d->stats = made->second;
    co_return made->first;
}

QCoro::Task<Result<SessionData>> Store::loadSession(QString id)
{
    return d->ask<SessionData>([=](Database &database) { return database.loadSession(id); });
}

QCoro::Task<Result<QList<SessionRecord>>> Store::listSessions()
{
    return d->ask<QList<SessionRecord>>([](Database &database) { return database.listSessions(); });
}

QCoro::Task<Result<void>> Store::renameSession(QString id, QString title)
{
    return d->ask<void>([=](Database &database) { return database.renameSession(id, title); });
}

QCoro::Task<Result<void>> Store::deleteSession(QString id)
{
    std::function<Result<StoreStats>(Database &)> work = [=](Database &database) -> Result<StoreStats> {
        if (auto done = database.deleteSession(id); !done)
            return std::unexpected(done.error());
        return database.count();
    };
    auto deleted = co_await d->ask<StoreStats>(std::move(work));
    if (!deleted)
        co_return std::unexpected(deleted.error());
    d->stats = *deleted;
    co_return Result<void>();
}

QCoro::Task<Result<AppendedEpisode>> Store::appendEpisode(Episode draft)
{
    std::function<Result<AppendedEpisode>(Database &)> work = [draft = std::move(draft)](Database &database) {
        return database.appendEpisode(draft);
    };
    auto appended = co_await d->ask<AppendedEpisode>(std::move(work));
    if (appended && !appended->duplicate) {
        ++d->stats.episodes;
        if (appended->episode.seq == 1 && appended->revision == 1)
            ++d->stats.sessions;
    }
    co_return appended;
}

QCoro::Task<Result<AppendedEpisode>> Store::closeFold(QString key, QJsonObject fold, QList<TierChange> tiers,
                                                      Episode summary, QJsonObject state)
{
    std::function<Result<AppendedEpisode>(Database &)> work = [=, summary = std::move(summary)](Database &database) {
        return database.closeFold(key, fold, tiers, summary, state);
    };
    auto appended = co_await d->ask<AppendedEpisode>(std::move(work));
    if (appended && !appended->duplicate)
        ++d->stats.episodes;
    co_return appended;
}

QCoro::Task<Result<Episode>> Store::episode(qint64 id)
{
    return d->ask<Episode>([=](Database &database) { return database.episode(id); });
}

QCoro::Task<Result<QList<Episode>>> Store::episodesById(QList<qint64> ids)
{
    return d->ask<QList<Episode>>([=](Database &database) { return database.episodesById(ids); });
}

QCoro::Task<Result<QList<Episode>>> Store::episodesFrom(QString sessionId, int fromSeq, int limit, bool withContent)
{
    return d->ask<QList<Episode>>(
        [=](Database &database) { return database.episodesFrom(sessionId, fromSeq, limit, withContent); });
}

QCoro::Task<Result<qint64>> Store::saveConfig(QString sessionId, SessionConfig config)
{
    return d->ask<qint64>([=](Database &database) { return database.saveConfig(sessionId, config); });
}

QCoro::Task<Result<void>> Store::saveState(QString sessionId, QJsonObject state, QString serverIdentity, int turn)
{
    return d->ask<void>([=](Database &database) { return database.saveState(sessionId, state, serverIdentity, turn); });
}

QCoro::Task<Result<std::pair<Anchor, qint64>>> Store::addAnchor(Anchor anchor)
{
    std::function<Result<std::pair<Anchor, qint64>>(Database &)> work = [=](Database &database) {
        return database.addAnchor(anchor);
    };
    auto added = co_await d->ask<std::pair<Anchor, qint64>>(std::move(work));
    if (added)
        ++d->stats.anchors;
    co_return added;
}

QCoro::Task<Result<std::pair<Anchor, qint64>>> Store::removeAnchor(qint64 anchorId)
{
    std::function<Result<std::pair<Anchor, qint64>>(Database &)> work = [=](Database &database) {
        return database.removeAnchor(anchorId);
    };
    auto removed = co_await d->ask<std::pair<Anchor, qint64>>(std::move(work));
    if (removed)
        --d->stats.anchors;
    co_return removed;
}

QCoro::Task<Result<void>> Store::updateAnchors(QList<Anchor> anchors)
{
    return d->ask<void>([=](Database &database) { return database.updateAnchors(anchors); });
}

QCoro::Task<Result<void>> Store::savePlan(PlanRecord plan)
{
    return d->ask<void>([=](Database &database) { return database.savePlan(plan); });
}

QCoro::Task<Result<PlanRecord>> Store::plan(QString id)
{
    return d->ask<PlanRecord>([=](Database &database) { return database.plan(id); });
}

QCoro::Task<Result<PlanRecord>> Store::applyPlan(PlanRecord plan, QList<TierChange> tiers, QJsonObject state,
                                                 QList<Anchor> anchors)
{
    return d->ask<PlanRecord>([=](Database &database) { return database.applyPlan(plan, tiers, state, anchors); });
}

QCoro::Task<Result<qint64>> Store::undoPlan(QString planId, QList<TierChange> tiers, QJsonObject state,
                                            QList<Anchor> anchors)
{
    return d->ask<qint64>([=](Database &database) { return database.undoPlan(planId, tiers, state, anchors); });
}

QCoro::Task<Result<QList<PlanRecord>>> Store::appliedPlans(QString sessionId, int limit)
{
    return d->ask<QList<PlanRecord>>([=](Database &database) { return database.appliedPlans(sessionId, limit); });
}

QCoro::Task<Result<void>> Store::settlePlan(QString planId, QString outcome, QJsonObject settlement)
{
    return d->ask<void>([=](Database &database) { return database.settlePlan(planId, outcome, settlement); });
}

QCoro::Task<Result<void>> Store::saveReceipt(QString sessionId, int turn, QJsonObject receipt)
{
    return d->ask<void>([=](Database &database) { return database.saveReceipt(sessionId, turn, receipt); });
}

QCoro::Task<Result<QJsonObject>> Store::receipt(QString sessionId, int turn)
{
    return d->ask<QJsonObject>([=](Database &database) { return database.receipt(sessionId, turn); });
}

QCoro::Task<Result<void>> Store::saveUsage(QString sessionId, int turn, QJsonObject usage)
{
    return d->ask<void>([=](Database &database) { return database.saveUsage(sessionId, turn, usage); });
}

QCoro::Task<Result<QList<QJsonObject>>> Store::usages(QString sessionId, int limit)
{
    return d->ask<QList<QJsonObject>>([=](Database &database) { return database.usages(sessionId, limit); });
}

QCoro::Task<Result<std::optional<int>>> Store::tokenCount(QString tokenizer, QByteArray textHash)
{
    return d->ask<std::optional<int>>([=](Database &database) { return database.tokenCount(tokenizer, textHash); });
}

QCoro::Task<Result<void>> Store::saveTokenCount(QString tokenizer, QByteArray textHash, int count)
{
    return d->ask<void>([=](Database &database) { return database.saveTokenCount(tokenizer, textHash, count); });
}

QCoro::Task<Result<void>> Store::saveEpisodeCount(qint64 episodeId, int count, bool exact)
{
    return d->ask<void>([=](Database &database) { return database.saveEpisodeCount(episodeId, count, exact); });
}

QCoro::Task<Result<qint64>> Store::saveCheckpoint(QString sessionId, Checkpoint checkpoint)
{
    return d->ask<qint64>([=](Database &database) { return database.saveCheckpoint(sessionId, checkpoint); });
}

QCoro::Task<Result<QList<Checkpoint>>> Store::checkpoints(QString sessionId)
{
    return d->ask<QList<Checkpoint>>([=](Database &database) { return database.checkpoints(sessionId); });
}

QCoro::Task<Result<void>> Store::deleteCheckpoint(qint64 recordId)
{
    return d->ask<void>([=](Database &database) { return database.deleteCheckpoint(recordId); });
}

QCoro::Task<Result<QList<RecallHit>>> Store::recall(QString query, int k, QString sessionId, bool includeFolded)
{
    return d->ask<QList<RecallHit>>(
        [=](Database &database) { return database.recall(query, k, sessionId, includeFolded); });
}

QCoro::Task<Result<QJsonObject>> Store::value(QString key)
{
    return d->ask<QJsonObject>([=](Database &database) { return database.value(key); });
}

QCoro::Task<Result<void>> Store::setValue(QString key, QJsonObject value)
{
    return d->ask<void>([=](Database &database) { return database.setValue(key, value); });
}

QCoro::Task<Result<QList<std::pair<QString, QJsonObject>>>> Store::valuesWithPrefix(QString prefix)
{
    return d->ask<QList<std::pair<QString, QJsonObject>>>(
        [=](Database &database) { return database.valuesWithPrefix(prefix); });
}

} // namespace kerf
