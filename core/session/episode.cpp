// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/session/episode.h"

namespace kerf {

namespace {

template<typename Enum>
struct Name {
    Enum value;
    const char *text;
};

constexpr Name<Role> kRoles[] = {{Role::System, "system"},
                                 {Role::User, "user"},
                                 {Role::Assistant, "assistant"},
                                 {Role::Tool, "tool"},
                                 {Role::Internal, "internal"}};
constexpr Name<Tier> kTiers[] = {{Tier::Live, "live"},
                                 {Tier::Masked, "masked"},
                                 {Tier::Referenced, "referenced"},
                                 {Tier::Archived, "archived"},
                                 {Tier::Dropped, "dropped"}};
constexpr Name<AnchorKind> kAnchors[] = {{AnchorKind::SafetyConstraint, "safety_constraint"},
                                         {AnchorKind::UserCorrection, "user_correction"},
                                         {AnchorKind::TaskContract, "task_contract"}};

template<typename Enum, std::size_t N>
QString nameOf(const Name<Enum> (&table)[N], Enum value)
{
    for (const auto &row : table) {
        if (row.value == value)
            return QString::fromLatin1(row.text);
    }
    return {};
}

template<typename Enum, std::size_t N>
std::optional<Enum> valueOf(const Name<Enum> (&table)[N], const QString &name)
{
    for (const auto &row : table) {
        if (name == QLatin1String(row.text))
            return row.value;
    }
    return std::nullopt;
}

} // namespace

QString roleName(Role role) { return nameOf(kRoles, role); }
std::optional<Role> roleFromName(const QString &name) { return valueOf(kRoles, name); }
QString tierName(Tier tier) { return nameOf(kTiers, tier); }
std::optional<Tier> tierFromName(const QString &name) { return valueOf(kTiers, name); }
QString anchorKindName(AnchorKind kind) { return nameOf(kAnchors, kind); }
std::optional<AnchorKind> anchorKindFromName(const QString &name) { return valueOf(kAnchors, name); }

} // namespace kerf
