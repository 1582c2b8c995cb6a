// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/eviction/planner.h"

#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace kerf {

namespace {

constexpr int kRoles = 5;
constexpr int kEvaluated = 32; ///< runs whose spliced prompt is predicted, before the best dozen are taken
constexpr int kReserveSteps = 256; ///< how many legal cuts the reserve may give way
constexpr int kFirstCuts = 8; ///< the largest removal begins at one of the first legal cuts: one of each role
constexpr int kSeamTokens = 4; ///< token merges at the two seams and a blank line; rendering decides in the end

int roleIndex(Role role) { return static_cast<int>(role); }

QString number(int value) { return QLocale(QLocale::English, QLocale::UnitedStates).toString(value); }

/// Index range of one contiguous removal.
struct Piece {
    int begin = 0;
    int end = 0;
};

/// Everything about a frame that runs are made of: which cuts are legal, which neighbours may go together.
class RunSpace
{
public:
    RunSpace(const PlanInput &input, const PlanFrame &frame)
        : m_episodes(input.episodes)
        , m_frame(frame)
    {
        const int count = static_cast<int>(m_episodes.size());
        QList<bool> groupStays(count, false);
        for (int i = 0; i < count; ++i) {
            const bool outside = i < frame.firstEvictable || i >= frame.recentBegin;
            const PlanEpisode &episode = m_episodes.at(i);
            if (outside || episode.pinned || episode.role == Role::System || episode.episodeIndex < 0
                || i == frame.lastUser)
                groupStays[leader(i)] = true;
        }
        m_evictable.resize(count);
        m_legal.resize(count);
        for (int i = 0; i < count; ++i)
            m_evictable[i] = !groupStays.at(leader(i));
        if (input.rule.memory == MemoryKind::FullAttention && input.rule.chunkReuse > 0)
            widenShortIslands(input.rule.chunkReuse);
        for (int i = 0; i < count; ++i) {
            m_legal[i] = leader(i) == i && m_episodes.at(i).edgeLegal;
            if (m_legal.at(i))
                m_byRole[roleIndex(m_episodes.at(i).role)].append(i);
        }
        buildSegments();
    }

    const PlanEpisode &at(int index) const { return m_episodes.at(index); }
    bool isLegalCut(int index) const { return index < m_legal.size() && m_legal.at(index) && m_evictable.at(index); }
    int position(int index) const
    {
        return index < m_episodes.size() ? m_episodes.at(index).range.begin
            : m_episodes.isEmpty()       ? 0
                                         : m_episodes.constLast().range.end;
    }
    int tokens(const Piece &piece) const { return position(piece.end) - position(piece.begin); }

    /// Sum over the tokens of [from, to) of their recency: 0 just behind the head, 1 just before the recent part.
    double recency(int from, int to) const
    {
        const double head = m_frame.reservePosition;
        const double span = std::max(1.0, double(m_frame.recentPosition) - head);
        const double a = std::clamp(from - head, 0.0, span);
        const double b = std::clamp(to - head, 0.0, span);
        const double inside = (b * b - a * a) / (2 * span);
        const double beyond = std::max(0.0, (to - head) - std::max(span, from - head));
        return inside + beyond;
    }
    double recency(const Piece &piece) const { return recency(position(piece.begin), position(piece.end)); }

    /// A run in short form: pieces are spelled out only for the few that are looked at closely.
    struct Run {
        int first = 0;
        int ownEnd = 0; ///< end of the piece in the run's own segment
        int lastSegment = -1; ///< -1 = the run stays in its own segment
        Piece lastPiece;
        int removed = 0;
        double lost = 0;
    };

    /// The smallest run that begins at `first` and takes at least `needed` tokens; else the largest there is.
    Run minimalRun(int first, int needed) const
    {
        const int segment = m_segmentOf.at(first);
        Run run;
        run.first = first;
        const int own = endTaking(first, needed, m_segments.at(segment).end);
        if (own > first) {
            run.ownEnd = own;
            finish(run);
            return run;
        }
        run.ownEnd = tailEnd(first);
        int removed = run.ownEnd > first ? tokens({first, run.ownEnd}) : 0;
        // Whole segments until the rest fits into one.
        const auto base = m_fullTokens.at(segment + 1);
        int last = segment;
        const auto wanted = base + std::max(0, needed - removed);
        const auto it = std::lower_bound(m_fullTokens.cbegin() + segment + 1, m_fullTokens.cend(), wanted);
        if (it != m_fullTokens.cend())
            last = std::max(segment, static_cast<int>(it - m_fullTokens.cbegin()) - 1);
        else
            last = static_cast<int>(m_segments.size()) - 1;
        if (last > segment) {
            removed += m_fullTokens.at(last) - base;
            run.lastSegment = last;
            run.lastPiece = headPiece(last, needed - removed);
        }
        finish(run);
        return run;
    }

