// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// Makes pictures of the console: kerf_gallery OUTDIR
//
// Holds a conversation with a llama-server that it starts itself (KERF_LLAMA_SERVER = the program, KERF_MODELS = a
// folder with gemma3.gguf and others), through the real engine, until a few compactions have been settled; then one
// with the embedded server. Each is rendered light and dark, at 1x and 2x. Without a server only the embedded one.

#include "app/console/enginehost.h"
#include "app/console/harness.h"
#include "tests/gallery/serverpages.h"
#include "tests/gallery/shellshots.h"
#include "ui/ring/checkpointring.h"
#include "ui/theme/theme.h"
#include "ui/timeline/timelineview.h"
#include "ui/viewmodel/whatif.h"
#include "ui/views/prefillchart.h"
#include "ui/views/receiptview.h"
#include "ui/views/retainedprefixview.h"
#include "ui/views/verdictstrip.h"
#include "ui/window/connectiondialog.h"
#include "ui/window/mainwindow.h"
#include "ui/window/whatifdocks.h"

#include <QApplication>
#include <QCoroNetwork>
#include <QCoroTask>
#include <QDir>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QProcess>
#include <QRandomGenerator>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTranslator>

#include <cstdio>
#include <optional>

using namespace kerf;

namespace {

/// Sends a chat request as a harness does.
class ChatSender : public QObject
{
public:
    explicit ChatSender(QString url)
        : m_url(std::move(url))
    {
    }

    QCoro::Task<Result<QJsonObject>> send(QString sessionId, QJsonObject assembled)
    {
        Q_UNUSED(sessionId)
        QNetworkReply *reply = post(assembled);
        co_await reply;
        const QByteArray bytes = reply->readAll();
        const bool failed = reply->error() != QNetworkReply::NoError;
        const QString problem = reply->errorString();
        reply->deleteLater();
        if (failed)
            co_return failure(Error::Code::Failed,
                              QStringLiteral("chat: %1 %2").arg(problem, QString::fromUtf8(bytes)));
        const QJsonObject result = timingsOf(bytes);
        co_return result;
    }

private:
    QNetworkReply *post(const QJsonObject &assembled)
    {
        QJsonObject body{{QStringLiteral("messages"), assembled.value(QLatin1String("messages"))},
                         {QStringLiteral("max_tokens"), 24},
                         {QStringLiteral("temperature"), 0},
                         {QStringLiteral("cache_prompt"), true}};
        if (!assembled.value(QLatin1String("tools")).toArray().isEmpty())
            body.insert(QStringLiteral("tools"), assembled.value(QLatin1String("tools")));
        QNetworkRequest request(QUrl(m_url + QStringLiteral("/v1/chat/completions")));
        request.setHeader(QNetworkRequest::ContentTypeHeader, QStringLiteral("application/json"));
        request.setTransferTimeout(120000);
        return m_network.post(request, QJsonDocument(body).toJson(QJsonDocument::Compact));
    }
    static QJsonObject timingsOf(const QByteArray &bytes)
    {
        const QJsonObject answer = QJsonDocument::fromJson(bytes).object();
        QJsonObject result = answer.value(QLatin1String("timings")).toObject();
        const QJsonObject choice = answer.value(QLatin1String("choices")).toArray().at(0).toObject();
        result.insert(QStringLiteral("text"),
                      choice.value(QLatin1String("message")).toObject().value(QLatin1String("content")));
        return result;
    }
    QString m_url;
    QNetworkAccessManager m_network;
};

template<typename Test>
bool waitFor(Test test, int ms)
{
    QElapsedTimer clock;
    clock.start();
    while (!test() && clock.elapsed() < ms)
        QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 20);
    return test();
}

void settle(int ms)
{
    waitFor([] { return false; }, ms);
}

