// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// memory.commit_episode (backend none, short texts, each acknowledged before the next one: on disk) against a bare
// SQLite loop: one prepared insert, one transaction each, on the same disk with the same pragmas. The two take
// turns in short rounds, so that a slow moment of the disk meets both.

#include "core/engine/kerfservice.h"
#include "tests/bench/bench.h"

#include <QCoroTask>

#include <QCoreApplication>
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QTemporaryDir>

#include <cstdlib>
#include <vector>

using namespace kerf;

namespace {

constexpr int kRounds = 9;
constexpr int kCommits = 300; // a round

QString textOf(int i) { return QStringLiteral("Turn %1: the build is green again after the retry loop moved.").arg(i); }

[[noreturn]] void fail(const QString &what)
{
    std::fprintf(stderr, "bench_store: %s\n", qPrintable(what));
    std::exit(1);
}

void run(QSqlQuery &query, const QString &sql)
{
    if (!query.exec(sql))
        fail(sql + QStringLiteral(": ") + query.lastError().text());
}

class BareLoop
{
public:
    explicit BareLoop(const QString &path)
    {
        m_db = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), QStringLiteral("bare"));
        m_db.setDatabaseName(path);
        if (!m_db.open())
            fail(m_db.lastError().text());
        QSqlQuery query(m_db);
        run(query, QStringLiteral("PRAGMA journal_mode=WAL"));
        if (!query.next() || query.value(0).toString() != QLatin1String("wal"))
            fail(QStringLiteral("no WAL"));
        run(query, QStringLiteral("PRAGMA synchronous=FULL"));
        run(query, QStringLiteral("PRAGMA foreign_keys=ON"));
        run(query,
            QStringLiteral(
                "CREATE TABLE episode(id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, seq INTEGER NOT NULL, "
                "role TEXT NOT NULL, content TEXT, created_at TEXT NOT NULL, UNIQUE(session_id, seq))"));
    }

    void commit(int from, int count)
    {
        QSqlQuery insert(m_db);
        insert.prepare(QStringLiteral(
            "INSERT INTO episode(session_id, seq, role, content, created_at) VALUES('bench', :seq, 'user', "
            ":content, '2026-01-01T00:00:00Z')"));
        for (int i = from; i < from + count; ++i) {
            insert.bindValue(QStringLiteral(":seq"), i + 1);
            insert.bindValue(QStringLiteral(":content"), textOf(i));
            if (!m_db.transaction() || !insert.exec() || !m_db.commit())
                fail(insert.lastError().text());
        }
    }

private:
    QSqlDatabase m_db;
};

QJsonObject commitParams(int i)
{
    return {{QStringLiteral("session_id"), QStringLiteral("bench")},
            {QStringLiteral("role"), QStringLiteral("user")},
            {QStringLiteral("content"), textOf(i)}};
}

QCoro::Task<bool> commitOneByOne(MethodHandler *handler, int from, int count)
{
    const QString method = QStringLiteral("memory.commit_episode");
    const CallContext context;
    for (int i = from; i < from + count; ++i) {
        const QJsonObject params = commitParams(i);
        const auto answer = co_await handler->call(method, params, context);
        if (!answer || answer->value(QStringLiteral("seq")).toInt() != i + 1)
            co_return false;
    }
    co_return true;
}

/// All at once, as a harness does that writes its requests without waiting; still one transaction each.
QCoro::Task<bool> commitPipelined(MethodHandler *handler, int from, int count)
{
    std::vector<QCoro::Task<Result<QJsonObject>>> tasks;
    for (int i = from; i < from + count; ++i)
        tasks.push_back(handler->call(QStringLiteral("memory.commit_episode"), commitParams(i), CallContext()));
    for (QCoro::Task<Result<QJsonObject>> &task : tasks) {
        const auto answer = co_await task;
        if (!answer)
            co_return false;
    }
    co_return true;
}

double perSecond(qint64 nanoseconds) { return kCommits * 1e9 / double(nanoseconds); }

} // namespace

int main(int argc, char *argv[])
{
    QCoreApplication app(argc, argv);
    // Beside the build, not in /tmp: a memory file system would make fsync free.
    QTemporaryDir dir(QCoreApplication::applicationDirPath() + QStringLiteral("/bench-store-XXXXXX"));
    if (!dir.isValid())
        fail(dir.errorString());
    BareLoop bare(dir.filePath(QStringLiteral("bare.db")));
    ServiceOptions options;
    options.dbPath = dir.filePath(QStringLiteral("kerf.db"));
    options.backend.spec = QStringLiteral("none");
    auto service = QCoro::waitFor(openService(options));
    if (!service)
        fail(service.error().message);

    QList<double> bareRates;
    QList<double> kerfRates;
    QList<double> pipelinedRates;
    QList<double> ratios;
    QElapsedTimer timer;
    int done = 0;
    for (int round = 0; round < kRounds; ++round) {
        timer.start();
        bare.commit(round * kCommits, kCommits);
        bareRates.append(perSecond(timer.nsecsElapsed()));
        timer.start();
        if (!QCoro::waitFor(commitOneByOne(service->get(), done, kCommits)))
            fail(QStringLiteral("a commit failed"));
        kerfRates.append(perSecond(timer.nsecsElapsed()));
        done += kCommits;
        timer.start();
        if (!QCoro::waitFor(commitPipelined(service->get(), done, kCommits)))
            fail(QStringLiteral("a commit failed"));
        pipelinedRates.append(perSecond(timer.nsecsElapsed()));
        done += kCommits;
        ratios.append(kerfRates.last() / bareRates.last());
    }
    bench::report(QStringLiteral("commits: bare SQLite loop"), bench::median(bareRates), QStringLiteral("/s"));
    bench::report(QStringLiteral("commits: memory.commit_episode, one by one"), bench::median(kerfRates),
                  QStringLiteral("/s"));
    bench::report(QStringLiteral("commits: memory.commit_episode, %1 in flight").arg(kCommits),
                  bench::median(pipelinedRates), QStringLiteral("/s"));
    bench::reportRatio(QStringLiteral("commits one by one against the bare loop"), bench::median(ratios), 0.5, false);
    return 0;
}
