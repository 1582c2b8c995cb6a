// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/launch.h"

#include "core/base/log.h"

#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

namespace kerf {

namespace {
constexpr qsizetype kLastBytes = 4096;
constexpr int kEndMs = 5000;
} // namespace

ServerChild::ServerChild(QStringList command, QObject *parent)
    : QObject(parent)
    , m_command(std::move(command))
{
    m_flags = parseServerFlags(m_command.mid(1));
    if (!m_flags.verbosity) {
        m_command << QStringLiteral("-lv") << QStringLiteral("4");
        m_flags.verbosity = 4;
    }
    m_process.setProcessChannelMode(QProcess::MergedChannels);
    // Never left behind, not even by a kill -9 of ours.
    const pid_t parentPid = ::getpid();
    m_process.setChildProcessModifier([parentPid] {
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parentPid)
            ::_exit(1);
    });
    connect(&m_process, &QProcess::readyRead, this, [this] {
        const QByteArray bytes = m_process.readAll();
        m_last = (m_last + bytes).right(kLastBytes);
        Q_EMIT output(bytes);
    });
    connect(&m_process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        const QString reason = status == QProcess::CrashExit ? QStringLiteral("the launched server was killed or crashed") : QStringLiteral("the launched server ended with status %1").arg(code);
        Q_EMIT ended(reason, QString::fromUtf8(m_last));
    });
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            Q_EMIT ended(QStringLiteral("%1 could not be started: %2").arg(m_command.constFirst(), m_process.errorString()), {});
    });
}

ServerChild::~ServerChild()
{
    m_process.disconnect(this);
    if (m_process.state() == QProcess::NotRunning)
        return;
    m_process.terminate();
    if (!m_process.waitForFinished(kEndMs)) { // we are ending: nothing else runs any more
        m_process.kill();
        m_process.waitForFinished(kEndMs);
    }
}

void ServerChild::start()
{
    m_process.start(m_command.constFirst(), m_command.mid(1), QIODevice::ReadOnly);
}

QUrl ServerChild::url() const
{
    QUrl url;
    url.setScheme(QStringLiteral("http"));
    const QString host = m_flags.host;
    url.setHost(host.isEmpty() || host == QLatin1String("0.0.0.0") ? QStringLiteral("127.0.0.1") : host);
    url.setPort(m_flags.port.value_or(8080));
    return url;
}

} // namespace kerf
