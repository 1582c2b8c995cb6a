// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QByteArray>
#include <QByteArrayView>

namespace kerf {

/// One line of llama-server's log, as far as it says something about the KV cache (LLAMA_SERVER.md section 3).
/// Numbers that the line does not name are -1.
struct LogEvent {
    enum class Kind {
        Other, ///< understood to be of no matter
        NotUnderstood, ///< looks like a slot or cache line, but is none that we know
        // about the server
        ServerStart, ///< "initializing ...": a new life
        Build, ///< value = build number
        Verbosity, ///< value
        Architecture, ///< text
        SlidingWindow, ///< value = n_swa
        RecurrentMemory,
        CheckpointsEnabled, ///< value = max, second = min spacing
        IdleSlotsSaved, ///< idle slots are saved when another starts a task
        IdleSlotsCleared, ///< ... and cleared
        SlotsInit, ///< value = n_slots, second = n_ctx_slot, flag = kv_unified
        Listening, ///< text = URL
        // about a slot
        Similarity, ///< value = LCP, second = new length
        SelectedByLcp, ///< similarity, keep
        SelectedByLru, ///< value = tokens held
        SelectedById,
        Launched,
        NewPrompt, ///< value = task.n_tokens
        Cached, ///< value = cached n_tokens
        CheckpointCreated, ///< value = n_tokens, posMin, posMax, bytes, second = ordinal
        CheckpointRestored, ///< value = n_tokens, second = n_past, posMin, posMax
        CheckpointErased, ///< invalidated by a rewind: value = n_tokens
        CheckpointThinned, ///< too close, or the oldest: value = n_tokens
        CheckpointSuperseded, ///< value = n_tokens
        FullReprocessing,
        ChunkMoved, ///< value = size, posMin = from, second = to
        PromptTiming, ///< value = tokens, ms
        Released, ///< value = n_tokens
        Cleared, ///< value = tokens; -1 = not said
        SavingIdleSlot,
        SlotSaved, ///< value = checkpoints, text = file
        SlotRestored, ///< value = checkpoints, text = file
        SlotEmpty, ///< holds nothing when a task looks for a slot
        ContextShifted, ///< value = tokens discarded, second = tokens kept in front
        Progress, ///< value = prompt tokens processed so far
        EvalTiming, ///< value = tokens generated, ms
        ChunkSearch, ///< value = N of --cache-reuse (-lv 5)
        ChunksUnsupported, ///< --cache-reuse is set and ignored
        // about the host prompt cache
        PromptSaved, ///< value = length
        PromptAlreadySaved,
        PromptObsolete, ///< value = length
        PromptDropped, ///< the oldest was removed to make room
        PromptOffered, ///< value = length, second = lcp, keep, similarity
        PromptFound, ///< keep, similarity
        CacheState, ///< value = entries, bytes, second = limit in MiB
        CacheEntry, ///< value = tokens, second = checkpoints, bytes
        PromptSearch, ///< the host cache is asked; keep, similarity = the slot's own
        PromptNotSaved, ///< too large for the cache, or no memory for it
        PromptLoadFailed,
        // about the server, again
        ModelLoading, ///< text = path
        ModelLoaded,
        WindowCells, ///< value = cells of the window's memory
        FullWindow, ///< --swa-full: the window's memory keeps everything
        HostCacheLimit, ///< value = MiB, 0 = off; flag = no limit
        ShuttingDown,
        ChildEnded ///< a router's child has gone; value = its port, or -1
    };
    Kind kind = Kind::Other;
    int slot = -1;
    qint64 task = -1;
    qint64 value = -1;
    qint64 second = -1;
    int posMin = -1;
    int posMax = -1;
    qint64 bytes = -1;
    double ms = -1;
    double keep = -1;
    double similarity = -1;
    bool flag = false;
    int child = -1; ///< port of the router's child that wrote the line
    QByteArray text;
};

/// Parses one line, tolerantly: prefixes (time and level, `[57259] ` of a router's child), --log-jsonl lines and older
/// spellings are read alike, with terminal colours or without. Never fails, whatever the bytes are. No allocation on
/// lines of no matter.
LogEvent parseServerLogLine(QByteArrayView line);

/// In words, for the log view: "checkpoint 1,349 restored"; empty where there is nothing to say.
QString readingOf(const LogEvent &event);

} // namespace kerf
