// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/backend/backend.h"

#include <QByteArray>
#include <QHash>

namespace kerf {

/// The chat template of backends without a server (embedded, none): ChatML-like, system and tools first, then the
/// messages; contents are trimmed, reasoning is not rendered, and what is put behind the last message is the
/// generation prompt. Any order of roles is accepted.
/// Rendering and tokenising go message by message and are remembered by content, so that rendering a long
/// conversation again after an eviction costs little more than one copy. Not thread-safe.
class BuiltinTemplate
{
public:
    /// The whole prompt as text.
    static QByteArray renderText(const ChatRequest &request);
    /// What stands for a message between its markers, trimmed: its text, then its tool calls.
    static QByteArray messageText(const QJsonObject &message);

    /// Ids and spans. `layout.exact` is false; every message edge is a token edge.
    PromptLayout render(const ChatRequest &request);
    /// Ids of a text alone.
    TokenList tokenize(const QString &text);

    /// Bytes of a token id of some text that was rendered; null = not seen, or forgotten.
    QByteArray pieceBytes(TokenId id) const;

private:
    const TokenList &tokensOf(const QByteArray &text);
    void forget();

    struct Entry {
        TokenList tokens;
        quint64 round = 0;
    };
    QHash<QByteArray, Entry> m_memo; ///< tokens by text
    quint64 m_round = 0;
    qsizetype m_memoBytes = 0;
    mutable QHash<TokenId, QByteArray> m_pieces; ///< filled when somebody asks
    mutable bool m_piecesOld = true;
};

} // namespace kerf
