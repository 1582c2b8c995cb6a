// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/startflags.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSet>

#include <unistd.h>

namespace kerf {

namespace {

bool isFalse(const QString &value)
{
    return value == QLatin1String("0") || value.compare(QLatin1String("false"), Qt::CaseInsensitive) == 0 || value.compare(QLatin1String("off"), Qt::CaseInsensitive) == 0
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
    if (is({"-lv", "--verbosity", "--log-verbosity"}))
        return integer(flags.verbosity);
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
    const std::pair<const char *, const char *> variables[] = {
        {"LLAMA_ARG_CACHE_REUSE", "--cache-reuse"}, {"LLAMA_ARG_CTX_CHECKPOINTS", "-ctxcp"}, {"LLAMA_ARG_CHECKPOINT_MIN_STEP", "-cms"},
        {"LLAMA_ARG_CACHE_RAM", "--cache-ram"}, {"LLAMA_ARG_N_PARALLEL", "-np"}, {"LLAMA_ARG_CTX_SIZE", "-c"}, {"LLAMA_ARG_PORT", "--port"},
        {"LLAMA_ARG_MODEL", "-m"}, {"LLAMA_ARG_HOST", "--host"}, {"LLAMA_ARG_SLOT_SAVE_PATH", "--slot-save-path"}, {"LLAMA_LOG_VERBOSITY", "-lv"}, {"LLAMA_LOG_FILE", "--log-file"}};
    for (const auto &[variable, flag] : variables) {
        if (const auto it = environment.constFind(QString::fromLatin1(variable)); it != environment.cend())
            apply(flags, QString::fromLatin1(flag), *it);
    }
    const auto boolean = [&](const char *variable) { return environment.constFind(QString::fromLatin1(variable)); };
    if (const auto it = boolean("LLAMA_ARG_SWA_FULL"); it != environment.cend())
        flags.swaFull = !isFalse(*it);
    if (const auto it = boolean("LLAMA_ARG_KV_UNIFIED"); it != environment.cend())
        flags.unified = !isFalse(*it);
    if (const auto it = boolean("LLAMA_ARG_CACHE_PROMPT"); it != environment.cend())
        flags.cachePrompt = !isFalse(*it);
    if (const auto it = boolean("LLAMA_ARG_ENDPOINT_SLOTS"); it != environment.cend())
        flags.noSlots = isFalse(*it);
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
        if (apply(flags, name, value) && !inside)
            ++i;
    }
    return flags;
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
        const QStringList descriptors = QDir(base + QStringLiteral("/fd")).entryList(QDir::System | QDir::Files | QDir::NoDotAndDotDot);
        for (const QString &descriptor : descriptors) {
            char target[64] = {};
            const ssize_t length = ::readlink(QFile::encodeName(base + QStringLiteral("/fd/") + descriptor).constData(), target, sizeof target - 1);
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
            server.workingDirectory = QFile::symLinkTarget(base + QStringLiteral("/cwd"));
            QHash<QString, QString> environment;
            const QList<QByteArray> variables = contentOf(base + QStringLiteral("/environ")).split('\0');
            for (const QByteArray &variable : variables) {
                if (variable.startsWith("LLAMA_"))
                    environment.insert(QString::fromLocal8Bit(variable.left(variable.indexOf('='))), QString::fromLocal8Bit(variable.mid(variable.indexOf('=') + 1)));
            }
            // A program that passes them on (a wrapper, the loader) keeps the flags behind its own.
            server.flags = parseServerFlags(server.commandLine.mid(1), environment);
            return server;
        }
    }
    return std::nullopt;
}

} // namespace kerf
