// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"

#include <QDateTime>
#include <QHash>
#include <QJsonObject>
#include <QObject>
#include <QUndoStack>

#include <optional>

namespace kerf {

/// A profile being edited: local until it is applied. Values are those of the wire, by knob. What is changed
/// elsewhere never overwrites an edit here: it waits as `theirs` until somebody chooses.
class ProfileDraft : public QObject
{
    Q_OBJECT
public:
    struct Theirs {
        QJsonObject knobs;
        QDateTime at;
        QString by; ///< words; empty = not known
    };

    explicit ProfileDraft(QObject *parent = nullptr);

    /// The answer of profile.get or profile.set. `mine`: of our own Apply.
    void setSaved(const QString &sessionId, const QJsonObject &answer, bool mine = false);
    bool isKnown() const { return !m_saved.isEmpty(); }
    QString profile() const { return m_profile; }
    QString base() const { return m_base; }
    QString lockedBy() const { return m_lockedBy; } ///< environment variable; empty = none
    QString sessionId() const { return m_sessionId; }

    const QJsonObject &saved() const { return m_saved; } ///< in force
    const QJsonObject &values() const { return m_values; } ///< as edited
    const QJsonObject &shipped() const { return m_shipped; } ///< of the base profile; empty = not told
    bool isDirty() const { return m_values != m_saved; }
    bool isEdited(const QString &knob) const { return m_values.value(knob) != m_saved.value(knob); }
    bool isChanged(const QString &knob) const; ///< differs from what is shipped
    int changedCount() const;

    /// One undo step a field: steps of the same field merge until endEdit().
    void setValue(const QString &knob, const QJsonValue &value);
    void setAll(const QJsonObject &values, const QString &what); ///< one undo step
    void endEdit() { ++m_edit; }
    void revert();

    /// Knobs that do not go together, and why; empty = all is well.
    QStringList invalidKnobs() const;
    QString problem() const;

    const std::optional<Theirs> &theirs() const { return m_theirs; }
    void noteChange(const QString &by, const QDateTime &at); ///< who sent the change that comes with the next answer
    void keepMine();
    void takeTheirs();

    /// What profile.set takes to make the values those of the session: knob -> value, null = back to the profile's.
    QJsonObject overrides() const;

    QByteArray exported() const;
    Result<void> import(const QByteArray &json); ///< knobs not named keep their value

    QUndoStack *undoStack() { return &m_undo; }

Q_SIGNALS:
    void changed(); ///< values, saved or theirs

private:
    friend class DraftStep;
    void put(const QJsonObject &values);

    QString m_sessionId;
    QString m_profile;
    QString m_base;
    QString m_lockedBy;
    QJsonObject m_saved;
    QJsonObject m_values;
    QJsonObject m_shipped;
    QJsonObject m_origin;
    QJsonObject m_applied; ///< asked for by us, answer under way
    std::optional<Theirs> m_theirs;
    QString m_changedBy;
    QDateTime m_changedAt;
    QHash<QString, QJsonObject> m_drafts; ///< edits of other sessions, kept
    QUndoStack m_undo;
    int m_edit = 0;
    friend class ProfileEditor;
};

/// A knob in words: "Keep recent", and what it does.
QString knobName(const QString &knob);
QString knobHelp(const QString &knob);
/// A value for people: "75 %", "4,096", "oldest first", "2 GiB", "yes".
QString knobText(const QString &knob, const QJsonValue &value);

} // namespace kerf
