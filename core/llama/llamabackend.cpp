// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/llamabackend.h"

#include "core/base/log.h"
#include "core/llama/oneshot.h"

#include <QCoroFuture>

#include <QCryptographicHash>
#include <QDeadlineTimer>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QHostAddress>
#include <QJsonArray>
#include <QJsonDocument>
#include <QPointer>
#include <QtConcurrent>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <system_error>

namespace kerf {

using namespace std::chrono_literals;

namespace {

constexpr int kFirstBackOffMs = 500;
constexpr int kMostBackOffMs = 15'000;
constexpr int kLogSettleMs = 400;
constexpr int kPollMs = 2'000;
constexpr int kStillWatchedMs = 120'000; ///< slots are polled that long after somebody asked for them
constexpr int kLaunchMs = 300'000; ///< a child may load its model that long before ready() gives up
constexpr qsizetype kParseOffLoop = 256 * 1024; ///< bodies above this are parsed on a pool thread
constexpr int kCachedTokens = 4'000'000; ///< of all renders that are remembered
/// Lives counted by HTTP are other numbers than those of the log: the book never takes one for the other.
constexpr int kHttpLives = 1'000'000;

struct Pieces {
    QList<TokenPiece> pieces;
    bool ok = false;
};

Pieces parsePieces(const QByteArray &body)
{
    Pieces parsed;
    const QJsonDocument document = QJsonDocument::fromJson(body);
    if (!document.isObject() || !document.object().value(QStringLiteral("tokens")).isArray())
        return parsed;
    const QJsonArray rows = document.object().value(QStringLiteral("tokens")).toArray();
    parsed.pieces.reserve(rows.size());
    for (const QJsonValue &row : rows) {
        TokenPiece piece;
        if (row.isDouble()) {
            piece.id = row.toInt(); // a server that does not know with_pieces
        } else {
            const QJsonObject object = row.toObject();
            piece.id = object.value(QStringLiteral("id")).toInt();
            const QJsonValue text = object.value(QStringLiteral("piece"));
            if (text.isArray()) {
                const QJsonArray bytes = text.toArray(); // a piece that is no UTF-8 comes as its bytes
                for (const QJsonValue &byte : bytes)
                    piece.bytes.append(static_cast<char>(byte.toInt()));
            } else {
                piece.bytes = text.toString().toUtf8();
            }
        }
        parsed.pieces.append(piece);
    }
    parsed.ok = true;
    return parsed;
}

bool isLocal(const QUrl &url)
{
    const QString host = url.host();
    return host == QLatin1String("localhost") || QHostAddress(host).isLoopback();
}

// Bodies are made outside the coroutines: gcc 12 does not compile an initializer list in a co_await expression.
QJsonObject tokenizeBody(const QString &content, bool special, bool pieces)
{
    return {{QStringLiteral("content"), content},
            {QStringLiteral("add_special"), special},
            {QStringLiteral("parse_special"), special},
            {QStringLiteral("with_pieces"), pieces}};
}

/// The same conversation with a unique marker for every content, to learn what the template puts around them.
QJsonArray withMarkers(const QJsonArray &messages, QList<QByteArray> &markers, QList<QByteArray> &contents)
{
    QJsonArray marked;
    for (qsizetype i = 0; i < messages.size(); ++i) {
        QJsonObject message = messages.at(i).toObject();
        const QJsonValue content = message.value(QStringLiteral("content"));
        QByteArray text;
        if (content.isArray()) {
            QStringList texts;
            const QJsonArray parts = content.toArray();
            for (const QJsonValue &part : parts) {
                const QString words = part.toObject().value(QStringLiteral("text")).toString();
                if (!words.isEmpty())
                    texts.append(words);
            }
            text = texts.join(QLatin1Char('\n')).toUtf8();
        } else {
            text = content.toString().toUtf8();
        }
        contents.append(text);
        if (text.trimmed().isEmpty()) {
            markers.append(QByteArray());
        } else {
            const QByteArray marker = "kerf-edge-" + QByteArray::number(i) + "-mark";
            markers.append(marker);
            message.insert(QStringLiteral("content"), QString::fromLatin1(marker));
        }
        marked.append(message);
    }
    return marked;
}

struct Layouted {
    RenderedPrompt rendered;
    QList<TokenPiece> pieces;
    bool ok = false;
};

Layouted layOut(const QByteArray &prompt, const QByteArray &tokensBody, const QList<QByteArray> &contents,
                const QByteArray &probe, const QList<QByteArray> &markers, int systemMessages)
{
    Layouted result;
    const Pieces parsed = parsePieces(tokensBody);
    if (!parsed.ok)
        return result;
    result.ok = true;
    result.pieces = parsed.pieces;
    result.rendered.layout =
        layoutPrompt(prompt, parsed.pieces, findMessages(prompt, contents, probe, markers), true, systemMessages);
    return result;
}

/// Only the header of the file is read.
std::optional<GgufHeader> headerOf(const QString &path)
{
    const Result<GgufHeader> header = readGgufHeader(path);
    return header ? std::optional<GgufHeader>(*header) : std::nullopt;
}

bool isGone(HttpReply::Failure failure) { return failure == HttpReply::Failure::Refused; }

bool isBareName(const QString &fileName)
{
    return !fileName.isEmpty() && !fileName.contains(QLatin1Char('/')) && !fileName.contains(QLatin1Char('\\'))
        && fileName != QLatin1String(".") && fileName != QLatin1String("..");
}

QByteArray promptKey(const TokenList &prompt)
{
    return QByteArray::number(hashTokens(prompt, static_cast<int>(prompt.size())), 16) + '-'
        + QByteArray::number(prompt.size());
}

} // namespace

LlamaBackend::LlamaBackend(QUrl url, BackendOptions options, QObject *parent)
    : Backend(parent)
    , m_options(std::move(options))
    , m_http(url, m_options.apiKey)
{
    m_info.kind = QStringLiteral("llama-server");
    m_info.url = url.toString(QUrl::RemoveUserInfo);
    m_info.name = QStringLiteral("llama-server %1").arg(m_info.url);
    m_info.requested = m_options.spec;
    m_rendered.setMaxCost(kCachedTokens);
    m_counts.setMaxCost(65'536);
    m_retry.setSingleShot(true);
    connect(&m_retry, &QTimer::timeout, this, [this] { probe(); });
    m_poll.setInterval(kPollMs);
    connect(&m_poll, &QTimer::timeout, this, &LlamaBackend::poll);
    m_changed.setSingleShot(true);
    m_changed.setInterval(100); // ten updates a second at most
    connect(&m_changed, &QTimer::timeout, this, [this] {
        const bool info = std::exchange(m_infoDirty, false);
        if (info)
            judge();
        rebuildStates();
        if (info)
            Q_EMIT infoChanged();
        Q_EMIT statesChanged();
    });
    connect(&m_tail, &LogTail::linesRead, this, &LlamaBackend::takeLines);
    connect(&m_tail, &LogTail::restarted, this, &LlamaBackend::noteGap);
    connect(&m_tail, &LogTail::opened, this, [this] {
        m_infoDirty = true;
        changed();
    });
}

LlamaBackend::~LlamaBackend() = default;

void LlamaBackend::changed()
{
    if (!m_changed.isActive())
        m_changed.start();
}

void LlamaBackend::start()
{
    if (!m_options.launchCommand.isEmpty()) {
        m_child = std::make_unique<ServerChild>(m_options.launchCommand);
        m_flags = m_child->flags();
        m_flagsSource = QStringLiteral("launched command line");
        m_flagsTold = true;
        connect(m_child.get(), &ServerChild::output, &m_tail, &LogTail::feed);
        connect(m_child.get(), &ServerChild::listening, this, &LlamaBackend::moveTo);
        connect(m_child.get(), &ServerChild::ended, this, [this](const QString &reason, const QString &lastLines) {
            qCWarning(lcLlama) << reason;
            m_notes.append(reason);
            if (!lastLines.isEmpty())
                m_notes.append(QStringLiteral("its last lines: %1").arg(lastLines.right(600).trimmed()));
            m_info.unreachableReason = reason;
            m_info.capabilities.reachable = false;
            if (std::exchange(m_wasReachable, false))
                newLife(reason);
            judge();
            if (!m_probing)
                endProbe(); // whoever waits for the first probe is told
        });
        m_child->start();
    }
    if (!m_options.serverFlags.isEmpty()) {
        m_flags = parseServerFlagsText(m_options.serverFlags);
        m_flagsSource = QStringLiteral("--server-flags");
        m_flagsTold = true;
    }
    if (!m_options.logFile.isEmpty())
        m_tail.follow(m_options.logFile);
    m_poll.start();
    probe();
}

bool LlamaBackend::waitsForAddress() const
{
    if (!isLaunching())
        return false;
    const ServerFlags &flags = m_child->flags();
    // Said at -lv 3 and above; below that the command line is all there is.
    const bool says = flags.verbosity.value_or(4) >= 3;
    return says && flags.port.value_or(0) <= 0 && !m_addressSaid;
}

/// The child's own words about where it listens are surer than its command line.
void LlamaBackend::moveTo(const QUrl &url)
{
    m_addressSaid = true;
    if (url != m_http.base()) {
        m_http.setBase(url);
        m_info.url = url.toString(QUrl::RemoveUserInfo);
        m_info.name = QStringLiteral("llama-server %1").arg(m_info.url);
        m_processLooked = false;
    }
    if (!m_info.capabilities.reachable)
        probe();
}

void LlamaBackend::noteGap(bool gap)
{
    if (!gap)
        return;
    m_model.noteGap();
    m_erasedBy.clear();
    m_logCut = true;
    m_infoDirty = true;
    changed();
}

bool LlamaBackend::isLaunching() const { return m_child && m_child->isRunning() && !m_everReachable; }

QCoro::Task<void> LlamaBackend::ready()
{
    const QPointer<LlamaBackend> self(this);
    // Each step of a probe has its own limit; this one is for all of them.
    QDeadlineTimer limit(m_options.launchCommand.isEmpty() ? qint64(m_options.probeTimeoutMs) * 12 : qint64(kLaunchMs));
    while (self && !m_info.probed && !limit.hasExpired()) {
        const std::chrono::milliseconds left(std::max<qint64>(1, limit.remainingTime()));
        const bool came = co_await emittedWithin(this, &LlamaBackend::probeEnded, left);
        if (!self || !came)
            co_return;
    }
}

QCoro::Task<void> LlamaBackend::probeAgain()
{
    const QPointer<LlamaBackend> self(this);
    if (m_probing) {
        const std::chrono::milliseconds limit(qint64(m_options.probeTimeoutMs) * 12);
        co_await emittedWithin(this, &LlamaBackend::probeEnded, limit);
        co_return;
    }
    m_processLooked = false;
    co_await probe();
}

/// Another life of the server: nothing that we know is held any more, and its start flags may be others.
void LlamaBackend::newLife(const QString &why)
{
    ++m_httpEpoch;
    m_suspect = false;
    m_slots.clear();
    m_lastBySlot.clear();
    m_erasedBy.clear();
    m_rendered.clear();
    m_counts.clear();
    m_pid = 0;
    m_processLooked = false;
    m_smallestChunk = 0;
    m_bookedTask = -1;
    m_bookedTasks.clear();
    if (!m_flagsTold) {
        m_flags = {};
        m_flagsSource.clear();
    }
    // A log that does not begin a new life too is an old one.
    m_logEpochNeeded = m_logEpochAtAnswer + 1;
    qCInfo(lcLlama) << "another life of the server" << m_info.url << why;
}

int LlamaBackend::bookEpoch() const { return logReadable() ? m_model.epoch() : kHttpLives + m_httpEpoch; }

bool LlamaBackend::processIsGone() const
{
    return m_pid > 0 && !QFileInfo::exists(QStringLiteral("/proc/%1").arg(m_pid));
}

void LlamaBackend::lost(const HttpReply &reply)
{
    m_info.capabilities.reachable = false;
    m_info.unreachableReason = QStringLiteral("%1 does not answer: %2").arg(m_info.url, reply.message());
    if (std::exchange(m_wasReachable, false)) {
        m_suspect = true;
        qCWarning(lcLlama) << "server lost" << m_info.url << reply.error;
        Q_EMIT happened(QStringLiteral("server-down"),
                        {{QStringLiteral("url"), m_info.url}, {QStringLiteral("error"), reply.message()}});
        m_infoDirty = true;
        changed();
    }
    if (m_suspect && (isGone(reply.failure) || processIsGone()))
        newLife(reply.error);
    m_backOffMs = 0;
    scheduleProbe(kFirstBackOffMs);
}

void LlamaBackend::scheduleProbe(int afterMs)
{
    if (!m_probing && !m_retry.isActive())
        m_retry.start(afterMs);
}

Error LlamaBackend::unreachable() const
{
    return {Error::Code::Unreachable,
            m_info.unreachableReason.isEmpty() ? QStringLiteral("%1 does not answer").arg(m_info.url)
                                               : m_info.unreachableReason,
            {}};
}

/// What an answer that is none means: gone, too slow, loading again, or refused.
Error LlamaBackend::failed(const HttpReply &reply, const QString &what)
{
    if (reply.timedOut()) // it may just be busy: nothing that it holds is lost
        return {Error::Code::Timeout, QStringLiteral("%1: %2: %3").arg(m_info.url, what, reply.error), {}};
    if (reply.failure == HttpReply::Failure::Cancelled)
        return {Error::Code::Cancelled, QStringLiteral("%1 was cancelled").arg(what), {}};
    if (reply.status == 0) {
        lost(reply);
        return unreachable();
    }
    if (reply.needsKey() || reply.loading()) {
        scheduleProbe(0);
        return {Error::Code::Unreachable,
                reply.loading() ? QStringLiteral("%1 is loading its model").arg(m_info.url)
                                : QStringLiteral("%1 needs an API key").arg(m_info.url),
                {}};
    }
    return {Error::Code::Refused, QStringLiteral("%1: the server refused: %2").arg(what, reply.message()), {}};
}

QCoro::Task<void> LlamaBackend::probe()
{
    const QPointer<LlamaBackend> self(this);
    if (m_probing)
        co_return;
    if (waitsForAddress()) {
        m_retry.start(200); // moveTo() comes sooner
        co_return;
    }
    m_probing = true;
    m_retry.stop();
    const QPointer<HttpClient> http(&m_http);
    const ProbeResult result = co_await probeServer(http, m_options.probeTimeoutMs);
    if (!self)
        co_return;
    takeProbe(result);
    if (result.outcome == ProbeResult::Outcome::Reachable) {
        co_await lookAtProcess();
        if (!self)
            co_return;
        co_await catchUp();
        if (!self)
            co_return;
        // The child's output and a log that is being written are a moment behind.
        if (logReadable())
            m_logEpochAtAnswer = m_model.epoch();
    }
    m_probing = false;
    // Our own child is still loading: the first probe has not ended yet.
    if (result.outcome != ProbeResult::Outcome::Reachable && isLaunching() && !m_info.probed) {
        m_retry.start(200);
        co_return;
    }
    switch (result.outcome) {
    case ProbeResult::Outcome::Reachable:
        m_backOffMs = 0;
        break;
    case ProbeResult::Outcome::Loading:
        m_retry.start(kFirstBackOffMs);
        break;
    case ProbeResult::Outcome::NeedsKey:
        m_retry.start(kMostBackOffMs);
        break;
    case ProbeResult::Outcome::Unreachable:
    case ProbeResult::Outcome::Foreign:
        m_backOffMs = m_backOffMs == 0 ? kFirstBackOffMs : std::min(m_backOffMs * 2, kMostBackOffMs);
        m_retry.start(m_backOffMs);
    }
    endProbe();
}

void LlamaBackend::endProbe()
{
    m_info.probed = true;
    m_infoDirty = false;
    judge();
    rebuildStates();
    Q_EMIT probeEnded();
    Q_EMIT infoChanged();
    Q_EMIT statesChanged();
}

void LlamaBackend::takeProbe(const ProbeResult &result)
{
    m_info.probe = result.steps;
    m_info.unreachableReason = result.reason;
    m_info.capabilities = result.capabilities;
    if (result.outcome != ProbeResult::Outcome::Reachable) {
        m_info.capabilities = {};
        if (std::exchange(m_wasReachable, false)) {
            m_suspect = true;
            qCWarning(lcLlama) << "server lost" << m_info.url << result.reason;
            Q_EMIT happened(QStringLiteral("server-down"),
                            {{QStringLiteral("url"), m_info.url}, {QStringLiteral("error"), result.reason}});
        }
        // A model that is loaded anew holds nothing of before.
        if (m_suspect && (isGone(result.failure) || processIsGone() || result.outcome == ProbeResult::Outcome::Loading))
            newLife(result.reason);
        return;
    }
    const QString identity = m_info.identity;
    m_info.contextSize = result.contextSize;
    m_info.slotCount = result.slotCount;
    m_info.build = result.build;
    m_modelPath = result.modelPath;
    m_info.model = result.alias.isEmpty() ? result.modelPath : result.alias;
    m_info.slotsUnreadableReason = result.slotsReason;
    m_info.tokenizerExact = result.capabilities.tokenize && result.capabilities.applyTemplate;
    m_info.tokenizer = m_info.tokenizerExact ? QStringLiteral("server:%1:%2").arg(m_info.build, m_info.model)
                                             : QStringLiteral("heuristic");
    m_info.identity = QStringLiteral("%1|%2|%3|%4").arg(m_info.url, m_info.build, m_info.model).arg(m_info.contextSize);
    m_oldSlotRoutes = result.oldSlotRoutes;

    qint64 before = -1;
    qint64 after = -1;
    for (const SlotReading &slot : std::as_const(m_slots))
        before = std::max(before, slot.task);
    for (const SlotReading &slot : result.slots)
        after = std::max(after, slot.task);
    // Task numbers only rise in one life of a server. Where neither they nor the process can be seen, a connection that
    // broke counts as a restart: knowing less is safe.
    const bool fell = result.capabilities.slots && after < before;
    const bool blind = m_suspect && m_pid == 0 && !result.capabilities.slots;
    if (m_everReachable && (fell || blind || processIsGone() || (result.sleeping && !m_sleeping)))
        newLife(QStringLiteral("seen by the probe"));
    const bool back = !m_wasReachable && m_everReachable;
    const bool restarted = m_httpEpoch != m_epochAtUp;
    m_sleeping = result.sleeping;
    m_slots = result.slots;
    m_slotsBusy.clear();
    m_suspect = false;
    m_wasReachable = true;
    if (!identity.isEmpty() && identity != m_info.identity) {
        m_fullAttentionSeen = 0;
        m_checkpointedSeen = 0;
        m_pieces.clear();
        m_fit = {};
    }
    if (!m_everReachable || back)
        Q_EMIT happened(QStringLiteral("server-up"),
                        {{QStringLiteral("url"), m_info.url}, {QStringLiteral("build"), m_info.build}});
    if (m_everReachable && restarted && !logReadable()) // else the log says so
        Q_EMIT happened(QStringLiteral("server-restarted"),
                        {{QStringLiteral("url"), m_info.url}, {QStringLiteral("build"), m_info.build}});
    m_everReachable = true;
    m_epochAtUp = m_httpEpoch;
}

/// Start flags of a local server from its command line, and the header of its model file. Both are read on a pool
/// thread.
QCoro::Task<void> LlamaBackend::lookAtProcess()
{
    const QPointer<LlamaBackend> self(this);
    if (!isLocal(m_http.base()))
        co_return;
    if (!m_processLooked) {
        m_processLooked = true;
        const QFuture<std::optional<LocalServer>> looking = QtConcurrent::run(&findLocalServer, m_http.base().port(80));
        const std::optional<LocalServer> found = co_await looking;
        if (!self)
            co_return;
        if (found) {
            m_pid = found->pid;
            m_workingDirectory = found->workingDirectory;
            if (!m_flagsTold && !found->commandLine.isEmpty()) {
                m_flags = found->flags;
                m_flagsSource = QStringLiteral("command line of process %1").arg(found->pid);
            }
        }
        if (!m_flags.slotSavePath.isEmpty() && QFileInfo(m_flags.slotSavePath).isRelative()
            && !m_workingDirectory.isEmpty())
            m_flags.slotSavePath = QDir(m_workingDirectory).filePath(m_flags.slotSavePath);
    }
    QString path = m_modelPath;
    if (!path.isEmpty() && QFileInfo(path).isRelative() && !m_workingDirectory.isEmpty())
        path = QDir(m_workingDirectory).filePath(path);
    if (path == m_ggufPath)
        co_return;
    m_ggufPath = path;
    m_gguf.reset();
    if (path.isEmpty() || !QFileInfo(path).isFile())
        co_return;
    const QFuture<std::optional<GgufHeader>> reading = QtConcurrent::run(&headerOf, path);
    const std::optional<GgufHeader> header = co_await reading;
    if (self && m_ggufPath == path)
        m_gguf = header;
}

MemoryFacts LlamaBackend::memoryFacts() const
{
    MemoryFacts facts;
    facts.build = m_info.build;
    facts.modelPath = m_modelPath;
    facts.modelName = m_info.model;
    facts.contextSize = m_info.contextSize;
    facts.slotCount = m_info.slotCount;
    facts.gguf = m_gguf;
    facts.flags = m_flags;
    facts.flagsSource = m_flagsSource;
    facts.logAttached = logAttached();
    facts.logLive = logReadable();
    facts.log = m_model.facts();
    facts.slotRing = m_info.capabilities.checkpointRing;
    facts.fullAttentionSeen = m_fullAttentionSeen;
    facts.checkpointedSeen = m_checkpointedSeen;
    facts.smallestChunk = m_smallestChunk;
    facts.stored = m_options.storedEvidence;
    qint64 bytes = 0;
    qint64 sized = 0;
    for (const HeldState &state : m_states.states) {
        for (const Checkpoint &checkpoint : state.checkpoints) {
            bytes += std::max<qint64>(0, checkpoint.sizeBytes);
            sized += checkpoint.sizeBytes >= 0 ? 1 : 0;
        }
    }
    if (sized > 0)
        facts.checkpointBytes = bytes / sized;
    QList<int> turns;
    const QList<LogTask> &tasks = m_model.tasks();
    for (auto it = tasks.crbegin(); it != tasks.crend() && turns.size() < 32; ++it) {
        // What only extends what was there: a turn of a conversation.
        if (it->epoch == m_model.epoch() && it->ended() && it->reused > it->promptTokens / 2)
            turns.append(it->promptTokens - it->reused + std::max(0, it->generated));
    }
    if (turns.size() >= 4) {
        std::nth_element(turns.begin(), turns.begin() + turns.size() / 2, turns.end());
        facts.turnTokens = turns.at(turns.size() / 2);
    }
    facts.pinsCleared = m_pinsCleared;
    facts.pinsClearedTokens = m_pinsClearedTokens;
    facts.loadsInTheWay = m_loadsInTheWay;
    facts.loadsInTheWayTokens = m_loadsInTheWayTokens;
    return facts;
}

void LlamaBackend::judge()
{
    const MemoryFacts facts = memoryFacts();
    const MemoryJudgement judgement = judgeMemory(facts, QDateTime::currentDateTimeUtc());
    m_info.rule = judgement.rule;
    m_info.memoryEvidence = judgement.source;
    m_info.memoryDetail = judgement.detail;
    m_info.confidence = judgement.confidence;
    m_info.evidence = judgement.evidence;
    m_info.capabilities.chunkReuse = judgement.rule.chunkReuse > 0;
    m_info.capabilities.logRing = logReadable() && judgement.rule.memory == MemoryKind::Checkpointed;
    m_info.capabilities.partialStateOnly = judgement.byNameAlone;
    m_info.capabilities.contextShift = m_contextShifted || m_flags.contextShift.value_or(false);
    m_info.epoch = m_httpEpoch + m_model.epoch();
    m_info.cost = m_fit.cost();

    if (m_info.capabilities.reachable)
        m_info.advice = adviceFor(m_info, facts);
    else if (m_info.unreachableReason.contains(QLatin1String("API key")))
        m_info.advice = {QStringLiteral("Give the API key: KERF_API_KEY, or --api-key-file FILE.")};
    else if (m_info.unreachableReason.contains(QLatin1String("loading")))
        m_info.advice = {QStringLiteral("Wait until the model is loaded.")};
    else
        m_info.advice = {QStringLiteral("Start llama-server, or name another address with --backend URL.")};

    m_info.notes = m_notes;
    if (!m_options.logFile.isEmpty() && !m_tail.isOpen())
        m_info.notes.append(QStringLiteral("the log file %1 is not there (yet)").arg(m_options.logFile));
    if (m_tail.isOpen() && m_model.epoch() < m_logEpochNeeded)
        m_info.notes.append(
            QStringLiteral("the server was restarted and the log does not show it: the log is left out of account"));
    if (m_logCut)
        m_info.notes.append(QStringLiteral(
            "the log was cut short: lines may be missing, and what is held is not known until the next request"));
    if (m_logSilent)
        m_info.notes.append(QStringLiteral(
            "a request ran and the log did not grow: it is not this server's log, or is no longer written"));
    if (logAttached() && m_model.facts().severalModels)
        m_info.notes.append(QStringLiteral("the log is of several servers; one of them is followed"));
    if (m_sleeping)
        m_info.notes.append(QStringLiteral("the server sleeps: its model is unloaded and it holds nothing"));
    if (!m_slotsBusy.isEmpty())
        m_info.notes.append(m_slotsBusy);
}

void LlamaBackend::takeLines(const QList<QByteArray> &lines)
{
    const int epoch = m_model.epoch();
    if (std::exchange(m_logSilent, false))
        m_infoDirty = true;
    // The newest line is as old as the file; lines tell the time since the server began.
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    m_logWrittenMs =
        m_tail.path().isEmpty() ? now : std::min(now, QFileInfo(m_tail.path()).lastModified().toMSecsSinceEpoch());
    bool matters = false;
    qint64 last = -1;
    for (const QByteArray &line : lines) {
        const qint64 time = readLogPrefix(line).timeUs;
        if (time >= 0)
            last = time + 60'000'000 < last ? time : std::max(last, time); // it went back: another life
    }
    if (last >= 0)
        m_logBeganMs =
            m_logBeganMs < 0 ? m_logWrittenMs - last / 1000 : std::min(m_logBeganMs, m_logWrittenMs - last / 1000);
    for (const QByteArray &line : lines) {
        const LogEvent event = parseServerLogLine(line);
        m_model.feed(event);
        const LogLine &kept = m_ring.append(line, event);
        const qint64 lineTime = kept.timeUs;
        if (event.kind == LogEvent::Kind::ServerStart && lineTime >= 0)
            m_logBeganMs = m_logWrittenMs - last / 1000; // another life, another clock
        matters = matters || event.kind != LogEvent::Kind::Other;
        if (event.kind == LogEvent::Kind::Cached && std::exchange(m_logCut, false))
            m_infoDirty = true;
        using Kind = LogEvent::Kind;
        if (event.kind == Kind::CheckpointErased || event.kind == Kind::CheckpointThinned)
            m_erasedBy.insert({event.slot, static_cast<int>(event.value)}, event.task);
        else if (event.kind == Kind::CheckpointCreated) {
            m_erasedBy.remove({event.slot, static_cast<int>(event.value)});
            if (lineTime >= 0 && m_logBeganMs >= 0)
                m_madeAt.insert({event.slot, static_cast<int>(event.value)},
                                std::min(m_logWrittenMs, m_logBeganMs + lineTime / 1000));
        } else if (event.kind == Kind::ChunkMoved && event.value > 0)
            m_smallestChunk = m_smallestChunk == 0 ? static_cast<int>(event.value)
                                                   : std::min(m_smallestChunk, static_cast<int>(event.value));
        else if (event.kind == Kind::ContextShifted)
            m_contextShifted = true;
        const QString reading = readingOf(event);
        if (!reading.isEmpty())
            Q_EMIT logLine(kept.number, QString::fromUtf8(kept.text), reading);
        const QList<ServerLogModel::Happening> happenings = m_model.takeHappenings();
        for (const ServerLogModel::Happening &happening : happenings)
            happen(happening.kind, happening.details, lineTime);
    }
    if (m_erasedBy.size() > 4096)
        m_erasedBy.clear();
    if (m_madeAt.size() > 4096)
        m_madeAt.clear();
    if (m_model.epoch() != epoch) {
        m_erasedBy.clear();
        m_madeAt.clear();
        m_rendered.clear();
        m_counts.clear();
        m_smallestChunk = 0;
        m_bookedTask = -1; // tasks are counted anew
        m_bookedTasks.clear();
    }
    if (m_model.epoch() != epoch || m_judgedFacts != m_model.facts() || m_smallestChunk != m_judgedChunk) {
        m_judgedFacts = m_model.facts();
        m_judgedChunk = m_smallestChunk;
        m_infoDirty = true;
    }
    // Every look at /slots makes the server write "all slots are idle": that is no change, or each would cause the
    // next.
    if (matters || m_infoDirty)
        changed();
}

/// With the time at which it was written, where the log's lines have one.
void LlamaBackend::happen(const QString &kind, QJsonObject details, qint64 timeUs)
{
    if (timeUs >= 0 && m_logBeganMs >= 0)
        details.insert(QStringLiteral("at"),
                       QDateTime::fromMSecsSinceEpoch(std::min(m_logWrittenMs, m_logBeganMs + timeUs / 1000), Qt::UTC)
                           .toString(Qt::ISODateWithMs));
    if (kind == QLatin1String("task-finished")) {
        if (const LogTask *task = m_model.task(details.value(QStringLiteral("task")).toInteger(-1))) {
            const auto put = [&details](const QString &key, qint64 value) {
                details.insert(key, value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value));
            };
            put(QStringLiteral("lcp"), task->lcp);
            put(QStringLiteral("restored"), task->restored);
            details.insert(QStringLiteral("erased"), task->erased);
            details.insert(QStringLiteral("forced_full"), task->forcedFull);
            details.insert(QStringLiteral("loaded"), task->loadedFromHostCache);
            put(QStringLiteral("generated"), task->generated);
            details.insert(QStringLiteral("prompt_ms"),
                           task->promptMs < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(task->promptMs));
            if (task->slotWasEmpty && task->selectedBy == QLatin1String("id") && task->emptiedBy >= 0) {
                ++m_pinsCleared;
                m_pinsClearedTokens += std::max(0, task->prefilled);
            }
            if (task->loadedFromHostCache && m_info.rule.chunkReuse > 0 && task->lcp >= 0
                && task->lcp < task->promptTokens / 2) {
                ++m_loadsInTheWay;
                m_loadsInTheWayTokens += std::max(0, task->prefilled);
            }
        }
    }
    Q_EMIT happened(kind, details);
}

void LlamaBackend::rebuildStates()
{
    const bool byLog = logReadable();
    m_states = {};
    m_states.readable =
        m_info.capabilities.reachable && (byLog || (m_info.capabilities.slots && m_slotsBusy.isEmpty()));
    if (!m_states.readable)
        m_states.reason = !m_info.capabilities.reachable ? unreachable().message
            : m_info.capabilities.slots                  ? m_slotsBusy
                                                         : m_info.slotsUnreadableReason;
    m_info.slotsReadable = m_states.readable;
    if (!m_info.capabilities.reachable)
        return;
    if (byLog) {
        m_states.states = m_book.withIds(m_model.states(), m_model);
        m_states.hostCacheBytes = m_model.hostCacheBytes();
        return;
    }
    m_states.states = m_book.fromSlots(m_slots, bookEpoch(), m_info.rule.hostCache);
    if (m_info.rule.memory == MemoryKind::Checkpointed && !m_flagsSource.isEmpty() && m_flags.checkpointsMax == 0) {
        for (HeldState &state : m_states.states)
            state.checkpointsKnown = true; // none are made
    }
}

ServerStates LlamaBackend::lastStates() const { return m_states; }

QCoro::Task<LlamaBackend::SlotsRead> LlamaBackend::readSlotsNow()
{
    const QPointer<LlamaBackend> self(this);
    SlotsRead read;
    if (processIsGone())
        newLife(QStringLiteral("its process has ended"));
    const QString route = QStringLiteral("/slots");
    const HttpReply reply = co_await m_http.get(route, m_options.stateTimeoutMs);
    if (!self)
        co_return read;
    if (reply.status == 0 && !reply.timedOut()) {
        lost(reply);
        read.gone = true;
        co_return read;
    }
    if (reply.loading() || reply.needsKey()) {
        m_info.capabilities.reachable = false;
        m_info.unreachableReason = failed(reply, QStringLiteral("GET /slots")).message;
        m_suspect = m_suspect || m_wasReachable;
        read.gone = true;
        co_return read;
    }
    const QJsonDocument document = QJsonDocument::fromJson(reply.body);
    if (!reply.ok() || !document.isArray()) {
        // A server in a long batch does not come to it: it is alive, and what it holds is not known now.
        m_slotsBusy = QStringLiteral("the slots could not be read: %1")
                          .arg(reply.ok() ? QStringLiteral("no list came") : reply.message());
        co_return read;
    }
    const QList<SlotReading> slots = readSlots(document.array());
    qint64 before = -1;
    qint64 after = -1;
    for (const SlotReading &slot : std::as_const(m_slots))
        before = std::max(before, slot.task);
    for (const SlotReading &slot : slots)
        after = std::max(after, slot.task);
    if (after < before) { // task numbers only rise in one life of a server
        newLife(QStringLiteral("its task numbers fell"));
        if (!logReadable())
            Q_EMIT happened(QStringLiteral("server-restarted"),
                            {{QStringLiteral("url"), m_info.url}, {QStringLiteral("build"), m_info.build}});
        m_epochAtUp = m_httpEpoch;
        scheduleProbe(0); // flags and model may be others
    }
    m_slots = slots;
    m_slotsBusy.clear();
    read.answered = true;
    co_return read;
}

/// Reads what the log has now, with turns of the event loop in between.
QCoro::Task<void> LlamaBackend::catchUp()
{
    const QPointer<LlamaBackend> self(this);
    while (self && m_tail.catchUp()) {
        const std::chrono::milliseconds moment(0);
        co_await pause(moment);
    }
}

/// The server writes its log behind the answer: waits until a slot that the log still calls busy has been released.
QCoro::Task<void> LlamaBackend::settleLog(int limitMs)
{
    const QPointer<LlamaBackend> self(this);
    const QDeadlineTimer limit(limitMs);
    while (true) {
        co_await catchUp();
        if (!self || limit.hasExpired())
            co_return;
        bool lags = false;
        const QList<HeldState> states = m_model.states();
        for (const HeldState &state : states) {
            if (state.place != HeldState::Place::Slot || !state.busy)
                continue;
            for (const SlotReading &slot : std::as_const(m_slots))
                lags = lags || (slot.id == state.slotId && !slot.busy);
        }
        if (!lags)
            co_return;
        const std::chrono::milliseconds moment(10);
        co_await pause(moment);
        if (!self)
            co_return;
    }
}

void LlamaBackend::poll()
{
    if (!m_probing && !m_polling && m_info.capabilities.reachable)
        pollServer();
}

/// Notices a server that goes or changes while nobody asks. Where the log is read, and where nobody has asked for long,
/// only /health is asked: GET /slots keeps a server from falling asleep.
QCoro::Task<void> LlamaBackend::pollServer()
{
    const QPointer<LlamaBackend> self(this);
    m_polling = true;
    if (m_info.capabilities.slots && !logReadable() && m_used.isValid() && m_used.elapsed() < kStillWatchedMs) {
        const QList<SlotReading> before = m_slots;
        co_await readSlotsNow();
        if (!self)
            co_return;
        if (m_slots != before)
            changed();
    } else if (processIsGone()) {
        newLife(QStringLiteral("its process has ended"));
        scheduleProbe(0);
    } else {
        const QString route = QStringLiteral("/health");
        const HttpReply reply = co_await m_http.get(route, m_options.probeTimeoutMs);
        if (!self)
            co_return;
        if (reply.status == 0 && !reply.timedOut())
            lost(reply);
        else if (reply.loading())
            scheduleProbe(0);
    }
    m_polling = false;
}

QCoro::Task<Result<ServerStates>> LlamaBackend::states()
{
    const QPointer<LlamaBackend> self(this);
    if (!m_info.capabilities.reachable)
        co_return std::unexpected(unreachable());
    m_used.start();
    if (m_info.capabilities.slots) {
        const SlotsRead read = co_await readSlotsNow();
        if (!self)
            co_return failure(Error::Code::Cancelled, {});
        if (read.gone)
            co_return std::unexpected(unreachable());
    }
    if (m_tail.isOpen()) {
        co_await settleLog(kLogSettleMs);
        if (!self)
            co_return failure(Error::Code::Cancelled, {});
        if (m_info.capabilities.reachable && logReadable() && !m_probing)
            m_logEpochAtAnswer = m_model.epoch();
    }
    if (std::exchange(m_infoDirty, false))
        judge();
    rebuildStates();
    ServerStates states = m_states; // gcc 12 moves out of a member that is co_returned itself
    co_return states;
}

QCoro::Task<Result<RenderedPrompt>> LlamaBackend::render(ChatRequest request)
{
    const QPointer<LlamaBackend> self(this);
    if (!m_info.capabilities.reachable)
        co_return std::unexpected(unreachable());
    if (!m_info.tokenizerExact)
        co_return failure(Error::Code::Failed,
                          QStringLiteral("%1 does not tokenise or render templates").arg(m_info.url));
    QJsonObject body{{QStringLiteral("messages"), request.messages}};
    if (!request.tools.isEmpty())
        body.insert(QStringLiteral("tools"), request.tools);
    if (!request.chatTemplateKwargs.isEmpty())
        body.insert(QStringLiteral("chat_template_kwargs"), request.chatTemplateKwargs);
    const QByteArray key =
        QCryptographicHash::hash(QJsonDocument(body).toJson(QJsonDocument::Compact), QCryptographicHash::Sha256);
    if (const RenderedPrompt *known = m_rendered.object(key))
        co_return *known;
    const int life = m_httpEpoch + m_model.epoch();

    const QString templateRoute = QStringLiteral("/apply-template");
    const HttpReply applied = co_await m_http.post(templateRoute, body, m_options.renderTimeoutMs);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    if (!applied.ok())
        co_return std::unexpected(failed(applied, QStringLiteral("rendering the prompt")));
    const QByteArray prompt = applied.object().value(QStringLiteral("prompt")).toString().toUtf8();

    // Once more with markers for the contents: what the template puts around them is then known exactly.
    QList<QByteArray> markers;
    QList<QByteArray> contents;
    QJsonObject markedBody = body;
    markedBody.insert(QStringLiteral("messages"), withMarkers(request.messages, markers, contents));
    const HttpReply marked = co_await m_http.post(templateRoute, markedBody, m_options.renderTimeoutMs);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    const QByteArray probeText =
        marked.ok() ? marked.object().value(QStringLiteral("prompt")).toString().toUtf8() : QByteArray();

    const QString tokenizeRoute = QStringLiteral("/tokenize");
    const QJsonObject tokensBody = tokenizeBody(QString::fromUtf8(prompt), true, true);
    const HttpReply tokens = co_await m_http.post(tokenizeRoute, tokensBody, m_options.renderTimeoutMs);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    if (!tokens.ok())
        co_return std::unexpected(failed(tokens, QStringLiteral("tokenising the prompt")));
    int systemMessages = 0;
    while (systemMessages < request.messages.size()
           && request.messages.at(systemMessages).toObject().value(QStringLiteral("role")).toString()
               == QLatin1String("system"))
        ++systemMessages;
    Layouted layouted;
    if (tokens.body.size() > kParseOffLoop) {
        const QFuture<Layouted> working =
            QtConcurrent::run(&layOut, prompt, tokens.body, contents, probeText, markers, systemMessages);
        layouted = co_await working;
        if (!self)
            co_return failure(Error::Code::Cancelled, {});
    } else {
        layouted = layOut(prompt, tokens.body, contents, probeText, markers, systemMessages);
    }
    if (!layouted.ok)
        co_return failure(Error::Code::Failed, QStringLiteral("%1: /tokenize gave no list of tokens").arg(m_info.url));
    for (const TokenPiece &piece : std::as_const(layouted.pieces)) {
        if (!m_pieces.contains(piece.id))
            m_pieces.insert(piece.id, piece.bytes);
    }
    if (life == m_httpEpoch + m_model.epoch()) // else the next life may have another template
        m_rendered.insert(key, new RenderedPrompt(layouted.rendered), std::max(1, layouted.rendered.layout.size()));
    co_return layouted.rendered;
}

QCoro::Task<Result<TokenList>> LlamaBackend::tokenize(QString text)
{
    const QPointer<LlamaBackend> self(this);
    if (!m_info.capabilities.reachable)
        co_return std::unexpected(unreachable());
    const QString route = QStringLiteral("/tokenize");
    const QJsonObject body = tokenizeBody(text, false, false);
    const HttpReply reply = co_await m_http.post(route, body, m_options.renderTimeoutMs);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    if (!reply.ok())
        co_return std::unexpected(failed(reply, QStringLiteral("tokenising")));
    const QJsonValue rows = reply.object().value(QStringLiteral("tokens"));
    if (!rows.isArray())
        co_return failure(Error::Code::Failed, QStringLiteral("%1: /tokenize gave no list of tokens").arg(m_info.url));
    TokenList tokens;
    const QJsonArray list = rows.toArray();
    tokens.reserve(list.size());
    for (const QJsonValue &row : list)
        tokens.append(row.isObject() ? row.toObject().value(QStringLiteral("id")).toInt() : row.toInt());
    co_return tokens;
}

QCoro::Task<Result<int>> LlamaBackend::countTokens(QString text)
{
    const QPointer<LlamaBackend> self(this);
    if (text.isEmpty())
        co_return 0;
    const QByteArray key = QCryptographicHash::hash(text.toUtf8(), QCryptographicHash::Sha256);
    if (const int *known = m_counts.object(key))
        co_return *known;
    const int life = m_httpEpoch + m_model.epoch();
    const Result<TokenList> tokens = co_await tokenize(text);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    if (!tokens)
        co_return std::unexpected(tokens.error());
    const int count = static_cast<int>(tokens->size());
    if (life == m_httpEpoch + m_model.epoch())
        m_counts.insert(key, new int(count));
    co_return count;
}

void LlamaBackend::notePrompt(const QString &sessionId, const TokenList &prompt, int slotId)
{
    m_book.notePrompt(sessionId, prompt, slotId);
    m_linesAtPrompt = m_model.lines();
    if (m_notedEpochs.size() > 256)
        m_notedEpochs.clear();
    m_notedEpochs.insert(promptKey(prompt), m_httpEpoch + m_model.epoch());
}

void LlamaBackend::noteGenerated(const TokenList &prompt, const TokenList &generated)
{
    m_book.noteGenerated(prompt, generated);
    rebuildStates();
}

/// A request that only one memory kind explains (SPEC section 4). `before`: the slots before it ran, where they were
/// read.
void LlamaBackend::observe(const MeasuredRequest &request, int slotId, const QList<SlotReading> &before)
{
    const ServerBook::Met met = m_book.metBy(request.prompt, slotId, bookEpoch());
    if (met.lcp < 0)
        return;
    Observation seen;
    seen.lcp = met.lcp;
    seen.heldLength = met.heldLength;
    seen.reused = request.cacheTokens;
    seen.total = request.cacheTokens + request.promptTokens;
    seen.promptEnds = met.promptEnds;
    // One slot, still ours when the request came, and no other prompt of ours that the host cache could have brought
    // back.
    const bool ours = before.size() == 1 && before.constFirst().task == met.task && met.task >= 0
        && before.constFirst().promptTokens == met.heldLength;
    seen.certain = ours && !met.isRival(request.cacheTokens);
    const std::optional<MemoryKind> kind = memoryThatExplains(seen);
    if (kind == MemoryKind::FullAttention)
        ++m_fullAttentionSeen;
    else if (kind == MemoryKind::Checkpointed)
        ++m_checkpointedSeen;
}

QString LlamaBackend::causeOf(const LogTask &task, const MeasuredRequest &request) const
{
    const int total = request.cacheTokens + request.promptTokens;
    const auto erasedBelow = [&](int above) {
        int position = -1;
        qint64 eraser = -1;
        for (auto it = m_erasedBy.cbegin(); it != m_erasedBy.cend(); ++it) {
            if (it.key().first == task.slot && it.value() != task.task && it.key().second > above
                && it.key().second <= task.lcp && it.key().second > position) {
                position = it.key().second;
                eraser = it.value();
            }
        }
        return eraser >= 0 ? QStringLiteral("checkpoint %1 erased by task %2").arg(position).arg(eraser) : QString();
    };
    if (task.slotWasEmpty && task.selectedBy == QLatin1String("id") && !task.loadedFromHostCache) {
        if (task.emptiedBy >= 0)
            return QStringLiteral("pinned slot %1 had been cleared (when task %2 started)")
                .arg(task.slot)
                .arg(task.emptiedBy);
        return QStringLiteral("pinned slot %1 had been cleared, or had not been used").arg(task.slot);
    }
    if (task.loadedFromHostCache && task.lcp >= 0 && task.lcp < total / 2)
        return QStringLiteral("the host cache loaded a different prompt (%1 tokens, the first %2 equal)")
            .arg(task.loadedLength)
            .arg(task.lcp);
    if (task.forcedFull) {
        const QString erased = task.lcp > 0 ? erasedBelow(0) : QString();
        return erased.isEmpty()
            ? QStringLiteral("no checkpoint was left at or below token %1: everything was processed again")
                  .arg(std::max(0, task.lcp))
            : erased;
    }
    if (task.restored >= 0 && task.lcp > task.restored) {
        if (const QString erased = erasedBelow(task.restored); !erased.isEmpty())
            return erased;
    }
    if (task.selectedBy == QLatin1String("lru") && !task.loadedFromHostCache && task.reused == 0)
        return QStringLiteral("slot moved: slot %1 was taken because no slot matched").arg(task.slot);
    if (task.lcp >= 0 && task.reused <= task.lcp && task.lcp < total - 1)
        return QStringLiteral("slot %1 held another prompt: the first %2 tokens were equal")
            .arg(task.slot)
            .arg(task.lcp);
    return {};
}

QCoro::Task<Result<MatchedRequest>> LlamaBackend::noteTimings(MeasuredRequest request)
{
    const QPointer<LlamaBackend> self(this);
    m_used.start();
    MatchedRequest matched;
    matched.slotId = request.slotId;
    matched.source = request.slotId >= 0 ? QStringLiteral("caller") : QStringLiteral("unknown");
    const int total = request.cacheTokens + request.promptTokens;
    // Another prompt than the one that was rendered ran: its ids are not known.
    const bool ours = !request.prompt.isEmpty() && request.prompt.size() == total;
    if (request.promptMs > 0 && request.promptTokens > 0) {
        m_fit.add(request.cacheTokens, total, request.promptMs);
        m_info.cost = m_fit.cost();
    }
    const QList<SlotReading> before = m_slots;
    if (m_info.capabilities.slots && m_info.capabilities.reachable) {
        co_await readSlotsNow();
        if (!self)
            co_return failure(Error::Code::Cancelled, {});
    }
    int heldLength = -1;
    if (m_tail.isOpen()) {
        std::optional<LogTask> task; // a copy: the model's own list moves on while we wait
        const QDeadlineTimer limit(kLogSettleMs);
        while (true) {
            co_await catchUp();
            if (!self)
                co_return failure(Error::Code::Cancelled, {});
            const LogTask *found = m_model.findTask(total, request.cacheTokens, request.slotId);
            if (!found && request.slotId >= 0)
                found = m_model.findTask(total, request.cacheTokens); // the caller may be wrong about the slot
            task = found ? std::optional<LogTask>(*found) : std::nullopt;
            // The same numbers once more (a prompt that is repeated): the newer task is awaited.
            if ((task && task->ended() && !m_bookedTasks.contains(task->task)) || limit.hasExpired())
                break;
            const std::chrono::milliseconds moment(10);
            co_await pause(moment);
            if (!self)
                co_return failure(Error::Code::Cancelled, {});
        }
        if (task && logAttached()) {
            matched.slotId = task->slot;
            matched.taskId = task->task;
            matched.source =
                request.slotId >= 0 && request.slotId == task->slot ? QStringLiteral("caller") : QStringLiteral("log");
            matched.cause = causeOf(*task, request);
            heldLength = task->endLength;
            m_bookedTasks.insert(task->task);
        } else if (!task && request.promptTokens > 0 && m_linesAtPrompt >= 0 && m_model.lines() == m_linesAtPrompt) {
            m_logSilent = true;
        }
    }
    if (matched.taskId < 0) {
        // The slot whose task rose and whose counts fit: prompt plus what was generated (the last token sampled is not
        // in it).
        const int generated = std::max(0, request.generated);
        const SlotReading *fits = nullptr;
        for (const SlotReading &slot : std::as_const(m_slots)) {
            const auto earlier = std::find_if(before.cbegin(), before.cend(),
                                              [&slot](const SlotReading &other) { return other.id == slot.id; });
            const bool rose = earlier == before.cend() || slot.task > earlier->task || slot.task > m_bookedTask;
            const bool counts = slot.promptTokens >= total && slot.promptTokens <= total + generated;
            if (rose && counts && !slot.busy && (request.slotId < 0 || slot.id == request.slotId)
                && (!fits || slot.task > fits->task))
                fits = &slot;
        }
        if (fits) {
            if (matched.slotId < 0)
                matched.source = QStringLiteral("slots");
            matched.slotId = fits->id;
            matched.taskId = fits->task;
            heldLength = fits->promptTokens;
        }
    }
    m_bookedTask = std::max(m_bookedTask, matched.taskId);
    const auto noted = m_notedEpochs.constFind(promptKey(request.prompt));
    if (noted != m_notedEpochs.cend() && *noted != m_httpEpoch + m_model.epoch() && request.promptTokens > 16)
        matched.cause = QStringLiteral("server restarted");
    if (ours) {
        observe(request, matched.slotId, before);
        m_book.noteRan(request, bookEpoch(), matched.taskId, matched.slotId, heldLength);
    }
    if (matched.slotId >= 0)
        m_lastBySlot.insert(matched.slotId, request);
    judge();
    rebuildStates();
    changed();
    co_return matched;
}

qint64 LlamaBackend::slotTask(int slotId) const
{
    for (const SlotReading &slot : m_slots) {
        if (slot.id == slotId)
            return slot.task;
    }
    return -1;
}

QCoro::Task<Result<QJsonObject>> LlamaBackend::slotAction(int slotId, QString action, QString fileName)
{
    const QPointer<LlamaBackend> self(this);
    if (!m_info.capabilities.reachable)
        co_return std::unexpected(unreachable());
    // Build 11669 takes an unknown slot id for "any slot" and clears one: such an id is never sent.
    if (slotId < 0 || (m_info.slotCount > 0 && slotId >= m_info.slotCount))
        co_return failure(
            Error::Code::InvalidParams,
            QStringLiteral("slot_id: there is no slot %1 (the server has %2)").arg(slotId).arg(m_info.slotCount));
    QJsonObject body;
    if (action != QLatin1String("erase")) {
        if (!isBareName(fileName))
            co_return failure(Error::Code::InvalidParams,
                              QStringLiteral("file name: must be a bare name without a folder"));
        body.insert(QStringLiteral("filename"), fileName);
    }
    const QString route = (m_oldSlotRoutes ? QStringLiteral("/slots/%1/%2") : QStringLiteral("/slots/%1?action=%2"))
                              .arg(slotId)
                              .arg(action);
    const HttpReply reply = co_await m_http.post(route, body, m_options.saveTimeoutMs);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    if (!reply.ok())
        co_return std::unexpected(failed(reply, QStringLiteral("slot %1: %2").arg(slotId).arg(action)));
    co_await catchUp();
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    co_return reply.object();
}

QCoro::Task<Result<int>> LlamaBackend::saveSlot(int slotId, QString fileName)
{
    const QPointer<LlamaBackend> self(this);
    const Result<QJsonObject> done = co_await slotAction(slotId, QStringLiteral("save"), fileName);
    if (!done)
        co_return std::unexpected(done.error());
    const int tokens = done->value(QStringLiteral("n_saved")).toInt();
    if (self) {
        m_model.noteSaved(slotId, fileName, tokens);
        m_book.noteSaved(slotId, bookEpoch(), fileName, tokens);
    }
    co_return tokens;
}

QCoro::Task<Result<int>> LlamaBackend::restoreSlot(int slotId, QString fileName)
{
    const QPointer<LlamaBackend> self(this);
    const Result<QJsonObject> done = co_await slotAction(slotId, QStringLiteral("restore"), fileName);
    if (!done)
        co_return std::unexpected(done.error());
    const int tokens = done->value(QStringLiteral("n_restored")).toInt();
    if (self) {
        m_model.noteRestored(slotId, tokens, fileName);
        m_book.noteRestored(slotId, bookEpoch(), slotTask(slotId), fileName, tokens);
        rebuildStates();
        changed();
    }
    co_return tokens;
}

QCoro::Task<Result<int>> LlamaBackend::eraseSlot(int slotId)
{
    const QPointer<LlamaBackend> self(this);
    const QString none;
    const Result<QJsonObject> done = co_await slotAction(slotId, QStringLiteral("erase"), none);
    if (!done)
        co_return std::unexpected(done.error());
    if (self) {
        m_book.noteErased(slotId, bookEpoch(), slotTask(slotId));
        rebuildStates();
        changed();
    }
    co_return done->value(QStringLiteral("n_erased")).toInt();
}

void LlamaBackend::cancelSlotActions() { m_http.cancel(QStringLiteral("/slots/")); }

std::optional<bool> LlamaBackend::saveFileExists(const QString &fileName) const
{
    if (m_flags.slotSavePath.isEmpty() || !isLocal(m_http.base()) || QFileInfo(m_flags.slotSavePath).isRelative())
        return std::nullopt;
    return QFileInfo::exists(QDir(m_flags.slotSavePath).filePath(fileName));
}

std::optional<qint64> LlamaBackend::saveFileBytes(const QString &fileName) const
{
    if (!isBareName(fileName) || !saveFileExists(fileName).value_or(false))
        return std::nullopt;
    return QFileInfo(QDir(m_flags.slotSavePath).filePath(fileName)).size();
}

Result<void> LlamaBackend::removeSaveFile(const QString &fileName)
{
    if (!isBareName(fileName))
        return failure(Error::Code::InvalidParams, QStringLiteral("file: must be a bare name without a folder"));
    const std::optional<bool> there = saveFileExists(fileName);
    if (!there)
        return failure(Error::Code::Failed,
                       QStringLiteral("where %1 keeps its save files is not known here").arg(m_info.url));
    const QString path = QDir(m_flags.slotSavePath).filePath(fileName);
    if (!*there)
        return failure(Error::Code::NotFound, QStringLiteral("there is no file %1").arg(path));
    QFile file(path);
    if (!file.remove())
        return failure(Error::Code::Failed, QStringLiteral("%1 was not deleted: %2").arg(path, file.errorString()));
    return {};
}

std::optional<qint64> LlamaBackend::freeSaveBytes() const
{
    if (m_flags.slotSavePath.isEmpty() || !isLocal(m_http.base()) || QFileInfo(m_flags.slotSavePath).isRelative())
        return std::nullopt;
    // Not QStorageInfo: it wants the mount point in a list, which a chroot or a container does not have.
    std::error_code error;
    const std::filesystem::space_info space =
        std::filesystem::space(QFile::encodeName(m_flags.slotSavePath).toStdString(), error);
    return error ? std::nullopt : std::optional<qint64>(static_cast<qint64>(space.available));
}

QByteArray LlamaBackend::pieceBytes(TokenId id) const { return m_pieces.value(id); }

BackendInfo LlamaBackend::info() const { return m_info; }

QJsonObject LlamaBackend::slotsJson() const
{
    QJsonArray slots;
    QJsonArray cache;
    const auto orNull = [](qint64 value) { return value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value); };
    for (const HeldState &state : m_states.states) {
        QJsonArray checkpoints;
        for (const Checkpoint &checkpoint : state.checkpoints)
            checkpoints.append(QJsonObject{{QStringLiteral("position"), checkpoint.position},
                                           {QStringLiteral("created_at"), madeAt(state.slotId, checkpoint)},
                                           {QStringLiteral("size_bytes"), orNull(checkpoint.sizeBytes)},
                                           {QStringLiteral("task"), orNull(checkpoint.taskId)}});
        QJsonObject row{{QStringLiteral("tokens"), state.length},
                        {QStringLiteral("known_tokens"), state.knownLength()},
                        {QStringLiteral("task_id"), orNull(state.taskId)},
                        {QStringLiteral("save_bytes"), orNull(saveBytes(state))},
                        {QStringLiteral("session_id"),
                         state.owner.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(state.owner)},
                        {QStringLiteral("checkpoints"),
                         state.checkpointsKnown ? QJsonValue(checkpoints) : QJsonValue(QJsonValue::Null)},
                        {QStringLiteral("verified"), state.verified}};
        if (state.place == HeldState::Place::HostCache) {
            row.insert(QStringLiteral("size_bytes"), orNull(state.sizeBytes));
            cache.append(row);
            continue;
        }
        row.insert(QStringLiteral("slot_id"), state.slotId);
        row.insert(QStringLiteral("busy"), state.busy);
        row.insert(QStringLiteral("task"), orNull(state.taskId));
        row.insert(QStringLiteral("has_run"), state.taskId >= 0 || state.length > 0);
        row.insert(QStringLiteral("prefill"), prefillJson(state));
        const auto last = m_lastBySlot.constFind(state.slotId);
        row.insert(QStringLiteral("last_reuse"),
                   last == m_lastBySlot.cend() ? QJsonValue(QJsonValue::Null) : QJsonValue(last->cacheTokens));
        row.insert(QStringLiteral("last_prefill"),
                   last == m_lastBySlot.cend() ? QJsonValue(QJsonValue::Null) : QJsonValue(last->promptTokens));
        slots.append(row);
    }
    return {{QStringLiteral("slots"), slots},
            {QStringLiteral("host_cache"), hostCacheJson(cache)},
            {QStringLiteral("source"), logReadable() ? QStringLiteral("log") : QStringLiteral("slots")},
            {QStringLiteral("readable"), m_states.readable},
            {QStringLiteral("reason"),
             m_states.reason.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(m_states.reason)},
            {QStringLiteral("simulated"), false},
            {QStringLiteral("epoch"), m_info.epoch}};
}

