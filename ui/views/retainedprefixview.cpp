// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/retainedprefixview.h"

#include "ui/theme/theme.h"
#include "ui/viewmodel/numbers.h"
#include "ui/viewmodel/privacy.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QStringDecoder>
#include <QToolTip>

namespace kerf {

namespace {
constexpr int kShownOfEachSide = 120; ///< tokens behind the difference that are written out
}

QString tokenText(const PromptToken &token)
{
    if (isTextHidden() && token.textKnown)
        return hiddenPiece(token.bytes);
    if (!token.textKnown)
        return QStringLiteral("\u2026");
    QStringDecoder decoder(QStringDecoder::Utf8, QStringDecoder::Flag::Stateless);
    QString text = decoder.decode(token.bytes);
    if (decoder.hasError()) {
        text.clear();
        for (const char byte : token.bytes)
            text += QStringLiteral("<0x%1>")
                        .arg(static_cast<uchar>(byte), 2, 16, QLatin1Char('0'))
                        .toUpper()
                        .replace(QLatin1String("<0X"), QLatin1String("<0x"));
        return text;
    }
    text.replace(QChar(0x2581), QLatin1Char(' ')); // SentencePiece's space
    text.replace(QLatin1Char('\n'), QChar(0x23CE));
    text.replace(QLatin1Char('\t'), QChar(0x21E5));
    text.replace(QLatin1Char('\r'), QChar(0x240D));
    return text;
}

bool isSpecialToken(const PromptToken &token)
{
    return token.bytes.size() > 2
        && ((token.bytes.startsWith('<') && token.bytes.endsWith('>'))
            || (token.bytes.startsWith('[') && token.bytes.endsWith(']') && token.bytes.toUpper() == token.bytes));
}

RetainedPrefixView::RetainedPrefixView(Selection *selection, QWidget *parent)
    : QAbstractScrollArea(parent)
    , m_selection(selection)
{
    installTableAccess();
    setObjectName(QStringLiteral("retainedPrefix"));
    setAccessibleName(tr("Retained prefix"));
    setWhatsThis(tr(
        "Token by token: what the slot holds against what would be sent. Equal tokens fold; the red line stands where "
        "the first one differs, and the part it is in is named. N goes to the difference, I shows token ids."));
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    m_why = tr("Nothing to compare yet.");
    connect(selection, &Selection::changed, viewport(), qOverload<>(&QWidget::update));
}

void RetainedPrefixView::setComparison(std::optional<PrefixComparison> comparison, const QString &why)
{
    if (comparison == m_comparison && (comparison || why == m_why))
        return;
    const bool moved = !comparison || !m_comparison || comparison->diff.lcp != m_comparison->diff.lcp;
    m_comparison = std::move(comparison);
    m_why = why;
    rebuild();
    if (moved && m_markerLine >= 0)
        verticalScrollBar()->setValue(std::max(0, qRound(m_lines.at(m_markerLine).y - viewport()->height() * 0.45)));
    viewport()->update();
    if (moved)
        announceTable(this);
}

void RetainedPrefixView::setShowsIds(bool ids)
{
    m_ids = ids;
    rebuild();
    viewport()->update();
}

qreal RetainedPrefixView::lineHeight() const { return QFontMetricsF(tokenFont()).height() + 6; }
qreal RetainedPrefixView::bandHeight() const { return QFontMetricsF(font()).height() + 12; }

QString RetainedPrefixView::headline() const
{
    if (!m_comparison)
        return m_why;
    const DiffValue &diff = m_comparison->diff;
    if (!diff.differs)
        return tr("No difference: %1 equal tokens").arg(number(diff.lcp));
    if (diff.lcp == 0 && diff.aTotal == 0)
        return tr("What is held is not known");
    if (diff.lcp == diff.aTotal)
        return tr("All %1 held tokens are equal").arg(number(diff.lcp));
    return tr("First difference at token %1").arg(number(diff.position));
}

QString RetainedPrefixView::footer() const
{
    if (!m_comparison)
        return {};
    const DiffValue &diff = m_comparison->diff;
    const bool exact = !m_comparison->simulated;
    if (diff.aTotal == 0)
        return tr("%1 in the next prompt").arg(number(diff.bTotal, exact));
    const int fresh = std::max(0, diff.bTotal - diff.lcp);
    if (!m_comparison->reused || *m_comparison->reused > diff.lcp)
        return tr("%1 equal · %2 new or moved").arg(number(diff.lcp, exact), number(fresh, exact));
    const int again = diff.lcp - *m_comparison->reused;
    const QString from = number(*m_comparison->reused, exact && m_comparison->measured);
    return tr("%1 from cache · %2 equal, computed again · %3 new or moved")
        .arg(from, number(again, exact), number(fresh, exact));
}

const PromptPartValue *RetainedPrefixView::partAt(const PromptValue &prompt, int position) const
{
    const auto it = std::upper_bound(prompt.parts.begin(), prompt.parts.end(), position,
                                     [](int p, const PromptPartValue &part) { return p < part.range.end; });
    return it != prompt.parts.end() && it->range.contains(position) ? &*it : nullptr;
}

QString RetainedPrefixView::partTitle(const PromptPartValue &part, QString *detail) const
{
    *detail = tr("%1 – %2").arg(number(part.range.begin), number(part.range.end));
    if (part.part == QLatin1String("episode") && part.seq)
        return tr("Episode %1 · %2").arg(number(*part.seq), part.role);
    if (part.part == QLatin1String("generation"))
        return tr("Generation prompt");
    if (part.part == QLatin1String("tools"))
        return tr("Tool list");
    if (part.part == QLatin1String("pin"))
        return tr("Pin");
    if (part.part == QLatin1String("marker"))
        return tr("Marker of evicted episodes");
    if (part.part == QLatin1String("system"))
        return tr("System");
    return part.part;
}

void RetainedPrefixView::rebuild()
{
    m_lines.clear();
    m_table.clear();
    m_markerLine = -1;
    if (!m_comparison) {
        verticalScrollBar()->setRange(0, 0);
        return;
    }
    const PrefixComparison &c = *m_comparison;
    const QFontMetricsF mono(tokenFont());
    const QFontMetricsF sans(font());
    const qreal cell = mono.horizontalAdvance(QLatin1Char('x'));
    QFont bold = font();
    bold.setBold(true);
    const QFontMetricsF boldMetrics(bold);
    const qreal left =
        8 + mono.horizontalAdvance(QStringLiteral("000,000 ")) + boldMetrics.horizontalAdvance(tr("both")) + 14;
    const qreal right = viewport()->width() - 8;
    qreal y = 4;
    const auto add = [&](Line line, qreal height) {
        line.y = y;
        m_lines.append(std::move(line));
        y += height;
    };
    // Which part a token is in is known of the prompt that was laid out; up to the difference both are equal.
    const auto partOf = [&](const PromptValue &prompt, int position) {
        const PromptPartValue *part = partAt(prompt, position);
        return part || position >= c.diff.lcp ? part : partAt(c.b, position);
    };
    const auto header = [&](const PromptValue &prompt, int position) {
        const PromptPartValue *part = partOf(prompt, position);
        if (!part)
            return;
        Line line{Line::Header};
        line.text = partTitle(*part, &line.detail);
        line.position = part->range.begin;
        add(line, lineHeight() + 2);
    };
    const auto put = [&](const PromptValue &prompt, Side side, int from, int to) {
        Line line{Line::Tokens, 0, {}, {}, side, from, {}};
        qreal x = left;
        const PromptPartValue *part = partOf(prompt, from);
        for (qsizetype i = 0; i < prompt.tokens.size(); ++i) {
            const PromptToken &token = prompt.tokens.at(i);
            if (token.position < from || token.position >= to)
                continue;
            if (side == Side::Both && (!part || !part->range.contains(token.position))) {
                if (!line.chips.isEmpty())
                    add(line, lineHeight());
                line.chips.clear();
                x = left;
                header(prompt, token.position);
                part = partOf(prompt, token.position);
                line.position = token.position;
            }
            QString text = m_ids && token.id ? QString::number(*token.id) : tokenText(token);
            const qreal width = std::max<qreal>(cell, mono.horizontalAdvance(text)) + 3;
            if (x + width > right && !line.chips.isEmpty()) {
                add(line, lineHeight());
                line.chips.clear();
                line.position = token.position;
                x = left;
            }
            line.chips.append(Chip{QRectF(x, 2, width - 1, lineHeight() - 4), static_cast<int>(i), text});
            m_table.append(TableRow{side, static_cast<int>(i)});
            x += width + (m_ids ? 3 : 0);
        }
        if (!line.chips.isEmpty())
            add(line, lineHeight());
    };

    const int lcp = c.diff.lcp;
    const int from = c.a.tokens.isEmpty() ? lcp : std::min(lcp, c.a.tokens.first().position);
    if (from > 0) {
        Line line{Line::Folded};
        line.text = tr("%1 equal tokens before", nullptr, from).arg(number(from));
        add(line, lineHeight());
    }
    if (from < lcp) {
        header(c.a, from);
        put(c.a, Side::Both, from, lcp);
    }
    m_markerLine = static_cast<int>(m_lines.size());
    Line marker{Line::Marker};
    if (c.diff.aTotal == 0)
        marker.text = tr("no held tokens to compare with");
    else
        marker.text = c.diff.lcp < c.diff.aTotal ? tr("%1 equal tokens end here").arg(number(lcp))
                                                 : tr("%1 tokens, all equal").arg(number(lcp));
    marker.position = lcp;
    add(marker, lineHeight() + 6);
    const auto side = [&](const PromptValue &prompt, Side which, int total) {
        const int end = std::min(total, lcp + kShownOfEachSide);
        if (end > lcp)
            put(prompt, which, lcp, end);
        return std::max(
            0, total - std::max(lcp, prompt.tokens.isEmpty() ? lcp : std::min(end, prompt.tokens.last().position + 1)));
    };
    if (lcp < c.diff.aTotal || lcp < c.diff.bTotal) {
        // The part that differs, as it stands in the prompt that goes on.
        const PromptPartValue *part = partAt(c.b, lcp);
        if (part && part->range.begin >= lcp)
            header(c.b, lcp);
        const int moreA = side(c.a, Side::A, c.diff.aTotal);
        const int moreB = side(c.b, Side::B, c.diff.bTotal);
        if (moreA > 0 || moreB > 0) {
            Line line{Line::Note};
            line.text = tr("%1 more %2 · %3 more %4").arg(number(moreA), c.aName, number(moreB), c.bName);
            add(line, lineHeight());
        }
    }
    for (const EqualRun &run : c.diff.equalAfter) {
        Line line{Line::Header};
        if (const PromptPartValue *part = partAt(c.b, run.bBegin)) {
            QString unused;
            line.text = partTitle(*part, &unused);
        } else {
            line.text = tr("Equal again");
        }
        line.detail = tr("%1 tokens were at %2, now at %3: same text")
                          .arg(number(run.length), number(run.aBegin), number(run.bBegin));
        line.position = run.bBegin;
        add(line, lineHeight() + 2);
    }
    const qreal room = viewport()->height() - 2 * bandHeight();
    verticalScrollBar()->setRange(0, std::max(0, qCeil(y + 4 - room)));
    verticalScrollBar()->setPageStep(std::max(1, qRound(room)));
    verticalScrollBar()->setSingleStep(qRound(lineHeight()));
}

void RetainedPrefixView::paintEvent(QPaintEvent *)
{
    const SemanticColors c = SemanticColors::of(palette());
    QPainter p(viewport());
    p.setRenderHint(QPainter::Antialiasing);
    const QRectF all = viewport()->rect();
    p.fillRect(all, c.base);
    QFont bold = font();
    bold.setBold(true);
    const QFontMetricsF boldMetrics(bold);
    const QFontMetricsF sans(font());
    const qreal band = bandHeight();
    if (!m_comparison) {
        p.setPen(c.dimText);
        p.drawText(all.adjusted(16, 8, -16, -8), Qt::AlignCenter | Qt::TextWordWrap, m_why);
    } else {
        const PrefixComparison &cmp = *m_comparison;
        p.save();
        p.setClipRect(QRectF(0, band, all.width(), all.height() - 2 * band));
        const qreal shift = band - verticalScrollBar()->value();
        const qreal lh = lineHeight();
        const QFontMetricsF mono(tokenFont());
        const qreal numberWidth = mono.horizontalAdvance(QStringLiteral("000,000"));
        for (const Line &line : std::as_const(m_lines)) {
            const qreal y = line.y + shift;
            if (y + lh + 8 < band || y > all.height() - band)
                continue;
            switch (line.kind) {
            case Line::Header: {
                const QRectF rect(0, y, all.width(), lh);
                p.fillRect(rect, mixed(c.text, c.base, 0.05));
                p.setPen(QPen(mixed(c.axis, c.base, 0.5), 0));
                p.drawLine(rect.topLeft(), rect.topRight());
                p.drawLine(rect.bottomLeft(), rect.bottomRight());
                p.setFont(bold);
                p.setPen(c.text);
                const qreal width = boldMetrics.horizontalAdvance(line.text);
                p.drawText(rect.adjusted(8, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, line.text);
                p.setFont(font());
                p.setPen(c.dimText);
                const QRectF room = rect.adjusted(8 + width + 10, 0, -6, 0);
                p.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                           sans.elidedText(line.detail, Qt::ElideRight, room.width()));
                break;
            }
            case Line::Folded:
            case Line::Note:
                p.setFont(font());
                p.setPen(c.dimText);
                p.drawText(QRectF(numberWidth + 16, y, all.width() - numberWidth - 20, lh),
                           Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("\u25B8 %1").arg(line.text));
                break;
            case Line::Marker: {
                const qreal middle = y + (lh + 6) / 2;
                const QColor color = cmp.diff.lcp < cmp.diff.aTotal ? c.refuted : c.reused;
                p.setFont(bold);
                const qreal width = boldMetrics.horizontalAdvance(line.text) + 14;
                const QRectF plate(all.width() - width - 10, middle - boldMetrics.height() / 2 - 1, width,
                                   boldMetrics.height() + 2);
                p.setPen(QPen(color, 1.6));
                p.drawLine(QPointF(0, middle), QPointF(all.width(), middle));
                p.setPen(Qt::NoPen);
                p.setBrush(color);
                p.drawRoundedRect(plate, 3, 3);
                p.setPen(c.onFill);
                p.drawText(plate, Qt::AlignCenter, line.text);
                break;
            }
            case Line::Tokens: {
                p.setFont(tokenFont());
                p.setPen(c.dimText);
                p.drawText(QRectF(0, y, numberWidth + 4, lh), Qt::AlignRight | Qt::AlignVCenter, number(line.position));
                p.setFont(line.side == Side::Both ? font() : bold);
                p.setPen(line.side == Side::Both ? c.dimText : line.side == Side::A ? c.refuted : c.prefilled);
                const QString word = line.side == Side::Both ? tr("both")
                    : line.side == Side::A                   ? cmp.aName
                                                             : cmp.bName;
                p.drawText(QRectF(numberWidth + 14, y, 60, lh), Qt::AlignLeft | Qt::AlignVCenter, word);
                p.setFont(tokenFont());
                const PromptValue &prompt = line.side == Side::B ? cmp.b : cmp.a;
                for (const Chip &chip : line.chips) {
                    const QRectF rect = chip.rect.translated(0, y);
                    const PromptToken &token = prompt.tokens.at(chip.token);
                    QColor ground = mixed(c.reused, c.base, 0.13);
                    if (line.side == Side::A)
                        ground = mixed(c.refuted, c.base, 0.13);
                    else if (line.side == Side::B)
                        ground = mixed(c.warning, c.base, 0.16);
                    else if (cmp.reused && token.position >= *cmp.reused)
                        ground = mixed(c.reused, c.base, 0.05); // equal, but computed again
                    p.fillRect(rect, ground);
                    if (isSpecialToken(token)) {
                        p.setPen(QPen(c.axis, 1));
                        p.setBrush(Qt::NoBrush);
                        p.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
                    }
                    if (m_selection->token() == token.position) {
                        p.setPen(QPen(palette().color(QPalette::Highlight), 2));
                        p.setBrush(Qt::NoBrush);
                        p.drawRect(rect);
                    }
                    p.setPen(c.text);
                    p.drawText(rect.adjusted(1, 0, 1, 0), Qt::AlignLeft | Qt::AlignVCenter, chip.text);
                }
                break;
            }
            }
        }
        p.restore();
        // Bands above and below.
        const QRectF top(0, 0, all.width(), band);
        p.fillRect(top, c.base);
        p.setPen(QPen(mixed(c.axis, c.base, 0.7), 1));
        p.drawLine(QPointF(0, band - 0.5), QPointF(all.width(), band - 0.5));
        qreal x = 10;
        if (cmp.diff.lcp < cmp.diff.aTotal) {
            const QPointF m(x + 7, band / 2);
            p.setPen(QPen(c.refuted, 1.5));
            p.setBrush(Qt::NoBrush);
            p.drawPolygon(QPolygonF({m + QPointF(0, -6), m + QPointF(7, 6), m + QPointF(-7, 6)}));
            p.drawLine(m + QPointF(0, -2), m + QPointF(0, 2));
            p.drawPoint(m + QPointF(0, 4));
            x += 22;
        }
        p.setFont(bold);
        p.setPen(c.text);
        p.drawText(QRectF(x, 0, all.width() - x, band), Qt::AlignLeft | Qt::AlignVCenter, headline());
        x += boldMetrics.horizontalAdvance(headline()) + 8;
        QStringList rest;
        if (cmp.diff.seq)
            rest << tr("episode %1").arg(number(*cmp.diff.seq));
        else if (!cmp.diff.part.isEmpty())
            rest << cmp.diff.part;
        if (!cmp.diff.reason.isEmpty())
            rest << cmp.diff.reason;
        if (!rest.isEmpty()) {
            p.setFont(font());
            p.setPen(c.dimText);
            p.drawText(
                QRectF(x, 0, all.width() - x - 6, band), Qt::AlignLeft | Qt::AlignVCenter,
                sans.elidedText(tr("· %1").arg(rest.join(QStringLiteral(" · "))), Qt::ElideRight, all.width() - x - 8));
        }
        const QRectF bottom(0, all.height() - band, all.width(), band);
        p.fillRect(bottom, mixed(c.text, c.base, 0.04));
        p.setPen(QPen(mixed(c.axis, c.base, 0.7), 1));
        p.drawLine(bottom.topLeft(), bottom.topRight());
        p.setFont(bold);
        p.setPen(c.text);
        const QRectF room = bottom.adjusted(10, 0, -8, 0);
        p.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                   boldMetrics.elidedText(footer(), Qt::ElideRight, room.width()));
    }
    if (hasFocus()) {
        p.setRenderHint(QPainter::Antialiasing, false);
        p.setPen(QPen(c.focus, 2));
        p.setBrush(Qt::NoBrush);
        p.drawRect(viewport()->rect().adjusted(1, 1, -1, -1));
    }
}

