// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_backend

#include "core/backend/builtintemplate.h"
#include "core/backend/embeddedbackend.h"
#include "core/backend/heuristictokenizer.h"
#include "core/backend/nullbackend.h"

#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QSignalSpy>
#include <QTest>

#include <optional>

using namespace kerf;

namespace {

/// The result of a task, which here has always ended at once.
template<typename T>
T valueOf(QCoro::Task<T> task)
{
    std::optional<T> value;
    task.then([&value](T result) { value = std::move(result); });
    if (!QTest::qWaitFor([&value] { return value.has_value(); }, 5000))
        qFatal("the task did not end");
    return *std::move(value);
}

QJsonObject message(const char *role, const QString &content)
{
    return {{QStringLiteral("role"), QString::fromLatin1(role)}, {QStringLiteral("content"), content}};
}

QString words(int count, quint32 seed)
{
    QRandomGenerator random(seed);
    QStringList list;
    for (int i = 0; i < count; ++i)
        list.append(QStringLiteral("word%1").arg(random.bounded(5000)));
    return list.join(QLatin1Char(' '));
}

QJsonArray conversation(int turns, int length = 40)
{
    QJsonArray messages{message("system", QStringLiteral("You are terse."))};
    for (int i = 0; i < turns; ++i) {
        messages.append(message("user", words(length, quint32(2 * i))));
        messages.append(message("assistant", words(length, quint32(2 * i + 1))));
    }
    return messages;
}

QByteArray bytesOf(const PromptLayout &layout, const Backend &backend)
{
    QByteArray bytes;
    for (const TokenId id : layout.tokens)
        bytes += backend.pieceBytes(id);
    return bytes;
}

} // namespace

class tst_EmbeddedBackend : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void tokenizerKeepsEveryByte_data();
    void tokenizerKeepsEveryByte();
    void tokenizerIsAboutFourBytes();
    void tokenizerTakesAnyBytes();
    void spansAreContiguous();
    void contentsAreTrimmed();
    void toolsStandInTheHead();
    void toolCallsAreVerbatim();
    void appendingKeepsThePrefix();
    void everythingIsMarkedSimulated();
    void simulatedRequestIsBookedOnce();
    void madeUpTimingsAreMarked();
    void predictionsComeTrue_data();
    void predictionsComeTrue();
    void savesRestoresErases();
    void events();
    void wireForms();
    void noneKnowsNothing();
    void longSessionsAreFast();
};

void tst_EmbeddedBackend::tokenizerKeepsEveryByte_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("prose") << QByteArray("The cache holds 2,243 tokens; a cut at 1,500 keeps them.\n\nIs that so?");
    QTest::newRow("code") << QByteArray("\tif (a[i] == b[j]) {\n\t\treturn  std::max<int>(x, y_1);\r\n\t}\n");
    QTest::newRow("accents") << QStringLiteral("Überprüfen Sie die Größe – déjà vu").toUtf8();
    QTest::newRow("chinese") << QStringLiteral("缓存中保存了两千个词元。日本語もあります。").toUtf8();
    QTest::newRow("emoji") << QStringLiteral("done 👍🏽👩‍💻 ok").toUtf8();
    QTest::newRow("blanks") << QByteArray("     \n \n\n   x");
}

void tst_EmbeddedBackend::tokenizerKeepsEveryByte()
{
    QFETCH(QByteArray, text);
    const QList<TokenPiece> pieces = HeuristicTokenizer::pieces(text);
    QByteArray joined;
    TokenList ids;
    for (const TokenPiece &piece : pieces) {
        QVERIFY(!piece.bytes.isEmpty());
        QVERIFY(QString::fromUtf8(piece.bytes).toUtf8() == piece.bytes); // no character is cut
        QVERIFY(piece.id >= HeuristicTokenizer::kFirstTextId);
        joined += piece.bytes;
        ids.append(piece.id);
    }
    QCOMPARE(joined, text);
    QCOMPARE(HeuristicTokenizer::tokenize(text), ids);
    QCOMPARE(HeuristicTokenizer::count(text), int(ids.size()));
    TokenList appended{5};
    HeuristicTokenizer::append(text, &appended);
    QCOMPARE(appended.mid(1), ids);
    QCOMPARE(HeuristicTokenizer::tokenize(text), ids); // and the same every time
}

