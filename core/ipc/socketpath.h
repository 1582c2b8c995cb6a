// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"

namespace kerf {

/// Where the service listens and where its clients look, one rule for both: `explicitPath` (--socket), else
/// $KERF_SOCKET, else $XDG_RUNTIME_DIR/kerf/kerf.sock, else kerf-UID/kerf.sock under the temp directory.
/// Absolute. Nothing is looked at or made. Error: InvalidParams (too long for the system).
Result<QString> socketPath(const QString &explicitPath = {});

/// Whether that folder may be trusted with the socket. A default folder must be this user's alone (0700); any
/// other must exist, belong to this user or root, and let nobody else replace the socket. `create`: makes a
/// missing default folder. Error: Failed, saying what is wrong and what to do.
Result<void> checkSocketFolder(const QString &path, bool create);

} // namespace kerf
