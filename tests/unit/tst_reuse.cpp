// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_cache

#include "core/cache/reuse.h"

#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QTest>

using namespace kerf;

namespace {

TokenList made(int count, quint32 seed)
{
    QRandomGenerator random(seed);
    TokenList tokens;
    tokens.reserve(count);
    for (int i = 0; i < count; ++i)
        tokens.append(random.bounded(300, 1'000'000));
    return tokens;
}

HeldState slot(int id, const TokenList &tokens, int length = -1, qint64 lastUsed = 0)
{
    HeldState state;
    state.slotId = id;
    state.tokens = tokens;
    state.length = length < 0 ? int(tokens.size()) : length;
    state.checkpointsKnown = true;
    state.lastUsed = lastUsed;
    return state;
}

HeldState saved(const TokenList &tokens, int length = -1)
{
    HeldState state = slot(-1, tokens, length);
    state.place = HeldState::Place::HostCache;
    state.verified = true;
    return state;
}

Checkpoint at(int position, int posMin, int posMax = -1)
{
    Checkpoint checkpoint;
    checkpoint.position = position;
    checkpoint.posMin = posMin;
    checkpoint.posMax = posMax < 0 ? position - 1 : posMax;
    return checkpoint;
}

Checkpoint recurrentAt(int position) { return at(position, position - 1); }

ReuseRule dense(int chunks = 0)
{
    ReuseRule rule;
    rule.memory = MemoryKind::FullAttention;
    rule.chunkReuse = chunks;
    rule.chunkReuseKnown = true;
    return rule;
}

ReuseRule windowed(int window = 512)
{
    ReuseRule rule;
    rule.memory = MemoryKind::Checkpointed;
    rule.slidingWindow = window;
    return rule;
}

ReuseRule recurrent()
{
    ReuseRule rule;
    rule.memory = MemoryKind::Checkpointed;
    rule.recurrent = true;
    return rule;
}

const TokenList kA = made(6000, 1);
const TokenList kB = made(6000, 2);

#define COMPARE_REUSE(prediction, value) \
    do { \
        const ReusePrediction p_ = (prediction); \
        QVERIFY2(p_.predicted == (value) && p_.low == (value) && p_.high == (value), \
                 qPrintable(QStringLiteral("predicted %1 (%2..%3), expected %4: %5") \
                                .arg(p_.predicted) \
                                .arg(p_.low) \
                                .arg(p_.high) \
                                .arg(value) \
                                .arg(p_.reason))); \
        QVERIFY(!p_.reason.isEmpty()); \
    } while (false)

} // namespace

class tst_Reuse : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void names();
    void hashes();
    void nothingHeld();
    void fullAttention();
    void checkpointsOfRecurrentMemory();
    void checkpointsOfAWindow();
    void windowMemory();
    void identicalPrompt();
    void onlyInternalCheckpointsCount();
    void loadedStatesHoldTheWindowOnly();
    void invisibleRing();
    void unknownMemory();
    void neitherWindowNorRecurrence();
    void chunks();
    void chunksNeverSkipANewToken();
    void chunksAgainstTheSlowSearch();
    void chunkReuseThroughTheHostCache();
    void savedPromptsThatMayBeGone();
    void similarityChoosesTheSlot();
    void leastRecentlyUsed();
    void hostCache_data();
    void hostCache();
    void hostCacheIsFull();
    void pinned();
    void busySlots();
    void unknownReply();
    void statesKnownByLength();
    void summaryThenBack();
    void isFast();
    void rangesHold();
    void splicesAnswerAsTheirTokens();
};

void tst_Reuse::names()
{
    for (const MemoryKind kind : {MemoryKind::Unknown, MemoryKind::FullAttention, MemoryKind::Checkpointed})
        QCOMPARE(memoryKindFromName(memoryKindName(kind)), std::optional(kind));
    for (const CheckpointKind kind : {CheckpointKind::InternalCheckpoint, CheckpointKind::SlotSaveFile,
                                      CheckpointKind::FoldMarker, CheckpointKind::PreRewrite})
        QCOMPARE(checkpointKindFromName(checkpointKindName(kind)), std::optional(kind));
    QVERIFY(!memoryKindFromName(QStringLiteral("swap")));
    QVERIFY(!checkpointKindFromName(QString()));
}

void tst_Reuse::hashes()
{
    QCOMPARE(hashTokens(kA, 100), hashTokens(kA.first(100), 100));
    QCOMPARE(hashTokens(kA, 100), hashTokens(kA.first(100), 5000));
    QVERIFY(hashTokens(kA, 100) != hashTokens(kA, 99));
    QVERIFY(hashTokens({1, 2}, 2) != hashTokens({2, 1}, 2));
    QCOMPARE(hashTokens({}, 0), 14695981039346656037ULL);
    // FNV-1a over the little-endian ids, computed by hand: the store keeps these.
    quint64 hash = 14695981039346656037ULL;
    for (const unsigned byte : {0x01U, 0x02U, 0U, 0U})
        hash = (hash ^ byte) * 1099511628211ULL;
    QCOMPARE(hashTokens({0x0201}, 1), hash);
}

