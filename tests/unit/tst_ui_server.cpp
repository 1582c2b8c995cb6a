// kerf-test: link=kerf_ui
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// The views about the server: their models, what they show against the wire, keys and mouse, dialogs.

#include "tests/unit/ui_sample.h"
#include "tests/unit/ui_scriptedclient.h"
#include "ui/models/claimsmodel.h"
#include "ui/models/loglinesmodel.h"
#include "ui/models/slotmodels.h"
#include "ui/theme/semanticcolors.h"
#include "ui/theme/theme.h"
#include "ui/viewmodel/eventwords.h"
#include "ui/viewmodel/numbers.h"
#include "ui/viewmodel/parse.h"
#include "ui/viewmodel/slotspicture.h"
#include "ui/views/cachegauge.h"
#include "ui/views/checkpointsview.h"
#include "ui/views/eventsview.h"
#include "ui/views/evidenceview.h"
#include "ui/views/serverlogview.h"
#include "ui/views/slotlanes.h"
#include "ui/views/slotsview.h"
#include "ui/window/serverdesk.h"
#include "ui/window/slotdialog.h"

#include <QAbstractItemModelTester>
#include <QAccessible>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTableView>
#include <QToolButton>
#include <QtTest>

using namespace kerf;

namespace {

constexpr qint64 kNow = 1'796'000'100'000;

/// server.slots with a history: two slots, one of them in the middle of a prefill.
QJsonObject slotsAnswer()
{
    return uisample::json(
        R"({"readable":true,"reason":null,"source":"log","simulated":false,"epoch":0,"now_ms":1796000100000,
"slots":[{"slot_id":0,"tokens":1348,"known_tokens":1348,"busy":true,"task":44,"verified":true,"has_run":true,"session_id":"port-scheduler",
"save_bytes":9437184,"checkpoints":[{"position":436,"size_bytes":898761},{"position":1348,"size_bytes":1059061}],
"prefill":{"total":2302,"reused":1348,"processed":400},"last_reuse":3216,"last_prefill":17},
{"slot_id":1,"tokens":0,"known_tokens":0,"busy":false,"task":null,"verified":true,"has_run":false,"session_id":null,"save_bytes":0,
"checkpoints":[],"prefill":null,"last_reuse":null,"last_prefill":null}],
"host_cache":{"known":true,"enabled":true,"unlimited":false,"bytes":15728640,"limit_bytes":20971520,
"entries":[{"tokens":4926,"size_bytes":6387924,"checkpoints":[{"position":1},{"position":2}],"session_id":null,"verified":true},
{"tokens":3216,"size_bytes":9340716,"checkpoints":null,"session_id":"port-scheduler","verified":false}],
"forecast":{"slot_id":0,"save_bytes":9437184,"bytes":25165824,"exceeds":true,"drops":1,"fits":true}},
"history":[{"slot_id":0,"points":[{"at_ms":1796000000000,"tokens":0,"busy":true,"task":40,"processed":0,"to_process":3216},
{"at_ms":1796000040000,"tokens":3216,"busy":false,"task":40,"processed":null,"to_process":null},
{"at_ms":1796000090000,"tokens":1348,"busy":true,"task":44,"processed":0,"to_process":954}]},
{"slot_id":1,"points":[]}],
"tasks":[{"task":40,"slot_id":0,"life":0,"session_id":"port-scheduler","begin_ms":1796000000000,"end_ms":1796000040000,"prompt_tokens":3216,
"reused":0,"prefilled":3216,"prompt_ms":101.6,"lcp":null,"erased":0},
{"task":44,"slot_id":0,"life":0,"session_id":null,"begin_ms":1796000090000,"end_ms":null,"prompt_tokens":null,"reused":null,"prefilled":null,
"prompt_ms":null,"lcp":null,"erased":null}],
"erasures":[{"at_ms":1796000020000,"slot_id":0,"task":40,"kind":"checkpoints","count":1,"text":"Task 40 (3,216 tokens, LCP 0) erased 1 checkpoint"},
{"at_ms":1796000090500,"slot_id":0,"task":44,"kind":"checkpoints","count":5,"text":"Task 44 erased 5 checkpoints"}],
"saves":[{"session_id":"port-scheduler","file":"kerf-a.bin","kind":"slot_save_file","position":3216,"slot_id":0,"at":"2026-11-30T14:02:11.000Z",
"this_server":true,"exists":true},
{"session_id":"port-scheduler","file":"kerf-b.bin","kind":"pre_rewrite","position":1200,"slot_id":0,"at":"2026-11-30T13:02:11.000Z",
"this_server":true,"exists":false},
{"session_id":"other","file":"kerf-c.bin","kind":"slot_save_file","position":77,"slot_id":0,"at":"2026-11-30T13:02:11.000Z",
"this_server":false,"exists":true}]})");
}

QJsonObject evidenceAnswer()
{
    return uisample::json(R"({"backend":"llama-server x","simulated":false,"key":"b|m|4096","rows":[
{"claim":"memory_kind","value":"checkpointed","evidence":"log","detail":"architecture gemma3, sliding window 512","when":"2026-11-30T14:02:11.000Z",
"stored":false,"forgettable":false,"contradicted_by":[{"evidence":"observed","value":"full_attention","detail":"2 requests"}]},
{"claim":"memory_kind","value":"full_attention","evidence":"observed","detail":"2 requests","when":"2026-11-29T14:02:11.000Z","stored":true,
"forgettable":true,"contradicted_by":[{"evidence":"log","value":"checkpointed","detail":"x"}]},
{"claim":"chunk_reuse","value":"0","evidence":"flags","detail":"--cache-reuse is not given","when":null,"stored":false,"forgettable":false,
"contradicted_by":[]}],
"probe":[{"name":"health","route":"GET /health","http_status":200,"ok":true,"message":null},
{"name":"slot_save","route":"POST /slots/0?action=save","http_status":501,"ok":false,
"message":"This server does not support slots action. Start it with `--slot-save-path`"},
{"name":"metrics","route":"GET /metrics","http_status":null,"ok":false,"message":"timed out"}]})");
}

