#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Kerf contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract on a real llama-server: what Kerf predicted against what the server measured.

    contract.py CASE KERFD      e.g. contract.py gemma3 build/bin/kerfd

Starts a server with a tiny model and kerfd beside it, plays a harness over the socket, and checks every prediction.
KERF_LLAMA_SERVER names the server's binary, KERF_MODELS the folder with the models; without them the case is
skipped (status 77). Only the Python standard library is needed.
"""
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

SKIPPED = 77
WORDS = ("the of and to in is that for it as was with be by on not he his but at are this have from or had an they "
         "which one you were her all she there would their we him been has when who will more no if out so said what "
         "up its about into than them can only other new some could time these two may then do first any my now such "
         "like our over man me even most made after also did many before must through back years where much your way "
         "well down should because each just those people how too little state good very make world still own see "
         "work long get here between both life being under never day same another know while last might us great old "
         "year off come since against go came right used take three").split()
CHATML = ("{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}"
          "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
ALTERNATING = ("{% set ns = namespace(want='user') %}{% for m in messages %}{% if m.role == 'system' %}{% if not loop.first %}"
               "{{ raise_exception('system only first') }}{% endif %}{% else %}{% if m.role != ns.want %}"
               "{{ raise_exception('roles must alternate') }}{% endif %}{% set ns.want = 'assistant' if m.role == 'user' else 'user' %}"
               "{% endif %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}"
               "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
TOOLS_TEMPLATE = ("{% if tools %}{{ '<|im_start|>system\\n' }}{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}"
                  "{{ '\\n\\n# Tools\\n<tools>' }}{% for tool in tools %}{{ '\\n' }}{{ tool | tojson }}{% endfor %}{{ '\\n</tools><|im_end|>\\n' }}"
                  "{% elif messages[0].role == 'system' %}{{ '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}{% endif %}"
                  "{% for m in messages %}{% if m.role == 'user' or (m.role == 'assistant' and not m.tool_calls) %}"
                  "{{ '<|im_start|>' + m.role + '\\n' + (m.content or '') + '<|im_end|>\\n' }}{% elif m.role == 'assistant' %}"
                  "{{ '<|im_start|>assistant' }}{% if m.content %}{{ '\\n' + m.content }}{% endif %}{% for c in m.tool_calls %}"
                  "{{ '\\n<tool_call>\\n{\"name\": \"' + c.function.name + '\", \"arguments\": ' }}{{ c.function.arguments | tojson }}"
                  "{{ '}\\n</tool_call>' }}{% endfor %}{{ '<|im_end|>\\n' }}{% elif m.role == 'tool' %}"
                  "{{ '<|im_start|>user\\n<tool_response>\\n' + m.content + '\\n</tool_response><|im_end|>\\n' }}{% endif %}{% endfor %}"
                  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
TOOLS = [{"type": "function", "function": {"name": name, "description": "A tool for " + name,
                                            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}}
         for name in ("read_file", "list_files", "run_tests")]


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failed(what)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Kerf:
    """One connection to kerfd: a JSON-RPC message a line."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)
        self.file = self.sock.makefile("rwb")
        self.count = 0

    def call(self, method, **params):
        self.count += 1
        self.file.write((json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}) + "\n").encode())
        self.file.flush()
        answer = json.loads(self.file.readline())
        check(answer.get("id") == self.count, "answers came out of order")
        if "error" in answer:
            raise Failed("%s: %s" % (method, json.dumps(answer["error"])))
        return answer["result"]


