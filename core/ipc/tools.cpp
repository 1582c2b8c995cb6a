// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// The tools, in the order in which every client sees them. Constant: no store and no server is needed to list
// them, and the list never changes while a conversation holds it in the head of its prompt (a tool list that comes
// and goes costs a whole prefill). Names and fields are those of PROTOCOL.md.
//
// Descriptions are paid for in prompt tokens by every conversation: each says what a model must know, no more.

#include "core/ipc/handler.h"

#include <QList>

namespace kerf {

namespace {

#define KERF_SESSION R"("session_id":{"type":"string","minLength":1})"
// A decimal string is taken, too (toolindex.cpp); one type is what every model's dialect of JSON Schema can say.
#define KERF_SLOT R"("slot_id":{"type":"integer","description":"-1 = the server's choice"})"

constexpr const char kNothing[] = R"({"type":"object","properties":{},"additionalProperties":false})";

constexpr const char kCommitIn[] = R"({"type":"object","properties":{
"role":{"type":"string","enum":["system","user","assistant","tool","internal"]},
"content":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"object"}},{"type":"null"}]},
"tool_calls":{"type":"array","items":{"type":"object"},"description":"[{id, name, arguments: string}]"},
"tool_call_id":{"type":"string"},"tool_name":{"type":"string"},"name":{"type":"string"},"reasoning":{"type":"string"},
"is_error":{"type":"boolean"},
"generated_tokens":{"type":"array","items":{"type":"integer","minimum":0},"description":"ids of the reply, for exact predictions"},
)" KERF_SESSION R"(,"droppable":{"type":"boolean"},"corrects":{"type":"integer","minimum":1,"description":"episode_id"},
"fold_id":{"type":"integer","minimum":1},"client_ref":{"type":"string","description":"the same twice is one episode"}},
"required":["role","content"]})";
constexpr const char kCommitOut[] =
    R"({"type":"object","properties":{"episode_id":{"type":"integer"},"seq":{"type":"integer"},
"token_count":{"type":"integer"},"exact":{"type":"boolean"},"revision":{"type":"integer"},"session_id":{"type":"string"}},
"required":["episode_id","seq","token_count","exact","revision","session_id"]})";

constexpr const char kRecallIn[] = R"({"type":"object","properties":{"query":{"type":"string","minLength":1},
"k":{"type":"integer","minimum":1,"maximum":1000},)" KERF_SESSION
                                   R"(,"include_folded":{"type":"boolean"}},"required":["query"]})";
constexpr const char kRecallOut[] =
    R"({"type":"object","properties":{"results":{"type":"array","items":{"type":"object","properties":{
"id":{"type":"integer"},"kind":{"type":"string"},"score":{"type":"number"},"text":{"type":"string"},"token_cost":{"type":"integer"},
"tier":{"type":"string"},"seq":{"type":"integer"}},"required":["id","kind","score","text","token_cost","tier","seq"]}}},
"required":["results"]})";

constexpr const char kEpisodeIn[] =
    R"({"type":"object","properties":{"episode_id":{"type":"integer","minimum":1}},"required":["episode_id"]})";
constexpr const char kEpisodeOut[] =
    R"({"type":"object","properties":{"episode_id":{"type":"integer"},"session_id":{"type":"string"},
"seq":{"type":"integer"},"role":{"type":"string"},"content":{"type":["string","array","null"]},"tool_calls":{"type":["array","null"]},
"tool_name":{"type":["string","null"]},"tool_call_id":{"type":["string","null"]},"reasoning":{"type":["string","null"]},
"tier":{"type":"string","enum":["live","masked","referenced","archived","dropped"]},"token_count":{"type":"integer"},
"exact":{"type":"boolean"},"begin":{"type":["integer","null"]},"end":{"type":["integer","null"]},"pinned":{"type":"boolean"},
"fold_id":{"type":["integer","null"]},"created_at":{"type":"string"}},
"required":["episode_id","session_id","seq","role","content","tool_calls","tool_name","tool_call_id","reasoning","tier","token_count",
"exact","begin","end","pinned","fold_id","created_at"]})";

constexpr const char kPinIn[] =
    R"({"type":"object","properties":{"content":{"type":"string"},"episode_id":{"type":"integer","minimum":1},
