// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/replay/replay.h"

#include "core/eviction/policy.h"
#include "core/llama/httpclient.h"

#include <QJsonArray>
#include <QUuid>

#include <algorithm>

namespace kerf {

namespace {

constexpr int kRequestMs = 10 * 60 * 1000;

QJsonObject sessionParams(const QString &sessionId) { return {{QStringLiteral("session_id"), sessionId}}; }

QJsonValue orNull(double value) { return value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value); }
QJsonValue orNull(int value) { return value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value); }

QString textOf(const QJsonObject &message)
{
    const QJsonValue content = message.value(QStringLiteral("content"));
    if (content.isString())
        return content.toString();
    QStringList texts;
    const QJsonArray parts = content.toArray();
    for (const QJsonValue &part : parts)
        texts.append(part.toObject().value(QStringLiteral("text")).toString());
    return texts.join(QLatin1Char('\n'));
}

} // namespace

/// What one strategy is at.
struct Replay::Run {
    QString strategy;
    QString sessionId;
    QString mark; ///< keeps the strategies' prompts apart on the server
    ReplayRow row;
    QList<QJsonObject> sent; ///< messages of the present session, for summarise
    int unsentFrom = 1; ///< seq of the first message that no request has held
    int seq = 0;
    bool summarised = false; ///< the next request is the first behind a summary
    int promptBefore = 0;
    int generation = 0;
};

QJsonObject ReplayRow::toJson() const
{
    QJsonArray rows;
    for (const ReplayCompaction &compaction : compactions) {
        rows.append(
            QJsonObject{{QStringLiteral("turn"), compaction.turn},
                        {QStringLiteral("cut"), orNull(compaction.cut)},
                        {QStringLiteral("prompt_tokens"), compaction.promptTokens},
                        {QStringLiteral("tokens_after"), compaction.tokensAfter},
                        {QStringLiteral("predicted_reuse"), orNull(compaction.predicted)},
                        {QStringLiteral("predicted_reuse_low"), orNull(compaction.low)},
                        {QStringLiteral("predicted_reuse_high"), orNull(compaction.high)},
                        {QStringLiteral("measured_reuse"), compaction.measured},
                        {QStringLiteral("measured_prefill"), compaction.prefilled},
                        {QStringLiteral("ms"), orNull(compaction.ms)},
                        {QStringLiteral("outcome"), compaction.outcome},
                        {QStringLiteral("cause"),
                         compaction.cause.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(compaction.cause)}});
    }
    return {{QStringLiteral("strategy"), strategy},
            {QStringLiteral("turns"), turns},
            {QStringLiteral("compactions"), rows},
            {QStringLiteral("new_tokens"), newTokens},
            {QStringLiteral("prefill_tokens"), prefillTokens},
            {QStringLiteral("predicted_prefill_tokens"), predictedPrefill},
            {QStringLiteral("reused_tokens"), reusedTokens},
            {QStringLiteral("prefill_ms"), turnsWithMs > 0 ? QJsonValue(prefillMs) : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("misses"), misses},
            {QStringLiteral("mean_context_tokens"),
             turns > 0 ? QJsonValue(double(contextSum) / turns) : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("prefill_amplification"), orNull(amplification())},
            {QStringLiteral("predicted_prefill_amplification"), orNull(predictedAmplification())},
            {QStringLiteral("exact"), exact},
            {QStringLiteral("simulated"), simulated},
            {QStringLiteral("stopped"), stopped.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(stopped)}};
}

QStringList replayStrategies()
{
    return QStringList{QStringLiteral("none"), QStringLiteral("summarise"), QStringLiteral("truncate-oldest")}
    + shippedProfiles();
}

Replay::Replay(std::shared_ptr<ServiceClient> client, ReplayOptions options, QObject *parent)
    : QObject(parent)
    , m_client(std::move(client))
    , m_options(std::move(options))
{
}

