// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-test: link=kerf_base

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QHash>
#include <QLibraryInfo>
#include <QRegularExpression>
#include <QTest>

// core <- ui <- app: includes point left only, and core knows no window.

namespace {

enum class Layer { Core, Ui, App };

struct Violation {
    QString file;
    int line = 0;
    QString header;
    QString why;
    QString text() const { return QStringLiteral("%1:%2 includes %3: %4").arg(file).arg(line).arg(header, why); }
};

/// Qt modules that core may not use; a header is looked for in the folder of each module as installed.
const QStringList &windowModules()
{
    static const QStringList modules{
        QStringLiteral("QtGui"),          QStringLiteral("QtWidgets"),       QStringLiteral("QtCharts"),
        QStringLiteral("QtSvg"),          QStringLiteral("QtSvgWidgets"),    QStringLiteral("QtOpenGL"),
        QStringLiteral("QtPrintSupport"), QStringLiteral("QtOpenGLWidgets"), QStringLiteral("QtQuick"),
        QStringLiteral("QtQml"),          QStringLiteral("QtQuickWidgets")};
    return modules;
}

QString qtIncludeDir()
{
    static const QString path = QLibraryInfo::path(QLibraryInfo::HeadersPath);
    return path;
}

/// The window module that `header` belongs to, empty if none: by its folder ("QtGui/QPainter"), by the
/// module's own name, or because one of these modules installs a header of that name.
QString windowModuleOf(const QString &header)
{
    static QHash<QString, QString> known;
    const auto it = known.constFind(header);
    if (it != known.cend())
        return *it;
    QString found;
    for (const QString &module : windowModules()) {
        if (header == module || header.startsWith(module + QLatin1Char('/'))
            || QFile::exists(qtIncludeDir() + QLatin1Char('/') + module + QLatin1Char('/') + header)) {
            found = module;
            break;
        }
    }
    known.insert(header, found);
    return found;
}

QString layerFolder(Layer layer)
{
    switch (layer) {
    case Layer::Core:
        return QStringLiteral("core");
    case Layer::Ui:
        return QStringLiteral("ui");
    case Layer::App:
        break;
    }
    return QStringLiteral("app");
}

/// Scans one file's text. `path` is relative to the source root.
QList<Violation> scan(const QString &path, const QString &text, Layer layer)
{
    static const QRegularExpression include(
        QStringLiteral(R"re(^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>))re"));
    static const QRegularExpression hasInclude(QStringLiteral(R"re(__has_include\s*\(\s*["<]([^">\n]+)[">])re"));
    QList<Violation> violations;
    int number = 0;
    const QStringList lines = text.split(QLatin1Char('\n'));
    for (const QString &line : lines) {
        ++number;
        QRegularExpressionMatch match = include.match(line);
        if (!match.hasMatch())
            match = hasInclude.match(line);
        if (!match.hasMatch())
            continue;
        const QString header = match.captured(1).isEmpty() ? match.captured(2) : match.captured(1);
        // "../ui/x.h" and "core/../ui/x.h" reach ui too.
        const bool quoted = !match.captured(1).isEmpty();
        QString resolved = QDir::cleanPath(header);
        if (resolved.startsWith(QLatin1String("..")))
            resolved = QDir::cleanPath(QFileInfo(path).path() + QLatin1Char('/') + header);
        const auto complain = [&](const QString &why) { violations.append({path, number, header, why}); };
        if (layer != Layer::App && resolved.startsWith(QLatin1String("app/")))
            complain(QStringLiteral("app stands to the right of %1").arg(layerFolder(layer)));
        if (layer == Layer::Core && resolved.startsWith(QLatin1String("ui/")))
            complain(QStringLiteral("ui stands to the right of core"));
        const bool ownHeader = quoted && QFile::exists(QStringLiteral(KERF_SOURCE_DIR "/") + resolved);
        const QString module = layer == Layer::Core && !ownHeader ? windowModuleOf(header) : QString();
        if (!module.isEmpty())
            complain(QStringLiteral("core uses no %1").arg(module));
    }
    return violations;
}

struct Source {
    QString path;
    QString text;
};

QList<Source> sourcesOf(Layer layer)
{
    QList<Source> sources;
    const QDir root(QStringLiteral(KERF_SOURCE_DIR));
    QDirIterator it(root.filePath(layerFolder(layer)),
                    {QStringLiteral("*.h"), QStringLiteral("*.cpp"), QStringLiteral("*.hpp"), QStringLiteral("*.cc"),
                     QStringLiteral("*.inl"), QStringLiteral("*.in")},
                    QDir::Files, QDirIterator::Subdirectories);
    while (it.hasNext()) {
        QFile file(it.next());
        if (file.open(QIODevice::ReadOnly))
            sources.append({root.relativeFilePath(file.fileName()), QString::fromUtf8(file.readAll())});
    }
    return sources;
}

} // namespace

class TstLayers : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        // Without Qt's own headers the scanner could not tell a window header from another one.
        for (const QString &header : {QStringLiteral("QtGui/QPainter"), QStringLiteral("QtWidgets/QWidget")})
            QVERIFY2(QFile::exists(qtIncludeDir() + QLatin1Char('/') + header), qPrintable(header));
    }

    void sourcesKeepTheLayers_data()
    {
        QTest::addColumn<int>("layer");
        QTest::newRow("core") << int(Layer::Core);
        QTest::newRow("ui") << int(Layer::Ui);
    }

    void sourcesKeepTheLayers()
    {
        QFETCH(int, layer);
        const QList<Source> sources = sourcesOf(Layer(layer));
        QVERIFY(!sources.isEmpty());
        QStringList texts;
        for (const Source &source : sources) {
            const QList<Violation> violations = scan(source.path, source.text, Layer(layer));
            for (const Violation &violation : violations)
                texts.append(violation.text());
        }
        QVERIFY2(texts.isEmpty(), qPrintable(texts.join(QLatin1Char('\n'))));
    }

    /// core/ links no window module either: what it does not include it could still drag in.
    void coreLinksNoWindowModule()
    {
        QFile file(QStringLiteral(KERF_SOURCE_DIR "/core/CMakeLists.txt"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString text = QString::fromUtf8(file.readAll());
        QVERIFY(text.contains(QLatin1String("Qt6::Core")));
        static const QRegularExpression window(
            QStringLiteral(R"(Qt6?::(Gui|Widgets|Charts|Svg\w*|OpenGL\w*|PrintSupport|Quick\w*|Qml)\b|\bkerf_ui\b)"));
        const QRegularExpressionMatch match = window.match(text);
        QVERIFY2(!match.hasMatch(), qPrintable(match.captured()));
    }

    void scannerCatches_data()
    {
        QTest::addColumn<int>("layer");
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("line"); // 0 = nothing is wrong with it
        const int core = int(Layer::Core);
        const int ui = int(Layer::Ui);
        const int app = int(Layer::App);
        QTest::newRow("core: widget") << core << QStringLiteral("#include <QString>\n#include <QWidget>\n") << 2;
        QTest::newRow("core: widget with its folder") << core << QStringLiteral("#include <QtWidgets/QLabel>\n") << 1;
        QTest::newRow("core: widgets at once") << core << QStringLiteral("#include <QtWidgets>\n") << 1;
        QTest::newRow("core: painter") << core << QStringLiteral("\n\n#include <QPainter>\n") << 3;
        QTest::newRow("core: color by file name") << core << QStringLiteral("#include <qcolor.h>\n") << 1;
        QTest::newRow("core: icon in quotes") << core << QStringLiteral("#include \"QIcon\"\n") << 1;
        QTest::newRow("core: GUI application") << core << QStringLiteral("#  include  <QGuiApplication>\n") << 1;
        QTest::newRow("core: chart") << core << QStringLiteral("#include <QtCharts/QChart>\n") << 1;
        QTest::newRow("core: ui") << core << QStringLiteral("#include \"ui/mainwindow.h\"\n") << 1;
        QTest::newRow("core: ui by dots") << core << QStringLiteral("#include \"../../ui/mainwindow.h\"\n") << 1;
        QTest::newRow("core: app") << core << QStringLiteral("#include \"app/commands.h\"\n") << 1;
        QTest::newRow("core: asks for it") << core << QStringLiteral("#if __has_include(<QWidget>)\n") << 1;
        QTest::newRow("core: fine") << core
                                    << QStringLiteral(
                                           "#include \"core/tokens/tokens.h\"\n#include <QTcpSocket>\n"
                                           "#include <QSqlQuery>\n#include <vector>\n// #include <QWidget>\n")
                                    << 0;
        QTest::newRow("ui: app") << ui << QStringLiteral("#include \"app/commands.h\"\n") << 1;
        QTest::newRow("ui: fine") << ui << QStringLiteral("#include \"core/tokens/tokens.h\"\n#include <QWidget>\n")
                                  << 0;
        QTest::newRow("app: fine") << app << QStringLiteral("#include \"ui/mainwindow.h\"\n#include \"app/x.h\"\n")
                                   << 0;
    }

    void scannerCatches()
    {
        QFETCH(int, layer);
        QFETCH(QString, text);
        QFETCH(int, line);
        const QString path = layerFolder(Layer(layer)) + QStringLiteral("/sample/sample.cpp");
        const QList<Violation> violations = scan(path, text, Layer(layer));
        if (line == 0) {
            QVERIFY2(violations.isEmpty(), violations.isEmpty() ? "" : qPrintable(violations.first().text()));
            return;
        }
        QCOMPARE(violations.size(), 1);
        QCOMPARE(violations.first().line, line);
        QCOMPARE(violations.first().file, path);
    }
};

QTEST_GUILESS_MAIN(TstLayers)
#include "tst_layers.moc"