void RetainedPrefixView::resizeEvent(QResizeEvent *) { rebuild(); }

void RetainedPrefixView::scrollContentsBy(int, int) { viewport()->update(); }

const PromptToken *RetainedPrefixView::tokenAt(QPointF point) const
{
    if (!m_comparison || point.y() < bandHeight() || point.y() > viewport()->height() - bandHeight())
        return nullptr;
    const qreal y = point.y() - bandHeight() + verticalScrollBar()->value();
    const auto it =
        std::upper_bound(m_lines.begin(), m_lines.end(), y, [](qreal at, const Line &line) { return at < line.y; });
    if (it == m_lines.begin())
        return nullptr;
    const Line &line = *(it - 1);
    for (const Chip &chip : line.chips) {
        if (chip.rect.translated(0, line.y).contains(QPointF(point.x(), y)))
            return &(line.side == Side::B ? m_comparison->b : m_comparison->a).tokens.at(chip.token);
    }
    return nullptr;
}

void RetainedPrefixView::mousePressEvent(QMouseEvent *event)
{
    if (const PromptToken *token = tokenAt(event->position()))
        m_selection->selectToken(token->position);
}

void RetainedPrefixView::keyPressEvent(QKeyEvent *event)
{
    if (event->matches(QKeySequence::Copy)) {
        QApplication::clipboard()->setText(selectedText());
        return;
    }
    switch (event->key()) {
    case Qt::Key_I:
        setShowsIds(!m_ids);
        return;
    case Qt::Key_N:
        if (m_markerLine >= 0)
            verticalScrollBar()->setValue(std::max(0, qRound(m_lines.at(m_markerLine).y - viewport()->height() * 0.4)));
        return;
    case Qt::Key_Home:
        verticalScrollBar()->setValue(0);
        return;
    case Qt::Key_End:
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
        return;
    default:
        break;
    }
    QAbstractScrollArea::keyPressEvent(event);
}

