// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/window/controller.h"

#include <QDateTime>

namespace kerf {

/// A connection that was used, as it is kept: never its key.
struct SavedConnection {
    QString name; ///< given by people; empty = its address
    ConnectionSpec spec; ///< apiKey is always empty here
    bool keyStored = false; ///< the system's keyring has its key
    QDateTime usedAt;
    QString title() const { return name.isEmpty() ? spec.title() : name; }
    QString keyId() const { return spec.url; } ///< of the key in the keyring
};

/// The connections in the settings, newest first, at most twenty.
class ConnectionStore
{
public:
    static QList<SavedConnection> recent();
    /// Keeps it, in front; one with the same target is replaced.
    static void remember(SavedConnection connection);
    static void forget(const SavedConnection &connection);
};

} // namespace kerf
