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
    std::optional<int> cacheReuse;          ///< --cache-reuse N
    std::optional<int> checkpointsMax;      ///< -ctxcp, --ctx-checkpoints, --swa-checkpoints
    std::optional<int> checkpointsMinStep;  ///< -cms, --checkpoint-min-step
    std::optional<int> cacheRamMib;         ///< --cache-ram, -cram; -1 = no limit, 0 = off
    std::optional<int> parallel;            ///< -np, --parallel
    std::optional<bool> unified;            ///< -kvu, --kv-unified, --no-kv-unified
    std::optional<bool> cacheIdleSlots;     ///< --cache-idle-slots, --no-cache-idle-slots
    std::optional<bool> cachePrompt;        ///< --cache-prompt, --no-cache-prompt
    std::optional<double> slotSimilarity;   ///< -sps
    std::optional<int> contextSize;         ///< -c
    std::optional<int> verbosity;           ///< -lv
    std::optional<int> port;
    bool swaFull = false;
    bool noSlots = false;
    bool metrics = false;
    QString slotSavePath;
    QString logFile;
    QString modelPath;
    QString host;
    bool isEmpty() const { return *this == ServerFlags(); }
    friend bool operator==(const ServerFlags &, const ServerFlags &) = default;
};

/// Arguments without the program's name; `--flag=value` is read alike. Unknown ones are skipped. `environment` holds
/// LLAMA_ARG_* variables; the command line wins.
ServerFlags parseServerFlags(const QStringList &arguments, const QHash<QString, QString> &environment = {});

/// A process of the same user that listens on this TCP port of this machine.
struct LocalServer {
    qint64 pid = 0;
    QStringList commandLine; ///< program first
    QString workingDirectory;
    ServerFlags flags;
};
/// Looks it up in /proc, without special rights. nullopt = none, or it is not ours to see. Blocking, some ms.
std::optional<LocalServer> findLocalServer(int port);

} // namespace kerf
