// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/shell.h"

#include "ui/timeline/timelineview.h"
#include "ui/viewmodel/liveview.h"
#include "ui/viewmodel/numbers.h"
#include "ui/viewmodel/privacy.h"
#include "ui/viewmodel/profiledraft.h"
#include "ui/viewmodel/whatif.h"
#include "ui/views/findpanel.h"
#include "ui/views/profileeditor.h"
#include "ui/views/verdictstrip.h"
#include "ui/window/commandpalette.h"
#include "ui/window/connectionstore.h"
#include "ui/window/layouts.h"
#include "ui/window/mainwindow.h"
#include "ui/window/notifier.h"
#include "ui/window/settingsdialog.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMenu>
#include <QMenuBar>
#include <QPrintDialog>
#include <QPrinter>
#include <QToolBar>
#include <QUndoGroup>

namespace kerf {

Shell::Shell(MainWindow *window)
    : QObject(window)
    , m_window(window)
    , m_undo(new QUndoGroup(this))
{
    makeProfile();
    makeUndo();
    makeActions();
    makeFind();
    makeExport();
    makeSettings();
    makeAttach();
}

void Shell::finish()
{
    makeDockActions();
    m_layouts = new Layouts(m_window, m_window->m_docks, this);
    connect(m_layouts, &Layouts::changed, this, [this] {
        m_window->action(QStringLiteral("layout-%1").arg(static_cast<int>(m_layouts->current())))->setChecked(true);
    });
    makeMenus();
    describeDocks();
    if (auto *bar = m_window->findChild<QToolBar *>(QStringLiteral("mainToolBar"))) {
        auto *space = new QWidget;
        space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
        bar->addWidget(space);
        bar->addWidget(m_findField);
    }
    m_window->dock(QStringLiteral("find"))->hide();
    useSettings(m_settings);
    setViewer(false);
}

void Shell::makeFind()
{
    Controller *controller = m_window->controller();
    m_find = new FindPanel(m_window->state(), controller->caller());
    m_window->makeDock(QStringLiteral("find"), tr("Find"), m_find, Qt::RightDockWidgetArea);
    m_findField = new QLineEdit;
    m_findField->setObjectName(QStringLiteral("findField"));
    m_findField->setPlaceholderText(tr("Find episode, token, part…"));
    m_findField->setAccessibleName(tr("Find"));
    m_findField->setToolTip(tr("Text, or #12 episode, @1579 token, c:8 compaction, t:44 task, role:tool, tier:masked"));
    m_findField->setClearButtonEnabled(true);
    m_findField->setMinimumWidth(120);
    m_findField->setMaximumWidth(240);
    m_findField->setMinimumHeight(26);
    m_findField->addAction(themedIcon(QStringLiteral("edit-find")), QLineEdit::LeadingPosition);
    connect(m_findField, &QLineEdit::textChanged, this, [this](const QString &text) {
        m_find->setQuery(text);
        if (!text.isEmpty() && !m_window->dock(QStringLiteral("find"))->isVisible()) {
            m_window->dock(QStringLiteral("find"))->show();
            m_window->dock(QStringLiteral("find"))->raise();
        }
    });
    connect(m_findField, &QLineEdit::returnPressed, m_find, [this] { m_find->step(1); });
    const auto act = [this](const QString &name, const QString &text, const QString &icon, const QKeySequence &key,
                            auto &&slot) {
        connect(m_window->makeAction(name, text, icon, key), &QAction::triggered, this, slot);
    };
    act(QStringLiteral("find"), tr("&Find…"), QStringLiteral("edit-find"), QKeySequence(Qt::CTRL | Qt::Key_F), [this] {
        m_findField->setFocus(Qt::ShortcutFocusReason);
        m_findField->selectAll();
    });
    act(QStringLiteral("findNext"), tr("Find &next"), {}, QKeySequence(Qt::Key_F3), [this] { m_find->step(1); });
    act(QStringLiteral("findPrevious"), tr("Find pre&vious"), {}, QKeySequence(Qt::SHIFT | Qt::Key_F3),
        [this] { m_find->step(-1); });
    connect(m_find, &FindPanel::chosen, this, [this](const FindHit &hit) {
        Selection *selection = m_window->state()->selection();
        switch (hit.kind) {
        case FindHit::Kind::Compaction:
            selection->selectCompaction(hit.id);
            break;
        case FindHit::Kind::Episode:
            showEpisode(hit.id);
            break;
        case FindHit::Kind::Token:
            selection->selectToken(hit.id);
            m_window->timeline()->zoomToPosition(hit.id);
            break;
        case FindHit::Kind::Checkpoint:
            selection->selectCheckpoint(hit.id);
            m_window->timeline()->zoomToPosition(hit.id);
            break;
        }
    });
    connect(m_find, &FindPanel::found, this, [this] {
        QList<FindMark> marks;
        for (const FindHit &hit : m_find->model()->rows())
            marks << FindMark{hit.token, hit.kind == FindHit::Kind::Episode ? hit.id : 0};
        m_window->timeline()->setMarks(marks);
        m_window->setDockDetail(QStringLiteral("find"), m_find->query().isEmpty() ? QString() : m_find->summary());
    });
}

// ---- export ------------------------------------------------------------------------------------------------

void Shell::makeExport()
{
    m_exporter = new Exporter(m_window->state(), m_window->controller()->caller(), this);
    const auto act = [this](const QString &name, const QString &text, const QString &icon, const QKeySequence &key,
                            auto &&slot) {
        QAction *made = m_window->makeAction(name, text, icon, key);
        connect(made, &QAction::triggered, this, slot);
        return made;
    };
    act(QStringLiteral("export"), tr("&Export…"), QStringLiteral("document-export"), QKeySequence(Qt::CTRL | Qt::Key_E),
        [this] { showExport(false); });
    act(QStringLiteral("exportPicture"), tr("Export p&icture…"), QStringLiteral("document-export"),
        QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E), [this] { showExport(true); });
    act(QStringLiteral("printReceipt"), tr("&Print receipt…"), {}, QKeySequence(Qt::CTRL | Qt::Key_P),
        [this] { printReceipt(); });
    act(QStringLiteral("copyJson"), tr("Copy as &JSON"), {}, {}, [this] { copyJson(); });
}