QCoro::Task<Result<QList<ReplayRow>>> Replay::run()
{
    for (const QString &strategy : std::as_const(m_options.strategies)) {
        if (!replayStrategies().contains(strategy))
            co_return failure(Error::Code::InvalidParams,
                              QStringLiteral("unknown strategy \"%1\"; known are %2")
                                  .arg(strategy, replayStrategies().join(QStringLiteral(", "))));
    }
    QList<ReplayRow> rows;
    for (const QString &strategy : std::as_const(m_options.strategies)) {
        if (*m_cancelled)
            break;
        auto row = co_await runStrategy(strategy);
        if (!row)
            co_return std::unexpected(row.error());
        rows.append(*row);
    }
    co_return rows;
}

QCoro::Task<Result<void>> Replay::openSession(std::shared_ptr<Run> run)
{
    run->sessionId = QStringLiteral("replay-%1-%2-%3").arg(run->mark, run->strategy).arg(run->generation);
    QJsonObject configure = sessionParams(run->sessionId);
    configure.insert(QStringLiteral("tools"), m_options.transcript.tools);
    if (m_options.window > 0)
        configure.insert(QStringLiteral("context_window"), m_options.window);
    if (auto done = co_await m_client->call(QStringLiteral("session.configure"), configure); !done)
        co_return std::unexpected(done.error());
    QJsonObject profile = sessionParams(run->sessionId);
    if (shippedProfiles().contains(run->strategy)) {
        profile.insert(QStringLiteral("name"), run->strategy);
    } else {
        // Oldest first right behind the system prompt; `none` and `summarise` never plan, only their trigger is read.
        profile.insert(QStringLiteral("name"), QStringLiteral("cache-first"));
        QJsonObject overrides;
        overrides.insert(QStringLiteral("cache_prefix_reserve_tokens"), 0);
        overrides.insert(QStringLiteral("cache_prefix_max_tokens"), 0);
        overrides.insert(QStringLiteral("recency_weight"), QStringLiteral("infinity"));
        profile.insert(QStringLiteral("overrides"), overrides);
    }
    if (auto done = co_await m_client->call(QStringLiteral("profile.set"), profile); !done)
        co_return std::unexpected(done.error());
    run->seq = 0;
    run->unsentFrom = 1;
    run->sent.clear();
    co_return Result<void>();
}

QCoro::Task<Result<void>> Replay::commit(std::shared_ptr<Run> run, QJsonObject message)
{
    QJsonObject params = message;
    params.insert(QStringLiteral("session_id"), run->sessionId);
    if (message.contains(QStringLiteral("reasoning_content"))) {
        params.insert(QStringLiteral("reasoning"), message.value(QStringLiteral("reasoning_content")));
        params.remove(QStringLiteral("reasoning_content"));
    }
    if (!params.contains(QStringLiteral("content")))
        params.insert(QStringLiteral("content"), QJsonValue(QJsonValue::Null));
    if (message.value(QStringLiteral("tool_calls")).isArray()) {
        QJsonArray calls;
        const QJsonArray given = message.value(QStringLiteral("tool_calls")).toArray();
        for (const QJsonValue &value : given) {
            const QJsonObject call = value.toObject();
            const QJsonObject function = call.value(QStringLiteral("function")).toObject();
            calls.append(
                QJsonObject{{QStringLiteral("id"), call.value(QStringLiteral("id")).toString()},
                            {QStringLiteral("name"), function.value(QStringLiteral("name")).toString()},
                            {QStringLiteral("arguments"), function.value(QStringLiteral("arguments")).toString()}});
        }
        params.insert(QStringLiteral("tool_calls"), calls);
    }
    if (auto done = co_await m_client->call(QStringLiteral("memory.commit_episode"), params); !done)
        co_return std::unexpected(done.error());
    ++run->seq;
    run->sent.append(message);
    co_return Result<void>();
}

