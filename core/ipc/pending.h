// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/error.h"

#include <QJsonObject>

#include <coroutine>
#include <memory>
#include <optional>

namespace kerf {

/// An answer that comes later, awaited by one coroutine and settled once, on the same thread. Held by both sides,
/// so neither has to outlive the other.
class PendingAnswer
{
public:
    struct Awaiter {
        std::shared_ptr<PendingAnswer> answer;
        bool await_ready() const noexcept { return answer->m_result.has_value(); }
        void await_suspend(std::coroutine_handle<> waiter) const noexcept { answer->m_waiter = waiter; }
        Result<QJsonObject> await_resume() const { return std::move(*answer->m_result); }
    };

    /// The first one counts. Goes on with the waiting coroutine within the call.
    void settle(Result<QJsonObject> result)
    {
        if (m_result)
            return;
        m_result = std::move(result);
        if (const auto waiter = std::exchange(m_waiter, nullptr))
            waiter.resume();
    }

private:
    std::optional<Result<QJsonObject>> m_result;
    std::coroutine_handle<> m_waiter;
};

/// Settles once the caller's stack is gone: for destructors, whose object the waiting code may still know.
void settleLater(std::shared_ptr<PendingAnswer> answer, Result<QJsonObject> result);

} // namespace kerf
