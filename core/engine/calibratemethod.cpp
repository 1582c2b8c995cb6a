// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// server.calibrate: the experiment of core/calibration, carried out on one idle slot.

#include "core/calibration/calibration.h"
#include "core/engine/engine.h"
#include "core/engine/text.h"

#include <QRandomGenerator>

#include <algorithm>

namespace kerf {

namespace {

/// Common English words: the ids that a tokenizer gives for them are text, never control tokens.
const QString &words()
{
    static const QString text = QStringLiteral(
        "the of and to in is that for it as was with be by on not he his but at are this have from or had an they "
        "which "
        "one you were her all she there would their we him been has when who will more no if out so said what up its "
        "about into than them can only other new some could time these two may then do first any my now such like our "
        "over man me even most made after also did many before must through back years where much your way well down "
        "should because each just those people how too little state good very make world still own see work long get "
        "here between both life being under never day same another know while last might us great old year off come "
        "since against go came right used take three house water small large river stone paper table window garden");
    return text;
}

struct Place {
    int slotId = -1;
    bool only = false; ///< there is no other slot
    int tokens = 0; ///< held there now
    int checkpoints = 0;
    QString owner;
};

/// The idle slot that holds least; `wanted` >= 0 asks for that one.
Result<Place> placeFor(const ServerStates &states, const BackendInfo &info, int wanted)
{
    Place best;
    QStringList busy;
    for (const HeldState &state : states.states) {
        if (state.place != HeldState::Place::Slot || (wanted >= 0 && state.slotId != wanted))
            continue;
        if (state.busy) {
            busy.append(QString::number(state.slotId));
            continue;
        }
        if (best.slotId < 0 || state.length < best.tokens)
            best = {state.slotId, info.slotCount == 1, state.length, static_cast<int>(state.checkpoints.size()),
                    state.owner};
    }
    if (best.slotId < 0 && !busy.isEmpty())
        return failure(Error::Code::Failed,
                       QStringLiteral("no idle slot: slot %1 is busy; wait until it has ended, or name another one")
                           .arg(busy.join(QStringLiteral(", "))),
                       QStringLiteral("slot-busy"));
    if (best.slotId < 0 && wanted >= 0 && info.slotCount > 0 && wanted >= info.slotCount)
        return failure(
            Error::Code::InvalidParams,
            QStringLiteral("slot_id: there is no slot %1 (the server has %2)").arg(wanted).arg(info.slotCount));
    // A slot that has run no task may not be in the list.
    if (best.slotId < 0)
        best = {std::max(0, wanted), info.slotCount == 1, 0, 0, {}};
    return best;
}

QJsonValue known(int value) { return value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value); }

QJsonArray stepsJson(const QList<CalibrationStep> &steps, const PrefillCost &cost)
{
    QJsonArray rows;
    for (const CalibrationStep &step : steps)
        rows.append(QJsonObject{{QStringLiteral("name"), step.name},
                                {QStringLiteral("sent"), step.sent},
                                {QStringLiteral("reused"), known(step.reused)},
                                {QStringLiteral("prefilled"), known(step.prefilled)},
                                {QStringLiteral("ms"), params::orNull(step.ms)},
                                {QStringLiteral("fitted_ms"),
                                 step.reused >= 0 && step.ms >= 0 && cost.known()
                                     ? QJsonValue(cost.ms(step.reused, step.reused + step.prefilled))
                                     : QJsonValue(QJsonValue::Null)},
                                {QStringLiteral("expected"), known(step.expected)},
                                {QStringLiteral("concluded"), step.concluded}});
    return rows;
}

QJsonObject costJson(const PrefillCost &cost)
{
    const bool known = cost.known();
    const auto value = [known](double number) { return known ? QJsonValue(number) : QJsonValue(QJsonValue::Null); };
    return {{QStringLiteral("ms_per_token"), value(cost.msPerToken)},
            {QStringLiteral("ms_per_token_per_1k"), value(cost.msPerTokenPerPosition * 1000)},
            {QStringLiteral("ms_per_request"), value(cost.msPerRequest)},
            {QStringLiteral("samples"), cost.samples}};
}

} // namespace

QCoro::Task<Result<CalibrationReply>> Engine::calibrationAct(CalibrationRequest request, int slotId, QString file)
{
    CalibrationReply reply;
    switch (request.act) {
    case CalibrationRequest::Act::Send: {
        auto ran = co_await m_backend->runTokens(std::move(request.tokens), slotId);
        if (!ran)
            co_return std::unexpected(ran.error());
        reply = {ran->cacheTokens, ran->promptTokens, ran->promptMs};
        break;
    }
    case CalibrationRequest::Act::Save: {
        auto saved = co_await m_backend->saveSlot(slotId, file);
        if (!saved)
            co_return std::unexpected(saved.error());
        reply.reused = *saved;
        break;
    }
    case CalibrationRequest::Act::Erase: {
        auto erased = co_await m_backend->eraseSlot(slotId);
        if (!erased)
            co_return std::unexpected(erased.error());
        reply.reused = *erased;
        break;
    }
    case CalibrationRequest::Act::Restore: {
        auto restored = co_await m_backend->restoreSlot(slotId, file);
        if (!restored)
            co_return std::unexpected(restored.error());
        reply.reused = *restored;
        break;
    }
    }
    co_return reply;
}

