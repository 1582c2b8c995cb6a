// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_backend Qt6::Network

#include "core/backend/simulator.h"

#include <QEventLoop>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QProcess>
#include <QRandomGenerator>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <memory>

using namespace kerf;

namespace {

/// Ids that the tiny models' vocabulary has.
TokenList made(int count, quint32 seed)
{
    QRandomGenerator random(seed);
    TokenList tokens;
    for (int i = 0; i < count; ++i)
        tokens.append(random.bounded(300, 1400));
    return tokens;
}

SimulatorConfig swa()
{
    SimulatorConfig config;
    config.slidingWindow = 512;
    config.contextSize = 32768;
    config.ringDepth = 8;
    return config;
}

SimulatorConfig recurrent()
{
    SimulatorConfig config;
    config.contextSize = 32768;
    config.ringDepth = 8;
    return config;
}

SimulatorConfig dense()
{
    SimulatorConfig config;
    config.memory = MemoryKind::FullAttention;
    config.contextSize = 32768;
    return config;
}

QList<int> ringOf(const SimulatedServer &server, int slot = 0)
{
    QList<int> positions;
    const QList<HeldState> states = server.states();
    for (const Checkpoint &checkpoint : states.at(slot).checkpoints)
        positions.append(checkpoint.position);
    return positions;
}

int reuse(SimulatedServer &server, const TokenList &prompt, int generated = 0, int slot = -1)
{
    const auto reply = server.process({prompt, slot}, generated);
    if (!reply) {
        qWarning() << reply.error().message;
        return -1;
    }
    if (reply->cacheTokens + reply->promptTokens != prompt.size())
        qFatal("the parts do not add up");
    return reply->cacheTokens;
}

} // namespace

class tst_Simulator : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void refusesWhatTheServerRefuses();
    void fullAttentionReusesThePrefix();
    void windowRewinds();
    void recurrentRing();
    void ringOfTheFixture_data();
    void ringOfTheFixture();
    void hostCacheBringsBack();
    void hostCacheLimit();
    void idleSlotsAreCleared();
    void idleSlotsAreSaved();
    void emptySlotsComeFirst();
    void chunksAreShifted();
    void generatedTokensAreHeld();
    void savesAndRestores();
    void sameInputSameOutput();
    void againstTheRealServer_data();
    void againstTheRealServer();
};

void tst_Simulator::refusesWhatTheServerRefuses()
{
    SimulatedServer server(dense());
    const auto empty = server.process({{}, -1}, 1);
    QVERIFY(!empty);
    QCOMPARE(empty.error().code, Error::Code::InvalidParams);
    const auto large = server.process({made(32768, 1), -1}, 1);
    QVERIFY(!large);
    QCOMPARE(large.error().code, Error::Code::TooLarge);
    QCOMPARE(large.error().slug, QStringLiteral("exceed_context_size_error"));
    QVERIFY(server.takeEvents().isEmpty());
    QVERIFY(!server.save(3, QStringLiteral("x")));
    QVERIFY(!server.save(0, QStringLiteral("../x")));
    QCOMPARE(server.restore(0, QStringLiteral("never")).error().code, Error::Code::NotFound);
}

void tst_Simulator::fullAttentionReusesThePrefix()
{
    SimulatedServer server(dense());
    const TokenList a = made(3000, 1);
    QCOMPARE(reuse(server, a.first(1000)), 0);
    QCOMPARE(reuse(server, a.first(1000)), 999);
    QCOMPARE(reuse(server, a.first(1500)), 1000);
    QCOMPARE(reuse(server, a.first(1200)), 1199);
    QCOMPARE(reuse(server, a.first(900) + made(50, 2)), 900);
    QVERIFY(ringOf(server).isEmpty());
}

