// kerf-test: link=kerf_llama
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// Single lines of llama-server's log.

#include "core/llama/serverlog.h"

#include <QFile>
#include <QRandomGenerator>
#include <QTest>

#include <algorithm>
#include <memory>

using namespace kerf;
using Kind = LogEvent::Kind;

class TestServerLog : public QObject
{
    Q_OBJECT

private:
    struct Expected {
        Kind kind = Kind::Other;
        int slot = -1;
        qint64 task = -1;
        qint64 value = -1;
        qint64 second = -1;
        QByteArray text = {};
    };

private Q_SLOTS:
    void linesOfTheMeasuredBuild_data()
    {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("slot");
        QTest::addColumn<qint64>("task");
        QTest::addColumn<qint64>("value");
        QTest::addColumn<qint64>("second");
        QTest::addColumn<QByteArray>("text");
        const auto row = [](const char *name, const char *line, const Expected &expected) {
            QTest::newRow(name) << QByteArray(line) << int(expected.kind) << expected.slot << expected.task
                                << expected.value << expected.second << expected.text;
        };
        // the server
        row("start", "srv  llama_server: initializing ...", {.kind = Kind::ServerStart});
        row("build",
            "cmn  common_param: common_params_print_info: build 11669 (Debian) with GNU 16.2.0 for Linux x86_64",
            {.kind = Kind::Build, .value = 11669});
        row("verbosity", "cmn  common_param: common_params_print_info: verbosity = 4 (adjust with the `-lv N` CLI arg)",
            {.kind = Kind::Verbosity, .value = 4});
        row("loading", "srv    load_model: loading model '/models/a b.gguf'",
            {.kind = Kind::ModelLoading, .text = "/models/a b.gguf"});
        row("loaded", "srv  llama_server: model loaded", {.kind = Kind::ModelLoaded});
        row("arch", "print_info: arch                  = gemma3", {.kind = Kind::Architecture, .text = "gemma3"});
        row("window", "print_info: n_swa                 = 512", {.kind = Kind::SlidingWindow, .value = 512});
        row("no window", "print_info: n_swa                 = 0", {.kind = Kind::SlidingWindow, .value = 0});
        row("not the window", "print_info: n_swa_pattern         = 1", {});
        row("recurrent",
            "llama_memory_recurrent: size =    0.07 MiB (     1 cells,   4 layers,  1 seqs  0 rs_seq), R (f32):    "
            "0.01 MiB",
            {.kind = Kind::RecurrentMemory});
        row("recurrent buffer", "llama_memory_recurrent:        CPU RS buffer size =     0.07 MiB", {});
        row("full window",
            "llama_kv_cache_iswa: using full-size SWA cache (ref: https://github.com/ggml-org/llama.cpp/pull/13194)",
            {.kind = Kind::FullWindow});
        row("window cells", "llama_kv_cache_iswa: creating     SWA KV cache, size = 1024 cells",
            {.kind = Kind::WindowCells, .value = 1024});
        row("other cells", "llama_kv_cache_iswa: creating non-SWA KV cache, size = 32768 cells", {});
        row("checkpoints", "srv    load_model: context checkpoints enabled, max = 16, min spacing = 256",
            {.kind = Kind::CheckpointsEnabled, .value = 16, .second = 256});
        row("no checkpoints", "srv    load_model: context checkpoints disabled",
            {.kind = Kind::CheckpointsEnabled, .value = 0});
        row("cache limit", "srv    load_model: prompt cache is enabled, size limit: 8192 MiB",
            {.kind = Kind::HostCacheLimit, .value = 8192});
        row("cache without limit", "srv    load_model: prompt cache is enabled, size limit: no limit",
            {.kind = Kind::HostCacheLimit});
        row("no cache", "srv    load_model: prompt cache is disabled - use `--cache-ram N` to enable it",
            {.kind = Kind::HostCacheLimit, .value = 0});
        row("idle saved", "srv          init: idle slots will be saved to prompt cache upon starting a new task",
            {.kind = Kind::IdleSlotsSaved});
        row("idle cleared",
            "srv          init: idle slots will be saved to prompt cache and cleared upon starting a new task",
            {.kind = Kind::IdleSlotsCleared});
        row("slots", "srv    load_model: initializing, n_slots = 4, n_ctx_slot = 8192, kv_unified = 'true'",
            {.kind = Kind::SlotsInit, .value = 4, .second = 8192});
        row("listening", "srv  llama_server: listening on http://127.0.0.1:8131",
            {.kind = Kind::Listening, .text = "http://127.0.0.1:8131"});
        row("shutting down", "srv    operator(): operator(): cleaning up before exit...", {.kind = Kind::ShuttingDown});
        // a slot
        row("similarity", "slot get_availabl: id  0 | task -1 |  - checking sim = 0.686 (1579/2302) > 0.100",
            {.kind = Kind::Similarity, .slot = 0, .value = 1579, .second = 2302});
        row("empty", "slot get_availabl: id 11 | task -1 |  - skipping, slot is empty",
            {.kind = Kind::SlotEmpty, .slot = 11});
        row("busy", "slot get_availabl: id  1 | task -1 |  - skipping, is_processing = 1", {.slot = 1});
        row("lcp",
            "slot get_availabl: id  0 | task -1 | selected slot by LCP similarity, f_sim_best = 0.834 (> 0.100 thold), "
            "f_keep = 0.455",
            {.kind = Kind::SelectedByLcp, .slot = 0});
        row("lru", "slot get_availabl: id  0 | task -1 | selected slot by LRU, n_tokens = 1530, t_last = 10851130573",
            {.kind = Kind::SelectedByLru, .slot = 0, .value = 1530});
        row("id", "slot get_availabl: id  2 | task -1 | selected slot by id (2)",
            {.kind = Kind::SelectedById, .slot = 2});
        row("launch", "slot launch_slot_: id  0 | task 10 | processing task, is_child = 0",
            {.kind = Kind::Launched, .slot = 0, .task = 10});
        row("new prompt",
            "slot   operator(): id  0 | task 40 | new prompt, n_ctx_slot = 32768, n_keep = 0, task.n_tokens = 2302",
            {.kind = Kind::NewPrompt, .slot = 0, .task = 40, .value = 2302});
        row("checking", "slot   operator(): id  0 | task 40 | checking checkpoint with [325, 1348] against 1069...",
            {.slot = 0, .task = 40});
        row("restored",
            "slot   operator(): id  0 | task 15 | restored context checkpoint (pos_min = 0, pos_max = 2174, n_tokens = "
            "2175, n_past = 2174, size = 0.002 MiB)",
            {.kind = Kind::CheckpointRestored, .slot = 0, .task = 15, .value = 2175, .second = 2174});
        row("forced",
            "slot   operator(): id  0 | task 10 | forcing full prompt re-processing due to lack of cache data (likely "
            "due to SWA or hybrid/recurrent memory, see x)",
            {.kind = Kind::FullReprocessing, .slot = 0, .task = 10});
        row("erased",
            "slot   operator(): id  0 | task 10 | erased invalidated context checkpoint (pos_min = 1, pos_max = 3961, "
            "n_tokens = 3962, n_swa = 512, pos_next = 0, size = 1.0 MiB)",
            {.kind = Kind::CheckpointErased, .slot = 0, .task = 10, .value = 3962});
        row("moved",
            "slot   operator(): id  0 | task 4 | reusing chunk with size 1171, shifting KV cache [4478, 5649) -> "
            "[2243, 3414)",
            {.kind = Kind::ChunkMoved, .slot = 0, .task = 4, .value = 1171, .second = 2243});
        row("chunk search", "slot   operator(): id  0 | task 5 | trying to reuse chunks with size > 32, n_past = 903",
            {.kind = Kind::ChunkSearch, .slot = 0, .task = 5, .value = 32});
        row("no chunks",
            "slot   operator(): id  0 | task 5 | cache reuse is not supported - ignoring n_cache_reuse = 64",
            {.kind = Kind::ChunksUnsupported, .slot = 0, .task = 5});
        row("cached", "slot   operator(): id  0 | task 40 | cached n_tokens = 1348, memory_seq_rm [1348, end)",
            {.kind = Kind::Cached, .slot = 0, .task = 40, .value = 1348});
        row("created",
            "slot create_check: id  0 | task 7 | created context checkpoint 4 of 16 (pos_min = 3454, pos_max = 4477, "
            "n_tokens = 4478, size = 1.006 MiB)",
            {.kind = Kind::CheckpointCreated, .slot = 0, .task = 7, .value = 4478, .second = 4});
        row("superseded", "slot create_check: id  0 | task 5 | superseding context checkpoint at n_tokens = 4474",
            {.kind = Kind::CheckpointSuperseded, .slot = 0, .task = 5, .value = 4474});
        row("too close",
            "slot create_check: id  0 | task 12 | erasing context checkpoint too close to an earlier one (pos_min = 0, "
            "pos_max = 435, n_tokens = 436, size = 0.857 MiB)",
            {.kind = Kind::CheckpointThinned, .slot = 0, .task = 12, .value = 436});
        row("oldest",
            "slot create_check: id  0 | task 12 | erasing old context checkpoint (pos_min = 0, pos_max = 28, n_tokens "
            "= 29, size = 0.057 MiB)",
            {.kind = Kind::CheckpointThinned, .slot = 0, .task = 12, .value = 29});
        row("speculative",
            "slot update_slots: id  0 | task 12 | created speculative checkpoint (pos_min = 0, pos_max = 28, n_tokens "
            "= 29, size = 0.057 MiB, draft = 0.000 MiB)",
            {.slot = 0, .task = 12});
        row("progress",
            "slot print_timing: id  0 | task 5 | prompt processing, n_tokens =   2048, progress = 0.50, t =   1.00 s / "
            "2048.00 tokens per second",
            {.kind = Kind::Progress, .slot = 0, .task = 5, .value = 2048});
        row("prompt time",
            "slot print_timing: id  0 | task 10 | prompt eval time =     216.99 ms /  2691 tokens (    0.12 ms per "
            "token,  8513.18 tokens per second)",
            {.kind = Kind::PromptTiming, .slot = 0, .task = 10, .value = 2691});
        row("eval time",
            "slot print_timing: id  0 | task 10 |        eval time =       7.50 ms /     4 tokens (    2.50 ms per "
            "token,   400.00 tokens per second)",
            {.kind = Kind::EvalTiming, .slot = 0, .task = 10, .value = 4});
        row("total time", "slot print_timing: id  0 | task 10 |       total time =      51.80 ms /   442 tokens",
            {.slot = 0, .task = 10});
        row("release", "slot      release: id  0 | task 10 | stop processing: n_tokens = 2691, truncated = 0",
            {.kind = Kind::Released, .slot = 0, .task = 10, .value = 2691});
        row("cleared", "slot prompt_clear: id  0 | task -1 | clearing prompt with 993 tokens",
            {.kind = Kind::Cleared, .slot = 0, .value = 993});
        row("lora", "slot launch_slot_: id  0 | task -1 | clearing cache for lora change. 0 loras -> 1 loras",
            {.kind = Kind::Cleared, .slot = 0});
        row("idle", "slot process_sing: id  1 | task -1 | saving idle slot to prompt cache",
            {.kind = Kind::SavingIdleSlot, .slot = 1});
        row("context shift",
            "slot update_slots: id  0 | task 3 | slot context shift, n_keep = 10, n_left = 4085, n_discard = 2042",
            {.kind = Kind::ContextShifted, .slot = 0, .task = 3, .value = 2042, .second = 10});
        row("slot saved",
            "slot save_slot_ch: id  0 | task -1 | appended 8 context checkpoint(s) (8.1 MiB) to '/slots/a.bin'",
            {.kind = Kind::SlotSaved, .slot = 0, .value = 8, .text = "/slots/a.bin"});
        row("slot restored",
            "slot load_slot_ch: id  0 | task -1 | restored 8 context checkpoint(s) from '/slots/a.bin'",
            {.kind = Kind::SlotRestored, .slot = 0, .value = 8, .text = "/slots/a.bin"});
        row("damaged file",
            "slot load_slot_ch: id  0 | task -1 | truncated context checkpoint appendix in '/slots/a.bin' - ignored",
            {.kind = Kind::SlotRestored, .slot = 0, .value = 0, .text = "/slots/a.bin"});
        row("load failed", "slot  prompt_load: id  0 | task -1 | failed to load prompt from cache",
            {.kind = Kind::PromptLoadFailed, .slot = 0});
        // the host cache
        row("saved",
            "srv   prompt_save:  - saving prompt with length 3216, total state size = 1.043 MiB (draft: 0.000 MiB)",
            {.kind = Kind::PromptSaved, .value = 3216});
        row("already", "srv         alloc:  - prompt is already in the cache, skipping",
            {.kind = Kind::PromptAlreadySaved});
        row("obsolete", "srv         alloc:  - removing obsolete cached prompt with length 987",
            {.kind = Kind::PromptObsolete, .value = 987});
        row("room",
            "srv         alloc:  - making room for prompt cache entry, removing oldest entry (size = 0.223 MiB)",
            {.kind = Kind::PromptDropped});
        row("limit", "srv        update:  - cache size limit reached, removing oldest entry (size = 0.223 MiB)",
            {.kind = Kind::PromptDropped});
        row("token limit",
            "srv        update:  - cache token limit (8192, est: 9000) reached, removing oldest entry (size = 0.223 "
            "MiB)",
            {.kind = Kind::PromptDropped});
        row("too large",
            "srv         alloc:  - prompt state size 9.000 MiB exceeds cache size limit 1.000 MiB, skipping",
            {.kind = Kind::PromptNotSaved});
        row("search", "srv          load:  - looking for better prompt, base f_keep = 0.001, f_sim = 0.002",
            {.kind = Kind::PromptSearch});
        row("offered",
            "srv          load:    - prompt with length    3216, lcp =    1579, f_keep = 0.491, f_sim = 0.686",
            {.kind = Kind::PromptOffered, .value = 3216, .second = 1579});
        row("found", "srv          load:  - found better prompt with f_keep = 1.000, f_sim = 0.995",
            {.kind = Kind::PromptFound});
        row("state",
            "srv        update:  - cache state: 2 prompts, 8.943 MiB (limits: 8192.000 MiB, 32768 tokens, 8589934592 "
            "est)",
            {.kind = Kind::CacheState, .value = 2, .second = 8192});
        row("entry", "srv        update:    - prompt 0x5609ad8586a0:    4926 tokens, checkpoints:  5,     6.092 MiB",
            {.kind = Kind::CacheEntry, .value = 4926, .second = 5});
        // not ours
        row("idle slots", "srv  update_slots: all slots are idle", {});
        row("unknown checkpoint line",
            "slot   operator(): id  0 | task 3 | promoting context checkpoint 4 to the second ring",
            {.kind = Kind::NotUnderstood, .slot = 0, .task = 3});
        row("unknown cache line", "srv        update:  - cached prompt 3 was moved to disk",
            {.kind = Kind::NotUnderstood});
        row("queue", "que    start_loop: pop deferred task (use slot 1), id_task = 7", {});
        row("text of a user",
            "I asked about slot id 3 | task 4 | created context checkpoint 1 of 2 (n_tokens = 9) in my long, long "
            "question about the log of this server",
            {});
    }
    void linesOfTheMeasuredBuild()
    {
        QFETCH(QByteArray, line);
        QFETCH(int, kind);
        QFETCH(int, slot);
        QFETCH(qint64, task);
        QFETCH(qint64, value);
        QFETCH(qint64, second);
        QFETCH(QByteArray, text);
        const QByteArray json =
            QByteArray("{\"type\":\"log\",\"time\":12,\"level\":\"info\",\"msg\":\"") + line + "\\n\"}";
        for (const QByteArray &variant :
             {line, "0.05.785.665 I " + line, "[57259] 0.05.785.665 W " + line, line + "\r\n",
              "\033[34m0.00.009.723\033[0m \033[32mI \033[0m" + line + "\033[0m", json}) {
            const LogEvent event = parseServerLogLine(variant);
            QVERIFY2(int(event.kind) == kind, variant);
            QVERIFY2(event.value == value, variant);
            QVERIFY2(event.second == second, variant);
            QVERIFY2(event.text == text, variant);
            if (Kind(kind) != Kind::Other) {
                QVERIFY2(event.slot == slot, variant);
                QVERIFY2(event.task == task, variant);
            }
            QCOMPARE(event.child, variant.startsWith('[') ? 57259 : -1);
        }
    }