void tst_EmbeddedBackend::tokenizerIsAboutFourBytes()
{
    const QByteArray prose("The host prompt cache keeps prompts that a slot loses and brings one back when it matches "
                           "better: going back to a full "
                           "transcript after a summary reused nearly all of it. Saved prompts carry their checkpoints, "
                           "and prefill cost per token is "
                           "not constant: it grows with the position, because attention looks at everything that "
                           "stands before it in the window.");
    const double perToken = double(prose.size()) / HeuristicTokenizer::count(prose);
    QVERIFY2(perToken > 3.3 && perToken < 5.2, qPrintable(QString::number(perToken)));
}

void tst_EmbeddedBackend::tokenizerTakesAnyBytes()
{
    QRandomGenerator random(3);
    for (int run = 0; run < 300; ++run) {
        QByteArray bytes;
        for (int i = random.bounded(60); i > 0; --i)
            bytes.append(char(random.bounded(256)));
        QByteArray joined;
        const QList<TokenPiece> pieces = HeuristicTokenizer::pieces(bytes);
        for (const TokenPiece &piece : pieces)
            joined += piece.bytes;
        QCOMPARE(joined, bytes);
    }
}

void tst_EmbeddedBackend::spansAreContiguous()
{
    EmbeddedBackend backend;
    const ChatRequest request{conversation(5), {}, {}};
    const auto rendered = valueOf(backend.render(request));
    QVERIFY(rendered.has_value());
    QVERIFY(rendered->simulated);
    const PromptLayout &layout = rendered->layout;
    QVERIFY(!layout.exact);
    QCOMPARE(layout.messages.size(), request.messages.size());
    int at = 0;
    for (const MessageSpan &span : layout.messages) {
        QCOMPARE(span.tokens.begin, at);
        QVERIFY(span.tokens.size() > 0);
        QVERIFY(span.edgeLegal && span.found);
        at = span.tokens.end;
    }
    QCOMPARE(layout.tail, (TokenRange{at, layout.size()}));
    QVERIFY(layout.tail.size() > 0);
    QCOMPARE(bytesOf(layout, backend), BuiltinTemplate::renderText(request));
    // A message's tokens are those of its text.
    const MessageSpan span = layout.messages.at(3);
    QByteArray text;
    for (int i = span.tokens.begin; i < span.tokens.end; ++i)
        text += backend.pieceBytes(layout.tokens.at(i));
    QCOMPARE(text,
             "<|im_start|>user\n"
                 + request.messages.at(3).toObject().value(QLatin1String("content")).toString().toUtf8()
                 + "<|im_end|>\n");
    // The template's own head: everything before the first user message but the system message's text.
    QCOMPARE(layout.fixedTokens, layout.messages.first().tokens.end - HeuristicTokenizer::count("You are terse."));
    // No message at all: only the generation prompt.
    const auto empty = valueOf(backend.render({}));
    QVERIFY(empty->layout.messages.isEmpty());
    QCOMPARE(empty->layout.tail, (TokenRange{0, empty->layout.size()}));
}

void tst_EmbeddedBackend::contentsAreTrimmed()
{
    const QJsonObject parts{{QStringLiteral("role"), QStringLiteral("user")},
                            {QStringLiteral("content"),
                             QJsonArray{QJsonObject{{QStringLiteral("type"), QStringLiteral("text")},
                                                    {QStringLiteral("text"), QStringLiteral(" see ")}},
                                        QJsonObject{{QStringLiteral("type"), QStringLiteral("image_url")}}}}};
    const QJsonObject null{{QStringLiteral("role"), QStringLiteral("assistant")},
                           {QStringLiteral("content"), QJsonValue(QJsonValue::Null)}};
    QCOMPARE(BuiltinTemplate::renderText({{message("user", QStringLiteral("\n hello \n")), parts, null}, {}, {}}),
             QByteArray("<|im_start|>user\nhello<|im_end|>\n<|im_start|>user\nsee "
                        "[image_url]<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n<|im_start|>assistant\n"));
    // Text that spells a marker is not one.
    BuiltinTemplate chat;
    const PromptLayout layout = chat.render({{message("user", QStringLiteral("<|im_start|>"))}, {}, {}});
    QCOMPARE(layout.tokens.count(layout.tokens.first()), 2);
}

