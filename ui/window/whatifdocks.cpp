// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/whatifdocks.h"

#include "ui/theme/semanticcolors.h"
#include "ui/viewmodel/liveview.h"
#include "ui/viewmodel/numbers.h"

#include <QEvent>
#include <QHeaderView>
#include <QScrollArea>
#include <QVBoxLayout>

namespace kerf {

namespace {

void setUp(QTableView *view, QAbstractItemModel *model, const QString &name, const QString &accessible)
{
    view->setObjectName(name);
    view->setAccessibleName(accessible);
    view->setModel(model);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    view->setAlternatingRowColors(true);
    view->setShowGrid(false);
    view->setWordWrap(false);
    view->setFrameShape(QFrame::NoFrame);
    view->setTabKeyNavigation(false);
    view->verticalHeader()->hide();
    view->verticalHeader()->setDefaultSectionSize(std::max(22, view->fontMetrics().height() + 6));
    view->verticalHeader()->setMinimumSectionSize(18);
    view->horizontalHeader()->setHighlightSections(false);
    view->horizontalHeader()->setMinimumSectionSize(30);
    view->horizontalHeader()->setStretchLastSection(true);
    view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
}

} // namespace

WhyPanel::WhyPanel(QWidget *parent)
    : QWidget(parent)
    , m_box(new QFrame)
    , m_title(new QLabel)
    , m_text(new QLabel)
    , m_evidence(new QLabel)
{
    setObjectName(QStringLiteral("whyPanel"));
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    m_box->setFrameShape(QFrame::StyledPanel);
    m_box->setAutoFillBackground(true);
    m_box->setBackgroundRole(QPalette::AlternateBase);
    auto *inner = new QVBoxLayout(m_box);
    inner->setContentsMargins(10, 8, 10, 8);
    inner->setSpacing(2);
    QFont bold = font();
    bold.setBold(true);
    m_title->setFont(bold);
    for (QLabel *label : {m_title, m_text, m_evidence}) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        label->setMinimumWidth(80);
    }
    m_text->setObjectName(QStringLiteral("whyText"));
    inner->addWidget(m_title);
    inner->addWidget(m_text);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->setSpacing(8);
    layout->addWidget(m_box);
    layout->addWidget(m_evidence);
    layout->addStretch(1);
    recolour();
}

void WhyPanel::setText(const QString &title, const QString &text, const QString &evidence)
{
    m_box->setVisible(!text.isEmpty());
    m_title->setText(title);
    m_text->setText(text);
    m_evidence->setText(evidence);
}

void WhyPanel::recolour()
{
    const SemanticColors c = SemanticColors::of(palette());
    QPalette dim = palette();
    dim.setColor(QPalette::WindowText, c.dimText);
    m_evidence->setPalette(dim);
}

void WhyPanel::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        recolour();
    QWidget::changeEvent(event);
}

