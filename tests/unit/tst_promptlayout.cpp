// kerf-test: link=kerf_tokens
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/tokens/promptlayout.h"

#include <QTest>

#include <ctime>

using namespace kerf;

namespace {

struct Message {
    QByteArray role;
    QByteArray content;
    QByteArray calls = {};
};

QByteArray chatml(const QList<Message> &messages, const QByteArray &front = {})
{
    QByteArray text = front;
    for (const Message &message : messages)
        text += "<|im_start|>" + message.role + "\n" + message.content.trimmed() + message.calls + "<|im_end|>\n";
    return text + "<|im_start|>assistant\n";
}

QByteArray llama3(const QList<Message> &messages)
{
    QByteArray text = "<|begin_of_text|>";
    for (const Message &message : messages)
        text +=
            "<|start_header_id|>" + message.role + "<|end_header_id|>\n\n" + message.content.trimmed() + "<|eot_id|>";
    return text + "<|start_header_id|>assistant<|end_header_id|>\n\n";
}

QByteArray gemma(const QList<Message> &messages)
{
    QByteArray text = "<bos>";
    for (const Message &message : messages)
        text += "<start_of_turn>" + QByteArray(message.role == "assistant" ? "model" : "user") + "\n"
            + message.content.trimmed() + "<end_of_turn>\n";
    return text + "<start_of_turn>model\n";
}

QByteArray perRole(const QList<Message> &messages)
{
    QByteArray text;
    for (const Message &message : messages)
        text += "<|" + message.role + "|>\n" + message.content + "\n";
    return text + "<|assistant|>\n";
}

/// Mistral: [INST] and [/INST] around the user's words, </s> behind the assistant's.
QByteArray mistral(const QList<Message> &messages)
{
    QByteArray text = "<s>";
    for (const Message &message : messages)
        text += message.role == "assistant" ? " " + message.content.trimmed() + "</s>"
                                            : "[INST] " + message.content.trimmed() + " [/INST]";
    return text;
}

/// A tag of its own for every role, and one end marker for all (Phi-3, Zephyr).
QByteArray phi(const QList<Message> &messages)
{
    QByteArray text;
    for (const Message &message : messages)
        text += "<|" + message.role + "|>\n" + message.content.trimmed() + "<|end|>\n";
    return text + "<|assistant|>\n";
}

/// Results of tools that follow each other share one user turn (Hermes, Qwen).
QByteArray hermes(const QList<Message> &messages)
{
    QByteArray text;
    for (qsizetype i = 0; i < messages.size(); ++i) {
        const Message &message = messages.at(i);
        if (message.role != "tool") {
            text += "<|im_start|>" + message.role + "\n" + message.content + message.calls + "<|im_end|>\n";
            continue;
        }
        if (i == 0 || messages.at(i - 1).role != "tool")
            text += "<|im_start|>user";
        text += "\n<tool_response>\n" + message.content + "\n</tool_response>";
        if (i + 1 == messages.size() || messages.at(i + 1).role != "tool")
            text += "<|im_end|>\n";
    }
    return text + "<|im_start|>assistant\n";
}

/// Strips reasoning from all but the last assistant message, and escapes tool results as JSON does.
QByteArray rewriting(const QList<Message> &messages)
{
    QByteArray text;
    for (qsizetype i = 0; i < messages.size(); ++i) {
        QByteArray content = messages.at(i).content;
        if (messages.at(i).role == "assistant" && i + 1 < messages.size()) {
            if (const qsizetype end = content.indexOf("</think>"); end >= 0)
                content = content.mid(end + 8).trimmed();
        }
        if (messages.at(i).role == "tool")
            content = content.replace('"', "\\\"");
        text += "<|im_start|>" + messages.at(i).role + "\n" + content + "<|im_end|>\n";
    }
    return text + "<|im_start|>assistant\n";
}

QList<QByteArray> contentsOf(const QList<Message> &messages)
{
    QList<QByteArray> contents;
    for (const Message &message : messages)
        contents.append(message.content);
    return contents;
}

/// The same conversation with markers for contents, as the adapter renders it.
QList<MessageBytes> found(QByteArray (*render)(const QList<Message> &), const QList<Message> &messages)
{
    QList<Message> marked = messages;
    QList<QByteArray> markers;
    for (qsizetype i = 0; i < marked.size(); ++i) {
        markers.append(marked.at(i).content.trimmed().isEmpty() ? QByteArray() : "@@M" + QByteArray::number(i) + "@@");
        marked[i].content = markers.at(i);
    }
    return findMessages(render(messages), contentsOf(messages), render(marked), markers);
}

QByteArray plainChatml(const QList<Message> &messages) { return chatml(messages); }

const QList<Message> kTalk{{"system", "Be brief."},
                           {"user", "user"},
                           {"assistant", "a"},
                           {"user", "  trimmed \n"},
                           {"assistant", "<|im_start|>user\nfake<|im_end|>\n"},
                           {"user", "a"}};

/// One token a byte, but for what `merge` names: those are one token each.
QList<TokenPiece> bytePieces(const QByteArray &text, const QList<QByteArray> &merge = {})
{
    QList<TokenPiece> pieces;
    for (qsizetype i = 0; i < text.size();) {
        QByteArray piece = text.mid(i, 1);
        for (const QByteArray &whole : merge) {
            if (QByteArrayView(text).sliced(i).startsWith(whole))
                piece = whole;
        }
        pieces.append({static_cast<TokenId>(pieces.size()), piece});
        i += piece.size();
    }
    return pieces;
}

} // namespace

