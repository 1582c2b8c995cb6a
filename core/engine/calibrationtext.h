// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QJsonObject>
#include <QString>

namespace kerf {

/// server.calibrate's answer for people: what was found first, then what was sent and what came back.
QString renderCalibration(const QJsonObject &result);
/// Of a dry run: what would be sent where, and what it would cost whom.
QString renderCalibrationPlan(const QJsonObject &plan);

} // namespace kerf
