// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/connectiondialog.h"

#include "ui/theme/semanticcolors.h"
#include "ui/theme/theme.h"

#include <QButtonGroup>
#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPointer>
#include <QProcess>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QTableWidget>
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

ConnectionDialog::ConnectionDialog(const ConnectionSpec &spec, QWidget *parent, Prober prober, KeyRing *keyRing)
    : QDialog(parent)
    , m_prober(std::move(prober))
    , m_keyRing(keyRing)
    , m_list(new QListWidget)
    , m_forget(new QPushButton(tr("Forget")))
    , m_kinds(new QButtonGroup(this))
    , m_name(new QLineEdit)
    , m_url(new QLineEdit)
    , m_key(new QLineEdit)
    , m_store(new QCheckBox(tr("&Store the key in the system's keyring")))
    , m_log(new QLineEdit)
    , m_launch(new QLineEdit)
    , m_slot(new QSpinBox)
    , m_limit(new QSpinBox)
    , m_socket(new QLineEdit)
    , m_problem(new QLabel)
    , m_serverForm(new QWidget)
    , m_serviceForm(new QWidget)
    , m_result(new QLabel)
    , m_steps(new QTableWidget)
    , m_testButton(new QPushButton(tr("&Test")))
    , m_buttons(new QDialogButtonBox(QDialogButtonBox::Cancel))
{
    setObjectName(QStringLiteral("connectionDialog"));
    setWindowTitle(tr("Connect"));
    auto *whole = new QVBoxLayout(this);
    auto *sides = new QHBoxLayout;
    sides->setSpacing(12);
    whole->addLayout(sides, 1);

    auto *left = new QVBoxLayout;
    auto *recent = new QLabel(tr("&Recent"));
    recent->setBuddy(m_list);
    m_list->setObjectName(QStringLiteral("recentConnections"));
    m_list->setAccessibleName(tr("Recent connections"));
    m_list->setMinimumWidth(170);
    m_list->setMaximumWidth(240);
    m_list->setUniformItemSizes(true);
    m_forget->setObjectName(QStringLiteral("forgetConnection"));
    m_forget->setToolTip(tr("Takes it off the list, and its key out of the keyring"));
    left->addWidget(recent);
    left->addWidget(m_list, 1);
    left->addWidget(m_forget);
    sides->addLayout(left);

    auto *layout = new QVBoxLayout;
    layout->setSpacing(4);
    sides->addLayout(layout, 1);
    const auto kind = [&](ConnectionSpec::Kind id, const QString &text, const QString &name) {
        auto *button = new QRadioButton(text);
        button->setObjectName(name);
        m_kinds->addButton(button, static_cast<int>(id));
        layout->addWidget(button);
    };
    auto *nameForm = new QFormLayout;
    nameForm->setContentsMargins(0, 0, 0, 6);
    m_name->setObjectName(QStringLiteral("connectionName"));
    m_name->setPlaceholderText(tr("empty: its address"));
    nameForm->addRow(tr("&Name"), m_name);
    layout->addLayout(nameForm);
    kind(ConnectionSpec::Kind::Server, tr("&llama-server"), QStringLiteral("kindServer"));
    layout->addWidget(hint(tr(
        "Kerf looks at the server's slots and plans for it. Only what you apply or ask for changes anything there.")));
    auto *serverForm = new QFormLayout(m_serverForm);
    serverForm->setContentsMargins(24, 0, 0, 8);
    serverForm->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_url->setObjectName(QStringLiteral("url"));
    m_key->setObjectName(QStringLiteral("apiKey"));
    m_store->setObjectName(QStringLiteral("storeKey"));
    m_log->setObjectName(QStringLiteral("logFile"));
    m_launch->setObjectName(QStringLiteral("launchCommand"));
    m_key->setEchoMode(QLineEdit::Password);
    m_key->setPlaceholderText(tr("only if the server was started with --api-key"));
    m_log->setPlaceholderText(tr("the only place where checkpoints show (start with -lv 4)"));
    m_launch->setPlaceholderText(tr("or: Kerf starts it, as in llama-server -m model.gguf"));
    m_store->setToolTip(tr("Otherwise the key stays in memory and is asked for each time"));
    m_store->setEnabled(m_keyRing);
    m_slot->setRange(-1, 255);
    m_slot->setSpecialValueText(tr("any"));
    m_slot->setObjectName(QStringLiteral("connectionSlot"));
    m_limit->setRange(0, 120);
    m_limit->setSpecialValueText(tr("usual"));
    m_limit->setSuffix(tr(" s"));
    m_limit->setObjectName(QStringLiteral("connectionLimit"));
    m_limit->setToolTip(tr("How long an answer to the probe may take"));
    serverForm->addRow(tr("&Address"), m_url);
    serverForm->addRow(tr("API &key"), m_key);
    serverForm->addRow(QString(), m_store);
    auto *logRow = new QHBoxLayout;
    auto *browse = new QToolButton;
    browse->setText(tr("Browse…"));
    browse->setAccessibleName(tr("Choose the log file"));
    logRow->addWidget(m_log, 1);
    logRow->addWidget(browse);
    serverForm->addRow(tr("L&og file"), logRow);
    if (auto *label = qobject_cast<QLabel *>(serverForm->labelForField(logRow)))
        label->setBuddy(m_log);
    serverForm->addRow(tr("Co&mmand"), m_launch);
    auto *small = new QHBoxLayout;
    auto *limitName = new QLabel(tr("Time l&imit"));
    limitName->setBuddy(m_limit);
    small->addWidget(m_slot);
    small->addSpacing(12);
    small->addWidget(limitName);
    small->addWidget(m_limit);
    small->addStretch(1);
    serverForm->addRow(tr("Slo&t"), small);
    if (auto *label = qobject_cast<QLabel *>(serverForm->labelForField(small)))
        label->setBuddy(m_slot);
    layout->addWidget(m_serverForm);
    kind(ConnectionSpec::Kind::Service, tr("R&unning Kerf service"), QStringLiteral("kindService"));
    layout->addWidget(hint(tr("Attach to kerfd, or to another console, through its socket.")));
    auto *serviceForm = new QFormLayout(m_serviceForm);
    serviceForm->setContentsMargins(24, 0, 0, 8);
    m_socket->setObjectName(QStringLiteral("socket"));
    m_socket->setPlaceholderText(tr("empty: the usual place"));
    serviceForm->addRow(tr("So&cket"), m_socket);
    layout->addWidget(m_serviceForm);
    kind(ConnectionSpec::Kind::Embedded, tr("&Embedded (simulated)"), QStringLiteral("kindEmbedded"));
    layout->addWidget(hint(tr("No server is involved. It tests the mechanism and proves nothing about your server.")));
    m_problem->setWordWrap(true);
    m_problem->setObjectName(QStringLiteral("connectionProblem"));
    QPalette red = m_problem->palette();
    red.setColor(QPalette::WindowText, SemanticColors::of(palette()).refuted);
    m_problem->setPalette(red);
    layout->addWidget(m_problem);

    m_result->setWordWrap(true);
    m_result->setObjectName(QStringLiteral("probeResult"));
    m_steps->setObjectName(QStringLiteral("probeSteps"));
    m_steps->setAccessibleName(tr("Steps of the test"));
    m_steps->setColumnCount(3);
    m_steps->setHorizontalHeaderLabels({tr("Step"), tr("HTTP"), tr("Answer")});
    m_steps->verticalHeader()->hide();
    m_steps->horizontalHeader()->setStretchLastSection(true);
    m_steps->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_steps->setSelectionMode(QAbstractItemView::NoSelection);
    m_steps->setShowGrid(false);
    m_steps->verticalHeader()->setDefaultSectionSize(std::max(22, m_steps->fontMetrics().height() + 6));
    m_steps->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_steps->setMinimumHeight(120);
    m_steps->hide();
    layout->addWidget(m_result);
    layout->addWidget(m_steps, 1);
    layout->addStretch(0);

    auto *open = m_buttons->addButton(tr("Connect"), QDialogButtonBox::AcceptRole);
    open->setDefault(true);
    m_testButton->setObjectName(QStringLiteral("testConnection"));
    m_testButton->setAutoDefault(false);
    m_testButton->setToolTip(tr("Looks at it without connecting; nothing there is changed"));
    m_forget->setAutoDefault(false);
    m_buttons->addButton(m_testButton, QDialogButtonBox::ActionRole);
    m_testButton->setVisible(static_cast<bool>(m_prober));
    whole->addWidget(m_buttons);

    SavedConnection first;
    first.spec = spec;
    fill(first);
    m_key->setText(spec.apiKey);
    fillList();
    connect(m_buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_kinds, &QButtonGroup::idToggled, this, &ConnectionDialog::updateState);
    for (QLineEdit *edit : {m_url, m_launch, m_key, m_log, m_socket})
        connect(edit, &QLineEdit::textChanged, this, &ConnectionDialog::updateState);
    connect(m_testButton, &QPushButton::clicked, this, &ConnectionDialog::test);
    connect(m_list, &QListWidget::currentRowChanged, this, [this](int row) {
        m_forget->setEnabled(row >= 0);
        if (row >= 0 && row < m_saved.size())
            fill(m_saved.at(row));
    });
    connect(m_list, &QListWidget::itemActivated, this, [this] {
        if (problem().isEmpty())
            accept();
    });
    connect(m_forget, &QPushButton::clicked, this, [this] {
        const int row = m_list->currentRow();
        if (row < 0 || row >= m_saved.size())
            return;
        const SavedConnection gone = m_saved.at(row);
        if (gone.keyStored && m_keyRing)
            m_keyRing->remove(gone.keyId());
        ConnectionStore::forget(gone);
        fillList();
    });
    connect(browse, &QToolButton::clicked, this, [this] {
        const QString file = QFileDialog::getOpenFileName(this, tr("Server log"), m_log->text());
        if (!file.isEmpty())
            m_log->setText(file);
    });
    setMinimumWidth(680);
    updateState();
    m_url->setFocus();
}

