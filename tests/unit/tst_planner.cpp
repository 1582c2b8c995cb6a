// kerf-test: link=kerf_eviction
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// The cut decision on thousands of random sessions. A session here is its token lists alone: a header of two tokens
// that names the role, the content, one end token: what a chat template does.

#include "core/eviction/planner.h"

#include <QRandomGenerator>
#include <QSet>
#include <QTest>

#include <cmath>

using namespace kerf;

namespace {

struct Turn {
    int seq = 0;
    Role role = Role::User;
    TokenList content;
    bool toolCall = false;
    bool pinned = false;
    Tier tier = Tier::Live;
    int leaderSeq = 0;
};

struct World {
    QList<Turn> turns;
    EvictionKnobs knobs = *shippedKnobs(QStringLiteral("cache-first"));
    int window = 4096;
    ReuseRule rule;
    QList<HeldState> states;
    int nextSeq = 1;
    int nextToken = 1000;

    void add(Role role, int tokens, bool toolCall = false)
    {
        Turn turn;
        turn.seq = nextSeq++;
        turn.role = role;
        turn.toolCall = toolCall;
        for (int i = 0; i < tokens; ++i)
            turn.content.append(nextToken++);
        turn.leaderSeq = turn.seq;
        if (role == Role::Tool) {
            for (auto it = turns.crbegin(); it != turns.crend(); ++it) {
                if (it->role == Role::Assistant) {
                    turn.leaderSeq = it->seq;
                    break;
                }
            }
        }
        turns.append(turn);
    }

    PlanInput input() const
    {
        PlanInput plan;
        plan.prompt.append(1); // BOS
        QList<int> bySeq;
        QHash<int, int> indexOf;
        for (const Turn &turn : turns) {
            if (!isInPrompt(turn.tier))
                continue;
            PlanEpisode row;
            row.episodeIndex = turn.seq - 1;
            row.id = turn.seq;
            row.seq = turn.seq;
            row.role = turn.role;
            row.tier = turn.tier;
            row.pinned = turn.pinned;
            row.range.begin = plan.episodes.isEmpty() ? 0 : static_cast<int>(plan.prompt.size());
            plan.prompt.append(10);
            plan.prompt.append(20 + int(turn.role));
            plan.prompt.append(turn.tier == Tier::Masked ? turn.content.mid(0, 40) : turn.content);
            plan.prompt.append(11);
            row.range.end = static_cast<int>(plan.prompt.size());
            row.maskedTokens = turn.tier == Tier::Live && turn.content.size() > 60 ? 43 : -1;
            indexOf.insert(turn.seq, static_cast<int>(plan.episodes.size()));
            row.leader = indexOf.value(turn.leaderSeq, static_cast<int>(plan.episodes.size()));
            plan.episodes.append(row);
        }
        plan.prompt.append(10);
        plan.prompt.append(20 + int(Role::Assistant));
        plan.budget = budgetFor(knobs, window);
        plan.knobs = knobs;
        plan.rule = rule;
        plan.states = states;
        plan.noteTokens = 30;
        return plan;
    }

    /// The server now holds the prompt as it is.
    void send(int minStep = 256)
    {
        const PlanInput now = input();
        HeldState held;
        if (!states.isEmpty())
            held = states.constFirst();
        const int lcp = commonPrefix(held.tokens, now.prompt);
        held.checkpoints.removeIf([lcp](const Checkpoint &c) { return c.position > lcp; });
        for (const PlanEpisode &row : now.episodes) {
            const int last = held.checkpoints.isEmpty() ? -minStep : held.checkpoints.constLast().position;
            if (row.range.end - last >= minStep && row.range.end > lcp) {
                Checkpoint checkpoint;
                checkpoint.position = row.range.end;
                checkpoint.posMax = row.range.end - 1;
                held.checkpoints.append(checkpoint);
            }
        }
        held.slotId = 0;
        held.tokens = now.prompt;
        held.length = static_cast<int>(now.prompt.size());
        held.checkpointsKnown = rule.memory == MemoryKind::Checkpointed;
        held.verified = true;
        states = {held};
    }

