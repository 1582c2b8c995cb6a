// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/caller.h"
#include "ui/viewmodel/profiledraft.h"
#include "ui/viewmodel/values.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

class QGridLayout;
class QLabel;
class QPushButton;
class QScrollArea;
class QToolButton;

namespace kerf {

/// The knobs of a profile as a form, with what they would do to this session beside them. Looking changes nothing:
/// the values are the session's own only after Apply.
class ProfileEditor : public QWidget
{
    Q_OBJECT
public:
    ProfileEditor(ProfileDraft *draft, Caller caller, QWidget *parent = nullptr);

    /// Of which prompt the preview is; asks again when something of it changed and the view is seen.
    void setSubject(const QString &sessionId, qint64 revision, int slotId, bool simulated);
    void clearSubject(const QString &why);
    /// Watching only: the form can be tried, nothing can be applied or saved.
    void setViewer(bool viewer);

    void apply();
    void saveAs(const QString &name);
    Result<void> exportTo(const QString &path) const;
    Result<void> importFrom(const QString &path);
    QString asText() const; ///< every knob with its value, saved and shipped; the preview
    QString previewText() const;
    qint64 previewMs() const { return m_previewMs; } ///< how long the last one took; -1 = none yet
    QWidget *field(const QString &knob) const;
    QSize sizeHint() const override { return {330, 300}; }
    /// For tests: file dialogs are asked for by this.
    QPushButton *applyButton() const { return m_apply; }

Q_SIGNALS:
    void applied(const QJsonObject &answer);
    void said(const QString &text);
    void failed(const QString &what, const kerf::Error &error);

protected:
    void resizeEvent(QResizeEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void changeEvent(QEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    struct Row {
        QString knob;
        QLabel *name = nullptr;
        QWidget *field = nullptr;
        QToolButton *reset = nullptr;
    };
    void makeRow(const QString &knob);
    void arrange();
    void refresh();
    void refreshPreview();
    void wantPreview();
    void ask(bool edited);
    QString sentenceOf(const PlanValue &plan) const;
    void set(const QJsonObject &params, const QString &what, const QString &done);

    ProfileDraft *m_draft;
    Caller m_caller;
    QList<Row> m_rows;
    QScrollArea *m_scroll;
    QWidget *m_form;
    QGridLayout *m_grid;
    int m_columns = 0;
    QLabel *m_notice; ///< locked, or changed elsewhere
    QWidget *m_noticeBar;
    QPushButton *m_mine;
    QPushButton *m_theirs;
    QLabel *m_previewTitle;
    QLabel *m_preview;
    QToolButton *m_undo;
    QToolButton *m_redo;
    QPushButton *m_revert;
    QPushButton *m_saveAs;
    QToolButton *m_more;
    QPushButton *m_apply;

    QString m_sessionId;
    QString m_why; ///< nothing to preview
    qint64 m_revision = -1;
    int m_slotId = -1;
    bool m_simulated = false;
    std::optional<PlanValue> m_savedPlan;
    std::optional<PlanValue> m_editedPlan;
    QString m_savedProblem;
    QString m_editedProblem;
    QJsonObject m_savedFor; ///< knobs that m_savedPlan is of
    QJsonObject m_editedFor;
    bool m_savedAsked = false;
    bool m_editedAsked = false;
    bool m_again = false;
    quint64 m_subject = 0;
    QTimer m_previewTimer;
    QElapsedTimer m_clock;
    qint64 m_previewMs = -1;
    bool m_filling = false;
    bool m_viewer = false;
};

} // namespace kerf