"kind":{"type":"string","enum":["safety_constraint","user_correction","task_contract"]},)" KERF_SESSION R"(}})";
constexpr const char kPinOut[] =
    R"({"type":"object","properties":{"anchor_id":{"type":"integer"},"kind":{"type":"string"},
"token_cost":{"type":"integer"}},"required":["anchor_id","kind","token_cost"]})";
constexpr const char kUnpinIn[] =
    R"({"type":"object","properties":{"anchor_id":{"type":"integer","minimum":1}},"required":["anchor_id"]})";
constexpr const char kUnpinOut[] =
    R"({"type":"object","properties":{"anchor_id":{"type":"integer"}},"required":["anchor_id"]})";

constexpr const char kFoldIn[] = R"({"type":"object","properties":{)" KERF_SESSION "," KERF_SLOT R"(,
"description":{"type":"string","minLength":1},"goal":{"type":"string"}},"required":["description"]})";
constexpr const char kFoldOut[] =
    R"({"type":"object","properties":{"fold_id":{"type":"integer"},"session_id":{"type":"string"},
"checkpoint":{"type":["object","null"]},"token_position":{"type":"integer"},"tokens_at_open":{"type":"integer"},
"cache_note":{"type":"string"}},
"required":["fold_id","checkpoint","token_position","tokens_at_open","cache_note"]})";
constexpr const char kUnfoldIn[] = R"({"type":"object","properties":{"fold_id":{"type":"integer","minimum":1},
"result_summary":{"type":"string","minLength":1}},"required":["fold_id","result_summary"]})";
constexpr const char kUnfoldOut[] =
    R"({"type":"object","properties":{"fold_id":{"type":"integer"},"session_id":{"type":"string"},"episode_id":{"type":"integer"},
"tokens_reclaimed":{"type":"integer"},"exact":{"type":"boolean"},"episodes_folded":{"type":"integer"},
"rollback_performed":{"type":"boolean"},"rollback_method":{"type":"string","enum":["prefix","ring-rewind","slot-restore","none"]},
"rollback_proven":{"type":"boolean"},"rollback_detail":{"type":"string"},"trace_retrievable":{"type":"boolean"}},
"required":["fold_id","tokens_reclaimed","episodes_folded","rollback_performed","rollback_method","rollback_proven","rollback_detail",
"trace_retrievable"]})";
constexpr const char kRecallFoldIn[] =
    R"({"type":"object","properties":{"fold_id":{"type":"integer","minimum":1}},"required":["fold_id"]})";
constexpr const char kRecallFoldOut[] =
    R"({"type":"object","properties":{"fold_id":{"type":"integer"},"session_id":{"type":"string"},"description":{"type":"string"},
"goal":{"type":"string"},"open":{"type":"boolean"},"result_summary":{"type":["string","null"]},"rollback_proven":{"type":"boolean"},
"episodes":{"type":"array","items":{"type":"object"}}},
"required":["fold_id","session_id","description","goal","open","result_summary","rollback_proven","episodes"]})";
constexpr const char kSnapshotIn[] = R"({"type":"object","properties":{)" KERF_SESSION "," KERF_SLOT R"(}})";
constexpr const char kSnapshotOut[] =
    R"({"type":"object","properties":{"session_id":{"type":"string"},"path":{"type":"string"},"tokens":{"type":"integer"},
"slot_id":{"type":"integer"},"simulated":{"type":"boolean"}},"required":["session_id","path","tokens","slot_id","simulated"]})";
constexpr const char kRestoreIn[] =
    R"({"type":"object","properties":{"path":{"type":"string","minLength":1},)" KERF_SLOT R"(},"required":["path"]})";
constexpr const char kRestoreOut[] =
    R"({"type":"object","properties":{"session_id":{"type":"string"},"path":{"type":"string"},"slot_id":{"type":"integer"},
"tokens":{"type":"integer"},"proven":{"type":"boolean"},"simulated":{"type":"boolean"},"detail":{"type":"string"}},
"required":["session_id","path","slot_id","tokens","proven","simulated","detail"]})";
constexpr const char kPlanIn[] = R"({"type":"object","properties":{)" KERF_SESSION "," KERF_SLOT R"(,
"apply":{"type":"boolean","description":"plan and apply in one step"},
"requested_cut":{"type":"integer","minimum":0,"description":"prompt token index, for a what-if"},
"profile":{"type":"string"},"pending_recall":{"type":"integer","minimum":0},
"preview":{"type":"boolean","description":"keep nothing; cannot be applied"},
"overrides":{"type":"object","description":"knob: value, for a preview"}}})";
// The boundary's fields are all null where nothing had to be cut (pressure relaxed).
constexpr const char kPlanOut[] =
    R"({"type":"object","properties":{"plan_id":{"type":"string"},"session_id":{"type":"string"},
