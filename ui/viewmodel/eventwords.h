// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QJsonObject>
#include <QString>

namespace kerf {

/// The kind of an event as the list shows it: "checkpoint made", "settled", "server down".
QString eventKindWord(const QString &topic, const QJsonObject &params);
/// One sentence of it; empty where only the fields themselves can be told.
QString eventSentence(const QString &topic, const QJsonObject &params);

} // namespace kerf
