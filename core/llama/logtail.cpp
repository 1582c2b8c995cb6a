// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/logtail.h"

#include "core/base/log.h"

#include <algorithm>

#include <sys/stat.h>

namespace kerf {

namespace {
constexpr qint64 kChunk = 256 * 1024;
constexpr int kChunksACall = 4;
constexpr qsizetype kLongestLine = 64 * 1024;
constexpr qsizetype kRemembered = 64; ///< bytes before the offset
constexpr int kActiveMs = 50;
constexpr int kIdleMs = 250;
constexpr int kIdleAfter = 40; ///< polls without news
} // namespace

LogTail::LogTail(QObject *parent)
    : QObject(parent)
{
    connect(&m_timer, &QTimer::timeout, this, &LogTail::poll);
}

void LogTail::follow(const QString &path)
{
    m_path = path;
    m_file.close();
    m_file.setFileName(path);
    m_partial.clear();
    m_skipping = false;
    m_timer.start(kActiveMs);
    poll();
}

void LogTail::feed(const QByteArray &bytes)
{
    m_fed = true;
    take(bytes);
}

void LogTail::poll()
{
    const qint64 before = m_total;
    const bool more = catchUp();
    m_idlePolls = m_total == before ? m_idlePolls + 1 : 0;
    const int interval = more ? 0 : m_idlePolls > kIdleAfter ? kIdleMs : kActiveMs;
    if (m_timer.interval() != interval)
        m_timer.setInterval(interval);
}

bool LogTail::open()
{
    if (!m_file.open(QIODevice::ReadOnly | QIODevice::Unbuffered))
        return false;
    struct stat info {
    };
    if (::fstat(m_file.handle(), &info) != 0 || !S_ISREG(info.st_mode)) {
        m_file.close(); // a pipe would block, a folder has no lines
        return false;
    }
    m_inode = static_cast<quint64>(info.st_ino);
    m_device = static_cast<quint64>(info.st_dev);
    m_offset = 0;
    m_checkedSize = -1;
    m_before.clear();
    Q_EMIT opened();
    return true;
}

/// Another file has the name now, and something is in it. An empty one does not count: a server that keeps writing into
/// the file that was moved away is read on.
bool LogTail::isReplaced() const
{
    struct stat info {
    };
    return ::stat(QFile::encodeName(m_path).constData(), &info) == 0 && info.st_size > 0
        && (static_cast<quint64>(info.st_ino) != m_inode || static_cast<quint64>(info.st_dev) != m_device);
}

/// Shorter than what was read; or the last bytes that were read are no longer there (cut and grown again in between).
bool LogTail::isTruncated()
{
    const qint64 size = m_file.size();
    if (size < m_offset)
        return true;
    if (size == m_checkedSize || m_before.isEmpty())
        return false;
    m_checkedSize = size;
    if (!m_file.seek(m_offset - m_before.size()))
        return true;
    const QByteArray now = m_file.read(m_before.size());
    if (now == m_before)
        return false;
    // A writer that does not append leaves a hole where the file was cut: it goes on at its old place.
    if (std::all_of(now.cbegin(), now.cend(), [](char c) { return c == '\0'; })) {
        m_before = now;
        return false;
    }
    return true;
}

void LogTail::startOver(bool gap)
{
    m_offset = 0;
    m_checkedSize = -1;
    m_before.clear();
    m_partial.clear();
    m_skipping = false;
    Q_EMIT restarted(gap);
}

bool LogTail::catchUp()
{
    if (m_path.isEmpty() || (!m_file.isOpen() && !open()))
        return false;
    for (int chunk = 0; chunk < kChunksACall; ++chunk) {
        if (isTruncated())
            startOver(true);
        m_file.seek(m_offset);
        const QByteArray bytes = m_file.read(kChunk);
        if (!bytes.isEmpty()) {
            m_offset += bytes.size();
            m_before = (m_before + bytes.right(kRemembered)).right(kRemembered);
            take(bytes);
            continue;
        }
        // The rest of a file that was moved away is read before its successor.
        if (!isReplaced())
            return false;
        m_file.close();
        startOver(false);
        if (!open())
            return false;
    }
    return true;
}

void LogTail::take(const QByteArray &bytes)
{
    m_total += bytes.size();
    QList<QByteArray> lines;
    qsizetype from = 0;
    for (;;) {
        if (m_partial.isEmpty() && !m_skipping) { // a hole where the file was cut
            while (from < bytes.size() && bytes.at(from) == '\0')
                ++from;
        }
        const qsizetype end = bytes.indexOf('\n', from);
        if (end < 0)
            break;
        if (m_skipping) {
            m_skipping = false; // the rest of a cut line
        } else {
            m_partial.append(bytes.constData() + from, std::min(end - from, kLongestLine - m_partial.size()));
            lines.append(m_partial);
        }
        m_partial.clear();
        from = end + 1;
    }
    if (!m_skipping) {
        m_partial.append(bytes.constData() + from, std::min(bytes.size() - from, kLongestLine - m_partial.size()));
        if (m_partial.size() >= kLongestLine) {
            lines.append(m_partial);
            m_partial.clear();
            m_skipping = true;
        }
    }
    if (!lines.isEmpty())
        Q_EMIT linesRead(lines);
}

} // namespace kerf
