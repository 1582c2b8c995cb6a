// kerf-test: link=kerf_llama
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/logtail.h"

#include <QElapsedTimer>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace kerf;

class TestLogTail : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_dir;
    int m_files = 0;

    QString freshPath() { return m_dir.filePath(QStringLiteral("server-%1.log").arg(++m_files)); }

    static void append(const QString &path, const QByteArray &bytes)
    {
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Append));
        QCOMPARE(file.write(bytes), bytes.size());
    }

    struct Reader {
        LogTail tail;
        QList<QByteArray> lines;
        int batches = 0;
        Reader()
        {
            QObject::connect(&tail, &LogTail::linesRead, &tail, [this](const QList<QByteArray> &more) {
                lines += more;
                ++batches;
            });
        }
    };

private Q_SLOTS:
    void initTestCase() { QVERIFY(m_dir.isValid()); }

    void whatIsThereAndWhatComes()
    {
        const QString path = freshPath();
        append(path, "one\ntwo\nthr");
        Reader reader;
        reader.tail.follow(path);
        QVERIFY(reader.tail.isOpen());
        QCOMPARE(reader.lines, (QList<QByteArray>{"one", "two"}));
        append(path, "ee\r\n\nfour\n");
        QTRY_COMPARE_WITH_TIMEOUT(reader.lines, (QList<QByteArray>{"one", "two", "three\r", "", "four"}), 3000);
        append(path, "now\n");
        QVERIFY(!reader.tail.catchUp()); // at once, and there is no more
        QCOMPARE(reader.lines.constLast(), QByteArray("now"));
        QCOMPARE(reader.tail.bytesRead(), QFile(path).size());
    }

    void aFileThatAppearsLater()
    {
        const QString path = freshPath();
        Reader reader;
        QSignalSpy opened(&reader.tail, &LogTail::opened);
        QVERIFY(opened.isValid());
        reader.tail.follow(path);
        QVERIFY(!reader.tail.isOpen());
        QVERIFY(!reader.tail.catchUp());
        QTest::qWait(120);
        append(path, "first\n");
        QTRY_COMPARE_WITH_TIMEOUT(reader.lines, (QList<QByteArray>{"first"}), 3000);
        QCOMPARE(opened.count(), 1);
        QVERIFY(reader.tail.isOpen());
    }

    /// The rest of the old file comes before its successor; nothing comes twice.
    void rotation()
    {
        const QString path = freshPath();
        append(path, "a\nb\n");
        Reader reader;
        QSignalSpy restarted(&reader.tail, &LogTail::restarted);
        QVERIFY(restarted.isValid());
        reader.tail.follow(path);
        append(path, "c\nhalf a li");
        QVERIFY(QFile::rename(path, path + QStringLiteral(".1")));
        append(path, "d\n");
        reader.tail.catchUp();
        QCOMPARE(reader.lines, (QList<QByteArray>{"a", "b", "c", "d"}));
        QCOMPARE(restarted.count(), 1);
        QVERIFY(!restarted.at(0).at(0).toBool()); // the whole of the old file was read
        append(path, "e\n");
        reader.tail.catchUp();
        QCOMPARE(reader.lines.constLast(), QByteArray("e"));
        QCOMPARE(reader.lines.size(), 5);
    }

    /// The server still writes into the file that was moved away, and an empty one has its name.
    void rotationThatTheServerDoesNotNotice()
    {
        const QString path = freshPath();
        append(path, "a\n");
        Reader reader;
        reader.tail.follow(path);
        const QString moved = path + QStringLiteral(".1");
        QVERIFY(QFile::rename(path, moved));
        append(path, "");
        append(moved, "b\n");
        reader.tail.catchUp();
        reader.tail.catchUp();
        append(moved, "c\n");
        reader.tail.catchUp();
        QCOMPARE(reader.lines, (QList<QByteArray>{"a", "b", "c"}));
        append(path, "d\n");
        reader.tail.catchUp();
        QCOMPARE(reader.lines, (QList<QByteArray>{"a", "b", "c", "d"}));
    }

    void aFileThatIsRemovedAndComesBack()
    {
        const QString path = freshPath();
        append(path, "a\n");
        Reader reader;
        reader.tail.follow(path);
        QVERIFY(QFile::remove(path));
        reader.tail.catchUp();
        QCOMPARE(reader.lines.size(), 1);
        append(path, "b\n");
        reader.tail.catchUp();
        QCOMPARE(reader.lines, (QList<QByteArray>{"a", "b"}));
    }

    void truncation()
    {
        const QString path = freshPath();
        append(path, "a long first line\nand half of a sec");
        Reader reader;
        QSignalSpy restarted(&reader.tail, &LogTail::restarted);
        reader.tail.follow(path);
        QVERIFY(QFile::resize(path, 0));
        append(path, "b\n");
        reader.tail.catchUp();
        QCOMPARE(reader.lines, (QList<QByteArray>{"a long first line", "b"}));
        QCOMPARE(restarted.count(), 1);
        QVERIFY(restarted.at(0).at(0).toBool()); // what was written before the cut may be lost
    }

    /// A server that is started again with the same --log-file writes more than before between two looks.
    void truncationThatGrewPastTheOldEnd()
    {
        const QString path = freshPath();
        append(path, "0.00.004.133 I first life\nthe end of it\n");
        Reader reader;
        QSignalSpy restarted(&reader.tail, &LogTail::restarted);
        reader.tail.follow(path);
        QVERIFY(QFile::resize(path, 0));
        append(path, "0.00.005.001 I second life\nand much more of it than there was of the first one\nend\n");
        reader.tail.catchUp();
        QCOMPARE(restarted.count(), 1);
        QCOMPARE(reader.lines.mid(2),
                 (QList<QByteArray>{"0.00.005.001 I second life", "and much more of it than there was of the first one",
                                    "end"}));
    }

    /// copytruncate under a writer that does not append: it goes on at its old place, behind a hole.
    void truncationThatLeavesAHole()
    {
        for (const bool lookBetween : {false, true}) {
            const QString path = freshPath();
            QFile writer(path);
            QVERIFY(writer.open(QIODevice::WriteOnly | QIODevice::Unbuffered));
            writer.write(QByteArray(100000, 'x') + "\nlast\n");
            Reader reader;
            reader.tail.follow(path);
            QCOMPARE(reader.lines.constLast(), QByteArray("last"));
            const qsizetype before = reader.lines.size();
            QVERIFY(writer.resize(0));
            if (lookBetween)
                reader.tail.catchUp();
            QVERIFY(writer.seek(100006));
            writer.write("goes on\nhere\n");
            while (reader.tail.catchUp()) { }
            QCOMPARE(reader.lines.mid(before), (QList<QByteArray>{"goes on", "here"}));
        }
    }

    void longLinesAreCutAndNulsKept()
    {
        const QString path = freshPath();
        append(path, QByteArray(300000, 'x') + QByteArray("\nb\0c\n", 5) + QByteArray(65536, 'y') + "\nend\n");
        append(path, QByteArray("n\0ul\n", 5));
        Reader reader;
        reader.tail.follow(path);
        while (reader.tail.catchUp()) { }
        QCOMPARE(reader.lines.size(), 5);
        QCOMPARE(reader.lines.at(0), QByteArray(65536, 'x'));
        QCOMPARE(reader.lines.at(1), QByteArray("b\0c", 3));
        QCOMPARE(reader.lines.at(2), QByteArray(65536, 'y'));
        QCOMPARE(reader.lines.at(3), QByteArray("end"));
        QCOMPARE(reader.lines.at(4), QByteArray("n\0ul", 4));
    }

    /// However the bytes are cut, the lines are the same.
    void pushedBytes()
    {
        QByteArray text;
        QList<QByteArray> expected;
        for (int i = 0; i < 500; ++i) {
            expected.append(QByteArray(i % 37, 'a') + QByteArray::number(i));
            text += expected.constLast() + '\n';
        }
        for (const int step : {1, 2, 7, 64, 1000, 100000}) {
            Reader reader;
            QVERIFY(!reader.tail.isOpen());
            for (qsizetype at = 0; at < text.size(); at += step)
                reader.tail.feed(text.mid(at, step));
            QVERIFY(reader.tail.isOpen());
            QCOMPARE(reader.lines, expected);
        }
    }

    /// A large file is read in pieces; the event loop turns in between.
    void largeFilesDoNotBlock()
    {
        const QString path = freshPath();
        const QByteArray line(1023, 'z');
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        for (int i = 0; i < 8 * 1024; ++i)
            file.write(line + '\n');
        file.close();
        Reader reader;
        reader.tail.follow(path);
        QVERIFY(reader.lines.size() <= 1024); // 1 MiB a call
        QVERIFY(reader.lines.size() > 0);
        QTRY_COMPARE_WITH_TIMEOUT(reader.lines.size(), 8 * 1024, 20000);
        QVERIFY(reader.batches >= 32);
    }

    void notWhatCanBeFollowed()
    {
        Reader reader;
        reader.tail.follow(m_dir.path()); // a folder
        QVERIFY(!reader.tail.isOpen());
        QVERIFY(!reader.tail.catchUp());
        reader.tail.follow(QStringLiteral("/no/such/folder/x.log"));
        QVERIFY(!reader.tail.isOpen());
        LogTail none;
        QVERIFY(!none.catchUp());
    }
};

QTEST_GUILESS_MAIN(TestLogTail)
#include "tst_logtail.moc"
