// kerf-test: link=kerf_llama
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// Against a real llama-server where KERF_LLAMA_SERVER names its binary and KERF_MODELS a folder with llama.gguf,
// gemma3.gguf, lfm2.gguf and mamba.gguf; what needs none runs always.

#include "core/llama/llamabackend.h"
#include "core/llama/resolve.h"
#include "tests/unit/llama_httpstub.h"

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

using namespace kerf;

namespace {

QString serverBinary() { return qEnvironmentVariable("KERF_LLAMA_SERVER"); }
QString modelPath(const QString &name)
{
    return qEnvironmentVariable("KERF_MODELS") + QLatin1Char('/') + name + QStringLiteral(".gguf");
}
bool haveServer()
{
    return QFileInfo(serverBinary()).isExecutable() && QFileInfo::exists(modelPath(QStringLiteral("llama")));
}

QString str(const char *text) { return QString::fromUtf8(text); }

QJsonObject message(const QString &role, const QString &content)
{
    return {{str("role"), role}, {str("content"), content}};
}

QString words(int count, int seed)
{
    QStringList list;
    for (int i = 0; i < count; ++i)
        list.append(QStringLiteral("w%1").arg((seed * 7919 + i * 104729) % 997));
    return list.join(QLatin1Char(' '));
}

/// A llama-server of our own; ends with the object.
class RealServer
{
public:
    RealServer(const QString &model, QStringList flags, quint16 port = freePort())
        : m_port(port)
    {
        logFile = m_dir.filePath(str("server.log"));
        savePath = m_dir.path() + QLatin1Char('/');
        m_arguments = QStringList{str("-m"), modelPath(model), str("--port"),     QString::number(m_port),
                                  str("-c"), str("4096"),      str("--log-file"), logFile,
                                  str("-t"), str("1")}
            + flags;
        start();
    }
    ~RealServer() { stop(); }

