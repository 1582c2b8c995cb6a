// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/viewmodel/eventwords.h"

#include "ui/viewmodel/numbers.h"

#include <QCoreApplication>

#include <initializer_list>

namespace kerf {

namespace {

QString say(const char *text) { return QCoreApplication::translate("Events", text); }

QString textOf(const QJsonObject &object, const char *name) { return object.value(QLatin1String(name)).toString(); }

/// With the thousands sign; "not reported" where it is null or absent.
QString count(const QJsonObject &object, std::initializer_list<const char *> names)
{
    for (const char *name : names) {
        const QJsonValue value = object.value(QLatin1String(name));
        if (value.isDouble() && value.toInteger() >= 0)
            return number(value.toInteger());
    }
    return say("not reported");
}

/// A task's or a compaction's number is its name: without a thousands sign.
QString idOf(const QJsonObject &object, std::initializer_list<const char *> names)
{
    for (const char *name : names) {
        const QJsonValue value = object.value(QLatin1String(name));
        if (value.isDouble() && value.toInteger() >= 0)
            return QString::number(value.toInteger());
    }
    return say("not reported");
}

QString outcomeOf(const QJsonObject &params)
{
    const QString outcome = textOf(params, "outcome");
    return outcome.isEmpty() ? textOf(params, "settlement") : outcome;
}

} // namespace

QString eventKindWord(const QString &topic, const QJsonObject &params)
{
    const QString kind = textOf(params, "kind");
    if (topic == QLatin1String("outcome"))
        return outcomeOf(params) == QLatin1String("refuted") ? say("refuted") : say("settled");
    if (topic == QLatin1String("applied") && params.value(QLatin1String("undone")).toBool())
        return say("undone");
    if (kind == QLatin1String("checkpoint-created"))
        return say("checkpoint made");
    if (kind.isEmpty())
        return topic;
    QString word = kind;
    return word.replace(QLatin1Char('-'), QLatin1Char(' '));
}

QString eventSentence(const QString &topic, const QJsonObject &params)
{
    const QString kind = textOf(params, "kind");
    const QString task = idOf(params, {"task_id", "task"});
    if (topic == QLatin1String("server") && !kind.isEmpty()) {
        const QString position = count(params, {"position", "size"});
        if (kind == QLatin1String("checkpoint-created"))
            return say("Checkpoint %1 made by task %2").arg(position, task);
        if (kind == QLatin1String("checkpoint-restored"))
            return say("Checkpoint %1 restored for task %2").arg(position, task);
        if (kind == QLatin1String("checkpoint-erased")) {
            const QString why = textOf(params, "why");
            return why == QLatin1String("thinned")   ? say("Checkpoint %1 thinned out by task %2").arg(position, task)
                : why == QLatin1String("superseded") ? say("Checkpoint %1 replaced by task %2").arg(position, task)
                                                     : say("Checkpoint %1 erased by task %2").arg(position, task);
        }
        if (kind == QLatin1String("task-started"))
            return say("Task %1 started").arg(task);
        if (kind == QLatin1String("task-finished"))
            return say("Task %1: prompt of %2 tokens, %3 reused, %4 prefilled")
                .arg(task, count(params, {"prompt_tokens"}), count(params, {"reused"}), count(params, {"prefilled"}));
        if (kind == QLatin1String("full-reprocessing"))
            return say("Task %1 processes its whole prompt again").arg(task);
        if (kind == QLatin1String("chunk-shifted"))
            return say("Task %1 moved %2 tokens from %3 to %4")
                .arg(task, count(params, {"tokens", "size"}), count(params, {"from"}), count(params, {"to"}));
        if (kind == QLatin1String("slot-cleared"))
            return textOf(params, "why") == QLatin1String("idle")
                ? say("%1 tokens cleared: idle slots are when task %2 starts")
                      .arg(count(params, {"tokens"}), idOf(params, {"by_task"}))
                : say("%1 tokens cleared").arg(count(params, {"tokens"}));
        if (kind == QLatin1String("prompt-saved"))
            return say("Prompt of %1 tokens saved to the host cache").arg(count(params, {"tokens", "size"}));
        if (kind == QLatin1String("prompt-loaded"))
            return say("Prompt of %1 tokens loaded from the host cache").arg(count(params, {"tokens", "size"}));
        if (kind == QLatin1String("server-up"))
            return say("%1 answers").arg(textOf(params, "url"));
        if (kind == QLatin1String("server-down")) {
            const QString error = textOf(params, "error");
            return error.isEmpty() ? say("The server shuts down") : error;
        }
        if (kind == QLatin1String("server-restarted"))
            return say("Another life of the server: nothing that was held is held any more");
        if (kind == QLatin1String("slot-save"))
            return say("%1 tokens saved to %2").arg(count(params, {"tokens"}), textOf(params, "file"));
        if (kind == QLatin1String("slot-restore"))
            return say("%1 tokens restored from %2").arg(count(params, {"tokens"}), textOf(params, "file"));
        if (kind == QLatin1String("slot-erase"))
            return say("%1 tokens erased by hand").arg(count(params, {"tokens"}));
        if (kind == QLatin1String("slot-delete"))
            return say("%1 deleted").arg(textOf(params, "file"));
        return {};
    }
    if (topic == QLatin1String("server")) {
        if (!params.value(QLatin1String("reachable")).toBool()) {
            const QString reason = textOf(params, "reason");
            return reason.isEmpty() ? say("%1 does not answer").arg(textOf(params, "backend")) : reason;
        }
        QString memory = textOf(params, "memory_kind");
        return say("%1, memory %2").arg(textOf(params, "backend"), memory.replace(QLatin1Char('_'), QLatin1Char(' ')));
    }
    if (topic == QLatin1String("episode"))
        return say("Episode %1, %2, %3 tokens")
            .arg(idOf(params, {"seq"}), textOf(params, "role"),
                 params.value(QLatin1String("exact")).toBool() ? count(params, {"token_count"})
                                                               : QStringLiteral("~") + count(params, {"token_count"}));
    if (topic == QLatin1String("plan"))
        return say("Planned: %1, %2 tokens after it").arg(textOf(params, "verdict"), count(params, {"tokens_after"}));
    if (topic == QLatin1String("applied"))
        return params.value(QLatin1String("undone")).toBool()
            ? say("Compaction %1 undone").arg(idOf(params, {"compaction_id"}))
            : say("Compaction %1 applied, %2 tokens after it")
                  .arg(idOf(params, {"compaction_id"}), count(params, {"tokens_after"}));
    if (topic == QLatin1String("outcome")) {
        const QString measured = count(params, {"measured_reuse"});
        const QString prefilled = count(params, {"measured_prefill"});
        const QString outcome = outcomeOf(params);
        QString text;
        if (params.value(QLatin1String("predicted_reuse")).isDouble())
            text = say("Predicted %1, measured %2 reused, %3 prefilled: %4")
                       .arg(count(params, {"predicted_reuse"}), measured, prefilled,
                            outcome == QLatin1String("none") ? say("not provable") : outcome);
        else
            text = say("%1 reused, %2 prefilled; no prediction was open").arg(measured, prefilled);
        if (params.value(QLatin1String("compaction_id")).isDouble())
            text = say("Compaction %1. %2").arg(idOf(params, {"compaction_id"}), text);
        const QString cause = textOf(params, "cause");
        return cause.isEmpty() ? text : say("%1 (%2)").arg(text, cause);
    }
    if (topic == QLatin1String("receipt"))
        return say("Receipt of turn %1").arg(count(params, {"turn"}));
    if (topic == QLatin1String("profile"))
        return say("Profile %1 is in force").arg(textOf(params, "name"));
    if (topic == QLatin1String("replay"))
        return say("%1: turn %2 of %3")
            .arg(textOf(params, "strategy"), count(params, {"turn"}), count(params, {"turns"}));
    return {};
}

} // namespace kerf
