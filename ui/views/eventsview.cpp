// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/eventsview.h"

#include "ui/theme/semanticcolors.h"
#include "ui/viewmodel/numbers.h"
#include "ui/views/tablesetup.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QVBoxLayout>

namespace kerf {

void EventsFilter::setGroup(Group group)
{
    if (group == m_group)
        return;
    m_group = group;
    invalidateFilter();
}

void EventsFilter::setWords(const QString &words)
{
    const QStringList wanted = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    if (wanted == m_words)
        return;
    m_words = wanted;
    invalidateFilter();
}

bool EventsFilter::filterAcceptsRow(int row, const QModelIndex &) const
{
    const EventValue &event = static_cast<const EventsModel *>(sourceModel())->rows().at(row);
    const QString &kind = event.kind;
    const auto has = [&kind](const char *part) { return kind.contains(QLatin1String(part)); };
    switch (m_group) {
    case Group::All:
        break;
    case Group::Problems:
        if (!event.problem)
            return false;
        break;
    case Group::Plans:
        if (!has("plan") && !has("applied") && !has("settled") && !has("refuted") && !has("profile"))
            return false;
        break;
    case Group::Checkpoints:
        if (!has("checkpoint") && !has("full reprocessing"))
            return false;
        break;
    case Group::Requests:
        if (!has("task") && !has("prompt") && !has("receipt") && !has("episode"))
            return false;
        break;
    case Group::Server:
        if (!has("server") && !has("slot"))
            return false;
        break;
    }
    for (const QString &word : m_words) {
        if (!kind.contains(word, Qt::CaseInsensitive) && !event.text.contains(word, Qt::CaseInsensitive))
            return false;
    }
    return true;
}

EventsView::EventsView(QWidget *parent)
    : QWidget(parent)
    , m_model(new EventsModel(this))
    , m_filter(new EventsFilter(this))
    , m_table(new QTableView)
    , m_group(new QComboBox)
    , m_words(new QLineEdit)
    , m_bar(new QLabel)
{
    setObjectName(QStringLiteral("eventsView"));
    m_filter->setSourceModel(m_model);
    m_group->setObjectName(QStringLiteral("eventsGroup"));
    m_group->setAccessibleName(tr("Kinds shown"));
    for (const QString &text : {tr("All kinds"), tr("Problems"), tr("Plans and outcomes"), tr("Checkpoints"),
                                tr("Requests"), tr("Server and slots")})
        m_group->addItem(text);
    m_words->setObjectName(QStringLiteral("eventsFilter"));
    m_words->setAccessibleName(tr("Filter events"));
    m_words->setPlaceholderText(tr("filter"));
    m_words->setClearButtonEnabled(true);
    m_bar->setObjectName(QStringLiteral("eventsPaused"));
    m_bar->setContentsMargins(8, 3, 8, 3);
    m_bar->hide();
    auto *bar = new QHBoxLayout;
    bar->setContentsMargins(6, 3, 6, 3);
    bar->setSpacing(4);
    bar->addWidget(m_group);
    bar->addWidget(m_words, 1);
    setUpConsoleTable(m_table, m_filter, QStringLiteral("eventsTable"), tr("Events"));
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->setColumnWidth(EventsModel::Time, columnFor(m_table, QStringLiteral("00:00:00")));
    m_table->setColumnWidth(EventsModel::Kind, columnFor(m_table, QStringLiteral("checkpoint restored")));
    m_table->setColumnWidth(EventsModel::Slot, columnFor(m_table, tr("Slot")));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(m_bar);
    layout->addWidget(m_table, 1);
    setFocusProxy(m_table);
    connect(m_group, &QComboBox::currentIndexChanged, this,
            [this](int index) { m_filter->setGroup(static_cast<EventsFilter::Group>(index)); });
    connect(m_words, &QLineEdit::textChanged, m_filter, &EventsFilter::setWords);
    connect(m_table, &QTableView::activated, this, [this](const QModelIndex &at) {
        const EventValue &event = m_model->rows().at(m_filter->mapToSource(at).row());
        if (event.taskId)
            Q_EMIT taskActivated(*event.taskId);
    });
}

void EventsView::append(const QList<EventValue> &given)
{
    QList<EventValue> events;
    events.reserve(given.size());
    for (const EventValue &event : given) {
        // The state of the server is told whenever something of it changed; the same words again say nothing.
        if (event.kind == QLatin1String("server")) {
            if (event.text == m_lastServer)
                continue;
            m_lastServer = event.text;
        }
        events.append(event);
    }
    if (events.isEmpty())
        return;
    if (m_paused) {
        m_held += events;
        if (m_held.size() > EventsModel::kLimit)
            m_held.remove(0, m_held.size() - EventsModel::kLimit);
        refreshBar();
        return;
    }
    const QScrollBar *bar = m_table->verticalScrollBar();
    const bool follow = bar->value() >= bar->maximum();
    m_model->append(events);
    if (follow)
        m_table->scrollToBottom();
}

void EventsView::setPaused(bool paused)
{
    if (paused == m_paused)
        return;
    m_paused = paused;
    if (!paused) {
        const QList<EventValue> held = std::exchange(m_held, {});
        m_model->append(held);
        m_table->scrollToBottom();
    }
    refreshBar();
}

void EventsView::refreshBar()
{
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText, SemanticColors::of(palette()).warning);
    m_bar->setPalette(colours);
    m_bar->setText(tr("Paused, %1 new").arg(number(m_held.size())));
    m_bar->setVisible(m_paused);
}

} // namespace kerf
