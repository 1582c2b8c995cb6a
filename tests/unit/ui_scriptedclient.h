// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/ipc/serviceclient.h"

#include <QCoroTimer>
#include <QHash>
#include <QTimer>

#include <functional>

/// A service that answers from a table, one turn of the event loop later, and keeps what it was asked.
class ScriptedClient : public kerf::ServiceClient
{
public:
    using Answer = std::function<kerf::Result<QJsonObject>(const QJsonObject &)>;
    struct Call {
        QString method;
        QJsonObject params;
    };

    QCoro::Task<kerf::Result<QJsonObject>> call(QString method, QJsonObject params) override
    {
        calls.append(Call{method, params});
        const Answer answer = answers.value(method);
        QTimer turn;
        turn.setSingleShot(true);
        turn.start(0);
        co_await turn;
        if (!answer)
            co_return kerf::failure(kerf::Error::Code::MethodNotFound, QStringLiteral("no answer for %1").arg(method));
        co_return answer(params);
    }
    bool isConnected() const override { return connected; }
    QString description() const override { return QStringLiteral("scripted service"); }
    void setConnected(bool now)
    {
        connected = now;
        Q_EMIT connectedChanged(now);
    }
    void give(const QString &method, const QJsonObject &object)
    {
        answers.insert(method, [object](const QJsonObject &) -> kerf::Result<QJsonObject> { return object; });
    }
    int count(const QString &method) const
    {
        return static_cast<int>(
            std::count_if(calls.begin(), calls.end(), [&method](const Call &c) { return c.method == method; }));
    }

    bool connected = true;
    QHash<QString, Answer> answers;
    QList<Call> calls;
};
