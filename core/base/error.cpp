// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/error.h"

namespace kerf {

namespace {
struct Row {
    Error::Code code;
    int number;
    const char *slug;
};
constexpr Row kRows[] = {
    {Error::Code::InvalidParams, -32602, "invalid-params"},
    {Error::Code::Failed, 1, "failed"},
    {Error::Code::NotFound, 2, "not-found"},
    {Error::Code::StalePlan, 3, "plan-stale"},
    {Error::Code::Unreachable, 4, "backend-unreachable"},
    {Error::Code::DoesNotFit, 5, "does-not-fit"},
    {Error::Code::TooLarge, 6, "too-large"},
    {Error::Code::Store, 7, "store"},
    {Error::Code::Timeout, 1, "timeout"},
    {Error::Code::Cancelled, 1, "cancelled"},
    {Error::Code::Refused, 1, "refused"},
    {Error::Code::MethodNotFound, -32601, "method-not-found"},
};

const Row &rowOf(Error::Code code)
{
    for (const Row &row : kRows) {
        if (row.code == code)
            return row;
    }
    return kRows[1];
}
} // namespace

int errorNumber(Error::Code code) { return rowOf(code).number; }

QString errorSlug(const Error &error)
{
    return error.slug.isEmpty() ? QString::fromLatin1(rowOf(error.code).slug) : error.slug;
}

} // namespace kerf
