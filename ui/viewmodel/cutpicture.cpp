// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/viewmodel/cutpicture.h"

#include "ui/viewmodel/numbers.h"

#include <QCoreApplication>
#include <QLocale>
#include <QSet>

#include <algorithm>

namespace kerf {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Words)
};

void add(QList<Segment> &segments, SegmentKind kind, int begin, int end)
{
    if (end <= begin)
        return;
    if (!segments.isEmpty() && segments.last().kind == kind && segments.last().range.end == begin) {
        segments.last().range.end = end;
        return;
    }
    segments.append(Segment{kind, TokenRange{begin, end}});
}

const SlotValue *slotOf(const ConsoleData &data)
{
    const auto find = [&data](auto &&test) -> const SlotValue * {
        for (const SlotValue &slot : data.slotList) {
            if (test(slot))
                return &slot;
        }
        return nullptr;
    };
    if (data.slotChoice >= 0)
        return find([&data](const SlotValue &slot) { return slot.id == data.slotChoice; });
    if (data.hasSession) {
        if (const SlotValue *own = find([&data](const SlotValue &slot) { return slot.owner == data.session.id; }))
            return own;
    }
    if (const SlotValue *ran = find([](const SlotValue &slot) { return slot.hasRun; }))
        return ran;
    return data.slotList.isEmpty() ? nullptr : &data.slotList.first();
}

QList<BlockValue> blocksOf(const ConsoleData &data, const PlanValue *plan, bool past)
{
    QHash<int, Tier> after;
    if (plan) {
        for (const UpdateValue &update : plan->updates) {
            if (const auto tier = tierFromName(update.toTier))
                after.insert(update.seq, *tier);
        }
    }
    QList<BlockValue> blocks;
    if (past) {
        const auto prompt = data.promptsBefore.constFind(plan->number);
        if (prompt == data.promptsBefore.constEnd())
            return blocks;
        QSet<int> pinned;
        QSet<int> masked;
        for (const EpisodeValue &episode : data.episodes) {
            if (episode.pinned)
                pinned.insert(episode.seq);
        }
        for (const UpdateValue &update : plan->updates) {
            if (update.fromTier == QLatin1String("masked"))
                masked.insert(update.seq);
        }
        for (const PromptPartValue &part : prompt->parts) {
            BlockValue block;
            block.seq = part.seq.value_or(0);
            block.role = roleFromName(part.role).value_or(Role::System);
            block.range = part.range;
            block.pinned = part.part == QLatin1String("pin") || (block.seq > 0 && pinned.contains(block.seq));
            if (block.seq > 0 && after.contains(block.seq))
                block.tierAfter = after.value(block.seq);
            if (masked.contains(block.seq))
                block.tier = Tier::Masked;
            blocks.append(block);
        }
    } else {
        blocks.reserve(data.episodes.size());
        for (const EpisodeValue &episode : data.episodes) {
            if (!episode.range || episode.range->size() <= 0)
                continue;
            BlockValue block{episode.seq, episode.role,   *episode.range, episode.tier,
                             {},          episode.pinned, episode.recent};
            if (const auto it = after.constFind(episode.seq); it != after.constEnd())
                block.tierAfter = *it;
            blocks.append(block);
        }
    }
    std::stable_sort(blocks.begin(), blocks.end(),
                     [](const BlockValue &a, const BlockValue &b) { return a.range.begin < b.range.begin; });
    return blocks;
}

/// The runs that the plan evicts, in prompt positions.
QList<TokenRange> evictedRuns(const PlanValue &plan, const QList<BlockValue> &blocks)
{
    QList<TokenRange> runs;
    for (const BlockValue &block : blocks) {
        if (!block.tierAfter)
            continue;
        if (!runs.isEmpty() && runs.last().end >= block.range.begin)
            runs.last().end = std::max(runs.last().end, block.range.end);
        else
            runs.append(block.range);
    }
    if (runs.isEmpty() && plan.updateCount > 0) {
        // Their places are not on record, what went is: it begins where the prompt changed first.
        int tokens = 0;
        for (const UpdateValue &update : plan.updates)
            tokens += update.tokensBefore;
        if (tokens == 0)
            tokens = plan.plannedSavings;
        runs.append(
            TokenRange{plan.retainedPromptTokens, std::min(plan.retainedPromptTokens + tokens, plan.promptTokens)});
    }
    return runs;
}

} // namespace

