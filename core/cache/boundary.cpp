// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/cache/boundary.h"

#include <QLocale>

#include <algorithm>
#include <array>
#include <utility>

namespace kerf {

namespace {

constexpr int kLeastReuse = 16; ///< fewer equal tokens are another prompt (SPEC section 6, row 3)

template<typename Enum, std::size_t N>
QString nameOf(const std::array<std::pair<Enum, const char *>, N> &table, Enum value)
{
    for (const auto &[key, name] : table) {
        if (key == value)
            return QString::fromLatin1(name);
    }
    return {};
}

template<typename Enum, std::size_t N>
Enum valueOf(const std::array<std::pair<Enum, const char *>, N> &table, const QString &name, Enum otherwise)
{
    for (const auto &[key, text] : table) {
        if (name == QLatin1String(text))
            return key;
    }
    return otherwise;
}

constexpr std::array kVerdicts{
    std::pair{Verdict::None, ""},
    std::pair{Verdict::Aligned, "aligned"},
    std::pair{Verdict::Snapped, "snapped"},
    std::pair{Verdict::PartialReuse, "partial-reuse"},
    std::pair{Verdict::PrefixPreserved, "prefix-preserved"},
    std::pair{Verdict::FullReprefill, "full-re-prefill"},
};
constexpr std::array kStatuses{
    std::pair{CacheStatus::Unknown, "unknown"},
    std::pair{CacheStatus::Cold, "cold"},
    std::pair{CacheStatus::FullReprefill, "full-re-prefill"},
    std::pair{CacheStatus::PartialReuse, "partial-reuse"},
    std::pair{CacheStatus::WarmRestored, "warm-restored"},
    std::pair{CacheStatus::PrefixPreserved, "prefix-preserved"},
};
constexpr std::array kActions{
    std::pair{BoundaryAction::None, ""},
    std::pair{BoundaryAction::EvictAtAlignedBoundary, "evict_at_aligned_boundary"},
    std::pair{BoundaryAction::SnapshotThenEvict, "snapshot_then_evict"},
    std::pair{BoundaryAction::RestoreThenEvict, "restore_then_evict"},
    std::pair{BoundaryAction::EvictAndAcceptReprefill, "evict_and_accept_reprefill"},
};

/// English grouping: reasons are part of receipts and JSON, which are not translated.
QString number(int value) { return QLocale(QLocale::English, QLocale::UnitedStates).toString(value); }

bool isDurable(CheckpointKind kind) { return kind != CheckpointKind::InternalCheckpoint; }

/// In memory, and its window reaches far enough back for a rewind to L (LLAMA_SERVER.md section 3).
bool windowCovers(const Checkpoint &candidate, const ReuseRule &rule, int lcp)
{
    if (rule.recurrent || rule.slidingWindow <= 0 || candidate.posMin == 0)
        return true;
    return candidate.posMin < std::max(0, lcp + 2 - rule.slidingWindow);
}

QString kindWords(CheckpointKind kind)
{
    switch (kind) {
    case CheckpointKind::InternalCheckpoint:
        return QStringLiteral("an in-memory checkpoint");
    case CheckpointKind::SlotSaveFile:
        return QStringLiteral("a slot save file");
    case CheckpointKind::FoldMarker:
        return QStringLiteral("a fold marker");
    case CheckpointKind::PreRewrite:
        return QStringLiteral("a pre-rewrite save");
    }
    return {};
}

BoundaryPlan fullRewrite(BoundaryPlan plan, CacheStatus status, BoundaryAction action, const QString &reason)
{
    plan.verdict = Verdict::FullReprefill;
    plan.cacheStatus = status;
    plan.action = action;
    plan.reason = reason;
    return plan;
}

BoundaryPlan alignedAt(BoundaryPlan plan, Verdict verdict, int position, const QString &kind, const QString &reason)
{
    plan.verdict = verdict;
    plan.cacheStatus = CacheStatus::PartialReuse;
    plan.action = BoundaryAction::EvictAtAlignedBoundary;
    plan.alignedCut = position;
    plan.snapKind = kind;
    plan.snapDelta = position - plan.requestedCut;
    plan.reason = reason;
    return plan;
}

BoundaryPlan onCandidate(BoundaryPlan plan, Verdict verdict, const Checkpoint &candidate, const QString &kind,
                         const QString &reason, BoundaryAction inMemoryAction)
{
    plan = alignedAt(std::move(plan), verdict, candidate.position, kind, reason);
    plan.hasCandidate = true;
    plan.candidateKind = candidate.kind;
    plan.action = isDurable(candidate.kind) ? BoundaryAction::RestoreThenEvict : inMemoryAction;
    return plan;
}

/// Usable candidates at or below L, ascending; of the durable ones only those above every in-memory one:
/// a durable candidate wins only if no in-memory one is at or above it.
QList<Checkpoint> usableCandidates(const BoundaryInput &input)
{
    QList<Checkpoint> usable;
    for (const Checkpoint &candidate : input.candidates) {
        if (candidate.position > input.lcp || candidate.position <= 0)
            continue;
        if (!isDurable(candidate.kind)) {
            if (input.partialStateOnly && !input.ringTrusted)
                continue; // the seed's safe rule: a partial-state rewind is trusted only on stronger evidence
            if (!windowCovers(candidate, input.rule,
                              std::min(input.lcp, std::max(input.requestedCut, candidate.position))))
                continue;
        }
        usable.append(candidate);
    }
    std::sort(usable.begin(), usable.end(), [](const Checkpoint &a, const Checkpoint &b) {
        if (a.position != b.position)
            return a.position < b.position;
        return isDurable(a.kind) && !isDurable(b.kind); // in memory last: found first from above
    });
    return usable;
}

} // namespace

QString verdictName(Verdict verdict) { return nameOf(kVerdicts, verdict); }
QString cacheStatusName(CacheStatus status) { return nameOf(kStatuses, status); }
QString boundaryActionName(BoundaryAction action) { return nameOf(kActions, action); }
Verdict verdictFromName(const QString &name) { return valueOf(kVerdicts, name, Verdict::None); }
CacheStatus cacheStatusFromName(const QString &name) { return valueOf(kStatuses, name, CacheStatus::Unknown); }
BoundaryAction boundaryActionFromName(const QString &name) { return valueOf(kActions, name, BoundaryAction::None); }

BoundaryPlan planBoundary(const BoundaryInput &input)
{
    BoundaryPlan plan;
    plan.requestedCut = input.requestedCut;
    plan.toleranceTokens = input.toleranceTokens;
    plan.partialStateOnly = input.partialStateOnly;
    plan.memoryKind = input.rule.memory;
    plan.evidence = input.evidence;
    plan.simulated = input.simulated;

    // 1, 2: nothing can be known.
    if (!input.reachable) {
        const QString why =
            input.unreadableReason.isEmpty() ? QStringLiteral("the backend is unreachable") : input.unreadableReason;
        return fullRewrite(plan, CacheStatus::FullReprefill, BoundaryAction::EvictAndAcceptReprefill,
                           QStringLiteral("%1; full re-prefill").arg(why));
    }
    if (!input.slotsReadable) {
        QString reason = QStringLiteral("the slot state is unreadable; full re-prefill");
        if (!input.unreadableReason.isEmpty())
            reason = QStringLiteral("the slot state is unreadable (%1); full re-prefill").arg(input.unreadableReason);
        return fullRewrite(plan, CacheStatus::FullReprefill, BoundaryAction::EvictAndAcceptReprefill, reason);
    }
    // 3 (corrects the seed: behind it comes the live hit, which needs no ring).
    if (input.held.length <= 0) {
        return fullRewrite(plan, CacheStatus::Cold, BoundaryAction::EvictAndAcceptReprefill,
                           QStringLiteral("the server holds nothing yet; full re-prefill"));
    }
    if (input.lcp < kLeastReuse) {
        const QString whose = input.held.owner.isEmpty()
            ? QStringLiteral("another prompt is held (%1 tokens, %2 equal)")
                  .arg(number(input.held.length), number(input.lcp))
            : QStringLiteral("another prompt is held (%1 tokens of session %2, %3 equal)")
                  .arg(number(input.held.length), input.held.owner, number(input.lcp));
        return fullRewrite(plan, CacheStatus::FullReprefill, BoundaryAction::EvictAndAcceptReprefill,
                           QStringLiteral("%1; full re-prefill").arg(whose));
    }

    const int cut = input.requestedCut;
    const QList<Checkpoint> usable = usableCandidates(input);
    plan.candidatesConsidered = static_cast<int>(usable.size());

    // 4. LIVE HIT: all that is held lies before the cut.
    if (input.lcp == input.held.length && input.held.length <= cut) {
        return alignedAt(plan, Verdict::Aligned, input.held.length, QStringLiteral("live-hit"),
                         QStringLiteral("live hit: all %1 tokens that the server holds lie before the cut")
                             .arg(number(input.held.length)));
    }
    // 5. TOKEN HIT: full attention rewinds to any position.
    if (input.rule.memory == MemoryKind::FullAttention) {
        const int at = std::min(cut, input.lcp);
        const QString reason = at == cut
            ? QStringLiteral("token hit, delta 0: full attention can be cut at any token")
            : QStringLiteral("token hit, %1 tokens short: the held prompt differs at token %2")
                  .arg(number(cut - at), number(input.lcp));
        plan.nearestCut = at;
        return alignedAt(plan, Verdict::Aligned, at, QStringLiteral("token-hit"), reason);
    }
    // 6. No usable candidate.
    if (usable.isEmpty()) {
        if (input.rule.memory == MemoryKind::Unknown || !input.rule.ringVisible) {
            plan.verdict = Verdict::PrefixPreserved;
            plan.cacheStatus = CacheStatus::PrefixPreserved;
            plan.action = BoundaryAction::EvictAtAlignedBoundary;
            plan.reason = input.rule.memory == MemoryKind::Unknown
                ? QStringLiteral("prefix kept, alignment unknown: the server's memory kind is not known and it shows "
                                 "no checkpoints; "
                                 "0 to %1 tokens may be reused")
                      .arg(number(std::min(cut, input.lcp)))
                : QStringLiteral(
                      "prefix kept, alignment unknown: the server makes checkpoints but its ring is not visible; "
                      "0 to %1 tokens may be reused")
                      .arg(number(std::min(cut, input.lcp)));
            return plan;
        }
        return fullRewrite(plan, CacheStatus::FullReprefill, BoundaryAction::SnapshotThenEvict,
                           QStringLiteral("no checkpoints are available on this backend/session; full re-prefill"));
    }

    // Nearest at or below the cut; on equal positions the one in memory.
    const Checkpoint *below = nullptr;
    for (const Checkpoint &candidate : usable) {
        if (candidate.position <= cut)
            below = &candidate;
    }
    if (below && isDurable(below->kind)) {
        for (const Checkpoint &candidate : usable) {
            if (!isDurable(candidate.kind) && candidate.position <= cut && candidate.position >= below->position)
                below = &candidate;
        }
    }
    if (below)
        plan.nearestCut = below->position;

    // 7. EXACT
    if (below && below->position == cut) {
        return onCandidate(plan, Verdict::Aligned, *below, QStringLiteral("exact"),
                           QStringLiteral("aligned on %1 at the cut, delta 0").arg(kindWords(below->kind)),
                           BoundaryAction::EvictAtAlignedBoundary);
    }
    // 8. NEAREST BELOW within tolerance
    if (below && cut - below->position <= input.toleranceTokens) {
        return onCandidate(plan, Verdict::Snapped, *below, QStringLiteral("nearest-below"),
                           QStringLiteral("snapped %1 tokens back onto %2 at %3, inside the tolerance of %4")
                               .arg(number(cut - below->position), kindWords(below->kind), number(below->position),
                                    number(input.toleranceTokens)),
                           BoundaryAction::EvictAtAlignedBoundary);
    }
    // 9. FORWARD: keep more, reuse from there.
    const Checkpoint *above = nullptr;
    for (const Checkpoint &candidate : usable) {
        if (candidate.position > cut && candidate.position <= input.forwardLimit) {
            if (!above || candidate.position == above->position)
                above = &candidate;
            else
                break;
        }
    }
    if (above) {
        const QString why = below ? QStringLiteral("the nearest below is %1 tokens back, tolerance %2")
                                        .arg(number(cut - below->position), number(input.toleranceTokens))
                                  : QStringLiteral("the ring starts past the cut");
        return onCandidate(
            plan, Verdict::PartialReuse, *above, QStringLiteral("forward"),
            QStringLiteral("kept %1 tokens more to reach %2 at %3: %4")
                .arg(number(above->position - cut), kindWords(above->kind), number(above->position), why),
            BoundaryAction::EvictAtAlignedBoundary);
    }
    // 10. Farther below than the tolerance: the server will use it all the same.
    if (below) {
        return onCandidate(
            plan, Verdict::PartialReuse, *below, QStringLiteral("far-below"),
            QStringLiteral("the nearest checkpoint is %1 tokens below the cut (tolerance %2): %3 reused, %1 kept and "
                           "computed again")
                .arg(number(cut - below->position), number(input.toleranceTokens), number(below->position)),
            BoundaryAction::SnapshotThenEvict);
    }
    // 11. The ring starts past every possible cut.
    return fullRewrite(
        plan, CacheStatus::FullReprefill, BoundaryAction::SnapshotThenEvict,
        QStringLiteral("the oldest checkpoint sits at %1, %2 tokens past the cut at %3, and the target cannot be met "
                       "behind it; full re-prefill")
            .arg(number(usable.constFirst().position), number(usable.constFirst().position - cut), number(cut)));
}

BoundaryPlan withPrediction(BoundaryPlan plan, const ReusePrediction &prediction, int promptTokens,
                            const PrefillCost &cost)
{
    const bool nothingKnown = plan.action == BoundaryAction::EvictAndAcceptReprefill
        && plan.cacheStatus == CacheStatus::FullReprefill && prediction.stateIndex < 0;
    plan.predictedReuseLow = nothingKnown ? 0 : prediction.low;
    plan.predictedReuseHigh = nothingKnown ? 0 : prediction.high;
    plan.predictedReuse = nothingKnown ? 0 : prediction.claimable ? prediction.predicted : prediction.low;
    plan.predictedPrefill = promptTokens - plan.predictedReuse;
    plan.predictedMs = cost.known() ? cost.ms(plan.predictedReuse, promptTokens) : -1;

    // partial-reuse iff at least 16 tokens are predicted: no reuse is claimed that the server cannot match, and
    // none that it will match is hidden.
    const bool claims = prediction.claimable && plan.predictedReuse >= kLeastReuse;
    if (claims && plan.cacheStatus != CacheStatus::PartialReuse && plan.cacheStatus != CacheStatus::Unknown) {
        if (plan.verdict == Verdict::FullReprefill || plan.verdict == Verdict::PrefixPreserved) {
            plan.verdict = Verdict::PartialReuse;
            plan.action = BoundaryAction::EvictAtAlignedBoundary;
            plan.alignedCut = plan.predictedReuse;
            plan.snapDelta = plan.alignedCut - plan.requestedCut;
            plan.snapKind = QStringLiteral("predicted");
            plan.reason = prediction.reason;
        }
        plan.cacheStatus = CacheStatus::PartialReuse;
    } else if (!claims && plan.cacheStatus == CacheStatus::PartialReuse) {
        if (prediction.claimable) {
            plan.cacheStatus = CacheStatus::FullReprefill;
            plan.verdict = Verdict::FullReprefill;
            plan.action = BoundaryAction::SnapshotThenEvict;
            plan.reason = QStringLiteral("%1; full re-prefill").arg(prediction.reason);
        } else {
            plan.cacheStatus = CacheStatus::PrefixPreserved;
            plan.verdict = Verdict::PrefixPreserved;
            plan.reason = QStringLiteral("prefix kept, alignment unknown: %1").arg(prediction.reason);
        }
        plan.alignedCut = -1;
        plan.snapKind.clear();
        plan.snapDelta = 0;
    }
    plan.pairsWithCache =
        plan.cacheStatus == CacheStatus::PartialReuse || plan.cacheStatus == CacheStatus::WarmRestored;
    return plan;
}

QList<Checkpoint> mergeCandidates(const QList<Checkpoint> &ring, const QList<RecordedCheckpoint> &recorded,
                                  const TokenList &prompt, const QString &serverIdentity)
{
    QList<Checkpoint> merged;
    const auto add = [&merged](const Checkpoint &candidate) {
        const bool known = std::any_of(merged.cbegin(), merged.cend(), [&](const Checkpoint &other) {
            return other.position == candidate.position && other.kind == candidate.kind;
        });
        if (!known)
            merged.append(candidate);
    };
    for (const Checkpoint &candidate : ring)
        add(candidate);
    for (const RecordedCheckpoint &row : recorded) {
        const Checkpoint &candidate = row.checkpoint;
        if (!row.fileExists || candidate.serverIdentity != serverIdentity || candidate.position > prompt.size())
            continue;
        if (hashTokens(prompt, candidate.position) != candidate.prefixHash)
            continue;
        add(candidate);
    }
    std::stable_sort(merged.begin(), merged.end(),
                     [](const Checkpoint &a, const Checkpoint &b) { return a.position < b.position; });
    return merged;
}

namespace {
QJsonValue orNull(int value) { return value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value); }
QJsonValue orNull(const QString &value) { return value.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(value); }
int intOr(const QJsonValue &value, int otherwise) { return value.isDouble() ? value.toInt() : otherwise; }
} // namespace