QList<ExportView> Shell::exportViews() const
{
    QList<ExportView> views{{QStringLiteral("timeline"), tr("Timeline"), m_window->timeline()}};
    for (auto it = m_window->m_docks.cbegin(); it != m_window->m_docks.cend(); ++it) {
        if (it.value()->widget())
            views.append({it.key(), it.value()->windowTitle(), it.value()->widget()});
    }
    std::stable_sort(views.begin() + 1, views.end(),
                     [](const ExportView &a, const ExportView &b) { return a.title.localeAwareCompare(b.title) < 0; });
    views.append({QStringLiteral("window"), tr("Whole window"), m_window});
    return views;
}

QString Shell::focusedView() const
{
    const QWidget *focus = QApplication::focusWidget();
    for (auto it = m_window->m_docks.cbegin(); focus && it != m_window->m_docks.cend(); ++it) {
        if (it.value()->isAncestorOf(focus))
            return it.key();
    }
    return QStringLiteral("timeline");
}

void Shell::showExport(bool picture)
{
    auto *dialog =
        new ExportDialog(exportViews(), focusedView(), picture, m_window->state()->data().hasSession, m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        const ExportDialog::Choice choice = dialog->choice();
        const QString session = m_window->state()->data().session.id;
        const QString name = choice.format == ExportDialog::Format::Session ? QStringLiteral("session")
            : choice.format == ExportDialog::Format::Receipt || choice.format == ExportDialog::Format::ReceiptJson
            ? QStringLiteral("receipt")
            : choice.view.name;
        const QString path = QFileDialog::getSaveFileName(
            m_window, tr("Export"),
            QStringLiteral("%1.%2").arg(session.isEmpty() ? name : session + QLatin1Char('-') + name,
                                        ExportDialog::suffix(choice.format)),
            ExportDialog::filter(choice.format));
        if (!path.isEmpty())
            exportTo(choice, path);
    });
    dialog->open();
}

