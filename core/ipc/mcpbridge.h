// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"
#include "core/ipc/framing.h"
#include "core/ipc/jsonrpc.h"

#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QSet>
#include <QTimer>

#include <functional>
#include <memory>

namespace kerf {

class Channel;

struct BridgeOptions {
    QString socketPath;
    bool coreOnly = true;
    /// Starts a service in the background; empty = none is started. Called at most once for each try to connect.
    std::function<Result<void>()> startService;
    int startLimitMs = 8000; ///< how long a started service may take to listen
    int endLimitMs = 10000; ///< how long the end of the input waits for answers under way
};

/// The stdio form of the service: one MCP client on `in` and `out`, the rest on the socket. What is constant
/// (initialize, ping, tools/list, server/discover) is answered here and opens nothing; the first call connects.
class McpBridge : public QObject
{
    Q_OBJECT
public:
    McpBridge(int in, int out, BridgeOptions options, QObject *parent = nullptr);
    ~McpBridge() override;

    /// Ends now (SIGTERM): writes what can be written, then finished().
    void end();

Q_SIGNALS:
    void finished();

private:
    /// A JSON array of requests (2025-03-26): answered as one array once all of it is answered.
    struct Batch {
        QList<QByteArray> answers;
        int open = 0;
    };
    struct Forwarded {
        QJsonValue id;
        QString method;
        bool modern = false;
        bool endless = false; ///< subscriptions/listen: no answer is due
        QByteArray line;
        std::shared_ptr<Batch> batch;
    };

    void takeBytes(QByteArrayView bytes);
    void takeLine(QByteArrayView line);
    void takeMessage(const RpcMessage &message, QByteArrayView line, const std::shared_ptr<Batch> &batch);
    void takeBatch(const RpcMessage &message);
    void cancel(const RpcMessage &message, QByteArrayView line);
    void forward(Forwarded request);
    void deliver(const QByteArray &line, const std::shared_ptr<Batch> &batch);
    void closeBatch(const std::shared_ptr<Batch> &batch);
    void fail(const Forwarded &request, const Error &error);
    void connectService();
    bool tryConnect();
    void takeServiceBytes(QByteArrayView bytes);
    void takeServiceLine(QByteArrayView line);
    void lostService();
    void checkEnd();
    void throttle();

    BridgeOptions m_options;
    Channel *m_in;
    Channel *m_out;
    Channel *m_service = nullptr;
    LineBuffer m_input;
    std::unique_ptr<LineBuffer> m_serviceInput;
    QString m_session; ///< default session of this client, also across a restart of the service
    QString m_negotiated;
    QList<Forwarded> m_waiting; ///< not sent yet: the service is being reached
    QHash<QByteArray, QList<Forwarded>> m_open; ///< sent, by id as JSON
    QTimer m_retry;
    QElapsedTimer m_since; ///< the service was started
    bool m_starting = false;
    bool m_inputEnded = false;
    bool m_ending = false;
    bool m_finished = false;
};

} // namespace kerf
