// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QCoroTask>

#include <QByteArray>
#include <QJsonObject>
#include <QList>
#include <QNetworkAccessManager>
#include <QPointer>
#include <QUrl>

namespace kerf {

/// What came back; status 0 = no answer, then `failure` and `error` say why.
struct HttpReply {
    /// Why there is no answer. A server that takes too long is alive; one that refuses the connection is not.
    enum class Failure { None, Refused, HostNotFound, Closed, Timeout, TooLarge, Cancelled, Other };
    int status = 0;
    QByteArray body;
    QString error; ///< in words; never the URL's user, never a header
    Failure failure = Failure::None;
    bool ok() const { return status >= 200 && status < 300; }
    bool timedOut() const { return failure == Failure::Timeout; }
    /// The server is there and loads its model.
    bool loading() const { return status == 503; }
    bool needsKey() const { return status == 401 || status == 403; }
    /// The body as a JSON object; empty if it is none.
    QJsonObject object() const;
    /// The server's own words: error.message of a JSON body, else the first line of the body, else the network error.
    QString message() const;
};

/// Requests to one server. The API key goes out as a bearer token to that server and nowhere else: a redirect to
/// another origin is not followed. One thread. An answer of more than 512 MiB is given up.
class HttpClient : public QObject
{
    Q_OBJECT
public:
    HttpClient(QUrl base, QString apiKey, QObject *parent = nullptr);

    QUrl base() const { return m_base; }
    /// Later requests go there.
    void setBase(const QUrl &base) { m_base = base; }
    /// Never fails: no whole answer within `limitMs` is a reply with status 0. Ends as Cancelled when the client goes
    /// away (one turn of the event loop later).
    QCoro::Task<HttpReply> get(QString path, int limitMs);
    QCoro::Task<HttpReply> post(QString path, QJsonObject body, int limitMs);
    /// Ends the requests whose path begins with this one, as Cancelled; the server may still carry them out.
    void cancel(const QString &pathPrefix);
    int pending() const;

private:
    QNetworkRequest request(const QString &path) const;
    void remember(QNetworkReply *reply, const QString &path);

    struct Running {
        QPointer<QNetworkReply> reply;
        QString path;
    };
    QUrl m_base;
    QString m_apiKey;
    QList<Running> m_running;
    QNetworkAccessManager m_network;
};

} // namespace kerf
