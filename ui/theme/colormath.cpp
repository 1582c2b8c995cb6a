// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/theme/colormath.h"

#include <algorithm>
#include <cmath>

namespace kerf {

namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

double linear(double channel)
{
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

Triple linearRgb(const QColor &color) { return {linear(color.redF()), linear(color.greenF()), linear(color.blueF())}; }

Triple times(const Matrix &m, const Triple &v)
{
    Triple result{};
    for (std::size_t row = 0; row < 3; ++row)
        result[row] = m[row][0] * v[0] + m[row][1] * v[1] + m[row][2] * v[2];
    return result;
}

constexpr Matrix kProtan{
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix kDeutan{
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix kTritan{
    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}};
constexpr Matrix kXyz{
    {{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}};

double labCurve(double t)
{
    constexpr double delta = 6.0 / 29.0;
    return t > delta * delta * delta ? std::cbrt(t) : t / (3 * delta * delta) + 4.0 / 29.0;
}

} // namespace

double contrastRatio(const QColor &a, const QColor &b)
{
    const auto luminance = [](const QColor &color) {
        const Triple rgb = linearRgb(color);
        return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
    };
    const double la = luminance(a);
    const double lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

std::array<double, 3> labOf(const QColor &color, ColorVision vision)
{
    Triple rgb = linearRgb(color);
    switch (vision) {
    case ColorVision::Normal:
        break;
    case ColorVision::Protan:
        rgb = times(kProtan, rgb);
        break;
    case ColorVision::Deutan:
        rgb = times(kDeutan, rgb);
        break;
    case ColorVision::Tritan:
        rgb = times(kTritan, rgb);
        break;
    }
    for (double &channel : rgb)
        channel = std::clamp(channel, 0.0, 1.0);
    const Triple xyz = times(kXyz, rgb);
    const double x = labCurve(xyz[0] / 0.95047);
    const double y = labCurve(xyz[1]);
    const double z = labCurve(xyz[2] / 1.08883);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double labDistance(const QColor &a, const QColor &b, ColorVision vision)
{
    const Triple la = labOf(a, vision);
    const Triple lb = labOf(b, vision);
    return std::sqrt((la[0] - lb[0]) * (la[0] - lb[0]) + (la[1] - lb[1]) * (la[1] - lb[1])
                     + (la[2] - lb[2]) * (la[2] - lb[2]));
}

} // namespace kerf
