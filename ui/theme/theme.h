// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QIcon>
#include <QPalette>
#include <QString>

#include <optional>

class QWidget;

namespace kerf {

enum class ThemeChoice { System, Light, Dark };
std::optional<ThemeChoice> themeFromName(const QString &name); ///< light|dark|system
QString themeName(ThemeChoice choice);

/// Sets the application's palette. System gives back the platform's own.
void applyTheme(ThemeChoice choice);
QPalette themePalette(ThemeChoice choice); ///< Light or Dark

/// freedesktop icon, else our own SVG of the same name, drawn in the palette's text colour (follows the theme).
QIcon themedIcon(const QString &name);

/// Font for token pieces: the system's fixed one.
QFont tokenFont();

} // namespace kerf
