// kerf-test: link=kerf_cache
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/cache/boundary.h"

#include <QJsonDocument>
#include <QRandomGenerator>
#include <QTest>

using namespace kerf;

namespace {

Checkpoint ring(int position, int posMin = 0)
{
    Checkpoint checkpoint;
    checkpoint.position = position;
    checkpoint.posMin = posMin;
    checkpoint.posMax = position - 1;
    return checkpoint;
}

Checkpoint durable(int position, CheckpointKind kind)
{
    Checkpoint checkpoint = ring(position);
    checkpoint.kind = kind;
    checkpoint.fileName = QStringLiteral("save.bin");
    return checkpoint;
}

/// Checkpointed memory, ring visible, a conversation of 3,216 tokens held and equal to the prompt.
BoundaryInput checkpointed(int cut)
{
    BoundaryInput input;
    input.requestedCut = cut;
    input.rule.memory = MemoryKind::Checkpointed;
    input.rule.recurrent = true;
    input.rule.ringVisible = true;
    input.ringTrusted = true;
    input.held.length = 3216;
    input.held.checkpointsKnown = true;
    input.lcp = 3212;
    input.candidates = {ring(437), ring(887), ring(1349), ring(1819), ring(2286)};
    input.evidence = QStringLiteral("log");
    return input;
}

} // namespace

