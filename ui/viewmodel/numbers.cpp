// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/viewmodel/numbers.h"

#include <QCoreApplication>
#include <QLocale>

#include <cmath>

namespace kerf {

namespace {
QString words(const char *text) { return QCoreApplication::translate("Numbers", text); }
} // namespace

QString number(qint64 value) { return QLocale().toString(value); }

QString approx(qint64 value) { return QStringLiteral("~%1").arg(number(value)); }

QString number(qint64 value, bool exact) { return exact ? number(value) : approx(value); }

QString signedNumber(qint64 value)
{
    if (value == 0)
        return number(0);
    return value > 0 ? QStringLiteral("+%1").arg(number(value)) : QStringLiteral("\u2212%1").arg(number(-value));
}

QString numberOr(const std::optional<int> &value, bool exact)
{
    return value ? number(*value, exact) : words(QT_TRANSLATE_NOOP("Numbers", "not reported"));
}

QString milliseconds(double ms)
{
    const QLocale locale;
    if (ms >= 1000)
        return words(QT_TRANSLATE_NOOP("Numbers", "%1 s")).arg(locale.toString(ms / 1000, 'f', 2));
    return words(QT_TRANSLATE_NOOP("Numbers", "%1 ms")).arg(locale.toString(ms, 'f', 1));
}

QString shortMilliseconds(double ms)
{
    const QLocale locale;
    if (ms >= 1000)
        return words(QT_TRANSLATE_NOOP("Numbers", "%1 s")).arg(locale.toString(ms / 1000, 'f', 1));
    if (ms > 0 && ms < 10)
        return words(QT_TRANSLATE_NOOP("Numbers", "%1 ms")).arg(locale.toString(ms, 'f', 1));
    return words(QT_TRANSLATE_NOOP("Numbers", "%1 ms")).arg(locale.toString(qRound64(ms)));
}

QString mebibytes(qint64 bytes) { return QLocale().toString(static_cast<double>(bytes) / (1024.0 * 1024.0), 'f', 2); }

QString percent(double share)
{
    return words(QT_TRANSLATE_NOOP("Numbers", "%1 %")).arg(QLocale().toString(share * 100, 'f', 1));
}

QString shortPosition(int position)
{
    if (position < 1000)
        return number(position);
    const double thousands = position / 1000.0;
    const bool whole = std::abs(thousands - std::round(thousands)) < 0.05;
    return words(QT_TRANSLATE_NOOP("Numbers", "%1k")).arg(QLocale().toString(thousands, 'f', whole ? 0 : 1));
}

} // namespace kerf
