// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/viewmodel/privacy.h"

#include <QCoreApplication>
#include <QCryptographicHash>

namespace kerf {

namespace {
bool s_hidden = false; ///< GUI thread only
}

bool isTextHidden() { return s_hidden; }
void setTextHidden(bool hidden) { s_hidden = hidden; }

QString hiddenText(const QByteArray &text)
{
    const QByteArray hash = QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex().first(8);
    return QCoreApplication::translate("Privacy", "%n byte(s), sha256 %1", nullptr, static_cast<int>(text.size()))
        .arg(QString::fromLatin1(hash));
}

QString hiddenPiece(const QByteArray &piece)
{
    const QByteArray hash = QCryptographicHash::hash(piece, QCryptographicHash::Sha256).toHex().first(4);
    return QStringLiteral("%1:%2").arg(piece.size()).arg(QString::fromLatin1(hash));
}

QString shownText(const QString &text) { return s_hidden ? hiddenText(text.toUtf8()) : text; }

} // namespace kerf
