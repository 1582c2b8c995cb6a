#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Kerf contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kerfd doctor on servers that are set up in many ways: told right, as text and as JSON, with the right exit code.

    doctor.py KERFD

Environment as for contract.py.
"""
import json
import os
import subprocess
import sys
import time

from contract import SKIPPED, Failed, World, check, free_port


def doctor(kerfd, *arguments, env=None, code=0):
    """The JSON answer; the text form must begin with the three lines and agree."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("KERF_EVICTION", "SAKUR4_", "KERF_API", "KERF_SOCKET"))}
    keep.update(env or {})
    runs = []
    for more in ([], ["--json"]):
        run = subprocess.run([kerfd, "doctor", "--socket", "/nonexistent/kerf.sock", "--db", ":memory:", *more, *arguments],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=keep, timeout=60)
        check(run.returncode == code, "%s: exit code %d, wanted %d: %s" % (arguments, run.returncode, code, run.stderr.decode()[-300:]))
        check(b"secret" not in run.stdout + run.stderr, "the API key was printed")
        runs.append(run.stdout.decode())
    answer = json.loads(runs[1])
    lines = runs[0].splitlines()
    for i, (field, name) in enumerate((("capabilities_line", "capabilities"), ("coherence_line", "coherence"), ("eviction_line", "eviction"))):
        check(answer[field] in lines[i] or lines[i] in answer[field], "line %d is %r, wanted %r" % (i + 1, lines[i], answer[field]))
        check(name in lines[i].lower(), "line %d is not the %s line: %r" % (i + 1, name, lines[i]))
    return answer


def said(answer):
    return json.dumps(answer["advice"] + answer["notes"])


def world(kerfd, model, flags, **more):
    return World(kerfd, model, ["-np", "1", *flags], **more)


def full_attention(kerfd):
    w = world(kerfd, "llama", [])
    try:
        d = doctor(kerfd, "--backend", w.url)
        check(d["reachable"] and not d["simulated"] and d["backend"].startswith("llama-server"), d["backend"])
        check(d["memory"]["kind"] == "full_attention", d["memory"])
        check("gguf" in d["memory"]["evidence"] or "flags" in d["memory"]["evidence"], d["memory"])
        check(d["n_ctx"] == 8192 and d["slots"] == 1 and "11669" in d["build"] or d["build"], d["build"])
        c = d["capabilities"]
        check(all(c[name] for name in ("reachable", "slots", "slot_save", "slot_restore", "slot_erase", "tokenize", "props", "metrics")), c)
        check(not c["checkpoint_ring"] and not d["ring"]["visible"], "full attention has no ring")
        check("--server-log" not in said(d) or "not needed" in said(d), "full attention needs no log: " + said(d))
    finally:
        w.close(False)


def window(kerfd):
    w = world(kerfd, "gemma3", ["-cms", "256"])
    try:
        w.post("/completion", {"prompt": "hello " * 900, "n_predict": 4})
        w.post("/completion", {"prompt": "hello " * 900 + "and then some more of it", "n_predict": 4})
        d = doctor(kerfd, "--backend", w.url, "--server-log", w.dir + "/server.log")
        check(d["memory"]["kind"] == "checkpointed" and "log" in d["memory"]["evidence"], d["memory"])
        check(d["ring"]["visible"] and d["ring"]["source"] == "log" and d["ring"]["entries"], d["ring"])
        check(all(e["position"] > 0 and e["slot_id"] == 0 for e in d["ring"]["entries"]), d["ring"])
        d = doctor(kerfd, "--backend", w.url)
        check(d["memory"]["kind"] == "checkpointed" and not d["ring"]["visible"] and not d["ring"]["entries"], d["ring"])
        check("--server-log" in said(d) and "-lv 4" in said(d), "how to make the ring visible: " + said(d))
    finally:
        w.close(False)