    void numbersBesideTheCounts()
    {
        LogEvent event = parseServerLogLine("slot get_availabl: id  0 | task -1 | selected slot by LCP similarity, "
                                            "f_sim_best = 0.834 (> 0.100 thold), f_keep = 0.455");
        QCOMPARE(event.similarity, 0.834);
        QCOMPARE(event.keep, 0.455);
        event = parseServerLogLine("srv          load:  - found better prompt with f_keep = 1.000, f_sim = 0.995");
        QCOMPARE(event.keep, 1.0);
        QCOMPARE(event.similarity, 0.995);
        event = parseServerLogLine(
            "srv        update:    - prompt 0x5609ad8586a0:    4926 tokens, checkpoints:  5,     6.500 MiB");
        QCOMPARE(event.bytes, 6815744);
        event = parseServerLogLine(
            "srv        update:  - cache state: 1 prompts, 8.500 MiB (limits: 0.000 MiB, 32768 tokens, 1 est)");
        QCOMPARE(event.bytes, 8912896);
        QCOMPARE(event.second, 0);
        event =
            parseServerLogLine("slot print_timing: id  0 | task 10 | prompt eval time =     216.99 ms /  2691 tokens");
        QCOMPARE(event.ms, 216.99);
        event =
            parseServerLogLine("srv    load_model: initializing, n_slots = 4, n_ctx_slot = 8192, kv_unified = 'true'");
        QVERIFY(event.flag);
        event = parseServerLogLine("srv    load_model: prompt cache is enabled, size limit: no limit");
        QVERIFY(event.flag);
        event = parseServerLogLine("slot x: id  0 | task 7 | created context checkpoint 4 of 16 (pos_min = 3454, "
                                   "pos_max = 4477, n_tokens = 4478, size = 1.006 MiB)");
        QCOMPARE(event.posMin, 3454);
        QCOMPARE(event.posMax, 4477);
        QCOMPARE(event.bytes, 1054867);
    }

