// kerf-test: link=kerf_session
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/session/prompt.h"

#include <QTest>

using namespace kerf;

namespace {

Episode episode(int seq, Role role, const QString &content, Tier tier = Tier::Live)
{
    Episode e;
    e.id = 100 + seq;
    e.seq = seq;
    e.role = role;
    e.content = content;
    e.tier = tier;
    e.tokenCount = static_cast<int>(content.size() / 4);
    return e;
}

QString contentOf(const ComposedPrompt &prompt, int message)
{
    return prompt.messages.at(message).toObject().value(QStringLiteral("content")).toString();
}

QList<Episode> conversation()
{
    return {episode(1, Role::System, QStringLiteral("Be brief.")), episode(2, Role::User, QStringLiteral("one")),
            episode(3, Role::Assistant, QStringLiteral("two")),    episode(4, Role::User, QStringLiteral("three")),
            episode(5, Role::Assistant, QStringLiteral("four")),   episode(6, Role::User, QStringLiteral("five"))};
}

Anchor textPin(qint64 id, bool inHead)
{
    Anchor anchor;
    anchor.id = id;
    anchor.content = QStringLiteral("never touch port.h");
    anchor.kind = AnchorKind::SafetyConstraint;
    anchor.inHead = inHead;
    return anchor;
}

} // namespace

