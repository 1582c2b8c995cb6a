// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/serverlogview.h"

#include "ui/theme/semanticcolors.h"
#include "ui/theme/theme.h"
#include "ui/viewmodel/numbers.h"
#include "ui/views/tablesetup.h"
#include "ui/window/serverdesk.h"

#include <QAction>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QIntValidator>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>

namespace kerf {

ServerLogView::ServerLogView(ServerDesk *desk, QWidget *parent)
    : QWidget(parent)
    , m_desk(desk)
    , m_filter(new LogFilter(this))
    , m_table(new QTableView)
    , m_level(new QComboBox)
    , m_slot(new QComboBox)
    , m_task(new QLineEdit)
    , m_expression(new QLineEdit)
    , m_followButton(new QToolButton)
    , m_odd(new QToolButton)
    , m_attach(new QToolButton)
    , m_note(new QLabel)
{
    setObjectName(QStringLiteral("serverLogView"));
    setWhatsThis(tr("The server's log as it is written, and what Kerf reads in it. Debug lines can quote prompts: of "
                    "those only the length is kept. The end is followed until you scroll up; F9 pauses."));
    m_filter->setSourceModel(m_desk->logLines());
    m_filter->setDynamicSortFilter(true);

    const auto box = [](QComboBox *made, const QString &name, const QString &accessible) {
        made->setObjectName(name);
        made->setAccessibleName(accessible);
        made->setToolTip(accessible);
        made->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    };
    box(m_level, QStringLiteral("logLevel"), tr("Level"));
    m_level->addItem(tr("All levels"), static_cast<int>(LogFilter::Level::All));
    m_level->addItem(tr("Without debug"), static_cast<int>(LogFilter::Level::NoDebug));
    m_level->addItem(tr("Warnings, errors"), static_cast<int>(LogFilter::Level::Warnings));
    m_level->addItem(tr("Errors"), static_cast<int>(LogFilter::Level::Errors));
    m_level->addItem(tr("With a reading"), static_cast<int>(LogFilter::Level::Read));
    box(m_slot, QStringLiteral("logSlot"), tr("Slot"));
    m_slot->addItem(tr("All slots"), -1);
    m_task->setObjectName(QStringLiteral("logTask"));
    m_task->setAccessibleName(tr("Task"));
    m_task->setPlaceholderText(tr("task"));
    m_task->setToolTip(tr("Only lines of this task"));
    m_task->setValidator(new QIntValidator(0, 2'000'000'000, m_task));
    m_task->setClearButtonEnabled(true);
    m_task->setFixedWidth(fontMetrics().horizontalAdvance(QStringLiteral("000000")) + 36);
    m_expression->setObjectName(QStringLiteral("logExpression"));
    m_expression->setAccessibleName(tr("Regular expression"));
    m_expression->setPlaceholderText(tr("regular expression"));
    m_expression->setToolTip(tr("Only lines whose text or reading it matches"));
    m_expression->setClearButtonEnabled(true);
    m_expression->setMinimumWidth(80);
    m_followButton->setObjectName(QStringLiteral("logFollow"));
    m_followButton->setText(tr("Follow"));
    m_followButton->setToolTip(tr("Stay at the newest line; scrolling up stops it"));
    m_followButton->setCheckable(true);
    m_followButton->setChecked(true);
    m_followButton->setAutoRaise(true);
    m_odd->setObjectName(QStringLiteral("logNotUnderstood"));
    m_odd->setCheckable(true);
    m_odd->setAutoRaise(true);
    m_attach->setAutoRaise(true);
    m_attach->hide();
    m_note->setObjectName(QStringLiteral("logNote"));
    m_note->setContentsMargins(8, 3, 8, 3);
    m_note->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_note->hide();

    auto *bar = new QHBoxLayout;
    bar->setContentsMargins(6, 3, 6, 3);
    bar->setSpacing(4);
    bar->addWidget(m_level);
    bar->addWidget(m_slot);
    bar->addWidget(m_task);
    bar->addWidget(m_expression, 1);
    bar->addWidget(m_odd);
    bar->addWidget(m_followButton);
    auto *noteBar = new QHBoxLayout;
    noteBar->setContentsMargins(0, 0, 0, 0);
    noteBar->setSpacing(0);
    noteBar->addWidget(m_note, 1);
    noteBar->addWidget(m_attach);

    setUpConsoleTable(m_table, m_filter, QStringLiteral("logTable"), tr("Server log"));
    m_table->setAlternatingRowColors(false);
    m_table->verticalHeader()->setDefaultSectionSize(std::max(18, fontMetrics().height() + 2));
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->setColumnWidth(LogLinesModel::Number, columnFor(m_table, QStringLiteral("00,000")));
    m_table->setColumnWidth(LogLinesModel::Raw, fontMetrics().averageCharWidth() * 62);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addLayout(noteBar);
    layout->addWidget(m_table, 1);
    setFocusProxy(m_table);
    m_table->viewport()->installEventFilter(this);

    connect(m_level, &QComboBox::currentIndexChanged, this, &ServerLogView::applyFilters);
    connect(m_slot, &QComboBox::currentIndexChanged, this, &ServerLogView::applyFilters);
    connect(m_task, &QLineEdit::textChanged, this, &ServerLogView::applyFilters);
    connect(m_expression, &QLineEdit::textChanged, this, &ServerLogView::applyFilters);
    connect(m_odd, &QToolButton::toggled, this, &ServerLogView::applyFilters);
    connect(m_followButton, &QToolButton::clicked, this, &ServerLogView::setFollowing);
    // Whoever scrolls up wants to read; whoever comes back to the end wants the news.
    connect(m_table->verticalScrollBar(), &QScrollBar::valueChanged, this, [this](int value) {
        if (m_ownScroll)
            return;
        setFollowing(value >= m_table->verticalScrollBar()->maximum());
    });
    connect(m_table->verticalScrollBar(), &QScrollBar::rangeChanged, this, [this] {
        if (!m_follow)
            return;
        m_ownScroll = true;
        m_table->scrollToBottom();
        m_ownScroll = false;
    });
    // The removal of the oldest lines moves what one reads: it stays in place.
    connect(m_filter, &QAbstractItemModel::rowsAboutToBeRemoved, this, [this] { m_ownScroll = true; });
    connect(m_filter, &QAbstractItemModel::rowsRemoved, this, [this](const QModelIndex &, int first, int last) {
        if (!m_follow && first == 0)
            m_table->verticalScrollBar()->setValue(m_table->verticalScrollBar()->value() - (last - first + 1));
        m_ownScroll = false;
    });
    connect(m_desk, &ServerDesk::logChanged, this, [this] {
        if (isVisible())
            refresh();
    });
    connect(m_desk, &ServerDesk::slotsChanged, this, [this] {
        if (isVisible())
            refresh();
    });
    refresh();
}

void ServerLogView::setAttachAction(QAction *attach)
{
    m_attach->setDefaultAction(attach);
    m_attach->setToolButtonStyle(Qt::ToolButtonTextOnly);
}

void ServerLogView::setFollowing(bool on)
{
    m_follow = on;
    if (m_followButton->isChecked() != on)
        m_followButton->setChecked(on);
    if (on) {
        m_ownScroll = true;
        m_table->scrollToBottom();
        m_ownScroll = false;
    }
}

void ServerLogView::showTask(qint64 task)
{
    m_level->setCurrentIndex(0);
    m_slot->setCurrentIndex(0);
    m_odd->setChecked(false);
    m_expression->clear();
    m_task->setText(QString::number(task));
}

bool ServerLogView::showText(const QString &text)
{
    m_level->setCurrentIndex(0);
    m_slot->setCurrentIndex(0);
    m_odd->setChecked(false);
    m_expression->clear();
    m_task->clear();
    for (int row = m_filter->rowCount() - 1; row >= 0; --row) {
        const QModelIndex at = m_filter->index(row, LogLinesModel::Raw);
        if (!at.data().toString().contains(text))
            continue;
        setFollowing(false);
        m_table->setCurrentIndex(at);
        m_table->scrollTo(at, QAbstractItemView::PositionAtCenter);
        return true;
    }
    return false;
}

void ServerLogView::applyFilters()
{
    const bool follow = m_follow;
    m_ownScroll = true; // fewer lines move the end
    m_filter->setLevel(static_cast<LogFilter::Level>(m_level->currentData().toInt()));
    const int slot = m_slot->currentData().toInt();
    m_filter->setSlot(slot < 0 ? std::nullopt : std::optional<int>(slot));
    m_filter->setTask(m_task->text().isEmpty() ? std::nullopt : std::optional<qint64>(m_task->text().toLongLong()));
    m_filter->setNotUnderstoodOnly(m_odd->isChecked());
    const QString wrong = m_filter->setExpression(m_expression->text());
    QPalette colours = m_expression->palette();
    const SemanticColors c = SemanticColors::of(palette());
    colours.setColor(QPalette::Text, wrong.isEmpty() ? palette().color(QPalette::Text) : c.refuted);
    m_expression->setPalette(colours);
    m_expression->setToolTip(wrong.isEmpty() ? tr("Only lines whose text or reading it matches")
                                             : tr("Not a regular expression: %1").arg(wrong));
    m_ownScroll = false;
    if (follow)
        setFollowing(true);
    refresh();
}

QString ServerLogView::detail() const
{
    const LogAnswer &state = m_desk->logState();
    QStringList parts;
    if (m_filter->filters())
        parts << tr("%1 of %2 lines").arg(number(m_filter->rowCount()), number(m_desk->logLines()->rowCount()));
    else if (m_desk->logLines()->rowCount() > 0)
        parts << tr("%n line(s)", nullptr, m_desk->logLines()->rowCount());
    if (!state.source.isEmpty())
        parts << state.source;
    return parts.join(QStringLiteral(" · "));
}

void ServerLogView::refresh()
{
    const LogAnswer &state = m_desk->logState();
    const QList<SlotLane> &lanes = m_desk->slotsPicture().lanes;
    if (!lanes.isEmpty() && m_slot->count() != lanes.size() + 1) {
        const QSignalBlocker block(m_slot);
        const int was = m_slot->currentData().toInt();
        while (m_slot->count() > 1)
            m_slot->removeItem(1);
        for (const SlotLane &lane : lanes)
            m_slot->addItem(tr("Slot %1").arg(lane.slotId), lane.slotId);
        m_slot->setCurrentIndex(std::max(0, m_slot->findData(was)));
    }
    m_odd->setText(tr("Not understood: %1").arg(number(state.notUnderstood)));
    m_odd->setToolTip(tr("Lines that look like slot or cache lines, and are none that Kerf knows"));
    m_odd->setVisible(state.notUnderstood > 0 || m_odd->isChecked());
    const SemanticColors c = SemanticColors::of(palette());
    QString note;
    QColor colour = c.text;
    const bool attached = state.attached || m_desk->logLines()->rowCount() > 0;
    if (m_desk->isPaused()) {
        note = tr("Paused, %1 new").arg(number(m_desk->logHeldBack()));
        colour = c.warning;
    } else if (!m_desk->hasClient()) {
        note = tr("Not connected.");
    } else if (!attached) {
        note = m_desk->slotsPicture().simulated
            ? tr("The simulation writes no log.")
            : tr("No log is attached. llama-server must run with -lv 4: its checkpoints show nowhere else.");
    } else if (m_filter->filters() && m_filter->rowCount() == 0) {
        note = tr("No line passes the filters.");
    }
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText, colour);
    m_note->setPalette(colours);
    m_note->setText(note);
    m_note->setToolTip(note);
    m_note->setVisible(!note.isEmpty());
    m_attach->setVisible(!attached && m_desk->hasClient() && m_attach->defaultAction()
                         && !m_desk->slotsPicture().simulated);
    Q_EMIT detailChanged();
}

bool ServerLogView::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_table->viewport() && event->type() == QEvent::Resize) {
        const int room = m_table->viewport()->width() - m_table->columnWidth(LogLinesModel::Number);
        m_table->setColumnWidth(LogLinesModel::Raw, std::max(fontMetrics().averageCharWidth() * 24, room * 62 / 100));
    }
    return QWidget::eventFilter(watched, event);
}

void ServerLogView::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_desk->watchLog(true);
    refresh();
}

void ServerLogView::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_desk->watchLog(false);
}

} // namespace kerf
