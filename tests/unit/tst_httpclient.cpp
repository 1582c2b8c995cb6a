// kerf-test: link=kerf_llama
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/httpclient.h"
#include "tests/unit/llama_httpstub.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QTest>

#include <memory>

using namespace kerf;
using Failure = HttpReply::Failure;

class TestHttpClient : public QObject
{
    Q_OBJECT

    static HttpReply got(HttpClient &client, const char *path, int limitMs = 5000)
    {
        const QString route = QString::fromLatin1(path);
        return valueOf(client.get(route, limitMs));
    }

private Q_SLOTS:
    void anAnswerComesWithStatusAndBody()
    {
        HttpStub stub;
        stub.on("GET /health", {200, "{\"status\":\"ok\"}"});
        HttpClient client(stub.url(), {});
        const HttpReply reply = got(client, "/health");
        QCOMPARE(reply.status, 200);
        QCOMPARE(reply.failure, Failure::None);
        QVERIFY(reply.ok());
        QCOMPARE(reply.object().value(QStringLiteral("status")).toString(), QStringLiteral("ok"));
    }

    void whatIsPostedArrivesWithItsQuery()
    {
        HttpStub stub;
        stub.on("POST /base/slots/0?action=save", {200, "{\"n_saved\":7}"});
        QUrl base = stub.url();
        base.setPath(QStringLiteral("/base/"));
        HttpClient client(base, {});
        const QString route = QStringLiteral("/slots/0?action=save");
        const QJsonObject body{{QStringLiteral("filename"), QStringLiteral("f")}};
        const HttpReply reply = valueOf(client.post(route, body, 5000));
        QCOMPARE(reply.object().value(QStringLiteral("n_saved")).toInt(), 7);
        QCOMPARE(stub.requests.constLast().body, QByteArray("{\"filename\":\"f\"}"));
        QVERIFY(stub.requests.constLast().head.toLower().contains("content-type: application/json"));
    }

    void theKeyIsABearerTokenAndStaysAtHome()
    {
        HttpStub other;
        other.on("GET /stolen", {200, "{}"});
        HttpStub stub;
        stub.on("GET /props", {200, "{}"});
        stub.on("GET /moved", {302, {}, "Location: " + other.url().toString().toUtf8() + "/stolen\r\n"});
        HttpClient client(stub.url(), QStringLiteral("s3cret"));
        QVERIFY(got(client, "/props").ok());
        QVERIFY(stub.requests.constLast().head.contains("Authorization: Bearer s3cret"));
        const HttpReply moved = got(client, "/moved");
        QVERIFY(!moved.ok());
        QVERIFY(other.requests.isEmpty());
        QVERIFY(!moved.message().contains(QStringLiteral("s3cret")));
        QVERIFY(!moved.error.contains(QStringLiteral("s3cret")));
    }

    void withoutAKeyThereIsNoHeader()
    {
        HttpStub stub;
        HttpClient client(stub.url(), {});
        got(client, "/health");
        QVERIFY(!stub.requests.constLast().head.contains("Authorization"));
    }