"revision":{"type":"integer"},"pressure":{"type":"string","enum":["relaxed","compacting","anchor_overflow"]},"budget":{"type":["integer","null"]},
"trigger_at":{"type":["integer","null"]},"target":{"type":["integer","null"]},"target_missed":{"type":"integer"},"live_tokens":{"type":"integer"},
"anchor_tokens":{"type":"integer"},"fixed_tokens":{"type":"integer"},"prompt_tokens":{"type":"integer"},"exact":{"type":"boolean"},
"planned_savings":{"type":"integer"},"tokens_after":{"type":"integer"},"applied":{"type":"boolean"},"verdict":{"type":["string","null"]},
"cache_status":{"type":"string"},"cache_reason":{"type":"string"},"boundary":{"type":"object","properties":{"requested_cut":{"type":["integer","null"]},
"aligned_cut":{"type":["integer","null"]},"nearest_cut":{"type":["integer","null"]},"snap":{"type":["object","null"]},
"candidates_considered":{"type":["integer","null"]},"tolerance_tokens":{"type":["integer","null"]},"action":{"type":["string","null"]},
"pairs_with_cache":{"type":["boolean","null"]},"partial_state_only":{"type":["boolean","null"]},"memory_kind":{"type":["string","null"]},
"evidence":{"type":["string","null"]},"simulated":{"type":["boolean","null"]},"predicted_reuse":{"type":["integer","null"]},
"predicted_reuse_low":{"type":["integer","null"]},"predicted_reuse_high":{"type":["integer","null"]},
"predicted_prefill":{"type":["integer","null"]},"predicted_ms":{"type":["number","null"]}},
"required":["requested_cut","aligned_cut","nearest_cut","snap","candidates_considered","tolerance_tokens","action","pairs_with_cache",
"partial_state_only","memory_kind","evidence","simulated","predicted_reuse","predicted_reuse_low","predicted_reuse_high",
"predicted_prefill","predicted_ms"]},
"retained_prefix_tokens":{"type":"integer"},"retained_prompt_tokens":{"type":"integer"},
"updates":{"type":"array","items":{"type":"object","properties":{"episode_id":{"type":"integer"},"seq":{"type":"integer"},
"from_tier":{"type":"string"},"to_tier":{"type":"string"},"tokens_before":{"type":"integer"},"tokens_after":{"type":"integer"},
"reason":{"type":"string"}},"required":["episode_id","seq","from_tier","to_tier","tokens_before","tokens_after","reason"]}},
"alternatives":{"type":"array","items":{"type":"object","properties":{"cut":{"type":"integer"},"at":{"type":"string"},
"retained_tokens":{"type":"integer"},"tokens_after":{"type":"integer"},"predicted_reuse":{"type":["integer","null"]},
"predicted_prefill":{"type":["integer","null"]},"predicted_ms":{"type":["number","null"]}},
"required":["cut","at","retained_tokens","tokens_after","predicted_reuse","predicted_prefill","predicted_ms"]}},
"notes":{"type":"array","items":{"type":"string"}},"summary":{"type":"string"}},
"required":["plan_id","session_id","revision","pressure","budget","trigger_at","target","target_missed","live_tokens","anchor_tokens",
"fixed_tokens","prompt_tokens","exact","planned_savings","tokens_after","applied","verdict","cache_status","cache_reason","boundary",
"retained_prefix_tokens","retained_prompt_tokens","updates","alternatives","notes","summary"]})";
// Positions and sizes are prompt tokens, times milliseconds; null = not known. A piece of the curve holds its positions
// [begin, end) in the order of curve_fields: each count is that at begin and grows by its step from token to token.
constexpr const char kCutsIn[] = R"({"type":"object","properties":{)" KERF_SESSION "," KERF_SLOT R"(,
"profile":{"type":"string"},"pending_recall":{"type":"integer","minimum":0}}})";
constexpr const char kCutsOut[] = R"({"type":"object","properties":{"session_id":{"type":"string"},
"revision":{"type":"integer"},"slot_id":{"type":["integer","null"]},"prompt_tokens":{"type":"integer"},"exact":{"type":"boolean"},
"simulated":{"type":"boolean"},"target":{"type":"integer"},"trigger_at":{"type":"integer"},"pending_recall":{"type":"integer"},
"recent_begin":{"type":"integer","description":"prompt position"},"reply_high_holds":{"type":"boolean"},
"sampled":{"type":"boolean","description":"not all of legal_total are listed"},"legal_total":{"type":"integer"},
"cost":{"type":["object","null"],"properties":{"ms_per_token":{"type":"number"},"ms_per_token_per_position":{"type":"number"},
"ms_per_request":{"type":"number"},"samples":{"type":"integer"},"simulated":{"type":"boolean"}},
"required":["ms_per_token","ms_per_token_per_position","ms_per_request","samples","simulated"]},
"curve_fields":{"type":"array","items":{"type":"string"}},"curve":{"type":"array","items":{"type":"array"}},
"legal":{"type":"array","items":{"type":"object","properties":{"cut":{"type":"integer"},"seq":{"type":"integer"},
"after_seq":{"type":["integer","null"]},"own_end":{"type":"integer"},"segments":{"type":"array"},"last":{"type":["array","null"]},
"retained_tokens":{"type":"integer"},"reclaimed_tokens":{"type":"integer"},"tokens_after":{"type":"integer"},
"recent_kept_tokens":{"type":"integer"},"meets_target":{"type":"boolean"},"checkpoint":{"type":["integer","null"]},
"claimable":{"type":"boolean"},"predicted_reuse":{"type":"integer"},"predicted_reuse_low":{"type":"integer"},
"predicted_reuse_high":{"type":"integer"},"predicted_prefill":{"type":"integer"},"predicted_ms":{"type":["number","null"]},
"verdict":{"type":["string","null"]},"snap_delta":{"type":["integer","null"]}},
"required":["cut","seq","after_seq","own_end","segments","last","retained_tokens","reclaimed_tokens","tokens_after","recent_kept_tokens",
"meets_target","checkpoint","claimable","predicted_reuse","predicted_reuse_low","predicted_reuse_high","predicted_prefill","predicted_ms",
"verdict","snap_delta"]}},
"segments":{"type":"array","items":{"type":"array"},"description":"what goes whole between two parts that stay"}},
"required":["session_id","revision","slot_id","prompt_tokens","exact","simulated","target","trigger_at","pending_recall","recent_begin",
"reply_high_holds","sampled","legal_total","cost","curve_fields","curve","legal","segments"]})";
constexpr const char kApplyIn[] =
    R"({"type":"object","properties":{"plan_id":{"type":"string","minLength":1}},"required":["plan_id"]})";

