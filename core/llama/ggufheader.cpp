// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/ggufheader.h"

#include <QFile>
#include <QHash>
#include <QRegularExpression>

#include <algorithm>
#include <cstring>

namespace kerf {

namespace {

constexpr quint64 kMostBytes = 64ULL * 1024 * 1024;
constexpr quint64 kLongestString = 16ULL * 1024 * 1024;

/// Little-endian reader that notices the end of the data.
class Reader
{
public:
    explicit Reader(QFile &file)
        : m_file(file)
    {
    }
    bool ok() const { return m_ok; }

    template<typename T>
    T number()
    {
        T value{};
        char bytes[sizeof(T)];
        if (!take(bytes, sizeof(T)))
            return value;
        std::memcpy(&value, bytes, sizeof(T));
        return value;
    }

    QByteArray string()
    {
        const quint64 size = number<quint64>();
        if (!m_ok || size > kLongestString)
            return fail();
        QByteArray bytes(static_cast<qsizetype>(size), Qt::Uninitialized);
        return take(bytes.data(), size) ? bytes : QByteArray();
    }

    bool skip(quint64 bytes)
    {
        if (!m_ok || bytes > kMostBytes - std::min(m_used, kMostBytes))
            return m_ok = false;
        m_used += bytes;
        if (m_file.skip(static_cast<qint64>(bytes)) != static_cast<qint64>(bytes))
            m_ok = false;
        return m_ok;
    }

    QByteArray fail()
    {
        m_ok = false;
        return {};
    }

private:
    bool take(char *to, quint64 bytes)
    {
        if (!m_ok || bytes > kMostBytes - std::min(m_used, kMostBytes))
            return m_ok = false;
        m_used += bytes;
        if (m_file.read(to, static_cast<qint64>(bytes)) != static_cast<qint64>(bytes))
            m_ok = false;
        return m_ok;
    }

