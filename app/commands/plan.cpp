// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/commands/cli.h"
#include "app/commands/commands.h"
#include "app/serviceoptions.h"
#include "core/engine/text.h"

#include <QCommandLineParser>
#include <QCoreApplication>

namespace kerf {

namespace {

QCoro::Task<int> planOn(std::shared_ptr<ServiceClient> client, CommandHelp help, QJsonObject params, bool json)
{
    // A plan of a session that is not there would make no sense, and must not make one.
    const QJsonObject session{{QStringLiteral("session_id"), params.value(QStringLiteral("session_id"))}};
    auto known = co_await client->call(QStringLiteral("session.get"), session);
    if (!known)
        co_return reportError(help, known.error(), json);
    auto result = co_await client->call(QStringLiteral("context.plan_eviction"), params);
    if (!result)
        co_return reportError(help, result.error(), json);
    if (json)
        printJson(*result);
    else
        printText(renderResult(QStringLiteral("context.plan_eviction"), *result));
    co_return ExitDone;
}

} // namespace

int runPlan(QCoreApplication &app, QStringList arguments)
{
    QCommandLineParser parser;
    const CommandHelp help{QStringLiteral("plan"), QStringLiteral("SESSION [options]"),
                           QStringLiteral("Plans where the session's prompt may be cut: what leaves it, what the "
                                          "server will reuse of the rest and what it\n"
                                          "must prefill. Below the trigger nothing has to go, and the plan says so. "
                                          "Nothing changes without --apply."),
                           QStringLiteral("  kerfd plan my-session\n"
                                          "  kerfd plan my-session --cut 12000          # what if it were cut there\n"
                                          "  kerfd plan my-session --profile window-first --json\n"
                                          "  kerfd plan my-session --apply && kerfd receipt my-session")};
    parser.addPositionalArgument(QStringLiteral("SESSION"), QStringLiteral("Its id; \"kerfd sessions\" lists them."));
    parser.addOption(
        {QStringLiteral("apply"), QStringLiteral("Apply the plan. Texts stay in the store; only the prompt changes.")});
    parser.addOption({QStringLiteral("cut"), QStringLiteral("Cut at this prompt token instead of the proposed one."),
                      QStringLiteral("N")});
    parser.addOption(
        {QStringLiteral("profile"), QStringLiteral("Plan with this eviction profile."), QStringLiteral("NAME")});
    parser.addOption({QStringLiteral("slot"), QStringLiteral("The slot that the harness pins the session to."),
                      QStringLiteral("N")});
    addSocketOption(parser);
    addJsonOption(parser);
    addServiceOptions(parser, false);
    if (const auto code = parseCommand(parser, help, arguments))
        return *code;
    const QStringList positional = parser.positionalArguments();
    if (positional.size() != 1)
        return usageError(help,
                          positional.isEmpty() ? QStringLiteral("which session? \"kerfd sessions\" lists them.")
                                               : QStringLiteral("unexpected argument \"%1\"").arg(positional.at(1)));
    QJsonObject params{{QStringLiteral("session_id"), positional.constFirst()},
                       {QStringLiteral("apply"), parser.isSet(QStringLiteral("apply"))}};
    const std::pair<QString, QString> numbers[] = {{QStringLiteral("cut"), QStringLiteral("requested_cut")},
                                                   {QStringLiteral("slot"), QStringLiteral("slot_id")}};
    for (const auto &[option, field] : numbers) {
        if (!parser.isSet(option))
            continue;
        bool ok = false;
        const int number = parser.value(option).toInt(&ok);
        if (!ok)
            return usageError(help, QStringLiteral("--%1: must be a number").arg(option));
        params.insert(field, number);
    }
    if (parser.isSet(QStringLiteral("profile")))
        params.insert(QStringLiteral("profile"), parser.value(QStringLiteral("profile")));
    const bool json = parser.isSet(QStringLiteral("json"));
    return withService(app, help, parser, false, false, [help, params, json](std::shared_ptr<ServiceClient> client) {
        return planOn(std::move(client), help, params, json);
    });
}

} // namespace kerf
