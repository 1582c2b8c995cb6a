// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/commands/commands.h"
#include "app/programlog.h"
#include "app/serve.h"

#include <QCoreApplication>

#include <cstdio>

namespace kerf {

namespace {

struct Command {
    const char *name;
    const char *summary;
    int (*run)(QCoreApplication &app, QStringList arguments);
};

const Command kCommands[] = {
    {"serve", "serve the protocol on a local socket", runServe},
    {"mcp", "the same tools for an MCP client, over stdin and stdout", runMcp},
    {"doctor", "what the server can reuse, on what evidence, and what to change", runDoctor},
    {"calibrate", "find out by experiment what the server can reuse", runCalibrate},
#ifdef KERF_HAS_DEMO
    {"demo", "a whole session on the embedded simulation; needs nothing", runDemo},
#endif
    {"plan", "plan a cut, and apply it if asked", runPlan},
    {"diff", "where two prompts part, and why", runDiff},
    {"receipt", "where the window went, what was reused, what it cost", runReceipt},
    {"sessions", "the sessions of the store", runSessions},
    {"call", "call any method of the protocol", runCall},
#ifdef KERF_HAS_REPLAY
    {"replay", "run a recorded conversation under several strategies", runReplay},
#endif
};

void printHelp(FILE *stream)
{
    std::fputs("Usage: kerfd COMMAND [options]\n\n"
               "Decides where a conversation may be cut so that the inference server's KV cache still matches.\n\n"
               "Commands:\n",
               stream);
    for (const Command &command : kCommands)
        std::fprintf(stream, "  %-10s %s\n", command.name, command.summary);
    std::fputs("\n"
               "\"kerfd COMMAND --help\" explains each, with examples. --json prints what a program can read.\n"
               "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 the server or the service does not answer.\n\n"
               "Start here:\n"
#ifdef KERF_HAS_DEMO
               "  kerfd demo                                             # simulated, and says so\n"
#endif
               "  kerfd serve --launch -- llama-server -m model.gguf -c 32768 -lv 4\n"
               "  kerfd doctor\n",
               stream);
}

} // namespace

int runCommand(QCoreApplication &app, QStringList arguments)
{
    installProgramLog();
    if (arguments.isEmpty()) {
        printHelp(stderr);
        return ExitUsage;
    }
    const QString name = arguments.takeFirst();
    if (name == QLatin1String("--help") || name == QLatin1String("-h") || name == QLatin1String("help")) {
        // "kerfd help plan" is "kerfd plan --help".
        if (!arguments.isEmpty())
            return runCommand(app, {arguments.constFirst(), QStringLiteral("--help")});
        printHelp(stdout);
        return ExitDone;
    }
    if (name == QLatin1String("--version") || name == QLatin1String("-v")) {
        std::fputs("kerfd " KERF_VERSION "\n", stdout);
        return ExitDone;
    }
    for (const Command &command : kCommands) {
        if (name == QLatin1String(command.name))
            return command.run(app, arguments);
    }
    std::fprintf(stderr, "kerfd: there is no command \"%s\".\nTry \"kerfd --help\".\n", qPrintable(name));
    return ExitUsage;
}

} // namespace kerf
