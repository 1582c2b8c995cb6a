// kerf-test: link=kerf_store
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/store/database.h"
#include "core/store/store.h"

#include <QCoroTask>

#include <QCoreApplication>
#include <QProcess>
#include <QRandomGenerator>
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <iostream>
#include <sys/stat.h>

using namespace kerf;

namespace {

Episode draft(const QString &session, const QString &content, Role role = Role::User)
{
    Episode episode;
    episode.sessionId = session;
    episode.content = content;
    episode.role = role;
    return episode;
}

/// Waits for a task's value without blocking the loop.
template<typename T>
std::optional<T> wait(QCoro::Task<T> task, int ms = 20000)
{
    std::optional<T> value;
    auto handled = task.then([&value](T result) { value = std::move(result); });
    Q_UNUSED(handled)
    (void)QTest::qWaitFor([&value] { return value.has_value(); }, ms);
    return value;
}

mode_t modeOf(const QString &path)
{
    struct stat info {
    };
    return ::stat(QFile::encodeName(path).constData(), &info) == 0 ? info.st_mode & 0777 : 0;
}

QByteArray bytesOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class TestStore : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_dir;
    QString path(const char *name) const { return m_dir.filePath(QString::fromLatin1(name)); }

private Q_SLOTS:
    void anEpisodeComesBackAsItWas_data()
    {
        QTest::addColumn<QString>("content");
        QTest::newRow("plain") << QStringLiteral("hello");
        QTest::newRow("empty") << QString();
        QTest::newRow("NUL") << QStringLiteral("a") + QChar(0) + QStringLiteral("b");
        QTest::newRow("lone surrogate") << QString(QChar(0xd83d)) + QStringLiteral("x");
        QTest::newRow("emoji, line separator") << QString::fromUtf8("\xF0\x9F\x98\x80\xE2\x80\xA8 end");
        QTest::newRow("chinese") << QString::fromUtf8("\xE6\xA3\x80\xE6\x9F\xA5\xE7\xBC\x93\xE5\xAD\x98");
        QTest::newRow("1 MB") << QString(1 << 20, QLatin1Char('y'));
    }
    void anEpisodeComesBackAsItWas()
    {
        QFETCH(QString, content);
        Database database;
        QVERIFY(database.open(path("roundtrip.db")));
        Episode episode = draft(QStringLiteral("s"), content, Role::Assistant);
        episode.toolCalls = {{QStringLiteral("id"), QStringLiteral("name"), QStringLiteral("{ \"a\" :1}")}};
        episode.reasoning = content;
        episode.contentParts = QJsonArray{QJsonObject{{QStringLiteral("type"), QStringLiteral("text")}}};
        episode.generatedTokens = {1, 2, 3};
        episode.hasGeneratedTokens = true;
        const auto appended = database.appendEpisode(episode);
        QVERIFY2(appended, appended ? "" : qPrintable(appended.error().message));
        const auto back = database.episode(appended->episode.id);
        QVERIFY(back);
        QCOMPARE(back->content, content.isNull() ? QString() : content);
        QCOMPARE(back->reasoning, content);
        QCOMPARE(back->toolCalls, episode.toolCalls);
        QCOMPARE(back->contentParts, episode.contentParts);
        QCOMPARE(back->generatedTokens, episode.generatedTokens);
        QCOMPARE(back->createdAt.toMSecsSinceEpoch(), appended->episode.createdAt.toMSecsSinceEpoch());
    }

    void filesAreTheUsersAlone()
    {
        Database database;
        QVERIFY(database.open(path("sub/private.db")));
        QVERIFY(database.appendEpisode(draft(QStringLiteral("s"), QStringLiteral("x"))));
        for (const char *suffix : {"", "-wal", "-shm", ".lock"})
            QCOMPARE(modeOf(path("sub/private.db") + QString::fromLatin1(suffix)), 0600u);
        QCOMPARE(modeOf(path("sub")), 0700u);
    }