void ConnectionDialog::fillList()
{
    m_saved = ConnectionStore::recent();
    const QSignalBlocker block(m_list);
    m_list->clear();
    for (const SavedConnection &each : std::as_const(m_saved)) {
        const char *icon = each.spec.kind == ConnectionSpec::Kind::Embedded ? "kerf-simulated" : "network-connect";
        auto *item = new QListWidgetItem(themedIcon(QLatin1String(icon)), each.title(), m_list);
        QStringList tip{each.spec.title()};
        if (each.keyStored)
            tip << tr("Its key is in the keyring.");
        if (each.usedAt.isValid())
            tip << tr("Last used %1").arg(QLocale().toString(each.usedAt.toLocalTime(), QLocale::ShortFormat));
        item->setToolTip(tip.join(QLatin1Char('\n')));
    }
    m_list->setCurrentRow(-1);
    m_forget->setEnabled(false);
}

void ConnectionDialog::fill(const SavedConnection &connection)
{
    const quint64 shown = ++m_shown;
    ++m_test; // an answer under way is about another one
    m_name->setText(connection.name);
    m_url->setText(connection.spec.url.isEmpty() ? QStringLiteral("http://127.0.0.1:8080") : connection.spec.url);
    m_key->clear();
    m_log->setText(connection.spec.logFile);
    m_launch->setText(connection.spec.launchCommand);
    m_slot->setValue(connection.spec.slotId);
    m_limit->setValue(connection.spec.limitMs / 1000);
    m_socket->setText(connection.spec.socketPath);
    m_store->setChecked(connection.keyStored && m_keyRing);
    m_keyStored = connection.keyStored;
    m_kinds->button(static_cast<int>(connection.spec.kind))->setChecked(true);
    m_result->clear();
    m_steps->hide();
    if (connection.keyStored && m_keyRing) {
        const QPointer<ConnectionDialog> self(this);
        m_keyRing->read(connection.keyId(), [self, shown](const QString &key, const QString &problem) {
            if (!self || self->m_shown != shown)
                return;
            if (problem.isEmpty() && self->m_key->text().isEmpty())
                self->m_key->setText(key);
            else if (!problem.isEmpty())
                self->m_result->setText(problem);
        });
    }
    updateState();
}