/// What a save of this state into the host cache will take: its checkpoints, and its tokens at the most that an entry
/// has taken for one (a window's or a recurrent memory takes less, so this is at most too much). -1 = not known.
qint64 LlamaBackend::saveBytes(const HeldState &state) const
{
    const auto ringBytes = [](const HeldState &of) {
        qint64 bytes = 0;
        for (const Checkpoint &checkpoint : of.checkpoints)
            bytes += std::max<qint64>(0, checkpoint.sizeBytes);
        return bytes;
    };
    if (state.place == HeldState::Place::HostCache)
        return state.sizeBytes;
    if (state.length <= 0)
        return 0;
    double perToken = -1;
    for (const HeldState &other : m_states.states) {
        if (other.place == HeldState::Place::HostCache && other.sizeBytes > 0 && other.length > 0
            && other.checkpointsKnown)
            perToken =
                std::max(perToken, double(std::max<qint64>(0, other.sizeBytes - ringBytes(other))) / other.length);
    }
    return perToken < 0 ? -1 : static_cast<qint64>(perToken * state.length) + ringBytes(state);
}

/// Of a request that runs: {total, reused, processed}; null where none runs. What is not said is null.
QJsonValue LlamaBackend::prefillJson(const HeldState &state) const
{
    if (!state.busy)
        return QJsonValue::Null;
    const auto orNull = [](qint64 value) { return value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value); };
    qint64 total = -1;
    qint64 reused = -1;
    qint64 processed = -1;
    if (logReadable()) {
        const QList<LogTask> &tasks = m_model.tasks();
        for (auto it = tasks.crbegin(); it != tasks.crend(); ++it) {
            if (it->epoch != m_model.epoch() || it->slot != state.slotId)
                continue;
            if (!it->ended()) {
                total = it->promptTokens;
                reused = it->reused;
                processed = it->reused < 0 ? -1 : state.length - it->reused;
            }
            break;
        }
    }
    for (const SlotReading &slot : m_slots) {
        if (slot.id == state.slotId && slot.busy && slot.processed >= 0) {
            processed = std::max(processed, qint64(slot.processed));
            reused = reused < 0 ? slot.cached : reused;
        }
    }
    if (total >= 0 && reused >= 0)
        processed = std::clamp<qint64>(processed, 0, std::max<qint64>(0, total - reused));
    return QJsonObject{{QStringLiteral("total"), orNull(total)},
                       {QStringLiteral("reused"), orNull(reused)},
                       {QStringLiteral("processed"), orNull(processed)}};
}

