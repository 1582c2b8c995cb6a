// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/checkpointsview.h"

#include "ui/theme/patterns.h"
#include "ui/viewmodel/numbers.h"
#include "ui/views/tablesetup.h"
#include "ui/window/serverdesk.h"

#include <QAction>
#include <QEvent>
#include <QLabel>
#include <QPainter>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace kerf {

namespace {

/// Draws a checkpoint's shape in front of its kind.
class ShapeDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        QStyledItemDelegate::paint(painter, option, index);
        const auto kind = static_cast<CheckpointKind>(index.data(Qt::DecorationRole).toInt());
        const SemanticColors c = SemanticColors::of(option.palette);
        const bool selected = option.state & QStyle::State_Selected;
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        drawCheckpointHead(*painter, QPointF(option.rect.left() + 10, option.rect.center().y() + 0.5), 4.2, kind,
                           selected ? option.palette.color(QPalette::HighlightedText) : c.checkpoint(kind));
        painter->restore();
    }

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        option->text = QStringLiteral("    ") + index.data(Qt::DisplayRole).toString();
        option->features &= ~QStyleOptionViewItem::HasDecoration;
    }
};

} // namespace

CheckpointsView::CheckpointsView(ServerDesk *desk, QWidget *parent)
    : QWidget(parent)
    , m_desk(desk)
    , m_model(new CheckpointsModel(this))
    , m_sorted(new QSortFilterProxyModel(this))
    , m_table(new QTableView)
    , m_sum(new QLabel)
    , m_cutHere(new QAction(tr("Plan with the cut here"), this))
    , m_restore(new QAction(tr("Restore…"), this))
    , m_showInLog(new QAction(tr("Show in log"), this))
    , m_delete(new QAction(tr("Delete file…"), this))
{
    m_sorted->setSourceModel(m_model);
    m_sorted->setSortRole(SortRole);
    setUpConsoleTable(m_table, m_sorted, QStringLiteral("checkpointsTable"), tr("Checkpoints"));
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(CheckpointsModel::Position, Qt::DescendingOrder);
    m_table->setItemDelegateForColumn(CheckpointsModel::Kind, new ShapeDelegate(m_table));
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_table->setColumnWidth(CheckpointsModel::Position, columnFor(m_table, QStringLiteral("000,000")));
    m_table->setColumnWidth(CheckpointsModel::Kind, columnFor(m_table, tr("pre-rewrite")) + 14);
    m_table->setColumnWidth(CheckpointsModel::Size, columnFor(m_table, QStringLiteral("000.00")));
    m_table->setColumnWidth(CheckpointsModel::MadeBy, columnFor(m_table, tr("not reported")));
    m_table->setColumnWidth(CheckpointsModel::Age, columnFor(m_table, tr("not reported")));
    m_sum->setObjectName(QStringLiteral("checkpointsSum"));
    m_sum->setContentsMargins(8, 4, 8, 4);
    m_sum->setWordWrap(true);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_table, 1);
    layout->addWidget(m_sum);
    setFocusProxy(m_table);
    m_restore->setObjectName(QStringLiteral("restoreCheckpoint"));
    m_showInLog->setObjectName(QStringLiteral("checkpointInLog"));
    m_delete->setObjectName(QStringLiteral("deleteCheckpoint"));
    m_table->addActions({m_cutHere, m_restore, m_showInLog, m_delete});
    connect(m_cutHere, &QAction::triggered, this, [this] {
        if (const CheckpointMark *mark = current())
            Q_EMIT cutRequested(mark->checkpoint.position);
    });
    connect(m_restore, &QAction::triggered, this, [this] {
        if (const CheckpointMark *mark = current(); mark && !mark->checkpoint.fileName.isEmpty())
            Q_EMIT restoreRequested(mark->checkpoint.fileName);
    });
    connect(m_delete, &QAction::triggered, this, [this] {
        if (const CheckpointMark *mark = current(); mark && !mark->checkpoint.fileName.isEmpty())
            Q_EMIT deleteRequested(mark->checkpoint.fileName);
    });
    connect(m_showInLog, &QAction::triggered, this, [this] {
        if (const CheckpointMark *mark = current())
            Q_EMIT logRequested(mark->checkpoint.position, mark->checkpoint.taskId.value_or(-1));
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex &now) {
        refreshActions();
        if (now.isValid() && m_table->hasFocus())
            Q_EMIT positionChosen(now.siblingAtColumn(CheckpointsModel::Position).data(SortRole).toInt());
    });
    connect(m_table, &QTableView::clicked, this, [this](const QModelIndex &at) {
        Q_EMIT positionChosen(at.siblingAtColumn(CheckpointsModel::Position).data(SortRole).toInt());
    });
    refreshActions();
}

const CheckpointMark *CheckpointsView::current() const
{
    const QModelIndex at = m_sorted->mapToSource(m_table->currentIndex());
    return at.isValid() && at.row() < m_model->rows().size() ? &m_model->rows().at(at.row()) : nullptr;
}

