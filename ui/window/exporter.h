// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "ui/theme/theme.h"
#include "ui/viewmodel/caller.h"
#include "ui/viewmodel/consolestate.h"

#include <QImage>
#include <QPointer>

class QAbstractItemModel;
class QPrinter;
class QWidget;

namespace kerf {

class TableText;

/// A view that can be exported.
struct ExportView {
    QString name; ///< of its dock, or "timeline"
    QString title;
    QPointer<QWidget> widget;
};

/// Where a picture comes from: stands under it, whatever is done with it.
struct PictureOrigin {
    QString view;
    QString session;
    QDateTime time;
    QString build; ///< of the server; empty = not known
    bool simulated = false;
    QString line() const; ///< "Checkpoint ring · port-scheduler · 2026-11-30 14:02:11 · server build 11669"
};

/// Pictures, tables and wire values of the views, receipts and whole sessions. Waits for nothing: what must be asked
/// for comes with a callback.
class Exporter : public QObject
{
    Q_OBJECT
public:
    using Done = std::function<void(const Result<QString> &)>; ///< the path, for people

    Exporter(ConsoleState *state, Caller caller, QObject *parent = nullptr);

    PictureOrigin origin(const QString &view) const;
    /// System = as it is shown.
    static QImage picture(QWidget *view, int scale, ThemeChoice colors, const PictureOrigin &origin);
    static Result<void> writePng(QWidget *view, const QString &path, int scale, ThemeChoice colors,
                                 const PictureOrigin &origin);
    static Result<void> writeSvg(QWidget *view, const QString &path, ThemeChoice colors, const PictureOrigin &origin);
    static bool isPainted(const QWidget *view); ///< SVG is offered

    /// Rows with raw integers, RFC 4180. Empty = the view has no rows.
    static QString csv(const QWidget *view);
    static QString text(const QWidget *view); ///< as "Copy as text" gives it
    /// What the service says of it, as it comes over the wire.
    void json(const QString &view, std::function<void(const Result<QJsonObject> &)> done) const;
    void writeJson(const QString &view, const QString &path, Done done) const;
    /// The last receipt of the session as the service renders it, and as it is on the wire.
    void receipt(std::function<void(const Result<QJsonObject> &)> done) const;
    static QString receiptText(const QJsonObject &receipt);
    /// JSON Lines: the session, its episodes, its compactions. `hashesOnly`: texts as lengths and hashes.
    void writeSession(const QString &path, bool hashesOnly, Done done);
    static void printText(QPrinter *printer, const QString &text, const PictureOrigin &origin);

    static Result<void> writeFile(const QString &path, const QByteArray &bytes);
    static QString csvOf(const QAbstractItemModel &model);
    static QString csvOf(const TableText &table);

private:
    struct SessionRun;
    void nextPage(const std::shared_ptr<SessionRun> &run);
    void nextText(const std::shared_ptr<SessionRun> &run);

    ConsoleState *m_state;
    Caller m_caller;
};

} // namespace kerf
