// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/evidence.h"

#include <QJsonArray>
#include <QLocale>

#include <algorithm>
#include <array>
#include <limits>

namespace kerf {

namespace {

constexpr int kDefaultMinStep = 8192; // -cms, build 11669
/// A rewind farther than any sliding window in use (8,192) and its batch: only full attention does it without a
/// checkpoint.
constexpr int kBeyondWindows = 8'704;
constexpr int kLeast = 64;
constexpr int kNear = 8;

const QString &memoryClaim()
{
    static const QString claim = QStringLiteral("memory_kind");
    return claim;
}

const QString &chunkClaim()
{
    static const QString claim = QStringLiteral("chunk_reuse");
    return claim;
}

int rankOf(const QString &source)
{
    static const QStringList order{QStringLiteral("calibration"), QStringLiteral("observed"), QStringLiteral("slots"),
                                   QStringLiteral("log"),         QStringLiteral("flags"),    QStringLiteral("gguf"),
                                   QStringLiteral("name")};
    const qsizetype at = order.indexOf(source);
    return at < 0 ? static_cast<int>(order.size()) : static_cast<int>(at);
}

struct Ranked {
    Evidence evidence;
    int rank = 0;
};

/// Sorts by strength, names in the first what contradicts it, and returns it; nullptr = there is none.
const Evidence *settle(QList<Ranked> &claims, QList<Evidence> &evidence)
{
    if (claims.isEmpty())
        return nullptr;
    std::stable_sort(claims.begin(), claims.end(), [](const Ranked &a, const Ranked &b) { return a.rank < b.rank; });
    QStringList against;
    for (const Ranked &claim : std::as_const(claims)) {
        if (claim.evidence.value != claims.constFirst().evidence.value)
            against.append(QStringLiteral("%1 says %2 (%3)")
                               .arg(claim.evidence.source, claim.evidence.value, claim.evidence.detail));
    }
    if (!against.isEmpty())
        claims.first().evidence.detail += QStringLiteral("; contradicted: %1").arg(against.join(QStringLiteral("; ")));
    for (const Ranked &claim : std::as_const(claims))
        evidence.append(claim.evidence);
    return &claims.constFirst().evidence;
}

bool isMeasured(const QString &source)
{
    return source == QLatin1String("calibration") || source == QLatin1String("observed");
}

/// Read of the model itself, whatever the server's flags are.
bool isOfTheModel(const Evidence &evidence)
{
    return (evidence.source == QLatin1String("log") || evidence.source == QLatin1String("gguf"))
        && !evidence.detail.contains(QLatin1String("--swa-full"));
}

QString requests(int count)
{
    return count == 1 ? QStringLiteral("1 request") : QStringLiteral("%1 requests").arg(count);
}

} // namespace

QString evidenceKey(const QString &build, const QString &modelPath, int contextSize)
{
    return QStringLiteral("%1|%2|%3").arg(build, modelPath).arg(contextSize);
}

QJsonArray evidenceToStore(const QJsonArray &stored, const QList<Evidence> &evidence)
{
    QJsonArray rows = stored;
    for (const Evidence &row : evidence) {
        const bool chunks = row.claim == chunkClaim() && isMeasured(row.source);
        const bool memory = row.claim == memoryClaim() && (isMeasured(row.source) || isOfTheModel(row));
        if (row.stored || (!chunks && !memory))
            continue;
        // What contradicts it is found anew each time.
        const QString detail = row.detail.section(QStringLiteral("; contradicted: "), 0, 0);
        const QJsonObject fresh{{QStringLiteral("claim"), row.claim},
                                {QStringLiteral("value"), row.value},
                                {QStringLiteral("source"), row.source},
                                {QStringLiteral("detail"), detail},
                                {QStringLiteral("at"), row.at.toUTC().toString(Qt::ISODate)}};
        bool known = false;
        for (qsizetype i = 0; i < rows.size() && !known; ++i) {
            const QJsonObject old = rows.at(i).toObject();
            if (old.value(QStringLiteral("claim")) != row.claim || old.value(QStringLiteral("source")) != row.source)
                continue;
            known = true;
            if (old.value(QStringLiteral("value")) != row.value || old.value(QStringLiteral("detail")) != detail)
                rows[i] = fresh;
        }
        if (!known)
            rows.append(fresh);
    }
    return rows;
}

std::optional<MemoryKind> memoryThatExplains(const Observation &seen)
{
    if (!seen.certain || seen.lcp < kLeast || seen.lcp > seen.total - 16 || seen.reused > seen.lcp)
        return std::nullopt;
    if (seen.reused < seen.lcp - 16)
        return MemoryKind::Checkpointed; // full attention reuses the whole common prefix
    if (seen.reused != seen.lcp || seen.heldLength - seen.lcp <= kBeyondWindows)
        return std::nullopt;
    // A checkpoint may lie where an earlier prompt ended, 4 tokens before that, and one batch before that.
    constexpr std::array<int, 7> offsets{0, 4, 4 + 128, 4 + 256, 4 + 512, 4 + 1024, 4 + 2048};
    for (const int end : seen.promptEnds) {
        for (const int offset : offsets) {
            if (std::abs(seen.lcp - (end - offset)) <= kNear)
                return std::nullopt;
        }
    }
    return MemoryKind::FullAttention;
}

MemoryJudgement judgeMemory(const MemoryFacts &facts, const QDateTime &now)
{
    MemoryJudgement judgement;
    ReuseRule &rule = judgement.rule;
    const QString full = memoryKindName(MemoryKind::FullAttention);
    const QString checkpointed = memoryKindName(MemoryKind::Checkpointed);
    const LogFacts &log = facts.log;
    const bool flagsKnown = !facts.flagsSource.isEmpty();

    QList<Ranked> memory;
    QList<Ranked> chunks;
    const auto claim = [&now](QList<Ranked> &claims, const QString &what, const QString &value, const QString &source,
                              const QString &detail) {
        claims.append({{what, value, source, detail, now}, rankOf(source)});
    };

    const QJsonArray stored =
        facts.stored.value(evidenceKey(facts.build, facts.modelPath, facts.contextSize)).toArray();
    for (const QJsonValue &value : stored) {
        const QJsonObject row = value.toObject();
        const Evidence evidence{row.value(QStringLiteral("claim")).toString(),
                                row.value(QStringLiteral("value")).toString(),
                                row.value(QStringLiteral("source")).toString(),
                                row.value(QStringLiteral("detail")).toString() + QStringLiteral(" (stored)"),
                                QDateTime::fromString(row.value(QStringLiteral("at")).toString(), Qt::ISODate),
                                true};
        // What was measured outlives the run as it is. What was read of this model with this build says a little more
        // than its name; flags may be others today.
        const bool measured = isMeasured(evidence.source);
        if (!measured && !(evidence.claim == memoryClaim() && isOfTheModel(evidence)))
            continue;
        const int rank = rankOf(measured ? evidence.source : QStringLiteral("name"));
        if (evidence.claim == memoryClaim()
            && memoryKindFromName(evidence.value).value_or(MemoryKind::Unknown) != MemoryKind::Unknown)
            memory.append({evidence, rank});
        bool isNumber = false;
        if (evidence.value.toInt(&isNumber) >= 0 && isNumber && evidence.claim == chunkClaim())
            chunks.append({evidence, rankOf(evidence.source)});
    }

    if (facts.fullAttentionSeen >= 2 && facts.fullAttentionSeen > facts.checkpointedSeen)
        claim(memory, memoryClaim(), full, QStringLiteral("observed"),
              QStringLiteral("%1 went back far and were reused up to the first differing token")
                  .arg(requests(facts.fullAttentionSeen)));
    else if (facts.checkpointedSeen >= 2 && facts.checkpointedSeen > facts.fullAttentionSeen)
        claim(memory, memoryClaim(), checkpointed, QStringLiteral("observed"),
              QStringLiteral("%1 were reused less far than their tokens were equal")
                  .arg(requests(facts.checkpointedSeen)));
    if (facts.slotRing)
        claim(memory, memoryClaim(), checkpointed, QStringLiteral("slots"),
              QStringLiteral("the slot payload lists checkpoints"));

    const bool windowInLog = facts.logAttached && log.slidingWindow > 0 && !log.recurrent;
    if (facts.logAttached && log.memory() != MemoryKind::Unknown)
        claim(memory, memoryClaim(), memoryKindName(log.memory()), QStringLiteral("log"), log.memoryReason());
    // The window is printed and stands in the file even where --swa-full keeps the whole cache. The flag says what
    // happens, unless the log saw checkpoints being made all the same.
    const bool windowInFile = facts.gguf && facts.gguf->memory() == MemoryKind::Checkpointed && !facts.gguf->recurrent;
    if (flagsKnown && facts.flags.swaFull && (windowInLog || windowInFile)) {
        const bool refuted = facts.logAttached && (log.recurrent || log.checkpointSeen);
        memory.append({{memoryClaim(), full, QStringLiteral("flags"),
                        QStringLiteral("--swa-full keeps the whole window (%1)").arg(facts.flagsSource), now},
                       refuted ? rankOf(QStringLiteral("flags")) : rankOf(QStringLiteral("slots"))});
    }
    if (facts.gguf && facts.gguf->memory() != MemoryKind::Unknown) {
        const GgufHeader &header = *facts.gguf;
        const QString detail = header.recurrent
            ? QStringLiteral("architecture %1 with recurrent state").arg(header.architecture)
            : header.memory() == MemoryKind::Checkpointed
            ? (header.slidingWindow > 0
                   ? QStringLiteral("architecture %1, sliding window %2")
                         .arg(header.architecture)
                         .arg(header.slidingWindow)
                   : QStringLiteral("architecture %1 with a window of its own").arg(header.architecture))
            : QStringLiteral("architecture %1, no window and no recurrent state in the model file")
                  .arg(header.architecture);
        claim(memory, memoryClaim(), memoryKindName(header.memory()), QStringLiteral("gguf"),
              header.isEstablished() ? detail : detail + QStringLiteral("; this architecture is not known to Kerf"));
    }
    QString word = partialStateWord(facts.modelPath);
    if (word.isEmpty())
        word = partialStateWord(facts.modelName);
    if (!word.isEmpty())
        claim(memory, memoryClaim(), checkpointed, QStringLiteral("name"),
              QStringLiteral("\"%1\" in the model's name").arg(word));

    judgement.confidence = QStringLiteral("none");
    if (const Evidence *best = settle(memory, judgement.evidence)) {
        rule.memory = memoryKindFromName(best->value).value_or(MemoryKind::Unknown);
        judgement.source = best->source;
        judgement.detail = best->detail;
        judgement.byNameAlone = best->source == QLatin1String("name");
        const bool guessed =
            judgement.byNameAlone || (best->source == QLatin1String("gguf") && !facts.gguf->isEstablished());
        judgement.confidence = rankOf(best->source) <= rankOf(QStringLiteral("observed")) ? QStringLiteral("measured")
            : guessed                                                                     ? QStringLiteral("inferred")
                                                                                          : QStringLiteral("read");
    }

    if (rule.memory == MemoryKind::Checkpointed) {
        rule.recurrent = (facts.logAttached && log.recurrent) || (facts.gguf && facts.gguf->recurrent);
        if (!rule.recurrent) {
            rule.slidingWindow = facts.logAttached && log.slidingWindow > 0 ? log.slidingWindow
                : facts.gguf                                                ? facts.gguf->slidingWindow
                                                                            : 0;
            if (facts.logAttached && log.windowCells > 0)
                rule.windowCells = log.windowCells;
        }
        rule.ringVisible = facts.logLive || facts.slotRing || (flagsKnown && facts.flags.checkpointsMax == 0);
    }
    rule.slotCount = facts.slotCount;

    // Chunk reuse: the flag's value decides; the log shows it at -lv 5, and runs that were moved at -lv 4.
    if (facts.logAttached && log.chunksUnsupported)
        claim(chunks, chunkClaim(), QStringLiteral("0"), QStringLiteral("log"),
              QStringLiteral("--cache-reuse is not supported with this model, says the server"));
    else if (facts.logAttached && log.chunkReuse > 0)
        claim(chunks, chunkClaim(), QString::number(log.chunkReuse), QStringLiteral("log"),
              QStringLiteral("it says the smallest run that it looks for"));
    const int flag = std::max(0, facts.flags.cacheReuse.value_or(0));
    if (flagsKnown)
        claim(chunks, chunkClaim(), QString::number(flag), QStringLiteral("flags"),
              facts.flags.cacheReuse ? QStringLiteral("--cache-reuse %1 (%2)").arg(flag).arg(facts.flagsSource)
                                     : QStringLiteral("--cache-reuse is not given (%1)").arg(facts.flagsSource));
    if (facts.smallestChunk > 0 && (!flagsKnown || flag == 0 || flag > facts.smallestChunk) && log.chunkReuse <= 0)
        claim(chunks, chunkClaim(), QString::number(facts.smallestChunk), QStringLiteral("log"),
              QStringLiteral("the smallest run that was moved; the flag's value may be lower"));
    if (const Evidence *best = settle(chunks, judgement.evidence)) {
        rule.chunkReuseKnown = true;
        // Measured on build 11669: SWA never moves a run; recurrent and hybrid memory do, wrongly (cache/reuse.cpp).
        const bool windowed = rule.memory == MemoryKind::Checkpointed && !rule.recurrent;
        rule.chunkReuse = windowed ? 0 : best->value.toInt();
    }

    const auto also = [&](const QString &what, const QString &value, const QString &source, const QString &detail) {
        judgement.evidence.append({what, value, source, detail, now});
    };
    if (rule.memory != MemoryKind::FullAttention) {
        const QString ring = QStringLiteral("ring");
        if (facts.logLive)
            also(ring, QStringLiteral("visible"), QStringLiteral("log"),
                 log.checkpointsMax >= 0 ? QStringLiteral("at most %1 checkpoints, %2 tokens apart")
                                               .arg(log.checkpointsMax)
                                               .arg(log.checkpointsMinStep)
                                         : QStringLiteral("read from the server's log"));
        if (facts.slotRing)
            also(ring, QStringLiteral("visible"), QStringLiteral("slots"),
                 QStringLiteral("listed in the slot payload"));
        if (flagsKnown && facts.flags.checkpointsMax == 0)
            also(ring, QStringLiteral("off"), QStringLiteral("flags"),
                 QStringLiteral("-ctxcp 0: no checkpoints are made (%1)").arg(facts.flagsSource));
        else if (flagsKnown && (facts.flags.checkpointsMax || facts.flags.checkpointsMinStep))
            also(ring, QStringLiteral("set"), QStringLiteral("flags"),
                 QStringLiteral("%1 checkpoints, %2 tokens apart (%3)")
                     .arg(facts.flags.checkpointsMax ? QString::number(*facts.flags.checkpointsMax)
                                                     : QStringLiteral("the default number of"),
                          QString::number(facts.flags.checkpointsMinStep.value_or(kDefaultMinStep)),
                          facts.flagsSource));
    }

    // Host prompt cache.
    if (flagsKnown) {
        if (facts.flags.slotSimilarity)
            rule.slotSimilarity = *facts.flags.slotSimilarity;
        if (facts.flags.cacheRamMib) {
            rule.hostCache = *facts.flags.cacheRamMib != 0;
            rule.hostCacheLimitBytes = *facts.flags.cacheRamMib < 0 ? std::numeric_limits<qint64>::max()
                                                                    : qint64(*facts.flags.cacheRamMib) * 1024 * 1024;
        }
    }
    if (facts.logAttached && log.hostCacheUnlimited) {
        rule.hostCache = true;
        rule.hostCacheLimitBytes = std::numeric_limits<qint64>::max();
    } else if (facts.logAttached && log.hostCacheLimitBytes >= 0) {
        rule.hostCache = log.hostCacheLimitBytes > 0;
        rule.hostCacheLimitBytes = log.hostCacheLimitBytes;
    }

    // Unified KV is the default without -np; an idle slot is then saved and cleared when another one starts a task. The
    // log says so at start; a log that lost its start says nothing.
    const QString idle = QStringLiteral("idle_slots_cleared");
    if (facts.logAttached && (log.idleSlotsCleared || log.slots >= 0)) {
        rule.idleSlotsCleared = log.idleSlotsCleared;
        also(idle, log.idleSlotsCleared ? QStringLiteral("yes") : QStringLiteral("no"), QStringLiteral("log"),
             log.idleSlotsCleared ? QStringLiteral("idle slots are saved and cleared upon starting a new task")
                                  : QStringLiteral("the server's start does not say that idle slots are cleared"));
    } else if (flagsKnown && facts.slotCount > 1) {
        const bool unified = facts.flags.unified.value_or(!facts.flags.parallel.has_value());
        rule.idleSlotsCleared = unified && facts.flags.cacheIdleSlots.value_or(true) && rule.hostCache;
        also(idle, rule.idleSlotsCleared ? QStringLiteral("yes") : QStringLiteral("no"), QStringLiteral("flags"),
             facts.flagsSource);
    }
    return judgement;
}

QStringList adviceFor(const BackendInfo &info, const MemoryFacts &facts)
{
    const ReuseRule &rule = info.rule;
    const LogFacts &log = facts.log;
    const bool flagsKnown = !facts.flagsSource.isEmpty();
    const auto told = [&info](const QString &step) {
        for (const ProbeStep &row : info.probe) {
            if (row.name == step)
                return row.message;
        }
        return QString();
    };
    const auto number = [](qint64 value) { return QLocale(QLocale::English).toString(value); };
    const int window = info.contextSize;
    QStringList advice;
    if (rule.memory != MemoryKind::FullAttention && !rule.ringVisible) {
        if (facts.logAttached && log.verbosity >= 0 && log.verbosity < 4)
            advice.append(QStringLiteral("The log is attached but is written at -lv %1, which shows no checkpoints: "
                                         "start llama-server with -lv 4.")
                              .arg(log.verbosity));
        else if (facts.logAttached)
            advice.append(QStringLiteral("The log is attached but shows no checkpoints yet: llama-server must run with "
                                         "-lv 4, and write to the file that Kerf reads."));
        else
            advice.append(
                QStringLiteral("Make the checkpoint ring visible: start llama-server with -lv 4 --log-file FILE and "
                               "give Kerf --server-log FILE, or let Kerf start it: --launch -- llama-server ... A cut "
                               "can then be laid onto a checkpoint, and its reuse claimed; it costs some lines of log "
                               "a request and no memory."));
    }
    if (rule.memory == MemoryKind::Unknown)
        advice.append(QStringLiteral("The memory kind is unknown: give Kerf the server's log (--server-log FILE), or "
                                     "its start flags and model (--server-flags \"...\"). Until then no reuse is "
                                     "claimed."));
    if (!info.capabilities.slotSave)
        advice.append(QStringLiteral("Start llama-server with --slot-save-path DIR to save and restore slots: going "
                                     "back behind a compaction then costs a read of the disk instead of a whole "
                                     "prefill; a file is as large as the slot's state (it says: %1).")
                          .arg(told(QStringLiteral("slot_save"))));
    if (!info.capabilities.slots)
        advice.append(
            QStringLiteral(
                "Start llama-server with --slots (without --no-slots): the slot state is then readable (it says: %1).")
                .arg(info.slotsUnreadableReason));
    const bool recurrent =
        rule.recurrent || (facts.logAttached && log.recurrent) || (facts.gguf && facts.gguf->recurrent);
    if (rule.memory == MemoryKind::FullAttention && !recurrent && rule.chunkReuseKnown && rule.chunkReuse == 0
        && !log.chunksUnsupported) {
        // What stands behind the cut at the shipped 75 -> 55 %, with the head of the cache-first profile.
        const int budget = window - std::min(2048, window / 8);
        const int behind = window > 0 ? std::max(0, budget * 55 / 100 - std::min(4096, budget * 26 / 100)) : 0;
        advice.append(QStringLiteral("Start llama-server with --cache-reuse 64: equal runs behind a cut are then moved "
                                     "and reused too%1; it costs no memory.")
                          .arg(behind > 0
                                   ? QStringLiteral(", about %1 tokens less to prefill at each compaction of this "
                                                    "window")
                                         .arg(number(behind / 100 * 100))
                                   : QString()));
    }
    if (rule.memory == MemoryKind::FullAttention && !recurrent && !rule.chunkReuseKnown)
        advice.append(QStringLiteral("Whether --cache-reuse is on is unknown (no answer of the server names it): tell "
                                     "Kerf with --server-flags \"...\"."));
    if (recurrent && rule.chunkReuse > 0)
        advice.append(QStringLiteral("Start llama-server without --cache-reuse: this model's memory is recurrent, and "
                                     "what is moved there still contains what was evicted."));
    const bool ringOff =
        (flagsKnown && facts.flags.checkpointsMax == 0) || (facts.logAttached && log.checkpointsMax == 0);
    if (rule.memory == MemoryKind::Checkpointed && ringOff) {
        advice.append(QStringLiteral("Start llama-server with -ctxcp 32: with -ctxcp 0 no checkpoints are made, and "
                                     "any change before the end costs the whole prompt."));
    } else if (rule.memory == MemoryKind::Checkpointed) {
        const int step = facts.logAttached && log.checkpointsMinStep >= 0 ? log.checkpointsMinStep
            : flagsKnown ? facts.flags.checkpointsMinStep.value_or(kDefaultMinStep)
                         : -1;
        if (step > 0 && window > 0 && step > window / 16) {
            const int most = std::max(64, window / 32);
            const int wanted = facts.turnTokens > 0 ? std::clamp(facts.turnTokens / 64 * 64, 64, most) : most;
            const int count = (window + wanted - 1) / wanted;
            const int ring = facts.logAttached && log.checkpointsMax > 0 ? log.checkpointsMax
                : flagsKnown                                             ? facts.flags.checkpointsMax.value_or(32)
                                                                         : 32;
            const QString flags = count > ring ? QStringLiteral("-cms %1 -ctxcp %2").arg(wanted).arg(count)
                                               : QStringLiteral("-cms %1").arg(wanted);
            const QString turn = facts.turnTokens > 0
                ? QStringLiteral(", where a turn is about %1 tokens").arg(number(facts.turnTokens))
                : QString();
            const QString memory = facts.checkpointBytes > 0
                ? QStringLiteral("%1 checkpoints of %2 MiB, %3 MiB a slot")
                      .arg(count)
                      .arg(QString::number(double(facts.checkpointBytes) / 1048576, 'f', 2),
                           QString::number(double(facts.checkpointBytes) / 1048576 * count, 'f', 0))
                : QStringLiteral("the memory of %1 checkpoints a slot").arg(count);
            advice.append(QStringLiteral("Start llama-server with %1: checkpoints %2 tokens apart leave few places for "
                                         "a cut in a window of %3%4. A cut then loses at most %5 tokens to the next "
                                         "checkpoint instead of up to %2; it costs %6.")
                              .arg(flags, number(step), number(window), turn, number(wanted), memory));
        }
    }
    if (rule.idleSlotsCleared && info.slotCount > 1)
        advice.append(QStringLiteral("Do not pin slots on this server: an idle slot is cleared when another one starts "
                                     "a task%1. -np %2 (a window of %3 for each slot) or --no-cache-idle-slots (all "
                                     "share one window) would allow it.")
                          .arg(facts.pinsCleared > 0
                                   ? QStringLiteral(" (%1 pinned to a cleared slot here: %2 tokens "
                                                    "prefilled)")
                                         .arg(requests(facts.pinsCleared), number(facts.pinsClearedTokens))
                                   : QString())
                          .arg(info.slotCount)
                          .arg(window > 0 ? QStringLiteral("%1 / %2").arg(number(window)).arg(info.slotCount)
                                          : QStringLiteral("a part of the window")));
    if (rule.hostCache && facts.loadsInTheWay > 0)
        advice.append(QStringLiteral("Start llama-server with --cache-ram 0: a prompt loaded from the host cache took "
                                     "the place of one whose tail could have been moved (%1, %2 tokens prefilled). It "
                                     "frees the cache's memory, and conversations that take turns on one slot lose "
                                     "what they held.")
                          .arg(requests(facts.loadsInTheWay), number(facts.loadsInTheWayTokens)));
    if (flagsKnown && facts.flags.cachePrompt == false)
        advice.append(QStringLiteral("Start llama-server without --no-cache-prompt: nothing is reused unless a request "
                                     "itself says cache_prompt."));
    if (!info.capabilities.metrics)
        advice.append(
            QStringLiteral("Start llama-server with --metrics to count its prefill over all clients (it says: %1).")
                .arg(told(QStringLiteral("metrics"))));
    return advice;
}

} // namespace kerf
