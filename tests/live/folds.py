#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Kerf contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folds and snapshots on real llama-servers of all memory kinds: the way back is proven by the next request.

    folds.py KERFD

Environment as for contract.py.
"""
import os
import sys

from contract import SKIPPED, Failed, Talk, World, check

KINDS = [("llama", ["-np", "1"]), ("gemma3", ["-np", "1", "-cms", "256"]), ("lfm2", ["-np", "1", "-cms", "256"]),
         ("mamba", ["-np", "1", "-cms", "256"])]


def settle(talk):
    """One turn; how much of it was reused."""
    talk.turn()
    return talk.last[2]["cache_n"]


def refused(world, code, method, **params):
    try:
        world.kerf.call(method, **params)
    except Failed as why:
        check('"code": %d' % code in str(why), "%s: %s" % (method, why))
        return str(why)
    raise Failed("%s was not refused" % method)


def fold(kerfd, model, flags):
    world = World(kerfd, model, flags)
    try:
        talk = Talk(world)
        for _ in range(5):
            talk.turn()
        opened = world.kerf.call("memory.fold", session_id="s", description="look for the bug", goal="its cause")
        check(opened["checkpoint"] and opened["checkpoint"]["kind"] == "fold_marker", opened)
        check(opened["token_position"] > 200, opened)
        check(world.kerf.call("kerf.status")["open_folds"] == 1, "open folds")
        inside = [talk.commit("user", "inside: " + talk.text())["episode_id"]]
        for _ in range(3):
            talk.turn()
        check(world.kerf.call("memory.get_episode", episode_id=inside[0])["fold_id"] == opened["fold_id"], "it belongs to the fold")
        before = world.kerf.call("session.get", session_id="s")["live_tokens"]
        closed = world.kerf.call("memory.unfold", fold_id=opened["fold_id"], result_summary="It was the retry loop.")
        after = world.kerf.call("session.get", session_id="s")["live_tokens"]
        check(closed["rollback_performed"] and not closed["rollback_proven"], closed)
        check(before - after == closed["tokens_reclaimed"] > 0, (before, after, closed))
        reused = settle(talk)
        check(reused >= opened["token_position"] - 8, "%s: %d of %d were reused: %s" % (model, reused, opened["token_position"], closed))
        trace = world.kerf.call("memory.recall_fold", fold_id=opened["fold_id"])
        check(trace["rollback_proven"] is True, "the next request proves it")
        texts = [row["content"] for row in trace["episodes"]]
        check(texts[0].startswith("inside: ") and len(texts) == 7, "the trace is not whole: %d" % len(texts))
        receipt = world.kerf.call("context.receipt", session_id="s")
        check(receipt["breakdown"]["fold_summaries"] > 0, receipt["breakdown"])
        check(sum(receipt["breakdown"].values()) == receipt["total_tokens"], "the parts do not add up")
        refused(world, 1, "memory.unfold", fold_id=opened["fold_id"], result_summary="again")
        refused(world, 2, "memory.unfold", fold_id=999, result_summary="x")
        print("%s: fold at %d, %s, %d reclaimed, %d reused" % (model, opened["token_position"], closed["rollback_method"], closed["tokens_reclaimed"], reused))
    finally:
        world.close(False)


def restart(kerfd, model, flags):
    world = World(kerfd, model, flags)
    try:
        talk = Talk(world)
        for _ in range(6):
            talk.turn()
        saved = world.kerf.call("session.snapshot", session_id="s")
        check(saved["tokens"] > 200 and os.path.getsize(world.dir + "/saves/" + saved["path"]) > 0, saved)
        talk.turn()
        world.server.kill()
        world.server.wait()
        world.start_server()
        for _ in range(100):
            if world.kerf.call("server.doctor", refresh=True)["reachable"]:
                break
        back = world.kerf.call("session.restore", path=saved["path"])
        check(back["tokens"] >= saved["tokens"] and back["proven"] is False, back)
        reused = settle(talk)
        check(reused >= saved["tokens"] - 8, "%s: %d of %d were reused" % (model, reused, saved["tokens"]))
        receipt = world.kerf.call("context.receipt", session_id="s")
        check(receipt["cache_status"] == "warm-restored", receipt["cache_status"])
        print("%s: killed, restored %d, %d reused" % (model, back["tokens"], reused))
        # Damaged, missing, foreign: told, and nothing is lost.
        path = world.dir + "/saves/" + saved["path"]
        with open(path, "r+b") as file:
            file.truncate(os.path.getsize(path) // 3)
        print("  damaged: " + refused(world, 1, "session.restore", path=saved["path"])[:150])
        os.unlink(path)
        print("  missing: " + refused(world, 1, "session.restore", path=saved["path"])[:150])
        print("  foreign: " + refused(world, 2, "session.restore", path="somebody-elses.bin")[:150])
        talk.turn()
        check(talk.last[2]["cache_n"] + talk.last[2]["prompt_n"] > 0, "the session goes on")
    finally:
        world.close(False)


def retention(kerfd):
    world = World(kerfd, "gemma3", ["-np", "1"])
    try:
        talk = Talk(world)
        talk.turn()
        opened = world.kerf.call("memory.fold", session_id="s", description="d", goal="g")
        with open(world.dir + "/saves/kerf-not-on-record.bin", "w") as file:
            file.write("x")
        for _ in range(7):
            talk.turn()
            world.kerf.call("session.snapshot", session_id="s")
        files = os.listdir(world.dir + "/saves")
        snapshots = [f for f in files if f.startswith("kerf-snapshot-")]
        check(len(snapshots) == 4, "4 are kept: %s" % snapshots)
        check(opened["checkpoint"]["file"] in files, "an open fold's save was deleted")
        check("kerf-not-on-record.bin" in files, "a file that is not on record was deleted")
        print("retention: %d of 8 snapshots, the open fold's save, the foreign file" % len(snapshots))
    finally:
        world.close(False)


def main():
    if not os.environ.get("KERF_LLAMA_SERVER") or not os.environ.get("KERF_MODELS"):
        print("SKIPPED: KERF_LLAMA_SERVER and KERF_MODELS are not set: folds were NOT checked on a real server")
        return SKIPPED
    try:
        for model, flags in KINDS:
            fold(sys.argv[1], model, flags)
            restart(sys.argv[1], model, flags)
        retention(sys.argv[1])
    except Failed as failure:
        print("FAILED: %s" % failure)
        return 1
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
