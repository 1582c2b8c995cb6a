// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"
#include "core/cache/reuse.h"
#include "core/session/episode.h"
#include "core/tokens/promptlayout.h"

#include <QCoroTask>

#include <QJsonArray>
#include <QJsonObject>
#include <QObject>

namespace kerf {

/// What a chat request is made of, for rendering: exactly the body fields that the harness will send.
struct ChatRequest {
    QJsonArray messages; ///< OpenAI chat messages
    QJsonArray tools;
    QJsonObject chatTemplateKwargs;
};

struct RenderedPrompt {
    PromptLayout layout; ///< one MessageSpan a message of the request
    bool simulated = false;
};

/// Capabilities of SPEC section 3; absent = false. `note`: the server's own message (a 501 names the flag).
struct Capabilities {
    bool reachable = false;
    bool slots = false;
    bool slotSave = false;
    bool slotRestore = false;
    bool slotErase = false;
    bool checkpointRing = false; ///< in the slot payload
    bool tokenize = false;
    bool props = false;
    bool metrics = false;
    bool partialStateOnly = false;
    bool contextShift = false;
    bool applyTemplate = false;
    bool chunkReuse = false;
    bool logRing = false; ///< the ring is read from the server's log
    friend bool operator==(const Capabilities &, const Capabilities &) = default;
};

/// One step of the probe, as doctor shows it.
struct ProbeStep {
    QString name; ///< health|props|slots|tokenize|metrics|slot_save|slot_restore|slot_erase|apply_template|...
    QString route;
    int httpStatus = 0; ///< 0 = no answer
    bool ok = false;
    QString message; ///< the server's own words, or the network error
    friend bool operator==(const ProbeStep &, const ProbeStep &) = default;
};

/// A fact about the server with where it comes from; strongest first in a list.
struct Evidence {
    QString claim; ///< memory_kind|chunk_reuse|ring|idle_slots_cleared|...
    QString value;
    QString source; ///< calibration|observed|log|flags|gguf|name|slots|default
    QString detail;
    QDateTime at;
    bool stored = false; ///< of an earlier run
    friend bool operator==(const Evidence &, const Evidence &) = default;
};

struct BackendInfo {
    QString kind; ///< llama-server|embedded|none
    QString name; ///< what receipts print: "llama-server http://...", "embedded (simulated)", "none"
    QString requested; ///< the spec as asked: auto|embedded|none|URL
    QString url; ///< empty unless llama-server
    bool simulated = false;
    bool probed = false; ///< the first probe has ended
    QString unreachableReason; ///< empty while reachable
    QString build;
    QString model; ///< alias or path as the server says
    int contextSize = 0; ///< n_ctx; 0 = unknown
    int slotCount = 0;
    QString tokenizer; ///< identity of the tokenizer: "server:<build>:<model>", "heuristic"
    bool tokenizerExact = false;
    QString identity; ///< server, build and model: recorded checkpoints belong to it
    Capabilities capabilities;
    ReuseRule rule;
    QString memoryEvidence; ///< source of the memory kind: "log", "flags", ...; empty = unknown
    QString memoryDetail; ///< sentence
    QString confidence; ///< measured|read|inferred|none
    QList<Evidence> evidence;
    QList<ProbeStep> probe;
    QStringList advice; ///< what to do, with the flag or the option named
    QStringList notes;
    int epoch = 0; ///< rises whenever the server was restarted or replaced
    bool slotsReadable = true;
    QString slotsUnreadableReason;
    PrefillCost cost; ///< measured (or the simulator's); samples 0 = unknown
    friend bool operator==(const BackendInfo &, const BackendInfo &) = default;
};

/// What the next request can meet, at this moment.
struct ServerStates {
    QList<HeldState> states;
    bool readable = true;
    QString reason;
    qint64 hostCacheBytes = -1;
};

/// A request whose timings came back, for the backend's book.
struct MeasuredRequest {
    TokenList prompt; ///< the ids that were sent, as rendered by us
    int slotId = -1; ///< where the caller pinned it, or said it ran; -1 = unknown
    int cacheTokens = 0; ///< cache_n
    int promptTokens = 0; ///< prompt_n: prefilled
    double promptMs = -1; ///< -1 = not reported
    int generated = -1; ///< predicted_n; -1 = not reported
    QString sessionId;
};

/// How the server saw that request; found from caller's slot, log or /slots.
struct MatchedRequest {
    int slotId = -1; ///< -1 = unknown
    qint64 taskId = -1;
    QString source; ///< caller|log|slots|unknown
    QString cause; ///< what the log says of a reuse that fell short: "checkpoint erased by task 22", ...
};

/// An inference server, or what stands in for one. One thread: the engine's. Signals are coalesced.
/// Implementations: LlamaBackend (core/llama), EmbeddedBackend and NullBackend (core/backend).
class Backend : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;

