// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"
#include "core/cache/reuse.h"

namespace kerf {

/// What the header of a GGUF file says of the model's memory.
struct GgufHeader {
    QString architecture;
    int slidingWindow = 0;    ///< <arch>.attention.sliding_window; 0 = none
    bool recurrent = false;   ///< ssm, wkv, short convolution or another recurrent key
    qint64 contextLength = 0;
    MemoryKind memory() const;
};
/// Reads the metadata part only, at most 64 MiB of it; a damaged or cut file gives an error, never a crash.
Result<GgufHeader> readGgufHeader(const QString &path);

/// Memory kind by name substrings, whole path segments or words ("swap" is no hit): the weakest evidence.
/// Returns the word that hit; empty = none.
QString partialStateWord(const QString &modelPath);

} // namespace kerf
