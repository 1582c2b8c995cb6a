// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QByteArray>
#include <QByteArrayView>
#include <QList>
#include <QObject>

#include <memory>

QT_BEGIN_NAMESPACE
class QSocketNotifier;
QT_END_NAMESPACE

namespace kerf {

/// A byte stream on a file descriptor, never blocking. QLocalSocket is not enough here: it gives up the writing
/// side as soon as the peer ends its own ("printf ... | socat" would lose every answer). Lives on one thread.
class Channel : public QObject
{
    Q_OBJECT
public:
    enum class Mode {
        Socket, ///< ours alone: made non-blocking, closed at the end
        Borrowed ///< stdin, stdout: its flags are shared with others, so they stay as they are; not closed
    };
    Channel(int fd, Mode mode, QObject *parent = nullptr);
    ~Channel() override;

    /// Written at once as far as the peer takes it, the rest when it does.
    void write(const QByteArray &bytes);
    qint64 pendingBytes() const { return m_pendingBytes; }
    /// False: leaves bytes with the kernel, so that the peer waits.
    void setReading(bool reading);
    bool isOpen() const { return m_open; }
    bool hasInputEnded() const { return m_inputEnded; }
    /// Ends our side of the stream; the peer's side stays readable.
    void endWriting();
    /// No signal follows.
    void close();

Q_SIGNALS:
    void received(QByteArrayView bytes); ///< valid during the signal only
    /// The peer writes no more; `gone`: it reads no more either.
    void inputEnded(bool gone);
    void broken(); ///< writing failed: the peer is gone
    void drained(qint64 written); ///< some pending bytes were written

private:
    void readSome();
    void writeSome();
    qint64 send(const char *data, qint64 size); ///< -1 = would block, -2 = failed

    int m_fd;
    Mode m_mode;
    bool m_open = true;
    bool m_inputEnded = false;
    bool m_isSocket = true;
    bool m_wantsReading = true;
    QList<QByteArray> m_out;
    qsizetype m_offset = 0; ///< of m_out.first()
    qint64 m_pendingBytes = 0;
    std::unique_ptr<QSocketNotifier> m_reader;
    std::unique_ptr<QSocketNotifier> m_writer;
};

/// Connects to a socket path. -1 with errno where that fails.
int connectToPath(const QString &path);
/// User of the other end (SO_PEERCRED); -1 = unknown.
qint64 peerUser(int fd);
/// Process of the other end; -1 = unknown.
qint64 peerProcess(int fd);

} // namespace kerf
