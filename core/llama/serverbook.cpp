// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/serverbook.h"

#include <algorithm>

namespace kerf {

namespace {

constexpr qsizetype kMostPrompts = 32;
constexpr qsizetype kMostHeld = 256; ///< with those that are still held
constexpr qsizetype kFreshKept = 8; ///< of these newest prompts none is dropped for not having run
constexpr qsizetype kMostFiles = 256;

int intOf(const QJsonObject &object, std::initializer_list<const char *> names, int otherwise)
{
    for (const char *name : names) {
        const QJsonValue value = object.value(QLatin1String(name));
        if (value.isDouble())
            return value.toInt(otherwise);
    }
    return otherwise;
}

Checkpoint checkpointOf(const QJsonValue &value, int slotId)
{
    Checkpoint checkpoint;
    checkpoint.slotId = slotId;
    if (value.isDouble()) {
        checkpoint.position = value.toInt();
    } else {
        const QJsonObject object = value.toObject();
        checkpoint.position = intOf(object, {"token_position", "pos", "n_past", "position", "n_tokens"}, 0);
        checkpoint.posMin = intOf(object, {"pos_min"}, 0);
        for (const char *name : {"size", "n_bytes", "size_bytes"}) {
            if (const QJsonValue size = object.value(QLatin1String(name)); size.isDouble()) {
                checkpoint.sizeBytes = size.toInteger(-1);
                break;
            }
        }
    }
    checkpoint.posMax = std::max(0, checkpoint.position - 1);
    return checkpoint;
}

} // namespace

QList<SlotReading> readSlots(const QJsonArray &slots)
{
    QList<SlotReading> readings;
    for (const QJsonValue &value : slots) {
        const QJsonObject object = value.toObject();
        SlotReading reading;
        reading.id = object.value(QStringLiteral("id")).toInt(-1);
        if (reading.id < 0)
            continue;
        reading.contextSize = object.value(QStringLiteral("n_ctx")).toInt();
        reading.busy = object.value(QStringLiteral("is_processing")).toBool();
        reading.task = object.value(QStringLiteral("id_task")).toInteger(-1);
        reading.promptTokens = intOf(object, {"n_prompt_tokens", "n_past"}, -1);
        if (reading.busy) { // both read 0 when it is idle again
            reading.processed = intOf(object, {"n_prompt_tokens_processed"}, -1);
            reading.cached = intOf(object, {"n_prompt_tokens_cache"}, -1);
        }
        for (const char *name : {"checkpoints", "ctx_checkpoints", "context_checkpoints", "ckpt"}) {
            const QJsonValue ring = object.value(QLatin1String(name));
            if (ring.isArray()) {
                reading.hasRing = true; // an empty array is an empty ring, not a missing one
                const QJsonArray rows = ring.toArray();
                for (const QJsonValue &row : rows)
                    reading.checkpoints.append(checkpointOf(row, reading.id));
            } else if (ring.isObject()) {
                reading.hasRing = true;
                const QJsonObject rows = ring.toObject();
                for (auto it = rows.begin(); it != rows.end(); ++it)
                    reading.checkpoints.append(checkpointOf(it.value(), reading.id)); // an index map
            } else {
                continue;
            }
            reading.checkpoints.removeIf([](const Checkpoint &checkpoint) { return checkpoint.position <= 0; });
            std::sort(reading.checkpoints.begin(), reading.checkpoints.end(),
                      [](const Checkpoint &a, const Checkpoint &b) { return a.position < b.position; });
            break;
        }
        readings.append(reading);
    }
    return readings;
}

TokenList ServerBook::Known::held(int length) const
{
    TokenList tokens = prompt;
    if (generatedKnown)
        tokens.append(generated);
    if (length >= 0 && tokens.size() > length)
        tokens.resize(length);
    return tokens;
}

int ServerBook::Known::length() const
{
    if (heldLength >= 0)
        return heldLength;
    // The token sampled last is not in the cache yet.
    const int behind = generatedKnown ? static_cast<int>(generated.size()) : std::max(0, generatedCount);
    return static_cast<int>(prompt.size()) + std::max(0, behind - 1);
}

ServerBook::Known *ServerBook::find(const TokenList &prompt)
{
    for (auto it = m_known.rbegin(); it != m_known.rend(); ++it) {
        if (it->prompt == prompt)
            return &*it;
    }
    return nullptr;
}

const ServerBook::Known *ServerBook::ranAs(int epoch, qint64 task) const
{
    if (task < 0)
        return nullptr;
    for (auto it = m_known.crbegin(); it != m_known.crend(); ++it) {
        if (it->epoch == epoch && it->task == task)
            return &*it;
    }
    return nullptr;
}

/// 32, and beyond them what the log says is still held: a saved prompt of long ago may win over a slot by three tokens
/// (LLAMA_SERVER.md section 1). Prompts that were handed out and never ran go first.
void ServerBook::trim()
{
    while (m_known.size() > kMostPrompts) {
        qsizetype leaves = -1;
        for (qsizetype i = 0; i + kFreshKept < m_known.size() && leaves < 0; ++i) {
            if (m_known.at(i).epoch < 0)
                leaves = i;
        }
        for (qsizetype i = 0; i + kFreshKept < m_known.size() && leaves < 0; ++i) {
            if (m_known.at(i).seen < m_pass || m_pass == 0)
                leaves = i;
        }
        if (leaves < 0 && m_known.size() <= kMostHeld)
            return;
        m_known.removeAt(std::max<qsizetype>(0, leaves));
    }
}

void ServerBook::notePrompt(const QString &sessionId, const TokenList &prompt, int slotId)
{
    if (prompt.isEmpty())
        return;
    // Handed out twice without having run: the same request.
    if (Known *same = find(prompt); same && same->epoch < 0 && same->sessionId == sessionId) {
        same->slotId = slotId;
        same->order = ++m_order;
        return;
    }
    Known known;
    known.sessionId = sessionId;
    known.prompt = prompt;
    known.slotId = slotId;
    known.order = ++m_order;
    m_known.append(known);
    trim();
}

void ServerBook::noteGenerated(const TokenList &prompt, const TokenList &generated)
{
    if (Known *known = find(prompt)) {
        known->generated = generated;
        known->generatedKnown = true;
    }
}

void ServerBook::noteRan(const MeasuredRequest &request, int epoch, qint64 task, int slotId, int heldLength)
{
    if (request.prompt.isEmpty())
        return;
    Known *known = find(request.prompt);
    if (!known || known->epoch >= 0) {
        // The same prompt again is a request of its own.
        notePrompt(request.sessionId, request.prompt, slotId);
        known = find(request.prompt);
    }
    known->epoch = epoch;
    known->task = task;
    known->slotId = slotId;
    known->generatedCount = request.generated;
    known->reused = request.cacheTokens;
    known->heldLength = heldLength;
    known->order = ++m_order;
    // By order of running: what was handed out long ago and ran now is the newest.
    std::stable_sort(m_known.begin(), m_known.end(), [](const Known &a, const Known &b) { return a.order < b.order; });
}

void ServerBook::noteSaved(int slotId, int epoch, const QString &file, int tokens)
{
    Content content{epoch, -1, tokens, {}, {}};
    if (const auto placed = m_placed.constFind(slotId);
        placed != m_placed.cend() && placed->epoch == epoch && placed->length == tokens) {
        content.tokens = placed->tokens;
        content.sessionId = placed->sessionId;
    } else {
        for (auto it = m_known.crbegin(); it != m_known.crend(); ++it) {
            if (it->epoch != epoch || it->slotId != slotId)
                continue;
            // The last one that ran there, if what was saved can be it.
            const int prompt = static_cast<int>(it->prompt.size());
            const int behind = it->generatedCount >= 0 ? it->generatedCount
                : it->generatedKnown                   ? static_cast<int>(it->generated.size())
                                                       : 0;
            if (tokens == it->length() || (it->heldLength < 0 && tokens >= prompt && tokens <= prompt + behind)) {
                content.tokens = it->held(tokens);
                content.sessionId = it->sessionId;
            }
            break;
        }
    }
    if (m_files.size() >= kMostFiles && !m_files.contains(file))
        m_files.clear();
    m_files.insert(file, content);
}

void ServerBook::noteRestored(int slotId, int epoch, qint64 slotTask, const QString &file, int tokens)
{
    Content content{epoch, slotTask, tokens, {}, {}};
    // A file outlives the server: which life saved it does not matter.
    if (const auto saved = m_files.constFind(file); saved != m_files.cend() && saved->length == tokens) {
        content.tokens = saved->tokens;
        content.sessionId = saved->sessionId;
    }
    m_placed.insert(slotId, content);
}

void ServerBook::noteErased(int slotId, int epoch, qint64 slotTask)
{
    m_placed.insert(slotId, {epoch, slotTask, 0, {}, {}});
}

QList<HeldState> ServerBook::withIds(QList<HeldState> logStates, const ServerLogModel &model) const
{
    const QList<ServerLogModel::ContentKey> keys = model.contentKeys();
    ++m_pass;
    for (qsizetype i = 0; i < logStates.size() && i < keys.size(); ++i) {
        HeldState &state = logStates[i];
        const ServerLogModel::ContentKey &key = keys.at(i);
        if (key.task < 0 || state.length <= 0)
            continue;
        const Known *owner = ranAs(key.epoch, key.task);
        if (!owner && key.epoch == model.epoch()) {
            // Its timings did not come (yet), or came before the log's line: a prompt of ours that has the task's
            // numbers.
            const LogTask *task = model.task(key.task);
            for (auto it = m_known.crbegin(); task && task->promptTokens > 0 && it != m_known.crend() && !owner; ++it) {
                const bool open =
                    it->epoch < 0 || (it->epoch == key.epoch && it->task < 0 && it->reused == task->reused);
                if (open && it->prompt.size() == task->promptTokens)
                    owner = &*it;
            }
            if (owner && owner->epoch < 0)
                state.verified = false;
        }
        if (!owner)
            continue;
        owner->seen = m_pass;
        state.tokens = owner->held(state.length);
        state.owner = owner->sessionId;
    }
    return logStates;
}

QList<HeldState> ServerBook::fromSlots(const QList<SlotReading> &slots, int epoch, bool hostCache) const
{
    QList<HeldState> states;
    QList<const Known *> inSlots;
    for (const SlotReading &slot : slots) {
        HeldState state;
        state.slotId = slot.id;
        state.busy = slot.busy;
        state.taskId = slot.task;
        state.epoch = epoch;
        state.checkpoints = slot.checkpoints;
        state.checkpointsKnown = slot.hasRing;
        state.lastUsed = slot.task; // task numbers rise: they are the order of use
        const auto placed = m_placed.constFind(slot.id);
        const bool isPlaced =
            placed != m_placed.cend() && placed->epoch == epoch && placed->slotTask == slot.task && !slot.busy;
        if (isPlaced) {
            state.length = placed->length;
            state.tokens = placed->tokens;
            state.owner = placed->sessionId;
            state.verified = placed->length == 0 || slot.promptTokens == placed->length;
            states.append(state);
            continue;
        }
        const Known *owner = ranAs(epoch, slot.task);
        if (owner && slot.promptTokens == 0 && !slot.busy) {
            state.verified = true; // cleared: idle slots are, when another one starts a task
        } else if (owner) {
            const int prompt = static_cast<int>(owner->prompt.size());
            state.length = slot.promptTokens >= 0 ? slot.promptTokens : owner->length();
            state.owner = owner->sessionId;
            inSlots.append(owner);
            // Fewer than the prompt: something took tokens away (a context shift), and from the front at that.
            if (slot.promptTokens < 0 || slot.busy || slot.promptTokens >= prompt) {
                state.tokens = owner->held(state.length);
                state.verified = slot.promptTokens >= 0 && !slot.busy;
            }
        } else if (slot.task < 0 && slot.promptTokens <= 0) {
            state.verified = true; // it has not run yet
        } else {
            state.length = std::max(0, slot.promptTokens); // another client's: known by its length alone
            state.verified = slot.promptTokens >= 0;
        }
        states.append(state);
    }
    if (!hostCache)
        return states;
    QList<HeldState> cached;
    for (qsizetype i = 0; i < m_known.size(); ++i) {
        const Known &known = m_known.at(i);
        if (known.epoch != epoch || known.slotId < 0 || inSlots.contains(&known))
            continue;
        // Saved when its slot lost more than half of it, or was cleared; one that was extended lives on in the slot.
        bool erased = false;
        if (const auto placed = m_placed.constFind(known.slotId); placed != m_placed.cend())
            erased = placed->epoch == epoch && placed->slotTask == known.task;
        bool lives = false;
        for (qsizetype k = i + 1; k < m_known.size() && !lives; ++k) {
            const Known &next = m_known.at(k);
            lives = next.epoch == epoch && commonPrefix(known.prompt, next.prompt) * 2 >= known.length();
        }
        if (erased || lives)
            continue;
        HeldState state;
        state.place = HeldState::Place::HostCache;
        state.length = known.length();
        state.tokens = known.held(state.length);
        state.taskId = known.task;
        state.lastUsed = known.task;
        state.epoch = known.epoch;
        state.owner = known.sessionId;
        cached.append(state);
    }
    return states + cached;
}

bool ServerBook::Met::isRival(int reused) const
{
    return std::any_of(otherLcps.cbegin(), otherLcps.cend(),
                       [reused](int other) { return std::abs(other - reused) <= 8; });
}

ServerBook::Met ServerBook::metBy(const TokenList &prompt, int slotId, int epoch) const
{
    Met met;
    bool found = false;
    for (auto it = m_known.crbegin(); it != m_known.crend(); ++it) {
        if (it->epoch != epoch)
            continue;
        met.promptEnds.append(static_cast<int>(it->prompt.size()));
        met.promptEnds.append(it->length());
        if (!found && slotId >= 0 && it->slotId == slotId) {
            found = true;
            met.lcp = commonPrefix(it->held(it->length()), prompt);
            met.heldLength = it->length();
            met.task = it->task;
        } else {
            met.otherLcps.append(commonPrefix(it->prompt, prompt));
        }
    }
    return met;
}

} // namespace kerf
