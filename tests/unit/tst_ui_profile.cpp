// kerf-test: link=kerf_ui
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/eviction/policy.h"
#include "tests/unit/ui_sample.h"
#include "tests/unit/ui_scriptedclient.h"
#include "ui/theme/semanticcolors.h"
#include "ui/views/profileeditor.h"

#include <QAbstractSpinBox>
#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest>

using namespace kerf;

class ProfileTest : public QObject
{
    Q_OBJECT

    struct Call {
        QString method;
        QJsonObject params;
        std::function<void(const Result<QJsonObject> &)> answered;
    };

    static QJsonObject answer(const QJsonObject &changes = {}, const QString &session = QStringLiteral("s"))
    {
        const QJsonObject shipped = knobsToJson(*shippedKnobs(QStringLiteral("cache-first")));
        QJsonObject knobs = shipped;
        QJsonObject origin;
        for (auto it = changes.begin(); it != changes.end(); ++it) {
            knobs.insert(it.key(), it.value());
            origin.insert(it.key(), QStringLiteral("session"));
        }
        return {{QStringLiteral("name"), QStringLiteral("cache-first")},
                {QStringLiteral("base"), QStringLiteral("cache-first")},
                {QStringLiteral("session_id"), session},
                {QStringLiteral("environment"), QJsonValue()},
                {QStringLiteral("knobs"), knobs},
                {QStringLiteral("origin"), origin},
                {QStringLiteral("shipped_knobs"), shipped}};
    }