def no_slots(kerfd):
    w = world(kerfd, "llama", ["--no-slots"])
    try:
        d = doctor(kerfd, "--backend", w.url)
        check(d["reachable"] and not d["capabilities"]["slots"], d["capabilities"])
        check("--no-slots" in said(d) or "--slots" in said(d), said(d))
    finally:
        w.close(False)


def no_save_path(kerfd):
    w = world(kerfd, "llama", [])
    try:
        w.server.terminate()
        w.server.wait()
        at = w.server_command.index("--slot-save-path")
        del w.server_command[at:at + 2]
        w.start_server()
        d = doctor(kerfd, "--backend", w.url)
        check(not d["capabilities"]["slot_save"], d["capabilities"])
        check("--slot-save-path" in said(d), said(d))
    finally:
        w.close(False)


def api_key(kerfd):
    w = world(kerfd, "llama", ["--api-key", "secret-4711"])
    try:
        d = doctor(kerfd, "--backend", w.url, code=3)
        check("API key" in json.dumps(d) and "KERF_API_KEY" in said(d), said(d))
        check(not d["capabilities"]["tokenize"], d["capabilities"])
        d = doctor(kerfd, "--backend", w.url, env={"KERF_API_KEY": "secret-4711"})
        check(d["capabilities"]["tokenize"] and d["capabilities"]["slots"], d["capabilities"])
        with open(w.dir + "/key", "w") as file:
            file.write("secret-4711\n")
        d = doctor(kerfd, "--backend", w.url, "--api-key-file", w.dir + "/key")
        check(d["capabilities"]["tokenize"], d["capabilities"])
        d = doctor(kerfd, "--backend", w.url, env={"KERF_API_KEY": "secret-wrong"}, code=3)
        check("API key" in json.dumps(d), said(d))
    finally:
        w.close(False)


def nothing_there(kerfd):
    d = doctor(kerfd, "--backend", "http://127.0.0.1:%d" % free_port(), code=3)
    check(not d["reachable"] and not d["simulated"], "a URL never turns into the simulation")
    check(d["resolved"] != "embedded", d["resolved"])
    check("refused" in json.dumps(d).lower(), "why it is not there")


def killed(kerfd):
    w = world(kerfd, "gemma3", ["-cms", "256"])
    try:
        def reachable(wanted):
            for _ in range(150):
                d = w.kerf.call("server.doctor")
                if d["reachable"] == wanted:
                    return d
                time.sleep(0.2)
            raise Failed("reachable never became %s" % wanted)
        reachable(True)
        w.server.kill()
        w.server.wait()
        d = reachable(False)
        check(not d["simulated"] and "embedded" not in d["resolved"], "it turned into the simulation")
        w.start_server()
        d = reachable(True)
        check(d["memory"]["kind"] == "checkpointed" and d["capabilities"]["tokenize"], d["memory"])
    finally:
        w.close(False)


def none(kerfd):
    d = doctor(kerfd, "--backend", "none")
    check(d["backend"] == "none" and not d["reachable"] and not d["simulated"] and d["memory"]["kind"] == "unknown", d["backend"])


def embedded(kerfd):
    d = doctor(kerfd, "--backend", "embedded")
    check(d["simulated"] and d["reachable"] and d["resolved"] == "embedded", d["resolved"])
    check("simulated" in d["capabilities_line"] + d["coherence_line"] + d["eviction_line"], d["coherence_line"])


def main():
    parts = (none, embedded, nothing_there)
    live = (full_attention, window, no_slots, no_save_path, api_key, killed)
    skip = not os.environ.get("KERF_LLAMA_SERVER") or not os.environ.get("KERF_MODELS")
    failed = 0
    for part in parts if skip else parts + live:
        try:
            part(sys.argv[1])
            print("ok      " + part.__name__)
        except Failed as failure:
            failed += 1
            print("FAILED  %s: %s" % (part.__name__, failure))
    if skip and not failed:
        print("SKIPPED: KERF_LLAMA_SERVER and KERF_MODELS are not set: doctor was NOT checked on real servers")
        return SKIPPED
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