constexpr const char kAssembleIn[] = R"({"type":"object","properties":{)" KERF_SESSION "," KERF_SLOT R"(}})";
constexpr const char kAssembleOut[] =
    R"({"type":"object","properties":{"messages":{"type":"array","items":{"type":"object"}},
"tools":{"type":["array","null"],"items":{"type":"object"}},"chat_template_kwargs":{"type":["object","null"]},"prompt_tokens":{"type":"integer"},
"exact":{"type":"boolean"},"revision":{"type":"integer"},"predicted_reuse":{"type":["integer","null"]},
"predicted_reuse_low":{"type":["integer","null"]},"predicted_reuse_high":{"type":["integer","null"]},
"predicted_prefill":{"type":["integer","null"]},"predicted_ms":{"type":["number","null"]},"retained_prompt_tokens":{"type":"integer"}},
"required":["messages","tools","chat_template_kwargs","prompt_tokens","exact","revision","predicted_reuse","predicted_reuse_low",
"predicted_reuse_high","predicted_prefill","predicted_ms","retained_prompt_tokens"]})";

constexpr const char kTimingsIn[] = R"({"type":"object","properties":{)" KERF_SESSION "," KERF_SLOT R"(,
"revision":{"type":"integer","minimum":0},"cache_n":{"type":"integer","minimum":0},"prompt_n":{"type":"integer","minimum":0},
"prompt_ms":{"type":"number","minimum":0},"predicted_n":{"type":"integer","minimum":0},"predicted_ms":{"type":"number","minimum":0}},
"required":["cache_n","prompt_n"]})";
constexpr const char kTimingsOut[] = R"({"type":"object","properties":{
"settlement":{"type":"string","enum":["confirmed","better","refuted","none"]},"predicted_reuse":{"type":["integer","null"]},
"measured_reuse":{"type":"integer"},"measured_prefill":{"type":"integer"},"measured_ms":{"type":["number","null"]},
"cause":{"type":["string","null"]},"compaction_id":{"type":["integer","null"]}},
"required":["settlement","predicted_reuse","measured_reuse","measured_prefill","measured_ms","cause","compaction_id"]})";

