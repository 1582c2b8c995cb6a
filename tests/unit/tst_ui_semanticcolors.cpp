// kerf-test: link=kerf_ui
// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/theme/colormath.h"
#include "ui/theme/semanticcolors.h"
#include "ui/theme/theme.h"

#include <QtTest>

using namespace kerf;

class SemanticColorsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void knownRatios()
    {
        QVERIFY(std::abs(contrastRatio(Qt::black, Qt::white) - 21.0) < 0.001);
        QVERIFY(std::abs(contrastRatio(QColor(0x777777), Qt::white) - 4.478) < 0.01);
        QCOMPARE(contrastRatio(Qt::white, Qt::black), contrastRatio(Qt::black, Qt::white));
    }
    void knownLab()
    {
        const auto red = labOf(QColor(255, 0, 0));
        QVERIFY(std::abs(red[0] - 53.24) < 0.1);
        QVERIFY(std::abs(red[1] - 80.09) < 0.2);
        QVERIFY(std::abs(red[2] - 67.20) < 0.2);
        // Grey is the same in every eye.
        for (const auto vision : {ColorVision::Protan, ColorVision::Deutan, ColorVision::Tritan})
            QVERIFY(labDistance(QColor(0x808080), QColor(0x808080), vision) < 1e-9);
        // Red and green are near for a deutan and far for everybody else.
        const QColor a(0xA52A2A), b(0x5A6A00);
        QVERIFY(labDistance(a, b, ColorVision::Deutan) < labDistance(a, b) / 2);
    }

    void ratios_data()
    {
        QTest::addColumn<bool>("dark");
        QTest::addColumn<QColor>("color");
        QTest::addColumn<double>("onWindow");
        QTest::addColumn<double>("onBase");
        const auto rows = [](bool dark, const SemanticColors &c) {
            const QByteArray theme = dark ? "dark " : "light ";
            const auto row = [&](const char *name, const QColor &color, double window, double base) {
                QTest::newRow((theme + name).constData()) << dark << color << window << base;
            };
            row("text", c.text, dark ? 11.2 : 15.1, 4.5);
            row("dim", c.dimText, dark ? 5.9 : 6.4, 4.5);
            row("reused", c.reused, dark ? 6.2 : 5.6, dark ? 7.5 : 6.4);
            row("prefilled", c.prefilled, dark ? 6.0 : 4.7, dark ? 7.3 : 5.4);
            row("recent", c.recent, dark ? 5.0 : 3.2, dark ? 6.1 : 3.7);
            row("evicted", c.evicted, dark ? 3.6 : 5.6, dark ? 4.3 : 6.5);
            row("refuted", c.refuted, dark ? 6.8 : 7.2, dark ? 8.3 : 8.2);
            row("warning", c.warning, dark ? 7.7 : 6.0, dark ? 9.4 : 6.9);
            row("simulated", c.simulated, dark ? 5.1 : 4.8, dark ? 6.2 : 5.6);
            for (const Role role : {Role::System, Role::User, Role::Assistant, Role::Tool})
                row(qPrintable(QStringLiteral("role %1").arg(roleName(role))), c.role(role), 0, dark ? 5.4 : 4.9);
            for (const CheckpointKind kind : {CheckpointKind::InternalCheckpoint, CheckpointKind::SlotSaveFile,
                                              CheckpointKind::FoldMarker, CheckpointKind::PreRewrite})
                row(qPrintable(QStringLiteral("checkpoint %1").arg(checkpointKindName(kind))), c.checkpoint(kind), 0,
                    dark ? 6.1 : 6.0);
            row("axis", c.axis, dark ? 0 : 3.2, dark ? 3.8 : 0);
            row("focus", c.focus, dark ? 4.0 - 0.05 : 4.6, 3.0);
        };
        rows(false, SemanticColors::light());
        rows(true, SemanticColors::darkTheme());
    }
    void ratios()
    {
        QFETCH(bool, dark);
        QFETCH(QColor, color);
        QFETCH(double, onWindow);
        QFETCH(double, onBase);
        const SemanticColors c = dark ? SemanticColors::darkTheme() : SemanticColors::light();
        // The table gives one decimal.
        QVERIFY2(contrastRatio(color, c.window) > onWindow - 0.06,
                 qPrintable(QString::number(contrastRatio(color, c.window))));
        QVERIFY2(contrastRatio(color, c.base) > onBase - 0.06,
                 qPrintable(QString::number(contrastRatio(color, c.base))));
    }

    void labelsOnFills()
    {
        for (const SemanticColors &c : {SemanticColors::light(), SemanticColors::darkTheme()}) {
            for (const QColor &fill : {c.reused, c.prefilled, c.roleSystem, c.roleUser, c.roleAssistant, c.roleTool})
                QVERIFY2(contrastRatio(c.onFill, fill) >= 4.5, qPrintable(fill.name()));
            QVERIFY(contrastRatio(c.onRecent, c.recent) >= 5.0);
        }
    }

    void colourBlindDistances_data()
    {
        QTest::addColumn<int>("vision");
        QTest::addColumn<bool>("dark");
        const std::pair<const char *, ColorVision> visions[] = {{"normal", ColorVision::Normal},
                                                                {"protan", ColorVision::Protan},
                                                                {"deutan", ColorVision::Deutan},
                                                                {"tritan", ColorVision::Tritan}};
        for (const auto &[name, vision] : visions) {
            QTest::newRow(qPrintable(QStringLiteral("light %1").arg(QLatin1String(name))))
                << static_cast<int>(vision) << false;
            QTest::newRow(qPrintable(QStringLiteral("dark %1").arg(QLatin1String(name))))
                << static_cast<int>(vision) << true;
        }
    }
    void colourBlindDistances()
    {
        QFETCH(int, vision);
        QFETCH(bool, dark);
        const SemanticColors c = dark ? SemanticColors::darkTheme() : SemanticColors::light();
        const QList<std::pair<QString, QColor>> fills{
            {QStringLiteral("reused"), c.reused},   {QStringLiteral("prefilled"), c.prefilled},
            {QStringLiteral("recent"), c.recent},   {QStringLiteral("evicted"), c.evicted},
            {QStringLiteral("refuted"), c.refuted}, {QStringLiteral("simulated"), c.simulated}};
        for (qsizetype i = 0; i < fills.size(); ++i) {
            for (qsizetype k = i + 1; k < fills.size(); ++k) {
                const double distance =
                    labDistance(fills.at(i).second, fills.at(k).second, static_cast<ColorVision>(vision));
                QVERIFY2(distance >= 12,
                         qPrintable(
                             QStringLiteral("%1 and %2: %3").arg(fills.at(i).first, fills.at(k).first).arg(distance)));
            }
        }
    }

    void chosenByWindowLightness()
    {
        QVERIFY(!SemanticColors::of(themePalette(ThemeChoice::Light)).dark);
        QVERIFY(SemanticColors::of(themePalette(ThemeChoice::Dark)).dark);
    }
    void mixing()
    {
        QCOMPARE(mixed(Qt::black, Qt::white, 1), QColor(Qt::black).toRgb());
        QCOMPARE(mixed(Qt::black, Qt::white, 0).name(), QStringLiteral("#ffffff"));
        QCOMPARE(mixed(Qt::black, Qt::white, 0.5).alpha(), 255);
    }
};

QTEST_MAIN(SemanticColorsTest)
#include "tst_ui_semanticcolors.moc"