QJsonObject logAnswer(qint64 from, int count, qint64 next)
{
    QJsonArray lines;
    for (qint64 number = from; number < from + count; ++number) {
        const bool odd = number % 50 == 0;
        lines.append(
            QJsonObject{{QStringLiteral("number"), number},
                        {QStringLiteral("level"), number % 10 == 0 ? QStringLiteral("W") : QStringLiteral("I")},
                        {QStringLiteral("slot_id"), number % 2},
                        {QStringLiteral("task"), number / 10},
                        {QStringLiteral("text"), QStringLiteral("0.05.785.665 I slot release: line %1").arg(number)},
                        {QStringLiteral("reading"),
                         odd                   ? QStringLiteral("not understood")
                             : number % 3 == 0 ? QStringLiteral("checkpoint %1 restored").arg(number)
                                               : QString()},
                        {QStringLiteral("understood"), !odd},
                        {QStringLiteral("withheld"), false}});
    }
    return {{QStringLiteral("attached"), true},
            {QStringLiteral("source"), QStringLiteral("server.log")},
            {QStringLiteral("first"), 1},
            {QStringLiteral("next"), next},
            {QStringLiteral("not_understood"), next / 50},
            {QStringLiteral("lines"), lines}};
}

struct Desk {
    std::shared_ptr<ScriptedClient> client = std::make_shared<ScriptedClient>();
    ServerDesk desk;
    qint64 lines = 200;
    Desk()
    {
        client->give(QStringLiteral("server.slots"), slotsAnswer());
        client->give(QStringLiteral("server.evidence"), evidenceAnswer());
        client->answers.insert(QStringLiteral("server.log"), [this](const QJsonObject &params) -> Result<QJsonObject> {
            const qint64 from = params.value(QLatin1String("from")).toInteger(1);
            const int limit = params.value(QLatin1String("limit")).toInt(500);
            const int count = static_cast<int>(std::clamp<qint64>(lines + 1 - from, 0, limit));
            return logAnswer(from, count, lines + 1);
        });
        desk.setClient(client);
    }
};

QModelIndex cell(const QAbstractItemModel *model, int row, int column) { return model->index(row, column); }

} // namespace

class ServerViewsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        installTableAccess();
        applyTheme(ThemeChoice::Light);
    }

    void theWireIsRead()
    {
        const SlotsPicture picture = parseSlotsPicture(slotsAnswer());
        QCOMPARE(picture.lanes.size(), 2);
        QCOMPARE(picture.lanes.at(0).points.size(), 3);
        QCOMPARE(picture.lanes.at(0).tokens, std::optional<int>(1348));
        QCOMPARE(picture.lanes.at(0).checkpoints, std::optional<int>(2));
        QCOMPARE(picture.lanes.at(0).prefillTotal, std::optional<int>(2302));
        QVERIFY(!picture.lanes.at(1).hasRun);
        QCOMPARE(picture.tasks.at(1).endMs, std::nullopt);
        QCOMPARE(picture.erasures.at(0).text, QStringLiteral("Task 44 erased 5 checkpoints")); // newest first
        QCOMPARE(picture.saves.size(), 3);
        QCOMPARE(picture.cached.at(1).checkpoints, std::nullopt); // null is not 0
        QCOMPARE(picture.level(), CacheLevel::Full);
        QCOMPARE(cacheHeadline(picture), QStringLiteral("Host cache: 15.00 of 20 MiB"));
        QVERIFY(cacheForecastText(picture).contains(QStringLiteral("9.00 MiB")));
        QVERIFY(cacheForecastText(picture).contains(QStringLiteral("the oldest saved prompt is dropped")));
        // Odd fields are unknown, nothing is made up.
        const SlotsPicture odd =
            parseSlotsPicture(uisample::json(R"({"slots":[{"slot_id":"x"},{"slot_id":3}],"host_cache":7})"));
        QCOMPARE(odd.lanes.size(), 1);
        QCOMPARE(odd.lanes.at(0).tokens, std::nullopt);
        QCOMPARE(odd.level(), CacheLevel::Unknown);
    }

    void theLevelsOfTheHostCache_data()
    {
        QTest::addColumn<qint64>("bytes");
        QTest::addColumn<qint64>("limit");
        QTest::addColumn<qint64>("after"); // -1 = no forecast
        QTest::addColumn<int>("level");
        QTest::newRow("empty") << qint64(0) << qint64(1000) << qint64(-1) << int(CacheLevel::Fine);
        QTest::newRow("below 80 %") << qint64(799) << qint64(1000) << qint64(900) << int(CacheLevel::Fine);
        QTest::newRow("80 %") << qint64(800) << qint64(1000) << qint64(900) << int(CacheLevel::Near);
        QTest::newRow("the next exceeds") << qint64(500) << qint64(1000) << qint64(1001) << int(CacheLevel::Full);
        QTest::newRow("exceeded") << qint64(1200) << qint64(1000) << qint64(-1) << int(CacheLevel::Full);
        QTest::newRow("limit unknown") << qint64(1200) << qint64(-1) << qint64(-1) << int(CacheLevel::Unknown);
    }
    void theLevelsOfTheHostCache()
    {
        QFETCH(qint64, bytes);
        QFETCH(qint64, limit);
        QFETCH(qint64, after);
        SlotsPicture picture;
        picture.known = picture.cacheKnown = true;
        picture.cacheBytes = bytes;
        if (limit >= 0)
            picture.cacheLimit = limit;
        if (after >= 0)
            picture.forecast = CacheForecast{0, after - bytes, after, after > limit, 1, true};
        QTEST(int(picture.level()), "level");
        picture.cacheUnlimited = true;
        QCOMPARE(picture.level(), CacheLevel::Unlimited);
        picture.cacheEnabled = false;
        QCOMPARE(picture.level(), CacheLevel::Off);
        picture.cacheEnabled = true;
        picture.cacheKnown = false;
        QCOMPARE(picture.level(), CacheLevel::Unknown);
    }

    void modelsKeepTheRules()
    {
        CacheModel cache;
        const QAbstractItemModelTester cacheTester(&cache, QAbstractItemModelTester::FailureReportingMode::QtTest);
        ErasuresModel erasures;
        const QAbstractItemModelTester erasuresTester(&erasures,
                                                      QAbstractItemModelTester::FailureReportingMode::QtTest);
        ClaimsModel claims;
        const QAbstractItemModelTester claimsTester(&claims, QAbstractItemModelTester::FailureReportingMode::QtTest);
        ProbeModel probe;
        const QAbstractItemModelTester probeTester(&probe, QAbstractItemModelTester::FailureReportingMode::QtTest);
        LogLinesModel log;
        const QAbstractItemModelTester logTester(&log, QAbstractItemModelTester::FailureReportingMode::QtTest);
        LogFilter filter;
        filter.setSourceModel(&log);
        const QAbstractItemModelTester filterTester(&filter, QAbstractItemModelTester::FailureReportingMode::QtTest);
        EventsModel events;
        EventsFilter eventsFilter;
        eventsFilter.setSourceModel(&events);
        const QAbstractItemModelTester eventsTester(&eventsFilter,
                                                    QAbstractItemModelTester::FailureReportingMode::QtTest);

        SlotsPicture picture = parseSlotsPicture(slotsAnswer());
        const EvidenceValue evidence = parseEvidence(evidenceAnswer());
        cache.setEntries(picture.cached);
        erasures.setErasures(picture.erasures);
        claims.setClaims(evidence.claims);
        probe.setProbe(evidence.probe);
        log.append(parseLog(logAnswer(1, 30, 31)).lines);
        QCOMPARE(cache.rowCount(), 2);
        QCOMPARE(erasures.rowCount(), 2);
        QCOMPARE(claims.rowCount(), 3);
        QCOMPARE(probe.rowCount(), 3);
        QCOMPARE(log.rowCount(), 30);
        // Change, insert, remove.
        picture.cached.prepend(CachedPrompt{7, 0, 100, {}, true});
        picture.cached[1].bytes = 5;
        picture.erasures.removeLast();
        cache.setEntries(picture.cached);
        erasures.setErasures(picture.erasures);
        claims.setClaims({});
        probe.setProbe({evidence.probe.at(2)});
        log.append(parseLog(logAnswer(20, 30, 50)).lines); // the first ten are there
        QCOMPARE(log.rowCount(), 49);
        QCOMPARE(cache.rowCount(), 3);
        QCOMPARE(cell(&cache, 1, CacheModel::Size).data(RawRole).toLongLong(), 5);
        filter.setLevel(LogFilter::Level::Warnings);
        QCOMPARE(filter.rowCount(), 4);
        filter.setSlot(1);
        QCOMPARE(filter.rowCount(), 0);
        filter.clearAll();
        QCOMPARE(filter.rowCount(), 49);
        log.clear();
        QCOMPARE(filter.rowCount(), 0);
        EventValue plan;
        plan.kind = QStringLiteral("plan");
        EventValue erased;
        erased.kind = QStringLiteral("checkpoint erased");
        erased.problem = true;
        events.append({plan, erased, plan});
        eventsFilter.setGroup(EventsFilter::Group::Problems);
        QCOMPARE(eventsFilter.rowCount(), 1);
        eventsFilter.setGroup(EventsFilter::Group::Checkpoints);
        QCOMPARE(eventsFilter.rowCount(), 1);
        eventsFilter.setGroup(EventsFilter::Group::All);
        eventsFilter.setWords(QStringLiteral("PLAN"));
        QCOMPARE(eventsFilter.rowCount(), 2);
    }

    void theLogKeepsItsLastLines()
    {
        LogLinesModel model;
        QList<LogLineValue> lines;
        for (int i = 1; i <= LogLinesModel::kLimit + 25; ++i) {
            LogLineValue line;
            line.number = i;
            lines.append(line);
        }
        model.append(lines.first(LogLinesModel::kLimit - 10));
        model.append(lines.mid(LogLinesModel::kLimit - 20)); // overlaps by ten
        QCOMPARE(model.rowCount(), LogLinesModel::kLimit);
        QCOMPARE(model.line(0).number, 26);
        QCOMPARE(model.nextNumber(), LogLinesModel::kLimit + 26);
    }

    /// What the lanes say is what the wire said.
    void lanesShowTheWire()
    {
        Desk desk;
        SlotsView view(&desk.desk);
        view.setContextSize(4096);
        view.resize(900, 320);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        QTRY_COMPARE_WITH_TIMEOUT(view.lanes()->tableRows(), 2, 5000);
        SlotLanes *lanes = view.lanes();
        QCOMPARE(lanes->tableCell(0, 0), QStringLiteral("0"));
        QCOMPARE(lanes->tableCell(0, 1), QStringLiteral("1,348"));
        QCOMPARE(lanes->tableCell(0, 2), QStringLiteral("busy, task 44"));
        QCOMPARE(lanes->tableCell(0, 3), QStringLiteral("port-scheduler"));
        QCOMPARE(lanes->tableCell(0, 4), QStringLiteral("2"));
        QCOMPARE(lanes->tableCell(1, 2), QStringLiteral("has not run yet"));
        QCOMPARE(view.cacheModel()->rowCount(), 2);
        QCOMPARE(cell(view.cacheModel(), 0, CacheModel::Tokens).data().toString(), QStringLiteral("4,926"));
        QCOMPARE(cell(view.cacheModel(), 1, CacheModel::Tokens).data().toString(), QStringLiteral("~3,216"));
        QCOMPARE(cell(view.cacheModel(), 0, CacheModel::Size).data().toString(), mebibytes(6387924));
        QCOMPARE(cell(view.cacheModel(), 1, CacheModel::Checkpoints).data().toString(), QStringLiteral("not reported"));
        QCOMPARE(view.gauge()->level(), CacheLevel::Full);
        QVERIFY(view.gauge()->headline().endsWith(QStringLiteral("full"))); // a word, not colour alone
        QVERIFY(view.gauge()->accessibleDescription().contains(QStringLiteral("dropped")));

        // Time to pixels and back; a running slot reaches to now.
        const TimeScale scale = lanes->scale();
        QCOMPARE(scale.endMs, kNow);
        QVERIFY(qAbs(scale.toMs(scale.toX(kNow - 30'000)) - (kNow - 30'000)) < 200);
        // The area stands as high as the tokens that were held: 3,216 of 4,096 at the middle.
        const QImage image = lanes->viewport()->grab().toImage();
        const qreal ratio = image.devicePixelRatio();
        const QRectF lane = lanes->laneRect(0);
        const SemanticColors c = SemanticColors::of(lanes->palette());
        const auto at = [&](qint64 ms, qreal share) {
            const qreal band = lanes->fontMetrics().height() + 1;
            const QRectF plot(scale.left, lane.top() + 5, scale.width, lane.height() - band - 12);
            const QPointF point(scale.toX(ms), plot.bottom() - share * plot.height());
            return image.pixelColor((point * ratio).toPoint());
        };
        QVERIFY(at(1'796'000'065'000, 0.5) != c.base); // inside 0.785
        QCOMPARE(at(1'796'000'065'000, 0.9), c.base); // above it
        QCOMPARE(at(1'796'000'080'000, 0.9), c.base);
        // The busy bands: during task 40, not in between.
        const auto band = [&](qint64 ms) {
            return image.pixelColor(
                (QPointF(scale.toX(ms), lane.bottom() - 4 - lanes->fontMetrics().height() / 2.0) * ratio).toPoint());
        };
        QCOMPARE(band(1'796'000'038'000), c.prefilled);
        QCOMPARE(band(1'796'000'065'000), c.base);

        // Words where one points: what, value, why.
        const QString tip = lanes->tipAt(QPointF(scale.toX(1'796'000'030'000), lane.center().y()).toPoint());
        QVERIFY2(tip.contains(QStringLiteral("Task 40, port-scheduler"))
                     && tip.contains(QStringLiteral("3,216 prefilled")) && tip.contains(QStringLiteral("101.6 ms")),
                 qPrintable(tip));
        const QString erased = lanes->tipAt(QPointF(scale.toX(1'796'000'090'500), lane.center().y()).toPoint());
        QCOMPARE(erased, QStringLiteral("Task 44 erased 5 checkpoints"));
        QVERIFY(lanes->tipAt(QPoint(10, lane.center().toPoint().y())).contains(QStringLiteral("port-scheduler")));
    }

    void lanesByKeyboardAndReader()
    {
        Desk desk;
        SlotsView view(&desk.desk);
        view.resize(700, 320);
        view.show();
        QTRY_COMPARE_WITH_TIMEOUT(view.lanes()->tableRows(), 2, 5000);
        SlotLanes *lanes = view.lanes();
        lanes->setFocus();
        QCOMPARE(lanes->currentSlot(), 0);
        QSignalSpy chosen(lanes, &SlotLanes::currentSlotChanged);
        QTest::keyClick(lanes, Qt::Key_Down);
        QCOMPARE(lanes->currentSlot(), 1);
        QCOMPARE(chosen.count(), 1);
        QTest::keyClick(lanes, Qt::Key_Down); // there is none below
        QCOMPARE(lanes->currentSlot(), 1);
        QTest::mouseClick(lanes->viewport(), Qt::LeftButton, {}, lanes->laneRect(0).center().toPoint());
        QCOMPARE(lanes->currentSlot(), 0);
        QSignalSpy task(lanes, &SlotLanes::taskActivated);
        QTest::keyClick(lanes, Qt::Key_Return);
        QCOMPARE(task.count(), 1);
        QCOMPARE(task.at(0).at(0).toLongLong(), 44);
        const TimeScale whole = lanes->scale();
        QTest::keyClick(lanes, Qt::Key_Plus);
        QVERIFY(lanes->scale().endMs - lanes->scale().beginMs < whole.endMs - whole.beginMs);
        QTest::keyClick(lanes, Qt::Key_0);
        QCOMPARE(lanes->scale().beginMs, whole.beginMs);
        QAccessibleInterface *reader = QAccessible::queryAccessibleInterface(lanes);
        QVERIFY(reader && reader->tableInterface());
        QCOMPARE(reader->tableInterface()->rowCount(), 2);
        QCOMPARE(reader->tableInterface()->cellAt(0, 1)->text(QAccessible::Name), QStringLiteral("1,348"));
        QVERIFY(lanes->tableDescription().contains(QStringLiteral("slot 0 busy, task 44")));
    }

    void hiddenViewsAskNothing()
    {
        Desk desk;
        SlotsView slotsView(&desk.desk);
        ServerLogView logView(&desk.desk);
        EvidenceView evidenceView(&desk.desk);
        QTest::qWait(400);
        QCOMPARE(desk.client->calls.size(), 0);
        slotsView.show();
        QTRY_VERIFY_WITH_TIMEOUT(desk.client->count(QStringLiteral("server.slots")) > 0, 3000);
        slotsView.hide();
        QTest::qWait(300);
        const int before = desk.client->count(QStringLiteral("server.slots"));
        for (int i = 0; i < 20; ++i)
            Q_EMIT desk.client->event(QStringLiteral("slots"), {});
        QTest::qWait(400);
        QCOMPARE(desk.client->count(QStringLiteral("server.slots")), before);
        // Many events are one question.
        slotsView.show();
        QTest::qWait(300);
        const int shown = desk.client->count(QStringLiteral("server.slots"));
        for (int i = 0; i < 200; ++i)
            Q_EMIT desk.client->event(QStringLiteral("slots"), {});
        QTest::qWait(300);
        QVERIFY(desk.client->count(QStringLiteral("server.slots")) - shown <= 4);
    }

    void theLogIsReadFilteredAndFollowed()
    {
        Desk desk;
        ServerLogView view(&desk.desk);
        view.resize(900, 300);
        view.show();
        QTRY_COMPARE_WITH_TIMEOUT(desk.desk.logLines()->rowCount(), 200, 5000);
        QTableView *table = view.table();
        QCOMPARE(view.filter()->rowCount(), 200);
        QCOMPARE(cell(view.filter(), 2, LogLinesModel::Raw).data().toString(),
                 QStringLiteral("0.05.785.665 I slot release: line 3"));
        QCOMPARE(cell(view.filter(), 2, LogLinesModel::Reading).data().toString(),
                 QStringLiteral("checkpoint 3 restored"));
        QTRY_COMPARE(table->verticalScrollBar()->value(), table->verticalScrollBar()->maximum()); // followed
        QVERIFY(view.isFollowing());

        // News is followed; who scrolls up is left alone.
        desk.lines = 260;
        Q_EMIT desk.client->event(QStringLiteral("log"), {{QStringLiteral("number"), 260}});
        QTRY_COMPARE_WITH_TIMEOUT(desk.desk.logLines()->rowCount(), 260, 3000);
        QTRY_COMPARE(table->verticalScrollBar()->value(), table->verticalScrollBar()->maximum());
        table->verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepSub);
        QVERIFY(!view.isFollowing());
        const int place = table->verticalScrollBar()->value();
        desk.lines = 300;
        Q_EMIT desk.client->event(QStringLiteral("log"), {{QStringLiteral("number"), 300}});
        QTRY_COMPARE_WITH_TIMEOUT(desk.desk.logLines()->rowCount(), 300, 3000);
        QTest::qWait(50);
        QCOMPARE(table->verticalScrollBar()->value(), place);
        auto *follow = view.findChild<QToolButton *>(QStringLiteral("logFollow"));
        QVERIFY(!follow->isChecked());
        QTest::mouseClick(follow, Qt::LeftButton);
        QVERIFY(view.isFollowing());
        QCOMPARE(table->verticalScrollBar()->value(), table->verticalScrollBar()->maximum());

        // Filters, each and together.
        auto *level = view.findChild<QComboBox *>(QStringLiteral("logLevel"));
        level->setCurrentIndex(2);
        QCOMPARE(view.filter()->rowCount(), 30);
        level->setCurrentIndex(0);
        auto *task = view.findChild<QLineEdit *>(QStringLiteral("logTask"));
        QTest::keyClicks(task, QStringLiteral("7"));
        QCOMPARE(view.filter()->rowCount(), 10);
        task->clear();
        auto *expression = view.findChild<QLineEdit *>(QStringLiteral("logExpression"));
        QTest::keyClicks(expression, QStringLiteral("checkpoint \\d7 "));
        QCOMPARE(view.filter()->rowCount(), 3); // 27, 57 and 87 of the readings
        expression->clear();
        QTest::keyClicks(expression, QStringLiteral("(")); // half an expression: the last good one stays
        QVERIFY(expression->toolTip().contains(QStringLiteral("Not a regular expression")));
        QCOMPARE(view.filter()->rowCount(), 300);
        expression->clear();
        auto *odd = view.findChild<QToolButton *>(QStringLiteral("logNotUnderstood"));
        QVERIFY(odd->isVisible());
        QCOMPARE(odd->text(), QStringLiteral("Not understood: 6"));
        QTest::mouseClick(odd, Qt::LeftButton);
        QCOMPARE(view.filter()->rowCount(), 6);
        QTest::mouseClick(odd, Qt::LeftButton);
        view.showTask(12);
        QCOMPARE(view.filter()->rowCount(), 10);
        QVERIFY(view.showText(QStringLiteral("line 77")));
        QCOMPARE(view.table()->currentIndex().siblingAtColumn(LogLinesModel::Raw).data().toString(),
                 QStringLiteral("0.05.785.665 I slot release: line 77"));
        QVERIFY(!view.isFollowing());
    }

    void pausedLogSaysHowMuchCame()
    {
        Desk desk;
        ServerLogView view(&desk.desk);
        view.show();
        QTRY_COMPARE_WITH_TIMEOUT(desk.desk.logLines()->rowCount(), 200, 5000);
        desk.desk.setPaused(true);
        desk.lines = 412;
        Q_EMIT desk.client->event(QStringLiteral("log"), {{QStringLiteral("number"), 412}});
        auto *note = view.findChild<QLabel *>(QStringLiteral("logNote"));
        QTRY_COMPARE(note->text(), QStringLiteral("Paused, 212 new"));
        QTest::qWait(250);
        QCOMPARE(desk.desk.logLines()->rowCount(), 200);
        desk.desk.setPaused(false);
        QTRY_COMPARE_WITH_TIMEOUT(desk.desk.logLines()->rowCount(), 412, 3000);
        QTRY_VERIFY(!note->isVisible());
    }

    void anotherClientsLogIsNotMixedIn()
    {
        Desk desk;
        ServerLogView view(&desk.desk);
        view.show();
        QTRY_COMPARE_WITH_TIMEOUT(desk.desk.logLines()->rowCount(), 200, 5000);
        auto other = std::make_shared<ScriptedClient>();
        other->give(QStringLiteral("server.log"), logAnswer(1, 5, 6));
        desk.desk.setClient(other);
        QCOMPARE(desk.desk.logLines()->rowCount(), 0);
        QTRY_COMPARE_WITH_TIMEOUT(desk.desk.logLines()->rowCount(), 5, 3000);
        desk.desk.setClient({});
        QCOMPARE(desk.desk.logLines()->rowCount(), 0);
    }

    void eventsHeldAndFiltered()
    {
        EventsView view;
        view.resize(600, 200);
        view.show();
        QList<EventValue> events;
        for (int i = 0; i < 50; ++i)
            events << parseEvent(QStringLiteral("server"),
                                 {{QStringLiteral("kind"), QStringLiteral("checkpoint-erased")},
                                  {QStringLiteral("slot"), 0},
                                  {QStringLiteral("task"), i},
                                  {QStringLiteral("position"), 1349}},
                                 QDateTime::currentDateTimeUtc());
        view.append(events);
        QCOMPARE(view.model()->rowCount(), 50);
        QCOMPARE(cell(view.filter(), 7, EventsModel::Kind).data().toString(), QStringLiteral("checkpoint erased"));
        QCOMPARE(cell(view.filter(), 7, EventsModel::Slot).data().toString(), QStringLiteral("0"));
        QCOMPARE(cell(view.filter(), 7, EventsModel::Text).data().toString(),
                 QStringLiteral("Checkpoint 1,349 erased by task 7"));
        QTRY_COMPARE(view.table()->verticalScrollBar()->value(), view.table()->verticalScrollBar()->maximum());
        view.setPaused(true);
        for (int i = 0; i < 212; ++i)
            view.append({events.constFirst()});
        auto *bar = view.findChild<QLabel *>(QStringLiteral("eventsPaused"));
        QCOMPARE(bar->text(), QStringLiteral("Paused, 212 new"));
        QVERIFY(bar->isVisible());
        QCOMPARE(view.model()->rowCount(), 50);
        view.setPaused(false);
        QCOMPARE(view.model()->rowCount(), 262);
        QVERIFY(!bar->isVisible());
        QTest::keyClicks(view.findChild<QLineEdit *>(QStringLiteral("eventsFilter")), QStringLiteral("task 48"));
        QCOMPARE(view.filter()->rowCount(), 1);
        QSignalSpy task(&view, &EventsView::taskActivated);
        view.table()->setCurrentIndex(cell(view.filter(), 0, 0));
        Q_EMIT view.table()->activated(cell(view.filter(), 0, 0));
        QCOMPARE(task.at(0).at(0).toLongLong(), 48);
        // The state of the server said twice is one line.
        view.findChild<QLineEdit *>(QStringLiteral("eventsFilter"))->clear();
        const EventValue up = parseEvent(QStringLiteral("server"),
                                         {{QStringLiteral("backend"), QStringLiteral("llama-server x")},
                                          {QStringLiteral("reachable"), true},
                                          {QStringLiteral("memory_kind"), QStringLiteral("full_attention")}},
                                         QDateTime::currentDateTimeUtc());
        const int before = view.model()->rowCount();
        view.append({up, up});
        view.append({up});
        QCOMPARE(view.model()->rowCount(), before + 1);
        QCOMPARE(up.text, QStringLiteral("llama-server x, memory full attention"));
    }

    void everyEventIsASentence_data()
    {
        QTest::addColumn<QString>("topic");
        QTest::addColumn<QByteArray>("params");
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QString>("text");
        const auto row = [](const char *name, const char *topic, const char *params, const char *kind,
                            const char *text) {
            QTest::newRow(name) << QString::fromUtf8(topic) << QByteArray(params) << QString::fromUtf8(kind)
                                << QString::fromUtf8(text);
        };
        row("refuted", "outcome",
            R"({"settlement":"refuted","predicted_reuse":1786,"measured_reuse":0,"measured_prefill":2214,
            "compaction_id":5,"cause":"checkpoint erased by task 22"})",
            "refuted",
            "Compaction 5. Predicted 1,786, measured 0 reused, 2,214 prefilled: refuted (checkpoint erased by task "
            "22)");
        row("settled", "outcome",
            R"({"settlement":"confirmed","predicted_reuse":1349,"measured_reuse":1348,"measured_prefill":954,
            "compaction_id":null,"cause":null})",
            "settled", "Predicted 1,349, measured 1,348 reused, 954 prefilled: confirmed");
        row("null is not 0", "outcome",
            R"({"settlement":"none","predicted_reuse":null,"measured_reuse":0,"measured_prefill":null})", "settled",
            "0 reused, not reported prefilled; no prediction was open");
        row("undone", "applied", R"({"undone":true,"compaction_id":3})", "undone", "Compaction 3 undone");
        row("finished", "server",
            R"({"kind":"task-finished","task":40,"prompt_tokens":2302,"reused":1348,"prefilled":954})", "task finished",
            "Task 40: prompt of 2,302 tokens, 1,348 reused, 954 prefilled");
        row("estimated", "episode", R"({"seq":3,"role":"user","token_count":1200,"exact":false})", "episode",
            "Episode 3, user, ~1,200 tokens");
        row("down", "server", R"({"kind":"server-down","url":"http://x","error":"connection refused"})", "server down",
            "connection refused");
    }
    void everyEventIsASentence()
    {
        QFETCH(QString, topic);
        QFETCH(QByteArray, params);
        const QJsonObject object = uisample::json(params.constData());
        QTEST(eventKindWord(topic, object), "kind");
        QTEST(eventSentence(topic, object), "text");
    }

    void evidenceIsShownAndForgotten()
    {
        Desk desk;
        desk.client->give(
            QStringLiteral("server.forget"),
            uisample::json(R"({"claim":"memory_kind","forgotten":1,"now":{"value":"checkpointed","evidence":"log"}})"));
        EvidenceView view(&desk.desk);
        view.resize(700, 500);
        view.show();
        QTRY_COMPARE_WITH_TIMEOUT(view.claims()->rowCount(), 3, 5000);
        QCOMPARE(cell(view.claims(), 0, ClaimsModel::Claim).data().toString(), QStringLiteral("Memory kind"));
        QCOMPARE(cell(view.claims(), 0, ClaimsModel::Value).data().toString(), QStringLiteral("checkpointed"));
        QCOMPARE(cell(view.claims(), 0, ClaimsModel::Source).data().toString(),
                 QStringLiteral("server log: architecture gemma3, sliding window 512"));
        QCOMPARE(cell(view.claims(), 0, ClaimsModel::Contradicted).data().toString(),
                 QStringLiteral("observed requests: full attention"));
        QCOMPARE(cell(view.claims(), 2, ClaimsModel::Contradicted).data().toString(), QStringLiteral("nothing"));
        QCOMPARE(cell(view.claims(), 2, ClaimsModel::When).data().toString(), QStringLiteral("not reported"));
        QVERIFY(cell(view.claims(), 1, ClaimsModel::Source).data().toString().contains(QStringLiteral("kept")));
        QCOMPARE(cell(view.probe(), 0, ProbeModel::Status).data().toString(), QStringLiteral("✓ 200"));
        QVERIFY(
            cell(view.probe(), 1, ProbeModel::Message).data().toString().contains(QStringLiteral("--slot-save-path")));
        QCOMPARE(cell(view.probe(), 2, ProbeModel::Status).data().toString(), QStringLiteral("✕ no answer"));

        auto *forget = view.findChild<QToolButton *>(QStringLiteral("forgetClaim"));
        QVERIFY(!forget->isEnabled());
        view.claimsTable()->setCurrentIndex(cell(view.claims(), 0, 0)); // from the log: it would come back at once
        QVERIFY(!forget->isEnabled());
        QVERIFY(forget->toolTip().contains(QStringLiteral("Read anew")));
        view.claimsTable()->setCurrentIndex(cell(view.claims(), 1, 0));
        QVERIFY(forget->isEnabled());
        QSignalSpy said(&desk.desk, &ServerDesk::said);
        QTest::mouseClick(forget, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(said.count(), 1, 3000);
        QCOMPARE(said.at(0).at(0).toString(), QStringLiteral("Memory kind is forgotten. Now: checkpointed."));
        const auto call = std::find_if(desk.client->calls.cbegin(), desk.client->calls.cend(),
                                       [](const auto &c) { return c.method == QLatin1String("server.forget"); });
        QVERIFY(call != desk.client->calls.cend());
        QCOMPARE(call->params.value(QLatin1String("claim")).toString(), QStringLiteral("memory_kind"));
        QCOMPARE(call->params.value(QLatin1String("evidence")).toString(), QStringLiteral("observed"));
        QTest::mouseClick(view.findChild<QToolButton *>(QStringLiteral("probeAgain")), Qt::LeftButton);
        QTRY_VERIFY(std::any_of(desk.client->calls.cbegin(), desk.client->calls.cend(), [](const auto &c) {
            return c.method == QLatin1String("server.evidence") && c.params.value(QLatin1String("refresh")).toBool();
        }));
    }

    void nothingIsErasedUnasked()
    {
        const SlotsPicture picture = parseSlotsPicture(slotsAnswer());
        SlotsPicture idle = picture;
        idle.lanes[0].busy = false;
        {
            SlotDialog busy(SlotDialog::Act::Erase, picture, 0, {});
            QVERIFY(!busy.findChild<QPushButton *>(QStringLiteral("slotDialogGo"))->isEnabled());
            QVERIFY(
                busy.findChild<QLabel *>(QStringLiteral("slotDialogText"))->text().contains(QStringLiteral("busy")));
        }
        SlotDialog erase(SlotDialog::Act::Erase, idle, 0, {});
        erase.show();
        auto *go = erase.findChild<QPushButton *>(QStringLiteral("slotDialogGo"));
        auto *consent = erase.findChild<QCheckBox *>(QStringLiteral("slotDialogConsent"));
        QVERIFY(!go->isEnabled() && !consent->isChecked() && !erase.consents());
        QCOMPARE(consent->text(), QStringLiteral("Erase 1,348 tokens and 2 checkpoints of slot 0"));
        QTest::keyClick(&erase, Qt::Key_Return); // Cancel is what Return means
        QVERIFY(!erase.isVisible());
        QCOMPARE(erase.result(), int(QDialog::Rejected));
        erase.show();
        QTest::mouseClick(consent, Qt::LeftButton, {}, QPoint(8, consent->height() / 2));
        QVERIFY(go->isEnabled());
        QTest::mouseClick(go, Qt::LeftButton);
        QCOMPARE(erase.result(), int(QDialog::Accepted));
        QVERIFY(erase.consents());

        SlotDialog save(SlotDialog::Act::Save, idle, 0, {}); // takes nothing away: nothing to tick
        QVERIFY(!save.findChild<QCheckBox *>());
        QVERIFY(save.findChild<QPushButton *>(QStringLiteral("slotDialogGo"))->isEnabled());
        SlotDialog restore(SlotDialog::Act::Restore, idle, 1, QStringLiteral("kerf-a.bin"));
        auto *files = restore.findChild<QComboBox *>(QStringLiteral("slotDialogFile"));
        QCOMPARE(files->count(), 2); // the one that is missing is not offered
        QCOMPARE(restore.file(), QStringLiteral("kerf-a.bin"));
        QVERIFY(restore.findChild<QPushButton *>(QStringLiteral("slotDialogGo"))->isEnabled()); // slot 1 is empty
        auto *slot = restore.findChild<QComboBox *>(QStringLiteral("slotDialogSlot"));
        slot->setCurrentIndex(0);
        QVERIFY(!restore.findChild<QPushButton *>(QStringLiteral("slotDialogGo"))->isEnabled());
    }

    void actsReachTheService()
    {
        Desk desk;
        desk.client->give(
            QStringLiteral("server.slot"),
            uisample::json(R"({"slot_id":0,"action":"save","file":"kerf-x.bin","tokens":3216,"note":null})"));
        QSignalSpy said(&desk.desk, &ServerDesk::said);
        QSignalSpy failed(&desk.desk, &ServerDesk::failed);
        desk.desk.saveSlot(0);
        QTRY_COMPARE_WITH_TIMEOUT(said.count(), 1, 3000);
        QCOMPARE(said.at(0).at(0).toString(), QStringLiteral("Slot 0 saved: 3,216 tokens in kerf-x.bin."));
        desk.client->answers.insert(QStringLiteral("server.slot"), [](const QJsonObject &) -> Result<QJsonObject> {
            return failure(Error::Code::Refused, QStringLiteral("Start it with `--slot-save-path`"));
        });
        desk.desk.eraseSlot(0, true);
        QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 3000);
        QCOMPARE(failed.at(0).at(0).toString(), QStringLiteral("Slot 0 was not erased"));
        const QJsonObject params = desk.client->calls.constLast().params;
        QCOMPARE(params.value(QLatin1String("action")).toString(), QStringLiteral("erase"));
        QVERIFY(params.value(QLatin1String("consent")).toBool());
    }

    void checkpointsWithSaveFilesAndForecast()
    {
        Desk desk;
        desk.desk.watchSlots(true);
        QTRY_VERIFY_WITH_TIMEOUT(desk.desk.slotsPicture().known, 3000);
        CheckpointsView view(&desk.desk);
        view.resize(700, 300);
        view.show();
        CutPicture picture;
        picture.exact = true;
        for (const int position : {436, 1348}) {
            CheckpointMark mark;
            mark.checkpoint.position = position;
            mark.checkpoint.sizeBytes = position == 436 ? 898'761 : 1'059'061;
            mark.checkpoint.taskId = 12;
            picture.checkpoints << mark;
        }
        const QAbstractItemModelTester tester(view.model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        view.setPicture(picture, QStringLiteral("port-scheduler"), 8);
        QCOMPARE(view.model()->rowCount(), 4); // with this session's two files
        const int missing = view.model()->rowOf(1200);
        QCOMPARE(cell(view.model(), missing, CheckpointsModel::ForThisCut).data().toString(),
                 QStringLiteral("file missing"));
        QVERIFY2(view.sumText().contains(QStringLiteral("full at 8: about 7.47 MiB")), qPrintable(view.sumText()));
        view.setPicture(picture, QStringLiteral("port-scheduler"), 2);
        QVERIFY(view.sumText().contains(QStringLiteral("the ring is full (2)")));
        view.setPicture(picture, QStringLiteral("other"), 2);
        QCOMPARE(view.model()->rowCount(), 3);
        QCOMPARE(cell(view.model(), view.model()->rowOf(77), CheckpointsModel::ForThisCut).data().toString(),
                 QStringLiteral("identity changed"));
        view.setPicture(picture, QStringLiteral("port-scheduler"), 8);
        view.select(3216);
        QVERIFY(view.current() && view.restore()->isEnabled() && view.deleteFile()->isEnabled());
        QSignalSpy restore(&view, &CheckpointsView::restoreRequested);
        view.restore()->trigger();
        QCOMPARE(restore.at(0).at(0).toString(), QStringLiteral("kerf-a.bin"));
        view.select(1200);
        QVERIFY(!view.restore()->isEnabled()); // its file is gone
        view.select(1348);
        QVERIFY(!view.restore()->isEnabled() && !view.deleteFile()->isEnabled());
        QSignalSpy cut(&view, &CheckpointsView::cutRequested);
        view.cutHere()->trigger();
        QCOMPARE(cut.at(0).at(0).toInt(), 1348);
        QSignalSpy log(&view, &CheckpointsView::logRequested);
        view.showInLog()->trigger();
        QCOMPARE(log.at(0).at(1).toLongLong(), 12);
    }
};

QTEST_MAIN(ServerViewsTest)
#include "tst_ui_server.moc"
