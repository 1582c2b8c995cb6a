// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/cache/reuse.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kerf {

namespace {

/// How much of a request equals a held state: exact for the ids we know, a range where the state ends in tokens
/// whose ids nobody told us.
struct Equal {
    int low = 0;
    int high = 0;
    bool foreign = false; ///< nothing of its content is known
};

Equal equalPart(const HeldState &state, const TokenList &tokens, int replyEqualTokens)
{
    const int n = static_cast<int>(tokens.size());
    Equal equal;
    if (state.length <= 0)
        return equal;
    if (state.tokens.isEmpty()) {
        equal.foreign = true;
        equal.high = std::min(state.length, n);
        return equal;
    }
    equal.low = std::min(commonPrefix(state.tokens, tokens), state.length);
    equal.high = equal.low;
    if (equal.low == state.knownLength() && state.length > state.knownLength()) {
        int unknown = state.length - state.knownLength();
        if (replyEqualTokens >= 0)
            unknown = std::min(unknown, replyEqualTokens);
        equal.high = std::min(n, equal.low + unknown);
    }
    return equal;
}

/// The state that a request meets, and how it came to be that one.
struct Met {
    int index = -1;
    bool fromHostCache = false;
};

double share(int part, int whole)
{
    return whole > 0 ? double(part) / whole : 0.0;
}

Met stateMet(const QList<HeldState> &states, const QList<Equal> &equals, const ReuseRequest &request, const ReuseRule &rule)
{
    const int n = static_cast<int>(request.tokens.size());
    Met met;
    int lru = -1;
    if (request.slotId >= 0) {
        for (int i = 0; i < states.size(); ++i) {
            if (states.at(i).place == HeldState::Place::Slot && states.at(i).slotId == request.slotId)
                met.index = i;
        }
        // Pinned to an empty slot: the host cache is not asked.
        if (met.index < 0 || states.at(met.index).length <= 0)
            return {};
    } else {
        double best = 0;
        for (int i = 0; i < states.size(); ++i) {
            const HeldState &state = states.at(i);
            if (state.place != HeldState::Place::Slot || state.busy)
                continue;
            if (lru < 0 || state.lastUsed < states.at(lru).lastUsed)
                lru = i;
            if (state.length <= 0)
                continue;
            const double similarity = share(equals.at(i).low, n);
            if (similarity > best && similarity > rule.slotSimilarity) {
                best = similarity;
                met.index = i;
            }
        }
    }
    const bool byLru = met.index < 0;
    if (byLru)
        met.index = lru;
    const int base = met.index;
    const int held = base >= 0 ? states.at(base).length : 0;
    const int lcp = base >= 0 ? equals.at(base).low : 0;
    // A slot that would lose half of what it holds, or that was only the least recently used, is saved first, and the
    // best saved prompt is loaded if it beats the slot in both f_keep and f_sim.
    double keep = held > 0 ? share(lcp, held) : -1;
    double similarity = held > 0 ? share(lcp, n) : -1;
    if (rule.hostCache && (byLru || keep < 0.5)) {
        for (int i = 0; i < states.size(); ++i) {
            if (states.at(i).place != HeldState::Place::HostCache || states.at(i).length <= 0)
                continue;
            const double otherKeep = share(equals.at(i).low, states.at(i).length);
            const double otherSimilarity = share(equals.at(i).low, n);
            if (otherKeep > keep && otherSimilarity > similarity) {
                keep = otherKeep;
                similarity = otherSimilarity;
                met.index = i;
                met.fromHostCache = true;
            }
        }
    }
    if (met.index >= 0 && states.at(met.index).length <= 0)
        met.index = -1;
    return met;
}

/// The checkpoint that a rewind to `lcp` restores, and the n_past that comes of it; -1 = none.
std::pair<int, int> checkpointFor(const HeldState &state, const ReuseRule &rule, int lcp)
{
    const bool windowed = !rule.recurrent && rule.slidingWindow > 0;
    const Checkpoint *best = nullptr;
    for (const Checkpoint &checkpoint : state.checkpoints) {
        if (checkpoint.kind != CheckpointKind::InternalCheckpoint || checkpoint.position > lcp)
            continue;
        if (windowed && checkpoint.posMin != 0 && checkpoint.posMin >= std::max(0, lcp + 2 - rule.slidingWindow))
            continue;
        if (!best || checkpoint.position > best->position)
            best = &checkpoint;
    }
    if (!best)
        return {-1, 0};
    int past = best->position;
    if (windowed) // n_past = min(n_tokens, max(pos_min + 1, pos_max)): one less than n_tokens in every restored line
        past = std::min(past, std::max(best->posMin + 1, best->posMax));
    return {best->position, past};
}

int reuseOf(const HeldState &state, const ReuseRule &rule, int lcp, int n, ReusePrediction *told)
{
    const int most = std::min(lcp, n - 1);
    switch (rule.memory) {
    case MemoryKind::FullAttention:
        return most;
    case MemoryKind::Checkpointed: {
        const bool extends = lcp == state.length && n > state.length;
        if (extends && (rule.recurrent || rule.slidingWindow <= 0 || state.length > rule.slidingWindow))
            return state.length;
        const auto [position, past] = checkpointFor(state, rule, most);
        if (told)
            told->checkpointPosition = position;
        return position < 0 ? 0 : std::min(past, most);
    }
    case MemoryKind::Unknown:
        return 0;
    }
    return 0;
}

/// --cache-reuse: the pointer into the new prompt never moves without a match; only the one into the held list does.
QList<ChunkMove> chunkMoves(const TokenList &held, const TokenList &tokens, int from, int least)
{
    QList<ChunkMove> moves;
    const int heldSize = static_cast<int>(held.size());
    const int size = static_cast<int>(tokens.size());
    const TokenId *a = held.constData();
    const TokenId *b = tokens.constData();
    int heldAt = from;
    int newAt = from;
    while (heldAt < heldSize && newAt < size) {
        int length = 0;
        while (heldAt + length < heldSize && newAt + length < size && a[heldAt + length] == b[newAt + length])
            ++length;
        if (length >= least) {
            moves.append({heldAt, newAt, length});
            heldAt += length;
            newAt += length;
        } else {
            ++heldAt;
        }
    }
    return moves;
}


template<typename Enum>
struct EnumName {
    Enum value;
    const char *text;
};
constexpr EnumName<MemoryKind> kMemory[] = {{MemoryKind::Unknown, "unknown"}, {MemoryKind::FullAttention, "full_attention"}, {MemoryKind::Checkpointed, "checkpointed"}};
constexpr EnumName<CheckpointKind> kCheckpoints[] = {{CheckpointKind::InternalCheckpoint, "internal_checkpoint"}, {CheckpointKind::SlotSaveFile, "slot_save_file"},
                                                     {CheckpointKind::FoldMarker, "fold_marker"}, {CheckpointKind::PreRewrite, "pre_rewrite"}};

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

ReusePrediction predictReuse(const QList<HeldState> &states, const ReuseRequest &request, const ReuseRule &rule, int replyEqualTokens)
{
    ReusePrediction prediction;
    const int n = static_cast<int>(request.tokens.size());
    if (n == 0) {
        prediction.reason = QStringLiteral("the request is empty");
        return prediction;
    }
    QList<Equal> equals;
    equals.reserve(states.size());
    int foreignMost = 0;
    for (const HeldState &state : states) {
        equals.append(equalPart(state, request.tokens, replyEqualTokens));
        if (equals.constLast().foreign && !state.busy)
            foreignMost = std::max(foreignMost, std::min(equals.constLast().high, n - 1));
    }
    const Met met = stateMet(states, equals, request, rule);
    prediction.stateIndex = met.index;
    prediction.loadedFromHostCache = met.fromHostCache;
    const bool known = rule.memory != MemoryKind::Unknown;
    if (met.index < 0) {
        prediction.claimable = known;
        prediction.reason = request.slotId >= 0 ? QStringLiteral("slot %1 holds nothing").arg(request.slotId) : QStringLiteral("no slot or saved prompt holds anything of it");
        return prediction;
    }
    const HeldState &state = states.at(met.index);
    const Equal equal = equals.at(met.index);
    prediction.lcp = equal.low;
    const QString where = met.fromHostCache ? QStringLiteral("a prompt of the host cache") : QStringLiteral("slot %1").arg(state.slotId);
    if (equal.foreign) {
        prediction.high = rule.memory == MemoryKind::Unknown ? std::min(equal.high, n - 1) : std::min(equal.high, n - 1);
        prediction.claimable = false;
        prediction.reason = QStringLiteral("%1 holds %2 tokens that Kerf did not send: their ids are not known").arg(where).arg(state.length);
        return prediction;
    }

    if (rule.memory == MemoryKind::Unknown || (rule.memory == MemoryKind::Checkpointed && !state.checkpointsKnown)) {
        prediction.low = 0;
        prediction.high = std::min(equal.high, n - 1);
        prediction.predicted = 0;
        prediction.claimable = false;
        prediction.reason = known ? QStringLiteral("%1 holds %2 equal tokens, but its checkpoints are not visible").arg(where).arg(equal.low)
                                  : QStringLiteral("%1 holds %2 equal tokens, but the server's memory kind is not known").arg(where).arg(equal.low);
        return prediction;
    }

    prediction.claimable = true;
    prediction.low = reuseOf(state, rule, equal.low, n, &prediction);
    prediction.high = equal.high > equal.low ? std::max(prediction.low, reuseOf(state, rule, equal.high, n, nullptr)) : prediction.low;
    prediction.reason = QStringLiteral("%1 holds %2 equal tokens").arg(where).arg(equal.low);
    if (rule.memory == MemoryKind::Checkpointed) {
        if (prediction.checkpointPosition >= 0)
            prediction.reason = QStringLiteral("%1 holds %2 equal tokens; the checkpoint at %3 is restored").arg(where).arg(equal.low).arg(prediction.checkpointPosition);
        else if (prediction.low == 0)
            prediction.reason = QStringLiteral("%1 holds %2 equal tokens, but no checkpoint at or below them that covers the window").arg(where).arg(equal.low);
    } else if (rule.chunkReuse > 0) {
        prediction.chunks = chunkMoves(state.tokens, request.tokens, prediction.low, rule.chunkReuse);
        int moved = 0;
        for (const ChunkMove &move : std::as_const(prediction.chunks))
            moved += move.length;
        prediction.low = std::min(prediction.low + moved, n - 1);
        prediction.high = std::max(prediction.low, prediction.high);
        if (moved > 0)
            prediction.reason = QStringLiteral("%1 holds %2 equal tokens and %3 more that are moved into place").arg(where).arg(equal.low).arg(moved);
    }
    prediction.predicted = prediction.low;
    Q_UNUSED(foreignMost)
    return prediction;
}

double PrefillCost::ms(int from, int to) const
{
    if (to <= from)
        return 0;
    const double n = to - from;
    const double positions = (double(from) + double(to) - 1) * n / 2;
    return msPerToken * n + msPerTokenPerPosition * positions;
}

void PrefillCostFit::add(int from, int to, double ms)
{
    if (to <= from || ms <= 0)
        return;
    const double n = to - from;
    m_samples.append({n, (double(from) + double(to) - 1) * n / 2, ms});
    if (m_samples.size() > 256)
        m_samples.removeFirst();
}

PrefillCost PrefillCostFit::cost() const
{
    PrefillCost cost;
    cost.samples = static_cast<int>(m_samples.size());
    if (m_samples.isEmpty())
        return cost;
    double nn = 0, ns = 0, ss = 0, nm = 0, sm = 0;
    for (const Sample &sample : m_samples) {
        nn += sample.n * sample.n;
        ns += sample.n * sample.s;
        ss += sample.s * sample.s;
        nm += sample.n * sample.ms;
        sm += sample.s * sample.ms;
    }
    const double det = nn * ss - ns * ns;
    if (det > 1e-9 * nn * ss) {
        cost.msPerToken = (nm * ss - sm * ns) / det;
        cost.msPerTokenPerPosition = (sm * nn - nm * ns) / det;
    }
    if (cost.msPerToken <= 0 || cost.msPerTokenPerPosition < 0) {
        cost.msPerToken = nm / nn;
        cost.msPerTokenPerPosition = 0;
    }
    return cost;
}

} // namespace kerf
