// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// Reading a server's log: the recorded -lv 4 logs of tests/data, over and over, each repetition a new server life.
// "split" is the bare work below it: finding the line ends.

#include "core/llama/logmodel.h"
#include "core/llama/serverlog.h"
#include "tests/bench/bench.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>

#include <cstdlib>
#include <cstring>

using namespace kerf;

namespace {

template<typename Line>
void eachLine(const QByteArray &text, Line line)
{
    const char *at = text.constData();
    const char *const end = at + text.size();
    while (at < end) {
        const void *newline = std::memchr(at, '\n', size_t(end - at));
        const char *const stop = newline ? static_cast<const char *>(newline) : end;
        line(QByteArrayView(at, stop - at));
        at = stop + 1;
    }
}

} // namespace

int main(int argc, char *argv[])
{
    QCoreApplication app(argc, argv);
    if (argc < 2) {
        std::fputs("usage: bench_log SOURCE_DIR\n", stderr);
        return 2;
    }
    const QDir folder(QString::fromLocal8Bit(argv[1]) + QStringLiteral("/tests/data/llama-server"));
    const QStringList names = folder.entryList({QStringLiteral("log-*.txt")}, QDir::Files);
    QByteArray once;
    for (const QString &name : names) {
        QFile file(folder.filePath(name));
        if (file.open(QIODevice::ReadOnly))
            once += file.readAll();
    }
    if (once.isEmpty()) {
        std::fprintf(stderr, "bench_log: no logs in %s\n", qPrintable(folder.path()));
        return 1;
    }
    const QByteArray text = once.repeated(20 * 1024 * 1024 / once.size() + 1);
    const double megabytes = double(text.size()) / 1e6;

    qint64 bytes = 0;
    const double splitMs =
        bench::medianMs(5, [&] { eachLine(text, [&](QByteArrayView line) { bytes += line.size(); }); });
    bench::keep(bytes);
    qint64 understood = 0;
    const double parseMs = bench::medianMs(5, [&] {
        eachLine(text,
                 [&](QByteArrayView line) { understood += parseServerLogLine(line).kind != LogEvent::Kind::Other; });
    });
    qsizetype tasks = 0;
    qint64 lines = 0;
    const double modelMs = bench::medianMs(5, [&] {
        ServerLogModel model;
        eachLine(text, [&](QByteArrayView line) { model.feed(line); });
        tasks = model.tasks().size();
        lines = model.lines();
    });
    if (understood == 0 || tasks == 0) {
        std::fputs("bench_log: nothing was understood\n", stderr);
        return 1;
    }
    bench::report(QStringLiteral("server log, %1 MB, %2 lines: split alone").arg(megabytes, 0, 'f', 0).arg(lines),
                  megabytes / splitMs * 1000, QStringLiteral("MB/s"));
    bench::report(QStringLiteral("server log: parsed"), megabytes / parseMs * 1000, QStringLiteral("MB/s"));
    bench::report(QStringLiteral("server log: parsed, ring and host cache rebuilt"), megabytes / modelMs * 1000,
                  QStringLiteral("MB/s"));
    return 0;
}
