// kerf-test: link=kerf_ui kerf_core
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// What-if mode as a person uses it: a window on the embedded engine, mouse and keys, and what stands on the screen
// against what the engine says.

#include "core/engine/kerfservice.h"
#include "core/ipc/localclient.h"
#include "ui/ring/checkpointring.h"
#include "ui/timeline/timelineview.h"
#include "ui/viewmodel/numbers.h"
#include "ui/viewmodel/whatif.h"
#include "ui/views/whatifbar.h"
#include "ui/window/mainwindow.h"
#include "ui/window/whatifdocks.h"

#include <QAccessible>
#include <QCoroTask>
#include <QDockWidget>
#include <QLabel>
#include <QPushButton>
#include <QStandardPaths>
#include <QTableView>
#include <QtTest>

using namespace kerf;

namespace {

/// Passes calls on, and counts them.
class CountingClient : public ServiceClient
{
public:
    explicit CountingClient(std::shared_ptr<MethodHandler> handler)
        : m_handler(std::move(handler))
        , m_inner(m_handler)
    {
        connect(&m_inner, &ServiceClient::event, this, &ServiceClient::event);
    }
    QCoro::Task<Result<QJsonObject>> call(QString method, QJsonObject params) override
    {
        ++calls[method];
        lastParams.insert(method, params);
        return m_inner.call(method, params);
    }
    bool isConnected() const override { return m_inner.isConnected(); }
    QString description() const override { return m_inner.description(); }

    QHash<QString, int> calls;
    QHash<QString, QJsonObject> lastParams;

private:
    std::shared_ptr<MethodHandler> m_handler;
    LocalClient m_inner;
};

template<typename T>
std::optional<T> waitFor(QCoro::Task<T> task, QObject *context)
{
    std::optional<T> answer;
    QCoro::connect(std::move(task), context, [&answer](const T &result) { answer = result; });
    if (!QTest::qWaitFor([&answer] { return answer.has_value(); }, 60000))
        return std::nullopt;
    return answer;
}

} // namespace

class WhatIfTest : public QObject
{
    Q_OBJECT

    struct Open {
        MainWindow window;
        std::shared_ptr<CountingClient> client;

        QJsonObject ask(const QString &method, const QJsonObject &params)
        {
            const auto answer = waitFor(client->call(method, params), client.get());
            if (!answer || !*answer) {
                qWarning("%s: %s", qPrintable(method), answer ? qPrintable(answer->error().message) : "no answer");
                return {};
            }
            return **answer;
        }