    /// The same run, made to reach at least `position` where its own segment allows; nothing changes else.
    Run extendedRun(Run run, int toPosition) const
    {
        if (run.lastSegment >= 0)
            return run;
        const int end =
            endTaking(run.first, toPosition - position(run.first), m_segments.at(m_segmentOf.at(run.first)).end);
        if (end > run.ownEnd) {
            run.ownEnd = end;
            finish(run);
        }
        return run;
    }

    QList<Piece> pieces(const Run &run) const
    {
        QList<Piece> list;
        if (run.ownEnd > run.first)
            list.append({run.first, run.ownEnd});
        if (run.lastSegment >= 0) {
            for (int s = m_segmentOf.at(run.first) + 1; s < run.lastSegment; ++s) {
                if (m_segments.at(s).full.end > m_segments.at(s).full.begin)
                    list.append(m_segments.at(s).full);
            }
            if (run.lastPiece.end > run.lastPiece.begin)
                list.append(run.lastPiece);
        }
        return list;
    }

    int size() const { return static_cast<int>(m_episodes.size()); }
    int segments() const { return static_cast<int>(m_segments.size()); }
    const Piece &fullPiece(int segment) const { return m_segments.at(segment).full; }
    int segmentOf(int index) const { return m_segmentOf.at(index); }
    bool isEvictable(int index) const { return m_evictable.at(index); }

private:
    /// Neighbouring evictable episodes; `end` is the first one that stays.
    struct Segment {
        int begin = 0;
        int end = 0;
        Piece full; ///< the largest legal removal inside it
        std::array<int, kRoles> firstOfRole{-1, -1, -1, -1, -1};
        std::array<int, kRoles> lastOfRole{-1, -1, -1, -1, -1}; ///< the barrier itself counts as an end
    };

    int leader(int index) const { return m_episodes.at(index).leader < 0 ? index : m_episodes.at(index).leader; }

    /// The chunk search never skips a token of the new prompt: an island of fewer than N kept tokens between two
    /// removals matches no chunk, and everything behind it is lost. So such islands keep their next neighbours too.
    void widenShortIslands(int least)
    {
        const int count = size();
        int i = m_frame.firstEvictable;
        while (i < m_frame.recentBegin) {
            if (m_evictable.at(i)) {
                ++i;
                continue;
            }
            const int begin = position(i);
            while (i < count && (!m_evictable.at(i) || position(i) - begin < least)) {
                const int group = leader(i);
                while (i < count && leader(i) == group)
                    m_evictable[i++] = false;
            }
        }
    }

    void buildSegments()
    {
        const int count = size();
        m_segmentOf.fill(-1, count);
        for (int i = 0; i < count;) {
            if (!m_evictable.at(i)) {
                ++i;
                continue;
            }
            Segment segment;
            segment.begin = i;
            while (i < count && m_evictable.at(i)) {
                m_segmentOf[i] = static_cast<int>(m_segments.size());
                ++i;
            }
            segment.end = i;
            for (int k = segment.begin; k < segment.end; ++k) {
                if (!m_legal.at(k))
                    continue;
                const int role = roleIndex(m_episodes.at(k).role);
                if (segment.firstOfRole[role] < 0)
                    segment.firstOfRole[role] = k;
                segment.lastOfRole[role] = k;
            }
            if (segment.end < count && m_legal.at(segment.end))
                segment.lastOfRole[roleIndex(m_episodes.at(segment.end).role)] = segment.end;
            for (int role = 0; role < kRoles; ++role) {
                const Piece piece{segment.firstOfRole[role], segment.lastOfRole[role]};
                if (piece.begin >= 0 && piece.end > piece.begin && tokens(piece) > tokens(segment.full))
                    segment.full = piece;
            }
            m_segments.append(segment);
        }
        m_fullTokens.append(0);
        m_fullLoss.append(0);
        for (const Segment &segment : m_segments) {
            const bool some = segment.full.end > segment.full.begin;
            m_fullTokens.append(m_fullTokens.constLast() + (some ? tokens(segment.full) : 0));
            m_fullLoss.append(m_fullLoss.constLast() + (some ? recency(segment.full) : 0));
        }
    }

    /// First legal end of the same role as `first` that takes `needed` tokens, at or before `limit`; `first` = none.
    int endTaking(int first, int needed, int limit) const
    {
        const QList<int> &same = m_byRole[roleIndex(m_episodes.at(first).role)];
        const int wanted = position(first) + std::max(1, needed);
        const auto it = std::lower_bound(same.cbegin(), same.cend(), wanted,
                                         [this](int index, int value) { return position(index) < value; });
        return it != same.cend() && *it <= limit ? *it : first;
    }

    int tailEnd(int first) const
    {
        const int last = m_segments.at(m_segmentOf.at(first)).lastOfRole[roleIndex(m_episodes.at(first).role)];
        return std::max(first, last);
    }

