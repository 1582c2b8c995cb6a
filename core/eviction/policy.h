// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"

#include <QJsonObject>
#include <QMap>
#include <QString>
#include <QStringList>

namespace kerf {

/// The knobs of SPEC section 7. Tokens unless said otherwise.
struct EvictionKnobs {
    double trigger = 0.75; ///< share of the budget, 0..1
    double target = 0.55; ///< share of the budget, below trigger
    int keepPrefixTokens = 0;
    int cachePrefixReserveTokens = 4096;
    int cachePrefixMaxTokens = 8192;
    double maxPrefixRatio = 0.35; ///< of the live window
    int snapToleranceTokens = 512;
    int keepRecentTokens = 4096; ///< upper bound of min(keep_recent, max(budget/4, 512))
    double recencyWeight = 3; ///< prefill tokens paid for a token; infinity = oldest first
    bool allowDrop = false;
    bool snapshotBeforeRewrite = true;
    bool snapshotEvenWhenAligned = false;
    int snapshotRetentionPerSlot = 4;
    qint64 minFreeDiskBytes = 2LL * 1024 * 1024 * 1024;
    friend bool operator==(const EvictionKnobs &, const EvictionKnobs &) = default;
};

/// A named policy, in force for a session.
struct EvictionPolicy {
    QString name; ///< cache-first|window-first|balanced|generational|a saved one
    QString base; ///< shipped profile that a saved one stands on
    QString chosenBecause; ///< sentence: asked for, by environment, by evidence
    EvictionKnobs knobs;
    QMap<QString, QString> origin; ///< knob -> profile|saved|session|environment
    bool generational() const { return base == QLatin1String("generational"); }
};

/// The shipped profiles, in the order in which they are listed.
QStringList shippedProfiles();
/// Error: InvalidParams, listing the known names.
Result<EvictionKnobs> shippedKnobs(const QString &profile);

/// Names as on the wire (`trigger`, `keep_recent_tokens`, ...), in a fixed order.
QStringList knobNames();
/// recency_weight is the string "infinity" where it is infinite (JSON has no number for it).
QJsonObject knobsToJson(const EvictionKnobs &knobs);
/// Applies overrides by wire name. Errors: InvalidParams naming the knob and its range; nothing is applied then.
Result<EvictionKnobs> withOverrides(EvictionKnobs knobs, const QJsonObject &overrides);
/// target < trigger, shares in range. Error: InvalidParams naming both fields.
Result<void> checkKnobs(const EvictionKnobs &knobs);

/// The profile that evidence asks for: cache-first where reuse is established (a visible ring, or full
/// attention), else window-first.
QString automaticProfile(bool reuseEstablished);

/// What the shares come to for a window.
struct Budget {
    int window = 0; ///< n_ctx, or the explicit window if smaller
    int outputReserve = 0; ///< min(2,048, window/8) unless told
    int total = 0; ///< window - outputReserve
    int triggerAt = 0;
    int target = 0;
    int keepRecent = 0; ///< min(keep_recent, max(total/4, 512))
    friend bool operator==(const Budget &, const Budget &) = default;
};
/// `outputReserve` < 0 = the default. window <= 0: all zero (unknown).
Budget budgetFor(const EvictionKnobs &knobs, int window, int outputReserve = -1);

} // namespace kerf
