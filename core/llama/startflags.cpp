// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/startflags.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSet>

#include <algorithm>
#include <limits>

#include <unistd.h>

namespace kerf {

namespace {

bool isFalse(const QString &value)
{
    return value == QLatin1String("0") || value.compare(QLatin1String("false"), Qt::CaseInsensitive) == 0
        || value.compare(QLatin1String("off"), Qt::CaseInsensitive) == 0
        || value.compare(QLatin1String("disabled"), Qt::CaseInsensitive) == 0;
}

/// Applies one flag; returns whether it takes a value.
bool apply(ServerFlags &flags, const QString &name, const QString &value)
{
    const auto integer = [&value](std::optional<int> &field) {
        bool ok = false;
        const int number = value.toInt(&ok);
        if (ok)
            field = number;
        return true;
    };
    const auto is = [&name](std::initializer_list<const char *> names) {
        for (const char *other : names) {
            if (name == QLatin1String(other))
                return true;
        }
        return false;
    };
    if (is({"--cache-reuse"}))
        return integer(flags.cacheReuse);
    if (is({"-ctxcp", "--ctx-checkpoints", "--swa-checkpoints"}))
        return integer(flags.checkpointsMax);
    if (is({"-cms", "--checkpoint-min-step"}))
        return integer(flags.checkpointsMinStep);
    if (is({"-cram", "--cache-ram"}))
        return integer(flags.cacheRamMib);
    if (is({"-np", "--parallel"}))
        return integer(flags.parallel);
    if (is({"-c", "--ctx-size"}))
        return integer(flags.contextSize);
    if (is({"-ub", "--ubatch-size"}))
        return integer(flags.microBatch);
    if (is({"-lv", "--verbosity", "--log-verbosity"}))
        return integer(flags.verbosity);
    if (is({"--models-dir", "--models-preset"})) {
        flags.router = true;
        return true;
    }
    if (is({"--port"}))
        return integer(flags.port);
    if (is({"-sps", "--slot-prompt-similarity"})) {
        bool ok = false;
        const double number = value.toDouble(&ok);
        if (ok)
            flags.slotSimilarity = number;
        return true;
    }
    if (is({"--slot-save-path"})) {
        flags.slotSavePath = value;
        return true;
    }
    if (is({"--log-file"})) {
        flags.logFile = value;
        return true;
    }
    if (is({"-m", "--model"})) {
        flags.modelPath = value;
        return true;
    }
    if (is({"--host"})) {
        flags.host = value;
        return true;
    }
    if (is({"-kvu", "--kv-unified"}))
        flags.unified = true;
    else if (is({"-no-kvu", "--no-kv-unified"}))
        flags.unified = false;
    else if (is({"--cache-idle-slots"}))
        flags.cacheIdleSlots = true;
    else if (is({"--no-cache-idle-slots"}))
        flags.cacheIdleSlots = false;
    else if (is({"--cache-prompt"}))
        flags.cachePrompt = true;
    else if (is({"--no-cache-prompt"}))
        flags.cachePrompt = false;
    else if (is({"--swa-full"}))
        flags.swaFull = true;
    else if (is({"--no-slots"}))
        flags.noSlots = true;
    else if (is({"--slots"}))
        flags.noSlots = false;
    else if (is({"--metrics"}))
        flags.metrics = true;
    else if (is({"--context-shift"}))
        flags.contextShift = true;
    else if (is({"--no-context-shift"}))
        flags.contextShift = false;
    else if (is({"-v", "--verbose", "--log-verbose"}))
        flags.verbosity = std::numeric_limits<int>::max();
    return false;
}

QByteArray contentOf(const QString &path, qint64 most = 1 << 20)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.read(most) : QByteArray();
}

/// Socket inodes that listen on the port.
QSet<QByteArray> listeners(int port)
{
    QSet<QByteArray> inodes;
    const QByteArray wanted = QByteArray::number(port, 16).toUpper().rightJustified(4, '0');
    for (const char *table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        const QList<QByteArray> lines = contentOf(QString::fromLatin1(table), 16 << 20).split('\n');
        for (const QByteArray &line : lines) {
            const QList<QByteArray> fields = line.simplified().split(' ');
            if (fields.size() > 9 && fields.at(3) == "0A" && fields.at(1).endsWith(":" + wanted))
                inodes.insert(fields.at(9));
        }
    }
    return inodes;
}

} // namespace