void tst_EmbeddedBackend::toolsStandInTheHead()
{
    const QJsonArray tools{
        QJsonObject{{QStringLiteral("type"), QStringLiteral("function")},
                    {QStringLiteral("function"), QJsonObject{{QStringLiteral("name"), QStringLiteral("read_file")}}}}};
    BuiltinTemplate chat;
    const ChatRequest with{conversation(1), tools, {}};
    QVERIFY(BuiltinTemplate::renderText(with).startsWith("<|im_start|>system\nYou are terse.\n\n# Tools"));
    const PromptLayout plain = chat.render({conversation(1), {}, {}});
    const PromptLayout layout = chat.render(with);
    QVERIFY(layout.fixedTokens > plain.fixedTokens + 10);
    QCOMPARE(layout.size() - plain.size(), layout.fixedTokens - plain.fixedTokens);
    // Without a system message they get one of the template's own, which belongs to the first message.
    QJsonArray noSystem = conversation(1);
    noSystem.removeFirst();
    const PromptLayout own = chat.render({noSystem, tools, {}});
    QCOMPARE(own.messages.first().tokens.begin, 0);
    QVERIFY(own.fixedTokens > 10);
    QVERIFY(own.fixedTokens < own.messages.first().tokens.end);
    QCOMPARE(chat.render({noSystem, {}, {}}).fixedTokens, 0);
}

void tst_EmbeddedBackend::toolCallsAreVerbatim()
{
    const QString arguments = QStringLiteral("{\"b\": 1,  \"a\":2}"); // order and blanks as given
    const QJsonObject call{
        {QStringLiteral("id"), QStringLiteral("c1")},
        {QStringLiteral("type"), QStringLiteral("function")},
        {QStringLiteral("function"),
         QJsonObject{{QStringLiteral("name"), QStringLiteral("f")}, {QStringLiteral("arguments"), arguments}}}};
    const QJsonObject assistant{{QStringLiteral("role"), QStringLiteral("assistant")},
                                {QStringLiteral("content"), QJsonValue(QJsonValue::Null)},
                                {QStringLiteral("tool_calls"), QJsonArray{call, call}}};
    const QByteArray text = BuiltinTemplate::messageText(assistant);
    QCOMPARE(text.count(arguments.toUtf8()), 2);
    QVERIFY(text.startsWith("<tool_call>\n{\"name\": \"f\""));
}

void tst_EmbeddedBackend::appendingKeepsThePrefix()
{
    BuiltinTemplate chat;
    QJsonArray messages = conversation(3);
    const PromptLayout before = chat.render({messages, {}, {}});
    messages.append(message("user", QStringLiteral("and now?")));
    const PromptLayout after = chat.render({messages, {}, {}});
    QVERIFY(commonPrefix(before.tokens, after.tokens) >= before.tail.begin);
    // An eviction in the middle changes nothing in front of it, and shifts what is behind.
    QJsonArray cut = messages;
    cut.removeAt(3);
    cut.removeAt(3);
    const PromptLayout evicted = chat.render({cut, {}, {}});
    QCOMPARE(evicted.tokens.first(evicted.messages.at(3).tokens.begin),
             after.tokens.first(after.messages.at(3).tokens.begin));
    QCOMPARE(evicted.tokens.mid(evicted.messages.at(3).tokens.begin),
             after.tokens.mid(after.messages.at(5).tokens.begin));
}

