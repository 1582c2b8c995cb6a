// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/resolve.h"

#include "core/backend/embeddedbackend.h"
#include "core/backend/nullbackend.h"
#include "core/base/log.h"
#include "core/llama/launch.h"
#include "core/llama/llamabackend.h"

#include <QPointer>

namespace kerf {

namespace {

EmbeddedConfig embeddedConfig(const BackendOptions &options, const QString &requested)
{
    EmbeddedConfig config;
    config.requested = requested;
    config.server.contextSize = options.embeddedContextSize;
    config.server.memory = memoryKindFromName(options.embeddedMemory).value_or(MemoryKind::Checkpointed);
    config.server.chunkReuse = options.embeddedChunkReuse;
    return config;
}

/// auto: the default server where it answers at start, else the simulation; changes over to a real server that appears,
/// never back. Everything is passed on to the one in charge.
class AutoBackend : public Backend
{
public:
    explicit AutoBackend(BackendOptions options)
        : m_options(std::move(options))
        , m_real(std::make_unique<LlamaBackend>(m_options.defaultUrl, m_options))
    {
        EmbeddedConfig config = embeddedConfig(m_options, QStringLiteral("auto"));
        config.notes.append(
            QStringLiteral(
                "%1 does not answer: this is the embedded simulation; Kerf changes over when a server appears there")
                .arg(m_options.defaultUrl.toString(QUrl::RemoveUserInfo)));
        m_embedded = std::make_unique<EmbeddedBackend>(config);
        m_current = m_real.get(); // until the first probe has ended
        relay(m_real.get());
        relay(m_embedded.get());
        connect(m_real.get(), &Backend::infoChanged, this, [this] { choose(); });
    }

    void start() override
    {
        m_embedded->start();
        m_real->start();
    }

    QCoro::Task<void> ready() override
    {
        const QPointer<AutoBackend> self(this);
        co_await m_real->ready();
        if (self)
            choose();
    }

    BackendInfo info() const override { return m_current->info(); }
    QCoro::Task<Result<RenderedPrompt>> render(ChatRequest request) override
    {
        return m_current->render(std::move(request));
    }
    QCoro::Task<Result<int>> countTokens(QString text) override { return m_current->countTokens(std::move(text)); }
    QCoro::Task<Result<TokenList>> tokenize(QString text) override { return m_current->tokenize(std::move(text)); }
    QCoro::Task<Result<ServerStates>> states() override { return m_current->states(); }
    ServerStates lastStates() const override { return m_current->lastStates(); }
    void notePrompt(const QString &sessionId, const TokenList &prompt, int slotId) override
    {
        m_current->notePrompt(sessionId, prompt, slotId);
    }
    QCoro::Task<Result<MatchedRequest>> noteTimings(MeasuredRequest request) override
    {
        return m_current->noteTimings(std::move(request));
    }
    void noteGenerated(const TokenList &prompt, const TokenList &generated) override
    {
        m_current->noteGenerated(prompt, generated);
    }
    QCoro::Task<Result<int>> saveSlot(int slotId, QString fileName) override
    {
        return m_current->saveSlot(slotId, std::move(fileName));
    }
    QCoro::Task<Result<int>> restoreSlot(int slotId, QString fileName) override
    {
        return m_current->restoreSlot(slotId, std::move(fileName));
    }
    QCoro::Task<Result<int>> eraseSlot(int slotId) override { return m_current->eraseSlot(slotId); }
    std::optional<bool> saveFileExists(const QString &fileName) const override
    {
        return m_current->saveFileExists(fileName);
    }
    Result<void> removeSaveFile(const QString &fileName) override { return m_current->removeSaveFile(fileName); }
    std::optional<qint64> saveFileBytes(const QString &fileName) const override
    {
        return m_current->saveFileBytes(fileName);
    }
    std::optional<qint64> freeSaveBytes() const override { return m_current->freeSaveBytes(); }
    QCoro::Task<void> probeAgain() override { return m_real->probeAgain(); }
    QJsonObject slotsJson() const override { return m_current->slotsJson(); }
    QJsonObject ringJson() const override { return m_current->ringJson(); }
    QByteArray pieceBytes(TokenId id) const override { return m_current->pieceBytes(id); }
    QJsonObject logJson(qint64 from, int limit) const override { return m_current->logJson(from, limit); }
    void setStoredEvidence(const QJsonObject &stored) override { m_real->setStoredEvidence(stored); }
    QString evidenceKey() const override { return m_current->evidenceKey(); }
    bool forgetEvidence(const QString &claim, const QString &source) override
    {
        return m_current->forgetEvidence(claim, source);
    }
    QCoro::Task<Result<MeasuredRequest>> runTokens(TokenList tokens, int slotId) override
    {
        return m_current->runTokens(std::move(tokens), slotId);
    }
    void cancelRun() override { m_current->cancelRun(); }
    QCoro::Task<Result<MeasuredRequest>> simulateRequest(ReuseRequest request, int generated) override
    {
        return m_current->simulateRequest(std::move(request), generated);
    }

private:
    void choose()
    {
        const BackendInfo real = m_real->info();
        if (!real.probed)
            return;
        if (real.capabilities.reachable) {
            if (m_current != m_real.get())
                qCInfo(lcBackend) << "changed over to" << real.url;
            m_everReal = true;
            m_current = m_real.get();
        } else if (!m_everReal) {
            m_current = m_embedded.get();
        } // a server that is lost is unreachable: it never turns into the simulation
    }