QJsonObject LlamaBackend::hostCacheJson(const QJsonArray &entries) const
{
    const auto orNull = [](qint64 value) { return value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value); };
    const bool unlimited = m_info.rule.hostCacheLimitBytes == std::numeric_limits<qint64>::max();
    const qint64 limit = unlimited || !m_info.rule.hostCache ? -1 : m_info.rule.hostCacheLimitBytes;
    const qint64 bytes = m_states.hostCacheBytes;
    // The next save: of the slot that would take most.
    QJsonValue forecast(QJsonValue::Null);
    qint64 most = -1;
    int slot = -1;
    for (const HeldState &state : m_states.states) {
        if (state.place != HeldState::Place::Slot || state.length <= 0)
            continue;
        const qint64 size = saveBytes(state);
        if (size > most) {
            most = size;
            slot = state.slotId;
        }
    }
    if (logReadable() && m_info.rule.hostCache && bytes >= 0 && most >= 0) {
        int dropped = 0;
        qint64 left = bytes;
        for (const HeldState &state : m_states.states) {
            if (limit < 0 || left + most <= limit)
                break;
            if (state.place == HeldState::Place::HostCache && state.sizeBytes > 0) {
                left -= state.sizeBytes;
                ++dropped;
            }
        }
        forecast = QJsonObject{
            {QStringLiteral("slot_id"), slot},       {QStringLiteral("save_bytes"), most},
            {QStringLiteral("bytes"), bytes + most}, {QStringLiteral("exceeds"), limit >= 0 && bytes + most > limit},
            {QStringLiteral("drops"), dropped},      {QStringLiteral("fits"), limit < 0 || most <= limit}};
    }
    return {{QStringLiteral("known"), logReadable()}, {QStringLiteral("enabled"), m_info.rule.hostCache},
            {QStringLiteral("unlimited"), unlimited}, {QStringLiteral("entries"), entries},
            {QStringLiteral("bytes"), orNull(bytes)}, {QStringLiteral("limit_bytes"), orNull(limit)},
            {QStringLiteral("forecast"), forecast}};
}