void tst_Reuse::nothingHeld()
{
    const ReusePrediction empty = predictReuse({}, {kA.first(10), -1}, dense());
    COMPARE_REUSE(empty, 0);
    QCOMPARE(empty.stateIndex, -1);
    QVERIFY(empty.claimable);
    COMPARE_REUSE(predictReuse({slot(0, {})}, {kA.first(10), -1}, dense()), 0);
    COMPARE_REUSE(predictReuse({slot(0, {})}, {kA.first(10), 0}, recurrent()), 0);
    const ReusePrediction none = predictReuse({slot(0, kA)}, {{}, -1}, dense());
    COMPARE_REUSE(none, 0);
    const ReusePrediction other = predictReuse({slot(0, kA)}, {kB, -1}, dense());
    COMPARE_REUSE(other, 0);
    QCOMPARE(other.stateIndex, 0);
}

// LLAMA_SERVER.md, section 1: head 2,243, dropped 2,235, tail 1,171, new 46.
void tst_Reuse::fullAttention()
{
    const TokenList held = kA.first(5649);
    const TokenList cut = held.first(2243) + held.mid(4478) + kB.first(46);
    COMPARE_REUSE(predictReuse({slot(0, held)}, {cut, -1}, dense()), 2243);
    COMPARE_REUSE(predictReuse({slot(0, held)}, {cut, -1}, dense(64)), 3414);
    COMPARE_REUSE(predictReuse({slot(0, held)}, {held.first(2) + kB.first(800) + held.mid(4478), -1}, dense()), 2);
    COMPARE_REUSE(predictReuse({slot(0, held)}, {held, -1}, dense()), 5648); // 1 token is processed
    COMPARE_REUSE(predictReuse({slot(0, held)}, {held.first(2000), -1}, dense()), 1999); // a strict prefix
    COMPARE_REUSE(predictReuse({slot(0, held)}, {held + kB.first(5), -1}, dense()), 5649);
    const ReusePrediction p = predictReuse({slot(0, held)}, {cut, -1}, dense(64));
    QCOMPARE(p.lcp, 2243);
    QCOMPARE(p.stateIndex, 0);
    QCOMPARE(p.slotIndex, 0);
    QCOMPARE(p.chunks, QList<ChunkMove>({{4478, 2243, 1171}}));
    QCOMPARE(p.checkpointPosition, -1);
    QVERIFY(p.claimable);
}

// The recorded lfm2 and mamba: ring, cut at 1,579 of 3,216, prompt of 2,302.
void tst_Reuse::checkpointsOfRecurrentMemory()
{
    HeldState held = slot(0, kA.first(3216));
    for (const int position : {437, 887, 1349, 1819, 2286, 2737, 2981, 3212})
        held.checkpoints.append(recurrentAt(position));
    const ReusePrediction cut = predictReuse({held}, {kA.first(1579) + kB.first(723), -1}, recurrent());
    COMPARE_REUSE(cut, 1349);
    QCOMPARE(cut.checkpointPosition, 1349);
    QCOMPARE(cut.lcp, 1579);
    QVERIFY(cut.claimable);
    COMPARE_REUSE(predictReuse({held}, {kA.first(1349) + kB.first(723), -1}, recurrent()), 1349); // just at it
    COMPARE_REUSE(predictReuse({held}, {kA.first(1348) + kB.first(723), -1}, recurrent()), 887); // one below it
    COMPARE_REUSE(predictReuse({held}, {kA.first(436) + kB.first(300), -1}, recurrent()), 0);
    COMPARE_REUSE(predictReuse({held}, {kA.first(3250), -1}, recurrent()), 3216); // extends it
    COMPARE_REUSE(predictReuse({held}, {kA.first(3215) + kB.first(10), -1}, recurrent()), 3212);
    COMPARE_REUSE(predictReuse({held}, {kA.first(3216), -1}, recurrent()), 3212); // identical: 4 tokens
    COMPARE_REUSE(predictReuse({held}, {kA.first(2027), -1}, recurrent()), 1819);
    const ReusePrediction none = predictReuse({held}, {kA.first(1) + kB.first(883), -1}, recurrent());
    COMPARE_REUSE(none, 0);
    QVERIFY(none.claimable); // that nothing is reused is known as well
    QCOMPARE(none.checkpointPosition, -1);
}

// The recorded gemma3, n_swa 512.
void tst_Reuse::checkpointsOfAWindow()
{
    HeldState held = slot(0, kA.first(3216));
    held.checkpoints = {at(437, 0),     at(887, 0),     at(1349, 325),  at(1819, 795),
                        at(2286, 1262), at(2737, 1713), at(2981, 1957), at(3212, 2188)};
    const ReusePrediction cut = predictReuse({held}, {kA.first(1579) + kB.first(723), -1}, windowed());
    COMPARE_REUSE(cut, 1348); // n_past is one less than n_tokens
    QCOMPARE(cut.checkpointPosition, 1349);
    COMPARE_REUSE(predictReuse({held}, {kA.first(1) + kB.first(883), -1}, windowed()), 0);
    COMPARE_REUSE(predictReuse({held}, {kA.first(3216) + kB.first(17), -1}, windowed()), 3216);
    HeldState longer = slot(0, kA.first(3242));
    longer.checkpoints = {at(887, 0),     at(1349, 325),  at(1819, 795),  at(2286, 1262),
                          at(2737, 1713), at(3212, 2188), at(3216, 2704), at(3238, 2704)};
    COMPARE_REUSE(predictReuse({longer}, {kA.first(2027), -1}, windowed()), 1818);
    // Shorter than the window: extending goes back to the checkpoint 4 tokens before the end.
    HeldState shorter = slot(0, kA.first(441));
    shorter.checkpoints = {at(437, 0)};
    COMPARE_REUSE(predictReuse({shorter}, {kA.first(667), -1}, windowed()), 436);
}

