// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ipc/jsonrpc.h"

#include <QJsonArray>
#include <QJsonDocument>

#include <cmath>

namespace kerf {

namespace {

RpcMessage invalid(int number, const QString &text, const QJsonValue &id = QJsonValue(QJsonValue::Null))
{
    RpcMessage message;
    message.kind = RpcMessage::Kind::Invalid;
    message.id = id;
    message.errorNumber = number;
    message.errorText = text;
    return message;
}

bool isId(const QJsonValue &value)
{
    if (value.isString())
        return true;
    if (!value.isDouble())
        return false;
    const double number = value.toDouble();
    return number == std::floor(number) && std::abs(number) < 9.3e18;
}

QByteArray idBytes(const QJsonValue &id)
{
    if (id.isDouble())
        return QByteArray::number(id.toInteger());
    if (!id.isString())
        return QByteArrayLiteral("null");
    const QByteArray array = QJsonDocument(QJsonArray{id}).toJson(QJsonDocument::Compact); // ["..."]
    return array.mid(1, array.size() - 2);
}

QByteArray compact(const QJsonObject &object) { return QJsonDocument(object).toJson(QJsonDocument::Compact); }

} // namespace

RpcMessage readMessage(const QJsonValue &value)
{
    if (!value.isObject())
        return invalid(kInvalidRequest, QStringLiteral("a message must be a JSON object"));
    const QJsonObject object = value.toObject();
    const QJsonValue id = object.value(QLatin1String("id"));
    const bool hasId = !id.isUndefined();
    const QJsonValue echo = hasId && isId(id) ? id : QJsonValue(QJsonValue::Null);
    if (object.value(QLatin1String("jsonrpc")).toString() != QLatin1String("2.0"))
        return invalid(kInvalidRequest, QStringLiteral("jsonrpc: must be \"2.0\""), echo);
    const QJsonValue method = object.value(QLatin1String("method"));
    if (method.isUndefined() && (object.contains(QLatin1String("result")) || object.contains(QLatin1String("error")))) {
        RpcMessage message;
        message.kind = RpcMessage::Kind::Response;
        message.id = echo;
        message.object = object;
        return message;
    }
    if (!method.isString() || method.toString().isEmpty())
        return invalid(kInvalidRequest, QStringLiteral("method: must be a string"), echo);
    if (hasId && !isId(id))
        return invalid(kInvalidRequest, QStringLiteral("id: must be a string or an integer"));
    const QJsonValue params = object.value(QLatin1String("params"));
    RpcMessage message;
    message.kind = hasId ? RpcMessage::Kind::Request : RpcMessage::Kind::Notification;
    message.id = echo;
    message.method = method.toString();
    if (params.isArray()) {
        RpcMessage wrong =
            invalid(kInvalidParams, QStringLiteral("params: must be an object, parameters have names"), echo);
        return wrong;
    }
    if (!params.isObject() && !params.isUndefined() && !params.isNull())
        return invalid(kInvalidRequest, QStringLiteral("params: must be an object"), echo);
    message.params = params.toObject();
    return message;
}

RpcMessage parseMessage(QByteArrayView line)
{
    // No copy: the document owns what it read, and the view lives as long as this function.
    const QByteArray bytes = QByteArray::fromRawData(line.data(), line.size());
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(bytes, &error);
    if (error.error != QJsonParseError::NoError) {
        // A bare string, number or literal is JSON, but no request; QJsonDocument takes objects and arrays only.
        if (!line.startsWith('{') && !line.startsWith('[')) {
            QJsonParseError inner;
            QJsonDocument::fromJson(QByteArrayLiteral("[") + bytes + QByteArrayLiteral("]"), &inner);
            if (inner.error == QJsonParseError::NoError)
                return invalid(kInvalidRequest, QStringLiteral("a message must be a JSON object"));
        }
        return invalid(kParseError,
                       QStringLiteral("parse error at byte %1: %2").arg(error.offset).arg(error.errorString()));
    }
    if (document.isArray()) {
        RpcMessage message;
        message.kind = RpcMessage::Kind::Batch;
        message.batch = document.array();
        message.errorNumber = kInvalidRequest;
        message.errorText = QStringLiteral("batches are not served: send one message a line");
        return message;
    }
    return readMessage(document.object());
}

QByteArray resultLine(const QJsonValue &id, const QJsonObject &result)
{
    const QByteArray body = compact(result);
    const QByteArray head = idBytes(id);
    QByteArray line;
    line.reserve(body.size() + head.size() + 40);
    line += "{\"jsonrpc\":\"2.0\",\"id\":";
    line += head;
    line += ",\"result\":";
    line += body;
    line += "}\n";
    return line;
}

QByteArray errorLine(const QJsonValue &id, int number, const QString &message, const QString &slug, QJsonObject data)
{
    data.insert(QStringLiteral("code"), slug);
    const QJsonObject error{
        {QStringLiteral("code"), number}, {QStringLiteral("message"), message}, {QStringLiteral("data"), data}};
    return QByteArrayLiteral("{\"jsonrpc\":\"2.0\",\"id\":") + idBytes(id) + QByteArrayLiteral(",\"error\":")
        + compact(error) + QByteArrayLiteral("}\n");
}

QByteArray errorLine(const QJsonValue &id, const Error &error)
{
    return errorLine(id, errorNumber(error.code), error.message, errorSlug(error));
}

QByteArray notificationLine(const QString &method, const QJsonObject &params)
{
    return QByteArrayLiteral("{\"jsonrpc\":\"2.0\",\"method\":") + idBytes(method) + QByteArrayLiteral(",\"params\":")
        + compact(params) + QByteArrayLiteral("}\n");
}

QByteArray requestLine(const QJsonValue &id, const QString &method, const QJsonObject &params)
{
    return QByteArrayLiteral("{\"jsonrpc\":\"2.0\",\"id\":") + idBytes(id) + QByteArrayLiteral(",\"method\":")
        + idBytes(method) + QByteArrayLiteral(",\"params\":") + compact(params) + QByteArrayLiteral("}\n");
}

QString slugOf(int number)
{
    switch (number) {
    case kParseError:
        return QStringLiteral("parse-error");
    case kInvalidRequest:
        return QStringLiteral("invalid-request");
    case kMethodNotFound:
        return QStringLiteral("method-not-found");
    case kInvalidParams:
        return QStringLiteral("invalid-params");
    default:
        return QStringLiteral("failed");
    }
}

Error errorFromJson(const QJsonObject &object)
{
    Error error;
    error.message = object.value(QLatin1String("message")).toString();
    const QString slug = object.value(QLatin1String("data")).toObject().value(QLatin1String("code")).toString();
    const int number = object.value(QLatin1String("code")).toInt();
    constexpr Error::Code kAll[] = {Error::Code::InvalidParams, Error::Code::NotFound,       Error::Code::StalePlan,
                                    Error::Code::Unreachable,   Error::Code::DoesNotFit,     Error::Code::TooLarge,
                                    Error::Code::Store,         Error::Code::Timeout,        Error::Code::Cancelled,
                                    Error::Code::Refused,       Error::Code::MethodNotFound, Error::Code::Failed};
    for (const Error::Code code : kAll) {
        if (!slug.isEmpty() && errorSlug(Error{code, {}, {}}) == slug) {
            error.code = code;
            return error;
        }
    }
    error.code = Error::Code::Failed;
    for (const Error::Code code : kAll) {
        if (errorNumber(code) == number && number != errorNumber(Error::Code::Failed))
            error.code = code;
    }
    error.slug = slug; // one of its own: kept
    return error;
}

} // namespace kerf