QJsonValue LlamaBackend::madeAt(int slotId, const Checkpoint &checkpoint) const
{
    const auto it = m_madeAt.constFind({slotId, checkpoint.position});
    return it == m_madeAt.cend() ? QJsonValue(QJsonValue::Null)
                                 : QJsonValue(QDateTime::fromMSecsSinceEpoch(*it, Qt::UTC).toString(Qt::ISODateWithMs));
}

QString LlamaBackend::evidenceKey() const
{
    return m_info.build.isEmpty() || m_modelPath.isEmpty()
        ? QString()
        : kerf::evidenceKey(m_info.build, m_modelPath, m_info.contextSize);
}

bool LlamaBackend::forgetEvidence(const QString &claim, const QString &source)
{
    const QString key = evidenceKey();
    bool any = false;
    QJsonArray kept;
    const QJsonArray rows = m_options.storedEvidence.value(key).toArray();
    for (const QJsonValue &row : rows) {
        const QJsonObject object = row.toObject();
        if (object.value(QStringLiteral("claim")).toString() == claim
            && (source.isEmpty() || object.value(QStringLiteral("source")).toString() == source))
            any = true;
        else
            kept.append(row);
    }
    m_options.storedEvidence.insert(key, kept);
    if (claim == QLatin1String("memory_kind") && (source.isEmpty() || source == QLatin1String("observed"))
        && m_fullAttentionSeen + m_checkpointedSeen > 0) {
        m_fullAttentionSeen = 0;
        m_checkpointedSeen = 0;
        any = true;
    }
    if (any) {
        judge();
        m_infoDirty = true;
        changed();
    }
    return any;
}

