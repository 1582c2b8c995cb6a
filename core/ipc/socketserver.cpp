// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ipc/socketserver.h"

#include "core/base/log.h"
#include "core/ipc/connection.h"
#include "core/ipc/socketpath.h"

#include <QFile>
#include <QUuid>

#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kerf {

/// Hands out descriptors instead of QLocalSockets (core/ipc/channel.h says why).
class SocketServer::Listener : public QLocalServer
{
public:
    explicit Listener(SocketServer *server)
        : m_server(server)
    {
    }

protected:
    void incomingConnection(quintptr descriptor) override { m_server->accept(static_cast<int>(descriptor)); }

private:
    SocketServer *m_server;
};

SocketServer::SocketServer(QString path, ServerLimits limits, QObject *parent)
    : QObject(parent)
    , m_path(std::move(path))
    , m_limits(limits)
    , m_run(QUuid::createUuid().toString(QUuid::Id128).left(8))
{
    m_stopTimer.setSingleShot(true);
    connect(&m_stopTimer, &QTimer::timeout, this, [this] {
        qCWarning(lcIpc) << "gave up on clients that do not read or calls that do not end"
                         << "connections" << m_connections.size();
        const QSet<Connection *> rest = m_connections;
        for (Connection *connection : rest)
            connection->abort();
        checkStopped();
    });
}

SocketServer::~SocketServer()
{
    m_stopTimer.stop();
    m_stopping = true;
    m_stopped = true; // no signal from here
    const QSet<Connection *> rest = m_connections;
    m_connections.clear();
    qDeleteAll(rest);
    m_listener.reset();
}

bool SocketServer::isListening() const { return m_listener && m_listener->isListening(); }

Result<void> SocketServer::claim()
{
    if (m_lock)
        return {};
    if (auto folder = checkSocketFolder(m_path, true); !folder)
        return folder;
    auto lock = std::make_unique<QLockFile>(m_path + QStringLiteral(".lock"));
    lock->setStaleLockTime(0); // stale only when its process is gone, however long it has run
    if (!lock->tryLock(0)) {
        qint64 pid = 0;
        QString host;
        QString name;
        if (lock->error() == QLockFile::LockFailedError && lock->getLockInfo(&pid, &host, &name)) {
            return failure(
                Error::Code::Failed,
                QStringLiteral("%1 (process %2) serves %3 already. Stop it, or choose another socket with --socket.")
                    .arg(name.isEmpty() ? QStringLiteral("another server") : name)
                    .arg(pid)
                    .arg(m_path),
                QStringLiteral("already-running"));
        }
        return failure(Error::Code::Failed,
                       QStringLiteral("the lock %1.lock cannot be taken; is its folder writable?").arg(m_path));
    }
    struct stat info {
    };
    const QByteArray name = QFile::encodeName(m_path);
    if (::lstat(name.constData(), &info) == 0) {
        if (!S_ISSOCK(info.st_mode))
            return failure(
                Error::Code::Failed,
                QStringLiteral("%1 is there and is no socket: it was left as it is. Choose another with --socket.")
                    .arg(m_path));
        // Nobody of ours has the lock, so it should be stale; a server of another make may still answer on it.
        if (const int fd = connectToPath(m_path); fd >= 0 || errno == EAGAIN) {
            const qint64 pid = fd >= 0 ? peerProcess(fd) : -1;
            if (fd >= 0)
                ::close(fd);
            return failure(
                Error::Code::Failed,
                QStringLiteral(
                    "process %1 answers on %2 without its lock. Stop it, or choose another socket with --socket.")
                    .arg(pid)
                    .arg(m_path),
                QStringLiteral("already-running"));
        }
        if (::unlink(name.constData()) != 0)
            return failure(Error::Code::Failed,
                           QStringLiteral("the stale socket %1 cannot be removed: %2")
                               .arg(m_path, QString::fromLocal8Bit(std::strerror(errno))));
        qCInfo(lcIpc) << "removed a stale socket" << m_path;
    }
    m_lock = std::move(lock);
    return {};
}

