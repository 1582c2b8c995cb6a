// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QAction>
#include <QPointer>
#include <QWidget>

class QHBoxLayout;
class QLabel;
class QPushButton;
class QToolButton;

namespace kerf {

/// What has to be said now. Bigger kinds are more serious; one is shown at most.
struct Message {
    enum class Kind { Information, Question, Simulated, Warning, Error };
    Kind kind = Kind::Information;
    QString id; ///< the same thing keeps its id: a dismissed one stays away
    QString title;
    QString text;
    QPointer<QAction> action; ///< the one next step that is offered; may be null
    bool dismissable = false;
    friend bool operator==(const Message &a, const Message &b)
    {
        return a.kind == b.kind && a.id == b.id && a.title == b.title && a.text == b.text && a.action == b.action
            && a.dismissable == b.dismissable;
    }
};

/// The bar above the views: the most serious message, in place until it is dealt with or dismissed.
class MessageArea : public QWidget
{
    Q_OBJECT
public:
    explicit MessageArea(QWidget *parent = nullptr);
    void setMessages(const QList<Message> &messages);
    const Message *current() const { return m_current ? &*m_current : nullptr; }
    void forgetDismissed() { m_dismissed.clear(); }

Q_SIGNALS:
    void dismissed(const QString &id);

protected:
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void show(const std::optional<Message> &message);
    void recolour();
    std::optional<Message> m_current;
    QList<Message> m_messages;
    QStringList m_dismissed;
    QLabel *m_title;
    QLabel *m_text;
    QPushButton *m_button;
    QToolButton *m_close;
};

} // namespace kerf
