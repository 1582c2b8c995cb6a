// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// Planning and applying a compaction: the pure decision (eviction/planner.h), rendered by the server until a choice
// really meets the target, predicted, stored, and only then answered.

#include "core/engine/engine.h"

#include "core/base/log.h"
#include "core/engine/planinput.h"
#include "core/engine/text.h"

#include <QCoroFuture>
#include <QFileInfo>
#include <QtConcurrent>
#include <QUuid>

#include <algorithm>
#include <functional>

namespace kerf {

namespace {

constexpr int kMarkerTokens = 64; ///< the session's one marker, however many compactions there were (SPEC 7.4)
constexpr int kPoolTokens = 16'384; ///< prompts above this are planned on a pool thread, not on the event loop
constexpr int kMostAlternatives = 256;
constexpr int kMostRendered = 12;
constexpr int kRelaxedKept = 64;

struct Planned {
    PlanFrame frame;
    QList<EvictionChoice> choices;
    QList<CutAlternative> alternatives;
    int legalCuts = 0;
    int forward = -1;
};

/// Runs `work` off the event loop where the prompt is large.
QCoro::Task<Planned> offLoop(int tokens, std::function<Planned()> work)
{
    if (tokens < kPoolTokens)
        co_return work();
    const QFuture<Planned> future = QtConcurrent::run(work);
    co_return co_await future;
}

Planned planNow(const PlanInput &input, const PrefillCost &cost)
{
    Planned planned;
    planned.frame = frameFor(input);
    if (planned.frame.pressure != Pressure::Compacting)
        return planned;
    planned.choices = chooseRuns(input, planned.frame, kMostRendered);
    planned.alternatives = cutAlternatives(input, planned.frame, cost, kMostAlternatives, &planned.legalCuts);
    planned.forward = forwardLimit(input, planned.frame);
    return planned;
}

/// The session as it would be after a choice.
struct After {
    QList<Episode> episodes;
    QList<Anchor> anchors;
    PromptState state;
    QList<std::pair<qint64, Tier>> changes; ///< by episode id, archived ones included
};

QJsonObject anchorPlaces(const QList<Anchor> &anchors)
{
    QJsonObject places;
    for (const Anchor &anchor : anchors)
        places.insert(
            QString::number(anchor.id),
            QJsonObject{{QStringLiteral("in_head"), anchor.inHead}, {QStringLiteral("host_seq"), anchor.hostSeq}});
    return places;
}

QList<Anchor> withPlaces(QList<Anchor> anchors, const QJsonObject &places)
{
    for (Anchor &anchor : anchors) {
        const QJsonValue place = places.value(QString::number(anchor.id));
        if (!place.isObject())
            continue;
        anchor.inHead = place.toObject().value(QStringLiteral("in_head")).toBool();
        anchor.hostSeq = place.toObject().value(QStringLiteral("host_seq")).toInt();
    }
    return anchors;
}

After afterChoice(const Session &session, const LivePrompt &live, const PlanInput &input, const EvictionChoice &choice,
                  int lastNamed)
{
    After after{session.episodes, session.anchors, session.prompt, {}};
    for (const TierStep &step : choice.steps) {
        const PlanEpisode &row = input.episodes.at(step.index);
        Episode &episode = after.episodes[row.episodeIndex];
        if (step.to == Tier::Masked)
            after.state.masks.insert(episode.seq, maskedText(episode));
        const Tier to = row.allowDrop && step.to == Tier::Referenced ? Tier::Dropped : step.to;
        episode.tier = to;
        after.changes.append({episode.id, to});
    }
    // Notes behind the cut are prefilled again anyway: the old marker goes; pins whose message is gone find a new one.
    QHash<int, int> positionOf;
    for (qsizetype i = 0; i < live.composed.parts.size(); ++i) {
        const int index = live.composed.parts.at(i).episodeIndex;
        if (index >= 0)
            positionOf.insert(session.episodes.at(index).seq, live.layout.messages.at(i).tokens.begin);
    }
    QHash<int, Tier> tiers;
    for (const Episode &episode : std::as_const(after.episodes))
        tiers.insert(episode.seq, episode.tier);
    for (auto it = after.state.notes.begin(); it != after.state.notes.end();) {
        const bool inHead = positionOf.value(it.key(), 0) < choice.cut && positionOf.contains(it.key());
        if (!inHead) {
            it->marker.clear();
            if (!isInPrompt(tiers.value(it.key(), Tier::Dropped))) {
                for (const qint64 id : std::as_const(it->anchors)) {
                    for (Anchor &anchor : after.anchors) {
                        if (anchor.id == id)
                            anchor.hostSeq = 0;
                    }
                }
                it->anchors.clear();
            }
        }
        if (it->isEmpty())
            it = after.state.notes.erase(it);
        else
            ++it;
    }
    const QList<qint64> unnamed = unnamedEpisodes(after.episodes, lastNamed);
    if (!unnamed.isEmpty()) {
        const QSet<qint64> gone(unnamed.cbegin(), unnamed.cend());
        for (Episode &episode : after.episodes) {
            if (gone.contains(episode.id)) {
                episode.tier = Tier::Archived;
                after.changes.append({episode.id, Tier::Archived});
            }
        }
    }
    after.state.pendingMarker = markerText(after.episodes, lastNamed);
    placeNotes(after.episodes, after.anchors, after.state);
    return after;
}

QJsonObject predictionFields(const BoundaryPlan &boundary)
{
    QJsonObject object = boundary.toJson();
    // verdict, cache_status and reason stand beside the boundary on the wire.
    object.remove(QStringLiteral("verdict"));
    object.remove(QStringLiteral("cache_status"));
    object.remove(QStringLiteral("reason"));
    return object;
}

QJsonArray alternativesJson(const QList<CutAlternative> &alternatives)
{
    QJsonArray rows;
    for (const CutAlternative &row : alternatives) {
        const int reuse = row.tokensAfter - row.predictedPrefill;
        rows.append(QJsonObject{
            {QStringLiteral("cut"), row.cut},
            {QStringLiteral("at"), row.atCheckpoint ? QStringLiteral("checkpoint") : QStringLiteral("episode-edge")},
            {QStringLiteral("retained_tokens"), row.retainedTokens},
            {QStringLiteral("reclaimed_tokens"), row.reclaimedTokens},
            {QStringLiteral("tokens_after"), row.tokensAfter},
            {QStringLiteral("predicted_reuse"), reuse},
            {QStringLiteral("predicted_reuse_low"), row.prediction.low},
            {QStringLiteral("predicted_reuse_high"), row.prediction.high},
            {QStringLiteral("checkpoint"), params::orNull(row.prediction.checkpointPosition)},
            {QStringLiteral("predicted_prefill"), row.predictedPrefill},
            {QStringLiteral("predicted_ms"), params::orNull(row.predictedMs)}});
    }
    return rows;
}

/// What a plan would be: kept nowhere, so it has no id to apply.
QJsonObject asPreview(QJsonObject plan)
{
    plan.insert(QStringLiteral("plan_id"), QString());
    plan.insert(QStringLiteral("preview"), true);
    return plan;
}

QString reasonOf(const TierStep &step, const PlanEpisode &episode)
{
    if (step.to == Tier::Masked)
        return episode.role == Role::Tool ? QStringLiteral("tool result masked in place")
                                          : QStringLiteral("text masked in place");
    return QStringLiteral("in the run behind the cut");
}

} // namespace

QString longestMarker()
{
    return QStringLiteral("[999 episodes, 99,999 tokens evicted: #1000-#1999; memory.get_episode returns them]\n\n");
}

PlanInput planInputOf(const Session &session, const LivePrompt &live, const Budget &budget,
                      const EvictionPolicy &policy, const ServerStates &states, const ReuseRule &rule)
{
    PlanInput input;
    input.prompt = live.layout.tokens;
    input.budget = budget;
    input.knobs = policy.knobs;
    input.states = states.states;
    input.rule = rule;
    input.generational = policy.generational();
    input.lastCompactedSeq = session.lastCompactedSeq;
    const QList<int> leaders = groupLeaders(session.episodes);
    QHash<int, int> messageOf; // episode index -> message index
    for (qsizetype i = 0; i < live.composed.parts.size(); ++i)
        messageOf.insert(live.composed.parts.at(i).episodeIndex, static_cast<int>(i));
    input.episodes.reserve(live.composed.parts.size());
    for (qsizetype i = 0; i < live.composed.parts.size(); ++i) {
        const int index = live.composed.parts.at(i).episodeIndex;
        const MessageSpan &span = live.layout.messages.at(i);
        PlanEpisode row;
        row.episodeIndex = index;
        row.range = span.tokens;
        row.edgeLegal = span.edgeLegal && span.found;
        row.leader = static_cast<int>(i);
        if (index >= 0) {
            const Episode &episode = session.episodes.at(index);
            row.id = episode.id;
            row.seq = episode.seq;
            row.role = episode.role;
            row.tier = episode.tier;
            row.pinned = session.isPinned(episode.id);
            row.allowDrop = policy.knobs.allowDrop && episode.droppable;
            row.leader = messageOf.value(leaders.at(index), static_cast<int>(i));
            if (maskHelps(episode)) {
                // First guess: the template's part of the message, and the mask at the content's own density.
                const double density = episode.content.isEmpty()
                    ? 0.5
                    : double(span.tokens.size()) / std::max<qsizetype>(1, episode.content.size());
                row.maskedTokens =
                    std::min(span.tokens.size(), static_cast<int>(maskedText(episode).size() * density) + 8);
            }
        } else {
            row.role = Role::System;
        }
        input.episodes.append(row);
    }
    for (const Anchor &anchor : session.anchors) {
        if (anchor.episodeId == 0)
            input.anchorTokens += anchor.tokenCount;
    }
    input.fixedTokens = std::max(0, live.headEnd);
    return input;
}

Engine::Answer Engine::planEviction(QJsonObject params, CallContext context)
{
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    KERF_TRY(slotId, params::slot(params));
    KERF_TRY(apply, params::flag(params, QStringLiteral("apply"), false));
    KERF_TRY(requestedCut, params::integer(params, QStringLiteral("requested_cut"), -1, 0, 2147483647));
    KERF_TRY(profile, params::text(params, QStringLiteral("profile"), false));
    KERF_TRY(pendingRecall, params::integer(params, QStringLiteral("pending_recall"), 0, 0, 64 * 1024 * 1024));
    KERF_TRY(preview, params::flag(params, QStringLiteral("preview"), false));
    const QJsonValue overrides = params.value(QStringLiteral("overrides"));
    if (!overrides.isUndefined() && !overrides.isNull() && !overrides.isObject())
        co_return failure(Error::Code::InvalidParams, QStringLiteral("overrides: must be an object of knob: value"));
    if (overrides.isObject() && !preview)
        co_return failure(Error::Code::InvalidParams,
                          QStringLiteral("overrides: only with preview; profile.set keeps values"));
    if (preview && apply)
        co_return failure(Error::Code::InvalidParams, QStringLiteral("apply: a preview is never applied"));
    KERF_TRY(session, co_await openSession(sessionId, false));
    co_await m_backend->ready();
    KERF_TRY(policy,
             profile.isEmpty() ? policyFor(session.get())
                               : policyNamed(profile, QStringLiteral("asked for in the call")));
    if (overrides.isObject()) {
        KERF_TRY(knobs, withOverrides(policy.knobs, overrides.toObject()));
        policy.knobs = knobs;
    }

    // A snapshot whose rendering and revision belong together; commits may arrive while the server renders.
    ServerStates states;
    LivePrompt live;
    for (int attempt = 0;; ++attempt) {
        auto read = co_await m_backend->states();
        if (read) {
            states = *read;
        } else {
            states = {};
            states.readable = false;
            states.reason = read.error().message;
        }
        KERF_TRY(rendered, co_await livePrompt(session));
        live = rendered;
        if (live.revision == session->record.revision)
            break;
        if (attempt >= 8)
            co_return failure(
                Error::Code::Failed,
                QStringLiteral("session \"%1\" keeps changing while it is planned; try again").arg(sessionId));
    }
    const Session before = *session;
    const BackendInfo info = m_backend->info();
    ReuseRule rule = info.rule;
    const Budget budget = budgetOf(before, policy);

    PlanInput input = planInputOf(before, live, budget, policy, states, rule);
    input.slotId = slotId;
    input.requestedCut = requestedCut;
    input.pendingRecall = pendingRecall;
    input.replyEqualTokens = replyEqualTokens(before, live);
    if (auto counted = co_await m_backend->countTokens(longestMarker()))
        input.noteTokens = *counted;

    // Named: gcc 12 destroys a lambda that is a temporary of a co_await expression twice.
    std::function<Planned()> decide = [input, cost = info.cost] { return planNow(input, cost); };
    Planned planned = co_await offLoop(live.layout.size(), decide);
    if (input.generational && planned.frame.pressure == Pressure::Compacting && requestedCut < 0
        && (planned.choices.isEmpty()
            || !std::all_of(planned.choices.constFirst().steps.cbegin(), planned.choices.constFirst().steps.cend(),
                            [](const TierStep &step) { return step.to == Tier::Masked; }))) {
        // Masks no longer make room: the deep cut of SPEC section 9, to 30 % (45 % of small windows).
        input.budget.target = static_cast<int>(budget.total * (budget.window > 32'768 ? 0.30 : 0.45));
        input.generational = false;
        decide = [input, cost = info.cost] { return planNow(input, cost); };
        planned = co_await offLoop(live.layout.size(), decide);
    }

    QJsonArray notes;
    for (const QString &note : planned.frame.notes)
        notes.append(note);
    if (planned.legalCuts > kMostAlternatives)
        notes.append(
            QStringLiteral("%1 of %2 legal cuts are listed").arg(planned.alternatives.size()).arg(planned.legalCuts));
    if (budget.total <= 0)
        notes.append(QStringLiteral(
            "the context window is not known: give --context-window, or connect to a server that tells n_ctx"));
    if (before.countsDiffer)
        notes.append(QStringLiteral(
            "the server counted another total than Kerf for a prompt of this session: counts are estimates"));

    QString pressure = pressureName(planned.frame.pressure);
    // After a missed target a new plan waits for budget/16 new tokens, unless the prompt passes 90 % of the budget.
    bool waits = false;
    if (planned.frame.pressure == Pressure::Compacting && requestedCut < 0 && before.missedAtTokens > 0
        && live.layout.size() < before.missedAtTokens + budget.total / 16
        && live.layout.size() <= budget.total * 9 / 10) {
        waits = true;
        pressure = pressureName(Pressure::Relaxed);
        notes.append(QStringLiteral("the last plan missed its target: the next one waits for %1 new tokens")
                         .arg(before.missedAtTokens + budget.total / 16 - live.layout.size()));
    }

    QJsonObject plan{
        {QStringLiteral("plan_id"), QStringLiteral("p-") + QUuid::createUuid().toString(QUuid::WithoutBraces)},
        {QStringLiteral("session_id"), sessionId},
        {QStringLiteral("revision"), before.record.revision},
        {QStringLiteral("pressure"), pressure},
        {QStringLiteral("profile"), policy.name},
        {QStringLiteral("budget"), budget.total},
        {QStringLiteral("trigger_at"), budget.triggerAt},
        {QStringLiteral("target"), input.budget.target},
        {QStringLiteral("target_missed"), 0},
        {QStringLiteral("live_tokens"), live.layout.size()},
        {QStringLiteral("anchor_tokens"), input.anchorTokens},
        {QStringLiteral("fixed_tokens"), input.fixedTokens},
        {QStringLiteral("prompt_tokens"), live.layout.size()},
        {QStringLiteral("exact"), live.exact},
        {QStringLiteral("planned_savings"), 0},
        {QStringLiteral("tokens_after"), live.layout.size()},
        {QStringLiteral("applied"), false},
        {QStringLiteral("updates"), QJsonArray()},
        {QStringLiteral("alternatives"), alternativesJson(planned.alternatives)},
    };
    // The whole prompt when nothing is escalated: the timeline's part of it, and all of it.
    const auto timelineTokens = [&](int until) {
        int tokens = 0;
        for (const PlanEpisode &row : std::as_const(input.episodes)) {
            if (row.episodeIndex >= 0 && row.role != Role::System && row.range.end <= until)
                tokens += row.range.size();
        }
        return tokens;
    };

    const bool idle = planned.frame.pressure != Pressure::Compacting || waits || planned.choices.isEmpty();
    if (idle) {
        BoundaryPlan none;
        QJsonObject boundary = predictionFields(none);
        for (auto it = boundary.begin(); it != boundary.end(); ++it)
            it.value() = it.key() == QLatin1String("snap") ? it.value() : QJsonValue(QJsonValue::Null);
        QString reason =
            QStringLiteral("no plan was needed: %1 of %2 tokens, the trigger is at %3")
                .arg(groupedNumber(live.layout.size()), groupedNumber(budget.total), groupedNumber(budget.triggerAt));
        if (planned.frame.pressure == Pressure::AnchorOverflow) {
            reason = QStringLiteral("pins and fixed parts need more than the budget of %1 tokens; no pin is dropped")
                         .arg(groupedNumber(budget.total));
        } else if (waits) {
            reason = QStringLiteral("waiting after a missed target");
        } else if (planned.frame.pressure == Pressure::Compacting) {
            reason = QStringLiteral(
                "nothing may be evicted: everything behind the reserve is pinned, recent or the last user message");
            notes.append(reason);
            plan.insert(QStringLiteral("target_missed"),
                        std::max(0, live.layout.size() + pendingRecall - budget.target));
        }
        plan.insert(QStringLiteral("verdict"), QJsonValue::Null);
        plan.insert(QStringLiteral("cache_status"), cacheStatusName(CacheStatus::Unknown));
        plan.insert(QStringLiteral("cache_reason"), reason);
        plan.insert(QStringLiteral("boundary"), boundary);
        plan.insert(QStringLiteral("retained_prefix_tokens"), timelineTokens(live.layout.size()));
        plan.insert(QStringLiteral("retained_prompt_tokens"), live.layout.size());
        plan.insert(QStringLiteral("notes"), notes);
        plan.insert(QStringLiteral("summary"), reason);
        if (preview)
            co_return asPreview(plan);
        const QString id = plan.value(QStringLiteral("plan_id")).toString();
        m_relaxed.insert(id, plan);
        m_relaxedOrder.append(id);
        if (m_relaxedOrder.size() > kRelaxedKept)
            m_relaxed.remove(m_relaxedOrder.takeFirst());
        co_return plan;
    }

    // Render the choices in order; the first whose rendered size meets the target is taken.
    struct Rendered {
        EvictionChoice choice;
        After after;
        LivePrompt prompt;
    };
    std::optional<Rendered> best;
    QString refused;
    const int target = input.budget.target;
    for (qsizetype i = 0; i < planned.choices.size(); ++i) {
        EvictionChoice choice = planned.choices.at(i);
        int named = 1'000'000;
        After after = afterChoice(before, live, input, choice, named);
        for (int round = 0; round < 24; ++round) {
            const QString marker = markerText(after.episodes, named);
            if (marker.isEmpty())
                break;
            auto counted = co_await m_backend->countTokens(marker);
            if (!counted || *counted <= kMarkerTokens)
                break;
            const int runs = static_cast<int>(evictedRuns(after.episodes).size());
            named = std::min(named, runs) > 8 ? std::min(named, runs) / 2 : std::min(named, runs) - 1;
            if (named < 0)
                break;
            after = afterChoice(before, live, input, choice, named);
        }
        auto rendered = co_await renderPrompt(after.episodes, after.anchors, after.state, before.record.config,
                                              before.record.revision);
        if (!rendered && rendered.error().code == Error::Code::Refused) {
            refused = rendered.error().message;
            choice = maskedInstead(input, planned.frame, choice);
            if (choice.steps.isEmpty())
                continue;
            after = afterChoice(before, live, input, choice, named);
            rendered = co_await renderPrompt(after.episodes, after.anchors, after.state, before.record.config,
                                             before.record.revision);
        }
        if (!rendered) {
            if (rendered.error().code == Error::Code::Refused)
                continue;
            co_return std::unexpected(rendered.error());
        }
        const int size = rendered->layout.size() + pendingRecall;
        if (!best || size < best->prompt.layout.size() + pendingRecall)
            best = Rendered{choice, after, *rendered};
        if (size <= target)
            break;
    }
    if (!best) {
        co_return failure(Error::Code::DoesNotFit,
                          refused.isEmpty()
                              ? QStringLiteral("no eviction could be rendered")
                              : QStringLiteral("the server's template refuses every eviction: %1").arg(refused));
    }
    if (!refused.isEmpty())
        notes.append(
            QStringLiteral("the template refused a prompt (%1): texts were masked in place instead").arg(refused));

    const ReusePrediction now = predictReuse(states.states, {live.layout.tokens, slotId}, rule, input.replyEqualTokens);
    ReusePrediction prediction =
        predictReuse(states.states, {best->prompt.layout.tokens, slotId}, rule, input.replyEqualTokens);
    applyReplyMode(before, prediction);

    // The cut is where the two prompts really part: the message behind the run begins with the same header as the run
    // did.
    const int parting = commonPrefix(live.layout.tokens, best->prompt.layout.tokens);
    BoundaryInput boundaryInput;
    boundaryInput.requestedCut = requestedCut >= 0 ? requestedCut : std::max(best->choice.cut, parting);
    boundaryInput.reachable = info.capabilities.reachable || info.kind == QLatin1String("none");
    boundaryInput.slotsReadable = states.readable;
    boundaryInput.unreadableReason = boundaryInput.reachable ? states.reason : info.unreachableReason;
    boundaryInput.rule = rule;
    if (now.stateIndex >= 0)
        boundaryInput.held = states.states.at(now.stateIndex);
    boundaryInput.lcp = now.lcp;
    QList<RecordedCheckpoint> recorded;
    for (const Checkpoint &checkpoint : before.recorded)
        recorded.append({checkpoint, m_backend->saveFileExists(checkpoint.fileName).value_or(true)});
    boundaryInput.candidates =
        mergeCandidates(boundaryInput.held.checkpoints, recorded, live.layout.tokens, info.identity);
    boundaryInput.partialStateOnly = info.capabilities.partialStateOnly;
    boundaryInput.ringTrusted = rule.ringVisible;
    boundaryInput.evidence = info.memoryDetail.isEmpty()
        ? info.memoryEvidence
        : QStringLiteral("%1: %2").arg(info.memoryEvidence, info.memoryDetail);
    boundaryInput.toleranceTokens = policy.knobs.snapToleranceTokens;
    boundaryInput.forwardLimit = planned.forward;
    boundaryInput.simulated = info.simulated;
    const int tokensAfter = best->prompt.layout.size();
    BoundaryPlan boundary = withPrediction(planBoundary(boundaryInput), prediction, tokensAfter, info.cost);

    // The prefix is lost anyway: pins made in mid-session move to the head now (SPEC 7.6).
    if (boundary.cacheStatus == CacheStatus::FullReprefill || boundary.cacheStatus == CacheStatus::Cold) {
        bool moved = false;
        After after = best->after;
        for (Anchor &anchor : after.anchors) {
            if (anchor.episodeId == 0 && !anchor.inHead) {
                anchor.inHead = true;
                anchor.hostSeq = 0;
                moved = true;
            }
        }
        if (moved) {
            for (auto it = after.state.notes.begin(); it != after.state.notes.end();) {
                it->anchors.clear();
                it = it->isEmpty() ? after.state.notes.erase(it) : std::next(it);
            }
            if (auto rendered = co_await renderPrompt(after.episodes, after.anchors, after.state, before.record.config,
                                                      before.record.revision)) {
                best->after = after;
                best->prompt = *rendered;
                prediction =
                    predictReuse(states.states, {best->prompt.layout.tokens, slotId}, rule, input.replyEqualTokens);
                applyReplyMode(before, prediction);
                boundary = withPrediction(boundary, prediction, best->prompt.layout.size(), info.cost);
            }
        }
    }

    // What stays: the walk that decided, checked against the tokens that the next prompt really shares.
    int retained = best->choice.cut;
    const int shared = commonPrefix(live.layout.tokens, best->prompt.layout.tokens);
    if (shared < retained) {
        notes.append(
            QStringLiteral("the kept part was rendered differently from token %1 on; the shorter position is reported")
                .arg(groupedNumber(shared)));
        retained = shared;
    }
    if (boundary.hasCandidate && boundary.alignedCut > std::max(retained, shared)) {
        notes.append(QStringLiteral("a checkpoint sits at %1 but the preserved prefix ends at %2 tokens; the boundary "
                                    "is reported at the shorter position, "
                                    "which is what the next prompt will actually share")
                         .arg(groupedNumber(boundary.alignedCut), groupedNumber(retained)));
    }

    QHash<qint64, int> sizeAfter;
    for (qsizetype i = 0; i < best->prompt.composed.parts.size(); ++i) {
        const int index = best->prompt.composed.parts.at(i).episodeIndex;
        if (index >= 0)
            sizeAfter.insert(best->after.episodes.at(index).id, best->prompt.layout.messages.at(i).tokens.size());
    }
    QJsonArray updates;
    QJsonArray tiers;
    QHash<qint64, const PlanEpisode *> rowOf;
    QHash<qint64, const TierStep *> stepOf;
    for (const TierStep &step : std::as_const(best->choice.steps)) {
        rowOf.insert(input.episodes.at(step.index).id, &input.episodes.at(step.index));
        stepOf.insert(input.episodes.at(step.index).id, &step);
    }
    for (const auto &[episodeId, tier] : std::as_const(best->after.changes)) {
        const Episode *episode = before.byId(episodeId);
        tiers.append(QJsonObject{{QStringLiteral("id"), episodeId},
                                 {QStringLiteral("to"), tierName(tier)},
                                 {QStringLiteral("from"), tierName(episode->tier)}});
        const PlanEpisode *row = rowOf.value(episodeId);
        updates.append(QJsonObject{
            {QStringLiteral("episode_id"), episodeId},
            {QStringLiteral("seq"), episode->seq},
            {QStringLiteral("from_tier"), tierName(episode->tier)},
            {QStringLiteral("to_tier"), tierName(tier)},
            {QStringLiteral("tokens_before"), row ? row->range.size() : 0},
            {QStringLiteral("tokens_after"), tier == Tier::Masked ? sizeAfter.value(episodeId) : 0},
            {QStringLiteral("reason"),
             row ? reasonOf(*stepOf.value(episodeId), *row) : QStringLiteral("no longer named in the marker")},
        });
    }
    const int finalSize = best->prompt.layout.size();
    const int missed = std::max(0, finalSize + pendingRecall - target);
    if (missed > 0)
        notes.append(QStringLiteral("the target of %1 is missed by %2 tokens: the rest is pinned, recent or fixed")
                         .arg(groupedNumber(target), groupedNumber(missed)));
    if (finalSize + pendingRecall > budget.window)
        notes.append(QStringLiteral("even so the prompt does not fit the window of %1 tokens")
                         .arg(groupedNumber(budget.window)));
    const bool lateRun = best->choice.cut
        > planned.frame.reservePosition + (planned.frame.recentPosition - planned.frame.reservePosition) / 2;
    if (lateRun && rule.memory == MemoryKind::FullAttention && rule.chunkReuse == 0)
        notes.append(QStringLiteral("the run lies late: what is before it stays as it is, however old it gets"));

    plan.insert(QStringLiteral("verdict"), verdictName(boundary.verdict));
    plan.insert(QStringLiteral("cache_status"), cacheStatusName(boundary.cacheStatus));
    plan.insert(QStringLiteral("cache_reason"), boundary.reason);
    plan.insert(QStringLiteral("boundary"), predictionFields(boundary));
    plan.insert(QStringLiteral("retained_prompt_tokens"), retained);
    plan.insert(QStringLiteral("retained_prefix_tokens"), timelineTokens(retained));
    plan.insert(QStringLiteral("updates"), updates);
    plan.insert(QStringLiteral("target_missed"), missed);
    plan.insert(QStringLiteral("tokens_after"), finalSize);
    plan.insert(QStringLiteral("planned_savings"), live.layout.size() - finalSize);
    plan.insert(QStringLiteral("notes"), notes);
    plan.insert(QStringLiteral("summary"), planSummary(plan));
    if (preview)
        co_return asPreview(plan);

    PlanRecord record;
    record.id = plan.value(QStringLiteral("plan_id")).toString();
    record.sessionId = sessionId;
    record.sessionRevision = before.record.revision;
    record.status = QStringLiteral("planned");
    record.plannedAt = QDateTime::currentDateTimeUtc();
    plan.insert(QStringLiteral("planned_at"), params::iso(record.plannedAt));
    record.plan = plan;
    record.internal = QJsonObject{
        {QStringLiteral("tiers"), tiers},
        {QStringLiteral("prompt"), promptStateToJson(best->after.state)},
        {QStringLiteral("prompt_before"), promptStateToJson(before.prompt)},
        {QStringLiteral("anchors"), anchorPlaces(best->after.anchors)},
        {QStringLiteral("anchors_before"), anchorPlaces(before.anchors)},
        {QStringLiteral("slot_id"), slotId},
        {QStringLiteral("held_slot"), boundaryInput.held.slotId},
        {QStringLiteral("last_seq"), before.episodes.isEmpty() ? 0 : before.episodes.constLast().seq},
    };
    // The prediction is on disk before it is told to anybody.
    KERF_TRY_VOID(co_await m_store->savePlan(record));
    m_keptPrompts.notePlan(
        record.id, {live.layout.tokens, promptParts(before.episodes, live), live.revision, live.exact, info.simulated},
        {best->prompt.layout.tokens, promptParts(best->after.episodes, best->prompt), live.revision, live.exact,
         info.simulated});
    publish(QStringLiteral("plan"),
            {{QStringLiteral("session_id"), sessionId},
             {QStringLiteral("plan_id"), record.id},
             {QStringLiteral("revision"), before.record.revision},
             {QStringLiteral("verdict"), plan.value(QStringLiteral("verdict"))},
             {QStringLiteral("tokens_after"), finalSize}});
    if (!apply)
        co_return plan;
    co_return co_await applyRecord(session, record, slotId);
}

QCoro::Task<QStringList> Engine::takeSnapshot(SessionPtr session, const PlanRecord &record, int slotId)
{
    QStringList warnings;
    const BackendInfo info = m_backend->info();
    const QString action =
        record.plan.value(QStringLiteral("boundary")).toObject().value(QStringLiteral("action")).toString();
    const auto policy = policyFor(session.get());
    const EvictionKnobs knobs = policy ? policy->knobs : EvictionKnobs();
    const bool wanted = action == boundaryActionName(BoundaryAction::SnapshotThenEvict) ? knobs.snapshotBeforeRewrite
                                                                                        : knobs.snapshotEvenWhenAligned;
    if (!wanted || !info.capabilities.slotSave)
        co_return warnings;
    const int slot = slotId >= 0 ? slotId : record.internal.value(QStringLiteral("held_slot")).toInt(-1);
    if (slot < 0) {
        warnings.append(QStringLiteral("no snapshot was taken: which slot holds this session is not known"));
        co_return warnings;
    }
    if (const auto free = m_backend->freeSaveBytes(); free && *free < knobs.minFreeDiskBytes) {
        warnings.append(QStringLiteral("no snapshot was taken: %1 bytes are free where saves go, %2 are asked for")
                            .arg(*free)
                            .arg(knobs.minFreeDiskBytes));
        co_return warnings;
    }
    const QString file = QStringLiteral("kerf-%1.bin").arg(record.id);
    const TokenList held = session->open.prompt;
    auto saved = co_await m_backend->saveSlot(slot, file);
    if (!saved) {
        warnings.append(QStringLiteral("no snapshot was taken: %1").arg(saved.error().message));
        co_return warnings;
    }
    if (held.size() <= *saved) {
        Checkpoint checkpoint;
        checkpoint.kind = CheckpointKind::PreRewrite;
        checkpoint.position = static_cast<int>(held.size());
        checkpoint.prefixHash = hashTokens(held, checkpoint.position);
        checkpoint.fileName = file;
        checkpoint.slotId = slot;
        checkpoint.serverIdentity = info.identity;
        checkpoint.createdAt = QDateTime::currentDateTimeUtc();
        checkpoint.sizeBytes = m_backend->saveFileBytes(file).value_or(-1);
        if (auto row = co_await m_store->saveCheckpoint(session->record.id, checkpoint)) {
            checkpoint.recordId = *row;
            session->recorded.append(checkpoint);
        }
        co_await pruneSaves(session, slot);
    } else {
        // Another prompt's: of no use, and nobody would ever delete it.
        const Result<void> removed = m_backend->removeSaveFile(file);
        warnings.append(QStringLiteral("the snapshot holds %1 of %2 tokens and is not kept%3")
                            .arg(groupedNumber(*saved), groupedNumber(static_cast<int>(held.size())),
                                 removed ? QString() : QStringLiteral(" (%1 is still there)").arg(file)));
    }
    co_return warnings;
}

QCoro::Task<Result<QJsonObject>> Engine::applyRecord(SessionPtr session, PlanRecord record, int slotId)
{
    if (record.sessionRevision != session->record.revision) {
        co_return failure(Error::Code::StalePlan,
                          QStringLiteral("plan %1 was made at revision %2, the session is at %3: plan again")
                              .arg(record.id)
                              .arg(record.sessionRevision)
                              .arg(session->record.revision));
    }
    const QString action =
        record.plan.value(QStringLiteral("boundary")).toObject().value(QStringLiteral("action")).toString();
    QJsonArray notes = record.plan.value(QStringLiteral("notes")).toArray();
    const QStringList warnings = co_await takeSnapshot(session, record, slotId);
    for (const QString &warning : warnings)
        notes.append(warning);
    if (action == boundaryActionName(BoundaryAction::RestoreThenEvict)) {
        const int position =
            record.plan.value(QStringLiteral("boundary")).toObject().value(QStringLiteral("aligned_cut")).toInt();
        for (const Checkpoint &checkpoint : std::as_const(session->recorded)) {
            if (checkpoint.position != position || checkpoint.fileName.isEmpty())
                continue;
            auto restored =
                co_await m_backend->restoreSlot(slotId >= 0 ? slotId : checkpoint.slotId, checkpoint.fileName);
            notes.append(
                restored
                    ? QStringLiteral("restored %1 (%2 tokens): proven only by the next request")
                          .arg(checkpoint.fileName)
                          .arg(*restored)
                    : QStringLiteral("restoring %1 failed: %2").arg(checkpoint.fileName, restored.error().message));
            break;
        }
    }
    if (record.sessionRevision != session->record.revision)
        co_return failure(
            Error::Code::StalePlan,
            QStringLiteral("the session moved on while plan %1 was being applied: plan again").arg(record.id));

    QList<TierChange> changes;
    const QJsonArray tiers = record.internal.value(QStringLiteral("tiers")).toArray();
    for (const QJsonValue &row : tiers)
        changes.append({row.toObject().value(QStringLiteral("id")).toInteger(),
                        *tierFromName(row.toObject().value(QStringLiteral("to")).toString())});
    QList<Episode> episodes = session->episodes;
    Session next = *session;
    for (const TierChange &change : std::as_const(changes)) {
        if (Episode *episode = next.byId(change.episodeId))
            episode->tier = change.tier;
    }
    next.anchors = withPlaces(next.anchors, record.internal.value(QStringLiteral("anchors")).toObject());
    next.prompt = promptStateFromJson(record.internal.value(QStringLiteral("prompt")).toObject());
    if (next.prompt.sentSeq != session->prompt.sentSeq) {
        // The prompt was handed out between plan and apply: the marker must not stand in a message that was sent.
        next.prompt.sentSeq = session->prompt.sentSeq;
        for (auto it = next.prompt.notes.begin(); it != next.prompt.notes.end();) {
            if (it.key() <= next.prompt.sentSeq && !it->marker.isEmpty()
                && session->prompt.notes.value(it.key()).marker != it->marker) {
                next.prompt.pendingMarker = it->marker;
                it->marker.clear();
            }
            it = it->isEmpty() ? next.prompt.notes.erase(it) : std::next(it);
        }
        placeNotes(next.episodes, next.anchors, next.prompt);
    }
    const int missed = record.plan.value(QStringLiteral("target_missed")).toInt();
    next.missedAtTokens = missed > 0 ? record.plan.value(QStringLiteral("tokens_after")).toInt() : 0;
    next.lastCompactedSeq = record.internal.value(QStringLiteral("last_seq")).toInt();

    record.status = QStringLiteral("applied");
    record.appliedAt = QDateTime::currentDateTimeUtc();
    record.outcome = QStringLiteral("waiting");
    record.plan.insert(QStringLiteral("applied"), !changes.isEmpty());
    record.plan.insert(QStringLiteral("notes"), notes);
    KERF_TRY(applied, co_await m_store->applyPlan(record, changes, next.stateJson(), next.anchors));

    // Commits that arrived meanwhile stay: only what the plan changed is taken over.
    for (const TierChange &change : std::as_const(changes)) {
        if (Episode *episode = session->byId(change.episodeId))
            episode->tier = change.tier;
    }
    session->anchors = withPlaces(session->anchors, anchorPlaces(next.anchors));
    const int sent = session->prompt.sentSeq;
    session->prompt = next.prompt;
    session->prompt.sentSeq = sent;
    session->missedAtTokens = next.missedAtTokens;
    session->lastCompactedSeq = next.lastCompactedSeq;
    session->record.revision = std::max(session->record.revision, applied.appliedRevision);

    QJsonObject plan = applied.plan;
    plan.insert(QStringLiteral("compaction_id"), applied.number);
    plan.insert(QStringLiteral("applied_revision"), applied.appliedRevision);
    CompactionInfo info;
    info.number = applied.number;
    info.planId = applied.id;
    info.cacheStatus = plan.value(QStringLiteral("cache_status")).toString();
    info.outcome = QStringLiteral("waiting");
    const QJsonObject boundary = plan.value(QStringLiteral("boundary")).toObject();
    info.pairsWithCache = boundary.value(QStringLiteral("pairs_with_cache")).toBool();
    info.simulated = boundary.value(QStringLiteral("simulated")).toBool();
    info.appliedRevision = applied.appliedRevision;
    session->compactions.append(info);
    m_keptPrompts.noteApplied(applied.id, session->record.id, applied.number);
    publish(QStringLiteral("applied"),
            {{QStringLiteral("session_id"), session->record.id},
             {QStringLiteral("plan_id"), applied.id},
             {QStringLiteral("compaction_id"), applied.number},
             {QStringLiteral("revision"), session->record.revision},
             {QStringLiteral("tokens_after"), plan.value(QStringLiteral("tokens_after"))}});
    co_return plan;
}

Engine::Answer Engine::applyPlan(QJsonObject params, CallContext context)
{
    KERF_TRY(planId, params::text(params, QStringLiteral("plan_id"), true));
    if (const auto it = m_relaxed.constFind(planId); it != m_relaxed.cend())
        co_return *it; // there was nothing to do, and there is nothing to apply
    KERF_TRY(record, co_await m_store->plan(planId));
    if (record.status == QLatin1String("applied")) {
        QJsonObject plan = record.plan;
        plan.insert(QStringLiteral("compaction_id"), record.number);
        plan.insert(QStringLiteral("applied_revision"), record.appliedRevision);
        co_return plan; // idempotent
    }
    if (record.status == QLatin1String("undone"))
        co_return failure(Error::Code::StalePlan,
                          QStringLiteral("plan %1 was applied and undone: plan again").arg(planId));
    KERF_TRY(session, co_await openSession(record.sessionId, false));
    Q_UNUSED(context)
    co_return co_await applyRecord(session, record, record.internal.value(QStringLiteral("slot_id")).toInt(-1));
}

Engine::Answer Engine::undo(QJsonObject params, CallContext context)
{
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    KERF_TRY(session, co_await openSession(sessionId, false));
    KERF_TRY(number, params::integer(params, QStringLiteral("compaction_id"), 0, 0, 2147483647));
    if (session->compactions.isEmpty())
        co_return failure(Error::Code::NotFound,
                          QStringLiteral("session \"%1\" has no compaction to undo").arg(sessionId));
    const CompactionInfo last = session->compactions.constLast();
    if (number != 0 && number != last.number)
        co_return failure(
            Error::Code::InvalidParams,
            QStringLiteral("compaction_id: only the last compaction (%1) can be undone").arg(last.number));
    KERF_TRY(record, co_await m_store->plan(last.planId));
    QList<TierChange> changes;
    QList<qint64> ids;
    const QJsonArray tiers = record.internal.value(QStringLiteral("tiers")).toArray();
    for (const QJsonValue &row : tiers) {
        changes.append({row.toObject().value(QStringLiteral("id")).toInteger(),
                        *tierFromName(row.toObject().value(QStringLiteral("from")).toString())});
        ids.append(changes.constLast().episodeId);
    }
    KERF_TRY(stored, co_await m_store->episodesById(ids));
    PromptState prompt = promptStateFromJson(record.internal.value(QStringLiteral("prompt_before")).toObject());
    prompt.sentSeq = session->prompt.sentSeq;
    const QList<Anchor> anchors =
        withPlaces(session->anchors, record.internal.value(QStringLiteral("anchors_before")).toObject());
    Session next = *session;
    next.prompt = prompt;
    next.missedAtTokens = 0;
    KERF_TRY(revision, co_await m_store->undoPlan(record.id, changes, next.stateJson(), anchors));
    for (const Episode &episode : std::as_const(stored)) {
        if (Episode *mine = session->byId(episode.id); mine && !mine->contentLoaded) {
            const int count = mine->tokenCount;
            const bool exact = mine->tokenCountExact;
            *mine = episode;
            mine->tokenCount = count;
            mine->tokenCountExact = exact;
        }
    }
    for (const TierChange &change : std::as_const(changes)) {
        if (Episode *episode = session->byId(change.episodeId))
            episode->tier = change.tier;
    }
    session->anchors = anchors;
    session->prompt = prompt;
    session->missedAtTokens = 0;
    session->compactions.removeLast();
    m_keptPrompts.noteUndone(sessionId, last.number);
    session->record.revision = std::max(session->record.revision, revision);
    QJsonValue prefill(QJsonValue::Null);
    auto live = co_await livePrompt(session);
    if (live) {
        const BackendInfo info = m_backend->info();
        const ServerStates states = m_backend->lastStates();
        const ReusePrediction prediction = predictReuse(states.states, {live->layout.tokens, -1}, info.rule);
        if (prediction.claimable)
            prefill = live->layout.size() - prediction.predicted;
    }
    publish(QStringLiteral("applied"),
            {{QStringLiteral("session_id"), sessionId},
             {QStringLiteral("plan_id"), record.id},
             {QStringLiteral("compaction_id"), last.number},
             {QStringLiteral("undone"), true},
             {QStringLiteral("revision"), session->record.revision}});
    co_return QJsonObject{
        {QStringLiteral("session_id"), sessionId},
        {QStringLiteral("compaction_id"), last.number},
        {QStringLiteral("episodes_restored"), static_cast<qint64>(changes.size())},
        {QStringLiteral("live_tokens"), live ? QJsonValue(live->layout.size()) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("predicted_prefill"), prefill},
        {QStringLiteral("revision"), session->record.revision}};
}

} // namespace kerf