void save(QWidget *widget, const QString &folder, const QString &name, qreal ratio)
{
    QPixmap pixmap(widget->size() * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    widget->render(&pixmap);
    const QString file = QStringLiteral("%1/%2%3.png").arg(folder, name, ratio > 1 ? QStringLiteral("@2x") : QString());
    if (!pixmap.save(file))
        std::fprintf(stderr, "cannot write %s\n", qPrintable(file));
}

void shoot(MainWindow &window, const QString &folder, const QString &name)
{
    for (const ThemeChoice theme : {ThemeChoice::Light, ThemeChoice::Dark}) {
        window.setTheme(theme);
        settle(300);
        for (const qreal ratio : {1.0, 2.0}) {
            const QString tag = QStringLiteral("-%1").arg(themeName(theme));
            save(&window, folder, name + tag, ratio);
            save(window.ring(), folder, name + QStringLiteral("-ring") + tag, ratio);
            save(window.timeline(), folder, name + QStringLiteral("-timeline") + tag, ratio);
            save(window.findChild<RetainedPrefixView *>(), folder, name + QStringLiteral("-prefix") + tag, ratio);
            save(window.findChild<PrefillChart *>(), folder, name + QStringLiteral("-prefill") + tag, ratio);
            save(window.findChild<ReceiptView *>(), folder, name + QStringLiteral("-receipt") + tag, ratio);
            save(window.findChild<VerdictStrip *>(), folder, name + QStringLiteral("-verdict") + tag, ratio);
        }
    }
}

bool converse(MainWindow &window, ServiceClient *client, Harness::Script script, Harness::Sender sender,
              int *last = nullptr)
{
    Harness harness(client);
    QObject::connect(&harness, &Harness::turned, &window,
                     [](int turn, int compactions) { std::printf("turn %d, compactions %d\n", turn, compactions); });
    if (last)
        QObject::connect(&harness, &Harness::turned, &window, [last](int turn) { *last = turn; });
    std::optional<Result<void>> done;
    QCoro::connect(harness.run(script, std::move(sender)), &harness,
                   [&done](const Result<void> &result) { done = result; });
    if (!waitFor([&done] { return done.has_value(); }, 240000) || !*done) {
        std::fprintf(stderr, "the conversation broke off: %s\n",
                     done ? qPrintable(done->error().message) : "no end in four minutes");
        return false;
    }
    window.controller()->refresh();
    settle(900);
    return true;
}

/// What-if as the design shows it: the docks of the trying in place of the others, the cut on the cheapest legal
/// place behind the plan's; then inside an episode.
void shootWhatIf(MainWindow &window, const QString &folder, const QString &name)
{
    if (!waitFor([&window] { return window.whatIf()->whyNotStart().isEmpty(); }, 10000)) {
        std::fprintf(stderr, "%s: no what-if: %s\n", qPrintable(name), qPrintable(window.whatIf()->whyNotStart()));
        return;
    }
    window.whatIf()->start();
    for (const char *dock : {"compactions", "receipt"})
        window.dock(QLatin1String(dock))->hide();
    settle(300);
    const CutReport &report = *window.state()->data().cuts;
    int best = -1;
    for (int i = 0; i < report.legal.size(); ++i) {
        const LegalCut &row = report.legal.at(i);
        if (row.cut != window.whatIf()->position()
            && (best < 0 || report.prefill(row.value) < report.prefill(report.legal.at(best).value)))
            best = i;
    }
    if (best >= 0)
        window.whatIf()->moveTo(report.legal.at(best).cut);
    const auto shootBoth = [&](const QString &tag) {
        for (const ThemeChoice theme : {ThemeChoice::Light, ThemeChoice::Dark}) {
            window.setTheme(theme);
            settle(300);
            for (const qreal ratio : {1.0, 2.0}) {
                const QString end = QStringLiteral("%1-%2").arg(tag, themeName(theme));
                save(&window, folder, name + end, ratio);
                save(window.timeline(), folder, name + QStringLiteral("-timeline") + end, ratio);
                save(window.ring(), folder, name + QStringLiteral("-ring") + end, ratio);
                save(window.whatIfDocks()->chart(), folder, name + QStringLiteral("-cuts") + end, ratio);
                save(window.whatIfDocks()->legalView(), folder, name + QStringLiteral("-legal") + end, ratio);
                save(window.whatIfDocks()->comparisonPage(), folder, name + QStringLiteral("-comparison") + end, ratio);
            }
        }
    };
    shootBoth(QString());
    window.whatIf()->stepTokens(-37);
    shootBoth(QStringLiteral("-inside"));
    window.whatIf()->leave();
    for (const char *dock : {"compactions", "receipt"})
        window.dock(QLatin1String(dock))->show();
    for (const char *dock : {"prefill", "prefix", "checkpoints"})
        window.dock(QLatin1String(dock))->raise();
    settle(200);
}

/// Pictures of one backend: the present, a plan, each settled compaction that is of interest.
void story(const QString &folder, const QString &name, ServiceOptions options, Harness::Script script,
           const std::function<Harness::Sender(ServiceClient *)> &sender)
{
    MainWindow window;
    window.resize(1400, 900);
    window.setTheme(ThemeChoice::Light);
    window.show();
    std::optional<Result<HostedEngine>> opened;
    openEngine(std::move(options), false, {}, [&opened](Result<HostedEngine> engine) { opened = std::move(engine); });
    if (!waitFor([&opened] { return opened.has_value(); }, 60000) || !*opened) {
        std::fprintf(stderr, "%s: the engine was not opened\n", qPrintable(name));
        return;
    }
    const std::shared_ptr<ServiceClient> client = (*opened)->client;
    opened.reset();
    window.controller()->setClient(client);
    waitFor([&window] { return window.state()->data().doctor.known; }, 30000);
    int turn = 0;
    if (!converse(window, client.get(), script, sender(client.get()), &turn))
        return;
    shoot(window, folder, name + QStringLiteral("-present"));
    // On, until there is something to plan; that plan is left to be looked at.
    for (int more = 0; more < 20; ++more) {
        Harness::Script next = script;
        next.firstTurn = next.turns = ++turn;
        next.compactions = 0;
        next.applyPlans = false;
        if (!converse(window, client.get(), next, sender(client.get())))
            return;
        window.controller()->plan();
        settle(700);
        if (window.state()->data().plan && !window.state()->data().plan->updates.isEmpty())
            break;
    }
    shoot(window, folder, name + QStringLiteral("-plan"));
    shootWhatIf(window, folder, name + QStringLiteral("-whatif"));
    shellshots::shoot(window, folder, name);
    const QList<PlanValue> compactions = window.state()->data().compactions;
    for (const PlanValue &plan : compactions) {
        if (!plan.measuredReuse)
            continue;
        window.state()->selection()->selectCompaction(plan.number);
        settle(300);
        shoot(window, folder, name + QStringLiteral("-compaction"));
        break;
    }
    for (const ThemeChoice theme : {ThemeChoice::Light, ThemeChoice::Dark}) {
        window.setTheme(theme);
        shootServerPages(window, settle, [&](QWidget *widget, const QString &page) {
            for (const qreal ratio : {1.0, 2.0})
                save(widget, folder, QStringLiteral("%1-%2-%3").arg(name, page, themeName(theme)), ratio);
        });
    }
    window.resize(1024, 700);
    window.setTheme(ThemeChoice::Light);
    settle(300);
    save(&window, folder, name + QStringLiteral("-small-light"), 1);
    window.controller()->disconnectClient();
}

} // namespace

