#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Kerf contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 of kerfd in the middle of 10,000 commits: what was acknowledged is there, nothing is there twice.

    kill.py KERFD [COMMITS]

A harness commits over the socket without waiting for each answer, kerfd is killed again and again at random moments,
and after each restart the harness sends again what was not acknowledged (the same client_ref is one episode). Needs no
llama-server.
"""
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

IN_FLIGHT = 100
KILLS = 8


def start(kerfd, folder):
    path = os.path.join(folder, "s")
    process = subprocess.Popen([kerfd, "serve", "--socket", path, "--db", os.path.join(folder, "kerf.db"), "--backend", "none"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if not process.stdout.readline().startswith(b"listening on "):
        raise SystemExit("FAILED: kerfd did not come up after a kill")
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    return process, client, client.makefile("rb")


def ask(client, reader, method, params):
    client.sendall((json.dumps({"jsonrpc": "2.0", "id": 0, "method": method, "params": params}) + "\n").encode())
    return json.loads(reader.readline())["result"]


def text(i):
    return "Turn %d: the build is green again after the retry loop moved." % i


def main():
    kerfd, total = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    folder = tempfile.mkdtemp(prefix="kerf-kill-")
    os.chmod(folder, 0o700)
    seen = random.Random(7)
    acknowledged = {}  # ref number -> episode id, as answered
    kills = lost = 0
    process, client, reader = start(kerfd, folder)
    while len(acknowledged) < total:
        todo = [i for i in range(total) if i not in acknowledged]
        if kills < KILLS:
            # Somewhere in the next stretch, while answers are under way.
            left = threading.Timer(seen.uniform(0.05, 1.5), process.kill)
            left.start()
        sent = []
        try:
            at = 0
            while at < len(todo) or sent:
                while at < len(todo) and len(sent) < IN_FLIGHT:
                    i = todo[at]
                    client.sendall((json.dumps({"jsonrpc": "2.0", "id": i, "method": "memory.commit_episode", "params": {
                        "session_id": "k", "role": "user", "content": text(i), "client_ref": "ref-%d" % i}}) + "\n").encode())
                    sent.append(i)
                    at += 1
                line = reader.readline()
                if not line.endswith(b"\n"):
                    raise ConnectionError
                answer = json.loads(line)
                if "error" in answer:
                    raise SystemExit("FAILED: " + line.decode())
                acknowledged[answer["id"]] = answer["result"]["episode_id"]
                sent.remove(answer["id"])
        except (ConnectionError, BrokenPipeError):
            pass
        if process.poll() is None and len(acknowledged) == total:
            break
        process.wait()
        kills += 1
        process, client, reader = start(kerfd, folder)
        # Everything that was acknowledged, and at most what was in flight beside it.
        rows = ask(client, reader, "session.get", {"session_id": "k"})
        if rows["episodes"] < len(acknowledged) or rows["episodes"] > len(acknowledged) + len(sent):
            raise SystemExit("FAILED: after kill %d there are %d episodes, %d were acknowledged, %d in flight"
                             % (kills, rows["episodes"], len(acknowledged), len(sent)))
        lost += len(sent)
    if kills < 3:
        raise SystemExit("FAILED: only %d kills hit" % kills)
    found, next_seq = {}, 1
    while True:
        page = ask(client, reader, "session.episodes", {"session_id": "k", "from_seq": next_seq, "limit": 1000})["episodes"]
        if not page:
            break
        for row in page:
            if row["seq"] != next_seq:
                raise SystemExit("FAILED: seq %d follows %d" % (row["seq"], next_seq - 1))
            found[row["episode_id"]] = row
            next_seq += 1
    if len(found) != total or set(found) != set(acknowledged.values()):
        raise SystemExit("FAILED: %d episodes for %d commits, %d of the acknowledged are missing"
                         % (len(found), total, len(set(acknowledged.values()) - set(found))))
    for i in seen.sample(range(total), 200):
        got = ask(client, reader, "memory.get_episode", {"episode_id": acknowledged[i]})
        if got["content"] != text(i):
            raise SystemExit("FAILED: episode %d has another text" % acknowledged[i])
    process.terminate()
    process.wait()
    shutil.rmtree(folder)
    print("%d commits, %d in flight, killed %d times (%d commits sent again): all there, none twice" % (total, IN_FLIGHT, kills, lost))
    print("ok")


if __name__ == "__main__":
    main()
