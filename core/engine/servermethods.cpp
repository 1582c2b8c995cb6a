// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/engine.h"

#include "core/engine/text.h"

#include <algorithm>
#include <cmath>

namespace kerf {

namespace {

QJsonObject capabilitiesJson(const Capabilities &capabilities)
{
    return {{QStringLiteral("reachable"), capabilities.reachable},
            {QStringLiteral("slots"), capabilities.slots},
            {QStringLiteral("slot_save"), capabilities.slotSave},
            {QStringLiteral("slot_restore"), capabilities.slotRestore},
            {QStringLiteral("slot_erase"), capabilities.slotErase},
            {QStringLiteral("checkpoint_ring"), capabilities.checkpointRing},
            {QStringLiteral("tokenize"), capabilities.tokenize},
            {QStringLiteral("props"), capabilities.props},
            {QStringLiteral("metrics"), capabilities.metrics},
            {QStringLiteral("partial_state_only"), capabilities.partialStateOnly},
            {QStringLiteral("context_shift"), capabilities.contextShift},
            {QStringLiteral("apply_template"), capabilities.applyTemplate},
            {QStringLiteral("chunk_reuse"), capabilities.chunkReuse},
            {QStringLiteral("log_ring"), capabilities.logRing}};
}

QString capabilitiesLine(const BackendInfo &info)
{
    if (info.kind == QLatin1String("none"))
        return QStringLiteral("none");
    if (!info.capabilities.reachable)
        return QStringLiteral("unreachable");
    QStringList names;
    const QJsonObject all = capabilitiesJson(info.capabilities);
    for (const char *name :
         {"slots", "slot_save", "slot_restore", "slot_erase", "checkpoint_ring", "log_ring", "tokenize",
          "apply_template", "metrics", "partial_state_only", "context_shift", "chunk_reuse"}) {
        if (all.value(QLatin1String(name)).toBool())
            names.append(QString::fromLatin1(name));
    }
    return names.isEmpty() ? QStringLiteral("none") : names.join(QLatin1Char('+'));
}

QString coherenceLine(const BackendInfo &info, int ringEntries)
{
    const QString simulated = info.simulated ? QStringLiteral(" [simulated]") : QString();
    if (info.kind == QLatin1String("none"))
        return QStringLiteral("coherence is off — compaction will report full re-prefill");
    if (!info.capabilities.reachable)
        return QStringLiteral("%1 — compaction will report full re-prefill")
            .arg(info.unreachableReason.isEmpty() ? QStringLiteral("the server does not answer")
                                                  : info.unreachableReason);
    if (!info.slotsReadable)
        return QStringLiteral("the slot state is unreadable (%1) — compaction will report full re-prefill")
            .arg(info.slotsUnreadableReason);
    switch (info.rule.memory) {
    case MemoryKind::FullAttention:
        return (info.rule.chunkReuse > 0
                    ? QStringLiteral("full attention with chunk reuse of %1 (%2) — any token can be a cut, and equal "
                                     "runs behind it are moved")
                          .arg(info.rule.chunkReuse)
                          .arg(info.memoryEvidence)
                    : QStringLiteral("full attention (%1) — any token can be a cut").arg(info.memoryEvidence))
            + simulated;
    case MemoryKind::Checkpointed:
        if (info.rule.ringVisible)
            return QStringLiteral("checkpoint ring visible (%1), %2 checkpoints — a cut is aligned to them")
                       .arg(info.memoryEvidence)
                       .arg(ringEntries)
                + simulated;
        return QStringLiteral(
                   "no checkpoint source detected — compaction keeps the prefix and claims no reuse (prefix-preserved)")
            + simulated;
    case MemoryKind::Unknown:
        break;
    }
    return QStringLiteral("memory kind unknown — compaction keeps the prefix and claims no reuse (prefix-preserved)")
        + simulated;
}

/// The variable that sets the profile, as openService() read it.
QString profileVariableName()
{
    return qEnvironmentVariableIsEmpty("KERF_EVICTION_PROFILE") ? QStringLiteral("SAKUR4_EVICTION_PROFILE")
                                                                : QStringLiteral("KERF_EVICTION_PROFILE");
}

} // namespace

Result<EvictionPolicy> Engine::policyNamed(const QString &name, const QString &because) const
{
    EvictionPolicy policy;
    policy.name = name;
    policy.base = name;
    policy.chosenBecause = because;
    QJsonObject saved;
    if (const auto it = m_savedProfiles.constFind(name); it != m_savedProfiles.cend()) {
        policy.base = it->value(QStringLiteral("base")).toString();
        saved = it->value(QStringLiteral("overrides")).toObject();
    }
    auto knobs = shippedKnobs(policy.base);
    if (!knobs) {
        QStringList known = shippedProfiles() + m_savedProfiles.keys();
        return failure(Error::Code::InvalidParams,
                       QStringLiteral("unknown eviction profile \"%1\"; known are %2")
                           .arg(name, known.join(QStringLiteral(", "))));
    }
    policy.knobs = *knobs;
    for (const QString &knob : knobNames())
        policy.origin.insert(knob, QStringLiteral("profile"));
    if (!saved.isEmpty()) {
        auto changed = withOverrides(policy.knobs, saved);
        if (!changed)
            return std::unexpected(changed.error());
        policy.knobs = *changed;
        for (auto it = saved.begin(); it != saved.end(); ++it)
            policy.origin.insert(it.key(), QStringLiteral("saved"));
    }
    return policy;
}

Result<EvictionPolicy> Engine::policyFor(const Session *session) const
{
    const QJsonObject own = session ? session->profile : QJsonObject();
    const QString ownName = own.value(QStringLiteral("name")).toString();
    const QString serviceName = m_serviceProfile.value(QStringLiteral("name")).toString();
    Result<EvictionPolicy> policy;
    if (!m_profileVariable.isEmpty())
        policy = policyNamed(m_profileVariable,
                             QStringLiteral("set by the environment variable %1").arg(profileVariableName()));
    else if (!ownName.isEmpty())
        policy = policyNamed(ownName, QStringLiteral("set for this session"));
    else if (!serviceName.isEmpty())
        policy = policyNamed(serviceName, QStringLiteral("set for the service"));
    else if (reuseEstablished())
        policy = policyNamed(
            automaticProfile(true),
            QStringLiteral("chosen because reuse is established (%1)").arg(m_backend->info().memoryEvidence));
    else
        policy = policyNamed(automaticProfile(false), QStringLiteral("chosen because no reuse is established"));
    if (!policy)
        return policy;
    const auto apply = [&policy](const QJsonObject &overrides, const QString &from) -> Result<void> {
        if (overrides.isEmpty())
            return {};
        auto changed = withOverrides(policy->knobs, overrides);
        if (!changed)
            return std::unexpected(changed.error());
        policy->knobs = *changed;
        for (auto it = overrides.begin(); it != overrides.end(); ++it)
            policy->origin.insert(it.key(), from);
        return {};
    };
    if (auto done = apply(m_serviceProfile.value(QStringLiteral("overrides")).toObject(), QStringLiteral("service"));
        !done)
        return std::unexpected(done.error());
    if (auto done = apply(own.value(QStringLiteral("overrides")).toObject(), QStringLiteral("session")); !done)
        return std::unexpected(done.error());
    return policy;
}

QJsonObject Engine::policyJson(const EvictionPolicy &policy, const Session *session) const
{
    QJsonObject origin;
    for (auto it = policy.origin.cbegin(); it != policy.origin.cend(); ++it)
        origin.insert(it.key(), it.value());
    QJsonArray shipped;
    for (const QString &name : shippedProfiles())
        shipped.append(name);
    QJsonArray saved;
    for (const QString &name : m_savedProfiles.keys())
        saved.append(name);
    QJsonObject object{
        {QStringLiteral("name"), policy.name},
        {QStringLiteral("base"), policy.base},
        {QStringLiteral("chosen_because"), policy.chosenBecause},
        {QStringLiteral("environment"),
         m_profileVariable.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(m_profileVariable)},
        {QStringLiteral("environment_variable"),
         m_profileVariable.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(profileVariableName())},
        {QStringLiteral("session_id"), session ? QJsonValue(session->record.id) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("knobs"), knobsToJson(policy.knobs)},
        {QStringLiteral("origin"), origin},
        {QStringLiteral("shipped"), shipped},
        {QStringLiteral("saved"), saved}};
    if (auto base = shippedKnobs(policy.base))
        object.insert(QStringLiteral("shipped_knobs"), knobsToJson(*base));
    const Budget budget = session ? budgetOf(*session, policy) : budgetFor(policy.knobs, m_backend->info().contextSize);
    object.insert(QStringLiteral("budget"),
                  budget.window > 0 ? QJsonValue(QJsonObject{{QStringLiteral("window"), budget.window},
                                                             {QStringLiteral("output_reserve"), budget.outputReserve},
                                                             {QStringLiteral("total"), budget.total},
                                                             {QStringLiteral("trigger_at"), budget.triggerAt},
                                                             {QStringLiteral("target"), budget.target},
                                                             {QStringLiteral("keep_recent"), budget.keepRecent}})
                                    : QJsonValue(QJsonValue::Null));
    return object;
}

Engine::Answer Engine::profileGet(QJsonObject params, CallContext)
{
    co_await m_backend->ready();
    KERF_TRY(id, params::text(params, QStringLiteral("session_id"), false));
    SessionPtr session;
    if (!id.isEmpty()) {
        KERF_TRY(opened, co_await openSession(id, false));
        session = opened;
    }
    KERF_TRY(policy, policyFor(session.get()));
    co_return policyJson(policy, session.get());
}

Engine::Answer Engine::profileSet(QJsonObject params, CallContext context)
{
    co_await m_backend->ready();
    KERF_TRY(id, params::text(params, QStringLiteral("session_id"), false));
    KERF_TRY(name, params::text(params, QStringLiteral("name"), false));
    KERF_TRY(saveAs, params::text(params, QStringLiteral("save_as"), false));
    const QJsonValue given = params.value(QStringLiteral("overrides"));
    if (!given.isUndefined() && !given.isNull() && !given.isObject())
        co_return failure(Error::Code::InvalidParams, QStringLiteral("overrides: must be an object of knob: value"));
    if (!m_profileVariable.isEmpty() && !name.isEmpty() && name != m_profileVariable)
        co_return failure(Error::Code::Failed,
                          QStringLiteral("the environment variable %1 sets \"%2\"; unset it to choose another profile")
                              .arg(profileVariableName(), m_profileVariable),
                          QStringLiteral("profile-fixed"));
    SessionPtr session;
    if (!id.isEmpty()) {
        KERF_TRY(opened, co_await openSession(id, false));
        session = opened;
    }
    QJsonObject next = session ? session->profile : m_serviceProfile;
    if (!name.isEmpty()) {
        KERF_TRY(known, policyNamed(name, {}));
        Q_UNUSED(known)
        if (name != next.value(QStringLiteral("name")).toString())
            next.insert(QStringLiteral("overrides"), QJsonObject()); // another profile starts from its own values
        next.insert(QStringLiteral("name"), name);
    }
    QJsonObject overrides = next.value(QStringLiteral("overrides")).toObject();
    const QJsonObject changes = given.toObject();
    for (auto it = changes.begin(); it != changes.end(); ++it) {
        if (it.value().isNull())
            overrides.remove(it.key()); // null takes an override back
        else
            overrides.insert(it.key(), it.value());
    }
    next.insert(QStringLiteral("overrides"), overrides);
    // Check the whole before anything is kept.
    const QJsonObject before = session ? session->profile : m_serviceProfile;
    (session ? session->profile : m_serviceProfile) = next;
    const Result<EvictionPolicy> policy = policyFor(session.get());
    if (!policy) {
        (session ? session->profile : m_serviceProfile) = before;
        co_return std::unexpected(policy.error());
    }
    if (!saveAs.isEmpty()) {
        if (shippedProfiles().contains(saveAs))
            co_return failure(Error::Code::InvalidParams,
                              QStringLiteral("save_as: \"%1\" is a shipped profile").arg(saveAs));
        QJsonObject differing;
        const QJsonObject now = knobsToJson(policy->knobs);
        const QJsonObject base = knobsToJson(*shippedKnobs(policy->base));
        for (auto it = now.begin(); it != now.end(); ++it) {
            if (base.value(it.key()) != it.value())
                differing.insert(it.key(), it.value());
        }
        const QJsonObject row{{QStringLiteral("base"), policy->base}, {QStringLiteral("overrides"), differing}};
        KERF_TRY_VOID(co_await m_store->setValue(QStringLiteral("profile/") + saveAs, row));
        m_savedProfiles.insert(saveAs, row);
        next = QJsonObject{{QStringLiteral("name"), saveAs}, {QStringLiteral("overrides"), QJsonObject()}};
        (session ? session->profile : m_serviceProfile) = next;
    }
    if (session) {
        KERF_TRY_VOID(co_await saveState(session));
    } else {
        KERF_TRY_VOID(co_await m_store->setValue(QStringLiteral("service/profile"), m_serviceProfile));
    }
    KERF_TRY(effective, policyFor(session.get()));
    const QJsonObject object = policyJson(effective, session.get());
    publish(QStringLiteral("profile"),
            {{QStringLiteral("session_id"), session ? QJsonValue(session->record.id) : QJsonValue(QJsonValue::Null)},
             {QStringLiteral("name"), effective.name},
             {QStringLiteral("connection_id"), static_cast<qint64>(context.connectionId)},
             {QStringLiteral("knobs"), object.value(QStringLiteral("knobs"))}});
    co_return object;
}

Engine::Answer Engine::profileReset(QJsonObject params, CallContext context)
{
    co_await m_backend->ready();
    KERF_TRY(id, params::text(params, QStringLiteral("session_id"), false));
    SessionPtr session;
    if (!id.isEmpty()) {
        KERF_TRY(opened, co_await openSession(id, false));
        session = opened;
        session->profile = {};
        KERF_TRY_VOID(co_await saveState(session));
    } else {
        m_serviceProfile = {};
        KERF_TRY_VOID(co_await m_store->setValue(QStringLiteral("service/profile"), m_serviceProfile));
    }
    KERF_TRY(policy, policyFor(session.get()));
    const QJsonObject object = policyJson(policy, session.get());
    publish(QStringLiteral("profile"),
            {{QStringLiteral("session_id"), session ? QJsonValue(session->record.id) : QJsonValue(QJsonValue::Null)},
             {QStringLiteral("name"), policy.name},
             {QStringLiteral("connection_id"), static_cast<qint64>(context.connectionId)},
             {QStringLiteral("knobs"), object.value(QStringLiteral("knobs"))}});
    co_return object;
}

Engine::Answer Engine::doctor(QJsonObject params, CallContext)
{
    KERF_TRY(refresh, params::flag(params, QStringLiteral("refresh"), false));
    co_await m_backend->ready();
    if (refresh)
        co_await m_backend->probeAgain();
    else
        co_await m_backend->states(); // what is shown is what is there now
    const BackendInfo info = m_backend->info();
    const QJsonObject ring = m_backend->ringJson();
    QJsonArray evidence;
    for (const Evidence &row : info.evidence) {
        evidence.append(QJsonObject{
            {QStringLiteral("claim"), row.claim},
            {QStringLiteral("value"), row.value},
            {QStringLiteral("source"), row.source},
            {QStringLiteral("detail"), row.detail},
            {QStringLiteral("at"), row.at.isValid() ? QJsonValue(params::iso(row.at)) : QJsonValue(QJsonValue::Null)}});
    }
    QJsonArray probe;
    for (const ProbeStep &step : info.probe) {
        probe.append(QJsonObject{{QStringLiteral("name"), step.name},
                                 {QStringLiteral("route"), step.route},
                                 {QStringLiteral("http_status"), step.httpStatus},
                                 {QStringLiteral("ok"), step.ok},
                                 {QStringLiteral("message"), step.message}});
    }
    QJsonArray advice;
    for (const QString &text : info.advice)
        advice.append(text);
    QJsonArray notes;
    for (const QString &text : info.notes)
        notes.append(text);
    KERF_TRY(policy, policyFor(nullptr));
    const Budget budget = budgetFor(policy.knobs, info.contextSize);
    const QString evictionLine = QStringLiteral("%1 · trigger %2% · target %3% · keep %4 recent")
                                     .arg(policy.name)
                                     .arg(std::lround(policy.knobs.trigger * 100))
                                     .arg(std::lround(policy.knobs.target * 100))
                                     .arg(budget.window > 0 ? budget.keepRecent : policy.knobs.keepRecentTokens);
    QJsonValue chunk(QJsonValue::Null);
    if (info.rule.chunkReuse > 0 || info.rule.chunkReuseKnown)
        chunk = info.rule.chunkReuse;
    co_return QJsonObject{
        {QStringLiteral("backend"), info.name},
        {QStringLiteral("kind"), info.kind},
        {QStringLiteral("requested"), info.requested},
        {QStringLiteral("resolved"), info.kind == QLatin1String("llama-server") ? info.url : info.kind},
        {QStringLiteral("simulated"), info.simulated},
        {QStringLiteral("reachable"), info.capabilities.reachable},
        {QStringLiteral("unreachable_reason"), params::orNull(info.unreachableReason)},
        {QStringLiteral("url"), params::orNull(info.url)},
        {QStringLiteral("build"), params::orNull(info.build)},
        {QStringLiteral("model"), params::orNull(info.model)},
        {QStringLiteral("n_ctx"), info.contextSize > 0 ? QJsonValue(info.contextSize) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("slots"), info.slotCount > 0 ? QJsonValue(info.slotCount) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("capabilities"), capabilitiesJson(info.capabilities)},
        {QStringLiteral("capabilities_line"), capabilitiesLine(info)},
        {QStringLiteral("coherence_line"),
         coherenceLine(info, static_cast<int>(ring.value(QStringLiteral("entries")).toArray().size()))},
        {QStringLiteral("eviction_line"), evictionLine},
        {QStringLiteral("memory"),
         QJsonObject{{QStringLiteral("kind"), memoryKindName(info.rule.memory)},
                     {QStringLiteral("evidence"),
                      params::orNull(info.memoryDetail.isEmpty()
                                         ? info.memoryEvidence
                                         : QStringLiteral("%1: %2").arg(info.memoryEvidence, info.memoryDetail))},
                     {QStringLiteral("confidence"), params::orNull(info.confidence)}}},
        {QStringLiteral("chunk_reuse"), chunk},
        {QStringLiteral("ring"), ring},
        {QStringLiteral("tokenizer"), info.tokenizer},
        {QStringLiteral("tokenizer_exact"), info.tokenizerExact},
        {QStringLiteral("prefill_cost"),
         info.cost.known()
             ? QJsonValue(QJsonObject{{QStringLiteral("ms_per_token"), info.cost.msPerToken},
                                      {QStringLiteral("ms_per_token_per_1k"), info.cost.msPerTokenPerPosition * 1000},
                                      {QStringLiteral("samples"), info.cost.samples},
                                      {QStringLiteral("simulated"), info.cost.simulated}})
             : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("epoch"), info.epoch},
        {QStringLiteral("evidence"), evidence},
        {QStringLiteral("probe"), probe},
        {QStringLiteral("advice"), advice},
        {QStringLiteral("notes"), notes},
    };
}

Engine::Answer Engine::slots(QJsonObject params, CallContext)
{
    KERF_TRY(history, params::flag(params, QStringLiteral("history"), false));
    KERF_TRY(since, params::number(params, QStringLiteral("since_ms"), 0));
    co_await m_backend->ready();
    if (auto read = co_await m_backend->states(); !read)
        co_return std::unexpected(read.error());
    QJsonObject now = m_backend->slotsJson();
    m_slotHistory.snapshot(now, QDateTime::currentMSecsSinceEpoch());
    if (history) {
        const QJsonObject past = m_slotHistory.toJson(static_cast<qint64>(since));
        for (auto it = past.begin(); it != past.end(); ++it)
            now.insert(it.key(), it.value());
        now.insert(QStringLiteral("now_ms"), QDateTime::currentMSecsSinceEpoch());
        now.insert(QStringLiteral("saves"), savesJson());
    }
    co_return now;
}

/// Runs the prompt that was assembled last on the simulator, as a harness would on a server (demo, replay).
Engine::Answer Engine::simulate(QJsonObject params, CallContext context)
{
    KERF_TRY(sessionId, params::session(params, context.defaultSessionId));
    KERF_TRY(generated, params::integer(params, QStringLiteral("generated"), 1, 0, 1 << 20));
    KERF_TRY(slotId, params::slot(params));
    KERF_TRY(session, co_await openSession(sessionId, false));
    if (session->open.prompt.isEmpty())
        co_return failure(Error::Code::Failed,
                          QStringLiteral("session \"%1\" has no assembled prompt to run: call context.assemble first")
                              .arg(sessionId));
    const ReuseRequest request{session->open.prompt,
                               slotId}; // named: gcc 12 destroys aggregate temporaries of a co_await twice
    KERF_TRY(measured, co_await m_backend->simulateRequest(request, generated));
    co_return QJsonObject{{QStringLiteral("session_id"), sessionId},
                          {QStringLiteral("cache_n"), measured.cacheTokens},
                          {QStringLiteral("prompt_n"), measured.promptTokens},
                          {QStringLiteral("prompt_ms"), params::orNull(measured.promptMs)},
                          {QStringLiteral("predicted_n"), params::orNull(measured.generated)},
                          {QStringLiteral("slot_id"), params::orNull(measured.slotId)},
                          {QStringLiteral("simulated"), true}};
}

QJsonObject Engine::statusJson() const
{
    const BackendInfo info = m_backend->info();
    const StoreStats stats = m_store->stats();
    return {{QStringLiteral("name"), QStringLiteral("kerf")},
            {QStringLiteral("version"), QStringLiteral(KERF_VERSION)},
            {QStringLiteral("protocol"), QStringLiteral("1")},
            {QStringLiteral("backend"), info.name},
            {QStringLiteral("simulated"), info.simulated},
            {QStringLiteral("reachable"), info.capabilities.reachable},
            {QStringLiteral("probed"), info.probed},
            {QStringLiteral("capabilities"), capabilitiesJson(info.capabilities)},
            {QStringLiteral("tokenizer"), info.tokenizer},
            {QStringLiteral("tokenizer_exact"), info.tokenizerExact},
            {QStringLiteral("context_window"),
             info.contextSize > 0 ? QJsonValue(info.contextSize) : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("episodes"), stats.episodes},
            {QStringLiteral("sessions"), stats.sessions},
            {QStringLiteral("anchors"), stats.anchors},
            {QStringLiteral("open_folds"), openFoldCount()},
            {QStringLiteral("store"),
             QJsonObject{{QStringLiteral("path"), stats.path},
                         {QStringLiteral("bytes"), stats.bytes},
                         {QStringLiteral("schema"), stats.schema}}}};
}

/// In process every event is a signal already; the socket server keeps its own subscribers and filters by topic.
Engine::Answer Engine::subscribe(QJsonObject params, CallContext)
{
    static const QStringList known{QStringLiteral("episode"), QStringLiteral("plan"),    QStringLiteral("applied"),
                                   QStringLiteral("outcome"), QStringLiteral("receipt"), QStringLiteral("slots"),
                                   QStringLiteral("ring"),    QStringLiteral("server"),  QStringLiteral("profile"),
                                   QStringLiteral("log"),     QStringLiteral("replay")};
    QJsonArray topics;
    const QJsonArray asked = params.value(QStringLiteral("topics")).toArray();
    for (const QJsonValue &topic : asked) {
        if (!known.contains(topic.toString()))
            co_return failure(Error::Code::InvalidParams,
                              QStringLiteral("topics: \"%1\" is not known; known are %2")
                                  .arg(topic.toString(), known.join(QStringLiteral(", "))));
        topics.append(topic);
    }
    if (asked.isEmpty()) {
        for (const QString &topic : known)
            topics.append(topic);
    }
    co_return QJsonObject{{QStringLiteral("topics"), topics}};
}

Engine::Answer Engine::status(QJsonObject, CallContext)
{
    co_await m_backend->ready();
    co_return statusJson();
}

} // namespace kerf
