// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/cutpicture.h"

#include <QScrollArea>

class QGridLayout;
class QLabel;

namespace kerf {

/// The window by part as one bar whose pieces add up to the total, with its legend.
class WindowBar : public QWidget
{
    Q_OBJECT
public:
    explicit WindowBar(QWidget *parent = nullptr);
    void setReceipt(const std::optional<ReceiptValue> &receipt);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {180, sizeHint().height()}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    static QString partWord(const QString &wireName);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QList<std::pair<QString, int>> parts() const;
    std::optional<ReceiptValue> m_receipt;
};

/// What was decided, predicted and measured, of the selected compaction or of the current plan.
class ReceiptView : public QScrollArea
{
    Q_OBJECT
public:
    explicit ReceiptView(QWidget *parent = nullptr);
    void setReceipt(const PlanValue *plan, const CutPicture &picture, const std::optional<ReceiptValue> &turn);
    QString asText() const;
    QSize sizeHint() const override { return {330, 320}; }

protected:
    void changeEvent(QEvent *event) override;

private:
    struct Row {
        QLabel *name = nullptr;
        QLabel *value = nullptr;
    };
    void addRow(const QString &name, const QString &text, const QColor &color = {});
    QList<Row> m_rows; ///< labels, kept and written anew
    qsizetype m_used = 0;
    QWidget *m_page;
    QLabel *m_title;
    QLabel *m_when;
    QLabel *m_outcome;
    QLabel *m_windowTitle;
    WindowBar *m_bar;
    QGridLayout *m_grid;
    QStringList m_plain;
};

} // namespace kerf
