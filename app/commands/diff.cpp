// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/commands/cli.h"
#include "app/commands/commands.h"
#include "app/serviceoptions.h"
#include "core/engine/difftext.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QRegularExpression>

namespace kerf {

namespace {

constexpr qint64 kLongestLine = 64LL * 1024 * 1024;

/// A request of a file: the whole file, or with ":N" its line N (from 1) of JSON Lines. A recorded request has it as
/// its "body"; a bare array is taken as the messages.
Result<QJsonObject> requestOf(const QString &argument)
{
    static const QRegularExpression numbered(QStringLiteral("^(.+):(\\d+)$"));
    QString path = argument;
    int wanted = 0;
    if (const auto match = numbered.match(argument); match.hasMatch() && !QFile::exists(argument)) {
        path = match.captured(1);
        wanted = match.captured(2).toInt();
    }
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return failure(Error::Code::NotFound, QStringLiteral("%1: %2").arg(path, file.errorString()));
    QByteArray bytes;
    if (wanted > 0) {
        for (int line = 1; line <= wanted; ++line) {
            if (file.atEnd())
                return failure(Error::Code::NotFound, QStringLiteral("%1 has no line %2").arg(path).arg(wanted));
            bytes = file.readLine(kLongestLine);
        }
    } else {
        bytes = file.readAll();
        if (bytes.startsWith("\xef\xbb\xbf"))
            bytes.remove(0, 3);
    }
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(bytes, &error);
    if (document.isNull())
        return failure(
            Error::Code::Failed,
            QStringLiteral("%1: no JSON: %2 at byte %3%4")
                .arg(argument, error.errorString())
                .arg(error.offset)
                .arg(wanted == 0 ? QStringLiteral(" (of JSON Lines name a line, as in %1:3)").arg(path) : QString()));
    QJsonObject request;
    if (document.isArray()) {
        request.insert(QStringLiteral("messages"), document.array());
    } else {
        const QJsonObject object = document.object();
        request =
            object.value(QStringLiteral("body")).isObject() ? object.value(QStringLiteral("body")).toObject() : object;
    }
    if (!request.value(QStringLiteral("messages")).isArray())
        return failure(Error::Code::Failed,
                       QStringLiteral("%1: no \"messages\" in it: a chat request's body is wanted%2")
                           .arg(argument,
                                request.contains(QStringLiteral("input"))
                                    ? QStringLiteral(" (this one is of the Responses API, which is not read here)")
                                    : QString()));
    return request;
}

QCoro::Task<int> diffOn(std::shared_ptr<ServiceClient> client, CommandHelp help, QJsonObject params, bool json)
{
    const QString method = QStringLiteral("context.diff");
    auto result = co_await client->call(method, params);
    if (!result)
        co_return reportError(help, result.error(), json);
    if (json)
        printJson(*result);
    else
        printText(renderDiff(*result));
    co_return ExitDone;
}

} // namespace

int runDiff(QCoreApplication &app, QStringList arguments)
{
    QCommandLineParser parser;
    const CommandHelp help{
        QStringLiteral("diff"), QStringLiteral("A B [options]"),
        QStringLiteral(
            "Finds where two prompts part, and why: both go through the server's own template and tokenizer, and the\n"
            "first token that differs is looked at. A and B are chat requests: a file with the body, or FILE:N for\n"
            "line N of JSON Lines. With --session they are prompts of that session: held, next, sent,\n"
            "compaction:N or compaction:N:before."),
        QStringLiteral("  kerfd diff turn7.json turn8.json\n"
                       "  kerfd diff requests.jsonl:3 requests.jsonl:4 --backend http://127.0.0.1:8080\n"
                       "  kerfd diff --session main held next")};
    addSocketOption(parser);
    addJsonOption(parser);
    parser.addOption(
        {QStringLiteral("session"), QStringLiteral("A and B are prompts of this session."), QStringLiteral("ID")});
    addServiceOptions(parser, false);
    if (const auto code = parseCommand(parser, help, arguments))
        return *code;
    const QStringList names = parser.positionalArguments();
    if (names.size() != 2)
        return usageError(help, QStringLiteral("two prompts are wanted, %1 given").arg(names.size()));
    const bool json = parser.isSet(QStringLiteral("json"));
    QJsonObject params;
    for (const auto &[field, name] :
         {std::pair{QStringLiteral("a"), names.at(0)}, std::pair{QStringLiteral("b"), names.at(1)}}) {
        if (parser.isSet(QStringLiteral("session"))) {
            params.insert(field, name);
            continue;
        }
        const Result<QJsonObject> request = requestOf(name);
        if (!request)
            return reportError(help, request.error(), json);
        params.insert(field, *request);
    }
    if (parser.isSet(QStringLiteral("session")))
        params.insert(QStringLiteral("session_id"), parser.value(QStringLiteral("session")));
    return withService(app, help, parser, true, true, [help, params, json](std::shared_ptr<ServiceClient> client) {
        return diffOn(std::move(client), help, params, json);
    });
}

} // namespace kerf
