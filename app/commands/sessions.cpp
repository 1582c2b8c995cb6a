// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/commands/cli.h"
#include "app/commands/commands.h"
#include "app/serviceoptions.h"
#include "core/engine/text.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QJsonArray>

#include <algorithm>

namespace kerf {

namespace {

QCoro::Task<int> sessionsOn(std::shared_ptr<ServiceClient> client, CommandHelp help, bool json)
{
    auto result = co_await client->call(QStringLiteral("session.list"), {});
    if (!result)
        co_return reportError(help, result.error(), json);
    if (json) {
        printJson(*result);
        co_return ExitDone;
    }
    const QJsonArray sessions = result->value(QStringLiteral("sessions")).toArray();
    if (sessions.isEmpty()) {
        printText(QStringLiteral("No session yet. memory.commit_episode makes one."));
        co_return ExitDone;
    }
    qsizetype width = 7;
    for (const QJsonValue &value : sessions)
        width = std::max(width, value.toObject().value(QStringLiteral("session_id")).toString().size());
    QString text = QStringLiteral("%1  episodes  live tokens  requests  last change           title\n")
                       .arg(QStringLiteral("session"), -width);
    for (const QJsonValue &value : sessions) {
        const QJsonObject row = value.toObject();
        const QJsonValue live = row.value(QStringLiteral("live_tokens"));
        text += QStringLiteral("%1  %2  %3  %4  %5  %6\n")
                    .arg(row.value(QStringLiteral("session_id")).toString(), -width)
                    .arg(groupedNumber(row.value(QStringLiteral("episodes")).toInteger()), 8)
                    .arg(live.isDouble() ? groupedNumber(live.toInteger()) : QStringLiteral("not counted"), 11)
                    .arg(groupedNumber(row.value(QStringLiteral("turn")).toInteger()), 8)
                    .arg(row.value(QStringLiteral("updated_at"))
                                 .toString()
                                 .left(19)
                                 .replace(QLatin1Char('T'), QLatin1Char(' '))
                             + QStringLiteral("Z"),
                         row.value(QStringLiteral("title")).toString());
    }
    printText(text);
    co_return ExitDone;
}

} // namespace

int runSessions(QCoreApplication &app, QStringList arguments)
{
    QCommandLineParser parser;
    const CommandHelp help{
        QStringLiteral("sessions"), QStringLiteral("[options]"),
        QStringLiteral("Lists the sessions of the running service's store, or with --db those of a store that no "
                       "service has open.\n"
                       "\"live tokens\" is the size of the prompt as it would be sent now, where it has been counted."),
        QStringLiteral("  kerfd sessions\n"
                       "  kerfd sessions --json | jq -r '.sessions[].session_id'\n"
                       "  kerfd sessions --db ~/.local/share/kerf/kerf.db --backend none")};
    addSocketOption(parser);
    addJsonOption(parser);
    addServiceOptions(parser, false);
    if (const auto code = parseCommand(parser, help, arguments))
        return *code;
    if (!parser.positionalArguments().isEmpty())
        return usageError(help,
                          QStringLiteral("unexpected argument \"%1\"").arg(parser.positionalArguments().constFirst()));
    const bool json = parser.isSet(QStringLiteral("json"));
    return withService(app, help, parser, false, false, [help, json](std::shared_ptr<ServiceClient> client) {
        return sessionsOn(std::move(client), help, json);
    });
}

} // namespace kerf
