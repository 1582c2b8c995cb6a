// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/slotspicture.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;

namespace kerf {

/// Asks before a slot is saved, restored or erased, or a save is deleted: what is in it, what is lost. What takes
/// something away must be ticked.
class SlotDialog : public QDialog
{
    Q_OBJECT
public:
    enum class Act { Save, Restore, Erase, Delete };
    /// `file`: for Delete, and chosen beforehand for Restore.
    SlotDialog(Act act, const SlotsPicture &picture, int slotId, const QString &file, QWidget *parent = nullptr);

    Act act() const { return m_act; }
    int slotId() const;
    QString file() const;
    bool consents() const; ///< ticked, where there is something to tick

private:
    void refresh();

    Act m_act;
    SlotsPicture m_picture;
    QComboBox *m_slot;
    QComboBox *m_file = nullptr;
    QCheckBox *m_consent = nullptr;
    QPushButton *m_go;
    QLabel *m_what;
    QString m_fixedFile;
};

} // namespace kerf
