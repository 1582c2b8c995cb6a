// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/eviction/cutcurve.h"

#include <QJsonArray>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kerf {

namespace {

constexpr int kFrontRanges = 3; ///< kept ranges that nearly always tell where two prompts part

/// Makes the curve: predictReuse() at the ends of stretches on which no decision of the server can change, a straight
/// line between. Which decisions there are is not known here; what they compare is (shares of each state), and each of
/// these comparisons changes at most once in a stretch. So two ends with equal comparisons enclose no change, and a
/// stretch with different ones is halved.
class CurveMaker
{
public:
    CurveMaker(const PlanInput &input, LegalRuns runs)
        : m_input(input)
        , m_runs(std::move(runs))
        , m_reuse(input.states, input.prompt, input.rule, input.slotId, input.replyEqualTokens)
        , m_size(static_cast<int>(input.prompt.size()))
    {
        for (int i = 0; i < input.states.size(); ++i) {
            m_whole.append(m_reuse.commonWithPrompt(i));
            m_mostWhole = std::max(m_mostWhole, m_whole.constLast());
        }
    }

    ReusePrediction predict(const LegalRun &run, int position)
    {
        // The first few kept ranges tell nearly always where the prompts part.
        QList<TokenRange> front{{0, position}};
        int from = run.own.end;
        int given = 0;
        for (int s = run.firstSegment; s < run.lastSegment && given < kFrontRanges; ++s) {
            const TokenRange &segment = m_runs.segments.at(s);
            if (segment.size() <= 0)
                continue;
            front.append({from, segment.begin});
            from = segment.end;
            ++given;
        }
        const bool all = given < kFrontRanges;
        if (all) {
            if (run.last.size() > 0) {
                front.append({from, run.last.begin});
                from = run.last.end;
            }
            front.append({from, m_size});
        }
        const int total = m_size - run.removedTokens + (position - run.own.begin);
        if (m_input.rule.chunkReuse <= 0) {
            if (const auto prediction = m_reuse.predictFront(front, total))
                return *prediction;
        }
        if (all)
            return m_reuse.predict(front);
        QList<TokenRange> kept;
        from = 0;
        const QList<TokenRange> removed = removedRanges(m_runs, run, position);
        for (const TokenRange &range : removed) {
            kept.append({from, range.begin});
            from = range.end;
        }
        kept.append({from, m_size});
        return m_reuse.predict(kept);
    }

    CutValue value(int legal, const LegalRun &run, int position)
    {
        return valueOf(legal, run, position, predict(run, position));
    }

    CutValue valueOf(int legal, const LegalRun &run, int position, const ReusePrediction &prediction) const
    {
        CutValue value;
        value.position = position;
        value.legal = legal;
        value.tokensAfter = m_size - run.removedTokens + (position - run.own.begin) + m_input.noteTokens;
        value.low = prediction.low;
        value.high = prediction.high;
        value.checkpoint = prediction.checkpointPosition;
        value.claimable = prediction.claimable;
        return value;
    }

    /// The pieces of positions [run.own.begin, end), end <= run.own.end.
    void region(int legal, const LegalRun &run, int end, const CutValue &first, QList<CutPiece> *curve)
    {
        const int begin = run.own.begin;
        append(curve, point(first));
        // Where a state's next token is the one that would follow the cut, more than the kept part is shared.
        const TokenId next = tokenBehind(run);
        QList<int> special;
        const int last = std::min(end, m_mostWhole + 1);
        for (int p = begin + 1; p < last; ++p) {
            if (m_input.prompt.at(p) == next)
                special.append(p);
        }
        for (const int whole : std::as_const(m_whole)) {
            if (whole > begin && whole < end)
                special.append(whole);
            // Behind what is held the chunk search looks for a seam that changes with every position.
            for (int p = whole + 1; m_input.rule.chunkReuse > 0 && p < end && p <= whole + m_input.rule.chunkReuse;
                 ++p) {
                if (p > begin)
                    special.append(p);
            }
        }
        std::sort(special.begin(), special.end());
        special.erase(std::unique(special.begin(), special.end()), special.end());
        int from = begin + 1;
        for (const int p : std::as_const(special)) {
            if (p >= end)
                break;
            stretch(legal, run, from, p - 1, curve);
            append(curve, point(value(legal, run, p)));
            from = p + 1;
        }
        stretch(legal, run, from, end - 1, curve);
    }