constexpr const char kUsageIn[] = R"({"type":"object","properties":{"prompt_tokens":{"type":"integer","minimum":0},
"completion_tokens":{"type":["integer","null"],"minimum":0},"total_tokens":{"type":["integer","null"],"minimum":0},
"cache_read_tokens":{"type":["integer","null"],"minimum":0},"cache_write_tokens":{"type":["integer","null"],"minimum":0},
"reasoning_tokens":{"type":["integer","null"],"minimum":0},"usage":{"type":"object","description":"the provider's object as it came, instead"},
"provider":{"type":"string"},"model":{"type":"string"},)" KERF_SESSION R"(}})";
constexpr const char kUsageOut[] = R"({"type":"object","properties":{"turn":{"type":"integer"},
"verdict":{"type":"string"},"headline":{"type":"string"},"detail":{"type":"string"},"regression":{"type":["boolean","null"]},
"cached_tokens":{"type":["integer","null"]},"uncached_tokens":{"type":["integer","null"]},
"presence":{"type":"string","enum":["reported","null","absent"]},"conflicts":{"type":"array"},"session_stats":{"type":"object"}},
"required":["turn","verdict","headline","detail","regression","cached_tokens","uncached_tokens","presence","conflicts","session_stats"]})";

constexpr const char kReceiptIn[] =
    R"({"type":"object","properties":{)" KERF_SESSION R"(,"turn":{"type":"integer","minimum":0}}})";
constexpr const char kReceiptOut[] =
    R"({"type":"object","properties":{"receipt_id":{"type":"string"},"turn":{"type":"integer"},
"breakdown":{"type":"object","properties":{"system_prompt":{"type":"integer"},"pinned_anchors":{"type":"integer"},
"retrieved_memory":{"type":"integer"},"raw_recent_history":{"type":"integer"},"stubs":{"type":"integer"},"tool_schemas":{"type":"integer"},
"fold_summaries":{"type":"integer"},"other":{"type":"integer"}}},
"total_tokens":{"type":"integer"},"exact":{"type":"boolean"},"context_window":{"type":["integer","null"]},"cache_status":{"type":"string"},
"cache_detail":{"type":["string","null"]},"tokens_reused":{"type":["integer","null"]},"tokens_prefilled":{"type":["integer","null"]},
"prompt_eval_ms":{"type":["number","null"]},"eviction":{"type":["object","null"]},"outcome":{"type":["string","null"]},"settlement":{"type":["object","null"]},
"provider_cache":{"type":["object","null"]},"tokenizer":{"type":["string","null"]},"backend":{"type":"string"},
"simulated":{"type":"boolean"},"rendered":{"type":"string"},"stats":{"type":"object"}},
"required":["receipt_id","turn","breakdown","total_tokens","exact","context_window","cache_status","cache_detail","tokens_reused",
"tokens_prefilled","prompt_eval_ms","eviction","outcome","provider_cache","tokenizer","backend","simulated","rendered","stats"]})";

constexpr const char kStatusOut[] =
    R"({"type":"object","properties":{"version":{"type":"string"},"protocol":{"type":"string"},
"backend":{"type":"string"},"capabilities":{"type":"object"},"tokenizer":{"type":"string"},
"context_window":{"type":["integer","null"]},"episodes":{"type":"integer"},"sessions":{"type":"integer"},"anchors":{"type":"integer"},
"open_folds":{"type":"integer"},"store":{"type":"object","properties":{"path":{"type":"string"},"bytes":{"type":["integer","null"]},
"schema":{"type":"integer"}},"required":["path","bytes","schema"]}},
"required":["version","protocol","backend","capabilities","tokenizer","context_window","episodes","sessions","anchors","open_folds","store"]})";

