// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/backend/backend.h"
#include "core/session/prompt.h"
#include "core/store/store.h"

#include <QHash>

namespace kerf {

/// A prompt that was handed out, and what was predicted for it, until the caller's timings settle it.
struct OpenPrediction {
    bool open = false;
    TokenList prompt; ///< ids; empty after a restart of the service
    int promptTokens = 0;
    qint64 revision = 0;
    int slotId = -1;
    int predicted = 0;
    int low = 0;
    int high = 0;
    double predictedMs = -1; ///< -1 = no cost known
    bool claimable = false;
    bool exact = false;
    bool simulated = false;
    int newTokens = 0; ///< tokens that no earlier prompt of the session held
    int retainedPromptTokens = 0;
    QString reason;
    QDateTime storedAt;
    QJsonObject breakdown; ///< of the receipt: integers that add up to promptTokens
};

/// Totals over a session's settled requests. Simulated requests are counted in a set of their own.
struct SessionTotals {
    qint64 prefillTokens = 0;
    qint64 predictedPrefillTokens = 0; ///< what Kerf predicted for the same requests
    qint64 newTokens = 0;
    qint64 reusedTokens = 0;
    double prefillMs = 0;
    int requests = 0;
    int requestsWithMs = 0;
    int altered = 0; ///< requests that were not the prompt assembled: counted in no share
    int predictionsMet = 0; ///< confirmed or better
};

/// What is kept in memory of an applied plan, for shares and lists.
struct CompactionInfo {
    int number = 0;
    QString planId;
    QString cacheStatus;
    QString outcome; ///< waiting|confirmed|better|refuted|none
    bool pairsWithCache = false;
    bool simulated = false;
    int measuredReuse = -1; ///< -1 = not measured
    qint64 appliedRevision = 0;
};

/// A session as the engine works on it. One thread. Copies are cheap (implicit sharing), so that a plan works
/// on a snapshot while commits go on.
class Session
{
public:
    explicit Session(SessionData data);

    SessionRecord record;
    QList<Episode> episodes; ///< by seq
    QList<Anchor> anchors;
    PromptState prompt;
    OpenPrediction open;
    SessionTotals totals;
    QList<CompactionInfo> compactions; ///< ascending
    QJsonObject profile; ///< {name?, overrides?}: the session's own choice
    QList<Checkpoint> recorded; ///< durable save points
    bool countsDiffer = false; ///< the server's total was not ours: everything is marked estimated
    bool replyHighHolds = false; ///< the last replies were held as re-tokenised (high end of the range)
    int lastGenerated = 0; ///< predicted_n of the last recorded request
    int lastPromptTokens = 0; ///< size of the last prompt that was recorded
    int lastTailTokens = 0; ///< generation prompt of it
    int missedAtTokens = 0; ///< prompt size right after a plan that missed its target; 0 = none
    int lastCompactedSeq = 0; ///< newest episode at the last compaction
    struct Proving {
        qint64 foldId = 0; ///< 0 = a snapshot
        int position = 0; ///< tokens that the next request must reuse; 0 = nothing waits for a proof
        bool restored = false; ///< by a save file
    };
    Proving proving; ///< not kept: after a restart of the service nothing is claimed

    /// The state for the store; everything above that is not a table of its own.
    QJsonObject stateJson() const;
    Episode *byId(qint64 id);
    const Episode *byId(qint64 id) const;
    bool isPinned(qint64 episodeId) const;
    /// Appends, keeping the id index.
    void append(Episode episode);
    qint64 unsentFrom() const { return prompt.sentSeq; }

private:
    QHash<qint64, int> m_index;
};

/// A composed and rendered prompt of a session at one revision.
struct LivePrompt {
    ComposedPrompt composed;
    PromptLayout layout;
    bool simulated = false;
    bool exact = false;
    qint64 revision = 0;
    int headEnd = 0; ///< where the first message that is neither system nor pins begins
};

} // namespace kerf
