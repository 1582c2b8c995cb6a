// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace kerf {

class WhatIf;

/// The bar of what-if mode: says that nothing is sent, which keys move the cut, and offers the two ways out.
class WhatIfBar : public QWidget
{
    Q_OBJECT
public:
    explicit WhatIfBar(WhatIf *whatIf, QWidget *parent = nullptr);
    QPushButton *useButton() const { return m_use; }
    QPushButton *backButton() const { return m_back; }

Q_SIGNALS:
    void useRequested();

protected:
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    void refresh();
    void recolour();

    WhatIf *m_whatIf;
    QLabel *m_title;
    QLabel *m_text;
    QLabel *m_keys;
    QPushButton *m_back;
    QPushButton *m_use;
};

} // namespace kerf
