// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QJsonArray>
#include <QJsonObject>
#include <QList>
#include <QString>

#include <optional>

namespace kerf {

/// The part of JSON Schema that the tool table uses: type (one or several), required, properties, enum, minimum,
/// maximum, minLength, items. Compiled once, so that a check of a small object costs little.
class Schema
{
public:
    enum Type : quint8 { String = 1, Number = 2, Integer = 4, Boolean = 8, Object = 16, Array = 32, Null = 64 };

    static Schema fromJson(const QJsonObject &schema);

    /// What is wrong, naming the field ("role: must be ..."); nullopt = nothing. An optional property that is null
    /// counts as absent, as clients that serialise every field send it, unless `strict`.
    std::optional<QString> check(const QJsonValue &value, bool strict = false) const
    {
        return checkAt(value, QString(), strict);
    }
    bool hasProperty(const QString &name) const;

private:
    struct Property;
    std::optional<QString> checkAt(const QJsonValue &value, const QString &path, bool strict) const;

    int m_types = 0; ///< 0 = any
    QList<Property> m_properties;
    QList<Schema> m_items; ///< none or one
    QJsonArray m_enum;
    std::optional<double> m_minimum;
    std::optional<double> m_maximum;
    int m_minLength = 0;
};

struct Schema::Property {
    QString name;
    Schema schema;
    bool required = false;
};

} // namespace kerf
