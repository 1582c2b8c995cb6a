// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/profileeditor.h"

#include "core/eviction/policy.h"
#include "ui/theme/semanticcolors.h"
#include "ui/theme/theme.h"
#include "ui/viewmodel/numbers.h"
#include "ui/viewmodel/parse.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QFile>
#include <QFileDialog>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMenu>
#include <QPointer>
#include <QPushButton>
#include <QRegularExpression>
#include <QSaveFile>
#include <QScrollArea>
#include <QScrollBar>
#include <QStylePainter>
#include <QToolButton>
#include <QVBoxLayout>

#include <cmath>

namespace kerf {

namespace {

constexpr double kInfinite = 1e12; ///< shown as "oldest first"

/// A number without zeros behind it, with its unit; a frame says what is edited and what does not fit.
class KnobSpin : public QDoubleSpinBox
{
public:
    enum class Mark { None, Edited, Invalid };
    explicit KnobSpin(QString infinityWord)
        : m_infinity(std::move(infinityWord))
    {
        setKeyboardTracking(true);
        setAccelerated(true);
        setGroupSeparatorShown(true);
        setAlignment(Qt::AlignRight);
        setMinimumHeight(24);
    }
    void setMark(Mark mark)
    {
        if (mark == m_mark)
            return;
        m_mark = mark;
        update();
    }
    Mark mark() const { return m_mark; }

protected:
    QString textFromValue(double value) const override
    {
        if (!m_infinity.isEmpty() && value >= kInfinite)
            return m_infinity;
        QString text = QDoubleSpinBox::textFromValue(value);
        if (decimals() > 0) {
            const QString point = locale().decimalPoint();
            if (text.contains(point)) {
                while (text.endsWith(QLatin1Char('0')))
                    text.chop(1);
                if (text.endsWith(point))
                    text.chop(point.size());
            }
        }
        return text;
    }
    double valueFromText(const QString &text) const override
    {
        if (isInfinityWord(text))
            return kInfinite;
        return QDoubleSpinBox::valueFromText(text);
    }
    QValidator::State validate(QString &text, int &at) const override
    {
        if (!m_infinity.isEmpty()) {
            if (isInfinityWord(text))
                return QValidator::Acceptable;
            if (m_infinity.startsWith(text.trimmed(), Qt::CaseInsensitive))
                return QValidator::Intermediate;
        }
        return QDoubleSpinBox::validate(text, at);
    }
    void stepBy(int steps) override
    {
        if (!m_infinity.isEmpty() && value() >= kInfinite) {
            if (steps < 0)
                setValue(10);
            return;
        }
        QDoubleSpinBox::stepBy(steps);
    }
    void paintEvent(QPaintEvent *event) override
    {
        QDoubleSpinBox::paintEvent(event);
        if (m_mark == Mark::None)
            return;
        const SemanticColors c = SemanticColors::of(palette());
        QPainter p(this);
        p.setRenderHint(QPainter::Antialiasing);
        p.setPen(QPen(m_mark == Mark::Invalid ? c.refuted : c.focus, 2));
        p.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 3, 3);
    }

private:
    bool isInfinityWord(const QString &text) const
    {
        return !m_infinity.isEmpty() && text.trimmed().compare(m_infinity, Qt::CaseInsensitive) == 0;
    }
    QString m_infinity;
    Mark m_mark = Mark::None;
};

/// How a knob's wire value is shown: value x factor.
double factorOf(const QString &knob)
{
    if (knob == QLatin1String("trigger") || knob == QLatin1String("target"))
        return 100;
    if (knob == QLatin1String("min_free_disk_bytes"))
        return 1.0 / (1024.0 * 1024.0);
    return 1;
}

bool isFlag(const QString &knob)
{
    return knob == QLatin1String("allow_drop") || knob == QLatin1String("snapshot_before_rewrite")
        || knob == QLatin1String("snapshot_even_when_aligned");
}

/// The order of the form: what belongs together stands together.
QStringList formOrder()
{
    QStringList order{QStringLiteral("trigger"),
                      QStringLiteral("target"),
                      QStringLiteral("cache_prefix_reserve_tokens"),
                      QStringLiteral("cache_prefix_max_tokens"),
                      QStringLiteral("max_prefix_ratio"),
                      QStringLiteral("keep_recent_tokens"),
                      QStringLiteral("snap_tolerance_tokens"),
                      QStringLiteral("keep_prefix_tokens"),
                      QStringLiteral("recency_weight"),
                      QStringLiteral("snapshot_retention_per_slot"),
                      QStringLiteral("min_free_disk_bytes"),
                      QStringLiteral("allow_drop"),
                      QStringLiteral("snapshot_before_rewrite"),
                      QStringLiteral("snapshot_even_when_aligned")};
    for (const QString &knob : knobNames()) {
        if (!order.contains(knob))
            order << knob;
    }
    return order;
}

} // namespace

