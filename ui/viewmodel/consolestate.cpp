// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/viewmodel/consolestate.h"

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
        m_picture = buildCutPicture(m_data, m_selection.compaction());
        m_pictureDirty = false;
    }
    return m_picture;
}

void ConsoleState::touch(Parts parts, bool now)
{
    m_pictureDirty = true;
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