void Shell::exportTo(const ExportDialog::Choice &choice, const QString &path)
{
    const auto finished = [this, path](const Result<void> &result) {
        if (result)
            m_window->m_said->setText(tr("Exported to %1.").arg(path));
        else
            Q_EMIT m_window->controller()->failed(tr("Nothing was exported"), result.error());
    };
    const auto later = [finished](const Result<QString> &result) {
        finished(result ? Result<void>() : Result<void>(std::unexpected(result.error())));
    };
    const PictureOrigin origin = m_exporter->origin(choice.view.title);
    QWidget *view = choice.view.widget;
    using Format = ExportDialog::Format;
    switch (choice.format) {
    case Format::Png:
        if (view)
            finished(Exporter::writePng(view, path, choice.scale, choice.colors, origin));
        break;
    case Format::Svg:
        if (view)
            finished(Exporter::writeSvg(view, path, choice.colors, origin));
        break;
    case Format::Csv:
        if (view)
            finished(Exporter::writeFile(path, Exporter::csv(view).toUtf8()));
        break;
    case Format::Text:
        if (view)
            finished(Exporter::writeFile(path, Exporter::text(view).toUtf8()));
        break;
    case Format::Json:
        m_exporter->writeJson(choice.view.name, path, later);
        break;
    case Format::Receipt:
        m_exporter->receipt([path, finished](const Result<QJsonObject> &result) {
            finished(result ? Exporter::writeFile(path, Exporter::receiptText(*result).toUtf8())
                            : Result<void>(std::unexpected(result.error())));
        });
        break;
    case Format::ReceiptJson:
        m_exporter->receipt([path, finished](const Result<QJsonObject> &result) {
            finished(result ? Exporter::writeFile(path, QJsonDocument(*result).toJson(QJsonDocument::Indented))
                            : Result<void>(std::unexpected(result.error())));
        });
        break;
    case Format::Session:
        m_window->m_said->setText(tr("Writing %1…").arg(path));
        m_exporter->writeSession(path, choice.hashesOnly, later);
        break;
    }
}

void Shell::copyJson()
{
    const QString view = focusedView();
    m_exporter->json(view, [this](const Result<QJsonObject> &result) {
        if (!result) {
            Q_EMIT m_window->controller()->failed(tr("Nothing was copied"), result.error());
            return;
        }
        QApplication::clipboard()->setText(QString::fromUtf8(QJsonDocument(*result).toJson(QJsonDocument::Indented)));
        m_window->m_said->setText(tr("Copied as JSON."));
    });
}

void Shell::printReceipt()
{
    m_exporter->receipt([this](const Result<QJsonObject> &result) {
        if (!result) {
            Q_EMIT m_window->controller()->failed(tr("There is no receipt to print"), result.error());
            return;
        }
        auto printer = std::make_shared<QPrinter>();
        auto *dialog = new QPrintDialog(printer.get(), m_window);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        const QString text = Exporter::receiptText(*result);
        connect(dialog, qOverload<>(&QDialog::accepted), this,
                [this, printer, text] { Exporter::printText(printer.get(), text, m_exporter->origin(tr("Receipt"))); });
        connect(dialog, &QObject::destroyed, this, [printer] {}); // lives as long as its dialog
        dialog->open();
    });
}

// ---- settings, notifications -------------------------------------------------------------------------------

void Shell::makeSettings()
{
    m_settings = AppSettings::load();
    m_notifier = new Notifier(m_window->state(), this);
    connect(m_notifier, &Notifier::opened, this, [this](const Notifier::Note &note) {
        m_window->showNormal();
        m_window->raise();
        m_window->activateWindow();
        if (note.compaction > 0)
            m_window->state()->selection()->selectCompaction(note.compaction);
    });
    QAction *settings = m_window->makeAction(QStringLiteral("settings"), tr("&Settings…"), QStringLiteral("configure"),
                                             QKeySequence(Qt::CTRL | Qt::Key_Comma));
    connect(settings, &QAction::triggered, this, [this] { showSettings(); });
}

