// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/consolestate.h"
#include "ui/viewmodel/parse.h"

#include <QJsonDocument>

/// A session as the wire gives it. Positions, checkpoints, reuse and time of compaction 8 are those of a recorded
/// llama-server log (gemma3, 3,216 tokens, cut after turn 5: 1,348 reused, 954 prefilled, 101.57 ms); texts,
/// compactions 1-7 and n_ctx are made up.
#ifndef Q_MOC_RUN // moc loses its place in the raw strings below
namespace uisample {

inline QJsonObject json(const char *text)
{
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(QByteArray(text), &error);
    Q_ASSERT_X(error.error == QJsonParseError::NoError, "uisample", qPrintable(error.errorString()));
    return document.object();
}

inline const QList<int> &edges()
{
    static const QList<int> list{0,    214,  441,  554,  667,  780,  891,  1004, 1116, 1235, 1353, 1443, 1579, 1754,
                                 1823, 1930, 2027, 2120, 2290, 2400, 2523, 2600, 2700, 2850, 2950, 3100, 3216};
    return list;
}

inline QString roleAt(int i)
{
    if (i == 0)
        return QStringLiteral("system");
    if (i == 8 || i == 15 || i == 17)
        return QStringLiteral("tool");
    return i % 2 ? QStringLiteral("user") : QStringLiteral("assistant");
}

inline QJsonObject doctor()
{
    return json(
        R"({"backend":"llama-server","requested":"http://127.0.0.1:8080","resolved":"llama-server","simulated":false,
      "reachable":true,"url":"http://127.0.0.1:8080","build":"11669","model":"gemma3","n_ctx":4096,"slots":1,
      "capabilities":{"reachable":true},"capabilities_line":"capabilities: reachable slots slot_save tokenize props log_ring",
      "coherence_line":"coherence: checkpointed memory, ring of 16 read from the log","eviction_line":"eviction: cache-first",
      "memory":{"kind":"checkpointed","evidence":"log: n_swa = 512","confidence":"read"},"chunk_reuse":0,
      "ring":{"visible":true,"source":"log","entries":[]},"advice":["Start with -cms 256: the ring then has a checkpoint near each cut."],
      "notes":[],"evidence":[{"claim":"memory_kind","value":"checkpointed","source":"log","detail":"n_swa = 512"}]})");
}

inline QString ringText()
{
    return QString::fromLatin1(
        R"([{"position":437,"kind":"internal_checkpoint","size_bytes":901776,"task_id":4,"slot_id":0},
      {"position":667,"kind":"fold_marker","size_bytes":2527068,"slot_id":0},
      {"position":887,"kind":"internal_checkpoint","size_bytes":1059061,"task_id":8,"slot_id":0},
      {"position":1349,"kind":"internal_checkpoint","size_bytes":1059061,"task_id":12,"slot_id":0},
      {"position":1819,"kind":"internal_checkpoint","size_bytes":1059061,"task_id":16,"slot_id":0},
      {"position":2286,"kind":"internal_checkpoint","size_bytes":1059061,"task_id":20,"slot_id":0},
      {"position":2737,"kind":"internal_checkpoint","size_bytes":1059061,"task_id":24,"slot_id":0},
      {"position":2981,"kind":"internal_checkpoint","size_bytes":1059061,"task_id":28,"slot_id":0},
      {"position":3212,"kind":"internal_checkpoint","size_bytes":1059061,"task_id":36,"slot_id":0},
      {"position":3216,"kind":"slot_save_file","size_bytes":9395241,"file":"p8.bin","slot_id":0}])");
}

inline QJsonObject slotList(int tokens = 3216)
{
    const QString text = QString::fromLatin1(
        R"({"slots":[{"slot_id":0,"tokens":%1,"busy":false,"last_reuse":2981,"task_id":36,"verified":true,
        "checkpoints":%2}]})");
    return json(qPrintable(text.arg(tokens).arg(ringText())));
}

