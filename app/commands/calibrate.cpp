// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/commands/cli.h"
#include "app/commands/commands.h"
#include "app/serviceoptions.h"
#include "core/engine/calibrationtext.h"

#include <QCommandLineParser>
#include <QCoreApplication>

#include <cstdio>

namespace kerf {

namespace {

struct CalibrateOptions {
    QJsonObject params;
    bool consent = false;
    bool json = false;
};

void showProgress(const QString &topic, const QJsonObject &event)
{
    if (topic != QLatin1String("server")
        || event.value(QStringLiteral("kind")).toString() != QLatin1String("calibration"))
        return;
    std::fprintf(stderr, "  %d of at most %d: %s\n", event.value(QStringLiteral("done")).toInt() + 1,
                 event.value(QStringLiteral("of")).toInt(), qPrintable(event.value(QStringLiteral("step")).toString()));
}

QCoro::Task<int> calibrateOn(std::shared_ptr<ServiceClient> client, CommandHelp help, CalibrateOptions options)
{
    QJsonObject ask = options.params;
    ask.insert(QStringLiteral("dry_run"), true);
    const QString method = QStringLiteral("server.calibrate");
    auto plan = co_await client->call(method, ask);
    if (!plan)
        co_return reportError(help, plan.error(), options.json);
    if (!options.consent) {
        if (options.json)
            printJson(*plan);
        else
            printText(renderCalibration(*plan) + QStringLiteral("\nNothing was sent. To go on: kerfd calibrate --yes"));
        co_return ExitDone;
    }
    if (!options.json)
        std::fprintf(stderr, "%s\n", qPrintable(renderCalibration(*plan)));
    QObject::connect(client.get(), &ServiceClient::event, client.get(), &showProgress);
    const QString subscribe = QStringLiteral("events.subscribe");
    const QJsonObject topics{{QStringLiteral("topics"), QJsonArray{QStringLiteral("server")}}};
    const auto subscribed = co_await client->call(subscribe, topics);
    if (!subscribed)
        co_return reportError(help, subscribed.error(), options.json);
    QJsonObject params = options.params;
    params.insert(QStringLiteral("consent"), true);
    auto result = co_await client->call(method, params);
    if (!result)
        co_return reportError(help, result.error(), options.json);
    if (options.json)
        printJson(*result);
    else
        printText(renderCalibration(*result));
    co_return result->value(QStringLiteral("memory_kind")).toString() == QLatin1String("unknown")
            && !result->value(QStringLiteral("prompt_cache_off")).toBool()
        ? ExitFailed
        : ExitDone;
}

} // namespace

int runCalibrate(QCoreApplication &app, QStringList arguments)
{
    QCommandLineParser parser;
    const CommandHelp help{
        QStringLiteral("calibrate"), QStringLiteral("[options]"),
        QStringLiteral(
            "Finds out by experiment what the server can reuse: whether any position can be gone back to or only\n"
            "checkpoints, how much a rewind loses, from which length on runs are shifted (--cache-reuse), whether a\n"
            "restored slot is worth anything, and what prefill costs. Prompts of words in no order go to one idle\n"
            "slot; nothing is generated. What the slot held is lost. Without --yes it only says what it would do.\n"
            "The result is kept for this build, model and context size, and is the strongest evidence there is.\n"
            "Ctrl+C ends it behind the running request and tells what was learnt."),
        QStringLiteral("  kerfd calibrate                     # what would be sent, and whom it would cost what\n"
                       "  kerfd calibrate --yes --slot 1\n"
                       "  kerfd calibrate --yes --backend http://127.0.0.1:8080 --json | jq .prefill_cost")};
    addSocketOption(parser);
    addJsonOption(parser);
    parser.addOption({QStringLiteral("yes"), QStringLiteral("Do it.")});
    parser.addOption({QStringLiteral("slot"), QStringLiteral("This slot. Default: the idle one that holds least."),
                      QStringLiteral("ID")});
    parser.addOption(
        {QStringLiteral("longest"),
         QStringLiteral("Tokens of the longest prompt (default 9472). A sliding window is only seen by a rewind "
                        "that is longer."),
         QStringLiteral("N")});
    parser.addOption({QStringLiteral("discard"), QStringLiteral("Show the result, do not keep it.")});
    addServiceOptions(parser, false);
    if (const auto code = parseCommand(parser, help, arguments))
        return *code;
    if (!parser.positionalArguments().isEmpty())
        return usageError(help,
                          QStringLiteral("unexpected argument \"%1\"").arg(parser.positionalArguments().constFirst()));
    CalibrateOptions options;
    options.consent = parser.isSet(QStringLiteral("yes"));
    options.json = parser.isSet(QStringLiteral("json"));
    options.params.insert(QStringLiteral("use"), !parser.isSet(QStringLiteral("discard")));
    for (const auto &[name, field] : {std::pair{QStringLiteral("slot"), QStringLiteral("slot_id")},
                                      std::pair{QStringLiteral("longest"), QStringLiteral("longest")}}) {
        if (!parser.isSet(name))
            continue;
        bool ok = false;
        const int value = parser.value(name).toInt(&ok);
        if (!ok || value < 0)
            return usageError(help, QStringLiteral("--%1: must be a number that is not negative").arg(name));
        options.params.insert(field, value);
    }
    const auto running = std::make_shared<std::weak_ptr<ServiceClient>>();
    return withService(
        app, help, parser, true, false,
        [help, options, running](std::shared_ptr<ServiceClient> client) {
            *running = client;
            return calibrateOn(std::move(client), help, options);
        },
        [running] {
            if (const auto client = running->lock()) {
                std::fputs("\nEnding behind the running request.\n", stderr);
                auto task = client->call(QStringLiteral("server.calibrate_cancel"), {});
                Q_UNUSED(task)
            }
        });
}

} // namespace kerf
