// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/tokens/tokens.h"

#include <QDateTime>
#include <QList>
#include <QString>

#include <optional>

namespace kerf {

/// What a rewind costs on this model's memory (LLAMA_SERVER.md section 1).
enum class MemoryKind {
    Unknown,
    FullAttention, ///< any position can be cut; no checkpoints are made
    Checkpointed ///< SWA, recurrent, hybrid: only back to a context checkpoint
};
QString memoryKindName(MemoryKind kind); ///< unknown|full_attention|checkpointed
std::optional<MemoryKind> memoryKindFromName(const QString &name);

enum class CheckpointKind { InternalCheckpoint, SlotSaveFile, FoldMarker, PreRewrite };
QString checkpointKindName(CheckpointKind kind); ///< internal_checkpoint|slot_save_file|fold_marker|pre_rewrite
std::optional<CheckpointKind> checkpointKindFromName(const QString &name);

/// A position that the server can rewind to.
struct Checkpoint {
    int position = 0; ///< n_tokens: state holds tokens [0, position)
    CheckpointKind kind = CheckpointKind::InternalCheckpoint;
    int posMin = 0; ///< first position whose keys are still in the window (SWA); 0 on recurrent memory is unknown
    int posMax = 0;
    qint64 sizeBytes = -1; ///< -1 = unknown
    int slotId = -1;
    qint64 taskId = -1; ///< the task that made it; -1 = unknown
    QDateTime createdAt;
    // Recorded (durable) ones only:
    qint64 recordId = 0; ///< row in the store
    QString fileName;
    quint64 prefixHash = 0; ///< hash of the prompt's first `position` token ids when it was made (hashTokens)
    QString serverIdentity; ///< server, build and model it belongs to
    friend bool operator==(const Checkpoint &, const Checkpoint &) = default;
};

/// Order-dependent 64-bit hash of the first `count` ids (FNV-1a over the little-endian ids).
quint64 hashTokens(const TokenList &tokens, int count);

/// One token list that the server holds: in a slot, or in its host prompt cache.
struct HeldState {
    enum class Place { Slot, HostCache };
    Place place = Place::Slot;
    int slotId = -1; ///< Slot only
    int length = 0; ///< tokens held, prompt and generated
    TokenList tokens; ///< ids known from the front; may be shorter than length
    /// Generated tokens whose ids nobody told begin here (= promptLength); equal to length if all are known.
    int knownLength() const { return static_cast<int>(tokens.size()); }
    QList<Checkpoint> checkpoints; ///< ascending by position
    bool checkpointsKnown = false; ///< the ring is visible (log or slot payload); an empty list is then an empty ring
    /// The server itself said what is in it (timings, log), not only our booking. A host cache entry that is not
    /// verified may be gone: predictReuse() then gives a range.
    bool verified = false;
    bool busy = false;
    qint64 taskId = -1; ///< last task that ran on it; -1 = unknown
    qint64 lastUsed = 0; ///< order of use, larger = later (slots: LRU choice)
    qint64 sizeBytes = -1; ///< host cache entry size; -1 = unknown
    int epoch = 0; ///< server life it belongs to; another epoch = worthless
    QString owner; ///< session id, or empty = another client's
    /// SWA: first position still in the memory's window cells; -1 = unknown (then it is taken from the newest
    /// checkpoint). A state that was loaded or restored holds no more than the window: length - n_swa.
    int posMin = -1;
    friend bool operator==(const HeldState &, const HeldState &) = default;
};

/// The server's reuse rule, with what is known of its flags. Unknown is an answer.
struct ReuseRule {
    MemoryKind memory = MemoryKind::Unknown;
    int chunkReuse = 0; ///< --cache-reuse N; 0 = off or not known to be on
    bool chunkReuseKnown = false;
    int slidingWindow = 0; ///< n_swa; 0 = none (recurrent, hybrid) or unknown
    bool recurrent = false; ///< recurrent or hybrid: checkpoints need no window condition
    double slotSimilarity = 0.10; ///< -sps
    bool idleSlotsCleared =
        false; ///< unified KV with --cache-idle-slots: a pinned idle slot is cleared by the next task
    bool hostCache = true; ///< --cache-ram > 0
    qint64 hostCacheLimitBytes = 8192LL * 1024 * 1024;
    int slotCount = 0; ///< 0 = unknown
    bool ringVisible = false;
    /// SWA: cells of the window's memory ("creating     SWA KV cache, size = 1024 cells"); 0 = unknown.
    int windowCells = 0;
    friend bool operator==(const ReuseRule &, const ReuseRule &) = default;
};

/// The request to predict for.
struct ReuseRequest {
    TokenList tokens;
    int slotId = -1; ///< -1 = the server's choice
};

/// A shifted run of --cache-reuse.
struct ChunkMove {
    int heldBegin = 0;
    int newBegin = 0;
    int length = 0;
    friend bool operator==(const ChunkMove &, const ChunkMove &) = default;
};

/// What predictReuse() says. All counts in tokens of the request.
struct ReusePrediction {
    int predicted = 0; ///< low until the session's last replies show which side holds
    int low = 0;
    int high = 0;
    int lcp = 0; ///< LCP with the state met (known ids)
    int stateIndex = -1; ///< index into the states given; -1 = none is met (an empty slot)
    bool loadedFromHostCache = false;
    int checkpointPosition = -1; ///< the checkpoint restored; -1 = none is needed or none is usable
    QList<ChunkMove> chunks;
    bool claimable = false; ///< the memory kind is established, and the ring is visible where one is needed
    QString reason; ///< one sentence, for the receipt
    int slotIndex = -1; ///< index of the slot's state that it runs on; -1 = unknown (busy, or not among the states)
    bool slotSaved = false; ///< the slot's prompt goes to the host cache first, and the host cache is asked
    friend bool operator==(const ReusePrediction &, const ReusePrediction &) = default;
};

/// Which held state a request meets and what of it is reused: choice of the state, LCP of token ids (at
/// most n-1), newest usable checkpoint at or below it, then chunks (LLAMA_SERVER.md sections 1 and 3).
/// Pure. Linear in the tokens held plus requested (chunk search included).
/// Host cache states are given from the oldest to the newest.
/// On SWA a rewind within the window's memory needs no checkpoint (measured); this wants `posMin` or a visible ring.
/// `replyEqualTokens`: for a state with generated tokens of unknown ids, how many of the request's tokens
/// behind the known part are the re-tokenised reply (the high end of the range); -1 = not known, then all
/// of the unknown part may match.
ReusePrediction predictReuse(const QList<HeldState> &states, const ReuseRequest &request, const ReuseRule &rule,
                             int replyEqualTokens = -1);

/// predictReuse() for many prompts that are one prompt with parts taken out, as a plan asks for them. What each state
/// shares with the whole prompt is looked for once, so that an answer costs what the parts do and not what the prompt
/// does (but where chunks are searched). The states, the prompt and the rule must outlive it. Not for several threads.
class SpliceReuse
{
public:
    SpliceReuse(const QList<HeldState> &states, const TokenList &prompt, const ReuseRule &rule, int slotId,
                int replyEqualTokens = -1);
    /// `kept`: ranges of the prompt, ascending, without overlap. The answer is predictReuse()'s for their tokens.
    ReusePrediction predict(const QList<TokenRange> &kept);
    /// The same where only the first of the kept ranges are given, and how many tokens all of them have. nullopt: they
    /// are not enough to tell where the prompts part, or chunks are searched.
    std::optional<ReusePrediction> predictFront(const QList<TokenRange> &front, int total) const;
    /// Tokens that a state's known ids share with the whole prompt.
    int commonWithPrompt(int state) const { return m_common.at(state); }

private:
    int commonWith(int state, const QList<TokenRange> &kept) const;

