// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/whatifbar.h"

#include "ui/theme/patterns.h"
#include "ui/theme/semanticcolors.h"
#include "ui/theme/theme.h"
#include "ui/viewmodel/whatif.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>

namespace kerf {

WhatIfBar::WhatIfBar(WhatIf *whatIf, QWidget *parent)
    : QWidget(parent)
    , m_whatIf(whatIf)
    , m_title(new QLabel)
    , m_text(new QLabel)
    , m_keys(new QLabel)
    , m_back(new QPushButton(tr("Back to plan  Esc")))
    , m_use(new QPushButton(tr("Use this cut  Enter")))
{
    setObjectName(QStringLiteral("whatIfBar"));
    setAccessibleName(tr("What-if"));
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(38, 5, 8, 5);
    layout->setSpacing(8);
    QFont bold = font();
    bold.setBold(true);
    m_title->setFont(bold);
    m_title->setText(tr("What-if."));
    m_text->setText(tr("Nothing is sent to the server and nothing is evicted while you try cuts."));
    m_text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_text->setMinimumWidth(60);
    m_keys->setText(tr("← → token    Ctrl ← → message edge    Alt ← → checkpoint    [ ] cheaper, dearer"));
    m_keys->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    layout->addWidget(m_title);
    layout->addWidget(m_text, 5);
    layout->addWidget(m_keys, 6);
    layout->addWidget(m_back);
    layout->addWidget(m_use);
    m_use->setObjectName(QStringLiteral("useCut"));
    m_back->setObjectName(QStringLiteral("backToPlan"));
    m_use->setDefault(false);
    connect(m_use, &QPushButton::clicked, this, &WhatIfBar::useRequested);
    connect(m_back, &QPushButton::clicked, whatIf, &WhatIf::leave);
    connect(whatIf, &WhatIf::moved, this, &WhatIfBar::refresh);
    connect(whatIf, &WhatIf::activeChanged, this, [this](bool active) {
        setVisible(active);
        refresh();
    });
    setVisible(whatIf->isActive());
    recolour();
    refresh();
}

void WhatIfBar::refresh()
{
    if (!m_whatIf->isActive())
        return;
    const QString why = m_whatIf->whyNotUse();
    m_use->setEnabled(why.isEmpty());
    m_use->setToolTip(why.isEmpty() ? tr("Makes a new plan with this cut. Apply is still a separate step. (Enter)")
                                    : tr("%1. Ctrl+arrows go to the next legal cut.").arg(why));
    setAccessibleDescription(m_whatIf->sentence());
}

void WhatIfBar::recolour()
{
    const SemanticColors c = SemanticColors::of(palette());
    QPalette dim = palette();
    dim.setColor(QPalette::WindowText, c.dimText);
    m_keys->setPalette(dim);
}

void WhatIfBar::resizeEvent(QResizeEvent *)
{
    // Half a list of keys helps nobody: where there is no room for all, the tooltip has them.
    const int room = width() - m_title->sizeHint().width() - m_back->sizeHint().width() - m_use->sizeHint().width()
        - m_text->sizeHint().width() - 90;
    m_keys->setVisible(room > m_keys->sizeHint().width());
    setToolTip(m_keys->isHidden() ? m_keys->text() : QString());
}

void WhatIfBar::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        recolour();
    QWidget::changeEvent(event);
}

void WhatIfBar::paintEvent(QPaintEvent *)
{
    const SemanticColors c = SemanticColors::of(palette());
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    p.setPen(QPen(c.focus, 1));
    p.setBrush(mixed(c.focus, c.window, c.dark ? 0.22 : 0.12));
    p.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    const QIcon icon = themedIcon(QStringLiteral("kerf-cut"));
    icon.paint(&p, QRect(12, (height() - 18) / 2, 18, 18));
}

} // namespace kerf
