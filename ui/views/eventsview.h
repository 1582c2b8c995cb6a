// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/models/tablemodels.h"

#include <QSortFilterProxyModel>
#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QTableView;

namespace kerf {

/// By kind of event and by words in it.
class EventsFilter : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    enum class Group { All, Problems, Plans, Checkpoints, Requests, Server };
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setGroup(Group group);
    void setWords(const QString &words);
    bool filters() const { return m_group != Group::All || !m_words.isEmpty(); }

protected:
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override;

private:
    Group m_group = Group::All;
    QStringList m_words;
};

/// What happened, newest last: Time, Kind, Slot, Text. F9 holds new ones back and says how many.
class EventsView : public QWidget
{
    Q_OBJECT
public:
    explicit EventsView(QWidget *parent = nullptr);

    EventsModel *model() { return m_model; }
    EventsFilter *filter() { return m_filter; }
    QTableView *table() { return m_table; }
    void append(const QList<EventValue> &events);
    void setPaused(bool paused);
    bool isPaused() const { return m_paused; }
    qsizetype heldBack() const { return m_held.size(); }

Q_SIGNALS:
    void taskActivated(qint64 task);

private:
    void refreshBar();

    EventsModel *m_model;
    EventsFilter *m_filter;
    QTableView *m_table;
    QComboBox *m_group;
    QLineEdit *m_words;
    QLabel *m_bar;
    QList<EventValue> m_held;
    QString m_lastServer;
    bool m_paused = false;
};

} // namespace kerf
