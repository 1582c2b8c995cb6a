// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QByteArray>
#include <QByteArrayView>

namespace kerf {

/// The largest message in either direction, in bytes without its line end (PROTOCOL.md, "Transport").
inline constexpr qsizetype kMaxMessageBytes = 16 * 1024 * 1024;

/// Cuts a byte stream into lines: one message each, `\r\n` accepted, blank lines skipped. Work is linear in the
/// bytes however they arrive.
class LineBuffer
{
public:
    explicit LineBuffer(qsizetype limit = kMaxMessageBytes)
        : m_limit(limit)
    {
    }

    enum class Next { Line, Incomplete, TooLong };

    /// Invalidates every view that next() gave.
    void append(QByteArrayView bytes);
    /// The next line that is not blank, without its end; valid until the next append(). After TooLong the
    /// buffer stays so: the stream has lost its frame.
    Next next(QByteArrayView *line);
    /// What stands behind the last line end, at the end of the stream; trimmed.
    QByteArrayView rest() const;
    qsizetype size() const { return m_buffer.size() - m_begin; }

private:
    QByteArray m_buffer;
    qsizetype m_begin = 0; ///< start of what was not given out
    qsizetype m_scanned = 0; ///< no line end before it
    qsizetype m_limit;
    bool m_tooLong = false;
};

} // namespace kerf
