// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// What an operator looks at and does: slots by hand, evidence, the server's log, replays.

#include "core/engine/engine.h"

#include "core/base/log.h"
#include "core/engine/text.h"
#include "core/ipc/localclient.h"
#include "core/llama/evidence.h"
#include "core/replay/replay.h"
#include "core/transcript/transcript.h"

#include <QDateTime>
#include <QPointer>
#include <QRegularExpression>
#include <QUuid>

#include <algorithm>

namespace kerf {

namespace {

constexpr int kMostLogLines = 5000;
constexpr int kReplaysKept = 8;

QString evidencePrefix() { return QStringLiteral("evidence/"); }

/// Saves that Kerf made carry its name: only those are ever deleted.
bool isOurs(const QString &file)
{
    static const QRegularExpression name(QStringLiteral("^kerf-[A-Za-z0-9._-]+$"));
    return name.match(file).hasMatch();
}

Error consentMissing(const QString &what)
{
    return {Error::Code::InvalidParams, QStringLiteral("consent: must be true: %1").arg(what),
            QStringLiteral("consent")};
}

/// One row a claim and source; those that say otherwise are named.
QJsonArray evidenceRows(const BackendInfo &info)
{
    QJsonArray rows;
    for (const Evidence &row : info.evidence) {
        const bool competing = row.claim == QLatin1String("memory_kind") || row.claim == QLatin1String("chunk_reuse");
        QJsonArray against;
        for (const Evidence &other : info.evidence) {
            if (competing && other.claim == row.claim && other.value != row.value)
                against.append(QJsonObject{
                    {QStringLiteral("evidence"), other.source},
                    {QStringLiteral("value"), other.value},
                    {QStringLiteral("detail"), other.detail.section(QStringLiteral("; contradicted: "), 0, 0)}});
        }
        const bool measured = row.source == QLatin1String("observed") || row.source == QLatin1String("calibration");
        rows.append(QJsonObject{
            {QStringLiteral("claim"), row.claim},
            {QStringLiteral("value"), row.value},
            {QStringLiteral("evidence"), row.source},
            {QStringLiteral("detail"), row.detail.section(QStringLiteral("; contradicted: "), 0, 0)},
            {QStringLiteral("when"), row.at.isValid() ? QJsonValue(params::iso(row.at)) : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("stored"), row.stored},
            {QStringLiteral("forgettable"), row.stored || measured},
            {QStringLiteral("contradicted_by"), against}});
    }
    return rows;
}

QJsonArray probeRows(const BackendInfo &info)
{
    QJsonArray rows;
    for (const ProbeStep &step : info.probe)
        rows.append(QJsonObject{{QStringLiteral("name"), step.name},
                                {QStringLiteral("route"), step.route},
                                {QStringLiteral("http_status"),
                                 step.httpStatus > 0 ? QJsonValue(step.httpStatus) : QJsonValue(QJsonValue::Null)},
                                {QStringLiteral("ok"), step.ok},
                                {QStringLiteral("message"), params::orNull(step.message)}});
    return rows;
}

} // namespace

/// A replay that runs, or has run: a service of its own that keeps nothing.
struct Engine::ReplayRun {
    QString id;
    std::shared_ptr<MethodHandler> handler;
    std::shared_ptr<LocalClient> client;
    std::unique_ptr<Replay> replay;
    QString state = QStringLiteral("running"); ///< running|done|cancelled|failed
    QString error;
    QString transcript;
    QString strategy;
    int turn = 0;
    int turns = 0;
    QJsonArray rows;
    QJsonArray notes;
    bool cancelled = false;
    QJsonObject toJson() const
    {
        return {{QStringLiteral("replay_id"), id},
                {QStringLiteral("state"), state},
                {QStringLiteral("error"), params::orNull(error)},
                {QStringLiteral("transcript"), transcript},
                {QStringLiteral("strategy"), params::orNull(strategy)},
                {QStringLiteral("turn"), turn},
                {QStringLiteral("turns"), turns},
                {QStringLiteral("rows"), rows},
                {QStringLiteral("notes"), notes}};
    }
};

void Engine::watchSlots()
{
    connect(m_backend.get(), &Backend::happened, this, [this](const QString &kind, const QJsonObject &details) {
        m_slotHistory.happened(kind, details, QDateTime::currentMSecsSinceEpoch());
    });
    connect(m_backend.get(), &Backend::statesChanged, this,
            [this] { m_slotHistory.snapshot(m_backend->slotsJson(), QDateTime::currentMSecsSinceEpoch()); });
    connect(m_backend.get(), &Backend::infoChanged, this, [this] { keepEvidence(); });
}

/// What was measured outlives the run (SPEC section 4), by build, model and n_ctx.
QCoro::Task<void> Engine::readEvidence()
{
    const auto kept = co_await m_store->valuesWithPrefix(evidencePrefix());
    if (!kept)
        co_return;
    for (const auto &[key, value] : std::as_const(*kept))
        m_evidence.insert(key.mid(evidencePrefix().size()), value.value(QStringLiteral("rows")).toArray());
    QJsonObject all;
    for (auto it = m_evidence.cbegin(); it != m_evidence.cend(); ++it)
        all.insert(it.key(), it.value());
    m_backend->setStoredEvidence(all);
}

QCoro::Task<void> Engine::keepEvidence()
{
    const QString key = m_backend->evidenceKey();
    const BackendInfo info = m_backend->info();
    if (key.isEmpty() || info.simulated || !info.capabilities.reachable)
        co_return;
    const QJsonArray before = m_evidence.value(key);
    const QJsonArray rows = evidenceToStore(before, info.evidence);
    if (rows == before)
        co_return;
    m_evidence.insert(key, rows);
    const QJsonObject value{{QStringLiteral("rows"), rows}};
    const Result<void> kept = co_await m_store->setValue(evidencePrefix() + key, value);
    if (!kept)
        qCWarning(lcEngine) << "evidence was not kept" << kept.error().message;
}

Engine::Answer Engine::evidence(QJsonObject params, CallContext)
{
    KERF_TRY(refresh, params::flag(params, QStringLiteral("refresh"), false));
    co_await m_backend->ready();
    if (refresh)
        co_await m_backend->probeAgain();
    const BackendInfo info = m_backend->info();
    const QString key = m_backend->evidenceKey();
    co_return QJsonObject{{QStringLiteral("backend"), info.name},
                          {QStringLiteral("simulated"), info.simulated},
                          {QStringLiteral("key"), params::orNull(key)},
                          {QStringLiteral("rows"), evidenceRows(info)},
                          {QStringLiteral("probe"), probeRows(info)}};
}

Engine::Answer Engine::forget(QJsonObject params, CallContext)
{
    KERF_TRY(claim, params::text(params, QStringLiteral("claim"), true));
    KERF_TRY(source, params::text(params, QStringLiteral("evidence"), false));
    co_await m_backend->ready();
    const QString key = m_backend->evidenceKey();
    QJsonArray kept;
    int forgotten = 0;
    const QJsonArray rows = m_evidence.value(key);
    for (const QJsonValue &row : rows) {
        const QJsonObject object = row.toObject();
        if (object.value(QStringLiteral("claim")).toString() == claim
            && (source.isEmpty() || object.value(QStringLiteral("source")).toString() == source))
            ++forgotten;
        else
            kept.append(row);
    }
    // The store first: infoChanged() of what follows must not find the old rows.
    if (forgotten > 0) {
        m_evidence.insert(key, kept);
        const QJsonObject value{{QStringLiteral("rows"), kept}};
        KERF_TRY_VOID(co_await m_store->setValue(evidencePrefix() + key, value));
    }
    const bool live = m_backend->forgetEvidence(claim, source);
    if (!live && forgotten == 0)
        co_return failure(
            Error::Code::NotFound,
            QStringLiteral("nothing of \"%1\"%2 is stored or was observed; what the log, the flags or the "
                           "model file say is read anew each time")
                .arg(claim, source.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(source)));
    const BackendInfo info = m_backend->info();
    QJsonValue now(QJsonValue::Null);
    for (const Evidence &row : info.evidence) {
        if (row.claim == claim) {
            now = QJsonObject{{QStringLiteral("value"), row.value}, {QStringLiteral("evidence"), row.source}};
            break;
        }
    }
    co_return QJsonObject{{QStringLiteral("claim"), claim},
                          {QStringLiteral("forgotten"), std::max(forgotten, live ? 1 : 0)},
                          {QStringLiteral("now"), now}};
}

Engine::Answer Engine::serverLog(QJsonObject params, CallContext)
{
    KERF_TRY(from, params::integer(params, QStringLiteral("from"), 0, 0, 2147483647));
    KERF_TRY(limit, params::integer(params, QStringLiteral("limit"), 500, 1, kMostLogLines));
    co_await m_backend->ready();
    QJsonObject log = m_backend->logJson(from, limit);
    if (log.isEmpty()) { // a backend that has no log
        log = QJsonObject{{QStringLiteral("attached"), false},   {QStringLiteral("source"), QJsonValue::Null},
                          {QStringLiteral("first"), 1},          {QStringLiteral("next"), 1},
                          {QStringLiteral("not_understood"), 0}, {QStringLiteral("lines"), QJsonArray()}};
    }
    co_return log;
}

Engine::Answer Engine::slotAction(QJsonObject params, CallContext)
{
    KERF_TRY(slotId, params::slot(params));
    KERF_TRY(action, params::text(params, QStringLiteral("action"), true));
    KERF_TRY(consent, params::flag(params, QStringLiteral("consent"), false));
    KERF_TRY(given, params::text(params, QStringLiteral("file"), false));
    static const QStringList known{QStringLiteral("save"), QStringLiteral("restore"), QStringLiteral("erase"),
                                   QStringLiteral("delete")};
    if (!known.contains(action))
        co_return failure(Error::Code::InvalidParams,
                          QStringLiteral("action: must be one of %1").arg(known.join(QStringLiteral(", "))));
    if (slotId < 0 && action != QLatin1String("delete"))
        co_return failure(Error::Code::InvalidParams, QStringLiteral("slot_id: is required, -1 is no slot"));
    co_await m_backend->ready();
    ServerStates states;
    if (auto read = co_await m_backend->states())
        states = *read;
    HeldState held;
    bool found = false;
    for (const HeldState &state : std::as_const(states.states)) {
        if (state.place == HeldState::Place::Slot && state.slotId == slotId) {
            held = state;
            found = true;
        }
    }
    if (found && held.busy)
        co_return failure(
            Error::Code::Failed,
            QStringLiteral("slot %1 is busy with task %2: wait until it has ended").arg(slotId).arg(held.taskId),
            QStringLiteral("slot-busy"));
    QJsonObject answer{
        {QStringLiteral("slot_id"), slotId},        {QStringLiteral("action"), action},
        {QStringLiteral("file"), QJsonValue::Null}, {QStringLiteral("tokens"), QJsonValue::Null},
        {QStringLiteral("recorded"), false},        {QStringLiteral("session_id"), params::orNull(held.owner)},
        {QStringLiteral("note"), QJsonValue::Null}};
    const QString lost = QStringLiteral("slot %1 holds %2 tokens with %3 checkpoints")
                             .arg(slotId)
                             .arg(groupedNumber(held.length))
                             .arg(held.checkpoints.size());
    if (action == QLatin1String("save")) {
        const QString file = given.isEmpty()
            ? QStringLiteral("kerf-slot%1-%2.bin")
                  .arg(slotId)
                  .arg(QDateTime::currentDateTimeUtc().toString(QStringLiteral("yyyyMMdd-HHmmss-zzz")))
            : given;
        KERF_TRY(saved, co_await m_backend->saveSlot(slotId, file));
        answer.insert(QStringLiteral("file"), file);
        answer.insert(QStringLiteral("tokens"), saved);
        // It is a save point of the session whose prompt it is, as far as the ids are known.
        const int position = std::min(saved, held.knownLength());
        if (!held.owner.isEmpty() && position > 0) {
            Checkpoint checkpoint;
            checkpoint.kind = CheckpointKind::SlotSaveFile;
            checkpoint.position = position;
            checkpoint.prefixHash = hashTokens(held.tokens, position);
            checkpoint.fileName = file;
            checkpoint.slotId = slotId;
            checkpoint.serverIdentity = m_backend->info().identity;
            checkpoint.createdAt = QDateTime::currentDateTimeUtc();
            KERF_TRY(row, co_await m_store->saveCheckpoint(held.owner, checkpoint));
            checkpoint.recordId = row;
            if (auto session = co_await openSession(held.owner, false))
                (*session)->recorded.append(checkpoint);
            answer.insert(QStringLiteral("recorded"), true);
        } else {
            answer.insert(QStringLiteral("note"),
                          QStringLiteral("whose prompt it is, is not known: it is no save point of a session"));
        }
    } else if (action == QLatin1String("restore")) {
        if (given.isEmpty())
            co_return failure(Error::Code::InvalidParams, QStringLiteral("file: is required to restore"));
        if (found && held.length > 0 && !consent)
            co_return std::unexpected(consentMissing(lost + QStringLiteral(", which a restore takes away")));
        KERF_TRY(restored, co_await m_backend->restoreSlot(slotId, given));
        answer.insert(QStringLiteral("file"), given);
        answer.insert(QStringLiteral("tokens"), restored);
        answer.insert(QStringLiteral("note"), QStringLiteral("proven only by the next request"));
    } else if (action == QLatin1String("erase")) {
        if (!consent)
            co_return std::unexpected(consentMissing(lost + QStringLiteral(", which are lost")));
        KERF_TRY(erased, co_await m_backend->eraseSlot(slotId));
        answer.insert(QStringLiteral("tokens"), erased);
    } else {
        if (!isOurs(given))
            co_return failure(Error::Code::InvalidParams,
                              QStringLiteral("file: must be a save that Kerf made (kerf-...)"));
        if (!consent)
            co_return std::unexpected(consentMissing(QStringLiteral("%1 is deleted").arg(given)));
        KERF_TRY_VOID(m_backend->removeSaveFile(given));
        answer.insert(QStringLiteral("file"), given);
        for (const SessionPtr &session : std::as_const(m_sessions)) {
            const QList<Checkpoint> recorded = session->recorded;
            for (const Checkpoint &checkpoint : recorded) {
                if (checkpoint.fileName != given)
                    continue;
                session->recorded.removeIf(
                    [&checkpoint](const Checkpoint &other) { return other.recordId == checkpoint.recordId; });
                KERF_TRY_VOID(co_await m_store->deleteCheckpoint(checkpoint.recordId));
            }
        }
    }
    QJsonObject event = answer;
    event.insert(QStringLiteral("kind"), QStringLiteral("slot-%1").arg(action));
    publish(QStringLiteral("server"), event);
    if (auto read = co_await m_backend->states()) // what is there now
        publish(QStringLiteral("slots"), m_backend->slotsJson());
    co_return answer;
}

/// Save files of the sessions that are open, for the list to restore from.
QJsonArray Engine::savesJson() const
{
    QJsonArray rows;
    const QString identity = m_backend->info().identity;
    for (const SessionPtr &session : std::as_const(m_sessions)) {
        for (const Checkpoint &checkpoint : std::as_const(session->recorded)) {
            if (checkpoint.fileName.isEmpty())
                continue;
            const std::optional<bool> there = m_backend->saveFileExists(checkpoint.fileName);
            rows.append(
                QJsonObject{{QStringLiteral("session_id"), session->record.id},
                            {QStringLiteral("file"), checkpoint.fileName},
                            {QStringLiteral("kind"), checkpointKindName(checkpoint.kind)},
                            {QStringLiteral("position"), checkpoint.position},
                            {QStringLiteral("slot_id"), params::orNull(checkpoint.slotId)},
                            {QStringLiteral("at"), params::iso(checkpoint.createdAt)},
                            {QStringLiteral("this_server"), checkpoint.serverIdentity == identity},
                            {QStringLiteral("exists"), there ? QJsonValue(*there) : QJsonValue(QJsonValue::Null)}});
        }
    }
    return rows;
}

Engine::Answer Engine::replayStart(QJsonObject params, CallContext)
{
    KERF_TRY(path, params::text(params, QStringLiteral("path"), false));
    KERF_TRY(content, params::text(params, QStringLiteral("content"), false));
    KERF_TRY(window, params::integer(params, QStringLiteral("window"), 0, 0, 1 << 30));
    KERF_TRY(turns, params::integer(params, QStringLiteral("turns"), 0, 0, 1 << 20));
    KERF_TRY(conversation, params::integer(params, QStringLiteral("conversation"), 1, 1, 1 << 20));
    KERF_TRY(consent, params::flag(params, QStringLiteral("consent"), false));
    if (path.isEmpty() == content.isEmpty())
        co_return failure(Error::Code::InvalidParams, QStringLiteral("path: give either path or content"));
    const auto read =
        path.isEmpty() ? parseTranscripts(content.toUtf8(), QStringLiteral("content")) : readTranscripts(path);
    if (!read)
        co_return std::unexpected(read.error());
    if (conversation > read->size())
        co_return failure(Error::Code::InvalidParams,
                          QStringLiteral("conversation: the transcript has %1").arg(read->size()));
    QStringList strategies;
    const QJsonValue asked = params.value(QStringLiteral("strategies"));
    if (!asked.isUndefined() && !asked.isNull() && !asked.isArray())
        co_return failure(Error::Code::InvalidParams, QStringLiteral("strategies: must be a list of names"));
    const QJsonArray names = asked.toArray();
    for (const QJsonValue &name : names) {
        if (!replayStrategies().contains(name.toString()))
            co_return failure(Error::Code::InvalidParams,
                              QStringLiteral("strategies: \"%1\" is not known; known are %2")
                                  .arg(name.toString(), replayStrategies().join(QStringLiteral(", "))));
        strategies.append(name.toString());
    }
    if (strategies.isEmpty()) {
        strategies = replayStrategies();
        strategies.removeAll(QStringLiteral("generational"));
    }
    co_await m_backend->ready();
    const BackendInfo info = m_backend->info();
    const bool real = !info.simulated && info.kind == QLatin1String("llama-server");
    if (real && !info.capabilities.reachable)
        co_return failure(Error::Code::Unreachable, info.unreachableReason);
    if (!real && !info.simulated)
        co_return failure(Error::Code::Failed,
                          QStringLiteral("there is no server and no simulation to replay against"));
    if (real && !consent)
        co_return std::unexpected(consentMissing(
            QStringLiteral("the replay sends every turn to %1 and takes its slots and host cache").arg(info.url)));
    for (const auto &run : std::as_const(m_replays)) {
        if (run->state == QLatin1String("running"))
            co_return failure(Error::Code::Failed, QStringLiteral("replay %1 is running: cancel it first").arg(run->id),
                              QStringLiteral("replay-running"));
    }
    auto run = std::make_shared<ReplayRun>();
    run->id = QStringLiteral("r-") + QUuid::createUuid().toString(QUuid::WithoutBraces).left(8);
    run->transcript = read->at(conversation - 1).title;
    m_replays.append(run); // before the next wait: there is one at a time
    while (m_replays.size() > kReplaysKept)
        m_replays.removeFirst();
    // A service of its own that keeps nothing: no session of the replay is seen by anybody else, nor its profile.
    ServiceOptions options;
    options.dbPath = QStringLiteral(":memory:");
    options.contextWindow = 0;
    options.backend = m_replayBackend;
    options.backend.spec = real ? info.url : QStringLiteral("embedded");
    if (!options.backend.launchCommand.isEmpty()) {
        options.backend.launchCommand.clear();
        run->notes.append(QStringLiteral("the launched server's output cannot be read twice: the replay runs without "
                                         "its log"));
    }
    if (!real) {
        options.backend.embeddedContextSize = info.contextSize;
        options.backend.embeddedMemory = memoryKindName(info.rule.memory);
        options.backend.embeddedChunkReuse = info.rule.chunkReuse;
    }
    const QPointer<Engine> self(this);
    auto opened = co_await openService(options);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    if (!opened) {
        run->state = QStringLiteral("failed");
        run->error = opened.error().message;
        co_return std::unexpected(opened.error());
    }
    run->handler = *opened;
    run->client = std::make_shared<LocalClient>(run->handler);
    ReplayOptions replay;
    replay.transcript = read->at(conversation - 1);
    replay.strategies = strategies;
    replay.window = window;
    replay.turns = turns;
    if (real) {
        replay.server = QUrl(info.url);
        replay.apiKey = m_replayBackend.apiKey;
    }
    run->replay = std::make_unique<Replay>(run->client, replay);
    for (const SkippedLine &skipped : read->at(conversation - 1).skipped)
        run->notes.append(QStringLiteral("line %1 was skipped: %2").arg(skipped.line).arg(skipped.why));
    connect(run->replay.get(), &Replay::progress, this,
            [this, run = std::weak_ptr<ReplayRun>(run)](const QString &strategy, int turn, int of) {
                const auto now = run.lock();
                if (!now)
                    return;
                now->strategy = strategy;
                now->turn = turn;
                now->turns = of;
                publish(QStringLiteral("replay"), now->toJson());
            });
    runReplay(run);
    QJsonObject answer = run->toJson();
    QJsonArray list;
    for (const QString &name : std::as_const(strategies))
        list.append(name);
    answer.insert(QStringLiteral("strategies"), list);
    answer.insert(QStringLiteral("simulated"), info.simulated);
    co_return answer;
}

QCoro::Task<void> Engine::runReplay(std::shared_ptr<ReplayRun> run)
{
    const QPointer<Engine> self(this);
    auto rows = co_await run->replay->run();
    if (!self)
        co_return;
    if (!rows) {
        run->state = run->cancelled ? QStringLiteral("cancelled") : QStringLiteral("failed");
        run->error = rows.error().message;
    } else {
        run->state = run->cancelled ? QStringLiteral("cancelled") : QStringLiteral("done");
        for (const ReplayRow &row : std::as_const(*rows))
            run->rows.append(row.toJson());
    }
    publish(QStringLiteral("replay"), run->toJson());
    // What it ran in goes with the next turn of the event loop: we are still inside of it.
    QMetaObject::invokeMethod(
        this,
        [run] {
            run->replay.reset();
            run->client.reset();
            run->handler.reset();
        },
        Qt::QueuedConnection);
}

Engine::Answer Engine::replayCancel(QJsonObject params, CallContext)
{
    KERF_TRY(id, params::text(params, QStringLiteral("replay_id"), false));
    for (auto it = m_replays.crbegin(); it != m_replays.crend(); ++it) {
        if (!id.isEmpty() && (*it)->id != id)
            continue;
        if ((*it)->state == QLatin1String("running") && (*it)->replay) {
            (*it)->cancelled = true;
            (*it)->replay->cancel();
        }
        co_return (*it)->toJson();
    }
    co_return failure(Error::Code::NotFound,
                      id.isEmpty() ? QStringLiteral("no replay was started")
                                   : QStringLiteral("there is no replay \"%1\"").arg(id));
}

Engine::Answer Engine::replayStatus(QJsonObject params, CallContext)
{
    KERF_TRY(id, params::text(params, QStringLiteral("replay_id"), false));
    for (auto it = m_replays.crbegin(); it != m_replays.crend(); ++it) {
        if (id.isEmpty() || (*it)->id == id)
            co_return (*it)->toJson();
    }
    co_return failure(Error::Code::NotFound,
                      id.isEmpty() ? QStringLiteral("no replay was started")
                                   : QStringLiteral("there is no replay \"%1\"").arg(id));
}

} // namespace kerf