class World:
    """A real server and a real kerfd, in a folder of their own."""

    def __init__(self, kerfd, model, flags=(), kerf_flags=(), log=True, window=8192):
        self.dir = tempfile.mkdtemp(prefix="kerf-live-")
        os.mkdir(self.dir + "/saves")
        self.port = free_port()
        self.url = "http://127.0.0.1:%d" % self.port
        binary, models = os.environ["KERF_LLAMA_SERVER"], os.environ["KERF_MODELS"]
        self.log = open(self.dir + "/server.log", "wb")
        self.server_command = [binary, "-m", "%s/%s.gguf" % (models, model), "--port", str(self.port), "-c", str(window), "-lv", "4",
                               "--slot-save-path", self.dir + "/saves/", "--metrics", *flags]
        self.start_server()
        self.socket = self.dir + "/kerf.sock"
        command = [kerfd, "serve", "--socket", self.socket, "--db", self.dir + "/kerf.db", "--backend", self.url, *kerf_flags]
        if log:
            command += ["--server-log", self.dir + "/server.log"]
        self.kerfd = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=open(self.dir + "/kerfd.err", "wb"))
        line = self.kerfd.stdout.readline().decode()
        check(line.startswith("listening on "), "kerfd said %r" % line)
        self.kerf = Kerf(self.socket)

    def start_server(self):
        self.server = subprocess.Popen(self.server_command, stdout=self.log, stderr=subprocess.STDOUT)
        for _ in range(300):
            try:
                if urllib.request.urlopen(self.url + "/health", timeout=2).status == 200:
                    return
            except OSError:
                time.sleep(0.1)
        raise Failed("llama-server did not come up; see %s/server.log" % self.dir)

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        try:
            return json.load(urllib.request.urlopen(request, timeout=300))
        except urllib.error.HTTPError as error:
            raise Failed("%s: HTTP %d %s" % (path, error.code, error.read().decode()[:300]))

    def close(self, keep):
        for process in (self.kerfd, self.server):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        if not keep and not os.environ.get("KERF_KEEP"):
            shutil.rmtree(self.dir, ignore_errors=True)


class Talk:
    """A harness that plays one conversation, turn by turn, and keeps the books."""

    def __init__(self, world, session="s", seed=1, window=4096, tools=None, sizes=(20, 120), replies=0, ids=False, slot=None):
        self.w, self.k, self.session, self.random = world, world.kerf, session, random.Random(seed)
        self.sizes, self.replies, self.ids, self.slot = sizes, replies, ids, slot
        self.turns, self.in_range, self.compactions, self.misses, self.target_missed = 0, 0, [], [], []
        self.altered = None
        config = {"context_window": window}
        if tools:
            config["tools"] = tools
        self.k.call("session.configure", session_id=session, **config)
        self.commit("system", "You are a careful assistant for " + session + ". " + self.text(60))

    def text(self, words=None):
        return " ".join(self.random.choice(WORDS) for _ in range(words or self.random.randint(*self.sizes)))

    def commit(self, role, content, **more):
        return self.k.call("memory.commit_episode", session_id=self.session, role=role, content=content, **more)

    def request(self):
        s = self.session
        plan = self.k.call("context.plan_eviction", session_id=s, apply=True, **({"slot_id": self.slot} if self.slot is not None else {}))
        check(plan["pressure"] != "anchor_overflow", "anchor overflow")
        if plan["applied"]:
            # The prediction was stored before the plan was answered.
            newest = self.k.call("context.compactions", session_id=s, limit=1)["compactions"][0]
            check(newest["plan_id"] == plan["plan_id"] and newest["predicted_at"], "the prediction is not stored")
            check(newest["outcome"] == "waiting", "outcome before the request: " + newest["outcome"])
        a = self.k.call("context.assemble", session_id=s, **({"slot_id": self.slot} if self.slot is not None else {}))
        check(a["exact"], "counts are not exact")
        messages = self.altered(a["messages"]) if self.altered else a["messages"]
        body = {"messages": messages, "max_tokens": max(1, self.replies), "cache_prompt": True, "seed": self.turns}
        if a["tools"]:
            body["tools"] = a["tools"]
        if self.ids:
            body["logprobs"] = True
        if self.slot is not None:
            body["id_slot"] = self.slot
        answer = self.w.post("/v1/chat/completions", body)
        t = answer["timings"]
        more = {"slot_id": self.slot} if self.slot is not None else {}
        done = self.k.call("context.record_timings", session_id=s, cache_n=t["cache_n"], prompt_n=t["prompt_n"], prompt_ms=t["prompt_ms"],
                           predicted_n=t.get("predicted_n", 0), **more)
        if not self.altered:
            check(t["cache_n"] + t["prompt_n"] == a["prompt_tokens"], "the server counted %d tokens, Kerf %d" % (t["cache_n"] + t["prompt_n"], a["prompt_tokens"]))
        self.turns += 1
        inside = a["predicted_reuse_low"] <= t["cache_n"] <= a["predicted_reuse_high"] or abs(t["cache_n"] - a["predicted_reuse"]) <= 8
        self.in_range += inside
        if plan["applied"]:
            b = plan["boundary"]
            fits = b["predicted_reuse_low"] <= t["cache_n"] <= b["predicted_reuse_high"] or abs(t["cache_n"] - b["predicted_reuse"]) <= 8
            self.compactions.append({"turn": self.turns, "plan": plan, "measured": t["cache_n"], "prefilled": t["prompt_n"], "settled": done, "fits": fits})
            if not fits:
                self.misses.append((self.turns, b["predicted_reuse"], t["cache_n"], done["cause"]))
                check(done["cause"], "a miss without a cause at turn %d" % self.turns)
            if plan["target_missed"]:
                self.target_missed.append((self.turns, plan["target_missed"], plan["notes"]))
        self.last = (plan, a, t, done)
        return answer

    def turn(self):
        self.commit("user", self.text())
        answer = self.request()
        if self.replies > 1:
            more = {}
            probabilities = answer["choices"][0].get("logprobs")
            if self.ids and probabilities:
                more["generated_tokens"] = [token["id"] for token in probabilities["content"]]
            self.commit("assistant", answer["choices"][0]["message"].get("content") or "", **more)
        else:
            self.commit("assistant", self.text())

    def until(self, compactions, most_turns):
        while len(self.compactions) < compactions and self.turns < most_turns:
            self.turn()
        return self

    def stats(self):
        return self.k.call("context.receipt", session_id=self.session)["stats"]

    def table(self, name):
        s = self.stats()
        print("%s: %d turns, %d compactions, %d misses %s, turns in range %.1f %%, target missed %d, amplification measured %.3f predicted %.3f"
              % (name, self.turns, len(self.compactions), len(self.misses), self.misses, 100.0 * self.in_range / self.turns,
                 len(self.target_missed), s["prefill_amplification"], s["predicted_prefill_amplification"]))
        return s

    def contract(self, name, least_compactions, least_share=0.97):
        s = self.table(name)
        check(len(self.compactions) >= least_compactions, "%d compactions, %d wanted" % (len(self.compactions), least_compactions))
        check(len(self.misses) <= 1, "misses: %s" % self.misses)
        check(self.in_range >= least_share * self.turns, "%d of %d turns were predicted" % (self.in_range, self.turns))
        check(len(self.target_missed) <= 0.1 * len(self.compactions), "target missed: %s" % self.target_missed)
        gaps = [b["turn"] - a["turn"] for a, b in zip(self.compactions, self.compactions[1:])]
        check(not gaps or min(gaps) >= 2, "compactions %s turns apart" % min(gaps, default=0))
        check(abs(s["prefill_amplification"] - s["predicted_prefill_amplification"]) <= 0.1 * s["prefill_amplification"], "amplification")
        check(s["measured_reuse_share"] is not None, "no measured share")
        return s


