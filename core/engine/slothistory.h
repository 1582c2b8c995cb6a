// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QHash>
#include <QJsonArray>
#include <QJsonObject>
#include <QList>
#include <QString>

namespace kerf {

/// What the slots did over time, from what the backend tells (happenings of the log, or states read one after another):
/// points of what each slot held, the tasks, and what was erased by which. Bounded; lives as long as the engine. Pure.
class SlotHistory
{
public:
    static constexpr qsizetype kMostPoints = 2048; ///< a slot
    static constexpr qsizetype kMostTasks = 1024;
    static constexpr qsizetype kMostErasures = 512;

    /// Backend::happened; the time is that of its "at", else `nowMs`.
    void happened(const QString &kind, const QJsonObject &details, qint64 nowMs);
    /// Backend::slotsJson() at this moment.
    void snapshot(const QJsonObject &slotsJson, qint64 nowMs);

    /// {history: [{slot_id, points: [...]}], tasks: [...], erasures: [...]}: points and tasks from `sinceMs` on, and
    /// the last point before it.
    QJsonObject toJson(qint64 sinceMs) const;

private:
    struct Point {
        qint64 at = 0;
        int tokens = 0;
        bool busy = false;
        qint64 task = -1;
        int processed = -1; ///< of the prefill that runs; -1 = none, or not said
        int total = -1;
        bool sameAs(const Point &other) const
        {
            return tokens == other.tokens && busy == other.busy && task == other.task && processed == other.processed
                && total == other.total;
        }
    };
    struct Task {
        qint64 task = -1;
        int life = 0; ///< task numbers begin anew with each life of the server
        int slot = -1;
        QString session;
        qint64 begin = -1; ///< -1 = not seen
        qint64 end = -1; ///< -1 = it runs
        QJsonObject numbers; ///< prompt_tokens, reused, prefilled, prompt_ms, lcp, ... as they were told
    };
    struct Erasure {
        qint64 at = 0;
        int slot = -1;
        qint64 task = -1;
        int life = 0;
        QString kind; ///< checkpoints|slot
        int count = 0;
        int promptTokens = -1;
        int lcp = -1;
        QString why;
        QString text() const;
    };

    void addPoint(int slot, Point point);
    Task *find(qint64 task);
    Task &taskOf(qint64 task, int slot);
    Erasure &erasureOf(qint64 task, int slot, qint64 at);

    QHash<int, QList<Point>> m_points;
    QList<Task> m_tasks;
    QList<Erasure> m_erasures;
    int m_life = 0;
};

} // namespace kerf
