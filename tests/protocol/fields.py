#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Kerf contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The service's methods as an outside client sees them: every field of every result, with its type, and every error code.

    fields.py KERFD        e.g. fields.py build/bin/kerfd

Starts `kerfd serve` on the embedded server and on none. The tables below are the protocol's: a field may be added, none
may be missing or change its type. Only the Python standard library is needed.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

NULL = type(None)
NUM = (int, float)


def opt(kind):
    return (kind if isinstance(kind, tuple) else (kind,)) + (NULL,)


BOUNDARY = {
    "requested_cut": opt(int), "aligned_cut": opt(int), "nearest_cut": opt(int), "snap": opt(dict),
    "candidates_considered": opt(int), "tolerance_tokens": opt(int), "action": opt(str), "pairs_with_cache": opt(bool),
    "partial_state_only": opt(bool), "memory_kind": opt(str), "evidence": opt((str, list, dict)), "simulated": opt(bool),
    "predicted_reuse": opt(int), "predicted_reuse_low": opt(int), "predicted_reuse_high": opt(int),
    "predicted_prefill": opt(int), "predicted_ms": opt(NUM)}
PLAN = {
    "plan_id": str, "session_id": str, "revision": int, "pressure": str, "budget": int, "trigger_at": int, "target": int,
    "target_missed": int, "live_tokens": int, "anchor_tokens": int, "fixed_tokens": int, "prompt_tokens": int,
    "exact": bool, "planned_savings": int, "tokens_after": int, "applied": bool, "verdict": opt(str), "cache_status": str,
    "cache_reason": opt(str), "boundary": dict, "retained_prefix_tokens": int, "retained_prompt_tokens": int,
    "updates": list, "alternatives": list, "notes": list, "summary": str}
UPDATE = {"episode_id": int, "seq": int, "from_tier": str, "to_tier": str, "tokens_before": int, "tokens_after": int,
          "reason": str}
ALTERNATIVE = {"cut": int, "at": str, "retained_tokens": int, "tokens_after": int, "predicted_reuse": opt(int),
               "predicted_prefill": opt(int), "predicted_ms": opt(NUM)}
EPISODE = {"episode_id": int, "session_id": str, "seq": int, "role": str, "content": opt((str, list)),
           "tool_calls": opt(list), "tool_name": opt(str), "tool_call_id": opt(str), "reasoning": opt(str), "tier": str,
           "token_count": opt(int), "exact": bool, "begin": opt(int), "end": opt(int), "pinned": bool,
           "fold_id": opt((int, str)), "created_at": str}
BREAKDOWN = {key: int for key in ("system_prompt", "pinned_anchors", "retrieved_memory", "raw_recent_history", "stubs",
                                  "tool_schemas", "fold_summaries", "other")}
STATS = {"compactions": int, "by_status": dict, "measured_reuse_share": opt(NUM), "claimed_reuse_share": opt(NUM),
         "prefill_tokens": opt(int), "prefill_ms": opt(NUM), "new_tokens": opt(int), "prefill_amplification": opt(NUM)}
RECEIPT = {"receipt_id": (int, str), "turn": int, "breakdown": dict, "total_tokens": int, "exact": bool,
           "context_window": int, "cache_status": str, "cache_detail": opt(str), "tokens_reused": opt(int),
           "tokens_prefilled": opt(int), "prompt_eval_ms": opt(NUM), "eviction": opt(dict), "outcome": opt(str),
           "provider_cache": opt(dict), "tokenizer": str, "backend": str, "simulated": bool, "rendered": str, "stats": dict}
ASSEMBLED = {"messages": list, "tools": opt(list), "chat_template_kwargs": opt(dict), "prompt_tokens": int, "exact": bool,
             "revision": int, "predicted_reuse": opt(int), "predicted_reuse_low": opt(int), "predicted_reuse_high": opt(int),
             "predicted_prefill": opt(int), "predicted_ms": opt(NUM), "retained_prompt_tokens": int}
SETTLED = {"settlement": str, "predicted_reuse": opt(int), "measured_reuse": opt(int), "measured_prefill": opt(int),
           "measured_ms": opt(NUM), "cause": opt(str), "compaction_id": opt((int, str))}
USAGE = {"turn": int, "verdict": str, "headline": str, "detail": opt(str), "regression": bool, "cached_tokens": opt(int),
         "uncached_tokens": opt(int), "presence": str, "conflicts": list, "session_stats": dict}