    const QList<HeldState> &m_states;
    const TokenList &m_prompt;
    const ReuseRule &m_rule;
    int m_slotId;
    int m_replyEqualTokens;
    QList<int> m_common; ///< of each state with the whole prompt
    TokenList m_joined; ///< the kept tokens, made only where chunks are searched; its memory is used again
};

/// Time to prefill tokens [from, to): a*(n) + b*(sum of positions), and c for the request (LLAMA_SERVER.md section 1).
/// Unknown until something was measured: then nothing is predicted in ms.
struct PrefillCost {
    double msPerToken = 0;
    double msPerTokenPerPosition = 0; ///< added for each position before the token
    int samples = 0; ///< 0 = unknown
    bool simulated = false;
    double msPerRequest = 0; ///< the server's own part of each request, whatever its length
    bool known() const { return samples > 0; }
    double ms(int from, int to) const;
    friend bool operator==(const PrefillCost &, const PrefillCost &) = default;
};

/// Fit over measured prefills, robust to single slow ones (Huber weights); no coefficient is negative; keeps the last
/// 256 samples. Samples of fewer than 8 tokens say little of the slope: they count only while there are no others.
class PrefillCostFit
{
public:
    void add(int from, int to, double ms);
    PrefillCost cost() const;

private:
    struct Sample {
        double n, s, ms;
    };
    QList<Sample> m_samples;
};

} // namespace kerf