    void apply(const PlanInput &plan, const EvictionChoice &choice)
    {
        for (const TierStep &step : choice.steps)
            turns[plan.episodes.at(step.index).episodeIndex].tier = step.to;
    }
};

ReuseRule ruleOf(int kind)
{
    ReuseRule rule;
    rule.slotCount = 1;
    rule.hostCache = false;
    switch (kind) {
    case 0:
        rule.memory = MemoryKind::FullAttention;
        break;
    case 1:
        rule.memory = MemoryKind::FullAttention;
        rule.chunkReuse = 64;
        rule.chunkReuseKnown = true;
        break;
    case 2:
        rule.memory = MemoryKind::Checkpointed;
        rule.recurrent = true;
        rule.ringVisible = true;
        break;
    default:
        break;
    }
    return rule;
}

World randomWorld(QRandomGenerator &random, int kind, int fill, bool pins = true)
{
    World world;
    world.rule = ruleOf(kind);
    world.add(Role::System, random.bounded(20, 200));
    bool agent = random.bounded(2);
    world.add(Role::User, random.bounded(5, 120));
    while (world.input().prompt.size() < fill) {
        const bool call = agent && random.bounded(3) != 0;
        world.add(Role::Assistant, random.bounded(1, 200), call);
        if (call) {
            const int results = random.bounded(1, 3);
            for (int i = 0; i < results; ++i)
                world.add(Role::Tool, random.bounded(1, 400));
        } else {
            world.send();
            world.add(Role::User, random.bounded(5, 120));
            if (random.bounded(4) == 0)
                agent = !agent;
        }
        if (pins && random.bounded(8) == 0)
            world.turns.last().pinned = true;
    }
    if (world.states.isEmpty())
        world.send();
    return world;
}

/// The roles of what is in the prompt, tool groups as one.
bool rolesAlternate(const PlanInput &plan)
{
    int last = -1;
    for (const PlanEpisode &row : plan.episodes) {
        if (row.role == Role::System || row.role == Role::Tool)
            continue;
        if (last == int(row.role) && row.role == Role::User)
            return false;
        last = int(row.role);
    }
    return true;
}

} // namespace

