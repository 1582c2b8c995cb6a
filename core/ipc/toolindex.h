// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/ipc/handler.h"
#include "core/ipc/schema.h"

#include <QJsonArray>

namespace kerf {

/// A row of the tool table, ready for use.
struct Tool {
    const ToolInfo *info = nullptr;
    QString name;
    Schema input;
    QJsonObject listed; ///< as tools/list shows it
    bool needsSession = false; ///< cannot work without a session: asks the stateless era for session_id
};

/// By name; sakur4.status is kerf.status. Null = not a tool.
const Tool *findTool(const QString &name);
/// The `tools` of a tools/list answer, in the table's order.
const QJsonArray &listedTools(bool coreOnly);

} // namespace kerf
