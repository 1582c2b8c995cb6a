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
    int promptTokens = -1;   ///< task.n_tokens
    int reused = -1;         ///< the first "cached n_tokens", chunks included
    int prefilled = -1;      ///< of the prompt timing
    double promptMs = -1;
    int endLength = -1;      ///< tokens held when it ended; -1 = it runs
    int lcp = -1;            ///< with what its slot held, if the log said so
    int restored = -1;       ///< checkpoint position
    int erased = 0;          ///< checkpoints that it erased
    bool forcedFull = false;
    bool loadedFromHostCache = false;
    int loadedLength = 0;
    bool slotWasEmpty = false;
    QString selectedBy;      ///< lru|lcp|id; empty = not said
    int movedTokens = 0;     ///< chunk shifts
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
    int contextSize = -1;     ///< n_ctx of a slot
    bool unified = false;
    bool idleSlotsCleared = false;
    qint64 hostCacheLimitBytes = -1;
    QString url;
    bool checkpointSeen = false; ///< some checkpoint line was read
    bool slotSeen = false;       ///< some slot line was read
    /// The ring shows at -lv 4 and above.
    bool ringReadable() const { return verbosity >= 4 || checkpointSeen; }
    /// checkpointed where the log shows SWA, recurrent memory or checkpoints; full_attention where the model's data were
    /// printed and show none of them; else unknown.
    MemoryKind memory() const;
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
    QList<HeldState> states() const;
    /// The last 512 tasks, oldest first.
    const QList<LogTask> &tasks() const { return m_tasks; }
    /// The newest task with this prompt size and reuse; nullptr = none. `ended` = only if it has ended.
    const LogTask *findTask(int promptTokens, int reused, int slot = -1) const;
    const LogTask *task(qint64 id) const;
    QList<Happening> takeHappenings();
    qint64 hostCacheBytes() const { return m_hostCacheBytes; }
    /// A restore through the API says how many tokens the slot holds now; the log does not.
    void noteRestored(int slot, int tokens);

private:
    struct Content {
        int length = 0;
        qint64 task = -1;  ///< whose prompt it is; -1 = nobody's (empty, or restored from a file not seen)
        int epoch = 0;
        QList<Checkpoint> ring;
        bool ringKnown = true;
        qint64 bytes = -1;
    };
    struct Slot {
        int id = 0;
        Content content;
        bool busy = false;
        qint64 lastUsed = -1;
        LogTask pending;        ///< what selection and host cache said of the task that comes
        bool reusedSeen = false;
    };

    Slot &slot(int id);
    LogTask *running(int slotId);
    void happen(const QString &kind, QJsonObject details);
    void restart();
    void forget(Slot &slot, int position);
    void reconcile();

    LogFacts m_facts;
    int m_epoch = 0;
    bool m_sawTasks = false;
    qint64 m_lines = 0;
    qint64 m_notUnderstood = 0;
    qint64 m_clock = 0;
    qint64 m_lastTask = -1;
    QList<Slot> m_slots;
    QList<Content> m_cache;
    int m_saving = -1;          ///< the slot that "saving prompt" is about
    bool m_justSaved = false;
    QList<std::pair<double, double>> m_offered; ///< f_keep, f_sim of the entries as listed
    QList<Content> m_listing;
    int m_listingLeft = 0;
    qint64 m_hostCacheBytes = -1;
    QHash<QByteArray, Content> m_files;
    QList<LogTask> m_tasks;
    QList<Happening> m_happenings;
};

} // namespace kerf
