// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_ipc

#include "core/ipc/mcp.h"
#include "core/ipc/mcpbridge.h"
#include "core/ipc/socketserver.h"
#include "core/ipc/toolindex.h"
#include "tests/unit/ipctest.h"

#include <QElapsedTimer>
#include <QRegularExpression>
#include <QSet>
#include <QSignalSpy>
#include <QTemporaryDir>

using namespace kerf;

namespace {
const QString kVersion = QStringLiteral("io.modelcontextprotocol/protocolVersion");
const QString kServerInfo = QStringLiteral("io.modelcontextprotocol/serverInfo");
const QString kSubscription = QStringLiteral("io.modelcontextprotocol/subscriptionId");

QByteArray modern(const QByteArray &extra = {})
{
    return "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/"
           "clientCapabilities\":{},"
           "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"t\",\"version\":\"1\"}"
        + extra + "}";
}

QString textOf(const QJsonObject &result)
{
    return result.value(QStringLiteral("content")).toArray().at(0).toObject().value(QStringLiteral("text")).toString();
}
} // namespace

class TestMcp : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_dir;
    QString m_path;
    std::shared_ptr<TestHandler> m_handler;
    std::unique_ptr<SocketServer> m_server;

    void serve()
    {
        m_server.reset();
        m_server = std::make_unique<SocketServer>(m_path);
        QVERIFY(m_server->listen(m_handler));
    }

    /// The bridge as `kerfd mcp` runs it, its stdin and stdout in the test's hands.
    struct Stdio {
        explicit Stdio(BridgeOptions options)
        {
            int in[2];
            int out[2];
            if (::socketpair(AF_UNIX, SOCK_STREAM, 0, in) != 0 || ::pipe(out) != 0)
                qFatal("no pipes");
            input = std::make_unique<RawClient>(in[0]);
            bridgeIn = in[1];
            bridgeOut = out[1];
            outputFd = out[0];
            bridge = std::make_unique<McpBridge>(bridgeIn, bridgeOut, options);
            finished = std::make_unique<QSignalSpy>(bridge.get(), &McpBridge::finished);
        }
        ~Stdio()
        {
            bridge.reset();
            ::close(bridgeIn);
            ::close(bridgeOut);
            ::close(outputFd);
        }
        QByteArray line(int limitMs = 5000)
        {
            const QDeadlineTimer limit(limitMs);
            for (;;) {
                if (const qsizetype end = buffer.indexOf('\n'); end >= 0) {
                    const QByteArray found = buffer.left(end);
                    buffer.remove(0, end + 1);
                    return found;
                }
                pollfd poll{outputFd, POLLIN, 0};
                char bytes[65536];
                if (::poll(&poll, 1, 0) > 0) {
                    const ssize_t got = ::read(outputFd, bytes, sizeof(bytes));
                    if (got > 0) {
                        buffer.append(bytes, got);
                        continue;
                    }
                }
                if (limit.hasExpired())
                    return {};
                QTest::qWait(1);
            }
        }
        QJsonObject object(int limitMs = 5000) { return QJsonDocument::fromJson(line(limitMs)).object(); }
        QJsonObject ask(const QByteArray &text)
        {
            input->send(text + "\n");
            return object();
        }
        std::unique_ptr<RawClient> input;
        std::unique_ptr<McpBridge> bridge;
        std::unique_ptr<QSignalSpy> finished;
        QByteArray buffer;
        int bridgeIn = -1;
        int bridgeOut = -1;
        int outputFd = -1;
    };

    BridgeOptions options() const
    {
        BridgeOptions given;
        given.socketPath = m_path;
        return given;
    }

