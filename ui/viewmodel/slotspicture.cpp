// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/viewmodel/slotspicture.h"

#include "ui/viewmodel/numbers.h"

#include <QCoreApplication>
#include <QJsonArray>

#include <algorithm>

namespace kerf {

namespace {

QString say(const char *text) { return QCoreApplication::translate("Slots", text); }

std::optional<int> intOf(const QJsonObject &object, const char *name)
{
    const QJsonValue value = object.value(QLatin1String(name));
    return value.isDouble() ? std::optional<int>(value.toInt()) : std::nullopt;
}

std::optional<qint64> longOf(const QJsonObject &object, const char *name)
{
    const QJsonValue value = object.value(QLatin1String(name));
    return value.isDouble() ? std::optional<qint64>(value.toInteger()) : std::nullopt;
}

std::optional<double> realOf(const QJsonObject &object, const char *name)
{
    const QJsonValue value = object.value(QLatin1String(name));
    return value.isDouble() ? std::optional<double>(value.toDouble()) : std::nullopt;
}

QString textOf(const QJsonObject &object, const char *name) { return object.value(QLatin1String(name)).toString(); }

std::optional<qint64> taskOf(const QJsonObject &object)
{
    std::optional<qint64> task = longOf(object, "task");
    if (!task)
        task = longOf(object, "task_id");
    return task && *task >= 0 ? task : std::nullopt;
}

QString ownerOf(const QJsonObject &object)
{
    const QString owner = textOf(object, "session_id");
    return owner.isEmpty() ? textOf(object, "owner") : owner;
}

std::optional<int> checkpointsOf(const QJsonObject &object)
{
    const QJsonValue list = object.value(QLatin1String("checkpoints"));
    return list.isArray() ? std::optional<int>(static_cast<int>(list.toArray().size())) : std::nullopt;
}

QString inMebibytes(qint64 bytes) { return mebibytes(bytes); }

} // namespace

CacheLevel SlotsPicture::level() const
{
    if (!cacheEnabled)
        return CacheLevel::Off;
    if (!cacheKnown || !cacheBytes)
        return CacheLevel::Unknown;
    if (cacheUnlimited)
        return CacheLevel::Unlimited;
    if (!cacheLimit || *cacheLimit <= 0)
        return CacheLevel::Unknown;
    if ((forecast && forecast->exceeds) || *cacheBytes > *cacheLimit)
        return CacheLevel::Full;
    return *cacheBytes * 5 >= *cacheLimit * 4 ? CacheLevel::Near : CacheLevel::Fine;
}

const SlotLane *SlotsPicture::lane(int slotId) const
{
    for (const SlotLane &lane : lanes) {
        if (lane.slotId == slotId)
            return &lane;
    }
    return nullptr;
}

SlotsPicture parseSlotsPicture(const QJsonObject &object)
{
    SlotsPicture picture;
    picture.known = true;
    picture.readable = object.value(QLatin1String("readable")).toBool(true);
    picture.reason = textOf(object, "reason");
    picture.source = textOf(object, "source");
    picture.simulated = object.value(QLatin1String("simulated")).toBool();
    picture.nowMs = longOf(object, "now_ms").value_or(QDateTime::currentMSecsSinceEpoch());
    const QJsonArray slotRows = object.value(QLatin1String("slots")).toArray();
    for (const QJsonValue &value : slotRows) {
        const QJsonObject row = value.toObject();
        SlotLane lane;
        lane.slotId = intOf(row, "slot_id").value_or(-1);
        if (lane.slotId < 0)
            continue;
        lane.tokens = intOf(row, "tokens");
        lane.busy = row.value(QLatin1String("busy")).toBool();
        lane.verified = row.value(QLatin1String("verified")).toBool();
        lane.hasRun = row.value(QLatin1String("has_run")).toBool(true);
        lane.task = taskOf(row);
        lane.checkpoints = checkpointsOf(row);
        lane.saveBytes = longOf(row, "save_bytes");
        lane.lastReuse = intOf(row, "last_reuse");
        lane.lastPrefill = intOf(row, "last_prefill");
        lane.owner = ownerOf(row);
        const QJsonObject prefill = row.value(QLatin1String("prefill")).toObject();
        lane.prefillTotal = intOf(prefill, "total");
        lane.prefillReused = intOf(prefill, "reused");
        lane.prefillDone = intOf(prefill, "processed");
        picture.lanes.append(lane);
    }
    const QJsonArray history = object.value(QLatin1String("history")).toArray();
    for (const QJsonValue &value : history) {
        const QJsonObject row = value.toObject();
        const int slotId = intOf(row, "slot_id").value_or(-1);
        auto lane = std::find_if(picture.lanes.begin(), picture.lanes.end(),
                                 [slotId](const SlotLane &other) { return other.slotId == slotId; });
        if (lane == picture.lanes.end())
            continue;
        const QJsonArray points = row.value(QLatin1String("points")).toArray();
        lane->points.reserve(points.size());
        for (const QJsonValue &entry : points) {
            const QJsonObject point = entry.toObject();
            lane->points.append(LanePoint{longOf(point, "at_ms").value_or(0), intOf(point, "tokens").value_or(0),
                                          point.value(QLatin1String("busy")).toBool(), taskOf(point),
                                          intOf(point, "processed"), intOf(point, "to_process")});
        }
    }
    std::sort(picture.lanes.begin(), picture.lanes.end(),
              [](const SlotLane &a, const SlotLane &b) { return a.slotId < b.slotId; });
    const QJsonArray tasks = object.value(QLatin1String("tasks")).toArray();
    for (const QJsonValue &value : tasks) {
        const QJsonObject row = value.toObject();
        SlotTask task;
        task.task = longOf(row, "task").value_or(-1);
        task.slotId = intOf(row, "slot_id").value_or(-1);
        task.life = intOf(row, "life").value_or(0);
        task.session = ownerOf(row);
        task.beginMs = longOf(row, "begin_ms");
        task.endMs = longOf(row, "end_ms");
        task.promptTokens = intOf(row, "prompt_tokens");
        task.reused = intOf(row, "reused");
        task.prefilled = intOf(row, "prefilled");
        task.promptMs = realOf(row, "prompt_ms");
        task.lcp = intOf(row, "lcp");
        task.erased = intOf(row, "erased");
        picture.tasks.append(task);
    }
    const QJsonArray erasures = object.value(QLatin1String("erasures")).toArray();
    for (const QJsonValue &value : erasures) {
        const QJsonObject row = value.toObject();
        picture.erasures.prepend(SlotErasure{longOf(row, "at_ms").value_or(0), intOf(row, "slot_id").value_or(-1),
                                             taskOf(row), textOf(row, "text")});
    }
    const QJsonArray saves = object.value(QLatin1String("saves")).toArray();
    for (const QJsonValue &value : saves) {
        const QJsonObject row = value.toObject();
        SavedFile save;
        save.sessionId = textOf(row, "session_id");
        save.file = textOf(row, "file");
        save.kind = textOf(row, "kind");
        save.position = intOf(row, "position").value_or(0);
        save.slotId = intOf(row, "slot_id");
        save.at = QDateTime::fromString(textOf(row, "at"), Qt::ISODateWithMs);
        save.thisServer = row.value(QLatin1String("this_server")).toBool();
        const QJsonValue there = row.value(QLatin1String("exists"));
        if (there.isBool())
            save.exists = there.toBool();
        picture.saves.append(save);
    }
    const QJsonObject cache = object.value(QLatin1String("host_cache")).toObject();
    picture.cacheKnown = cache.value(QLatin1String("known")).toBool(picture.simulated);
    picture.cacheEnabled = cache.value(QLatin1String("enabled")).toBool(true);
    picture.cacheUnlimited = cache.value(QLatin1String("unlimited")).toBool();
    picture.cacheBytes = longOf(cache, "bytes");
    picture.cacheLimit = longOf(cache, "limit_bytes");
    const QJsonArray entries = cache.value(QLatin1String("entries")).toArray();
    for (const QJsonValue &value : entries) {
        const QJsonObject row = value.toObject();
        picture.cached.append(CachedPrompt{intOf(row, "tokens").value_or(0), checkpointsOf(row),
                                           longOf(row, "size_bytes"), ownerOf(row),
                                           row.value(QLatin1String("verified")).toBool()});
    }
    const QJsonValue forecast = cache.value(QLatin1String("forecast"));
    if (forecast.isObject()) {
        const QJsonObject row = forecast.toObject();
        picture.forecast =
            CacheForecast{intOf(row, "slot_id").value_or(-1), longOf(row, "save_bytes").value_or(0),
                          longOf(row, "bytes").value_or(0),   row.value(QLatin1String("exceeds")).toBool(),
                          intOf(row, "drops").value_or(0),    row.value(QLatin1String("fits")).toBool(true)};
    }
    return picture;
}

QString cacheHeadline(const SlotsPicture &picture)
{
    if (!picture.cacheEnabled)
        return say("The host cache is off (--cache-ram 0).");
    if (!picture.cacheKnown)
        return say("What the host cache holds shows only in the server's log.");
    const QString bytes = picture.cacheBytes ? inMebibytes(*picture.cacheBytes) : say("not reported");
    if (picture.cacheUnlimited)
        return say("Host cache: %1 MiB, without a limit").arg(bytes);
    if (!picture.cacheLimit)
        return say("Host cache: %1 MiB, the limit is not reported").arg(bytes);
    return say("Host cache: %1 of %2 MiB").arg(bytes, number(*picture.cacheLimit / (1024 * 1024)));
}

QString cacheForecastText(const SlotsPicture &picture)
{
    if (!picture.forecast)
        return picture.cacheKnown && picture.cacheEnabled
            ? say("The next save cannot be forecast: no saved prompt has shown its size yet.")
            : QString();
    const CacheForecast &forecast = *picture.forecast;
    const QString size =
        say("Saving slot %1 takes about %2 MiB").arg(forecast.slotId).arg(inMebibytes(forecast.saveBytes));
    if (!forecast.fits)
        return say("%1: more than the whole cache, so it is not saved and its state is lost.").arg(size);
    if (forecast.exceeds)
        return forecast.drops == 1
            ? say("%1: over the limit, the oldest saved prompt is dropped.").arg(size)
            : say("%1: over the limit, the %2 oldest saved prompts are dropped.").arg(size).arg(forecast.drops);
    return say("%1: %2 MiB then.").arg(size, inMebibytes(forecast.bytes));
}

QString laneState(const SlotLane &lane)
{
    QStringList parts;
    if (lane.busy)
        parts << (lane.task ? say("busy, task %1").arg(*lane.task) : say("busy"));
    else
        parts << (lane.hasRun ? say("idle") : say("has not run yet"));
    if (lane.tokens && lane.hasRun)
        parts << say("%1 tokens").arg(lane.verified ? number(*lane.tokens) : approx(*lane.tokens));
    if (lane.checkpoints && *lane.checkpoints > 0)
        parts << (*lane.checkpoints == 1 ? say("1 checkpoint") : say("%1 checkpoints").arg(number(*lane.checkpoints)));
    return parts.join(QStringLiteral(" · "));
}

} // namespace kerf
