// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/engine.h"

#include "core/backend/heuristictokenizer.h"

#include <QJsonDocument>
#include <QUuid>

#include <algorithm>

namespace kerf {

namespace {

/// Content as given: a string, a list of parts, or null (PROTOCOL.md).
Result<void> readContent(const QJsonObject &params, Episode &draft)
{
    const QString field = QStringLiteral("content");
    if (!params.contains(field))
        return failure(Error::Code::InvalidParams,
                       QStringLiteral("content: is required (a string, a list of parts, or null)"));
    const QJsonValue value = params.value(field);
    if (value.isNull()) {
        draft.contentIsNull = true;
        return {};
    }
    if (value.isString()) {
        draft.content = value.toString();
        return {};
    }
    if (!value.isArray())
        return failure(Error::Code::InvalidParams,
                       QStringLiteral("content: must be a string, a list of parts, or null"));
    draft.contentParts = value.toArray();
    QStringList texts;
    for (qsizetype i = 0; i < draft.contentParts.size(); ++i) {
        const QJsonValue part = draft.contentParts.at(i);
        if (!part.isObject())
            return failure(Error::Code::InvalidParams, QStringLiteral("content[%1]: must be an object").arg(i));
        const QString text = part.toObject().value(QStringLiteral("text")).toString();
        if (!text.isEmpty())
            texts.append(text);
    }
    draft.content = texts.join(QLatin1Char('\n'));
    return {};
}

Result<QList<ToolCall>> readToolCalls(const QJsonObject &params)
{
    QList<ToolCall> calls;
    const QJsonValue value = params.value(QStringLiteral("tool_calls"));
    if (value.isUndefined() || value.isNull())
        return calls;
    if (!value.isArray())
        return failure(Error::Code::InvalidParams, QStringLiteral("tool_calls: must be a list"));
    const QJsonArray rows = value.toArray();
    for (qsizetype i = 0; i < rows.size(); ++i) {
        const QJsonObject row = rows.at(i).toObject();
        // The OpenAI shape is taken, too: what harnesses have at hand.
        const QJsonObject inner =
            row.contains(QStringLiteral("function")) ? row.value(QStringLiteral("function")).toObject() : row;
        ToolCall call;
        call.id = row.value(QStringLiteral("id")).toString();
        call.name = inner.value(QStringLiteral("name")).toString();
        const QJsonValue arguments = inner.value(QStringLiteral("arguments"));
        if (arguments.isString())
            call.arguments = arguments.toString();
        else if (arguments.isObject())
            call.arguments = QString::fromUtf8(QJsonDocument(arguments.toObject()).toJson(QJsonDocument::Compact));
        else if (!arguments.isUndefined() && !arguments.isNull())
            return failure(Error::Code::InvalidParams,
                           QStringLiteral("tool_calls[%1].arguments: must be a string").arg(i));
        if (call.name.isEmpty())
            return failure(Error::Code::InvalidParams, QStringLiteral("tool_calls[%1].name: is required").arg(i));
        calls.append(call);
    }
    return calls;
}

QString preview(const QString &text)
{
    QString line = text.left(120);
    line.replace(QLatin1Char('\n'), QLatin1Char(' '));
    return line;
}

QJsonArray toolCallsJson(const QList<ToolCall> &calls)
{
    QJsonArray array;
    for (const ToolCall &call : calls)
        array.append(QJsonObject{{QStringLiteral("id"), call.id},
                                 {QStringLiteral("name"), call.name},
                                 {QStringLiteral("arguments"), call.arguments}});
    return array;
}

} // namespace

Engine::Answer Engine::sessionCreate(QJsonObject params, CallContext)
{
    KERF_TRY(given, params::text(params, QStringLiteral("session_id"), false));
    KERF_TRY(title, params::text(params, QStringLiteral("title"), false));
    const QString id =
        given.isEmpty() ? QStringLiteral("s-") + QUuid::createUuid().toString(QUuid::WithoutBraces).left(13) : given;
    KERF_TRY(record, co_await m_store->createSession(id, title));
    KERF_TRY(session, co_await openSession(id, true));
    co_return QJsonObject{{QStringLiteral("session_id"), id},
                          {QStringLiteral("title"), record.title},
                          {QStringLiteral("revision"), session->record.revision}};
}

Engine::Answer Engine::sessionRename(QJsonObject params, CallContext)
{
    KERF_TRY(id, params::text(params, QStringLiteral("session_id"), true));
    KERF_TRY(title, params::text(params, QStringLiteral("title"), false));
    KERF_TRY(session, co_await openSession(id, false));
    KERF_TRY_VOID(co_await m_store->renameSession(id, title));
    session->record.title = title;
    co_return QJsonObject{{QStringLiteral("session_id"), id}, {QStringLiteral("title"), title}};
}

Engine::Answer Engine::sessionDelete(QJsonObject params, CallContext)
{
    KERF_TRY(id, params::text(params, QStringLiteral("session_id"), true));
    KERF_TRY(session, co_await openSession(id, false));
    KERF_TRY_VOID(co_await m_store->deleteSession(id));
    m_keptPrompts.forgetSession(id);
    m_sessions.remove(id);
    m_live.removeIf([&id](const auto &entry) { return entry.key().startsWith(id + QLatin1Char('\n')); });
    co_return QJsonObject{{QStringLiteral("session_id"), id}, {QStringLiteral("deleted"), true}};
}

Engine::Answer Engine::sessionList(QJsonObject, CallContext)
{
    KERF_TRY(records, co_await m_store->listSessions());
    QJsonArray rows;
    for (const SessionRecord &record : records) {
        QJsonValue live(QJsonValue::Null);
        for (auto it = m_live.cbegin(); it != m_live.cend(); ++it) {
            if (it.key().startsWith(record.id + QLatin1Char('\n')) && it->revision == record.revision)
                live = it->layout.size();
        }
        rows.append(QJsonObject{{QStringLiteral("session_id"), record.id},
                                {QStringLiteral("title"), record.title},
                                {QStringLiteral("episodes"), record.episodeCount},
                                {QStringLiteral("live_tokens"), live},
                                {QStringLiteral("revision"), record.revision},
                                {QStringLiteral("turn"), record.turn},
                                {QStringLiteral("updated_at"), params::iso(record.updatedAt)}});
    }
    co_return QJsonObject{{QStringLiteral("sessions"), rows}};
}

Engine::Answer Engine::sessionGet(QJsonObject params, CallContext context)
{
    KERF_TRY(id, params::session(params, context.defaultSessionId));
    KERF_TRY(session, co_await openSession(id, false));
    co_await m_backend->ready();
    KERF_TRY(policy, policyFor(session.get()));
    const Budget budget = budgetOf(*session, policy);
    auto live = co_await livePrompt(session);
    QJsonObject tiers;
    for (const Tier tier : {Tier::Live, Tier::Masked, Tier::Referenced, Tier::Archived, Tier::Dropped}) {
        const auto count = std::count_if(session->episodes.cbegin(), session->episodes.cend(),
                                         [tier](const Episode &e) { return e.tier == tier; });
        tiers.insert(tierName(tier), static_cast<qint64>(count));
    }
    auto last = co_await m_store->receipt(id, 0);
    QString pressure = pressureName(Pressure::Relaxed);
    if (live && budget.total > 0 && live->layout.size() > budget.triggerAt)
        pressure = pressureName(Pressure::Compacting);
    const auto known = [&](int value) { return budget.window > 0 ? QJsonValue(value) : QJsonValue(QJsonValue::Null); };
    co_return QJsonObject{
        {QStringLiteral("session_id"), id},
        {QStringLiteral("title"), session->record.title},
        {QStringLiteral("episodes"), static_cast<qint64>(session->episodes.size())},
        {QStringLiteral("live_tokens"), live ? QJsonValue(live->layout.size()) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("exact"), live ? live->exact : false},
        {QStringLiteral("context_window"), known(budget.window)},
        {QStringLiteral("budget"), known(budget.total)},
        {QStringLiteral("trigger_at"), known(budget.triggerAt)},
        {QStringLiteral("target"), known(budget.target)},
        {QStringLiteral("pressure"), live ? QJsonValue(pressure) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("revision"), session->record.revision},
        {QStringLiteral("turn"), session->record.turn},
        {QStringLiteral("tiers"), tiers},
        {QStringLiteral("anchors"), static_cast<qint64>(session->anchors.size())},
        {QStringLiteral("profile"), policy.name},
        {QStringLiteral("stats"), statsJson(*session)},
        {QStringLiteral("last_receipt"), last ? QJsonValue(*last) : QJsonValue(QJsonValue::Null)},
    };
}

Engine::Answer Engine::sessionConfigure(QJsonObject params, CallContext context)
{
    KERF_TRY(id, params::session(params, context.defaultSessionId));
    KERF_TRY(session, co_await openSession(id, true));
    SessionConfig config = session->record.config;
    if (const QJsonValue tools = params.value(QStringLiteral("tools")); !tools.isUndefined()) {
        if (!tools.isArray() && !tools.isNull())
            co_return failure(Error::Code::InvalidParams, QStringLiteral("tools: must be a list"));
        config.tools = tools.toArray();
    }
    if (const QJsonValue kwargs = params.value(QStringLiteral("chat_template_kwargs")); !kwargs.isUndefined()) {
        if (!kwargs.isObject() && !kwargs.isNull())
            co_return failure(Error::Code::InvalidParams, QStringLiteral("chat_template_kwargs: must be an object"));
        config.chatTemplateKwargs = kwargs.toObject();
    }
    if (const QJsonValue defaults = params.value(QStringLiteral("request_defaults"));
        !defaults.isUndefined() && !defaults.isNull()) {
        if (!defaults.isObject())
            co_return failure(Error::Code::InvalidParams, QStringLiteral("request_defaults: must be an object"));
        auto most = params::integer(defaults.toObject(), QStringLiteral("max_tokens"), 0, 0, 16 * 1024 * 1024);
        if (!most)
            co_return failure(Error::Code::InvalidParams,
                              QStringLiteral("request_defaults.%1").arg(most.error().message));
        config.maxTokens = *most;
    }
    if (!params.value(QStringLiteral("context_window")).isUndefined()) {
        KERF_TRY(window, params::integer(params, QStringLiteral("context_window"), 0, 0, 64 * 1024 * 1024));
        if (window > 0 && window < 256)
            co_return failure(Error::Code::InvalidParams,
                              QStringLiteral("context_window: must be at least 256 tokens (0 = the server's own)"));
        config.contextWindow = window;
    }
    if (!(config == session->record.config)) {
        KERF_TRY(revision, co_await m_store->saveConfig(id, config));
        session->record.config = config;
        session->record.revision = std::max(session->record.revision, revision);
    }
    // What it costs: the head of a prompt that has one short user message, up to that message.
    co_await m_backend->ready();
    QJsonValue fixed(QJsonValue::Null);
    bool exact = false;
    QList<Episode> episodes = session->episodes;
    const bool empty = std::none_of(episodes.cbegin(), episodes.cend(), [](const Episode &e) {
        return isInPrompt(e.tier) && e.role != Role::Internal && e.role != Role::System;
    });
    if (empty) {
        Episode probe;
        probe.role = Role::User;
        probe.content = QStringLiteral("?");
        probe.seq = episodes.isEmpty() ? 1 : episodes.constLast().seq + 1;
        episodes.append(probe);
    }
    auto live = co_await renderPrompt(episodes, session->anchors, session->prompt, config, session->record.revision);
    if (live) {
        int pins = 0;
        for (const Anchor &anchor : session->anchors)
            pins += anchor.inHead ? anchor.tokenCount : 0;
        fixed = std::max(0, live->headEnd - pins);
        exact = live->exact;
    } else if (live.error().code != Error::Code::Unreachable) {
        co_return std::unexpected(live.error());
    }
    co_return QJsonObject{{QStringLiteral("session_id"), id},
                          {QStringLiteral("fixed_tokens"), fixed},
                          {QStringLiteral("exact"), exact},
                          {QStringLiteral("revision"), session->record.revision}};
}

Engine::Answer Engine::commitEpisode(QJsonObject params, CallContext context)
{
    Episode draft;
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    draft.sessionId = sessionId;
    KERF_TRY(role, params::text(params, QStringLiteral("role"), true));
    const auto knownRole = roleFromName(role);
    if (!knownRole)
        co_return failure(Error::Code::InvalidParams,
                          QStringLiteral("role: must be system, user, assistant, tool or internal"));
    draft.role = *knownRole;
    KERF_TRY_VOID(readContent(params, draft));
    KERF_TRY(calls, readToolCalls(params));
    draft.toolCalls = calls;
    KERF_TRY(callId, params::text(params, QStringLiteral("tool_call_id"), false));
    KERF_TRY(toolName, params::text(params, QStringLiteral("tool_name"), false));
    KERF_TRY(name, params::text(params, QStringLiteral("name"), false));
    KERF_TRY(reasoning, params::text(params, QStringLiteral("reasoning"), false));
    KERF_TRY(clientRef, params::text(params, QStringLiteral("client_ref"), false));
    draft.toolCallId = callId;
    draft.toolName = toolName;
    draft.name = name;
    draft.reasoning = reasoning;
    draft.clientRef = clientRef;
    KERF_TRY(isError, params::flag(params, QStringLiteral("is_error"), false));
    KERF_TRY(droppable, params::flag(params, QStringLiteral("droppable"), false));
    draft.isError = isError;
    draft.droppable = droppable;
    if (const QJsonValue corrects = params.value(QStringLiteral("corrects"));
        !corrects.isUndefined() && !corrects.isNull()) {
        KERF_TRY(corrected, params::id(params, QStringLiteral("corrects")));
        draft.correctsId = corrected;
    }
    if (const QJsonValue generated = params.value(QStringLiteral("generated_tokens"));
        !generated.isUndefined() && !generated.isNull()) {
        if (!generated.isArray())
            co_return failure(Error::Code::InvalidParams,
                              QStringLiteral("generated_tokens: must be a list of token ids"));
        const QJsonArray ids = generated.toArray();
        for (qsizetype i = 0; i < ids.size(); ++i) {
            if (!ids.at(i).isDouble() || ids.at(i).toDouble() < 0 || ids.at(i).toDouble() > 2147483647.0)
                co_return failure(Error::Code::InvalidParams,
                                  QStringLiteral("generated_tokens[%1]: must be a token id").arg(i));
            draft.generatedTokens.append(ids.at(i).toInt());
        }
        draft.hasGeneratedTokens = true;
    }
    KERF_TRY(session, co_await openSession(sessionId, true));
    draft.foldId = openFoldOf(sessionId);
    if (const QJsonValue fold = params.value(QStringLiteral("fold_id")); !fold.isUndefined() && !fold.isNull()) {
        KERF_TRY(wanted, foldOf(params));
        if (!wanted.value(QStringLiteral("open")).toBool()
            || wanted.value(QStringLiteral("session_id")).toString() != sessionId)
            co_return failure(Error::Code::InvalidParams,
                              QStringLiteral("fold_id: no open fold of session \"%1\"").arg(sessionId));
        draft.foldId = wanted.value(QStringLiteral("fold_id")).toInteger();
    }
    draft.tokenCount = HeuristicTokenizer::count(draft.content.toUtf8());
    draft.tokenCountExact = false;
    if (draft.toolName.isEmpty() && draft.role == Role::Tool && !draft.toolCallId.isEmpty()) {
        for (auto it = session->episodes.crbegin(); it != session->episodes.crend() && draft.toolName.isEmpty(); ++it) {
            for (const ToolCall &call : it->toolCalls) {
                if (call.id == draft.toolCallId)
                    draft.toolName = call.name;
            }
        }
    }
    KERF_TRY(appended, co_await m_store->appendEpisode(draft));
    Episode episode = appended.episode;
    if (!appended.duplicate) {
        session->append(episode);
        session->record.revision = std::max(session->record.revision, appended.revision);
        session->record.episodeCount = session->episodes.size();
        if (episode.hasGeneratedTokens && !session->open.prompt.isEmpty() && episode.role == Role::Assistant)
            m_backend->noteGenerated(session->open.prompt, episode.generatedTokens);
        publish(QStringLiteral("episode"),
                {{QStringLiteral("session_id"), sessionId},
                 {QStringLiteral("episode_id"), episode.id},
                 {QStringLiteral("seq"), episode.seq},
                 {QStringLiteral("role"), roleName(episode.role)},
                 {QStringLiteral("token_count"), episode.tokenCount},
                 {QStringLiteral("exact"), episode.tokenCountExact},
                 {QStringLiteral("revision"), appended.revision}});
        queueCount(sessionId, episode.id);
    } else if (const Episode *mine = session->byId(episode.id)) {
        episode = *mine;
    }
    co_return QJsonObject{
        {QStringLiteral("episode_id"), episode.id},          {QStringLiteral("seq"), episode.seq},
        {QStringLiteral("token_count"), episode.tokenCount}, {QStringLiteral("exact"), episode.tokenCountExact},
        {QStringLiteral("revision"), appended.revision},     {QStringLiteral("session_id"), sessionId}};
}

Engine::Answer Engine::pin(QJsonObject params, CallContext context)
{
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    KERF_TRY(content, params::text(params, QStringLiteral("content"), false));
    KERF_TRY(kindName, params::text(params, QStringLiteral("kind"), false));
    const auto kind = anchorKindFromName(kindName.isEmpty() ? QStringLiteral("task_contract") : kindName);
    if (!kind)
        co_return failure(Error::Code::InvalidParams,
                          QStringLiteral("kind: must be safety_constraint, user_correction or task_contract"));
    const bool byEpisode = !params.value(QStringLiteral("episode_id")).isUndefined()
        && !params.value(QStringLiteral("episode_id")).isNull();
    if (byEpisode == !content.isEmpty())
        co_return failure(Error::Code::InvalidParams, QStringLiteral("content or episode_id: give one of them"));
    KERF_TRY(session, co_await openSession(sessionId, true));
    Anchor anchor;
    anchor.sessionId = sessionId;
    anchor.kind = *kind;
    if (byEpisode) {
        KERF_TRY(episodeId, params::id(params, QStringLiteral("episode_id")));
        const Episode *episode = session->byId(episodeId);
        if (!episode)
            co_return failure(Error::Code::NotFound,
                              QStringLiteral("there is no episode %1 in session \"%2\"").arg(episodeId).arg(sessionId));
        anchor.episodeId = episodeId;
        anchor.tokenCount = episode->tokenCount;
        anchor.tokenCountExact = episode->tokenCountExact;
        if (!isInPrompt(episode->tier)) {
            // An evicted episode cannot be pinned where it was: its text is pinned instead.
            KERF_TRY(stored, co_await m_store->episode(episodeId));
            anchor.content = stored.content;
            anchor.episodeId = 0;
        }
    } else {
        anchor.content = content;
        co_await m_backend->ready();
        auto counted = co_await m_backend->countTokens(content);
        anchor.tokenCount = counted ? *counted : HeuristicTokenizer::count(content.toUtf8());
        anchor.tokenCountExact = counted && m_backend->isExact();
    }
    KERF_TRY(saved, co_await m_store->addAnchor(anchor));
    anchor = saved.first;
    session->anchors.append(anchor);
    session->record.revision = std::max(session->record.revision, saved.second);
    // Before the first prompt it goes to the head; later into the newest message that was not sent yet (SPEC 7.6).
    if (placeNotes(session->episodes, session->anchors, session->prompt)) {
        KERF_TRY_VOID(co_await m_store->updateAnchors(session->anchors));
        KERF_TRY_VOID(co_await saveState(session));
    }
    co_return QJsonObject{{QStringLiteral("anchor_id"), anchor.id},
                          {QStringLiteral("kind"), anchorKindName(anchor.kind)},
                          {QStringLiteral("token_cost"), anchor.tokenCount},
                          {QStringLiteral("exact"), anchor.tokenCountExact},
                          {QStringLiteral("revision"), session->record.revision},
                          {QStringLiteral("session_id"), sessionId}};
}

Engine::Answer Engine::unpin(QJsonObject params, CallContext)
{
    KERF_TRY(anchorId, params::id(params, QStringLiteral("anchor_id")));
    KERF_TRY(removed, co_await m_store->removeAnchor(anchorId));
    const QString sessionId = removed.first.sessionId;
    if (const auto it = m_sessions.constFind(sessionId); it != m_sessions.cend()) {
        (*it)->anchors.removeIf([anchorId](const Anchor &anchor) { return anchor.id == anchorId; });
        (*it)->record.revision = std::max((*it)->record.revision, removed.second);
    }
    co_return QJsonObject{{QStringLiteral("anchor_id"), anchorId},
                          {QStringLiteral("session_id"), sessionId},
                          {QStringLiteral("revision"), removed.second}};
}

Engine::Answer Engine::recall(QJsonObject params, CallContext context)
{
    KERF_TRY(query, params::text(params, QStringLiteral("query"), true));
    KERF_TRY(k, params::integer(params, QStringLiteral("k"), 5, 1, 1000));
    KERF_TRY(folded, params::flag(params, QStringLiteral("include_folded"), false));
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    KERF_TRY(hits, co_await m_store->recall(query, k, sessionId, folded));
    QJsonArray results;
    for (const RecallHit &hit : hits) {
        results.append(QJsonObject{{QStringLiteral("id"), hit.id},
                                   {QStringLiteral("kind"), hit.kind},
                                   {QStringLiteral("score"), hit.score},
                                   {QStringLiteral("text"), hit.text},
                                   {QStringLiteral("token_cost"), hit.tokenCount},
                                   {QStringLiteral("exact"), hit.tokenCountExact},
                                   {QStringLiteral("tier"), tierName(hit.tier)},
                                   {QStringLiteral("seq"), hit.seq}});
    }
    co_return QJsonObject{{QStringLiteral("session_id"), sessionId}, {QStringLiteral("results"), results}};
}

Engine::Answer Engine::getEpisode(QJsonObject params, CallContext)
{
    KERF_TRY(id, params::id(params, QStringLiteral("episode_id")));
    KERF_TRY(stored, co_await m_store->episode(id));
    KERF_TRY(session, co_await openSession(stored.sessionId, false));
    QJsonValue begin(QJsonValue::Null);
    QJsonValue end(QJsonValue::Null);
    bool exact = stored.tokenCountExact;
    int count = stored.tokenCount;
    Tier tier = stored.tier;
    if (const Episode *mine = session->byId(id)) {
        exact = mine->tokenCountExact;
        count = mine->tokenCount;
        tier = mine->tier;
    }
    if (isInPrompt(tier)) {
        co_await m_backend->ready();
        if (auto live = co_await livePrompt(session)) {
            for (qsizetype i = 0; i < live->composed.parts.size(); ++i) {
                const int index = live->composed.parts.at(i).episodeIndex;
                if (index >= 0 && index < session->episodes.size() && session->episodes.at(index).id == id) {
                    begin = live->layout.messages.at(i).tokens.begin;
                    end = live->layout.messages.at(i).tokens.end;
                }
            }
        }
    }
    QJsonValue content(stored.content);
    if (stored.contentIsNull)
        content = QJsonValue::Null;
    else if (!stored.contentParts.isEmpty())
        content = stored.contentParts;
    co_return QJsonObject{
        {QStringLiteral("episode_id"), stored.id},
        {QStringLiteral("session_id"), stored.sessionId},
        {QStringLiteral("seq"), stored.seq},
        {QStringLiteral("role"), roleName(stored.role)},
        {QStringLiteral("content"), content},
        {QStringLiteral("tool_calls"),
         stored.toolCalls.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(toolCallsJson(stored.toolCalls))},
        {QStringLiteral("tool_name"), params::orNull(stored.toolName)},
        {QStringLiteral("tool_call_id"), params::orNull(stored.toolCallId)},
        {QStringLiteral("reasoning"), params::orNull(stored.reasoning)},
        {QStringLiteral("tier"), tierName(tier)},
        {QStringLiteral("token_count"), count},
        {QStringLiteral("exact"), exact},
        {QStringLiteral("begin"), begin},
        {QStringLiteral("end"), end},
        {QStringLiteral("pinned"), session->isPinned(id)},
        {QStringLiteral("fold_id"), stored.foldId == 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(stored.foldId)},
        {QStringLiteral("created_at"), params::iso(stored.createdAt)},
    };
}

Engine::Answer Engine::sessionEpisodes(QJsonObject params, CallContext context)
{
    KERF_TRY(id, params::session(params, context.defaultSessionId));
    KERF_TRY(from, params::integer(params, QStringLiteral("from_seq"), 1, 1, 2147483647));
    KERF_TRY(limit, params::integer(params, QStringLiteral("limit"), 1000, 1, 20000));
    KERF_TRY(session, co_await openSession(id, false));
    co_await m_backend->ready();
    auto live = co_await livePrompt(session);
    KERF_TRY(policy, policyFor(session.get()));
    const Budget budget = budgetOf(*session, policy);
    QHash<int, TokenRange> ranges;
    int recentPosition = 2147483647;
    if (live) {
        for (qsizetype i = 0; i < live->composed.parts.size(); ++i) {
            if (live->composed.parts.at(i).episodeIndex >= 0)
                ranges.insert(live->composed.parts.at(i).episodeIndex, live->layout.messages.at(i).tokens);
        }
        if (!live->layout.messages.isEmpty()) {
            const int end = live->layout.messages.constLast().tokens.end;
            for (auto it = live->layout.messages.crbegin(); it != live->layout.messages.crend(); ++it) {
                recentPosition = it->tokens.begin;
                if (end - it->tokens.begin >= budget.keepRecent)
                    break;
            }
        }
    }
    QJsonArray rows;
    QJsonValue next(QJsonValue::Null);
    QList<qint64> unloaded;
    for (int i = from - 1; i < session->episodes.size(); ++i) {
        if (rows.size() >= limit) {
            next = session->episodes.at(i).seq;
            break;
        }
        const Episode &episode = session->episodes.at(i);
        const auto range = ranges.constFind(i);
        const bool inPrompt = range != ranges.cend();
        rows.append(QJsonObject{
            {QStringLiteral("episode_id"), episode.id},
            {QStringLiteral("seq"), episode.seq},
            {QStringLiteral("role"), roleName(episode.role)},
            {QStringLiteral("tier"), tierName(episode.tier)},
            {QStringLiteral("token_count"), episode.tokenCount},
            {QStringLiteral("exact"), episode.tokenCountExact},
            {QStringLiteral("begin"), inPrompt ? QJsonValue(range->begin) : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("end"), inPrompt ? QJsonValue(range->end) : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("pinned"), session->isPinned(episode.id)},
            {QStringLiteral("recent"), inPrompt && range->begin >= recentPosition},
            {QStringLiteral("sent"), episode.seq <= session->prompt.sentSeq},
            {QStringLiteral("tool_name"), params::orNull(episode.toolName)},
            {QStringLiteral("preview"),
             episode.contentLoaded ? QJsonValue(preview(episode.content)) : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("created_at"), params::iso(episode.createdAt)},
        });
    }
    co_return QJsonObject{
        {QStringLiteral("session_id"), id},
        {QStringLiteral("episodes"), rows},
        {QStringLiteral("next_seq"), next},
        {QStringLiteral("total"), static_cast<qint64>(session->episodes.size())},
        {QStringLiteral("prompt_tokens"), live ? QJsonValue(live->layout.size()) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("fixed_tokens"), live ? QJsonValue(live->headEnd) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("n_ctx"), budget.window > 0 ? QJsonValue(budget.window) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("exact"), live ? live->exact : false},
        {QStringLiteral("revision"), session->record.revision}};
}

} // namespace kerf
