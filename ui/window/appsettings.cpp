// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/appsettings.h"

#include <QSettings>

#include <algorithm>

namespace kerf {

namespace {
const char *const kNotes[] = {"notify/refuted", "notify/serverLost", "notify/cacheNearLimit", "notify/longPrefill"};
}

AppSettings AppSettings::load()
{
    AppSettings result;
    const QSettings settings;
    result.start = static_cast<Start>(std::clamp(settings.value(QStringLiteral("general/start")).toInt(), 0, 2));
    result.language = settings.value(QStringLiteral("general/language")).toString();
    result.theme = settings.value(QStringLiteral("appearance/theme"), result.theme).toString();
    const int size = settings.value(QStringLiteral("appearance/fontSize")).toInt();
    result.fontSize = size == 0 ? 0 : std::clamp(size, 8, 16);
    result.hideText = settings.value(QStringLiteral("privacy/hideText")).toBool();
    for (int i = 0; i < 4; ++i)
        result.notify[i] = settings.value(QLatin1String(kNotes[i]), result.notify[i]).toBool();
    return result;
}

void AppSettings::save() const
{
    QSettings settings;
    settings.setValue(QStringLiteral("general/start"), static_cast<int>(start));
    settings.setValue(QStringLiteral("general/language"), language);
    settings.setValue(QStringLiteral("appearance/theme"), theme);
    settings.setValue(QStringLiteral("appearance/fontSize"), fontSize);
    settings.setValue(QStringLiteral("privacy/hideText"), hideText);
    for (int i = 0; i < 4; ++i)
        settings.setValue(QLatin1String(kNotes[i]), notify[i]);
}

} // namespace kerf