Engine::Answer Engine::calibrate(QJsonObject params, CallContext context)
{
    KERF_TRY(wanted, params::slot(params));
    KERF_TRY(consent, params::flag(params, QStringLiteral("consent"), false));
    KERF_TRY(ask, params::flag(params, QStringLiteral("dry_run"), false));
    KERF_TRY(use, params::flag(params, QStringLiteral("use"), true));
    KERF_TRY(longest, params::integer(params, QStringLiteral("longest"), CalibrationSetup().longest, 0, 1000000));
    co_await m_backend->ready();
    const BackendInfo info = m_backend->info();
    if (!info.capabilities.reachable)
        co_return failure(info.kind == QLatin1String("none") ? Error::Code::Failed : Error::Code::Unreachable,
                          info.kind == QLatin1String("none") ? QStringLiteral("backend none: there is no server to ask")
                                                             : info.unreachableReason);
    if (m_calibrating)
        co_return failure(Error::Code::Failed, QStringLiteral("a calibration is running already"),
                          QStringLiteral("calibrating"));
    KERF_TRY(states, co_await m_backend->states());
    KERF_TRY(place, placeFor(states, info, wanted));

    CalibrationSetup setup;
    setup.contextSize = info.contextSize;
    setup.longest = longest;
    setup.seed = QRandomGenerator::global()->generate();
    setup.canPersist = info.capabilities.slotSave && info.capabilities.slotRestore && info.capabilities.slotErase;
    const int mostTokens = Calibration::mostTokens(setup);
    QStringList warnings;
    if (place.tokens > 0)
        warnings.append(
            QStringLiteral("this erases what slot %1 holds: %2 tokens%3%4")
                .arg(place.slotId)
                .arg(groupedNumber(place.tokens))
                .arg(place.checkpoints > 0 ? QStringLiteral(" with %1 checkpoints").arg(place.checkpoints) : QString(),
                     place.owner.isEmpty() ? QString() : QStringLiteral(" of session %1").arg(place.owner)));
    if (place.only)
        warnings.append(
            QStringLiteral("it is the only slot: whoever asks for something meanwhile waits, and then starts anew"));
    if (info.rule.idleSlotsCleared)
        warnings.append(QStringLiteral("this server saves and clears its other idle slots when one starts a task"));
    const QJsonObject plan{{QStringLiteral("slot_id"), place.slotId},
                           {QStringLiteral("requests_at_most"), Calibration::mostRequests(setup)},
                           {QStringLiteral("tokens_at_most"), mostTokens},
                           {QStringLiteral("ms_at_most"),
                            info.cost.known() ? QJsonValue(info.cost.ms(0, mostTokens)) : QJsonValue(QJsonValue::Null)},
                           {QStringLiteral("warnings"), QJsonArray::fromStringList(warnings)}};
    if (ask)
        co_return QJsonObject{{QStringLiteral("dry_run"), true}, {QStringLiteral("plan"), plan}};
    if (!consent)
        co_return failure(
            Error::Code::InvalidParams,
            QStringLiteral("consent: must be true: at most %1 requests with %2 tokens go to slot %3%4")
                .arg(Calibration::mostRequests(setup))
                .arg(groupedNumber(mostTokens))
                .arg(place.slotId)
                .arg(warnings.isEmpty() ? QString() : QStringLiteral("; ") + warnings.join(QStringLiteral("; "))),
            QStringLiteral("consent"));

    const auto guard = weak_from_this();
    KERF_TRY(ids, co_await m_backend->tokenize(words()));
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    setup.alphabet = ids;
    m_calibrating = true;
    m_calibrationCancelled = false;
    Calibration calibration(setup);
    const int most = Calibration::mostRequests(setup) + (setup.canPersist ? 3 : 0);
    const QString file = QStringLiteral("kerf-calibration-%1.bin").arg(setup.seed);
    bool fileMade = false;
    int done = 0;
    while (auto request = calibration.next()) {
        const QString name = request->name;
        fileMade = fileMade || request->act == CalibrationRequest::Act::Save;
        const QJsonObject seen{{QStringLiteral("kind"), QStringLiteral("calibration")},
                               {QStringLiteral("slot_id"), place.slotId},
                               {QStringLiteral("step"), name},
                               {QStringLiteral("done"), done},
                               {QStringLiteral("of"), most},
                               {QStringLiteral("text"), QStringLiteral("calibration: %1").arg(name)}};
        publish(QStringLiteral("server"), seen);
        if (context.progress)
            context.progress(done, most, name);
        CalibrationRequest now = std::move(*request);
        const Result<CalibrationReply> reply = co_await calibrationAct(std::move(now), place.slotId, file);
        if (guard.expired())
            co_return failure(Error::Code::Cancelled, {});
        ++done;
        if (m_calibrationCancelled || (context.cancelled && context.cancelled->load()))
            calibration.failed(QStringLiteral("cancelled"));
        else if (reply)
            calibration.took(*reply);
        else
            calibration.failed(reply.error().message);
    }
    m_calibrating = false;
    const CalibrationFinding finding = calibration.finding();
    QStringList notes = finding.notes;
    if (fileMade) {
        if (const Result<void> removed = m_backend->removeSaveFile(file); !removed && !info.simulated)
            notes.append(QStringLiteral("the file %1 of this calibration is still there: %2")
                             .arg(file, removed.error().message));
    }
    const bool settled = finding.memory != MemoryKind::Unknown;
    const bool used = use && settled && !info.simulated;
    if (used)
        co_await useCalibration(finding);
    QJsonValue chunks(QJsonValue::Null);
    if (finding.chunkReuse)
        chunks = *finding.chunkReuse;
    QJsonValue restores(QJsonValue::Null);
    if (finding.restoreHolds)
        restores = *finding.restoreHolds;
    const QJsonObject result{{QStringLiteral("memory_kind"), memoryKindName(finding.memory)},
                             {QStringLiteral("rewind_grain_tokens"), known(finding.rewindGrain)},
                             {QStringLiteral("proven_rewind_tokens"), finding.provenRewind},
                             {QStringLiteral("prompt_cache_off"), finding.promptCacheOff},
                             {QStringLiteral("chunk_reuse"), chunks},
                             {QStringLiteral("restore_holds"), restores},
                             {QStringLiteral("prefill_cost"), costJson(finding.cost)},
                             {QStringLiteral("steps"), stepsJson(calibration.steps(), finding.cost)},
                             {QStringLiteral("slot_id"), place.slotId},
                             {QStringLiteral("backend"), info.name},
                             {QStringLiteral("simulated"), info.simulated},
                             {QStringLiteral("used"), used},
                             {QStringLiteral("plan"), plan},
                             {QStringLiteral("notes"), QJsonArray::fromStringList(notes)},
                             {QStringLiteral("summary"), calibrationSentence(finding)}};
    co_return result;
}

