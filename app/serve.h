// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QStringList>

QT_BEGIN_NAMESPACE
class QCoreApplication;
QT_END_NAMESPACE

namespace kerf {

/// `kerfd serve` and `kerf --headless`: serves the socket until SIGTERM or SIGINT. Runs the event loop itself.
/// `arguments` begin behind the command's name. Prints one line to stdout when it is ready, and nothing else ever.
/// Returns an ExitCode (app/commands/commands.h).
int runServe(QCoreApplication &app, QStringList arguments);

} // namespace kerf
