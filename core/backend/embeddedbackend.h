// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/backend/backend.h"
#include "core/backend/builtintemplate.h"
#include "core/backend/simulator.h"

namespace kerf {

/// How the embedded server is set up.
struct EmbeddedConfig {
    QString requested =
        QStringLiteral("embedded"); ///< the spec as asked: "embedded", or "auto" when it is the fallback
    SimulatorConfig server;
    QStringList notes; ///< put into info().notes ("http://... does not answer: simulated")
    int epoch = 1;
    friend bool operator==(const EmbeddedConfig &, const EmbeddedConfig &) = default;
};

/// A server simulated inside this process, token by token. Everything it answers is marked simulated; its tokens
/// are estimates (HeuristicTokenizer). simulateRequest() is the harness's request; timings that a caller makes up
/// itself (noteTimings without it) are booked for what they say of lengths and marked "caller, not simulated".
class EmbeddedBackend : public Backend
{
    Q_OBJECT
public:
    explicit EmbeddedBackend(EmbeddedConfig config = {}, QObject *parent = nullptr);
    ~EmbeddedBackend() override;

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
    QByteArray pieceBytes(TokenId id) const override;
    QCoro::Task<Result<MeasuredRequest>> runTokens(TokenList tokens, int slotId) override;
    QCoro::Task<Result<MeasuredRequest>> simulateRequest(ReuseRequest request, int generated) override;
    QJsonObject ringJson() const override;

    /// The server behind it; for tests and the demo.
    const SimulatedServer &server() const { return m_server; }

private:
    struct Ran { ///< a request that simulateRequest() ran and nobody has booked yet
        MeasuredRequest measured;
        qint64 taskId = -1;
    };

    void publish();
    void announce();
    void own(int slotId, const TokenList &prompt, const QString &sessionId);

    EmbeddedConfig m_config;
    SimulatedServer m_server;
    BuiltinTemplate m_template;
    struct Prompt {
        QString sessionId;
        TokenList tokens;
    };
    QList<Prompt> m_prompts; ///< handed out, newest last, at most 32
    QList<Ran> m_ran; ///< newest last, at most 32
    QHash<int, int> m_lastReuse; ///< by slot
    bool m_announcing = false;
};

} // namespace kerf
