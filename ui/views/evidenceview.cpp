// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/views/evidenceview.h"

#include "ui/theme/semanticcolors.h"
#include "ui/viewmodel/numbers.h"
#include "ui/views/tablesetup.h"
#include "ui/window/serverdesk.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QSplitter>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

namespace kerf {

EvidenceView::EvidenceView(ServerDesk *desk, QWidget *parent)
    : QWidget(parent)
    , m_desk(desk)
    , m_claims(new ClaimsModel(this))
    , m_probe(new ProbeModel(this))
    , m_claimsView(new QTableView)
    , m_probeView(new QTableView)
    , m_text(new QLabel)
    , m_again(new QToolButton)
    , m_forget(new QToolButton)
    , m_split(new QSplitter(Qt::Vertical))
{
    setObjectName(QStringLiteral("evidenceView"));
    setWhatsThis(tr("What is known of this server, and how: each claim with its value, where it comes from, when, and "
                    "what says otherwise. Strongest first. Probe again asks the server anew; Forget lets go of what "
                    "was observed or kept from an earlier run."));
    m_text->setObjectName(QStringLiteral("doctorText"));
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::RichText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_text->setContentsMargins(8, 6, 8, 6);
    m_text->setMinimumWidth(120);
    m_text->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    auto *scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(m_text);
    scroll->viewport()->setBackgroundRole(QPalette::Base);
    scroll->setAccessibleName(tr("Doctor"));

    m_again->setObjectName(QStringLiteral("probeAgain"));
    m_again->setText(tr("Probe again"));
    m_again->setAutoRaise(true);
    m_again->setToolTip(tr("Asks the server anew what it can do; nothing of what it holds changes"));
    m_forget->setObjectName(QStringLiteral("forgetClaim"));
    m_forget->setText(tr("Forget"));
    m_forget->setAutoRaise(true);
    auto *bar = new QHBoxLayout;
    bar->setContentsMargins(6, 2, 6, 2);
    bar->addWidget(m_again);
    bar->addWidget(m_forget);
    bar->addStretch(1);

    setUpConsoleTable(m_claimsView, m_claims, QStringLiteral("evidenceTable"), tr("Evidence"));
    m_claimsView->setColumnWidth(ClaimsModel::Claim, columnFor(m_claimsView, tr("Idle slots cleared")));
    m_claimsView->setColumnWidth(ClaimsModel::Value, columnFor(m_claimsView, tr("full attention")));
    m_claimsView->setColumnWidth(ClaimsModel::Source, fontMetrics().averageCharWidth() * 34);
    m_claimsView->setColumnWidth(ClaimsModel::When, columnFor(m_claimsView, QStringLiteral("00:00:00 ")));
    m_claimsView->horizontalHeader()->setStretchLastSection(true);
    setUpConsoleTable(m_probeView, m_probe, QStringLiteral("probeTable"), tr("Probe steps"));
    m_probeView->setColumnWidth(ProbeModel::Step, columnFor(m_probeView, QStringLiteral("POST /apply-template")));
    m_probeView->setColumnWidth(ProbeModel::Status,
                                columnFor(m_probeView, tr("%1 no answer").arg(QStringLiteral("✕"))));
    m_probeView->horizontalHeader()->setStretchLastSection(true);

    auto *tabs = new QTabWidget;
    tabs->setObjectName(QStringLiteral("evidenceTabs"));
    tabs->setDocumentMode(true);
    tabs->addTab(m_claimsView, tr("Claims"));
    tabs->addTab(m_probeView, tr("Probe steps"));
    m_split->addWidget(scroll);
    m_split->addWidget(tabs);
    m_split->setStretchFactor(0, 1);
    m_split->setStretchFactor(1, 1);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(m_split, 1);
    setFocusProxy(m_claimsView);

    auto *forget = new QAction(tr("Forget"), m_claimsView);
    forget->setObjectName(QStringLiteral("forgetRow"));
    auto *again = new QAction(tr("Probe again"), m_claimsView);
    m_claimsView->addActions({forget, again});
    connect(again, &QAction::triggered, m_desk, &ServerDesk::probeAgain);
    connect(m_again, &QToolButton::clicked, m_desk, &ServerDesk::probeAgain);
    const auto let = [this] {
        const QModelIndex at = m_claimsView->currentIndex();
        if (at.isValid() && m_claims->rows().at(at.row()).forgettable) {
            const ClaimValue row = m_claims->rows().at(at.row());
            m_desk->forget(row.claim, row.evidence);
        }
    };
    connect(forget, &QAction::triggered, this, let);
    connect(m_forget, &QToolButton::clicked, this, let);
    const auto judge = [this, forget] {
        const QModelIndex at = m_claimsView->currentIndex();
        const bool row = at.isValid() && at.row() < m_claims->rows().size();
        const bool can = row && m_claims->rows().at(at.row()).forgettable;
        m_forget->setEnabled(can);
        forget->setEnabled(can);
        const QString why = can ? tr("Lets go of what was observed or kept from an earlier run")
            : row               ? tr("Read anew each time: forgetting it would change nothing")
                                : tr("Choose a claim first");
        m_forget->setToolTip(why);
        forget->setToolTip(why);
    };
    connect(m_claimsView->selectionModel(), &QItemSelectionModel::currentRowChanged, this, judge);
    connect(m_claims, &QAbstractItemModel::dataChanged, this, judge);
    connect(m_claims, &QAbstractItemModel::rowsInserted, this, judge);
    connect(m_claims, &QAbstractItemModel::rowsRemoved, this, judge);
    judge();
    connect(m_desk, &ServerDesk::evidenceChanged, this, [this] {
        if (isVisible())
            refresh();
    });
    refresh();
}

void EvidenceView::setDoctor(const DoctorValue &doctor)
{
    if (doctor == m_doctor)
        return;
    m_doctor = doctor;
    refreshText();
    Q_EMIT detailChanged();
}

QString EvidenceView::doctorText() const
{
    if (!m_doctor.known)
        return tr("No server was looked at yet.");
    QStringList lines;
    for (const QString &line : {m_doctor.capabilitiesLine, m_doctor.coherenceLine, m_doctor.evictionLine}) {
        if (!line.isEmpty())
            lines << line;
    }
    for (const QString &advice : m_doctor.advice)
        lines << tr("Advice: %1").arg(advice);
    lines << m_doctor.notes;
    return lines.join(QLatin1Char('\n'));
}

QString EvidenceView::detail() const
{
    if (!m_doctor.known)
        return {};
    QStringList parts;
    if (!m_doctor.build.isEmpty())
        parts << tr("build %1").arg(m_doctor.build);
    if (m_doctor.contextSize)
        parts << tr("n_ctx %1").arg(number(*m_doctor.contextSize));
    if (m_doctor.simulated)
        parts << tr("simulated");
    return parts.join(QStringLiteral(" · "));
}

void EvidenceView::refreshText()
{
    if (!m_doctor.known) {
        m_text->setText(doctorText());
        return;
    }
    const SemanticColors c = SemanticColors::of(palette());
    // Labelled lines: the seed's three first, then what to do, then what was noticed.
    const auto row = [&c](const QString &label, const QString &text, const QColor &colour) {
        return QStringLiteral("<tr><td style=\"padding-right:8px; color:%1\" align=\"right\">%2</td>"
                              "<td style=\"color:%3\">%4</td></tr>")
            .arg(c.dimText.name(), label.toHtmlEscaped(), colour.name(), text.toHtmlEscaped());
    };
    QString html = QStringLiteral("<table cellspacing=\"2\">");
    html += row(tr("Capabilities"), QString(m_doctor.capabilitiesLine).replace(QLatin1Char('+'), QStringLiteral(" + ")),
                c.text);
    html += row(tr("Coherence"), m_doctor.coherenceLine, c.text);
    html += row(tr("Eviction"), m_doctor.evictionLine, c.text);
    html += row(tr("Model"), m_doctor.model.isEmpty() ? tr("not reported") : m_doctor.model, c.text);
    bool first = true;
    for (const QString &advice : m_doctor.advice) {
        html += row(first ? tr("Advice") : QString(), advice, c.warning);
        first = false;
    }
    first = true;
    for (const QString &note : m_doctor.notes) {
        html += row(first ? tr("Noticed") : QString(), note, c.text);
        first = false;
    }
    m_text->setText(html + QStringLiteral("</table>"));
    m_text->setAccessibleDescription(doctorText());
}

void EvidenceView::refresh()
{
    const EvidenceValue &evidence = m_desk->evidence();
    m_claims->setClaims(evidence.claims);
    m_probe->setProbe(evidence.probe);
    m_again->setEnabled(m_desk->hasClient());
    Q_EMIT detailChanged();
}

void EvidenceView::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_desk->watchEvidence(true);
    refresh();
}

void EvidenceView::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_desk->watchEvidence(false);
}

void EvidenceView::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        refreshText();
    QWidget::changeEvent(event);
}

} // namespace kerf
