// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QCoroTask>

#include <QByteArray>
#include <QJsonObject>
#include <QNetworkAccessManager>
#include <QUrl>

namespace kerf {

/// What came back; status 0 = no answer, then `error` says why.
struct HttpReply {
    int status = 0;
    QByteArray body;
    QString error;
    bool timedOut = false;
    bool ok() const { return status >= 200 && status < 300; }
    QJsonObject object() const;
    /// The server's own words: error.message of a JSON body, else the first line of the body, else the network error.
    QString message() const;
};

/// Requests to one server. The API key goes out as a bearer token and nowhere else. One thread.
class HttpClient : public QObject
{
    Q_OBJECT
public:
    HttpClient(QUrl base, QString apiKey, QObject *parent = nullptr);

    QUrl base() const { return m_base; }
    /// Never fails: no answer within `limitMs` is a reply with status 0.
    QCoro::Task<HttpReply> get(QString path, int limitMs);
    QCoro::Task<HttpReply> post(QString path, QJsonObject body, int limitMs);

private:
    QCoro::Task<HttpReply> finish(QNetworkReply *reply, int limitMs);
    QNetworkRequest request(const QString &path) const;

    QUrl m_base;
    QString m_apiKey;
    QNetworkAccessManager m_network;
};

} // namespace kerf
