// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/httpclient.h"

#include <QCoroNetworkReply>

#include <QJsonDocument>
#include <QNetworkReply>
#include <QPointer>
#include <QTimer>

namespace kerf {

namespace {
constexpr qint64 kMostBytes = 512LL * 1024 * 1024;
}

QJsonObject HttpReply::object() const
{
    return QJsonDocument::fromJson(body).object();
}

QString HttpReply::message() const
{
    if (status == 0)
        return error;
    const QJsonValue inner = object().value(QStringLiteral("error"));
    const QString told = inner.isObject() ? inner.toObject().value(QStringLiteral("message")).toString() : inner.toString();
    if (!told.isEmpty())
        return told;
    return QString::fromUtf8(body.left(200)).section(QLatin1Char('\n'), 0, 0).trimmed();
}

HttpClient::HttpClient(QUrl base, QString apiKey, QObject *parent)
    : QObject(parent)
    , m_base(std::move(base))
    , m_apiKey(std::move(apiKey))
{
    m_network.setRedirectPolicy(QNetworkRequest::SameOriginRedirectPolicy);
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
    if (!m_apiKey.isEmpty())
        request.setRawHeader("Authorization", "Bearer " + m_apiKey.toUtf8());
    return request;
}

QCoro::Task<HttpReply> HttpClient::get(QString path, int limitMs)
{
    co_return co_await finish(m_network.get(request(path)), limitMs);
}

QCoro::Task<HttpReply> HttpClient::post(QString path, QJsonObject body, int limitMs)
{
    QNetworkRequest outgoing = request(path);
    outgoing.setHeader(QNetworkRequest::ContentTypeHeader, QStringLiteral("application/json"));
    co_return co_await finish(m_network.post(outgoing, QJsonDocument(body).toJson(QJsonDocument::Compact)), limitMs);
}

QCoro::Task<HttpReply> HttpClient::finish(QNetworkReply *raw, int limitMs)
{
    const QPointer<QNetworkReply> reply(raw);
    // The whole answer has a limit; a server that sends a byte now and then does not hold us.
    auto *timer = new QTimer(raw);
    timer->setSingleShot(true);
    QObject::connect(timer, &QTimer::timeout, raw, [raw] {
        raw->setProperty("timedOut", true);
        raw->abort();
    });
    QObject::connect(raw, &QNetworkReply::downloadProgress, raw, [raw](qint64 received, qint64) {
        if (received > kMostBytes)
            raw->abort();
    });
    timer->start(limitMs);
    co_await raw;
    HttpReply answer;
    if (!reply) {
        answer.error = QStringLiteral("cancelled");
        co_return answer;
    }
    answer.timedOut = reply->property("timedOut").toBool();
    answer.status = reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    if (answer.timedOut) {
        answer.status = 0;
        answer.error = QStringLiteral("no answer within %1 ms").arg(limitMs);
    } else {
        answer.body = reply->readAll();
        if (answer.status == 0) {
            switch (reply->error()) {
            case QNetworkReply::ConnectionRefusedError:
                answer.error = QStringLiteral("connection refused");
                break;
            case QNetworkReply::HostNotFoundError:
                answer.error = QStringLiteral("host not found");
                break;
            case QNetworkReply::RemoteHostClosedError:
                answer.error = QStringLiteral("the server closed the connection");
                break;
            default:
                answer.error = reply->errorString();
            }
        }
    }
    reply->deleteLater();
    co_return answer;
}

} // namespace kerf