def checkpointed(kerfd, model):
    world = World(kerfd, model, ["-np", "1", "-cms", "256", "-ctxcp", "16"])
    try:
        doctor = world.kerf.call("server.doctor")
        check(doctor["memory"]["kind"] == "checkpointed", doctor["memory"])
        check(doctor["ring"]["visible"], doctor["coherence_line"])
        Talk(world).until(30, 200).contract(model, 30)
    finally:
        world.close(False)


def case_llama(kerfd):
    world = World(kerfd, "llama", ["-np", "1"])
    try:
        check(world.kerf.call("server.doctor")["memory"]["kind"] == "full_attention", "memory kind")
        Talk(world).until(30, 200).contract("llama", 30)
    finally:
        world.close(False)


def case_llama_chunk(kerfd):
    world = World(kerfd, "llama", ["-np", "1", "--cache-reuse", "64"])
    try:
        check(world.kerf.call("server.doctor")["chunk_reuse"] == 64, "chunk reuse is not known from the command line")
        stats = Talk(world).until(30, 200).contract("llama --cache-reuse 64", 30)
        check(stats["prefill_amplification"] <= 1.10, "amplification %.3f" % stats["prefill_amplification"])
    finally:
        world.close(False)


def case_gemma3(kerfd):
    checkpointed(kerfd, "gemma3")


def case_lfm2(kerfd):
    checkpointed(kerfd, "lfm2")


def case_mamba(kerfd):
    checkpointed(kerfd, "mamba")


def case_without_log(kerfd):
    world = World(kerfd, "gemma3", ["-np", "1", "-cms", "256", "-ctxcp", "16"], log=False)
    try:
        doctor = world.kerf.call("server.doctor")
        check(not doctor["ring"]["visible"], "the ring cannot be visible")
        check(any("--server-log" in line for line in doctor["advice"]), doctor["advice"])
        talk = Talk(world, seed=2)
        talk.k.call("profile.set", session_id="s", name="cache-first")
        talk.until(3, 60)
        talk.table("gemma3 without the log")
        for row in talk.compactions:
            plan = row["plan"]
            check(plan["cache_status"] == "prefix-preserved" and plan["verdict"] == "prefix-preserved", plan["cache_status"])
            check(not plan["boundary"]["pairs_with_cache"], "a claim without evidence")
            check(row["fits"], "outside the range that was stated")
        check(talk.stats()["claimed_reuse_share"] == 0, "claimed share")
    finally:
        world.close(False)


