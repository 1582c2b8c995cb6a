// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/views/checkpointsview.h"
#include "ui/views/eventsview.h"
#include "ui/views/evidenceview.h"
#include "ui/views/serverlogview.h"
#include "ui/views/slotlanes.h"
#include "ui/views/slotsview.h"
#include "ui/window/mainwindow.h"
#include "ui/window/serverdesk.h"
#include "ui/window/serverdocks.h"
#include "ui/window/slotdialog.h"

#include <QDockWidget>

#include <functional>

namespace kerf {

/// The pages about the server, each raised, at the size of its dock and again as large as a screen that is left open.
/// `take` saves a picture under a name.
inline void shootServerPages(MainWindow &window, const std::function<void(int)> &settle,
                             const std::function<void(QWidget *, const QString &)> &take)
{
    ServerDocks *docks = window.serverDocks();
    const std::pair<const char *, QWidget *> pages[] = {{"slots", docks->slotsPage()},
                                                        {"log", docks->logPage()},
                                                        {"events", docks->eventsPage()},
                                                        {"evidence", docks->evidencePage()},
                                                        {"checkpoints", docks->checkpointsPage()}};
    for (const auto &[name, page] : pages) {
        const QString dock = QString::fromLatin1(name);
        window.raiseDock(dock);
        settle(700);
        take(page, dock);
        QDockWidget *frame = window.dock(dock);
        const bool floated = frame->isFloating();
        frame->setFloating(true);
        frame->resize(1000, 420);
        settle(700);
        take(page, dock + QStringLiteral("-large"));
        frame->setFloating(floated);
        settle(100);
    }
    SlotDialog dialog(SlotDialog::Act::Erase, docks->desk()->slotsPicture(), docks->slotsPage()->lanes()->currentSlot(),
                      {}, &window);
    dialog.show();
    settle(150);
    take(&dialog, QStringLiteral("erase"));
}

} // namespace kerf
