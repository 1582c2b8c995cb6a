// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/logmodel.h"

#include <algorithm>
#include <cmath>

namespace kerf {

namespace {
constexpr qsizetype kMostTasks = 512;
constexpr qsizetype kMostHappenings = 4096;
constexpr qsizetype kMostFiles = 1024;
constexpr int kMostSlots = 4096;
constexpr int kMostEntries = 100'000;
constexpr double kPrinted = 0.00051; ///< f_keep and f_sim are printed with three digits
using Kind = LogEvent::Kind;

int toInt(qint64 value) { return static_cast<int>(std::clamp<qint64>(value, -1, 2'000'000'000)); }

QString bareName(const QString &path) { return path.mid(path.lastIndexOf(QLatin1Char('/')) + 1); }

QString wordFor(Kind selection)
{
    return selection == Kind::SelectedByLcp ? QStringLiteral("lcp")
        : selection == Kind::SelectedByLru  ? QStringLiteral("lru")
                                            : QStringLiteral("id");
}
} // namespace

MemoryKind LogFacts::memory() const
{
    if (recurrent || checkpointSeen || forcedFullSeen || (slidingWindow > 0 && !fullWindow))
        return modelLoaded || checkpointSeen || forcedFullSeen || recurrent ? MemoryKind::Checkpointed
                                                                            : MemoryKind::Unknown;
    if (!architecture.isEmpty() && modelLoaded && (slidingWindow == 0 || fullWindow))
        return MemoryKind::FullAttention;
    return MemoryKind::Unknown;
}

QString LogFacts::memoryReason() const
{
    const QString model =
        architecture.isEmpty() ? QStringLiteral("the model") : QStringLiteral("architecture %1").arg(architecture);
    switch (memory()) {
    case MemoryKind::Unknown:
        return {};
    case MemoryKind::FullAttention:
        return fullWindow ? QStringLiteral("%1 with its window kept whole (--swa-full)").arg(model)
                          : QStringLiteral("%1, no window, no recurrent memory").arg(model);
    case MemoryKind::Checkpointed:
        break;
    }
    if (recurrent)
        return QStringLiteral("%1 with recurrent memory").arg(model);
    if (slidingWindow > 0 && !fullWindow)
        return QStringLiteral("%1, sliding window %2").arg(model).arg(slidingWindow);
    return checkpointSeen ? QStringLiteral("context checkpoints were made")
                          : QStringLiteral("the server had to process a prompt again for lack of cache data");
}

ServerLogModel::Slot &ServerLogModel::slot(int id)
{
    for (Slot &slot : m_slots) {
        if (slot.id == id)
            return slot;
    }
    Slot fresh;
    fresh.id = id;
    fresh.content.ringKnown = m_complete;
    fresh.content.verified = m_complete;
    const auto at = std::lower_bound(m_slots.begin(), m_slots.end(), id,
                                     [](const Slot &slot, int value) { return slot.id < value; });
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

LogTask *ServerLogModel::running(const LogEvent &event)
{
    LogTask *task = running(event.slot);
    return task && task->task == event.task ? task : nullptr;
}

LogTask &ServerLogModel::begin(const LogTask &task)
{
    m_sawTasks = true;
    m_tasks.append(task);
    if (m_tasks.size() > kMostTasks)
        m_tasks.removeFirst();
    return m_tasks.last();
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
        if (it->epoch == m_epoch && it->promptTokens == promptTokens && (reused < 0 || it->reused == reused)
            && (slotId < 0 || it->slot == slotId))
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

QList<ServerLogModel::Happening> ServerLogModel::takeHappenings() { return std::exchange(m_happenings, {}); }

/// Nothing of the old life is held any more; save files stay.
void ServerLogModel::newLife()
{
    if (m_begun) {
        ++m_epoch;
        happen(QStringLiteral("server-restarted"), {{QStringLiteral("epoch"), m_epoch}});
    }
    m_sawTasks = false;
    m_complete = false;
    m_otherModel = false;
    m_slots.clear();
    m_cache.clear();
    m_offered.clear();
    m_listing.clear();
    m_listingLeft = 0;
    m_hostCacheBytes = -1;
    m_lastTask = -1;
    m_saving = -1;
    m_justSaved = false;
    m_loading = -1;
}

void ServerLogModel::forget(Slot &slot, int position)
{
    slot.content.ring.removeIf([position](const Checkpoint &checkpoint) { return checkpoint.position == position; });
}

/// The server names the length of what a slot holds. Another than ours: something happened that no line told (a restore
/// where there are no checkpoints, lines lost in a rotation), and the content is not the one we thought.
void ServerLogModel::heldNow(Slot &slot, int length)
{
    if (length < 0 || (slot.content.verified && slot.content.length == length))
        return;
    if (!slot.content.verified && slot.content.length == 0 && slot.content.task >= 0) {
        slot.content.length = length; // restored from a file that we know: only its length was missing
        slot.content.verified = true;
        return;
    }
    slot.content = Content();
    slot.content.length = length;
    slot.content.ringKnown = length == 0;
}

/// The entries as the server lists them, by length. What we followed keeps what we know of it. Where two of one length
/// were there and fewer are left, or the lists do not tally, whose prompt it is has become unknown.
void ServerLogModel::matchCache(const QList<int> &lengths)
{
    const QList<Content> before = std::exchange(m_cache, {});
    QList<bool> used(before.size(), false);
    bool inOrder = lengths.size() == before.size();
    for (qsizetype i = 0; inOrder && i < lengths.size(); ++i)
        inOrder = before.at(i).length == lengths.at(i);
    if (inOrder) {
        m_cache = before;
        return;
    }
    QHash<int, int> had;
    QHash<int, int> has;
    for (const Content &entry : before)
        ++had[entry.length];
    for (const int length : lengths)
        ++has[length];
    m_cache.reserve(lengths.size());
    for (const int length : lengths) {
        Content entry;
        entry.length = length;
        entry.ringKnown = false;
        for (qsizetype i = 0; i < before.size(); ++i) {
            if (used.at(i) || before.at(i).length != length)
                continue;
            used[i] = true;
            if (had.value(length) == has.value(length))
                entry = before.at(i);
            break;
        }
        m_cache.append(entry);
    }
}

void ServerLogModel::load(Slot &slot, const Content &content)
{
    slot.content = content;
    slot.content.bytes = -1;
    for (Checkpoint &checkpoint : slot.content.ring)
        checkpoint.slotId = slot.id;
    slot.pending.loadedFromHostCache = true;
    slot.pending.loadedLength = content.length;
}

/// The listing of the host cache is the authority.
void ServerLogModel::reconcile()
{
    QList<int> lengths;
    lengths.reserve(m_listing.size());
    for (const Listed &listed : std::as_const(m_listing))
        lengths.append(listed.length);
    if (m_loading >= 0 && m_cache.size() == lengths.size() + 1) {
        // An older build: the one that is missing is the one that was loaded.
        qsizetype missing = 0;
        while (missing < lengths.size() && m_cache.at(missing).length == lengths.at(missing))
            ++missing;
        // Beside one of its own length it could be either.
        bool tallies = missing == 0 || m_cache.at(missing - 1).length != m_cache.at(missing).length;
        for (qsizetype i = missing; tallies && i < lengths.size(); ++i)
            tallies = m_cache.at(i + 1).length == lengths.at(i);
        if (tallies) {
            load(slot(m_loading), m_cache.takeAt(missing));
        }
    }
    m_loading = -1;
    matchCache(lengths);
    for (qsizetype i = 0; i < m_cache.size(); ++i) {
        Content &entry = m_cache[i];
        const Listed &listed = m_listing.at(i);
        entry.bytes = listed.bytes;
        if (listed.checkpoints == 0)
            entry.ring.clear();
        entry.ringKnown = entry.ring.size() == listed.checkpoints && (entry.ringKnown || listed.checkpoints == 0);
    }
    m_listing.clear();
}

void ServerLogModel::noteSaved(int slotId, const QString &file, int tokens)
{
    if (file.isEmpty() || (m_files.size() >= kMostFiles && !m_files.contains(bareName(file))))
        return;
    Slot &from = slot(slotId);
    heldNow(from, tokens);
    m_files.insert(bareName(file), from.content);
}

void ServerLogModel::noteRestored(int slotId, int tokens, const QString &file)
{
    Slot &into = slot(slotId);
    const auto it = file.isEmpty() ? m_files.cend() : m_files.constFind(bareName(file));
    if (it != m_files.cend() && it->length == tokens) {
        into.content = *it;
        for (Checkpoint &checkpoint : into.content.ring)
            checkpoint.slotId = slotId;
        return;
    }
    if (std::exchange(into.restoredByLine, false)) {
        heldNow(into, tokens);
        return;
    }
    into.content = Content();
    into.content.length = tokens;
    into.content.ringKnown = tokens == 0;
}

void ServerLogModel::noteGap()
{
    m_complete = false;
    for (Slot &at : m_slots) {
        at.busy = false; // its end may be among them
        at.saving = false;
        at.reusedSeen = false;
        at.pending = LogTask();
        at.content.task = -1;
        at.content.ring.clear();
        at.content.ringKnown = false;
        at.content.verified = false;
    }
    for (Content &entry : m_cache) {
        entry.ring.clear();
        entry.ringKnown = false;
        entry.verified = false;
    }
    m_saving = -1;
    m_justSaved = false;
    m_loading = -1;
    m_offered.clear();
    m_listing.clear();
    m_listingLeft = 0;
}

/// One log may hold the lines of several servers: a router passes on those of its children. One is followed.
bool ServerLogModel::foreign(const LogEvent &event)
{
    if (event.child < 0)
        return false;
    if (m_child < 0)
        m_child = event.child;
    if (event.child == m_child)
        return false;
    m_facts.severalModels = true;
    return true;
}

void ServerLogModel::feed(QByteArrayView line) { feed(parseServerLogLine(line)); }

void ServerLogModel::feed(const LogEvent &event)
{
    ++m_lines;
    if (event.kind == Kind::Other || foreign(event))
        return;
    if (event.kind == Kind::NotUnderstood) {
        ++m_notUnderstood;
        return;
    }
    if (event.slot >= kMostSlots)
        return;
    if (m_listingLeft > 0 && event.kind != Kind::CacheEntry && event.kind != Kind::CacheState) {
        m_listingLeft = 0; // cut off: the listing is not complete
        m_listing.clear();
        m_loading = -1;
    }
    if (event.slot >= 0) {
        m_facts.slotSeen = true;
        apply(event);
    } else if (event.kind >= Kind::PromptSaved && event.kind <= Kind::PromptNotSaved) {
        applyToCache(event);
    } else {
        applyToServer(event);
    }
    m_begun = true;
}

void ServerLogModel::applyToServer(const LogEvent &event)
{
    switch (event.kind) {
    case Kind::ServerStart:
        newLife();
        m_facts = LogFacts();
        break;
    case Kind::Build:
        if (m_sawTasks) { // older builds begin with it
            newLife();
            m_facts = LogFacts();
        }
        m_facts.build = event.value;
        break;
    case Kind::Verbosity:
        m_facts.verbosity = toInt(event.value);
        break;
    case Kind::ModelLoading:
        m_facts.modelPath = QString::fromUtf8(event.text);
        break;
    case Kind::ModelLoaded:
        m_facts.modelLoaded = true;
        break;
    case Kind::Architecture: {
        // A draft model prints its data behind the model's own: they say nothing of the slots.
        const QString name = QString::fromUtf8(event.text);
        if (m_facts.architecture.isEmpty() || m_facts.modelLoaded) {
            m_facts.architecture = name;
            m_facts.slidingWindow = -1;
            m_facts.windowCells = -1;
            m_facts.recurrent = false;
            m_facts.fullWindow = false;
            m_facts.modelLoaded = false;
        }
        m_otherModel = name != m_facts.architecture;
        break;
    }
    case Kind::SlidingWindow:
        if (!m_otherModel)
            m_facts.slidingWindow = std::max(m_facts.slidingWindow, toInt(event.value));
        break;
    case Kind::RecurrentMemory:
        if (!m_otherModel)
            m_facts.recurrent = true;
        break;
    case Kind::FullWindow:
        if (!m_otherModel)
            m_facts.fullWindow = true;
        break;
    case Kind::WindowCells:
        if (!m_otherModel)
            m_facts.windowCells = toInt(event.value);
        break;
    case Kind::HostCacheLimit:
        m_facts.hostCacheUnlimited = event.flag;
        m_facts.hostCacheLimitBytes = event.flag ? -1 : event.value * 1024 * 1024;
        break;
    case Kind::CheckpointsEnabled:
        m_facts.checkpointsMax = toInt(event.value);
        m_facts.checkpointsMinStep = toInt(event.second);
        break;
    case Kind::IdleSlotsCleared:
        m_facts.idleSlotsCleared = true;
        break;
    case Kind::SlotsInit:
        if (m_sawTasks)
            newLife(); // it slept and woke, or its first lines are lost: either way nothing is held
        m_slots.clear();
        m_cache.clear();
        m_hostCacheBytes = 0; // nothing is saved yet
        m_facts.slots = toInt(event.value);
        m_facts.contextSize = toInt(event.second);
        m_facts.unified = event.flag;
        m_facts.modelLoaded = true;
        m_complete = true;
        for (int i = 0; i < std::min<qint64>(event.value, kMostSlots); ++i)
            slot(i);
        break;
    case Kind::Listening:
        m_facts.url = QString::fromUtf8(event.text);
        m_facts.modelLoaded = m_facts.modelLoaded || !m_facts.architecture.isEmpty();
        happen(QStringLiteral("server-up"), {{QStringLiteral("url"), m_facts.url}});
        break;
    case Kind::ShuttingDown:
        happen(QStringLiteral("server-down"), {{QStringLiteral("epoch"), m_epoch}});
        break;
    case Kind::ChildEnded:
        if (!m_facts.severalModels) { // which one it was is said by name only
            m_child = -1;
            newLife();
            m_facts = LogFacts();
        }
        break;
    default:
        break;
    }
}

/// The entry that the server takes: each must beat the best before it in both; the slot's own comes first, and is
/// beaten.
qsizetype ServerLogModel::bestOffer(double keep, double similarity) const
{
    const auto matches = [&](const Offer &offer) {
        return std::abs(offer.keep - keep) < kPrinted && std::abs(offer.similarity - similarity) < kPrinted;
    };
    for (const double least : {0.0, 0.25}) { // builds differ in whether they leave out what keeps little
        qsizetype best = -1;
        double bestKeep = -1;
        int bestLcp = -1;
        for (qsizetype i = 0; i < m_offered.size(); ++i) {
            const Offer &offer = m_offered.at(i);
            const double offered = offer.length > 0 ? double(offer.lcp) / offer.length : 0;
            if (offered < least || offered <= bestKeep || offer.lcp <= bestLcp)
                continue;
            best = i;
            bestKeep = offered;
            bestLcp = offer.lcp;
        }
        if (best >= 0 && matches(m_offered.at(best)))
            return best;
    }
    for (qsizetype i = 0; i < m_offered.size(); ++i) {
        if (matches(m_offered.at(i)))
            return i;
    }
    return -1;
}

void ServerLogModel::applyToCache(const LogEvent &event)
{
    switch (event.kind) {
    case Kind::PromptSaved: {
        if (m_saving < 0)
            break;
        Slot &from = slot(m_saving);
        heldNow(from, toInt(event.value));
        m_cache.append(from.content);
        m_justSaved = true;
        happen(QStringLiteral("prompt-saved"),
               {{QStringLiteral("slot"), m_saving}, {QStringLiteral("tokens"), event.value}});
        break;
    }
    case Kind::PromptAlreadySaved:
    case Kind::PromptNotSaved:
        if (m_justSaved && !m_cache.isEmpty()) {
            m_cache.removeLast();
            if (!m_happenings.isEmpty() && m_happenings.constLast().kind == QLatin1String("prompt-saved"))
                m_happenings.removeLast();
        }
        m_justSaved = false;
        break;
    case Kind::PromptObsolete: {
        // Those before the one just saved. Two of one length, and which of them it was is not said: both become
        // unknown.
        const qsizetype end = m_cache.size() - (m_justSaved ? 1 : 0);
        qsizetype found = -1;
        for (qsizetype i = 0; i < end; ++i) {
            if (m_cache.at(i).length != event.value)
                continue;
            if (found < 0) {
                found = i;
            } else if (m_cache.at(i).task != m_cache.at(found).task || m_cache.at(i).ring != m_cache.at(found).ring) {
                m_cache[i].task = -1;
                m_cache[i].ring.clear();
                m_cache[i].ringKnown = false;
            }
        }
        if (found >= 0)
            m_cache.removeAt(found);
        break;
    }
    case Kind::PromptDropped:
        if (m_cache.size() > (m_justSaved ? 1 : 0))
            m_cache.removeFirst();
        break;
    case Kind::PromptSearch:
        m_justSaved = false;
        m_offered.clear();
        break;
    case Kind::PromptOffered:
        m_justSaved = false;
        if (m_offered.size() < kMostEntries)
            m_offered.append({toInt(event.value), toInt(event.second), event.keep, event.similarity});
        break;
    case Kind::PromptFound: {
        const QList<Offer> offered = m_offered;
        const qsizetype found = bestOffer(event.keep, event.similarity);
        m_offered.clear();
        if (m_saving < 0)
            break;
        Slot &into = slot(m_saving);
        if (found >= 0) {
            QList<int> lengths;
            lengths.reserve(offered.size());
            for (const Offer &offer : offered)
                lengths.append(offer.length);
            matchCache(lengths);
            load(into, m_cache.takeAt(found));
            into.pending.lcp = offered.at(found).lcp;
        } else {
            // Older builds do not list the entries. The next listing tells which one is gone.
            Content unknown;
            unknown.ringKnown = false;
            unknown.verified = false;
            load(into, unknown);
            m_loading = m_saving;
        }
        happen(
            QStringLiteral("prompt-loaded"),
            {{QStringLiteral("slot"), m_saving},
             {QStringLiteral("tokens"), found >= 0 ? QJsonValue(into.content.length) : QJsonValue(QJsonValue::Null)}});
        break;
    }
    case Kind::CacheState:
        m_offered.clear();
        m_justSaved = false;
        m_hostCacheBytes = event.bytes;
        if (event.second > 0)
            m_facts.hostCacheLimitBytes = event.second * 1024 * 1024;
        else if (event.second == 0)
            m_facts.hostCacheUnlimited = true; // a cache that is off prints no state
        m_listing.clear();
        m_listingLeft = static_cast<int>(std::clamp<qint64>(event.value, 0, kMostEntries));
        if (m_listingLeft == 0)
            reconcile();
        break;
    case Kind::CacheEntry:
        if (m_listingLeft <= 0)
            break;
        m_listing.append({toInt(event.value), toInt(event.second), event.bytes});
        if (--m_listingLeft == 0)
            reconcile();
        break;
    default:
        break;
    }
}

void ServerLogModel::apply(const LogEvent &event)
{
    const int id = event.slot;
    Slot &at = slot(id);
    const auto who = [&event] {
        return QJsonObject{{QStringLiteral("slot"), event.slot}, {QStringLiteral("task"), event.task}};
    };
    const auto with = [&who](const QString &key, const QJsonValue &value) {
        QJsonObject details = who();
        details.insert(key, value);
        return details;
    };
    switch (event.kind) {
    case Kind::Similarity:
        at.pending.lcp = toInt(event.value);
        at.pending.slotWasEmpty = false;
        if (event.value > at.content.length) { // it holds more than we know of
            at.content = Content();
            at.content.length = toInt(event.value);
            at.content.verified = false;
            at.content.ringKnown = false;
        }
        break;
    case Kind::SlotEmpty:
        heldNow(at, 0);
        at.pending.slotWasEmpty = true;
        break;
    case Kind::SelectedByLcp:
    case Kind::SelectedByLru:
    case Kind::SelectedById:
        at.pending.selectedBy = wordFor(event.kind);
        at.pending.loadedFromHostCache = false;
        if (event.kind == Kind::SelectedByLru) {
            heldNow(at, toInt(event.value));
        } else if (event.kind == Kind::SelectedByLcp && event.keep > 0 && at.pending.lcp > 0
                   && std::abs(at.pending.lcp - event.keep * at.content.length) > 1 + kPrinted * at.content.length) {
            at.content = Content();
            at.content.length = static_cast<int>(std::lround(at.pending.lcp / event.keep));
            at.content.verified = false; // three digits of f_keep are not enough for the length
            at.content.ringKnown = false;
        }
        at.pending.slotWasEmpty = at.content.verified && at.content.length == 0;
        m_saving = id;
        break;
    case Kind::SavingIdleSlot:
        m_saving = id;
        at.saving = true;
        break;
    case Kind::PromptLoadFailed:
        at.pending.loadedFromHostCache = false;
        break;
    case Kind::Launched: {
        LogTask task = at.pending;
        for (Slot &other : m_slots)
            other.pending = LogTask();
        if (task.selectedBy.isEmpty())
            task.slotWasEmpty = at.content.verified && at.content.length == 0;
        if (task.slotWasEmpty)
            task.emptiedBy = at.emptiedBy;
        task.epoch = m_epoch;
        task.task = event.task;
        task.slot = id;
        begin(task);
        at.busy = true;
        at.lastUsed = ++m_clock;
        at.reusedSeen = false;
        at.restoredByLine = false;
        m_lastTask = std::max(m_lastTask, event.task);
        happen(QStringLiteral("task-started"), who());
        break;
    }
    case Kind::NewPrompt: {
        LogTask *task = running(event);
        if (!task) {
            // Lower verbosity, or the log begins here: there was no launch line.
            LogTask fresh;
            fresh.epoch = m_epoch;
            fresh.task = event.task;
            fresh.slot = id;
            task = &begin(fresh);
            at.lastUsed = ++m_clock;
            m_lastTask = std::max(m_lastTask, event.task);
        }
        task->promptTokens = toInt(event.value);
        at.busy = true;
        at.reusedSeen = false;
        break;
    }
    case Kind::Cached:
        m_facts.reuseSeen = true;
        if (!at.reusedSeen) {
            at.reusedSeen = true;
            if (LogTask *task = running(event))
                task->reused = toInt(event.value);
            at.content.task = event.task;
            at.content.epoch = m_epoch;
        }
        at.content.length = std::max(0, toInt(event.value));
        at.content.verified = true;
        break;
    case Kind::Progress:
        if (event.value > 0 && at.reusedSeen)
            at.content.length = toInt(event.value);
        break;
    case Kind::CheckpointCreated: {
        m_facts.checkpointSeen = true;
        m_facts.reuseSeen = true;
        if (event.value <= 0)
            break;
        forget(at, toInt(event.value));
        Checkpoint checkpoint;
        checkpoint.position = toInt(event.value);
        checkpoint.posMin = std::max(0, event.posMin);
        checkpoint.posMax = std::max(0, event.posMax);
        checkpoint.sizeBytes = event.bytes;
        checkpoint.slotId = id;
        checkpoint.taskId = event.task;
        QList<Checkpoint> &ring = at.content.ring;
        ring.insert(std::upper_bound(ring.begin(), ring.end(), checkpoint,
                                     [](const Checkpoint &a, const Checkpoint &b) { return a.position < b.position; }),
                    checkpoint);
        if (event.second == 1)
            ring = {checkpoint};
        // "4 of 16": the server counts its ring, we ours.
        if (event.second > 0)
            at.content.ringKnown = ring.size() == event.second;
        happen(QStringLiteral("checkpoint-created"), with(QStringLiteral("position"), event.value));
        break;
    }
    case Kind::CheckpointErased:
    case Kind::CheckpointThinned:
    case Kind::CheckpointSuperseded: {
        m_facts.checkpointSeen = true;
        forget(at, toInt(event.value));
        if (event.kind == Kind::CheckpointErased) {
            if (LogTask *task = running(event))
                ++task->erased;
        }
        QJsonObject details = with(QStringLiteral("position"), event.value);
        details.insert(QStringLiteral("why"),
                       event.kind == Kind::CheckpointErased        ? QStringLiteral("rewind")
                           : event.kind == Kind::CheckpointThinned ? QStringLiteral("thinned")
                                                                   : QStringLiteral("superseded"));
        happen(QStringLiteral("checkpoint-erased"), details);
        break;
    }
    case Kind::CheckpointRestored:
        m_facts.checkpointSeen = true;
        if (LogTask *task = running(event))
            task->restored = toInt(event.value);
        happen(QStringLiteral("checkpoint-restored"), with(QStringLiteral("position"), event.value));
        break;
    case Kind::FullReprocessing:
        m_facts.forcedFullSeen = true;
        if (LogTask *task = running(event))
            task->forcedFull = true;
        happen(QStringLiteral("full-reprocessing"), who());
        break;
    case Kind::ChunkMoved: {
        if (LogTask *task = running(event))
            task->movedTokens += toInt(event.value);
        QJsonObject details = with(QStringLiteral("tokens"), event.value);
        details.insert(QStringLiteral("from"), event.posMin);
        details.insert(QStringLiteral("to"), event.second);
        happen(QStringLiteral("chunk-shifted"), details);
        break;
    }
    case Kind::ChunkSearch:
        m_facts.chunkReuse = toInt(event.value);
        break;
    case Kind::ChunksUnsupported:
        m_facts.chunksUnsupported = true;
        break;
    case Kind::ContextShifted:
        if (LogTask *task = running(event))
            task->shiftedTokens += std::max(0, toInt(event.value));
        at.content.task = -1; // its middle is gone: no prompt's ids lie at these positions any more
        at.content.ringKnown = at.content.ring.isEmpty() && at.content.ringKnown;
        break;
    case Kind::PromptTiming:
        if (LogTask *task = running(event)) {
            task->prefilled = toInt(event.value);
            task->promptMs = event.ms;
            // Where "cached n_tokens" is not printed (verbosity 3), the rest was reused.
            if (task->reused < 0 && task->promptTokens >= 0)
                task->reused = task->promptTokens - task->prefilled;
        }
        break;
    case Kind::EvalTiming:
        if (LogTask *task = running(event)) {
            task->generated = toInt(event.value);
            task->generatedMs = event.ms;
        }
        break;
    case Kind::Released: {
        LogTask *task = running(event);
        at.busy = false;
        at.reusedSeen = false;
        if (event.value >= 0) {
            at.content.length = toInt(event.value);
            at.content.verified = true;
        }
        at.content.task = task && task->shiftedTokens > 0 ? -1 : event.task;
        at.content.epoch = m_epoch;
        at.lastUsed = ++m_clock;
        if (task) {
            task->endLength = std::max(0, toInt(event.value));
            QJsonObject details = who();
            details.insert(QStringLiteral("prompt_tokens"), task->promptTokens);
            details.insert(QStringLiteral("reused"), task->reused);
            details.insert(QStringLiteral("prefilled"), task->prefilled);
            details.insert(QStringLiteral("held"), task->endLength);
            happen(QStringLiteral("task-finished"), details);
        }
        break;
    }
    case Kind::Cleared: {
        const qint64 tokens = event.value >= 0 ? event.value : at.content.length;
        const bool idle = std::exchange(at.saving, false);
        if (tokens > 0) {
            QJsonObject details{{QStringLiteral("slot"), id}, {QStringLiteral("tokens"), tokens}};
            details.insert(QStringLiteral("why"),
                           idle                  ? QStringLiteral("idle")
                               : event.task >= 0 ? QStringLiteral("task")
                                                 : QStringLiteral("erased"));
            details.insert(QStringLiteral("by_task"),
                           idle                  ? QJsonValue(m_lastTask)
                               : event.task >= 0 ? QJsonValue(event.task)
                                                 : QJsonValue(QJsonValue::Null));
            happen(QStringLiteral("slot-cleared"), details);
            at.emptiedBy = idle ? m_lastTask : event.task;
        }
        at.content = Content();
        break;
    }
    case Kind::SlotSaved:
        if (const QString name = bareName(QString::fromUtf8(event.text));
            m_files.size() < kMostFiles || m_files.contains(name))
            m_files.insert(name, at.content);
        break;
    case Kind::SlotRestored: {
        const auto it = m_files.constFind(bareName(QString::fromUtf8(event.text)));
        if (it != m_files.cend() && (event.value == it->ring.size() || event.value < 0)) {
            at.content = *it;
        } else {
            at.content = Content();
            if (it != m_files.cend())
                at.content.task = it->task, at.content.epoch = it->epoch;
            at.content.verified = false; // how much it holds is in no line
            at.content.ringKnown = event.value == 0;
        }
        at.restoredByLine = true;
        for (Checkpoint &checkpoint : at.content.ring)
            checkpoint.slotId = id;
        break;
    }
    default:
        break;
    }
}

QList<HeldState> ServerLogModel::states() const
{
    QList<HeldState> states;
    const bool readable = m_facts.ringReadable();
    const auto stateOf = [&](const Content &content) {
        HeldState state;
        state.length = content.length;
        state.checkpoints = content.ring;
        state.checkpointsKnown = readable && content.ringKnown;
        state.verified = content.verified;
        state.taskId = content.epoch == m_epoch ? content.task : -1;
        state.sizeBytes = content.bytes;
        state.epoch = m_epoch;
        return state;
    };
    for (const Slot &slot : m_slots) {
        HeldState state = stateOf(slot.content);
        state.place = HeldState::Place::Slot;
        state.slotId = slot.id;
        state.busy = slot.busy;
        state.lastUsed = slot.lastUsed;
        states.append(state);
    }
    for (const Content &entry : m_cache) {
        HeldState state = stateOf(entry);
        state.place = HeldState::Place::HostCache;
        for (Checkpoint &checkpoint : state.checkpoints)
            checkpoint.slotId = -1;
        states.append(state);
    }
    return states;
}

QList<ServerLogModel::ContentKey> ServerLogModel::contentKeys() const
{
    QList<ContentKey> keys;
    for (const Slot &slot : m_slots)
        keys.append({slot.content.epoch, slot.content.task});
    for (const Content &entry : m_cache)
        keys.append({entry.epoch, entry.task});
    return keys;
}

} // namespace kerf