ProfileEditor::ProfileEditor(ProfileDraft *draft, Caller caller, QWidget *parent)
    : QWidget(parent)
    , m_draft(draft)
    , m_caller(std::move(caller))
    , m_scroll(new QScrollArea)
    , m_form(new QWidget)
    , m_grid(new QGridLayout(m_form))
    , m_notice(new QLabel)
    , m_noticeBar(new QWidget)
    , m_mine(new QPushButton(tr("Keep mine")))
    , m_theirs(new QPushButton(tr("Take theirs")))
    , m_previewTitle(new QLabel(tr("Preview on this session")))
    , m_preview(new QLabel)
    , m_undo(new QToolButton)
    , m_redo(new QToolButton)
    , m_revert(new QPushButton(tr("Revert")))
    , m_saveAs(new QPushButton(tr("Save as…")))
    , m_more(new QToolButton)
    , m_apply(new QPushButton(tr("Apply")))
{
    setObjectName(QStringLiteral("profileEditor"));
    setAccessibleName(tr("Profile"));
    setWhatsThis(tr("The knobs of the eviction profile of this session. Bold: differs from what is shipped. Framed: "
                    "edited here, not applied yet. The preview says what the values would do to this session; it sends "
                    "and keeps nothing."));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 6, 8, 8);
    layout->setSpacing(6);

    auto *notice = new QVBoxLayout(m_noticeBar);
    notice->setContentsMargins(8, 6, 8, 6);
    m_notice->setWordWrap(true);
    m_notice->setObjectName(QStringLiteral("profileNotice"));
    notice->addWidget(m_notice);
    auto *choice = new QHBoxLayout;
    choice->addStretch(1);
    choice->addWidget(m_mine);
    choice->addWidget(m_theirs);
    m_mine->setObjectName(QStringLiteral("keepMine"));
    m_theirs->setObjectName(QStringLiteral("takeTheirs"));
    notice->addLayout(choice);
    m_noticeBar->setAutoFillBackground(true);
    layout->addWidget(m_noticeBar);

    m_grid->setContentsMargins(0, 0, 4, 0);
    m_grid->setHorizontalSpacing(6);
    m_grid->setVerticalSpacing(4);
    for (const QString &knob : formOrder())
        makeRow(knob);
    m_scroll->setWidget(m_form);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->setMinimumHeight(96);
    layout->addWidget(m_scroll, 1);

    auto *previewBox = new QFrame;
    previewBox->setFrameShape(QFrame::StyledPanel);
    previewBox->setObjectName(QStringLiteral("profilePreviewBox"));
    auto *previewLayout = new QVBoxLayout(previewBox);
    previewLayout->setContentsMargins(8, 5, 8, 6);
    previewLayout->setSpacing(2);
    QFont bold = font();
    bold.setBold(true);
    m_previewTitle->setFont(bold);
    m_preview->setObjectName(QStringLiteral("profilePreview"));
    m_preview->setWordWrap(true);
    m_preview->setTextFormat(Qt::RichText);
    m_preview->setTextInteractionFlags(Qt::TextSelectableByMouse);
    previewLayout->addWidget(m_previewTitle);
    previewLayout->addWidget(m_preview);
    layout->addWidget(previewBox);

    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(4);
    const auto tool = [](QToolButton *made, const QString &name, const QString &icon, const QString &text) {
        made->setObjectName(name);
        made->setIcon(themedIcon(icon));
        made->setToolTip(text);
        made->setAccessibleName(text);
        made->setMinimumSize(26, 26);
        made->setFocusPolicy(Qt::TabFocus);
    };
    tool(m_undo, QStringLiteral("profileUndo"), QStringLiteral("edit-undo"), tr("Undo the last edit"));
    tool(m_redo, QStringLiteral("profileRedo"), QStringLiteral("edit-redo"), tr("Redo"));
    tool(m_more, QStringLiteral("profileMore"), QStringLiteral("document-export"), tr("Export, import"));
    m_more->setPopupMode(QToolButton::InstantPopup);
    auto *menu = new QMenu(m_more);
    connect(menu->addAction(tr("Export JSON…")), &QAction::triggered, this, [this] {
        const QString path = QFileDialog::getSaveFileName(
            this, tr("Export the profile"), m_draft->profile() + QStringLiteral(".json"), tr("JSON (*.json)"));
        if (path.isEmpty())
            return;
        if (const auto done = exportTo(path); !done)
            Q_EMIT failed(tr("The profile was not exported"), done.error());
        else
            Q_EMIT said(tr("Exported to %1.").arg(path));
    });
    connect(menu->addAction(tr("Import JSON…")), &QAction::triggered, this, [this] {
        const QString path =
            QFileDialog::getOpenFileName(this, tr("Import a profile"), QString(), tr("JSON (*.json);;All files (*)"));
        if (path.isEmpty())
            return;
        if (const auto done = importFrom(path); !done)
            Q_EMIT failed(tr("The profile was not imported"), done.error());
    });
    menu->addSeparator();
    connect(menu->addAction(tr("All values as shipped")), &QAction::triggered, this, [this] {
        if (!m_draft->shipped().isEmpty())
            m_draft->setAll(m_draft->shipped(), tr("As shipped"));
    });
    m_more->setMenu(menu);
    m_revert->setObjectName(QStringLiteral("profileRevert"));
    m_revert->setToolTip(tr("Back to the values in force"));
    m_saveAs->setObjectName(QStringLiteral("profileSaveAs"));
    m_saveAs->setToolTip(tr("Keeps the values under a name and uses them in this session"));
    m_apply->setObjectName(QStringLiteral("profileApply"));
    buttons->addWidget(m_undo);
    buttons->addWidget(m_redo);
    buttons->addWidget(m_revert);
    buttons->addWidget(m_saveAs);
    buttons->addWidget(m_more);
    buttons->addStretch(1);
    buttons->addWidget(m_apply);
    layout->addLayout(buttons);

    QUndoStack *stack = m_draft->undoStack();
    connect(m_undo, &QToolButton::clicked, stack, &QUndoStack::undo);
    connect(m_redo, &QToolButton::clicked, stack, &QUndoStack::redo);
    connect(stack, &QUndoStack::canUndoChanged, m_undo, &QWidget::setEnabled);
    connect(stack, &QUndoStack::canRedoChanged, m_redo, &QWidget::setEnabled);
    m_undo->setEnabled(false);
    m_redo->setEnabled(false);
    connect(m_revert, &QPushButton::clicked, m_draft, &ProfileDraft::revert);
    connect(m_mine, &QPushButton::clicked, m_draft, &ProfileDraft::keepMine);
    connect(m_theirs, &QPushButton::clicked, m_draft, &ProfileDraft::takeTheirs);
    connect(m_apply, &QPushButton::clicked, this, &ProfileEditor::apply);
    connect(m_saveAs, &QPushButton::clicked, this, [this] {
        bool ok = false;
        const QString name =
            QInputDialog::getText(this, tr("Save the profile as"), tr("Name"), QLineEdit::Normal, QString(), &ok);
        if (ok)
            saveAs(name);
    });
    m_previewTimer.setSingleShot(true);
    m_previewTimer.setInterval(15); // a burst of keys asks once
    connect(&m_previewTimer, &QTimer::timeout, this, [this] {
        ask(false);
        ask(true);
    });
    connect(m_draft, &ProfileDraft::changed, this, [this] {
        refresh();
        wantPreview();
    });
    arrange();
    refresh();
}

