// kerf-test: link=kerf_ui
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/unit/ui_sample.h"
#include "ui/models/tablemodels.h"
#include "ui/viewmodel/liveview.h"
#include "ui/viewmodel/numbers.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QtTest>

using namespace kerf;

class ViewModelTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }

    void numbers()
    {
        QCOMPARE(number(1349), QStringLiteral("1,349"));
        QCOMPARE(approx(1349), QStringLiteral("~1,349"));
        QCOMPARE(signedNumber(-259), QString::fromUtf8("−259"));
        QCOMPARE(signedNumber(59), QStringLiteral("+59"));
        QCOMPARE(signedNumber(0), QStringLiteral("0"));
        QCOMPARE(numberOr(std::nullopt), QStringLiteral("not reported"));
        QCOMPARE(numberOr(0), QStringLiteral("0")); // zero is a number, not an unknown
        QCOMPARE(milliseconds(101.57), QStringLiteral("101.6 ms"));
        QCOMPARE(milliseconds(1240), QStringLiteral("1.24 s"));
        QCOMPARE(percent(0.562), QStringLiteral("56.2 %"));
        QCOMPARE(shortPosition(500), QStringLiteral("500"));
        QCOMPARE(shortPosition(1500), QStringLiteral("1.5k"));
        QCOMPARE(shortPosition(2000), QStringLiteral("2k"));
    }

    void parsesPlan()
    {
        const PlanValue plan = parsePlan(uisample::plan());
        QCOMPARE(plan.verdict, Verdict::Snapped);
        QCOMPARE(plan.cacheStatus, CacheStatus::PartialReuse);
        QVERIFY(plan.hasBoundary);
        QCOMPARE(plan.boundary.alignedCut, 1349);
        QCOMPARE(plan.boundary.snapDelta, -259);
        QCOMPARE(plan.updates.size(), 8);
        QCOMPARE(plan.alternatives.size(), 10);
        QCOMPARE(verdictHeadline(plan), QStringLiteral("Snapped 259 back to 1,349"));
        QCOMPARE(verdictShort(plan), QString::fromUtf8("snapped −259"));
    }
    void relaxedPlanHasNoCut()
    {
        QJsonObject object = uisample::plan();
        object.insert(QStringLiteral("pressure"), QStringLiteral("relaxed"));
        object.insert(QStringLiteral("verdict"), QJsonValue());
        object.insert(QStringLiteral("updates"), QJsonArray());
        QJsonObject boundary = object.value(QStringLiteral("boundary")).toObject();
        for (const QString &key : boundary.keys())
            boundary.insert(key, QJsonValue());
        object.insert(QStringLiteral("boundary"), boundary);
        const PlanValue plan = parsePlan(object);
        QVERIFY(!plan.hasBoundary);
        QCOMPARE(plan.verdict, Verdict::None);
        ConsoleData data;
        data.plan = plan;
        data.hasSession = true;
        QCOMPARE(buildCutPicture(data, 0).cut, CutPicture::Cut::None);
        QCOMPARE(verdictHeadline(plan), QStringLiteral("No cut is needed"));
    }
    void unknownIsNotZero()
    {
        QJsonObject object = uisample::compactions();
        QJsonArray list = object.value(QStringLiteral("compactions")).toArray();
        QJsonObject first = list.at(0).toObject();
        first.insert(QStringLiteral("measured_ms"), QJsonValue());
        first.remove(QStringLiteral("measured_reuse"));
        first.insert(QStringLiteral("measured_prefill"), 0);
        list.replace(0, first);
        const QList<PlanValue> plans = parseCompactions({{QStringLiteral("compactions"), list}});
        QVERIFY(!plans.first().measuredMs);
        QVERIFY(!plans.first().measuredReuse);
        QCOMPARE(plans.first().measuredPrefill, std::optional<int>(0));
    }
    void parsesOddInput()
    {
        // Nothing here may crash, whatever comes.
        QVERIFY(parseSlots({{QStringLiteral("slots"), 7}}).isEmpty());
        QCOMPARE(parsePlan({}).updates.size(), 0);
        QVERIFY(!parseDoctor({}).known);
        QVERIFY(!parseDoctor({{QStringLiteral("n_ctx"), 0}}).contextSize);
        QVERIFY(!parseReceipt({}).tokensReused);
        QCOMPARE(parseEpisodes({{QStringLiteral("episodes"), QJsonArray{1, QStringLiteral("x")}}}).size(), 2);
    }
    void bytesOfTokens()
    {
        const PromptValue prompt =
            parsePrompt({{QStringLiteral("tokens"),
                          QJsonArray{QJsonObject{{QStringLiteral("position"), 3},
                                                 {QStringLiteral("id"), 9},
                                                 {QStringLiteral("piece"), QJsonArray{226, 130}}},
                                     QJsonObject{{QStringLiteral("position"), 4},
                                                 {QStringLiteral("id"), QJsonValue()},
                                                 {QStringLiteral("piece"), QJsonValue()}}}}});
        QCOMPARE(prompt.tokens.at(0).bytes, QByteArray("\xe2\x82"));
        QVERIFY(!prompt.tokens.at(1).id);
        QVERIFY(!prompt.tokens.at(1).textKnown);
    }
    void slotsBeforeTheirFirstTask()
    {
        const QList<SlotValue> list = parseSlots(
            {{QStringLiteral("slots"),
              QJsonArray{QJsonObject{{QStringLiteral("slot_id"), 2}, {QStringLiteral("tokens"), QJsonValue()}}}}});
        QVERIFY(!list.first().hasRun);
        QVERIFY(!list.first().ringKnown);
    }

    void pictureOfCompaction()
    {
        ConsoleState state;
        uisample::fill(state);
        const CutPicture picture = buildCutPicture(state.data(), 8);
        QCOMPARE(picture.cut, CutPicture::Cut::Compaction);
        QVERIFY(picture.measured);
        QCOMPARE(picture.reused, std::optional<int>(1348));
        QCOMPARE(picture.retained, 1579);
        QCOMPARE(picture.targetMissed, 49);
        const auto used = std::find_if(picture.checkpoints.begin(), picture.checkpoints.end(),
                                       [](const CheckpointMark &m) { return m.fate == CheckpointMark::Fate::Used; });
        QVERIFY(used != picture.checkpoints.end());
        QCOMPARE(used->checkpoint.position, 1349);
        QCOMPARE(fateWord(*used, picture), QString::fromUtf8("used: −259"));
    }
    void pictureWithoutTheOldPrompt()
    {
        ConsoleState state;
        uisample::fill(state);
        ConsoleData data = state.data();
        data.promptsBefore.clear();
        const CutPicture picture = buildCutPicture(data, 8);
        QVERIFY(picture.blocks.isEmpty()); // the episodes of today are not those of then
        QCOMPARE(picture.tokensOf(SegmentKind::Evicted), 944);
        QCOMPARE(picture.tokensOf(SegmentKind::Recent), 693);
    }
    void reusedBeyondTheRetainedIsNotMoved()
    {
        // The retained count is a lower bound of the LCP: 1,026 reused of 1,019 retained is no chunk that moved.
        ConsoleState state;
        uisample::fill(state);
        ConsoleData data = state.data();
        data.compactions[0].retainedPromptTokens = 1340;
        const CutPicture picture = buildCutPicture(data, 8);
        QCOMPARE(picture.tokensOf(SegmentKind::Moved), 0);
        QCOMPARE(picture.tokensOf(SegmentKind::Reused), 1348);
    }
    void pictureNeverClaimsMoreThanItIs()
    {
        ConsoleState state;
        uisample::fill(state);
        for (int number = 0; number <= 8; ++number) {
            const CutPicture picture = buildCutPicture(state.data(), number);
            int at = 0;
            for (const Segment &segment : picture.segments) {
                QVERIFY(segment.range.begin >= at);
                QVERIFY(segment.range.size() > 0);
                at = segment.range.end;
            }
            QVERIFY(at <= picture.promptTokens);
        }
    }

    void changesAreCoalesced()
    {
        ConsoleState state;
        QSignalSpy spy(&state, &ConsoleState::changed);
        QVERIFY(spy.isValid());
        for (int i = 0; i < 1000; ++i)
            state.update(ConsoleState::Slots, [i](ConsoleData &data) { data.session.turn = i; });
        QCOMPARE(spy.size(), 0);
        QTRY_COMPARE(spy.size(), 1);
        QCOMPARE(state.data().session.turn, 999);
        QTest::qWait(150);
        QCOMPARE(spy.size(), 1);
    }
    void hiddenViewsDoNoWork()
    {
        ConsoleState state;
        QWidget view;
        auto *live = new LiveView(&state, &view, [](ConsoleState::Parts) {});
        state.update(
            ConsoleState::Slots, [](ConsoleData &) {}, true);
        QCOMPARE(live->runs(), 0);
        view.show();
        QCOMPARE(live->runs(), 1); // what it missed, once
        state.update(
            ConsoleState::Slots, [](ConsoleData &) {}, true);
        QCOMPARE(live->runs(), 2);
        view.hide();
        state.update(
            ConsoleState::Slots, [](ConsoleData &) {}, true);
        QCOMPARE(live->runs(), 2);
    }

    void compactionsModel()
    {
        CompactionsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QList<PlanValue> rows = parseCompactions(uisample::compactions());
        model.setCompactions(rows.mid(1));
        QCOMPARE(model.rowCount(), 7);
        QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
        model.setCompactions(rows);
        QCOMPARE(inserted.size(), 1);
        QCOMPARE(reset.size(), 0);
        QCOMPARE(model.index(0, CompactionsModel::Reused).data().toString(), QStringLiteral("1,348"));
        QCOMPARE(model.index(0, CompactionsModel::Outcome).data().toString(), QString::fromUtf8("✓ confirmed"));
        QCOMPARE(model.rowOf(5), 3);
        // A settlement changes one row.
        QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        rows[0].outcome = QStringLiteral("refuted");
        model.setCompactions(rows);
        QCOMPARE(changed.size(), 1);
        QCOMPARE(changed.first().at(0).toModelIndex().row(), 0);
        QCOMPARE(changed.first().at(1).toModelIndex().row(), 0);
        // Predicted wears a sign; measured does not.
        rows[0].measuredReuse.reset();
        model.setCompactions(rows);
        QCOMPARE(model.index(0, CompactionsModel::Reused).data().toString(), QStringLiteral("~1,349"));
        rows.removeAt(3);
        model.setCompactions(rows);
        QCOMPARE(model.rowCount(), 7);
        model.setCompactions({});
        QCOMPARE(model.rowCount(), 0);
    }
    void checkpointsModel()
    {
        ConsoleState state;
        uisample::fill(state);
        CheckpointsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        CutPicture picture = buildCutPicture(state.data(), 8);
        model.setPicture(picture, QDateTime::currentDateTimeUtc());
        QCOMPARE(model.rowCount(), 10);
        QCOMPARE(model.index(model.rowOf(1349), CheckpointsModel::ForThisCut).data().toString(),
                 QString::fromUtf8("used: −259"));
        QCOMPARE(model.index(model.rowOf(2286), CheckpointsModel::ForThisCut).data().toString(),
                 QStringLiteral("erased by this cut"));
        QCOMPARE(model.index(model.rowOf(887), CheckpointsModel::ForThisCut).data().toString(),
                 QStringLiteral("below tolerance"));
        QVERIFY(model.sumText().contains(QStringLiteral("19.30 MiB")));
        picture.checkpoints.removeAt(2);
        picture.checkpoints.last().checkpoint.sizeBytes.reset();
        model.setPicture(picture, QDateTime::currentDateTimeUtc());
        QCOMPARE(model.rowCount(), 9);
        QVERIFY(model.sumText().contains(QStringLiteral("not reported")));
        model.setPicture(CutPicture(), QDateTime::currentDateTimeUtc());
        QCOMPARE(model.rowCount(), 0);
    }
    void eventsModel()
    {
        EventsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QList<EventValue> events;
        for (int i = 0; i < EventsModel::kLimit + 5; ++i)
            events << EventValue{QDateTime::currentDateTimeUtc(), QStringLiteral("plan"), -1, QString::number(i),
                                 false};
        model.append(events.mid(0, 10));
        model.append(events.mid(10));
        QCOMPARE(model.rowCount(), EventsModel::kLimit);
        QCOMPARE(model.index(model.rowCount() - 1, EventsModel::Text).data().toString(),
                 QString::number(EventsModel::kLimit + 4));
        model.clear();
        QCOMPARE(model.rowCount(), 0);
    }
    void evidenceModel()
    {
        EvidenceModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setEvidence(parseDoctor(uisample::doctor()).evidence);
        QCOMPARE(model.index(0, EvidenceModel::Source).data().toString(), QStringLiteral("log: n_swa = 512"));
        model.setEvidence({});
        QCOMPARE(model.rowCount(), 0);
    }
};

QTEST_MAIN(ViewModelTest)
#include "tst_ui_viewmodel.moc"
