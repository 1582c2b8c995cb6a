// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/llamabackend.h"

#include "core/base/log.h"
#include "core/llama/ggufheader.h"

#include <QCoroFuture>
#include <QCoroSignal>
#include <QCoroTimer>

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QHostAddress>
#include <QJsonArray>
#include <QJsonDocument>
#include <QPointer>
#include <QStorageInfo>
#include <QtConcurrent>

#include <algorithm>
#include <chrono>

namespace kerf {

using namespace std::chrono_literals;

namespace {

constexpr int kMostBackOffMs = 15'000;
constexpr int kLogSettleMs = 400;
constexpr qsizetype kParseOffLoop = 256 * 1024; ///< bodies above this are parsed on a pool thread
constexpr int kCachedRenders = 64;

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
    return {{QStringLiteral("content"), content}, {QStringLiteral("add_special"), special}, {QStringLiteral("parse_special"), special}, {QStringLiteral("with_pieces"), pieces}};
}

QJsonObject canaryTemplateBody()
{
    const QJsonObject message{{QStringLiteral("role"), QStringLiteral("user")}, {QStringLiteral("content"), QStringLiteral("kerf")}};
    return {{QStringLiteral("messages"), QJsonArray{message}}};
}

QJsonObject fileNameBody(const QString &fileName)
{
    return {{QStringLiteral("filename"), fileName}};
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
    m_rendered.setMaxCost(kCachedRenders);
    m_counts.setMaxCost(65'536);
    m_retry.setSingleShot(true);
    connect(&m_retry, &QTimer::timeout, this, [this] { probe(); });
    m_changed.setSingleShot(true);
    m_changed.setInterval(100); // ten updates a second at most
    connect(&m_changed, &QTimer::timeout, this, [this] {
        rebuildStates();
        if (std::exchange(m_infoDirty, false)) {
            judge();
            Q_EMIT infoChanged();
        }
        Q_EMIT statesChanged();
    });
    connect(&m_tail, &LogTail::linesRead, this, &LlamaBackend::takeLines);
}

LlamaBackend::~LlamaBackend() = default;

void LlamaBackend::start()
{
    if (!m_options.launchCommand.isEmpty()) {
        m_child = std::make_unique<ServerChild>(m_options.launchCommand);
        m_flags = m_child->flags();
        m_flagsSource = QStringLiteral("launched command line");
        connect(m_child.get(), &ServerChild::output, &m_tail, &LogTail::feed);
        connect(m_child.get(), &ServerChild::ended, this, [this](const QString &reason, const QString &lastLines) {
            qCWarning(lcLlama) << reason;
            m_info.notes.append(reason);
            if (!lastLines.isEmpty())
                m_info.notes.append(QStringLiteral("its last lines: %1").arg(lastLines.right(600).trimmed()));
            m_info.unreachableReason = reason;
            m_info.capabilities.reachable = false;
            Q_EMIT infoChanged();
        });
        m_child->start();
    }
    if (!m_options.serverFlags.isEmpty()) {
        m_flags = parseServerFlags(QProcess::splitCommand(m_options.serverFlags));
        m_flagsSource = QStringLiteral("--server-flags");
    }
    if (!m_options.logFile.isEmpty())
        m_tail.follow(m_options.logFile);
    probe();
}

QCoro::Task<void> LlamaBackend::ready()
{
    const QPointer<LlamaBackend> self(this);
    while (self && !m_info.probed)
        co_await qCoro(this, &LlamaBackend::probeEnded);
}

QCoro::Task<void> LlamaBackend::probeAgain()
{
    const QPointer<LlamaBackend> self(this);
    if (m_probing) {
        co_await qCoro(this, &LlamaBackend::probeEnded);
        co_return;
    }
    m_flagsLooked = false;
    co_await probe();
}

void LlamaBackend::lost(const HttpReply &reply)
{
    m_info.capabilities.reachable = false;
    m_info.unreachableReason = QStringLiteral("%1 does not answer: %2").arg(m_info.url, reply.error.isEmpty() ? reply.message() : reply.error);
    if (m_wasReachable) {
        m_wasReachable = false;
        ++m_httpEpoch; // whoever answers next may be another life: nothing that we know is held
        qCWarning(lcLlama) << "server lost" << m_info.url << reply.error;
        Q_EMIT happened(QStringLiteral("server-down"), {{QStringLiteral("url"), m_info.url}, {QStringLiteral("error"), reply.error}});
        Q_EMIT infoChanged();
    }
    scheduleProbe();
}

void LlamaBackend::scheduleProbe()
{
    if (m_retry.isActive() || m_probing)
        return;
    m_retry.start(m_backOffMs);
    m_backOffMs = std::min(m_backOffMs * 2, kMostBackOffMs);
}

Error LlamaBackend::unreachable() const
{
    return {Error::Code::Unreachable, m_info.unreachableReason.isEmpty() ? QStringLiteral("%1 does not answer").arg(m_info.url) : m_info.unreachableReason, {}};
}

QCoro::Task<void> LlamaBackend::probe()
{
    const QPointer<LlamaBackend> self(this);
    if (m_probing)
        co_return;
    m_probing = true;
    m_retry.stop();
    const int limit = m_options.probeTimeoutMs;
    QList<ProbeStep> steps;
    Capabilities capabilities;
    const auto note = [&steps](const QString &name, const QString &route, const HttpReply &reply, bool ok, const QString &message = {}) {
        steps.append({name, route, reply.status, ok, message.isEmpty() && !ok ? reply.message() : message});
    };
    const auto finish = [&self, this] {
        m_probing = false;
        m_info.probed = true;
        judge();
        rebuildStates();
        Q_EMIT probeEnded();
        Q_EMIT infoChanged();
        Q_EMIT statesChanged();
    };

    // Every step is independent and tolerant: one that fails marks its capability, nothing else.
    const HttpReply health = co_await m_http.get(QStringLiteral("/health"), limit);
    if (!self)
        co_return;
    note(QStringLiteral("health"), QStringLiteral("GET /health"), health, health.ok());
    if (health.status == 0) {
        m_info.probe = steps;
        const bool launching = m_child && m_child->isRunning() && !m_wasReachable;
        lost(health);
        m_probing = false;
        if (launching && !m_info.probed) {
            // Our own child is still loading: the first probe has not ended yet.
            m_retry.start(200);
            co_return;
        }
        finish();
        scheduleProbe();
        co_return;
    }
    if (health.status == 503) {
        m_info.probe = steps;
        m_info.unreachableReason = QStringLiteral("%1 is loading its model").arg(m_info.url);
        m_probing = false;
        if (m_child && !m_info.probed) {
            m_retry.start(200);
            co_return;
        }
        finish();
        m_retry.start(500);
        co_return;
    }
    capabilities.reachable = true;

    const HttpReply props = co_await m_http.get(QStringLiteral("/props"), limit);
    if (!self)
        co_return;
    capabilities.props = props.ok();
    note(QStringLiteral("props"), QStringLiteral("GET /props"), props, props.ok());
    const bool keyWanted = props.status == 401;
    if (props.ok()) {
        const QJsonObject object = props.object();
        m_info.contextSize = object.value(QStringLiteral("default_generation_settings")).toObject().value(QStringLiteral("n_ctx")).toInt();
        m_info.slotCount = object.value(QStringLiteral("total_slots")).toInt();
        m_info.build = object.value(QStringLiteral("build_info")).toString();
        m_modelPath = object.value(QStringLiteral("model_path")).toString();
        const QString alias = object.value(QStringLiteral("model_alias")).toString();
        m_info.model = alias.isEmpty() ? m_modelPath : alias;
    }

    const HttpReply slotsReply = co_await m_http.get(QStringLiteral("/slots"), limit);
    if (!self)
        co_return;
    capabilities.slots = slotsReply.ok();
    note(QStringLiteral("slots"), QStringLiteral("GET /slots"), slotsReply, slotsReply.ok());
    m_info.slotsReadable = slotsReply.ok();
    m_info.slotsUnreadableReason = slotsReply.ok() ? QString() : slotsReply.message();
    if (slotsReply.ok()) {
        m_slots = readSlots(QJsonDocument::fromJson(slotsReply.body).array());
        capabilities.checkpointRing = std::any_of(m_slots.cbegin(), m_slots.cend(), [](const SlotReading &slot) { return slot.hasRing; });
        if (m_info.contextSize <= 0 && !m_slots.isEmpty())
            m_info.contextSize = m_slots.constFirst().contextSize;
        if (m_info.slotCount <= 0)
            m_info.slotCount = static_cast<int>(m_slots.size());
    }

    const QJsonObject canaryBody = tokenizeBody(QStringLiteral("kerf"), true, true);
    const HttpReply canary = co_await m_http.post(QStringLiteral("/tokenize"), canaryBody, limit);
    if (!self)
        co_return;
    capabilities.tokenize = canary.ok() && canary.object().value(QStringLiteral("tokens")).isArray();
    note(QStringLiteral("tokenize"), QStringLiteral("POST /tokenize"), canary, capabilities.tokenize);

    const QJsonObject templateBody = canaryTemplateBody();
    const HttpReply applied = co_await m_http.post(QStringLiteral("/apply-template"), templateBody, limit);
    if (!self)
        co_return;
    capabilities.applyTemplate = applied.ok() && applied.object().value(QStringLiteral("prompt")).isString();
    note(QStringLiteral("apply_template"), QStringLiteral("POST /apply-template"), applied, capabilities.applyTemplate);

    const HttpReply metrics = co_await m_http.get(QStringLiteral("/metrics"), limit);
    if (!self)
        co_return;
    capabilities.metrics = metrics.ok();
    note(QStringLiteral("metrics"), QStringLiteral("GET /metrics"), metrics, metrics.ok());

    // A bad file name changes nothing: 400 = the verb is there, 501 = it is off (the message names the flag), 404 = older.
    QString saveOff;
    const QJsonObject badName = fileNameBody(QString());
    for (int verb = 0; verb < 2; ++verb) {
        const QString action = verb == 0 ? QStringLiteral("save") : QStringLiteral("restore");
        HttpReply reply = co_await m_http.post(QStringLiteral("/slots/0?action=%1").arg(action), badName, limit);
        if (!self)
            co_return;
        QString route = QStringLiteral("POST /slots/0?action=%1").arg(action);
        if (reply.status == 404) {
            reply = co_await m_http.post(QStringLiteral("/slots/0/%1").arg(action), badName, limit);
            if (!self)
                co_return;
            route = QStringLiteral("POST /slots/0/%1").arg(action);
        }
        const bool there = reply.status == 400;
        (action == QLatin1String("save") ? capabilities.slotSave : capabilities.slotRestore) = there;
        note(QStringLiteral("slot_%1").arg(action), route, reply, there, there ? QStringLiteral("there (a bad file name was refused)") : QString());
        if (reply.status == 501)
            saveOff = reply.message();
    }
    capabilities.slotErase = capabilities.slotSave;
    steps.append({QStringLiteral("slot_erase"), QStringLiteral("(not sent)"), 0, capabilities.slotErase, QStringLiteral("taken from save's answer: erase has no side-effect-free form")});

    if (keyWanted) {
        m_info.unreachableReason = QStringLiteral("%1 needs an API key").arg(m_info.url);
        capabilities = Capabilities();
    } else {
        m_info.unreachableReason.clear();
    }
    const bool back = !m_wasReachable && capabilities.reachable;
    m_info.capabilities = capabilities;
    m_info.probe = steps;
    m_info.tokenizerExact = capabilities.tokenize && capabilities.applyTemplate;
    m_info.tokenizer = m_info.tokenizerExact ? QStringLiteral("server:%1:%2").arg(m_info.build, m_info.model) : QStringLiteral("heuristic");
    m_info.identity = QStringLiteral("%1|%2|%3|%4").arg(m_info.url, m_info.build, m_info.model).arg(m_info.contextSize);
    m_wasReachable = capabilities.reachable;
    m_backOffMs = 500;
    if (back) {
        m_rendered.clear();
        m_counts.clear();
        Q_EMIT happened(QStringLiteral("server-up"), {{QStringLiteral("url"), m_info.url}, {QStringLiteral("build"), m_info.build}});
    }
    if (!m_flagsLooked && m_flagsSource.isEmpty() && isLocal(m_http.base()) && capabilities.reachable) {
        m_flagsLooked = true;
        // /proc is read on a pool thread; a busy machine has thousands of descriptors.
        const QFuture<std::optional<LocalServer>> looking = QtConcurrent::run(&findLocalServer, m_http.base().port(80));
        const auto found = co_await looking;
        if (!self)
            co_return;
        if (found && !found->commandLine.isEmpty()) {
            m_flags = found->flags;
            m_flagsSource = QStringLiteral("command line of process %1").arg(found->pid);
            if (!m_flags.slotSavePath.isEmpty() && QFileInfo(m_flags.slotSavePath).isRelative())
                m_flags.slotSavePath = QDir(found->workingDirectory).filePath(m_flags.slotSavePath);
        }
    }
    m_tail.catchUp();
    if (keyWanted)
        m_retry.start(kMostBackOffMs);
    finish();
}

/// Memory kind and chunk reuse by the strongest evidence there is (SPEC section 4); everything weaker stays listed.
void LlamaBackend::judge()
{
    const LogFacts &facts = m_model.facts();
    QList<Evidence> evidence;
    const QDateTime now = QDateTime::currentDateTimeUtc();
    const auto claim = [&](const QString &what, const QString &value, const QString &source, const QString &detail) {
        evidence.append({what, value, source, detail, now});
    };
    const QString memoryClaim = QStringLiteral("memory_kind");
    const QString full = memoryKindName(MemoryKind::FullAttention);
    const QString checkpointed = memoryKindName(MemoryKind::Checkpointed);

    if (m_fullAttentionSeen >= 2 && m_fullAttentionSeen > m_checkpointedSeen)
        claim(memoryClaim, full, QStringLiteral("observed"), QStringLiteral("%1 requests were reused up to the first differing token").arg(m_fullAttentionSeen));
    else if (m_checkpointedSeen >= 2 && m_checkpointedSeen > m_fullAttentionSeen)
        claim(memoryClaim, checkpointed, QStringLiteral("observed"), QStringLiteral("%1 requests were reused less far than their tokens were equal").arg(m_checkpointedSeen));
    const bool swaFull = m_flags.swaFull && !m_flagsSource.isEmpty();
    if (logAttached() && facts.memory() != MemoryKind::Unknown) {
        const QString detail = facts.memory() == MemoryKind::FullAttention ? QStringLiteral("architecture %1, no window, no recurrent memory").arg(facts.architecture)
            : facts.recurrent ? QStringLiteral("architecture %1 with recurrent memory").arg(facts.architecture)
            : facts.slidingWindow > 0 ? QStringLiteral("architecture %1, sliding window %2").arg(facts.architecture).arg(facts.slidingWindow)
                                      : QStringLiteral("context checkpoints were made");
        // --swa-full keeps the whole cache: the model's window is printed all the same, but no checkpoint is made.
        if (swaFull && !facts.recurrent && !facts.checkpointSeen)
            claim(memoryClaim, full, QStringLiteral("flags"), QStringLiteral("--swa-full (%1)").arg(m_flagsSource));
        else
            claim(memoryClaim, memoryKindName(facts.memory()), QStringLiteral("log"), detail);
    }
    int window = facts.slidingWindow > 0 ? facts.slidingWindow : 0;
    bool recurrent = facts.recurrent;
    if (!m_modelPath.isEmpty() && isLocal(m_http.base()) && QFileInfo(m_modelPath).isFile()) {
        if (const auto header = readGgufHeader(m_modelPath)) {
            recurrent = recurrent || header->recurrent;
            if (window == 0)
                window = header->slidingWindow;
            if (header->memory() != MemoryKind::Unknown) {
                const QString detail = header->recurrent ? QStringLiteral("architecture %1 with recurrent state").arg(header->architecture)
                    : header->slidingWindow > 0 ? QStringLiteral("architecture %1, sliding window %2").arg(header->architecture).arg(header->slidingWindow)
                                                : QStringLiteral("architecture %1, no window and no recurrent keys").arg(header->architecture);
                if (swaFull && !header->recurrent && header->slidingWindow > 0)
                    claim(memoryClaim, full, QStringLiteral("flags"), QStringLiteral("--swa-full on a model with a window (%1)").arg(m_flagsSource));
                claim(memoryClaim, memoryKindName(header->memory()), QStringLiteral("gguf"), detail);
            }
        }
    }
    const QString word = partialStateWord(m_modelPath + QLatin1Char(' ') + m_info.model);
    if (!word.isEmpty())
        claim(memoryClaim, checkpointed, QStringLiteral("name"), QStringLiteral("\"%1\" in the model's name").arg(word));
    if (m_info.capabilities.checkpointRing)
        evidence.prepend({memoryClaim, checkpointed, QStringLiteral("slots"), QStringLiteral("the slot payload lists checkpoints"), now});

    ReuseRule rule;
    m_info.memoryEvidence.clear();
    m_info.memoryDetail.clear();
    m_info.confidence = QStringLiteral("none");
    QStringList contradictions;
    for (const Evidence &row : std::as_const(evidence)) {
        if (row.claim != memoryClaim)
            continue;
        if (m_info.memoryEvidence.isEmpty()) {
            rule.memory = memoryKindFromName(row.value).value_or(MemoryKind::Unknown);
            m_info.memoryEvidence = row.source;
            m_info.memoryDetail = row.detail;
            m_info.confidence = row.source == QLatin1String("observed") ? QStringLiteral("measured") : row.source == QLatin1String("name") ? QStringLiteral("inferred") : QStringLiteral("read");
        } else if (row.value != memoryKindName(rule.memory)) {
            contradictions.append(QStringLiteral("%1 says %2 (%3)").arg(row.source, row.value, row.detail));
        }
    }
    for (Evidence &row : evidence) {
        if (row.claim == memoryClaim && row.source == m_info.memoryEvidence && !contradictions.isEmpty())
            row.detail += QStringLiteral("; contradicted: %1").arg(contradictions.join(QStringLiteral("; ")));
    }
    rule.slidingWindow = rule.memory == MemoryKind::Checkpointed && !recurrent ? window : 0;
    rule.recurrent = recurrent;
    rule.ringVisible = rule.memory == MemoryKind::Checkpointed && (logReadable() || m_info.capabilities.checkpointRing || m_flags.checkpointsMax == 0);
    rule.slotCount = m_info.slotCount;

    const bool flagsKnown = !m_flagsSource.isEmpty();
    const QString chunkClaim = QStringLiteral("chunk_reuse");
    if (flagsKnown) {
        rule.chunkReuseKnown = true;
        rule.chunkReuse = rule.memory == MemoryKind::FullAttention ? std::max(0, m_flags.cacheReuse.value_or(0)) : 0;
        claim(chunkClaim, QString::number(rule.chunkReuse), QStringLiteral("flags"), m_flagsSource);
        if (m_flags.slotSimilarity)
            rule.slotSimilarity = *m_flags.slotSimilarity;
        if (m_flags.cacheRamMib) {
            rule.hostCache = *m_flags.cacheRamMib != 0;
            rule.hostCacheLimitBytes = *m_flags.cacheRamMib < 0 ? -1 : qint64(*m_flags.cacheRamMib) * 1024 * 1024;
        }
        if (m_flags.checkpointsMax == 0 && rule.memory == MemoryKind::Checkpointed)
            claim(QStringLiteral("ring"), QStringLiteral("off"), QStringLiteral("flags"), QStringLiteral("-ctxcp 0: no checkpoints are made"));
    } else if (m_smallestChunk > 0) {
        rule.chunkReuseKnown = true;
        rule.chunkReuse = m_smallestChunk;
        claim(chunkClaim, QString::number(m_smallestChunk), QStringLiteral("log"), QStringLiteral("the smallest run that was moved; the flag's value may be lower"));
    }
    if (facts.hostCacheLimitBytes >= 0)
        rule.hostCacheLimitBytes = facts.hostCacheLimitBytes;
    // Unified KV is the default without -np; idle slots are then cleared when another one starts a task.
    if (facts.idleSlotsCleared) {
        rule.idleSlotsCleared = true;
        claim(QStringLiteral("idle_slots_cleared"), QStringLiteral("yes"), QStringLiteral("log"), QStringLiteral("idle slots are saved and cleared upon starting a new task"));
    } else if (!logAttached() && m_info.slotCount > 1 && flagsKnown) {
        const bool unified = m_flags.unified.value_or(!m_flags.parallel.has_value());
        rule.idleSlotsCleared = unified && m_flags.cacheIdleSlots.value_or(true) && rule.hostCache;
        claim(QStringLiteral("idle_slots_cleared"), rule.idleSlotsCleared ? QStringLiteral("yes") : QStringLiteral("no"), QStringLiteral("flags"), m_flagsSource);
    }
    if (logReadable())
        claim(QStringLiteral("ring"), QStringLiteral("visible"), QStringLiteral("log"),
              facts.checkpointsMax >= 0 ? QStringLiteral("at most %1 checkpoints, %2 tokens apart").arg(facts.checkpointsMax).arg(facts.checkpointsMinStep) : QStringLiteral("read from the server's log"));

    m_info.rule = rule;
    m_info.capabilities.chunkReuse = rule.chunkReuse > 0;
    m_info.capabilities.logRing = logReadable() && rule.memory == MemoryKind::Checkpointed;
    m_info.capabilities.partialStateOnly = !word.isEmpty() && m_info.memoryEvidence == QLatin1String("name");
    m_info.evidence = evidence;
    m_info.epoch = m_httpEpoch + m_model.epoch();
    m_info.cost = m_fit.cost();

    QStringList advice;
    if (!m_info.capabilities.reachable) {
        if (m_info.unreachableReason.contains(QLatin1String("API key")))
            advice.append(QStringLiteral("Give the API key: KERF_API_KEY, or --api-key-file FILE."));
        else
            advice.append(QStringLiteral("Start llama-server, or name another address with --backend URL."));
    } else {
        if (rule.memory != MemoryKind::FullAttention && !rule.ringVisible)
            advice.append(QStringLiteral("Make the checkpoint ring visible: start llama-server with -lv 4 --log-file FILE and give Kerf --server-log FILE, or let Kerf start it: --launch -- llama-server ..."));
        if (logAttached() && !facts.ringReadable() && rule.memory != MemoryKind::FullAttention)
            advice.append(QStringLiteral("The log is attached but shows no checkpoints: start llama-server with -lv 4."));
        if (!m_info.capabilities.slotSave) {
            QString told;
            for (const ProbeStep &step : std::as_const(m_info.probe)) {
                if (step.name == QLatin1String("slot_save"))
                    told = step.message;
            }
            advice.append(QStringLiteral("Start llama-server with --slot-save-path DIR to save and restore slots (it says: %1).").arg(told));
        }
        if (rule.memory == MemoryKind::FullAttention && rule.chunkReuseKnown && rule.chunkReuse == 0)
            advice.append(QStringLiteral("Start llama-server with --cache-reuse 64: equal runs behind a cut are then moved and reused too."));
        const int step = facts.checkpointsMinStep >= 0 ? facts.checkpointsMinStep : m_flags.checkpointsMinStep.value_or(flagsKnown ? 8192 : -1);
        if (rule.memory == MemoryKind::Checkpointed && step > 0 && m_info.contextSize > 0 && step > m_info.contextSize / 16)
            advice.append(QStringLiteral("Start llama-server with -cms %1: checkpoints %2 tokens apart leave few places for a cut in a window of %3.").arg(std::max(64, m_info.contextSize / 32)).arg(step).arg(m_info.contextSize));
        if (rule.idleSlotsCleared)
            advice.append(QStringLiteral("Do not pin slots on this server (-np 2 or more, or --no-cache-idle-slots, would allow it): an idle slot is cleared when another one starts a task."));
        if (!m_info.capabilities.slots)
            advice.append(QStringLiteral("Start llama-server without --no-slots: the slot state is then readable (it says: %1).").arg(m_info.slotsUnreadableReason));
    }
    m_info.advice = advice;
}

void LlamaBackend::takeLines(const QList<QByteArray> &lines)
{
    const int epoch = m_model.epoch();
    for (const QByteArray &line : lines) {
        const LogEvent event = parseServerLogLine(line);
        m_model.feed(event);
        ++m_lineNumber;
        if (event.kind == LogEvent::Kind::CheckpointErased || event.kind == LogEvent::Kind::CheckpointThinned)
            m_erasedBy.insert(static_cast<int>(event.value), event.task);
        if (event.kind == LogEvent::Kind::ChunkMoved && event.value > 0)
            m_smallestChunk = m_smallestChunk == 0 ? static_cast<int>(event.value) : std::min(m_smallestChunk, static_cast<int>(event.value));
        if (event.kind == LogEvent::Kind::Architecture || event.kind == LogEvent::Kind::SlotsInit || event.kind == LogEvent::Kind::Listening
            || event.kind == LogEvent::Kind::IdleSlotsCleared || event.kind == LogEvent::Kind::CheckpointCreated)
            m_infoDirty = true;
        // Lines may quote prompts at high verbosity: only those with a meaning are shown.
        const QString reading = readingOf(event);
        if (!reading.isEmpty())
            Q_EMIT logLine(m_lineNumber, QString::fromUtf8(line), reading);
    }
    if (m_erasedBy.size() > 4096)
        m_erasedBy.clear();
    if (m_model.epoch() != epoch) {
        m_erasedBy.clear();
        m_infoDirty = true;
        m_rendered.clear();
    }
    const QList<ServerLogModel::Happening> happenings = m_model.takeHappenings();
    for (const ServerLogModel::Happening &happening : happenings)
        Q_EMIT happened(happening.kind, happening.details);
    if (!m_changed.isActive())
        m_changed.start();
}

void LlamaBackend::rebuildStates()
{
    m_states.readable = m_info.capabilities.slots || logReadable();
    m_states.reason = m_states.readable ? QString() : m_info.slotsUnreadableReason;
    m_info.slotsReadable = m_states.readable;
    if (logReadable()) {
        m_states.states = m_book.withIds(m_model.states(), m_model);
        m_states.hostCacheBytes = m_model.hostCacheBytes();
    } else {
        m_states.states = m_book.fromSlots(m_slots, m_httpEpoch, m_info.rule.hostCache);
        m_states.hostCacheBytes = -1;
    }
}

ServerStates LlamaBackend::lastStates() const
{
    return m_states;
}

QCoro::Task<bool> LlamaBackend::readSlotsNow()
{
    const QPointer<LlamaBackend> self(this);
    const HttpReply reply = co_await m_http.get(QStringLiteral("/slots"), m_options.stateTimeoutMs);
    if (!self)
        co_return false;
    if (reply.status == 0) {
        lost(reply);
        co_return false;
    }
    if (reply.ok()) {
        const QList<SlotReading> slots = readSlots(QJsonDocument::fromJson(reply.body).array());
        qint64 before = -1;
        qint64 after = -1;
        for (const SlotReading &slot : std::as_const(m_slots))
            before = std::max(before, slot.task);
        for (const SlotReading &slot : slots)
            after = std::max(after, slot.task);
        if (after < before)
            ++m_httpEpoch; // task numbers only rise in one life of a server
        m_slots = slots;
    }
    co_return true;
}

/// The server writes its log behind the answer: waits until a slot that the log still calls busy has been released.
QCoro::Task<void> LlamaBackend::settleLog(int limitMs)
{
    const QPointer<LlamaBackend> self(this);
    for (int waited = 0; self && waited <= limitMs; waited += 10) {
        while (m_tail.catchUp()) {
        }
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
        QTimer timer;
        timer.setSingleShot(true);
        timer.start(10);
        co_await timer;
    }
}

QCoro::Task<Result<ServerStates>> LlamaBackend::states()
{
    const QPointer<LlamaBackend> self(this);
    if (!m_info.capabilities.reachable)
        co_return std::unexpected(unreachable());
    if (m_info.capabilities.slots) {
        const bool answered = co_await readSlotsNow();
        if (!self)
            co_return failure(Error::Code::Cancelled, {});
        if (!answered)
            co_return std::unexpected(unreachable());
    }
    if (logAttached()) {
        co_await settleLog(kLogSettleMs);
        if (!self)
            co_return failure(Error::Code::Cancelled, {});
        if (std::exchange(m_infoDirty, false))
            judge();
    }
    rebuildStates();
    co_return m_states;
}

QCoro::Task<Result<RenderedPrompt>> LlamaBackend::render(ChatRequest request)
{
    const QPointer<LlamaBackend> self(this);
    if (!m_info.capabilities.reachable)
        co_return std::unexpected(unreachable());
    if (!m_info.tokenizerExact)
        co_return failure(Error::Code::Failed, QStringLiteral("%1 does not tokenise or render templates").arg(m_info.url));
    QJsonObject body{{QStringLiteral("messages"), request.messages}};
    if (!request.tools.isEmpty())
        body.insert(QStringLiteral("tools"), request.tools);
    if (!request.chatTemplateKwargs.isEmpty())
        body.insert(QStringLiteral("chat_template_kwargs"), request.chatTemplateKwargs);
    const QByteArray key = QCryptographicHash::hash(QJsonDocument(body).toJson(QJsonDocument::Compact), QCryptographicHash::Sha256);
    if (const RenderedPrompt *known = m_rendered.object(key))
        co_return *known;

    const HttpReply applied = co_await m_http.post(QStringLiteral("/apply-template"), body, m_options.renderTimeoutMs);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    if (applied.status == 0) {
        lost(applied);
        co_return std::unexpected(unreachable());
    }
    if (!applied.ok())
        co_return failure(applied.status == 401 ? Error::Code::Unreachable : Error::Code::Refused, QStringLiteral("the server refused to render the prompt: %1").arg(applied.message()));
    const QByteArray prompt = applied.object().value(QStringLiteral("prompt")).toString().toUtf8();

    QList<QByteArray> markers;
    QList<QByteArray> contents;
    QJsonObject probeBody = body;
    probeBody.insert(QStringLiteral("messages"), withMarkers(request.messages, markers, contents));
    const HttpReply marked = co_await m_http.post(QStringLiteral("/apply-template"), probeBody, m_options.renderTimeoutMs);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    const QByteArray probeText = marked.ok() ? marked.object().value(QStringLiteral("prompt")).toString().toUtf8() : QByteArray();

    const QJsonObject tokensBody = tokenizeBody(QString::fromUtf8(prompt), true, true);
    const HttpReply tokens = co_await m_http.post(QStringLiteral("/tokenize"), tokensBody, m_options.renderTimeoutMs);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    if (tokens.status == 0) {
        lost(tokens);
        co_return std::unexpected(unreachable());
    }
    if (!tokens.ok())
        co_return failure(Error::Code::Refused, QStringLiteral("the server refused to tokenise the prompt: %1").arg(tokens.message()));
    Pieces parsed;
    if (tokens.body.size() > kParseOffLoop)
{
        const QFuture<Pieces> parsing = QtConcurrent::run(&parsePieces, tokens.body);
        parsed = co_await parsing;
    }
    else
        parsed = parsePieces(tokens.body);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    if (!parsed.ok)
        co_return failure(Error::Code::Failed, QStringLiteral("%1: /tokenize gave no list of tokens").arg(m_info.url));
    for (const TokenPiece &piece : std::as_const(parsed.pieces)) {
        if (!m_pieces.contains(piece.id))
            m_pieces.insert(piece.id, piece.bytes);
    }
    RenderedPrompt rendered;
    rendered.layout = layoutPrompt(prompt, parsed.pieces, findMessages(prompt, contents, probeText, markers), true);
    m_rendered.insert(key, new RenderedPrompt(rendered));
    co_return rendered;
}

QCoro::Task<Result<TokenList>> LlamaBackend::tokenize(QString text)
{
    const QPointer<LlamaBackend> self(this);
    if (!m_info.capabilities.reachable)
        co_return std::unexpected(unreachable());
    const QJsonObject body = tokenizeBody(text, false, false);
    const HttpReply reply = co_await m_http.post(QStringLiteral("/tokenize"), body, m_options.renderTimeoutMs);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    if (reply.status == 0) {
        lost(reply);
        co_return std::unexpected(unreachable());
    }
    if (!reply.ok())
        co_return failure(Error::Code::Refused, QStringLiteral("the server refused to tokenise: %1").arg(reply.message()));
    TokenList tokens;
    const QJsonArray rows = reply.object().value(QStringLiteral("tokens")).toArray();
    tokens.reserve(rows.size());
    for (const QJsonValue &row : rows)
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
    auto tokens = co_await tokenize(text);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    if (!tokens)
        co_return std::unexpected(tokens.error());
    const int count = static_cast<int>(tokens->size());
    m_counts.insert(key, new int(count));
    co_return count;
}

void LlamaBackend::notePrompt(const QString &sessionId, const TokenList &prompt, int slotId)
{
    m_book.notePrompt(sessionId, prompt, slotId);
}

void LlamaBackend::noteGenerated(const TokenList &prompt, const TokenList &generated)
{
    m_book.noteGenerated(prompt, generated);
    rebuildStates();
}

/// What only one rule explains: full attention stops where the tokens differ, checkpointed memory earlier.
void LlamaBackend::observe(const MeasuredRequest &request, int lcp)
{
    const int total = request.cacheTokens + request.promptTokens;
    if (lcp < 64 || lcp > total - 16 || request.cacheTokens < 16)
        return;
    // A checkpoint stands where an earlier turn ended: reuse up to such a place says nothing about the memory's kind. And
    // where the log shows the model, there is nothing to guess.
    if (logAttached() || m_book.endsNear(lcp, 16, bookEpoch()))
        return;
    if (request.cacheTokens == lcp)
        ++m_fullAttentionSeen;
    else if (request.cacheTokens < lcp - 16)
        ++m_checkpointedSeen;
}

QString LlamaBackend::causeOf(const LogTask &task, const MeasuredRequest &request) const
{
    if (task.slotWasEmpty && task.selectedBy != QLatin1String("lru") && !task.loadedFromHostCache)
        return QStringLiteral("pinned slot %1 had been cleared").arg(task.slot);
    if (task.loadedFromHostCache && task.reused < request.cacheTokens + request.promptTokens / 2)
        return QStringLiteral("the host cache loaded a different prompt (%1 tokens)").arg(task.loadedLength);
    if (task.forcedFull) {
        qint64 eraser = -1;
        int position = -1;
        for (auto it = m_erasedBy.cbegin(); it != m_erasedBy.cend(); ++it) {
            if (it.value() != task.task && it.key() <= task.lcp && it.key() > position) {
                position = it.key();
                eraser = it.value();
            }
        }
        if (eraser >= 0)
            return QStringLiteral("checkpoint %1 erased by task %2").arg(position).arg(eraser);
        return QStringLiteral("no checkpoint was left at or below token %1: everything was processed again").arg(task.lcp);
    }
    if (task.restored >= 0 && task.lcp > task.restored) {
        for (auto it = m_erasedBy.cbegin(); it != m_erasedBy.cend(); ++it) {
            if (it.value() != task.task && it.key() > task.restored && it.key() <= task.lcp)
                return QStringLiteral("checkpoint %1 erased by task %2").arg(it.key()).arg(it.value());
        }
    }
    if (task.selectedBy == QLatin1String("lru") && !task.loadedFromHostCache && task.reused == 0)
        return QStringLiteral("slot moved: slot %1 was taken because no slot matched").arg(task.slot);
    if (task.lcp >= 0 && task.reused <= task.lcp && task.lcp < request.cacheTokens + request.promptTokens)
        return QStringLiteral("slot %1 held another prompt: the first %2 tokens were equal").arg(task.slot).arg(task.lcp);
    return {};
}

QCoro::Task<Result<MatchedRequest>> LlamaBackend::noteTimings(MeasuredRequest request)
{
    const QPointer<LlamaBackend> self(this);
    MatchedRequest matched;
    matched.slotId = request.slotId;
    matched.source = request.slotId >= 0 ? QStringLiteral("caller") : QStringLiteral("unknown");
    const int total = request.cacheTokens + request.promptTokens;
    if (request.promptMs > 0 && request.promptTokens > 0) {
        m_fit.add(request.cacheTokens, total, request.promptMs);
        m_info.cost = m_fit.cost();
    }
    const int epochBefore = m_httpEpoch;
    if (m_info.capabilities.slots && m_info.capabilities.reachable) {
        co_await readSlotsNow();
        if (!self)
            co_return failure(Error::Code::Cancelled, {});
    }
    int heldLength = -1;
    if (logAttached()) {
        const LogTask *task = nullptr;
        for (int waited = 0; waited <= kLogSettleMs; waited += 10) {
            while (m_tail.catchUp()) {
            }
            task = m_model.findTask(total, request.cacheTokens, request.slotId);
            if (!task && request.slotId >= 0)
                task = m_model.findTask(total, request.cacheTokens); // the caller may be wrong about the slot
            if (task && task->ended())
                break;
            QTimer timer;
            timer.setSingleShot(true);
            timer.start(10);
            co_await timer;
            if (!self)
                co_return failure(Error::Code::Cancelled, {});
        }
        if (task) {
            matched.slotId = task->slot;
            matched.taskId = task->task;
            if (request.slotId < 0)
                matched.source = QStringLiteral("log");
            matched.cause = causeOf(*task, request);
            heldLength = task->endLength;
        }
    }
    if (matched.taskId < 0 || !logReadable()) {
        // The slot whose counts fit: prompt plus what was generated (the last token sampled is not in it).
        for (const SlotReading &slot : std::as_const(m_slots)) {
            const int generated = std::max(0, request.generated);
            const bool fits = slot.promptTokens >= total && slot.promptTokens <= total + generated;
            if (!fits || (request.slotId >= 0 && slot.id != request.slotId))
                continue;
            if (matched.slotId < 0) {
                matched.slotId = slot.id;
                matched.source = QStringLiteral("slots");
            }
            if (matched.taskId < 0)
                matched.taskId = slot.task;
            heldLength = slot.promptTokens;
            break;
        }
    }
    if (matched.cause.isEmpty() && m_httpEpoch != epochBefore)
        matched.cause = QStringLiteral("server restarted");
    if (!request.prompt.isEmpty()) {
        const int lcp = m_book.lcpBefore(request.prompt, matched.slotId, bookEpoch());
        if (lcp >= 0)
            observe(request, lcp);
        m_book.noteRan(request, bookEpoch(), matched.taskId, matched.slotId, heldLength);
    }
    if (matched.slotId >= 0)
        m_lastBySlot.insert(matched.slotId, request);
    judge();
    rebuildStates();
    if (!m_changed.isActive())
        m_changed.start();
    co_return matched;
}

QCoro::Task<Result<QJsonObject>> LlamaBackend::slotAction(int slotId, QString action, QString fileName)
{
    const QPointer<LlamaBackend> self(this);
    if (!m_info.capabilities.reachable)
        co_return std::unexpected(unreachable());
    QJsonObject body;
    if (!fileName.isEmpty())
        body.insert(QStringLiteral("filename"), fileName);
    const HttpReply reply = co_await m_http.post(QStringLiteral("/slots/%1?action=%2").arg(slotId).arg(action), body, m_options.saveTimeoutMs);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    if (reply.status == 0) {
        lost(reply);
        co_return std::unexpected(unreachable());
    }
    if (!reply.ok())
        co_return failure(Error::Code::Refused, QStringLiteral("slot %1: %2 was refused: %3").arg(slotId).arg(action, reply.message()));
    m_tail.catchUp();
    co_return reply.object();
}

QCoro::Task<Result<int>> LlamaBackend::saveSlot(int slotId, QString fileName)
{
    auto done = co_await slotAction(slotId, QStringLiteral("save"), fileName);
    if (!done)
        co_return std::unexpected(done.error());
    co_return done->value(QStringLiteral("n_saved")).toInt();
}

QCoro::Task<Result<int>> LlamaBackend::restoreSlot(int slotId, QString fileName)
{
    const QPointer<LlamaBackend> self(this);
    auto done = co_await slotAction(slotId, QStringLiteral("restore"), fileName);
    if (!done)
        co_return std::unexpected(done.error());
    const int tokens = done->value(QStringLiteral("n_restored")).toInt();
    if (self)
        m_model.noteRestored(slotId, tokens);
    co_return tokens;
}

QCoro::Task<Result<int>> LlamaBackend::eraseSlot(int slotId)
{
    auto done = co_await slotAction(slotId, QStringLiteral("erase"), {});
    if (!done)
        co_return std::unexpected(done.error());
    co_return done->value(QStringLiteral("n_erased")).toInt();
}

std::optional<bool> LlamaBackend::saveFileExists(const QString &fileName) const
{
    if (m_flags.slotSavePath.isEmpty() || !isLocal(m_http.base()))
        return std::nullopt;
    return QFileInfo::exists(QDir(m_flags.slotSavePath).filePath(fileName));
}

std::optional<qint64> LlamaBackend::freeSaveBytes() const
{
    if (m_flags.slotSavePath.isEmpty() || !isLocal(m_http.base()))
        return std::nullopt;
    const QStorageInfo storage(m_flags.slotSavePath);
    return storage.isValid() ? std::optional<qint64>(storage.bytesAvailable()) : std::nullopt;
}

QByteArray LlamaBackend::pieceBytes(TokenId id) const
{
    return m_pieces.value(id);
}

BackendInfo LlamaBackend::info() const
{
    return m_info;
}

QJsonObject LlamaBackend::slotsJson() const
{
    QJsonArray slots;
    QJsonArray cache;
    const auto orNull = [](qint64 value) { return value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value); };
    for (const HeldState &state : m_states.states) {
        QJsonArray checkpoints;
        for (const Checkpoint &checkpoint : state.checkpoints)
            checkpoints.append(QJsonObject{{QStringLiteral("position"), checkpoint.position}, {QStringLiteral("size_bytes"), orNull(checkpoint.sizeBytes)}, {QStringLiteral("task"), orNull(checkpoint.taskId)}});
        QJsonObject row{{QStringLiteral("tokens"), state.length},
                        {QStringLiteral("known_tokens"), state.knownLength()},
                        {QStringLiteral("session_id"), state.owner.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(state.owner)},
                        {QStringLiteral("checkpoints"), state.checkpointsKnown ? QJsonValue(checkpoints) : QJsonValue(QJsonValue::Null)},
                        {QStringLiteral("verified"), state.verified}};
        if (state.place == HeldState::Place::HostCache) {
            row.insert(QStringLiteral("size_bytes"), orNull(state.sizeBytes));
            cache.append(row);
            continue;
        }
        row.insert(QStringLiteral("slot_id"), state.slotId);
        row.insert(QStringLiteral("busy"), state.busy);
        row.insert(QStringLiteral("task"), orNull(state.taskId));
        const auto last = m_lastBySlot.constFind(state.slotId);
        row.insert(QStringLiteral("last_reuse"), last == m_lastBySlot.cend() ? QJsonValue(QJsonValue::Null) : QJsonValue(last->cacheTokens));
        row.insert(QStringLiteral("last_prefill"), last == m_lastBySlot.cend() ? QJsonValue(QJsonValue::Null) : QJsonValue(last->promptTokens));
        slots.append(row);
    }
    return {{QStringLiteral("slots"), slots},
            {QStringLiteral("host_cache"), QJsonObject{{QStringLiteral("known"), logReadable()},
                                                       {QStringLiteral("entries"), cache},
                                                       {QStringLiteral("bytes"), orNull(m_states.hostCacheBytes)},
                                                       {QStringLiteral("limit_bytes"), orNull(m_info.rule.hostCacheLimitBytes)}}},
            {QStringLiteral("source"), logReadable() ? QStringLiteral("log") : QStringLiteral("slots")},
            {QStringLiteral("readable"), m_states.readable},
            {QStringLiteral("reason"), m_states.reason.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(m_states.reason)},
            {QStringLiteral("simulated"), false},
            {QStringLiteral("epoch"), m_info.epoch}};
}

QJsonObject LlamaBackend::ringJson() const
{
    QJsonArray entries;
    for (const HeldState &state : m_states.states) {
        if (state.place != HeldState::Place::Slot)
            continue;
        for (const Checkpoint &checkpoint : state.checkpoints) {
            entries.append(QJsonObject{{QStringLiteral("position"), checkpoint.position},
                                       {QStringLiteral("kind"), checkpointKindName(checkpoint.kind)},
                                       {QStringLiteral("size_bytes"), checkpoint.sizeBytes < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(checkpoint.sizeBytes)},
                                       {QStringLiteral("slot_id"), state.slotId},
                                       {QStringLiteral("task"), checkpoint.taskId < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(checkpoint.taskId)}});
        }
    }
    const LogFacts &facts = m_model.facts();
    return {{QStringLiteral("visible"), m_info.rule.ringVisible},
            {QStringLiteral("source"), logReadable() ? QJsonValue(QStringLiteral("log")) : m_info.capabilities.checkpointRing ? QJsonValue(QStringLiteral("slots")) : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("entries"), entries},
            {QStringLiteral("max"), facts.checkpointsMax < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(facts.checkpointsMax)},
            {QStringLiteral("min_step"), facts.checkpointsMinStep < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(facts.checkpointsMinStep)},
            {QStringLiteral("needed"), m_info.rule.memory != MemoryKind::FullAttention}};
}

} // namespace kerf
