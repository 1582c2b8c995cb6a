// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/window/prober.h"

namespace kerf {

/// Looks at a llama-server or at a running service; nothing there is changed.
Prober makeProber();

} // namespace kerf
