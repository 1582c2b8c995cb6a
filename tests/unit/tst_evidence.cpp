// kerf-test: link=kerf_llama
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/evidence.h"

#include <QJsonArray>
#include <QTest>

using namespace kerf;

namespace {

const QDateTime kNow = QDateTime::fromSecsSinceEpoch(1'700'000'000, Qt::UTC);

LogFacts windowLog()
{
    LogFacts log;
    log.verbosity = 4;
    log.architecture = QStringLiteral("gemma3");
    log.slidingWindow = 512;
    log.checkpointsMax = 16;
    log.checkpointsMinStep = 256;
    log.slots = 1;
    log.modelLoaded = true;
    log.windowCells = 1024;
    return log;
}

LogFacts denseLog()
{
    LogFacts log;
    log.verbosity = 4;
    log.architecture = QStringLiteral("llama");
    log.slidingWindow = 0;
    log.slots = 1;
    log.modelLoaded = true;
    return log;
}

GgufHeader header(const char *architecture, int window, bool recurrent)
{
    GgufHeader header;
    header.architecture = QString::fromLatin1(architecture);
    header.slidingWindow = window;
    header.recurrent = recurrent;
    return header;
}

MemoryFacts withLog(const LogFacts &log)
{
    MemoryFacts facts;
    facts.logAttached = true;
    facts.logLive = log.ringReadable();
    facts.log = log;
    facts.slotCount = 1;
    return facts;
}

QString evidenceOf(const MemoryJudgement &judgement, const char *claim, const char *source)
{
    for (const Evidence &row : judgement.evidence) {
        if (row.claim == QLatin1String(claim) && row.source == QLatin1String(source))
            return row.value;
    }
    return QStringLiteral("(none)");
}

} // namespace

class TestEvidence : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingKnownIsUnknown()
    {
        const MemoryJudgement judgement = judgeMemory({}, kNow);
        QCOMPARE(judgement.rule.memory, MemoryKind::Unknown);
        QVERIFY(judgement.source.isEmpty());
        QCOMPARE(judgement.confidence, QStringLiteral("none"));
        QVERIFY(!judgement.rule.chunkReuseKnown);
        QVERIFY(!judgement.rule.ringVisible);
        QVERIFY(judgement.evidence.isEmpty());
    }

    void theLogTellsTheWindow()
    {
        const MemoryJudgement judgement = judgeMemory(withLog(windowLog()), kNow);
        QCOMPARE(judgement.rule.memory, MemoryKind::Checkpointed);
        QCOMPARE(judgement.source, QStringLiteral("log"));
        QCOMPARE(judgement.confidence, QStringLiteral("read"));
        QCOMPARE(judgement.rule.slidingWindow, 512);
        QCOMPARE(judgement.rule.windowCells, 1024);
        QVERIFY(!judgement.rule.recurrent);
        QVERIFY(judgement.rule.ringVisible);
    }

    void aLogThatShowsNoRingMakesNoRingVisible()
    {
        LogFacts log = windowLog();
        log.verbosity = 3;
        const MemoryJudgement judgement = judgeMemory(withLog(log), kNow);
        QCOMPARE(judgement.rule.memory, MemoryKind::Checkpointed);
        QVERIFY(!judgement.rule.ringVisible);
    }

