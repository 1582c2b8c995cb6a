// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/viewmodel/parse.h"

#include "ui/viewmodel/eventwords.h"

#include "core/eviction/policy.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <cmath>

namespace kerf {

namespace {

QJsonValue first(const QJsonObject &object, std::initializer_list<const char *> names)
{
    for (const char *name : names) {
        const QJsonValue value = object.value(QLatin1String(name));
        if (!value.isUndefined() && !value.isNull())
            return value;
    }
    return {};
}

QString text(const QJsonObject &object, const char *name) { return object.value(QLatin1String(name)).toString(); }

std::optional<int> integer(const QJsonValue &value)
{
    if (!value.isDouble())
        return std::nullopt;
    return static_cast<int>(std::llround(value.toDouble()));
}

std::optional<qint64> longInteger(const QJsonValue &value)
{
    if (!value.isDouble())
        return std::nullopt;
    return std::llround(value.toDouble());
}

std::optional<double> real(const QJsonValue &value)
{
    if (!value.isDouble())
        return std::nullopt;
    return value.toDouble();
}

std::optional<int> integer(const QJsonObject &object, const char *name)
{
    return integer(object.value(QLatin1String(name)));
}
int integerOr(const QJsonObject &object, const char *name, int other = 0)
{
    return integer(object, name).value_or(other);
}
bool truth(const QJsonObject &object, const char *name) { return object.value(QLatin1String(name)).toBool(); }

QDateTime time(const QJsonValue &value)
{
    if (value.isDouble())
        return QDateTime::fromMSecsSinceEpoch(std::llround(value.toDouble()), Qt::UTC);
    QDateTime result = QDateTime::fromString(value.toString(), Qt::ISODateWithMs);
    if (!result.isValid())
        result = QDateTime::fromString(value.toString(), Qt::ISODate);
    return result;
}

QStringList strings(const QJsonValue &value)
{
    if (value.isString())
        return value.toString().isEmpty() ? QStringList() : QStringList{value.toString()};
    QStringList result;
    const QJsonArray array = value.toArray();
    for (const QJsonValue &item : array) {
        if (item.isString())
            result << item.toString();
        else if (item.isObject())
            result << first(item.toObject(), {"text", "message", "advice", "detail"}).toString();
    }
    return result;
}

/// A plain form of a value for tables: raw, no locale.
QString plain(const QJsonValue &value)
{
    if (value.isBool())
        return value.toBool() ? QCoreApplication::translate("Evidence", "yes")
                              : QCoreApplication::translate("Evidence", "no");
    if (value.isDouble()) {
        const double number = value.toDouble();
        return number == std::floor(number) ? QLocale().toString(std::llround(number))
                                            : QLocale().toString(number, 'g', 4);
    }
    if (value.isNull())
        return QStringLiteral("null");
    return value.toString();
}

QMap<QString, int> counts(const QJsonValue &value)
{
    QMap<QString, int> result;
    const QJsonObject object = value.toObject();
    for (auto it = object.begin(); it != object.end(); ++it)
        result.insert(it.key(), it.value().toInt());
    return result;
}

} // namespace

CheckpointValue parseCheckpoint(const QJsonValue &value)
{
    CheckpointValue result;
    if (value.isDouble()) {
        result.position = value.toInt();
        return result;
    }
    const QJsonObject object = value.toObject();
    result.position = integer(first(object, {"position", "token_position", "n_tokens", "pos"})).value_or(0);
    result.kind = checkpointKindFromName(text(object, "kind")).value_or(CheckpointKind::InternalCheckpoint);
    result.sizeBytes = longInteger(first(object, {"size_bytes", "size", "n_bytes"}));
    result.taskId = longInteger(first(object, {"task_id", "task"}));
    result.slotId = integerOr(object, "slot_id", -1);
    result.createdAt = time(first(object, {"created_at", "at"}));
    result.fileName = first(object, {"file_name", "file", "path"}).toString();
    return result;
}

QList<SessionSummary> parseSessions(const QJsonObject &object)
{
    QList<SessionSummary> result;
    const QJsonArray array = object.value(QLatin1String("sessions")).toArray();
    for (const QJsonValue &value : array) {
        const QJsonObject row = value.toObject();
        SessionSummary session;
        session.id = text(row, "session_id");
        session.title = text(row, "title");
        session.episodes = integerOr(row, "episodes");
        session.liveTokens = integer(row, "live_tokens");
        session.revision = longInteger(row.value(QLatin1String("revision"))).value_or(0);
        session.turn = integerOr(row, "turn");
        session.updatedAt = time(row.value(QLatin1String("updated_at")));
        result << session;
    }
    return result;
}

SessionValue parseSession(const QJsonObject &object)
{
    SessionValue result;
    result.id = text(object, "session_id");
    result.title = text(object, "title");
    result.episodes = integerOr(object, "episodes");
    result.liveTokens = integer(object, "live_tokens");
    result.exact = truth(object, "exact");
    result.contextWindow = integerOr(object, "context_window");
    result.budget = integerOr(object, "budget");
    result.triggerAt = integerOr(object, "trigger_at");
    result.target = integerOr(object, "target");
    result.pressure = text(object, "pressure");
    result.revision = longInteger(object.value(QLatin1String("revision"))).value_or(0);
    result.turn = integerOr(object, "turn");
    result.tiers = counts(object.value(QLatin1String("tiers")));
    result.lastReceipt = object.value(QLatin1String("last_receipt")).toObject();
    return result;
}

QList<EpisodeValue> parseEpisodes(const QJsonObject &object)
{
    QList<EpisodeValue> result;
    const QJsonArray array = object.value(QLatin1String("episodes")).toArray();
    result.reserve(array.size());
    for (const QJsonValue &value : array) {
        const QJsonObject row = value.toObject();
        EpisodeValue episode;
        episode.id = longInteger(row.value(QLatin1String("episode_id"))).value_or(0);
        episode.seq = integerOr(row, "seq");
        episode.role = roleFromName(text(row, "role")).value_or(Role::Internal);
        episode.tier = tierFromName(text(row, "tier")).value_or(Tier::Live);
        episode.tokenCount = integerOr(row, "token_count");
        episode.exact = truth(row, "exact");
        const auto begin = integer(row, "begin");
        const auto end = integer(row, "end");
        if (begin && end)
            episode.range = TokenRange{*begin, *end};
        episode.pinned = truth(row, "pinned");
        episode.recent = truth(row, "recent");
        episode.toolName = text(row, "tool_name");
        episode.preview = text(row, "preview");
        episode.createdAt = time(row.value(QLatin1String("created_at")));
        result << episode;
    }
    return result;
}

PlanValue parsePlan(const QJsonObject &object)
{
    PlanValue plan;
    plan.planId = text(object, "plan_id");
    plan.sessionId = text(object, "session_id");
    plan.revision = longInteger(object.value(QLatin1String("revision"))).value_or(0);
    plan.pressure = text(object, "pressure");
    plan.budget = integerOr(object, "budget");
    plan.triggerAt = integerOr(object, "trigger_at");
    plan.target = integerOr(object, "target");
    plan.targetMissed = integerOr(object, "target_missed");
    plan.liveTokens = integerOr(object, "live_tokens");
    plan.anchorTokens = integerOr(object, "anchor_tokens");
    plan.fixedTokens = integerOr(object, "fixed_tokens");
    plan.promptTokens = integerOr(object, "prompt_tokens");
    plan.exact = truth(object, "exact");
    plan.plannedSavings = integerOr(object, "planned_savings");
    plan.tokensAfter = integerOr(object, "tokens_after");
    plan.applied = truth(object, "applied");
    plan.verdict = verdictFromName(text(object, "verdict"));
    plan.cacheStatus = cacheStatusFromName(text(object, "cache_status"));
    plan.cacheReason = text(object, "cache_reason");
    const QJsonValue boundary = object.value(QLatin1String("boundary"));
    if (boundary.isObject() && !boundary.toObject().value(QLatin1String("requested_cut")).isNull()
        && !boundary.toObject().isEmpty()) {
        plan.hasBoundary = plan.verdict != Verdict::None;
        QJsonObject full = boundary.toObject();
        // On the wire they stand beside the boundary; the value keeps them inside.
        for (const char *name : {"verdict", "cache_status", "cache_reason"}) {
            if (!full.contains(QLatin1String(name)))
                full.insert(QLatin1String(name), object.value(QLatin1String(name)));
        }
        plan.boundary = BoundaryPlan::fromJson(full);
        if (plan.cacheReason.isEmpty())
            plan.cacheReason = plan.boundary.reason;
    }
    plan.retainedPrefixTokens = integerOr(object, "retained_prefix_tokens");
    plan.retainedPromptTokens = integerOr(object, "retained_prompt_tokens");
    const QJsonArray updates = object.value(QLatin1String("updates")).toArray();
    for (const QJsonValue &value : updates) {
        const QJsonObject row = value.toObject();
        plan.updates << UpdateValue{longInteger(row.value(QLatin1String("episode_id"))).value_or(0),
                                    integerOr(row, "seq"),
                                    text(row, "from_tier"),
                                    text(row, "to_tier"),
                                    integerOr(row, "tokens_before"),
                                    integerOr(row, "tokens_after"),
                                    text(row, "reason")};
    }
    plan.updateCount = integer(object, "updates").value_or(static_cast<int>(plan.updates.size()));
    const QJsonArray alternatives = object.value(QLatin1String("alternatives")).toArray();
    for (const QJsonValue &value : alternatives) {
        const QJsonObject row = value.toObject();
        AlternativeValue alternative;
        alternative.cut = integerOr(row, "cut");
        alternative.atCheckpoint = text(row, "at") == QLatin1String("checkpoint");
        alternative.retainedTokens = integerOr(row, "retained_tokens");
        alternative.tokensAfter = integer(row, "tokens_after");
        alternative.predictedReuse = integer(row, "predicted_reuse");
        alternative.predictedPrefill = integer(row, "predicted_prefill");
        alternative.predictedMs = real(row.value(QLatin1String("predicted_ms")));
        plan.alternatives << alternative;
    }
    std::sort(plan.alternatives.begin(), plan.alternatives.end(),
              [](const AlternativeValue &a, const AlternativeValue &b) { return a.cut < b.cut; });
    plan.notes = strings(object.value(QLatin1String("notes")));
    plan.summary = text(object, "summary");
    return plan;
}

QList<PlanValue> parseCompactions(const QJsonObject &object)
{
    QList<PlanValue> result;
    const QJsonArray array = object.value(QLatin1String("compactions")).toArray();
    for (const QJsonValue &value : array) {
        const QJsonObject row = value.toObject();
        const QJsonObject nested = row.value(QLatin1String("plan")).toObject();
        PlanValue plan = parsePlan(nested.isEmpty() ? row : nested);
        plan.applied = true;
        const QJsonValue id = first(row, {"compaction_id", "id", "plan_id"});
        plan.compactionId = id.isDouble() ? QString::number(id.toInt()) : id.toString();
        plan.number = integer(first(row, {"number", "n", "index"})).value_or(id.isDouble() ? id.toInt() : 0);
        if (plan.planId.isEmpty())
            plan.planId = text(row, "plan_id");
        plan.plannedAt = time(first(row, {"planned_at", "predicted_at", "stored_at"}));
        plan.appliedAt = time(first(row, {"applied_at", "created_at"}));
        plan.outcome = text(row, "outcome");
        if (text(row, "status") == QLatin1String("undone"))
            plan.outcome = QStringLiteral("undone");
        const QJsonObject settlement = row.value(QLatin1String("settlement")).toObject();
        const auto settled = [&](const char *name) {
            const QJsonValue inner = settlement.value(QLatin1String(name));
            return inner.isUndefined() ? row.value(QLatin1String(name)) : inner;
        };
        plan.measuredReuse = integer(settled("measured_reuse"));
        plan.measuredPrefill = integer(settled("measured_prefill"));
        plan.measuredMs = real(settled("measured_ms"));
        plan.source = settled("source").toString();
        plan.cause = settled("cause").toString();
        plan.taskId = longInteger(settled("task_id"));
        const QJsonArray ring = row.value(QLatin1String("ring")).toArray();
        for (const QJsonValue &entry : ring)
            plan.ringBefore << parseCheckpoint(entry);
        result << plan;
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const PlanValue &a, const PlanValue &b) { return a.number > b.number; });
    return result;
}

