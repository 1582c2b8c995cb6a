// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/ipc/framing.h"
#include "core/ipc/serviceclient.h"

#include <QDeadlineTimer>
#include <QHash>
#include <QStringList>
#include <QTimer>

#include <memory>

namespace kerf {

class Channel;
class PendingAnswer;

/// The service behind a socket. A call connects if it has to and fails with Unreachable at once if nobody is
/// there; after start() the connection is also kept up by itself, with a growing pause between tries.
class SocketClient : public ServiceClient
{
    Q_OBJECT
public:
    /// `path`: from socketPath().
    explicit SocketClient(QString path, QObject *parent = nullptr);
    ~SocketClient() override;

    /// Connects now if it can, and again whenever the connection is lost.
    void start();
    /// Asks for events, now and after every reconnection. Empty = all topics.
    void subscribe(QStringList topics = {});
    /// How long a call may take before it answers Timeout; longer than the longest of the service's own limits.
    void setCallLimit(int ms) { m_callLimitMs = ms; }

    QCoro::Task<Result<QJsonObject>> call(QString method, QJsonObject params) override;
    bool isConnected() const override { return m_channel != nullptr; }
    QString description() const override { return m_path; }
    /// Why the last try to connect failed; empty while connected.
    QString lastError() const override { return m_lastError; }
    int tries() const override { return m_tries; }
    int nextTryMs() const override { return m_retry.isActive() ? m_retry.remainingTime() : -1; }
    /// Pause before the next try, in ms; for the view that shows it.
    int retryMs() const { return m_retryMs; }

private:
    bool tryConnect();
    void lost();
    void takeBytes(QByteArrayView bytes);
    void takeLine(QByteArrayView line);
    void sendSubscription();
    void settle(qint64 id, Result<QJsonObject> result);
    void endOverdue();

    struct Open {
        std::shared_ptr<PendingAnswer> answer;
        QString method;
        QDeadlineTimer deadline;
    };

    QString m_path;
    QString m_lastError;
    Channel *m_channel = nullptr;
    std::unique_ptr<LineBuffer> m_input;
    QHash<qint64, Open> m_pending;
    QTimer m_overdue; ///< runs while something is pending
    qint64 m_lastId = 0;
    bool m_keepUp = false;
    bool m_subscribed = false;
    QStringList m_topics;
    QTimer m_retry;
    int m_retryMs = 0;
    int m_tries = 0; ///< that failed since it was lost
    int m_callLimitMs = 660000;
};

} // namespace kerf