QJsonObject LlamaBackend::logJson(qint64 from, int limit) const
{
    const auto orNull = [](qint64 value) { return value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value); };
    const qint64 first = m_ring.firstNumber();
    const qint64 next = m_ring.nextNumber();
    const qint64 begin = std::max(first, from > 0 ? from : next - limit);
    QJsonArray lines;
    for (qint64 number = begin; number < next && lines.size() < limit; ++number) {
        const LogLine &line = m_ring.at(number);
        const QString reading = line.reading();
        lines.append(QJsonObject{
            {QStringLiteral("number"), line.number},
            {QStringLiteral("level"),
             line.level ? QJsonValue(QString(QLatin1Char(line.level))) : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("slot_id"), orNull(line.slot)},
            {QStringLiteral("task"), orNull(line.task)},
            {QStringLiteral("text"), QString::fromUtf8(line.text)},
            {QStringLiteral("reading"), reading.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(reading)},
            {QStringLiteral("understood"), line.understood},
            {QStringLiteral("withheld"), line.withheld}});
    }
    const QString source = m_child ? QStringLiteral("output of the launched server") : m_options.logFile;
    return {{QStringLiteral("attached"), m_tail.isOpen()},
            {QStringLiteral("source"), source.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(source)},
            {QStringLiteral("first"), first},
            {QStringLiteral("next"), next},
            {QStringLiteral("not_understood"), m_ring.notUnderstood()},
            {QStringLiteral("lines"), lines}};
}

