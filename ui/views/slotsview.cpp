// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/slotsview.h"

#include "ui/theme/semanticcolors.h"
#include "ui/viewmodel/numbers.h"
#include "ui/views/cachegauge.h"
#include "ui/views/slotlanes.h"
#include "ui/views/tablesetup.h"
#include "ui/window/serverdesk.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

namespace kerf {

SlotsView::SlotsView(ServerDesk *desk, QWidget *parent)
    : QWidget(parent)
    , m_desk(desk)
    , m_lanes(new SlotLanes)
    , m_gauge(new CacheGauge)
    , m_cache(new CacheModel(this))
    , m_erasures(new ErasuresModel(this))
    , m_cacheView(new QTableView)
    , m_erasuresView(new QTableView)
    , m_span(new QComboBox)
    , m_state(new QLabel)
    , m_split(new QSplitter(Qt::Horizontal))
    , m_attach(new QToolButton)
{
    setObjectName(QStringLiteral("slotsView"));
    auto *bar = new QHBoxLayout;
    bar->setContentsMargins(6, 3, 6, 3);
    bar->setSpacing(4);
    m_span->setObjectName(QStringLiteral("slotsSpan"));
    m_span->setAccessibleName(tr("Time shown"));
    m_span->setToolTip(tr("How far back the lanes go"));
    for (const auto &[text, seconds] : {std::pair(tr("Everything known"), 0), std::pair(tr("Last minute"), 60),
                                        std::pair(tr("Last 10 minutes"), 600), std::pair(tr("Last hour"), 3600)})
        m_span->addItem(text, seconds);
    connect(m_span, &QComboBox::activated, this,
            [this](int index) { m_lanes->setSpan(m_span->itemData(index).toInt()); });
    m_state->setObjectName(QStringLiteral("slotsState"));
    m_state->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_attach->setAutoRaise(true);
    m_attach->hide();
    bar->addWidget(m_span);
    bar->addWidget(m_state, 1);
    bar->addWidget(m_attach);

    setUpConsoleTable(m_cacheView, m_cache, QStringLiteral("cacheTable"), tr("Prompts in the host cache"));
    m_cacheView->horizontalHeader()->setStretchLastSection(true);
    m_cacheView->setColumnWidth(CacheModel::Tokens, columnFor(m_cacheView, QStringLiteral("000,000")));
    m_cacheView->setColumnWidth(CacheModel::Checkpoints, columnFor(m_cacheView, tr("Chkpts", "checkpoints, column")));
    m_cacheView->setColumnWidth(CacheModel::Size, columnFor(m_cacheView, QStringLiteral("0,000.00")));
    setUpConsoleTable(m_erasuresView, m_erasures, QStringLiteral("erasuresTable"), tr("What erased what"));
    m_erasuresView->horizontalHeader()->setStretchLastSection(true);
    m_erasuresView->setColumnWidth(ErasuresModel::Time, columnFor(m_erasuresView, QStringLiteral("00:00:00")));
    m_erasuresView->setColumnWidth(ErasuresModel::Slot, columnFor(m_erasuresView, tr("Slot")));
    connect(m_erasuresView, &QTableView::activated, this, [this](const QModelIndex &at) {
        if (const auto task = m_erasures->rows().at(at.row()).task)
            Q_EMIT taskActivated(*task);
    });

    auto *left = new QSplitter(Qt::Vertical);
    left->addWidget(m_lanes);
    left->addWidget(m_erasuresView);
    left->setStretchFactor(0, 3);
    left->setStretchFactor(1, 1);
    auto *right = new QWidget;
    auto *cacheLayout = new QVBoxLayout(right);
    cacheLayout->setContentsMargins(0, 0, 0, 0);
    cacheLayout->setSpacing(0);
    cacheLayout->addWidget(m_gauge);
    cacheLayout->addWidget(m_cacheView, 1);
    cacheLayout->addStretch(0);
    right->setBackgroundRole(QPalette::Base);
    right->setAutoFillBackground(true);
    right->setMinimumWidth(fontMetrics().averageCharWidth() * 42);
    m_split->addWidget(left);
    m_split->addWidget(right);
    m_split->setStretchFactor(0, 3);
    m_split->setStretchFactor(1, 2);
    m_split->setChildrenCollapsible(false);
    left->setChildrenCollapsible(false);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(m_split, 1);
    setFocusProxy(m_lanes);
    connect(m_lanes, &SlotLanes::currentSlotChanged, this, &SlotsView::currentSlotChanged);
    connect(m_lanes, &SlotLanes::taskActivated, this, &SlotsView::taskActivated);
    connect(m_desk, &ServerDesk::slotsChanged, this, [this] {
        if (isVisible())
            refresh();
    });
    refresh();
}

void SlotsView::setContextSize(int tokens)
{
    if (tokens == m_contextSize)
        return;
    m_contextSize = tokens;
    if (isVisible())
        refresh();
}

void SlotsView::setSlotActions(QAction *save, QAction *restore, QAction *erase, QAction *attachLog)
{
    auto *bar = static_cast<QHBoxLayout *>(layout()->itemAt(0)->layout());
    for (QAction *action : {save, restore, erase}) {
        auto *button = new QToolButton;
        button->setDefaultAction(action);
        button->setAutoRaise(true);
        button->setToolButtonStyle(Qt::ToolButtonTextOnly);
        button->setText(action->iconText());
        bar->addWidget(button);
        m_acts.append(button);
    }
    m_lanes->addActions({save, restore, erase});
    m_lanes->setContextMenuPolicy(Qt::ActionsContextMenu);
    if (attachLog) {
        m_attach->setDefaultAction(attachLog);
        m_attach->setToolButtonStyle(Qt::ToolButtonTextOnly);
    }
}

QString SlotsView::detail() const
{
    const SlotsPicture &picture = m_desk->slotsPicture();
    if (!picture.known)
        return {};
    QStringList parts;
    if (picture.simulated)
        parts << tr("simulated");
    else if (!picture.source.isEmpty())
        parts << (picture.source == QLatin1String("log") ? tr("from the server's log") : tr("from /slots"));
    if (m_desk->isPaused())
        parts << tr("paused");
    return parts.join(QStringLiteral(" · "));
}

void SlotsView::refresh()
{
    const SlotsPicture &picture = m_desk->slotsPicture();
    m_lanes->setPicture(picture, m_contextSize);
    m_gauge->setPicture(picture);
    m_cache->setEntries(picture.cached);
    m_erasures->setErasures(picture.erasures);
    const bool noLog =
        picture.known && picture.readable && !picture.simulated && picture.source != QLatin1String("log");
    m_attach->setVisible(noLog && m_attach->defaultAction());
    QString text;
    if (!picture.readable)
        text = tr("Last known: %1").arg(picture.reason);
    else if (noLog)
        text = tr("Without the server's log neither checkpoints nor the host cache can be seen.");
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText, SemanticColors::of(palette()).warning);
    m_state->setPalette(colours);
    m_state->setText(text);
    m_state->setToolTip(text);
    m_cacheView->setVisible(!picture.cached.isEmpty());
    m_erasuresView->setVisible(!picture.erasures.isEmpty());
    Q_EMIT detailChanged();
}

void SlotsView::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_desk->watchSlots(true);
    refresh();
}

void SlotsView::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_desk->watchSlots(false);
}

void SlotsView::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    // Beside the lanes where there is room, else below them.
    const Qt::Orientation wanted = width() >= fontMetrics().averageCharWidth() * 78 ? Qt::Horizontal : Qt::Vertical;
    if (m_split->orientation() != wanted)
        m_split->setOrientation(wanted);
}

} // namespace kerf
