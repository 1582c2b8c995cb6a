// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/theme/theme.h"

#include "ui/theme/semanticcolors.h"

#include <QApplication>
#include <QFile>
#include <QFontDatabase>
#include <QIconEngine>
#include <QPainter>
#include <QPixmap>
#include <QStyle>
#include <QStyleFactory>
#include <QSvgRenderer>

namespace kerf {

namespace {

/// Draws an SVG in the text colour of the palette in force, so that one file serves both themes.
class TextColorSvg : public QIconEngine
{
public:
    explicit TextColorSvg(QString path)
        : m_path(std::move(path))
    {
    }

    void paint(QPainter *painter, const QRect &rect, QIcon::Mode mode, QIcon::State) override
    {
        const QPalette palette = QApplication::palette();
        QColor color =
            palette.color(mode == QIcon::Disabled ? QPalette::Disabled : QPalette::Active, QPalette::WindowText);
        if (mode == QIcon::Selected)
            color = palette.color(QPalette::HighlightedText);
        QFile file(m_path);
        if (!file.open(QIODevice::ReadOnly))
            return;
        QByteArray svg = file.readAll();
        svg.replace("currentColor", color.name().toLatin1());
        QSvgRenderer renderer(svg);
        renderer.render(painter, rect);
    }
    QPixmap pixmap(const QSize &size, QIcon::Mode mode, QIcon::State state) override
    {
        QPixmap result(size);
        result.fill(Qt::transparent);
        QPainter painter(&result);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return result;
    }
    QIconEngine *clone() const override { return new TextColorSvg(m_path); }

private:
    QString m_path;
};

} // namespace

std::optional<ThemeChoice> themeFromName(const QString &name)
{
    if (name == QLatin1String("light"))
        return ThemeChoice::Light;
    if (name == QLatin1String("dark"))
        return ThemeChoice::Dark;
    if (name == QLatin1String("system"))
        return ThemeChoice::System;
    return std::nullopt;
}

QString themeName(ThemeChoice choice)
{
    switch (choice) {
    case ThemeChoice::Light:
        return QStringLiteral("light");
    case ThemeChoice::Dark:
        return QStringLiteral("dark");
    case ThemeChoice::System:
        break;
    }
    return QStringLiteral("system");
}

QPalette themePalette(ThemeChoice choice)
{
    const bool dark = choice == ThemeChoice::Dark;
    const SemanticColors colors = dark ? SemanticColors::darkTheme() : SemanticColors::light();
    QPalette palette;
    const auto both = [&palette](QPalette::ColorRole role, const QColor &color) {
        palette.setColor(QPalette::Active, role, color);
        palette.setColor(QPalette::Inactive, role, color);
        palette.setColor(QPalette::Disabled, role, color);
    };
    both(QPalette::Window, colors.window);
    both(QPalette::Base, colors.base);
    both(QPalette::AlternateBase, dark ? QColor(0x26282B) : QColor(0xF6F7F8));
    both(QPalette::Text, colors.text);
    both(QPalette::WindowText, colors.text);
    both(QPalette::ButtonText, colors.text);
    both(QPalette::Button, dark ? QColor(0x3A3D41) : QColor(0xF6F6F6));
    both(QPalette::ToolTipBase, dark ? QColor(0x3A3D41) : QColor(0xFFFFFF));
    both(QPalette::ToolTipText, colors.text);
    both(QPalette::PlaceholderText, colors.dimText);
    both(QPalette::Highlight, dark ? QColor(0x2F6CA0) : QColor(0x1F6FAE));
    both(QPalette::HighlightedText, QColor(0xFFFFFF));
    both(QPalette::Link, colors.reused);
    both(QPalette::BrightText, colors.refuted);
    both(QPalette::Light, dark ? QColor(0x4A4D52) : QColor(0xFFFFFF));
    both(QPalette::Midlight, dark ? QColor(0x404347) : QColor(0xE6E6E6));
    both(QPalette::Mid, dark ? QColor(0x55595E) : QColor(0xC4C6C8));
    both(QPalette::Dark, dark ? QColor(0x17181A) : QColor(0xA0A2A4));
    both(QPalette::Shadow, dark ? QColor(0x0C0D0E) : QColor(0x707070));
    const QColor faint = dark ? QColor(0x7A7F85) : QColor(0x8C8C8C);
    for (const auto role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, faint);
    palette.setColor(QPalette::Disabled, QPalette::Highlight, dark ? QColor(0x4A4D52) : QColor(0xC8CACC));
    return palette;
}

void applyTheme(ThemeChoice choice)
{
    if (choice == ThemeChoice::System) {
        QApplication::setPalette(QApplication::style()->standardPalette());
        return;
    }
    // Styles that paint from pixmaps of their own ignore a palette; Fusion follows it everywhere.
    if (QApplication::style()->name().compare(QLatin1String("fusion"), Qt::CaseInsensitive) != 0)
        QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QApplication::setPalette(themePalette(choice));
}

QIcon themedIcon(const QString &name)
{
    const QString own = QStringLiteral(":/kerf/icons/%1.svg").arg(name);
    const bool haveOwn = QFile::exists(own);
    if (!name.startsWith(QLatin1String("kerf-")) && QIcon::hasThemeIcon(name) && !haveOwn)
        return QIcon::fromTheme(name);
    return haveOwn ? QIcon(new TextColorSvg(own)) : QIcon();
}

QFont tokenFont() { return QFontDatabase::systemFont(QFontDatabase::FixedFont); }

} // namespace kerf
