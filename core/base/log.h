// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QLoggingCategory>

// Every category of the project, dotted like the folders, default level Info.
// Facts with their ids; never prompt text, keys or file contents (README, "Logging").
namespace kerf {
inline Q_LOGGING_CATEGORY(lcEngine, "kerf.core.engine", QtInfoMsg) inline Q_LOGGING_CATEGORY(lcLlama, "kerf.core.llama", QtInfoMsg) inline Q_LOGGING_CATEGORY(lcServerLog, "kerf.core.llama.log", QtInfoMsg) inline Q_LOGGING_CATEGORY(
    lcBackend, "kerf.core.backend",
    QtInfoMsg) inline Q_LOGGING_CATEGORY(lcStore, "kerf.core.store",
                                         QtInfoMsg) inline Q_LOGGING_CATEGORY(lcIpc, "kerf.core.ipc",
                                                                              QtInfoMsg) inline Q_LOGGING_CATEGORY(lcReplay,
                                                                                                                   "ker"
                                                                                                                   "f."
                                                                                                                   "cor"
                                                                                                                   "e."
                                                                                                                   "rep"
                                                                                                                   "la"
                                                                                                                   "y",
                                                                                                                   QtInfoMsg) inline Q_LOGGING_CATEGORY(lcUi,
                                                                                                                                                        "kerf.ui",
                                                                                                                                                        QtInfoMsg) inline Q_LOGGING_CATEGORY(lcApp,
                                                                                                                                                                                             "kerf.app",
                                                                                                                                                                                             QtInfoMsg)
} // namespace kerf
