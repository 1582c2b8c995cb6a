// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/cache/reuse.h"

#include <QJsonObject>

namespace kerf {

/// Verdicts and cache_status of SPEC section 6. Wire names by verdictName()/cacheStatusName().
enum class Verdict { None, Aligned, Snapped, PartialReuse, PrefixPreserved, FullReprefill };
enum class CacheStatus { Unknown, Cold, FullReprefill, PartialReuse, WarmRestored, PrefixPreserved };
enum class BoundaryAction {
    None,
    EvictAtAlignedBoundary,
    SnapshotThenEvict,
    RestoreThenEvict,
    EvictAndAcceptReprefill
};
QString verdictName(Verdict verdict); ///< aligned|snapped|partial-reuse|prefix-preserved|full-re-prefill; None = empty
QString cacheStatusName(
    CacheStatus status); ///< unknown|cold|full-re-prefill|partial-reuse|warm-restored|prefix-preserved
QString boundaryActionName(BoundaryAction action);
Verdict verdictFromName(const QString &name);
CacheStatus cacheStatusFromName(const QString &name);
BoundaryAction boundaryActionFromName(const QString &name);

/// What planBoundary() looks at. Positions are prompt token indices.
struct BoundaryInput {
    int requestedCut = 0;
    bool reachable = true;
    bool slotsReadable = true;
    QString unreadableReason; ///< the server's own message, if any
    ReuseRule rule;
    HeldState held; ///< H: the state that the next request will meet; length 0 = nothing is held
    int lcp = 0; ///< L = LCP(H, the prompt before eviction)
    QList<Checkpoint> candidates; ///< merged and valid (mergeCandidates), any order
    bool partialStateOnly = false; ///< only durable save points are trusted, unless ringTrusted
    bool ringTrusted = false; ///< a ring read from the log, calibration or an observed restore
    QString evidence; ///< why the memory kind is what it is
    int toleranceTokens = 512;
    int forwardLimit =
        -1; ///< largest candidate position with which the target can still be met behind its edge; -1 = none
    bool simulated = false;
};

/// Where the cut falls, and why. Round-trips through JSON (fields in PROTOCOL.md).
struct BoundaryPlan {
    Verdict verdict = Verdict::None;
    CacheStatus cacheStatus = CacheStatus::Unknown;
    QString reason;
    int requestedCut = 0;
    int alignedCut = -1; ///< -1 = null: nothing could be aligned
    int nearestCut = -1; ///< nearest candidate at or below the cut; -1 = null
    QString snapKind; ///< live-hit|token-hit|exact|nearest-below|forward|far-below; empty = null
    int snapDelta = 0; ///< aligned - requested
    CheckpointKind candidateKind = CheckpointKind::InternalCheckpoint;
    bool hasCandidate = false;
    int candidatesConsidered = 0;
    int toleranceTokens = 512;
    BoundaryAction action = BoundaryAction::None;
    bool pairsWithCache = false;
    bool partialStateOnly = false;
    MemoryKind memoryKind = MemoryKind::Unknown;
    QString evidence;
    bool simulated = false;
    int predictedReuse = 0;
    int predictedReuseLow = 0;
    int predictedReuseHigh = 0;
    int predictedPrefill = 0;
    double predictedMs = -1; ///< -1 = null: no cost is known

    QJsonObject toJson() const;
    static BoundaryPlan fromJson(const QJsonObject &object);
    friend bool operator==(const BoundaryPlan &, const BoundaryPlan &) = default;
};

/// The table of SPEC section 6; first match wins. Fills everything but the predicted_* fields, which come
/// from predictReuse() over the prompt after the eviction: see withPrediction().
BoundaryPlan planBoundary(const BoundaryInput &input);

/// Puts the prediction in and keeps the invariants: partial-reuse iff predicted >= 16 and claimable;
/// pairs_with_cache iff partial-reuse or warm-restored.
BoundaryPlan withPrediction(BoundaryPlan plan, const ReusePrediction &prediction, int promptTokens,
                            const PrefillCost &cost);

/// Live ring and recorded rows as one list, ascending; duplicates by (position, kind) dropped. A recorded
/// one counts only while its identity holds: same `serverIdentity`, file present (`fileExists`), and the hash of
/// the prompt's first `position` ids unchanged (SPEC section 5).
struct RecordedCheckpoint {
    Checkpoint checkpoint;
    bool fileExists = true;
};
QList<Checkpoint> mergeCandidates(const QList<Checkpoint> &ring, const QList<RecordedCheckpoint> &recorded,
                                  const TokenList &prompt, const QString &serverIdentity);

} // namespace kerf
