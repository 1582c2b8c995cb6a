// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QObject>
#include <QSocketNotifier>

#include <memory>

namespace kerf {

/// SIGTERM and SIGINT as an event: the handler writes one byte into a socket pair and does nothing else. A second
/// signal before the first was dealt with ends the process as usual. One at a time.
class UnixSignals : public QObject
{
    Q_OBJECT
public:
    explicit UnixSignals(QObject *parent = nullptr);
    ~UnixSignals() override;

Q_SIGNALS:
    void received(int number);

private:
    std::unique_ptr<QSocketNotifier> m_notifier;
};

} // namespace kerf
