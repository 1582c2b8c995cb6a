// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/engine/session.h"
#include "core/eviction/planner.h"

namespace kerf {

/// A session's live prompt as the planner sees it. Slot, requested cut, recall and note tokens are the caller's.
PlanInput planInputOf(const Session &session, const LivePrompt &live, const Budget &budget,
                      const EvictionPolicy &policy, const ServerStates &states, const ReuseRule &rule);

/// What the longest new marker would read: its tokens are the first guess of what a plan adds.
QString longestMarker();

} // namespace kerf
