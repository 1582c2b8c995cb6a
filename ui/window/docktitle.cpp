// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/docktitle.h"

#include "ui/theme/semanticcolors.h"

#include <QDockWidget>
#include <QHBoxLayout>
#include <QPainter>
#include <QToolButton>

namespace kerf {

DockTitle::DockTitle(QDockWidget *dock)
    : QWidget(dock)
    , m_dock(dock)
    , m_buttons(new QWidget(this))
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 2, 0);
    layout->addStretch(1);
    layout->addWidget(m_buttons);
    auto *buttons = new QHBoxLayout(m_buttons);
    buttons->setContentsMargins(0, 0, 0, 0);
    buttons->setSpacing(0);
    const auto button = [&](const QString &sign, const QString &name) {
        auto *made = new QToolButton;
        made->setAutoRaise(true);
        made->setText(sign);
        made->setToolTip(name);
        made->setAccessibleName(tr("%1: %2").arg(dock->windowTitle(), name));
        made->setFixedSize(24, 24);
        made->setFocusPolicy(Qt::NoFocus);
        buttons->addWidget(made);
        return made;
    };
    connect(button(QStringLiteral("\u25AB"), tr("Float or dock")), &QToolButton::clicked, dock,
            [dock] { dock->setFloating(!dock->isFloating()); });
    connect(button(QStringLiteral("\u00D7"), tr("Close")), &QToolButton::clicked, dock, &QWidget::close);
}

void DockTitle::setDetail(const QString &detail)
{
    if (detail == m_full)
        return;
    m_full = detail;
    update();
}

QSize DockTitle::minimumSizeHint() const { return {80, std::max(26, fontMetrics().height() + 8)}; }
QSize DockTitle::sizeHint() const { return {200, minimumSizeHint().height()}; }

void DockTitle::paintEvent(QPaintEvent *)
{
    const SemanticColors c = SemanticColors::of(palette());
    QPainter p(this);
    p.fillRect(rect(), mixed(c.text, c.window, 0.05));
    p.setPen(mixed(c.axis, c.window, 0.5));
    p.drawLine(0, height() - 1, width(), height() - 1);
    QFont bold = font();
    bold.setWeight(QFont::DemiBold);
    const QFontMetrics metrics(bold);
    const int room = width() - m_buttons->width() - 16;
    const QString title = metrics.elidedText(m_dock->windowTitle(), Qt::ElideRight, room);
    p.setFont(bold);
    p.setPen(c.text);
    p.drawText(QRect(9, 0, room, height()), Qt::AlignLeft | Qt::AlignVCenter, title);
    const int used = metrics.horizontalAdvance(title) + 10;
    if (room - used > 30) {
        p.setFont(font());
        p.setPen(c.dimText);
        p.drawText(QRect(9 + used, 0, room - used, height()), Qt::AlignLeft | Qt::AlignVCenter,
                   fontMetrics().elidedText(m_full, Qt::ElideRight, room - used));
    }
}

void ModeBox::setMode(Mode mode)
{
    m_mode = mode;
    update();
}

void ModeBox::paintEvent(QPaintEvent *event)
{
    QComboBox::paintEvent(event);
    if (m_mode == Mode::Plain)
        return;
    const SemanticColors c = SemanticColors::of(palette());
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    p.setPen(QPen(m_mode == Mode::Simulated ? c.simulated : c.warning, 2));
    p.setBrush(Qt::NoBrush);
    p.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 3, 3);
}

} // namespace kerf
