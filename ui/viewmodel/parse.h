// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/values.h"

#include <QJsonArray>
#include <QJsonObject>

namespace kerf {

/// The one place where the wire becomes values. Total: an odd field reads as unknown, nothing throws.
QList<SessionSummary> parseSessions(const QJsonObject &object);
SessionValue parseSession(const QJsonObject &object);
QList<EpisodeValue> parseEpisodes(const QJsonObject &object);
PlanValue parsePlan(const QJsonObject &object);
/// Newest first, as the list shows them.
QList<PlanValue> parseCompactions(const QJsonObject &object);
ReceiptValue parseReceipt(const QJsonObject &object);
DoctorValue parseDoctor(const QJsonObject &object);
QList<SlotValue> parseSlots(const QJsonObject &object);
ProfileValue parseProfile(const QJsonObject &object);
PromptValue parsePrompt(const QJsonObject &object);
DiffValue parseDiff(const QJsonObject &object);
EventValue parseEvent(const QString &topic, const QJsonObject &params, const QDateTime &now);
CheckpointValue parseCheckpoint(const QJsonValue &value);

} // namespace kerf
