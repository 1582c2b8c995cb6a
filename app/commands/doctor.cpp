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
QCoro::Task<int> doctorOn(std::shared_ptr<ServiceClient> client, CommandHelp help, bool refresh, bool json)
{
    const QJsonObject params{{QStringLiteral("refresh"), refresh}};
    auto result = co_await client->call(QStringLiteral("server.doctor"), params);
    if (!result)
        co_return reportError(help, result.error(), json);
    if (json)
        printJson(*result);
    else
        printText(renderDoctor(*result));
    // "none" is not reachable by intention.
    const bool wanted = result->value(QStringLiteral("resolved")).toString() != QLatin1String("none");
    co_return wanted && !result->value(QStringLiteral("reachable")).toBool() ? ExitUnreachable : ExitDone;
}
} // namespace

int runDoctor(QCoreApplication &app, QStringList arguments)
{
    QCommandLineParser parser;
    const CommandHelp help{
        QStringLiteral("doctor"), QStringLiteral("[options]"),
        QStringLiteral("Says what the inference server can do and what it can reuse of a conversation: three lines, "
                       "then the evidence\n"
                       "for each claim, then what to change. Asks the running service; with --backend, or where none "
                       "runs, it looks\n"
                       "for itself and keeps nothing. Nothing is sent that costs the server more than a look."),
        QStringLiteral("  kerfd doctor\n"
                       "  kerfd doctor --backend http://127.0.0.1:8080 --server-log server.log\n"
                       "  kerfd doctor --json | jq .memory")};
    addSocketOption(parser);
    addJsonOption(parser);
    parser.addOption({QStringLiteral("refresh"), QStringLiteral("Probe the server again first.")});
    addServiceOptions(parser, false);
    if (const auto code = parseCommand(parser, help, arguments))
        return *code;
    if (!parser.positionalArguments().isEmpty())
        return usageError(help,
                          QStringLiteral("unexpected argument \"%1\"").arg(parser.positionalArguments().constFirst()));
    const bool refresh = parser.isSet(QStringLiteral("refresh"));
    const bool json = parser.isSet(QStringLiteral("json"));
    return withService(app, help, parser, true, true, [help, refresh, json](std::shared_ptr<ServiceClient> client) {
        return doctorOn(std::move(client), help, refresh, json);
    });
}

} // namespace kerf
