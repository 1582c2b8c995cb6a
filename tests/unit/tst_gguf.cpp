// kerf-test: link=kerf_llama
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/ggufheader.h"

#include <QDir>
#include <QFile>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QtEndian>
#include <QTest>

#include <limits>

using namespace kerf;

namespace {

/// Writes headers as the format says: magic, version, tensor count, key count, then keys.
class Writer
{
public:
    Writer &u32(const char *key, quint32 value) { return entry(key, 4, bytes(value)); }
    Writer &u64(const char *key, quint64 value) { return entry(key, 10, bytes(value)); }
    Writer &real(const char *key, float value)
    {
        return entry(key, 6, QByteArray(reinterpret_cast<const char *>(&value), 4));
    }
    Writer &boolean(const char *key, bool value) { return entry(key, 7, QByteArray(1, value ? 1 : 0)); }
    Writer &text(const char *key, const QByteArray &value) { return entry(key, 8, string(value)); }
    Writer &texts(const char *key, int count, const QByteArray &each)
    {
        QByteArray data = bytes(quint32(8)) + bytes(quint64(count));
        for (int i = 0; i < count; ++i)
            data += string(each + QByteArray::number(i));
        return entry(key, 9, data);
    }
    Writer &numbers(const char *key, int count)
    {
        return entry(key, 9, bytes(quint32(4)) + bytes(quint64(count)) + QByteArray(count * 4, '\1'));
    }
    Writer &raw(const char *key, quint32 type, const QByteArray &data) { return entry(key, type, data); }
    QByteArray done(quint32 version = 3) const
    {
        return "GGUF" + bytes(version) + bytes(quint64(0)) + bytes(quint64(m_count)) + m_body;
    }

    template<typename T>
    static QByteArray bytes(T value)
    {
        value = qToLittleEndian(value);
        return {reinterpret_cast<const char *>(&value), sizeof value};
    }
    static QByteArray string(const QByteArray &text) { return bytes(quint64(text.size())) + text; }

private:
    Writer &entry(const char *key, quint32 type, const QByteArray &data)
    {
        m_body += string(key) + bytes(type) + data;
        ++m_count;
        return *this;
    }
    QByteArray m_body;
    int m_count = 0;
};

} // namespace

class TestGguf : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_dir;

    Result<GgufHeader> read(const QByteArray &bytes)
    {
        const QString path = m_dir.filePath(QStringLiteral("x.gguf"));
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            return failure(Error::Code::Failed, QStringLiteral("the test cannot write"));
        file.close();
        return readGgufHeader(path);
    }

