// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/ipc/serviceclient.h"

#include <QCoroTask>

#include <QJsonObject>
#include <QObject>
#include <QPointer>

#include <functional>
#include <memory>

namespace kerf {

/// A small conversation, turn by turn, as a harness would hold it: the demo's, and the one of the pictures.
/// It speaks to the service alone; the request itself goes where `Sender` sends it.
class Harness : public QObject
{
    Q_OBJECT
public:
    /// Sends what context.assemble gave. Answers {cache_n, prompt_n, prompt_ms, predicted_n?, predicted_ms?, text?}.
    using Sender = std::function<QCoro::Task<Result<QJsonObject>>(QString sessionId, QJsonObject assembled)>;

    struct Script {
        QString sessionId = QStringLiteral("demo");
        QString title = QStringLiteral("demo");
        int firstTurn = 1;
        int turns = 40; ///< the last one's number
        int wordsPerMessage = 70; ///< about
        int compactions = 0; ///< stop behind so many; 0 = all turns
        bool applyPlans = true; ///< false: leaves the last plan to be made by hand
    };

    explicit Harness(ServiceClient *client, QObject *parent = nullptr);

    /// One at a time. Error: the service's, or the sender's.
    QCoro::Task<Result<void>> run(Script script, Sender sender);
    void stop() { m_stopped = true; }

    /// The embedded server's own sender (server.simulate).
    static QCoro::Task<Result<QJsonObject>> simulate(QPointer<ServiceClient> client, QString sessionId,
                                                     QJsonObject assembled);

Q_SIGNALS:
    void turned(int turn, int compactions);

private:
    QPointer<ServiceClient> m_client; ///< a client that goes ends the conversation
    bool m_stopped = false;
};

} // namespace kerf
