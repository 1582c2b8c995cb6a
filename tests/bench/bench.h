// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QList>
#include <QString>

#include <algorithm>
#include <cstdio>

// Each benchmark prints one JSON object a line; tests/bench/run makes the table of them.
namespace kerf::bench {

/// Keeps the optimiser from dropping a result that nobody reads.
template<typename T>
inline void keep(const T &value)
{
    asm volatile("" : : "g"(&value) : "memory");
}

inline double median(QList<double> values)
{
    std::sort(values.begin(), values.end());
    const qsizetype half = values.size() / 2;
    if (values.isEmpty())
        return 0;
    return values.size() % 2 == 1 ? values.at(half) : (values.at(half - 1) + values.at(half)) / 2;
}

/// Median time of one run of `work`, in milliseconds: at least `runs` runs, after one that is not counted.
template<typename Work>
double medianMs(int runs, Work work)
{
    work();
    QList<double> times;
    QElapsedTimer timer;
    for (int i = 0; i < runs; ++i) {
        timer.start();
        work();
        times.append(double(timer.nsecsElapsed()) / 1e6);
    }
    return median(times);
}

inline void print(const QJsonObject &row)
{
    const QByteArray line = QJsonDocument(row).toJson(QJsonDocument::Compact);
    std::printf("%s\n", line.constData());
    std::fflush(stdout);
}

inline void report(const QString &name, double value, const QString &unit)
{
    print({{QStringLiteral("name"), name}, {QStringLiteral("value"), value}, {QStringLiteral("unit"), unit}});
}

/// A ratio of two values of this run. `limit` is what it may be: at most (`atMost`) or at least that; 0 = no limit.
inline void reportRatio(const QString &name, double ratio, double limit, bool atMost)
{
    QJsonObject row{{QStringLiteral("name"), name},
                    {QStringLiteral("value"), ratio},
                    {QStringLiteral("unit"), QStringLiteral("x")}};
    if (limit > 0) {
        row.insert(QStringLiteral("limit"), limit);
        row.insert(QStringLiteral("at_most"), atMost);
    }
    print(row);
}

} // namespace kerf::bench