    static CutPiece point(const CutValue &value)
    {
        return {value.position,   value.position + 1, value.legal, value.tokensAfter, 1, value.low, 0, value.high, 0,
                value.checkpoint, value.claimable};
    }

    /// Appends, joined to the last piece where both are one line.
    static void append(QList<CutPiece> *curve, const CutPiece &piece)
    {
        if (!curve->isEmpty()) {
            CutPiece &last = curve->last();
            const bool single = last.end - last.begin == 1;
            const bool one = piece.end - piece.begin == 1;
            const int lowStep = piece.low - last.at(last.end - 1).low;
            const int highStep = piece.high - last.at(last.end - 1).high;
            const int tokensStep = piece.tokensAfter - last.at(last.end - 1).tokensAfter;
            const auto fits = [&](int step, int mine, int other) {
                return (step == 0 || step == 1) && (single || mine == step) && (one || other == step);
            };
            if (last.end == piece.begin && last.legal == piece.legal && last.checkpoint == piece.checkpoint
                && last.claimable == piece.claimable && fits(lowStep, last.lowStep, piece.lowStep)
                && fits(highStep, last.highStep, piece.highStep)
                && fits(tokensStep, last.tokensStep, piece.tokensStep)) {
                last.lowStep = lowStep;
                last.highStep = highStep;
                last.tokensStep = tokensStep;
                last.end = piece.end;
                return;
            }
        }
        curve->append(piece);
    }

private:
    struct Sample {
        ReusePrediction prediction;
        std::vector<signed char> comparisons;
    };

    TokenId tokenBehind(const LegalRun &run) const
    {
        int from = run.own.end;
        for (int s = run.firstSegment; s < run.lastSegment; ++s) {
            if (m_runs.segments.at(s).size() <= 0)
                continue;
            if (m_runs.segments.at(s).begin > from)
                return m_input.prompt.at(from);
            from = m_runs.segments.at(s).end;
        }
        if (run.last.size() > 0 && run.last.begin <= from)
            from = run.last.end;
        return from < m_size ? m_input.prompt.at(from) : -1;
    }

    /// Everything that decisions can depend on, at a position where each state shares exactly what lies before it.
    std::vector<signed char> comparisonsAt(const LegalRun &run, int position) const
    {
        const int n = m_size - run.removedTokens + (position - run.own.begin);
        struct Term {
            float own, keep;
            bool fixed;
        };
        std::vector<signed char> marks;
        std::vector<Term> terms;
        const auto sign = [](auto a, auto b) { return static_cast<signed char>(a < b ? -1 : a > b ? 1 : 0); };
        for (int i = 0; i < m_input.states.size(); ++i) {
            const HeldState &state = m_input.states.at(i);
            if (state.length <= 0)
                continue;
            const int low = std::min(std::min(position, m_whole.at(i)), state.length);
            int high = low;
            if (state.tokens.isEmpty()) {
                high = std::min(state.length, n);
            } else if (low == state.knownLength() && state.length > state.knownLength()) {
                int unknown = state.length - state.knownLength();
                if (m_input.replyEqualTokens >= 0)
                    unknown = std::min(unknown, m_input.replyEqualTokens);
                high = std::min(n, low + unknown);
            }
            marks.push_back(static_cast<signed char>(high > low));
            marks.push_back(static_cast<signed char>(low >= 16));
            const int half = std::min(high, (state.length + 1) / 2);
            int before = -1;
            for (const int shared : {low, half, high}) {
                if (shared == before)
                    continue;
                before = shared;
                const float own = static_cast<float>(shared) / static_cast<float>(n);
                const float keep = static_cast<float>(shared) / static_cast<float>(state.length);
                marks.push_back(sign(own, static_cast<float>(m_input.rule.slotSimilarity)));
                marks.push_back(sign(keep, 0.25F));
                marks.push_back(sign(keep, 0.5F));
                marks.push_back(sign(own * static_cast<float>(n) / static_cast<float>(state.length), 0.5F));
                marks.push_back(sign(shared, n - 1));
                marks.push_back(sign(shared, state.length));
                terms.push_back({own, keep, shared == low && position > m_whole.at(i)});
            }
        }
        for (std::size_t a = 0; a < terms.size(); ++a) {
            for (std::size_t b = a + 1; b < terms.size(); ++b) {
                if (terms[a].fixed && terms[b].fixed)
                    continue;
                marks.push_back(sign(terms[a].own, terms[b].own));
                marks.push_back(sign(terms[a].keep, terms[b].keep));
            }
        }
        return marks;
    }

