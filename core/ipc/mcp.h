// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/ipc/jsonrpc.h"

#include <optional>

// The Model Context Protocol in both of its eras: what needs no engine. The socket and the stdio bridge share it.
namespace kerf::mcp {

inline constexpr char kLatestLegacy[] = "2025-11-25";
inline constexpr char kBatchRevision[] = "2025-03-26"; ///< the one revision in which a batch must be accepted
inline constexpr char kModern[] = "2026-07-28"; ///< stateless: every request carries its version in _meta
inline constexpr int kUnsupportedVersion = -32022;

/// What a request's params._meta says.
struct Meta {
    bool modern = false;
    QJsonValue progressToken{QJsonValue::Undefined}; ///< string or integer; 0 is one; undefined = none asked for
    QString conversation; ///< the harness's own conversation id; a hint, never a secret
};
Meta readMeta(const QJsonObject &params);
/// What is wrong with a stateless request's _meta, as the answer to it; nullopt = nothing.
std::optional<QByteArray> metaError(const RpcMessage &request);

/// Answers what needs no engine: initialize, ping, tools/list, server/discover, an unknown tool, and the methods
/// of MCP that Kerf does not have. nullopt = not one of these. `negotiated` is set by initialize.
std::optional<QByteArray> answerConstant(const RpcMessage &request, bool coreOnly, QString *negotiated);

QJsonObject initializeResult(const QString &askedVersion);
QJsonObject discoverResult();
QJsonObject toolsListResult(bool coreOnly, bool modern);
/// What every result of the stateless era carries; unchanged in the older one.
QJsonObject dressed(QJsonObject result, bool modern);
QJsonObject callResult(const QString &text, const QJsonObject &structured, bool modern);
/// A tool's failure as the model sees it: a text to act on. No structuredContent: it would have to fit the
/// tool's outputSchema.
QJsonObject callFailure(const Error &error, bool modern);

} // namespace kerf::mcp
