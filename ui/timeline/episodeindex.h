// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/cutpicture.h"

#include <array>
#include <vector>

namespace kerf {

/// Blocks with prefix sums over their tokens by role and tier, so that any stretch is found by binary search
/// and summed up without walking it: painting costs pixels, not episodes.
class EpisodeIndex
{
public:
    struct Summary {
        int episodes = 0;
        int tokens = 0;
        Role largest = Role::System;
        Tier lowest = Tier::Live; ///< the farthest down that any of them goes
        bool pinned = false;
        int evicted = 0; ///< how many the shown cut moves
        friend bool operator==(const Summary &, const Summary &) = default;
    };

    void setBlocks(QList<BlockValue> blocks);
    const QList<BlockValue> &blocks() const { return m_blocks; }
    int count() const { return static_cast<int>(m_blocks.size()); }
    const BlockValue &at(int index) const { return m_blocks.at(index); }
    int total() const { return m_blocks.isEmpty() ? 0 : m_blocks.last().range.end; }

    /// Block that holds the position; -1 in a gap or outside.
    int indexAt(int position) const;
    /// First block that ends behind the position; count() if none does.
    int firstEndingAfter(int position) const;
    /// -1 = there is none. Linear only over the block list once, at setBlocks().
    int indexOfSeq(int seq) const;
    /// Of blocks [first, last].
    Summary summary(int first, int last) const;
    Tier tierOf(int index) const; ///< after the shown cut

private:
    QList<BlockValue> m_blocks;
    std::vector<std::array<int, 5>> m_roleTokens; ///< [i] = sums over the blocks before i
    std::vector<std::array<int, 5>> m_tierCount;
    std::vector<int> m_pins;
    std::vector<int> m_evicted;
    QHash<int, int> m_bySeq;
};

/// All episodes of a session one after the other by their own token counts (what is evicted too): the strip.
class SessionIndex
{
public:
    void setEpisodes(const QList<EpisodeValue> &episodes);
    int count() const { return static_cast<int>(m_begin.empty() ? 0 : m_begin.size() - 1); }
    qint64 total() const { return m_begin.empty() ? 0 : m_begin.back(); }
    qint64 beginOf(int index) const { return m_begin.at(static_cast<std::size_t>(index)); }
    int indexAt(qint64 position) const;
    int indexOfSeq(int seq) const;
    int seqAt(int index) const { return m_seq.at(static_cast<std::size_t>(index)); }
    struct Column {
        Role largest = Role::System;
        qreal inPrompt = 0; ///< share of its tokens whose episode still stands in the prompt
    };
    Column column(int first, int last) const;

private:
    std::vector<qint64> m_begin;
    std::vector<int> m_seq;
    std::vector<std::array<qint64, 5>> m_roleTokens;
    std::vector<qint64> m_inPrompt;
};

} // namespace kerf
