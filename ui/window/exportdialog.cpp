// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/exportdialog.h"

#include "ui/viewmodel/privacy.h"
#include "ui/views/receiptview.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>

namespace kerf {

ExportDialog::ExportDialog(const QList<ExportView> &views, const QString &current, bool picture, bool hasSession,
                           QWidget *parent)
    : QDialog(parent)
    , m_views(views)
    , m_hasSession(hasSession)
    , m_view(new QComboBox)
    , m_format(new QComboBox)
    , m_scale(new QComboBox)
    , m_colors(new QComboBox)
    , m_hashes(new QCheckBox(tr("Texts as lengths and &hashes only")))
    , m_hint(new QLabel)
    , m_buttons(new QDialogButtonBox(QDialogButtonBox::Cancel))
{
    setObjectName(QStringLiteral("exportDialog"));
    setWindowTitle(picture ? tr("Export picture") : tr("Export"));
    auto *form = new QFormLayout(this);
    m_view->setObjectName(QStringLiteral("exportView"));
    m_format->setObjectName(QStringLiteral("exportFormat"));
    m_scale->setObjectName(QStringLiteral("exportScale"));
    m_colors->setObjectName(QStringLiteral("exportColors"));
    m_hashes->setObjectName(QStringLiteral("exportHashes"));
    for (const ExportView &view : m_views)
        m_view->addItem(view.title, view.name);
    for (const int scale : {1, 2, 3})
        m_scale->addItem(tr("%1x").arg(scale), scale);
    m_scale->setCurrentIndex(1);
    m_colors->addItem(tr("as shown"), static_cast<int>(ThemeChoice::System));
    m_colors->addItem(tr("light"), static_cast<int>(ThemeChoice::Light));
    m_colors->addItem(tr("dark"), static_cast<int>(ThemeChoice::Dark));
    form->addRow(tr("&View"), m_view);
    form->addRow(tr("&Format"), m_format);
    form->addRow(tr("&Size"), m_scale);
    form->addRow(tr("&Colours"), m_colors);
    form->addRow(QString(), m_hashes);
    m_hint->setWordWrap(true);
    m_hint->setMinimumWidth(360);
    form->addRow(m_hint);
    m_buttons->addButton(tr("Choose file…"), QDialogButtonBox::AcceptRole)->setDefault(true);
    form->addRow(m_buttons);
    connect(m_buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_view, &QComboBox::currentIndexChanged, this, &ExportDialog::fillFormats);
    connect(m_format, &QComboBox::currentIndexChanged, this, &ExportDialog::updateState);
    m_view->setCurrentIndex(std::max(0, m_view->findData(current)));
    m_hashes->setChecked(isTextHidden());
    m_hashes->setEnabled(!isTextHidden());
    fillFormats();
    if (!picture) { // data first: a picture has a key of its own
        const int rows = m_format->findData(static_cast<int>(Format::Csv));
        m_format->setCurrentIndex(std::max(0, rows));
    }
}

void ExportDialog::fillFormats()
{
    const ExportView view = m_views.value(m_view->currentIndex());
    const QVariant before = m_format->currentData();
    const QSignalBlocker block(m_format);
    m_format->clear();
    const auto add = [this](const QString &text, Format format) { m_format->addItem(text, static_cast<int>(format)); };
    add(tr("Picture (PNG)"), Format::Png);
    if (view.widget && Exporter::isPainted(view.widget))
        add(tr("Drawing (SVG)"), Format::Svg);
    if (view.widget && !Exporter::csv(view.widget).isEmpty())
        add(tr("Rows (CSV, raw numbers)"), Format::Csv);
    if (view.name != QLatin1String("window") && m_hasSession)
        add(tr("Wire values (JSON)"), Format::Json);
    if (view.name != QLatin1String("window"))
        add(tr("Text"), Format::Text);
    if (m_hasSession) {
        add(tr("Receipt of the last request (text)"), Format::Receipt);
        add(tr("Receipt of the last request (JSON)"), Format::ReceiptJson);
        add(tr("Whole session (JSON Lines)"), Format::Session);
    }
    m_format->setCurrentIndex(std::max(0, m_format->findData(before)));
    updateState();
}

void ExportDialog::updateState()
{
    const Format format = choice().format;
    const bool picture = format == Format::Png || format == Format::Svg;
    m_scale->setEnabled(format == Format::Png);
    m_colors->setEnabled(picture);
    m_hashes->setVisible(format == Format::Session);
    QString hint;
    if (picture)
        hint = tr("Session, time and server build stand under the picture, and SIMULATED where it is so.");
    else if (format == Format::Session && !choice().hashesOnly)
        hint = tr("The file holds the texts of the conversation.");
    m_hint->setText(hint);
}

ExportDialog::Choice ExportDialog::choice() const
{
    Choice choice;
    choice.view = m_views.value(m_view->currentIndex());
    choice.format = static_cast<Format>(m_format->currentData().toInt());
    choice.scale = m_scale->currentData().toInt();
    choice.colors = static_cast<ThemeChoice>(m_colors->currentData().toInt());
    choice.hashesOnly = m_hashes->isChecked();
    return choice;
}

QString ExportDialog::suffix(Format format)
{
    switch (format) {
    case Format::Png:
        return QStringLiteral("png");
    case Format::Svg:
        return QStringLiteral("svg");
    case Format::Csv:
        return QStringLiteral("csv");
    case Format::Json:
    case Format::ReceiptJson:
        return QStringLiteral("json");
    case Format::Text:
    case Format::Receipt:
        return QStringLiteral("txt");
    case Format::Session:
        break;
    }
    return QStringLiteral("jsonl");
}

QString ExportDialog::filter(Format format)
{
    return tr("%1 files (*.%2)").arg(suffix(format).toUpper(), suffix(format));
}

} // namespace kerf
