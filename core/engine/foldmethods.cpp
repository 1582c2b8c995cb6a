// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// Folds (a side trip that leaves one summary behind) and snapshots of a session's slot (SPEC section 8).

#include "core/backend/heuristictokenizer.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/engine/text.h"

#include <algorithm>

namespace kerf {

namespace {

constexpr int kTolerance = 8; ///< tokens; as for every prediction (SPEC section 9)

QString keyOf(qint64 foldId) { return QStringLiteral("fold/%1").arg(foldId, 9, 10, QLatin1Char('0')); }

QJsonObject checkpointJson(const Checkpoint &checkpoint)
{
    return {{QStringLiteral("kind"), checkpointKindName(checkpoint.kind)},
            {QStringLiteral("position"), checkpoint.position},
            {QStringLiteral("file"), checkpoint.fileName},
            {QStringLiteral("slot_id"), checkpoint.slotId}};
}

QString timeStamp() { return QDateTime::currentDateTimeUtc().toString(QStringLiteral("yyyyMMdd-HHmmss-zzz")); }

} // namespace

QCoro::Task<void> Engine::readFolds()
{
    const QString prefix = QStringLiteral("fold/");
    const auto kept = co_await m_store->valuesWithPrefix(prefix);
    if (!kept) {
        qCWarning(lcEngine) << "folds were not read" << kept.error().message;
        co_return;
    }
    for (const auto &[key, value] : std::as_const(*kept))
        m_folds.insert(value.value(QStringLiteral("fold_id")).toInteger(), value);
}

int Engine::openFoldCount() const
{
    return static_cast<int>(std::count_if(m_folds.cbegin(), m_folds.cend(), [](const QJsonObject &fold) {
        return fold.value(QStringLiteral("open")).toBool();
    }));
}

/// The newest open fold of a session; 0 = none. What is committed belongs to it.
qint64 Engine::openFoldOf(const QString &sessionId) const
{
    qint64 newest = 0;
    for (auto it = m_folds.cbegin(); it != m_folds.cend(); ++it) {
        if (it->value(QStringLiteral("open")).toBool()
            && it->value(QStringLiteral("session_id")).toString() == sessionId)
            newest = std::max(newest, it.key());
    }
    return newest;
}

Result<QJsonObject> Engine::foldOf(const QJsonObject &params) const
{
    const auto id = params::id(params, QStringLiteral("fold_id"));
    if (!id)
        return std::unexpected(id.error());
    const auto it = m_folds.constFind(*id);
    if (it == m_folds.cend())
        return failure(Error::Code::NotFound, QStringLiteral("fold_id: there is no fold %1").arg(*id));
    return *it;
}

/// Saves what a session's slot holds. What is missing is said in words: a snapshot that is not taken fails nothing.
QCoro::Task<Result<Checkpoint>> Engine::saveHeld(SessionPtr session, int slotId, CheckpointKind kind, QString file)
{
    const BackendInfo info = m_backend->info();
    if (!info.capabilities.reachable)
        co_return failure(Error::Code::Unreachable,
                          info.unreachableReason.isEmpty() ? QStringLiteral("there is no server")
                                                           : info.unreachableReason);
    if (!info.capabilities.slotSave)
        co_return failure(Error::Code::Refused,
                          QStringLiteral("the server saves no slots: start it with --slot-save-path DIR"));
    ServerStates states = m_backend->lastStates();
    if (const auto read = co_await m_backend->states())
        states = *read;
    const HeldState *held = nullptr;
    for (const HeldState &state : std::as_const(states.states)) {
        if (state.place != HeldState::Place::Slot || state.length <= 0)
            continue;
        const bool wanted = slotId >= 0 ? state.slotId == slotId : state.owner == session->record.id;
        if (wanted && (!held || state.lastUsed > held->lastUsed))
            held = &state;
    }
    if (!held)
        co_return failure(Error::Code::NotFound,
                          slotId >= 0 ? QStringLiteral("slot %1 holds nothing").arg(slotId)
                                      : QStringLiteral("no slot is known to hold this session"));
    if (held->busy)
        co_return failure(Error::Code::Failed, QStringLiteral("slot %1 is busy").arg(held->slotId),
                          QStringLiteral("slot-busy"));
    const auto policy = policyFor(session.get());
    const qint64 floor = policy ? policy->knobs.minFreeDiskBytes : EvictionKnobs().minFreeDiskBytes;
    if (const auto free = m_backend->freeSaveBytes(); free && *free < floor)
        co_return failure(Error::Code::Failed,
                          QStringLiteral("%1 bytes are free where saves go, %2 are asked for").arg(*free).arg(floor),
                          QStringLiteral("disk-floor"));
    Checkpoint checkpoint;
    checkpoint.kind = kind;
    checkpoint.slotId = held->slotId;
    checkpoint.fileName = file;
    checkpoint.serverIdentity = info.identity;
    checkpoint.createdAt = QDateTime::currentDateTimeUtc();
    const TokenList ids = held->tokens;
    KERF_TRY(saved, co_await m_backend->saveSlot(checkpoint.slotId, file));
    checkpoint.position = std::min(saved, static_cast<int>(ids.size()));
    if (checkpoint.position <= 0)
        co_return failure(Error::Code::Failed,
                          QStringLiteral("the server saved %1 tokens whose ids are not known here").arg(saved));
    checkpoint.prefixHash = hashTokens(ids, checkpoint.position);
    checkpoint.sizeBytes = m_backend->saveFileBytes(file).value_or(-1);
    KERF_TRY(row, co_await m_store->saveCheckpoint(session->record.id, checkpoint));
    checkpoint.recordId = row;
    session->recorded.append(checkpoint);
    co_return checkpoint;
}

/// Keeps the newest `snapshot_retention_per_slot` saves of a slot. Only files that Kerf made, none of an open fold.
QCoro::Task<void> Engine::pruneSaves(SessionPtr session, int slotId)
{
    const auto policy = policyFor(session.get());
    const int keep = policy ? policy->knobs.snapshotRetentionPerSlot : EvictionKnobs().snapshotRetentionPerSlot;
    QStringList needed;
    for (const QJsonObject &fold : std::as_const(m_folds)) {
        if (fold.value(QStringLiteral("open")).toBool())
            needed.append(fold.value(QStringLiteral("checkpoint")).toObject().value(QStringLiteral("file")).toString());
    }
    QList<Checkpoint> saves;
    for (const Checkpoint &checkpoint : std::as_const(session->recorded)) {
        if (checkpoint.slotId == slotId && checkpoint.fileName.startsWith(QLatin1String("kerf-"))
            && !needed.contains(checkpoint.fileName))
            saves.append(checkpoint);
    }
    std::sort(saves.begin(), saves.end(),
              [](const Checkpoint &a, const Checkpoint &b) { return a.createdAt > b.createdAt; });
    for (qsizetype i = std::max(0, keep); i < saves.size(); ++i) {
        const Checkpoint old = saves.at(i);
        if (const Result<void> removed = m_backend->removeSaveFile(old.fileName);
            !removed && removed.error().code != Error::Code::NotFound)
            continue; // it may still be there: it stays on record
        const Result<void> gone = co_await m_store->deleteCheckpoint(old.recordId);
        if (gone)
            session->recorded.removeIf([&old](const Checkpoint &c) { return c.recordId == old.recordId; });
    }
}

Engine::Answer Engine::fold(QJsonObject params, CallContext context)
{
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    KERF_TRY(description, params::text(params, QStringLiteral("description"), true));
    KERF_TRY(goal, params::text(params, QStringLiteral("goal"), false));
    KERF_TRY(slotId, params::slot(params));
    KERF_TRY(session, co_await openSession(sessionId, false));
    co_await m_backend->ready();
    KERF_TRY(live, co_await livePrompt(session));
    qint64 id = 1;
    for (auto it = m_folds.cbegin(); it != m_folds.cend(); ++it)
        id = std::max(id, it.key() + 1);
    QJsonObject fold{{QStringLiteral("fold_id"), id},
                     {QStringLiteral("session_id"), sessionId},
                     {QStringLiteral("description"), description},
                     {QStringLiteral("goal"), goal},
                     {QStringLiteral("open"), true},
                     {QStringLiteral("opened_at"), params::iso(QDateTime::currentDateTimeUtc())},
                     {QStringLiteral("tokens_at_open"), live.layout.size()},
                     {QStringLiteral("checkpoint"), QJsonValue::Null},
                     {QStringLiteral("rollback_proven"), false}};
    m_folds.insert(id, fold); // the number is taken while we wait
    // How much of the prompt is held now: that is what a way back can restore.
    ServerStates states = m_backend->lastStates();
    if (const auto read = co_await m_backend->states())
        states = *read;
    const ReusePrediction now = predictReuse(states.states, {live.layout.tokens, slotId}, m_backend->info().rule);
    int position = now.stateIndex >= 0 ? now.lcp : 0;
    QString note;
    const QString file = QStringLiteral("kerf-fold-%1-%2.bin").arg(id).arg(timeStamp());
    auto saved = co_await saveHeld(session, slotId, CheckpointKind::FoldMarker, file);
    if (saved) {
        position = saved->position;
        fold.insert(QStringLiteral("checkpoint"), checkpointJson(*saved));
        note = QStringLiteral("slot %1 was saved at %2 tokens").arg(saved->slotId).arg(groupedNumber(position));
    } else {
        note = QStringLiteral("no save was taken: %1").arg(saved.error().message);
    }
    if (m_backend->info().simulated)
        note += QStringLiteral(" (simulated)");
    fold.insert(QStringLiteral("token_position"), position);
    fold.insert(QStringLiteral("cache_note"), note);
    if (const Result<void> kept = co_await m_store->setValue(keyOf(id), fold); !kept) {
        m_folds.remove(id);
        co_return std::unexpected(kept.error());
    }
    m_folds.insert(id, fold);
    co_return QJsonObject{{QStringLiteral("fold_id"), id},
                          {QStringLiteral("session_id"), sessionId},
                          {QStringLiteral("checkpoint"), fold.value(QStringLiteral("checkpoint"))},
                          {QStringLiteral("token_position"), position},
                          {QStringLiteral("tokens_at_open"), live.layout.size()},
                          {QStringLiteral("cache_note"), note}};
}

Engine::Answer Engine::unfold(QJsonObject params, CallContext context)
{
    Q_UNUSED(context)
    KERF_TRY(fold, foldOf(params));
    KERF_TRY(summary, params::text(params, QStringLiteral("result_summary"), true));
    const qint64 id = fold.value(QStringLiteral("fold_id")).toInteger();
    const QString sessionId = fold.value(QStringLiteral("session_id")).toString();
    if (!fold.value(QStringLiteral("open")).toBool())
        co_return failure(Error::Code::Failed, QStringLiteral("fold %1 is closed already").arg(id),
                          QStringLiteral("fold-closed"));
    KERF_TRY(session, co_await openSession(sessionId, false));
    co_await m_backend->ready();
    KERF_TRY(before, co_await livePrompt(session));
    const qint64 revision = session->record.revision;

    QList<TierChange> changes;
    QJsonArray folded;
    Role last = Role::System; // of what stays in front of the summary
    // A call and its results stay or go together: one that began before the fold stays whole.
    const QList<int> leaders = groupLeaders(session->episodes);
    for (qsizetype i = 0; i < session->episodes.size(); ++i) {
        const Episode &episode = session->episodes.at(i);
        if (episode.foldId == id) {
            folded.append(episode.id);
            const Episode &leader = session->episodes.at(leaders.at(i));
            if (isInPrompt(episode.tier) && leader.foldId == id && !session->isPinned(leader.id)
                && !session->isPinned(episode.id) && episode.role != Role::Internal) {
                changes.append({episode.id, Tier::Referenced});
                continue;
            }
        }
        if (isInPrompt(episode.tier) && episode.role != Role::Internal)
            last = episode.role;
    }
    Episode draft;
    draft.sessionId = sessionId;
    // So that roles still alternate: behind a question it is the answer, else it is told.
    draft.role = last == Role::User || last == Role::Tool ? Role::Assistant : Role::User;
    draft.content =
        QStringLiteral("[fold #%1: %2] %3").arg(id).arg(fold.value(QStringLiteral("description")).toString(), summary);
    draft.clientRef = QStringLiteral("kerf-fold-%1").arg(id);
    draft.tokenCount = HeuristicTokenizer::count(draft.content.toUtf8());
    QJsonObject closed = fold;
    closed.insert(QStringLiteral("open"), false);
    closed.insert(QStringLiteral("closed_at"), params::iso(QDateTime::currentDateTimeUtc()));
    closed.insert(QStringLiteral("result_summary"), summary);
    closed.insert(QStringLiteral("episodes"), folded);
    if (session->record.revision != revision)
        co_return failure(Error::Code::StalePlan,
                          QStringLiteral("the session moved on while fold %1 was being closed: try again").arg(id));
    Session next = *session;
    for (const TierChange &change : std::as_const(changes)) {
        if (Episode *episode = next.byId(change.episodeId))
            next.prompt.masks.remove(episode->seq);
    }
    KERF_TRY(appended, co_await m_store->closeFold(keyOf(id), closed, changes, draft, next.stateJson()));
    for (const TierChange &change : std::as_const(changes)) {
        if (Episode *episode = session->byId(change.episodeId)) {
            session->prompt.masks.remove(episode->seq);
            episode->tier = change.tier;
        }
    }
    session->append(appended.episode);
    session->record.revision = std::max(session->record.revision, appended.revision);
    session->record.episodeCount = session->episodes.size();
    m_folds.insert(id, closed);
    queueCount(sessionId, appended.episode.id);
    publish(QStringLiteral("episode"),
            {{QStringLiteral("session_id"), sessionId},
             {QStringLiteral("episode_id"), appended.episode.id},
             {QStringLiteral("seq"), appended.episode.seq},
             {QStringLiteral("role"), roleName(appended.episode.role)},
             {QStringLiteral("fold_id"), id},
             {QStringLiteral("revision"), appended.revision}});

    KERF_TRY(after, co_await livePrompt(session));
    // The way back: the server's own rule first (a prefix, or its ring), then the save that was made at the opening.
    const int position = std::min(fold.value(QStringLiteral("token_position")).toInt(),
                                  commonPrefix(before.layout.tokens, after.layout.tokens));
    ServerStates states = m_backend->lastStates();
    if (const auto read = co_await m_backend->states())
        states = *read;
    const BackendInfo info = m_backend->info();
    const ReusePrediction prediction = predictReuse(states.states, {after.layout.tokens, -1}, info.rule);
    bool performed = false;
    QString method = QStringLiteral("none");
    QString detail;
    const Checkpoint *save = nullptr;
    const QString file = fold.value(QStringLiteral("checkpoint")).toObject().value(QStringLiteral("file")).toString();
    for (const Checkpoint &checkpoint : std::as_const(session->recorded)) {
        if (!file.isEmpty() && checkpoint.fileName == file)
            save = &checkpoint;
    }
    if (position <= 0) {
        detail = QStringLiteral("nothing was held when the fold was opened");
    } else if (prediction.claimable && prediction.predicted >= position - kTolerance) {
        performed = true;
        method = prediction.checkpointPosition >= 0 ? QStringLiteral("ring-rewind") : QStringLiteral("prefix");
        detail = QStringLiteral("the server goes back to %1 by itself: %2")
                     .arg(groupedNumber(prediction.predicted), prediction.reason);
    } else if (!save) {
        detail = QStringLiteral("no save was taken when the fold was opened, and the server cannot go back: %1")
                     .arg(prediction.reason);
    } else if (!info.capabilities.slotRestore) {
        detail = QStringLiteral("this server restores no slots");
    } else if (const QString fault = faultOf(*save); !fault.isEmpty()) {
        detail = QStringLiteral("%1 is not restored: %2").arg(file, fault);
    } else {
        const int slot = save->slotId;
        auto restored = co_await m_backend->restoreSlot(slot, file);
        performed = restored.has_value();
        method = performed ? QStringLiteral("slot-restore") : QStringLiteral("none");
        detail = performed ? QStringLiteral("%1 (%2 tokens) was restored to slot %3; proven only by the next request")
                                 .arg(file, groupedNumber(*restored))
                                 .arg(slot)
                           : QStringLiteral("restoring %1 failed: %2").arg(file, restored.error().message);
    }
    if (performed)
        session->proving = {id, position, method == QLatin1String("slot-restore")};
    QJsonObject told = closed;
    told.insert(QStringLiteral("rollback_method"), method);
    told.insert(QStringLiteral("rollback_detail"), detail);
    m_folds.insert(id, told);
    if (const Result<void> kept = co_await m_store->setValue(keyOf(id), told); !kept)
        qCWarning(lcEngine) << "a fold's way back was not kept" << kept.error().message;
    co_await pruneSaves(session, save ? save->slotId : -1);
    co_return QJsonObject{{QStringLiteral("fold_id"), id},
                          {QStringLiteral("session_id"), sessionId},
                          {QStringLiteral("episode_id"), appended.episode.id},
                          {QStringLiteral("tokens_reclaimed"), before.layout.size() - after.layout.size()},
                          {QStringLiteral("exact"), before.exact && after.exact},
                          {QStringLiteral("episodes_folded"), static_cast<qint64>(changes.size())},
                          {QStringLiteral("rollback_performed"), performed},
                          {QStringLiteral("rollback_method"), method},
                          {QStringLiteral("rollback_proven"), false},
                          {QStringLiteral("rollback_detail"), detail},
                          {QStringLiteral("trace_retrievable"), true}};
}

Engine::Answer Engine::recallFold(QJsonObject params, CallContext context)
{
    Q_UNUSED(context)
    KERF_TRY(fold, foldOf(params));
    const qint64 id = fold.value(QStringLiteral("fold_id")).toInteger();
    KERF_TRY(session, co_await openSession(fold.value(QStringLiteral("session_id")).toString(), false));
    QList<qint64> ids;
    for (const Episode &episode : std::as_const(session->episodes)) {
        if (episode.foldId == id)
            ids.append(episode.id);
    }
    KERF_TRY(stored, co_await m_store->episodesById(ids));
    QJsonArray rows;
    for (const Episode &episode : std::as_const(stored)) {
        QJsonArray calls;
        for (const ToolCall &call : episode.toolCalls)
            calls.append(QJsonObject{{QStringLiteral("id"), call.id},
                                     {QStringLiteral("name"), call.name},
                                     {QStringLiteral("arguments"), call.arguments}});
        const Episode *mine = session->byId(episode.id);
        rows.append(QJsonObject{
            {QStringLiteral("episode_id"), episode.id},
            {QStringLiteral("seq"), episode.seq},
            {QStringLiteral("role"), roleName(episode.role)},
            {QStringLiteral("content"),
             episode.contentIsNull                ? QJsonValue(QJsonValue::Null)
                 : episode.contentParts.isEmpty() ? QJsonValue(episode.content)
                                                  : QJsonValue(episode.contentParts)},
            {QStringLiteral("tool_calls"), calls.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(calls)},
            {QStringLiteral("tool_call_id"), params::orNull(episode.toolCallId)},
            {QStringLiteral("tool_name"), params::orNull(episode.toolName)},
            {QStringLiteral("tier"), tierName(mine ? mine->tier : episode.tier)}});
    }
    QJsonObject answer = fold;
    answer.insert(QStringLiteral("episodes"), rows);
    if (!answer.contains(QStringLiteral("result_summary")))
        answer.insert(QStringLiteral("result_summary"), QJsonValue::Null);
    co_return answer;
}

Engine::Answer Engine::snapshot(QJsonObject params, CallContext context)
{
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    KERF_TRY(slotId, params::slot(params));
    KERF_TRY(session, co_await openSession(sessionId, false));
    co_await m_backend->ready();
    const QString file = QStringLiteral("kerf-snapshot-%1.bin").arg(timeStamp());
    KERF_TRY(saved, co_await saveHeld(session, slotId, CheckpointKind::SlotSaveFile, file));
    co_await pruneSaves(session, saved.slotId);
    co_return QJsonObject{{QStringLiteral("session_id"), sessionId},
                          {QStringLiteral("path"), file},
                          {QStringLiteral("tokens"), saved.position},
                          {QStringLiteral("slot_id"), saved.slotId},
                          {QStringLiteral("simulated"), m_backend->info().simulated}};
}

/// A save on record that can be told to be useless before the server is asked; an empty text = nothing is wrong with
/// it.
QString Engine::faultOf(const Checkpoint &save) const
{
    const BackendInfo info = m_backend->info();
    if (save.serverIdentity != info.identity)
        return QStringLiteral("it was saved by another server, build or model (%1)").arg(save.serverIdentity);
    if (m_backend->saveFileExists(save.fileName) == std::optional<bool>(false))
        return QStringLiteral("the file is gone");
    const auto bytes = m_backend->saveFileBytes(save.fileName);
    if (bytes && save.sizeBytes >= 0 && *bytes != save.sizeBytes)
        return QStringLiteral("the file is damaged: it has %1 bytes, %2 were saved").arg(*bytes).arg(save.sizeBytes);
    return {};
}

Engine::Answer Engine::restoreSnapshot(QJsonObject params, CallContext context)
{
    Q_UNUSED(context)
    KERF_TRY(path, params::text(params, QStringLiteral("path"), true));
    KERF_TRY(slotId, params::slot(params));
    co_await m_backend->ready();
    const BackendInfo info = m_backend->info();
    if (!info.capabilities.reachable)
        co_return failure(Error::Code::Unreachable,
                          info.unreachableReason.isEmpty() ? QStringLiteral("there is no server")
                                                           : info.unreachableReason);
    // Whose it is: the session that has it on record.
    KERF_TRY(rows, co_await m_store->listSessions());
    SessionPtr owner;
    Checkpoint found;
    for (const SessionRecord &row : std::as_const(rows)) {
        KERF_TRY(session, co_await openSession(row.id, false));
        for (const Checkpoint &checkpoint : std::as_const(session->recorded)) {
            if (checkpoint.fileName == path) {
                owner = session;
                found = checkpoint;
            }
        }
        if (owner)
            break;
    }
    if (!owner)
        co_return failure(
            Error::Code::NotFound,
            QStringLiteral("path: no session has a save named \"%1\" on record; a foreign file is not touched")
                .arg(path));
    if (const QString fault = faultOf(found); !fault.isEmpty())
        co_return failure(Error::Code::Refused, QStringLiteral("%1 is not restored: %2").arg(path, fault),
                          QStringLiteral("save-unusable"));
    const int slot = slotId >= 0 ? slotId : found.slotId;
    KERF_TRY(restored, co_await m_backend->restoreSlot(slot, path));
    owner->proving = {0, std::min(restored, found.position), true};
    co_return QJsonObject{{QStringLiteral("session_id"), owner->record.id},
                          {QStringLiteral("path"), path},
                          {QStringLiteral("slot_id"), slot},
                          {QStringLiteral("tokens"), restored},
                          {QStringLiteral("proven"), false},
                          {QStringLiteral("simulated"), info.simulated},
                          {QStringLiteral("detail"),
                           QStringLiteral("the server says that %1 tokens are back; proven only by the next request")
                               .arg(groupedNumber(restored))}};
}

/// The next request of the session proves the way back, or refutes it. Returns whether a restore was proven.
QCoro::Task<bool> Engine::proveRollback(SessionPtr session, int reused)
{
    const Session::Proving proving = std::exchange(session->proving, {});
    if (proving.position <= 0)
        co_return false;
    const bool proven = reused >= proving.position - kTolerance;
    if (proving.foldId > 0) {
        QJsonObject fold = m_folds.value(proving.foldId);
        fold.insert(QStringLiteral("rollback_proven"), proven);
        fold.insert(QStringLiteral("measured_reuse"), reused);
        m_folds.insert(proving.foldId, fold);
        if (const Result<void> kept = co_await m_store->setValue(keyOf(proving.foldId), fold); !kept)
            qCWarning(lcEngine) << "a fold's proof was not kept" << kept.error().message;
    }
    const QString what = proving.foldId > 0 ? QStringLiteral("the way back of fold #%1").arg(proving.foldId)
                                            : QStringLiteral("the restored snapshot");
    publish(QStringLiteral("outcome"),
            {{QStringLiteral("session_id"), session->record.id},
             {QStringLiteral("kind"), proven ? QStringLiteral("rollback-proven") : QStringLiteral("rollback-refuted")},
             {QStringLiteral("measured_reuse"), reused},
             {QStringLiteral("text"),
              QStringLiteral("%1: %2 of %3 tokens were reused")
                  .arg(what, groupedNumber(reused), groupedNumber(proving.position))}});
    co_return proven &&proving.restored;
}

} // namespace kerf
