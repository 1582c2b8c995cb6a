// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ipc/mcp.h"

#include "core/ipc/toolindex.h"

#include <QJsonArray>
#include <QJsonDocument>

namespace kerf::mcp {

namespace {

const QString kMeta = QStringLiteral("_meta");
const QString kVersionKey = QStringLiteral("io.modelcontextprotocol/protocolVersion");
const QString kCapabilitiesKey = QStringLiteral("io.modelcontextprotocol/clientCapabilities");
const QString kServerInfoKey = QStringLiteral("io.modelcontextprotocol/serverInfo");
constexpr int kListTtlMs = 300000;

QJsonObject serverInfo()
{
    return {{QStringLiteral("name"), QStringLiteral("kerf")},
            {QStringLiteral("title"), QStringLiteral("Kerf")},
            {QStringLiteral("version"), QStringLiteral(KERF_VERSION)}};
}

QJsonObject capabilities()
{
    // The list is constant: no listChanged, in either era.
    return {{QStringLiteral("tools"), QJsonObject()}};
}

QString instructions()
{
    return QStringLiteral(
        "Kerf keeps this conversation and decides where it may be cut so that the inference server's KV cache still "
        "matches. Give the same session_id in every call.");
}

/// "thread_id" or "session_id" of codex's metadata, which comes as an object or as its JSON text.
QString conversationOf(const QJsonObject &meta)
{
    QJsonValue turn = meta.value(QLatin1String("x-codex-turn-metadata"));
    if (turn.isString())
        turn = QJsonDocument::fromJson(turn.toString().toUtf8()).object();
    const QJsonObject object = turn.toObject();
    for (const QLatin1String key : {QLatin1String("thread_id"), QLatin1String("session_id")}) {
        const QString id = object.value(key).toString();
        if (!id.isEmpty() && id.size() <= 512)
            return id;
    }
    return {};
}

QByteArray methodNotFound(const RpcMessage &request)
{
    return errorLine(request.id, kMethodNotFound, QStringLiteral("unknown method \"%1\"").arg(request.method),
                     slugOf(kMethodNotFound));
}

QByteArray invalidParams(const RpcMessage &request, const QString &what)
{
    return errorLine(request.id, kInvalidParams, what, slugOf(kInvalidParams));
}

} // namespace

Meta readMeta(const QJsonObject &params)
{
    Meta meta;
    const QJsonValue value = params.value(kMeta);
    if (!value.isObject())
        return meta;
    const QJsonObject object = value.toObject();
    meta.modern = object.contains(kVersionKey);
    const QJsonValue token = object.value(QLatin1String("progressToken"));
    if (token.isString() || token.isDouble())
        meta.progressToken = token;
    meta.conversation = conversationOf(object);
    return meta;
}

std::optional<QByteArray> metaError(const RpcMessage &request)
{
    const QJsonObject meta = request.params.value(kMeta).toObject();
    const QJsonValue version = meta.value(kVersionKey);
    if (version.isUndefined())
        return std::nullopt;
    if (!version.isString())
        return invalidParams(request, QStringLiteral("_meta.%1: must be a string").arg(kVersionKey));
    if (version.toString() != QLatin1String(kModern)) {
        return errorLine(request.id, kUnsupportedVersion,
                         QStringLiteral("protocol version \"%1\" is not served this way").arg(version.toString()),
                         QStringLiteral("unsupported-version"),
                         {{QStringLiteral("supported"), QJsonArray{QString::fromLatin1(kModern)}},
                          {QStringLiteral("requested"), version}});
    }
    if (!meta.value(kCapabilitiesKey).isObject())
        return invalidParams(request, QStringLiteral("_meta.%1: is required (an object)").arg(kCapabilitiesKey));
    return std::nullopt;
}

QJsonObject dressed(QJsonObject result, bool modern)
{
    if (!modern)
        return result;
    result.insert(QStringLiteral("resultType"), QStringLiteral("complete"));
    QJsonObject meta = result.value(kMeta).toObject();
    meta.insert(kServerInfoKey, serverInfo());
    result.insert(kMeta, meta);
    return result;
}

QJsonObject initializeResult(const QString &asked)
{
    static const QStringList known{QStringLiteral("2024-11-05"), QString::fromLatin1(kBatchRevision),
                                   QStringLiteral("2025-06-18"), QString::fromLatin1(kLatestLegacy)};
    return {{QStringLiteral("protocolVersion"), known.contains(asked) ? asked : QString::fromLatin1(kLatestLegacy)},
            {QStringLiteral("capabilities"), capabilities()},
            {QStringLiteral("serverInfo"), serverInfo()},
            {QStringLiteral("instructions"), instructions()}};
}

QJsonObject discoverResult()
{
    return dressed({{QStringLiteral("supportedVersions"), QJsonArray{QString::fromLatin1(kModern)}},
                    {QStringLiteral("capabilities"), capabilities()},
                    {QStringLiteral("instructions"), instructions()},
                    {QStringLiteral("ttlMs"), kListTtlMs},
                    {QStringLiteral("cacheScope"), QStringLiteral("public")}},
                   true);
}

QJsonObject toolsListResult(bool coreOnly, bool modern)
{
    QJsonObject result{{QStringLiteral("tools"), listedTools(coreOnly)}};
    if (modern) {
        result.insert(QStringLiteral("ttlMs"), kListTtlMs);
        result.insert(QStringLiteral("cacheScope"), QStringLiteral("public"));
    }
    return dressed(result, modern);
}

QJsonObject callResult(const QString &text, const QJsonObject &structured, bool modern)
{
    return dressed(
        {{QStringLiteral("content"),
          QJsonArray{QJsonObject{{QStringLiteral("type"), QStringLiteral("text")}, {QStringLiteral("text"), text}}}},
         {QStringLiteral("structuredContent"), structured},
         {QStringLiteral("isError"), false}},
        modern);
}

QJsonObject callFailure(const Error &error, bool modern)
{
    const QString slug = errorSlug(error);
    const QString text = error.message.isEmpty() ? slug : slug + QStringLiteral(": ") + error.message;
    return dressed(
        {{QStringLiteral("content"),
          QJsonArray{QJsonObject{{QStringLiteral("type"), QStringLiteral("text")}, {QStringLiteral("text"), text}}}},
         {QStringLiteral("isError"), true},
         {kMeta,
          QJsonObject{
              {QStringLiteral("kerf/error"),
               QJsonObject{{QStringLiteral("code"), errorNumber(error.code)}, {QStringLiteral("slug"), slug}}}}}},
        modern);
}

std::optional<QByteArray> answerConstant(const RpcMessage &request, bool coreOnly, QString *negotiated)
{
    if (auto wrong = metaError(request))
        return wrong;
    const QString &method = request.method;
    const bool modern = readMeta(request.params).modern;
    if (method == QLatin1String("initialize")) {
        if (modern)
            return methodNotFound(request); // it was removed with the sessions
        const QJsonValue version = request.params.value(QLatin1String("protocolVersion"));
        if (!version.isString())
            return invalidParams(request, QStringLiteral("protocolVersion: is required (a string)"));
        const QJsonObject result = initializeResult(version.toString());
        if (negotiated)
            *negotiated = result.value(QLatin1String("protocolVersion")).toString();
        return resultLine(request.id, result);
    }
    if (method == QLatin1String("ping"))
        return modern ? methodNotFound(request) : resultLine(request.id, {});
    if (method == QLatin1String("tools/list")) {
        if (request.params.contains(QLatin1String("cursor")) && !request.params.value(QLatin1String("cursor")).isNull())
            return invalidParams(request, QStringLiteral("cursor: the list has one page, and no cursor was given out"));
        return resultLine(request.id, toolsListResult(coreOnly, modern));
    }
    if (method == QLatin1String("server/discover")) {
        if (!modern)
            return invalidParams(request, QStringLiteral("_meta.%1: is required").arg(kVersionKey));
        return resultLine(request.id, discoverResult());
    }
    if (method == QLatin1String("tools/call")) {
        const QJsonValue name = request.params.value(QLatin1String("name"));
        if (!name.isString())
            return invalidParams(request, QStringLiteral("name: is required (a string)"));
        const QJsonValue arguments = request.params.value(QLatin1String("arguments"));
        if (!arguments.isObject() && !arguments.isUndefined() && !arguments.isNull())
            return invalidParams(request, QStringLiteral("arguments: must be an object"));
        if (!findTool(name.toString()))
            return invalidParams(request, QStringLiteral("name: unknown tool \"%1\"").arg(name.toString()));
        return std::nullopt;
    }
    if (method == QLatin1String("subscriptions/listen")) {
        if (!modern)
            return invalidParams(request, QStringLiteral("_meta.%1: is required").arg(kVersionKey));
        return std::nullopt;
    }
    if (method.contains(QLatin1Char('/')))
        return methodNotFound(request); // resources, prompts, completion, logging, tasks: not declared
    return std::nullopt;
}

} // namespace kerf::mcp
