// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/cache/reuse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

// The rule of llama-server's build 11669, as LLAMA_SERVER.md describes it and as experiments with that build settled
// what the page leaves open ("measured on build 11669" below; the numbers are tests in tst_reuse.cpp).

namespace kerf {

namespace {

/// A match of fewer tokens than this says nothing about whose prompt a state is.
constexpr int kMeaningfulMatch = 16;
/// Measured on build 11669: a saved prompt of which less than a quarter would be kept is never loaded
/// (lcp 249 of 1,000: not loaded; 250 of 1,000: loaded).
constexpr float kLeastKeepToLoad = 0.25F;
/// A slot that would lose more than half of what it holds is saved first.
constexpr float kKeepWithoutSaving = 0.5F;
constexpr int kDefaultMicroBatch = 512;

/// The server's own arithmetic is in float; so are its comparisons.
float share(int part, int whole) { return static_cast<float>(part) / static_cast<float>(whole); }

/// How much of a request equals a held state: exact for the ids we know, a range where the state ends in tokens
/// whose ids nobody told us.
struct Equal {
    int low = 0;
    int high = 0;
    bool foreign = false; ///< nothing of its content is known
};

/// `common`: tokens that the state's known ids share with the request's `n`.
Equal equalPart(const HeldState &state, int common, int n, int replyEqualTokens)
{
    Equal equal;
    if (state.length <= 0)
        return equal;
    if (state.tokens.isEmpty()) {
        equal.foreign = true;
        equal.high = std::min(state.length, n);
        return equal;
    }
    equal.low = std::min(common, state.length);
    equal.high = equal.low;
    if (equal.low == state.knownLength() && state.length > state.knownLength()) {
        int unknown = state.length - state.knownLength();
        if (replyEqualTokens >= 0)
            unknown = std::min(unknown, replyEqualTokens);
        equal.high = std::min(n, equal.low + unknown);
    }
    return equal;
}

/// A request as the rule sees it: its ids are looked at only where chunks are searched.
struct Asked {
    int n = 0;
    int slotId = -1;
    const std::function<const TokenList &()> &tokens;
};

// --- which state is met ---------------------------------------------------------------------------------------

struct Choice {
    int slot = -1; ///< index of the slot's state; -1 = one that is not among the states, taken as empty
    int loaded = -1; ///< index of the host cache's state that is loaded into it; -1 = none
    bool saved = false; ///< the slot's prompt is saved, and the host cache asked
    bool waits = false; ///< no idle slot: what the request will meet is not known
    bool bySimilarity = false;
    int met() const { return loaded >= 0 ? loaded : slot; }
};

bool isSlot(const HeldState &state) { return state.place == HeldState::Place::Slot; }

/// Saved prompts that have to go when the slot's prompt is saved: those that it contains, then the oldest until it
/// fits. Nothing is known of that while a size is unknown: then nothing is dropped.
QList<bool> droppedBySaving(const QList<HeldState> &states, int slot, const ReuseRule &rule)
{
    QList<bool> dropped(states.size(), false);
    const HeldState &saved = states.at(slot);
    if (saved.length <= 0 || saved.sizeBytes < 0)
        return dropped;
    qint64 total = 0;
    for (const HeldState &state : states) {
        if (isSlot(state))
            continue;
        if (state.sizeBytes < 0)
            return dropped;
        total += state.sizeBytes;
    }
    // "prompt state size ... exceeds cache size limit, skipping"
    if (total + saved.sizeBytes <= rule.hostCacheLimitBytes || saved.sizeBytes > rule.hostCacheLimitBytes)
        return dropped;
    const bool known = saved.knownLength() == saved.length;
    for (int i = 0; i < states.size(); ++i) {
        const HeldState &state = states.at(i);
        if (isSlot(state) || !known || state.knownLength() != state.length)
            continue;
        const int common = commonPrefix(state.tokens, saved.tokens);
        if (common == saved.length) // "prompt is already in the cache, skipping"
            return QList<bool>(states.size(), false);
        if (common == state.length) { // "removing obsolete cached prompt"
            dropped[i] = true;
            total -= state.sizeBytes;
        }
    }
    for (int i = 0; i < states.size() && total + saved.sizeBytes > rule.hostCacheLimitBytes; ++i) {
        if (isSlot(states.at(i)) || dropped.at(i))
            continue;
        dropped[i] = true; // "making room for prompt cache entry, removing oldest entry"
        total -= states.at(i).sizeBytes;
    }
    return dropped;
}

Choice chooseState(const QList<HeldState> &states, const QList<int> &lcps, const Asked &request, const ReuseRule &rule)
{
    const int n = request.n;
    Choice choice;
    int slotsSeen = 0;
    for (const HeldState &state : states)
        slotsSeen += isSlot(state) ? 1 : 0;
    bool found = false; // a slot was chosen (it may be one that is not among the states)
    float similarity = 0; // as the server keeps it: 0 where no slot is above the threshold
    if (request.slotId >= 0) {
        // Measured on build 11669: an id past the last one wraps around (7 of 4 slots is slot 3).
        const int wanted = rule.slotCount > 0 ? request.slotId % rule.slotCount : request.slotId;
        for (int i = 0; i < states.size(); ++i) {
            if (isSlot(states.at(i)) && states.at(i).slotId == wanted)
                choice.slot = i;
        }
        if (choice.slot < 0 || states.at(choice.slot).length <= 0) {
            choice.waits = choice.slot >= 0 && states.at(choice.slot).busy;
            return choice; // an empty pinned slot: the host cache is not asked ("skipping, slot is empty")
        }
        found = true;
        if (states.at(choice.slot).busy) {
            choice.waits = true;
            return choice;
        }
        const float own = share(lcps.at(choice.slot), n);
        similarity = own > static_cast<float>(rule.slotSimilarity) ? own : 0;
    } else if (rule.slotSimilarity > 0) { // -sps 0 turns the search off
        for (int i = 0; i < states.size(); ++i) {
            const HeldState &state = states.at(i);
            if (!isSlot(state) || state.busy || state.length <= 0)
                continue;
            const float own = share(lcps.at(i), n);
            if (own > similarity && own > static_cast<float>(rule.slotSimilarity)) {
                similarity = own;
                choice.slot = i;
            }
        }
        found = choice.slot >= 0;
        choice.bySimilarity = found;
    }
    if (found) {
        choice.saved =
            similarity * static_cast<float>(n) / static_cast<float>(states.at(choice.slot).length) < kKeepWithoutSaving;
    } else {
        // Least recently used. Measured on build 11669: an idle slot that is empty comes first, even if it was used
        // last (of three equal slots the newest was erased and then chosen); among equals the first.
        bool anyIdle = slotsSeen < rule.slotCount || slotsSeen == 0;
        if (!anyIdle) {
            for (int i = 0; i < states.size(); ++i) {
                const HeldState &state = states.at(i);
                if (!isSlot(state) || state.busy)
                    continue;
                anyIdle = true;
                if (choice.slot < 0) {
                    choice.slot = i;
                    continue;
                }
                const HeldState &best = states.at(choice.slot);
                const bool empty = state.length <= 0;
                const bool bestEmpty = best.length <= 0;
                if (empty != bestEmpty ? empty : state.lastUsed < best.lastUsed)
                    choice.slot = i;
            }
        } else {
            // A slot that nobody has seen yet is empty, and so the first choice; unless an empty one is known.
            for (int i = 0; i < states.size() && choice.slot < 0; ++i) {
                if (isSlot(states.at(i)) && !states.at(i).busy && states.at(i).length <= 0)
                    choice.slot = i;
            }
        }
        if (!anyIdle) {
            choice.waits = true;
            return choice;
        }
        choice.saved = true;
    }
    choice.saved = choice.saved && rule.hostCache;
    if (!choice.saved)
        return choice;
    const bool holds = choice.slot >= 0 && states.at(choice.slot).length > 0;
    const QList<bool> dropped = holds ? droppedBySaving(states, choice.slot, rule) : QList<bool>(states.size(), false);
    float bestKeep = holds ? share(lcps.at(choice.slot), states.at(choice.slot).length) : -1;
    float bestSimilarity = holds ? share(lcps.at(choice.slot), n) : 0;
    for (int i = 0; i < states.size(); ++i) {
        const HeldState &state = states.at(i);
        if (isSlot(state) || state.length <= 0 || dropped.at(i))
            continue;
        const float keep = share(lcps.at(i), state.length);
        const float own = share(lcps.at(i), n);
        // Measured on build 11669: better in both, strictly. Keep 0.54 and similarity 1.0 against 0.40 and 0.92:
        // loaded; 0.33 and 1.0 against the same: not; 0.75 and an equal similarity: not.
        if (keep < kLeastKeepToLoad || keep <= bestKeep || own <= bestSimilarity)
            continue;
        bestKeep = keep;
        bestSimilarity = own;
        choice.loaded = i;
    }
    return choice;
}

// --- what of it is reused ---------------------------------------------------------------------------------------

/// --cache-reuse: the pointer into the new prompt never moves without a match; only the one into the held list does.
/// The first run of at least `least` equal tokens from there on is an occurrence of the next `least` tokens of the new
/// prompt, so it is searched for as a string (Knuth, Morris, Pratt): linear however the tokens repeat.
QList<ChunkMove> chunkMoves(const TokenList &held, int heldLength, const TokenList &tokens, int from, int least)
{
    QList<ChunkMove> moves;
    const int heldSize = std::min(static_cast<int>(held.size()), heldLength);
    const int size = static_cast<int>(tokens.size());
    const TokenId *a = held.constData();
    const TokenId *b = tokens.constData();
    int heldAt = from;
    int newAt = from;
    QList<int> table(least, 0);
    while (newAt + least <= size && heldAt + least <= heldSize) {
        const TokenId *pattern = b + newAt;
        for (int i = 1, k = 0; i < least; ++i) {
            while (k > 0 && pattern[i] != pattern[k])
                k = table.at(k - 1);
            if (pattern[i] == pattern[k])
                ++k;
            table[i] = k;
        }
        int matched = 0;
        int at = heldAt;
        while (at < heldSize && matched < least) {
            while (matched > 0 && a[at] != pattern[matched])
                matched = table.at(matched - 1);
            if (a[at] == pattern[matched])
                ++matched;
            ++at;
        }
        if (matched < least)
            break;
        const int begin = at - least;
        int length = least;
        while (begin + length < heldSize && newAt + length < size && a[begin + length] == b[newAt + length])
            ++length;
        moves.append({begin, newAt, length});
        heldAt = begin + length;
        newAt += length;
    }
    return moves;
}

enum class How { Nothing, Prefix, Extends, Window, Checkpoint, Chunks, NoCheckpoint, RingInvisible, MemoryUnknown };

struct Reused {
    int low = 0;
    int high = 0;
    int checkpoint = -1;
    QList<ChunkMove> chunks;
    bool certain = true; ///< the memory kind is known, and the ring is visible where one is needed
    How how = How::Nothing;
};

struct Range {
    int low = 0;
    int high = 0;
};

int windowCells(const HeldState &state, const ReuseRule &rule)
{
    if (rule.windowCells > 0)
        return rule.windowCells;
    int cells = (rule.slidingWindow + kDefaultMicroBatch + 255) / 256 * 256;
    for (const Checkpoint &checkpoint : state.checkpoints)
        cells = std::max(cells, checkpoint.posMax > 0 ? checkpoint.position - checkpoint.posMin : 0);
    return cells;
}

/// First position whose keys are still in the window's memory. It never lies behind length - window, nor (where the
/// cells are all in use) before length - cells; the newest checkpoint says where it was a moment earlier.
Range firstPosition(const HeldState &state, const ReuseRule &rule)
{
    const int window = rule.slidingWindow;
    const int last = std::max(0, state.length - window);
    // Measured on build 11669: a state that was loaded or restored holds the window alone: 3,216 tokens, n_swa 512,
    // first position 2,704.
    if (state.place == HeldState::Place::HostCache)
        return {last, last};
    if (state.posMin >= 0)
        return {state.posMin, state.posMin};
    const int first = std::max(0, state.length - windowCells(state, rule));
    if (!state.checkpointsKnown || state.checkpoints.isEmpty())
        return {first, last};
    const Checkpoint &newest = state.checkpoints.constLast();
    if (newest.posMax <= 0)
        return {first, last};
    const int position = std::max(newest.posMin, first);
    return {position, position};
}

/// Puts the checkpoint that serves a rewind to `past` (the server's n_past before the search) into `reused`.
void restoreCheckpoint(const HeldState &state, const ReuseRule &rule, bool windowed, int past, int threshold, int n,
                       Reused *reused)
{
    const Checkpoint *best = nullptr;
    for (const Checkpoint &checkpoint : state.checkpoints) {
        if (checkpoint.kind != CheckpointKind::InternalCheckpoint)
            continue;
        const int posMax = checkpoint.posMax > 0 ? checkpoint.posMax : checkpoint.position - 1;
        if (windowed) {
            const int posMin =
                checkpoint.posMax > 0 ? checkpoint.posMin : std::max(0, checkpoint.position - rule.slidingWindow);
            // Measured on build 11669 (n_swa 512): [0, 973] is refused for a rewind to 700 although its first position
            // is 0, and [1016, 1995] for one to 1,440.
            if (posMax > past || (posMin >= threshold && posMin != 0))
                continue;
        } else if (checkpoint.position > threshold) {
            continue;
        }
        // The newest in the server's own order: by making, which is by position but for one that a restore left behind.
        best = &checkpoint;
    }
    if (!best) {
        reused->how = How::NoCheckpoint;
        return;
    }
    int restored = std::min(past, best->position);
    if (windowed && best->posMax > 0)
        // n_past = min(n_past, max(pos_min + 1, pos_max)): one less than n_tokens in every restored line of SWA; on
        // recurrent memory pos_min is pos_max, and nothing is lost.
        restored = std::min(restored, std::max(best->posMin + 1, best->posMax));
    else if (windowed)
        restored = std::min(restored, best->position - 1);
    reused->low = reused->high = std::min(restored, n - 1);
    reused->checkpoint = best->position;
    reused->how = How::Checkpoint;
}

int movedTokens(const QList<ChunkMove> &chunks)
{
    int moved = 0;
    for (const ChunkMove &move : chunks)
        moved += move.length;
    return moved;
}

Reused reuseRecurrent(const HeldState &state, const ReuseRule &rule, const Asked &request, int lcp)
{
    const int n = request.n;
    Reused reused;
    int past = lcp;
    int last = state.length - 1; // position of the one state that there is
    if (rule.chunkReuse > 0 && lcp < state.knownLength()) {
        // Measured on build 11669: recurrent and hybrid memory let chunks be shifted too (SWA does not), and count as
        // reused what the state has long mixed with the evicted tokens: 1,500 of 1,550 on mamba and lfm2.
        reused.chunks = chunkMoves(state.tokens, state.length, request.tokens(), lcp, rule.chunkReuse);
        past += movedTokens(reused.chunks);
        for (const ChunkMove &move : std::as_const(reused.chunks)) {
            if (last >= move.heldBegin && last < move.heldBegin + move.length) {
                last += move.newBegin - move.heldBegin;
                break;
            }
        }
    }
    if (past <= 0)
        return reused;
    const int threshold = past < n ? past : past - 1; // a whole match must leave a token to evaluate
    if (last < threshold) {
        reused.low = reused.high = std::min(past, n - 1);
        reused.how = reused.chunks.isEmpty() ? How::Extends : How::Chunks;
        return reused;
    }
    if (!state.checkpointsKnown) {
        reused.high = std::min(past, n - 1);
        reused.certain = false;
        reused.how = How::RingInvisible;
        return reused;
    }
    restoreCheckpoint(state, rule, false, past, threshold, n, &reused);
    return reused;
}

Reused reuseWindowed(const HeldState &state, const ReuseRule &rule, int n, int lcp)
{
    Reused reused;
    if (lcp <= 0)
        return reused;
    // Measured on build 11669, n_swa 512: "against 1069" for an LCP of 1,579; one less where nothing new follows.
    const int threshold = std::max(0, lcp + 2 - rule.slidingWindow - (lcp < n ? 0 : 1));
    const Range first = firstPosition(state, rule);
    // Measured on build 11669: what still lies in the window's memory needs no checkpoint. Of 2,000 held tokens (first
    // position 976) rewinds by 10, 100 and 450 reused 1,990, 1,900 and 1,550 of them; one to 1,440 found no checkpoint.
    if (first.high < threshold) {
        reused.low = reused.high = std::min(lcp, n - 1);
        reused.how = lcp == state.length ? How::Extends : How::Window;
        return reused;
    }
    if (!state.checkpointsKnown) {
        reused.high = std::min(lcp, n - 1);
        reused.certain = false;
        reused.how = How::RingInvisible;
        return reused;
    }
    restoreCheckpoint(state, rule, true, lcp, threshold, n, &reused);
    if (first.low < threshold)
        reused.high = std::min(lcp, n - 1);
    return reused;
}

Reused reuseOf(const HeldState &state, const ReuseRule &rule, const Asked &request, int lcp)
{
    const int n = request.n;
    Reused reused;
    switch (rule.memory) {
    case MemoryKind::Unknown:
        reused.high = std::min(lcp, n - 1);
        reused.certain = false;
        reused.how = How::MemoryUnknown;
        return reused;
    case MemoryKind::FullAttention: {
        int past = lcp;
        if (rule.chunkReuse > 0 && lcp < state.knownLength()) {
            reused.chunks = chunkMoves(state.tokens, state.length, request.tokens(), lcp, rule.chunkReuse);
            past += movedTokens(reused.chunks);
        }
        reused.low = reused.high = std::min(past, n - 1);
        reused.how = !reused.chunks.isEmpty() ? How::Chunks : lcp > 0 ? How::Prefix : How::Nothing;
        return reused;
    }
    case MemoryKind::Checkpointed:
        break;
    }
    if (rule.recurrent)
        return reuseRecurrent(state, rule, request, lcp);
    if (rule.slidingWindow > 0)
        return reuseWindowed(state, rule, n, lcp);
    // Checkpointed, but neither recurrence nor the window is established: what holds under both, and what may.
    reused = reuseRecurrent(state, rule, request, lcp);
    ReuseRule windowed = rule;
    windowed.slidingWindow = rule.windowCells;
    for (const Checkpoint &checkpoint : state.checkpoints)
        windowed.slidingWindow =
            std::max(windowed.slidingWindow,
                     checkpoint.posMax > checkpoint.posMin ? checkpoint.position - checkpoint.posMin : 0);
    if (windowed.slidingWindow > 0) {
        const Reused other = reuseWindowed(state, windowed, n, lcp);
        reused.low = std::min(reused.low, other.low);
        reused.high = std::max(reused.high, other.high);
        reused.certain = reused.certain && other.certain;
    }
    return reused;
}

// --- the whole, for one assumption about what is not known ---------------------------------------------------------

struct Outcome {
    Choice choice;
    Reused reused;
};

Outcome evaluate(const QList<HeldState> &states, const QList<int> &lcps, const Asked &request, const ReuseRule &rule)
{
    Outcome outcome;
    outcome.choice = chooseState(states, lcps, request, rule);
    const int met = outcome.choice.met();
    if (outcome.choice.waits) {
        outcome.reused.high = request.n - 1;
        outcome.reused.certain = false;
    } else if (met >= 0 && states.at(met).length > 0) {
        outcome.reused = reuseOf(states.at(met), rule, request, lcps.at(met));
    }
    return outcome;
}

QString reasonOf(const QList<HeldState> &states, const Outcome &outcome, const QList<Equal> &equals,
                 const Asked &request, const ReuseRule &rule, const ReusePrediction &prediction)
{
    if (outcome.choice.waits)
        return request.slotId >= 0
            ? QStringLiteral("slot %1 is busy: what it will hold when this request runs is not known")
                  .arg(request.slotId)
            : QStringLiteral("every slot is busy: what the request will meet is not known");
    const int met = outcome.choice.met();
    if (met < 0 || states.at(met).length <= 0) {
        if (request.slotId >= 0 && rule.idleSlotsCleared)
            return QStringLiteral(
                       "pinned to slot %1, which is empty: this server clears idle slots when another task starts, "
                       "and does not ask its host cache for a pinned empty slot")
                .arg(request.slotId);
        if (request.slotId >= 0)
            return QStringLiteral("slot %1 is empty, and for a pinned empty slot the host cache is not asked")
                .arg(request.slotId);
        return prediction.high > 0
            ? QStringLiteral("no state known to match; a prompt of another client may share up to %1 tokens")
                  .arg(prediction.high)
            : QStringLiteral("no slot or saved prompt holds anything of this prompt");
    }
    const HeldState &state = states.at(met);
    const Equal &equal = equals.at(met);
    const QString where = outcome.choice.loaded >= 0 ? QStringLiteral("a prompt saved in the host cache")
                                                     : QStringLiteral("slot %1").arg(state.slotId);
    if (equal.foreign)
        return QStringLiteral("%1 holds %2 tokens that Kerf did not send: how many of them are equal is not known")
            .arg(where)
            .arg(state.length);
    const QString common =
        QStringLiteral("%1 holds the first %2 of %3 tokens").arg(where).arg(equal.low).arg(request.n);
    switch (outcome.reused.how) {
    case How::Nothing:
        return QStringLiteral("%1 holds another prompt: nothing is equal").arg(where);
    case How::Prefix:
        return QStringLiteral("%1; full attention reuses them all").arg(common);
    case How::Extends:
        return QStringLiteral("%1, and nothing more: the prompt only extends it").arg(common);
    case How::Window:
        return QStringLiteral("%1, and the rewind stays within the window's memory").arg(common);
    case How::Checkpoint:
        return QStringLiteral("%1; the newest usable checkpoint at or below is at %2")
            .arg(common)
            .arg(outcome.reused.checkpoint);
    case How::Chunks: {
        const int moved = movedTokens(outcome.reused.chunks);
        return rule.memory == MemoryKind::FullAttention
            ? QStringLiteral("%1, and %2 more are shifted into place (--cache-reuse %3)")
                  .arg(common)
                  .arg(moved)
                  .arg(rule.chunkReuse)
            : QStringLiteral("%1, and %2 more are shifted (--cache-reuse %3), though a recurrent state still holds "
                             "what was evicted")
                  .arg(common)
                  .arg(moved)
                  .arg(rule.chunkReuse);
    }
    case How::NoCheckpoint:
        return state.checkpoints.isEmpty()
            ? QStringLiteral("%1, but there is no checkpoint to go back to: everything is processed again").arg(common)
            : QStringLiteral(
                  "%1, but none of its %2 checkpoints is usable at or below that: everything is processed again")
                  .arg(common)
                  .arg(state.checkpoints.size());
    case How::RingInvisible:
        return QStringLiteral("%1, but its checkpoints are not visible").arg(common);
    case How::MemoryUnknown:
        return QStringLiteral("%1, but the server's memory kind is not known").arg(common);
    }
    return common;
}

/// The prediction from what each state shares with the request (`common`, in known ids).
ReusePrediction predict(const QList<HeldState> &states, const QList<int> &common, const Asked &request,
                        const ReuseRule &rule, int replyEqualTokens)
{
    ReusePrediction prediction;
    const int n = request.n;
    if (n == 0) {
        prediction.reason = QStringLiteral("the request is empty");
        return prediction;
    }
    QList<Equal> equals;
    QList<int> lcps;
    equals.reserve(states.size());
    lcps.reserve(states.size());
    for (int i = 0; i < states.size(); ++i) {
        equals.append(equalPart(states.at(i), common.at(i), n, replyEqualTokens));
        lcps.append(equals.constLast().low);
    }
    const Outcome outcome = evaluate(states, lcps, request, rule);
    const int met = outcome.choice.met();
    const bool meets = met >= 0 && states.at(met).length > 0 && !outcome.choice.waits;
    prediction.low = outcome.reused.low;
    prediction.high = outcome.reused.high;
    prediction.slotIndex = outcome.choice.slot;
    prediction.slotSaved = outcome.choice.saved;
    if (meets) {
        prediction.stateIndex = met;
        prediction.loadedFromHostCache = outcome.choice.loaded >= 0;
        prediction.lcp = equals.at(met).low;
        prediction.checkpointPosition = outcome.reused.checkpoint;
        prediction.chunks = outcome.reused.chunks;
    }

    // The same once more for each thing that is not known: the ends of every range.
    const auto consider = [&](int index, int lcp) {
        QList<int> assumed = lcps;
        assumed[index] = lcp;
        const Reused other = evaluate(states, assumed, request, rule).reused;
        prediction.low = std::min(prediction.low, other.low);
        prediction.high = std::max(prediction.high, other.high);
    };
    // A prompt of ours that is met with a good match is not beaten by one that Kerf never sent.
    const bool anchored = meets && !equals.at(met).foreign && equals.at(met).low >= kMeaningfulMatch;
    for (int i = 0; i < states.size(); ++i) {
        const Equal &equal = equals.at(i);
        if (outcome.choice.waits || states.at(i).busy || equal.high <= equal.low)
            continue;
        const bool pinnedHere = request.slotId >= 0 && i == outcome.choice.slot;
        if (equal.foreign && anchored && !pinnedHere)
            continue;
        consider(i, equal.high);
        // Just enough to stay in its slot: the least that a match above the host cache's reach can give.
        if (equal.foreign && pinnedHere)
            consider(i, std::min(equal.high, (states.at(i).length + 1) / 2));
    }
    // What only our book expects in the host cache may be gone (other clients' prompts pushed it out), or never have
    // come there: what is met without all of these, and with each alone.
    bool unsure = false;
    if (outcome.choice.saved && !outcome.choice.waits) {
        QList<int> present = lcps;
        QList<int> doubtful;
        for (int i = 0; i < states.size(); ++i) {
            if (isSlot(states.at(i)) || states.at(i).verified || states.at(i).length <= 0
                || share(lcps.at(i), states.at(i).length) < kLeastKeepToLoad)
                continue;
            doubtful.append(i);
            present[i] = 0; // as good as not there: an entry that keeps nothing is not loaded
        }
        const auto widen = [&] {
            const Reused other = evaluate(states, present, request, rule).reused;
            unsure = unsure || other.low != outcome.reused.low || other.high != outcome.reused.high;
            prediction.low = std::min(prediction.low, other.low);
            prediction.high = std::max(prediction.high, other.high);
        };
        // The other states keep their own doubts meanwhile: where unknown ids may go on being equal.
        const auto widenWith = [&](int index) {
            widen();
            const Equal &equal = equals.at(index);
            if (equal.high > equal.low && !equal.foreign) {
                present[index] = equal.high;
                widen();
            }
        };
        for (int i = 0; i < states.size() && !doubtful.isEmpty(); ++i) {
            if (!isSlot(states.at(i)) || states.at(i).busy)
                continue;
            widenWith(i);
            present[i] = lcps.at(i);
        }
        for (const int index : std::as_const(doubtful)) {
            present[index] = lcps.at(index);
            widenWith(index);
            present[index] = 0;
        }
    }
    // Unknown ids at the held list's end may still be part of a shifted run.
    if (meets && rule.chunkReuse > 0 && !(rule.memory == MemoryKind::Checkpointed && !rule.recurrent)) {
        const HeldState &state = states.at(met);
        int unknown = state.length - state.knownLength();
        if (replyEqualTokens >= 0)
            unknown = std::min(unknown, replyEqualTokens);
        if (unknown > 0 && !state.tokens.isEmpty() && equals.at(met).low < state.knownLength())
            prediction.high = std::min(n - 1, prediction.high + unknown);
    }
    prediction.predicted = prediction.low;
    prediction.claimable =
        rule.memory != MemoryKind::Unknown && outcome.reused.certain && !(meets && equals.at(met).foreign);
    prediction.reason = reasonOf(states, outcome, equals, request, rule, prediction);
    if (unsure)
        prediction.reason +=
            QStringLiteral("; whether the saved prompt is still there is not known: only the server's log shows it");
    return prediction;
}

template<typename Enum>
struct EnumName {
    Enum value;
    const char *text;
};
constexpr EnumName<MemoryKind> kMemory[] = {{MemoryKind::Unknown, "unknown"},
                                            {MemoryKind::FullAttention, "full_attention"},
                                            {MemoryKind::Checkpointed, "checkpointed"}};
constexpr EnumName<CheckpointKind> kCheckpoints[] = {{CheckpointKind::InternalCheckpoint, "internal_checkpoint"},
                                                     {CheckpointKind::SlotSaveFile, "slot_save_file"},
                                                     {CheckpointKind::FoldMarker, "fold_marker"},
                                                     {CheckpointKind::PreRewrite, "pre_rewrite"}};

template<typename Enum, std::size_t N>
QString nameIn(const EnumName<Enum> (&table)[N], Enum value)
{
    for (const auto &row : table) {
        if (row.value == value)
            return QString::fromLatin1(row.text);
    }
    return {};
}

template<typename Enum, std::size_t N>
std::optional<Enum> valueIn(const EnumName<Enum> (&table)[N], const QString &name)
{
    for (const auto &row : table) {
        if (name == QLatin1String(row.text))
            return row.value;
    }
    return std::nullopt;
}

} // namespace

QString memoryKindName(MemoryKind kind) { return nameIn(kMemory, kind); }
std::optional<MemoryKind> memoryKindFromName(const QString &name) { return valueIn(kMemory, name); }
QString checkpointKindName(CheckpointKind kind) { return nameIn(kCheckpoints, kind); }
std::optional<CheckpointKind> checkpointKindFromName(const QString &name) { return valueIn(kCheckpoints, name); }

quint64 hashTokens(const TokenList &tokens, int count)
{
    quint64 hash = 14695981039346656037ULL;
    const qsizetype end = std::min<qsizetype>(count, tokens.size());
    for (qsizetype i = 0; i < end; ++i) {
        quint32 id = static_cast<quint32>(tokens.at(i));
        for (int byte = 0; byte < 4; ++byte) {
            hash = (hash ^ (id & 0xff)) * 1099511628211ULL;
            id >>= 8;
        }
    }
    return hash;
}

ReusePrediction predictReuse(const QList<HeldState> &states, const ReuseRequest &request, const ReuseRule &rule,
                             int replyEqualTokens)
{
    QList<int> common;
    common.reserve(states.size());
    for (const HeldState &state : states)
        common.append(commonPrefix(state.tokens, request.tokens));
    const std::function<const TokenList &()> tokens = [&request]() -> const TokenList & { return request.tokens; };
    const Asked asked{static_cast<int>(request.tokens.size()), request.slotId, tokens};
    return predict(states, common, asked, rule, replyEqualTokens);
}

SpliceReuse::SpliceReuse(const QList<HeldState> &states, const TokenList &prompt, const ReuseRule &rule, int slotId,
                         int replyEqualTokens)
    : m_states(states)
    , m_prompt(prompt)
    , m_rule(rule)
    , m_slotId(slotId)
    , m_replyEqualTokens(replyEqualTokens)
{
    m_common.reserve(states.size());
    for (const HeldState &state : states)
        m_common.append(commonPrefix(state.tokens, prompt));
}

/// Below the first part that was taken out the whole prompt's answer holds; behind it the parts are compared.
int SpliceReuse::commonWith(int state, const QList<TokenRange> &kept) const
{
    const TokenList &held = m_states.at(state).tokens;
    const int whole = m_common.at(state);
    int equal = 0;
    for (const TokenRange &range : kept) {
        if (range.size() <= 0)
            continue;
        int from = range.begin;
        if (equal == range.begin) { // still the whole prompt's own positions
            if (whole < range.end)
                return whole;
            equal = range.end;
            continue;
        }
        const int most = static_cast<int>(std::min<qsizetype>(range.end, from + held.size() - equal));
        while (from < most && held.at(equal) == m_prompt.at(from)) {
            ++from;
            ++equal;
        }
        if (from < range.end)
            return equal;
    }
    return equal;
}

ReusePrediction SpliceReuse::predict(const QList<TokenRange> &kept)
{
    int n = 0;
    for (const TokenRange &range : kept)
        n += std::max(0, range.size());
    QList<int> common;
    common.reserve(m_states.size());
    for (int i = 0; i < m_states.size(); ++i)
        common.append(commonWith(i, kept));
    bool joined = false;
    const std::function<const TokenList &()> tokens = [&]() -> const TokenList & {
        if (!joined) {
            m_joined.resize(n);
            TokenId *out = m_joined.data();
            for (const TokenRange &range : kept) {
                if (range.size() > 0)
                    out = std::copy(m_prompt.cbegin() + range.begin, m_prompt.cbegin() + range.end, out);
            }
            joined = true;
        }
        return m_joined;
    };
    const Asked asked{n, m_slotId, tokens};
    return kerf::predict(m_states, common, asked, m_rule, m_replyEqualTokens);
}

std::optional<ReusePrediction> SpliceReuse::predictFront(const QList<TokenRange> &front, int total) const
{
    if (m_rule.chunkReuse > 0)
        return std::nullopt;
    int given = 0;
    for (const TokenRange &range : front)
        given += std::max(0, range.size());
    QList<int> common;
    common.reserve(m_states.size());
    for (int i = 0; i < m_states.size(); ++i) {
        common.append(commonWith(i, front));
        if (given < total && common.constLast() >= given && m_states.at(i).tokens.size() > given)
            return std::nullopt;
    }
    static const TokenList none;
    const std::function<const TokenList &()> tokens = []() -> const TokenList & { return none; };
    const Asked asked{total, m_slotId, tokens};
    return kerf::predict(m_states, common, asked, m_rule, m_replyEqualTokens);
}

double PrefillCost::ms(int from, int to) const
{
    if (to <= from)
        return 0;
    const double n = to - from;
    const double positions = (double(from) + double(to) - 1) * n / 2;
    return msPerRequest + msPerToken * n + msPerTokenPerPosition * positions;
}

namespace {

constexpr int kKeptSamples = 256;
constexpr double kTellingTokens = 8; ///< fewer than this, and the server's own overhead is most of the time
constexpr int kTerms = 3; ///< msPerToken, msPerTokenPerPosition, msPerRequest
using Terms = std::array<double, kTerms>;

struct Row {
    Terms x{};
    double y = 0;
    double weight = 1;
};

/// Weighted least squares over the terms of `use`, by elimination; nullopt if they cannot be told apart.
std::optional<Terms> solve(const QList<Row> &rows, const std::array<bool, kTerms> &use)
{
    std::array<std::array<double, kTerms + 1>, kTerms> m{};
    std::array<double, kTerms> scale{1, 1, 1};
    for (int i = 0; i < kTerms; ++i) {
        double most = 0;
        for (const Row &row : rows)
            most = std::max(most, std::abs(row.x.at(i)));
        scale.at(i) = most > 0 ? most : 1;
    }
    for (const Row &row : rows) {
        for (int i = 0; i < kTerms; ++i) {
            for (int j = 0; j < kTerms; ++j)
                m.at(i).at(j) += row.weight * row.x.at(i) / scale.at(i) * row.x.at(j) / scale.at(j);
            m.at(i).at(kTerms) += row.weight * row.x.at(i) / scale.at(i) * row.y;
        }
    }
    Terms result{};
    QList<int> terms;
    for (int i = 0; i < kTerms; ++i) {
        if (use.at(i))
            terms.append(i);
    }
    for (int k = 0; k < terms.size(); ++k) {
        int pivot = k;
        for (int r = k + 1; r < terms.size(); ++r) {
            if (std::abs(m.at(terms.at(r)).at(terms.at(k))) > std::abs(m.at(terms.at(pivot)).at(terms.at(k))))
                pivot = r;
        }
        std::swap(m.at(terms.at(k)), m.at(terms.at(pivot)));
        const double lead = m.at(terms.at(k)).at(terms.at(k));
        if (std::abs(lead) < 1e-9)
            return std::nullopt;
        for (int r = 0; r < terms.size(); ++r) {
            if (r == k)
                continue;
            const double factor = m.at(terms.at(r)).at(terms.at(k)) / lead;
            for (int c = 0; c <= kTerms; ++c)
                m.at(terms.at(r)).at(c) -= factor * m.at(terms.at(k)).at(c);
        }
    }
    for (const int term : std::as_const(terms))
        result.at(term) = m.at(term).at(kTerms) / m.at(term).at(term) / scale.at(term);
    return result;
}

double squares(const QList<Row> &rows, const Terms &terms)
{
    double sum = 0;
    for (const Row &row : rows) {
        const double rest = row.y - row.x.at(0) * terms.at(0) - row.x.at(1) * terms.at(1) - row.x.at(2) * terms.at(2);
        sum += row.weight * rest * rest;
    }
    return sum;
}

/// The best fit with no negative coefficient: of the few subsets of terms, the feasible one with the least squares.
Terms fitNonNegative(const QList<Row> &rows)
{
    static constexpr std::array<std::array<bool, kTerms>, 5> kSubsets{
        {{true, true, true}, {true, true, false}, {true, false, true}, {true, false, false}, {false, false, true}}};
    Terms best{};
    double least = -1;
    for (const auto &use : kSubsets) {
        // Two requests cannot tell three costs apart.
        if (rows.size() < std::count(use.cbegin(), use.cend(), true))
            continue;
        const std::optional<Terms> terms = solve(rows, use);
        if (!terms || std::any_of(terms->cbegin(), terms->cend(), [](double value) {
                return value < 0 || !std::isfinite(value);
            }))
            continue;
        const double sum = squares(rows, *terms);
        if (least < 0 || sum < least * (1 - 1e-9) - 1e-12) {
            least = sum;
            best = *terms;
        }
    }
    return best;
}

} // namespace

void PrefillCostFit::add(int from, int to, double ms)
{
    if (from < 0 || to <= from || !(ms > 0) || !std::isfinite(ms))
        return;
    const double n = to - from;
    m_samples.append({n, (double(from) + double(to) - 1) * n / 2, ms});
    if (m_samples.size() > kKeptSamples)
        m_samples.removeFirst();
}

PrefillCost PrefillCostFit::cost() const
{
    PrefillCost cost;
    cost.samples = static_cast<int>(m_samples.size());
    if (m_samples.isEmpty())
        return cost;
    const bool anyTelling = std::any_of(m_samples.cbegin(), m_samples.cend(),
                                        [](const Sample &sample) { return sample.n >= kTellingTokens; });
    QList<Row> rows;
    rows.reserve(m_samples.size());
    for (const Sample &sample : m_samples) {
        if (anyTelling && sample.n < kTellingTokens)
            continue;
        // Noise grows with the time taken: each row is weighed by its own size, so that short ones count as well.
        rows.append({{sample.n, sample.s, 1}, sample.ms, 1 / (sample.ms * sample.ms)});
    }
    Terms terms = fitNonNegative(rows);
    // A machine that was busy with something else makes single requests slow by a factor: Huber weights, a few rounds.
    for (int round = 0; round < 8 && rows.size() >= 4; ++round) {
        QList<double> rests;
        for (const Row &row : std::as_const(rows))
            rests.append(
                std::abs(row.y - row.x.at(0) * terms.at(0) - row.x.at(1) * terms.at(1) - row.x.at(2) * terms.at(2))
                / row.y);
        QList<double> sorted = rests;
        std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
        const double limit = std::max(1e-6, 2 * sorted.at(sorted.size() / 2));
        for (qsizetype i = 0; i < rows.size(); ++i) {
            const double plain = 1 / (rows.at(i).y * rows.at(i).y);
            rows[i].weight = rests.at(i) <= limit ? plain : plain * limit / rests.at(i);
        }
        terms = fitNonNegative(rows);
    }
    cost.msPerToken = terms.at(0);
    cost.msPerTokenPerPosition = terms.at(1);
    cost.msPerRequest = terms.at(2);
    return cost;
}

} // namespace kerf
