// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/diagnosis/promptdiff.h"

#include <QJsonDocument>
#include <QLocale>
#include <QRegularExpression>
#include <QSet>

#include <algorithm>
#include <optional>

namespace kerf {

namespace {

constexpr int kContextBytes = 48; ///< of text shown on each side of the difference
constexpr int kLeastBlock = 12; ///< characters: a shorter text that stands elsewhere too says nothing

QString number(qint64 value) { return QLocale(QLocale::English, QLocale::UnitedStates).toString(value); }

struct CauseName {
    DiffCause cause;
    const char *name;
    const char *fix;
};
constexpr CauseName kCauses[] = {
    {DiffCause::Same, "same", ""},
    {DiffCause::Extends, "extends", ""},
    {DiffCause::Shortened, "shortened", ""},
    {DiffCause::Timestamp, "timestamp",
     "Take the time out of the head, round it to the day, or put it into the newest message."},
    {DiffCause::Counter, "counter", "Take the counter out of the head, or put it into the newest message."},
    {DiffCause::Uuid, "uuid", "Use one id for the whole conversation, or leave it out of the prompt."},
    {DiffCause::BillingLine, "billing-line",
     "Turn the line off in the harness, or strip it in front of the server: it changes with every request."},
    {DiffCause::ToolList, "tool-list",
     "Send the same tools in the same order with every request of a conversation, the summary request too."},
    {DiffCause::TemplateOptions, "template-options", "Keep chat_template_kwargs the same for the whole conversation."},
    {DiffCause::MovedBlock, "moved-block",
     "Leave the block where it was first sent; put a new one only into the newest message."},
    {DiffCause::MemoryInjected, "memory-injected",
     "Put recalled text behind the history, into the newest message, not in front of it."},
    {DiffCause::MessagesInserted, "messages-inserted", "Add messages at the end only."},
    {DiffCause::MessagesRemoved, "messages-removed",
     "Ask where a cut may fall (context.plan_eviction) before messages are removed; with --cache-reuse the rest is "
     "shifted."},
    {DiffCause::OtherConversation, "other-conversation",
     "Let side requests run on a slot of their own (-np 2), or on another server: on the only slot they take the main "
     "conversation's place."},
    {DiffCause::HistoryReplaced, "history-replaced",
     "Keep the head as it is and evict behind it instead of replacing the history."},
    {DiffCause::Thinking, "thinking",
     "Send the thoughts back as they were (reasoning_content), or turn them off for both turns; some templates have an "
     "option that keeps them."},
    {DiffCause::TokenizerSeam, "tokenizer-seam",
     "Cut at message edges; hand over the ids of the reply (generated_tokens) and compare ids, not text."},
    {DiffCause::GenerationPrompt, "generation-prompt",
     "Nothing to do: these few tokens are computed again each turn. A thinking tag in it can be turned off in the "
     "template."},
    {DiffCause::MessageEdited, "message-edited", "Do not change a message that was sent; add a new one."},
    {DiffCause::RoleChanged, "role-changed", "Send a message with the role that it had."},
    {DiffCause::Other, "other", ""},
};

QString fixOf(DiffCause cause)
{
    for (const CauseName &row : kCauses) {
        if (row.cause == cause)
            return QString::fromLatin1(row.fix);
    }
    return {};
}

/// The prompt's text, and where each token begins in it.
struct Text {
    QByteArray bytes;
    QList<qsizetype> begins; ///< one more than there are tokens
};

Text textOf(const DiffSide &side)
{
    Text text;
    text.begins.reserve(side.pieces.size() + 1);
    for (const QByteArray &piece : side.pieces) {
        text.begins.append(text.bytes.size());
        text.bytes += piece;
    }
    text.begins.append(text.bytes.size());
    return text;
}

qsizetype commonBytes(const QByteArray &a, const QByteArray &b)
{
    const auto end = a.cbegin() + std::min(a.size(), b.size());
    return std::mismatch(a.cbegin(), end, b.cbegin()).first - a.cbegin();
}

/// A message's text: string content, or its text parts joined.
QString contentOf(const QJsonObject &message)
{
    const QJsonValue content = message.value(QStringLiteral("content"));
    if (content.isString())
        return content.toString();
    QStringList parts;
    const QJsonArray array = content.toArray();
    for (const QJsonValue &part : array) {
        const QJsonValue text = part.toObject().value(QStringLiteral("text"));
        if (text.isString())
            parts.append(text.toString());
    }
    return parts.join(QLatin1Char('\n'));
}

QString roleOf(const QJsonObject &message) { return message.value(QStringLiteral("role")).toString(); }

QString withoutThoughts(QString text)
{
    static const QRegularExpression thought(
        QStringLiteral("<(think|thinking|reasoning)>.*?</\\1>\\s*|\\[THINK\\].*?\\[/THINK\\]\\s*|"
                       "<\\|channel\\|>analysis<\\|message\\|>.*?(<\\|end\\|>|<\\|return\\|>)"),
        QRegularExpression::DotMatchesEverythingOption);
    return text.remove(thought);
}

/// What of a message goes into the prompt, for comparing.
QByteArray keyOf(const QJsonObject &message)
{
    QJsonObject object = message;
    for (const char *field : {"reasoning_content", "reasoning", "refusal", "annotations"})
        object.remove(QLatin1String(field));
    object.insert(QStringLiteral("content"), withoutThoughts(contentOf(message)).trimmed());
    return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

// --- values that change with every request ----------------------------------------------------------------------

struct Pattern {
    DiffCause cause;
    QRegularExpression expression;
};

const QList<Pattern> &patterns()
{
    const auto expression = [](const char *text) {
        return QRegularExpression(QString::fromLatin1(text), QRegularExpression::CaseInsensitiveOption);
    };
    // In the order of how sure they are.
    static const QList<Pattern> list{
        {DiffCause::Uuid, expression("\\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\\b")},
        {DiffCause::Timestamp,
         expression(
             "\\b\\d{4}-\\d{2}-\\d{2}(?:[T ]\\d{2}:\\d{2}(?::\\d{2})?(?:[.,]\\d+)?(?:Z|[+-]\\d{2}:?\\d{2})?)?\\b|"
             "\\b\\d{1,2}:\\d{2}(?::\\d{2})?(?:[.,]\\d+)?(?:\\s?[ap]m)?\\b|"
             "\\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\\b,?|"
             "\\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.? \\d{1,2}(?:st|nd|rd|th)?(?:,? "
             "\\d{4})?\\b|"
             "\\b\\d{1,2}\\.? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?(?: \\d{4})?\\b|"
             "\\b\\d{1,2}[./]\\d{1,2}[./]\\d{2,4}\\b|\\b1[5-9]\\d{8}(?:\\d{3})?\\b")},
        {DiffCause::Uuid, expression("\\b(?=[0-9a-f]*\\d)(?=[0-9a-f]*[a-f])[0-9a-f]{16,}\\b")},
        {DiffCause::Counter, expression("\\d+(?:[.,]\\d+)*")},
    };
    return list;
}

QString lineAt(const QString &text, qsizetype position)
{
    const qsizetype begin = position > 0 ? text.lastIndexOf(QLatin1Char('\n'), position - 1) + 1 : 0;
    qsizetype end = text.indexOf(QLatin1Char('\n'), position);
    if (end < 0)
        end = text.size();
    return text.mid(begin, end - begin);
}

struct Volatile {
    DiffCause cause;
    QString evidence;
};

/// The two lines are the same but for values of one kind, and such a value stands in both.
std::optional<Volatile> volatileIn(const QString &lineA, const QString &lineB)
{
    static const QRegularExpression billing(QStringLiteral("billing-header|\\bcch=|\\bcc_version="),
                                            QRegularExpression::CaseInsensitiveOption);
    if (lineA == lineB)
        return std::nullopt;
    if (lineA.contains(billing) && lineB.contains(billing)) {
        const auto name = billing.match(lineB).captured(0);
        return Volatile{DiffCause::BillingLine, QStringLiteral("a line with \"%1\"").arg(name)};
    }
    for (const Pattern &pattern : patterns()) {
        QStringList valuesA;
        QStringList valuesB;
        const auto masked = [&pattern](const QString &line, QStringList &values) {
            QString rest;
            qsizetype from = 0;
            auto it = pattern.expression.globalMatch(line);
            while (it.hasNext()) {
                const QRegularExpressionMatch match = it.next();
                rest += line.mid(from, match.capturedStart() - from) + QChar(0xfffc);
                values.append(match.captured(0));
                from = match.capturedEnd();
            }
            return rest + line.mid(from);
        };
        const QString restA = masked(lineA, valuesA);
        const QString restB = masked(lineB, valuesB);
        if (valuesA.isEmpty() || restA != restB)
            continue;
        for (qsizetype i = 0; i < valuesA.size(); ++i) {
            if (valuesA.at(i) != valuesB.at(i))
                return Volatile{pattern.cause, QStringLiteral("%1 → %2").arg(valuesA.at(i), valuesB.at(i))};
        }
    }
    return std::nullopt;
}

// --- tools ------------------------------------------------------------------------------------------------------

QString toolName(const QJsonValue &tool)
{
    const QJsonObject object = tool.toObject();
    const QString inner = object.value(QStringLiteral("function")).toObject().value(QStringLiteral("name")).toString();
    return inner.isEmpty() ? object.value(QStringLiteral("name")).toString() : inner;
}

QString toolChange(const QJsonArray &a, const QJsonArray &b)
{
    QStringList namesA;
    QStringList namesB;
    for (const QJsonValue &tool : a)
        namesA.append(toolName(tool));
    for (const QJsonValue &tool : b)
        namesB.append(toolName(tool));
    if (b.isEmpty())
        return QStringLiteral("all %1 tools were dropped").arg(a.size());
    if (a.isEmpty())
        return QStringLiteral("%1 tools were added").arg(b.size());
    QStringList added;
    QStringList gone;
    for (const QString &name : std::as_const(namesB)) {
        if (!namesA.contains(name))
            added.append(name);
    }
    for (const QString &name : std::as_const(namesA)) {
        if (!namesB.contains(name))
            gone.append(name);
    }
    QStringList said;
    if (!added.isEmpty())
        said.append(QStringLiteral("added: %1").arg(added.join(QStringLiteral(", "))));
    if (!gone.isEmpty())
        said.append(QStringLiteral("gone: %1").arg(gone.join(QStringLiteral(", "))));
    if (said.isEmpty() && namesA != namesB)
        said.append(QStringLiteral("the same tools in another order"));
    for (qsizetype i = 0; said.isEmpty() && i < std::min(a.size(), b.size()); ++i) {
        if (a.at(i) != b.at(i))
            said.append(QStringLiteral("the schema of %1 changed").arg(namesB.at(i)));
    }
    return said.join(QStringLiteral("; "));
}

// --- messages ---------------------------------------------------------------------------------------------------

struct Where {
    int message = -1;
    QString part;
    QString role;
};

/// Which message of `side` owns token `position`.
Where whereIs(const DiffSide &side, int position)
{
    Where where;
    const PromptLayout &layout = side.layout;
    if (!layout.messages.isEmpty() && position >= layout.messages.constLast().tokens.end) {
        where.part = QStringLiteral("generation");
        return where;
    }
    for (int i = 0; i < layout.messages.size(); ++i) {
        if (!layout.messages.at(i).tokens.contains(position))
            continue;
        where.message = i;
        where.role = roleOf(side.messages.at(i).toObject());
        where.part = where.role == QLatin1String("system") ? QStringLiteral("system") : QStringLiteral("message");
        return where;
    }
    where.part = QStringLiteral("template");
    return where;
}

/// A piece of `text` that stands in `other` too, but was not in `here`.
bool standsIn(const QString &block, const QString &text)
{
    return block.trimmed().size() >= kLeastBlock && text.contains(block.trimmed());
}

/// What was put into `longer` to make it from `shorter`; empty = it is no single insertion.
QString insertedInto(const QString &shorter, const QString &longer)
{
    if (longer.size() <= shorter.size())
        return {};
    qsizetype head = 0;
    while (head < shorter.size() && shorter.at(head) == longer.at(head))
        ++head;
    qsizetype tail = 0;
    while (tail < shorter.size() - head && shorter.at(shorter.size() - 1 - tail) == longer.at(longer.size() - 1 - tail))
        ++tail;
    return head + tail == shorter.size() ? longer.mid(head, longer.size() - head - tail) : QString();
}

QString plural(qsizetype count, const QString &one, const QString &many)
{
    return count == 1 ? QStringLiteral("1 %1").arg(one) : QStringLiteral("%1 %2").arg(number(count), many);
}

/// Less than half of the shorter text stands in both at the same end.
bool unlike(const QString &a, const QString &b)
{
    const qsizetype shorter = std::min(a.size(), b.size());
    qsizetype head = 0;
    while (head < shorter && a.at(head) == b.at(head))
        ++head;
    qsizetype tail = 0;
    while (tail < shorter - head && a.at(a.size() - 1 - tail) == b.at(b.size() - 1 - tail))
        ++tail;
    return 2 * (head + tail) < shorter;
}

class Finder
{
public:
    Finder(const DiffSide &a, const DiffSide &b)
        : m_a(a)
        , m_b(b)
    {
    }

    PromptDiff find()
    {
        m_diff.totalA = m_a.layout.size();
        m_diff.totalB = m_b.layout.size();
        m_diff.lcp = commonPrefix(m_a.layout.tokens, m_b.layout.tokens);
        if (m_diff.lcp == m_diff.totalA && m_diff.lcp == m_diff.totalB)
            return finish(DiffCause::Same, {}, QStringLiteral("the two prompts are the same"));
        if (m_diff.totalA == 0)
            return finish(DiffCause::Extends, {}, QStringLiteral("the first prompt is empty"));
        if (m_diff.lcp == m_diff.totalA)
            return finish(DiffCause::Extends, {},
                          QStringLiteral("the second prompt goes on where the first ended: %1 tokens more")
                              .arg(number(m_diff.totalB - m_diff.totalA)));
        const bool bEnded = m_diff.lcp == m_diff.totalB;
        const Where where = whereIs(bEnded ? m_a : m_b, m_diff.lcp);
        m_diff.part = where.part;
        m_diff.message = where.message;
        m_diff.role = where.role;
        if (bEnded)
            return finish(
                DiffCause::Shortened, {},
                QStringLiteral("the second prompt is the first %1 tokens of the first").arg(number(m_diff.totalB)));
        if (hasText()) {
            m_textA = textOf(m_a);
            m_textB = textOf(m_b);
            m_byte = commonBytes(m_textA.bytes, m_textB.bytes);
            showContext();
            if (seam())
                return m_diff;
        }
        if (options() || tools() || generation() || thinking() || messages())
            return m_diff;
        return finish(DiffCause::Other, {}, QStringLiteral("the token ids differ from %1 on").arg(number(m_diff.lcp)));
    }

private:
    bool hasText() const
    {
        return m_a.pieces.size() == m_a.layout.tokens.size() && m_b.pieces.size() == m_b.layout.tokens.size();
    }

    PromptDiff &finish(DiffCause cause, const QString &evidence, const QString &reason)
    {
        m_diff.cause = cause;
        m_diff.evidence = evidence;
        m_diff.reason = reason;
        m_diff.fix = fixOf(cause);
        return m_diff;
    }

    void showContext()
    {
        const auto around = [this](const QByteArray &bytes) {
            const qsizetype begin = std::max<qsizetype>(0, m_byte - kContextBytes / 2);
            return QString::fromUtf8(bytes.mid(begin, kContextBytes));
        };
        m_diff.contextA = around(m_textA.bytes);
        m_diff.contextB = around(m_textB.bytes);
    }

    bool seam()
    {
        const qsizetype endA = m_textA.begins.at(m_diff.lcp + 1);
        const qsizetype endB = m_textB.begins.at(m_diff.lcp + 1);
        if (m_byte < std::max(endA, endB))
            return false;
        const auto quoted = [](const QByteArray &piece) {
            return QStringLiteral("\"%1\"").arg(
                QString::fromUtf8(piece).replace(QLatin1Char('\n'), QStringLiteral("\\n")));
        };
        finish(DiffCause::TokenizerSeam,
               QStringLiteral("%1 → %2").arg(quoted(m_a.pieces.at(m_diff.lcp)), quoted(m_b.pieces.at(m_diff.lcp))),
               QStringLiteral("the same bytes became other tokens at %1: the tokenizer merged across an edge")
                   .arg(number(m_diff.lcp)));
        return true;
    }

    /// The difference lies in front of the first message that is not a system message.
    bool inHead() const
    {
        const auto headEnd = [](const DiffSide &side) {
            for (int i = 0; i < side.layout.messages.size(); ++i) {
                if (roleOf(side.messages.at(i).toObject()) != QLatin1String("system"))
                    return side.layout.messages.at(i).tokens.begin;
            }
            return side.layout.size();
        };
        return m_diff.lcp < std::max(headEnd(m_a), headEnd(m_b));
    }

    bool sameMessageAt(int index) const
    {
        return index >= 0 && index < m_a.messages.size() && index < m_b.messages.size()
            && keyOf(m_a.messages.at(index).toObject()) == keyOf(m_b.messages.at(index).toObject());
    }

    bool options()
    {
        if (m_a.templateOptions == m_b.templateOptions || (m_diff.message >= 0 && !sameMessageAt(m_diff.message)))
            return false;
        QStringList names;
        const QStringList keys = m_a.templateOptions.keys() + m_b.templateOptions.keys();
        for (const QString &key : keys) {
            if (m_a.templateOptions.value(key) != m_b.templateOptions.value(key) && !names.contains(key))
                names.append(key);
        }
        finish(DiffCause::TemplateOptions, names.join(QStringLiteral(", ")),
               QStringLiteral("the template was given other options, and renders another text from token %1 on")
                   .arg(number(m_diff.lcp)));
        return true;
    }

    bool tools()
    {
        if (m_a.tools == m_b.tools)
            return false;
        // Another text in the same place explains it without the tools.
        if (m_diff.message >= 0 && !sameMessageAt(m_diff.message))
            return false;
        m_diff.part = QStringLiteral("tools");
        m_diff.message = -1;
        m_diff.role.clear();
        finish(DiffCause::ToolList, toolChange(m_a.tools, m_b.tools),
               QStringLiteral("the tool list changed; it stands in the head, at token %1").arg(number(m_diff.lcp)));
        return true;
    }

    bool generation()
    {
        const PromptLayout &layout = m_a.layout;
        if (layout.messages.isEmpty() || m_diff.lcp < layout.messages.constLast().tokens.end)
            return false;
        m_diff.part = QStringLiteral("generation");
        finish(
            DiffCause::GenerationPrompt,
            QStringLiteral("the last %1")
                .arg(plural(m_diff.totalA - m_diff.lcp, QStringLiteral("token"), QStringLiteral("tokens"))),
            QStringLiteral(
                "all messages are equal; the first prompt ended in the start of an answer that is not in the history "
                "as it is sent now"));
        return true;
    }

    bool thinking()
    {
        const int index = m_diff.message;
        // The thoughts of an earlier answer, by the requests...
        if (index >= 0 && index < m_a.messages.size() && index < m_b.messages.size()) {
            const QJsonObject a = m_a.messages.at(index).toObject();
            const QJsonObject b = m_b.messages.at(index).toObject();
            if (keyOf(a) == keyOf(b) && roleOf(a) == QLatin1String("assistant")) {
                const auto thoughts = [](const QJsonObject &message) {
                    QString text = message.value(QStringLiteral("reasoning_content")).toString();
                    if (text.isEmpty())
                        text = message.value(QStringLiteral("reasoning")).toString();
                    const QString content = contentOf(message);
                    return text.isEmpty() && withoutThoughts(content) != content ? content : text;
                };
                if (thoughts(a) != thoughts(b))
                    return thinkingFound(thoughts(a).size(), thoughts(b).size());
            }
        }
        // ... or by what the template made of the same ones.
        if (!hasText() || index < 0)
            return false;
        const auto span = [&](const DiffSide &side, const Text &text) {
            const TokenRange range = side.layout.messages.value(index).tokens;
            return QString::fromUtf8(text.bytes.mid(text.begins.value(range.begin),
                                                    text.begins.value(range.end) - text.begins.value(range.begin)));
        };
        if (index >= m_a.layout.messages.size() || index >= m_b.layout.messages.size())
            return false;
        const QString a = span(m_a, m_textA);
        const QString b = span(m_b, m_textB);
        const QString restA = withoutThoughts(a);
        const QString restB = withoutThoughts(b);
        if (a != b && restA.trimmed() == restB.trimmed() && (restA != a || restB != b))
            return thinkingFound(a.size() - restA.size(), b.size() - restB.size());
        return false;
    }

    bool thinkingFound(qsizetype before, qsizetype after)
    {
        finish(DiffCause::Thinking,
               after == 0        ? QStringLiteral("thoughts stripped")
                   : before == 0 ? QStringLiteral("thoughts added")
                                 : QStringLiteral("thoughts rendered otherwise"),
               QStringLiteral("the text of message %1 is the same, its thoughts are not").arg(m_diff.message + 1));
        return true;
    }

    bool messages()
    {
        if (m_a.messages.isEmpty() || m_b.messages.isEmpty())
            return false;
        QList<QByteArray> keysA;
        QList<QByteArray> keysB;
        for (const QJsonValue &message : m_a.messages)
            keysA.append(keyOf(message.toObject()));
        for (const QJsonValue &message : m_b.messages)
            keysB.append(keyOf(message.toObject()));
        qsizetype same = 0;
        while (same < std::min(keysA.size(), keysB.size()) && keysA.at(same) == keysB.at(same))
            ++same;
        if (same == keysA.size() || same == keysB.size())
            return false;
        m_diff.message = static_cast<int>(same);
        const QJsonObject a = m_a.messages.at(same).toObject();
        const QJsonObject b = m_b.messages.at(same).toObject();
        m_diff.role = roleOf(b);
        if (m_diff.part != QLatin1String("template"))
            m_diff.part = m_diff.role == QLatin1String("system") ? QStringLiteral("system") : QStringLiteral("message");
        const QString number = QString::number(same + 1);

        // One message with another text: something in it that changes by itself?
        const QString textA = contentOf(a);
        const QString textB = contentOf(b);
        if (roleOf(a) == roleOf(b)) {
            qsizetype at = 0;
            while (at < std::min(textA.size(), textB.size()) && textA.at(at) == textB.at(at))
                ++at;
            if (const auto found = volatileIn(lineAt(textA, at), lineAt(textB, at))) {
                finish(found->cause, found->evidence,
                       QStringLiteral("message %1 (%2) has a value that changes").arg(number, m_diff.role));
                return true;
            }
        }
        if (same == 0 && roleOf(a) == roleOf(b) && roleOf(a) == QLatin1String("system") && unlike(textA, textB)) {
            finish(
                DiffCause::OtherConversation,
                QStringLiteral("%1 → %2 messages, %3 → %4 tools")
                    .arg(keysA.size())
                    .arg(keysB.size())
                    .arg(m_a.tools.size())
                    .arg(m_b.tools.size()),
                QStringLiteral("another system prompt: this is another conversation, not a later turn of the first"));
            return true;
        }
        // Messages shifted against each other.
        const auto found = [](const QList<QByteArray> &keys, const QByteArray &key, qsizetype from) {
            const qsizetype at = keys.indexOf(key, from);
            return at;
        };
        const qsizetype inB = found(keysB, keysA.at(same), same + 1);
        const qsizetype inA = found(keysA, keysB.at(same), same + 1);
        if (inB > 0 && follows(keysA, same, keysB, inB)) {
            const qsizetype count = inB - same;
            const bool head = inHead() || same <= firstTurn();
            finish(head ? DiffCause::MemoryInjected : DiffCause::MessagesInserted,
                   plural(count, QStringLiteral("message"), QStringLiteral("messages")),
                   head ? QStringLiteral("%1 stand in front of the history now")
                              .arg(plural(count, QStringLiteral("message"), QStringLiteral("messages")))
                        : QStringLiteral("%1 were put in front of message %2")
                              .arg(plural(count, QStringLiteral("message"), QStringLiteral("messages")), number));
            return true;
        }
        if (inA > 0 && follows(keysB, same, keysA, inA)) {
            finish(DiffCause::MessagesRemoved,
                   plural(inA - same, QStringLiteral("message"), QStringLiteral("messages")),
                   QStringLiteral("%1 went, from message %2 on")
                       .arg(plural(inA - same, QStringLiteral("message"), QStringLiteral("messages")), number));
            return true;
        }
        if (roleOf(a) != roleOf(b)) {
            if (keysB.size() < keysA.size())
                return replaced(same);
            finish(DiffCause::RoleChanged, QStringLiteral("%1 → %2").arg(roleOf(a), roleOf(b)),
                   QStringLiteral("message %1 has another role").arg(number));
            return true;
        }
        if (moved(textA, textB, same))
            return true;
        const QString inserted = insertedInto(textA, textB);
        if (inserted.trimmed().size() >= kLeastBlock
            && (m_diff.role == QLatin1String("system") || same <= firstTurn())) {
            finish(
                DiffCause::MemoryInjected,
                QStringLiteral("%1 more").arg(
                    plural(inserted.size(), QStringLiteral("character"), QStringLiteral("characters"))),
                QStringLiteral("text was put into message %1 (%2), in front of the history").arg(number, m_diff.role));
            return true;
        }
        if (keysB.size() < keysA.size() && keysA.size() - same > 2)
            return replaced(same);
        finish(DiffCause::MessageEdited, {},
               QStringLiteral("message %1 (%2) has another text").arg(number, m_diff.role));
        return true;
    }

    bool replaced(qsizetype same)
    {
        finish(DiffCause::HistoryReplaced,
               QStringLiteral("%1 → %2 messages").arg(m_a.messages.size()).arg(m_b.messages.size()),
               QStringLiteral("from message %1 on the history was replaced by a shorter one").arg(same + 1));
        return true;
    }

    /// Index of the first user message of the first prompt: what changes up to there stands in front of the history.
    qsizetype firstTurn() const
    {
        for (qsizetype i = 0; i < m_a.messages.size(); ++i) {
            if (roleOf(m_a.messages.at(i).toObject()) == QLatin1String("user"))
                return i;
        }
        return 0;
    }

    /// The messages of `a` from `i` on are those of `b` from `j` on, at least two of them or to the end of one.
    static bool follows(const QList<QByteArray> &a, qsizetype i, const QList<QByteArray> &b, qsizetype j)
    {
        qsizetype equal = 0;
        while (i + equal < a.size() && j + equal < b.size() && a.at(i + equal) == b.at(j + equal))
            ++equal;
        return equal >= 2 || i + equal == a.size() || j + equal == b.size();
    }

    /// A tagged block or a paragraph that left this message and stands in another one, or the other way round.
    bool moved(const QString &textA, const QString &textB, qsizetype same)
    {
        const auto blocksOf = [](const QString &text) {
            static const QRegularExpression tagged(QStringLiteral("<([A-Za-z][\\w-]*)>.*?</\\1>"),
                                                   QRegularExpression::DotMatchesEverythingOption);
            QStringList blocks;
            auto it = tagged.globalMatch(text);
            while (it.hasNext())
                blocks.append(it.next().captured(0));
            blocks += text.split(QStringLiteral("\n\n"), Qt::SkipEmptyParts);
            return blocks;
        };
        const auto elsewhere = [same](const QJsonArray &messages, const QString &block) {
            for (qsizetype i = 0; i < messages.size(); ++i) {
                if (i != same && standsIn(block, contentOf(messages.at(i).toObject())))
                    return true;
            }
            return false;
        };
        const auto search = [&](const QString &from, const QString &to, const QJsonArray &before,
                                const QJsonArray &after) {
            const QStringList blocks = blocksOf(from);
            for (const QString &block : blocks) {
                if (block.trimmed().size() >= kLeastBlock && !to.contains(block.trimmed()) && elsewhere(after, block)
                    && !elsewhere(before, block))
                    return block.trimmed();
            }
            return QString();
        };
        QString block = search(textA, textB, m_a.messages, m_b.messages);
        if (block.isEmpty())
            block = search(textB, textA, m_b.messages, m_a.messages);
        if (block.isEmpty())
            return false;
        static const QRegularExpression tag(QStringLiteral("^<([A-Za-z][\\w-]*)>"));
        const QString name = tag.match(block).captured(1);
        finish(DiffCause::MovedBlock,
               name.isEmpty() ? plural(block.size(), QStringLiteral("character"), QStringLiteral("characters"))
                              : QStringLiteral("<%1>").arg(name),
               QStringLiteral("a block of message %1 stands in another message now").arg(same + 1));
        return true;
    }

    const DiffSide &m_a;
    const DiffSide &m_b;
    Text m_textA;
    Text m_textB;
    qsizetype m_byte = 0;
    PromptDiff m_diff;
};

} // namespace

QString diffCauseName(DiffCause cause)
{
    for (const CauseName &row : kCauses) {
        if (row.cause == cause)
            return QString::fromLatin1(row.name);
    }
    return {};
}

PromptDiff diffPrompts(const DiffSide &a, const DiffSide &b) { return Finder(a, b).find(); }

} // namespace kerf
