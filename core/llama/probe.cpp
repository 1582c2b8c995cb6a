// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/probe.h"

#include <QJsonDocument>

#include <algorithm>

namespace kerf {

namespace {

// Bodies are made outside the coroutine: gcc 12 does not compile an initializer list in a co_await expression.
QJsonObject canaryTokens()
{
    return {{QStringLiteral("content"), QStringLiteral("kerf")},
            {QStringLiteral("add_special"), true},
            {QStringLiteral("parse_special"), true},
            {QStringLiteral("with_pieces"), true}};
}

QJsonObject canaryMessages()
{
    const QJsonObject message{{QStringLiteral("role"), QStringLiteral("user")},
                              {QStringLiteral("content"), QStringLiteral("kerf")}};
    return {{QStringLiteral("messages"), QJsonArray{message}}};
}

QJsonObject emptyFileName() { return {{QStringLiteral("filename"), QString()}}; }

/// Whether /tokenize gave tokens with their pieces.
bool givesPieces(const HttpReply &reply)
{
    const QJsonArray tokens = reply.object().value(QStringLiteral("tokens")).toArray();
    return reply.ok() && !tokens.isEmpty() && tokens.first().toObject().contains(QStringLiteral("piece"));
}

bool saysHealth(const HttpReply &reply)
{
    const QJsonObject object = reply.object();
    return object.contains(QStringLiteral("status")) || (reply.loading() && object.contains(QStringLiteral("error")));
}

void readProps(const HttpReply &reply, ProbeResult &result)
{
    const QJsonObject object = reply.object();
    result.contextSize =
        object.value(QStringLiteral("default_generation_settings")).toObject().value(QStringLiteral("n_ctx")).toInt();
    result.slotCount = object.value(QStringLiteral("total_slots")).toInt();
    result.build = object.value(QStringLiteral("build_info")).toString();
    result.modelPath = object.value(QStringLiteral("model_path")).toString();
    result.alias = object.value(QStringLiteral("model_alias")).toString();
    result.sleeping = object.value(QStringLiteral("is_sleeping")).toBool();
}

} // namespace

QCoro::Task<ProbeResult> probeServer(QPointer<HttpClient> http, int limitMs)
{
    ProbeResult result;
    if (!http)
        co_return result;
    const QString address = http->base().toString(QUrl::RemoveUserInfo);
    const auto note = [&result](const QString &name, const QString &route, const HttpReply &reply, bool ok,
                                const QString &message = {}) {
        result.steps.append({name, route, reply.status, ok, message.isEmpty() && !ok ? reply.message() : message});
    };

    const QString healthRoute = QStringLiteral("/health");
    const HttpReply health = co_await http->get(healthRoute, limitMs);
    if (!http)
        co_return result;
    note(QStringLiteral("health"), QStringLiteral("GET /health"), health, health.ok());
    if (health.status == 0 && !health.timedOut()) {
        result.failure = health.failure;
        result.reason = QStringLiteral("%1 does not answer: %2").arg(address, health.error);
        co_return result;
    }
    if (health.loading()) {
        result.outcome = ProbeResult::Outcome::Loading;
        result.reason = QStringLiteral("%1 is loading its model").arg(address);
        co_return result;
    }

    const QString propsRoute = QStringLiteral("/props");
    const HttpReply props = co_await http->get(propsRoute, limitMs);
    if (!http)
        co_return result;
    const bool propsRead = props.ok() && !props.object().isEmpty();
    note(QStringLiteral("props"), QStringLiteral("GET /props"), props, propsRead);
    if (health.status == 0 && props.status == 0) {
        result.failure = props.failure;
        result.reason = QStringLiteral("%1 does not answer: %2").arg(address, props.error);
        co_return result;
    }
    if (props.loading()) {
        result.outcome = ProbeResult::Outcome::Loading;
        result.reason = QStringLiteral("%1 is loading its model").arg(address);
        co_return result;
    }
    if (props.needsKey()) {
        result.outcome = ProbeResult::Outcome::NeedsKey;
        result.reason = QStringLiteral("%1 needs an API key").arg(address);
        co_return result;
    }
    if (propsRead) {
        readProps(props, result);
        result.capabilities.props = true;
    }

    const QString slotsRoute = QStringLiteral("/slots");
    const HttpReply slotsReply = co_await http->get(slotsRoute, limitMs);
    if (!http)
        co_return result;
    if (slotsReply.needsKey()) {
        result.outcome = ProbeResult::Outcome::NeedsKey;
        result.reason = QStringLiteral("%1 needs an API key").arg(address);
        note(QStringLiteral("slots"), QStringLiteral("GET /slots"), slotsReply, false);
        co_return result;
    }
    const QJsonDocument slotsDocument = QJsonDocument::fromJson(slotsReply.body);
    result.capabilities.slots = slotsReply.ok() && slotsDocument.isArray();
    note(QStringLiteral("slots"), QStringLiteral("GET /slots"), slotsReply, result.capabilities.slots);
    if (result.capabilities.slots) {
        result.slots = readSlots(slotsDocument.array());
        result.capabilities.checkpointRing = std::any_of(result.slots.cbegin(), result.slots.cend(),
                                                         [](const SlotReading &slot) { return slot.hasRing; });
        if (result.contextSize <= 0 && !result.slots.isEmpty())
            result.contextSize = result.slots.constFirst().contextSize;
        if (result.slotCount <= 0)
            result.slotCount = static_cast<int>(result.slots.size());
    } else {
        result.slotsReason = slotsReply.ok() ? QStringLiteral("GET /slots gave no list") : slotsReply.message();
    }

    const QString tokenizeRoute = QStringLiteral("/tokenize");
    const QJsonObject canary = canaryTokens();
    const HttpReply tokens = co_await http->post(tokenizeRoute, canary, limitMs);
    if (!http)
        co_return result;
    result.capabilities.tokenize = givesPieces(tokens);
    note(QStringLiteral("tokenize"), QStringLiteral("POST /tokenize"), tokens, result.capabilities.tokenize,
         tokens.ok() && !result.capabilities.tokenize
             ? QStringLiteral("it gives no pieces: too old for exact positions")
             : QString());
    if (!health.ok() && !propsRead && !result.capabilities.slots && !tokens.ok()) {
        result.outcome = ProbeResult::Outcome::Foreign;
        result.reason = QStringLiteral("%1 answers, but it is no llama-server").arg(address);
        co_return result;
    }
    if (!propsRead && !result.capabilities.slots && !result.capabilities.tokenize && !saysHealth(health)) {
        result.outcome = ProbeResult::Outcome::Foreign;
        result.reason = QStringLiteral("%1 answers, but it is no llama-server").arg(address);
        co_return result;
    }

    const QString templateRoute = QStringLiteral("/apply-template");
    const QJsonObject messages = canaryMessages();
    const HttpReply applied = co_await http->post(templateRoute, messages, limitMs);
    if (!http)
        co_return result;
    // A template may refuse the canary's roles; the route is there all the same.
    result.capabilities.applyTemplate = applied.ok() ? applied.object().value(QStringLiteral("prompt")).isString()
                                                     : applied.status == 400 || applied.status == 500;
    note(QStringLiteral("apply_template"), QStringLiteral("POST /apply-template"), applied,
         result.capabilities.applyTemplate, applied.ok() ? QString() : applied.message());

    const QString metricsRoute = QStringLiteral("/metrics");
    const HttpReply metrics = co_await http->get(metricsRoute, limitMs);
    if (!http)
        co_return result;
    // Prometheus text, not JSON.
    result.capabilities.metrics = metrics.ok() && metrics.body.contains("llamacpp:");
    note(QStringLiteral("metrics"), QStringLiteral("GET /metrics"), metrics, result.capabilities.metrics);

    const QJsonObject badName = emptyFileName();
    int saveStatus = 0;
    for (const QString &action : {QStringLiteral("save"), QStringLiteral("restore")}) {
        QString route = QStringLiteral("/slots/0?action=%1").arg(action);
        HttpReply reply = co_await http->post(route, badName, limitMs);
        if (!http)
            co_return result;
        bool older = false;
        if (reply.status == 404) {
            const QString olderRoute = QStringLiteral("/slots/0/%1").arg(action);
            const HttpReply second = co_await http->post(olderRoute, badName, limitMs);
            if (!http)
                co_return result;
            older = second.status != 404;
            if (older) {
                reply = second;
                route = olderRoute;
            }
        }
        const bool there = reply.status == 400;
        note(QStringLiteral("slot_%1").arg(action), QStringLiteral("POST %1").arg(route), reply, there,
             there ? QStringLiteral("there: an empty file name was refused") : QString());
        if (action == QLatin1String("save")) {
            saveStatus = reply.status;
            result.capabilities.slotSave = there;
            result.oldSlotRoutes = older && there;
            if (!there)
                result.saveReason = reply.message();
        } else {
            result.capabilities.slotRestore = there;
        }
    }
    // Erase takes no file name. A slot id that is no number is refused before anything is done.
    const QString eraseRoute = QStringLiteral("/slots/x?action=erase");
    const QJsonObject nothing;
    const HttpReply erase = co_await http->post(eraseRoute, nothing, limitMs);
    if (!http)
        co_return result;
    result.capabilities.slotErase = erase.status == 400 && saveStatus == 400 && !result.oldSlotRoutes;
    note(QStringLiteral("slot_erase"), QStringLiteral("POST /slots/x?action=erase"), erase,
         result.capabilities.slotErase,
         result.capabilities.slotErase
             ? QStringLiteral("inferred: save is there, and a slot id that is no number was refused")
             : QString());
    result.outcome = ProbeResult::Outcome::Reachable;
    result.capabilities.reachable = true;
    co_return result;
}

} // namespace kerf