private Q_SLOTS:
    void kinds_data()
    {
        QTest::addColumn<QByteArray>("architecture");
        QTest::addColumn<QByteArray>("key");
        QTest::addColumn<int>("memory");
        QTest::addColumn<bool>("established");
        const auto row = [](const char *architecture, const char *key, MemoryKind memory, bool established) {
            QTest::addRow("%s %s", architecture, key)
                << QByteArray(architecture) << QByteArray(key) << int(memory) << established;
        };
        row("llama", "", MemoryKind::FullAttention, true);
        row("qwen3", "", MemoryKind::FullAttention, true);
        row("gemma3", "gemma3.attention.sliding_window", MemoryKind::Checkpointed, true);
        row("gpt-oss", "gpt-oss.attention.sliding_window", MemoryKind::Checkpointed, true);
        row("gemma2", "", MemoryKind::Checkpointed, true); // its loader has a default
        row("llama4", "", MemoryKind::Checkpointed, true);
        row("phi3", "phi3.attention.sliding_window", MemoryKind::FullAttention, true); // llama-server does not apply it
        row("mamba", "mamba.ssm.conv_kernel", MemoryKind::Checkpointed, true);
        row("rwkv7", "", MemoryKind::Checkpointed, true);
        row("lfm2", "lfm2.shortconv.l_cache", MemoryKind::Checkpointed, true);
        row("qwen3next", "", MemoryKind::Checkpointed, true);
        row("granitehybrid", "granitehybrid.ssm.state_size", MemoryKind::Checkpointed, true);
        row("brand-new", "", MemoryKind::FullAttention, false); // inferred from what is not there
        row("brand-new", "brand-new.attention.sliding_window", MemoryKind::Checkpointed, true);
        row("brand-new", "brand-new.ssm.state_size", MemoryKind::Checkpointed, true);
    }
    void kinds()
    {
        QFETCH(QByteArray, architecture);
        QFETCH(QByteArray, key);
        QFETCH(int, memory);
        QFETCH(bool, established);
        Writer writer;
        writer.text("general.architecture", architecture)
            .u32((architecture + ".context_length").constData(), 131072)
            .texts("tokenizer.ggml.tokens", 2000, "token");
        if (!key.isEmpty())
            writer.u32(key.constData(), 512);
        writer.boolean("tokenizer.ggml.add_bos_token", true)
            .real("x.rope.freq_base", 10000)
            .numbers("tokenizer.ggml.token_type", 2000);
        const auto header = read(writer.done());
        QVERIFY2(header, header ? "" : qPrintable(header.error().message));
        QCOMPARE(header->architecture, QString::fromLatin1(architecture));
        QCOMPARE(header->contextLength, 131072);
        QCOMPARE(header->slidingWindow, key.endsWith("sliding_window") ? 512 : 0);
        QCOMPARE(int(header->memory()), memory);
        QCOMPARE(header->isEstablished(), established);
    }

    void otherFormsOfTheWindow()
    {
        // One number a layer: it cannot be said to have none.
        auto header = read(
            Writer().text("general.architecture", "brand-new").numbers("brand-new.attention.sliding_window", 8).done());
        QVERIFY(header);
        QCOMPARE(header->memory(), MemoryKind::Unknown);
        QVERIFY(!header->isEstablished());
        header =
            read(Writer().text("general.architecture", "gemma3").u64("gemma3.attention.sliding_window", 1024).done(2));
        QVERIFY(header);
        QCOMPARE(header->slidingWindow, 1024);
        header = read(Writer().text("general.architecture", "gemma3").u32("gemma3.attention.sliding_window", 0).done());
        QVERIFY(header);
        QCOMPARE(header->memory(), MemoryKind::FullAttention);
        QCOMPARE(read(Writer().done())->memory(), MemoryKind::Unknown); // no architecture
    }

    void damagedFiles()
    {
        QVERIFY(!readGgufHeader(m_dir.filePath(QStringLiteral("none.gguf"))));
        QCOMPARE(readGgufHeader(m_dir.filePath(QStringLiteral("none.gguf"))).error().code, Error::Code::NotFound);
        QVERIFY(!read({}));
        QVERIFY(!read("GGUF"));
        QVERIFY(!read("GGML" + QByteArray(100, '\0')));
        QVERIFY(!read(Writer().text("general.architecture", "llama").done(1)));
        QVERIFY(!read(Writer().text("general.architecture", "llama").done(0x03000000))); // big endian
        // Lengths that lead out of the file, out of the limit, or around the end of the number.
        for (const quint64 length : {quint64(1000), quint64(1) << 40, std::numeric_limits<quint64>::max(),
                                     std::numeric_limits<quint64>::max() - 60, quint64(1) << 63}) {
            QVERIFY(!read(Writer().raw("a", 8, Writer::bytes(length)).u32("b", 1).done()));
            QVERIFY(!read(Writer().raw("a", 9, Writer::bytes(quint32(0)) + Writer::bytes(length)).done()));
            QVERIFY(!read(Writer()
                              .raw("a", 9, Writer::bytes(quint32(8)) + Writer::bytes(length) + Writer::bytes(length))
                              .done()));
            QVERIFY(!read("GGUF" + Writer::bytes(quint32(3)) + Writer::bytes(quint64(0)) + Writer::bytes(length)));
        }
        QVERIFY(!read(Writer().raw("a", 99, {}).done()));
        QVERIFY(!read(
            Writer().raw("a", 9, Writer::bytes(quint32(9)) + Writer::bytes(quint64(1))).done())); // arrays of arrays
    }

    void anyCutAndAnyByteIsSurvived()
    {
        const QByteArray good = Writer()
                                    .text("general.architecture", "gemma3")
                                    .u32("gemma3.attention.sliding_window", 512)
                                    .texts("tokenizer.ggml.tokens", 20, "t")
                                    .u32("gemma3.context_length", 8192)
                                    .done();
        QVERIFY(read(good));
        for (qsizetype size = 0; size < good.size(); ++size)
            QVERIFY(!read(good.left(size)));
        QRandomGenerator random(7);
        int readable = 0;
        for (int round = 0; round < 600; ++round) {
            QByteArray bytes = good;
            for (int i = 1 + random.bounded(3); i > 0; --i)
                bytes[random.bounded(bytes.size())] = char(random.bounded(256));
            readable += read(bytes).has_value();
        }
        QVERIFY(readable > 20 && readable < 580);
    }

    void namesAreWholeWords_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("word");
        const auto row = [](const char *path, const char *word) {
            QTest::newRow(path) << QString::fromLatin1(path) << QString::fromLatin1(word);
        };
        row("/models/gemma-3-27b-it-Q4_K_M.gguf", "gemma-3");
        row("/models/Gemma3/x.gguf", "gemma3");
        row("/models/lfm2-1.2B.gguf", "lfm2");
        row("/models/granite-4.0-h-tiny.gguf", "granite");
        row("/models/Jamba_1.5.gguf", "jamba");
        row("/swap/llama-3.gguf", "");
        row("/models/mambanet/llama.gguf", "");
        row("/models/qwen3-8b.gguf", "");
        row("", "");
    }
    void namesAreWholeWords()
    {
        QFETCH(QString, path);
        QFETCH(QString, word);
        QCOMPARE(partialStateWord(path), word);
    }

    void realModels()
    {
        const QString models = qEnvironmentVariable("KERF_MODELS");
        if (models.isEmpty())
            QSKIP("KERF_MODELS (a folder with llama.gguf, gemma3.gguf, lfm2.gguf, mamba.gguf) is not set: no real file "
                  "is read");
        for (const auto &[name, kind] :
             {std::pair{"llama", MemoryKind::FullAttention}, std::pair{"gemma3", MemoryKind::Checkpointed},
              std::pair{"lfm2", MemoryKind::Checkpointed}, std::pair{"mamba", MemoryKind::Checkpointed}}) {
            const auto header =
                readGgufHeader(QDir(models).filePath(QStringLiteral("%1.gguf").arg(QLatin1String(name))));
            QVERIFY2(header, name);
            QCOMPARE(header->architecture, QString::fromLatin1(name));
            QCOMPARE(header->memory(), kind);
            QCOMPARE(header->slidingWindow, QLatin1String(name) == QLatin1String("gemma3") ? 512 : 0);
            QCOMPARE(header->recurrent,
                     QLatin1String(name) == QLatin1String("lfm2") || QLatin1String(name) == QLatin1String("mamba"));
        }
    }
};

QTEST_GUILESS_MAIN(TestGguf)
#include "tst_gguf.moc"