// Measured on build 11669: gemma3 (n_swa 512), -cms 256 -ctxcp 8, the same sequence of prompts.
void tst_Simulator::windowRewinds()
{
    SimulatedServer server(swa());
    const TokenList a = made(3000, 1);
    QCOMPARE(reuse(server, a.first(2000)), 0);
    QCOMPARE(ringOf(server), (QList<int>{1484, 1996}));
    QCOMPARE(reuse(server, a.first(1990) + made(50, 2)), 1990); // no checkpoint is needed: it is in the window's memory
    QCOMPARE(reuse(server, a.first(2000)), 1990);
    QCOMPARE(ringOf(server), (QList<int>{1484, 1990, 1996}));
    QCOMPARE(reuse(server, a.first(1900) + made(50, 3)), 1900);
    QCOMPARE(reuse(server, a.first(2000)), 1900);
    QCOMPARE(reuse(server, a.first(1550) + made(50, 4)), 1550);
    QCOMPARE(reuse(server, a.first(2000)), 1550);
    QCOMPARE(reuse(server, a.first(1440) + made(50, 5)), 0); // below the memory, and no checkpoint
    QCOMPARE(ringOf(server), (QList<int>{974, 1486}));
    QCOMPARE(reuse(server, a.first(1000)), 999);
    QCOMPARE(reuse(server, a.first(700) + made(50, 6)), 0); // 974 begins at 0, but ends behind 700
    QCOMPARE(reuse(server, a.first(515) + made(50, 7)), 515);
    QCOMPARE(reuse(server, a.first(505) + made(50, 8)), 233); // shorter than the window: back to a checkpoint
    QCOMPARE(reuse(server, a.first(505) + TokenList(50, 7)), 232); // each restore loses one
    QCOMPARE(reuse(server, a.first(505) + TokenList(50, 7)), 554);
}

// Measured on build 11669: mamba, -cms 8192, the same sequence of prompts.
void tst_Simulator::recurrentRing()
{
    SimulatorConfig config = recurrent();
    config.ringMinStep = 8192;
    config.ringDepth = 32;
    SimulatedServer server(config);
    const TokenList a = made(3000, 1);
    const TokenList b = made(3000, 2);
    QCOMPARE(reuse(server, a), 0);
    QCOMPARE(ringOf(server), (QList<int>{2484, 2996}));
    QCOMPARE(reuse(server, a + b.first(1500)), 3000); // a long continuation makes no checkpoint at its start
    QCOMPARE(ringOf(server), (QList<int>{2484, 2996, 3984, 4496}));
    QCOMPARE(reuse(server, a + b.first(1600)), 4500); // a short one does
    QCOMPARE(ringOf(server), (QList<int>{2484, 2996, 3984, 4496, 4500, 4596}));
    QCOMPARE(reuse(server, a + b.first(1603)), 4600);
    QCOMPARE(reuse(server, a + b.first(1606), 20), 4603);
    QCOMPARE(ringOf(server), (QList<int>{2484, 2996, 3984, 4496, 4500, 4596, 4600, 4603}));
    QCOMPARE(reuse(server, a + b.first(1606) + made(30, 3)), 4603); // the reply was another one
    QCOMPARE(ringOf(server), (QList<int>{2484, 2996, 3984, 4496, 4500, 4596, 4600, 4603, 4632}));
    QCOMPARE(reuse(server, a + b.first(1000)), 3984);
    QCOMPARE(ringOf(server), (QList<int>{2484, 2996, 3984, 3996}));
    QCOMPARE(reuse(server, a + b.first(1000)), 3996); // an identical prompt: 4 tokens
}

void tst_Simulator::ringOfTheFixture_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("windowed");
    QTest::newRow("gemma3") << QStringLiteral("gemma3") << true;
    QTest::newRow("lfm2") << QStringLiteral("lfm2") << false;
    QTest::newRow("mamba") << QStringLiteral("mamba") << false;
}

