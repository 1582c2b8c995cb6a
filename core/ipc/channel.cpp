// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ipc/channel.h"

#include <QFile>
#include <QPointer>
#include <QSocketNotifier>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace kerf {

namespace {
constexpr qsizetype kReadBytes = 64 * 1024;
constexpr int kReadsATurn = 8; ///< then the others get theirs
} // namespace

Channel::Channel(int fd, Mode mode, QObject *parent)
    : QObject(parent)
    , m_fd(fd)
    , m_mode(mode)
{
    if (mode == Mode::Socket) {
        ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
        ::fcntl(fd, F_SETFD, ::fcntl(fd, F_GETFD) | FD_CLOEXEC);
    }
    m_reader = std::make_unique<QSocketNotifier>(fd, QSocketNotifier::Read);
    connect(m_reader.get(), &QSocketNotifier::activated, this, &Channel::readSome);
}

Channel::~Channel() { close(); }

void Channel::close()
{
    if (!m_open)
        return;
    m_open = false;
    m_out.clear();
    m_pendingBytes = 0;
    // They may be on the stack above us.
    if (m_reader) {
        m_reader->setEnabled(false);
        m_reader.release()->deleteLater();
    }
    if (m_writer) {
        m_writer->setEnabled(false);
        m_writer.release()->deleteLater();
    }
    if (m_mode == Mode::Socket)
        ::close(m_fd);
}

void Channel::setReading(bool reading)
{
    m_wantsReading = reading;
    if (m_open && m_reader && !m_inputEnded)
        m_reader->setEnabled(reading);
}

void Channel::readSome()
{
    static thread_local QByteArray buffer(kReadBytes, Qt::Uninitialized);
    const QPointer<Channel> self(this);
    // A descriptor that we may not make non-blocking is read once for each time that it says it has something.
    const int reads = m_mode == Mode::Socket ? kReadsATurn : 1;
    for (int i = 0; i < reads && m_open && m_wantsReading && !m_inputEnded; ++i) {
        ssize_t got = 0;
        do {
            got = ::read(m_fd, buffer.data(), static_cast<size_t>(kReadBytes));
        } while (got < 0 && errno == EINTR);
        if (got > 0) {
            Q_EMIT received(QByteArrayView(buffer.constData(), got));
            if (!self || got < kReadBytes)
                return;
            continue;
        }
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        m_inputEnded = true;
        m_reader->setEnabled(false);
        bool gone = got < 0;
        if (got == 0 && m_mode == Mode::Socket) {
            pollfd poll{m_fd, POLLOUT, 0};
            gone = ::poll(&poll, 1, 0) > 0 && (poll.revents & (POLLHUP | POLLERR)) != 0;
        }
        Q_EMIT inputEnded(gone);
        return;
    }
}

qint64 Channel::send(const char *data, qint64 size)
{
    ssize_t sent = 0;
    do {
        if (m_isSocket) {
            sent = ::send(m_fd, data, static_cast<size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno == ENOTSOCK) {
                m_isSocket = false;
                errno = EINTR; // once more, as a pipe or a file
                continue;
            }
        } else {
            // A pipe that polls as writable takes PIPE_BUF bytes without blocking.
            pollfd poll{m_fd, POLLOUT, 0};
            if (::poll(&poll, 1, 0) <= 0)
                return -1;
            sent = ::write(m_fd, data, static_cast<size_t>(std::min<qint64>(size, PIPE_BUF)));
        }
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        return sent;
    return errno == EAGAIN || errno == EWOULDBLOCK ? -1 : -2;
}

void Channel::write(const QByteArray &bytes)
{
    if (!m_open || bytes.isEmpty())
        return;
    qsizetype sent = 0;
    while (m_pendingBytes == 0 && sent < bytes.size()) {
        const qint64 now = send(bytes.constData() + sent, bytes.size() - sent);
        if (now == -2) {
            close();
            // Not from within the caller's own call.
            QMetaObject::invokeMethod(this, &Channel::broken, Qt::QueuedConnection);
            return;
        }
        if (now == -1)
            break;
        sent += now;
    }
    if (sent == bytes.size())
        return;
    m_out.append(sent == 0 ? bytes : bytes.mid(sent));
    m_pendingBytes += bytes.size() - sent;
    if (!m_writer) {
        m_writer = std::make_unique<QSocketNotifier>(m_fd, QSocketNotifier::Write);
        connect(m_writer.get(), &QSocketNotifier::activated, this, &Channel::writeSome);
    }
    m_writer->setEnabled(true);
}

void Channel::writeSome()
{
    qint64 written = 0;
    while (m_open && !m_out.isEmpty()) {
        const QByteArray &front = m_out.constFirst();
        const qint64 now = send(front.constData() + m_offset, front.size() - m_offset);
        if (now == -2) {
            close();
            Q_EMIT broken();
            return;
        }
        if (now == -1)
            break;
        written += now;
        m_pendingBytes -= now;
        m_offset += now;
        if (m_offset == front.size()) {
            m_out.removeFirst();
            m_offset = 0;
        }
    }
    if (m_open && m_out.isEmpty() && m_writer)
        m_writer->setEnabled(false);
    if (written > 0)
        Q_EMIT drained(written);
}

void Channel::endWriting()
{
    if (m_open && m_mode == Mode::Socket)
        ::shutdown(m_fd, SHUT_WR);
}

int connectToPath(const QString &path)
{
    const QByteArray name = QFile::encodeName(path);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (name.size() >= static_cast<qsizetype>(sizeof(address.sun_path))) {
        errno = ENAMETOOLONG;
        return -1;
    }
    std::memcpy(address.sun_path, name.constData(), static_cast<size_t>(name.size()));
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    int rc = 0;
    do {
        rc = ::connect(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address));
    } while (rc < 0 && errno == EINTR);
    if (rc == 0)
        return fd;
    const int reason = errno;
    ::close(fd);
    errno = reason;
    return -1;
}

qint64 peerUser(int fd)
{
    ucred who{};
    socklen_t size = sizeof(who);
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
        return -1;
    return who.uid;
}

qint64 peerProcess(int fd)
{
    ucred who{};
    socklen_t size = sizeof(who);
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
        return -1;
    return who.pid;
}

} // namespace kerf
