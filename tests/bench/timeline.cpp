// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// Painting the timeline of a session of 100,000 episodes, 1,600 pixels wide: a full repaint against a bare QPainter
// that fills as many rectangles as the view has on it; zooming from all to one episode, frame by frame; and the moves
// of the what-if cut, picture and frame together.

#include "tests/bench/bench.h"

#include "ui/timeline/timelineview.h"
#include "ui/viewmodel/consolestate.h"
#include "ui/viewmodel/whatif.h"

#include <QApplication>
#include <QImage>
#include <QPainter>

using namespace kerf;

namespace {

constexpr int kEpisodes = 100'000;
constexpr int kRuns = 50;

PlanInput session()
{
    PlanInput plan;
    plan.knobs = *shippedKnobs(QStringLiteral("cache-first"));
    plan.rule.memory = MemoryKind::Checkpointed;
    plan.rule.recurrent = true;
    plan.rule.ringVisible = true;
    plan.prompt.reserve(kEpisodes * 24);
    for (int i = 0; i < kEpisodes; ++i) {
        PlanEpisode row;
        row.episodeIndex = row.leader = i;
        row.id = row.seq = i + 1;
        row.role = i == 0 ? Role::System : i % 2 ? Role::User : Role::Assistant;
        row.range.begin = static_cast<int>(plan.prompt.size());
        plan.prompt.append(1);
        plan.prompt.append(10 + static_cast<int>(row.role));
        for (int k = 0; k < 12 + i * 7 % 23; ++k)
            plan.prompt.append(1000 + static_cast<int>(plan.prompt.size()));
        row.range.end = static_cast<int>(plan.prompt.size());
        row.pinned = i % 997 == 500;
        plan.episodes.append(row);
    }
    plan.budget = budgetFor(plan.knobs, static_cast<int>(plan.prompt.size()) + 10'000);
    HeldState held;
    held.slotId = 0;
    held.tokens = plan.prompt;
    held.length = static_cast<int>(plan.prompt.size());
    held.checkpointsKnown = true;
    for (int k = 1; k <= 32; ++k) {
        Checkpoint checkpoint;
        checkpoint.position = held.length / 33 * k;
        checkpoint.posMin = checkpoint.posMax = checkpoint.position - 1;
        held.checkpoints.append(checkpoint);
    }
    plan.states = {held};
    return plan;
}

double frameMs(QWidget &view, QImage &image)
{
    QElapsedTimer timer;
    timer.start();
    view.render(&image);
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

} // namespace

int main(int argc, char **argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    const PlanInput plan = session();
    PrefillCost cost;
    cost.msPerToken = 0.05;
    cost.msPerTokenPerPosition = 1e-8;
    cost.samples = 8;
    QElapsedTimer timer;
    timer.start();
    auto cuts = std::make_shared<CutReport>(cutReport(plan, cost));
    bench::report(QStringLiteral("what-if curve, 100,000 episodes"), static_cast<double>(timer.nsecsElapsed()) / 1e6,
                  QStringLiteral("ms"));
    cuts->sessionId = QStringLiteral("s");

    ConsoleState state;
    state.update(
        ConsoleState::Everything,
        [&](ConsoleData &data) {
            data.link = LinkState::Connected;
            data.hasSession = true;
            data.session.id = QStringLiteral("s");
            data.session.exact = true;
            data.session.liveTokens = static_cast<int>(plan.prompt.size());
            data.session.contextWindow = plan.budget.window;
            data.session.budget = plan.budget.total;
            data.session.triggerAt = plan.budget.triggerAt;
            data.session.target = plan.budget.target;
            data.doctor.known = data.doctor.reachable = data.doctor.ringVisible = true;
            data.doctor.memoryKind = MemoryKind::Checkpointed;
            SlotValue slot;
            slot.id = 0;
            slot.tokens = static_cast<int>(plan.prompt.size());
            slot.ringKnown = slot.verified = true;
            for (const Checkpoint &checkpoint : plan.states.constFirst().checkpoints) {
                CheckpointValue value;
                value.position = checkpoint.position;
                value.slotId = 0;
                slot.checkpoints.append(value);
            }
            data.slotList = {slot};
            for (const PlanEpisode &row : plan.episodes) {
                EpisodeValue episode;
                episode.id = row.id;
                episode.seq = row.seq;
                episode.role = row.role;
                episode.tokenCount = row.range.size();
                episode.exact = true;
                episode.range = row.range;
                episode.pinned = row.pinned;
                data.episodes.append(episode);
            }
            data.cuts = cuts;
        },
        true);
    TimelineView view(state.selection());
    view.resize(1600, 620);
    view.setPicture(state.picture());
    view.setEpisodes(state.data().episodes);
    view.show();
    view.setVisibleRange(view.fitRange(), false);
    QImage image(view.size(), QImage::Format_ARGB32_Premultiplied);

    // Full repaint. The bare painter fills as many rectangles as are on it, in the sizes they have there.
    const double full = bench::medianMs(kRuns, [&] { view.render(&image); });
    const QList<QRectF> drawn = view.drawnBlocks();
    const double bare = bench::medianMs(kRuns, [&] {
        QPainter p(&image);
        p.fillRect(image.rect(), Qt::white);
        for (const QRectF &rect : drawn)
            p.fillRect(rect, Qt::darkGray);
    });
    const double each = bench::medianMs(kRuns, [&] {
        QPainter p(&image);
        p.fillRect(image.rect(), Qt::white);
        const TokenScale scale = view.tokenScale();
        for (const PlanEpisode &row : plan.episodes)
            p.fillRect(QRectF(scale.toX(row.range.begin), 100, scale.pixelsPerToken() * row.range.size(), 28),
                       Qt::darkGray);
    });
    bench::report(QStringLiteral("timeline, full repaint, 100,000 episodes"), full, QStringLiteral("ms"));
    bench::report(QStringLiteral("timeline, rectangles on it"), static_cast<double>(drawn.size()),
                  QStringLiteral("rects"));
    bench::report(QStringLiteral("bare QPainter, as many rectangles"), bare, QStringLiteral("ms"));
    bench::report(QStringLiteral("bare QPainter, one rectangle an episode"), each, QStringLiteral("ms"));
    bench::reportRatio(QStringLiteral("full repaint / bare QPainter"), full / std::max(1e-6, bare), 4, true);
    bench::reportRatio(QStringLiteral("full repaint / a rectangle an episode"), full / std::max(1e-6, each), 0, true);

    // From all to one episode.
    QList<double> zoom;
    double worst = 0;
    QList<double> ratios;
    const int middle = plan.episodes.at(kEpisodes / 2).range.begin + 4;
    for (int round = 0; round < 9; ++round) {
        QList<double> frames;
        view.setVisibleRange(view.fitRange(), false);
        view.render(&image); // what the strip keeps is made once
        while (view.visibleRange().size() > plan.episodes.at(kEpisodes / 2).range.size()) {
            const TokenRange before = view.visibleRange();
            view.setVisibleRange(view.tokenScale().zoomed(middle, 1.2, view.axisTotal()), false);
            if (view.visibleRange() == before)
                break;
            frames.append(frameMs(view, image));
        }
        zoom += frames;
        const double most = *std::max_element(frames.cbegin(), frames.cend());
        worst = std::max(worst, most);
        ratios.append(most / bench::median(frames));
    }
    bench::report(QStringLiteral("zoom from all to one, frame"), bench::median(zoom), QStringLiteral("ms"));
    bench::report(QStringLiteral("zoom from all to one, worst frame"), worst, QStringLiteral("ms"));
    bench::reportRatio(QStringLiteral("zoom, worst frame / median (median of 9 zooms)"), bench::median(ratios), 3,
                       true);

    // A move of the what-if cut: values, picture and frame.
    view.setVisibleRange(view.fitRange(), false);
    WhatIf whatIf(&state);
    whatIf.start(cuts->legal.at(cuts->legal.size() / 2).cut);
    view.setWhatIf(&whatIf);
    view.setPicture(state.picture());
    int step = 0;
    const double move = bench::medianMs(kRuns, [&] {
        whatIf.moveTo(cuts->legal.at((cuts->legal.size() / 3 + 37 * ++step) % cuts->legal.size()).cut, true);
        view.setPicture(state.picture());
        view.render(&image);
    });
    bench::report(QStringLiteral("what-if move with its frame"), move, QStringLiteral("ms"));
    bench::reportRatio(QStringLiteral("what-if move / full repaint"), move / full, 3, true);
    return 0;
}
