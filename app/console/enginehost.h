// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/engine/kerfservice.h"
#include "core/ipc/serviceclient.h"

#include <QString>

#include <functional>
#include <memory>

namespace kerf {

/// An engine on a thread of its own, for the window: it plans and writes while the window draws. While it runs
/// it serves the socket too, so that a harness can drive the session one looks at.
struct HostedEngine {
    std::shared_ptr<ServiceClient> client; ///< letting go of it ends the engine, in the background
    QString socketPath; ///< where it listens; empty = it does not
    QString socketProblem; ///< why not
};

/// Never blocks; `done` runs on the calling thread, which must run an event loop. An engine that is still closing
/// is let finish first: two must not hold one store.
void openEngine(ServiceOptions options, bool serveSocket, const QString &socket,
                std::function<void(Result<HostedEngine>)> done);

/// At the end of the program, after the event loop: lets every engine finish its writes.
void waitForEngines();

} // namespace kerf