void ProfileEditor::makeRow(const QString &knob)
{
    Row row;
    row.knob = knob;
    row.name = new QLabel(knobName(knob));
    if (isFlag(knob)) {
        auto *box = new QCheckBox;
        row.field = box;
        connect(box, &QCheckBox::toggled, this, [this, knob](bool on) {
            if (m_filling)
                return;
            m_draft->endEdit();
            m_draft->setValue(knob, on);
        });
    } else {
        auto *spin = new KnobSpin(knob == QLatin1String("recency_weight") ? tr("oldest first") : QString());
        row.field = spin;
        const bool share = factorOf(knob) > 1;
        spin->setDecimals(share || knob == QLatin1String("min_free_disk_bytes") ? 2
                              : knob == QLatin1String("max_prefix_ratio") || knob == QLatin1String("recency_weight")
                              ? 3
                              : 0);
        if (share) {
            spin->setRange(1, 100);
            spin->setSuffix(tr(" %"));
            spin->setSingleStep(1);
        } else if (knob == QLatin1String("max_prefix_ratio")) {
            spin->setRange(0, 1);
            spin->setSingleStep(0.05);
        } else if (knob == QLatin1String("recency_weight")) {
            spin->setRange(0, kInfinite);
            spin->setSingleStep(0.5);
        } else if (knob == QLatin1String("min_free_disk_bytes")) {
            spin->setRange(0, 8e9);
            spin->setSuffix(tr(" MiB"));
            spin->setSingleStep(256);
        } else if (knob == QLatin1String("snapshot_retention_per_slot")) {
            spin->setRange(0, 1000);
        } else {
            spin->setRange(0, 16 * 1024 * 1024);
            spin->setSingleStep(64);
        }
        // The widest value would make the form wider than the dock: about eight digits is what is used.
        spin->setMinimumWidth(spin->fontMetrics().horizontalAdvance(QStringLiteral("000,000 MiB")) + 26);
        spin->setMaximumWidth(spin->minimumWidth() + 40);
        spin->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        connect(spin, &QDoubleSpinBox::valueChanged, this, [this, knob](double shown) {
            if (m_filling)
                return;
            if (knob == QLatin1String("recency_weight") && shown >= kInfinite) {
                m_draft->setValue(knob, QStringLiteral("infinity"));
                return;
            }
            double value = shown / factorOf(knob);
            if (factorOf(knob) > 1)
                value = std::round(value * 1e6) / 1e6; // 57 % is 0.57, not 0.5699999
            if (knob == QLatin1String("min_free_disk_bytes"))
                value = std::round(value);
            m_draft->setValue(knob, value);
        });
        connect(spin, &QDoubleSpinBox::editingFinished, m_draft, &ProfileDraft::endEdit);
        spin->installEventFilter(this);
        if (auto *edit = spin->findChild<QLineEdit *>())
            edit->installEventFilter(this);
        spin->setFocusPolicy(Qt::StrongFocus);
    }
    row.field->setObjectName(QStringLiteral("knob-%1").arg(knob));
    row.field->setAccessibleName(knobName(knob));
    row.name->setBuddy(row.field);
    row.reset = new QToolButton;
    row.reset->setObjectName(QStringLiteral("reset-%1").arg(knob));
    row.reset->setAutoRaise(true);
    row.reset->setText(QStringLiteral("\u21A9"));
    row.reset->setAccessibleName(tr("%1: back to the shipped value").arg(knobName(knob)));
    row.reset->setFixedSize(24, 24);
    QSizePolicy keeps = row.reset->sizePolicy();
    keeps.setRetainSizeWhenHidden(true);
    row.reset->setSizePolicy(keeps);
    connect(row.reset, &QToolButton::clicked, this, [this, knob] {
        m_draft->endEdit();
        m_draft->setValue(knob, m_draft->shipped().value(knob));
        m_draft->endEdit();
    });
    m_rows.append(row);
}

