// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_calibration kerf_backend

// The experiment against the simulated server, whose answers equal a real one's (tst_simulator).

#include "core/backend/simulator.h"
#include "core/calibration/calibration.h"

#include <QTest>

#include <cmath>

using namespace kerf;

namespace {

TokenList alphabet()
{
    TokenList ids;
    for (int i = 0; i < 200; ++i)
        ids.append(1000 + 7 * i);
    return ids;
}

struct Run {
    CalibrationFinding finding;
    QList<CalibrationStep> steps;
    int requests = 0;
    int prefilled = 0;
    CalibrationSetup setup;
    bool over = false;

    QString text() const
    {
        QStringList lines;
        for (const CalibrationStep &step : steps)
            lines.append(QStringLiteral("%1: sent %2, reused %3, expected %4: %5")
                             .arg(step.name)
                             .arg(step.sent)
                             .arg(step.reused)
                             .arg(step.expected)
                             .arg(step.concluded));
        return lines.join(QLatin1Char('\n'));
    }
};

Run calibrate(SimulatedServer &server, int contextSize, bool persist = true, int slotId = 0, quint32 seed = 1,
              bool promptCache = true, bool restoreLies = false)
{
    Run run;
    run.setup.contextSize = contextSize;
    run.setup.alphabet = alphabet();
    run.setup.seed = seed;
    run.setup.canPersist = persist;
    Calibration calibration(run.setup);
    while (const auto request = calibration.next()) {
        CalibrationReply reply;
        switch (request->act) {
        case CalibrationRequest::Act::Send: {
            if (!promptCache) [[maybe_unused]]
                const auto erased = server.erase(slotId);
            const auto answer = server.process(ReuseRequest{request->tokens, slotId}, 0);
            if (!answer) {
                calibration.failed(answer.error().message);
                continue;
            }
            reply = {answer->cacheTokens, answer->promptTokens, answer->promptMs};
            ++run.requests;
            run.prefilled += answer->promptTokens;
            break;
        }
        case CalibrationRequest::Act::Save:
            reply.reused = *server.save(slotId, QStringLiteral("f"));
            break;
        case CalibrationRequest::Act::Erase:
            reply.reused = *server.erase(slotId);
            break;
        case CalibrationRequest::Act::Restore:
            reply.reused = *server.restore(slotId, QStringLiteral("f"));
            if (restoreLies) // older builds: reports success, and the next prompt reuses nothing
                [[maybe_unused]]
                const auto erased = server.erase(slotId);
            break;
        }
        calibration.took(reply);
    }
    run.finding = calibration.finding();
    run.steps = calibration.steps();
    run.over = calibration.isOver();
    return run;
}

SimulatorConfig config(MemoryKind memory, int contextSize, int window = 0, int chunks = 0)
{
    SimulatorConfig config;
    config.memory = memory;
    config.contextSize = contextSize;
    config.slidingWindow = window;
    config.chunkReuse = chunks;
    return config;
}

} // namespace

class tst_Calibration : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void memoryKinds_data();
    void memoryKinds();
    void chunkReuse_data();
    void chunkReuse();
    void noCheckpoints();
    void promptCacheOff();
    void restoreThatLies();
    void costCurve();
    void busyNeighbour();
    void tooSmall();
    void failureInTheMiddle();
    void anotherPromptThanOurs();
    void samePromptsForASeed();
};

