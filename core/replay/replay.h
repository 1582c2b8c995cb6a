// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/ipc/serviceclient.h"
#include "core/transcript/transcript.h"

#include <QUrl>

#include <atomic>
#include <memory>

namespace kerf {

struct ReplayOptions {
    Transcript transcript;
    QStringList strategies; ///< replayStrategies() has the known ones
    int window = 0; ///< tokens; 0 = the server's n_ctx
    int turns = 0; ///< at most so many requests a strategy; 0 = all
    QUrl server; ///< llama-server; empty = the embedded simulation of the service
    QString apiKey;
    int summaryTokens = 400; ///< about; summarise only
};

struct ReplayCompaction {
    int turn = 0;
    int cut = -1; ///< -1 = the strategy names none
    int promptTokens = 0;
    int tokensAfter = 0;
    int predicted = -1; ///< -1 = nothing was predicted
    int low = -1;
    int high = -1;
    int measured = 0;
    int prefilled = 0;
    double ms = -1; ///< -1 = not reported
    QString outcome;
    QString cause;
};

struct ReplayRow {
    QString strategy;
    int turns = 0;
    QList<ReplayCompaction> compactions;
    qint64 newTokens = 0;
    qint64 prefillTokens = 0;
    qint64 predictedPrefill = 0;
    qint64 reusedTokens = 0;
    double prefillMs = 0;
    int turnsWithMs = 0;
    int misses = 0; ///< requests whose prediction was refuted
    qint64 contextSum = 0; ///< prompt tokens over all requests: mean context = sum / turns
    bool exact = true;
    bool simulated = false;
    QString stopped; ///< why it ended early; empty = it did not
    double amplification() const { return newTokens > 0 ? double(prefillTokens) / double(newTokens) : -1; }
    double predictedAmplification() const { return newTokens > 0 ? double(predictedPrefill) / double(newTokens) : -1; }
    QJsonObject toJson() const;
};

/// none, summarise, truncate-oldest and the shipped profiles, in the order in which they are shown.
QStringList replayStrategies();

/// Runs a recorded conversation turn by turn against a server, under one strategy after another, through the service's
/// own methods. Assistant messages are committed as recorded; one token is generated a request.
class Replay : public QObject
{
    Q_OBJECT
public:
    Replay(std::shared_ptr<ServiceClient> client, ReplayOptions options, QObject *parent = nullptr);

    /// Keep the object until it has answered. Errors: InvalidParams (unknown strategy), Unreachable.
    QCoro::Task<Result<QList<ReplayRow>>> run();
    void cancel() { *m_cancelled = true; } ///< ends behind the request that is under way; what was measured is told
    int requests() const { return m_requests; }

Q_SIGNALS:
    void progress(const QString &strategy, int turn, int turns);

private:
    struct Run;
    QCoro::Task<Result<ReplayRow>> runStrategy(QString strategy);
    QCoro::Task<Result<void>> request(std::shared_ptr<Run> run);
    QCoro::Task<Result<void>> summarise(std::shared_ptr<Run> run);
    QCoro::Task<Result<QJsonObject>> send(QString sessionId, QJsonObject assembled);
    QCoro::Task<Result<void>> openSession(std::shared_ptr<Run> run);
    QCoro::Task<Result<void>> commit(std::shared_ptr<Run> run, QJsonObject message);

    std::shared_ptr<ServiceClient> m_client;
    ReplayOptions m_options;
    std::shared_ptr<std::atomic_bool> m_cancelled = std::make_shared<std::atomic_bool>(false);
    int m_requests = 0;
};

} // namespace kerf