// The recorded conversations, with made up ids of the same lengths and prefixes: reuse as recorded, and after every
// request just the checkpoints that the log created and erased until then.
void tst_Simulator::ringOfTheFixture()
{
    QFETCH(QString, name);
    QFETCH(bool, windowed);
    QFile log(QStringLiteral(KERF_TEST_DATA "/llama-server/log-%1.txt").arg(name));
    QVERIFY2(log.open(QIODevice::ReadOnly), qPrintable(log.fileName()));
    QFile truthFile(QStringLiteral(KERF_TEST_DATA "/llama-server/log-%1.truth.json").arg(name));
    QVERIFY(truthFile.open(QIODevice::ReadOnly));
    const QJsonArray truth = QJsonDocument::fromJson(truthFile.readAll()).array();

    // The ring after each released task, by the log alone.
    QList<QList<int>> rings;
    QList<int> ring;
    static const QRegularExpression position(QStringLiteral("n_tokens = (\\d+)"));
    const QStringList lines = QString::fromUtf8(log.readAll()).split(QLatin1Char('\n'));
    for (const QString &line : lines) {
        const int at = position.match(line).captured(1).toInt();
        if (line.contains(QLatin1String("created context checkpoint")))
            ring.append(at);
        else if (line.contains(QLatin1String("erased invalidated")) || line.contains(QLatin1String("erasing"))
                 || line.contains(QLatin1String("superseding")))
            ring.removeOne(at);
        else if (line.contains(QLatin1String("stop processing")))
            rings.append(ring);
        if (rings.size() == 13) // the turns; then the slot is saved, cut, and filled from the host cache
            break;
    }
    QCOMPARE(rings.size(), 13);

    SimulatorConfig config = windowed ? swa() : recurrent();
    SimulatedServer server(config);
    const TokenList conversation = made(4000, 9);
    TokenList prompt;
    int turn = 0;
    for (const QJsonValue &value : truth) {
        const QJsonObject step = value.toObject();
        const QString what = step.value(QLatin1String("step")).toString();
        const int n = step.value(QLatin1String("n_prompt")).toInt();
        if (what.startsWith(QLatin1String("turn")))
            prompt = conversation.first(n);
        else if (what.startsWith(QLatin1String("save")))
            QCOMPARE(server.save(0, QStringLiteral("a.bin")), step.value(QLatin1String("n_saved")).toInt());
        else if (what.startsWith(QLatin1String("restore")))
            QCOMPARE(server.restore(0, QStringLiteral("a.bin")), step.value(QLatin1String("n_restored")).toInt());
        else if (what.startsWith(QLatin1String("cut")))
            prompt = conversation.first(1579) + made(n - 1579, 10);
        else if (what.startsWith(QLatin1String("summary")))
            prompt = conversation.first(1) + made(n - 1, 11);
        else if (what.startsWith(QLatin1String("back")) || what.startsWith(QLatin1String("continue")))
            prompt = conversation.first(3216) + made(n - 3216, 12);
        else
            prompt = conversation.first(n);
        if (n == 0)
            continue;
        const auto reply = server.process({prompt, -1}, 1);
        QVERIFY(reply.has_value());
        QVERIFY2(reply->cacheTokens == step.value(QLatin1String("cache_n")).toInt(),
                 qPrintable(QStringLiteral("%1: simulated %2, recorded %3")
                                .arg(what)
                                .arg(reply->cacheTokens)
                                .arg(step.value(QLatin1String("cache_n")).toInt())));
        if (turn < rings.size())
            QCOMPARE(ringOf(server), rings.at(turn));
        ++turn;
    }
    QCOMPARE(turn, 18);
}

