// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/commands/cli.h"
#include "app/commands/commands.h"
#include "app/serviceoptions.h"
#include "app/unixsignals.h"
#include "core/ipc/mcpbridge.h"
#include "core/ipc/socketpath.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QProcess>

#include <csignal>

#include <unistd.h>

namespace kerf {

namespace {

/// A service that goes on when this process ends, as if it had been started by hand: other clients may use it by then.
Result<void> startDetached(const QString &socket, const QStringList &arguments)
{
    QProcess process;
    process.setProgram(QCoreApplication::applicationFilePath());
    process.setArguments(QStringList{QStringLiteral("serve"), QStringLiteral("--socket"), socket} + arguments);
    process.setStandardInputFile(QProcess::nullDevice());
    process.setStandardOutputFile(QProcess::nullDevice()); // ours carries messages and nothing else
    process.setStandardErrorFile(QProcess::nullDevice());
    if (!process.startDetached())
        return failure(Error::Code::Failed,
                       QStringLiteral("%1 serve cannot be started: %2").arg(process.program(), process.errorString()));
    return {};
}

} // namespace

int runMcp(QCoreApplication &app, QStringList arguments)
{
    QCommandLineParser parser;
    const CommandHelp help{
        QStringLiteral("mcp"), QStringLiteral("[options]"),
        QStringLiteral(
            "Kerf's tools as a Model Context Protocol server on standard input and output, for an MCP client to start. "
            "It only\n"
            "bridges to the service's socket. The tool list is answered at once and never changes, because a list that "
            "does\n"
            "costs a whole prefill. If no service runs, the first call of a tool starts \"kerfd serve\" in the "
            "background with\n"
            "the options given here; it goes on when the client ends (stop it with SIGTERM). --no-start forbids that."),
        QStringLiteral(
            "  kerfd mcp                                     # the command line for an MCP client's configuration\n"
            "  kerfd mcp --tools all --no-start\n"
            "  kerfd mcp --backend http://127.0.0.1:8080 --server-log /tmp/server.log\n"
            "  {\"mcpServers\": {\"kerf\": {\"command\": \"kerfd\", \"args\": [\"mcp\"]}}}")};
    parser.addOption({QStringLiteral("tools"), QStringLiteral("core (default; every tool costs prompt tokens) or all."),
                      QStringLiteral("core|all"), QStringLiteral("core")});
    parser.addOption({QStringLiteral("no-start"), QStringLiteral("Never start a service.")});
    addSocketOption(parser);
    parser.addOption({QStringLiteral("json"), QStringLiteral("Taken and without effect: all output is JSON.")});
    addServiceOptions(parser, false);
    if (const auto code = parseCommand(parser, help, arguments))
        return *code;
    if (!parser.positionalArguments().isEmpty())
        return usageError(help,
                          QStringLiteral("unexpected argument \"%1\"").arg(parser.positionalArguments().constFirst()));
    const QString tools = parser.value(QStringLiteral("tools"));
    if (tools != QLatin1String("core") && tools != QLatin1String("all"))
        return usageError(help, QStringLiteral("--tools: must be core or all, not \"%1\"").arg(tools));
    if (const auto given = serviceOptions(parser); !given)
        return usageError(help, given.error().message);
    const auto path = socketPath(parser.value(QStringLiteral("socket")));
    if (!path)
        return usageError(help, path.error().message);

    BridgeOptions options;
    options.socketPath = *path;
    options.coreOnly = tools == QLatin1String("core");
    if (!parser.isSet(QStringLiteral("no-start")))
        options.startService = [socket = *path, service = serviceArguments(parser)] {
            return startDetached(socket, service);
        };
    std::signal(SIGPIPE, SIG_IGN); // a client that is gone is the end of the input, not a crash
    McpBridge bridge(STDIN_FILENO, STDOUT_FILENO, options);
    UnixSignals stopSignals;
    QObject::connect(&stopSignals, &UnixSignals::received, &bridge, &McpBridge::end);
    QObject::connect(&bridge, &McpBridge::finished, &app, [] { QCoreApplication::exit(ExitDone); });
    return QCoreApplication::exec();
}

} // namespace kerf