void Shell::showSettings()
{
    auto *dialog = new SettingsDialog(m_settings, m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &SettingsDialog::changed, this, [this](const AppSettings &settings) {
        settings.save();
        useSettings(settings);
    });
    const QPointer<SettingsDialog> there(dialog);
    m_window->controller()->request(QStringLiteral("kerf.status"), {}, [there](const Result<QJsonObject> &result) {
        if (!there || !result)
            return;
        const QJsonObject store = result->value(QLatin1String("store")).toObject();
        const QJsonValue bytes = store.value(QLatin1String("bytes"));
        there->setStoreLines(tr("Path: %1\nSize: %2\nSchema: %3\nSessions: %4\nEpisodes: %5")
                                 .arg(store.value(QLatin1String("path")).toString(),
                                      bytes.isDouble()
                                          ? QLocale().formattedDataSize(static_cast<qint64>(bytes.toDouble()))
                                          : tr("not reported"),
                                      store.value(QLatin1String("schema")).toVariant().toString(),
                                      number(result->value(QLatin1String("sessions")).toInt()),
                                      number(result->value(QLatin1String("episodes")).toInt())));
    });
    dialog->open();
}

void Shell::useSettings(const AppSettings &settings)
{
    const bool hid = isTextHidden() != settings.hideText;
    const AppSettings before = std::exchange(m_settings, settings);
    setTextHidden(settings.hideText);
    m_notifier->setSettings(settings);
    if (settings.theme != before.theme) {
        if (const auto theme = themeFromName(settings.theme))
            m_window->setTheme(*theme);
    }
    static const qreal systemSize = QApplication::font().pointSizeF();
    const qreal wanted = settings.fontSize > 0 ? settings.fontSize : systemSize;
    if (wanted > 0 && std::abs(QApplication::font().pointSizeF() - wanted) > 0.01) {
        QFont font = QApplication::font();
        font.setPointSizeF(wanted);
        QApplication::setFont(font);
    }
    if (hid) { // every view shows texts anew
        for (QWidget *each : m_window->findChildren<QWidget *>())
            each->update();
        m_window->state()->update(
            ConsoleState::Everything, [](ConsoleData &) {}, true);
    }
}

// ---- watching a service ------------------------------------------------------------------------------------

void Shell::makeAttach()
{
    Controller *controller = m_window->controller();
    QAction *operate = m_window->makeAction(QStringLiteral("operate"), tr("&Operate"), QStringLiteral("configure"), {},
                                            tr("From here on this console may plan, apply and change things too"));
    connect(operate, &QAction::triggered, this, [this] { setViewer(false); });
    QAction *retry =
        m_window->makeAction(QStringLiteral("retry"), tr("Retry &now"), QStringLiteral("view-refresh"), {});
    connect(retry, &QAction::triggered, this, [controller] {
        // Any call tries to connect; the answer itself is not needed.
        controller->request(QStringLiteral("kerf.status"), {}, [](const Result<QJsonObject> &) {});
    });
    m_lostTimer.setInterval(500);
    connect(&m_lostTimer, &QTimer::timeout, m_window, [this] { m_window->refreshMessages(); });
    connect(m_window->state(), &ConsoleState::changed, this, [this](ConsoleState::Parts parts) {
        if (!(parts & ConsoleState::Link))
            return;
        const bool lost =
            m_window->state()->data().link == LinkState::Disconnected && m_window->controller()->hasClient();
        if (lost && !m_lostTimer.isActive())
            m_lostTimer.start();
        else if (!lost)
            m_lostTimer.stop();
        m_window->action(QStringLiteral("retry"))->setVisible(lost);
    });
    retry->setVisible(false);
}

void Shell::setViewer(bool viewer)
{
    m_viewer = viewer;
    m_window->controller()->setViewer(viewer);
    for (const char *name : {"plan", "apply", "undo", "useCut", "newSession", "calibrate", "saveSlot", "restoreSlot",
                             "eraseSlot", "fold", "unfold", "record", "unpin", "importTranscript", "replay"}) {
        if (QAction *made = m_window->action(QLatin1String(name)))
            made->setVisible(!viewer);
    }
    m_window->timeline()->pinAction()->setVisible(!viewer);
    m_window->action(QStringLiteral("operate"))->setVisible(viewer);
    if (auto *bar = m_window->findChild<QToolBar *>(QStringLiteral("mainToolBar"))) {
        QAction *operate = m_window->action(QStringLiteral("operate"));
        if (!bar->actions().contains(operate))
            bar->insertAction(m_window->action(QStringLiteral("pause")), operate);
    }
    m_window->m_profileBox->setEnabled(!viewer && m_draft->lockedBy().isEmpty());
    m_editor->setViewer(viewer);
    m_window->refreshTitle();
}