    Sample sample(const LegalRun &run, int position) { return {predict(run, position), comparisonsAt(run, position)}; }

    static bool sameChunks(const ReusePrediction &a, int at, const ReusePrediction &b, int bt)
    {
        if (a.chunks.size() != b.chunks.size())
            return false;
        for (qsizetype i = 0; i < a.chunks.size(); ++i) {
            if (a.chunks.at(i).heldBegin != b.chunks.at(i).heldBegin || a.chunks.at(i).length != b.chunks.at(i).length
                || a.chunks.at(i).newBegin - at != b.chunks.at(i).newBegin - bt)
                return false;
        }
        return true;
    }

    void stretch(int legal, const LegalRun &run, int first, int last, QList<CutPiece> *curve)
    {
        if (first > last)
            return;
        const Sample a = sample(run, first);
        if (first == last) {
            append(curve, point(valueOf(legal, run, first, a.prediction)));
            return;
        }
        halve(legal, run, first, a, last, sample(run, last), curve);
    }

    void halve(int legal, const LegalRun &run, int first, const Sample &a, int last, const Sample &b,
               QList<CutPiece> *curve)
    {
        const ReusePrediction &x = a.prediction;
        const ReusePrediction &y = b.prediction;
        const int length = last - first;
        const int low = y.low - x.low;
        const int high = y.high - x.high;
        const bool line = (low == 0 || low == length) && (high == 0 || high == length) && a.comparisons == b.comparisons
            && x.stateIndex == y.stateIndex && x.slotIndex == y.slotIndex && x.slotSaved == y.slotSaved
            && x.loadedFromHostCache == y.loadedFromHostCache && x.checkpointPosition == y.checkpointPosition
            && x.claimable == y.claimable && sameChunks(x, first, y, last);
        if (line || length <= 1) {
            const CutValue value = valueOf(legal, run, first, x);
            if (!line) {
                append(curve, point(value));
                append(curve, point(valueOf(legal, run, last, y)));
                return;
            }
            append(curve,
                   {first, last + 1, legal, value.tokensAfter, 1, value.low, low == length ? 1 : 0, value.high,
                    high == length ? 1 : 0, value.checkpoint, value.claimable});
            return;
        }
        const int middle = first + length / 2;
        const Sample m = sample(run, middle);
        halve(legal, run, first, a, middle, m, curve);
        if (middle + 1 == last)
            append(curve, point(valueOf(legal, run, last, y)));
        else
            halve(legal, run, middle + 1, sample(run, middle + 1), last, b, curve);
    }

    const PlanInput &m_input;
    LegalRuns m_runs;
    SpliceReuse m_reuse;
    int m_size;
    QList<int> m_whole;
    int m_mostWhole = 0;
};

QJsonValue orNull(int value) { return value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value); }
QJsonValue orNull(double value) { return value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value); }