void tst_Simulator::hostCacheBringsBack()
{
    SimulatedServer server(dense());
    const TokenList a = made(3000, 1);
    const TokenList b = made(3000, 2);
    QCOMPARE(reuse(server, a.first(1000)), 0);
    QCOMPARE(reuse(server, b.first(50)), 0);
    QCOMPARE(server.states().size(), 2);
    QCOMPARE(reuse(server, a.first(1200)), 1000);
    // Measured on build 11669: 249 of 1,000 is left where it is, 250 is loaded.
    for (const int keep : {249, 250}) {
        SimulatedServer other(dense());
        reuse(other, a.first(1000));
        reuse(other, b.first(50));
        QCOMPARE(reuse(other, a.first(keep) + made(20, 3)), keep == 249 ? 0 : 250);
    }
    SimulatorConfig config = dense();
    config.hostCacheLimitBytes = 0;
    SimulatedServer without(config);
    reuse(without, a.first(1000));
    reuse(without, b.first(50));
    QCOMPARE(reuse(without, a.first(1200)), 0);
}

// Measured on build 11669: --cache-ram 4, prompts of 1,000 tokens at 1.965 MiB each, one slot: two are kept.
void tst_Simulator::hostCacheLimit()
{
    SimulatorConfig config = dense();
    config.bytesPerToken = 2060;
    config.hostCacheLimitBytes = 4 * 1024 * 1024;
    SimulatedServer server(config);
    for (quint32 seed = 1; seed <= 5; ++seed)
        QCOMPARE(reuse(server, made(1000, seed)), 0);
    QCOMPARE(server.states().size(), 3); // the slot and two saved: seeds 3 and 4
    QCOMPARE(reuse(server, made(3000, 10)), 0);
    QCOMPARE(reuse(server, made(300, 11)), 0); // 3,000 tokens are too large to be saved
    QCOMPARE(server.states().size(), 3);
    QVERIFY(server.hostCacheBytes() <= config.hostCacheLimitBytes);
    QCOMPARE(reuse(server, made(1000, 5)), 999);
}

// Measured on build 11669: the default server, four slots on one unified KV.
void tst_Simulator::idleSlotsAreCleared()
{
    SimulatorConfig config = dense();
    config.slots = 4;
    config.unifiedKv = true;
    SimulatedServer server(config);
    const TokenList a = made(3000, 1);
    const TokenList b = made(3000, 2);
    const auto run = [&](const TokenList &prompt, int slot) {
        const auto reply = server.process({prompt, slot}, 0);
        return QPair<int, int>(reply->cacheTokens, reply->slotId);
    };
    using Got = QPair<int, int>;
    QCOMPARE(run(a.first(1000), -1), Got(0, 0));
    QCOMPARE(run(b.first(1000), -1), Got(0, 1));
    QCOMPARE(run(a.first(1200), -1), Got(1000, 2));
    QCOMPARE(run(made(1200, 3), -1), Got(0, 3));
    QCOMPARE(run(made(1200, 4), -1), Got(0, 0));
    QCOMPARE(run(made(1200, 5), -1), Got(0, 1));
    QCOMPARE(run(b.first(1100), 1), Got(1000, 1)); // pinned to a slot that holds tokens: the host cache is asked
    QCOMPARE(run(a.first(1300), 2), Got(0, 2)); // pinned to one that was cleared: it is not
    QCOMPARE(run(a.first(1400), 2), Got(1300, 2));
    QCOMPARE(run(b.first(200), -1), Got(0, 3)); // less than a quarter of the saved prompt
    QCOMPARE(run(made(100, 6), 7), Got(0, 3)); // the id wraps around
    QVERIFY(server.rule().idleSlotsCleared);
    // Two conversations taking turns: free 100 %, pinned nothing.
    SimulatedServer turns(config);
    for (int turn = 1; turn <= 4; ++turn) {
        QCOMPARE(turns.process({a.first(turn * 500), -1}, 0)->cacheTokens, (turn - 1) * 500);
        QCOMPARE(turns.process({b.first(turn * 500), -1}, 0)->cacheTokens, (turn - 1) * 500);
    }
    SimulatedServer pinned(config);
    for (int turn = 1; turn <= 4; ++turn) {
        QCOMPARE(pinned.process({a.first(turn * 500), 0}, 0)->cacheTokens, 0);
        QCOMPARE(pinned.process({b.first(turn * 500), 1}, 0)->cacheTokens, 0);
    }
}

