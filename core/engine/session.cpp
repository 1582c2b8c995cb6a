// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/session.h"

#include <algorithm>

namespace kerf {

Session::Session(SessionData data)
    : record(std::move(data.record))
    , episodes(std::move(data.episodes))
    , anchors(std::move(data.anchors))
{
    for (int i = 0; i < episodes.size(); ++i)
        m_index.insert(episodes.at(i).id, i);
    const QJsonObject state = record.state;
    prompt = promptStateFromJson(state.value(QStringLiteral("prompt")).toObject());
    profile = state.value(QStringLiteral("profile")).toObject();
    countsDiffer = state.value(QStringLiteral("counts_differ")).toBool();
    replyHighHolds = state.value(QStringLiteral("reply_high_holds")).toBool();
    lastGenerated = state.value(QStringLiteral("last_generated")).toInt();
    lastPromptTokens = state.value(QStringLiteral("last_prompt_tokens")).toInt();
    lastTailTokens = state.value(QStringLiteral("last_tail_tokens")).toInt();
    missedAtTokens = state.value(QStringLiteral("missed_at_tokens")).toInt();
    lastCompactedSeq = state.value(QStringLiteral("last_compacted_seq")).toInt();
    const QJsonObject sums = state.value(QStringLiteral("totals")).toObject();
    totals.prefillTokens = sums.value(QStringLiteral("prefill")).toInteger();
    totals.predictedPrefillTokens = sums.value(QStringLiteral("predicted_prefill")).toInteger();
    totals.newTokens = sums.value(QStringLiteral("new")).toInteger();
    totals.reusedTokens = sums.value(QStringLiteral("reused")).toInteger();
    totals.prefillMs = sums.value(QStringLiteral("ms")).toDouble();
    totals.requests = sums.value(QStringLiteral("requests")).toInt();
    totals.requestsWithMs = sums.value(QStringLiteral("requests_with_ms")).toInt();
    totals.altered = sums.value(QStringLiteral("altered")).toInt();
    totals.predictionsMet = sums.value(QStringLiteral("met")).toInt();
}

QJsonObject Session::stateJson() const
{
    return {
        {QStringLiteral("prompt"), promptStateToJson(prompt)},
        {QStringLiteral("profile"), profile},
        {QStringLiteral("counts_differ"), countsDiffer},
        {QStringLiteral("reply_high_holds"), replyHighHolds},
        {QStringLiteral("last_generated"), lastGenerated},
        {QStringLiteral("last_prompt_tokens"), lastPromptTokens},
        {QStringLiteral("last_tail_tokens"), lastTailTokens},
        {QStringLiteral("missed_at_tokens"), missedAtTokens},
        {QStringLiteral("last_compacted_seq"), lastCompactedSeq},
        {QStringLiteral("totals"),
         QJsonObject{{QStringLiteral("prefill"), totals.prefillTokens},
                     {QStringLiteral("predicted_prefill"), totals.predictedPrefillTokens},
                     {QStringLiteral("new"), totals.newTokens},
                     {QStringLiteral("reused"), totals.reusedTokens},
                     {QStringLiteral("ms"), totals.prefillMs},
                     {QStringLiteral("requests"), totals.requests},
                     {QStringLiteral("requests_with_ms"), totals.requestsWithMs},
                     {QStringLiteral("altered"), totals.altered},
                     {QStringLiteral("met"), totals.predictionsMet}}},
    };
}

Episode *Session::byId(qint64 id)
{
    const auto it = m_index.constFind(id);
    return it == m_index.cend() ? nullptr : &episodes[*it];
}

const Episode *Session::byId(qint64 id) const
{
    const auto it = m_index.constFind(id);
    return it == m_index.cend() ? nullptr : &episodes.at(*it);
}

bool Session::isPinned(qint64 episodeId) const
{
    return std::any_of(anchors.cbegin(), anchors.cend(),
                       [&](const Anchor &anchor) { return anchor.episodeId == episodeId; });
}

void Session::append(Episode episode)
{
    m_index.insert(episode.id, static_cast<int>(episodes.size()));
    episodes.append(std::move(episode));
}

} // namespace kerf
