// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ipc/mcpbridge.h"

#include "core/base/log.h"
#include "core/ipc/channel.h"
#include "core/ipc/mcp.h"
#include "core/ipc/socketpath.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QUuid>

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace kerf {

namespace {
constexpr int kRetryMs = 50;
constexpr qsizetype kMostWaiting = 256;
constexpr qint64 kMostUnread = 8 * 1024 * 1024; ///< then nothing is read until the client has read
const QString kSessionId = QStringLiteral("kerf-bridge-session");

QByteArray keyOf(const QJsonValue &id) { return QJsonDocument(QJsonArray{id}).toJson(QJsonDocument::Compact); }
} // namespace

McpBridge::McpBridge(int in, int out, BridgeOptions options, QObject *parent)
    : QObject(parent)
    , m_options(std::move(options))
    , m_in(new Channel(in, Channel::Mode::Borrowed, this))
    , m_out(new Channel(out, Channel::Mode::Borrowed, this))
    , m_session(QStringLiteral("mcp-") + QUuid::createUuid().toString(QUuid::Id128).left(12))
{
    m_out->setReading(false);
    connect(m_in, &Channel::received, this, &McpBridge::takeBytes);
    connect(m_in, &Channel::inputEnded, this, [this] {
        m_inputEnded = true;
        const QByteArray rest = m_input.rest().toByteArray(); // a last line without its end
        if (!rest.isEmpty())
            takeLine(rest);
        QTimer::singleShot(m_options.endLimitMs, this, &McpBridge::end);
        checkEnd();
    });
    connect(m_out, &Channel::broken, this, &McpBridge::end);
    connect(m_out, &Channel::drained, this, [this] {
        throttle();
        checkEnd();
    });
    m_retry.setSingleShot(true);
    connect(&m_retry, &QTimer::timeout, this, &McpBridge::connectService);
}

McpBridge::~McpBridge() = default;

void McpBridge::takeBytes(QByteArrayView bytes)
{
    m_input.append(bytes);
    QByteArrayView line;
    while (!m_ending) {
        const LineBuffer::Next next = m_input.next(&line);
        if (next == LineBuffer::Next::Incomplete)
            return;
        if (next == LineBuffer::Next::TooLong) {
            m_out->write(
                errorLine(QJsonValue(QJsonValue::Null),
                          Error{Error::Code::TooLarge,
                                QStringLiteral("a message may have %1 bytes; this one has more").arg(kMaxMessageBytes),
                                {}}));
            end();
            return;
        }
        takeLine(line);
    }
}

void McpBridge::takeLine(QByteArrayView line)
{
    const RpcMessage message = parseMessage(line);
    if (message.kind == RpcMessage::Kind::Batch && m_negotiated == QLatin1String(mcp::kBatchRevision))
        takeBatch(message);
    else
        takeMessage(message, line, nullptr);
    throttle();
}

void McpBridge::takeBatch(const RpcMessage &message)
{
    if (message.batch.isEmpty()) {
        deliver(errorLine(QJsonValue(QJsonValue::Null), kInvalidRequest, QStringLiteral("an empty batch"),
                          slugOf(kInvalidRequest)),
                nullptr);
        return;
    }
    const auto batch = std::make_shared<Batch>();
    ++batch->open; // kept open while its messages are taken
    for (const QJsonValue &value : message.batch) {
        RpcMessage part = readMessage(value);
        if (part.isRequest() && part.method == QLatin1String("initialize")) {
            part.kind = RpcMessage::Kind::Invalid;
            part.errorNumber = kInvalidRequest;
            part.errorText = QStringLiteral("initialize must not be in a batch");
        }
        const QByteArray line =
            value.isObject() ? QJsonDocument(value.toObject()).toJson(QJsonDocument::Compact) : QByteArray();
        takeMessage(part, line, batch);
    }
    closeBatch(batch);
}

void McpBridge::takeMessage(const RpcMessage &message, QByteArrayView line, const std::shared_ptr<Batch> &batch)
{
    const auto answerNow = [&](const QByteArray &answer) {
        if (batch)
            ++batch->open;
        deliver(answer, batch);
    };
    switch (message.kind) {
    case RpcMessage::Kind::Response:
        return; // we ask nothing
    case RpcMessage::Kind::Batch:
    case RpcMessage::Kind::Invalid:
        answerNow(errorLine(message.id, message.errorNumber, message.errorText, slugOf(message.errorNumber)));
        return;
    case RpcMessage::Kind::Notification:
        if (message.method == QLatin1String("notifications/cancelled"))
            cancel(message, line);
        return;
    case RpcMessage::Kind::Request:
        break;
    }
    if (const auto answer = mcp::answerConstant(message, m_options.coreOnly, &m_negotiated)) {
        answerNow(*answer);
        return;
    }
    // What is left: tools/call, subscriptions/listen, and the plain methods, whose names all have a dot.
    if (!message.method.contains(QLatin1Char('.')) && !message.method.contains(QLatin1Char('/'))) {
        answerNow(errorLine(message.id, kMethodNotFound, QStringLiteral("unknown method \"%1\"").arg(message.method),
                            slugOf(kMethodNotFound)));
        return;
    }
    if (batch)
        ++batch->open;
    Forwarded request{message.id,
                      message.method,
                      mcp::readMeta(message.params).modern,
                      message.method == QLatin1String("subscriptions/listen"),
                      line.toByteArray() + '\n',
                      batch};
    forward(std::move(request));
}

void McpBridge::deliver(const QByteArray &line, const std::shared_ptr<Batch> &batch)
{
    if (!batch) {
        m_out->write(line);
        return;
    }
    batch->answers.append(line.trimmed());
    closeBatch(batch);
}

void McpBridge::closeBatch(const std::shared_ptr<Batch> &batch)
{
    if (--batch->open > 0 || batch->answers.isEmpty())
        return; // notifications alone get no answer
    m_out->write(QByteArrayLiteral("[") + batch->answers.join(',') + QByteArrayLiteral("]\n"));
}

void McpBridge::cancel(const RpcMessage &message, QByteArrayView line)
{
    const QJsonValue id = message.params.value(QLatin1String("requestId"));
    for (qsizetype i = 0; i < m_waiting.size(); ++i) {
        if (m_waiting.at(i).id != id)
            continue;
        const Forwarded request = m_waiting.takeAt(i);
        if (request.batch)
            closeBatch(request.batch);
        checkEnd();
        return;
    }
    // Late ones are normal: what was answered long ago is no longer open.
    const auto open = m_open.find(keyOf(id));
    if (open == m_open.end() || !m_service)
        return;
    const Forwarded request = open->takeFirst();
    if (open->isEmpty())
        m_open.erase(open);
    m_service->write(line.toByteArray() + '\n');
    if (request.batch)
        closeBatch(request.batch);
    checkEnd();
}

void McpBridge::forward(Forwarded request)
{
    if (m_service) {
        m_service->write(request.line);
        request.line.clear();
        m_open[keyOf(request.id)].append(std::move(request));
        return;
    }
    if (m_waiting.size() >= kMostWaiting) {
        fail(request,
             Error{Error::Code::TooLarge, QStringLiteral("%1 requests wait for the service already").arg(kMostWaiting),
                   QStringLiteral("too-many")});
        return;
    }
    m_waiting.append(std::move(request));
    if (!m_retry.isActive())
        connectService();
}

void McpBridge::fail(const Forwarded &request, const Error &error)
{
    deliver(request.method == QLatin1String("tools/call")
                ? resultLine(request.id, mcp::callFailure(error, request.modern))
                : errorLine(request.id, error),
            request.batch);
}

bool McpBridge::tryConnect()
{
    const int fd = connectToPath(m_options.socketPath);
    if (fd < 0)
        return false;
    if (peerUser(fd) != static_cast<qint64>(::geteuid())) {
        ::close(fd);
        errno = EPERM;
        return false;
    }
    m_starting = false;
    m_service = new Channel(fd, Channel::Mode::Socket, this);
    m_serviceInput = std::make_unique<LineBuffer>();
    connect(m_service, &Channel::received, this, &McpBridge::takeServiceBytes);
    connect(m_service, &Channel::inputEnded, this, &McpBridge::lostService);
    connect(m_service, &Channel::broken, this, &McpBridge::lostService);
    // One conversation for the whole life of this client, whatever becomes of the service meanwhile.
    m_service->write(
        requestLine(kSessionId, QStringLiteral("connection.session"), {{QStringLiteral("session_id"), m_session}}));
    const QList<Forwarded> waiting = std::exchange(m_waiting, {});
    for (const Forwarded &request : waiting)
        forward(request);
    return true;
}

void McpBridge::connectService()
{
    if (m_service || tryConnect())
        return;
    QString why = QString::fromLocal8Bit(std::strerror(errno));
    if (!m_starting && m_options.startService) {
        qCInfo(lcIpc) << "no service answers, starting one" << m_options.socketPath;
        m_since.start();
        if (const auto started = m_options.startService()) {
            m_starting = true;
        } else {
            why = started.error().message;
        }
    }
    if (m_starting && m_since.elapsed() < m_options.startLimitMs) {
        m_retry.start(kRetryMs);
        return;
    }
    const QString text = m_starting
        ? QStringLiteral(
              "a service was started, but does not answer at %1 after %2 s; \"kerfd serve\" in a terminal says why")
              .arg(m_options.socketPath)
              .arg(m_options.startLimitMs / 1000)
        : QStringLiteral("no Kerf service answers at %1 (%2). Start one with \"kerfd serve\".")
              .arg(m_options.socketPath, why);
    m_starting = false;
    const QList<Forwarded> waiting = std::exchange(m_waiting, {});
    for (const Forwarded &request : waiting)
        fail(request, Error{Error::Code::Unreachable, text, QStringLiteral("service-unreachable")});
    checkEnd();
}

void McpBridge::takeServiceBytes(QByteArrayView bytes)
{
    m_serviceInput->append(bytes);
    QByteArrayView line;
    while (m_service) {
        const LineBuffer::Next next = m_serviceInput->next(&line);
        if (next == LineBuffer::Next::Incomplete)
            break;
        if (next == LineBuffer::Next::TooLong) {
            lostService();
            return;
        }
        takeServiceLine(line);
    }
    throttle();
    checkEnd();
}

void McpBridge::takeServiceLine(QByteArrayView line)
{
    const RpcMessage message = parseMessage(line);
    if (message.kind == RpcMessage::Kind::Response) {
        if (message.id == QJsonValue(kSessionId))
            return;
        const auto open = m_open.find(keyOf(message.id));
        if (open == m_open.end())
            return; // cancelled: no answer any more
        const Forwarded request = open->takeFirst();
        if (open->isEmpty())
            m_open.erase(open);
        deliver(line.toByteArray() + '\n', request.batch);
        return;
    }
    if (message.kind == RpcMessage::Kind::Notification)
        m_out->write(line.toByteArray() + '\n'); // progress, events
}

void McpBridge::lostService()
{
    if (!m_service)
        return;
    m_service->close();
    m_service->deleteLater();
    m_service = nullptr;
    const auto open = std::exchange(m_open, {});
    for (const QList<Forwarded> &requests : open) {
        for (const Forwarded &request : requests) {
            fail(request,
                 Error{Error::Code::Unreachable,
                       QStringLiteral(
                           "the Kerf service went away during the call; whether it was carried out is not known"),
                       QStringLiteral("service-unreachable")});
        }
    }
    checkEnd();
}

void McpBridge::throttle()
{
    const bool reading = m_out->pendingBytes() < kMostUnread;
    m_in->setReading(reading);
    if (m_service)
        m_service->setReading(reading);
}

void McpBridge::checkEnd()
{
    if (m_finished || !(m_inputEnded || m_ending))
        return;
    bool open = !m_waiting.isEmpty();
    for (const QList<Forwarded> &requests : std::as_const(m_open)) {
        for (const Forwarded &request : requests)
            open = open || !request.endless;
    }
    if (!m_ending && (open || m_out->pendingBytes() > 0))
        return;
    m_finished = true;
    // Not from within a channel's signal.
    QMetaObject::invokeMethod(this, &McpBridge::finished, Qt::QueuedConnection);
}

void McpBridge::end()
{
    m_ending = true;
    checkEnd();
}

} // namespace kerf