void RetainedPrefixView::contextMenuEvent(QContextMenuEvent *event)
{
    QMenu menu(this);
    QAction *ids = menu.addAction(tr("Show token ids (I)"), this, [this] { setShowsIds(!m_ids); });
    ids->setCheckable(true);
    ids->setChecked(m_ids);
    menu.addAction(tr("Copy text"), this, [this] { QApplication::clipboard()->setText(selectedText()); });
    menu.addAction(tr("Copy as text"), this, [this] { QApplication::clipboard()->setText(tableAsText(*this)); });
    menu.exec(event->globalPos());
}

bool RetainedPrefixView::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *help = static_cast<QHelpEvent *>(event);
        const PromptToken *token = tokenAt(help->pos());
        if (token)
            QToolTip::showText(help->globalPos(),
                               tr("Token %1, id %2: %3")
                                   .arg(number(token->position),
                                        token->id ? QString::number(*token->id) : tr("not reported"),
                                        tokenText(*token)),
                               viewport());
        else
            QToolTip::hideText();
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void RetainedPrefixView::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        rebuild();
        viewport()->update();
    }
    QAbstractScrollArea::changeEvent(event);
}

QString RetainedPrefixView::selectedText() const
{
    QByteArray text;
    if (m_comparison) {
        for (const PromptToken &token : m_comparison->a.tokens) {
            if (token.position < m_comparison->diff.lcp)
                text += token.bytes;
        }
    }
    return QString::fromUtf8(text);
}