    /// The smallest removal inside a segment that takes `needed`; its largest where that is not enough.
    Piece headPiece(int segmentIndex, int needed) const
    {
        const Segment &segment = m_segments.at(segmentIndex);
        if (needed <= 0)
            return {};
        Piece best = segment.full;
        for (int role = 0; role < kRoles; ++role) {
            const int first = segment.firstOfRole[role];
            if (first < 0)
                continue;
            const int end = endTaking(first, needed, segment.end);
            if (end > first && (best.end <= best.begin || tokens({first, end}) < tokens(best)))
                best = {first, end};
        }
        return best;
    }

    void finish(Run &run) const
    {
        run.removed = run.ownEnd > run.first ? tokens({run.first, run.ownEnd}) : 0;
        run.lost = run.ownEnd > run.first ? recency({run.first, run.ownEnd}) : 0;
        if (run.lastSegment >= 0) {
            const int from = m_segmentOf.at(run.first) + 1;
            run.removed += m_fullTokens.at(run.lastSegment) - m_fullTokens.at(from);
            run.lost += m_fullLoss.at(run.lastSegment) - m_fullLoss.at(from);
            if (run.lastPiece.end > run.lastPiece.begin) {
                run.removed += tokens(run.lastPiece);
                run.lost += recency(run.lastPiece);
            }
        }
    }

    const QList<PlanEpisode> &m_episodes;
    const PlanFrame &m_frame;
    QList<bool> m_evictable;
    QList<bool> m_legal;
    std::array<QList<int>, kRoles> m_byRole;
    QList<Segment> m_segments;
    QList<int> m_segmentOf;
    QList<int> m_fullTokens; ///< prefix sums over segments
    QList<double> m_fullLoss;
};

/// First guess at what is reused when the prompt is kept up to `cut`; ranking only. What is shown and claimed
/// always comes from predictReuse().
class ReuseGuess
{
public:
    explicit ReuseGuess(const PlanInput &input)
    {
        const ReusePrediction now =
            predictReuse(input.states, {input.prompt, input.slotId}, input.rule, input.replyEqualTokens);
        m_rule = input.rule;
        if (now.stateIndex < 0)
            return;
        const HeldState &held = input.states.at(now.stateIndex);
        m_lcp = now.lcp;
        if (m_rule.memory == MemoryKind::Checkpointed && held.checkpointsKnown) {
            for (const Checkpoint &checkpoint : held.checkpoints) {
                if (checkpoint.position <= m_lcp)
                    m_ring.append(checkpoint);
            }
            std::sort(m_ring.begin(), m_ring.end(),
                      [](const Checkpoint &a, const Checkpoint &b) { return a.position < b.position; });
        }
    }

