// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ipc/socketclient.h"

#include "core/base/log.h"
#include "core/ipc/channel.h"
#include "core/ipc/jsonrpc.h"
#include "core/ipc/pending.h"
#include "core/ipc/socketpath.h"

#include <QJsonArray>
#include <QPointer>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace kerf {

namespace {
constexpr int kFirstRetryMs = 100;
constexpr int kLastRetryMs = 5000;
const QString kSubscriptionId = QStringLiteral("subscription");
} // namespace

SocketClient::SocketClient(QString path, QObject *parent)
    : ServiceClient(parent)
    , m_path(std::move(path))
{
    m_retry.setSingleShot(true);
    connect(&m_retry, &QTimer::timeout, this, &SocketClient::tryConnect);
    m_overdue.setInterval(250);
    connect(&m_overdue, &QTimer::timeout, this, &SocketClient::endOverdue);
}

SocketClient::~SocketClient()
{
    for (const Open &open : std::as_const(m_pending))
        settleLater(open.answer, failure(Error::Code::Cancelled, QStringLiteral("the client was closed")));
}

void SocketClient::start()
{
    m_keepUp = true;
    tryConnect();
}

void SocketClient::subscribe(QStringList topics)
{
    m_subscribed = true;
    m_topics = std::move(topics);
    sendSubscription();
}

void SocketClient::sendSubscription()
{
    if (!m_subscribed || !m_channel)
        return;
    QJsonObject params;
    if (!m_topics.isEmpty())
        params.insert(QStringLiteral("topics"), QJsonArray::fromStringList(m_topics));
    m_channel->write(requestLine(kSubscriptionId, QStringLiteral("events.subscribe"), params));
}

bool SocketClient::tryConnect()
{
    if (m_channel)
        return true;
    m_retry.stop();
    const int fd = connectToPath(m_path);
    if (fd >= 0) {
        m_lastError.clear();
        if (auto folder = checkSocketFolder(m_path, false); !folder)
            m_lastError = folder.error().message;
        else if (const qint64 user = peerUser(fd); user != static_cast<qint64>(::geteuid()))
            m_lastError = QStringLiteral("the service at %1 belongs to another user (uid %2)").arg(m_path).arg(user);
        if (!m_lastError.isEmpty())
            ::close(fd);
    } else {
        m_lastError = QStringLiteral("no service answers at %1 (%2). Start one with \"kerfd serve\".")
                          .arg(m_path, QString::fromLocal8Bit(std::strerror(errno)));
    }
    if (fd < 0 || !m_lastError.isEmpty()) {
        ++m_tries;
        if (m_keepUp) {
            m_retryMs = std::clamp(m_retryMs * 2, kFirstRetryMs, kLastRetryMs);
            m_retry.start(m_retryMs);
        }
        return false;
    }
    m_retryMs = 0;
    m_tries = 0;
    m_channel = new Channel(fd, Channel::Mode::Socket, this);
    m_input = std::make_unique<LineBuffer>();
    connect(m_channel, &Channel::received, this, &SocketClient::takeBytes);
    connect(m_channel, &Channel::inputEnded, this, &SocketClient::lost);
    connect(m_channel, &Channel::broken, this, &SocketClient::lost);
    sendSubscription();
    Q_EMIT connectedChanged(true);
    return m_channel != nullptr;
}

void SocketClient::lost()
{
    if (!m_channel)
        return;
    const QPointer<SocketClient> self(this);
    m_channel->close();
    m_channel->deleteLater();
    m_channel = nullptr;
    m_lastError = QStringLiteral("the service at %1 closed the connection").arg(m_path);
    const auto open = std::exchange(m_pending, {});
    m_overdue.stop();
    for (const Open &call : open) {
        call.answer->settle(failure(Error::Code::Unreachable,
                                    QStringLiteral("the service at %1 closed the connection before it answered; "
                                                   "whether the call was carried out is not known")
                                        .arg(m_path)));
        if (!self)
            return;
    }
    Q_EMIT connectedChanged(false);
    if (self && m_keepUp && !m_channel) {
        m_retryMs = kFirstRetryMs;
        m_retry.start(m_retryMs);
    }
}

QCoro::Task<Result<QJsonObject>> SocketClient::call(QString method, QJsonObject params)
{
    if (!tryConnect())
        co_return failure(Error::Code::Unreachable, m_lastError);
    const QByteArray line = requestLine(m_lastId + 1, method, params);
    if (line.size() > kMaxMessageBytes)
        co_return failure(Error::Code::TooLarge,
                          QStringLiteral("the call of %1 has %2 bytes, a message may have %3")
                              .arg(method)
                              .arg(line.size())
                              .arg(kMaxMessageBytes));
    const qint64 id = ++m_lastId;
    const auto pending = std::make_shared<PendingAnswer>();
    m_pending.insert(id, {pending, method, QDeadlineTimer(m_callLimitMs)});
    if (!m_overdue.isActive())
        m_overdue.start();
    m_channel->write(line);
    PendingAnswer::Awaiter waiting{pending};
    co_return co_await waiting; // nothing of this object is touched behind it
}

void SocketClient::takeBytes(QByteArrayView bytes)
{
    const QPointer<SocketClient> self(this);
    Channel *const channel = m_channel;
    m_input->append(bytes);
    QByteArrayView line;
    for (;;) {
        switch (m_input->next(&line)) {
        case LineBuffer::Next::Line:
            takeLine(line);
            if (!self || m_channel != channel)
                return;
            continue;
        case LineBuffer::Next::TooLong:
            qCWarning(lcIpc) << "the service sent a message that is too large" << m_path;
            lost();
            return;
        case LineBuffer::Next::Incomplete:
            return;
        }
    }
}

void SocketClient::takeLine(QByteArrayView line)
{
    const RpcMessage message = parseMessage(line);
    if (message.kind == RpcMessage::Kind::Notification && message.method == QLatin1String("event")) {
        Q_EMIT event(message.params.value(QLatin1String("topic")).toString(), message.params);
        return;
    }
    if (message.kind != RpcMessage::Kind::Response || !message.id.isDouble())
        return;
    if (message.object.contains(QLatin1String("error")))
        settle(message.id.toInteger(),
               std::unexpected(errorFromJson(message.object.value(QLatin1String("error")).toObject())));
    else
        settle(message.id.toInteger(), message.object.value(QLatin1String("result")).toObject());
}

void SocketClient::settle(qint64 id, Result<QJsonObject> result)
{
    const auto pending = m_pending.take(id).answer;
    if (m_pending.isEmpty())
        m_overdue.stop();
    if (pending)
        pending->settle(std::move(result)); // may delete this
}

void SocketClient::endOverdue()
{
    const QPointer<SocketClient> self(this);
    QList<std::pair<qint64, QString>> overdue;
    for (auto it = m_pending.cbegin(); it != m_pending.cend(); ++it) {
        if (it->deadline.hasExpired())
            overdue.append({it.key(), it->method});
    }
    for (const auto &[id, method] : std::as_const(overdue)) {
        settle(id,
               failure(Error::Code::Timeout,
                       QStringLiteral("%1 was not answered within %2 s").arg(method).arg(m_callLimitMs / 1000)));
        if (!self)
            return;
    }
}

} // namespace kerf