void tst_EmbeddedBackend::everythingIsMarkedSimulated()
{
    EmbeddedConfig config;
    config.requested = QStringLiteral("auto");
    config.notes = {QStringLiteral("http://127.0.0.1:8080 does not answer")};
    EmbeddedBackend backend(config);
    QSignalSpy changed(&backend, &Backend::infoChanged);
    QVERIFY(changed.isValid());
    backend.start();
    QCOMPARE(changed.count(), 1);
    const BackendInfo info = backend.info();
    QCOMPARE(info.kind, QStringLiteral("embedded"));
    QCOMPARE(info.name, QStringLiteral("embedded (simulated)"));
    QCOMPARE(info.requested, QStringLiteral("auto"));
    QVERIFY(info.simulated && info.probed && info.cost.simulated && info.cost.known());
    QVERIFY(!info.tokenizerExact && !backend.isExact());
    QVERIFY(info.url.isEmpty());
    QVERIFY(info.notes.contains(config.notes.first()));
    QVERIFY(info.notes.last().contains(QStringLiteral("simulated")));
    QVERIFY(info.unreachableReason.isEmpty());
    QCOMPARE(info.contextSize, 8192);
    Capabilities expected;
    expected.reachable = expected.slots = expected.slotSave = expected.slotRestore = expected.slotErase = true;
    expected.checkpointRing = expected.tokenize = expected.props = true;
    QCOMPARE(info.capabilities, expected);
    QCOMPARE(info.rule.memory, MemoryKind::Checkpointed);
    QVERIFY(info.rule.ringVisible);
    for (const Evidence &row : info.evidence)
        QCOMPARE(row.source, QStringLiteral("simulated"));
    QVERIFY(backend.slotsJson().value(QLatin1String("simulated")).toBool());
    QCOMPARE(backend.ringJson().value(QLatin1String("source")).toString(), QStringLiteral("simulated"));
    EmbeddedConfig dense;
    dense.server.memory = MemoryKind::FullAttention;
    dense.server.chunkReuse = 64;
    EmbeddedBackend full(dense);
    QVERIFY(full.info().capabilities.chunkReuse && !full.info().capabilities.checkpointRing);
    QCOMPARE(full.info().rule.chunkReuse, 64);
    EmbeddedConfig window;
    window.server.slidingWindow = 512;
    window.server.chunkReuse = 64; // a window's memory cannot be shifted: said as off
    QVERIFY(!EmbeddedBackend(window).info().capabilities.chunkReuse);
    QCOMPARE(EmbeddedBackend(window).info().rule.chunkReuse, 0);
    QVERIFY(EmbeddedBackend(window).info().identity != full.info().identity);
}

void tst_EmbeddedBackend::simulatedRequestIsBookedOnce()
{
    EmbeddedBackend backend;
    const TokenList prompt = valueOf(backend.render({conversation(10), {}, {}}))->layout.tokens;
    backend.notePrompt(QStringLiteral("s1"), prompt, -1);
    const auto measured = valueOf(backend.simulateRequest({prompt, -1}, 12));
    QVERIFY(measured.has_value());
    QCOMPARE(measured->cacheTokens + measured->promptTokens, int(prompt.size()));
    QCOMPARE(measured->promptMs, backend.info().cost.ms(measured->cacheTokens, int(prompt.size())));
    QCOMPARE(measured->generated, 12);
    QCOMPARE(backend.lastStates().states.first().owner, QStringLiteral("s1"));
    QCOMPARE(backend.lastStates().states.first().length, int(prompt.size()) + 11);
    const ServerStates before = backend.lastStates();
    MeasuredRequest told = *measured;
    told.sessionId = QStringLiteral("s1");
    const auto matched = valueOf(backend.noteTimings(told));
    QCOMPARE(matched->slotId, 0);
    QCOMPARE(matched->taskId, 0);
    QCOMPARE(matched->source, QStringLiteral("slots"));
    QCOMPARE(backend.lastStates().states, before.states); // nothing ran twice
    // A prompt that does not fit is refused, as a server does.
    const auto large = valueOf(backend.simulateRequest({TokenList(9000, 300), -1}, 1));
    QVERIFY(!large);
    QCOMPARE(large.error().code, Error::Code::TooLarge);
}