    int reuse(int cut, int removed) const
    {
        const int kept = std::min(cut, m_lcp);
        switch (m_rule.memory) {
        case MemoryKind::FullAttention:
            return m_rule.chunkReuse > 0 ? std::max(kept, m_lcp - removed) : kept;
        case MemoryKind::Checkpointed: {
            auto it = std::upper_bound(m_ring.cbegin(), m_ring.cend(), kept,
                                       [](int value, const Checkpoint &c) { return value < c.position; });
            while (it != m_ring.cbegin()) {
                --it;
                if (m_rule.recurrent || m_rule.slidingWindow <= 0 || it->posMin == 0
                    || it->posMin < std::max(0, kept + 2 - m_rule.slidingWindow))
                    return it->position;
            }
            return 0;
        }
        case MemoryKind::Unknown:
            return 0;
        }
        return 0;
    }

private:
    ReuseRule m_rule;
    int m_lcp = 0;
    QList<Checkpoint> m_ring;
};

/// Whether some run between the frame's ends takes what is needed.
bool canMeetTarget(const PlanInput &input, PlanFrame frame)
{
    frame.firstEvictable = std::min(frame.firstEvictable, frame.recentBegin);
    const RunSpace space(input, frame);
    int looked = 0;
    for (int i = frame.firstEvictable; i < frame.recentBegin && looked < kFirstCuts; ++i) {
        if (!space.isLegalCut(i))
            continue;
        ++looked;
        if (space.minimalRun(i, std::max(1, frame.needed)).removed >= frame.needed)
            return true;
    }
    return false;
}

/// Where runs may end that take more than is needed (chooseRuns); -1 = none does.
double extensionLimit(const PlanInput &input, const PlanFrame &frame)
{
    const bool chunks = input.rule.chunkReuse > 0 && input.rule.memory == MemoryKind::FullAttention;
    const double weight = input.knobs.recencyWeight;
    return !chunks && weight > 1 && !std::isinf(weight)
        ? frame.reservePosition + (frame.recentPosition - frame.reservePosition) / weight
        : -1;
}

double costOf(double prefill, double lost, double weight)
{
    return std::isinf(weight) ? lost : prefill + weight * lost;
}

EvictionChoice choiceFor(const PlanInput &input, const RunSpace &space, const RunSpace::Run &run)
{
    EvictionChoice choice;
    const QList<Piece> pieces = space.pieces(run);
    for (const Piece &piece : pieces) {
        for (int i = piece.begin; i < piece.end; ++i)
            choice.steps.append({i, Tier::Referenced});
    }
    choice.cut = pieces.isEmpty() ? space.position(run.first) : space.position(pieces.constFirst().begin);
    choice.removedTokens = run.removed;
    choice.tokensAfter = static_cast<int>(input.prompt.size()) - run.removed + input.noteTokens;
    choice.recencyLost = run.lost;
    return choice;
}

/// The parts of the prompt that a choice leaves in it.
QList<TokenRange> keptParts(const PlanInput &input, const EvictionChoice &choice)
{
    QList<TokenRange> kept;
    int from = 0;
    for (const TierStep &step : choice.steps) {
        const PlanEpisode &episode = input.episodes.at(step.index);
        // A masked episode keeps its first tokens as a stand-in: nothing behind its begin is equal anyway but its
        // header.
        const int stub = step.to == Tier::Masked ? std::clamp(episode.maskedTokens, 0, episode.range.size()) : 0;
        if (episode.range.begin + stub > from)
            kept.append({from, episode.range.begin + stub});
        from = episode.range.end;
    }
    kept.append({from, static_cast<int>(input.prompt.size())});
    return kept;
}

SpliceReuse reuseOf(const PlanInput &input)
{
    return {input.states, input.prompt, input.rule, input.slotId, input.replyEqualTokens};
}

void predictFor(const PlanInput &input, EvictionChoice &choice, SpliceReuse &reuse)
{
    choice.prediction = reuse.predict(keptParts(input, choice));
    const int claimed = choice.prediction.claimable ? choice.prediction.predicted : choice.prediction.low;
    choice.cost = costOf(choice.tokensAfter - claimed, choice.recencyLost, input.knobs.recencyWeight);
}

/// Tool results too large for the recent budget may be masked while they are not the last message (SPEC 7.5).
QList<TierStep> oversizedResults(const PlanInput &input, const PlanFrame &frame)
{
    QList<TierStep> steps;
    for (int i = frame.firstEvictable; i + 1 < input.episodes.size(); ++i) {
        const PlanEpisode &episode = input.episodes.at(i);
        if (episode.role == Role::Tool && !episode.pinned && episode.tier == Tier::Live && episode.maskedTokens >= 0
            && episode.range.size() > frame.recentBudget && i >= frame.recentBegin)
            steps.append({i, Tier::Masked});
    }
    return steps;
}

/// Live tool results and words behind the reserve that no run could take out, largest saving first.
QList<TierStep> maskable(const PlanInput &input, const PlanFrame &frame)
{
    QList<TierStep> steps;
    for (int i = frame.firstEvictable; i < frame.recentBegin; ++i) {
        const PlanEpisode &episode = input.episodes.at(i);
        if (episode.episodeIndex >= 0 && !episode.pinned && episode.role != Role::System && i != frame.lastUser
            && episode.tier == Tier::Live && episode.maskedTokens >= 0)
            steps.append({i, Tier::Masked});
    }
    std::stable_sort(steps.begin(), steps.end(), [&](const TierStep &a, const TierStep &b) {
        const bool toolA = input.episodes.at(a.index).role == Role::Tool;
        const bool toolB = input.episodes.at(b.index).role == Role::Tool;
        if (toolA != toolB)
            return toolA;
        return input.episodes.at(a.index).range.size() > input.episodes.at(b.index).range.size();
    });
    return steps;
}

void addMasks(const PlanInput &input, const RunSpace &space, const QList<TierStep> &masks, EvictionChoice &choice)
{
    QList<bool> there(input.episodes.size(), false);
    for (const TierStep &step : choice.steps)
        there[step.index] = true;
    for (const TierStep &mask : masks) {
        if (choice.tokensAfter + input.pendingRecall <= input.budget.target)
            break;
        if (there.at(mask.index))
            continue;
        const PlanEpisode &episode = input.episodes.at(mask.index);
        const int saved = episode.range.size() - episode.maskedTokens;
        if (saved <= 0)
            continue;
        choice.steps.append(mask);
        choice.removedTokens += saved;
        choice.tokensAfter -= saved;
        choice.recencyLost += space.recency(episode.range.begin, episode.range.begin + saved);
    }
    std::sort(choice.steps.begin(), choice.steps.end(),
              [](const TierStep &a, const TierStep &b) { return a.index < b.index; });
    if (!choice.steps.isEmpty())
        choice.cut = space.position(choice.steps.constFirst().index);
}

/// Generational (SPEC section 9): mask young tool output in place, newest part kept; deep cut only when that no
/// longer makes room. Returns an empty choice where masking alone does not help.
EvictionChoice youngMasks(const PlanInput &input, const PlanFrame &frame, const RunSpace &space)
{
    EvictionChoice choice;
    choice.tokensAfter = static_cast<int>(input.prompt.size());
    QList<TierStep> young;
    for (int i = frame.firstEvictable; i < frame.recentBegin; ++i) {
        const PlanEpisode &episode = input.episodes.at(i);
        if (episode.role == Role::Tool && episode.seq > input.lastCompactedSeq && !episode.pinned
            && episode.tier == Tier::Live && episode.maskedTokens >= 0)
            young.append({i, Tier::Masked});
    }
    for (const TierStep &step : young) {
        const PlanEpisode &episode = input.episodes.at(step.index);
        const int saved = episode.range.size() - episode.maskedTokens;
        if (saved <= 0)
            continue;
        choice.steps.append(step);
        choice.removedTokens += saved;
        choice.tokensAfter -= saved;
        choice.recencyLost += space.recency(episode.range.begin, episode.range.begin + saved);
    }
    if (!choice.steps.isEmpty())
        choice.cut = space.position(choice.steps.constFirst().index);
    return choice;
}

} // namespace

