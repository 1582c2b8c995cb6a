// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/engine.h"

#include "core/backend/heuristictokenizer.h"
#include "core/base/log.h"
#include "core/engine/text.h"

#include <QCryptographicHash>
#include <QPointer>
#include <QTimer>

#include <algorithm>

namespace kerf {

const QHash<QString, Engine::Method> &Engine::methods()
{
    static const QHash<QString, Method> table{
        {QStringLiteral("session.configure"), &Engine::sessionConfigure},
        {QStringLiteral("session.create"), &Engine::sessionCreate},
        {QStringLiteral("session.rename"), &Engine::sessionRename},
        {QStringLiteral("session.delete"), &Engine::sessionDelete},
        {QStringLiteral("session.list"), &Engine::sessionList},
        {QStringLiteral("session.get"), &Engine::sessionGet},
        {QStringLiteral("session.episodes"), &Engine::sessionEpisodes},
        {QStringLiteral("memory.commit_episode"), &Engine::commitEpisode},
        {QStringLiteral("memory.pin"), &Engine::pin},
        {QStringLiteral("memory.unpin"), &Engine::unpin},
        {QStringLiteral("memory.recall"), &Engine::recall},
        {QStringLiteral("memory.get_episode"), &Engine::getEpisode},
        {QStringLiteral("memory.fold"), &Engine::fold},
        {QStringLiteral("memory.unfold"), &Engine::unfold},
        {QStringLiteral("memory.recall_fold"), &Engine::recallFold},
        {QStringLiteral("session.snapshot"), &Engine::snapshot},
        {QStringLiteral("session.restore"), &Engine::restoreSnapshot},
        {QStringLiteral("context.plan_eviction"), &Engine::planEviction},
        {QStringLiteral("context.cuts"), &Engine::cuts},
        {QStringLiteral("context.apply"), &Engine::applyPlan},
        {QStringLiteral("context.undo"), &Engine::undo},
        {QStringLiteral("context.assemble"), &Engine::assemble},
        {QStringLiteral("context.record_timings"), &Engine::recordTimings},
        {QStringLiteral("context.record_usage"), &Engine::recordUsage},
        {QStringLiteral("context.receipt"), &Engine::receipt},
        {QStringLiteral("context.compactions"), &Engine::compactions},
        {QStringLiteral("context.prompt"), &Engine::promptTokens},
        {QStringLiteral("context.diff"), &Engine::diff},
        {QStringLiteral("server.doctor"), &Engine::doctor},
        {QStringLiteral("server.slots"), &Engine::slots},
        {QStringLiteral("server.simulate"), &Engine::simulate},
        {QStringLiteral("server.slot"), &Engine::slotAction},
        {QStringLiteral("server.evidence"), &Engine::evidence},
        {QStringLiteral("server.forget"), &Engine::forget},
        {QStringLiteral("server.log"), &Engine::serverLog},
        {QStringLiteral("transcript.import"), &Engine::importTranscript},
        {QStringLiteral("server.calibrate"), &Engine::calibrate},
        {QStringLiteral("server.calibrate_cancel"), &Engine::calibrateCancel},
        {QStringLiteral("replay.start"), &Engine::replayStart},
        {QStringLiteral("replay.cancel"), &Engine::replayCancel},
        {QStringLiteral("replay.status"), &Engine::replayStatus},
        {QStringLiteral("profile.get"), &Engine::profileGet},
        {QStringLiteral("profile.set"), &Engine::profileSet},
        {QStringLiteral("profile.reset"), &Engine::profileReset},
        {QStringLiteral("events.subscribe"), &Engine::subscribe},
        {QStringLiteral("kerf.status"), &Engine::status},
        {QStringLiteral("sakur4.status"), &Engine::status},
    };
    return table;
}

Engine::Engine(std::shared_ptr<Store> store, std::unique_ptr<Backend> backend, ServiceOptions options,
               QString profileVariable)
    : m_store(std::move(store))
    , m_backend(std::move(backend))
    , m_options(std::move(options))
    , m_profileVariable(std::move(profileVariable))
{
    m_replayBackend = m_options.backend;
    m_options.backend.apiKey.clear(); // the backend has it
}

Engine::~Engine() = default;

void Engine::start()
{
    watchBackend();
    watchSlots();
    m_backend->start();
}

bool Engine::knows(const QString &method) const { return methods().contains(method); }

QCoro::Task<Result<QJsonObject>> Engine::call(QString method, QJsonObject params, CallContext context)
{
    const auto it = methods().constFind(method);
    if (it == methods().cend())
        co_return failure(Error::Code::MethodNotFound, QStringLiteral("unknown method \"%1\"").arg(method));
    const auto self = shared_from_this(); // the methods below it may rely on `this` across their awaits
    co_return co_await (this->*it.value())(std::move(params), std::move(context));
}

std::optional<Result<QJsonObject>> Engine::callNow(const QString &method, const QJsonObject &, const CallContext &)
{
    if (method == QLatin1String("kerf.status") || method == QLatin1String("sakur4.status"))
        return Result<QJsonObject>(statusJson());
    return std::nullopt;
}

QString Engine::render(const QString &method, const QJsonObject &result) const { return renderResult(method, result); }

void Engine::publish(const QString &topic, QJsonObject params)
{
    params.insert(QStringLiteral("topic"), topic);
    Q_EMIT event(topic, params);
}

void Engine::watchBackend()
{
    connect(m_backend.get(), &Backend::infoChanged, this, [this] {
        const BackendInfo info = m_backend->info();
        publish(QStringLiteral("server"),
                {{QStringLiteral("backend"), info.name},
                 {QStringLiteral("reachable"), info.capabilities.reachable},
                 {QStringLiteral("simulated"), info.simulated},
                 {QStringLiteral("reason"), params::orNull(info.unreachableReason)},
                 {QStringLiteral("memory_kind"), memoryKindName(info.rule.memory)},
                 {QStringLiteral("epoch"), info.epoch}});
    });
    connect(m_backend.get(), &Backend::statesChanged, this, [this] {
        publish(QStringLiteral("slots"), m_backend->slotsJson());
        publish(QStringLiteral("ring"), m_backend->ringJson());
    });
    connect(m_backend.get(), &Backend::happened, this, [this](const QString &kind, const QJsonObject &details) {
        QJsonObject params = details;
        params.insert(QStringLiteral("kind"), kind);
        publish(QStringLiteral("server"), params);
    });
    connect(m_backend.get(), &Backend::logLine, this,
            [this](qint64 number, const QString &line, const QString &reading) {
                publish(QStringLiteral("log"),
                        {{QStringLiteral("number"), number},
                         {QStringLiteral("line"), line},
                         {QStringLiteral("reading"), params::orNull(reading)}});
            });
}

QCoro::Task<Result<Engine::SessionPtr>> Engine::openSession(QString id, bool create)
{
    if (const auto it = m_sessions.constFind(id); it != m_sessions.cend())
        co_return *it;
    auto loaded = co_await m_store->loadSession(id);
    if (const auto it = m_sessions.constFind(id); it != m_sessions.cend())
        co_return *it; // somebody else loaded it meanwhile
    if (!loaded) {
        if (loaded.error().code != Error::Code::NotFound || !create) {
            if (loaded.error().code == Error::Code::NotFound)
                co_return failure(Error::Code::NotFound, QStringLiteral("there is no session \"%1\"").arg(id));
            co_return std::unexpected(loaded.error());
        }
        KERF_TRY(record, co_await m_store->createSession(id, {}));
        if (const auto it = m_sessions.constFind(id); it != m_sessions.cend())
            co_return *it;
        auto session = std::make_shared<Session>(SessionData{std::move(record), {}, {}});
        m_sessions.insert(id, session);
        co_return session;
    }
    auto session = std::make_shared<Session>(std::move(*loaded));
    auto plans = co_await m_store->appliedPlans(id, 0);
    auto checkpoints = co_await m_store->checkpoints(id);
    if (const auto it = m_sessions.constFind(id); it != m_sessions.cend())
        co_return *it;
    if (plans) {
        for (auto it = plans->crbegin(); it != plans->crend(); ++it) {
            CompactionInfo info;
            info.number = it->number;
            info.planId = it->id;
            info.cacheStatus = it->plan.value(QStringLiteral("cache_status")).toString();
            const QJsonObject boundary = it->plan.value(QStringLiteral("boundary")).toObject();
            info.pairsWithCache = boundary.value(QStringLiteral("pairs_with_cache")).toBool();
            info.simulated = boundary.value(QStringLiteral("simulated")).toBool();
            info.outcome = it->outcome;
            info.measuredReuse = it->settlement.value(QStringLiteral("measured_reuse")).toInt(-1);
            info.appliedRevision = it->appliedRevision;
            session->compactions.append(info);
        }
    }
    if (checkpoints)
        session->recorded = *checkpoints;
    m_sessions.insert(id, session);
    co_return session;
}

QCoro::Task<Result<void>> Engine::saveState(SessionPtr session)
{
    co_return co_await m_store->saveState(session->record.id, session->stateJson(), m_backend->info().identity,
                                          session->record.turn);
}

QCoro::Task<Result<LivePrompt>> Engine::renderPrompt(QList<Episode> episodes, QList<Anchor> anchors, PromptState state,
                                                     SessionConfig config, qint64 revision)
{
    LivePrompt live;
    live.composed = composePrompt(episodes, anchors, state);
    live.revision = revision;
    if (live.composed.messages.isEmpty()) {
        live.exact = m_backend->isExact();
        co_return live; // nothing to render: no server is asked
    }
    ChatRequest request{live.composed.messages, config.tools, config.chatTemplateKwargs};
    KERF_TRY(rendered, co_await m_backend->render(std::move(request)));
    live.layout = std::move(rendered.layout);
    live.simulated = rendered.simulated;
    live.exact = live.layout.exact;
    if (live.layout.messages.size() != live.composed.parts.size())
        co_return failure(Error::Code::Failed,
                          QStringLiteral("the rendered prompt has %1 messages, %2 were sent")
                              .arg(live.layout.messages.size())
                              .arg(live.composed.parts.size()));
    live.headEnd = live.layout.size();
    for (qsizetype i = 0; i < live.composed.parts.size(); ++i) {
        const PromptPart &part = live.composed.parts.at(i);
        if (part.kind == PromptPart::Kind::Episode) {
            live.headEnd = live.layout.messages.at(i).tokens.begin;
            break;
        }
    }
    co_return live;
}

QCoro::Task<Result<LivePrompt>> Engine::livePrompt(SessionPtr session)
{
    const QString id = session->record.id;
    const QString tokenizer = m_backend->info().tokenizer;
    const QString key = id + QLatin1Char('\n') + tokenizer;
    if (const auto it = m_live.constFind(key); it != m_live.cend() && it->revision == session->record.revision) {
        LivePrompt live = *it;
        live.exact = live.layout.exact && !session->countsDiffer;
        co_return live;
    }
    QList<Anchor> anchors = session->anchors;
    PromptState state = session->prompt;
    placeNotes(session->episodes, anchors, state);
    KERF_TRY(
        live,
        co_await renderPrompt(session->episodes, anchors, state, session->record.config, session->record.revision));
    m_live.insert(key, live);
    live.exact = live.layout.exact && !session->countsDiffer;
    co_return live;
}

int Engine::windowFor(const Session &session) const
{
    int window = m_backend->info().contextSize;
    for (const int explicitWindow : {m_options.contextWindow, session.record.config.contextWindow}) {
        if (explicitWindow > 0)
            window = window > 0 ? std::min(window, explicitWindow) : explicitWindow;
    }
    return window;
}

Budget Engine::budgetOf(const Session &session, const EvictionPolicy &policy) const
{
    const int maxTokens = session.record.config.maxTokens;
    return budgetFor(policy.knobs, windowFor(session), maxTokens > 0 ? maxTokens : -1);
}

bool Engine::reuseEstablished() const
{
    const BackendInfo info = m_backend->info();
    return info.capabilities.reachable && (info.rule.memory == MemoryKind::FullAttention || info.rule.ringVisible);
}

void Engine::queueCount(const QString &sessionId, qint64 episodeId)
{
    m_countQueue.append({sessionId, episodeId});
    if (m_counting)
        return;
    m_counting = true;
    // Behind the acknowledgement: counting never delays a commit.
    QTimer::singleShot(0, this, [this] { drainCounts(); });
}

QCoro::Task<void> Engine::drainCounts()
{
    const QPointer<Engine> self(this);
    while (self && !m_countQueue.isEmpty()) {
        const auto [sessionId, episodeId] = m_countQueue.takeFirst();
        const auto it = m_sessions.constFind(sessionId);
        if (it == m_sessions.cend())
            continue;
        const SessionPtr session = *it;
        const Episode *episode = session->byId(episodeId);
        if (!episode || !episode->contentLoaded || episode->tokenCountExact)
            continue;
        const QString text = episode->content;
        const QString tokenizer = m_backend->info().tokenizer;
        const QByteArray hash = QCryptographicHash::hash(text.toUtf8(), QCryptographicHash::Sha256);
        std::optional<int> count;
        auto known = co_await m_store->tokenCount(tokenizer, hash);
        if (!self)
            co_return;
        if (known && *known) {
            count = **known;
        } else {
            auto counted = co_await m_backend->countTokens(text);
            if (!self)
                co_return;
            if (counted && m_backend->isExact() && m_backend->info().tokenizer == tokenizer) {
                count = *counted;
                co_await m_store->saveTokenCount(tokenizer, hash, *counted);
                if (!self)
                    co_return;
            }
        }
        if (!count)
            continue; // stays estimated, and says so
        if (Episode *mine = session->byId(episodeId)) {
            mine->tokenCount = *count;
            mine->tokenCountExact = true;
            publish(QStringLiteral("episode"),
                    {{QStringLiteral("session_id"), sessionId},
                     {QStringLiteral("episode_id"), episodeId},
                     {QStringLiteral("seq"), mine->seq},
                     {QStringLiteral("role"), roleName(mine->role)},
                     {QStringLiteral("token_count"), *count},
                     {QStringLiteral("exact"), true}});
        }
        co_await m_store->saveEpisodeCount(episodeId, *count, true);
    }
    if (self)
        m_counting = false;
}

QCoro::Task<Result<std::shared_ptr<MethodHandler>>> openService(ServiceOptions options)
{
    QString name = QStringLiteral("KERF_EVICTION_PROFILE");
    QString profile = qEnvironmentVariable("KERF_EVICTION_PROFILE");
    if (profile.isEmpty())
        profile = qEnvironmentVariable("SAKUR4_EVICTION_PROFILE");
    if (!profile.isEmpty()) {
        if (auto known = shippedKnobs(profile); !known)
            co_return failure(Error::Code::InvalidParams, QStringLiteral("%1: %2").arg(name, known.error().message));
    }
    KERF_TRY(backend, resolveBackend(options.backend));
    KERF_TRY(store, co_await Store::open(options.dbPath));
    auto engine = std::make_shared<Engine>(std::move(store), std::move(backend), std::move(options), profile);
    co_await engine->readEvidence();
    co_await engine->readFolds();
    engine->start();
    co_return std::shared_ptr<MethodHandler>(engine);
}

} // namespace kerf
