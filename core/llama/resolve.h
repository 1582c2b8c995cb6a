// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/backend/backend.h"

#include <QStringList>
#include <QUrl>

#include <memory>

namespace kerf {

/// Everything that says which server, and how it may be looked at.
struct BackendOptions {
    QString spec = QStringLiteral("auto"); ///< auto|embedded|none|URL
    QUrl defaultUrl{QStringLiteral("http://127.0.0.1:8080")}; ///< what auto probes
    QString apiKey; ///< never logged, never stored
    QString logFile; ///< --server-log FILE; empty = none
    QStringList launchCommand; ///< --launch -- CMD...; empty = none. The child's output is read as its log
    QString serverFlags; ///< --server-flags "...": start flags as told by the user
    QJsonObject storedEvidence; ///< what the store knows of (build, model, n_ctx)
    int probeTimeoutMs = 1500;
    int stateTimeoutMs = 3000;
    int renderTimeoutMs = 60000;
    int saveTimeoutMs = 600000;
    // Embedded only (and for auto's fallback):
    QString embeddedMemory = QStringLiteral("checkpointed"); ///< checkpointed|full_attention
    int embeddedContextSize = 8192;
    int embeddedChunkReuse = 0;
};

/// auto: probes at start and falls back to the embedded simulation, said in info().notes; changes over to a
/// real server that appears, never back. embedded, none: at once. A URL: llama-server, unreachable while it
/// does not answer, never the simulation (SPEC section 3). Error: InvalidParams for a spec that is none of these.
Result<std::unique_ptr<Backend>> resolveBackend(BackendOptions options);

} // namespace kerf
