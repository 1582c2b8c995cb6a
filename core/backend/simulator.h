// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"
#include "core/cache/reuse.h"

#include <QHash>
#include <QList>
#include <QString>

namespace kerf {

/// What the simulated server is started with; the defaults are llama-server's own, but for one slot and a ring
/// close enough (`-cms 256`) to be of use in a small window.
struct SimulatorConfig {
    MemoryKind memory = MemoryKind::Checkpointed; ///< Unknown is taken as FullAttention
    /// Checkpointed only: 0 = recurrent or hybrid memory; else the window of sliding-window attention (n_swa).
    int slidingWindow = 0;
    int contextSize = 8192; ///< tokens a slot can hold
    int slots = 1;
    bool unifiedKv = false; ///< -kvu: the default of a server started without -np (4 slots)
    /// --cache-idle-slots: when a slot starts a task, every idle one is saved to the host cache, and cleared on a
    /// unified KV.
    bool cacheIdleSlots = true;
    int chunkReuse = 0; ///< --cache-reuse N; full attention only, as no other memory here can shift
    int ringMinStep = 256; ///< -cms
    int ringDepth = 32; ///< -ctxcp
    int batch = 2048; ///< n_batch
    int microBatch = 512; ///< n_ubatch
    double slotSimilarity = 0.10; ///< -sps
    qint64 hostCacheLimitBytes = 8192LL * 1024 * 1024; ///< --cache-ram; 0 = off
    qint64 bytesPerToken = 2048; ///< of a saved prompt
    qint64 bytesPerCheckpoint = 1 << 20;
    PrefillCost cost{0.35, 0.00002, 1, true};
    friend bool operator==(const SimulatorConfig &, const SimulatorConfig &) = default;
};

/// What a request came to, as a server's `timings` would say it.
struct SimulatedReply {
    int slotId = -1;
    qint64 taskId = -1;
    int cacheTokens = 0; ///< cache_n
    int promptTokens = 0; ///< prompt_n: prefilled
    double promptMs = 0;
    TokenList generated; ///< made up, but the same for the same task
    ReusePrediction decision; ///< what predictReuse() said, which is what happened
    friend bool operator==(const SimulatedReply &, const SimulatedReply &) = default;
};

/// Something that happened while a request ran, in order; kinds as Backend::happened().
struct SimulatedEvent {
    QString kind;
    int slotId = -1;
    qint64 taskId = -1;
    int position = 0; ///< checkpoint's n_tokens, prompt's length, or a chunk's length
    friend bool operator==(const SimulatedEvent &, const SimulatedEvent &) = default;
};

/// A llama-server at token level: slots and host prompt cache with their token lists, the ring of each, the
/// server's order of doing things (LLAMA_SERVER.md). What is reused is decided by predictReuse(), the one rule;
/// here its consequences are kept. One request at a time. Plain value: copy it to try something out.
class SimulatedServer
{
public:
    explicit SimulatedServer(SimulatorConfig config = {});

    const SimulatorConfig &config() const { return m_config; }
    ReuseRule rule() const;
    /// Slots first, then the host cache from the oldest; slots that hold nothing are there with length 0.
    QList<HeldState> states() const;

    /// Runs a request that generates `generated` tokens (as with n_predict = generated; the last one sampled is
    /// not in the memory, as on the real server). Errors: InvalidParams for an empty prompt or no such slot,
    /// TooLarge for a prompt that does not fit (the server's exceed_context_size_error).
    Result<SimulatedReply> process(const ReuseRequest &request, int generated = 0);
    /// The same with the generated ids given.
    Result<SimulatedReply> process(const ReuseRequest &request, const TokenList &generated);

    /// The ids that stand behind `prompt` in a slot are these (the harness told them). False: no slot holds it.
    bool setGenerated(const TokenList &prompt, const TokenList &generated);
    /// Marks the slot's state as told by a caller and not run here.
    void setUnverified(int slotId);
    void setOwner(int slotId, const QString &owner);

    /// POST /slots/N?action=...; the files live in memory. Errors: NotFound.
    Result<int> save(int slotId, const QString &fileName);
    Result<int> restore(int slotId, const QString &fileName);
    Result<int> erase(int slotId);
    bool hasFile(const QString &fileName) const { return m_files.contains(fileName); }

    qint64 hostCacheBytes() const;
    /// What happened since it was last asked.
    QList<SimulatedEvent> takeEvents();

private:
    qint64 sizeOf(const HeldState &state) const;
    int windowCells() const;
    bool windowed() const { return m_config.memory == MemoryKind::Checkpointed && m_config.slidingWindow > 0; }
    HeldState *slotAt(int slotId); ///< nullptr = there is none
    void saveToHostCache(const HeldState &slot);
    void clearSlot(HeldState *slot);
    void saveIdleSlots(const HeldState *running);
    void createCheckpoint(HeldState *slot, qint64 task, int position);
    void evaluate(HeldState *slot, qint64 task, int from, int to);
    void note(const char *kind, int slot, qint64 task, int position);

    SimulatorConfig m_config;
    QList<HeldState> m_slots;
    QList<HeldState> m_cache; ///< oldest first
    QHash<QString, HeldState> m_files;
    QList<SimulatedEvent> m_events;
    qint64 m_nextTask = 0;
    qint64 m_clock = 0;
};

} // namespace kerf