void ProfileEditor::arrange()
{
    // As many columns as fit: a field with its name and its arrow is one.
    int label = 0;
    int flag = 0;
    int field = 0;
    QFont bold = font();
    bold.setBold(true);
    const QFontMetrics wide(bold);
    for (const Row &row : std::as_const(m_rows)) {
        const int advance = wide.horizontalAdvance(row.name->text()) + 2;
        (isFlag(row.knob) ? flag : label) = std::max(isFlag(row.knob) ? flag : label, advance);
        if (!isFlag(row.knob))
            field = std::max(field, row.field->minimumWidth());
    }
    const int one = std::max(label + field, flag + 24) + 24 + 3 * m_grid->horizontalSpacing();
    const int room = std::max(1, m_scroll->viewport()->width() - 6);
    const int columns = std::clamp(room / std::max(1, one), 1, 3);
    if (columns == m_columns)
        return;
    m_columns = columns;
    while (QLayoutItem *item = m_grid->takeAt(0))
        delete item;
    const int each = (static_cast<int>(m_rows.size()) + columns - 1) / columns;
    for (int i = 0; i < m_rows.size(); ++i) {
        const Row &row = m_rows.at(i);
        const int at = (i / each) * 4;
        m_grid->addWidget(row.name, i % each, at, Qt::AlignRight | Qt::AlignVCenter);
        m_grid->addWidget(row.field, i % each, at + 1);
        m_grid->addWidget(row.reset, i % each, at + 2);
    }
    for (int column = 0; column < 12; ++column) {
        m_grid->setColumnStretch(column, column % 4 == 1 && column / 4 < columns ? 1 : 0);
        m_grid->setColumnMinimumWidth(column, column % 4 == 3 && column / 4 + 1 < columns ? 6 : 0);
    }
    m_grid->setRowStretch(each, 1);
    for (int i = 0; i + 1 < m_rows.size(); ++i)
        setTabOrder(m_rows.at(i).field, m_rows.at(i + 1).field);
}

