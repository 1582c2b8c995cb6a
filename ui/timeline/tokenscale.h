// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/tokens/tokens.h"

#include <QRectF>
#include <QtMath>

#include <algorithm>

namespace kerf {

/// Token positions on a horizontal axis: a value, apart from painting.
struct TokenScale {
    static constexpr int kMinimumTokens = 8;

    TokenRange visible;
    QRectF area;

    qreal toX(qreal position) const
    {
        return area.left() + (position - visible.begin) * area.width() / std::max(1, visible.size());
    }
    int toPosition(qreal x) const
    {
        return visible.begin
            + qFloor((x - area.left()) * std::max(1, visible.size()) / std::max<qreal>(1, area.width()));
    }
    qreal pixelsPerToken() const { return area.width() / std::max(1, visible.size()); }

    /// The visible range after zooming by `factor` (> 1 = closer) so that `anchor` stays where it is.
    TokenRange zoomed(int anchor, qreal factor, int total) const
    {
        const int size = std::clamp(qRound(visible.size() / factor), std::min(kMinimumTokens, total),
                                    std::max(total, kMinimumTokens));
        const qreal share = visible.size() > 0 ? static_cast<qreal>(anchor - visible.begin) / visible.size() : 0.5;
        const int begin = qRound(anchor - share * size);
        return clamped(TokenRange{begin, begin + size}, total);
    }
    TokenRange panned(int tokens, int total) const
    {
        return clamped(TokenRange{visible.begin + tokens, visible.end + tokens}, total);
    }
    /// Moved, then cut, into 0..total; never under the minimum.
    static TokenRange clamped(TokenRange range, int total)
    {
        const int limit = std::max(total, kMinimumTokens);
        const int size = std::clamp(range.size(), kMinimumTokens, limit);
        const int begin = std::clamp(range.begin, 0, limit - size);
        return {begin, begin + size};
    }
    friend bool operator==(const TokenScale &, const TokenScale &) = default;
};

} // namespace kerf
