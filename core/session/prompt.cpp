// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/session/prompt.h"

#include <QHash>
#include <QLocale>
#include <QStringList>

#include <algorithm>

namespace kerf {

namespace {

constexpr int kMaskCharacters = 160;

/// Model-facing text: one fixed grouping, whatever the user's locale.
QString number(qint64 value) { return QLocale(QLocale::English, QLocale::UnitedStates).toString(value); }

QString joinedParts(const QJsonArray &parts)
{
    QStringList texts;
    for (const QJsonValue &part : parts) {
        const QString text = part.toObject().value(QStringLiteral("text")).toString();
        if (!text.isEmpty())
            texts.append(text);
    }
    return texts.join(QLatin1Char('\n'));
}

/// The first characters of a text, never half of a surrogate pair.
QString head(const QString &text, int characters)
{
    if (text.size() <= characters)
        return text;
    int end = characters;
    if (text.at(end - 1).isHighSurrogate())
        --end;
    return text.left(end);
}

QJsonArray toolCallsJson(const QList<ToolCall> &calls)
{
    QJsonArray array;
    for (const ToolCall &call : calls) {
        array.append(QJsonObject{
            {QStringLiteral("id"), call.id},
            {QStringLiteral("type"), QStringLiteral("function")},
            {QStringLiteral("function"),
             QJsonObject{{QStringLiteral("name"), call.name}, {QStringLiteral("arguments"), call.arguments}}},
        });
    }
    return array;
}

QString anchorsText(const QList<Anchor> &anchors)
{
    QStringList lines;
    for (const Anchor &anchor : anchors)
        lines.append(QStringLiteral("[pinned %1] %2").arg(anchorKindName(anchor.kind), anchor.content));
    return lines.join(QLatin1Char('\n'));
}

/// Adds `text` in front of (or behind) a message's content, whatever its shape.
void addText(QJsonObject &message, const QString &text, bool inFront)
{
    const QString key = QStringLiteral("content");
    const QJsonValue content = message.value(key);
    if (content.isArray()) {
        QJsonArray parts = content.toArray();
        const QJsonObject part{{QStringLiteral("type"), QStringLiteral("text")}, {QStringLiteral("text"), text}};
        if (inFront)
            parts.prepend(part);
        else
            parts.append(part);
        message.insert(key, parts);
        return;
    }
    const QString own = content.toString();
    if (own.isEmpty())
        message.insert(key, text);
    else
        message.insert(key, inFront ? text + QStringLiteral("\n\n") + own : own + QStringLiteral("\n\n") + text);
}

QJsonObject messageOf(const Episode &episode, const PromptState &state)
{
    QJsonObject message{{QStringLiteral("role"), roleName(episode.role)}};
    if (episode.tier == Tier::Masked) {
        const auto frozen = state.masks.constFind(episode.seq);
        message.insert(QStringLiteral("content"), frozen != state.masks.cend() ? *frozen : maskedText(episode));
    } else if (!episode.contentParts.isEmpty())
        message.insert(QStringLiteral("content"), episode.contentParts);
    else if (episode.contentIsNull)
        message.insert(QStringLiteral("content"), QJsonValue(QJsonValue::Null));
    else
        message.insert(QStringLiteral("content"), episode.content);
    if (!episode.toolCalls.isEmpty())
        message.insert(QStringLiteral("tool_calls"), toolCallsJson(episode.toolCalls));
    if (!episode.toolCallId.isEmpty())
        message.insert(QStringLiteral("tool_call_id"), episode.toolCallId);
    const QString name = !episode.name.isEmpty() ? episode.name
        : episode.role == Role::Tool             ? episode.toolName
                                                 : QString();
    if (!name.isEmpty())
        message.insert(QStringLiteral("name"), name);
    if (!episode.reasoning.isEmpty() && episode.tier == Tier::Live)
        message.insert(QStringLiteral("reasoning_content"), episode.reasoning);
    return message;
}

QByteArray searchText(const QJsonObject &message)
{
    const QJsonValue content = message.value(QStringLiteral("content"));
    return (content.isArray() ? joinedParts(content.toArray()) : content.toString()).toUtf8();
}

} // namespace

QString maskedText(const Episode &episode)
{
    const QString text = episode.contentParts.isEmpty() ? episode.content : joinedParts(episode.contentParts);
    const QString who = !episode.toolName.isEmpty() ? episode.toolName : roleName(episode.role);
    const QString mask =
        QStringLiteral("[%1, %2 tokens, episode #%3] %4")
            .arg(who, number(episode.tokenCount), QString::number(episode.id), head(text, kMaskCharacters));
    return mask.size() < text.size() ? mask : text;
}

bool maskHelps(const Episode &episode)
{
    const QString text = episode.contentParts.isEmpty() ? episode.content : joinedParts(episode.contentParts);
    return episode.tier == Tier::Live && maskedText(episode).size() < text.size();
}

ComposedPrompt composePrompt(const QList<Episode> &episodes, const QList<Anchor> &anchors, const PromptState &state)
{
    ComposedPrompt prompt;
    QList<Anchor> headPins;
    QHash<qint64, Anchor> textPins;
    for (const Anchor &anchor : anchors) {
        if (anchor.episodeId != 0)
            continue;
        textPins.insert(anchor.id, anchor);
        if (anchor.inHead)
            headPins.append(anchor);
    }
    const auto append = [&prompt](const QJsonObject &message, PromptPart part) {
        prompt.messages.append(message);
        prompt.parts.append(part);
        prompt.contents.append(searchText(message));
    };

    bool headDone = headPins.isEmpty();
    for (int i = 0; i < episodes.size(); ++i) {
        const Episode &episode = episodes.at(i);
        if (!isInPrompt(episode.tier) || episode.role == Role::Internal)
            continue;
        QJsonObject message = messageOf(episode, state);
        if (!headDone) {
            if (episode.role == Role::System) {
                addText(message, anchorsText(headPins), false);
            } else {
                append(QJsonObject{{QStringLiteral("role"), QStringLiteral("system")},
                                   {QStringLiteral("content"), anchorsText(headPins)}},
                       {PromptPart::Kind::HeadPins, -1});
            }
            headDone = true;
        }
        if (const auto note = state.notes.constFind(episode.seq); note != state.notes.cend()) {
            QStringList lines;
            if (!note->marker.isEmpty())
                lines.append(note->marker);
            QList<Anchor> carried;
            for (const qint64 id : note->anchors) {
                if (const auto pin = textPins.constFind(id); pin != textPins.cend() && !pin->inHead)
                    carried.append(*pin);
            }
            if (!carried.isEmpty())
                lines.append(anchorsText(carried));
            if (!lines.isEmpty())
                addText(message, lines.join(QLatin1Char('\n')), true);
        }
        const bool system = episode.role == Role::System && prompt.messages.isEmpty();
        append(message, {system ? PromptPart::Kind::System : PromptPart::Kind::Episode, i});
    }
    return prompt;
}

int newestUnsentHost(const QList<Episode> &episodes, int sentSeq)
{
    for (int i = static_cast<int>(episodes.size()) - 1; i >= 0; --i) {
        const Episode &episode = episodes.at(i);
        if (episode.seq <= sentSeq)
            break;
        if (isInPrompt(episode.tier) && (episode.role == Role::User || episode.role == Role::Tool))
            return i;
    }
    return -1;
}

bool placeNotes(const QList<Episode> &episodes, QList<Anchor> &anchors, PromptState &state)
{
    bool changed = false;
    const int host = newestUnsentHost(episodes, state.sentSeq);
    for (Anchor &anchor : anchors) {
        if (anchor.episodeId != 0 || anchor.inHead || anchor.hostSeq != 0)
            continue;
        if (state.sentSeq == 0) {
            anchor.inHead = true; // nothing was sent yet: the head is free
            changed = true;
        } else if (host >= 0) {
            anchor.hostSeq = episodes.at(host).seq;
            state.notes[anchor.hostSeq].anchors.append(anchor.id);
            changed = true;
        }
    }
    if (!state.pendingMarker.isEmpty() && host >= 0) {
        state.notes[episodes.at(host).seq].marker = state.pendingMarker;
        state.pendingMarker.clear();
        changed = true;
    }
    return changed;
}

QList<EvictedRun> evictedRuns(const QList<Episode> &episodes)
{
    QList<EvictedRun> runs;
    bool open = false;
    for (const Episode &episode : episodes) {
        if (episode.role == Role::Internal)
            continue;
        if (isInPrompt(episode.tier)) {
            open = false;
            continue;
        }
        if (episode.tier == Tier::Dropped)
            continue;
        if (!open)
            runs.append(EvictedRun{episode.id, episode.id, 0, 0});
        open = true;
        EvictedRun &run = runs.last();
        run.lastId = episode.id;
        ++run.count;
        run.tokens += episode.tokenCount;
    }
    return runs;
}

QString markerText(const QList<Episode> &episodes, int named)
{
    const QList<EvictedRun> runs = evictedRuns(episodes);
    if (runs.isEmpty())
        return {};
    int count = 0;
    qint64 tokens = 0;
    QStringList names;
    for (qsizetype i = 0; i < runs.size(); ++i) {
        const EvictedRun &run = runs.at(i);
        count += run.count;
        tokens += run.tokens;
        if (i < runs.size() - named)
            continue;
        names.append(run.firstId == run.lastId ? QStringLiteral("#%1").arg(run.firstId)
                                               : QStringLiteral("#%1-#%2").arg(run.firstId).arg(run.lastId));
    }
    const QString total = QStringLiteral("%1 episodes, %2 tokens evicted").arg(number(count), number(tokens));
    if (names.isEmpty())
        return QStringLiteral("[%1; memory.recall finds them]").arg(total);
    return QStringLiteral("[%1: %2; memory.get_episode returns them]").arg(total, names.join(QStringLiteral(", ")));
}

QList<qint64> unnamedEpisodes(const QList<Episode> &episodes, int named)
{
    const QList<EvictedRun> runs = evictedRuns(episodes);
    const qsizetype from = std::max<qsizetype>(0, runs.size() - named);
    QList<qint64> ids;
    if (from == 0)
        return ids;
    const qint64 firstNamed = from < runs.size() ? runs.at(from).firstId : 0;
    for (const Episode &episode : episodes) {
        if (firstNamed != 0 && episode.id == firstNamed)
            break;
        if (episode.tier == Tier::Referenced)
            ids.append(episode.id);
    }
    return ids;
}

QJsonObject promptStateToJson(const PromptState &state)
{
    QJsonObject notes;
    for (auto it = state.notes.cbegin(); it != state.notes.cend(); ++it) {
        QJsonArray anchors;
        for (const qint64 id : it->anchors)
            anchors.append(id);
        notes.insert(QString::number(it.key()),
                     QJsonObject{{QStringLiteral("marker"), it->marker}, {QStringLiteral("anchors"), anchors}});
    }
    QJsonObject masks;
    for (auto it = state.masks.cbegin(); it != state.masks.cend(); ++it)
        masks.insert(QString::number(it.key()), it.value());
    return {{QStringLiteral("notes"), notes},
            {QStringLiteral("masks"), masks},
            {QStringLiteral("pending_marker"), state.pendingMarker},
            {QStringLiteral("sent_seq"), state.sentSeq}};
}

PromptState promptStateFromJson(const QJsonObject &object)
{
    PromptState state;
    state.pendingMarker = object.value(QStringLiteral("pending_marker")).toString();
    state.sentSeq = object.value(QStringLiteral("sent_seq")).toInt();
    const QJsonObject masks = object.value(QStringLiteral("masks")).toObject();
    for (auto it = masks.begin(); it != masks.end(); ++it)
        state.masks.insert(it.key().toInt(), it.value().toString());
    const QJsonObject notes = object.value(QStringLiteral("notes")).toObject();
    for (auto it = notes.begin(); it != notes.end(); ++it) {
        MessageNote note;
        const QJsonObject row = it.value().toObject();
        note.marker = row.value(QStringLiteral("marker")).toString();
        const QJsonArray anchors = row.value(QStringLiteral("anchors")).toArray();
        for (const QJsonValue &id : anchors)
            note.anchors.append(id.toInteger());
        state.notes.insert(it.key().toInt(), note);
    }
    return state;
}

QList<int> groupLeaders(const QList<Episode> &episodes)
{
    QList<int> leaders(episodes.size());
    QHash<QString, int> callers; // tool-call id -> newest assistant that has it
    for (int i = 0; i < episodes.size(); ++i) {
        const Episode &episode = episodes.at(i);
        leaders[i] = i;
        if (episode.role == Role::Assistant) {
            for (const ToolCall &call : episode.toolCalls) {
                if (!call.id.isEmpty())
                    callers.insert(call.id, i);
            }
        }
        if (episode.role != Role::Tool || i == 0)
            continue;
        int leader = i;
        if (const auto caller = callers.constFind(episode.toolCallId);
            !episode.toolCallId.isEmpty() && caller != callers.cend())
            leader = *caller;
        else if (episodes.at(i - 1).role == Role::Assistant)
            leader = i - 1;
        else if (episodes.at(i - 1).role == Role::Tool)
            leader = leaders.at(i - 1); // parallel results behind one assistant message
        for (int k = leader + 1; k <= i; ++k)
            leaders[k] = leaders.at(leader);
    }
    return leaders;
}

} // namespace kerf
