// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/serviceoptions.h"

#include <QCommandLineParser>
#include <QDir>
#include <QFile>
#include <QStandardPaths>

namespace kerf {

namespace {
QString db() { return QStringLiteral("db"); }
QString backend() { return QStringLiteral("backend"); }
QString serverLog() { return QStringLiteral("server-log"); }
QString serverFlags() { return QStringLiteral("server-flags"); }
QString contextWindow() { return QStringLiteral("context-window"); }
QString apiKeyFile() { return QStringLiteral("api-key-file"); }
QString launch() { return QStringLiteral("launch"); }
} // namespace

QString defaultDatabase()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + QStringLiteral("/kerf/kerf.db");
}

void addServiceOptions(QCommandLineParser &parser, bool withLaunch)
{
    parser.addOption({db(),
                      QStringLiteral("The store. Default: %1. \":memory:\" keeps nothing.").arg(defaultDatabase()),
                      QStringLiteral("PATH")});
    parser.addOption({backend(),
                      QStringLiteral("The server: auto (default; the one at http://127.0.0.1:8080 if it answers, else "
                                     "the embedded simulation), "
                                     "embedded, none, or a URL."),
                      QStringLiteral("SPEC")});
    parser.addOption(
        {serverLog(),
         QStringLiteral("Follow this log of the server, which must run with -lv 4: its checkpoints show nowhere else."),
         QStringLiteral("FILE")});
    parser.addOption({serverFlags(),
                      QStringLiteral("Start flags of a server whose command line cannot be read (a remote one)."),
                      QStringLiteral("\"FLAGS\"")});
    parser.addOption({contextWindow(),
                      QStringLiteral("Plan for a window of N tokens, if that is smaller than the server's."),
                      QStringLiteral("N")});
    parser.addOption(
        {apiKeyFile(),
         QStringLiteral("Read the server's API key from the first line of this file. Or set KERF_API_KEY."),
         QStringLiteral("FILE")});
    if (withLaunch) {
        parser.addOption(
            {launch(), QStringLiteral("Start the server as a child and read its output as its log; must come last.")});
        parser.addPositionalArgument(QStringLiteral("CMD"), QStringLiteral("With --launch: the server's command line."),
                                     QStringLiteral("[-- CMD...]"));
    }
}

bool namesOwnService(const QCommandLineParser &parser) { return parser.isSet(db()) || parser.isSet(backend()); }

Result<ServiceOptions> serviceOptions(const QCommandLineParser &parser)
{
    ServiceOptions options;
    options.dbPath = parser.value(db());
    if (parser.isSet(db()) && options.dbPath.isEmpty())
        return failure(Error::Code::InvalidParams, QStringLiteral("--db: must be a path"));
    if (parser.isSet(backend()))
        options.backend.spec = parser.value(backend());
    options.backend.logFile = parser.value(serverLog());
    options.backend.serverFlags = parser.value(serverFlags());
    if (parser.isSet(contextWindow())) {
        bool ok = false;
        options.contextWindow = parser.value(contextWindow()).toInt(&ok);
        if (!ok || options.contextWindow < 256)
            return failure(Error::Code::InvalidParams,
                           QStringLiteral("--context-window: must be a number of tokens from 256"));
    }
    options.backend.apiKey = qEnvironmentVariable("KERF_API_KEY");
    if (parser.isSet(apiKeyFile())) {
        QFile file(parser.value(apiKeyFile()));
        if (!file.open(QIODevice::ReadOnly))
            return failure(Error::Code::InvalidParams,
                           QStringLiteral("--api-key-file: %1: %2").arg(file.fileName(), file.errorString()));
        options.backend.apiKey = QString::fromUtf8(file.readLine(64 * 1024)).trimmed();
        if (options.backend.apiKey.isEmpty())
            return failure(Error::Code::InvalidParams,
                           QStringLiteral("--api-key-file: the first line of %1 is empty").arg(file.fileName()));
    }
    const QStringList rest = parser.positionalArguments();
    if (parser.optionNames().contains(launch())) {
        if (rest.isEmpty())
            return failure(
                Error::Code::InvalidParams,
                QStringLiteral(
                    "--launch: the server's command line must follow, as in --launch -- llama-server -m model.gguf"));
        options.backend.launchCommand = rest;
    }
    return options;
}

QStringList serviceArguments(const QCommandLineParser &parser)
{
    QStringList arguments;
    for (const QString &name : {db(), backend(), serverLog(), serverFlags(), contextWindow(), apiKeyFile()}) {
        if (!parser.isSet(name))
            continue;
        QString value = parser.value(name);
        // The service does not run where we do.
        if ((name == db() && value != QLatin1String(":memory:")) || name == serverLog() || name == apiKeyFile())
            value = QDir::current().absoluteFilePath(value);
        arguments << QStringLiteral("--") + name << value;
    }
    return arguments;
}

} // namespace kerf
