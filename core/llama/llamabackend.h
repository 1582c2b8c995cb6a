// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/llama/evidence.h"
#include "core/llama/httpclient.h"
#include "core/llama/launch.h"
#include "core/llama/logmodel.h"
#include "core/llama/logring.h"
#include "core/llama/logtail.h"
#include "core/llama/probe.h"
#include "core/llama/resolve.h"
#include "core/llama/serverbook.h"

#include <QCache>
#include <QElapsedTimer>
#include <QHash>
#include <QPair>
#include <QSet>
#include <QTimer>

#include <memory>

namespace kerf {

/// A real llama-server: HTTP for prompts and slots, its log for the ring, its start flags for what no answer names.
class LlamaBackend : public Backend
{
    Q_OBJECT
public:
    LlamaBackend(QUrl url, BackendOptions options, QObject *parent = nullptr);
    ~LlamaBackend() override;

    BackendInfo info() const override;
    void start() override;
    QCoro::Task<void> ready() override;
    QCoro::Task<Result<RenderedPrompt>> render(ChatRequest request) override;
    QCoro::Task<Result<int>> countTokens(QString text) override;
    QCoro::Task<Result<TokenList>> tokenize(QString text) override;
    QCoro::Task<Result<ServerStates>> states() override;
    ServerStates lastStates() const override;
    void notePrompt(const QString &sessionId, const TokenList &prompt, int slotId) override;
    QCoro::Task<Result<MatchedRequest>> noteTimings(MeasuredRequest request) override;
    void noteGenerated(const TokenList &prompt, const TokenList &generated) override;
    QCoro::Task<Result<int>> saveSlot(int slotId, QString fileName) override;
    QCoro::Task<Result<int>> restoreSlot(int slotId, QString fileName) override;
    QCoro::Task<Result<int>> eraseSlot(int slotId) override;
    std::optional<bool> saveFileExists(const QString &fileName) const override;
    Result<void> removeSaveFile(const QString &fileName) override;
    std::optional<qint64> saveFileBytes(const QString &fileName) const override;
    std::optional<qint64> freeSaveBytes() const override;
    QCoro::Task<Result<MeasuredRequest>> runTokens(TokenList tokens, int slotId) override;
    void cancelRun() override;
    QCoro::Task<void> probeAgain() override;
    QJsonObject slotsJson() const override;
    QJsonObject ringJson() const override;
    QByteArray pieceBytes(TokenId id) const override;
    QJsonObject logJson(qint64 from, int limit) const override;
    void setStoredEvidence(const QJsonObject &stored) override;
    QString evidenceKey() const override;
    bool forgetEvidence(const QString &claim, const QString &source) override;
    /// Ends saves, restores and erasures that are under way, as far as we wait for them.
    void cancelSlotActions();

Q_SIGNALS:
    void probeEnded();

private:
    struct SlotsRead {
        bool answered = false; ///< false: gone, or too busy to say
        bool gone = false;
    };
    QCoro::Task<void> probe();
    void takeProbe(const ProbeResult &result);
    void endProbe();
    QCoro::Task<void> lookAtProcess();
    QCoro::Task<SlotsRead> readSlotsNow();
    QCoro::Task<void> catchUp();
    QCoro::Task<void> settleLog(int limitMs);
    QCoro::Task<Result<QJsonObject>> slotAction(int slotId, QString action, QString fileName);
    void poll();
    QCoro::Task<void> pollServer();
    void lost(const HttpReply &reply);
    void newLife(const QString &why);
    bool processIsGone() const;
    void scheduleProbe(int afterMs);
    void takeLines(const QList<QByteArray> &lines);
    MemoryFacts memoryFacts() const;
    void judge(); ///< memory kind, chunk reuse, advice and notes from all evidence there is
    void rebuildStates();
    void changed();
    bool isLaunching() const;
    /// Our child has not said yet where it listens, and its command does not either: another server may be there.
    bool waitsForAddress() const;
    void moveTo(const QUrl &url);
    void noteGap(bool gap);
    void happen(const QString &kind, QJsonObject details, qint64 timeUs);
    QJsonValue prefillJson(const HeldState &state) const;
    QJsonObject hostCacheJson(const QJsonArray &entries) const;
    qint64 saveBytes(const HeldState &state) const;
    QJsonValue madeAt(int slotId, const Checkpoint &checkpoint) const;
    bool logAttached() const { return m_tail.isOpen() && m_model.epoch() >= m_logEpochNeeded; }
    bool logReadable() const { return logAttached() && !m_logSilent && m_model.facts().ringReadable(); }
    /// Lives of the server are counted by the log where it is read, else by what HTTP shows.
    int bookEpoch() const;
    Error unreachable() const;
    Error failed(const HttpReply &reply, const QString &what);
    qint64 slotTask(int slotId) const;
    void observe(const MeasuredRequest &request, int slotId, const QList<SlotReading> &before);
    QString causeOf(const LogTask &task, const MeasuredRequest &request) const;

