// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/ipc/channel.h"
#include "core/ipc/handler.h"

#include <QDeadlineTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTest>
#include <QTimer>

#include <coroutine>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kerf {

/// Answers a few methods, some of them late, so that order, limits and cancellation can be seen from outside.
class TestHandler : public MethodHandler
{
public:
    bool knows(const QString &method) const override
    {
        static const QStringList names{
            QStringLiteral("kerf.status"),   QStringLiteral("test.echo"),     QStringLiteral("test.hold"),
            QStringLiteral("test.fail"),     QStringLiteral("test.later"),    QStringLiteral("test.steps"),
            QStringLiteral("test.big"),      QStringLiteral("memory.recall"), QStringLiteral("memory.commit_episode"),
            QStringLiteral("context.apply"), QStringLiteral("session.list")};
        return names.contains(method);
    }

    std::optional<Result<QJsonObject>> callNow(const QString &method, const QJsonObject &, const CallContext &) override
    {
        if (method == QLatin1String("kerf.status"))
            return Result<QJsonObject>(QJsonObject{{QStringLiteral("version"), QStringLiteral("test")}});
        return std::nullopt;
    }

    QCoro::Task<Result<QJsonObject>> call(QString method, QJsonObject params, CallContext context) override
    {
        calls.append(method);
        lastContext = context;
        if (method == QLatin1String("test.hold")) {
            Hold hold{this};
            co_await hold;
            co_return QJsonObject{{QStringLiteral("held"), true},
                                  {QStringLiteral("cancelled"), context.cancelled && context.cancelled->load()}};
        }
        if (method == QLatin1String("test.later")) {
            Later later;
            co_await later;
        }
        if (method == QLatin1String("test.steps")) {
            for (const double step : {0.0, 1.0, 1.0, 2.0}) { // one of them does not rise
                if (context.progress)
                    context.progress(step, 2, QStringLiteral("step"));
            }
        }
        if (method == QLatin1String("test.big"))
            co_return QJsonObject{
                {QStringLiteral("text"), QString(params.value(QStringLiteral("size")).toInt(), QLatin1Char('x'))}};
        if (method == QLatin1String("context.apply"))
            co_return failure(Error::Code::StalePlan, QStringLiteral("plan p-1 is stale"));
        if (method == QLatin1String("test.fail"))
            co_return failure(Error::Code::Unreachable, QStringLiteral("no server"));
        if (method == QLatin1String("memory.recall"))
            co_return QJsonObject{{QStringLiteral("results"), QJsonArray()},
                                  {QStringLiteral("session"), context.defaultSessionId}};
        co_return QJsonObject{{QStringLiteral("params"), params},
                              {QStringLiteral("session"), context.defaultSessionId}};
    }

    QString render(const QString &method, const QJsonObject &) const override
    {
        return QStringLiteral("text of ") + method;
    }

    void publish(const QString &topic, QJsonObject params = {}) { Q_EMIT event(topic, params); }
    /// Lets the oldest test.hold go on.
    void release()
    {
        if (!waiting.isEmpty())
            waiting.takeFirst().resume();
    }

    QStringList calls;
    CallContext lastContext;
    QList<std::coroutine_handle<>> waiting;

private:
    struct Hold {
        TestHandler *handler;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> waiter) const { handler->waiting.append(waiter); }
        void await_resume() const noexcept { }
    };
    struct Later {
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> waiter) const
        {
            QTimer::singleShot(1, [waiter] { waiter.resume(); });
        }
        void await_resume() const noexcept { }
    };
};

/// The other side of a descriptor, byte by byte, while this thread's event loop runs.
class RawClient
{
public:
    explicit RawClient(const QString &path)
        : m_fd(connectToPath(path))
    {
    }
    explicit RawClient(int fd)
        : m_fd(fd)
    {
    }
    ~RawClient() { close(); }
    Q_DISABLE_COPY_MOVE(RawClient)

    bool isOpen() const { return m_fd >= 0; }
    int fd() const { return m_fd; }
    void close()
    {
        if (m_fd >= 0)
            ::close(m_fd);
        m_fd = -1;
    }
    void endWriting() { ::shutdown(m_fd, SHUT_WR); }

    /// False: the peer took not all of it within the limit.
    bool send(QByteArrayView bytes, int limitMs = 20000)
    {
        const QDeadlineTimer limit(limitMs);
        while (!bytes.isEmpty()) {
            const ssize_t sent =
                ::send(m_fd, bytes.data(), static_cast<size_t>(bytes.size()), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent > 0)
                bytes = bytes.sliced(sent);
            else if (sent < 0 && errno != EAGAIN)
                return false;
            if (bytes.isEmpty())
                break;
            if (limit.hasExpired())
                return false;
            QTest::qWait(1);
        }
        return true;
    }

    /// The next line without its end; empty if none came or the stream ended.
    QByteArray line(int limitMs = 5000)
    {
        const QDeadlineTimer limit(limitMs);
        for (;;) {
            if (const qsizetype end = m_buffer.indexOf('\n'); end >= 0) {
                const QByteArray found = m_buffer.left(end);
                m_buffer.remove(0, end + 1);
                return found;
            }
            take();
            if (m_buffer.contains('\n'))
                continue;
            if (ended || limit.hasExpired())
                return {};
            QTest::qWait(1);
        }
    }

    QJsonObject object(int limitMs = 5000) { return QJsonDocument::fromJson(line(limitMs)).object(); }

    /// Nothing more came and the peer has ended the stream.
    bool atEnd(int limitMs = 5000)
    {
        const QDeadlineTimer limit(limitMs);
        while (!ended && !limit.hasExpired()) {
            take();
            if (!ended)
                QTest::qWait(1);
        }
        return ended && m_buffer.isEmpty();
    }

    bool ended = false;

private:
    void take()
    {
        char bytes[65536];
        for (;;) {
            const ssize_t got = ::recv(m_fd, bytes, sizeof(bytes), MSG_DONTWAIT);
            if (got > 0) {
                m_buffer.append(bytes, got);
                continue;
            }
            if (got == 0 || (errno != EAGAIN && errno != EINTR))
                ended = true;
            return;
        }
    }

    int m_fd;
    QByteArray m_buffer;
};

inline int errorCode(const QJsonObject &answer)
{
    return answer.value(QStringLiteral("error")).toObject().value(QStringLiteral("code")).toInt();
}
inline QString errorSlugOf(const QJsonObject &answer)
{
    return answer.value(QStringLiteral("error"))
        .toObject()
        .value(QStringLiteral("data"))
        .toObject()
        .value(QStringLiteral("code"))
        .toString();
}
inline QString errorText(const QJsonObject &answer)
{
    return answer.value(QStringLiteral("error")).toObject().value(QStringLiteral("message")).toString();
}
inline QJsonObject resultOf(const QJsonObject &answer) { return answer.value(QStringLiteral("result")).toObject(); }

} // namespace kerf
