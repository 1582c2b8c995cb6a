// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ipc/toolindex.h"

#include <QHash>
#include <QJsonDocument>

namespace kerf {

namespace {

/// What is let through beyond what is listed: slot_id as a decimal string (PROTOCOL.md, "Types").
QJsonObject accepted(QJsonObject input)
{
    QJsonObject properties = input.value(QLatin1String("properties")).toObject();
    QJsonObject slot = properties.value(QLatin1String("slot_id")).toObject();
    if (slot.isEmpty())
        return input;
    slot.insert(QStringLiteral("type"), QJsonArray{QStringLiteral("integer"), QStringLiteral("string")});
    properties.insert(QStringLiteral("slot_id"), slot);
    input.insert(QStringLiteral("properties"), properties);
    return input;
}

struct Index {
    QList<Tool> tools;
    QHash<QString, const Tool *> byName;
    QJsonArray core;
    QJsonArray all;

    Index()
    {
        const QList<ToolInfo> &table = toolTable();
        tools.reserve(table.size());
        for (const ToolInfo &info : table) {
            Tool tool;
            tool.info = &info;
            tool.name = QString::fromLatin1(info.name);
            const QJsonObject input = QJsonDocument::fromJson(QByteArray(info.inputSchema)).object();
            const QJsonObject output = QJsonDocument::fromJson(QByteArray(info.outputSchema)).object();
            Q_ASSERT(!input.isEmpty() && !output.isEmpty());
            tool.input = Schema::fromJson(accepted(input));
            // A profile can be the service's, without a session.
            tool.needsSession = tool.input.hasProperty(QStringLiteral("session_id"))
                && !tool.name.startsWith(QLatin1String("profile."));
            tool.listed = QJsonObject{
                {QStringLiteral("name"), tool.name},
                {QStringLiteral("title"), QString::fromLatin1(info.title)},
                {QStringLiteral("description"), QString::fromLatin1(info.description)},
                {QStringLiteral("inputSchema"), input},
                {QStringLiteral("outputSchema"), output},
                // Evicting is no loss: every episode stays in the store, so nothing here is destructive.
                {QStringLiteral("annotations"),
                 QJsonObject{{QStringLiteral("readOnlyHint"), info.readOnly},
                             {QStringLiteral("destructiveHint"), false},
                             {QStringLiteral("idempotentHint"), info.idempotent},
                             {QStringLiteral("openWorldHint"), false}}},
            };
            all.append(tool.listed);
            if (info.core)
                core.append(tool.listed);
            tools.append(tool);
        }
        for (const Tool &tool : std::as_const(tools))
            byName.insert(tool.name, &tool);
        byName.insert(QStringLiteral("sakur4.status"), byName.value(QStringLiteral("kerf.status")));
    }
};

const Index &index()
{
    static const Index table;
    return table;
}

} // namespace

const Tool *findTool(const QString &name) { return index().byName.value(name, nullptr); }

const QJsonArray &listedTools(bool coreOnly) { return coreOnly ? index().core : index().all; }

} // namespace kerf
