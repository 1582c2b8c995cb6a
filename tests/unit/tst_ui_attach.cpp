// kerf-test: link=kerf_ui kerf_core
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/kerfservice.h"
#include "core/ipc/socketclient.h"
#include "core/ipc/socketserver.h"
#include "ui/timeline/timelineview.h"
#include "ui/viewmodel/profiledraft.h"
#include "ui/views/messagearea.h"
#include "ui/window/mainwindow.h"
#include "ui/window/shell.h"

#include <QCoroTask>

#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

using namespace kerf;

/// The console beside a running service, over a real socket.
class AttachTest : public QObject
{
    Q_OBJECT

    struct Service {
        std::shared_ptr<MethodHandler> handler;
        std::unique_ptr<SocketServer> server;
    };

    QTemporaryDir m_folder;

    QString path() const { return m_folder.filePath(QStringLiteral("kerf.sock")); }

    std::unique_ptr<Service> start()
    {
        auto service = std::make_unique<Service>();
        ServiceOptions options;
        options.dbPath = m_folder.filePath(QStringLiteral("kerf.db"));
        options.backend.spec = QStringLiteral("embedded");
        auto opened = QCoro::waitFor(openService(options));
        if (!opened)
            return nullptr;
        service->handler = *opened;
        service->server = std::make_unique<SocketServer>(path());
        if (!service->server->claim() || !service->server->listen(service->handler))
            return nullptr;
        return service;
    }

    static void stop(std::unique_ptr<Service> &service)
    {
        QSignalSpy stopped(service->server.get(), &SocketServer::stopped);
        service->server->stop();
        QTRY_COMPARE(stopped.count(), 1);
        service.reset();
    }

    void commit(const QString &text)
    {
        SocketClient other(path());
        const QJsonObject params{{QStringLiteral("session_id"), QStringLiteral("shared")},
                                 {QStringLiteral("role"), QStringLiteral("user")},
                                 {QStringLiteral("content"), text}};
        const auto answer = QCoro::waitFor(other.call(QStringLiteral("memory.commit_episode"), params));
        QVERIFY2(answer, answer ? "" : qPrintable(answer.error().message));
    }

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("kerf-test"));
        QCoreApplication::setApplicationName(QStringLiteral("kerf-test-attach"));
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        QSettings().clear();
        QVERIFY(QFile::setPermissions(m_folder.path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
    }

    void watchesLosesAndHeals()
    {
        auto service = start();
        QVERIFY(service);
        commit(QStringLiteral("first"));
        MainWindow window([](ConnectionSpec spec, std::function<void(ClientResult)> done) {
            auto client = std::make_shared<SocketClient>(spec.socketPath);
            client->start();
            client->subscribe();
            done(std::shared_ptr<ServiceClient>(client));
        });
        window.show();
        ConnectionSpec spec;
        spec.kind = ConnectionSpec::Kind::Service;
        spec.socketPath = path();
        window.open(spec);
        QTRY_COMPARE_WITH_TIMEOUT(window.state()->data().episodes.size(), 1, 20000);
        // A viewer until Operate is chosen.
        QVERIFY(window.windowTitle().contains(QLatin1String("[read only]")));
        QVERIFY(!window.action(QStringLiteral("plan"))->isVisible());
        // Another client's commit appears by its event: well before the next poll could bring it.
        QElapsedTimer clock;
        commit(QStringLiteral("second"));
        clock.start();
        QTRY_COMPARE_WITH_TIMEOUT(window.state()->data().episodes.size(), 2, 20000);
        QVERIFY2(clock.elapsed() < 1500, qPrintable(QString::number(clock.elapsed())));
        // A change of the profile elsewhere reaches the form.
        {
            SocketClient other(path());
            const QJsonObject params{{QStringLiteral("session_id"), QStringLiteral("shared")},
                                     {QStringLiteral("overrides"), QJsonObject{{QStringLiteral("target"), 0.2}}}};
            QVERIFY(QCoro::waitFor(other.call(QStringLiteral("profile.set"), params)));
        }
        QTRY_COMPARE_WITH_TIMEOUT(window.shell()->draft()->values().value(QLatin1String("target")).toDouble(), 0.2,
                                  20000);

        clock.restart();
        stop(service);
        QTRY_VERIFY_WITH_TIMEOUT(window.state()->picture().disconnected, 20000);
        QTRY_VERIFY(window.messages()->current());
        QCOMPARE(window.messages()->current()->kind, Message::Kind::Warning);
        QVERIFY(window.messages()->current()->title.contains(path()));
        QTRY_VERIFY_WITH_TIMEOUT(window.messages()->current()->text.contains(QLatin1String("next in")), 10000);
        QVERIFY(window.windowTitle().contains(QLatin1String("[disconnected]")));
        QCOMPARE(window.state()->data().episodes.size(), 2); // the last known state stays
        QVERIFY(!window.state()->picture().simulated || window.state()->data().doctor.simulated);

        service = start();
        QVERIFY(service);
        QTRY_VERIFY_WITH_TIMEOUT(!window.state()->picture().disconnected, 20000); // nobody pressed anything
        QTRY_VERIFY(!window.windowTitle().contains(QLatin1String("[disconnected]")));
        commit(QStringLiteral("third")); // and events come again
        QTRY_COMPARE_WITH_TIMEOUT(window.state()->data().episodes.size(), 3, 20000);
        window.action(QStringLiteral("operate"))->trigger();
        QVERIFY(window.action(QStringLiteral("plan"))->isVisible());
        window.controller()->disconnectClient();
        stop(service);
    }

    void nobodyThere()
    {
        MainWindow window([](ConnectionSpec spec, std::function<void(ClientResult)> done) {
            auto client = std::make_shared<SocketClient>(spec.socketPath);
            client->start();
            done(std::shared_ptr<ServiceClient>(client));
        });
        window.show();
        ConnectionSpec spec;
        spec.kind = ConnectionSpec::Kind::Service;
        spec.socketPath = m_folder.filePath(QStringLiteral("none.sock"));
        window.open(spec);
        QTRY_VERIFY(window.messages()->current());
        QVERIFY2(window.messages()->current()->text.contains(QLatin1String("kerfd serve")),
                 qPrintable(window.messages()->current()->text));
        QVERIFY(window.action(QStringLiteral("retry"))->isVisible());
    }
};

QTEST_MAIN(AttachTest)
#include "tst_ui_attach.moc"