        bool start(int turns = 9)
        {
            ServiceOptions options;
            options.dbPath = QStringLiteral(":memory:");
            options.backend.spec = QStringLiteral("embedded");
            auto opened = waitFor(openService(options), &window);
            if (!opened || !*opened)
                return false;
            client = std::make_shared<CountingClient>(**opened);
            const QString id = QStringLiteral("s");
            ask(QStringLiteral("session.create"), {{QStringLiteral("session_id"), id}});
            const auto commit = [&](const QString &role, int words, int salt) {
                QStringList text;
                for (int i = 0; i < words; ++i)
                    text << QStringLiteral("w%1x%2").arg(salt).arg((i * 7919 + salt * 104'729) % 9973);
                return ask(QStringLiteral("memory.commit_episode"),
                           {{QStringLiteral("session_id"), id},
                            {QStringLiteral("role"), role},
                            {QStringLiteral("content"), text.join(QLatin1Char(' '))}});
            };
            commit(QStringLiteral("system"), 20, 1);
            for (int turn = 0; turn < turns; ++turn) {
                const QJsonObject user = commit(QStringLiteral("user"), 24 + turn * 5 % 17, 100 + turn);
                if (turn == 3)
                    ask(QStringLiteral("memory.pin"),
                        {{QStringLiteral("session_id"), id},
                         {QStringLiteral("episode_id"), user.value(QStringLiteral("episode_id"))}});
                const QJsonObject assembled =
                    ask(QStringLiteral("context.assemble"), {{QStringLiteral("session_id"), id}});
                QJsonObject timings = ask(QStringLiteral("server.simulate"), {{QStringLiteral("session_id"), id}});
                timings.insert(QStringLiteral("session_id"), id);
                timings.insert(QStringLiteral("revision"), assembled.value(QStringLiteral("revision")));
                QJsonObject record;
                for (const char *name : {"session_id", "revision", "cache_n", "prompt_n", "prompt_ms"})
                    record.insert(QLatin1String(name), timings.value(QLatin1String(name)));
                ask(QStringLiteral("context.record_timings"), record);
                commit(QStringLiteral("assistant"), 30 + turn * 11 % 23, 500 + turn);
            }
            window.setTheme(ThemeChoice::Light);
            window.resize(1500, 950);
            window.show();
            window.controller()->setClient(client);
            const bool ready = QTest::qWaitFor(
                [this] {
                    const ConsoleData &data = window.state()->data();
                    return data.cuts && data.cuts->legal.size() > 4 && !data.episodes.isEmpty() && data.doctor.known
                        && data.cuts->revision == data.session.revision;
                },
                30000);
            window.state()->flush();
            QTest::qWait(250); // whatever else is on its way
            return ready;
        }
        WhatIf *whatIf() { return window.whatIf(); }
        const CutReport &report() { return *window.state()->data().cuts; }
        void key(Qt::Key key, Qt::KeyboardModifiers mods = {}) { QTest::keyClick(window.timeline(), key, mods); }
        QPoint atPosition(int position, TimelineView::Lane lane)
        {
            TimelineView *view = window.timeline();
            return QPointF(view->tokenScale().toX(position), view->laneRect(lane).center().y()).toPoint();
        }
        QString cell(const QString &name, int column)
        {
            const QAbstractItemModel *model = window.whatIfDocks()->comparisonView()->model();
            for (int row = 0; row < model->rowCount(); ++row) {
                if (model->index(row, 0).data().toString() == name)
                    return model->index(row, column).data().toString();
            }
            return QStringLiteral("no such row");
        }
    };

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("kerf-test"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_ui_whatif"));
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        QSettings().clear();
    }

    void aPersonTriesCutsAndUsesOne()
    {
        Open open;
        QVERIFY(open.start());
        QVERIFY(QTest::qWaitForWindowExposed(&open.window));
        MainWindow &window = open.window;
        TimelineView *timeline = window.timeline();
        WhatIf *whatIf = open.whatIf();
        // Ctrl+T.
        QTest::keyClick(&window, Qt::Key_T, Qt::ControlModifier);
        QVERIFY(whatIf->isActive());
        QVERIFY(window.findChild<WhatIfBar *>()->isVisible());
        QVERIFY(window.action(QStringLiteral("whatIf"))->isChecked());
        QCOMPARE(window.state()->picture().cut, CutPicture::Cut::WhatIf);
        for (const char *name : {"cuts", "legalcuts", "whatif"})
            QVERIFY(!window.dock(QLatin1String(name))->visibleRegion().isEmpty());

        // Keys. Home: the first legal cut, and its numbers are the wire's.
        const QJsonObject wire =
            open.ask(QStringLiteral("context.cuts"), {{QStringLiteral("session_id"), QStringLiteral("s")}});
        const QJsonArray legal = wire.value(QStringLiteral("legal")).toArray();
        QVERIFY(legal.size() > 4);
        open.key(Qt::Key_Home);
        for (int i = 0; i < legal.size(); ++i) {
            const QJsonObject row = legal.at(i).toObject();
            QCOMPARE(whatIf->position(), row.value(QStringLiteral("cut")).toInt());
            QVERIFY(whatIf->isLegal());
            const CutPicture &picture = window.state()->picture();
            QCOMPARE(picture.reused, std::optional(row.value(QStringLiteral("predicted_reuse")).toInt()));
            QCOMPARE(picture.prefilled, std::optional(row.value(QStringLiteral("predicted_prefill")).toInt()));
            QCOMPARE(picture.sentTotal, row.value(QStringLiteral("tokens_after")).toInt());
            QVERIFY(qAbs(*picture.predictedMs - row.value(QStringLiteral("predicted_ms")).toDouble()) < 1e-6);
            // The same stands in the comparison, the table and the ring.
            QCOMPARE(open.cell(QStringLiteral("Prefilled"), 2), approx(*picture.prefilled));
            QCOMPARE(open.cell(QStringLiteral("Window after"), 2), approx(picture.sentTotal));
            QCOMPARE(window.ring()->picture().whatIf, std::optional(whatIf->position()));
            const QModelIndex current = window.whatIfDocks()->legalView()->currentIndex();
            QCOMPARE(current.siblingAtColumn(LegalCutsModel::Cut).data(SortRole).toInt(), whatIf->position());
            QCOMPARE(current.siblingAtColumn(LegalCutsModel::Prefilled).data(SortRole).toInt(), *picture.prefilled);
            if (i + 1 < legal.size())
                open.key(Qt::Key_Right, Qt::ControlModifier);
        }
        QCOMPARE(whatIf->position(), open.report().legal.constLast().cut);
        open.key(Qt::Key_Home);
        open.key(Qt::Key_End);
        QCOMPARE(whatIf->position(), open.report().legal.constLast().cut);

        // One token on: no legal cut; the place is named and both neighbours are offered.
        open.key(Qt::Key_Left, Qt::ControlModifier);
        const int before = whatIf->position();
        open.key(Qt::Key_Right);
        QCOMPARE(whatIf->position(), before + 1);
        QVERIFY(!whatIf->isLegal());
        QVERIFY(whatIf->headline().contains(QStringLiteral("is inside episode")));
        QVERIFY(!window.findChild<WhatIfBar *>()->useButton()->isEnabled());
        const CutRuler::Card card = timeline->cutRuler().card();
        QVERIFY(!card.isEmpty());
        const int above = open.report().legal.at(open.report().legalAbove(before + 1)).cut;
        QTest::mouseClick(timeline->viewport(), Qt::LeftButton, {}, card.above.center().toPoint());
        QCOMPARE(whatIf->position(), above);
        QVERIFY(timeline->cutRuler().card().isEmpty());
        // Enter on an illegal place does nothing but say why.
        open.key(Qt::Key_Left);
        const int calls = open.client->calls.value(QStringLiteral("context.plan_eviction"));
        open.key(Qt::Key_Return);
        QVERIFY(whatIf->isActive());
        QCOMPARE(open.client->calls.value(QStringLiteral("context.plan_eviction")), calls);

        // [ and ]: cheaper and dearer.
        open.key(Qt::Key_Home);
        double last = *open.report().ms(*whatIf->value());
        for (int k = 0; k < 3; ++k) {
            open.key(Qt::Key_BracketLeft);
            QVERIFY(*open.report().ms(*whatIf->value()) <= last + 1e-9);
            last = *open.report().ms(*whatIf->value());
        }
        open.key(Qt::Key_BracketRight);
        QVERIFY(*open.report().ms(*whatIf->value()) >= last - 1e-9);

        // The handle, by mouse: snaps within twelve pixels, Alt is free; nobody is asked while it moves.
        open.key(Qt::Key_Home);
        const QHash<QString, int> asked = open.client->calls;
        const int target = open.report().legal.at(3).cut;
        QTest::mousePress(timeline->viewport(), Qt::LeftButton, {}, timeline->handlePoint().toPoint());
        const QPoint over = open.atPosition(target, TimelineView::Lane::Ruler);
        QTest::mouseMove(timeline->viewport(), over + QPoint(-60, 0));
        QTest::mouseMove(timeline->viewport(), over + QPoint(5, 0));
        QCOMPARE(whatIf->position(), target);
        QCOMPARE(window.state()->picture().whatIf, std::optional(target));
        QCOMPARE(window.state()->picture().sentTotal, open.report().legal.at(3).tokensAfter);
        QTest::mouseRelease(timeline->viewport(), Qt::LeftButton, {}, over + QPoint(5, 0));
        QMouseEvent press(QEvent::MouseButtonPress, timeline->handlePoint(),
                          timeline->viewport()->mapToGlobal(timeline->handlePoint()), Qt::LeftButton, Qt::LeftButton,
                          Qt::AltModifier);
        QApplication::sendEvent(timeline->viewport(), &press);
        const QPointF free = timeline->handlePoint() + QPointF(6, 0);
        QMouseEvent move(QEvent::MouseMove, free, timeline->viewport()->mapToGlobal(free), Qt::NoButton, Qt::LeftButton,
                         Qt::AltModifier);
        QApplication::sendEvent(timeline->viewport(), &move);
        QMouseEvent release(QEvent::MouseButtonRelease, free, timeline->viewport()->mapToGlobal(free), Qt::LeftButton,
                            Qt::NoButton, Qt::AltModifier);
        QApplication::sendEvent(timeline->viewport(), &release);
        QVERIFY(whatIf->position() != target);
        QVERIFY(open.report().legalAt(whatIf->position()) < 0);
        for (const QString &method : asked.keys()) {
            if (method.startsWith(QLatin1String("context.")))
                QCOMPARE(open.client->calls.value(method), asked.value(method));
        }
        // Each drag is one step back.
        QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(whatIf->position(), target);
        QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(whatIf->position(), open.report().legal.constFirst().cut);
        QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(whatIf->position(), target);

        // Alt+arrows: a checkpoint of the ring.
        if (!window.state()->picture().checkpoints.isEmpty()) {
            open.key(Qt::Key_End);
            open.key(Qt::Key_Left, Qt::AltModifier);
            const QList<CheckpointMark> &marks = window.state()->picture().checkpoints;
            QVERIFY(std::any_of(marks.cbegin(), marks.cend(), [&](const CheckpointMark &mark) {
                return mark.checkpoint.position == whatIf->position();
            }));
        }

        // Use it: a new plan with this cut; nothing is applied by that.
        whatIf->moveTo(target);
        QVERIFY(whatIf->isLegal());
        const CutValue promised = *whatIf->value();
        open.key(Qt::Key_Return);
        QVERIFY(!whatIf->isActive());
        QTRY_VERIFY(window.state()->data().plan);
        QCOMPARE(open.client->lastParams.value(QStringLiteral("context.plan_eviction"))
                     .value(QStringLiteral("requested_cut"))
                     .toInt(),
                 target);
        QVERIFY(!open.client->lastParams.value(QStringLiteral("context.plan_eviction"))
                     .value(QStringLiteral("apply"))
                     .toBool());
        const PlanValue plan = *window.state()->data().plan;
        QCOMPARE(plan.boundary.requestedCut, target);
        QCOMPARE(plan.retainedPromptTokens, target);
        QVERIFY2(qAbs(plan.boundary.predictedReuse - open.report().claimed(promised)) <= 4,
                 qPrintable(QStringLiteral("plan %1, promised %2")
                                .arg(plan.boundary.predictedReuse)
                                .arg(open.report().claimed(promised))));
        // The plan is rendered, the what-if summed up: the marker is all that may differ.
        QVERIFY2(qAbs(plan.tokensAfter - promised.tokensAfter) <= 64,
                 qPrintable(QStringLiteral("plan %1, promised %2").arg(plan.tokensAfter).arg(promised.tokensAfter)));
        QCOMPARE(window.state()->data().compactions.size(), 0);

        // Apply is a separate act, and undone it is as before.
        QVERIFY(window.action(QStringLiteral("apply"))->isEnabled());
        const int episodes = static_cast<int>(window.state()->picture().blocks.size());
        QTest::keyClick(&window, Qt::Key_Return, Qt::ControlModifier);
        QTRY_COMPARE(window.state()->data().compactions.size(), 1);
        QTRY_VERIFY(window.state()->picture().blocks.size() < episodes);
        window.action(QStringLiteral("undo"))->trigger();
        QTRY_COMPARE(window.state()->picture().blocks.size(), episodes);
    }

    void escGoesBackToThePlanAndWhatIfComparesWithIt()
    {
        Open open;
        QVERIFY(open.start());
        MainWindow &window = open.window;
        open.whatIf()->start(open.report().legal.at(2).cut);
        open.key(Qt::Key_Return);
        QTRY_VERIFY(window.state()->data().plan);
        const int planCut = window.state()->data().plan->retainedPromptTokens;
        QTRY_VERIFY(open.whatIf()->whyNotStart().isEmpty());
        // Started without a place it begins at the plan.
        window.action(QStringLiteral("whatIf"))->trigger();
        QCOMPARE(open.whatIf()->position(), planCut);
        QCOMPARE(open.cell(QStringLiteral("Cut"), 1), number(planCut, false));
        QVERIFY(open.whatIf()->why().first.contains(QStringLiteral("the plan")));
        open.key(Qt::Key_Right, Qt::ControlModifier);
        QCOMPARE(window.state()->picture().planCut, std::optional(planCut));
        const int moved = open.whatIf()->position() - planCut;
        QCOMPARE(open.cell(QStringLiteral("Cut"), 3), signedNumber(moved));
        QVERIFY(!open.whatIf()->why().second.isEmpty());
        // A message arrives meanwhile: the mode stays, the numbers follow.
        open.ask(QStringLiteral("memory.commit_episode"),
                 {{QStringLiteral("session_id"), QStringLiteral("s")},
                  {QStringLiteral("role"), QStringLiteral("user")},
                  {QStringLiteral("content"), QStringLiteral("one more thing to look at")}});
        const qint64 revision = open.report().revision;
        QTRY_VERIFY(open.report().revision > revision);
        QVERIFY(open.whatIf()->isActive());
        QVERIFY(open.whatIf()->value());
        open.key(Qt::Key_Escape);
        QVERIFY(!open.whatIf()->isActive());
        QVERIFY(!window.findChild<WhatIfBar *>()->isVisible());
        QCOMPARE(window.state()->picture().cut, CutPicture::Cut::Planned);
    }

    void startsFromRingChartAndTable()
    {
        Open open;
        QVERIFY(open.start());
        QVERIFY(QTest::qWaitForWindowExposed(&open.window));
        MainWindow &window = open.window;
        CheckpointRing *ring = window.ring();
        if (!ring->heads().isEmpty()) {
            ring->setFocus();
            // The last head that lies where a cut has a value.
            QTest::keyClick(ring, Qt::Key_Home);
            for (int k = 0; k < ring->tableRows(); ++k) {
                if (ring->currentCheckpoint() && open.report().at(*ring->currentCheckpoint()))
                    break;
                QTest::keyClick(ring, Qt::Key_Right);
            }
            QVERIFY(ring->currentCheckpoint());
            const int head = *ring->currentCheckpoint();
            QVERIFY(open.report().at(head));
            QTest::keyClick(ring, Qt::Key_C);
            QVERIFY(open.whatIf()->isActive());
            QCOMPARE(open.whatIf()->position(), head);
            open.whatIf()->leave();
        }
        // Chart: a click on a point.
        window.raiseDock(QStringLiteral("cuts"));
        CutsView *chart = window.whatIfDocks()->chart();
        QTRY_VERIFY(chart->report());
        QTest::qWait(50);
        const int second = open.report().legal.size() > 4 ? 4 : 1;
        const int at = chart->legalAt(chart->pointOf(second));
        QTest::mouseClick(chart, Qt::LeftButton, {}, chart->pointOf(second).toPoint());
        QCOMPARE(open.whatIf()->position(), open.report().legal.at(at).cut);
        // Keys in the chart.
        QTest::keyClick(chart, Qt::Key_Right);
        QTest::keyClick(chart, Qt::Key_Return);
        QVERIFY(open.whatIf()->isLegal());
        // Axes: the frontier is made of cuts that no other beats in both.
        for (const CutsView::Axis axis :
             {CutsView::Axis::Window, CutsView::Axis::RecentKept, CutsView::Axis::Reclaimed}) {
            chart->setAxis(axis);
            const auto x = [&](const LegalCut &row) {
                return axis == CutsView::Axis::Window    ? row.tokensAfter
                    : axis == CutsView::Axis::RecentKept ? row.recentKept
                                                         : row.reclaimedTokens;
            };
            QVERIFY(!chart->frontier().isEmpty());
            for (int i = 0; i < open.report().legal.size(); ++i) {
                const LegalCut &row = open.report().legal.at(i);
                const bool beaten =
                    std::any_of(open.report().legal.cbegin(), open.report().legal.cend(), [&](const LegalCut &other) {
                        return (x(other) >= x(row)
                                && *open.report().ms(other.value) < *open.report().ms(row.value) - 1e-9)
                            || (x(other) > x(row) && *open.report().ms(other.value) <= *open.report().ms(row.value));
                    });
                if (chart->frontier().contains(i))
                    QVERIFY(!beaten);
            }
        }
        // Table.
        window.raiseDock(QStringLiteral("legalcuts"));
        QTableView *table = window.whatIfDocks()->legalView();
        QTRY_COMPARE(table->model()->rowCount(), static_cast<int>(open.report().legal.size()));
        const QModelIndex row = table->model()->index(1, LegalCutsModel::Cut);
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(row).center());
        QCOMPARE(open.whatIf()->position(), row.data(SortRole).toInt());
        // A circle on the ruler starts it too.
        open.whatIf()->leave();
        const int third = open.report().legal.at(2).cut;
        QVERIFY(!window.timeline()->cutRuler().isEmpty());
        const QPointF circle = window.timeline()->cutRuler().pointOf(open.report().legal.at(2).value);
        QTest::mouseClick(window.timeline()->viewport(), Qt::LeftButton, {}, circle.toPoint());
        QVERIFY(open.whatIf()->isActive());
        QCOMPARE(open.whatIf()->position(), third);
        // Looking at a past compaction ends it.
        open.whatIf()->leave();
        QVERIFY(!open.window.action(QStringLiteral("whatIf"))->isChecked());
    }

