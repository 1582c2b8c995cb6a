// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QByteArray>
#include <QHash>
#include <QList>
#include <QPointer>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTest>
#include <QUrl>

#include <functional>
#include <optional>

/// Says what is asked and answers what it was told, for the answers that no installed llama-server gives (older
/// spellings, other programs, broken ones).
class HttpStub : public QObject
{
public:
    struct Request {
        QByteArray method;
        QByteArray path; ///< with its query
        QByteArray head;
        QByteArray body;
    };
    struct Answer {
        int status = 200;
        QByteArray body;
        QByteArray headers; ///< whole lines
        bool silent = false; ///< no answer at all
        bool hangUp = false; ///< closes the connection
        qint64 claimedLength = -1;
    };

    HttpStub()
    {
        QObject::connect(&m_server, &QTcpServer::newConnection, this, [this] {
            while (QTcpSocket *socket = m_server.nextPendingConnection())
                QObject::connect(socket, &QTcpSocket::readyRead, this, [this, socket] { read(socket); });
        });
        m_server.listen(QHostAddress::LocalHost);
    }

    QUrl url() const { return QUrl(QStringLiteral("http://127.0.0.1:%1").arg(m_server.serverPort())); }
    quint16 port() const { return m_server.serverPort(); }
    void close() { m_server.close(); }
    /// What "METHOD /path" gives; else 404.
    void on(const QByteArray &what, const Answer &answer) { m_answers.insert(what, answer); }
    std::function<std::optional<Answer>(const Request &)> decide;
    QList<Request> requests;

private:
    void read(QTcpSocket *socket)
    {
        QByteArray &buffer = m_buffers[socket];
        buffer += socket->readAll();
        while (true) {
            const qsizetype end = buffer.indexOf("\r\n\r\n");
            if (end < 0)
                return;
            Request request;
            request.head = buffer.left(end);
            qsizetype length = 0;
            const QList<QByteArray> lines = request.head.split('\n');
            for (const QByteArray &line : lines) {
                if (line.toLower().startsWith("content-length:"))
                    length = line.mid(15).trimmed().toLongLong();
            }
            if (buffer.size() < end + 4 + length)
                return;
            request.body = buffer.mid(end + 4, length);
            buffer.remove(0, end + 4 + length);
            const QList<QByteArray> first = lines.constFirst().split(' ');
            request.method = first.value(0);
            request.path = first.value(1);
            requests.append(request);
            Answer answer = m_answers.value(
                request.method + ' ' + request.path,
                Answer{404, "{\"error\":{\"code\":404,\"message\":\"File Not Found\"}}", {}, false, false, -1});
            if (decide) {
                if (const std::optional<Answer> decided = decide(request))
                    answer = *decided;
            }
            if (answer.silent)
                continue;
            if (answer.hangUp) {
                socket->abort();
                return;
            }
            const qint64 claimed = answer.claimedLength >= 0 ? answer.claimedLength : answer.body.size();
            socket->write("HTTP/1.1 " + QByteArray::number(answer.status) + " X\r\nContent-Length: "
                          + QByteArray::number(claimed) + "\r\n" + answer.headers + "\r\n" + answer.body);
        }
    }

    QTcpServer m_server;
    QHash<QByteArray, Answer> m_answers;
    QHash<QTcpSocket *, QByteArray> m_buffers;
};

/// The value of a task, or nothing after the limit.
template<typename Task>
auto valueOf(Task task, int limitMs = 60'000)
{
    using Value = typename std::remove_reference_t<decltype(task)>::value_type;
    // In shared memory: a task that ends after the limit writes to something.
    const auto value = std::make_shared<std::optional<Value>>();
    task.then([value](Value result) { *value = std::move(result); });
    if (!QTest::qWaitFor([value] { return value->has_value(); }, limitMs))
        qFatal("the task did not end");
    return **value;
}

/// A port on which nobody listens at this moment.
inline quint16 freePort()
{
    QTcpServer server;
    server.listen(QHostAddress::LocalHost);
    return server.serverPort();
}
