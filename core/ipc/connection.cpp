// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ipc/connection.h"

#include "core/base/log.h"
#include "core/ipc/mcp.h"
#include "core/ipc/socketserver.h"
#include "core/ipc/toolindex.h"

#include <QJsonArray>
#include <QPointer>
#include <QTimer>

#include <algorithm>

namespace kerf {

namespace {
/// Answers that wait in their place beyond the pending requests (errors of what was refused); then we read no more.
constexpr int kMostQueued = 4096;
} // namespace

const QStringList &eventTopics()
{
    static const QStringList topics{QStringLiteral("episode"), QStringLiteral("plan"),    QStringLiteral("applied"),
                                    QStringLiteral("outcome"), QStringLiteral("receipt"), QStringLiteral("slots"),
                                    QStringLiteral("ring"),    QStringLiteral("server"),  QStringLiteral("profile"),
                                    QStringLiteral("log"),     QStringLiteral("replay")};
    return topics;
}

Connection::Connection(int fd, quint64 number, QString defaultSession, SocketServer *server)
    : m_server(server)
    , m_channel(new Channel(fd, Channel::Mode::Socket, this))
    , m_number(number)
    , m_defaultSession(std::move(defaultSession))
{
    connect(m_channel, &Channel::received, this, &Connection::takeBytes);
    connect(m_channel, &Channel::inputEnded, this, &Connection::endOfInput);
    connect(m_channel, &Channel::broken, this, &Connection::lose);
    connect(m_channel, &Channel::drained, this, &Connection::noteDrained);
}

Connection::~Connection()
{
    if (m_running && m_running->cancelled)
        m_running->cancelled->store(true);
}

void Connection::takeBytes(QByteArrayView bytes)
{
    if (m_lingering || m_finishing)
        return; // swallowed
    m_input.append(bytes);
    QByteArrayView line;
    for (;;) {
        switch (m_input.next(&line)) {
        case LineBuffer::Next::Line:
            takeLine(line);
            if (m_closed || m_finishing)
                return;
            continue;
        case LineBuffer::Next::TooLong:
            refuseTooLong();
            return;
        case LineBuffer::Next::Incomplete:
            return;
        }
    }
}

void Connection::refuseTooLong()
{
    qCWarning(lcIpc) << "a message was too large"
                     << "connection" << m_number;
    RpcMessage nobody;
    enqueueLine(nobody,
                errorLine(QJsonValue(QJsonValue::Null),
                          Error{Error::Code::TooLarge,
                                QStringLiteral("a message may have %1 bytes; this one has more").arg(kMaxMessageBytes),
                                {}}));
    // The client is still writing. Closed at once it would see a broken pipe instead of the answer: its rest is
    // swallowed for a while.
    m_lingering = true;
    QTimer::singleShot(m_server->limits().lingerMs, this, &Connection::abort);
    pump();
}

void Connection::endOfInput(bool gone)
{
    if (m_closed)
        return;
    // A last message without its line end is complete if it parses.
    const QByteArray rest = m_input.rest().toByteArray();
    if (!rest.isEmpty() && !m_lingering && !m_finishing) {
        const RpcMessage message = parseMessage(rest);
        if (message.errorNumber != kParseError)
            takeLine(rest);
    }
    if (gone) {
        lose();
        return;
    }
    m_finishing = true; // it may still read
    closeIfDone();
}

void Connection::lose()
{
    if (m_closed || m_gone)
        return;
    m_gone = true;
    m_finishing = true;
    if (m_running && !m_running->isNotification() && m_running->cancelled)
        m_running->cancelled->store(true); // what takes long may stop
    m_subscribed = false;
    m_listeners.clear();
    m_server->subscriptionsChanged();
    pump();
    closeIfDone();
}

void Connection::takeLine(QByteArrayView line)
{
    RpcMessage message = parseMessage(line);
    switch (message.kind) {
    case RpcMessage::Kind::Request:
        takeRequest(std::move(message));
        break;
    case RpcMessage::Kind::Notification:
        takeNotification(message);
        break;
    case RpcMessage::Kind::Response:
        break;
    case RpcMessage::Kind::Batch:
    case RpcMessage::Kind::Invalid:
        enqueueLine(message,
                    errorLine(message.id, message.errorNumber, message.errorText, slugOf(message.errorNumber)));
        break;
    }
}

void Connection::takeRequest(RpcMessage message)
{
    const QString &method = message.method;
    if (method == QLatin1String("ping")) {
        // At once, also while a long call runs: a client that asks whether we live does not mean the queue.
        if (const auto line = mcp::answerConstant(message, false, nullptr))
            write(*line);
        return;
    }
    if (m_pendingCalls >= m_server->limits().pendingRequests) {
        enqueueLine(
            message,
            errorLine(message.id,
                      Error{Error::Code::TooLarge,
                            QStringLiteral("%1 requests of this connection are pending, the limit; wait for answers")
                                .arg(m_server->limits().pendingRequests),
                            QStringLiteral("too-many")}));
        return;
    }
    Item item;
    const bool hasMeta = message.params.contains(QLatin1String("_meta"));
    if (hasMeta || method.contains(QLatin1Char('/')) || method == QLatin1String("initialize")) {
        if (const auto line = mcp::answerConstant(message, false, nullptr)) {
            enqueueLine(message, *line);
            return;
        }
        const mcp::Meta meta = mcp::readMeta(message.params);
        item.modern = meta.modern;
        item.progressToken = meta.progressToken;
        item.session = meta.conversation;
    }
    if (item.session.isEmpty() && !item.modern)
        item.session = m_defaultSession;
    if (method == QLatin1String("tools/call")) {
        const Tool *tool = findTool(message.params.value(QLatin1String("name")).toString());
        item.wrapped = true;
        item.method = tool->name;
        item.params = message.params.value(QLatin1String("arguments")).toObject();
        if (const auto wrong = tool->input.check(item.params)) {
            enqueueLine(
                message,
                resultLine(message.id, mcp::callFailure(Error{Error::Code::InvalidParams, *wrong, {}}, item.modern)));
            return;
        }
        // No session may be inferred from the connection there, so this is a malformed request, not a tool's failure.
        if (tool->needsSession && item.session.isEmpty()
            && item.params.value(QLatin1String("session_id")).toString().isEmpty()) {
            enqueueLine(
                message,
                errorLine(message.id,
                          Error{Error::Code::InvalidParams,
                                QStringLiteral("session_id: is required (no session is inferred from a connection)"),
                                {}}));
            return;
        }
        item.kind = Item::Kind::Call;
    } else if (method == QLatin1String("subscriptions/listen")) {
        item.kind = Item::Kind::Listen;
    } else if (method == QLatin1String("events.subscribe")) {
        item.kind = Item::Kind::Subscribe;
    } else if (method == QLatin1String("connection.session")) {
        item.kind = Item::Kind::SetSession;
    } else if (m_server->handler()->knows(method)) {
        item.kind = Item::Kind::Call;
        item.method = method;
        item.params = message.params;
        if (hasMeta)
            item.params.remove(QStringLiteral("_meta"));
        if (const Tool *tool = findTool(method)) {
            if (const auto wrong = tool->input.check(item.params)) {
                enqueueLine(message, errorLine(message.id, Error{Error::Code::InvalidParams, *wrong, {}}));
                return;
            }
        }
    } else {
        enqueueLine(message,
                    errorLine(message.id, kMethodNotFound, QStringLiteral("unknown method \"%1\"").arg(method),
                              slugOf(kMethodNotFound)));
        return;
    }
    item.message = std::move(message);
    enqueue(std::move(item));
}

void Connection::takeNotification(const RpcMessage &message)
{
    if (message.method == QLatin1String("notifications/cancelled")) {
        cancel(message.params.value(QLatin1String("requestId")));
        return;
    }
    if (message.method.contains(QLatin1Char('/')) || !m_server->handler()->knows(message.method))
        return;
    if (m_pendingCalls >= m_server->limits().pendingRequests) {
        qCWarning(lcIpc) << "dropped a notification: too many pending" << message.method << "connection" << m_number;
        return;
    }
    if (const Tool *tool = findTool(message.method); tool && tool->input.check(message.params))
        return; // wrong, and nobody waits to hear it
    Item item;
    item.kind = Item::Kind::Call;
    item.method = message.method;
    item.params = message.params;
    item.session = m_defaultSession;
    item.message = message;
    enqueue(std::move(item));
}

void Connection::cancel(const QJsonValue &id)
{
    // Unknown and finished ids are normal: the notification and our answer cross.
    if (!id.isString() && !id.isDouble())
        return;
    if (m_running && m_running->message.isRequest() && m_running->message.id == id) {
        if (!m_running->cancelled->exchange(true))
            qCDebug(lcIpc) << "cancelled" << m_running->method << "connection" << m_number;
        return;
    }
    for (qsizetype i = 0; i < m_queue.size(); ++i) {
        const std::shared_ptr<Item> &item = m_queue.at(i);
        if (!item->message.isRequest() || item->message.id != id)
            continue;
        if (item->kind != Item::Kind::Ready)
            --m_pendingCalls;
        m_queue.removeAt(i);
        return;
    }
    const auto gone = std::remove_if(m_listeners.begin(), m_listeners.end(),
                                     [&id](const Listener &listener) { return listener.id == id; });
    if (gone != m_listeners.end()) {
        m_listeners.erase(gone, m_listeners.end());
        m_server->subscriptionsChanged();
        closeIfDone();
    }
}

void Connection::enqueueLine(const RpcMessage &message, const QByteArray &line)
{
    // The common case: nothing is before it.
    if (m_queue.isEmpty() && !m_running) {
        write(line);
        return;
    }
    Item item;
    item.kind = Item::Kind::Ready;
    item.message.kind = message.kind;
    item.message.id = message.id;
    item.line = line;
    enqueue(std::move(item));
}

void Connection::enqueue(Item item)
{
    if (item.kind != Item::Kind::Ready)
        ++m_pendingCalls;
    auto shared = std::make_shared<Item>(std::move(item));
    if (m_queue.isEmpty() && !m_running && !m_pumping && mayAnswer()) {
        m_pumping = true;
        const bool answered = carryOut(shared);
        m_pumping = false;
        if (answered)
            --m_pendingCalls;
        if (!m_queue.isEmpty())
            pump();
        return;
    }
    m_queue.enqueue(std::move(shared));
    if (m_queue.size() >= kMostQueued)
        m_channel->setReading(false);
    pump();
}

bool Connection::mayAnswer() const
{
    return m_gone || m_channel->pendingBytes() <= m_server->limits().answerBacklogBytes;
}

void Connection::pump()
{
    if (m_pumping || m_closed)
        return;
    m_pumping = true;
    while (!m_closed && !m_running && !m_queue.isEmpty() && mayAnswer()) {
        const std::shared_ptr<Item> item = m_queue.dequeue();
        if (item->kind == Item::Kind::Ready) {
            write(item->line);
            continue;
        }
        if (carryOut(item))
            --m_pendingCalls;
    }
    m_pumping = false;
    if (m_closed)
        return;
    if (m_queue.size() < kMostQueued / 2 && !m_finishing)
        m_channel->setReading(true);
    if (m_finishing || m_lingering)
        closeIfDone();
}

CallContext Connection::contextFor(const std::shared_ptr<Item> &item)
{
    CallContext context;
    context.connectionId = m_number;
    context.defaultSessionId = item->session;
    item->cancelled = std::make_shared<std::atomic_bool>(false);
    context.cancelled = item->cancelled;
    if (!item->progressToken.isUndefined()) {
        const QPointer<Connection> self(this);
        const std::weak_ptr<Item> weak = item;
        const auto last = std::make_shared<double>(-1);
        context.progress = [self, weak, last](double progress, double total, const QString &text) {
            const auto running = weak.lock();
            // None after the answer, and only upwards.
            if (!self || !running || self->m_running != running || running->cancelled->load() || progress <= *last)
                return;
            *last = progress;
            QJsonObject params{{QStringLiteral("progressToken"), running->progressToken},
                               {QStringLiteral("progress"), progress}};
            if (total > 0)
                params.insert(QStringLiteral("total"), total);
            if (!text.isEmpty())
                params.insert(QStringLiteral("message"), text);
            self->write(notificationLine(QStringLiteral("notifications/progress"), params));
        };
    }
    return context;
}

bool Connection::carryOut(const std::shared_ptr<Item> &item)
{
    switch (item->kind) {
    case Item::Kind::Ready:
        write(item->line);
        return true;
    case Item::Kind::Listen:
        listen(*item);
        return true;
    case Item::Kind::Subscribe: {
        QJsonObject result;
        if (const auto wrong = subscribe(*item, &result))
            answer(*item, std::unexpected(*wrong));
        else
            answer(*item, result);
        return true;
    }
    case Item::Kind::SetSession: {
        const QString id = item->message.params.value(QLatin1String("session_id")).toString();
        if (id.isEmpty() || id.size() > 512) {
            answer(*item,
                   failure(Error::Code::InvalidParams,
                           QStringLiteral("session_id: must be a string of 1 to 512 characters")));
        } else {
            m_defaultSession = id;
            answer(*item, QJsonObject{{QStringLiteral("session_id"), id}});
        }
        return true;
    }
    case Item::Kind::Call:
        break;
    }
    const std::shared_ptr<MethodHandler> handler = m_server->handler();
    if (!handler) {
        answer(*item,
               failure(Error::Code::Unreachable, QStringLiteral("the service is shutting down"),
                       QStringLiteral("shutting-down")));
        return true;
    }
    // The fast path: no coroutine, no progress, nothing that could be cancelled.
    CallContext quick;
    quick.connectionId = m_number;
    quick.defaultSessionId = item->session;
    if (const auto result = handler->callNow(item->method, item->params, quick)) {
        answer(*item, *result);
        return true;
    }
    m_running = item;
    run(item, contextFor(item));
    return false;
}

QCoro::Task<void> Connection::run(std::shared_ptr<Item> item, CallContext context)
{
    const QPointer<Connection> self(this);
    const std::shared_ptr<MethodHandler> handler = m_server->handler();
    auto result = co_await handler->call(item->method, item->params, std::move(context));
    if (!self)
        co_return;
    m_running.reset();
    --m_pendingCalls;
    if (m_closed)
        co_return;
    if (!item->cancelled->load())
        answer(*item, result);
    pump();
    closeIfDone();
}

void Connection::answer(const Item &item, const Result<QJsonObject> &result)
{
    if (item.isNotification() || m_closed)
        return;
    QByteArray line;
    if (item.wrapped) {
        const std::shared_ptr<MethodHandler> handler = m_server->handler();
        if (!result)
            line = resultLine(item.message.id, mcp::callFailure(result.error(), item.modern));
        else
            line = resultLine(
                item.message.id,
                mcp::callResult(handler ? handler->render(item.method, *result) : QString(), *result, item.modern));
    } else if (!result) {
        line = errorLine(item.message.id, result.error());
    } else {
        line = resultLine(item.message.id, *result);
    }
    if (line.size() > kMaxMessageBytes + 1) {
        const Error error{Error::Code::TooLarge,
                          QStringLiteral("the answer to %1 has %2 bytes, a message may have %3: ask for less")
                              .arg(item.method)
                              .arg(line.size())
                              .arg(kMaxMessageBytes),
                          {}};
        line = item.wrapped ? resultLine(item.message.id, mcp::callFailure(error, item.modern))
                            : errorLine(item.message.id, error);
    }
    write(line);
}

std::optional<Error> Connection::subscribe(const Item &item, QJsonObject *result)
{
    const QJsonValue topics = item.message.params.value(QLatin1String("topics"));
    if (!topics.isUndefined() && !topics.isNull() && !topics.isArray())
        return Error{Error::Code::InvalidParams, QStringLiteral("topics: must be a list"), {}};
    QSet<QString> wanted;
    QJsonArray named;
    const QJsonArray list = topics.toArray();
    for (const QJsonValue &topic : list) {
        if (!eventTopics().contains(topic.toString()))
            return Error{Error::Code::InvalidParams,
                         QStringLiteral("topics: each must be one of %1").arg(eventTopics().join(QStringLiteral(", "))),
                         {}};
        wanted.insert(topic.toString());
    }
    const bool all = !topics.isArray();
    for (const QString &topic : eventTopics()) {
        if (all || wanted.contains(topic))
            named.append(topic);
    }
    // An empty list ends the subscription.
    m_subscribed = all || !wanted.isEmpty();
    m_topics = all ? QSet<QString>() : wanted;
    m_server->subscriptionsChanged();
    *result = QJsonObject{{QStringLiteral("topics"), named}};
    return std::nullopt;
}

void Connection::listen(const Item &item)
{
    // Kerf's lists never change, so nothing of MCP's own is honoured; its events are, under a key of their own.
    const QJsonValue asked = item.message.params.value(QLatin1String("notifications"));
    if (!asked.isObject()) {
        write(
            errorLine(item.message.id,
                      Error{Error::Code::InvalidParams, QStringLiteral("notifications: is required (an object)"), {}}));
        return;
    }
    const QJsonValue events = asked.toObject().value(QLatin1String("kerf/events"));
    Listener listener{item.message.id, {}};
    QJsonArray honoured;
    for (const QString &topic : eventTopics()) {
        if (events.toBool() || events.toArray().contains(topic)) {
            listener.topics.insert(topic);
            honoured.append(topic);
        }
    }
    QJsonObject granted;
    if (!honoured.isEmpty())
        granted.insert(QStringLiteral("kerf/events"), honoured);
    m_listeners.append(listener);
    m_server->subscriptionsChanged();
    write(notificationLine(QStringLiteral("notifications/subscriptions/acknowledged"),
                           {{QStringLiteral("_meta"),
                             QJsonObject{{QStringLiteral("io.modelcontextprotocol/subscriptionId"), listener.id}}},
                            {QStringLiteral("notifications"), granted}}));
}

void Connection::endListeners()
{
    const QList<Listener> listeners = std::exchange(m_listeners, {});
    for (const Listener &listener : listeners) {
        write(resultLine(
            listener.id,
            mcp::dressed({{QStringLiteral("_meta"),
                           QJsonObject{{QStringLiteral("io.modelcontextprotocol/subscriptionId"), listener.id}}}},
                         true)));
    }
}

void Connection::publish(const QString &topic, const QJsonObject &params, const QByteArray &line)
{
    if (m_closed || m_lingering)
        return;
    if (m_subscribed && (m_topics.isEmpty() || m_topics.contains(topic)))
        write(line, true);
    for (qsizetype i = 0; i < m_listeners.size() && !m_closed; ++i) {
        if (!m_listeners.at(i).topics.contains(topic))
            continue;
        QJsonObject tagged = params;
        tagged.insert(QStringLiteral("_meta"),
                      QJsonObject{{QStringLiteral("io.modelcontextprotocol/subscriptionId"), m_listeners.at(i).id}});
        write(notificationLine(QStringLiteral("event"), tagged), true);
    }
    if (m_eventBacklog > m_server->limits().eventBacklogBytes) {
        qCWarning(lcIpc) << "dropped a subscriber that does not read"
                         << "connection" << m_number << "bytes" << m_eventBacklog;
        abort();
    }
}

void Connection::write(const QByteArray &line, bool isEvent)
{
    if (m_closed || m_gone)
        return;
    const qint64 before = m_channel->pendingBytes();
    m_channel->write(line);
    const qint64 waiting = m_channel->pendingBytes() - before;
    if (waiting <= 0)
        return;
    m_backlog.enqueue({isEvent, waiting});
    if (isEvent)
        m_eventBacklog += waiting;
}

void Connection::noteDrained(qint64 written)
{
    while (written > 0 && !m_backlog.isEmpty()) {
        auto &[isEvent, bytes] = m_backlog.head();
        const qint64 part = std::min(bytes, written);
        bytes -= part;
        written -= part;
        if (isEvent)
            m_eventBacklog -= part;
        if (bytes == 0)
            m_backlog.dequeue();
    }
    pump();
    closeIfDone();
}

void Connection::finish()
{
    m_finishing = true;
    m_channel->setReading(false);
    m_subscribed = false;
    closeIfDone();
}

void Connection::closeIfDone()
{
    if (m_closed || m_running || !m_queue.isEmpty())
        return;
    if (m_finishing && m_server->isStopping())
        endListeners();
    if (m_finishing && isSubscribed())
        return; // its input has ended, but it still reads
    if (!m_gone && m_channel->pendingBytes() > 0)
        return;
    if (m_lingering && !m_channel->hasInputEnded()) {
        m_channel->endWriting(); // the answer, then the end; the rest of the message is swallowed
        return;
    }
    if (m_finishing || m_lingering)
        abort();
}

void Connection::abort()
{
    if (m_closed)
        return;
    m_closed = true;
    if (m_running && m_running->cancelled)
        m_running->cancelled->store(true);
    m_queue.clear();
    m_subscribed = false;
    m_listeners.clear();
    m_channel->close();
    m_server->connectionClosed(this);
}

} // namespace kerf