class TestPlanner : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void relaxedBelowTheTrigger()
    {
        World world;
        world.rule = ruleOf(0);
        world.add(Role::System, 100);
        world.add(Role::User, 100);
        const PlanInput plan = world.input();
        const PlanFrame frame = frameFor(plan);
        QCOMPARE(frame.pressure, Pressure::Relaxed);
        QVERIFY(chooseRuns(plan, frame).isEmpty());
    }

    void pinsOverTheBudgetOverflow()
    {
        World world;
        world.rule = ruleOf(0);
        world.add(Role::System, 100);
        world.add(Role::User, 4000);
        world.turns.last().pinned = true;
        const PlanInput plan = world.input();
        QCOMPARE(frameFor(plan).pressure, Pressure::AnchorOverflow);
        QVERIFY(chooseRuns(plan, frameFor(plan)).isEmpty());
    }

    void randomSessions_data()
    {
        QTest::addColumn<int>("kind");
        QTest::newRow("full attention") << 0;
        QTest::newRow("chunk reuse") << 1;
        QTest::newRow("checkpointed") << 2;
        QTest::newRow("unknown") << 3;
    }
    void randomSessions()
    {
        QFETCH(int, kind);
        QRandomGenerator random(11 + kind);
        int planned = 0;
        int free = 0;
        int met = 0;
        for (int round = 0; round < 1500; ++round) {
            const bool pins = round % 2;
            World world = randomWorld(random, kind, random.bounded(2700, 3500), pins);
            const PlanInput plan = world.input();
            const PlanFrame frame = frameFor(plan);
            QCOMPARE(frame.pressure, Pressure::Compacting);
            const QList<EvictionChoice> choices = chooseRuns(plan, frame);
            // Planning twice gives the same.
            const QList<EvictionChoice> again = chooseRuns(plan, frame);
            QCOMPARE(choices.size(), again.size());
            if (choices.isEmpty())
                continue;
            QCOMPARE(choices.constFirst().steps, again.constFirst().steps);
            const EvictionChoice &choice = choices.constFirst();
            ++planned;
            free += pins ? 0 : 1;
            met += !pins && choice.meetsTarget ? 1 : 0;
            QVERIFY(!choice.steps.isEmpty());
            int lastIndex = -1;
            QSet<int> gone;
            for (const TierStep &step : choice.steps) {
                QVERIFY(step.index > lastIndex);
                lastIndex = step.index;
                const PlanEpisode &row = plan.episodes.at(step.index);
                QVERIFY2(!row.pinned, "a pin was touched");
                QVERIFY2(row.role != Role::System, "the system prompt was touched");
                QVERIFY2(step.index != frame.lastUser, "the last user message was touched");
                QVERIFY2(step.index < frame.recentBegin || step.to == Tier::Masked, "the recent part was evicted");
                QVERIFY2(step.index + 1 < plan.episodes.size(), "the last message was touched");
                QVERIFY2(row.range.begin >= frame.reservePosition || step.to == Tier::Masked,
                         "the reserve was touched");
                if (step.to == Tier::Referenced)
                    gone.insert(step.index);
            }
            // A call and its results share a rung.
            for (int i = 0; i < plan.episodes.size(); ++i)
                QCOMPARE(gone.contains(i), gone.contains(plan.episodes.at(i).leader));
            // The kept head is a token prefix of both prompts.
            const TokenList after = splicedPrompt(plan, choice);
            QVERIFY(commonPrefix(plan.prompt, after) >= choice.cut);
            QCOMPARE(plan.episodes.at(choice.steps.constFirst().index).range.begin, choice.cut);
            // Nothing is claimed that predictReuse does not give.
            QCOMPARE(choice.prediction, predictReuse(plan.states, {after, -1}, plan.rule));
            world.apply(plan, choice);
            QVERIFY(rolesAlternate(world.input()));
            const bool masks = std::any_of(choice.steps.cbegin(), choice.steps.cend(),
                                           [](const TierStep &step) { return step.to == Tier::Masked; });
            if (kind == 1 && !masks) {
                // With chunk reuse: new tokens, plus N, plus the seams.
                const int unsent = static_cast<int>(plan.prompt.size()) - world.states.constFirst().length;
                QVERIFY2(after.size() - choice.prediction.predicted <= std::max(0, unsent) + 64 + 8 + plan.noteTokens,
                         qPrintable(QStringLiteral("%1 prefilled, %2 unsent")
                                        .arg(after.size() - choice.prediction.predicted)
                                        .arg(unsent)));
            }
        }
        QVERIFY2(planned > 1300, qPrintable(QString::number(planned)));
        // Without pins the target is met, but for sessions that are one huge exchange.
        QVERIFY2(met * 100 >= free * 95, qPrintable(QStringLiteral("%1 of %2 met the target").arg(met).arg(free)));
    }

    void endlessSession_data() { randomSessions_data(); }
    void endlessSession()
    {
        QFETCH(int, kind);
        QRandomGenerator random(5 + kind);
        World world = randomWorld(random, kind, 1500);
        for (Turn &turn : world.turns)
            turn.pinned = false;
        int compactions = 0;
        while (compactions < 1000) {
            world.send();
            world.add(Role::Assistant, random.bounded(5, 120));
            world.add(Role::User, random.bounded(5, 120));
            const PlanInput plan = world.input();
            const PlanFrame frame = frameFor(plan);
            if (frame.pressure != Pressure::Compacting)
                continue;
            const QList<EvictionChoice> choices = chooseRuns(plan, frame);
            QVERIFY(!choices.isEmpty());
            world.apply(plan, choices.constFirst());
            ++compactions;
            QVERIFY2(world.input().prompt.size() <= plan.budget.triggerAt,
                     "a compaction did not end below its trigger");
            if (kind == 2 && compactions > 5)
                QVERIFY2(choices.constFirst().prediction.predicted > 0,
                         "checkpointed memory: no checkpoint below the cut");
        }
    }

    void aLateRunWinsInALargeWindow()
    {
        // SPEC 7.2: with weight 3 the oldest go first up to windows of about 60,000; beyond that the run lies late.
        for (const auto &[window, late] : {std::pair{32'768, false}, std::pair{131'072, true}}) {
            World world;
            world.window = window;
            world.rule = ruleOf(0);
            world.add(Role::System, 300);
            const int trigger = budgetFor(world.knobs, window).triggerAt;
            int tokens = 300;
            while (tokens < trigger) {
                world.add(Role::User, 100);
                world.add(Role::Assistant, 100);
                tokens += 206;
            }
            world.send();
            world.add(Role::User, 100);
            const PlanInput plan = world.input();
            const PlanFrame frame = frameFor(plan);
            const QList<EvictionChoice> choices = chooseRuns(plan, frame);
            QVERIFY(!choices.isEmpty());
            const int middle = (frame.reservePosition + frame.recentPosition) / 2;
            QCOMPARE(choices.constFirst().cut > middle, late);
            // Infinity is oldest-first in every window; with chunk reuse so is any weight.
            for (const bool chunks : {false, true}) {
                World other = world;
                if (chunks)
                    other.rule = ruleOf(1);
                else
                    other.knobs.recencyWeight = INFINITY;
                const PlanInput oldest = other.input();
                const PlanFrame f = frameFor(oldest);
                const QList<EvictionChoice> first = chooseRuns(oldest, f);
                QVERIFY(!first.isEmpty());
                QCOMPARE(first.constFirst().cut, f.reservePosition);
            }
        }
    }

    void checkpointedCutsLandJustAboveACheckpoint()
    {
        World world;
        world.rule = ruleOf(2);
        world.add(Role::System, 100);
        for (int i = 0; i < 14; ++i) {
            world.add(Role::User, 95);
            world.send();
            world.add(Role::Assistant, 95);
        }
        world.add(Role::User, 50);
        const PlanInput plan = world.input();
        const PlanFrame frame = frameFor(plan);
        QCOMPARE(frame.pressure, Pressure::Compacting);
        const EvictionChoice choice = chooseRuns(plan, frame).constFirst();
        QVERIFY(choice.prediction.checkpointPosition > 0);
        QVERIFY(choice.cut - choice.prediction.checkpointPosition < 200); // within one exchange
        QCOMPARE(choice.prediction.predicted, choice.prediction.checkpointPosition);
    }

    void anOversizedToolResultIsMasked()
    {
        World world;
        world.rule = ruleOf(0);
        world.add(Role::System, 100);
        world.add(Role::User, 60);
        world.add(Role::Assistant, 20, true);
        world.add(Role::Tool, 2457); // 60 % of the window
        world.send();
        world.add(Role::Assistant, 40);
        world.add(Role::User, 30);
        const PlanInput plan = world.input();
        const PlanFrame frame = frameFor(plan);
        if (frame.pressure == Pressure::Relaxed)
            QVERIFY(plan.prompt.size() <= plan.budget.triggerAt);
        World more = world;
        more.add(Role::Assistant, 60);
        more.add(Role::User, 60);
        const PlanInput over = more.input();
        const PlanFrame overFrame = frameFor(over);
        QCOMPARE(overFrame.pressure, Pressure::Compacting);
        const QList<EvictionChoice> choices = chooseRuns(over, overFrame);
        QVERIFY(!choices.isEmpty());
        QVERIFY(choices.constFirst().meetsTarget);
    }

    void aRequestedCutFallsOnItsLegalNeighbour()
    {
        QRandomGenerator random(3);
        for (int round = 0; round < 300; ++round) {
            World world = randomWorld(random, 0, 2400);
            PlanInput plan = world.input();
            plan.requestedCut = random.bounded(0, static_cast<int>(plan.prompt.size()));
            const PlanFrame frame = frameFor(plan);
            if (frame.pressure == Pressure::AnchorOverflow)
                continue;
            QCOMPARE(frame.pressure, Pressure::Compacting);
            for (const EvictionChoice &choice : chooseRuns(plan, frame)) {
                // No other legal cut lies between what was asked for and what was taken.
                const int index = choice.steps.constFirst().index;
                QVERIFY(plan.episodes.at(index).leader == index || choice.steps.constFirst().to == Tier::Masked);
            }
        }
    }

    void alternativesAreTheLegalCuts()
    {
        QRandomGenerator random(9);
        World world = randomWorld(random, 0, 3000);
        const PlanInput plan = world.input();
        const PlanFrame frame = frameFor(plan);
        int total = 0;
        PrefillCost cost;
        const QList<CutAlternative> all = cutAlternatives(plan, frame, cost, 1000, &total);
        QVERIFY(!all.isEmpty());
        QVERIFY(all.size() <= total);
        for (const CutAlternative &row : all) {
            QVERIFY(row.predictedMs < 0); // no cost known, no time
            QCOMPARE(row.tokensAfter - row.predictedPrefill, row.prediction.predicted);
            QCOMPARE(row.retainedTokens, row.cut);
        }
        QVERIFY(cutAlternatives(plan, frame, cost, 3, &total).size() <= 3);
    }
};

QTEST_GUILESS_MAIN(TestPlanner)
#include "tst_planner.moc"