int CutPicture::tokensOf(SegmentKind kind) const
{
    int sum = 0;
    for (const Segment &segment : segments) {
        if (segment.kind == kind)
            sum += segment.range.size();
    }
    return sum;
}

const PlanValue *compactionByNumber(const ConsoleData &data, int number)
{
    if (number <= 0)
        return nullptr;
    for (const PlanValue &plan : data.compactions) {
        if (plan.number == number)
            return &plan;
    }
    return nullptr;
}

const PlanValue *shownPlan(const ConsoleData &data, int compaction)
{
    if (const PlanValue *past = compactionByNumber(data, compaction))
        return past;
    return data.plan ? &*data.plan : nullptr;
}

CutPicture buildCutPicture(const ConsoleData &data, int compaction)
{
    CutPicture picture;
    picture.simulated = data.doctor.simulated;
    picture.disconnected = data.link == LinkState::Disconnected
        || (data.doctor.known && !data.doctor.reachable && !data.doctor.url.isEmpty());
    picture.asOf = data.asOf;
    // Of an older revision nothing is shown: its positions are those of another prompt.
    if (compaction <= 0 && data.cuts && data.cuts->sessionId == data.session.id
        && data.cuts->revision == data.session.revision)
        picture.cuts = data.cuts;
    const PlanValue *past = compactionByNumber(data, compaction);
    const PlanValue *plan = past ? past : (data.plan ? &*data.plan : nullptr);
    const bool hasCut = plan && (plan->hasBoundary || plan->updateCount > 0);
    picture.cut = !hasCut ? CutPicture::Cut::None : past ? CutPicture::Cut::Compaction : CutPicture::Cut::Planned;
    picture.number = past ? past->number : 0;
    picture.contextSize =
        data.session.contextWindow > 0 ? data.session.contextWindow : data.doctor.contextSize.value_or(0);
    picture.budget = data.session.budget;
    picture.triggerAt = plan && plan->triggerAt > 0 ? plan->triggerAt : data.session.triggerAt;
    picture.target = plan && plan->target > 0 ? plan->target : data.session.target;
    picture.exact = past ? past->exact : data.session.exact;
    if (past && past->hasBoundary)
        picture.simulated = past->boundary.simulated;

    const SlotValue *slot = slotOf(data);
    picture.slotId = slot ? slot->id : -1;
    picture.ringSource = data.doctor.ringSource;
    QList<CheckpointValue> ring = slot && slot->ringKnown ? slot->checkpoints : data.doctor.ring;
    if (slot && !slot->ringKnown)
        ring.removeIf([slot](const CheckpointValue &c) { return c.slotId >= 0 && c.slotId != slot->id; });
    if (past)
        ring = past->ringBefore;
    std::sort(ring.begin(), ring.end(),
              [](const CheckpointValue &a, const CheckpointValue &b) { return a.position < b.position; });

    const MemoryKind memory = past && past->hasBoundary ? past->boundary.memoryKind : data.doctor.memoryKind;
    if (!data.hasSession)
        picture.ring = CutPicture::Ring::NoSession;
    else if (data.doctor.known && data.doctor.resolved == QLatin1String("none"))
        picture.ring = CutPicture::Ring::NoServer;
    else if (memory == MemoryKind::FullAttention)
        picture.ring = CutPicture::Ring::FullAttention;
    else if (memory == MemoryKind::Checkpointed
             && (data.doctor.ringVisible || !ring.isEmpty() || (slot && slot->ringKnown)))
        picture.ring = ring.isEmpty() && !past
            ? (slot && !slot->hasRun ? CutPicture::Ring::BeforeFirstTask : CutPicture::Ring::Empty)
            : CutPicture::Ring::Visible;
    else
        picture.ring = CutPicture::Ring::NotVisible;

    if (!past && slot && slot->tokens) {
        picture.nPast = slot->tokens;
        picture.nPastBooked = !slot->verified;
    }

    picture.blocks = blocksOf(data, plan, past != nullptr);
    picture.promptTokens = plan && (past || hasCut) ? plan->promptTokens : data.session.liveTokens.value_or(0);
    if (!picture.blocks.isEmpty())
        picture.promptTokens = std::max(picture.promptTokens, picture.blocks.last().range.end);

    if (!hasCut) {
        // The prompt alone, with what the last request was measured to reuse of it.
        picture.sentTotal = 0;
        int covered = 0;
        if (data.receipt && data.receipt->tokensReused && data.receipt->tokensPrefilled) {
            const int reused = *data.receipt->tokensReused;
            const int sent = reused + *data.receipt->tokensPrefilled;
            picture.reused = reused;
            picture.prefilled = data.receipt->tokensPrefilled;
            picture.ms = data.receipt->promptEvalMs;
            picture.measured = true;
            picture.sentTotal = sent;
            const int limit = std::max(picture.promptTokens, sent);
            add(picture.segments, SegmentKind::Reused, 0, std::min(reused, limit));
            add(picture.segments, SegmentKind::Prefilled, reused, std::min(sent, limit));
            covered = sent;
        }
        add(picture.segments, SegmentKind::Held, covered, picture.promptTokens);
    } else {
        const BoundaryPlan &boundary = plan->boundary;
        picture.requested = boundary.requestedCut;
        if (boundary.alignedCut >= 0)
            picture.aligned = boundary.alignedCut;
        picture.tolerance = boundary.toleranceTokens;
        picture.retained = plan->retainedPromptTokens;
        picture.targetMissed = plan->targetMissed;
        picture.alternatives = plan->alternatives;
        picture.reusedLow = boundary.predictedReuseLow;
        picture.reusedHigh = boundary.predictedReuseHigh;
        picture.measured = past && past->measuredReuse.has_value();
        picture.reused = picture.measured ? past->measuredReuse : std::optional<int>(boundary.predictedReuse);
        picture.prefilled = picture.measured ? past->measuredPrefill : std::optional<int>(boundary.predictedPrefill);
        if (past)
            picture.ms = past->measuredMs;
        if (boundary.predictedMs >= 0)
            picture.predictedMs = boundary.predictedMs;
        picture.rangeOnly = !picture.measured && plan->cacheStatus == CacheStatus::PrefixPreserved;
        picture.sentTotal = picture.measured && past->measuredPrefill ? *past->measuredReuse + *past->measuredPrefill
                                                                      : plan->tokensAfter;

        const QList<TokenRange> runs = evictedRuns(*plan, picture.blocks);
        int firstChange =
            runs.isEmpty() ? picture.promptTokens : std::min(plan->retainedPromptTokens, runs.first().begin);
        // `retained` is a lower bound: what replaces the first evicted message may begin with the same tokens.
        // Only where the server moves equal runs is anything reused from behind the first difference.
        int moved = 0;
        const int chunkReuse = data.doctor.chunkReuse.value_or(0);
        if (*picture.reused > firstChange && !picture.rangeOnly) {
            const int head = boundary.memoryKind == MemoryKind::FullAttention && chunkReuse > 0
                ? std::clamp(boundary.alignedCut, firstChange, *picture.reused)
                : *picture.reused;
            moved = *picture.reused - head;
            firstChange = std::min(head, picture.promptTokens);
        }
        const int reusedHead = std::clamp(*picture.reused, 0, firstChange);
        if (picture.rangeOnly) {
            add(picture.segments, SegmentKind::MaybeReused, 0, firstChange);
        } else {
            add(picture.segments, SegmentKind::Reused, 0, reusedHead);
            add(picture.segments, SegmentKind::KeptAgain, reusedHead, firstChange);
        }
        int at = firstChange;
        const auto tail = [&](int begin, int end) {
            if (end <= begin)
                return;
            if (moved > 0) {
                const int length = std::min(moved, end - begin);
                add(picture.segments, SegmentKind::Moved, begin, begin + length);
                moved -= length;
                begin += length;
            }
            int recentFrom = past ? begin : end;
            if (!past) {
                for (const BlockValue &block : picture.blocks) {
                    if (block.recent) {
                        recentFrom = std::clamp(block.range.begin, begin, end);
                        break;
                    }
                }
            }
            add(picture.segments, SegmentKind::KeptAgain, begin, recentFrom);
            add(picture.segments, SegmentKind::Recent, recentFrom, end);
        };
        for (qsizetype i = 0; i < runs.size(); ++i) {
            add(picture.segments, SegmentKind::KeptAgain, at, runs.at(i).begin);
            add(picture.segments, SegmentKind::Evicted, std::max(at, runs.at(i).begin), runs.at(i).end);
            at = std::max(at, runs.at(i).end);
        }
        tail(at, picture.promptTokens);
    }

    if (past && ring.isEmpty() && past->hasBoundary && past->boundary.hasCandidate && picture.aligned) {
        CheckpointValue used; // of the ring as it was then, only the one that was used is on record
        used.position = *picture.aligned;
        used.kind = past->boundary.candidateKind;
        ring.append(used);
    }
    for (const CheckpointValue &checkpoint : std::as_const(ring)) {
        CheckpointMark mark{checkpoint, CheckpointMark::Fate::Kept};
        if (hasCut && picture.ring == CutPicture::Ring::Visible && plan->hasBoundary) {
            if (picture.aligned && checkpoint.position == *picture.aligned && plan->boundary.hasCandidate)
                mark.fate = CheckpointMark::Fate::Used;
            else if (checkpoint.position > plan->retainedPromptTokens
                     && checkpoint.kind == CheckpointKind::InternalCheckpoint)
                mark.fate = CheckpointMark::Fate::ErasedByCut;
            else if (picture.requested && checkpoint.position < *picture.requested - picture.tolerance)
                mark.fate = CheckpointMark::Fate::BelowTolerance;
        }
        picture.checkpoints.append(mark);
    }
    return picture;
}

