// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/console/prober.h"

#include "core/ipc/socketclient.h"
#include "core/ipc/socketpath.h"
#include "core/llama/probe.h"
#include "ui/viewmodel/numbers.h"

#include <QCoreApplication>

namespace kerf {

namespace {

constexpr int kUsualLimitMs = 3000;

struct Words {
    Q_DECLARE_TR_FUNCTIONS(kerf::Prober)
};

QCoro::Task<void> probeLlama(ConnectionSpec spec, std::function<void(ProbeAnswer)> done)
{
    HttpClient http(QUrl(spec.url), spec.apiKey);
    const QPointer<HttpClient> there(&http);
    const int limit = spec.limitMs > 0 ? spec.limitMs : kUsualLimitMs;
    const ProbeResult found = co_await probeServer(there, limit);
    ProbeAnswer answer;
    answer.ok = found.outcome == ProbeResult::Outcome::Reachable;
    answer.needsKey = found.outcome == ProbeResult::Outcome::NeedsKey;
    answer.reason = found.reason;
    QStringList parts;
    if (!found.build.isEmpty())
        parts << Words::tr("build %1").arg(found.build);
    if (!found.alias.isEmpty())
        parts << found.alias;
    if (found.contextSize > 0)
        parts << Words::tr("n_ctx %1").arg(number(found.contextSize));
    if (found.slotCount > 0)
        parts << Words::tr("%n slot(s)", nullptr, found.slotCount);
    answer.summary = parts.join(QStringLiteral(", "));
    for (const ProbeStep &step : found.steps)
        answer.steps << ProbeLine{step.name, step.httpStatus > 0 ? std::optional<int>(step.httpStatus) : std::nullopt,
                                  step.ok, step.message};
    done(answer);
}

QCoro::Task<void> probeService(ConnectionSpec spec, std::function<void(ProbeAnswer)> done)
{
    ProbeAnswer answer;
    const Result<QString> path = socketPath(spec.socketPath);
    if (!path) {
        answer.reason = path.error().message;
        done(answer);
        co_return;
    }
    SocketClient client(*path);
    client.setCallLimit(kUsualLimitMs);
    const QJsonObject nothing;
    const auto status = co_await client.call(QStringLiteral("kerf.status"), nothing);
    answer.ok = status.has_value();
    if (status)
        answer.summary =
            Words::tr("Kerf %1, %2, %n session(s)", nullptr, status->value(QLatin1String("sessions")).toInt())
                .arg(status->value(QLatin1String("version")).toString(),
                     status->value(QLatin1String("backend")).toString());
    else
        answer.reason = status.error().message;
    answer.steps << ProbeLine{QStringLiteral("kerf.status"), std::nullopt, answer.ok,
                              answer.ok ? *path : answer.reason};
    done(answer);
}

} // namespace

Prober makeProber()
{
    return [](ConnectionSpec spec, std::function<void(ProbeAnswer)> done) {
        switch (spec.kind) {
        case ConnectionSpec::Kind::Server:
            probeLlama(std::move(spec), std::move(done));
            return;
        case ConnectionSpec::Kind::Service:
            probeService(std::move(spec), std::move(done));
            return;
        case ConnectionSpec::Kind::Embedded:
            break;
        }
        ProbeAnswer answer;
        answer.ok = true;
        answer.summary = Words::tr("The embedded backend is always there.");
        done(answer);
    };
}

} // namespace kerf