bool isBetterChoice(const EvictionChoice &a, const EvictionChoice &b)
{
    if (a.meetsTarget != b.meetsTarget)
        return a.meetsTarget;
    if (!a.meetsTarget && a.tokensAfter != b.tokensAfter)
        return a.tokensAfter < b.tokensAfter;
    if (a.cost != b.cost)
        return a.cost < b.cost;
    return a.cut > b.cut;
}

QString pressureName(Pressure pressure)
{
    switch (pressure) {
    case Pressure::Relaxed:
        return QStringLiteral("relaxed");
    case Pressure::Compacting:
        return QStringLiteral("compacting");
    case Pressure::AnchorOverflow:
        return QStringLiteral("anchor_overflow");
    }
    return {};
}

PlanFrame frameFor(const PlanInput &input)
{
    PlanFrame frame;
    const QList<PlanEpisode> &episodes = input.episodes;
    const int count = static_cast<int>(episodes.size());
    const int live = static_cast<int>(input.prompt.size());
    const Budget &budget = input.budget;
    for (int i = count - 1; i >= 0 && frame.lastUser < 0; --i) {
        if (episodes.at(i).role == Role::User)
            frame.lastUser = i;
    }
    // What can never go: the template's head, system messages, pins.
    int fixed = 0;
    int headEnd = count > 0 ? episodes.constFirst().range.begin : 0;
    bool inHead = true;
    for (int i = 0; i < count; ++i) {
        const PlanEpisode &episode = episodes.at(i);
        const bool stays = episode.role == Role::System || episode.episodeIndex < 0;
        inHead = inHead && stays;
        if (inHead)
            headEnd = episode.range.end;
        if (stays || episode.pinned)
            fixed += episode.range.size();
    }
    if (fixed + input.pendingRecall > budget.total && budget.total > 0)
        frame.pressure = Pressure::AnchorOverflow;
    else if (input.requestedCut >= 0 || live + input.pendingRecall > budget.triggerAt)
        frame.pressure = Pressure::Compacting;
    if (budget.total <= 0)
        frame.pressure = Pressure::Relaxed;

    const auto isEdge = [&](int i) {
        return i < count && episodes.at(i).edgeLegal && (episodes.at(i).leader < 0 || episodes.at(i).leader == i);
    };
    const auto recentFrom = [&](int tokens) {
        const int end = count > 0 ? episodes.constLast().range.end : 0;
        int index = count;
        int kept = 0;
        while (index > 0 && kept < tokens)
            kept = end - episodes.at(--index).range.begin;
        // A call and its results are one.
        while (index > 0 && index < count && !isEdge(index))
            --index;
        return index;
    };
    int reserve = std::min({std::max(input.knobs.keepPrefixTokens, input.knobs.cachePrefixReserveTokens),
                            static_cast<int>(input.knobs.maxPrefixRatio * live), input.knobs.cachePrefixMaxTokens});
    reserve = std::max(reserve, std::min(input.knobs.keepPrefixTokens, live));
    const auto reserveIndex = [&](int tokens) {
        int index = 0;
        while (index < count && (episodes.at(index).range.begin < std::max(tokens, headEnd) || !isEdge(index)))
            ++index;
        return index;
    };

    frame.recentBudget = budget.keepRecent;
    frame.recentBegin = recentFrom(frame.recentBudget);
    frame.firstEvictable = reserveIndex(reserve);
    const auto positionOf = [&](int index) { return index < count ? episodes.at(index).range.begin : live; };
    QList<int> staying{0}; // prefix sums: tokens of what stays wherever it lies
    staying.reserve(count + 1);
    for (int i = 0; i < count; ++i)
        staying.append(staying.constLast()
                       + (episodes.at(i).pinned || i == frame.lastUser ? episodes.at(i).range.size() : 0));
    const auto untouchable = [&] {
        const int middle = frame.firstEvictable < frame.recentBegin
            ? staying.at(frame.recentBegin) - staying.at(frame.firstEvictable)
            : 0;
        return positionOf(frame.firstEvictable) + (live - positionOf(frame.recentBegin)) + middle + input.noteTokens
            + input.pendingRecall;
    };
    frame.needed = std::max(0, live + input.pendingRecall + input.noteTokens + kSeamTokens - budget.target);
    // Fit first (SPEC 7.1): recent, then the reserve, one legal cut at a time, until some run meets the target.
    if (frame.pressure == Pressure::Compacting && (untouchable() > budget.target || !canMeetTarget(input, frame))) {
        const int least = std::max(512, budget.total / 8);
        if (least < frame.recentBudget) {
            frame.notes.append(QStringLiteral("the recent budget was cut from %1 to %2 tokens to fit the target")
                                   .arg(number(frame.recentBudget), number(least)));
            frame.recentBudget = least;
            frame.recentBegin = recentFrom(least);
        }
        const int before = positionOf(frame.firstEvictable);
        const int floor = reserveIndex(0);
        for (int step = 0; step < kReserveSteps && frame.firstEvictable > floor; ++step) {
            if (untouchable() <= budget.target && canMeetTarget(input, frame))
                break;
            int lower = frame.firstEvictable - 1;
            while (lower > floor && !isEdge(lower))
                --lower;
            frame.firstEvictable = std::max(lower, floor);
        }
        if (positionOf(frame.firstEvictable) != before)
            frame.notes.append(QStringLiteral("the reserve was cut from %1 to %2 tokens to fit the target")
                                   .arg(number(before), number(positionOf(frame.firstEvictable))));
    }
    frame.firstEvictable = std::min(frame.firstEvictable, frame.recentBegin);
    frame.reservePosition = positionOf(frame.firstEvictable);
    frame.recentPosition = positionOf(frame.recentBegin);
    // The reserve is what pressure may not take; who asks for a cut may.
    if (input.requestedCut >= 0)
        frame.firstEvictable = std::min(reserveIndex(0), frame.firstEvictable);
    return frame;
}

