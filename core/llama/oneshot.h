// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QCoroSignal>
#include <QCoroTask>

#include <QObject>
#include <QTimer>

#include <chrono>

namespace kerf {

/// Settles once, from whichever outcome comes first. Lives in the frame of the coroutine that awaits `settled`.
class OneShot : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;
    bool isSettled() const { return m_settled; }
    bool value() const { return m_value; }
    void settle(bool value)
    {
        if (m_settled)
            return;
        m_settled = true;
        m_value = value;
        Q_EMIT settled(value);
    }

Q_SIGNALS:
    void settled(bool value);

private:
    bool m_settled = false;
    bool m_value = false;
};

/// Waits for a signal, for the sender's end or for the limit, whichever comes first: true = the signal came. qCoro(obj,
/// signal, timeout) of QCoro 0.8 never resumes when obj dies. The end of the sender resumes one turn later: inside its
/// destructor the QPointers of its owners still look alive.
template<typename Sender, typename Signal>
QCoro::Task<bool> emittedWithin(Sender *sender, Signal signal, std::chrono::milliseconds limit)
{
    OneShot once;
    QObject::connect(sender, signal, &once, [&once] { once.settle(true); });
    QObject::connect(
        sender, &QObject::destroyed, &once, [&once] { once.settle(false); }, Qt::QueuedConnection);
    QTimer::singleShot(limit, &once, [&once] { once.settle(false); });
    co_return co_await qCoro(&once, &OneShot::settled);
}

/// Lets the event loop run for a while.
inline QCoro::Task<void> pause(std::chrono::milliseconds time)
{
    OneShot once;
    QTimer::singleShot(time, &once, [&once] { once.settle(true); });
    co_await qCoro(&once, &OneShot::settled);
}

} // namespace kerf
