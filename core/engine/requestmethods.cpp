// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// Handing out the prompt, and settling what was predicted for it with what the server measured.

#include "core/engine/engine.h"

#include "core/engine/keptprompts.h"
#include "core/engine/text.h"
#include "core/engine/usage.h"

#include <algorithm>
#include <cmath>

namespace kerf {

namespace {

/// What each rung took: {tier: {episodes, tokens_before, tokens_after}}.
QJsonObject rungsOf(const QJsonArray &updates)
{
    QJsonObject rungs;
    for (const QJsonValue &value : updates) {
        const QJsonObject update = value.toObject();
        const QString tier = update.value(QStringLiteral("to_tier")).toString();
        QJsonObject rung = rungs.value(tier).toObject();
        rung.insert(QStringLiteral("episodes"), rung.value(QStringLiteral("episodes")).toInt() + 1);
        for (const char *field : {"tokens_before", "tokens_after"})
            rung.insert(QLatin1String(field),
                        rung.value(QLatin1String(field)).toInt() + update.value(QLatin1String(field)).toInt());
        rungs.insert(tier, rung);
    }
    return rungs;
}

constexpr int kTolerance = 8; ///< tokens: a prediction that is this close is confirmed (SPEC section 9)

} // namespace

/// Tokens that no earlier prompt of the session held, less what the server generated itself: the denominator of
/// prefill amplification. 1.0 then means that nothing was prefilled twice.
int Engine::newTokensOf(const Session &session, const LivePrompt &live) const
{
    const int sent = session.prompt.sentSeq;
    if (session.lastPromptTokens == 0)
        return live.layout.size();
    int tokens = live.layout.tail.size() - session.lastTailTokens;
    bool replySeen = false;
    for (qsizetype i = 0; i < live.composed.parts.size(); ++i) {
        const int index = live.composed.parts.at(i).episodeIndex;
        if (index < 0 || session.episodes.at(index).seq <= sent)
            continue;
        const int size = live.layout.messages.at(i).tokens.size();
        tokens += size;
        if (!replySeen && session.episodes.at(index).role == Role::Assistant) {
            replySeen = true;
            // Its ids were generated on the server: they are in its cache, not prefilled.
            if (session.episodes.at(index).hasGeneratedTokens)
                tokens -= std::min(size, static_cast<int>(session.episodes.at(index).generatedTokens.size()));
            else
                tokens -= std::min(size, std::max(0, session.lastGenerated));
        }
    }
    return std::max(0, tokens);
}

/// How many tokens behind the last prompt are the reply as it was re-tokenised: the high end of the range.
int Engine::replyEqualTokens(const Session &session, const LivePrompt &live) const
{
    if (session.lastPromptTokens == 0 || session.open.prompt.isEmpty())
        return -1;
    for (qsizetype i = 0; i < live.composed.parts.size(); ++i) {
        const int index = live.composed.parts.at(i).episodeIndex;
        if (index >= 0 && session.episodes.at(index).seq > session.prompt.sentSeq
            && session.episodes.at(index).role == Role::Assistant)
            return std::max(0, live.layout.messages.at(i).tokens.end - session.lastPromptTokens);
    }
    return -1;
}

/// `predicted` is the low end until this session's last replies have shown that the high one holds (SPEC section 4).
void Engine::applyReplyMode(const Session &session, ReusePrediction &prediction) const
{
    if (prediction.claimable && session.replyHighHolds && prediction.high > prediction.low)
        prediction.predicted = prediction.high;
}

QJsonObject Engine::breakdownJson(const Session &session, const LivePrompt &live) const
{
    int system = 0;
    int pinned = 0;
    int recent = 0;
    int stubs = 0;
    int folds = 0;
    int other = live.layout.tail.size();
    int tools = 0;
    int headPins = 0;
    for (const Anchor &anchor : session.anchors) {
        if (anchor.episodeId == 0 && anchor.inHead)
            headPins += anchor.tokenCount;
    }
    int covered = live.layout.tail.size();
    for (qsizetype i = 0; i < live.composed.parts.size(); ++i) {
        const PromptPart &part = live.composed.parts.at(i);
        const int size = live.layout.messages.at(i).tokens.size();
        covered += size;
        if (part.kind == PromptPart::Kind::HeadPins) {
            pinned += size;
            continue;
        }
        const Episode &episode = session.episodes.at(part.episodeIndex);
        if (part.kind == PromptPart::Kind::System || episode.role == Role::System)
            system += size;
        else if (session.isPinned(episode.id))
            pinned += size;
        else if (episode.foldId == 0 && episode.clientRef.startsWith(QLatin1String("kerf-fold-")))
            folds += size;
        else if (episode.tier == Tier::Masked)
            stubs += size;
        else
            recent += size;
    }
    // Head pins stand inside the system message; tools are what the template puts in front of it or into it.
    const bool ownMessage = std::any_of(live.composed.parts.cbegin(), live.composed.parts.cend(),
                                        [](const PromptPart &part) { return part.kind == PromptPart::Kind::HeadPins; });
    if (!ownMessage) {
        const int inside = std::min(headPins, system);
        system -= inside;
        pinned += inside;
    }
    if (!session.record.config.tools.isEmpty() && system > 0) {
        int content = 0;
        for (const PromptPart &part : live.composed.parts) {
            if (part.kind == PromptPart::Kind::System)
                content += session.episodes.at(part.episodeIndex).tokenCount;
        }
        tools = std::max(0, system - content);
        system -= tools;
    }
    other += live.layout.size() - covered;
    return {{QStringLiteral("system_prompt"), system}, {QStringLiteral("pinned_anchors"), pinned},
            {QStringLiteral("retrieved_memory"), 0},   {QStringLiteral("raw_recent_history"), recent},
            {QStringLiteral("stubs"), stubs},          {QStringLiteral("tool_schemas"), tools},
            {QStringLiteral("fold_summaries"), folds}, {QStringLiteral("other"), other}};
}

QJsonObject Engine::statsJson(const Session &session) const
{
    QJsonObject byStatus;
    int settled = 0;
    int resolved = 0;
    int counted = 0;
    int claimed = 0;
    for (const CompactionInfo &info : session.compactions) {
        byStatus.insert(info.cacheStatus, byStatus.value(info.cacheStatus).toInt() + 1);
        if (info.simulated)
            continue; // never counted in a share
        ++counted;
        claimed += info.pairsWithCache ? 1 : 0;
        if (info.outcome == QLatin1String("none") || info.outcome == QLatin1String("waiting") || info.measuredReuse < 0)
            continue;
        ++settled;
        resolved += info.measuredReuse >= 16 ? 1 : 0;
    }
    const SessionTotals &totals = session.totals;
    const auto share = [](int part, int whole) {
        return whole > 0 ? QJsonValue(double(part) / whole) : QJsonValue(QJsonValue::Null);
    };
    const auto ratio = [&](qint64 tokens) {
        return totals.newTokens > 0 ? QJsonValue(double(tokens) / double(totals.newTokens))
                                    : QJsonValue(QJsonValue::Null);
    };
    return {
        {QStringLiteral("compactions"), static_cast<qint64>(session.compactions.size())},
        {QStringLiteral("by_status"), byStatus},
        {QStringLiteral("measured_reuse_share"), share(resolved, settled)},
        {QStringLiteral("claimed_reuse_share"), share(claimed, counted)},
        {QStringLiteral("measured_compactions"), settled},
        {QStringLiteral("resolved_by_reuse"), resolved},
        {QStringLiteral("claimed_by_reuse"), claimed},
        {QStringLiteral("counted_compactions"), counted},
        {QStringLiteral("requests"), totals.requests},
        {QStringLiteral("requests_altered"), totals.altered},
        {QStringLiteral("predictions_met"), totals.predictionsMet},
        {QStringLiteral("prefill_tokens"), totals.prefillTokens},
        {QStringLiteral("prefill_ms"),
         totals.requestsWithMs > 0 ? QJsonValue(totals.prefillMs) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("reused_tokens"), totals.reusedTokens},
        {QStringLiteral("new_tokens"), totals.newTokens},
        {QStringLiteral("prefill_amplification"), ratio(totals.prefillTokens)},
        {QStringLiteral("predicted_prefill_amplification"), ratio(totals.predictedPrefillTokens)},
    };
}

Engine::Answer Engine::assemble(QJsonObject params, CallContext context)
{
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    KERF_TRY(slotId, params::slot(params));
    KERF_TRY(session, co_await openSession(sessionId, false));
    co_await m_backend->ready();
    ServerStates states;
    if (auto read = co_await m_backend->states())
        states = *read;
    LivePrompt live;
    for (int attempt = 0;; ++attempt) {
        KERF_TRY(rendered, co_await livePrompt(session));
        live = rendered;
        if (live.revision == session->record.revision)
            break;
        if (attempt >= 8)
            co_return failure(
                Error::Code::Failed,
                QStringLiteral("session \"%1\" keeps changing while it is assembled; try again").arg(sessionId));
    }
    if (live.composed.messages.isEmpty())
        co_return failure(Error::Code::Failed, QStringLiteral("session \"%1\" has no episodes to send").arg(sessionId),
                          QStringLiteral("empty-session"));
    const int window = windowFor(*session);
    if (window > 0 && live.layout.size() >= window) {
        co_return failure(Error::Code::DoesNotFit,
                          QStringLiteral("the prompt of session \"%1\" needs %2 tokens, the window is %3: plan and "
                                         "apply an eviction, or unpin something")
                              .arg(sessionId)
                              .arg(live.layout.size())
                              .arg(window));
    }
    const BackendInfo info = m_backend->info();
    ReusePrediction prediction =
        predictReuse(states.states, {live.layout.tokens, slotId}, info.rule, replyEqualTokens(*session, live));
    applyReplyMode(*session, prediction);
    const int claimed = prediction.claimable ? prediction.predicted : prediction.low;

    OpenPrediction open;
    open.open = true;
    open.prompt = live.layout.tokens;
    open.promptTokens = live.layout.size();
    open.revision = live.revision;
    open.slotId = slotId;
    open.predicted = claimed;
    open.low = prediction.low;
    open.high = prediction.high;
    open.claimable = prediction.claimable;
    open.predictedMs = info.cost.known() ? info.cost.ms(claimed, live.layout.size()) : -1;
    open.exact = live.exact;
    open.simulated = info.simulated;
    open.reason = prediction.reason;
    open.storedAt = QDateTime::currentDateTimeUtc();
    open.breakdown = breakdownJson(*session, live);
    // The same prompt handed out twice is one request: what is new in it is counted once.
    const bool again = session->open.open && session->open.prompt == open.prompt;
    open.newTokens = again ? session->open.newTokens : newTokensOf(*session, live);
    const int retained = session->open.prompt.isEmpty() ? 0 : commonPrefix(session->open.prompt, open.prompt);
    open.retainedPromptTokens = again ? session->open.retainedPromptTokens : retained;

    // What is placed in a message now stays there: it is about to be sent.
    placeNotes(session->episodes, session->anchors, session->prompt);
    for (const Episode &episode : std::as_const(session->episodes))
        session->prompt.sentSeq = std::max(session->prompt.sentSeq, episode.seq);
    session->open = open;
    m_keptPrompts.noteSent(
        sessionId, {open.prompt, promptParts(session->episodes, live), live.revision, live.exact, info.simulated});
    if (!session->anchors.isEmpty())
        KERF_TRY_VOID(co_await m_store->updateAnchors(session->anchors));
    KERF_TRY_VOID(co_await saveState(session));
    m_backend->notePrompt(sessionId, open.prompt, slotId);

    co_return QJsonObject{
        {QStringLiteral("session_id"), sessionId},
        {QStringLiteral("messages"), live.composed.messages},
        {QStringLiteral("tools"), session->record.config.tools},
        {QStringLiteral("chat_template_kwargs"), session->record.config.chatTemplateKwargs},
        {QStringLiteral("prompt_tokens"), open.promptTokens},
        {QStringLiteral("exact"), live.exact},
        {QStringLiteral("revision"), live.revision},
        {QStringLiteral("predicted_reuse"), open.predicted},
        {QStringLiteral("predicted_reuse_low"), open.low},
        {QStringLiteral("predicted_reuse_high"), open.high},
        {QStringLiteral("predicted_prefill"), open.promptTokens - open.predicted},
        {QStringLiteral("predicted_ms"), params::orNull(open.predictedMs)},
        {QStringLiteral("retained_prompt_tokens"), open.retainedPromptTokens},
        {QStringLiteral("new_tokens"), open.newTokens},
        {QStringLiteral("claimable"), open.claimable},
        {QStringLiteral("reason"), open.reason},
        {QStringLiteral("simulated"), info.simulated},
    };
}

Engine::Answer Engine::recordTimings(QJsonObject params, CallContext context)
{
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    KERF_TRY(slotId, params::slot(params));
    constexpr int kMost = 64 * 1024 * 1024;
    for (const char *field : {"cache_n", "prompt_n"}) {
        const QString name = QString::fromLatin1(field);
        if (!params.value(name).isDouble())
            co_return failure(Error::Code::InvalidParams,
                              QStringLiteral("%1: is required (the response's timings)").arg(name));
    }
    KERF_TRY(cacheTokens, params::integer(params, QStringLiteral("cache_n"), 0, 0, kMost));
    KERF_TRY(prefilled, params::integer(params, QStringLiteral("prompt_n"), 0, 0, kMost));
    KERF_TRY(promptMs, params::number(params, QStringLiteral("prompt_ms"), -1));
    KERF_TRY(generated, params::integer(params, QStringLiteral("predicted_n"), -1, 0, kMost));
    KERF_TRY(predictedMs, params::number(params, QStringLiteral("predicted_ms"), -1));
    KERF_TRY(revision, params::number(params, QStringLiteral("revision"), -1));
    KERF_TRY(session, co_await openSession(sessionId, false));

    const OpenPrediction open = session->open;
    const int total = cacheTokens + prefilled;
    QString settlement = QStringLiteral("none");
    QString cause;
    const bool sameRevision = revision < 0 || static_cast<qint64>(revision) == open.revision;
    const bool hadPrediction = open.open && sameRevision;
    // An estimated count may be off by some; an exact one may not.
    const bool same = hadPrediction && (open.exact || session->countsDiffer ? total == open.promptTokens : true);

    MeasuredRequest measured;
    measured.prompt = same ? open.prompt : TokenList();
    measured.slotId = slotId >= 0 ? slotId : open.slotId;
    measured.cacheTokens = cacheTokens;
    measured.promptTokens = prefilled;
    measured.promptMs = promptMs;
    measured.generated = generated;
    measured.sessionId = sessionId;
    MatchedRequest matched;
    if (auto found = co_await m_backend->noteTimings(measured))
        matched = *found;

    if (hadPrediction && !same) {
        cause = QStringLiteral("prompt-altered");
        ++session->totals.altered;
    } else if (!hadPrediction) {
        cause = !open.open ? QStringLiteral("no prediction was open")
                           : QStringLiteral("the prediction was made for revision %1").arg(open.revision);
    } else {
        const bool inside = (cacheTokens >= open.low && cacheTokens <= open.high)
            || std::abs(cacheTokens - open.predicted) <= kTolerance;
        if (inside)
            settlement = QStringLiteral("confirmed");
        else if (cacheTokens > open.predicted)
            settlement = QStringLiteral("better");
        else
            settlement = QStringLiteral("refuted");
        if (!open.claimable && settlement != QLatin1String("refuted"))
            settlement = QStringLiteral("confirmed"); // inside the range that was stated; nothing was claimed
        if (settlement == QLatin1String("refuted")) {
            cause = matched.cause.isEmpty()
                ? QStringLiteral("the server reused %1 of %2 predicted tokens and nothing that Kerf can see says why%3")
                      .arg(cacheTokens)
                      .arg(open.predicted)
                      .arg(m_backend->info().capabilities.logRing ? QString()
                                                                  : QStringLiteral(" (its log is not attached)"))
                : matched.cause;
        } else if (settlement == QLatin1String("better")) {
            cause = matched.cause;
        }
    }

    SessionTotals &totals = session->totals;
    if (same) {
        ++totals.requests;
        totals.prefillTokens += prefilled;
        totals.predictedPrefillTokens += open.promptTokens - open.predicted;
        totals.reusedTokens += cacheTokens;
        totals.newTokens += open.newTokens;
        if (promptMs >= 0) {
            totals.prefillMs += promptMs;
            ++totals.requestsWithMs;
        }
        if (settlement != QLatin1String("refuted"))
            ++totals.predictionsMet;
        if (open.high > open.low + kTolerance && open.claimable)
            session->replyHighHolds = cacheTokens >= open.high - kTolerance;
        session->lastPromptTokens = open.promptTokens;
        session->lastTailTokens = 0;
        if (auto live = m_live.constFind(sessionId + QLatin1Char('\n') + m_backend->info().tokenizer);
            live != m_live.cend())
            session->lastTailTokens = live->layout.tail.size();
    }
    session->lastGenerated = std::max(0, generated);
    // The first answer's total against ours: a difference marks everything of the session estimated until one agrees.
    if (same && open.promptTokens == total)
        session->countsDiffer = false;
    else if (hadPrediction && !same && totals.requests == 0)
        session->countsDiffer = true;
    ++session->record.turn;
    const int turn = session->record.turn;

    // The newest applied plan that waits is settled by the same request.
    QJsonValue compactionId(QJsonValue::Null);
    QJsonValue eviction(QJsonValue::Null);
    int predictedForCompaction = open.predicted;
    QJsonObject settled{
        {QStringLiteral("measured_reuse"), cacheTokens},
        {QStringLiteral("measured_prefill"), prefilled},
        {QStringLiteral("measured_ms"), params::orNull(promptMs)},
        {QStringLiteral("turn"), turn},
        {QStringLiteral("slot_id"), params::orNull(matched.slotId)},
        {QStringLiteral("task_id"), matched.taskId < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(matched.taskId)},
        {QStringLiteral("source"), QStringLiteral("timings")},
        {QStringLiteral("slot_source"), params::orNull(matched.source)}};
    for (CompactionInfo &info : session->compactions) {
        if (info.outcome != QLatin1String("waiting") || info.appliedRevision > open.revision)
            continue;
        KERF_TRY(record, co_await m_store->plan(info.planId));
        const QJsonObject boundary = record.plan.value(QStringLiteral("boundary")).toObject();
        const int low = boundary.value(QStringLiteral("predicted_reuse_low")).toInt();
        const int high = boundary.value(QStringLiteral("predicted_reuse_high")).toInt();
        predictedForCompaction = boundary.value(QStringLiteral("predicted_reuse")).toInt();
        QString outcome = settlement;
        QString why = cause;
        if (settlement != QLatin1String("none")) {
            if ((cacheTokens >= low && cacheTokens <= high)
                || std::abs(cacheTokens - predictedForCompaction) <= kTolerance)
                outcome = QStringLiteral("confirmed");
            else
                outcome = cacheTokens > predictedForCompaction ? QStringLiteral("better") : QStringLiteral("refuted");
            if (outcome == QLatin1String("refuted") && why.isEmpty())
                why = matched.cause.isEmpty() ? QStringLiteral("the server reused %1 of %2 predicted tokens")
                                                    .arg(cacheTokens)
                                                    .arg(predictedForCompaction)
                                              : matched.cause;
            if (outcome != QLatin1String("refuted"))
                why.clear();
        }
        QJsonObject row = settled;
        row.insert(QStringLiteral("settlement"), outcome);
        row.insert(QStringLiteral("cause"), params::orNull(why));
        row.insert(QStringLiteral("predicted_reuse"), predictedForCompaction);
        KERF_TRY_VOID(co_await m_store->settlePlan(info.planId, outcome, row));
        info.outcome = outcome;
        info.measuredReuse = settlement == QLatin1String("none") ? -1 : cacheTokens;
        compactionId = info.number;
        settlement = outcome;
        cause = why;
        QJsonObject rungs;
        const QJsonArray updates = record.plan.value(QStringLiteral("updates")).toArray();
        for (const QJsonValue &update : updates) {
            const QString tier = update.toObject().value(QStringLiteral("to_tier")).toString();
            rungs.insert(tier, rungs.value(tier).toInt() + 1);
        }
        eviction = QJsonObject{
            {QStringLiteral("compaction_id"), info.number},
            {QStringLiteral("plan_id"), info.planId},
            {QStringLiteral("by_tier"), rungs},
            {QStringLiteral("tokens_saved"), record.plan.value(QStringLiteral("planned_savings"))},
            {QStringLiteral("verdict"), record.plan.value(QStringLiteral("verdict"))},
            {QStringLiteral("cache_status"), record.plan.value(QStringLiteral("cache_status"))},
            {QStringLiteral("cache_reason"), record.plan.value(QStringLiteral("cache_reason"))},
            {QStringLiteral("requested_cut"), boundary.value(QStringLiteral("requested_cut"))},
            {QStringLiteral("aligned_cut"), boundary.value(QStringLiteral("aligned_cut"))},
            {QStringLiteral("retained_prompt_tokens"), record.plan.value(QStringLiteral("retained_prompt_tokens"))}};
    }
    session->open.open = false; // one settlement a request: a second report of it finds nothing open

    const int predicted = compactionId.isNull() ? open.predicted : predictedForCompaction;
    settled.insert(QStringLiteral("settlement"), settlement);
    settled.insert(QStringLiteral("predicted_reuse"),
                   hadPrediction ? QJsonValue(predicted) : QJsonValue(QJsonValue::Null));
    settled.insert(QStringLiteral("cause"), params::orNull(cause));
    settled.insert(QStringLiteral("compaction_id"), compactionId);
    settled.insert(QStringLiteral("generated"), params::orNull(generated));
    settled.insert(QStringLiteral("generated_ms"), params::orNull(predictedMs));
    settled.insert(QStringLiteral("simulated"), open.simulated);

    const bool warm = co_await proveRollback(session, cacheTokens);
    QJsonObject receipt = receiptFor(*session, open, settled, eviction, turn);
    if (warm) { // set only here: by a request that proved a restore
        receipt.insert(QStringLiteral("cache_status"), cacheStatusName(CacheStatus::WarmRestored));
        receipt.insert(QStringLiteral("rendered"), renderReceipt(receipt));
    }
    KERF_TRY_VOID(co_await m_store->saveReceipt(sessionId, turn, receipt));
    KERF_TRY_VOID(co_await saveState(session));
    QJsonObject outcomeEvent = settled;
    outcomeEvent.insert(QStringLiteral("session_id"), sessionId);
    outcomeEvent.insert(QStringLiteral("outcome"), settlement);
    publish(QStringLiteral("outcome"), outcomeEvent);
    publish(QStringLiteral("receipt"),
            {{QStringLiteral("session_id"), sessionId},
             {QStringLiteral("turn"), turn},
             {QStringLiteral("receipt_id"), receipt.value(QStringLiteral("receipt_id"))}});
    QJsonObject answer = settled;
    answer.insert(QStringLiteral("session_id"), sessionId);
    co_return answer;
}

QJsonObject Engine::receiptFor(const Session &session, const OpenPrediction &prediction, const QJsonObject &settlement,
                               const QJsonValue &eviction, int turn) const
{
    const BackendInfo info = m_backend->info();
    const bool settled = !settlement.isEmpty();
    QString status = cacheStatusName(CacheStatus::Unknown);
    QString detail = prediction.reason;
    const QJsonObject compaction = eviction.toObject();
    if (settled) {
        const int reused = settlement.value(QStringLiteral("measured_reuse")).toInt();
        if (!compaction.isEmpty() && reused >= 16)
            status = cacheStatusName(CacheStatus::PartialReuse);
        else if (reused >= 16)
            status = cacheStatusName(CacheStatus::PartialReuse);
        else
            status = prediction.retainedPromptTokens == 0 && session.record.turn <= 1
                ? cacheStatusName(CacheStatus::Cold)
                : cacheStatusName(CacheStatus::FullReprefill);
        if (!compaction.isEmpty())
            detail = compaction.value(QStringLiteral("cache_reason")).toString();
        if (const QString cause = settlement.value(QStringLiteral("cause")).toString(); !cause.isEmpty())
            detail = detail.isEmpty() ? cause : QStringLiteral("%1; %2").arg(detail, cause);
    }
    int total = 0;
    for (auto it = prediction.breakdown.begin(); it != prediction.breakdown.end(); ++it)
        total += it.value().toInt();
    const int window = windowFor(session);
    QJsonObject receipt{
        {QStringLiteral("receipt_id"), QStringLiteral("%1/%2").arg(session.record.id).arg(turn)},
        {QStringLiteral("session_id"), session.record.id},
        {QStringLiteral("turn"), turn},
        {QStringLiteral("at"), params::iso(QDateTime::currentDateTimeUtc())},
        {QStringLiteral("breakdown"), prediction.breakdown},
        {QStringLiteral("total_tokens"), total},
        {QStringLiteral("exact"), prediction.exact},
        {QStringLiteral("context_window"), window > 0 ? QJsonValue(window) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("cache_status"), status},
        {QStringLiteral("cache_detail"), detail},
        {QStringLiteral("evidence"),
         params::orNull(info.memoryDetail.isEmpty()
                            ? info.memoryEvidence
                            : QStringLiteral("%1: %2").arg(info.memoryEvidence, info.memoryDetail))},
        {QStringLiteral("tokens_reused"),
         settled ? settlement.value(QStringLiteral("measured_reuse")) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("tokens_prefilled"),
         settled ? settlement.value(QStringLiteral("measured_prefill")) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("prompt_eval_ms"),
         settled ? settlement.value(QStringLiteral("measured_ms")) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("predicted"),
         QJsonObject{{QStringLiteral("reuse"), prediction.predicted},
                     {QStringLiteral("reuse_low"), prediction.low},
                     {QStringLiteral("reuse_high"), prediction.high},
                     {QStringLiteral("ms"), params::orNull(prediction.predictedMs)},
                     {QStringLiteral("claimable"), prediction.claimable}}},
        {QStringLiteral("eviction"), eviction},
        {QStringLiteral("outcome"),
         settled ? settlement.value(QStringLiteral("settlement")) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("settlement"), settled ? QJsonValue(settlement) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("provider_cache"), QJsonValue::Null},
        {QStringLiteral("tokenizer"), info.tokenizer},
        {QStringLiteral("backend"), info.name},
        {QStringLiteral("simulated"), info.simulated},
        {QStringLiteral("stats"), statsJson(session)},
    };
    receipt.insert(QStringLiteral("rendered"), renderReceipt(receipt));
    return receipt;
}

Engine::Answer Engine::receipt(QJsonObject params, CallContext context)
{
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    KERF_TRY(turn, params::integer(params, QStringLiteral("turn"), 0, 0, 2147483647));
    KERF_TRY(session, co_await openSession(sessionId, false));
    auto stored = co_await m_store->receipt(sessionId, turn);
    if (!stored && (turn > 0 || stored.error().code != Error::Code::NotFound)) {
        if (stored.error().code == Error::Code::NotFound)
            co_return failure(Error::Code::NotFound,
                              QStringLiteral("session \"%1\" has no receipt for turn %2 (it has %3 turns)")
                                  .arg(sessionId)
                                  .arg(turn)
                                  .arg(session->record.turn));
        co_return std::unexpected(stored.error());
    }
    QJsonObject receipt;
    if (stored) {
        receipt = *stored;
    } else {
        // Nothing was recorded yet: where the window goes now, and nothing measured.
        co_await m_backend->ready();
        OpenPrediction open;
        if (auto live = co_await livePrompt(session)) {
            open.breakdown = breakdownJson(*session, *live);
            open.exact = live->exact;
        }
        open.reason = QStringLiteral("no request has been recorded yet");
        receipt = receiptFor(*session, open, {}, QJsonValue(QJsonValue::Null), 0);
    }
    if (auto usage = co_await m_store->usages(sessionId, 1); usage && !usage->isEmpty())
        receipt.insert(QStringLiteral("provider_cache"), usage->constFirst());
    receipt.insert(QStringLiteral("stats"), statsJson(*session));
    receipt.insert(QStringLiteral("rendered"), renderReceipt(receipt));
    co_return receipt;
}

Engine::Answer Engine::compactions(QJsonObject params, CallContext context)
{
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    KERF_TRY(limit, params::integer(params, QStringLiteral("limit"), 0, 0, 2147483647));
    KERF_TRY(detail, params::flag(params, QStringLiteral("detail"), false));
    KERF_TRY(only, params::integer(params, QStringLiteral("compaction_id"), 0, 0, 2147483647));
    KERF_TRY(session, co_await openSession(sessionId, false));
    KERF_TRY(plans, co_await m_store->appliedPlans(sessionId, only > 0 ? 0 : limit));
    if (only > 0) {
        plans.removeIf([only](const PlanRecord &record) { return record.number != only; });
        if (plans.isEmpty())
            co_return failure(Error::Code::NotFound,
                              QStringLiteral("session \"%1\" has no compaction %2").arg(sessionId).arg(only));
    }
    QJsonArray rows;
    for (const PlanRecord &record : std::as_const(plans)) {
        const QJsonObject &plan = record.plan;
        const QJsonObject boundary = plan.value(QStringLiteral("boundary")).toObject();
        const QJsonObject settled = record.settlement;
        const auto measured = [&](const QString &field) {
            return settled.isEmpty() ? QJsonValue(QJsonValue::Null) : settled.value(field);
        };
        rows.append(QJsonObject{
            {QStringLiteral("compaction_id"), record.number},
            {QStringLiteral("plan_id"), record.id},
            {QStringLiteral("verdict"), plan.value(QStringLiteral("verdict"))},
            {QStringLiteral("cache_status"), plan.value(QStringLiteral("cache_status"))},
            {QStringLiteral("cache_reason"), plan.value(QStringLiteral("cache_reason"))},
            {QStringLiteral("boundary"), boundary},
            {QStringLiteral("revision"), record.sessionRevision},
            {QStringLiteral("applied_revision"), record.appliedRevision},
            {QStringLiteral("predicted_at"), params::iso(record.plannedAt)},
            {QStringLiteral("applied_at"), params::iso(record.appliedAt)},
            {QStringLiteral("prompt_tokens"), plan.value(QStringLiteral("prompt_tokens"))},
            {QStringLiteral("tokens_after"), plan.value(QStringLiteral("tokens_after"))},
            {QStringLiteral("target"), plan.value(QStringLiteral("target"))},
            {QStringLiteral("target_missed"), plan.value(QStringLiteral("target_missed"))},
            {QStringLiteral("retained_prompt_tokens"), plan.value(QStringLiteral("retained_prompt_tokens"))},
            {QStringLiteral("retained_prefix_tokens"), plan.value(QStringLiteral("retained_prefix_tokens"))},
            {QStringLiteral("planned_savings"), plan.value(QStringLiteral("planned_savings"))},
            {QStringLiteral("updates"), plan.value(QStringLiteral("updates")).toArray().size()},
            {QStringLiteral("exact"), plan.value(QStringLiteral("exact"))},
            {QStringLiteral("simulated"), boundary.value(QStringLiteral("simulated"))},
            {QStringLiteral("predicted_reuse"), boundary.value(QStringLiteral("predicted_reuse"))},
            {QStringLiteral("predicted_reuse_low"), boundary.value(QStringLiteral("predicted_reuse_low"))},
            {QStringLiteral("predicted_reuse_high"), boundary.value(QStringLiteral("predicted_reuse_high"))},
            {QStringLiteral("predicted_prefill"), boundary.value(QStringLiteral("predicted_prefill"))},
            {QStringLiteral("predicted_ms"), boundary.value(QStringLiteral("predicted_ms"))},
            {QStringLiteral("outcome"), record.outcome.isEmpty() ? QStringLiteral("waiting") : record.outcome},
            {QStringLiteral("measured_reuse"), measured(QStringLiteral("measured_reuse"))},
            {QStringLiteral("measured_prefill"), measured(QStringLiteral("measured_prefill"))},
            {QStringLiteral("measured_ms"), measured(QStringLiteral("measured_ms"))},
            {QStringLiteral("cause"), measured(QStringLiteral("cause"))},
            {QStringLiteral("turn"), measured(QStringLiteral("turn"))},
            {QStringLiteral("task_id"), measured(QStringLiteral("task_id"))},
            {QStringLiteral("slot_id"), measured(QStringLiteral("slot_id"))},
            {QStringLiteral("by_tier"), rungsOf(plan.value(QStringLiteral("updates")).toArray())},
            {QStringLiteral("prompt_kept"), m_keptPrompts.compaction(sessionId, record.number, true) != nullptr},
        });
        if (detail || only > 0) { // the plan as it was
            QJsonObject row = rows.last().toObject();
            row.insert(QStringLiteral("update_rows"), plan.value(QStringLiteral("updates")));
            for (const char *field : {"alternatives", "notes", "summary", "profile", "budget", "trigger_at",
                                      "fixed_tokens", "anchor_tokens"})
                row.insert(QLatin1String(field), plan.value(QLatin1String(field)));
            rows[rows.size() - 1] = row;
        }
    }
    co_return QJsonObject{{QStringLiteral("session_id"), sessionId},
                          {QStringLiteral("compactions"), rows},
                          {QStringLiteral("stats"), statsJson(*session)}};
}

Engine::Answer Engine::recordUsage(QJsonObject params, CallContext context)
{
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    KERF_TRY(usage, normaliseUsage(params));
    KERF_TRY(session, co_await openSession(sessionId, true));
    KERF_TRY(earlier, co_await m_store->usages(sessionId, 200));
    const QJsonObject judged = judgeUsage(usage, earlier, QDateTime::currentDateTimeUtc());
    const int turn = session->record.turn;
    QJsonObject row = judged;
    row.insert(QStringLiteral("turn"), turn);
    KERF_TRY_VOID(co_await m_store->saveUsage(sessionId, turn, row));
    row.insert(QStringLiteral("session_id"), sessionId);
    row.insert(QStringLiteral("session_stats"), usageStats(earlier, row));
    co_return row;
}

} // namespace kerf