void Shell::makeUndo()
{
    m_undo->addStack(m_draft->undoStack());
    m_undo->addStack(m_window->whatIf()->undoStack());
    m_undo->setActiveStack(m_draft->undoStack());
    QAction *undo = m_window->makeAction(QStringLiteral("editUndo"), tr("&Undo"), QStringLiteral("edit-undo"),
                                         QKeySequence(Qt::CTRL | Qt::Key_Z));
    QAction *redo = m_window->makeAction(QStringLiteral("editRedo"), tr("&Redo"), QStringLiteral("edit-redo"),
                                         QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z));
    connect(undo, &QAction::triggered, m_undo, &QUndoGroup::undo);
    connect(redo, &QAction::triggered, m_undo, &QUndoGroup::redo);
    const auto refresh = [this, undo, redo] {
        undo->setEnabled(m_undo->canUndo());
        redo->setEnabled(m_undo->canRedo());
        undo->setText(m_undo->undoText().isEmpty() ? tr("&Undo") : tr("&Undo: %1").arg(m_undo->undoText()));
        redo->setText(m_undo->redoText().isEmpty() ? tr("&Redo") : tr("&Redo: %1").arg(m_undo->redoText()));
    };
    connect(m_undo, &QUndoGroup::indexChanged, this, refresh);
    connect(m_undo, &QUndoGroup::activeStackChanged, this, refresh);
    connect(m_undo, &QUndoGroup::canUndoChanged, this, refresh);
    connect(m_undo, &QUndoGroup::canRedoChanged, this, refresh);
    refresh();
    // What was changed last is what Undo means; where the focus is counts more.
    for (QUndoStack *stack : m_undo->stacks())
        connect(stack, &QUndoStack::indexChanged, this, [this, stack] { m_undo->setActiveStack(stack); });
    connect(m_window->whatIf(), &WhatIf::activeChanged, this, [this](bool active) {
        m_undo->setActiveStack(active ? m_window->whatIf()->undoStack() : m_draft->undoStack());
    });
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget *, QWidget *now) { followFocus(now); });
}

void Shell::followFocus(QWidget *now)
{
    if (now && m_editor->isAncestorOf(now))
        m_undo->setActiveStack(m_draft->undoStack());
    else if (m_window->whatIf()->isActive() && now && m_window->isAncestorOf(now))
        m_undo->setActiveStack(m_window->whatIf()->undoStack());
}

void Shell::makeActions()
{
    const auto on = [this](QAction *made, auto &&slot) {
        connect(made, &QAction::triggered, this, slot);
        return made;
    };
    auto *layouts = new QActionGroup(this);
    for (const Layouts::Kind kind : Layouts::kAll) {
        const int number = static_cast<int>(kind);
        QAction *made = on(m_window->makeAction(QStringLiteral("layout-%1").arg(number), Layouts::title(kind), {},
                                                QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + number))),
                           [this, kind] { m_layouts->choose(kind); });
        made->setCheckable(true);
        layouts->addAction(made);
    }
    on(m_window->makeAction(QStringLiteral("commands"), tr("&Run command…"), QStringLiteral("go-jump"),
                            QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P), tr("Every command by name")),
       [this] {
           auto *palette = new CommandPalette(allActions(), m_window);
           palette->setAttribute(Qt::WA_DeleteOnClose);
           palette->move(m_window->mapToGlobal(QPoint((m_window->width() - palette->width()) / 2, 80)));
           palette->open();
       });
    on(m_window->makeAction(QStringLiteral("goEpisode"), tr("&Episode…"), QStringLiteral("go-jump"),
                            QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_G)),
       [this] {
           const QList<EpisodeValue> &episodes = m_window->state()->data().episodes;
           if (episodes.isEmpty())
               return;
           bool ok = false;
           const int seq = QInputDialog::getInt(
               m_window, tr("Go to episode"),
               tr("Number, %1 to %2").arg(number(episodes.first().seq), number(episodes.last().seq)),
               m_window->state()->selection()->episodeSeq().value_or(episodes.last().seq), episodes.first().seq,
               episodes.last().seq, 1, &ok);
           if (ok)
               showEpisode(seq);
       });
    on(m_window->makeAction(QStringLiteral("switchSession"), tr("S&witch…"), {}, {}, tr("Chooses another session")),
       [this] {
           m_window->m_sessionBox->setFocus();
           m_window->m_sessionBox->showPopup();
       });
    on(m_window->makeAction(QStringLiteral("importTranscript"), tr("&Import transcript…"),
                            QStringLiteral("document-open"), {}, tr("Makes a session of a recorded conversation")),
       [this] {
           const QString path =
               QFileDialog::getOpenFileName(m_window, tr("Import a transcript"), QString(),
                                            tr("Transcripts (*.jsonl *.json *.md *.txt *.log);;All files (*)"));
           if (!path.isEmpty())
               importTranscript(path);
       });
    on(m_window->makeAction(QStringLiteral("copy"), tr("&Copy"), QStringLiteral("edit-copy"), QKeySequence::Copy),
       [this] {
           // Fields and texts copy what is selected in them; a view copies itself.
           QWidget *focus = QApplication::focusWidget();
           if (focus && focus->metaObject()->indexOfSlot("copy()") >= 0)
               QMetaObject::invokeMethod(focus, "copy");
           else
               m_window->action(QStringLiteral("copyText"))->trigger();
       });
}

