// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QComboBox>
#include <QWidget>

class QDockWidget;
class QLabel;

namespace kerf {

/// Title bar of a dock: the name semibold, the state of its content dim beside it.
class DockTitle : public QWidget
{
    Q_OBJECT
public:
    explicit DockTitle(QDockWidget *dock);
    void setDetail(const QString &detail);
    QString detail() const { return m_full; }
    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QDockWidget *m_dock;
    QString m_full;
    QWidget *m_buttons;
};

/// Combo box whose frame says that what it names is simulated or does not answer.
class ModeBox : public QComboBox
{
    Q_OBJECT
public:
    enum class Mode { Plain, Simulated, Disconnected };
    using QComboBox::QComboBox;
    void setMode(Mode mode);
    Mode mode() const { return m_mode; }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    Mode m_mode = Mode::Plain;
};

} // namespace kerf
