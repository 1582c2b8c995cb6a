// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ipc/schema.h"

#include <QJsonArray>
#include <QStringList>

#include <cmath>

namespace kerf {

namespace {

struct TypeName {
    Schema::Type type;
    const char *name;
    const char *words;
};
constexpr TypeName kTypes[] = {
    {Schema::String, "string", "a string"},
    {Schema::Number, "number", "a number"},
    {Schema::Integer, "integer", "an integer"},
    {Schema::Boolean, "boolean", "true or false"},
    {Schema::Object, "object", "an object"},
    {Schema::Array, "array", "a list"},
    {Schema::Null, "null", "null"},
};

int typeBit(const QString &name)
{
    for (const TypeName &row : kTypes) {
        if (name == QLatin1String(row.name))
            return row.type;
    }
    return 0;
}

int typesOf(const QJsonValue &value)
{
    switch (value.type()) {
    case QJsonValue::String:
        return Schema::String;
    case QJsonValue::Bool:
        return Schema::Boolean;
    case QJsonValue::Object:
        return Schema::Object;
    case QJsonValue::Array:
        return Schema::Array;
    case QJsonValue::Double: {
        const double number = value.toDouble();
        return number == std::floor(number) && std::isfinite(number) ? Schema::Integer | Schema::Number
                                                                     : Schema::Number;
    }
    default:
        return Schema::Null;
    }
}

QString words(int types)
{
    QStringList names;
    for (const TypeName &row : kTypes) {
        if (types & row.type)
            names.append(QString::fromLatin1(row.words));
    }
    return names.join(QStringLiteral(" or "));
}

QString located(const QString &path, const QString &what)
{
    return path.isEmpty() ? what : path + QStringLiteral(": ") + what;
}

} // namespace

Schema Schema::fromJson(const QJsonObject &json)
{
    Schema schema;
    const QJsonValue type = json.value(QLatin1String("type"));
    if (type.isString()) {
        schema.m_types = typeBit(type.toString());
    } else {
        const QJsonArray types = type.toArray();
        for (const QJsonValue &name : types)
            schema.m_types |= typeBit(name.toString());
    }
    const QJsonObject properties = json.value(QLatin1String("properties")).toObject();
    const QJsonArray required = json.value(QLatin1String("required")).toArray();
    for (auto it = properties.begin(); it != properties.end(); ++it)
        schema.m_properties.append({it.key(), fromJson(it.value().toObject()), required.contains(it.key())});
    if (const QJsonValue items = json.value(QLatin1String("items")); items.isObject())
        schema.m_items.append(fromJson(items.toObject()));
    schema.m_enum = json.value(QLatin1String("enum")).toArray();
    if (const QJsonValue minimum = json.value(QLatin1String("minimum")); minimum.isDouble())
        schema.m_minimum = minimum.toDouble();
    if (const QJsonValue maximum = json.value(QLatin1String("maximum")); maximum.isDouble())
        schema.m_maximum = maximum.toDouble();
    schema.m_minLength = json.value(QLatin1String("minLength")).toInt();
    return schema;
}

bool Schema::hasProperty(const QString &name) const
{
    for (const Property &property : m_properties) {
        if (property.name == name)
            return true;
    }
    return false;
}

std::optional<QString> Schema::checkAt(const QJsonValue &value, const QString &path, bool strict) const
{
    if (m_types != 0 && !(typesOf(value) & m_types))
        return located(path, QStringLiteral("must be %1").arg(words(m_types)));
    if (!m_enum.isEmpty() && !m_enum.contains(value)) {
        QStringList names;
        for (const QJsonValue &entry : m_enum)
            names.append(entry.isNull() ? QStringLiteral("null") : entry.toVariant().toString());
        return located(path, QStringLiteral("must be one of %1").arg(names.join(QStringLiteral(", "))));
    }
    if (value.isDouble()) {
        if (m_minimum && value.toDouble() < *m_minimum)
            return located(path, QStringLiteral("must be at least %1").arg(*m_minimum, 0, 'g', 15));
        if (m_maximum && value.toDouble() > *m_maximum)
            return located(path, QStringLiteral("must be at most %1").arg(*m_maximum, 0, 'g', 15));
    }
    if (m_minLength > 0 && value.isString() && value.toString().size() < m_minLength)
        return located(path, QStringLiteral("must not be empty"));
    if (value.isObject() && !m_properties.isEmpty()) {
        const QJsonObject object = value.toObject();
        for (const Property &property : m_properties) {
            // Paths are made only for what is wrong: a list of ten thousand ids is checked without one string.
            const auto at = [&] {
                return path.isEmpty() ? property.name : QString(path + QLatin1Char('.') + property.name);
            };
            const QJsonValue member = object.value(property.name);
            if (member.isUndefined()) {
                if (property.required)
                    return located(at(), QStringLiteral("is required"));
                continue;
            }
            if (member.isNull() && !property.required && !strict)
                continue;
            if (property.schema.checkAt(member, QString(), strict))
                return property.schema.checkAt(member, at(), strict);
        }
    }
    if (value.isArray() && !m_items.isEmpty()) {
        const QJsonArray array = value.toArray();
        for (qsizetype i = 0; i < array.size(); ++i) {
            if (m_items.constFirst().checkAt(array.at(i), QString(), strict))
                return m_items.constFirst().checkAt(array.at(i), QStringLiteral("%1[%2]").arg(path).arg(i), strict);
        }
    }
    return std::nullopt;
}

} // namespace kerf
