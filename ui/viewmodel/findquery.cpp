// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/viewmodel/findquery.h"

#include "ui/viewmodel/numbers.h"
#include "ui/viewmodel/privacy.h"

#include <QCoreApplication>

#include <algorithm>

namespace kerf {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(kerf::Find)
};

const QStringList &roles()
{
    static const QStringList list{QStringLiteral("system"), QStringLiteral("user"), QStringLiteral("assistant"),
                                  QStringLiteral("tool"), QStringLiteral("internal")};
    return list;
}

const QStringList &tiers()
{
    static const QStringList list{QStringLiteral("live"), QStringLiteral("masked"), QStringLiteral("referenced"),
                                  QStringLiteral("archived"), QStringLiteral("dropped")};
    return list;
}

FindHit hitOf(const EpisodeValue &episode)
{
    FindHit hit;
    hit.kind = FindHit::Kind::Episode;
    hit.id = episode.seq;
    hit.what = Words::tr("Episode %1 · %2").arg(number(episode.seq), roleWord(episode.role));
    if (episode.range) {
        hit.where = Words::tr("%1 – %2").arg(number(episode.range->begin), number(episode.range->end));
        hit.token = episode.range->begin;
    } else {
        hit.where = tierWord(episode.tier);
    }
    return hit;
}

} // namespace

FindQuery parseFind(const QString &field)
{
    FindQuery query;
    QStringList words;
    QStringList parts;
    // Quotes keep words together that would be read otherwise.
    QString part;
    bool quoted = false;
    bool wasQuoted = false;
    const auto end = [&] {
        if (part.isEmpty())
            return;
        if (wasQuoted)
            words << part;
        else
            parts << part;
        part.clear();
        wasQuoted = false;
    };
    for (const QChar c : field) {
        if (c == QLatin1Char('"')) {
            quoted = !quoted;
            wasQuoted = true;
        } else if (c.isSpace() && !quoted) {
            end();
        } else {
            part += c;
        }
    }
    end();
    const auto name = [&query](const QString &word, const QStringList &known, const QString &what,
                               std::optional<QString> &into) {
        const QString lower = word.toLower();
        for (const QString &each : known) {
            if (!lower.isEmpty() && each.startsWith(lower)) {
                into = each;
                return;
            }
        }
        query.problem = Words::tr("%1 is one of %2.").arg(what, known.join(QStringLiteral(", ")));
    };
    for (const QString &each : std::as_const(parts)) {
        bool ok = false;
        QString digits = each.mid(1);
        digits.remove(QLatin1Char(','));
        if (each.startsWith(QLatin1Char('#')) && each.size() > 1) {
            const int value = digits.toInt(&ok);
            if (ok)
                query.episode = value;
            else
                words << each;
        } else if (each.startsWith(QLatin1Char('@')) && each.size() > 1) {
            const int value = digits.toInt(&ok);
            if (ok)
                query.token = value;
            else
                words << each;
        } else if (each.startsWith(QLatin1String("c:"))) {
            const int value = each.mid(2).toInt(&ok);
            if (ok)
                query.compaction = value;
            else
                query.problem = Words::tr("c: wants the number of a compaction, as in c:8.");
        } else if (each.startsWith(QLatin1String("t:"))) {
            const qint64 value = each.mid(2).toLongLong(&ok);
            if (ok)
                query.task = value;
            else
                query.problem = Words::tr("t: wants the number of a task, as in t:44.");
        } else if (each.startsWith(QLatin1String("role:"))) {
            name(each.mid(5), roles(), QStringLiteral("role:"), query.role);
        } else if (each.startsWith(QLatin1String("tier:"))) {
            name(each.mid(5), tiers(), QStringLiteral("tier:"), query.tier);
        } else {
            words << each;
        }
    }
    query.text = words.join(QLatin1Char(' '));
    return query;
}

QList<FindHit> findHits(const FindQuery &query, const ConsoleData &data, const QHash<int, QString> *texts)
{
    QList<FindHit> hits;
    if (query.compaction) {
        if (const PlanValue *plan = compactionByNumber(data, *query.compaction))
            hits << FindHit{FindHit::Kind::Compaction,
                            plan->number,
                            Words::tr("Compaction %1").arg(number(plan->number)),
                            outcomeWord(plan->outcome),
                            verdictHeadline(*plan),
                            std::nullopt};
    }
    if (query.task) {
        for (const PlanValue &plan : data.compactions) {
            if (plan.taskId == query.task)
                hits << FindHit{FindHit::Kind::Compaction,
                                plan.number,
                                Words::tr("Compaction %1 · task %2").arg(number(plan.number)).arg(*query.task),
                                outcomeWord(plan.outcome),
                                verdictHeadline(plan),
                                std::nullopt};
        }
        for (const SlotValue &slot : data.slotList) {
            for (const CheckpointValue &checkpoint : slot.checkpoints) {
                if (checkpoint.taskId && *checkpoint.taskId == *query.task)
                    hits << FindHit{
                        FindHit::Kind::Checkpoint,
                        checkpoint.position,
                        Words::tr("Checkpoint at %1 · task %2").arg(number(checkpoint.position)).arg(*query.task),
                        Words::tr("slot %1").arg(slot.id),
                        checkpointKindWord(checkpoint.kind),
                        checkpoint.position};
            }
        }
    }
    if (query.token) {
        FindHit hit{FindHit::Kind::Token,           *query.token, Words::tr("Token %1").arg(number(*query.token)),
                    Words::tr("not in the prompt"), {},           *query.token};
        for (const EpisodeValue &episode : data.episodes) {
            if (episode.range && *query.token >= episode.range->begin && *query.token < episode.range->end)
                hit.where = Words::tr("in episode %1 · %2").arg(number(episode.seq), roleWord(episode.role));
        }
        hits << hit;
    }
    if (query.episode || query.role || query.tier || (!query.text.isEmpty() && texts)) {
        for (const EpisodeValue &episode : data.episodes) {
            if (query.episode && episode.seq != *query.episode)
                continue;
            if (query.role && roleName(episode.role) != *query.role)
                continue;
            if (query.tier && tierName(episode.tier) != *query.tier)
                continue;
            if (!query.text.isEmpty() && (!texts || !texts->contains(episode.seq)))
                continue;
            FindHit hit = hitOf(episode);
            if (texts && texts->contains(episode.seq))
                hit.text = shownText(texts->value(episode.seq));
            hits << hit;
        }
    }
    return hits;
}

} // namespace kerf
