// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/session/episode.h"

#include <QJsonArray>
#include <QMap>

namespace kerf {

/// Text that Kerf adds to a message: the marker, a pin made in mid-session. It stands in front of the
/// message's own content, set off by a blank line, so that taking it away later leaves clean token seams.
struct MessageNote {
    QString marker; ///< the session's marker line; empty = none
    QList<qint64> anchors; ///< text pins carried here, by anchor id
    bool isEmpty() const { return marker.isEmpty() && anchors.isEmpty(); }
    friend bool operator==(const MessageNote &, const MessageNote &) = default;
};

/// What decides the prompt of a session beside its episodes. All of it is kept in the store.
struct PromptState {
    QMap<int, MessageNote> notes; ///< by the seq of the episode whose message carries it
    QMap<int, QString> masks; ///< by seq: the text that stands for a masked episode. Frozen when it was masked, so
                              ///< that a later, better count never changes the prompt's head
    QString pendingMarker; ///< waits for the next unsent user or tool message; empty = none waits
    int sentSeq = 0; ///< episodes up to this seq have been handed out in a prompt
    friend bool operator==(const PromptState &, const PromptState &) = default;
};

/// One message of the request, and what it is made of.
struct PromptPart {
    enum class Kind { System, HeadPins, Episode };
    Kind kind = Kind::Episode;
    int episodeIndex = -1; ///< index into the episode list; -1 = none (a system message made for pins alone)
};

struct ComposedPrompt {
    QJsonArray messages; ///< OpenAI chat messages, ready to send
    QList<PromptPart> parts; ///< one a message
    QList<QByteArray> contents; ///< the text that must be found in the rendered prompt, UTF-8, one a message
};

/// The header and the first 160 characters that stand for a masked episode: `[read_file, 1,204 tokens, episode #12]
/// ...`. Returns the content itself where the mask would not be shorter (SPEC 7.4).
QString maskedText(const Episode &episode);
/// Whether masking makes it shorter.
bool maskHelps(const Episode &episode);

/// Messages in the order of SPEC 7.6: system (with the head's pins), then every episode that is in the prompt,
/// by seq, each with its notes. `internal` episodes are never in it. Pure.
ComposedPrompt composePrompt(const QList<Episode> &episodes, const QList<Anchor> &anchors, const PromptState &state);

/// The newest user or tool episode that has not been handed out yet; -1 = there is none: a note has to wait.
int newestUnsentHost(const QList<Episode> &episodes, int sentSeq);

/// Puts what waits (marker, pins without a host) onto the newest unsent user or tool message, if there is one.
/// Before the first prompt pins go to the head. Returns whether something changed.
bool placeNotes(const QList<Episode> &episodes, QList<Anchor> &anchors, PromptState &state);

/// Evicted episodes as runs of neighbours (in session order, only episodes that are gone between kept ones).
struct EvictedRun {
    qint64 firstId = 0;
    qint64 lastId = 0;
    int count = 0;
    qint64 tokens = 0;
};
QList<EvictedRun> evictedRuns(const QList<Episode> &episodes);
/// `[N episodes, T tokens evicted: #a-#b, ...; memory.get_episode returns them]`; `named` = how many of the newest
/// runs are named (the others are only counted). Empty where nothing was evicted.
QString markerText(const QList<Episode> &episodes, int named);
/// Referenced episodes of the runs that `named` leaves out: they become archived.
QList<qint64> unnamedEpisodes(const QList<Episode> &episodes, int named);

/// JSON for the store.
QJsonObject promptStateToJson(const PromptState &state);
PromptState promptStateFromJson(const QJsonObject &object);

/// For every index: the index of the episode that leads its call/result group (itself for ordinary ones). A tool
/// episode belongs to the newest assistant episode whose tool_calls has its id, else to the assistant episode
/// directly before it, else it stands alone (PROTOCOL.md). Groups always are neighbours here.
QList<int> groupLeaders(const QList<Episode> &episodes);

} // namespace kerf
