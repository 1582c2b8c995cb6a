// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/usage.h"

#include "core/engine/text.h"

#include <QStringList>

#include <cmath>
#include <optional>

namespace kerf {

namespace {

/// A count in a payload: absent, null and 0 are three states.
struct Count {
    enum class State { Absent, Null, Number };
    State state = State::Absent;
    qint64 value = 0;
    QString path;
    bool known() const { return state == State::Number; }
};

Count countAt(const QJsonObject &root, const QString &path)
{
    const QStringList steps = path.split(QLatin1Char('.'));
    QJsonObject object = root;
    for (qsizetype i = 0; i + 1 < steps.size(); ++i) {
        const QJsonValue inner = object.value(steps.at(i));
        if (!inner.isObject())
            return {};
        object = inner.toObject();
    }
    const QJsonValue value = object.value(steps.constLast());
    if (value.isUndefined())
        return {};
    if (value.isNull())
        return {Count::State::Null, 0, path};
    bool ok = value.isDouble();
    double number = value.toDouble();
    if (value.isString()) // some log files keep numbers as strings
        number = value.toString().toDouble(&ok);
    if (!ok || number < 0 || number > 9e15 || number != std::floor(number))
        return {Count::State::Null, 0, path};
    return {Count::State::Number, static_cast<qint64>(number), path};
}

/// The first of several spellings that is there; further ones that say another number are contradictions.
Count firstOf(const QJsonObject &usage, const QStringList &paths, QStringList &conflicts)
{
    Count found;
    for (const QString &path : paths) {
        const Count count = countAt(usage, path);
        if (count.state == Count::State::Absent)
            continue;
        if (found.state == Count::State::Absent || (found.state == Count::State::Null && count.known())) {
            found = count;
        } else if (found.known() && count.known() && found.value != count.value) {
            conflicts.append(QStringLiteral("%1 says %2, %3 says %4")
                                 .arg(found.path)
                                 .arg(found.value)
                                 .arg(count.path)
                                 .arg(count.value));
        }
    }
    return found;
}

QJsonValue toValue(const Count &count)
{
    return count.known() ? QJsonValue(count.value) : QJsonValue(QJsonValue::Null);
}

QString presenceName(Count::State state)
{
    switch (state) {
    case Count::State::Absent:
        return QStringLiteral("absent");
    case Count::State::Null:
        return QStringLiteral("null");
    case Count::State::Number:
        return QStringLiteral("reported");
    }
    return {};
}

const QString kRead = QStringLiteral("cache_read_tokens");

} // namespace

Result<QJsonObject> normaliseUsage(const QJsonObject &params)
{
    const QJsonValue payload = params.value(QStringLiteral("usage"));
    const bool raw = !payload.isUndefined() && !payload.isNull();
    if (raw && !payload.isObject())
        return failure(Error::Code::InvalidParams, QStringLiteral("usage: must be the provider's usage object"));
    for (const char *field : {"provider", "model"}) {
        const QJsonValue value = params.value(QLatin1String(field));
        if (!value.isUndefined() && !value.isNull() && !value.isString())
            return failure(Error::Code::InvalidParams,
                           QStringLiteral("%1: must be a string").arg(QLatin1String(field)));
    }
    QJsonObject usage = raw ? payload.toObject() : params;
    // Some answers are handed over whole.
    for (const char *inner : {"usage", "usageMetadata"}) {
        if (raw && usage.value(QLatin1String(inner)).isObject())
            usage = usage.value(QLatin1String(inner)).toObject();
    }
    if (!raw) {
        if (!params.value(QStringLiteral("prompt_tokens")).isDouble())
            return failure(Error::Code::InvalidParams,
                           QStringLiteral("prompt_tokens: is required where no usage object is given"));
        for (const char *field : {"prompt_tokens", "completion_tokens", "total_tokens", "cache_read_tokens",
                                  "cache_write_tokens", "reasoning_tokens"}) {
            const QJsonValue value = params.value(QLatin1String(field));
            if (value.isUndefined() || value.isNull())
                continue;
            if (!value.isDouble() || value.toDouble() < 0 || value.toDouble() != std::floor(value.toDouble()))
                return failure(Error::Code::InvalidParams,
                               QStringLiteral("%1: must be a whole number that is not negative, or null")
                                   .arg(QLatin1String(field)));
        }
    }

    QStringList conflicts;
    const auto has = [&usage](const char *field) { return usage.contains(QLatin1String(field)); };
    QString shape = QStringLiteral("normal");
    if (raw) {
        if (has("promptTokenCount") || has("cachedContentTokenCount"))
            shape = QStringLiteral("gemini");
        else if (has("prompt_cache_hit_tokens") || has("prompt_cache_miss_tokens"))
            shape = QStringLiteral("deepseek");
        else if (has("cache_read_input_tokens") && !has("prompt_tokens"))
            shape = QStringLiteral("anthropic");
        else if (has("cache_creation_input_tokens") && !has("prompt_tokens"))
            shape = QStringLiteral("anthropic");
        else if (has("input_tokens"))
            shape = QStringLiteral("openai-responses");
        else
            shape = QStringLiteral("openai-chat");
    }
    Count read = firstOf(usage,
                         {kRead, QStringLiteral("prompt_tokens_details.cached_tokens"),
                          QStringLiteral("input_tokens_details.cached_tokens"),
                          QStringLiteral("cache_read_input_tokens"), QStringLiteral("prompt_cache_hit_tokens"),
                          QStringLiteral("cachedContentTokenCount"), QStringLiteral("cached_tokens")},
                         conflicts);
    const Count write = firstOf(usage,
                                {QStringLiteral("cache_write_tokens"), QStringLiteral("cache_creation_input_tokens"),
                                 QStringLiteral("prompt_tokens_details.cache_write_tokens"),
                                 QStringLiteral("prompt_tokens_details.cache_creation_tokens")},
                                conflicts);
    Count prompt = firstOf(
        usage, {QStringLiteral("prompt_tokens"), QStringLiteral("input_tokens"), QStringLiteral("promptTokenCount")},
        conflicts);
    const Count completion = firstOf(
        usage,
        {QStringLiteral("completion_tokens"), QStringLiteral("output_tokens"), QStringLiteral("candidatesTokenCount")},
        conflicts);
    const Count total = firstOf(usage, {QStringLiteral("total_tokens"), QStringLiteral("totalTokenCount")}, conflicts);
    const Count reasoning =
        firstOf(usage,
                {QStringLiteral("reasoning_tokens"), QStringLiteral("completion_tokens_details.reasoning_tokens"),
                 QStringLiteral("output_tokens_details.reasoning_tokens"), QStringLiteral("thoughtsTokenCount")},
                conflicts);
    if (raw && !prompt.known() && !read.known() && !completion.known())
        return failure(Error::Code::InvalidParams, QStringLiteral("usage: holds no token counts that are known"));

    // Among provider payloads only Anthropic's leaves cached tokens out of the prompt count (SPEC section 10).
    if (shape == QLatin1String("anthropic") && prompt.known()) {
        prompt.value += (read.known() ? read.value : 0) + (write.known() ? write.value : 0);
    }
    const Count miss = countAt(usage, QStringLiteral("prompt_cache_miss_tokens"));
    if (prompt.known() && read.known() && miss.known() && read.value + miss.value != prompt.value)
        conflicts.append(QStringLiteral("hit %1 and miss %2 do not add up to the prompt's %3")
                             .arg(read.value)
                             .arg(miss.value)
                             .arg(prompt.value));
    if (prompt.known() && read.known() && read.value > prompt.value)
        conflicts.append(
            QStringLiteral("%1 cached tokens are more than the prompt's %2").arg(read.value).arg(prompt.value));
    if (prompt.known() && completion.known() && total.known()) {
        const qint64 sum = prompt.value + completion.value;
        const qint64 withThoughts = sum + (reasoning.known() ? reasoning.value : 0);
        const qint64 withTools = withThoughts + (countAt(usage, QStringLiteral("toolUsePromptTokenCount")).value);
        if (total.value != sum && total.value != withThoughts && total.value != withTools)
            conflicts.append(QStringLiteral("prompt %1 and completion %2 do not add up to the total of %3")
                                 .arg(prompt.value)
                                 .arg(completion.value)
                                 .arg(total.value));
    }
    const bool sane = prompt.known() && read.known() && read.value <= prompt.value;
    QJsonArray conflictRows;
    for (const QString &conflict : std::as_const(conflicts))
        conflictRows.append(conflict);
    const auto text = [&params](const char *field) {
        const QString value = params.value(QLatin1String(field)).toString();
        return value.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(value);
    };
    return QJsonObject{
        {QStringLiteral("provider"), text("provider")},
        {QStringLiteral("model"), text("model")},
        {QStringLiteral("shape"), shape},
        {QStringLiteral("prompt_tokens"), toValue(prompt)},
        {QStringLiteral("completion_tokens"), toValue(completion)},
        {QStringLiteral("total_tokens"), toValue(total)},
        {QStringLiteral("reasoning_tokens"), toValue(reasoning)},
        {QStringLiteral("cache_read_tokens"), toValue(read)},
        {QStringLiteral("cache_write_tokens"), toValue(write)},
        {QStringLiteral("cached_tokens"), toValue(read)},
        {QStringLiteral("uncached_tokens"),
         sane ? QJsonValue(prompt.value - read.value) : QJsonValue(QJsonValue::Null)},
        {QStringLiteral("presence"), presenceName(read.state)},
        {QStringLiteral("conflicts"), conflictRows},
    };
}

QJsonObject judgeUsage(const QJsonObject &usage, const QList<QJsonObject> &earlier, const QDateTime &now)
{
    QJsonObject row = usage;
    row.insert(QStringLiteral("at"), now.toUTC().toString(Qt::ISODateWithMs));
    const auto finish = [&row](const char *verdict, const QString &headline, const QString &detail, bool regression) {
        row.insert(QStringLiteral("verdict"), QString::fromLatin1(verdict));
        row.insert(QStringLiteral("headline"), headline);
        row.insert(QStringLiteral("detail"), detail);
        row.insert(QStringLiteral("regression"), regression);
        return row;
    };
    row.insert(QStringLiteral("seconds_since_last"), QJsonValue(QJsonValue::Null));
    const QJsonObject *last = nullptr;
    for (const QJsonObject &other : earlier) {
        if (other.value(QStringLiteral("presence")).toString() == QLatin1String("reported")
            && other.value(QStringLiteral("provider")) == usage.value(QStringLiteral("provider"))
            && other.value(QStringLiteral("model")) == usage.value(QStringLiteral("model"))
            && other.value(QStringLiteral("prompt_tokens")).isDouble()) {
            last = &other;
            break;
        }
    }
    QString since;
    if (last) {
        const QDateTime then = QDateTime::fromString(last->value(QStringLiteral("at")).toString(), Qt::ISODateWithMs);
        if (then.isValid()) {
            const qint64 seconds = then.secsTo(now);
            row.insert(QStringLiteral("seconds_since_last"), seconds);
            since = QStringLiteral("; %1 s after the turn before, so an expired cache is possible too")
                        .arg(groupedNumber(seconds));
            if (seconds < 240)
                since.clear();
        }
    }
    const QString presence = usage.value(QStringLiteral("presence")).toString();
    if (presence != QLatin1String("reported")) {
        const QString how = presence == QLatin1String("null")
            ? QStringLiteral("the provider sent null for cached tokens")
            : QStringLiteral("the provider sent no figure for cached tokens");
        return finish("not-reported", QStringLiteral("Cache use was not reported"),
                      how + QStringLiteral("; that is not the same as zero"), false);
    }
    if (!usage.value(QStringLiteral("conflicts")).toArray().isEmpty()
        && usage.value(QStringLiteral("uncached_tokens")).isNull()) {
        return finish("not-reported", QStringLiteral("The figures contradict each other"),
                      usage.value(QStringLiteral("conflicts")).toArray().at(0).toString(), false);
    }
    const qint64 cached = usage.value(QStringLiteral("cached_tokens")).toInteger();
    const qint64 prompt = usage.value(QStringLiteral("prompt_tokens")).toInteger();
    if (last) {
        const qint64 cachedBefore = last->value(QStringLiteral("cached_tokens")).toInteger();
        const qint64 promptBefore = last->value(QStringLiteral("prompt_tokens")).toInteger();
        // Fell by more than a quarter while the prompt did not shrink by more than a quarter.
        if (cachedBefore > 0 && cached * 4 < cachedBefore * 3 && prompt * 4 >= promptBefore * 3) {
            return finish("PREFIX-BROKEN", QStringLiteral("The cached prefix was lost"),
                          QStringLiteral("the provider's cached prefix fell from %1 to %2 tokens (%3 tokens no longer "
                                         "cached) while the prompt went %4 → %5; "
                                         "this turn was billed for history that had already been paid for%6")
                              .arg(groupedNumber(cachedBefore), groupedNumber(cached),
                                   groupedNumber(cachedBefore - cached), groupedNumber(promptBefore),
                                   groupedNumber(prompt), since),
                          true);
        }
    }
    const QString detail = QStringLiteral("%1 of %2 prompt tokens came from the provider's cache")
                               .arg(groupedNumber(cached), groupedNumber(prompt));
    if (cached == 0)
        return finish("cache-miss", QStringLiteral("Nothing came from the cache"), detail, false);
    if (prompt > 0 && cached * 100 >= prompt * 95)
        return finish("full-reuse", QStringLiteral("The prompt came from the cache"), detail, false);
    return finish("partial-reuse", QStringLiteral("Part of the prompt came from the cache"), detail, false);
}

QJsonObject usageStats(const QList<QJsonObject> &earlier, const QJsonObject &newest)
{
    qint64 prompt = 0;
    qint64 cached = 0;
    int reported = 0;
    int regressions = 0;
    const auto add = [&](const QJsonObject &row) {
        if (row.value(QStringLiteral("regression")).toBool())
            ++regressions;
        if (row.value(QStringLiteral("presence")).toString() != QLatin1String("reported")
            || row.value(QStringLiteral("uncached_tokens")).isNull())
            return;
        ++reported;
        prompt += row.value(QStringLiteral("prompt_tokens")).toInteger();
        cached += row.value(QStringLiteral("cached_tokens")).toInteger();
    };
    for (const QJsonObject &row : earlier)
        add(row);
    add(newest);
    return {{QStringLiteral("turns"), static_cast<qint64>(earlier.size()) + 1},
            {QStringLiteral("reported"), reported},
            {QStringLiteral("regressions"), regressions},
            {QStringLiteral("prompt_tokens"), reported > 0 ? QJsonValue(prompt) : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("cached_tokens"), reported > 0 ? QJsonValue(cached) : QJsonValue(QJsonValue::Null)},
            {QStringLiteral("cached_share"),
             prompt > 0 ? QJsonValue(double(cached) / double(prompt)) : QJsonValue(QJsonValue::Null)}};
}

} // namespace kerf
