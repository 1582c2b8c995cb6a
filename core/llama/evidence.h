// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/backend/backend.h"
#include "core/llama/ggufheader.h"
#include "core/llama/logmodel.h"
#include "core/llama/startflags.h"

#include <QJsonArray>

#include <optional>

namespace kerf {

/// Everything that is known of how a server reuses its cache, by where it is known from.
struct MemoryFacts {
    QString build;
    QString modelPath;
    QString modelName; ///< alias
    int contextSize = 0;
    int slotCount = 0;
    std::optional<GgufHeader> gguf; ///< of a local model file
    ServerFlags flags;
    QString flagsSource; ///< empty = its start flags are not known
    bool logAttached = false; ///< a log is followed
    bool logLive = false; ///< slots and ring can be read from it
    LogFacts log;
    bool slotRing = false; ///< the slot payload lists checkpoints
    int fullAttentionSeen = 0; ///< requests that only full attention explains (memoryThatExplains)
    int checkpointedSeen = 0; ///< requests that only checkpoints explain
    int smallestChunk = 0; ///< smallest run that the log saw moved; 0 = none
    QJsonObject stored; ///< BackendOptions::storedEvidence
    // What the requests of this run have shown, for the advice; -1 = nothing yet.
    qint64 checkpointBytes = -1; ///< of one checkpoint
    int turnTokens = -1; ///< a usual request's new tokens
    int pinsCleared = 0; ///< requests that were pinned to a slot that had been cleared
    qint64 pinsClearedTokens = 0; ///< ... and what they prefilled
    int loadsInTheWay = 0; ///< prompts loaded from the host cache that shared less than half, where chunks are shifted
    qint64 loadsInTheWayTokens = 0;
};

struct MemoryJudgement {
    ReuseRule rule;
    QString source; ///< of the memory kind; empty = unknown
    QString detail;
    QString confidence; ///< measured|read|inferred|none
    bool byNameAlone = false; ///< nothing stronger than the model's name
    QList<Evidence> evidence; ///< strongest first, weaker ones too
    friend bool operator==(const MemoryJudgement &, const MemoryJudgement &) = default;
};

/// Memory kind, chunk reuse and the rest of the rule by the strongest evidence there is (SPEC section 4): calibration >
/// observed requests > slot payload > log > start flags > GGUF header > name. What contradicts the winner stays in the
/// list and is named in its detail. Pure.
MemoryJudgement judgeMemory(const MemoryFacts &facts, const QDateTime &now);

/// Under which key of `storedEvidence` facts of a server are kept: an array of objects
/// {claim, value, source, detail, at} by claim (memory_kind, chunk_reuse).
QString evidenceKey(const QString &build, const QString &modelPath, int contextSize);

/// The rows that are kept under evidenceKey(): those that are there, with what this run has found. The same list comes
/// back where nothing is new.
QJsonArray evidenceToStore(const QJsonArray &stored, const QList<Evidence> &evidence);

/// What a request met and reused, as far as it is certain.
struct Observation {
    int lcp = -1; ///< with the state that it met
    int heldLength = 0; ///< of that state
    int reused = 0;
    int total = 0; ///< tokens of the request
    bool certain = false; ///< no other state could have been met
    QList<int> promptEnds; ///< where earlier prompts and replies ended: checkpoints may lie there
};
/// The memory kind that alone explains it; nullopt = more than one does. Careful: a short rewind stays inside a sliding
/// window's memory, and an end of an earlier prompt may have a checkpoint.
std::optional<MemoryKind> memoryThatExplains(const Observation &seen);

/// What to do about what cannot be seen or is not on, with the flag named.
QStringList adviceFor(const BackendInfo &info, const MemoryFacts &facts);

} // namespace kerf
