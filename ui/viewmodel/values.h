// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/cache/boundary.h"
#include "core/session/episode.h"

#include <QDateTime>
#include <QJsonObject>
#include <QList>
#include <QMap>
#include <QString>

#include <optional>

namespace kerf {

/// Plain values as the views see them; parse.h fills them from the wire (PROTOCOL.md). nullopt = null or
/// absent: unknown, never 0. Positions are prompt token indices.

struct SessionSummary {
    QString id;
    QString title;
    int episodes = 0;
    std::optional<int> liveTokens;
    qint64 revision = 0;
    int turn = 0;
    QDateTime updatedAt;
    friend bool operator==(const SessionSummary &, const SessionSummary &) = default;
};

struct EpisodeValue {
    qint64 id = 0;
    int seq = 0;
    Role role = Role::User;
    Tier tier = Tier::Live;
    int tokenCount = 0;
    bool exact = false;
    std::optional<TokenRange> range; ///< only while it is in the prompt
    bool pinned = false;
    bool recent = false;
    QString toolName;
    QString preview;
    QDateTime createdAt;
    friend bool operator==(const EpisodeValue &, const EpisodeValue &) = default;
};

struct CheckpointValue {
    int position = 0;
    CheckpointKind kind = CheckpointKind::InternalCheckpoint;
    std::optional<qint64> sizeBytes;
    std::optional<qint64> taskId;
    int slotId = -1;
    QDateTime createdAt;
    QString fileName;
    friend bool operator==(const CheckpointValue &, const CheckpointValue &) = default;
};

struct SlotValue {
    int id = -1;
    std::optional<int> tokens; ///< nullopt: before its first task, or not readable
    bool busy = false;
    bool hasRun = true; ///< false: the server has run no task on it yet
    std::optional<int> lastReuse;
    std::optional<qint64> taskId;
    bool verified = false; ///< the server said so; false: only booked
    bool ringKnown = false;
    QList<CheckpointValue> checkpoints;
    QString owner; ///< session id; empty = another client's, or nobody's
    friend bool operator==(const SlotValue &, const SlotValue &) = default;
};

struct UpdateValue {
    qint64 episodeId = 0;
    int seq = 0;
    QString fromTier;
    QString toTier;
    int tokensBefore = 0;
    int tokensAfter = 0;
    QString reason;
    friend bool operator==(const UpdateValue &, const UpdateValue &) = default;
};

struct AlternativeValue {
    int cut = 0;
    bool atCheckpoint = false;
    int retainedTokens = 0;
    std::optional<int> tokensAfter;
    std::optional<int> predictedReuse;
    std::optional<int> predictedPrefill;
    std::optional<double> predictedMs;
    friend bool operator==(const AlternativeValue &, const AlternativeValue &) = default;
};

/// A plan, or an applied one (a compaction) with what was measured.
struct PlanValue {
    QString planId;
    QString sessionId;
    qint64 revision = 0;
    QString pressure; ///< relaxed|compacting|anchor_overflow
    int budget = 0;
    int triggerAt = 0;
    int target = 0;
    int targetMissed = 0;
    int liveTokens = 0;
    int anchorTokens = 0;
    int fixedTokens = 0;
    int promptTokens = 0;
    bool exact = false;
    int plannedSavings = 0;
    int tokensAfter = 0;
    bool applied = false;
    Verdict verdict = Verdict::None;
    CacheStatus cacheStatus = CacheStatus::Unknown;
    QString cacheReason;
    bool hasBoundary = false; ///< false when pressure is relaxed
    BoundaryPlan boundary;
    int retainedPrefixTokens = 0;
    int retainedPromptTokens = 0;
    QList<UpdateValue> updates;
    int updateCount = 0; ///< of an applied plan the rows are not always given
    QList<AlternativeValue> alternatives;
    QStringList notes;
    QString summary;

