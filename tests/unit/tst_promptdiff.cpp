// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_diagnosis

// Each cause has a case that shows it and a near miss that does not.

#include "core/diagnosis/promptdiff.h"

#include <QHash>
#include <QJsonDocument>
#include <QTest>

using namespace kerf;

namespace {

QJsonObject says(const char *role, const QString &text)
{
    return {{QStringLiteral("role"), QString::fromLatin1(role)}, {QStringLiteral("content"), text}};
}

QJsonArray talk(const QString &system, int rounds = 4)
{
    QJsonArray messages{says("system", system)};
    for (int i = 0; i < rounds; ++i) {
        messages.append(says("user", QStringLiteral("please look at file number %1 and tell me").arg(QChar('a' + i))));
        messages.append(says("assistant", QStringLiteral("the file %1 is fine as far as I see").arg(QChar('a' + i))));
    }
    messages.append(says("user", QStringLiteral("go on then")));
    return messages;
}

QJsonObject tool(const QString &name, const QString &about = QStringLiteral("does it"))
{
    const QJsonObject function{{QStringLiteral("name"), name}, {QStringLiteral("description"), about}};
    return {{QStringLiteral("type"), QStringLiteral("function")}, {QStringLiteral("function"), function}};
}

/// ChatML with the tools behind the system text; words, blanks and signs are tokens.
struct Maker {
    QJsonArray messages;
    QJsonArray tools = {};
    QJsonObject options = {};
    bool thoughts = true; ///< renders reasoning_content
    QString generation = QStringLiteral("<|im_start|>assistant\n");
    bool merged = false; ///< a full stop and the line end behind it are one token
    bool text = true;

    DiffSide make() const
    {
        DiffSide side;
        side.messages = messages;
        side.tools = tools;
        side.templateOptions = options;
        const auto add = [&](const QString &bytes) {
            static QHash<QByteArray, TokenId> ids;
            QStringList pieces;
            QString word;
            const auto flush = [&] {
                if (!word.isEmpty())
                    pieces.append(word);
                word.clear();
            };
            for (const QChar c : bytes) {
                if (c.isLetterOrNumber()) {
                    word += c;
                } else {
                    flush();
                    if (merged && c == QLatin1Char('\n') && !pieces.isEmpty()
                        && pieces.constLast() == QLatin1String("."))
                        pieces.last() += c;
                    else
                        pieces.append(c);
                }
            }
            flush();
            for (const QString &piece : std::as_const(pieces)) {
                const QByteArray utf8 = piece.toUtf8();
                if (!ids.contains(utf8))
                    ids.insert(utf8, TokenId(ids.size() + 1));
                side.layout.tokens.append(ids.value(utf8));
                if (text)
                    side.pieces.append(utf8);
            }
        };
        add(QStringLiteral("<s>"));
        if (options.value(QStringLiteral("enable_thinking")).toBool())
            add(QStringLiteral("[thinking on]"));
        for (const QJsonValue &value : messages) {
            const QJsonObject message = value.toObject();
            MessageSpan span;
            span.tokens.begin = side.layout.size();
            const QString role = message.value(QStringLiteral("role")).toString();
            const QString reasoning = message.value(QStringLiteral("reasoning_content")).toString();
            add(QStringLiteral("<|im_start|>%1\n").arg(role));
            if (thoughts && !reasoning.isEmpty())
                add(QStringLiteral("<think>%1</think>\n\n").arg(reasoning));
            add(message.value(QStringLiteral("content")).toString());
            if (role == QLatin1String("system") && !tools.isEmpty())
                add(QStringLiteral("\n# Tools\n")
                    + QString::fromUtf8(QJsonDocument(tools).toJson(QJsonDocument::Compact)));
            add(QStringLiteral("<|im_end|>\n"));
            span.tokens.end = side.layout.size();
            side.layout.messages.append(span);
        }
        side.layout.tail.begin = side.layout.size();
        add(generation);
        side.layout.tail.end = side.layout.size();
        return side;
    }
};

QJsonArray with(QJsonArray messages, int index, const QString &text)
{
    QJsonObject message = messages.at(index).toObject();
    message.insert(QStringLiteral("content"), text);
    messages[index] = message;
    return messages;
}

QJsonArray plus(QJsonArray messages, const QJsonObject &message)
{
    messages.append(message);
    return messages;
}

QJsonArray inserted(QJsonArray messages, int index, const QJsonObject &message)
{
    messages.insert(index, message);
    return messages;
}

} // namespace