QJsonObject BoundaryPlan::toJson() const
{
    const bool snapped = !snapKind.isEmpty();
    return {
        {QStringLiteral("verdict"), orNull(verdictName(verdict))},
        {QStringLiteral("cache_status"), cacheStatusName(cacheStatus)},
        {QStringLiteral("reason"), reason},
        {QStringLiteral("requested_cut"), requestedCut},
        {QStringLiteral("aligned_cut"), orNull(alignedCut)},
        {QStringLiteral("nearest_cut"), orNull(nearestCut)},
        {QStringLiteral("snap"),
         snapped ? QJsonValue(QJsonObject{{QStringLiteral("kind"), snapKind}, {QStringLiteral("delta"), snapDelta}})
                 : QJsonValue(QJsonObject{{QStringLiteral("kind"), QJsonValue::Null},
                                          {QStringLiteral("delta"), QJsonValue::Null}})},
        {QStringLiteral("candidate_kind"),
         hasCandidate ? QJsonValue(checkpointKindName(candidateKind)) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("candidates_considered"), candidatesConsidered},
        {QStringLiteral("tolerance_tokens"), toleranceTokens},
        {QStringLiteral("action"), orNull(boundaryActionName(action))},
        {QStringLiteral("pairs_with_cache"), pairsWithCache},
        {QStringLiteral("partial_state_only"), partialStateOnly},
        {QStringLiteral("memory_kind"), memoryKindName(memoryKind)},
        {QStringLiteral("evidence"), orNull(evidence)},
        {QStringLiteral("simulated"), simulated},
        {QStringLiteral("predicted_reuse"), predictedReuse},
        {QStringLiteral("predicted_reuse_low"), predictedReuseLow},
        {QStringLiteral("predicted_reuse_high"), predictedReuseHigh},
        {QStringLiteral("predicted_prefill"), predictedPrefill},
        {QStringLiteral("predicted_ms"), predictedMs < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(predictedMs)},
    };
}