// Measured on build 11669: -np 2 saves idle slots without clearing them.
void tst_Simulator::idleSlotsAreSaved()
{
    SimulatorConfig config = dense();
    config.slots = 2;
    SimulatedServer server(config);
    const TokenList a = made(3000, 1);
    const TokenList b = made(3000, 2);
    const auto run = [&](const TokenList &prompt, int slot) {
        const auto reply = server.process({prompt, slot}, 0);
        return QPair<int, int>(reply->cacheTokens, reply->slotId);
    };
    using Got = QPair<int, int>;
    QCOMPARE(run(a.first(1000), -1), Got(0, 0));
    QCOMPARE(run(b.first(1000), -1), Got(0, 1));
    QCOMPARE(run(made(1000, 3), -1), Got(0, 0));
    QCOMPARE(run(a.first(1100), -1), Got(1000, 1));
    QCOMPARE(run(a.first(300) + made(700, 4), -1), Got(300, 1));
    QCOMPARE(run(a.first(1200), -1), Got(1100, 1));
    QCOMPARE(run(a.first(100) + made(1000, 5), -1), Got(0, 0));
    QCOMPARE(run(a.first(1300), -1), Got(1200, 1));
    QCOMPARE(run(b.first(1100), 0), Got(1000, 0));
    QCOMPARE(run(b.first(1150), 1), Got(0, 1)); // it went into slot 0, and has not been saved since
}

// Measured on build 11669: of three slots used in order, the newest is erased, and then chosen.
void tst_Simulator::emptySlotsComeFirst()
{
    SimulatorConfig config = dense();
    config.slots = 3;
    SimulatedServer server(config);
    for (quint32 seed = 1; seed <= 3; ++seed)
        QCOMPARE(server.process({made(1000, seed), -1}, 0)->slotId, int(seed) - 1);
    QCOMPARE(server.erase(2), 1000);
    QCOMPARE(server.process({made(1000, 4), -1}, 0)->slotId, 2);
    QCOMPARE(server.erase(1), 1000);
    QCOMPARE(server.erase(2), 1000);
    QCOMPARE(server.process({made(1000, 5), -1}, 0)->slotId, 1);
}

void tst_Simulator::chunksAreShifted()
{
    SimulatorConfig config = dense();
    config.chunkReuse = 64;
    SimulatedServer server(config);
    const TokenList a = made(5649, 1);
    reuse(server, a);
    const auto reply = server.process({a.first(2243) + a.mid(4478) + made(46, 2), -1}, 0);
    QCOMPARE(reply->cacheTokens, 3414); // LLAMA_SERVER.md, section 1
    QCOMPARE(reply->promptTokens, 46);
    QStringList kinds;
    const QList<SimulatedEvent> events = server.takeEvents();
    for (const SimulatedEvent &event : events)
        kinds.append(event.kind);
    QVERIFY(kinds.contains(QStringLiteral("chunk-shifted")));
    // Measured on build 11669: mamba and lfm2 shift too, gemma3 does not.
    for (const bool window : {false, true}) {
        SimulatorConfig other = window ? swa() : recurrent();
        other.chunkReuse = 64;
        SimulatedServer checkpointed(other);
        reuse(checkpointed, a.first(600));
        reuse(checkpointed, a.first(1000));
        reuse(checkpointed, a.first(2000));
        QCOMPARE(reuse(checkpointed, a.first(1000) + a.mid(1500, 500) + made(50, 3)), window ? 995 : 1500);
    }
}