QString ConnectionDialog::problem() const
{
    if (static_cast<ConnectionSpec::Kind>(m_kinds->checkedId()) != ConnectionSpec::Kind::Server)
        return {};
    if (!m_launch->text().trimmed().isEmpty()) {
        if (!m_log->text().trimmed().isEmpty())
            return tr("A server that Kerf starts needs no log file: its output is read.");
        return {};
    }
    const QUrl url(m_url->text().trimmed(), QUrl::StrictMode);
    if (!url.isValid() || url.host().isEmpty()
        || (url.scheme() != QLatin1String("http") && url.scheme() != QLatin1String("https")))
        return tr("The address must be like http://127.0.0.1:8080.");
    if (!url.userInfo().isEmpty())
        return tr("The address must not hold a name or password: it is kept in a file. Use the API key.");
    return {};
}

void ConnectionDialog::updateState()
{
    const auto kind = static_cast<ConnectionSpec::Kind>(m_kinds->checkedId());
    m_serverForm->setEnabled(kind == ConnectionSpec::Kind::Server);
    m_serviceForm->setEnabled(kind == ConnectionSpec::Kind::Service);
    m_url->setEnabled(m_launch->text().trimmed().isEmpty());
    const QString wrong = problem();
    m_problem->setText(wrong);
    m_problem->setVisible(!wrong.isEmpty());
    m_testButton->setEnabled(wrong.isEmpty());
    for (QAbstractButton *button : m_buttons->buttons()) {
        if (m_buttons->buttonRole(button) == QDialogButtonBox::AcceptRole)
            button->setEnabled(wrong.isEmpty());
    }
}

