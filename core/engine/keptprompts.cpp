// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/keptprompts.h"

#include <algorithm>

namespace kerf {

namespace {

constexpr qsizetype kMostPlanned = 8;
constexpr qsizetype kMostApplied = 32;
constexpr qsizetype kMostTokens = 4'000'000;
constexpr qsizetype kMostSent = 32;

QString partName(PromptPart::Kind kind)
{
    switch (kind) {
    case PromptPart::Kind::System:
        return QStringLiteral("system");
    case PromptPart::Kind::HeadPins:
        return QStringLiteral("pin");
    case PromptPart::Kind::Episode:
        return QStringLiteral("episode");
    }
    return {};
}

} // namespace

QJsonArray promptParts(const QList<Episode> &episodes, const LivePrompt &live)
{
    QJsonArray parts;
    for (qsizetype i = 0; i < live.composed.parts.size(); ++i) {
        const PromptPart &part = live.composed.parts.at(i);
        const TokenRange range = live.layout.messages.at(i).tokens;
        const Episode *episode =
            part.episodeIndex >= 0 && part.episodeIndex < episodes.size() ? &episodes.at(part.episodeIndex) : nullptr;
        parts.append(QJsonObject{
            {QStringLiteral("part"), partName(part.kind)},
            {QStringLiteral("seq"), episode ? QJsonValue(episode->seq) : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("role"), episode ? roleName(episode->role) : QStringLiteral("system")},
            {QStringLiteral("tier"), episode ? QJsonValue(tierName(episode->tier)) : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("begin"), range.begin},
            {QStringLiteral("end"), range.end}});
    }
    if (live.layout.tail.size() > 0) {
        parts.append(QJsonObject{{QStringLiteral("part"), QStringLiteral("generation")},
                                 {QStringLiteral("seq"), QJsonValue::Null},
                                 {QStringLiteral("role"), QStringLiteral("assistant")},
                                 {QStringLiteral("tier"), QJsonValue::Null},
                                 {QStringLiteral("begin"), live.layout.tail.begin},
                                 {QStringLiteral("end"), live.layout.tail.end}});
    }
    return parts;
}

QJsonArray partsWithin(const QJsonArray &parts, int tokens)
{
    QJsonArray within;
    for (const QJsonValue &value : parts) {
        QJsonObject part = value.toObject();
        if (part.value(QStringLiteral("begin")).toInt() >= tokens)
            continue;
        part.insert(QStringLiteral("end"), std::min(tokens, part.value(QStringLiteral("end")).toInt()));
        within.append(part);
    }
    return within;
}

void KeptPrompts::trim(QList<Pair> &pairs, qsizetype most)
{
    qsizetype tokens = 0;
    qsizetype keep = 0;
    while (keep < pairs.size() && keep < most) {
        tokens += pairs.at(pairs.size() - 1 - keep).size();
        if (keep > 0 && tokens > kMostTokens)
            break;
        ++keep;
    }
    pairs.remove(0, pairs.size() - keep);
}

void KeptPrompts::notePlan(const QString &planId, const KeptPrompt &before, const KeptPrompt &after)
{
    m_planned.append({planId, {}, 0, before, after});
    trim(m_planned, kMostPlanned);
}

void KeptPrompts::noteApplied(const QString &planId, const QString &sessionId, int number)
{
    for (qsizetype i = m_planned.size() - 1; i >= 0; --i) {
        if (m_planned.at(i).planId != planId)
            continue;
        Pair pair = m_planned.takeAt(i);
        pair.sessionId = sessionId;
        pair.number = number;
        m_applied.append(pair);
        trim(m_applied, kMostApplied);
        return;
    }
}

void KeptPrompts::noteUndone(const QString &sessionId, int number)
{
    m_applied.removeIf([&](const Pair &pair) { return pair.sessionId == sessionId && pair.number == number; });
}

void KeptPrompts::noteSent(const QString &sessionId, const KeptPrompt &prompt)
{
    if (m_sent.size() >= kMostSent && !m_sent.contains(sessionId))
        m_sent.clear();
    m_sent.insert(sessionId, prompt);
}

void KeptPrompts::forgetSession(const QString &sessionId)
{
    m_sent.remove(sessionId);
    m_applied.removeIf([&](const Pair &pair) { return pair.sessionId == sessionId; });
}

const KeptPrompt *KeptPrompts::compaction(const QString &sessionId, int number, bool after) const
{
    for (auto it = m_applied.crbegin(); it != m_applied.crend(); ++it) {
        if (it->sessionId == sessionId && it->number == number)
            return after ? &it->after : &it->before;
    }
    return nullptr;
}

const KeptPrompt *KeptPrompts::sent(const QString &sessionId) const
{
    const auto it = m_sent.constFind(sessionId);
    return it == m_sent.cend() ? nullptr : &*it;
}

} // namespace kerf
