// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/notifier.h"

#include "ui/viewmodel/numbers.h"

#include <QApplication>
#include <QSystemTrayIcon>

namespace kerf {

namespace {
constexpr qint64 kMinute = 60'000;
constexpr qint64 kLostAfter = 30'000;
constexpr double kLongPrefillMs = 10'000;
} // namespace

Notifier::Notifier(ConsoleState *state, QObject *parent)
    : QObject(parent)
    , m_state(state)
{
    connect(state, &ConsoleState::changed, this, [this] { look(QDateTime::currentMSecsSinceEpoch()); });
    m_timer.setInterval(1000);
    connect(&m_timer, &QTimer::timeout, this, [this] { look(QDateTime::currentMSecsSinceEpoch()); });
}

Notifier::~Notifier() = default;

void Notifier::look(qint64 now)
{
    const ConsoleData &data = m_state->data();
    if (data.session.id != m_session) {
        m_session = data.session.id;
        m_refuted.clear();
        m_read = false;
    }
    // What was refuted before one looked is no news.
    const bool first = !m_read && !data.compactions.isEmpty();
    for (const PlanValue &plan : data.compactions) {
        if (plan.outcome != QLatin1String("refuted") || m_refuted.contains(plan.number))
            continue;
        m_refuted.insert(plan.number);
        if (first)
            continue;
        Note news{NoteKind::Refuted, tr("Compaction %1 was refuted").arg(number(plan.number)), {}, plan.number};
        news.text = plan.measuredReuse
            ? tr("Predicted %1, measured %2.").arg(number(plan.boundary.predictedReuse), number(*plan.measuredReuse))
            : QString();
        if (!plan.cause.isEmpty())
            news.text += (news.text.isEmpty() ? QString() : QStringLiteral(" ")) + plan.cause;
        note(news, now);
    }
    if (first || (data.hasSession && data.session.revision > 0 && data.compactions.isEmpty()))
        m_read = true;
    const bool lost = data.link == LinkState::Disconnected
        || (data.doctor.known && !data.doctor.reachable && !data.doctor.url.isEmpty());
    if (!lost) {
        m_lostSince = -1;
        m_lostSaid = false;
        m_timer.stop();
    } else {
        if (m_lostSince < 0)
            m_lostSince = now;
        if (!m_timer.isActive())
            m_timer.start();
        if (!m_lostSaid && now - m_lostSince > kLostAfter) {
            m_lostSaid = true;
            const QString who = data.link == LinkState::Disconnected ? data.linkDescription : data.doctor.url;
            note({NoteKind::ServerLost, tr("No answer from %1").arg(who),
                  tr("For more than 30 seconds. Kerf tries again by itself."), 0},
                 now);
        }
    }
    if (data.plan && data.plan->planId != m_longPlan && data.plan->boundary.predictedMs > kLongPrefillMs) {
        m_longPlan = data.plan->planId;
        note({NoteKind::LongPrefill, tr("A long prefill lies ahead"),
              tr("After this cut the server needs about %1.").arg(shortMilliseconds(data.plan->boundary.predictedMs)),
              0},
             now);
    }
}

void Notifier::note(const Note &news, qint64 now)
{
    const int kind = static_cast<int>(news.kind);
    if (!m_settings.notify[kind])
        return;
    if (m_last.contains(kind) && now - m_last.value(kind) < kMinute)
        return;
    m_last.insert(kind, now);
    show(news);
    Q_EMIT noted(news);
}

void Notifier::show(const Note &news)
{
    m_shown = news;
    if (!QSystemTrayIcon::isSystemTrayAvailable())
        return;
    if (!m_tray) {
        m_tray = new QSystemTrayIcon(QApplication::windowIcon(), this);
        connect(m_tray, &QSystemTrayIcon::messageClicked, this, [this] { Q_EMIT opened(m_shown); });
        m_tray->show();
    }
    m_tray->showMessage(news.title, news.text, QSystemTrayIcon::Warning);
}

} // namespace kerf
