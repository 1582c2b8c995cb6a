// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/transcript/transcript.h"

#include <QBuffer>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>

namespace kerf {

namespace {

constexpr qint64 kLongestLine = 64LL * 1024 * 1024;
constexpr qint64 kLargestDocument = 512LL * 1024 * 1024;

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// One message in OpenAI's shape; an empty object and a reason where it is none.
QJsonObject messageOf(const QJsonObject &raw, QString *why)
{
    QString role = raw.value(QStringLiteral("role")).toString();
    if (role == QLatin1String("developer"))
        role = QStringLiteral("system");
    else if (role == QLatin1String("function"))
        role = QStringLiteral("tool");
    else if (role == QLatin1String("human"))
        role = QStringLiteral("user");
    else if (role == QLatin1String("ai") || role == QLatin1String("gpt"))
        role = QStringLiteral("assistant");
    if (role != QLatin1String("system") && role != QLatin1String("user") && role != QLatin1String("assistant")
        && role != QLatin1String("tool")) {
        *why =
            role.isEmpty() ? QStringLiteral("no role") : QStringLiteral("role \"%1\" is not known").arg(role.left(40));
        return {};
    }
    const QJsonValue content = raw.value(QStringLiteral("content"));
    const QJsonArray calls = raw.value(QStringLiteral("tool_calls")).toArray();
    if (!content.isString() && !content.isArray() && !(content.isNull() || content.isUndefined())) {
        *why = QStringLiteral("content is neither text nor parts");
        return {};
    }
    if ((content.isNull() || content.isUndefined()) && calls.isEmpty()) {
        *why = QStringLiteral("no content and no tool calls");
        return {};
    }
    QJsonObject message{{QStringLiteral("role"), role}};
    message.insert(QStringLiteral("content"), content.isUndefined() ? QJsonValue(QJsonValue::Null) : content);
    if (!calls.isEmpty())
        message.insert(QStringLiteral("tool_calls"), calls);
    QJsonValue callId = raw.value(QStringLiteral("tool_call_id"));
    if (callId.isUndefined()) // SWE-agent keeps a list
        callId = raw.value(QStringLiteral("tool_call_ids")).toArray().first();
    if (callId.isString())
        message.insert(QStringLiteral("tool_call_id"), callId);
    for (const char *field : {"name", "reasoning_content"}) {
        const QJsonValue value = raw.value(QLatin1String(field));
        if (value.isString())
            message.insert(QLatin1String(field), value);
    }
    return message;
}

void addMessages(Transcript &transcript, const QJsonArray &rows)
{
    for (qsizetype i = 0; i < rows.size(); ++i) {
        QString why = QStringLiteral("not an object");
        const QJsonObject message = rows.at(i).isObject() ? messageOf(rows.at(i).toObject(), &why) : QJsonObject();
        if (message.isEmpty())
            transcript.skipped.append({i + 1, why});
        else
            transcript.messages.append(message);
    }
}

void finish(Transcript &transcript)
{
    if (transcript.messages.isEmpty())
        return;
    if (transcript.messages.constFirst().value(QStringLiteral("role")).toString() != QLatin1String("system"))
        transcript.notes.append(QStringLiteral("history only: the file has no system prompt"));
    if (transcript.tools.isEmpty()) {
        for (const QJsonObject &message : std::as_const(transcript.messages)) {
            if (message.contains(QStringLiteral("tool_calls"))) {
                transcript.notes.append(
                    QStringLiteral("the file has tool calls but no tool schemas: positions are those without them"));
                break;
            }
        }
    }
}

Transcript fromRows(const QJsonArray &rows, const QString &format, const QString &title, const QJsonArray &tools = {})
{
    Transcript transcript;
    transcript.format = format;
    transcript.title = title;
    transcript.tools = tools;
    addMessages(transcript, rows);
    finish(transcript);
    return transcript;
}

/// The prompt of the last step is the conversation as it was sent; `history` is what the agent kept.
Transcript fromTrajectory(const QJsonObject &object, const QString &title)
{
    const QJsonArray history = object.value(QStringLiteral("history")).toArray();
    if (!history.isEmpty())
        return fromRows(history, QStringLiteral("swe-agent"), title);
    QJsonArray rows;
    const QJsonArray steps = object.value(QStringLiteral("trajectory")).toArray();
    for (const QJsonValue &step : steps) {
        for (const char *field : {"messages", "query"}) {
            const QJsonArray prompt = step.toObject().value(QLatin1String(field)).toArray();
            if (prompt.size() > rows.size())
                rows = prompt;
        }
    }
    return fromRows(rows, QStringLiteral("swe-agent"), title);
}

bool looksLikeMessages(const QJsonArray &rows)
{
    for (const QJsonValue &row : rows) {
        if (row.toObject().contains(QStringLiteral("role")))
            return true;
    }
    return false;
}

Result<QList<Transcript>> fromDocument(const QJsonDocument &document, const QString &name)
{
    QList<Transcript> list;
    if (document.isObject()) {
        const QJsonObject object = document.object();
        if (object.value(QStringLiteral("trajectory")).isArray() || object.value(QStringLiteral("history")).isArray()) {
            list.append(fromTrajectory(object, name));
        } else if (object.value(QStringLiteral("messages")).isArray()) {
            const bool mini = object.value(QStringLiteral("trajectory_format"))
                                  .toString()
                                  .startsWith(QLatin1String("mini-swe-agent"));
            list.append(fromRows(object.value(QStringLiteral("messages")).toArray(),
                                 mini                                           ? QStringLiteral("mini-swe-agent")
                                     : object.contains(QStringLiteral("model")) ? QStringLiteral("request-body")
                                                                                : QStringLiteral("openai-messages"),
                                 name, object.value(QStringLiteral("tools")).toArray()));
        } else if (object.value(QStringLiteral("body")).toObject().value(QStringLiteral("messages")).isArray()) {
            const QJsonObject body = object.value(QStringLiteral("body")).toObject();
            list.append(fromRows(body.value(QStringLiteral("messages")).toArray(), QStringLiteral("request-body"), name,
                                 body.value(QStringLiteral("tools")).toArray()));
        }
    } else if (document.isArray()) {
        const QJsonArray rows = document.array();
        if (looksLikeMessages(rows)) {
            list.append(fromRows(rows, QStringLiteral("openai-messages"), name));
        } else {
            for (qsizetype i = 0; i < rows.size(); ++i) {
                const QJsonObject record = rows.at(i).toObject();
                const QString title = QStringLiteral("%1 [%2]").arg(name).arg(i + 1);
                for (const char *field : {"traj", "messages"}) {
                    if (record.value(QLatin1String(field)).isArray()) {
                        list.append(fromRows(record.value(QLatin1String(field)).toArray(),
                                             QStringLiteral("openai-messages"), title,
                                             record.value(QStringLiteral("tools")).toArray()));
                        break;
                    }
                }
            }
        }
    }
    list.removeIf([](const Transcript &transcript) { return transcript.messages.isEmpty(); });
    if (list.isEmpty())
        return failure(Error::Code::Failed,
                       QStringLiteral("%1: no message list and no SWE-agent trajectory").arg(name));
    return list;
}

/// One document a line: a message, a conversation, or a recorded request.
Result<QList<Transcript>> fromLines(QIODevice &device, const QString &name)
{
    Transcript talk;
    talk.format = QStringLiteral("openai-jsonl");
    talk.title = name;
    QList<Transcript> list;
    QList<SkippedLine> skipped;
    qint64 number = 0;
    while (!device.atEnd()) {
        QByteArray line = device.readLine(kLongestLine);
        ++number;
        if (line.size() >= kLongestLine - 1 && !line.endsWith('\n')) {
            while (!device.atEnd() && !line.endsWith('\n'))
                line = device.readLine(kLongestLine); // the rest of it
            skipped.append({number, QStringLiteral("longer than %1 bytes").arg(kLongestLine)});
            continue;
        }
        const bool whole = line.endsWith('\n');
        line = line.trimmed();
        if (line.isEmpty())
            continue;
        QJsonParseError error;
        const QJsonDocument document = QJsonDocument::fromJson(line, &error);
        if (!document.isObject()) {
            skipped.append(
                {number,
                 whole ? QStringLiteral("no JSON object: %1 at byte %2").arg(error.errorString()).arg(error.offset)
                       : QStringLiteral("the last line is not complete")});
            continue;
        }
        const QJsonObject object = document.object();
        const QJsonObject body =
            object.contains(QStringLiteral("body")) ? object.value(QStringLiteral("body")).toObject() : object;
        if (body.value(QStringLiteral("messages")).isArray()) {
            list.append(fromRows(body.value(QStringLiteral("messages")).toArray(),
                                 object.contains(QStringLiteral("body")) ? QStringLiteral("request-body")
                                                                         : QStringLiteral("openai-jsonl"),
                                 QStringLiteral("%1:%2").arg(name).arg(number),
                                 body.value(QStringLiteral("tools")).toArray()));
            continue;
        }
        QString why;
        const QJsonObject message = messageOf(object, &why);
        if (message.isEmpty())
            skipped.append({number, why});
        else
            talk.messages.append(message);
    }
    if (!talk.messages.isEmpty()) {
        finish(talk);
        list.prepend(talk);
    }
    list.removeIf([](const Transcript &transcript) { return transcript.messages.isEmpty(); });
    if (list.isEmpty())
        return failure(
            Error::Code::Failed,
            QStringLiteral("%1: no line is a message, a conversation or a recorded request (%2 lines skipped)")
                .arg(name)
                .arg(skipped.size()));
    list.first().skipped = skipped + list.constFirst().skipped;
    return list;
}

Result<QList<Transcript>> fromDevice(QIODevice &device, const QString &name)
{
    if (device.peek(3) == QByteArray("\xef\xbb\xbf"))
        device.skip(3);
    const QByteArray head = device.peek(64 * 1024);
    qsizetype i = 0;
    while (i < head.size() && isSpace(head.at(i)))
        ++i;
    if (i >= head.size())
        return failure(Error::Code::Failed, QStringLiteral("%1 is empty").arg(name));
    // The first line is a complete object and more follow: JSON Lines. Else one document.
    if (head.at(i) == '{') {
        const qsizetype end = head.indexOf('\n', i);
        const bool more = end > 0 && !head.mid(end).trimmed().isEmpty();
        const bool cut = end < 0 && device.size() > head.size(); // the first line is longer than what was looked at
        if ((more && QJsonDocument::fromJson(head.mid(i, end - i)).isObject()) || (cut && [&] {
                const qint64 at = device.pos();
                const QByteArray first = device.readLine(kLongestLine);
                const bool lines = QJsonDocument::fromJson(first).isObject() && !device.atEnd();
                device.seek(at);
                return lines;
            }()))
            return fromLines(device, name);
    } else if (head.at(i) != '[') {
        return failure(Error::Code::Failed, QStringLiteral("%1 is neither JSON nor JSON Lines").arg(name));
    }
    if (device.size() > kLargestDocument)
        return failure(Error::Code::TooLarge,
                       QStringLiteral("%1: one JSON document of %2 bytes, the limit is %3")
                           .arg(name)
                           .arg(device.size())
                           .arg(kLargestDocument));
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(device.readAll(), &error);
    if (document.isNull())
        return failure(
            Error::Code::Failed,
            QStringLiteral("%1 is cut off or damaged: %2 at byte %3").arg(name, error.errorString()).arg(error.offset));
    return fromDocument(document, name);
}

} // namespace

Result<QList<Transcript>> readTranscripts(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return failure(Error::Code::NotFound, QStringLiteral("%1: %2").arg(path, file.errorString()));
    return fromDevice(file, QFileInfo(path).fileName());
}

Result<QList<Transcript>> parseTranscripts(QByteArray bytes, const QString &name)
{
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::ReadOnly);
    return fromDevice(buffer, name);
}

} // namespace kerf
