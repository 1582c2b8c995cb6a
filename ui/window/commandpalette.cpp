// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/commandpalette.h"

#include "ui/theme/semanticcolors.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace kerf {

namespace {

/// The name left, the shortcut right and dim.
class CommandDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &) const override
    {
        return {200, std::max(26, option.fontMetrics.height() + 10)};
    }
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const bool selected = option.state & QStyle::State_Selected;
        if (selected)
            painter->fillRect(option.rect, option.palette.highlight());
        const SemanticColors c = SemanticColors::of(option.palette);
        const bool enabled = index.data(CommandModel::EnabledRole).toBool();
        const QColor text = selected ? option.palette.color(QPalette::HighlightedText)
            : enabled                ? option.palette.color(QPalette::Text)
                                     : option.palette.color(QPalette::Disabled, QPalette::Text);
        const QRect inner = option.rect.adjusted(34, 0, -10, 0);
        const QIcon icon = index.data(Qt::DecorationRole).value<QIcon>();
        icon.paint(painter, QRect(option.rect.left() + 9, option.rect.center().y() - 7, 16, 16), Qt::AlignCenter,
                   !enabled       ? QIcon::Disabled
                       : selected ? QIcon::Selected
                                  : QIcon::Normal);
        painter->setPen(text);
        const QString keys = index.data(CommandModel::ShortcutRole).toString();
        const int room = inner.width() - option.fontMetrics.horizontalAdvance(keys) - 16;
        painter->drawText(inner, Qt::AlignLeft | Qt::AlignVCenter,
                          option.fontMetrics.elidedText(index.data().toString(), Qt::ElideRight, room));
        painter->setPen(selected ? text : c.dimText);
        painter->drawText(inner, Qt::AlignRight | Qt::AlignVCenter, keys);
    }
};

} // namespace

QString CommandModel::nameOf(const QAction *action)
{
    QString name = action->text();
    name.remove(QLatin1Char('&'));
    if (name.endsWith(QChar(0x2026)))
        name.chop(1);
    return name;
}

int CommandModel::score(const QString &name, const QString &query)
{
    const QString wanted = query.simplified().toLower();
    if (wanted.isEmpty())
        return 1;
    const QString text = name.toLower();
    const qsizetype at = text.indexOf(wanted);
    if (at == 0)
        return 4000;
    if (at > 0)
        return text.at(at - 1).isLetterOrNumber() ? 2000 : 3000;
    qsizetype from = 0;
    qsizetype gaps = 0;
    for (const QChar letter : wanted) {
        if (letter.isSpace())
            continue;
        const qsizetype found = text.indexOf(letter, from);
        if (found < 0)
            return 0;
        gaps += found - from;
        from = found + 1;
    }
    return static_cast<int>(std::max<qsizetype>(2, 1000 - gaps));
}

void CommandModel::setActions(const QList<QAction *> &actions)
{
    beginResetModel();
    m_all.clear();
    for (QAction *action : actions) {
        if (!action->isSeparator() && action->isVisible() && !action->text().isEmpty())
            m_all.append(action);
    }
    std::stable_sort(m_all.begin(), m_all.end(), [](const auto &a, const auto &b) {
        return nameOf(a).compare(nameOf(b), Qt::CaseInsensitive) < 0;
    });
    m_shown = m_all;
    endResetModel();
}

void CommandModel::setQuery(const QString &query)
{
    beginResetModel();
    QList<std::pair<int, QPointer<QAction>>> found;
    for (const auto &action : std::as_const(m_all)) {
        if (!action)
            continue;
        if (const int points = score(nameOf(action), query); points > 0)
            found.append({points, action});
    }
    std::stable_sort(found.begin(), found.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
    m_shown.clear();
    for (const auto &[points, action] : std::as_const(found))
        m_shown.append(action);
    endResetModel();
}

QAction *CommandModel::actionAt(int row) const
{
    return row >= 0 && row < m_shown.size() ? m_shown.at(row).data() : nullptr;
}

int CommandModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_shown.size());
}

