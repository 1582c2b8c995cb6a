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
        QStringLiteral("the"), QStringLiteral("retry"), QStringLiteral("limit"), QStringLiteral("of"), QStringLiteral("port"), QStringLiteral("scheduler"),
        QStringLiteral("stays"), QStringLiteral("at"), QStringLiteral("three"), QStringLiteral("and"), QStringLiteral("queue"), QStringLiteral("test"),
        QStringLiteral("passes"), QStringLiteral("on"), QStringLiteral("both"), QStringLiteral("boards"), QStringLiteral("when"), QStringLiteral("timer"),
        QStringLiteral("wraps"), QStringLiteral("so"), QStringLiteral("moved"), QStringLiteral("loop"), QStringLiteral("out"), QStringLiteral("tick"),
        QStringLiteral("handler"), QStringLiteral("before"), QStringLiteral("it"), QStringLiteral("returns"), QStringLiteral("early"), QStringLiteral("with"),
        QStringLiteral("flag"), QStringLiteral("set")};
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

} // namespace

Harness::Harness(ServiceClient *client, QObject *parent) : QObject(parent), m_client(client) {}

QCoro::Task<Result<QJsonObject>> Harness::simulate(QPointer<ServiceClient> client, QString sessionId, QJsonObject assembled)
{
    Q_UNUSED(assembled)
    if (!client)
        co_return failure(Error::Code::Cancelled, QStringLiteral("the service is gone"));
    co_return co_await client->call(QStringLiteral("server.simulate"), {{QStringLiteral("session_id"), sessionId}, {QStringLiteral("generated"), 24}});
}

QCoro::Task<Result<void>> Harness::run(Script script, Sender sender)
{
    const QPointer<Harness> self(this);
    const QPointer<ServiceClient> client = m_client;
    if (!client)
        co_return failure(Error::Code::Cancelled, QStringLiteral("the service is gone"));
    const QString id = script.sessionId;
    m_stopped = false;
    if (auto made = co_await client->call(QStringLiteral("session.create"), {{QStringLiteral("session_id"), id}, {QStringLiteral("title"), script.title}}); !made)
        co_return std::unexpected(made.error());
    const QJsonObject system{{QStringLiteral("session_id"), id}, {QStringLiteral("role"), QStringLiteral("system")},
                             {QStringLiteral("content"), QStringLiteral("You keep a port scheduler. Change little, test every change, never touch the board files.")},
                             {QStringLiteral("client_ref"), QStringLiteral("system")}};
    if (auto committed = co_await client->call(QStringLiteral("memory.commit_episode"), system); !committed)
        co_return std::unexpected(committed.error());
    int compactions = 0;
    for (int turn = 1; turn <= script.turns; ++turn) {
        if (!self || self->m_stopped)
            co_return failure(Error::Code::Cancelled, QStringLiteral("the conversation was stopped"));
        const int words = script.wordsPerMessage / 2 + (turn * 37) % script.wordsPerMessage;
        const QJsonObject user{{QStringLiteral("session_id"), id}, {QStringLiteral("role"), QStringLiteral("user")},
                               {QStringLiteral("content"), QStringLiteral("Step %1. %2").arg(turn).arg(text(static_cast<quint32>(turn), words))},
                               {QStringLiteral("client_ref"), QStringLiteral("user-%1").arg(turn)}};
        auto committed = co_await client->call(QStringLiteral("memory.commit_episode"), user);
        if (!committed)
            co_return std::unexpected(committed.error());
        if (turn == 3) {
            const QJsonValue episode = committed->value(QLatin1String("episode_id"));
            if (auto pinned = co_await client->call(QStringLiteral("memory.pin"), {{QStringLiteral("session_id"), id}, {QStringLiteral("episode_id"), episode},
                                                                                   {QStringLiteral("kind"), QStringLiteral("task_contract")}}); !pinned)
                co_return std::unexpected(pinned.error());
        }
        auto plan = co_await client->call(QStringLiteral("context.plan_eviction"), {{QStringLiteral("session_id"), id}, {QStringLiteral("apply"), script.applyPlans}});
        if (!plan)
            co_return std::unexpected(plan.error());
        if (plan->value(QLatin1String("applied")).toBool())
            ++compactions;
        auto assembled = co_await client->call(QStringLiteral("context.assemble"), {{QStringLiteral("session_id"), id}});
        if (!assembled)
            co_return std::unexpected(assembled.error());
        auto answer = co_await sender(id, *assembled);
        if (!client)
            co_return failure(Error::Code::Cancelled, QStringLiteral("the service is gone"));
        if (!answer)
            co_return std::unexpected(answer.error());
        QJsonObject timings{{QStringLiteral("session_id"), id}, {QStringLiteral("revision"), assembled->value(QLatin1String("revision"))}};
        for (const char *name : {"cache_n", "prompt_n", "prompt_ms", "predicted_n", "predicted_ms", "slot_id"}) {
            const QJsonValue value = answer->value(QLatin1String(name));
            if (!value.isUndefined() && !value.isNull())
                timings.insert(QLatin1String(name), value);
        }
        if (auto settled = co_await client->call(QStringLiteral("context.record_timings"), timings); !settled)
            co_return std::unexpected(settled.error());
        QString reply = answer->value(QLatin1String("text")).toString();
        if (reply.isEmpty())
            reply = text(static_cast<quint32>(turn + 7000), words / 2 + 10);
        const QJsonObject assistant{{QStringLiteral("session_id"), id}, {QStringLiteral("role"), QStringLiteral("assistant")}, {QStringLiteral("content"), reply},
                                    {QStringLiteral("client_ref"), QStringLiteral("assistant-%1").arg(turn)}};
        if (auto done = co_await client->call(QStringLiteral("memory.commit_episode"), assistant); !done)
            co_return std::unexpected(done.error());
        if (!self)
            co_return failure(Error::Code::Cancelled, QStringLiteral("the conversation was stopped"));
        Q_EMIT self->turned(turn, compactions);
        if (script.compactions > 0 && compactions >= script.compactions)
            break;
    }
    co_return Result<void>();
}

} // namespace kerf
