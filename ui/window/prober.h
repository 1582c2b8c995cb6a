// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/window/controller.h"

namespace kerf {

/// One question that was put to a server, and what it said.
struct ProbeLine {
    QString name;
    std::optional<int> status; ///< HTTP
    bool ok = false;
    QString message;
    friend bool operator==(const ProbeLine &, const ProbeLine &) = default;
};

/// What Test found out.
struct ProbeAnswer {
    bool ok = false;
    bool needsKey = false;
    QString reason; ///< why not; empty when ok
    QString summary; ///< "build 11669, gemma3, n_ctx 4,096, 1 slot"
    QList<ProbeLine> steps;
};

/// Looks at what a connection names, without opening it; nothing there is changed. Calls back on the GUI thread.
/// Given by the program, as ClientOpener is.
using Prober = std::function<void(ConnectionSpec spec, std::function<void(ProbeAnswer)> done)>;

} // namespace kerf
