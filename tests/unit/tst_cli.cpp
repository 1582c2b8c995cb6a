// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_ipc

// The real kerfd, started as a process: what it prints, how it ends, and what its tools answer.

#include "core/ipc/channel.h"
#include "core/ipc/toolindex.h"
#include "tests/unit/ipctest.h"

#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>

#include <csignal>

using namespace kerf;

class TestCli : public QObject
{
    Q_OBJECT

private:
    struct Output {
        int code = -1;
        QByteArray out;
        QByteArray err;
        QJsonObject json() const { return QJsonDocument::fromJson(out).object(); }
    };

    std::unique_ptr<QTemporaryDir> m_dir;
    QString m_socket;

    static QString program() { return QStringLiteral(KERF_BINARY_DIR "/bin/kerfd"); }

    QProcessEnvironment environment() const
    {
        QProcessEnvironment env = QProcessEnvironment::systemEnvironment();
        env.insert(QStringLiteral("KERF_SOCKET"), m_socket);
        env.insert(QStringLiteral("XDG_DATA_HOME"), m_dir->filePath(QStringLiteral("data")));
        for (const QString &name : {QStringLiteral("DISPLAY"), QStringLiteral("WAYLAND_DISPLAY"),
                                    QStringLiteral("KERF_EVICTION_PROFILE"), QStringLiteral("SAKUR4_EVICTION_PROFILE"),
                                    QStringLiteral("KERF_API_KEY"), QStringLiteral("QT_QPA_PLATFORM")})
            env.remove(name);
        return env;
    }

