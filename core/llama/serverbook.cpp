// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/serverbook.h"

#include <algorithm>

namespace kerf {

namespace {

constexpr qsizetype kMostPrompts = 32;

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
        checkpoint.sizeBytes = intOf(object, {"size", "n_bytes", "size_bytes"}, -1);
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
                    reading.checkpoints.append(checkpointOf(it.value(), reading.id));
            } else {
                continue;
            }
            reading.checkpoints.removeIf([](const Checkpoint &checkpoint) { return checkpoint.position <= 0; });
            std::sort(reading.checkpoints.begin(), reading.checkpoints.end(), [](const Checkpoint &a, const Checkpoint &b) { return a.position < b.position; });
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

void ServerBook::notePrompt(const QString &sessionId, const TokenList &prompt, int slotId)
{
    if (prompt.isEmpty())
        return;
    Known known;
    known.sessionId = sessionId;
    known.prompt = prompt;
    known.slotId = slotId;
    known.order = ++m_order;
    // Handed out twice without having run: the same request.
    if (Known *same = find(prompt); same && same->epoch < 0 && same->sessionId == sessionId) {
        same->order = known.order;
        return;
    }
    m_known.append(known);
    if (m_known.size() > kMostPrompts)
        m_known.removeFirst();
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
        // A request of the same prompt again is a task of its own.
        const TokenList generated = known && known->generatedKnown && request.generated < 0 ? known->generated : TokenList();
        notePrompt(request.sessionId, request.prompt, slotId);
        known = &m_known.last();
        Q_UNUSED(generated)
    }
    known->epoch = epoch;
    known->task = task;
    known->slotId = slotId;
    known->generatedCount = request.generated;
    known->heldLength = heldLength;
    known->order = ++m_order;
}

HeldState ServerBook::stateOf(const Known &known) const
{
    HeldState state;
    state.slotId = known.slotId;
    state.length = known.length();
    state.tokens = known.held(state.length);
    state.taskId = known.task;
    state.lastUsed = known.order;
    state.epoch = known.epoch;
    state.owner = known.sessionId;
    return state;
}

QList<HeldState> ServerBook::withIds(QList<HeldState> logStates, const ServerLogModel &model) const
{
    for (HeldState &state : logStates) {
        if (state.taskId < 0 || state.length <= 0)
            continue;
        const Known *owner = nullptr;
        for (auto it = m_known.crbegin(); it != m_known.crend() && !owner; ++it) {
            if (it->epoch == state.epoch && it->task == state.taskId)
                owner = &*it;
        }
        if (!owner) {
            // Its timings did not come (yet): a prompt of ours that has the task's size.
            const LogTask *task = model.task(state.taskId);
            for (auto it = m_known.crbegin(); task && it != m_known.crend() && !owner; ++it) {
                if (it->epoch < 0 && it->prompt.size() == task->promptTokens)
                    owner = &*it;
            }
        }
        if (!owner)
            continue;
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
        const Known *owner = nullptr;
        for (auto it = m_known.crbegin(); it != m_known.crend() && !owner; ++it) {
            if (it->epoch == epoch && it->task >= 0 && it->task == slot.task)
                owner = &*it;
        }
        state.length = std::max(0, slot.promptTokens);
        if (owner) {
            if (slot.promptTokens < 0)
                state.length = owner->length();
            state.tokens = owner->held(state.length);
            state.owner = owner->sessionId;
            state.lastUsed = owner->order;
            state.verified = true;
            inSlots.append(owner);
        } else if (slot.task < 0 && slot.promptTokens <= 0) {
            state.length = 0; // it has not run yet
            state.lastUsed = -1;
            state.verified = true;
        }
        states.append(state);
    }
    if (!hostCache)
        return states;
    for (qsizetype i = 0; i < m_known.size(); ++i) {
        const Known &known = m_known.at(i);
        if (known.epoch != epoch || inSlots.contains(&known))
            continue;
        // Saved when its slot lost more than half of it; extended ones live on in the slot.
        bool lost = false;
        for (qsizetype k = i + 1; k < m_known.size(); ++k) {
            const Known &next = m_known.at(k);
            if (next.epoch != epoch || next.slotId != known.slotId)
                continue;
            lost = commonPrefix(known.prompt, next.prompt) * 2 < known.length();
            break;
        }
        if (!lost)
            continue;
        HeldState state = stateOf(known);
        state.place = HeldState::Place::HostCache;
        state.slotId = -1;
        states.append(state);
    }
    return states;
}

bool ServerBook::endsNear(int position, int tokens, int epoch) const
{
    return std::any_of(m_known.cbegin(), m_known.cend(), [=](const Known &known) {
        return known.epoch == epoch && std::abs(static_cast<int>(known.prompt.size()) - position) <= tokens;
    });
}

int ServerBook::lcpBefore(const TokenList &prompt, int slotId, int epoch) const
{
    bool self = true;
    for (auto it = m_known.crbegin(); it != m_known.crend(); ++it) {
        if (it->epoch != epoch || it->slotId != slotId)
            continue;
        if (self && it->prompt == prompt) {
            self = false;
            continue;
        }
        return commonPrefix(it->held(it->length()), prompt);
    }
    return -1;
}

} // namespace kerf
