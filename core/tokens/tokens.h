// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QList>

#include <QtGlobal>

namespace kerf {

/// A token id as the server's vocabulary numbers it.
using TokenId = qint32;
/// A prompt, or what a slot holds, as ids. Implicitly shared: copying is cheap.
using TokenList = QList<TokenId>;

/// Half open range of whole-prompt token positions.
struct TokenRange {
    int begin = 0;
    int end = 0;
    int size() const { return end - begin; }
    bool contains(int position) const { return position >= begin && position < end; }
    friend bool operator==(const TokenRange &, const TokenRange &) = default;
};

/// Length of the longest common prefix (LCP) of two id lists, starting the comparison at `from`
/// (both lists must be known to be equal below it). Linear, no allocation.
int commonPrefix(const TokenList &a, const TokenList &b, int from = 0);

} // namespace kerf
