// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_ipc

#include "core/ipc/framing.h"

#include <QElapsedTimer>
#include <QTest>

using namespace kerf;

class TestFraming : public QObject
{
    Q_OBJECT

private:
    static QList<QByteArray> all(LineBuffer &buffer)
    {
        QList<QByteArray> lines;
        QByteArrayView line;
        while (buffer.next(&line) == LineBuffer::Next::Line)
            lines.append(line.toByteArray());
        return lines;
    }

private Q_SLOTS:
    void lines_data()
    {
        QTest::addColumn<QByteArray>("stream");
        QTest::addColumn<QList<QByteArray>>("expected");
        QTest::addColumn<QByteArray>("rest");
        QTest::newRow("one") << QByteArray("{}\n") << QList<QByteArray>{"{}"} << QByteArray();
        QTest::newRow("two at once") << QByteArray("a\nb\n") << QList<QByteArray>{"a", "b"} << QByteArray();
        QTest::newRow("carriage return") << QByteArray("a\r\nb\r\n") << QList<QByteArray>{"a", "b"} << QByteArray();
        QTest::newRow("blank lines") << QByteArray("\n\r\n  \na\n\n\nb\n") << QList<QByteArray>{"a", "b"}
                                     << QByteArray();
        QTest::newRow("incomplete") << QByteArray("a\n{\"x\"") << QList<QByteArray>{"a"} << QByteArray("{\"x\"");
        QTest::newRow("nothing") << QByteArray() << QList<QByteArray>{} << QByteArray();
    }

    void lines()
    {
        QFETCH(QByteArray, stream);
        QFETCH(QList<QByteArray>, expected);
        QFETCH(QByteArray, rest);
        LineBuffer whole;
        whole.append(stream);
        QCOMPARE(all(whole), expected);
        QCOMPARE(whole.rest().toByteArray(), rest);
        // The same bytes one by one give the same lines.
        LineBuffer single;
        QList<QByteArray> lines;
        for (const char byte : stream) {
            single.append(QByteArrayView(&byte, 1));
            lines += all(single);
        }
        QCOMPARE(lines, expected);
        QCOMPARE(single.rest().toByteArray(), rest);
    }

    void theLimitIsExact()
    {
        QByteArrayView line;
        LineBuffer fits(10);
        fits.append("0123456789\r\nabc\n");
        QCOMPARE(fits.next(&line), LineBuffer::Next::Line);
        QCOMPARE(line.size(), 10);
        QCOMPARE(fits.next(&line), LineBuffer::Next::Line);

        LineBuffer over(10);
        over.append("01234567890\n");
        QCOMPARE(over.next(&line), LineBuffer::Next::TooLong);
        over.append("a\n");
        QCOMPARE(over.next(&line), LineBuffer::Next::TooLong); // the frame is lost for good

        LineBuffer unended(10);
        unended.append("0123456789ab"); // no line end in sight
        QCOMPARE(unended.next(&line), LineBuffer::Next::TooLong);
    }

    void workIsLinear()
    {
        // A large message in small pieces: each byte is looked at once, else this takes minutes.
        LineBuffer buffer;
        QByteArrayView line;
        const QByteArray piece(512, 'x');
        QElapsedTimer timer;
        timer.start();
        for (int i = 0; i < 16 * 1024; ++i) {
            buffer.append(piece);
            QCOMPARE(buffer.next(&line), LineBuffer::Next::Incomplete);
        }
        buffer.append("\n");
        QCOMPARE(buffer.next(&line), LineBuffer::Next::Line);
        QCOMPARE(line.size(), 512 * 16 * 1024);
        QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
    }

    void manyLinesAreGivenBack()
    {
        LineBuffer buffer;
        QByteArrayView line;
        qsizetype largest = 0;
        for (int i = 0; i < 10000; ++i) {
            buffer.append("0123456789\nhalf a li");
            QCOMPARE(buffer.next(&line), LineBuffer::Next::Line);
            largest = std::max(largest, buffer.size());
            buffer.append("ne\n");
            QCOMPARE(buffer.next(&line), LineBuffer::Next::Line);
            QCOMPARE(line.toByteArray(), QByteArray("half a line"));
        }
        QVERIFY(largest < 100);
    }
};

QTEST_GUILESS_MAIN(TestFraming)
#include "tst_framing.moc"