inline QJsonObject session()
{
    return json(
        R"({"session_id":"port-scheduler","title":"port-scheduler","episodes":26,"live_tokens":3216,"exact":true,
      "context_window":4096,"budget":4096,"trigger_at":3072,"target":2253,"pressure":"compacting","revision":61,"turn":40,
      "tiers":{"live":26,"masked":0,"referenced":0,"archived":0,"dropped":0},"last_receipt":null})");
}

inline QJsonObject episodes()
{
    QJsonArray rows;
    for (int i = 0; i + 1 < edges().size(); ++i) {
        rows.append(QJsonObject{{QStringLiteral("episode_id"), 100 + i},
                                {QStringLiteral("seq"), i + 1},
                                {QStringLiteral("role"), roleAt(i)},
                                {QStringLiteral("tier"), QStringLiteral("live")},
                                {QStringLiteral("token_count"), edges().at(i + 1) - edges().at(i) - 6},
                                {QStringLiteral("exact"), true},
                                {QStringLiteral("begin"), edges().at(i)},
                                {QStringLiteral("end"), edges().at(i + 1)},
                                {QStringLiteral("pinned"), i == 10 || i == 11},
                                {QStringLiteral("recent"), i >= 20},
                                {QStringLiteral("tool_name"), QJsonValue()},
                                {QStringLiteral("preview"), QStringLiteral("Episode %1").arg(i + 1)},
                                {QStringLiteral("created_at"), QStringLiteral("2026-11-30T12:01:00Z")}});
    }
    return {{QStringLiteral("episodes"), rows},
            {QStringLiteral("next_seq"), QJsonValue()},
            {QStringLiteral("prompt_tokens"), 3216},
            {QStringLiteral("exact"), true},
            {QStringLiteral("revision"), 61}};
}

inline QJsonObject plan()
{
    QJsonArray updates;
    for (int i = 12; i < 20; ++i) {
        updates.append(QJsonObject{{QStringLiteral("episode_id"), 100 + i},
                                   {QStringLiteral("seq"), i + 1},
                                   {QStringLiteral("from_tier"), QStringLiteral("live")},
                                   {QStringLiteral("to_tier"), QStringLiteral("masked")},
                                   {QStringLiteral("tokens_before"), edges().at(i + 1) - edges().at(i)},
                                   {QStringLiteral("tokens_after"), i == 12 ? 30 : 0},
                                   {QStringLiteral("reason"), QStringLiteral("in the run")}});
    }
    QJsonArray alternatives;
    const int rows[][5] = {{441, 437, 953, 103, 1390},   {667, 437, 1179, 127, 1616},  {891, 887, 953, 103, 1840},
                           {1116, 887, 1178, 127, 2065}, {1353, 1349, 953, 104, 2302}, {1579, 1349, 953, 104, 2302},
                           {1823, 1819, 727, 80, 2546},  {2027, 1819, 931, 102, 2750}, {2290, 2286, 727, 81, 3013},
                           {2523, 2286, 960, 106, 3246}};
    for (const auto &row : rows) {
        alternatives.append(QJsonObject{{QStringLiteral("cut"), row[0]},
                                        {QStringLiteral("at"), QStringLiteral("episode-edge")},
                                        {QStringLiteral("retained_tokens"), row[0]},
                                        {QStringLiteral("tokens_after"), row[4]},
                                        {QStringLiteral("predicted_reuse"), row[1]},
                                        {QStringLiteral("predicted_prefill"), row[2]},
                                        {QStringLiteral("predicted_ms"), row[3]}});
    }
    QJsonObject result =
        json(R"({"plan_id":"p8","session_id":"port-scheduler","revision":61,"pressure":"compacting","budget":4096,
      "trigger_at":3072,"target":2253,"target_missed":49,"live_tokens":3216,"anchor_tokens":226,"fixed_tokens":214,"prompt_tokens":3216,
      "exact":true,"planned_savings":914,"tokens_after":2302,"applied":false,"verdict":"snapped","cache_status":"partial-reuse",
      "cache_reason":"onto an in-memory checkpoint, inside the tolerance of 512",
      "boundary":{"requested_cut":1608,"aligned_cut":1349,"nearest_cut":1349,"snap":{"kind":"nearest-below","delta":-259},
        "candidate_kind":"internal_checkpoint","candidates_considered":10,"tolerance_tokens":512,"action":"evict_at_aligned_boundary",
        "pairs_with_cache":true,"partial_state_only":false,"memory_kind":"checkpointed","evidence":"log","simulated":false,
        "predicted_reuse":1349,"predicted_reuse_low":1349,"predicted_reuse_high":1349,"predicted_prefill":953,"predicted_ms":104},
      "retained_prefix_tokens":1365,"retained_prompt_tokens":1579,"notes":["target missed by 49: the rest is pinned or recent"],
      "summary":"snapped"})");
    result.insert(QStringLiteral("updates"), updates);
    result.insert(QStringLiteral("alternatives"), alternatives);
    return result;
}

