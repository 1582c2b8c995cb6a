// kerf-test: link=kerf_engine
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/usage.h"

#include <QJsonDocument>
#include <QTest>

using namespace kerf;

namespace {

QJsonObject json(const char *text) { return QJsonDocument::fromJson(text).object(); }

QJsonObject usage(int prompt, const QJsonValue &read, const QString &model = QStringLiteral("m"))
{
    QJsonObject params{{QStringLiteral("prompt_tokens"), prompt},
                       {QStringLiteral("provider"), QStringLiteral("p")},
                       {QStringLiteral("model"), model}};
    if (!read.isUndefined())
        params.insert(QStringLiteral("cache_read_tokens"), read);
    return *normaliseUsage(params);
}

} // namespace

class TestUsage : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void shapes_data()
    {
        QTest::addColumn<QByteArray>("payload");
        QTest::addColumn<QString>("shape");
        QTest::addColumn<int>("prompt");
        QTest::addColumn<int>("cached");
        QTest::addColumn<int>("uncached");
        QTest::newRow("openai chat") << QByteArray(
            R"({"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_tokens_details":{"cached_tokens":64}})")
                                     << QStringLiteral("openai-chat") << 100 << 64 << 36;
        QTest::newRow("openai responses") << QByteArray(
            R"({"input_tokens":100,"output_tokens":5,"total_tokens":105,"input_tokens_details":{"cached_tokens":64}})")
                                          << QStringLiteral("openai-responses") << 100 << 64 << 36;
        QTest::newRow("anthropic leaves cached out") << QByteArray(
            R"({"input_tokens":10,"cache_read_input_tokens":80,"cache_creation_input_tokens":20,"output_tokens":7})")
                                                     << QStringLiteral("anthropic") << 110 << 80 << 30;
        QTest::newRow("deepseek") << QByteArray(
            R"({"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_cache_hit_tokens":60,"prompt_cache_miss_tokens":40})")
                                  << QStringLiteral("deepseek") << 100 << 60 << 40;
        QTest::newRow("gemini") << QByteArray(
            R"({"promptTokenCount":100,"candidatesTokenCount":5,"totalTokenCount":105,"cachedContentTokenCount":90})")
                                << QStringLiteral("gemini") << 100 << 90 << 10;
        QTest::newRow("whole gemini answer")
            << QByteArray(R"({"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":90}})")
            << QStringLiteral("gemini") << 100 << 90 << 10;
        QTest::newRow("zero is a miss") << QByteArray(
            R"({"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":0}})")
                                        << QStringLiteral("openai-chat") << 100 << 0 << 100;
    }
    void shapes()
    {
        QFETCH(QByteArray, payload);
        const auto row = normaliseUsage({{QStringLiteral("usage"), QJsonDocument::fromJson(payload).object()}});
        QVERIFY(row);
        QTEST(row->value(QStringLiteral("shape")).toString(), "shape");
        QTEST(row->value(QStringLiteral("prompt_tokens")).toInt(-1), "prompt");
        QTEST(row->value(QStringLiteral("cached_tokens")).toInt(-1), "cached");
        QTEST(row->value(QStringLiteral("uncached_tokens")).toInt(-1), "uncached");
        QCOMPARE(row->value(QStringLiteral("presence")).toString(), QStringLiteral("reported"));
        QVERIFY(row->value(QStringLiteral("conflicts")).toArray().isEmpty());
    }

    void absentNullAndZeroAreThree()
    {
        const QJsonObject absent = judgeUsage(usage(100, QJsonValue::Undefined), {}, QDateTime::currentDateTimeUtc());
        const QJsonObject null = judgeUsage(usage(100, QJsonValue::Null), {}, QDateTime::currentDateTimeUtc());
        const QJsonObject zero = judgeUsage(usage(100, 0), {}, QDateTime::currentDateTimeUtc());
        QCOMPARE(absent.value(QStringLiteral("presence")).toString(), QStringLiteral("absent"));
        QCOMPARE(null.value(QStringLiteral("presence")).toString(), QStringLiteral("null"));
        QCOMPARE(zero.value(QStringLiteral("presence")).toString(), QStringLiteral("reported"));
        QCOMPARE(absent.value(QStringLiteral("verdict")).toString(), QStringLiteral("not-reported"));
        QCOMPARE(null.value(QStringLiteral("verdict")).toString(), QStringLiteral("not-reported"));
        QCOMPARE(zero.value(QStringLiteral("verdict")).toString(), QStringLiteral("cache-miss"));
        QVERIFY(absent.value(QStringLiteral("cached_tokens")).isNull());
    }

    void contradictionsAreFlaggedNeverAddedUp()
    {
        for (
            const char *payload :
            {R"({"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":120}})",
             R"({"prompt_tokens":100,"prompt_cache_hit_tokens":60,"prompt_cache_miss_tokens":50})",
             R"({"prompt_tokens":100,"completion_tokens":5,"total_tokens":300})",
             R"({"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":60},"prompt_cache_hit_tokens":61,"prompt_cache_miss_tokens":39})"}) {
            const auto row = normaliseUsage({{QStringLiteral("usage"), json(payload)}});
            QVERIFY(row);
            QVERIFY2(!row->value(QStringLiteral("conflicts")).toArray().isEmpty(), payload);
        }
        const QJsonObject impossible =
            *normaliseUsage({{QStringLiteral("usage"),
                              json(R"({"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":120}})")}});
        QVERIFY(impossible.value(QStringLiteral("uncached_tokens")).isNull());
        QCOMPARE(
            judgeUsage(impossible, {}, QDateTime::currentDateTimeUtc()).value(QStringLiteral("verdict")).toString(),
            QStringLiteral("not-reported"));
    }

    void theInversionAlarm_data()
    {
        QTest::addColumn<int>("cached");
        QTest::addColumn<int>("prompt");
        QTest::addColumn<QString>("verdict");
        QTest::newRow("the seed's case") << 300 << 6200 << QStringLiteral("PREFIX-BROKEN");
        QTest::newRow("fell by exactly a quarter") << 3750 << 6200 << QStringLiteral("partial-reuse");
        QTest::newRow("fell by a little more") << 3749 << 6200 << QStringLiteral("PREFIX-BROKEN");
        QTest::newRow("prompt shrank by a quarter") << 300 << 4500 << QStringLiteral("PREFIX-BROKEN");
        QTest::newRow("prompt shrank by more") << 300 << 4499 << QStringLiteral("partial-reuse");
        QTest::newRow("grew") << 6000 << 6200 << QStringLiteral("full-reuse");
        QTest::newRow("at 95 percent") << 5890 << 6200 << QStringLiteral("full-reuse");
        QTest::newRow("just below") << 5889 << 6200 << QStringLiteral("partial-reuse");
    }
    void theInversionAlarm()
    {
        QFETCH(int, cached);
        QFETCH(int, prompt);
        const QDateTime start = QDateTime::fromString(QStringLiteral("2026-01-01T00:00:00.000Z"), Qt::ISODateWithMs);
        const QJsonObject before = judgeUsage(usage(6000, 5000), {}, start);
        const QJsonObject now = judgeUsage(usage(prompt, cached), {before}, start.addSecs(30));
        QTEST(now.value(QStringLiteral("verdict")).toString(), "verdict");
        QCOMPARE(now.value(QStringLiteral("regression")).toBool(),
                 now.value(QStringLiteral("verdict")).toString() == QLatin1String("PREFIX-BROKEN"));
        QCOMPARE(now.value(QStringLiteral("seconds_since_last")).toInt(), 30);
    }

    void judgedPerModelAgainstTheLastThatReported()
    {
        const QDateTime start = QDateTime::currentDateTimeUtc();
        const QJsonObject big = judgeUsage(usage(6000, 5000), {}, start);
        const QJsonObject silent = judgeUsage(usage(6100, QJsonValue::Null), {big}, start);
        QCOMPARE(judgeUsage(usage(6200, 300), {silent, big}, start).value(QStringLiteral("verdict")).toString(),
                 QStringLiteral("PREFIX-BROKEN"));
        QCOMPARE(judgeUsage(usage(6200, 300, QStringLiteral("other")), {silent, big}, start)
                     .value(QStringLiteral("verdict"))
                     .toString(),
                 QStringLiteral("partial-reuse"));
        const QJsonObject stats = usageStats({silent, big}, judgeUsage(usage(6200, 300), {silent, big}, start));
        QCOMPARE(stats.value(QStringLiteral("turns")).toInt(), 3);
        QCOMPARE(stats.value(QStringLiteral("reported")).toInt(), 2);
        QCOMPARE(stats.value(QStringLiteral("regressions")).toInt(), 1);
    }

    void badArgumentsAreNamed()
    {
        for (const auto &[payload, field] :
             {std::pair{R"({})", "prompt_tokens"}, std::pair{R"({"prompt_tokens":-1})", "prompt_tokens"},
              std::pair{R"({"prompt_tokens":5,"cache_read_tokens":1.5})", "cache_read_tokens"},
              std::pair{R"({"usage":[]})", "usage"}, std::pair{R"({"usage":{}})", "usage"},
              std::pair{R"({"prompt_tokens":5,"model":1})", "model"}}) {
            const auto row = normaliseUsage(json(payload));
            QVERIFY(!row);
            QVERIFY2(row.error().message.startsWith(QLatin1String(field)), qPrintable(row.error().message));
        }
    }
};

QTEST_GUILESS_MAIN(TestUsage)
#include "tst_usage.moc"