QJsonArray toArray(TokenRange range) { return {range.begin, range.end}; }
TokenRange toRange(const QJsonValue &value)
{
    const QJsonArray pair = value.toArray();
    return {pair.at(0).toInt(), pair.at(1).toInt()};
}

} // namespace

CutValue CutPiece::at(int position) const
{
    const int steps = position - begin;
    return {position,   legal,    tokensAfter + steps * tokensStep, low + steps * lowStep, high + steps * highStep,
            checkpoint, claimable};
}

std::optional<CutValue> CutReport::at(int position) const
{
    const auto it = std::upper_bound(curve.cbegin(), curve.cend(), position,
                                     [](int at, const CutPiece &piece) { return at < piece.end; });
    if (it == curve.cend() || it->begin > position)
        return std::nullopt;
    return it->at(position);
}

std::optional<double> CutReport::ms(int reused, int tokensAfter) const
{
    if (!cost.known())
        return std::nullopt;
    return cost.ms(reused, tokensAfter);
}

bool CutReport::isRange() const
{
    return std::any_of(curve.cbegin(), curve.cend(),
                       [](const CutPiece &piece) { return !piece.claimable && piece.high > piece.low; });
}

int CutReport::legalAt(int cut) const
{
    const int index = legalBelow(cut);
    return index >= 0 && legal.at(index).cut == cut ? index : -1;
}

int CutReport::legalBelow(int position) const
{
    const auto it = std::upper_bound(legal.cbegin(), legal.cend(), position,
                                     [](int at, const LegalCut &row) { return at < row.cut; });
    return static_cast<int>(it - legal.cbegin()) - 1;
}

int CutReport::legalAbove(int position) const
{
    const auto it = std::lower_bound(legal.cbegin(), legal.cend(), position,
                                     [](const LegalCut &row, int at) { return row.cut < at; });
    return it == legal.cend() ? -1 : static_cast<int>(it - legal.cbegin());
}

QList<TokenRange> CutReport::evicted(int position) const
{
    const std::optional<CutValue> value = at(position);
    if (!value || value->legal < 0 || value->legal >= legal.size())
        return {};
    LegalRuns runs;
    runs.segments = segments;
    return removedRanges(runs, legal.at(value->legal).run, position);
}

QList<std::pair<int, int>> CutReport::cliffs() const
{
    QList<std::pair<int, int>> found;
    for (qsizetype i = 1; i < curve.size(); ++i) {
        const CutPiece &before = curve.at(i - 1);
        const CutPiece &now = curve.at(i);
        if (now.begin != before.end || now.checkpoint < 0 || now.checkpoint <= before.checkpoint)
            continue;
        if (claimed(now.at(now.begin)) > claimed(before.at(before.end - 1)))
            found.append({before.end - 1, now.begin});
    }
    return found;
}