constexpr const char kConfigureIn[] = R"({"type":"object","properties":{)" KERF_SESSION R"(,
"tools":{"type":"array","items":{"type":"object"}},"chat_template_kwargs":{"type":"object"},
"request_defaults":{"type":"object","properties":{"max_tokens":{"type":"integer","minimum":0}}},
"context_window":{"type":"integer","minimum":0,"description":"0 = the server's"}}})";
constexpr const char kConfigureOut[] = R"({"type":"object","properties":{"fixed_tokens":{"type":["integer","null"]},
"exact":{"type":"boolean"},"revision":{"type":"integer"}},"required":["fixed_tokens","exact","revision"]})";

constexpr const char kListOut[] =
    R"({"type":"object","properties":{"sessions":{"type":"array","items":{"type":"object","properties":{
"session_id":{"type":"string"},"episodes":{"type":"integer"},"live_tokens":{"type":["integer","null"]},"revision":{"type":"integer"}},
"required":["session_id","episodes","live_tokens","revision"]}}},"required":["sessions"]})";
constexpr const char kGetIn[] = R"({"type":"object","properties":{)" KERF_SESSION R"(}})";
constexpr const char kGetOut[] =
    R"({"type":"object","properties":{"session_id":{"type":"string"},"episodes":{"type":"integer"},
"live_tokens":{"type":["integer","null"]},"context_window":{"type":["integer","null"]},"revision":{"type":"integer"},
"tiers":{"type":"object"},"last_receipt":{"type":["object","null"]}},
"required":["session_id","episodes","live_tokens","context_window","revision","tiers","last_receipt"]})";

constexpr const char kCompactionsIn[] =
    R"({"type":"object","properties":{)" KERF_SESSION R"(,"limit":{"type":"integer","minimum":0},
"compaction_id":{"type":"integer","minimum":0},"detail":{"type":"boolean","description":"with the plan as it was"}}})";
constexpr const char kCompactionsOut[] =
    R"({"type":"object","properties":{"compactions":{"type":"array","items":{"type":"object","properties":{
"compaction_id":{"type":"integer"},"plan_id":{"type":"string"},"predicted_reuse":{"type":["integer","null"]},"revision":{"type":"integer"},
"predicted_at":{"type":"string"},"outcome":{"type":"string","enum":["confirmed","better","refuted","waiting","none"]}},
"required":["compaction_id","plan_id","predicted_reuse","revision","predicted_at","outcome"]}}},"required":["compactions"]})";

constexpr const char kDoctorIn[] =
    R"({"type":"object","properties":{"refresh":{"type":"boolean","description":"probe again"}}})";
constexpr const char kDoctorOut[] =
    R"({"type":"object","properties":{"backend":{"type":"string"},"requested":{"type":"string"},
"resolved":{"type":"string"},"simulated":{"type":"boolean"},"reachable":{"type":"boolean"},"url":{"type":["string","null"]},
"build":{"type":["string","null"]},"model":{"type":["string","null"]},"n_ctx":{"type":["integer","null"]},"slots":{"type":["integer","null"]},
"capabilities":{"type":"object"},"capabilities_line":{"type":"string"},"coherence_line":{"type":"string"},"eviction_line":{"type":"string"},
"memory":{"type":"object","properties":{"kind":{"type":"string"},"evidence":{"type":["string","null"]},"confidence":{"type":["string","null"]}},
"required":["kind","evidence","confidence"]},"chunk_reuse":{"type":["integer","null"]},
"ring":{"type":"object","properties":{"visible":{"type":"boolean"},"source":{"type":["string","null"]},"entries":{"type":"array"}},
"required":["visible","source","entries"]},
"advice":{"type":"array","items":{"type":"string"}},"notes":{"type":"array","items":{"type":"string"}}},
"required":["backend","requested","resolved","simulated","reachable","url","build","model","n_ctx","slots","capabilities",
"capabilities_line","coherence_line","eviction_line","memory","chunk_reuse","ring","advice","notes"]})";
constexpr const char kSlotsIn[] =
    R"({"type":"object","properties":{"history":{"type":"boolean","description":"over time, too"},"since_ms":{"type":"number"}}})";
