// kerf-test: link=kerf_eviction
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// The what-if curve against predictReuse() itself, at every position of random sessions of every kind of rule.

#include "core/eviction/cutcurve.h"

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QRandomGenerator>
#include <QTest>

using namespace kerf;

namespace {

enum Kind { Full, Chunks, Recurrent, Windowed, Unestablished, Unknown, Hidden, RecurrentChunks };

ReuseRule ruleOf(int kind)
{
    ReuseRule rule;
    rule.slotCount = 1;
    rule.hostCache = false;
    rule.memory = MemoryKind::Checkpointed;
    rule.ringVisible = true;
    switch (kind) {
    case Full:
        rule.memory = MemoryKind::FullAttention;
        break;
    case Chunks:
        rule.memory = MemoryKind::FullAttention;
        rule.chunkReuse = 24;
        rule.chunkReuseKnown = true;
        break;
    case Recurrent:
        rule.recurrent = true;
        break;
    case RecurrentChunks:
        rule.recurrent = true;
        rule.chunkReuse = 24;
        break;
    case Windowed:
        rule.slidingWindow = 160;
        break;
    case Unknown:
        rule.memory = MemoryKind::Unknown;
        rule.ringVisible = false;
        break;
    case Hidden:
        rule.recurrent = true;
        rule.ringVisible = false;
        break;
    default:
        break;
    }
    return rule;
}

/// A session as its token lists: a header of two tokens that names the role, the content, one end token.
/// `alphabet` > 0: contents of few different ids, so that texts are equal by accident.
PlanInput session(QRandomGenerator &random, int fill, int alphabet, bool pins)
{
    PlanInput plan;
    plan.prompt.append(1);
    int next = 100;
    const auto add = [&](Role role, int tokens, int leader) {
        PlanEpisode row;
        const int index = static_cast<int>(plan.episodes.size());
        row.episodeIndex = index;
        row.id = row.seq = index + 1;
        row.role = role;
        row.leader = leader < 0 ? index : leader;
        row.edgeLegal = random.bounded(20) != 0;
        row.pinned = pins && role != Role::System && random.bounded(8) == 0;
        row.range.begin = index == 0 ? 0 : static_cast<int>(plan.prompt.size());
        plan.prompt.append(10);
        plan.prompt.append(20 + int(role));
        for (int i = 0; i < tokens; ++i)
            plan.prompt.append(alphabet > 0 ? 10 + random.bounded(alphabet) : next++);
        plan.prompt.append(11);
        row.range.end = static_cast<int>(plan.prompt.size());
        row.maskedTokens = tokens > 60 ? 43 : -1;
        plan.episodes.append(row);
        return index;
    };
    add(Role::System, random.bounded(10, 60), -1);
    add(Role::User, random.bounded(5, 40), -1);
    while (plan.prompt.size() < fill) {
        const int call = add(Role::Assistant, random.bounded(1, 60), -1);
        if (random.bounded(3) == 0) {
            for (int i = random.bounded(1, 3); i > 0; --i)
                add(Role::Tool, random.bounded(1, 90), call);
        } else {
            add(Role::User, random.bounded(5, 60), -1);
        }
    }
    plan.prompt.append(10);
    plan.prompt.append(20 + int(Role::Assistant));
    plan.knobs = *shippedKnobs(QStringLiteral("cache-first"));
    plan.budget = budgetFor(plan.knobs, fill + 200);
    plan.budget.keepRecent = random.bounded(60, 200);
    plan.noteTokens = random.bounded(2) ? 30 : 0;
    return plan;
}

HeldState held(QRandomGenerator &random, const PlanInput &plan, int kind, bool generated)
{
    HeldState state;
    state.slotId = 0;
    state.verified = true;
    // What is new since the last request is not held yet.
    const int size = static_cast<int>(plan.prompt.size());
    const int sent = random.bounded(2) ? size : random.bounded(size / 2, size);
    state.tokens = plan.prompt.mid(0, sent);
    state.length = sent + (generated ? random.bounded(0, 30) : 0);
    state.checkpointsKnown = plan.rule.memory == MemoryKind::Checkpointed && kind != Hidden;
    if (state.checkpointsKnown) {
        for (int at = random.bounded(10, 150); at < sent; at += random.bounded(60, 200)) {
            Checkpoint checkpoint;
            checkpoint.position = at;
            checkpoint.posMax = at - 1;
            checkpoint.posMin = kind == Windowed || (kind == Unestablished && random.bounded(2)) ? std::max(0, at - 160)
                                                                                                 : checkpoint.posMax;
            state.checkpoints.append(checkpoint);
        }
    }
    return state;
}

/// Several slots and saved prompts: shorter, longer and other ones.
void crowd(QRandomGenerator &random, PlanInput &plan, int kind)
{
    plan.rule.hostCache = random.bounded(4) != 0;
    plan.rule.slotCount = random.bounded(1, 4);
    const int more = random.bounded(1, 4);
    for (int i = 0; i < more; ++i) {
        HeldState other = held(random, plan, kind, random.bounded(2));
        if (random.bounded(2)) {
            const int keep = random.bounded(0, static_cast<int>(other.tokens.size()));
            other.tokens = other.tokens.mid(0, keep);
            for (int k = random.bounded(0, 300); k > 0; --k)
                other.tokens.append(90'000 + random.bounded(1000));
            other.length = static_cast<int>(other.tokens.size());
            other.checkpoints.removeIf([keep](const Checkpoint &c) { return c.position > keep; });
        } else if (random.bounded(4) == 0) {
            other.tokens.clear(); // another client's
        }
        other.lastUsed = random.bounded(100);
        if (i + 1 < plan.rule.slotCount && random.bounded(2)) {
            other.slotId = i + 1;
            other.busy = random.bounded(8) == 0;
            plan.states.append(other);
        } else {
            other.place = HeldState::Place::HostCache;
            other.slotId = -1;
            other.sizeBytes = random.bounded(3) ? 1'000'000 : -1;
            plan.states.append(other);
        }
    }
    if (random.bounded(4) == 0)
        plan.slotId = random.bounded(plan.rule.slotCount);
    if (random.bounded(3) == 0)
        plan.replyEqualTokens = random.bounded(0, 20);
}

TokenList without(const TokenList &prompt, const QList<TokenRange> &removed)
{
    TokenList kept;
    int from = 0;
    for (const TokenRange &range : removed) {
        kept.append(prompt.mid(from, range.begin - from));
        from = range.end;
    }
    kept.append(prompt.mid(from));
    return kept;
}

} // namespace

class TestCutCurve : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void equalsPredictReuseEverywhere_data()
    {
        QTest::addColumn<int>("kind");
        QTest::newRow("full attention") << int(Full);
        QTest::newRow("chunk reuse") << int(Chunks);
        QTest::newRow("recurrent") << int(Recurrent);
        QTest::newRow("recurrent with chunk reuse") << int(RecurrentChunks);
        QTest::newRow("sliding window") << int(Windowed);
        QTest::newRow("checkpointed, kind not established") << int(Unestablished);
        QTest::newRow("unknown memory") << int(Unknown);
        QTest::newRow("ring not visible") << int(Hidden);
    }
    void equalsPredictReuseEverywhere()
    {
        QFETCH(int, kind);
        QRandomGenerator random(77 + kind);
        qint64 checked = 0;
        qint64 pieces = 0;
        qint64 legal = 0;
        qint64 ranges = 0;
        for (int round = 0; round < 60; ++round) {
            const int alphabet = round % 3 == 2 ? random.bounded(2, 12) : 0;
            PlanInput plan = session(random, random.bounded(500, 1100), alphabet, round % 2);
            plan.rule = ruleOf(kind);
            plan.states = {held(random, plan, kind, round % 4 == 1)};
            if (round % 3 == 1)
                crowd(random, plan, kind);
            const CutReport report = cutReport(plan, {});
            QVERIFY(!report.sampled);
            QCOMPARE(report.legal.size(), report.legalTotal);
            legal += report.legal.size();
            pieces += report.curve.size();
            int lastEnd = 0;
            for (const CutPiece &piece : report.curve) {
                QVERIFY(piece.begin >= lastEnd);
                QVERIFY(piece.end > piece.begin);
                lastEnd = piece.end;
            }
            LegalRuns runs;
            runs.segments = report.segments;
            for (int p = 0; p <= plan.prompt.size(); ++p) {
                // The definition, spelled out.
                int index = report.legalBelow(p);
                int at = p;
                if (index < 0) {
                    QVERIFY(!report.at(p));
                    continue;
                }
                if (p >= report.legal.at(index).run.own.end) {
                    ++index;
                    if (index >= report.legal.size()) {
                        QVERIFY(!report.at(p));
                        continue;
                    }
                    at = report.legal.at(index).cut;
                }
                const auto value = report.at(p);
                QVERIFY(value);
                const LegalRun &run = report.legal.at(index).run;
                const TokenList after = without(plan.prompt, removedRanges(runs, run, at));
                const ReusePrediction expected =
                    predictReuse(plan.states, {after, plan.slotId}, plan.rule, plan.replyEqualTokens);
                const QByteArray where = QStringLiteral("round %1, position %2 (%3): %4..%5, expected %6..%7")
                                             .arg(round)
                                             .arg(p)
                                             .arg(expected.reason)
                                             .arg(value->low)
                                             .arg(value->high)
                                             .arg(expected.low)
                                             .arg(expected.high)
                                             .toUtf8();
                QVERIFY2(value->low == expected.low && value->high == expected.high, where.constData());
                QVERIFY2(value->tokensAfter == after.size() + plan.noteTokens, where.constData());
                QVERIFY2(value->checkpoint == expected.checkpointPosition, where.constData());
                QVERIFY2(value->claimable == expected.claimable, where.constData());
                QCOMPARE(value->legal, index);
                ranges += expected.high > expected.low ? 1 : 0;
                ++checked;
            }
        }
        QVERIFY2(checked > 10'000, qPrintable(QString::number(checked)));
        QVERIFY(legal > 200);
        qInfo("%lld positions in %lld pieces, %lld legal cuts, %lld ranges", checked, pieces, legal, ranges);
        if (kind == Unknown || kind == Hidden)
            QVERIFY(ranges > 1000);
    }

    void legalCutsAreWhatThePlannerTakes()
    {
        for (int kind = Full; kind <= RecurrentChunks; ++kind) {
            QRandomGenerator random(5 + kind);
            int compared = 0;
            for (int round = 0; round < 12; ++round) {
                PlanInput plan = session(random, random.bounded(700, 1400), 0, round % 2);
                plan.rule = ruleOf(kind);
                plan.states = {held(random, plan, kind, false)};
                const CutReport report = cutReport(plan, {});
                for (const LegalCut &row : report.legal) {
                    PlanInput asked = plan;
                    asked.requestedCut = row.cut;
                    const PlanFrame frame = frameFor(asked);
                    const QList<EvictionChoice> choices = chooseRuns(asked, frame);
                    QVERIFY(!choices.isEmpty());
                    QCOMPARE(choices.constFirst().cut, row.cut);
                    QCOMPARE(choices.constFirst().tokensAfter, row.tokensAfter);
                    QCOMPARE(choices.constFirst().removedTokens, row.reclaimedTokens);
                    QCOMPARE(choices.constFirst().meetsTarget, row.meetsTarget);
                    QCOMPARE(choices.constFirst().prediction.low, row.value.low);
                    QCOMPARE(choices.constFirst().prediction.high, row.value.high);
                    int removed = 0;
                    for (const TokenRange &range : report.evicted(row.cut))
                        removed += range.size();
                    QCOMPARE(removed, row.reclaimedTokens);
                    ++compared;
                }
            }
            QVERIFY(compared > 50);
        }
    }

    void aSawtoothOnCheckpointsFlatOverPins()
    {
        QRandomGenerator random(3);
        PlanInput plan;
        plan.knobs = *shippedKnobs(QStringLiteral("cache-first"));
        plan.rule = ruleOf(Recurrent);
        plan.prompt.append(1);
        for (int i = 0; i < 21; ++i) {
            PlanEpisode row;
            row.episodeIndex = row.leader = i;
            row.seq = i + 1;
            row.role = i == 0 ? Role::System : i % 2 ? Role::User : Role::Assistant;
            row.range.begin = i == 0 ? 0 : 100 * i;
            while (plan.prompt.size() < 100 * (i + 1))
                plan.prompt.append(1000 + static_cast<int>(plan.prompt.size()));
            row.range.end = 100 * (i + 1);
            row.pinned = i == 9 || i == 10;
            plan.episodes.append(row);
        }
        plan.budget = budgetFor(plan.knobs, 2400);
        plan.budget.target = 200; // cannot be met: the run takes all that may go
        plan.budget.keepRecent = 400;
        HeldState state;
        state.slotId = 0;
        state.tokens = plan.prompt;
        state.length = static_cast<int>(plan.prompt.size());
        state.checkpointsKnown = true;
        for (const int at : {350, 750, 1250}) {
            Checkpoint checkpoint;
            checkpoint.position = at;
            checkpoint.posMin = checkpoint.posMax = at - 1;
            state.checkpoints.append(checkpoint);
        }
        plan.states = {state};
        PrefillCost cost;
        cost.msPerToken = 0.1;
        cost.samples = 3;
        const CutReport report = cutReport(plan, cost);
        QVERIFY(report.legal.size() > 5);
        const auto prefill = [&](int at) {
            const auto value = report.at(at);
            return value ? report.prefill(*value) : -1;
        };
        // It climbs by one a token between checkpoints, and falls at each.
        QCOMPARE(prefill(640), prefill(620) + 20);
        QVERIFY(prefill(750) < prefill(749));
        QCOMPARE(report.at(750)->checkpoint, 750);
        QCOMPARE(report.at(749)->checkpoint, 350);
        const auto cliffs = report.cliffs();
        QVERIFY(cliffs.contains(std::pair(749, 750)));
        // Over the pins 900..1100 it is flat, at the value of the next legal cut.
        QCOMPARE(prefill(900), prefill(1100));
        QCOMPARE(prefill(1000), prefill(1100));
        QVERIFY(prefill(1150) > prefill(1100));
        // Of a position inside an episode the neighbours are offered.
        const int below = report.legalBelow(1150);
        const int above = report.legalAbove(1150);
        QVERIFY(below >= 0 && above == below + 1);
        QCOMPARE(report.legal.at(below).cut, 1100);
        QCOMPARE(report.legal.at(above).cut, 1200);
        QCOMPARE(report.legalAt(1150), -1);
        QCOMPARE(report.legalAt(1200), above);
        QCOMPARE(*report.ms(*report.at(640)), 0.1 * prefill(640));
        // In front of the head there is no cut, and none in the recent part.
        QVERIFY(!report.at(50));
        QVERIFY(!report.at(report.recentBegin));
    }

    void noCostNoTime()
    {
        QRandomGenerator random(4);
        PlanInput plan = session(random, 900, 0, false);
        plan.rule = ruleOf(Full);
        plan.states = {held(random, plan, Full, false)};
        const CutReport report = cutReport(plan, {});
        QVERIFY(!report.legal.isEmpty());
        QVERIFY(!report.ms(report.legal.constFirst().value));
        QVERIFY(report.legal.constFirst().predictedMs < 0);
        QVERIFY(report.toJson().value(QStringLiteral("cost")).isNull());
    }

    void survivesTheWire()
    {
        for (int kind = Full; kind <= RecurrentChunks; ++kind) {
            QRandomGenerator random(40 + kind);
            PlanInput plan = session(random, 1000, 0, true);
            plan.rule = ruleOf(kind);
            plan.states = {held(random, plan, kind, true)};
            PrefillCost cost;
            cost.msPerToken = 0.25;
            cost.msPerTokenPerPosition = 0.0001;
            cost.msPerRequest = 3;
            cost.samples = 9;
            BoundaryInput boundary;
            boundary.rule = plan.rule;
            boundary.held = plan.states.constFirst();
            boundary.lcp = boundary.held.knownLength();
            boundary.candidates = boundary.held.checkpoints;
            boundary.ringTrusted = true;
            CutReport report = cutReport(plan, cost, &boundary);
            report.sessionId = QStringLiteral("s");
            report.revision = 12;
            QVERIFY(!report.legal.isEmpty());
            QVERIFY(!report.legal.constFirst().verdict.isEmpty());
            const QByteArray bytes = QJsonDocument(report.toJson()).toJson();
            CutReport back = CutReport::fromJson(QJsonDocument::fromJson(bytes).object());
            // What the planner alone needs does not travel.
            for (qsizetype i = 0; i < report.legal.size(); ++i) {
                report.legal[i].run.index = back.legal[i].run.index = 0;
                report.legal[i].run.recencyLost = 0;
            }
            QCOMPARE(back.curve, report.curve);
            QCOMPARE(back.legal, report.legal);
            QVERIFY(back == report);
            for (int p = 0; p < plan.prompt.size(); p += 7)
                QCOMPARE(back.evicted(p), report.evicted(p));
        }
    }

    void chunkSearchIsSampledBeyondItsBudget()
    {
        QRandomGenerator random(6);
        PlanInput plan = session(random, 4000, 0, false);
        plan.rule = ruleOf(Chunks);
        plan.states = {held(random, plan, Chunks, false)};
        const CutReport all = cutReport(plan, {});
        QVERIFY(!all.sampled && all.legal.size() > 20);
        const CutReport some = cutReport(plan, {}, nullptr, false, 16 * 5 * 4000);
        QVERIFY(some.sampled);
        QVERIFY(some.legal.size() < all.legal.size());
        QCOMPARE(some.legalTotal, all.legalTotal);
        // What is in it is the same.
        for (const LegalCut &row : some.legal) {
            const int at = all.legalAt(row.cut);
            QVERIFY(at >= 0);
            QCOMPARE(row.tokensAfter, all.legal.at(at).tokensAfter);
            QCOMPARE(row.value.low, all.legal.at(at).value.low);
        }
    }

    void growsWithTheSessionNoFaster()
    {
        const auto seconds = [](int episodes) {
            PlanInput plan;
            plan.knobs = *shippedKnobs(QStringLiteral("cache-first"));
            plan.rule = ruleOf(Recurrent);
            plan.prompt.append(1);
            for (int i = 0; i < episodes; ++i) {
                PlanEpisode row;
                row.episodeIndex = row.leader = i;
                row.seq = i + 1;
                row.role = i == 0 ? Role::System : i % 2 ? Role::User : Role::Assistant;
                row.range.begin = i == 0 ? 0 : static_cast<int>(plan.prompt.size());
                plan.prompt.append(10);
                plan.prompt.append(20 + int(row.role));
                for (int k = 0; k < 17; ++k)
                    plan.prompt.append(1000 + static_cast<int>(plan.prompt.size()));
                plan.prompt.append(11);
                row.range.end = static_cast<int>(plan.prompt.size());
                row.pinned = i % 9 == 5;
                plan.episodes.append(row);
            }
            plan.budget = budgetFor(plan.knobs, static_cast<int>(plan.prompt.size()) + 1000);
            HeldState state;
            state.slotId = 0;
            state.tokens = plan.prompt;
            state.length = static_cast<int>(plan.prompt.size());
            state.checkpointsKnown = true;
            for (int k = 1; k <= 32; ++k) {
                Checkpoint checkpoint;
                checkpoint.position = state.length / 33 * k;
                checkpoint.posMin = checkpoint.posMax = checkpoint.position - 1;
                state.checkpoints.append(checkpoint);
            }
            plan.states = {state};
            QElapsedTimer clock;
            double best = 1e9;
            for (int k = 0; k < 3; ++k) {
                clock.start();
                const CutReport report = cutReport(plan, {});
                best = std::min(best, static_cast<double>(clock.nsecsElapsed()) / 1e9);
                if (report.legal.size() < episodes / 3)
                    return -1.0;
            }
            return best;
        };
        const double small = seconds(10'000);
        const double large = seconds(100'000);
        QVERIFY(small > 0 && large > 0);
        qInfo("10,000 episodes %.3f s, 100,000 episodes %.3f s", small, large);
        QVERIFY2(large < 25 * small, qPrintable(QStringLiteral("%1 s against %2 s").arg(large).arg(small)));
    }
};

QTEST_GUILESS_MAIN(TestCutCurve)
#include "tst_cutcurve.moc"