TokenList splicedPrompt(const PlanInput &input, const EvictionChoice &choice)
{
    TokenList tokens;
    tokens.reserve(input.prompt.size());
    for (const TokenRange &part : keptParts(input, choice))
        tokens.append(input.prompt.mid(part.begin, part.size()));
    return tokens;
}

QList<EvictionChoice> chooseRuns(const PlanInput &input, const PlanFrame &frame, int most)
{
    QList<EvictionChoice> choices;
    if (frame.pressure != Pressure::Compacting)
        return choices;
    const RunSpace space(input, frame);
    const ReuseGuess guess(input);
    SpliceReuse reuse = reuseOf(input);
    const int live = static_cast<int>(input.prompt.size());
    const bool forced = input.requestedCut >= 0;
    const int needed = std::max(frame.needed, 1);
    const double weight = input.knobs.recencyWeight;
    const bool chunks = input.rule.chunkReuse > 0 && input.rule.memory == MemoryKind::FullAttention;

    struct Scored {
        RunSpace::Run run;
        double cost;
        bool meets;
    };
    QList<Scored> scored;
    const auto score = [&](const RunSpace::Run &run) {
        if (run.removed <= 0)
            return;
        const int after = live - run.removed + input.noteTokens;
        const int prefill = after - guess.reuse(space.position(run.first), run.removed);
        scored.append({run, costOf(prefill, run.lost, weight), run.removed >= needed});
    };
    // A requested cut falls on the legal cut at or above it, or the one below.
    int lowest = frame.firstEvictable;
    int highest = frame.recentBegin;
    if (forced) {
        int above = -1;
        int below = -1;
        for (int i = 0; i < frame.recentBegin; ++i) {
            if (!space.isLegalCut(i))
                continue;
            if (space.position(i) <= input.requestedCut)
                below = i;
            else if (above < 0)
                above = i;
        }
        if (below >= 0 && space.position(below) == input.requestedCut)
            above = below;
        lowest = below >= 0 ? below : above;
        highest = (above >= 0 ? above : below) + 1;
        if (lowest < 0)
            return choices;
    }
    const double extendTo = extensionLimit(input, frame);
    for (int i = lowest; i < highest; ++i) {
        if (!space.isLegalCut(i))
            continue;
        if (forced && i != lowest && i != highest - 1)
            continue;
        const RunSpace::Run run = space.minimalRun(i, needed);
        score(run);
        // Behind the point where a token costs less to lose than to prefill again, the run ends early; before it, it
        // pays to take more than is needed (all runs are candidates, not only the smallest).
        if (extendTo > space.position(run.first) + run.removed && run.lastSegment < 0) {
            const RunSpace::Run longer = space.extendedRun(run, static_cast<int>(extendTo));
            if (longer.ownEnd != run.ownEnd)
                score(longer);
        }
    }
    std::stable_sort(scored.begin(), scored.end(), [](const Scored &a, const Scored &b) {
        if (a.meets != b.meets)
            return a.meets;
        if (!a.meets && a.run.removed != b.run.removed)
            return a.run.removed > b.run.removed;
        if (a.cost != b.cost)
            return a.cost < b.cost;
        return a.run.first > b.run.first; // ties: the longer retained prefix
    });

    // The best by the first guess, and a sample over all the others: what the server will really do (host cache,
    // lost halves) is only seen by predictReuse().
    const qsizetype all = scored.size();
    QList<qsizetype> picked;
    for (qsizetype i = 0; i < std::min<qsizetype>(all, kEvaluated); ++i)
        picked.append(i);
    for (int i = 0; i < kEvaluated && all > kEvaluated; ++i) {
        const qsizetype at = kEvaluated + (all - kEvaluated) * i / kEvaluated;
        if (picked.constLast() < at && scored.at(at).meets)
            picked.append(at);
    }
    for (const qsizetype i : picked) {
        EvictionChoice choice = choiceFor(input, space, scored.at(i).run);
        if (choice.steps.isEmpty())
            continue;
        choice.meetsTarget = scored.at(i).meets;
        // Masks in place stop the chunk search: with chunk reuse only where the prompt would stay above its trigger.
        // A cut that was asked for stays where it is: a mask in front of it would move it.
        if (!choice.meetsTarget && !forced
            && (!chunks || choice.tokensAfter + input.pendingRecall > input.budget.triggerAt))
            addMasks(input, space, maskable(input, frame) + oversizedResults(input, frame), choice);
        choice.meetsTarget = choice.tokensAfter + input.pendingRecall <= input.budget.target;
        predictFor(input, choice, reuse);
        choices.append(choice);
    }
    if (choices.isEmpty() && !forced) {
        EvictionChoice masks;
        masks.tokensAfter = live + input.noteTokens;
        addMasks(input, space, maskable(input, frame) + oversizedResults(input, frame), masks);
        if (!masks.steps.isEmpty()) {
            masks.meetsTarget = masks.tokensAfter + input.pendingRecall <= input.budget.target;
            predictFor(input, masks, reuse);
            choices.append(masks);
        }
    }
    std::stable_sort(choices.begin(), choices.end(), isBetterChoice);
    // Generational: masks of the young part come first while they bring the prompt below the target; where chunk
    // reuse is established masks in place would stop the chunk search, so it has no point there.
    if (input.generational && !forced && !chunks) {
        EvictionChoice young = youngMasks(input, frame, space);
        if (!young.steps.isEmpty() && young.tokensAfter + input.pendingRecall <= input.budget.target) {
            young.meetsTarget = true;
            predictFor(input, young, reuse);
            choices.prepend(young);
        }
    }
    if (choices.size() > most)
        choices.resize(most);
    return choices;
}