// Measured on build 11669 with gemma3: what is still in the window's memory needs no checkpoint.
void tst_Reuse::windowMemory()
{
    HeldState held = slot(0, kA.first(2000));
    held.checkpoints = {at(1484, 460), at(1996, 972)};
    for (const int lcp : {1990, 1900, 1550, 1487}) {
        const ReusePrediction p = predictReuse({held}, {kA.first(lcp) + kB.first(50), -1}, windowed());
        COMPARE_REUSE(p, lcp);
        QCOMPARE(p.checkpointPosition, -1);
        QVERIFY(p.claimable);
    }
    HeldState later = slot(0, kA.first(2000));
    later.checkpoints = {at(1484, 460), at(1550, 1016), at(1996, 1016)};
    COMPARE_REUSE(predictReuse({later}, {kA.first(1440) + kB.first(50), -1}, windowed()),
                  0); // "against 930", 460 ends at 1,483
    HeldState thousand = slot(0, kA.first(1000));
    thousand.checkpoints = {at(974, 0), at(999, 466)};
    COMPARE_REUSE(predictReuse({thousand}, {kA.first(700) + kB.first(50), -1}, windowed()), 0);
    HeldState small = slot(0, kA.first(750));
    small.checkpoints = {at(234, 0), at(746, 0)};
    COMPARE_REUSE(predictReuse({small}, {kA.first(515) + kB.first(50), -1}, windowed()), 515);
    COMPARE_REUSE(predictReuse({small}, {kA.first(505) + kB.first(50), -1}, windowed()), 233);
    // The memory's size and first position as told are taken.
    HeldState told = slot(0, kA.first(2000));
    told.posMin = 1488;
    COMPARE_REUSE(predictReuse({told}, {kA.first(2000) + kB.first(5), -1}, windowed()), 2000);
    COMPARE_REUSE(predictReuse({told}, {kA.first(1998) + kB.first(5), -1}, windowed()), 0);
    COMPARE_REUSE(predictReuse({told}, {kA.first(1999) + kB.first(5), -1}, windowed()), 1999);
    // A reply of 60 tokens, its ids known, of which the next prompt keeps 26 (gemma3 "-5 to 26").
    HeldState replied = slot(0, kA.first(2060));
    replied.checkpoints = {at(1484, 460), at(1996, 972)};
    COMPARE_REUSE(predictReuse({replied}, {kA.first(2026) + kB.first(60), -1}, windowed()), 2026);
}

void tst_Reuse::identicalPrompt()
{
    HeldState held = slot(0, kA.first(555));
    held.checkpoints = {at(232, 0), at(551, 0)};
    COMPARE_REUSE(predictReuse({held}, {kA.first(555), -1}, windowed()), 554); // measured on build 11669
    held = slot(0, kA.first(1000));
    held.checkpoints = {recurrentAt(996)};
    COMPARE_REUSE(predictReuse({held}, {kA.first(1000), -1}, recurrent()), 996);
    COMPARE_REUSE(predictReuse({slot(0, kA.first(1))}, {kA.first(1), -1}, dense()), 0);
}

void tst_Reuse::onlyInternalCheckpointsCount()
{
    HeldState held = slot(0, kA.first(2000));
    Checkpoint file = recurrentAt(1500);
    file.kind = CheckpointKind::SlotSaveFile;
    held.checkpoints = {recurrentAt(1000), file};
    COMPARE_REUSE(predictReuse({held}, {kA.first(1600) + kB.first(50), -1}, recurrent()), 1000);
}

// Measured on build 11669: gemma3, 3,216 tokens brought back from the host cache, first position 2,704.
void tst_Reuse::loadedStatesHoldTheWindowOnly()
{
    HeldState entry = saved(kA.first(3216));
    entry.checkpoints = {at(1349, 325), at(3212, 2188)};
    const HeldState other = slot(0, kB.first(800), -1, 5);
    COMPARE_REUSE(predictReuse({other, entry}, {kA.first(3216) + kB.first(17), -1}, windowed()), 3216);
    COMPARE_REUSE(predictReuse({other, entry}, {kA.first(3215) + kB.first(17), -1}, windowed()), 3215);
    // Two tokens less and it has to go back; the same in a slot would not.
    COMPARE_REUSE(predictReuse({other, entry}, {kA.first(3214) + kB.first(17), -1}, windowed()), 3211);
    COMPARE_REUSE(predictReuse({other, entry}, {kA.first(3100) + kB.first(17), -1}, windowed()), 1348);
    HeldState inSlot = slot(0, kA.first(3216));
    inSlot.checkpoints = entry.checkpoints;
    COMPARE_REUSE(predictReuse({inSlot}, {kA.first(3100) + kB.first(17), -1}, windowed()), 3100);
}

void tst_Reuse::invisibleRing()
{
    HeldState held = slot(0, kA.first(2000));
    held.checkpointsKnown = false;
    for (const ReuseRule &rule : {recurrent(), windowed()}) {
        const ReusePrediction p = predictReuse({held}, {kA.first(1500) + kB.first(50), -1}, rule);
        QCOMPARE(p.low, 0);
        QCOMPARE(p.predicted, 0);
        QCOMPARE(p.high, 1500);
        QVERIFY(!p.claimable);
        QVERIFY(p.reason.contains(QStringLiteral("not visible")));
        // A prompt that only extends what is held needs no ring.
        const ReusePrediction extends = predictReuse({held}, {kA.first(2100), -1}, rule);
        COMPARE_REUSE(extends, 2000);
        QVERIFY(extends.claimable);
    }
    HeldState shorter = slot(0, kA.first(441));
    shorter.checkpointsKnown = false;
    const ReusePrediction p = predictReuse({shorter}, {kA.first(600), -1}, windowed());
    QCOMPARE(p.low, 0);
    QCOMPARE(p.high, 441);
    QVERIFY(!p.claimable);
}

