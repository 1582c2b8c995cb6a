// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// The cut decision on live prompts of 1,000, 10,000 and 100,000 episodes: what may go, which runs are cheapest,
// and the table of legal cuts, as for one context.plan_eviction. The window grows with the session.

#include "core/eviction/planner.h"
#include "tests/bench/bench.h"

#include <QRandomGenerator>

#include <iterator>

using namespace kerf;

namespace {

/// An agent's session: user, then rounds of assistant call and tool result.
PlanInput sessionOf(int count, bool checkpointed)
{
    QRandomGenerator random(11);
    PlanInput input;
    int position = 40;
    int leader = -1;
    for (int i = 0; i < count; ++i) {
        PlanEpisode episode;
        episode.episodeIndex = i;
        episode.id = i + 1;
        episode.seq = i + 1;
        const int phase = i % 9;
        episode.role = i == 0 ? Role::System : phase == 1 ? Role::User : phase % 2 == 0 ? Role::Assistant : Role::Tool;
        const int tokens = episode.role == Role::Tool ? 20 + int(random.bounded(60)) : 8 + int(random.bounded(24));
        episode.range = {position, position + tokens};
        position += tokens;
        leader = episode.role == Role::Tool ? leader : i;
        episode.leader = leader;
        episode.maskedTokens = tokens > 40 ? 30 : -1;
        input.episodes.append(episode);
    }
    input.prompt.resize(position + 6);
    for (TokenId &token : input.prompt)
        token = TokenId(random.bounded(32000));
    input.fixedTokens = 40;
    input.budget = budgetFor(input.knobs, int(double(position) / 0.8));
    input.noteTokens = 24;

    HeldState held;
    held.slotId = 0;
    held.tokens = input.prompt.first(position - 30);
    held.length = position - 30;
    held.verified = true;
    held.checkpointsKnown = true;
    for (int i = 1; i <= 32 && checkpointed; ++i) {
        Checkpoint checkpoint;
        checkpoint.position = int(qint64(held.length) * i / 33);
        checkpoint.posMin = checkpoint.position - 512;
        checkpoint.posMax = checkpoint.position - 1;
        held.checkpoints.append(checkpoint);
    }
    input.states.append(held);
    input.rule.memory = checkpointed ? MemoryKind::Checkpointed : MemoryKind::FullAttention;
    input.rule.slidingWindow = checkpointed ? 512 : 0;
    input.rule.ringVisible = checkpointed;
    input.rule.slotCount = 1;
    return input;
}

} // namespace

int main()
{
    PrefillCost cost;
    cost.msPerToken = 0.1;
    cost.msPerTokenPerPosition = 1e-6;
    cost.samples = 1;
    for (const bool checkpointed : {false, true}) {
        const QString memory = checkpointed ? QStringLiteral("checkpointed") : QStringLiteral("full attention");
        double last = 0;
        double ratio = 0;
        for (const int count : {1000, 10000, 100000}) {
            const PlanInput input = sessionOf(count, checkpointed);
            qsizetype choices = 0;
            const double ms = bench::medianMs(count > 10000 ? 5 : 15, [&] {
                const PlanFrame frame = frameFor(input);
                const QList<EvictionChoice> best = chooseRuns(input, frame);
                int total = 0;
                bench::keep(cutAlternatives(input, frame, cost, 200, &total));
                choices = best.size();
            });
            if (choices == 0) {
                std::fprintf(stderr, "bench_planner: nothing was planned for %d episodes\n", count);
                return 1;
            }
            bench::report(
                QStringLiteral("planning, %1 episodes (%2 tokens), %3").arg(count).arg(input.prompt.size()).arg(memory),
                ms, QStringLiteral("ms"));
            ratio = last > 0 ? ms / last : 0;
            last = ms;
        }
        bench::reportRatio(QStringLiteral("planning 100,000 against 10,000 episodes, %1").arg(memory), ratio, 12, true);
    }
    return 0;
}