    void isReadOut()
    {
        Open open;
        QVERIFY(open.start());
        open.whatIf()->start();
        CutsView *chart = open.window.whatIfDocks()->chart();
        QAccessibleInterface *face = QAccessible::queryAccessibleInterface(chart);
        QVERIFY(face && face->tableInterface());
        QCOMPARE(face->tableInterface()->rowCount(), static_cast<int>(open.report().legal.size()));
        QCOMPARE(face->text(QAccessible::Name), QStringLiteral("Cuts"));
        QVERIFY(face->text(QAccessible::Description).contains(QStringLiteral("legal")));
        QAccessibleInterface *timeline = QAccessible::queryAccessibleInterface(open.window.timeline());
        QVERIFY(timeline);
        QVERIFY2(timeline->text(QAccessible::Description).contains(QStringLiteral("What-if at")),
                 qPrintable(timeline->text(QAccessible::Description)));
        QAccessibleInterface *ring = QAccessible::queryAccessibleInterface(open.window.ring());
        QVERIFY(ring->text(QAccessible::Description).contains(QStringLiteral("what-if cut at")));
        QVERIFY(!open.window.findChild<QLabel *>(QStringLiteral("whyText"))->text().isEmpty());
        // Every new action is in a menu and has a text.
        QVERIFY(open.window.keyboardTable().contains(QStringLiteral("What-if")));
    }