ReceiptValue parseReceipt(const QJsonObject &object)
{
    ReceiptValue result;
    result.turn = integerOr(object, "turn");
    const QJsonObject parts = object.value(QLatin1String("breakdown")).toObject();
    for (const char *name : {"system_prompt", "tool_schemas", "pinned_anchors", "retrieved_memory", "stubs",
                             "fold_summaries", "raw_recent_history", "other"}) {
        if (const auto tokens = integer(parts, name))
            result.breakdown.append({QString::fromLatin1(name), *tokens});
    }
    result.totalTokens = integerOr(object, "total_tokens");
    result.exact = truth(object, "exact");
    result.contextWindow = integerOr(object, "context_window");
    result.cacheStatus = text(object, "cache_status");
    result.cacheDetail = text(object, "cache_detail");
    result.tokensReused = integer(object, "tokens_reused");
    result.tokensPrefilled = integer(object, "tokens_prefilled");
    result.promptEvalMs = real(object.value(QLatin1String("prompt_eval_ms")));
    result.outcome = text(object, "outcome");
    result.tokenizer = text(object, "tokenizer");
    const QJsonValue backend = object.value(QLatin1String("backend"));
    result.backend =
        backend.isObject() ? first(backend.toObject(), {"name", "backend"}).toString() : backend.toString();
    result.simulated = truth(object, "simulated");
    result.rendered = text(object, "rendered");
    const QJsonObject stats = object.value(QLatin1String("stats")).toObject();
    result.stats.compactions = integerOr(stats, "compactions");
    result.stats.byStatus = counts(stats.value(QLatin1String("by_status")));
    result.stats.measuredShare = real(stats.value(QLatin1String("measured_reuse_share")));
    result.stats.claimedShare = real(stats.value(QLatin1String("claimed_reuse_share")));
    result.stats.amplification = real(stats.value(QLatin1String("prefill_amplification")));
    return result;
}

