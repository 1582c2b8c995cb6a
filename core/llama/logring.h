// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/llama/serverlog.h"

#include <QByteArray>
#include <QString>

#include <vector>

namespace kerf {

/// What stands in front of a line of the server's log: `0.05.785.665 I `; it comes and goes with flags and builds.
struct LogPrefix {
    char level = 0; ///< I, W, E, D; 0 = not said
    qint64 timeUs = -1; ///< since the server began; -1 = not said
    friend bool operator==(const LogPrefix &, const LogPrefix &) = default;
};
LogPrefix readLogPrefix(QByteArrayView line);

/// One line as it is kept.
struct LogLine {
    qint64 number = 0; ///< 1, 2, ... since the log was attached
    char level = 0;
    qint64 timeUs = -1;
    int slot = -1;
    qint64 task = -1;
    QByteArray text; ///< never a prompt's: see ServerLogRing
    bool withheld = false; ///< the text is not the line's own
    bool understood = true; ///< false: it looks like a slot or cache line, but is none that Kerf knows
    QString reading() const; ///< in words; empty where there is nothing to say
};

/// The last lines of the server's log, at most `capacity` of them. Debug lines and the rest of a message that has line
/// breaks may quote prompts: of those only the length is kept, unless Kerf reads a meaning in them.
class ServerLogRing
{
public:
    explicit ServerLogRing(qsizetype capacity = 100'000);

    const LogLine &append(const QByteArray &line, const LogEvent &event);
    qint64 firstNumber() const { return m_next - static_cast<qint64>(m_lines.size()); } ///< = nextNumber() if empty
    qint64 nextNumber() const { return m_next; }
    const LogLine &at(qint64 number) const; ///< firstNumber() <= number < nextNumber()
    qint64 notUnderstood() const { return m_notUnderstood; } ///< of all lines, not only of those kept

private:
    std::vector<LogLine> m_lines;
    qsizetype m_capacity;
    qint64 m_next = 1;
    qint64 m_notUnderstood = 0;
    bool m_prefixSeen = false;
};

} // namespace kerf
