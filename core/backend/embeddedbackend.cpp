// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/backend/embeddedbackend.h"

#include "core/backend/heuristictokenizer.h"
#include "core/base/log.h"

#include <QTimer>

#include <algorithm>
#include <utility>

namespace kerf {

namespace {

constexpr int kKeptPrompts = 32;
const QString kSimulated = QStringLiteral("simulated");

QString memoryWords(const SimulatorConfig &config)
{
    if (config.memory != MemoryKind::Checkpointed)
        return QStringLiteral("full attention, simulated in this process");
    return config.slidingWindow > 0
        ? QStringLiteral("sliding-window attention of %1 tokens, simulated in this process").arg(config.slidingWindow)
        : QStringLiteral("recurrent or hybrid memory, simulated in this process");
}

QJsonArray checkpointsJson(const QList<Checkpoint> &ring)
{
    QJsonArray array;
    for (const Checkpoint &checkpoint : ring) {
        array.append(QJsonObject{{QStringLiteral("position"), checkpoint.position},
                                 {QStringLiteral("kind"), checkpointKindName(checkpoint.kind)},
                                 {QStringLiteral("pos_min"), checkpoint.posMin},
                                 {QStringLiteral("pos_max"), checkpoint.posMax},
                                 {QStringLiteral("size_bytes"), checkpoint.sizeBytes},
                                 {QStringLiteral("task_id"), checkpoint.taskId},
                                 {QStringLiteral("slot_id"), checkpoint.slotId}});
    }
    return array;
}

} // namespace

EmbeddedBackend::EmbeddedBackend(EmbeddedConfig config, QObject *parent)
    : Backend(parent)
    , m_config(std::move(config))
    , m_server(m_config.server)
{
}

EmbeddedBackend::~EmbeddedBackend() = default;

BackendInfo EmbeddedBackend::info() const
{
    const SimulatorConfig &server = m_server.config();
    BackendInfo info;
    info.kind = QStringLiteral("embedded");
    info.name = QStringLiteral("embedded (simulated)");
    info.requested = m_config.requested;
    info.simulated = true;
    info.probed = true;
    info.build = kSimulated;
    info.model = kSimulated;
    info.contextSize = server.contextSize;
    info.slotCount = server.slots;
    info.tokenizer = QStringLiteral("heuristic");
    info.identity = QStringLiteral("embedded:%1:%2").arg(memoryKindName(server.memory)).arg(server.contextSize);
    info.capabilities.reachable = true;
    info.capabilities.slots = true;
    info.capabilities.slotSave = true;
    info.capabilities.slotRestore = true;
    info.capabilities.slotErase = true;
    info.capabilities.checkpointRing = server.memory == MemoryKind::Checkpointed;
    info.capabilities.tokenize = true;
    info.capabilities.props = true;
    info.rule = m_server.rule();
    info.capabilities.chunkReuse = server.chunkReuse > 0 && info.rule.slidingWindow <= 0;
    info.memoryEvidence = kSimulated;
    info.memoryDetail = memoryWords(server);
    info.confidence = QStringLiteral("read");
    info.evidence = {{QStringLiteral("memory_kind"), memoryKindName(server.memory), kSimulated, info.memoryDetail, {}},
                     {QStringLiteral("chunk_reuse"),
                      QString::number(server.chunkReuse),
                      kSimulated,
                      QStringLiteral("set when the simulation was started"),
                      {}},
                     {QStringLiteral("ring"),
                      server.memory == MemoryKind::Checkpointed
                          ? QStringLiteral("depth %1, min step %2").arg(server.ringDepth).arg(server.ringMinStep)
                          : QStringLiteral("none is made"),
                      kSimulated,
                      QStringLiteral("set when the simulation was started"),
                      {}},
                     {QStringLiteral("idle_slots_cleared"),
                      info.rule.idleSlotsCleared ? QStringLiteral("yes") : QStringLiteral("no"),
                      kSimulated,
                      QStringLiteral("set when the simulation was started"),
                      {}}};
    info.notes = m_config.notes;
    info.notes.append(QStringLiteral(
        "no server is asked: slots, cache, tokens and times are simulated, and say nothing of a real one"));
    info.epoch = m_config.epoch;
    info.cost = server.cost;
    info.cost.simulated = true;
    return info;
}

void EmbeddedBackend::start()
{
    qCInfo(lcBackend) << "the embedded server is simulated:" << memoryWords(m_server.config()) << "context"
                      << m_server.config().contextSize;
    Q_EMIT infoChanged();
    Q_EMIT statesChanged();
}

QCoro::Task<void> EmbeddedBackend::ready() { co_return; }

QCoro::Task<Result<RenderedPrompt>> EmbeddedBackend::render(ChatRequest request)
{
    co_return RenderedPrompt{m_template.render(request), true};
}

QCoro::Task<Result<int>> EmbeddedBackend::countTokens(QString text)
{
    co_return HeuristicTokenizer::count(text.toUtf8());
}

QCoro::Task<Result<TokenList>> EmbeddedBackend::tokenize(QString text) { co_return m_template.tokenize(text); }

QCoro::Task<Result<ServerStates>> EmbeddedBackend::states() { co_return lastStates(); }

ServerStates EmbeddedBackend::lastStates() const
{
    ServerStates states;
    states.states = m_server.states();
    for (HeldState &state : states.states)
        state.epoch = m_config.epoch;
    states.hostCacheBytes = m_server.hostCacheBytes();
    return states;
}

void EmbeddedBackend::notePrompt(const QString &sessionId, const TokenList &prompt, int slotId)
{
    Q_UNUSED(slotId)
    m_prompts.append({sessionId, prompt});
    if (m_prompts.size() > kKeptPrompts)
        m_prompts.removeFirst();
}

void EmbeddedBackend::own(int slotId, const TokenList &prompt, const QString &sessionId)
{
    QString owner = sessionId;
    for (auto it = m_prompts.crbegin(); owner.isEmpty() && it != m_prompts.crend(); ++it) {
        if (it->tokens == prompt)
            owner = it->sessionId;
    }
    m_server.setOwner(slotId, owner);
}

QCoro::Task<Result<MeasuredRequest>> EmbeddedBackend::runTokens(TokenList tokens, int slotId)
{
    ReuseRequest request{std::move(tokens), slotId};
    return simulateRequest(std::move(request), 0);
}

QCoro::Task<Result<MeasuredRequest>> EmbeddedBackend::simulateRequest(ReuseRequest request, int generated)
{
    const Result<SimulatedReply> reply = m_server.process(request, generated);
    if (!reply)
        co_return std::unexpected(reply.error());
    MeasuredRequest measured;
    measured.prompt = request.tokens;
    measured.slotId = reply->slotId;
    measured.cacheTokens = reply->cacheTokens;
    measured.promptTokens = reply->promptTokens;
    measured.promptMs = reply->promptMs;
    measured.generated = generated;
    own(reply->slotId, request.tokens, {});
    m_lastReuse.insert(reply->slotId, reply->cacheTokens);
    m_ran.append({measured, reply->taskId});
    if (m_ran.size() > kKeptPrompts)
        m_ran.removeFirst();
    publish();
    co_return measured;
}

QCoro::Task<Result<MatchedRequest>> EmbeddedBackend::noteTimings(MeasuredRequest request)
{
    MatchedRequest matched;
    for (qsizetype i = m_ran.size() - 1; i >= 0; --i) {
        const Ran &ran = m_ran.at(i);
        if (ran.measured.cacheTokens != request.cacheTokens || ran.measured.promptTokens != request.promptTokens
            || (!request.prompt.isEmpty() && ran.measured.prompt != request.prompt))
            continue;
        // It ran here: what the slot holds is booked already.
        matched.slotId = ran.measured.slotId;
        matched.taskId = ran.taskId;
        matched.source = QStringLiteral("slots");
        if (!request.sessionId.isEmpty())
            m_server.setOwner(matched.slotId, request.sessionId);
        m_ran.removeAt(i);
        co_return matched;
    }
    // Numbers of the caller's own making. The prompt is taken as sent, so that the next one meets it; what was
    // reused is the caller's word, the slot is marked as not verified, and the cost model is left as it is.
    matched.source = QStringLiteral("unknown");
    if (request.prompt.isEmpty())
        co_return matched;
    const int slotCount = m_server.config().slots;
    const ReuseRequest again{request.prompt, request.slotId >= slotCount ? -1 : request.slotId};
    const Result<SimulatedReply> reply = m_server.process(again, std::max(0, request.generated));
    if (!reply) {
        qCInfo(lcBackend) << "reported timings could not be booked:" << reply.error().message;
        co_return matched;
    }
    own(reply->slotId, request.prompt, request.sessionId);
    m_server.setUnverified(reply->slotId);
    m_lastReuse.insert(reply->slotId, request.cacheTokens);
    matched.slotId = reply->slotId;
    matched.taskId = reply->taskId;
    matched.source = QStringLiteral("caller");
    if (request.cacheTokens != reply->cacheTokens)
        matched.cause =
            QStringLiteral("these timings were not measured on the simulated server, which would have reused %1 tokens")
                .arg(reply->cacheTokens);
    publish();
    co_return matched;
}

void EmbeddedBackend::noteGenerated(const TokenList &prompt, const TokenList &generated)
{
    if (m_server.setGenerated(prompt, generated))
        announce();
}

QCoro::Task<Result<int>> EmbeddedBackend::saveSlot(int slotId, QString fileName)
{
    co_return m_server.save(slotId, fileName);
}

QCoro::Task<Result<int>> EmbeddedBackend::restoreSlot(int slotId, QString fileName)
{
    const Result<int> restored = m_server.restore(slotId, fileName);
    publish();
    co_return restored;
}

QCoro::Task<Result<int>> EmbeddedBackend::eraseSlot(int slotId)
{
    const Result<int> erased = m_server.erase(slotId);
    publish();
    co_return erased;
}

std::optional<bool> EmbeddedBackend::saveFileExists(const QString &fileName) const
{
    return m_server.hasFile(fileName);
}

std::optional<qint64> EmbeddedBackend::freeSaveBytes() const
{
    return std::nullopt; // saves lie in this process's memory, which nobody measures
}

QCoro::Task<void> EmbeddedBackend::probeAgain() { co_return; }

void EmbeddedBackend::publish()
{
    const QList<SimulatedEvent> events = m_server.takeEvents();
    for (const SimulatedEvent &event : events) {
        const QString size =
            event.kind.startsWith(QLatin1String("checkpoint")) ? QStringLiteral("position") : QStringLiteral("tokens");
        Q_EMIT happened(event.kind,
                        {{QStringLiteral("slot_id"), event.slotId},
                         {QStringLiteral("task_id"), event.taskId},
                         {size, event.position},
                         {QStringLiteral("simulated"), true}});
    }
    announce();
}

/// One signal for all that changes in one turn of the event loop.
void EmbeddedBackend::announce()
{
    if (std::exchange(m_announcing, true))
        return;
    QTimer::singleShot(0, this, [this] {
        m_announcing = false;
        Q_EMIT statesChanged();
    });
}

QJsonObject EmbeddedBackend::slotsJson() const
{
    QJsonArray slotList;
    QJsonArray saved;
    const QList<HeldState> states = m_server.states();
    for (const HeldState &state : states) {
        QJsonObject row{
            {QStringLiteral("tokens"), state.length},
            {QStringLiteral("known_tokens"), state.knownLength()},
            {QStringLiteral("size_bytes"), state.sizeBytes},
            {QStringLiteral("task_id"), state.taskId >= 0 ? QJsonValue(state.taskId) : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("verified"), state.verified},
            {QStringLiteral("owner"), state.owner.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(state.owner)},
            {QStringLiteral("checkpoints_known"), true},
            {QStringLiteral("checkpoints"), checkpointsJson(state.checkpoints)}};
        if (state.place == HeldState::Place::HostCache) {
            saved.append(row);
            continue;
        }
        row.insert(QStringLiteral("slot_id"), state.slotId);
        row.insert(QStringLiteral("busy"), false);
        row.insert(QStringLiteral("has_run"), state.taskId >= 0);
        row.insert(QStringLiteral("last_reuse"),
                   m_lastReuse.contains(state.slotId) ? QJsonValue(m_lastReuse.value(state.slotId))
                                                      : QJsonValue(QJsonValue::Null));
        slotList.append(row);
    }
    return {{QStringLiteral("slots"), slotList},
            {QStringLiteral("host_cache"),
             QJsonObject{{QStringLiteral("entries"), saved},
                         {QStringLiteral("bytes"), m_server.hostCacheBytes()},
                         {QStringLiteral("limit_bytes"), m_server.config().hostCacheLimitBytes}}},
            {QStringLiteral("readable"), true},
            {QStringLiteral("reason"), QJsonValue(QJsonValue::Null)},
            {QStringLiteral("simulated"), true}};
}

QByteArray EmbeddedBackend::pieceBytes(TokenId id) const { return m_template.pieceBytes(id); }

QJsonObject EmbeddedBackend::ringJson() const
{
    QJsonArray entries;
    const QList<HeldState> states = m_server.states();
    for (const HeldState &state : states) {
        if (state.place != HeldState::Place::Slot)
            continue;
        const QJsonArray ring = checkpointsJson(state.checkpoints);
        for (const QJsonValue &entry : ring)
            entries.append(entry);
    }
    return {{QStringLiteral("visible"), true},
            {QStringLiteral("source"), kSimulated},
            {QStringLiteral("entries"), entries}};
}

} // namespace kerf
