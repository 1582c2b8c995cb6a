// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_ui kerf_core

// The calibration dialog on the real engine (embedded server), driven by clicks.

#include "core/engine/kerfservice.h"
#include "core/ipc/localclient.h"
#include "ui/window/calibrationdialog.h"

#include <QCoroTask>

#include <QCheckBox>
#include <QComboBox>
#include <QJsonArray>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableWidget>
#include <QTest>

using namespace kerf;

class tst_UiCalibration : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();
    void asksThenRunsThenShows();
    void withoutConsentNothingIsSent();
    void noServer();

private:
    void openOn(const QString &backend);
    std::shared_ptr<MethodHandler> m_engine;
    std::shared_ptr<ServiceClient> m_client;
};

void tst_UiCalibration::openOn(const QString &backend)
{
    ServiceOptions options;
    options.dbPath = QStringLiteral(":memory:");
    options.backend.spec = backend;
    auto opened = QCoro::waitFor(openService(options));
    QVERIFY(opened);
    m_engine = *opened;
    m_client = std::make_shared<LocalClient>(m_engine);
}

void tst_UiCalibration::init() { openOn(QStringLiteral("embedded")); }

void tst_UiCalibration::cleanup()
{
    m_client.reset();
    m_engine.reset();
}

void tst_UiCalibration::asksThenRunsThenShows()
{
    CalibrationDialog dialog(m_client);
    QSignalSpy said(&dialog, &CalibrationDialog::said);
    dialog.show();
    auto *consent = dialog.findChild<QCheckBox *>(QStringLiteral("calibrationConsent"));
    auto *start = dialog.findChild<QPushButton *>(QStringLiteral("calibrationStart"));
    QTRY_VERIFY(consent->isVisible());
    QVERIFY(!start->isEnabled());
    QTest::mouseClick(consent, Qt::LeftButton, {}, QPoint(8, consent->height() / 2));
    QVERIFY(consent->isChecked());
    QVERIFY(start->isEnabled());
    QTest::mouseClick(start, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(dialog.page(), 2, 20000);
    // What is shown are the wire's numbers.
    auto *table = dialog.findChild<QTableWidget *>(QStringLiteral("calibrationSteps"));
    const QJsonArray steps = dialog.result().value(QStringLiteral("steps")).toArray();
    QVERIFY(steps.size() > 5);
    QCOMPARE(table->rowCount(), int(steps.size()));
    for (int i = 0; i < steps.size(); ++i) {
        const QJsonObject step = steps.at(i).toObject();
        QCOMPARE(table->item(i, 0)->text(), step.value(QStringLiteral("name")).toString());
        QCOMPARE(QLocale().toInt(table->item(i, 1)->text()), step.value(QStringLiteral("sent")).toInt());
        const QJsonValue reused = step.value(QStringLiteral("reused"));
        QCOMPARE(table->item(i, 2)->text().isEmpty(), !reused.isDouble());
        if (reused.isDouble())
            QCOMPARE(QLocale().toInt(table->item(i, 2)->text()), reused.toInt());
    }
    QVERIFY(dialog.findChild<QLabel *>(QStringLiteral("calibrationSummary"))
                ->text()
                .contains(QStringLiteral("[simulated]")));
    QCOMPARE(said.size(), 1);
}

void tst_UiCalibration::withoutConsentNothingIsSent()
{
    CalibrationDialog dialog(m_client);
    dialog.show();
    QTRY_VERIFY(dialog.findChild<QCheckBox *>(QStringLiteral("calibrationConsent"))->isVisible());
    QTest::keyClick(&dialog, Qt::Key_Return);
    QTest::keyClick(&dialog, Qt::Key_Escape);
    QVERIFY(!dialog.isVisible());
    const auto slotList = QCoro::waitFor(m_client->call(QStringLiteral("server.slots"), {}));
    QVERIFY(slotList);
    const QJsonArray rows = slotList->value(QStringLiteral("slots")).toArray();
    for (const QJsonValue &row : rows)
        QCOMPARE(row.toObject().value(QStringLiteral("tokens")).toInt(), 0);
}

void tst_UiCalibration::noServer()
{
    cleanup();
    openOn(QStringLiteral("none"));
    CalibrationDialog dialog(m_client);
    dialog.show();
    auto *start = dialog.findChild<QPushButton *>(QStringLiteral("calibrationStart"));
    const auto told = [&dialog] {
        const QList<QLabel *> labels = dialog.findChildren<QLabel *>();
        return std::any_of(labels.cbegin(), labels.cend(),
                           [](const QLabel *label) { return label->text().contains(QStringLiteral("no server")); });
    };
    QTRY_VERIFY(told());
    QVERIFY(!start->isEnabled());
}

QTEST_MAIN(tst_UiCalibration)
#include "tst_ui_calibration.moc"
