// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/ipc/channel.h"
#include "core/ipc/framing.h"
#include "core/ipc/handler.h"
#include "core/ipc/jsonrpc.h"

#include <QQueue>
#include <QSet>

namespace kerf {

class SocketServer;
struct Tool;

/// One client of the socket. Its requests are carried out one after the other and answered in their order.
class Connection : public QObject
{
    Q_OBJECT
public:
    /// Takes the descriptor.
    Connection(int fd, quint64 number, QString defaultSession, SocketServer *server);
    ~Connection() override;

    bool isSubscribed() const { return m_subscribed || !m_listeners.isEmpty(); }
    /// `line`: the notification as plain subscribers get it.
    void publish(const QString &topic, const QJsonObject &params, const QByteArray &line);
    /// Takes no more input; closes once everything accepted is answered and written.
    void finish();
    /// Closes now. What is under way goes on, its answer is dropped.
    void abort();

private:
    /// A request in its place in the order.
    struct Item {
        enum class Kind {
            Call, ///< a method of the handler
            Ready, ///< `line` is the answer already
            Listen, ///< subscriptions/listen
            Subscribe,
            SetSession
        };
        Kind kind = Kind::Ready;
        RpcMessage message;
        QString method;
        QJsonObject params;
        bool wrapped = false; ///< tools/call: the result goes into content and structuredContent
        bool modern = false;
        QString session; ///< default session of this call
        QJsonValue progressToken{QJsonValue::Undefined};
        QByteArray line;
        std::shared_ptr<std::atomic_bool> cancelled;
        bool isNotification() const { return message.kind == RpcMessage::Kind::Notification; }
    };
    struct Listener {
        QJsonValue id;
        QSet<QString> topics; ///< empty = none asked for
    };

    void takeBytes(QByteArrayView bytes);
    void takeLine(QByteArrayView line);
    void takeRequest(RpcMessage message);
    void takeNotification(const RpcMessage &message);
    void cancel(const QJsonValue &id);
    void endOfInput(bool gone);
    /// The client reads no more: what was accepted is carried out, the answers are dropped.
    void lose();
    void refuseTooLong();
    void enqueue(Item item);
    void enqueueLine(const RpcMessage &message, const QByteArray &line);
    bool mayAnswer() const;
    void pump();
    /// True if it was answered; false if it goes on.
    bool carryOut(const std::shared_ptr<Item> &item);
    QCoro::Task<void> run(std::shared_ptr<Item> item, CallContext context);
    void answer(const Item &item, const Result<QJsonObject> &result);
    std::optional<Error> subscribe(const Item &item, QJsonObject *result);
    void listen(const Item &item);
    void write(const QByteArray &line, bool isEvent = false);
    void noteDrained(qint64 written);
    void closeIfDone();
    CallContext contextFor(const std::shared_ptr<Item> &item);
    void endListeners();

    SocketServer *m_server;
    Channel *m_channel;
    LineBuffer m_input;
    quint64 m_number;
    QString m_defaultSession;
    QQueue<std::shared_ptr<Item>> m_queue;
    int m_pendingCalls = 0; ///< in the queue or under way
    std::shared_ptr<Item> m_running;
    bool m_pumping = false;
    bool m_finishing = false; ///< no more input is taken
    bool m_lingering = false; ///< swallows the rest of a message that was too large
    bool m_gone = false; ///< nobody reads
    bool m_closed = false;
    bool m_subscribed = false;
    QSet<QString> m_topics; ///< empty = all
    QList<Listener> m_listeners;
    QQueue<std::pair<bool, qint64>> m_backlog; ///< what waits to be written: event or not, bytes
    qint64 m_eventBacklog = 0;
};

/// Topics of events (PROTOCOL.md).
const QStringList &eventTopics();

} // namespace kerf