/// {cache_n, prompt_n, prompt_ms, predicted_n}: the server's timings, or the simulation's.
QCoro::Task<Result<QJsonObject>> Replay::send(QString sessionId, QJsonObject assembled)
{
    if (m_options.server.isEmpty()) {
        QJsonObject params = sessionParams(sessionId);
        params.insert(QStringLiteral("generated"), 1);
        co_return co_await m_client->call(QStringLiteral("server.simulate"), params);
    }
    HttpClient http(m_options.server, m_options.apiKey);
    QJsonObject body;
    body.insert(QStringLiteral("messages"), assembled.value(QStringLiteral("messages")));
    if (const QJsonArray tools = assembled.value(QStringLiteral("tools")).toArray(); !tools.isEmpty())
        body.insert(QStringLiteral("tools"), tools);
    if (const QJsonObject kwargs = assembled.value(QStringLiteral("chat_template_kwargs")).toObject();
        !kwargs.isEmpty())
        body.insert(QStringLiteral("chat_template_kwargs"), kwargs);
    body.insert(QStringLiteral("max_tokens"), 1);
    body.insert(QStringLiteral("cache_prompt"), true);
    const HttpReply reply = co_await http.post(QStringLiteral("/v1/chat/completions"), body, kRequestMs);
    if (reply.status == 0)
        co_return failure(Error::Code::Unreachable,
                          QStringLiteral("%1: %2").arg(m_options.server.toString(QUrl::RemoveUserInfo), reply.error));
    if (!reply.ok())
        co_return failure(
            Error::Code::Refused,
            QStringLiteral("the server refused the request (HTTP %1): %2").arg(reply.status).arg(reply.message()));
    const QJsonObject timings = reply.object().value(QStringLiteral("timings")).toObject();
    if (timings.isEmpty())
        co_return failure(Error::Code::Failed,
                          QStringLiteral("the server's answer has no timings: nothing could be measured"));
    co_return timings;
}

/// A summary in place of everything but the system prompt and the recent messages, in a session of its own.
QCoro::Task<Result<void>> Replay::summarise(std::shared_ptr<Run> run)
{
    auto state = co_await m_client->call(QStringLiteral("session.get"), sessionParams(run->sessionId));
    if (!state)
        co_return std::unexpected(state.error());
    const int live = state->value(QStringLiteral("live_tokens")).toInt();
    if (state->value(QStringLiteral("trigger_at")).isNull()
        || live <= state->value(QStringLiteral("trigger_at")).toInt())
        co_return Result<void>();
    auto episodes = co_await m_client->call(QStringLiteral("session.episodes"), sessionParams(run->sessionId));
    if (!episodes)
        co_return std::unexpected(episodes.error());
    const QJsonArray rows = episodes->value(QStringLiteral("episodes")).toArray();
    // Kept: from the user message at which the recent part begins.
    qsizetype keepFrom = rows.size();
    for (qsizetype i = 0; i < rows.size(); ++i) {
        if (rows.at(i).toObject().value(QStringLiteral("recent")).toBool()
            && run->sent.value(i).value(QStringLiteral("role")).toString() == QLatin1String("user")) {
            keepFrom = i;
            break;
        }
    }
    if (keepFrom >= run->sent.size()) {
        for (qsizetype i = run->sent.size() - 1; i > 0; --i) {
            if (run->sent.at(i).value(QStringLiteral("role")).toString() == QLatin1String("user")) {
                keepFrom = i;
                break;
            }
        }
    }
    if (keepFrom >= run->sent.size() || keepFrom < 2)
        co_return Result<void>();
    const int sentSeq = run->unsentFrom - 1;
    QList<QJsonObject> kept = run->sent.mid(keepFrom);
    QStringList lines;
    qsizetype characters = 0;
    QList<QJsonObject> head;
    for (qsizetype i = 0; i < keepFrom; ++i) {
        const QJsonObject &message = run->sent.at(i);
        if (message.value(QStringLiteral("role")).toString() == QLatin1String("system") && i == 0) {
            head.append(message);
            continue;
        }
        const QString line = message.value(QStringLiteral("role")).toString() + QStringLiteral(": ")
            + textOf(message).left(60).simplified();
        if (characters + line.size() < qsizetype(m_options.summaryTokens) * 4) {
            lines.append(line);
            characters += line.size();
        }
    }
    QJsonObject first = kept.constFirst();
    first.insert(QStringLiteral("content"),
                 QString(QStringLiteral("Summary of the conversation so far:\n") + lines.join(QLatin1Char('\n'))
                         + QStringLiteral("\n\n") + textOf(first)));
    kept[0] = first;
    const qsizetype unsentKept = std::max<qsizetype>(0, run->sent.size() - std::max<qsizetype>(sentSeq, keepFrom));
    ++run->generation;
    const QString before = run->sessionId;
    if (auto done = co_await openSession(run); !done)
        co_return done;
    for (const QJsonObject &message : std::as_const(head)) {
        if (auto done = co_await commit(run, message); !done)
            co_return done;
    }
    for (const QJsonObject &message : std::as_const(kept)) {
        if (auto done = co_await commit(run, message); !done)
            co_return done;
    }
    run->unsentFrom = run->seq - static_cast<int>(unsentKept) + 1;
    run->summarised = true;
    run->promptBefore = live;
    co_return Result<void>();
}

