// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/eviction/cutcurve.h"
#include "ui/viewmodel/values.h"

#include <QHash>

#include <memory>

namespace kerf {

enum class LinkState { None, Probing, Connected, Disconnected };

/// What is known at this moment, as one value: the views draw it, the controller fills it.
struct ConsoleData {
    LinkState link = LinkState::None;
    QString linkDescription; ///< "embedded engine", a socket's path
    QString linkError;
    QDateTime linkSince; ///< of the present state
    QDateTime asOf; ///< when the server last answered
    DoctorValue doctor;
    ProfileValue profile;
    QList<SlotValue> slotList;
    QList<SessionSummary> sessions;
    bool hasSession = false;
    SessionValue session;
    QList<EpisodeValue> episodes; ///< by seq
    std::optional<PlanValue> plan; ///< the newest plan of this session, not applied
    QList<PlanValue> compactions; ///< newest first
    std::optional<ReceiptValue> receipt; ///< of the last turn
    QHash<int, PromptValue> promptsBefore; ///< by compaction number, as far as asked for
    int slotChoice = -1; ///< slot box; -1 = where the session is
    std::shared_ptr<const CutReport> cuts; ///< what every cut of the present prompt would cost; null = not asked yet
};

/// One stretch of the prompt that belongs to one message.
struct BlockValue {
    int seq = 0; ///< 0 = no episode (system text of the harness, tools, generation prompt)
    Role role = Role::System;
    TokenRange range;
    Tier tier = Tier::Live; ///< as it stands
    std::optional<Tier> tierAfter; ///< where the shown plan moves it
    bool pinned = false;
    bool recent = false;
    friend bool operator==(const BlockValue &, const BlockValue &) = default;
};

struct CheckpointMark {
    CheckpointValue checkpoint;
    enum class Fate { Kept, Used, ErasedByCut, BelowTolerance, AboveWindow, IdentityChanged, FileMissing } fate = Fate::Kept;
    friend bool operator==(const CheckpointMark &, const CheckpointMark &) = default;
};

enum class SegmentKind { Reused, KeptAgain, Evicted, Recent, Held, Prefilled, Moved, MaybeReused };

struct Segment {
    SegmentKind kind = SegmentKind::Held;
    TokenRange range;
    friend bool operator==(const Segment &, const Segment &) = default;
};

/// What ring and timeline draw: one cut (a plan, or a past compaction) over one prompt, or the prompt alone.
/// Differences and joins of the engine's numbers only; built by buildCutPicture(), a pure function.
struct CutPicture {
    enum class Ring { NoSession, NoServer, BeforeFirstTask, Empty, Visible, NotVisible, FullAttention };
    enum class Cut { None, Planned, Compaction, WhatIf };

    Ring ring = Ring::NoSession;
    Cut cut = Cut::None;
    int number = 0; ///< of the compaction
    int slotId = -1;
    int contextSize = 0; ///< n_ctx; 0 = unknown
    int promptTokens = 0; ///< length of the prompt that is drawn
    bool exact = false;
    bool simulated = false;
    bool disconnected = false;
    QDateTime asOf;

    QList<Segment> segments; ///< over the prompt, ascending, without overlap
    QList<BlockValue> blocks; ///< ascending by range
    QList<CheckpointMark> checkpoints; ///< ascending by position
    QString ringSource; ///< log|slots|simulated...
    std::optional<int> requested;
    std::optional<int> aligned;
    int tolerance = 0;
    int retained = 0; ///< equal tokens in front of the first change
    std::optional<int> nPast;
    bool nPastBooked = false; ///< our book, the server does not say
    int triggerAt = 0;
    int target = 0;
    int budget = 0;
    int targetMissed = 0;

    std::optional<int> reused; ///< measured if `measured`, else predicted
    int reusedLow = 0;
    int reusedHigh = 0;
    bool measured = false;
    bool rangeOnly = false; ///< no reuse is claimed: low..high
    int sentTotal = 0;
    std::optional<int> prefilled;
    std::optional<double> ms;
    std::optional<double> predictedMs;
    QList<AlternativeValue> alternatives;
    std::shared_ptr<const CutReport> cuts; ///< of the present prompt; null for a past compaction
    std::optional<int> whatIf; ///< position of the cut that is tried (Cut::WhatIf)
    std::optional<int> planCut; ///< Cut::WhatIf: where the plan would cut
    QList<TokenRange> evicted; ///< Cut::WhatIf: what would go; blocks carry no tierAfter then

    int tokensOf(SegmentKind kind) const;
    /// Whether a number of this picture is an estimate, and so wears a `~`.
    bool estimated() const { return simulated || !exact; }
    friend bool operator==(const CutPicture &, const CutPicture &) = default;
};

/// `compaction` 0 = the present.
CutPicture buildCutPicture(const ConsoleData &data, int compaction);
const PlanValue *compactionByNumber(const ConsoleData &data, int number);
/// The plan behind the picture: compaction or current plan; null = none.
const PlanValue *shownPlan(const ConsoleData &data, int compaction);

// Words, the same in strip, receipt, ring and list.
QString verdictHeadline(const PlanValue &plan); ///< "Snapped 259 back to 1,349"
QString verdictShort(const PlanValue &plan); ///< "snapped −259", "aligned 0"
QString outcomeWord(const QString &outcome); ///< none = "not provable"
QString outcomeSign(const QString &outcome); ///< a tick, an arrow, a cross
QString checkpointKindWord(CheckpointKind kind); ///< "in memory", "save file", "fold", "pre-rewrite"
QString fateWord(const CheckpointMark &mark, const CutPicture &picture);
QString roleWord(Role role);
QString roleLetter(Role role); ///< S U A T
QString tierWord(Tier tier);
/// One sentence for tooltips and readers: what, value, why.
QString describeCheckpoint(const CheckpointMark &mark, const CutPicture &picture);
QString describeRing(const CutPicture &picture);

} // namespace kerf