DoctorValue parseDoctor(const QJsonObject &object)
{
    DoctorValue result;
    result.known = !object.isEmpty();
    result.backend = text(object, "backend");
    result.requested = text(object, "requested");
    result.resolved = text(object, "resolved");
    result.simulated = truth(object, "simulated");
    result.reachable = truth(object, "reachable");
    result.url = text(object, "url");
    result.build = text(object, "build");
    result.model = text(object, "model");
    result.contextSize = integer(object, "n_ctx");
    if (result.contextSize && *result.contextSize <= 0)
        result.contextSize.reset();
    const QJsonValue slotsField = object.value(QLatin1String("slots"));
    result.slotCount =
        slotsField.isArray() ? std::optional<int>(static_cast<int>(slotsField.toArray().size())) : integer(slotsField);
    result.capabilitiesLine = text(object, "capabilities_line");
    result.coherenceLine = text(object, "coherence_line");
    result.evictionLine = text(object, "eviction_line");
    const QJsonObject memory = object.value(QLatin1String("memory")).toObject();
    result.memoryKind = memoryKindFromName(text(memory, "kind")).value_or(MemoryKind::Unknown);
    result.memoryEvidence = first(memory, {"detail", "evidence"}).toString();
    result.memoryConfidence = text(memory, "confidence");
    const QJsonValue chunk = object.value(QLatin1String("chunk_reuse"));
    if (chunk.isObject())
        result.chunkReuse = integer(first(chunk.toObject(), {"value", "n", "tokens"}));
    else if (chunk.isBool())
        result.chunkReuse = chunk.toBool() ? 1 : 0;
    else
        result.chunkReuse = integer(chunk);
    const QJsonObject ring = object.value(QLatin1String("ring")).toObject();
    result.ringVisible = truth(ring, "visible");
    result.ringSource = text(ring, "source");
    const QJsonArray entries = ring.value(QLatin1String("entries")).toArray();
    for (const QJsonValue &value : entries)
        result.ring << parseCheckpoint(value);
    result.ringMost = integer(ring.value(QLatin1String("max")));
    result.ringStep = integer(ring.value(QLatin1String("min_step")));
    result.advice = strings(object.value(QLatin1String("advice")));
    result.notes = strings(object.value(QLatin1String("notes")));
    const QJsonArray evidence = object.value(QLatin1String("evidence")).toArray();
    for (const QJsonValue &value : evidence) {
        const QJsonObject row = value.toObject();
        QString source = text(row, "source");
        const QString detail = text(row, "detail");
        if (!detail.isEmpty())
            source = source.isEmpty() ? detail : QStringLiteral("%1: %2").arg(source, detail);
        const QDateTime at = time(row.value(QLatin1String("at")));
        result.evidence << EvidenceRow{text(row, "claim"), plain(row.value(QLatin1String("value"))), source,
                                       at.isValid() ? QLocale().toString(at.toLocalTime().time(), QLocale::ShortFormat)
                                                    : QString()};
    }
    const QJsonArray probe = first(object, {"probe", "probe_steps"}).toArray();
    for (const QJsonValue &value : probe) {
        const QJsonObject row = value.toObject();
        const int status = integerOr(row, "http_status", integerOr(row, "status"));
        result.probe << EvidenceRow{text(row, "name"),
                                    status > 0 ? QStringLiteral("HTTP %1").arg(status)
                                               : QCoreApplication::translate("Evidence", "no answer"),
                                    text(row, "message"), text(row, "route")};
    }
    return result;
}