void tst_Reuse::unknownMemory()
{
    const ReusePrediction p = predictReuse({slot(0, kA.first(2000))}, {kA.first(1500) + kB.first(50), -1}, {});
    QCOMPARE(p.low, 0);
    QCOMPARE(p.predicted, 0);
    QCOMPARE(p.high, 1500);
    QCOMPARE(p.lcp, 1500);
    QVERIFY(!p.claimable);
    QVERIFY(p.reason.contains(QStringLiteral("memory kind is not known")));
}

void tst_Reuse::neitherWindowNorRecurrence()
{
    ReuseRule rule;
    rule.memory = MemoryKind::Checkpointed;
    HeldState held = slot(0, kA.first(3216));
    held.checkpoints = {at(437, 0), at(1349, 325), at(3212, 2188)};
    const ReusePrediction p = predictReuse({held}, {kA.first(1579) + kB.first(50), -1}, rule);
    QVERIFY(p.low <= 1348 && p.high >= 1348);
    held.checkpoints = {recurrentAt(437), recurrentAt(1349), recurrentAt(3212)};
    COMPARE_REUSE(predictReuse({held}, {kA.first(1579) + kB.first(50), -1}, rule), 1349);
}

void tst_Reuse::chunks()
{
    const TokenList held = kA.first(3000);
    // Two runs, and one too short to be taken: its tokens are searched for over the rest of the list in vain.
    const TokenList two = held.first(500) + held.mid(800, 200) + held.mid(1500, 300) + kB.first(20);
    const ReusePrediction p = predictReuse({slot(0, held)}, {two, -1}, dense(64));
    COMPARE_REUSE(p, 1000);
    QCOMPARE(p.chunks, QList<ChunkMove>({{800, 500, 200}, {1500, 700, 300}}));
    const TokenList brief = held.first(500) + held.mid(800, 63) + held.mid(1500, 300);
    COMPARE_REUSE(predictReuse({slot(0, held)}, {brief, -1}, dense(64)), 500);
    COMPARE_REUSE(predictReuse({slot(0, held)}, {brief, -1}, dense(63)), 862);
    // All of the prompt found: one token is left to process.
    COMPARE_REUSE(predictReuse({slot(0, held)}, {held.first(500) + held.mid(800, 200), -1}, dense(64)), 699);
    // Recurrent memory shifts too (measured on build 11669); a window's does not.
    HeldState state = slot(0, kA.first(2000));
    state.checkpoints = {recurrentAt(996), recurrentAt(1996)};
    ReuseRule rule = recurrent();
    rule.chunkReuse = 64;
    const TokenList shifted = kA.first(1000) + kA.mid(1500, 500) + kB.first(50);
    COMPARE_REUSE(predictReuse({state}, {shifted, -1}, rule), 1500);
    rule = windowed();
    rule.chunkReuse = 64;
    state.checkpoints = {at(996, 0), at(1484, 460), at(1996, 972)};
    COMPARE_REUSE(predictReuse({state}, {shifted, -1}, rule), 995);
}

// LLAMA_SERVER.md: "one inserted message at the cut loses the whole tail".
void tst_Reuse::chunksNeverSkipANewToken()
{
    const TokenList held = kA.first(3000);
    const TokenList stub = kB.first(30);
    const TokenList tail = held.mid(2000);
    COMPARE_REUSE(predictReuse({slot(0, held)}, {held.first(1100) + tail, -1}, dense(64)), 2099);
    COMPARE_REUSE(predictReuse({slot(0, held)}, {held.first(1100) + stub + tail, -1}, dense(64)), 1100);
    COMPARE_REUSE(predictReuse({slot(0, held)}, {held.first(1100) + tail + stub, -1}, dense(64)), 2100);
}

void tst_Reuse::chunksAgainstTheSlowSearch()
{
    QRandomGenerator random(5);
    for (int run = 0; run < 400; ++run) {
        // Few different ids: runs of every length, overlapping themselves.
        const int alphabet = random.bounded(2, 5);
        TokenList held;
        TokenList asked;
        for (int i = random.bounded(1, 300); i > 0; --i)
            held.append(random.bounded(alphabet));
        for (int i = random.bounded(1, 200); i > 0; --i)
            asked.append(random.bounded(alphabet));
        if (random.bounded(2) == 0)
            asked = held.first(held.size() / 3) + held.mid(held.size() / 2) + asked;
        const int least = random.bounded(1, 12);
        int heldAt = commonPrefix(held, asked);
        int newAt = heldAt;
        QList<ChunkMove> expected;
        while (heldAt < held.size() && newAt < asked.size()) {
            int length = 0;
            while (heldAt + length < held.size() && newAt + length < asked.size()
                   && held.at(heldAt + length) == asked.at(newAt + length))
                ++length;
            if (length >= least) {
                expected.append({heldAt, newAt, length});
                heldAt += length;
                newAt += length;
            } else {
                ++heldAt;
            }
        }
        const ReusePrediction p = predictReuse({slot(0, held)}, {asked, 0}, dense(least));
        QCOMPARE(p.chunks, expected);
    }
}

