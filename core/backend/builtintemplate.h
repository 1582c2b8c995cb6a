// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/backend/backend.h"

#include <QByteArray>
#include <QHash>

namespace kerf {

/// One message as the built-in template renders it: begin marker and role, content, calls, end marker.
struct RenderedMessage {
    QByteArray text;
    friend bool operator==(const RenderedMessage &, const RenderedMessage &) = default;
};

/// The chat template of backends without a server (embedded, none): ChatML-like, system and tools first, then the
/// messages; contents are trimmed, reasoning is not rendered, and what is put behind the last message is the
/// generation prompt. Any order of roles is accepted.
/// Rendering and tokenising go message by message and are remembered by content, so that rendering a long
/// conversation again after an eviction costs little more than one copy. Not thread-safe.
class BuiltinTemplate
{
public:
    /// A message of the request, as text.
    static QByteArray renderMessage(const QJsonObject &message, bool last);
    /// The block that holds the tools, put in front of the first message; empty without tools.
    static QByteArray renderTools(const QJsonArray &tools);
    static QByteArray generationPrompt();
    /// The whole prompt as text.
    static QByteArray renderText(const ChatRequest &request);

    /// Text, ids and spans in one. `layout.exact` is false.
    PromptLayout render(const ChatRequest &request);

    /// Bytes of a token id that was seen; null = not seen. Ids are remembered up to a limit.
    QByteArray pieceBytes(TokenId id) const { return m_pieces.value(id); }

private:
    TokenList tokensOf(const QByteArray &text);

    struct Entry {
        TokenList tokens;
        quint64 used = 0;
    };
    QHash<QByteArray, Entry> m_memo; ///< by the rendered text's SHA-256, or the text itself where it is short
    quint64 m_round = 0;
    qsizetype m_memoTokens = 0;
    QHash<TokenId, QByteArray> m_pieces;
};

} // namespace kerf
