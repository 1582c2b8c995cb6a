// kerf-test: link=kerf_llama
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/probe.h"
#include "tests/unit/llama_httpstub.h"

#include <QJsonDocument>
#include <QTest>

using namespace kerf;
using Outcome = ProbeResult::Outcome;

class TestProbe : public QObject
{
    Q_OBJECT

    /// Answers as build 11669 does when everything is on.
    static void beServer(HttpStub &stub)
    {
        stub.on("GET /health", {200, R"({"status":"ok"})"});
        stub.on(
            "GET /props",
            {200,
             R"({"default_generation_settings":{"n_ctx":4096},"total_slots":2,"model_alias":"m.gguf","model_path":"/models/m.gguf","build_info":"b11669","is_sleeping":false})"});
        stub.on(
            "GET /slots",
            {200,
             R"([{"id":0,"n_ctx":4096,"is_processing":false},{"id":1,"n_ctx":4096,"is_processing":false,"id_task":7,"n_prompt_tokens":1109}])"});
        stub.on("POST /tokenize", {200, R"({"tokens":[{"id":1,"piece":"<s>"},{"id":9,"piece":[195]}]})"});
        stub.on("POST /apply-template", {200, R"({"prompt":"kerf"})"});
        stub.on("GET /metrics", {200, "# HELP llamacpp:prompt_tokens_total x\nllamacpp:prompt_tokens_total 3\n"});
        stub.on("POST /slots/0?action=save", {400, R"({"error":{"code":400,"message":"Invalid filename"}})"});
        stub.on("POST /slots/0?action=restore", {400, R"({"error":{"code":400,"message":"Invalid filename"}})"});
        stub.on("POST /slots/x?action=erase", {400, R"({"error":{"code":400,"message":"Invalid slot ID"}})"});
    }

    static ProbeResult probed(HttpStub &stub, int limitMs = 2000)
    {
        HttpClient client(stub.url(), {});
        const QPointer<HttpClient> http(&client);
        return valueOf(probeServer(http, limitMs));
    }

    static ProbeStep step(const ProbeResult &result, const char *name)
    {
        for (const ProbeStep &step : result.steps) {
            if (step.name == QLatin1String(name))
                return step;
        }
        return {};
    }

private Q_SLOTS:
    void everythingIsFoundInOrder()
    {
        HttpStub stub;
        beServer(stub);
        const ProbeResult result = probed(stub);
        QCOMPARE(result.outcome, Outcome::Reachable);
        QVERIFY(result.reason.isEmpty());
        QCOMPARE(result.contextSize, 4096);
        QCOMPARE(result.slotCount, 2);
        QCOMPARE(result.build, QStringLiteral("b11669"));
        QCOMPARE(result.modelPath, QStringLiteral("/models/m.gguf"));
        QCOMPARE(result.slots.size(), 2);
        QCOMPARE(result.slots.at(0).task, -1);
        QCOMPARE(result.slots.at(1).promptTokens, 1109);
        Capabilities all;
        all.reachable = all.slots = all.slotSave = all.slotRestore = all.slotErase = all.tokenize = all.props =
            all.metrics = all.applyTemplate = true;
        QCOMPARE(result.capabilities, all);
        QStringList names;
        for (const ProbeStep &step : result.steps) {
            names.append(step.name);
            QVERIFY2(step.ok, qPrintable(step.name));
        }
        QCOMPARE(
            names,
            (QStringList{QStringLiteral("health"), QStringLiteral("props"), QStringLiteral("slots"),
                         QStringLiteral("tokenize"), QStringLiteral("apply_template"), QStringLiteral("metrics"),
                         QStringLiteral("slot_save"), QStringLiteral("slot_restore"), QStringLiteral("slot_erase")}));
        // Nothing that it sends changes anything: an empty file name, and no slot id but 0 and one that is no number.
        for (const HttpStub::Request &request : stub.requests) {
            if (request.path.startsWith("/slots/0"))
                QCOMPARE(request.body, QByteArray("{\"filename\":\"\"}"));
            if (request.path.contains("erase"))
                QCOMPARE(request.path, QByteArray("/slots/x?action=erase"));
        }
    }

