// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/window/appsettings.h"

#include <QDialog>

class QFormLayout;
class QLabel;

namespace kerf {

/// The settings; each takes effect at once.
class SettingsDialog : public QDialog
{
    Q_OBJECT
public:
    explicit SettingsDialog(const AppSettings &settings, QWidget *parent = nullptr);
    const AppSettings &settings() const { return m_settings; }
    void setStoreLines(const QString &lines);

Q_SIGNALS:
    void changed(const kerf::AppSettings &settings);

private:
    template<typename Change>
    void change(Change &&apply)
    {
        const AppSettings before = m_settings;
        apply(m_settings);
        if (!(m_settings == before))
            Q_EMIT changed(m_settings);
    }
    AppSettings m_settings;
    QLabel *m_store;
};

} // namespace kerf
