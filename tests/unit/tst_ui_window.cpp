// kerf-test: link=kerf_ui
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/unit/ui_sample.h"
#include "tests/unit/ui_scriptedclient.h"
#include "ui/ring/checkpointring.h"
#include "ui/timeline/timelineview.h"
#include "ui/views/prefillchart.h"
#include "ui/views/receiptview.h"
#include "ui/views/retainedprefixview.h"
#include "ui/views/verdictstrip.h"
#include "ui/window/connectiondialog.h"
#include "ui/window/docktitle.h"
#include "ui/window/mainwindow.h"

#include <QAbstractButton>
#include <QAccessible>
#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QLineEdit>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTableView>
#include <QToolButton>
#include <QtTest>

using namespace kerf;

class WindowTest : public QObject
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
            "episodes":26,"live_tokens":3216,"revision":61,"turn":40,"updated_at":"2026-11-30T12:00:00Z"},{"session_id":"old","title":"old one",
            "episodes":2,"live_tokens":null,"revision":2,"turn":0,"updated_at":"2026-11-01T12:00:00Z"}]})"));
        client->give(QStringLiteral("session.episodes"), uisample::episodes());
        client->give(QStringLiteral("context.compactions"), uisample::compactions());
        client->give(QStringLiteral("context.receipt"), uisample::receipt());
        client->give(QStringLiteral("context.plan_eviction"), uisample::plan());
        client->give(
            QStringLiteral("profile.get"),
            uisample::json(
                R"({"name":"cache-first","shipped":["cache-first","window-first"],"saved":[],"knobs":{},"origin":{}})"));
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
                    return window.state()->data().compactions.size() == 8
                        && window.state()->data().episodes.size() == 26 && window.state()->data().session.revision == 61
                        && window.state()->data().doctor.known && window.state()->data().receipt
                        && !window.state()->data().slotList.isEmpty();
                },
                30000);
            window.state()->flush();
            return there;
        }
    };

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("kerf-test"));
        QCoreApplication::setApplicationName(QStringLiteral("kerf-test-window"));
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        QSettings().clear();
    }
    void init() { QSettings().clear(); }

    void startPageFirst()
    {
        bool asked = false;
        MainWindow window([&asked](ConnectionSpec spec, std::function<void(ClientResult)> done) {
            asked = spec.kind == ConnectionSpec::Kind::Embedded;
            done(failure(Error::Code::Store, QStringLiteral("the store /x/y is damaged")));
        });
        window.show();
        auto *demo = window.findChild<QAbstractButton *>(QStringLiteral("startDemo"));
        QVERIFY(demo && demo->isVisible());
        QVERIFY(!window.timeline()->isVisible());
        QVERIFY(!window.action(QStringLiteral("plan"))->isEnabled());
        QTest::mouseClick(demo, Qt::LeftButton);
        QVERIFY(asked);
        // The failure stands in place, until it is dismissed.
        QVERIFY(window.messages()->current());
        QCOMPARE(window.messages()->current()->kind, Message::Kind::Error);
        QVERIFY(window.messages()->current()->text.contains(QStringLiteral("damaged")));
        auto *close = window.messages()->findChild<QToolButton *>();
        QTest::mouseClick(close, Qt::LeftButton);
        QVERIFY(!window.messages()->current());
    }

    void opensTheNewestSession()
    {
        Open open;
        QVERIFY(open.ready());
        QCOMPARE(open.window.windowTitle(), QString::fromUtf8("port-scheduler – Kerf"));
        QVERIFY(open.window.timeline()->isVisible());
        QCOMPARE(open.window.timeline()->index().count(), 26);
        QCOMPARE(open.window.findChild<QComboBox *>(QStringLiteral("sessionBox"))->currentText(),
                 QStringLiteral("port-scheduler"));
        QVERIFY(!open.window.messages()->current());
    }

    void everyActionIsNamedAndNoShortcutTwice()
    {
        Open open;
        QMap<QString, QString> keys;
        for (QAction *made : open.window.findChildren<QAction *>(QString(), Qt::FindDirectChildrenOnly)) {
            if (made->objectName().isEmpty())
                continue;
            for (const QKeySequence &key : made->shortcuts()) {
                const QString text = key.toString();
                QVERIFY2(!keys.contains(text),
                         qPrintable(QStringLiteral("%1: %2 and %3").arg(text, keys.value(text), made->objectName())));
                keys.insert(text, made->objectName());
            }
        }
        QCOMPARE(keys.value(QStringLiteral("F6")), QStringLiteral("plan"));
        QCOMPARE(keys.value(QStringLiteral("Ctrl+Return")), QStringLiteral("apply"));
        QVERIFY(open.window.keyboardTable().contains(QStringLiteral("F6")));
    }

    void planThenApply()
    {
        Open open;
        QVERIFY(open.ready());
        QAction *apply = open.window.action(QStringLiteral("apply"));
        QVERIFY(!apply->isEnabled());
        QCOMPARE(apply->toolTip(), QStringLiteral("No plan. Press F6."));
        open.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&open.window));
        QTest::keyClick(&open.window, Qt::Key_F6);
        QTRY_VERIFY(open.window.state()->data().plan);
        QVERIFY(apply->isEnabled());
        auto *strip = open.window.findChild<VerdictStrip *>();
        QCOMPARE(strip->headline(), QStringLiteral("Snapped 259 back to 1,349"));
        QCOMPARE(open.window.state()->picture().cut, CutPicture::Cut::Planned);
        QJsonObject applied = uisample::plan();
        applied.insert(QStringLiteral("applied"), true);
        applied.insert(QStringLiteral("compaction_id"), 9);
        open.client->give(QStringLiteral("context.apply"), applied);
        QTest::keyClick(&open.window, Qt::Key_Return, Qt::ControlModifier);
        QTRY_COMPARE(open.client->count(QStringLiteral("context.apply")), 1);
        QTRY_VERIFY(!open.window.state()->data().plan);
        QVERIFY(!apply->isEnabled());
    }

    void staleplanCannotBeApplied()
    {
        Open open;
        QVERIFY(open.ready());
        open.window.controller()->plan();
        QTRY_VERIFY(open.window.state()->data().plan);
        QJsonObject moved = uisample::session();
        moved.insert(QStringLiteral("revision"), 63);
        moved.insert(QStringLiteral("episodes"), 28);
        open.client->give(QStringLiteral("session.get"), moved);
        Q_EMIT open.client->event(QStringLiteral("episode"),
                                  {{QStringLiteral("session_id"), QStringLiteral("port-scheduler")}});
        QTRY_COMPARE(open.window.state()->data().session.revision, 63);
        QAction *apply = open.window.action(QStringLiteral("apply"));
        QTRY_VERIFY(!apply->isEnabled());
        QCOMPARE(apply->toolTip(), QStringLiteral("The session moved on: plan again (F6)."));
        QCOMPARE(open.window.controller()->staleBy(), 2);
        QTRY_VERIFY(open.window.findChild<VerdictStrip *>()->reason().contains(QStringLiteral("moved on")));
    }

    void refusalStaysInPlace()
    {
        Open open;
        QVERIFY(open.ready());
        open.client->answers.insert(QStringLiteral("context.plan_eviction"),
                                    [](const QJsonObject &) -> Result<QJsonObject> {
                                        return failure(Error::Code::Refused, QStringLiteral("roles must alternate"));
                                    });
        open.window.controller()->plan();
        QTRY_VERIFY(open.window.messages()->current());
        QVERIFY(open.window.messages()->current()->text.contains(QStringLiteral("roles must alternate")));
    }

    void simulatedIsUnmistakable()
    {
        Open open;
        QJsonObject doctor = uisample::doctor();
        doctor.insert(QStringLiteral("simulated"), true);
        doctor.insert(QStringLiteral("url"), QJsonValue());
        open.client->give(QStringLiteral("server.doctor"), doctor);
        QVERIFY(open.ready());
        QTRY_VERIFY(open.window.windowTitle().contains(QStringLiteral("[simulated]")));
        QVERIFY(open.window.messages()->current());
        QCOMPARE(open.window.messages()->current()->kind, Message::Kind::Simulated);
        QCOMPARE(open.window.messages()->current()->title, QStringLiteral("SIMULATED"));
        QCOMPARE(static_cast<ModeBox *>(open.window.findChild<QComboBox *>(QStringLiteral("connectionBox")))->mode(),
                 ModeBox::Mode::Simulated);
        QVERIFY(open.window.ring()->centerNumber().startsWith(QLatin1Char('~')));
        QCOMPARE(open.window.findChild<QToolButton *>(QStringLiteral("statusReuse"))->text(),
                 QStringLiteral("Reuse not counted"));
        // Violet on the frame of the connection box.
        auto *box = open.window.findChild<QComboBox *>(QStringLiteral("connectionBox"));
        const QImage image = box->grab().toImage();
        const QColor edge = image.pixelColor(image.width() / 2, qRound(1 * image.devicePixelRatio()));
        QVERIFY2(edge.blue() > edge.green() + 40, qPrintable(edge.name()));
    }

    void serverLost()
    {
        Open open;
        QVERIFY(open.ready());
        QJsonObject doctor = uisample::doctor();
        doctor.insert(QStringLiteral("reachable"), false);
        doctor.insert(QStringLiteral("unreachable_reason"), QStringLiteral("Connection refused"));
        open.client->give(QStringLiteral("server.doctor"), doctor);
        Q_EMIT open.client->event(QStringLiteral("server"), {});
        QTRY_VERIFY(open.window.windowTitle().contains(QStringLiteral("[disconnected]")));
        QVERIFY(open.window.messages()->current());
        QCOMPARE(open.window.messages()->current()->kind, Message::Kind::Warning);
        QVERIFY(open.window.messages()->current()->text.contains(QStringLiteral("Connection refused")));
        QVERIFY(open.window.state()->picture().disconnected);
        QVERIFY(!open.window.state()->picture().simulated); // it never turns into the simulation
    }

    void serviceLostAndBack()
    {
        Open open;
        QVERIFY(open.ready());
        open.client->setConnected(false);
        QVERIFY(!open.window.action(QStringLiteral("plan"))->isEnabled());
        QTRY_VERIFY(open.window.messages()->current());
        open.client->setConnected(true);
        QVERIFY(open.window.action(QStringLiteral("plan"))->isEnabled());
        QTRY_VERIFY(!open.window.messages()->current());
    }

    void oneSelection()
    {
        Open open;
        QVERIFY(open.ready());
        auto *table = open.window.findChild<QTableView *>(QStringLiteral("compactionsTable"));
        const QModelIndex five = table->model()->index(3, 0);
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(five).center());
        QCOMPARE(open.window.state()->selection()->compaction(), 5);
        QCOMPARE(open.window.findChild<PrefillChart *>()->tableCurrentRow(), 4);
        QCOMPARE(open.window.ring()->picture().number, 5);
        QVERIFY(open.window.findChild<VerdictStrip *>()->reason().contains(QStringLiteral("task 22")));
        QVERIFY(
            open.window.findChild<ReceiptView *>()->asText().contains(QStringLiteral("checkpoint erased by task 22")));
        // From the ring to the table.
        open.window.state()->selection()->selectCompaction(0);
        open.window.ring()->tableSelectRow(3);
        auto *checkpoints = open.window.findChild<QTableView *>(QStringLiteral("checkpointsTable"));
        QCOMPARE(checkpoints->currentIndex().siblingAtColumn(0).data().toString(), QStringLiteral("1,349"));
        // Keys step through compactions.
        open.window.action(QStringLiteral("previousCompaction"))->trigger();
        QCOMPARE(open.window.state()->selection()->compaction(), 8);
        open.window.action(QStringLiteral("previousCompaction"))->trigger();
        QCOMPARE(open.window.state()->selection()->compaction(), 7);
        open.window.action(QStringLiteral("previousProblem"))->trigger();
        QCOMPARE(open.window.state()->selection()->compaction(), 5);
        open.window.action(QStringLiteral("back"))->trigger();
        QCOMPARE(open.window.state()->selection()->compaction(), 7);
    }

    void eventsAreCoalesced()
    {
        Open open;
        QVERIFY(open.ready());
        QTest::qWait(250);
        const int before = open.client->count(QStringLiteral("session.get"));
        for (int i = 0; i < 500; ++i)
            Q_EMIT open.client->event(QStringLiteral("episode"),
                                      {{QStringLiteral("session_id"), QStringLiteral("port-scheduler")}});
        QTest::qWait(450);
        const int asked = open.client->count(QStringLiteral("session.get")) - before;
        QVERIFY2(asked >= 1 && asked <= 4, qPrintable(QString::number(asked)));
        // Another session's events read nothing of this one.
        const int episodesBefore = open.client->count(QStringLiteral("session.episodes"));
        Q_EMIT open.client->event(QStringLiteral("episode"), {{QStringLiteral("session_id"), QStringLiteral("old")}});
        QTest::qWait(250);
        QCOMPARE(open.client->count(QStringLiteral("session.episodes")), episodesBefore);
    }

    void pausedHoldsEvents()
    {
        Open open;
        QVERIFY(open.ready());
        auto *events = open.window.findChild<QTableView *>(QStringLiteral("eventsTable"));
        open.window.action(QStringLiteral("pause"))->trigger();
        QTest::qWait(150);
        const int before = events->model()->rowCount();
        Q_EMIT open.client->event(QStringLiteral("plan"),
                                  {{QStringLiteral("session_id"), QStringLiteral("port-scheduler")}});
        QTest::qWait(200);
        QCOMPARE(events->model()->rowCount(), before);
        open.window.action(QStringLiteral("pause"))->trigger();
        QCOMPARE(events->model()->rowCount(), before + 1);
    }

    void answersOfAnOldClientAreDropped()
    {
        Open open;
        QVERIFY(open.ready());
        open.window.controller()->refresh();
        open.window.controller()->disconnectClient(); // with calls under way
        QTest::qWait(200);
        QVERIFY(!open.window.state()->data().hasSession);
        QVERIFY(!open.window.timeline()->isVisible());
    }

    void windowDiesWithCallsUnderWay()
    {
        auto client = script();
        {
            MainWindow window;
            window.controller()->setClient(client);
            window.show();
            QTest::qWait(120);
        }
        QTest::qWait(50); // their answers find nobody, and that is all
        QVERIFY(client.use_count() == 1);
    }

    void docksRememberThemselves()
    {
        {
            Open open;
            open.window.dock(QStringLiteral("receipt"))->hide();
            open.window.close();
        }
        MainWindow again;
        again.show();
        QVERIFY(again.dock(QStringLiteral("receipt"))->isHidden());
        again.resetLayout();
        QVERIFY(!again.dock(QStringLiteral("receipt"))->isHidden());
        for (QDockWidget *dock : again.findChildren<QDockWidget *>())
            QVERIFY(!dock->objectName().isEmpty());
    }

    void copyAsText()
    {
        Open open;
        QVERIFY(open.ready());
        open.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&open.window));
        open.window.ring()->setFocus();
        open.window.action(QStringLiteral("copyText"))->trigger();
        QVERIFY(QGuiApplication::clipboard()->text().startsWith(
            QStringLiteral("Position\tKind\tMiB\tFor this cut\n437\t")));
    }

    void themeFollows()
    {
        Open open;
        QVERIFY(open.ready());
        open.window.setTheme(ThemeChoice::Dark);
        const auto corner = [&open] {
            const QImage image = open.window.grab().toImage();
            return image.pixelColor(3, image.height() - 3);
        };
        QTRY_VERIFY2(corner().lightness() < 80, qPrintable(corner().name()));
        open.window.setTheme(ThemeChoice::Light);
        QTRY_VERIFY2(corner().lightness() > 180, qPrintable(corner().name()));
    }

    void fitsThe1024Window()
    {
        Open open;
        QVERIFY(open.ready());
        open.window.resize(1024, 700);
        QCOMPARE(open.window.width(), 1024);
        QVERIFY(open.window.timeline()->width() >= 300);
    }

    void connectionDialog()
    {
        ConnectionDialog dialog(ConnectionSpec{ConnectionSpec::Kind::Server, {}, {}, {}, {}});
        auto *url = dialog.findChild<QLineEdit *>(QStringLiteral("url"));
        auto *key = dialog.findChild<QLineEdit *>(QStringLiteral("apiKey"));
        QCOMPARE(key->echoMode(), QLineEdit::Password);
        auto *buttons = dialog.findChild<QDialogButtonBox *>();
        QAbstractButton *accept = nullptr;
        for (QAbstractButton *button : buttons->buttons()) {
            if (buttons->buttonRole(button) == QDialogButtonBox::AcceptRole)
                accept = button;
        }
        QVERIFY(accept && accept->isEnabled());
        url->setText(QStringLiteral("not a url"));
        QVERIFY(!accept->isEnabled());
        url->setText(QStringLiteral("http://10.0.0.5:9090/"));
        key->setText(QStringLiteral("s3cret"));
        QVERIFY(accept->isEnabled());
        QCOMPARE(dialog.spec().url, QStringLiteral("http://10.0.0.5:9090"));
        QCOMPARE(dialog.spec().apiKey, QStringLiteral("s3cret"));
        dialog.findChild<QAbstractButton *>(QStringLiteral("kindEmbedded"))->click();
        QCOMPARE(dialog.spec().kind, ConnectionSpec::Kind::Embedded);
        QVERIFY(dialog.spec().apiKey.isEmpty());
    }

    void retainedPrefix()
    {
        Selection selection;
        RetainedPrefixView view(&selection);
        view.resize(420, 300);
        view.show();
        PrefixComparison comparison;
        comparison.aName = QStringLiteral("held");
        comparison.bName = QStringLiteral("sent");
        comparison.diff = DiffValue{
            3216, 2302, 1579, true, 1579, QStringLiteral("episode"), 13, QStringLiteral("the token ids differ"), {}};
        comparison.reused = 1348;
        comparison.measured = true;
        for (int i = 0; i < 100; ++i) {
            comparison.a.tokens << PromptToken{1530 + i, i, QByteArray(" held"), true};
            comparison.b.tokens << PromptToken{1530 + i, i < 49 ? i : i + 1000,
                                               i < 49 ? QByteArray(" held") : QByteArray(" sent\n"), true};
        }
        comparison.a.tokens[3].bytes = QByteArray("\xff\xfe");
        comparison.a.tokens[4].bytes = QByteArray("<|im_end|>");
        comparison.b.parts << PromptPartValue{QStringLiteral("episode"), 12, QStringLiteral("user"), {1443, 1579}}
                           << PromptPartValue{QStringLiteral("episode"), 13, QStringLiteral("assistant"), {1579, 1640}};
        view.setComparison(comparison);
        QCOMPARE(view.headline(), QStringLiteral("First difference at token 1,579"));
        QCOMPARE(view.footer(), QString::fromUtf8("1,348 from cache · 231 equal, computed again · 723 new or moved"));
        QCOMPARE(view.tableRows(), 49 + 51 + 51);
        QCOMPARE(view.tableCell(0, 1), QStringLiteral("both"));
        QCOMPARE(view.tableCell(49, 1), QStringLiteral("held"));
        QCOMPARE(view.tableCell(49, 0), QStringLiteral("1,579"));
        QCOMPARE(view.tableCell(100, 1), QStringLiteral("sent"));
        QCOMPARE(view.tableCell(100, 3), QString::fromUtf8(" sent⏎"));
        QCOMPARE(tokenText(comparison.a.tokens.at(3)), QStringLiteral("<0xFF><0xFE>"));
        QVERIFY(isSpecialToken(comparison.a.tokens.at(4)));
        QVERIFY(!isSpecialToken(comparison.a.tokens.at(5)));
        view.activateWindow();
        view.setFocus();
        QVERIFY(QTest::qWaitForWindowActive(&view));
        QTest::keyClick(&view, Qt::Key_I);
        QVERIFY(view.showsIds());
        QAccessibleInterface *face = QAccessible::queryAccessibleInterface(&view);
        QVERIFY(face && face->tableInterface());
        QVERIFY(face->text(QAccessible::Description).contains(QStringLiteral("1,579")));
        QVERIFY(!view.grab().isNull());
        // Extending only is no difference to be alarmed at.
        comparison.diff = DiffValue{1579, 1640, 1579, true, 1579, QStringLiteral("episode"), 13, {}, {}};
        view.setComparison(comparison);
        QCOMPARE(view.headline(), QStringLiteral("All 1,579 held tokens are equal"));
        view.setComparison(std::nullopt, QStringLiteral("why not"));
        QCOMPARE(view.headline(), QStringLiteral("why not"));
        QCOMPARE(view.tableRows(), 0);
    }

    void prefillChart()
    {
        Selection selection;
        PrefillChart chart(&selection);
        chart.setPalette(themePalette(ThemeChoice::Light));
        chart.resize(460, 320);
        chart.show();
        chart.setCompactions(parseCompactions(uisample::compactions()));
        QCOMPARE(chart.tableRows(), 8);
        QCOMPARE(chart.tableCell(7, 1), QStringLiteral("1,348"));
        QTest::qWait(50);
        const QImage image = chart.grab().toImage();
        const SemanticColors c = SemanticColors::light();
        const auto at = [&image](QPointF p) {
            return image.pixelColor((p * image.devicePixelRatio()).toPoint()).name();
        };
        QCOMPARE(at(chart.pointOf(7, 300) + QPointF(6, 0)), c.reused.name());
        QCOMPARE(at(chart.pointOf(7, 2100) + QPointF(6, 0)), c.prefilled.name());
        QCOMPARE(at(chart.pointOf(3, 300) + QPointF(6, 0)), c.prefilled.name()); // nothing was reused there
        // Click selects everywhere, and so do the keys.
        QTest::mouseClick(chart.findChild<QAbstractScrollArea *>()->viewport(), Qt::LeftButton, {},
                          chart.pointOf(4, 500).toPoint());
        QCOMPARE(selection.compaction(), 5);
        chart.activateWindow();
        chart.setFocus();
        QVERIFY(QTest::qWaitForWindowActive(&chart));
        QTest::keyClick(&chart, Qt::Key_Right);
        QCOMPARE(selection.compaction(), 6);
        QTest::keyClick(&chart, Qt::Key_Home);
        QCOMPARE(selection.compaction(), 1);
        // Many: 200 at a time, the newest first.
        QList<PlanValue> many;
        for (int i = 1; i <= 900; ++i) {
            PlanValue plan = parsePlan(uisample::plan());
            plan.number = i;
            plan.measuredReuse = i;
            plan.measuredPrefill = 10;
            many.prepend(plan);
        }
        selection.selectCompaction(0);
        chart.setCompactions(many);
        QCOMPARE(chart.shownCount(), 200);
        QCOMPARE(chart.firstShown(), 700);
        selection.selectCompaction(100);
        QVERIFY(chart.firstShown() <= 99 && chart.firstShown() + chart.shownCount() > 99);
    }

    void messageAreaShowsTheWorst()
    {
        MessageArea area;
        const Message info{Message::Kind::Information,
                           QStringLiteral("i"),
                           QStringLiteral("info"),
                           QStringLiteral("x"),
                           nullptr,
                           true};
        const Message error{
            Message::Kind::Error, QStringLiteral("e"), QStringLiteral("error"), QStringLiteral("y"), nullptr, true};
        area.setMessages({error, info});
        QCOMPARE(area.current()->id, QStringLiteral("e"));
        area.setMessages({info});
        QCOMPARE(area.current()->id, QStringLiteral("i"));
        area.findChild<QToolButton *>()->click();
        QVERIFY(!area.current());
        area.setMessages({info});
        QVERIFY(!area.current()); // dismissed stays dismissed
        area.setMessages({});
        QVERIFY(area.isHidden());
    }

    void receiptOfRefuted()
    {
        ConsoleState state;
        uisample::fill(state);
        ReceiptView view;
        const CutPicture picture = buildCutPicture(state.data(), 5);
        view.setReceipt(compactionByNumber(state.data(), 5), picture, state.data().receipt);
        const QString text = view.asText();
        QVERIFY(text.contains(QStringLiteral("predicted 1,786")));
        QVERIFY(text.contains(QStringLiteral("measured 0")));
        QVERIFY(text.contains(QStringLiteral("checkpoint erased by task 22")));
        view.setReceipt(nullptr, CutPicture(), std::nullopt);
        QVERIFY(view.asText().startsWith(QStringLiteral("No receipt yet")));
    }
};

QTEST_MAIN(WindowTest)
#include "tst_ui_window.moc"
