// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/eviction/policy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kerf {

namespace {

/// One row a knob: its wire name, how to read and write it, its range.
struct Knob {
    const char *name;
    double least;
    double most;
    bool isInteger;
    bool isBool;
    double (*get)(const EvictionKnobs &);
    void (*set)(EvictionKnobs &, double);
};

constexpr double kMostTokens = 16.0 * 1024 * 1024;

constexpr Knob kKnobs[] = {
    {"trigger", 0.05, 1, false, false, [](const EvictionKnobs &k) { return k.trigger; },
     [](EvictionKnobs &k, double v) { k.trigger = v; }},
    {"target", 0.01, 1, false, false, [](const EvictionKnobs &k) { return k.target; },
     [](EvictionKnobs &k, double v) { k.target = v; }},
    {"keep_prefix_tokens", 0, kMostTokens, true, false,
     [](const EvictionKnobs &k) { return double(k.keepPrefixTokens); },
     [](EvictionKnobs &k, double v) { k.keepPrefixTokens = int(v); }},
    {"cache_prefix_reserve_tokens", 0, kMostTokens, true, false,
     [](const EvictionKnobs &k) { return double(k.cachePrefixReserveTokens); },
     [](EvictionKnobs &k, double v) { k.cachePrefixReserveTokens = int(v); }},
    {"cache_prefix_max_tokens", 0, kMostTokens, true, false,
     [](const EvictionKnobs &k) { return double(k.cachePrefixMaxTokens); },
     [](EvictionKnobs &k, double v) { k.cachePrefixMaxTokens = int(v); }},
    {"max_prefix_ratio", 0, 1, false, false, [](const EvictionKnobs &k) { return k.maxPrefixRatio; },
     [](EvictionKnobs &k, double v) { k.maxPrefixRatio = v; }},
    {"snap_tolerance_tokens", 0, kMostTokens, true, false,
     [](const EvictionKnobs &k) { return double(k.snapToleranceTokens); },
     [](EvictionKnobs &k, double v) { k.snapToleranceTokens = int(v); }},
    {"keep_recent_tokens", 0, kMostTokens, true, false,
     [](const EvictionKnobs &k) { return double(k.keepRecentTokens); },
     [](EvictionKnobs &k, double v) { k.keepRecentTokens = int(v); }},
    {"recency_weight", 0, std::numeric_limits<double>::infinity(), false, false,
     [](const EvictionKnobs &k) { return k.recencyWeight; }, [](EvictionKnobs &k, double v) { k.recencyWeight = v; }},
    {"allow_drop", 0, 1, false, true, [](const EvictionKnobs &k) { return k.allowDrop ? 1.0 : 0.0; },
     [](EvictionKnobs &k, double v) { k.allowDrop = v != 0; }},
    {"snapshot_before_rewrite", 0, 1, false, true,
     [](const EvictionKnobs &k) { return k.snapshotBeforeRewrite ? 1.0 : 0.0; },
     [](EvictionKnobs &k, double v) { k.snapshotBeforeRewrite = v != 0; }},
    {"snapshot_even_when_aligned", 0, 1, false, true,
     [](const EvictionKnobs &k) { return k.snapshotEvenWhenAligned ? 1.0 : 0.0; },
     [](EvictionKnobs &k, double v) { k.snapshotEvenWhenAligned = v != 0; }},
    {"snapshot_retention_per_slot", 0, 1000, true, false,
     [](const EvictionKnobs &k) { return double(k.snapshotRetentionPerSlot); },
     [](EvictionKnobs &k, double v) { k.snapshotRetentionPerSlot = int(v); }},
    {"min_free_disk_bytes", 0, 9e15, true, false, [](const EvictionKnobs &k) { return double(k.minFreeDiskBytes); },
     [](EvictionKnobs &k, double v) { k.minFreeDiskBytes = qint64(v); }},
};

struct Profile {
    const char *name;
    double trigger;
    double target;
    int reserve;
    int reserveMax;
    int keepRecent;
};
constexpr Profile kProfiles[] = {
    {"cache-first", 0.75, 0.55, 4096, 8192, 4096},
    {"window-first", 0.70, 0.30, 0, 0, 4096},
    {"balanced", 0.75, 0.45, 2048, 8192, 4096},
    // SPEC section 9: compacts late, keeps little untouched at the end, goes deep only when the old part is large.
    {"generational", 0.90, 0.70, 4096, 8192, 2048},
};

QString rangeWords(const Knob &knob)
{
    if (knob.isBool)
        return QStringLiteral("true or false");
    const QString most = std::isinf(knob.most) ? QStringLiteral("\"infinity\"") : QString::number(knob.most, 'g', 12);
    return QStringLiteral("%1 from %2 to %3")
        .arg(knob.isInteger ? QStringLiteral("a whole number") : QStringLiteral("a number"),
             QString::number(knob.least, 'g', 12), most);
}

} // namespace

