// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/consolestate.h"

#include <QObject>
#include <QPointer>

class QAction;
class QMainWindow;

namespace kerf {

class CheckpointsView;
class Controller;
class EventsView;
class EvidenceView;
class ServerDesk;
class ServerLogView;
class SlotsView;
struct Error;

/// The pages about the server: slots, log, evidence, events, checkpoints; with the acts on a slot, each behind a dialog
/// that says what is lost.
class ServerDocks : public QObject
{
    Q_OBJECT
public:
    ServerDocks(ConsoleState *state, Controller *controller, QMainWindow *window);
    ~ServerDocks() override;

    ServerDesk *desk() { return m_desk; }
    SlotsView *slotsPage() { return m_slots; }
    ServerLogView *logPage() { return m_log; }
    EvidenceView *evidencePage() { return m_evidence; }
    EventsView *eventsPage() { return m_events; }
    CheckpointsView *checkpointsPage() { return m_checkpoints; }
    /// Save, restore and erase: for the Server menu; the slot that is chosen in the Slots view is meant.
    void setActions(QAction *save, QAction *restore, QAction *erase, QAction *attachLog);
    /// For the table views' context menus.
    void addCommonActions(QAction *copyText, QAction *pause);
    void setPaused(bool paused);

public Q_SLOTS:
    void askSave();
    void askRestore(const QString &file = {});
    void askErase();
    void askDelete(const QString &file);
    void showTaskInLog(qint64 task);

Q_SIGNALS:
    void detailChanged(const QString &dock, const QString &detail);
    void raiseRequested(const QString &dock);
    void cutRequested(int position);
    void said(const QString &text);
    void failed(const QString &what, const kerf::Error &error);

private:
    void ask(int act, const QString &file);
    void refreshActions();
    void refreshCheckpoints();

    ConsoleState *m_state;
    Controller *m_controller;
    QMainWindow *m_window;
    ServerDesk *m_desk;
    QPointer<SlotsView> m_slots;
    QPointer<ServerLogView> m_log;
    QPointer<EvidenceView> m_evidence;
    QPointer<EventsView> m_events;
    QPointer<CheckpointsView> m_checkpoints;
    QAction *m_save = nullptr;
    QAction *m_restore = nullptr;
    QAction *m_erase = nullptr;
};

} // namespace kerf
