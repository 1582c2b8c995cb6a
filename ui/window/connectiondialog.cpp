// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/connectiondialog.h"

#include "ui/theme/semanticcolors.h"

#include <QButtonGroup>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

namespace kerf {

namespace {

QLabel *hint(const QString &text)
{
    auto *label = new QLabel(text);
    label->setWordWrap(true);
    QPalette palette = label->palette();
    palette.setColor(QPalette::WindowText, SemanticColors::of(palette).dimText);
    label->setPalette(palette);
    label->setContentsMargins(24, 0, 0, 4);
    return label;
}

} // namespace

ConnectionDialog::ConnectionDialog(const ConnectionSpec &spec, QWidget *parent)
    : QDialog(parent)
    , m_kinds(new QButtonGroup(this))
    , m_url(new QLineEdit(spec.url.isEmpty() ? QStringLiteral("http://127.0.0.1:8080") : spec.url))
    , m_key(new QLineEdit(spec.apiKey))
    , m_log(new QLineEdit(spec.logFile))
    , m_socket(new QLineEdit(spec.socketPath))
    , m_problem(new QLabel)
    , m_serverForm(new QWidget)
    , m_serviceForm(new QWidget)
    , m_buttons(new QDialogButtonBox(QDialogButtonBox::Cancel))
{
    setObjectName(QStringLiteral("connectionDialog"));
    setWindowTitle(tr("Connect"));
    auto *layout = new QVBoxLayout(this);
    layout->setSpacing(4);
    const auto kind = [&](ConnectionSpec::Kind id, const QString &text, const QString &name) {
        auto *button = new QRadioButton(text);
        button->setObjectName(name);
        m_kinds->addButton(button, static_cast<int>(id));
        layout->addWidget(button);
    };
    kind(ConnectionSpec::Kind::Server, tr("&llama-server"), QStringLiteral("kindServer"));
    layout->addWidget(hint(tr(
        "Kerf looks at the server's slots and plans for it. Only what you apply or ask for changes anything there.")));
    auto *serverForm = new QFormLayout(m_serverForm);
    serverForm->setContentsMargins(24, 0, 0, 8);
    m_url->setObjectName(QStringLiteral("url"));
    m_key->setObjectName(QStringLiteral("apiKey"));
    m_log->setObjectName(QStringLiteral("logFile"));
    m_key->setEchoMode(QLineEdit::Password);
    m_key->setPlaceholderText(tr("only if the server was started with --api-key"));
    m_log->setPlaceholderText(tr("the only place where checkpoints show (start with -lv 4)"));
    serverForm->addRow(tr("&Address"), m_url);
    serverForm->addRow(tr("API &key"), m_key);
    auto *logRow = new QHBoxLayout;
    auto *browse = new QToolButton;
    browse->setText(tr("Browse…"));
    browse->setAccessibleName(tr("Choose the log file"));
    logRow->addWidget(m_log, 1);
    logRow->addWidget(browse);
    serverForm->addRow(tr("L&og file"), logRow);
    if (auto *label = qobject_cast<QLabel *>(serverForm->labelForField(logRow)))
        label->setBuddy(m_log);
    serverForm->addRow(QString(), new QLabel(tr("The key stays in memory; it is not stored.")));
    layout->addWidget(m_serverForm);
    kind(ConnectionSpec::Kind::Service, tr("&Running Kerf service"), QStringLiteral("kindService"));
    layout->addWidget(hint(tr("Attach to kerfd, or to another console, through its socket.")));
    auto *serviceForm = new QFormLayout(m_serviceForm);
    serviceForm->setContentsMargins(24, 0, 0, 8);
    m_socket->setObjectName(QStringLiteral("socket"));
    m_socket->setPlaceholderText(tr("empty: the usual place"));
    serviceForm->addRow(tr("&Socket"), m_socket);
    layout->addWidget(m_serviceForm);
    kind(ConnectionSpec::Kind::Embedded, tr("&Embedded (simulated)"), QStringLiteral("kindEmbedded"));
    layout->addWidget(hint(tr("No server is involved. It tests the mechanism and proves nothing about your server.")));
    m_problem->setWordWrap(true);
    QPalette red = m_problem->palette();
    red.setColor(QPalette::WindowText, SemanticColors::of(palette()).refuted);
    m_problem->setPalette(red);
    layout->addWidget(m_problem);
    layout->addStretch(1);
    auto *open = m_buttons->addButton(tr("Connect"), QDialogButtonBox::AcceptRole);
    open->setDefault(true);
    layout->addWidget(m_buttons);
    m_kinds->button(static_cast<int>(spec.kind))->setChecked(true);
    connect(m_buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_kinds, &QButtonGroup::idToggled, this, &ConnectionDialog::updateState);
    connect(m_url, &QLineEdit::textChanged, this, &ConnectionDialog::updateState);
    connect(browse, &QToolButton::clicked, this, [this] {
        const QString file = QFileDialog::getOpenFileName(this, tr("Server log"), m_log->text());
        if (!file.isEmpty())
            m_log->setText(file);
    });
    setMinimumWidth(480);
    updateState();
}

void ConnectionDialog::updateState()
{
    const auto kind = static_cast<ConnectionSpec::Kind>(m_kinds->checkedId());
    m_serverForm->setEnabled(kind == ConnectionSpec::Kind::Server);
    m_serviceForm->setEnabled(kind == ConnectionSpec::Kind::Service);
    QString problem;
    if (kind == ConnectionSpec::Kind::Server) {
        const QUrl url(m_url->text().trimmed(), QUrl::StrictMode);
        if (!url.isValid() || url.host().isEmpty()
            || (url.scheme() != QLatin1String("http") && url.scheme() != QLatin1String("https")))
            problem = tr("The address must be like http://127.0.0.1:8080.");
    }
    m_problem->setText(problem);
    for (QAbstractButton *button : m_buttons->buttons()) {
        if (m_buttons->buttonRole(button) == QDialogButtonBox::AcceptRole)
            button->setEnabled(problem.isEmpty());
    }
}

ConnectionSpec ConnectionDialog::spec() const
{
    ConnectionSpec spec;
    spec.kind = static_cast<ConnectionSpec::Kind>(m_kinds->checkedId());
    if (spec.kind == ConnectionSpec::Kind::Server) {
        spec.url = m_url->text().trimmed();
        while (spec.url.endsWith(QLatin1Char('/')))
            spec.url.chop(1);
        spec.apiKey = m_key->text();
        spec.logFile = m_log->text().trimmed();
    } else if (spec.kind == ConnectionSpec::Kind::Service) {
        spec.socketPath = m_socket->text().trimmed();
    }
    return spec;
}

} // namespace kerf
