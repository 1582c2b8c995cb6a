// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/logtail.h"

#include "core/base/log.h"

#include <QFileInfo>

#include <sys/stat.h>

namespace kerf {

namespace {
constexpr qint64 kChunk = 256 * 1024;
constexpr int kChunksACall = 16;
constexpr qsizetype kLongestLine = 64 * 1024;
constexpr int kActiveMs = 50;
constexpr int kIdleMs = 250;
constexpr int kIdleAfter = 40; ///< polls without news

quint64 inodeOf(const QString &path)
{
    struct stat info {};
    return ::stat(QFile::encodeName(path).constData(), &info) == 0 ? static_cast<quint64>(info.st_ino) ^ (static_cast<quint64>(info.st_dev) << 48) : 0;
}
} // namespace

LogTail::LogTail(QObject *parent)
    : QObject(parent)
{
    connect(&m_timer, &QTimer::timeout, this, &LogTail::poll);
}

void LogTail::follow(const QString &path)
{
    m_path = path;
    m_file.setFileName(path);
    m_timer.start(kActiveMs);
    catchUp();
}

void LogTail::feed(const QByteArray &bytes)
{
    m_fed = true;
    take(bytes);
}

void LogTail::poll()
{
    const qint64 before = m_total;
    catchUp();
    m_idlePolls = m_total == before ? m_idlePolls + 1 : 0;
    const int interval = m_idlePolls > kIdleAfter ? kIdleMs : kActiveMs;
    if (m_timer.interval() != interval)
        m_timer.setInterval(interval);
}

/// The name may mean another file by now (rotation), or the same one cut short (copytruncate).
bool LogTail::reopenIfReplaced()
{
    const quint64 inode = inodeOf(m_path);
    if (m_file.isOpen()) {
        const bool replaced = inode != 0 && inode != m_inode;
        const bool truncated = m_file.size() < m_offset;
        if (!replaced && !truncated)
            return true;
        if (replaced)
            m_file.close();
        m_offset = 0;
        m_partial.clear();
        m_skipping = false;
        Q_EMIT restarted();
        if (!replaced) {
            m_file.seek(0);
            return true;
        }
    }
    if (inode == 0 || !m_file.open(QIODevice::ReadOnly | QIODevice::Unbuffered))
        return false;
    m_inode = inode;
    m_offset = 0;
    Q_EMIT opened();
    return true;
}

bool LogTail::catchUp()
{
    if (m_path.isEmpty())
        return false;
    // The rest of a file that was rotated away is read before its successor.
    for (int chunk = 0; chunk < kChunksACall; ++chunk) {
        if (!m_file.isOpen() && !reopenIfReplaced())
            return false;
        if (m_file.size() < m_offset && !reopenIfReplaced())
            return false;
        const QByteArray bytes = m_file.read(kChunk);
        if (bytes.isEmpty()) {
            const quint64 inode = m_inode;
            if (!reopenIfReplaced() || m_inode == inode)
                return false;
            continue;
        }
        m_offset += bytes.size();
        take(bytes);
    }
    return true;
}

void LogTail::take(const QByteArray &bytes)
{
    m_total += bytes.size();
    QList<QByteArray> lines;
    qsizetype from = 0;
    for (;;) {
        const qsizetype end = bytes.indexOf('\n', from);
        if (end < 0)
            break;
        if (m_skipping) {
            m_skipping = false; // the rest of a cut line
        } else {
            m_partial.append(bytes.constData() + from, end - from);
            m_partial.truncate(kLongestLine);
            lines.append(m_partial);
        }
        m_partial.clear();
        from = end + 1;
    }
    if (!m_skipping) {
        m_partial.append(bytes.constData() + from, bytes.size() - from);
        if (m_partial.size() > kLongestLine) {
            m_partial.truncate(kLongestLine);
            lines.append(m_partial);
            m_partial.clear();
            m_skipping = true;
        }
    }
    if (!lines.isEmpty())
        Q_EMIT linesRead(lines);
}

} // namespace kerf