void CheckpointsView::setPicture(const CutPicture &picture, const QString &sessionId, std::optional<int> ringMost)
{
    CutPicture with = picture;
    // Save files of this session stand beside the ring; whether one can serve is said, not guessed.
    for (const SavedFile &save : m_desk->slotsPicture().saves) {
        if (save.sessionId != sessionId)
            continue;
        CheckpointMark mark;
        mark.checkpoint.position = save.position;
        mark.checkpoint.kind = checkpointKindFromName(save.kind).value_or(CheckpointKind::SlotSaveFile);
        mark.checkpoint.fileName = save.file;
        mark.checkpoint.slotId = save.slotId.value_or(-1);
        mark.checkpoint.createdAt = save.at;
        mark.fate = save.exists == false ? CheckpointMark::Fate::FileMissing
            : !save.thisServer           ? CheckpointMark::Fate::IdentityChanged
                                         : CheckpointMark::Fate::Kept;
        const bool known =
            std::any_of(with.checkpoints.cbegin(), with.checkpoints.cend(), [&mark](const CheckpointMark &other) {
                return other.checkpoint.position == mark.checkpoint.position
                    && other.checkpoint.kind == mark.checkpoint.kind;
            });
        if (!known)
            with.checkpoints.append(mark);
    }
    std::stable_sort(
        with.checkpoints.begin(), with.checkpoints.end(),
        [](const CheckpointMark &a, const CheckpointMark &b) { return a.checkpoint.position < b.checkpoint.position; });
    m_ringMost = ringMost;
    m_model->setPicture(with, QDateTime::currentDateTimeUtc());
    refreshSum();
    refreshActions();
}

void CheckpointsView::select(std::optional<int> position)
{
    const int row = position ? m_model->rowOf(*position) : -1;
    const QModelIndex at = row >= 0 ? m_sorted->mapFromSource(m_model->index(row, 0)) : QModelIndex();
    if (at.isValid())
        m_table->setCurrentIndex(at);
    else
        m_table->clearSelection();
    refreshActions();
}

QString CheckpointsView::sumText() const
{
    QString text = m_model->sumText();
    qint64 bytes = 0;
    int sized = 0;
    int inMemory = 0;
    for (const CheckpointMark &mark : m_model->rows()) {
        if (mark.checkpoint.kind != CheckpointKind::InternalCheckpoint)
            continue;
        ++inMemory;
        if (mark.checkpoint.sizeBytes) {
            bytes += *mark.checkpoint.sizeBytes;
            ++sized;
        }
    }
    if (m_ringMost && *m_ringMost > 0 && sized > 0) {
        text = inMemory >= *m_ringMost ? tr("%1 · the ring is full (%2)").arg(text, number(*m_ringMost))
                                       : tr("%1 · full at %2: about %3 MiB")
                                             .arg(text, number(*m_ringMost), mebibytes(bytes / sized * *m_ringMost));
    }
    return text;
}

void CheckpointsView::refreshSum()
{
    QPalette dim = palette();
    dim.setColor(QPalette::WindowText, SemanticColors::of(palette()).dimText);
    m_sum->setPalette(dim);
    m_sum->setText(sumText());
}

void CheckpointsView::refreshActions()
{
    const CheckpointMark *mark = current();
    const bool file = mark && !mark->checkpoint.fileName.isEmpty();
    m_cutHere->setEnabled(mark);
    m_showInLog->setEnabled(mark && (mark->checkpoint.taskId || file));
    m_restore->setEnabled(file && mark->fate != CheckpointMark::Fate::FileMissing);
    m_delete->setEnabled(file && mark->checkpoint.fileName.startsWith(QLatin1String("kerf-")));
    m_restore->setToolTip(file ? tr("Puts the saved prompt back into a slot") : tr("Only save files can be restored"));
    m_delete->setToolTip(tr("Only files that Kerf made are deleted"));
}

void CheckpointsView::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        refreshSum();
    QWidget::changeEvent(event);
}

void CheckpointsView::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    // In a narrow dock the columns that matter least make room; their words stand in the tooltip.
    const int needed = m_table->columnWidth(CheckpointsModel::Position) + m_table->columnWidth(CheckpointsModel::Kind)
        + m_table->columnWidth(CheckpointsModel::Size) + fontMetrics().horizontalAdvance(tr("window not covered")) + 16;
    const int made = m_table->columnWidth(CheckpointsModel::MadeBy);
    const int age = m_table->columnWidth(CheckpointsModel::Age);
    const int madeWidth = made > 0 ? made : columnFor(m_table, tr("not reported"));
    const int ageWidth = age > 0 ? age : columnFor(m_table, tr("not reported"));
    m_table->setColumnHidden(CheckpointsModel::MadeBy, width() < needed + madeWidth);
    m_table->setColumnHidden(CheckpointsModel::Age, width() < needed + madeWidth + ageWidth);
}

} // namespace kerf
