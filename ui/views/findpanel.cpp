// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/findpanel.h"

#include "ui/viewmodel/numbers.h"

#include <QHeaderView>
#include <QJsonArray>
#include <QLabel>
#include <QPointer>
#include <QTableView>
#include <QVBoxLayout>

namespace kerf {

namespace {
constexpr int kMostHits = 1000; ///< of one search, as many as the service gives
}

FindPanel::FindPanel(ConsoleState *state, Caller caller, QWidget *parent)
    : QWidget(parent)
    , m_state(state)
    , m_caller(std::move(caller))
    , m_model(new FindModel(this))
    , m_view(new QTableView)
    , m_summary(new QLabel)
{
    setObjectName(QStringLiteral("findPanel"));
    setWhatsThis(tr("What the find field found. #12 is an episode, @1579 a token, c:8 a compaction, t:44 a task; role: "
                    "and tier: choose among the episodes; anything else is text."));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    m_summary->setContentsMargins(8, 4, 8, 4);
    m_summary->setWordWrap(true);
    m_summary->setObjectName(QStringLiteral("findSummary"));
    m_view->setObjectName(QStringLiteral("findTable"));
    m_view->setAccessibleName(tr("Found"));
    m_view->setModel(m_model);
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setSelectionMode(QAbstractItemView::SingleSelection);
    m_view->setAlternatingRowColors(true);
    m_view->setShowGrid(false);
    m_view->setWordWrap(false);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setTabKeyNavigation(false);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(std::max(22, m_view->fontMetrics().height() + 6));
    m_view->horizontalHeader()->setStretchLastSection(true);
    m_view->horizontalHeader()->setHighlightSections(false);
    m_view->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_view->setColumnWidth(FindModel::What, 150);
    m_view->setColumnWidth(FindModel::Where, 110);
    layout->addWidget(m_summary);
    layout->addWidget(m_view, 1);
    setFocusProxy(m_view);
    connect(m_view, &QTableView::clicked, this, [this](const QModelIndex &at) { choose(at.row()); });
    connect(m_view, &QTableView::activated, this, [this](const QModelIndex &at) { choose(at.row()); });
    m_timer.setSingleShot(true);
    m_timer.setInterval(150);
    connect(&m_timer, &QTimer::timeout, this, &FindPanel::search);
    connect(state, &ConsoleState::changed, this, [this](ConsoleState::Parts parts) {
        if (!m_query.isEmpty() && parts & (ConsoleState::Episodes | ConsoleState::Compactions))
            refresh();
    });
    refresh();
}

void FindPanel::setQuery(const QString &field)
{
    if (field == m_field)
        return;
    m_field = field;
    m_query = parseFind(field);
    m_texts.clear();
    m_searched = false;
    m_problem.clear();
    ++m_number;
    m_current = -1;
    m_searching = m_query.needsSearch();
    if (m_searching)
        m_timer.start();
    else
        m_timer.stop();
    refresh();
}

void FindPanel::search()
{
    const ConsoleData &console = m_state->data();
    if (!console.hasSession || !m_query.needsSearch()) {
        m_searching = false;
        refresh();
        return;
    }
    const quint64 number = ++m_number;
    const QJsonObject params{{QStringLiteral("session_id"), console.session.id},
                             {QStringLiteral("query"), m_query.text},
                             {QStringLiteral("k"), kMostHits},
                             {QStringLiteral("include_folded"), true}};
    const QPointer<FindPanel> self(this);
    m_caller(QStringLiteral("memory.recall"), params, [self, number](const Result<QJsonObject> &result) {
        if (!self || self->m_number != number)
            return;
        self->m_searching = false;
        self->m_searched = true;
        if (!result) {
            self->m_problem = result.error().message;
        } else {
            const QJsonArray rows = result->value(QLatin1String("results")).toArray();
            for (const QJsonValue &row : rows) {
                const int seq = row.toObject().value(QLatin1String("seq")).toInt();
                if (seq > 0)
                    self->m_texts.insert(seq, row.toObject().value(QLatin1String("text")).toString().left(400));
            }
        }
        self->refresh();
    });
}

void FindPanel::refresh()
{
    const bool texts = m_query.needsSearch() && m_searched;
    m_model->setHits(m_query.isEmpty() ? QList<FindHit>()
                                       : findHits(m_query, m_state->data(), texts ? &m_texts : nullptr));
    if (m_current >= m_model->rowCount())
        m_current = -1;
    m_summary->setText(summary());
    Q_EMIT found();
}

QString FindPanel::summary() const
{
    if (!m_query.problem.isEmpty())
        return m_query.problem;
    if (!m_problem.isEmpty())
        return tr("The search failed: %1").arg(m_problem);
    if (m_query.isEmpty())
        return tr("Ctrl+F finds: text, #12, @1579, c:8, t:44, role:tool, tier:masked.");
    if (m_searching)
        return tr("Searching…");
    const int count = m_model->rowCount();
    if (count == 0)
        return tr("Nothing found.");
    if (m_current >= 0)
        return tr("%1 of %2").arg(number(m_current + 1), number(count));
    return tr("%n found", nullptr, count);
}

void FindPanel::choose(int row)
{
    if (row < 0 || row >= m_model->rowCount())
        return;
    m_current = row;
    m_view->selectRow(row);
    m_view->scrollTo(m_model->index(row, 0));
    m_summary->setText(summary());
    Q_EMIT chosen(m_model->rows().at(row));
    Q_EMIT found();
}

void FindPanel::step(int by)
{
    const int count = m_model->rowCount();
    if (count == 0)
        return;
    const int from = m_current < 0 ? (by > 0 ? -1 : count) : m_current;
    choose((from + by + count) % count);
}

} // namespace kerf
