// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ipc/framing.h"

namespace kerf {

namespace {
QByteArrayView withoutBlanks(QByteArrayView line) { return line.trimmed(); }
} // namespace

void LineBuffer::append(QByteArrayView bytes)
{
    if (m_tooLong)
        return;
    if (m_begin == m_buffer.size()) {
        m_buffer.resize(0); // keeps what is allocated
        m_begin = 0;
        m_scanned = 0;
    } else if (m_begin > 64 * 1024 && m_begin > m_buffer.size() / 2) {
        m_buffer.remove(0, m_begin);
        m_scanned -= m_begin;
        m_begin = 0;
    }
    m_buffer.append(bytes);
}

LineBuffer::Next LineBuffer::next(QByteArrayView *line)
{
    while (!m_tooLong) {
        const qsizetype end = m_buffer.indexOf('\n', m_scanned);
        if (end < 0) {
            m_scanned = m_buffer.size();
            // One byte more than the limit may be the \r of a line end.
            if (m_buffer.size() - m_begin > m_limit + 1) {
                m_tooLong = true;
                break;
            }
            if (m_begin == m_buffer.size() && m_buffer.capacity() > 1024 * 1024) {
                m_buffer = QByteArray(); // a large message has passed: give its memory back
                m_begin = 0;
                m_scanned = 0;
            }
            return Next::Incomplete;
        }
        const QByteArrayView found = withoutBlanks(QByteArrayView(m_buffer).sliced(m_begin, end - m_begin));
        m_begin = end + 1;
        m_scanned = m_begin;
        if (found.isEmpty())
            continue;
        if (found.size() > m_limit) {
            m_tooLong = true;
            break;
        }
        *line = found;
        return Next::Line;
    }
    m_buffer = QByteArray();
    m_begin = 0;
    m_scanned = 0;
    return Next::TooLong;
}

QByteArrayView LineBuffer::rest() const { return withoutBlanks(QByteArrayView(m_buffer).sliced(m_begin)); }

} // namespace kerf