    Output run(const QStringList &arguments, const QByteArray &input = {}, int limitMs = 30000) const
    {
        QProcess process;
        process.setProcessEnvironment(environment());
        process.start(program(), arguments);
        if (!process.waitForStarted())
            return {};
        if (!input.isEmpty())
            process.write(input);
        process.closeWriteChannel();
        if (!process.waitForFinished(limitMs)) {
            process.kill();
            process.waitForFinished();
            return {-2, process.readAllStandardOutput(), process.readAllStandardError()};
        }
        return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -3, process.readAllStandardOutput(),
                process.readAllStandardError()};
    }

    /// Empty = it listens.
    QByteArray start(QProcess &process,
                     QStringList arguments = {QStringLiteral("--backend"), QStringLiteral("embedded")}) const
    {
        process.setProcessEnvironment(environment());
        process.start(program(), QStringList{QStringLiteral("serve")} + arguments);
        const QDeadlineTimer limit(20000);
        while (!process.canReadLine() && process.state() != QProcess::NotRunning && !limit.hasExpired())
            process.waitForReadyRead(100);
        const QByteArray line = process.readLine();
        if (line == "listening on " + m_socket.toLocal8Bit() + "\n")
            return {};
        return "it says \"" + line + "\", " + process.readAllStandardError();
    }

    static void stop(QProcess &process)
    {
        process.terminate();
        QVERIFY(process.waitForFinished(15000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 0);
        QCOMPARE(process.readAllStandardOutput(), QByteArray()); // one line, and nothing else ever
    }

private Q_SLOTS:
    void initTestCase() { QVERIFY2(QFileInfo::exists(program()), "kerfd is not built"); }
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_socket = m_dir->filePath(QStringLiteral("k.sock"));
    }

    void helpAndUsage()
    {
        Output output = run({QStringLiteral("--version")});
        QCOMPARE(output.code, 0);
        QCOMPARE(output.out, QByteArray("kerfd " KERF_VERSION "\n"));
        output = run({});
        QCOMPARE(output.code, 2);
        QVERIFY(output.out.isEmpty());
        output = run({QStringLiteral("--help")});
        QCOMPARE(output.code, 0);
        QVERIFY(output.out.contains("doctor"));
        output = run({QStringLiteral("no-such")});
        QCOMPARE(output.code, 2);
        QVERIFY(output.err.contains("no-such"));
        for (const char *command :
             {"serve", "mcp", "doctor", "demo", "plan", "receipt", "sessions", "call", "replay"}) {
            const QString name = QString::fromLatin1(command);
            output = run({name, QStringLiteral("--help")});
            QVERIFY2(output.code == 0 && output.out.contains("Examples:") && output.out.contains("Usage: kerfd"),
                     command);
            if (name != QLatin1String("serve"))
                QVERIFY2(output.out.contains("--json"), command);
            output = run({name, QStringLiteral("--no-such-option")});
            QVERIFY2(output.code == 2 && output.err.contains("no-such-option"), command);
        }
        // A key on the command line could be read by others.
        QCOMPARE(run({QStringLiteral("serve"), QStringLiteral("--api-key"), QStringLiteral("secret")}).code, 2);
        QCOMPARE(run({QStringLiteral("plan")}).code, 2);
        QCOMPARE(
            run({QStringLiteral("receipt"), QStringLiteral("s"), QStringLiteral("--turn"), QStringLiteral("x")}).code,
            2);
        QCOMPARE(run({QStringLiteral("call")}).code, 2);
        QCOMPARE(run({QStringLiteral("call"), QStringLiteral("kerf.status"), QStringLiteral("{")}).code, 2);
        QCOMPARE(run({QStringLiteral("serve"), QStringLiteral("stray")}).code, 2);
        QCOMPARE(run({QStringLiteral("serve"), QStringLiteral("--launch")}).code, 2);
        QCOMPARE(run({QStringLiteral("serve"), QStringLiteral("--context-window"), QStringLiteral("a")}).code, 2);
    }

    void withoutAService()
    {
        for (const QStringList &arguments :
             {QStringList{QStringLiteral("sessions")}, QStringList{QStringLiteral("receipt"), QStringLiteral("s")},
              QStringList{QStringLiteral("plan"), QStringLiteral("s")},
              QStringList{QStringLiteral("call"), QStringLiteral("kerf.status")}}) {
            const Output output = run(arguments);
            QCOMPARE(output.code, 3);
            QVERIFY(output.err.contains("kerfd serve")); // what to do
            QVERIFY(output.out.isEmpty());
            const Output json = run(arguments + QStringList{QStringLiteral("--json")});
            QCOMPARE(json.code, 3);
            QCOMPARE(json.json().value(QStringLiteral("error")).toObject().value(QStringLiteral("slug")).toString(),
                     QStringLiteral("backend-unreachable"));
        }
    }

    void serveAndEnd_data()
    {
        QTest::addColumn<int>("signal");
        QTest::newRow("SIGTERM") << SIGTERM;
        QTest::newRow("SIGINT") << SIGINT;
    }

    void serveAndEnd()
    {
        QFETCH(int, signal);
        QProcess service;
        const QByteArray problem = start(service);
        QVERIFY2(problem.isEmpty(), problem.constData());
        RawClient client(m_socket);
        QVERIFY(client.isOpen());
        client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"kerf.status\"}\n");
        const QJsonObject status = resultOf(client.object());
        QCOMPARE(status.value(QStringLiteral("version")).toString(), QStringLiteral(KERF_VERSION));
        QVERIFY(QFileInfo::exists(m_dir->filePath(QStringLiteral("data/kerf/kerf.db")))); // the default store
        ::kill(static_cast<pid_t>(service.processId()), signal);
        QVERIFY(service.waitForFinished(15000));
        QCOMPARE(service.exitStatus(), QProcess::NormalExit);
        QCOMPARE(service.exitCode(), 0);
        QCOMPARE(service.readAllStandardOutput(), QByteArray());
        QVERIFY(client.atEnd());
        QVERIFY(!QFileInfo::exists(m_socket));
    }

    void acceptedIsAnswered()
    {
        QProcess service;
        const QByteArray problem = start(service);
        QVERIFY2(problem.isEmpty(), problem.constData());
        RawClient client(m_socket);
        QByteArray all;
        for (int i = 0; i < 100; ++i)
            all += "{\"jsonrpc\":\"2.0\",\"id\":" + QByteArray::number(i)
                + ",\"method\":\"memory.commit_episode\",\"params\":{\"session_id\":\"s\",\"role\":\"user\","
                  "\"content\":\""
                + QByteArray::number(i) + "\"}}\n";
        client.send(all);
        QCOMPARE(client.object().value(QStringLiteral("id")).toInt(), 0); // it has begun
        service.terminate();
        int answered = 1;
        for (QByteArray line = client.line(10000); !line.isEmpty(); line = client.line(10000)) {
            QVERIFY2(line.contains("\"result\""), line.constData());
            ++answered;
        }
        QVERIFY(service.waitForFinished(15000));
        QCOMPARE(service.exitCode(), 0);
        QVERIFY(answered > 1);
        // Each acknowledged one is there, and none twice.
        const QByteArray again = start(service);
        QVERIFY2(again.isEmpty(), again.constData());
        const QJsonObject session =
            run({QStringLiteral("call"), QStringLiteral("session.get"), QStringLiteral("{\"session_id\":\"s\"}")})
                .json();
        QVERIFY2(session.value(QStringLiteral("episodes")).toInt() >= answered, qPrintable(QString::number(answered)));
        QVERIFY(session.value(QStringLiteral("episodes")).toInt() <= 100);
        stop(service);
    }

    void aSecondServiceRefuses()
    {
        QProcess service;
        const QByteArray problem = start(service);
        QVERIFY2(problem.isEmpty(), problem.constData());
        const Output second = run({QStringLiteral("serve"), QStringLiteral("--backend"), QStringLiteral("embedded")});
        QCOMPARE(second.code, 1);
        QVERIFY(second.out.isEmpty());
        QVERIFY2(second.err.contains(QByteArray::number(service.processId())), second.err.constData());
        QVERIFY(second.err.contains(m_socket.toLocal8Bit()));
        // kill -9 leaves socket and lock behind; the next one takes over.
        service.kill();
        QVERIFY(service.waitForFinished());
        QVERIFY(QFileInfo::exists(m_socket));
        QProcess next;
        const QByteArray taken = start(next);
        QVERIFY2(taken.isEmpty(), taken.constData());
        stop(next);
    }

    void whereItCannotListen()
    {
        Output output = run({QStringLiteral("serve"), QStringLiteral("--backend"), QStringLiteral("embedded"),
                             QStringLiteral("--socket"), m_dir->filePath(QStringLiteral("no/such/k.sock"))});
        QCOMPARE(output.code, 1);
        QVERIFY2(output.err.contains("does not exist"), output.err.constData());
        output = run(
            {QStringLiteral("serve"), QStringLiteral("--socket"), QLatin1Char('/') + QString(200, QLatin1Char('a'))});
        QCOMPARE(output.code, 2);
        QVERIFY(output.err.contains("107"));
        output = run({QStringLiteral("serve"), QStringLiteral("--backend"), QStringLiteral("nonsense spec")});
        QCOMPARE(output.code, 2);
        QVERIFY(output.out.isEmpty());
    }

    void commands()
    {
        QProcess service;
        const QByteArray problem = start(service);
        QVERIFY2(problem.isEmpty(), problem.constData());
        Output output = run({QStringLiteral("call"), QStringLiteral("kerf.status")});
        QCOMPARE(output.code, 0);
        QVERIFY(output.json().contains(QStringLiteral("capabilities")));
        output = run({QStringLiteral("sessions")});
        QCOMPARE(output.code, 0);
        QVERIFY(output.out.contains("No session"));
        output = run({QStringLiteral("call"), QStringLiteral("memory.commit_episode"), QStringLiteral("-"),
                      QStringLiteral("--json")},
                     "{\"session_id\": \"work\", \"role\": \"user\", \"content\": \"Hello\"}");
        QCOMPARE(output.code, 0);
        QCOMPARE(output.out.count('\n'), 1);
        QCOMPARE(output.json().value(QStringLiteral("seq")).toInt(), 1);
        output = run({QStringLiteral("sessions")});
        QVERIFY2(output.out.contains("work"), output.out.constData());
        output = run({QStringLiteral("sessions"), QStringLiteral("--json")});
        QCOMPARE(output.json().value(QStringLiteral("sessions")).toArray().size(), 1);
        output = run({QStringLiteral("plan"), QStringLiteral("work")});
        QCOMPARE(output.code, 0);
        QVERIFY(!output.out.trimmed().isEmpty());
        output =
            run({QStringLiteral("plan"), QStringLiteral("work"), QStringLiteral("--json"), QStringLiteral("--apply")});
        QCOMPARE(output.json().value(QStringLiteral("pressure")).toString(), QStringLiteral("relaxed"));
        QCOMPARE(output.json().value(QStringLiteral("applied")), QJsonValue(false));
        output = run({QStringLiteral("plan"), QStringLiteral("nobody")});
        QCOMPARE(output.code, 1);
        output = run({QStringLiteral("receipt"), QStringLiteral("work")});
        QCOMPARE(output.code, 0);
        QVERIFY(!output.out.trimmed().isEmpty());
        output =
            run({QStringLiteral("receipt"), QStringLiteral("work"), QStringLiteral("--turn"), QStringLiteral("9")});
        QCOMPARE(output.code, 1);
        output = run({QStringLiteral("call"), QStringLiteral("no.such")});
        QCOMPARE(output.code, 2);
        output = run({QStringLiteral("call"), QStringLiteral("memory.recall"), QStringLiteral("{}")});
        QCOMPARE(output.code, 2);
        QVERIFY(output.err.contains("query"));
        output = run({QStringLiteral("call"), QStringLiteral("kerf.status"), QStringLiteral("[]")});
        QCOMPARE(output.code, 2);
        stop(service);
    }

    void doctor()
    {
        // Without a service, by itself.
        Output output = run({QStringLiteral("doctor"), QStringLiteral("--backend"), QStringLiteral("embedded")});
        QCOMPARE(output.code, 0);
        const QList<QByteArray> lines = output.out.split('\n');
        QVERIFY(lines.size() > 3);
        QVERIFY2(lines.at(0).trimmed().startsWith("capabilities"), output.out.constData());
        QVERIFY2(lines.at(1).trimmed().startsWith("coherence"), output.out.constData());
        QVERIFY2(lines.at(2).trimmed().startsWith("eviction"), output.out.constData());
        QVERIFY(output.out.contains("simulated"));
        QVERIFY(!QFileInfo::exists(m_dir->filePath(QStringLiteral("data/kerf/kerf.db")))); // it keeps nothing
        output = run(
            {QStringLiteral("doctor"), QStringLiteral("--backend"), QStringLiteral("none"), QStringLiteral("--json")});
        QCOMPARE(output.code, 0);
        QCOMPARE(output.json().value(QStringLiteral("requested")).toString(), QStringLiteral("none"));
        output = run({QStringLiteral("doctor"), QStringLiteral("--backend"), QStringLiteral("http://127.0.0.1:9"),
                      QStringLiteral("--json")});
        QCOMPARE(output.code, 3);
        QCOMPARE(output.json().value(QStringLiteral("reachable")), QJsonValue(false));
        QCOMPARE(output.json().value(QStringLiteral("simulated")), QJsonValue(false)); // never the simulation
    }

    void noWindowIsLinked()
    {
        QProcess ldd;
        ldd.start(QStringLiteral("ldd"), {program()});
        if (!ldd.waitForFinished())
            QSKIP("no ldd here");
        const QByteArray libraries = ldd.readAllStandardOutput();
        QVERIFY(libraries.contains("Qt6Core"));
        for (const char *library : {"Qt6Gui", "Qt6Widgets", "Qt6Charts", "Qt6Svg"})
            QVERIFY2(!libraries.contains(library), library);
    }

    // ---- kerfd mcp --------------------------------------------------------------------------------------

    void mcpAnswersAtOnce()
    {
        QElapsedTimer timer;
        timer.start();
        const Output output =
            run({QStringLiteral("mcp")},
                "{\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}},\"jsonrpc\":\"2.0\",\"id\":0}\n"
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
                "{\"method\":\"tools/list\",\"jsonrpc\":\"2.0\",\"id\":1}\n");
        QCOMPARE(output.code, 0);
        const QList<QByteArray> lines = output.out.trimmed().split('\n');
        QCOMPARE(lines.size(), 2);
        QCOMPARE(
            resultOf(QJsonDocument::fromJson(lines.at(0)).object()).value(QStringLiteral("protocolVersion")).toString(),
            QStringLiteral("2025-11-25"));
        QCOMPARE(resultOf(QJsonDocument::fromJson(lines.at(1)).object()).value(QStringLiteral("tools")).toArray(),
                 listedTools(true));
        QVERIFY(!QFileInfo::exists(m_socket)); // nothing was started for it
        QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
    }

    void mcpWithoutAService()
    {
        const Output output =
            run({QStringLiteral("mcp"), QStringLiteral("--no-start"), QStringLiteral("--tools"), QStringLiteral("all")},
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"kerf.status\"}}");
        QCOMPARE(output.code, 0);
        const QJsonObject result = resultOf(output.json());
        QCOMPARE(result.value(QStringLiteral("isError")), QJsonValue(true));
        QCOMPARE(run({QStringLiteral("mcp"), QStringLiteral("--tools"), QStringLiteral("few")}).code, 2);
    }

    void mcpStartsAService()
    {
        const Output output =
            run({QStringLiteral("mcp"), QStringLiteral("--backend"), QStringLiteral("embedded")},
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"kerf.status\"}}\n");
        QCOMPARE(output.code, 0);
        QVERIFY2(output.out.contains("embedded"), output.out.constData());
        // It goes on behind the client; ours to end.
        const int fd = connectToPath(m_socket);
        QVERIFY(fd >= 0);
        const qint64 pid = peerProcess(fd);
        ::close(fd);
        QVERIFY(pid > 1 && pid != QCoreApplication::applicationPid());
        QCOMPARE(::kill(static_cast<pid_t>(pid), SIGTERM), 0);
        QTRY_VERIFY_WITH_TIMEOUT(!QFileInfo::exists(m_socket), 15000);
    }

    void mcpEndsOnSigterm()
    {
        QProcess bridge;
        bridge.setProcessEnvironment(environment());
        bridge.start(program(), {QStringLiteral("mcp"), QStringLiteral("--no-start")});
        QVERIFY(bridge.waitForStarted());
        bridge.write("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        QVERIFY(bridge.waitForReadyRead(10000));
        bridge.terminate();
        QVERIFY(bridge.waitForFinished(5000));
        QCOMPARE(bridge.exitStatus(), QProcess::NormalExit);
        QCOMPARE(bridge.exitCode(), 0);
    }

    // ---- what the tools promise -------------------------------------------------------------------------

    void resultsFitTheirSchemas()
    {
        QProcess service;
        const QByteArray problem = start(service,
                                         {QStringLiteral("--backend"), QStringLiteral("embedded"),
                                          QStringLiteral("--context-window"), QStringLiteral("2048")});
        QVERIFY2(problem.isEmpty(), problem.constData());
        RawClient client(m_socket);
        int id = 0;
        QSet<QString> seen;
        const auto call = [&](const QString &name, const QJsonObject &arguments) {
            client.send(QJsonDocument(QJsonObject{{QStringLiteral("jsonrpc"), QStringLiteral("2.0")},
                                                  {QStringLiteral("id"), ++id},
                                                  {QStringLiteral("method"), QStringLiteral("tools/call")},
                                                  {QStringLiteral("params"),
                                                   QJsonObject{{QStringLiteral("name"), name},
                                                               {QStringLiteral("arguments"), arguments}}}})
                            .toJson(QJsonDocument::Compact)
                        + '\n');
            const QJsonObject answer = client.object(20000);
            const QJsonObject result = resultOf(answer);
            const QString text = result.value(QStringLiteral("content"))
                                     .toArray()
                                     .at(0)
                                     .toObject()
                                     .value(QStringLiteral("text"))
                                     .toString();
            if (result.value(QStringLiteral("isError")).toBool(true)) {
                QTest::qFail(
                    qPrintable(name + QStringLiteral(": ") + text + QString::fromUtf8(QJsonDocument(answer).toJson())),
                    __FILE__, __LINE__);
                return QJsonObject();
            }
            if (text.isEmpty())
                QTest::qFail(qPrintable(name + QStringLiteral(" has no text")), __FILE__, __LINE__);
            const QJsonObject structured = result.value(QStringLiteral("structuredContent")).toObject();
            const Schema schema =
                Schema::fromJson(findTool(name)->listed.value(QStringLiteral("outputSchema")).toObject());
            if (const auto wrong = schema.check(structured, true))
                QTest::qFail(qPrintable(name + QStringLiteral(": ") + *wrong), __FILE__, __LINE__);
            seen.insert(name);
            return structured;
        };
        const QJsonObject session{{QStringLiteral("session_id"), QStringLiteral("s")}};
        const auto with = [&session](QJsonObject more) {
            more.insert(QStringLiteral("session_id"), session.value(QStringLiteral("session_id")));
            return more;
        };
        call(QStringLiteral("kerf.status"), {});
        call(QStringLiteral("session.list"), {});
        call(QStringLiteral("session.configure"), with({{QStringLiteral("context_window"), 2048}}));
        call(QStringLiteral("memory.commit_episode"),
             with({{QStringLiteral("role"), QStringLiteral("system")},
                   {QStringLiteral("content"), QStringLiteral("You are terse.")}}));
        call(QStringLiteral("context.receipt"), session); // before any request
        QJsonObject plan;
        for (int turn = 0; turn < 40; ++turn) {
            QString text;
            for (int word = 0; word < 60; ++word)
                text += QStringLiteral("word%1 ").arg(turn * 60 + word);
            call(QStringLiteral("memory.commit_episode"),
                 with({{QStringLiteral("role"), QStringLiteral("user")}, {QStringLiteral("content"), text}}));
            plan = call(QStringLiteral("context.plan_eviction"), session);
            if (plan.value(QStringLiteral("pressure")).toString() == QLatin1String("compacting"))
                break;
            call(QStringLiteral("context.assemble"), session);
            const QJsonObject timings =
                QJsonDocument::fromJson(run({QStringLiteral("call"), QStringLiteral("server.simulate"),
                                             QStringLiteral("{\"session_id\":\"s\"}")})
                                            .out)
                    .object();
            call(QStringLiteral("context.record_timings"),
                 with({{QStringLiteral("cache_n"), timings.value(QStringLiteral("cache_n"))},
                       {QStringLiteral("prompt_n"), timings.value(QStringLiteral("prompt_n"))},
                       {QStringLiteral("prompt_ms"), timings.value(QStringLiteral("prompt_ms"))}}));
            call(QStringLiteral("memory.commit_episode"),
                 with({{QStringLiteral("role"), QStringLiteral("assistant")}, {QStringLiteral("content"), text}}));
        }
        QCOMPARE(plan.value(QStringLiteral("pressure")).toString(), QStringLiteral("compacting"));
        call(QStringLiteral("context.apply"), {{QStringLiteral("plan_id"), plan.value(QStringLiteral("plan_id"))}});
        call(QStringLiteral("context.compactions"), session); // waiting
        call(QStringLiteral("context.assemble"), session);
        call(QStringLiteral("context.record_timings"),
             with({{QStringLiteral("cache_n"), 0},
                   {QStringLiteral("prompt_n"), 100}})); // no ms; not the prompt assembled
        call(QStringLiteral("context.receipt"), session);
        call(QStringLiteral("context.compactions"), session);
        call(QStringLiteral("session.get"), session);
        call(QStringLiteral("session.list"), {});
        const QJsonArray hits =
            call(QStringLiteral("memory.recall"), with({{QStringLiteral("query"), QStringLiteral("word61")}}))
                .value(QStringLiteral("results"))
                .toArray();
        QVERIFY(!hits.isEmpty());
        call(QStringLiteral("memory.get_episode"),
             {{QStringLiteral("episode_id"), hits.at(0).toObject().value(QStringLiteral("id"))}});
        const QJsonObject pinned = call(QStringLiteral("memory.pin"),
                                        with({{QStringLiteral("content"), QStringLiteral("Never deploy on Friday.")}}));
        call(QStringLiteral("memory.unpin"),
             {{QStringLiteral("anchor_id"), pinned.value(QStringLiteral("anchor_id"))}});
        call(QStringLiteral("context.record_usage"),
             with({{QStringLiteral("prompt_tokens"), 100}, {QStringLiteral("cache_read_tokens"), QJsonValue::Null}}));
        call(QStringLiteral("context.record_usage"),
             with({{QStringLiteral("prompt_tokens"), 100}, {QStringLiteral("cache_read_tokens"), 90}}));
        call(QStringLiteral("context.record_usage"),
             with({{QStringLiteral("usage"), QJsonObject{{QStringLiteral("prompt_tokens"), 100}}}}));
        call(QStringLiteral("context.receipt"), session);
        call(QStringLiteral("context.cuts"), session);
        const QJsonObject fold =
            call(QStringLiteral("memory.fold"), with({{QStringLiteral("description"), QStringLiteral("a side trip")}}));
        call(QStringLiteral("memory.commit_episode"),
             with({{QStringLiteral("role"), QStringLiteral("user")},
                   {QStringLiteral("content"), QStringLiteral("inside")}}));
        call(QStringLiteral("memory.unfold"),
             {{QStringLiteral("fold_id"), fold.value(QStringLiteral("fold_id"))},
              {QStringLiteral("result_summary"), QStringLiteral("known now")}});
        call(QStringLiteral("memory.recall_fold"),
             {{QStringLiteral("fold_id"), fold.value(QStringLiteral("fold_id"))}});
        const QJsonObject saved = call(QStringLiteral("session.snapshot"), with({{QStringLiteral("slot_id"), 0}}));
        call(QStringLiteral("session.restore"), {{QStringLiteral("path"), saved.value(QStringLiteral("path"))}});
        call(QStringLiteral("transcript.import"),
             {{QStringLiteral("content"), QStringLiteral("[{\"role\": \"user\", \"content\": \"hello\"}]")},
              {QStringLiteral("session_id"), QStringLiteral("t")}});
        call(QStringLiteral("server.calibrate"), {{QStringLiteral("dry_run"), true}});
        call(QStringLiteral("server.calibrate"), {{QStringLiteral("consent"), true}});
        call(QStringLiteral("server.doctor"), {});
        call(QStringLiteral("server.slots"), {});
        call(QStringLiteral("profile.get"), {});
        call(QStringLiteral("profile.set"), with({{QStringLiteral("name"), QStringLiteral("balanced")}}));
        call(QStringLiteral("profile.reset"), session);
        QCOMPARE(seen.size(), toolTable().size()); // every tool
        stop(service);
        // The same where nothing is known: no server, no window.
        QProcess bare;
        const QByteArray none = start(
            bare,
            {QStringLiteral("--backend"), QStringLiteral("none"), QStringLiteral("--db"), QStringLiteral(":memory:")});
        QVERIFY2(none.isEmpty(), none.constData());
        client.close();
        RawClient other(m_socket);
        for (const char *name : {"kerf.status", "server.doctor", "profile.get"}) {
            other.send(QByteArray("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"")
                       + name + "\",\"arguments\":{}}}\n");
            const QJsonObject result = resultOf(other.object());
            const auto wrong =
                Schema::fromJson(
                    findTool(QString::fromLatin1(name))->listed.value(QStringLiteral("outputSchema")).toObject())
                    .check(result.value(QStringLiteral("structuredContent")).toObject(), true);
            QVERIFY2(!wrong, qPrintable(QString::fromLatin1(name) + wrong.value_or(QString())));
        }
        stop(bare);
    }
};

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"