/// Shows an episode wherever it is: in the prompt by its place, else by its text.
void Shell::showEpisode(int seq)
{
    m_window->state()->selection()->selectEpisode(seq);
    for (const BlockValue &block : m_window->state()->picture().blocks) {
        if (block.seq == seq) {
            m_window->timeline()->zoomToPosition(block.range.begin);
            return;
        }
    }
    m_window->m_said->setText(tr("Episode %1 is not in the prompt.").arg(number(seq)));
}

void Shell::importTranscript(const QString &path)
{
    m_window->m_said->setText(tr("Reading %1…").arg(QFileInfo(path).fileName()));
    m_window->controller()->request(
        QStringLiteral("transcript.import"), {{QStringLiteral("path"), QFileInfo(path).absoluteFilePath()}},
        [this, path](const Result<QJsonObject> &result) {
            if (!result) {
                m_window->m_said->setText(QString());
                Q_EMIT m_window->controller()->failed(tr("%1 was not imported").arg(QFileInfo(path).fileName()),
                                                      result.error());
                return;
            }
            const auto skipped = result->value(QLatin1String("skipped")).toArray().size();
            QString text = tr("%n episode(s) imported", nullptr, result->value(QLatin1String("episodes")).toInt());
            if (skipped > 0)
                text += tr(", %n line(s) skipped", nullptr, static_cast<int>(skipped));
            m_window->m_said->setText(text);
            m_window->controller()->openSession(result->value(QLatin1String("session_id")).toString());
            m_window->controller()->refresh();
        });
}

QList<QAction *> Shell::allActions() const
{
    QList<QAction *> all = m_window->m_actions.values();
    TimelineView *timeline = m_window->timeline();
    all += timeline->zoomActions() + timeline->stepActions() + timeline->laneActions();
    all << timeline->pinAction();
    return all;
}

/// A "go to" of every dock; the first nine of the page's order have a key.
void Shell::makeDockActions()
{
    const QStringList order{QStringLiteral("ring"),        QStringLiteral("checkpoints"), QStringLiteral("evidence"),
                            QStringLiteral("compactions"), QStringLiteral("receipt"),     QStringLiteral("prefill"),
                            QStringLiteral("events"),      QStringLiteral("prefix"),      QStringLiteral("profile")};
    for (auto it = m_window->m_docks.cbegin(); it != m_window->m_docks.cend(); ++it) {
        const QString name = it.key();
        if (m_window->action(QStringLiteral("dock-%1").arg(name)))
            continue;
        const qsizetype place = order.indexOf(name);
        QAction *go = m_window->makeAction(QStringLiteral("dock-%1").arg(name), it.value()->windowTitle(), {},
                                           place >= 0 ? QKeySequence(Qt::ALT | static_cast<Qt::Key>(Qt::Key_1 + place))
                                                      : QKeySequence(),
                                           tr("Go to this dock; again hides it"));
        connect(go, &QAction::triggered, this, [this, name] {
            QDockWidget *wanted = m_window->dock(name);
            QWidget *focus = QApplication::focusWidget();
            if (wanted->isVisible() && wanted->widget() && focus
                && (wanted->widget() == focus || wanted->widget()->isAncestorOf(focus)))
                wanted->hide();
            else
                m_window->raiseDock(name);
        });
    }
}

