// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/calibration/calibration.h"

#include <QLocale>

#include <algorithm>
#include <utility>

namespace kerf {

namespace {

/// As everywhere (SPEC section 9): a prediction holds within so many tokens.
constexpr int kTolerance = 8;
/// Fewer equal tokens than this are no reuse worth the name.
constexpr int kMeaningful = 16;
constexpr int kMarker = 1200;
constexpr int kExtension = 100;
constexpr int kShortened = 300;
constexpr int kLongRewind = 400; ///< a long prompt is gone back to here
constexpr int kTail = 20; ///< new tokens behind every place that is gone back to
constexpr int kGap = 40; ///< tokens between the runs of the chunk prompt
constexpr int kTurns = 8; ///< turns of the ladder
constexpr int kTurn = 300; ///< tokens of each
constexpr int kFirstLong = 5120;
/// The largest window with its batch that is known in the field: 8,192 + 512.
constexpr int kLargestWindow = 8704;
/// Part of the context that a prompt may fill.
constexpr double kFill = 0.92;

QString number(int value) { return QLocale(QLocale::English, QLocale::UnitedStates).toString(value); }

int roomOf(const CalibrationSetup &setup) { return static_cast<int>(kFill * setup.contextSize); }
/// In a small window everything is sent in proportion.
int scaled(const CalibrationSetup &setup, int tokens)
{
    const int room = roomOf(setup);
    const int wanted = kMarker + kExtension + 2 * kTail + 200;
    return room >= wanted ? tokens : std::max(kTail, tokens * room / wanted);
}

QList<int> longsOf(const CalibrationSetup &setup)
{
    const int most = std::min(setup.longest, roomOf(setup));
    const int least = scaled(setup, kMarker) + scaled(setup, kExtension) + 2 * kTail;
    QList<int> longs;
    for (const int length : {std::min(kFirstLong, most), most}) {
        if (length > least && (longs.isEmpty() || length > longs.constLast() + kExtension))
            longs.append(length);
    }
    return longs;
}

/// Tokens of a turn of the ladder.
int turnOf(const CalibrationSetup &setup) { return std::min(kTurn, roomOf(setup) / (kTurns + 1)); }

QList<int> runsOf(const CalibrationSetup &setup)
{
    QList<int> runs;
    int room = roomOf(setup) - scaled(setup, kShortened) - kGap - kTail;
    for (const int run : {512, 256, 128, 64, 32, 16}) {
        if (run + kGap <= room) {
            runs.append(run);
            room -= run + kGap;
        }
    }
    return runs;
}

} // namespace

Calibration::Calibration(CalibrationSetup setup)
    : m_setup(std::move(setup))
    , m_random(m_setup.seed * 0x9e3779b97f4a7c15ULL + 0x1234567ULL)
    , m_longs(longsOf(m_setup))
{
    if (m_setup.contextSize < 1024 || m_setup.alphabet.size() < 32) {
        m_finding.notes.append(QStringLiteral("a context of at least 1,024 tokens is needed"));
        m_phase = Phase::Over;
    }
}

/// splitmix64: the same seed gives the same prompts on every platform.
TokenList Calibration::fresh(int count)
{
    TokenList tokens;
    tokens.reserve(count);
    for (int i = 0; i < count; ++i) {
        quint64 z = (m_random += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        z ^= z >> 31;
        tokens.append(m_setup.alphabet.at(static_cast<qsizetype>(z % static_cast<quint64>(m_setup.alphabet.size()))));
    }
    return tokens;
}

CalibrationRequest Calibration::sending(const QString &name, TokenList tokens, int expected)
{
    m_expected = expected;
    CalibrationStep step;
    step.name = name;
    step.sent = static_cast<int>(tokens.size());
    step.expected = expected;
    m_steps.append(step);
    m_held = tokens;
    return {CalibrationRequest::Act::Send, name, std::move(tokens)};
}

void Calibration::conclude(const QString &text) { m_steps.last().concluded = text; }

bool Calibration::closeTo(int reused, int expected) const { return reused >= expected - kTolerance; }

std::optional<CalibrationRequest> Calibration::next()
{
    const auto acting = [this](CalibrationRequest::Act act, const QString &name) {
        CalibrationStep step;
        step.name = name;
        m_steps.append(step);
        m_expected = -1;
        return CalibrationRequest{act, name, {}};
    };
    switch (m_phase) {
    case Phase::Marker:
        return sending(QStringLiteral("marker"), fresh(scaled(m_setup, kMarker)), 0);
    case Phase::Extend: {
        const int held = static_cast<int>(m_held.size());
        return sending(QStringLiteral("extend"), m_held + fresh(scaled(m_setup, kExtension)), held);
    }
    case Phase::Repeat:
        return sending(QStringLiteral("repeat"), m_held, static_cast<int>(m_held.size()) - 1);
    case Phase::Shorten: {
        const int kept = scaled(m_setup, kShortened);
        return sending(QStringLiteral("shorten"), m_held.first(kept) + fresh(kTail), kept);
    }
    case Phase::Long:
        return sending(QStringLiteral("long %1").arg(m_longs.constFirst()), fresh(m_longs.constFirst()), 0);
    case Phase::LongRewind: {
        const int kept = scaled(m_setup, kLongRewind);
        return sending(QStringLiteral("rewind %1").arg(m_held.size() - kept), m_held.first(kept) + fresh(kTail), kept);
    }
    case Phase::Ladder: {
        // Checkpoints are made where a turn begins: a conversation is grown, as chats do.
        const int turn = turnOf(m_setup);
        const int held = m_grown > 0 ? static_cast<int>(m_held.size()) : 0;
        ++m_grown;
        return sending(QStringLiteral("grow %1").arg(m_grown), (held > 0 ? m_held : TokenList()) + fresh(turn), held);
    }
    case Phase::LadderRewind: {
        const int kept = m_rungs.constFirst();
        return sending(QStringLiteral("rewind to %1").arg(kept), m_held.first(kept) + fresh(kTail), kept);
    }
    case Phase::ChunkBase: {
        m_runs = runsOf(m_setup);
        const TokenList head = fresh(scaled(m_setup, kShortened));
        m_head = static_cast<int>(head.size());
        TokenList held = head;
        m_spliced = head;
        for (const int length : std::as_const(m_runs)) {
            const TokenList run = fresh(length);
            held += fresh(kGap) + run;
            m_spliced += run;
        }
        m_spliced += fresh(kTail);
        return sending(QStringLiteral("chunk base"), held, 0);
    }
    case Phase::Chunks:
        return sending(QStringLiteral("chunks"), m_spliced, m_head);
    case Phase::Save:
        return acting(CalibrationRequest::Act::Save, QStringLiteral("save"));
    case Phase::Erase:
        return acting(CalibrationRequest::Act::Erase, QStringLiteral("erase"));
    case Phase::Restore:
        return acting(CalibrationRequest::Act::Restore, QStringLiteral("restore"));
    case Phase::AfterRestore: {
        const int held = static_cast<int>(m_held.size());
        return sending(QStringLiteral("after restore"), m_held + fresh(kTail), held);
    }
    case Phase::Over:
        break;
    }
    return std::nullopt;
}

void Calibration::afterMemory()
{
    // A window that the rewinds did not reach behind would look like full attention.
    if (m_granular) {
        m_finding.rewindGrain = 1;
        if (m_finding.provenRewind >= std::min(kLargestWindow, m_setup.contextSize * 13 / 20)) {
            m_finding.memory = MemoryKind::FullAttention;
        } else {
            m_finding.notes.append(
                QStringLiteral(
                    "rewinds of up to %1 tokens lose nothing; a sliding window longer than that was not ruled out")
                    .arg(number(m_finding.provenRewind)));
        }
        enter(Phase::ChunkBase);
        return;
    }
    m_finding.memory = MemoryKind::Checkpointed;
    m_finding.rewindGrain = m_lost > 0 ? m_lost : -1;
    afterChunks();
}

void Calibration::afterChunks() { enter(m_setup.canPersist ? Phase::Save : Phase::Over); }

void Calibration::took(const CalibrationReply &reply)
{
    if (m_phase == Phase::Over || m_steps.isEmpty())
        return;
    CalibrationStep &step = m_steps.last();
    step.ms = reply.ms;
    const bool sent = m_phase != Phase::Save && m_phase != Phase::Erase && m_phase != Phase::Restore;
    if (sent) {
        step.reused = reply.reused;
        step.prefilled = reply.prefilled;
        if (reply.ms > 0)
            m_fit.add(reply.reused, reply.reused + reply.prefilled, reply.ms);
        if (std::abs(reply.reused + reply.prefilled - step.sent) > 1) {
            failed(QStringLiteral(
                       "%1 tokens were sent, the server counts %2 reused and %3 processed: another prompt than ours")
                       .arg(number(step.sent), number(reply.reused), number(reply.prefilled)));
            return;
        }
    } else if (m_phase != Phase::Erase) {
        step.sent = reply.reused;
    }
    const bool good = closeTo(reply.reused, m_expected);
    const QString lost = number(std::max(0, m_expected - reply.reused));

    switch (m_phase) {
    case Phase::Marker:
        if (reply.reused > kMeaningful)
            m_finding.notes.append(
                QStringLiteral("a prompt that nobody sent before was met with %1 tokens: the slot is shared")
                    .arg(number(reply.reused)));
        conclude(QStringLiteral("a new prompt: nothing to reuse"));
        enter(Phase::Extend);
        break;
    case Phase::Extend:
        if (reply.reused < kMeaningful) {
            m_finding.promptCacheOff = true;
            m_finding.notes.append(QStringLiteral("only requests with \"cache_prompt\": true can be reused here"));
            conclude(QStringLiteral(
                "not even a prompt that only grows is reused: prompt caching is off (--no-cache-prompt)"));
            enter(Phase::Over);
            break;
        }
        conclude(good ? QStringLiteral("a prompt that grows is reused whole")
                      : QStringLiteral("a prompt that grows loses %1 tokens").arg(lost));
        enter(Phase::Repeat);
        break;
    case Phase::Repeat:
        // Full attention computes the last token again, recurrent memory goes back to 4 before the end.
        m_granular = reply.reused >= m_expected;
        conclude(m_granular ? QStringLiteral("the same prompt again costs one token")
                     : good
                     ? QStringLiteral("the same prompt again goes back to a checkpoint %1 tokens before its end")
                           .arg(number(step.sent - reply.reused))
                     : QStringLiteral("the same prompt again loses %1 tokens: no checkpoint near its end").arg(lost));
        enter(Phase::Shorten);
        break;
    case Phase::Shorten:
        if (good && !m_granular) {
            // A checkpoint happened to stand there: token-granular memory would have repeated the prompt for one token.
            conclude(QStringLiteral("going back to %1 met a checkpoint at %2")
                         .arg(number(m_expected), number(reply.reused)));
            enter(Phase::Ladder);
            break;
        }
        if (good) {
            m_finding.provenRewind = scaled(m_setup, kMarker) + scaled(m_setup, kExtension) - m_expected;
            conclude(QStringLiteral("going back %1 tokens lost nothing").arg(number(m_finding.provenRewind)));
            if (m_longs.isEmpty())
                afterMemory();
            else
                enter(Phase::Long);
            break;
        }
        m_granular = false;
        if (reply.reused >= kMeaningful)
            m_lost = std::max(m_lost, m_expected - reply.reused);
        conclude(reply.reused >= kMeaningful
                     ? QStringLiteral("going back to %1 fell to a checkpoint at %2")
                           .arg(number(m_expected), number(reply.reused))
                     : QStringLiteral("going back to %1 found nothing to go on from").arg(number(m_expected)));
        enter(Phase::Ladder);
        break;
    case Phase::Long:
        conclude(QStringLiteral("a new prompt of %1 tokens").arg(number(step.sent)));
        enter(Phase::LongRewind);
        break;
    case Phase::LongRewind: {
        const int rewind = m_longs.takeFirst() - m_expected;
        if (good) {
            m_finding.provenRewind = std::max(m_finding.provenRewind, rewind);
            conclude(QStringLiteral("going back %1 tokens lost nothing").arg(number(rewind)));
            if (m_longs.isEmpty())
                afterMemory();
            else
                enter(Phase::Long);
            break;
        }
        m_granular = false;
        conclude(QStringLiteral("going back %1 tokens lost %2: a window shorter than that").arg(number(rewind), lost));
        if (reply.reused >= kMeaningful)
            m_lost = std::max(m_lost, m_expected - reply.reused);
        enter(Phase::Ladder);
        break;
    }
    case Phase::Ladder:
        conclude(m_grown == 1 ? QStringLiteral("a new prompt of %1 tokens").arg(number(step.sent))
                     : good   ? QStringLiteral("%1 tokens more, the rest was reused").arg(number(turnOf(m_setup)))
                              : QStringLiteral("%1 tokens more, and %2 were lost").arg(number(turnOf(m_setup)), lost));
        if (m_grown < kTurns)
            break;
        for (const int half : {2 * kTurns - 1, kTurns + 1, 3})
            m_rungs.append(half * turnOf(m_setup) / 2);
        enter(Phase::LadderRewind);
        break;
    case Phase::LadderRewind:
        m_rungs.removeFirst();
        if (reply.reused >= kMeaningful)
            m_lost = std::max(m_lost, m_expected - reply.reused);
        conclude(good ? QStringLiteral("nothing was lost")
                     : reply.reused >= kMeaningful
                     ? QStringLiteral("fell to a checkpoint at %1, %2 tokens were lost").arg(number(reply.reused), lost)
                     : QStringLiteral("found nothing to go on from"));
        if (m_rungs.isEmpty() || reply.reused < kMeaningful)
            afterMemory();
        break;
    case Phase::ChunkBase:
        conclude(QStringLiteral("a new prompt of %1 tokens").arg(number(step.sent)));
        enter(Phase::Chunks);
        break;
    case Phase::Chunks: {
        int moved = reply.reused - m_head;
        int least = 0;
        for (const int run : std::as_const(m_runs)) {
            if (moved < run - kTolerance)
                break;
            moved -= run;
            least = run;
        }
        m_finding.chunkReuse = least;
        conclude(
            least > 0
                ? QStringLiteral("behind the cut runs of %1 tokens and more were shifted into place").arg(number(least))
                : QStringLiteral("behind the cut nothing was shifted (runs of up to %1 tokens)")
                      .arg(number(m_runs.value(0))));
        afterChunks();
        break;
    }
    case Phase::Save:
        conclude(QStringLiteral("%1 tokens were saved").arg(number(reply.reused)));
        enter(Phase::Erase);
        break;
    case Phase::Erase:
        conclude(QStringLiteral("the slot is empty"));
        enter(Phase::Restore);
        break;
    case Phase::Restore:
        conclude(QStringLiteral("the server says that %1 tokens are back").arg(number(reply.reused)));
        enter(Phase::AfterRestore);
        break;
    case Phase::AfterRestore:
        m_finding.restoreHolds = good;
        conclude(good ? QStringLiteral("the restored tokens are reused")
                      : QStringLiteral("the server said restored, but %1 of %2 tokens are computed again")
                            .arg(number(reply.prefilled), number(step.sent)));
        enter(Phase::Over);
        break;
    case Phase::Over:
        break;
    }
}

void Calibration::failed(const QString &why)
{
    if (!m_steps.isEmpty())
        conclude(QStringLiteral("failed: %1").arg(why));
    // A server that refuses to save or restore is an answer too.
    if (m_phase == Phase::Restore)
        m_finding.restoreHolds = false;
    m_finding.notes.append(QStringLiteral("the experiment ended at \"%1\": %2")
                               .arg(m_steps.isEmpty() ? QStringLiteral("start") : m_steps.constLast().name, why));
    enter(Phase::Over);
}

CalibrationFinding Calibration::finding() const
{
    CalibrationFinding finding = m_finding;
    finding.cost = m_fit.cost();
    return finding;
}

int Calibration::mostRequests(const CalibrationSetup &setup)
{
    // A window that only the longest rewind shows is followed by the ladder.
    return 4 + 2 * static_cast<int>(longsOf(setup).size()) + kTurns + 3 + (setup.canPersist ? 1 : 0);
}

int Calibration::mostTokens(const CalibrationSetup &setup)
{
    const int marker = scaled(setup, kMarker);
    int tokens = marker + scaled(setup, kExtension) * 2 + marker + scaled(setup, kShortened) + kTail;
    for (const int length : longsOf(setup))
        tokens += length + scaled(setup, kLongRewind) + kTail;
    // Either the ladder with everything lost at each step, or the chunk prompt twice.
    const int top = kTurns * turnOf(setup);
    int chunks = 2 * scaled(setup, kShortened) + kTail;
    for (const int run : runsOf(setup))
        chunks += 2 * run + kGap;
    tokens += std::max(top * (kTurns + 1) / 2 + 3 * (top + kTail), chunks);
    if (setup.canPersist)
        tokens += std::max(top, chunks) + kTail;
    return tokens;
}

QString calibrationSentence(const CalibrationFinding &finding)
{
    if (finding.promptCacheOff)
        return QStringLiteral("nothing is reused: prompt caching is off on this server");
    switch (finding.memory) {
    case MemoryKind::FullAttention:
        return QStringLiteral("goes back to any position (rewinds of up to %1 tokens were tried)")
            .arg(number(finding.provenRewind));
    case MemoryKind::Checkpointed:
        return finding.rewindGrain > 0
            ? QStringLiteral("goes back to checkpoints; up to %1 tokens were lost").arg(number(finding.rewindGrain))
            : QStringLiteral("goes back to checkpoints, and found none");
    case MemoryKind::Unknown:
        break;
    }
    return QStringLiteral("not settled");
}

} // namespace kerf
