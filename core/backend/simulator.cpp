// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/backend/simulator.h"

#include <algorithm>
#include <utility>

namespace kerf {

namespace {

/// Checkpoints are made this many tokens (and so many plus a micro-batch) before a prompt's end.
constexpr int kTokensBehindLastCheckpoint = 4;

Error noSuchSlot(int slotId, int slots)
{
    return {Error::Code::NotFound,
            QStringLiteral("the simulated server has no slot %1: it has %2").arg(slotId).arg(slots),
            {}};
}

} // namespace

SimulatedServer::SimulatedServer(SimulatorConfig config)
    : m_config(std::move(config))
{
    m_config.slots = std::max(1, m_config.slots);
    m_config.contextSize = std::max(1, m_config.contextSize);
    m_config.microBatch = std::max(1, m_config.microBatch);
    m_config.batch = std::max(m_config.microBatch + kTokensBehindLastCheckpoint, m_config.batch);
    if (m_config.memory == MemoryKind::Unknown)
        m_config.memory = MemoryKind::FullAttention;
    for (int id = 0; id < m_config.slots; ++id) {
        HeldState slot;
        slot.slotId = id;
        slot.checkpointsKnown = true;
        slot.verified = true;
        slot.lastUsed = -1; // never
        m_slots.append(slot);
    }
}

ReuseRule SimulatedServer::rule() const
{
    ReuseRule rule;
    rule.memory = m_config.memory;
    rule.chunkReuse = windowed() ? 0 : m_config.chunkReuse; // a window's memory cannot be shifted
    rule.chunkReuseKnown = true;
    rule.slidingWindow = windowed() ? m_config.slidingWindow : 0;
    rule.recurrent = m_config.memory == MemoryKind::Checkpointed && m_config.slidingWindow <= 0;
    rule.slotSimilarity = m_config.slotSimilarity;
    rule.hostCache = m_config.hostCacheLimitBytes > 0;
    rule.hostCacheLimitBytes = m_config.hostCacheLimitBytes;
    rule.idleSlotsCleared = m_config.unifiedKv && m_config.cacheIdleSlots && rule.hostCache;
    rule.slotCount = m_config.slots;
    rule.ringVisible = true;
    rule.windowCells = windowed() ? windowCells() : 0;
    return rule;
}

int SimulatedServer::windowCells() const
{
    // One window a sequence that shares the memory, and room for a micro-batch; in steps of 256 cells.
    const int windows = m_config.unifiedKv ? m_config.slots : 1;
    return (m_config.slidingWindow * windows + m_config.microBatch + 255) / 256 * 256;
}

qint64 SimulatedServer::sizeOf(const HeldState &state) const
{
    return state.length * m_config.bytesPerToken + state.checkpoints.size() * m_config.bytesPerCheckpoint;
}

QList<HeldState> SimulatedServer::states() const
{
    QList<HeldState> states = m_slots + m_cache;
    for (HeldState &state : states)
        state.sizeBytes = sizeOf(state);
    return states;
}

HeldState *SimulatedServer::slotAt(int slotId)
{
    return slotId >= 0 && slotId < m_slots.size() ? &m_slots[slotId] : nullptr;
}

void SimulatedServer::note(const char *kind, int slot, qint64 task, int position)
{
    m_events.append({QString::fromLatin1(kind), slot, task, position});
}

QList<SimulatedEvent> SimulatedServer::takeEvents() { return std::exchange(m_events, {}); }

qint64 SimulatedServer::hostCacheBytes() const
{
    qint64 total = 0;
    for (const HeldState &state : m_cache)
        total += sizeOf(state);
    return total;
}

/// As the server does it: a prompt that is in there already is skipped, one that is too large as well; those that the
/// new one contains go, then the oldest until it fits.
void SimulatedServer::saveToHostCache(const HeldState &slot)
{
    if (slot.length <= 0 || m_config.hostCacheLimitBytes <= 0)
        return;
    for (const HeldState &state : std::as_const(m_cache)) {
        if (commonPrefix(state.tokens, slot.tokens) == slot.length)
            return;
    }
    const qint64 size = sizeOf(slot);
    if (size > m_config.hostCacheLimitBytes)
        return;
    m_cache.removeIf(
        [&slot](const HeldState &state) { return commonPrefix(state.tokens, slot.tokens) == state.length; });
    while (!m_cache.isEmpty() && hostCacheBytes() + size > m_config.hostCacheLimitBytes)
        m_cache.removeFirst();
    HeldState saved = slot;
    saved.place = HeldState::Place::HostCache;
    saved.slotId = -1;
    saved.posMin = -1;
    saved.sizeBytes = size;
    m_cache.append(saved);
    note("prompt-saved", slot.slotId, slot.taskId, slot.length);
}

void SimulatedServer::clearSlot(HeldState *slot)
{
    if (slot->length > 0)
        note("slot-cleared", slot->slotId, slot->taskId, slot->length);
    slot->length = 0;
    slot->tokens.clear();
    slot->checkpoints.clear();
    slot->posMin = windowed() ? 0 : -1;
    slot->owner.clear();
    slot->verified = true;
}

void SimulatedServer::saveIdleSlots(const HeldState *running)
{
    if (!m_config.cacheIdleSlots || m_config.hostCacheLimitBytes <= 0)
        return;
    for (HeldState &slot : m_slots) {
        if (&slot == running)
            continue;
        saveToHostCache(slot);
        if (m_config.unifiedKv)
            clearSlot(&slot);
    }
}

void SimulatedServer::createCheckpoint(HeldState *slot, qint64 task, int position)
{
    if (m_config.ringDepth <= 0)
        return;
    QList<Checkpoint> &ring = slot->checkpoints;
    // Near its capacity the ring is thinned: one that is closer than the minimum step to the one before it goes, unless
    // this task made it.
    while (ring.size() + 1 >= m_config.ringDepth) {
        qsizetype close = -1;
        for (qsizetype i = 1; i < ring.size() && close < 0; ++i) {
            if (ring.at(i).taskId != task && ring.at(i).position <= ring.at(i - 1).position + m_config.ringMinStep)
                close = i;
        }
        if (close < 0)
            break;
        note("checkpoint-erased", slot->slotId, task, ring.at(close).position);
        ring.removeAt(close);
    }
    while (ring.size() >= m_config.ringDepth) {
        note("checkpoint-erased", slot->slotId, task, ring.constFirst().position);
        ring.removeFirst();
    }
    ring.removeIf(
        [position](const Checkpoint &checkpoint) { return checkpoint.position == position; }); // "superseding"
    Checkpoint made;
    made.position = position;
    made.posMax = position - 1;
    made.posMin = windowed() ? slot->posMin : made.posMax;
    made.sizeBytes = m_config.bytesPerCheckpoint;
    made.slotId = slot->slotId;
    made.taskId = task;
    ring.append(made);
    note("checkpoint-created", slot->slotId, task, position);
}

/// The prompt's tokens [from, to) in batches, as the server cuts them: at n_batch, and at the two points before the
/// end where a checkpoint is to be made. A checkpoint is made in front of a batch that reaches into the last
/// micro-batch.
void SimulatedServer::evaluate(HeldState *slot, qint64 task, int from, int to)
{
    for (int at = from; at < to;) {
        int end = std::min(at + m_config.batch, to);
        for (const int behind : {kTokensBehindLastCheckpoint + m_config.microBatch, kTokensBehindLastCheckpoint}) {
            if (m_config.memory == MemoryKind::Checkpointed && to - behind > at)
                end = std::min(end, to - behind);
        }
        if (m_config.memory == MemoryKind::Checkpointed && at > 0 && to < end + m_config.microBatch)
            createCheckpoint(slot, task, at);
        at = end;
        if (windowed())
            slot->posMin = std::max(slot->posMin, at - windowCells());
    }
}

Result<SimulatedReply> SimulatedServer::process(const ReuseRequest &request, int generated)
{
    // Ids that no text gives, so that what was generated never equals what is rendered by chance.
    TokenList ids;
    ids.reserve(std::max(0, generated));
    for (int i = 0; i < generated; ++i)
        ids.append(static_cast<TokenId>(3 + (m_nextTask * 31 + i) % 250));
    return process(request, ids);
}

Result<SimulatedReply> SimulatedServer::process(const ReuseRequest &request, const TokenList &generated)
{
    const int n = static_cast<int>(request.tokens.size());
    if (n == 0)
        return failure(Error::Code::InvalidParams, QStringLiteral("the simulated server cannot run an empty prompt"));
    if (n >= m_config.contextSize)
        return failure(Error::Code::TooLarge,
                       QStringLiteral("request (%1 tokens) exceeds the available context size (%2 tokens)")
                           .arg(n)
                           .arg(m_config.contextSize),
                       QStringLiteral("exceed_context_size_error"));
    SimulatedReply reply;
    reply.taskId = m_nextTask++;
    reply.decision = predictReuse(states(), request, rule());
    const ReusePrediction &decision = reply.decision;
    const int index = decision.slotIndex;
    if (index < 0 || index >= m_slots.size())
        return failure(Error::Code::InvalidParams,
                       QStringLiteral("the simulated server has no slot %1").arg(request.slotId));
    HeldState *slot = &m_slots[index];
    reply.slotId = slot->slotId;

    // The prompt to load is taken by its contents: saving may move or drop entries.
    TokenList loadedTokens;
    if (decision.loadedFromHostCache)
        loadedTokens = m_cache.at(decision.stateIndex - m_slots.size()).tokens;
    if (decision.slotSaved)
        saveToHostCache(*slot);
    if (decision.loadedFromHostCache) {
        for (qsizetype i = 0; i < m_cache.size(); ++i) {
            if (m_cache.at(i).tokens != loadedTokens)
                continue;
            const HeldState taken = m_cache.takeAt(i);
            slot->length = taken.length;
            slot->tokens = taken.tokens;
            slot->checkpoints = taken.checkpoints;
            slot->owner = taken.owner;
            slot->posMin = windowed() ? std::max(0, taken.length - m_config.slidingWindow) : -1;
            note("prompt-loaded", slot->slotId, reply.taskId, taken.length);
            break;
        }
    }
    saveIdleSlots(slot);
    note("task-started", slot->slotId, reply.taskId, n);

    // What is reused is what predictReuse() said; with everything known it says one number.
    const int reused = decision.low;
    int next = 0; // where the server goes on, before it makes sure that one token is left to evaluate
    if (decision.checkpointPosition >= 0) {
        next = reused;
        if (windowed()) {
            for (const Checkpoint &checkpoint : std::as_const(slot->checkpoints)) {
                if (checkpoint.position == decision.checkpointPosition)
                    slot->posMin = std::max(checkpoint.posMin, checkpoint.position - m_config.slidingWindow);
            }
        }
        note("checkpoint-restored", slot->slotId, reply.taskId, decision.checkpointPosition);
    } else if (reused > 0) {
        next = decision.lcp;
        for (const ChunkMove &move : decision.chunks) {
            next += move.length;
            note("chunk-shifted", slot->slotId, reply.taskId, move.length);
        }
    } else {
        if (decision.lcp > 0 && slot->length > 0)
            note("full-reprocessing", slot->slotId, reply.taskId, n);
        slot->posMin = windowed() ? 0 : -1;
    }
    for (const Checkpoint &checkpoint : std::as_const(slot->checkpoints)) {
        if (checkpoint.posMax > next)
            note("checkpoint-erased", slot->slotId, reply.taskId, checkpoint.position);
    }
    slot->checkpoints.removeIf([next](const Checkpoint &checkpoint) { return checkpoint.posMax > next; });
    evaluate(slot, reply.taskId, reused, n);

    reply.generated = generated;
    slot->tokens = request.tokens;
    if (!generated.isEmpty()) // the last one was sampled, but never evaluated
        slot->tokens.append(generated.first(std::min<qsizetype>(generated.size() - 1, m_config.contextSize - n)));
    slot->length = static_cast<int>(slot->tokens.size());
    if (windowed())
        slot->posMin = std::max(slot->posMin, slot->length - windowCells());
    slot->taskId = reply.taskId;
    slot->lastUsed = ++m_clock;
    slot->verified = true;
    slot->owner.clear();
    reply.cacheTokens = reused;
    reply.promptTokens = n - reused;
    reply.promptMs = m_config.cost.ms(reused, n);
    note("task-finished", slot->slotId, reply.taskId, slot->length);
    return reply;
}

bool SimulatedServer::setGenerated(const TokenList &prompt, const TokenList &generated)
{
    const auto put = [&](HeldState *state) {
        if (prompt.isEmpty() || state->length < prompt.size() || commonPrefix(state->tokens, prompt) != prompt.size())
            return false;
        // As many as were held before, if as many were told: the server's length is not the caller's to change.
        const qsizetype held = std::min<qsizetype>(state->length - prompt.size(), generated.size());
        for (qsizetype i = 0; i < held; ++i)
            state->tokens[prompt.size() + i] = generated.at(i);
        return true;
    };
    bool found = false;
    for (HeldState &slot : m_slots)
        found = put(&slot) || found;
    for (HeldState &state : m_cache)
        found = put(&state) || found;
    return found;
}

void SimulatedServer::setUnverified(int slotId)
{
    if (HeldState *slot = slotAt(slotId))
        slot->verified = false;
}

void SimulatedServer::setOwner(int slotId, const QString &owner)
{
    if (HeldState *slot = slotAt(slotId))
        slot->owner = owner;
}

Result<int> SimulatedServer::save(int slotId, const QString &fileName)
{
    const HeldState *slot = slotAt(slotId);
    if (!slot)
        return std::unexpected(noSuchSlot(slotId, m_config.slots));
    if (fileName.isEmpty() || fileName.contains(QLatin1Char('/')))
        return failure(Error::Code::InvalidParams, QStringLiteral("Invalid filename"));
    m_files.insert(fileName, *slot);
    return slot->length;
}

Result<int> SimulatedServer::restore(int slotId, const QString &fileName)
{
    HeldState *slot = slotAt(slotId);
    if (!slot)
        return std::unexpected(noSuchSlot(slotId, m_config.slots));
    const auto file = m_files.constFind(fileName);
    if (file == m_files.cend())
        return failure(Error::Code::NotFound,
                       QStringLiteral("the simulated server has no saved slot \"%1\"").arg(fileName));
    slot->length = file->length;
    slot->tokens = file->tokens;
    slot->checkpoints = file->checkpoints;
    slot->owner = file->owner;
    slot->posMin = windowed() ? std::max(0, file->length - m_config.slidingWindow) : -1;
    slot->lastUsed = ++m_clock;
    return slot->length;
}

Result<int> SimulatedServer::erase(int slotId)
{
    HeldState *slot = slotAt(slotId);
    if (!slot)
        return std::unexpected(noSuchSlot(slotId, m_config.slots));
    const int erased = slot->length;
    clearSlot(slot);
    return erased;
}

} // namespace kerf