int main(int argc, char **argv)
{
    QApplication app(argc, argv);
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("kerf-gallery"));
    QCoreApplication::setApplicationName(QStringLiteral("kerf-gallery"));
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    QTranslator plurals;
    if (plurals.load(QLocale(), QStringLiteral("kerf"), QStringLiteral("_"), QStringLiteral(":/translations")))
        QCoreApplication::installTranslator(&plurals);
    if (app.arguments().size() != 2) {
        std::fprintf(stderr, "usage: kerf_gallery OUTDIR\n");
        return 2;
    }
    const QString folder = app.arguments().at(1);
    QDir().mkpath(folder);
    {
        MainWindow window([](ConnectionSpec, std::function<void(ClientResult)>) {});
        window.resize(1400, 900);
        window.show();
        for (const ThemeChoice theme : {ThemeChoice::Light, ThemeChoice::Dark}) {
            window.setTheme(theme);
            settle(200);
            save(&window, folder, QStringLiteral("start-%1").arg(themeName(theme)), 1);
        }
        ConnectionDialog dialog(ConnectionSpec{ConnectionSpec::Kind::Server, {}, {}, {}, {}});
        dialog.show();
        settle(100);
        save(&dialog, folder, QStringLiteral("connect-dark"), 1);
    }
    const QString program = qEnvironmentVariable("KERF_LLAMA_SERVER");
    const QString models = qEnvironmentVariable("KERF_MODELS");
    if (program.isEmpty() || models.isEmpty())
        std::fprintf(stderr, "KERF_LLAMA_SERVER and KERF_MODELS are not set: only the embedded server\n");
    const QStringList kinds =
        qEnvironmentVariable("KERF_GALLERY", QStringLiteral("gemma3 llama embedded")).split(QLatin1Char(' '));
    for (const QString &model : {QStringLiteral("gemma3"), QStringLiteral("llama")}) {
        if (program.isEmpty() || models.isEmpty() || !kinds.contains(model))
            continue;
        QTemporaryDir work;
        QProcess server;
        const int port = 20000 + static_cast<int>(QRandomGenerator::global()->bounded(20000));
        const QString log = work.filePath(QStringLiteral("server.log"));
        QStringList flags{QStringLiteral("-m"),
                          QStringLiteral("%1/%2.gguf").arg(models, model),
                          QStringLiteral("--port"),
                          QString::number(port),
                          QStringLiteral("-c"),
                          QStringLiteral("4096"),
                          QStringLiteral("-np"),
                          QStringLiteral("1"),
                          QStringLiteral("-lv"),
                          QStringLiteral("4"),
                          QStringLiteral("--slot-save-path"),
                          work.path() + QLatin1Char('/')};
        if (model == QLatin1String("gemma3"))
            flags << QStringLiteral("-cms") << QStringLiteral("256") << QStringLiteral("-ctxcp") << QStringLiteral("8");
        server.setProcessChannelMode(QProcess::MergedChannels);
        server.setStandardOutputFile(log);
        server.start(program, flags);
        if (!server.waitForStarted(5000)) {
            std::fprintf(stderr, "%s did not start\n", qPrintable(program));
            continue;
        }
        settle(2500);
        ServiceOptions options;
        options.dbPath = QStringLiteral(":memory:");
        options.backend.spec = QStringLiteral("http://127.0.0.1:%1").arg(port);
        options.backend.logFile = log;
        Harness::Script script;
        script.sessionId = QStringLiteral("port-scheduler");
        script.title = QStringLiteral("port-scheduler");
        script.turns = 60;
        script.wordsPerMessage = 40;
        script.compactions = 6;
        ChatSender chat(options.backend.spec);
        story(folder, model, options, script, [&chat](ServiceClient *) -> Harness::Sender {
            return [&chat](QString sessionId, QJsonObject assembled) {
                return chat.send(std::move(sessionId), std::move(assembled));
            };
        });
        server.terminate();
        if (!server.waitForFinished(5000))
            server.kill();
        server.waitForFinished(2000);
    }
    if (kinds.contains(QStringLiteral("embedded"))) {
        ServiceOptions options;
        options.dbPath = QStringLiteral(":memory:");
        options.backend.spec = QStringLiteral("embedded");
        Harness::Script script;
        script.turns = 46;
        story(folder, QStringLiteral("embedded"), options, script, [](ServiceClient *client) -> Harness::Sender {
            return [there = QPointer<ServiceClient>(client)](QString sessionId, QJsonObject assembled) {
                return Harness::simulate(there, std::move(sessionId), std::move(assembled));
            };
        });
    }
    waitForEngines();
    return 0;
}