WhatIfDocks::WhatIfDocks(ConsoleState *state, WhatIf *whatIf, QObject *parent)
    : QObject(parent)
    , m_state(state)
    , m_whatIf(whatIf)
    , m_chart(new CutsView(whatIf))
    , m_legalView(new QTableView)
    , m_legal(new LegalCutsModel(this))
    , m_sorted(new QSortFilterProxyModel(this))
    , m_comparisonPage(new QScrollArea)
    , m_comparisonView(new QTableView)
    , m_comparison(new ComparisonModel(this))
    , m_why(new WhyPanel)
{
    connect(m_chart, &CutsView::cutRequested, this, &WhatIfDocks::cutRequested);

    m_sorted->setSourceModel(m_legal);
    m_sorted->setSortRole(SortRole);
    setUp(m_legalView, m_sorted, QStringLiteral("legalCutsTable"), tr("Legal cuts"));
    m_legalView->setSortingEnabled(true);
    m_legalView->sortByColumn(LegalCutsModel::Cut, Qt::AscendingOrder);
    const QFontMetrics cells(m_legalView->font());
    const auto width = [&](LegalCutsModel::Column column, const QString &sample) {
        const QString header = m_legal->headerData(column, Qt::Horizontal).toString();
        m_legalView->setColumnWidth(
            column, std::max(cells.horizontalAdvance(sample), cells.horizontalAdvance(header) + 4) + 10);
    };
    width(LegalCutsModel::Cut, QStringLiteral("~00,000"));
    width(LegalCutsModel::Edge, tr("after episode %1").arg(QStringLiteral("00")));
    width(LegalCutsModel::CheckpointColumn, QStringLiteral("00,000"));
    width(LegalCutsModel::Reused, QStringLiteral("~00,000"));
    width(LegalCutsModel::Prefilled, QStringLiteral("~00,000"));
    width(LegalCutsModel::Ms, QStringLiteral("0,000"));
    width(LegalCutsModel::Window, QStringLiteral("~00,000"));
    width(LegalCutsModel::VerdictColumn, QStringLiteral("snapped −000"));
    const auto chosen = [this](const QModelIndex &at) {
        if (!at.isValid() || m_following)
            return;
        const int row = m_sorted->mapToSource(at).row();
        if (m_legal->report() && row >= 0 && row < m_legal->report()->legal.size())
            Q_EMIT cutRequested(m_legal->report()->legal.at(row).cut);
    };
    connect(m_legalView, &QTableView::clicked, this, chosen);
    connect(m_legalView->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this, chosen](const QModelIndex &now) {
                if (m_legalView->hasFocus())
                    chosen(now);
            });

    setUp(m_comparisonView, m_comparison, QStringLiteral("comparisonTable"), tr("What-if against plan"));
    m_comparisonView->horizontalHeader()->setStretchLastSection(false);
    m_comparisonView->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_comparisonView->horizontalHeader()->setSectionResizeMode(ComparisonModel::Name, QHeaderView::ResizeToContents);
    m_comparisonView->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto *content = new QWidget;
    auto *layout = new QVBoxLayout(content);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_comparisonView);
    layout->addWidget(m_why, 1);
    m_comparisonPage->setWidget(content);
    m_comparisonPage->setWidgetResizable(true);
    m_comparisonPage->setFrameShape(QFrame::NoFrame);
    m_comparisonPage->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_comparisonPage->setFocusProxy(m_comparisonView);
    const int rows = 9;
    m_comparisonView->setFixedHeight(m_comparisonView->verticalHeader()->defaultSectionSize() * rows
                                     + m_comparisonView->horizontalHeader()->sizeHint().height() + 2);

    new LiveView(state, m_chart, [this](ConsoleState::Parts) {
        m_chart->setReport(m_state->data().cuts);
        m_chart->setMarks(m_state->whatIf(), planCutOf(m_state->data()));
        const CutReport *cuts = m_state->data().cuts.get();
        Q_EMIT detailChanged(QStringLiteral("cuts"),
                             !cuts ? QString()
                                 : isFresh(m_state->data())
                                 ? tr("prefill against context kept, legal cuts of this prompt")
                                 : tr("the session moved on, being priced again"));
    });
    new LiveView(state, m_legalView, [this](ConsoleState::Parts) { refreshLegal(); });
    new LiveView(state, m_comparisonPage, [this](ConsoleState::Parts) { refreshComparison(); });
}

QWidget *WhatIfDocks::comparisonPage() const { return m_comparisonPage; }

void WhatIfDocks::refreshLegal()
{
    m_following = true;
    m_legal->setReport(m_state->data().cuts);
    const std::optional<int> plan = planCutOf(m_state->data());
    m_legal->setMarks(m_state->whatIf(), plan);
    const int row = m_state->whatIf() ? m_legal->rowOf(*m_state->whatIf()) : -1;
    const QModelIndex at = row >= 0 ? m_sorted->mapFromSource(m_legal->index(row, 0)) : QModelIndex();
    if (at.isValid()) {
        m_legalView->setCurrentIndex(at);
        m_legalView->scrollTo(at);
    } else {
        m_legalView->clearSelection();
    }
    m_following = false;
    const CutReport *cuts = m_state->data().cuts.get();
    Q_EMIT detailChanged(QStringLiteral("legalcuts"),
                         !cuts                           ? QString()
                             : !isFresh(m_state->data()) ? tr("the session moved on, being priced again")
                             : cuts->sampled
                             ? tr("%1 of %2 at message edges").arg(number(cuts->legal.size()), number(cuts->legalTotal))
                             : tr("%1 at message edges").arg(number(cuts->legal.size())));
}

void WhatIfDocks::refreshComparison()
{
    m_comparison->setComparison(m_whatIf->comparison());
    const CutReport *cuts = m_state->data().cuts.get();
    QString evidence;
    if (cuts) {
        if (cuts->simulated)
            evidence = tr("Simulated: the embedded backend's own cost model, not your server.");
        else if (cuts->cost.known())
            evidence =
                tr("Predicted with the cost measured on this server (requests: %1). Settled by the next request.")
                    .arg(number(cuts->cost.samples));
        else
            evidence = tr("No time is predicted: no prefill was measured on this server yet.");
        if (m_state->picture().disconnected)
            evidence = tr("Last known state. %1").arg(evidence);
    }
    if (!m_whatIf->isActive()) {
        m_why->setText(QString(), QString(), tr("No cut is being tried. Ctrl+T starts what-if."));
    } else {
        const auto [title, text] = m_whatIf->why();
        m_why->setText(title, text, evidence);
    }
    Q_EMIT detailChanged(QStringLiteral("whatif"),
                         m_whatIf->isActive() ? tr("cut at %1").arg(number(m_whatIf->position())) : QString());
}

} // namespace kerf
