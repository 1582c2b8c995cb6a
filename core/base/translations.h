// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QCoreApplication>
#include <QLocale>

namespace kerf {

/// Loads the program's texts from its resources (translations/CMakeLists.txt puts them there): always the
/// English plural forms ("1 checkpoint", not "1 checkpoint(s)"), and on top of them the first language of
/// `locale` that Kerf has, with Qt's own texts in the same language. Call once, before the first window.
/// Returns the language on top, "en" where there is no other, empty where the program carries no texts.
QString installTranslations(QCoreApplication &app, const QLocale &locale = QLocale());

} // namespace kerf
