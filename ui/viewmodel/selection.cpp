// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/viewmodel/selection.h"

namespace kerf {

void Selection::set(State state, bool remember)
{
    if (state == m_state)
        return;
    m_state = std::move(state);
    if (remember) {
        m_history.resize(m_index + 1);
        m_history.append(m_state);
        if (m_history.size() > 200)
            m_history.removeFirst();
        m_index = m_history.size() - 1;
    }
    Q_EMIT changed();
}

void Selection::selectCompaction(int number)
{
    if (number != m_state.compaction)
        set(State{.compaction = number});
}

void Selection::selectEpisode(int seq, std::optional<int> token)
{
    set(State{.compaction = m_state.compaction, .episodeSeq = seq, .token = token});
}

void Selection::selectToken(int token) { set(State{.compaction = m_state.compaction, .token = token}); }

void Selection::selectCheckpoint(int position)
{
    set(State{.compaction = m_state.compaction, .token = position, .checkpoint = position});
}

void Selection::selectRange(std::optional<TokenRange> range)
{
    State state = m_state;
    state.range = range;
    set(state);
}

void Selection::clear() { set(State{.compaction = m_state.compaction}); }

void Selection::setHoverToken(std::optional<int> token)
{
    if (token == m_hover)
        return;
    m_hover = token;
    Q_EMIT hoverChanged();
}

void Selection::back()
{
    if (canGoBack())
        set(m_history.at(--m_index), false);
}

void Selection::forward()
{
    if (canGoForward())
        set(m_history.at(++m_index), false);
}

} // namespace kerf