    void theStrongestWinsAndTheRestStaysListed()
    {
        MemoryFacts facts = withLog(denseLog());
        facts.modelPath = QStringLiteral("/models/gemma-3-27b.gguf");
        facts.gguf = header("gemma3", 1024, false);
        const MemoryJudgement judgement = judgeMemory(facts, kNow);
        QCOMPARE(judgement.rule.memory, MemoryKind::FullAttention);
        QCOMPARE(judgement.source, QStringLiteral("log"));
        QVERIFY2(judgement.detail.contains(QStringLiteral("contradicted"))
                     && judgement.detail.contains(QStringLiteral("gguf"))
                     && judgement.detail.contains(QStringLiteral("name")),
                 qPrintable(judgement.detail));
        QCOMPARE(evidenceOf(judgement, "memory_kind", "gguf"), QStringLiteral("checkpointed"));
        QCOMPARE(evidenceOf(judgement, "memory_kind", "name"), QStringLiteral("checkpointed"));
        QCOMPARE(judgement.rule.slidingWindow, 0);

        facts.checkpointedSeen = 2;
        QCOMPARE(judgeMemory(facts, kNow).source, QStringLiteral("observed"));
        QCOMPARE(judgeMemory(facts, kNow).confidence, QStringLiteral("measured"));
        facts.checkpointedSeen = 1; // once may be chance
        QCOMPARE(judgeMemory(facts, kNow).source, QStringLiteral("log"));
        facts.checkpointedSeen = 2;
        facts.fullAttentionSeen = 2; // they say nothing together
        QCOMPARE(judgeMemory(facts, kNow).source, QStringLiteral("log"));
    }

    void calibrationIsStrongest()
    {
        MemoryFacts facts = withLog(denseLog());
        facts.build = QStringLiteral("b1");
        facts.modelPath = QStringLiteral("m");
        facts.contextSize = 4096;
        facts.fullAttentionSeen = 5;
        const QJsonArray rows{QJsonObject{{QStringLiteral("claim"), QStringLiteral("memory_kind")},
                                          {QStringLiteral("value"), QStringLiteral("checkpointed")},
                                          {QStringLiteral("source"), QStringLiteral("calibration")},
                                          {QStringLiteral("detail"), QStringLiteral("went back to 512")}},
                              QJsonObject{{QStringLiteral("claim"), QStringLiteral("chunk_reuse")},
                                          {QStringLiteral("value"), QStringLiteral("32")},
                                          {QStringLiteral("source"), QStringLiteral("calibration")}},
                              QJsonObject{{QStringLiteral("claim"), QStringLiteral("memory_kind")},
                                          {QStringLiteral("value"), QStringLiteral("full_attention")},
                                          {QStringLiteral("source"), QStringLiteral("flags")}}};
        facts.stored = {{evidenceKey(QStringLiteral("b1"), QStringLiteral("m"), 4096), rows}};
        const MemoryJudgement judgement = judgeMemory(facts, kNow);
        QCOMPARE(judgement.source, QStringLiteral("calibration"));
        QCOMPARE(judgement.rule.memory, MemoryKind::Checkpointed);
        QCOMPARE(judgement.confidence, QStringLiteral("measured"));
        // Stored flags of another start are worth nothing.
        QCOMPARE(evidenceOf(judgement, "memory_kind", "flags"), QStringLiteral("(none)"));
        // Another window is another server.
        facts.contextSize = 8192;
        QCOMPARE(judgeMemory(facts, kNow).source, QStringLiteral("observed"));
    }

    void swaFullIsFullAttention()
    {
        MemoryFacts facts;
        facts.gguf = header("gemma3", 512, false);
        facts.flags.swaFull = true;
        facts.flagsSource = QStringLiteral("command line of process 7");
        QCOMPARE(judgeMemory(facts, kNow).rule.memory, MemoryKind::FullAttention);
        QCOMPARE(judgeMemory(facts, kNow).source, QStringLiteral("flags"));
        // The log prints the window all the same.
        facts.logAttached = facts.logLive = true;
        facts.log = windowLog();
        QCOMPARE(judgeMemory(facts, kNow).rule.memory, MemoryKind::FullAttention);
        // Checkpoints that are made refute it.
        facts.log.checkpointSeen = true;
        QCOMPARE(judgeMemory(facts, kNow).rule.memory, MemoryKind::Checkpointed);
        // On a model without a window the flag says nothing.
        MemoryFacts hybrid;
        hybrid.gguf = header("lfm2", 0, true);
        hybrid.flags.swaFull = true;
        hybrid.flagsSource = facts.flagsSource;
        QCOMPARE(judgeMemory(hybrid, kNow).rule.memory, MemoryKind::Checkpointed);
        QVERIFY(judgeMemory(hybrid, kNow).rule.recurrent);
    }

