// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/backend/backend.h"
#include "core/backend/builtintemplate.h"

namespace kerf {

/// Coherence off: there is no server. Prompts are rendered by the built-in template and counted by the heuristic
/// (estimates); nothing is known of any cache, and nothing is claimed.
class NullBackend : public Backend
{
    Q_OBJECT
public:
    explicit NullBackend(QString requested = QStringLiteral("none"), QObject *parent = nullptr);

    static QString offReason(); ///< "coherence is off (backend none)"

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
    QJsonObject ringJson() const override;

private:
    QString m_requested;
    BuiltinTemplate m_template;
};

} // namespace kerf
