// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/console/enginehost.h"
#include "app/console/harness.h"
#include "app/console/prober.h"
#include "app/serve.h"
#include "app/serviceoptions.h"
#include "core/base/translations.h"
#include "core/ipc/socketclient.h"
#include "core/ipc/socketpath.h"
#include "ui/window/appsettings.h"
#include "ui/window/mainwindow.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QCoroTask>
#include <QProcess>
#include <QSettings>

#include <cstdio>

namespace kerf {

namespace {

struct ConsoleOptions {
    QString theme;
    bool connects = false; ///< the command line says to what; else the start page
    bool attach = false;
    QString socket;
    ServiceOptions service; ///< as given; the connection dialog may name another backend
};

/// The demo's conversation is held once its engine stands; it ends with the client.
void playDemo(const std::shared_ptr<ServiceClient> &client)
{
    auto *harness = new Harness(client.get(), client.get()); // goes with the client
    Harness::Script script;
    script.title = QObject::tr("Demo");
    script.turns = 46;
    const QPointer<ServiceClient> there(client.get());
    auto task =
        harness->run(script, [there](QString sessionId, QJsonObject assembled) -> QCoro::Task<Result<QJsonObject>> {
            return Harness::simulate(there, std::move(sessionId), std::move(assembled));
        });
    QCoro::connect(std::move(task), harness, [harness](const Result<void> &) { harness->deleteLater(); });
}

ClientOpener makeOpener(const ConsoleOptions &options)
{
    return [options](ConnectionSpec spec, std::function<void(ClientResult)> done) {
        if (spec.kind == ConnectionSpec::Kind::Service) {
            const Result<QString> path = socketPath(spec.socketPath);
            if (!path) {
                done(std::unexpected(path.error()));
                return;
            }
            auto client = std::make_shared<SocketClient>(*path);
            client->start();
            client->subscribe();
            done(std::shared_ptr<ServiceClient>(client));
            return;
        }
        ServiceOptions service = options.service;
        const bool embedded = spec.kind == ConnectionSpec::Kind::Embedded;
        const bool demo = embedded && service.dbPath.isEmpty();
        if (service.dbPath.isEmpty())
            service.dbPath = demo ? QStringLiteral(":memory:") : defaultDatabase();
        service.backend.spec = embedded ? QStringLiteral("embedded") : spec.url;
        if (!spec.apiKey.isEmpty())
            service.backend.apiKey = spec.apiKey;
        if (!spec.logFile.isEmpty())
            service.backend.logFile = spec.logFile;
        if (!spec.launchCommand.isEmpty())
            service.backend.launchCommand = QProcess::splitCommand(spec.launchCommand);
        if (spec.limitMs > 0)
            service.backend.probeTimeoutMs = spec.limitMs;
        openEngine(service, true, options.socket, [done, demo](Result<HostedEngine> engine) {
            if (!engine) {
                done(std::unexpected(engine.error()));
                return;
            }
            if (demo)
                playDemo(engine->client);
            done(engine->client);
        });
    };
}

bool wantsHeadless(int argc, char **argv)
{
    for (int i = 1; i < argc; ++i) {
        if (qstrcmp(argv[i], "--headless") == 0)
            return true;
    }
    return false;
}

} // namespace

/// `kerf`: the window, or with --headless the service alone (decided before any application object is made).
int runConsole(int argc, char **argv)
{
    QCoreApplication::setApplicationName(QStringLiteral("kerf"));
    QCoreApplication::setOrganizationName(QStringLiteral("kerf"));
    QCoreApplication::setApplicationVersion(QStringLiteral(KERF_VERSION));
    if (wantsHeadless(argc, argv)) {
        QCoreApplication app(argc, argv);
        QStringList arguments = app.arguments().mid(1);
        arguments.removeAll(QStringLiteral("--headless"));
        return runServe(app, arguments);
    }
    QApplication app(argc, argv);
    QGuiApplication::setDesktopFileName(QStringLiteral("org.kerf.Kerf"));
    const QString language = AppSettings::load().language;
    installTranslations(app, language.isEmpty() ? QLocale() : QLocale(language));
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/kerf/icons/kerf.svg")));

    QCommandLineParser parser;
    parser.setApplicationDescription(QCoreApplication::translate(
        "main",
        "Shows and decides where a conversation may be cut so that an inference server's KV cache still matches."));
    parser.addHelpOption();
    parser.addVersionOption();
    const QCommandLineOption theme(QStringLiteral("theme"),
                                   QCoreApplication::translate("main", "Colours: light, dark or system."),
                                   QStringLiteral("name"));
    const QCommandLineOption socket(QStringLiteral("socket"),
                                    QCoreApplication::translate("main", "Socket to serve, or to attach to."),
                                    QStringLiteral("path"));
    const QCommandLineOption attach(
        QStringLiteral("attach"),
        QCoreApplication::translate("main", "Attach to a running service; its socket may follow."));
    const QCommandLineOption headless(QStringLiteral("headless"),
                                      QCoreApplication::translate("main", "No window: the same as kerfd serve."));
    parser.addOptions({theme, socket, attach, headless});
    addServiceOptions(parser, false);
    parser.addPositionalArgument(QStringLiteral("socket"),
                                 QCoreApplication::translate("main", "With --attach: the socket."),
                                 QStringLiteral("[socket]"));
    parser.process(app);

    ConsoleOptions options;
    options.theme = parser.value(theme);
    options.attach = parser.isSet(attach);
    options.socket = parser.value(socket);
    const auto usage = [](const QString &text) {
        std::fprintf(stderr, "%s\n", qPrintable(text));
        return 2;
    };
    const QStringList rest = parser.positionalArguments();
    if (options.attach && rest.size() == 1)
        options.socket = rest.first();
    else if (!rest.isEmpty())
        return usage(QCoreApplication::translate("main", "Unexpected argument: %1").arg(rest.last()));
    const Result<ServiceOptions> service = serviceOptions(parser);
    if (!service)
        return usage(service.error().message);
    options.service = *service;
    options.connects = namesOwnService(parser);
    if (!options.theme.isEmpty() && !themeFromName(options.theme))
        return usage(
            QCoreApplication::translate("main", "--theme: must be light, dark or system, not %1").arg(options.theme));

    int code = 0;
    const AppSettings settings = AppSettings::load();
    {
        MainWindow console(makeOpener(options));
        console.setProber(makeProber());
        console.setKeyRing(KeyRing::system());
        const QString wanted = options.theme.isEmpty()
            ? QSettings().value(QStringLiteral("appearance/theme"), QStringLiteral("system")).toString()
            : options.theme;
        if (const auto choice = themeFromName(wanted); choice && *choice != ThemeChoice::System)
            console.setTheme(*choice);
        else if (QAction *system = console.action(QStringLiteral("theme-system")))
            system->setChecked(true);
        console.show();
        if (options.attach)
            console.open(ConnectionSpec{ConnectionSpec::Kind::Service, {}, {}, {}, options.socket});
        else if (options.connects && options.service.backend.spec == QLatin1String("embedded"))
            console.open(ConnectionSpec{});
        else if (options.connects)
            console.open(ConnectionSpec{ConnectionSpec::Kind::Server, options.service.backend.spec, {}, {}, {}});
        else if (const auto recent = ConnectionStore::recent();
                 settings.start == AppSettings::Start::Last && !recent.isEmpty())
            console.openSaved(recent.first());
        else if (settings.start == AppSettings::Start::Demo
                 || (recent.isEmpty() && !QSettings().contains(QStringLiteral("general/start"))))
            console.open(ConnectionSpec{}); // nothing is configured: the embedded demo shows what there is to see
        code = QApplication::exec();
    }
    waitForEngines();
    return code;
}

} // namespace kerf

int main(int argc, char **argv) { return kerf::runConsole(argc, argv); }