// LLAMA_SERVER.md: a compaction that keeps less than half may be answered with an older saved prompt that matches a few
// tokens more, and the tail that could have been shifted is gone.
void tst_Reuse::chunkReuseThroughTheHostCache()
{
    const TokenList held = kA.first(6000);
    const TokenList compacted = held.first(2391) + held.mid(5000, 1000) + kB.first(200);
    const HeldState older = saved(held.first(2391) + compacted.mid(2391, 3) + kB.mid(3000, 500));
    COMPARE_REUSE(predictReuse({slot(0, held), older}, {compacted, -1}, dense(64)), 2394);
    COMPARE_REUSE(predictReuse({slot(0, held)}, {compacted, -1}, dense(64)), 3391);
    ReuseRule without = dense(64);
    without.hostCache = false;
    COMPARE_REUSE(predictReuse({slot(0, held), older}, {compacted, -1}, without), 3391);
    // With half of it kept the host cache is not asked.
    const TokenList half = held.first(3000) + held.mid(5000, 1000) + kB.first(200);
    const HeldState better = saved(half.first(3003) + kB.mid(3000, 100));
    COMPARE_REUSE(predictReuse({slot(0, held), better}, {half, -1}, dense(64)), 4000);
}

// Without the log nothing shows what the host cache still holds: an entry that could win, or be gone, makes a range.
void tst_Reuse::savedPromptsThatMayBeGone()
{
    const TokenList prompt = kA.first(1200);
    const HeldState other = slot(0, kA.first(100) + kB.first(900));
    HeldState entry = saved(kA.first(1000));
    COMPARE_REUSE(predictReuse({other, entry}, {prompt, -1}, dense()), 1000); // verified: there
    entry.verified = false;
    ReusePrediction p = predictReuse({other, entry}, {prompt, -1}, dense());
    QCOMPARE(p.low, 100);
    QCOMPARE(p.high, 1000);
    QCOMPARE(p.predicted, 100); // nothing is claimed that may not be there
    QVERIFY(p.claimable);
    QVERIFY2(p.reason.contains(QStringLiteral("whether the saved prompt is still there is not known")),
             qPrintable(p.reason));
    // The second best is met when the best is gone; each may be the only one left.
    HeldState second = saved(kA.first(600));
    second.verified = false;
    p = predictReuse({other, entry, second}, {prompt, -1}, dense());
    QCOMPARE(p.low, 100);
    QCOMPARE(p.high, 1000);
    second.verified = true;
    p = predictReuse({other, entry, second}, {prompt, -1}, dense());
    QCOMPARE(p.low, 600);
    QCOMPARE(p.high, 1000);
    // A loaded prompt may be in the way of a tail that could be shifted: then it is better gone.
    const TokenList held = kA.first(6000);
    const TokenList compacted = held.first(2391) + held.mid(5000, 1000) + kB.first(200);
    HeldState older = saved(held.first(2391) + compacted.mid(2391, 3) + kB.mid(3000, 500));
    older.verified = false;
    p = predictReuse({slot(0, held), older}, {compacted, -1}, dense(64));
    QCOMPARE(p.low, 2394);
    QCOMPARE(p.high, 3391);
    // Where the host cache is not asked, or is off, it does not matter what is in it.
    const TokenList half = held.first(3000) + held.mid(5000, 1000) + kB.first(200);
    HeldState better = saved(half.first(3003) + kB.mid(3000, 100));
    better.verified = false;
    COMPARE_REUSE(predictReuse({slot(0, held), better}, {half, -1}, dense(64)), 4000);
    ReuseRule without = dense();
    without.hostCache = false;
    COMPARE_REUSE(predictReuse({other, entry}, {prompt, -1}, without), 100);
}

void tst_Reuse::similarityChoosesTheSlot()
{
    const TokenList prompt = kA.first(1000) + kB.first(200);
    const QList<HeldState> states{slot(0, kA.first(400)), slot(1, kA.first(1000)), slot(2, kB.first(1000))};
    const ReusePrediction p = predictReuse(states, {prompt, -1}, dense());
    COMPARE_REUSE(p, 1000);
    QCOMPARE(p.stateIndex, 1);
    QVERIFY(!p.slotSaved);
    // Equal ones: the first.
    QCOMPARE(predictReuse({slot(0, kA.first(400)), slot(1, kA.first(400))}, {prompt, -1}, dense()).stateIndex, 0);
    // At the threshold itself it is not similar: 100 of 1,000 is 0.1.
    const TokenList tenth = kA.first(100) + kB.first(900);
    const ReusePrediction lru =
        predictReuse({slot(0, kB.mid(3000, 500), -1, 1), slot(1, kA.first(1000), -1, 2)}, {tenth, -1}, dense());
    QCOMPARE(lru.stateIndex, 0);
    const TokenList more = kA.first(101) + kB.first(899);
    QCOMPARE(predictReuse({slot(0, kB.mid(3000, 500), -1, 1), slot(1, kA.first(1000), -1, 2)}, {more, -1}, dense())
                 .stateIndex,
             1);
}

