// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/slotdialog.h"

#include "ui/viewmodel/numbers.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>

namespace kerf {

SlotDialog::SlotDialog(Act act, const SlotsPicture &picture, int slotId, const QString &file, QWidget *parent)
    : QDialog(parent)
    , m_act(act)
    , m_picture(picture)
    , m_slot(new QComboBox)
    , m_what(new QLabel)
    , m_fixedFile(file)
{
    setObjectName(QStringLiteral("slotDialog"));
    auto *layout = new QFormLayout(this);
    m_what->setObjectName(QStringLiteral("slotDialogText"));
    m_what->setWordWrap(true);
    m_what->setMinimumWidth(fontMetrics().averageCharWidth() * 46);
    m_slot->setObjectName(QStringLiteral("slotDialogSlot"));
    for (const SlotLane &lane : m_picture.lanes)
        m_slot->addItem(tr("Slot %1: %2").arg(lane.slotId).arg(laneState(lane)), lane.slotId);
    m_slot->setCurrentIndex(std::max(0, m_slot->findData(slotId)));
    if (act != Act::Delete)
        layout->addRow(tr("&Slot"), m_slot);
    if (act == Act::Restore) {
        m_file = new QComboBox;
        m_file->setObjectName(QStringLiteral("slotDialogFile"));
        for (const SavedFile &save : m_picture.saves) {
            if (save.exists == false)
                continue;
            QString text = tr("%1: %2 tokens, %3").arg(save.sessionId, number(save.position), save.file);
            if (!save.thisServer)
                text = tr("%1 (of another server or model)").arg(text);
            m_file->addItem(text, save.file);
        }
        if (!file.isEmpty() && m_file->findData(file) < 0)
            m_file->addItem(file, file);
        if (!file.isEmpty())
            m_file->setCurrentIndex(m_file->findData(file));
        layout->addRow(tr("&File"), m_file);
    }
    layout->addRow(m_what);
    if (act != Act::Save) {
        m_consent = new QCheckBox;
        m_consent->setObjectName(QStringLiteral("slotDialogConsent"));
        layout->addRow(m_consent);
        connect(m_consent, &QCheckBox::toggled, this, &SlotDialog::refresh);
    }
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    const QString word = act == Act::Save ? tr("Save")
        : act == Act::Restore             ? tr("Restore")
        : act == Act::Erase               ? tr("Erase")
                                          : tr("Delete");
    m_go =
        buttons->addButton(word, act == Act::Save ? QDialogButtonBox::AcceptRole : QDialogButtonBox::DestructiveRole);
    m_go->setObjectName(QStringLiteral("slotDialogGo"));
    connect(m_go, &QPushButton::clicked, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    buttons->button(QDialogButtonBox::Cancel)->setDefault(act != Act::Save);
    layout->addRow(buttons);
    connect(m_slot, &QComboBox::currentIndexChanged, this, &SlotDialog::refresh);
    if (m_file)
        connect(m_file, &QComboBox::currentIndexChanged, this, &SlotDialog::refresh);
    setWindowTitle(act == Act::Save          ? tr("Save slot")
                       : act == Act::Restore ? tr("Restore slot")
                       : act == Act::Erase   ? tr("Erase slot")
                                             : tr("Delete save file"));
    refresh();
}

int SlotDialog::slotId() const { return m_slot->currentIndex() < 0 ? -1 : m_slot->currentData().toInt(); }

QString SlotDialog::file() const { return m_file ? m_file->currentData().toString() : m_fixedFile; }

bool SlotDialog::consents() const { return m_consent && m_consent->isVisibleTo(this) && m_consent->isChecked(); }

void SlotDialog::refresh()
{
    const SlotLane *lane = m_picture.lane(slotId());
    const int tokens = lane ? lane->tokens.value_or(0) : 0;
    const bool used = lane && (tokens > 0 || !lane->tokens);
    bool mayGo = m_act == Act::Delete || lane;
    QString text;
    QString tick;
    QString held = lane && lane->tokens ? tr("%1 tokens").arg(number(*lane->tokens)) : tr("what it holds");
    if (lane && lane->checkpoints.value_or(0) > 0)
        held = tr("%1 and %2 checkpoints").arg(held, number(*lane->checkpoints));
    if (!lane && m_act != Act::Delete) {
        text = tr("No slot is known.");
        mayGo = false;
    } else if (lane && lane->busy) {
        text = tr("Slot %1 is busy. Wait until its task has ended.").arg(lane->slotId);
        mayGo = false;
    } else {
        switch (m_act) {
        case Act::Save:
            text = tr("Writes %1 to a file of the server's --slot-save-path. The slot keeps them.").arg(held);
            if (lane && lane->owner.isEmpty() && used)
                text += QLatin1Char('\n')
                    + tr("Whose prompt it is, is not known: the file will be no save point of a session.");
            if (!used)
                mayGo = false;
            break;
        case Act::Restore:
            text = used ? tr("Puts the saved prompt into the slot and takes away %1. Only the next request proves that "
                             "it holds.")
                              .arg(held)
                        : tr("Puts the saved prompt into the slot, which is empty. Only the next request proves that "
                             "it holds.");
            if (used)
                tick = tr("Take away %1 of slot %2").arg(held).arg(slotId());
            if (file().isEmpty()) {
                text = tr("No save file is known. Save a slot first.");
                tick.clear();
                mayGo = false;
            }
            break;
        case Act::Erase:
            text = tr("The slot loses %1. The next request of whoever used it computes everything again, unless the "
                      "host cache has it.")
                       .arg(held);
            tick = tr("Erase %1 of slot %2").arg(held).arg(slotId());
            break;
        case Act::Delete:
            text = tr("%1 is deleted from the server's folder. A compaction that took it cannot be restored any more.")
                       .arg(m_fixedFile);
            tick = tr("Delete the file");
            break;
        }
    }
    m_what->setText(text);
    if (m_consent) {
        m_consent->setText(tick);
        m_consent->setVisible(!tick.isEmpty());
    }
    m_go->setEnabled(mayGo && (tick.isEmpty() || m_consent->isChecked()));
    m_go->setToolTip(m_go->isEnabled() ? QString() : tick.isEmpty() ? text : tr("Tick what is lost first."));
}

} // namespace kerf
