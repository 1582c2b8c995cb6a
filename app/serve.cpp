// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/serve.h"

#include "app/commands/cli.h"
#include "app/commands/commands.h"
#include "app/programlog.h"
#include "app/serviceoptions.h"
#include "app/unixsignals.h"
#include "core/base/log.h"
#include "core/ipc/socketpath.h"
#include "core/ipc/socketserver.h"

#include <QCommandLineParser>
#include <QCoreApplication>

#include <cstdio>

namespace kerf {

namespace {

/// One run of the service, from the lock to the last answer.
struct Service {
    std::unique_ptr<SocketServer> server;
    std::shared_ptr<MethodHandler> handler;
    bool stopping = false;
    bool opening = false;
};

int fail(const Error &error)
{
    std::fprintf(stderr, "kerfd serve: %s\n", qPrintable(error.message));
    return exitCodeOf(error);
}

QCoro::Task<void> openAndListen(Service *service, ServiceOptions options)
{
    service->opening = true;
    auto opened = co_await openService(std::move(options));
    service->opening = false;
    if (!opened) {
        QCoreApplication::exit(service->stopping ? ExitDone : fail(opened.error()));
        co_return;
    }
    service->handler = *opened;
    if (service->stopping) {
        QCoreApplication::exit(ExitDone);
        co_return;
    }
    if (const auto listening = service->server->listen(service->handler); !listening) {
        QCoreApplication::exit(fail(listening.error()));
        co_return;
    }
    const QByteArray line = "listening on " + service->server->path().toLocal8Bit() + '\n';
    std::fwrite(line.constData(), 1, static_cast<size_t>(line.size()), stdout);
    std::fflush(stdout);
}

} // namespace

int runServe(QCoreApplication &app, QStringList arguments)
{
    installProgramLog();
    QCommandLineParser parser;
    CommandHelp help{
        QStringLiteral("serve"), QStringLiteral("[options] [--launch -- CMD...]"),
        QStringLiteral("Serves the protocol on a local socket: one JSON-RPC 2.0 message a line. Prints \"listening on "
                       "PATH\" when it is\n"
                       "ready; logs go to stderr. SIGTERM or Ctrl+C ends it: what was accepted is answered first."),
        QStringLiteral("  kerfd serve --launch -- llama-server -m model.gguf -c 32768 -lv 4\n"
                       "  kerfd serve --backend http://127.0.0.1:8080 --server-log server.log\n"
                       "  kerfd serve --backend embedded --db :memory:      # to try it out; simulated, and says so\n"
                       "  kerfd call kerf.status                            # in another terminal")};
    addSocketOption(parser);
    addServiceOptions(parser, true);
    if (const auto code = parseCommand(parser, help, arguments))
        return *code;
    auto options = serviceOptions(parser);
    if (!options)
        return usageError(help, options.error().message);
    if (options->backend.launchCommand.isEmpty() && !parser.positionalArguments().isEmpty())
        return usageError(help,
                          QStringLiteral("unexpected argument \"%1\"").arg(parser.positionalArguments().constFirst()));
    if (options->dbPath.isEmpty())
        options->dbPath = defaultDatabase();
    const auto path = socketPath(parser.value(QStringLiteral("socket")));
    if (!path)
        return usageError(help, path.error().message);

    Service service;
    UnixSignals stopSignals;
    service.server = std::make_unique<SocketServer>(*path);
    // First: who does not get the socket does not touch the store.
    if (const auto claimed = service.server->claim(); !claimed)
        return fail(claimed.error());
    QObject::connect(service.server.get(), &SocketServer::stopped, &app, [] { QCoreApplication::exit(ExitDone); });
    QObject::connect(&stopSignals, &UnixSignals::received, &app, [&service](int number) {
        qCInfo(lcApp) << "ending"
                      << "signal" << number;
        service.stopping = true;
        if (!service.opening)
            service.server->stop();
    });
    // From within the loop: an error right at the start has to be able to end it.
    QMetaObject::invokeMethod(
        &app, [&service, options = *options] { openAndListen(&service, options); }, Qt::QueuedConnection);
    const int code = QCoreApplication::exec();
    service.server.reset(); // it knows the handler
    service.handler.reset();
    return code;
}

} // namespace kerf
