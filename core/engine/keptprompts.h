// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/engine/session.h"

#include <QJsonArray>

namespace kerf {

/// What each stretch of a rendered prompt is: [{part, seq, role, tier, begin, end}], as on the wire of context.prompt.
QJsonArray promptParts(const QList<Episode> &episodes, const LivePrompt &live);
/// The stretches of `parts` that lie in the first `tokens` tokens; the last one is cut there.
QJsonArray partsWithin(const QJsonArray &parts, int tokens);

/// A prompt of the past, by its ids.
struct KeptPrompt {
    TokenList tokens;
    QJsonArray parts;
    qint64 revision = 0;
    bool exact = false;
    bool simulated = false;
};

/// The prompts before and after the last compactions, and the one that was handed out last, of each session. In memory
/// only, at most 32 compactions and 4 million ids; those of plans wait until the plan is applied. Pure.
class KeptPrompts
{
public:
    void notePlan(const QString &planId, const KeptPrompt &before, const KeptPrompt &after);
    void noteApplied(const QString &planId, const QString &sessionId, int number);
    void noteUndone(const QString &sessionId, int number);
    void noteSent(const QString &sessionId, const KeptPrompt &prompt);
    void forgetSession(const QString &sessionId);
    /// nullptr = not kept.
    const KeptPrompt *compaction(const QString &sessionId, int number, bool after) const;
    const KeptPrompt *sent(const QString &sessionId) const;

private:
    struct Pair {
        QString planId;
        QString sessionId; ///< empty = not applied yet
        int number = 0;
        KeptPrompt before;
        KeptPrompt after;
        qsizetype size() const { return before.tokens.size() + after.tokens.size(); }
    };
    void trim(QList<Pair> &pairs, qsizetype most);

    QList<Pair> m_planned; ///< oldest first
    QList<Pair> m_applied; ///< oldest first
    QHash<QString, KeptPrompt> m_sent;
};

} // namespace kerf
