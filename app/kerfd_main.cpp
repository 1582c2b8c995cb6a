// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/commands/commands.h"

#include <QCoreApplication>

int main(int argc, char **argv)
{
    QCoreApplication::setApplicationName(QStringLiteral("kerfd"));
    QCoreApplication::setOrganizationName(QStringLiteral("kerf"));
    QCoreApplication::setApplicationVersion(QStringLiteral(KERF_VERSION));
    QCoreApplication app(argc, argv);
    return kerf::runCommand(app, QCoreApplication::arguments().mid(1));
}