Qt::ItemFlags CommandModel::flags(const QModelIndex &index) const
{
    if (!index.isValid())
        return {};
    const QAction *action = actionAt(index.row());
    return action && action->isEnabled() ? Qt::ItemIsEnabled | Qt::ItemIsSelectable : Qt::ItemIsSelectable;
}

QVariant CommandModel::data(const QModelIndex &index, int role) const
{
    const QAction *action = index.isValid() ? actionAt(index.row()) : nullptr;
    if (!action)
        return {};
    switch (role) {
    case Qt::DisplayRole:
        return nameOf(action);
    case Qt::DecorationRole:
        return action->icon();
    case Qt::ToolTipRole:
        return action->toolTip();
    case ShortcutRole: {
        QStringList keys;
        for (const QKeySequence &key : action->shortcuts())
            keys << key.toString(QKeySequence::NativeText);
        return keys.join(QStringLiteral(", "));
    }
    case EnabledRole:
        return action->isEnabled();
    case Qt::AccessibleTextRole: {
        const QString keys = data(index, ShortcutRole).toString();
        return keys.isEmpty() ? nameOf(action) : tr("%1, %2", "command, keys").arg(nameOf(action), keys);
    }
    default:
        return {};
    }
}

CommandPalette::CommandPalette(const QList<QAction *> &actions, QWidget *parent)
    : QDialog(parent)
    , m_query(new QLineEdit)
    , m_list(new QListView)
    , m_model(new CommandModel(this))
{
    setObjectName(QStringLiteral("commandPalette"));
    setWindowTitle(tr("Run command"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    m_query->setPlaceholderText(tr("Name of a command"));
    m_query->setAccessibleName(tr("Name of a command"));
    m_query->setObjectName(QStringLiteral("commandQuery"));
    m_query->setClearButtonEnabled(true);
    m_model->setActions(actions);
    m_list->setModel(m_model);
    m_list->setObjectName(QStringLiteral("commandList"));
    m_list->setAccessibleName(tr("Commands"));
    m_list->setItemDelegate(new CommandDelegate(m_list));
    m_list->setUniformItemSizes(true);
    m_list->setFocusPolicy(Qt::NoFocus);
    layout->addWidget(m_query);
    layout->addWidget(m_list);
    const auto first = [this] {
        for (int row = 0; row < m_model->rowCount(); ++row) {
            if (m_model->index(row).data(CommandModel::EnabledRole).toBool()) {
                m_list->setCurrentIndex(m_model->index(row));
                return;
            }
        }
    };
    connect(m_query, &QLineEdit::textChanged, this, [this, first](const QString &text) {
        m_model->setQuery(text);
        first();
    });
    connect(m_list, &QListView::clicked, this, &CommandPalette::run);
    m_query->installEventFilter(this);
    resize(520, 420);
    first();
    m_query->setFocus();
}

void CommandPalette::run(const QModelIndex &index)
{
    const QPointer<QAction> action = m_model->actionAt(index.row());
    if (!action || !action->isEnabled())
        return;
    accept();
    // After this window has gone: the action may look at the focus, or open another.
    QTimer::singleShot(0, action.data(), [action] { action->trigger(); });
}

bool CommandPalette::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_query && event->type() == QEvent::KeyPress) {
        auto *key = static_cast<QKeyEvent *>(event);
        const int now = m_list->currentIndex().row();
        int next = now;
        const auto step = [this, &next](int by) {
            for (int row = next + by; row >= 0 && row < m_model->rowCount(); row += by) {
                if (m_model->index(row).data(CommandModel::EnabledRole).toBool()) {
                    next = row;
                    return;
                }
            }
        };
        switch (key->key()) {
        case Qt::Key_Down:
            step(1);
            break;
        case Qt::Key_Up:
            step(-1);
            break;
        case Qt::Key_PageDown:
            for (int i = 0; i < 10; ++i)
                step(1);
            break;
        case Qt::Key_PageUp:
            for (int i = 0; i < 10; ++i)
                step(-1);
            break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            run(m_list->currentIndex());
            return true;
        default:
            return QDialog::eventFilter(watched, event);
        }
        m_list->setCurrentIndex(m_model->index(next));
        return true;
    }
    return QDialog::eventFilter(watched, event);
}

} // namespace kerf
