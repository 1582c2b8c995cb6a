// kerf-test: link=kerf_llama
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/serverbook.h"

#include <QTest>

#include <numeric>

using namespace kerf;

namespace {

/// `count` ids from `first` on.
TokenList ids(int count, int first = 0)
{
    TokenList list(count);
    std::iota(list.begin(), list.end(), first);
    return list;
}

MeasuredRequest ran(const TokenList &prompt, int reused, int generated, const QString &session = QStringLiteral("s"))
{
    MeasuredRequest request;
    request.prompt = prompt;
    request.cacheTokens = reused;
    request.promptTokens = static_cast<int>(prompt.size()) - reused;
    request.generated = generated;
    request.sessionId = session;
    return request;
}

SlotReading slot(int id, qint64 task, int tokens, bool busy = false)
{
    SlotReading reading;
    reading.id = id;
    reading.task = task;
    reading.promptTokens = tokens;
    reading.busy = busy;
    return reading;
}

/// The log of one task, as build 11669 writes it at -lv 4.
void feedTask(ServerLogModel &model, int slotId, int task, int promptTokens, int reused, int held)
{
    const auto feed = [&model](const QString &line) { model.feed(line.toUtf8()); };
    const QString who = QStringLiteral("id  %1 | task %2 |").arg(slotId).arg(task);
    feed(QStringLiteral("slot launch_slot_: %1 processing task, is_child = 0").arg(who));
    feed(QStringLiteral("slot   operator(): %1 new prompt, n_ctx_slot = 32768, n_keep = 0, task.n_tokens = %2")
             .arg(who)
             .arg(promptTokens));
    feed(QStringLiteral("slot   operator(): %1 cached n_tokens = %2, memory_seq_rm [%2, end)").arg(who).arg(reused));
    feed(QStringLiteral("slot print_timing: %1 prompt eval time =     216.99 ms /  %2 tokens (    0.08 ms per token)")
             .arg(who)
             .arg(promptTokens - reused));
    feed(QStringLiteral("slot      release: %1 stop processing: n_tokens = %2, truncated = 0").arg(who).arg(held));
}

const HeldState *stateIn(const QList<HeldState> &states, int slotId)
{
    for (const HeldState &state : states) {
        if (state.place == HeldState::Place::Slot && state.slotId == slotId)
            return &state;
    }
    return nullptr;
}

} // namespace

