// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QString>

namespace kerf {

/// What can be notified of.
enum class NoteKind { Refuted, ServerLost, CacheNearLimit, LongPrefill };
inline constexpr NoteKind kNoteKinds[] = {NoteKind::Refuted, NoteKind::ServerLost, NoteKind::CacheNearLimit,
                                          NoteKind::LongPrefill};

/// The settings of the console. Kept in QSettings; holds no key and no text of a conversation.
struct AppSettings {
    enum class Start { Page, Last, Demo };
    Start start = Start::Page;
    QString language; ///< empty = the system's
    QString theme = QStringLiteral("system");
    int fontSize = 0; ///< points; 0 = the system's
    bool hideText = false;
    bool notify[4] = {true, true, false, false}; ///< by NoteKind

    static AppSettings load();
    void save() const;
    friend bool operator==(const AppSettings &, const AppSettings &) = default;
};

} // namespace kerf
