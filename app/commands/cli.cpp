// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/commands/cli.h"

#include "app/commands/commands.h"
#include "app/serviceoptions.h"
#include "app/unixsignals.h"
#include "core/ipc/localclient.h"
#include "core/ipc/socketclient.h"
#include "core/ipc/socketpath.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QJsonDocument>

#include <cstdio>

namespace kerf {

namespace {

void write(FILE *stream, const QString &text)
{
    const QByteArray bytes = text.toUtf8();
    std::fwrite(bytes.constData(), 1, static_cast<size_t>(bytes.size()), stream);
    std::fflush(stream);
}

struct Run {
    std::shared_ptr<MethodHandler> handler; ///< of a service of our own
    std::shared_ptr<ServiceClient> client;
    bool json = false;
};

QCoro::Task<void> useOwn(Run *run, ServiceOptions options, CommandHelp help, ServiceUser user)
{
    auto opened = co_await openService(std::move(options));
    if (!opened) {
        QCoreApplication::exit(reportError(help, opened.error(), run->json));
        co_return;
    }
    run->handler = *opened;
    run->client = std::make_shared<LocalClient>(run->handler);
    const int code = co_await user(run->client);
    QCoreApplication::exit(code);
}

QCoro::Task<void> useRunning(Run *run, ServiceUser user)
{
    const int code = co_await user(run->client);
    QCoreApplication::exit(code);
}

} // namespace

void addSocketOption(QCommandLineParser &parser)
{
    parser.addOption(
        {QStringLiteral("socket"),
         QStringLiteral("The service's socket. Default: $KERF_SOCKET, else $XDG_RUNTIME_DIR/kerf/kerf.sock."),
         QStringLiteral("PATH")});
}

void addJsonOption(QCommandLineParser &parser)
{
    parser.addOption({QStringLiteral("json"), QStringLiteral("Print JSON, as on the wire.")});
}

std::optional<int> parseCommand(QCommandLineParser &parser, const CommandHelp &help, const QStringList &arguments)
{
    parser.addOption({{QStringLiteral("h"), QStringLiteral("help")}, QStringLiteral("Show this help.")});
    if (!parser.parse(QStringList{QStringLiteral("kerfd ") + help.name} + arguments))
        return usageError(help, parser.errorText());
    if (!parser.isSet(QStringLiteral("help")))
        return std::nullopt;
    QString options = parser.helpText();
    options.remove(0, options.indexOf(QLatin1Char('\n')) + 1); // its usage line knows no command
    write(stdout,
          QStringLiteral("Usage: kerfd %1 %2\n\n%3\n%4\nExamples:\n%5\n")
              .arg(help.name, help.synopsis, help.description, options, help.examples));
    return ExitDone;
}

int usageError(const CommandHelp &help, const QString &what)
{
    write(stderr, QStringLiteral("kerfd %1: %2\nTry \"kerfd %1 --help\".\n").arg(help.name, what));
    return ExitUsage;
}

int exitCodeOf(const Error &error)
{
    switch (error.code) {
    case Error::Code::Unreachable:
        return ExitUnreachable;
    case Error::Code::InvalidParams:
    case Error::Code::MethodNotFound:
        return ExitUsage;
    default:
        return ExitFailed;
    }
}

int reportError(const CommandHelp &help, const Error &error, bool json)
{
    write(stderr, QStringLiteral("kerfd %1: %2\n").arg(help.name, error.message));
    if (json) {
        printJson({{QStringLiteral("error"),
                    QJsonObject{{QStringLiteral("code"), errorNumber(error.code)},
                                {QStringLiteral("slug"), errorSlug(error)},
                                {QStringLiteral("message"), error.message}}}});
    }
    return exitCodeOf(error);
}

void printText(const QString &text)
{
    write(stdout, text.endsWith(QLatin1Char('\n')) ? text : text + QLatin1Char('\n'));
}

void printJson(const QJsonObject &object) { write(stdout, QString::fromUtf8(QJsonDocument(object).toJson())); }

int withService(QCoreApplication &app, const CommandHelp &help, const QCommandLineParser &parser, bool fallbackOwn,
                bool memory, ServiceUser user, std::function<void()> interrupted)
{
    const bool json = parser.isSet(QStringLiteral("json"));
    Run run;
    run.json = json;
    bool own = namesOwnService(parser);
    if (!own) {
        const auto path = socketPath(parser.value(QStringLiteral("socket")));
        if (!path)
            return usageError(help, path.error().message);
        auto client = std::make_shared<SocketClient>(*path);
        client->start();
        if (client->isConnected() || !fallbackOwn || parser.isSet(QStringLiteral("socket")))
            run.client = client;
        else
            own = true;
    }
    std::optional<ServiceOptions> options;
    if (own) {
        auto given = serviceOptions(parser);
        if (!given)
            return usageError(help, given.error().message);
        options = *given;
        if (options->dbPath.isEmpty())
            options->dbPath = memory ? QStringLiteral(":memory:") : defaultDatabase();
    }
    UnixSignals stopSignals;
    QObject::connect(&stopSignals, &UnixSignals::received, &app, [interrupted, first = true](int number) mutable {
        if (interrupted && std::exchange(first, false))
            interrupted();
        else
            QCoreApplication::exit(128 + number);
    });
    QMetaObject::invokeMethod(
        &app,
        [&run, options, help, user] {
            if (options)
                useOwn(&run, *options, help, user);
            else
                useRunning(&run, user);
        },
        Qt::QueuedConnection);
    const int code = QCoreApplication::exec();
    run.client.reset();
    run.handler.reset();
    return code;
}

} // namespace kerf
