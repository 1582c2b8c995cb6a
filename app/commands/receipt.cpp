// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/commands/cli.h"
#include "app/commands/commands.h"
#include "app/serviceoptions.h"

#include <QCommandLineParser>
#include <QCoreApplication>

namespace kerf {

namespace {

QCoro::Task<int> receiptOn(std::shared_ptr<ServiceClient> client, CommandHelp help, QJsonObject params, bool json)
{
    auto result = co_await client->call(QStringLiteral("context.receipt"), params);
    if (!result)
        co_return reportError(help, result.error(), json);
    if (json)
        printJson(*result);
    else
        printText(result->value(QStringLiteral("rendered")).toString());
    co_return ExitDone;
}

} // namespace

int runReceipt(QCoreApplication &app, QStringList arguments)
{
    QCommandLineParser parser;
    const CommandHelp help{QStringLiteral("receipt"), QStringLiteral("SESSION [options]"),
                           QStringLiteral("Prints the receipt of a session's last request, or of an earlier one: where "
                                          "the window went, what the server\n"
                                          "reused and prefilled, how long that took, and whether it was as predicted."),
                           QStringLiteral("  kerfd receipt my-session\n"
                                          "  kerfd receipt my-session --turn 12\n"
                                          "  kerfd receipt my-session --json | jq .stats.prefill_amplification")};
    parser.addPositionalArgument(QStringLiteral("SESSION"), QStringLiteral("Its id; \"kerfd sessions\" lists them."));
    parser.addOption({QStringLiteral("turn"),
                      QStringLiteral("The request with this number, from 1. Default: the last."), QStringLiteral("N")});
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
    QJsonObject params{{QStringLiteral("session_id"), positional.constFirst()}};
    if (parser.isSet(QStringLiteral("turn"))) {
        bool ok = false;
        const int turn = parser.value(QStringLiteral("turn")).toInt(&ok);
        if (!ok || turn < 1)
            return usageError(help, QStringLiteral("--turn: must be a number from 1"));
        params.insert(QStringLiteral("turn"), turn);
    }
    const bool json = parser.isSet(QStringLiteral("json"));
    return withService(app, help, parser, false, false, [help, params, json](std::shared_ptr<ServiceClient> client) {
        return receiptOn(std::move(client), help, params, json);
    });
}

} // namespace kerf
