// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/window/controller.h"

#include <QDialog>

class QButtonGroup;
class QDialogButtonBox;
class QLabel;
class QLineEdit;

namespace kerf {

/// Choose what to look at: the embedded simulation, a llama-server, or a service that runs already.
class ConnectionDialog : public QDialog
{
    Q_OBJECT
public:
    explicit ConnectionDialog(const ConnectionSpec &spec, QWidget *parent = nullptr);
    ConnectionSpec spec() const;

private:
    void updateState();
    QButtonGroup *m_kinds;
    QLineEdit *m_url;
    QLineEdit *m_key;
    QLineEdit *m_log;
    QLineEdit *m_socket;
    QLabel *m_problem;
    QWidget *m_serverForm;
    QWidget *m_serviceForm;
    QDialogButtonBox *m_buttons;
};

} // namespace kerf
