// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_ipc

#include "core/ipc/framing.h"
#include "core/ipc/jsonrpc.h"
#include "core/ipc/socketpath.h"
#include "core/ipc/socketserver.h"
#include "tests/unit/ipctest.h"

#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QTemporaryDir>

#include <csignal>

#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

using namespace kerf;

class TestSocketServer : public QObject
{
    Q_OBJECT

private:
    static QByteArray request(int id, const char *method, const QByteArray &params = "{}")
    {
        return "{\"jsonrpc\":\"2.0\",\"id\":" + QByteArray::number(id) + ",\"method\":\"" + method
            + "\",\"params\":" + params + "}\n";
    }

    QTemporaryDir m_dir;
    QString m_path;
    std::shared_ptr<TestHandler> m_handler;
    std::unique_ptr<SocketServer> m_server;

    void serve(ServerLimits limits = {})
    {
        m_server.reset();
        m_server = std::make_unique<SocketServer>(m_path, limits);
        const auto listening = m_server->listen(m_handler);
        QVERIFY2(listening, listening ? "" : qPrintable(listening.error().message));
    }

private Q_SLOTS:
    void init()
    {
        m_path = m_dir.filePath(QStringLiteral("k.sock"));
        m_handler = std::make_shared<TestHandler>();
        serve();
    }
    void cleanup()
    {
        m_server.reset();
        m_handler.reset();
        QVERIFY(!QFileInfo::exists(m_path)); // nothing is left behind
    }

    void answers()
    {
        RawClient client(m_path);
        client.send(request(1, "kerf.status"));
        QCOMPARE(client.line(), QByteArray(R"({"jsonrpc":"2.0","id":1,"result":{"version":"test"}})"));
        client.send(request(2, "test.echo", R"({"a":"ä\n"})"));
        QCOMPARE(
            resultOf(client.object()).value(QStringLiteral("params")).toObject().value(QStringLiteral("a")).toString(),
            QStringLiteral("ä\n"));
        client.send(
            "\r\n\n{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"kerf.status\"}\r\n"); // blank lines, no params
        QCOMPARE(client.object().value(QStringLiteral("id")).toString(), QStringLiteral("x"));
    }