// Measured on build 11669: three slots used in order, the newest erased, a new conversation: it goes there.
void tst_Reuse::leastRecentlyUsed()
{
    const TokenList prompt = made(500, 9);
    const auto chosen = [&](const QList<HeldState> &states, int slots = 0) {
        ReuseRule rule = dense();
        rule.slotCount = slots;
        const ReusePrediction p = predictReuse(states, {prompt, -1}, rule);
        return p.slotIndex;
    };
    QCOMPARE(chosen({slot(0, kA, -1, 3), slot(1, kB, -1, 1), slot(2, kA, -1, 2)}), 1);
    QCOMPARE(chosen({slot(0, kA, -1, 1), slot(1, kB, -1, 2), slot(2, {}, 0, 3)}), 2);
    QCOMPARE(chosen({slot(0, kA, -1, 1), slot(1, {}, 0, 3), slot(2, {}, 0, 2)}), 2);
    QCOMPARE(chosen({slot(0, {}, 0, -1), slot(1, {}, 0, -1)}), 0);
    // A long old one is chosen before a short new one.
    QCOMPARE(chosen({slot(0, kA.first(2000), -1, 1), slot(1, kB.first(100), -1, 2)}), 0);
    // Fewer states than slots: the others are empty, as nobody has used them.
    QCOMPARE(chosen({slot(0, kA, -1, 1)}, 4), -1);
}

void tst_Reuse::hostCache_data()
{
    QTest::addColumn<int>("slotLcp");
    QTest::addColumn<int>("slotLength");
    QTest::addColumn<int>("entryLcp");
    QTest::addColumn<int>("entryLength");
    QTest::addColumn<int>("asked");
    QTest::addColumn<int>("reused");
    // Measured on build 11669.
    QTest::newRow("less than a quarter") << 0 << 50 << 249 << 1000 << 269 << 0;
    QTest::newRow("a quarter") << 0 << 50 << 250 << 1000 << 270 << 250;
    QTest::newRow("better in both") << 600 << 1500 << 650 << 1200 << 650 << 649;
    QTest::newRow("better in similarity only") << 600 << 1500 << 650 << 2000 << 650 << 600;
    QTest::newRow("better in keep only") << 600 << 1500 << 600 << 800 << 650 << 600;
    QTest::newRow("enough is kept") << 500 << 1000 << 600 << 600 << 700 << 500;
    QTest::newRow("by LRU") << 0 << 884 << 3216 << 3216 << 3233 << 3216;
}

void tst_Reuse::hostCache()
{
    QFETCH(int, slotLcp);
    QFETCH(int, slotLength);
    QFETCH(int, entryLcp);
    QFETCH(int, entryLength);
    QFETCH(int, asked);
    QFETCH(int, reused);
    const TokenList prompt = kA.first(asked);
    const HeldState held = slot(0, kA.first(slotLcp) + kB.first(slotLength - slotLcp));
    const HeldState entry = saved(kA.first(entryLcp) + made(entryLength - entryLcp, 77));
    const ReusePrediction p = predictReuse({held, entry}, {prompt, -1}, dense());
    COMPARE_REUSE(p, reused);
    QCOMPARE(p.loadedFromHostCache, reused == std::min(entryLcp, asked - 1) && reused != slotLcp);
    QCOMPARE(p.slotIndex, 0);
}

// Measured on build 11669: --cache-ram 4; saving the slot's prompt throws out the oldest before it is looked for.
void tst_Reuse::hostCacheIsFull()
{
    ReuseRule rule = dense();
    rule.hostCacheLimitBytes = 4000;
    HeldState oldest = saved(kA.first(1000));
    HeldState newer = saved(kB.first(1000));
    oldest.sizeBytes = newer.sizeBytes = 2000;
    HeldState held = slot(0, made(1000, 5));
    const ReuseRequest request{kA.first(1100), -1};
    COMPARE_REUSE(predictReuse({held, oldest, newer}, request, rule), 1000); // the slot's size is not known
    held.sizeBytes = 2000;
    COMPARE_REUSE(predictReuse({held, oldest, newer}, request, rule), 0);
    COMPARE_REUSE(predictReuse({held, newer, oldest}, request, rule), 1000);
    held.sizeBytes = 5000; // too large to be saved: nothing is thrown out
    COMPARE_REUSE(predictReuse({held, oldest, newer}, request, rule), 1000);
    held = slot(0, kB.first(900)); // held by a saved prompt already
    held.sizeBytes = 2000;
    COMPARE_REUSE(predictReuse({held, oldest, newer}, request, rule), 1000);
}

void tst_Reuse::pinned()
{
    const HeldState entry = saved(kA.first(1000));
    const TokenList prompt = kA.first(1200);
    ReuseRule rule = dense();
    rule.slotCount = 4;
    // To an empty slot: the host cache is not asked.
    const ReusePrediction empty = predictReuse({slot(0, {}), slot(1, kB, -1, 1), entry}, {prompt, 0}, rule);
    COMPARE_REUSE(empty, 0);
    QVERIFY(empty.claimable);
    QVERIFY(empty.reason.contains(QStringLiteral("host cache is not asked")));
    rule.idleSlotsCleared = true;
    QVERIFY(predictReuse({slot(0, {}), entry}, {prompt, 0}, rule).reason.contains(QStringLiteral("clears idle slots")));
    // To one that holds another prompt: it is.
    const ReusePrediction other = predictReuse({slot(0, {}), slot(1, kB, -1, 1), entry}, {prompt, 1}, rule);
    COMPARE_REUSE(other, 1000);
    QVERIFY(other.loadedFromHostCache);
    QCOMPARE(other.slotIndex, 1);
    // Another slot's prompt is out of reach.
    COMPARE_REUSE(predictReuse({slot(0, kB), slot(1, kA.first(1000))}, {prompt, 0}, rule), 0);
    // The id wraps around: 7 of 4 is 3.
    COMPARE_REUSE(predictReuse({slot(3, kA.first(800))}, {prompt, 7}, rule), 800);
    // A slot nobody has seen is empty.
    COMPARE_REUSE(predictReuse({slot(0, kA.first(1000))}, {prompt, 2}, rule), 0);
}

