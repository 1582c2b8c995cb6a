// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"

#include <QJsonObject>

#include <functional>

namespace kerf {

/// Asks the service for one thing; the answer comes on the GUI thread, or never if the connection was changed
/// meanwhile. Who waits guards itself by a QPointer.
using Caller = std::function<void(const QString &method, const QJsonObject &params,
                                  std::function<void(const Result<QJsonObject> &)> answered)>;

} // namespace kerf
