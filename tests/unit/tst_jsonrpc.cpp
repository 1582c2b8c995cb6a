// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_ipc

#include "core/ipc/jsonrpc.h"
#include "core/ipc/schema.h"

#include <QJsonDocument>
#include <QTest>

using namespace kerf;

Q_DECLARE_METATYPE(kerf::RpcMessage::Kind)

class TestJsonRpc : public QObject
{
    Q_OBJECT

private:
    static QJsonObject json(const char *text) { return QJsonDocument::fromJson(QByteArray(text)).object(); }

private Q_SLOTS:
    void messages_data()
    {
        using Kind = RpcMessage::Kind;
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<RpcMessage::Kind>("kind");
        QTest::addColumn<int>("error");
        QTest::addColumn<QJsonValue>("id");
        const QJsonValue null(QJsonValue::Null);
        QTest::newRow("request") << QByteArray(R"({"jsonrpc":"2.0","id":1,"method":"a"})") << Kind::Request << 0
                                 << QJsonValue(1);
        QTest::newRow("id 0") << QByteArray(R"({"method":"a","jsonrpc":"2.0","id":0})") << Kind::Request << 0
                              << QJsonValue(0);
        QTest::newRow("string id") << QByteArray(R"({"jsonrpc":"2.0","id":"server-discover-probe-1","method":"a"})")
                                   << Kind::Request << 0 << QJsonValue(QStringLiteral("server-discover-probe-1"));
        QTest::newRow("empty string id") << QByteArray(R"({"jsonrpc":"2.0","id":"","method":"a"})") << Kind::Request
                                         << 0 << QJsonValue(QString());
        QTest::newRow("large id") << QByteArray(R"({"jsonrpc":"2.0","id":9007199254740993,"method":"a"})")
                                  << Kind::Request << 0 << QJsonValue(qint64(9007199254740993));
        QTest::newRow("negative id") << QByteArray(R"({"jsonrpc":"2.0","id":-4,"method":"a"})") << Kind::Request << 0
                                     << QJsonValue(-4);
        QTest::newRow("params null") << QByteArray(R"({"jsonrpc":"2.0","id":1,"method":"a","params":null})")
                                     << Kind::Request << 0 << QJsonValue(1);
        QTest::newRow("notification") << QByteArray(R"({"jsonrpc":"2.0","method":"a"})") << Kind::Notification << 0
                                      << null;
        QTest::newRow("result") << QByteArray(R"({"jsonrpc":"2.0","id":1,"result":{}})") << Kind::Response << 0
                                << QJsonValue(1);
        QTest::newRow("error") << QByteArray(R"({"jsonrpc":"2.0","id":1,"error":{}})") << Kind::Response << 0
                               << QJsonValue(1);
        QTest::newRow("batch") << QByteArray(R"([{"jsonrpc":"2.0","id":1,"method":"a"}])") << Kind::Batch
                               << kInvalidRequest << null;
        QTest::newRow("empty batch") << QByteArray("[]") << Kind::Batch << kInvalidRequest << null;
        QTest::newRow("cut off") << QByteArray("{\"jsonrpc\":\"2.0\",\"id\":1,\"met") << Kind::Invalid << kParseError
                                 << null;
        QTest::newRow("no JSON") << QByteArray("hello") << Kind::Invalid << kParseError << null;
        QTest::newRow("invalid UTF-8") << QByteArray("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}")
                                       << Kind::Invalid << kParseError << null;
        QTest::newRow("overlong UTF-8") << QByteArray("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc0\xaf\"}")
                                        << Kind::Invalid << kParseError << null;
        QTest::newRow("a bare number") << QByteArray("1") << Kind::Invalid << kInvalidRequest << null;
        QTest::newRow("a bare string") << QByteArray("\"a\"") << Kind::Invalid << kInvalidRequest << null;
        QTest::newRow("null") << QByteArray("null") << Kind::Invalid << kInvalidRequest << null;
        QTest::newRow("no version") << QByteArray(R"({"id":1,"method":"a"})") << Kind::Invalid << kInvalidRequest
                                    << QJsonValue(1);
        QTest::newRow("version 1.0") << QByteArray(R"({"jsonrpc":"1.0","id":1,"method":"a"})") << Kind::Invalid
                                     << kInvalidRequest << QJsonValue(1);
        QTest::newRow("method is a number") << QByteArray(R"({"jsonrpc":"2.0","id":3,"method":1,"params":"bar"})")
                                            << Kind::Invalid << kInvalidRequest << QJsonValue(3);
        QTest::newRow("no method") << QByteArray(R"({"jsonrpc":"2.0","id":3})") << Kind::Invalid << kInvalidRequest
                                   << QJsonValue(3);
        QTest::newRow("id null") << QByteArray(R"({"jsonrpc":"2.0","id":null,"method":"a"})") << Kind::Invalid
                                 << kInvalidRequest << null;
        QTest::newRow("id true") << QByteArray(R"({"jsonrpc":"2.0","id":true,"method":"a"})") << Kind::Invalid
                                 << kInvalidRequest << null;
        QTest::newRow("id 1.5") << QByteArray(R"({"jsonrpc":"2.0","id":1.5,"method":"a"})") << Kind::Invalid
                                << kInvalidRequest << null;
        QTest::newRow("params by position") << QByteArray(R"({"jsonrpc":"2.0","id":1,"method":"a","params":[1]})")
                                            << Kind::Invalid << kInvalidParams << QJsonValue(1);
        QTest::newRow("params a string") << QByteArray(R"({"jsonrpc":"2.0","id":1,"method":"a","params":"b"})")
                                         << Kind::Invalid << kInvalidRequest << QJsonValue(1);
        QTest::newRow("deep") << QByteArray(R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"x":)")
                + QByteArray(900, '[') + QByteArray(900, ']') + QByteArray("}}")
                              << Kind::Request << 0 << QJsonValue(1);
        QTest::newRow("deeper than the parser goes")
            << QByteArray(R"({"x":)") + QByteArray(200000, '[') << Kind::Invalid << kParseError << null;
    }