QList<SlotValue> parseSlots(const QJsonObject &object)
{
    QList<SlotValue> result;
    const QJsonArray array = object.value(QLatin1String("slots")).toArray();
    for (const QJsonValue &value : array) {
        const QJsonObject row = value.toObject();
        SlotValue slot;
        slot.id = integer(first(row, {"slot_id", "id"})).value_or(-1);
        slot.tokens = integer(first(row, {"tokens", "n_tokens", "held", "length", "tokens_held"}));
        slot.busy = row.contains(QLatin1String("busy")) ? truth(row, "busy") : truth(row, "is_processing");
        slot.lastReuse = integer(first(row, {"last_reuse", "cache_n"}));
        slot.taskId = longInteger(first(row, {"task_id", "id_task", "task"}));
        if (slot.taskId && *slot.taskId < 0)
            slot.taskId.reset();
        slot.verified = truth(row, "verified");
        slot.hasRun = row.contains(QLatin1String("has_run")) ? truth(row, "has_run") : slot.tokens.has_value();
        const QJsonValue checkpoints = row.value(QLatin1String("checkpoints"));
        slot.ringKnown = checkpoints.isArray();
        if (row.contains(QLatin1String("checkpoints_known")))
            slot.ringKnown = truth(row, "checkpoints_known");
        const QJsonArray entries = checkpoints.toArray();
        for (const QJsonValue &entry : entries)
            slot.checkpoints << parseCheckpoint(entry);
        std::sort(slot.checkpoints.begin(), slot.checkpoints.end(),
                  [](const CheckpointValue &a, const CheckpointValue &b) { return a.position < b.position; });
        slot.owner = first(row, {"owner", "session_id"}).toString();
        result << slot;
    }
    return result;
}

