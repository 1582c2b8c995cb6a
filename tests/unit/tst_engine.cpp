// kerf-test: link=kerf_engine
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// The engine's methods in process: on the embedded server always, and on a real one where KERF_LLAMA_SERVER names its
// binary and KERF_MODELS a folder with gemma3.gguf.

#include "core/engine/kerfservice.h"
#include "core/llama/httpclient.h"
#include "tests/unit/llama_httpstub.h"

#include <QJsonDocument>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace kerf;

namespace {

QString str(const char *text) { return QString::fromUtf8(text); }
QJsonObject json(const QByteArray &text) { return QJsonDocument::fromJson(text).object(); }

QString words(int count, int seed)
{
    QStringList list;
    for (int i = 0; i < count; ++i)
        list.append(QStringLiteral("w%1").arg((seed * 7919 + i * 104729) % 997));
    return list.join(QLatin1Char(' '));
}

/// A service of its own, and what it told.
class Service
{
public:
    Service()
        : Service(embedded(QStringLiteral(":memory:")))
    {
    }
    explicit Service(ServiceOptions options)
    {
        auto opened = valueOf(openService(std::move(options)));
        if (!opened)
            qFatal("%s", qPrintable(opened.error().message));
        handler = *opened;
        QObject::connect(handler.get(), &MethodHandler::event, handler.get(),
                         [this](const QString &topic, const QJsonObject &params) {
                             events.append({topic, params});
                         });
    }
    static ServiceOptions embedded(const QString &db)
    {
        ServiceOptions options;
        options.dbPath = db;
        options.backend.spec = QStringLiteral("embedded");
        return options;
    }
    Result<QJsonObject> call(const char *method, const QJsonObject &params = {})
    {
        return valueOf(handler->call(str(method), params, CallContext{}), 120'000);
    }
    QJsonObject ok(const char *method, const QJsonObject &params = {})
    {
        const auto result = call(method, params);
        if (!result)
            qFatal("%s: %s", method, qPrintable(result.error().message));
        return *result;
    }
    std::optional<Error::Code> code(const char *method, const QJsonObject &params = {})
    {
        const auto result = call(method, params);
        return result ? std::nullopt : std::optional<Error::Code>(result.error().code);
    }
    QString message(const char *method, const QJsonObject &params = {})
    {
        const auto result = call(method, params);
        return result ? QString() : result.error().message;
    }
    int commit(const QString &session, const char *role, const QString &content)
    {
        return ok("memory.commit_episode",
                  {{str("session_id"), session}, {str("role"), str(role)}, {str("content"), content}})
            .value(str("seq"))
            .toInt();
    }
    /// One turn as a harness drives it, on the simulation.
    QJsonObject turn(const QString &session, int seed, int length = 60)
    {
        commit(session, "user", words(length, seed));
        const QJsonObject plan = ok("context.plan_eviction", {{str("session_id"), session}, {str("apply"), true}});
        ok("context.assemble", {{str("session_id"), session}});
        QJsonObject timings = ok("server.simulate", {{str("session_id"), session}, {str("generated"), 1}});
        timings.insert(str("session_id"), session);
        timings.remove(str("simulated"));
        timings.remove(str("slot_id"));
        ok("context.record_timings", timings);
        commit(session, "assistant", words(length, seed + 1000));
        return plan;
    }

    std::shared_ptr<MethodHandler> handler;
    QList<std::pair<QString, QJsonObject>> events;
};

QJsonObject in(const QString &session, QJsonObject more = {})
{
    more.insert(str("session_id"), session);
    return more;
}

QString transcript()
{
    QByteArray lines;
    const auto line = [&lines](const char *role, const QString &content) {
        lines += QJsonDocument(QJsonObject{{str("role"), str(role)}, {str("content"), content}})
                     .toJson(QJsonDocument::Compact)
            + '\n';
    };
    line("system", str("Be short."));
    for (int i = 0; i < 12; ++i) {
        line("user", words(80, i));
        line("assistant", words(80, i + 500));
    }
    return QString::fromUtf8(lines);
}

} // namespace

class TestEngine : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        qunsetenv("KERF_EVICTION_PROFILE");
        qunsetenv("SAKUR4_EVICTION_PROFILE");
    }

    /// Every method with what it cannot do: the code and the field.
    void wrongCalls_data()
    {
        QTest::addColumn<QByteArray>("method");
        QTest::addColumn<QByteArray>("params");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("named");
        const auto row = [](const char *method, const char *params, Error::Code code, const char *named) {
            QTest::newRow(qPrintable(QStringLiteral("%1 %2").arg(str(method), str(params))))
                << QByteArray(method) << QByteArray(params) << int(code) << str(named);
        };
        using Code = Error::Code;
        row("no.such", "{}", Code::MethodNotFound, "no.such");
        row("memory.commit_episode", R"({"session_id":"s","role":"wizard","content":"x"})", Code::InvalidParams,
            "role");
        row("memory.commit_episode", R"({"session_id":"s","role":"user"})", Code::InvalidParams, "content");
        row("memory.get_episode", R"({"episode_id":999})", Code::NotFound, "999");
        row("memory.pin", R"({"session_id":"s"})", Code::InvalidParams, "content");
        row("memory.unpin", R"({"anchor_id":12345})", Code::NotFound, "12345");
        row("memory.recall", R"({"session_id":"s"})", Code::InvalidParams, "query");
        row("session.get", R"({"session_id":"nobody"})", Code::NotFound, "nobody");
        row("session.delete", R"({"session_id":"nobody"})", Code::NotFound, "nobody");
        row("session.rename", R"({"session_id":"nobody","title":"x"})", Code::NotFound, "nobody");
        row("session.episodes", R"({"session_id":"s","from_seq":-1})", Code::InvalidParams, "from_seq");
        row("context.plan_eviction", R"({"session_id":"nobody"})", Code::NotFound, "nobody");
        row("context.plan_eviction", R"({"session_id":"s","profile":"nonsense"})", Code::InvalidParams, "cache-first");
        row("context.plan_eviction", R"({"session_id":"s","requested_cut":"x"})", Code::InvalidParams, "requested_cut");
        row("context.apply", R"({})", Code::InvalidParams, "plan_id");
        row("context.apply", R"({"plan_id":"p-unknown"})", Code::NotFound, "p-unknown");
        row("context.assemble", R"({"session_id":"nobody"})", Code::NotFound, "nobody");
        row("context.assemble", R"({"session_id":"s","slot_id":"x"})", Code::InvalidParams, "slot_id");
        row("context.record_timings", R"({"session_id":"s","cache_n":1})", Code::InvalidParams, "prompt_n");
        row("context.receipt", R"({"session_id":"s","turn":77})", Code::NotFound, "");
        row("context.undo", R"({"session_id":"s"})", Code::NotFound, "no compaction");
        row("context.compactions", R"({"session_id":"s","compaction_id":3})", Code::NotFound, "compaction 3");
        row("context.prompt", R"({"session_id":"s","which":"yesterday"})", Code::InvalidParams, "which");
        row("context.prompt", R"({"session_id":"s","which":"compaction:x"})", Code::InvalidParams, "which");
        row("context.prompt", R"({"session_id":"s","which":"compaction:9"})", Code::NotFound, "compaction 9");
        row("context.prompt", R"({"session_id":"s","which":"sent"})", Code::NotFound, "which");
        row("context.diff", R"({"session_id":"s","a":"next"})", Code::InvalidParams, "b");
        row("context.diff", R"({"session_id":"s","a":"next","b":"never"})", Code::InvalidParams, "b");
        row("profile.set", R"({"name":"nonsense"})", Code::InvalidParams, "nonsense");
        row("profile.set", R"({"overrides":{"no_such_knob":1}})", Code::InvalidParams, "no_such_knob");
        row("server.slot", R"({"slot_id":0})", Code::InvalidParams, "action");
        row("server.slot", R"({"slot_id":0,"action":"eat"})", Code::InvalidParams, "action");
        row("server.slot", R"({"action":"save"})", Code::InvalidParams, "slot_id");
        row("server.slot", R"({"slot_id":0,"action":"erase"})", Code::InvalidParams, "consent");
        row("server.slot", R"({"slot_id":0,"action":"restore"})", Code::InvalidParams, "file");
        row("server.slot", R"({"action":"delete","file":"/etc/passwd","consent":true})", Code::InvalidParams, "file");
        row("server.slot", R"({"action":"delete","file":"../kerf-x","consent":true})", Code::InvalidParams, "file");
        row("server.slot", R"({"action":"delete","file":"kerf-x.bin"})", Code::InvalidParams, "consent");
        row("server.forget", R"({})", Code::InvalidParams, "claim");
        row("server.forget", R"({"claim":"memory_kind"})", Code::NotFound, "memory_kind");
        row("server.log", R"({"limit":0})", Code::InvalidParams, "limit");
        row("server.log", R"({"limit":5001})", Code::InvalidParams, "limit");
        row("server.slots", R"({"history":7})", Code::InvalidParams, "history");
        row("replay.start", R"({})", Code::InvalidParams, "path");
        row("replay.start", R"({"path":"a","content":"b"})", Code::InvalidParams, "path");
        row("replay.start", R"({"path":"/nonexistent/talk.json"})", Code::NotFound, "/nonexistent/talk.json");
        row("replay.cancel", R"({"replay_id":"r-none"})", Code::NotFound, "r-none");
        row("replay.status", R"({})", Code::NotFound, "no replay");
        row("events.subscribe", R"({"topics":["gossip"]})", Code::InvalidParams, "topics");
    }
    void wrongCalls()
    {
        QFETCH(QByteArray, method);
        QFETCH(QByteArray, params);
        QFETCH(int, code);
        QFETCH(QString, named);
        Service service;
        service.commit(str("s"), "user", str("hello"));
        const auto result = service.call(method.constData(), json(params));
        QVERIFY(!result);
        QCOMPARE(int(result.error().code), code);
        QVERIFY2(result.error().message.contains(named), qPrintable(result.error().message));
    }

    void aSessionFromCommitToReceipt()
    {
        Service service;
        const QString s = str("s");
        QCOMPARE(service.ok("session.create", {{str("session_id"), s}, {str("title"), str("A talk")}})
                     .value(str("session_id"))
                     .toString(),
                 s);
        QCOMPARE(service.commit(s, "system", str("Be short.")), 1);
        const QJsonObject first = service.ok(
            "memory.commit_episode",
            in(s, {{str("role"), str("user")}, {str("content"), str("hello there")}, {str("client_ref"), str("r1")}}));
        const QJsonObject again = service.ok(
            "memory.commit_episode",
            in(s, {{str("role"), str("user")}, {str("content"), str("hello there")}, {str("client_ref"), str("r1")}}));
        QCOMPARE(again.value(str("episode_id")), first.value(str("episode_id"))); // a safe retry
        const QJsonObject pin = service.ok("memory.pin", in(s, {{str("content"), str("Never touch port.h.")}}));
        QVERIFY(pin.value(str("anchor_id")).toInteger() > 0);
        const QJsonObject assembled = service.ok("context.assemble", in(s));
        QVERIFY(QJsonDocument(assembled.value(str("messages")).toArray()).toJson().contains("Never touch port.h."));
        QVERIFY(assembled.value(str("simulated")).toBool());
        QCOMPARE(service.ok("context.prompt", in(s, {{str("which"), str("sent")}})).value(str("total")).toInt(),
                 assembled.value(str("prompt_tokens")).toInt());
        QJsonObject timings = service.ok("server.simulate", in(s));
        const int total = timings.value(str("cache_n")).toInt() + timings.value(str("prompt_n")).toInt();
        QCOMPARE(total, assembled.value(str("prompt_tokens")).toInt());
        const QJsonObject settled = service.ok(
            "context.record_timings",
            in(s,
               {{str("cache_n"), timings.value(str("cache_n"))}, {str("prompt_n"), timings.value(str("prompt_n"))}}));
        QCOMPARE(settled.value(str("settlement")).toString(), str("confirmed"));
        QVERIFY(settled.value(str("measured_ms")).isNull()); // not reported is not 0
        const QJsonObject receipt = service.ok("context.receipt", in(s));
        int sum = 0;
        const QJsonObject parts = receipt.value(str("breakdown")).toObject();
        for (const QJsonValue &part : parts)
            sum += part.toInt();
        QCOMPARE(sum, receipt.value(str("total_tokens")).toInt());
        QVERIFY(receipt.value(str("simulated")).toBool());
        QCOMPARE(service.ok("session.get", in(s)).value(str("turn")).toInt(), 1);
        QVERIFY(service.ok("session.list").value(str("sessions")).toArray().size() == 1);
        QCOMPARE(
            service.ok("memory.recall", in(s, {{str("query"), str("hello")}})).value(str("results")).toArray().size(),
            1);
        service.ok("memory.unpin", {{str("anchor_id"), pin.value(str("anchor_id"))}});
        service.ok("session.rename", in(s, {{str("title"), str("B")}}));
        service.ok("session.delete", in(s));
        QCOMPARE(service.code("session.get", in(s)), Error::Code::NotFound);
        QCOMPARE(service.code("context.prompt", in(s, {{str("which"), str("sent")}})), Error::Code::NotFound);
    }

    void aCompactionWithItsPromptsAndDetail()
    {
        Service service;
        const QString s = str("s");
        service.commit(s, "system", str("Be short."));
        service.ok("profile.set", in(s, {{str("name"), str("cache-first")}}));
        QJsonObject plan;
        for (int i = 0; i < 80 && !plan.value(str("applied")).toBool(); ++i)
            plan = service.turn(s, i, 120);
        QVERIFY(plan.value(str("applied")).toBool());
        const int number = plan.value(str("compaction_id")).toInt();
        QCOMPARE(number, 1);

        const QJsonObject row =
            service.ok("context.compactions", in(s)).value(str("compactions")).toArray().at(0).toObject();
        QVERIFY(!row.contains(str("alternatives")));
        QVERIFY(row.value(str("prompt_kept")).toBool());
        int before = 0;
        int episodes = 0;
        const QJsonObject rungs = row.value(str("by_tier")).toObject();
        QVERIFY(!rungs.isEmpty());
        for (const QJsonValue &rung : rungs) {
            before += rung.toObject().value(str("tokens_before")).toInt();
            episodes += rung.toObject().value(str("episodes")).toInt();
        }
        const QJsonObject detail = service.ok("context.compactions", in(s, {{str("compaction_id"), 1}}))
                                       .value(str("compactions"))
                                       .toArray()
                                       .at(0)
                                       .toObject();
        const QJsonArray updates = detail.value(str("update_rows")).toArray();
        QCOMPARE(updates.size(), row.value(str("updates")).toInt());
        QCOMPARE(episodes, static_cast<int>(updates.size()));
        int all = 0;
        for (const QJsonValue &update : updates)
            all += update.toObject().value(str("tokens_before")).toInt();
        QCOMPARE(before, all);
        QCOMPARE(detail.value(str("alternatives")), plan.value(str("alternatives"))); // the plan as it was
        QVERIFY(!detail.value(str("alternatives")).toArray().isEmpty());

        // The prompts of then, by their ids: they part where the plan said.
        const QJsonObject after =
            service.ok("context.prompt", in(s, {{str("which"), str("compaction:1")}, {str("limit"), 5}}));
        const QJsonObject earlier =
            service.ok("context.prompt", in(s, {{str("which"), str("compaction:1:before")}, {str("limit"), 5}}));
        QCOMPARE(after.value(str("total")).toInt(), plan.value(str("tokens_after")).toInt());
        QCOMPARE(earlier.value(str("total")).toInt(), plan.value(str("prompt_tokens")).toInt());
        QCOMPARE(after.value(str("tokens")).toArray().size(), 5);
        QVERIFY(!after.value(str("parts")).toArray().isEmpty());
        const QJsonObject diff = service.ok(
            "context.diff", in(s, {{str("a"), str("compaction:1:before")}, {str("b"), str("compaction:1")}}));
        QVERIFY(diff.value(str("lcp")).toInt() >= plan.value(str("retained_prompt_tokens")).toInt());
        QCOMPARE(diff.value(str("first_difference")).toObject().value(str("part")).toString(), str("episode"));

        // What is held is known, token by token.
        const QJsonObject held = service.ok("context.diff", in(s, {{str("a"), str("held")}, {str("b"), str("next")}}));
        QVERIFY(held.value(str("a_total")).toInt() > 100);
        QVERIFY(held.value(str("lcp")).toInt() > 100);

        const QJsonObject undone = service.ok("context.undo", in(s, {{str("compaction_id"), 1}}));
        QVERIFY(undone.value(str("episodes_restored")).toInt() > 0);
        QCOMPARE(service.code("context.prompt", in(s, {{str("which"), str("compaction:1")}})), Error::Code::NotFound);
        QCOMPARE(service.code("context.apply", {{str("plan_id"), plan.value(str("plan_id"))}}), Error::Code::StalePlan);
    }

    void aStalePlanIsRefused()
    {
        Service service;
        const QString s = str("s");
        service.commit(s, "system", str("Be short."));
        QJsonObject plan;
        for (int i = 0; i < 80; ++i) {
            service.commit(s, i % 2 ? "assistant" : "user", words(150, i));
            plan = service.ok("context.plan_eviction", in(s));
            if (!plan.value(str("updates")).toArray().isEmpty())
                break;
        }
        QVERIFY(!plan.value(str("updates")).toArray().isEmpty());
        service.commit(s, "user", str("one more"));
        const auto result = service.call("context.apply", {{str("plan_id"), plan.value(str("plan_id"))}});
        QVERIFY(!result);
        QCOMPARE(result.error().code, Error::Code::StalePlan);
        const QJsonObject fresh = service.ok("context.plan_eviction", in(s));
        const QJsonObject applied = service.ok("context.apply", {{str("plan_id"), fresh.value(str("plan_id"))}});
        QVERIFY(applied.value(str("applied")).toBool());
        QCOMPARE(
            service.ok("context.apply", {{str("plan_id"), fresh.value(str("plan_id"))}}).value(str("compaction_id")),
            applied.value(str("compaction_id"))); // idempotent
    }

    void slotsOverTime()
    {
        Service service;
        const QString s = str("s");
        service.commit(s, "system", str("Be short."));
        for (int i = 0; i < 3; ++i)
            service.turn(s, i);
        QVERIFY(!service.ok("server.slots").contains(str("history"))); // only where it is asked for
        const QJsonObject slotsNow = service.ok("server.slots", {{str("history"), true}});
        const QJsonArray lanes = slotsNow.value(str("history")).toArray();
        QVERIFY(!lanes.isEmpty());
        const QJsonObject slot = slotsNow.value(str("slots")).toArray().at(0).toObject();
        const QJsonArray points = lanes.at(0).toObject().value(str("points")).toArray();
        QVERIFY(points.size() >= 3);
        QCOMPARE(points.last().toObject().value(str("tokens")), slot.value(str("tokens")));
        QVERIFY(!slotsNow.value(str("tasks")).toArray().isEmpty());
        QVERIFY(slotsNow.value(str("saves")).isArray());
        const qint64 now = slotsNow.value(str("now_ms")).toInteger();
        QVERIFY(now > 0);
        const QJsonArray later =
            service.ok("server.slots", {{str("history"), true}, {str("since_ms"), double(now + 1000)}})
                .value(str("history"))
                .toArray();
        QCOMPARE(later.at(0).toObject().value(str("points")).toArray().size(), 1); // the last one before it
        const QJsonObject log = service.ok("server.log");
        QVERIFY(!log.value(str("attached")).toBool());
        QVERIFY(log.value(str("lines")).toArray().isEmpty());
        const QJsonObject evidence = service.ok("server.evidence");
        QVERIFY(evidence.value(str("simulated")).toBool());
    }

    /// A replay runs in a service of its own: no session of it is seen here, and nothing of ours changes.
    void aReplayLeavesNoTrace()
    {
        Service service;
        service.commit(str("mine"), "user", str("hello"));
        const QJsonObject before = service.ok("session.get", in(str("mine")));
        const QJsonObject started = service.ok("replay.start",
                                               {{str("content"), transcript()},
                                                {str("strategies"), QJsonArray{str("none"), str("cache-first")}},
                                                {str("turns"), 6}});
        const QString id = started.value(str("replay_id")).toString();
        QVERIFY(!id.isEmpty());
        QCOMPARE(started.value(str("state")).toString(), str("running"));
        QCOMPARE(service.code("replay.start", {{str("content"), transcript()}}), Error::Code::Failed); // one at a time
        const auto state = [&] { return service.ok("replay.status", {{str("replay_id"), id}}); };
        QTRY_COMPARE_WITH_TIMEOUT(state().value(str("state")).toString(), str("done"), 60'000);
        const QJsonArray rows = state().value(str("rows")).toArray();
        QCOMPARE(rows.size(), 2);
        QCOMPARE(rows.at(0).toObject().value(str("strategy")).toString(), str("none"));
        QCOMPARE(rows.at(0).toObject().value(str("turns")).toInt(), 6);
        QVERIFY(rows.at(0).toObject().value(str("simulated")).toBool());
        int progress = 0;
        for (const auto &[topic, params] : std::as_const(service.events)) {
            if (topic != QLatin1String("replay"))
                continue;
            ++progress;
            QCOMPARE(params.value(str("replay_id")).toString(), id);
        }
        QVERIFY2(progress >= 12, qPrintable(QString::number(progress)));
        QCOMPARE(service.ok("session.list").value(str("sessions")).toArray().size(), 1);
        QCOMPARE(service.ok("session.get", in(str("mine"))), before);
    }

    void aReplayIsAskedForRight()
    {
        Service service;
        QJsonObject params{{str("content"), transcript()}, {str("strategies"), QJsonArray{str("nonsense")}}};
        QVERIFY(service.message("replay.start", params).contains(str("strategies: \"nonsense\"")));
        QCOMPARE(service.code("replay.start", params), Error::Code::InvalidParams);
        params.insert(str("strategies"), 7);
        QCOMPARE(service.code("replay.start", params), Error::Code::InvalidParams);
        params = {{str("content"), transcript()}, {str("conversation"), 5}};
        QVERIFY(service.message("replay.start", params).startsWith(str("conversation")));
    }

    void aReplayIsCancelled()
    {
        Service service;
        const QJsonObject started = service.ok("replay.start", {{str("content"), transcript()}});
        const QString id = started.value(str("replay_id")).toString();
        service.ok("replay.cancel", {{str("replay_id"), id}});
        QTRY_COMPARE_WITH_TIMEOUT(service.ok("replay.status").value(str("state")).toString(), str("cancelled"), 60'000);
        // Another can run then.
        service.ok("replay.start",
                   {{str("content"), transcript()}, {str("strategies"), QJsonArray{str("none")}}, {str("turns"), 1}});
        QTRY_COMPARE_WITH_TIMEOUT(service.ok("replay.status").value(str("state")).toString(), str("done"), 60'000);
    }

    /// The service may end in the middle of it.
    void aServiceThatEndsWithAReplay()
    {
        auto service = std::make_unique<Service>();
        service->ok("replay.start", {{str("content"), transcript()}});
        service.reset();
        QTest::qWait(300);
    }

    void theStoreOutlivesTheService()
    {
        QTemporaryDir folder;
        const QString db = folder.filePath(str("kerf.db"));
        {
            Service service(Service::embedded(db));
            service.commit(str("s"), "system", str("Be short."));
            service.turn(str("s"), 1);
        }
        Service service(Service::embedded(db));
        QCOMPARE(service.ok("session.get", in(str("s"))).value(str("turn")).toInt(), 1);
        QCOMPARE(service.code("context.prompt", in(str("s"), {{str("which"), str("sent")}})), Error::Code::NotFound);
    }

    /// On a real server: what is held, slots with log, save, erase and restore, evidence that outlives the run.
    void onARealServer()
    {
        const QString binary = qEnvironmentVariable("KERF_LLAMA_SERVER");
        const QString models = qEnvironmentVariable("KERF_MODELS");
        if (!QFileInfo(binary).isExecutable() || !QFileInfo::exists(models + str("/gemma3.gguf")))
            QSKIP("NOT RUN: set KERF_LLAMA_SERVER (the binary) and KERF_MODELS (a folder with gemma3.gguf)");
        QTemporaryDir folder;
        const quint16 port = freePort();
        const QString log = folder.filePath(str("server.log"));
        QProcess server;
        server.setProcessChannelMode(QProcess::MergedChannels);
        server.setStandardOutputFile(log);
        server.start(binary,
                     {str("-m"), models + str("/gemma3.gguf"), str("--port"), QString::number(port), str("-c"),
                      str("4096"), str("-np"), str("1"), str("-lv"), str("4"), str("-t"), str("1"), str("-cms"),
                      str("64"), str("-ctxcp"), str("8"), str("--slot-save-path"), folder.path() + QLatin1Char('/')});
        const QUrl url(QStringLiteral("http://127.0.0.1:%1").arg(port));
        HttpClient http(url, {});
        QTRY_VERIFY_WITH_TIMEOUT(valueOf(http.get(str("/health"), 2000)).ok(), 60'000);
        ServiceOptions options;
        options.dbPath = folder.filePath(str("kerf.db"));
        options.backend.spec = url.toString();
        options.backend.logFile = log;
        options.backend.probeTimeoutMs = 10'000;
        options.backend.stateTimeoutMs = 30'000;
        const QString s = str("s");
        const auto turn = [&](Service &service, int seed) {
            service.commit(s, "user", words(60, seed));
            const QJsonObject assembled = service.ok("context.assemble", in(s));
            const QJsonObject body{{str("messages"), assembled.value(str("messages"))},
                                   {str("max_tokens"), 1},
                                   {str("cache_prompt"), true}};
            const HttpReply reply = valueOf(http.post(str("/v1/chat/completions"), body, 60'000), 70'000);
            const QJsonObject t = reply.object().value(str("timings")).toObject();
            const QJsonObject settled = service.ok("context.record_timings",
                                                   in(s,
                                                      {{str("cache_n"), t.value(str("cache_n"))},
                                                       {str("prompt_n"), t.value(str("prompt_n"))},
                                                       {str("prompt_ms"), t.value(str("prompt_ms"))},
                                                       {str("predicted_n"), t.value(str("predicted_n"))}}));
            service.commit(s, "assistant", words(20, seed + 100));
            return settled;
        };
        {
            Service service(options);
            service.commit(s, "system", str("Be short."));
            QJsonObject settled;
            for (int i = 0; i < 4; ++i)
                settled = turn(service, i);
            QCOMPARE(settled.value(str("settlement")).toString(), str("confirmed"));

            const QJsonObject diff =
                service.ok("context.diff", in(s, {{str("a"), str("held")}, {str("b"), str("next")}}));
            QVERIFY2(diff.value(str("a_total")).toInt() > 200, QJsonDocument(diff).toJson().constData());
            QVERIFY(diff.value(str("lcp")).toInt() > 200);
            const QJsonObject held =
                service.ok("context.prompt", in(s, {{str("which"), str("held")}, {str("limit"), 10}}));
            QCOMPARE(held.value(str("total")), diff.value(str("a_total")));
            QVERIFY(held.value(str("parts")).toArray().size() >= 5);
            QVERIFY(!held.value(str("tokens")).toArray().at(3).toObject().value(str("piece")).isNull());

            const QJsonObject slotsNow = service.ok("server.slots", {{str("history"), true}});
            const QJsonObject slot = slotsNow.value(str("slots")).toArray().at(0).toObject();
            QCOMPARE(slot.value(str("session_id")).toString(), s);
            QVERIFY(!slot.value(str("checkpoints")).toArray().isEmpty());
            QVERIFY(!slot.value(str("checkpoints")).toArray().at(0).toObject().value(str("created_at")).isNull());
            const QJsonArray tasks = slotsNow.value(str("tasks")).toArray();
            QCOMPARE(tasks.size(), 4);
            QCOMPARE(tasks.last().toObject().value(str("reused")), settled.value(str("measured_reuse")));
            QCOMPARE(tasks.last().toObject().value(str("prefilled")), settled.value(str("measured_prefill")));
            QCOMPARE(tasks.last().toObject().value(str("session_id")).toString(), s);
            const qint64 begin = tasks.last().toObject().value(str("begin_ms")).toInteger();
            QVERIFY2(qAbs(QDateTime::currentMSecsSinceEpoch() - begin) < 30'000, qPrintable(QString::number(begin)));
            const QJsonArray points =
                slotsNow.value(str("history")).toArray().at(0).toObject().value(str("points")).toArray();
            QCOMPARE(points.last().toObject().value(str("tokens")), slot.value(str("tokens")));

            const QJsonObject lines = service.ok("server.log", {{str("limit"), 5000}});
            QVERIFY(lines.value(str("attached")).toBool());
            QCOMPARE(lines.value(str("next")).toInt() - 1, lines.value(str("lines")).toArray().size());
            bool restored = false;
            for (const QJsonValue &line : lines.value(str("lines")).toArray())
                restored = restored || line.toObject().value(str("reading")).toString().startsWith(str("checkpoint "));
            QVERIFY(restored);
            const QJsonObject tail = service.ok("server.log", {{str("from"), lines.value(str("next")).toInt() - 3}});
            QCOMPARE(tail.value(str("lines")).toArray().size(), 3);

            // By hand: save, erase, restore; the next request proves it.
            const int tokens = slot.value(str("tokens")).toInt();
            const QJsonObject saved = service.ok("server.slot", {{str("slot_id"), 0}, {str("action"), str("save")}});
            QCOMPARE(saved.value(str("tokens")).toInt(), tokens);
            QVERIFY(saved.value(str("recorded")).toBool());
            QVERIFY(service.message("server.slot", {{str("slot_id"), 0}, {str("action"), str("erase")}})
                        .contains(str("consent")));
            QCOMPARE(
                service.ok("server.slots").value(str("slots")).toArray().at(0).toObject().value(str("tokens")).toInt(),
                tokens);
            QCOMPARE(
                service.ok("server.slot", {{str("slot_id"), 0}, {str("action"), str("erase")}, {str("consent"), true}})
                    .value(str("tokens"))
                    .toInt(),
                tokens);
            QCOMPARE(
                service.ok("server.slots").value(str("slots")).toArray().at(0).toObject().value(str("tokens")).toInt(),
                0);
            const QString file = saved.value(str("file")).toString();
            QCOMPARE(
                service.ok("server.slot", {{str("slot_id"), 0}, {str("action"), str("restore")}, {str("file"), file}})
                    .value(str("tokens"))
                    .toInt(),
                tokens);
            const QJsonArray saves = service.ok("server.slots", {{str("history"), true}}).value(str("saves")).toArray();
            QCOMPARE(saves.size(), 1);
            QVERIFY(saves.at(0).toObject().value(str("exists")).toBool());
            settled = turn(service, 9);
            QVERIFY2(settled.value(str("settlement")).toString() != str("refuted"),
                     QJsonDocument(settled).toJson().constData());
            QVERIFY(settled.value(str("measured_reuse")).toInt() > 100);
            QCOMPARE(service.code("server.slot", {{str("slot_id"), 5}, {str("action"), str("save")}}),
                     Error::Code::InvalidParams);
            service.ok("server.slot", {{str("action"), str("delete")}, {str("file"), file}, {str("consent"), true}});
            QVERIFY(!QFileInfo::exists(folder.filePath(file)));
            QVERIFY(service.ok("server.slots", {{str("history"), true}}).value(str("saves")).toArray().isEmpty());
            QVERIFY(service.message("replay.start", {{str("content"), transcript()}})
                        .contains(str("consent"))); // it would send

            const QJsonArray rows = service.ok("server.evidence").value(str("rows")).toArray();
            QCOMPARE(rows.at(0).toObject().value(str("claim")).toString(), str("memory_kind"));
            QCOMPARE(rows.at(0).toObject().value(str("evidence")).toString(), str("log"));
            QVERIFY(!rows.at(0).toObject().value(str("forgettable")).toBool());
        }
        // Another run without the log: what the log said of this model is kept, shown as such, and can be forgotten.
        options.backend.logFile.clear();
        options.backend.serverFlags = str("-np 1"); // nor its command line
        Service service(options);
        QJsonArray rows = service.ok("server.evidence").value(str("rows")).toArray();
        const auto stored = [&rows] {
            for (const QJsonValue &row : rows) {
                if (row.toObject().value(str("stored")).toBool())
                    return row.toObject();
            }
            return QJsonObject();
        };
        QCOMPARE(stored().value(str("claim")).toString(), str("memory_kind"));
        QCOMPARE(stored().value(str("value")).toString(), str("checkpointed"));
        QVERIFY(stored().value(str("forgettable")).toBool());
        const QJsonObject forgotten = service.ok(
            "server.forget", {{str("claim"), str("memory_kind")}, {str("evidence"), stored().value(str("evidence"))}});
        QCOMPARE(forgotten.value(str("forgotten")).toInt(), 1);
        rows = service.ok("server.evidence").value(str("rows")).toArray();
        bool fromLog = false;
        for (const QJsonValue &row : std::as_const(rows))
            fromLog = fromLog
                || (row.toObject().value(str("stored")).toBool()
                    && row.toObject().value(str("evidence")).toString() == str("log"));
        QVERIFY(!fromLog);
        server.kill();
        server.waitForFinished(10'000);
    }
};

QTEST_GUILESS_MAIN(TestEngine)
#include "tst_engine.moc"
