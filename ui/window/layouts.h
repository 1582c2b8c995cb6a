// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QByteArray>
#include <QMap>
#include <QObject>

class QDockWidget;
class QMainWindow;

namespace kerf {

/// The arrangements of the window. Each remembers its docks; Reset gives back how it came.
class Layouts : public QObject
{
    Q_OBJECT
public:
    enum class Kind { Inspect, WhatIf, Operate };
    static constexpr Kind kAll[] = {Kind::Inspect, Kind::WhatIf, Kind::Operate};

    /// `docks` by name: all that the window has.
    Layouts(QMainWindow *window, const QMap<QString, QDockWidget *> &docks, QObject *parent);

    Kind current() const { return m_current; }
    void start(); ///< the one that was in use, as it was left
    void choose(Kind kind);
    void reset(); ///< the current one as it came
    void store(); ///< remembers the current one, now and for the next run
    static QString title(Kind kind);

Q_SIGNALS:
    void changed();

private:
    static QString key(Kind kind);
    void arrange(Kind kind);
    QDockWidget *dock(const QString &name) const { return m_docks.value(name); }

    QMainWindow *m_window;
    QMap<QString, QDockWidget *> m_docks;
    Kind m_current = Kind::Inspect;
    QMap<int, QByteArray> m_states;
};

} // namespace kerf
