// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_ipc

#include "core/ipc/localclient.h"
#include "core/ipc/socketclient.h"
#include "core/ipc/socketserver.h"
#include "tests/unit/ipctest.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QThread>

using namespace kerf;

namespace {

using Answer = std::optional<Result<QJsonObject>>;

/// Starts a call; the answer comes into `answer`, which both sides hold.
std::shared_ptr<Answer> start(ServiceClient &client, const QString &method, const QJsonObject &params = {})
{
    auto answer = std::make_shared<Answer>();
    client.call(method, params).then([answer](const Result<QJsonObject> &result) { *answer = result; });
    return answer;
}

} // namespace

class TestSocketClient : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_dir;
    QString m_path;
    std::shared_ptr<TestHandler> m_handler;
    std::unique_ptr<SocketServer> m_server;

    void serve()
    {
        m_server.reset();
        m_server = std::make_unique<SocketServer>(m_path);
        QVERIFY(m_server->listen(m_handler));
    }

    /// A handler on a thread of its own.
    struct Engine {
        QThread thread;
        QObject worker;
        std::shared_ptr<TestHandler> handler;
        Engine()
        {
            worker.moveToThread(&thread);
            thread.start();
            QMetaObject::invokeMethod(
                &worker, [this] { handler = std::make_shared<TestHandler>(); }, Qt::BlockingQueuedConnection);
        }
        void drop()
        {
            if (handler)
                QMetaObject::invokeMethod(
                    &worker, [this] { handler.reset(); }, Qt::BlockingQueuedConnection);
        }
        void release()
        {
            QMetaObject::invokeMethod(
                &worker, [this] { handler->release(); }, Qt::BlockingQueuedConnection);
        }
        qsizetype waiting()
        {
            qsizetype size = 0;
            QMetaObject::invokeMethod(
                &worker, [this, &size] { size = handler->waiting.size(); }, Qt::BlockingQueuedConnection);
            return size;
        }
        ~Engine()
        {
            drop();
            if (thread.isRunning()) // it can only be pushed away from its own thread
                QMetaObject::invokeMethod(
                    &worker, [this, home = QThread::currentThread()] { worker.moveToThread(home); },
                    Qt::BlockingQueuedConnection);
            thread.quit();
            thread.wait();
        }
    };

