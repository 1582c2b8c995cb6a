#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Kerf contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""server.calibrate on real llama-servers: what they are, found by experiment alone.

    calibration.py KERFD

The names of the models are changed (a dense one is called gemma3-distill-llama, a recurrent one assistant), and no log
is given. Environment as for contract.py.
"""
import json
import os
import shutil
import sys
import tempfile
import threading
import time

from contract import SKIPPED, Failed, Talk, World, check

#       name                    model     flags                                memory            chunks  restore
CASES = [
    ("dense",                   "llama",  ["-np", "1"],                         "full_attention", 0,      True),
    ("dense, --cache-reuse 64", "llama",  ["-np", "1", "--cache-reuse", "64"],  "full_attention", 64,     True),
    ("window",                  "gemma3", ["-np", "1", "-cms", "256"],          "checkpointed",   None,   True),
    ("hybrid",                  "lfm2",   ["-np", "1", "-cms", "256"],          "checkpointed",   None,   True),
    ("recurrent",               "mamba",  ["-np", "1", "-cms", "256"],          "checkpointed",   None,   True),
    ("window, --swa-full",      "gemma3", ["-np", "1", "--swa-full"],           "full_attention", 0,      True),
    ("window, -ctxcp 0",        "gemma3", ["-np", "1", "-ctxcp", "0"],          "checkpointed",   None,   True),
    ("recurrent, -ctxcp 0",     "mamba",  ["-np", "1", "-ctxcp", "0"],          "checkpointed",   None,   True),
    ("--no-cache-prompt",       "llama",  ["-np", "1", "--no-cache-prompt"],    "unknown",        None,   None),
]


def calibrate(world, **params):
    found = world.kerf.call("server.calibrate", consent=True, **params)
    for step in found["steps"]:
        check(step["concluded"], "a step without a conclusion: %s" % step)
    check(not found["simulated"], "a real server is not simulated")
    return found


def kinds(kerfd):
    for name, model, flags, memory, chunks, restore in CASES:
        world = World(kerfd, NAMES[model], flags, log=False, window=32768)
        try:
            asked = world.kerf.call("server.calibrate", dry_run=True)["plan"]
            check(asked["requests_at_most"] > 0 and asked["tokens_at_most"] > 0, "the question says nothing")
            found = calibrate(world)
            print("%-24s %-15s grain %-5s chunks %-5s restore %-5s %s" % (
                name, found["memory_kind"], found["rewind_grain_tokens"], found["chunk_reuse"], found["restore_holds"], found["summary"]))
            check(found["memory_kind"] == memory, "%s: %s, wanted %s\n%s" % (name, found["memory_kind"], memory, json.dumps(found["steps"], indent=1)))
            check(found["chunk_reuse"] == chunks, "%s: chunk reuse %s" % (name, found["chunk_reuse"]))
            check(found["restore_holds"] == restore, "%s: restore %s" % (name, found["restore_holds"]))
            check(found["prompt_cache_off"] == ("--no-cache-prompt" in flags), "%s: prompt cache" % name)
            sent = [s for s in found["steps"] if s["reused"] is not None]
            check(len(sent) <= asked["requests_at_most"], "more requests than were announced")
            check(sum(s["prefilled"] for s in sent) <= asked["tokens_at_most"], "more tokens than were announced")
            check(not os.listdir(world.dir + "/saves"), "%s: a save file was left behind" % name)
            if memory != "unknown":
                doctor = world.kerf.call("server.doctor")["memory"]
                check(doctor["kind"] == memory and doctor["confidence"] == "measured", "%s: doctor says %s" % (name, doctor))
        finally:
            world.close(False)


def busy_neighbour(kerfd):
    world = World(kerfd, NAMES["llama"], ["-np", "2"], log=False, window=32768)
    try:
        body = {"prompt": "hello " * 500, "n_predict": 15000, "id_slot": 0, "ignore_eos": True}
        threading.Thread(target=lambda: quietly(world, body), daemon=True).start()
        for _ in range(100):
            if any(s.get("busy") for s in world.kerf.call("server.slots")["slots"]):
                break
            time.sleep(0.05)
        found = calibrate(world)
        check(found["slot_id"] == 1, "the busy slot was taken")
        check(found["memory_kind"] == "full_attention", found["memory_kind"])
        print("-np 2, one busy: slot %d, %s" % (found["slot_id"], found["memory_kind"]))
    finally:
        world.close(False)


def quietly(world, body):
    try:
        world.post("/completion", body)
    except (Failed, OSError):
        pass


def claims(kerfd):
    """Afterwards, with no log: on full attention reuse is claimed and confirmed."""
    world = World(kerfd, NAMES["llama"], ["-np", "1"], log=False)
    try:
        calibrate(world)
        talk = Talk(world).until(6, 80)
        talk.contract("dense, calibrated, no log", 6, 0.99)
        check(talk.stats()["claimed_reuse_share"] == 1.0, "claimed share: %s" % talk.stats())
    finally:
        world.close(False)
    world = World(kerfd, NAMES["mamba"], ["-np", "1", "-cms", "256"], log=False)
    try:
        calibrate(world)
        talk = Talk(world).until(3, 60)
        talk.table("recurrent, calibrated, no log")
        for row in talk.compactions:
            check(row["fits"], "outside the range that was stated")
    finally:
        world.close(False)


def consent(kerfd):
    world = World(kerfd, NAMES["gemma3"], ["-np", "1"], log=False)
    try:
        try:
            world.kerf.call("server.calibrate")
        except Failed as why:
            check("consent" in str(why) and "only slot" in str(why), "what it costs is not said: %s" % why)
        else:
            raise Failed("it began without consent")
        check(all(not s.get("tokens") for s in world.kerf.call("server.slots")["slots"]), "something was sent")
    finally:
        world.close(False)


NAMES = {"llama": "gemma3-distill-llama", "mamba": "assistant", "gemma3": "plain", "lfm2": "dense-chat"}


def main():
    if not os.environ.get("KERF_LLAMA_SERVER") or not os.environ.get("KERF_MODELS"):
        print("SKIPPED: KERF_LLAMA_SERVER and KERF_MODELS are not set: calibration was NOT checked on a real server")
        return SKIPPED
    models = tempfile.mkdtemp(prefix="kerf-names-")
    for model, name in NAMES.items():
        os.symlink(os.path.abspath("%s/%s.gguf" % (os.environ["KERF_MODELS"], model)), "%s/%s.gguf" % (models, name))
    os.environ["KERF_MODELS"] = models
    try:
        for part in (consent, kinds, busy_neighbour, claims):
            part(sys.argv[1])
    except Failed as failure:
        print("FAILED: %s" % failure)
        return 1
    finally:
        shutil.rmtree(models)
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
