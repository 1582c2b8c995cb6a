// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/engine/kerfservice.h"

QT_BEGIN_NAMESPACE
class QCommandLineParser;
QT_END_NAMESPACE

namespace kerf {

/// --db, --backend, --server-log, --server-flags, --context-window, --api-key-file; with `launch` also --launch.
void addServiceOptions(QCommandLineParser &parser, bool launch);
/// Whether one of those that say which service it should be was given.
bool namesOwnService(const QCommandLineParser &parser);
/// What was given. Keys come from a file or KERF_API_KEY, never from the command line, where others could read
/// them. `dbPath` stays empty where none was given. Error: InvalidParams naming the option.
Result<ServiceOptions> serviceOptions(const QCommandLineParser &parser);
/// The options again, for a service that is started with them (no key: it reads its own).
QStringList serviceArguments(const QCommandLineParser &parser);
/// $XDG_DATA_HOME/kerf/kerf.db
QString defaultDatabase();

} // namespace kerf
