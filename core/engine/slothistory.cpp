// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/slothistory.h"

#include "core/engine/text.h"

#include <QDateTime>

#include <algorithm>

namespace kerf {

namespace {

QJsonValue orNull(qint64 value) { return value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value); }

qint64 firstOf(const QJsonObject &object, const char *one, const char *other, qint64 otherwise)
{
    for (const char *name : {one, other}) {
        const QJsonValue value = object.value(QLatin1String(name));
        if (value.isDouble())
            return value.toInteger(otherwise);
    }
    return otherwise;
}

} // namespace

QString SlotHistory::Erasure::text() const
{
    QString who = task < 0 ? QStringLiteral("A client") : QStringLiteral("Task %1").arg(task);
    if (kind == QLatin1String("slot")) {
        const QString what = QStringLiteral("slot %1 (%2 tokens)").arg(slot).arg(groupedNumber(count));
        if (why == QLatin1String("idle"))
            return QStringLiteral("%1 was cleared when task %2 started: idle slots are")
                .arg(QStringLiteral("S") + what.mid(1))
                .arg(task);
        return QStringLiteral("%1 cleared %2").arg(who, what);
    }
    QStringList numbers;
    if (promptTokens >= 0)
        numbers.append(QStringLiteral("%1 tokens").arg(groupedNumber(promptTokens)));
    if (lcp >= 0)
        numbers.append(QStringLiteral("LCP %1").arg(groupedNumber(lcp)));
    if (!numbers.isEmpty())
        who += QStringLiteral(" (%1)").arg(numbers.join(QStringLiteral(", ")));
    return count == 1 ? QStringLiteral("%1 erased 1 checkpoint").arg(who)
                      : QStringLiteral("%1 erased %2 checkpoints").arg(who).arg(count);
}

void SlotHistory::addPoint(int slot, Point point)
{
    QList<Point> &points = m_points[slot];
    if (!points.isEmpty()) {
        if (points.constLast().sameAs(point))
            return;
        point.at = std::max(point.at, points.constLast().at); // clocks may disagree; order does not
        // Of a prefill that goes on only some of the way is kept: its ends, and ten points a second.
        if (points.size() > 1 && points.constLast().busy && point.busy && points.constLast().task == point.task
            && points.at(points.size() - 2).task == point.task && point.at - points.at(points.size() - 2).at < 100)
            points.removeLast();
    }
    points.append(point);
    if (points.size() > kMostPoints)
        points.remove(0, points.size() - kMostPoints);
}

SlotHistory::Task *SlotHistory::find(qint64 task)
{
    for (auto it = m_tasks.rbegin(); it != m_tasks.rend(); ++it) {
        if (it->task == task && it->life == m_life)
            return &*it;
    }
    return nullptr;
}

SlotHistory::Task &SlotHistory::taskOf(qint64 task, int slot)
{
    if (Task *known = find(task))
        return *known;
    Task fresh;
    fresh.task = task;
    fresh.life = m_life;
    fresh.slot = slot;
    m_tasks.append(fresh);
    if (m_tasks.size() > kMostTasks)
        m_tasks.removeFirst();
    return m_tasks.last();
}

SlotHistory::Erasure &SlotHistory::erasureOf(qint64 task, int slot, qint64 at)
{
    for (auto it = m_erasures.rbegin(); it != m_erasures.rend(); ++it) {
        if (it->task == task && it->slot == slot && it->life == m_life && it->kind == QLatin1String("checkpoints"))
            return *it;
    }
    Erasure fresh;
    fresh.at = at;
    fresh.slot = slot;
    fresh.task = task;
    fresh.life = m_life;
    fresh.kind = QStringLiteral("checkpoints");
    m_erasures.append(fresh);
    if (m_erasures.size() > kMostErasures)
        m_erasures.removeFirst();
    return m_erasures.last();
}