    void aSecondProcessIsToldWhoHoldsIt()
    {
        Database first;
        QVERIFY(first.open(path("held.db")));
        Database second;
        const auto opened = second.open(path("held.db"));
        QVERIFY(!opened);
        QCOMPARE(opened.error().code, Error::Code::Store);
        QVERIFY2(opened.error().message.contains(QString::number(QCoreApplication::applicationPid())),
                 qPrintable(opened.error().message));
        second.close();
        first.close();
        QVERIFY(second.open(path("held.db")));
    }

    void contentIsNeverChangedOrDeleted()
    {
        const QString file = path("appendonly.db");
        {
            Database database;
            QVERIFY(database.open(file));
            QVERIFY(database.appendEpisode(draft(QStringLiteral("s"), QStringLiteral("x"))));
        }
        {
            QSqlDatabase raw = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), QStringLiteral("raw"));
            raw.setDatabaseName(file);
            QVERIFY(raw.open());
            QSqlQuery query(raw);
            QVERIFY(!query.exec(QStringLiteral("UPDATE episode SET content = 'y'")));
            QVERIFY(!query.exec(QStringLiteral("UPDATE episode SET role = 'tool'")));
            QVERIFY(!query.exec(QStringLiteral("DELETE FROM episode")));
            QVERIFY(query.exec(QStringLiteral("UPDATE episode SET tier = 'masked'")));
            raw.close();
        }
        QSqlDatabase::removeDatabase(QStringLiteral("raw"));
        Database database;
        QVERIFY(database.open(file));
        QCOMPARE(*database.deleteSession(QStringLiteral("s")), 1);
        QCOMPARE(database.loadSession(QStringLiteral("s")).error().code, Error::Code::NotFound);
        QVERIFY(database.recall(QStringLiteral("xyz"), 5, QStringLiteral("s"), true)->isEmpty());
        QCOMPARE(database.count()->episodes, 0);
    }

    void retriesAreOneEpisode()
    {
        Database database;
        QVERIFY(database.open(QStringLiteral(":memory:")));
        Episode episode = draft(QStringLiteral("s"), QStringLiteral("x"));
        episode.clientRef = QStringLiteral("ref");
        const auto first = database.appendEpisode(episode);
        const auto again = database.appendEpisode(episode);
        QVERIFY(first && again);
        QVERIFY(again->duplicate);
        QCOMPARE(again->episode.id, first->episode.id);
        QCOMPARE(again->revision, first->revision);
        episode.sessionId = QStringLiteral("other"); // unique in its session only
        QVERIFY(!database.appendEpisode(episode)->duplicate);
    }

    void damagedAndNewerFilesAreLeftAsTheyAre_data()
    {
        QTest::addColumn<int>("damage");
        QTest::newRow("not a database") << 0;
        QTest::newRow("cut short") << 1;
        QTest::newRow("garbage in the middle") << 2;
        QTest::newRow("newer") << 3;
    }
    void damagedAndNewerFilesAreLeftAsTheyAre()
    {
        QFETCH(int, damage);
        const QString file = m_dir.filePath(QStringLiteral("damaged%1.db").arg(damage));
        {
            Database database;
            QVERIFY(database.open(file));
            for (int i = 0; i < 400; ++i)
                QVERIFY(database.appendEpisode(draft(QStringLiteral("s"), QString(500, QLatin1Char('a' + i % 20)))));
        }
        QByteArray bytes = bytesOf(file);
        QVERIFY(bytes.size() > 50000);
        if (damage == 0)
            bytes = "this is no database, but it has more than a hundred bytes, so that it has to be looked at a "
                    "little more closely than that";
        else if (damage == 1)
            bytes.truncate(bytes.size() / 2 + 100);
        else if (damage == 2)
            bytes.replace(8192, 20000, QByteArray(20000, '\x5a'));
        else
            bytes[63] = char(Database::kSchema + 1);
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly | QIODevice::Truncate));
        out.write(bytes);
        out.close();
        Database database;
        const auto opened = database.open(file);
        QVERIFY(!opened);
        QCOMPARE(opened.error().code, Error::Code::Store);
        QVERIFY2(opened.error().message.contains(file), qPrintable(opened.error().message));
        database.close();
        QCOMPARE(bytesOf(file), bytes);
    }

    void aReadOnlyFolderIsAnError()
    {
        Database database;
        const auto opened = database.open(QStringLiteral("/proc/nothing/kerf.db"));
        QVERIFY(!opened);
        QCOMPARE(opened.error().code, Error::Code::Store);
    }

    void recallFindsWordsInAnyScript()
    {
        Database database;
        QVERIFY(database.open(QStringLiteral(":memory:")));
        const QString session = QStringLiteral("s");
        const QString chinese = QString::fromUtf8("\xE8\xAF\xB7\xE6\xA3\x80\xE6\x9F\xA5\xE7\xBC\x93\xE5\xAD\x98\xE6\x98"
                                                  "\xAF\xE5\x90\xA6\xE5\x8C\xB9\xE9\x85\x8D");
        const QString japanese = QString::fromUtf8(
            "\xE3\x82\xAD\xE3\x83\xA3\xE3\x83\x83\xE3\x82\xB7\xE3\x83\xA5\xE3\x82\x92\xE7\xA2\xBA\xE8\xAA\x8D");
        for (const QString &text :
             {QStringLiteral("the retry limit is 3 in scheduler.cpp"), QStringLiteral("nothing of note"), chinese,
              japanese, QStringLiteral("50%_off \"quoted\" AND OR")})
            QVERIFY(database.appendEpisode(draft(session, text)));
        const auto first = [&](const QString &query) {
            const auto hits = database.recall(query, 3, session, false);
            return hits && !hits->isEmpty() ? hits->constFirst().text : QString();
        };
        QCOMPARE(first(QStringLiteral("retry scheduler")), QStringLiteral("the retry limit is 3 in scheduler.cpp"));
        QCOMPARE(first(QString::fromUtf8("\xE7\xBC\x93\xE5\xAD\x98\xE6\x98\xAF")), chinese);
        QCOMPARE(first(QString::fromUtf8("\xE7\xBC\x93\xE5\xAD\x98")), chinese); // two characters: no trigram
        QCOMPARE(first(QString::fromUtf8("\xE3\x82\xAD\xE3\x83\xA3\xE3\x83\x83\xE3\x82\xB7\xE3\x83\xA5")), japanese);
        // A query is text, never syntax.
        QCOMPARE(first(QStringLiteral("\"quoted\"")), QStringLiteral("50%_off \"quoted\" AND OR"));
        QCOMPARE(first(QStringLiteral("%_")), QStringLiteral("50%_off \"quoted\" AND OR"));
        for (const QString &odd :
             {QStringLiteral("AND OR NOT"), QStringLiteral("col:val*"), QStringLiteral("\""), QStringLiteral("(((")})
            QVERIFY(database.recall(odd, 3, session, false));
        QVERIFY(database.recall(QStringLiteral("retry"), 3, QStringLiteral("other"), false)->isEmpty());
    }

    void archivedOnesComeOnlyWhenAskedFor()
    {
        Database database;
        QVERIFY(database.open(QStringLiteral(":memory:")));
        const auto episode =
            database.appendEpisode(draft(QStringLiteral("s"), QStringLiteral("a long forgotten fact")));
        PlanRecord plan;
        plan.id = QStringLiteral("p");
        plan.sessionId = QStringLiteral("s");
        plan.status = QStringLiteral("applied");
        plan.plannedAt = QDateTime::currentDateTimeUtc();
        const auto applied = database.applyPlan(plan, {{episode->episode.id, Tier::Archived}}, {}, {});
        QVERIFY(applied);
        QCOMPARE(applied->number, 1);
        QCOMPARE(applied->appliedRevision, episode->revision + 1);
        QVERIFY(database.recall(QStringLiteral("forgotten"), 3, QStringLiteral("s"), false)->isEmpty());
        QCOMPARE(database.recall(QStringLiteral("forgotten"), 3, QStringLiteral("s"), true)->size(), 1);
        const auto data = database.loadSession(QStringLiteral("s"));
        QVERIFY(!data->episodes.constFirst().contentLoaded);
        QVERIFY(database.undoPlan(QStringLiteral("p"), {{episode->episode.id, Tier::Live}}, {}, {}));
        QCOMPARE(database.loadSession(QStringLiteral("s"))->episodes.constFirst().content,
                 QStringLiteral("a long forgotten fact"));
        QVERIFY(database.appliedPlans(QStringLiteral("s"), 0)->isEmpty());
    }

    void pipelinedAppendsKeepTheirOrder()
    {
        auto opened = wait(Store::open(path("pipelined.db")));
        QVERIFY(opened && *opened);
        const std::shared_ptr<Store> store = **opened;
        QList<int> order;
        std::vector<QCoro::Task<void>> tasks;
        for (int i = 0; i < 1000; ++i) {
            tasks.push_back(store->appendEpisode(draft(QStringLiteral("s"), QString::number(i)))
                                .then([&order, i](Result<AppendedEpisode> result) {
                                    if (result && result->episode.content == QString::number(i))
                                        order.append(result->episode.seq);
                                }));
        }
        QVERIFY(QTest::qWaitFor([&order] { return order.size() == 1000; }, 60000));
        for (int i = 0; i < 1000; ++i)
            QCOMPARE(order.at(i), i + 1);
        QCOMPARE(store->stats().episodes, 1000);
        QCOMPARE(store->stats().sessions, 1);
    }

    void everyAcknowledgedEpisodeSurvivesAKill()
    {
        QRandomGenerator random(4);
        const QString file = path("killed.db");
        QSet<QString> acknowledged;
        for (int round = 0; round < 12; ++round) {
            QProcess child;
            child.start(QCoreApplication::applicationFilePath(),
                        {QStringLiteral("--append"), file, QString::number(round)});
            QVERIFY(child.waitForStarted());
            QByteArray out;
            const int wanted = random.bounded(1, 120);
            while (out.count('\n') < wanted) {
                QVERIFY2(child.waitForReadyRead(20000), child.readAllStandardError().constData());
                out += child.readAllStandardOutput();
            }
            ::kill(static_cast<pid_t>(child.processId()), SIGKILL);
            child.waitForFinished();
            out += child.readAllStandardOutput();
            out.truncate(out.lastIndexOf('\n') + 1);
            for (const QByteArray &line : out.split('\n')) {
                if (!line.isEmpty())
                    acknowledged.insert(QString::fromLatin1(line));
            }
        }
        Database database;
        const auto opened = database.open(file); // the lock of a killed process is taken over
        QVERIFY2(opened, opened ? "" : qPrintable(opened.error().message));
        const auto data = database.loadSession(QStringLiteral("s"));
        QVERIFY(data);
        QSet<QString> there;
        int seq = 0;
        for (const Episode &episode : data->episodes) {
            QCOMPARE(episode.seq, ++seq);
            QVERIFY2(!there.contains(episode.content), "an episode is there twice");
            there.insert(episode.content);
        }
        QVERIFY(acknowledged.size() > 100);
        QVERIFY(there.contains(acknowledged));
    }
};

/// The child that is killed: appends for ever and says what was acknowledged.
static int appendForEver(const QString &file, const QString &round)
{
    Database database;
    if (const auto opened = database.open(file); !opened) {
        std::cerr << qPrintable(opened.error().message) << std::endl;
        return 1;
    }
    for (int i = 0;; ++i) {
        Episode episode = draft(QStringLiteral("s"), QStringLiteral("%1-%2").arg(round).arg(i));
        if (!database.appendEpisode(episode))
            return 1;
        std::cout << qPrintable(episode.content) << std::endl;
    }
}

int main(int argc, char **argv)
{
    QCoreApplication app(argc, argv);
    if (argc == 4 && qstrcmp(argv[1], "--append") == 0)
        return appendForEver(QString::fromLocal8Bit(argv[2]), QString::fromLocal8Bit(argv[3]));
    TestStore test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_store.moc"
