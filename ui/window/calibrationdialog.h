// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/ipc/serviceclient.h"

#include <QDialog>
#include <QJsonObject>

#include <memory>

class QCheckBox;
class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QTableWidget;

namespace kerf {

class CostPlot;

/// The experiment of server.calibrate in three pages: what it would send and whom it costs what, its progress, what
/// came back. Never starts by itself. The service does all of it; closing the window cancels what runs.
class CalibrationDialog : public QDialog
{
    Q_OBJECT
public:
    explicit CalibrationDialog(std::shared_ptr<ServiceClient> client, QWidget *parent = nullptr);
    ~CalibrationDialog() override;

    int page() const; ///< 0 question, 1 progress, 2 result
    const QJsonObject &result() const { return m_result; }
    /// Shows an answer of server.calibrate, as if it had just come (pictures, tests).
    void showResult(const QJsonObject &result);

Q_SIGNALS:
    void said(const QString &text);

protected:
    void reject() override;

private:
    void askPlan();
    void showPlan(const QJsonObject &plan);
    void refresh();
    void start();
    void cancel();
    void discard();
    void save();
    void showFailure(const QString &text);

    std::shared_ptr<ServiceClient> m_client;
    QJsonObject m_result;
    bool m_running = false;
    bool m_planKnown = false;
    QStackedWidget *m_pages;
    QComboBox *m_slot;
    QLabel *m_question;
    QLabel *m_warning;
    QCheckBox *m_consent;
    QCheckBox *m_keep;
    QLabel *m_step;
    QProgressBar *m_bar;
    QLabel *m_summary;
    QTableWidget *m_steps;
    CostPlot *m_plot;
    QPushButton *m_start;
    QPushButton *m_cancel;
    QPushButton *m_discard;
    QPushButton *m_save;
    QPushButton *m_close;
};

} // namespace kerf
