// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// predictReuse() on prompts of 100,000 tokens, for each reuse rule: four slots and eight host cache entries are
// held, the request is the longest of them with its middle taken out.

#include "core/cache/reuse.h"
#include "tests/bench/bench.h"

#include <QRandomGenerator>

using namespace kerf;

namespace {

TokenList randomTokens(QRandomGenerator &random, int count)
{
    TokenList tokens(count);
    for (TokenId &token : tokens)
        token = TokenId(random.bounded(32000));
    return tokens;
}

} // namespace

int main()
{
    constexpr int kTokens = 100000;
    QRandomGenerator random(7);
    const TokenList longest = randomTokens(random, kTokens);

    QList<HeldState> states;
    for (int i = 0; i < 12; ++i) {
        HeldState state;
        state.place = i < 4 ? HeldState::Place::Slot : HeldState::Place::HostCache;
        state.slotId = i < 4 ? i : -1;
        // The others share a head of growing length with the request, as conversations with one system prompt do.
        state.tokens = i == 0 ? longest : longest.first(i * 4000) + randomTokens(random, kTokens - i * 4000);
        state.length = kTokens;
        state.verified = true;
        state.lastUsed = 100 - i;
        state.checkpointsKnown = true;
        for (int position = 3000; position < kTokens; position += 3000) {
            Checkpoint checkpoint;
            checkpoint.position = position;
            checkpoint.posMin = position - 512;
            checkpoint.posMax = position - 1;
            state.checkpoints.append(checkpoint);
        }
        states.append(state);
    }
    ReuseRequest request;
    request.tokens = longest.first(60000) + longest.sliced(75000) + randomTokens(random, 200);

    const auto run = [&](const QString &name, const ReuseRule &rule) {
        const ReusePrediction once = predictReuse(states, request, rule);
        const double ms = bench::medianMs(21, [&] { bench::keep(predictReuse(states, request, rule)); });
        bench::report(
            QStringLiteral("predictReuse, 100,000 tokens, 12 states: %1 (%2 reused)").arg(name).arg(once.predicted), ms,
            QStringLiteral("ms"));
        return ms;
    };

    // The bare work below any prediction: one comparison of the request with every held list.
    const double bare = bench::medianMs(21, [&] {
        int sum = 0;
        for (const HeldState &state : states)
            sum += commonPrefix(state.tokens, request.tokens);
        bench::keep(sum);
    });
    bench::report(QStringLiteral("common prefix with the same 12 lists, bare"), bare, QStringLiteral("ms"));

    ReuseRule rule;
    rule.slotCount = 4;
    rule.memory = MemoryKind::FullAttention;
    run(QStringLiteral("full attention"), rule);
    rule.chunkReuse = 64;
    rule.chunkReuseKnown = true;
    run(QStringLiteral("--cache-reuse 64"), rule);
    rule = ReuseRule();
    rule.slotCount = 4;
    rule.memory = MemoryKind::Checkpointed;
    rule.slidingWindow = 512;
    rule.ringVisible = true;
    run(QStringLiteral("sliding window"), rule);
    rule.slidingWindow = 0;
    rule.recurrent = true;
    run(QStringLiteral("recurrent"), rule);
    return 0;
}