    void olderSpellings_data()
    {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<int>("kind");
        QTest::addColumn<qint64>("value");
        const auto row = [](const char *name, const char *line, Kind kind, qint64 value = -1) {
            QTest::newRow(name) << QByteArray(line) << int(kind) << value;
        };
        row("build", "build: 6140 (0fd90db5) with cc (Debian 12.2.0) 12.2.0 for x86_64-linux-gnu", Kind::Build, 6140);
        row("listening", "main: server is listening on http://127.0.0.1:8080 - starting the main loop",
            Kind::Listening);
        row("no n_tokens",
            "slot update_slots: id  0 | task 7 | created context checkpoint 4 of 8 (pos_min = 3454, pos_max = 4477, "
            "size = 1.006 MiB)",
            Kind::CheckpointCreated, 4478);
        row("saved",
            "slot update_slots: id  0 | task 7 | saved context checkpoint 4 of 8 (pos_min = 3454, pos_max = 4477, size "
            "= 1.006 MiB)",
            Kind::CheckpointCreated, 4478);
        row("swa",
            "slot update_slots: id  0 | task 7 | SWA checkpoint create, pos_min = 3454, pos_max = 4477, size = 1.006 "
            "MiB, total = 1/3 (1.006 MiB)",
            Kind::CheckpointCreated, 4478);
        row("swa restore",
            "slot update_slots: id  0 | task 7 | SWA checkpoint restore, pos_min = 3454, pos_max = 4477, size = 1.006 "
            "MiB",
            Kind::CheckpointRestored, 4478);
        row("removing",
            "slot update_slots: id  0 | task 7 | removing old context checkpoint (pos_min = 0, pos_max = 9, size = "
            "1.006 MiB)",
            Kind::CheckpointThinned, 10);
        row("n_prompt_tokens",
            "slot update_slots: id  0 | task 7 | new prompt, n_ctx_slot = 8192, n_keep = 0, n_prompt_tokens = 903",
            Kind::NewPrompt, 903);
        row("kv cache rm", "slot update_slots: id  0 | task 7 | kv cache rm [77, end)", Kind::Cached, 77);
        row("n_past", "slot update_slots: id  0 | task 7 | n_past = 77, memory_seq_rm [77, end)", Kind::Cached, 77);
        row("release", "slot      release: id  0 | task 7 | stop processing: n_past = 906, truncated = 0",
            Kind::Released, 906);
        row("lcs",
            "slot get_availabl: id  0 | task -1 | selected slot by lcs similarity, lcs_len = 30, similarity = 0.900",
            Kind::SelectedByLcp);
        row("lru", "slot get_availabl: id  0 | task -1 | selected slot by lru, t_last = -1", Kind::SelectedByLru);
        row("progress",
            "slot update_slots: id  0 | task 7 | prompt processing progress, n_tokens = 2048, batch.n_tokens = 2048, "
            "progress = 0.99",
            Kind::Progress, 2048);
        row("truncation",
            "slot update_slots: id  0 | task 7 | failed to truncate tokens with position >= 14 - clearing the memory",
            Kind::Cleared);
    }
    void olderSpellings()
    {
        QFETCH(QByteArray, line);
        QFETCH(int, kind);
        QFETCH(qint64, value);
        const LogEvent event = parseServerLogLine(line);
        QCOMPARE(int(event.kind), kind);
        QCOMPARE(event.value, value);
    }

