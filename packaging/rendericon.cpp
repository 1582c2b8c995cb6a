// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// rendericon ICON.svg OUT.png PIXELS: used while building, so that the PNG icons never differ from the SVG.

#include <QGuiApplication>
#include <QImage>
#include <QPainter>
#include <QSvgRenderer>

#include <cstdio>

int main(int argc, char *argv[])
{
    const QGuiApplication app(argc, argv);
    const QStringList arguments = QGuiApplication::arguments();
    const int pixels = arguments.size() == 4 ? arguments.at(3).toInt() : 0;
    if (pixels <= 0) {
        std::fputs("usage: rendericon ICON.svg OUT.png PIXELS\n", stderr);
        return 2;
    }
    QSvgRenderer renderer(arguments.at(1));
    QImage image(pixels, pixels, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    renderer.render(&painter);
    painter.end();
    if (!renderer.isValid() || !image.save(arguments.at(2))) {
        std::fprintf(stderr, "rendericon: cannot render %s to %s\n", qPrintable(arguments.at(1)),
                     qPrintable(arguments.at(2)));
        return 1;
    }
    return 0;
}
