// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/tokens/tokens.h"

#include <algorithm>

namespace kerf {

int commonPrefix(const TokenList &a, const TokenList &b, int from)
{
    const qsizetype limit = std::min(a.size(), b.size());
    if (from >= limit)
        return static_cast<int>(limit);
    if (a.constData() == b.constData())
        return static_cast<int>(limit);
    const auto end = a.cbegin() + limit;
    return static_cast<int>(std::mismatch(a.cbegin() + from, end, b.cbegin() + from).first - a.cbegin());
}

} // namespace kerf
