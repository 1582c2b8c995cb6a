// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// transcript.import: a recorded conversation becomes a session.

#include "core/engine/engine.h"
#include "core/transcript/transcript.h"

#include <QCoroFuture>

#include <QFileInfo>
#include <QtConcurrent>

namespace kerf {

namespace {

/// A message as memory.commit_episode takes it.
QJsonObject episodeOf(const QJsonObject &message, const QString &sessionId)
{
    QJsonObject episode{{QStringLiteral("session_id"), sessionId},
                        {QStringLiteral("role"), message.value(QStringLiteral("role"))},
                        {QStringLiteral("content"), message.value(QStringLiteral("content"))}};
    QJsonArray calls;
    const QJsonArray given = message.value(QStringLiteral("tool_calls")).toArray();
    for (const QJsonValue &value : given) {
        const QJsonObject call = value.toObject();
        const QJsonObject function = call.value(QStringLiteral("function")).toObject();
        calls.append(QJsonObject{{QStringLiteral("id"), call.value(QStringLiteral("id"))},
                                 {QStringLiteral("name"), function.value(QStringLiteral("name"))},
                                 {QStringLiteral("arguments"), function.value(QStringLiteral("arguments"))}});
    }
    if (!calls.isEmpty())
        episode.insert(QStringLiteral("tool_calls"), calls);
    for (const auto &[from, to] : {std::pair{"tool_call_id", "tool_call_id"}, std::pair{"name", "name"},
                                   std::pair{"reasoning_content", "reasoning"}}) {
        const QJsonValue value = message.value(QLatin1String(from));
        if (value.isString())
            episode.insert(QLatin1String(to), value);
    }
    return episode;
}

} // namespace

Engine::Answer Engine::importTranscript(QJsonObject params, CallContext context)
{
    KERF_TRY(path, params::text(params, QStringLiteral("path"), false));
    KERF_TRY(content, params::text(params, QStringLiteral("content"), false));
    KERF_TRY(format, params::text(params, QStringLiteral("format"), false));
    KERF_TRY(conversation, params::integer(params, QStringLiteral("conversation"), 1, 1, 1000000));
    KERF_TRY(wanted, params::text(params, QStringLiteral("session_id"), false));
    if (path.isEmpty() == content.isEmpty())
        co_return failure(Error::Code::InvalidParams, QStringLiteral("path: either a path or the content is wanted"));
    const auto guard = weak_from_this();
    const auto read = [path, content]() -> Result<QList<Transcript>> {
        return path.isEmpty() ? parseTranscripts(content.toUtf8(), QStringLiteral("content")) : readTranscripts(path);
    };
    QFuture<Result<QList<Transcript>>> reading = QtConcurrent::run(read);
    const Result<QList<Transcript>> found = co_await reading;
    if (guard.expired())
        co_return failure(Error::Code::Cancelled, {});
    if (!found)
        co_return std::unexpected(found.error());
    if (conversation > found->size())
        co_return failure(Error::Code::NotFound, QStringLiteral("conversation: there are %1 in it").arg(found->size()));
    const Transcript transcript = found->at(conversation - 1);
    if (!format.isEmpty() && format != transcript.format)
        co_return failure(Error::Code::InvalidParams,
                          QStringLiteral("format: this is %1, not %2").arg(transcript.format, format));
    QString sessionId = wanted;
    if (sessionId.isEmpty()) {
        const QJsonObject made{
            {QStringLiteral("title"), path.isEmpty() ? transcript.title : QFileInfo(path).fileName()}};
        KERF_TRY(created, co_await sessionCreate(made, context));
        sessionId = created.value(QStringLiteral("session_id")).toString();
    }
    if (!transcript.tools.isEmpty()) {
        const QJsonObject config{{QStringLiteral("session_id"), sessionId},
                                 {QStringLiteral("tools"), transcript.tools}};
        KERF_TRY(configured, co_await sessionConfigure(config, context));
        Q_UNUSED(configured)
    }
    QJsonArray skipped;
    for (const SkippedLine &line : transcript.skipped)
        skipped.append(QJsonObject{{QStringLiteral("line"), line.line}, {QStringLiteral("why"), line.why}});
    qint64 tokens = 0;
    int episodes = 0;
    const qsizetype total = transcript.messages.size();
    for (qsizetype i = 0; i < total; ++i) {
        if (context.cancelled && context.cancelled->load())
            co_return failure(Error::Code::Cancelled,
                              QStringLiteral("cancelled behind message %1 of %2; they are in session \"%3\"")
                                  .arg(i)
                                  .arg(total)
                                  .arg(sessionId));
        const QJsonObject episode = episodeOf(transcript.messages.at(i), sessionId);
        const Result<QJsonObject> committed = co_await commitEpisode(episode, context);
        if (guard.expired())
            co_return failure(Error::Code::Cancelled, {});
        if (!committed && committed.error().code != Error::Code::InvalidParams)
            co_return std::unexpected(committed.error());
        if (!committed) { // this one cannot be an episode: told, and the rest goes on
            skipped.append(QJsonObject{{QStringLiteral("line"), static_cast<qint64>(i + 1)},
                                       {QStringLiteral("why"), committed.error().message}});
            continue;
        }
        ++episodes;
        tokens += committed->value(QStringLiteral("token_count")).toInteger();
        if (context.progress && i % 64 == 0)
            context.progress(static_cast<double>(i), static_cast<double>(total), transcript.format);
    }
    co_return QJsonObject{{QStringLiteral("session_id"), sessionId},
                          {QStringLiteral("format"), transcript.format},
                          {QStringLiteral("episodes"), episodes},
                          {QStringLiteral("conversations"), static_cast<qint64>(found->size())},
                          {QStringLiteral("skipped"), skipped},
                          {QStringLiteral("notes"), QJsonArray::fromStringList(transcript.notes)},
                          {QStringLiteral("tokens"), tokens},
                          {QStringLiteral("exact"), false}};
}

} // namespace kerf
