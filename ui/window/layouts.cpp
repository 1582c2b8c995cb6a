// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/layouts.h"

#include <QDockWidget>
#include <QMainWindow>
#include <QSettings>
#include <QTimer>

#include <algorithm>

namespace kerf {

namespace {
constexpr int kNarrow = 200; ///< that every dock must be able to do with
constexpr int kVersion = 3; ///< rises when the docks are others

/// A column or row of an area: docks one after another, each with the tabs that lie behind it.
struct Stack {
    QStringList tabs;
    int share = 1; ///< of the area's extent
};
struct Area {
    Qt::DockWidgetArea area;
    QList<Stack> stacks;
    int extent = 300; ///< width of a column, height of a row
};

QStringList names(std::initializer_list<const char *> list)
{
    QStringList result;
    for (const char *name : list)
        result << QString::fromLatin1(name);
    return result;
}
} // namespace

Layouts::Layouts(QMainWindow *window, const QMap<QString, QDockWidget *> &docks, QObject *parent)
    : QObject(parent)
    , m_window(window)
    , m_docks(docks)
{
    // A row of fields or a wide table in one dock must not squeeze the column beside it.
    for (QDockWidget *each : std::as_const(m_docks)) {
        if (each->widget() && each->widget()->minimumWidth() < kNarrow)
            each->widget()->setMinimumWidth(kNarrow);
    }
}

QString Layouts::title(Kind kind)
{
    switch (kind) {
    case Kind::Inspect:
        return tr("&Inspect");
    case Kind::WhatIf:
        return tr("&What-if");
    case Kind::Operate:
        break;
    }
    return tr("&Operate");
}

QString Layouts::key(Kind kind)
{
    switch (kind) {
    case Kind::Inspect:
        return QStringLiteral("window/inspect");
    case Kind::WhatIf:
        return QStringLiteral("window/whatif");
    case Kind::Operate:
        break;
    }
    return QStringLiteral("window/operate");
}

void Layouts::start()
{
    const QSettings settings;
    for (const Kind kind : kAll)
        m_states.insert(static_cast<int>(kind), settings.value(key(kind)).toByteArray());
    const int wanted = std::clamp(settings.value(QStringLiteral("window/layout")).toInt(), 0, 2);
    m_current = static_cast<Kind>(wanted);
    const QByteArray state = m_states.value(wanted);
    if (state.isEmpty() || !m_window->restoreState(state, kVersion))
        arrange(m_current);
    Q_EMIT changed();
}

void Layouts::choose(Kind kind)
{
    if (kind != m_current) {
        m_states.insert(static_cast<int>(m_current), m_window->saveState(kVersion));
        m_current = kind;
        const QByteArray state = m_states.value(static_cast<int>(kind));
        if (state.isEmpty() || !m_window->restoreState(state, kVersion))
            arrange(kind);
    }
    Q_EMIT changed();
}

void Layouts::reset()
{
    arrange(m_current);
    Q_EMIT changed();
}

void Layouts::store()
{
    m_states.insert(static_cast<int>(m_current), m_window->saveState(kVersion));
    QSettings settings;
    for (const Kind kind : kAll)
        settings.setValue(key(kind), m_states.value(static_cast<int>(kind)));
    settings.setValue(QStringLiteral("window/layout"), static_cast<int>(m_current));
}

void Layouts::arrange(Kind kind)
{
    QList<Area> areas;
    QStringList shown;
    switch (kind) {
    case Kind::Inspect:
        areas = {
            {Qt::LeftDockWidgetArea, {{names({"ring"}), 48}, {names({"checkpoints", "evidence", "whatif"}), 32}}, 325},
            {Qt::RightDockWidgetArea,
             {{names({"compactions"}), 20}, {names({"receipt", "find"}), 34}, {names({"profile"}), 34}},
             365},
            {Qt::BottomDockWidgetArea,
             {{names({"prefill", "cuts", "slots", "events"}), 36}, {names({"prefix", "log", "legalcuts"}), 37}},
             300}};
        shown = names({"ring", "checkpoints", "evidence", "compactions", "receipt", "profile", "prefill", "cuts",
                       "slots", "events", "prefix", "log"});
        break;
    case Kind::WhatIf:
        areas = {
            {Qt::LeftDockWidgetArea, {{names({"ring", "checkpoints", "evidence"}), 40}, {names({"whatif"}), 45}}, 325},
            {Qt::RightDockWidgetArea,
             {{names({"compactions"}), 20}, {names({"receipt", "find"}), 40}, {names({"profile"}), 30}},
             365},
            {Qt::BottomDockWidgetArea,
             {{names({"cuts", "prefill", "slots", "events"}), 45}, {names({"legalcuts", "prefix", "log"}), 60}},
             330}};
        shown = names({"ring", "whatif", "cuts", "legalcuts"});
        break;
    case Kind::Operate:
        areas = {
            {Qt::LeftDockWidgetArea, {{names({"ring"}), 40}, {names({"evidence", "checkpoints", "whatif"}), 40}}, 325},
            {Qt::RightDockWidgetArea, {{names({"compactions", "receipt", "find"}), 44}, {names({"profile"}), 40}}, 365},
            {Qt::BottomDockWidgetArea,
             {{names({"slots", "prefill", "cuts"}), 60}, {names({"events", "log", "prefix", "legalcuts"}), 45}},
             400}};
        shown = names({"slots", "events", "compactions", "profile"});
        break;
    }
    m_window->setUpdatesEnabled(false);
    for (QDockWidget *each : std::as_const(m_docks)) {
        each->setFloating(false);
        m_window->removeDockWidget(each);
    }
    QStringList placed;
    QList<QDockWidget *> columns;
    QList<int> widths;
    for (const Area &area : areas) {
        QList<QDockWidget *> heads;
        QList<int> shares;
        const bool row = area.area == Qt::BottomDockWidgetArea;
        // First the heads, side by side or one under the other: a dock that has tabs cannot be split.
        for (const Stack &stack : area.stacks) {
            const auto first = std::find_if(stack.tabs.begin(), stack.tabs.end(),
                                            [this](const QString &name) { return dock(name) != nullptr; });
            if (first == stack.tabs.end())
                continue;
            QDockWidget *head = dock(*first);
            if (row && !heads.isEmpty())
                m_window->splitDockWidget(heads.constLast(), head, Qt::Horizontal);
            else
                m_window->addDockWidget(area.area, head);
            heads << head;
            shares << stack.share * 10;
        }
        for (const Stack &stack : area.stacks) {
            QDockWidget *head = nullptr;
            for (const QString &name : stack.tabs) {
                QDockWidget *now = dock(name);
                if (!now)
                    continue;
                placed << name;
                if (head)
                    m_window->tabifyDockWidget(head, now);
                else
                    head = now;
            }
        }
        for (const Stack &stack : area.stacks) {
            for (const QString &name : stack.tabs) {
                if (dock(name))
                    dock(name)->setVisible(shown.contains(name));
            }
        }
        for (QDockWidget *head : std::as_const(heads))
            head->raise();
        if (heads.isEmpty())
            continue;
        m_window->resizeDocks(heads, shares, row ? Qt::Horizontal : Qt::Vertical);
        if (row) {
            m_window->resizeDocks({heads.first()}, {area.extent}, Qt::Vertical);
        } else {
            columns << heads.first();
            widths << area.extent;
        }
    }
    m_window->resizeDocks(columns, widths, Qt::Horizontal);
    // Docks that were just shown get their room with the next turn only; then the widths are asked for again.
    QTimer::singleShot(0, this, [this, columns, widths] { m_window->resizeDocks(columns, widths, Qt::Horizontal); });
    for (auto it = m_docks.cbegin(); it != m_docks.cend(); ++it) { // what the tables do not know
        if (!placed.contains(it.key())) {
            m_window->addDockWidget(Qt::BottomDockWidgetArea, it.value());
            it.value()->hide();
        }
    }
    m_window->setUpdatesEnabled(true);
}

} // namespace kerf
