// kerf-test: link=kerf_llama
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// The logs of real servers, with what their client saw.

#include "core/llama/logmodel.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QRandomGenerator>
#include <QTest>

#include <cmath>

using namespace kerf;

namespace {

QByteArray fileOf(const QString &name)
{
    QFile file(QStringLiteral(KERF_TEST_DATA "/llama-server/") + name);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class TestLogModel : public QObject
{
    Q_OBJECT

private:
    static void servers()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("memory");
        for (const auto &[name, kind] : {std::pair{"llama", MemoryKind::FullAttention}, std::pair{"gemma3", MemoryKind::Checkpointed},
                                         std::pair{"lfm2", MemoryKind::Checkpointed}, std::pair{"mamba", MemoryKind::Checkpointed}})
            QTest::newRow(name) << QString::fromLatin1(name) << int(kind);
    }

private Q_SLOTS:
    void everyRequestIsWhatTheClientSaw_data() { servers(); }
    void everyRequestIsWhatTheClientSaw()
    {
        QFETCH(QString, name);
        QFETCH(int, memory);
        const QByteArray log = fileOf(QStringLiteral("log-%1.txt").arg(name));
        QVERIFY(!log.isEmpty());
        ServerLogModel model;
        const QList<QByteArray> lines = log.split('\n');
        for (const QByteArray &line : lines)
            model.feed(line);
        QCOMPARE(int(model.facts().memory()), memory);
        QCOMPARE(model.facts().build, 11669);
        QCOMPARE(model.facts().verbosity, 4);
        QCOMPARE(model.facts().slots, 1);
        QCOMPARE(model.notUnderstood(), 0);
        const QJsonArray truth = QJsonDocument::fromJson(fileOf(QStringLiteral("log-%1.truth.json").arg(name))).array();
        int compared = 0;
        qsizetype at = 0;
        for (const QJsonValue &row : truth) {
            const QJsonObject step = row.toObject();
            if (!step.contains(QStringLiteral("n_prompt")))
                continue;
            QVERIFY2(at < model.tasks().size(), qPrintable(step.value(QStringLiteral("step")).toString()));
            const LogTask &task = model.tasks().at(at++);
            QCOMPARE(task.promptTokens, step.value(QStringLiteral("n_prompt")).toInt());
            QCOMPARE(task.reused, step.value(QStringLiteral("cache_n")).toInt());
            QCOMPARE(task.prefilled, step.value(QStringLiteral("prompt_n")).toInt());
            QCOMPARE(task.slot, step.value(QStringLiteral("id_slot")).toInt());
            QVERIFY(task.ended());
            ++compared;
        }
        QVERIFY(model.tasks().size() - at <= 2); // log-llama.txt goes on with two requests of other kinds
        QVERIFY2(compared >= 18, qPrintable(QString::number(compared)));
    }

    /// A small model of the rule, request by request: the ring, the window, chunks (LLAMA_SERVER.md section 3).
    void theRulePredictsEveryRequest_data() { servers(); }
    void theRulePredictsEveryRequest()
    {
        QFETCH(QString, name);
        const QList<QByteArray> lines = fileOf(QStringLiteral("log-%1.txt").arg(name)).split('\n');
        ServerLogModel model;
        // Token ids are not in a log: a stand-in with the LCP that the log names. What is held is 1, 2, 3...; the new
        // prompt equals it up to the LCP.
        int checked = 0;
        int lcp = -1;
        int held = 0;
        HeldState state;
        for (const QByteArray &line : lines) {
            const LogEvent event = parseServerLogLine(line);
            if (event.kind == LogEvent::Kind::Similarity) {
                lcp = static_cast<int>(event.value);
            } else if (event.kind == LogEvent::Kind::PromptOffered && event.keep > 0 && event.second > lcp) {
                lcp = static_cast<int>(event.second);
            } else if (event.kind == LogEvent::Kind::NewPrompt && lcp >= 0) {
                state = model.states().constFirst();
                state.busy = false; // it was chosen for this very task
                held = state.length;
            }
            if (event.kind == LogEvent::Kind::NewPrompt && lcp >= 0 && held > 0) {
                ReuseRule rule;
                rule.memory = model.facts().memory();
                rule.slidingWindow = model.facts().slidingWindow;
                rule.recurrent = model.facts().recurrent;
                rule.ringVisible = true;
                rule.hostCache = false;
                for (int i = 0; i < held; ++i)
                    state.tokens.append(i + 1);
                ReuseRequest request;
                for (int i = 0; i < event.value; ++i)
                    request.tokens.append(i < lcp ? i + 1 : -1 - i);
                request.slotId = state.slotId;
                const ReusePrediction prediction = predictReuse({state}, request, rule);
                // What the server did is the first "cached n_tokens" behind this line.
                const qsizetype from = lines.indexOf(line);
                int moved = 0; // chunks need the ids, which a log does not have: taken from it
                for (qsizetype k = from + 1; k < lines.size(); ++k) {
                    const LogEvent next = parseServerLogLine(lines.at(k));
                    if (next.kind == LogEvent::Kind::ChunkMoved)
                        moved += static_cast<int>(next.value);
                    if (next.kind != LogEvent::Kind::Cached)
                        continue;
                    QVERIFY2(std::abs(next.value - prediction.predicted - moved) <= 8,
                             qPrintable(QStringLiteral("task %1: predicted %2, the server reused %3 (LCP %4 of %5 held): %6")
                                            .arg(event.task).arg(prediction.predicted).arg(next.value).arg(lcp).arg(held).arg(prediction.reason)));
                    ++checked;
                    break;
                }
            }
            if (event.kind == LogEvent::Kind::NewPrompt)
                lcp = -1;
            model.feed(event);
        }
        QVERIFY2(checked >= 12, qPrintable(QString::number(checked)));
    }

    void ringsAndHostCacheAreFollowed()
    {
        ServerLogModel model;
        const QList<QByteArray> lines = fileOf(QStringLiteral("log-gemma3.txt")).split('\n');
        bool before40 = false;
        for (const QByteArray &line : lines) {
            if (!before40 && line.contains("task 40 | new prompt")) {
                before40 = true;
                // The ring before the cut, as the pictures of the console show it.
                QList<int> positions;
                for (const Checkpoint &checkpoint : model.states().constFirst().checkpoints)
                    positions.append(checkpoint.position);
                QCOMPARE(positions, (QList<int>{437, 887, 1349, 1819, 2286, 2737, 2981, 3212}));
                QCOMPARE(model.states().constFirst().length, 3216);
                QCOMPARE(model.states().size(), 2); // the slot, and the prompt that it saved
                QCOMPARE(model.states().constLast().length, 3216);
                QCOMPARE(model.states().constLast().checkpoints.size(), 8);
            }
            model.feed(line);
        }
        QVERIFY(before40);
        const LogTask *cut = model.task(40);
        QVERIFY(cut);
        QCOMPARE(cut->restored, 1349);
        QCOMPARE(cut->erased, 5);
        QCOMPARE(cut->lcp, 1579);
        QCOMPARE(cut->promptMs, 101.57);
        const LogTask *summary = model.task(44);
        QVERIFY(summary && summary->forcedFull);
        const LogTask *back = model.task(48);
        QVERIFY(back && back->loadedFromHostCache);
        QCOMPARE(back->loadedLength, 3216);
        QCOMPARE(model.facts().slidingWindow, 512);
        QCOMPARE(model.facts().checkpointsMax, 8);
        QCOMPARE(model.facts().checkpointsMinStep, 256);
        QList<QString> kinds;
        for (const ServerLogModel::Happening &happening : model.takeHappenings())
            kinds.append(happening.kind);
        for (const char *kind : {"checkpoint-created", "checkpoint-restored", "checkpoint-erased", "full-reprocessing", "prompt-saved", "prompt-loaded"})
            QVERIFY2(kinds.contains(QLatin1String(kind)), kind);
    }

    void prefixesAndOlderSpellingsAreReadAlike_data()
    {
        QTest::addColumn<QByteArray>("line");
        const QByteArray message = "slot create_check: id  3 | task 7 | created context checkpoint 4 of 16 (pos_min = 3454, pos_max = 4477, n_tokens = 4478, size = 1.006 MiB)";
        QTest::newRow("bare") << message;
        QTest::newRow("time and level") << QByteArray("0.05.785.665 I ") + message;
        QTest::newRow("router child") << QByteArray("[57259] 0.05.785.665 I ") + message;
        QTest::newRow("older function") << QByteArray("slot update_slots: id  3 | task 7 | created context checkpoint 4 of 16 (pos_min = 3454, pos_max = 4477, size = 1.006 MiB)");
        QTest::newRow("carriage return") << message + "\r\n";
        QTest::newRow("json") << QByteArray("{\"type\":\"log\",\"time\":1,\"level\":\"I\",\"msg\":\"") + message + "\\n\"}";
    }
    void prefixesAndOlderSpellingsAreReadAlike()
    {
        QFETCH(QByteArray, line);
        const LogEvent event = parseServerLogLine(line);
        QCOMPARE(int(event.kind), int(LogEvent::Kind::CheckpointCreated));
        QCOMPARE(event.slot, 3);
        QCOMPARE(event.task, 7);
        QCOMPARE(event.value, 4478);
        QCOMPARE(event.posMin, 3454);
        QCOMPARE(event.posMax, 4477);
        QCOMPARE(event.bytes, 1054867);
    }

    void chunkMoves()
    {
        const LogEvent event = parseServerLogLine("slot   operator(): id  0 | task 4 | reusing chunk with size 1171, shifting KV cache [4478, 5649) -> [2243, 3414)");
        QCOMPARE(int(event.kind), int(LogEvent::Kind::ChunkMoved));
        QCOMPARE(event.value, 1171);
        QCOMPARE(event.posMin, 4478);
        QCOMPARE(event.second, 2243);
    }

    void aRestartForgetsWhatWasHeld()
    {
        ServerLogModel model;
        const QByteArray log = fileOf(QStringLiteral("log-mamba.txt"));
        for (const QByteArray &line : log.split('\n'))
            model.feed(line);
        QVERIFY(model.states().constFirst().length > 0);
        const int epoch = model.epoch();
        model.feed("0.00.004.133 I srv  llama_server: initializing ...");
        QCOMPARE(model.epoch(), epoch + 1);
        QVERIFY(model.states().isEmpty());
        QVERIFY(!model.task(40));
    }

    void anyBytesAreSurvived()
    {
        QRandomGenerator random(1);
        const QByteArray log = fileOf(QStringLiteral("log-gemma3.txt"));
        const QList<QByteArray> lines = log.split('\n');
        ServerLogModel model;
        for (int round = 0; round < 20000; ++round) {
            QByteArray line = lines.at(random.bounded(lines.size()));
            switch (random.bounded(4)) {
            case 0:
                line.truncate(random.bounded(line.size() + 1));
                break;
            case 1:
                if (!line.isEmpty())
                    line[random.bounded(line.size())] = char(random.bounded(256));
                break;
            case 2:
                line = line.mid(random.bounded(line.size() + 1));
                break;
            default:
                line.replace("n_tokens = ", "n_tokens = 99999999999999999999");
            }
            model.feed(line);
        }
        QVERIFY(model.tasks().size() <= 512);
    }
};

QTEST_GUILESS_MAIN(TestLogModel)
#include "tst_logmodel.moc"