private Q_SLOTS:
    void init()
    {
        m_path = m_dir.filePath(QStringLiteral("c.sock"));
        m_handler = std::make_shared<TestHandler>();
    }
    void cleanup()
    {
        m_server.reset();
        m_handler.reset();
    }

    void calls()
    {
        serve();
        SocketClient client(m_path);
        QCOMPARE(client.description(), m_path);
        const auto first = start(client, QStringLiteral("test.later"), {{QStringLiteral("a"), 1}});
        const auto second = start(client, QStringLiteral("kerf.status"));
        const auto failed = start(client, QStringLiteral("test.fail"));
        const auto unknown = start(client, QStringLiteral("no.such"));
        QTRY_VERIFY(unknown->has_value());
        QCOMPARE(first->value().value().value(QStringLiteral("params")).toObject(),
                 (QJsonObject{{QStringLiteral("a"), 1}}));
        QCOMPARE(second->value().value().value(QStringLiteral("version")).toString(), QStringLiteral("test"));
        QCOMPARE(failed->value().error(), (Error{Error::Code::Unreachable, QStringLiteral("no server"), {}}));
        QCOMPARE(unknown->value().error().code, Error::Code::MethodNotFound);
    }

    void nobodyIsThere()
    {
        SocketClient client(m_path);
        const auto answer = start(client, QStringLiteral("kerf.status"));
        QVERIFY(answer->has_value()); // at once
        QCOMPARE(answer->value().error().code, Error::Code::Unreachable);
        QVERIFY(answer->value().error().message.contains(m_path));
        QVERIFY(!client.isConnected());
        serve(); // one that comes later is found by the next call
        const auto later = start(client, QStringLiteral("kerf.status"));
        QTRY_VERIFY(later->has_value());
        QVERIFY(later->value());
    }

    void reconnects()
    {
        SocketClient client(m_path);
        QSignalSpy connected(&client, &ServiceClient::connectedChanged);
        QSignalSpy events(&client, &ServiceClient::event);
        client.subscribe({QStringLiteral("plan")});
        client.start();
        QVERIFY(!client.isConnected());
        QVERIFY(client.retryMs() > 0);
        serve();
        QTRY_VERIFY(client.isConnected());
        const auto ready = start(client, QStringLiteral("kerf.status")); // the subscription went before it
        QTRY_VERIFY(ready->has_value());
        m_handler->publish(QStringLiteral("ring"));
        m_handler->publish(QStringLiteral("plan"), {{QStringLiteral("n"), 1}});
        QTRY_COMPARE(events.size(), 1);
        QCOMPARE(events.at(0).at(0).toString(), QStringLiteral("plan"));
        QCOMPARE(events.at(0).at(1).toJsonObject().value(QStringLiteral("n")), QJsonValue(1));
        const auto open = start(client, QStringLiteral("test.hold"));
        QTRY_COMPARE(m_handler->waiting.size(), 1);
        m_server.reset();
        QTRY_VERIFY(open->has_value());
        QCOMPARE(open->value().error().code, Error::Code::Unreachable);
        QVERIFY(!client.isConnected());
        m_handler->release();
        serve();
        QTRY_VERIFY(client.isConnected());
        QCOMPARE(connected.size(), 3); // true, false, true
        const auto again = start(client, QStringLiteral("kerf.status"));
        QTRY_VERIFY(again->has_value());
        m_handler->publish(QStringLiteral("plan"));
        QTRY_COMPARE(events.size(), 2); // subscribed again by itself
    }

    void aCallThatIsNotAnswered()
    {
        serve();
        SocketClient client(m_path);
        client.setCallLimit(50);
        const auto answer = start(client, QStringLiteral("test.hold"));
        QTRY_VERIFY(answer->has_value());
        QCOMPARE(answer->value().error().code, Error::Code::Timeout);
        m_handler->release(); // its late answer meets nobody
        const auto next = start(client, QStringLiteral("kerf.status"));
        QTRY_VERIFY(next->has_value());
        QVERIFY(next->value());
    }

    void theClientGoesFirst()
    {
        serve();
        auto client = std::make_unique<SocketClient>(m_path);
        const auto open = start(*client, QStringLiteral("test.hold"));
        QTRY_COMPARE(m_handler->waiting.size(), 1);
        client.reset();
        QVERIFY(!open->has_value()); // not from within the destructor
        QTRY_VERIFY(open->has_value());
        QCOMPARE(open->value().error().code, Error::Code::Cancelled);
        m_handler->release();
    }

    void theClientGoesInItsOwnAnswer()
    {
        serve();
        auto client = std::make_unique<SocketClient>(m_path);
        int answers = 0;
        for (int i = 0; i < 5; ++i) {
            client->call(QStringLiteral("test.echo"), {}).then([&](const Result<QJsonObject> &) {
                ++answers;
                client.reset();
            });
        }
        QTRY_COMPARE(answers, 5);
        QVERIFY(!client);
    }

    void aMessageThatIsTooLargeIsNotSent()
    {
        serve();
        SocketClient client(m_path);
        const auto answer = start(client, QStringLiteral("test.echo"),
                                  {{QStringLiteral("x"), QString(17 * 1024 * 1024, QLatin1Char('x'))}});
        QVERIFY(answer->has_value());
        QCOMPARE(answer->value().error().code, Error::Code::TooLarge);
        const auto next = start(client, QStringLiteral("kerf.status"));
        QTRY_VERIFY(next->has_value() && next->value());
    }

    // ---- an engine in another thread --------------------------------------------------------------------

    void localCalls()
    {
        Engine engine;
        LocalClient client(engine.handler);
        QVERIFY(client.isConnected());
        QSignalSpy events(&client, &ServiceClient::event);
        const auto now = start(client, QStringLiteral("kerf.status"));
        const auto later = start(client, QStringLiteral("test.later"));
        const auto failed = start(client, QStringLiteral("test.fail"));
        const auto unknown = start(client, QStringLiteral("no.such"));
        QVERIFY(!now->has_value()); // another thread's work
        QTRY_VERIFY(later->has_value());
        QTRY_VERIFY(unknown->has_value());
        QCOMPARE(now->value().value().value(QStringLiteral("version")).toString(), QStringLiteral("test"));
        QVERIFY(later->value());
        QCOMPARE(failed->value().error().code, Error::Code::Unreachable);
        QCOMPARE(unknown->value().error().code, Error::Code::MethodNotFound);
        QMetaObject::invokeMethod(&engine.worker, [&engine] {
            engine.handler->publish(QStringLiteral("ring"), {{QStringLiteral("n"), 2}});
        });
        QTRY_COMPARE(events.size(), 1);
        QCOMPARE(events.at(0).at(1).toJsonObject().value(QStringLiteral("n")), QJsonValue(2));
        QCOMPARE(QThread::currentThread(), client.thread());
    }

    void theEngineGoesFirst()
    {
        Engine engine;
        LocalClient client(engine.handler);
        QSignalSpy connected(&client, &ServiceClient::connectedChanged);
        const auto open = start(client, QStringLiteral("test.hold"));
        QTRY_COMPARE(engine.waiting(), 1);
        const std::coroutine_handle<> left = engine.handler->waiting.constFirst();
        // The call under way holds the engine; only its end lets go.
        QMetaObject::invokeMethod(
            &engine.worker, [&engine] { engine.handler.reset(); }, Qt::BlockingQueuedConnection);
        QVERIFY(!open->has_value());
        QMetaObject::invokeMethod(
            &engine.worker, [left] { left.resume(); }, Qt::BlockingQueuedConnection);
        QTRY_VERIFY(open->has_value());
        QVERIFY(open->value());
        QTRY_COMPARE(connected.size(), 1);
        QVERIFY(!client.isConnected());
        const auto late = start(client, QStringLiteral("kerf.status"));
        QTRY_VERIFY(late->has_value());
        QCOMPARE(late->value().error().code, Error::Code::Unreachable);
    }

    void theEnginesThreadEndsWithCallsQueued()
    {
        auto engine = std::make_unique<Engine>();
        LocalClient client(engine->handler);
        // Queued behind a loop that will not come round to them.
        QMetaObject::invokeMethod(
            &engine->worker, [&engine] { engine->thread.quit(); }, Qt::BlockingQueuedConnection);
        QTRY_VERIFY(engine->thread.isFinished());
        const auto open = start(client, QStringLiteral("kerf.status"));
        QTest::qWait(20);
        QVERIFY(!open->has_value());
        engine->handler.reset(); // its thread is gone: it goes here, and with it what was queued
        QTRY_VERIFY(open->has_value());
        QCOMPARE(open->value().error().code, Error::Code::Unreachable);
    }

    void theLocalClientGoesFirst()
    {
        Engine engine;
        auto client = std::make_unique<LocalClient>(engine.handler);
        const auto open = start(*client, QStringLiteral("test.hold"));
        QTRY_COMPARE(engine.waiting(), 1);
        client.reset();
        QTRY_VERIFY(open->has_value());
        QCOMPARE(open->value().error().code, Error::Code::Cancelled);
        engine.release(); // answers into nothing
    }

    void bothSidesAreBusy()
    {
        // Many calls while clients come and go: nothing is lost, nothing crashes.
        Engine engine;
        for (int round = 0; round < 21; ++round) { // the last one is awaited: nothing is under way when the thread ends
            auto client = std::make_unique<LocalClient>(engine.handler);
            QList<std::shared_ptr<Answer>> answers;
            for (int i = 0; i < 50; ++i)
                answers.append(start(*client, i % 2 ? QStringLiteral("test.later") : QStringLiteral("kerf.status")));
            if (round % 2)
                client.reset();
            QTRY_VERIFY(
                std::all_of(answers.cbegin(), answers.cend(), [](const auto &answer) { return answer->has_value(); }));
            if (!(round % 2))
                QVERIFY(std::all_of(answers.cbegin(), answers.cend(),
                                    [](const auto &answer) { return answer->value().has_value(); }));
        }
    }
};

QTEST_GUILESS_MAIN(TestSocketClient)
#include "tst_socketclient.moc"
