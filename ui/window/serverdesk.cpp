// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/serverdesk.h"

#include "ui/viewmodel/numbers.h"

#include <QCoroTask>

#include <algorithm>

namespace kerf {

namespace {
constexpr int kPage = 5000; ///< the most that a service gives at once
constexpr int kBusyMs = 250;
constexpr int kIdleMs = 2000;
} // namespace

ServerDesk::ServerDesk(QObject *parent)
    : QObject(parent)
{
    m_timer.setSingleShot(true);
    m_timer.setInterval(100);
    connect(&m_timer, &QTimer::timeout, this, &ServerDesk::fetch);
    m_tick.setInterval(kIdleMs);
    connect(&m_tick, &QTimer::timeout, this, [this] {
        m_slotsWanted = m_slotsWatched;
        m_logWanted = m_logWatched;
        if (!m_timer.isActive())
            m_timer.start();
    });
}

ServerDesk::~ServerDesk() = default;

template<typename Handler>
void ServerDesk::ask(const QString &method, const QJsonObject &params, Handler handler)
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

void ServerDesk::setClient(std::shared_ptr<ServiceClient> client)
{
    if (client == m_client)
        return;
    if (m_client)
        m_client->disconnect(this);
    ++m_generation;
    m_client = std::move(client);
    m_slots = {};
    m_log.clear();
    m_logState = {};
    m_evidence = {};
    m_held = m_newest = 0;
    m_slotsRunning = m_logRunning = m_evidenceRunning = false;
    m_slotsWanted = m_slotsWatched;
    m_logWanted = m_logWatched;
    m_evidenceWanted = m_evidenceWatched;
    if (m_client) {
        connect(m_client.get(), &ServiceClient::event, this, &ServerDesk::onEvent);
        connect(m_client.get(), &ServiceClient::connectedChanged, this, [this](bool connected) {
            if (!connected)
                return;
            // Another service may be behind it: its lines are counted anew.
            m_log.clear();
            m_slotsWanted = m_slotsWatched;
            m_logWanted = m_logWatched;
            m_evidenceWanted = m_evidenceWatched;
            m_timer.start();
        });
        m_timer.start();
        m_tick.start();
    } else {
        m_timer.stop();
        m_tick.stop();
    }
    Q_EMIT clientChanged();
    Q_EMIT slotsChanged();
    Q_EMIT logChanged();
    Q_EMIT evidenceChanged();
}

void ServerDesk::setPaused(bool paused)
{
    if (paused == m_paused)
        return;
    m_paused = paused;
    m_held = 0;
    if (!paused) {
        m_slotsWanted = m_slotsWatched;
        m_logWanted = m_logWatched;
        m_timer.start();
    }
    Q_EMIT pausedChanged();
    Q_EMIT logChanged();
}

void ServerDesk::watchSlots(bool on)
{
    if (on == m_slotsWatched)
        return;
    m_slotsWatched = on;
    m_slotsWanted = on;
    if (on && m_client)
        m_timer.start();
}

void ServerDesk::watchLog(bool on)
{
    if (on == m_logWatched)
        return;
    m_logWatched = on;
    m_logWanted = on;
    if (on && m_client)
        m_timer.start();
}

void ServerDesk::watchEvidence(bool on)
{
    if (on == m_evidenceWatched)
        return;
    m_evidenceWatched = on;
    m_evidenceWanted = on;
    if (on && m_client)
        m_timer.start();
}

void ServerDesk::onEvent(const QString &topic, const QJsonObject &params)
{
    if (topic == QLatin1String("slots") || topic == QLatin1String("ring")) {
        m_slotsWanted = m_slotsWatched;
    } else if (topic == QLatin1String("log")) {
        m_newest = std::max(m_newest, params.value(QLatin1String("number")).toInteger());
        if (m_paused) {
            m_held = std::max<qint64>(0, m_newest + 1 - std::max<qint64>(1, m_log.nextNumber()));
            if (m_logWatched)
                Q_EMIT logChanged();
            return;
        }
        m_logWanted = m_logWatched;
    } else if (topic == QLatin1String("server")) {
        m_evidenceWanted = m_evidenceWatched;
        m_slotsWanted = m_slotsWatched;
    } else {
        return;
    }
    if (!m_timer.isActive())
        m_timer.start();
}

void ServerDesk::fetch()
{
    if (!m_client || !m_client->isConnected() || m_paused)
        return;
    if (m_slotsWanted && !m_slotsRunning)
        fetchSlots();
    if (m_logWanted && !m_logRunning)
        fetchLog();
    if (m_evidenceWanted && !m_evidenceRunning)
        fetchEvidence(false);
}

void ServerDesk::fetchSlots()
{
    m_slotsWanted = false;
    m_slotsRunning = true;
    ask(QStringLiteral("server.slots"), {{QStringLiteral("history"), true}}, [this](const Result<QJsonObject> &result) {
        m_slotsRunning = false;
        if (result) {
            m_slots = parseSlotsPicture(*result);
        } else {
            m_slots.readable = false; // what was known stays, and is said to be old
            m_slots.reason = result.error().message;
        }
        const bool busy =
            std::any_of(m_slots.lanes.cbegin(), m_slots.lanes.cend(), [](const SlotLane &lane) { return lane.busy; });
        const int interval = busy ? kBusyMs : kIdleMs;
        if (m_tick.interval() != interval)
            m_tick.setInterval(interval);
        Q_EMIT slotsChanged();
        if (m_slotsWanted && !m_timer.isActive())
            m_timer.start();
    });
}

void ServerDesk::fetchLog()
{
    m_logWanted = false;
    m_logRunning = true;
    const QJsonObject params{{QStringLiteral("limit"), kPage},
                             {QStringLiteral("from"), std::max<qint64>(1, m_log.nextNumber())}};
    ask(QStringLiteral("server.log"), params, [this](const Result<QJsonObject> &result) {
        m_logRunning = false;
        if (!result)
            return; // the doctor says what is wrong
        LogAnswer answer = parseLog(*result);
        if (answer.next < m_log.nextNumber())
            m_log.clear(); // another log
        m_log.append(answer.lines);
        const bool more = !answer.lines.isEmpty() && m_log.nextNumber() < answer.next;
        answer.lines.clear();
        m_logState = answer;
        Q_EMIT logChanged();
        if (more && m_logWatched && !m_paused)
            fetchLog();
        else if (m_logWanted && !m_timer.isActive())
            m_timer.start();
    });
}

void ServerDesk::fetchEvidence(bool refresh)
{
    m_evidenceWanted = false;
    m_evidenceRunning = true;
    QJsonObject params;
    if (refresh)
        params.insert(QStringLiteral("refresh"), true);
    ask(QStringLiteral("server.evidence"), params, [this, refresh](const Result<QJsonObject> &result) {
        m_evidenceRunning = false;
        if (result) {
            m_evidence = parseEvidence(*result);
            Q_EMIT evidenceChanged();
            if (refresh)
                Q_EMIT said(tr("The server was probed again."));
        } else if (refresh) {
            Q_EMIT failed(tr("The server was not probed"), result.error());
        }
    });
}

void ServerDesk::probeAgain() { fetchEvidence(true); }

void ServerDesk::forget(const QString &claim, const QString &evidence)
{
    ask(QStringLiteral("server.forget"), {{QStringLiteral("claim"), claim}, {QStringLiteral("evidence"), evidence}},
        [this, claim](const Result<QJsonObject> &result) {
            if (!result) {
                Q_EMIT failed(tr("%1 was not forgotten").arg(claimWord(claim)), result.error());
                return;
            }
            const QJsonObject now = result->value(QLatin1String("now")).toObject();
            Q_EMIT said(now.isEmpty() ? tr("%1 is forgotten. Nothing else says it.").arg(claimWord(claim))
                                      : tr("%1 is forgotten. Now: %2.")
                                            .arg(claimWord(claim),
                                                 claimValueWord(claim, now.value(QLatin1String("value")).toString())));
            fetchEvidence(false);
        });
}

void ServerDesk::act(const QJsonObject &params, const QString &what, std::function<QString(const QJsonObject &)> done)
{
    ask(QStringLiteral("server.slot"), params, [this, what, done](const Result<QJsonObject> &result) {
        if (!result) {
            Q_EMIT failed(what, result.error());
            return;
        }
        Q_EMIT said(done(*result));
        m_slotsWanted = m_slotsWatched;
        if (!m_timer.isActive())
            m_timer.start();
    });
}

void ServerDesk::saveSlot(int slotId)
{
    act({{QStringLiteral("slot_id"), slotId}, {QStringLiteral("action"), QStringLiteral("save")}},
        tr("Slot %1 was not saved").arg(slotId), [slotId](const QJsonObject &answer) {
            const QString text = tr("Slot %1 saved: %2 tokens in %3.")
                                     .arg(slotId)
                                     .arg(number(answer.value(QLatin1String("tokens")).toInteger()),
                                          answer.value(QLatin1String("file")).toString());
            const QString note = answer.value(QLatin1String("note")).toString();
            return note.isEmpty() ? text : tr("%1 %2.").arg(text, note);
        });
}

void ServerDesk::restoreSlot(int slotId, const QString &file, bool consent)
{
    act({{QStringLiteral("slot_id"), slotId},
         {QStringLiteral("action"), QStringLiteral("restore")},
         {QStringLiteral("file"), file},
         {QStringLiteral("consent"), consent}},
        tr("Slot %1 was not restored").arg(slotId), [slotId, file](const QJsonObject &answer) {
            return tr("Slot %1 restored from %2: %3 tokens. Only the next request proves it.")
                .arg(slotId)
                .arg(file, number(answer.value(QLatin1String("tokens")).toInteger()));
        });
}

void ServerDesk::eraseSlot(int slotId, bool consent)
{
    act({{QStringLiteral("slot_id"), slotId},
         {QStringLiteral("action"), QStringLiteral("erase")},
         {QStringLiteral("consent"), consent}},
        tr("Slot %1 was not erased").arg(slotId), [slotId](const QJsonObject &answer) {
            return tr("Slot %1 erased: %2 tokens are gone.")
                .arg(slotId)
                .arg(number(answer.value(QLatin1String("tokens")).toInteger()));
        });
}

void ServerDesk::deleteSave(const QString &file, bool consent)
{
    act({{QStringLiteral("slot_id"), -1},
         {QStringLiteral("action"), QStringLiteral("delete")},
         {QStringLiteral("file"), file},
         {QStringLiteral("consent"), consent}},
        tr("%1 was not deleted").arg(file), [file](const QJsonObject &) { return tr("%1 is deleted.").arg(file); });
}

} // namespace kerf