void tst_EmbeddedBackend::madeUpTimingsAreMarked()
{
    EmbeddedBackend backend;
    const PrefillCost cost = backend.info().cost;
    const TokenList prompt = valueOf(backend.render({conversation(10), {}, {}}))->layout.tokens;
    MeasuredRequest told;
    told.prompt = prompt;
    told.cacheTokens = 100;
    told.promptTokens = int(prompt.size()) - 100;
    told.promptMs = 1e6;
    told.generated = 31;
    told.sessionId = QStringLiteral("s1");
    const auto matched = valueOf(backend.noteTimings(told));
    QCOMPARE(matched->source, QStringLiteral("caller"));
    QVERIFY(matched->cause.contains(QStringLiteral("not measured on the simulated server")));
    const HeldState slot = backend.lastStates().states.first();
    QCOMPARE(slot.length, int(prompt.size()) + 30);
    QVERIFY(!slot.verified);
    QCOMPARE(slot.owner, QStringLiteral("s1"));
    QCOMPARE(backend.slotsJson()
                 .value(QLatin1String("slots"))
                 .toArray()
                 .first()
                 .toObject()
                 .value(QLatin1String("last_reuse"))
                 .toInt(),
             100);
    QCOMPARE(backend.info().cost, cost);
    // The next prompt meets it all the same.
    QJsonArray more = conversation(10);
    more.append(message("user", QStringLiteral("go on")));
    const TokenList next = valueOf(backend.render({more, {}, {}}))->layout.tokens;
    QVERIFY(predictReuse(backend.lastStates().states, {next, -1}, backend.info().rule).lcp > prompt.size() - 10);
    // Ids told later take the made up ones' place.
    backend.noteGenerated(prompt, TokenList(31, 777));
    QCOMPARE(backend.lastStates().states.first().tokens.mid(prompt.size()), TokenList(30, 777));
    // A prompt that was altered is not known: nothing is booked. A slot that is not there: the server's choice.
    const ServerStates before = backend.lastStates();
    QCOMPARE(valueOf(backend.noteTimings({{}, -1, 5, 5, 1, 1, {}}))->source, QStringLiteral("unknown"));
    QCOMPARE(backend.lastStates().states, before.states);
    QCOMPARE(valueOf(backend.noteTimings({TokenList(9000, 300), -1, 5, 8995, 1, 1, {}}))->source,
             QStringLiteral("unknown"));
    QCOMPARE(valueOf(backend.noteTimings({next, 9, 5, int(next.size()) - 5, 1, 1, {}}))->slotId, 0);
}

void tst_EmbeddedBackend::predictionsComeTrue_data()
{
    QTest::addColumn<SimulatorConfig>("config");
    SimulatorConfig config;
    QTest::newRow("recurrent") << config;
    config.slidingWindow = 256;
    QTest::newRow("window") << config;
    config = {};
    config.memory = MemoryKind::FullAttention;
    QTest::newRow("full attention") << config;
    config.chunkReuse = 64;
    QTest::newRow("chunks") << config;
    config.slots = 4;
    config.unifiedKv = true;
    QTest::newRow("four slots") << config;
}

// What predictReuse() says of the states that the backend shows is what the request then gets.
void tst_EmbeddedBackend::predictionsComeTrue()
{
    QFETCH(SimulatorConfig, config);
    EmbeddedConfig embedded;
    embedded.server = config;
    EmbeddedBackend backend(embedded);
    QRandomGenerator random(5);
    QJsonArray messages = conversation(1, 30);
    int reused = 0;
    for (int turn = 0; turn < 80; ++turn) {
        messages.append(message("user", words(random.bounded(5, 80), random.generate())));
        if (messages.size() > 40) {
            const int from = random.bounded(1, 20);
            for (int i = 0; i < 16; ++i)
                messages.removeAt(from);
        }
        const TokenList prompt = valueOf(backend.render({messages, {}, {}}))->layout.tokens;
        const auto states = valueOf(backend.states());
        QVERIFY(states.has_value() && states->readable);
        const ReuseRequest request{prompt, config.slots > 1 && turn % 5 == 0 ? random.bounded(config.slots) : -1};
        const ReusePrediction prediction = predictReuse(states->states, request, backend.info().rule);
        QVERIFY(prediction.claimable);
        QCOMPARE(prediction.low, prediction.high);
        const auto measured = valueOf(backend.simulateRequest(request, random.bounded(30)));
        QVERIFY(measured.has_value());
        QCOMPARE(measured->cacheTokens, prediction.predicted);
        reused += measured->cacheTokens;
        messages.append(message("assistant", words(random.bounded(5, 30), random.generate())));
    }
    QVERIFY(reused > 10000);
}