EvictionChoice maskedInstead(const PlanInput &input, const PlanFrame &frame, const EvictionChoice &choice)
{
    const RunSpace space(input, frame);
    EvictionChoice masked;
    masked.tokensAfter = static_cast<int>(input.prompt.size()) + input.noteTokens;
    QList<TierStep> steps;
    for (const TierStep &step : choice.steps) {
        const PlanEpisode &episode = input.episodes.at(step.index);
        if (episode.tier == Tier::Live && episode.maskedTokens >= 0)
            steps.append({step.index, Tier::Masked});
    }
    for (const TierStep &step : steps) {
        const PlanEpisode &episode = input.episodes.at(step.index);
        const int saved = std::max(0, episode.range.size() - episode.maskedTokens);
        masked.steps.append(step);
        masked.removedTokens += saved;
        masked.tokensAfter -= saved;
        masked.recencyLost += space.recency(episode.range.begin, episode.range.begin + saved);
    }
    if (masked.steps.isEmpty())
        return masked;
    masked.cut = space.position(masked.steps.constFirst().index);
    masked.meetsTarget = masked.tokensAfter + input.pendingRecall <= input.budget.target;
    SpliceReuse reuse = reuseOf(input);
    predictFor(input, masked, reuse);
    return masked;
}

LegalRuns legalRuns(const PlanInput &input, const PlanFrame &frame)
{
    LegalRuns legal;
    const RunSpace space(input, frame);
    const double extendTo = extensionLimit(input, frame);
    const int needed = std::max(1, frame.needed);
    const auto tokensOf = [&](const Piece &piece) {
        return piece.end > piece.begin ? TokenRange{space.position(piece.begin), space.position(piece.end)}
                                       : TokenRange{};
    };
    legal.segments.reserve(space.segments());
    for (int i = 0; i < space.segments(); ++i)
        legal.segments.append(tokensOf(space.fullPiece(i)));
    const auto shortForm = [&](const RunSpace::Run &run) {
        LegalRun form;
        form.index = run.first;
        form.own = {space.position(run.first), space.position(run.ownEnd)};
        if (run.lastSegment >= 0) {
            form.firstSegment = space.segmentOf(run.first) + 1;
            form.lastSegment = std::max(form.firstSegment, run.lastSegment);
            form.last = tokensOf(run.lastPiece);
        }
        form.removedTokens = run.removed;
        form.recencyLost = run.lost;
        return form;
    };
    for (int i = 0; i < frame.recentBegin; ++i) {
        if (!space.isLegalCut(i))
            continue;
        const RunSpace::Run run = space.minimalRun(i, needed);
        if (run.ownEnd <= run.first)
            continue; // nothing goes at this place: the cut would fall behind what stays
        LegalRun longer;
        if (extendTo > space.position(run.first) + run.removed && run.lastSegment < 0) {
            const RunSpace::Run extended = space.extendedRun(run, static_cast<int>(extendTo));
            if (extended.ownEnd != run.ownEnd)
                longer = shortForm(extended);
        }
        legal.runs.append(shortForm(run));
        legal.longer.append(longer);
    }
    return legal;
}