CutReport cutReport(const PlanInput &given, const PrefillCost &cost, const BoundaryInput *boundary, bool highHolds,
                    qint64 mostChunkWork)
{
    PlanInput input = given;
    input.requestedCut = 0; // whatever its value: the frame of a cut that is asked for
    CutReport report;
    report.promptTokens = static_cast<int>(input.prompt.size());
    report.target = input.budget.target;
    report.triggerAt = input.budget.triggerAt;
    report.pendingRecall = input.pendingRecall;
    report.highHolds = highHolds;
    report.cost = cost;
    const PlanFrame frame = frameFor(input);
    report.recentBegin = frame.recentPosition;
    if (frame.pressure != Pressure::Compacting)
        return report;
    LegalRuns runs = legalRuns(input, frame);
    report.legalTotal = static_cast<int>(runs.runs.size());
    if (input.rule.chunkReuse > 0 && report.legalTotal > 0) {
        // About five searches a legal cut, each over all that is held.
        const qint64 most = std::max<qint64>(16, mostChunkWork / (5 * std::max(1, report.promptTokens)));
        if (report.legalTotal > most) {
            LegalRuns some;
            some.segments = runs.segments;
            for (qint64 k = 0; k < most; ++k) {
                const qsizetype at = k * (report.legalTotal - 1) / (most - 1);
                some.runs.append(runs.runs.at(at));
                some.longer.append(runs.longer.at(at));
            }
            runs = some;
            report.sampled = true;
        }
    }
    report.segments = runs.segments;
    CurveMaker maker(input, runs);
    const double weight = input.knobs.recencyWeight;
    report.legal.reserve(runs.runs.size());
    for (qsizetype k = 0; k < runs.runs.size(); ++k) {
        const auto priced = [&](const LegalRun &run) {
            EvictionChoice choice;
            choice.cut = run.own.begin;
            choice.removedTokens = run.removedTokens;
            choice.tokensAfter = report.promptTokens - run.removedTokens + input.noteTokens;
            choice.meetsTarget = choice.tokensAfter + input.pendingRecall <= input.budget.target;
            choice.prediction = maker.predict(run, run.own.begin);
            const int reused = choice.prediction.claimable ? choice.prediction.predicted : choice.prediction.low;
            choice.cost = std::isinf(weight) ? run.recencyLost : choice.tokensAfter - reused + weight * run.recencyLost;
            return choice;
        };
        LegalRun run = runs.runs.at(k);
        EvictionChoice choice = priced(run);
        if (const LegalRun &longer = runs.longer.at(k); longer.removedTokens > 0) {
            const EvictionChoice other = priced(longer);
            if (isBetterChoice(other, choice)) {
                choice = other;
                run = longer;
            }
        }
        LegalCut row;
        row.cut = run.own.begin;
        row.seq = input.episodes.at(run.index).seq;
        for (int i = run.index - 1; i >= 0 && row.afterSeq == 0; --i)
            row.afterSeq = input.episodes.at(i).seq;
        row.run = run;
        row.reclaimedTokens = run.removedTokens;
        row.tokensAfter = choice.tokensAfter;
        row.meetsTarget = choice.meetsTarget;
        int end = run.last.size() > 0 ? run.last.end : run.own.end;
        for (int s = run.lastSegment - 1; run.last.size() <= 0 && s >= run.firstSegment; --s) {
            if (runs.segments.at(s).size() > 0) {
                end = runs.segments.at(s).end;
                break;
            }
        }
        row.recentKept = report.promptTokens - end;
        row.value = maker.valueOf(static_cast<int>(k), run, row.cut, choice.prediction);
        report.legal.append(row);
    }
    report.curve.reserve(report.legal.size() * 3);
    for (qsizetype k = 0; k < report.legal.size(); ++k) {
        const LegalCut &row = report.legal.at(k);
        const bool more = k + 1 < report.legal.size();
        const int next = more ? report.legal.at(k + 1).cut : row.run.own.end;
        const int end = std::min(row.run.own.end, next);
        maker.region(static_cast<int>(k), row.run, end, row.value, &report.curve);
        if (more && end < next) {
            const CutValue &value = report.legal.at(k + 1).value;
            report.curve.append({end, next, static_cast<int>(k + 1), value.tokensAfter, 0, value.low, 0, value.high, 0,
                                 value.checkpoint, value.claimable});
        }
    }
    for (LegalCut &row : report.legal) {
        const int reused = report.claimed(row.value);
        row.predictedMs = cost.known() ? cost.ms(reused, row.tokensAfter) : -1;
        if (!boundary)
            continue;
        BoundaryInput at = *boundary;
        at.requestedCut = row.cut;
        ReusePrediction prediction;
        prediction.low = row.value.low;
        prediction.high = row.value.high;
        prediction.predicted = reused;
        prediction.claimable = row.value.claimable;
        const BoundaryPlan plan = withPrediction(planBoundary(at), prediction, row.tokensAfter, cost);
        row.verdict = verdictName(plan.verdict);
        row.snapDelta = plan.snapDelta;
    }
    return report;
}

