// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QString>

#include <functional>

namespace kerf {

/// Where API keys are kept when somebody asks for it: the system's keyring, or nowhere. Never a plain file.
class KeyRing
{
public:
    virtual ~KeyRing() = default;
    /// `problem` is a sentence; empty = done.
    virtual void write(const QString &id, const QString &key, std::function<void(const QString &problem)> done) = 0;
    virtual void read(const QString &id, std::function<void(const QString &key, const QString &problem)> done) = 0;
    virtual void remove(const QString &id) = 0;

    /// The keyring of this desktop.
    static KeyRing *system();
};

} // namespace kerf
