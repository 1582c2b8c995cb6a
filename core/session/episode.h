// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/tokens/tokens.h"

#include <QDateTime>
#include <QJsonArray>
#include <QJsonObject>
#include <QList>
#include <QString>

#include <optional>

namespace kerf {

enum class Role { System, User, Assistant, Tool, Internal };
QString roleName(Role role); ///< wire name: system|user|assistant|tool|internal
std::optional<Role> roleFromName(const QString &name);

/// How much of an episode is left in the prompt; eviction only ever goes down this list (SPEC 7.4).
enum class Tier { Live, Masked, Referenced, Archived, Dropped };
QString tierName(Tier tier); ///< live|masked|referenced|archived|dropped
std::optional<Tier> tierFromName(const QString &name);
/// Live and masked episodes stand in the prompt.
inline bool isInPrompt(Tier tier) { return tier == Tier::Live || tier == Tier::Masked; }

struct ToolCall {
    QString id;
    QString name;
    QString arguments; ///< JSON text exactly as the harness gave it; re-serialising changes tokens
    friend bool operator==(const ToolCall &, const ToolCall &) = default;
};

/// One recorded turn. The content is append-only: eviction changes `tier` alone.
struct Episode {
    qint64 id = 0; ///< unique in the store
    QString sessionId;
    int seq = 0; ///< position in its session, from 1, without gaps
    Role role = Role::User;
    QString content; ///< text; empty with contentIsNull for a null content
    bool contentIsNull = false;
    QJsonArray contentParts; ///< the parts as given, where content came as parts; else empty
    QList<ToolCall> toolCalls;
    QString toolCallId;
    QString toolName;
    QString name;
    QString reasoning;
    bool isError = false;
    bool droppable = false;
    TokenList generatedTokens; ///< ids that the server generated for it, if the harness handed them over
    bool hasGeneratedTokens = false;
    qint64 foldId = 0; ///< 0 = none
    qint64 correctsId = 0; ///< 0 = none
    QString clientRef;
    QDateTime createdAt; ///< UTC

    // Derived or changing; not part of what is append-only.
    Tier tier = Tier::Live;
    int tokenCount = 0; ///< tokens of the content alone
    bool tokenCountExact = false;
    bool contentLoaded = true; ///< false: content, parts and reasoning are in the store only (evicted episodes)
    friend bool operator==(const Episode &, const Episode &) = default;
};

enum class AnchorKind { SafetyConstraint, UserCorrection, TaskContract };
QString anchorKindName(AnchorKind kind); ///< safety_constraint|user_correction|task_contract
std::optional<AnchorKind> anchorKindFromName(const QString &name);

/// A pin: text of its own (goes to the head of the prompt), or an episode that stays where it is.
struct Anchor {
    qint64 id = 0;
    QString sessionId;
    AnchorKind kind = AnchorKind::TaskContract;
    QString content; ///< empty for a pinned episode
    qint64 episodeId = 0; ///< 0 = a text pin
    int tokenCount = 0;
    bool tokenCountExact = false;
    bool inHead = false; ///< text pin that stands in the head already
    int hostSeq = 0; ///< else: seq of the episode whose message carries it; 0 = waits for the next unsent one
    QDateTime createdAt;
    friend bool operator==(const Anchor &, const Anchor &) = default;
};

/// What the harness sends beside the messages (session.configure).
struct SessionConfig {
    QJsonArray tools;
    QJsonObject chatTemplateKwargs;
    int maxTokens = 0; ///< request_defaults.max_tokens; 0 = not given
    int contextWindow = 0; ///< explicit window in tokens; 0 = the server's n_ctx
    friend bool operator==(const SessionConfig &, const SessionConfig &) = default;
};

} // namespace kerf