void tst_Reuse::busySlots()
{
    HeldState busy = slot(0, kA.first(1000));
    busy.busy = true;
    const HeldState idle = slot(1, kA.first(300), -1, 1);
    COMPARE_REUSE(predictReuse({busy, idle}, {kA.first(1200), -1}, dense()), 300);
    for (const int pin : {-1, 0}) {
        const ReusePrediction p = predictReuse({busy}, {kA.first(1200), pin}, dense());
        QCOMPARE(p.low, 0);
        QCOMPARE(p.high, 1199);
        QVERIFY(!p.claimable);
        QVERIFY(p.reason.contains(QStringLiteral("busy")));
    }
}

void tst_Reuse::unknownReply()
{
    // 1,000 known, 60 generated with ids that nobody told.
    HeldState held = slot(0, kA.first(1000), 1060);
    held.checkpoints = {recurrentAt(500), recurrentAt(996)};
    const ReuseRequest next{kA.first(1000) + kB.first(100), -1};
    ReusePrediction p = predictReuse({held}, next, dense());
    QCOMPARE(p.low, 1000);
    QCOMPARE(p.predicted, 1000);
    QCOMPARE(p.high, 1060);
    QVERIFY(p.claimable);
    p = predictReuse({held}, next, dense(), 40);
    QCOMPARE(p.high, 1040);
    p = predictReuse({held}, next, dense(), 0);
    QCOMPARE(p.high, 1000);
    p = predictReuse({held}, next, recurrent());
    QCOMPARE(p.low, 996);
    QCOMPARE(p.high, 1060);
    p = predictReuse({held}, next, recurrent(), 40); // all of it or nothing
    QCOMPARE(p.low, 996);
    QCOMPARE(p.high, 996);
    // Cut before the unknown part: it plays no part.
    COMPARE_REUSE(predictReuse({held}, {kA.first(700) + kB.first(100), -1}, recurrent()), 500);
    // With chunks it may be in a run's end.
    p = predictReuse({held}, {kA.first(300) + kA.mid(600, 400) + kB.first(100), -1}, dense(64));
    QCOMPARE(p.low, 700);
    QCOMPARE(p.high, 760);
}

void tst_Reuse::statesKnownByLength()
{
    // Another client's, in the only slot.
    const ReusePrediction p = predictReuse({slot(0, {}, 800)}, {kA.first(1000), -1}, dense());
    QCOMPARE(p.low, 0);
    QCOMPARE(p.predicted, 0);
    QCOMPARE(p.high, 800);
    QVERIFY(!p.claimable);
    QVERIFY(p.reason.contains(QStringLiteral("did not send")));
    // Beside one of ours that matches it makes no difference.
    COMPARE_REUSE(predictReuse({slot(0, {}, 800, 5), slot(1, kA.first(900), -1, 4)}, {kA.first(1000), -1}, dense()),
                  900);
    COMPARE_REUSE(predictReuse({slot(0, {}, 800, 5), saved(kA.first(900))}, {kA.first(1000), -1}, dense()), 900);
    // Pinned to it, with ours in the host cache: what is loaded depends on what the other one holds.
    const ReusePrediction pinnedTo =
        predictReuse({slot(0, {}, 800, 5), saved(kA.first(900))}, {kA.first(1000), 0}, dense());
    QCOMPARE(pinnedTo.low, 400);
    QCOMPARE(pinnedTo.high, 900);
    const ReusePrediction ring =
        predictReuse({slot(0, {}, 800, 5), saved(kA.first(900))}, {kA.first(1000), 0}, recurrent());
    QCOMPARE(ring.low, 0);
    QCOMPARE(ring.high, 900);
}

// LLAMA_SERVER.md: going back to a full transcript after a summary reused 3,216 of 3,233.
void tst_Reuse::summaryThenBack()
{
    for (const ReuseRule &rule : {dense(), recurrent(), windowed()}) {
        HeldState full = saved(kA.first(3216));
        HeldState other = saved(kA.first(1579) + kB.first(723));
        HeldState summary = slot(0, kA.first(1) + kB.first(883));
        const ReusePrediction p = predictReuse({summary, full, other}, {kA.first(3216) + kB.first(17), -1}, rule);
        COMPARE_REUSE(p, 3216);
        QCOMPARE(p.stateIndex, 1);
        QVERIFY(p.loadedFromHostCache);
        QVERIFY(p.slotSaved);
    }
}