QString verdictHeadline(const PlanValue &plan)
{
    const BoundaryPlan &boundary = plan.boundary;
    const bool about = boundary.simulated || !plan.exact;
    const auto tokens = [about](qint64 value) { return number(value, !about); };
    switch (plan.verdict) {
    case Verdict::Aligned:
        return Words::tr("Aligned at %1").arg(tokens(std::max(0, boundary.alignedCut)));
    case Verdict::Snapped:
        return Words::tr("Snapped %1 back to %2").arg(tokens(-boundary.snapDelta), tokens(boundary.alignedCut));
    case Verdict::PartialReuse:
        if (boundary.snapDelta > 0)
            return Words::tr("Kept %1 more to reach %2").arg(tokens(boundary.snapDelta), tokens(boundary.alignedCut));
        if (boundary.snapDelta < 0)
            return Words::tr("Rewinds %1 to %2").arg(tokens(-boundary.snapDelta), tokens(boundary.alignedCut));
        return Words::tr("Reuses %1").arg(tokens(boundary.predictedReuse));
    case Verdict::PrefixPreserved:
        return Words::tr("Prefix kept, alignment unknown");
    case Verdict::FullReprefill:
        if (boundary.nearestCut >= 0 && boundary.requestedCut > boundary.nearestCut)
            return Words::tr("Full prefill: nearest checkpoint is %1 below, tolerance %2")
                .arg(tokens(boundary.requestedCut - boundary.nearestCut), number(boundary.toleranceTokens));
        return Words::tr("Full prefill");
    case Verdict::None:
        break;
    }
    if (plan.pressure == QLatin1String("anchor_overflow"))
        return Words::tr("Pins and fixed parts need %1 of %2")
            .arg(tokens(plan.anchorTokens + plan.fixedTokens), number(plan.budget));
    return Words::tr("No cut is needed");
}