void tst_Simulator::generatedTokensAreHeld()
{
    SimulatedServer server(dense());
    const TokenList a = made(500, 1);
    const TokenList said = made(20, 2);
    const auto reply = server.process({a, -1}, said);
    QCOMPARE(server.states().constFirst().length, 519); // the last one was sampled only
    QCOMPARE(reuse(server, a + said + made(30, 3)), 519);
    // Made up ids can be replaced by the ones that the harness was told.
    SimulatedServer other(dense());
    reuse(other, a, 20);
    QVERIFY(other.setGenerated(a, said));
    QCOMPARE(reuse(other, a + said + made(30, 3)), 519);
    QVERIFY(!other.setGenerated(made(10, 7), said));
}

void tst_Simulator::savesAndRestores()
{
    for (const SimulatorConfig &config : {swa(), recurrent(), dense()}) {
        SimulatedServer server(config);
        const TokenList a = made(3000, 1);
        reuse(server, a.first(1000));
        reuse(server, a.first(2000));
        QCOMPARE(server.save(0, QStringLiteral("f")), 2000);
        QVERIFY(server.hasFile(QStringLiteral("f")));
        QCOMPARE(server.erase(0), 2000);
        QCOMPARE(server.erase(0), 0);
        QCOMPARE(server.restore(0, QStringLiteral("f")), 2000);
        QCOMPARE(reuse(server, a.first(2100)), 2000);
    }
}

void tst_Simulator::sameInputSameOutput()
{
    const auto run = [] {
        SimulatedServer server(recurrent());
        QList<SimulatedReply> replies;
        for (quint32 seed = 1; seed < 20; ++seed)
            replies.append(*server.process({made(200 + int(seed) * 40, seed % 4), -1}, 5));
        return replies;
    };
    QCOMPARE(run(), run());
}

// --- the real server ---------------------------------------------------------------------------------------------

namespace {

class RealServer
{
public:
    bool start(const QString &binary, const QString &model, const QStringList &flags)
    {
        m_url = QStringLiteral("http://127.0.0.1:%1").arg(QRandomGenerator::global()->bounded(20001, 59999));
        m_process.setProcessChannelMode(QProcess::MergedChannels);
        m_process.setStandardOutputFile(m_dir.filePath(QStringLiteral("log")));
        m_process.start(binary,
                        QStringList{QStringLiteral("-m"), model, QStringLiteral("--port"),
                                    m_url.section(QLatin1Char(':'), -1), QStringLiteral("-c"), QStringLiteral("16384"),
                                    QStringLiteral("-lv"), QStringLiteral("4")}
                            + flags);
        if (!m_process.waitForStarted(5000))
            return false;
        for (int i = 0; i < 150; ++i) {
            if (get(QStringLiteral("/health")) == 200)
                return true;
            QTest::qWait(100);
        }
        return false;
    }
    ~RealServer()
    {
        m_process.terminate();
        if (!m_process.waitForFinished(5000))
            m_process.kill();
        m_process.waitForFinished(5000);
    }
    QJsonObject complete(const TokenList &prompt, int predict, int slot)
    {
        QJsonArray ids;
        for (const TokenId id : prompt)
            ids.append(id);
        QNetworkRequest request(QUrl(m_url + QStringLiteral("/completion")));
        request.setHeader(QNetworkRequest::ContentTypeHeader, QStringLiteral("application/json"));
        QJsonObject body{{QStringLiteral("prompt"), ids},
                         {QStringLiteral("n_predict"), predict},
                         {QStringLiteral("return_tokens"), true},
                         {QStringLiteral("temperature"), 0},
                         {QStringLiteral("cache_prompt"), true}};
        if (slot >= 0)
            body.insert(QStringLiteral("id_slot"), slot);
        std::unique_ptr<QNetworkReply> reply(
            m_network.post(request, QJsonDocument(body).toJson(QJsonDocument::Compact)));
        wait(reply.get());
        return QJsonDocument::fromJson(reply->readAll()).object();
    }

private:
    static void wait(QNetworkReply *reply)
    {
        QEventLoop loop;
        QObject::connect(reply, &QNetworkReply::finished, &loop, &QEventLoop::quit);
        QTimer::singleShot(60000, &loop, &QEventLoop::quit);
        if (!reply->isFinished())
            loop.exec();
    }
    int get(const QString &path)
    {
        std::unique_ptr<QNetworkReply> reply(m_network.get(QNetworkRequest(QUrl(m_url + path))));
        wait(reply.get());
        return reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    }

