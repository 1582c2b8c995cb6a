// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/consolestate.h"

#include <QEvent>
#include <QWidget>

#include <functional>

namespace kerf {

/// Runs `refresh(parts)` of a view when the state changed and the view can be seen; a hidden view only
/// remembers what it missed and catches up when it is shown.
class LiveView : public QObject
{
    Q_OBJECT
public:
    template<typename Refresh>
    LiveView(ConsoleState *state, QWidget *view, Refresh refresh)
        : QObject(view)
        , m_view(view)
        , m_refresh(std::move(refresh))
        , m_missed(ConsoleState::Everything)
    {
        connect(state, &ConsoleState::changed, this, [this](ConsoleState::Parts parts) {
            m_missed |= parts;
            catchUp();
        });
        view->installEventFilter(this);
    }
    void catchUp()
    {
        if (!m_view->isVisible() || !m_missed)
            return;
        const ConsoleState::Parts parts = m_missed;
        m_missed = {};
        ++m_runs;
        m_refresh(parts);
    }
    int runs() const { return m_runs; } ///< how often it really refreshed

protected:
    bool eventFilter(QObject *watched, QEvent *event) override
    {
        if (watched == m_view && event->type() == QEvent::Show)
            catchUp();
        return false;
    }

private:
    QWidget *m_view;
    std::function<void(ConsoleState::Parts)> m_refresh;
    ConsoleState::Parts m_missed;
    int m_runs = 0;
};

} // namespace kerf
