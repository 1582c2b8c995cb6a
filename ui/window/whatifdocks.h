// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/models/cutmodels.h"
#include "ui/views/cutsview.h"

#include <QLabel>
#include <QSortFilterProxyModel>
#include <QTableView>

class QScrollArea;

namespace kerf {

/// What stands under the comparison: why the two differ, in one sentence, and on what evidence.
class WhyPanel : public QWidget
{
    Q_OBJECT
public:
    explicit WhyPanel(QWidget *parent = nullptr);
    void setText(const QString &title, const QString &text, const QString &evidence);
    QString text() const { return m_text->text(); }

protected:
    void changeEvent(QEvent *event) override;

private:
    void recolour();
    QFrame *m_box;
    QLabel *m_title;
    QLabel *m_text;
    QLabel *m_evidence;
};

/// The contents of the three what-if docks, kept in step with the state: chart, table of legal cuts, comparison.
class WhatIfDocks : public QObject
{
    Q_OBJECT
public:
    WhatIfDocks(ConsoleState *state, WhatIf *whatIf, QObject *parent);

    QWidget *chartPage() const { return m_chart; }
    QWidget *legalPage() const { return m_legalView; }
    QWidget *comparisonPage() const;
    CutsView *chart() const { return m_chart; }
    QTableView *legalView() const { return m_legalView; }
    QTableView *comparisonView() const { return m_comparisonView; }

Q_SIGNALS:
    void cutRequested(int position);
    void detailChanged(const QString &dock, const QString &detail); ///< for the docks' titles: cuts, legalcuts, whatif

private:
    void refreshLegal();
    void refreshComparison();

    ConsoleState *m_state;
    WhatIf *m_whatIf;
    CutsView *m_chart;
    QTableView *m_legalView;
    LegalCutsModel *m_legal;
    QSortFilterProxyModel *m_sorted;
    QScrollArea *m_comparisonPage;
    QTableView *m_comparisonView;
    ComparisonModel *m_comparison;
    WhyPanel *m_why;
    bool m_following = false; ///< the selection is set by us, not by a person
};

} // namespace kerf
