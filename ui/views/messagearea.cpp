// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/messagearea.h"

#include "ui/theme/patterns.h"
#include "ui/theme/theme.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>

namespace kerf {

namespace {

QColor toneOf(Message::Kind kind, const SemanticColors &c)
{
    switch (kind) {
    case Message::Kind::Information:
        return c.reused;
    case Message::Kind::Question:
        return c.dimText;
    case Message::Kind::Simulated:
        return c.simulated;
    case Message::Kind::Warning:
        return c.warning;
    case Message::Kind::Error:
        return c.refuted;
    }
    return c.text;
}

} // namespace

MessageArea::MessageArea(QWidget *parent)
    : QWidget(parent)
    , m_title(new QLabel(this))
    , m_text(new QLabel(this))
    , m_button(new QPushButton(this))
    , m_close(new QToolButton(this))
{
    setObjectName(QStringLiteral("messageArea"));
    setAccessibleName(tr("Message"));
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(44, 7, 8, 7);
    layout->setSpacing(10);
    QFont bold = font();
    bold.setBold(true);
    m_title->setFont(bold);
    m_title->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    layout->addWidget(m_title);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_button);
    m_close->setText(QStringLiteral("\u00D7"));
    m_close->setAutoRaise(true);
    m_close->setAccessibleName(tr("Dismiss"));
    m_close->setToolTip(tr("Dismiss"));
    layout->addWidget(m_close);
    connect(m_button, &QPushButton::clicked, this, [this] {
        if (m_current && m_current->action)
            m_current->action->trigger();
    });
    connect(m_close, &QToolButton::clicked, this, [this] {
        if (!m_current)
            return;
        const QString id = m_current->id;
        m_dismissed << id;
        setMessages(m_messages);
        Q_EMIT dismissed(id);
    });
    hide();
}

void MessageArea::setMessages(const QList<Message> &messages)
{
    m_messages = messages;
    std::optional<Message> worst;
    for (const Message &message : messages) {
        if (!m_dismissed.contains(message.id) && (!worst || message.kind > worst->kind))
            worst = message;
    }
    show(worst);
}

void MessageArea::show(const std::optional<Message> &message)
{
    if (message == m_current)
        return;
    m_current = message;
    setVisible(message.has_value());
    if (!message)
        return;
    m_title->setText(message->title);
    m_text->setText(message->text);
    m_button->setVisible(message->action != nullptr);
    if (message->action)
        m_button->setText(message->action->text());
    m_close->setVisible(message->dismissable);
    setAccessibleDescription(tr("%1 %2").arg(message->title, message->text));
    recolour();
    update();
    if (QAccessible::isActive()) {
        QAccessibleEvent event(this, QAccessible::Alert);
        QAccessible::updateAccessibility(&event);
    }
}

void MessageArea::recolour()
{
    if (!m_current)
        return;
    const SemanticColors c = SemanticColors::of(palette());
    QPalette titles = m_title->palette();
    titles.setColor(QPalette::WindowText, m_current->kind == Message::Kind::Simulated ? c.simulated : c.text);
    m_title->setPalette(titles);
}

void MessageArea::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange) {
        recolour();
        update();
    }
    QWidget::changeEvent(event);
}

void MessageArea::paintEvent(QPaintEvent *)
{
    if (!m_current)
        return;
    const SemanticColors c = SemanticColors::of(palette());
    const QColor tone = toneOf(m_current->kind, c);
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    const bool strong = m_current->kind == Message::Kind::Simulated;
    const qreal line = strong ? 2 : 1;
    const QRectF frame = QRectF(rect()).adjusted(line / 2, line / 2, -line / 2, -line / 2);
    p.setPen(QPen(tone, line));
    p.setBrush(m_current->kind == Message::Kind::Question ? c.base : mixed(tone, c.base, 0.12));
    p.drawRoundedRect(frame, 2, 2);
    p.fillRect(QRectF(7, 7, 4, height() - 14), tone);
    const QRectF icon(19, (height() - 18) / 2.0, 18, 18);
    const QPointF m = icon.center();
    p.setPen(QPen(tone, 1.7, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    p.setBrush(Qt::NoBrush);
    QFont bold = font();
    bold.setBold(true);
    p.setFont(bold);
    switch (m_current->kind) {
    case Message::Kind::Simulated:
        drawFlask(p, icon, tone);
        break;
    case Message::Kind::Warning:
        p.drawPolygon(QPolygonF({m + QPointF(0, -7), m + QPointF(8, 7), m + QPointF(-8, 7)}));
        p.drawLine(m + QPointF(0, -2), m + QPointF(0, 2));
        p.drawPoint(m + QPointF(0, 4.6));
        break;
    case Message::Kind::Error:
        p.drawEllipse(m, 8, 8);
        p.drawLine(m + QPointF(-3, -3), m + QPointF(3, 3));
        p.drawLine(m + QPointF(-3, 3), m + QPointF(3, -3));
        break;
    case Message::Kind::Question:
        p.drawEllipse(m, 8, 8);
        p.drawText(icon, Qt::AlignCenter, QStringLiteral("?"));
        break;
    case Message::Kind::Information:
        p.drawEllipse(m, 8, 8);
        p.drawLine(m + QPointF(0, -0.5), m + QPointF(0, 4));
        p.drawPoint(m + QPointF(0, -4));
        break;
    }
}

} // namespace kerf