void tst_Calibration::memoryKinds_data()
{
    QTest::addColumn<MemoryKind>("memory");
    QTest::addColumn<int>("window");
    QTest::addColumn<int>("contextSize");
    QTest::addColumn<int>("minStep");
    for (const int contextSize : {1024, 2048, 4096, 32768, 131072}) {
        const auto row = [&](const char *name, MemoryKind memory, int window, int minStep) {
            QTest::addRow("%s, n_ctx %d, -cms %d", name, contextSize, minStep)
                << memory << window << contextSize << minStep;
        };
        row("dense", MemoryKind::FullAttention, 0, 256);
        for (const int minStep : {0, 256, 8192}) {
            row("recurrent", MemoryKind::Checkpointed, 0, minStep);
            row("window 128", MemoryKind::Checkpointed, 128, minStep);
            // A window as large as the context is full attention, whatever its name.
            if (contextSize >= 2048)
                row("window 512", MemoryKind::Checkpointed, 512, minStep);
            if (contextSize >= 8192) {
                row("window 4096", MemoryKind::Checkpointed, 4096, minStep);
                row("window 8192", MemoryKind::Checkpointed, 8192, minStep);
            }
        }
    }
}

void tst_Calibration::memoryKinds()
{
    QFETCH(MemoryKind, memory);
    QFETCH(int, window);
    QFETCH(int, contextSize);
    QFETCH(int, minStep);
    SimulatorConfig wanted = config(memory, contextSize, window);
    wanted.ringMinStep = minStep;
    SimulatedServer server(wanted);
    const Run run = calibrate(server, contextSize);
    QVERIFY(run.over);
    QVERIFY2(run.finding.memory == memory, qPrintable(run.text()));
    QCOMPARE(run.finding.restoreHolds, std::optional<bool>(true));
    QVERIFY2(run.requests <= Calibration::mostRequests(run.setup), qPrintable(run.text()));
    QVERIFY2(
        run.prefilled <= Calibration::mostTokens(run.setup),
        qPrintable(
            QStringLiteral("%1 > %2\n%3").arg(run.prefilled).arg(Calibration::mostTokens(run.setup)).arg(run.text())));
    if (memory == MemoryKind::FullAttention) {
        QCOMPARE(run.finding.rewindGrain, 1);
        QCOMPARE(run.finding.chunkReuse, std::optional<int>(0));
        QVERIFY(run.finding.provenRewind > 0);
    } else {
        QVERIFY(run.finding.rewindGrain != 1);
        QVERIFY(!run.finding.chunkReuse);
    }
    for (const CalibrationStep &step : run.steps)
        QVERIFY2(!step.concluded.isEmpty(), qPrintable(run.text()));
}

void tst_Calibration::chunkReuse_data()
{
    QTest::addColumn<int>("flag");
    QTest::addColumn<int>("found");
    QTest::newRow("off") << 0 << 0;
    QTest::newRow("1") << 1 << 16;
    QTest::newRow("16") << 16 << 16;
    QTest::newRow("17") << 17 << 32;
    QTest::newRow("64") << 64 << 64;
    QTest::newRow("100") << 100 << 128;
    QTest::newRow("256") << 256 << 256;
    QTest::newRow("512") << 512 << 512;
    QTest::newRow("513") << 513 << 0;
}

void tst_Calibration::chunkReuse()
{
    QFETCH(int, flag);
    QFETCH(int, found);
    SimulatedServer server(config(MemoryKind::FullAttention, 4096, 0, flag));
    const Run run = calibrate(server, 4096);
    QVERIFY2(run.finding.chunkReuse == std::optional<int>(found), qPrintable(run.text()));
    QCOMPARE(run.finding.memory, MemoryKind::FullAttention);
}

void tst_Calibration::noCheckpoints()
{
    for (const int window : {0, 512}) {
        SimulatorConfig wanted = config(MemoryKind::Checkpointed, 8192, window);
        wanted.ringDepth = 0;
        SimulatedServer server(wanted);
        const Run run = calibrate(server, 8192);
        QVERIFY2(run.finding.memory == MemoryKind::Checkpointed, qPrintable(run.text()));
        QCOMPARE(run.finding.rewindGrain, -1);
        QVERIFY(!run.finding.promptCacheOff);
    }
}

void tst_Calibration::promptCacheOff()
{
    SimulatedServer server(config(MemoryKind::FullAttention, 8192));
    const Run run = calibrate(server, 8192, true, 0, 1, false);
    QVERIFY(run.finding.promptCacheOff);
    QCOMPARE(run.finding.memory, MemoryKind::Unknown);
    QCOMPARE(run.requests, 2);
}

