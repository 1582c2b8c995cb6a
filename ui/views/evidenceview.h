// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/models/claimsmodel.h"
#include "ui/viewmodel/values.h"

#include <QWidget>

class QLabel;
class QSplitter;
class QTableView;
class QToolButton;

namespace kerf {

class ServerDesk;

/// Evidence and doctor: the three lines, advice with the flag to add, claims with where they come from and what
/// contradicts them, probe steps with the server's own words.
class EvidenceView : public QWidget
{
    Q_OBJECT
public:
    explicit EvidenceView(ServerDesk *desk, QWidget *parent = nullptr);

    void setDoctor(const DoctorValue &doctor);
    ClaimsModel *claims() { return m_claims; }
    ProbeModel *probe() { return m_probe; }
    QTableView *claimsTable() { return m_claimsView; }
    QString doctorText() const;
    QString detail() const;

Q_SIGNALS:
    void detailChanged();

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void refresh();
    void refreshText();

    ServerDesk *m_desk;
    ClaimsModel *m_claims;
    ProbeModel *m_probe;
    QTableView *m_claimsView;
    QTableView *m_probeView;
    QLabel *m_text;
    QToolButton *m_again;
    QToolButton *m_forget;
    QSplitter *m_split;
    DoctorValue m_doctor;
};

} // namespace kerf