QString verdictShort(const PlanValue &plan)
{
    switch (plan.verdict) {
    case Verdict::Aligned:
        return Words::tr("aligned %1").arg(signedNumber(plan.boundary.snapDelta));
    case Verdict::Snapped:
        return Words::tr("snapped %1").arg(signedNumber(plan.boundary.snapDelta));
    case Verdict::PartialReuse:
        return Words::tr("partial-reuse %1").arg(signedNumber(plan.boundary.snapDelta));
    case Verdict::PrefixPreserved:
        return QStringLiteral("prefix-preserved");
    case Verdict::FullReprefill:
        return QStringLiteral("full-re-prefill");
    case Verdict::None:
        break;
    }
    return Words::tr("no cut");
}

QString outcomeWord(const QString &outcome)
{
    if (outcome == QLatin1String("confirmed"))
        return Words::tr("confirmed");
    if (outcome == QLatin1String("better"))
        return Words::tr("better");
    if (outcome == QLatin1String("refuted"))
        return Words::tr("refuted");
    if (outcome == QLatin1String("waiting"))
        return Words::tr("waiting");
    if (outcome == QLatin1String("undone"))
        return Words::tr("undone");
    return Words::tr("not provable");
}

QString outcomeSign(const QString &outcome)
{
    if (outcome == QLatin1String("confirmed"))
        return QStringLiteral("\u2713");
    if (outcome == QLatin1String("better"))
        return QStringLiteral("\u2191");
    if (outcome == QLatin1String("refuted"))
        return QStringLiteral("\u2715");
    if (outcome == QLatin1String("waiting"))
        return QStringLiteral("\u2026");
    if (outcome == QLatin1String("undone"))
        return QStringLiteral("\u21B6");
    return QStringLiteral("?");
}

