// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"

#include <QCoroTask>

#include <QJsonObject>
#include <QObject>

namespace kerf {

/// The service as a window, a command or a replay sees it: the same methods and events whether the engine
/// is embedded (LocalClient) or runs in another process (SocketClient). Lives on its caller's thread.
class ServiceClient : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;

    /// Calls a plain method of PROTOCOL.md. Never blocks. A lost service gives Error::Code::Unreachable.
    virtual QCoro::Task<Result<QJsonObject>> call(QString method, QJsonObject params) = 0;
    virtual bool isConnected() const = 0;
    /// Where it goes, for people: "embedded engine" or the socket's path.
    virtual QString description() const = 0;
    /// Why it is not connected, in words; empty while it is.
    virtual QString lastError() const { return {}; }
    /// Tries to connect since it was lost, and ms until the next; -1 = none is planned.
    virtual int tries() const { return 0; }
    virtual int nextTryMs() const { return -1; }

Q_SIGNALS:
    void event(const QString &topic, const QJsonObject &params);
    void connectedChanged(bool connected);
};

} // namespace kerf
