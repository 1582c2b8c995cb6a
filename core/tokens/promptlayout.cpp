// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/tokens/promptlayout.h"

#include <QHash>

#include <algorithm>

namespace kerf {

namespace {

constexpr qsizetype kMostSearches = 4096; ///< for ends of contents that a template changed
constexpr qsizetype kMostHeaders = 32;

/// Where a content stands in a text, from `from` on: as it was sent, else trimmed (templates trim). {-1, 0} = nowhere.
std::pair<qsizetype, qsizetype> locate(const QByteArray &text, const QByteArray &content, qsizetype from)
{
    if (const qsizetype at = text.indexOf(content, from); at >= 0)
        return {at, content.size()};
    const QByteArray trimmed = content.trimmed();
    if (trimmed.isEmpty())
        return {-1, 0};
    return {text.indexOf(trimmed, from), trimmed.size()};
}

/// What a content that stands here would be: as it was sent, else trimmed. -1 = it does not stand here.
qsizetype contentAt(const QByteArray &text, qsizetype at, const QByteArray &content)
{
    const auto stands = [&](const QByteArray &part) {
        return at >= 0 && at + part.size() <= text.size()
            && QByteArrayView(text).sliced(at, part.size()) == QByteArrayView(part);
    };
    if (stands(content))
        return content.size();
    const QByteArray trimmed = content.trimmed();
    return stands(trimmed) ? trimmed.size() : -1;
}

bool standsAt(const QByteArray &text, qsizetype at, const QByteArray &part)
{
    return at >= 0 && at + part.size() <= text.size()
        && QByteArrayView(text).sliced(at, part.size()) == QByteArrayView(part);
}

/// Tags such as `<|im_start|>`, `<start_of_turn>`, `[INST]` in a text, in order.
QList<QByteArray> tagsIn(QByteArrayView text)
{
    QList<QByteArray> tags;
    for (qsizetype i = 0; i < text.size(); ++i) {
        const char open = text[i];
        if (open != '<' && open != '[')
            continue;
        const char close = open == '<' ? '>' : ']';
        const qsizetype most = std::min<qsizetype>(text.size(), i + 48);
        for (qsizetype k = i + 1; k < most; ++k) {
            if (text[k] == open || text[k] == '\n')
                break;
            if (text[k] == close) {
                tags.append(text.sliced(i, k - i + 1).toByteArray());
                i = k;
                break;
            }
        }
    }
    return tags;
}

/// The tag that opens a message: of those in front of the first content, the one that comes back in most of the gaps
/// between contents. A tag with which most gaps begin closes messages; it opens them only where there is no other.
QByteArray openingTag(const QByteArray &head, const QList<QByteArray> &gaps)
{
    QByteArray best;
    qsizetype most = 0;
    bool bestCloses = true;
    const QList<QByteArray> front = tagsIn(QByteArrayView(head).last(std::min<qsizetype>(head.size(), 512)));
    for (const QByteArray &tag : front) {
        qsizetype hits = 0;
        qsizetype starts = 0;
        for (const QByteArray &gap : gaps) {
            hits += gap.contains(tag) ? 1 : 0;
            starts += gap.trimmed().startsWith(tag) ? 1 : 0;
        }
        const bool closes = starts * 2 > hits;
        if (hits == 0 || (closes && !bestCloses))
            continue;
        if ((bestCloses && !closes) || hits > most) { // of equals the first in the text: it opens
            best = tag;
            most = hits;
            bestCloses = closes;
        }
    }
    // A conversation of one message: nothing is cut there.
    return best.isEmpty() && !front.isEmpty() ? front.constLast() : best;
}

bool looksClosing(const QByteArray &tag) { return tag.startsWith("[/") || tag.startsWith("</"); }

/// The begin of what `gap` ends with and some known header ends with too; -1 = nothing that holds a tag.
qsizetype headerIn(const QByteArray &gap, const QList<QByteArray> &headers)
{
    qsizetype best = -1;
    for (const QByteArray &header : headers) {
        qsizetype same = 0;
        while (same < gap.size() && same < header.size()
               && gap.at(gap.size() - 1 - same) == header.at(header.size() - 1 - same))
            ++same;
        const QByteArray common = gap.last(same);
        const QList<QByteArray> tags = tagsIn(common);
        if (tags.isEmpty())
            continue;
        // From the first whole tag on, with the blanks in front of it that are common too.
        qsizetype from = common.indexOf(tags.constFirst());
        while (from > 0 && (common.at(from - 1) == '\n' || common.at(from - 1) == ' '))
            --from;
        const qsizetype begin = gap.size() - same + from;
        if (best < 0 || begin < best)
            best = begin;
    }
    return best;
}

/// What all of them begin with, up to the end of a whole tag; empty = nothing that holds a tag.
QByteArray closingOf(const QList<QByteArray> &gaps)
{
    if (gaps.size() < 2)
        return {};
    QByteArray common = gaps.constFirst();
    for (const QByteArray &gap : gaps) {
        qsizetype same = 0;
        while (same < common.size() && same < gap.size() && common.at(same) == gap.at(same))
            ++same;
        common.truncate(same);
    }
    const QList<QByteArray> tags = tagsIn(common);
    if (tags.isEmpty())
        return {};
    if (gaps.contains(common)) {
        // A whole gap: its last tag opens the later message.
        if (tags.size() < 2)
            return {};
        common.truncate(common.lastIndexOf(tags.constLast()));
        return common;
    }
    qsizetype end = common.lastIndexOf(tags.constLast()) + tags.constLast().size();
    while (end < common.size() && common.at(end) == '\n')
        ++end;
    common.truncate(end);
    return common;
}

} // namespace

QList<MessageBytes> findMessages(const QByteArray &prompt, const QList<QByteArray> &contents, const QByteArray &probe,
                                 const QList<QByteArray> &markers)
{
    const qsizetype count = contents.size();
    QList<MessageBytes> messages(count);
    if (count == 0)
        return messages;

    // The text between contents, learnt from the rendering with markers: exact wherever the template only wraps them.
    QList<QByteArray> between; // one in front of every content that is not empty
    QList<qsizetype> full; // indices of contents that are not empty
    for (qsizetype i = 0; i < count; ++i) {
        if (!contents.at(i).trimmed().isEmpty())
            full.append(i);
    }
    if (!probe.isEmpty() && markers.size() == count) {
        qsizetype at = 0;
        for (const qsizetype i : std::as_const(full)) {
            const qsizetype next = probe.indexOf(markers.at(i), at);
            if (next < 0) {
                between.clear();
                break;
            }
            between.append(probe.mid(at, next - at));
            at = next + markers.at(i).size();
        }
    }

    const bool known = between.size() == full.size();
    const QByteArray ending = known ? probe.mid(probe.lastIndexOf(markers.at(full.isEmpty() ? 0 : full.constLast()))
                                                + (full.isEmpty() ? 0 : markers.at(full.constLast()).size()))
                                    : QByteArray();
    qsizetype at = 0;
    bool sure = known; // the prompt so far is what the probe says, content by content
    qsizetype searches = 0;
    for (qsizetype k = 0; k < full.size(); ++k) {
        const qsizetype i = full.at(k);
        const QByteArray &content = contents.at(i);
        MessageBytes &message = messages[i];
        qsizetype begin = -1;
        qsizetype size = -1;
        if (sure && standsAt(prompt, at, between.at(k))) {
            const qsizetype from = at + between.at(k).size();
            size = contentAt(prompt, from, content);
            if (size >= 0) {
                begin = from;
            } else {
                // The template changed the content (reasoning stripped, JSON re-rendered): it ends where the next one's
                // header and content stand.
                const bool last = k + 1 == full.size();
                const QByteArray &next = last ? ending : between.at(k + 1);
                if (last && prompt.size() - next.size() >= from && prompt.endsWith(next)) {
                    begin = from;
                    size = prompt.size() - next.size() - from;
                }
                // The first place is meant, unless the content quotes such a header itself.
                const bool quotes = content.contains(next) || tagsIn(next).isEmpty();
                for (qsizetype p = last || next.isEmpty() ? -1 : prompt.indexOf(next, from);
                     p >= 0 && searches < kMostSearches; p = prompt.indexOf(next, p + 1)) {
                    ++searches;
                    if (!quotes || contentAt(prompt, p + next.size(), contents.at(full.at(k + 1))) >= 0) {
                        begin = from;
                        size = p - from;
                        break;
                    }
                }
            }
        }
        if (begin < 0) {
            // Not where the probe says. Short words stand everywhere: with a probe they count only behind their header.
            const QByteArray header =
                known ? between.at(k).last(std::min<qsizetype>(between.at(k).size(), 24)) : QByteArray();
            std::tie(begin, size) = locate(prompt, header + content.trimmed(), at);
            if (begin >= 0) {
                begin += header.size();
                size -= header.size();
            } else if (!known || content.trimmed().size() >= 24) {
                std::tie(begin, size) = locate(prompt, content, at);
            }
        }
        if (begin < 0) {
            message.found = false;
            sure = false;
            continue;
        }
        sure = known;
        message.contentBegin = begin;
        message.contentEnd = begin + size;
        at = message.contentEnd;
    }

    // Split what stands between two contents: the end marker to the earlier message, from the opening tag on to the
    // later.
    QList<qsizetype> placed;
    for (const qsizetype i : std::as_const(full)) {
        if (messages.at(i).found)
            placed.append(i);
    }
    if (placed.isEmpty()) {
        for (qsizetype i = 0; i < count; ++i)
            messages[i] = {0, 0, prompt.size(), prompt.size(), false};
        return messages;
    }
    QList<QByteArray> gaps;
    for (qsizetype k = 1; k < placed.size(); ++k)
        gaps.append(prompt.mid(messages.at(placed.at(k - 1)).contentEnd,
                               messages.at(placed.at(k)).contentBegin - messages.at(placed.at(k - 1)).contentEnd));
    gaps.append(prompt.mid(messages.at(placed.constLast()).contentEnd));
    const QByteArray head = prompt.left(messages.at(placed.constFirst()).contentBegin);
    const QByteArray tag = openingTag(head, gaps);

    const auto lastTags = [&](qsizetype from, qsizetype to) {
        QList<qsizetype> positions;
        if (tag.isEmpty())
            return positions;
        for (qsizetype p = prompt.indexOf(tag, from); p >= 0 && p + tag.size() <= to;
             p = prompt.indexOf(tag, p + tag.size()))
            positions.append(p);
        return positions;
    };
    // Headers as they stand in gaps with the opening tag; how all begin, where some have none.
    QList<QByteArray> headers;
    bool untagged = false;
    for (const QByteArray &gap : std::as_const(gaps)) {
        const qsizetype last = tag.isEmpty() ? -1 : gap.lastIndexOf(tag);
        if (last < 0)
            untagged = true;
        else if (headers.size() < kMostHeaders && !headers.contains(gap.mid(last)))
            headers.append(gap.mid(last));
    }
    const QByteArray closing = untagged ? closingOf(gaps) : QByteArray();
    // Messages without a content of their own (calls alone) stand between two that have one: at the tags in between.
    qsizetype previousEnd = 0; // end of the content before
    qsizetype next = 0; // next message to be given a begin
    const auto assign = [&](qsizetype upTo, qsizetype gapBegin, qsizetype gapEnd) {
        // Messages next..upTo begin inside [gapBegin, gapEnd]; the last of them owns the content behind the gap.
        const QList<qsizetype> tags = lastTags(gapBegin, gapEnd);
        const qsizetype first = next;
        for (qsizetype i = next; i <= upTo; ++i) {
            const qsizetype place = tags.size() - (upTo - i) - 1; // counted from the end
            MessageBytes &message = messages[i];
            if (place >= 0) {
                message.begin = tags.at(place);
                // More tags than messages: words of a call's arguments may be among them. The last one is certain, it
                // stands right in front of the content.
                if (i < upTo && tags.size() > upTo - first + 1 && first > 0)
                    message.found = false;
            } else if (i == upTo) {
                const QByteArray gap = prompt.mid(gapBegin, gapEnd - gapBegin);
                const QList<QByteArray> others = tagsIn(gap);
                qsizetype begin = gapEnd;
                if (const qsizetype header = headerIn(gap, headers); header >= 0) {
                    begin = gapBegin + header;
                } else if (!closing.isEmpty() && gap.size() > closing.size()) {
                    begin = gapBegin + closing.size();
                } else if (others.size() == 1 && !looksClosing(others.constFirst())) {
                    begin = prompt.indexOf(others.constFirst(), gapBegin);
                } else {
                    while (begin > gapBegin && (prompt.at(begin - 1) == ' ' || prompt.at(begin - 1) == '\n'))
                        --begin;
                }
                message.begin = first == 0 && i == 0 ? gapBegin : begin;
            } else {
                message.begin = gapBegin;
                message.found = false;
            }
            if (i < upTo) {
                message.contentBegin = message.begin;
                message.contentEnd = message.begin;
            }
        }
        next = upTo + 1;
    };
    for (const qsizetype i : std::as_const(placed)) {
        // Unfound ones in between share the space: they get a place, but no cut is legal there.
        assign(i, previousEnd, messages.at(i).contentBegin);
        previousEnd = messages.at(i).contentEnd;
    }
    qsizetype tailBegin = prompt.size();
    const QList<qsizetype> tailTags = lastTags(previousEnd, prompt.size());
    const qsizetype left = count - next; // messages without content behind the last one that has some
    if (left > 0) {
        const bool generation = tailTags.size() > left;
        for (qsizetype i = next; i < count; ++i) {
            const qsizetype place = tailTags.size() - (count - i) - (generation ? 1 : 0);
            messages[i].begin = place >= 0 ? tailTags.at(place) : previousEnd;
            messages[i].found = messages.at(i).found && place >= 0;
            messages[i].contentBegin = messages.at(i).begin;
            messages[i].contentEnd = messages.at(i).begin;
        }
        if (generation)
            tailBegin = tailTags.constLast();
    } else if (!tailTags.isEmpty()) {
        tailBegin = tailTags.constLast();
    } else if (!closing.isEmpty() && standsAt(prompt, previousEnd, closing)
               && previousEnd + closing.size() < prompt.size()) {
        tailBegin = previousEnd + closing.size();
    }
    // The first message owns what stands in front of it (BOS), unless a block of the template's own does (tools).
    if (lastTags(0, messages.constFirst().contentBegin).size() < 2)
        messages[0].begin = 0;
    for (qsizetype i = 0; i < count; ++i) {
        if (i > 0)
            messages[i].begin = std::max(messages.at(i).begin, messages.at(i - 1).begin);
        messages[i].end = tailBegin;
        if (i > 0)
            messages[i - 1].end = messages.at(i).begin;
    }
    return messages;
}

QList<qsizetype> alignPieces(const QByteArray &prompt, const QList<TokenPiece> &pieces)
{
    QList<qsizetype> offsets;
    offsets.reserve(pieces.size() + 1);
    qsizetype at = 0;
    const QByteArrayView text(prompt);
    const auto fits = [&](QByteArrayView bytes) {
        return at + bytes.size() <= text.size() && text.sliced(at, bytes.size()) == bytes;
    };
    for (qsizetype i = 0; i < pieces.size(); ++i) {
        offsets.append(at);
        const QByteArrayView bytes(pieces.at(i).bytes);
        if (bytes.isEmpty())
            continue;
        if (fits(bytes)) {
            at += bytes.size();
        } else if (bytes.front() == ' ' && fits(bytes.sliced(1))) {
            at += bytes.size() - 1; // a space that the tokenizer put in front
        } else if (i > 0) {
            // Normalised text (a dropped blank, a replaced character): find the piece again close by; else it has no
            // text.
            for (qsizetype skip = 1; skip <= 8 && at + skip + bytes.size() <= text.size(); ++skip) {
                if (text.sliced(at + skip, bytes.size()) == bytes) {
                    offsets.last() = at + skip;
                    at += skip + bytes.size();
                    break;
                }
            }
        } // else: BOS, which is not in the text
    }
    offsets.append(prompt.size());
    return offsets;
}

PromptLayout layoutPrompt(const QByteArray &prompt, const QList<TokenPiece> &pieces,
                          const QList<MessageBytes> &messages, bool exact, int systemMessages)
{
    PromptLayout layout;
    layout.exact = exact;
    layout.tokens.reserve(pieces.size());
    for (const TokenPiece &piece : pieces)
        layout.tokens.append(piece.id);
    const QList<qsizetype> offsets = alignPieces(prompt, pieces);
    const int size = layout.size();
    // First token that begins at or behind a byte. One that crosses it belongs to the earlier message.
    const auto tokenAt = [&](qsizetype byte) {
        return static_cast<int>(std::lower_bound(offsets.cbegin(), offsets.cbegin() + size, byte) - offsets.cbegin());
    };
    layout.messages.reserve(messages.size());
    int previousEnd = 0;
    for (qsizetype i = 0; i < messages.size(); ++i) {
        const MessageBytes &bytes = messages.at(i);
        MessageSpan span;
        span.found = bytes.found;
        span.tokens.begin = bytes.begin == 0 ? 0 : std::max(previousEnd, tokenAt(bytes.begin));
        const qsizetype starts = span.tokens.begin < size ? offsets.at(span.tokens.begin) : prompt.size();
        span.edgeLegal = bytes.found && starts == bytes.begin;
        if (!layout.messages.isEmpty())
            layout.messages.last().tokens.end = span.tokens.begin;
        previousEnd = span.tokens.begin;
        layout.messages.append(span);
    }
    if (layout.messages.isEmpty()) {
        layout.tail = {0, size};
        return layout;
    }
    const int end =
        messages.constLast().end >= prompt.size() ? size : std::max(previousEnd, tokenAt(messages.constLast().end));
    layout.messages.last().tokens.end = end;
    layout.tail = {end, size};
    const qsizetype leading = std::clamp<qsizetype>(systemMessages, 0, messages.size());
    int fixed = leading < messages.size() ? layout.messages.at(leading).tokens.begin : end;
    for (qsizetype i = 0; i < leading; ++i) {
        if (messages.at(i).found)
            fixed -= tokenAt(messages.at(i).contentEnd) - tokenAt(messages.at(i).contentBegin);
    }
    layout.fixedTokens = fixed;
    return layout;
}

} // namespace kerf
