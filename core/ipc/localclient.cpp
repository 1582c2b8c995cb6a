// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ipc/localclient.h"

#include "core/ipc/pending.h"

#include <QCoreApplication>
#include <QMutex>
#include <QMutexLocker>
#include <QPointer>

namespace kerf {

/// Both ends, each cleared by its own thread under the lock: an event is posted to an end that is there, or not
/// at all. Qt removes what was posted to an object that goes afterwards.
struct LocalClient::Gate {
    QMutex mutex;
    MethodHandler *handler = nullptr;
    LocalClient *client = nullptr;
};

/// The way back of one call. If it is dropped without an answer (the handler's thread ended, its queue with it),
/// that is an answer too.
struct LocalClient::Reply {
    std::shared_ptr<Gate> gate;
    quint64 number = 0;
    bool sent = false;

    void send(Result<QJsonObject> result)
    {
        if (std::exchange(sent, true))
            return;
        const QMutexLocker lock(&gate->mutex);
        if (LocalClient *const client = gate->client) {
            QMetaObject::invokeMethod(
                client, [client, n = number, result = std::move(result)] { client->settle(n, result); },
                Qt::QueuedConnection);
        }
    }
    ~Reply()
    {
        // The application throws away its queue under that queue's lock: posting from here would wait for ever.
        if (QCoreApplication::closingDown())
            return;
        send(failure(Error::Code::Unreachable, QStringLiteral("the engine has stopped"),
                     QStringLiteral("engine-stopped")));
    }
};

LocalClient::LocalClient(const std::shared_ptr<MethodHandler> &handler, QObject *parent)
    : ServiceClient(parent)
    , m_gate(std::make_shared<Gate>())
    , m_handler(handler)
{
    Q_ASSERT(handler);
    m_gate->handler = handler.get();
    m_gate->client = this;
    connect(handler.get(), &MethodHandler::event, this, &LocalClient::event);
    // On the handler's thread, before Qt throws away what was posted to it.
    connect(
        handler.get(), &QObject::destroyed, handler.get(),
        [gate = m_gate] {
            const QMutexLocker lock(&gate->mutex);
            gate->handler = nullptr;
            if (LocalClient *const client = gate->client)
                QMetaObject::invokeMethod(
                    client, [client] { client->handlerGone(); }, Qt::QueuedConnection);
        },
        Qt::DirectConnection);
}

LocalClient::~LocalClient()
{
    {
        const QMutexLocker lock(&m_gate->mutex);
        m_gate->client = nullptr;
    }
    for (const auto &pending : std::as_const(m_pending))
        settleLater(pending, failure(Error::Code::Cancelled, QStringLiteral("the client was closed")));
}

QCoro::Task<Result<QJsonObject>> LocalClient::call(QString method, QJsonObject params)
{
    const quint64 number = ++m_lastNumber;
    const auto pending = std::make_shared<PendingAnswer>();
    {
        const QMutexLocker lock(&m_gate->mutex);
        if (!m_gate->handler)
            co_return failure(Error::Code::Unreachable, QStringLiteral("the engine has stopped"),
                              QStringLiteral("engine-stopped"));
        m_pending.insert(number, pending);
        auto reply = std::make_shared<Reply>();
        reply->gate = m_gate;
        reply->number = number;
        QMetaObject::invokeMethod(
            m_gate->handler,
            [weak = m_handler, reply = std::move(reply), method, params] {
                if (auto handler = weak.lock())
                    run(std::move(handler), reply, method, params);
            },
            Qt::QueuedConnection);
    }
    PendingAnswer::Awaiter waiting{pending};
    co_return co_await waiting; // nothing of this object is touched behind it
}

QCoro::Task<void> LocalClient::run(std::shared_ptr<MethodHandler> handler, std::shared_ptr<Reply> reply, QString method,
                                   QJsonObject params)
{
    if (!handler->knows(method)) {
        reply->send(failure(Error::Code::MethodNotFound, QStringLiteral("unknown method \"%1\"").arg(method)));
        co_return;
    }
    CallContext context;
    if (auto now = handler->callNow(method, params, context)) {
        reply->send(std::move(*now));
        co_return;
    }
    auto result = co_await handler->call(std::move(method), std::move(params), std::move(context));
    reply->send(std::move(result));
}

void LocalClient::settle(quint64 number, const Result<QJsonObject> &result)
{
    if (const auto pending = m_pending.take(number))
        pending->settle(result); // may delete this
}

void LocalClient::handlerGone()
{
    const QPointer<LocalClient> self(this);
    m_connected = false;
    const auto open = std::exchange(m_pending, {});
    for (const auto &pending : open)
        pending->settle(failure(Error::Code::Unreachable, QStringLiteral("the engine has stopped"),
                                QStringLiteral("engine-stopped")));
    if (self)
        Q_EMIT connectedChanged(false);
}

} // namespace kerf