QWidget *ProfileEditor::field(const QString &knob) const
{
    for (const Row &row : m_rows) {
        if (row.knob == knob)
            return row.field;
    }
    return nullptr;
}

void ProfileEditor::refresh()
{
    m_filling = true;
    const bool known = m_draft->isKnown();
    const bool locked = !m_draft->lockedBy().isEmpty();
    const QStringList invalid = m_draft->invalidKnobs();
    for (const Row &row : std::as_const(m_rows)) {
        const QJsonValue value = m_draft->values().value(row.knob);
        const bool there = known && !value.isUndefined();
        const bool changed = m_draft->isChanged(row.knob);
        QFont font = this->font();
        font.setBold(changed);
        row.name->setFont(font);
        QStringList tip{QStringLiteral("<b>%1</b>").arg(knobName(row.knob).toHtmlEscaped()),
                        knobHelp(row.knob).toHtmlEscaped()};
        if (m_draft->shipped().contains(row.knob))
            tip << tr("Shipped with %1: %2")
                       .arg(m_draft->base(), knobText(row.knob, m_draft->shipped().value(row.knob)))
                       .toHtmlEscaped();
        if (m_draft->isEdited(row.knob))
            tip << tr("In force: %1").arg(knobText(row.knob, m_draft->saved().value(row.knob))).toHtmlEscaped();
        const QString text = tip.join(QStringLiteral("<br>"));
        row.name->setToolTip(text);
        row.field->setToolTip(text);
        row.field->setAccessibleDescription(
            changed
                ? tr("differs from the shipped value %1").arg(knobText(row.knob, m_draft->shipped().value(row.knob)))
                : QString());
        row.reset->setVisible(changed && !locked);
        row.reset->setToolTip(
            tr("Back to the shipped value %1").arg(knobText(row.knob, m_draft->shipped().value(row.knob))));
        if (auto *box = qobject_cast<QCheckBox *>(row.field)) {
            box->setEnabled(there && !locked);
            box->setChecked(value.toBool());
            QPalette edited = palette();
            if (m_draft->isEdited(row.knob))
                edited.setColor(QPalette::Base,
                                mixed(SemanticColors::of(palette()).focus, palette().color(QPalette::Base), 0.35));
            box->setPalette(edited);
        } else {
            auto *spin = static_cast<KnobSpin *>(row.field);
            spin->setEnabled(there);
            spin->setReadOnly(locked);
            spin->setButtonSymbols(locked ? QAbstractSpinBox::NoButtons : QAbstractSpinBox::UpDownArrows);
            const double shown = value.isString() ? kInfinite : value.toDouble() * factorOf(row.knob);
            // What is being typed stays as it is typed.
            if (!there)
                spin->clear(); // nothing is told of it: no zero either
            else if (std::abs(spin->value() - shown) > 1e-9 || (spin->text().isEmpty() && !spin->hasFocus()))
                spin->setValue(shown);
            spin->setMark(invalid.contains(row.knob)        ? KnobSpin::Mark::Invalid
                              : m_draft->isEdited(row.knob) ? KnobSpin::Mark::Edited
                                                            : KnobSpin::Mark::None);
        }
    }
    const SemanticColors c = SemanticColors::of(palette());
    const auto &theirs = m_draft->theirs();
    QPalette bar = palette();
    bar.setColor(QPalette::Window, mixed(c.warning, c.window, c.dark ? 0.20 : 0.12));
    m_noticeBar->setPalette(bar);
    m_noticeBar->setVisible(locked || theirs);
    m_mine->setVisible(theirs.has_value());
    m_theirs->setVisible(theirs.has_value());
    if (locked) {
        m_notice->setText(tr("Set by the environment variable %1: read only here.").arg(m_draft->lockedBy()));
    } else if (theirs) {
        QStringList rows;
        for (auto it = theirs->knobs.begin(); it != theirs->knobs.end(); ++it) {
            if (it.value() != m_draft->saved().value(it.key()))
                rows << tr("%1 %2 (here: %3)")
                            .arg(knobName(it.key()), knobText(it.key(), it.value()),
                                 knobText(it.key(), m_draft->values().value(it.key())));
        }
        const QString time = QLocale().toString(theirs->at.toLocalTime().time(), QStringLiteral("HH:mm:ss"));
        m_notice->setText(theirs->by.isEmpty()
                              ? tr("Changed elsewhere at %1: %2").arg(time, rows.join(QStringLiteral(", ")))
                              : tr("Changed by %1 at %2: %3").arg(theirs->by, time, rows.join(QStringLiteral(", "))));
    }
    const QString problem = m_draft->problem();
    const bool dirty = m_draft->isDirty();
    m_apply->setText(known && !dirty ? tr("Applied") : tr("Apply"));
    m_apply->setEnabled(known && dirty && problem.isEmpty() && !locked && !theirs);
    m_apply->setToolTip(locked                   ? m_notice->text()
                            : theirs             ? tr("Choose first: keep mine or take theirs.")
                            : !problem.isEmpty() ? problem
                            : dirty              ? tr("Applies the values to this session, from the next plan on")
                                                 : tr("Nothing was edited"));
    m_revert->setEnabled(dirty && !locked);
    m_saveAs->setEnabled(known && problem.isEmpty() && !locked);
    m_more->setEnabled(known);
    m_filling = false;
    refreshPreview();
}

