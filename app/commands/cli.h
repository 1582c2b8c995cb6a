// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"
#include "core/ipc/serviceclient.h"

#include <QCoroTask>

#include <QJsonObject>
#include <QStringList>

#include <functional>
#include <memory>
#include <optional>

QT_BEGIN_NAMESPACE
class QCommandLineParser;
class QCoreApplication;
QT_END_NAMESPACE

// What the commands share: help, options, where the service is, output. Texts of the commands are English, like
// the receipts that they print, so that text, JSON and the documentation use the same words.
namespace kerf {

struct CommandHelp {
    QString name; ///< "plan"
    QString synopsis; ///< "SESSION [options]"
    QString description;
    QString examples; ///< lines, indented
};

/// Parses; adds --help. A code = leave with it (help was printed, or the usage error).
std::optional<int> parseCommand(QCommandLineParser &parser, const CommandHelp &help, const QStringList &arguments);
/// Prints the error and where the help is; ExitUsage.
int usageError(const CommandHelp &help, const QString &what);
void addSocketOption(QCommandLineParser &parser);
void addJsonOption(QCommandLineParser &parser);

int exitCodeOf(const Error &error);
/// To stderr for people; with --json also to stdout, as {"error": {...}}.
int reportError(const CommandHelp &help, const Error &error, bool json);
void printText(const QString &text); ///< with a line end
void printJson(const QJsonObject &object); ///< indented

/// A service for one command: the running one, or one of the command's own.
using ServiceUser = std::function<QCoro::Task<int>(std::shared_ptr<ServiceClient> client)>;
/// `own`: open a service in this process (--db or --backend were given), `fallbackOwn`: also where none runs.
/// `memory`: its store is :memory: unless --db says otherwise. Runs the event loop until `user` has given its code.
/// `interrupted`: called on the first SIGINT or SIGTERM instead of ending at once; a second one ends the process.
int withService(QCoreApplication &app, const CommandHelp &help, const QCommandLineParser &parser, bool fallbackOwn,
                bool memory, ServiceUser user, std::function<void()> interrupted = {});

} // namespace kerf
