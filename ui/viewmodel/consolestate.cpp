// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/viewmodel/consolestate.h"

#include "ui/viewmodel/whatif.h"

namespace kerf {

ConsoleState::ConsoleState(QObject *parent)
    : QObject(parent)
{
    m_timer.setSingleShot(true);
    m_timer.setInterval(100);
    connect(&m_timer, &QTimer::timeout, this, &ConsoleState::flush);
    connect(&m_selection, &Selection::changed, this, [this] { touch(Selected, true); });
}

const CutPicture &ConsoleState::picture() const
{
    if (m_pictureDirty) {
        if (m_whatIf && isFresh(m_data) && m_selection.compaction() == 0) {
            // A move of the cut costs what it changes, not what the session holds.
            if (m_presentDirty) {
                ConsoleData present = m_data;
                present.plan.reset();
                m_present = buildCutPicture(present, 0);
                m_presentDirty = false;
            }
            m_picture = whatIfPicture(m_present, m_data, *m_whatIf);
        } else {
            m_picture = buildCutPicture(m_data, m_selection.compaction());
        }
        m_pictureDirty = false;
    }
    return m_picture;
}

void ConsoleState::setWhatIf(std::optional<int> position)
{
    if (position == m_whatIf)
        return;
    m_whatIf = position;
    touch(WhatIfMoved, true);
}

void ConsoleState::touch(Parts parts, bool now)
{
    m_pictureDirty = true;
    if (parts & ~(static_cast<uint>(WhatIfMoved) | static_cast<uint>(Selected)))
        m_presentDirty = true;
    m_pending |= parts;
    if (now)
        flush();
    else if (!m_timer.isActive())
        m_timer.start();
}

void ConsoleState::flush()
{
    m_timer.stop();
    const Parts parts = m_pending;
    m_pending = {};
    if (parts)
        Q_EMIT changed(parts);
}

} // namespace kerf
