// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/tokens/promptlayout.h"
#include "core/tokens/tokens.h"

#include <QByteArray>
#include <QByteArrayView>

namespace kerf {

/// Stands in for a server's tokenizer where there is none: every number that comes from it is an estimate.
/// About four bytes a token; cuts at word edges, keeps a multi-byte character whole; the same bytes between the
/// same edges always give the same ids. Tokens never span what was cut apart by the caller (message edges).
namespace HeuristicTokenizer {

inline constexpr int kBytesPerToken = 4;
inline constexpr TokenId kFirstTextId = 256; ///< below: a template's markers

/// Ids of a text. An id is a hash of the token's bytes: equal bytes, equal ids.
TokenList tokenize(QByteArrayView utf8);
/// Appends the ids of a text to `tokens`; the same as tokenize(), without a list of its own.
void append(QByteArrayView utf8, TokenList *tokens);
/// Ids with their bytes; the pieces joined are the text again.
QList<TokenPiece> pieces(QByteArrayView utf8);
/// How many tokens tokenize() would give, without making them.
int count(QByteArrayView utf8);

} // namespace HeuristicTokenizer

} // namespace kerf