    void whatIsOffIsSaidInTheServersWords()
    {
        HttpStub stub;
        beServer(stub);
        const QByteArray off =
            R"({"error":{"code":501,"message":"This server does not support slots action. Start it with `--slot-save-path`"}})";
        stub.on("POST /slots/0?action=save", {501, off});
        stub.on("POST /slots/0?action=restore", {501, off});
        stub.on("POST /slots/x?action=erase", {501, off});
        stub.on(
            "GET /slots",
            {501,
             R"({"error":{"code":501,"message":"This server does not support slots endpoint. Start it with `--slots`"}})"});
        stub.on("GET /metrics", {501, R"({"error":{"code":501,"message":"Start it with `--metrics`"}})"});
        const ProbeResult result = probed(stub);
        QCOMPARE(result.outcome, Outcome::Reachable);
        QVERIFY(!result.capabilities.slotSave && !result.capabilities.slotRestore && !result.capabilities.slotErase
                && !result.capabilities.slots && !result.capabilities.metrics);
        QVERIFY(result.saveReason.contains(QStringLiteral("--slot-save-path")));
        QVERIFY(step(result, "slot_save").message.contains(QStringLiteral("--slot-save-path")));
        QCOMPARE(step(result, "slot_save").httpStatus, 501);
        QVERIFY(result.slotsReason.contains(QStringLiteral("--slots")));
        QVERIFY(step(result, "metrics").message.contains(QStringLiteral("--metrics")));
        QVERIFY(result.capabilities.tokenize && result.capabilities.applyTemplate);
    }

    void theOlderSpellingIsTried()
    {
        HttpStub stub;
        beServer(stub);
        const HttpStub::Answer missing{404, R"({"error":{"code":404,"message":"File Not Found"}})"};
        stub.on("POST /slots/0?action=save", missing);
        stub.on("POST /slots/0?action=restore", missing);
        stub.on("POST /slots/0/save", {400, R"({"error":"Invalid filename"})"});
        stub.on("POST /slots/0/restore", {400, R"({"error":"Invalid filename"})"});
        const ProbeResult result = probed(stub);
        QVERIFY(result.capabilities.slotSave && result.capabilities.slotRestore);
        QVERIFY(result.oldSlotRoutes);
        QCOMPARE(step(result, "slot_save").route, QStringLiteral("POST /slots/0/save"));
        QVERIFY(!result.capabilities.slotErase);
    }

    void neitherSpellingIsNoCapability()
    {
        HttpStub stub;
        beServer(stub);
        stub.on("POST /slots/0?action=save", {404, "{}"});
        stub.on("POST /slots/0?action=restore", {404, "{}"});
        const ProbeResult result = probed(stub);
        QCOMPARE(result.outcome, Outcome::Reachable);
        QVERIFY(!result.capabilities.slotSave && !result.oldSlotRoutes);
        QCOMPARE(step(result, "slot_save").httpStatus, 404);
    }

    void aMissingKeyIsNamed()
    {
        HttpStub stub;
        stub.on("GET /health", {200, R"({"status":"ok"})"});
        stub.decide = [](const HttpStub::Request &request) -> std::optional<HttpStub::Answer> {
            if (request.path == "/health")
                return std::nullopt;
            return HttpStub::Answer{401, R"({"error":{"code":401,"message":"Invalid API Key"}})"};
        };
        const ProbeResult result = probed(stub);
        QCOMPARE(result.outcome, Outcome::NeedsKey);
        QVERIFY(result.reason.endsWith(QStringLiteral("needs an API key")));
        QCOMPARE(result.capabilities, Capabilities());
    }

    void loadingIsNotUnreachable()
    {
        HttpStub stub;
        stub.on("GET /health", {503, R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})"});
        const ProbeResult result = probed(stub);
        QCOMPARE(result.outcome, Outcome::Loading);
        QVERIFY(result.reason.contains(QStringLiteral("loading")));
    }

    void anotherProgramOnThePortIsNoServer()
    {
        HttpStub stub;
        stub.decide = [](const HttpStub::Request &) -> std::optional<HttpStub::Answer> {
            return HttpStub::Answer{200, "<html>It works!</html>"};
        };
        QCOMPARE(probed(stub).outcome, Outcome::Foreign);
        HttpStub empty; // 404 everywhere
        const ProbeResult result = probed(empty);
        QCOMPARE(result.outcome, Outcome::Foreign);
        QVERIFY(result.reason.contains(QStringLiteral("no llama-server")));
        QVERIFY(!result.capabilities.reachable);
    }

    void oneStepThatHangsFailsAlone()
    {
        HttpStub stub;
        beServer(stub);
        HttpStub::Answer silent;
        silent.silent = true;
        stub.on("GET /slots", silent);
        const ProbeResult result = probed(stub, 300);
        QCOMPARE(result.outcome, Outcome::Reachable);
        QVERIFY(!result.capabilities.slots);
        QCOMPARE(step(result, "slots").httpStatus, 0);
        QVERIFY(result.capabilities.tokenize && result.capabilities.slotSave);
    }

