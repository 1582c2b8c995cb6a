// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/backend/builtintemplate.h"

#include "core/backend/heuristictokenizer.h"

#include <QJsonDocument>

namespace kerf {

namespace {

/// Texts are forgotten, the least recently rendered first, when they take more than this.
constexpr qsizetype kMemoBytes = 64 * 1024 * 1024;

const QByteArray kBegin = QByteArrayLiteral("<|im_start|>");
const QByteArray kEnd = QByteArrayLiteral("<|im_end|>");
const QByteArray kLine = QByteArrayLiteral("\n");

/// The text of a content: a string, the text parts of an array, or nothing.
QByteArray contentText(const QJsonValue &content)
{
    if (content.isString())
        return content.toString().toUtf8();
    QByteArray text;
    const QJsonArray parts = content.toArray();
    for (const QJsonValue &value : parts) {
        const QJsonObject part = value.toObject();
        const QString type = part.value(QLatin1String("type")).toString();
        if (type == QLatin1String("text"))
            text += part.value(QLatin1String("text")).toString().toUtf8();
        else
            text += '[' + type.toUtf8() + ']'; // a picture: something stands for it, its tokens are not known
    }
    return text;
}

QByteArray toolsText(const QJsonArray &tools)
{
    QByteArray text = QByteArrayLiteral("# Tools\n\n<tools>\n");
    for (const QJsonValue &tool : tools)
        text += QJsonDocument(tool.toObject()).toJson(QJsonDocument::Compact) + '\n';
    return text + QByteArrayLiteral("</tools>");
}

QByteArray roleOf(const QJsonObject &message)
{
    return message.value(QLatin1String("role")).toString().toUtf8() + '\n';
}

bool isSystem(const QJsonObject &message)
{
    return message.value(QLatin1String("role")).toString() == QLatin1String("system");
}

enum class Part { Marker, Frame, Tools, Content };

/// The parts of a prompt in order, each tokenised apart: markers are one token each, and no token crosses an edge.
/// `visit(text, part)`; `edge(messageIndex)` stands before each message, and behind the last with its count.
template<typename Visit, typename Edge>
void walk(const ChatRequest &request, Visit visit, Edge edge)
{
    const bool hasTools = !request.tools.isEmpty();
    const bool systemFirst = !request.messages.isEmpty() && isSystem(request.messages.first().toObject());
    qsizetype index = 0;
    for (const QJsonValue &value : request.messages) {
        edge(index);
        const QJsonObject message = value.toObject();
        if (index == 0 && hasTools && !systemFirst) {
            visit(kBegin, Part::Marker);
            visit(QByteArrayLiteral("system\n"), Part::Frame);
            visit(toolsText(request.tools), Part::Tools);
            visit(kEnd, Part::Marker);
            visit(kLine, Part::Tools);
        }
        visit(kBegin, Part::Marker);
        visit(roleOf(message), Part::Frame);
        visit(BuiltinTemplate::messageText(message), Part::Content);
        if (index == 0 && hasTools && systemFirst)
            visit("\n\n" + toolsText(request.tools), Part::Frame);
        visit(kEnd, Part::Marker);
        visit(kLine, Part::Frame);
        ++index;
    }
    edge(index);
    visit(kBegin, Part::Marker);
    visit(QByteArrayLiteral("assistant\n"), Part::Frame);
}

/// Ids of markers lie below those of text (HeuristicTokenizer), so that text which spells a marker is not one.
TokenId markerId(const QByteArray &marker) { return marker == kBegin ? 1 : 2; }

} // namespace

QByteArray BuiltinTemplate::messageText(const QJsonObject &message)
{
    QByteArray text = contentText(message.value(QLatin1String("content"))).trimmed();
    const QJsonValue calls = message.value(QLatin1String("tool_calls"));
    if (!calls.isArray())
        return text;
    const QJsonArray list = calls.toArray();
    for (const QJsonValue &value : list) {
        const QJsonObject function = value.toObject().value(QLatin1String("function")).toObject();
        const QJsonValue arguments = function.value(QLatin1String("arguments"));
        if (!text.isEmpty())
            text += '\n';
        text += "<tool_call>\n{\"name\": \"" + function.value(QLatin1String("name")).toString().toUtf8()
            + "\", \"arguments\": ";
        // As given: re-serialising would change tokens.
        text += arguments.isString() ? arguments.toString().toUtf8()
                                     : QJsonDocument(arguments.toObject()).toJson(QJsonDocument::Compact);
        text += "}\n</tool_call>";
    }
    return text;
}

QByteArray BuiltinTemplate::renderText(const ChatRequest &request)
{
    QByteArray text;
    walk(
        request, [&text](const QByteArray &words, Part) { text += words; }, [](qsizetype) {});
    return text;
}

PromptLayout BuiltinTemplate::render(const ChatRequest &request)
{
    ++m_round;
    PromptLayout layout;
    layout.messages.reserve(request.messages.size());
    layout.tokens.reserve(request.messages.size() * 16);
    qsizetype firstOther = 0; // index of the first message that is not a system one
    for (const QJsonValue &value : request.messages) {
        if (!isSystem(value.toObject()))
            break;
        ++firstOther;
    }
    qsizetype current = 0;
    int covered = 0; // tokens of the contents in front of it
    const auto visit = [&](const QByteArray &text, Part part) {
        if (part == Part::Marker) {
            layout.tokens.append(markerId(text));
            return;
        }
        const TokenList &tokens = tokensOf(text);
        layout.tokens.append(tokens);
        if (part == Part::Content && current < firstOther)
            covered += static_cast<int>(tokens.size());
        // The template's own tools block stands inside the first message's span, in front of its marker.
        if (part == Part::Tools && current == firstOther)
            layout.fixedTokens = layout.size();
    };
    const auto edge = [&](qsizetype index) {
        const int at = layout.size();
        if (index > 0)
            layout.messages.last().tokens.end = at;
        if (index < request.messages.size())
            layout.messages.append({{at, at}, true, true});
        else
            layout.tail.begin = at;
        if (index == firstOther)
            layout.fixedTokens = at - covered;
        current = index;
    };
    walk(request, visit, edge);
    layout.tail.end = layout.size();
    forget();
    return layout;
}

TokenList BuiltinTemplate::tokenize(const QString &text) { return tokensOf(text.toUtf8()); }

const TokenList &BuiltinTemplate::tokensOf(const QByteArray &text)
{
    Entry &entry = m_memo[text];
    if (entry.round == 0) {
        entry.tokens = HeuristicTokenizer::tokenize(text);
        m_memoBytes += text.size() + entry.tokens.size() * qsizetype(sizeof(TokenId));
        m_piecesOld = true;
    }
    entry.round = std::max<quint64>(m_round, 1);
    return entry.tokens;
}

void BuiltinTemplate::forget()
{
    if (m_memoBytes <= kMemoBytes)
        return;
    // What the last rendering used stays, however large: the next one will ask for it again.
    m_memo.removeIf([this](const std::pair<const QByteArray &, Entry &> &item) {
        if (item.second.round >= m_round)
            return false;
        m_memoBytes -= item.first.size() + item.second.tokens.size() * qsizetype(sizeof(TokenId));
        return true;
    });
}

QByteArray BuiltinTemplate::pieceBytes(TokenId id) const
{
    if (id == markerId(kBegin))
        return kBegin;
    if (id == markerId(kEnd))
        return kEnd;
    if (m_piecesOld) {
        m_piecesOld = false;
        for (auto it = m_memo.cbegin(); it != m_memo.cend(); ++it) {
            const QList<TokenPiece> pieces = HeuristicTokenizer::pieces(it.key());
            for (const TokenPiece &piece : pieces)
                m_pieces.insert(piece.id, piece.bytes);
        }
    }
    return m_pieces.value(id);
}

} // namespace kerf
