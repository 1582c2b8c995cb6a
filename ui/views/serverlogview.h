// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/models/loglinesmodel.h"

#include <QWidget>

class QAction;
class QComboBox;
class QLabel;
class QLineEdit;
class QTableView;
class QToolButton;

namespace kerf {

class ServerDesk;

/// The server's log: as written on the left, read on the right; filters; the end is followed until one scrolls up.
class ServerLogView : public QWidget
{
    Q_OBJECT
public:
    explicit ServerLogView(ServerDesk *desk, QWidget *parent = nullptr);

    LogFilter *filter() { return m_filter; }
    QTableView *table() { return m_table; }
    bool isFollowing() const { return m_follow; }
    void setFollowing(bool on);
    void setAttachAction(QAction *attach);
    /// Shows the lines of one task, the others away. For a row or lane elsewhere.
    void showTask(qint64 task);
    /// Goes to the newest line whose text holds this, without a filter; false = there is none.
    bool showText(const QString &text);
    QString detail() const;

Q_SIGNALS:
    void detailChanged();

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void refresh();
    void applyFilters();

    ServerDesk *m_desk;
    LogFilter *m_filter;
    QTableView *m_table;
    QComboBox *m_level;
    QComboBox *m_slot;
    QLineEdit *m_task;
    QLineEdit *m_expression;
    QToolButton *m_followButton;
    QToolButton *m_odd;
    QToolButton *m_attach;
    QLabel *m_note; ///< paused, not attached, a wrong expression
    bool m_follow = true;
    bool m_ownScroll = false;
};

} // namespace kerf