DOCTOR = {"backend": str, "requested": str, "resolved": str, "simulated": bool, "reachable": bool, "url": opt(str),
          "build": opt(str), "model": opt(str), "n_ctx": opt(int), "slots": opt((int, list)), "capabilities": dict,
          "capabilities_line": str, "coherence_line": str, "eviction_line": str, "memory": dict,
          "chunk_reuse": opt((int, dict)), "ring": dict, "advice": list, "notes": list}
STATUS = {"version": str, "protocol": (int, str), "backend": str, "capabilities": (dict, list), "tokenizer": str,
          "context_window": opt(int), "episodes": int, "sessions": int, "anchors": int, "open_folds": int, "store": dict}
CAPABILITIES = ("reachable", "slots", "slot_save", "slot_restore", "slot_erase", "checkpoint_ring", "tokenize", "props",
                "metrics", "partial_state_only", "context_shift")


class Failed(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failed(what)


def fields(what, value, table):
    check(isinstance(value, dict), f"{what}: not an object: {value!r}")
    for name, kinds in table.items():
        check(name in value, f"{what}.{name} is missing")
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        got = value[name]
        good = isinstance(got, kinds) and (not isinstance(got, bool) or bool in kinds)
        check(good, f"{what}.{name} is {got!r}, wanted {'/'.join(k.__name__ for k in kinds)}")


class Service:
    def __init__(self, kerfd, backend, *more):
        self.dir = tempfile.mkdtemp(prefix="kerf-proto-")
        os.chmod(self.dir, 0o700)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("KERF_", "SAKUR4_"))}
        self.path = os.path.join(self.dir, "s")
        self.process = subprocess.Popen(
            [kerfd, "serve", "--socket", self.path, "--db", os.path.join(self.dir, "store.db"), "--backend", backend,
             *more], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
        line = self.process.stdout.readline().decode()
        check(line == f"listening on {self.path}\n", f"the ready line is {line!r}")
        self.connect()

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)
        self.file = self.sock.makefile("rwb")
        self.count = 0

    def raw(self, text):
        self.file.write(text.encode() if isinstance(text, str) else text)
        self.file.flush()

    def answer(self):
        while True:
            line = self.file.readline()
            check(line, "the connection was closed")
            message = json.loads(line)
            check(message.get("jsonrpc") == "2.0", f"not JSON-RPC 2.0: {line[:100]!r}")
            if "method" not in message:
                return message

    def ask(self, method, params):
        self.count += 1
        self.raw(json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}) + "\n")
        message = self.answer()
        check(message["id"] == self.count, f"{method}: answered out of order")
        return message

    def call(self, method, **params):
        message = self.ask(method, params)
        check("result" in message, f"{method}: {message.get('error')}")
        return message["result"]

    def error(self, code, slug, method, **params):
        message = self.ask(method, params)
        check("error" in message, f"{method} {params}: no error but {str(message.get('result'))[:200]}")
        error = message["error"]
        check(error["code"] == code, f"{method} {params}: code {error['code']}, wanted {code}: {error['message']}")
        got = error.get("data", {}).get("code")
        check(isinstance(got, str) and got, f"{method}: no error.data.code")
        check(slug is None or got == slug, f"{method} {params}: slug {got}, wanted {slug}")
        return error

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        check(self.process.wait(20) == 0, "SIGTERM did not end it with status 0")
        check(self.process.stdout.read() == b"", "more than the ready line on stdout")
        shutil.rmtree(self.dir)


TEXT = ("The retry loop moved behind the queue so that a slow peer no longer blocks the others; the build is green again and the "
        "next step is to look at the log of the failing test. ")


def fill(service, session, rounds):
    """An agent's session, deep enough for a compaction."""
    first = service.call("memory.commit_episode", session_id=session, role="system", content="You are a careful engineer. " + TEXT)
    for i in range(rounds):
        service.call("memory.commit_episode", session_id=session, role="user", content=f"Step {i}: {TEXT}")
        call = {"id": f"call_{i}", "name": "read_file", "arguments": json.dumps({"path": f"src/{i}.cpp"})}
        service.call("memory.commit_episode", session_id=session, role="assistant", content=None, tool_calls=[call])
        service.call("memory.commit_episode", session_id=session, role="tool", content=f"{i}: " + TEXT * 3,
                     tool_call_id=f"call_{i}", tool_name="read_file")
        service.call("memory.commit_episode", session_id=session, role="assistant", content=f"Done {i}. {TEXT}")
    return first["episode_id"]