QString RetainedPrefixView::tableDescription() const
{
    if (!m_comparison)
        return tr("Retained prefix: %1").arg(m_why);
    return tr("Retained prefix, %1 against %2: %3. %4")
        .arg(m_comparison->aName, m_comparison->bName, headline(), footer());
}

QString RetainedPrefixView::tableHeader(int column) const
{
    switch (column) {
    case 0:
        return tr("Position");
    case 1:
        return tr("In");
    case 2:
        return tr("Id");
    case 3:
        return tr("Text");
    default:
        return {};
    }
}

QString RetainedPrefixView::tableCell(int row, int column) const
{
    if (!m_comparison || row < 0 || row >= m_table.size())
        return {};
    const TableRow &entry = m_table.at(row);
    const PromptToken &token = (entry.side == Side::B ? m_comparison->b : m_comparison->a).tokens.at(entry.token);
    switch (column) {
    case 0:
        return number(token.position);
    case 1:
        return entry.side == Side::Both ? tr("both")
            : entry.side == Side::A     ? m_comparison->aName
                                        : m_comparison->bName;
    case 2:
        return token.id ? QString::number(*token.id) : tr("not reported");
    case 3:
        return tokenText(token);
    default:
        return {};
    }
}

void RetainedPrefixView::tableSelectRow(int row)
{
    if (m_comparison && row >= 0 && row < m_table.size()) {
        const TableRow &entry = m_table.at(row);
        m_selection->selectToken(
            (entry.side == Side::B ? m_comparison->b : m_comparison->a).tokens.at(entry.token).position);
    }
}

} // namespace kerf