class TestServerBook : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void idsComeToTheLogsStatesByTask()
    {
        ServerLogModel model;
        feedTask(model, 0, 5, 100, 0, 109);
        ServerBook book;
        book.notePrompt(QStringLiteral("s"), ids(100), -1);
        book.noteRan(ran(ids(100), 0, 10), model.epoch(), 5, 0, 109);
        const QList<HeldState> states = book.withIds(model.states(), model);
        const HeldState *state = stateIn(states, 0);
        QVERIFY(state);
        QCOMPARE(state->tokens, ids(100)); // the generated ones are of unknown ids
        QCOMPARE(state->length, 109);
        QCOMPARE(state->owner, QStringLiteral("s"));
        QVERIFY(state->verified);

        // Told what was generated: but for the last one sampled, which is not in the cache.
        book.noteGenerated(ids(100), ids(10, 500));
        const HeldState told = *stateIn(book.withIds(model.states(), model), 0);
        QCOMPARE(told.tokens, ids(100) + ids(9, 500));
    }

    void anotherClientsTaskHasNoIds()
    {
        ServerLogModel model;
        feedTask(model, 0, 5, 100, 0, 109);
        ServerBook book;
        book.notePrompt(QStringLiteral("s"), ids(100), -1);
        book.noteRan(ran(ids(100), 0, 10), model.epoch(), 5, 0, 109);
        feedTask(model, 0, 9, 80, 3, 85);
        const HeldState state = *stateIn(book.withIds(model.states(), model), 0);
        QVERIFY(state.tokens.isEmpty());
        QVERIFY(state.owner.isEmpty());
        QCOMPARE(state.length, 85);
    }

    void aPromptWithoutTimingsIsRecognisedBySizeAndNotVerified()
    {
        ServerLogModel model;
        feedTask(model, 0, 5, 100, 0, 109);
        ServerBook book;
        book.notePrompt(QStringLiteral("s"), ids(99), -1);
        QVERIFY(stateIn(book.withIds(model.states(), model), 0)->tokens.isEmpty());
        book.notePrompt(QStringLiteral("s"), ids(100), -1);
        const HeldState state = *stateIn(book.withIds(model.states(), model), 0);
        QCOMPARE(state.tokens, ids(100));
        QVERIFY(!state.verified);
    }

    void aRestartMakesWhatRanBeforeItWorthless()
    {
        ServerLogModel model;
        feedTask(model, 0, 5, 100, 0, 109);
        ServerBook book;
        book.notePrompt(QStringLiteral("s"), ids(100), -1);
        book.noteRan(ran(ids(100), 0, 10), model.epoch(), 5, 0, 109);
        // The next life counts its tasks anew: task 5 is another one.
        const QList<HeldState> slotsOnly = book.fromSlots({slot(0, 5, 109)}, model.epoch() + 1, true);
        QVERIFY(slotsOnly.constFirst().tokens.isEmpty());
        QCOMPARE(slotsOnly.size(), 1); // nor is it in the host cache
        QVERIFY(!book.fromSlots({slot(0, 5, 109)}, model.epoch(), true).constFirst().tokens.isEmpty());
    }

    void withoutALogTheSlotsTellByTaskAndCount()
    {
        ServerBook book;
        book.notePrompt(QStringLiteral("s"), ids(100), -1);
        book.noteRan(ran(ids(100), 0, 10), 1, 5, 0, 109);
        const QList<HeldState> states = book.fromSlots({slot(0, 5, 109), slot(1, -1, -1)}, 1, true);
        QCOMPARE(states.at(0).tokens, ids(100));
        QCOMPARE(states.at(0).length, 109);
        QVERIFY(states.at(0).verified);
        QVERIFY(!states.at(0).checkpointsKnown);
        QCOMPARE(states.at(1).length, 0); // never used
        QVERIFY(states.at(1).verified);
        QVERIFY(states.at(0).lastUsed > states.at(1).lastUsed);

        // Another client's: known by its length alone.
        const HeldState other = book.fromSlots({slot(0, 6, 40)}, 1, false).constFirst();
        QVERIFY(other.tokens.isEmpty());
        QCOMPARE(other.length, 40);
        // Fewer than the prompt under the same task: tokens were taken away, and who knows which.
        const HeldState shifted = book.fromSlots({slot(0, 5, 60)}, 1, false).constFirst();
        QVERIFY(shifted.tokens.isEmpty());
        QVERIFY(!shifted.verified);
    }

    void withoutALogAClearedSlotIsInTheHostCache()
    {
        ServerBook book;
        book.notePrompt(QStringLiteral("a"), ids(100), -1);
        book.noteRan(ran(ids(100), 0, 10, QStringLiteral("a")), 1, 5, 0, 109);
        book.notePrompt(QStringLiteral("b"), ids(80, 1000), -1);
        book.noteRan(ran(ids(80, 1000), 0, 10, QStringLiteral("b")), 1, 9, 1, 89);
        const QList<HeldState> states = book.fromSlots({slot(0, 5, 0), slot(1, 9, 89)}, 1, true);
        QCOMPARE(states.size(), 3);
        QCOMPARE(states.at(0).length, 0);
        QCOMPARE(states.at(1).tokens, ids(80, 1000));
        QCOMPARE(states.at(2).place, HeldState::Place::HostCache);
        QCOMPARE(states.at(2).tokens, ids(100));
        QVERIFY(!states.at(2).verified);
        QCOMPARE(book.fromSlots({slot(0, 5, 0), slot(1, 9, 89)}, 1, false).size(), 2); // --cache-ram 0
    }

    void withoutALogAPromptThatWasExtendedIsNotHeldTwice()
    {
        ServerBook book;
        book.noteRan(ran(ids(100), 0, 10), 1, 5, 0, 109);
        book.noteRan(ran(ids(150), 100, 10), 1, 7, 0, 159);
        QCOMPARE(book.fromSlots({slot(0, 7, 159)}, 1, true).size(), 1);
        // One that was cut down to less than half was saved first.
        book.noteRan(ran(ids(40) + ids(20, 900), 40, 10), 1, 9, 0, 69);
        const QList<HeldState> states = book.fromSlots({slot(0, 9, 69)}, 1, true);
        QCOMPARE(states.size(), 2);
        QCOMPARE(states.at(1).tokens, ids(150));
    }

    void slotFilesAndErasuresCountUntilTheNextTask()
    {
        ServerBook book;
        book.noteRan(ran(ids(100), 0, 10), 1, 5, 0, 109);
        book.noteSaved(0, 1, QStringLiteral("f"), 109);
        book.noteErased(0, 1, 5);
        QCOMPARE(book.fromSlots({slot(0, 5, 0)}, 1, true).size(), 1); // an erased prompt is not in the host cache
        QCOMPARE(book.fromSlots({slot(0, 5, 0)}, 1, true).constFirst().length, 0);
        // Restored into a slot that /slots shows nothing of.
        book.noteRestored(1, 1, -1, QStringLiteral("f"), 109);
        const HeldState restored = book.fromSlots({slot(0, 5, 0), slot(1, -1, -1)}, 1, false).at(1);
        QCOMPARE(restored.length, 109);
        QCOMPARE(restored.tokens, ids(100));
        QCOMPARE(restored.owner, QStringLiteral("s"));
        QVERIFY(!restored.verified);
        // A file of another size than was saved under the name is another file.
        book.noteRestored(1, 1, -1, QStringLiteral("f"), 110);
        QVERIFY(book.fromSlots({slot(1, -1, -1)}, 1, false).constFirst().tokens.isEmpty());
        // Another task ran on it since.
        QCOMPARE(book.fromSlots({slot(1, 12, 30)}, 1, false).constFirst().length, 30);
        // The file outlives the server.
        book.noteRestored(0, 2, -1, QStringLiteral("f"), 109);
        QCOMPARE(book.fromSlots({slot(0, -1, -1)}, 2, false).constFirst().tokens, ids(100));
    }

    void theLast32AreKeptThoseThatRanLonger()
    {
        ServerBook book;
        book.noteRan(ran(ids(100), 0, 0), 1, 5, 0, 100);
        for (int i = 0; i < 200; ++i)
            book.notePrompt(QStringLiteral("s"), ids(50, 1000 * (i + 1)), -1);
        QCOMPARE(book.size(), 32);
        QCOMPARE(book.fromSlots({slot(0, 5, 100)}, 1, false).constFirst().tokens, ids(100));
        for (int i = 0; i < 40; ++i)
            book.noteRan(ran(ids(60, 1000 * (i + 1)), 0, 0), 1, 6 + i, 0, 60);
        QCOMPARE(book.size(), 32);
        QVERIFY(book.fromSlots({slot(0, 5, 100)}, 1, false).constFirst().tokens.isEmpty());
    }

    void whatARequestMetIsToldBeforeItIsBooked()
    {
        ServerBook book;
        QCOMPARE(book.metBy(ids(10), 0, 1).lcp, -1);
        book.noteRan(ran(ids(100), 0, 10), 1, 5, 0, 109);
        book.noteRan(ran(ids(70) + ids(10, 900), 70, 0), 1, 8, 1, 80);
        const ServerBook::Met met = book.metBy(ids(60) + ids(40, 5000), 0, 1);
        QCOMPARE(met.lcp, 60);
        QCOMPARE(met.heldLength, 109);
        QCOMPARE(met.task, 5);
        QVERIFY(met.isRival(60));
        QVERIFY(!met.isRival(30));
        QCOMPARE(book.metBy(ids(60), 0, 2).lcp, -1); // another life
    }
};

QTEST_GUILESS_MAIN(TestServerBook)
#include "tst_serverbook.moc"
