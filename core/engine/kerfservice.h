// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/ipc/handler.h"
#include "core/llama/resolve.h"

#include <memory>

namespace kerf {

struct ServiceOptions {
    QString dbPath; ///< ":memory:" works
    BackendOptions backend;
    int contextWindow = 0; ///< explicit window in tokens for every session; 0 = the server's n_ctx
};

/// Opens the store, resolves the backend and answers the methods of PROTOCOL.md. The handler lives on the
/// calling thread, which must run an event loop. Errors: Store, InvalidParams (backend spec, profile variable).
/// The backend is probed in the background: methods that need it wait for the first probe.
QCoro::Task<Result<std::shared_ptr<MethodHandler>>> openService(ServiceOptions options);

} // namespace kerf
