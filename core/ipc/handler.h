// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"

#include <QCoroTask>

#include <QJsonObject>
#include <QObject>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

namespace kerf {

/// Who calls, and how.
struct CallContext {
    quint64 connectionId = 0; ///< 0 = in process
    /// Session of a call that names none: the harness's own conversation id from _meta, else one a connection
    /// ("conn-..."); empty = the stateless MCP era: a method that needs a session answers -32602.
    QString defaultSessionId;
    std::function<void(double progress, double total, const QString &message)> progress; ///< may be empty
    std::shared_ptr<std::atomic_bool> cancelled; ///< may be null; tested between steps
};

/// A tool: its method name, schemas, and whether `--tools core` shows it. The list is constant.
struct ToolInfo {
    const char *name;
    const char *title;
    const char *description; ///< terse: it costs prompt tokens
    const char *inputSchema; ///< JSON text
    const char *outputSchema; ///< JSON text
    bool core;
    bool readOnly;
    bool idempotent;
};

/// All tools in their fixed order (core/engine/tools.cpp); needs no store, no server.
const QList<ToolInfo> &toolTable();

/// What answers methods. One thread: the engine's. The window, the socket and the commands call the same one.
class MethodHandler : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;

    virtual bool knows(const QString &method) const = 0;
    /// Answers with the result object. Parameters by value: it may be a coroutine.
    virtual QCoro::Task<Result<QJsonObject>> call(QString method, QJsonObject params, CallContext context) = 0;
    /// Answers at once what needs no waiting (kerf.status, ping-like); nullopt = use call().
    virtual std::optional<Result<QJsonObject>> callNow(const QString &method, const QJsonObject &params,
                                                       const CallContext &context) = 0;
    /// The short text that a model sees: stands alone, most important first.
    virtual QString render(const QString &method, const QJsonObject &result) const = 0;

Q_SIGNALS:
    /// topic: episode|plan|applied|outcome|receipt|slots|ring|server|profile|log; params hold `topic` too.
    void event(const QString &topic, const QJsonObject &params);
};

} // namespace kerf