ServerFlags parseServerFlags(const QStringList &arguments, const QHash<QString, QString> &environment)
{
    ServerFlags flags;
    // Where a build renamed one, both are read; the newer name comes last and wins.
    static constexpr std::pair<const char *, const char *> kValues[] = {
        {"LLAMA_ARG_CACHE_REUSE", "--cache-reuse"},
        {"LLAMA_ARG_CTX_CHECKPOINTS", "-ctxcp"},
        {"LLAMA_ARG_CHECKPOINT_MIN_STEP", "-cms"},
        {"LLAMA_ARG_CHECKPOINT_MIN_SPACING_NT", "-cms"},
        {"LLAMA_ARG_CACHE_RAM", "--cache-ram"},
        {"LLAMA_ARG_N_PARALLEL", "-np"},
        {"LLAMA_ARG_CTX_SIZE", "-c"},
        {"LLAMA_ARG_UBATCH", "-ub"},
        {"LLAMA_ARG_PORT", "--port"},
        {"LLAMA_ARG_MODEL", "-m"},
        {"LLAMA_ARG_HOST", "--host"},
        {"LLAMA_ARG_SLOT_SAVE_PATH", "--slot-save-path"},
        {"LLAMA_ARG_MODELS_DIR", "--models-dir"},
        {"LLAMA_ARG_MODELS_PRESET", "--models-preset"},
        {"LLAMA_LOG_VERBOSITY", "-lv"},
        {"LLAMA_ARG_LOG_VERBOSITY", "-lv"},
        {"LLAMA_LOG_FILE", "--log-file"},
        {"LLAMA_ARG_LOG_FILE", "--log-file"},
    };
    for (const auto &[variable, flag] : kValues) {
        if (const auto it = environment.constFind(QString::fromLatin1(variable));
            it != environment.cend() && !it->isEmpty())
            apply(flags, QString::fromLatin1(flag), *it);
    }
    // LLAMA_ARG_X=0 and LLAMA_ARG_NO_X (any value) both say no.
    struct Switch {
        const char *variable;
        const char *on;
        const char *off; ///< nullptr = there is no such flag
    };
    static constexpr Switch kSwitches[] = {
        {"SWA_FULL", "--swa-full", nullptr},
        {"KV_UNIFIED", "--kv-unified", "--no-kv-unified"},
        {"CACHE_PROMPT", "--cache-prompt", "--no-cache-prompt"},
        {"CACHE_IDLE_SLOTS", "--cache-idle-slots", "--no-cache-idle-slots"},
        {"CONTEXT_SHIFT", "--context-shift", "--no-context-shift"},
        {"ENDPOINT_SLOTS", "--slots", "--no-slots"},
        {"ENDPOINT_METRICS", "--metrics", nullptr},
    };
    for (const Switch &one : kSwitches) {
        const QString name = QString::fromLatin1(one.variable);
        bool no = environment.contains(QStringLiteral("LLAMA_ARG_NO_") + name);
        const auto it = environment.constFind(QStringLiteral("LLAMA_ARG_") + name);
        if (!no && it == environment.cend())
            continue;
        no = no || isFalse(*it);
        if (const char *flag = no ? one.off : one.on)
            apply(flags, QString::fromLatin1(flag), {});
    }
    for (qsizetype i = 0; i < arguments.size(); ++i) {
        QString name = arguments.at(i);
        if (!name.startsWith(QLatin1Char('-')))
            continue;
        QString value;
        bool inside = false;
        if (const qsizetype equals = name.indexOf(QLatin1Char('=')); equals > 0) {
            value = name.mid(equals + 1);
            name.truncate(equals);
            inside = true;
        } else if (i + 1 < arguments.size()) {
            value = arguments.at(i + 1);
        }
        if (name.startsWith(QLatin1String("--")))
            name.replace(QLatin1Char('_'), QLatin1Char('-')); // the server takes both
        if (apply(flags, name, value) && !inside)
            ++i;
    }
    return flags;
}

QStringList splitShellWords(const QString &text)
{
    QStringList words;
    QString word;
    bool inWord = false;
    QChar quote;
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar c = text.at(i);
        if (quote == QLatin1Char('\'')) {
            if (c == quote)
                quote = QChar();
            else
                word.append(c);
            continue;
        }
        if (c == QLatin1Char('\\') && i + 1 < text.size()) {
            const QChar next = text.at(i + 1);
            if (!quote.isNull() && !QStringView(u"$`\"\\\n").contains(next)) {
                word.append(c); // between double quotes only these are escaped
                continue;
            }
            ++i;
            if (next == QLatin1Char('\n'))
                continue;
            word.append(next);
            inWord = true;
        } else if (!quote.isNull()) {
            if (c == quote)
                quote = QChar();
            else
                word.append(c);
        } else if (c == QLatin1Char('\'') || c == QLatin1Char('"')) {
            quote = c;
            inWord = true;
        } else if (c.isSpace()) {
            if (inWord)
                words.append(std::exchange(word, {}));
            inWord = false;
        } else {
            word.append(c);
            inWord = true;
        }
    }
    if (inWord)
        words.append(word);
    return words;
}