    void bytesOneByOne()
    {
        RawClient client(m_path);
        for (const char byte : request(1, "kerf.status"))
            QVERIFY(client.send(QByteArrayView(&byte, 1)));
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 1);
    }

    void errorsKeepTheConnection()
    {
        RawClient client(m_path);
        client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\n");
        QJsonObject answer = client.object();
        QCOMPARE(errorCode(answer), -32700);
        QCOMPARE(errorSlugOf(answer), QStringLiteral("parse-error"));
        QVERIFY(answer.contains(QStringLiteral("id")) && answer.value(QStringLiteral("id")).isNull());
        client.send("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"kerf.status\"}]\n");
        answer = client.object();
        QCOMPARE(errorCode(answer), -32600);
        QCOMPARE(errorSlugOf(answer), QStringLiteral("invalid-request"));
        client.send(request(5, "no.such"));
        answer = client.object();
        QCOMPARE(errorCode(answer), -32601);
        QCOMPARE(errorSlugOf(answer), QStringLiteral("method-not-found"));
        QCOMPARE(answer.value(QStringLiteral("id")).toInt(), 5);
        client.send(request(6, "test.fail"));
        answer = client.object();
        QCOMPARE(errorCode(answer), 4);
        QCOMPARE(errorSlugOf(answer), QStringLiteral("backend-unreachable"));
        client.send(request(7, "memory.recall", R"({"query":7})"));
        answer = client.object();
        QCOMPARE(errorCode(answer), -32602);
        QCOMPARE(errorText(answer), QStringLiteral("query: must be a string"));
        client.send(request(8, "memory.recall"));
        QCOMPARE(errorText(client.object()), QStringLiteral("query: is required"));
        QVERIFY(!m_handler->calls.contains(QStringLiteral("memory.recall"))); // refused at the edge
        client.send(request(9, "kerf.status"));
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 9);
    }

    void answersKeepTheOrder()
    {
        RawClient client(m_path);
        QByteArray all;
        QList<int> ids;
        for (int i = 0; i < 60; ++i) {
            ids.append(i);
            if (i % 3 == 0)
                all += request(i, "test.later");
            else if (i % 3 == 1)
                all += request(i, "kerf.status");
            else
                all += request(i, "no.such");
        }
        client.send(all);
        QList<int> seen;
        for (int i = 0; i < 60; ++i)
            seen.append(client.object().value(QStringLiteral("id")).toInt(-1));
        QCOMPARE(seen, ids);
    }

    void aReadNeverOvertakesAWrite()
    {
        RawClient client(m_path);
        client.send(request(1, "test.hold") + request(2, "test.echo") + request(3, "kerf.status"));
        QTRY_COMPARE(m_handler->waiting.size(), 1);
        QTest::qWait(30);
        QCOMPARE(m_handler->calls, QStringList{QStringLiteral("test.hold")}); // the second waits for the first
        QCOMPARE(client.line(20), QByteArray());
        // Another connection does not wait for it.
        RawClient other(m_path);
        other.send(request(9, "kerf.status"));
        QCOMPARE(other.object().value(QStringLiteral("id")).toInt(), 9);
        m_handler->release();
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 1);
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 2);
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 3);
    }

    void pingIsAnsweredDuringALongCall()
    {
        RawClient client(m_path);
        client.send(request(1, "test.hold"));
        QTRY_COMPARE(m_handler->waiting.size(), 1);
        client.send(request(2, "ping"));
        QCOMPARE(client.line(), QByteArray(R"({"jsonrpc":"2.0","id":2,"result":{}})"));
        m_handler->release();
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 1);
    }

    void notificationsGetNoAnswer()
    {
        RawClient client(m_path);
        client.send("{\"jsonrpc\":\"2.0\",\"method\":\"test.echo\"}\n"
                    "{\"jsonrpc\":\"2.0\",\"method\":\"no.such\"}\n"
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
                    "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}\n");
        client.send(request(1, "kerf.status"));
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 1);
        QCOMPARE(m_handler->calls, QStringList{QStringLiteral("test.echo")}); // but it was carried out
    }

    void oneTooManyPending()
    {
        RawClient client(m_path);
        QByteArray all;
        for (int i = 0; i < 258; ++i)
            all += request(i, "test.hold");
        client.send(all);
        QTRY_COMPARE(m_handler->waiting.size(), 1);
        for (int i = 0; i < 256; ++i) {
            QTRY_COMPARE(m_handler->waiting.size(), 1);
            m_handler->release();
            const QJsonObject answer = client.object();
            QCOMPARE(answer.value(QStringLiteral("id")).toInt(), i);
            QVERIFY(answer.contains(QStringLiteral("result")));
        }
        for (int i = 256; i < 258; ++i) {
            const QJsonObject answer = client.object();
            QCOMPARE(answer.value(QStringLiteral("id")).toInt(), i);
            QCOMPARE(errorCode(answer), 6);
        }
        client.send(request(900, "kerf.status"));
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 900);
    }

    void aFloodIsHeldBackNotStored()
    {
        // 100,000 requests behind one that does not end: the client is made to wait, and every one is answered.
        RawClient client(m_path);
        client.send(request(0, "test.hold"));
        QTRY_COMPARE(m_handler->waiting.size(), 1);
        QByteArray all;
        for (int i = 1; i <= 100000; ++i)
            all += request(i, "kerf.status");
        QVERIFY(!client.send(all, 300)); // not all of it is taken
        m_handler->release();
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 0);
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 1);
    }

    void aMessageThatIsTooLarge()
    {
        RawClient client(m_path);
        const QByteArray head = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test.echo\",\"params\":{\"x\":\"";
        // Just within the limit: fine.
        QByteArray fits = head + QByteArray(kMaxMessageBytes - head.size() - 3, 'x') + "\"}}";
        QCOMPARE(fits.size(), kMaxMessageBytes);
        QVERIFY(client.send(fits + "\n"));
        QJsonObject answer = client.object(20000);
        QCOMPARE(answer.value(QStringLiteral("id")).toInt(), 1);
        QCOMPARE(errorCode(answer), 6); // its echo with the envelope is over the limit itself
        QVERIFY(errorText(answer).contains(QStringLiteral("ask for less")));
        // Over the limit: error 6, then the end. The client that still writes sees the answer, not a broken pipe.
        QVERIFY(client.send(head + QByteArray(kMaxMessageBytes + 5 * 1024 * 1024, 'x') + "\"}}\n"));
        answer = client.object();
        QCOMPARE(errorCode(answer), 6);
        QCOMPARE(errorSlugOf(answer), QStringLiteral("too-large"));
        QVERIFY(client.atEnd());
        client.close();
        QTRY_COMPARE(m_server->connectionCount(), 0);
    }

    void aMessageThatIsTooLargeComesInItsOrder()
    {
        RawClient client(m_path);
        client.send(request(1, "test.hold"));
        QTRY_COMPARE(m_handler->waiting.size(), 1);
        QVERIFY(client.send(QByteArray(kMaxMessageBytes + 10, ' ').replace(0, 1, "{")));
        QCOMPARE(client.line(50), QByteArray());
        m_handler->release();
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 1);
        QCOMPARE(errorCode(client.object()), 6);
        QVERIFY(client.atEnd());
    }

    void oneConnectionTooMany()
    {
        std::vector<std::unique_ptr<RawClient>> clients;
        for (int i = 0; i < 64; ++i)
            clients.push_back(std::make_unique<RawClient>(m_path));
        QTRY_COMPARE(m_server->connectionCount(), 64);
        RawClient extra(m_path);
        QCOMPARE(errorCode(extra.object()), 6);
        QVERIFY(extra.atEnd());
        clients.back()->send(request(1, "kerf.status"));
        QCOMPARE(clients.back()->object().value(QStringLiteral("id")).toInt(), 1);
        clients.pop_back();
        QTRY_COMPARE(m_server->connectionCount(), 63);
        RawClient next(m_path);
        next.send(request(2, "kerf.status"));
        QCOMPARE(next.object().value(QStringLiteral("id")).toInt(), 2);
    }

    void aClientThatEndsItsWritingGetsItsAnswers()
    {
        RawClient client(m_path);
        const QByteArray last = request(3, "kerf.status").chopped(1); // no line end
        client.send(request(1, "test.later") + request(2, "kerf.status") + last);
        client.endWriting();
        for (int i = 1; i <= 3; ++i)
            QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), i);
        QVERIFY(client.atEnd());
        QTRY_COMPARE(m_server->connectionCount(), 0);
    }

    void aClientThatDiesInMidMessage()
    {
        {
            RawClient client(m_path);
            client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test.ec");
            QTRY_COMPARE(m_server->connectionCount(), 1);
        }
        QTRY_COMPARE(m_server->connectionCount(), 0);
        QVERIFY(m_handler->calls.isEmpty());
        {
            // What was whole before is carried out, even if nobody hears the answer.
            RawClient client(m_path);
            client.send(request(1, "test.later") + request(2, "test.echo") + "{\"jsonrpc\"");
        }
        QTRY_COMPARE(m_handler->calls, (QStringList{QStringLiteral("test.later"), QStringLiteral("test.echo")}));
        QTRY_COMPARE(m_server->connectionCount(), 0);
    }

    void aClientThatDiesDuringACall()
    {
        {
            RawClient client(m_path);
            client.send(request(1, "test.hold"));
            QTRY_COMPARE(m_handler->waiting.size(), 1);
        }
        QTRY_VERIFY(m_handler->lastContext.cancelled->load()); // long work may stop
        m_handler->release();
        QTRY_COMPARE(m_server->connectionCount(), 0);
    }

    void aServerThatDiesDuringACall()
    {
        RawClient client(m_path);
        client.send(request(1, "test.hold"));
        QTRY_COMPARE(m_handler->waiting.size(), 1);
        m_server.reset();
        m_handler->release(); // resumes into nothing
        QVERIFY(client.atEnd());
    }

    void cancelled()
    {
        RawClient client(m_path);
        client.send(request(1, "test.hold") + request(2, "test.echo") + request(3, "kerf.status"));
        QTRY_COMPARE(m_handler->waiting.size(), 1);
        client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})"
                    "\n"
                    R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}})"
                    "\n"
                    R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"3"}})" // "3" is not 3
                    "\n"
                    R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}})"
                    "\n");
        QTRY_VERIFY(m_handler->lastContext.cancelled->load());
        m_handler->release();
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 3); // no answer to 1 and 2
        QVERIFY(!m_handler->calls.contains(QStringLiteral("test.echo")));
    }

    void events()
    {
        RawClient client(m_path);
        client.send(request(1, "events.subscribe", R"({"topics":["episode","plan"]})"));
        QCOMPARE(resultOf(client.object()).value(QStringLiteral("topics")).toArray(),
                 (QJsonArray{QStringLiteral("episode"), QStringLiteral("plan")}));
        m_handler->publish(QStringLiteral("slots"));
        m_handler->publish(QStringLiteral("episode"), {{QStringLiteral("seq"), 4}});
        const QJsonObject event = client.object();
        QCOMPARE(event.value(QStringLiteral("method")).toString(), QStringLiteral("event"));
        QVERIFY(!event.contains(QStringLiteral("id")));
        QCOMPARE(event.value(QStringLiteral("params")).toObject(),
                 (QJsonObject{{QStringLiteral("topic"), QStringLiteral("episode")}, {QStringLiteral("seq"), 4}}));
        client.send(request(2, "events.subscribe"));
        QCOMPARE(resultOf(client.object()).value(QStringLiteral("topics")).toArray().size(), 11);
        m_handler->publish(QStringLiteral("slots"));
        QCOMPARE(client.object().value(QStringLiteral("params")).toObject().value(QStringLiteral("topic")).toString(),
                 QStringLiteral("slots"));
        client.send(request(3, "events.subscribe", R"({"topics":["weather"]})"));
        const QJsonObject wrong = client.object();
        QCOMPARE(errorCode(wrong), -32602);
        QVERIFY(errorText(wrong).startsWith(QStringLiteral("topics")));
    }

    void aSubscriberThatDoesNotReadIsDropped()
    {
        RawClient deaf(m_path);
        deaf.send(request(1, "events.subscribe"));
        RawClient listening(m_path);
        listening.send(request(1, "events.subscribe"));
        QCOMPARE(listening.object().value(QStringLiteral("id")).toInt(), 1);
        QTRY_COMPARE(m_server->connectionCount(), 2);
        const QString text(4000, QLatin1Char('x'));
        QElapsedTimer timer;
        timer.start();
        int heard = 0;
        for (int i = 0; i < 1000; ++i) {
            m_handler->publish(QStringLiteral("log"), {{QStringLiteral("line"), text}});
            heard += listening.line().isEmpty() ? 0 : 1;
        }
        QCOMPARE(heard, 1000); // the other one loses nothing
        QVERIFY2(timer.elapsed() < 15000, qPrintable(QString::number(timer.elapsed())));
        QTRY_COMPARE(m_server->connectionCount(), 1);
    }

    void aReaderThatIsSlowLosesNothing()
    {
        ServerLimits limits;
        limits.answerBacklogBytes = 64 * 1024;
        serve(limits);
        RawClient client(m_path);
        for (int i = 0; i < 40; ++i)
            client.send(request(i, "test.big", R"({"size":100000})"));
        QTest::qWait(50);
        QVERIFY(m_handler->calls.size() < 40); // unread answers are not piled up
        for (int i = 0; i < 40; ++i)
            QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), i);
    }

    void gracefulStop()
    {
        RawClient client(m_path);
        RawClient idle(m_path);
        client.send(request(1, "test.hold") + request(2, "test.echo"));
        QTRY_COMPARE(m_handler->waiting.size(), 1);
        QSignalSpy stopped(m_server.get(), &SocketServer::stopped);
        QVERIFY(stopped.isValid());
        m_server->stop();
        QVERIFY(!QFileInfo::exists(m_path));
        QVERIFY(idle.atEnd());
        QCOMPARE(stopped.size(), 0);
        m_handler->release();
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 1);
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 2);
        QVERIFY(client.atEnd());
        QTRY_COMPARE(stopped.size(), 1);
        QVERIFY(!QFileInfo::exists(m_path + QStringLiteral(".lock")));
    }

    void stopDoesNotWaitForEver()
    {
        ServerLimits limits;
        limits.stopMs = 50;
        serve(limits);
        RawClient client(m_path);
        client.send(request(1, "test.hold"));
        QTRY_COMPARE(m_handler->waiting.size(), 1);
        QSignalSpy stopped(m_server.get(), &SocketServer::stopped);
        m_server->stop();
        QTRY_COMPARE(stopped.size(), 1);
        m_handler->release();
    }

    void sessionsAreNamedByConnection()
    {
        RawClient one(m_path);
        RawClient two(m_path);
        one.send(request(1, "test.echo"));
        const QString first = resultOf(one.object()).value(QStringLiteral("session")).toString();
        QVERIFY(first.startsWith(QStringLiteral("conn-")));
        one.send(request(2, "test.echo"));
        QCOMPARE(resultOf(one.object()).value(QStringLiteral("session")).toString(), first);
        two.send(request(1, "test.echo"));
        QVERIFY(resultOf(two.object()).value(QStringLiteral("session")).toString() != first);
        // The harness's own id goes before it; and the bridge sets the connection's.
        one.send(
            request(3, "test.echo", R"({"_meta":{"x-codex-turn-metadata":{"session_id":"s-9","thread_id":"t-9"}}})"));
        const QJsonObject named = resultOf(one.object());
        QCOMPARE(named.value(QStringLiteral("session")).toString(), QStringLiteral("t-9"));
        QVERIFY(!named.value(QStringLiteral("params")).toObject().contains(QStringLiteral("_meta")));
        two.send(request(2, "connection.session", R"({"session_id":"mcp-1"})") + request(3, "test.echo"));
        two.object();
        QCOMPARE(resultOf(two.object()).value(QStringLiteral("session")).toString(), QStringLiteral("mcp-1"));
        // A new run of the service gives other names: sessions outlive it.
        serve();
        RawClient later(m_path);
        later.send(request(1, "test.echo"));
        QVERIFY(resultOf(later.object()).value(QStringLiteral("session")).toString() != first);
    }

    void aSecondServerNamesTheFirst()
    {
        SocketServer second(m_path);
        const auto refused = second.listen(m_handler);
        QVERIFY(!refused);
        QVERIFY2(refused.error().message.contains(QString::number(QCoreApplication::applicationPid())),
                 qPrintable(refused.error().message));
        QVERIFY(refused.error().message.contains(m_path));
        RawClient client(m_path);
        client.send(request(1, "kerf.status"));
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 1); // the first is untouched
    }

    void aStaleSocketIsReplaced()
    {
        m_server.reset();
        const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        qstrncpy(address.sun_path, QFile::encodeName(m_path).constData(), sizeof(address.sun_path));
        QCOMPARE(::bind(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
        ::close(fd); // as after kill -9: the file stays
        QVERIFY(QFileInfo::exists(m_path));
        // And its lock, of a process that is gone.
        QFile lock(m_path + QStringLiteral(".lock"));
        QVERIFY(lock.open(QIODevice::WriteOnly));
        QProcess ended;
        ended.start(QStringLiteral("/bin/true"), {});
        QVERIFY(ended.waitForStarted());
        const qint64 pid = ended.processId();
        QVERIFY(ended.waitForFinished());
        lock.write(QByteArray::number(pid) + "\nkerfd\n" + QSysInfo::machineHostName().toLocal8Bit() + "\n");
        lock.close();
        serve();
        RawClient client(m_path);
        client.send(request(1, "kerf.status"));
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 1);
    }

    void whatIsNoSocketIsLeftAlone()
    {
        m_server.reset();
        QFile file(m_path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("mine");
        file.close();
        SocketServer server(m_path);
        const auto refused = server.listen(m_handler);
        QVERIFY(!refused);
        QVERIFY(refused.error().message.contains(QStringLiteral("no socket")));
        QCOMPARE(QFileInfo(m_path).size(), 4);
        QVERIFY(QFile::remove(m_path));
    }

    void theSocketIsForItsUserOnly()
    {
        struct stat info {
        };
        QCOMPARE(::stat(QFile::encodeName(m_path).constData(), &info), 0);
        QVERIFY(S_ISSOCK(info.st_mode));
        QCOMPARE(info.st_mode & 077, 0u);
    }

    void anotherUserIsRefused()
    {
        if (::geteuid() != 0)
            QSKIP("needs root to become another user");
        // The file mode alone would not stop root's own tools; the peer's uid is what is checked.
        ::chmod(m_dir.path().toLocal8Bit().constData(), 0755);
        ::chmod(QFile::encodeName(m_path).constData(), 0777);
        const QByteArray name = QFile::encodeName(m_path);
        const pid_t child = ::fork();
        QVERIFY(child >= 0);
        if (child == 0) {
            // System calls only: 0 = the server hung up without a word.
            if (::setuid(65534) != 0)
                ::_exit(10);
            sockaddr_un address{};
            address.sun_family = AF_UNIX;
            qstrncpy(address.sun_path, name.constData(), sizeof(address.sun_path));
            const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
            if (::connect(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0)
                ::_exit(11);
            char byte = 0;
            ::_exit(::recv(fd, &byte, 1, 0) > 0 ? 12 : 0);
        }
        int status = -1;
        pid_t done = 0;
        QTRY_VERIFY(done != 0
                    || (done = ::waitpid(child, &status, WNOHANG)) != 0); // the macro asks once more at its end
        QCOMPARE(done, child);
        QCOMPARE(WEXITSTATUS(status), 0);
        QCOMPARE(m_server->connectionCount(), 0);
        ::chmod(m_dir.path().toLocal8Bit().constData(), 0700);
    }

    // ---- where it listens -------------------------------------------------------------------------------

    void pathRule()
    {
        const auto restore = qScopeGuard([socket = qgetenv("KERF_SOCKET"), runtime = qgetenv("XDG_RUNTIME_DIR")] {
            qputenv("KERF_SOCKET", socket);
            qputenv("XDG_RUNTIME_DIR", runtime);
        });
        qputenv("KERF_SOCKET", "/x/env.sock");
        qputenv("XDG_RUNTIME_DIR", "/run/user/7");
        QCOMPARE(socketPath(QStringLiteral("/y/z.sock")).value(), QStringLiteral("/y/z.sock"));
        QCOMPARE(socketPath().value(), QStringLiteral("/x/env.sock"));
        qunsetenv("KERF_SOCKET");
        QCOMPARE(socketPath().value(), QStringLiteral("/run/user/7/kerf/kerf.sock"));
        qputenv("XDG_RUNTIME_DIR", "relative");
        const QString temporary = QDir::tempPath() + QStringLiteral("/kerf-%1/kerf.sock").arg(::geteuid());
        QCOMPARE(socketPath().value(), temporary);
        qunsetenv("XDG_RUNTIME_DIR");
        QCOMPARE(socketPath().value(), temporary);
        const auto tooLong = socketPath(QLatin1Char('/') + QString(120, QLatin1Char('a')));
        QVERIFY(!tooLong);
        QVERIFY(tooLong.error().message.contains(QStringLiteral("107")));
    }

    void folders()
    {
        QTemporaryDir dir;
        const auto restore =
            qScopeGuard([runtime = qgetenv("XDG_RUNTIME_DIR")] { qputenv("XDG_RUNTIME_DIR", runtime); });
        qputenv("XDG_RUNTIME_DIR", dir.path().toLocal8Bit());
        const QString path = dir.filePath(QStringLiteral("kerf/kerf.sock"));
        const QByteArray folder = dir.filePath(QStringLiteral("kerf")).toLocal8Bit();
        QVERIFY(!checkSocketFolder(path, false)); // a client makes nothing
        QVERIFY(checkSocketFolder(path, true));
        struct stat info {
        };
        QCOMPARE(::stat(folder.constData(), &info), 0);
        QCOMPARE(info.st_mode & 0777, 0700u);
        ::chmod(folder.constData(), 0755);
        const auto open = checkSocketFolder(path, true);
        QVERIFY(!open);
        QVERIFY2(open.error().message.contains(QStringLiteral("chmod 700")), qPrintable(open.error().message));
        ::chmod(folder.constData(), 0700);
        if (::geteuid() == 0) {
            QCOMPARE(::chown(folder.constData(), 65534, 65534), 0);
            const auto foreign = checkSocketFolder(path, true);
            QVERIFY(!foreign);
            QVERIFY(foreign.error().message.contains(QStringLiteral("65534")));
        }
        const auto missing = checkSocketFolder(dir.filePath(QStringLiteral("no/such/k.sock")), true);
        QVERIFY(!missing);
        QVERIFY(missing.error().message.contains(QStringLiteral("does not exist")));
        qputenv("XDG_RUNTIME_DIR", dir.filePath(QStringLiteral("gone")).toLocal8Bit());
        const auto gone = checkSocketFolder(socketPath().value(), true);
        QVERIFY(!gone);
        QVERIFY(gone.error().message.contains(QStringLiteral("XDG_RUNTIME_DIR")));
    }
};

QTEST_GUILESS_MAIN(TestSocketServer)
#include "tst_socketserver.moc"
