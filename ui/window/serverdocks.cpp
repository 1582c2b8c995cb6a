// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/serverdocks.h"

#include "ui/viewmodel/liveview.h"
#include "ui/viewmodel/numbers.h"
#include "ui/views/checkpointsview.h"
#include "ui/views/eventsview.h"
#include "ui/views/evidenceview.h"
#include "ui/views/serverlogview.h"
#include "ui/views/slotlanes.h"
#include "ui/views/slotsview.h"
#include "ui/window/controller.h"
#include "ui/window/serverdesk.h"
#include "ui/window/slotdialog.h"

#include <QAction>
#include <QMainWindow>
#include <QTableView>

namespace kerf {

ServerDocks::ServerDocks(ConsoleState *state, Controller *controller, QMainWindow *window)
    : QObject(window)
    , m_state(state)
    , m_controller(controller)
    , m_window(window)
    , m_desk(new ServerDesk(this))
    , m_slots(new SlotsView(m_desk))
    , m_log(new ServerLogView(m_desk))
    , m_evidence(new EvidenceView(m_desk))
    , m_events(new EventsView)
    , m_checkpoints(new CheckpointsView(m_desk))
{
    connect(m_controller, &Controller::connectedChanged, m_desk,
            [this] { m_desk->setClient(m_controller->sharedClient()); });
    connect(m_desk, &ServerDesk::said, this, &ServerDocks::said);
    connect(m_desk, &ServerDesk::failed, this, &ServerDocks::failed);
    connect(m_controller, &Controller::happened, m_events, &EventsView::append);
    connect(m_desk, &ServerDesk::slotsChanged, this, [this] {
        refreshActions();
        if (m_checkpoints && m_checkpoints->isVisible())
            refreshCheckpoints();
    });
    connect(m_desk, &ServerDesk::clientChanged, this, &ServerDocks::refreshActions);
    connect(m_slots, &SlotsView::detailChanged, this,
            [this] { Q_EMIT detailChanged(QStringLiteral("slots"), m_slots->detail()); });
    connect(m_log, &ServerLogView::detailChanged, this,
            [this] { Q_EMIT detailChanged(QStringLiteral("log"), m_log->detail()); });
    connect(m_evidence, &EvidenceView::detailChanged, this,
            [this] { Q_EMIT detailChanged(QStringLiteral("evidence"), m_evidence->detail()); });
    connect(m_slots, &SlotsView::taskActivated, this, &ServerDocks::showTaskInLog);
    connect(m_events, &EventsView::taskActivated, this, &ServerDocks::showTaskInLog);
    connect(m_slots, &SlotsView::currentSlotChanged, this, &ServerDocks::refreshActions);
    connect(m_checkpoints, &CheckpointsView::positionChosen, m_state->selection(), &Selection::selectCheckpoint);
    connect(m_checkpoints, &CheckpointsView::cutRequested, this, &ServerDocks::cutRequested);
    connect(m_checkpoints, &CheckpointsView::restoreRequested, this, &ServerDocks::askRestore);
    connect(m_checkpoints, &CheckpointsView::deleteRequested, this, &ServerDocks::askDelete);
    connect(m_checkpoints, &CheckpointsView::logRequested, this, [this](int position, qint64 task) {
        m_desk->watchLog(true);
        Q_EMIT raiseRequested(QStringLiteral("log"));
        const QString words = QStringLiteral("n_tokens = %1,").arg(position);
        if (!m_log->showText(words) && task >= 0)
            m_log->showTask(task);
    });

    new LiveView(m_state, m_slots, [this](ConsoleState::Parts) {
        m_slots->setContextSize(m_state->data().doctor.contextSize.value_or(0));
    });
    new LiveView(m_state, m_evidence, [this](ConsoleState::Parts) { m_evidence->setDoctor(m_state->data().doctor); });
    new LiveView(m_state, m_checkpoints, [this](ConsoleState::Parts) { refreshCheckpoints(); });
    refreshActions();
}

ServerDocks::~ServerDocks()
{
    m_desk->disconnect(this);
    // Pages that were put into a dock went with it; the others are ours.
    for (QWidget *page : {static_cast<QWidget *>(m_slots.data()), static_cast<QWidget *>(m_log.data()),
                          static_cast<QWidget *>(m_evidence.data()), static_cast<QWidget *>(m_events.data()),
                          static_cast<QWidget *>(m_checkpoints.data())}) {
        if (page && !page->parentWidget())
            page->deleteLater();
    }
}

void ServerDocks::setActions(QAction *save, QAction *restore, QAction *erase, QAction *attachLog)
{
    m_save = save;
    m_restore = restore;
    m_erase = erase;
    connect(save, &QAction::triggered, this, &ServerDocks::askSave);
    connect(restore, &QAction::triggered, this, [this] { askRestore(); });
    connect(erase, &QAction::triggered, this, &ServerDocks::askErase);
    m_slots->setSlotActions(save, restore, erase, attachLog);
    if (attachLog)
        m_log->setAttachAction(attachLog);
    refreshActions();
}

void ServerDocks::addCommonActions(QAction *copyText, QAction *pause)
{
    m_events->table()->addActions({pause, copyText});
    m_log->table()->addActions({pause, copyText});
    m_checkpoints->table()->addAction(copyText);
    m_evidence->claimsTable()->addAction(copyText);
    for (QTableView *table : m_slots->findChildren<QTableView *>())
        table->addAction(copyText);
}

void ServerDocks::setPaused(bool paused)
{
    m_events->setPaused(paused);
    m_desk->setPaused(paused);
    Q_EMIT detailChanged(QStringLiteral("slots"), m_slots->detail());
}

void ServerDocks::refreshCheckpoints()
{
    const ConsoleData &console = m_state->data();
    m_checkpoints->setPicture(m_state->picture(), console.session.id, console.doctor.ringMost);
    m_checkpoints->select(m_state->selection()->checkpoint());
}

void ServerDocks::refreshActions()
{
    if (!m_save)
        return;
    const DoctorValue &doctor = m_state->data().doctor;
    const SlotLane *lane = m_slots ? m_desk->slotsPicture().lane(m_slots->lanes()->currentSlot()) : nullptr;
    const bool connected = m_desk->hasClient() && (!doctor.known || doctor.reachable);
    const QString none = !m_desk->hasClient() ? tr("Not connected.")
        : !connected                          ? tr("The server does not answer.")
        : !lane                               ? tr("Choose a slot in the Slots view first.")
                                              : QString();
    const auto set = [&none](QAction *action, const QString &tip) {
        action->setEnabled(none.isEmpty());
        action->setToolTip(none.isEmpty() ? tip : none);
    };
    const int slot = lane ? lane->slotId : -1;
    set(m_save, tr("Writes what slot %1 holds to a file of the server").arg(slot));
    set(m_restore, tr("Puts a saved prompt back into slot %1").arg(slot));
    set(m_erase, tr("Takes away what slot %1 holds").arg(slot));
}

void ServerDocks::ask(int act, const QString &file)
{
    auto *dialog = new SlotDialog(static_cast<SlotDialog::Act>(act), m_desk->slotsPicture(),
                                  m_slots->lanes()->currentSlot(), file, m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        switch (dialog->act()) {
        case SlotDialog::Act::Save:
            m_desk->saveSlot(dialog->slotId());
            break;
        case SlotDialog::Act::Restore:
            m_desk->restoreSlot(dialog->slotId(), dialog->file(), dialog->consents());
            break;
        case SlotDialog::Act::Erase:
            m_desk->eraseSlot(dialog->slotId(), dialog->consents());
            break;
        case SlotDialog::Act::Delete:
            m_desk->deleteSave(dialog->file(), dialog->consents());
            break;
        }
    });
    dialog->open();
}

void ServerDocks::askSave() { ask(static_cast<int>(SlotDialog::Act::Save), {}); }
void ServerDocks::askRestore(const QString &file) { ask(static_cast<int>(SlotDialog::Act::Restore), file); }
void ServerDocks::askErase() { ask(static_cast<int>(SlotDialog::Act::Erase), {}); }
void ServerDocks::askDelete(const QString &file) { ask(static_cast<int>(SlotDialog::Act::Delete), file); }

void ServerDocks::showTaskInLog(qint64 task)
{
    Q_EMIT raiseRequested(QStringLiteral("log"));
    m_log->showTask(task);
}

} // namespace kerf
