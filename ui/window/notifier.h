// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/consolestate.h"
#include "ui/window/appsettings.h"

#include <QHash>
#include <QSet>

class QSystemTrayIcon;

namespace kerf {

/// Says outside of the window what must not be missed. At most one a minute of each kind.
class Notifier : public QObject
{
    Q_OBJECT
public:
    struct Note {
        NoteKind kind = NoteKind::Refuted;
        QString title;
        QString text;
        int compaction = 0; ///< what a click opens; 0 = none
    };

    explicit Notifier(ConsoleState *state, QObject *parent = nullptr);
    ~Notifier() override;
    void setSettings(const AppSettings &settings) { m_settings = settings; }
    /// Looks at the state; `now` in ms, for tests. Runs by itself on every change and every second.
    void look(qint64 now);

Q_SIGNALS:
    void noted(const kerf::Notifier::Note &note); ///< each one that is shown
    void opened(const kerf::Notifier::Note &note); ///< somebody clicked it

private:
    void note(const Note &note, qint64 now);
    void show(const Note &note);

    ConsoleState *m_state;
    AppSettings m_settings;
    QString m_session;
    QSet<int> m_refuted; ///< known already
    bool m_read = false; ///< the compactions of the session were read once
    qint64 m_lostSince = -1;
    bool m_lostSaid = false;
    QString m_longPlan; ///< plan that was told of
    QHash<int, qint64> m_last; ///< by kind
    QTimer m_timer;
    QSystemTrayIcon *m_tray = nullptr;
    Note m_shown;
};

} // namespace kerf
