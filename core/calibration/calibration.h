// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/cache/reuse.h"

#include <QStringList>

#include <optional>

namespace kerf {

/// What is known before the experiment.
struct CalibrationSetup {
    int contextSize = 0; ///< tokens a slot can hold; at least 1,024
    TokenList alphabet; ///< ids that may be sent, at least 32 different ones (words of the server's own tokenizer)
    quint32 seed = 1; ///< another seed, another prompt: nothing that the server holds must match it
    /// Tokens of the longest prompt. A sliding window is only seen by a rewind that is longer than it.
    int longest = 9472;
    bool canPersist = false; ///< save, restore and erase are there
};

/// One thing to do; the driver does it and hands back what came of it.
struct CalibrationRequest {
    enum class Act { Send, Save, Erase, Restore };
    Act act = Act::Send;
    QString name; ///< marker|extend|repeat|shorten|rewind N|long N|chunks|save|erase|restore|after restore
    TokenList tokens; ///< Send: the whole prompt
};

/// What came back: cache_n, prompt_n and prompt_ms of a Send; tokens saved or restored in `reused` else.
struct CalibrationReply {
    int reused = 0;
    int prefilled = 0;
    double ms = -1; ///< -1 = not reported
};

struct CalibrationStep {
    QString name;
    int sent = 0; ///< tokens; of save and restore: what the server said
    int reused = -1; ///< -1 = has no meaning for this step
    int prefilled = -1;
    double ms = -1;
    int expected = -1; ///< what token-granular memory would reuse
    QString concluded; ///< one sentence
    friend bool operator==(const CalibrationStep &, const CalibrationStep &) = default;
};

struct CalibrationFinding {
    MemoryKind memory = MemoryKind::Unknown;
    bool promptCacheOff = false; ///< nothing is reused, not even where a prompt only grows
    int rewindGrain = -1; ///< tokens lost at most when going back; 1 = none (any position); -1 = not known
    int provenRewind = 0; ///< the longest rewind that lost nothing, in tokens
    std::optional<int> chunkReuse; ///< 0 = off; N = every run of N and more is shifted; nullopt = not tried
    std::optional<bool> restoreHolds; ///< nullopt = not tried
    PrefillCost cost; ///< of the samples of this run
    QStringList notes;
    friend bool operator==(const CalibrationFinding &, const CalibrationFinding &) = default;
};

/// The experiment of SPEC section 9 on one idle slot, as a state machine: what to send next depends on what came back.
///
///   marker, extend, repeat, shorten      caching at all, and whether any position can be gone back to
///   long, rewind                         token-granular so far: is it a window that is longer than that?
///   grow (turn by turn), rewind          checkpointed: how much is lost in the middle of a turn
///   chunks                               token-granular: --cache-reuse, and from which length on
///   save, erase, restore, after restore  whether a restored file is worth anything: only the next request tells
///
/// Pure: no I/O. The prompts are made of words in no order and match nothing else.
class Calibration
{
public:
    explicit Calibration(CalibrationSetup setup);

    /// The next thing to do; nullopt = the experiment is over.
    std::optional<CalibrationRequest> next();
    /// What came of the request that next() gave.
    void took(const CalibrationReply &reply);
    /// That request failed: the experiment ends with what was learnt.
    void failed(const QString &why);

    const QList<CalibrationStep> &steps() const { return m_steps; }
    /// What is known so far; after the end: the result.
    CalibrationFinding finding() const;
    bool isOver() const { return m_phase == Phase::Over; }

    /// Upper bounds for the question "may I?": requests, and tokens that are prefilled.
    static int mostRequests(const CalibrationSetup &setup);
    static int mostTokens(const CalibrationSetup &setup);

private:
    enum class Phase {
        Marker,
        Extend,
        Repeat,
        Shorten,
        Long,
        LongRewind,
        Ladder,
        LadderRewind,
        ChunkBase,
        Chunks,
        Save,
        Erase,
        Restore,
        AfterRestore,
        Over
    };

    TokenList fresh(int count);
    CalibrationRequest sending(const QString &name, TokenList tokens, int expected);
    void conclude(const QString &text);
    bool closeTo(int reused, int expected) const;
    void enter(Phase phase) { m_phase = phase; }
    void afterMemory();
    void afterChunks();

    CalibrationSetup m_setup;
    quint64 m_random;
    Phase m_phase = Phase::Marker;
    QList<CalibrationStep> m_steps;
    CalibrationFinding m_finding;
    PrefillCostFit m_fit;
    TokenList m_held; ///< what the slot holds, as we sent it
    QList<int> m_longs; ///< lengths of the long prompts still to send
    QList<int> m_rungs; ///< positions still to go back to
    QList<int> m_runs; ///< lengths of the runs in the chunk prompt
    TokenList m_spliced;
    int m_expected = -1;
    int m_head = 0; ///< tokens of the chunk prompt in front of the first gap
    bool m_granular = true; ///< nothing was lost so far
    int m_lost = 0;
    int m_grown = 0; ///< turns of the ladder so far
};

/// One sentence, for doctor and for the evidence: "goes back to any position (rewinds of up to 9,072 tokens tried)".
QString calibrationSentence(const CalibrationFinding &finding);

} // namespace kerf