    BackendOptions m_options;
    HttpClient m_http;
    std::unique_ptr<ServerChild> m_child;
    LogTail m_tail;
    ServerLogModel m_model;
    ServerLogRing m_ring;
    bool m_addressSaid = false; ///< our child named its address
    bool m_logCut = false; ///< lines may be missing since the last request
    QHash<QPair<int, int>, qint64> m_madeAt; ///< slot and checkpoint position -> when it was made
    int m_pinsCleared = 0;
    qint64 m_pinsClearedTokens = 0;
    int m_loadsInTheWay = 0;
    qint64 m_loadsInTheWayTokens = 0;
    qint64 m_logBeganMs = -1; ///< when the server's clock was 0, as near as lines have shown; -1 = not known
    qint64 m_logWrittenMs = -1; ///< when the newest line was written
    ServerBook m_book;
    BackendInfo m_info;
    QStringList m_notes; ///< said once: how our child ended
    ServerFlags m_flags;
    QString m_flagsSource; ///< where they come from; empty = none are known
    bool m_flagsTold = false; ///< by the user or by launching: /proc is not asked
    bool m_processLooked = false;
    qint64 m_pid = 0; ///< of a local server; 0 = unknown
    QString m_workingDirectory; ///< of a local server
    std::optional<GgufHeader> m_gguf;
    QString m_ggufPath; ///< the file that m_gguf was read from, or failed to
    QString m_modelPath;
    bool m_sleeping = false;
    bool m_oldSlotRoutes = false;
    QList<SlotReading> m_slots;
    QString m_slotsBusy; ///< why the last reading of the slots failed; empty = it did not
    ServerStates m_states;
    QHash<int, MeasuredRequest> m_lastBySlot;
    PrefillCostFit m_fit;
    QHash<TokenId, QByteArray> m_pieces;
    QCache<QByteArray, RenderedPrompt> m_rendered;
    QCache<QByteArray, int> m_counts;
    QHash<QPair<int, int>, qint64> m_erasedBy; ///< slot and checkpoint position -> task that erased it
    QHash<QByteArray, int> m_notedEpochs; ///< hash of a prompt that was handed out -> epoch at that time
    int m_httpEpoch = 0;
    bool m_suspect = false; ///< the connection broke: whether this is the same life is to be found out
    bool m_wasReachable = false;
    bool m_everReachable = false;
    int m_backOffMs = 0;
    bool m_probing = false;
    QTimer m_retry;
    QTimer m_poll;
    QTimer m_changed;
    QElapsedTimer m_used; ///< since somebody last asked for states
    bool m_polling = false;
    bool m_infoDirty = false;
    bool m_contextShifted = false;
    int m_epochAtUp = 0; ///< m_httpEpoch when the server was found last
    int m_logEpochAtAnswer = 0; ///< the log's epoch when the server answered last
    int m_logEpochNeeded = 0; ///< a log that has not come to this epoch does not show the server's restart
    qint64 m_linesAtPrompt = -1; ///< lines read when the last prompt was handed out
    qint64 m_bookedTask = -1; ///< newest task of a request whose timings came
    QSet<qint64> m_bookedTasks; ///< all of this life, by the log
    LogFacts m_judgedFacts;
    int m_judgedChunk = 0;
    bool m_logSilent =
        false; ///< a request ran and the log did not grow: it is another server's, or is no longer written
    int m_fullAttentionSeen = 0; ///< requests that only full attention explains
    int m_checkpointedSeen = 0; ///< requests that only checkpoints explain
    int m_smallestChunk = 0; ///< chunk moves in the log
};

} // namespace kerf
