// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/models/tablemodels.h"
#include "ui/theme/theme.h"
#include "ui/views/messagearea.h"
#include "ui/window/connectionstore.h"
#include "ui/window/controller.h"
#include "ui/window/keyring.h"
#include "ui/window/prober.h"

#include <QMainWindow>

class QComboBox;
class QDockWidget;
class QLabel;
class QStackedWidget;
class QTableView;
class QTextBrowser;
class QToolButton;

namespace kerf {

class CheckpointRing;
class LiveView;
class PrefillChart;
class ReceiptView;
class RetainedPrefixView;
class ServerDocks;
class Shell;
class StartPage;
class TimelineView;
class VerdictStrip;
class WhatIf;
class WhatIfBar;
class WhatIfDocks;

/// The console. Talks to the service through its Controller alone.
class MainWindow : public QMainWindow
{
    Q_OBJECT
public:
    /// `opener` makes clients; without one, Connect is off (tests give a client by hand).
    explicit MainWindow(ClientOpener opener = {}, QWidget *parent = nullptr);
    ~MainWindow() override;

    ConsoleState *state() { return m_state; }
    Controller *controller() { return m_controller; }
    TimelineView *timeline() { return m_timeline; }
    CheckpointRing *ring() { return m_ring; }
    MessageArea *messages() { return m_messages; }
    Shell *shell() { return m_shell; }
    ServerDocks *serverDocks() { return m_server; }
    WhatIf *whatIf() { return m_whatIf; }
    WhatIfDocks *whatIfDocks() { return m_whatIfDocks; }
    /// Opens what is asked for; failures stand in the message area.
    void open(const ConnectionSpec &spec);
    /// One that was used before; its key comes from the keyring.
    void openSaved(const SavedConnection &connection);
    void setProber(Prober prober) { m_prober = std::move(prober); }
    void setKeyRing(KeyRing *ring) { m_keyRing = ring; }
    void setTheme(ThemeChoice choice);
    void resetLayout();
    QDockWidget *dock(const QString &name) const;
    void raiseDock(const QString &name);
    QAction *action(const QString &name) const;
    QString keyboardTable() const; ///< HTML, from the actions themselves

protected:
    void closeEvent(QCloseEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    friend class Shell;
    QAction *makeAction(const QString &name, const QString &text, const QString &icon, const QKeySequence &key,
                        const QString &tip = {});
    QDockWidget *makeDock(const QString &name, const QString &title, QWidget *content, Qt::DockWidgetArea area);
    void makeActions();
    void makeCentre();
    void makeDocks();
    void makeToolBar();
    void makeStatusBar();
    void makeWhatIf(); ///< state, bar and docks of what-if mode
    void tryCut(int position); ///< starts what-if there, or moves its cut
    void useCut(); ///< plans with the cut that is tried; Apply stays a separate act
    void refresh(ConsoleState::Parts parts);
    void refreshActions();
    void refreshMessages();
    void refreshStatus();
    void refreshBoxes();
    void refreshTitle();
    void stepCompaction(int step);
    void stepProblem(int step);
    void copyAsText();
    void showConnect();
    void applyPlan();
    void setDockDetail(const QString &name, const QString &detail);

    ClientOpener m_opener;
    Prober m_prober;
    KeyRing *m_keyRing = nullptr; ///< null = no key is ever stored
    ConsoleState *m_state;
    Controller *m_controller;
    ConnectionSpec m_spec;
    quint64 m_opening = 0;
    QMap<QString, QAction *> m_actions;
    QMap<QString, QDockWidget *> m_docks;

    QStackedWidget *m_centre = nullptr;
    StartPage *m_start = nullptr;
    MessageArea *m_messages = nullptr;
    VerdictStrip *m_strip = nullptr;
    TimelineView *m_timeline = nullptr;
    WhatIf *m_whatIf = nullptr;
    WhatIfBar *m_whatIfBar = nullptr;
    WhatIfDocks *m_whatIfDocks = nullptr;
    Shell *m_shell = nullptr;
    ServerDocks *m_server = nullptr;
    CheckpointRing *m_ring = nullptr;
    RetainedPrefixView *m_prefix = nullptr;
    PrefillChart *m_chart = nullptr;
    ReceiptView *m_receipt = nullptr;
    CompactionsModel *m_compactions = nullptr;
    QTableView *m_compactionsView = nullptr;
    QComboBox *m_connectionBox = nullptr;
    QComboBox *m_sessionBox = nullptr;
    QComboBox *m_slotBox = nullptr;
    QComboBox *m_profileBox = nullptr;
    QLabel *m_said = nullptr;
    QToolButton *m_statusLink = nullptr;
    QToolButton *m_statusMemory = nullptr;
    QToolButton *m_statusTokens = nullptr;
    QToolButton *m_statusWindow = nullptr;
    QToolButton *m_statusReuse = nullptr;
    QList<Message> m_errors; ///< stay until dismissed
    std::optional<PrefixComparison> m_comparison;
    QString m_comparisonWhy;
    ThemeChoice m_theme = ThemeChoice::System;
};

} // namespace kerf