QList<TokenRange> removedRanges(const LegalRuns &runs, const LegalRun &run, int from)
{
    QList<TokenRange> ranges;
    if (run.own.end > from)
        ranges.append({std::max(from, run.own.begin), run.own.end});
    for (int s = run.firstSegment; s < run.lastSegment; ++s) {
        if (runs.segments.at(s).size() > 0)
            ranges.append(runs.segments.at(s));
    }
    if (run.last.size() > 0)
        ranges.append(run.last);
    return ranges;
}

QList<CutAlternative> cutAlternatives(const PlanInput &input, const PlanFrame &frame, const PrefillCost &cost, int most,
                                      int *total)
{
    QList<CutAlternative> list;
    const RunSpace space(input, frame);
    SpliceReuse reuse = reuseOf(input);
    const double extendTo = extensionLimit(input, frame);
    QList<int> cuts;
    for (int i = 0; i < frame.recentBegin; ++i) {
        if (space.isLegalCut(i))
            cuts.append(i);
    }
    if (total)
        *total = static_cast<int>(cuts.size());
    const qsizetype shown = std::min<qsizetype>(cuts.size(), most);
    list.reserve(shown);
    for (qsizetype k = 0; k < shown; ++k) {
        const int index = cuts.at(cuts.size() <= most ? k : k * (cuts.size() - 1) / std::max<qsizetype>(1, shown - 1));
        const RunSpace::Run run = space.minimalRun(index, std::max(1, frame.needed));
        EvictionChoice choice = choiceFor(input, space, run);
        if (choice.steps.isEmpty())
            continue;
        predictFor(input, choice, reuse);
        if (extendTo > space.position(run.first) + run.removed && run.lastSegment < 0) {
            const RunSpace::Run longer = space.extendedRun(run, static_cast<int>(extendTo));
            if (longer.ownEnd != run.ownEnd) {
                EvictionChoice other = choiceFor(input, space, longer);
                predictFor(input, other, reuse);
                choice.meetsTarget = run.removed >= frame.needed;
                other.meetsTarget = longer.removed >= frame.needed;
                if (isBetterChoice(other, choice))
                    choice = other;
            }
        }
        CutAlternative row;
        row.cut = choice.cut;
        row.retainedTokens = choice.cut;
        row.reclaimedTokens = choice.removedTokens;
        row.tokensAfter = choice.tokensAfter;
        row.prediction = choice.prediction;
        row.atCheckpoint = choice.prediction.checkpointPosition == choice.cut;
        const int reused = row.prediction.claimable ? row.prediction.predicted : row.prediction.low;
        row.predictedPrefill = row.tokensAfter - reused;
        row.predictedMs = cost.known() ? cost.ms(reused, row.tokensAfter) : -1;
        list.append(row);
    }
    return list;
}

int forwardLimit(const PlanInput &input, const PlanFrame &frame)
{
    const RunSpace space(input, frame);
    for (int i = frame.recentBegin - 1; i >= frame.firstEvictable; --i) {
        if (space.isLegalCut(i) && space.minimalRun(i, std::max(1, frame.needed)).removed >= frame.needed)
            return space.position(i);
    }
    return -1;
}

} // namespace kerf