BoundaryPlan BoundaryPlan::fromJson(const QJsonObject &object)
{
    BoundaryPlan plan;
    plan.verdict = verdictFromName(object.value(QStringLiteral("verdict")).toString());
    plan.cacheStatus = cacheStatusFromName(object.value(QStringLiteral("cache_status")).toString());
    plan.reason = object.value(QStringLiteral("reason")).toString();
    plan.requestedCut = object.value(QStringLiteral("requested_cut")).toInt();
    plan.alignedCut = intOr(object.value(QStringLiteral("aligned_cut")), -1);
    plan.nearestCut = intOr(object.value(QStringLiteral("nearest_cut")), -1);
    const QJsonObject snap = object.value(QStringLiteral("snap")).toObject();
    plan.snapKind = snap.value(QStringLiteral("kind")).toString();
    plan.snapDelta = snap.value(QStringLiteral("delta")).toInt();
    const QJsonValue kind = object.value(QStringLiteral("candidate_kind"));
    plan.hasCandidate = kind.isString();
    plan.candidateKind = checkpointKindFromName(kind.toString()).value_or(CheckpointKind::InternalCheckpoint);
    plan.candidatesConsidered = object.value(QStringLiteral("candidates_considered")).toInt();
    plan.toleranceTokens = object.value(QStringLiteral("tolerance_tokens")).toInt();
    plan.action = boundaryActionFromName(object.value(QStringLiteral("action")).toString());
    plan.pairsWithCache = object.value(QStringLiteral("pairs_with_cache")).toBool();
    plan.partialStateOnly = object.value(QStringLiteral("partial_state_only")).toBool();
    plan.memoryKind =
        memoryKindFromName(object.value(QStringLiteral("memory_kind")).toString()).value_or(MemoryKind::Unknown);
    plan.evidence = object.value(QStringLiteral("evidence")).toString();
    plan.simulated = object.value(QStringLiteral("simulated")).toBool();
    plan.predictedReuse = object.value(QStringLiteral("predicted_reuse")).toInt();
    plan.predictedReuseLow = object.value(QStringLiteral("predicted_reuse_low")).toInt();
    plan.predictedReuseHigh = object.value(QStringLiteral("predicted_reuse_high")).toInt();
    plan.predictedPrefill = object.value(QStringLiteral("predicted_prefill")).toInt();
    plan.predictedMs = object.value(QStringLiteral("predicted_ms")).toDouble(-1);
    return plan;
}

} // namespace kerf
