// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/logmodel.h"

#include <algorithm>
#include <cmath>

namespace kerf {

namespace {
constexpr qsizetype kMostTasks = 512;
constexpr qsizetype kMostHappenings = 4096;
constexpr int kMostSlots = 4096;
using Kind = LogEvent::Kind;
} // namespace

MemoryKind LogFacts::memory() const
{
    if (recurrent || checkpointSeen || slidingWindow > 0)
        return MemoryKind::Checkpointed;
    if (!architecture.isEmpty() && slidingWindow == 0)
        return MemoryKind::FullAttention;
    return MemoryKind::Unknown;
}

ServerLogModel::Slot &ServerLogModel::slot(int id)
{
    for (Slot &slot : m_slots) {
        if (slot.id == id)
            return slot;
    }
    Slot fresh;
    fresh.id = id;
    const auto at = std::lower_bound(m_slots.begin(), m_slots.end(), id, [](const Slot &slot, int value) { return slot.id < value; });
    return *m_slots.insert(at, fresh);
}

LogTask *ServerLogModel::running(int slotId)
{
    for (auto it = m_tasks.rbegin(); it != m_tasks.rend(); ++it) {
        if (it->slot == slotId && it->epoch == m_epoch)
            return &*it;
    }
    return nullptr;
}

const LogTask *ServerLogModel::task(qint64 id) const
{
    for (auto it = m_tasks.crbegin(); it != m_tasks.crend(); ++it) {
        if (it->task == id && it->epoch == m_epoch)
            return &*it;
    }
    return nullptr;
}

const LogTask *ServerLogModel::findTask(int promptTokens, int reused, int slotId) const
{
    for (auto it = m_tasks.crbegin(); it != m_tasks.crend(); ++it) {
        if (it->epoch == m_epoch && it->promptTokens == promptTokens && (reused < 0 || it->reused == reused) && (slotId < 0 || it->slot == slotId))
            return &*it;
    }
    return nullptr;
}

void ServerLogModel::happen(const QString &kind, QJsonObject details)
{
    m_happenings.append({kind, std::move(details)});
    if (m_happenings.size() > kMostHappenings)
        m_happenings.removeFirst();
}

QList<ServerLogModel::Happening> ServerLogModel::takeHappenings()
{
    return std::exchange(m_happenings, {});
}

/// A new life of the server: nothing of the old one is held any more; save files stay.
void ServerLogModel::restart()
{
    if (m_lines > 1)
        ++m_epoch;
    m_facts = LogFacts();
    m_slots.clear();
    m_cache.clear();
    m_offered.clear();
    m_listing.clear();
    m_listingLeft = 0;
    m_hostCacheBytes = -1;
    m_lastTask = -1;
    m_saving = -1;
}

void ServerLogModel::forget(Slot &slot, int position)
{
    slot.content.ring.removeIf([position](const Checkpoint &checkpoint) { return checkpoint.position == position; });
}

/// The listing of the host cache is the authority: entries that we followed keep what we know of them.
void ServerLogModel::reconcile()
{
    QList<Content> next;
    next.reserve(m_listing.size());
    QList<bool> used(m_cache.size(), false);
    for (Content &listed : m_listing) {
        for (qsizetype i = 0; i < m_cache.size(); ++i) {
            if (used.at(i) || m_cache.at(i).length != listed.length)
                continue;
            used[i] = true;
            const qint64 bytes = listed.bytes;
            const qsizetype checkpoints = listed.ring.size();
            listed = m_cache.at(i);
            listed.bytes = bytes;
            Q_UNUSED(checkpoints)
            break;
        }
        next.append(listed);
    }
    m_cache = next;
    m_listing.clear();
}

void ServerLogModel::noteRestored(int slotId, int tokens)
{
    slot(slotId).content.length = tokens;
}

void ServerLogModel::feed(QByteArrayView line)
{
    ++m_lines;
    feed(parseServerLogLine(line));
}

void ServerLogModel::feed(const LogEvent &event)
{
    if (event.kind == Kind::Other)
        return;
    if (event.kind == Kind::NotUnderstood) {
        ++m_notUnderstood;
        return;
    }
    if (event.slot >= kMostSlots)
        return;
    if (event.slot >= 0)
        m_facts.slotSeen = true;
    if (event.kind != Kind::CacheEntry && m_listingLeft > 0 && event.kind != Kind::CacheState) {
        m_listingLeft = 0;
        m_listing.clear(); // cut off: the listing is not complete
    }
    const int id = event.slot;
    switch (event.kind) {
    case Kind::Other:
    case Kind::NotUnderstood:
        break;
    case Kind::ServerStart:
        restart();
        happen(QStringLiteral("server-restarted"), {{QStringLiteral("epoch"), m_epoch}});
        break;
    case Kind::Build:
        m_facts.build = event.value;
        break;
    case Kind::Verbosity:
        m_facts.verbosity = static_cast<int>(event.value);
        break;
    case Kind::Architecture:
        m_facts.architecture = QString::fromUtf8(event.text).trimmed();
        break;
    case Kind::SlidingWindow:
        m_facts.slidingWindow = static_cast<int>(std::clamp<qint64>(event.value, -1, 1 << 30));
        break;
    case Kind::RecurrentMemory:
        m_facts.recurrent = true;
        break;
    case Kind::CheckpointsEnabled:
        m_facts.checkpointsMax = static_cast<int>(event.value);
        m_facts.checkpointsMinStep = static_cast<int>(event.second);
        break;
    case Kind::IdleSlotsSaved:
        break;
    case Kind::IdleSlotsCleared:
        m_facts.idleSlotsCleared = true;
        break;
    case Kind::SlotsInit:
        m_facts.slots = static_cast<int>(event.value);
        m_facts.contextSize = static_cast<int>(event.second);
        m_facts.unified = event.flag;
        for (int i = 0; i < std::min<qint64>(event.value, kMostSlots); ++i)
            slot(i);
        break;
    case Kind::Listening:
        m_facts.url = QString::fromUtf8(event.text);
        happen(QStringLiteral("server-up"), {{QStringLiteral("url"), m_facts.url}});
        break;
    case Kind::Similarity:
        if (id >= 0) {
            slot(id).pending.lcp = static_cast<int>(event.value);
        }
        break;
    case Kind::SelectedByLcp:
    case Kind::SelectedByLru:
    case Kind::SelectedById: {
        Slot &chosen = slot(id);
        chosen.pending.selectedBy = event.kind == Kind::SelectedByLcp ? QStringLiteral("lcp") : event.kind == Kind::SelectedByLru ? QStringLiteral("lru") : QStringLiteral("id");
        chosen.pending.slotWasEmpty = chosen.content.length == 0;
        chosen.pending.loadedFromHostCache = false;
        m_saving = id;
        break;
    }
    case Kind::SavingIdleSlot:
        m_saving = id;
        break;
    case Kind::Launched: {
        Slot &chosen = slot(id);
        LogTask task = chosen.pending;
        chosen.pending = LogTask();
        for (Slot &other : m_slots)
            other.pending = LogTask();
        if (task.selectedBy.isEmpty())
            task.slotWasEmpty = chosen.content.length == 0;
        task.epoch = m_epoch;
        task.task = event.task;
        task.slot = id;
        m_tasks.append(task);
        if (m_tasks.size() > kMostTasks)
            m_tasks.removeFirst();
        chosen.busy = true;
        chosen.lastUsed = ++m_clock;
        chosen.reusedSeen = false;
        m_lastTask = std::max(m_lastTask, event.task);
        happen(QStringLiteral("task-started"), {{QStringLiteral("slot"), id}, {QStringLiteral("task"), event.task}});
        break;
    }
    case Kind::NewPrompt: {
        Slot &chosen = slot(id);
        LogTask *task = running(id);
        if (!task || task->task != event.task) {
            // Lower verbosity, or the log begins here: there was no launch line.
            LogTask fresh;
            fresh.epoch = m_epoch;
            fresh.task = event.task;
            fresh.slot = id;
            m_tasks.append(fresh);
            if (m_tasks.size() > kMostTasks)
                m_tasks.removeFirst();
            task = &m_tasks.last();
            chosen.lastUsed = ++m_clock;
        }
        task->promptTokens = static_cast<int>(event.value);
        chosen.busy = true;
        chosen.reusedSeen = false;
        break;
    }
    case Kind::Cached: {
        Slot &chosen = slot(id);
        LogTask *task = running(id);
        if (!chosen.reusedSeen) {
            chosen.reusedSeen = true;
            if (task && task->task == event.task)
                task->reused = static_cast<int>(event.value);
            chosen.content.task = event.task;
            chosen.content.epoch = m_epoch;
            chosen.content.ringKnown = true;
        }
        chosen.content.length = static_cast<int>(event.value);
        break;
    }
    case Kind::CheckpointCreated: {
        m_facts.checkpointSeen = true;
        if (event.value <= 0)
            break;
        Slot &chosen = slot(id);
        forget(chosen, static_cast<int>(event.value));
        Checkpoint checkpoint;
        checkpoint.position = static_cast<int>(event.value);
        checkpoint.posMin = std::max(0, event.posMin);
        checkpoint.posMax = std::max(0, event.posMax);
        checkpoint.sizeBytes = event.bytes;
        checkpoint.slotId = id;
        checkpoint.taskId = event.task;
        QList<Checkpoint> &ring = chosen.content.ring;
        const auto at = std::upper_bound(ring.begin(), ring.end(), checkpoint, [](const Checkpoint &a, const Checkpoint &b) { return a.position < b.position; });
        ring.insert(at, checkpoint);
        happen(QStringLiteral("checkpoint-created"), {{QStringLiteral("slot"), id}, {QStringLiteral("task"), event.task}, {QStringLiteral("position"), event.value}});
        break;
    }
    case Kind::CheckpointErased:
    case Kind::CheckpointThinned:
    case Kind::CheckpointSuperseded: {
        m_facts.checkpointSeen = true;
        Slot &chosen = slot(id);
        forget(chosen, static_cast<int>(event.value));
        if (event.kind == Kind::CheckpointErased) {
            LogTask *task = running(id);
            if (task && task->task == event.task)
                ++task->erased;
            happen(QStringLiteral("checkpoint-erased"),
                   {{QStringLiteral("slot"), id}, {QStringLiteral("task"), event.task}, {QStringLiteral("position"), event.value}, {QStringLiteral("why"), QStringLiteral("rewind")}});
        } else {
            happen(QStringLiteral("checkpoint-erased"),
                   {{QStringLiteral("slot"), id}, {QStringLiteral("task"), event.task}, {QStringLiteral("position"), event.value},
                    {QStringLiteral("why"), event.kind == Kind::CheckpointThinned ? QStringLiteral("thinned") : QStringLiteral("superseded")}});
        }
        break;
    }
    case Kind::CheckpointRestored: {
        m_facts.checkpointSeen = true;
        if (LogTask *task = running(id); task && task->task == event.task)
            task->restored = static_cast<int>(event.value);
        happen(QStringLiteral("checkpoint-restored"), {{QStringLiteral("slot"), id}, {QStringLiteral("task"), event.task}, {QStringLiteral("position"), event.value}});
        break;
    }
    case Kind::FullReprocessing:
        if (LogTask *task = running(id); task && task->task == event.task)
            task->forcedFull = true;
        happen(QStringLiteral("full-reprocessing"), {{QStringLiteral("slot"), id}, {QStringLiteral("task"), event.task}});
        break;
    case Kind::ChunkMoved:
        if (LogTask *task = running(id); task && task->task == event.task)
            task->movedTokens += static_cast<int>(event.value);
        happen(QStringLiteral("chunk-shifted"), {{QStringLiteral("slot"), id}, {QStringLiteral("task"), event.task}, {QStringLiteral("tokens"), event.value},
                                                 {QStringLiteral("from"), event.posMin}, {QStringLiteral("to"), event.second}});
        break;
    case Kind::PromptTiming:
        if (LogTask *task = running(id); task && task->task == event.task) {
            task->prefilled = static_cast<int>(event.value);
            task->promptMs = std::isnan(event.ms) ? -1 : event.ms;
            // Where "cached n_tokens" is not printed (verbosity 3), the rest was reused.
            if (task->reused < 0 && task->promptTokens >= 0)
                task->reused = task->promptTokens - task->prefilled;
        }
        break;
    case Kind::Released: {
        Slot &chosen = slot(id);
        chosen.busy = false;
        chosen.content.length = static_cast<int>(event.value);
        chosen.content.task = event.task;
        chosen.content.epoch = m_epoch;
        chosen.lastUsed = ++m_clock;
        if (LogTask *task = running(id); task && task->task == event.task) {
            task->endLength = static_cast<int>(event.value);
            happen(QStringLiteral("task-finished"), {{QStringLiteral("slot"), id}, {QStringLiteral("task"), event.task}, {QStringLiteral("prompt_tokens"), task->promptTokens},
                                                     {QStringLiteral("reused"), task->reused}, {QStringLiteral("prefilled"), task->prefilled}, {QStringLiteral("held"), task->endLength}});
        }
        break;
    }
    case Kind::Cleared: {
        Slot &chosen = slot(id);
        if (event.value > 0)
            happen(QStringLiteral("slot-cleared"), {{QStringLiteral("slot"), id}, {QStringLiteral("tokens"), event.value}, {QStringLiteral("by_task"), m_lastTask}});
        chosen.content = Content();
        break;
    }
    case Kind::SlotSaved:
        if (m_files.size() < 1024)
            m_files.insert(event.text, slot(id).content);
        break;
    case Kind::SlotRestored: {
        Slot &chosen = slot(id);
        if (const auto it = m_files.constFind(event.text); it != m_files.cend()) {
            chosen.content = *it;
        } else {
            chosen.content = Content();
            chosen.content.ringKnown = event.value == 0;
        }
        for (Checkpoint &checkpoint : chosen.content.ring)
            checkpoint.slotId = id;
        break;
    }
    case Kind::PromptSaved: {
        if (m_saving < 0)
            break;
        Content saved = slot(m_saving).content;
        saved.length = static_cast<int>(event.value);
        m_cache.append(saved);
        m_justSaved = true;
        happen(QStringLiteral("prompt-saved"), {{QStringLiteral("slot"), m_saving}, {QStringLiteral("tokens"), event.value}});
        break;
    }
    case Kind::PromptAlreadySaved:
        if (m_justSaved && !m_cache.isEmpty())
            m_cache.removeLast();
        m_justSaved = false;
        break;
    case Kind::PromptObsolete:
        for (qsizetype i = 0; i + (m_justSaved ? 1 : 0) < m_cache.size(); ++i) {
            if (m_cache.at(i).length == event.value) {
                m_cache.removeAt(i);
                break;
            }
        }
        break;
    case Kind::PromptDropped:
        if (m_cache.size() > (m_justSaved ? 1 : 0))
            m_cache.removeFirst();
        break;
    case Kind::PromptOffered:
        m_justSaved = false;
        m_offered.append({event.keep, event.similarity});
        break;
    case Kind::PromptFound: {
        qsizetype found = -1;
        for (qsizetype i = 0; i < m_offered.size(); ++i) {
            if (m_offered.at(i).first == event.keep && m_offered.at(i).second == event.similarity)
                found = i;
        }
        m_offered.clear();
        if (m_saving < 0)
            break;
        Slot &chosen = slot(m_saving);
        chosen.pending.loadedFromHostCache = true;
        if (found >= 0 && found < m_cache.size()) {
            chosen.content = m_cache.takeAt(found);
            chosen.content.bytes = -1;
            for (Checkpoint &checkpoint : chosen.content.ring)
                checkpoint.slotId = m_saving;
        } else {
            chosen.content = Content();
            chosen.content.ringKnown = false;
        }
        chosen.pending.loadedLength = chosen.content.length;
        happen(QStringLiteral("prompt-loaded"), {{QStringLiteral("slot"), m_saving}, {QStringLiteral("tokens"), chosen.content.length}});
        break;
    }
    case Kind::CacheState:
        m_offered.clear();
        m_justSaved = false;
        m_hostCacheBytes = event.bytes;
        if (event.second >= 0)
            m_facts.hostCacheLimitBytes = event.second * 1024 * 1024;
        m_listing.clear();
        m_listingLeft = static_cast<int>(std::clamp<qint64>(event.value, 0, 100'000));
        if (m_listingLeft == 0)
            m_cache.clear();
        break;
    case Kind::CacheEntry: {
        if (m_listingLeft <= 0)
            break;
        Content listed;
        listed.length = static_cast<int>(event.value);
        listed.bytes = event.bytes;
        listed.ringKnown = event.second == 0;
        m_listing.append(listed);
        if (--m_listingLeft == 0)
            reconcile();
        break;
    }
    }
}

QList<HeldState> ServerLogModel::states() const
{
    QList<HeldState> states;
    const bool readable = m_facts.ringReadable();
    for (const Slot &slot : m_slots) {
        HeldState state;
        state.place = HeldState::Place::Slot;
        state.slotId = slot.id;
        state.length = slot.content.length;
        state.checkpoints = slot.content.ring;
        state.checkpointsKnown = readable && slot.content.ringKnown;
        state.verified = true;
        state.busy = slot.busy;
        state.taskId = slot.content.task;
        state.lastUsed = slot.lastUsed;
        state.epoch = m_epoch;
        states.append(state);
    }
    for (const Content &entry : m_cache) {
        HeldState state;
        state.place = HeldState::Place::HostCache;
        state.length = entry.length;
        state.checkpoints = entry.ring;
        state.checkpointsKnown = readable && entry.ringKnown;
        state.verified = true;
        state.taskId = entry.task;
        state.sizeBytes = entry.bytes;
        state.epoch = m_epoch;
        states.append(state);
    }
    return states;
}

} // namespace kerf