void SlotHistory::happened(const QString &kind, const QJsonObject &details, qint64 nowMs)
{
    const QDateTime told = QDateTime::fromString(details.value(QStringLiteral("at")).toString(), Qt::ISODateWithMs);
    const qint64 at = told.isValid() ? told.toMSecsSinceEpoch() : nowMs;
    const int slot = static_cast<int>(firstOf(details, "slot_id", "slot", -1));
    const qint64 task = firstOf(details, "task_id", "task", -1);
    if (kind == QLatin1String("server-restarted")) {
        ++m_life;
        for (auto it = m_points.begin(); it != m_points.end(); ++it)
            addPoint(it.key(), Point{at, 0, false, -1, -1, -1});
        for (Task &open : m_tasks) {
            if (open.end < 0)
                open.end = at;
        }
        return;
    }
    if (slot < 0)
        return;
    const QList<Point> before = m_points.value(slot);
    Point point = before.isEmpty() ? Point() : before.constLast();
    point.at = at;
    if (kind == QLatin1String("task-started")) {
        Task &row = taskOf(task, slot);
        row.begin = at;
        point.busy = true;
        point.task = task;
        point.processed = 0;
        point.total = -1;
        addPoint(slot, point);
    } else if (kind == QLatin1String("task-finished")) {
        Task &row = taskOf(task, slot);
        row.end = at;
        for (const char *name : {"prompt_tokens", "reused", "prefilled", "prompt_ms", "generated", "lcp", "restored",
                                 "erased", "forced_full", "loaded", "held"})
            row.numbers.insert(QLatin1String(name), details.value(QLatin1String(name)));
        point.busy = false;
        point.task = task;
        point.tokens = details.value(QStringLiteral("held")).toInt(point.tokens);
        point.processed = point.total = -1;
        addPoint(slot, point);
        for (Erasure &erasure : m_erasures) {
            if (erasure.task != task || erasure.life != m_life || erasure.kind != QLatin1String("checkpoints"))
                continue;
            erasure.promptTokens = details.value(QStringLiteral("prompt_tokens")).toInt(-1);
            erasure.lcp = details.value(QStringLiteral("lcp")).toInt(-1);
        }
    } else if (kind == QLatin1String("checkpoint-erased")) {
        const QString why = details.value(QStringLiteral("why")).toString();
        if (!why.isEmpty() && why != QLatin1String("rewind"))
            return; // thinned out or replaced: the ring's own housekeeping
        ++erasureOf(task, slot, at).count;
    } else if (kind == QLatin1String("slot-cleared")) {
        Erasure cleared;
        cleared.at = at;
        cleared.slot = slot;
        cleared.life = m_life;
        cleared.kind = QStringLiteral("slot");
        cleared.count = details.value(QStringLiteral("tokens")).toInt();
        cleared.why = details.value(QStringLiteral("why")).toString();
        cleared.task = firstOf(details, "by_task", "task", -1);
        m_erasures.append(cleared);
        if (m_erasures.size() > kMostErasures)
            m_erasures.removeFirst();
        point.tokens = 0;
        addPoint(slot, point);
    } else if (kind == QLatin1String("prompt-loaded") && details.value(QStringLiteral("tokens")).isDouble()) {
        point.tokens = details.value(QStringLiteral("tokens")).toInt();
        addPoint(slot, point);
    }
}

