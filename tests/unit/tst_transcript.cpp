// kerf-test: link=kerf_transcript
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/transcript/transcript.h"

#include <QFile>
#include <QTest>

using namespace kerf;

class TestTranscript : public QObject
{
    Q_OBJECT

private:
    static QList<Transcript> read(const QByteArray &bytes)
    {
        const auto list = parseTranscripts(bytes, QStringLiteral("x"));
        return list ? *list : QList<Transcript>();
    }

private Q_SLOTS:
    void formats_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("format");
        QTest::addColumn<int>("conversations");
        QTest::addColumn<int>("messages");
        const QByteArray one = R"({"role":"user","content":"a"})";
        const QByteArray two = R"({"role":"assistant","content":"b"})";
        QTest::newRow("array") << QByteArray("[" + one + "," + two + "]") << QStringLiteral("openai-messages") << 1
                               << 2;
        QTest::newRow("object") << QByteArray("{\"messages\":[" + one + "]}") << QStringLiteral("openai-messages") << 1
                                << 1;
        QTest::newRow("request") << QByteArray("{\"model\":\"m\",\"messages\":[" + one + "]}")
                                 << QStringLiteral("request-body") << 1 << 1;
        QTest::newRow("a message a line")
            << QByteArray(one + "\n" + two + "\n") << QStringLiteral("openai-jsonl") << 1 << 2;
        QTest::newRow("CRLF, BOM, blank lines")
            << QByteArray("\xef\xbb\xbf" + one + "\r\n\r\n" + two + "\r\n") << QStringLiteral("openai-jsonl") << 1 << 2;
        QTest::newRow("a conversation a line")
            << QByteArray("{\"messages\":[" + one + "]}\n{\"messages\":[" + one + "," + two + "]}\n")
            << QStringLiteral("openai-jsonl") << 2 << 1;
        QTest::newRow("recorded requests") << QByteArray("{\"n\":1,\"body\":{\"messages\":[" + one
                                                         + "]}}\n{\"n\":2,\"body\":{\"messages\":[" + one + "]}}\n")
                                           << QStringLiteral("request-body") << 2 << 1;
        QTest::newRow("a set") << QByteArray("[{\"traj\":[" + one + "]},{\"traj\":[" + one + "," + two + "]}]")
                               << QStringLiteral("openai-messages") << 2 << 1;
        QTest::newRow("trajectory") << QByteArray("{\"history\":[" + one + "," + two + "],\"info\":{}}")
                                    << QStringLiteral("swe-agent") << 1 << 2;
        QTest::newRow("trajectory without history")
            << QByteArray("{\"trajectory\":[{\"messages\":[" + one + "]},{\"query\":[" + one + "," + two + "]}]}")
            << QStringLiteral("swe-agent") << 1 << 2;
    }
    void formats()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(int, conversations);
        const QList<Transcript> list = read(bytes);
        QCOMPARE(list.size(), conversations);
        QTEST(list.constFirst().format, "format");
        QTEST(static_cast<int>(list.constFirst().messages.size()), "messages");
        QVERIFY(list.constFirst().skipped.isEmpty());
    }

    void whatIsNotUnderstoodIsListed()
    {
        const QList<Transcript> list = read("{\"role\":\"user\",\"content\":\"a\"}\nnot "
                                            "json\n{\"role\":\"wizard\",\"content\":\"b\"}\n{\"role\":\"assistant\"}\n{"
                                            "\"role\":\"assistant\",\"content\":\"c");
        QCOMPARE(list.size(), 1);
        QCOMPARE(list.constFirst().messages.size(), 1);
        QCOMPARE(list.constFirst().skipped.size(), 4);
        QCOMPARE(list.constFirst().skipped.at(0).line, 2);
        QVERIFY(list.constFirst().skipped.at(1).why.contains(QStringLiteral("wizard")));
        QVERIFY(list.constFirst().skipped.at(3).why.contains(QStringLiteral("not complete")));
    }

    void foreignFilesAreRefusedByName()
    {
        for (const char *bytes :
             {"", "   ", "hello", "{\"a\":1}", "[1,2]", "[{\"role\":\"user\",\"content\":\"cut off"}) {
            const auto list = parseTranscripts(bytes, QStringLiteral("file.json"));
            QVERIFY(!list);
            QVERIFY(list.error().message.contains(QStringLiteral("file.json")));
        }
    }

    void toolCallsAndRolesAreKept()
    {
        const QList<Transcript> list = read(
            R"([{"role":"developer","content":"S"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"ls","arguments":"{ }"}}]},{"role":"tool","content":"r","tool_call_ids":["c"]}])");
        QCOMPARE(list.constFirst().messages.size(), 3);
        QCOMPARE(list.constFirst().messages.at(0).value(QStringLiteral("role")).toString(), QStringLiteral("system"));
        QVERIFY(list.constFirst().messages.at(1).contains(QStringLiteral("tool_calls")));
        QCOMPARE(list.constFirst().messages.at(2).value(QStringLiteral("tool_call_id")).toString(),
                 QStringLiteral("c"));
        QVERIFY(list.constFirst().notes.join(QLatin1Char(' ')).contains(QStringLiteral("no tool schemas")));
    }

    void fixtures_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QList<int>>("sizes");
        QTest::newRow("swe function calling") << QStringLiteral("swe-agent-function-calling.traj") << QList<int>{28};
        QTest::newRow("swe thought action") << QStringLiteral("swe-agent-thought-action.traj") << QList<int>{26};
        QTest::newRow("mini-swe") << QStringLiteral("mini-swe-agent.traj.json") << QList<int>{22};
        QTest::newRow("tau") << QStringLiteral("tau-bench-openai-messages.json")
                             << QList<int>{62, 52, 58, 34, 16, 62, 48};
    }
    void fixtures()
    {
        const QString folder = qEnvironmentVariable("KERF_FIXTURES");
        if (folder.isEmpty())
            QSKIP("KERF_FIXTURES is not set: the recorded transcripts were not read");
        QFETCH(QString, file);
        QFETCH(QList<int>, sizes);
        const auto list = readTranscripts(folder + QStringLiteral("/transcripts/") + file);
        QVERIFY2(list, list ? "" : qPrintable(list.error().message));
        QList<int> found;
        for (const Transcript &transcript : *list)
            found.append(static_cast<int>(transcript.messages.size() + transcript.skipped.size()));
        QCOMPARE(found, sizes);
    }
};

QTEST_GUILESS_MAIN(TestTranscript)
#include "tst_transcript.moc"
