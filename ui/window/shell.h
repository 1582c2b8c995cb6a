// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/caller.h"
#include "ui/window/appsettings.h"
#include "ui/window/exportdialog.h"

#include <QObject>
#include <QTimer>

class QLineEdit;
class QMenu;
class QUndoGroup;

namespace kerf {

class FindPanel;
class Layouts;
class MainWindow;
class Notifier;
class ProfileDraft;
class ProfileEditor;

/// What belongs to the window as a whole and to no view: profile dock, layouts, undo, commands, export, find,
/// settings. Makes its actions and docks in the window, before its menus are made.
class Shell : public QObject
{
    Q_OBJECT
public:
    explicit Shell(MainWindow *window);
    /// After every dock and action of the window is made: menus, layouts, what belongs to all docks.
    void finish();

    Layouts *layouts() const { return m_layouts; }

    ProfileDraft *draft() const { return m_draft; }
    ProfileEditor *profileEditor() const { return m_editor; }
    QUndoGroup *undoGroup() const { return m_undo; }
    Exporter *exporter() const { return m_exporter; }
    FindPanel *findPanel() const { return m_find; }
    QLineEdit *findField() const { return m_findField; }
    Notifier *notifier() const { return m_notifier; }

    /// Attached to a service the console only watches until Operate is chosen: acts are hidden, not greyed.
    void setViewer(bool viewer);
    bool isViewer() const { return m_viewer; }
    const AppSettings &settings() const { return m_settings; }
    void useSettings(const AppSettings &settings); ///< at once, everywhere
    QList<ExportView> exportViews() const;
    void exportTo(const ExportDialog::Choice &choice, const QString &path);
    QString focusedView() const; ///< name of the view with the focus; "timeline" if none

private:
    void makeProfile();
    void makeFind();
    void makeExport();
    void makeSettings();
    void makeAttach();
    void showExport(bool picture);
    void copyJson();
    void printReceipt();
    void showSettings();
    void makeUndo();
    void makeActions();
    void makeDockActions();
    void makeMenus();
    void describeDocks();
    void fillRecent();
    void showEpisode(int seq);
    void importTranscript(const QString &path);
    void followFocus(QWidget *now);
    QList<QAction *> allActions() const;

    MainWindow *m_window;
    ProfileDraft *m_draft = nullptr;
    ProfileEditor *m_editor = nullptr;
    QUndoGroup *m_undo = nullptr;
    Layouts *m_layouts = nullptr;
    QMenu *m_recentMenu = nullptr;
    Exporter *m_exporter = nullptr;
    FindPanel *m_find = nullptr;
    QLineEdit *m_findField = nullptr;
    Notifier *m_notifier = nullptr;
    AppSettings m_settings;
    bool m_viewer = false;
    QTimer m_lostTimer; ///< while the service is lost: the message counts down
};

} // namespace kerf
