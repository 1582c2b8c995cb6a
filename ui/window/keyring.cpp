// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/keyring.h"

#include <qt6keychain/keychain.h>

#include <QCoreApplication>

namespace kerf {

namespace {

QString serviceName() { return QStringLiteral("kerf"); }

QString words(const QKeychain::Job &job)
{
    switch (job.error()) {
    case QKeychain::NoError:
        return {};
    case QKeychain::EntryNotFound:
        return QCoreApplication::translate("KeyRing", "The keyring has no key for this server.");
    case QKeychain::AccessDeniedByUser:
    case QKeychain::AccessDenied:
        return QCoreApplication::translate("KeyRing", "The keyring was not opened.");
    case QKeychain::NoBackendAvailable:
    case QKeychain::NotImplemented:
        return QCoreApplication::translate("KeyRing",
                                           "There is no keyring on this system: the key is asked for each time.");
    default:
        return QCoreApplication::translate("KeyRing", "The keyring says: %1").arg(job.errorString());
    }
}

class SystemKeyRing : public KeyRing
{
public:
    void write(const QString &id, const QString &key, std::function<void(const QString &)> done) override
    {
        auto *job = new QKeychain::WritePasswordJob(serviceName());
        job->setInsecureFallback(false); // never a file
        job->setKey(id);
        job->setTextData(key);
        QObject::connect(job, &QKeychain::Job::finished, [done](QKeychain::Job *ended) { done(words(*ended)); });
        job->start();
    }
    void read(const QString &id, std::function<void(const QString &, const QString &)> done) override
    {
        auto *job = new QKeychain::ReadPasswordJob(serviceName());
        job->setInsecureFallback(false);
        job->setKey(id);
        QObject::connect(job, &QKeychain::Job::finished, [done](QKeychain::Job *ended) {
            done(static_cast<QKeychain::ReadPasswordJob *>(ended)->textData(), words(*ended));
        });
        job->start();
    }
    void remove(const QString &id) override
    {
        auto *job = new QKeychain::DeletePasswordJob(serviceName());
        job->setInsecureFallback(false);
        job->setKey(id);
        job->start();
    }
};

} // namespace

KeyRing *KeyRing::system()
{
    static SystemKeyRing ring;
    return &ring;
}

} // namespace kerf