    virtual BackendInfo info() const = 0;
    /// Starts probing; at once for embedded and none.
    virtual void start() = 0;
    /// Waits for the first probe to end, at most its own limit. Never fails.
    virtual QCoro::Task<void> ready() = 0;
    /// Renders and tokenises a whole prompt. Errors: Unreachable, Refused (the template's own message).
    virtual QCoro::Task<Result<RenderedPrompt>> render(ChatRequest request) = 0;
    /// Tokens of a text alone (no BOS).
    virtual QCoro::Task<Result<int>> countTokens(QString text) = 0;
    /// Whether `countTokens` and `render` are the server's own tokenizer.
    bool isExact() const { return info().tokenizerExact; }
    /// Ids of a text alone (no BOS), for the re-tokenised reply.
    virtual QCoro::Task<Result<TokenList>> tokenize(QString text) = 0;
    /// Reads slots anew and catches up with the log. Errors: Unreachable.
    virtual QCoro::Task<Result<ServerStates>> states() = 0;
    /// The last known states, without asking.
    virtual ServerStates lastStates() const = 0;
    /// We handed this prompt out and it may be sent now: the ids are remembered (last 32 a server).
    virtual void notePrompt(const QString &sessionId, const TokenList &prompt, int slotId) = 0;
    /// The caller's timings for a prompt. Finds the task, books what the slot holds now.
    virtual QCoro::Task<Result<MatchedRequest>> noteTimings(MeasuredRequest request) = 0;
    /// Ids that were generated behind `prompt`, told by the harness.
    virtual void noteGenerated(const TokenList &prompt, const TokenList &generated) = 0;
    /// Slot persistence; fileName is bare. Result: tokens saved / restored.
    virtual QCoro::Task<Result<int>> saveSlot(int slotId, QString fileName) = 0;
    virtual QCoro::Task<Result<int>> restoreSlot(int slotId, QString fileName) = 0;
    virtual QCoro::Task<Result<int>> eraseSlot(int slotId) = 0;
    /// Whether a save file is there; nullopt = not knowable (remote, path unknown).
    virtual std::optional<bool> saveFileExists(const QString &fileName) const = 0;
    /// Deletes a save file. Errors: Failed where saves go to another machine or nobody knows where, NotFound.
    virtual Result<void> removeSaveFile(const QString &fileName)
    {
        Q_UNUSED(fileName)
        return failure(Error::Code::Failed, QStringLiteral("where save files are kept is not known"));
    }
    /// Size of a save file; nullopt = it is not there, or not knowable.
    virtual std::optional<qint64> saveFileBytes(const QString &fileName) const
    {
        Q_UNUSED(fileName)
        return std::nullopt;
    }
    /// Free bytes where saves go; nullopt = unknown (remote).
    virtual std::optional<qint64> freeSaveBytes() const = 0;
    /// Probe again now (doctor refresh).
    virtual QCoro::Task<void> probeAgain() = 0;
    /// server.slots: what is known of every slot and of the host prompt cache, as on the wire.
    virtual QJsonObject slotsJson() const = 0;
    /// Bytes of a token id that was seen in some rendering; null = not seen.
    virtual QByteArray pieceBytes(TokenId) const { return {}; }
    /// Runs a request on the simulator, as a harness would on a server. Error: Failed on every other backend.
    virtual QCoro::Task<Result<MeasuredRequest>> simulateRequest(ReuseRequest request, int generated)
    {
        Q_UNUSED(request)
        Q_UNUSED(generated)
        co_return failure(Error::Code::Failed, QStringLiteral("only the embedded backend can simulate a request"));
    }
    /// Sends these ids to that slot, generating nothing, and says what was reused and prefilled (the calibration).
    /// Errors: Unreachable, Refused, Cancelled, Failed (a backend that runs nothing).
    virtual QCoro::Task<Result<MeasuredRequest>> runTokens(TokenList tokens, int slotId)
    {
        Q_UNUSED(tokens)
        Q_UNUSED(slotId)
        co_return failure(Error::Code::Failed, QStringLiteral("there is no server to send anything to"));
    }
    /// Gives up the run that is under way.
    virtual void cancelRun() {}
    /// doctor's ring: {visible, source, entries:[{position, kind, size_bytes, slot_id}]}
    virtual QJsonObject ringJson() const = 0;
    /// Lines of the server's log from number `from` on (0 = the last ones), as on the wire of server.log.
    virtual QJsonObject logJson(qint64 from, int limit) const
    {
        Q_UNUSED(from)
        Q_UNUSED(limit)
        return {};
    }
    /// What earlier runs measured, by evidenceKey(); given before start().
    virtual void setStoredEvidence(const QJsonObject &stored) { Q_UNUSED(stored) }
    /// The key under which evidence of the present server is kept; empty = it has none.
    virtual QString evidenceKey() const { return {}; }
    /// Lets go of what was observed or stored. false = there is nothing of it, or it would be read again at once.
    virtual bool forgetEvidence(const QString &claim, const QString &source)
    {
        Q_UNUSED(claim)
        Q_UNUSED(source)
        return false;
    }

Q_SIGNALS:
    void infoChanged(); ///< reachable or not, capabilities, evidence
    void statesChanged(); ///< slots, ring, host cache
    /// Something that happened on the server, for the event list: kind is checkpoint-created|
    /// checkpoint-restored|checkpoint-erased|full-reprocessing|chunk-shifted|slot-cleared|prompt-saved|
    /// prompt-loaded|task-started|task-finished|server-up|server-down|server-restarted.
    void happened(const QString &kind, const QJsonObject &details);
    void logLine(qint64 number, const QString &line, const QString &reading); ///< server log, if attached
};

} // namespace kerf
