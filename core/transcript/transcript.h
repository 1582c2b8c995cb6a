// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QList>
#include <QStringList>

namespace kerf {

/// Something of a file that was not taken over, and why. Never its content.
struct SkippedLine {
    qint64 line = 0; ///< from 1; in one JSON document: the element's number
    QString why;
};

/// A recorded conversation as OpenAI chat messages.
struct Transcript {
    QString format; ///< openai-messages|openai-jsonl|request-body|swe-agent|mini-swe-agent
    QString title;
    QList<QJsonObject> messages;
    QJsonArray tools; ///< where the file has them
    QList<SkippedLine> skipped;
    QStringList notes; ///< what is missing: "history only: no system prompt in the file"
};

/// Reads OpenAI-style message lists (JSON and JSON Lines) and SWE-agent trajectories, told apart by content. A set of
/// conversations gives several. BOM, CRLF, a half last line, lone surrogates and NULs are survived; what is not
/// understood is counted. JSON Lines are read line by line. Errors: NotFound, Failed (nothing that is known).
Result<QList<Transcript>> readTranscripts(const QString &path);
/// The same from memory; for tests.
Result<QList<Transcript>> parseTranscripts(QByteArray bytes, const QString &name);

} // namespace kerf