ServerFlags parseServerFlagsText(const QString &commandLine)
{
    QStringList words = splitShellWords(commandLine);
    QHash<QString, QString> environment;
    while (!words.isEmpty() && words.constFirst().startsWith(QLatin1String("LLAMA_"))
           && words.constFirst().contains(QLatin1Char('='))) {
        const QString word = words.takeFirst();
        const qsizetype equals = word.indexOf(QLatin1Char('='));
        environment.insert(word.left(equals), word.mid(equals + 1));
    }
    return parseServerFlags(words, environment); // a program in front is no flag and is skipped
}

bool looksLikeLlamaServer(const QStringList &commandLine, const QString &executable)
{
    const auto nameOf = [](const QString &path) { return path.mid(path.lastIndexOf(QLatin1Char('/')) + 1).toLower(); };
    const auto isIt = [&](const QString &path) {
        const QString name = nameOf(path);
        return name.contains(QLatin1String("llama")) && !name.endsWith(QLatin1String(".gguf"));
    };
    if (commandLine.isEmpty())
        return false;
    if (isIt(commandLine.constFirst()) || isIt(executable))
        return true;
    // Older builds called it "server"; only its model tells it from others of that name.
    if (nameOf(commandLine.constFirst()) == QLatin1String("server")) {
        const ServerFlags flags = parseServerFlags(commandLine.mid(1));
        return !flags.modelPath.isEmpty() || commandLine.contains(QStringLiteral("-hf"))
            || commandLine.contains(QStringLiteral("--hf-repo"));
    }
    // Under a loader or an interpreter: the program is one of the words, and a path or the plain name.
    static const QStringList wrappers{QStringLiteral("ld-linux"), QStringLiteral("ld.so"),    QStringLiteral("sh"),
                                      QStringLiteral("bash"),     QStringLiteral("dash"),     QStringLiteral("env"),
                                      QStringLiteral("nice"),     QStringLiteral("numactl"),  QStringLiteral("taskset"),
                                      QStringLiteral("gdb"),      QStringLiteral("valgrind"), QStringLiteral("qemu-")};
    const QString program = nameOf(commandLine.constFirst());
    const bool wrapped = std::any_of(wrappers.cbegin(), wrappers.cend(), [&](const QString &wrapper) {
        return wrapper.endsWith(QLatin1Char('-')) || wrapper.startsWith(QLatin1String("ld"))
            ? program.startsWith(wrapper)
            : program == wrapper;
    });
    return wrapped && std::any_of(commandLine.cbegin() + 1, commandLine.cend(), [&](const QString &word) {
               return !word.startsWith(QLatin1Char('-')) && nameOf(word).startsWith(QLatin1String("llama-server"));
           });
}

std::optional<LocalServer> findLocalServer(int port)
{
    const QSet<QByteArray> inodes = listeners(port);
    if (inodes.isEmpty())
        return std::nullopt;
    const QStringList processes = QDir(QStringLiteral("/proc")).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    for (const QString &process : processes) {
        bool isNumber = false;
        const qint64 pid = process.toLongLong(&isNumber);
        if (!isNumber)
            continue;
        const QString base = QStringLiteral("/proc/") + process;
        if (QFileInfo(base).ownerId() != ::getuid())
            continue;
        const QStringList descriptors =
            QDir(base + QStringLiteral("/fd")).entryList(QDir::System | QDir::Files | QDir::NoDotAndDotDot);
        for (const QString &descriptor : descriptors) {
            char target[64] = {};
            const ssize_t length = ::readlink(QFile::encodeName(base + QStringLiteral("/fd/") + descriptor).constData(),
                                              target, sizeof target - 1);
            if (length < 10 || !QByteArrayView(target, length).startsWith("socket:["))
                continue;
            if (!inodes.contains(QByteArray(target + 8, length - 9)))
                continue;
            LocalServer server;
            server.pid = pid;
            const QList<QByteArray> words = contentOf(base + QStringLiteral("/cmdline")).split('\0');
            for (const QByteArray &word : words)
                server.commandLine.append(QString::fromLocal8Bit(word));
            while (!server.commandLine.isEmpty() && server.commandLine.constLast().isEmpty())
                server.commandLine.removeLast();
            if (!looksLikeLlamaServer(server.commandLine, QFile::symLinkTarget(base + QStringLiteral("/exe"))))
                break; // another that shares the socket may be it
            server.workingDirectory = QFile::symLinkTarget(base + QStringLiteral("/cwd"));
            QHash<QString, QString> environment;
            const QList<QByteArray> variables = contentOf(base + QStringLiteral("/environ")).split('\0');
            for (const QByteArray &variable : variables) {
                if (variable.startsWith("LLAMA_"))
                    environment.insert(QString::fromLocal8Bit(variable.left(variable.indexOf('='))),
                                       QString::fromLocal8Bit(variable.mid(variable.indexOf('=') + 1)));
            }
            // A program that passes them on (a wrapper, the loader) keeps the flags behind its own.
            server.flags = parseServerFlags(server.commandLine.mid(1), environment);
            return server;
        }
    }
    return std::nullopt;
}

} // namespace kerf