void tst_Calibration::restoreThatLies()
{
    SimulatedServer server(config(MemoryKind::Checkpointed, 8192));
    const Run run = calibrate(server, 8192, true, 0, 1, true, true);
    QVERIFY2(run.finding.restoreHolds == std::optional<bool>(false), qPrintable(run.text()));
    SimulatedServer other(config(MemoryKind::Checkpointed, 8192));
    QVERIFY(!calibrate(other, 8192, false).finding.restoreHolds);
}

void tst_Calibration::costCurve()
{
    SimulatorConfig wanted = config(MemoryKind::FullAttention, 32768);
    wanted.cost = {0.2, 0.00003, 1, true};
    SimulatedServer server(wanted);
    const Run run = calibrate(server, 32768);
    QVERIFY(run.finding.cost.known());
    for (const int tokens : {1000, 4000, 16000}) {
        const double truth = wanted.cost.ms(0, tokens);
        const double said = run.finding.cost.ms(0, tokens);
        QVERIFY2(std::abs(said - truth) <= 0.02 * truth,
                 qPrintable(QStringLiteral("%1: %2, %3").arg(tokens).arg(said).arg(truth)));
    }
}

void tst_Calibration::busyNeighbour()
{
    SimulatorConfig wanted = config(MemoryKind::Checkpointed, 8192, 512);
    wanted.slots = 2;
    SimulatedServer server(wanted);
    TokenList other;
    for (int i = 0; i < 3000; ++i)
        other.append(i);
    QVERIFY(server.process(ReuseRequest{other, 0}, 5));
    const Run run = calibrate(server, 8192, true, 1);
    QCOMPARE(run.finding.memory, MemoryKind::Checkpointed);
    const auto after = server.process(ReuseRequest{other + TokenList{1, 2, 3}, 0}, 0);
    QVERIFY(after && after->cacheTokens >= 2900); // the neighbour still has what it had
}

void tst_Calibration::tooSmall()
{
    Calibration none(CalibrationSetup{512, alphabet(), 1, 9472, true});
    QVERIFY(none.isOver());
    QVERIFY(!none.next());
    QVERIFY(!none.finding().notes.isEmpty());
}

void tst_Calibration::failureInTheMiddle()
{
    Calibration calibration(CalibrationSetup{8192, alphabet(), 1, 9472, true});
    QVERIFY(calibration.next());
    calibration.took({0, calibration.steps().constLast().sent, 100});
    QVERIFY(calibration.next());
    calibration.failed(QStringLiteral("the connection was closed"));
    QVERIFY(calibration.isOver());
    QVERIFY(!calibration.next());
    QCOMPARE(calibration.finding().memory, MemoryKind::Unknown);
    QVERIFY(calibration.finding().notes.constFirst().contains(QStringLiteral("extend")));
    QCOMPARE(calibration.finding().cost.samples, 1);
}

void tst_Calibration::anotherPromptThanOurs()
{
    Calibration calibration(CalibrationSetup{8192, alphabet(), 1, 9472, true});
    QVERIFY(calibration.next());
    calibration.took({0, 5, 100});
    QVERIFY(calibration.isOver());
    QCOMPARE(calibration.finding().memory, MemoryKind::Unknown);
}

void tst_Calibration::samePromptsForASeed()
{
    Calibration a(CalibrationSetup{8192, alphabet(), 7, 9472, true});
    Calibration b(CalibrationSetup{8192, alphabet(), 7, 9472, true});
    Calibration c(CalibrationSetup{8192, alphabet(), 8, 9472, true});
    const TokenList tokens = a.next()->tokens;
    QCOMPARE(b.next()->tokens, tokens);
    QVERIFY(commonPrefix(c.next()->tokens, tokens) < 8);
}

QTEST_APPLESS_MAIN(tst_Calibration)
#include "tst_calibration.moc"
