// kerf-test: link=kerf_ui
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/gallery/shellshots.h"
#include "tests/unit/ui_sample.h"
#include "tests/unit/ui_scriptedclient.h"
#include "ui/ring/checkpointring.h"
#include "ui/timeline/timelineview.h"
#include "ui/viewmodel/privacy.h"
#include "ui/views/findpanel.h"
#include "ui/views/profileeditor.h"
#include "ui/views/retainedprefixview.h"
#include "ui/window/commandpalette.h"
#include "ui/window/connectiondialog.h"
#include "ui/window/layouts.h"
#include "ui/window/mainwindow.h"
#include "ui/window/notifier.h"
#include "ui/window/settingsdialog.h"
#include "ui/window/shell.h"

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QPrinter>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStandardPaths>
#include <QSvgRenderer>
#include <QTableView>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QToolBar>
#include <QtTest>
#include <QUndoGroup>

using namespace kerf;

namespace {

/// A keyring in memory.
class TestRing : public KeyRing
{
public:
    void write(const QString &id, const QString &key, std::function<void(const QString &)> done) override
    {
        if (problem.isEmpty())
            keys.insert(id, key);
        done(problem);
    }
    void read(const QString &id, std::function<void(const QString &, const QString &)> done) override
    {
        done(keys.value(id), keys.contains(id) ? QString() : QStringLiteral("no key"));
    }
    void remove(const QString &id) override { keys.remove(id); }
    QMap<QString, QString> keys;
    QString problem;
};

} // namespace

class ShellTest : public QObject
{
    Q_OBJECT

