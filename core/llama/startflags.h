// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QHash>
#include <QString>
#include <QStringList>

#include <optional>

namespace kerf {

/// Start flags of llama-server that decide what it can reuse: no HTTP answer names them. Absent = not given.
struct ServerFlags {
    std::optional<int> cacheReuse; ///< --cache-reuse N
    std::optional<int> checkpointsMax; ///< -ctxcp, --ctx-checkpoints, --swa-checkpoints
    std::optional<int> checkpointsMinStep; ///< -cms, --checkpoint-min-step
    std::optional<int> cacheRamMib; ///< --cache-ram, -cram; -1 = no limit, 0 = off
    std::optional<int> parallel; ///< -np, --parallel
    std::optional<bool> unified; ///< -kvu, --kv-unified, --no-kv-unified
    std::optional<bool> cacheIdleSlots; ///< --cache-idle-slots, --no-cache-idle-slots
    std::optional<bool> cachePrompt; ///< --cache-prompt, --no-cache-prompt
    std::optional<double> slotSimilarity; ///< -sps
    std::optional<int> contextSize; ///< -c
    std::optional<int> verbosity; ///< -lv; -v (everything) is 2147483647
    std::optional<int> port;
    bool swaFull = false;
    bool noSlots = false;
    bool metrics = false;
    QString slotSavePath;
    QString logFile;
    QString modelPath;
    QString host;
    std::optional<bool> contextShift; ///< --context-shift, --no-context-shift
    std::optional<int> microBatch; ///< -ub: edge checkpoints lie 4 and 4 + this before a prompt's end
    bool router = false; ///< --models-dir, --models-preset: it passes requests on to children
    bool isEmpty() const { return *this == ServerFlags(); }
    friend bool operator==(const ServerFlags &, const ServerFlags &) = default;
};

/// Arguments without the program's name; `--flag=value` and `--flag_name` are read alike. Unknown ones are skipped.
/// `environment` holds LLAMA_ARG_* variables; the command line wins.
ServerFlags parseServerFlags(const QStringList &arguments, const QHash<QString, QString> &environment = {});
/// A command line as typed into a shell: with or without the program, VARIABLE=value words in front are its
/// environment.
ServerFlags parseServerFlagsText(const QString &commandLine);

/// Words of a command line as a POSIX shell splits them: quotes of both kinds, backslashes, line continuations. Nothing
/// is expanded. An open quote ends with the text.
QStringList splitShellWords(const QString &text);

/// A process of the same user that listens on this TCP port of this machine.
struct LocalServer {
    qint64 pid = 0;
    QStringList commandLine; ///< program first
    QString workingDirectory;
    ServerFlags flags;
};
/// Whether a command line is one of llama-server (also under its loader or another wrapper). A tunnel or proxy is none:
/// its arguments say nothing of the server behind it. `executable`: what /proc/PID/exe points to, or empty.
bool looksLikeLlamaServer(const QStringList &commandLine, const QString &executable = {});
/// Looks it up in /proc, without special rights. nullopt = none that looks like llama-server, or it is not ours to see.
/// Blocking, some ms.
std::optional<LocalServer> findLocalServer(int port);

} // namespace kerf