    void noCheckpointsIsAVisibleEmptyRing()
    {
        MemoryFacts facts;
        facts.gguf = header("mamba", 0, true);
        facts.flags.checkpointsMax = 0;
        facts.flagsSource = QStringLiteral("--server-flags");
        const MemoryJudgement judgement = judgeMemory(facts, kNow);
        QVERIFY(judgement.rule.ringVisible);
        QCOMPARE(evidenceOf(judgement, "ring", "flags"), QStringLiteral("off"));
        BackendInfo info;
        info.capabilities.reachable = true;
        info.rule = judgement.rule;
        QVERIFY(adviceFor(info, facts).join(QLatin1Char('\n')).contains(QStringLiteral("-ctxcp 32")));
    }

    void theNameIsTheWeakest()
    {
        MemoryFacts facts;
        facts.modelPath = QStringLiteral("/swap/models/gemma-3-4b.gguf");
        const MemoryJudgement judgement = judgeMemory(facts, kNow);
        QCOMPARE(judgement.rule.memory, MemoryKind::Checkpointed);
        QVERIFY(judgement.byNameAlone);
        QCOMPARE(judgement.confidence, QStringLiteral("inferred"));
        facts.modelPath = QStringLiteral("/swap/models/other.gguf");
        QCOMPARE(judgeMemory(facts, kNow).rule.memory, MemoryKind::Unknown);
    }

    void chunkReuse_data()
    {
        QTest::addColumn<int>("flag"); // -1 = flags unknown, -2 = known and not given
        QTest::addColumn<int>("logged"); // -1 = not said
        QTest::addColumn<int>("moved");
        QTest::addColumn<bool>("unsupported");
        QTest::addColumn<bool>("known");
        QTest::addColumn<int>("value");
        QTest::newRow("nothing known") << -1 << -1 << 0 << false << false << 0;
        QTest::newRow("flag") << 64 << -1 << 0 << false << true << 64;
        QTest::newRow("flag not given") << -2 << -1 << 0 << false << true << 0;
        QTest::newRow("log says N") << -1 << 32 << 0 << false << true << 32;
        QTest::newRow("a run was moved") << -1 << -1 << 200 << false << true << 200;
        QTest::newRow("a run was moved, flag known") << 64 << -1 << 200 << false << true << 64;
        QTest::newRow("the flag told is wrong") << -2 << -1 << 200 << false << true << 200;
        QTest::newRow("unsupported") << 64 << -1 << 0 << true << true << 0;
    }
    void chunkReuse()
    {
        QFETCH(int, flag);
        QFETCH(int, logged);
        QFETCH(int, moved);
        QFETCH(bool, unsupported);
        MemoryFacts facts = withLog(denseLog());
        if (flag != -1)
            facts.flagsSource = QStringLiteral("--server-flags");
        if (flag >= 0)
            facts.flags.cacheReuse = flag;
        facts.log.chunkReuse = logged;
        facts.log.chunksUnsupported = unsupported;
        facts.smallestChunk = moved;
        const MemoryJudgement judgement = judgeMemory(facts, kNow);
        QTEST(judgement.rule.chunkReuseKnown, "known");
        QTEST(judgement.rule.chunkReuse, "value");
        // Nothing is moved in a ring's memory, whatever the flag says.
        facts.log.slidingWindow = 512;
        QCOMPARE(judgeMemory(facts, kNow).rule.chunkReuse, 0);
    }

    void idleSlots()
    {
        MemoryFacts facts = withLog(denseLog());
        facts.slotCount = 4;
        facts.log.slots = 4;
        facts.log.idleSlotsCleared = true;
        QVERIFY(judgeMemory(facts, kNow).rule.idleSlotsCleared);
        facts.log.idleSlotsCleared = false; // its start was read and does not say so
        facts.flagsSource = QStringLiteral("--server-flags");
        QVERIFY(!judgeMemory(facts, kNow).rule.idleSlotsCleared);
        facts.log.slots = -1; // its start was not read: the flags tell
        QVERIFY(judgeMemory(facts, kNow).rule.idleSlotsCleared);
        facts.flags.parallel = 4;
        QVERIFY(!judgeMemory(facts, kNow).rule.idleSlotsCleared);
        facts.flags.unified = true;
        QVERIFY(judgeMemory(facts, kNow).rule.idleSlotsCleared);
        facts.flags.cacheRamMib = 0; // nowhere to save them
        QVERIFY(!judgeMemory(facts, kNow).rule.idleSlotsCleared);
        QVERIFY(!judgeMemory(facts, kNow).rule.hostCache);
    }

