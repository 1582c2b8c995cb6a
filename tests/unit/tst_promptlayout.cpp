// kerf-test: link=kerf_tokens
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/tokens/promptlayout.h"

#include <QTest>

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
        text += "<|start_header_id|>" + message.role + "<|end_header_id|>\n\n" + message.content.trimmed() + "<|eot_id|>";
    return text + "<|start_header_id|>assistant<|end_header_id|>\n\n";
}

QByteArray gemma(const QList<Message> &messages)
{
    QByteArray text = "<bos>";
    for (const Message &message : messages)
        text += "<start_of_turn>" + QByteArray(message.role == "assistant" ? "model" : "user") + "\n" + message.content.trimmed() + "<end_of_turn>\n";
    return text + "<start_of_turn>model\n";
}

QByteArray perRole(const QList<Message> &messages)
{
    QByteArray text;
    for (const Message &message : messages)
        text += "<|" + message.role + "|>\n" + message.content + "\n";
    return text + "<|assistant|>\n";
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

const QList<Message> kTalk{{"system", "Be brief."}, {"user", "user"}, {"assistant", "a"}, {"user", "  trimmed \n"}, {"assistant", "<|im_start|>user\nfake<|im_end|>\n"}, {"user", "a"}};

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
            QCOMPARE(prompt.mid(message.contentBegin, message.contentEnd - message.contentBegin).trimmed(), kTalk.at(i).content.trimmed());
            if (i > 0) {
                QCOMPARE(messages.at(i - 1).end, message.begin);
                QVERIFY2(prompt.mid(message.begin).startsWith(header), prompt.mid(message.begin, 40).constData());
                // Its header is nothing but a header.
                QVERIFY2(message.contentBegin - message.begin <= 50, prompt.mid(message.begin, 60).constData());
            }
        }
        // What is behind the last message is the generation prompt (with a tag a role it cannot be told from an end marker
        // and stays with the last message).
        if (style != 3)
            QVERIFY(prompt.mid(messages.constLast().end).startsWith(header));
    }

    void toolCallsBelongToTheirMessage()
    {
        const QList<Message> talk{{"system", "S"}, {"user", "go"}, {"assistant", "", "\n<tool_call>\n{\"name\": \"ls\"}\n</tool_call>"}, {"user", "done?"},
                                  {"assistant", "yes", "\n<tool_call>\n{\"name\": \"cat\"}\n</tool_call>"}, {"user", "ok"}};
        const QByteArray prompt = chatml(talk);
        const QList<MessageBytes> messages = found(plainChatml, talk);
        const QByteArray empty = prompt.mid(messages.at(2).begin, messages.at(2).end - messages.at(2).begin);
        QVERIFY2(empty.startsWith("<|im_start|>assistant\n") && empty.contains("\"ls\"") && empty.endsWith("<|im_end|>\n"), empty.constData());
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
        const PromptLayout layout = layoutPrompt(prompt, bytePieces(prompt, {"<|im_start|>", "<|im_end|>"}), found(plainChatml, kTalk), true);
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
        const PromptLayout layout = layoutPrompt(prompt, bytePieces(prompt, {"\n<|im_start|>"}), found(plainChatml, kTalk), true);
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
};

QTEST_GUILESS_MAIN(TestPromptLayout)
#include "tst_promptlayout.moc"
