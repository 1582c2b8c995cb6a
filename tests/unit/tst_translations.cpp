// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_base kerf_translations

#include "core/base/translations.h"

#include <QDir>
#include <QFile>
#include <QTest>
#include <QTranslator>
#include <QXmlStreamReader>

using namespace kerf;

class TstTranslations : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void cleanup()
    {
        const QList<QTranslator *> translators = qApp->findChildren<QTranslator *>();
        for (QTranslator *translator : translators)
            QCoreApplication::removeTranslator(translator);
        qDeleteAll(translators);
    }

    void picksTheLanguage_data()
    {
        QTest::addColumn<QString>("locale");
        QTest::addColumn<QString>("language");
        QTest::newRow("English") << QStringLiteral("en_US") << QStringLiteral("en");
        QTest::newRow("German") << QStringLiteral("de_DE") << QStringLiteral("de");
        QTest::newRow("Austrian German") << QStringLiteral("de_AT") << QStringLiteral("de");
        QTest::newRow("a language that Kerf has not") << QStringLiteral("fi_FI") << QStringLiteral("en");
        QTest::newRow("none") << QStringLiteral("C") << QStringLiteral("en");
    }

    void picksTheLanguage()
    {
        QFETCH(QString, locale);
        QFETCH(QString, language);
        QCOMPARE(installTranslations(*qApp, QLocale(locale)), language);
    }

    void countsHavePluralForms()
    {
        const auto text = [](int n) { return QCoreApplication::translate("Words", "%n checkpoint(s)", nullptr, n); };
        QCOMPARE(text(1), QStringLiteral("1 checkpoint(s)")); // nothing is loaded yet
        installTranslations(*qApp, QLocale(QStringLiteral("en_GB")));
        QCOMPARE(text(1), QStringLiteral("1 checkpoint"));
        QCOMPARE(text(2), QStringLiteral("2 checkpoints"));
        cleanup();
        installTranslations(*qApp, QLocale(QStringLiteral("de_DE")));
        QCOMPARE(text(1), QStringLiteral("1 Checkpoint"));
        QCOMPARE(text(0), QStringLiteral("0 Checkpoints"));
    }

    /// A class looks its texts up by its full name, namespace and all.
    void textsOfClassesAreFound()
    {
        installTranslations(*qApp, QLocale(QStringLiteral("de_DE")));
        QCOMPARE(QCoreApplication::translate("kerf::MainWindow", "Compactions"), QString::fromUtf8("Kürzungen"));
        QFile device(QStringLiteral(KERF_SOURCE_DIR "/translations/kerf_de.ts"));
        QVERIFY(device.open(QIODevice::ReadOnly));
        QVERIFY2(!device.readAll().contains("<name>MainWindow</name>"), "run update_translations with -I");
    }

    void everyPluralFormIsWritten_data()
    {
        QTest::addColumn<QString>("file");
        const QDir folder(QStringLiteral(KERF_SOURCE_DIR "/translations"));
        const QStringList files = folder.entryList({QStringLiteral("*.ts")});
        QVERIFY(files.contains(QStringLiteral("kerf_en.ts")));
        for (const QString &file : files)
            QTest::newRow(qPrintable(file)) << folder.filePath(file);
    }

    /// A plural form that is missing shows as "1 checkpoint(s)".
    void everyPluralFormIsWritten()
    {
        QFETCH(QString, file);
        QFile device(file);
        QVERIFY(device.open(QIODevice::ReadOnly));
        QXmlStreamReader xml(&device);
        QString source;
        QStringList missing;
        while (!xml.atEnd()) {
            if (xml.readNext() != QXmlStreamReader::StartElement)
                continue;
            if (xml.name() == QLatin1String("source"))
                source = xml.readElementText();
            else if (xml.name() == QLatin1String("numerusform") && xml.readElementText().isEmpty())
                missing.append(source);
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QVERIFY2(missing.isEmpty(), qPrintable(missing.join(QLatin1Char('\n'))));
    }
};

QTEST_GUILESS_MAIN(TstTranslations)
#include "tst_translations.moc"
