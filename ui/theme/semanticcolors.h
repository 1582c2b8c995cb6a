// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/cache/reuse.h"
#include "core/session/episode.h"

#include <QColor>
#include <QPalette>

namespace kerf {

/// The colours with a meaning, by name; the one place where they stand. QPalette gives Window, Base, Text and
/// Highlight. Each has a second sign beside it (hatch, shape, letter, word): no colour is ever alone.
/// tst_ui_semanticcolors holds the contrast and the colour-blind distances of this table.
struct SemanticColors {
    bool dark = false;
    QColor window, base; ///< what the ratios are measured on
    QColor text, dimText;
    QColor reused; ///< also confirmed; striped: kept, computed again
    QColor prefilled; ///< always right of reused
    QColor recent; ///< graphics only
    QColor evicted; ///< thin hatch; dark: graphics only
    QColor refuted; ///< also errors: cross + word
    QColor warning; ///< text and bars only
    QColor simulated; ///< flask, broad stripes, word
    QColor roleSystem, roleUser, roleAssistant, roleTool; ///< with their letter
    QColor checkpointMemory, checkpointFile, checkpointFold, checkpointPre; ///< circle, square, triangle, diamond
    QColor axis, focus;
    QColor onFill; ///< labels on fills
    QColor onRecent; ///< labels on `recent`

    static SemanticColors light()
    {
        return {.dark = false,
                .window = QColor(0xEFEFEF),
                .base = QColor(0xFFFFFF),
                .text = QColor(0x1A1A1A),
                .dimText = QColor(0x565656),
                .reused = QColor(0x0A62A3),
                .prefilled = QColor(0xAD4F08),
                .recent = QColor(0x1A9670),
                .evicted = QColor(0x5E5E5E),
                .refuted = QColor(0x9C0F3F),
                .warning = QColor(0x775400),
                .simulated = QColor(0x8247D1),
                .roleSystem = QColor(0x54588F),
                .roleUser = QColor(0x856000),
                .roleAssistant = QColor(0x4F6B7A),
                .roleTool = QColor(0x8A5A33),
                .checkpointMemory = QColor(0x14506F),
                .checkpointFile = QColor(0x6B5200),
                .checkpointFold = QColor(0x00665A),
                .checkpointPre = QColor(0x8A2A70),
                .axis = QColor(0x858585),
                .focus = QColor(0x1F6FAE),
                .onFill = QColor(0xFFFFFF),
                .onRecent = QColor(0x111111)};
    }
    static SemanticColors darkTheme()
    {
        return {.dark = true,
                .window = QColor(0x2E3033),
                .base = QColor(0x1F2123),
                .text = QColor(0xECECEC),
                .dimText = QColor(0xA8ADB3),
                .reused = QColor(0x6CB8F5),
                .prefilled = QColor(0xF29A4A),
                .recent = QColor(0x2FB38C),
                .evicted = QColor(0x7F858C),
                .refuted = QColor(0xFF9CC4),
                .warning = QColor(0xEBC04F),
                .simulated = QColor(0xB08CFF),
                .roleSystem = QColor(0xA3A8EA),
                .roleUser = QColor(0xE2B93B),
                .roleAssistant = QColor(0x93AEBC),
                .roleTool = QColor(0xCF9C70),
                .checkpointMemory = QColor(0x8CCBF2),
                .checkpointFile = QColor(0xE8C35A),
                .checkpointFold = QColor(0x56CDBE),
                .checkpointPre = QColor(0xEE93D2),
                .axis = QColor(0x767B81),
                .focus = QColor(0x4C93CC),
                .onFill = QColor(0x111111),
                .onRecent = QColor(0x111111)};
    }
    /// By the lightness of Window: Qt 6.4 names no colour scheme.
    static SemanticColors of(const QPalette &palette)
    {
        return palette.color(QPalette::Active, QPalette::Window).lightnessF() < 0.5 ? darkTheme() : light();
    }

    QColor role(Role role) const
    {
        switch (role) {
        case Role::System:
            return roleSystem;
        case Role::User:
            return roleUser;
        case Role::Assistant:
            return roleAssistant;
        case Role::Tool:
            return roleTool;
        case Role::Internal:
            break;
        }
        return evicted;
    }
    QColor checkpoint(CheckpointKind kind) const
    {
        switch (kind) {
        case CheckpointKind::InternalCheckpoint:
            return checkpointMemory;
        case CheckpointKind::SlotSaveFile:
            return checkpointFile;
        case CheckpointKind::FoldMarker:
            return checkpointFold;
        case CheckpointKind::PreRewrite:
            return checkpointPre;
        }
        return checkpointMemory;
    }
};

/// `color` laid over `ground` at `alpha` (0..1), opaque: the same on every surface.
inline QColor mixed(const QColor &color, const QColor &ground, qreal alpha)
{
    return QColor::fromRgbF(static_cast<float>(color.redF() * alpha + ground.redF() * (1 - alpha)),
                            static_cast<float>(color.greenF() * alpha + ground.greenF() * (1 - alpha)),
                            static_cast<float>(color.blueF() * alpha + ground.blueF() * (1 - alpha)));
}

} // namespace kerf
