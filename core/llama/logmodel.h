// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/cache/reuse.h"
#include "core/llama/serverlog.h"

#include <QHash>
#include <QJsonObject>
#include <QList>

namespace kerf {

/// One task as the log tells it.
struct LogTask {
    int epoch = 0;
    qint64 task = -1;
    int slot = -1;
    int promptTokens = -1; ///< task.n_tokens
    int reused = -1; ///< the first "cached n_tokens", chunks included
    int prefilled = -1; ///< of the prompt timing
    double promptMs = -1;
    int endLength = -1; ///< tokens held when it ended; -1 = it runs
    int lcp = -1; ///< with what its slot held, or with the prompt loaded into it, if the log said so
    int restored = -1; ///< checkpoint position
    int erased = 0; ///< checkpoints that it erased
    bool forcedFull = false;
    bool loadedFromHostCache = false;
    int loadedLength = 0;
    bool slotWasEmpty = false;
    QString selectedBy; ///< lru|lcp|id; empty = not said
    int movedTokens = 0; ///< chunk shifts
    int generated = -1; ///< tokens generated, the last one included
    double generatedMs = -1;
    int shiftedTokens = 0; ///< tokens that context shifts dropped while it ran
    qint64 emptiedBy = -1; ///< slotWasEmpty: the task at whose start its slot was cleared
    bool ended() const { return endLength >= 0; }
    friend bool operator==(const LogTask &, const LogTask &) = default;
};

/// What the log says of the server itself. -1 / empty = it does not say.
struct LogFacts {
    qint64 build = -1;
    int verbosity = -1;
    QString architecture;
    int slidingWindow = -1;
    bool recurrent = false;
    int checkpointsMax = -1;
    int checkpointsMinStep = -1;
    int slots = -1;
    int contextSize = -1; ///< n_ctx of a slot
    bool unified = false;
    bool idleSlotsCleared = false;
    qint64 hostCacheLimitBytes = -1; ///< 0 = it is off; -1 with hostCacheUnlimited = no limit
    bool hostCacheUnlimited = false;
    QString url;
    bool checkpointSeen = false; ///< some checkpoint line was read
    bool slotSeen = false; ///< some slot line was read
    bool reuseSeen = false; ///< lines that say what a task reuses, or checkpoints made, were read
    bool fullWindow = false; ///< --swa-full
    int windowCells = -1; ///< cells of the window's memory
    int chunkReuse = -1; ///< N of --cache-reuse: printed at -lv 5 only, and only where it is on
    bool chunksUnsupported = false;
    bool forcedFullSeen = false; ///< "forcing full prompt re-processing": this memory cannot go back everywhere
    bool modelLoaded = false; ///< the context was built: what was to be said of its memory was said
    QString modelPath;
    bool severalModels = false; ///< a router's log with more than one child; only one is followed
    /// Slots and rings can be followed: at -lv 4 and above. Warnings show at 3 too: "erasing old context checkpoint"
    /// alone is no ring. Older builds do not print their verbosity; there the lines themselves must have been seen.
    bool ringReadable() const { return verbosity >= 0 ? verbosity >= 4 : reuseSeen; }
    /// checkpointed where the log shows SWA (without --swa-full), recurrent memory or checkpoints; full_attention where
    /// the model was loaded, its data were printed and show none of them; else unknown.
    MemoryKind memory() const;
    /// The sentence for memory(); empty where it is unknown.
    QString memoryReason() const;
    friend bool operator==(const LogFacts &, const LogFacts &) = default;
};

/// Rebuilds from the log, line by line, what every slot and the host prompt cache hold: the ring over time, restores,
/// erasures with the task that caused them. Pure: no I/O. Contents are named by the task whose prompt they are, so that
/// token ids can be attached by (epoch, task).
class ServerLogModel
{
public:
    struct Happening {
        QString kind; ///< as Backend::happened
        QJsonObject details;
    };

    void feed(QByteArrayView line);
    void feed(const LogEvent &event);

    const LogFacts &facts() const { return m_facts; }
    int epoch() const { return m_epoch; }
    qint64 lines() const { return m_lines; }
    qint64 notUnderstood() const { return m_notUnderstood; }
    qint64 lastTask() const { return m_lastTask; }

