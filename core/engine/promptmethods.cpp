// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// Prompts at token level: what is held, what would be sent next, what was there before and after a compaction.

#include "core/engine/engine.h"
#include "core/engine/keptprompts.h"

#include <algorithm>

namespace kerf {

namespace {

KeptPrompt keptOf(const Session &session, const LivePrompt &live)
{
    return {live.layout.tokens, promptParts(session.episodes, live), live.revision, live.exact, live.simulated};
}

QJsonObject stretch(const QString &part, const QString &role, int begin, int end)
{
    return {{QStringLiteral("part"), part},   {QStringLiteral("seq"), QJsonValue::Null},
            {QStringLiteral("role"), role},   {QStringLiteral("tier"), QJsonValue::Null},
            {QStringLiteral("begin"), begin}, {QStringLiteral("end"), end}};
}

} // namespace

/// `held`: what the next request will meet, as far as its ids are known; `next`; `sent`: the prompt that was handed out
/// last; `compaction:N` and `compaction:N:before`.
QCoro::Task<Result<KeptPrompt>> Engine::promptOf(SessionPtr session, QString which, QString field)
{
    if (which == QLatin1String("next")) {
        KERF_TRY(next, co_await livePrompt(session));
        co_return keptOf(*session, next);
    }
    if (which == QLatin1String("sent")) {
        if (const KeptPrompt *sent = m_keptPrompts.sent(session->record.id))
            co_return *sent;
        co_return failure(
            Error::Code::NotFound,
            QStringLiteral("%1: no prompt of this session was handed out since the service started").arg(field));
    }
    if (which == QLatin1String("held")) {
        KERF_TRY(next, co_await livePrompt(session));
        ServerStates states = m_backend->lastStates();
        if (const auto read = co_await m_backend->states())
            states = *read;
        KeptPrompt held;
        const ReusePrediction prediction =
            predictReuse(states.states, {next.layout.tokens, -1}, m_backend->info().rule);
        int met = prediction.stateIndex;
        if (met < 0 || states.states.at(met).tokens.isEmpty()) {
            // None is met, or its ids are not known: what this session left behind last, wherever it is.
            qint64 newest = -1;
            for (int i = 0; i < states.states.size(); ++i) {
                const HeldState &state = states.states.at(i);
                if (state.owner == session->record.id && !state.tokens.isEmpty() && state.lastUsed >= newest) {
                    newest = state.lastUsed;
                    met = i;
                }
            }
        }
        held.revision = session->record.revision;
        held.exact = next.exact;
        held.simulated = next.simulated;
        if (met < 0)
            co_return held; // nothing is held, or nothing that we know
        held.tokens = states.states.at(met).tokens;
        const int size = static_cast<int>(held.tokens.size());
        const KeptPrompt *sent = m_keptPrompts.sent(session->record.id);
        const KeptPrompt likeness = sent ? *sent : keptOf(*session, next);
        const int common = commonPrefix(held.tokens, likeness.tokens);
        held.parts = partsWithin(likeness.parts, common);
        if (common < size)
            held.parts.append(
                stretch(sent && common == sent->tokens.size() ? QStringLiteral("generated") : QStringLiteral("unknown"),
                        QStringLiteral("assistant"), common, size));
        co_return held;
    }
    const QStringList words = which.split(QLatin1Char(':'));
    bool isNumber = false;
    const int number = words.value(1).toInt(&isNumber);
    const QString side = words.size() > 2 ? words.at(2) : QStringLiteral("after");
    if (words.constFirst() == QLatin1String("compaction") && isNumber && words.size() <= 3
        && (side == QLatin1String("after") || side == QLatin1String("before"))) {
        if (const KeptPrompt *kept =
                m_keptPrompts.compaction(session->record.id, number, side == QLatin1String("after")))
            co_return *kept;
        co_return failure(Error::Code::NotFound,
                          QStringLiteral("%1: the prompt of compaction %2 is not kept (only those of the last "
                                         "compactions since the service started are)")
                              .arg(field)
                              .arg(number));
    }
    co_return failure(Error::Code::InvalidParams,
                      QStringLiteral("%1: must be held, next, sent, compaction:N or compaction:N:before").arg(field));
}

Engine::Answer Engine::promptTokens(QJsonObject params, CallContext context)
{
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    KERF_TRY(which, params::text(params, QStringLiteral("which"), true));
    KERF_TRY(from, params::integer(params, QStringLiteral("from"), 0, 0, 2147483647));
    KERF_TRY(limit, params::integer(params, QStringLiteral("limit"), 4096, 0, 65536));
    KERF_TRY(session, co_await openSession(sessionId, false));
    co_await m_backend->ready();
    KERF_TRY(prompt, co_await promptOf(session, which, QStringLiteral("which")));
    QJsonArray rows;
    for (int i = from; i < prompt.tokens.size() && rows.size() < limit; ++i) {
        const QByteArray bytes = m_backend->pieceBytes(prompt.tokens.at(i));
        rows.append(
            QJsonObject{{QStringLiteral("position"), i},
                        {QStringLiteral("id"), prompt.tokens.at(i)},
                        {QStringLiteral("piece"),
                         bytes.isNull() ? QJsonValue(QJsonValue::Null) : QJsonValue(QString::fromUtf8(bytes))}});
    }
    const BackendInfo info = m_backend->info();
    co_return QJsonObject{{QStringLiteral("session_id"), sessionId},
                          {QStringLiteral("which"), which},
                          {QStringLiteral("total"), static_cast<qint64>(prompt.tokens.size())},
                          {QStringLiteral("exact"), info.tokenizerExact && !session->countsDiffer},
                          {QStringLiteral("simulated"), info.simulated},
                          {QStringLiteral("revision"), prompt.revision},
                          {QStringLiteral("parts"), prompt.parts},
                          {QStringLiteral("tokens"), rows}};
}

} // namespace kerf