    QTemporaryDir m_dir;
    QProcess m_process;
    QNetworkAccessManager m_network;
    QString m_url;
};

} // namespace

void tst_Simulator::againstTheRealServer_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QStringList>("flags");
    QTest::addColumn<SimulatorConfig>("config");
    const auto row = [](const char *name, const char *model, const char *flags, SimulatorConfig config) {
        config.contextSize = 16384;
        QTest::newRow(name) << QString::fromLatin1(model)
                            << QString::fromLatin1(flags).split(QLatin1Char(' '), Qt::SkipEmptyParts) << config;
    };
    row("llama", "llama", "-np 1", dense());
    SimulatorConfig chunks = dense();
    chunks.chunkReuse = 64;
    row("llama --cache-reuse 64", "llama", "-np 1 --cache-reuse 64", chunks);
    row("gemma3", "gemma3", "-np 1 -cms 256 -ctxcp 8", swa());
    row("lfm2", "lfm2", "-np 1 -cms 256 -ctxcp 8", recurrent());
    SimulatorConfig plain = recurrent();
    plain.ringMinStep = 8192;
    plain.ringDepth = 32;
    row("mamba, default ring", "mamba", "-np 1", plain);
    SimulatorConfig shallow = recurrent();
    shallow.ringDepth = 4;
    shallow.ringMinStep = 700;
    row("mamba, ring of 4", "mamba", "-np 1 -cms 700 -ctxcp 4", shallow);
    SimulatorConfig two = dense();
    two.slots = 2;
    two.contextSize = 8192;
    row("llama -np 2", "llama", "-np 2", two);
    SimulatorConfig four = dense();
    four.slots = 4;
    four.unifiedKv = true;
    row("llama, default slots", "llama", "", four);
    SimulatorConfig fourWindows = swa();
    fourWindows.slots = 4;
    fourWindows.unifiedKv = true;
    row("gemma3, default slots", "gemma3", "-cms 256 -ctxcp 8", fourWindows);
    SimulatorConfig recurrentChunks = recurrent();
    recurrentChunks.chunkReuse = 64;
    row("mamba --cache-reuse 64", "mamba", "-np 1 -cms 256 -ctxcp 8 --cache-reuse 64", recurrentChunks);
}