private Q_SLOTS:
    void init()
    {
        m_path = m_dir.filePath(QStringLiteral("m.sock"));
        m_handler = std::make_shared<TestHandler>();
    }
    void cleanup()
    {
        m_server.reset();
        m_handler.reset();
    }

    // ---- the constant tool table ------------------------------------------------------------------------

    void toolsAreNamedAsThePageSays()
    {
        const QStringList page{QStringLiteral("session.configure"),    QStringLiteral("memory.commit_episode"),
                               QStringLiteral("memory.pin"),           QStringLiteral("memory.unpin"),
                               QStringLiteral("memory.fold"),          QStringLiteral("memory.unfold"),
                               QStringLiteral("memory.recall_fold"),   QStringLiteral("session.snapshot"),
                               QStringLiteral("session.restore"),      QStringLiteral("memory.recall"),
                               QStringLiteral("memory.get_episode"),   QStringLiteral("session.list"),
                               QStringLiteral("session.get"),          QStringLiteral("context.plan_eviction"),
                               QStringLiteral("context.apply"),        QStringLiteral("context.cuts"),
                               QStringLiteral("context.assemble"),     QStringLiteral("context.record_timings"),
                               QStringLiteral("context.record_usage"), QStringLiteral("context.receipt"),
                               QStringLiteral("context.compactions"),  QStringLiteral("server.doctor"),
                               QStringLiteral("server.slots"),         QStringLiteral("server.calibrate"),
                               QStringLiteral("transcript.import"),    QStringLiteral("profile.get"),
                               QStringLiteral("profile.set"),          QStringLiteral("profile.reset"),
                               QStringLiteral("kerf.status")};
        QStringList named;
        for (const ToolInfo &tool : toolTable())
            named.append(QString::fromLatin1(tool.name));
        QCOMPARE(QSet<QString>(named.cbegin(), named.cend()), QSet<QString>(page.cbegin(), page.cend()));
        QCOMPARE(named.size(), page.size());
        QStringList core;
        for (const QJsonValue &tool : listedTools(true))
            core.append(tool.toObject().value(QStringLiteral("name")).toString());
        QCOMPARE(core,
                 (QStringList{QStringLiteral("memory.commit_episode"), QStringLiteral("memory.recall"),
                              QStringLiteral("memory.get_episode"), QStringLiteral("memory.pin"),
                              QStringLiteral("context.plan_eviction"), QStringLiteral("context.assemble"),
                              QStringLiteral("context.record_timings"), QStringLiteral("context.receipt"),
                              QStringLiteral("kerf.status")}));
        QCOMPARE(findTool(QStringLiteral("sakur4.status")), findTool(QStringLiteral("kerf.status")));
        QVERIFY(!findTool(QStringLiteral("events.subscribe")));
    }

    void toolsAreWellFormed()
    {
        static const QRegularExpression name(QStringLiteral("^[A-Za-z0-9_.-]{1,64}$"));
        QSet<QString> flat;
        for (const QJsonValue &value : listedTools(false)) {
            const QJsonObject tool = value.toObject();
            const QString id = tool.value(QStringLiteral("name")).toString();
            QVERIFY2(name.match(id).hasMatch(), qPrintable(id));
            const QString underscored = QString(id).replace(QLatin1Char('.'), QLatin1Char('_'));
            QVERIFY2(!flat.contains(underscored), qPrintable(id)); // clients rewrite dots
            flat.insert(underscored);
            QVERIFY(!tool.value(QStringLiteral("title")).toString().isEmpty());
            QVERIFY2(tool.value(QStringLiteral("description")).toString().size() <= 140, qPrintable(id));
            for (const QString &side : {QStringLiteral("inputSchema"), QStringLiteral("outputSchema")}) {
                const QJsonObject schema = tool.value(side).toObject();
                QVERIFY2(schema.value(QStringLiteral("type")).toString() == QLatin1String("object"),
                         qPrintable(id + side));
                const QJsonArray required = schema.value(QStringLiteral("required")).toArray();
                for (const QJsonValue &field : required) // what is required is described
                    QVERIFY2(schema.value(QStringLiteral("properties")).toObject().contains(field.toString()),
                             qPrintable(id + field.toString()));
            }
            // Dialects of models know one type a field; what a model fills in keeps to that.
            const bool core = listedTools(true).contains(value);
            const QJsonObject fields =
                tool.value(QStringLiteral("inputSchema")).toObject().value(QStringLiteral("properties")).toObject();
            for (auto it = fields.begin(); it != fields.end(); ++it)
                QVERIFY2(!core || !it.value().toObject().value(QStringLiteral("type")).isArray(),
                         qPrintable(id + it.key()));
            const QJsonObject annotations = tool.value(QStringLiteral("annotations")).toObject();
            for (const QString &hint : {QStringLiteral("readOnlyHint"), QStringLiteral("destructiveHint"),
                                        QStringLiteral("idempotentHint"), QStringLiteral("openWorldHint")})
                QVERIFY2(annotations.value(hint).isBool(), qPrintable(id + hint));
        }
    }

    void argumentsAreChecked_data()
    {
        QTest::addColumn<QString>("tool");
        QTest::addColumn<QByteArray>("arguments");
        QTest::addColumn<QString>("wrong");
        const QString commit = QStringLiteral("memory.commit_episode");
        const QString plan = QStringLiteral("context.plan_eviction");
        QTest::newRow("text") << commit << QByteArray(R"({"role":"user","content":"a"})") << QString();
        QTest::newRow("parts") << commit << QByteArray(R"({"role":"user","content":[{"type":"text","text":"a"}]})")
                               << QString();
        QTest::newRow("null content") << commit
                                      << QByteArray(
                                             R"({"role":"assistant","content":null,"tool_calls":[{"name":"a"}]})")
                                      << QString();
        QTest::newRow("no content") << commit << QByteArray(R"({"role":"user"})")
                                    << QStringLiteral("content: is required");
        QTest::newRow("role") << commit << QByteArray(R"({"role":"boss","content":"a"})")
                              << QStringLiteral("role: must be one of system, user, assistant, tool, internal");
        QTest::newRow("token ids") << commit
                                   << QByteArray(R"({"role":"assistant","content":"a","generated_tokens":[1,-2]})")
                                   << QStringLiteral("generated_tokens[1]: must be at least 0");
        QTest::newRow("slot") << plan << QByteArray(R"({"slot_id":-1})") << QString();
        QTest::newRow("slot as text") << plan << QByteArray(R"({"slot_id":"2"})") << QString();
        QTest::newRow("slot as flag") << plan << QByteArray(R"({"slot_id":true})")
                                      << QStringLiteral("slot_id: must be a string or an integer");
        QTest::newRow("empty session") << plan << QByteArray(R"({"session_id":""})")
                                       << QStringLiteral("session_id: must not be empty");
        QTest::newRow("usage null") << QStringLiteral("context.record_usage")
                                    << QByteArray(R"({"prompt_tokens":1,"cache_read_tokens":null})") << QString();
        QTest::newRow("nothing needed") << QStringLiteral("kerf.status") << QByteArray("{}") << QString();
    }

    void argumentsAreChecked()
    {
        QFETCH(QString, tool);
        QFETCH(QByteArray, arguments);
        QFETCH(QString, wrong);
        QCOMPARE(findTool(tool)->input.check(QJsonDocument::fromJson(arguments).object()).value_or(QString()), wrong);
    }

    // ---- the older era, on the socket -------------------------------------------------------------------

    void initialize_data()
    {
        QTest::addColumn<QByteArray>("asked");
        QTest::addColumn<QString>("answered");
        for (const char *known : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
            QTest::newRow(known) << QByteArray(known) << QString::fromLatin1(known);
        QTest::newRow("unknown") << QByteArray("2030-01-01") << QStringLiteral("2025-11-25");
        QTest::newRow("nonsense") << QByteArray("x") << QStringLiteral("2025-11-25");
    }

    void initialize()
    {
        QFETCH(QByteArray, asked);
        QFETCH(QString, answered);
        serve();
        RawClient client(m_path);
        for (int i = 0; i < 2; ++i) { // a second one is answered again
            client.send("{\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"" + asked
                        + "\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}},\"jsonrpc\":\"2."
                          "0\",\"id\":0}\n");
            const QJsonObject answer = client.object();
            QCOMPARE(answer.value(QStringLiteral("id")), QJsonValue(0));
            const QJsonObject result = resultOf(answer);
            QCOMPARE(result.value(QStringLiteral("protocolVersion")).toString(), answered);
            QCOMPARE(result.value(QStringLiteral("capabilities")).toObject(),
                     (QJsonObject{{QStringLiteral("tools"), QJsonObject()}}));
            QCOMPARE(result.value(QStringLiteral("serverInfo")).toObject().value(QStringLiteral("name")).toString(),
                     QStringLiteral("kerf"));
            QVERIFY(!result.contains(QStringLiteral("resultType")));
        }
        client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                    "initialized\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        QCOMPARE(client.line(), QByteArray("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"));
    }

    void listAndCall()
    {
        serve();
        RawClient client(m_path);
        client.send(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"progressToken\":0}}}\n");
        const QJsonObject list = resultOf(client.object());
        QCOMPARE(list.value(QStringLiteral("tools")).toArray(), listedTools(false));
        QVERIFY(!list.contains(QStringLiteral("nextCursor")));
        client.send("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{\"cursor\":\"\"}}\n");
        QCOMPARE(errorCode(client.object()), -32602); // an empty cursor is a cursor
        client.send("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"kerf.status\"}}\n");
        QJsonObject result = resultOf(client.object());
        QCOMPARE(textOf(result), QStringLiteral("text of kerf.status"));
        QCOMPARE(result.value(QStringLiteral("structuredContent")).toObject(),
                 (QJsonObject{{QStringLiteral("version"), QStringLiteral("test")}}));
        QCOMPARE(result.value(QStringLiteral("isError")), QJsonValue(false));
        // The session of the connection, as for a plain method.
        client.send("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/"
                    "call\",\"params\":{\"name\":\"memory.recall\",\"arguments\":{\"query\":\"a\"}}}\n");
        QVERIFY(resultOf(client.object())
                    .value(QStringLiteral("structuredContent"))
                    .toObject()
                    .value(QStringLiteral("session"))
                    .toString()
                    .startsWith(QStringLiteral("conn-")));
        // codex names its conversation.
        client.send("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/"
                    "call\",\"params\":{\"name\":\"memory.recall\",\"arguments\":{\"query\":\"a\"},"
                    "\"_meta\":{\"callId\":\"c\",\"x-codex-turn-metadata\":{\"session_id\":\"019-s\",\"thread_id\":"
                    "\"019-t\",\"model\":\"m\"}}}}\n");
        QCOMPARE(resultOf(client.object())
                     .value(QStringLiteral("structuredContent"))
                     .toObject()
                     .value(QStringLiteral("session"))
                     .toString(),
                 QStringLiteral("019-t"));
    }

    void failures()
    {
        serve();
        RawClient client(m_path);
        const auto ask = [&client](const QByteArray &params) {
            client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":" + params + "}\n");
            return client.object();
        };
        // A malformed call is a protocol error ...
        QCOMPARE(errorCode(ask("{\"name\":\"no.such\"}")), -32602);
        QCOMPARE(errorCode(ask("{}")), -32602);
        QCOMPARE(errorCode(ask("{\"name\":\"kerf.status\",\"arguments\":[]}")), -32602);
        // ... what a model can do something about is a result.
        QJsonObject answer = ask("{\"name\":\"memory.recall\",\"arguments\":{}}");
        QVERIFY(!answer.contains(QStringLiteral("error")));
        QCOMPARE(resultOf(answer).value(QStringLiteral("isError")), QJsonValue(true));
        QCOMPARE(textOf(resultOf(answer)), QStringLiteral("invalid-params: query: is required"));
        answer = ask("{\"name\":\"context.apply\",\"arguments\":{\"plan_id\":\"p-1\"}}");
        QCOMPARE(resultOf(answer).value(QStringLiteral("isError")), QJsonValue(true));
        QCOMPARE(textOf(resultOf(answer)), QStringLiteral("plan-stale: plan p-1 is stale"));
        QVERIFY(
            !resultOf(answer).contains(QStringLiteral("structuredContent"))); // it would have to fit the outputSchema
        // Nothing is declared but tools.
        for (const char *method :
             {"resources/list", "prompts/list", "logging/setLevel", "completion/complete", "no/such"}) {
            client.send(QByteArray("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"") + method + "\"}\n");
            QCOMPARE(errorCode(client.object()), -32601);
        }
    }

    void progress()
    {
        serve();
        RawClient client(m_path);
        client.send(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test.steps\",\"params\":{\"_meta\":{\"progressToken\":0}}}\n");
        QList<double> seen;
        QJsonObject message = client.object();
        while (message.value(QStringLiteral("method")).toString() == QLatin1String("notifications/progress")) {
            const QJsonObject params = message.value(QStringLiteral("params")).toObject();
            QCOMPARE(params.value(QStringLiteral("progressToken")), QJsonValue(0)); // 0 is a token
            QCOMPARE(params.value(QStringLiteral("total")), QJsonValue(2));
            seen.append(params.value(QStringLiteral("progress")).toDouble());
            message = client.object();
        }
        QCOMPARE(seen, (QList<double>{0, 1, 2})); // strictly rising
        QCOMPARE(message.value(QStringLiteral("id")), QJsonValue(1));
        m_handler->lastContext.progress(3, 0, QString()); // none after the answer
        client.send("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"test.steps\"}\n");
        QCOMPARE(client.object().value(QStringLiteral("id")), QJsonValue(2)); // none without a token
    }

    // ---- the stateless era ------------------------------------------------------------------------------

    void discover()
    {
        serve();
        RawClient client(m_path);
        client.send(
            "{\"jsonrpc\":\"2.0\",\"id\":\"server-discover-probe-1\",\"method\":\"server/discover\",\"params\":{"
            + modern() + "}}\n");
        const QJsonObject answer = client.object();
        QCOMPARE(answer.value(QStringLiteral("id")), QJsonValue(QStringLiteral("server-discover-probe-1")));
        const QJsonObject result = resultOf(answer);
        QCOMPARE(result.value(QStringLiteral("resultType")).toString(), QStringLiteral("complete"));
        QCOMPARE(result.value(QStringLiteral("supportedVersions")).toArray(), QJsonArray{QStringLiteral("2026-07-28")});
        QCOMPARE(result.value(QStringLiteral("capabilities")).toObject(),
                 (QJsonObject{{QStringLiteral("tools"), QJsonObject()}}));
        QVERIFY(result.value(QStringLiteral("ttlMs")).toInt(-1) >= 0);
        QCOMPARE(result.value(QStringLiteral("cacheScope")).toString(), QStringLiteral("public"));
        QCOMPARE(result.value(QStringLiteral("_meta"))
                     .toObject()
                     .value(kServerInfo)
                     .toObject()
                     .value(QStringLiteral("name"))
                     .toString(),
                 QStringLiteral("kerf"));
        client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}\n");
        QCOMPARE(errorCode(client.object()), -32602); // without its _meta
    }

    void modernRequests()
    {
        serve();
        RawClient client(m_path);
        client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" + modern() + "}}\n");
        QJsonObject result = resultOf(client.object());
        QCOMPARE(result.value(QStringLiteral("tools")).toArray(), listedTools(false)); // one table serves both
        QCOMPARE(result.value(QStringLiteral("resultType")).toString(), QStringLiteral("complete"));
        QCOMPARE(result.value(QStringLiteral("ttlMs")), QJsonValue(300000));
        client.send("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"kerf.status\","
                    + modern() + "}}\n");
        result = resultOf(client.object());
        QCOMPARE(result.value(QStringLiteral("resultType")).toString(), QStringLiteral("complete"));
        QVERIFY(result.value(QStringLiteral("_meta")).toObject().contains(kServerInfo));
        QCOMPARE(textOf(result), QStringLiteral("text of kerf.status"));
        // No session may be inferred from the connection.
        client.send("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
                    "call\",\"params\":{\"name\":\"memory.recall\",\"arguments\":{\"query\":\"a\"},"
                    + modern() + "}}\n");
        const QJsonObject nameless = client.object();
        QCOMPARE(errorCode(nameless), -32602);
        QVERIFY(errorText(nameless).startsWith(QStringLiteral("session_id")));
        client.send(
            "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/"
            "call\",\"params\":{\"name\":\"memory.recall\",\"arguments\":{\"query\":\"a\",\"session_id\":\"s\"},"
            + modern() + "}}\n");
        QCOMPARE(resultOf(client.object()).value(QStringLiteral("isError")), QJsonValue(false));
        QCOMPARE(m_handler->lastContext.defaultSessionId, QString());
        client.send("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/"
                    "call\",\"params\":{\"name\":\"memory.recall\",\"arguments\":{\"query\":\"a\"},"
                    + modern(",\"x-codex-turn-metadata\":\"{\\\"thread_id\\\":\\\"t-1\\\"}\"") + "}}\n");
        QCOMPARE(resultOf(client.object())
                     .value(QStringLiteral("structuredContent"))
                     .toObject()
                     .value(QStringLiteral("session"))
                     .toString(),
                 QStringLiteral("t-1"));
        // What the era removed.
        for (const char *method : {"initialize", "ping", "logging/setLevel", "resources/subscribe"}) {
            client.send(QByteArray("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"") + method + "\",\"params\":{"
                        + modern() + "}}\n");
            QCOMPARE(errorCode(client.object()), -32601);
        }
    }

    void modernMistakes()
    {
        serve();
        RawClient client(m_path);
        client.send(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
            "protocolVersion\":\"2027-01-01\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n");
        const QJsonObject answer = client.object();
        QCOMPARE(errorCode(answer), -32022);
        const QJsonObject data =
            answer.value(QStringLiteral("error")).toObject().value(QStringLiteral("data")).toObject();
        QCOMPARE(data.value(QStringLiteral("supported")).toArray(), QJsonArray{QStringLiteral("2026-07-28")});
        QCOMPARE(data.value(QStringLiteral("requested")).toString(), QStringLiteral("2027-01-01"));
        client.send("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
                    "list\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}\n");
        QCOMPARE(errorCode(client.object()), -32602); // clientCapabilities is required
    }

    void subscriptions()
    {
        serve();
        RawClient client(m_path);
        client.send("{\"jsonrpc\":\"2.0\",\"id\":\"sub\",\"method\":\"subscriptions/"
                    "listen\",\"params\":{\"notifications\":{\"toolsListChanged\":true,\"kerf/events\":[\"plan\"]},"
                    + modern() + "}}\n");
        const QJsonObject acknowledged = client.object();
        QCOMPARE(acknowledged.value(QStringLiteral("method")).toString(),
                 QStringLiteral("notifications/subscriptions/acknowledged"));
        const QJsonObject params = acknowledged.value(QStringLiteral("params")).toObject();
        QCOMPARE(params.value(QStringLiteral("_meta")).toObject().value(kSubscription).toString(),
                 QStringLiteral("sub"));
        QCOMPARE(params.value(QStringLiteral("notifications")).toObject(),
                 (QJsonObject{{QStringLiteral("kerf/events"),
                               QJsonArray{QStringLiteral("plan")}}})); // the tool list never changes
        m_handler->publish(QStringLiteral("ring"));
        m_handler->publish(QStringLiteral("plan"), {{QStringLiteral("plan_id"), QStringLiteral("p")}});
        const QJsonObject event = client.object().value(QStringLiteral("params")).toObject();
        QCOMPARE(event.value(QStringLiteral("plan_id")).toString(), QStringLiteral("p"));
        QCOMPARE(event.value(QStringLiteral("_meta")).toObject().value(kSubscription).toString(),
                 QStringLiteral("sub"));
        // It stays open and holds nothing up.
        client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"kerf.status\"}\n");
        QCOMPARE(client.object().value(QStringLiteral("id")), QJsonValue(1));
        client.send(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"sub\"}}\n");
        client.send("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"kerf.status\"}\n");
        QCOMPARE(client.object().value(QStringLiteral("id")), QJsonValue(2)); // no answer to the cancelled one
        m_handler->publish(QStringLiteral("plan"));
        QCOMPARE(client.line(50), QByteArray());
        // A graceful end is its answer.
        client.send(
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{},"
            + modern() + "}}\n");
        client.object();
        m_server->stop();
        const QJsonObject end = client.object();
        QCOMPARE(end.value(QStringLiteral("id")), QJsonValue(7));
        QCOMPARE(resultOf(end).value(QStringLiteral("resultType")).toString(), QStringLiteral("complete"));
        QCOMPARE(resultOf(end).value(QStringLiteral("_meta")).toObject().value(kSubscription), QJsonValue(7));
    }

    // ---- the bridge -------------------------------------------------------------------------------------

    void constantsOpenNothing()
    {
        bool asked = false;
        BridgeOptions given = options();
        given.startService = [&asked]() -> Result<void> {
            asked = true;
            return {};
        };
        Stdio stdio(given); // nobody listens
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(
            resultOf(
                stdio.ask(
                    R"({"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"codex","version":"1"}},"jsonrpc":"2.0","id":0})"))
                .value(QStringLiteral("protocolVersion"))
                .toString(),
            QStringLiteral("2025-06-18"));
        stdio.input->send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        QCOMPARE(
            resultOf(
                stdio.ask(R"({"method":"tools/list","jsonrpc":"2.0","id":1,"params":{"_meta":{"progressToken":0}}})"))
                .value(QStringLiteral("tools"))
                .toArray(),
            listedTools(true));
        QCOMPARE(resultOf(stdio.ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})")), QJsonObject());
        QCOMPARE(resultOf(stdio.ask("{\"jsonrpc\":\"2.0\",\"id\":\"server-discover-probe-1\",\"method\":\"server/"
                                    "discover\",\"params\":{"
                                    + modern() + "}}"))
                     .value(QStringLiteral("resultType"))
                     .toString(),
                 QStringLiteral("complete"));
        QCOMPARE(errorCode(stdio.ask(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"no.such"}})")),
                 -32602);
        QCOMPARE(errorCode(stdio.ask(R"({"jsonrpc":"2.0","id":4,"method":"nonsense"})")), -32601);
        QCOMPARE(errorCode(stdio.ask("{\"jsonrpc\"")), -32700);
        QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
        QVERIFY(!asked);
        BridgeOptions all = options();
        all.coreOnly = false;
        Stdio everything(all);
        QCOMPARE(resultOf(everything.ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"))
                     .value(QStringLiteral("tools"))
                     .toArray(),
                 listedTools(false));
    }

    void forwards()
    {
        serve();
        Stdio stdio(options());
        const QJsonObject answer = stdio.ask(
            R"({"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"memory.recall","arguments":{"query":"a"}}})");
        QCOMPARE(answer.value(QStringLiteral("id")), QJsonValue(0));
        const QString session = resultOf(answer)
                                    .value(QStringLiteral("structuredContent"))
                                    .toObject()
                                    .value(QStringLiteral("session"))
                                    .toString();
        QVERIFY2(session.startsWith(QStringLiteral("mcp-")), qPrintable(session));
        // A plain method goes the same way.
        QCOMPARE(resultOf(stdio.ask(R"({"jsonrpc":"2.0","id":1,"method":"kerf.status"})"))
                     .value(QStringLiteral("version"))
                     .toString(),
                 QStringLiteral("test"));
        // ping is answered while a long call runs; the call can be cancelled.
        stdio.input->send("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"test.hold\"}\n");
        QTRY_COMPARE(m_handler->waiting.size(), 1);
        QCOMPARE(stdio.ask(R"({"jsonrpc":"2.0","id":3,"method":"ping"})").value(QStringLiteral("id")), QJsonValue(3));
        stdio.input->send(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}\n"
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":0}}\n"); // answered
                                                                                                            // long ago
        QTRY_VERIFY(m_handler->lastContext.cancelled->load());
        m_handler->release();
        QCOMPARE(stdio.ask(R"({"jsonrpc":"2.0","id":4,"method":"kerf.status"})").value(QStringLiteral("id")),
                 QJsonValue(4));

        // The service restarts: the conversation keeps its name.
        serve();
        QJsonObject again;
        QTRY_VERIFY(
            !(again = resultOf(stdio.ask(
                  R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"memory.recall","arguments":{"query":"a"}}})")))
                 .isEmpty());
        QCOMPARE(
            again.value(QStringLiteral("structuredContent")).toObject().value(QStringLiteral("session")).toString(),
            session);
    }

    void aServiceThatDiesDuringACall()
    {
        serve();
        Stdio stdio(options());
        stdio.input->send(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"kerf.status\"}}\n");
        QCOMPARE(stdio.object().value(QStringLiteral("id")), QJsonValue(1));
        stdio.input->send("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"test.hold\"}\n");
        QTRY_COMPARE(m_handler->waiting.size(), 1);
        m_server.reset();
        const QJsonObject answer = stdio.object();
        QCOMPARE(answer.value(QStringLiteral("id")), QJsonValue(2));
        QCOMPARE(errorCode(answer), 4);
        // No service: a tool's failure says what to do.
        const QJsonObject failed =
            resultOf(stdio.ask(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"kerf.status"}})"));
        QCOMPARE(failed.value(QStringLiteral("isError")), QJsonValue(true));
        QVERIFY2(textOf(failed).contains(QStringLiteral("kerfd serve")), qPrintable(textOf(failed)));
        m_handler->release();
    }

    void startsTheServiceOnTheFirstCall()
    {
        BridgeOptions given = options();
        int started = 0;
        given.startService = [this, &started]() -> Result<void> {
            ++started;
            QTimer::singleShot(200, this, &TestMcp::serve);
            return {};
        };
        Stdio stdio(given);
        stdio.input->send(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"kerf.status\"}}\n"
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"kerf.status\"}}\n");
        QCOMPARE(stdio.object().value(QStringLiteral("id")), QJsonValue(1));
        QCOMPARE(stdio.object().value(QStringLiteral("id")), QJsonValue(2));
        QCOMPARE(started, 1);
    }

    void aStartThatFails()
    {
        BridgeOptions given = options();
        given.startLimitMs = 150;
        int started = 0;
        given.startService = [&started]() -> Result<void> {
            ++started;
            return {};
        };
        Stdio stdio(given);
        const QJsonObject failed =
            resultOf(stdio.ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"kerf.status"}})"));
        QCOMPARE(failed.value(QStringLiteral("isError")), QJsonValue(true));
        QCOMPARE(started, 1);
        QCOMPARE(stdio.ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})").value(QStringLiteral("id")), QJsonValue(2));
    }

    void batches()
    {
        serve();
        const QByteArray batch =
            R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"kerf.status"}},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-03-26"}},7])";
        Stdio stdio(options());
        QCOMPARE(errorCode(stdio.ask(batch)), -32600); // nothing negotiated
        stdio.ask(
            R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})");
        QCOMPARE(errorCode(stdio.ask(batch)), -32600); // removed again in that revision
        stdio.ask(
            R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})");
        stdio.input->send(batch + "\n");
        const QJsonArray answers = QJsonDocument::fromJson(stdio.line()).array();
        QCOMPARE(answers.size(), 4);
        QMap<int, QJsonObject> byId;
        for (const QJsonValue &answer : answers)
            byId.insert(answer.toObject().value(QStringLiteral("id")).toInt(-1), answer.toObject());
        QVERIFY(byId.value(1).contains(QStringLiteral("result")));
        QCOMPARE(textOf(resultOf(byId.value(2))), QStringLiteral("text of kerf.status"));
        QCOMPARE(errorCode(byId.value(3)), -32600); // initialize must not be in one
        QCOMPARE(errorCode(byId.value(-1)), -32600);
        stdio.input->send("[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}]\n");
        QCOMPARE(stdio.line(50), QByteArray()); // notifications alone: nothing
        QCOMPARE(errorCode(stdio.ask("[]")), -32600);
    }

    void endOfInput()
    {
        serve();
        {
            Stdio stdio(options());
            stdio.input->send(
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"test."
                "later\"}\n"
                "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"kerf.status\"}"); // the last without a line end
            stdio.input->close();
            for (int i = 1; i <= 3; ++i)
                QCOMPARE(stdio.object().value(QStringLiteral("id")), QJsonValue(i));
            QTRY_COMPARE(stdio.finished->size(), 1);
        }
        {
            Stdio idle(options());
            QElapsedTimer timer;
            timer.start();
            idle.input->close();
            QTRY_COMPARE(idle.finished->size(), 1);
            QVERIFY(timer.elapsed() < 1000);
        }
        {
            BridgeOptions given = options();
            given.endLimitMs = 100;
            Stdio stuck(given);
            stuck.input->send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test.hold\"}\n");
            QTRY_COMPARE(m_handler->waiting.size(), 1);
            stuck.input->close();
            QTRY_COMPARE(stuck.finished->size(), 1); // not for ever
            m_handler->release();
        }
    }
};

QTEST_GUILESS_MAIN(TestMcp)
#include "tst_mcp.moc"
