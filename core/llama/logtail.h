// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QByteArray>
#include <QFile>
#include <QList>
#include <QObject>
#include <QTimer>

namespace kerf {

/// Follows a growing log file: one that appears later, is rotated (another file takes its name) or truncated. Or takes
/// the bytes of a child's output by feed(). Complete lines only; a line over 64 KiB is cut. Looks every 50 ms while
/// there is news, every 250 ms otherwise. One thread.
class LogTail : public QObject
{
    Q_OBJECT
public:
    explicit LogTail(QObject *parent = nullptr);

    void follow(const QString &path);
    void feed(const QByteArray &bytes);
    /// Reads what the file has now. Bounded: at most 1 MiB a call; returns whether there is more.
    bool catchUp();
    QString path() const { return m_path; }
    /// Whether something can be read at all: the file is there, or bytes were fed.
    bool isOpen() const { return m_file.isOpen() || m_fed; }
    qint64 bytesRead() const { return m_total; }

Q_SIGNALS:
    void linesRead(const QList<QByteArray> &lines);
    /// The file was replaced or truncated: what follows does not continue what came before.
    /// `gap`: lines may be missing in between (it was cut, not moved away).
    void restarted(bool gap);
    void opened();

private:
    void poll();
    bool open();
    bool isReplaced() const;
    bool isTruncated();
    void startOver(bool gap);
    void take(const QByteArray &bytes);

    QString m_path;
    QFile m_file;
    quint64 m_inode = 0;
    quint64 m_device = 0;
    qint64 m_offset = 0;
    qint64 m_checkedSize = -1; ///< size at which the bytes before the offset were last seen unchanged
    qint64 m_total = 0;
    QByteArray m_before; ///< the last bytes read: they must still be there
    QByteArray m_partial;
    bool m_skipping = false; ///< inside a line that was cut
    bool m_fed = false;
    int m_idlePolls = 0;
    QTimer m_timer;
};

} // namespace kerf
