// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ipc/pending.h"

#include <QAbstractEventDispatcher>

namespace kerf {

void settleLater(std::shared_ptr<PendingAnswer> answer, Result<QJsonObject> result)
{
    QAbstractEventDispatcher *const loop = QAbstractEventDispatcher::instance();
    if (!loop)
        return; // the thread has ended: nobody can go on in it
    QMetaObject::invokeMethod(
        loop, [answer = std::move(answer), result = std::move(result)] { answer->settle(result); },
        Qt::QueuedConnection);
}

} // namespace kerf
