// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/models/findmodel.h"
#include "ui/viewmodel/caller.h"
#include "ui/viewmodel/consolestate.h"

#include <QTimer>
#include <QWidget>

class QLabel;
class QTableView;

namespace kerf {

/// What was found, as a list; the field stands in the toolbar. The service searches the texts, nothing waits for it.
class FindPanel : public QWidget
{
    Q_OBJECT
public:
    FindPanel(ConsoleState *state, Caller caller, QWidget *parent = nullptr);

    void setQuery(const QString &field);
    QString query() const { return m_field; }
    void step(int by); ///< to the next or previous hit
    int currentRow() const { return m_current; }
    FindModel *model() const { return m_model; }
    QTableView *view() const { return m_view; }
    QString summary() const;

Q_SIGNALS:
    void found(); ///< hits, or the current one, are others
    void chosen(const kerf::FindHit &hit);

private:
    void search();
    void refresh();
    void choose(int row);

    ConsoleState *m_state;
    Caller m_caller;
    QString m_field;
    FindQuery m_query;
    QHash<int, QString> m_texts;
    bool m_searching = false;
    bool m_searched = false;
    QString m_problem;
    quint64 m_number = 0;
    int m_current = -1;
    QTimer m_timer;
    FindModel *m_model;
    QTableView *m_view;
    QLabel *m_summary;
};

} // namespace kerf
