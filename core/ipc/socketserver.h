// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/ipc/handler.h"

#include <QLocalServer>
#include <QLockFile>
#include <QObject>
#include <QSet>
#include <QTimer>

#include <memory>

namespace kerf {

class Connection;

/// The limits of PROTOCOL.md; a test makes them smaller.
struct ServerLimits {
    int connections = 64;
    int pendingRequests = 256; ///< a connection
    qint64 eventBacklogBytes = 1024 * 1024; ///< unread events, then the subscriber is dropped
    qint64 answerBacklogBytes = 4 * 1024 * 1024; ///< unread answers, then its next request waits
    int lingerMs = 5000; ///< how long the rest of a message that was too large is swallowed
    int stopMs = 10000; ///< how long stop() waits for answers under way
};

/// Serves one MethodHandler on a local socket: plain JSON-RPC and both eras of MCP. Lives on the handler's thread.
class SocketServer : public QObject
{
    Q_OBJECT
public:
    /// `path`: from socketPath().
    explicit SocketServer(QString path, ServerLimits limits = {}, QObject *parent = nullptr);
    ~SocketServer() override;

    /// Takes the folder and the lock and clears a stale socket, before anything else is opened.
    /// Error: Failed; another server is named with its process.
    Result<void> claim();
    /// claim(), then answers. Error: as claim(), or the system's own.
    Result<void> listen(std::shared_ptr<MethodHandler> handler);
    /// Takes no more requests, answers those accepted, then closes everything and emits stopped().
    void stop();

    QString path() const { return m_path; }
    bool isListening() const;
    int connectionCount() const { return static_cast<int>(m_connections.size()); }

    // For Connection.
    const std::shared_ptr<MethodHandler> &handler() const { return m_handler; }
    const ServerLimits &limits() const { return m_limits; }
    bool isStopping() const { return m_stopping; }
    void connectionClosed(Connection *connection);
    /// True while at least one connection wants events; nothing is written out otherwise.
    void subscriptionsChanged();

Q_SIGNALS:
    void stopped();
    void connectionCountChanged(int count);

private:
    class Listener;
    void accept(int fd);
    void publish(const QString &topic, const QJsonObject &params);
    void checkStopped();

    QString m_path;
    ServerLimits m_limits;
    std::unique_ptr<QLockFile> m_lock;
    std::unique_ptr<Listener> m_listener;
    std::shared_ptr<MethodHandler> m_handler;
    QSet<Connection *> m_connections;
    QString m_run; ///< names this run, so that session names of two runs differ
    quint64 m_lastConnection = 0;
    bool m_stopping = false;
    bool m_stopped = false;
    bool m_anySubscriber = false;
    QTimer m_stopTimer;
};

} // namespace kerf