    /// Slots ascending by id, then the host cache, oldest first. Ids are not known here: tokens are empty.
    /// `taskId` is the task whose prompt is held; -1 also where that task ran in another epoch (a restored file).
    QList<HeldState> states() const;
    /// Whose prompt each of states() is, row by row: a slot file may bring back one of an earlier epoch.
    struct ContentKey {
        int epoch = 0;
        qint64 task = -1; ///< -1 = unknown
        friend bool operator==(const ContentKey &, const ContentKey &) = default;
    };
    QList<ContentKey> contentKeys() const;
    /// The last 512 tasks, oldest first.
    const QList<LogTask> &tasks() const { return m_tasks; }
    /// The newest task with this prompt size and reuse; nullptr = none. `ended` = only if it has ended.
    const LogTask *findTask(int promptTokens, int reused, int slot = -1) const;
    const LogTask *task(qint64 id) const;
    QList<Happening> takeHappenings();
    qint64 hostCacheBytes() const { return m_hostCacheBytes; }
    /// A save or restore through the API leaves no line where there are no checkpoints, and none says how many tokens
    /// it was: whoever called it tells. `file` is the bare name; without it the content is unknown.
    void noteSaved(int slot, const QString &file, int tokens);
    void noteRestored(int slot, int tokens, const QString &file = {});
    /// Lines may be missing here: what is held is only what was held, until the server says it again.
    void noteGap();

private:
    struct Content {
        int length = 0;
        qint64 task = -1; ///< whose prompt it is; -1 = nobody's (empty), or unknown
        int epoch = 0;
        QList<Checkpoint> ring;
        bool ringKnown = true;
        bool verified = true; ///< the length is known
        qint64 bytes = -1;
        friend bool operator==(const Content &, const Content &) = default;
    };
    struct Slot {
        int id = 0;
        Content content;
        bool busy = false;
        qint64 lastUsed = -1;
        LogTask pending; ///< what selection and host cache said of the task that comes
        bool reusedSeen = false;
        bool saving = false; ///< it is idle and being saved, to be cleared
        bool restoredByLine = false;
        qint64 emptiedBy = -1;
    };
    struct Offer {
        int length = 0;
        int lcp = 0;
        double keep = 0;
        double similarity = 0;
    };
    struct Listed {
        int length = 0;
        int checkpoints = 0;
        qint64 bytes = -1;
    };

    Slot &slot(int id);
    LogTask *running(int slotId);
    LogTask *running(const LogEvent &event);
    LogTask &begin(const LogTask &task);
    void happen(const QString &kind, QJsonObject details);
    void newLife();
    void forget(Slot &slot, int position);
    void heldNow(Slot &slot, int length);
    qsizetype bestOffer(double keep, double similarity) const;
    void matchCache(const QList<int> &lengths);
    void load(Slot &slot, const Content &content);
    void reconcile();
    bool foreign(const LogEvent &event);
    void apply(const LogEvent &event);
    void applyToCache(const LogEvent &event);
    void applyToServer(const LogEvent &event);

    LogFacts m_facts;
    int m_epoch = 0;
    bool m_begun = false; ///< something of this life was read
    bool m_sawTasks = false;
    bool m_complete = false; ///< this life was read from its start: a slot not seen yet is empty
    bool m_otherModel = false; ///< print_info speaks of a draft model
    int m_child = -1; ///< the router's child that is followed
    qint64 m_lines = 0;
    qint64 m_notUnderstood = 0;
    qint64 m_clock = 0;
    qint64 m_lastTask = -1;
    QList<Slot> m_slots;
    QList<Content> m_cache;
    int m_saving = -1; ///< the slot that "saving prompt" is about
    bool m_justSaved = false;
    int m_loading = -1; ///< a prompt was loaded into this slot, and only the next listing says which
    QList<Offer> m_offered; ///< the entries as listed when the host cache is asked
    QList<Listed> m_listing;
    int m_listingLeft = 0;
    qint64 m_hostCacheBytes = -1;
    QHash<QString, Content> m_files; ///< by bare name
    QList<LogTask> m_tasks;
    QList<Happening> m_happenings;
};

} // namespace kerf