    // Of an applied plan only.
    QString compactionId;
    int number = 0; ///< 1, 2, ... in its session; 0 = only planned
    QDateTime plannedAt;
    QDateTime appliedAt;
    QString outcome; ///< confirmed|better|refuted|waiting|none|undone
    std::optional<int> measuredReuse;
    std::optional<int> measuredPrefill;
    std::optional<double> measuredMs;
    QString source; ///< timings|log|slots|usage
    QString cause;
    std::optional<qint64> taskId;
    QList<CheckpointValue> ringBefore; ///< the ring as it was then, where it was kept
    friend bool operator==(const PlanValue &, const PlanValue &) = default;
};

struct SessionValue {
    QString id;
    QString title;
    int episodes = 0;
    std::optional<int> liveTokens;
    bool exact = false;
    int contextWindow = 0;
    int budget = 0;
    int triggerAt = 0;
    int target = 0;
    QString pressure;
    qint64 revision = 0;
    int turn = 0;
    QMap<QString, int> tiers;
    QJsonObject lastReceipt;
    friend bool operator==(const SessionValue &, const SessionValue &) = default;
};

struct ReceiptStats {
    int compactions = 0;
    QMap<QString, int> byStatus;
    std::optional<double> measuredShare;
    std::optional<double> claimedShare;
    std::optional<double> amplification;
    friend bool operator==(const ReceiptStats &, const ReceiptStats &) = default;
};

struct ReceiptValue {
    int turn = 0;
    QList<std::pair<QString, int>> breakdown; ///< wire name, tokens; in the page's order
    int totalTokens = 0;
    bool exact = false;
    int contextWindow = 0;
    QString cacheStatus;
    QString cacheDetail;
    std::optional<int> tokensReused;
    std::optional<int> tokensPrefilled;
    std::optional<double> promptEvalMs;
    QString outcome;
    QString tokenizer;
    QString backend;
    bool simulated = false;
    QString rendered;
    ReceiptStats stats;
    friend bool operator==(const ReceiptValue &, const ReceiptValue &) = default;
};

struct EvidenceRow {
    QString claim;
    QString value;
    QString evidence;
    QString when;
    friend bool operator==(const EvidenceRow &, const EvidenceRow &) = default;
};

struct DoctorValue {
    bool known = false; ///< false until the first answer
    QString backend;
    QString requested;
    QString resolved;
    bool simulated = false;
    bool reachable = false;
    QString url;
    QString build;
    QString model;
    std::optional<int> contextSize;
    std::optional<int> slotCount;
    QString capabilitiesLine;
    QString coherenceLine;
    QString evictionLine;
    MemoryKind memoryKind = MemoryKind::Unknown;
    QString memoryEvidence;
    QString memoryConfidence;
    std::optional<int> chunkReuse; ///< nullopt = not known
    bool ringVisible = false;
    QString ringSource;
    QList<CheckpointValue> ring;
    std::optional<int> ringMost; ///< -ctxcp; nullopt = not reported
    std::optional<int> ringStep; ///< -cms
    QStringList advice;
    QStringList notes;
    QList<EvidenceRow> evidence;
    QList<EvidenceRow> probe; ///< claim = step, value = HTTP status, evidence = the server's message
    friend bool operator==(const DoctorValue &, const DoctorValue &) = default;
};

struct ProfileValue {
    QString name;
    QStringList known; ///< names one can choose
    bool modified = false; ///< a knob differs from the shipped value
    QString chosenBecause; ///< sentence
    QString lockedBy; ///< environment variable that overrides; empty = none
    QList<EvidenceRow> knobs; ///< claim = knob, value, evidence = where it came from
    QJsonObject wire; ///< the answer of profile.get as it came
    friend bool operator==(const ProfileValue &, const ProfileValue &) = default;
};

struct PromptPartValue {
    QString part; ///< system|tools|pin|episode|marker|generation
    std::optional<int> seq;
    QString role;
    TokenRange range;
    friend bool operator==(const PromptPartValue &, const PromptPartValue &) = default;
};

struct PromptToken {
    int position = 0;
    std::optional<int> id;
    QByteArray bytes; ///< the piece; not always UTF-8
    bool textKnown = false;
    friend bool operator==(const PromptToken &, const PromptToken &) = default;
};

struct PromptValue {
    QString which;
    int total = 0;
    bool exact = false;
    bool simulated = false;
    qint64 revision = 0;
    QList<PromptPartValue> parts;
    QList<PromptToken> tokens; ///< the stretch that was asked for
    friend bool operator==(const PromptValue &, const PromptValue &) = default;
};

struct EqualRun { ///< of context.diff: the same tokens again behind the first difference
    int aBegin = 0;
    int bBegin = 0;
    int length = 0;
    friend bool operator==(const EqualRun &, const EqualRun &) = default;
};

struct DiffValue {
    int aTotal = 0;
    int bTotal = 0;
    int lcp = 0;
    bool differs = false;
    int position = 0;
    QString part;
    std::optional<int> seq;
    QString reason;
    QList<EqualRun> equalAfter;
    friend bool operator==(const DiffValue &, const DiffValue &) = default;
};

struct EventValue {
    QDateTime time;
    QString kind;
    int slotId = -1;
    QString text;
    bool problem = false;
    std::optional<qint64> taskId = std::nullopt;
    friend bool operator==(const EventValue &, const EventValue &) = default;
};

} // namespace kerf