    void adviceNamesTheFlag()
    {
        BackendInfo info;
        info.capabilities.reachable = true;
        info.contextSize = 32'768;
        info.probe = {
            {QStringLiteral("slot_save"), {}, 501, false, QStringLiteral("Start it with `--slot-save-path`")}};
        MemoryFacts facts;
        facts.gguf = header("gemma3", 512, false);
        info.rule = judgeMemory(facts, kNow).rule;
        QString advice = adviceFor(info, facts).join(QLatin1Char('\n'));
        QVERIFY2(advice.contains(QStringLiteral("--server-log FILE")) && advice.contains(QStringLiteral("-lv 4"))
                     && advice.contains(QStringLiteral("--launch")),
                 qPrintable(advice));
        QVERIFY(advice.contains(QStringLiteral("--slot-save-path DIR")));
        QVERIFY(advice.contains(QStringLiteral("--slots")));
        QVERIFY(advice.contains(QStringLiteral("--metrics")));
        QVERIFY(!advice.contains(QStringLiteral("--cache-reuse")));

        facts = withLog(windowLog());
        facts.log.checkpointsMinStep = 8192;
        info.rule = judgeMemory(facts, kNow).rule;
        info.capabilities.slotSave = info.capabilities.slots = info.capabilities.metrics = true;
        advice = adviceFor(info, facts).join(QLatin1Char('\n'));
        QVERIFY2(advice.contains(QStringLiteral("-cms 1024")), qPrintable(advice));
        QVERIFY(!advice.contains(QStringLiteral("--server-log")));
        facts.log.checkpointsMinStep = 256;
        QVERIFY(adviceFor(info, facts).isEmpty());

        facts = withLog(denseLog());
        facts.flagsSource = QStringLiteral("--server-flags");
        info.rule = judgeMemory(facts, kNow).rule;
        QVERIFY(adviceFor(info, facts).join(QLatin1Char('\n')).contains(QStringLiteral("--cache-reuse 64")));
        facts.flags.cacheReuse = 64;
        info.rule = judgeMemory(facts, kNow).rule;
        QVERIFY(adviceFor(info, facts).isEmpty());
    }

    void theLogSaysThatThereIsNoHostCache()
    {
        MemoryFacts facts = withLog(denseLog());
        QVERIFY(judgeMemory(facts, kNow).rule.hostCache);
        facts.log.hostCacheLimitBytes = 0;
        QVERIFY(!judgeMemory(facts, kNow).rule.hostCache);
        facts.flagsSource = QStringLiteral("--server-flags");
        facts.flags.cacheRamMib = 8192; // told wrongly: the running server's own words win
        QVERIFY(!judgeMemory(facts, kNow).rule.hostCache);
        QCOMPARE(judgeMemory(facts, kNow).rule.hostCacheLimitBytes, 0);
    }

