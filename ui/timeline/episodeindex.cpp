// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/timeline/episodeindex.h"

#include <algorithm>

namespace kerf {

namespace {
std::size_t slot(Role role) { return static_cast<std::size_t>(role); }
std::size_t slot(Tier tier) { return static_cast<std::size_t>(tier); }
} // namespace

void EpisodeIndex::setBlocks(QList<BlockValue> blocks)
{
    m_blocks = std::move(blocks);
    const std::size_t n = static_cast<std::size_t>(m_blocks.size());
    m_roleTokens.assign(n + 1, {});
    m_tierCount.assign(n + 1, {});
    m_pins.assign(n + 1, 0);
    m_evicted.assign(n + 1, 0);
    m_bySeq.clear();
    m_bySeq.reserve(m_blocks.size());
    for (std::size_t i = 0; i < n; ++i) {
        const BlockValue &block = m_blocks.at(static_cast<qsizetype>(i));
        m_roleTokens[i + 1] = m_roleTokens[i];
        m_roleTokens[i + 1][slot(block.role)] += block.range.size();
        m_tierCount[i + 1] = m_tierCount[i];
        m_tierCount[i + 1][slot(block.tierAfter.value_or(block.tier))] += 1;
        m_pins[i + 1] = m_pins[i] + (block.pinned ? 1 : 0);
        m_evicted[i + 1] = m_evicted[i] + (block.tierAfter ? 1 : 0);
        if (block.seq > 0)
            m_bySeq.insert(block.seq, static_cast<int>(i));
    }
}

int EpisodeIndex::firstEndingAfter(int position) const
{
    const auto it = std::upper_bound(m_blocks.begin(), m_blocks.end(), position,
                                     [](int p, const BlockValue &block) { return p < block.range.end; });
    return static_cast<int>(it - m_blocks.begin());
}

int EpisodeIndex::indexAt(int position) const
{
    const int index = firstEndingAfter(position);
    return index < count() && m_blocks.at(index).range.contains(position) ? index : -1;
}

int EpisodeIndex::indexOfSeq(int seq) const { return m_bySeq.value(seq, -1); }

EpisodeIndex::Summary EpisodeIndex::summary(int first, int last) const
{
    Summary result;
    if (first < 0 || last >= count() || first > last)
        return result;
    const auto from = static_cast<std::size_t>(first);
    const auto to = static_cast<std::size_t>(last) + 1;
    result.episodes = last - first + 1;
    int most = -1;
    for (std::size_t role = 0; role < 5; ++role) {
        const int tokens = m_roleTokens[to][role] - m_roleTokens[from][role];
        result.tokens += tokens;
        if (tokens > most) {
            most = tokens;
            result.largest = static_cast<Role>(role);
        }
        if (m_tierCount[to][role] - m_tierCount[from][role] > 0)
            result.lowest = static_cast<Tier>(role);
    }
    result.pinned = m_pins[to] > m_pins[from];
    result.evicted = m_evicted[to] - m_evicted[from];
    return result;
}

Tier EpisodeIndex::tierOf(int index) const
{
    const BlockValue &block = m_blocks.at(index);
    return block.tierAfter.value_or(block.tier);
}

void SessionIndex::setEpisodes(const QList<EpisodeValue> &episodes)
{
    const std::size_t n = static_cast<std::size_t>(episodes.size());
    m_begin.assign(n + 1, 0);
    m_seq.assign(n, 0);
    m_roleTokens.assign(n + 1, {});
    m_inPrompt.assign(n + 1, 0);
    for (std::size_t i = 0; i < n; ++i) {
        const EpisodeValue &episode = episodes.at(static_cast<qsizetype>(i));
        const qint64 tokens = std::max(1, episode.tokenCount); // what counts nothing can still be pointed at
        m_begin[i + 1] = m_begin[i] + tokens;
        m_seq[i] = episode.seq;
        m_roleTokens[i + 1] = m_roleTokens[i];
        m_roleTokens[i + 1][slot(episode.role)] += tokens;
        m_inPrompt[i + 1] = m_inPrompt[i] + (episode.range ? tokens : 0);
    }
}

int SessionIndex::indexAt(qint64 position) const
{
    if (m_begin.size() < 2)
        return -1;
    const auto it = std::upper_bound(m_begin.begin(), m_begin.end(), position);
    return std::clamp<int>(static_cast<int>(it - m_begin.begin()) - 1, 0, count() - 1);
}

int SessionIndex::indexOfSeq(int seq) const
{
    const auto it = std::lower_bound(m_seq.begin(), m_seq.end(), seq);
    return it != m_seq.end() && *it == seq ? static_cast<int>(it - m_seq.begin()) : -1;
}

SessionIndex::Column SessionIndex::column(int first, int last) const
{
    Column result;
    if (first < 0 || last >= count() || first > last)
        return result;
    const auto from = static_cast<std::size_t>(first);
    const auto to = static_cast<std::size_t>(last) + 1;
    qint64 most = -1;
    qint64 all = 0;
    for (std::size_t role = 0; role < 5; ++role) {
        const qint64 tokens = m_roleTokens[to][role] - m_roleTokens[from][role];
        all += tokens;
        if (tokens > most) {
            most = tokens;
            result.largest = static_cast<Role>(role);
        }
    }
    result.inPrompt = all > 0 ? static_cast<qreal>(m_inPrompt[to] - m_inPrompt[from]) / static_cast<qreal>(all) : 0;
    return result;
}

} // namespace kerf
