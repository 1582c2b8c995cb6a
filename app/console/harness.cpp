// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/console/harness.h"

#include <QStringList>

namespace kerf {

namespace {

/// Words that read like work on a scheduler; the same seed gives the same text.
QString text(quint32 seed, int words)
{
    static const QStringList stock{
        QStringLiteral("the"),     QStringLiteral("retry"),     QStringLiteral("limit"), QStringLiteral("of"),
        QStringLiteral("port"),    QStringLiteral("scheduler"), QStringLiteral("stays"), QStringLiteral("at"),
        QStringLiteral("three"),   QStringLiteral("and"),       QStringLiteral("queue"), QStringLiteral("test"),
        QStringLiteral("passes"),  QStringLiteral("on"),        QStringLiteral("both"),  QStringLiteral("boards"),
        QStringLiteral("when"),    QStringLiteral("timer"),     QStringLiteral("wraps"), QStringLiteral("so"),
        QStringLiteral("moved"),   QStringLiteral("loop"),      QStringLiteral("out"),   QStringLiteral("tick"),
        QStringLiteral("handler"), QStringLiteral("before"),    QStringLiteral("it"),    QStringLiteral("returns"),
        QStringLiteral("early"),   QStringLiteral("with"),      QStringLiteral("flag"),  QStringLiteral("set")};
    QString result;
    quint32 state = seed * 2654435761u + 12345u;
    int sentence = 0;
    for (int i = 0; i < words; ++i) {
        state = state * 1664525u + 1013904223u;
        QString word = stock.at(static_cast<int>((state >> 16) % static_cast<quint32>(stock.size())));
        if (sentence == 0)
            word[0] = word.at(0).toUpper();
        result += word;
        ++sentence;
        if (sentence > 6 + static_cast<int>((state >> 8) % 7) || i + 1 == words) {
            result += QStringLiteral(". ");
            sentence = 0;
        } else {
            result += QLatin1Char(' ');
        }
    }
    return result.trimmed();
}

// Parameters are built in plain functions: gcc 12 miscompiles braced lists inside a coroutine that awaits.
QJsonObject inSession(const QString &id) { return {{QStringLiteral("session_id"), id}}; }

QJsonObject sessionParams(const Harness::Script &script)
{
    return {{QStringLiteral("session_id"), script.sessionId}, {QStringLiteral("title"), script.title}};
}

QJsonObject episode(const QString &id, const QString &role, const QString &content, const QString &ref)
{
    return {{QStringLiteral("session_id"), id},
            {QStringLiteral("role"), role},
            {QStringLiteral("content"), content},
            {QStringLiteral("client_ref"), ref}};
}

QJsonObject pinParams(const QString &id, const QJsonValue &episodeId)
{
    return {{QStringLiteral("session_id"), id},
            {QStringLiteral("episode_id"), episodeId},
            {QStringLiteral("kind"), QStringLiteral("task_contract")}};
}

QJsonObject planParams(const QString &id, bool apply)
{
    return {{QStringLiteral("session_id"), id}, {QStringLiteral("apply"), apply}};
}

QJsonObject simulateParams(const QString &id)
{
    return {{QStringLiteral("session_id"), id}, {QStringLiteral("generated"), 24}};
}

/// What came back, as context.record_timings takes it.
QJsonObject timingsParams(const QString &id, const QJsonObject &assembled, const QJsonObject &answer)
{
    QJsonObject timings{{QStringLiteral("session_id"), id},
                        {QStringLiteral("revision"), assembled.value(QLatin1String("revision"))}};
    for (const char *name : {"cache_n", "prompt_n", "prompt_ms", "predicted_n", "predicted_ms", "slot_id"}) {
        const QJsonValue value = answer.value(QLatin1String(name));
        if (!value.isUndefined() && !value.isNull())
            timings.insert(QLatin1String(name), value);
    }
    return timings;
}

Error gone() { return Error{Error::Code::Cancelled, QStringLiteral("the conversation was stopped"), {}}; }

} // namespace

Harness::Harness(ServiceClient *client, QObject *parent)
    : QObject(parent)
    , m_client(client)
{
}

QCoro::Task<Result<QJsonObject>> Harness::simulate(QPointer<ServiceClient> client, QString sessionId,
                                                   QJsonObject assembled)
{
    Q_UNUSED(assembled)
    if (!client)
        co_return std::unexpected(gone());
    const QJsonObject params = simulateParams(sessionId);
    co_return co_await client->call(QStringLiteral("server.simulate"), params);
}

QCoro::Task<Result<void>> Harness::run(Script script, Sender sender)
{
    const QPointer<Harness> self(this);
    const QPointer<ServiceClient> client = m_client;
    const QString id = script.sessionId;
    m_stopped = false;
    if (!client)
        co_return std::unexpected(gone());
    // A client that goes answers its open calls with an error, so each error ends the conversation.
    QJsonObject params = sessionParams(script);
    auto answer = co_await client->call(QStringLiteral("session.create"), params);
    if (!answer)
        co_return std::unexpected(answer.error());
    params = episode(
        id, QStringLiteral("system"),
        QStringLiteral("You keep a port scheduler. Change little, test every change, never touch the board files."),
        QStringLiteral("system"));
    answer = co_await client->call(QStringLiteral("memory.commit_episode"), params);
    if (!answer)
        co_return std::unexpected(answer.error());
    int compactions = 0;
    for (int turn = script.firstTurn; turn <= script.turns; ++turn) {
        if (!self || self->m_stopped || !client)
            co_return std::unexpected(gone());
        const int words = script.wordsPerMessage / 2 + (turn * 37) % script.wordsPerMessage;
        params = episode(id, QStringLiteral("user"),
                         QStringLiteral("Step %1. %2").arg(turn).arg(text(static_cast<quint32>(turn), words)),
                         QStringLiteral("user-%1").arg(turn));
        answer = co_await client->call(QStringLiteral("memory.commit_episode"), params);
        if (!answer)
            co_return std::unexpected(answer.error());
        if (turn == 3) {
            params = pinParams(id, answer->value(QLatin1String("episode_id")));
            answer = co_await client->call(QStringLiteral("memory.pin"), params);
            if (!answer)
                co_return std::unexpected(answer.error());
        }
        params = planParams(id, script.applyPlans);
        answer = co_await client->call(QStringLiteral("context.plan_eviction"), params);
        if (!answer)
            co_return std::unexpected(answer.error());
        if (answer->value(QLatin1String("applied")).toBool())
            ++compactions;
        params = inSession(id);
        const auto assembled = co_await client->call(QStringLiteral("context.assemble"), params);
        if (!assembled)
            co_return std::unexpected(assembled.error());
        const QJsonObject request = *assembled;
        const auto reply = co_await sender(id, request);
        if (!reply)
            co_return std::unexpected(reply.error());
        if (!client)
            co_return std::unexpected(gone());
        params = timingsParams(id, request, *reply);
        answer = co_await client->call(QStringLiteral("context.record_timings"), params);
        if (!answer)
            co_return std::unexpected(answer.error());
        QString said = reply->value(QLatin1String("text")).toString();
        if (said.isEmpty())
            said = text(static_cast<quint32>(turn + 7000), words / 2 + 10);
        params = episode(id, QStringLiteral("assistant"), said, QStringLiteral("assistant-%1").arg(turn));
        answer = co_await client->call(QStringLiteral("memory.commit_episode"), params);
        if (!answer)
            co_return std::unexpected(answer.error());
        if (!self)
            co_return std::unexpected(gone());
        Q_EMIT self->turned(turn, compactions);
        if (script.compactions > 0 && compactions >= script.compactions)
            break;
    }
    co_return Result<void>();
}

} // namespace kerf