inline QJsonObject compactions()
{
    struct Row {
        int number;
        const char *verdict;
        int delta, reused, prefilled, predicted;
        double ms;
        const char *outcome;
        const char *cause;
    };
    const Row rows[] = {{1, "aligned", 0, 1349, 842, 1349, 91, "confirmed", ""},
                        {2, "aligned", 0, 887, 1301, 887, 138, "confirmed", ""},
                        {3, "prefix-preserved", 0, 441, 1790, 0, 188, "better", ""},
                        {4, "full-re-prefill", 0, 0, 2190, 0, 231, "confirmed", ""},
                        {5, "snapped", -118, 0, 2214, 1786, 237, "refuted", "checkpoint erased by task 22"},
                        {6, "partial-reuse", 59, 887, 1327, 887, 140, "confirmed", ""},
                        {7, "aligned", 0, 1349, 861, 1349, 93, "confirmed", ""}};
    QJsonArray list;
    for (const Row &row : rows) {
        QJsonObject one = plan();
        one.insert(QStringLiteral("applied"), true);
        one.insert(QStringLiteral("verdict"), QString::fromLatin1(row.verdict));
        QJsonObject boundary = one.value(QStringLiteral("boundary")).toObject();
        boundary.insert(
            QStringLiteral("snap"),
            QJsonObject{{QStringLiteral("kind"), QStringLiteral("exact")}, {QStringLiteral("delta"), row.delta}});
        boundary.insert(QStringLiteral("predicted_reuse"), row.predicted);
        boundary.insert(QStringLiteral("predicted_ms"), row.number == 5 ? 48.0 : row.ms - 2);
        one.insert(QStringLiteral("boundary"), boundary);
        one.insert(QStringLiteral("number"), row.number);
        one.insert(QStringLiteral("compaction_id"), QStringLiteral("c%1").arg(row.number));
        one.insert(QStringLiteral("applied_at"), QStringLiteral("2026-11-30T13:%1:00Z").arg(10 + row.number));
        one.insert(QStringLiteral("outcome"), QString::fromLatin1(row.outcome));
        one.insert(QStringLiteral("measured_reuse"), row.reused);
        one.insert(QStringLiteral("measured_prefill"), row.prefilled);
        one.insert(QStringLiteral("measured_ms"), row.ms);
        one.insert(QStringLiteral("cause"), row.cause[0] ? QJsonValue(QString::fromLatin1(row.cause)) : QJsonValue());
        list.prepend(one);
    }
    QJsonObject eight = plan();
    eight.insert(QStringLiteral("applied"), true);
    eight.insert(QStringLiteral("number"), 8);
    eight.insert(QStringLiteral("compaction_id"), QStringLiteral("c8"));
    eight.insert(QStringLiteral("planned_at"), QStringLiteral("2026-11-30T14:02:10Z"));
    eight.insert(QStringLiteral("applied_at"), QStringLiteral("2026-11-30T14:02:11Z"));
    eight.insert(QStringLiteral("outcome"), QStringLiteral("confirmed"));
    eight.insert(QStringLiteral("measured_reuse"), 1348);
    eight.insert(QStringLiteral("measured_prefill"), 954);
    eight.insert(QStringLiteral("measured_ms"), 101.57);
    eight.insert(QStringLiteral("source"), QStringLiteral("timings"));
    eight.insert(QStringLiteral("task_id"), 40);
    eight.insert(QStringLiteral("ring"), QJsonDocument::fromJson(ringText().toUtf8()).array());
    list.prepend(eight);
    return {{QStringLiteral("compactions"), list}};
}

