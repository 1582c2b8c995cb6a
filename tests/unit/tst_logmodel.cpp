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

#include <algorithm>
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
        for (const auto &[name, kind] :
             {std::pair{"llama", MemoryKind::FullAttention}, std::pair{"gemma3", MemoryKind::Checkpointed},
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
                    QVERIFY2(
                        std::abs(next.value - prediction.predicted - moved) <= 8,
                        qPrintable(QStringLiteral("task %1: predicted %2, the server reused %3 (LCP %4 of %5 held): %6")
                                       .arg(event.task)
                                       .arg(prediction.predicted)
                                       .arg(next.value)
                                       .arg(lcp)
                                       .arg(held)
                                       .arg(prediction.reason)));
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
                const QList<Checkpoint> ring = model.states().constFirst().checkpoints;
                for (const Checkpoint &checkpoint : ring)
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
        for (const char *kind : {"checkpoint-created", "checkpoint-restored", "checkpoint-erased", "full-reprocessing",
                                 "prompt-saved", "prompt-loaded"})
            QVERIFY2(kinds.contains(QLatin1String(kind)), kind);
    }

    void prefixesAndOlderSpellingsAreReadAlike_data()
    {
        QTest::addColumn<QByteArray>("line");
        const QByteArray message = "slot create_check: id  3 | task 7 | created context checkpoint 4 of 16 (pos_min = "
                                   "3454, pos_max = 4477, n_tokens = 4478, size = 1.006 MiB)";
        QTest::newRow("bare") << message;
        QTest::newRow("time and level") << QByteArray("0.05.785.665 I ") + message;
        QTest::newRow("router child") << QByteArray("[57259] 0.05.785.665 I ") + message;
        QTest::newRow("older function") << QByteArray("slot update_slots: id  3 | task 7 | created context checkpoint "
                                                      "4 of 16 (pos_min = 3454, pos_max = 4477, size = 1.006 MiB)");
        QTest::newRow("carriage return") << message + "\r\n";
        QTest::newRow("json") << QByteArray("{\"type\":\"log\",\"time\":1,\"level\":\"I\",\"msg\":\"") + message
                + "\\n\"}";
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
        const LogEvent event = parseServerLogLine("slot   operator(): id  0 | task 4 | reusing chunk with size 1171, "
                                                  "shifting KV cache [4478, 5649) -> [2243, 3414)");
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

    /// The host cache is what its last listing says, and what every ring holds is what the server counted.
    void listingsAndCountsAgree_data()
    {
        QTest::addColumn<QString>("name");
        for (const char *name : {"gemma3", "lfm2", "mamba", "llama", "unified", "restore", "children", "fullcache"})
            QTest::newRow(name) << QString::fromLatin1(name);
    }
    void listingsAndCountsAgree()
    {
        QFETCH(QString, name);
        ServerLogModel model;
        QList<std::pair<int, int>> listing; // tokens, checkpoints: read here with nothing of the parser
        int left = 0;
        int rings = 0;
        int listings = 0;
        const QList<QByteArray> lines = fileOf(QStringLiteral("log-%1.txt").arg(name)).split('\n');
        for (const QByteArray &line : lines) {
            model.feed(line);
            const QByteArray text = line.simplified();
            if (const qsizetype at = text.indexOf("cache state: "); at >= 0) {
                left = text.mid(at + 13).split(' ').constFirst().toInt();
                listing.clear();
            } else if (text.contains("- prompt 0x") && left > 0) {
                const QList<QByteArray> words = text.mid(text.indexOf("0x")).split(' ');
                listing.append({words.at(1).toInt(), words.at(4).chopped(1).toInt()});
                --left;
            } else if (const qsizetype created = text.indexOf("created context checkpoint "); created >= 0) {
                const int slot = text.mid(text.indexOf("id ") + 3).split(' ').constFirst().toInt();
                const int count = text.mid(created + 27).split(' ').constFirst().toInt();
                const QList<HeldState> states = model.states();
                const auto held = std::find_if(states.cbegin(), states.cend(), [slot](const HeldState &state) {
                    return state.place == HeldState::Place::Slot && state.slotId == slot;
                });
                QVERIFY(held != states.cend());
                QVERIFY2(held->checkpoints.size() == count, line);
                QVERIFY2(held->checkpointsKnown, line);
                ++rings;
            }
            if (left == 0 && (text.contains("cache state: ") || text.contains("- prompt 0x"))) {
                QList<std::pair<int, int>> entries;
                const QList<HeldState> states = model.states();
                for (const HeldState &state : states) {
                    if (state.place == HeldState::Place::HostCache) {
                        entries.append({state.length, int(state.checkpoints.size())});
                        QVERIFY2(state.checkpointsKnown, line);
                        QVERIFY2(state.taskId >= 0, line);
                        QVERIFY2(state.sizeBytes > 0, line);
                    }
                }
                QVERIFY2(entries == listing, line);
                ++listings;
            }
        }
        QVERIFY(listings > 0);
        if (name != QLatin1String("llama") && name != QLatin1String("restore"))
            QVERIFY(rings > 5);
    }

    /// Save and restore through the API: what the client was told is what the slot holds.
    void restoredFilesComeBackWithTheirRing_data() { servers(); }
    void restoredFilesComeBackWithTheirRing()
    {
        QFETCH(QString, name);
        QFETCH(int, memory);
        const QList<QByteArray> lines = fileOf(QStringLiteral("log-%1.txt").arg(name)).split('\n');
        const QJsonArray truth = QJsonDocument::fromJson(fileOf(QStringLiteral("log-%1.truth.json").arg(name))).array();
        int saved = 0;
        int restored = 0;
        for (const QJsonValue &row : truth) {
            saved += row.toObject().value(QStringLiteral("n_saved")).toInt();
            restored += row.toObject().value(QStringLiteral("n_restored")).toInt();
        }
        QVERIFY(saved > 0);
        QCOMPARE(restored, saved);
        ServerLogModel model;
        QList<Checkpoint> ringAtSave;
        int seen = 0;
        for (const QByteArray &line : lines) {
            if (line.contains("appended ") && line.contains("context checkpoint(s)")) {
                ringAtSave = model.states().constFirst().checkpoints;
                QCOMPARE(model.states().constFirst().length, saved);
            }
            model.feed(line);
            if (line.contains("restored ") && line.contains("context checkpoint(s)")) {
                ++seen;
                const HeldState state = model.states().constFirst();
                QCOMPARE(state.length, restored);
                QCOMPARE(state.checkpoints, ringAtSave);
                QVERIFY(state.checkpointsKnown && state.verified);
                QVERIFY(state.taskId >= 0);
                QCOMPARE(model.task(state.taskId)->promptTokens, saved);
            }
        }
        QCOMPARE(seen, memory == int(MemoryKind::Checkpointed) ? 1 : 0);
    }

    /// Two conversations on four slots with one KV, then pinned: the loss and its cause.
    void twoConversationsOnAUnifiedKv()
    {
        ServerLogModel model;
        const QList<QByteArray> lines = fileOf(QStringLiteral("log-unified.txt")).split('\n');
        for (const QByteArray &line : lines)
            model.feed(line);
        QVERIFY(model.facts().idleSlotsCleared);
        QVERIFY(model.facts().unified);
        QCOMPARE(model.facts().slots, 4);
        QCOMPARE(model.facts().windowCells, 2560); // four sequences of 512, and a batch
        QCOMPARE(model.facts().hostCacheLimitBytes, 8192LL * 1024 * 1024);
        QList<QList<int>> rows;
        for (const LogTask &task : model.tasks())
            rows.append({int(task.task), task.slot, task.promptTokens, task.reused, task.prefilled, task.endLength,
                         task.generated});
        // As the client was told by the answers' timings.
        QCOMPARE(rows,
                 (QList<QList<int>>{{0, 0, 903, 0, 903, 906, 4},
                                    {7, 1, 984, 0, 984, 987, 4},
                                    {14, 2, 1071, 898, 173, 1074, 4},
                                    {20, 1, 1165, 0, 1165, 1168, 4},
                                    {27, 2, 1145, 0, 1145, 1148, 4},
                                    {34, 2, 1186, 1145, 41, 1189, 4}}));
        const LogTask *free = model.task(14);
        QVERIFY(free->loadedFromHostCache);
        QCOMPARE(free->loadedLength, 906);
        QCOMPARE(free->lcp, 903);
        QCOMPARE(free->restored, 899);
        QCOMPARE(free->selectedBy, QStringLiteral("lru"));
        const LogTask *pinned = model.task(20);
        QVERIFY(pinned->slotWasEmpty);
        QCOMPARE(pinned->selectedBy, QStringLiteral("id"));
        QCOMPARE(pinned->emptiedBy, 14); // its start cleared slot 1
        QCOMPARE(model.task(27)->emptiedBy, 20);
        QVERIFY(!model.task(34)->slotWasEmpty);
        // What is where at the end, and whose prompt it is.
        const QList<HeldState> states = model.states();
        QList<std::pair<int, int>> held;
        for (const HeldState &state : states)
            held.append({state.length, int(state.taskId)});
        QCOMPARE(held,
                 (QList<std::pair<int, int>>{{0, -1}, {0, -1}, {1189, 34}, {0, -1}, {987, 7}, {1074, 14}, {1168, 20}}));
        QCOMPARE(states.at(5).checkpoints.size(), 4);
        int cleared = 0;
        for (const ServerLogModel::Happening &happening : model.takeHappenings()) {
            if (happening.kind != QLatin1String("slot-cleared"))
                continue;
            ++cleared;
            QCOMPARE(happening.details.value(QStringLiteral("why")).toString(), QStringLiteral("idle"));
            QVERIFY(happening.details.value(QStringLiteral("by_task")).toInt() > 0);
        }
        QCOMPARE(cleared, 4);
        QVERIFY(model.takeHappenings().isEmpty());
    }

    /// Where there are no checkpoints a restore leaves no line: the next selection shows that the slot holds something
    /// else.
    void aRestoreThatNoLineTells()
    {
        const QList<QByteArray> lines = fileOf(QStringLiteral("log-restore.txt")).split('\n');
        for (const bool told : {false, true}) {
            ServerLogModel model;
            bool checked = false;
            for (const QByteArray &line : lines) {
                if (told && line.contains("selected slot by id") && model.tasks().size() == 1)
                    model.noteSaved(0, QStringLiteral("x.bin"), 906);
                if (told && line.contains("selected slot by id") && model.tasks().size() == 2)
                    model.noteRestored(0, 906, QStringLiteral("x.bin"));
                model.feed(line);
                if (line.contains("checking sim = 0.907 (903/996)")) {
                    checked = true;
                    const HeldState state = model.states().constFirst();
                    QCOMPARE(state.verified, told);
                    QCOMPARE(state.taskId, told ? 0 : -1); // never the prompt of task 6, which was there before
                    if (told)
                        QCOMPARE(state.length, 906);
                }
            }
            QVERIFY(checked);
            QCOMPARE(model.task(12)->reused, 903);
            QCOMPARE(model.task(18)->slotWasEmpty, true);
            QCOMPARE(model.states().constFirst().length, 209);
        }
        // A restore of a file that nobody saw being written.
        ServerLogModel model;
        for (const QByteArray &line : lines)
            model.feed(line);
        model.noteRestored(0, 4000, QStringLiteral("elsewhere.bin"));
        QCOMPARE(model.states().constFirst().length, 4000);
        QCOMPARE(model.states().constFirst().taskId, -1);
        QVERIFY(!model.states().constFirst().checkpointsKnown);
        // One of the same length as what was there is not taken for it.
        model.noteRestored(0, 4000);
        QCOMPARE(model.states().constFirst().taskId, -1);
    }

    void aFullCacheDropsItsOldest()
    {
        ServerLogModel model;
        for (const QByteArray &line : fileOf(QStringLiteral("log-fullcache.txt")).split('\n'))
            model.feed(line);
        QList<int> lengths;
        for (const HeldState &state : model.states()) {
            if (state.place == HeldState::Place::HostCache)
                lengths.append(state.length);
        }
        QCOMPARE(lengths.size(), 4);
        QCOMPARE(model.tasks().size(), 8);
        // Each entry is named by the task whose prompt it is: the four before the last, in order.
        QList<int> expected;
        for (int i = 3; i < 7; ++i)
            expected.append(model.tasks().at(i).endLength);
        QCOMPARE(lengths, expected);
        QCOMPARE(model.facts().hostCacheLimitBytes, 1024 * 1024);
    }

    void childrenOfOneRequest()
    {
        ServerLogModel model;
        for (const QByteArray &line : fileOf(QStringLiteral("log-children.txt")).split('\n'))
            model.feed(line);
        QCOMPARE(model.facts().memory(), MemoryKind::Checkpointed);
        QVERIFY(model.facts().recurrent);
        QCOMPARE(model.task(0)->reused, 0);
        QCOMPARE(model.task(0)->prefilled, 903);
        QCOMPARE(model.task(15)->reused, 899);
        QCOMPARE(model.states().at(1).length, 0); // the child's slot was cleared
        QCOMPARE(model.epoch(), 0); // task 0 behind task 1 is no new server
    }

    void aFullWindowIsFullAttention()
    {
        ServerLogModel model;
        for (const QByteArray &line : fileOf(QStringLiteral("log-swafull.txt")).split('\n'))
            model.feed(line);
        QCOMPARE(model.facts().slidingWindow, 512);
        QVERIFY(model.facts().fullWindow);
        QCOMPARE(model.facts().memory(), MemoryKind::FullAttention);
        QVERIFY(model.facts().memoryReason().contains(QStringLiteral("--swa-full")));
        QList<int> reused;
        for (const LogTask &task : model.tasks())
            reused.append(task.reused);
        QCOMPARE(reused, (QList<int>{0, 851, 593})); // any position
    }

    /// At -lv 3 some lines about checkpoints show, and the ring does not.
    void verbosityThreeShowsNoRing()
    {
        ServerLogModel model;
        for (const QByteArray &line : fileOf(QStringLiteral("log-verbosity3.txt")).split('\n'))
            model.feed(line);
        QVERIFY(model.facts().checkpointSeen);
        QCOMPARE(model.facts().memory(), MemoryKind::Checkpointed);
        QVERIFY(!model.facts().ringReadable());
        for (const HeldState &state : model.states())
            QVERIFY(!state.checkpointsKnown);
        QCOMPARE(model.tasks().size(), 9);
        QCOMPARE(model.tasks().constFirst().prefilled, 1856);
        QCOMPARE(model.tasks().constFirst().reused, -1); // it does not say
    }

    void jsonAndColoursTellTheSame()
    {
        for (const char *name : {"log-json.txt", "log-colours.txt"}) {
            ServerLogModel model;
            for (const QByteArray &line : fileOf(QLatin1String(name)).split('\n'))
                model.feed(line);
            QList<QList<int>> rows;
            for (const LogTask &task : model.tasks())
                rows.append(
                    {int(task.task), task.promptTokens, task.reused, task.prefilled, task.movedTokens, task.endLength});
            QCOMPARE(rows,
                     (QList<QList<int>>{
                         {0, 1856, 0, 1856, 0, 1859}, {5, 1527, 1525, 2, 622, 1530}, {10, 545, 1, 544, 0, 548}}));
            QCOMPARE(model.facts().architecture, QStringLiteral("llama"));
            QCOMPARE(model.facts().memory(), MemoryKind::FullAttention);
            QCOMPARE(model.facts().chunkReuse, QByteArray(name).contains("colours") ? 32 : -1); // -lv 5 names it
        }
    }

    /// A log that begins anywhere: what is claimed to be known is what the whole log says.
    void aLogThatBeginsInTheMiddleClaimsNothingWrong_data()
    {
        QTest::addColumn<QString>("name");
        for (const char *name : {"gemma3", "lfm2", "llama", "unified", "fullcache"})
            QTest::newRow(name) << QString::fromLatin1(name);
    }
    void aLogThatBeginsInTheMiddleClaimsNothingWrong()
    {
        QFETCH(QString, name);
        const QList<QByteArray> lines = fileOf(QStringLiteral("log-%1.txt").arg(name)).split('\n');
        QList<qsizetype> starts;
        for (qsizetype i = 100; i < lines.size(); i += lines.size() / 23)
            starts.append(i);
        ServerLogModel whole;
        QList<ServerLogModel> cut(starts.size());
        int lengths = 0;
        int rings = 0;
        for (qsizetype i = 0; i < lines.size(); ++i) {
            whole.feed(lines.at(i));
            for (qsizetype k = 0; k < starts.size(); ++k) {
                if (i >= starts.at(k))
                    cut[k].feed(lines.at(i));
            }
            if (!lines.at(i).contains("stop processing"))
                continue;
            const QList<HeldState> truth = whole.states();
            for (qsizetype k = 0; k < starts.size() && i >= starts.at(k); ++k) {
                for (const HeldState &state : cut.at(k).states()) {
                    if (state.place != HeldState::Place::Slot)
                        continue;
                    const auto same = std::find_if(truth.cbegin(), truth.cend(), [&](const HeldState &other) {
                        return other.place == state.place && other.slotId == state.slotId;
                    });
                    QVERIFY(same != truth.cend());
                    if (state.verified) {
                        QCOMPARE(state.length, same->length);
                        ++lengths;
                    }
                    if (state.checkpointsKnown) {
                        QCOMPARE(state.checkpoints, same->checkpoints);
                        ++rings;
                    }
                }
            }
        }
        QVERIFY(lengths > 20);
        if (name == QLatin1String("gemma3") || name == QLatin1String("lfm2"))
            QVERIFY(rings > 20); // and it learns: a full re-processing makes the ring known again
    }

    /// A model's data are printed before its memory is: nothing is said of it in between.
    void memoryIsUnknownUntilTheModelIsLoaded()
    {
        for (const char *name : {"log-lfm2.txt", "log-gemma3.txt", "log-llama.txt", "log-swafull.txt"}) {
            ServerLogModel model;
            MemoryKind first = MemoryKind::Unknown;
            for (const QByteArray &line : fileOf(QLatin1String(name)).split('\n')) {
                model.feed(line);
                const MemoryKind kind = model.facts().memory();
                if (first == MemoryKind::Unknown)
                    first = kind;
                QVERIFY2(kind == first, line); // it never changes its mind
                QCOMPARE(model.facts().memoryReason().isEmpty(), kind == MemoryKind::Unknown);
            }
            QVERIFY(first != MemoryKind::Unknown);
        }
    }

    void aDraftModelSaysNothingOfTheSlots()
    {
        ServerLogModel model;
        for (const char *line :
             {"srv  llama_server: initializing ...", "print_info: arch                  = gemma3",
              "print_info: n_swa                 = 512",
              "llama_kv_cache_iswa: creating     SWA KV cache, size = 1024 cells",
              "print_info: arch                  = llama", "print_info: n_swa                 = 0",
              "llama_memory_recurrent: size =    0.07 MiB",
              "srv    load_model: initializing, n_slots = 1, n_ctx_slot = 8192, kv_unified = 'false'"})
            model.feed(line);
        QCOMPARE(model.facts().architecture, QStringLiteral("gemma3"));
        QCOMPARE(model.facts().slidingWindow, 512);
        QVERIFY(!model.facts().recurrent);
    }

    /// The file was cut: what was held is not certain until the server says it again.
    void aGapInTheLog()
    {
        QList<QByteArray> lines = fileOf(QStringLiteral("log-gemma3.txt")).split('\n');
        ServerLogModel model;
        // Up to the end of a task, with the rest behind the gap.
        const QByteArray end = "task 40 | stop processing";
        qsizetype at = 0;
        while (at < lines.size() && !lines.at(at).contains(end))
            ++at;
        QVERIFY(at < lines.size());
        for (qsizetype i = 0; i <= at; ++i)
            model.feed(lines.at(i));
        const HeldState before = model.states().constFirst();
        QVERIFY(before.verified && before.checkpointsKnown && !before.checkpoints.isEmpty() && before.taskId == 40);
        model.noteGap();
        const HeldState after = model.states().constFirst();
        QVERIFY(!after.verified && !after.checkpointsKnown && !after.busy);
        QVERIFY(after.checkpoints.isEmpty());
        QCOMPARE(after.taskId, -1); // whose prompt it is, is no longer known: no ids are attached
        for (const HeldState &state : model.states())
            QVERIFY(!state.verified);
        for (qsizetype i = at + 1; i < lines.size(); ++i)
            model.feed(lines.at(i));
        QVERIFY(model.states().constFirst().verified);
        QCOMPARE(model.epoch(), 0); // it is the same server
    }

    void epochs()
    {
        const QList<QByteArray> lines = fileOf(QStringLiteral("log-gemma3.txt")).split('\n');
        ServerLogModel model;
        const auto run = [&](bool asEvents) {
            for (const QByteArray &line : lines) {
                if (asEvents)
                    model.feed(parseServerLogLine(line));
                else
                    model.feed(line);
            }
        };
        run(false);
        QCOMPARE(model.epoch(), 0); // the first start is no restart
        for (const ServerLogModel::Happening &happening : model.takeHappenings())
            QVERIFY(happening.kind != QLatin1String("server-restarted"));
        run(true);
        QCOMPARE(model.epoch(), 1);
        int restarts = 0;
        int downs = 0;
        for (const ServerLogModel::Happening &happening : model.takeHappenings()) {
            restarts += happening.kind == QLatin1String("server-restarted");
            downs += happening.kind == QLatin1String("server-down");
        }
        QCOMPARE(restarts, 1);
        QCOMPARE(downs, 1);
        for (const HeldState &state : model.states())
            QCOMPARE(state.epoch, 1);
        // A server that slept loads its model again, without a start: nothing is held any more.
        model.feed(
            "0.05.000.000 I srv    load_model: initializing, n_slots = 2, n_ctx_slot = 8192, kv_unified = 'false'");
        QCOMPARE(model.epoch(), 2);
        QCOMPARE(model.states().size(), 2);
        for (const HeldState &state : model.states())
            QCOMPARE(state.length, 0);
    }

    /// A slot file outlives the server. Its content is another epoch's: not that of the task with the same number.
    void aFileOfAnEarlierLife()
    {
        ServerLogModel model;
        const QList<QByteArray> lines = fileOf(QStringLiteral("log-lfm2.txt")).split('\n');
        for (const QByteArray &line : lines)
            model.feed(line);
        for (const char *line :
             {"srv  llama_server: initializing ...",
              "cmn  common_param: common_params_print_info: verbosity = 4 (adjust",
              "srv    load_model: initializing, n_slots = 1, n_ctx_slot = 8192, kv_unified = 'false'",
              "slot load_slot_ch: id  0 | task -1 | restored 8 context checkpoint(s) from '/slots/a.bin'"})
            model.feed(line);
        model.noteRestored(0, 3216, QStringLiteral("a.bin"));
        const HeldState state = model.states().constFirst();
        QCOMPARE(state.length, 3216);
        QCOMPARE(state.taskId, -1);
        QCOMPARE(state.checkpoints.size(), 8);
        const ServerLogModel::ContentKey key = model.contentKeys().constFirst();
        QCOMPARE(key.epoch, 0);
        QVERIFY(key.task > 0);
        QCOMPARE(model.contentKeys().size(), model.states().size());
    }

    /// Of two entries with one length one goes, and it is not said which: neither is claimed to be known.
    void entriesOfOneLength()
    {
        ServerLogModel model;
        const auto task = [&model](int id, int tokens) {
            const auto line = [&](const QString &text) {
                model.feed(QStringLiteral("slot x: id  0 | task %1 | %2").arg(id).arg(text).toUtf8());
            };
            line(QStringLiteral("processing task, is_child = 0"));
            line(QStringLiteral("new prompt, n_ctx_slot = 8192, n_keep = 0, task.n_tokens = %1").arg(tokens));
            line(QStringLiteral("cached n_tokens = 0, memory_seq_rm [0, end)"));
            line(QStringLiteral("stop processing: n_tokens = %1, truncated = 0").arg(tokens));
        };
        const auto select = [&model](int held) {
            model.feed(QStringLiteral("slot x: id  0 | task -1 | selected slot by LRU, n_tokens = %1, t_last = 5")
                           .arg(held)
                           .toUtf8());
        };
        model.feed("cmn  common_param: common_params_print_info: verbosity = 4 (adjust");
        model.feed("srv    load_model: initializing, n_slots = 1, n_ctx_slot = 8192, kv_unified = 'false'");
        task(1, 500);
        select(500);
        model.feed("srv   prompt_save:  - saving prompt with length 500, total state size = 1.000 MiB");
        task(2, 500);
        select(500);
        model.feed("srv   prompt_save:  - saving prompt with length 500, total state size = 1.000 MiB");
        QCOMPARE(model.states().at(1).taskId, 1);
        QCOMPARE(model.states().at(2).taskId, 2);
        task(3, 700);
        select(700);
        model.feed("srv   prompt_save:  - saving prompt with length 700, total state size = 1.000 MiB");
        model.feed("srv         alloc:  - removing obsolete cached prompt with length 500");
        QCOMPARE(model.states().size(), 3);
        QCOMPARE(model.states().at(1).length, 500);
        QCOMPARE(model.states().at(1).taskId, -1);
        QVERIFY(!model.states().at(1).checkpointsKnown);
        QCOMPARE(model.states().at(2).taskId, 3);
        // The same prompt once more, or one too large: it does not stay in the list.
        model.feed("srv   prompt_save:  - saving prompt with length 700, total state size = 1.000 MiB");
        model.feed("srv         alloc:  - prompt is already in the cache, skipping");
        QCOMPARE(model.states().size(), 3);
        model.feed("srv   prompt_save:  - saving prompt with length 700, total state size = 1.000 MiB");
        model.feed("srv         alloc:  - prompt state size 9.000 MiB exceeds cache size limit 1.000 MiB, skipping");
        QCOMPARE(model.states().size(), 3);
        // A listing that does not tally is right all the same.
        model.feed(
            "srv        update:  - cache state: 2 prompts, 3.000 MiB (limits: 0.000 MiB, 8192 tokens, 8192 est)");
        model.feed("srv        update:    - prompt 0x1:     900 tokens, checkpoints:  2,     2.000 MiB");
        model.feed("srv        update:    - prompt 0x2:     700 tokens, checkpoints:  0,     1.000 MiB");
        QCOMPARE(model.states().size(), 3);
        QCOMPARE(model.states().at(1).length, 900);
        QCOMPARE(model.states().at(1).taskId, -1);
        QVERIFY(!model.states().at(1).checkpointsKnown);
        QCOMPARE(model.states().at(2).taskId, 3);
        QVERIFY(model.facts().hostCacheUnlimited);
    }

    /// Of several saved prompts the server takes the first that nothing behind it beats in both numbers.
    void theBestOfSeveralSavedPrompts()
    {
        ServerLogModel model;
        model.feed("cmn  common_param: common_params_print_info: verbosity = 4 (adjust");
        model.feed("srv    load_model: initializing, n_slots = 1, n_ctx_slot = 8192, kv_unified = 'false'");
        model.feed("slot x: id  0 | task -1 | selected slot by LRU, n_tokens = 0, t_last = 5");
        // The printed numbers of the second and third are the same.
        for (const char *line :
             {"srv          load:  - looking for better prompt, base f_keep = -1.000, f_sim = 0.000",
              "srv          load:    - prompt with length    4000, lcp =    1000, f_keep = 0.250, f_sim = 0.200",
              "srv          load:    - prompt with length    4001, lcp =    4000, f_keep = 1.000, f_sim = 0.800",
              "srv          load:    - prompt with length    4002, lcp =    4001, f_keep = 1.000, f_sim = 0.800",
              "srv          load:  - found better prompt with f_keep = 1.000, f_sim = 0.800"})
            model.feed(line);
        QCOMPARE(model.states().constFirst().length, 4002);
        QCOMPARE(model.states().size(), 3);
        // The log began before this: neither the prompt nor its ring is known.
        QCOMPARE(model.states().constFirst().taskId, -1);
        QVERIFY(!model.states().constFirst().checkpointsKnown);
    }

    /// Builds that do not list the saved prompts: what the next listing lacks is what was loaded.
    void anOlderBuildsLoad()
    {
        ServerLogModel model;
        QList<QByteArray> lines = fileOf(QStringLiteral("log-unified.txt")).split('\n');
        lines.removeIf([](const QByteArray &line) { return line.contains("- prompt with length"); });
        for (const QByteArray &line : lines)
            model.feed(line);
        const LogTask *loaded = model.task(14);
        QVERIFY(loaded->loadedFromHostCache);
        QCOMPARE(loaded->loadedLength, 906);
        QCOMPARE(loaded->restored, 899);
        const HeldState entry = model.states().at(5);
        QCOMPARE(entry.length, 1074);
        QCOMPARE(entry.checkpoints.size(), 4);
        QVERIFY(entry.checkpointsKnown); // its ring went from slot 0 through the host cache to slot 2 and back
    }

    void aContextShiftMakesTheIdsUnknown()
    {
        ServerLogModel model;
        for (const char *line :
             {"srv    load_model: initializing, n_slots = 1, n_ctx_slot = 4096, kv_unified = 'false'",
              "slot x: id  0 | task 1 | processing task, is_child = 0",
              "slot x: id  0 | task 1 | new prompt, n_ctx_slot = 4096, n_keep = 0, task.n_tokens = 4000",
              "slot x: id  0 | task 1 | cached n_tokens = 0, memory_seq_rm [0, end)",
              "slot x: id  0 | task 1 | slot context shift, n_keep = 0, n_left = 4095, n_discard = 2047",
              "slot x: id  0 | task 1 | stop processing: n_tokens = 2100, truncated = 1"})
            model.feed(line);
        QCOMPARE(model.states().constFirst().length, 2100);
        QCOMPARE(model.states().constFirst().taskId, -1);
        QCOMPARE(model.task(1)->shiftedTokens, 2047);
    }

    /// A router passes on the lines of several servers; their slots have the same numbers.
    void oneChildOfARouterIsFollowed()
    {
        ServerLogModel model;
        const QList<QByteArray> one = fileOf(QStringLiteral("log-mamba.txt")).split('\n');
        const QList<QByteArray> other = fileOf(QStringLiteral("log-gemma3.txt")).split('\n');
        for (qsizetype i = 0; i < std::max(one.size(), other.size()); ++i) {
            if (i < one.size())
                model.feed("[57259] " + one.at(i));
            if (i < other.size())
                model.feed("[57260] " + other.at(i));
        }
        ServerLogModel alone;
        for (const QByteArray &line : one)
            alone.feed(line);
        QCOMPARE(model.states(), alone.states());
        QCOMPARE(model.tasks(), alone.tasks());
        QVERIFY(model.facts().severalModels);
        QVERIFY(!alone.facts().severalModels);
    }

    void tasksAreBounded()
    {
        ServerLogModel model;
        for (int i = 0; i < 5000; ++i) {
            model.feed(
                QStringLiteral("slot x: id  %1 | task %2 | processing task, is_child = 0").arg(i % 3).arg(i).toUtf8());
            model.feed(QStringLiteral("slot x: id  %1 | task %2 | stop processing: n_tokens = 5, truncated = 0")
                           .arg(i % 3)
                           .arg(i)
                           .toUtf8());
        }
        QCOMPARE(model.tasks().size(), 512);
        QCOMPARE(model.tasks().constLast().task, 4999);
        QVERIFY(model.takeHappenings().size() <= 4096);
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
        for (const HeldState &state : model.states())
            QVERIFY(state.length >= 0);
    }
};

QTEST_GUILESS_MAIN(TestLogModel)
#include "tst_logmodel.moc"
