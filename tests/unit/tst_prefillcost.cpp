// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_cache

#include "core/cache/reuse.h"

#include <QRandomGenerator>
#include <QTest>

#include <cmath>
#include <limits>

using namespace kerf;

namespace {

bool close(double value, double expected, double share)
{
    return std::abs(value - expected) <= share * std::abs(expected);
}

} // namespace

class tst_PrefillCost : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void unknownUntilMeasured()
    {
        const PrefillCost cost = PrefillCostFit().cost();
        QVERIFY(!cost.known());
        QCOMPARE(cost.ms(0, 100), 0.0);
    }
    void sumsPositions()
    {
        const PrefillCost cost{0.5, 0.001, 1, false, 3};
        QCOMPARE(cost.ms(10, 10), 0.0);
        QCOMPARE(cost.ms(10, 9), 0.0);
        QCOMPARE(cost.ms(10, 13), 3 + 1.5 + 0.001 * (10 + 11 + 12));
        QVERIFY(cost.ms(1000, 1100) > cost.ms(0, 100)); // the same number of tokens, later in the window
    }
    void findsTheCoefficients()
    {
        const PrefillCost truth{0.4, 0.00003, 1, false, 5};
        PrefillCostFit fit;
        for (int i = 0; i < 40; ++i)
            fit.add(i * 150, i * 150 + 100 + i * 37 % 900, truth.ms(i * 150, i * 150 + 100 + i * 37 % 900));
        const PrefillCost cost = fit.cost();
        QCOMPARE(cost.samples, 40);
        QVERIFY2(close(cost.msPerToken, 0.4, 0.01), qPrintable(QString::number(cost.msPerToken)));
        QVERIFY2(close(cost.msPerTokenPerPosition, 0.00003, 0.01),
                 qPrintable(QString::number(cost.msPerTokenPerPosition)));
        QVERIFY2(close(cost.msPerRequest, 5, 0.02), qPrintable(QString::number(cost.msPerRequest)));
    }
    void isRobustToNoise()
    {
        const PrefillCost truth{0.4, 0.00003, 1, false, 5};
        QRandomGenerator random(11);
        PrefillCostFit fit;
        for (int i = 0; i < 120; ++i) {
            const int from = random.bounded(6000);
            const int to = from + random.bounded(8, 2000);
            double ms = truth.ms(from, to) * (0.95 + random.bounded(0.1));
            if (i % 10 == 0)
                ms *= 4; // the machine was busy with something else
            fit.add(from, to, ms);
        }
        const PrefillCost cost = fit.cost();
        for (const auto &[from, to] : {std::pair{0, 1000}, std::pair{3000, 3500}, std::pair{6000, 8000}})
            QVERIFY2(close(cost.ms(from, to), truth.ms(from, to), 0.05),
                     qPrintable(QStringLiteral("%1 instead of %2").arg(cost.ms(from, to)).arg(truth.ms(from, to))));
    }
    void neverNegative()
    {
        QRandomGenerator random(3);
        for (int run = 0; run < 200; ++run) {
            PrefillCostFit fit;
            const int count = random.bounded(1, 12);
            for (int i = 0; i < count; ++i) {
                const int from = random.bounded(3000);
                fit.add(from, from + random.bounded(1, 500), 0.01 + random.bounded(300.0));
            }
            const PrefillCost cost = fit.cost();
            QVERIFY(cost.known());
            QVERIFY(cost.msPerToken >= 0 && cost.msPerTokenPerPosition >= 0 && cost.msPerRequest >= 0);
            QVERIFY(std::isfinite(cost.ms(0, 100000)));
            QVERIFY(cost.ms(0, 100) > 0);
        }
    }
    void fallingTimesGiveNoNegativeSlope()
    {
        PrefillCostFit fit;
        fit.add(0, 100, 100); // the first request paid for the warm-up
        fit.add(100, 300, 90);
        fit.add(300, 600, 80);
        const PrefillCost cost = fit.cost();
        QVERIFY(cost.msPerToken >= 0 && cost.msPerTokenPerPosition >= 0);
        QVERIFY(close(cost.ms(100, 300), 90, 0.2));
    }
    void oneSampleIsAProportion()
    {
        PrefillCostFit fit;
        fit.add(0, 100, 50);
        const PrefillCost cost = fit.cost();
        QCOMPARE(cost.samples, 1);
        QVERIFY(close(cost.ms(0, 100), 50, 1e-6));
        QVERIFY(close(cost.ms(0, 200), 100, 0.02));
    }
    void shortSamplesDoNotBendTheSlope()
    {
        const PrefillCost truth{0.4, 0, 1, false, 0};
        PrefillCostFit fit;
        for (int i = 1; i <= 20; ++i) {
            fit.add(1000, 1000 + i * 50, truth.ms(1000, 1000 + i * 50));
            fit.add(1000, 1001, 6); // overhead, not 6 ms a token
        }
        const PrefillCost cost = fit.cost();
        QVERIFY2(close(cost.ms(1000, 2000), 400, 0.02), qPrintable(QString::number(cost.ms(1000, 2000))));
        QCOMPARE(cost.samples, 40);
    }
    void onlyShortSamples()
    {
        PrefillCostFit fit;
        for (int i = 0; i < 10; ++i)
            fit.add(500 + i, 504 + i, 7);
        const PrefillCost cost = fit.cost();
        QVERIFY(cost.known());
        QVERIFY(close(cost.ms(500, 504), 7, 0.05));
        QVERIFY(std::isfinite(cost.ms(0, 8000)));
    }
    void nonsenseIsLeftOut()
    {
        PrefillCostFit fit;
        fit.add(0, 0, 10);
        fit.add(10, 5, 10);
        fit.add(-1, 5, 10);
        fit.add(0, 10, 0);
        fit.add(0, 10, -1);
        fit.add(0, 10, std::numeric_limits<double>::quiet_NaN());
        fit.add(0, 10, std::numeric_limits<double>::infinity());
        QVERIFY(!fit.cost().known());
    }
    void keepsTheLast256()
    {
        PrefillCostFit fit;
        for (int i = 0; i < 300; ++i)
            fit.add(0, 100 + i % 100, (100 + i % 100) * 2.0); // slow, and then
        for (int i = 0; i < 256; ++i)
            fit.add(0, 100 + i % 100, 100 + i % 100); // twice as fast
        QCOMPARE(fit.cost().samples, 256);
        QVERIFY(close(fit.cost().ms(0, 150), 150, 0.02));
    }
};

QTEST_APPLESS_MAIN(tst_PrefillCost)
#include "tst_prefillcost.moc"
