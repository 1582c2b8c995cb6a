// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/backend/backend.h"
#include "core/llama/logmodel.h"

#include <QHash>

namespace kerf {

/// A slot as GET /slots tells it. A slot that a file was restored into before its first task shows nothing of it.
struct SlotReading {
    int id = -1;
    int contextSize = 0;
    bool busy = false;
    qint64 task = -1; ///< id_task; -1 = it has not run yet
    int promptTokens = -1; ///< n_prompt_tokens: all in the slot, generated ones too; -1 = not told
    int processed = -1; ///< n_prompt_tokens_processed of the request that runs; -1 = not told
    int cached = -1; ///< n_prompt_tokens_cache of it
    QList<Checkpoint> checkpoints;
    bool hasRing = false; ///< the payload holds a ring under one of its known names, even an empty one
    friend bool operator==(const SlotReading &, const SlotReading &) = default;
};
/// Accepts the ring spellings of SPEC section 3: checkpoints, ctx_checkpoints, context_checkpoints, ckpt; numbers,
/// objects or an index map.
QList<SlotReading> readSlots(const QJsonArray &slots);

/// Which token ids are where: the last 32 prompts that were handed out, with what was generated behind them, attached
/// to what the log (or /slots) says that the server holds. What belongs to another life of the server (epoch), and what
/// another client's task has replaced, is never attached. Pure.
class ServerBook
{
public:
    void notePrompt(const QString &sessionId, const TokenList &prompt, int slotId);
    void noteGenerated(const TokenList &prompt, const TokenList &generated);
    /// The prompt ran as `task` (-1 = not known which) on `slotId` in the server's life `epoch`; the newest equal
    /// prompt is meant. Tokens held at its end: `heldLength`, -1 = not told.
    void noteRan(const MeasuredRequest &request, int epoch, qint64 task, int slotId, int heldLength);
    /// Slot files and erasures change what a slot holds without a task, and /slots does not show all of it. `slotTask`
    /// is the slot's id_task at that time: the note holds until that rises.
    void noteSaved(int slotId, int epoch, const QString &file, int tokens);
    void noteRestored(int slotId, int epoch, qint64 slotTask, const QString &file, int tokens);
    void noteErased(int slotId, int epoch, qint64 slotTask);

    /// What is held as the log tells, with ids where they are known, by (epoch, task). A prompt whose timings did not
    /// come yet is recognised by its size, and that state is not verified.
    QList<HeldState> withIds(QList<HeldState> logStates, const ServerLogModel &model) const;
    /// What is held as far as /slots and our own prompts tell: without a log. Prompts that a slot lost are expected in
    /// the host cache while `hostCache` (not verified). Tokens stay empty where only the length is known.
    QList<HeldState> fromSlots(const QList<SlotReading> &slots, int epoch, bool hostCache) const;

    /// What a request met, by our own book; called before noteRan. lcp -1 = nothing is known of that slot.
    struct Met {
        int lcp = -1;
        int heldLength = 0;
        qint64 task = -1; ///< the task that the slot ran last, as far as we know
        QList<int> promptEnds; ///< sizes of our earlier prompts and their replies
        bool isRival(int reused) const; ///< another prompt of ours has about this much in common, too
        QList<int> otherLcps;
    };
    Met metBy(const TokenList &prompt, int slotId, int epoch) const;
    int size() const { return static_cast<int>(m_known.size()); }

private:
    struct Known {
        QString sessionId;
        TokenList prompt;
        TokenList generated;
        bool generatedKnown = false;
        int generatedCount = -1; ///< predicted_n; -1 = not told
        int slotId = -1;
        int epoch = -1; ///< -1 = has not run as far as we know
        qint64 task = -1;
        int reused = -1; ///< cache_n
        int heldLength = -1;
        qint64 order = 0;
        mutable qint64 seen = 0; ///< the last pass of withIds() that found it held somewhere
        TokenList held(int length) const; ///< known ids of what it left behind, at most `length` of them
        int length() const;
    };
    struct Content {
        int epoch = -1;
        qint64 slotTask = -1;
        int length = 0;
        TokenList tokens;
        QString sessionId;
    };
    mutable qint64 m_pass = 0; ///< of withIds()
    Known *find(const TokenList &prompt);
    void trim();
    const Known *ranAs(int epoch, qint64 task) const;

    QList<Known> m_known; ///< oldest first
    QHash<int, Content> m_placed; ///< by slot: restored or erased
    QHash<QString, Content> m_files; ///< what was saved under a name
    qint64 m_order = 0;
};

} // namespace kerf
