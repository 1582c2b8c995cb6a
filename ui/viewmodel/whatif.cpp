// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/viewmodel/whatif.h"

#include "ui/viewmodel/numbers.h"

#include <QUndoCommand>

#include <algorithm>

namespace kerf {

/// One move of the cut. Moves of one drag, or of one key held down, are one step back.
class WhatIfMove : public QUndoCommand
{
public:
    WhatIfMove(WhatIf *view, int from, int to, int drag)
        : m_view(view)
        , m_from(from)
        , m_to(to)
        , m_drag(drag)
    {
        setText(WhatIf::tr("move the cut to %1").arg(number(to)));
    }
    void undo() override { m_view->set(m_from); }
    void redo() override { m_view->set(m_to); }
    int id() const override { return 1; }
    bool mergeWith(const QUndoCommand *other) override
    {
        const auto *next = static_cast<const WhatIfMove *>(other);
        if (next->m_drag < 0 || next->m_drag != m_drag)
            return false;
        m_to = next->m_to;
        setText(next->text());
        return true;
    }

private:
    WhatIf *m_view;
    int m_from;
    int m_to;
    int m_drag;
};

namespace {

void add(QList<Segment> &segments, SegmentKind kind, int begin, int end)
{
    if (end <= begin)
        return;
    if (!segments.isEmpty() && segments.last().kind == kind && segments.last().range.end == begin)
        segments.last().range.end = end;
    else
        segments.append(Segment{kind, TokenRange{begin, end}});
}

int sizeOf(const QList<TokenRange> &ranges)
{
    int sum = 0;
    for (const TokenRange &range : ranges)
        sum += range.size();
    return sum;
}

} // namespace

QString cutCostText(const CutReport &report, const CutValue &value)
{
    const auto one = [&](int reused) {
        if (const auto ms = report.ms(reused, value.tokensAfter))
            return WhatIf::tr("~%1").arg(shortMilliseconds(*ms));
        return WhatIf::tr("~%1 tokens").arg(number(value.tokensAfter - reused));
    };
    if (!value.claimable && value.high > value.low)
        return WhatIf::tr("%1 to %2").arg(one(value.high), one(value.low));
    return one(report.claimed(value));
}

bool isFresh(const ConsoleData &data)
{
    return data.cuts && data.cuts->sessionId == data.session.id && data.cuts->revision == data.session.revision;
}

std::optional<int> planCutOf(const ConsoleData &data)
{
    if (!data.plan || !data.plan->hasBoundary || data.plan->updates.isEmpty())
        return std::nullopt;
    return data.plan->retainedPromptTokens;
}

CutPicture whatIfPicture(const CutPicture &present, const ConsoleData &data, int position)
{
    CutPicture picture = present;
    if (!data.cuts)
        return picture;
    const CutReport &report = *data.cuts;
    const std::optional<CutValue> value = report.at(position);
    if (!value)
        return picture;
    picture.cut = CutPicture::Cut::WhatIf;
    picture.whatIf = position;
    picture.planCut = planCutOf(data);
    picture.cuts = data.cuts;
    picture.measured = false;
    picture.requested.reset();
    picture.aligned.reset();
    if (value->checkpoint >= 0)
        picture.aligned = value->checkpoint;
    picture.tolerance = 0;
    picture.retained = position;
    picture.reused = report.claimed(*value);
    picture.reusedLow = value->low;
    picture.reusedHigh = value->high;
    picture.rangeOnly = !value->claimable && value->high > value->low;
    picture.sentTotal = value->tokensAfter;
    picture.prefilled = report.prefill(*value);
    picture.ms.reset();
    picture.predictedMs = report.ms(*value);
    picture.target = report.target;
    picture.triggerAt = report.triggerAt;
    picture.targetMissed = std::max(0, value->tokensAfter + report.pendingRecall - report.target);
    picture.evicted = report.evicted(position);

    picture.segments.clear();
    const int head = position;
    // The message behind the run may begin with the same tokens as the evicted one; only a chunk search takes more.
    int moved = picture.rangeOnly ? 0 : std::max(0, *picture.reused - position);
    const SegmentKind again = data.doctor.chunkReuse.value_or(0) > 0 ? SegmentKind::Moved : SegmentKind::Reused;
    if (picture.rangeOnly) {
        add(picture.segments, SegmentKind::MaybeReused, 0, head);
    } else {
        const int reused = std::clamp(*picture.reused, 0, head);
        add(picture.segments, SegmentKind::Reused, 0, reused);
        add(picture.segments, SegmentKind::KeptAgain, reused, head);
    }
    int at = head;
    const auto kept = [&](int begin, int end) {
        if (moved > 0 && end > begin) {
            const int length = std::min(moved, end - begin);
            add(picture.segments, again, begin, begin + length);
            moved -= length;
            begin += length;
        }
        const int recent = std::clamp(report.recentBegin, begin, std::max(begin, end));
        add(picture.segments, SegmentKind::KeptAgain, begin, recent);
        add(picture.segments, SegmentKind::Recent, recent, end);
    };
    for (const TokenRange &range : std::as_const(picture.evicted)) {
        kept(at, range.begin);
        add(picture.segments, SegmentKind::Evicted, std::max(at, range.begin), range.end);
        at = std::max(at, range.end);
    }
    kept(at, picture.promptTokens);

    for (CheckpointMark &mark : picture.checkpoints) {
        mark.fate = CheckpointMark::Fate::Kept;
        if (value->checkpoint >= 0 && mark.checkpoint.position == value->checkpoint)
            mark.fate = CheckpointMark::Fate::Used;
        else if (mark.checkpoint.position > position && mark.checkpoint.kind == CheckpointKind::InternalCheckpoint)
            mark.fate = CheckpointMark::Fate::ErasedByCut;
    }
    return picture;
}

WhatIf::WhatIf(ConsoleState *state, QObject *parent)
    : QObject(parent)
    , m_state(state)
{
    connect(state, &ConsoleState::changed, this, [this](ConsoleState::Parts parts) {
        if (!isActive() || !(parts & (ConsoleState::Cuts | ConsoleState::SessionPart)))
            return;
        // The prompt moved on below it: stay where there still is a value, or leave.
        const ConsoleData &data = m_state->data();
        if (!data.cuts || data.cuts->legal.isEmpty() || data.cuts->sessionId != data.session.id)
            leave();
        else if (report() && !report()->at(position()))
            set(clamped(position()));
        else
            Q_EMIT moved();
    });
}

const CutReport *WhatIf::report() const { return isFresh(m_state->data()) ? m_state->data().cuts.get() : nullptr; }

std::optional<CutValue> WhatIf::value() const
{
    return isActive() && report() ? report()->at(position()) : std::nullopt;
}

bool WhatIf::isLegal() const { return isActive() && report() && report()->legalAt(position()) >= 0; }

QString WhatIf::whyNotStart() const
{
    if (!m_state->data().hasSession)
        return tr("No session is open.");
    if (!report())
        return m_state->data().cuts ? tr("The session moved on: its cuts are being priced again.")
                                    : tr("What the cuts would cost is not known yet.");
    if (report()->legal.isEmpty())
        return tr("There is no legal cut: everything is pinned, recent or part of the head.");
    return {};
}

QString WhatIf::whyNotUse() const
{
    if (!isActive())
        return tr("No cut is being tried.");
    if (!report())
        return tr("The session moved on: its cuts are being priced again.");
    if (!isLegal())
        return headline();
    return {};
}

int WhatIf::clamped(int position) const
{
    if (!report() || report()->curve.isEmpty())
        return position;
    const int within = std::clamp(position, report()->curve.constFirst().begin, report()->curve.constLast().end - 1);
    if (report()->at(within))
        return within;
    const int index = report()->legalBelow(within);
    return index >= 0 ? report()->legal.at(index).cut : report()->curve.constFirst().begin;
}

void WhatIf::set(std::optional<int> position)
{
    if (position == m_state->whatIf())
        return;
    const bool was = isActive();
    m_state->setWhatIf(position);
    if (was != isActive())
        Q_EMIT activeChanged(isActive());
    Q_EMIT moved();
}

bool WhatIf::start(std::optional<int> position)
{
    if (const QString why = whyNotStart(); !why.isEmpty()) {
        Q_EMIT refused(why);
        return false;
    }
    int at = 0;
    if (position) {
        at = *position;
    } else if (const auto plan = planCutOf(m_state->data())) {
        at = *plan;
    } else {
        const auto cheapest = std::min_element(report()->legal.cbegin(), report()->legal.cend(),
                                               [this](const LegalCut &a, const LegalCut &b) {
                                                   if (a.meetsTarget != b.meetsTarget)
                                                       return a.meetsTarget;
                                                   return report()->prefill(a.value) < report()->prefill(b.value);
                                               });
        at = cheapest->cut;
    }
    if (isActive()) {
        moveTo(at);
        return true;
    }
    m_undo.clear();
    m_state->selection()->selectCompaction(0);
    set(clamped(at));
    return true;
}

void WhatIf::leave()
{
    m_undo.clear();
    set(std::nullopt);
}

void WhatIf::moveTo(int position, bool dragging)
{
    if (!isActive())
        return;
    const int to = clamped(position);
    if (to == this->position())
        return;
    m_undo.push(new WhatIfMove(this, this->position(), to, dragging ? m_drag : -1));
}

void WhatIf::stepTokens(int tokens) { moveTo(position() + tokens); }

void WhatIf::stepLegal(int step)
{
    if (!isActive() || !report())
        return;
    const int index = step > 0 ? report()->legalAbove(position() + 1) : report()->legalBelow(position() - 1);
    if (index >= 0)
        moveTo(report()->legal.at(index).cut);
}

void WhatIf::stepCheckpoint(int step)
{
    if (!isActive())
        return;
    // A checkpoint serves every cut at or above it; where there is none in that direction, the cut stays.
    std::optional<int> best;
    for (const CheckpointMark &mark : m_state->picture().checkpoints) {
        const int at = mark.checkpoint.position;
        if (step > 0 ? at > position() && (!best || at < *best) : at < position() && (!best || at > *best))
            best = at;
    }
    if (best)
        moveTo(*best);
}

void WhatIf::toEnd(bool last)
{
    if (isActive() && report() && !report()->legal.isEmpty())
        moveTo(last ? report()->legal.constLast().cut : report()->legal.constFirst().cut);
}

void WhatIf::stepCost(bool dearer)
{
    const std::optional<CutValue> now = value();
    if (!now)
        return;
    const auto costOf = [this](const CutValue &v) {
        return std::pair(report()->ms(v).value_or(0), static_cast<double>(report()->prefill(v)));
    };
    const auto mine = std::pair(costOf(*now), position());
    std::optional<decltype(std::pair(mine))> best;
    for (const LegalCut &row : report()->legal) {
        const auto other = std::pair(costOf(row.value), row.cut);
        if (dearer ? other > mine && (!best || other < *best) : other < mine && (!best || other > *best))
            best = other;
    }
    if (best)
        moveTo(best->second);
}

int WhatIf::snapped(int position, int reach) const
{
    if (!report())
        return position;
    int best = position;
    int distance = reach + 1;
    for (const int index : {report()->legalBelow(position), report()->legalAbove(position)}) {
        if (index < 0)
            continue;
        const int cut = report()->legal.at(index).cut;
        if (std::abs(cut - position) < distance) {
            distance = std::abs(cut - position);
            best = cut;
        }
    }
    return best;
}

QString WhatIf::textOf(const CutValue &value) const
{
    const CutReport &cuts = *report();
    if (!value.claimable && value.high > value.low)
        return tr("~%1 to ~%2 tokens to prefill, %3")
            .arg(number(value.tokensAfter - value.high), number(value.tokensAfter - value.low),
                 cutCostText(cuts, value));
    if (!cuts.cost.known())
        return tr("~%1 tokens to prefill").arg(number(cuts.prefill(value)));
    return tr("~%1 tokens to prefill, %2").arg(number(cuts.prefill(value)), cutCostText(cuts, value));
}

QString WhatIf::headline() const
{
    if (!isActive())
        return {};
    const bool exact = !m_state->picture().estimated();
    if (const int index = report() ? report()->legalAt(position()) : -1; index >= 0) {
        const int after = report()->legal.at(index).afterSeq;
        return after > 0 ? tr("%1, after episode %2").arg(number(position(), exact), number(after))
                         : tr("%1, behind the head").arg(number(position(), exact));
    }
    const QList<BlockValue> &blocks = m_state->picture().blocks;
    const auto it = std::upper_bound(blocks.cbegin(), blocks.cend(), position(),
                                     [](int at, const BlockValue &block) { return at < block.range.end; });
    if (it != blocks.cend() && it->range.contains(position()) && it->seq > 0) {
        const QString at = number(position(), exact);
        if (it->range.begin < position())
            return tr("%1 is inside episode %2: not a legal cut").arg(at, number(it->seq));
        if (it->pinned)
            return tr("%1 is where pinned episode %2 begins: nothing can be evicted there").arg(at, number(it->seq));
        return tr("%1 is where episode %2 begins, which must stay or goes with the one before it: not a legal cut")
            .arg(at, number(it->seq));
    }
    return tr("%1 is no message edge: not a legal cut").arg(number(position(), exact));
}

QString WhatIf::sentence() const
{
    const std::optional<CutValue> now = value();
    if (!now)
        return {};
    const QString what = tr("What-if at %1: %2.").arg(number(position()), textOf(*now));
    return isLegal() ? tr("%1 Enter uses this cut.").arg(what) : tr("%1 %2.").arg(what, headline());
}

QList<ComparisonRow> WhatIf::comparison() const
{
    const std::optional<CutValue> now = value();
    const ConsoleData &data = m_state->data();
    const PlanValue *plan = planCutOf(data) ? &*data.plan : nullptr;
    if (!now && !plan)
        return {};
    QList<ComparisonRow> rows;
    const bool exact = !m_state->picture().estimated();
    const QString none = tr("no plan");
    const auto text = [&](const std::optional<int> &value, bool plain) {
        return value ? number(*value, plain && exact) : tr("none");
    };
    // `good`: 1 where more is better, -1 where less is, 0 where neither is.
    const auto row = [&](const QString &name, const std::optional<int> &a, const std::optional<int> &b, bool plain,
                         int good) {
        ComparisonRow one;
        one.name = name;
        one.plan = plan ? text(a, true) : none;
        one.whatIf = now ? text(b, plain) : QString();
        if (plan && now && a && b) {
            one.change = signedNumber(*b - *a);
            one.better = *b == *a ? 0 : (*b > *a ? good : -good);
        }
        rows.append(one);
    };
    using Optional = std::optional<int>;
    const auto restored = [](int checkpoint) { return checkpoint >= 0 ? Optional(checkpoint) : Optional(); };
    const CutValue none_;
    const CutValue &v = now ? *now : none_;
    int planEvicted = 0;
    if (plan) {
        for (const UpdateValue &update : plan->updates)
            planEvicted += update.tokensBefore - update.tokensAfter;
    }
    const BoundaryPlan boundary = plan ? plan->boundary : BoundaryPlan();
    row(tr("Cut"), plan ? Optional(plan->retainedPromptTokens) : Optional(), position(), true, 0);
    row(tr("Restored from"), boundary.hasCandidate ? restored(boundary.alignedCut) : Optional(), restored(v.checkpoint),
        true, 0);
    if (now && !v.claimable && v.high > v.low) {
        ComparisonRow one{
            tr("Reused"),
            plan ? tr("%1 to %2").arg(number(boundary.predictedReuseLow), number(boundary.predictedReuseHigh, exact))
                 : none,
            tr("%1 to %2").arg(number(v.low), number(v.high, exact)),
            {},
            0};
        rows.append(one);
    } else {
        row(tr("Reused"), boundary.predictedReuse, report() ? report()->claimed(v) : 0, true, 1);
    }
    row(tr("Prefilled"), boundary.predictedPrefill, report() ? report()->prefill(v) : 0, false, -1);
    ComparisonRow time;
    time.name = tr("Predicted time");
    const double planMs = plan ? boundary.predictedMs : -1; // -1 = not known
    const auto nowMs = now ? report()->ms(v) : std::nullopt;
    time.plan = !plan ? none : planMs >= 0 ? tr("~%1").arg(shortMilliseconds(planMs)) : tr("not known");
    time.whatIf = !now ? QString() : nowMs ? cutCostText(*report(), v) : tr("not known");
    if (planMs >= 0 && nowMs) {
        const double change = *nowMs - planMs;
        time.better = std::abs(change) < 0.5 ? 0 : change < 0 ? 1 : -1;
        time.change = std::abs(change) < 0.5 ? number(0)
            : change < 0                     ? tr("−%1").arg(shortMilliseconds(-change))
                                             : tr("+%1").arg(shortMilliseconds(change));
    }
    rows.append(time);
    row(tr("Evicted"), planEvicted, now ? sizeOf(report()->evicted(position())) : 0, true, 0);
    row(tr("Window after"), plan ? plan->tokensAfter : 0, v.tokensAfter, false, 0);
    const int recall = report() ? report()->pendingRecall : 0;
    ComparisonRow target;
    target.name = tr("Against target");
    const int planOver = plan ? plan->tokensAfter + recall - plan->target : 0;
    const int nowOver = now ? v.tokensAfter + recall - report()->target : 0;
    const auto over = [&](int tokens) {
        return tokens > 0 ? tr("%1 over").arg(number(tokens, false)) : tr("%1 below").arg(number(-tokens, false));
    };
    target.plan = plan ? over(planOver) : none;
    target.whatIf = now ? over(nowOver) : QString();
    if (plan && now) {
        target.change = signedNumber(nowOver - planOver);
        target.better = nowOver > 0 && nowOver > planOver ? -1 : planOver > 0 && nowOver < planOver ? 1 : 0;
    }
    rows.append(target);
    row(tr("Room to trigger"), plan ? plan->triggerAt - plan->tokensAfter : 0,
        now ? report()->triggerAt - v.tokensAfter : 0, false, 1);
    return rows;
}

std::pair<QString, QString> WhatIf::why() const
{
    const std::optional<CutValue> now = value();
    if (!now)
        return {};
    const CutReport &cuts = *report();
    if (!isLegal()) {
        const int below = cuts.legalBelow(position());
        const int above = cuts.legalAbove(position());
        QString text;
        if (below >= 0 && above >= 0)
            text = tr("The nearest legal cuts are %1 (%2) and %3 (%4).")
                       .arg(number(cuts.legal.at(below).cut), cutCostText(cuts, cuts.legal.at(below).value),
                            number(cuts.legal.at(above).cut), cutCostText(cuts, cuts.legal.at(above).value));
        else if (below >= 0)
            text = tr("The nearest legal cut is %1 (%2).")
                       .arg(number(cuts.legal.at(below).cut), cutCostText(cuts, cuts.legal.at(below).value));
        return {headline(), text};
    }
    const ConsoleData &data = m_state->data();
    const std::optional<int> planCut = planCutOf(data);
    const QString served = now->checkpoint >= position() && now->checkpoint >= 0
        ? tr("What follows %1 begins with the same tokens as what is evicted there, so the checkpoint at %2 serves it: "
             "%3 tokens are reused.")
              .arg(number(position()), number(now->checkpoint), number(cuts.claimed(*now)))
        : now->checkpoint >= 0 ? tr("%1 ends %2 tokens above the checkpoint at %3, so %4 tokens are reused.")
                                     .arg(number(position()), number(position() - now->checkpoint),
                                          number(now->checkpoint), number(cuts.claimed(*now)))
        : !now->claimable ? tr("What the server can reuse of it is not known.")
        : cuts.claimed(*now) > 0
        ? tr("Everything in front of the cut is reused: %1 tokens.").arg(number(cuts.claimed(*now)))
        : tr("No checkpoint at or below %1 can be used, so everything is computed again.").arg(number(position()));
    if (!planCut)
        return {tr("What this cut would do"), served};
    const PlanValue &plan = *data.plan;
    const int change = cuts.prefill(*now) - plan.boundary.predictedPrefill;
    const int kept = now->tokensAfter - plan.tokensAfter;
    if (position() == *planCut)
        return {tr("This is the plan"), served};
    QString title;
    if (std::abs(change) < 8)
        title = kept > 0 ? tr("It keeps more for the same work") : tr("It costs the same");
    else if (change < 0)
        title = kept > 0 ? tr("Why it is cheaper to keep more") : tr("Why it is cheaper");
    else
        title = kept > 0 ? tr("Why it is dearer and keeps more") : tr("Why it is dearer");
    QString mine;
    if (plan.boundary.hasCandidate && plan.boundary.alignedCut >= 0 && plan.boundary.alignedCut < *planCut)
        mine = tr("The plan ends %1 tokens above the checkpoint at %2, so those are kept and computed again.")
                   .arg(number(*planCut - plan.boundary.alignedCut), number(plan.boundary.alignedCut));
    else
        mine = tr("The plan ends at %1 and reuses %2.").arg(number(*planCut), number(plan.boundary.predictedReuse));
    return {title, tr("%1 %2", "two sentences: the plan, the what-if").arg(mine, served)};
}

} // namespace kerf