    struct Form {
        ProfileDraft draft;
        QList<Call> calls;
        ProfileEditor editor{&draft,
                             [this](const QString &method, const QJsonObject &params,
                                    std::function<void(const Result<QJsonObject> &)> answered) {
                                 calls.append({method, params, std::move(answered)});
                             }};
        explicit Form(const QJsonObject &saved = answer())
        {
            editor.resize(360, 320);
            editor.show();
            editor.activateWindow();
            draft.setSaved(QStringLiteral("s"), saved);
        }
        QDoubleSpinBox *spin(const char *knob)
        {
            return qobject_cast<QDoubleSpinBox *>(editor.field(QLatin1String(knob)));
        }
        QLabel *nameOf(const char *knob)
        {
            for (QLabel *label : editor.findChildren<QLabel *>()) {
                if (label->buddy() == editor.field(QLatin1String(knob)))
                    return label;
            }
            return nullptr;
        }
        QToolButton *reset(const char *knob)
        {
            return editor.findChild<QToolButton *>(QStringLiteral("reset-%1").arg(QLatin1String(knob)));
        }
        void type(const char *knob, const QString &text)
        {
            spin(knob)->setFocus();
            spin(knob)->selectAll();
            QTest::keyClicks(spin(knob), text);
        }
        QJsonValue value(const char *knob) { return draft.values().value(QLatin1String(knob)); }
        void reply(int tokensAfter, double ms)
        {
            for (Call &call : calls) {
                if (!call.answered || call.method != QLatin1String("context.plan_eviction"))
                    continue;
                QJsonObject plan = uisample::plan();
                plan.insert(QStringLiteral("tokens_after"), tokensAfter);
                QJsonObject boundary = plan.value(QLatin1String("boundary")).toObject();
                boundary.insert(QStringLiteral("predicted_ms"), ms);
                plan.insert(QStringLiteral("boundary"), boundary);
                std::exchange(call.answered, nullptr)(plan);
            }
        }
    };

private Q_SLOTS:
    void initTestCase() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }

    void everyKnobHasAField()
    {
        Form form;
        for (const QString &knob : knobNames()) {
            QWidget *field = form.editor.field(knob);
            QVERIFY2(field, qPrintable(knob));
            QVERIFY2(!field->accessibleName().isEmpty() && field->accessibleName() != knob, qPrintable(knob));
            QVERIFY2(field->toolTip().contains(QLatin1String("Shipped with cache-first")), qPrintable(knob));
        }
        QCOMPARE(form.spin("trigger")->text(), QStringLiteral("75 %"));
        QCOMPARE(form.spin("target")->text(), QStringLiteral("55 %"));
        QCOMPARE(form.spin("cache_prefix_reserve_tokens")->text(), QStringLiteral("4,096"));
        QCOMPARE(form.spin("max_prefix_ratio")->text(), QStringLiteral("0.35"));
        QCOMPARE(form.spin("min_free_disk_bytes")->text(), QStringLiteral("2,048 MiB"));
        QCOMPARE(form.spin("keep_prefix_tokens")->text(), QStringLiteral("0")); // a zero that was told
        QVERIFY(!form.draft.isDirty());
        QVERIFY(!form.editor.applyButton()->isEnabled());
    }

    void whatIsNotToldIsNoZero()
    {
        QJsonObject some = answer();
        QJsonObject knobs = some.value(QLatin1String("knobs")).toObject();
        knobs.remove(QStringLiteral("keep_prefix_tokens"));
        some.insert(QStringLiteral("knobs"), knobs);
        Form form(some);
        QCOMPARE(form.spin("keep_prefix_tokens")->text(), QString());
        QVERIFY(!form.spin("keep_prefix_tokens")->isEnabled());
        form.draft.setSaved(QStringLiteral("s"), answer());
        QCOMPARE(form.spin("keep_prefix_tokens")->text(), QStringLiteral("0"));
    }

    void changedOnesAreBoldWithAWayBack()
    {
        Form form(answer({{QStringLiteral("keep_recent_tokens"), 640}}));
        QVERIFY(form.nameOf("keep_recent_tokens")->font().bold());
        QVERIFY(!form.nameOf("trigger")->font().bold());
        QVERIFY(form.reset("keep_recent_tokens")->isVisible());
        QVERIFY(!form.reset("trigger")->isVisible());
        QVERIFY(form.reset("keep_recent_tokens")->toolTip().contains(QLatin1String("4,096")));
        QCOMPARE(form.draft.changedCount(), 1);
        QVERIFY(!form.draft.isDirty()); // changed from the shipped one, but in force
        QTest::mouseClick(form.reset("keep_recent_tokens"), Qt::LeftButton);
        QCOMPARE(form.value("keep_recent_tokens").toInt(), 4096);
        QVERIFY(form.draft.isDirty());
        // An override that goes back to the shipped value is taken back, not set.
        QCOMPARE(form.draft.overrides(), (QJsonObject{{QStringLiteral("keep_recent_tokens"), QJsonValue()}}));
    }

    void typingIsOneUndoStep()
    {
        Form form;
        form.type("keep_recent_tokens", QStringLiteral("640"));
        QCOMPARE(form.value("keep_recent_tokens").toInt(), 640);
        QCOMPARE(form.draft.undoStack()->count(), 1);
        form.spin("max_prefix_ratio")->setFocus();
        QTest::keyClick(form.spin("max_prefix_ratio"), Qt::Key_Up);
        QTest::keyClick(form.spin("max_prefix_ratio"), Qt::Key_Up);
        QCOMPARE(form.value("max_prefix_ratio").toDouble(), 0.45);
        QCOMPARE(form.draft.undoStack()->count(), 2);
        QTest::mouseClick(form.editor.findChild<QToolButton *>(QStringLiteral("profileUndo")), Qt::LeftButton);
        QCOMPARE(form.value("max_prefix_ratio").toDouble(), 0.35);
        QCOMPARE(form.spin("max_prefix_ratio")->text(), QStringLiteral("0.35"));
        QTest::mouseClick(form.editor.findChild<QToolButton *>(QStringLiteral("profileUndo")), Qt::LeftButton);
        QVERIFY(!form.draft.isDirty());
        QTest::mouseClick(form.editor.findChild<QToolButton *>(QStringLiteral("profileRedo")), Qt::LeftButton);
        QCOMPARE(form.value("keep_recent_tokens").toInt(), 640);
        QTest::mouseClick(form.editor.findChild<QPushButton *>(QStringLiteral("profileRevert")), Qt::LeftButton);
        QVERIFY(!form.draft.isDirty());
        form.draft.undoStack()->undo(); // Revert too can be undone
        QCOMPARE(form.value("keep_recent_tokens").toInt(), 640);
    }

    void sharesAreExact()
    {
        Form form;
        form.type("trigger", QStringLiteral("57"));
        QCOMPARE(form.value("trigger").toDouble(), 0.57);
        form.type("target", QStringLiteral("33.25"));
        QCOMPARE(form.value("target").toDouble(), 0.3325);
        // A value that the field cannot show in full stays as it is until somebody edits it.
        Form third(answer({{QStringLiteral("target"), 1.0 / 3}}));
        QVERIFY(!third.draft.isDirty());
        QCOMPARE(third.value("target").toDouble(), 1.0 / 3);
    }

    void oldestFirst()
    {
        Form form(answer({{QStringLiteral("recency_weight"), QStringLiteral("infinity")}}));
        QCOMPARE(form.spin("recency_weight")->text(), QStringLiteral("oldest first"));
        QTest::keyClick(form.spin("recency_weight"), Qt::Key_Down);
        QCOMPARE(form.value("recency_weight").toDouble(), 10.0);
        form.type("recency_weight", QStringLiteral("oldest first"));
        QCOMPARE(form.value("recency_weight").toString(), QStringLiteral("infinity"));
    }

    void invalidPairIsMarkedAndSaid()
    {
        Form form;
        form.type("target", QStringLiteral("80"));
        QCOMPARE(form.draft.invalidKnobs(), (QStringList{QStringLiteral("trigger"), QStringLiteral("target")}));
        QVERIFY(!form.editor.applyButton()->isEnabled());
        form.editor.setSubject(QStringLiteral("s"), 1, -1, false);
        QVERIFY2(
            form.editor.previewText().contains(QLatin1String("The target (80 %) must be below the trigger (75 %).")),
            qPrintable(form.editor.previewText()));
        // Both fields wear the mark: the colour of errors on their frame.
        const QColor red = SemanticColors::of(form.editor.palette()).refuted;
        for (const char *knob : {"trigger", "target"}) {
            const QImage image = form.spin(knob)->grab().toImage();
            const QColor edge = image.pixelColor(image.width() / 2, qRound(image.devicePixelRatio()));
            QVERIFY2(std::abs(edge.red() - red.red()) < 40 && std::abs(edge.green() - red.green()) < 40,
                     qPrintable(edge.name()));
        }
        QTest::qWait(60);
        for (const Call &call : form.calls)
            QVERIFY(call.params.value(QLatin1String("overrides")).toObject().value(QLatin1String("target")).toDouble()
                    < 0.75); // nothing invalid is asked
        form.type("target", QStringLiteral("50"));
        QVERIFY(form.editor.applyButton()->isEnabled());
    }

    void previewFollowsWithin100Ms()
    {
        Form form;
        form.editor.setSubject(QStringLiteral("s"), 61, 0, false);
        QTRY_COMPARE(form.calls.size(), 1); // the saved values
        QVERIFY(form.calls.first().params.value(QLatin1String("preview")).toBool());
        QCOMPARE(form.calls.first().params.value(QLatin1String("slot_id")).toInt(), 0);
        form.reply(1840, 103);
        QCOMPARE(form.editor.previewText(),
                 QStringLiteral("Saved values: cut 1,349, window 1,840, ~103 ms\ntarget missed by 49"));
        QElapsedTimer clock;
        clock.start();
        form.type("keep_recent_tokens", QStringLiteral("640"));
        QTRY_COMPARE(form.calls.size(), 2);
        QVERIFY2(clock.elapsed() < 100, qPrintable(QString::number(clock.elapsed())));
        QCOMPARE(form.calls.at(1)
                     .params.value(QLatin1String("overrides"))
                     .toObject()
                     .value(QLatin1String("keep_recent_tokens"))
                     .toInt(),
                 640);
        QVERIFY(form.editor.previewText().contains(QString::fromUtf8("These values: …")));
        form.reply(2302, 104);
        const QString text = form.editor.previewText();
        QVERIFY2(text.contains(QLatin1String("These values: cut 1,349, window 2,302, ~104 ms")), qPrintable(text));
        QVERIFY2(text.contains(QLatin1String("462 more")) && text.contains(QLatin1String("+1 ms")), qPrintable(text));
        QVERIFY2(text.contains(QLatin1String("target missed by 49")), qPrintable(text));
    }

    void anOldAnswerIsNotShown()
    {
        Form form;
        form.editor.setSubject(QStringLiteral("s"), 61, 0, false);
        form.type("keep_recent_tokens", QStringLiteral("640"));
        QTRY_COMPARE(form.calls.size(), 2);
        form.type("keep_recent_tokens", QStringLiteral("700"));
        form.reply(1111, 50); // of 640
        QVERIFY(!form.editor.previewText().contains(QLatin1String("These values: cut")));
        QTRY_COMPARE(form.calls.size(), 3); // asked again, of 700
        form.editor.setSubject(QStringLiteral("other"), 5, 0, false);
        form.reply(2222, 60); // of the session before
        QVERIFY(!form.editor.previewText().contains(QLatin1String("2,222")));
    }

    void applies()
    {
        Form form;
        form.type("keep_recent_tokens", QStringLiteral("640"));
        QTest::mouseClick(form.editor.applyButton(), Qt::LeftButton);
        const auto set = std::find_if(form.calls.begin(), form.calls.end(),
                                      [](const Call &call) { return call.method == QLatin1String("profile.set"); });
        QVERIFY(set != form.calls.end());
        QCOMPARE(set->params.value(QLatin1String("session_id")).toString(), QStringLiteral("s"));
        QCOMPARE(set->params.value(QLatin1String("overrides")).toObject(),
                 (QJsonObject{{QStringLiteral("keep_recent_tokens"), 640}}));
        // The event comes before the answer: no stranger's change.
        form.draft.setSaved(QStringLiteral("s"), answer({{QStringLiteral("keep_recent_tokens"), 640}}));
        QVERIFY(!form.draft.theirs());
        set->answered(answer({{QStringLiteral("keep_recent_tokens"), 640}}));
        QVERIFY(!form.draft.isDirty());
        QVERIFY(!form.editor.applyButton()->isEnabled());
        QCOMPARE(form.editor.applyButton()->text(), QStringLiteral("Applied"));
    }

    void refusalIsSaid()
    {
        Form form;
        QSignalSpy failed(&form.editor, &ProfileEditor::failed);
        form.type("keep_recent_tokens", QStringLiteral("640"));
        form.editor.apply();
        form.calls.last().answered(failure(Error::Code::Store, QStringLiteral("disk full")));
        QCOMPARE(failed.count(), 1);
        QVERIFY(form.draft.isDirty()); // the edit is still there
    }

    void aChangeElsewhereOverwritesNothing()
    {
        Form form;
        form.type("keep_recent_tokens", QStringLiteral("640"));
        form.draft.noteChange(QStringLiteral("connection 3"), QDateTime(QDate(2026, 12, 1), QTime(14, 2, 11)));
        form.draft.setSaved(QStringLiteral("s"), answer({{QStringLiteral("keep_recent_tokens"), 900}}));
        QCOMPARE(form.value("keep_recent_tokens").toInt(), 640);
        QVERIFY(form.draft.theirs());
        auto *notice = form.editor.findChild<QLabel *>(QStringLiteral("profileNotice"));
        QVERIFY(notice->isVisible());
        QVERIFY2(notice->text().contains(QLatin1String("connection 3 at 14:02:11"))
                     && notice->text().contains(QLatin1String("Keep recent 900 (here: 640)")),
                 qPrintable(notice->text()));
        QVERIFY(!form.editor.applyButton()->isEnabled());
        QTest::mouseClick(form.editor.findChild<QPushButton *>(QStringLiteral("keepMine")), Qt::LeftButton);
        QCOMPARE(form.value("keep_recent_tokens").toInt(), 640);
        QCOMPARE(form.draft.saved().value(QLatin1String("keep_recent_tokens")).toInt(), 900);
        QVERIFY(!notice->isVisible());
        QVERIFY(form.editor.applyButton()->isEnabled());
        form.draft.setSaved(QStringLiteral("s"), answer({{QStringLiteral("keep_recent_tokens"), 1000}}));
        QTest::mouseClick(form.editor.findChild<QPushButton *>(QStringLiteral("takeTheirs")), Qt::LeftButton);
        QCOMPARE(form.value("keep_recent_tokens").toInt(), 1000);
        QVERIFY(!form.draft.isDirty());
        // Who edits nothing sees the change at once.
        form.draft.setSaved(QStringLiteral("s"), answer({{QStringLiteral("target"), 0.4}}));
        QCOMPARE(form.spin("target")->text(), QStringLiteral("40 %"));
        QVERIFY(!form.draft.theirs());
    }

    void environmentMakesItReadOnly()
    {
        QJsonObject locked = answer();
        locked.insert(QStringLiteral("environment"), QStringLiteral("cache-first"));
        locked.insert(QStringLiteral("environment_variable"), QStringLiteral("KERF_EVICTION_PROFILE"));
        Form form(locked);
        QVERIFY(form.editor.findChild<QLabel *>(QStringLiteral("profileNotice"))
                    ->text()
                    .contains(QLatin1String("KERF_EVICTION_PROFILE")));
        QVERIFY(form.spin("target")->isReadOnly());
        form.type("target", QStringLiteral("20"));
        QVERIFY(!form.draft.isDirty());
        QVERIFY(!form.editor.findChild<QCheckBox *>(QStringLiteral("knob-allow_drop"))->isEnabled());
        QVERIFY(!form.editor.applyButton()->isEnabled());
    }

    void editsOfAnotherSessionWait()
    {
        Form form;
        form.type("keep_recent_tokens", QStringLiteral("640"));
        form.draft.setSaved(QStringLiteral("other"), answer({}, QStringLiteral("other")));
        QVERIFY(!form.draft.isDirty());
        QCOMPARE(form.value("keep_recent_tokens").toInt(), 4096);
        form.draft.setSaved(QStringLiteral("s"), answer());
        QCOMPARE(form.value("keep_recent_tokens").toInt(), 640);
        QVERIFY(form.draft.isDirty());
    }

    void exportAndImport()
    {
        QTemporaryDir folder;
        Form form(answer({{QStringLiteral("recency_weight"), QStringLiteral("infinity")}}));
        form.type("keep_recent_tokens", QStringLiteral("640"));
        const QString path = folder.filePath(QStringLiteral("p.json"));
        QVERIFY(form.editor.exportTo(path));
        Form other;
        QVERIFY(other.editor.importFrom(path));
        QCOMPARE(other.value("keep_recent_tokens").toInt(), 640);
        QCOMPARE(other.value("recency_weight").toString(), QStringLiteral("infinity"));
        QCOMPARE(other.draft.undoStack()->count(), 1);
        other.draft.undoStack()->undo();
        QVERIFY(!other.draft.isDirty());
        // What is no profile changes nothing and says why.
        QVERIFY(!other.draft.import("[1]"));
        QVERIFY(!other.draft.import("{\"knobs\":{\"trigger\":0.2,\"target\":0.5}}"));
        const auto unknown = other.draft.import("{\"knobs\":{\"magic\":1}}");
        QVERIFY(!unknown && unknown.error().message.contains(QLatin1String("magic")));
        QVERIFY(!other.draft.isDirty());
        QVERIFY(!form.editor.exportTo(QStringLiteral("/nowhere/p.json")));
    }

    void fitsNarrowAndWide()
    {
        Form form;
        for (const int width : {250, 360, 900}) {
            form.editor.resize(width, 420);
            QTest::qWait(1);
            for (const QString &knob : knobNames()) {
                QWidget *field = form.editor.field(knob);
                QLabel *name = form.nameOf(qPrintable(knob));
                QVERIFY2(name->width() >= name->sizeHint().width() - 1, qPrintable(knob));
                QVERIFY2(field->geometry().right() <= field->parentWidget()->width(), qPrintable(knob));
            }
        }
        QVERIFY(form.editor.asText().contains(QLatin1String("Keep recent\t4,096\t4,096\t4,096")));
    }
};

QTEST_MAIN(ProfileTest)
#include "tst_ui_profile.moc"