    static std::shared_ptr<ScriptedClient> script()
    {
        auto client = std::make_shared<ScriptedClient>();
        client->give(QStringLiteral("server.doctor"), uisample::doctor());
        client->give(QStringLiteral("server.slots"), uisample::slotList());
        client->give(QStringLiteral("session.get"), uisample::session());
        client->give(QStringLiteral("session.list"),
                     uisample::json(R"({"sessions":[{"session_id":"port-scheduler","title":"port-scheduler",
            "episodes":26,"live_tokens":3216,"revision":61,"turn":40,"updated_at":"2026-11-30T12:00:00Z"}]})"));
        client->give(QStringLiteral("session.episodes"), uisample::episodes());
        client->give(QStringLiteral("context.compactions"), uisample::compactions());
        client->give(QStringLiteral("context.receipt"), uisample::receipt());
        client->give(QStringLiteral("context.plan_eviction"), uisample::plan());
        client->give(QStringLiteral("profile.get"),
                     uisample::json(R"({"name":"cache-first","base":"cache-first","session_id":"port-scheduler",
            "shipped":["cache-first","window-first"],"saved":[],"environment":null,
            "knobs":{"trigger":0.75,"target":0.55,"keep_recent_tokens":4096},
            "shipped_knobs":{"trigger":0.75,"target":0.55,"keep_recent_tokens":4096},"origin":{}})"));
        client->give(QStringLiteral("events.subscribe"), {});
        return client;
    }

    struct Open {
        MainWindow window;
        std::shared_ptr<ScriptedClient> client = script();
        Open()
        {
            window.setTheme(ThemeChoice::Light);
            window.resize(1400, 900);
            window.show();
            window.controller()->setClient(client);
        }
        bool ready()
        {
            const bool there = QTest::qWaitFor(
                [this] {
                    const ConsoleData &data = window.state()->data();
                    return data.compactions.size() == 8 && data.episodes.size() == 26 && data.session.revision == 61
                        && data.doctor.known && data.receipt && !data.slotList.isEmpty()
                        && window.shell()->draft()->isKnown();
                },
                30000);
            window.state()->flush();
            window.activateWindow();
            return there && QTest::qWaitForWindowActive(&window);
        }
        bool shows(const char *name) { return !window.dock(QLatin1String(name))->isHidden(); }
        QString said() { return window.findChild<QLabel *>(QStringLiteral("said"))->text(); }
    };

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("kerf-test"));
        QCoreApplication::setApplicationName(QStringLiteral("kerf-test-shell"));
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        QSettings().clear();
    }
    void init()
    {
        QSettings().clear();
        setTextHidden(false);
    }

    // ---- layouts, menus, commands --------------------------------------------------------------------------

    void layoutsRememberTheirDocks()
    {
        {
            Open open;
            QVERIFY(open.ready());
            QVERIFY(open.shows("ring") && open.shows("receipt") && open.shows("profile"));
            QTest::keyClick(&open.window, Qt::Key_3, Qt::ControlModifier);
            QCOMPARE(open.window.shell()->layouts()->current(), Layouts::Kind::Operate);
            QVERIFY(open.shows("events") && open.shows("compactions") && open.shows("profile"));
            QVERIFY(!open.shows("ring") && !open.shows("receipt"));
            open.window.dock(QStringLiteral("events"))->hide();
            QTest::keyClick(&open.window, Qt::Key_1, Qt::ControlModifier);
            QVERIFY(open.shows("ring") && open.shows("receipt"));
            open.window.dock(QStringLiteral("receipt"))->hide();
            QTest::keyClick(&open.window, Qt::Key_3, Qt::ControlModifier);
            QVERIFY(!open.shows("events") && open.shows("compactions"));
            open.window.close();
        }
        Open again; // the next run begins where this one was
        QVERIFY(again.ready());
        QCOMPARE(again.window.shell()->layouts()->current(), Layouts::Kind::Operate);
        QVERIFY(!again.shows("events"));
        again.window.action(QStringLiteral("resetLayout"))->trigger();
        QVERIFY(again.shows("events"));
        again.window.action(QStringLiteral("layout-0"))->trigger();
        QVERIFY(!again.shows("receipt"));
        QVERIFY(again.window.action(QStringLiteral("layout-0"))->isChecked());
    }

    void altNumbersGoToDocksAndHideThem()
    {
        Open open;
        QVERIFY(open.ready());
        QTest::keyClick(&open.window, Qt::Key_9, Qt::AltModifier);
        QDockWidget *profile = open.window.dock(QStringLiteral("profile"));
        QVERIFY(profile->isVisible());
        QTRY_VERIFY(profile->isAncestorOf(QApplication::focusWidget()));
        QTest::keyClick(&open.window, Qt::Key_9, Qt::AltModifier);
        QVERIFY(profile->isHidden());
    }

    void noEntryIsDead()
    {
        Open open;
        QVERIFY(open.ready());
        int entries = 0;
        std::function<void(QMenu *)> look = [&](QMenu *menu) {
            for (QAction *action : menu->actions()) {
                if (action->isSeparator())
                    continue;
                if (action->menu()) {
                    look(action->menu());
                    continue;
                }
                ++entries;
                QVERIFY2(!action->text().isEmpty(), "an entry without words");
                // Something listens: triggered(), or toggled() of a dock or lane.
                class Peek : public QObject
                {
                public:
                    static int count(const QObject *object, const char *signal)
                    {
                        return static_cast<const Peek *>(object)->receivers(signal);
                    }
                };
                QVERIFY2(Peek::count(action, SIGNAL(triggered(bool))) + Peek::count(action, SIGNAL(toggled(bool))) > 0
                             || action->actionGroup(),
                         qPrintable(action->text()));
            }
        };
        for (QAction *top : open.window.menuBar()->actions()) {
            QVERIFY(top->menu());
            QVERIFY2(!top->menu()->actions().isEmpty(), qPrintable(top->text()));
            look(top->menu());
        }
        QVERIFY2(entries > 45, qPrintable(QString::number(entries)));
    }

    void commandPalette()
    {
        Open open;
        QVERIFY(open.ready());
        QTest::keyClick(&open.window, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
        auto *palette = open.window.findChild<CommandPalette *>();
        QVERIFY(palette && palette->isVisible());
        const QAbstractItemModelTester tester(palette->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
        auto *query = palette->findChild<QLineEdit *>(QStringLiteral("commandQuery"));
        QVERIFY(palette->model()->rowCount() > 40);
        QTest::keyClicks(query, QStringLiteral("full"));
        QCOMPARE(palette->model()->index(0).data().toString(), QStringLiteral("Full screen"));
        QCOMPARE(palette->model()->index(0).data(CommandModel::ShortcutRole).toString(), QStringLiteral("F11"));
        query->clear();
        QTest::keyClicks(query, QStringLiteral("prvcmp")); // letters in order are enough
        QCOMPARE(palette->model()->index(0).data().toString(), QStringLiteral("Previous compaction"));
        QTest::keyClick(query, Qt::Key_Return);
        QTRY_COMPARE(open.window.state()->selection()->compaction(), 8);
        QTRY_VERIFY(!open.window.findChild<CommandPalette *>());
        QCOMPARE(CommandModel::score(QStringLiteral("Plan"), QStringLiteral("xyz")), 0);
    }

    void keyboardTableNamesWhatTheMenusHave()
    {
        Open open;
        const QString table = open.window.keyboardTable();
        for (const char *key : {"Ctrl+Shift+P", "Ctrl+1", "Alt+9", "F11", "Ctrl+F", "F3", "Ctrl+E", "Ctrl+,", "Ctrl+Z"})
            QVERIFY2(table.contains(QLatin1String("<b>") + QLatin1String(key)), key);
    }

    void everyViewSaysWhatItIs()
    {
        Open open;
        for (QDockWidget *dock : open.window.findChildren<QDockWidget *>())
            QVERIFY2(!dock->widget()->whatsThis().isEmpty(), qPrintable(dock->objectName()));
        QVERIFY(!open.window.timeline()->whatsThis().isEmpty());
    }

    void undoGoesThroughOneGroup()
    {
        Open open;
        QVERIFY(open.ready());
        QAction *undo = open.window.action(QStringLiteral("editUndo"));
        QVERIFY(!undo->isEnabled());
        ProfileDraft *draft = open.window.shell()->draft();
        auto *field =
            qobject_cast<QDoubleSpinBox *>(open.window.shell()->profileEditor()->field(QStringLiteral("target")));
        open.window.raiseDock(QStringLiteral("profile"));
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, QStringLiteral("40"));
        QCOMPARE(draft->values().value(QLatin1String("target")).toDouble(), 0.4);
        QVERIFY(undo->isEnabled());
        QVERIFY2(undo->text().contains(QLatin1String("Target")), qPrintable(undo->text()));
        // Ctrl+Z in the field is the window's undo, one step for the whole edit.
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(draft->values().value(QLatin1String("target")).toDouble(), 0.55);
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(draft->values().value(QLatin1String("target")).toDouble(), 0.4);
    }

    /// For people: KERF_SHOTS=FOLDER keeps the pictures.
    void canBeDrawnInEveryState()
    {
        Open open;
        QVERIFY(open.ready());
        QTemporaryDir folder;
        shellshots::shoot(open.window, qEnvironmentVariable("KERF_SHOTS", folder.path()), QStringLiteral("shell"));
        QVERIFY(!open.window.shell()->draft()->isDirty());
    }

    // ---- find ----------------------------------------------------------------------------------------------

    void readsTheFindField()
    {
        FindQuery query = parseFind(QStringLiteral("#12"));
        QCOMPARE(query.episode, 12);
        query = parseFind(QStringLiteral("@1,579"));
        QCOMPARE(query.token, 1579);
        query = parseFind(QStringLiteral("c:8 t:44"));
        QCOMPARE(query.compaction, 8);
        QCOMPARE(query.task, 44);
        query = parseFind(QStringLiteral("role:to tier:masked retry limit"));
        QCOMPARE(query.role, QStringLiteral("tool"));
        QCOMPARE(query.tier, QStringLiteral("masked"));
        QCOMPARE(query.text, QStringLiteral("retry limit"));
        QVERIFY(query.problem.isEmpty());
        query = parseFind(QStringLiteral("\"role:tool\" #x"));
        QVERIFY(!query.role);
        QCOMPARE(query.text, QStringLiteral("role:tool #x"));
        QVERIFY(parseFind(QStringLiteral("role:king")).problem.contains(QLatin1String("assistant")));
        QVERIFY(!parseFind(QStringLiteral("c:x")).problem.isEmpty());
        QVERIFY(parseFind(QStringLiteral("  ")).isEmpty());
    }

    void finds()
    {
        Open open;
        QVERIFY(open.ready());
        open.client->give(QStringLiteral("memory.recall"),
                          uisample::json(R"({"results":[{"id":12,"kind":"episode","score":1,"text":"retry limit at 3",
            "token_cost":9,"tier":"live","seq":12},{"id":14,"kind":"episode","score":1,"text":"the retry loop",
            "token_cost":9,"tier":"live","seq":14}]})"));
        FindPanel *panel = open.window.shell()->findPanel();
        const QAbstractItemModelTester tester(panel->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
        QTest::keyClick(&open.window, Qt::Key_F, Qt::ControlModifier);
        QLineEdit *field = open.window.shell()->findField();
        QTRY_COMPARE(QApplication::focusWidget(), field);
        QTest::keyClicks(field, QStringLiteral("retry"));
        QTRY_COMPARE(panel->model()->rowCount(), 2);
        QCOMPARE(open.client->count(QStringLiteral("memory.recall")), 1); // asked once, not at every key
        QVERIFY(open.shows("find"));
        QCOMPARE(panel->model()->index(0, FindModel::Text).data().toString(), QStringLiteral("retry limit at 3"));
        QCOMPARE(open.window.timeline()->marks().size(), 2);
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(open.window.state()->selection()->episodeSeq(), 12);
        QTest::keyClick(&open.window, Qt::Key_F3);
        QCOMPARE(open.window.state()->selection()->episodeSeq(), 14);
        QTest::keyClick(&open.window, Qt::Key_F3); // and round again
        QCOMPARE(open.window.state()->selection()->episodeSeq(), 12);
        QTest::keyClick(&open.window, Qt::Key_F3, Qt::ShiftModifier);
        QCOMPARE(open.window.state()->selection()->episodeSeq(), 14);
        QCOMPARE(panel->summary(), QStringLiteral("2 of 2"));
        field->setText(QStringLiteral("role:tool"));
        QCOMPARE(panel->model()->rowCount(), 3);
        field->setText(QStringLiteral("c:5"));
        panel->step(1);
        QCOMPARE(open.window.state()->selection()->compaction(), 5);
        field->setText(QStringLiteral("@1579"));
        panel->step(1);
        QCOMPARE(open.window.state()->selection()->token(), 1579);
        field->setText(QStringLiteral("t:12"));
        QVERIFY(panel->model()->rowCount() >= 1);
        field->setText(QStringLiteral("role:king"));
        QVERIFY(panel->summary().contains(QLatin1String("assistant")));
        field->clear();
        QCOMPARE(panel->model()->rowCount(), 0);
        QVERIFY(open.window.timeline()->marks().isEmpty());
    }

    // ---- export --------------------------------------------------------------------------------------------

    void pictures()
    {
        QTemporaryDir folder;
        Open open;
        QVERIFY(open.ready());
        Exporter *exporter = open.window.shell()->exporter();
        PictureOrigin origin = exporter->origin(QStringLiteral("Checkpoint ring"));
        origin.time = QDateTime(QDate(2026, 11, 30), QTime(14, 2, 11));
        QCOMPARE(origin.line(),
                 QString::fromUtf8("Checkpoint ring · port-scheduler · 2026-11-30 14:02:11 · server build 11669"));
        QWidget *ring = open.window.ring();
        for (const int scale : {1, 2, 3}) {
            const QString path = folder.filePath(QStringLiteral("r%1.png").arg(scale));
            QVERIFY(Exporter::writePng(ring, path, scale, ThemeChoice::System, origin));
            const QImage image(path);
            QCOMPARE(image.width(), ring->width() * scale);
            QVERIFY(image.height() > ring->height() * scale); // the line under it
            QVERIFY(image.text(QStringLiteral("Description")).contains(QLatin1String("11669")));
        }
        // In other colours, and back again.
        const QPalette before = ring->palette();
        const QImage dark = Exporter::picture(ring, 1, ThemeChoice::Dark, origin);
        QVERIFY(dark.pixelColor(2, dark.height() - 2).lightness() < 90);
        QCOMPARE(ring->palette(), before);
        QVERIFY(ring->updatesEnabled());
        // SIMULATED is written in its own colour.
        origin.simulated = true;
        const QImage simulated = Exporter::picture(ring, 1, ThemeChoice::Light, origin);
        bool violet = false;
        const QColor wanted = SemanticColors::light().simulated;
        for (int y = ring->height(); y < simulated.height() && !violet; ++y) {
            for (int x = 0; x < 100 && !violet; ++x) {
                const QColor c = simulated.pixelColor(x, y);
                violet = std::abs(c.red() - wanted.red()) < 24 && std::abs(c.green() - wanted.green()) < 24
                    && std::abs(c.blue() - wanted.blue()) < 24;
            }
        }
        QVERIFY(violet);
        const QString svg = folder.filePath(QStringLiteral("r.svg"));
        QVERIFY(Exporter::writeSvg(ring, svg, ThemeChoice::Light, origin));
        QSvgRenderer renderer(svg);
        QVERIFY(renderer.isValid());
        QFile text(svg);
        QVERIFY(text.open(QIODevice::ReadOnly));
        const QByteArray bytes = text.readAll();
        QVERIFY(bytes.contains("SIMULATED") && bytes.contains("port-scheduler"));
        QVERIFY2(bytes.count("<path") + bytes.count("<poly") > 10, "a drawing, not a picture in a frame");
        QVERIFY(!Exporter::writePng(ring, QStringLiteral("/nowhere/x.png"), 1, ThemeChoice::System, origin));
    }

    void rowsHaveRawNumbers()
    {
        Open open;
        QVERIFY(open.ready());
        const QWidget *compactions = open.window.dock(QStringLiteral("compactions"))->widget();
        const QStringList lines = Exporter::csv(compactions).split(QStringLiteral("\r\n"));
        QCOMPARE(lines.size(), 10); // a head, eight rows, an end
        QVERIFY2(lines.at(1).contains(QLatin1String("1348")) && !lines.at(1).contains(QLatin1String("1,348")),
                 qPrintable(lines.at(1)));
        const QString ring = Exporter::csv(open.window.ring());
        QVERIFY2(ring.contains(QLatin1String("\r\n1349,")), qPrintable(ring));
        const QString timeline = Exporter::csv(open.window.timeline());
        QVERIFY(timeline.split(QStringLiteral("\r\n")).size() >= 27);
        const QString profile = Exporter::csv(open.window.shell()->profileEditor());
        QVERIFY2(profile.contains(QLatin1String("Keep recent,4096,4096,4096")), qPrintable(profile));
    }

    void everyViewCopiesAsText()
    {
        Open open;
        QVERIFY(open.ready());
        for (const ExportView &view : open.window.shell()->exportViews()) {
            if (view.name == QLatin1String("window"))
                continue;
            open.window.raiseDock(view.name);
            QVERIFY2(!Exporter::text(view.widget).isEmpty(), qPrintable(view.name));
        }
    }

    void wireValuesComeFromTheService()
    {
        QTemporaryDir folder;
        Open open;
        QVERIFY(open.ready());
        const QString path = folder.filePath(QStringLiteral("c.json"));
        ExportDialog::Choice choice;
        choice.view = {QStringLiteral("compactions"), QStringLiteral("Compactions"), nullptr};
        choice.format = ExportDialog::Format::Json;
        open.window.shell()->exportTo(choice, path);
        QTRY_VERIFY(QFile::exists(path));
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(QJsonDocument::fromJson(file.readAll()).object(), uisample::compactions());
        QTRY_VERIFY(open.said().contains(path));
        choice.format = ExportDialog::Format::Receipt;
        const QString receipt = folder.filePath(QStringLiteral("r.txt"));
        open.window.shell()->exportTo(choice, receipt);
        QTRY_VERIFY(QFile::exists(receipt));
        QFile text(receipt);
        QVERIFY(text.open(QIODevice::ReadOnly));
        QCOMPARE(QString::fromUtf8(text.readAll()), uisample::receipt().value(QLatin1String("rendered")).toString());
        // Printed as PDF: a real printer is the same code.
        const QString pdf = folder.filePath(QStringLiteral("r.pdf"));
        QPrinter printer;
        printer.setOutputFormat(QPrinter::PdfFormat);
        printer.setOutputFileName(pdf);
        Exporter::printText(&printer, QStringLiteral("a receipt\n"), open.window.shell()->exporter()->origin({}));
        QFile printed(pdf);
        QVERIFY(printed.open(QIODevice::ReadOnly));
        QVERIFY(printed.read(5) == "%PDF-");
    }

    void wholeSession()
    {
        QTemporaryDir folder;
        Open open;
        QVERIFY(open.ready());
        open.client->answers.insert(
            QStringLiteral("memory.get_episode"), [](const QJsonObject &params) -> Result<QJsonObject> {
                return QJsonObject{{QStringLiteral("episode_id"), params.value(QLatin1String("episode_id"))},
                                   {QStringLiteral("content"), QStringLiteral("a secret")},
                                   {QStringLiteral("tool_calls"), QJsonValue()}};
            });
        ExportDialog::Choice choice;
        choice.format = ExportDialog::Format::Session;
        for (const bool hashes : {false, true}) {
            const QString path = folder.filePath(hashes ? QStringLiteral("h.jsonl") : QStringLiteral("s.jsonl"));
            choice.hashesOnly = hashes;
            open.window.shell()->exportTo(choice, path);
            QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(path), 20000);
            QFile file(path);
            QVERIFY(file.open(QIODevice::ReadOnly));
            const QList<QByteArray> lines = file.readAll().trimmed().split('\n');
            QCOMPARE(lines.size(), 1 + 26 + 8);
            for (const QByteArray &line : lines)
                QVERIFY(QJsonDocument::fromJson(line).isObject());
            QCOMPARE(lines.join('\n').contains("a secret"), !hashes);
            if (hashes) // sha256 of "a secret"
                QVERIFY(lines.at(1).contains(QCryptographicHash::hash("a secret", QCryptographicHash::Sha256).toHex()));
        }
    }

    void exportDialogOffersWhatThereIs()
    {
        Open open;
        QVERIFY(open.ready());
        open.window.ring()->setFocus();
        QTest::keyClick(&open.window, Qt::Key_E, Qt::ControlModifier);
        auto *dialog = open.window.findChild<ExportDialog *>();
        QVERIFY(dialog && dialog->isVisible());
        QCOMPARE(dialog->choice().view.name, QStringLiteral("ring"));
        QCOMPARE(dialog->choice().format, ExportDialog::Format::Csv);
        auto *format = dialog->findChild<QComboBox *>(QStringLiteral("exportFormat"));
        QVERIFY(format->findData(static_cast<int>(ExportDialog::Format::Svg)) >= 0);
        auto *view = dialog->findChild<QComboBox *>(QStringLiteral("exportView"));
        view->setCurrentIndex(view->findData(QStringLiteral("compactions")));
        QVERIFY(format->findData(static_cast<int>(ExportDialog::Format::Svg)) < 0); // a table is no drawing
        dialog->reject();
        QTRY_VERIFY(!open.window.findChild<ExportDialog *>());
        open.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&open.window));
        QTest::keyClick(&open.window, Qt::Key_E, Qt::ControlModifier | Qt::ShiftModifier);
        dialog = open.window.findChild<ExportDialog *>();
        QVERIFY(dialog);
        QCOMPARE(dialog->choice().format, ExportDialog::Format::Png);
    }

    // ---- settings, privacy, notifications ------------------------------------------------------------------

    void settingsTakeEffectAtOnce()
    {
        Open open;
        QVERIFY(open.ready());
        QTest::keyClick(&open.window, Qt::Key_Comma, Qt::ControlModifier);
        auto *dialog = open.window.findChild<SettingsDialog *>();
        QVERIFY(dialog);
        dialog->findChild<QCheckBox *>(QStringLiteral("settingHideText"))->click();
        QVERIFY(isTextHidden());
        QVERIFY(AppSettings::load().hideText);
        const qreal before = QApplication::font().pointSizeF();
        dialog->findChild<QSpinBox *>(QStringLiteral("settingFontSize"))->setValue(14);
        QCOMPARE(QApplication::font().pointSizeF(), 14.0);
        dialog->findChild<QSpinBox *>(QStringLiteral("settingFontSize"))->setValue(7);
        QCOMPARE(QApplication::font().pointSizeF(), before);
        // Off by default except the first two.
        for (int i = 0; i < 4; ++i)
            QCOMPARE(dialog->findChild<QCheckBox *>(QStringLiteral("settingNotify%1").arg(i))->isChecked(), i < 2);
        dialog->findChild<QCheckBox *>(QStringLiteral("settingNotify3"))->click();
        QVERIFY(open.window.shell()->settings().notify[3]);
    }

    void hiddenTextIsNowhere()
    {
        setTextHidden(true);
        PromptToken token{5, 17, QByteArray("secret"), true};
        QVERIFY(!tokenText(token).contains(QLatin1String("secret")));
        QVERIFY(tokenText(token).startsWith(QLatin1String("6:")));
        QVERIFY(!shownText(QStringLiteral("secret")).contains(QLatin1String("secret")));
        QVERIFY(shownText(QStringLiteral("secret")).startsWith(QLatin1String("6 byte")));
        ConsoleData data;
        EpisodeValue episode;
        episode.seq = 3;
        data.episodes << episode;
        const QHash<int, QString> texts{{3, QStringLiteral("the secret")}};
        const QList<FindHit> hits = findHits(parseFind(QStringLiteral("secret")), data, &texts);
        QCOMPARE(hits.size(), 1);
        QVERIFY(!hits.first().text.contains(QLatin1String("secret")));
    }

    void notifiesOnceAMinute()
    {
        ConsoleState state;
        Notifier notifier(&state);
        notifier.setSettings(AppSettings());
        QSignalSpy noted(&notifier, &Notifier::noted);
        const auto refuted = [](int number) {
            PlanValue plan = parsePlan(uisample::plan());
            plan.number = number;
            plan.outcome = QStringLiteral("refuted");
            plan.measuredReuse = 0;
            return plan;
        };
        const auto show = [&state](const QList<PlanValue> &plans) {
            state.update(
                ConsoleState::Compactions, [&plans](ConsoleData &data) { data.compactions = plans; }, false);
        };
        show({refuted(1)});
        notifier.look(0); // it was so before anybody looked
        QCOMPARE(noted.count(), 0);
        show({refuted(2), refuted(1)});
        notifier.look(1000);
        QCOMPARE(noted.count(), 1);
        show({refuted(3), refuted(2), refuted(1)});
        notifier.look(2000);
        QCOMPARE(noted.count(), 1); // within the minute
        show({refuted(4), refuted(3), refuted(2), refuted(1)});
        notifier.look(61001);
        QCOMPARE(noted.count(), 2);
        // A server that is lost: after 30 s, once.
        state.update(
            ConsoleState::Link, [](ConsoleData &data) { data.link = LinkState::Disconnected; }, false);
        notifier.look(100000);
        notifier.look(129000);
        QCOMPARE(noted.count(), 2);
        notifier.look(130001);
        QCOMPARE(noted.count(), 3);
        notifier.look(300000);
        QCOMPARE(noted.count(), 3);
        // A long prefill is off until it is asked for.
        PlanValue slow = parsePlan(uisample::plan());
        slow.boundary.predictedMs = 15000;
        state.update(
            ConsoleState::Plan, [&slow](ConsoleData &data) { data.plan = slow; }, false);
        notifier.look(400000);
        QCOMPARE(noted.count(), 3);
        AppSettings all;
        all.notify[3] = true;
        notifier.setSettings(all);
        slow.planId = QStringLiteral("another");
        state.update(
            ConsoleState::Plan, [&slow](ConsoleData &data) { data.plan = slow; }, false);
        notifier.look(500000);
        QCOMPARE(noted.count(), 4);
    }

    // ---- connections ---------------------------------------------------------------------------------------

    void keyGoesToTheKeyringOnly()
    {
        TestRing ring;
        const ConnectionSpec fresh{ConnectionSpec::Kind::Server, {}, {}, {}, {}};
        ConnectionDialog dialog(fresh, nullptr, {}, &ring);
        dialog.show();
        auto *url = dialog.findChild<QLineEdit *>(QStringLiteral("url"));
        auto *key = dialog.findChild<QLineEdit *>(QStringLiteral("apiKey"));
        auto *store = dialog.findChild<QCheckBox *>(QStringLiteral("storeKey"));
        url->setText(QStringLiteral("http://10.0.0.5:9090"));
        QTest::keyClicks(key, QStringLiteral("s3cret"));
        QVERIFY(!store->isChecked()); // only when somebody says so
        dialog.remember([](const QString &) {});
        QVERIFY(ring.keys.isEmpty());
        store->click();
        dialog.remember([](const QString &) {});
        QCOMPARE(ring.keys.value(QStringLiteral("http://10.0.0.5:9090")), QStringLiteral("s3cret"));
        QVERIFY(ConnectionStore::recent().first().keyStored);
        QSettings().sync();
        QFile file(QSettings().fileName());
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray kept = file.readAll();
        QVERIFY(kept.contains("10.0.0.5") && !kept.contains("s3cret"));
        // The next time it comes from the keyring.
        ConnectionDialog again(fresh, nullptr, {}, &ring);
        again.show();
        auto *list = again.findChild<QListWidget *>(QStringLiteral("recentConnections"));
        QCOMPARE(list->count(), 1);
        list->setCurrentRow(0);
        QCOMPARE(again.spec().apiKey, QStringLiteral("s3cret"));
        QCOMPARE(again.spec().url, QStringLiteral("http://10.0.0.5:9090"));
        QTest::mouseClick(again.findChild<QPushButton *>(QStringLiteral("forgetConnection")), Qt::LeftButton);
        QVERIFY(ring.keys.isEmpty());
        QVERIFY(ConnectionStore::recent().isEmpty());
    }

    void aKeyringThatRefusesIsSaid()
    {
        TestRing ring;
        ring.problem = QStringLiteral("There is no keyring on this system: the key is asked for each time.");
        ConnectionDialog dialog(ConnectionSpec{ConnectionSpec::Kind::Server, {}, {}, {}, {}}, nullptr, {}, &ring);
        dialog.findChild<QLineEdit *>(QStringLiteral("apiKey"))->setText(QStringLiteral("s3cret"));
        dialog.findChild<QCheckBox *>(QStringLiteral("storeKey"))->setChecked(true);
        QString said;
        dialog.remember([&said](const QString &problem) { said = problem; });
        QCOMPARE(said, ring.problem);
        QVERIFY(!ConnectionStore::recent().first().keyStored);
    }

    void testShowsTheProbe()
    {
        std::function<void(ProbeAnswer)> answer;
        ConnectionDialog dialog(
            ConnectionSpec{ConnectionSpec::Kind::Server, {}, {}, {}, {}}, nullptr,
            [&answer](const ConnectionSpec &, std::function<void(ProbeAnswer)> done) { answer = std::move(done); });
        dialog.show();
        dialog.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&dialog));
        auto *result = dialog.findChild<QLabel *>(QStringLiteral("probeResult"));
        auto *steps = dialog.findChild<QTableWidget *>(QStringLiteral("probeSteps"));
        QTest::mouseClick(dialog.findChild<QPushButton *>(QStringLiteral("testConnection")), Qt::LeftButton);
        QVERIFY(result->text().contains(QLatin1String("Looking at")));
        ProbeAnswer locked;
        locked.needsKey = true;
        locked.steps << ProbeLine{QStringLiteral("health"), 200, true, QStringLiteral("ok")}
                     << ProbeLine{QStringLiteral("props"), 401, false, QStringLiteral("Invalid API Key")};
        answer(locked);
        QVERIFY(result->text().contains(QLatin1String("The server wants an API key.")));
        QCOMPARE(steps->rowCount(), 2);
        QCOMPARE(steps->item(1, 1)->text(), QStringLiteral("401"));
        QCOMPARE(steps->item(1, 2)->text(), QStringLiteral("Invalid API Key"));
        QVERIFY(dialog.findChild<QLineEdit *>(QStringLiteral("apiKey"))->hasFocus());
        // An answer about another connection is not shown.
        dialog.test();
        ConnectionStore::remember(
            {QStringLiteral("other"), ConnectionSpec{ConnectionSpec::Kind::Embedded, {}, {}, {}, {}}});
        auto late = answer;
        dialog.findChild<QLineEdit *>(QStringLiteral("launchCommand"))->setText(QStringLiteral("llama-server -m x"));
        dialog.test();
        ProbeAnswer fine;
        fine.ok = true;
        fine.summary = QStringLiteral("build 11669");
        late(fine);
        QVERIFY(!result->text().contains(QLatin1String("11669")));
    }

    void wordsWithThePassword()
    {
        ConnectionDialog dialog(ConnectionSpec{ConnectionSpec::Kind::Server, {}, {}, {}, {}});
        dialog.findChild<QLineEdit *>(QStringLiteral("url"))->setText(QStringLiteral("http://me:pass@10.0.0.5:80"));
        QVERIFY(dialog.findChild<QLabel *>(QStringLiteral("connectionProblem"))
                    ->text()
                    .contains(QLatin1String("kept in a file")));
    }

    // ---- watching a service --------------------------------------------------------------------------------

    void viewerHidesActs()
    {
        Open open;
        QVERIFY(open.ready());
        QVERIFY(open.window.action(QStringLiteral("plan"))->isVisible());
        open.window.shell()->setViewer(true);
        QVERIFY(open.window.windowTitle().contains(QLatin1String("[read only]")));
        for (const char *name : {"plan", "apply", "undo", "newSession"})
            QVERIFY2(!open.window.action(QLatin1String(name))->isVisible(), name);
        QVERIFY(!open.window.shell()->profileEditor()->applyButton()->isVisible());
        QTest::keyClick(&open.window, Qt::Key_F6); // a hidden act has no key
        QTest::qWait(50);
        QCOMPARE(open.client->count(QStringLiteral("context.plan_eviction")), previews(*open.client));
        open.window.controller()->plan(1579); // nor is there another way in
        open.window.controller()->pin(12);
        QTest::qWait(50);
        QCOMPARE(open.client->count(QStringLiteral("context.plan_eviction")), previews(*open.client));
        QCOMPARE(open.client->count(QStringLiteral("memory.pin")), 0);
        open.window.action(QStringLiteral("operate"))->trigger();
        QVERIFY(!open.window.windowTitle().contains(QLatin1String("[read only]")));
        QVERIFY(open.window.action(QStringLiteral("plan"))->isVisible());
        QVERIFY(!open.window.action(QStringLiteral("operate"))->isVisible());
    }

    static int previews(const ScriptedClient &client)
    {
        return static_cast<int>(std::count_if(client.calls.begin(), client.calls.end(), [](const auto &call) {
            return call.method == QLatin1String("context.plan_eviction")
                && call.params.value(QLatin1String("preview")).toBool();
        }));
    }
};

QTEST_MAIN(ShellTest)
#include "tst_ui_shell.moc"
