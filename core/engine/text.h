// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QJsonObject>
#include <QString>

namespace kerf {

/// English grouping: receipts, summaries and reasons are not translated, so that text and JSON say the same.
QString groupedNumber(qint64 value);

/// One or two sentences of a plan.
QString planSummary(const QJsonObject &plan);
/// The receipt as text; `kerfd receipt` and the console's "Copy as text" print it byte for byte.
QString renderReceipt(const QJsonObject &receipt);
/// doctor's three lines, evidence, advice.
QString renderDoctor(const QJsonObject &doctor);
/// What a model sees of a result: short, most important first, stands alone.
QString renderResult(const QString &method, const QJsonObject &result);

} // namespace kerf
