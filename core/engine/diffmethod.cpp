// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// context.diff: where two prompts part, and why.

#include "core/engine/engine.h"

namespace kerf {

namespace {

QList<QByteArray> piecesOf(const TokenList &tokens, const Backend &backend)
{
    QList<QByteArray> pieces;
    pieces.reserve(tokens.size());
    for (const TokenId id : tokens) {
        const QByteArray bytes = backend.pieceBytes(id);
        if (bytes.isNull())
            return {}; // half a text would mislead
        pieces.append(bytes);
    }
    return pieces;
}

/// Of a prompt that is known by its ids and parts: each part is a message whose text is what it was rendered to.
DiffSide sideOf(const KeptPrompt &prompt, const Backend &backend)
{
    DiffSide side;
    side.layout.tokens = prompt.tokens;
    side.layout.exact = prompt.exact;
    side.pieces = piecesOf(prompt.tokens, backend);
    for (const QJsonValue &value : prompt.parts) {
        const QJsonObject part = value.toObject();
        const QString name = part.value(QStringLiteral("part")).toString();
        const TokenRange range{part.value(QStringLiteral("begin")).toInt(), part.value(QStringLiteral("end")).toInt()};
        if (name == QLatin1String("generation")) {
            side.layout.tail = range;
            continue;
        }
        QByteArray text;
        for (int i = range.begin; i < range.end && i < side.pieces.size(); ++i)
            text += side.pieces.at(i);
        QString role = part.value(QStringLiteral("role")).toString();
        if (role.isEmpty())
            role = name == QLatin1String("system") || name == QLatin1String("tools") ? QStringLiteral("system")
                                                                                     : QStringLiteral("user");
        MessageSpan span;
        span.tokens = range;
        side.layout.messages.append(span);
        side.messages.append(
            QJsonObject{{QStringLiteral("role"), role}, {QStringLiteral("content"), QString::fromUtf8(text)}});
    }
    return side;
}

/// The part of a prompt that owns a position; an empty object = none is known there.
QJsonObject partAt(const QJsonArray &parts, int position)
{
    for (const QJsonValue &value : parts) {
        const QJsonObject part = value.toObject();
        if (position >= part.value(QStringLiteral("begin")).toInt()
            && position < part.value(QStringLiteral("end")).toInt())
            return part;
    }
    return {};
}

QString labelOf(const QJsonValue &which) { return which.isString() ? which.toString() : QStringLiteral("request"); }

} // namespace

QCoro::Task<Result<Engine::DiffPrompt>> Engine::diffPrompt(SessionPtr session, QJsonValue which, QString field)
{
    DiffPrompt prompt;
    if (which.isString()) {
        if (!session)
            co_return failure(Error::Code::InvalidParams,
                              QStringLiteral("session_id: is required for %1 \"%2\"").arg(field, which.toString()));
        const QString name = which.toString();
        KERF_TRY(kept, co_await promptOf(session, name, field));
        prompt.side = sideOf(kept, *m_backend);
        prompt.parts = kept.parts;
        co_return prompt;
    }
    const QJsonObject object = which.toObject();
    if (!object.value(QStringLiteral("messages")).isArray())
        co_return failure(
            Error::Code::InvalidParams,
            QStringLiteral("%1: must be held, next, sent, compaction:N or a request with messages").arg(field));
    ChatRequest request;
    request.messages = object.value(QStringLiteral("messages")).toArray();
    request.tools = object.value(QStringLiteral("tools")).toArray();
    request.chatTemplateKwargs = object.value(QStringLiteral("chat_template_kwargs")).toObject();
    prompt.side.messages = request.messages;
    prompt.side.tools = request.tools;
    prompt.side.templateOptions = request.chatTemplateKwargs;
    KERF_TRY(rendered, co_await m_backend->render(std::move(request)));
    prompt.side.layout = rendered.layout;
    prompt.side.pieces = piecesOf(rendered.layout.tokens, *m_backend);
    co_return prompt;
}

Engine::Answer Engine::diff(QJsonObject params, CallContext context)
{
    const QJsonValue a = params.value(QStringLiteral("a"));
    const QJsonValue b = params.value(QStringLiteral("b"));
    for (const auto &[field, value] : {std::pair{QStringLiteral("a"), a}, std::pair{QStringLiteral("b"), b}}) {
        if (!value.isString() && !value.isObject())
            co_return failure(
                Error::Code::InvalidParams,
                QStringLiteral("%1: is required: held, next, sent, compaction:N or a request").arg(field));
    }
    SessionPtr session;
    if (a.isString() || b.isString()) {
        KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
        KERF_TRY(opened, co_await openSession(sessionId, false));
        session = opened;
    }
    co_await m_backend->ready();
    const QString nameA = QStringLiteral("a");
    const QString nameB = QStringLiteral("b");
    KERF_TRY(left, co_await diffPrompt(session, a, nameA));
    KERF_TRY(right, co_await diffPrompt(session, b, nameB));
    const PromptDiff found = diffPrompts(left.side, right.side);
    QJsonValue first(QJsonValue::Null);
    if (found.cause != DiffCause::Same) {
        QJsonObject at = partAt(right.parts, found.lcp);
        if (at.isEmpty())
            at = partAt(left.parts, found.lcp);
        QString part = found.part;
        if (!at.isEmpty())
            part = at.value(QStringLiteral("part")).toString();
        else if (part.isEmpty())
            part = QStringLiteral("end");
        first = QJsonObject{
            {QStringLiteral("position"), found.lcp},
            {QStringLiteral("part"), part},
            {QStringLiteral("seq"), at.isEmpty() ? QJsonValue(QJsonValue::Null) : at.value(QStringLiteral("seq"))},
            {QStringLiteral("message"),
             found.message < 0 || !a.isObject() || !b.isObject() ? QJsonValue(QJsonValue::Null)
                                                                 : QJsonValue(found.message)},
            {QStringLiteral("role"), params::orNull(found.role)},
            {QStringLiteral("reason"), found.reason},
            {QStringLiteral("cause"), diffCauseName(found.cause)},
            {QStringLiteral("evidence"), params::orNull(found.evidence)},
            {QStringLiteral("fix"), params::orNull(found.fix)},
            {QStringLiteral("context_a"), params::orNull(found.contextA)},
            {QStringLiteral("context_b"), params::orNull(found.contextB)}};
    }
    const BackendInfo info = m_backend->info();
    co_return QJsonObject{
        {QStringLiteral("session_id"), session ? QJsonValue(session->record.id) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("a"), labelOf(a)},
        {QStringLiteral("b"), labelOf(b)},
        {QStringLiteral("a_total"), found.totalA},
        {QStringLiteral("b_total"), found.totalB},
        {QStringLiteral("lcp"), found.lcp},
        {QStringLiteral("exact"), left.side.layout.exact && right.side.layout.exact},
        {QStringLiteral("simulated"), info.simulated},
        {QStringLiteral("first_difference"), first}};
}

} // namespace kerf