    void failuresAreToldApart()
    {
        HttpStub stub;
        stub.on("GET /401",
                {401, "{\"error\":{\"code\":401,\"message\":\"Invalid API Key\",\"type\":\"authentication_error\"}}"});
        stub.on("GET /503",
                {503, "{\"error\":{\"code\":503,\"message\":\"Loading model\",\"type\":\"unavailable_error\"}}"});
        stub.on("GET /501", {501, "{\"error\":{\"code\":501,\"message\":\"start it with --slot-save-path\"}}"});
        stub.on("GET /text", {500, "\nboom\nmore\n"});
        stub.on("GET /bare", {500, {}});
        HttpStub::Answer silent;
        silent.silent = true;
        stub.on("GET /silent", silent);
        HttpStub::Answer hangUp;
        hangUp.hangUp = true;
        stub.on("GET /hangup", hangUp);
        HttpClient client(stub.url(), {});

        const HttpReply noKey = got(client, "/401");
        QVERIFY(noKey.needsKey());
        QCOMPARE(noKey.message(), QStringLiteral("Invalid API Key"));
        const HttpReply loading = got(client, "/503");
        QVERIFY(loading.loading());
        QCOMPARE(loading.message(), QStringLiteral("Loading model"));
        QCOMPARE(got(client, "/501").message(), QStringLiteral("start it with --slot-save-path"));
        QCOMPARE(got(client, "/text").message(), QStringLiteral("boom"));
        QCOMPARE(got(client, "/bare").message(), QStringLiteral("HTTP 500"));

        const HttpReply slow = got(client, "/silent", 200);
        QCOMPARE(slow.status, 0);
        QCOMPARE(slow.failure, Failure::Timeout);
        QCOMPARE(slow.error, QStringLiteral("no answer within 200 ms"));
        const HttpReply hung = got(client, "/hangup");
        QCOMPARE(hung.status, 0);
        QCOMPARE(hung.failure, Failure::Closed);

        HttpClient nobody(QUrl(QStringLiteral("http://127.0.0.1:%1").arg(freePort())), {});
        const HttpReply refused = got(nobody, "/health");
        QCOMPARE(refused.status, 0);
        QCOMPARE(refused.failure, Failure::Refused);
        QCOMPARE(refused.error, QStringLiteral("connection refused"));
    }

    void aServerThatDripsDoesNotHoldUs()
    {
        HttpStub stub;
        HttpStub::Answer half{200, "half of it"};
        half.claimedLength = 1000;
        stub.on("GET /half", half);
        HttpClient client(stub.url(), {});
        QElapsedTimer clock;
        clock.start();
        const HttpReply reply = got(client, "/half", 300);
        QCOMPARE(reply.failure, Failure::Timeout);
        QVERIFY(reply.body.isEmpty()); // half an answer is none
        QVERIFY(clock.elapsed() < 5000);
    }

    void anAnswerThatIsTooLargeIsGivenUp()
    {
        HttpStub stub;
        HttpStub::Answer huge{200, "begin"};
        huge.claimedLength = 600LL * 1024 * 1024;
        stub.on("GET /huge", huge);
        HttpClient client(stub.url(), {});
        const HttpReply reply = got(client, "/huge", 4000);
        QCOMPARE(reply.status, 0);
        QCOMPARE(reply.failure, Failure::TooLarge);
    }

    void requestsCanBeCancelledByPath()
    {
        HttpStub stub;
        HttpStub::Answer silent;
        silent.silent = true;
        stub.on("GET /slots/0?action=save", silent);
        stub.on("GET /health", silent);
        HttpClient client(stub.url(), {});
        std::optional<HttpReply> save;
        std::optional<HttpReply> health;
        client.get(QStringLiteral("/slots/0?action=save"), 60'000).then([&save](HttpReply reply) {
            save = std::move(reply);
        });
        client.get(QStringLiteral("/health"), 1'000).then([&health](HttpReply reply) { health = std::move(reply); });
        QTRY_COMPARE(stub.requests.size(), 2);
        QCOMPARE(client.pending(), 2);
        client.cancel(QStringLiteral("/slots/"));
        QTRY_VERIFY(save.has_value());
        QCOMPARE(save->failure, Failure::Cancelled);
        QVERIFY(!health.has_value());
        QTRY_VERIFY(health.has_value());
        QCOMPARE(health->failure, Failure::Timeout);
        QCOMPARE(client.pending(), 0);
    }

    void whoeverWaitsIsToldWhenTheClientGoes()
    {
        HttpStub stub;
        HttpStub::Answer silent;
        silent.silent = true;
        stub.on("GET /health", silent);
        std::optional<HttpReply> reply;
        auto client = std::make_unique<HttpClient>(stub.url(), QString());
        client->get(QStringLiteral("/health"), 60'000).then([&reply](HttpReply value) { reply = std::move(value); });
        QTRY_COMPARE(stub.requests.size(), 1);
        client.reset();
        QVERIFY(!reply.has_value()); // not from inside the destructor
        QTRY_VERIFY(reply.has_value());
        QCOMPARE(reply->failure, Failure::Cancelled);
    }
};

QTEST_GUILESS_MAIN(TestHttpClient)
#include "tst_httpclient.moc"
