// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/engine/kerfservice.h"
#include "core/ipc/localclient.h"

#include <QCoroTask>

#include <QElapsedTimer>
#include <QJsonArray>
#include <QSignalSpy>
#include <QTest>

using namespace kerf;

/// A preview of a plan keeps nothing, tells nobody, and cannot be applied.
class TstProfilePreview : public QObject
{
    Q_OBJECT

    std::shared_ptr<MethodHandler> m_handler;

    Result<QJsonObject> call(const QString &method, QJsonObject params)
    {
        params.insert(QStringLiteral("session_id"), QStringLiteral("s"));
        return QCoro::waitFor(m_handler->call(method, params, {}));
    }

    void open()
    {
        ServiceOptions options;
        options.dbPath = QStringLiteral(":memory:");
        options.backend.spec = QStringLiteral("embedded");
        auto opened = QCoro::waitFor(openService(options));
        QVERIFY(opened);
        m_handler = *opened;
        QString text;
        for (int i = 0; i < 60; ++i)
            text += QStringLiteral("the retry limit of port %1 stays ").arg(i);
        for (int turn = 0; turn < 40; ++turn) {
            for (const QString &role : {QStringLiteral("user"), QStringLiteral("assistant")})
                QVERIFY(call(QStringLiteral("memory.commit_episode"),
                             {{QStringLiteral("role"), role}, {QStringLiteral("content"), text}}));
        }
        QVERIFY(call(QStringLiteral("session.configure"), {{QStringLiteral("context_window"), 16384}}));
    }

private Q_SLOTS:
    void init()
    {
        qunsetenv("KERF_EVICTION_PROFILE");
        qunsetenv("SAKUR4_EVICTION_PROFILE");
        open();
    }

    void keepsNothing()
    {
        const auto before = call(QStringLiteral("session.get"), {});
        QVERIFY(before);
        QSignalSpy events(m_handler.get(), &MethodHandler::event);
        const auto plan = call(QStringLiteral("context.plan_eviction"), {{QStringLiteral("preview"), true}});
        QVERIFY2(plan, qPrintable(plan ? QString() : plan.error().message));
        QCOMPARE(plan->value(QLatin1String("plan_id")).toString(), QString());
        QVERIFY(plan->value(QLatin1String("preview")).toBool());
        QVERIFY(!plan->value(QLatin1String("applied")).toBool());
        QVERIFY(!plan->value(QLatin1String("updates")).toArray().isEmpty());
        for (const auto &arguments : std::as_const(events))
            QVERIFY2(arguments.at(0).toString() != QLatin1String("plan"), "a preview told somebody of a plan");
        const auto after = call(QStringLiteral("session.get"), {});
        QCOMPARE(after->value(QLatin1String("revision")), before->value(QLatin1String("revision")));
        QCOMPARE(after->value(QLatin1String("tiers")), before->value(QLatin1String("tiers")));
        // Nothing can be applied by it.
        QVERIFY(!call(QStringLiteral("context.apply"), {{QStringLiteral("plan_id"), QString()}}));
    }

    void isTheSamePlan()
    {
        const auto preview = call(QStringLiteral("context.plan_eviction"), {{QStringLiteral("preview"), true}});
        const auto plan = call(QStringLiteral("context.plan_eviction"), {});
        QVERIFY(preview && plan);
        for (const char *field : {"tokens_after", "target", "boundary", "updates", "verdict", "retained_prompt_tokens"})
            QCOMPARE(preview->value(QLatin1String(field)), plan->value(QLatin1String(field)));
    }

    void overridesCount()
    {
        const auto profile = call(QStringLiteral("profile.get"), {});
        const auto plain = call(QStringLiteral("context.plan_eviction"), {{QStringLiteral("preview"), true}});
        const auto tight = call(QStringLiteral("context.plan_eviction"),
                                {{QStringLiteral("preview"), true},
                                 {QStringLiteral("overrides"), QJsonObject{{QStringLiteral("target"), 0.25}}}});
        QVERIFY(plain && tight);
        QVERIFY(tight->value(QLatin1String("target")).toInt() < plain->value(QLatin1String("target")).toInt());
        QVERIFY(tight->value(QLatin1String("tokens_after")).toInt()
                < plain->value(QLatin1String("tokens_after")).toInt());
        // The profile is what it was.
        QCOMPARE(call(QStringLiteral("profile.get"), {})->value(QLatin1String("knobs")),
                 profile->value(QLatin1String("knobs")));
    }

    void refusesWhatWouldKeep()
    {
        const QJsonObject overrides{{QStringLiteral("target"), 0.25}};
        auto answer = call(QStringLiteral("context.plan_eviction"), {{QStringLiteral("overrides"), overrides}});
        QVERIFY(!answer);
        QCOMPARE(answer.error().code, Error::Code::InvalidParams);
        answer = call(QStringLiteral("context.plan_eviction"),
                      {{QStringLiteral("preview"), true}, {QStringLiteral("apply"), true}});
        QVERIFY(!answer);
        QCOMPARE(answer.error().code, Error::Code::InvalidParams);
        answer = call(QStringLiteral("context.plan_eviction"),
                      {{QStringLiteral("preview"), true},
                       {QStringLiteral("overrides"), QJsonObject{{QStringLiteral("target"), 0.9}}}});
        QVERIFY(!answer);
        QVERIFY(answer.error().message.contains(QLatin1String("below trigger")));
    }

    void namesTheVariable()
    {
        qputenv("SAKUR4_EVICTION_PROFILE", "balanced");
        open();
        auto profile = call(QStringLiteral("profile.get"), {});
        QCOMPARE(profile->value(QLatin1String("environment_variable")).toString(),
                 QStringLiteral("SAKUR4_EVICTION_PROFILE"));
        QCOMPARE(profile->value(QLatin1String("environment")).toString(), QStringLiteral("balanced"));
        qunsetenv("SAKUR4_EVICTION_PROFILE");
        open();
        profile = call(QStringLiteral("profile.get"), {});
        QVERIFY(profile->value(QLatin1String("environment_variable")).isNull());
    }
};

QTEST_GUILESS_MAIN(TstProfilePreview)
#include "tst_profilepreview.moc"