    void messages()
    {
        QFETCH(QByteArray, line);
        QFETCH(RpcMessage::Kind, kind);
        QFETCH(int, error);
        QFETCH(QJsonValue, id);
        const RpcMessage message = parseMessage(line);
        QCOMPARE(message.kind, kind);
        QCOMPARE(message.errorNumber, error);
        QCOMPARE(message.errorText.isEmpty(), error == 0);
        QCOMPARE(message.id, id);
        QCOMPARE(message.id.type(), id.type()); // 1 and "1" are two ids
    }

    void linesOut()
    {
        QCOMPARE(resultLine(0, {}), QByteArray("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n"));
        QCOMPARE(resultLine(qint64(9007199254740993), {}),
                 QByteArray("{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"result\":{}}\n"));
        const QByteArray quoted =
            resultLine(QStringLiteral("a\"\n\\"), {{QStringLiteral("text"), QStringLiteral("one\ntwo")}});
        QCOMPARE(quoted.count('\n'), 1); // no raw newline inside
        const QJsonObject back = QJsonDocument::fromJson(quoted).object();
        QCOMPARE(back.value(QStringLiteral("id")).toString(), QStringLiteral("a\"\n\\"));
        QCOMPARE(errorLine(QJsonValue(QJsonValue::Null), Error{Error::Code::StalePlan, QStringLiteral("old"), {}}),
                 QByteArray("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":3,\"data\":{\"code\":\"plan-stale\"},"
                            "\"message\":\"old\"}}\n"));
    }

