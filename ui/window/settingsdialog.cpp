// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/settingsdialog.h"

#include "ui/theme/semanticcolors.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QSpinBox>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace kerf {

namespace {

QLabel *dim(const QString &text)
{
    auto *label = new QLabel(text);
    label->setWordWrap(true);
    QPalette palette = label->palette();
    palette.setColor(QPalette::WindowText, SemanticColors::of(palette).dimText);
    label->setPalette(palette);
    return label;
}

} // namespace

SettingsDialog::SettingsDialog(const AppSettings &settings, QWidget *parent)
    : QDialog(parent)
    , m_settings(settings)
    , m_store(new QLabel(tr("Not connected.")))
{
    setObjectName(QStringLiteral("settingsDialog"));
    setWindowTitle(tr("Settings"));
    auto *whole = new QVBoxLayout(this);
    auto *sides = new QHBoxLayout;
    auto *list = new QListWidget;
    list->setObjectName(QStringLiteral("settingsPages"));
    list->setAccessibleName(tr("Pages"));
    auto *pages = new QStackedWidget;
    sides->addWidget(list);
    sides->addWidget(pages, 1);
    whole->addLayout(sides, 1);
    const auto page = [&](const QString &title) {
        list->addItem(title);
        auto *widget = new QWidget;
        auto *form = new QFormLayout(widget);
        form->setContentsMargins(12, 4, 4, 4);
        pages->addWidget(widget);
        return form;
    };
    const auto combo = [](const QString &name, const QList<std::pair<QString, QVariant>> &items,
                          const QVariant &current) {
        auto *box = new QComboBox;
        box->setObjectName(name);
        for (const auto &item : items)
            box->addItem(item.first, item.second);
        box->setCurrentIndex(std::max(0, box->findData(current)));
        return box;
    };

    QFormLayout *general = page(tr("General"));
    auto *start = combo(QStringLiteral("settingStart"),
                        {{tr("the start page"), 0}, {tr("the last connection"), 1}, {tr("the demo"), 2}},
                        static_cast<int>(settings.start));
    general->addRow(tr("&Start with"), start);
    connect(start, &QComboBox::activated, this, [this, start] {
        change([start](AppSettings &s) { s.start = static_cast<AppSettings::Start>(start->currentData().toInt()); });
    });
    auto *language = combo(QStringLiteral("settingLanguage"),
                           {{tr("the system's"), QString()},
                            {QStringLiteral("English"), QStringLiteral("en")},
                            {QStringLiteral("Deutsch"), QStringLiteral("de")}},
                           settings.language);
    general->addRow(tr("&Language"), language);
    general->addRow(QString(), dim(tr("Another language is used from the next start on.")));
    connect(language, &QComboBox::activated, this, [this, language] {
        change([language](AppSettings &s) { s.language = language->currentData().toString(); });
    });

    QFormLayout *appearance = page(tr("Appearance"));
    auto *theme = combo(QStringLiteral("settingTheme"),
                        {{tr("System"), QStringLiteral("system")},
                         {tr("Light"), QStringLiteral("light")},
                         {tr("Dark"), QStringLiteral("dark")}},
                        settings.theme);
    appearance->addRow(tr("&Colours"), theme);
    connect(theme, &QComboBox::activated, this,
            [this, theme] { change([theme](AppSettings &s) { s.theme = theme->currentData().toString(); }); });
    auto *font = new QSpinBox;
    font->setObjectName(QStringLiteral("settingFontSize"));
    font->setRange(7, 16);
    font->setSpecialValueText(tr("the system's"));
    font->setSuffix(tr(" pt"));
    font->setValue(settings.fontSize == 0 ? 7 : settings.fontSize);
    appearance->addRow(tr("&Font size"), font);
    connect(font, &QSpinBox::valueChanged, this,
            [this](int size) { change([size](AppSettings &s) { s.fontSize = size < 8 ? 0 : size; }); });

    QFormLayout *store = page(tr("Store"));
    m_store->setObjectName(QStringLiteral("settingStore"));
    m_store->setWordWrap(true);
    m_store->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    store->addRow(m_store);

    QFormLayout *privacy = page(tr("Privacy"));
    auto *hide = new QCheckBox(tr("&Hide texts: lengths and hashes only"));
    hide->setObjectName(QStringLiteral("settingHideText"));
    hide->setChecked(settings.hideText);
    privacy->addRow(hide);
    privacy->addRow(dim(tr("In every view and in every export. Token counts, positions and times stay as they are.")));
    connect(hide, &QCheckBox::toggled, this, [this](bool on) { change([on](AppSettings &s) { s.hideText = on; }); });

    QFormLayout *notes = page(tr("Notifications"));
    const QString texts[] = {tr("A compaction was &refuted"), tr("The server does not answer for &30 seconds"),
                             tr("The server's prompt cache is near its &limit"),
                             tr("A prefill of more than &10 seconds lies ahead")};
    for (const NoteKind kind : kNoteKinds) {
        const int i = static_cast<int>(kind);
        auto *box = new QCheckBox(texts[i]);
        box->setObjectName(QStringLiteral("settingNotify%1").arg(i));
        box->setChecked(settings.notify[i]);
        notes->addRow(box);
        connect(box, &QCheckBox::toggled, this,
                [this, i](bool on) { change([i, on](AppSettings &s) { s.notify[i] = on; }); });
    }
    notes->addRow(dim(tr("At most one a minute of each kind. A click opens what it is about.")));

    for (int row = 0; row < list->count(); ++row)
        list->item(row)->setSizeHint(QSize(0, std::max(26, list->fontMetrics().height() + 10)));
    list->setMaximumWidth(list->sizeHintForColumn(0) + 40);
    list->setMinimumWidth(list->sizeHintForColumn(0) + 24);
    connect(list, &QListWidget::currentRowChanged, pages, &QStackedWidget::setCurrentIndex);
    list->setCurrentRow(0);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    whole->addWidget(buttons);
    resize(560, 340);
}

void SettingsDialog::setStoreLines(const QString &lines) { m_store->setText(lines); }

} // namespace kerf
