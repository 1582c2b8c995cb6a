// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/cutpicture.h"
#include "ui/viewmodel/selection.h"

#include <QObject>
#include <QTimer>

namespace kerf {

/// The data of the console with its change signal: at most ten a second, however much came in.
/// Views read data() and picture(); the controller writes.
class ConsoleState : public QObject
{
    Q_OBJECT
public:
    enum Part : uint {
        Link = 1,
        Doctor = 2,
        Slots = 4,
        Sessions = 8,
        SessionPart = 16,
        Episodes = 32,
        Plan = 64,
        Compactions = 128,
        Receipt = 256,
        Profile = 512,
        Prompts = 1024,
        Selected = 2048,
        Cuts = 4096,
        WhatIfMoved = 8192,
        Everything = 0xFFFF
    };
    Q_DECLARE_FLAGS(Parts, Part)

    explicit ConsoleState(QObject *parent = nullptr);

    const ConsoleData &data() const { return m_data; }
    Selection *selection() { return &m_selection; }
    /// Of what the selection shows; built when asked for, kept until something changes.
    const CutPicture &picture() const;
    const PlanValue *shownPlan() const { return kerf::shownPlan(m_data, m_selection.compaction()); }

    /// The cut that is being tried (WhatIf writes it); the picture shows it while the present is selected.
    std::optional<int> whatIf() const { return m_whatIf; }
    void setWhatIf(std::optional<int> position);

    /// Changes the data; the signal follows within 100 ms (at once if `now`).
    template<typename Change>
    void update(Parts parts, Change &&change, bool now = false)
    {
        change(m_data);
        touch(parts, now);
    }
    void flush(); ///< emits what is pending at once

Q_SIGNALS:
    void changed(kerf::ConsoleState::Parts parts);

private:
    void touch(Parts parts, bool now);

    ConsoleData m_data;
    Selection m_selection;
    mutable CutPicture m_picture;
    mutable bool m_pictureDirty = true;
    mutable CutPicture m_present; ///< without a plan: what a what-if is drawn over
    mutable bool m_presentDirty = true;
    std::optional<int> m_whatIf;
    Parts m_pending;
    QTimer m_timer;
};

Q_DECLARE_OPERATORS_FOR_FLAGS(ConsoleState::Parts)

} // namespace kerf