    void start()
    {
        m_process.setStandardOutputFile(QProcess::nullDevice());
        m_process.setStandardErrorFile(QProcess::nullDevice());
        m_process.start(serverBinary(), m_arguments);
        HttpClient client(url(), {});
        const QString route = str("/health");
        QElapsedTimer clock;
        clock.start();
        while (clock.elapsed() < 60'000 && m_process.state() != QProcess::NotRunning) {
            if (valueOf(client.get(route, 2'000)).ok())
                return;
            QTest::qWait(100);
        }
        qFatal("llama-server did not start");
    }
    void stop()
    {
        m_process.kill();
        m_process.waitForFinished(10'000);
    }
    QUrl url() const { return QUrl(QStringLiteral("http://127.0.0.1:%1").arg(m_port)); }

    QString logFile;
    QString savePath;

private:
    QTemporaryDir m_dir;
    quint16 m_port;
    QStringList m_arguments;
    QProcess m_process;
};

BackendOptions optionsFor(const QUrl &url, const QString &logFile = {})
{
    BackendOptions options;
    options.spec = url.toString();
    options.logFile = logFile;
    options.probeTimeoutMs = 10'000; // the machine that runs the tests may be busy
    options.stateTimeoutMs = 30'000;
    return options;
}

/// Waits for a task without a value.
void await(QCoro::Task<void> task)
{
    const auto done = std::make_shared<bool>(false);
    task.then([done] { *done = true; });
    if (!QTest::qWaitFor([done] { return *done; }, 120'000))
        qFatal("the task did not end");
}

std::unique_ptr<LlamaBackend> connected(const QUrl &url, const BackendOptions &options)
{
    auto backend = std::make_unique<LlamaBackend>(url, options);
    backend->start();
    await(backend->ready());
    return backend;
}

/// What a harness sees of one chat request.
struct Chat {
    MeasuredRequest measured;
    QString reply;
    bool ok = false;
};

Chat chat(const QUrl &url, const ChatRequest &request, int maxTokens, int slotId = -1)
{
    HttpClient client(url, {});
    QJsonObject body{
        {str("messages"), request.messages}, {str("max_tokens"), maxTokens}, {str("temperature"), 0}, {str("seed"), 1}};
    if (!request.tools.isEmpty())
        body.insert(str("tools"), request.tools);
    if (slotId >= 0)
        body.insert(str("id_slot"), slotId);
    const QString route = str("/v1/chat/completions");
    const HttpReply answer = valueOf(client.post(route, body, 120'000), 130'000);
    Chat result;
    result.ok = answer.ok();
    if (!answer.ok()) {
        qWarning() << answer.status << answer.message();
        return result;
    }
    const QJsonObject timings = answer.object().value(str("timings")).toObject();
    result.measured.cacheTokens = timings.value(str("cache_n")).toInt();
    result.measured.promptTokens = timings.value(str("prompt_n")).toInt();
    result.measured.promptMs = timings.value(str("prompt_ms")).toDouble();
    result.measured.generated = timings.value(str("predicted_n")).toInt();
    result.measured.sessionId = str("s");
    result.measured.slotId = slotId;
    result.reply = answer.object()
                       .value(str("choices"))
                       .toArray()
                       .at(0)
                       .toObject()
                       .value(str("message"))
                       .toObject()
                       .value(str("content"))
                       .toString();
    return result;
}

/// One turn as the engine drives it: states, render, predict, send, settle.
struct Turn {
    ReusePrediction prediction;
    Chat chat;
    MatchedRequest matched;
};

Turn turn(LlamaBackend &backend, const QUrl &url, const ChatRequest &request, int maxTokens = 4)
{
    Turn result;
    const Result<RenderedPrompt> rendered = valueOf(backend.render(request));
    if (!rendered)
        qFatal("%s", qPrintable(rendered.error().message));
    const Result<ServerStates> states = valueOf(backend.states());
    if (!states)
        qFatal("%s", qPrintable(states.error().message));
    result.prediction = predictReuse(states->states, {rendered->layout.tokens, -1}, backend.info().rule);
    backend.notePrompt(str("s"), rendered->layout.tokens, -1);
    result.chat = chat(url, request, maxTokens);
    result.chat.measured.prompt = rendered->layout.tokens;
    const Result<MatchedRequest> matched = valueOf(backend.noteTimings(result.chat.measured));
    if (matched)
        result.matched = *matched;
    return result;
}

const ProbeStep &stepOf(const BackendInfo &info, const char *name)
{
    static const ProbeStep none;
    for (const ProbeStep &step : info.probe) {
        if (step.name == QLatin1String(name))
            return step;
    }
    return none;
}

bool advises(const BackendInfo &info, const char *flag)
{
    return info.advice.join(QLatin1Char('\n')).contains(QLatin1String(flag));
}

#define NEEDS_SERVER() \
    if (!haveServer()) \
    QSKIP("NOT RUN: set KERF_LLAMA_SERVER (the binary) and KERF_MODELS (a folder with llama.gguf, gemma3.gguf, " \
          "lfm2.gguf, mamba.gguf)")

} // namespace

class TestLlamaBackend : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void anAddressWhereNobodyListensIsUnreachable()
    {
        const QUrl url(QStringLiteral("http://127.0.0.1:%1").arg(freePort()));
        const auto backend = connected(url, optionsFor(url));
        const BackendInfo info = backend->info();
        QVERIFY(info.probed);
        QVERIFY(!info.capabilities.reachable);
        QVERIFY(!info.simulated);
        QVERIFY2(info.unreachableReason.contains(str("connection refused")), qPrintable(info.unreachableReason));
        QVERIFY(advises(info, "--backend"));
        const Result<ServerStates> states = valueOf(backend->states());
        QVERIFY(!states);
        QCOMPARE(states.error().code, Error::Code::Unreachable);
        QVERIFY(!backend->lastStates().readable);
        ChatRequest request;
        request.messages = {message(str("user"), str("x"))};
        const Result<RenderedPrompt> rendered = valueOf(backend->render(request));
        QCOMPARE(rendered.error().code, Error::Code::Unreachable);
    }

    void aServerThatAppearsIsFound()
    {
        HttpStub stub;
        stub.on("GET /health", {503, R"({"error":{"code":503,"message":"Loading model"}})"});
        const auto backend = connected(stub.url(), optionsFor(stub.url()));
        QVERIFY(!backend->info().capabilities.reachable);
        QVERIFY(backend->info().unreachableReason.contains(str("loading")));
        QSignalSpy up(backend.get(), &Backend::happened);
        QVERIFY(up.isValid());
        stub.on("GET /health", {200, R"({"status":"ok"})"});
        stub.on(
            "GET /props",
            {200,
             R"({"default_generation_settings":{"n_ctx":4096},"total_slots":1,"model_path":"m","build_info":"b1"})"});
        QTRY_VERIFY_WITH_TIMEOUT(backend->info().capabilities.reachable, 10'000);
        QCOMPARE(up.constFirst().at(0).toString(), str("server-up"));
        QCOMPARE(backend->info().epoch, 0); // it was never lost
    }

    void aSlowAnswerIsNoLoss()
    {
        HttpStub stub;
        stub.on("GET /health", {200, R"({"status":"ok"})"});
        stub.on(
            "GET /props",
            {200,
             R"({"default_generation_settings":{"n_ctx":4096},"total_slots":1,"model_path":"m","build_info":"b1"})"});
        stub.on("GET /slots",
                {200, R"([{"id":0,"n_ctx":4096,"is_processing":false,"id_task":3,"n_prompt_tokens":9}])"});
        BackendOptions options = optionsFor(stub.url());
        options.stateTimeoutMs = 200;
        const auto backend = connected(stub.url(), options);
        const int epoch = backend->info().epoch;
        HttpStub::Answer silent;
        silent.silent = true;
        stub.on("GET /slots", silent);
        const Result<ServerStates> busy = valueOf(backend->states());
        QVERIFY(busy);
        QVERIFY(!busy->readable); // not what it was before, and not nothing
        QVERIFY2(busy->reason.contains(str("no answer within 200 ms")), qPrintable(busy->reason));
        QVERIFY(backend->info().capabilities.reachable);
        stub.on("GET /slots",
                {200, R"([{"id":0,"n_ctx":4096,"is_processing":false,"id_task":3,"n_prompt_tokens":9}])"});
        QVERIFY(valueOf(backend->states())->readable);
        QCOMPARE(backend->info().epoch, epoch);
        // Task numbers that fall are another life.
        stub.on("GET /slots",
                {200, R"([{"id":0,"n_ctx":4096,"is_processing":false,"id_task":1,"n_prompt_tokens":9}])"});
        QVERIFY(valueOf(backend->states()));
        QTRY_VERIFY(backend->info().epoch > epoch);
    }

    void anOwnerThatGoesAwayEndsNothingBadly()
    {
        HttpStub stub;
        HttpStub::Answer silent;
        silent.silent = true;
        stub.on("GET /health", silent);
        auto backend = std::make_unique<LlamaBackend>(stub.url(), optionsFor(stub.url()));
        backend->start();
        bool ready = false;
        backend->ready().then([&ready] { ready = true; });
        QTRY_COMPARE(stub.requests.size(), 1);
        backend.reset();
        QTRY_VERIFY(ready);
    }

    void fileNamesAndSlotsAreCheckedBeforeTheyAreSent()
    {
        HttpStub stub;
        stub.on("GET /health", {200, R"({"status":"ok"})"});
        stub.on(
            "GET /props",
            {200,
             R"({"default_generation_settings":{"n_ctx":4096},"total_slots":1,"model_path":"m","build_info":"b1"})"});
        const auto backend = connected(stub.url(), optionsFor(stub.url()));
        const qsizetype sent = stub.requests.size();
        for (const QString &name : {str(""), str("a/b"), str(".."), str("a\\b")})
            QCOMPARE(valueOf(backend->saveSlot(0, name)).error().code, Error::Code::InvalidParams);
        // Build 11669 clears a slot of its own choice for an id that it does not know.
        QCOMPARE(valueOf(backend->eraseSlot(7)).error().code, Error::Code::InvalidParams);
        QCOMPARE(valueOf(backend->eraseSlot(-1)).error().code, Error::Code::InvalidParams);
        QCOMPARE(stub.requests.size(), sent);
    }

    void resolve()
    {
        BackendOptions options;
        for (const char *bad : {"nonsense", "ftp://x", "http://", ""}) {
            options.spec = str(bad);
            const auto resolved = resolveBackend(options);
            QVERIFY2(!resolved, bad);
            QCOMPARE(resolved.error().code, Error::Code::InvalidParams);
        }
        options.spec = str("none");
        QCOMPARE((*resolveBackend(options))->info().kind, str("none"));
        options.spec = str("embedded");
        auto embedded = std::move(*resolveBackend(options));
        QCOMPARE(embedded->info().kind, str("embedded"));
        QVERIFY(embedded->info().simulated);
        options.spec = str("http://127.0.0.1:1/");
        QCOMPARE((*resolveBackend(options))->info().kind, str("llama-server"));
    }

    void autoChangesOverAndNeverBack()
    {
        HttpStub stub;
        stub.on("GET /health", {200, "<html>a web server of another kind</html>"});
        BackendOptions options;
        options.defaultUrl = stub.url();
        auto backend = std::move(*resolveBackend(options));
        backend->start();
        await(backend->ready());
        QCOMPARE(backend->info().kind, str("embedded"));
        QCOMPARE(backend->info().requested, str("auto"));
        QVERIFY(backend->info().simulated);
        QVERIFY(!backend->info().notes.isEmpty());
        stub.on("GET /health", {200, R"({"status":"ok"})"});
        stub.on(
            "GET /props",
            {200,
             R"({"default_generation_settings":{"n_ctx":4096},"total_slots":1,"model_path":"m","build_info":"b1"})"});
        QTRY_COMPARE_WITH_TIMEOUT(backend->info().kind, str("llama-server"), 10'000);
        QVERIFY(!backend->info().simulated);
        stub.on("GET /health", {404, {}});
        stub.on("GET /props", {404, {}});
        await(backend->probeAgain());
        QCOMPARE(backend->info().kind, str("llama-server"));
        QVERIFY(!backend->info().capabilities.reachable);
    }

    // From here on: a real server.

    void memoryIsToldRight_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QStringList>("flags");
        QTest::addColumn<bool>("log");
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QString>("source");
        QTest::addColumn<bool>("ring");
        QTest::addColumn<int>("chunk");
        const QStringList four{str("-np"),  str("1"),   str("-lv"),    str("4"),
                               str("-cms"), str("128"), str("-ctxcp"), str("8")};
        QTest::newRow("llama, log") << str("llama") << four << true << str("full_attention") << str("log") << false
                                    << 0;
        QTest::newRow("llama, no log") << str("llama") << four << false << str("full_attention") << str("gguf") << false
                                       << 0;
        QTest::newRow("llama, chunks") << str("llama")
                                       << QStringList{str("-np"), str("1"), str("--cache-reuse"), str("64")} << false
                                       << str("full_attention") << str("gguf") << false << 64;
        QTest::newRow("gemma3, log") << str("gemma3") << four << true << str("checkpointed") << str("log") << true << 0;
        QTest::newRow("gemma3, no log") << str("gemma3") << four << false << str("checkpointed") << str("gguf") << false
                                        << 0;
        QTest::newRow("gemma3, --swa-full") << str("gemma3") << (four + QStringList{str("--swa-full")}) << false
                                            << str("full_attention") << str("flags") << false << 0;
        QTest::newRow("gemma3, a log without the ring") << str("gemma3") << QStringList{str("-np"), str("1")} << true
                                                        << str("checkpointed") << str("gguf") << false << 0;
        QTest::newRow("lfm2, log") << str("lfm2") << four << true << str("checkpointed") << str("log") << true << 0;
        QTest::newRow("mamba, log") << str("mamba") << four << true << str("checkpointed") << str("log") << true << 0;
        QTest::newRow("mamba, no checkpoints")
            << str("mamba") << QStringList{str("-np"), str("1"), str("-ctxcp"), str("0")} << false
            << str("checkpointed") << str("gguf") << true << 0;
    }
    void memoryIsToldRight()
    {
        NEEDS_SERVER();
        QFETCH(QString, model);
        QFETCH(QStringList, flags);
        QFETCH(bool, log);
        RealServer server(model, flags);
        const auto backend = connected(server.url(), optionsFor(server.url(), log ? server.logFile : QString()));
        QFETCH(QString, source);
        QTRY_COMPARE_WITH_TIMEOUT(backend->info().memoryEvidence, source, 5'000);
        const BackendInfo info = backend->info();
        QVERIFY2(info.capabilities.reachable, qPrintable(info.unreachableReason));
        QTEST(memoryKindName(info.rule.memory), "kind");
        QTEST(info.rule.ringVisible, "ring");
        QTEST(info.rule.chunkReuse, "chunk");
        QVERIFY(info.rule.chunkReuseKnown); // from the command line
        QCOMPARE(info.contextSize, 4096);
        QCOMPARE(info.slotCount, 1);
        QVERIFY(info.tokenizerExact);
        QVERIFY(info.capabilities.slots && info.capabilities.props && info.capabilities.applyTemplate);
        QVERIFY(!info.capabilities.slotSave);
        QVERIFY2(stepOf(info, "slot_save").message.contains(str("--slot-save-path")),
                 qPrintable(stepOf(info, "slot_save").message));
        QVERIFY(advises(info, "--slot-save-path"));
        QVERIFY(advises(info, "--metrics"));
        if (info.rule.memory == MemoryKind::Checkpointed && !info.rule.ringVisible)
            QVERIFY2(advises(info, "-lv 4"), qPrintable(info.advice.join(QLatin1Char('\n'))));
        // What every HTTP answer of it can show: no ring, and it says so.
        QVERIFY(!info.capabilities.checkpointRing);
    }

    void aConversationIsPredictedAndSettled_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QStringList>("flags");
        QTest::newRow("llama") << str("llama") << QStringList();
        QTest::newRow("llama with chunks") << str("llama") << QStringList{str("--cache-reuse"), str("64")};
        QTest::newRow("gemma3") << str("gemma3") << QStringList();
        QTest::newRow("lfm2") << str("lfm2") << QStringList();
        QTest::newRow("mamba") << str("mamba") << QStringList();
    }
    void aConversationIsPredictedAndSettled()
    {
        NEEDS_SERVER();
        QFETCH(QString, model);
        QFETCH(QStringList, flags);
        RealServer server(model,
                          QStringList{str("-np"), str("1"), str("-lv"), str("4"), str("-cms"), str("64")} + flags);
        const auto backend = connected(server.url(), optionsFor(server.url(), server.logFile));
        ChatRequest request;
        request.messages = {message(str("system"), str("You are terse."))};
        int previous = 0;
        for (int i = 0; i < 6; ++i) {
            if (i == 4) { // evict the middle: turns 2 and 3
                QJsonArray kept;
                for (qsizetype k = 0; k < request.messages.size(); ++k) {
                    if (k < 3 || k >= 7)
                        kept.append(request.messages.at(k));
                }
                request.messages = kept;
            }
            request.messages.append(message(str("user"), words(60, i + 1)));
            const Turn done = turn(*backend, server.url(), request);
            QVERIFY(done.chat.ok);
            const MeasuredRequest &measured = done.chat.measured;
            // The server saw the very prompt that was rendered.
            QCOMPARE(measured.cacheTokens + measured.promptTokens, static_cast<int>(measured.prompt.size()));
            const QByteArray said = QStringLiteral("turn %1: reused %2, predicted %3 (%4 to %5): %6")
                                        .arg(i)
                                        .arg(measured.cacheTokens)
                                        .arg(done.prediction.predicted)
                                        .arg(done.prediction.low)
                                        .arg(done.prediction.high)
                                        .arg(done.prediction.reason)
                                        .toUtf8();
            QVERIFY2(measured.cacheTokens >= done.prediction.low - 8
                         && measured.cacheTokens <= done.prediction.high + 8,
                     said.constData());
            if (i > 0)
                QVERIFY2(done.prediction.claimable, said.constData());
            QCOMPARE(done.matched.slotId, 0);
            QVERIFY(done.matched.taskId >= 0);
            QCOMPARE(done.matched.source, str("log"));
            // It is booked: the ids are known, and how many tokens the slot holds.
            const QList<HeldState> states = backend->lastStates().states;
            QVERIFY(!states.isEmpty());
            QCOMPARE(states.constFirst().tokens.first(measured.prompt.size()), measured.prompt);
            QCOMPARE(states.constFirst().length, static_cast<int>(measured.prompt.size()) + measured.generated - 1);
            QVERIFY(states.constFirst().verified);
            QCOMPARE(states.constFirst().owner, str("s"));
            if (backend->info().rule.memory == MemoryKind::Checkpointed) {
                QVERIFY(states.constFirst().checkpointsKnown);
                QVERIFY(!states.constFirst().checkpoints.isEmpty());
                QVERIFY(backend->ringJson().value(str("visible")).toBool());
                QCOMPARE(backend->ringJson().value(str("entries")).toArray().size(),
                         states.constFirst().checkpoints.size());
            }
            request.messages.append(
                message(str("assistant"), done.chat.reply.trimmed().isEmpty() ? str("ok") : done.chat.reply));
            previous = measured.cacheTokens + measured.promptTokens;
        }
        QVERIFY(previous > 400);
        QVERIFY(backend->info().cost.known());
        QCOMPARE(backend->slotsJson().value(str("source")).toString(), str("log"));
        QVERIFY(
            backend->slotsJson().value(str("slots")).toArray().at(0).toObject().value(str("last_reuse")).isDouble());
    }

    void withoutALogACheckpointedServerIsNotClaimed()
    {
        NEEDS_SERVER();
        RealServer server(str("gemma3"), {str("-np"), str("1")});
        const auto backend = connected(server.url(), optionsFor(server.url()));
        ChatRequest request;
        request.messages = {message(str("user"), words(150, 1))};
        turn(*backend, server.url(), request);
        request.messages.append(message(str("assistant"), str("ok")));
        request.messages.append(message(str("user"), words(20, 2)));
        const Turn second = turn(*backend, server.url(), request);
        QVERIFY2(!second.prediction.claimable, qPrintable(second.prediction.reason));
        QVERIFY(second.chat.measured.cacheTokens >= second.prediction.low
                && second.chat.measured.cacheTokens <= second.prediction.high);
        QCOMPARE(second.matched.source, str("slots"));
        QCOMPARE(second.matched.slotId, 0);
        const QList<HeldState> states = backend->lastStates().states;
        QCOMPARE(states.constFirst().tokens.first(second.chat.measured.prompt.size()), second.chat.measured.prompt);
        QVERIFY(advises(backend->info(), "--server-log"));
    }

    void anotherClientIsNoticed_data()
    {
        QTest::addColumn<bool>("log");
        QTest::newRow("log") << true;
        QTest::newRow("no log") << false;
    }
    void anotherClientIsNoticed()
    {
        NEEDS_SERVER();
        QFETCH(bool, log);
        RealServer server(str("llama"), {str("-np"), str("1"), str("-lv"), str("4")});
        const auto backend = connected(server.url(), optionsFor(server.url(), log ? server.logFile : QString()));
        ChatRequest mine;
        mine.messages = {message(str("user"), words(100, 1))};
        turn(*backend, server.url(), mine);
        ChatRequest theirs;
        theirs.messages = {message(str("user"), words(50, 77))};
        QVERIFY(chat(server.url(), theirs, 2).ok);
        const Result<ServerStates> states = valueOf(backend->states());
        QVERIFY(states);
        const HeldState slot = states->states.constFirst();
        QVERIFY(slot.tokens.isEmpty()); // known by its length alone
        QVERIFY(slot.length > 30);
        QVERIFY(slot.owner.isEmpty());
        // Ours went to the host cache.
        QCOMPARE(states->states.size(), 2);
        QCOMPARE(states->states.at(1).place, HeldState::Place::HostCache);
        QVERIFY(!states->states.at(1).tokens.isEmpty());
        mine.messages.append(message(str("assistant"), str("ok")));
        mine.messages.append(message(str("user"), str("more")));
        const Turn back = turn(*backend, server.url(), mine);
        QVERIFY2(back.chat.measured.cacheTokens > 100, "the host cache brought it back");
        if (log)
            QVERIFY2(std::abs(back.chat.measured.cacheTokens - back.prediction.predicted) <= 8,
                     qPrintable(back.prediction.reason));
    }

    void slotsThatAreOffAndAKeyThatIsMissing()
    {
        NEEDS_SERVER();
        {
            RealServer server(str("llama"), {str("-np"), str("1"), str("--no-slots"), str("-lv"), str("4")});
            const auto blind = connected(server.url(), optionsFor(server.url()));
            QVERIFY(blind->info().capabilities.reachable);
            QVERIFY(!blind->info().capabilities.slots);
            QVERIFY(!blind->info().slotsReadable);
            QVERIFY2(blind->info().slotsUnreadableReason.contains(str("--slots")),
                     qPrintable(blind->info().slotsUnreadableReason));
            QVERIFY(!valueOf(blind->states())->readable);
            // Its log shows them all the same.
            const auto reading = connected(server.url(), optionsFor(server.url(), server.logFile));
            ChatRequest request;
            request.messages = {message(str("user"), words(60, 1))};
            const Turn done = turn(*reading, server.url(), request);
            QVERIFY(done.chat.ok);
            const Result<ServerStates> states = valueOf(reading->states());
            QVERIFY(states->readable);
            QCOMPARE(states->states.constFirst().tokens.first(done.chat.measured.prompt.size()),
                     done.chat.measured.prompt);
        }
        RealServer server(str("llama"), {str("-np"), str("1"), str("--api-key"), str("s3cret")});
        const auto without = connected(server.url(), optionsFor(server.url()));
        QVERIFY(!without->info().capabilities.reachable);
        QVERIFY2(without->info().unreachableReason.contains(str("needs an API key")),
                 qPrintable(without->info().unreachableReason));
        QVERIFY(advises(without->info(), "KERF_API_KEY"));
        BackendOptions options = optionsFor(server.url());
        options.apiKey = str("s3cret");
        const auto with = connected(server.url(), options);
        QVERIFY(with->info().capabilities.reachable);
        QVERIFY(!QString::fromUtf8(QJsonDocument(with->slotsJson()).toJson()).contains(str("s3cret")));
    }

    void aServerThatIsKilledAndRestarted_data()
    {
        QTest::addColumn<bool>("log");
        QTest::newRow("log") << true;
        QTest::newRow("no log") << false;
    }
    void aServerThatIsKilledAndRestarted()
    {
        NEEDS_SERVER();
        QFETCH(bool, log);
        RealServer server(str("mamba"), {str("-np"), str("1"), str("-lv"), str("4")});
        const auto backend = connected(server.url(), optionsFor(server.url(), log ? server.logFile : QString()));
        ChatRequest request;
        request.messages = {message(str("user"), words(80, 1))};
        turn(*backend, server.url(), request);
        QVERIFY(!backend->lastStates().states.constFirst().tokens.isEmpty());
        const int epoch = backend->info().epoch;
        QSignalSpy happened(backend.get(), &Backend::happened);

        server.stop();
        const Result<ServerStates> gone = valueOf(backend->states());
        QVERIFY(!gone);
        QCOMPARE(gone.error().code, Error::Code::Unreachable);
        QVERIFY(!backend->info().capabilities.reachable);
        server.start();
        QTRY_VERIFY_WITH_TIMEOUT(backend->info().capabilities.reachable, 40'000);
        QTRY_VERIFY_WITH_TIMEOUT(backend->info().epoch > epoch, 5'000);
        const Result<ServerStates> back = valueOf(backend->states());
        QVERIFY(back);
        QVERIFY(back->readable);
        for (const HeldState &state : back->states)
            QVERIFY2(state.length == 0 && state.tokens.isEmpty(), "nothing survives the server");
        const Turn again = turn(*backend, server.url(), request);
        QCOMPARE(again.chat.measured.cacheTokens, 0);
        QCOMPARE(again.prediction.high, 0);
        QVERIFY(!backend->lastStates().states.constFirst().tokens.isEmpty());
        QStringList kinds;
        for (const QList<QVariant> &row : happened)
            kinds.append(row.at(0).toString());
        QVERIFY2(kinds.contains(str("server-down")) && kinds.contains(str("server-up")),
                 qPrintable(kinds.join(QLatin1Char(' '))));
        QVERIFY2(kinds.contains(str("server-restarted")), qPrintable(kinds.join(QLatin1Char(' '))));
    }

    void slotFilesAreBooked_data()
    {
        QTest::addColumn<bool>("log");
        QTest::newRow("log") << true;
        QTest::newRow("no log") << false;
    }
    void slotFilesAreBooked()
    {
        NEEDS_SERVER();
        QFETCH(bool, log);
        QTemporaryDir files;
        RealServer server(
            str("llama"),
            {str("-np"), str("1"), str("-lv"), str("4"), str("--slot-save-path"), files.path() + QLatin1Char('/')});
        const auto backend = connected(server.url(), optionsFor(server.url(), log ? server.logFile : QString()));
        QVERIFY(backend->info().capabilities.slotSave && backend->info().capabilities.slotRestore
                && backend->info().capabilities.slotErase);
        ChatRequest request;
        request.messages = {message(str("user"), words(80, 1))};
        const Turn first = turn(*backend, server.url(), request);
        const int held = backend->lastStates().states.constFirst().length;
        const Result<int> saved = valueOf(backend->saveSlot(0, str("kerf-test")));
        QVERIFY2(saved, saved ? "" : qPrintable(saved.error().message));
        QCOMPARE(*saved, held);
        QCOMPARE(backend->saveFileExists(str("kerf-test")), std::optional<bool>(true));
        QCOMPARE(backend->saveFileExists(str("kerf-other")), std::optional<bool>(false));
        QVERIFY(backend->freeSaveBytes().value_or(0) > 0);
        const Result<int> erased = valueOf(backend->eraseSlot(0));
        QVERIFY(erased);
        QCOMPARE(*erased, held);
        QCOMPARE(valueOf(backend->states())->states.constFirst().length, 0);
        const Result<int> missing = valueOf(backend->restoreSlot(0, str("kerf-other")));
        QCOMPARE(missing.error().code, Error::Code::Refused);
        const Result<int> restored = valueOf(backend->restoreSlot(0, str("kerf-test")));
        QVERIFY(restored);
        QCOMPARE(*restored, held);
        const HeldState state = valueOf(backend->states())->states.constFirst();
        QCOMPARE(state.length, held);
        QCOMPARE(state.tokens.first(first.chat.measured.prompt.size()), first.chat.measured.prompt);
        request.messages.append(message(str("assistant"), str("ok")));
        request.messages.append(message(str("user"), str("more")));
        const Turn next = turn(*backend, server.url(), request);
        QVERIFY2(std::abs(next.chat.measured.cacheTokens - next.prediction.predicted) <= 8
                     || (next.chat.measured.cacheTokens >= next.prediction.low
                         && next.chat.measured.cacheTokens <= next.prediction.high),
                 qPrintable(next.prediction.reason));
        QVERIFY(next.chat.measured.cacheTokens > 80);
    }

    void aPinnedSlotThatWasClearedIsNamed()
    {
        NEEDS_SERVER();
        RealServer server(str("llama"), {str("-lv"), str("4")}); // the default: four slots, one unified KV
        const auto backend = connected(server.url(), optionsFor(server.url(), server.logFile));
        QTRY_VERIFY(backend->info().rule.idleSlotsCleared);
        QVERIFY(advises(backend->info(), "Do not pin"));
        ChatRequest request;
        request.messages = {message(str("user"), words(80, 1))};
        const auto pinned = [&](const ChatRequest &what, int slotId) {
            const Result<RenderedPrompt> rendered = valueOf(backend->render(what));
            backend->notePrompt(str("s"), rendered->layout.tokens, slotId);
            Chat done = chat(server.url(), what, 2, slotId);
            done.measured.prompt = rendered->layout.tokens;
            return valueOf(backend->noteTimings(done.measured));
        };
        QVERIFY(pinned(request, 0));
        ChatRequest other;
        other.messages = {message(str("user"), words(80, 9))};
        QVERIFY(pinned(other, 1));
        request.messages.append(message(str("assistant"), str("ok")));
        request.messages.append(message(str("user"), str("more")));
        const Result<MatchedRequest> third = pinned(request, 0);
        QVERIFY(third);
        QCOMPARE(third->slotId, 0);
        QVERIFY2(third->cause.contains(str("pinned slot 0 had been cleared")), qPrintable(third->cause));
    }

    void anotherPromptThanOursIsNotBooked()
    {
        NEEDS_SERVER();
        RealServer server(str("llama"), {str("-np"), str("1"), str("-lv"), str("4")});
        const auto backend = connected(server.url(), optionsFor(server.url(), server.logFile));
        ChatRequest request;
        request.messages = {message(str("user"), words(80, 1))};
        const Result<RenderedPrompt> rendered = valueOf(backend->render(request));
        backend->notePrompt(str("s"), rendered->layout.tokens, -1);
        request.messages = {message(str("user"), words(70, 1) + str(" and something that the harness put in"))};
        Chat altered = chat(server.url(), request, 2);
        altered.measured.prompt = rendered->layout.tokens;
        QVERIFY(altered.measured.cacheTokens + altered.measured.promptTokens != rendered->layout.size());
        QVERIFY(valueOf(backend->noteTimings(altered.measured)));
        QVERIFY(backend->lastStates().states.constFirst().tokens.isEmpty());
    }

    void aLogOfAnotherServerIsLeftOut()
    {
        NEEDS_SERVER();
        RealServer other(str("gemma3"), {str("-np"), str("1"), str("-lv"), str("4")});
        RealServer server(str("gemma3"), {str("-np"), str("1"), str("-lv"), str("4")});
        const auto backend = connected(server.url(), optionsFor(server.url(), other.logFile));
        ChatRequest request;
        request.messages = {message(str("user"), words(80, 1))};
        turn(*backend, server.url(), request);
        QVERIFY2(backend->info().notes.join(QLatin1Char(' ')).contains(str("did not grow")),
                 qPrintable(backend->info().notes.join(QLatin1Char(' '))));
        QVERIFY(!backend->info().rule.ringVisible);
    }

    void aServerThatWeLaunchIsReadDirectly()
    {
        NEEDS_SERVER();
        const quint16 port = freePort();
        BackendOptions options;
        options.launchCommand = {serverBinary(),
                                 str("-m"),
                                 modelPath(str("lfm2")),
                                 str("--port"),
                                 QString::number(port),
                                 str("-c"),
                                 str("4096"),
                                 str("-np"),
                                 str("1"),
                                 str("-t"),
                                 str("1")};
        options.probeTimeoutMs = 10'000;
        options.stateTimeoutMs = 30'000;
        auto resolved = std::move(*resolveBackend(options));
        auto *backend = qobject_cast<LlamaBackend *>(resolved.get());
        QVERIFY(backend);
        backend->start();
        await(backend->ready()); // its model is loaded by then
        BackendInfo info = backend->info();
        QVERIFY2(info.capabilities.reachable, qPrintable(info.unreachableReason));
        QCOMPARE(info.url, QStringLiteral("http://127.0.0.1:%1").arg(port));
        QCOMPARE(info.memoryEvidence, str("log"));
        QVERIFY(info.rule.ringVisible); // -lv 4 was added
        QVERIFY(info.capabilities.logRing);
        ChatRequest request;
        request.messages = {message(str("user"), words(60, 1))};
        const Turn done = turn(*backend, QUrl(info.url), request);
        QCOMPARE(done.matched.source, str("log"));
        // The same prompt again, and again: each is a task of its own, and its ids stay known.
        for (int i = 0; i < 2; ++i) {
            const Turn again = turn(*backend, QUrl(info.url), request);
            QVERIFY2(std::abs(again.chat.measured.cacheTokens - again.prediction.predicted) <= 8,
                     qPrintable(again.prediction.reason));
            QCOMPARE(backend->lastStates().states.constFirst().tokens.first(again.chat.measured.prompt.size()),
                     again.chat.measured.prompt);
            QVERIFY(backend->lastStates().states.constFirst().verified);
        }
    }

    /// `--port 0`: only the child itself knows where it listens, and says it.
    void aServerThatChoosesItsPort()
    {
        NEEDS_SERVER();
        BackendOptions options;
        options.launchCommand = {serverBinary(), str("-m"),   modelPath(str("gemma3")),
                                 str("--port"),  str("0"),    str("-c"),
                                 str("4096"),    str("-cms"), str("64"),
                                 str("-np"),     str("1"),    str("-t"),
                                 str("1")};
        options.probeTimeoutMs = 10'000;
        options.stateTimeoutMs = 30'000;
        auto resolved = std::move(*resolveBackend(options));
        auto *backend = qobject_cast<LlamaBackend *>(resolved.get());
        QVERIFY(backend);
        backend->start();
        await(backend->ready());
        const BackendInfo info = backend->info();
        QVERIFY2(info.capabilities.reachable, qPrintable(info.unreachableReason));
        const int port = QUrl(info.url).port();
        QVERIFY2(port > 0 && port != 8080, qPrintable(info.url));
        QVERIFY(info.identity.startsWith(info.url));
        QVERIFY(info.name.endsWith(info.url));
        QVERIFY(info.rule.ringVisible);
        ChatRequest request;
        request.messages = {message(str("user"), words(120, 1))};
        QCOMPARE(turn(*backend, QUrl(info.url), request).matched.source, str("log"));
        const QJsonObject log = backend->logJson(0, 5000);
        QVERIFY(log.value(str("attached")).toBool());
        QCOMPARE(log.value(str("source")).toString(), str("output of the launched server"));
        QVERIFY(log.value(str("lines")).toArray().size() > 50);
    }

    /// Flags are split as a shell does, and a whole command line may be told.
    void flagsAreReadAsTyped()
    {
        BackendOptions options = optionsFor(QUrl(QStringLiteral("http://127.0.0.1:%1").arg(freePort())));
        options.probeTimeoutMs = 300;
        options.serverFlags =
            str("LLAMA_ARG_CTX_CHECKPOINTS=7 '/opt/my server/llama-server' --slot-save-path '/tmp/a b/' "
                "--cache-reuse\\\n 64 --cache-ram 0");
        const auto backend = connected(QUrl(options.spec), options);
        const BackendInfo info = backend->info();
        QCOMPARE(info.rule.chunkReuse, 64);
        QVERIFY(!info.rule.hostCache);
        QVERIFY(backend->saveFileExists(str("x")).has_value()); // '/tmp/a b/' is one word
    }

    void theLogSaysThatTheHostCacheIsOff()
    {
        NEEDS_SERVER();
        RealServer server(str("llama"), {str("-np"), str("1"), str("-lv"), str("4"), str("--cache-ram"), str("0")});
        BackendOptions options = optionsFor(server.url(), server.logFile);
        options.serverFlags = str("-np 1"); // the command line is not looked at then
        const auto backend = connected(server.url(), options);
        QVERIFY(!backend->info().rule.hostCache);
        const QJsonObject cache = backend->slotsJson().value(str("host_cache")).toObject();
        QVERIFY(!cache.value(str("enabled")).toBool());
        QVERIFY(cache.value(str("limit_bytes")).isNull());
    }

    /// copytruncate under a running server: what was held is not certain until it says so again.
    void aLogThatIsCutShort()
    {
        NEEDS_SERVER();
        RealServer server(
            str("gemma3"),
            {str("-np"), str("1"), str("-lv"), str("4"), str("-cms"), str("64"), str("-ctxcp"), str("8")});
        const auto backend = connected(server.url(), optionsFor(server.url(), server.logFile));
        ChatRequest request;
        request.messages = {message(str("user"), words(200, 1))};
        turn(*backend, server.url(), request);
        QVERIFY(backend->lastStates().states.constFirst().verified);
        QVERIFY(!backend->lastStates().states.constFirst().tokens.isEmpty());
        QVERIFY(QFile::resize(server.logFile, 0));
        QTest::qWait(700); // more than a look at an idle log
        Result<ServerStates> states = valueOf(backend->states());
        QVERIFY(states);
        QVERIFY(!states->states.constFirst().verified);
        QVERIFY(states->states.constFirst().tokens.isEmpty());
        const Result<RenderedPrompt> rendered = valueOf(backend->render(request));
        const ReusePrediction doubt = predictReuse(states->states, {rendered->layout.tokens, -1}, backend->info().rule);
        QCOMPARE(doubt.predicted, 0); // nothing is claimed
        QVERIFY(backend->info().notes.join(QLatin1Char(' ')).contains(str("cut short")));
        request.messages.append(message(str("assistant"), words(20, 2)));
        request.messages.append(message(str("user"), words(20, 3)));
        turn(*backend, server.url(), request);
        states = valueOf(backend->states());
        QVERIFY(states->states.constFirst().verified);
        QVERIFY(!states->states.constFirst().tokens.isEmpty());
        QVERIFY(!backend->info().notes.join(QLatin1Char(' ')).contains(str("cut short")));
        request.messages.append(message(str("assistant"), words(20, 4)));
        request.messages.append(message(str("user"), words(20, 5)));
        const Turn healed = turn(*backend, server.url(), request);
        QVERIFY2(healed.chat.measured.cacheTokens >= healed.prediction.low - 8
                     && healed.chat.measured.cacheTokens <= healed.prediction.high + 8,
                 qPrintable(healed.prediction.reason));
        // Which checkpoints are left from before is known again only when the server has counted through its ring.
        QVERIFY(healed.prediction.high > 100);
        QVERIFY(healed.prediction.predicted <= healed.chat.measured.cacheTokens + 8);
    }

    void aChildThatCannotStartIsNamed()
    {
        BackendOptions options;
        options.launchCommand = {str("/nonexistent/llama-server"), str("--port"), QString::number(freePort())};
        auto backend = std::move(*resolveBackend(options));
        QElapsedTimer clock;
        clock.start();
        backend->start();
        await(backend->ready());
        QVERIFY(clock.elapsed() < 60'000);
        QVERIFY(!backend->info().capabilities.reachable);
        QVERIFY2(backend->info().notes.join(QLatin1Char(' ')).contains(str("/nonexistent/llama-server")),
                 qPrintable(backend->info().notes.join(QLatin1Char(' '))));
    }

    void theTemplateIsRenderedWithToolsAndItsWordsCount()
    {
        NEEDS_SERVER();
        const QString templatePath = QStringLiteral(KERF_TEST_DATA "/templates/tools.jinja");
        RealServer server(str("llama"),
                          {str("-np"), str("1"), str("--jinja"), str("--chat-template-file"), templatePath});
        const auto backend = connected(server.url(), optionsFor(server.url()));
        ChatRequest request;
        const QJsonObject function{{str("name"), str("ls")},
                                   {str("description"), str("lists")},
                                   {str("parameters"), QJsonObject{{str("type"), str("object")}}}};
        request.tools = {QJsonObject{{str("type"), str("function")}, {str("function"), function}}};
        const QJsonObject call{{str("name"), str("ls")}, {str("arguments"), str("{\"path\": \"/\"}")}};
        const QJsonObject toolCall{{str("id"), str("c1")}, {str("type"), str("function")}, {str("function"), call}};
        const QJsonObject second{{str("id"), str("c2")}, {str("type"), str("function")}, {str("function"), call}};
        request.messages = {
            message(str("system"), str("Be brief.")),
            message(str("user"), str("list é")),
            QJsonObject{{str("role"), str("assistant")},
                        {str("content"), QJsonValue::Null},
                        {str("tool_calls"), QJsonArray{toolCall, second}}},
            QJsonObject{{str("role"), str("tool")}, {str("tool_call_id"), str("c1")}, {str("content"), str("bin etc")}},
            QJsonObject{{str("role"), str("tool")}, {str("tool_call_id"), str("c2")}, {str("content"), str("bin etc")}},
            message(str("assistant"), str("bin and etc")),
            message(str("user"), str("thanks"))};
        const Result<RenderedPrompt> rendered = valueOf(backend->render(request));
        QVERIFY2(rendered, rendered ? "" : qPrintable(rendered.error().message));
        const PromptLayout &layout = rendered->layout;
        QVERIFY(layout.exact);
        const auto textOf = [&](TokenRange range) {
            QByteArray text;
            for (int i = range.begin; i < range.end; ++i)
                text += backend->pieceBytes(layout.tokens.at(i));
            return text;
        };
        QCOMPARE(layout.messages.size(), request.messages.size());
        const QByteArrayList begins{"",
                                    "<|im_start|>user\nlist",
                                    "<|im_start|>assistant\n<tool_call>",
                                    "<|im_start|>user\n<tool_response>\nbin",
                                    "\n<tool_response>\nbin",
                                    "<|im_start|>assistant\nbin and",
                                    "<|im_start|>user\nthanks"};
        int at = 0;
        for (qsizetype i = 0; i < layout.messages.size(); ++i) {
            const MessageSpan &span = layout.messages.at(i);
            QCOMPARE(span.tokens.begin, at);
            at = span.tokens.end;
            QVERIFY2(span.found, QByteArray::number(i).constData());
            QVERIFY2(i == 0 || textOf(span.tokens).startsWith(begins.at(i)), textOf(span.tokens).constData());
        }
        QCOMPARE(layout.tail, (TokenRange{at, layout.size()}));
        QCOMPARE(textOf(layout.tail), QByteArray("<|im_start|>assistant\n"));
        QVERIFY(textOf(layout.messages.at(2).tokens).endsWith("</tool_call><|im_end|>\n"));
        QVERIFY(textOf(layout.messages.at(0).tokens).contains("</tools>"));
        QVERIFY(layout.fixedTokens > 0 && layout.fixedTokens < layout.messages.at(1).tokens.begin);
        // And the count is the server's own.
        const Chat done = chat(server.url(), request, 1);
        QVERIFY(done.ok);
        QCOMPARE(done.measured.cacheTokens + done.measured.promptTokens, layout.size());

        request.messages = {message(str("forbidden"), str("x"))};
        const Result<RenderedPrompt> refused = valueOf(backend->render(request));
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, Error::Code::Refused);
        QVERIFY2(refused.error().message.contains(str("this role is not for me")), qPrintable(refused.error().message));

        const Result<int> count = valueOf(backend->countTokens(str("list é")));
        const Result<TokenList> tokens = valueOf(backend->tokenize(str("list é")));
        QVERIFY(count && tokens);
        QCOMPARE(*count, static_cast<int>(tokens->size()));
        // Words that look like the template's are words in a content.
        QVERIFY(*valueOf(backend->countTokens(str("</s>"))) > 1);
    }
};

QTEST_GUILESS_MAIN(TestLlamaBackend)
#include "tst_llamabackend.moc"
