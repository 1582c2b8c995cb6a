// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/timeline/timelineview.h"
#include "ui/views/findpanel.h"
#include "ui/views/profileeditor.h"
#include "ui/window/commandpalette.h"
#include "ui/window/connectiondialog.h"
#include "ui/window/exportdialog.h"
#include "ui/window/layouts.h"
#include "ui/window/mainwindow.h"
#include "ui/window/settingsdialog.h"
#include "ui/window/shell.h"

#include <QDockWidget>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QPixmap>

/// Pictures of what belongs to the window as a whole: profile form in its states, layouts, find, dialogs.
namespace shellshots {

inline void settle(int ms)
{
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < ms)
        QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
}

inline void save(QWidget *widget, const QString &folder, const QString &name)
{
    for (const int ratio : {1, 2}) {
        QPixmap pixmap(widget->size() * ratio);
        pixmap.setDevicePixelRatio(ratio);
        pixmap.fill(Qt::transparent);
        widget->render(&pixmap);
        pixmap.save(QStringLiteral("%1/%2%3.png").arg(folder, name, ratio > 1 ? QStringLiteral("@2x") : QString()));
    }
}

inline void shoot(kerf::MainWindow &window, const QString &folder, const QString &name)
{
    using namespace kerf;
    Shell *shell = window.shell();
    for (const ThemeChoice theme : {ThemeChoice::Light, ThemeChoice::Dark}) {
        window.setTheme(theme);
        const QString tag = QStringLiteral("-%1").arg(themeName(theme));
        const auto put = [&](QWidget *widget, const QString &what) {
            settle(250);
            save(widget, folder, name + QLatin1Char('-') + what + tag);
        };
        shell->layouts()->choose(Layouts::Kind::Inspect);
        shell->layouts()->reset();
        put(&window, QStringLiteral("inspect"));
        ProfileDraft *draft = shell->draft();
        window.raiseDock(QStringLiteral("profile"));
        draft->setValue(QStringLiteral("keep_recent_tokens"), 640);
        draft->endEdit();
        draft->setValue(QStringLiteral("max_prefix_ratio"), 0.5);
        draft->endEdit();
        put(shell->profileEditor(), QStringLiteral("profile-edited"));
        draft->setValue(QStringLiteral("target"), 0.8);
        put(shell->profileEditor(), QStringLiteral("profile-invalid"));
        draft->undoStack()->undo();
        put(&window, QStringLiteral("inspect-edited"));
        draft->revert();
        shell->findField()->setText(QStringLiteral("role:user"));
        settle(400);
        shell->findPanel()->step(1);
        put(&window, QStringLiteral("find"));
        shell->findField()->clear();
        window.dock(QStringLiteral("find"))->hide();
        shell->layouts()->choose(Layouts::Kind::WhatIf);
        shell->layouts()->reset();
        put(&window, QStringLiteral("layout-whatif"));
        shell->layouts()->choose(Layouts::Kind::Operate);
        shell->layouts()->reset();
        put(&window, QStringLiteral("layout-operate"));
        shell->layouts()->choose(Layouts::Kind::Inspect);
        shell->setViewer(true);
        put(&window, QStringLiteral("viewer"));
        shell->setViewer(false);
        {
            CommandPalette palette(window.findChildren<QAction *>(QString(), Qt::FindDirectChildrenOnly), &window);
            palette.show();
            put(&palette, QStringLiteral("commands"));
        }
        {
            ConnectionDialog dialog(ConnectionSpec{ConnectionSpec::Kind::Server, {}, {}, {}, {}}, &window,
                                    [](const ConnectionSpec &, const std::function<void(ProbeAnswer)> &done) {
                                        ProbeAnswer answer;
                                        answer.needsKey = true;
                                        answer.steps << ProbeLine{QStringLiteral("health"), 200, true, {}}
                                                     << ProbeLine{QStringLiteral("props"), 401, false,
                                                                  QStringLiteral("Invalid API Key")};
                                        done(answer);
                                    });
            dialog.show();
            put(&dialog, QStringLiteral("connect"));
            dialog.test();
            put(&dialog, QStringLiteral("connect-401"));
        }
        {
            ExportDialog dialog(shell->exportViews(), QStringLiteral("ring"), true, true, &window);
            dialog.show();
            put(&dialog, QStringLiteral("export"));
        }
        {
            SettingsDialog dialog(AppSettings(), &window);
            dialog.show();
            put(&dialog, QStringLiteral("settings"));
        }
        Exporter::picture(window.timeline(), 2, ThemeChoice::System,
                          shell->exporter()->origin(QStringLiteral("Timeline")))
            .save(QStringLiteral("%1/%2-exported%3.png").arg(folder, name, tag));
    }
}

} // namespace shellshots
