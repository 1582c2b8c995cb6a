// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/httpclient.h"

#include "core/llama/oneshot.h"

#include <QJsonDocument>
#include <QNetworkReply>
#include <QTimer>

#include <algorithm>

namespace kerf {

namespace {

constexpr qint64 kMostBytes = 512LL * 1024 * 1024;
constexpr char kWhy[] = "kerfWhy"; ///< why we ended a request ourselves: a HttpReply::Failure

void give(QNetworkReply *reply, HttpReply::Failure why)
{
    if (reply->property(kWhy).isValid() || reply->isFinished())
        return;
    reply->setProperty(kWhy, static_cast<int>(why));
    reply->abort();
}

HttpReply answerOf(QNetworkReply *reply, int limitMs)
{
    HttpReply answer;
    const QVariant why = reply->property(kWhy);
    if (why.isValid()) { // half an answer is none
        answer.failure = static_cast<HttpReply::Failure>(why.toInt());
        switch (answer.failure) {
        case HttpReply::Failure::Timeout:
            answer.error = QStringLiteral("no answer within %1 ms").arg(limitMs);
            break;
        case HttpReply::Failure::TooLarge:
            answer.error = QStringLiteral("the answer is larger than %1 MiB").arg(kMostBytes / (1024 * 1024));
            break;
        default:
            answer.error = QStringLiteral("cancelled");
        }
        return answer;
    }
    answer.status = reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    const QNetworkReply::NetworkError error = reply->error();
    if (answer.status != 0 && error != QNetworkReply::RemoteHostClosedError) {
        answer.body = reply->readAll();
        return answer;
    }
    answer.status = 0;
    switch (error) {
    case QNetworkReply::ConnectionRefusedError:
        answer.failure = HttpReply::Failure::Refused;
        answer.error = QStringLiteral("connection refused");
        break;
    case QNetworkReply::HostNotFoundError:
        answer.failure = HttpReply::Failure::HostNotFound;
        answer.error = QStringLiteral("host not found");
        break;
    case QNetworkReply::RemoteHostClosedError:
        answer.failure = HttpReply::Failure::Closed;
        answer.error = QStringLiteral("the server closed the connection");
        break;
    default:
        answer.failure = HttpReply::Failure::Other;
        answer.error = reply->errorString();
    }
    return answer;
}

/// A free function: nothing of the client is touched behind the wait.
QCoro::Task<HttpReply> finish(QNetworkReply *raw, int limitMs)
{
    const QPointer<QNetworkReply> reply(raw);
    // The whole answer has a limit; a server that sends a byte now and then does not hold us.
    QTimer::singleShot(limitMs, raw, [raw] { give(raw, HttpReply::Failure::Timeout); });
    const auto measure = [raw](qint64 done, qint64 total) {
        if (std::max(done, total) > kMostBytes)
            give(raw, HttpReply::Failure::TooLarge);
    };
    QObject::connect(raw, &QNetworkReply::downloadProgress, raw, measure);
    QObject::connect(raw, &QNetworkReply::metaDataChanged, raw,
                     [raw, measure] { measure(0, raw->header(QNetworkRequest::ContentLengthHeader).toLongLong()); });
    // Progress is told ten times a second at most, and not for the first bytes: the length that was announced counts at
    // once.
    QObject::connect(raw, &QNetworkReply::metaDataChanged, raw,
                     [raw, measure] { measure(0, raw->header(QNetworkRequest::ContentLengthHeader).toLongLong()); });
    if (!raw->isFinished()) {
        // The limit is the reply's own, above; this one is for a reply that never says that it was aborted.
        const std::chrono::milliseconds most(qint64(limitMs) + 5'000);
        co_await emittedWithin(raw, &QNetworkReply::finished, most);
    }
    HttpReply answer;
    if (!reply) {
        answer.failure = HttpReply::Failure::Cancelled;
        answer.error = QStringLiteral("cancelled");
        co_return answer;
    }
    answer = answerOf(reply, limitMs);
    reply->deleteLater();
    co_return answer;
}

} // namespace

QJsonObject HttpReply::object() const { return QJsonDocument::fromJson(body).object(); }

QString HttpReply::message() const
{
    if (status == 0)
        return error;
    const QJsonValue inner = object().value(QStringLiteral("error"));
    const QString told =
        inner.isObject() ? inner.toObject().value(QStringLiteral("message")).toString() : inner.toString();
    if (!told.isEmpty())
        return told;
    const QString line = QString::fromUtf8(body.left(200)).trimmed().section(QLatin1Char('\n'), 0, 0).trimmed();
    return line.isEmpty() && !ok() ? QStringLiteral("HTTP %1").arg(status) : line;
}

HttpClient::HttpClient(QUrl base, QString apiKey, QObject *parent)
    : QObject(parent)
    , m_base(std::move(base))
    , m_apiKey(std::move(apiKey))
{
    m_network.setRedirectPolicy(QNetworkRequest::SameOriginRedirectPolicy);
    // Cookies and caches have no business here.
    m_network.setAutoDeleteReplies(false);
}

QNetworkRequest HttpClient::request(const QString &path) const
{
    QUrl url = m_base;
    const qsizetype question = path.indexOf(QLatin1Char('?'));
    QString prefix = url.path();
    while (prefix.endsWith(QLatin1Char('/')))
        prefix.chop(1);
    url.setPath(prefix + (question < 0 ? path : path.left(question)));
    if (question >= 0)
        url.setQuery(path.mid(question + 1));
    QNetworkRequest request(url);
    request.setAttribute(QNetworkRequest::CookieLoadControlAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::CookieSaveControlAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::CacheLoadControlAttribute, QNetworkRequest::AlwaysNetwork);
    if (!m_apiKey.isEmpty())
        request.setRawHeader("Authorization", "Bearer " + m_apiKey.toUtf8());
    return request;
}

void HttpClient::remember(QNetworkReply *reply, const QString &path)
{
    m_running.removeIf([](const Running &running) { return !running.reply || running.reply->isFinished(); });
    m_running.append({reply, path});
}

int HttpClient::pending() const
{
    return static_cast<int>(std::count_if(m_running.cbegin(), m_running.cend(), [](const Running &running) {
        return running.reply && !running.reply->isFinished();
    }));
}

void HttpClient::cancel(const QString &pathPrefix)
{
    const QList<Running> running = m_running; // aborting resumes whoever waits, and that may start new requests
    for (const Running &one : running) {
        if (one.reply && one.path.startsWith(pathPrefix))
            give(one.reply, HttpReply::Failure::Cancelled);
    }
}

QCoro::Task<HttpReply> HttpClient::get(QString path, int limitMs)
{
    QNetworkReply *reply = m_network.get(request(path));
    remember(reply, path);
    return finish(reply, limitMs);
}

QCoro::Task<HttpReply> HttpClient::post(QString path, QJsonObject body, int limitMs)
{
    QNetworkRequest outgoing = request(path);
    outgoing.setHeader(QNetworkRequest::ContentTypeHeader, QStringLiteral("application/json"));
    QNetworkReply *reply = m_network.post(outgoing, QJsonDocument(body).toJson(QJsonDocument::Compact));
    remember(reply, path);
    return finish(reply, limitMs);
}

} // namespace kerf
