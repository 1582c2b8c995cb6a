// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/backend/nullbackend.h"

#include "core/backend/heuristictokenizer.h"
#include "core/base/log.h"

#include <utility>

namespace kerf {

namespace {

std::unexpected<Error> off() { return failure(Error::Code::Failed, NullBackend::offReason()); }

} // namespace

NullBackend::NullBackend(QString requested, QObject *parent)
    : Backend(parent)
    , m_requested(std::move(requested))
{
}

QString NullBackend::offReason() { return QStringLiteral("coherence is off (backend none)"); }

BackendInfo NullBackend::info() const
{
    BackendInfo info;
    info.kind = QStringLiteral("none");
    info.name = QStringLiteral("none");
    info.requested = m_requested;
    info.probed = true;
    info.unreachableReason = offReason();
    info.tokenizer = QStringLiteral("heuristic");
    info.identity = QStringLiteral("none");
    info.confidence = QStringLiteral("none");
    info.slotsReadable = false;
    info.slotsUnreadableReason = offReason();
    info.rule.hostCache = false;
    info.notes = {QStringLiteral(
        "coherence is off: nothing is known of any cache, and nothing is claimed; tokens are estimates")};
    return info;
}

void NullBackend::start()
{
    qCInfo(lcBackend) << "backend none: coherence is off";
    Q_EMIT infoChanged();
}

QCoro::Task<void> NullBackend::ready() { co_return; }

QCoro::Task<Result<RenderedPrompt>> NullBackend::render(ChatRequest request)
{
    co_return RenderedPrompt{m_template.render(request), false};
}

QCoro::Task<Result<int>> NullBackend::countTokens(QString text) { co_return HeuristicTokenizer::count(text.toUtf8()); }

QCoro::Task<Result<TokenList>> NullBackend::tokenize(QString text) { co_return m_template.tokenize(text); }

QCoro::Task<Result<ServerStates>> NullBackend::states() { co_return lastStates(); }

ServerStates NullBackend::lastStates() const
{
    ServerStates states;
    states.readable = false;
    states.reason = offReason();
    return states;
}

void NullBackend::notePrompt(const QString &, const TokenList &, int) { }

QCoro::Task<Result<MatchedRequest>> NullBackend::noteTimings(MeasuredRequest request)
{
    MatchedRequest matched;
    matched.slotId = request.slotId;
    matched.source = request.slotId >= 0 ? QStringLiteral("caller") : QStringLiteral("unknown");
    co_return matched;
}

void NullBackend::noteGenerated(const TokenList &, const TokenList &) { }

QCoro::Task<Result<int>> NullBackend::saveSlot(int, QString) { co_return off(); }

QCoro::Task<Result<int>> NullBackend::restoreSlot(int, QString) { co_return off(); }

QCoro::Task<Result<int>> NullBackend::eraseSlot(int) { co_return off(); }

std::optional<bool> NullBackend::saveFileExists(const QString &) const { return std::nullopt; }

std::optional<qint64> NullBackend::freeSaveBytes() const { return std::nullopt; }

QCoro::Task<void> NullBackend::probeAgain() { co_return; }

QJsonObject NullBackend::slotsJson() const
{
    return {{QStringLiteral("slots"), QJsonArray()},
            {QStringLiteral("host_cache"), QJsonValue(QJsonValue::Null)},
            {QStringLiteral("readable"), false},
            {QStringLiteral("reason"), offReason()},
            {QStringLiteral("simulated"), false}};
}

QByteArray NullBackend::pieceBytes(TokenId id) const { return m_template.pieceBytes(id); }

QJsonObject NullBackend::ringJson() const
{
    return {{QStringLiteral("visible"), false},
            {QStringLiteral("source"), QJsonValue(QJsonValue::Null)},
            {QStringLiteral("entries"), QJsonArray()}};
}

} // namespace kerf
