// kerf-test: link=kerf_llama
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/startflags.h"

#include <QCoreApplication>
#include <QFile>
#include <QProcess>
#include <QTcpServer>
#include <QTest>

#include <limits>

using namespace kerf;

namespace {
QStringList words(const char *text) { return QString::fromLatin1(text).split(QLatin1Char(' '), Qt::SkipEmptyParts); }
} // namespace

class TestStartFlags : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyFlag()
    {
        const ServerFlags flags =
            parseServerFlags(words("-m /m/a.gguf --port 8131 --host 0.0.0.0 -c 32768 -np 2 -lv 4 --slot-save-path /s/ "
                                   "--metrics -cms 256 -ctxcp 8 "
                                   "--cache-reuse 64 -cram 4096 -kvu --no-cache-idle-slots --cache-prompt -sps 0.25 "
                                   "--swa-full --no-slots --log-file x.log -ub 256 --context-shift"));
        QCOMPARE(flags.modelPath, QStringLiteral("/m/a.gguf"));
        QCOMPARE(flags.port, 8131);
        QCOMPARE(flags.host, QStringLiteral("0.0.0.0"));
        QCOMPARE(flags.contextSize, 32768);
        QCOMPARE(flags.parallel, 2);
        QCOMPARE(flags.verbosity, 4);
        QCOMPARE(flags.slotSavePath, QStringLiteral("/s/"));
        QCOMPARE(flags.checkpointsMinStep, 256);
        QCOMPARE(flags.checkpointsMax, 8);
        QCOMPARE(flags.cacheReuse, 64);
        QCOMPARE(flags.cacheRamMib, 4096);
        QCOMPARE(flags.unified, true);
        QCOMPARE(flags.cacheIdleSlots, false);
        QCOMPARE(flags.cachePrompt, true);
        QCOMPARE(flags.slotSimilarity, 0.25);
        QCOMPARE(flags.microBatch, 256);
        QCOMPARE(flags.contextShift, true);
        QVERIFY(flags.swaFull && flags.noSlots && flags.metrics && !flags.router);
        QCOMPARE(flags.logFile, QStringLiteral("x.log"));
        QVERIFY(!flags.isEmpty());
        QVERIFY(ServerFlags().isEmpty());
    }

    void spellings_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("like");
        const auto row = [](const char *line, const char *like) {
            QTest::newRow(line) << QString::fromLatin1(line) << QString::fromLatin1(like);
        };
        row("--ctx-checkpoints 3", "-ctxcp 3");
        row("--swa-checkpoints 3", "-ctxcp 3");
        row("--checkpoint-min-step 0", "-cms 0");
        row("--cache-ram -1", "-cram -1");
        row("--parallel 4", "-np 4");
        row("--kv-unified", "-kvu");
        row("--no-kv-unified", "-no-kvu");
        row("--ctx-size 4096", "-c 4096");
        row("--verbosity 5", "-lv 5");
        row("--log-verbosity 5", "-lv 5");
        row("--slot-prompt-similarity 0.5", "-sps 0.5");
        row("--model x", "-m x");
        row("--cache-reuse=64 --port=99", "--cache-reuse 64 --port 99");
        row("--cache_reuse 64", "--cache-reuse 64");
        row("-np 1 -np 3", "-np 3");
        row("--no-slots --slots", "");
        row("--cache-reuse", "");
        row("--cache-reuse many", "");
        row("-ngl 99 -fa on --jinja --some-new-flag 3 --temp 0.7", "");
        row("llama-server --metrics", "--metrics");
    }
    void spellings()
    {
        QFETCH(QString, line);
        QFETCH(QString, like);
        QCOMPARE(parseServerFlags(line.split(QLatin1Char(' '))), parseServerFlags(like.split(QLatin1Char(' '))));
    }

    void absentIsNotZero()
    {
        QVERIFY(!parseServerFlags({}).cacheReuse.has_value());
        QCOMPARE(parseServerFlags(words("--cache-reuse 0")).cacheReuse, 0);
        QVERIFY(!parseServerFlags({}).unified.has_value());
        QCOMPARE(parseServerFlags(words("--no-kv-unified")).unified, false);
        QCOMPARE(parseServerFlags(words("-v")).verbosity, std::numeric_limits<int>::max());
        QVERIFY(parseServerFlags(words("--models-dir /m")).router);
    }

    void environment()
    {
        const QHash<QString, QString> variables{
            {QStringLiteral("LLAMA_ARG_CACHE_REUSE"), QStringLiteral("128")},
            {QStringLiteral("LLAMA_ARG_CHECKPOINT_MIN_SPACING_NT"), QStringLiteral("512")},
            {QStringLiteral("LLAMA_ARG_KV_UNIFIED"), QStringLiteral("0")},
            {QStringLiteral("LLAMA_ARG_NO_CACHE_IDLE_SLOTS"), QStringLiteral("1")},
            {QStringLiteral("LLAMA_ARG_ENDPOINT_METRICS"), QStringLiteral("1")},
            {QStringLiteral("LLAMA_ARG_ENDPOINT_SLOTS"), QStringLiteral("false")},
            {QStringLiteral("LLAMA_ARG_LOG_VERBOSITY"), QStringLiteral("4")},
            {QStringLiteral("LLAMA_ARG_SWA_FULL"), QStringLiteral("true")},
            {QStringLiteral("LLAMA_ARG_CACHE_PROMPT"), QStringLiteral("on")},
            {QStringLiteral("LLAMA_ARG_LOG_FILE"), QStringLiteral("/l")},
            {QStringLiteral("LLAMA_ARG_PORT"), QString()}};
        ServerFlags flags = parseServerFlags(words("-cms 64"), variables);
        QCOMPARE(flags.cacheReuse, 128);
        QCOMPARE(flags.checkpointsMinStep, 64); // the command line wins
        QCOMPARE(flags.unified, false);
        QCOMPARE(flags.cacheIdleSlots, false);
        QCOMPARE(flags.cachePrompt, true);
        QCOMPARE(flags.verbosity, 4);
        QCOMPARE(flags.logFile, QStringLiteral("/l"));
        QVERIFY(flags.metrics && flags.noSlots && flags.swaFull && !flags.port);
        flags = parseServerFlags({}, {{QStringLiteral("LLAMA_ARG_SWA_FULL"), QStringLiteral("0")}});
        QVERIFY(flags.isEmpty());
    }

    void asTypedIntoAShell_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QStringList>("expected");
        const auto row = [](const char *text, const QStringList &expected) {
            QTest::newRow(text) << QString::fromLatin1(text) << expected;
        };
        row("", {});
        row("  a   b\tc\n", words("a b c"));
        row("-m '/a b/c.gguf' -c 1",
            {QStringLiteral("-m"), QStringLiteral("/a b/c.gguf"), QStringLiteral("-c"), QStringLiteral("1")});
        row("\"a \\\"b\\\" \\n\" ''", {QStringLiteral("a \"b\" \\n"), QString()});
        row("a\\ b 'c'\"d\"e", {QStringLiteral("a b"), QStringLiteral("cde")});
        row("a \\\n b", words("a b"));
        row("'it''s'", {QStringLiteral("its")});
        row("'open \"quote", {QStringLiteral("open \"quote")});
        row("'back\\slash'", {QStringLiteral("back\\slash")});
        row("end\\", {QStringLiteral("end\\")});
    }
    void asTypedIntoAShell()
    {
        QFETCH(QString, text);
        QFETCH(QStringList, expected);
        QCOMPARE(splitShellWords(text), expected);
    }

    void aWholeCommandLine()
    {
        const ServerFlags flags = parseServerFlagsText(QStringLiteral(
            "LLAMA_ARG_CACHE_REUSE=64 LLAMA_ARG_PORT=1 ./llama-server -m 'a b.gguf' --port 8131 \\\n  -np 1"));
        QCOMPARE(flags.cacheReuse, 64);
        QCOMPARE(flags.port, 8131);
        QCOMPARE(flags.modelPath, QStringLiteral("a b.gguf"));
        QCOMPARE(flags.parallel, 1);
    }

    void whatLooksLikeAServer_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("executable");
        QTest::addColumn<bool>("is");
        const auto row = [](const char *line, const char *executable, bool is) {
            QTest::newRow(line) << QString::fromLatin1(line) << QString::fromLatin1(executable) << is;
        };
        row("/usr/bin/llama-server -m x", "/usr/bin/llama-server", true);
        row("llama serve -m x", "", true);
        row("./server -m x.gguf", "/home/me/server", true);
        row("my-server -m x.gguf", "/opt/llama.cpp/llama-server", true);
        row("/lib64/ld-linux-x86-64.so.2 --library-path /a:/b /opt/usr/bin/llama-server -m x",
            "/lib64/ld-linux-x86-64.so.2", true);
        row("/bin/sh /usr/local/bin/llama-server.sh -m x", "/usr/bin/dash", true);
        row("./server --config x", "", false);
        row("ssh -N -L 8080:localhost:8080 llama-box", "/usr/bin/ssh", false);
        row("ssh -N -L 8080:localhost:8080 gpu llama-server", "/usr/bin/ssh", false);
        row("nginx: master process", "/usr/sbin/nginx", false);
        row("python3 proxy.py --upstream llama-server", "/usr/bin/python3", false);
        row("docker-proxy -host-port 8080", "", false);
        row("tail -f /models/llama.gguf", "/usr/bin/tail", false);
        row("", "", false);
    }
    void whatLooksLikeAServer()
    {
        QFETCH(QString, line);
        QFETCH(QString, executable);
        QFETCH(bool, is);
        QCOMPARE(looksLikeLlamaServer(line.split(QLatin1Char(' '), Qt::SkipEmptyParts), executable), is);
    }

    /// This test listens itself: it is found on the port, and it is no llama-server.
    void aListenerThatIsNoServer()
    {
        QTcpServer server;
        QVERIFY(server.listen(QHostAddress::LocalHost));
        QVERIFY(!findLocalServer(server.serverPort()));
        const quint16 closed = server.serverPort();
        server.close();
        QVERIFY(!findLocalServer(closed));
        QVERIFY(!findLocalServer(0));
        QVERIFY(!findLocalServer(-1));
        QVERIFY(!findLocalServer(70000));
    }

    void theRealServerIsFoundWithItsFlags()
    {
        const QString program = qEnvironmentVariable("KERF_LLAMA_SERVER");
        const QString models = qEnvironmentVariable("KERF_MODELS");
        if (program.isEmpty() || models.isEmpty())
            QSKIP("KERF_LLAMA_SERVER (the binary) and KERF_MODELS (a folder with llama.gguf) are not set: no real "
                  "server is asked");
        QTcpServer free;
        QVERIFY(free.listen(QHostAddress::LocalHost));
        const int port = free.serverPort();
        free.close();
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("LLAMA_ARG_CACHE_RAM"), QStringLiteral("77"));
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(models);
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start(program,
                      {QStringLiteral("-m"), QStringLiteral("llama.gguf"), QStringLiteral("--port"),
                       QString::number(port), QStringLiteral("-c"), QStringLiteral("1024"),
                       QStringLiteral("--cache-reuse"), QStringLiteral("48")});
        QVERIFY(process.waitForStarted());
        std::optional<LocalServer> found;
        QTRY_VERIFY_WITH_TIMEOUT((found = findLocalServer(port)).has_value(), 60000);
        QCOMPARE(found->flags.cacheReuse, 48);
        QCOMPARE(found->flags.contextSize, 1024);
        QCOMPARE(found->flags.cacheRamMib, 77);
        QCOMPARE(found->flags.modelPath, QStringLiteral("llama.gguf"));
        QCOMPARE(found->pid, process.processId());
        QVERIFY(QFile::exists(found->workingDirectory + QLatin1Char('/') + found->flags.modelPath));
        process.kill();
        QVERIFY(process.waitForFinished());
        QTRY_VERIFY_WITH_TIMEOUT(!findLocalServer(port), 5000);
    }
};

QTEST_GUILESS_MAIN(TestStartFlags)
#include "tst_startflags.moc"
