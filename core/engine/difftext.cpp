// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/difftext.h"

#include "core/engine/text.h"

#include <QStringList>

namespace kerf {

QString renderDiff(const QJsonObject &result)
{
    const auto line = [](const QString &name, const QString &text) {
        return QStringLiteral("%1 %2").arg(name + QLatin1Char(':'), -9).arg(text);
    };
    const QString mark = result.value(QStringLiteral("exact")).toBool() ? QString() : QStringLiteral("~");
    const auto count = [&](const char *field) {
        return mark + groupedNumber(result.value(QLatin1String(field)).toInt());
    };
    QStringList lines;
    lines.append(
        line(QStringLiteral("equal"),
             QStringLiteral("%1 tokens, of %2 and %3%4")
                 .arg(count("lcp"), count("a_total"), count("b_total"),
                      result.value(QStringLiteral("simulated")).toBool() ? QStringLiteral(" [simulated tokenizer]")
                                                                         : QString())));
    const QJsonObject first = result.value(QStringLiteral("first_difference")).toObject();
    if (first.isEmpty()) {
        lines.append(line(QStringLiteral("differs"), QStringLiteral("nowhere")));
        return lines.join(QLatin1Char('\n'));
    }
    const auto text = [&first](const char *field) { return first.value(QLatin1String(field)).toString(); };
    QString where = QStringLiteral("at token %1%2, in %3")
                        .arg(mark, groupedNumber(first.value(QStringLiteral("position")).toInt()), text("part"));
    if (first.value(QStringLiteral("message")).isDouble())
        where += QStringLiteral(", message %1 (%2)")
                     .arg(first.value(QStringLiteral("message")).toInt() + 1)
                     .arg(text("role"));
    else if (first.value(QStringLiteral("seq")).isDouble())
        where += QStringLiteral(" #%1").arg(first.value(QStringLiteral("seq")).toInt());
    lines.append(line(QStringLiteral("differs"), where));
    lines.append(line(QStringLiteral("cause"), QStringLiteral("%1: %2").arg(text("cause"), text("reason"))));
    if (!text("evidence").isEmpty())
        lines.append(line(QStringLiteral("evidence"), text("evidence")));
    const auto shown = [](QString context) { return context.replace(QLatin1Char('\n'), QStringLiteral("\\n")); };
    if (!text("context_a").isEmpty() || !text("context_b").isEmpty()) {
        lines.append(line(QStringLiteral("first"), shown(text("context_a"))));
        lines.append(line(QStringLiteral("second"), shown(text("context_b"))));
    }
    if (!text("fix").isEmpty())
        lines.append(line(QStringLiteral("fix"), text("fix")));
    return lines.join(QLatin1Char('\n'));
}

} // namespace kerf