class TestPrompt : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void evictedAndInternalEpisodesAreNotInIt()
    {
        QList<Episode> episodes = conversation();
        episodes[1].tier = Tier::Referenced;
        episodes[2].tier = Tier::Dropped;
        episodes.append(episode(7, Role::Internal, QStringLiteral("note to self")));
        const ComposedPrompt prompt = composePrompt(episodes, {}, {});
        QCOMPARE(prompt.messages.size(), 4);
        QCOMPARE(contentOf(prompt, 0), QStringLiteral("Be brief."));
        QCOMPARE(contentOf(prompt, 1), QStringLiteral("three"));
        QCOMPARE(prompt.parts.at(1).episodeIndex, 3);
        QCOMPARE(prompt.parts.at(0).kind, PromptPart::Kind::System);
        QCOMPARE(prompt.contents.at(3), QByteArray("five"));
    }

    void headPinsStandInTheSystemMessage()
    {
        QList<Anchor> anchors{textPin(1, true)};
        ComposedPrompt prompt = composePrompt(conversation(), anchors, {});
        QVERIFY(contentOf(prompt, 0).startsWith(QStringLiteral("Be brief.\n\n")));
        QVERIFY(contentOf(prompt, 0).contains(QStringLiteral("never touch port.h")));
        QList<Episode> noSystem = conversation();
        noSystem.removeFirst();
        prompt = composePrompt(noSystem, anchors, {});
        QCOMPARE(prompt.parts.at(0).kind, PromptPart::Kind::HeadPins);
        QCOMPARE(prompt.messages.size(), 6);
    }

    void aPinInMidSessionGoesIntoTheNewestUnsentMessage()
    {
        QList<Episode> episodes = conversation();
        QList<Anchor> anchors{textPin(1, false)};
        PromptState state;
        state.sentSeq = 5;
        QVERIFY(placeNotes(episodes, anchors, state));
        QCOMPARE(anchors.at(0).hostSeq, 6);
        const ComposedPrompt prompt = composePrompt(episodes, anchors, state);
        QVERIFY(!contentOf(prompt, 0).contains(QStringLiteral("port.h")));
        QVERIFY(contentOf(prompt, 5).startsWith(QStringLiteral("[pinned safety_constraint]")));
        QVERIFY(contentOf(prompt, 5).endsWith(QStringLiteral("\n\nfive")));
        // Everything was sent: it has to wait, and the prompt stays as the server holds it.
        anchors = {textPin(1, false)};
        state = {};
        state.sentSeq = 6;
        QVERIFY(!placeNotes(episodes, anchors, state));
        QCOMPARE(composePrompt(episodes, anchors, state).messages, composePrompt(episodes, {}, {}).messages);
        // Before the first prompt the head is free.
        state.sentSeq = 0;
        QVERIFY(placeNotes(episodes, anchors, state));
        QVERIFY(anchors.at(0).inHead);
    }

    void theMarkerNamesRunsAndNeverStandsInASentMessage()
    {
        QList<Episode> episodes = conversation();
        episodes[1].tier = Tier::Referenced;
        episodes[2].tier = Tier::Referenced;
        PromptState state;
        state.sentSeq = 5;
        state.pendingMarker = markerText(episodes, 99);
        QCOMPARE(state.pendingMarker,
                 QStringLiteral("[2 episodes, 0 tokens evicted: #102-#103; memory.get_episode returns them]"));
        QList<Anchor> none;
        QVERIFY(placeNotes(episodes, none, state));
        const ComposedPrompt prompt = composePrompt(episodes, {}, state);
        QCOMPARE(contentOf(prompt, 3), state.notes.value(6).marker + QStringLiteral("\n\nfive"));
        QVERIFY(state.pendingMarker.isEmpty());
        state.pendingMarker = QStringLiteral("[later]");
        state.sentSeq = 6;
        QVERIFY(!placeNotes(episodes, none, state));
        QCOMPARE(composePrompt(episodes, {}, state).messages, prompt.messages);
    }

    void theMarkerCountsWhatItDoesNotName()
    {
        QList<Episode> episodes;
        for (int i = 1; i <= 20; ++i)
            episodes.append(episode(i, i % 2 ? Role::User : Role::Assistant, QStringLiteral("some words here"),
                                    i % 4 ? Tier::Referenced : Tier::Live));
        QCOMPARE(evictedRuns(episodes).size(), 5);
        const QString two = markerText(episodes, 2);
        QVERIFY(two.startsWith(QStringLiteral("[15 episodes, 45 tokens evicted: #113-#115, #117-#119")));
        const QList<qint64> unnamed = unnamedEpisodes(episodes, 2);
        QCOMPARE(unnamed.size(), 9);
        QCOMPARE(unnamed.constFirst(), 101);
        QCOMPARE(unnamed.constLast(), 111);
        QVERIFY(!markerText(episodes, 0).contains(QLatin1Char('#')));
        QVERIFY(markerText(conversation(), 5).isEmpty());
    }

    void masksAreFrozen()
    {
        QList<Episode> episodes = conversation();
        episodes[4].content = QString(4000, QLatin1Char('x'));
        episodes[4].tokenCount = 1000;
        episodes[4].toolName = QStringLiteral("read_file");
        QVERIFY(maskHelps(episodes.at(4)));
        PromptState state;
        state.masks.insert(5, maskedText(episodes.at(4)));
        episodes[4].tier = Tier::Masked;
        const ComposedPrompt before = composePrompt(episodes, {}, state);
        QVERIFY(contentOf(before, 4).startsWith(QStringLiteral("[read_file, 1,000 tokens, episode #105] xxx")));
        QCOMPARE(contentOf(before, 4).count(QLatin1Char('x')), 160);
        episodes[4].tokenCount = 1234; // counted better later: the prompt must not change
        QCOMPARE(composePrompt(episodes, {}, state).messages, before.messages);
        // Never where it is not shorter.
        QVERIFY(!maskHelps(episode(9, Role::Tool, QStringLiteral("ok"))));
        QCOMPARE(maskedText(episode(9, Role::Tool, QStringLiteral("ok"))), QStringLiteral("ok"));
    }

    void masksNeverCutASurrogatePairInHalf()
    {
        Episode e = episode(1, Role::User,
                            QString(159, QLatin1Char('a')) + QString::fromUtf8("\xF0\x9F\x98\x80")
                                + QString(500, QLatin1Char('b')));
        const QString mask = maskedText(e);
        QVERIFY(!mask.back().isHighSurrogate());
        QVERIFY(mask.endsWith(QLatin1Char('a')));
    }

    void aCallAndItsResultsAreOneGroup()
    {
        QList<Episode> episodes{
            episode(1, Role::User, QStringLiteral("go")),        episode(2, Role::Assistant, QString()),
            episode(3, Role::Tool, QStringLiteral("r1")),        episode(4, Role::Tool, QStringLiteral("r2")),
            episode(5, Role::Assistant, QStringLiteral("done")), episode(6, Role::Tool, QStringLiteral("orphan")),
            episode(7, Role::User, QStringLiteral("u")),         episode(8, Role::Tool, QStringLiteral("alone"))};
        episodes[1].toolCalls = {{QStringLiteral("a"), QStringLiteral("ls"), QStringLiteral("{}")},
                                 {QStringLiteral("b"), QStringLiteral("cat"), QStringLiteral("{}")}};
        episodes[2].toolCallId = QStringLiteral("b");
        episodes[3].toolCallId = QStringLiteral("a");
        QCOMPARE(groupLeaders(episodes), (QList<int>{0, 1, 1, 1, 4, 4, 6, 7}));
    }

    void toolCallArgumentsKeepTheirText()
    {
        QList<Episode> episodes{episode(1, Role::Assistant, QString())};
        episodes[0].contentIsNull = true;
        episodes[0].toolCalls = {{QStringLiteral("a"), QStringLiteral("ls"), QStringLiteral("{\"b\" : 1,\"a\":2}")}};
        const QJsonObject message = composePrompt(episodes, {}, {}).messages.at(0).toObject();
        QVERIFY(message.value(QStringLiteral("content")).isNull());
        QCOMPARE(message.value(QStringLiteral("tool_calls"))
                     .toArray()
                     .at(0)
                     .toObject()
                     .value(QStringLiteral("function"))
                     .toObject()
                     .value(QStringLiteral("arguments"))
                     .toString(),
                 QStringLiteral("{\"b\" : 1,\"a\":2}"));
    }

    void stateRoundTrips()
    {
        PromptState state;
        state.notes.insert(6, {QStringLiteral("[m]"), {1, 2}});
        state.masks.insert(3, QStringLiteral("mask"));
        state.pendingMarker = QStringLiteral("p");
        state.sentSeq = 9;
        QCOMPARE(promptStateFromJson(promptStateToJson(state)), state);
    }
};

QTEST_GUILESS_MAIN(TestPrompt)
#include "tst_prompt.moc"
