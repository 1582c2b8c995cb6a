// kerf-test: link=kerf_eviction
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/eviction/policy.h"

#include <QTest>

#include <cmath>

using namespace kerf;

class TestPolicy : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void shippedProfilesAreThoseOfTheDefinition_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<double>("trigger");
        QTest::addColumn<double>("target");
        QTest::addColumn<int>("reserve");
        QTest::addColumn<int>("most");
        QTest::newRow("cache-first") << QStringLiteral("cache-first") << 0.75 << 0.55 << 4096 << 8192;
        QTest::newRow("window-first") << QStringLiteral("window-first") << 0.70 << 0.30 << 0 << 0;
        QTest::newRow("balanced") << QStringLiteral("balanced") << 0.75 << 0.45 << 2048 << 8192;
    }
    void shippedProfilesAreThoseOfTheDefinition()
    {
        QFETCH(QString, name);
        const auto knobs = shippedKnobs(name);
        QVERIFY(knobs);
        QTEST(knobs->trigger, "trigger");
        QTEST(knobs->target, "target");
        QTEST(knobs->cachePrefixReserveTokens, "reserve");
        QTEST(knobs->cachePrefixMaxTokens, "most");
        QCOMPARE(knobs->recencyWeight, 3.0);
        QCOMPARE(knobs->maxPrefixRatio, 0.35);
        QCOMPARE(knobs->keepRecentTokens, 4096);
        QCOMPARE(knobs->snapToleranceTokens, 512);
        QVERIFY(!knobs->allowDrop);
    }

    void anUnknownProfileListsTheKnownOnes()
    {
        const auto knobs = shippedKnobs(QStringLiteral("cache-frist"));
        QVERIFY(!knobs);
        QCOMPARE(knobs.error().code, Error::Code::InvalidParams);
        for (const QString &name : shippedProfiles())
            QVERIFY(knobs.error().message.contains(name));
    }

    void budgetIsTheWindowLessTheOutput()
    {
        const EvictionKnobs knobs = *shippedKnobs(QStringLiteral("cache-first"));
        const Budget small = budgetFor(knobs, 4096);
        QCOMPARE(small.outputReserve, 512);
        QCOMPARE(small.total, 3584);
        QCOMPARE(small.triggerAt, 2688);
        QCOMPARE(small.target, 1971);
        QCOMPARE(small.keepRecent, 896);
        QCOMPARE(budgetFor(knobs, 131072).outputReserve, 2048);
        QCOMPARE(budgetFor(knobs, 131072).keepRecent, 4096);
        QCOMPARE(budgetFor(knobs, 1024).keepRecent, 512);
        QCOMPARE(budgetFor(knobs, 4096, 100).total, 3996);
        QCOMPARE(budgetFor(knobs, 0), Budget());
    }

    void overridesAreCheckedAsAWhole()
    {
        const EvictionKnobs knobs = *shippedKnobs(QStringLiteral("cache-first"));
        QVERIFY(!withOverrides(knobs, {{QStringLiteral("target"), 0.8}}));
        const auto both = withOverrides(knobs, {{QStringLiteral("target"), 0.8}, {QStringLiteral("trigger"), 0.9}});
        QVERIFY(both);
        QCOMPARE(both->target, 0.8);
        const auto infinite = withOverrides(knobs, {{QStringLiteral("recency_weight"), QStringLiteral("infinity")}});
        QVERIFY(infinite && std::isinf(infinite->recencyWeight));
        QCOMPARE(knobsToJson(*infinite).value(QStringLiteral("recency_weight")).toString(), QStringLiteral("infinity"));
        for (const QJsonObject &wrong :
             {QJsonObject{{QStringLiteral("keep_recent_tokens"), 1.5}},
              QJsonObject{{QStringLiteral("keep_recent_tokens"), -1}}, QJsonObject{{QStringLiteral("allow_drop"), 1}},
              QJsonObject{{QStringLiteral("trigger"), 1.01}},
              QJsonObject{{QStringLiteral("trigger"), QStringLiteral("0.7")}},
              QJsonObject{{QStringLiteral("no_such_knob"), 1}}}) {
            const auto refused = withOverrides(knobs, wrong);
            QVERIFY(!refused);
            QVERIFY2(refused.error().message.contains(wrong.constBegin().key()), qPrintable(refused.error().message));
        }
    }

    void knobsRoundTripByTheirWireNames()
    {
        EvictionKnobs knobs = *shippedKnobs(QStringLiteral("balanced"));
        knobs.allowDrop = true;
        knobs.keepPrefixTokens = 77;
        knobs.minFreeDiskBytes = 5'000'000'000;
        const auto back = withOverrides({}, knobsToJson(knobs));
        QVERIFY(back);
        QCOMPARE(*back, knobs);
        QCOMPARE(knobsToJson(knobs).size(), knobNames().size());
    }

    void evidenceChoosesTheProfile()
    {
        QCOMPARE(automaticProfile(true), QStringLiteral("cache-first"));
        QCOMPARE(automaticProfile(false), QStringLiteral("window-first"));
    }
};

QTEST_GUILESS_MAIN(TestPolicy)
#include "tst_policy.moc"
