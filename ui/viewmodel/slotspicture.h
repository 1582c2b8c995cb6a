// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QDateTime>
#include <QJsonObject>
#include <QList>
#include <QString>

#include <optional>

namespace kerf {

/// What a slot held at one moment, until the next.
struct LanePoint {
    qint64 atMs = 0;
    int tokens = 0;
    bool busy = false;
    std::optional<qint64> task;
    std::optional<int> processed; ///< of the prefill that runs
    std::optional<int> toProcess;
    friend bool operator==(const LanePoint &, const LanePoint &) = default;
};

/// One slot: as it is, and over time.
struct SlotLane {
    int slotId = -1;
    QList<LanePoint> points; ///< ascending
    std::optional<int> tokens;
    bool busy = false;
    bool verified = false;
    bool hasRun = true;
    std::optional<qint64> task;
    std::optional<int> checkpoints; ///< nullopt = the ring is not visible
    std::optional<qint64> saveBytes; ///< what a save into the host cache will take
    std::optional<int> prefillTotal; ///< prompt tokens of the request that runs
    std::optional<int> prefillReused;
    std::optional<int> prefillDone;
    std::optional<int> lastReuse;
    std::optional<int> lastPrefill;
    QString owner; ///< session id; empty = another client, or not known
    friend bool operator==(const SlotLane &, const SlotLane &) = default;
};

struct SlotTask {
    qint64 task = -1;
    int slotId = -1;
    int life = 0;
    QString session;
    std::optional<qint64> beginMs;
    std::optional<qint64> endMs; ///< nullopt = it runs
    std::optional<int> promptTokens;
    std::optional<int> reused;
    std::optional<int> prefilled;
    std::optional<double> promptMs;
    std::optional<int> lcp;
    std::optional<int> erased;
    friend bool operator==(const SlotTask &, const SlotTask &) = default;
};

/// A prompt saved in the host's cache.
struct CachedPrompt {
    int tokens = 0;
    std::optional<int> checkpoints;
    std::optional<qint64> bytes;
    QString owner;
    bool verified = false;
    friend bool operator==(const CachedPrompt &, const CachedPrompt &) = default;
};

struct SlotErasure {
    qint64 atMs = 0;
    int slotId = -1;
    std::optional<qint64> task;
    QString text; ///< the service's own sentence
    friend bool operator==(const SlotErasure &, const SlotErasure &) = default;
};

struct CacheForecast {
    int slotId = -1;
    qint64 saveBytes = 0;
    qint64 bytes = 0; ///< of the whole cache after it, before anything is dropped
    bool exceeds = false;
    int drops = 0; ///< oldest entries that go
    bool fits = true; ///< false: it is larger than the whole cache, and is not saved
    friend bool operator==(const CacheForecast &, const CacheForecast &) = default;
};

struct SavedFile {
    QString sessionId;
    QString file;
    QString kind;
    int position = 0;
    std::optional<int> slotId;
    QDateTime at;
    bool thisServer = false;
    std::optional<bool> exists; ///< nullopt = the folder cannot be seen from here
    friend bool operator==(const SavedFile &, const SavedFile &) = default;
};

enum class CacheLevel {
    Unknown, ///< no log, or no limit is known
    Off,
    Unlimited,
    Fine,
    Near, ///< from 80 % of the limit on
    Full ///< the next save exceeds it
};

/// The answer of server.slots with its history, as the Slots view shows it.
struct SlotsPicture {
    bool known = false; ///< false until the first answer
    bool readable = true;
    QString reason;
    QString source; ///< log|slots
    bool simulated = false;
    qint64 nowMs = 0;
    QList<SlotLane> lanes; ///< ascending by slot
    QList<SlotTask> tasks; ///< oldest first
    QList<SlotErasure> erasures; ///< newest first
    QList<SavedFile> saves;
    bool cacheKnown = false; ///< read from the log
    bool cacheEnabled = true;
    bool cacheUnlimited = false;
    QList<CachedPrompt> cached; ///< oldest first
    std::optional<qint64> cacheBytes;
    std::optional<qint64> cacheLimit;
    std::optional<CacheForecast> forecast;

    CacheLevel level() const;
    const SlotLane *lane(int slotId) const;
    friend bool operator==(const SlotsPicture &, const SlotsPicture &) = default;
};

SlotsPicture parseSlotsPicture(const QJsonObject &object);

/// "Host cache 6.1 of 8,192 MiB"; what is not known is said so.
QString cacheHeadline(const SlotsPicture &picture);
/// What the next save will do to it: "Saving slot 0 takes about 1.2 MiB: 7.3 MiB then".
QString cacheForecastText(const SlotsPicture &picture);
/// One line under a lane's name: "idle · 3,216 tokens · 8 checkpoints".
QString laneState(const SlotLane &lane);

} // namespace kerf
