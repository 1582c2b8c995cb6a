// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/programlog.h"

#include <QDateTime>
#include <QLoggingCategory>

#include <cstdio>

namespace kerf {

namespace {
const char *levelName(QtMsgType type)
{
    switch (type) {
    case QtDebugMsg:
        return "debug";
    case QtInfoMsg:
        return "info";
    case QtWarningMsg:
        return "warning";
    case QtCriticalMsg:
        return "error";
    case QtFatalMsg:
        return "fatal";
    }
    return "";
}

void writeLine(QtMsgType type, const QMessageLogContext &context, const QString &text)
{
    const QByteArray time = QDateTime::currentDateTime().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss.zzz")).toUtf8();
    const QByteArray message = text.toUtf8();
    std::fprintf(stderr, "%s %s %s: %s\n", time.constData(), levelName(type),
                 context.category ? context.category : "default", message.constData());
}
} // namespace

void installProgramLog() { qInstallMessageHandler(writeLine); }

} // namespace kerf