Engine::Answer Engine::calibrateCancel(QJsonObject, CallContext)
{
    const bool running = m_calibrating;
    m_calibrationCancelled = running;
    co_return QJsonObject{{QStringLiteral("cancelled"), running}};
}

QCoro::Task<void> Engine::useCalibration(CalibrationFinding finding)
{
    const QString key = m_backend->evidenceKey();
    if (key.isEmpty())
        co_return;
    const QString at = QDateTime::currentDateTimeUtc().toString(Qt::ISODate);
    QJsonArray rows;
    const QJsonArray before = m_evidence.value(key);
    for (const QJsonValue &row : before) {
        if (row.toObject().value(QStringLiteral("source")).toString() != QLatin1String("calibration"))
            rows.append(row);
    }
    const auto add = [&](const QString &claim, const QString &value, const QString &detail) {
        rows.append(QJsonObject{{QStringLiteral("claim"), claim},
                                {QStringLiteral("value"), value},
                                {QStringLiteral("source"), QStringLiteral("calibration")},
                                {QStringLiteral("detail"), detail},
                                {QStringLiteral("at"), at}});
    };
    add(QStringLiteral("memory_kind"), memoryKindName(finding.memory), calibrationSentence(finding));
    if (finding.chunkReuse)
        add(QStringLiteral("chunk_reuse"), QString::number(*finding.chunkReuse),
            *finding.chunkReuse > 0 ? QStringLiteral("runs of that length and more were shifted into place")
                                    : QStringLiteral("runs of up to 512 tokens were not shifted"));
    if (finding.restoreHolds)
        add(QStringLiteral("restore_holds"), *finding.restoreHolds ? QStringLiteral("yes") : QStringLiteral("no"),
            *finding.restoreHolds ? QStringLiteral("a restored slot was reused by the next request")
                                  : QStringLiteral("a restored slot was not reused by the next request"));
    m_evidence.insert(key, rows);
    QJsonObject all;
    for (auto it = m_evidence.cbegin(); it != m_evidence.cend(); ++it)
        all.insert(it.key(), it.value());
    m_backend->setStoredEvidence(all);
    const QJsonObject value{{QStringLiteral("rows"), rows}};
    const Result<void> kept = co_await m_store->setValue(QStringLiteral("evidence/") + key, value);
    Q_UNUSED(kept)
}

} // namespace kerf
