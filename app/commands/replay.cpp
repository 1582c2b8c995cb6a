// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/replay/replay.h"

#include "app/commands/cli.h"
#include "app/commands/commands.h"
#include "app/serviceoptions.h"
#include "core/engine/text.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <unistd.h>

namespace kerf {

namespace {

struct ReplayCall {
    CommandHelp help;
    ReplayOptions options;
    bool json = false;
    bool quiet = false;
    std::function<void()> cancel; ///< while a replay runs
};

QString number(qint64 value) { return groupedNumber(value); }

QString ratio(double value) { return value < 0 ? QStringLiteral("not measured") : QString::number(value, 'f', 2); }

void line(QString &text, const QStringList &cells, const QList<int> &widths)
{
    for (qsizetype i = 0; i < cells.size(); ++i)
        text += i == 0 ? cells.at(i).leftJustified(widths.at(i))
                       : QStringLiteral("  ") + cells.at(i).rightJustified(widths.at(i));
    while (text.endsWith(QLatin1Char(' ')))
        text.chop(1);
    text += QLatin1Char('\n');
}

QString table(const QList<QStringList> &rows)
{
    QList<int> widths;
    for (const QStringList &row : rows) {
        for (qsizetype i = 0; i < row.size(); ++i) {
            if (i >= widths.size())
                widths.append(0);
            widths[i] = std::max(widths.at(i), static_cast<int>(row.at(i).size()));
        }
    }
    QString text;
    for (const QStringList &row : rows)
        line(text, row, widths);
    return text;
}

QString tablesOf(const QList<ReplayRow> &rows)
{
    QList<QStringList> summary{{QStringLiteral("strategy"), QStringLiteral("turns"), QStringLiteral("compactions"),
                                QStringLiteral("new"), QStringLiteral("prefilled"), QStringLiteral("prefill ms"),
                                QStringLiteral("reused"), QStringLiteral("mean context"),
                                QStringLiteral("amplification"), QStringLiteral("predicted"),
                                QStringLiteral("misses")}};
    QStringList notes;
    bool simulated = false;
    bool summarised = false;
    for (const ReplayRow &row : rows) {
        simulated = simulated || row.simulated;
        summarised = summarised || row.strategy == QLatin1String("summarise");
        summary.append({row.strategy, number(row.turns), number(row.compactions.size()), number(row.newTokens),
                        number(row.prefillTokens),
                        row.turnsWithMs > 0 ? number(std::llround(row.prefillMs)) : QStringLiteral("not measured"),
                        number(row.reusedTokens),
                        row.turns > 0 ? number(row.contextSum / row.turns) : QStringLiteral("none"),
                        ratio(row.amplification()), ratio(row.predictedAmplification()), number(row.misses)});
        if (!row.stopped.isEmpty())
            notes.append(QStringLiteral("%1 stopped: %2").arg(row.strategy, row.stopped));
        if (!row.exact)
            notes.append(QStringLiteral("%1: token counts are estimates").arg(row.strategy));
    }
    QString text = table(summary);
    if (simulated)
        text.prepend(QStringLiteral("SIMULATED: no server was involved; these numbers say nothing about yours.\n\n"));
    QList<QStringList> compactions{{QStringLiteral("strategy"), QStringLiteral("turn"), QStringLiteral("prompt"),
                                    QStringLiteral("after"), QStringLiteral("cut"), QStringLiteral("predicted reuse"),
                                    simulated ? QStringLiteral("simulated") : QStringLiteral("measured"),
                                    QStringLiteral("prefilled"), QStringLiteral("ms"), QStringLiteral("outcome")}};
    for (const ReplayRow &row : rows) {
        for (const ReplayCompaction &compaction : row.compactions) {
            QString predicted = compaction.predicted < 0 ? QStringLiteral("none") : number(compaction.predicted);
            if (compaction.low != compaction.high)
                predicted += QStringLiteral(" (%1 to %2)").arg(number(compaction.low), number(compaction.high));
            compactions.append(
                {row.strategy, number(compaction.turn), number(compaction.promptTokens), number(compaction.tokensAfter),
                 compaction.cut < 0 ? QStringLiteral("none") : number(compaction.cut), predicted,
                 number(compaction.measured), number(compaction.prefilled),
                 compaction.ms < 0 ? QStringLiteral("not reported") : QString::number(compaction.ms, 'f', 1),
                 compaction.cause.isEmpty() ? compaction.outcome
                                            : QStringLiteral("%1: %2").arg(compaction.outcome, compaction.cause)});
        }
    }
    if (compactions.size() > 1)
        text += QLatin1Char('\n') + table(compactions);
    if (summarised)
        notes.append(QStringLiteral("summarise: the summary is a placeholder made of first lines; what a model would "
                                    "take to write it is not counted"));
    notes.append(QStringLiteral("each strategy's first message begins with a line of its own, so that none finds "
                                "another's prompt on the server"));
    for (const QString &note : std::as_const(notes))
        text += QStringLiteral("\n- ") + note;
    return text + QLatin1Char('\n');
}

QCoro::Task<int> replayOn(std::shared_ptr<ServiceClient> client, std::shared_ptr<ReplayCall> call)
{
    const QJsonObject nothing;
    auto doctor = co_await client->call(QStringLiteral("server.doctor"), nothing);
    if (!doctor)
        co_return reportError(call->help, doctor.error(), call->json);
    if (!doctor->value(QStringLiteral("simulated")).toBool()) {
        if (!doctor->value(QStringLiteral("reachable")).toBool()) {
            const Error error{Error::Code::Unreachable, doctor->value(QStringLiteral("coherence_line")).toString(), {}};
            co_return reportError(call->help, error, call->json);
        }
        call->options.server = QUrl(doctor->value(QStringLiteral("url")).toString());
    }
    Replay replay(client, call->options);
    call->cancel = [&replay] { replay.cancel(); };
    const bool terminal = ::isatty(STDERR_FILENO);
    if (!call->quiet) {
        QObject::connect(&replay, &Replay::progress, &replay, [terminal](const QString &strategy, int turn, int turns) {
            const QString text = QStringLiteral("%1: turn %2 of %3 (%4 %)")
                                     .arg(strategy)
                                     .arg(turn)
                                     .arg(turns)
                                     .arg(turns > 0 ? 100 * turn / turns : 100);
            if (terminal)
                std::fprintf(stderr, "\r\033[K%s%s", qPrintable(text), turn == turns ? "\n" : "");
            else if (turn == turns || turn % 25 == 0)
                std::fprintf(stderr, "%s\n", qPrintable(text));
        });
    }
    auto rows = co_await replay.run();
    call->cancel = {};
    if (!rows)
        co_return reportError(call->help, rows.error(), call->json);
    if (call->json) {
        QJsonArray list;
        for (const ReplayRow &row : std::as_const(*rows))
            list.append(row.toJson());
        QJsonObject object;
        object.insert(QStringLiteral("transcript"), call->options.transcript.title);
        object.insert(QStringLiteral("format"), call->options.transcript.format);
        object.insert(QStringLiteral("backend"), doctor->value(QStringLiteral("backend")));
        object.insert(QStringLiteral("rows"), list);
        printJson(object);
    } else {
        printText(QStringLiteral("%1 (%2, %3 messages) on %4\n\n")
                      .arg(call->options.transcript.title, call->options.transcript.format)
                      .arg(call->options.transcript.messages.size())
                      .arg(doctor->value(QStringLiteral("backend")).toString())
                  + tablesOf(*rows));
    }
    co_return ExitDone;
}

} // namespace

int runReplay(QCoreApplication &app, QStringList arguments)
{
    QCommandLineParser parser;
    const CommandHelp help{
        QStringLiteral("replay"), QStringLiteral("TRANSCRIPT [options]"),
        QStringLiteral("Runs a recorded conversation turn by turn against a server under several strategies and prints "
                       "what each one\n"
                       "prefilled: the predicted and the measured reuse of every compaction, and the prefill "
                       "amplification. Reads OpenAI\n"
                       "message lists (JSON, JSON Lines) and SWE-agent .traj files. Ctrl+C ends it and prints what was "
                       "measured so far.\n"
                       "Strategies: %1.")
            .arg(replayStrategies().join(QStringLiteral(", "))),
        QStringLiteral(
            "  kerfd replay talk.jsonl                                    # simulated, where no server answers\n"
            "  kerfd replay fix.traj --backend http://127.0.0.1:8080 --server-log server.log --window 8192\n"
            "  kerfd replay talk.json --strategy cache-first,summarise --json | jq '.rows[].prefill_amplification'")};
    parser.addPositionalArgument(QStringLiteral("TRANSCRIPT"), QStringLiteral("The file."));
    parser.addOption({QStringLiteral("strategy"), QStringLiteral("Comma separated. Default: all but generational."),
                      QStringLiteral("LIST")});
    parser.addOption({QStringLiteral("window"), QStringLiteral("Context window in tokens. Default: the server's."),
                      QStringLiteral("N")});
    parser.addOption({QStringLiteral("turns"), QStringLiteral("At most N requests a strategy."), QStringLiteral("N")});
    parser.addOption(
        {QStringLiteral("conversation"),
         QStringLiteral(
             "Which one, where the file has several (from 1). Default: all, one after another in one session."),
         QStringLiteral("N")});
    parser.addOption({QStringLiteral("tools"),
                      QStringLiteral("Tool schemas (a JSON list) that the file does not have."),
                      QStringLiteral("FILE")});
    parser.addOption({QStringLiteral("quiet"), QStringLiteral("No progress on stderr.")});
    addJsonOption(parser);
    addSocketOption(parser);
    addServiceOptions(parser, false);
    if (const auto code = parseCommand(parser, help, arguments))
        return *code;
    if (parser.positionalArguments().size() != 1)
        return usageError(help, QStringLiteral("name one transcript"));
    auto call = std::make_shared<ReplayCall>();
    call->help = help;
    call->json = parser.isSet(QStringLiteral("json"));
    call->quiet = parser.isSet(QStringLiteral("quiet"));
    const auto read = readTranscripts(parser.positionalArguments().constFirst());
    if (!read)
        return reportError(help, read.error(), call->json);
    for (const auto &[option, field] :
         {std::pair{"window", &ReplayOptions::window}, std::pair{"turns", &ReplayOptions::turns}}) {
        const QString name = QString::fromLatin1(option);
        if (!parser.isSet(name))
            continue;
        bool ok = false;
        const int value = parser.value(name).toInt(&ok);
        if (!ok || value < 1)
            return usageError(help, QStringLiteral("--%1: must be a number above 0").arg(name));
        call->options.*field = value;
    }
    if (parser.isSet(QStringLiteral("conversation"))) {
        const int which = parser.value(QStringLiteral("conversation")).toInt();
        if (which < 1 || which > read->size())
            return usageError(help, QStringLiteral("--conversation: the file has %1").arg(read->size()));
        call->options.transcript = read->at(which - 1);
    } else {
        call->options.transcript = read->constFirst();
        for (qsizetype i = 1; i < read->size(); ++i) {
            for (const QJsonObject &message : read->at(i).messages) {
                // One system prompt at the head; later ones would stand in the middle.
                if (message.value(QStringLiteral("role")).toString() != QLatin1String("system"))
                    call->options.transcript.messages.append(message);
            }
        }
    }
    if (parser.isSet(QStringLiteral("tools"))) {
        QFile file(parser.value(QStringLiteral("tools")));
        if (!file.open(QIODevice::ReadOnly))
            return usageError(help, QStringLiteral("--tools: %1").arg(file.errorString()));
        const QJsonDocument document = QJsonDocument::fromJson(file.readAll());
        if (!document.isArray())
            return usageError(help, QStringLiteral("--tools: must be a JSON list"));
        call->options.transcript.tools = document.array();
    }
    call->options.strategies = parser.isSet(QStringLiteral("strategy"))
        ? parser.value(QStringLiteral("strategy")).split(QLatin1Char(','), Qt::SkipEmptyParts)
        : replayStrategies();
    if (!parser.isSet(QStringLiteral("strategy")))
        call->options.strategies.removeAll(QStringLiteral("generational"));
    for (const QString &strategy : std::as_const(call->options.strategies)) {
        if (!replayStrategies().contains(strategy))
            return usageError(help,
                              QStringLiteral("--strategy: \"%1\" is not known; known are %2")
                                  .arg(strategy, replayStrategies().join(QStringLiteral(", "))));
    }
    if (const auto service = serviceOptions(parser))
        call->options.apiKey = service->backend.apiKey;
    if (!call->quiet) {
        if (!call->options.transcript.skipped.isEmpty())
            std::fprintf(stderr, "%d parts of the file were skipped; the first at %lld: %s\n",
                         int(call->options.transcript.skipped.size()),
                         static_cast<long long>(call->options.transcript.skipped.constFirst().line),
                         qPrintable(call->options.transcript.skipped.constFirst().why));
        for (const QString &note : std::as_const(call->options.transcript.notes))
            std::fprintf(stderr, "note: %s\n", qPrintable(note));
    }
    // A service of its own that keeps nothing: a replay leaves no sessions behind.
    if (!namesOwnService(parser))
        return runReplay(app, arguments + QStringList{QStringLiteral("--backend"), QStringLiteral("auto")});
    return withService(
        app, help, parser, true, true,
        [call](std::shared_ptr<ServiceClient> client) { return replayOn(std::move(client), call); },
        [call] {
            if (call->cancel)
                call->cancel();
        });
}

} // namespace kerf
