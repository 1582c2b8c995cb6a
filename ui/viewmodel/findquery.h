// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/cutpicture.h"

#include <QStringList>

namespace kerf {

/// What stands in the find field, read: `#12` episode, `@1579` token, `c:8` compaction, `t:44` task, `role:tool`,
/// `tier:masked`; the rest is text. Pure.
struct FindQuery {
    std::optional<int> episode;
    std::optional<int> token;
    std::optional<int> compaction;
    std::optional<qint64> task;
    std::optional<QString> role; ///< wire name
    std::optional<QString> tier; ///< wire name
    QString text;
    QString problem; ///< a part that cannot be read, in words
    bool isEmpty() const { return !episode && !token && !compaction && !task && !role && !tier && text.isEmpty(); }
    /// Text and filters both look among the episodes; numbers name one thing.
    bool needsSearch() const { return !text.isEmpty(); }
};

FindQuery parseFind(const QString &field);

struct FindHit {
    enum class Kind { Episode, Token, Compaction, Checkpoint };
    Kind kind = Kind::Episode;
    int id = 0; ///< seq, token, compaction number, position
    QString what; ///< "Episode 12 · assistant"
    QString where; ///< "1,576 – 1,754", "not in the prompt"
    QString text; ///< an excerpt
    std::optional<int> token; ///< where it begins in the prompt
    friend bool operator==(const FindHit &, const FindHit &) = default;
};

/// What the loaded state answers by itself: numbers, tasks, roles, tiers. `texts`: excerpts of the episodes that the
/// search found, by seq; null = the text was not asked for.
QList<FindHit> findHits(const FindQuery &query, const ConsoleData &data, const QHash<int, QString> *texts);

} // namespace kerf