void tst_Reuse::isFast()
{
    const TokenList held = made(100'000, 1);
    TokenList repeated(100'000, 7); // the worst for a search: all the same
    QList<HeldState> states{slot(0, held)};
    for (int i = 0; i < 8; ++i)
        states.append(saved(held.first(90'000) + made(5000, 100 + quint32(i))));
    const TokenList cut = held.first(30'000) + held.mid(60'000) + made(500, 3);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(predictReuse(states, {cut, -1}, dense(64)).predicted, 70'000);
    QVERIFY2(timer.elapsed() < 2000, qPrintable(QString::number(timer.elapsed())));
    timer.restart();
    repeated[50'000] = 8;
    const TokenList asked = TokenList(40'000, 7) + TokenList(1, 9) + TokenList(50'000, 7);
    predictReuse({slot(0, repeated)}, {asked, 0}, dense(256));
    QVERIFY2(timer.elapsed() < 2000, qPrintable(QString::number(timer.elapsed())));
}

// Whatever is known: 0 <= low <= predicted <= high < n, and told states make what was said true.
void tst_Reuse::rangesHold()
{
    QRandomGenerator random(17);
    int ranges = 0;
    for (int run = 0; run < 3000; ++run) {
        const int pick = random.bounded(4);
        ReuseRule rule = pick == 0 ? dense(random.bounded(2) * 32)
            : pick == 1            ? recurrent()
            : pick == 2            ? windowed(128)
                                   : ReuseRule();
        rule.slotCount = random.bounded(4);
        rule.hostCache = random.bounded(4) != 0;
        QList<HeldState> states;
        for (int i = random.bounded(5); i > 0; --i) {
            const TokenList tokens = kA.first(random.bounded(400)) + kB.first(random.bounded(200));
            HeldState state = slot(i, tokens, -1, random.bounded(10));
            state.place = random.bounded(3) == 0 ? HeldState::Place::HostCache : HeldState::Place::Slot;
            state.verified = true; // what may be gone has a test of its own
            state.busy = state.place == HeldState::Place::Slot && random.bounded(8) == 0;
            state.checkpointsKnown = random.bounded(4) != 0;
            for (int position = 50; position < state.length; position += random.bounded(30, 200))
                state.checkpoints.append(rule.recurrent ? recurrentAt(position)
                                                        : at(position, qMax(0, position - 640)));
            states.append(state);
        }
        const ReuseRequest request{kA.first(random.bounded(400)) + kB.first(random.bounded(1, 200)),
                                   random.bounded(3) == 0 ? random.bounded(5) : -1};
        const int n = int(request.tokens.size());
        const ReusePrediction exact = predictReuse(states, request, rule);
        QVERIFY(0 <= exact.low && exact.low <= exact.predicted && exact.predicted <= exact.high && exact.high < n);
        QVERIFY(!exact.reason.isEmpty());
        QVERIFY(rule.memory != MemoryKind::Unknown || !exact.claimable || exact.high == 0);
        QCOMPARE(predictReuse(states, request, rule), exact);
        // The same with the ends of some lists unknown: what was exact lies inside the range.
        for (HeldState &state : states)
            state.tokens = state.tokens.first(state.tokens.size()
                                              - random.bounded(int(qMin<qsizetype>(state.tokens.size(), 60)) + 1));
        const ReusePrediction range = predictReuse(states, request, rule);
        if (rule.memory != MemoryKind::Unknown && exact.claimable && range.claimable && rule.chunkReuse == 0) {
            QVERIFY2(range.low <= exact.low && exact.high <= range.high,
                     qPrintable(QStringLiteral("%1: %2..%3 against %4 (%5 | %6)")
                                    .arg(run)
                                    .arg(range.low)
                                    .arg(range.high)
                                    .arg(exact.predicted)
                                    .arg(range.reason, exact.reason)));
            ranges += range.high > range.low ? 1 : 0;
        }
    }
    QVERIFY(ranges > 50);
}

// A small alphabet, so that what stands behind a seam often goes on matching by chance.
void tst_Reuse::splicesAnswerAsTheirTokens()
{
    QRandomGenerator random(23);
    int beyondSeam = 0;
    for (int run = 0; run < 2000; ++run) {
        const int alphabet = random.bounded(1, 4);
        TokenList prompt;
        for (int i = random.bounded(1, 300); i > 0; --i)
            prompt.append(random.bounded(alphabet));
        const int pick = random.bounded(4);
        ReuseRule rule = pick == 0 ? dense(random.bounded(2) * 8)
            : pick == 1            ? recurrent()
            : pick == 2            ? windowed(64)
                                   : ReuseRule();
        rule.slotCount = random.bounded(4);
        QList<HeldState> states;
        for (int i = random.bounded(4); i > 0; --i) {
            TokenList tokens = prompt.first(random.bounded(int(prompt.size()) + 1));
            for (int k = random.bounded(60); k > 0; --k)
                tokens.append(random.bounded(alphabet));
            HeldState state = slot(i, tokens, -1, random.bounded(10));
            state.place = random.bounded(3) == 0 ? HeldState::Place::HostCache : HeldState::Place::Slot;
            state.length += random.bounded(3) == 0 ? random.bounded(20) : 0;
            state.checkpointsKnown = random.bounded(4) != 0;
            for (int position = 20; position < tokens.size(); position += random.bounded(20, 80))
                state.checkpoints.append(rule.recurrent ? recurrentAt(position)
                                                        : at(position, qMax(0, position - 320)));
            states.append(state);
        }
        const int slotId = random.bounded(3) == 0 ? random.bounded(4) : -1;
        const int reply = random.bounded(2) == 0 ? -1 : random.bounded(20);
        SpliceReuse splices(states, prompt, rule, slotId, reply);
        for (int splice = 0; splice < 5; ++splice) {
            QList<TokenRange> kept;
            ReuseRequest request;
            request.slotId = slotId;
            for (int from = random.bounded(3) == 0 ? random.bounded(10) : 0; from < prompt.size();) {
                const int end = qMin(int(prompt.size()), from + random.bounded(0, 120));
                kept.append({from, end});
                request.tokens.append(prompt.mid(from, end - from));
                from = end + random.bounded(0, 80);
            }
            const ReusePrediction joined = predictReuse(states, request, rule, reply);
            QCOMPARE(splices.predict(kept), joined);
            beyondSeam += !kept.isEmpty() && joined.lcp > kept.constFirst().end ? 1 : 0;
        }
    }
    QVERIFY2(beyondSeam > 500, qPrintable(QString::number(beyondSeam)));
}

QTEST_APPLESS_MAIN(tst_Reuse)
#include "tst_reuse.moc"