/// Names that have no action (yet) are left out: no entry is dead.
void Shell::makeMenus()
{
    QMenuBar *bar = m_window->menuBar();
    bar->clear();
    const auto add = [this](QMenu *menu, std::initializer_list<const char *> names) {
        for (const char *name : names) {
            if (name[0] == '-') {
                if (!menu->isEmpty() && !menu->actions().constLast()->isSeparator())
                    menu->addSeparator();
            } else if (QAction *made = m_window->action(QLatin1String(name))) {
                menu->addAction(made);
            }
        }
    };
    QMenu *file = bar->addMenu(tr("&File"));
    add(file, {"connect", "demo", "importTranscript", "importLog", "-"});
    m_recentMenu = file->addMenu(tr("R&ecent"));
    connect(m_recentMenu, &QMenu::aboutToShow, this, &Shell::fillRecent);
    fillRecent();
    add(file, {"-", "export", "exportPicture", "exportSession", "printReceipt", "-", "disconnect", "-", "quit"});
    add(bar->addMenu(tr("&Edit")),
        {"editUndo", "editRedo", "-", "copy", "copyText", "copyJson", "-", "find", "findNext", "findPrevious", "-",
         "settings"});
    QMenu *view = bar->addMenu(tr("&View"));
    QMenu *layout = view->addMenu(tr("La&yout"));
    add(layout, {"layout-0", "layout-1", "layout-2", "-", "resetLayout"});
    QMenu *docks = view->addMenu(tr("&Docks"));
    for (const char *name : {"ring", "checkpoints", "evidence", "compactions", "receipt", "profile", "prefill", "cuts",
                             "legalcuts", "whatif", "slots", "events", "prefix", "log", "find"}) {
        if (QAction *made = m_window->action(QStringLiteral("dock-%1").arg(QLatin1String(name))))
            docks->addAction(made);
    }
    QMenu *lanes = view->addMenu(tr("L&anes"));
    lanes->addActions(m_window->timeline()->laneActions());
    for (QToolBar *tools : m_window->findChildren<QToolBar *>()) {
        QAction *toggle = tools->toggleViewAction();
        toggle->setText(tr("&Toolbar"));
        view->addAction(toggle);
    }
    view->addSeparator();
    view->addActions(m_window->timeline()->zoomActions());
    view->addSeparator();
    add(view, {"theme-system", "theme-light", "theme-dark", "-", "fullScreen", "pause"});
    QMenu *go = bar->addMenu(tr("&Go"));
    add(go,
        {"goToken", "goEpisode", "-", "back", "forward", "-", "previousCompaction", "nextCompaction", "present", "-",
         "nextProblem", "previousProblem"});
    go->addSeparator();
    go->addActions(m_window->timeline()->stepActions());
    QMenu *session = bar->addMenu(tr("&Session"));
    add(session, {"newSession", "switchSession", "-"});
    session->addAction(m_window->timeline()->pinAction());
    add(session, {"unpin", "-", "fold", "unfold", "-", "record", "verifyStore"});
    add(bar->addMenu(tr("Se&rver")),
        {"operate", "-", "refresh", "probe", "doctor", "calibrate", "-", "saveSlot", "restoreSlot", "eraseSlot", "-",
         "attachLog", "disconnect"});
    add(bar->addMenu(tr("&Cut")), {"plan", "whatIf", "useCut", "-", "apply", "undo"});
    add(bar->addMenu(tr("&Tools")), {"commands", "-", "replay", "usageCheck"});
    add(bar->addMenu(tr("&Help")), {"manual", "keyboard", "whatsThis", "-", "about"});
}

void Shell::fillRecent()
{
    m_recentMenu->clear();
    const QList<SavedConnection> recent = ConnectionStore::recent();
    for (const SavedConnection &each : recent) {
        QAction *made = m_recentMenu->addAction(each.title());
        connect(made, &QAction::triggered, this, [this, each] { m_window->openSaved(each); });
    }
    m_recentMenu->setEnabled(!recent.isEmpty() && m_window->m_opener);
}