QJsonObject LlamaBackend::ringJson() const
{
    QJsonArray entries;
    for (const HeldState &state : m_states.states) {
        if (state.place != HeldState::Place::Slot)
            continue;
        for (const Checkpoint &checkpoint : state.checkpoints) {
            entries.append(QJsonObject{
                {QStringLiteral("position"), checkpoint.position},
                {QStringLiteral("kind"), checkpointKindName(checkpoint.kind)},
                {QStringLiteral("size_bytes"),
                 checkpoint.sizeBytes < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(checkpoint.sizeBytes)},
                {QStringLiteral("slot_id"), state.slotId},
                {QStringLiteral("created_at"), madeAt(state.slotId, checkpoint)},
                {QStringLiteral("task"),
                 checkpoint.taskId < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(checkpoint.taskId)}});
        }
    }
    const LogFacts &facts = m_model.facts();
    return {{QStringLiteral("visible"), m_info.rule.ringVisible},
            {QStringLiteral("source"),
             logReadable()                            ? QJsonValue(QStringLiteral("log"))
                 : m_info.capabilities.checkpointRing ? QJsonValue(QStringLiteral("slots"))
                                                      : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("entries"), entries},
            {QStringLiteral("max"),
             facts.checkpointsMax < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(facts.checkpointsMax)},
            {QStringLiteral("min_step"),
             facts.checkpointsMinStep < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(facts.checkpointsMinStep)},
            {QStringLiteral("needed"), m_info.rule.memory != MemoryKind::FullAttention}};
}

} // namespace kerf
