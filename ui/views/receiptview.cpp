// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/receiptview.h"

#include "ui/theme/patterns.h"
#include "ui/viewmodel/numbers.h"

#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QVBoxLayout>

namespace kerf {

WindowBar::WindowBar(QWidget *parent)
    : QWidget(parent)
{
    setAccessibleName(tr("Window by part"));
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

QString WindowBar::partWord(const QString &wireName)
{
    if (wireName == QLatin1String("system_prompt"))
        return tr("system");
    if (wireName == QLatin1String("tool_schemas"))
        return tr("tools");
    if (wireName == QLatin1String("pinned_anchors"))
        return tr("pinned");
    if (wireName == QLatin1String("retrieved_memory"))
        return tr("recall");
    if (wireName == QLatin1String("stubs"))
        return tr("stubs");
    if (wireName == QLatin1String("fold_summaries"))
        return tr("folds");
    if (wireName == QLatin1String("raw_recent_history"))
        return tr("history");
    if (wireName == QLatin1String("other"))
        return tr("other");
    return wireName;
}

QList<std::pair<QString, int>> WindowBar::parts() const
{
    QList<std::pair<QString, int>> result;
    if (m_receipt) {
        for (const auto &part : m_receipt->breakdown) {
            if (part.second > 0)
                result.append(part);
        }
    }
    return result;
}

void WindowBar::setReceipt(const std::optional<ReceiptValue> &receipt)
{
    if (m_receipt == receipt)
        return;
    m_receipt = receipt;
    setVisible(receipt.has_value());
    QStringList spoken;
    for (const auto &part : parts())
        spoken << tr("%1 %2").arg(partWord(part.first), number(part.second));
    setAccessibleDescription(spoken.join(QStringLiteral(", ")));
    updateGeometry();
    update();
}

int WindowBar::heightForWidth(int) const
{
    const int lines = (static_cast<int>(parts().size()) + 3) / 3; // three to a line, the total last
    return 20 + lines * (QFontMetrics(font()).height() + 3);
}

QSize WindowBar::sizeHint() const { return {300, heightForWidth(300)}; }

void WindowBar::paintEvent(QPaintEvent *)
{
    if (!m_receipt)
        return;
    const SemanticColors c = SemanticColors::of(palette());
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    const int window = std::max(m_receipt->contextWindow, m_receipt->totalTokens);
    const QRectF bar(0.5, 1.5, width() - 1, 13);
    QPen dash(c.axis, 1, Qt::CustomDashLine);
    dash.setDashPattern({3, 2});
    p.setPen(dash);
    p.setBrush(Qt::NoBrush);
    p.drawRect(bar);
    const auto color = [&c](const QString &name) {
        if (name == QLatin1String("system_prompt"))
            return c.roleSystem;
        if (name == QLatin1String("tool_schemas"))
            return c.roleTool;
        if (name == QLatin1String("pinned_anchors"))
            return c.checkpointPre;
        if (name == QLatin1String("raw_recent_history"))
            return c.roleAssistant;
        if (name == QLatin1String("retrieved_memory"))
            return c.checkpointFile;
        if (name == QLatin1String("fold_summaries"))
            return c.checkpointFold;
        return c.evicted;
    };
    qreal x = bar.left();
    const QFontMetricsF metrics(font());
    const qreal row = metrics.height() + 3;
    int index = 0;
    const bool exact = m_receipt->exact && !m_receipt->simulated;
    const QList<std::pair<QString, int>> all = parts();
    const qreal column = width() / 3.0;
    for (const auto &part : all) {
        const qreal w = window > 0 ? bar.width() * part.second / window : 0;
        p.fillRect(QRectF(x, bar.top(), std::max<qreal>(1, w - 0.7), bar.height()), color(part.first));
        x += w;
        const qreal lx = (index % 3) * column;
        const qreal ly = 19 + (index / 3) * row;
        p.fillRect(QRectF(lx, ly + row / 2 - 5, 9, 9), color(part.first));
        p.setPen(c.text);
        const QString text = tr("%1 %2").arg(partWord(part.first), number(part.second, exact));
        p.drawText(QRectF(lx + 13, ly, column - 15, row), Qt::AlignLeft | Qt::AlignVCenter,
                   metrics.elidedText(text, Qt::ElideRight, column - 15));
        ++index;
    }
    QFont bold = font();
    bold.setBold(true);
    p.setFont(bold);
    QString total = tr("%1 of %2").arg(number(m_receipt->totalTokens, exact), number(window));
    if (window > 0)
        total = tr("%1 · %2").arg(total, percent(static_cast<double>(m_receipt->totalTokens) / window));
    const int lines = (index + 3) / 3;
    const qreal free = width() - (index % 3) * column;
    const QFontMetricsF boldMetrics(bold);
    if (boldMetrics.horizontalAdvance(total) > free)
        total = tr("%1 of %2").arg(number(m_receipt->totalTokens, exact), number(window));
    p.drawText(QRectF(0, 19 + (lines - 1) * row, width() - 1, row), Qt::AlignRight | Qt::AlignVCenter, total);
}

ReceiptView::ReceiptView(QWidget *parent)
    : QScrollArea(parent)
    , m_page(new QWidget)
    , m_title(new QLabel)
    , m_when(new QLabel)
    , m_outcome(new QLabel)
    , m_windowTitle(new QLabel)
    , m_bar(new WindowBar)
    , m_grid(new QGridLayout)
{
    setObjectName(QStringLiteral("receiptView"));
    setAccessibleName(tr("Receipt"));
    setWhatsThis(
        tr("The receipt of the selected compaction: what was decided, predicted and measured, and on what evidence."));
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_page->setBackgroundRole(QPalette::Base);
    m_page->setAutoFillBackground(true);
    viewport()->setBackgroundRole(QPalette::Base);
    QFont bold = font();
    bold.setBold(true);
    m_title->setFont(bold);
    m_outcome->setFont(bold);
    m_when->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto *head = new QHBoxLayout;
    head->addWidget(m_title);
    head->addWidget(m_when, 1);
    head->addWidget(m_outcome);
    auto *layout = new QVBoxLayout(m_page);
    layout->setContentsMargins(10, 8, 10, 8);
    layout->setSpacing(6);
    layout->addLayout(head);
    layout->addWidget(m_windowTitle);
    layout->addWidget(m_bar);
    m_grid->setContentsMargins(0, 2, 0, 0);
    m_grid->setHorizontalSpacing(10);
    m_grid->setVerticalSpacing(5);
    m_grid->setColumnStretch(1, 1);
    layout->addLayout(m_grid);
    layout->addStretch(1);
    setWidget(m_page);
}

void ReceiptView::addRow(const QString &name, const QString &text, const QColor &color)
{
    if (text.isEmpty())
        return;
    const SemanticColors c = SemanticColors::of(palette());
    if (m_used == m_rows.size()) {
        Row made{new QLabel, new QLabel};
        made.name->setAlignment(Qt::AlignRight | Qt::AlignTop);
        made.value->setTextFormat(Qt::PlainText);
        made.value->setWordWrap(true);
        made.value->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        made.value->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
        made.value->setAlignment(Qt::AlignLeft | Qt::AlignTop);
        made.name->setBuddy(made.value);
        m_grid->addWidget(made.name, static_cast<int>(m_used), 0);
        m_grid->addWidget(made.value, static_cast<int>(m_used), 1);
        m_rows.append(made);
    }
    const Row &row = m_rows.at(m_used++);
    QPalette dim = palette();
    dim.setColor(QPalette::WindowText, c.dimText);
    row.name->setPalette(dim);
    row.name->setText(name);
    QPalette own = palette();
    own.setColor(QPalette::WindowText, color.isValid() ? color : c.text);
    row.value->setPalette(own);
    row.value->setText(text);
    row.value->setAccessibleName(name);
    row.name->show();
    row.value->show();
    m_plain << (name.isEmpty() ? text : tr("%1: %2").arg(name, text));
}

void ReceiptView::setReceipt(const PlanValue *plan, const CutPicture &picture, const std::optional<ReceiptValue> &turn)
{
    const SemanticColors c = SemanticColors::of(palette());
    m_used = 0;
    m_plain.clear();
    const bool exact = !picture.estimated();
    const bool past = plan && picture.cut == CutPicture::Cut::Compaction;
    QPalette dim = m_when->palette();
    dim.setColor(QPalette::WindowText, c.dimText);
    m_when->setPalette(dim);
    m_windowTitle->setPalette(dim);
    QString outcome;
    QColor tone = c.text;
    if (past) {
        m_title->setText(tr("Compaction %1").arg(number(plan->number)));
        QStringList when;
        if (plan->appliedAt.isValid())
            when << QLocale().toString(plan->appliedAt.toLocalTime().time(), QStringLiteral("HH:mm:ss"));
        if (plan->taskId && *plan->taskId >= 0)
            when << tr("task %1").arg(*plan->taskId);
        m_when->setText(when.join(QStringLiteral(" · ")));
        outcome = tr("%1 %2", "sign, outcome").arg(outcomeSign(plan->outcome), outcomeWord(plan->outcome));
        tone = plan->outcome == QLatin1String("refuted")                                              ? c.refuted
            : plan->outcome == QLatin1String("confirmed") || plan->outcome == QLatin1String("better") ? c.reused
                                                                                                      : c.dimText;
    } else if (plan) {
        m_title->setText(tr("Plan"));
        m_when->setText(tr("not applied"));
        outcome = tr("predicted");
        tone = c.dimText;
    } else {
        m_title->setText(turn ? tr("Turn %1").arg(number(turn->turn)) : tr("No receipt yet"));
        m_when->setText(turn ? QString() : tr("The first request that is reported makes one."));
        if (turn && !turn->outcome.isEmpty() && turn->outcome != QLatin1String("none"))
            outcome = tr("%1 %2", "sign, outcome").arg(outcomeSign(turn->outcome), outcomeWord(turn->outcome));
    }
    if (picture.simulated && (plan || turn)) {
        outcome = outcome.isEmpty() ? tr("simulated") : tr("%1 · simulated").arg(outcome);
        tone = c.simulated;
    }
    m_outcome->setText(outcome);
    QPalette own = m_outcome->palette();
    own.setColor(QPalette::WindowText, tone);
    m_outcome->setPalette(own);
    m_windowTitle->setVisible(turn && plan);
    if (turn)
        m_windowTitle->setText(tr("Window at turn %1").arg(number(turn->turn)));
    m_bar->setReceipt(turn);
    m_plain.prepend(tr("%1 %2 %3").arg(m_title->text(), m_when->text(), outcome).simplified());

    if (plan && (plan->hasBoundary || plan->verdict != Verdict::None)) {
        const BoundaryPlan &b = plan->boundary;
        addRow(tr("Verdict"),
               tr("%1; cache_status %2").arg(verdictHeadline(*plan), cacheStatusName(plan->cacheStatus)));
        addRow(tr("Reason"), plan->cacheReason);
        if (plan->hasBoundary)
            addRow(tr("Cut"),
                   b.alignedCut >= 0
                       ? tr("requested %1, aligned %2; tolerance %3")
                             .arg(number(b.requestedCut, exact), number(b.alignedCut, exact), number(b.toleranceTokens))
                       : tr("requested %1, nothing to align to").arg(number(b.requestedCut, exact)));
        addRow(tr("Retained"),
               tr("%1 tokens in front of the first change").arg(number(plan->retainedPromptTokens, exact)));
        // What the simulator answered is no measurement, and wears the sign of an estimate.
        const bool real = !picture.simulated;
        const bool range = plan->cacheStatus == CacheStatus::PrefixPreserved;
        const QString predicted = range ? tr("%1 to %2").arg(number(b.predictedReuseLow), number(b.predictedReuseHigh))
                                        : number(b.predictedReuse, exact);
        if (plan->measuredReuse)
            addRow(tr("Reused"),
                   !real       ? tr("predicted %1 · simulated %2").arg(predicted, approx(*plan->measuredReuse))
                       : range ? tr("predicted %1 · measured %2").arg(predicted, number(*plan->measuredReuse))
                               : tr("predicted %1 · measured %2 · off by %3")
                                     .arg(predicted, number(*plan->measuredReuse),
                                          number(qAbs(*plan->measuredReuse - b.predictedReuse))),
                   plan->outcome == QLatin1String("refuted") ? c.refuted : QColor());
        else
            addRow(tr("Reused"), tr("predicted %1 · not measured yet").arg(predicted));
        addRow(tr("Prefilled"),
               plan->measuredPrefill ? (real ? tr("predicted %1 · measured %2") : tr("predicted %1 · simulated %2"))
                                           .arg(number(b.predictedPrefill, exact), number(*plan->measuredPrefill, real))
                                     : tr("predicted %1").arg(number(b.predictedPrefill, exact)));
        if (plan->measuredMs && !real)
            addRow(tr("Time"), tr("simulated ~%1").arg(shortMilliseconds(*plan->measuredMs)));
        else if (plan->measuredMs)
            addRow(tr("Time"),
                   b.predictedMs >= 0 ? tr("predicted %1 · measured %2")
                                            .arg(shortMilliseconds(b.predictedMs), milliseconds(*plan->measuredMs))
                                      : tr("measured %1, no prediction").arg(milliseconds(*plan->measuredMs)));
        else
            addRow(tr("Time"),
                   b.predictedMs >= 0 ? tr("predicted ~%1").arg(shortMilliseconds(b.predictedMs))
                                      : tr("not known: nothing was measured yet"));
        QMap<QString, std::pair<int, std::pair<int, int>>> rungs;
        for (const UpdateValue &update : plan->updates) {
            auto &rung = rungs[update.toTier];
            rung.first += 1;
            rung.second.first += update.tokensBefore;
            rung.second.second += update.tokensAfter;
        }
        QStringList evicted;
        for (auto it = rungs.begin(); it != rungs.end(); ++it) {
            const QString tier = tierFromName(it.key()) ? tierWord(*tierFromName(it.key())) : it.key();
            evicted << tr("%1 %2, %3 \u2192 %4 tokens")
                           .arg(tr("%n episode(s)", nullptr, it->first), tier, number(it->second.first, exact),
                                number(it->second.second, exact));
        }
        if (evicted.isEmpty() && plan->updateCount > 0)
            evicted << tr("%1, %2 tokens")
                           .arg(tr("%n episode(s)", nullptr, plan->updateCount), number(plan->plannedSavings, exact));
        addRow(tr("Evicted"), evicted.isEmpty() ? tr("nothing") : evicted.join(QStringLiteral("; ")));
        addRow(tr("Window"),
               tr("%1 \u2192 %2 tokens, target %3")
                   .arg(number(plan->promptTokens, exact), number(plan->tokensAfter, exact), number(plan->target)));
        if (plan->targetMissed > 0)
            addRow(QString(), tr("target missed by %1").arg(number(plan->targetMissed, exact)), c.warning);
        addRow(tr("Evidence"), b.evidence.isEmpty() ? tr("none") : b.evidence);
        if (!plan->source.isEmpty())
            addRow(tr("Measured by"), plan->source);
        if (!plan->cause.isEmpty())
            addRow(tr("Cause"), plan->cause, plan->outcome == QLatin1String("refuted") ? c.refuted : QColor());
        addRow(tr("Notes"), plan->notes.join(QLatin1Char('\n')));
    } else if (turn) {
        addRow(tr("Cache"),
               turn->cacheDetail.isEmpty() ? turn->cacheStatus
                                           : tr("%1: %2").arg(turn->cacheStatus, turn->cacheDetail));
        addRow(tr("Reused"), numberOr(turn->tokensReused, !turn->simulated));
        addRow(tr("Prefilled"), numberOr(turn->tokensPrefilled, !turn->simulated));
        addRow(tr("Time"),
               !turn->promptEvalMs   ? tr("not reported")
                   : turn->simulated ? tr("~%1").arg(shortMilliseconds(*turn->promptEvalMs))
                                     : milliseconds(*turn->promptEvalMs));
        addRow(tr("Tokenizer"), turn->tokenizer);
        addRow(tr("Backend"), turn->backend);
        if (turn->stats.amplification)
            addRow(tr("Amplification"), QLocale().toString(*turn->stats.amplification, 'f', 2));
    }
    for (qsizetype i = m_used; i < m_rows.size(); ++i) {
        m_rows.at(i).name->hide();
        m_rows.at(i).value->hide();
    }
}

QString ReceiptView::asText() const { return m_plain.join(QLatin1Char('\n')) + QLatin1Char('\n'); }

void ReceiptView::changeEvent(QEvent *event)
{
    QScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        m_bar->update();
}

} // namespace kerf
