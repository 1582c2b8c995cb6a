// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/text.h"

#include "core/engine/calibrationtext.h"
#include "core/engine/difftext.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QLocale>
#include <QStringList>

namespace kerf {

namespace {

QString textOf(const QJsonObject &object, const char *field) { return object.value(QLatin1String(field)).toString(); }

/// A count, or the word for what it is not: null reads "unknown".
QString countOf(const QJsonObject &object, const char *field, bool estimated = false)
{
    const QJsonValue value = object.value(QLatin1String(field));
    if (!value.isDouble())
        return QStringLiteral("unknown");
    return (estimated ? QStringLiteral("~") : QString()) + groupedNumber(value.toInteger());
}

QString msOf(const QJsonValue &value)
{
    if (!value.isDouble())
        return QStringLiteral("not reported");
    return QStringLiteral("%1 ms").arg(QString::number(value.toDouble(), 'f', value.toDouble() < 1000 ? 1 : 0));
}

QString percent(const QJsonValue &share)
{
    return share.isDouble() ? QStringLiteral("%1 %").arg(QString::number(share.toDouble() * 100, 'f', 1))
                            : QStringLiteral("unknown");
}

void line(QStringList &lines, const QString &label, const QString &text)
{
    lines.append(QStringLiteral("  %1 %2").arg(label.leftJustified(12), text));
}

} // namespace

QString groupedNumber(qint64 value) { return QLocale(QLocale::English, QLocale::UnitedStates).toString(value); }

QString planSummary(const QJsonObject &plan)
{
    const bool estimated = !plan.value(QStringLiteral("exact")).toBool();
    const QJsonArray updates = plan.value(QStringLiteral("updates")).toArray();
    int masked = 0;
    int gone = 0;
    for (const QJsonValue &update : updates) {
        const QJsonObject row = update.toObject();
        if (textOf(row, "to_tier") == QLatin1String("masked"))
            ++masked;
        else if (row.value(QStringLiteral("tokens_before")).toInt() > 0)
            ++gone;
    }
    QStringList what;
    if (gone > 0)
        what.append(gone == 1 ? QStringLiteral("1 episode leaves the prompt")
                              : QStringLiteral("%1 episodes leave the prompt").arg(gone));
    if (masked > 0)
        what.append(masked == 1 ? QStringLiteral("1 is masked in place")
                                : QStringLiteral("%1 are masked in place").arg(masked));
    const QJsonObject boundary = plan.value(QStringLiteral("boundary")).toObject();
    const QString simulated =
        boundary.value(QStringLiteral("simulated")).toBool() ? QStringLiteral(" [simulated]") : QString();
    QString text =
        QStringLiteral("%1: %2 tokens become %3; the first %4 stay as they are.")
            .arg(what.join(QStringLiteral(", ")), countOf(plan, "prompt_tokens", estimated),
                 countOf(plan, "tokens_after", estimated), countOf(plan, "retained_prompt_tokens", estimated));
    const QString status = textOf(plan, "cache_status");
    if (status == QLatin1String("partial-reuse"))
        text +=
            QStringLiteral(" Predicted: %1 reused, %2 prefilled%3%4.")
                .arg(countOf(boundary, "predicted_reuse", estimated), countOf(boundary, "predicted_prefill", estimated),
                     boundary.value(QStringLiteral("predicted_ms")).isDouble()
                         ? QStringLiteral(", ~") + msOf(boundary.value(QStringLiteral("predicted_ms")))
                         : QString(),
                     simulated);
    else if (status == QLatin1String("prefix-preserved"))
        text += QStringLiteral(" No reuse is claimed: %1 to %2 may be reused%3.")
                    .arg(countOf(boundary, "predicted_reuse_low", estimated),
                         countOf(boundary, "predicted_reuse_high", estimated), simulated);
    else
        text += QStringLiteral(" %1: %2%3.").arg(status, textOf(plan, "cache_reason"), simulated);
    return text;
}

QString renderReceipt(const QJsonObject &receipt)
{
    QStringList lines;
    const bool simulated = receipt.value(QStringLiteral("simulated")).toBool();
    const bool estimated = !receipt.value(QStringLiteral("exact")).toBool();
    const int turn = receipt.value(QStringLiteral("turn")).toInt();
    QString head = turn > 0 ? QStringLiteral("receipt %1, turn %2").arg(textOf(receipt, "session_id")).arg(turn)
                            : QStringLiteral("receipt %1, before the first request").arg(textOf(receipt, "session_id"));
    if (simulated)
        head += QStringLiteral(" [simulated]");
    lines.append(head);
    line(lines, QStringLiteral("backend"), textOf(receipt, "backend"));
    const QJsonValue window = receipt.value(QStringLiteral("context_window"));
    const int total = receipt.value(QStringLiteral("total_tokens")).toInt();
    QString windowLine =
        QStringLiteral("%1 of %2").arg(countOf(receipt, "total_tokens", estimated), countOf(receipt, "context_window"));
    if (window.isDouble() && window.toInt() > 0)
        windowLine += QStringLiteral(" (%1 %)").arg(QString::number(100.0 * total / window.toInt(), 'f', 1));
    line(lines, QStringLiteral("window"), windowLine);
    const QJsonObject breakdown = receipt.value(QStringLiteral("breakdown")).toObject();
    const std::pair<const char *, const char *> parts[] = {
        {"system_prompt", "system"},       {"tool_schemas", "tools"}, {"pinned_anchors", "pins"},
        {"raw_recent_history", "history"}, {"stubs", "stubs"},        {"retrieved_memory", "recall"},
        {"fold_summaries", "folds"},       {"other", "other"}};
    QStringList shares;
    for (const auto &[field, name] : parts) {
        if (breakdown.value(QLatin1String(field)).toInt() != 0)
            shares.append(QStringLiteral("%1 %2").arg(QLatin1String(name), countOf(breakdown, field, estimated)));
    }
    if (!shares.isEmpty())
        line(lines, QString(), shares.join(QStringLiteral(" + ")));
    const QString mark = simulated ? QStringLiteral(" (simulated)") : QString();
    line(lines, QStringLiteral("cache"),
         textOf(receipt, "cache_status") + mark
             + (textOf(receipt, "cache_detail").isEmpty() ? QString()
                                                          : QStringLiteral(": ") + textOf(receipt, "cache_detail")));
    if (!textOf(receipt, "evidence").isEmpty())
        line(lines, QStringLiteral("evidence"), textOf(receipt, "evidence"));
    const QJsonObject predicted = receipt.value(QStringLiteral("predicted")).toObject();
    if (receipt.value(QStringLiteral("tokens_reused")).isDouble()) {
        const QString word = simulated ? QStringLiteral("simulated") : QStringLiteral("measured");
        line(lines, word,
             QStringLiteral("%1 reused, %2 prefilled, %3")
                 .arg(countOf(receipt, "tokens_reused"), countOf(receipt, "tokens_prefilled"),
                      msOf(receipt.value(QStringLiteral("prompt_eval_ms")))));
        QString said = countOf(predicted, "reuse");
        if (predicted.value(QStringLiteral("reuse_low")) != predicted.value(QStringLiteral("reuse_high")))
            said +=
                QStringLiteral(" (%1 to %2)").arg(countOf(predicted, "reuse_low"), countOf(predicted, "reuse_high"));
        if (!predicted.value(QStringLiteral("claimable")).toBool())
            said += QStringLiteral(", not claimed");
        line(lines, QStringLiteral("predicted"), said + QStringLiteral(" reused"));
    } else {
        line(lines, QStringLiteral("measured"), QStringLiteral("nothing yet"));
    }
    const QJsonObject eviction = receipt.value(QStringLiteral("eviction")).toObject();
    if (!eviction.isEmpty()) {
        QStringList rungs;
        const QJsonObject tiers = eviction.value(QStringLiteral("by_tier")).toObject();
        for (auto it = tiers.begin(); it != tiers.end(); ++it)
            rungs.append(QStringLiteral("%1 %2").arg(it.value().toInt()).arg(it.key()));
        line(lines, QStringLiteral("eviction"),
             QStringLiteral("compaction %1: %2; %3 tokens saved; cut requested at %4, aligned at %5, kept to %6")
                 .arg(eviction.value(QStringLiteral("compaction_id")).toInt())
                 .arg(rungs.join(QStringLiteral(", ")), countOf(eviction, "tokens_saved", estimated),
                      countOf(eviction, "requested_cut"), countOf(eviction, "aligned_cut"),
                      countOf(eviction, "retained_prompt_tokens")));
    }
    const QJsonObject outcome = receipt.value(QStringLiteral("settlement")).toObject();
    if (!outcome.isEmpty()) {
        QString text = textOf(outcome, "settlement");
        if (!textOf(outcome, "cause").isEmpty())
            text += QStringLiteral(": ") + textOf(outcome, "cause");
        line(lines, QStringLiteral("outcome"), text + mark);
    }
    const QJsonObject provider = receipt.value(QStringLiteral("provider_cache")).toObject();
    if (!provider.isEmpty())
        line(lines, QStringLiteral("provider"),
             textOf(provider, "verdict") + QStringLiteral(": ") + textOf(provider, "detail"));
    const QJsonObject stats = receipt.value(QStringLiteral("stats")).toObject();
    if (!stats.isEmpty()) {
        line(lines, QStringLiteral("session"),
             QStringLiteral("%1 compactions; resolved by reuse: measured %2, claimed %3")
                 .arg(stats.value(QStringLiteral("compactions")).toInt())
                 .arg(percent(stats.value(QStringLiteral("measured_reuse_share"))),
                      percent(stats.value(QStringLiteral("claimed_reuse_share")))));
        const QJsonValue amplification = stats.value(QStringLiteral("prefill_amplification"));
        if (amplification.isDouble()) {
            line(lines, QString(),
                 QStringLiteral("prefill amplification %1 (%2 prefilled / %3 new)%4")
                     .arg(QString::number(amplification.toDouble(), 'f', 2), countOf(stats, "prefill_tokens"),
                          countOf(stats, "new_tokens"), mark));
        }
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

QString renderDoctor(const QJsonObject &doctor)
{
    QStringList lines;
    line(lines, QStringLiteral("capabilities"), QStringLiteral("  ") + textOf(doctor, "capabilities_line"));
    line(lines, QStringLiteral("coherence"), QStringLiteral("  ") + textOf(doctor, "coherence_line"));
    line(lines, QStringLiteral("eviction"), QStringLiteral("  ") + textOf(doctor, "eviction_line"));
    lines.append(QString());
    QString backend = textOf(doctor, "backend");
    if (textOf(doctor, "requested") != textOf(doctor, "resolved"))
        backend += QStringLiteral(" (asked for %1)").arg(textOf(doctor, "requested"));
    line(lines, QStringLiteral("backend"), backend);
    if (!textOf(doctor, "build").isEmpty())
        line(lines, QStringLiteral("build"), textOf(doctor, "build"));
    if (!textOf(doctor, "model").isEmpty())
        line(lines, QStringLiteral("model"), textOf(doctor, "model"));
    line(lines, QStringLiteral("window"),
         QStringLiteral("n_ctx %1, slots %2").arg(countOf(doctor, "n_ctx"), countOf(doctor, "slots")));
    const QJsonObject memory = doctor.value(QStringLiteral("memory")).toObject();
    line(lines, QStringLiteral("memory"),
         QStringLiteral("%1 (%2)").arg(textOf(memory, "kind"),
                                       textOf(memory, "evidence").isEmpty() ? QStringLiteral("no evidence")
                                                                            : textOf(memory, "evidence")));
    const QJsonValue chunk = doctor.value(QStringLiteral("chunk_reuse"));
    line(lines, QStringLiteral("chunk reuse"),
         chunk.isDouble() ? (chunk.toInt() > 0 ? QStringLiteral("runs of %1 tokens and more").arg(chunk.toInt())
                                               : QStringLiteral("off"))
                          : QStringLiteral("unknown"));
    const QJsonObject ring = doctor.value(QStringLiteral("ring")).toObject();
    line(lines, QStringLiteral("ring"),
         ring.value(QStringLiteral("visible")).toBool()
             ? QStringLiteral("visible (%1), %2 checkpoints")
                   .arg(textOf(ring, "source"))
                   .arg(ring.value(QStringLiteral("entries")).toArray().size())
             : QStringLiteral("not visible"));
    const QJsonArray evidence = doctor.value(QStringLiteral("evidence")).toArray();
    if (!evidence.isEmpty()) {
        lines.append(QString());
        lines.append(QStringLiteral("  evidence"));
        for (const QJsonValue &row : evidence) {
            const QJsonObject object = row.toObject();
            lines.append(QStringLiteral("    %1 = %2, by %3%4")
                             .arg(textOf(object, "claim"), textOf(object, "value"), textOf(object, "source"),
                                  textOf(object, "detail").isEmpty()
                                      ? QString()
                                      : QStringLiteral(": ") + textOf(object, "detail")));
        }
    }
    const QJsonArray probe = doctor.value(QStringLiteral("probe")).toArray();
    if (!probe.isEmpty()) {
        lines.append(QString());
        lines.append(QStringLiteral("  probe"));
        for (const QJsonValue &row : probe) {
            const QJsonObject object = row.toObject();
            const int status = object.value(QStringLiteral("http_status")).toInt();
            lines.append(
                QStringLiteral("    %1 %2 %3 %4")
                    .arg(object.value(QStringLiteral("ok")).toBool() ? QStringLiteral("yes") : QStringLiteral("no "),
                         textOf(object, "name").leftJustified(14),
                         status > 0 ? QString::number(status) : QStringLiteral("---"), textOf(object, "message"))
                    .trimmed()
                    .prepend(QStringLiteral("    ")));
        }
    }
    for (const char *field : {"advice", "notes"}) {
        const QJsonArray rows = doctor.value(QLatin1String(field)).toArray();
        if (rows.isEmpty())
            continue;
        lines.append(QString());
        lines.append(QStringLiteral("  %1").arg(QLatin1String(field)));
        for (const QJsonValue &row : rows)
            lines.append(QStringLiteral("    - %1").arg(row.toString()));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

QString renderResult(const QString &method, const QJsonObject &result)
{
    const QString estimated = result.value(QStringLiteral("exact")).toBool(true) ? QString() : QStringLiteral("~");
    if (method == QLatin1String("context.plan_eviction") || method == QLatin1String("context.apply")) {
        return QStringLiteral("%1%2 (plan %3)")
            .arg(result.value(QStringLiteral("applied")).toBool() ? QStringLiteral("Applied. ") : QString(),
                 textOf(result, "summary"), textOf(result, "plan_id"));
    }
    if (method == QLatin1String("context.diff"))
        return renderDiff(result);
    if (method == QLatin1String("server.calibrate"))
        return renderCalibration(result);
    if (method == QLatin1String("context.cuts")) {
        const QJsonArray legal = result.value(QStringLiteral("legal")).toArray();
        QStringList lines{QStringLiteral("%1 legal cuts in %2%3 tokens, target %4:")
                              .arg(result.value(QStringLiteral("legal_total")).toInt())
                              .arg(estimated, countOf(result, "prompt_tokens"), countOf(result, "target"))};
        for (const QJsonValue &value : legal) {
            const QJsonObject row = value.toObject();
            const QJsonValue ms = row.value(QStringLiteral("predicted_ms"));
            lines.append(QStringLiteral("%1: reuses %2, prefills ~%3%4, ~%5 left")
                             .arg(countOf(row, "cut"), countOf(row, "predicted_reuse"),
                                  countOf(row, "predicted_prefill"),
                                  ms.isDouble() ? QStringLiteral(" (~%1 ms)").arg(qRound(ms.toDouble())) : QString(),
                                  countOf(row, "tokens_after")));
        }
        return lines.join(QLatin1Char('\n'));
    }
    if (method == QLatin1String("context.receipt"))
        return textOf(result, "rendered");
    if (method == QLatin1String("server.doctor"))
        return renderDoctor(result);
    if (method == QLatin1String("memory.commit_episode")) {
        return QStringLiteral("Episode #%1 recorded (%2%3 tokens, session %4).")
            .arg(result.value(QStringLiteral("episode_id")).toInteger())
            .arg(estimated, countOf(result, "token_count"), textOf(result, "session_id"));
    }
    if (method == QLatin1String("memory.recall")) {
        const QJsonArray hits = result.value(QStringLiteral("results")).toArray();
        if (hits.isEmpty())
            return QStringLiteral("Nothing found.");
        QStringList lines;
        for (const QJsonValue &hit : hits) {
            const QJsonObject row = hit.toObject();
            lines.append(QStringLiteral("#%1 (%2, %3)\n%4")
                             .arg(row.value(QStringLiteral("id")).toInteger())
                             .arg(textOf(row, "kind"), textOf(row, "tier"), textOf(row, "text")));
        }
        return lines.join(QStringLiteral("\n\n"));
    }
    if (method == QLatin1String("memory.get_episode")) {
        const QJsonValue content = result.value(QStringLiteral("content"));
        const QString text = content.isArray()
            ? QString::fromUtf8(QJsonDocument(content.toArray()).toJson(QJsonDocument::Compact))
            : content.toString();
        return QStringLiteral("#%1 (%2, %3)\n%4")
            .arg(result.value(QStringLiteral("episode_id")).toInteger())
            .arg(textOf(result, "role"), textOf(result, "tier"), text);
    }
    if (method == QLatin1String("memory.pin"))
        return QStringLiteral("Pinned as %1 (anchor %2, %3 tokens).")
            .arg(textOf(result, "kind"))
            .arg(result.value(QStringLiteral("anchor_id")).toInteger())
            .arg(countOf(result, "token_cost"));
    if (method == QLatin1String("context.assemble")) {
        return QStringLiteral("%1 messages, %2%3 tokens; predicted reuse %2%4.")
            .arg(result.value(QStringLiteral("messages")).toArray().size())
            .arg(estimated, countOf(result, "prompt_tokens"), countOf(result, "predicted_reuse"));
    }
    if (method == QLatin1String("context.record_timings")) {
        QString text = QStringLiteral("%1: %2 reused, %3 prefilled; predicted %4.")
                           .arg(textOf(result, "settlement"), countOf(result, "measured_reuse"),
                                countOf(result, "measured_prefill"), countOf(result, "predicted_reuse"));
        if (!textOf(result, "cause").isEmpty())
            text += QStringLiteral(" Cause: %1.").arg(textOf(result, "cause"));
        return text;
    }
    if (method == QLatin1String("context.record_usage"))
        return QStringLiteral("%1. %2").arg(textOf(result, "headline"), textOf(result, "detail"));
    if (method == QLatin1String("kerf.status") || method == QLatin1String("sakur4.status")) {
        return QStringLiteral("Kerf %1 on %2; %3 sessions, %4 episodes.")
            .arg(textOf(result, "version"), textOf(result, "backend"), countOf(result, "sessions"),
                 countOf(result, "episodes"));
    }
    return QString::fromUtf8(QJsonDocument(result).toJson(QJsonDocument::Compact));
}

} // namespace kerf