// ---- preview -----------------------------------------------------------------------------------------------

void ProfileEditor::setSubject(const QString &sessionId, qint64 revision, int slotId, bool simulated)
{
    if (sessionId == m_sessionId && revision == m_revision && slotId == m_slotId && simulated == m_simulated)
        return;
    m_sessionId = sessionId;
    m_revision = revision;
    m_slotId = slotId;
    m_simulated = simulated;
    m_why.clear();
    ++m_subject;
    m_savedPlan.reset();
    m_editedPlan.reset();
    m_savedFor = {};
    m_editedFor = {};
    m_savedAsked = false;
    m_editedAsked = false;
    wantPreview();
    refreshPreview();
}

void ProfileEditor::setViewer(bool viewer)
{
    m_viewer = viewer;
    m_apply->setVisible(!viewer);
    m_saveAs->setVisible(!viewer);
}

void ProfileEditor::clearSubject(const QString &why)
{
    if (m_sessionId.isEmpty() && why == m_why)
        return;
    m_sessionId.clear();
    m_revision = -1;
    m_why = why;
    ++m_subject;
    m_savedPlan.reset();
    m_editedPlan.reset();
    refreshPreview();
}

void ProfileEditor::wantPreview()
{
    if (isVisible() && !m_previewTimer.isActive())
        m_previewTimer.start();
}

void ProfileEditor::ask(bool edited)
{
    bool &asked = edited ? m_editedAsked : m_savedAsked;
    const QJsonObject knobs = edited ? m_draft->values() : m_draft->saved();
    const QJsonObject &have = edited ? m_editedFor : m_savedFor;
    if (!m_caller || m_sessionId.isEmpty() || !m_draft->isKnown() || have == knobs)
        return;
    if (edited && !m_draft->isDirty())
        return;
    if (edited && !m_draft->problem().isEmpty())
        return;
    if (asked) {
        m_again = true; // when the answer is there
        return;
    }
    asked = true;
    m_clock.start();
    QJsonObject params{{QStringLiteral("session_id"), m_sessionId},
                       {QStringLiteral("preview"), true},
                       {QStringLiteral("overrides"), knobs}};
    if (m_slotId >= 0)
        params.insert(QStringLiteral("slot_id"), m_slotId);
    const QPointer<ProfileEditor> self(this);
    m_caller(QStringLiteral("context.plan_eviction"), params,
             [self, edited, knobs, subject = m_subject](const Result<QJsonObject> &result) {
                 if (!self || self->m_subject != subject)
                     return;
                 (edited ? self->m_editedAsked : self->m_savedAsked) = false;
                 self->m_previewMs = self->m_clock.elapsed();
                 (edited ? self->m_editedFor : self->m_savedFor) = knobs;
                 auto &plan = edited ? self->m_editedPlan : self->m_savedPlan;
                 auto &problem = edited ? self->m_editedProblem : self->m_savedProblem;
                 if (result) {
                     plan = parsePlan(*result);
                     problem.clear();
                 } else {
                     plan.reset();
                     problem = result.error().message;
                 }
                 self->refreshPreview();
                 if (std::exchange(self->m_again, false))
                     self->wantPreview();
             });
}