    void nobodyIsUnreachable()
    {
        HttpClient client(QUrl(QStringLiteral("http://127.0.0.1:%1").arg(freePort())), {});
        const QPointer<HttpClient> http(&client);
        const ProbeResult result = valueOf(probeServer(http, 1000));
        QCOMPARE(result.outcome, Outcome::Unreachable);
        QCOMPARE(result.failure, HttpReply::Failure::Refused);
        QCOMPARE(result.steps.size(), 1);
    }

    void aServerWithoutPiecesHasNoExactPositions()
    {
        HttpStub stub;
        beServer(stub);
        stub.on("POST /tokenize", {200, R"({"tokens":[1,2,3]})"});
        const ProbeResult result = probed(stub);
        QVERIFY(!result.capabilities.tokenize);
        QVERIFY(step(result, "tokenize").message.contains(QStringLiteral("pieces")));
    }

    void aTemplateThatRefusesTheCanaryIsATemplate()
    {
        HttpStub stub;
        beServer(stub);
        stub.on("POST /apply-template",
                {400, R"({"error":{"code":400,"message":"Conversation roles must alternate"}})"});
        const ProbeResult result = probed(stub);
        QVERIFY(result.capabilities.applyTemplate);
        QVERIFY(step(result, "apply_template").message.contains(QStringLiteral("alternate")));
    }

    void ringSpellingsAreRead_data()
    {
        QTest::addColumn<QByteArray>("ring");
        QTest::addColumn<QList<int>>("positions");
        QTest::addColumn<qint64>("bytes");
        QTest::addColumn<bool>("visible");
        QTest::newRow("numbers") << QByteArray(R"("checkpoints":[2048,1024])") << QList<int>{1024, 2048} << qint64(-1)
                                 << true;
        QTest::newRow("objects") << QByteArray(R"("ctx_checkpoints":[{"token_position":7,"size":5000000000}])")
                                 << QList<int>{7} << qint64(5'000'000'000) << true;
        QTest::newRow("pos") << QByteArray(R"("context_checkpoints":[{"pos":8,"n_bytes":9}])") << QList<int>{8}
                             << qint64(9) << true;
        QTest::newRow("n_past") << QByteArray(R"("ckpt":[{"n_past":11,"size_bytes":3}])") << QList<int>{11} << qint64(3)
                                << true;
        QTest::newRow("position") << QByteArray(R"("checkpoints":[{"position":12}])") << QList<int>{12} << qint64(-1)
                                  << true;
        QTest::newRow("n_tokens") << QByteArray(R"("checkpoints":[{"n_tokens":13}])") << QList<int>{13} << qint64(-1)
                                  << true;
        QTest::newRow("index map") << QByteArray(R"("checkpoints":{"0":{"pos":30},"1":{"pos":20}})")
                                   << QList<int>{20, 30} << qint64(-1) << true;
        QTest::newRow("index map of numbers")
            << QByteArray(R"("checkpoints":{"0":30,"1":20})") << QList<int>{20, 30} << qint64(-1) << true;
        QTest::newRow("an empty ring is a ring")
            << QByteArray(R"("checkpoints":[])") << QList<int>{} << qint64(-1) << true;
        QTest::newRow("none") << QByteArray(R"("x":1)") << QList<int>{} << qint64(-1) << false;
        QTest::newRow("null") << QByteArray(R"("checkpoints":null)") << QList<int>{} << qint64(-1) << false;
        QTest::newRow("nonsense inside") << QByteArray(R"("checkpoints":["a",{},-3,5])") << QList<int>{5} << qint64(-1)
                                         << true;
    }
    void ringSpellingsAreRead()
    {
        QFETCH(QByteArray, ring);
        QFETCH(QList<int>, positions);
        QFETCH(qint64, bytes);
        QFETCH(bool, visible);
        const QByteArray payload =
            "[{\"id\":0,\"n_ctx\":512,\"is_processing\":false,\"id_task\":3,\"n_prompt_tokens\":40," + ring + "}]";
        const QList<SlotReading> slots = readSlots(QJsonDocument::fromJson(payload).array());
        QCOMPARE(slots.size(), 1);
        QCOMPARE(slots.constFirst().hasRing, visible);
        QList<int> read;
        for (const Checkpoint &checkpoint : slots.constFirst().checkpoints)
            read.append(checkpoint.position);
        QCOMPARE(read, positions);
        if (!read.isEmpty())
            QCOMPARE(slots.constFirst().checkpoints.constFirst().sizeBytes, bytes);
        // And the probe says so.
        HttpStub stub;
        beServer(stub);
        stub.on("GET /slots", {200, payload});
        QCOMPARE(probed(stub).capabilities.checkpointRing, visible);
    }
};

QTEST_GUILESS_MAIN(TestProbe)
#include "tst_probe.moc"
