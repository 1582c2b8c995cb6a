// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/backend/backend.h"
#include "core/llama/logmodel.h"

namespace kerf {

/// A slot as GET /slots tells it.
struct SlotReading {
    int id = -1;
    int contextSize = 0;
    bool busy = false;
    qint64 task = -1;       ///< id_task; -1 = it has not run yet
    int promptTokens = -1;  ///< n_prompt_tokens: all in the slot, generated ones too; -1 = not told
    QList<Checkpoint> checkpoints;
    bool hasRing = false;   ///< the payload holds a ring under one of its known names, even an empty one
};
/// Accepts the ring spellings of SPEC section 3: checkpoints, ctx_checkpoints, context_checkpoints, ckpt; numbers, objects
/// or an index map.
QList<SlotReading> readSlots(const QJsonArray &slots);

/// Which token ids are where: the last 32 prompts that were handed out, with what was generated behind them, attached to
/// what the log (or /slots) says that the server holds. Pure.
class ServerBook
{
public:
    void notePrompt(const QString &sessionId, const TokenList &prompt, int slotId);
    void noteGenerated(const TokenList &prompt, const TokenList &generated);
    /// The prompt ran as `task` on `slotId` in the server's life `epoch`; the newest equal prompt is meant. Tokens held
    /// behind it: `heldLength`, -1 = prompt plus `generated`.
    void noteRan(const MeasuredRequest &request, int epoch, qint64 task, int slotId, int heldLength);
    /// What is held now, with ids where they are known: log states (by epoch and task).
    QList<HeldState> withIds(QList<HeldState> logStates, const ServerLogModel &model) const;
    /// What is held as far as /slots and our own prompts tell: without a log. Prompts that a slot lost are expected in the
    /// host cache while `hostCache`.
    QList<HeldState> fromSlots(const QList<SlotReading> &slots, int epoch, bool hostCache) const;
    void forgetAll() { m_known.clear(); }
    /// LCP of a prompt with what we know to have been on that slot before it; -1 = nothing known.
    /// Whether some prompt that ran in this life ended within `tokens` of a position: a checkpoint may stand there.
    bool endsNear(int position, int tokens, int epoch) const;
    int lcpBefore(const TokenList &prompt, int slotId, int epoch) const;

private:
    struct Known {
        QString sessionId;
        TokenList prompt;
        TokenList generated;
        bool generatedKnown = false;
        int generatedCount = -1; ///< predicted_n; -1 = not told
        int slotId = -1;
        int epoch = -1;          ///< -1 = has not run as far as we know
        qint64 task = -1;
        int heldLength = -1;
        qint64 order = 0;
        TokenList held(int length) const;
        int length() const;
    };
    Known *find(const TokenList &prompt);
    HeldState stateOf(const Known &known) const;

    QList<Known> m_known; ///< oldest first
    qint64 m_order = 0;
};

} // namespace kerf
