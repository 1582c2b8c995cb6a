// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/window/connectionstore.h"
#include "ui/window/keyring.h"
#include "ui/window/prober.h"

#include <QDialog>

class QButtonGroup;
class QCheckBox;
class QDialogButtonBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QSpinBox;
class QTableWidget;

namespace kerf {

/// The connections: those that were used on the left, the one to open on the right. Test looks at it before.
class ConnectionDialog : public QDialog
{
    Q_OBJECT
public:
    /// Without a prober there is no Test; without a keyring no key is stored.
    explicit ConnectionDialog(const ConnectionSpec &spec, QWidget *parent = nullptr, Prober prober = {},
                              KeyRing *keyRing = nullptr);
    ConnectionSpec spec() const;
    SavedConnection connection() const;
    /// Keeps the connection (not its key), and the key in the keyring if that was asked for. `said` gets a sentence
    /// when the keyring does not take it.
    void remember(std::function<void(const QString &problem)> said);
    void test();

private:
    void fill(const SavedConnection &connection);
    void fillList();
    void updateState();
    void showAnswer(const ProbeAnswer &answer);
    QString problem() const;

    Prober m_prober;
    KeyRing *m_keyRing;
    QList<SavedConnection> m_saved;
    bool m_keyStored = false; ///< of what is shown
    quint64 m_test = 0;
    quint64 m_shown = 0;
    QListWidget *m_list;
    QPushButton *m_forget;
    QButtonGroup *m_kinds;
    QLineEdit *m_name;
    QLineEdit *m_url;
    QLineEdit *m_key;
    QCheckBox *m_store;
    QLineEdit *m_log;
    QLineEdit *m_launch;
    QSpinBox *m_slot;
    QSpinBox *m_limit;
    QLineEdit *m_socket;
    QLabel *m_problem;
    QWidget *m_serverForm;
    QWidget *m_serviceForm;
    QLabel *m_result;
    QTableWidget *m_steps;
    QPushButton *m_testButton;
    QDialogButtonBox *m_buttons;
};

} // namespace kerf