constexpr const char kImportIn[] = R"({"type":"object","properties":{)" KERF_SESSION R"(,
"path":{"type":"string"},"content":{"type":"string"},"format":{"type":"string"},
"conversation":{"type":"integer","minimum":1,"description":"which one of the file"}}})";
constexpr const char kImportOut[] =
    R"({"type":"object","properties":{"session_id":{"type":"string"},"format":{"type":"string"},"episodes":{"type":"integer"},
"conversations":{"type":"integer"},"skipped":{"type":"array","items":{"type":"object","properties":{"line":{"type":"integer"},
"why":{"type":"string"}}}},"notes":{"type":"array","items":{"type":"string"}},"tokens":{"type":"integer"},"exact":{"type":"boolean"}},
"required":["session_id","format","episodes","conversations","skipped","notes","tokens","exact"]})";
constexpr const char kCalibrateIn[] = R"({"type":"object","properties":{)" KERF_SLOT R"(,
"consent":{"type":"boolean","description":"must be true: what the slot holds is lost"},
"dry_run":{"type":"boolean","description":"say what would be sent, send nothing"},
"use":{"type":"boolean","description":"keep the result as evidence; true unless given"
}
, "longest": { "type" : "integer", "minimum" : 0, "description" : "tokens of the longest prompt" }
}
})";
// A dry run answers with dry_run and plan alone, so nothing is required here.
constexpr const char kCalibrateOut[] =
    R"({"type":"object","properties":{"memory_kind":{"type":"string","enum":["full_attention","checkpointed","unknown"]},
"rewind_grain_tokens":{"type":["integer","null"]},"proven_rewind_tokens":{"type":"integer"},"prompt_cache_off":{"type":"boolean"},
"chunk_reuse":{"type":["integer","null"]},"restore_holds":{"type":["boolean","null"]},
"prefill_cost":{"type":"object","properties":{"ms_per_token":{"type":["number","null"]},"ms_per_token_per_1k":{"type":["number","null"]},
"ms_per_request":{"type":["number","null"]},"samples":{"type":"integer"}}},
"steps":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"sent":{"type":"integer"},
"reused":{"type":["integer","null"]},"prefilled":{"type":["integer","null"]},"ms":{"type":["number","null"]},
"expected":{"type":["integer","null"]},"concluded":{"type":"string"}}}},
"slot_id":{"type":"integer"},"backend":{"type":"string"},"simulated":{"type":"boolean"},"used":{"type":"boolean"},
"dry_run":{"type":"boolean"},"plan":{"type":"object"},"notes":{"type":"array","items":{"type":"string"}},"summary":{"type":"string"}}})";
constexpr const char kSlotsOut[] =
    R"({"type":"object","properties":{"slots":{"type":["array","null"]}},"required":["slots"]})";

constexpr const char kProfileIn[] = R"({"type":"object","properties":{)" KERF_SESSION R"(}})";
constexpr const char kProfileSetIn[] = R"({"type":"object","properties":{"name":{"type":"string","minLength":1,
"description":"cache-first, window-first, balanced, generational or a saved one"},"overrides":{"type":"object","description":"knob: value; null takes it back"},
)" KERF_SESSION R"(}})";
constexpr const char kProfileOut[] =
    R"({"type":"object","properties":{"name":{"type":"string"},"knobs":{"type":"object"},
"origin":{"type":"object","description":"knob: where its value came from"}},"required":["name","knobs","origin"]})";

} // namespace

