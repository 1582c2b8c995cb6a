// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// kerf.status, 1,000 requests in sequence to a real `kerfd serve --backend embedded`, against a bare QLocalServer
// in a process of its own that answers each line with the very bytes that kerfd answered. Same client for both.

#include "tests/bench/bench.h"

#include <QCoreApplication>
#include <QLocalServer>
#include <QLocalSocket>
#include <QProcess>
#include <QTemporaryDir>

#include <cstdlib>

using namespace kerf;

namespace {

constexpr int kRequests = 1000;
constexpr int kLimitMs = 15000;

[[noreturn]] void fail(const QString &what)
{
    std::fprintf(stderr, "bench_roundtrip: %s\n", qPrintable(what));
    std::exit(1);
}

int echoServer(const QString &path, const QByteArray &reply)
{
    QLocalServer server;
    server.setSocketOptions(QLocalServer::UserAccessOption);
    if (!server.listen(path))
        fail(server.errorString());
    QObject::connect(&server, &QLocalServer::newConnection, &server, [&] {
        QLocalSocket *socket = server.nextPendingConnection();
        QObject::connect(socket, &QLocalSocket::readyRead, socket, [socket, &reply] {
            while (socket->canReadLine()) {
                bench::keep(socket->readLine());
                socket->write(reply);
            }
        });
        QObject::connect(socket, &QLocalSocket::disconnected, QCoreApplication::instance(), &QCoreApplication::quit);
    });
    std::puts("listening");
    std::fflush(stdout);
    return QCoreApplication::exec();
}

void startAndWait(QProcess &process, const QString &program, const QStringList &arguments)
{
    process.setProcessChannelMode(QProcess::SeparateChannels);
    process.setStandardErrorFile(QProcess::nullDevice());
    process.start(program, arguments);
    QByteArray output;
    while (!output.contains('\n')) {
        if (!process.waitForReadyRead(kLimitMs))
            fail(program + QStringLiteral(" is not ready: ") + process.errorString());
        output += process.readAllStandardOutput();
    }
    if (!output.startsWith("listening"))
        fail(program + QStringLiteral(" says ") + QString::fromUtf8(output));
}

class Client
{
public:
    explicit Client(const QString &path)
    {
        m_socket.connectToServer(path);
        if (!m_socket.waitForConnected(kLimitMs))
            fail(path + QStringLiteral(": ") + m_socket.errorString());
    }

    QByteArray ask(const QByteArray &line)
    {
        m_socket.write(line);
        m_socket.flush();
        while (!m_socket.canReadLine()) {
            if (!m_socket.waitForReadyRead(kLimitMs))
                fail(QStringLiteral("no answer: ") + m_socket.errorString());
        }
        return m_socket.readLine();
    }

    double askMs(const QByteArray &line)
    {
        QElapsedTimer timer;
        timer.start();
        bench::keep(ask(line));
        return double(timer.nsecsElapsed()) / 1e6;
    }

private:
    QLocalSocket m_socket;
};

} // namespace

int main(int argc, char *argv[])
{
    QCoreApplication app(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    if (arguments.size() == 4 && arguments.at(1) == QLatin1String("--echo"))
        return echoServer(arguments.at(2), QByteArray::fromBase64(arguments.at(3).toLatin1()));

    QTemporaryDir dir;
    const QString kerfPath = dir.filePath(QStringLiteral("k.sock"));
    const QString echoPath = dir.filePath(QStringLiteral("e.sock"));
    QProcess kerfd;
    startAndWait(kerfd, QCoreApplication::applicationDirPath() + QStringLiteral("/kerfd"),
                 {QStringLiteral("serve"), QStringLiteral("--backend"), QStringLiteral("embedded"),
                  QStringLiteral("--socket"), kerfPath, QStringLiteral("--db"),
                  dir.filePath(QStringLiteral("kerf.db"))});
    QList<double> kerfMs;
    QList<double> echoMs;
    {
        // The same id in each request: the answers are then the same bytes too.
        const QByteArray line = R"({"jsonrpc":"2.0","id":1,"method":"kerf.status","params":{}})"
                                "\n";
        Client client(kerfPath);
        const QByteArray reply = client.ask(line);
        if (!reply.contains("\"result\"") || !reply.contains("embedded"))
            fail(QStringLiteral("kerf.status answered ") + QString::fromUtf8(reply));
        QProcess echo;
        startAndWait(echo, QCoreApplication::applicationFilePath(),
                     {QStringLiteral("--echo"), echoPath, QString::fromLatin1(reply.toBase64())});
        Client bare(echoPath);
        if (bare.ask(line) != reply)
            fail(QStringLiteral("the echo answers something else"));
        // In turns of fifty, so that both meet the same moments of the machine.
        for (int i = 0; i < kRequests; i += 50) {
            for (int k = 0; k < 50; ++k)
                echoMs.append(bare.askMs(line));
            for (int k = 0; k < 50; ++k)
                kerfMs.append(client.askMs(line));
        }
        echo.terminate();
        echo.waitForFinished(kLimitMs);
        bench::report(QStringLiteral("round trip: bare QLocalSocket, %1 bytes back, median").arg(reply.size()),
                      bench::median(echoMs) * 1000, QStringLiteral("us"));
    }
    bench::report(QStringLiteral("round trip: kerf.status, median"), bench::median(kerfMs) * 1000,
                  QStringLiteral("us"));
    bench::reportRatio(QStringLiteral("kerf.status against the bare round trip"),
                       bench::median(kerfMs) / bench::median(echoMs), 2, true);
    kerfd.terminate();
    if (!kerfd.waitForFinished(kLimitMs) || kerfd.exitCode() != 0)
        fail(QStringLiteral("kerfd did not end cleanly"));
    return 0;
}
