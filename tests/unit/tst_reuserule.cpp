// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_llama

// The rule against the recorded logs: the log says how much of each request equals what slot and host cache hold, the
// log's model says what they hold; what was reused must come out of predictReuse().

#include "core/cache/reuse.h"
#include "core/llama/logmodel.h"

#include <QFile>
#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTest>

#include <optional>

using namespace kerf;

namespace {

QByteArray fileOf(const QString &name)
{
    QFile file(QStringLiteral(KERF_TEST_DATA "/llama-server/") + name);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// What the log says of a request before it runs, and then what was reused.
struct Pending {
    QHash<int, int> slotLcp;
    QList<QPair<int, int>> saved; ///< length, lcp as listed
    QList<HeldState> before;
    bool open = false;
};

} // namespace

class tst_ReuseRule : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void everyRecordedRequest_data();
    void everyRecordedRequest();
};

void tst_ReuseRule::everyRecordedRequest_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("chunkReuse");
    QTest::addColumn<int>("requests");
    QTest::newRow("llama") << QStringLiteral("llama") << 64 << 20;
    QTest::newRow("gemma3") << QStringLiteral("gemma3") << 0 << 18;
    QTest::newRow("lfm2") << QStringLiteral("lfm2") << 0 << 18;
    QTest::newRow("mamba") << QStringLiteral("mamba") << 0 << 18;
}

void tst_ReuseRule::everyRecordedRequest()
{
    QFETCH(QString, name);
    QFETCH(int, chunkReuse);
    QFETCH(int, requests);
    const QJsonArray truth = QJsonDocument::fromJson(fileOf(QStringLiteral("log-%1.truth.json").arg(name))).array();
    const QList<QByteArray> lines = fileOf(QStringLiteral("log-%1.txt").arg(name)).split('\n');
    QVERIFY(lines.size() > 100);
    static const QRegularExpression checking(QStringLiteral("id +(\\d+) .*checking sim = \\S+ \\((\\d+)/(\\d+)\\)"));
    static const QRegularExpression listed(QStringLiteral("prompt with length +(\\d+), lcp = +(\\d+)"));
    static const QRegularExpression started(QStringLiteral("new prompt, .*task\\.n_tokens = (\\d+)"));
    static const QRegularExpression cached(QStringLiteral("cached n_tokens = (\\d+)"));

    ServerLogModel model;
    Pending pending;
    ReusePrediction prediction;
    bool waitsForReuse = false;
    int seen = 0;
    int claimed = 0;
    int exact = 0;
    qsizetype step = 0;
    for (const QByteArray &raw : lines) {
        const QString line = QString::fromUtf8(raw);
        if (line.contains(QLatin1String("get_availabl")) && !pending.open) {
            // What only the API says of a restored slot.
            while (step < truth.size() && !truth.at(step).toObject().contains(QLatin1String("n_prompt"))) {
                const QJsonObject row = truth.at(step++).toObject();
                if (row.contains(QLatin1String("n_restored")))
                    model.noteRestored(0, row.value(QLatin1String("n_restored")).toInt());
            }
            pending = {};
            pending.open = true;
            pending.before = model.states();
        }
        if (const auto match = checking.match(line); match.hasMatch())
            pending.slotLcp.insert(match.captured(1).toInt(), match.captured(2).toInt());
        if (const auto match = listed.match(line); match.hasMatch())
            pending.saved.append({match.captured(1).toInt(), match.captured(2).toInt()});
        if (const auto match = started.match(line); match.hasMatch()) {
            const int n = match.captured(1).toInt();
            const QJsonObject row = step < truth.size() ? truth.at(step++).toObject() : QJsonObject();
            ReuseRequest request;
            for (int i = 0; i < n; ++i)
                request.tokens.append(i);
            QList<HeldState> states = pending.before;
            int other = 1'000'000;
            for (HeldState &state : states) {
                int lcp = 0;
                if (state.place == HeldState::Place::Slot) {
                    lcp = pending.slotLcp.value(state.slotId, 0);
                } else {
                    for (auto it = pending.saved.begin(); it != pending.saved.end(); ++it) {
                        if (it->first != state.length)
                            continue;
                        lcp = it->second;
                        pending.saved.erase(it);
                        break;
                    }
                }
                QVERIFY2(lcp <= state.length,
                         qPrintable(QStringLiteral("%1 of %2: %3").arg(lcp).arg(state.length).arg(line)));
                for (int i = 0; i < state.length; ++i)
                    state.tokens.append(i < lcp ? i : other++);
                // The client's own words for what it did: the held turns 10 to 12 follow turn 5.
                if (row.value(QLatin1String("step")).toString().startsWith(QLatin1String("cut"))
                    && state.length == 3216) {
                    QCOMPARE(lcp, 1579);
                    for (int i = 2523; i < 3216; ++i)
                        request.tokens[1579 + i - 2523] = state.tokens.at(i);
                }
            }
            ReuseRule rule;
            rule.memory = model.facts().memory();
            rule.slidingWindow = qMax(0, model.facts().slidingWindow);
            rule.recurrent = model.facts().recurrent;
            rule.slotCount = model.facts().slots;
            rule.chunkReuse = chunkReuse;
            rule.chunkReuseKnown = true;
            QVERIFY(rule.memory != MemoryKind::Unknown);
            prediction = predictReuse(states, request, rule);
            waitsForReuse = true;
            pending.open = false;
        }
        if (const auto match = cached.match(line); match.hasMatch() && waitsForReuse) {
            waitsForReuse = false;
            const int reused = match.captured(1).toInt();
            const QString said = QStringLiteral("request %1: predicted %2 (%3..%4), reused %5: %6")
                                     .arg(seen)
                                     .arg(prediction.predicted)
                                     .arg(prediction.low)
                                     .arg(prediction.high)
                                     .arg(reused)
                                     .arg(prediction.reason);
            QVERIFY2(qAbs(prediction.predicted - reused) <= 8, qPrintable(said));
            QVERIFY2(prediction.low <= reused && reused <= prediction.high, qPrintable(said));
            QVERIFY(!prediction.reason.isEmpty());
            exact += prediction.predicted == reused ? 1 : 0;
            claimed += prediction.claimable ? 1 : 0;
            ++seen;
        }
        model.feed(raw);
    }
    QCOMPARE(seen, requests);
    QCOMPARE(claimed, requests);
    QCOMPARE(exact, requests);
}

QTEST_GUILESS_MAIN(tst_ReuseRule)
#include "tst_reuserule.moc"
