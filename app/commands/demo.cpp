// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/commands/cli.h"
#include "app/commands/commands.h"
#include "core/engine/kerfservice.h"
#include "core/engine/text.h"
#include "core/ipc/localclient.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QJsonArray>

#include <functional>

namespace kerf {

namespace {

constexpr int kWindow = 4096;
constexpr int kMostTurns = 60;

/// The same words every time: a demo that anybody can repeat to the token.
class Words
{
public:
    QString sentence(int count)
    {
        static const char *const words[] = {
            "queue", "retry",  "the",    "scheduler", "keeps", "a",     "slot",   "open",   "until", "port",  "closes",
            "and",   "test",   "passes", "again",     "when",  "limit", "is",     "three",  "after", "timer", "fires",
            "we",    "should", "log",    "both",      "sides", "of",    "socket", "before", "cut",   "moves"};
        QString text;
        for (int i = 0; i < count; ++i) {
            m_state = m_state * 6364136223846793005ULL + 1442695040888963407ULL;
            if (i > 0)
                text += QLatin1Char(' ');
            text += QLatin1String(words[(m_state >> 33) % std::size(words)]);
        }
        return text;
    }

private:
    quint64 m_state = 42;
};

struct DemoCall {
    CommandHelp help;
    bool json = false;
    QJsonArray steps;
};

QJsonObject episode(const QString &role, const QString &content)
{
    return {{QStringLiteral("session_id"), QStringLiteral("demo")},
            {QStringLiteral("role"), role},
            {QStringLiteral("content"), content}};
}

void say(const DemoCall &call, const QString &text)
{
    if (!call.json)
        printText(text);
}

/// One turn as a harness does it: plan, apply, assemble, run (here: simulated), record. Returns the plan and the
/// settlement.
QCoro::Task<Result<std::pair<QJsonObject, QJsonObject>>> turn(std::shared_ptr<ServiceClient> client)
{
    QJsonObject params{{QStringLiteral("session_id"), QStringLiteral("demo")}};
    QJsonObject planParams = params;
    planParams.insert(QStringLiteral("apply"), true);
    auto plan = co_await client->call(QStringLiteral("context.plan_eviction"), planParams);
    if (!plan)
        co_return std::unexpected(plan.error());
    auto assembled = co_await client->call(QStringLiteral("context.assemble"), params);
    if (!assembled)
        co_return std::unexpected(assembled.error());
    auto ran = co_await client->call(QStringLiteral("server.simulate"), params);
    if (!ran)
        co_return std::unexpected(ran.error());
    QJsonObject timings = params;
    for (const QString &field : {QStringLiteral("cache_n"), QStringLiteral("prompt_n"), QStringLiteral("prompt_ms"),
                                 QStringLiteral("predicted_n")})
        timings.insert(field, ran->value(field));
    auto settled = co_await client->call(QStringLiteral("context.record_timings"), timings);
    if (!settled)
        co_return std::unexpected(settled.error());
    QJsonObject both = *settled;
    both.insert(QStringLiteral("prompt_tokens"), assembled->value(QStringLiteral("prompt_tokens")));
    co_return std::pair{*plan, both};
}

QCoro::Task<Result<void>> commit(std::shared_ptr<ServiceClient> client, QJsonObject params)
{
    auto done = co_await client->call(QStringLiteral("memory.commit_episode"), params);
    if (!done)
        co_return std::unexpected(done.error());
    co_return Result<void>();
}

QCoro::Task<int> demoOn(std::shared_ptr<ServiceClient> client, std::shared_ptr<DemoCall> call)
{
    Words words;
    say(*call,
        QStringLiteral("SIMULATED: the embedded server tests the mechanism; it proves nothing about your server.\n"));
    QJsonObject configure{{QStringLiteral("session_id"), QStringLiteral("demo")},
                          {QStringLiteral("context_window"), kWindow}};
    if (auto done = co_await client->call(QStringLiteral("session.configure"), configure); !done)
        co_return reportError(call->help, done.error(), call->json);
    const QJsonObject system =
        episode(QStringLiteral("system"),
                QStringLiteral("You are a careful engineer. Keep the retry limit at 3 and never touch port.h."));
    if (auto done = co_await commit(client, system); !done)
        co_return reportError(call->help, done.error(), call->json);
    say(*call,
        QStringLiteral("A session with a window of %1 tokens; an agent works on a scheduler, turn by turn.")
            .arg(groupedNumber(kWindow)));
    int compactions = 0;
    for (int number = 1; number <= kMostTurns; ++number) {
        const QJsonObject user = episode(QStringLiteral("user"),
                                         QStringLiteral("Step %1: ").arg(number) + words.sentence(18 + number % 7 * 4));
        if (auto done = co_await commit(client, user); !done)
            co_return reportError(call->help, done.error(), call->json);
        const QString id = QStringLiteral("call-%1").arg(number);
        QJsonObject assistant = episode(QStringLiteral("assistant"), words.sentence(12));
        QJsonObject toolCall{{QStringLiteral("id"), id},
                             {QStringLiteral("name"), QStringLiteral("run_tests")},
                             {QStringLiteral("arguments"), QStringLiteral("{\"suite\":\"scheduler\"}")}};
        assistant.insert(QStringLiteral("tool_calls"), QJsonArray{toolCall});
        if (auto done = co_await commit(client, assistant); !done)
            co_return reportError(call->help, done.error(), call->json);
        QJsonObject tool = episode(QStringLiteral("tool"), words.sentence(60 + number % 5 * 25));
        tool.insert(QStringLiteral("tool_call_id"), id);
        if (auto done = co_await commit(client, tool); !done)
            co_return reportError(call->help, done.error(), call->json);
        auto done = co_await turn(client);
        if (!done)
            co_return reportError(call->help, done.error(), call->json);
        const auto &[plan, settled] = *done;
        const bool compacted = plan.value(QStringLiteral("applied")).toBool();
        QJsonObject step{{QStringLiteral("turn"), number}, {QStringLiteral("settlement"), settled}};
        if (compacted) {
            ++compactions;
            step.insert(QStringLiteral("plan"), plan);
            say(*call,
                QStringLiteral("\nturn %1: the window fills (%2 of %3 tokens). %4")
                    .arg(number)
                    .arg(QLatin1Char('~') + groupedNumber(plan.value(QStringLiteral("prompt_tokens")).toInt()),
                         groupedNumber(kWindow), plan.value(QStringLiteral("summary")).toString()));
            say(*call,
                QStringLiteral("        why there: %1").arg(plan.value(QStringLiteral("cache_reason")).toString()));
        }
        if (compacted || number <= 3 || number % 5 == 0) {
            say(*call,
                QStringLiteral("turn %1: ~%2 tokens sent, %3 reused and %4 prefilled (simulated); predicted ~%5: %6")
                    .arg(number)
                    .arg(groupedNumber(settled.value(QStringLiteral("prompt_tokens")).toInt()),
                         groupedNumber(settled.value(QStringLiteral("measured_reuse")).toInt()),
                         groupedNumber(settled.value(QStringLiteral("measured_prefill")).toInt()),
                         groupedNumber(settled.value(QStringLiteral("predicted_reuse")).toInt()),
                         settled.value(QStringLiteral("settlement")).toString()));
        }
        call->steps.append(step);
        const QJsonObject answer = episode(QStringLiteral("assistant"), words.sentence(20));
        if (auto answered = co_await commit(client, answer); !answered)
            co_return reportError(call->help, answered.error(), call->json);
        if (compactions >= 2)
            break;
    }
    const QJsonObject params{{QStringLiteral("session_id"), QStringLiteral("demo")}};
    auto receipt = co_await client->call(QStringLiteral("context.receipt"), params);
    if (!receipt)
        co_return reportError(call->help, receipt.error(), call->json);
    if (call->json) {
        QJsonObject all{{QStringLiteral("simulated"), true},
                        {QStringLiteral("steps"), call->steps},
                        {QStringLiteral("receipt"), *receipt}};
        printJson(all);
    } else {
        say(*call, QStringLiteral("\n") + receipt->value(QStringLiteral("rendered")).toString());
        say(*call,
            QStringLiteral("Next: kerfd doctor --backend http://127.0.0.1:8080 says what your own server can do."));
    }
    co_return compactions > 0 ? ExitDone : ExitFailed;
}

QCoro::Task<void> openAndRun(std::shared_ptr<DemoCall> call)
{
    ServiceOptions options;
    options.dbPath = QStringLiteral(":memory:");
    options.backend.spec = QStringLiteral("embedded");
    auto service = co_await openService(options);
    int code = ExitFailed;
    if (!service) {
        code = reportError(call->help, service.error(), call->json);
    } else {
        auto client = std::make_shared<LocalClient>(*service);
        code = co_await demoOn(client, call);
    }
    QCoreApplication::exit(code);
}

} // namespace

int runDemo(QCoreApplication &app, QStringList arguments)
{
    QCommandLineParser parser;
    const CommandHelp help{QStringLiteral("demo"), QStringLiteral("[options]"),
                           QStringLiteral("Walks through a whole session on the embedded simulation: an agent's turns "
                                          "fill a window of 4,096 tokens, Kerf plans\n"
                                          "and applies a compaction, predicts what is reused, and the next request "
                                          "settles the prediction. Needs no server and\n"
                                          "keeps nothing. The same words every time."),
                           QStringLiteral("  kerfd demo\n"
                                          "  kerfd demo --json | jq .receipt.stats")};
    addJsonOption(parser);
    if (const auto code = parseCommand(parser, help, arguments))
        return *code;
    if (!parser.positionalArguments().isEmpty())
        return usageError(help,
                          QStringLiteral("unexpected argument \"%1\"").arg(parser.positionalArguments().constFirst()));
    auto call = std::make_shared<DemoCall>();
    call->help = help;
    call->json = parser.isSet(QStringLiteral("json"));
    QMetaObject::invokeMethod(
        &app, [call] { openAndRun(call); }, Qt::QueuedConnection);
    return QCoreApplication::exec();
}

} // namespace kerf