    void nothingIsSaidOfAnotherPrompt()
    {
        Open open;
        QVERIFY(open.start());
        open.whatIf()->start();
        QVERIFY(open.whatIf()->value());
        const auto revision = [&](int by) {
            open.window.state()->update(
                ConsoleState::SessionPart, [by](ConsoleData &data) { data.session.revision += by; }, true);
        };
        // The session moves on before its cuts are priced again: the mode waits, and no number of before is shown.
        revision(1);
        QVERIFY(open.whatIf()->isActive());
        QVERIFY(!open.whatIf()->value());
        QVERIFY(!open.whatIf()->whyNotUse().isEmpty());
        QVERIFY(open.window.state()->picture().cut != CutPicture::Cut::WhatIf);
        QVERIFY(!open.window.state()->picture().cuts);
        open.key(Qt::Key_Right, Qt::ControlModifier);
        revision(-1);
        QVERIFY(open.whatIf()->value());
        QCOMPARE(open.window.state()->picture().cut, CutPicture::Cut::WhatIf);
    }

    void theWindowAfterACutAddsUp()
    {
        Open open;
        QVERIFY(open.start());
        open.whatIf()->start();
        for (int p = open.report().curve.constFirst().begin; p < open.report().curve.constLast().end; p += 3) {
            open.whatIf()->moveTo(p);
            const CutPicture &picture = open.window.state()->picture();
            int at = 0;
            int evicted = 0;
            for (const Segment &segment : picture.segments) {
                QCOMPARE(segment.range.begin, at);
                at = segment.range.end;
                evicted += segment.kind == SegmentKind::Evicted ? segment.range.size() : 0;
            }
            QCOMPARE(at, picture.promptTokens);
            QCOMPARE(*picture.reused + *picture.prefilled, picture.sentTotal);
            QVERIFY(picture.tokensOf(SegmentKind::Reused) + picture.tokensOf(SegmentKind::Moved) >= 0);
            QVERIFY(evicted > 0);
        }
    }
};

QTEST_MAIN(WhatIfTest)
#include "tst_ui_whatif.moc"