ProfileValue parseProfile(const QJsonObject &object)
{
    ProfileValue result;
    result.name = first(object, {"name", "profile"}).toString();
    result.known = strings(object.value(QLatin1String("shipped"))) + strings(object.value(QLatin1String("saved")));
    if (result.known.isEmpty())
        result.known = shippedProfiles();
    if (object.value(QLatin1String("environment")).isString())
        result.lockedBy =
            object.value(QLatin1String("environment_variable")).toString(QStringLiteral("KERF_EVICTION_PROFILE"));
    result.wire = object;
    result.chosenBecause = text(object, "chosen_because");
    const QJsonValue knobs = first(object, {"knobs", "effective", "policy"});
    const QJsonObject origin = first(object, {"origin", "sources"}).toObject();
    const QJsonObject values = knobs.toObject();
    for (auto it = values.begin(); it != values.end(); ++it) {
        QJsonValue value = it.value();
        QString source = origin.value(it.key()).toString();
        if (value.isObject()) {
            source = first(value.toObject(), {"origin", "source", "from"}).toString();
            value = value.toObject().value(QLatin1String("value"));
        }
        if (source == QLatin1String("session") || source == QLatin1String("service"))
            result.modified = true;
        result.knobs << EvidenceRow{it.key(), plain(value), source, QString()};
    }
    return result;
}

