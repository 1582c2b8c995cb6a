// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// From starting the program until its window has been painted for the first time: the console as it opens with
// nothing configured (the embedded demo session), against an empty QMainWindow. Both are watched from outside: Qt
// says in the category qt.widgets.painting when a top level window is flushed.

#include "tests/bench/bench.h"

#include <QCoreApplication>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTemporaryDir>

#include <cstdlib>

using namespace kerf;

namespace {

double firstPaintMs(const QString &program)
{
    QTemporaryDir home;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("HOME"), home.path());
    environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), home.path());
    environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
    environment.insert(QStringLiteral("QT_LOGGING_RULES"), QStringLiteral("qt.widgets.painting=true"));
    environment.insert(QStringLiteral("QT_LOGGING_TO_CONSOLE"), QStringLiteral("1"));
    QProcess process;
    process.setProcessEnvironment(environment);
    process.setStandardOutputFile(QProcess::nullDevice());
    process.setReadChannel(QProcess::StandardError);
    QElapsedTimer timer;
    timer.start();
    process.start(program, QStringList());
    QByteArray said;
    while (!said.contains("Flushing top level")) {
        if (!process.waitForReadyRead(20000)) {
            std::fprintf(stderr, "bench_startup: %s painted nothing: %s\n", qPrintable(program),
                         said.right(2000).constData());
            std::exit(1);
        }
        said += process.readAllStandardError();
    }
    const double ms = double(timer.nsecsElapsed()) / 1e6;
    process.kill();
    process.waitForFinished();
    return ms;
}

} // namespace

int main(int argc, char *argv[])
{
    QCoreApplication app(argc, argv);
    const QString folder = QCoreApplication::applicationDirPath();
    QList<double> empty;
    QList<double> console;
    for (int i = 0; i < 11; ++i) {
        const double emptyMs = firstPaintMs(folder + QStringLiteral("/bench_emptywindow"));
        const double consoleMs = firstPaintMs(folder + QStringLiteral("/kerf"));
        if (i > 0) { // the first one reads the libraries from the disk
            empty.append(emptyMs);
            console.append(consoleMs);
        }
    }
    bench::report(QStringLiteral("first paint: an empty QMainWindow, median"), bench::median(empty),
                  QStringLiteral("ms"));
    bench::report(QStringLiteral("first paint: kerf, median"), bench::median(console), QStringLiteral("ms"));
    bench::reportRatio(QStringLiteral("kerf against the empty window"), bench::median(console) / bench::median(empty),
                       0, true);
    return 0;
}