QJsonObject CutReport::toJson() const
{
    QJsonArray pieces;
    for (const CutPiece &piece : curve)
        pieces.append(QJsonArray{piece.begin, piece.end, piece.legal, piece.tokensAfter, piece.tokensStep, piece.low,
                                 piece.lowStep, piece.high, piece.highStep, orNull(piece.checkpoint), piece.claimable});
    QJsonArray rows;
    for (const LegalCut &row : legal) {
        rows.append(QJsonObject{
            {QStringLiteral("cut"), row.cut},
            {QStringLiteral("seq"), row.seq},
            {QStringLiteral("after_seq"), row.afterSeq > 0 ? QJsonValue(row.afterSeq) : QJsonValue()},
            {QStringLiteral("own_end"), row.run.own.end},
            {QStringLiteral("segments"), QJsonArray{row.run.firstSegment, row.run.lastSegment}},
            {QStringLiteral("last"), row.run.last.size() > 0 ? QJsonValue(toArray(row.run.last)) : QJsonValue()},
            {QStringLiteral("retained_tokens"), row.cut},
            {QStringLiteral("reclaimed_tokens"), row.reclaimedTokens},
            {QStringLiteral("tokens_after"), row.tokensAfter},
            {QStringLiteral("recent_kept_tokens"), row.recentKept},
            {QStringLiteral("meets_target"), row.meetsTarget},
            {QStringLiteral("checkpoint"), orNull(row.value.checkpoint)},
            {QStringLiteral("claimable"), row.value.claimable},
            {QStringLiteral("predicted_reuse"), claimed(row.value)},
            {QStringLiteral("predicted_reuse_low"), row.value.low},
            {QStringLiteral("predicted_reuse_high"), row.value.high},
            {QStringLiteral("predicted_prefill"), prefill(row.value)},
            {QStringLiteral("predicted_ms"), orNull(row.predictedMs)},
            {QStringLiteral("verdict"), row.verdict.isEmpty() ? QJsonValue() : QJsonValue(row.verdict)},
            {QStringLiteral("snap_delta"), row.verdict.isEmpty() ? QJsonValue() : QJsonValue(row.snapDelta)}});
    }
    QJsonArray between;
    for (const TokenRange &segment : segments)
        between.append(toArray(segment));
    return {{QStringLiteral("session_id"), sessionId},
            {QStringLiteral("revision"), revision},
            {QStringLiteral("slot_id"), orNull(slotId)},
            {QStringLiteral("prompt_tokens"), promptTokens},
            {QStringLiteral("exact"), exact},
            {QStringLiteral("simulated"), simulated},
            {QStringLiteral("target"), target},
            {QStringLiteral("trigger_at"), triggerAt},
            {QStringLiteral("pending_recall"), pendingRecall},
            {QStringLiteral("recent_begin"), recentBegin},
            {QStringLiteral("reply_high_holds"), highHolds},
            {QStringLiteral("sampled"), sampled},
            {QStringLiteral("legal_total"), legalTotal},
            {QStringLiteral("cost"),
             cost.known()
                 ? QJsonValue(QJsonObject{{QStringLiteral("ms_per_token"), cost.msPerToken},
                                          {QStringLiteral("ms_per_token_per_position"), cost.msPerTokenPerPosition},
                                          {QStringLiteral("ms_per_request"), cost.msPerRequest},
                                          {QStringLiteral("samples"), cost.samples},
                                          {QStringLiteral("simulated"), cost.simulated}})
                 : QJsonValue()},
            {QStringLiteral("curve_fields"),
             QJsonArray{QStringLiteral("begin"), QStringLiteral("end"), QStringLiteral("legal"),
                        QStringLiteral("tokens_after"), QStringLiteral("tokens_after_step"),
                        QStringLiteral("reuse_low"), QStringLiteral("reuse_low_step"), QStringLiteral("reuse_high"),
                        QStringLiteral("reuse_high_step"), QStringLiteral("checkpoint"), QStringLiteral("claimable")}},
            {QStringLiteral("curve"), pieces},
            {QStringLiteral("legal"), rows},
            {QStringLiteral("segments"), between}};
}