QString ProfileEditor::sentenceOf(const PlanValue &plan) const
{
    if (plan.pressure == QLatin1String("anchor_overflow"))
        return tr("pins and fixed parts do not fit");
    if (plan.updates.isEmpty() || !plan.hasBoundary)
        return tr("no cut, %1 of %2 tokens").arg(number(plan.liveTokens, plan.exact), number(plan.triggerAt));
    const BoundaryPlan &boundary = plan.boundary;
    const int cut = boundary.hasCandidate && boundary.alignedCut >= 0 ? boundary.alignedCut : boundary.requestedCut;
    QString cost;
    if (boundary.predictedMs >= 0)
        cost = tr("~%1").arg(shortMilliseconds(boundary.predictedMs));
    else
        cost = tr("%1 to prefill").arg(approx(boundary.predictedPrefill));
    return tr("cut %1, window %2, %3")
        .arg(number(cut, plan.exact && !m_simulated), number(plan.tokensAfter, plan.exact && !m_simulated), cost);
}

QString ProfileEditor::previewText() const
{
    QString plain = m_preview->text();
    plain.replace(QStringLiteral("<br>"), QStringLiteral("\n"));
    static const QRegularExpression tags(QStringLiteral("<[^>]*>"));
    plain.remove(tags);
    return plain;
}

void ProfileEditor::refreshPreview()
{
    const SemanticColors c = SemanticColors::of(palette());
    const auto colored = [](const QString &text, const QColor &color) {
        return QStringLiteral("<span style=\"color:%1\"><b>%2</b></span>").arg(color.name(), text.toHtmlEscaped());
    };
    m_previewTitle->setText(m_simulated ? tr("Preview on this session, simulated") : tr("Preview on this session"));
    if (m_sessionId.isEmpty()) {
        m_preview->setText((m_why.isEmpty() ? tr("No session is open.") : m_why).toHtmlEscaped());
        return;
    }
    QStringList lines;
    const bool savedNow = m_savedFor == m_draft->saved();
    if (!savedNow)
        lines << tr("Saved values: …").toHtmlEscaped();
    else if (m_savedPlan)
        lines << tr("Saved values: %1").arg(sentenceOf(*m_savedPlan)).toHtmlEscaped();
    else
        lines << tr("Saved values: %1").arg(m_savedProblem).toHtmlEscaped();
    const QString problem = m_draft->problem();
    if (!problem.isEmpty()) {
        lines << colored(problem, c.refuted);
    } else if (m_draft->isDirty()) {
        const bool editedNow = m_editedFor == m_draft->values();
        if (!editedNow) {
            lines << tr("These values: …").toHtmlEscaped();
        } else if (!m_editedPlan) {
            lines << colored(m_editedProblem, c.refuted);
        } else {
            lines << tr("These values: %1").arg(sentenceOf(*m_editedPlan)).toHtmlEscaped();
            QStringList difference;
            if (savedNow && m_savedPlan) {
                const int tokens = m_editedPlan->tokensAfter - m_savedPlan->tokensAfter;
                if (tokens != 0)
                    difference << (tokens > 0 ? tr("%n more token(s) kept", nullptr, tokens)
                                              : tr("%n fewer token(s) kept", nullptr, -tokens));
                const double a = m_savedPlan->boundary.predictedMs;
                const double b = m_editedPlan->boundary.predictedMs;
                if (m_savedPlan->hasBoundary && m_editedPlan->hasBoundary && a >= 0 && b >= 0) {
                    const auto whole = static_cast<qint64>(std::llround(b - a));
                    if (whole != 0)
                        difference << tr("%1 ms").arg(signedNumber(whole));
                }
                if (difference.isEmpty())
                    difference << tr("no difference on this prompt");
            }
            QString line = QStringLiteral("<b>%1</b>").arg(difference.join(QStringLiteral(", ")).toHtmlEscaped());
            if (m_editedPlan->targetMissed > 0)
                line += QStringLiteral("; ")
                    + colored(tr("target missed by %1").arg(number(m_editedPlan->targetMissed)), c.warning);
            lines << line;
        }
    } else if (m_savedPlan && m_savedPlan->targetMissed > 0) {
        lines << colored(tr("target missed by %1").arg(number(m_savedPlan->targetMissed)), c.warning);
    }
    m_preview->setText(lines.join(QStringLiteral("<br>")));
    m_preview->setAccessibleDescription(previewText());
}

// ---- acts --------------------------------------------------------------------------------------------------

