// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"
#include "core/llama/startflags.h"

#include <QFile>
#include <QObject>
#include <QProcess>
#include <QUrl>

namespace kerf {

/// The server as our own child (`--launch -- CMD...`): started with -lv 4 unless the command or the environment says
/// another verbosity, its output read as its log, ended with us (SIGTERM, then SIGKILL, with the processes it started;
/// also when we are killed ourselves). It is a process group of its own.
class ServerChild : public QObject
{
    Q_OBJECT
public:
    explicit ServerChild(QStringList command, QObject *parent = nullptr);
    ~ServerChild() override;

    /// Its output goes there too, as it comes; both off by default. Call before start().
    void forwardToStderr(bool on) { m_toStderr = on; }
    /// Error: the file cannot be opened.
    Result<void> forwardToFile(const QString &path);

    void start();
    /// Asks it to end (SIGTERM), and kills it after `limitMs`; ended() follows. Does not wait.
    void stop(int limitMs = 5000);
    /// Where it will listen: what it said itself, else its own --host and --port (or LLAMA_ARG_*), else 127.0.0.1:8080.
    QUrl url() const;
    const ServerFlags &flags() const { return m_flags; }
    QStringList command() const { return m_command; }
    bool isRunning() const { return m_process.state() != QProcess::NotRunning; }
    qint64 processId() const { return m_process.processId(); }

Q_SIGNALS:
    void output(const QByteArray &bytes);
    /// Its output names the address: where the command does not, or says port 0, only this is sure.
    void listening(const QUrl &url);
    /// Once. `lastLines`: the end of its output, for people.
    void ended(const QString &reason, const QString &lastLines);

private:
    void take(const QByteArray &bytes);
    void signalAll(int number);
    void endGroup();
    void lookForAddress(const QByteArray &bytes);
    void finish(const QString &reason, const QByteArray &lastLines);

    QStringList m_command;
    ServerFlags m_flags;
    QProcess m_process;
    QFile m_file;
    QByteArray m_last;
    QByteArray m_line; ///< while the address is looked for
    QUrl m_said;
    qint64 m_group = 0;
    bool m_toStderr = false;
    bool m_stopping = false;
    bool m_finished = false;
};

} // namespace kerf