CutReport CutReport::fromJson(const QJsonObject &object)
{
    const auto field = [](const QJsonObject &from, const char *name) { return from.value(QLatin1String(name)); };
    CutReport report;
    report.sessionId = field(object, "session_id").toString();
    report.revision = field(object, "revision").toInteger();
    report.slotId = field(object, "slot_id").toInt(-1);
    report.promptTokens = field(object, "prompt_tokens").toInt();
    report.exact = field(object, "exact").toBool();
    report.simulated = field(object, "simulated").toBool();
    report.target = field(object, "target").toInt();
    report.triggerAt = field(object, "trigger_at").toInt();
    report.pendingRecall = field(object, "pending_recall").toInt();
    report.recentBegin = field(object, "recent_begin").toInt();
    report.highHolds = field(object, "reply_high_holds").toBool();
    report.sampled = field(object, "sampled").toBool();
    report.legalTotal = field(object, "legal_total").toInt();
    if (const QJsonObject known = field(object, "cost").toObject(); !known.isEmpty()) {
        report.cost.msPerToken = field(known, "ms_per_token").toDouble();
        report.cost.msPerTokenPerPosition = field(known, "ms_per_token_per_position").toDouble();
        report.cost.msPerRequest = field(known, "ms_per_request").toDouble();
        report.cost.samples = field(known, "samples").toInt();
        report.cost.simulated = field(known, "simulated").toBool();
    }
    const QJsonArray pieces = field(object, "curve").toArray();
    report.curve.reserve(pieces.size());
    for (const QJsonValue &value : pieces) {
        const QJsonArray one = value.toArray();
        report.curve.append({one.at(0).toInt(), one.at(1).toInt(), one.at(2).toInt(), one.at(3).toInt(),
                             one.at(4).toInt(), one.at(5).toInt(), one.at(6).toInt(), one.at(7).toInt(),
                             one.at(8).toInt(), one.at(9).toInt(-1), one.at(10).toBool()});
    }
    const QJsonArray between = field(object, "segments").toArray();
    for (const QJsonValue &value : between)
        report.segments.append(toRange(value));
    const QJsonArray rows = field(object, "legal").toArray();
    report.legal.reserve(rows.size());
    for (const QJsonValue &value : rows) {
        const QJsonObject one = value.toObject();
        LegalCut row;
        row.cut = field(one, "cut").toInt();
        row.seq = field(one, "seq").toInt();
        row.afterSeq = field(one, "after_seq").toInt();
        row.run.own = {row.cut, field(one, "own_end").toInt()};
        const TokenRange whole = toRange(field(one, "segments"));
        row.run.firstSegment = std::clamp(whole.begin, 0, static_cast<int>(report.segments.size()));
        row.run.lastSegment = std::clamp(whole.end, row.run.firstSegment, static_cast<int>(report.segments.size()));
        row.run.last = toRange(field(one, "last"));
        row.reclaimedTokens = row.run.removedTokens = field(one, "reclaimed_tokens").toInt();
        row.tokensAfter = field(one, "tokens_after").toInt();
        row.recentKept = field(one, "recent_kept_tokens").toInt();
        row.meetsTarget = field(one, "meets_target").toBool();
        row.value.position = row.cut;
        row.value.legal = static_cast<int>(report.legal.size());
        row.value.tokensAfter = row.tokensAfter;
        row.value.low = field(one, "predicted_reuse_low").toInt();
        row.value.high = field(one, "predicted_reuse_high").toInt();
        row.value.checkpoint = field(one, "checkpoint").toInt(-1);
        row.value.claimable = field(one, "claimable").toBool();
        row.verdict = field(one, "verdict").toString();
        row.snapDelta = field(one, "snap_delta").toInt();
        row.predictedMs = field(one, "predicted_ms").toDouble(-1);
        report.legal.append(row);
    }
    return report;
}

} // namespace kerf