void tst_EmbeddedBackend::savesRestoresErases()
{
    EmbeddedBackend backend;
    const TokenList prompt = valueOf(backend.render({conversation(10), {}, {}}))->layout.tokens;
    valueOf(backend.simulateRequest({prompt, -1}, 1));
    const QString name = QStringLiteral("kerf-1.bin");
    QCOMPARE(backend.saveFileExists(name), std::optional(false));
    QCOMPARE(*valueOf(backend.saveSlot(0, name)), int(prompt.size()));
    QCOMPARE(backend.saveFileExists(name), std::optional(true));
    QCOMPARE(*valueOf(backend.eraseSlot(0)), int(prompt.size()));
    QCOMPARE(backend.lastStates().states.first().length, 0);
    QCOMPARE(*valueOf(backend.restoreSlot(0, name)), int(prompt.size()));
    QCOMPARE(backend.lastStates().states.first().length, int(prompt.size()));
    QCOMPARE(valueOf(backend.restoreSlot(0, QStringLiteral("other"))).error().code, Error::Code::NotFound);
    QCOMPARE(valueOf(backend.saveSlot(4, name)).error().code, Error::Code::NotFound);
    QCOMPARE(backend.freeSaveBytes(), std::nullopt);
}

void tst_EmbeddedBackend::events()
{
    EmbeddedBackend backend;
    QSignalSpy happened(&backend, &Backend::happened);
    QSignalSpy states(&backend, &Backend::statesChanged);
    QVERIFY(happened.isValid() && states.isValid());
    const TokenList prompt = valueOf(backend.render({conversation(20), {}, {}}))->layout.tokens;
    valueOf(backend.simulateRequest({prompt, -1}, 1));
    valueOf(backend.simulateRequest({prompt.first(prompt.size() - 100) + TokenList(40, 300), -1}, 1));
    QStringList kinds;
    for (const QList<QVariant> &call : std::as_const(happened)) {
        kinds.append(call.first().toString());
        const QJsonObject details = call.at(1).toJsonObject();
        QVERIFY(details.value(QLatin1String("simulated")).toBool());
        QVERIFY(details.contains(QLatin1String("slot_id")) && details.contains(QLatin1String("task_id")));
    }
    for (const char *kind :
         {"task-started", "checkpoint-created", "task-finished", "checkpoint-restored", "checkpoint-erased"})
        QVERIFY2(kinds.contains(QString::fromLatin1(kind)), kind);
    QTRY_COMPARE(states.count(), 1); // both requests in one turn of the loop
}

void tst_EmbeddedBackend::wireForms()
{
    EmbeddedConfig config;
    config.server.slots = 2;
    EmbeddedBackend backend(config);
    QJsonObject json = backend.slotsJson();
    QCOMPARE(json.value(QLatin1String("slots")).toArray().size(), 2);
    QJsonObject row = json.value(QLatin1String("slots")).toArray().at(1).toObject();
    QCOMPARE(row.value(QLatin1String("tokens")).toInt(), 0);
    QVERIFY(row.value(QLatin1String("last_reuse")).isNull()); // never, which is not 0
    QVERIFY(!row.value(QLatin1String("has_run")).toBool());
    const TokenList prompt = valueOf(backend.render({conversation(20), {}, {}}))->layout.tokens;
    valueOf(backend.simulateRequest({prompt, 1}, 1));
    valueOf(backend.simulateRequest({TokenList(300, 300), 1}, 1));
    json = backend.slotsJson();
    row = json.value(QLatin1String("slots")).toArray().at(1).toObject();
    QCOMPARE(row.value(QLatin1String("tokens")).toInt(), 300);
    QCOMPARE(row.value(QLatin1String("last_reuse")).toInt(-1), 0);
    const QJsonObject cache = json.value(QLatin1String("host_cache")).toObject();
    QCOMPARE(cache.value(QLatin1String("entries")).toArray().size(), 1);
    QCOMPARE(cache.value(QLatin1String("entries")).toArray().first().toObject().value(QLatin1String("tokens")).toInt(),
             int(prompt.size()));
    QVERIFY(cache.value(QLatin1String("bytes")).toInteger() > 0);
    const QJsonObject ring = backend.ringJson();
    QVERIFY(ring.value(QLatin1String("visible")).toBool());
    const QJsonArray entries = ring.value(QLatin1String("entries")).toArray();
    QVERIFY(!entries.isEmpty());
    QCOMPARE(entries.first().toObject().value(QLatin1String("kind")).toString(), QStringLiteral("internal_checkpoint"));
    QCOMPARE(entries.first().toObject().value(QLatin1String("slot_id")).toInt(), 1);
    QCOMPARE(entries.last().toObject().value(QLatin1String("position")).toInt(), 296);
}