QString checkpointKindWord(CheckpointKind kind)
{
    switch (kind) {
    case CheckpointKind::InternalCheckpoint:
        return Words::tr("in memory");
    case CheckpointKind::SlotSaveFile:
        return Words::tr("save file");
    case CheckpointKind::FoldMarker:
        return Words::tr("fold");
    case CheckpointKind::PreRewrite:
        return Words::tr("pre-rewrite");
    }
    return {};
}

QString fateWord(const CheckpointMark &mark, const CutPicture &picture)
{
    switch (mark.fate) {
    case CheckpointMark::Fate::Used: {
        const int delta = mark.checkpoint.position - picture.requested.value_or(mark.checkpoint.position);
        return delta == 0 ? Words::tr("used") : Words::tr("used: %1").arg(signedNumber(delta));
    }
    case CheckpointMark::Fate::ErasedByCut:
        return Words::tr("erased by this cut");
    case CheckpointMark::Fate::BelowTolerance:
        return Words::tr("below tolerance");
    case CheckpointMark::Fate::AboveWindow:
        return Words::tr("window not covered");
    case CheckpointMark::Fate::IdentityChanged:
        return Words::tr("identity changed");
    case CheckpointMark::Fate::FileMissing:
        return Words::tr("file missing");
    case CheckpointMark::Fate::Kept:
        break;
    }
    return picture.cut == CutPicture::Cut::None ? Words::tr("no cut planned") : Words::tr("kept");
}

QString roleWord(Role role)
{
    switch (role) {
    case Role::System:
        return Words::tr("system");
    case Role::User:
        return Words::tr("user");
    case Role::Assistant:
        return Words::tr("assistant");
    case Role::Tool:
        return Words::tr("tool");
    case Role::Internal:
        return Words::tr("internal");
    }
    return {};
}

QString roleLetter(Role role)
{
    switch (role) {
    case Role::System:
        return QStringLiteral("S");
    case Role::User:
        return QStringLiteral("U");
    case Role::Assistant:
        return QStringLiteral("A");
    case Role::Tool:
        return QStringLiteral("T");
    case Role::Internal:
        break;
    }
    return QStringLiteral("I");
}

QString tierWord(Tier tier)
{
    switch (tier) {
    case Tier::Live:
        return Words::tr("live", "eviction tier");
    case Tier::Masked:
        return Words::tr("masked", "eviction tier");
    case Tier::Referenced:
        return Words::tr("referenced", "eviction tier");
    case Tier::Archived:
        return Words::tr("archived", "eviction tier");
    case Tier::Dropped:
        return Words::tr("dropped", "eviction tier");
    }
    return {};
}

