// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// context.cuts: what every possible cut of the live prompt would cost. It reads; nothing is planned, stored or sent.

#include "core/engine/engine.h"
#include "core/engine/planinput.h"
#include "core/eviction/cutcurve.h"

#include <QCoroFuture>
#include <QtConcurrent>

#include <functional>

namespace kerf {

namespace {

constexpr int kPoolTokens = 16'384; ///< prompts above this are priced on a pool thread, not on the event loop

QCoro::Task<CutReport> offLoop(int tokens, std::function<CutReport()> work)
{
    if (tokens < kPoolTokens)
        co_return work();
    const QFuture<CutReport> future = QtConcurrent::run(work);
    co_return co_await future;
}

/// Everything that planBoundary() looks at but the cut, as context.plan_eviction gives it.
struct BoundaryGround {
    BoundaryInput boundary;
    QList<RecordedCheckpoint> recorded;
    QString identity;
};

CutReport reportOf(const PlanInput &input, const PrefillCost &cost, const BoundaryGround &ground, bool highHolds)
{
    BoundaryInput boundary = ground.boundary;
    const ReusePrediction now =
        predictReuse(input.states, {input.prompt, input.slotId}, input.rule, input.replyEqualTokens);
    if (now.stateIndex >= 0)
        boundary.held = input.states.at(now.stateIndex);
    boundary.lcp = now.lcp;
    boundary.candidates = mergeCandidates(boundary.held.checkpoints, ground.recorded, input.prompt, ground.identity);
    PlanInput asked = input;
    asked.requestedCut = 0;
    boundary.forwardLimit = forwardLimit(asked, frameFor(asked));
    return cutReport(input, cost, &boundary, highHolds);
}

} // namespace

Engine::Answer Engine::cuts(QJsonObject params, CallContext context)
{
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    KERF_TRY(slotId, params::slot(params));
    KERF_TRY(profile, params::text(params, QStringLiteral("profile"), false));
    KERF_TRY(pendingRecall, params::integer(params, QStringLiteral("pending_recall"), 0, 0, 64 * 1024 * 1024));
    KERF_TRY(session, co_await openSession(sessionId, false));
    co_await m_backend->ready();
    KERF_TRY(policy,
             profile.isEmpty() ? policyFor(session.get())
                               : policyNamed(profile, QStringLiteral("asked for in the call")));

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
                QStringLiteral("session \"%1\" keeps changing while its cuts are priced; try again").arg(sessionId));
    }
    const Session before = *session;
    const BackendInfo info = m_backend->info();
    PlanInput input = planInputOf(before, live, budgetOf(before, policy), policy, states, info.rule);
    input.slotId = slotId;
    input.pendingRecall = pendingRecall;
    input.replyEqualTokens = replyEqualTokens(before, live);
    if (auto counted = co_await m_backend->countTokens(longestMarker()))
        input.noteTokens = *counted;

    BoundaryGround ground;
    ground.boundary.reachable = info.capabilities.reachable || info.kind == QLatin1String("none");
    ground.boundary.slotsReadable = states.readable;
    ground.boundary.rule = info.rule;
    ground.boundary.partialStateOnly = info.capabilities.partialStateOnly;
    ground.boundary.ringTrusted = info.rule.ringVisible;
    ground.boundary.toleranceTokens = policy.knobs.snapToleranceTokens;
    ground.boundary.simulated = info.simulated;
    ground.identity = info.identity;
    for (const Checkpoint &checkpoint : before.recorded)
        ground.recorded.append({checkpoint, m_backend->saveFileExists(checkpoint.fileName).value_or(true)});

    // Named: gcc 12 destroys a lambda that is a temporary of a co_await expression twice.
    const std::function<CutReport()> price = [input, cost = info.cost, ground, high = before.replyHighHolds] {
        return reportOf(input, cost, ground, high);
    };
    CutReport report = co_await offLoop(live.layout.size(), price);
    report.sessionId = sessionId;
    report.revision = before.record.revision;
    report.slotId = slotId;
    report.exact = live.exact;
    report.simulated = info.simulated;
    co_return report.toJson();
}

} // namespace kerf
