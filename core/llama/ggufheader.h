// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"
#include "core/cache/reuse.h"

namespace kerf {

/// What the header of a GGUF file says of the model's memory.
struct GgufHeader {
    QString architecture;
    int slidingWindow = 0; ///< <arch>.attention.sliding_window; 0 = none
    bool recurrent = false; ///< ssm, wkv, short convolution or another recurrent key, or an architecture known to be
    qint64 contextLength = 0;
    bool windowUnclear = false; ///< a window key of a form that we cannot read
    /// By keys and by what is known of the architecture: some carry a window that llama-server does not apply (phi3),
    /// some have one without a key (llama4). One that is not known, without such keys, counts as full attention:
    /// inferred.
    MemoryKind memory() const;
    /// Whether memory() rests on a known architecture or on a key, and not on the absence of one.
    bool isEstablished() const;
    friend bool operator==(const GgufHeader &, const GgufHeader &) = default;
};

/// What llama-server does with an architecture, as of build 11669.
enum class ArchitectureMemory {
    Unknown,
    FullAttention, ///< also where a window key is there: it is not applied
    WindowIfKey, ///< SWA where the window key says so
    Window, ///< SWA always
    Recurrent ///< recurrent or hybrid
};
ArchitectureMemory architectureMemory(const QString &architecture);

/// Reads the metadata part only, at most 64 MiB of it; a damaged or cut file gives an error, never a crash.
Result<GgufHeader> readGgufHeader(const QString &path);

/// Memory kind by name substrings, whole path segments or words ("swap" is no hit): the weakest evidence.
/// Returns the word that hit; empty = none.
QString partialStateWord(const QString &modelPath);

} // namespace kerf