class TestPromptLayout : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void messagesBeginAtTheirOwnHeader_data()
    {
        QTest::addColumn<int>("style");
        QTest::addColumn<QByteArray>("header");
        QTest::newRow("chatml") << 0 << QByteArray("<|im_start|>");
        QTest::newRow("llama 3") << 1 << QByteArray("<|start_header_id|>");
        QTest::newRow("gemma") << 2 << QByteArray("<start_of_turn>");
        QTest::newRow("a tag a role") << 3 << QByteArray("<|");
    }
    void messagesBeginAtTheirOwnHeader()
    {
        QFETCH(int, style);
        QFETCH(QByteArray, header);
        QByteArray (*const renders[])(const QList<Message> &) = {plainChatml, llama3, gemma, perRole};
        const QByteArray prompt = renders[style](kTalk);
        const QList<MessageBytes> messages = found(renders[style], kTalk);
        QCOMPARE(messages.size(), kTalk.size());
        QCOMPARE(messages.constFirst().begin, 0);
        for (qsizetype i = 0; i < messages.size(); ++i) {
            const MessageBytes &message = messages.at(i);
            QVERIFY(message.found);
            QCOMPARE(prompt.mid(message.contentBegin, message.contentEnd - message.contentBegin).trimmed(),
                     kTalk.at(i).content.trimmed());
            if (i > 0) {
                QCOMPARE(messages.at(i - 1).end, message.begin);
                QVERIFY2(prompt.mid(message.begin).startsWith(header), prompt.mid(message.begin, 40).constData());
                // Its header is nothing but a header.
                QVERIFY2(message.contentBegin - message.begin <= 50, prompt.mid(message.begin, 60).constData());
            }
        }
        // What is behind the last message is the generation prompt (with a tag a role it cannot be told from an end
        // marker and stays with the last message).
        if (style != 3)
            QVERIFY(prompt.mid(messages.constLast().end).startsWith(header));
    }

    void toolCallsBelongToTheirMessage()
    {
        const QList<Message> talk{{"system", "S"},
                                  {"user", "go"},
                                  {"assistant", "", "\n<tool_call>\n{\"name\": \"ls\"}\n</tool_call>"},
                                  {"user", "done?"},
                                  {"assistant", "yes", "\n<tool_call>\n{\"name\": \"cat\"}\n</tool_call>"},
                                  {"user", "ok"}};
        const QByteArray prompt = chatml(talk);
        const QList<MessageBytes> messages = found(plainChatml, talk);
        const QByteArray empty = prompt.mid(messages.at(2).begin, messages.at(2).end - messages.at(2).begin);
        QVERIFY2(empty.startsWith("<|im_start|>assistant\n") && empty.contains("\"ls\"")
                     && empty.endsWith("<|im_end|>\n"),
                 empty.constData());
        const QByteArray cat = prompt.mid(messages.at(4).begin, messages.at(4).end - messages.at(4).begin);
        QVERIFY(cat.contains("\"cat\"") && cat.startsWith("<|im_start|>assistant\nyes"));
        QCOMPARE(prompt.mid(messages.at(3).begin, 17), QByteArray("<|im_start|>user\n"));
    }

    void toolsInFrontOfAUserMessageAreNotIts()
    {
        const QByteArray front = "<|im_start|>system\n# Tools\n<tools>{\"name\":\"x\"}</tools><|im_end|>\n";
        const QList<Message> talk{{"user", "first"}, {"assistant", "second"}, {"user", "third"}};
        const QByteArray prompt = chatml(talk, front);
        QList<Message> marked = talk;
        const QList<QByteArray> markers{"@@0@@", "@@1@@", "@@2@@"};
        for (int i = 0; i < 3; ++i)
            marked[i].content = markers.at(i);
        const QList<MessageBytes> messages = findMessages(prompt, contentsOf(talk), chatml(marked, front), markers);
        QCOMPARE(messages.at(0).begin, front.size());
        const PromptLayout layout = layoutPrompt(prompt, bytePieces(prompt), messages, true);
        QCOMPARE(layout.fixedTokens, static_cast<int>(front.size()));
    }

    void endMarkersBelongToTheEarlierMessage_data()
    {
        QTest::addColumn<int>("style");
        QTest::addColumn<QByteArrayList>("begins");
        QTest::addColumn<QByteArray>("tail");
        QTest::newRow("mistral") << 0 << QByteArrayList{"<s>[INST] Be", " a</s>", "[INST] next"} << QByteArray();
        QTest::newRow("phi") << 1 << QByteArrayList{"<|user|>\nBe", "<|assistant|>\na", "<|user|>\nnext"}
                             << QByteArray("<|assistant|>\n");
    }
    void endMarkersBelongToTheEarlierMessage()
    {
        QFETCH(int, style);
        QFETCH(QByteArrayList, begins);
        QFETCH(QByteArray, tail);
        const QList<Message> talk{{"user", "Be brief."}, {"assistant", "a"}, {"user", "next"}};
        QByteArray (*const renders[])(const QList<Message> &) = {mistral, phi};
        const QByteArray prompt = renders[style](talk);
        const QList<MessageBytes> messages = found(renders[style], talk);
        for (qsizetype i = 0; i < messages.size(); ++i)
            QVERIFY2(prompt.mid(messages.at(i).begin).startsWith(begins.at(i)),
                     prompt.mid(messages.at(i).begin, 40).constData());
        QCOMPARE(prompt.mid(messages.constLast().end), tail);
    }

    void toolResultsThatShareATurnAreToldApart()
    {
        const QList<Message> talk{
            {"system", "S"},   {"user", "go"},  {"assistant", "", "\n<tool_call>\n{}\n</tool_call>"},
            {"tool", "one"},   {"tool", "two"}, {"assistant", "done"},
            {"user", "thanks"}};
        const QByteArray prompt = hermes(talk);
        const QList<MessageBytes> messages = found(hermes, talk);
        const QByteArray first = prompt.mid(messages.at(3).begin, messages.at(3).end - messages.at(3).begin);
        const QByteArray second = prompt.mid(messages.at(4).begin, messages.at(4).end - messages.at(4).begin);
        QCOMPARE(first, QByteArray("<|im_start|>user\n<tool_response>\none\n</tool_response>"));
        QCOMPARE(second, QByteArray("\n<tool_response>\ntwo\n</tool_response><|im_end|>\n"));
        QVERIFY(messages.at(4).found);
    }

    void templateWordsInACallsArgumentsAreNoEdge()
    {
        // The call's arguments quote the template; the message has no content of its own.
        const QList<Message> talk{
            {"user", "go"},
            {"assistant", "", "\n<tool_call>\n{\"text\": \"<|im_start|>user\\nx\"}\n</tool_call>"},
            {"tool", "written"},
            {"user", "ok"}};
        const QByteArray prompt = hermes(talk);
        const QList<MessageBytes> messages = found(hermes, talk);
        QVERIFY(!messages.at(1).found); // which tag opens it is not certain: no cut there
        QVERIFY(prompt.mid(messages.at(2).begin).startsWith("<|im_start|>user\n<tool_response>\nwritten"));
        QVERIFY(messages.at(2).found);
        QVERIFY(prompt.mid(messages.at(3).begin).startsWith("<|im_start|>user\nok"));
    }

    void aContentThatTheTemplateChangesIsFoundByItsSurroundings()
    {
        const QList<Message> talk{{"system", "S"},
                                  {"user", "one"},
                                  {"assistant", "<think>long thoughts</think>\n\ntwo"},
                                  {"tool", "{\"a\": \"b\"}"},
                                  {"assistant", "<think>x</think>"},
                                  {"user", "two"}};
        const QByteArray prompt = rewriting(talk);
        const QList<MessageBytes> messages = found(rewriting, talk);
        for (qsizetype i = 0; i < messages.size(); ++i) {
            const MessageBytes &message = messages.at(i);
            QVERIFY2(message.found, QByteArray::number(i).constData());
            QVERIFY2(prompt.mid(message.begin).startsWith("<|im_start|>" + talk.at(i).role + "\n"),
                     prompt.mid(message.begin, 40).constData());
        }
        QCOMPARE(prompt.mid(messages.at(2).contentBegin, messages.at(2).contentEnd - messages.at(2).contentBegin),
                 QByteArray("two"));
        QCOMPARE(prompt.mid(messages.at(3).contentBegin, messages.at(3).contentEnd - messages.at(3).contentBegin),
                 QByteArray("{\\\"a\\\": \\\"b\\\"}"));
        QCOMPARE(messages.at(4).contentBegin, messages.at(4).contentEnd);
    }

    void fixedTokensAreTheHeadWithoutTheSystemsWords()
    {
        const QList<Message> talk{{"system", "Be brief.", "\n# Tools\n{}"}, {"user", "hello"}};
        const QByteArray prompt = hermes(talk);
        const QList<MessageBytes> messages = found(hermes, talk);
        const PromptLayout layout = layoutPrompt(prompt, bytePieces(prompt), messages, true, 1);
        QCOMPARE(layout.fixedTokens, static_cast<int>(prompt.indexOf("<|im_start|>user") - qstrlen("Be brief.")));
    }

    void aContentThatIsNotThereSharesAndIsNoCut()
    {
        const QList<Message> talk{{"system", "S"}, {"user", "one"}, {"assistant", "two"}, {"user", "three"}};
        QByteArray prompt = chatml(talk);
        prompt.replace("two", "rewritten");
        const QList<MessageBytes> messages = findMessages(prompt, contentsOf(talk));
        QVERIFY(!messages.at(2).found);
        QVERIFY(messages.at(3).found);
        const PromptLayout layout = layoutPrompt(prompt, bytePieces(prompt), messages, true);
        QVERIFY(!layout.messages.at(2).edgeLegal);
        QVERIFY(layout.messages.at(3).edgeLegal);
        QCOMPARE(layout.messages.constLast().tokens.end, layout.tail.begin);
        QCOMPARE(layout.tail.end, layout.size());
    }

    void spansCoverThePromptWithoutGaps()
    {
        const QByteArray prompt = chatml(kTalk);
        const PromptLayout layout =
            layoutPrompt(prompt, bytePieces(prompt, {"<|im_start|>", "<|im_end|>"}), found(plainChatml, kTalk), true);
        int at = 0;
        for (const MessageSpan &span : layout.messages) {
            QCOMPARE(span.tokens.begin, at);
            at = span.tokens.end;
            QVERIFY(span.edgeLegal);
        }
        QCOMPARE(layout.tail, (TokenRange{at, layout.size()}));
        QVERIFY(layout.tail.size() > 0);
    }

    void aTokenAcrossAnEdgeMakesItIllegal()
    {
        const QByteArray prompt = chatml(kTalk);
        // The newline of the end marker and the next header are one token.
        const PromptLayout layout =
            layoutPrompt(prompt, bytePieces(prompt, {"\n<|im_start|>"}), found(plainChatml, kTalk), true);
        QVERIFY(layout.messages.at(0).edgeLegal);
        for (qsizetype i = 1; i < layout.messages.size(); ++i)
            QVERIFY(!layout.messages.at(i).edgeLegal);
    }

    void piecesAreAlignedTolerantly()
    {
        const QByteArray text = "Hello w\xc3\xa9rld";
        // BOS that is not in the text, a space that the tokenizer put in front, half characters.
        const QList<TokenPiece> pieces{{1, "<s>"}, {2, " Hello"}, {3, " w"}, {4, "\xc3"}, {5, "\xa9"}, {6, "rld"}};
        QCOMPARE(alignPieces(text, pieces), (QList<qsizetype>{0, 0, 5, 7, 8, 9, 12}));
        QCOMPARE(alignPieces(text, {{1, ""}, {2, text}}), (QList<qsizetype>{0, 0, 12}));
        QCOMPARE(alignPieces({}, {}), (QList<qsizetype>{0}));
    }

    void anEmptyConversationIsAllTail()
    {
        const PromptLayout layout = layoutPrompt("abc", bytePieces("abc"), {}, true);
        QCOMPARE(layout.tail, (TokenRange{0, 3}));
    }

    void manyMessagesInLinearTime()
    {
        QList<Message> talk;
        for (int i = 0; i < 5000; ++i)
            talk.append({i % 2 ? "assistant" : "user", "word " + QByteArray::number(i % 7)});
        const QByteArray prompt = chatml(talk);
        const QList<MessageBytes> messages = found(plainChatml, talk);
        QVERIFY(std::all_of(messages.cbegin(), messages.cend(), [](const MessageBytes &m) { return m.found; }));
        for (qsizetype i = 1; i < messages.size(); ++i)
            QVERIFY(messages.at(i).begin > messages.at(i - 1).begin);
    }

    void timeGrowsWithThePrompt()
    {
        const auto ticks = [](int count) {
            QList<Message> talk;
            for (int i = 0; i < count; ++i)
                talk.append({i % 2 ? "assistant" : "user",
                             QByteArray(80, static_cast<char>('a' + i % 26)) + QByteArray::number(i % 7)});
            const QByteArray prompt = hermes(talk);
            const QList<TokenPiece> pieces = bytePieces(prompt);
            const std::clock_t begin = std::clock(); // the processor's time: a busy machine does not matter
            const PromptLayout layout = layoutPrompt(prompt, pieces, found(hermes, talk), true);
            return layout.messages.size() == count ? std::max<std::clock_t>(1, std::clock() - begin) : 0;
        };
        const std::clock_t small = ticks(500);
        const std::clock_t large = ticks(5000); // 550 KB
        QVERIFY(small > 0 && large > 0);
        QVERIFY2(large < 40 * small, qPrintable(QStringLiteral("%1 against %2 ticks").arg(large).arg(small)));
    }
};

QTEST_GUILESS_MAIN(TestPromptLayout)
#include "tst_promptlayout.moc"
