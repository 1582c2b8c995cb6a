// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// What the calibration sends: token ids to one slot, nothing generated.

#include "core/llama/llamabackend.h"

#include <QJsonArray>
#include <QPointer>

namespace kerf {

namespace {
const QString kCompletion = QStringLiteral("/completion");
} // namespace

QCoro::Task<Result<MeasuredRequest>> LlamaBackend::runTokens(TokenList tokens, int slotId)
{
    const QPointer<LlamaBackend> self(this);
    if (!m_info.capabilities.reachable)
        co_return std::unexpected(unreachable());
    if (slotId < 0 || (m_info.slotCount > 0 && slotId >= m_info.slotCount))
        co_return failure(
            Error::Code::InvalidParams,
            QStringLiteral("slot_id: there is no slot %1 (the server has %2)").arg(slotId).arg(m_info.slotCount));
    QJsonArray ids;
    for (const TokenId id : std::as_const(tokens))
        ids.append(id);
    const QString nobody;
    notePrompt(nobody, tokens, slotId);
    // cache_prompt is left out, as harnesses do: what the server does by itself is to be seen (--no-cache-prompt).
    const QJsonObject body{{QStringLiteral("prompt"), ids},
                           {QStringLiteral("n_predict"), 0},
                           {QStringLiteral("id_slot"), slotId},
                           {QStringLiteral("stream"), false}};
    const HttpReply reply = co_await m_http.post(kCompletion, body, m_options.saveTimeoutMs);
    if (!self)
        co_return failure(Error::Code::Cancelled, {});
    if (!reply.ok())
        co_return std::unexpected(failed(reply, QStringLiteral("%1 tokens to slot %2").arg(tokens.size()).arg(slotId)));
    const QJsonObject timings = reply.object().value(QStringLiteral("timings")).toObject();
    const QJsonValue cached = timings.value(QStringLiteral("cache_n"));
    if (!cached.isDouble() || !timings.value(QStringLiteral("prompt_n")).isDouble())
        co_return failure(Error::Code::Failed,
                          QStringLiteral("this server does not say what it reused (no timings.cache_n)"));
    MeasuredRequest measured;
    measured.prompt = std::move(tokens);
    measured.slotId = slotId;
    measured.cacheTokens = cached.toInt();
    measured.promptTokens = timings.value(QStringLiteral("prompt_n")).toInt();
    measured.promptMs = timings.value(QStringLiteral("prompt_ms")).toDouble(-1);
    measured.generated = 0;
    const Result<MatchedRequest> matched = co_await noteTimings(measured);
    Q_UNUSED(matched)
    co_return measured;
}

void LlamaBackend::setStoredEvidence(const QJsonObject &stored)
{
    m_options.storedEvidence = stored;
    if (!m_info.probed)
        return;
    judge();
    m_infoDirty = true;
    changed();
}

void LlamaBackend::cancelRun() { m_http.cancel(kCompletion); }

} // namespace kerf
