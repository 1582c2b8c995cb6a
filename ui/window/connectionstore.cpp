// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/connectionstore.h"

#include <QSettings>

namespace kerf {

namespace {

constexpr int kMost = 20;

bool sameTarget(const SavedConnection &a, const SavedConnection &b)
{
    return a.spec.kind == b.spec.kind && a.spec.url == b.spec.url && a.spec.socketPath == b.spec.socketPath
        && a.spec.launchCommand == b.spec.launchCommand && a.name == b.name;
}

void save(const QList<SavedConnection> &all)
{
    QSettings settings;
    settings.remove(QStringLiteral("connections"));
    settings.beginWriteArray(QStringLiteral("connections"), static_cast<int>(all.size()));
    for (int i = 0; i < all.size(); ++i) {
        const SavedConnection &each = all.at(i);
        settings.setArrayIndex(i);
        settings.setValue(QStringLiteral("name"), each.name);
        settings.setValue(QStringLiteral("kind"), static_cast<int>(each.spec.kind));
        settings.setValue(QStringLiteral("url"), each.spec.url);
        settings.setValue(QStringLiteral("log"), each.spec.logFile);
        settings.setValue(QStringLiteral("launch"), each.spec.launchCommand);
        settings.setValue(QStringLiteral("socket"), each.spec.socketPath);
        settings.setValue(QStringLiteral("slot"), each.spec.slotId);
        settings.setValue(QStringLiteral("limit"), each.spec.limitMs);
        settings.setValue(QStringLiteral("keyStored"), each.keyStored);
        settings.setValue(QStringLiteral("usedAt"), each.usedAt);
    }
    settings.endArray();
}

} // namespace

QList<SavedConnection> ConnectionStore::recent()
{
    QList<SavedConnection> result;
    QSettings settings;
    const int count = settings.beginReadArray(QStringLiteral("connections"));
    for (int i = 0; i < count; ++i) {
        settings.setArrayIndex(i);
        SavedConnection each;
        each.name = settings.value(QStringLiteral("name")).toString();
        const int kind = settings.value(QStringLiteral("kind")).toInt();
        if (kind < 0 || kind > 2)
            continue;
        each.spec.kind = static_cast<ConnectionSpec::Kind>(kind);
        each.spec.url = settings.value(QStringLiteral("url")).toString();
        each.spec.logFile = settings.value(QStringLiteral("log")).toString();
        each.spec.launchCommand = settings.value(QStringLiteral("launch")).toString();
        each.spec.socketPath = settings.value(QStringLiteral("socket")).toString();
        each.spec.slotId = settings.value(QStringLiteral("slot"), -1).toInt();
        each.spec.limitMs = settings.value(QStringLiteral("limit")).toInt();
        each.keyStored = settings.value(QStringLiteral("keyStored")).toBool();
        each.usedAt = settings.value(QStringLiteral("usedAt")).toDateTime();
        result.append(each);
    }
    settings.endArray();
    return result;
}

void ConnectionStore::remember(SavedConnection connection)
{
    connection.spec.apiKey.clear();
    connection.usedAt = QDateTime::currentDateTimeUtc();
    QList<SavedConnection> all = recent();
    all.removeIf([&connection](const SavedConnection &other) { return sameTarget(other, connection); });
    all.prepend(connection);
    if (all.size() > kMost)
        all.resize(kMost);
    save(all);
}

void ConnectionStore::forget(const SavedConnection &connection)
{
    QList<SavedConnection> all = recent();
    all.removeIf([&connection](const SavedConnection &other) { return sameTarget(other, connection); });
    save(all);
}

} // namespace kerf