const QList<ToolInfo> &toolTable()
{
    // name, title, description, input, output, core, read only, idempotent
    static const QList<ToolInfo> table{
        {"memory.commit_episode", "Commit an episode",
         "Record one turn of the conversation. Answers once it is on disk.", kCommitIn, kCommitOut, true, false, false},
        {"memory.recall", "Recall",
         "Full-text search in the session, evicted episodes too; texts come back byte-identical.", kRecallIn,
         kRecallOut, true, true, true},
        {"memory.get_episode", "Get an episode", "One episode with its whole text, also when it was evicted.",
         kEpisodeIn, kEpisodeOut, true, true, true},
        {"memory.pin", "Pin", "Keep a text or an episode in the prompt for good. Give content or episode_id.", kPinIn,
         kPinOut, true, false, false},
        {"context.plan_eviction", "Plan an eviction",
         "Plan where to cut so that the server's KV cache still matches, and predict the reuse. apply: true also "
         "applies it.",
         kPlanIn, kPlanOut, true, false, false},
        {"context.assemble", "Assemble the prompt", "The messages to send, unchanged, with the predicted reuse.",
         kAssembleIn, kAssembleOut, true, false, true},
        {"context.record_timings", "Record timings",
         "Hand over the timings of the answer; settles the prediction with what was measured.", kTimingsIn, kTimingsOut,
         true, false, false},
        {"context.receipt", "Receipt",
         "Where the window went, what was reused and prefilled, for one turn or the last.", kReceiptIn, kReceiptOut,
         true, true, true},
        {"kerf.status", "Status", "Version, backend, capabilities and store.", kNothing, kStatusOut, true, true, true},
        {"memory.unpin", "Unpin", "Let go of a pin.", kUnpinIn, kUnpinOut, false, false, true},
        {"memory.fold", "Open a fold",
         "Begin a side trip: what is committed until it is unfolded leaves one summary behind.", kFoldIn, kFoldOut,
         false, false, false},
        {"memory.unfold", "Close a fold",
         "End a side trip: its episodes leave the prompt, the summary stays, the server goes back to before it.",
         kUnfoldIn, kUnfoldOut, false, false, false},
        {"memory.recall_fold", "Recall a fold", "Everything that was said in a fold, verbatim.", kRecallFoldIn,
         kRecallFoldOut, false, true, true},
        {"session.snapshot", "Save the slot", "Save what the server holds of this session to a file of the server.",
         kSnapshotIn, kSnapshotOut, false, false, false},
        {"session.restore", "Restore the slot", "Bring a saved slot back; only the next request proves it.", kRestoreIn,
         kRestoreOut, false, false, false},
        {"context.apply", "Apply a plan",
         "Apply a plan by its id. plan-stale means that the session has moved on: plan again.", kApplyIn, kPlanOut,
         false, false, true},
        {"context.cuts", "Price all cuts",
         "What every possible cut of the prompt would cost: the what-if curve and the legal cuts. Plans nothing.",
         kCutsIn, kCutsOut, false, true, true},
        {"context.record_usage", "Record usage",
         "Hand over a hosted provider's usage; says whether its prompt cache still matched.", kUsageIn, kUsageOut,
         false, false, false},
        {"context.compactions", "Compactions", "Applied plans with prediction and outcome.", kCompactionsIn,
         kCompactionsOut, false, true, true},
        {"session.configure", "Configure a session",
         "What is sent beside the messages: tools, template options, window.", kConfigureIn, kConfigureOut, false,
         false, true},
        {"session.list", "List sessions", "All sessions of the store.", kNothing, kListOut, false, true, true},
        {"session.get", "Get a session", "Counts, live tokens, window, tiers and last receipt of a session.", kGetIn,
         kGetOut, false, true, true},
        {"server.doctor", "Doctor",
         "What the server can do, what is known of its memory on what evidence, and what to change.", kDoctorIn,
         kDoctorOut, false, true, true},
        {"server.slots", "Slots", "What is known of every slot and of the host prompt cache.", kSlotsIn, kSlotsOut,
         false, true, true},
        {"transcript.import", "Import a transcript",
         "Make a session of a recorded conversation (OpenAI messages, request bodies, SWE-agent).", kImportIn,
         kImportOut, false, false, false},
        {"server.calibrate", "Calibrate",
         "Find out by experiment what the server reuses. Sends up to some 20 prompts to an idle slot, which loses what "
         "it "
         "holds.",
         kCalibrateIn, kCalibrateOut, false, false, false},
        {"profile.get", "Get the eviction profile", "The policy in force, and where each value came from.", kProfileIn,
         kProfileOut, false, true, true},
        {"profile.set", "Set the eviction profile",
         "Choose a profile or override knobs; takes effect on the next plan.", kProfileSetIn, kProfileOut, false, false,
         true},
        {"profile.reset", "Reset the eviction profile", "Back to what the evidence chooses.", kProfileIn, kProfileOut,
         false, false, true},
    };
    return table;
}

#undef KERF_SESSION
#undef KERF_SLOT

} // namespace kerf
