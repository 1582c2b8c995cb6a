// kerf-test: link=kerf_engine
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/keptprompts.h"
#include "core/engine/slothistory.h"
#include "core/llama/logmodel.h"

#include <QFile>
#include <QJsonDocument>
#include <QTest>

using namespace kerf;

namespace {

QJsonObject json(const char *text) { return QJsonDocument::fromJson(QByteArray(text)).object(); }

QJsonObject laneOf(const SlotHistory &history, int slot, qint64 since = 0)
{
    const QJsonArray lanes = history.toJson(since).value(QStringLiteral("history")).toArray();
    for (const QJsonValue &lane : lanes) {
        if (lane.toObject().value(QStringLiteral("slot_id")).toInt() == slot)
            return lane.toObject();
    }
    return {};
}

QJsonArray pointsOf(const SlotHistory &history, int slot, qint64 since = 0)
{
    return laneOf(history, slot, since).value(QStringLiteral("points")).toArray();
}

KeptPrompt prompt(int tokens)
{
    KeptPrompt kept;
    for (int i = 0; i < tokens; ++i)
        kept.tokens.append(i);
    kept.parts.append(QJsonObject{{QStringLiteral("begin"), 0}, {QStringLiteral("end"), tokens}});
    return kept;
}

} // namespace

class TestSlotHistory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// By the happenings of a real log, line by line: what each task left behind, and what erased what.
    void byARealLog()
    {
        QFile file(QStringLiteral(KERF_TEST_DATA "/llama-server/log-gemma3.txt"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        ServerLogModel model;
        SlotHistory history;
        qint64 clock = 1000;
        while (!file.atEnd()) {
            model.feed(QByteArrayView(file.readLine()));
            for (const ServerLogModel::Happening &happening : model.takeHappenings()) {
                QJsonObject details = happening.details;
                if (happening.kind == QLatin1String("task-finished")) {
                    const LogTask *task = model.task(details.value(QStringLiteral("task")).toInteger());
                    QVERIFY(task);
                    details.insert(QStringLiteral("lcp"), task->lcp);
                }
                history.happened(happening.kind, details, ++clock);
            }
        }
        const QJsonObject all = history.toJson(0);
        const QJsonArray tasks = all.value(QStringLiteral("tasks")).toArray();
        QCOMPARE(tasks.size(), 18);
        const auto task = [&tasks](int number) {
            for (const QJsonValue &row : tasks) {
                if (row.toObject().value(QStringLiteral("task")).toInt() == number)
                    return row.toObject();
            }
            return QJsonObject();
        };
        QCOMPARE(task(40).value(QStringLiteral("prompt_tokens")).toInt(), 2302);
        QCOMPARE(task(40).value(QStringLiteral("reused")).toInt(), 1348);
        QCOMPARE(task(40).value(QStringLiteral("prefilled")).toInt(), 954);
        QVERIFY(task(40).value(QStringLiteral("end_ms")).toInteger()
                > task(40).value(QStringLiteral("begin_ms")).toInteger());
        const QJsonArray points = pointsOf(history, 0);
        QVERIFY(points.size() >= 36);
        QCOMPARE(points.last().toObject().value(QStringLiteral("tokens")).toInt(), 2027);
        QVERIFY(!points.last().toObject().value(QStringLiteral("busy")).toBool());
        bool erased = false;
        const QJsonArray erasures = all.value(QStringLiteral("erasures")).toArray();
        for (const QJsonValue &row : erasures)
            erased = erased
                || row.toObject()
                       .value(QStringLiteral("text"))
                       .toString()
                       .startsWith(QStringLiteral("Task 40 (2,302 tokens, LCP 1,579) erased "));
        QVERIFY2(erased, QJsonDocument(erasures).toJson().constData());
    }

    void whatErasedWhat()
    {
        SlotHistory history;
        const QJsonObject erased = json(R"({"slot":0,"task":44,"position":1,"why":"rewind"})");
        history.happened(QStringLiteral("checkpoint-erased"), erased, 10);
        const auto text = [&history](int row) {
            return history.toJson(0)
                .value(QStringLiteral("erasures"))
                .toArray()
                .at(row)
                .toObject()
                .value(QStringLiteral("text"))
                .toString();
        };
        QCOMPARE(text(0), QStringLiteral("Task 44 erased 1 checkpoint")); // at once, while it runs
        for (int i = 0; i < 4; ++i)
            history.happened(QStringLiteral("checkpoint-erased"), erased, 11 + i);
        history.happened(QStringLiteral("checkpoint-erased"),
                         json(R"({"slot":0,"task":44,"position":1,"why":"thinned"})"), 16); // housekeeping
        history.happened(QStringLiteral("task-finished"),
                         json(R"({"slot":0,"task":44,"prompt_tokens":884,"lcp":0,"held":884})"), 20);
        QCOMPARE(text(0), QStringLiteral("Task 44 (884 tokens, LCP 0) erased 5 checkpoints"));
        history.happened(QStringLiteral("slot-cleared"), json(R"({"slot":1,"tokens":993,"why":"idle","by_task":45})"),
                         30);
        QCOMPARE(text(1), QStringLiteral("Slot 1 (993 tokens) was cleared when task 45 started: idle slots are"));
        history.happened(QStringLiteral("slot-cleared"),
                         json(R"({"slot":0,"tokens":884,"why":"erased","by_task":null})"), 31);
        QCOMPARE(text(2), QStringLiteral("A client cleared slot 0 (884 tokens)"));
        // The same number in the server's next life is another task.
        history.happened(QStringLiteral("server-restarted"), {}, 40);
        history.happened(QStringLiteral("checkpoint-erased"), erased, 41);
        QCOMPARE(text(3), QStringLiteral("Task 44 erased 1 checkpoint"));
    }

    /// Without a log only what is there now is read, again and again.
    void byLookingAgainAndAgain()
    {
        SlotHistory history;
        const auto look = [&history](const char *text, qint64 at) { history.snapshot(json(text), at); };
        look(R"({"readable":true,"slots":[{"slot_id":0,"tokens":0,"busy":false,"task":null}]})", 100);
        look(R"({"readable":true,"slots":[{"slot_id":0,"tokens":0,"busy":false,"task":null}]})", 200); // nothing new
        QCOMPARE(pointsOf(history, 0).size(), 1);
        look(
            R"({"readable":true,"slots":[{"slot_id":0,"tokens":50,"busy":true,"task":3,"prefill":{"total":200,"reused":20,"processed":30}}]})",
            300);
        look(
            R"({"readable":true,"slots":[{"slot_id":0,"tokens":210,"busy":false,"task":3,"session_id":"s","last_reuse":20,"last_prefill":180}]})",
            500);
        look(R"({"readable":false,"slots":[]})", 600); // not readable: what was, stays
        const QJsonArray points = pointsOf(history, 0);
        QCOMPARE(points.size(), 3);
        QCOMPARE(points.at(1).toObject().value(QStringLiteral("processed")).toInt(), 30);
        QCOMPARE(points.at(1).toObject().value(QStringLiteral("to_process")).toInt(), 180); // what is prefilled of it
        QVERIFY(points.at(2).toObject().value(QStringLiteral("processed")).isNull());
        const QJsonObject task = history.toJson(0).value(QStringLiteral("tasks")).toArray().at(0).toObject();
        QCOMPARE(task.value(QStringLiteral("session_id")).toString(), QStringLiteral("s"));
        QCOMPARE(task.value(QStringLiteral("begin_ms")).toInt(), 300);
        QCOMPARE(task.value(QStringLiteral("end_ms")).toInt(), 500);
        QVERIFY(task.value(QStringLiteral("lcp")).isNull()); // nobody said it: null, not 0
        // Since a time: with the last point before it, or the lane would begin in the air.
        QCOMPARE(pointsOf(history, 0, 400).size(), 2);
        QCOMPARE(pointsOf(history, 0, 10'000).size(), 1);
    }

    void boundedAndInOrder()
    {
        SlotHistory history;
        for (int i = 0; i < 5000; ++i) {
            history.happened(QStringLiteral("task-started"), {{QStringLiteral("slot"), 0}, {QStringLiteral("task"), i}},
                             i * 10);
            history.happened(QStringLiteral("task-finished"),
                             {{QStringLiteral("slot"), 0}, {QStringLiteral("task"), i}, {QStringLiteral("held"), i}},
                             i * 10 + 5);
        }
        const QJsonArray points = pointsOf(history, 0);
        QCOMPARE(points.size(), SlotHistory::kMostPoints);
        QCOMPARE(history.toJson(0).value(QStringLiteral("tasks")).toArray().size(), SlotHistory::kMostTasks);
        qint64 before = 0;
        for (const QJsonValue &point : points) {
            const qint64 at = point.toObject().value(QStringLiteral("at_ms")).toInteger();
            QVERIFY(at >= before);
            before = at;
        }
        // A clock that goes back does not turn the lane round.
        history.happened(QStringLiteral("task-started"), {{QStringLiteral("slot"), 0}, {QStringLiteral("task"), 9999}},
                         1);
        QCOMPARE(pointsOf(history, 0).last().toObject().value(QStringLiteral("at_ms")).toInteger(), before);
        // The log's own time wins over ours.
        SlotHistory timed;
        timed.happened(QStringLiteral("task-started"),
                       {{QStringLiteral("slot"), 0},
                        {QStringLiteral("task"), 1},
                        {QStringLiteral("at"), QStringLiteral("2026-11-30T14:02:11.250Z")}},
                       7);
        QCOMPARE(
            pointsOf(timed, 0).at(0).toObject().value(QStringLiteral("at_ms")).toInteger(),
            QDateTime::fromString(QStringLiteral("2026-11-30T14:02:11.250Z"), Qt::ISODateWithMs).toMSecsSinceEpoch());
    }

    void promptsAreKeptByCompaction()
    {
        KeptPrompts kept;
        kept.notePlan(QStringLiteral("p1"), prompt(100), prompt(60));
        QVERIFY(!kept.compaction(QStringLiteral("s"), 1, true)); // planned is not applied
        kept.noteApplied(QStringLiteral("p1"), QStringLiteral("s"), 1);
        QCOMPARE(kept.compaction(QStringLiteral("s"), 1, false)->tokens.size(), 100);
        QCOMPARE(kept.compaction(QStringLiteral("s"), 1, true)->tokens.size(), 60);
        QVERIFY(!kept.compaction(QStringLiteral("t"), 1, true));
        kept.noteUndone(QStringLiteral("s"), 1);
        QVERIFY(!kept.compaction(QStringLiteral("s"), 1, true));
        for (int i = 1; i <= 40; ++i) {
            kept.notePlan(QStringLiteral("q%1").arg(i), prompt(10), prompt(5));
            kept.noteApplied(QStringLiteral("q%1").arg(i), QStringLiteral("s"), i);
        }
        QVERIFY(!kept.compaction(QStringLiteral("s"), 8, true)); // the last 32
        QVERIFY(kept.compaction(QStringLiteral("s"), 9, true));
        // At most 4 million ids, but never none.
        for (int i = 41; i <= 43; ++i) {
            kept.notePlan(QStringLiteral("q%1").arg(i), prompt(1'500'000), prompt(1'000'000));
            kept.noteApplied(QStringLiteral("q%1").arg(i), QStringLiteral("s"), i);
        }
        QVERIFY(kept.compaction(QStringLiteral("s"), 43, true));
        QVERIFY(!kept.compaction(QStringLiteral("s"), 42, true));
        kept.noteSent(QStringLiteral("s"), prompt(7));
        QCOMPARE(kept.sent(QStringLiteral("s"))->tokens.size(), 7);
        kept.forgetSession(QStringLiteral("s"));
        QVERIFY(!kept.sent(QStringLiteral("s")) && !kept.compaction(QStringLiteral("s"), 43, true));
        QCOMPARE(partsWithin(prompt(10).parts, 4).at(0).toObject().value(QStringLiteral("end")).toInt(), 4);
        QVERIFY(partsWithin(prompt(10).parts, 0).isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestSlotHistory)
#include "tst_slothistory.moc"
