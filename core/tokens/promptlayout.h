// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/tokens/tokens.h"

#include <QByteArray>
#include <QList>
#include <QString>

namespace kerf {

/// One token with the bytes it stands for (/tokenize "with_pieces"; a piece may be part of a character).
struct TokenPiece {
    TokenId id = 0;
    QByteArray bytes;
    friend bool operator==(const TokenPiece &, const TokenPiece &) = default;
};

/// Where one message of a request stands in the rendered prompt.
struct MessageSpan {
    TokenRange tokens; ///< the tokens that belong to the message, its template parts included
    bool edgeLegal = true; ///< false: no cut may fall at tokens.begin (a token crosses the edge, or it was not found)
    bool found = true; ///< false: the content was not found; the span is shared with its neighbour
    friend bool operator==(const MessageSpan &, const MessageSpan &) = default;
};

/// A rendered prompt: its tokens, and which message owns which of them. Spans are in message order,
/// contiguous from the first message's begin to the last one's end; what stands before the first
/// message (BOS) belongs to it; what stands after the last (generation prompt) to `tail`.
struct PromptLayout {
    TokenList tokens;
    QList<MessageSpan> messages;
    TokenRange tail; ///< generation prompt behind the last message (may be empty)
    int fixedTokens = 0; ///< tokens of the template's own head and tools in front of the first message's content:
                         ///< those before the first non-system message that no message content covers
    bool exact = false; ///< counted by the server's own tokenizer
    int size() const { return static_cast<int>(tokens.size()); }
    friend bool operator==(const PromptLayout &, const PromptLayout &) = default;
};

/// Byte range of every message in a rendered prompt, by finding the trimmed contents in order.
/// What stands between two contents belongs to the later message up to its content, end markers to
/// the earlier one (SPEC section 2, "Message edges").
struct MessageBytes {
    qsizetype begin = 0; ///< where the message's own template text starts
    qsizetype contentBegin = 0;
    qsizetype contentEnd = 0;
    qsizetype end = 0;
    bool found = true;
    friend bool operator==(const MessageBytes &, const MessageBytes &) = default;
};

/// `contents` are the message contents in UTF-8 as they were sent; `probe`, where not empty, is the same
/// conversation rendered with the unique markers `markers[i]` in place of the contents: it is used for
/// the text between contents when some content is not found verbatim (templates that re-render).
/// Returns one entry a message; found=false where neither way found it. Linear in the prompt.
///
/// How a gap between two contents is split into end marker and header: (1) the tag that opens messages is the one in
/// front of the first content that comes back in most gaps and does not begin them (`<|im_start|>`, `<start_of_turn>`);
/// the later message begins at its last occurrence in the gap, messages without a content at the ones before. (2) Where
/// a gap has none (tool results that share a turn), the later message begins with what the gap's end has in common with
/// the known headers. (3) Templates with a tag of its own for every role: what all gaps begin with closes the earlier
/// message; else a single tag that does not look like a closing one opens the later.
QList<MessageBytes> findMessages(const QByteArray &prompt, const QList<QByteArray> &contents,
                                 const QByteArray &probe = {}, const QList<QByteArray> &markers = {});

/// Aligns pieces to the prompt's bytes, tolerantly: a leading BOS or other special piece that is not in
/// the text, a leading space added by the tokenizer, byte pieces. Returns for each token the byte offset
/// of its begin; one extra entry at the end (the prompt's size). A token that maps to no text has the
/// offset of the next one.
QList<qsizetype> alignPieces(const QByteArray &prompt, const QList<TokenPiece> &pieces);

/// The whole: byte ranges and pieces to token spans. A token that crosses a message edge belongs to the
/// earlier message and makes the later edge illegal. `systemMessages`: how many lead the request; their templates'
/// parts count as fixed, their contents do not.
PromptLayout layoutPrompt(const QByteArray &prompt, const QList<TokenPiece> &pieces,
                          const QList<MessageBytes> &messages, bool exact, int systemMessages = 0);

} // namespace kerf
