// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QString>

#include <optional>

namespace kerf {

/// Numbers for people: the locale's thousands sign, `~` before what was not measured, words for what is not known.
QString number(qint64 value);
QString approx(qint64 value); ///< "~1,349"
QString number(qint64 value, bool exact); ///< approx unless exact
QString signedNumber(qint64 value); ///< "+59", "−259", "0"
QString numberOr(const std::optional<int> &value, bool exact = true); ///< "not reported" where there is none
QString milliseconds(double ms); ///< "101.6 ms", "104 ms" above 100 rounded, "1.24 s" above 1,000
QString shortMilliseconds(double ms); ///< whole: "104 ms", "1.2 s"
QString mebibytes(qint64 bytes); ///< "1.01"
QString percent(double share); ///< 0.562 -> "56.2 %"
QString shortPosition(int position); ///< "1.5k", "500", for ring labels

} // namespace kerf