void tst_EmbeddedBackend::noneKnowsNothing()
{
    NullBackend backend;
    backend.start();
    const BackendInfo info = backend.info();
    QCOMPARE(info.kind, QStringLiteral("none"));
    QCOMPARE(info.name, QStringLiteral("none"));
    QCOMPARE(info.capabilities, Capabilities());
    QVERIFY(info.probed && !info.simulated && !info.slotsReadable && !info.cost.known());
    QCOMPARE(info.rule.memory, MemoryKind::Unknown);
    QCOMPARE(info.unreachableReason, QStringLiteral("coherence is off (backend none)"));
    const auto states = valueOf(backend.states());
    QVERIFY(states.has_value() && !states->readable && states->states.isEmpty());
    QCOMPARE(states->reason, QStringLiteral("coherence is off (backend none)"));
    const auto rendered = valueOf(backend.render({conversation(2), {}, {}}));
    QVERIFY(rendered.has_value() && !rendered->layout.exact && !rendered->simulated);
    QVERIFY(rendered->layout.size() > 100);
    QCOMPARE(*valueOf(backend.countTokens(QStringLiteral("hello there"))),
             int(valueOf(backend.tokenize(QStringLiteral("hello there")))->size()));
    for (const auto &result : {valueOf(backend.saveSlot(0, QStringLiteral("f"))),
                               valueOf(backend.restoreSlot(0, QStringLiteral("f"))), valueOf(backend.eraseSlot(0))}) {
        QVERIFY(!result);
        QVERIFY(result.error().message.contains(QStringLiteral("backend none")));
    }
    QVERIFY(!valueOf(backend.simulateRequest({{1, 2, 3}, -1}, 1)));
    QCOMPARE(backend.saveFileExists(QStringLiteral("f")), std::nullopt);
    QVERIFY(!backend.slotsJson().value(QLatin1String("readable")).toBool(true));
    QVERIFY(!backend.ringJson().value(QLatin1String("visible")).toBool(true));
    QCOMPARE(valueOf(backend.noteTimings({{1, 2}, 3, 1, 1, 1, 1, {}}))->source, QStringLiteral("caller"));
}

void tst_EmbeddedBackend::longSessionsAreFast()
{
    QJsonArray messages;
    for (int i = 0; i < 100'000; ++i)
        messages.append(message(
            i % 2 ? "assistant" : "user",
            QStringLiteral("episode %1 says something of middling length, and then a little more of it").arg(i)));
    BuiltinTemplate chat;
    QElapsedTimer timer;
    timer.start();
    const PromptLayout first = chat.render({messages, {}, {}});
    const qint64 cold = timer.restart();
    QCOMPARE(first.messages.size(), messages.size());
    QJsonArray cut;
    for (int i = 0; i < messages.size(); ++i) {
        if (i < 20'000 || i >= 60'000)
            cut.append(messages.at(i));
    }
    timer.restart();
    const PromptLayout second = chat.render({cut, {}, {}});
    const qint64 warm = timer.elapsed();
    QCOMPARE(second.messages.size(), cut.size());
    QVERIFY(commonPrefix(first.tokens, second.tokens) >= first.messages.at(20'000).tokens.begin);
    qInfo() << "100,000 messages," << first.size() << "tokens:" << cold << "ms; again after an eviction:" << warm
            << "ms";
    QVERIFY2(cold < 10'000 && warm < 5000, "far too slow, even for a debug build");
}

QTEST_GUILESS_MAIN(tst_EmbeddedBackend)
#include "tst_embeddedbackend.moc"
