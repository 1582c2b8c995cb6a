// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QString>

#include <coroutine>
#include <cstddef>
#include <expected>
#include <utility>

namespace kerf {

/// An expected failure. Programs read `code` (and `slug`); `message` is for people: it says what
/// failed, on which object, and what to do. It never holds prompt text or keys.
struct Error {
    /// The numbers on the wire are in errorNumber(), one table (PROTOCOL.md, "Transport").
    enum class Code {
        InvalidParams, ///< -32602; the message names the field
        Failed, ///< 1
        NotFound, ///< 2
        StalePlan, ///< 3
        Unreachable, ///< 4: the backend does not answer
        DoesNotFit, ///< 5: the prompt cannot be made to fit
        TooLarge, ///< 6: too large, or too many
        Store, ///< 7
        Timeout, ///< 1 on the wire, slug "timeout"
        Cancelled, ///< 1 on the wire, slug "cancelled"
        Refused, ///< 1 on the wire: a server understood and said no (HTTP 4xx, 501)
        MethodNotFound ///< -32601
    };
    Code code = Code::Failed;
    QString message;
    QString slug; ///< `error.data.code`; empty = the code's own slug (errorSlug())

    friend bool operator==(const Error &, const Error &) = default;
};

template<typename T>
using Result = std::expected<T, Error>;

/// Work-around for libstdc++ 12: where QCoro 0.8 asserts `handle != nullptr`, the best match would be
/// std::expected's own comparison if its T can be made from nullptr (smart pointers, QByteArray), and that one
/// "depends on itself". This one matches better, so that Task<Result<std::shared_ptr<T>>> can be awaited.
template<typename Promise>
constexpr bool operator==(std::coroutine_handle<Promise> handle, std::nullptr_t) noexcept
{
    return !handle;
}

/// `return failure(Error::Code::NotFound, QStringLiteral("..."))`
inline std::unexpected<Error> failure(Error::Code code, QString message, QString slug = {})
{
    return std::unexpected(Error{code, std::move(message), std::move(slug)});
}

/// JSON-RPC error number of a code; the one table.
int errorNumber(Error::Code code);
/// `error.data.code`: "invalid-params", "failed", "not-found", "plan-stale", "backend-unreachable",
/// "does-not-fit", "too-large", "store", "timeout", "cancelled", "refused", "method-not-found".
QString errorSlug(const Error &error);

} // namespace kerf
