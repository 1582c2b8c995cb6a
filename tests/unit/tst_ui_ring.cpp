// kerf-test: link=kerf_ui
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/unit/ui_sample.h"
#include "ui/ring/checkpointring.h"
#include "ui/theme/theme.h"
#include "ui/viewmodel/numbers.h"

#include <QAbstractButton>
#include <QAccessible>
#include <QSignalSpy>
#include <QtTest>

using namespace kerf;

class RingTest : public QObject
{
    Q_OBJECT

    static QColor at(const QImage &image, QPointF point)
    {
        const qreal ratio = image.devicePixelRatio();
        return image.pixelColor(qRound(point.x() * ratio), qRound(point.y() * ratio));
    }

    struct Shown {
        ConsoleState state;
        CheckpointRing ring{state.selection()};
        Shown()
        {
            uisample::fill(state);
            state.selection()->selectCompaction(8);
            ring.resize(340, 460);
            ring.setPalette(themePalette(ThemeChoice::Light));
            ring.setPicture(state.picture());
            ring.show();
        }
        bool focus()
        {
            ring.activateWindow();
            ring.setFocus();
            return QTest::qWaitForWindowActive(&ring) && ring.hasFocus();
        }
    };

private Q_SLOTS:
    void initTestCase() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }

    void scale()
    {
        RingScale scale;
        scale.span = 4096;
        scale.center = QPointF(100, 100);
        scale.radius = 80;
        scale.thickness = 20;
        QCOMPARE(scale.angleOf(1024), 90.0);
        // 0 at the top, clockwise.
        QVERIFY(QLineF(scale.pointAt(0, 80), QPointF(100, 20)).length() < 0.01);
        QVERIFY(QLineF(scale.pointAt(1024, 80), QPointF(180, 100)).length() < 0.01);
        for (const int position : {1, 700, 1349, 2048, 4000})
            QVERIFY(std::abs(*scale.positionAt(scale.pointAt(position, 70), 2, 2) - position) <= 1);
        QVERIFY(!scale.positionAt(QPointF(100, 100), 2, 2));
        QVERIFY(!scale.positionAt(QPointF(100, 0), 2, 2));
    }

    void compactionEight()
    {
        Shown s;
        const CutPicture &picture = s.ring.picture();
        QCOMPARE(picture.cut, CutPicture::Cut::Compaction);
        QCOMPARE(picture.tokensOf(SegmentKind::Reused), 1348);
        QCOMPARE(picture.tokensOf(SegmentKind::KeptAgain), 231);
        QCOMPARE(picture.tokensOf(SegmentKind::Evicted), 944);
        QCOMPARE(picture.tokensOf(SegmentKind::Recent), 693);
        int sum = 0;
        for (const Segment &segment : picture.segments)
            sum += segment.range.size();
        QCOMPARE(sum, 3216);
        QCOMPARE(s.ring.centerNumber(), QStringLiteral("1,348"));
        QCOMPARE(picture.sentTotal, 2302);
        QCOMPARE(s.ring.heads().size(), 10);
        QVERIFY(s.ring.tableDescription().contains(QStringLiteral("3,216 of 4,096 tokens")));
        QVERIFY(s.ring.tableDescription().contains(QStringLiteral("cut at 1,349")));
    }

    void colours()
    {
        Shown s;
        const QImage image = s.ring.grab().toImage();
        const RingScale scale = s.ring.ringScale();
        const SemanticColors c = SemanticColors::light();
        const qreal middle = scale.radius - scale.thickness / 2;
        QCOMPARE(at(image, scale.pointAt(600, middle)).name(), c.reused.name());
        QCOMPARE(at(image, scale.pointAt(2600, middle)).name(), c.recent.name());
        // Free is neither.
        const QColor free = at(image, scale.pointAt(3700, middle));
        QVERIFY(free.lightness() > 230);
        // Hatched: both the ground and the line are found along the arc.
        int light = 0, dark = 0;
        for (int p = 1650; p < 2250; p += 7) {
            const QColor color = at(image, scale.pointAt(p, middle));
            (color.lightness() > 200 ? light : dark)++;
        }
        QVERIFY(light > 10 && dark > 5);
    }

    void dark()
    {
        Shown s;
        s.ring.setPalette(themePalette(ThemeChoice::Dark));
        const QImage image = s.ring.grab().toImage();
        const RingScale scale = s.ring.ringScale();
        QCOMPARE(at(image, scale.pointAt(600, scale.radius - scale.thickness / 2)).name(),
                 SemanticColors::darkTheme().reused.name());
        QCOMPARE(image.pixelColor(2, image.height() - 2).name(), SemanticColors::darkTheme().base.name());
    }

    void keyboard()
    {
        Shown s;
        QVERIFY(s.focus());
        QSignalSpy cut(&s.ring, &CheckpointRing::cutRequested);
        QTest::keyClick(&s.ring, Qt::Key_Home);
        QCOMPARE(s.ring.currentCheckpoint(), std::optional<int>(437));
        QTest::keyClick(&s.ring, Qt::Key_Right);
        QTest::keyClick(&s.ring, Qt::Key_Right);
        QTest::keyClick(&s.ring, Qt::Key_Right);
        QCOMPARE(s.ring.currentCheckpoint(), std::optional<int>(1349));
        QVERIFY(!s.state.selection()->checkpoint());
        QTest::keyClick(&s.ring, Qt::Key_Return);
        QCOMPARE(s.state.selection()->checkpoint(), std::optional<int>(1349));
        QTest::keyClick(&s.ring, Qt::Key_C);
        QCOMPARE(cut.size(), 1);
        QCOMPARE(cut.first().first().toInt(), 1349);
        QTest::keyClick(&s.ring, Qt::Key_End);
        QCOMPARE(s.ring.currentCheckpoint(), std::optional<int>(3216));
        QTest::keyClick(&s.ring, Qt::Key_Right);
        QCOMPARE(s.ring.currentCheckpoint(), std::optional<int>(3216));
        QTest::keyClick(&s.ring, Qt::Key_Escape);
        QVERIFY(!s.state.selection()->checkpoint());
        QCOMPARE(s.state.selection()->compaction(), 8);
    }

    void mouse()
    {
        Shown s;
        QSignalSpy zoom(&s.ring, &CheckpointRing::zoomRequested);
        const RingHead head = s.ring.heads().at(3);
        QTest::mouseClick(&s.ring, Qt::LeftButton, {}, head.center.toPoint());
        QCOMPARE(s.state.selection()->checkpoint(), std::optional<int>(1349));
        const RingScale scale = s.ring.ringScale();
        const QPoint inTrack = scale.pointAt(1700, scale.radius - scale.thickness / 2).toPoint();
        QTest::mouseClick(&s.ring, Qt::LeftButton, {}, inTrack);
        QCOMPARE(s.state.selection()->episodeSeq(), std::optional<int>(13));
        QTest::mouseDClick(&s.ring, Qt::LeftButton, {}, head.center.toPoint());
        QCOMPARE(zoom.size(), 1);
        QTest::mouseMove(&s.ring, inTrack);
        QTRY_VERIFY(s.state.selection()->hoverToken());
        QVERIFY(std::abs(*s.state.selection()->hoverToken() - 1700) < 15);
    }

    void tooltips()
    {
        Shown s;
        const RingScale scale = s.ring.ringScale();
        QCOMPARE(s.ring.tooltipAt(s.ring.heads().at(3).center),
                 QStringLiteral("In-memory checkpoint at 1,349, 1.01 MiB, made by task 12. Used by this cut: the "
                                "server restored 1,348."));
        QCOMPARE(
            s.ring.tooltipAt(scale.pointAt(1450, scale.radius - scale.thickness / 2)),
            QStringLiteral(
                "231 tokens are the same as before but lie above the checkpoint, so the server computes them again."));
        QVERIFY(s.ring.tooltipAt(scale.pointAt(3900, scale.radius - 5)).contains(QStringLiteral("No checkpoint here")));
    }

    void states_data()
    {
        QTest::addColumn<QString>("state");
        QTest::addColumn<QString>("number");
        QTest::addColumn<QString>("word");
        QTest::addColumn<int>("heads");
        QTest::newRow("ring not visible")
            << QStringLiteral("notvisible") << QStringLiteral("0 to 1,579") << QStringLiteral("ring not visible") << 0;
        QTest::newRow("full attention") << QStringLiteral("full") << QStringLiteral("2,272")
                                        << QStringLiteral("no ring needed") << 0;
        QTest::newRow("empty") << QStringLiteral("empty") << QStringLiteral("1,348")
                               << QStringLiteral("no checkpoint yet") << 0;
        QTest::newRow("before first task")
            << QStringLiteral("notrun") << QStringLiteral("1,348") << QStringLiteral("not run yet") << 0;
        QTest::newRow("simulated") << QStringLiteral("simulated") << QStringLiteral("~1,349") << QString() << 10;
        QTest::newRow("no session") << QStringLiteral("nosession") << QString() << QStringLiteral("No session") << 0;
        QTest::newRow("no server") << QStringLiteral("none") << QStringLiteral("1,348") << QStringLiteral("no server")
                                   << 10;
    }
    void states()
    {
        QFETCH(QString, state);
        QFETCH(QString, number);
        QFETCH(QString, word);
        QFETCH(int, heads);
        Shown s;
        s.state.selection()->selectCompaction(0);
        s.state.update(
            ConsoleState::Everything,
            [&state](ConsoleData &data) {
                if (state == QLatin1String("notvisible")) {
                    QJsonObject plan = uisample::plan();
                    plan.insert(QStringLiteral("verdict"), QStringLiteral("prefix-preserved"));
                    plan.insert(QStringLiteral("cache_status"), QStringLiteral("prefix-preserved"));
                    QJsonObject boundary = plan.value(QStringLiteral("boundary")).toObject();
                    boundary.insert(QStringLiteral("memory_kind"), QStringLiteral("unknown"));
                    boundary.insert(QStringLiteral("aligned_cut"), QJsonValue());
                    boundary.insert(QStringLiteral("predicted_reuse"), 0);
                    boundary.insert(QStringLiteral("predicted_reuse_low"), 0);
                    boundary.insert(QStringLiteral("predicted_reuse_high"), 1579);
                    plan.insert(QStringLiteral("boundary"), boundary);
                    data.plan = parsePlan(plan);
                    data.doctor.memoryKind = MemoryKind::Unknown;
                    data.doctor.ringVisible = false;
                    data.slotList.first().ringKnown = false;
                    data.slotList.first().checkpoints.clear();
                } else if (state == QLatin1String("full")) {
                    QJsonObject plan = uisample::plan();
                    plan.insert(QStringLiteral("verdict"), QStringLiteral("aligned"));
                    QJsonObject boundary = plan.value(QStringLiteral("boundary")).toObject();
                    boundary.insert(QStringLiteral("aligned_cut"), 1579);
                    boundary.insert(QStringLiteral("requested_cut"), 1579);
                    boundary.insert(QStringLiteral("memory_kind"), QStringLiteral("full_attention"));
                    boundary.insert(QStringLiteral("predicted_reuse"), 2272);
                    plan.insert(QStringLiteral("boundary"), boundary);
                    data.plan = parsePlan(plan);
                    data.doctor.memoryKind = MemoryKind::FullAttention;
                    data.doctor.chunkReuse = 64;
                } else if (state == QLatin1String("empty")) {
                    data.slotList.first().checkpoints.clear();
                } else if (state == QLatin1String("notrun")) {
                    data.slotList.first().checkpoints.clear();
                    data.slotList.first().hasRun = false;
                } else if (state == QLatin1String("simulated")) {
                    QJsonObject plan = uisample::plan();
                    QJsonObject boundary = plan.value(QStringLiteral("boundary")).toObject();
                    boundary.insert(QStringLiteral("simulated"), true);
                    plan.insert(QStringLiteral("boundary"), boundary);
                    data.plan = parsePlan(plan);
                    data.doctor.simulated = true;
                } else if (state == QLatin1String("nosession")) {
                    data.hasSession = false;
                } else if (state == QLatin1String("none")) {
                    data.doctor.resolved = QStringLiteral("none");
                }
            },
            true);
        s.ring.setPicture(s.state.picture());
        QCOMPARE(s.ring.centerNumber(), number);
        QCOMPARE(s.ring.centerState(), word);
        QCOMPARE(s.ring.heads().size(), heads);
        const QImage image = s.ring.grab().toImage();
        if (state
            == QLatin1String("simulated")) { // the broad stripes stand behind it, and a violet pixel is in the corner
            int violet = 0;
            for (int x = 2; x < 60; ++x)
                violet += image.pixelColor(x * image.devicePixelRatio(), 4).blue()
                    > image.pixelColor(x * image.devicePixelRatio(), 4).green() + 10;
            QVERIFY(violet > 40);
        }
        if (state == QLatin1String("full")) {
            QCOMPARE(s.ring.picture().tokensOf(SegmentKind::Moved), 693);
            QCOMPARE(s.ring.picture().tokensOf(SegmentKind::Reused), 1579);
        }
    }

    void disconnectedFades()
    {
        Shown s;
        s.state.update(
            ConsoleState::Everything, [](ConsoleData &data) { data.link = LinkState::Disconnected; }, true);
        s.ring.setPicture(s.state.picture());
        const RingScale scale = s.ring.ringScale();
        const QColor color = at(s.ring.grab().toImage(), scale.pointAt(600, scale.radius - scale.thickness / 2));
        QVERIFY(color.lightness() > SemanticColors::light().reused.lightness() + 60);
        QVERIFY(s.ring.tableDescription().contains(QStringLiteral("last known state")));
    }

    void fitAndFull()
    {
        Shown s;
        QVERIFY(!s.ring.canFit());
        s.state.update(
            ConsoleState::Everything, [](ConsoleData &data) { data.session.contextWindow = 131072; }, true);
        s.ring.setPicture(s.state.picture());
        QVERIFY(s.ring.canFit());
        QVERIFY(s.ring.isFit());
        QVERIFY(s.ring.ringScale().span < 8000);
        auto *button = s.ring.findChild<QAbstractButton *>();
        QVERIFY(button && button->isVisible());
        QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY(!s.ring.isFit());
        QCOMPARE(s.ring.ringScale().span, 131072);
    }

    void manyHeadsMerge()
    {
        Shown s;
        s.state.selection()->selectCompaction(0);
        s.state.update(
            ConsoleState::Everything,
            [](ConsoleData &data) {
                data.slotList.first().checkpoints.clear();
                for (int i = 1; i <= 400; ++i)
                    data.slotList.first().checkpoints.append(CheckpointValue{.position = i * 8, .slotId = 0});
            },
            true);
        s.ring.setPicture(s.state.picture());
        const QList<RingHead> heads = s.ring.heads();
        QVERIFY(heads.size() < 250);
        int marks = 0;
        for (const RingHead &head : heads)
            marks += static_cast<int>(head.marks.size());
        QCOMPARE(marks, 400);
    }

    void erasedGoHollow()
    {
        Shown s;
        s.state.selection()->selectCompaction(0);
        s.ring.setPicture(s.state.picture());
        QCOMPARE(s.ring.heads().size(), 10);
        s.state.update(
            ConsoleState::Everything, [](ConsoleData &data) { data.slotList.first().checkpoints.removeAt(4); }, true);
        s.ring.setPicture(s.state.picture());
        const QList<RingHead> heads = s.ring.heads();
        QCOMPARE(heads.size(), 10);
        QCOMPARE(std::count_if(heads.begin(), heads.end(), [](const RingHead &head) { return head.erased; }), 1);
        QCOMPARE(s.ring.tableRows(), 9);
    }

    void accessible()
    {
        Shown s;
        QAccessibleInterface *face = QAccessible::queryAccessibleInterface(&s.ring);
        QVERIFY(face);
        QCOMPARE(face->text(QAccessible::Name), QStringLiteral("Checkpoint ring"));
        QVERIFY(face->text(QAccessible::Description).contains(QStringLiteral("slot 0")));
        QAccessibleTableInterface *table = face->tableInterface();
        QVERIFY(table);
        QCOMPARE(table->rowCount(), 10);
        QCOMPARE(table->columnCount(), 4);
        QCOMPARE(table->cellAt(3, 0)->text(QAccessible::Name), QStringLiteral("1,349"));
        QCOMPARE(table->cellAt(3, 3)->text(QAccessible::Name), QString::fromUtf8("used: −259"));
        QVERIFY(table->cellAt(3, 0)->tableCellInterface());
        QVERIFY(table->selectRow(3));
        QCOMPARE(s.state.selection()->checkpoint(), std::optional<int>(1349));
        QVERIFY(table->isRowSelected(3));
        QVERIFY(!table->cellAt(99, 0));
    }
};

QTEST_MAIN(RingTest)
#include "tst_ui_ring.moc"
