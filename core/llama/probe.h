// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/backend/backend.h"
#include "core/llama/httpclient.h"
#include "core/llama/serverbook.h"

namespace kerf {

/// What one round of questions found out about a server.
struct ProbeResult {
    enum class Outcome {
        Unreachable, ///< nobody answers
        Foreign, ///< somebody answers, but it is no llama-server
        Loading, ///< it loads its model
        NeedsKey, ///< it wants another API key than the one given, or one at all
        Reachable
    };
    Outcome outcome = Outcome::Unreachable;
    HttpReply::Failure failure = HttpReply::Failure::None; ///< why nobody answers
    QString reason; ///< a sentence; empty when reachable
    QList<ProbeStep> steps;
    Capabilities capabilities; ///< those that HTTP shows
    QString build;
    QString modelPath;
    QString alias;
    int contextSize = 0; ///< n_ctx of one slot; 0 = unknown
    int slotCount = 0;
    bool sleeping = false; ///< its model is unloaded until the next request: nothing is held
    QList<SlotReading> slots;
    QString slotsReason; ///< why the slots cannot be read; empty if they can
    bool oldSlotRoutes = false; ///< save and restore are spelt POST /slots/N/save
    QString saveReason; ///< the server's words where saving is off
};

/// Asks in order, each step with its own limit; a step that fails marks its capability and nothing else. Nothing on the
/// server is changed: save and restore are asked with an empty file name (400 = there; 501 = off, and the message names
/// the flag; 404 = older spelling), erase with a slot id that is no number. (An unknown number must not be used: build
/// 11669 answers 200 and clears a slot of its own choice.) `http` must outlive the probe or end as a QPointer: then the
/// result so far comes back as Unreachable.
QCoro::Task<ProbeResult> probeServer(QPointer<HttpClient> http, int limitMs);

} // namespace kerf
