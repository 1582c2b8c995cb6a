// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/launch.h"

#include "core/base/log.h"
#include "core/llama/serverlog.h"

#include <QTimer>

#include <csignal>
#include <cstdio>
#include <sys/prctl.h>
#include <unistd.h>

namespace kerf {

namespace {
constexpr qsizetype kLastBytes = 4096;
constexpr qsizetype kLongestLine = 64 * 1024;
constexpr int kEndMs = 5000;
constexpr int kLeftBehindMs = 1000;

/// "a:b" as the host part of a URL; the wildcard addresses are reached as this machine.
QString reachable(const QString &host)
{
    const QString first = host.section(QLatin1Char(','), 0, 0).trimmed();
    if (first.isEmpty() || first == QLatin1String("0.0.0.0"))
        return QStringLiteral("127.0.0.1");
    return first == QLatin1String("::") ? QStringLiteral("::1") : first;
}
} // namespace

ServerChild::ServerChild(QStringList command, QObject *parent)
    : QObject(parent)
    , m_command(std::move(command))
{
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    QHash<QString, QString> variables;
    const QStringList names = environment.keys();
    for (const QString &name : names) {
        if (name.startsWith(QLatin1String("LLAMA_")))
            variables.insert(name, environment.value(name));
    }
    m_flags = parseServerFlags(m_command.mid(1), variables);
    if (!m_flags.verbosity && !m_command.isEmpty()) {
        m_command << QStringLiteral("-lv") << QStringLiteral("4");
        // A wrapper may not pass arguments on.
        environment.insert(QStringLiteral("LLAMA_ARG_LOG_VERBOSITY"), QStringLiteral("4"));
        m_flags.verbosity = 4;
    }
    m_process.setProcessEnvironment(environment);
    m_process.setProcessChannelMode(QProcess::MergedChannels);
    // Never left behind, not even by a kill -9 of ours.
    const pid_t parentPid = ::getpid();
    m_process.setChildProcessModifier([parentPid] {
        ::setpgid(0, 0); // a wrapper's own children end with it
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parentPid)
            ::_exit(1);
    });
    connect(&m_process, &QProcess::started, this, [this] { m_group = m_process.processId(); });
    connect(&m_process, &QProcess::readyRead, this, [this] { take(m_process.readAll()); });
    connect(&m_process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        take(m_process.readAll());
        endGroup();
        QString reason = QStringLiteral("the launched server ended with status %1").arg(code);
        if (m_stopping)
            reason = QStringLiteral("the launched server was stopped");
        else if (status == QProcess::CrashExit)
            reason = QStringLiteral("the launched server was killed or crashed (signal %1)").arg(code);
        finish(reason, m_last);
    });
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            finish(QStringLiteral("%1 could not be started: %2").arg(m_command.value(0), m_process.errorString()), {});
    });
}

ServerChild::~ServerChild()
{
    m_process.disconnect(this);
    if (m_process.state() != QProcess::NotRunning) {
        signalAll(SIGTERM);
        if (!m_process.waitForFinished(kEndMs)) { // we are ending: nothing else runs any more
            m_process.kill();
            m_process.waitForFinished(kEndMs);
        }
    }
    if (m_group > 0)
        ::kill(static_cast<pid_t>(-m_group), SIGKILL); // what a wrapper left behind; the group is ours alone
}

void ServerChild::signalAll(int number)
{
    if (m_group > 0)
        ::kill(static_cast<pid_t>(-m_group), number);
    else if (m_process.processId() > 0)
        ::kill(static_cast<pid_t>(m_process.processId()), number);
}

/// It has ended; what it started itself ends too. Soon, for the number of an empty group is given away again.
void ServerChild::endGroup()
{
    signalAll(SIGTERM);
    QTimer::singleShot(kLeftBehindMs, this, [this] {
        signalAll(SIGKILL);
        m_group = 0;
    });
}

Result<void> ServerChild::forwardToFile(const QString &path)
{
    m_file.close();
    m_file.setFileName(path);
    if (!m_file.open(QIODevice::WriteOnly | QIODevice::Append | QIODevice::Unbuffered))
        return failure(Error::Code::Failed, QStringLiteral("%1 cannot be written: %2").arg(path, m_file.errorString()));
    return {};
}

void ServerChild::start()
{
    if (m_command.isEmpty()) {
        finish(QStringLiteral("no command was given to launch"), {});
        return;
    }
    m_process.start(m_command.constFirst(), m_command.mid(1), QIODevice::ReadOnly);
}

void ServerChild::stop(int limitMs)
{
    if (!isRunning())
        return;
    m_stopping = true;
    signalAll(SIGTERM);
    QTimer::singleShot(limitMs, this, [this] {
        if (isRunning())
            signalAll(SIGKILL);
    });
}

void ServerChild::take(const QByteArray &bytes)
{
    if (bytes.isEmpty())
        return;
    m_last = (m_last + bytes).right(kLastBytes);
    if (m_toStderr)
        std::fwrite(bytes.constData(), 1, static_cast<std::size_t>(bytes.size()), stderr);
    if (m_file.isOpen() && m_file.write(bytes) < 0) {
        qCWarning(lcLlama) << "the launched server's output cannot be written any more" << m_file.fileName()
                           << m_file.errorString();
        m_file.close();
    }
    if (m_said.isEmpty())
        lookForAddress(bytes);
    Q_EMIT output(bytes);
}

void ServerChild::lookForAddress(const QByteArray &bytes)
{
    m_line += bytes;
    qsizetype from = 0;
    for (qsizetype end = m_line.indexOf('\n'); end >= 0; end = m_line.indexOf('\n', from)) {
        const LogEvent event = parseServerLogLine(QByteArrayView(m_line).sliced(from, end - from));
        from = end + 1;
        if (event.kind != LogEvent::Kind::Listening)
            continue;
        QUrl url = QUrl(QString::fromUtf8(event.text), QUrl::StrictMode);
        if (!url.isValid() || url.scheme() != QLatin1String("http") || url.port() <= 0)
            continue;
        url.setHost(reachable(url.host()));
        m_said = url;
        m_line.clear();
        Q_EMIT listening(url);
        return;
    }
    m_line.remove(0, from);
    m_line.truncate(kLongestLine);
}

/// A process that could not be started reports twice.
void ServerChild::finish(const QString &reason, const QByteArray &lastLines)
{
    if (std::exchange(m_finished, true))
        return;
    Q_EMIT ended(reason, QString::fromUtf8(lastLines));
}

QUrl ServerChild::url() const
{
    if (!m_said.isEmpty())
        return m_said;
    QUrl url;
    url.setScheme(QStringLiteral("http"));
    url.setHost(reachable(m_flags.host));
    url.setPort(m_flags.port.value_or(8080));
    return url;
}

} // namespace kerf
