// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/ipc/handler.h"
#include "core/ipc/serviceclient.h"

#include <QHash>

namespace kerf {

class PendingAnswer;

/// A MethodHandler of another thread (or of this one), seen from the thread that made the client. Calls are
/// queued to the handler's thread, answers and events come back as events of this one. Either side may end first:
/// open calls then answer Unreachable (the handler went) or Cancelled (the client went). The client never owns the
/// handler: who made it lets go of it on its own thread.
class LocalClient : public ServiceClient
{
    Q_OBJECT
public:
    explicit LocalClient(const std::shared_ptr<MethodHandler> &handler, QObject *parent = nullptr);
    ~LocalClient() override;

    QCoro::Task<Result<QJsonObject>> call(QString method, QJsonObject params) override;
    bool isConnected() const override { return m_connected; }
    QString description() const override { return QStringLiteral("embedded engine"); }

private:
    struct Gate;
    struct Reply;
    static QCoro::Task<void> run(std::shared_ptr<MethodHandler> handler, std::shared_ptr<Reply> reply, QString method,
                                 QJsonObject params);
    void settle(quint64 number, const Result<QJsonObject> &result);
    void handlerGone();

    std::shared_ptr<Gate> m_gate;
    std::weak_ptr<MethodHandler> m_handler; ///< locked on its own thread only
    QHash<quint64, std::shared_ptr<PendingAnswer>> m_pending;
    quint64 m_lastNumber = 0;
    bool m_connected = true;
};

} // namespace kerf
