#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Kerf contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a small GGUF model with random weights, for driving a real llama-server offline.

The weights are noise, so what it generates is nonsense; everything that concerns
the KV cache (slots, LCP reuse, context checkpoints, slot save/restore, timings,
tokenisation) is the server's own behaviour and does not depend on the weights.

    make_tiny_gguf.py OUT.gguf [--arch llama|gemma3|mamba|lfm2] [--layers N] [--embd N]
                      [--ctx N] [--window N] [--seed N]

  llama   full attention: the server keeps no context checkpoints for it
  gemma3  sliding-window attention (SWA): the server makes context checkpoints
  mamba   purely recurrent state
  lfm2    hybrid: short convolution (recurrent) layers beside attention layers

Only the Python standard library is needed.
"""
import argparse
import array
import random
import re
import struct
import sys
from collections import Counter
from pathlib import Path

U32, I32, F32, BOOL, STR, ARR = 4, 5, 6, 7, 8, 9
GGML_F32, GGML_F16 = 0, 1
ALIGN = 32


def s(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


class Writer:
    def __init__(self):
        self.kv, self.tensors = [], []

    def put(self, key, kind, value):
        body = {U32: lambda: struct.pack("<I", value), I32: lambda: struct.pack("<i", value),
                F32: lambda: struct.pack("<f", value), BOOL: lambda: struct.pack("<?", value),
                STR: lambda: s(value)}[kind]()
        self.kv.append(s(key) + struct.pack("<I", kind) + body)

    def put_array(self, key, kind, values):
        head = s(key) + struct.pack("<IIQ", ARR, kind, len(values))
        if kind == STR:
            body = b"".join(s(v) for v in values)
        else:
            body = struct.pack("<%d%s" % (len(values), {F32: "f", I32: "i", U32: "I", BOOL: "?"}[kind]), *values)
        self.kv.append(head + body)

    def tensor(self, name, dims, data):
        """dims in GGUF order (fastest first); data is an array('f')."""
        self.tensors.append((name, dims, data))

    def write(self, path):
        infos, offset = [], 0
        for name, dims, data in self.tensors:
            infos.append(s(name) + struct.pack("<I", len(dims)) + struct.pack("<%dQ" % len(dims), *dims)
                         + struct.pack("<IQ", GGML_F32, offset))
            offset += (len(data) * 4 + ALIGN - 1) // ALIGN * ALIGN
        head = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.kv)) + b"".join(self.kv) + b"".join(infos)
        with open(path, "wb") as out:
            out.write(head + b"\0" * (-len(head) % ALIGN))
            for _, _, data in self.tensors:
                raw = data.tobytes()
                out.write(raw + b"\0" * (-len(raw) % ALIGN))


def train_vocab(size):
    """A SentencePiece-style BPE vocabulary learned from any English text at hand."""
    text = ""
    for p in ("/usr/share/common-licenses/GPL-3", "/usr/share/common-licenses/Apache-2.0"):
        if Path(p).exists():
            text += Path(p).read_text(errors="replace")
    text = text or Path(__file__).read_text()
    words = Counter("\u2581" + w for w in re.findall(r"\S+", text))
    split = {w: list(w) for w in words}
    chars = sorted({c for w in words for c in w} | {chr(c) for c in range(33, 127)} | {"\u2581"})
    merges = []
    for _ in range(size):
        pairs = Counter()
        for w, n in words.items():
            parts = split[w]
            for a, b in zip(parts, parts[1:]):
                pairs[a, b] += n
        if not pairs:
            break
        (a, b), n = max(pairs.items(), key=lambda kv: (kv[1], kv[0]))
        if n < 2:
            break
        merges.append(a + b)
        for w, parts in split.items():
            i, out = 0, []
            while i < len(parts):
                if i + 1 < len(parts) and parts[i] == a and parts[i + 1] == b:
                    out.append(a + b)
                    i += 2
                else:
                    out.append(parts[i])
                    i += 1
            split[w] = out
    tokens, scores, types = ["<unk>", "<s>", "</s>"], [0.0, 0.0, 0.0], [2, 3, 3]
    for b in range(256):
        tokens.append("<0x%02X>" % b)
        scores.append(0.0)
        types.append(6)
    for rank, piece in enumerate(dict.fromkeys(merges)):
        tokens.append(piece)
        scores.append(-float(rank + 1))
        types.append(1)
    for c in chars:
        if c not in tokens:
            tokens.append(c)
            scores.append(-1e6)
            types.append(1)
    return tokens, scores, types


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out")
    ap.add_argument("--arch", default="llama", choices=["llama", "gemma3", "mamba", "lfm2"])
    ap.add_argument("--layers", type=int, default=4)
    ap.add_argument("--embd", type=int, default=128)
    ap.add_argument("--ctx", type=int, default=131072)
    ap.add_argument("--window", type=int, default=512, help="sliding window of gemma3, in tokens")
    ap.add_argument("--vocab", type=int, default=1200, help="BPE merges to learn")
    ap.add_argument("--seed", type=int, default=4)
    a = ap.parse_args()
    rng = random.Random(a.seed)
    pool = array.array("f", (rng.gauss(0, 0.05) for _ in range(65537)))

    def noise(n):
        start = rng.randrange(len(pool))
        out = array.array("f")
        out.extend(pool[start:])
        while len(out) < n:
            out.extend(pool)
        return out[:n]

    def const(n, v=1.0):
        return array.array("f", [v]) * n

    tokens, scores, types = train_vocab(a.vocab)
    w, V, E, L = Writer(), len(tokens), a.embd, a.layers
    H, FF = 4, 2 * E
    D = E // H
    w.put("general.architecture", STR, a.arch)
    w.put("general.name", STR, "tiny-random-" + a.arch)
    w.put(a.arch + ".context_length", U32, a.ctx)
    w.put(a.arch + ".embedding_length", U32, E)
    w.put(a.arch + ".block_count", U32, L)
    w.put(a.arch + ".vocab_size", U32, V)

    def attention_keys():
        w.put(a.arch + ".feed_forward_length", U32, FF)
        w.put(a.arch + ".attention.head_count", U32, H)
        w.put(a.arch + ".attention.layer_norm_rms_epsilon", F32, 1e-5)
        w.put(a.arch + ".attention.key_length", U32, D)
        w.put(a.arch + ".attention.value_length", U32, D)
        w.put(a.arch + ".rope.dimension_count", U32, D)
        w.put(a.arch + ".rope.freq_base", F32, 10000.0)

    w.tensor("token_embd.weight", [E, V], noise(E * V))
    if a.arch in ("llama", "gemma3"):
        attention_keys()
        w.put(a.arch + ".attention.head_count_kv", U32, H)
        if a.arch == "gemma3":
            w.put("gemma3.attention.sliding_window", U32, a.window)
        for i in range(L):
            b = "blk.%d." % i
            w.tensor(b + "attn_norm.weight", [E], const(E))
            for n in ("attn_q", "attn_k", "attn_v", "attn_output"):
                w.tensor(b + n + ".weight", [E, E], noise(E * E))
            if a.arch == "gemma3":
                w.tensor(b + "attn_q_norm.weight", [D], const(D))
                w.tensor(b + "attn_k_norm.weight", [D], const(D))
                w.tensor(b + "post_attention_norm.weight", [E], const(E))
                w.tensor(b + "post_ffw_norm.weight", [E], const(E))
            w.tensor(b + "ffn_norm.weight", [E], const(E))
            w.tensor(b + "ffn_gate.weight", [E, FF], noise(E * FF))
            w.tensor(b + "ffn_up.weight", [E, FF], noise(E * FF))
            w.tensor(b + "ffn_down.weight", [FF, E], noise(E * FF))
        w.tensor("output_norm.weight", [E], const(E))
        w.tensor("output.weight", [E, V], noise(E * V))
    elif a.arch == "mamba":
        inner, state, conv, rank = 2 * E, 16, 4, max(1, E // 16)
        w.put("mamba.ssm.conv_kernel", U32, conv)
        w.put("mamba.ssm.inner_size", U32, inner)
        w.put("mamba.ssm.state_size", U32, state)
        w.put("mamba.ssm.time_step_rank", U32, rank)
        w.put("mamba.attention.layer_norm_rms_epsilon", F32, 1e-5)
        w.put("mamba.feed_forward_length", U32, 0)
        w.put("mamba.attention.head_count", U32, 0)
        for i in range(L):
            b = "blk.%d." % i
            w.tensor(b + "attn_norm.weight", [E], const(E))
            w.tensor(b + "ssm_in.weight", [E, 2 * inner], noise(E * 2 * inner))
            w.tensor(b + "ssm_conv1d.weight", [conv, inner], noise(conv * inner))
            w.tensor(b + "ssm_conv1d.bias", [inner], noise(inner))
            w.tensor(b + "ssm_x.weight", [inner, rank + 2 * state], noise(inner * (rank + 2 * state)))
            w.tensor(b + "ssm_dt.weight", [rank, inner], noise(rank * inner))
            w.tensor(b + "ssm_dt.bias", [inner], noise(inner))
            w.tensor(b + "ssm_a", [state, inner], const(state * inner, -1.0))
            w.tensor(b + "ssm_d", [inner], const(inner))
            w.tensor(b + "ssm_out.weight", [inner, E], noise(inner * E))
        w.tensor("output_norm.weight", [E], const(E))
        w.tensor("output.weight", [E, V], noise(E * V))
    else:  # lfm2: every odd layer attends, every even one is a short convolution
        attention_keys()
        w.put_array("lfm2.attention.head_count_kv", I32, [H if i % 2 else 0 for i in range(L)])
        w.put("lfm2.shortconv.l_cache", U32, 3)
        for i in range(L):
            b = "blk.%d." % i
            w.tensor(b + "attn_norm.weight", [E], const(E))
            w.tensor(b + "ffn_norm.weight", [E], const(E))
            w.tensor(b + "ffn_gate.weight", [E, FF], noise(E * FF))
            w.tensor(b + "ffn_up.weight", [E, FF], noise(E * FF))
            w.tensor(b + "ffn_down.weight", [FF, E], noise(E * FF))
            if i % 2:
                for n in ("attn_q", "attn_k", "attn_v", "attn_output"):
                    w.tensor(b + n + ".weight", [E, E], noise(E * E))
                w.tensor(b + "attn_q_norm.weight", [D], const(D))
                w.tensor(b + "attn_k_norm.weight", [D], const(D))
            else:
                w.tensor(b + "shortconv.conv.weight", [3, E], noise(3 * E))
                w.tensor(b + "shortconv.in_proj.weight", [E, 3 * E], noise(3 * E * E))
                w.tensor(b + "shortconv.out_proj.weight", [E, E], noise(E * E))
        w.tensor("token_embd_norm.weight", [E], const(E))

    w.put("tokenizer.ggml.model", STR, "llama")
    w.put_array("tokenizer.ggml.tokens", STR, tokens)
    w.put_array("tokenizer.ggml.scores", F32, scores)
    w.put_array("tokenizer.ggml.token_type", I32, types)
    w.put("tokenizer.ggml.bos_token_id", U32, 1)
    w.put("tokenizer.ggml.eos_token_id", U32, 2)
    w.put("tokenizer.ggml.unknown_token_id", U32, 0)
    w.put("tokenizer.ggml.add_bos_token", BOOL, True)
    w.write(a.out)
    print("%s: %s, %d layers, %d-wide, %d tokens in the vocabulary" % (a.out, a.arch, L, E, V))


if __name__ == "__main__":
    sys.exit(main())
