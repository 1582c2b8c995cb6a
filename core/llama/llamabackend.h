// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/llama/httpclient.h"
#include "core/llama/launch.h"
#include "core/llama/logmodel.h"
#include "core/llama/logtail.h"
#include "core/llama/resolve.h"
#include "core/llama/serverbook.h"

#include <QCache>
#include <QHash>
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
    std::optional<qint64> freeSaveBytes() const override;
    QCoro::Task<void> probeAgain() override;
    QJsonObject slotsJson() const override;
    QJsonObject ringJson() const override;
    QByteArray pieceBytes(TokenId id) const override;

Q_SIGNALS:
    void probeEnded();

private:
    QCoro::Task<void> probe();
    QCoro::Task<bool> readSlotsNow();
    QCoro::Task<void> settleLog(int limitMs);
    QCoro::Task<Result<QJsonObject>> slotAction(int slotId, QString action, QString fileName);
    void lost(const HttpReply &reply);
    void scheduleProbe();
    void takeLines(const QList<QByteArray> &lines);
    void judge();                 ///< memory kind, chunk reuse and advice from all evidence there is
    void rebuildStates();
    bool logAttached() const { return m_tail.isOpen(); }
    bool logReadable() const { return logAttached() && m_model.facts().ringReadable(); }
    int bookEpoch() const { return logReadable() ? m_model.epoch() : m_httpEpoch; }
    Error unreachable() const;
    void observe(const MeasuredRequest &request, int lcp);
    QString causeOf(const LogTask &task, const MeasuredRequest &request) const;

    BackendOptions m_options;
    HttpClient m_http;
    std::unique_ptr<ServerChild> m_child;
    LogTail m_tail;
    ServerLogModel m_model;
    ServerBook m_book;
    BackendInfo m_info;
    ServerFlags m_flags;
    QString m_flagsSource;        ///< where they come from; empty = none are known
    bool m_flagsLooked = false;
    QString m_modelPath;
    QList<SlotReading> m_slots;
    ServerStates m_states;
    QHash<int, MeasuredRequest> m_lastBySlot;
    PrefillCostFit m_fit;
    QHash<TokenId, QByteArray> m_pieces;
    QCache<QByteArray, RenderedPrompt> m_rendered;
    QCache<QByteArray, int> m_counts;
    QHash<int, qint64> m_erasedBy; ///< checkpoint position -> task that erased it
    int m_httpEpoch = 0;
    bool m_wasReachable = false;
    int m_backOffMs = 500;
    bool m_probing = false;
    QTimer m_retry;
    QTimer m_changed;
    bool m_infoDirty = false;
    int m_fullAttentionSeen = 0;   ///< requests that only full attention explains
    int m_checkpointedSeen = 0;    ///< requests that only checkpoints explain
    int m_smallestChunk = 0;       ///< chunk moves in the log
    qint64 m_lineNumber = 0;
};

} // namespace kerf