ConnectionSpec ConnectionDialog::spec() const
{
    ConnectionSpec spec;
    spec.kind = static_cast<ConnectionSpec::Kind>(m_kinds->checkedId());
    spec.name = m_name->text().trimmed();
    if (spec.kind == ConnectionSpec::Kind::Server) {
        spec.url = m_url->text().trimmed();
        while (spec.url.endsWith(QLatin1Char('/')))
            spec.url.chop(1);
        spec.apiKey = m_key->text();
        spec.logFile = m_log->text().trimmed();
        spec.launchCommand = m_launch->text().trimmed();
        spec.slotId = m_slot->value();
        spec.limitMs = m_limit->value() * 1000;
    } else if (spec.kind == ConnectionSpec::Kind::Service) {
        spec.socketPath = m_socket->text().trimmed();
    }
    return spec;
}

SavedConnection ConnectionDialog::connection() const
{
    SavedConnection connection;
    connection.spec = spec();
    connection.name = connection.spec.name;
    connection.keyStored = connection.spec.kind == ConnectionSpec::Kind::Server && m_keyRing && m_store->isChecked()
        && !connection.spec.apiKey.isEmpty();
    connection.spec.apiKey.clear();
    return connection;
}

void ConnectionDialog::remember(std::function<void(const QString &)> said)
{
    SavedConnection kept = connection();
    const QString key = spec().apiKey;
    if (!kept.keyStored) {
        if (m_keyStored && m_keyRing)
            m_keyRing->remove(kept.keyId()); // the tick was taken away
        ConnectionStore::remember(kept);
        return;
    }
    // Known as stored only when the keyring has really taken it.
    kept.keyStored = false;
    ConnectionStore::remember(kept);
    m_keyRing->write(kept.keyId(), key, [kept, said](const QString &problem) {
        SavedConnection now = kept;
        now.keyStored = problem.isEmpty();
        ConnectionStore::remember(now);
        if (!problem.isEmpty())
            said(problem);
    });
}

void ConnectionDialog::test()
{
    if (!m_prober || !problem().isEmpty())
        return;
    const quint64 number = ++m_test;
    const ConnectionSpec wanted = spec();
    m_steps->hide();
    if (!wanted.launchCommand.isEmpty()) {
        const QString program = QProcess::splitCommand(wanted.launchCommand).value(0);
        m_result->setText(tr("%1 is started when you connect.").arg(program));
        return;
    }
    m_result->setText(tr("Looking at %1…").arg(wanted.title()));
    m_testButton->setEnabled(false);
    const QPointer<ConnectionDialog> self(this);
    m_prober(wanted, [self, number](const ProbeAnswer &answer) {
        if (!self)
            return;
        self->updateState();
        if (self->m_test == number)
            self->showAnswer(answer);
    });
}

void ConnectionDialog::showAnswer(const ProbeAnswer &answer)
{
    const SemanticColors c = SemanticColors::of(palette());
    QString text;
    if (answer.ok)
        text = tr("\u2713 %1").arg(answer.summary);
    else if (answer.needsKey)
        text = m_key->text().isEmpty() ? tr("\u2717 The server wants an API key.")
                                       : tr("\u2717 The server wants another API key.");
    else
        text = tr("\u2717 %1").arg(answer.reason);
    QPalette colored = m_result->palette();
    colored.setColor(QPalette::WindowText, answer.ok ? c.reused : c.refuted);
    m_result->setPalette(colored);
    m_result->setText(text);
    m_steps->setRowCount(static_cast<int>(answer.steps.size()));
    for (int row = 0; row < answer.steps.size(); ++row) {
        const ProbeLine &step = answer.steps.at(row);
        m_steps->setItem(row, 0, new QTableWidgetItem((step.ok ? tr("\u2713 %1") : tr("\u2717 %1")).arg(step.name)));
        m_steps->setItem(row, 1, new QTableWidgetItem(step.status ? QString::number(*step.status) : tr("none")));
        auto *said = new QTableWidgetItem(step.message);
        said->setToolTip(step.message);
        m_steps->setItem(row, 2, said);
    }
    m_steps->resizeColumnToContents(0);
    m_steps->resizeColumnToContents(1);
    m_steps->setVisible(!answer.steps.isEmpty());
    layout()->activate();
    resize(width(), std::max(height(), sizeHint().height())); // the fields keep their height
    if (answer.needsKey)
        m_key->setFocus();
}

} // namespace kerf
