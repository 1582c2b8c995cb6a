// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/cache/boundary.h"
#include "core/eviction/policy.h"
#include "core/session/episode.h"

#include <QList>
#include <QStringList>

namespace kerf {

/// THE CUT DECISION (SPEC section 7): boundary first, then what to evict.
///
///   frameFor()      how much must go, what may never go (reserve, recent budget, pins, system, last user message)
///   chooseRuns()    every contiguous run that meets the target, by cost = prefill + recency_weight x recency lost;
///                   the best dozen, each with what predictReuse() says of the prompt after it
///   alternatives()  every legal cut with what it would cost (the what-if view)
///
/// Pure: no I/O, no clock. The caller renders the best choices in order and takes the first whose rendered size
/// meets the target (engine/plansession.cpp).

/// One message of the live prompt, as the planner sees it. In prompt order; ranges are neighbours.
struct PlanEpisode {
    int episodeIndex = -1; ///< into the session's list; -1 = not an episode (a message of pins alone)
    qint64 id = 0;
    int seq = 0;
    Role role = Role::User;
    Tier tier = Tier::Live;
    TokenRange range; ///< whole-prompt token positions
    bool edgeLegal = true; ///< the layout allows a cut at range.begin
    int leader = -1; ///< index in this list of the episode that leads its call/result group
    bool pinned = false;
    bool allowDrop = false;
    int maskedTokens = -1; ///< tokens it would have masked (first guess); -1 = masking does not make it shorter
};

struct PlanInput {
    QList<PlanEpisode> episodes;
    TokenList prompt; ///< the live prompt, generation prompt included
    int anchorTokens = 0; ///< pins
    int fixedTokens = 0; ///< template head and tools
    Budget budget;
    EvictionKnobs knobs;
    QList<HeldState> states;
    ReuseRule rule;
    int slotId = -1;
    int requestedCut = -1; ///< override (what-if); -1 = none. It may lie in the reserve, and nothing is masked for it
    int pendingRecall = 0; ///< tokens that the harness will add
    int noteTokens = 0; ///< what the new marker will add (first guess)
    int replyEqualTokens = -1; ///< see predictReuse
    bool generational = false;
    int lastCompactedSeq = 0; ///< generational: episodes up to here are old
};

enum class Pressure { Relaxed, Compacting, AnchorOverflow };
QString pressureName(Pressure pressure); ///< relaxed|compacting|anchor_overflow

/// What pressure may take, in indices of PlanInput::episodes and prompt positions.
struct PlanFrame {
    Pressure pressure = Pressure::Relaxed;
    int firstEvictable = 0; ///< first episode behind the reserve
    int recentBegin = 0; ///< first episode of the recent part
    int reservePosition = 0; ///< where the reserve ends
    int recentPosition = 0; ///< where the recent part begins
    int recentBudget = 0; ///< tokens kept verbatim at the end, after fitting
    int lastUser = -1; ///< the last user message; -1 = none
    int needed = 0; ///< tokens that must go to meet the target
    QStringList notes; ///< what fitting changed, in words
};
PlanFrame frameFor(const PlanInput &input);

/// A change of one episode.
struct TierStep {
    int index = 0; ///< into PlanInput::episodes
    Tier to = Tier::Referenced;
    friend bool operator==(const TierStep &, const TierStep &) = default;
};

struct EvictionChoice {
    QList<TierStep> steps; ///< ascending by index; never empty
    int cut = 0; ///< prompt position of the first step: the retained part ends here
    int removedTokens = 0; ///< first guess
    int tokensAfter = 0; ///< first guess; the rendered size counts
    double recencyLost = 0; ///< sum over its tokens of their recency, 0..1 each
    double cost = 0;
    ReusePrediction prediction; ///< of the spliced prompt
    bool meetsTarget = false; ///< by the first guess
};
/// The order in which choices are tried: the target first, then the cost; ties: the longer retained prefix.
bool isBetterChoice(const EvictionChoice &a, const EvictionChoice &b);
/// The best `most` choices, cheapest first. Where the target cannot be met: what comes nearest to it.
QList<EvictionChoice> chooseRuns(const PlanInput &input, const PlanFrame &frame, int most = 12);

/// The same removal with texts masked in place instead of taken out: for templates that refuse a role order.
EvictionChoice maskedInstead(const PlanInput &input, const PlanFrame &frame, const EvictionChoice &choice);

struct CutAlternative {
    int cut = 0;
    bool atCheckpoint = false;
    int retainedTokens = 0;
    int reclaimedTokens = 0;
    int tokensAfter = 0;
    ReusePrediction prediction;
    int predictedPrefill = 0;
    double predictedMs = -1;
};
/// Legal cuts ascending, at most `most` of them, evenly thinned; `total` = how many there are.
QList<CutAlternative> cutAlternatives(const PlanInput &input, const PlanFrame &frame, const PrefillCost &cost, int most,
                                      int *total);

/// What goes when a legal cut is taken. Short form: several segments between two ends are an index range.
struct LegalRun {
    int index = 0; ///< of the first evicted episode, into PlanInput::episodes
    TokenRange own; ///< what is taken out at the cut itself; own.begin is the cut
    int firstSegment = 0; ///< into LegalRuns::segments, [firstSegment, lastSegment) go whole
    int lastSegment = 0;
    TokenRange last; ///< what is taken of the segment behind those; empty = nothing
    int removedTokens = 0;
    double recencyLost = 0;
    friend bool operator==(const LegalRun &, const LegalRun &) = default;
};
struct LegalRuns {
    QList<LegalRun> runs; ///< ascending by cut; the smallest that meets the target, else the largest
    QList<LegalRun> longer; ///< of each the one that chooseRuns() weighs against it; removedTokens 0 = none
    QList<TokenRange> segments; ///< the largest removal between two neighbours that stay
};
/// Every legal cut with the run that chooseRuns() gives it when it is asked for. Linear times log of the episodes.
LegalRuns legalRuns(const PlanInput &input, const PlanFrame &frame);
/// Spelled out, ascending. `from` >= own.begin moves the cut into the own part.
QList<TokenRange> removedRanges(const LegalRuns &runs, const LegalRun &run, int from);

/// Largest cut behind which the target can still be met; -1 = none (planBoundary's forward limit).
int forwardLimit(const PlanInput &input, const PlanFrame &frame);

/// The prompt with the choice's episodes taken out (masked ones cut to their first guess).
TokenList splicedPrompt(const PlanInput &input, const EvictionChoice &choice);

} // namespace kerf
