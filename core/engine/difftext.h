// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QJsonObject>
#include <QString>

namespace kerf {

/// context.diff's answer for people: how far they are equal, where they part, why, and what helps.
QString renderDiff(const QJsonObject &result);

} // namespace kerf
