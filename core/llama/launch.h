// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/llama/startflags.h"

#include <QObject>
#include <QProcess>
#include <QUrl>

namespace kerf {

/// The server as our own child (`--launch -- CMD...`): started with -lv 4 unless the command says another verbosity, its
/// output read as its log, ended with us (SIGTERM, then SIGKILL; also when we are killed ourselves).
class ServerChild : public QObject
{
    Q_OBJECT
public:
    explicit ServerChild(QStringList command, QObject *parent = nullptr);
    ~ServerChild() override;

    void start();
    /// Where it will listen, from its own --host and --port.
    QUrl url() const;
    const ServerFlags &flags() const { return m_flags; }
    QStringList command() const { return m_command; }
    bool isRunning() const { return m_process.state() != QProcess::NotRunning; }

Q_SIGNALS:
    void output(const QByteArray &bytes);
    /// `lastLines`: the end of its output, for people.
    void ended(const QString &reason, const QString &lastLines);

private:
    QStringList m_command;
    ServerFlags m_flags;
    QProcess m_process;
    QByteArray m_last;
};

} // namespace kerf