PromptValue parsePrompt(const QJsonObject &object)
{
    PromptValue result;
    result.which = text(object, "which");
    result.total = integerOr(object, "total");
    result.exact = truth(object, "exact");
    result.simulated = truth(object, "simulated");
    result.revision = longInteger(object.value(QLatin1String("revision"))).value_or(0);
    const QJsonArray parts = object.value(QLatin1String("parts")).toArray();
    for (const QJsonValue &value : parts) {
        const QJsonObject row = value.toObject();
        result.parts << PromptPartValue{text(row, "part"), integer(row, "seq"), text(row, "role"),
                                        TokenRange{integerOr(row, "begin"), integerOr(row, "end")}};
    }
    const QJsonArray tokens = object.value(QLatin1String("tokens")).toArray();
    result.tokens.reserve(tokens.size());
    for (const QJsonValue &value : tokens) {
        const QJsonObject row = value.toObject();
        PromptToken token;
        token.position = integerOr(row, "position");
        token.id = integer(row, "id");
        const QJsonValue piece = row.value(QLatin1String("piece"));
        if (piece.isArray()) { // no UTF-8: bytes, as /tokenize gives them
            const QJsonArray bytes = piece.toArray();
            for (const QJsonValue &byte : bytes)
                token.bytes.append(static_cast<char>(byte.toInt()));
            token.textKnown = true;
        } else if (piece.isString()) {
            token.bytes = piece.toString().toUtf8();
            token.textKnown = true;
        }
        result.tokens << token;
    }
    return result;
}

DiffValue parseDiff(const QJsonObject &object)
{
    DiffValue result;
    result.aTotal = integerOr(object, "a_total");
    result.bTotal = integerOr(object, "b_total");
    result.lcp = integerOr(object, "lcp");
    const QJsonValue difference = object.value(QLatin1String("first_difference"));
    if (difference.isObject()) {
        const QJsonObject row = difference.toObject();
        result.differs = true;
        result.position = integerOr(row, "position", result.lcp);
        result.part = text(row, "part");
        result.seq = integer(row, "seq");
        result.reason = text(row, "reason");
    }
    const QJsonArray runs = object.value(QLatin1String("equal_after")).toArray();
    for (const QJsonValue &value : runs) {
        const QJsonObject row = value.toObject();
        EqualRun run;
        run.aBegin = integer(first(row, {"a_begin", "a", "held_begin"})).value_or(0);
        run.bBegin = integer(first(row, {"b_begin", "b", "new_begin"})).value_or(0);
        run.length = integer(first(row, {"length", "tokens", "n"})).value_or(0);
        if (run.length > 0)
            result.equalAfter << run;
    }
    return result;
}

EventValue parseEvent(const QString &topic, const QJsonObject &params, const QDateTime &now)
{
    EventValue result;
    result.time = time(first(params, {"at", "time", "created_at"}));
    if (!result.time.isValid())
        result.time = now;
    result.kind = eventKindWord(topic, params);
    result.slotId = integerOr(params, "slot_id", integerOr(params, "slot", -1));
    result.taskId = longInteger(first(params, {"task_id", "task"}));
    if (result.taskId && *result.taskId < 0)
        result.taskId.reset();
    QString spoken = first(params, {"text", "message", "summary", "reading"}).toString();
    if (spoken.isEmpty())
        spoken = eventSentence(topic, params);
    if (!spoken.isEmpty()) {
        result.text = spoken;
    } else {
        QStringList pieces;
        for (auto it = params.begin(); it != params.end(); ++it) {
            if (it.key() == QLatin1String("topic") || it.key() == QLatin1String("kind")
                || it.key() == QLatin1String("slot_id") || it.value().isObject() || it.value().isArray())
                continue;
            pieces << QStringLiteral("%1 %2").arg(it.key(), plain(it.value()));
        }
        result.text = pieces.join(QStringLiteral(" · "));
    }
    // Thinning out and replacing are the ring's own housekeeping.
    const QString why = text(params, "why");
    const bool erased = result.kind.contains(QLatin1String("erased")) && why != QLatin1String("thinned")
        && why != QLatin1String("superseded");
    result.problem = erased || result.kind.contains(QLatin1String("down"))
        || result.kind.contains(QLatin1String("full reprocessing"))
        || text(params, "outcome") == QLatin1String("refuted");
    return result;
}

} // namespace kerf