    void jsonIsUnescaped()
    {
        const LogEvent event =
            parseServerLogLine("{\"type\":\"log\",\"time\":1,\"level\":\"info\",\"msg\":\"srv    load_model: loading "
                               "model 'C:\\\\models\\/a \\\"b\\\".gguf'\\nslot x: id  0 | task 1 | processing task\"}");
        QCOMPARE(int(event.kind), int(Kind::ModelLoading));
        QCOMPARE(event.text, QByteArray("C:\\models/a \"b\".gguf"));
        QCOMPARE(int(parseServerLogLine("{\"msg\":\"srv  llama_server: initializing ...").kind),
                 int(Kind::ServerStart)); // cut
        QCOMPARE(int(parseServerLogLine("{\"type\":\"log\",\"msg\":\"\\u0041").kind), int(Kind::Other));
        QCOMPARE(int(parseServerLogLine("{\"type\":\"log\",\"msg\":7}").kind), int(Kind::Other));
        QCOMPARE(int(parseServerLogLine("{\"type\":\"log\",\"msg\":").kind), int(Kind::Other));
    }

    void numbersTooLargeAreUnknown()
    {
        QCOMPARE(parseServerLogLine(
                     "slot x: id  0 | task 1 | stop processing: n_tokens = 99999999999999999999, truncated = 0")
                     .value,
                 -1);
        QCOMPARE(int(parseServerLogLine("slot x: id  9999999999999 | task 1 | processing task, is_child = 0").kind),
                 int(Kind::Other));
    }

