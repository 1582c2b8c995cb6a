// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/controller.h"

#include "core/base/log.h"
#include "ui/viewmodel/numbers.h"
#include "ui/viewmodel/parse.h"

#include <QCoroTask>
#include <QJsonArray>
#include <QPointer>

namespace kerf {

namespace {
constexpr int kPage = 2000;
constexpr int kTail = 400; ///< episodes read again when some were added to a long session
constexpr int kCompareBefore = 60;
constexpr int kCompareTokens = 240;
} // namespace

QString ConnectionSpec::title() const
{
    switch (kind) {
    case Kind::Embedded:
        return Controller::tr("embedded (simulated)");
    case Kind::Server: {
        if (!launchCommand.isEmpty())
            return launchCommand.section(QLatin1Char(' '), 0, 0).section(QLatin1Char('/'), -1);
        QString short_ = url;
        short_.remove(QStringLiteral("http://"));
        return short_;
    }
    case Kind::Service:
        return socketPath.isEmpty() ? Controller::tr("running service") : socketPath;
    }
    return {};
}

Controller::Controller(ConsoleState *state, QObject *parent)
    : QObject(parent)
    , m_state(state)
{
    m_fetchTimer.setSingleShot(true);
    m_fetchTimer.setInterval(100);
    connect(&m_fetchTimer, &QTimer::timeout, this, &Controller::fetch);
    m_pollTimer.setInterval(2000);
    connect(&m_pollTimer, &QTimer::timeout, this, [this] {
        if (!m_paused && m_client && m_client->isConnected())
            want(WantSlots | (m_state->data().doctor.reachable ? 0u : static_cast<uint>(WantDoctor)));
    });
    m_eventTimer.setSingleShot(true);
    m_eventTimer.setInterval(100);
    connect(&m_eventTimer, &QTimer::timeout, this, [this] {
        QList<EventValue> events;
        std::swap(events, m_events);
        Q_EMIT happened(events);
    });
}

Controller::~Controller() = default;

template<typename Handler>
void Controller::ask(const QString &method, const QJsonObject &params, Handler handler)
{
    if (!m_client)
        return;
    const quint64 generation = m_generation;
    QCoro::connect(m_client->call(method, params), this,
                   [this, generation, handler](const Result<QJsonObject> &result) {
                       if (generation == m_generation)
                           handler(result);
                   });
}

void Controller::request(const QString &method, const QJsonObject &params,
                         const std::function<void(const Result<QJsonObject> &)> &answered)
{
    ask(method, params, answered);
}

Caller Controller::caller()
{
    return [self = QPointer<Controller>(this)](const QString &method, const QJsonObject &params,
                                               const std::function<void(const Result<QJsonObject> &)> &answered) {
        if (self)
            self->request(method, params, answered);
    };
}

QJsonObject Controller::inSession(QJsonObject params) const
{
    params.insert(QStringLiteral("session_id"), m_sessionId);
    return params;
}

void Controller::setClient(std::shared_ptr<ServiceClient> client)
{
    disconnectClient();
    m_client = std::move(client);
    if (!m_client)
        return;
    connect(m_client.get(), &ServiceClient::event, this, &Controller::onEvent);
    connect(m_client.get(), &ServiceClient::connectedChanged, this, &Controller::linkChanged);
    m_state->update(
        ConsoleState::Everything,
        [this](ConsoleData &data) {
            const int slotChoice = data.slotChoice;
            data = ConsoleData();
            data.slotChoice = slotChoice;
            data.link = LinkState::Probing;
            data.linkDescription = m_client->description();
            data.linkSince = QDateTime::currentDateTimeUtc();
        },
        true);
    m_state->selection()->selectCompaction(0);
    m_pollTimer.start();
    linkChanged(m_client->isConnected());
    ask(QStringLiteral("events.subscribe"), {}, [this](const Result<QJsonObject> &result) {
        // An embedded engine has no such method and sends its events anyway.
        if (!result && result.error().code != Error::Code::MethodNotFound)
            Q_EMIT failed(tr("The service sends no events"), result.error());
    });
    want(WantDoctor | WantSlots | WantSessions | WantProfile);
    Q_EMIT connectedChanged();
}

void Controller::disconnectClient()
{
    ++m_generation;
    ++m_sessionGeneration;
    m_wanted = 0;
    m_running = 0;
    m_pollTimer.stop();
    m_sessionId.clear();
    m_planRevision = -1;
    if (!m_client)
        return;
    m_client->disconnect(this);
    m_client.reset();
    m_state->update(
        ConsoleState::Everything, [](ConsoleData &data) { data = ConsoleData(); }, true);
    Q_EMIT compared(std::nullopt, tr("Nothing to compare yet."));
    Q_EMIT connectedChanged();
}

void Controller::linkChanged(bool connected)
{
    m_state->update(
        ConsoleState::Link,
        [connected](ConsoleData &data) {
            const LinkState now = connected ? LinkState::Connected : LinkState::Disconnected;
            if (data.link != now)
                data.linkSince = QDateTime::currentDateTimeUtc();
            data.link = now;
        },
        true);
    if (connected)
        want(WantDoctor | WantSlots | WantSessions | WantProfile | WantSession | WantEpisodes | WantCompactions
             | WantReceipt | WantComparison);
    Q_EMIT connectedChanged();
    Q_EMIT planChanged();
}

void Controller::want(uint parts)
{
    m_wanted |= parts;
    if (m_client && !m_fetchTimer.isActive())
        m_fetchTimer.start();
}

void Controller::fetch()
{
    if (!m_client || !m_client->isConnected())
        return;
    const uint now = m_wanted & ~m_running; // what is still under way is asked again afterwards
    m_wanted &= m_running;
    for (uint part = 1; part <= WantCuts; part <<= 1) {
        if (now & part)
            fetchOne(part);
    }
}

void Controller::done(uint part)
{
    m_running &= ~part;
    if (m_wanted && !m_fetchTimer.isActive())
        m_fetchTimer.start();
}

void Controller::fetchOne(uint part)
{
    const bool needsSession = part == WantSession || part == WantEpisodes || part == WantCompactions
        || part == WantReceipt || part == WantComparison || part == WantCuts;
    if (needsSession && m_sessionId.isEmpty())
        return;
    m_running |= part;
    const quint64 session = m_sessionGeneration;
    switch (part) {
    case WantDoctor:
        ask(QStringLiteral("server.doctor"), {}, [this](const Result<QJsonObject> &result) {
            done(WantDoctor);
            if (!result) {
                m_state->update(ConsoleState::Link,
                                [&result](ConsoleData &data) { data.linkError = result.error().message; });
                return;
            }
            const QString reason = result->value(QLatin1String("unreachable_reason")).toString();
            m_state->update(ConsoleState::Doctor | ConsoleState::Link, [&](ConsoleData &data) {
                const bool was = data.doctor.reachable;
                data.doctor = parseDoctor(*result);
                data.linkError = reason;
                if (data.doctor.reachable)
                    data.asOf = QDateTime::currentDateTimeUtc();
                if (was != data.doctor.reachable || !data.linkSince.isValid())
                    data.linkSince = QDateTime::currentDateTimeUtc();
            });
            Q_EMIT connectedChanged();
            Q_EMIT planChanged();
        });
        break;
    case WantSlots:
        ask(QStringLiteral("server.slots"), {}, [this](const Result<QJsonObject> &result) {
            done(WantSlots);
            if (!result)
                return; // the doctor says what is wrong
            m_state->update(ConsoleState::Slots, [&result](ConsoleData &data) {
                data.slotList = parseSlots(*result);
                if (data.doctor.reachable)
                    data.asOf = QDateTime::currentDateTimeUtc();
            });
            const auto &slotList = m_state->data().slotList;
            const bool busy =
                std::any_of(slotList.begin(), slotList.end(), [](const SlotValue &slot) { return slot.busy; });
            m_pollTimer.setInterval(busy ? 250 : 2000);
        });
        break;
    case WantSessions:
        ask(QStringLiteral("session.list"), {}, [this](const Result<QJsonObject> &result) {
            done(WantSessions);
            if (!result) {
                Q_EMIT failed(tr("The sessions cannot be listed"), result.error());
                return;
            }
            m_state->update(ConsoleState::Sessions,
                            [&result](ConsoleData &data) { data.sessions = parseSessions(*result); });
            const QList<SessionSummary> &sessions = m_state->data().sessions;
            if (m_sessionId.isEmpty() && !sessions.isEmpty()) {
                // The one that was used last is the one people come back for.
                const auto newest = std::max_element(
                    sessions.begin(), sessions.end(),
                    [](const SessionSummary &a, const SessionSummary &b) { return a.updatedAt < b.updatedAt; });
                openSession(newest->id);
            }
        });
        break;
    case WantSession:
        ask(QStringLiteral("session.get"), inSession(), [this, session](const Result<QJsonObject> &result) {
            done(WantSession);
            if (session != m_sessionGeneration)
                return;
            if (!result) {
                Q_EMIT failed(tr("Session %1 cannot be read").arg(m_sessionId), result.error());
                return;
            }
            m_state->update(ConsoleState::SessionPart, [&result](ConsoleData &data) {
                data.session = parseSession(*result);
                data.hasSession = true;
            });
            Q_EMIT planChanged();
            if (const auto &cuts = m_state->data().cuts; !cuts || cuts->revision != m_state->data().session.revision)
                want(WantCuts);
        });
        break;
    case WantEpisodes: {
        const QList<EpisodeValue> &have = m_state->data().episodes;
        if (m_fullEpisodes || have.size() <= kPage)
            fetchEpisodes(1, {}, false);
        else
            fetchEpisodes(have.at(have.size() - kTail).seq, have.first(have.size() - kTail), true);
        m_fullEpisodes = false;
        break;
    }
    case WantCompactions:
        ask(QStringLiteral("context.compactions"), inSession({{QStringLiteral("limit"), 5000}}),
            [this, session](const Result<QJsonObject> &result) {
                done(WantCompactions);
                if (session != m_sessionGeneration || !result)
                    return;
                m_state->update(ConsoleState::Compactions,
                                [&result](ConsoleData &data) { data.compactions = parseCompactions(*result); });
                Q_EMIT planChanged();
            });
        break;
    case WantReceipt:
        ask(QStringLiteral("context.receipt"), inSession(), [this, session](const Result<QJsonObject> &result) {
            done(WantReceipt);
            if (session != m_sessionGeneration)
                return;
            m_state->update(ConsoleState::Receipt, [&result](ConsoleData &data) {
                if (result)
                    data.receipt = parseReceipt(*result);
                else
                    data.receipt.reset(); // no request of this session was recorded yet
            });
        });
        break;
    case WantProfile: {
        QJsonObject params;
        if (!m_sessionId.isEmpty())
            params = inSession();
        ask(QStringLiteral("profile.get"), params, [this](const Result<QJsonObject> &result) {
            done(WantProfile);
            if (result)
                m_state->update(ConsoleState::Profile,
                                [&result](ConsoleData &data) { data.profile = parseProfile(*result); });
        });
        break;
    }
    case WantComparison:
        compare();
        break;
    case WantCuts:
        fetchCuts();
        break;
    default:
        m_running &= ~part;
    }
}

void Controller::fetchCuts()
{
    // What takes long (a huge session) is not asked for again and again.
    const qint64 pause = m_cutsTookMs > 500 ? 3 * m_cutsTookMs : 0;
    if (m_cutsClock.isValid() && m_cutsClock.elapsed() < pause) {
        m_running &= ~static_cast<uint>(WantCuts);
        QTimer::singleShot(static_cast<int>(pause - m_cutsClock.elapsed()), this, [this] { want(WantCuts); });
        return;
    }
    QJsonObject params = inSession();
    if (m_state->data().slotChoice >= 0)
        params.insert(QStringLiteral("slot_id"), m_state->data().slotChoice);
    const quint64 session = m_sessionGeneration;
    m_cutsClock.start();
    ask(QStringLiteral("context.cuts"), params, [this, session](const Result<QJsonObject> &result) {
        m_cutsTookMs = m_cutsClock.isValid() ? m_cutsClock.elapsed() : 0;
        done(WantCuts);
        if (session != m_sessionGeneration)
            return;
        // Without an answer (an older service) the legal cuts of the plan are all that is shown.
        std::shared_ptr<const CutReport> cuts;
        if (result)
            cuts = std::make_shared<const CutReport>(CutReport::fromJson(*result));
        m_state->update(ConsoleState::Cuts, [&cuts](ConsoleData &data) { data.cuts = cuts; });
    });
}

void Controller::fetchEpisodes(int fromSeq, QList<EpisodeValue> soFar, bool tail)
{
    const quint64 session = m_sessionGeneration;
    ask(QStringLiteral("session.episodes"),
        inSession({{QStringLiteral("from_seq"), fromSeq}, {QStringLiteral("limit"), kPage}}),
        [this, session, before = soFar, tail](const Result<QJsonObject> &result) {
            if (session != m_sessionGeneration || !result) {
                done(WantEpisodes);
                if (!result && session == m_sessionGeneration)
                    Q_EMIT failed(tr("The episodes of session %1 cannot be read").arg(m_sessionId), result.error());
                return;
            }
            const QList<EpisodeValue> all = before + parseEpisodes(*result);
            const QJsonValue next = result->value(QLatin1String("next_seq"));
            if (next.isDouble()) {
                fetchEpisodes(next.toInt(), all, tail);
                return;
            }
            done(WantEpisodes);
            m_state->update(ConsoleState::Episodes, [&all](ConsoleData &data) { data.episodes = all; });
        });
}

void Controller::compare()
{
    if (!m_comparing) {
        done(WantComparison);
        return;
    }
    const quint64 session = m_sessionGeneration;
    ask(QStringLiteral("context.diff"),
        inSession({{QStringLiteral("a"), QStringLiteral("held")}, {QStringLiteral("b"), QStringLiteral("next")}}),
        [this, session](const Result<QJsonObject> &result) {
            if (session != m_sessionGeneration || !result) {
                done(WantComparison);
                if (session == m_sessionGeneration)
                    Q_EMIT compared(std::nullopt,
                                    tr("What is held cannot be compared: %1").arg(result.error().message));
                return;
            }
            const DiffValue diff = parseDiff(*result);
            const QJsonObject window{{QStringLiteral("from"), std::max(0, diff.lcp - kCompareBefore)},
                                     {QStringLiteral("limit"), kCompareTokens},
                                     {QStringLiteral("ids"), true},
                                     {QStringLiteral("pieces"), true}};
            QJsonObject held = inSession(window);
            held.insert(QStringLiteral("which"), QStringLiteral("held"));
            ask(QStringLiteral("context.prompt"), held, [this, session, diff, window](const Result<QJsonObject> &a) {
                if (session != m_sessionGeneration || !a) {
                    done(WantComparison);
                    if (session == m_sessionGeneration)
                        Q_EMIT compared(std::nullopt, tr("What is held cannot be read: %1").arg(a.error().message));
                    return;
                }
                const PromptValue heldPrompt = parsePrompt(*a);
                QJsonObject next = inSession(window);
                next.insert(QStringLiteral("which"), QStringLiteral("next"));
                ask(QStringLiteral("context.prompt"), next,
                    [this, session, diff, heldPrompt](const Result<QJsonObject> &b) {
                        done(WantComparison);
                        if (session != m_sessionGeneration)
                            return;
                        if (!b) {
                            Q_EMIT compared(std::nullopt,
                                            tr("The next prompt cannot be read: %1").arg(b.error().message));
                            return;
                        }
                        PrefixComparison comparison;
                        comparison.aName = tr("held");
                        comparison.bName = tr("next", "the prompt that would be sent next");
                        comparison.diff = diff;
                        comparison.a = heldPrompt;
                        comparison.b = parsePrompt(*b);
                        comparison.simulated = comparison.b.simulated;
                        Q_EMIT compared(comparison, QString());
                    });
            });
        });
}

void Controller::setComparing(bool comparing)
{
    if (comparing == m_comparing)
        return;
    m_comparing = comparing;
    if (comparing)
        want(WantComparison);
}

void Controller::setPaused(bool paused)
{
    m_paused = paused;
    if (!paused) {
        m_fullEpisodes = true;
        want(WantSlots | WantDoctor | WantSession | WantEpisodes | WantCompactions | WantReceipt | WantSessions
             | WantComparison);
    }
}

void Controller::onEvent(const QString &topic, const QJsonObject &params)
{
    const QString session = params.value(QLatin1String("session_id")).toString();
    const bool mine = session.isEmpty() || session == m_sessionId;
    if (topic != QLatin1String("log") && topic != QLatin1String("slots") && topic != QLatin1String("ring")) {
        m_events.append(parseEvent(topic, params, QDateTime::currentDateTimeUtc()));
        if (!m_eventTimer.isActive())
            m_eventTimer.start();
    }
    if (m_paused)
        return;
    if (topic == QLatin1String("episode")) {
        want(WantSessions | (mine ? WantSession | WantEpisodes | WantComparison : 0u));
    } else if (topic == QLatin1String("applied")) {
        m_fullEpisodes = m_fullEpisodes || mine;
        want(WantSessions | (mine ? WantSession | WantEpisodes | WantCompactions | WantComparison | WantSlots : 0u));
    } else if (topic == QLatin1String("outcome") || topic == QLatin1String("receipt")) {
        if (mine)
            want(WantSession | WantCompactions | WantReceipt | WantSlots | WantDoctor | WantComparison | WantCuts);
    } else if (topic == QLatin1String("slots")) {
        // The event has the whole answer in it.
        m_state->update(ConsoleState::Slots, [&params](ConsoleData &data) {
            if (params.contains(QLatin1String("slots")))
                data.slotList = parseSlots(params);
        });
    } else if (topic == QLatin1String("ring")) {
        m_state->update(ConsoleState::Slots, [&params](ConsoleData &data) {
            data.doctor.ringVisible = params.value(QLatin1String("visible")).toBool(data.doctor.ringVisible);
            data.doctor.ringSource = params.value(QLatin1String("source")).toString(data.doctor.ringSource);
            const QJsonArray entries = params.value(QLatin1String("entries")).toArray();
            data.doctor.ring.clear();
            for (const QJsonValue &entry : entries)
                data.doctor.ring << parseCheckpoint(entry);
        });
        if (!m_sessionId.isEmpty())
            want(WantCuts);
    } else if (topic == QLatin1String("server")) {
        want(WantDoctor | WantSlots | WantProfile | WantSession);
    } else if (topic == QLatin1String("profile")) {
        if (mine) {
            const int connection = params.value(QLatin1String("connection_id")).toInt(-1);
            Q_EMIT profileChanged(connection > 0        ? tr("connection %1").arg(connection)
                                      : connection == 0 ? tr("the console that runs the service")
                                                        : QString());
        }
        want(WantProfile | WantSession | WantCuts);
    }
}

void Controller::openSession(const QString &id)
{
    if (id == m_sessionId || id.isEmpty())
        return;
    m_sessionId = id;
    ++m_sessionGeneration;
    m_fullEpisodes = true;
    m_planRevision = -1;
    m_running &=
        ~static_cast<uint>(WantSession | WantEpisodes | WantCompactions | WantReceipt | WantComparison | WantCuts);
    m_state->update(
        ConsoleState::Everything,
        [&id](ConsoleData &data) {
            data.hasSession = true;
            data.session = SessionValue();
            data.session.id = id;
            data.session.title = id;
            for (const SessionSummary &session : std::as_const(data.sessions)) {
                if (session.id == id && !session.title.isEmpty())
                    data.session.title = session.title;
            }
            data.episodes.clear();
            data.plan.reset();
            data.cuts.reset();
            data.compactions.clear();
            data.receipt.reset();
            data.promptsBefore.clear();
        },
        true);
    m_state->selection()->selectCompaction(0);
    m_state->selection()->clear();
    Q_EMIT compared(std::nullopt, tr("Nothing to compare yet."));
    want(WantSession | WantEpisodes | WantCompactions | WantReceipt | WantProfile | WantComparison);
    Q_EMIT planChanged();
}

void Controller::createSession(const QString &title)
{
    QJsonObject params;
    if (!title.isEmpty())
        params.insert(QStringLiteral("title"), title);
    ask(QStringLiteral("session.create"), params, [this](const Result<QJsonObject> &result) {
        if (!result) {
            Q_EMIT failed(tr("The session was not made"), result.error());
            return;
        }
        openSession(result->value(QLatin1String("session_id")).toString());
        want(WantSessions);
    });
}

QString Controller::whyNotPlan() const
{
    if (!m_client || !m_client->isConnected())
        return tr("Not connected.");
    if (m_sessionId.isEmpty())
        return tr("No session is open.");
    if (m_viewer)
        return tr("This console only watches: choose Operate first.");
    return {};
}

QString Controller::whyNotApply() const
{
    if (const QString why = whyNotPlan(); !why.isEmpty())
        return why;
    const ConsoleData &data = m_state->data();
    if (!data.doctor.url.isEmpty() && !data.doctor.reachable)
        return tr("The server does not answer.");
    if (!data.plan)
        return tr("No plan. Press F6.");
    if (data.plan->updates.isEmpty())
        return tr("The plan evicts nothing: no cut is needed.");
    if (data.session.revision != data.plan->revision)
        return tr("The session moved on: plan again (F6).");
    return {};
}

int Controller::staleBy() const
{
    const ConsoleData &data = m_state->data();
    if (!data.plan || data.session.revision == data.plan->revision)
        return 0;
    return std::max(1, data.session.episodes - m_planEpisodes);
}

void Controller::plan(std::optional<int> requestedCut)
{
    if (!whyNotPlan().isEmpty())
        return;
    const quint64 session = m_sessionGeneration;
    QJsonObject params = inSession();
    if (requestedCut)
        params.insert(QStringLiteral("requested_cut"), *requestedCut);
    if (m_state->data().slotChoice >= 0)
        params.insert(QStringLiteral("slot_id"), m_state->data().slotChoice);
    Q_EMIT said(tr("Planning…"));
    ask(QStringLiteral("context.plan_eviction"), params, [this, session](const Result<QJsonObject> &result) {
        if (session != m_sessionGeneration)
            return;
        if (!result) {
            Q_EMIT said(QString());
            Q_EMIT failed(tr("No plan was made"), result.error());
            return;
        }
        const PlanValue plan = parsePlan(*result);
        m_state->update(ConsoleState::Plan, [&plan](ConsoleData &data) { data.plan = plan; });
        m_planEpisodes = m_state->data().session.episodes;
        m_planRevision = plan.revision;
        m_state->selection()->selectCompaction(0);
        m_state->flush();
        Q_EMIT said(plan.updates.isEmpty() ? tr("No cut is needed.") : verdictHeadline(plan));
        Q_EMIT planChanged();
        want(WantSession | WantSlots);
    });
}

void Controller::apply()
{
    if (!whyNotApply().isEmpty())
        return;
    const quint64 session = m_sessionGeneration;
    ask(QStringLiteral("context.apply"),
        {{QStringLiteral("plan_id"), m_state->data().plan->planId}, {QStringLiteral("session_id"), m_sessionId}},
        [this, session](const Result<QJsonObject> &result) {
            if (session != m_sessionGeneration)
                return;
            if (!result) {
                Q_EMIT failed(tr("The plan was not applied"), result.error());
                return;
            }
            const int number = result->value(QLatin1String("compaction_id")).toInt();
            m_state->update(
                ConsoleState::Plan, [](ConsoleData &data) { data.plan.reset(); }, true);
            Q_EMIT said(tr("Compaction %1 applied. The next request proves it.").arg(kerf::number(number)));
            Q_EMIT planChanged();
            m_fullEpisodes = true;
            want(WantSession | WantEpisodes | WantCompactions | WantComparison | WantSessions | WantSlots);
        });
}

void Controller::undoLast()
{
    const ConsoleData &data = m_state->data();
    const auto last = std::find_if(data.compactions.begin(), data.compactions.end(),
                                   [](const PlanValue &plan) { return plan.outcome != QLatin1String("undone"); });
    if (last == data.compactions.end())
        return;
    const int compaction = last->number;
    ask(QStringLiteral("context.undo"), inSession({{QStringLiteral("compaction_id"), compaction}}),
        [this, compaction](const Result<QJsonObject> &result) {
            if (!result) {
                Q_EMIT failed(tr("Compaction %1 was not undone").arg(number(compaction)), result.error());
                return;
            }
            const QJsonValue prefill = result->value(QLatin1String("predicted_prefill"));
            Q_EMIT said(prefill.isDouble()
                            ? tr("Compaction %1 undone. The server must prefill about %2 tokens again.")
                                  .arg(number(compaction), number(prefill.toInt()))
                            : tr("Compaction %1 undone. What the server must prefill again is not known.")
                                  .arg(number(compaction)));
            m_state->selection()->selectCompaction(0);
            m_fullEpisodes = true;
            want(WantSession | WantEpisodes | WantCompactions | WantComparison | WantSessions);
        });
}

void Controller::setProfile(const QString &name)
{
    QJsonObject params{{QStringLiteral("name"), name}};
    if (!m_sessionId.isEmpty())
        params = inSession(params);
    ask(QStringLiteral("profile.set"), params, [this, name](const Result<QJsonObject> &result) {
        if (!result)
            Q_EMIT failed(tr("Profile %1 was not set").arg(name), result.error());
        want(WantProfile | WantSession);
    });
}

void Controller::setSlotChoice(int slotId)
{
    m_state->update(
        ConsoleState::Slots, [slotId](ConsoleData &data) { data.slotChoice = slotId; }, true);
    if (!m_sessionId.isEmpty())
        want(WantCuts);
}

void Controller::pin(int seq)
{
    if (m_viewer) {
        Q_EMIT said(whyNotPlan());
        return;
    }
    const QList<EpisodeValue> &episodes = m_state->data().episodes;
    const auto it = std::lower_bound(episodes.begin(), episodes.end(), seq,
                                     [](const EpisodeValue &episode, int at) { return episode.seq < at; });
    if (it == episodes.end() || it->seq != seq)
        return;
    ask(QStringLiteral("memory.pin"),
        inSession({{QStringLiteral("episode_id"), it->id}, {QStringLiteral("kind"), QStringLiteral("task_contract")}}),
        [this, seq](const Result<QJsonObject> &result) {
            if (!result) {
                Q_EMIT failed(tr("Episode %1 was not pinned").arg(number(seq)), result.error());
                return;
            }
            Q_EMIT said(tr("Episode %1 is pinned: no cut evicts it.").arg(number(seq)));
            m_fullEpisodes = true;
            want(WantSession | WantEpisodes);
        });
}

void Controller::showText(int seq)
{
    const QList<EpisodeValue> &episodes = m_state->data().episodes;
    const auto it = std::lower_bound(episodes.begin(), episodes.end(), seq,
                                     [](const EpisodeValue &episode, int at) { return episode.seq < at; });
    if (it == episodes.end() || it->seq != seq)
        return;
    const QString title = tr("Episode %1 · %2").arg(number(seq), roleWord(it->role));
    ask(QStringLiteral("memory.get_episode"), inSession({{QStringLiteral("episode_id"), it->id}}),
        [this, title, seq](const Result<QJsonObject> &result) {
            if (!result)
                Q_EMIT failed(tr("Episode %1 cannot be read").arg(number(seq)), result.error());
            else
                Q_EMIT textShown(title, result->value(QLatin1String("content")).toString());
        });
}

void Controller::refresh(bool probe)
{
    m_fullEpisodes = true;
    if (probe) {
        ask(QStringLiteral("server.doctor"), {{QStringLiteral("refresh"), true}},
            [this](const Result<QJsonObject> &result) {
                if (!result)
                    Q_EMIT failed(tr("The server was not probed"), result.error());
                want(WantDoctor | WantSlots);
            });
    }
    want(WantDoctor | WantSlots | WantSessions | WantSession | WantEpisodes | WantCompactions | WantReceipt
         | WantProfile | WantComparison);
}

} // namespace kerf
