// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/window/exporter.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QDialogButtonBox;
class QLabel;
class QSpinBox;

namespace kerf {

/// What to export, as what. The file is asked for afterwards.
class ExportDialog : public QDialog
{
    Q_OBJECT
public:
    enum class Format { Png, Svg, Csv, Json, Text, Receipt, ReceiptJson, Session };
    struct Choice {
        ExportView view;
        Format format = Format::Png;
        int scale = 2;
        ThemeChoice colors = ThemeChoice::System;
        bool hashesOnly = false;
    };

    ExportDialog(const QList<ExportView> &views, const QString &current, bool picture, bool hasSession,
                 QWidget *parent = nullptr);
    Choice choice() const;
    static QString suffix(Format format);
    static QString filter(Format format);

private:
    void fillFormats();
    void updateState();
    QList<ExportView> m_views;
    bool m_hasSession;
    QComboBox *m_view;
    QComboBox *m_format;
    QComboBox *m_scale;
    QComboBox *m_colors;
    QCheckBox *m_hashes;
    QLabel *m_hint;
    QDialogButtonBox *m_buttons;
};

} // namespace kerf