class tst_PromptDiff : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void causes_data();
    void causes();
    void positionIsTheFirstDifference();
    void withoutText();
    void namesAndFixes();
};

void tst_PromptDiff::causes_data()
{
    QTest::addColumn<DiffSide>("a");
    QTest::addColumn<DiffSide>("b");
    QTest::addColumn<QString>("cause");
    QTest::addColumn<QString>("part");
    QTest::addColumn<QString>("evidence");
    const QString system = QStringLiteral("You are careful.\n");
    const QJsonArray base = talk(system);
    const auto row = [](const char *name, const Maker &a, const Maker &b, const char *cause, const char *part,
                        const QString &evidence = {}) {
        QTest::newRow(name) << a.make() << b.make() << QString::fromLatin1(cause) << QString::fromLatin1(part)
                            << evidence;
    };
    const auto head = [&](const QString &line) { return Maker{talk(system + line)}; };
    row("the same", {base}, {base}, "same", "");
    {
        Maker before{base};
        Maker after{plus(plus(base, says("assistant", QStringLiteral("done"))), says("user", QStringLiteral("more")))};
        row("grows", before, after, "extends", "");
        Maker thinks = before;
        thinks.generation += QStringLiteral("<think>\n");
        row("generation prompt with a thought", thinks, after, "generation-prompt", "generation");
    }
    row("time of day", head(QStringLiteral("Now: 10:41:22")), head(QStringLiteral("Now: 10:41:37")), "timestamp",
        "system", QStringLiteral("10:41:22 → 10:41:37"));
    row("ISO time", head(QStringLiteral("Date 2026-03-04T10:41:22Z.")),
        head(QStringLiteral("Date 2026-03-05T08:01:02Z.")), "timestamp", "system");
    row("date in words", head(QStringLiteral("Today is Monday, March 2, 2026")),
        head(QStringLiteral("Today is Tuesday, March 3, 2026")), "timestamp", "system");
    row("near a time: another word", head(QStringLiteral("Now: 10:41:22 here")),
        head(QStringLiteral("Now: 10:41:22 there")), "message-edited", "system");
    row("counter", head(QStringLiteral("Request 12 of this run")), head(QStringLiteral("Request 13 of this run")),
        "counter", "system", QStringLiteral("12 → 13"));
    row("near a counter: the words differ too", head(QStringLiteral("Request 12 of this run")),
        head(QStringLiteral("Answer 13 of that run")), "message-edited", "system");
    row("uuid", head(QStringLiteral("session 0f8fad5b-d9cb-469f-a165-70867728950e")),
        head(QStringLiteral("session 7c9e6679-7425-40de-944b-e07fc1f90ae7")), "uuid", "system");
    row("long hex id", head(QStringLiteral("trace 4bf92f3577b34da6a3ce929d0e0e4736")),
        head(QStringLiteral("trace 9af1123577b34da6a3ce929d0e0e4736")), "uuid", "system");
    row("billing line", head(QStringLiteral("x-anthropic-billing-header: cc_version=2.1; cch=1a2b3")),
        head(QStringLiteral("x-anthropic-billing-header: cc_version=2.1; cch=9f8e7")), "billing-line", "system");
    row("near a billing line: only one has it", head(QStringLiteral("x-anthropic-billing-header: cch=1a2b3")), head({}),
        "message-edited", "system");
    {
        Maker a{base, {tool(QStringLiteral("read")), tool(QStringLiteral("write"))}};
        Maker b{base, {tool(QStringLiteral("read")), tool(QStringLiteral("write")), tool(QStringLiteral("task"))}};
        Maker swapped{base, {tool(QStringLiteral("write")), tool(QStringLiteral("read"))}};
        Maker schema{base, {tool(QStringLiteral("read")), tool(QStringLiteral("write"), QStringLiteral("does more"))}};
        Maker none{base};
        row("tool added", a, b, "tool-list", "tools", QStringLiteral("added: task"));
        row("tool gone", b, a, "tool-list", "tools", QStringLiteral("gone: task"));
        row("tools in another order", a, swapped, "tool-list", "tools",
            QStringLiteral("the same tools in another order"));
        row("another schema", a, schema, "tool-list", "tools", QStringLiteral("the schema of write changed"));
        row("tools dropped", a, none, "tool-list", "tools", QStringLiteral("all 2 tools were dropped"));
        Maker late = b;
        late.messages = talk(QStringLiteral("You are careless.\n"));
        row("near a tool change: the system text changed before it", a, late, "message-edited", "system");
    }
    {
        Maker on{base};
        on.options.insert(QStringLiteral("enable_thinking"), true);
        row("template option", {base}, on, "template-options", "template", QStringLiteral("enable_thinking"));
    }
    {
        const QString reminder = QStringLiteral("<system-reminder>be brief and careful</system-reminder>");
        const QJsonArray first = with(base, 1, reminder + QStringLiteral("\nplease look at file number a and tell me"));
        const QJsonArray later = with(base, int(base.size()) - 1, QStringLiteral("go on then\n") + reminder);
        row("reminder moved", {first}, {later}, "moved-block", "message", QStringLiteral("<system-reminder>"));
        row("near a moved block: it is in both", {first},
            {with(first, int(base.size()) - 1, QStringLiteral("go on then\n") + reminder)}, "message-edited",
            "message");
    }
    row("memory as a message", {base},
        {inserted(base, 1, says("user", QStringLiteral("remember that tabs are wanted")))}, "memory-injected",
        "message", QStringLiteral("1 message"));
    row("memory in the system text", {base}, {talk(system + QStringLiteral("The user likes tabs.\n"))},
        "memory-injected", "system");
    row("message in the middle", {base}, {inserted(base, 5, says("user", QStringLiteral("by the way")))},
        "messages-inserted", "message", QStringLiteral("1 message"));
    {
        QJsonArray oldest = base;
        for (int i = 0; i < 4; ++i)
            oldest.removeAt(1);
        row("oldest dropped", {base}, {oldest}, "messages-removed", "message", QStringLiteral("4 messages"));
        QJsonArray summary{base.at(0), says("user", QStringLiteral("Summary of what was done so far.")),
                           base.at(base.size() - 1)};
        row("summarised", {base}, {summary}, "history-replaced", "message", QStringLiteral("10 → 3 messages"));
    }
    {
        QJsonArray thoughtful = base;
        QJsonObject answer = thoughtful.at(2).toObject();
        answer.insert(QStringLiteral("reasoning_content"), QStringLiteral("I should open it first"));
        thoughtful[2] = answer;
        row("thoughts not sent back", {thoughtful}, {base}, "thinking", "message", QStringLiteral("thoughts stripped"));
        Maker stripped{thoughtful};
        stripped.thoughts = false;
        row("thoughts not rendered", {thoughtful}, stripped, "thinking", "message",
            QStringLiteral("thoughts stripped"));
        row("near thoughts: the words differ", {thoughtful}, {with(base, 2, QStringLiteral("no"))}, "message-edited",
            "message");
    }
    {
        Maker merged{base};
        merged.merged = true;
        row("seam", {base}, merged, "tokenizer-seam", "system", QStringLiteral("\".\" → \".\\n\""));
    }
    row("side request", {base},
        {talk(QStringLiteral("Write a title of five words for what follows, and nothing else."), 1)},
        "other-conversation", "system");
    row("near a side request: more behind the same text", {base},
        {talk(system + QStringLiteral("Be brief in all you say."), 1)}, "memory-injected", "system");
    row("shortened", {base}, {[&] {
            Maker maker{base};
            maker.generation.clear();
            return maker;
        }()},
        "shortened", "generation");
    row("edited", {base}, {with(base, 3, QStringLiteral("something else"))}, "message-edited", "message");
    {
        QJsonArray other = base;
        other[3] = says("assistant", QStringLiteral("please look at file number b and tell me"));
        row("role", {base}, {other}, "role-changed", "message", QStringLiteral("user → assistant"));
    }
}