Result<void> SocketServer::listen(std::shared_ptr<MethodHandler> handler)
{
    if (auto claimed = claim(); !claimed)
        return claimed;
    m_handler = std::move(handler);
    connect(m_handler.get(), &MethodHandler::event, this, &SocketServer::publish);
    m_listener = std::make_unique<Listener>(this);
    m_listener->setSocketOptions(QLocalServer::UserAccessOption);
    m_listener->setListenBacklogSize(128);
    if (!m_listener->listen(m_path)) {
        const QString why = m_listener->errorString();
        m_listener.reset();
        return failure(Error::Code::Failed, QStringLiteral("cannot listen on %1: %2").arg(m_path, why));
    }
    qCInfo(lcIpc) << "listening" << m_path;
    return {};
}

void SocketServer::accept(int fd)
{
    const qint64 user = peerUser(fd);
    if (user != static_cast<qint64>(::geteuid())) {
        qCWarning(lcIpc) << "refused a client of another user"
                         << "uid" << user;
        ::close(fd);
        return;
    }
    if (m_connections.size() >= m_limits.connections) {
        const QByteArray line =
            errorLine(QJsonValue(QJsonValue::Null),
                      Error{Error::Code::TooLarge,
                            QStringLiteral("%1 connections are open, the limit; close one").arg(m_limits.connections),
                            QStringLiteral("too-many")});
        ::send(fd, line.constData(), static_cast<size_t>(line.size()), MSG_NOSIGNAL | MSG_DONTWAIT);
        ::close(fd);
        qCWarning(lcIpc) << "refused a client: too many connections" << m_connections.size();
        return;
    }
    const quint64 number = ++m_lastConnection;
    // Named after the run, too: sessions outlive the service, and connection 1 of tomorrow is another conversation.
    auto *connection = new Connection(fd, number, QStringLiteral("conn-%1-%2").arg(m_run).arg(number), this);
    m_connections.insert(connection);
    qCDebug(lcIpc) << "client connected" << number;
    Q_EMIT connectionCountChanged(connectionCount());
}

void SocketServer::connectionClosed(Connection *connection)
{
    if (!m_connections.remove(connection))
        return;
    connection->deleteLater();
    subscriptionsChanged();
    Q_EMIT connectionCountChanged(connectionCount());
    checkStopped();
}

void SocketServer::subscriptionsChanged()
{
    m_anySubscriber = false;
    for (const Connection *connection : std::as_const(m_connections))
        m_anySubscriber = m_anySubscriber || connection->isSubscribed();
}

void SocketServer::publish(const QString &topic, const QJsonObject &params)
{
    if (!m_anySubscriber)
        return;
    QJsonObject body = params;
    body.insert(QStringLiteral("topic"), topic);
    const QByteArray line = notificationLine(QStringLiteral("event"), body);
    const QSet<Connection *> connections = m_connections; // one may be dropped meanwhile
    for (Connection *connection : connections) {
        if (m_connections.contains(connection) && connection->isSubscribed())
            connection->publish(topic, body, line);
    }
}

void SocketServer::stop()
{
    if (m_stopping)
        return;
    m_stopping = true;
    if (m_listener)
        m_listener->close(); // the socket file goes with it
    m_stopTimer.start(m_limits.stopMs);
    const QSet<Connection *> connections = m_connections;
    for (Connection *connection : connections) {
        if (m_connections.contains(connection))
            connection->finish();
    }
    checkStopped();
}

void SocketServer::checkStopped()
{
    if (!m_stopping || m_stopped || !m_connections.isEmpty())
        return;
    m_stopped = true;
    m_stopTimer.stop();
    if (m_handler)
        m_handler->disconnect(this);
    m_handler.reset();
    // Not from within a connection's own code.
    QMetaObject::invokeMethod(
        this,
        [this] {
            m_lock.reset();
            Q_EMIT stopped();
        },
        Qt::QueuedConnection);
}

} // namespace kerf