void ProfileEditor::set(const QJsonObject &params, const QString &what, const QString &done)
{
    if (!m_caller)
        return;
    const QJsonObject wanted = m_draft->values();
    m_draft->m_applied = wanted;
    const QPointer<ProfileEditor> self(this);
    m_caller(QStringLiteral("profile.set"), params,
             [self, params, what, done, wanted](const Result<QJsonObject> &result) {
                 if (!self)
                     return;
                 if (!result) {
                     self->m_draft->m_applied = {};
                     Q_EMIT self->failed(what, result.error());
                     return;
                 }
                 // A knob that was given back may come from elsewhere again: then it is named.
                 const QJsonObject knobs = result->value(QLatin1String("knobs")).toObject();
                 QJsonObject again;
                 const QJsonObject given = params.value(QLatin1String("overrides")).toObject();
                 for (auto it = given.begin(); it != given.end(); ++it) {
                     if (it.value().isNull() && knobs.value(it.key()) != wanted.value(it.key()))
                         again.insert(it.key(), wanted.value(it.key()));
                 }
                 if (!again.isEmpty()) {
                     QJsonObject more = params;
                     more.insert(QStringLiteral("overrides"), again);
                     self->set(more, what, done);
                     return;
                 }
                 self->m_draft->setSaved(self->m_draft->sessionId(), *result, true);
                 Q_EMIT self->said(done);
                 Q_EMIT self->applied(*result);
             });
}

void ProfileEditor::apply()
{
    m_draft->endEdit();
    if (m_viewer || !m_draft->isDirty() || !m_draft->problem().isEmpty())
        return;
    QJsonObject params{{QStringLiteral("overrides"), m_draft->overrides()}};
    if (!m_draft->sessionId().isEmpty())
        params.insert(QStringLiteral("session_id"), m_draft->sessionId());
    set(params, tr("The profile was not applied"), tr("The profile is applied, from the next plan on."));
}

void ProfileEditor::saveAs(const QString &name)
{
    const QString trimmed = name.trimmed();
    if (trimmed.isEmpty())
        return;
    m_draft->endEdit();
    QJsonObject params{{QStringLiteral("overrides"), m_draft->overrides()}, {QStringLiteral("save_as"), trimmed}};
    if (!m_draft->sessionId().isEmpty())
        params.insert(QStringLiteral("session_id"), m_draft->sessionId());
    set(params, tr("The profile was not saved"), tr("Saved as %1.").arg(trimmed));
}

Result<void> ProfileEditor::exportTo(const QString &path) const
{
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(m_draft->exported()) < 0 || !file.commit())
        return failure(Error::Code::Failed, tr("%1: %2").arg(path, file.errorString()));
    return {};
}

Result<void> ProfileEditor::importFrom(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return failure(Error::Code::Failed, tr("%1: %2").arg(path, file.errorString()));
    return m_draft->import(file.read(1 << 20));
}

QString ProfileEditor::asText() const
{
    QString text = tr("Profile %1").arg(m_draft->profile()) + QLatin1Char('\n');
    text +=
        QStringList{tr("Knob"), tr("Value"), tr("In force"), tr("Shipped")}.join(QLatin1Char('\t')) + QLatin1Char('\n');
    for (const Row &row : m_rows)
        text += QStringList{knobName(row.knob), knobText(row.knob, m_draft->values().value(row.knob)),
                            knobText(row.knob, m_draft->saved().value(row.knob)),
                            knobText(row.knob, m_draft->shipped().value(row.knob))}
                    .join(QLatin1Char('\t'))
            + QLatin1Char('\n');
    return text + m_previewTitle->text() + QLatin1Char('\n') + previewText() + QLatin1Char('\n');
}

void ProfileEditor::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    arrange();
}

void ProfileEditor::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    wantPreview();
}

void ProfileEditor::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        if (event->type() == QEvent::FontChange)
            m_columns = 0;
        arrange();
        refresh();
    }
    QWidget::changeEvent(event);
}

/// Undo goes to the window; the wheel over a field that has no focus scrolls the form, it changes nothing.
bool ProfileEditor::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::ShortcutOverride) {
        const auto *key = static_cast<QKeyEvent *>(event);
        if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) {
            event->ignore(); // Undo is the window's: one step a field edit, not a letter
            return true;
        }
    }
    if (event->type() == QEvent::Wheel && !static_cast<QWidget *>(watched)->hasFocus()) {
        event->ignore();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace kerf