def episodes(service):
    committed = {"episode_id": int, "seq": int, "token_count": opt(int), "exact": bool, "revision": int, "session_id": str}
    one = service.call("memory.commit_episode", session_id="e", role="user", content="hello", client_ref="r1")
    fields("commit", one, committed)
    again = service.call("memory.commit_episode", session_id="e", role="user", content="hello", client_ref="r1")
    check(again["episode_id"] == one["episode_id"] and again["seq"] == one["seq"], "the same client_ref made two episodes")
    check(one["seq"] == 1, "seq starts at 1")
    two = service.call("memory.commit_episode", session_id="e", role="assistant", content="hi", generated_tokens=[1, 2, 3])
    check(two["seq"] == 2 and two["revision"] == one["revision"] + 1, "a commit is one revision")
    parts = service.call("memory.commit_episode", session_id="e", role="user",
                         content=[{"type": "text", "text": "with parts"}])
    fields("episode", service.call("memory.get_episode", episode_id=parts["episode_id"]), EPISODE)
    internal = service.call("memory.commit_episode", session_id="e", role="internal", content="a note to itself")
    fields("episode", service.call("memory.get_episode", episode_id=internal["episode_id"]), EPISODE)
    sent = service.call("context.assemble", session_id="e")["messages"]
    check(not any("a note to itself" in str(m.get("content")) for m in sent), "an internal episode is in the prompt")
    configured = service.call("session.configure", session_id="e", tools=[
        {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object", "properties": {}}}}],
        chat_template_kwargs={"enable_thinking": False}, request_defaults={"max_tokens": 64})
    fields("configure", configured, {"fixed_tokens": int, "exact": bool, "revision": int})
    anchor = service.call("memory.pin", session_id="e", content="Never touch main.", kind="safety_constraint")
    fields("pin", anchor, {"anchor_id": (int, str), "kind": str, "token_cost": int})
    other = service.call("memory.pin", session_id="e", episode_id=one["episode_id"])
    check(service.call("memory.get_episode", episode_id=one["episode_id"])["pinned"] is True, "pinned")
    service.call("memory.unpin", anchor_id=anchor["anchor_id"], session_id="e")
    service.call("memory.unpin", anchor_id=other["anchor_id"], session_id="e")
    check(service.call("memory.get_episode", episode_id=one["episode_id"])["pinned"] is False, "unpinned")
    found = service.call("memory.recall", session_id="e", query="parts", k=3)
    check(found["results"], "recall finds nothing")
    fields("recall", found["results"][0], {"id": (int, str), "kind": str, "score": NUM, "text": str, "token_cost": int,
                                           "tier": str, "seq": int})
    # Errors: the field is named.
    error = service.error(-32602, None, "memory.commit_episode", session_id="e", content="x")
    check("role" in error["message"], f"the field is not named: {error['message']}")
    error = service.error(-32602, None, "memory.commit_episode", session_id="e", role="robot", content="x")
    check("role" in error["message"], f"the field is not named: {error['message']}")
    service.error(-32602, None, "memory.commit_episode", session_id="e", role="user", content=7)
    service.error(2, None, "memory.get_episode", episode_id=999999)
    service.error(2, None, "memory.unpin", anchor_id=999999, session_id="e")
    service.error(-32601, None, "memory.nothing")


def context(service):
    fill(service, "c", 3)
    relaxed = service.call("context.plan_eviction", session_id="c")
    fields("plan", relaxed, PLAN)
    fields("boundary", relaxed["boundary"], BOUNDARY)
    check(relaxed["pressure"] == "relaxed" and relaxed["updates"] == [] and relaxed["verdict"] is None
          and relaxed["cache_status"] == "unknown", "relaxed means nothing to do")
    check(all(relaxed["boundary"][key] is None for key in BOUNDARY if key != "snap")
          and relaxed["boundary"]["snap"] in (None, {"kind": None, "delta": None}), "relaxed: boundary fields are null")
    check(relaxed["retained_prompt_tokens"] == relaxed["prompt_tokens"], "relaxed: all is retained")
    sent = service.call("context.assemble", session_id="c")
    fields("assemble", sent, ASSEMBLED)
    settled = service.call("context.record_timings", session_id="c", revision=sent["revision"], cache_n=0,
                           prompt_n=sent["prompt_tokens"], prompt_ms=12.5, predicted_n=3, predicted_ms=4.0)
    fields("settled", settled, SETTLED)
    receipt = service.call("context.receipt", session_id="c")
    fields("receipt", receipt, RECEIPT)
    fields("breakdown", receipt["breakdown"], BREAKDOWN)
    fields("stats", receipt["stats"], STATS)
    check(sum(receipt["breakdown"][k] for k in BREAKDOWN) == receipt["total_tokens"], "the parts do not add up to the total")
    check(receipt["simulated"] is True, "the embedded server is simulated")
    fields("usage", service.call("context.record_usage", session_id="c", prompt_tokens=1000, completion_tokens=10,
                                 cache_read_tokens=900, provider="openai", model="m"), USAGE)
    raw = service.call("context.record_usage", session_id="c", provider="openai", model="m",
                       usage={"prompt_tokens": 1000, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 0}})
    check(raw["presence"] == "reported" and raw["cached_tokens"] == 0, "a reported 0 is a 0")
    raw = service.call("context.record_usage", session_id="c", provider="openai", model="m",
                       usage={"prompt_tokens": 1000, "completion_tokens": 5})
    check(raw["presence"] == "absent" and raw["cached_tokens"] is None, "absent is not 0")

    # Deep enough: a plan, then apply.
    fill(service, "d", 14)
    service.call("context.assemble", session_id="d")
    plan = service.call("context.plan_eviction", session_id="d")
    fields("plan", plan, PLAN)
    fields("boundary", plan["boundary"], BOUNDARY)
    check(plan["pressure"] == "compacting" and plan["updates"], "a session over its trigger gives a plan")
    for row in plan["updates"]:
        fields("update", row, UPDATE)
    check(plan["alternatives"], "a plan has alternatives")
    for row in plan["alternatives"]:
        fields("alternative", row, ALTERNATIVE)
        check(row["at"] in ("episode-edge", "checkpoint"), f"alternative at {row['at']}")
    snap = plan["boundary"]["snap"]
    fields("snap", snap, {"kind": str, "delta": int})
    check(plan["applied"] is False, "planned is not applied")
    what_if = service.call("context.plan_eviction", session_id="d", requested_cut=plan["alternatives"][-1]["cut"], slot_id="0")
    check(what_if["boundary"]["requested_cut"] is not None, "a requested cut is planned")
    applied = service.call("context.apply", plan_id=plan["plan_id"])
    fields("applied", applied, PLAN)
    check(applied["applied"] is True, "applied")
    check(service.call("context.apply", plan_id=plan["plan_id"])["applied"] is True, "apply is idempotent")
    service.error(3, "plan-stale", "context.apply", plan_id=what_if["plan_id"])
    service.error(2, None, "context.apply", plan_id="no-such-plan")
    rows = service.call("context.compactions", session_id="d")["compactions"]
    check(len(rows) == 1 and rows[0]["outcome"] == "waiting", f"one compaction waits: {rows}")
    sent = service.call("context.assemble", session_id="d")
    low, high = sent["predicted_reuse_low"], sent["predicted_reuse_high"]
    check(low is not None and high is not None and low <= high <= sent["prompt_tokens"], "a range")
    one_step = service.call("context.plan_eviction", session_id="d", apply=True)
    check(one_step["applied"] is False or one_step["updates"], "applied only with updates")
    tier = service.call("memory.get_episode", episode_id=plan["updates"][0]["episode_id"])
    check(tier["tier"] == plan["updates"][0]["to_tier"], "the tier moved")
    service.error(2, None, "session.get", session_id="never-heard-of")
    service.error(-32602, None, "context.plan_eviction", session_id="d", slot_id="first")
    service.error(-32602, None, "context.plan_eviction", session_id="d", profile="no-such-profile")
    service.error(-32602, None, "context.record_timings", session_id="d", cache_n=-4, prompt_n=1)
    overflow = "pins are over the budget. " * 900
    service.call("memory.pin", session_id="o", content=overflow)
    service.call("memory.commit_episode", session_id="o", role="user", content="go")
    plan = service.call("context.plan_eviction", session_id="o")
    check(plan["pressure"] == "anchor_overflow" and plan["updates"] == [], "pins over the budget")
    service.error(5, None, "context.assemble", session_id="o")


def folds(service):
    fill(service, "f", 2)
    service.call("context.assemble", session_id="f")
    opened = service.call("memory.fold", session_id="f", description="a side trip", goal="to know")
    fields("fold", opened, {"fold_id": (int, str), "checkpoint": opt(dict), "token_position": int, "tokens_at_open": int,
                            "cache_note": str})
    service.call("memory.commit_episode", session_id="f", role="user", content="inside")
    closed = service.call("memory.unfold", fold_id=opened["fold_id"], result_summary="known now")
    fields("unfold", closed, {"fold_id": (int, str), "tokens_reclaimed": int, "episodes_folded": int,
                              "rollback_performed": bool, "rollback_method": str, "rollback_proven": bool,
                              "rollback_detail": str, "trace_retrievable": bool})
    check(closed["episodes_folded"] == 1, "one episode was in the fold")
    trace = service.call("memory.recall_fold", fold_id=opened["fold_id"])
    check([row["content"] for row in trace["episodes"]] == ["inside"], "the trace")
    service.error(2, None, "memory.recall_fold", fold_id=4711)
    service.error(-32602, None, "memory.unfold", fold_id=opened["fold_id"])


def transcripts(service):
    lines = "\n".join(json.dumps(m) for m in (
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}, {"role": "robot", "content": "?"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
        {"role": "tool", "content": "a.txt", "tool_call_id": "c"})) + "\n{\"role\": \"us"
    got = service.call("transcript.import", content=lines, session_id="tr")
    fields("import", got, {"session_id": str, "format": str, "episodes": int, "skipped": list, "tokens": int})
    check(got["episodes"] == 4 and got["session_id"] == "tr", f"4 of 6 lines are messages: {got}")
    check([row["line"] for row in got["skipped"]] == [3, 6] and all(row["why"] for row in got["skipped"]), f"skipped: {got['skipped']}")
    sent = service.call("context.assemble", session_id="tr")["messages"]
    check([m["role"] for m in sent] == ["system", "user", "assistant", "tool"], f"the messages: {sent}")
    service.error(-32602, None, "transcript.import", session_id="tr")
    service.error(2, None, "transcript.import", path="/nonexistent/file.jsonl")
    service.error(1, None, "transcript.import", content="this is no transcript")


def sessions(service):
    rows = service.call("session.list")["sessions"]
    check({r["session_id"] for r in rows} >= {"c", "d", "e"}, "session.list")
    got = service.call("session.get", session_id="d")
    fields("session", got, {"session_id": str, "episodes": int, "live_tokens": opt(int), "context_window": int,
                            "revision": int, "tiers": dict, "last_receipt": opt(dict)})


def server(service):
    doctor = service.call("server.doctor")
    fields("doctor", doctor, DOCTOR)
    for name in CAPABILITIES:
        check(name in doctor["capabilities"], f"capability {name}")
    fields("doctor.memory", doctor["memory"], {"kind": str, "evidence": opt((str, list)), "confidence": opt((str, int, float))})
    fields("doctor.ring", doctor["ring"], {"visible": bool, "source": opt(str), "entries": list})
    for row in doctor["ring"]["entries"]:
        fields("ring entry", row, {"position": int, "kind": str, "size_bytes": opt(int), "slot_id": int})
    slots = service.call("server.slots")
    check(isinstance(slots.get("slots"), list) and slots["slots"], "server.slots")
    profile = service.call("profile.get")
    check(isinstance(profile, dict) and profile, "profile.get")
    service.call("profile.set", name="balanced", session_id="c")
    service.call("profile.set", overrides={"keep_recent_tokens": 1024}, session_id="c")
    service.error(-32602, None, "profile.set", name="no-such-profile")
    service.error(-32602, None, "profile.set", overrides={"no_such_knob": 1})
    service.error(-32602, None, "profile.set", overrides={"snap_tolerance_tokens": -1})
    service.call("profile.reset", session_id="c")
    service.error(-32602, "consent", "server.calibrate")
    found = service.call("server.calibrate", consent=True)
    fields("calibrate", found, {"memory_kind": str, "rewind_grain_tokens": opt(int), "chunk_reuse": opt(int),
                                "restore_holds": opt(bool), "prefill_cost": dict, "steps": list})
    fields("prefill_cost", found["prefill_cost"], {"ms_per_token": opt(NUM), "ms_per_token_per_1k": opt(NUM)})
    for step in found["steps"]:
        fields("step", step, {"name": str, "sent": int, "reused": opt(int), "prefilled": opt(int), "ms": opt(NUM)})
    check(found["memory_kind"] == "checkpointed" and found["simulated"] is True, "the embedded server is recurrent")
    for alias in ("kerf.status", "sakur4.status"):
        status = service.call(alias)
        fields(alias, status, STATUS)
        fields("store", status["store"], {"path": str, "bytes": int, "schema": int})
    service.call("events.subscribe", topics=["episode"])
    service.count += 1
    service.raw(json.dumps({"jsonrpc": "2.0", "id": service.count, "method": "memory.commit_episode",
                            "params": {"session_id": "ev", "role": "user", "content": "seen"}}) + "\n")
    seen = answered = False
    while not (seen and answered):
        line = service.file.readline()
        check(line, "closed while waiting for the event")
        message = json.loads(line)
        if message.get("method") == "event":
            check("id" not in message and message["params"]["topic"] == "episode", f"an event: {message}")
            seen = True
        elif "id" in message:
            answered = True
    service.error(-32602, None, "events.subscribe", topics=["weather"])


def tools(service):
    """The MCP form reaches the same handlers."""
    answer = service.ask("tools/call", {"name": "kerf.status", "arguments": {}})["result"]
    fields("tools/call", answer, {"content": list, "structuredContent": dict, "isError": bool})
    check(answer["isError"] is False and len(answer["content"]) == 1 and answer["content"][0]["type"] == "text", "one text block")
    fields("status", answer["structuredContent"], STATUS)
    answer = service.ask("tools/call", {"name": "context.apply", "arguments": {"plan_id": "nope"}})["result"]
    check(answer["isError"] is True and answer["content"][0]["text"], "a failed tool is an answer, not a protocol error")
    listed = service.ask("tools/list", {})["result"]["tools"]
    for tool in listed:
        check(tool["inputSchema"]["type"] == "object" and tool["outputSchema"]["type"] == "object", tool["name"])


def framing(service):
    service.raw("this is no json\n")
    answer = service.answer()
    check(answer["error"]["code"] == -32700 and answer["id"] is None, f"parse error: {answer}")
    service.raw("[]\n")
    check(service.answer()["error"]["code"] == -32600, "a batch is refused")
    service.raw('{"jsonrpc":"2.0","id":1}\n')
    check(service.answer()["error"]["code"] == -32600, "no method")
    service.raw('\r\n\n{"jsonrpc":"2.0","id":"text id","method":"kerf.status"}\r\n')
    check(service.answer()["id"] == "text id", "CRLF, blank lines, string ids")
    service.raw('{"jsonrpc":"2.0","id":5,"method":"kerf.status","params":[1]}\n')
    check(service.answer()["error"]["code"] in (-32602, -32600), "params by position")
    service.raw(b'{"jsonrpc":"2.0","id":6,"method":"kerf.status","params":{"x":"' + b"x" * (17 << 20) + b'"}}\n')
    answer = service.answer()
    check(answer["error"]["code"] == 6, f"too large: {answer}")
    try:
        closed = service.file.readline() == b""
    except ConnectionError:
        closed = True
    check(closed, "closed behind a message that is too large")
    service.connect()
    service.call("kerf.status")


def nothing(service):
    """Backend none: coherence off, with the reason."""
    fill(service, "n", 14)
    plan = service.call("context.plan_eviction", session_id="n")
    fields("plan", plan, PLAN)
    fields("boundary", plan["boundary"], BOUNDARY)
    check(plan["cache_status"] == "full-re-prefill" and plan["verdict"] == "full-re-prefill", f"none: {plan['verdict']}")
    check(plan["exact"] is False and plan["boundary"]["pairs_with_cache"] is False, "none claims nothing")
    doctor = service.call("server.doctor")
    fields("doctor", doctor, DOCTOR)
    check(doctor["backend"] == "none" and doctor["simulated"] is False and doctor["reachable"] is False, "none")


def main():
    kerfd = sys.argv[1]
    failed = 0

    def run(service, part):
        nonlocal failed
        try:
            part(service)
            print(f"ok      {part.__name__}")
        except Failed as why:
            failed += 1
            print(f"FAILED  {part.__name__}: {why}")
            service.connect()

    embedded = Service(kerfd, "embedded", "--context-window", "4096")
    for part in (episodes, context, folds, transcripts, sessions, server, tools, framing):
        run(embedded, part)
    embedded.stop()
    none = Service(kerfd, "none", "--context-window", "4096")
    run(none, nothing)
    none.stop()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