inline QJsonObject promptBefore()
{
    QJsonArray parts;
    for (int i = 0; i + 1 < edges().size(); ++i)
        parts.append(
            QJsonObject{{QStringLiteral("part"), i == 0 ? QStringLiteral("system") : QStringLiteral("episode")},
                        {QStringLiteral("seq"), i + 1},
                        {QStringLiteral("role"), roleAt(i)},
                        {QStringLiteral("begin"), edges().at(i)},
                        {QStringLiteral("end"), edges().at(i + 1)}});
    return {{QStringLiteral("which"), QStringLiteral("compaction:8")},
            {QStringLiteral("total"), 3216},
            {QStringLiteral("exact"), true},
            {QStringLiteral("simulated"), false},
            {QStringLiteral("revision"), 61},
            {QStringLiteral("parts"), parts}};
}

inline QJsonObject receipt()
{
    return json(
        R"({"receipt_id":"r40","turn":40,"breakdown":{"system_prompt":214,"pinned_anchors":226,"retrieved_memory":0,
      "raw_recent_history":1832,"stubs":30,"tool_schemas":0,"fold_summaries":0,"other":0},"total_tokens":2302,"exact":true,
      "context_window":4096,"cache_status":"partial-reuse","cache_detail":"checkpoint 1,349","tokens_reused":1348,"tokens_prefilled":954,
      "prompt_eval_ms":101.57,"eviction":{},"outcome":"confirmed","provider_cache":null,"tokenizer":"server:11669:gemma3",
      "backend":"llama-server http://127.0.0.1:8080","simulated":false,"rendered":"receipt of turn 40\n",
      "stats":{"compactions":8,"by_status":{"partial-reuse":6},"measured_reuse_share":0.75,"claimed_reuse_share":0.75,"prefill_tokens":9000,
      "prefill_ms":990.0,"new_tokens":7000,"prefill_amplification":1.29}})");
}

/// Everything of the picture console-light.png, as of compaction 8.
inline void fill(kerf::ConsoleState &state)
{
    state.update(
        kerf::ConsoleState::Everything,
        [](kerf::ConsoleData &data) {
            data.link = kerf::LinkState::Connected;
            data.linkDescription = QStringLiteral("embedded engine");
            data.asOf = QDateTime(QDate(2026, 11, 30), QTime(14, 2, 11), Qt::UTC);
            data.doctor = kerf::parseDoctor(doctor());
            data.slotList = kerf::parseSlots(slotList());
            data.hasSession = true;
            data.session = kerf::parseSession(session());
            data.sessions = {kerf::SessionSummary{
                QStringLiteral("port-scheduler"), QStringLiteral("port-scheduler"), 26, 3216, 61, 40, {}}};
            data.episodes = kerf::parseEpisodes(episodes());
            data.compactions = kerf::parseCompactions(compactions());
            data.promptsBefore.insert(8, kerf::parsePrompt(promptBefore()));
            data.receipt = kerf::parseReceipt(receipt());
        },
        true);
}

} // namespace uisample
#endif