QStringList shippedProfiles()
{
    QStringList names;
    for (const Profile &profile : kProfiles)
        names.append(QString::fromLatin1(profile.name));
    return names;
}

Result<EvictionKnobs> shippedKnobs(const QString &name)
{
    for (const Profile &profile : kProfiles) {
        if (name != QLatin1String(profile.name))
            continue;
        EvictionKnobs knobs;
        knobs.trigger = profile.trigger;
        knobs.target = profile.target;
        knobs.cachePrefixReserveTokens = profile.reserve;
        knobs.cachePrefixMaxTokens = profile.reserveMax;
        knobs.keepRecentTokens = profile.keepRecent;
        return knobs;
    }
    return failure(Error::Code::InvalidParams,
                   QStringLiteral("unknown eviction profile \"%1\"; known are %2")
                       .arg(name, shippedProfiles().join(QStringLiteral(", "))));
}

QStringList knobNames()
{
    QStringList names;
    for (const Knob &knob : kKnobs)
        names.append(QString::fromLatin1(knob.name));
    return names;
}

QJsonObject knobsToJson(const EvictionKnobs &knobs)
{
    QJsonObject object;
    for (const Knob &knob : kKnobs) {
        const double value = knob.get(knobs);
        const QString name = QString::fromLatin1(knob.name);
        if (knob.isBool)
            object.insert(name, value != 0);
        else if (std::isinf(value))
            object.insert(name, QStringLiteral("infinity"));
        else if (knob.isInteger)
            object.insert(name, static_cast<qint64>(value));
        else
            object.insert(name, value);
    }
    return object;
}

Result<EvictionKnobs> withOverrides(EvictionKnobs knobs, const QJsonObject &overrides)
{
    for (auto it = overrides.begin(); it != overrides.end(); ++it) {
        const auto row = std::find_if(std::begin(kKnobs), std::end(kKnobs),
                                      [&](const Knob &knob) { return it.key() == QLatin1String(knob.name); });
        if (row == std::end(kKnobs)) {
            return failure(Error::Code::InvalidParams,
                           QStringLiteral("overrides: unknown knob \"%1\"; known are %2")
                               .arg(it.key(), knobNames().join(QStringLiteral(", "))));
        }
        const QJsonValue value = it.value();
        double number = 0;
        bool fits = false;
        if (row->isBool) {
            fits = value.isBool();
            number = value.toBool() ? 1 : 0;
        } else if (value.isString() && std::isinf(row->most)
                   && (value.toString() == QLatin1String("infinity") || value.toString() == QLatin1String("inf"))) {
            fits = true;
            number = std::numeric_limits<double>::infinity();
        } else if (value.isDouble()) {
            number = value.toDouble();
            fits = number >= row->least && number <= row->most && (!row->isInteger || number == std::floor(number));
        }
        if (!fits)
            return failure(Error::Code::InvalidParams,
                           QStringLiteral("overrides.%1: must be %2").arg(it.key(), rangeWords(*row)));
        row->set(knobs, number);
    }
    if (const Result<void> checked = checkKnobs(knobs); !checked)
        return std::unexpected(checked.error());
    return knobs;
}

Result<void> checkKnobs(const EvictionKnobs &knobs)
{
    if (knobs.target >= knobs.trigger) {
        return failure(Error::Code::InvalidParams,
                       QStringLiteral("target (%1) must be below trigger (%2)").arg(knobs.target).arg(knobs.trigger));
    }
    return {};
}

QString automaticProfile(bool reuseEstablished)
{
    return reuseEstablished ? QStringLiteral("cache-first") : QStringLiteral("window-first");
}

Budget budgetFor(const EvictionKnobs &knobs, int window, int outputReserve)
{
    Budget budget;
    if (window <= 0)
        return budget;
    budget.window = window;
    budget.outputReserve = outputReserve >= 0 ? std::min(outputReserve, window / 2) : std::min(2048, window / 8);
    budget.total = window - budget.outputReserve;
    budget.triggerAt = static_cast<int>(budget.total * knobs.trigger);
    budget.target = static_cast<int>(budget.total * knobs.target);
    budget.keepRecent = std::min(knobs.keepRecentTokens, std::max(budget.total / 4, 512));
    return budget;
}

} // namespace kerf
