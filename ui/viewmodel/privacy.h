// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QByteArray>
#include <QString>

namespace kerf {

/// Whether texts of a conversation may be shown and exported. One setting for every view and every export.
bool isTextHidden();
void setTextHidden(bool hidden);

/// What stands for a text that is hidden: its length and the head of its SHA-256, "412 bytes, sha256 9f86d081".
QString hiddenText(const QByteArray &text);
/// A token's piece in short: "5:9f86".
QString hiddenPiece(const QByteArray &piece);
/// The text, or what stands for it.
QString shownText(const QString &text);

} // namespace kerf