QString describeCheckpoint(const CheckpointMark &mark, const CutPicture &picture)
{
    const CheckpointValue &checkpoint = mark.checkpoint;
    QString text;
    switch (checkpoint.kind) {
    case CheckpointKind::InternalCheckpoint:
        text = Words::tr("In-memory checkpoint at %1");
        break;
    case CheckpointKind::SlotSaveFile:
        text = Words::tr("Save file at %1");
        break;
    case CheckpointKind::FoldMarker:
        text = Words::tr("Fold at %1");
        break;
    case CheckpointKind::PreRewrite:
        text = Words::tr("Pre-rewrite save at %1");
        break;
    }
    text = text.arg(number(checkpoint.position, !picture.simulated));
    if (checkpoint.sizeBytes)
        text = Words::tr("%1, %2 MiB").arg(text, mebibytes(*checkpoint.sizeBytes));
    if (checkpoint.taskId && *checkpoint.taskId >= 0)
        text = Words::tr("%1, made by task %2").arg(text).arg(*checkpoint.taskId);
    switch (mark.fate) {
    case CheckpointMark::Fate::Used:
        if (picture.measured && picture.reused)
            return Words::tr("%1. Used by this cut: the server restored %2.").arg(text, number(*picture.reused));
        return Words::tr("%1. Used by this cut.").arg(text);
    case CheckpointMark::Fate::ErasedByCut:
        return Words::tr("%1. The next request erases it: it lies above the cut.").arg(text);
    case CheckpointMark::Fate::BelowTolerance:
        return Words::tr("%1. Farther below the cut than the tolerance of %2.").arg(text, number(picture.tolerance));
    case CheckpointMark::Fate::AboveWindow:
        return Words::tr("%1. Its attention window does not reach the cut.").arg(text);
    case CheckpointMark::Fate::IdentityChanged:
        return Words::tr("%1. It is of another server, build or model: it cannot be used here.").arg(text);
    case CheckpointMark::Fate::FileMissing:
        return Words::tr("%1. Its file is gone.").arg(text);
    case CheckpointMark::Fate::Kept:
        break;
    }
    return Words::tr("%1.").arg(text);
}

QString describeRing(const CutPicture &picture)
{
    if (picture.ring == CutPicture::Ring::NoSession)
        return Words::tr("Checkpoint ring, no session open");
    QStringList parts;
    parts << (picture.slotId >= 0 ? Words::tr("Checkpoint ring, slot %1").arg(picture.slotId)
                                  : Words::tr("Checkpoint ring"));
    if (picture.contextSize > 0)
        parts << Words::tr("%1 of %2 tokens")
                     .arg(number(picture.promptTokens, !picture.estimated()), number(picture.contextSize));
    else
        parts << Words::tr("%1 tokens").arg(number(picture.promptTokens, !picture.estimated()));
    if (picture.whatIf)
        parts << Words::tr("what-if cut at %1").arg(number(*picture.whatIf));
    else if (picture.aligned)
        parts << Words::tr("cut at %1").arg(number(*picture.aligned));
    switch (picture.ring) {
    case CutPicture::Ring::Visible:
        parts << Words::tr("%n checkpoint(s)", nullptr, static_cast<int>(picture.checkpoints.size()));
        break;
    case CutPicture::Ring::NotVisible:
        parts << Words::tr("ring not visible");
        break;
    case CutPicture::Ring::FullAttention:
        parts << Words::tr("full attention, no ring needed");
        break;
    case CutPicture::Ring::Empty:
        parts << Words::tr("no checkpoint yet");
        break;
    case CutPicture::Ring::BeforeFirstTask:
        parts << Words::tr("this slot has not run yet");
        break;
    case CutPicture::Ring::NoServer:
        parts << Words::tr("no server");
        break;
    case CutPicture::Ring::NoSession:
        break;
    }
    if (picture.simulated)
        parts << Words::tr("simulated");
    if (picture.disconnected)
        parts << Words::tr("last known state");
    return parts.join(QStringLiteral(", "));
}

} // namespace kerf
