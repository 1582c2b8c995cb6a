// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/startpage.h"

#include "ui/theme/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace kerf {

StartPage::StartPage(QWidget *parent)
    : QWidget(parent)
    , m_title(new QLabel)
    , m_intro(new QLabel)
    , m_first(new QWidget)
    , m_second(new QWidget)
{
    setObjectName(QStringLiteral("startPage"));
    setAccessibleName(tr("Start page"));
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    QFont big = font();
    big.setBold(true);
    big.setPointSizeF(big.pointSizeF() + 5);
    m_title->setFont(big);
    m_intro->setWordWrap(true);
    m_intro->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    auto *frame = new QVBoxLayout;
    frame->setSpacing(14);
    frame->addWidget(m_title);
    frame->addWidget(m_intro);

    const auto row = [](QGridLayout *grid, const QString &icon, const QString &text, const QString &name,
                        const QString &line) {
        auto *button = new QPushButton(themedIcon(icon), text);
        button->setObjectName(name);
        button->setMinimumHeight(34);
        button->setStyleSheet(QStringLiteral("text-align: left; padding: 4px 12px;"));
        auto *label = new QLabel(line);
        label->setWordWrap(true);
        const int at = grid->rowCount();
        grid->addWidget(button, at, 0);
        grid->addWidget(label, at, 1);
        return button;
    };
    auto *first = new QGridLayout(m_first);
    first->setContentsMargins(0, 0, 0, 0);
    first->setHorizontalSpacing(16);
    first->setVerticalSpacing(10);
    first->setColumnStretch(1, 1);
    auto *connectButton = row(first, QStringLiteral("network-connect"), tr("Connect to a server…"),
                              QStringLiteral("startConnect"), tr("A llama-server, or a Kerf service that is running."));
    auto *demo = row(first, QStringLiteral("kerf-simulated"), tr("Open the demo"), QStringLiteral("startDemo"),
                     tr("The embedded simulation: no server, nothing to install."));
    connect(connectButton, &QPushButton::clicked, this, &StartPage::connectRequested);
    connect(demo, &QPushButton::clicked, this, &StartPage::demoRequested);

    auto *second = new QGridLayout(m_second);
    second->setContentsMargins(0, 0, 0, 0);
    second->setHorizontalSpacing(16);
    second->setVerticalSpacing(10);
    second->setColumnStretch(1, 1);
    auto *make = row(second, QStringLiteral("document-new"), tr("New session"), QStringLiteral("startSession"),
                     tr("An empty one, to be filled by hand or by a harness."));
    auto *copy = row(second, QStringLiteral("edit-copy"), tr("Copy: kerfd mcp"), QStringLiteral("startCopy"),
                     tr("Point your harness at this service; its session appears here by itself."));
    connect(make, &QPushButton::clicked, this, &StartPage::sessionRequested);
    connect(copy, &QPushButton::clicked, this, [] { QApplication::clipboard()->setText(QStringLiteral("kerfd mcp")); });
    frame->addWidget(m_first);
    frame->addWidget(m_second);
    auto *outer = new QGridLayout(this);
    outer->setColumnStretch(0, 1);
    outer->setColumnStretch(1, 6);
    outer->setColumnStretch(2, 1);
    outer->setRowStretch(0, 1);
    outer->addLayout(frame, 1, 1);
    outer->setRowStretch(2, 2);
    setConnected(false, {});
}

void StartPage::setConnected(bool connected, const QString &where)
{
    m_first->setVisible(!connected);
    m_second->setVisible(connected);
    m_title->setText(connected ? tr("No session yet") : tr("Where would you cut?"));
    m_intro->setText(
        connected ? tr("Connected to %1. A session is one conversation: its episodes, its prompt, its compactions.")
                        .arg(where)
                  : tr("Kerf shows where a conversation may be cut so that the server's KV cache still matches, and "
                       "proves it with what "
                       "the server measured."));
}

} // namespace kerf
