// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/backend/heuristictokenizer.h"

#include <algorithm>

namespace kerf {

namespace {

/// A piece holds at most this many bytes, a leading blank included (a longer character stands alone). On English prose
/// and on source code that makes about four bytes a token.
constexpr qsizetype kLongestPiece = 6;

enum class Class { Word, Blank, Line, Wide, Sign };

bool continues(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/// Bytes of the character at `at`; a byte that begins none stands alone.
qsizetype characterSize(QByteArrayView text, qsizetype at)
{
    const auto byte = static_cast<unsigned char>(text.at(at));
    const qsizetype wanted = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    qsizetype size = 1;
    while (size < wanted && at + size < text.size() && continues(static_cast<unsigned char>(text.at(at + size))))
        ++size;
    return size;
}

Class classOf(unsigned char byte, qsizetype size)
{
    if (size == 2)
        return Class::Word; // Latin, Greek, Cyrillic letters with or without accents
    if (size > 2)
        return Class::Wide; // Chinese, Japanese, emoji: a token each
    if (byte == ' ' || byte == '\t')
        return Class::Blank;
    if (byte == '\n' || byte == '\r')
        return Class::Line;
    if ((byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '_')
        return Class::Word;
    return Class::Sign;
}

/// Size of the piece that begins at `at`.
qsizetype pieceSize(QByteArrayView text, qsizetype at)
{
    qsizetype size = characterSize(text, at);
    Class kind = classOf(static_cast<unsigned char>(text.at(at)), size);
    // One blank goes with the word or sign behind it.
    if (kind == Class::Blank && at + 1 < text.size()) {
        const qsizetype next = characterSize(text, at + 1);
        const Class nextKind = classOf(static_cast<unsigned char>(text.at(at + 1)), next);
        if (nextKind == Class::Word || nextKind == Class::Sign) {
            size += next;
            kind = nextKind;
        }
    }
    while (kind != Class::Wide && at + size < text.size()) {
        const qsizetype next = characterSize(text, at + size);
        if (size + next > kLongestPiece || classOf(static_cast<unsigned char>(text.at(at + size)), next) != kind)
            break;
        size += next;
    }
    return size;
}

TokenId idOf(QByteArrayView piece)
{
    quint32 hash = 2166136261U;
    for (const char byte : piece)
        hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619U;
    return std::max(HeuristicTokenizer::kFirstTextId, static_cast<TokenId>((hash ^ (hash >> 31)) & 0x7fffffffU));
}

} // namespace

void HeuristicTokenizer::append(QByteArrayView utf8, TokenList *tokens)
{
    for (qsizetype at = 0; at < utf8.size();) {
        const qsizetype size = pieceSize(utf8, at);
        tokens->append(idOf(utf8.sliced(at, size)));
        at += size;
    }
}

TokenList HeuristicTokenizer::tokenize(QByteArrayView utf8)
{
    TokenList tokens;
    tokens.reserve(utf8.size() / kBytesPerToken + 1);
    append(utf8, &tokens);
    return tokens;
}

QList<TokenPiece> HeuristicTokenizer::pieces(QByteArrayView utf8)
{
    QList<TokenPiece> pieces;
    pieces.reserve(utf8.size() / kBytesPerToken + 1);
    for (qsizetype at = 0; at < utf8.size();) {
        const QByteArrayView piece = utf8.sliced(at, pieceSize(utf8, at));
        pieces.append({idOf(piece), piece.toByteArray()});
        at += piece.size();
    }
    return pieces;
}

int HeuristicTokenizer::count(QByteArrayView utf8)
{
    int count = 0;
    for (qsizetype at = 0; at < utf8.size(); ++count)
        at += pieceSize(utf8, at);
    return count;
}

} // namespace kerf
