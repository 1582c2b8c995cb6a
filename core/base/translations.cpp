// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/translations.h"

#include <QLibraryInfo>
#include <QTranslator>

#include <memory>

namespace kerf {

namespace {

/// Installs "kerf_<language>" or "qtbase_<language>"; the application owns it.
bool installOne(QCoreApplication &app, const QString &name, const QString &folder)
{
    auto translator = std::make_unique<QTranslator>();
    if (!translator->load(name, folder))
        return false;
    QTranslator *kept = translator.release();
    kept->setParent(&app);
    return QCoreApplication::installTranslator(kept);
}
} // namespace

QString installTranslations(QCoreApplication &app, const QLocale &locale)
{
    const QString folder = QStringLiteral(":/translations");
    const QString english = QStringLiteral("en");
    QString installed;
    // The one installed last is asked first; what it lacks falls through to the English plural forms.
    if (installOne(app, QStringLiteral("kerf_en"), folder))
        installed = english;
    const QStringList languages = locale.uiLanguages();
    for (const QString &tag : languages) {
        const QString language = QLocale(tag).name().section(QLatin1Char('_'), 0, 0);
        if (language == english || language == QLatin1String("C"))
            break;
        if (!installOne(app, QStringLiteral("kerf_") + language, folder))
            continue;
        // Without the package that has Qt's texts its standard buttons stay English.
        installOne(app, QStringLiteral("qtbase_") + language, QLibraryInfo::path(QLibraryInfo::TranslationsPath));
        return language;
    }
    return installed;
}

} // namespace kerf