    QFile &m_file;
    bool m_ok = true;
    quint64 m_used = 0;
};

/// Bytes of a scalar type; 0 = string, array or unknown.
quint64 sizeOf(quint32 type)
{
    constexpr quint64 sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return type < std::size(sizes) ? sizes[type] : 0;
}

quint64 scalar(Reader &reader, quint32 type)
{
    switch (sizeOf(type)) {
    case 1:
        return reader.number<quint8>();
    case 2:
        return reader.number<quint16>();
    case 4:
        return reader.number<quint32>();
    case 8:
        return reader.number<quint64>();
    default:
        reader.fail();
        return 0;
    }
}

} // namespace

ArchitectureMemory architectureMemory(const QString &architecture)
{
    static const QHash<QString, ArchitectureMemory> known = [] {
        QHash<QString, ArchitectureMemory> table;
        const auto add = [&table](ArchitectureMemory memory, std::initializer_list<const char *> names) {
            for (const char *name : names)
                table.insert(QString::fromLatin1(name), memory);
        };
        add(ArchitectureMemory::Recurrent,
            {"mamba",       "mamba2",         "rwkv6",      "rwkv6qwen2",    "rwkv7",     "arwkv7",
             "jamba",       "falcon-h1",      "plamo2",     "granitehybrid", "lfm2",      "lfm2moe",
             "nemotron_h",  "nemotron_h_moe", "qwen3next",  "qwen35",        "qwen35moe", "qwen4exp",
             "kimi-linear", "kimi-k3",        "minimax-01", "glm5-next"});
        // The loader of these sets a window whatever the file says.
        add(ArchitectureMemory::Window, {"llama4", "gemma2", "gpt-oss", "cohere2", "gemma3n", "deepseek4"});
        add(ArchitectureMemory::WindowIfKey,
            {"gemma3", "gemma4", "gemma-embedding", "exaone4", "exaone-moe", "smallthinker", "olmo2", "afmoe", "mimo2",
             "step35", "granite_swa", "cohere2moe", "laguna", "mellum", "plamo3", "modern-bert"});
        // A window in the file is not applied ("Phi SWA is currently disabled"; Mistral's early files carry one).
        add(ArchitectureMemory::FullAttention,
            {"llama",       "phi3",          "phimoe",     "phi2",        "qwen2",     "qwen2moe",   "qwen2vl",
             "qwen3",       "qwen3moe",      "qwen3vl",    "qwen3vlmoe",  "gemma",     "starcoder2", "deepseek",
             "deepseek2",   "glm4",          "glm4moe",    "chatglm",     "command-r", "falcon",     "gpt2",
             "gptneox",     "granite",       "granitemoe", "internlm2",   "minicpm",   "minicpm3",   "mpt",
             "nemotron",    "olmo",          "olmoe",      "smollm3",     "stablelm",  "ernie4_5",   "ernie4_5-moe",
             "hunyuan-moe", "hunyuan-dense", "bailingmoe", "bailingmoe2", "dots1",     "seed_oss",   "grovemoe",
             "apertus",     "minimax-m2",    "mistral3",   "mistral4",    "arcee",     "bloom",      "baichuan",
             "deci",        "exaone",        "grok",       "jais",        "openelm",   "orion",      "plamo",
             "xverse"});
        return table;
    }();
    return known.value(architecture, ArchitectureMemory::Unknown);
}

MemoryKind GgufHeader::memory() const
{
    if (architecture.isEmpty())
        return MemoryKind::Unknown;
    const ArchitectureMemory known = architectureMemory(architecture);
    if (recurrent || known == ArchitectureMemory::Recurrent || known == ArchitectureMemory::Window)
        return MemoryKind::Checkpointed;
    if (known == ArchitectureMemory::FullAttention)
        return MemoryKind::FullAttention;
    if (slidingWindow > 0)
        return MemoryKind::Checkpointed;
    return windowUnclear ? MemoryKind::Unknown : MemoryKind::FullAttention;
}

bool GgufHeader::isEstablished() const
{
    return memory() != MemoryKind::Unknown
        && (recurrent || slidingWindow > 0 || architectureMemory(architecture) != ArchitectureMemory::Unknown);
}

Result<GgufHeader> readGgufHeader(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return failure(Error::Code::NotFound, QStringLiteral("%1: %2").arg(path, file.errorString()));
    Reader reader(file);
    const auto damaged = [&path](const QString &what) {
        return failure(Error::Code::Failed, QStringLiteral("%1 is no readable GGUF file: %2").arg(path, what));
    };
    if (reader.number<quint32>() != 0x46554747)
        return damaged(QStringLiteral("the magic number is missing"));
    const quint32 version = reader.number<quint32>();
    if (version < 2 || version > 16)
        return damaged(QStringLiteral("version %1").arg(version));
    reader.number<quint64>(); // tensors
    const quint64 count = reader.number<quint64>();
    GgufHeader header;
    for (quint64 i = 0; i < count && reader.ok(); ++i) {
        const QByteArray key = reader.string();
        const quint32 type = reader.number<quint32>();
        if (!reader.ok())
            break;
        if (type == 8) {
            const QByteArray value = reader.string();
            if (key == "general.architecture")
                header.architecture = QString::fromUtf8(value);
            continue;
        }
        if (type == 9) {
            const quint32 inner = reader.number<quint32>();
            const quint64 size = reader.number<quint64>();
            if (key.endsWith(".attention.sliding_window"))
                header.windowUnclear = true;
            if (const quint64 each = sizeOf(inner)) {
                if (size > kMostBytes)
                    reader.fail();
                else
                    reader.skip(size * each);
            } else if (inner == 8) {
                for (quint64 k = 0; k < size && reader.ok(); ++k)
                    reader.skip(reader.number<quint64>());
            } else {
                reader.fail();
            }
            continue;
        }
        const quint64 value = scalar(reader, type);
        if (type == 6 || type == 12)
            continue; // a real number: none of ours is
        if (key.endsWith(".attention.sliding_window"))
            header.slidingWindow = static_cast<int>(std::min<quint64>(value, 1 << 30));
        else if (key.endsWith(".context_length"))
            header.contextLength = static_cast<qint64>(value);
        else if ((key.contains(".ssm.") || key.contains(".wkv.") || key.contains(".shortconv.")
                  || key.contains(".token_shift_count"))
                 && value > 0)
            header.recurrent = true;
    }
    if (!reader.ok())
        return damaged(QStringLiteral("it is damaged or ends in its header, or the header is over %1 MiB")
                           .arg(kMostBytes / 1024 / 1024));
    return header;
}

QString partialStateWord(const QString &modelPath)
{
    static const QStringList words{QStringLiteral("swa"),     QStringLiteral("sliding"),   QStringLiteral("gemma3"),
                                   QStringLiteral("gemma-3"), QStringLiteral("recurrent"), QStringLiteral("mamba"),
                                   QStringLiteral("hybrid"),  QStringLiteral("jamba"),     QStringLiteral("qwen3next"),
                                   QStringLiteral("lfm2"),    QStringLiteral("granite")};
    for (const QString &word : words) {
        // A word of the path: no letter or digit beside it ("swap" is no hit; "gemma-3-27b" is).
        const QRegularExpression expression(
            QStringLiteral("(?<![A-Za-z0-9])%1(?![A-Za-z0-9])").arg(QRegularExpression::escape(word)),
            QRegularExpression::CaseInsensitiveOption);
        if (expression.match(modelPath).hasMatch())
            return word;
    }
    return {};
}

} // namespace kerf
