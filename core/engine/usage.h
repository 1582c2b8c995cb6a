// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"

#include <QDateTime>
#include <QJsonArray>
#include <QJsonObject>
#include <QList>

namespace kerf {

/// The arguments of context.record_usage as one normal form, by provider shape (SPEC section 10):
/// {provider, model, prompt_tokens, completion_tokens, total_tokens, reasoning_tokens, cache_read_tokens,
///  cache_write_tokens, cached_tokens, uncached_tokens, presence: reported|null|absent, conflicts: [text], shape}
/// prompt_tokens counts the whole prompt, cached tokens included. Unknown numbers are null, never 0.
/// Contradictions (cached > prompt, parts that do not add up, two fields that disagree) are listed, never added up.
/// Error: InvalidParams naming the field.
Result<QJsonObject> normaliseUsage(const QJsonObject &params);

/// Adds {verdict, headline, detail, regression, seconds_since_last}: not-reported, cache-miss, partial-reuse,
/// full-reuse (>= 95 %), PREFIX-BROKEN (the cached prefix fell by more than a quarter while the prompt did not shrink
/// by more than a quarter), judged against the last turn that reported, of the same provider and model.
/// `earlier` is newest first, rows as this function returned them.
QJsonObject judgeUsage(const QJsonObject &usage, const QList<QJsonObject> &earlier, const QDateTime &now);

/// {turns, reported, regressions, prompt_tokens, cached_tokens, cached_share}; sums over turns that reported.
QJsonObject usageStats(const QList<QJsonObject> &earlier, const QJsonObject &newest);

} // namespace kerf