    /// Recurrent memory moves runs where it is told to (build 11669), wrongly: predicted, and advised against.
    void chunksOnRecurrentMemory()
    {
        LogFacts log = denseLog();
        log.recurrent = true;
        MemoryFacts facts = withLog(log);
        facts.flagsSource = QStringLiteral("--server-flags");
        facts.flags.checkpointsMinStep = 64;
        BackendInfo info;
        info.capabilities.reachable = info.capabilities.slotSave = info.capabilities.slots = info.capabilities.metrics =
            true;
        info.contextSize = 8192;
        info.rule = judgeMemory(facts, kNow).rule;
        QVERIFY(info.rule.recurrent);
        QCOMPARE(info.rule.chunkReuse, 0);
        QVERIFY(!adviceFor(info, facts).join(QLatin1Char('\n')).contains(QStringLiteral("--cache-reuse")));
        facts.flags.cacheReuse = 64;
        info.rule = judgeMemory(facts, kNow).rule;
        QCOMPARE(info.rule.chunkReuse, 64);
        QVERIFY(adviceFor(info, facts).join(QLatin1Char('\n')).contains(QStringLiteral("without --cache-reuse")));
        // A wrong observation does not make it shiftable.
        info.rule.memory = MemoryKind::FullAttention;
        info.rule.chunkReuse = 0;
        QVERIFY(!adviceFor(info, facts).join(QLatin1Char('\n')).contains(QStringLiteral("--cache-reuse 64")));
    }

    /// What a piece of advice would save, and what memory it costs.
    void adviceSaysWhatItCosts()
    {
        BackendInfo info;
        info.capabilities.reachable = info.capabilities.slotSave = info.capabilities.slots = info.capabilities.metrics =
            true;
        info.contextSize = 8192;
        info.slotCount = 4;
        MemoryFacts facts = withLog(windowLog());
        facts.slotCount = 4;
        facts.log.checkpointsMinStep = 8192;
        facts.checkpointBytes = 64 * 1024 * 1024;
        facts.turnTokens = 200;
        facts.log.idleSlotsCleared = true;
        facts.pinsCleared = 3;
        facts.pinsClearedTokens = 9000;
        info.rule = judgeMemory(facts, kNow).rule;
        QString advice = adviceFor(info, facts).join(QLatin1Char('\n'));
        QVERIFY2(advice.contains(QStringLiteral("-cms 192 -ctxcp 43")), qPrintable(advice));
        QVERIFY2(advice.contains(QStringLiteral("43 checkpoints of 64.00 MiB, 2752 MiB a slot")), qPrintable(advice));
        QVERIFY2(advice.contains(QStringLiteral("3 requests pinned to a cleared slot here: 9,000 tokens")),
                 qPrintable(advice));
        QVERIFY(!advice.contains(QStringLiteral("--cache-ram 0")));

        facts = withLog(denseLog());
        facts.flagsSource = QStringLiteral("--server-flags");
        info.contextSize = 32'768;
        info.rule = judgeMemory(facts, kNow).rule;
        advice = adviceFor(info, facts).join(QLatin1Char('\n'));
        QVERIFY2(advice.contains(QStringLiteral("12,800 tokens less")), qPrintable(advice)); // 16,896 less the head
        facts.flags.cacheReuse = 64;
        facts.loadsInTheWay = 1;
        facts.loadsInTheWayTokens = 2273;
        info.rule = judgeMemory(facts, kNow).rule;
        advice = adviceFor(info, facts).join(QLatin1Char('\n'));
        QVERIFY2(advice.contains(QStringLiteral("--cache-ram 0")) && advice.contains(QStringLiteral("2,273")),
                 qPrintable(advice));
        facts.log.hostCacheLimitBytes = 0; // it is off already
        info.rule = judgeMemory(facts, kNow).rule;
        QVERIFY(adviceFor(info, facts).isEmpty());
    }

