// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/viewmodel/consolestate.h"

#include <QUndoStack>

namespace kerf {

/// One line of "what-if against plan". Texts are ready to show; `better` says where the change leads.
struct ComparisonRow {
    QString name;
    QString plan;
    QString whatIf;
    QString change;
    int better = 0; ///< 1 = the what-if is better here, -1 = worse, 0 = neither
    friend bool operator==(const ComparisonRow &, const ComparisonRow &) = default;
};

/// What-if mode: a state of the window, not a dialog. Nothing is sent and nothing is evicted while cuts are tried;
/// every number comes from the curve that was fetched before (core/eviction/cutcurve.h).
class WhatIf : public QObject
{
    Q_OBJECT
public:
    explicit WhatIf(ConsoleState *state, QObject *parent = nullptr);

    bool isActive() const { return m_state->whatIf().has_value(); }
    int position() const { return m_state->whatIf().value_or(-1); }
    /// null while the cuts of the session as it stands are not priced: nothing is said of another prompt.
    const CutReport *report() const;
    std::optional<CutValue> value() const;
    bool isLegal() const; ///< the position is a legal cut: "Use this cut" may be pressed
    QString whyNotStart() const; ///< empty = it can be started
    QString whyNotUse() const; ///< empty = the cut can be used

    /// At `position`, or where the plan cuts, or at the cheapest legal cut.
    bool start(std::optional<int> position = std::nullopt);
    void leave();
    /// Clamped to where the curve has values. Moves of one drag are one undo step.
    void moveTo(int position, bool dragging = false);
    void endDrag() { ++m_drag; }
    void stepTokens(int tokens);
    void stepLegal(int step);
    void stepCheckpoint(int step);
    void toEnd(bool last); ///< first or last legal cut
    void stepCost(bool dearer); ///< the next legal cut in order of cost

    /// The legal cut within `reach` tokens of a position, else the position itself.
    int snapped(int position, int reach) const;

    QString headline() const; ///< "1,742 is inside episode 12: not a legal cut"
    QString sentence() const; ///< for the status bar and readers
    QString textOf(const CutValue &value) const; ///< "~727 tokens, ~80 ms"
    QList<ComparisonRow> comparison() const;
    std::pair<QString, QString> why() const; ///< title and one sentence: why the two differ
    QUndoStack *undoStack() { return &m_undo; }

Q_SIGNALS:
    void activeChanged(bool active);
    void moved();
    void refused(const QString &why);

private:
    friend class WhatIfMove;
    void set(std::optional<int> position);
    int clamped(int position) const;

    ConsoleState *m_state;
    QUndoStack m_undo;
    int m_drag = 0;
};

/// The picture of the present prompt with a cut tried at `position`. Pure.
CutPicture whatIfPicture(const CutPicture &present, const ConsoleData &data, int position);
/// Predicted cost in words: time where it is known, else tokens; both ends where nothing is claimed.
QString cutCostText(const CutReport &report, const CutValue &value);
/// Whether the cuts that are known are those of the session as it stands.
bool isFresh(const ConsoleData &data);
/// Position of the shown plan's cut; nullopt = no plan.
std::optional<int> planCutOf(const ConsoleData &data);

} // namespace kerf
