// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/logring.h"

#include <algorithm>
#include <array>

namespace kerf {

namespace {

constexpr qsizetype kLongestText = 600;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Without terminal colours and the line end.
QByteArray plain(const QByteArray &line)
{
    QByteArray text;
    text.reserve(line.size());
    for (qsizetype i = 0; i < line.size(); ++i) {
        if (line.at(i) == '\033') {
            while (i < line.size() && line.at(i) != 'm')
                ++i;
            continue;
        }
        text.append(line.at(i));
    }
    while (text.endsWith('\n') || text.endsWith('\r') || text.endsWith(' '))
        text.chop(1);
    return text;
}

/// How llama-server's own lines begin, where the log is written without prefixes.
bool beginsAsServer(QByteArrayView text)
{
    static constexpr std::array<const char *, 14> words{
        "srv ", "slot ",  "que ",    "res ",        "cmn ",    "main: ",        "print_info: ",
        "load", "llama_", "common_", "system_info", "build: ", "sched_reserve", "ggml_"};
    for (const char *word : words) {
        if (text.startsWith(word))
            return true;
    }
    return false;
}

} // namespace

LogPrefix readLogPrefix(QByteArrayView line)
{
    LogPrefix prefix;
    qsizetype at = 0;
    const auto skipColour = [&] {
        while (at < line.size() && line.at(at) == '\033') {
            while (at < line.size() && line.at(at) != 'm')
                ++at;
            ++at;
        }
    };
    skipColour();
    if (at < line.size() && line.at(at) == '[') { // a router's child
        const qsizetype close = line.indexOf("] ");
        if (close > at && close < at + 12)
            at = close + 2;
    }
    skipColour();
    const qsizetype begin = at;
    std::array<qint64, 4> parts{};
    for (std::size_t part = 0; part < parts.size(); ++part) {
        if (at >= line.size() || !isDigit(line.at(at))) {
            at = begin;
            break;
        }
        while (at < line.size() && isDigit(line.at(at)) && parts[part] < 1'000'000'000)
            parts[part] = parts[part] * 10 + (line.at(at++) - '0');
        if (part < 3 && (at >= line.size() || line.at(at++) != '.')) {
            at = begin;
            break;
        }
    }
    if (at > begin) {
        prefix.timeUs = ((parts[0] * 60 + parts[1]) * 1000 + parts[2]) * 1000 + parts[3];
        while (at < line.size() && (line.at(at) == ' ' || line.at(at) == '\033')) {
            if (line.at(at) == ' ')
                ++at;
            else
                skipColour();
        }
    }
    if (at + 1 < line.size() && line.at(at + 1) == ' ' && QByteArrayView("IWED").contains(line.at(at)))
        prefix.level = line.at(at);
    return prefix;
}

QString LogLine::reading() const
{
    if (withheld)
        return {};
    return readingOf(parseServerLogLine(text));
}

ServerLogRing::ServerLogRing(qsizetype capacity)
    : m_capacity(std::max<qsizetype>(1, capacity))
{
}

const LogLine &ServerLogRing::append(const QByteArray &line, const LogEvent &event)
{
    LogLine kept;
    kept.number = m_next++;
    const LogPrefix prefix = readLogPrefix(line);
    kept.level = prefix.level;
    kept.timeUs = prefix.timeUs;
    kept.slot = event.slot;
    kept.task = event.task;
    kept.understood = event.kind != LogEvent::Kind::NotUnderstood;
    m_notUnderstood += kept.understood ? 0 : 1;
    m_prefixSeen = m_prefixSeen || prefix.timeUs >= 0;
    QByteArray text = plain(line);
    const bool meant = event.kind != LogEvent::Kind::Other && event.kind != LogEvent::Kind::NotUnderstood;
    const bool ownLine = prefix.timeUs >= 0 || prefix.level != 0 || (!m_prefixSeen && beginsAsServer(text))
        || text.startsWith('{'); // --log-jsonl
    const bool mayQuote = prefix.level == 'D' || !ownLine || (text.startsWith('{') && !meant);
    if (!meant && mayQuote && !text.isEmpty()) {
        kept.withheld = true;
        // The part in front, up to the function's name, says what kind of line it was.
        const qsizetype colon = ownLine && !text.startsWith('{') ? text.indexOf(": ") : -1;
        const QByteArray front = colon > 0 && colon < 48 ? text.left(colon + 2) : QByteArray();
        kept.text = front + '(' + QByteArray::number(text.size() - front.size()) + " characters, not kept)";
    } else {
        if (text.size() > kLongestText)
            text = text.left(kLongestText) + "...";
        kept.text = text;
    }
    const std::size_t capacity = static_cast<std::size_t>(m_capacity);
    if (m_lines.size() < capacity) {
        m_lines.push_back(std::move(kept));
        return m_lines.back();
    }
    LogLine &place = m_lines[static_cast<std::size_t>(kept.number - 1) % capacity];
    place = std::move(kept);
    return place;
}

const LogLine &ServerLogRing::at(qint64 number) const
{
    return m_lines[static_cast<std::size_t>(number - 1) % static_cast<std::size_t>(m_capacity)];
}

} // namespace kerf
