// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/engine.h"

#include <cmath>

namespace kerf::params {

namespace {
std::unexpected<Error> wrong(const QString &field, const QString &what)
{
    return failure(Error::Code::InvalidParams, QStringLiteral("%1: %2").arg(field, what));
}
bool isAbsent(const QJsonValue &value) { return value.isUndefined() || value.isNull(); }
} // namespace

Result<QString> text(const QJsonObject &object, const QString &field, bool required)
{
    const QJsonValue value = object.value(field);
    if (isAbsent(value))
        return required ? Result<QString>(wrong(field, QStringLiteral("is required"))) : Result<QString>(QString());
    if (!value.isString())
        return wrong(field, QStringLiteral("must be a string"));
    if (required && value.toString().isEmpty())
        return wrong(field, QStringLiteral("must not be empty"));
    return value.toString();
}

Result<int> integer(const QJsonObject &object, const QString &field, int otherwise, int least, int most)
{
    const QJsonValue value = object.value(field);
    if (isAbsent(value))
        return otherwise;
    const double number = value.toDouble(std::nan(""));
    if (!value.isDouble() || number != std::floor(number) || number < least || number > most)
        return wrong(field, QStringLiteral("must be a whole number from %1 to %2").arg(least).arg(most));
    return static_cast<int>(number);
}

Result<qint64> id(const QJsonObject &object, const QString &field)
{
    const QJsonValue value = object.value(field);
    if (isAbsent(value))
        return wrong(field, QStringLiteral("is required"));
    const double number = value.toDouble(std::nan(""));
    if (!value.isDouble() || number != std::floor(number) || number < 1 || number > 9e15)
        return wrong(field, QStringLiteral("must be a positive whole number"));
    return value.toInteger();
}

Result<bool> flag(const QJsonObject &object, const QString &field, bool otherwise)
{
    const QJsonValue value = object.value(field);
    if (isAbsent(value))
        return otherwise;
    if (!value.isBool())
        return wrong(field, QStringLiteral("must be true or false"));
    return value.toBool();
}

Result<double> number(const QJsonObject &object, const QString &field, double otherwise)
{
    const QJsonValue value = object.value(field);
    if (isAbsent(value))
        return otherwise;
    if (!value.isDouble() || value.toDouble() < 0)
        return wrong(field, QStringLiteral("must be a number that is not negative"));
    return value.toDouble();
}

Result<int> slot(const QJsonObject &object)
{
    const QJsonValue value = object.value(QStringLiteral("slot_id"));
    if (isAbsent(value))
        return -1;
    if (value.isString()) {
        bool ok = false;
        const int number = value.toString().toInt(&ok);
        if (ok && number >= -1)
            return number;
        return wrong(QStringLiteral("slot_id"),
                     QStringLiteral("must be an integer from -1 (a decimal string is accepted)"));
    }
    const double number = value.toDouble(std::nan(""));
    if (!value.isDouble() || number != std::floor(number) || number < -1 || number > 65535)
        return wrong(QStringLiteral("slot_id"), QStringLiteral("must be an integer from -1 (the server's choice)"));
    return static_cast<int>(number);
}

Result<QString> session(const QJsonObject &object, const QString &defaultSession)
{
    const QJsonValue value = object.value(QStringLiteral("session_id"));
    if (isAbsent(value)) {
        if (!defaultSession.isEmpty())
            return defaultSession;
        return wrong(QStringLiteral("session_id"), QStringLiteral("is required"));
    }
    if (!value.isString() || value.toString().isEmpty() || value.toString().size() > 512)
        return wrong(QStringLiteral("session_id"), QStringLiteral("must be a string of 1 to 512 characters"));
    return value.toString();
}

QString iso(const QDateTime &time) { return time.toUTC().toString(Qt::ISODateWithMs); }
QJsonValue orNull(int value) { return value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value); }
QJsonValue orNull(double value) { return value < 0 ? QJsonValue(QJsonValue::Null) : QJsonValue(value); }
QJsonValue orNull(const QString &text) { return text.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(text); }

} // namespace kerf::params