    void relay(Backend *backend)
    {
        // choose() first: whoever listens then sees the one in charge.
        connect(backend, &Backend::infoChanged, this, [this] {
            choose();
            Q_EMIT infoChanged();
        });
        connect(backend, &Backend::statesChanged, this, [this, backend] {
            if (backend == m_current)
                Q_EMIT statesChanged();
        });
        connect(backend, &Backend::happened, this, [this, backend](const QString &kind, const QJsonObject &details) {
            if (backend == m_current)
                Q_EMIT happened(kind, details);
        });
        connect(backend, &Backend::logLine, this,
                [this, backend](qint64 number, const QString &line, const QString &reading) {
                    if (backend == m_current)
                        Q_EMIT logLine(number, line, reading);
                });
    }

    BackendOptions m_options;
    std::unique_ptr<LlamaBackend> m_real;
    std::unique_ptr<EmbeddedBackend> m_embedded;
    Backend *m_current = nullptr;
    bool m_everReal = false;
};

} // namespace

Result<std::unique_ptr<Backend>> resolveBackend(BackendOptions options)
{
    if (!options.launchCommand.isEmpty()) {
        // The server that we start is the one that we talk to.
        const ServerChild preview(options.launchCommand);
        const QUrl url = preview.url();
        options.spec = url.toString();
        return std::unique_ptr<Backend>(std::make_unique<LlamaBackend>(url, std::move(options)));
    }
    if (options.spec == QLatin1String("auto"))
        return std::unique_ptr<Backend>(std::make_unique<AutoBackend>(std::move(options)));
    if (options.spec == QLatin1String("embedded"))
        return std::unique_ptr<Backend>(std::make_unique<EmbeddedBackend>(embeddedConfig(options, options.spec)));
    if (options.spec == QLatin1String("none"))
        return std::unique_ptr<Backend>(std::make_unique<NullBackend>(options.spec));
    const QUrl url(options.spec, QUrl::StrictMode);
    if (!url.isValid() || url.host().isEmpty()
        || (url.scheme() != QLatin1String("http") && url.scheme() != QLatin1String("https"))) {
        return failure(
            Error::Code::InvalidParams,
            QStringLiteral("backend \"%1\": must be auto, embedded, none, or a URL such as http://127.0.0.1:8080")
                .arg(options.spec));
    }
    return std::unique_ptr<Backend>(std::make_unique<LlamaBackend>(url, std::move(options)));
}

} // namespace kerf