void Shell::describeDocks()
{
    const std::pair<const char *, QString> texts[] = {
        {"ring",
         tr("The checkpoint ring: the prompt as a circle, token 0 at the top. Solid: reused. Striped: the same as "
            "before, computed again. Thin hatch: evicted. Heads outside are checkpoints; a cut is served by the "
            "nearest "
            "one at or below it.")},
        {"checkpoints",
         tr("Every checkpoint of the slot and what this cut does to it: used, erased, or below the tolerance.")},
        {"evidence", tr("What is known of this server and on what evidence, and each step of the probe.")},
        {"compactions", tr("Every applied cut with what was promised and what the server then did.")},
        {"receipt", tr("One compaction in full: what was cut, what was predicted, what was measured.")},
        {"prefill", tr("Reused and prefilled tokens of each compaction, with the measured time. Hollow: predicted.")},
        {"cuts", tr("Every legal cut of this prompt: what it costs against the window it leaves.")},
        {"legalcuts", tr("The legal cuts as a table. Choosing one tries it; nothing is sent.")},
        {"whatif", tr("The cut that is tried against the plan, value by value.")},
        {"slots", tr("What each slot did over time, and what the server's prompt cache holds.")},
        {"events", tr("What happened, in order. F9 pauses.")},
        {"prefix", tr("Token by token: what the slot holds against what would be sent next, and where they part.")},
        {"log", tr("The server's own log, and beside it how Kerf reads it.")},
    };
    for (const auto &[name, text] : texts) {
        QDockWidget *dock = m_window->dock(QLatin1String(name));
        if (dock && dock->widget() && dock->widget()->whatsThis().isEmpty())
            dock->widget()->setWhatsThis(text);
    }
    m_window->timeline()->setWhatsThis(tr(
        "The prompt from left to right, lane by lane: checkpoints, what the slot holds, the episodes, where they go, "
        "what is sent next, and what a cut at each place would cost. Ctrl and wheel zooms, drag selects."));
    m_window->m_strip->setWhatsThis(
        tr("The verdict on the cut that is shown: in words, then the reason, then the numbers."));
    m_window->messages()->setWhatsThis(
        tr("What has to be said now, with one next step. The most serious comes first."));
}

void Shell::makeProfile()
{
    Controller *controller = m_window->controller();
    ConsoleState *state = m_window->state();
    m_draft = new ProfileDraft(this);
    m_editor = new ProfileEditor(m_draft, controller->caller());
    QDockWidget *dock = m_window->makeDock(QStringLiteral("profile"), tr("Profile"), m_editor, Qt::RightDockWidgetArea);
    connect(m_editor, &ProfileEditor::said, controller, &Controller::said);
    connect(m_editor, &ProfileEditor::failed, controller, &Controller::failed);
    connect(controller, &Controller::profileChanged, this,
            [this](const QString &by) { m_draft->noteChange(by, QDateTime::currentDateTimeUtc()); });
    const auto title = [this] {
        const int changed = m_draft->changedCount();
        QString detail = m_draft->profile();
        if (changed > 0)
            detail = tr("%1, %n value(s) changed", nullptr, changed).arg(detail);
        m_window->setDockDetail(QStringLiteral("profile"), detail);
    };
    connect(m_draft, &ProfileDraft::changed, this, title);
    // An edit must not be lost because nobody looked: the draft follows even while the dock is hidden.
    connect(state, &ConsoleState::changed, this, [this, state](ConsoleState::Parts parts) {
        const ConsoleData &data = state->data();
        if (parts & ConsoleState::Profile && !data.profile.wire.isEmpty())
            m_draft->setSaved(data.profile.wire.value(QLatin1String("session_id")).toString(), data.profile.wire);
    });
    new LiveView(state, m_editor, [this, state](ConsoleState::Parts) {
        const ConsoleData &data = state->data();
        if (!data.hasSession)
            m_editor->clearSubject(tr("No session is open."));
        else if (state->picture().disconnected)
            m_editor->clearSubject(tr("No preview: the server does not answer."));
        else
            m_editor->setSubject(data.session.id, data.session.revision, data.slotChoice, data.doctor.simulated);
    });
    dock->setMinimumWidth(220);
}

} // namespace kerf
