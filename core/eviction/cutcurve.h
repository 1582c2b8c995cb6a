// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/eviction/planner.h"

#include <QJsonObject>

#include <optional>

namespace kerf {

/// What every possible cut of one prompt would cost: the data of the what-if view. A value: once it is made, any
/// position is looked up without asking anybody.
///
/// A legal cut is priced with the run that the planner takes when it is asked for this cut (legalRuns()). A position
/// between two of them is priced with the run of the cut below it, begun at that position: nobody can cut there, but
/// the value says what lies between. Where a run leaves nothing to take (pins, the last user message) the value of the
/// next legal cut holds: the curve is flat there. In front of the first legal cut and behind the last run there is no
/// value.

/// The value at one position. Counts are tokens; sizes are sums over messages, not rendered.
struct CutValue {
    int position = 0;
    int legal = -1; ///< index of the legal cut whose run is meant
    int tokensAfter = 0; ///< the prompt after it
    int low = 0; ///< reused at least
    int high = 0; ///< reused at most; equal to low where the server's memory and its ring are known
    int checkpoint = -1; ///< position of the checkpoint that serves it; -1 = none is used
    bool claimable = false;
    friend bool operator==(const CutValue &, const CutValue &) = default;
};

/// The values of [begin, end): each count grows by its step, 0 or 1, from position to position.
struct CutPiece {
    int begin = 0;
    int end = 0;
    int legal = -1;
    int tokensAfter = 0; ///< at begin, as the other counts
    int tokensStep = 0;
    int low = 0;
    int lowStep = 0;
    int high = 0;
    int highStep = 0;
    int checkpoint = -1;
    bool claimable = false;
    CutValue at(int position) const;
    friend bool operator==(const CutPiece &, const CutPiece &) = default;
};

struct LegalCut {
    int cut = 0; ///< prompt position: begin of the first evicted message
    int seq = 0; ///< episode that begins there
    int afterSeq = 0; ///< episode that ends there; 0 = none (head)
    LegalRun run;
    int reclaimedTokens = 0;
    int tokensAfter = 0;
    int recentKept = 0; ///< tokens kept word for word behind the run, up to the prompt's end
    bool meetsTarget = false;
    CutValue value;
    // Of planBoundary(), where the caller asked for it (report(), boundary given); empty otherwise.
    QString verdict;
    int snapDelta = 0;
    double predictedMs = -1; ///< of the claimed reuse; -1 = no cost is known
    friend bool operator==(const LegalCut &, const LegalCut &) = default;
};

struct CutReport {
    QList<CutPiece> curve; ///< ascending, without overlap; gaps have no value
    QList<LegalCut> legal; ///< ascending by cut
    QList<TokenRange> segments; ///< see LegalRuns
    int promptTokens = 0;
    int target = 0;
    int triggerAt = 0;
    int recentBegin = 0; ///< where the recent part begins
    int pendingRecall = 0;
    bool highHolds = false; ///< this session's last replies were held as re-tokenised: the high end is claimed
    bool sampled = false; ///< too many for the chunk search: only every so many legal cuts are in it
    int legalTotal = 0; ///< how many there are
    PrefillCost cost;
    // Of the session and the server, told by the engine:
    QString sessionId;
    qint64 revision = 0;
    int slotId = -1;
    bool exact = false;
    bool simulated = false;

    std::optional<CutValue> at(int position) const;
    /// Reused as it is claimed: low, or high where that is what holds.
    int claimed(const CutValue &value) const { return value.claimable && highHolds ? value.high : value.low; }
    int prefill(const CutValue &value) const { return value.tokensAfter - claimed(value); }
    /// nullopt while no cost is known.
    std::optional<double> ms(int reused, int tokensAfter) const;
    std::optional<double> ms(const CutValue &value) const { return ms(claimed(value), value.tokensAfter); }
    /// Whether best and worst differ somewhere by more than the claim says.
    bool isRange() const;

    int legalAt(int cut) const; ///< index of exactly this cut; -1 = none
    int legalBelow(int position) const; ///< last one at or below; -1 = none
    int legalAbove(int position) const; ///< first one at or above; -1 = none
    /// What goes with a cut at `position`, ascending prompt ranges.
    QList<TokenRange> evicted(int position) const;
    /// The positions just below which the curve falls because a checkpoint begins to serve: {below, at}.
    QList<std::pair<int, int>> cliffs() const;

    QJsonObject toJson() const;
    static CutReport fromJson(const QJsonObject &object);
    friend bool operator==(const CutReport &, const CutReport &) = default;
};

/// Pure. `input.requestedCut` is ignored: the report is that of a cut that is asked for, with the reserve given way.
/// `boundary`: everything of it but the requested cut, to fill the verdicts of the legal cuts; null = none.
/// Grows with episodes, checkpoints and the prompt's tokens; chunk search is quadratic, so there at most
/// `mostChunkWork` tokens are looked at and legal cuts are sampled beyond that.
CutReport cutReport(const PlanInput &input, const PrefillCost &cost, const BoundaryInput *boundary = nullptr,
                    bool highHolds = false, qint64 mostChunkWork = 400'000'000);

} // namespace kerf
