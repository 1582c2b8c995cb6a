// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

namespace kerf {

/// Logs go to stderr, each a line with time, level and category, and nowhere else: stdout belongs to results
/// and messages. (Qt's own handler may prefer the journal where stderr is no terminal.)
void installProgramLog();

} // namespace kerf
