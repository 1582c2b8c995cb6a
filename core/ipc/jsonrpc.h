// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"

#include <QByteArray>
#include <QByteArrayView>
#include <QJsonArray>
#include <QJsonObject>
#include <QJsonValue>

namespace kerf {

inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;

/// One JSON-RPC 2.0 message, parsed at the edge.
struct RpcMessage {
    enum class Kind {
        Request,
        Notification,
        Response, ///< an answer to something; we ask nothing, so it is dropped
        Batch, ///< a JSON array; `batch` holds it
        Invalid ///< answer it with errorNumber and errorText
    };
    Kind kind = Kind::Invalid;
    QJsonValue id{QJsonValue::Null}; ///< string or integer of a request; null where none could be read
    QString method;
    QJsonObject params; ///< empty where absent or null
    int errorNumber = 0;
    QString errorText;
    QJsonArray batch;
    QJsonObject object; ///< the whole message of a Response

    bool isRequest() const { return kind == Kind::Request; }
};

RpcMessage parseMessage(QByteArrayView line);
/// The same for an element of a batch.
RpcMessage readMessage(const QJsonValue &value);

// Messages as lines, with the line end. Keys in the order jsonrpc, id, result|error.
QByteArray resultLine(const QJsonValue &id, const QJsonObject &result);
QByteArray errorLine(const QJsonValue &id, int number, const QString &message, const QString &slug,
                     QJsonObject data = {});
QByteArray errorLine(const QJsonValue &id, const Error &error);
QByteArray notificationLine(const QString &method, const QJsonObject &params);
QByteArray requestLine(const QJsonValue &id, const QString &method, const QJsonObject &params);

/// Slug of JSON-RPC's own numbers: "parse-error", "invalid-request", "method-not-found", "invalid-params".
QString slugOf(int number);
/// What a client makes of an error object: the code by data.code, else by its number.
Error errorFromJson(const QJsonObject &error);

} // namespace kerf