QCoro::Task<Result<void>> Replay::request(std::shared_ptr<Run> run)
{
    ReplayRow &row = run->row;
    QJsonObject plan;
    if (run->strategy == QLatin1String("summarise")) {
        if (auto done = co_await summarise(run); !done)
            co_return done;
    } else if (run->strategy != QLatin1String("none")) {
        QJsonObject params = sessionParams(run->sessionId);
        params.insert(QStringLiteral("apply"), true);
        auto planned = co_await m_client->call(QStringLiteral("context.plan_eviction"), params);
        if (!planned)
            co_return std::unexpected(planned.error());
        if (planned->value(QStringLiteral("applied")).toBool())
            plan = *planned;
    }
    auto assembled = co_await m_client->call(QStringLiteral("context.assemble"), sessionParams(run->sessionId));
    if (!assembled) {
        if (assembled.error().code == Error::Code::DoesNotFit) {
            row.stopped = QStringLiteral("the window was full at turn %1").arg(row.turns + 1);
            co_return Result<void>();
        }
        co_return std::unexpected(assembled.error());
    }
    int fresh = assembled->value(QStringLiteral("new_tokens")).toInt();
    if (run->generation > 0 && run->summarised) {
        // A session of its own: what the earlier one sent is not new, and the summary is nobody's text.
        QJsonObject params = sessionParams(run->sessionId);
        params.insert(QStringLiteral("from_seq"), run->unsentFrom);
        auto episodes = co_await m_client->call(QStringLiteral("session.episodes"), params);
        if (!episodes)
            co_return std::unexpected(episodes.error());
        fresh = 0;
        const QJsonArray rows = episodes->value(QStringLiteral("episodes")).toArray();
        for (const QJsonValue &value : rows)
            fresh += value.toObject().value(QStringLiteral("end")).toInt()
                - value.toObject().value(QStringLiteral("begin")).toInt();
    }
    auto timings = co_await send(run->sessionId, *assembled);
    if (!timings) {
        if (timings.error().code == Error::Code::Refused) {
            row.stopped = timings.error().message;
            co_return Result<void>();
        }
        co_return std::unexpected(timings.error());
    }
    QJsonObject params = sessionParams(run->sessionId);
    for (const char *field : {"cache_n", "prompt_n", "prompt_ms", "predicted_n"}) {
        if (timings->value(QLatin1String(field)).isDouble())
            params.insert(QLatin1String(field), timings->value(QLatin1String(field)));
    }
    auto settled = co_await m_client->call(QStringLiteral("context.record_timings"), params);
    if (!settled)
        co_return std::unexpected(settled.error());
    ++row.turns;
    ++m_requests;
    const int reused = timings->value(QStringLiteral("cache_n")).toInt();
    const int prefilled = timings->value(QStringLiteral("prompt_n")).toInt();
    const double ms = timings->value(QStringLiteral("prompt_ms")).toDouble(-1);
    row.reusedTokens += reused;
    row.prefillTokens += prefilled;
    row.predictedPrefill += assembled->value(QStringLiteral("predicted_prefill")).toInt();
    row.newTokens += fresh;
    row.contextSum += reused + prefilled;
    if (ms >= 0) {
        row.prefillMs += ms;
        ++row.turnsWithMs;
    }
    row.exact = row.exact && assembled->value(QStringLiteral("exact")).toBool();
    row.simulated = row.simulated || assembled->value(QStringLiteral("simulated")).toBool();
    const QString outcome = settled->value(QStringLiteral("settlement")).toString();
    if (outcome == QLatin1String("refuted"))
        ++row.misses;
    if (!plan.isEmpty() || run->summarised) {
        ReplayCompaction compaction;
        compaction.turn = row.turns;
        compaction.promptTokens =
            plan.isEmpty() ? run->promptBefore : plan.value(QStringLiteral("prompt_tokens")).toInt();
        compaction.tokensAfter = assembled->value(QStringLiteral("prompt_tokens")).toInt();
        const QJsonObject boundary = plan.value(QStringLiteral("boundary")).toObject();
        compaction.cut = plan.isEmpty() ? -1 : boundary.value(QStringLiteral("requested_cut")).toInt(-1);
        const QJsonObject &source = plan.isEmpty() ? *assembled : boundary;
        compaction.predicted = source.value(QStringLiteral("predicted_reuse")).toInt(-1);
        compaction.low = source.value(QStringLiteral("predicted_reuse_low")).toInt(-1);
        compaction.high = source.value(QStringLiteral("predicted_reuse_high")).toInt(-1);
        compaction.measured = reused;
        compaction.prefilled = prefilled;
        compaction.ms = ms;
        compaction.outcome = outcome;
        compaction.cause = settled->value(QStringLiteral("cause")).toString();
        row.compactions.append(compaction);
    }
    run->summarised = false;
    run->unsentFrom = run->seq + 1;
    co_return Result<void>();
}

