// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/tokens/tokens.h"

#include <QList>
#include <QObject>

#include <optional>

namespace kerf {

/// What is selected, for every view: one object. Selecting something anywhere selects it everywhere.
class Selection : public QObject
{
    Q_OBJECT
public:
    struct State {
        int compaction = 0; ///< number; 0 = the present (current plan, or no cut)
        std::optional<int> episodeSeq;
        std::optional<int> token;
        std::optional<int> checkpoint; ///< position
        std::optional<TokenRange> range;
        friend bool operator==(const State &, const State &) = default;
    };

    using QObject::QObject;

    const State &state() const { return m_state; }
    int compaction() const { return m_state.compaction; }
    std::optional<int> episodeSeq() const { return m_state.episodeSeq; }
    std::optional<int> token() const { return m_state.token; }
    std::optional<int> checkpoint() const { return m_state.checkpoint; }
    std::optional<TokenRange> range() const { return m_state.range; }
    std::optional<int> hoverToken() const { return m_hover; }

    void selectCompaction(int number);
    void selectEpisode(int seq, std::optional<int> token = std::nullopt);
    void selectToken(int token);
    void selectCheckpoint(int position);
    void selectRange(std::optional<TokenRange> range);
    void clear(); ///< keeps the compaction
    void setHoverToken(std::optional<int> token);

    bool canGoBack() const { return m_index > 0; }
    bool canGoForward() const { return m_index + 1 < m_history.size(); }
    void back();
    void forward();

Q_SIGNALS:
    void changed();
    void hoverChanged();

private:
    void set(State state, bool remember = true);

    State m_state;
    std::optional<int> m_hover;
    QList<State> m_history{State{}};
    qsizetype m_index = 0;
};

} // namespace kerf
