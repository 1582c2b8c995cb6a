// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/console/enginehost.h"

#include "core/ipc/localclient.h"
#include "core/ipc/socketpath.h"
#include "core/ipc/socketserver.h"

#include <QCoreApplication>
#include <QCoroTask>
#include <QPointer>
#include <QThread>
#include <QTimer>

namespace kerf {

namespace {

/// What lives on the engine's thread; touched there only, after it was made.
struct EngineState {
    QObject *worker = nullptr;
    QThread *thread = nullptr;
    std::shared_ptr<MethodHandler> handler;
    std::unique_ptr<SocketServer> server;
    QString path;
    QString problem;
};

QList<QPointer<QThread>> &runningThreads()
{
    static QList<QPointer<QThread>> threads;
    return threads;
}

void endEngine(const std::shared_ptr<EngineState> &state)
{
    QMetaObject::invokeMethod(state->worker, [state] {
        const auto finish = [state] {
            state->server.reset();
            state->handler.reset();
            state->worker->deleteLater();
            state->thread->quit();
        };
        if (!state->server || !state->server->isListening()) {
            finish();
            return;
        }
        // Accepted requests are answered first; the server must not be deleted inside its own signal.
        QObject::connect(state->server.get(), &SocketServer::stopped, state->worker, finish, Qt::QueuedConnection);
        state->server->stop();
    });
}

/// Client and engine in one: the client goes first, then the engine is told to end.
struct Bundle {
    std::unique_ptr<LocalClient> client;
    std::shared_ptr<EngineState> state;
    ~Bundle()
    {
        client.reset();
        endEngine(state);
    }
};

QCoro::Task<void> serve(std::shared_ptr<EngineState> state, ServiceOptions options, bool serveSocket, QString socket,
                        std::function<void(Result<void>)> report)
{
    if (serveSocket) { // the lock first: who holds the socket holds the store
        const Result<QString> path = socketPath(socket);
        if (path) {
            state->path = *path;
            state->server = std::make_unique<SocketServer>(*path);
            if (const Result<void> claimed = state->server->claim(); !claimed) {
                state->problem = claimed.error().message;
                state->server.reset();
            }
        } else {
            state->problem = path.error().message;
        }
    }
    auto opened = co_await openService(std::move(options));
    if (!opened) {
        report(std::unexpected(opened.error()));
        co_return;
    }
    state->handler = *opened;
    if (state->server) {
        if (const Result<void> listening = state->server->listen(state->handler); !listening) {
            state->problem = listening.error().message;
            state->server.reset();
        }
    }
    if (!state->server)
        state->path.clear();
    report({});
}

void start(ServiceOptions options, bool serveSocket, QString socket, std::function<void(Result<HostedEngine>)> done)
{
    auto *thread = new QThread;
    thread->setObjectName(QStringLiteral("kerf-engine"));
    auto state = std::make_shared<EngineState>();
    state->thread = thread;
    state->worker = new QObject;
    state->worker->moveToThread(thread);
    QObject::connect(thread, &QThread::finished, thread, &QObject::deleteLater);
    runningThreads().append(thread);
    thread->start();
    auto *home = QCoreApplication::instance();
    QMetaObject::invokeMethod(
        state->worker,
        [state, options = std::move(options), serveSocket, socket = std::move(socket), home, done = std::move(done)] {
            serve(state, options, serveSocket, socket, [state, home, done](Result<void> result) {
                QMetaObject::invokeMethod(
                    home,
                    [state, result, done, handler = std::weak_ptr<MethodHandler>(state->handler), path = state->path,
                     problem = state->problem] {
                        if (!result) {
                            endEngine(state);
                            done(std::unexpected(result.error()));
                            return;
                        }
                        auto bundle = std::make_shared<Bundle>();
                        bundle->state = state;
                        bundle->client = std::make_unique<LocalClient>(handler.lock());
                        ServiceClient *client = bundle->client.get();
                        done(HostedEngine{std::shared_ptr<ServiceClient>(std::move(bundle), client), path, problem});
                    });
            });
        });
}

} // namespace

void openEngine(ServiceOptions options, bool serveSocket, const QString &socket,
                std::function<void(Result<HostedEngine>)> done)
{
    runningThreads().removeIf([](const QPointer<QThread> &thread) { return !thread || thread->isFinished(); });
    if (runningThreads().isEmpty()) {
        start(std::move(options), serveSocket, socket, std::move(done));
        return;
    }
    // One is still closing (or open): try again when it is gone.
    QThread *last = runningThreads().last();
    QObject::connect(last, &QThread::finished, QCoreApplication::instance(),
                     [options = std::move(options), serveSocket, socket, done = std::move(done)]() mutable {
                         QTimer::singleShot(
                             0, QCoreApplication::instance(),
                             [options = std::move(options), serveSocket, socket, done = std::move(done)]() mutable {
                                 openEngine(std::move(options), serveSocket, socket, std::move(done));
                             });
                     });
}

void waitForEngines()
{
    for (const QPointer<QThread> &thread : std::as_const(runningThreads())) {
        if (thread && !thread->wait(15000))
            qWarning("An engine did not end in time");
    }
}

} // namespace kerf