class TestBoundary : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void unreachableIsAFullRewrite()
    {
        BoundaryInput input = checkpointed(1600);
        input.reachable = false;
        input.unreadableReason = QStringLiteral("connection refused");
        const BoundaryPlan plan = planBoundary(input);
        QCOMPARE(plan.verdict, Verdict::FullReprefill);
        QCOMPARE(plan.cacheStatus, CacheStatus::FullReprefill);
        QCOMPARE(plan.action, BoundaryAction::EvictAndAcceptReprefill);
        QVERIFY(plan.reason.contains(QStringLiteral("connection refused")));
    }

    void unreadableSlotsAreAFullRewrite()
    {
        BoundaryInput input = checkpointed(1600);
        input.slotsReadable = false;
        input.unreadableReason = QStringLiteral("started with --no-slots");
        const BoundaryPlan plan = planBoundary(input);
        QCOMPARE(plan.verdict, Verdict::FullReprefill);
        QCOMPARE(plan.action, BoundaryAction::EvictAndAcceptReprefill);
        QVERIFY(plan.reason.contains(QStringLiteral("--no-slots")));
    }

    void nothingHeldIsCold()
    {
        BoundaryInput input = checkpointed(1600);
        input.held = {};
        input.lcp = 0;
        QCOMPARE(planBoundary(input).cacheStatus, CacheStatus::Cold);
        QCOMPARE(planBoundary(input).verdict, Verdict::FullReprefill);
    }

    void anotherPromptIsNamed()
    {
        BoundaryInput input = checkpointed(1600);
        input.lcp = 15;
        input.held.owner = QStringLiteral("title-maker");
        const BoundaryPlan plan = planBoundary(input);
        QCOMPARE(plan.cacheStatus, CacheStatus::FullReprefill);
        QVERIFY(plan.reason.contains(QStringLiteral("title-maker")));
        input.rule.memory = MemoryKind::FullAttention;
        QCOMPARE(planBoundary(input).verdict, Verdict::FullReprefill);
        input.lcp = 16; // one more equal token is enough
        QCOMPARE(planBoundary(input).verdict, Verdict::Aligned);
    }

    void liveHitNeedsNoRing()
    {
        BoundaryInput input = checkpointed(3000);
        input.candidates.clear();
        input.rule.ringVisible = false;
        input.rule.memory = MemoryKind::Unknown;
        input.held.length = 2900;
        input.lcp = 2900;
        const BoundaryPlan plan = planBoundary(input);
        QCOMPARE(plan.verdict, Verdict::Aligned);
        QCOMPARE(plan.alignedCut, 2900);
        QCOMPARE(plan.snapKind, QStringLiteral("live-hit"));
        input.requestedCut = 2899; // held reaches past the cut: no live hit
        QVERIFY(planBoundary(input).snapKind != QStringLiteral("live-hit"));
    }

    void fullAttentionHitsAnyToken()
    {
        BoundaryInput input = checkpointed(1579);
        input.rule.memory = MemoryKind::FullAttention;
        input.candidates.clear();
        BoundaryPlan plan = planBoundary(input);
        QCOMPARE(plan.verdict, Verdict::Aligned);
        QCOMPARE(plan.alignedCut, 1579);
        QCOMPARE(plan.snapDelta, 0);
        QCOMPARE(plan.action, BoundaryAction::EvictAtAlignedBoundary);
        input.lcp = 1000;
        plan = planBoundary(input);
        QCOMPARE(plan.alignedCut, 1000);
        QCOMPARE(plan.snapDelta, -579);
        QVERIFY(plan.reason.contains(QStringLiteral("differs at token 1,000")));
    }

    void invisibleRingKeepsThePrefixAndClaimsNothing_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<bool>("visible");
        QTest::addColumn<int>("status");
        QTest::newRow("unknown") << int(MemoryKind::Unknown) << false << int(CacheStatus::PrefixPreserved);
        QTest::newRow("checkpointed, invisible")
            << int(MemoryKind::Checkpointed) << false << int(CacheStatus::PrefixPreserved);
        QTest::newRow("checkpointed, visible and empty")
            << int(MemoryKind::Checkpointed) << true << int(CacheStatus::FullReprefill);
    }
    void invisibleRingKeepsThePrefixAndClaimsNothing()
    {
        QFETCH(int, kind);
        QFETCH(bool, visible);
        QFETCH(int, status);
        BoundaryInput input = checkpointed(1579);
        input.candidates.clear();
        input.rule.memory = MemoryKind(kind);
        input.rule.ringVisible = visible;
        const BoundaryPlan plan = planBoundary(input);
        QCOMPARE(int(plan.cacheStatus), status);
        QVERIFY(!plan.pairsWithCache);
        if (visible) {
            QVERIFY(plan.reason.startsWith(QStringLiteral("no checkpoints are available on this backend/session")));
            QCOMPARE(plan.action, BoundaryAction::SnapshotThenEvict);
        } else {
            QCOMPARE(plan.action, BoundaryAction::EvictAtAlignedBoundary);
        }
    }

    void snapsWithinTheToleranceInclusive_data()
    {
        QTest::addColumn<int>("cut");
        QTest::addColumn<int>("verdict");
        QTest::addColumn<int>("aligned");
        QTest::addColumn<int>("delta");
        QTest::newRow("exact") << 1349 << int(Verdict::Aligned) << 1349 << 0;
        QTest::newRow("one above") << 1350 << int(Verdict::Snapped) << 1349 << -1;
        QTest::newRow("as the picture") << 1608 << int(Verdict::Snapped) << 1349 << -259;
        QTest::newRow("at the tolerance") << 2286 + 512 << int(Verdict::Snapped) << 2286 << -512;
        QTest::newRow("one past it") << 2286 + 513 << int(Verdict::PartialReuse) << 2286 << -513;
    }
    void snapsWithinTheToleranceInclusive()
    {
        QFETCH(int, cut);
        QFETCH(int, verdict);
        QFETCH(int, aligned);
        QFETCH(int, delta);
        const BoundaryPlan plan = planBoundary(checkpointed(cut));
        QCOMPARE(int(plan.verdict), verdict);
        QCOMPARE(plan.alignedCut, aligned);
        QCOMPARE(plan.snapDelta, delta);
        QCOMPARE(plan.cacheStatus, CacheStatus::PartialReuse);
    }

    void goesForwardOnlyWhileTheTargetCanBeMet()
    {
        BoundaryInput input = checkpointed(60);
        input.forwardLimit = 500;
        BoundaryPlan plan = planBoundary(input);
        QCOMPARE(plan.verdict, Verdict::PartialReuse);
        QCOMPARE(plan.snapKind, QStringLiteral("forward"));
        QCOMPARE(plan.alignedCut, 437);
        QVERIFY(plan.snapDelta > 0);
        input.forwardLimit = 436;
        plan = planBoundary(input);
        QCOMPARE(plan.verdict, Verdict::FullReprefill);
        QVERIFY(plan.reason.contains(QStringLiteral("437")));
        QVERIFY(plan.reason.contains(QStringLiteral("377")));
    }

    void farBelowIsStillWhatTheServerDoes()
    {
        BoundaryInput input = checkpointed(2286 + 812);
        const BoundaryPlan plan = planBoundary(input);
        QCOMPARE(plan.snapKind, QStringLiteral("far-below"));
        QCOMPARE(plan.action, BoundaryAction::SnapshotThenEvict);
        QVERIFY(plan.reason.contains(QStringLiteral("812")));
    }

    void candidatesAboveTheCommonPrefixAreOfNoUse()
    {
        BoundaryInput input = checkpointed(1608);
        input.lcp = 1000;
        const BoundaryPlan plan = planBoundary(input);
        QCOMPARE(plan.candidatesConsidered, 2);
        QCOMPARE(plan.alignedCut, 887);
    }

    void partialStateTrustsOnlyDurableSavePoints()
    {
        BoundaryInput input = checkpointed(1608);
        input.partialStateOnly = true;
        input.ringTrusted = false;
        input.rule.ringVisible = true;
        QCOMPARE(planBoundary(input).verdict, Verdict::FullReprefill);
        input.candidates.append(durable(1500, CheckpointKind::PreRewrite));
        const BoundaryPlan plan = planBoundary(input);
        QCOMPARE(plan.alignedCut, 1500);
        QCOMPARE(plan.action, BoundaryAction::RestoreThenEvict);
        QCOMPARE(plan.candidateKind, CheckpointKind::PreRewrite);
        input.ringTrusted = true; // a ring read from the log is stronger than a name
        input.requestedCut = 1349;
        QCOMPARE(planBoundary(input).candidateKind, CheckpointKind::InternalCheckpoint);
    }

    void inMemoryWinsOverADurableOneAtTheSamePlace()
    {
        BoundaryInput input = checkpointed(1349);
        input.candidates.prepend(durable(1349, CheckpointKind::SlotSaveFile));
        QCOMPARE(planBoundary(input).action, BoundaryAction::EvictAtAlignedBoundary);
        input.candidates.append(durable(1600, CheckpointKind::SlotSaveFile));
        input.requestedCut = 1608;
        QCOMPARE(planBoundary(input).action, BoundaryAction::RestoreThenEvict); // nothing in memory at or above it
    }

    void windowMustReachBack()
    {
        BoundaryInput input = checkpointed(1608);
        input.rule.recurrent = false;
        input.rule.slidingWindow = 512;
        input.candidates = {ring(1349, 325), ring(1600, 1200)};
        // A rewind to 1,608 needs keys from 1,098 on: the one at 1,600 begins at 1,200.
        QCOMPARE(planBoundary(input).alignedCut, 1349);
    }

    void predictionKeepsTheInvariants()
    {
        QRandomGenerator random(7);
        for (int round = 0; round < 5000; ++round) {
            BoundaryInput input = checkpointed(random.bounded(1, 3300));
            input.rule.memory = MemoryKind(random.bounded(3));
            input.rule.ringVisible = random.bounded(2);
            input.reachable = random.bounded(10) != 0;
            input.slotsReadable = random.bounded(10) != 0;
            input.lcp = random.bounded(3300);
            input.forwardLimit = random.bounded(-1, 3300);
            if (random.bounded(3) == 0)
                input.candidates.clear();
            ReusePrediction prediction;
            prediction.stateIndex = random.bounded(4) ? 0 : -1;
            prediction.low = prediction.stateIndex < 0 ? 0 : random.bounded(40);
            prediction.high = prediction.low + random.bounded(20);
            prediction.predicted = prediction.low;
            prediction.claimable = random.bounded(2);
            prediction.reason = QStringLiteral("a reason");
            const BoundaryPlan plan = withPrediction(planBoundary(input), prediction, 100, {});
            QCOMPARE(plan.pairsWithCache, plan.cacheStatus == CacheStatus::PartialReuse);
            if (plan.cacheStatus == CacheStatus::PartialReuse)
                QVERIFY(plan.predictedReuse >= 16 && prediction.claimable);
            else if (prediction.claimable && input.reachable && input.slotsReadable)
                QVERIFY2(plan.predictedReuse < 16, qPrintable(plan.reason));
            QVERIFY(!plan.reason.isEmpty());
            QCOMPARE(plan.predictedPrefill + plan.predictedReuse, 100);
            QCOMPARE(plan.predictedMs, -1.0); // no cost is known: no time is shown
            // A value: it survives the wire.
            const QJsonObject wire = QJsonDocument::fromJson(QJsonDocument(plan.toJson()).toJson()).object();
            QCOMPARE(BoundaryPlan::fromJson(wire), plan);
        }
    }

    void recordedCandidatesNeedTheirIdentity()
    {
        TokenList prompt;
        for (int i = 0; i < 500; ++i)
            prompt.append(i * 7 % 101);
        Checkpoint saved = durable(300, CheckpointKind::SlotSaveFile);
        saved.serverIdentity = QStringLiteral("server A");
        saved.prefixHash = hashTokens(prompt, 300);
        const auto count = [&](const QList<RecordedCheckpoint> &rows, const TokenList &tokens,
                               const QString &identity) {
            return mergeCandidates({ring(200), ring(200)}, rows, tokens, identity).size();
        };
        QCOMPARE(count({{saved, true}}, prompt, QStringLiteral("server A")), 2);
        QCOMPARE(count({{saved, true}, {saved, true}}, prompt, QStringLiteral("server A")),
                 2); // duplicates are dropped
        QCOMPARE(count({{saved, false}}, prompt, QStringLiteral("server A")), 1); // the file is gone
        QCOMPARE(count({{saved, true}}, prompt, QStringLiteral("server B")), 1);
        TokenList changed = prompt;
        changed[299] += 1;
        QCOMPARE(count({{saved, true}}, changed, QStringLiteral("server A")), 1);
        changed = prompt;
        changed[300] += 1; // behind its position: of no matter
        QCOMPARE(count({{saved, true}}, changed, QStringLiteral("server A")), 2);
        QCOMPARE(count({{saved, true}}, prompt.mid(0, 299), QStringLiteral("server A")), 1);
    }
};

QTEST_GUILESS_MAIN(TestBoundary)
#include "tst_boundary.moc"