    void whatWasMeasuredIsKeptAndComesBack()
    {
        MemoryFacts facts;
        facts.build = QStringLiteral("b11669");
        facts.modelPath = QStringLiteral("/models/x.gguf");
        facts.contextSize = 4096;
        facts.fullAttentionSeen = 2;
        const MemoryJudgement first = judgeMemory(facts, kNow);
        QCOMPARE(first.source, QStringLiteral("observed"));
        const QJsonArray kept = evidenceToStore({}, first.evidence);
        QCOMPARE(kept.size(), 1);
        QCOMPARE(evidenceToStore(kept, first.evidence), kept); // nothing new: nothing to write

        MemoryFacts later;
        later.build = facts.build;
        later.modelPath = facts.modelPath;
        later.contextSize = facts.contextSize;
        later.stored.insert(evidenceKey(facts.build, facts.modelPath, facts.contextSize), kept);
        const MemoryJudgement second = judgeMemory(later, kNow.addDays(1));
        QCOMPARE(second.rule.memory, MemoryKind::FullAttention);
        QCOMPARE(second.source, QStringLiteral("observed"));
        QCOMPARE(second.confidence, QStringLiteral("measured"));
        QVERIFY(second.evidence.constFirst().stored);
        QCOMPARE(second.evidence.constFirst().at, kNow); // when it was measured, not when it was read
        QCOMPARE(evidenceToStore(kept, second.evidence), kept);
        later.contextSize = 8192; // another server
        QCOMPARE(judgeMemory(later, kNow).rule.memory, MemoryKind::Unknown);
    }

    /// Read of the model by an earlier run's log: better than the name, weaker than what is read now.
    void whatAnEarlierLogSaidOfTheModel()
    {
        MemoryFacts facts = withLog(windowLog());
        facts.build = QStringLiteral("b");
        facts.modelPath = QStringLiteral("/m/a.gguf");
        facts.contextSize = 4096;
        facts.flagsSource = QStringLiteral("--server-flags");
        const QJsonArray kept = evidenceToStore({}, judgeMemory(facts, kNow).evidence);
        QCOMPARE(kept.size(), 1); // the flags are read anew each time
        QCOMPARE(kept.at(0).toObject().value(QStringLiteral("source")).toString(), QStringLiteral("log"));
        MemoryFacts later;
        later.build = facts.build;
        later.modelPath = facts.modelPath;
        later.contextSize = facts.contextSize;
        later.stored.insert(evidenceKey(facts.build, facts.modelPath, facts.contextSize), kept);
        MemoryJudgement judgement = judgeMemory(later, kNow);
        QCOMPARE(judgement.rule.memory, MemoryKind::Checkpointed);
        QVERIFY(!judgement.rule.ringVisible); // that it was visible then says nothing of now
        later.gguf = header("llama", 0, false);
        judgement = judgeMemory(later, kNow);
        QCOMPARE(judgement.source, QStringLiteral("gguf"));
        QVERIFY(judgement.detail.contains(QStringLiteral("contradicted")));
        // A window that is kept whole is a flag's doing.
        facts.log.fullWindow = true;
        QVERIFY(evidenceToStore({}, judgeMemory(facts, kNow).evidence).isEmpty());
    }

    void onlyWhatOneRuleExplainsIsEvidence()
    {
        Observation seen;
        seen.certain = true;
        seen.total = 12'000;
        seen.lcp = 3'000;
        seen.heldLength = 20'000;
        seen.reused = 3'000;
        QCOMPARE(memoryThatExplains(seen), MemoryKind::FullAttention);
        seen.heldLength = 6'000; // a short way back may lie inside a window's memory
        QCOMPARE(memoryThatExplains(seen), std::nullopt);
        seen.heldLength = 20'000;
        for (const int end : {3'000, 3'004, 3'516, 2'995}) {
            seen.promptEnds = {end}; // a checkpoint may lie just there
            QCOMPARE(memoryThatExplains(seen), std::nullopt);
        }
        seen.promptEnds = {2'500};
        QCOMPARE(memoryThatExplains(seen), MemoryKind::FullAttention);
        seen.reused = 2'048;
        QCOMPARE(memoryThatExplains(seen), MemoryKind::Checkpointed);
        seen.reused = 2'990; // neither
        QCOMPARE(memoryThatExplains(seen), std::nullopt);
        seen.reused = 2'048;
        seen.certain = false; // another state may have been met
        QCOMPARE(memoryThatExplains(seen), std::nullopt);
        seen.certain = true;
        seen.lcp = 11'999; // a repeated prompt: every kind reuses nearly all
        seen.reused = 11'996;
        QCOMPARE(memoryThatExplains(seen), std::nullopt);
    }
};

QTEST_GUILESS_MAIN(TestEvidence)
#include "tst_evidence.moc"