void tst_PromptDiff::causes()
{
    QFETCH(DiffSide, a);
    QFETCH(DiffSide, b);
    QFETCH(QString, cause);
    QFETCH(QString, part);
    QFETCH(QString, evidence);
    const PromptDiff diff = diffPrompts(a, b);
    QVERIFY2(diffCauseName(diff.cause) == cause,
             qPrintable(diffCauseName(diff.cause) + QStringLiteral(": ") + diff.reason + QStringLiteral(" | ")
                        + diff.contextA + QStringLiteral(" | ") + diff.contextB));
    QCOMPARE(diff.part, part);
    if (!evidence.isEmpty())
        QCOMPARE(diff.evidence, evidence);
    QVERIFY(!diff.reason.isEmpty());
    QCOMPARE(diff.lcp, commonPrefix(a.layout.tokens, b.layout.tokens));
    QCOMPARE(diff.totalA, a.layout.size());
    QCOMPARE(diff.totalB, b.layout.size());
}

void tst_PromptDiff::positionIsTheFirstDifference()
{
    const QJsonArray base = talk(QStringLiteral("Hi.\n"));
    const DiffSide a = Maker{base}.make();
    const DiffSide b = Maker{with(base, 5, QStringLiteral("quite another thing"))}.make();
    const PromptDiff diff = diffPrompts(a, b);
    QCOMPARE(diff.message, 5);
    QCOMPARE(diff.role, QStringLiteral("user"));
    QVERIFY(b.layout.messages.at(5).tokens.contains(diff.lcp));
    QVERIFY(diff.contextA != diff.contextB);
}

