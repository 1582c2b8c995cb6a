// kerf-test: link=kerf_llama
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/logring.h"

#include <QFile>
#include <QTest>

using namespace kerf;

namespace {

const LogLine &add(ServerLogRing &ring, const QByteArray &line) { return ring.append(line, parseServerLogLine(line)); }

} // namespace

class TestLogRing : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void prefixes_data()
    {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<char>("level");
        QTest::addColumn<qint64>("time");
        QTest::newRow("usual") << QByteArray("0.05.785.665 I slot  release: id  0") << 'I' << qint64(5'785'665);
        QTest::newRow("hours") << QByteArray("61.00.000.001 W srv  x: y") << 'W' << qint64(3'660'000'001);
        QTest::newRow("no level") << QByteArray("0.05.785.665 slot  release: id") << char(0) << qint64(5'785'665);
        QTest::newRow("no time") << QByteArray("D slot  release: id  0") << 'D' << qint64(-1);
        QTest::newRow("bare") << QByteArray("slot  release: id  0") << char(0) << qint64(-1);
        QTest::newRow("child") << QByteArray("[57259] 0.00.000.007 E srv  x: y") << 'E' << qint64(7);
        QTest::newRow("colours") << QByteArray("\033[32m0.00.000.007\033[0m \033[31mE \033[0msrv") << 'E' << qint64(7);
        QTest::newRow("a version number") << QByteArray("1.2.3 is out") << char(0) << qint64(-1);
        QTest::newRow("empty") << QByteArray() << char(0) << qint64(-1);
    }
    void prefixes()
    {
        QFETCH(QByteArray, line);
        const LogPrefix prefix = readLogPrefix(line);
        QTEST(prefix.level, "level");
        QTEST(prefix.timeUs, "time");
    }

    void rawAndReading()
    {
        ServerLogRing ring;
        const LogLine line =
            add(ring,
                "0.05.785.665 I slot   operator(): id  0 | task 15 | restored context checkpoint (pos_min = 2174, "
                "pos_max = 2174, n_tokens = 2175, n_past = 2175, size = 0.002 MiB)\r");
        QCOMPARE(line.number, 1);
        QCOMPARE(line.slot, 0);
        QCOMPARE(line.task, 15);
        QCOMPARE(line.level, 'I');
        QVERIFY(line.text.endsWith("0.002 MiB)"));
        QCOMPARE(line.reading(), QStringLiteral("checkpoint 2,175 restored"));
        const LogLine &odd = add(ring, "0.05.785.700 I slot   operator(): id  0 | task 15 | frobnicated checkpoint 7");
        QVERIFY(!odd.understood);
        QCOMPARE(ring.notUnderstood(), 1);
        QCOMPARE(odd.reading(), QStringLiteral("not understood"));
    }

    /// Debug lines, and the lines behind a line break in one, quote prompts.
    void noTextOfAPromptIsKept()
    {
        ServerLogRing ring;
        const QList<QByteArray> quoting{
            "0.09.082.074 D slot launch_slot_: id  0 | task -1 | launching slot : {\"prompt\":\"the SECRET\"}",
            "0.09.082.075 D srv  log_server_r: request:  {\"messages\":[{\"content\":\"the SECRET\"}]}",
            "SECRET on a line of its own, as templates print it", "user: SECRET",
            "{\"level\":1,\"msg\":\"prompt: SECRET\"}"};
        add(ring, "0.00.004.133 I srv  llama_server: initializing ...");
        for (const QByteArray &line : quoting)
            add(ring, line);
        for (qint64 number = ring.firstNumber(); number < ring.nextNumber(); ++number)
            QVERIFY2(!ring.at(number).text.contains("SECRET"), ring.at(number).text.constData());
        QVERIFY(ring.at(2).withheld);
        QVERIFY(ring.at(2).text.startsWith("0.09.082.074 D slot launch_slot_: ("));
        QVERIFY(!ring.at(1).withheld);
        QCOMPARE(ring.at(1).reading(), QStringLiteral("the server starts"));
    }

    void theOldestGo()
    {
        ServerLogRing ring(3);
        QCOMPARE(ring.firstNumber(), ring.nextNumber());
        for (int i = 1; i <= 7; ++i)
            add(ring, "I srv  test: line " + QByteArray::number(i));
        QCOMPARE(ring.firstNumber(), 5);
        QCOMPARE(ring.nextNumber(), 8);
        for (qint64 number = 5; number < 8; ++number) {
            QCOMPARE(ring.at(number).number, number);
            QVERIFY(ring.at(number).text.endsWith(QByteArray::number(number)));
        }
    }

    /// Every line of a real log at -lv 4 is kept as it is; what is withheld are the bare lines of the template's
    /// example.
    void aRealLog()
    {
        QFile file(QStringLiteral(KERF_TEST_DATA "/llama-server/log-gemma3.txt"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        ServerLogRing ring;
        int withheld = 0;
        int readings = 0;
        while (!file.atEnd()) {
            const LogLine &line = add(ring, file.readLine());
            withheld += line.withheld ? 1 : 0;
            readings += line.reading().isEmpty() ? 0 : 1;
            QVERIFY(!line.withheld || line.timeUs < 0);
        }
        QCOMPARE(ring.nextNumber() - 1, 684);
        QVERIFY2(readings > 250, qPrintable(QString::number(readings)));
        QVERIFY2(withheld > 0 && withheld < 90, qPrintable(QString::number(withheld)));
        QCOMPARE(ring.notUnderstood(), 0);
    }
};

QTEST_GUILESS_MAIN(TestLogRing)
#include "tst_logring.moc"