    void errorsComeBackAsTheyWent()
    {
        for (const Error::Code code :
             {Error::Code::InvalidParams, Error::Code::Failed, Error::Code::NotFound, Error::Code::StalePlan,
              Error::Code::Unreachable, Error::Code::DoesNotFit, Error::Code::TooLarge, Error::Code::Store,
              Error::Code::Timeout, Error::Code::Cancelled, Error::Code::Refused, Error::Code::MethodNotFound}) {
            const Error sent{code, QStringLiteral("why"), {}};
            const QJsonObject line = QJsonDocument::fromJson(errorLine(1, sent)).object();
            QCOMPARE(errorFromJson(line.value(QStringLiteral("error")).toObject()), sent);
        }
        const Error own{Error::Code::Failed, QStringLiteral("why"), QStringLiteral("empty-session")};
        const QJsonObject line = QJsonDocument::fromJson(errorLine(1, own)).object();
        QCOMPARE(errorFromJson(line.value(QStringLiteral("error")).toObject()), own);
    }

    void schema_data()
    {
        QTest::addColumn<QByteArray>("value");
        QTest::addColumn<QString>("wrong"); // empty = accepted
        QTest::newRow("all") << QByteArray(R"({"role":"user","n":3,"list":[1,2],"slot":"7"})") << QString();
        QTest::newRow("required only") << QByteArray(R"({"role":"user"})") << QString();
        QTest::newRow("unknown names pass") << QByteArray(R"({"role":"user","other":{}})") << QString();
        QTest::newRow("optional null") << QByteArray(R"({"role":"user","n":null})") << QString();
        QTest::newRow("missing") << QByteArray("{}") << QStringLiteral("role: is required");
        QTest::newRow("required null") << QByteArray(R"({"role":null})") << QStringLiteral("role: must be a string");
        QTest::newRow("wrong type") << QByteArray(R"({"role":3})") << QStringLiteral("role: must be a string");
        QTest::newRow("enum") << QByteArray(R"({"role":"king"})") << QStringLiteral("role: must be one of user, tool");
        QTest::newRow("minimum") << QByteArray(R"({"role":"user","n":-1})") << QStringLiteral("n: must be at least 0");
        QTest::newRow("a fraction is no integer")
            << QByteArray(R"({"role":"user","n":1.5})") << QStringLiteral("n: must be an integer");
        QTest::newRow("a whole double is one") << QByteArray(R"({"role":"user","n":2.0})") << QString();
        QTest::newRow("item") << QByteArray(R"({"role":"user","list":[1,"x"]})")
                              << QStringLiteral("list[1]: must be an integer");
        QTest::newRow("two types") << QByteArray(R"({"role":"user","slot":true})")
                                   << QStringLiteral("slot: must be a string or an integer");
        QTest::newRow("inner") << QByteArray(R"({"role":"user","inner":{"max":"a"}})")
                               << QStringLiteral("inner.max: must be an integer");
        QTest::newRow("empty string") << QByteArray(R"({"role":"user","name":""})")
                                      << QStringLiteral("name: must not be empty");
    }

    void schema()
    {
        QFETCH(QByteArray, value);
        QFETCH(QString, wrong);
        const Schema schema = Schema::fromJson(json(R"({"type":"object","required":["role"],"properties":{
            "role":{"type":"string","enum":["user","tool"]},"n":{"type":"integer","minimum":0},"slot":{"type":["integer","string"]},
            "name":{"type":"string","minLength":1},
            "list":{"type":"array","items":{"type":"integer"}},"inner":{"type":"object","properties":{"max":{"type":"integer"}}}}})"));
        const auto found = schema.check(QJsonDocument::fromJson(value).object());
        QCOMPARE(found.value_or(QString()), wrong);
    }

    void strictSchemasTakeNoNull()
    {
        const Schema schema = Schema::fromJson(
            json(R"({"type":"object","properties":{"n":{"type":"integer"},"m":{"type":["integer","null"]}}})"));
        QVERIFY(!schema.check(json(R"({"n":null})")));
        QCOMPARE(schema.check(json(R"({"n":null})"), true).value_or(QString()),
                 QStringLiteral("n: must be an integer"));
        QVERIFY(!schema.check(json(R"({"m":null})"), true));
    }
};

QTEST_GUILESS_MAIN(TestJsonRpc)
#include "tst_jsonrpc.moc"
