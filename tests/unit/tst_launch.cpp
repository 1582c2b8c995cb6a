// kerf-test: link=kerf_llama
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/launch.h"
#include "core/llama/logmodel.h"
#include "core/llama/logtail.h"

#include <QFile>
#include <QSignalSpy>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace kerf;

namespace {

bool isAlive(qint64 pid)
{
    // A zombie is none: its parent has not looked yet.
    QFile stat(QStringLiteral("/proc/%1/stat").arg(pid));
    if (!stat.open(QIODevice::ReadOnly))
        return false;
    const QByteArray text = stat.readAll();
    return !text.mid(text.lastIndexOf(')') + 2).startsWith('Z');
}

QStringList shell(const QString &script) { return {QStringLiteral("/bin/sh"), QStringLiteral("-c"), script}; }

QString outputOf(const QSignalSpy &spy)
{
    QByteArray bytes;
    for (const QList<QVariant> &row : spy)
        bytes += row.constFirst().toByteArray();
    return QString::fromUtf8(bytes);
}

} // namespace

class TestLaunch : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        for (const char *name : {"LLAMA_ARG_PORT", "LLAMA_ARG_HOST", "LLAMA_ARG_LOG_VERBOSITY", "LLAMA_LOG_VERBOSITY"})
            qunsetenv(name);
    }

    void verbosityIsAddedOnce_data()
    {
        QTest::addColumn<QStringList>("command");
        QTest::addColumn<QStringList>("added");
        QTest::newRow("none") << QStringList{QStringLiteral("x"), QStringLiteral("-m"), QStringLiteral("y")}
                              << QStringList{QStringLiteral("-lv"), QStringLiteral("4")};
        QTest::newRow("3") << QStringList{QStringLiteral("x"), QStringLiteral("-lv"), QStringLiteral("3")}
                           << QStringList();
        QTest::newRow("long") << QStringList{QStringLiteral("x"), QStringLiteral("--verbosity=5")} << QStringList();
        QTest::newRow("all") << QStringList{QStringLiteral("x"), QStringLiteral("-v")} << QStringList();
    }
    void verbosityIsAddedOnce()
    {
        QFETCH(QStringList, command);
        QFETCH(QStringList, added);
        QCOMPARE(ServerChild(command).command(), command + added);
    }

    void verbosityOfTheEnvironmentStays()
    {
        qputenv("LLAMA_ARG_LOG_VERBOSITY", "5");
        ServerChild child({QStringLiteral("x")});
        QCOMPARE(child.command(), QStringList{QStringLiteral("x")});
        QCOMPARE(child.flags().verbosity, 5);
        qunsetenv("LLAMA_ARG_LOG_VERBOSITY");
    }

    void whereItWillListen()
    {
        const auto url = [](const QString &flags) {
            return ServerChild(QStringList{QStringLiteral("x")} + flags.split(QLatin1Char(' '), Qt::SkipEmptyParts))
                .url()
                .toString();
        };
        QCOMPARE(url({}), QStringLiteral("http://127.0.0.1:8080"));
        QCOMPARE(url(QStringLiteral("--port 8131")), QStringLiteral("http://127.0.0.1:8131"));
        QCOMPARE(url(QStringLiteral("--host 0.0.0.0 --port=99")), QStringLiteral("http://127.0.0.1:99"));
        QCOMPARE(url(QStringLiteral("--host 10.1.2.3,127.0.0.1")), QStringLiteral("http://10.1.2.3:8080"));
        QCOMPARE(url(QStringLiteral("--host ::")), QStringLiteral("http://[::1]:8080"));
        qputenv("LLAMA_ARG_PORT", "777");
        QCOMPARE(url({}), QStringLiteral("http://127.0.0.1:777"));
        QCOMPARE(url(QStringLiteral("--port 778")), QStringLiteral("http://127.0.0.1:778"));
        qunsetenv("LLAMA_ARG_PORT");
    }

    void outputAndEarlyEnd()
    {
        ServerChild child(
            shell(QStringLiteral("echo to stdout; echo to stderr >&2; echo $LLAMA_ARG_LOG_VERBOSITY; exit 3")));
        QSignalSpy output(&child, &ServerChild::output);
        QSignalSpy ended(&child, &ServerChild::ended);
        QVERIFY(output.isValid() && ended.isValid());
        child.start();
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, 20000);
        QCOMPARE(outputOf(output), QStringLiteral("to stdout\nto stderr\n4\n"));
        QCOMPARE(ended.at(0).at(0).toString(), QStringLiteral("the launched server ended with status 3"));
        QCOMPARE(ended.at(0).at(1).toString(), QStringLiteral("to stdout\nto stderr\n4\n"));
        QVERIFY(!child.isRunning());
    }

    void onlyTheLastLinesAreTold()
    {
        ServerChild child(
            shell(QStringLiteral("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; exit 1")));
        QSignalSpy ended(&child, &ServerChild::ended);
        child.start();
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, 20000);
        const QString last = ended.at(0).at(1).toString();
        QVERIFY(last.endsWith(QStringLiteral("line 1999\n")));
        QVERIFY(last.size() <= 4096);
    }

    void whatCannotBeStarted()
    {
        ServerChild missing({QStringLiteral("/no/such/llama-server")});
        QSignalSpy ended(&missing, &ServerChild::ended);
        missing.start();
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, 20000);
        QVERIFY2(
            ended.at(0).at(0).toString().startsWith(QStringLiteral("/no/such/llama-server could not be started: ")),
            qPrintable(ended.at(0).at(0).toString()));
        ServerChild none(QStringList{});
        QSignalSpy noneEnded(&none, &ServerChild::ended);
        none.start();
        QCOMPARE(noneEnded.count(), 1);
    }

    void aCrashIsNamed()
    {
        ServerChild child(shell(QStringLiteral("kill -SEGV $$; sleep 60")));
        QSignalSpy ended(&child, &ServerChild::ended);
        child.start();
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, 20000);
        QVERIFY2(ended.at(0).at(0).toString().contains(QStringLiteral("killed or crashed (signal 11)")),
                 qPrintable(ended.at(0).at(0).toString()));
    }

    void theAddressItSays()
    {
        ServerChild child(shell(QStringLiteral(
            "printf '0.00.063.525 I srv  llama_server: listening on http://0.0.0.0:9931\\n'; exec sleep 60")));
        QSignalSpy listening(&child, &ServerChild::listening);
        QVERIFY(listening.isValid());
        child.start();
        QTRY_COMPARE_WITH_TIMEOUT(listening.count(), 1, 20000);
        QCOMPARE(child.url(), QUrl(QStringLiteral("http://127.0.0.1:9931")));
    }

    void stopping_data()
    {
        QTest::addColumn<QString>("script");
        QTest::newRow("ends") << QStringLiteral("echo ready; exec sleep 60");
        QTest::newRow("does not want to") << QStringLiteral("trap '' TERM; echo ready; while :; do sleep 0.1; done");
    }
    void stopping()
    {
        QFETCH(QString, script);
        ServerChild child(shell(script));
        QSignalSpy output(&child, &ServerChild::output);
        QSignalSpy ended(&child, &ServerChild::ended);
        child.start();
        QTRY_VERIFY_WITH_TIMEOUT(outputOf(output).contains(QStringLiteral("ready")), 20000);
        const qint64 pid = child.processId();
        QVERIFY(isAlive(pid));
        child.stop(300);
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, 20000);
        QCOMPARE(ended.at(0).at(0).toString(), QStringLiteral("the launched server was stopped"));
        QTRY_VERIFY_WITH_TIMEOUT(!isAlive(pid), 5000);
    }

    /// A wrapper that does not exec: the server behind it goes too.
    void nothingIsLeftBehind()
    {
        qint64 wrapper = 0;
        qint64 server = 0;
        {
            ServerChild child(shell(QStringLiteral("sleep 600 & echo $!; wait")));
            QSignalSpy output(&child, &ServerChild::output);
            child.start();
            QTRY_VERIFY_WITH_TIMEOUT(outputOf(output).contains(QLatin1Char('\n')), 20000);
            wrapper = child.processId();
            server = outputOf(output).trimmed().toLongLong();
            QVERIFY(server > 1 && isAlive(server) && isAlive(wrapper));
        }
        QTRY_VERIFY_WITH_TIMEOUT(!isAlive(wrapper), 5000);
        QTRY_VERIFY_WITH_TIMEOUT(!isAlive(server), 5000);
    }

    /// The wrapper is killed and the server behind it is not: it is ended all the same, while we go on.
    void aWrapperThatDiesAlone()
    {
        ServerChild child(shell(QStringLiteral("sleep 600 & echo $!; wait")));
        QSignalSpy output(&child, &ServerChild::output);
        QSignalSpy ended(&child, &ServerChild::ended);
        child.start();
        QTRY_VERIFY_WITH_TIMEOUT(outputOf(output).contains(QLatin1Char('\n')), 20000);
        const qint64 server = outputOf(output).trimmed().toLongLong();
        QVERIFY(server > 1 && isAlive(server));
        ::kill(static_cast<pid_t>(child.processId()), SIGKILL);
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, 20000);
        QTRY_VERIFY_WITH_TIMEOUT(!isAlive(server), 5000);
    }

    /// kill -9 of the parent: the kernel ends the child. The parent is this program once more.
    void theParentIsKilled()
    {
        QProcess parent;
        parent.start(QCoreApplication::applicationFilePath(), {QStringLiteral("--launch-and-wait")});
        QVERIFY(parent.waitForStarted());
        QByteArray said;
        QTRY_VERIFY_WITH_TIMEOUT(((void)parent.waitForReadyRead(50), said += parent.readAll(), said.contains('\n')),
                                 30000);
        const qint64 pid = said.trimmed().toLongLong();
        QVERIFY(pid > 1);
        QVERIFY(isAlive(pid));
        ::kill(static_cast<pid_t>(parent.processId()), SIGKILL);
        QVERIFY(parent.waitForFinished());
        QTRY_VERIFY_WITH_TIMEOUT(!isAlive(pid), 5000);
    }

    void outputIsForwardedToAFile()
    {
        QTemporaryDir dir;
        const QString path = dir.filePath(QStringLiteral("copy.log"));
        ServerChild child(shell(QStringLiteral("echo one; echo two")));
        QVERIFY(child.forwardToFile(path));
        QVERIFY(!ServerChild(QStringList{}).forwardToFile(QStringLiteral("/no/such/folder/x")));
        QSignalSpy ended(&child, &ServerChild::ended);
        child.start();
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, 20000);
        QFile copy(path);
        QVERIFY(copy.open(QIODevice::ReadOnly));
        QCOMPARE(copy.readAll(), QByteArray("one\ntwo\n"));
    }

    /// The real one: its output, read as its log, shows the ring.
    void theRealServer()
    {
        const QString program = qEnvironmentVariable("KERF_LLAMA_SERVER");
        const QString models = qEnvironmentVariable("KERF_MODELS");
        if (program.isEmpty() || models.isEmpty())
            QSKIP("KERF_LLAMA_SERVER (the binary) and KERF_MODELS (a folder with gemma3.gguf) are not set: no real "
                  "server is launched");
        QTcpServer free;
        QVERIFY(free.listen(QHostAddress::LocalHost));
        const int port = free.serverPort();
        free.close();
        ServerChild child({program, QStringLiteral("-m"), models + QStringLiteral("/gemma3.gguf"),
                           QStringLiteral("--port"), QString::number(port), QStringLiteral("-c"),
                           QStringLiteral("2048"), QStringLiteral("-np"), QStringLiteral("1"), QStringLiteral("-cms"),
                           QStringLiteral("64")});
        LogTail tail;
        ServerLogModel model;
        connect(&child, &ServerChild::output, &tail, &LogTail::feed);
        connect(&tail, &LogTail::linesRead, this, [&model](const QList<QByteArray> &lines) {
            for (const QByteArray &line : lines)
                model.feed(line);
        });
        QSignalSpy listening(&child, &ServerChild::listening);
        child.start();
        QTRY_COMPARE_WITH_TIMEOUT(listening.count(), 1, 60000);
        QCOMPARE(child.url().port(), port);
        QCOMPARE(model.facts().verbosity, 4);
        QCOMPARE(model.facts().memory(), MemoryKind::Checkpointed);
        QTcpSocket socket;
        socket.connectToHost(QHostAddress(QHostAddress::LocalHost), static_cast<quint16>(port));
        QVERIFY(socket.waitForConnected(5000));
        const QByteArray body =
            "{\"prompt\":\"" + QByteArray("a few words of a prompt, ").repeated(20) + "\",\"n_predict\":2}";
        socket.write("POST /completion HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
                     + QByteArray::number(body.size()) + "\r\n\r\n" + body);
        QTRY_VERIFY_WITH_TIMEOUT(!model.tasks().isEmpty() && model.tasks().constLast().ended(), 60000);
        QVERIFY(model.tasks().constLast().prefilled > 50);
        QVERIFY(!model.states().constFirst().checkpoints.isEmpty());
        QVERIFY(model.states().constFirst().checkpointsKnown);
        QCOMPARE(model.notUnderstood(), 0);
        const qint64 pid = child.processId();
        QSignalSpy ended(&child, &ServerChild::ended);
        child.stop();
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, 20000);
        QVERIFY(!isAlive(pid));
    }
};

int main(int argc, char *argv[])
{
    QCoreApplication app(argc, argv);
    if (app.arguments().contains(QStringLiteral("--launch-and-wait"))) {
        ServerChild child(shell(QStringLiteral("exec sleep 600")));
        child.start();
        QTimer::singleShot(200, &app, [&child] {
            std::printf("%lld\n", static_cast<long long>(child.processId()));
            std::fflush(stdout);
        });
        return app.exec();
    }
    TestLaunch test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_launch.moc"
