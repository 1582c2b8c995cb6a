// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/models/tablemodels.h"

#include <QWidget>

class QAction;
class QLabel;
class QSortFilterProxyModel;
class QTableView;

namespace kerf {

class ServerDesk;

/// The ring as a table, with what each checkpoint is for the shown cut; save files with it. Below: the sum, and what a
/// full ring will take.
class CheckpointsView : public QWidget
{
    Q_OBJECT
public:
    explicit CheckpointsView(ServerDesk *desk, QWidget *parent = nullptr);

    CheckpointsModel *model() { return m_model; }
    QTableView *table() { return m_table; }
    void setPicture(const CutPicture &picture, const QString &sessionId, std::optional<int> ringMost);
    void select(std::optional<int> position);
    QString sumText() const;
    /// Of the chosen row; nullptr = none is chosen.
    const CheckpointMark *current() const;
    QAction *cutHere() { return m_cutHere; }
    QAction *restore() { return m_restore; }
    QAction *showInLog() { return m_showInLog; }
    QAction *deleteFile() { return m_delete; }

Q_SIGNALS:
    void positionChosen(int position);
    void cutRequested(int position);
    void restoreRequested(const QString &file);
    void deleteRequested(const QString &file);
    void logRequested(int position, qint64 task); ///< task -1 = not reported

protected:
    void changeEvent(QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    void refreshActions();
    void refreshSum();

    ServerDesk *m_desk;
    CheckpointsModel *m_model;
    QSortFilterProxyModel *m_sorted;
    QTableView *m_table;
    QLabel *m_sum;
    QAction *m_cutHere;
    QAction *m_restore;
    QAction *m_showInLog;
    QAction *m_delete;
    std::optional<int> m_ringMost;
};

} // namespace kerf