def case_altered_prompt(kerfd):
    world = World(kerfd, "llama", ["-np", "1"])
    try:
        talk = Talk(world, seed=3)
        for _ in range(3):
            talk.turn()
        before = talk.stats()
        talk.altered = lambda messages: messages[:-1] + [dict(messages[-1], content=messages[-1]["content"] + " and more words of the harness")]
        talk.turn()
        done = talk.last[3]
        check(done["settlement"] == "none" and done["cause"] == "prompt-altered", done)
        after = talk.stats()
        check(after["requests"] == before["requests"] and after["requests_altered"] == 1, "an altered prompt was counted")
        check(after["prefill_tokens"] == before["prefill_tokens"], "an altered prompt was counted")
    finally:
        world.close(False)


def case_two_conversations(kerfd):
    world = World(kerfd, "llama")  # default flags: four slots, one unified KV
    try:
        talks = [Talk(world, "a", 4), Talk(world, "b", 5)]
        for _ in range(8):
            for talk in talks:
                talk.turn()
        for talk in talks:
            talk.table("taking turns, free: " + talk.session)
            check(talk.in_range >= talk.turns - 1, "%d of %d predicted" % (talk.in_range, talk.turns))
        pinned = [Talk(world, "c", 6, slot=0), Talk(world, "d", 7, slot=1)]
        for _ in range(4):
            for talk in pinned:
                talk.turn()
        for talk in pinned:
            talk.table("taking turns, pinned: " + talk.session)
            plan, assembled, timings, done = talk.last
            check(timings["cache_n"] <= 8, "the server kept a pinned slot: %d" % timings["cache_n"])
            check(abs(assembled["predicted_reuse"] - timings["cache_n"]) <= 8, "the loss was not predicted: %d" % assembled["predicted_reuse"])
            check("slot" in assembled["reason"], assembled["reason"])
    finally:
        world.close(False)


def template_case(kerfd, template, tools, name):
    folder = tempfile.mkdtemp(prefix="kerf-template-")
    with open(folder + "/t.jinja", "w") as out:
        out.write(template)
    world = World(kerfd, "llama", ["-np", "1", "--jinja", "--chat-template-file", folder + "/t.jinja"])
    try:
        talk = Talk(world, seed=8, tools=tools)
        while len(talk.compactions) < 6 and talk.turns < 120:
            if tools and talk.turns % 3 == 1:
                talk.commit("user", talk.text())
                talk.request()
                call = "call-%d" % talk.turns
                talk.commit("assistant", None, tool_calls=[{"id": call, "name": "read_file", "arguments": json.dumps({"path": "src/%d.cpp" % talk.turns})}])
                talk.commit("tool", talk.text(), tool_call_id=call)
                talk.request()
                talk.commit("assistant", talk.text())
            else:
                talk.turn()
        talk.contract(name, 6)
    finally:
        world.close(False)
        shutil.rmtree(folder, ignore_errors=True)


def case_template_tools(kerfd):
    template_case(kerfd, TOOLS_TEMPLATE, TOOLS, "tools")


def case_fixture_template(kerfd):
    """The recorded harnesses' own template, where the fixtures are there."""
    path = os.path.join(os.environ.get("KERF_FIXTURES", "/nonexistent"), "transcripts/requests/template.jinja")
    if not os.path.exists(path):
        raise Skipped("KERF_FIXTURES names no folder with transcripts/requests/template.jinja")
    with open(path) as file:
        template_case(kerfd, file.read(), TOOLS, "the fixtures' template, tools")


def case_alternating(kerfd):
    template_case(kerfd, ALTERNATING, None, "alternating roles")


def case_long_replies(kerfd):
    world = World(kerfd, "gemma3", ["-np", "1", "-cms", "256", "-ctxcp", "16"])
    try:
        Talk(world, "with-ids", 9, replies=200, ids=True, sizes=(20, 60)).until(4, 40).contract("replies of up to 200, ids handed over", 4)
        Talk(world, "without-ids", 10, replies=200, sizes=(20, 60)).until(2, 25).contract("replies of up to 200, no ids", 2)
    finally:
        world.close(False)


