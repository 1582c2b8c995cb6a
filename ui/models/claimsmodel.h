// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/models/tablemodels.h"

#include <QJsonObject>

#include <optional>

namespace kerf {

/// One piece of evidence about the server, as server.evidence tells it.
struct ClaimValue {
    QString claim; ///< memory_kind, chunk_reuse, ...
    QString value;
    QString evidence; ///< calibration|observed|log|flags|gguf|name|slots
    QString detail;
    QDateTime when;
    bool stored = false; ///< of an earlier run
    bool forgettable = false;
    QStringList contradictedBy; ///< "log: checkpointed"
    friend bool operator==(const ClaimValue &, const ClaimValue &) = default;
};

struct ProbeValue {
    QString name;
    QString route;
    std::optional<int> httpStatus; ///< nullopt = no answer
    bool ok = false;
    QString message; ///< the server's own words
    friend bool operator==(const ProbeValue &, const ProbeValue &) = default;
};

struct EvidenceValue {
    bool known = false;
    QString key; ///< build, model and n_ctx under which it is kept; empty = it is not
    bool simulated = false;
    QList<ClaimValue> claims;
    QList<ProbeValue> probe;
    friend bool operator==(const EvidenceValue &, const EvidenceValue &) = default;
};
EvidenceValue parseEvidence(const QJsonObject &object);

class ClaimsModel : public RowsModel<ClaimValue>
{
    Q_OBJECT
public:
    enum Column { Claim, Value, Source, When, Contradicted, ColumnCount };
    using RowsModel::RowsModel;
    void setClaims(const QList<ClaimValue> &rows);
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
};

class ProbeModel : public RowsModel<ProbeValue>
{
    Q_OBJECT
public:
    enum Column { Step, Status, Message, ColumnCount };
    using RowsModel::RowsModel;
    void setProbe(const QList<ProbeValue> &rows);
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
};

QString claimWord(const QString &claim); ///< "memory kind"
QString claimValueWord(const QString &claim, const QString &value); ///< "checkpointed", "off", "64 tokens"

} // namespace kerf
