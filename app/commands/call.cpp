// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/commands/cli.h"
#include "app/commands/commands.h"
#include "app/serviceoptions.h"
#include "core/ipc/pending.h"
#include "core/ipc/socketclient.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>

#include <cstdio>

namespace kerf {

namespace {

void printLine(const QJsonObject &object)
{
    printText(QString::fromUtf8(QJsonDocument(object).toJson(QJsonDocument::Compact)));
}

QCoro::Task<int> callOn(std::shared_ptr<ServiceClient> client, CommandHelp help, QString method, QJsonObject params,
                        bool json)
{
    auto result = co_await client->call(method, params);
    if (!result)
        co_return reportError(help, result.error(), json);
    if (json)
        printLine(*result);
    else
        printJson(*result);
    co_return ExitDone;
}

/// Prints events, one a line, until the service or the user ends it.
QCoro::Task<int> watchOn(std::shared_ptr<ServiceClient> client, CommandHelp help, QJsonObject params, bool json)
{
    const auto end = std::make_shared<PendingAnswer>();
    QObject::connect(client.get(), &ServiceClient::event, client.get(),
                     [](const QString &, const QJsonObject &event) { printLine(event); });
    QObject::connect(client.get(), &ServiceClient::connectedChanged, client.get(), [end](bool connected) {
        if (!connected)
            settleLater(end, QJsonObject());
    });
    auto result = co_await client->call(QStringLiteral("events.subscribe"), params);
    if (!result)
        co_return reportError(help, result.error(), json);
    PendingAnswer::Awaiter ended{end};
    (void)co_await ended;
    co_return reportError(
        help, Error{Error::Code::Unreachable, QStringLiteral("the service closed the connection"), {}}, false);
}

} // namespace

int runCall(QCoreApplication &app, QStringList arguments)
{
    QCommandLineParser parser;
    const CommandHelp help{
        QStringLiteral("call"), QStringLiteral("METHOD [JSON|-]"),
        QStringLiteral("Calls one method of the protocol and prints its result: the parameters are a JSON object, on "
                       "the command line or\n"
                       "with - on standard input. events.subscribe prints events, one a line, until it is ended."),
        QStringLiteral("  kerfd call kerf.status\n"
                       "  kerfd call memory.commit_episode '{\"session_id\": \"s1\", \"role\": \"user\", \"content\": "
                       "\"Hello\"}'\n"
                       "  kerfd call context.assemble '{\"session_id\": \"s1\"}' --json > body.json\n"
                       "  jq '{session_id: \"s1\"} + .timings' answer.json | kerfd call context.record_timings -\n"
                       "  kerfd call events.subscribe '{\"topics\": [\"plan\", \"outcome\"]}'")};
    parser.addPositionalArgument(QStringLiteral("METHOD"), QStringLiteral("As in PROTOCOL, for example session.list."));
    parser.addPositionalArgument(QStringLiteral("JSON"), QStringLiteral("Its parameters; {} if left out."),
                                 QStringLiteral("[JSON|-]"));
    addSocketOption(parser);
    parser.addOption({QStringLiteral("json"), QStringLiteral("Print the result on one line; errors as JSON, too.")});
    addServiceOptions(parser, false);
    if (const auto code = parseCommand(parser, help, arguments))
        return *code;
    const QStringList positional = parser.positionalArguments();
    if (positional.isEmpty())
        return usageError(help, QStringLiteral("which method?"));
    if (positional.size() > 2)
        return usageError(help,
                          QStringLiteral("unexpected argument \"%1\" (is the JSON quoted?)").arg(positional.at(2)));
    QByteArray text = positional.value(1, QStringLiteral("{}")).toUtf8();
    if (text == "-") {
        QFile input;
        if (!input.open(stdin, QIODevice::ReadOnly))
            return usageError(help, QStringLiteral("standard input cannot be read"));
        text = input.readAll();
    }
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(text, &error);
    if (error.error != QJsonParseError::NoError)
        return usageError(
            help,
            QStringLiteral("the parameters are no JSON (byte %1): %2").arg(error.offset).arg(error.errorString()));
    if (!document.isObject())
        return usageError(help, QStringLiteral("the parameters must be a JSON object"));
    const QString method = positional.constFirst();
    const QJsonObject params = document.object();
    const bool json = parser.isSet(QStringLiteral("json"));
    if (method == QLatin1String("events.subscribe")) {
        if (namesOwnService(parser))
            return usageError(help, QStringLiteral("events come from a running service: leave out --db and --backend"));
        return withService(app, help, parser, false, false,
                           [help, params, json](std::shared_ptr<ServiceClient> client) {
                               return watchOn(std::move(client), help, params, json);
                           });
    }
    return withService(app, help, parser, false, false,
                       [help, method, params, json](std::shared_ptr<ServiceClient> client) {
                           return callOn(std::move(client), help, method, params, json);
                       });
}

} // namespace kerf
