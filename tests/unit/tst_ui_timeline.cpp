// kerf-test: link=kerf_ui
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/unit/ui_sample.h"
#include "ui/theme/theme.h"
#include "ui/timeline/timelineview.h"

#include <QAccessible>
#include <QElapsedTimer>
#include <QScrollBar>
#include <QSignalSpy>
#include <QtTest>

#include <ctime>

using namespace kerf;
using Lane = TimelineView::Lane;

class TimelineTest : public QObject
{
    Q_OBJECT

    struct Shown {
        ConsoleState state;
        TimelineView view{state.selection()};
        Shown()
        {
            uisample::fill(state);
            state.selection()->selectCompaction(8);
            view.setPalette(themePalette(ThemeChoice::Light));
            view.resize(820, 460);
            view.setPicture(state.picture());
            view.setEpisodes(state.data().episodes);
            view.show();
        }
        QPoint at(Lane lane, int position) const
        {
            return QPoint(qRound(view.tokenScale().toX(position)), qRound(view.laneRect(lane).center().y()));
        }
        bool focus()
        {
            view.activateWindow();
            view.setFocus();
            return QTest::qWaitForWindowActive(&view) && view.hasFocus();
        }
    };

    static CutPicture big(int episodes)
    {
        CutPicture picture;
        picture.ring = CutPicture::Ring::Visible;
        picture.exact = true;
        int at = 0;
        for (int i = 0; i < episodes; ++i) {
            const int size = 20 + (i * 37) % 90;
            picture.blocks.append(BlockValue{i + 1,
                                             i % 4 == 3 ? Role::Tool : (i % 2 ? Role::User : Role::Assistant),
                                             TokenRange{at, at + size},
                                             Tier::Live,
                                             {},
                                             i == episodes / 2,
                                             false});
            picture.alternatives.append(AlternativeValue{at, false, at, at, at, 100 + i % 1000, 10.0 + i % 1000});
            at += size;
        }
        picture.promptTokens = at;
        picture.contextSize = at + 1000;
        return picture;
    }

private Q_SLOTS:
    void initTestCase() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }

    void scaleRoundTrip()
    {
        const TokenScale scale{{100, 1124}, QRectF(50, 0, 512, 20)};
        QCOMPARE(scale.toX(100), 50.0);
        QCOMPARE(scale.toX(1124), 562.0);
        for (int p = 100; p < 1124; p += 13)
            QCOMPARE(scale.toPosition(scale.toX(p) + 0.01), p);
    }
    void scaleZoom()
    {
        const TokenScale scale{{0, 4096}, QRectF(0, 0, 1000, 20)};
        const TokenRange closer = scale.zoomed(1349, 2, 4096);
        QCOMPARE(closer.size(), 2048);
        // The anchor stays where it is.
        const TokenScale after{closer, scale.area};
        QVERIFY(std::abs(after.toX(1349) - scale.toX(1349)) < 1);
        QCOMPARE(scale.zoomed(10, 1e9, 4096).size(), TokenScale::kMinimumTokens);
        QCOMPARE(scale.zoomed(10, 0.001, 4096), (TokenRange{0, 4096}));
        QCOMPARE((TokenScale{{0, 100}, scale.area}.panned(-50, 4096)), (TokenRange{0, 100}));
        QCOMPARE((TokenScale{{0, 100}, scale.area}.panned(99999, 4096)), (TokenRange{3996, 4096}));
    }

    void indexFindsAndSums()
    {
        EpisodeIndex index;
        index.setBlocks(big(1000).blocks);
        int tokens = 0;
        for (int i = 0; i < index.count(); ++i) {
            const TokenRange range = index.at(i).range;
            QCOMPARE(index.indexAt(range.begin), i);
            QCOMPARE(index.indexAt(range.end - 1), i);
            QCOMPARE(index.indexOfSeq(i + 1), i);
            tokens += range.size();
        }
        QCOMPARE(index.indexAt(-1), -1);
        QCOMPARE(index.indexAt(index.total()), -1);
        const EpisodeIndex::Summary all = index.summary(0, 999);
        QCOMPARE(all.tokens, tokens);
        QCOMPARE(all.episodes, 1000);
        QVERIFY(all.pinned);
        QVERIFY(!index.summary(0, 100).pinned);
        // Against a walk.
        int byWalk[5] = {};
        for (int i = 200; i <= 333; ++i)
            byWalk[static_cast<int>(index.at(i).role)] += index.at(i).range.size();
        QCOMPARE(static_cast<int>(index.summary(200, 333).largest),
                 static_cast<int>(std::max_element(byWalk, byWalk + 5) - byWalk));
        QCOMPARE(index.indexOfSeq(99999), -1);
    }
    void indexWithGaps()
    {
        EpisodeIndex index;
        index.setBlocks({BlockValue{1, Role::User, {0, 10}}, BlockValue{2, Role::Assistant, {20, 30}}});
        QCOMPARE(index.indexAt(15), -1);
        QCOMPARE(index.firstEndingAfter(15), 1);
        QCOMPARE(index.indexAt(20), 1);
    }

    void lanesDoNotOverlap()
    {
        Shown s;
        qreal last = 0;
        for (int i = 0; i < TimelineView::kLaneCount; ++i) {
            const QRectF rect = s.view.laneRect(static_cast<Lane>(i));
            QVERIFY(!rect.isEmpty());
            QVERIFY(rect.top() >= last - 0.01 || i == TimelineView::kLaneCount - 1);
            last = rect.bottom();
        }
        s.view.setLaneShown(Lane::Tier, false);
        QVERIFY(s.view.laneRect(Lane::Tier).isEmpty());
    }

    void selectByClick()
    {
        Shown s;
        QTest::mouseClick(s.view.viewport(), Qt::LeftButton, {}, s.at(Lane::Episodes, 1700));
        QCOMPARE(s.state.selection()->episodeSeq(), std::optional<int>(13));
        QTest::mouseClick(s.view.viewport(), Qt::LeftButton, Qt::ShiftModifier, s.at(Lane::Episodes, 1900));
        QCOMPARE(s.state.selection()->range(), std::optional<TokenRange>(TokenRange{1579, 1930}));
        QTest::mouseClick(s.view.viewport(), Qt::LeftButton, {}, s.at(Lane::Checkpoints, 1349));
        QCOMPARE(s.state.selection()->checkpoint(), std::optional<int>(1349));
    }

    void dragSelectsRange()
    {
        Shown s;
        QTest::mousePress(s.view.viewport(), Qt::LeftButton, {}, s.at(Lane::Holds, 500));
        QTest::mouseMove(s.view.viewport(), s.at(Lane::Holds, 900));
        QTest::mouseMove(s.view.viewport(), s.at(Lane::Holds, 1500));
        QTest::mouseRelease(s.view.viewport(), Qt::LeftButton, {}, s.at(Lane::Holds, 1500));
        const auto range = s.state.selection()->range();
        QVERIFY(range);
        QVERIFY(std::abs(range->begin - 500) < 10);
        QVERIFY(std::abs(range->end - 1500) < 10);
        QVERIFY(s.view.zoomActions().last()->isEnabled());
        s.view.zoomActions().last()->trigger();
        QCOMPARE(s.view.visibleRange(), *range);
    }

    void keysZoomAndPan()
    {
        Shown s;
        QVERIFY(s.focus());
        const TokenRange all = s.view.visibleRange();
        QCOMPARE(all, (TokenRange{0, 4096}));
        QTest::keyClick(&s.view, Qt::Key_W);
        QVERIFY(s.view.visibleRange().size() < all.size());
        QTest::keyClick(&s.view, Qt::Key_W);
        const TokenRange near = s.view.visibleRange();
        QTest::keyClick(&s.view, Qt::Key_D);
        QVERIFY(s.view.visibleRange().begin > near.begin);
        QTest::keyClick(&s.view, Qt::Key_A);
        QCOMPARE(s.view.visibleRange(), near);
        QTest::keyClick(&s.view, Qt::Key_Backspace);
        QVERIFY(s.view.visibleRange().size() > near.size());
        QTest::keyClick(&s.view, Qt::Key_0, Qt::ControlModifier);
        QCOMPARE(s.view.visibleRange(), all);
        for (int i = 0; i < 60; ++i)
            QTest::keyClick(&s.view, Qt::Key_W);
        QCOMPARE(s.view.visibleRange().size(), TokenScale::kMinimumTokens);
    }

    void keysStep()
    {
        Shown s;
        QVERIFY(s.focus());
        QTest::keyClick(&s.view, Qt::Key_Period);
        QCOMPARE(s.state.selection()->episodeSeq(), std::optional<int>(1));
        QTest::keyClick(&s.view, Qt::Key_Period);
        QTest::keyClick(&s.view, Qt::Key_Right);
        QCOMPARE(s.state.selection()->episodeSeq(), std::optional<int>(3));
        QTest::keyClick(&s.view, Qt::Key_Comma);
        QCOMPARE(s.state.selection()->episodeSeq(), std::optional<int>(2));
        QTest::keyClick(&s.view, Qt::Key_End);
        QCOMPARE(s.state.selection()->episodeSeq(), std::optional<int>(26));
        QTest::keyClick(&s.view, Qt::Key_Home);
        QCOMPARE(s.state.selection()->episodeSeq(), std::optional<int>(1));
        QTest::keyClick(&s.view, Qt::Key_Right, Qt::ShiftModifier);
        QCOMPARE(s.state.selection()->range(), std::optional<TokenRange>(TokenRange{0, 441}));
        QTest::keyClick(&s.view, Qt::Key_Escape);
        QVERIFY(!s.state.selection()->episodeSeq());
        QCOMPARE(s.state.selection()->compaction(), 8);
    }

    void centreThenFit()
    {
        Shown s;
        QVERIFY(s.focus());
        s.view.setVisibleRange(TokenRange{0, 400});
        s.state.selection()->selectEpisode(15);
        QTest::keyClick(&s.view, Qt::Key_F);
        QVERIFY(s.view.visibleRange().contains(1850));
        QTest::keyClick(&s.view, Qt::Key_F);
        QCOMPARE(s.view.visibleRange(), (TokenRange{0, 4096}));
    }

    void wheelZoomsAtPointer()
    {
        Shown s;
        const QPoint place = s.at(Lane::Episodes, 2000);
        QWheelEvent event(place, s.view.viewport()->mapToGlobal(place), {}, QPoint(0, 240), Qt::NoButton,
                          Qt::ControlModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(s.view.viewport(), &event);
        QVERIFY(s.view.visibleRange().size() < 3500);
        QVERIFY(std::abs(s.view.tokenScale().toPosition(place.x()) - 2000) < 20);
    }

    void tooltips()
    {
        Shown s;
        QCOMPARE(s.view.tooltipAt(s.at(Lane::Episodes, 1700)),
                 QStringLiteral("Episode 13, assistant: 175 tokens, 1,579 – 1,754. This cut makes it masked."));
        QVERIFY(s.view.tooltipAt(s.at(Lane::CutRuler, 1823))
                    .startsWith(QStringLiteral("Legal cut at 1,823: ~80 ms, 1,819 reused, 727 prefilled")));
        QVERIFY(s.view.tooltipAt(s.at(Lane::Checkpoints, 1349)).contains(QStringLiteral("1,349")));
        QCOMPARE(s.view.tooltipAt(s.at(Lane::Checkpoints, 2500)), QStringLiteral("No checkpoint here."));
    }

    void mergedBlocksSayHowMany()
    {
        Shown s;
        s.view.setPicture(big(20000));
        s.view.setVisibleRange(s.view.fitRange());
        const QPoint place = s.at(Lane::Episodes, 500000);
        const TimelineView::Hit hit = s.view.hitTest(place);
        QVERIFY(hit.lastBlock > hit.firstBlock);
        const EpisodeIndex::Summary sum = s.view.index().summary(hit.firstBlock, hit.lastBlock);
        QVERIFY(s.view.tooltipAt(place).contains(QLocale().toString(sum.tokens)));
    }

    void pinIsDrawnEvenWhenMerged()
    {
        Shown s;
        CutPicture picture = big(20000);
        s.view.setPicture(picture);
        s.view.setVisibleRange(s.view.fitRange());
        const QImage with = s.view.viewport()->grab().toImage();
        picture.blocks[10000].pinned = false;
        s.view.setPicture(picture);
        const QImage without = s.view.viewport()->grab().toImage();
        QVERIFY(with != without);
    }

    void colours()
    {
        Shown s;
        const QImage image = s.view.viewport()->grab().toImage();
        const SemanticColors c = SemanticColors::light();
        const auto pixel = [&](Lane lane, int position, qreal dy) {
            const qreal ratio = image.devicePixelRatio();
            const QPoint p = s.at(lane, position);
            return image.pixelColor(qRound(p.x() * ratio), qRound((p.y() + dy) * ratio)).name();
        };
        QCOMPARE(pixel(Lane::Holds, 150, 9), c.reused.name());
        QCOMPARE(pixel(Lane::Sent, 150, 9), c.reused.name());
        QCOMPARE(pixel(Lane::Sent, 2100, 9), c.prefilled.name());
        QCOMPARE(pixel(Lane::Episodes, 50, 9), c.roleSystem.name());
    }

    void hundredThousandEpisodes()
    {
        Shown s;
        const CutPicture picture = big(100000);
        QElapsedTimer timer;
        timer.start();
        s.view.setPicture(picture);
        QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
        CutPicture small = big(1000);
        const auto frame = [&s] {
            s.view.setVisibleRange(s.view.fitRange());
            QImage image(s.view.viewport()->size(), QImage::Format_ARGB32_Premultiplied);
            // CPU time of this thread: on a busy machine a frame may be interrupted for longer than it takes.
            const auto used = [] {
                timespec now{};
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
                return qint64(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
            };
            qint64 best = std::numeric_limits<qint64>::max();
            for (int i = 0; i < 5; ++i) {
                const qint64 before = used();
                s.view.viewport()->render(&image);
                best = std::min(best, used() - before);
            }
            return best;
        };
        const qint64 many = frame();
        s.view.setPicture(small);
        const qint64 few = frame();
        // Work in paint follows the pixels, not the session.
        QVERIFY2(many < few * 4 + 4'000'000,
                 qPrintable(QStringLiteral("%1 against %2 us").arg(many / 1000).arg(few / 1000)));
    }

    void stripFrameFollows()
    {
        Shown s;
        s.view.setVisibleRange(TokenRange{0, 400});
        const QRectF strip = s.view.laneRect(Lane::Strip);
        QTest::mouseClick(s.view.viewport(), Qt::LeftButton, {},
                          QPoint(qRound(strip.left() + strip.width() * 0.8), qRound(strip.center().y())));
        QVERIFY(s.view.visibleRange().begin > 1500);
        QCOMPARE(s.view.visibleRange().size(), 400);
    }

    void lanesCollapseAndMove()
    {
        Shown s;
        const QList<Lane> before = s.view.laneOrder();
        QCOMPARE(before.first(), Lane::Checkpoints);
        // The triangle at the title.
        const qreal tall = s.view.laneRect(Lane::Episodes).height();
        const auto title = [&s](Lane lane, int x) { return QPoint(x, qRound(s.view.laneRect(lane).center().y())); };
        QTest::mouseClick(s.view.viewport(), Qt::LeftButton, {}, title(Lane::Episodes, 8));
        QVERIFY(s.view.isLaneCollapsed(Lane::Episodes));
        QVERIFY(s.view.laneRect(Lane::Episodes).height() < tall / 1.5);
        QVERIFY(!s.view.viewport()->grab().isNull());
        // A click on a block in it still selects.
        QTest::mouseClick(s.view.viewport(), Qt::LeftButton, {}, s.at(Lane::Episodes, 300));
        QCOMPARE(s.state.selection()->episodeSeq(), std::optional<int>(2));
        QTest::mouseClick(s.view.viewport(), Qt::LeftButton, {}, title(Lane::Episodes, 8));
        QVERIFY(!s.view.isLaneCollapsed(Lane::Episodes));
        QCOMPARE(s.view.laneRect(Lane::Episodes).height(), tall);
        // Dragging a title: checkpoints below episodes.
        const QPoint from = title(Lane::Checkpoints, 60);
        QTest::mousePress(s.view.viewport(), Qt::LeftButton, {}, from);
        for (int k = 1; k <= 12; ++k)
            QTest::mouseMove(s.view.viewport(), from + QPoint(0, 14 * k));
        QTest::mouseRelease(s.view.viewport(), Qt::LeftButton, {}, from + QPoint(0, 168));
        const QList<Lane> after = s.view.laneOrder();
        QVERIFY(after.indexOf(Lane::Checkpoints) > after.indexOf(Lane::Episodes));
        QVERIFY(s.view.laneRect(Lane::Checkpoints).top() > s.view.laneRect(Lane::Episodes).top());
        QVERIFY(!s.view.isLaneCollapsed(Lane::Checkpoints));
        // It is kept, and nonsense is not taken.
        s.view.setLaneCollapsed(Lane::Tier, true);
        const QByteArray state = s.view.saveLanes();
        Shown other;
        other.view.restoreLanes("1 2 banana");
        QCOMPARE(other.view.laneOrder(), before);
        other.view.restoreLanes(state);
        QCOMPARE(other.view.laneOrder(), after);
        QVERIFY(other.view.isLaneCollapsed(Lane::Tier));
        // The selection did not follow the drag, and no range was made.
        QVERIFY(!s.state.selection()->range());
    }

    void zoomBackIsAStack()
    {
        Shown s;
        QVERIFY(s.focus());
        const TokenRange all = s.view.visibleRange();
        QTest::keyClick(&s.view, Qt::Key_W);
        const TokenRange once = s.view.visibleRange();
        QTest::keyClick(&s.view, Qt::Key_W);
        QVERIFY(s.view.visibleRange() != once);
        QTest::keyClick(&s.view, Qt::Key_Backspace);
        QCOMPARE(s.view.visibleRange(), once);
        QTest::keyClick(&s.view, Qt::Key_Backspace);
        QCOMPARE(s.view.visibleRange(), all);
    }

    void shiftExtendsTheSelection()
    {
        Shown s;
        QTest::mouseClick(s.view.viewport(), Qt::LeftButton, {}, s.at(Lane::Episodes, 300));
        QTest::mouseClick(s.view.viewport(), Qt::LeftButton, Qt::ShiftModifier, s.at(Lane::Episodes, 1000));
        QVERIFY(s.state.selection()->range());
        QCOMPARE(*s.state.selection()->range(), (TokenRange{214, 1004}));
        QTest::mouseClick(s.view.viewport(), Qt::LeftButton, Qt::ControlModifier, s.at(Lane::Episodes, 1500));
        QCOMPARE(s.state.selection()->range()->end, 1579);
    }

    void emptySession()
    {
        Shown s;
        CutPicture picture;
        picture.ring = CutPicture::Ring::BeforeFirstTask;
        s.view.setPicture(picture);
        s.view.setEpisodes({});
        QVERIFY(!s.view.viewport()->grab().isNull());
        QCOMPARE(s.view.tableRows(), 0);
        QVERIFY(s.focus());
        QTest::keyClick(&s.view, Qt::Key_Period); // nothing to step to, nothing happens
        QVERIFY(!s.state.selection()->episodeSeq());
    }

    void accessible()
    {
        Shown s;
        QAccessibleInterface *face = QAccessible::queryAccessibleInterface(&s.view);
        QVERIFY(face && face->tableInterface());
        QCOMPARE(face->tableInterface()->rowCount(), 26);
        QCOMPARE(face->tableInterface()->cellAt(12, 5)->text(QAccessible::Name), QStringLiteral("live, then masked"));
        QVERIFY(face->text(QAccessible::Description).contains(QStringLiteral("26 episode")));
        QVERIFY(face->tableInterface()->selectRow(4));
        QCOMPARE(s.state.selection()->episodeSeq(), std::optional<int>(5));
    }

    void selectionHistory()
    {
        Selection selection;
        selection.selectEpisode(3);
        selection.selectCheckpoint(100);
        selection.selectCompaction(2);
        QVERIFY(selection.canGoBack());
        selection.back();
        QCOMPARE(selection.checkpoint(), std::optional<int>(100));
        selection.back();
        QCOMPARE(selection.episodeSeq(), std::optional<int>(3));
        selection.forward();
        QCOMPARE(selection.checkpoint(), std::optional<int>(100));
        selection.selectToken(7);
        QVERIFY(!selection.canGoForward());
    }
};

QTEST_MAIN(TimelineTest)
#include "tst_ui_timeline.moc"