    /// Recorded logs of every kind: each line about checkpoints or the host cache is understood.
    void nothingIsLeftOut_data()
    {
        QTest::addColumn<QString>("name");
        for (const char *name : {"gemma3", "lfm2", "mamba", "llama", "unified", "restore", "children", "swafull",
                                 "verbosity3", "fullcache", "json", "colours"})
            QTest::newRow(name) << QStringLiteral("log-%1.txt").arg(QLatin1String(name));
    }
    void nothingIsLeftOut()
    {
        QFETCH(QString, name);
        QFile file(QStringLiteral(KERF_TEST_DATA "/llama-server/") + name);
        QVERIFY(file.open(QIODevice::ReadOnly));
        int understood = 0;
        while (!file.atEnd()) {
            const QByteArray line = file.readLine();
            const LogEvent event = parseServerLogLine(line);
            QVERIFY2(event.kind != Kind::NotUnderstood, line);
            if (line.contains("context checkpoint") && !line.contains("checking") && !line.contains("speculative"))
                QVERIFY2(event.kind != Kind::Other, line);
            understood += event.kind != Kind::Other;
        }
        QVERIFY(understood > 10);
    }

    void everyKindHasWordsOrNone()
    {
        for (int kind = 0; kind <= int(Kind::ChildEnded); ++kind) {
            LogEvent event;
            event.kind = Kind(kind);
            event.value = 1234;
            event.second = 5678;
            const QString words = readingOf(event);
            QVERIFY2(!words.contains(QLatin1Char('%')), qPrintable(words));
        }
        LogEvent event;
        event.kind = Kind::CheckpointErased;
        event.value = 1349;
        event.task = 44;
        QCOMPARE(readingOf(event), QStringLiteral("checkpoint 1,349 erased by task 44"));
        event.kind = Kind::Other;
        QVERIFY(readingOf(event).isEmpty());
    }

