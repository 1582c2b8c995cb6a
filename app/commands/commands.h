// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QStringList>

QT_BEGIN_NAMESPACE
class QCoreApplication;
QT_END_NAMESPACE

namespace kerf {

/// Exit codes of every command (SPEC section 14).
enum ExitCode { ExitDone = 0, ExitFailed = 1, ExitUsage = 2, ExitUnreachable = 3 };

// Each command parses `arguments`, which begin behind its own name ("kerfd demo --json" -> {"--json"}), runs the
// event loop if it needs one, and returns the exit code. Results go to stdout, everything else to stderr.
int runDoctor(QCoreApplication &app, QStringList arguments);
int runDiff(QCoreApplication &app, QStringList arguments);
int runCalibrate(QCoreApplication &app, QStringList arguments);
int runDemo(QCoreApplication &app, QStringList arguments);
int runPlan(QCoreApplication &app, QStringList arguments);
int runReceipt(QCoreApplication &app, QStringList arguments);
int runSessions(QCoreApplication &app, QStringList arguments);
int runCall(QCoreApplication &app, QStringList arguments);
int runReplay(QCoreApplication &app, QStringList arguments);
int runMcp(QCoreApplication &app, QStringList arguments);

/// `kerfd COMMAND ...`: `arguments` without the program's name. Prints help or the usage error itself.
int runCommand(QCoreApplication &app, QStringList arguments);

} // namespace kerf
