// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QAbstractListModel>
#include <QAction>
#include <QDialog>
#include <QPointer>

class QLineEdit;
class QListView;

namespace kerf {

/// Actions by name, the best match first. Letters of the query need not be next to each other.
class CommandModel : public QAbstractListModel
{
    Q_OBJECT
public:
    enum Role { ShortcutRole = Qt::UserRole, EnabledRole };
    using QAbstractListModel::QAbstractListModel;
    void setActions(const QList<QAction *> &actions);
    void setQuery(const QString &query);
    QAction *actionAt(int row) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;

    static QString nameOf(const QAction *action); ///< without mnemonics and dots
    /// 0 = no match; more is better.
    static int score(const QString &name, const QString &query);

private:
    QList<QPointer<QAction>> m_all;
    QList<QPointer<QAction>> m_shown;
};

/// Every action by name with its shortcut: type, Enter.
class CommandPalette : public QDialog
{
    Q_OBJECT
public:
    CommandPalette(const QList<QAction *> &actions, QWidget *parent);
    CommandModel *model() const { return m_model; }

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void run(const QModelIndex &index);
    QLineEdit *m_query;
    QListView *m_list;
    CommandModel *m_model;
};

} // namespace kerf
