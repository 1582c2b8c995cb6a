// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace kerf {

/// What stands in the centre while there is nothing to show: where one can start, one line each.
class StartPage : public QWidget
{
    Q_OBJECT
public:
    explicit StartPage(QWidget *parent = nullptr);
    /// Connected, but no session yet: how one comes about.
    void setConnected(bool connected, const QString &where);

Q_SIGNALS:
    void connectRequested();
    void demoRequested();
    void sessionRequested();

private:
    QLabel *m_title;
    QLabel *m_intro;
    QWidget *m_first;
    QWidget *m_second;
};

} // namespace kerf