void tst_PromptDiff::withoutText()
{
    Maker a{talk(QStringLiteral("Now: 10:41:22\n"))};
    Maker b{talk(QStringLiteral("Now: 10:41:37\n"))};
    a.text = b.text = false;
    const PromptDiff diff = diffPrompts(a.make(), b.make());
    QCOMPARE(diff.cause, DiffCause::Timestamp); // the requests say it
    QVERIFY(diff.contextA.isEmpty());
    DiffSide bare;
    bare.layout.tokens = {1, 2, 3};
    DiffSide other;
    other.layout.tokens = {1, 2, 4};
    QCOMPARE(diffPrompts(bare, other).cause, DiffCause::Other);
    QCOMPARE(diffPrompts(bare, other).lcp, 2);
    QCOMPARE(diffPrompts(bare, bare).cause, DiffCause::Same);
    QCOMPARE(diffPrompts({}, {}).cause, DiffCause::Same);
}

void tst_PromptDiff::namesAndFixes()
{
    QSet<QString> names;
    for (int i = 0; i <= static_cast<int>(DiffCause::Other); ++i) {
        const QString name = diffCauseName(static_cast<DiffCause>(i));
        QVERIFY(!name.isEmpty() && !names.contains(name));
        names.insert(name);
    }
    QVERIFY(!diffPrompts(Maker{talk(QStringLiteral("a 12"))}.make(), Maker{talk(QStringLiteral("a 13"))}.make())
                 .fix.isEmpty());
}

QTEST_APPLESS_MAIN(tst_PromptDiff)
#include "tst_promptdiff.moc"
