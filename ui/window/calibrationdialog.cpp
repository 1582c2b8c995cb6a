// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/calibrationdialog.h"

#include "ui/viewmodel/numbers.h"
#include "ui/views/costplot.h"

#include <QCoroTask>

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLabel>
#include <QPointer>
#include <QProgressBar>
#include <QPushButton>
#include <QSaveFile>
#include <QStackedWidget>
#include <QTableWidget>
#include <QVBoxLayout>

namespace kerf {

namespace {
enum Page { QuestionPage, ProgressPage, ResultPage };

QString countText(const QJsonValue &value) { return value.isDouble() ? number(value.toInteger()) : QString(); }
} // namespace

CalibrationDialog::CalibrationDialog(std::shared_ptr<ServiceClient> client, QWidget *parent)
    : QDialog(parent)
    , m_client(std::move(client))
    , m_pages(new QStackedWidget)
    , m_slot(new QComboBox)
    , m_question(new QLabel)
    , m_warning(new QLabel)
    , m_consent(new QCheckBox)
    , m_keep(new QCheckBox(tr("Keep what is found as &evidence")))
    , m_step(new QLabel)
    , m_bar(new QProgressBar)
    , m_summary(new QLabel)
    , m_steps(new QTableWidget)
    , m_plot(new CostPlot)
    , m_start(new QPushButton(tr("&Calibrate")))
    , m_cancel(new QPushButton(tr("Ca&ncel the experiment")))
    , m_discard(new QPushButton(tr("&Discard")))
    , m_save(new QPushButton(tr("&Save as…")))
    , m_close(new QPushButton(tr("Close")))
{
    setWindowTitle(tr("Calibrate"));
    setObjectName(QStringLiteral("calibrationDialog"));
    m_slot->setObjectName(QStringLiteral("calibrationSlot"));
    m_consent->setObjectName(QStringLiteral("calibrationConsent"));
    m_start->setObjectName(QStringLiteral("calibrationStart"));
    m_cancel->setObjectName(QStringLiteral("calibrationCancel"));
    m_steps->setObjectName(QStringLiteral("calibrationSteps"));
    m_summary->setObjectName(QStringLiteral("calibrationSummary"));

    auto *question = new QWidget;
    auto *form = new QVBoxLayout(question);
    form->setContentsMargins(0, 0, 0, 0);
    auto *intro =
        new QLabel(tr("Finds out by experiment what this server reuses: prompts of words in no order go to one slot, "
                      "nothing is generated. The result is the strongest evidence there is."));
    auto *row = new QFormLayout;
    m_slot->addItem(tr("The idle one that holds least"), -1);
    row->addRow(tr("S&lot:"), m_slot);
    for (QLabel *label : {intro, m_question, m_warning, m_step, m_summary}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    }
    m_keep->setChecked(true);
    m_keep->setToolTip(tr("For this build, model and context size. It can be forgotten in Evidence."));
    form->addWidget(intro);
    form->addLayout(row);
    form->addWidget(m_question);
    form->addWidget(m_warning);
    form->addWidget(m_consent);
    form->addWidget(m_keep);
    form->addStretch();

    auto *progress = new QWidget;
    auto *steps = new QVBoxLayout(progress);
    steps->setContentsMargins(0, 0, 0, 0);
    steps->addStretch();
    steps->addWidget(m_step);
    steps->addWidget(m_bar);
    steps->addWidget(new QLabel(tr("Cancelling waits for the running request, and shows what was learnt until then.")));
    steps->addStretch();

    auto *result = new QWidget;
    auto *shown = new QVBoxLayout(result);
    shown->setContentsMargins(0, 0, 0, 0);
    QFont strong = font();
    strong.setBold(true);
    m_summary->setFont(strong);
    m_steps->setColumnCount(7);
    m_steps->setHorizontalHeaderLabels(
        {tr("Step"), tr("Sent"), tr("Reused"), tr("Prefilled"), tr("ms"), tr("By the curve"), tr("Concluded")});
    m_steps->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_steps->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_steps->verticalHeader()->hide();
    m_steps->verticalHeader()->setDefaultSectionSize(22);
    m_steps->horizontalHeader()->setStretchLastSection(true);
    m_steps->setAccessibleName(tr("What was sent and what came back"));
    shown->addWidget(m_summary);
    shown->addWidget(m_steps, 3);
    shown->addWidget(m_plot, 2);

    m_pages->addWidget(question);
    m_pages->addWidget(progress);
    m_pages->addWidget(result);
    auto *buttons = new QHBoxLayout;
    buttons->addWidget(m_discard);
    buttons->addWidget(m_save);
    buttons->addStretch();
    buttons->addWidget(m_start);
    buttons->addWidget(m_cancel);
    buttons->addWidget(m_close);
    m_discard->setToolTip(tr("Forgets what this calibration found"));
    auto *all = new QVBoxLayout(this);
    all->addWidget(m_pages);
    all->addLayout(buttons);
    resize(600, 300);

    connect(m_start, &QPushButton::clicked, this, &CalibrationDialog::start);
    connect(m_cancel, &QPushButton::clicked, this, &CalibrationDialog::cancel);
    connect(m_discard, &QPushButton::clicked, this, &CalibrationDialog::discard);
    connect(m_save, &QPushButton::clicked, this, &CalibrationDialog::save);
    connect(m_close, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_consent, &QCheckBox::toggled, this, &CalibrationDialog::refresh);
    connect(m_slot, &QComboBox::activated, this, &CalibrationDialog::askPlan);
    if (m_client) {
        connect(m_client.get(), &ServiceClient::event, this, [this](const QString &topic, const QJsonObject &event) {
            if (topic != QLatin1String("server")
                || event.value(QStringLiteral("kind")).toString() != QLatin1String("calibration"))
                return;
            m_bar->setMaximum(event.value(QStringLiteral("of")).toInt());
            m_bar->setValue(event.value(QStringLiteral("done")).toInt());
            m_step->setText(tr("Step: %1").arg(event.value(QStringLiteral("step")).toString()));
        });
        const QPointer<CalibrationDialog> self(this);
        QCoro::connect(m_client->call(QStringLiteral("server.slots"), {}), this,
                       [self](const Result<QJsonObject> &answer) {
                           if (!self || !answer)
                               return;
                           const QJsonArray slotRows = answer->value(QStringLiteral("slots")).toArray();
                           for (const QJsonValue &slot : slotRows) {
                               const int id = slot.toObject()
                                                  .value(QStringLiteral("slot_id"))
                                                  .toInt(slot.toObject().value(QStringLiteral("id")).toInt(-1));
                               if (id >= 0)
                                   self->m_slot->addItem(tr("Slot %1").arg(id), id);
                           }
                       });
    }
    askPlan();
}

CalibrationDialog::~CalibrationDialog() = default;

int CalibrationDialog::page() const { return m_pages->currentIndex(); }

void CalibrationDialog::askPlan()
{
    m_planKnown = false;
    m_pages->setCurrentIndex(QuestionPage);
    m_question->setText(tr("Asking what it would take…"));
    m_warning->clear();
    refresh();
    if (!m_client)
        return;
    const QPointer<CalibrationDialog> self(this);
    const QJsonObject params{{QStringLiteral("dry_run"), true},
                             {QStringLiteral("slot_id"), m_slot->currentData().toInt()}};
    QCoro::connect(m_client->call(QStringLiteral("server.calibrate"), params), this,
                   [self](const Result<QJsonObject> &answer) {
                       if (!self)
                           return;
                       if (answer)
                           self->showPlan(answer->value(QStringLiteral("plan")).toObject());
                       else
                           self->showFailure(answer.error().message);
                   });
}

void CalibrationDialog::showPlan(const QJsonObject &plan)
{
    m_planKnown = true;
    const QJsonValue ms = plan.value(QStringLiteral("ms_at_most"));
    const QString slot = QString::number(plan.value(QStringLiteral("slot_id")).toInt());
    m_question->setText(tr("To slot %1: at most %2 requests, at most %3 tokens to process. %4")
                            .arg(slot, number(plan.value(QStringLiteral("requests_at_most")).toInteger()),
                                 number(plan.value(QStringLiteral("tokens_at_most")).toInteger()),
                                 ms.isDouble() ? tr("That takes up to about %1.").arg(milliseconds(ms.toDouble()))
                                               : tr("How long that takes is not known yet.")));
    QStringList warnings;
    const QJsonArray rows = plan.value(QStringLiteral("warnings")).toArray();
    for (const QJsonValue &row : rows)
        warnings.append(QStringLiteral("• ") + row.toString());
    m_warning->setText(warnings.join(QLatin1Char('\n')));
    m_warning->setVisible(!warnings.isEmpty());
    m_consent->setText(warnings.isEmpty() ? tr("Slot %1 may be used").arg(slot)
                                          : tr("Slot %1 may be used, and lose what it holds").arg(slot));
    m_consent->setChecked(false);
    refresh();
}

void CalibrationDialog::refresh()
{
    const int now = page();
    m_start->setVisible(now == QuestionPage);
    m_start->setEnabled(m_planKnown && m_consent->isChecked() && !m_running);
    m_start->setToolTip(m_start->isEnabled() ? QString() : tr("Tick that the slot may be used."));
    m_consent->setVisible(m_planKnown);
    m_cancel->setVisible(now == ProgressPage);
    m_discard->setVisible(now == ResultPage && m_result.value(QStringLiteral("used")).toBool());
    m_save->setVisible(now == ResultPage);
    m_close->setVisible(now != ProgressPage);
}

void CalibrationDialog::start()
{
    if (!m_client || m_running)
        return;
    m_running = true;
    m_bar->setRange(0, 0);
    m_step->setText(tr("Starting…"));
    m_pages->setCurrentIndex(ProgressPage);
    refresh();
    const QPointer<CalibrationDialog> self(this);
    const QJsonObject params{{QStringLiteral("consent"), true},
                             {QStringLiteral("use"), m_keep->isChecked()},
                             {QStringLiteral("slot_id"), m_slot->currentData().toInt()}};
    QCoro::connect(m_client->call(QStringLiteral("server.calibrate"), params), this,
                   [self](const Result<QJsonObject> &answer) {
                       if (!self)
                           return;
                       self->m_running = false;
                       if (answer)
                           self->showResult(*answer);
                       else
                           self->showFailure(answer.error().message);
                   });
}

void CalibrationDialog::cancel()
{
    if (!m_client || !m_running)
        return;
    m_cancel->setEnabled(false);
    m_step->setText(tr("Ending behind the running request…"));
    const QPointer<CalibrationDialog> self(this);
    QCoro::connect(m_client->call(QStringLiteral("server.calibrate_cancel"), {}), this,
                   [self](const Result<QJsonObject> &) {
                       if (self)
                           self->m_cancel->setEnabled(true);
                   });
}

void CalibrationDialog::showResult(const QJsonObject &result)
{
    m_result = result;
    QString text = result.value(QStringLiteral("summary")).toString();
    if (result.value(QStringLiteral("simulated")).toBool())
        text += tr(" [simulated]");
    const QJsonValue chunks = result.value(QStringLiteral("chunk_reuse"));
    if (chunks.isDouble())
        text += QLatin1Char('\n')
            + (chunks.toInt() > 0 ? tr("Runs of %1 tokens and more are shifted into place.").arg(number(chunks.toInt()))
                                  : tr("Nothing behind a cut is shifted into place."));
    const QJsonValue restores = result.value(QStringLiteral("restore_holds"));
    if (restores.isBool())
        text += QLatin1Char('\n')
            + (restores.toBool() ? tr("A restored slot was reused by the next request.")
                                 : tr("A restored slot was not reused by the next request."));
    const QJsonArray notes = result.value(QStringLiteral("notes")).toArray();
    for (const QJsonValue &note : notes)
        text += QLatin1Char('\n') + note.toString();
    m_summary->setText(text);
    const QJsonArray steps = result.value(QStringLiteral("steps")).toArray();
    m_steps->setRowCount(static_cast<int>(steps.size()));
    for (int i = 0; i < steps.size(); ++i) {
        const QJsonObject step = steps.at(i).toObject();
        const auto ms = [&step](const char *field) {
            const QJsonValue value = step.value(QLatin1String(field));
            return value.isDouble() ? QLocale().toString(value.toDouble(), 'f', 1) : QString();
        };
        const QStringList cells{step.value(QStringLiteral("name")).toString(),
                                countText(step.value(QStringLiteral("sent"))),
                                countText(step.value(QStringLiteral("reused"))),
                                countText(step.value(QStringLiteral("prefilled"))),
                                ms("ms"),
                                ms("fitted_ms"),
                                step.value(QStringLiteral("concluded")).toString()};
        for (int column = 0; column < cells.size(); ++column) {
            auto *item = new QTableWidgetItem(cells.at(column));
            if (column > 0 && column < 6)
                item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
            item->setToolTip(cells.at(column));
            m_steps->setItem(i, column, item);
        }
    }
    m_steps->resizeColumnsToContents();
    m_steps->horizontalHeader()->setStretchLastSection(true);
    m_plot->setSteps(steps);
    m_pages->setCurrentIndex(ResultPage);
    resize(qMax(width(), 900), qMax(height(), 640));
    refresh();
    Q_EMIT said(tr("Calibrated: %1").arg(result.value(QStringLiteral("summary")).toString()));
}

void CalibrationDialog::showFailure(const QString &text)
{
    m_pages->setCurrentIndex(QuestionPage);
    m_planKnown = false;
    m_question->setText(tr("It cannot be done now: %1").arg(text));
    m_warning->hide();
    refresh();
}

void CalibrationDialog::discard()
{
    const QPointer<CalibrationDialog> self(this);
    for (const char *claim : {"memory_kind", "chunk_reuse", "restore_holds"}) {
        const QJsonObject params{{QStringLiteral("claim"), QLatin1String(claim)},
                                 {QStringLiteral("evidence"), QStringLiteral("calibration")}};
        QCoro::connect(m_client->call(QStringLiteral("server.forget"), params), this,
                       [self](const Result<QJsonObject> &answer) {
                           if (self && answer)
                               Q_EMIT self->said(tr("What the calibration found is forgotten."));
                       });
    }
    m_result.insert(QStringLiteral("used"), false);
    refresh();
}

void CalibrationDialog::save()
{
    const QString path = QFileDialog::getSaveFileName(this, tr("Save the calibration"),
                                                      QStringLiteral("calibration.json"), tr("JSON (*.json)"));
    if (path.isEmpty())
        return;
    QSaveFile file(path);
    const QByteArray bytes = QJsonDocument(m_result).toJson();
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()
        || !file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner) || !file.commit())
        m_summary->setText(tr("%1 was not written: %2").arg(path, file.errorString()));
    else
        Q_EMIT said(tr("Written: %1").arg(path));
}

void CalibrationDialog::reject()
{
    if (m_running)
        cancel();
    else
        QDialog::reject();
}

} // namespace kerf
