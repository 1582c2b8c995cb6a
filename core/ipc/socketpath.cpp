// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ipc/socketpath.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace kerf {

namespace {

constexpr qsizetype kMostBytes = sizeof(sockaddr_un::sun_path) - 1;

/// The runtime directory, if it is one: the base directory specification says to ignore a relative one.
QString runtimeDir()
{
    const QString dir = qEnvironmentVariable("XDG_RUNTIME_DIR");
    return QDir::isAbsolutePath(dir) ? QDir::cleanPath(dir) : QString();
}

QString defaultFolder()
{
    const QString runtime = runtimeDir();
    if (!runtime.isEmpty())
        return runtime + QStringLiteral("/kerf");
    return QDir::tempPath() + QStringLiteral("/kerf-%1").arg(::geteuid());
}

QString systemMessage(int number) { return QString::fromLocal8Bit(std::strerror(number)); }

} // namespace

Result<QString> socketPath(const QString &explicitPath)
{
    QString path = explicitPath;
    if (path.isEmpty())
        path = qEnvironmentVariable("KERF_SOCKET");
    if (path.isEmpty())
        path = defaultFolder() + QStringLiteral("/kerf.sock");
    path = QDir::cleanPath(QDir::current().absoluteFilePath(path));
    // While it is made it stands in a folder of six letters beside its final place (QLocalServer).
    const qsizetype size =
        std::max(QFile::encodeName(path).size(), QFile::encodeName(QFileInfo(path).path()).size() + 9);
    if (size > kMostBytes) {
        return failure(Error::Code::InvalidParams,
                       QStringLiteral("the socket path has %1 bytes, the system allows %2: %3. Choose a shorter one "
                                      "with --socket or KERF_SOCKET.")
                           .arg(size)
                           .arg(kMostBytes)
                           .arg(path));
    }
    return path;
}

Result<void> checkSocketFolder(const QString &path, bool create)
{
    const QString folder = QFileInfo(path).path();
    const bool isDefault = folder == defaultFolder();
    const QByteArray name = QFile::encodeName(folder);
    const auto user = ::geteuid();
    struct stat info {
    };
    if (isDefault && create && ::lstat(name.constData(), &info) != 0) {
        struct stat parent {
        };
        const QString above = QFileInfo(folder).path();
        if (::stat(QFile::encodeName(above).constData(), &parent) != 0) {
            return failure(
                Error::Code::Failed,
                QStringLiteral(
                    "the folder %1 does not exist (%2). Make it, or name a socket with --socket or KERF_SOCKET.")
                    .arg(above,
                         runtimeDir().isEmpty() ? QStringLiteral("temp directory")
                                                : QStringLiteral("XDG_RUNTIME_DIR")));
        }
        if (parent.st_uid != user && parent.st_uid != 0) {
            return failure(Error::Code::Failed,
                           QStringLiteral("the folder %1 belongs to another user (uid %2). Set XDG_RUNTIME_DIR to your "
                                          "own, or name a socket with --socket.")
                               .arg(above)
                               .arg(parent.st_uid));
        }
        if (::mkdir(name.constData(), 0700) != 0 && errno != EEXIST)
            return failure(Error::Code::Failed,
                           QStringLiteral("the folder %1 cannot be made: %2").arg(folder, systemMessage(errno)));
        ::chmod(name.constData(), 0700); // whatever the umask took away
    }
    if (::lstat(name.constData(), &info) != 0) {
        return failure(Error::Code::Failed,
                       QStringLiteral("the folder of the socket does not exist: %1. %2")
                           .arg(folder,
                                isDefault
                                    ? QStringLiteral("Start \"kerfd serve\", which makes it.")
                                    : QStringLiteral("Make it, or choose another with --socket or KERF_SOCKET.")));
    }
    if (!isDefault && S_ISLNK(info.st_mode) && ::stat(name.constData(), &info) != 0)
        return failure(
            Error::Code::Failed,
            QStringLiteral("the folder of the socket cannot be read: %1: %2").arg(folder, systemMessage(errno)));
    if (!S_ISDIR(info.st_mode))
        return failure(Error::Code::Failed,
                       QStringLiteral("%1 is no folder, so the socket cannot be in it").arg(folder));
    if (info.st_uid != user && (isDefault || info.st_uid != 0)) {
        return failure(Error::Code::Failed,
                       QStringLiteral("the folder %1 belongs to another user (uid %2), who could stand in for the "
                                      "service. Choose another with --socket or KERF_SOCKET.")
                           .arg(folder)
                           .arg(info.st_uid));
    }
    if (isDefault && (info.st_mode & 077) != 0) {
        return failure(Error::Code::Failed,
                       QStringLiteral("the folder %1 is open to other users (mode %2): chmod 700 it")
                           .arg(folder)
                           .arg(info.st_mode & 0777, 3, 8, QLatin1Char('0')));
    }
    // Write access for the user's own group is what a umask of 002 makes.
    const mode_t others = info.st_gid == ::getegid() ? 002 : 022;
    if (!isDefault && (info.st_mode & others) != 0 && (info.st_mode & S_ISVTX) == 0) {
        return failure(
            Error::Code::Failed,
            QStringLiteral(
                "other users may write to the folder %1 (mode %2) and could replace the socket: chmod go-w it")
                .arg(folder)
                .arg(info.st_mode & 0777, 3, 8, QLatin1Char('0')));
    }
    return {};
}

} // namespace kerf