QCoro::Task<Result<ReplayRow>> Replay::runStrategy(QString strategy)
{
    auto run = std::make_shared<Run>();
    run->strategy = strategy;
    run->row.strategy = strategy;
    run->mark = QUuid::createUuid().toString(QUuid::WithoutBraces).left(8);
    if (auto done = co_await openSession(run); !done)
        co_return std::unexpected(done.error());
    int turns = 0;
    for (const QJsonObject &message : std::as_const(m_options.transcript.messages))
        turns += message.value(QStringLiteral("role")).toString() == QLatin1String("assistant") ? 1 : 0;
    if (m_options.turns > 0)
        turns = std::min(turns, m_options.turns);
    // The strategies must not find each other's prompts on the server: each has a first line of its own, of equal
    // length.
    const QString line = QStringLiteral("Run %1.").arg(run->mark);
    bool marked = false;
    bool any = false;
    for (const QJsonObject &recorded : std::as_const(m_options.transcript.messages)) {
        if (*m_cancelled) {
            run->row.stopped = QStringLiteral("interrupted");
            break;
        }
        const QString role = recorded.value(QStringLiteral("role")).toString();
        if (role == QLatin1String("assistant") && any) {
            if (m_options.turns > 0 && run->row.turns >= m_options.turns)
                break;
            if (auto done = co_await request(run); !done)
                co_return std::unexpected(done.error());
            Q_EMIT progress(strategy, run->row.turns, turns);
            if (!run->row.stopped.isEmpty())
                break;
        }
        QJsonObject message = recorded;
        if (!marked && role != QLatin1String("assistant") && recorded.value(QStringLiteral("content")).isString()) {
            message.insert(QStringLiteral("content"),
                           QString(line + QLatin1Char('\n') + recorded.value(QStringLiteral("content")).toString()));
            marked = true;
        }
        if (auto done = co_await commit(run, message); !done)
            co_return std::unexpected(done.error());
        any = true;
    }
    co_return run->row;
}

} // namespace kerf