def case_huge_tool_result(kerfd):
    world = World(kerfd, "llama", ["-np", "1"])
    try:
        talk = Talk(world, seed=11)
        for _ in range(6):
            talk.turn()
        talk.commit("user", "read the big one")
        talk.request()
        talk.commit("assistant", "reading", tool_calls=[{"id": "big", "name": "read_file", "arguments": "{}"}])
        size = 0
        words = []
        while size < 2457:  # 60 % of the window
            words.append(talk.text(100))
            size = len(world.post("/tokenize", {"content": " ".join(words)})["tokens"])
        talk.commit("tool", " ".join(words), tool_call_id="big")
        talk.request()
        talk.commit("assistant", talk.text())
        for _ in range(12):
            talk.turn()
        talk.table("a tool result of 60 % of the window")
        check(talk.in_range == talk.turns, "a prediction missed")
        check(talk.compactions, "nothing was evicted")
    finally:
        world.close(False)


def case_pins(kerfd):
    world = World(kerfd, "gemma3", ["-np", "1", "-cms", "256", "-ctxcp", "16"])
    try:
        talk = Talk(world, seed=12)
        talk.k.call("memory.pin", session_id="s", content="Never touch port.h.", kind="safety_constraint")
        pinned = None
        for turn in range(70):
            talk.turn()
            if turn == 8:
                talk.k.call("memory.pin", session_id="s", content="The retry limit is 3, as the user said.", kind="user_correction")
            if turn == 15:
                pinned = talk.commit("user", "Keep this one: the port is 8081.")["episode_id"]
                talk.k.call("memory.pin", session_id="s", episode_id=pinned)
                talk.request()
                talk.commit("assistant", talk.text())
            sent = json.dumps(talk.last[1]["messages"])
            check("Never touch port.h." in sent, "a pin was lost")
            check(turn <= 9 or "The retry limit is 3" in sent, "a pin of mid-session was lost at turn %d" % turn)
            check(turn <= 15 or "the port is 8081" in sent, "a pinned episode was lost")
        talk.table("pins made in mid-session")
        check(len(talk.compactions) >= 5 and len(talk.misses) <= 1, talk.misses)
        check(talk.in_range >= 0.97 * talk.turns, "predictions")
    finally:
        world.close(False)


def case_500_turns(kerfd):
    world = World(kerfd, "lfm2", ["-np", "1", "-cms", "256", "-ctxcp", "16"])
    try:
        Talk(world, seed=13).until(10_000, 500).contract("500 turns", 60)
    finally:
        world.close(False)


def case_restart(kerfd):
    world = World(kerfd, "llama", ["-np", "1"])
    try:
        talk = Talk(world, seed=14)
        for _ in range(3):
            talk.turn()
        world.server.kill()
        world.server.wait()
        for _ in range(100):
            if not world.kerf.call("server.doctor")["reachable"]:
                break
            time.sleep(0.1)
        doctor = world.kerf.call("server.doctor")
        check(not doctor["reachable"] and not doctor["simulated"], doctor["coherence_line"])
        world.start_server()
        for _ in range(300):
            if world.kerf.call("server.doctor")["reachable"]:
                break
            time.sleep(0.1)
        check(world.kerf.call("server.doctor")["reachable"], "the server came back unnoticed")
        talk.turn()
        check(talk.last[1]["predicted_reuse"] == 0 and talk.last[2]["cache_n"] == 0, "what a dead server held was claimed: %s" % talk.last[1]["reason"])
        talk.turn()
        check(abs(talk.last[1]["predicted_reuse"] - talk.last[2]["cache_n"]) <= 8, "not predicted after the restart")
    finally:
        world.close(False)


def main():
    cases = {name[5:]: function for name, function in globals().items() if name.startswith("case_")}
    if len(sys.argv) != 3 or sys.argv[1] not in cases:
        print(__doc__, file=sys.stderr)
        print("cases: " + " ".join(cases), file=sys.stderr)
        return 2
    if not os.environ.get("KERF_LLAMA_SERVER") or not os.environ.get("KERF_MODELS"):
        print("SKIPPED: KERF_LLAMA_SERVER and KERF_MODELS are not set: the live contract was NOT checked")
        return SKIPPED
    try:
        cases[sys.argv[1]](sys.argv[2])
    except Failed as failure:
        print("FAILED: %s" % failure)
        return 1
    except Skipped as why:
        print("SKIPPED: %s" % why)
        return SKIPPED
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
