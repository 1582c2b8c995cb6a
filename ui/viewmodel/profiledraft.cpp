// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/viewmodel/profiledraft.h"

#include "core/eviction/policy.h"
#include "ui/viewmodel/numbers.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QLocale>

namespace kerf {

/// From one set of values to another; steps of one field edit merge.
class DraftStep : public QUndoCommand
{
public:
    DraftStep(ProfileDraft *draft, QJsonObject from, QJsonObject to, int edit, const QString &knob, const QString &text)
        : QUndoCommand(text)
        , m_draft(draft)
        , m_from(std::move(from))
        , m_to(std::move(to))
        , m_edit(edit)
        , m_knob(knob)
    {
    }
    int id() const override { return m_knob.isEmpty() ? -1 : 1; }
    bool mergeWith(const QUndoCommand *other) override
    {
        const auto *next = static_cast<const DraftStep *>(other);
        if (next->m_edit != m_edit || next->m_knob != m_knob)
            return false;
        m_to = next->m_to;
        setObsolete(m_to == m_from);
        return true;
    }
    void undo() override { m_draft->put(m_from); }
    void redo() override { m_draft->put(m_to); }

private:
    ProfileDraft *m_draft;
    QJsonObject m_from;
    QJsonObject m_to;
    int m_edit;
    QString m_knob;
};

ProfileDraft::ProfileDraft(QObject *parent)
    : QObject(parent)
{
}

void ProfileDraft::put(const QJsonObject &values)
{
    m_values = values;
    Q_EMIT changed();
}

void ProfileDraft::noteChange(const QString &by, const QDateTime &at)
{
    m_changedBy = by;
    m_changedAt = at;
}

void ProfileDraft::setSaved(const QString &sessionId, const QJsonObject &answer, bool mine)
{
    const QJsonObject knobs = answer.value(QLatin1String("knobs")).toObject();
    const bool otherSession = sessionId != m_sessionId;
    if (otherSession) {
        if (isKnown() && isDirty())
            m_drafts.insert(m_sessionId, m_values);
        m_undo.clear();
        m_theirs.reset();
        m_applied = {};
        m_sessionId = sessionId;
    }
    m_profile = answer.value(QLatin1String("name")).toString();
    m_base = answer.value(QLatin1String("base")).toString();
    m_shipped = answer.value(QLatin1String("shipped_knobs")).toObject();
    m_origin = answer.value(QLatin1String("origin")).toObject();
    m_lockedBy = answer.value(QLatin1String("environment")).isString()
        ? answer.value(QLatin1String("environment_variable")).toString(QStringLiteral("KERF_EVICTION_PROFILE"))
        : QString();
    if (otherSession) {
        m_saved = knobs;
        m_values = m_drafts.contains(sessionId) ? m_drafts.take(sessionId) : knobs;
    } else if (knobs != m_saved) {
        if (!isDirty()) {
            m_undo.clear(); // its steps are about values that are no more
            m_saved = knobs;
            m_values = knobs;
        } else if (mine || knobs == m_values || knobs == m_applied) {
            m_saved = knobs;
            m_theirs.reset();
        } else {
            m_theirs =
                Theirs{knobs, m_changedAt.isValid() ? m_changedAt : QDateTime::currentDateTimeUtc(), m_changedBy};
        }
    } else if (m_theirs) {
        m_theirs.reset(); // they took it back
    }
    if (mine)
        m_applied = {};
    if (!m_lockedBy.isEmpty() && isDirty()) {
        m_undo.clear();
        m_values = m_saved;
        m_theirs.reset();
    }
    m_changedBy.clear();
    m_changedAt = {};
    Q_EMIT changed();
}

bool ProfileDraft::isChanged(const QString &knob) const
{
    return m_shipped.contains(knob) && m_values.value(knob) != m_shipped.value(knob);
}

int ProfileDraft::changedCount() const
{
    int count = 0;
    for (auto it = m_values.begin(); it != m_values.end(); ++it)
        count += isChanged(it.key()) ? 1 : 0;
    return count;
}

void ProfileDraft::setValue(const QString &knob, const QJsonValue &value)
{
    if (!m_lockedBy.isEmpty() || m_values.value(knob) == value)
        return;
    QJsonObject next = m_values;
    next.insert(knob, value);
    m_undo.push(new DraftStep(this, m_values, next, m_edit, knob, knobName(knob)));
}

void ProfileDraft::setAll(const QJsonObject &values, const QString &what)
{
    endEdit();
    if (m_lockedBy.isEmpty() && values != m_values)
        m_undo.push(new DraftStep(this, m_values, values, m_edit, {}, what));
}

void ProfileDraft::revert() { setAll(m_saved, tr("Revert")); }

QStringList ProfileDraft::invalidKnobs() const
{
    const double trigger = m_values.value(QLatin1String("trigger")).toDouble();
    const double target = m_values.value(QLatin1String("target")).toDouble();
    if (isKnown() && target >= trigger)
        return {QStringLiteral("trigger"), QStringLiteral("target")};
    return {};
}

QString ProfileDraft::problem() const
{
    if (!isKnown())
        return {};
    if (!invalidKnobs().isEmpty())
        return tr("The target (%1) must be below the trigger (%2).")
            .arg(knobText(QStringLiteral("target"), m_values.value(QLatin1String("target"))),
                 knobText(QStringLiteral("trigger"), m_values.value(QLatin1String("trigger"))));
    if (const auto checked = withOverrides(EvictionKnobs(), m_values); !checked)
        return checked.error().message;
    return {};
}

void ProfileDraft::keepMine()
{
    if (!m_theirs)
        return;
    m_saved = m_theirs->knobs;
    m_theirs.reset();
    Q_EMIT changed();
}

void ProfileDraft::takeTheirs()
{
    if (!m_theirs)
        return;
    m_saved = m_theirs->knobs;
    m_theirs.reset();
    setAll(m_saved, tr("Take theirs"));
    Q_EMIT changed();
}

QJsonObject ProfileDraft::overrides() const
{
    QJsonObject result;
    for (auto it = m_values.begin(); it != m_values.end(); ++it) {
        if (!isEdited(it.key()))
            continue;
        const bool back = m_profile == m_base && !isChanged(it.key()) && m_shipped.contains(it.key())
            && m_origin.value(it.key()).toString() == QLatin1String("session");
        result.insert(it.key(), back ? QJsonValue(QJsonValue::Null) : it.value());
    }
    return result;
}

QByteArray ProfileDraft::exported() const
{
    return QJsonDocument(QJsonObject{{QStringLiteral("kerf_profile"), 1},
                                     {QStringLiteral("name"), m_profile},
                                     {QStringLiteral("base"), m_base},
                                     {QStringLiteral("knobs"), m_values}})
        .toJson(QJsonDocument::Indented);
}

Result<void> ProfileDraft::import(const QByteArray &json)
{
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(json, &error);
    if (!document.isObject())
        return failure(Error::Code::InvalidParams,
                       error.error == QJsonParseError::NoError
                           ? tr("This is no profile: a JSON object was expected.")
                           : tr("This is no JSON: %1 (at byte %2).").arg(error.errorString()).arg(error.offset));
    QJsonObject knobs = document.object();
    for (const char *field : {"knobs", "overrides"}) {
        if (document.object().value(QLatin1String(field)).isObject())
            knobs = document.object().value(QLatin1String(field)).toObject();
    }
    QJsonObject values = m_values;
    for (auto it = knobs.begin(); it != knobs.end(); ++it)
        values.insert(it.key(), it.value());
    const auto checked = withOverrides(EvictionKnobs(), values);
    if (!checked)
        return std::unexpected(checked.error());
    setAll(knobsToJson(*checked), tr("Import"));
    return {};
}

// ---- words -------------------------------------------------------------------------------------------------

namespace {
struct KnobWords {
    const char *knob;
    const char *name;
    const char *help;
};
constexpr KnobWords kWords[] = {
    {"trigger", QT_TRANSLATE_NOOP("Knobs", "Trigger"),
     QT_TRANSLATE_NOOP("Knobs", "Share of the budget at which a cut is made.")},
    {"target", QT_TRANSLATE_NOOP("Knobs", "Target"),
     QT_TRANSLATE_NOOP("Knobs", "Share of the budget that is left after a cut.")},
    {"cache_prefix_reserve_tokens", QT_TRANSLATE_NOOP("Knobs", "Reserve"),
     QT_TRANSLATE_NOOP("Knobs", "Tokens at the head that pressure never takes.")},
    {"cache_prefix_max_tokens", QT_TRANSLATE_NOOP("Knobs", "Reserve at most"),
     QT_TRANSLATE_NOOP("Knobs", "Upper bound of the reserve.")},
    {"max_prefix_ratio", QT_TRANSLATE_NOOP("Knobs", "Max ratio"),
     QT_TRANSLATE_NOOP("Knobs", "Share of the live window that the reserve may take.")},
    {"keep_recent_tokens", QT_TRANSLATE_NOOP("Knobs", "Keep recent"),
     QT_TRANSLATE_NOOP("Knobs", "Tokens at the end that are never evicted, at most a quarter of the budget.")},
    {"snap_tolerance_tokens", QT_TRANSLATE_NOOP("Knobs", "Tolerance"),
     QT_TRANSLATE_NOOP("Knobs", "How far below the cut a checkpoint may lie.")},
    {"keep_prefix_tokens", QT_TRANSLATE_NOOP("Knobs", "Keep prefix"),
     QT_TRANSLATE_NOOP("Knobs", "Tokens at the head that are kept in any case.")},
    {"recency_weight", QT_TRANSLATE_NOOP("Knobs", "Recency weight"),
     QT_TRANSLATE_NOOP(
         "Knobs", "Prefill tokens that one pays to lose an old token instead of a new one; 0 = the cheapest cut.")},
    {"allow_drop", QT_TRANSLATE_NOOP("Knobs", "Allow drop"),
     QT_TRANSLATE_NOOP("Knobs", "Episodes may be dropped: no longer named in the prompt.")},
    {"snapshot_before_rewrite", QT_TRANSLATE_NOOP("Knobs", "Save before a rewrite"),
     QT_TRANSLATE_NOOP("Knobs", "The slot is saved to a file before a cut that loses it.")},
    {"snapshot_even_when_aligned", QT_TRANSLATE_NOOP("Knobs", "Save aligned cuts too"),
     QT_TRANSLATE_NOOP("Knobs", "The slot is saved even if the cut is served by a checkpoint.")},
    {"snapshot_retention_per_slot", QT_TRANSLATE_NOOP("Knobs", "Saves per slot"),
     QT_TRANSLATE_NOOP("Knobs", "Older save files of a slot are deleted (only Kerf's own).")},
    {"min_free_disk_bytes", QT_TRANSLATE_NOOP("Knobs", "Free disk"),
     QT_TRANSLATE_NOOP("Knobs", "No slot is saved when less is free.")},
};
} // namespace

QString knobName(const QString &knob)
{
    for (const KnobWords &row : kWords) {
        if (knob == QLatin1String(row.knob))
            return QCoreApplication::translate("Knobs", row.name);
    }
    return knob;
}

QString knobHelp(const QString &knob)
{
    for (const KnobWords &row : kWords) {
        if (knob == QLatin1String(row.knob))
            return QCoreApplication::translate("Knobs", row.help);
    }
    return {};
}

QString knobText(const QString &knob, const QJsonValue &value)
{
    if (value.isUndefined() || value.isNull())
        return ProfileDraft::tr("not told");
    if (value.isBool())
        return value.toBool() ? ProfileDraft::tr("yes") : ProfileDraft::tr("no");
    if (value.isString())
        return ProfileDraft::tr("oldest first");
    const double v = value.toDouble();
    if (knob == QLatin1String("trigger") || knob == QLatin1String("target"))
        return ProfileDraft::tr("%1 %").arg(QLocale().toString(v * 100, 'g', 6));
    if (knob == QLatin1String("max_prefix_ratio") || knob == QLatin1String("recency_weight"))
        return QLocale().toString(v, 'g', 6);
    if (knob == QLatin1String("min_free_disk_bytes"))
        return QLocale().formattedDataSize(static_cast<qint64>(v), 2, QLocale::DataSizeIecFormat);
    return number(static_cast<qint64>(v));
}

} // namespace kerf