void SlotHistory::snapshot(const QJsonObject &slotsJson, qint64 nowMs)
{
    if (!slotsJson.value(QStringLiteral("readable")).toBool(true))
        return; // what is shown then is only what was
    const QJsonArray rows = slotsJson.value(QStringLiteral("slots")).toArray();
    for (const QJsonValue &value : rows) {
        const QJsonObject row = value.toObject();
        const int slot = row.value(QStringLiteral("slot_id")).toInt(-1);
        if (slot < 0)
            continue;
        Point point;
        point.at = nowMs;
        point.tokens = row.value(QStringLiteral("tokens")).toInt();
        point.busy = row.value(QStringLiteral("busy")).toBool();
        point.task = firstOf(row, "task", "task_id", -1);
        const QJsonObject prefill = row.value(QStringLiteral("prefill")).toObject();
        point.processed = prefill.value(QStringLiteral("processed")).toInt(-1);
        point.total = prefill.value(QStringLiteral("total")).toInt(-1);
        if (point.total >= 0) // what is left of it is what is prefilled
            point.total -= std::max(0, prefill.value(QStringLiteral("reused")).toInt(0));
        const QList<Point> before = m_points.value(slot);
        if (!before.isEmpty() && before.constLast().task >= 0 && point.task < 0)
            point.task = before.constLast().task; // a state whose prompt is not known names no task
        addPoint(slot, point);
        if (point.task < 0)
            continue;
        Task *known = find(point.task);
        if (!known) { // nobody told of it: it ran between two looks
            Task &fresh = taskOf(point.task, slot);
            fresh.begin = point.busy ? nowMs : -1;
            fresh.end = point.busy ? -1 : nowMs;
            if (!point.busy) {
                fresh.numbers.insert(QStringLiteral("reused"), row.value(QStringLiteral("last_reuse")));
                fresh.numbers.insert(QStringLiteral("prefilled"), row.value(QStringLiteral("last_prefill")));
                fresh.numbers.insert(QStringLiteral("held"), point.tokens);
            }
            known = &fresh;
        } else if (known->end < 0 && !point.busy) {
            known->end = nowMs;
        }
        for (const char *name : {"session_id", "owner"}) {
            const QString owner = row.value(QLatin1String(name)).toString();
            if (!owner.isEmpty())
                known->session = owner;
        }
    }
}

QJsonObject SlotHistory::toJson(qint64 sinceMs) const
{
    QJsonArray lanes;
    QList<int> slotIds = m_points.keys();
    std::sort(slotIds.begin(), slotIds.end());
    for (const int slot : std::as_const(slotIds)) {
        const QList<Point> points = m_points.value(slot);
        qsizetype from = 0;
        while (from + 1 < points.size() && points.at(from + 1).at < sinceMs)
            ++from;
        QJsonArray rows;
        for (qsizetype i = from; i < points.size(); ++i) {
            const Point &point = points.at(i);
            rows.append(QJsonObject{{QStringLiteral("at_ms"), point.at},
                                    {QStringLiteral("tokens"), point.tokens},
                                    {QStringLiteral("busy"), point.busy},
                                    {QStringLiteral("task"), orNull(point.task)},
                                    {QStringLiteral("processed"), orNull(point.processed)},
                                    {QStringLiteral("to_process"), orNull(point.total)}});
        }
        lanes.append(QJsonObject{{QStringLiteral("slot_id"), slot}, {QStringLiteral("points"), rows}});
    }
    QJsonArray tasks;
    for (const Task &task : m_tasks) {
        if (task.end >= 0 && task.end < sinceMs)
            continue;
        QJsonObject row{{QStringLiteral("task"), task.task},
                        {QStringLiteral("slot_id"), task.slot},
                        {QStringLiteral("life"), task.life},
                        {QStringLiteral("session_id"),
                         task.session.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(task.session)},
                        {QStringLiteral("begin_ms"), orNull(task.begin)},
                        {QStringLiteral("end_ms"), orNull(task.end)}};
        for (const char *name : {"prompt_tokens", "reused", "prefilled", "prompt_ms", "generated", "lcp", "restored",
                                 "erased", "forced_full", "loaded", "held"}) {
            QJsonValue value = task.numbers.value(QLatin1String(name));
            if (value.isUndefined() || (value.isDouble() && value.toDouble() < 0))
                value = QJsonValue::Null;
            row.insert(QLatin1String(name), value);
        }
        tasks.append(row);
    }
    QJsonArray erasures;
    for (const Erasure &erasure : m_erasures) {
        erasures.append(QJsonObject{{QStringLiteral("at_ms"), erasure.at},
                                    {QStringLiteral("slot_id"), erasure.slot},
                                    {QStringLiteral("task"), orNull(erasure.task)},
                                    {QStringLiteral("kind"), erasure.kind},
                                    {QStringLiteral("count"), erasure.count},
                                    {QStringLiteral("text"), erasure.text()}});
    }
    return {
        {QStringLiteral("history"), lanes}, {QStringLiteral("tasks"), tasks}, {QStringLiteral("erasures"), erasures}};
}

} // namespace kerf
