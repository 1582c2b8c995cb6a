// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QColor>

#include <array>

namespace kerf {

/// WCAG 2 contrast ratio, 1..21.
double contrastRatio(const QColor &a, const QColor &b);

enum class ColorVision { Normal, Protan, Deutan, Tritan };

/// CIELAB (D65) of a colour as seen; Machado, Oliveira and Fernandes 2009, severity 1.0.
std::array<double, 3> labOf(const QColor &color, ColorVision vision = ColorVision::Normal);

/// Euclidean distance in CIELAB (CIE 1976) of two colours as seen.
double labDistance(const QColor &a, const QColor &b, ColorVision vision = ColorVision::Normal);

} // namespace kerf