// The same random requests (extend, cut the middle, another conversation, back to an old one, shorten, repeat) to the
// real server and to the simulated one.
void tst_Simulator::againstTheRealServer()
{
    const QString binary = qEnvironmentVariable("KERF_LLAMA_SERVER");
    const QString models = qEnvironmentVariable("KERF_MODELS");
    if (binary.isEmpty() || models.isEmpty())
        QSKIP(
            "NOT COMPARED WITH A REAL SERVER: set KERF_LLAMA_SERVER (the binary) and KERF_MODELS (a folder of *.gguf)");
    QFETCH(QString, model);
    QFETCH(QStringList, flags);
    QFETCH(SimulatorConfig, config);
    const QString path = models + QLatin1Char('/') + model + QStringLiteral(".gguf");
    QVERIFY2(QFileInfo::exists(path), qPrintable(path));
    RealServer real;
    QVERIFY2(real.start(binary, path, flags), "the server did not start");
    SimulatedServer simulated(config);

    constexpr int kRequests = 60;
    QRandomGenerator random(qEnvironmentVariableIntValue("KERF_SEED") + 7U);
    QList<TokenList> conversations{made(300, 1)};
    int current = 0;
    int equal = 0;
    int near = 0;
    QStringList differences;
    for (int i = 0; i < kRequests; ++i) {
        TokenList &talk = conversations[current];
        TokenList prompt;
        QString what;
        const int dice = random.bounded(100);
        if (dice < 45 || talk.size() < 400) {
            what = QStringLiteral("extend");
            talk += made(random.bounded(3, random.bounded(5) == 0 ? 900 : 200), random.generate());
        } else if (dice < 60) {
            what = QStringLiteral("cut the middle");
            const int begin = random.bounded(1, int(talk.size()) - 200);
            const int end = random.bounded(begin, int(talk.size()));
            talk = talk.first(begin) + talk.mid(end) + made(random.bounded(1, 120), random.generate());
        } else if (dice < 70) {
            what = QStringLiteral("another conversation");
            conversations.append(made(random.bounded(5, 900), random.generate()));
            current = int(conversations.size()) - 1;
        } else if (dice < 85) {
            what = QStringLiteral("back to an old one");
            current = random.bounded(int(conversations.size()));
            conversations[current] += made(random.bounded(1, 300), random.generate());
        } else if (dice < 93) {
            what = QStringLiteral("shorten");
            talk = talk.first(random.bounded(10, int(talk.size())));
        } else {
            what = QStringLiteral("repeat");
        }
        if (conversations.at(current).size() > 2600)
            conversations[current] = conversations.at(current).first(1000) + made(300, random.generate());
        prompt = conversations.at(current);
        const int slot = config.slots > 1 && random.bounded(4) == 0 ? random.bounded(config.slots) : -1;
        const int predict = random.bounded(3) == 0 ? random.bounded(1, 40) : 0;
        const QJsonObject answer = real.complete(prompt, predict, slot);
        const QJsonObject timings = answer.value(QLatin1String("timings")).toObject();
        QVERIFY2(!timings.isEmpty(), qPrintable(QString::fromUtf8(QJsonDocument(answer).toJson())));
        TokenList said;
        const QJsonArray ids = answer.value(QLatin1String("tokens")).toArray();
        if (predict > 0) {
            for (const QJsonValue &id : ids)
                said.append(id.toInt());
        }
        const auto reply = simulated.process({prompt, slot}, said);
        QVERIFY2(reply.has_value(), reply ? "" : qPrintable(reply.error().message));
        const int measured = timings.value(QLatin1String("cache_n")).toInt();
        equal += reply->cacheTokens == measured ? 1 : 0;
        near += qAbs(reply->cacheTokens - measured) <= 8 ? 1 : 0;
        if (reply->cacheTokens != measured || reply->slotId != answer.value(QLatin1String("id_slot")).toInt())
            differences.append(QStringLiteral("%1 %2: %3 tokens, slot %4: real %5 on %6, simulated %7 on %8 (%9)")
                                   .arg(i)
                                   .arg(what)
                                   .arg(prompt.size())
                                   .arg(slot)
                                   .arg(measured)
                                   .arg(answer.value(QLatin1String("id_slot")).toInt())
                                   .arg(reply->cacheTokens)
                                   .arg(reply->slotId)
                                   .arg(reply->decision.reason));
        // Half of the time the reply becomes part of the conversation, as with a harness that hands ids over.
        if (!said.isEmpty() && random.bounded(2) == 0)
            conversations[current] += said;
    }
    for (const QString &line : std::as_const(differences))
        qInfo().noquote() << line;
    qInfo().noquote() << QStringLiteral("%1 of %2 equal, %3 within 8 tokens").arg(equal).arg(kRequests).arg(near);
    QVERIFY2(near * 100 >= kRequests * 95, qPrintable(differences.join(QLatin1Char('\n'))));
}

QTEST_GUILESS_MAIN(tst_Simulator)
#include "tst_simulator.moc"