    void anyBytesAreSurvived()
    {
        QRandomGenerator random(20261201);
        QFile file(QStringLiteral(KERF_TEST_DATA "/llama-server/log-gemma3.txt"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QList<QByteArray> lines = file.readAll().split('\n');
        int understood = 0;
        for (int round = 0; round < 30000; ++round) {
            QByteArray line;
            if (round % 3 == 0) {
                line.resize(random.bounded(200));
                for (char &c : line)
                    c = char(random.bounded(256));
                if (round % 2)
                    line.prepend(random.bounded(2) ? "slot x: id 1 | task 2 | " : "srv  x: ");
            } else {
                line = lines.at(random.bounded(lines.size()));
                if (round % 3 == 1)
                    line = line.mid(random.bounded(line.size() + 1), random.bounded(line.size() + 1));
                for (int i = random.bounded(4); i > 0 && !line.isEmpty(); --i)
                    line[random.bounded(line.size())] = char(random.bounded(256));
            }
            // A copy of exactly this size: a read behind its end is found by the sanitizer.
            const std::unique_ptr<char[]> exact(new char[size_t(line.size()) + 1]);
            std::copy(line.cbegin(), line.cend(), exact.get());
            const LogEvent event = parseServerLogLine(QByteArrayView(exact.get(), line.size()));
            QVERIFY(event.slot >= -1 && event.value >= -2000000000 && event.value <= 2000000000);
            readingOf(event);
            understood += event.kind != Kind::Other;
        }
        QVERIFY(understood > 1000);
        QCOMPARE(int(parseServerLogLine({}).kind), int(Kind::Other));
    }
};

QTEST_GUILESS_MAIN(TestServerLog)
#include "tst_serverlog.moc"
