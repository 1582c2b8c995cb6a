// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/mainwindow.h"

#include "ui/ring/checkpointring.h"
#include "ui/theme/patterns.h"
#include "ui/timeline/timelineview.h"
#include "ui/viewmodel/liveview.h"
#include "ui/viewmodel/numbers.h"
#include "ui/viewmodel/privacy.h"
#include "ui/viewmodel/whatif.h"
#include "ui/views/checkpointsview.h"
#include "ui/views/eventsview.h"
#include "ui/views/evidenceview.h"
#include "ui/views/prefillchart.h"
#include "ui/views/receiptview.h"
#include "ui/views/retainedprefixview.h"
#include "ui/views/serverlogview.h"
#include "ui/views/slotlanes.h"
#include "ui/views/slotsview.h"
#include "ui/views/verdictstrip.h"
#include "ui/views/whatifbar.h"
#include "ui/window/calibrationdialog.h"
#include "ui/window/connectiondialog.h"
#include "ui/window/docktitle.h"
#include "ui/window/layouts.h"
#include "ui/window/serverdocks.h"
#include "ui/window/shell.h"
#include "ui/window/startpage.h"
#include "ui/window/whatifdocks.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QInputDialog>
#include <QLabel>
#include <QLocale>
#include <QMenuBar>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QSettings>
#include <QShowEvent>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QStatusBar>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QTextBrowser>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWhatsThis>

namespace kerf {

namespace {

constexpr double kConfirmFullPrefillMs = 10'000;

/// Draws a checkpoint's shape in front of its kind.
class KindDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        QStyleOptionViewItem own = option;
        initStyleOption(&own, index);
        own.features |= QStyleOptionViewItem::HasDecoration;
        own.decorationSize = QSize(12, 12);
        own.icon = QIcon();
        QStyledItemDelegate::paint(painter, own, index);
        const auto kind = static_cast<CheckpointKind>(index.data(Qt::DecorationRole).toInt());
        const SemanticColors c = SemanticColors::of(option.palette);
        const bool selected = option.state & QStyle::State_Selected;
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        drawCheckpointHead(*painter, QPointF(option.rect.left() + 10, option.rect.center().y() + 0.5), 4.2, kind,
                           selected ? option.palette.color(QPalette::HighlightedText) : c.checkpoint(kind));
        painter->restore();
    }

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        option->text = QStringLiteral("    ") + index.data(Qt::DisplayRole).toString();
        option->features &= ~QStyleOptionViewItem::HasDecoration;
    }
};

/// Sets the font's tabular digits aside: rows of one height, numbers to the right.
void setUpTable(QTableView *view, QAbstractItemModel *model, const QString &name)
{
    view->setObjectName(name);
    view->setModel(model);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    view->setAlternatingRowColors(true);
    view->setShowGrid(false);
    view->setWordWrap(false);
    view->setFrameShape(QFrame::NoFrame);
    view->setTabKeyNavigation(false);
    view->verticalHeader()->hide();
    view->verticalHeader()->setDefaultSectionSize(std::max(22, view->fontMetrics().height() + 6));
    view->verticalHeader()->setMinimumSectionSize(18);
    view->horizontalHeader()->setHighlightSections(false);
    view->horizontalHeader()->setMinimumSectionSize(30);
    view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    view->setContextMenuPolicy(Qt::ActionsContextMenu);
}

} // namespace

MainWindow::MainWindow(ClientOpener opener, QWidget *parent)
    : QMainWindow(parent)
    , m_opener(std::move(opener))
    , m_state(new ConsoleState(this))
    , m_controller(new Controller(m_state, this))
{
    setObjectName(QStringLiteral("mainWindow"));
    setDockNestingEnabled(true);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::South);
    setDocumentMode(false);
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    setMinimumSize(1024, 640);
    resize(1400, 900);
    m_whatIf = new WhatIf(m_state, this);
    m_server = new ServerDocks(m_state, m_controller, this);
    makeActions();
    makeCentre();
    makeDocks();
    makeWhatIf();
    m_shell = new Shell(this);
    makeToolBar();
    makeStatusBar();

    connect(m_state, &ConsoleState::changed, this, &MainWindow::refresh);
    connect(m_controller, &Controller::said, this, [this](const QString &text) { m_said->setText(text); });
    connect(m_controller, &Controller::failed, this, [this](const QString &what, const Error &error) {
        Message message;
        message.kind = Message::Kind::Error;
        message.id = QStringLiteral("error:%1:%2").arg(what, error.message);
        message.title = what;
        message.text = error.message;
        message.dismissable = true;
        if (error.code == Error::Code::StalePlan)
            message.action = action(QStringLiteral("plan"));
        else if (error.code == Error::Code::Unreachable)
            message.action = action(QStringLiteral("refresh"));
        m_errors.removeIf([&message](const Message &other) { return other.title == message.title; });
        m_errors.append(message);
        refreshMessages();
    });
    connect(m_messages, &MessageArea::dismissed, this, [this](const QString &id) {
        m_errors.removeIf([&id](const Message &message) { return message.id == id; });
        if (id.startsWith(QLatin1String("error:")))
            m_messages->forgetDismissed();
        if (id == QLatin1String("full-attention"))
            QSettings().setValue(QStringLiteral("hints/fullAttention"), true);
        refreshMessages();
    });
    connect(m_controller, &Controller::compared, this,
            [this](const std::optional<PrefixComparison> &comparison, const QString &why) {
                m_comparison = comparison;
                m_comparisonWhy = why;
                refresh(ConsoleState::Compactions);
            });
    connect(m_controller, &Controller::planChanged, this, &MainWindow::refreshActions);
    connect(m_controller, &Controller::connectedChanged, this, [this] {
        refreshBoxes();
        refreshMessages();
        refreshStatus();
        refreshTitle();
        refreshActions();
    });
    connect(m_controller, &Controller::textShown, this, [this](const QString &title, const QString &text) {
        auto *window = new QDialog(this);
        window->setAttribute(Qt::WA_DeleteOnClose);
        window->setWindowTitle(title);
        auto *layout = new QVBoxLayout(window);
        auto *view = new QPlainTextEdit(shownText(text));
        view->setReadOnly(true);
        view->setFont(tokenFont());
        layout->addWidget(view);
        auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close);
        connect(buttons, &QDialogButtonBox::rejected, window, &QDialog::close);
        layout->addWidget(buttons);
        window->resize(680, 460);
        window->show();
    });
    connect(m_state->selection(), &Selection::changed, this, &MainWindow::refreshActions);

    m_shell->finish(); // after every dock and action is made
    const QSettings settings;
    restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
    m_shell->layouts()->start();
    m_timeline->setFocus();
    refresh(ConsoleState::Everything);
}

MainWindow::~MainWindow()
{
    // The views go before the state they look at.
    m_controller->disconnect(this);
    m_state->disconnect(this);
}

// ---- building ---------------------------------------------------------------------------------------------

QAction *MainWindow::makeAction(const QString &name, const QString &text, const QString &icon, const QKeySequence &key,
                                const QString &tip)
{
    auto *made = new QAction(icon.isEmpty() ? QIcon() : themedIcon(icon), text, this);
    made->setObjectName(name);
    if (!key.isEmpty())
        made->setShortcut(key);
    QString plain = text;
    plain.remove(QLatin1Char('&'));
    made->setToolTip(tip.isEmpty() ? plain : tip);
    made->setStatusTip(tip);
    addAction(made);
    m_actions.insert(name, made);
    return made;
}

QAction *MainWindow::action(const QString &name) const { return m_actions.value(name); }

void MainWindow::makeActions()
{
    const auto on = [this](QAction *made, auto &&slot) { connect(made, &QAction::triggered, this, slot); };
    on(makeAction(QStringLiteral("connect"), tr("&Connect…"), QStringLiteral("network-connect"),
                  QKeySequence(Qt::CTRL | Qt::Key_K)),
       [this] { showConnect(); });
    on(makeAction(QStringLiteral("disconnect"), tr("&Disconnect"), QStringLiteral("network-disconnect"), {}), [this] {
        ++m_opening;
        m_controller->disconnectClient();
    });
    on(makeAction(QStringLiteral("demo"), tr("Open &demo"), QStringLiteral("kerf-simulated"), {},
                  tr("The embedded simulation: no server is involved")),
       [this] { open(ConnectionSpec{}); });
    on(makeAction(QStringLiteral("quit"), tr("&Quit"), QStringLiteral("application-exit"), QKeySequence::Quit),
       [this] { close(); });
    on(makeAction(QStringLiteral("newSession"), tr("&New session…"), QStringLiteral("document-new"), QKeySequence::New),
       [this] {
           bool ok = false;
           const QString title =
               QInputDialog::getText(this, tr("New session"), tr("Title"), QLineEdit::Normal, QString(), &ok);
           if (ok)
               m_controller->createSession(title.trimmed());
       });
    on(makeAction(QStringLiteral("refresh"), tr("&Refresh"), QStringLiteral("view-refresh"), QKeySequence(Qt::Key_F5)),
       [this] { m_controller->refresh(true); });
    on(makeAction(QStringLiteral("doctor"), tr("&Doctor…"), QStringLiteral("dialog-information"), {},
                  tr("What is known of this server, and on what evidence")),
       [this] { raiseDock(QStringLiteral("evidence")); });
    on(makeAction(QStringLiteral("calibrate"), tr("&Calibrate…"), QStringLiteral("kerf-calibrate"),
                  QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_K),
                  tr("Finds out by experiment what this server reuses; asks first")),
       [this] {
           auto *dialog = new CalibrationDialog(m_controller->sharedClient(), this);
           dialog->setAttribute(Qt::WA_DeleteOnClose);
           connect(dialog, &CalibrationDialog::said, m_controller, &Controller::said);
           dialog->open();
       });
    on(makeAction(QStringLiteral("plan"), tr("&Plan"), QStringLiteral("office-chart-bar"), QKeySequence(Qt::Key_F6)),
       [this] { m_controller->plan(); });
    on(makeAction(QStringLiteral("apply"), tr("&Apply"), QStringLiteral("dialog-ok-apply"),
                  QKeySequence(Qt::CTRL | Qt::Key_Return)),
       [this] { applyPlan(); });
    on(makeAction(QStringLiteral("undo"), tr("&Undo last compaction"), QStringLiteral("edit-undo"), {},
                  tr("Restores the tiers; the server must prefill again what it lost")),
       [this] { m_controller->undoLast(); });
    m_actions.value(QStringLiteral("undo"))->setIconText(tr("Undo"));
    on(makeAction(QStringLiteral("whatIf"), tr("&What-if"), QStringLiteral("kerf-cut"),
                  QKeySequence(Qt::CTRL | Qt::Key_T), tr("Try cuts. Sends nothing and evicts nothing.")),
       [this](bool active) {
           if (!active)
               m_whatIf->leave();
           else if (!m_whatIf->start())
               action(QStringLiteral("whatIf"))->setChecked(false);
       });
    action(QStringLiteral("whatIf"))->setCheckable(true);
    on(makeAction(QStringLiteral("useCut"), tr("&Use this cut"), QStringLiteral("dialog-ok-apply"), {},
                  tr("Plans with the cut that is being tried")),
       [this] { useCut(); });
    on(makeAction(QStringLiteral("pause"), tr("Pa&use live views"), QStringLiteral("media-playback-pause"),
                  QKeySequence(Qt::Key_F9)),
       [this](bool paused) {
           m_controller->setPaused(paused);
           m_server->setPaused(paused);
       });
    action(QStringLiteral("pause"))->setCheckable(true);
    makeAction(QStringLiteral("saveSlot"), tr("&Save slot…"), QStringLiteral("document-save"), {})
        ->setIconText(tr("Save…"));
    makeAction(QStringLiteral("restoreSlot"), tr("R&estore slot…"), QStringLiteral("document-open"), {})
        ->setIconText(tr("Restore…"));
    makeAction(QStringLiteral("eraseSlot"), tr("E&rase slot…"), QStringLiteral("edit-delete"), {})
        ->setIconText(tr("Erase…"));
    on(makeAction(QStringLiteral("attachLog"), tr("A&ttach log…"), QStringLiteral("document-open"), {},
                  tr("The server's log shows its checkpoints and host cache: connect again and name it")),
       [this] { showConnect(); });
    m_server->setActions(action(QStringLiteral("saveSlot")), action(QStringLiteral("restoreSlot")),
                         action(QStringLiteral("eraseSlot")), m_opener ? action(QStringLiteral("attachLog")) : nullptr);
    on(makeAction(QStringLiteral("previousCompaction"), tr("&Previous compaction"), QStringLiteral("go-previous"),
                  QKeySequence(Qt::CTRL | Qt::Key_Up)),
       [this] { stepCompaction(-1); });
    on(makeAction(QStringLiteral("nextCompaction"), tr("&Next compaction"), QStringLiteral("go-next"),
                  QKeySequence(Qt::CTRL | Qt::Key_Down)),
       [this] { stepCompaction(1); });
    on(makeAction(QStringLiteral("present"), tr("&Present"), QStringLiteral("go-jump"),
                  QKeySequence(Qt::CTRL | Qt::Key_End), tr("Back to the prompt as it stands")),
       [this] { m_state->selection()->selectCompaction(0); });
    on(makeAction(QStringLiteral("nextProblem"), tr("Next pro&blem"), QStringLiteral("dialog-warning"),
                  QKeySequence(Qt::Key_F8)),
       [this] { stepProblem(1); });
    on(makeAction(QStringLiteral("previousProblem"), tr("Previous problem"), {}, QKeySequence(Qt::SHIFT | Qt::Key_F8)),
       [this] { stepProblem(-1); });
    on(makeAction(QStringLiteral("back"), tr("&Back"), QStringLiteral("go-previous"),
                  QKeySequence(Qt::CTRL | Qt::Key_BracketLeft)),
       [this] { m_state->selection()->back(); });
    on(makeAction(QStringLiteral("forward"), tr("&Forward"), QStringLiteral("go-next"),
                  QKeySequence(Qt::CTRL | Qt::Key_BracketRight)),
       [this] { m_state->selection()->forward(); });
    on(makeAction(QStringLiteral("goToken"), tr("&Token…"), QStringLiteral("go-jump"),
                  QKeySequence(Qt::CTRL | Qt::Key_G)),
       [this] {
           bool ok = false;
           const int token = QInputDialog::getInt(this, tr("Go to token"), tr("Position in the prompt"),
                                                  m_state->selection()->token().value_or(0), 0,
                                                  std::max(0, m_timeline->axisTotal() - 1), 1, &ok);
           if (ok) {
               m_state->selection()->selectToken(token);
               m_timeline->zoomToPosition(token);
           }
       });
    on(makeAction(QStringLiteral("copyText"), tr("Copy as &text"), QStringLiteral("edit-copy"),
                  QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), tr("The view with the focus, as text")),
       [this] { copyAsText(); });
    on(makeAction(QStringLiteral("fullScreen"), tr("&Full screen"), {}, QKeySequence(Qt::Key_F11)),
       [this](bool full) { full ? showFullScreen() : showNormal(); });
    action(QStringLiteral("fullScreen"))->setCheckable(true);
    on(makeAction(QStringLiteral("resetLayout"), tr("&Reset layout"), {}, {}), [this] { resetLayout(); });
    on(makeAction(QStringLiteral("whatsThis"), tr("&What is this?"), {}, QKeySequence(Qt::SHIFT | Qt::Key_F1)),
       [] { QWhatsThis::enterWhatsThisMode(); });
    on(makeAction(QStringLiteral("keyboard"), tr("&Keyboard"), {}, {}), [this] {
        QDialog dialog(this);
        dialog.setWindowTitle(tr("Keyboard"));
        auto *layout = new QVBoxLayout(&dialog);
        auto *view = new QTextBrowser;
        view->setHtml(keyboardTable());
        layout->addWidget(view);
        auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close);
        connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
        layout->addWidget(buttons);
        dialog.resize(520, 560);
        dialog.exec();
    });
    on(makeAction(QStringLiteral("about"), tr("&About Kerf"), QStringLiteral("help-about"), {}), [this] {
        QMessageBox::about(this, tr("About Kerf"),
                           tr("<b>Kerf %1</b><p>Where a conversation may be cut so that the KV cache still matches.</p>"
                              "<p>Free software under the GNU General Public License, version 3 or later.</p>")
                               .arg(QStringLiteral(KERF_VERSION)));
    });
    auto *themes = new QActionGroup(this);
    const std::pair<ThemeChoice, QString> choices[] = {{ThemeChoice::System, tr("&System colours")},
                                                       {ThemeChoice::Light, tr("&Light")},
                                                       {ThemeChoice::Dark, tr("&Dark")}};
    for (const auto &[choice, text] : choices) {
        QAction *made = makeAction(QStringLiteral("theme-%1").arg(themeName(choice)), text, {}, {});
        made->setCheckable(true);
        themes->addAction(made);
        on(made, [this, choice = choice] {
            setTheme(choice);
            QSettings().setValue(QStringLiteral("appearance/theme"), themeName(choice));
        });
    }
}

void MainWindow::makeCentre()
{
    m_centre = new QStackedWidget;
    m_start = new StartPage;
    m_messages = new MessageArea;
    m_strip = new VerdictStrip;
    m_timeline = new TimelineView(m_state->selection());
    auto *timelinePage = new QWidget;
    auto *layout = new QVBoxLayout(timelinePage);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(m_strip);
    layout->addWidget(m_timeline, 1);
    m_centre->addWidget(m_start);
    m_centre->addWidget(timelinePage);
    auto *whole = new QWidget;
    auto *outer = new QVBoxLayout(whole);
    outer->setContentsMargins(2, 2, 2, 0);
    outer->setSpacing(4);
    m_whatIfBar = new WhatIfBar(m_whatIf);
    outer->addWidget(m_messages);
    outer->addWidget(m_whatIfBar);
    outer->addWidget(m_centre, 1);
    setCentralWidget(whole);
    connect(m_start, &StartPage::connectRequested, this, [this] { showConnect(); });
    connect(m_start, &StartPage::demoRequested, this, [this] { open(ConnectionSpec{}); });
    connect(m_start, &StartPage::sessionRequested, action(QStringLiteral("newSession")), &QAction::trigger);
    connect(m_timeline, &TimelineView::whatIfRequested, this, &MainWindow::tryCut);
    connect(m_timeline, &TimelineView::useCutRequested, this, &MainWindow::useCut);
    connect(m_timeline, &TimelineView::explained, this, [this](const QString &text) { m_said->setText(text); });
    m_timeline->restoreLanes(QSettings().value(QStringLiteral("timeline/lanes")).toByteArray());
    connect(m_whatIfBar, &WhatIfBar::useRequested, this, &MainWindow::useCut);
    m_timeline->setWhatIf(m_whatIf);
    connect(m_timeline, &TimelineView::pinRequested, m_controller, &Controller::pin);
    connect(m_timeline, &TimelineView::textRequested, m_controller, &Controller::showText);
}

QDockWidget *MainWindow::makeDock(const QString &name, const QString &title, QWidget *content, Qt::DockWidgetArea area)
{
    auto *made = new QDockWidget(title, this);
    made->setObjectName(QStringLiteral("dock-%1").arg(name));
    made->setWidget(content);
    made->setTitleBarWidget(new DockTitle(made));
    addDockWidget(area, made);
    m_docks.insert(name, made);
    return made;
}

QDockWidget *MainWindow::dock(const QString &name) const { return m_docks.value(name); }

void MainWindow::raiseDock(const QString &name)
{
    QDockWidget *wanted = dock(name);
    if (!wanted)
        return;
    wanted->show();
    wanted->raise();
    if (wanted->widget())
        wanted->widget()->setFocus();
}

void MainWindow::setDockDetail(const QString &name, const QString &detail)
{
    if (!dock(name))
        return;
    if (auto *title = qobject_cast<DockTitle *>(dock(name)->titleBarWidget()))
        title->setDetail(detail);
}

void MainWindow::makeDocks()
{
    Selection *selection = m_state->selection();
    connect(m_server, &ServerDocks::detailChanged, this, &MainWindow::setDockDetail);
    connect(m_server, &ServerDocks::raiseRequested, this, &MainWindow::raiseDock);
    connect(m_server, &ServerDocks::cutRequested, this, &MainWindow::tryCut);
    connect(m_server, &ServerDocks::said, m_controller, &Controller::said);
    connect(m_server, &ServerDocks::failed, m_controller, &Controller::failed);
    m_server->addCommonActions(action(QStringLiteral("copyText")), action(QStringLiteral("pause")));
    m_ring = new CheckpointRing(selection);
    connect(m_ring, &CheckpointRing::zoomRequested, m_timeline, &TimelineView::zoomToPosition);
    connect(m_ring, &CheckpointRing::cutRequested, this, &MainWindow::tryCut);
    connect(m_ring, &CheckpointRing::fitChanged, this, [this] { refresh({}); });
    QDockWidget *ringDock = makeDock(QStringLiteral("ring"), tr("Checkpoint ring"), m_ring, Qt::LeftDockWidgetArea);

    QDockWidget *checkpointsDock =
        makeDock(QStringLiteral("checkpoints"), tr("Checkpoints"), m_server->checkpointsPage(), Qt::LeftDockWidgetArea);

    QDockWidget *evidenceDock =
        makeDock(QStringLiteral("evidence"), tr("Evidence"), m_server->evidencePage(), Qt::LeftDockWidgetArea);
    tabifyDockWidget(checkpointsDock, evidenceDock);
    checkpointsDock->raise();

    m_compactions = new CompactionsModel(this);
    m_compactionsView = new QTableView;
    setUpTable(m_compactionsView, m_compactions, QStringLiteral("compactionsTable"));
    m_compactionsView->setAccessibleName(tr("Compactions"));
    QHeaderView *columns = m_compactionsView->horizontalHeader();
    columns->setSectionResizeMode(CompactionsModel::VerdictColumn, QHeaderView::Stretch);
    QFont outcomeFont = m_compactionsView->font();
    outcomeFont.setBold(true);
    const QFontMetrics cells(m_compactionsView->font());
    const auto wide = [&cells](const QString &text) { return cells.horizontalAdvance(text) + 12; };
    m_compactionsView->setColumnWidth(CompactionsModel::Number, wide(QStringLiteral("000")));
    m_compactionsView->setColumnWidth(CompactionsModel::Reused, wide(QStringLiteral("00,000")));
    m_compactionsView->setColumnWidth(CompactionsModel::Prefilled, wide(tr("Prefilled")));
    m_compactionsView->setColumnWidth(CompactionsModel::Ms, wide(QStringLiteral("0,000")));
    m_compactionsView->setColumnWidth(CompactionsModel::Outcome,
                                      QFontMetrics(outcomeFont).horizontalAdvance(tr("%1 confirmed").arg(QChar(0x2713)))
                                          + 14);
    m_compactionsView->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_compactionsView->addActions({action(QStringLiteral("undo")), action(QStringLiteral("copyText"))});
    connect(m_compactionsView->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex &now) {
                if (now.isValid() && m_compactionsView->hasFocus())
                    m_state->selection()->selectCompaction(m_compactions->rows().at(now.row()).number);
            });
    connect(m_compactionsView, &QTableView::clicked, this, [this](const QModelIndex &at) {
        m_state->selection()->selectCompaction(m_compactions->rows().at(at.row()).number);
    });
    QDockWidget *compactionsDock =
        makeDock(QStringLiteral("compactions"), tr("Compactions"), m_compactionsView, Qt::RightDockWidgetArea);

    m_receipt = new ReceiptView;
    QDockWidget *receiptDock = makeDock(QStringLiteral("receipt"), tr("Receipt"), m_receipt, Qt::RightDockWidgetArea);

    m_chart = new PrefillChart(selection);
    QDockWidget *chartDock = makeDock(QStringLiteral("prefill"), tr("Prefill cost"), m_chart, Qt::BottomDockWidgetArea);

    QDockWidget *eventsDock =
        makeDock(QStringLiteral("events"), tr("Events"), m_server->eventsPage(), Qt::BottomDockWidgetArea);
    QDockWidget *slotsDock =
        makeDock(QStringLiteral("slots"), tr("Slots"), m_server->slotsPage(), Qt::BottomDockWidgetArea);
    QDockWidget *logDock =
        makeDock(QStringLiteral("log"), tr("Server log"), m_server->logPage(), Qt::BottomDockWidgetArea);
    m_prefix = new RetainedPrefixView(selection);
    QDockWidget *prefixDock =
        makeDock(QStringLiteral("prefix"), tr("Retained prefix"), m_prefix, Qt::BottomDockWidgetArea);
    splitDockWidget(chartDock, prefixDock, Qt::Horizontal);
    tabifyDockWidget(chartDock, slotsDock);
    tabifyDockWidget(chartDock, eventsDock);
    tabifyDockWidget(prefixDock, logDock);
    chartDock->raise();
    prefixDock->raise();
    connect(prefixDock, &QDockWidget::visibilityChanged, m_controller, &Controller::setComparing);

    resizeDocks({ringDock, compactionsDock}, {325, 365}, Qt::Horizontal);
    resizeDocks({ringDock, checkpointsDock}, {470, 320}, Qt::Vertical);
    resizeDocks({compactionsDock, receiptDock}, {220, 560}, Qt::Vertical);
    resizeDocks({chartDock, prefixDock}, {360, 370}, Qt::Horizontal);
    resizeDocks({chartDock}, {300}, Qt::Vertical);

    // Each view catches up by itself, and only while it can be seen.
    new LiveView(m_state, m_ring, [this](ConsoleState::Parts) {
        const CutPicture &picture = m_state->picture();
        m_ring->setPicture(picture);
        QStringList detail;
        if (picture.slotId >= 0)
            detail << tr("slot %1").arg(picture.slotId);
        if (picture.disconnected)
            detail << tr("last known state");
        else if (picture.cut == CutPicture::Cut::Compaction)
            detail << tr("compaction %1").arg(number(picture.number));
        else if (picture.cut == CutPicture::Cut::Planned)
            detail << tr("plan");
        else if (picture.cut == CutPicture::Cut::WhatIf)
            detail << tr("what-if");
        if (picture.ring == CutPicture::Ring::FullAttention)
            detail << tr("full attention");
        else if (picture.ring == CutPicture::Ring::NotVisible)
            detail << tr("ring not visible");
        if (picture.simulated)
            detail << tr("simulated");
        if (m_ring->canFit())
            detail << (m_ring->isFit() ? tr("fit") : tr("full"));
        setDockDetail(QStringLiteral("ring"), detail.join(QStringLiteral(" · ")));
    });
    new LiveView(m_state, m_timeline, [this](ConsoleState::Parts parts) {
        m_timeline->setPicture(m_state->picture());
        if (parts & ConsoleState::Episodes)
            m_timeline->setEpisodes(m_state->data().episodes);
    });
    new LiveView(m_state, m_compactionsView, [this](ConsoleState::Parts) {
        m_compactions->setCompactions(m_state->data().compactions);
        setDockDetail(QStringLiteral("compactions"),
                      m_state->data().hasSession ? tr("%1 in this session").arg(number(m_compactions->rowCount()))
                                                 : QString());
        const int row = m_compactions->rowOf(m_state->selection()->compaction());
        if (row >= 0)
            m_compactionsView->selectRow(row);
        else
            m_compactionsView->clearSelection();
    });
    new LiveView(m_state, m_receipt, [this](ConsoleState::Parts parts) {
        if (m_whatIf->isActive() && m_state->selection()->compaction() == 0)
            return; // a receipt tells what was; it waits until the trying is over
        if (parts
            & ~static_cast<uint>(ConsoleState::Slots | ConsoleState::Sessions | ConsoleState::Link
                                 | ConsoleState::Profile))
            m_receipt->setReceipt(m_state->shownPlan(), m_state->picture(), m_state->data().receipt);
    });
    new LiveView(m_state, m_chart, [this](ConsoleState::Parts) {
        m_chart->setCompactions(m_state->data().compactions);
        setDockDetail(QStringLiteral("prefill"),
                      m_state->data().doctor.simulated ? tr("per compaction · simulated") : tr("per compaction"));
    });
    new LiveView(m_state, m_prefix, [this](ConsoleState::Parts) {
        std::optional<PrefixComparison> comparison = m_comparison;
        if (comparison) {
            const QList<PlanValue> &compactions = m_state->data().compactions;
            if (!compactions.isEmpty() && compactions.first().outcome == QLatin1String("waiting"))
                comparison->reused = compactions.first().boundary.predictedReuse;
        }
        m_prefix->setComparison(comparison, m_comparisonWhy);
        setDockDetail(QStringLiteral("prefix"),
                      comparison ? tr("%1 against %2").arg(comparison->aName, comparison->bName) : QString());
    });
    // Tab goes left, centre, right, bottom.
    QWidget::setTabOrder(m_ring, m_server->checkpointsPage()->table());
    QWidget::setTabOrder(m_server->checkpointsPage()->table(), m_server->evidencePage()->claimsTable());
    QWidget::setTabOrder(m_server->evidencePage()->claimsTable(), m_strip);
    QWidget::setTabOrder(m_strip, m_timeline);
    QWidget::setTabOrder(m_timeline, m_compactionsView);
    QWidget::setTabOrder(m_compactionsView, m_receipt);
    QWidget::setTabOrder(m_receipt, m_chart);
    QWidget::setTabOrder(m_chart, m_server->slotsPage()->lanes());
    QWidget::setTabOrder(m_server->slotsPage()->lanes(), m_server->eventsPage()->table());
    QWidget::setTabOrder(m_server->eventsPage()->table(), m_prefix);
    QWidget::setTabOrder(m_prefix, m_server->logPage()->table());

    int digit = 1;
    for (const QString &name : {QStringLiteral("ring"), QStringLiteral("checkpoints"), QStringLiteral("evidence"),
                                QStringLiteral("compactions"), QStringLiteral("receipt"), QStringLiteral("prefill"),
                                QStringLiteral("events"), QStringLiteral("prefix")}) {
        QAction *go = makeAction(QStringLiteral("dock-%1").arg(name), dock(name)->windowTitle(), {},
                                 QKeySequence(Qt::ALT | static_cast<Qt::Key>(Qt::Key_0 + digit++)),
                                 tr("Go to this dock; again hides it"));
        connect(go, &QAction::triggered, this, [this, name] {
            QDockWidget *wanted = dock(name);
            const bool inIt = wanted->isVisible() && wanted->widget()
                && (wanted->widget()->hasFocus() || wanted->widget()->isAncestorOf(QApplication::focusWidget()));
            if (inIt)
                wanted->hide();
            else
                raiseDock(name);
        });
    }
}

void MainWindow::makeWhatIf()
{
    m_whatIfDocks = new WhatIfDocks(m_state, m_whatIf, this);
    connect(m_whatIfDocks, &WhatIfDocks::cutRequested, this, &MainWindow::tryCut);
    connect(m_whatIfDocks, &WhatIfDocks::detailChanged, this, &MainWindow::setDockDetail);
    QDockWidget *chart =
        makeDock(QStringLiteral("cuts"), tr("Cuts"), m_whatIfDocks->chartPage(), Qt::BottomDockWidgetArea);
    QDockWidget *legal =
        makeDock(QStringLiteral("legalcuts"), tr("Legal cuts"), m_whatIfDocks->legalPage(), Qt::BottomDockWidgetArea);
    QDockWidget *comparison = makeDock(QStringLiteral("whatif"), tr("What-if against plan"),
                                       m_whatIfDocks->comparisonPage(), Qt::LeftDockWidgetArea);
    tabifyDockWidget(dock(QStringLiteral("prefill")), chart);
    tabifyDockWidget(dock(QStringLiteral("prefix")), legal);
    tabifyDockWidget(dock(QStringLiteral("checkpoints")), comparison);
    for (const char *name : {"prefill", "prefix", "checkpoints"})
        dock(QLatin1String(name))->raise();
    m_whatIfDocks->legalView()->addAction(action(QStringLiteral("copyText")));
    m_whatIfDocks->comparisonView()->addAction(action(QStringLiteral("copyText")));
    for (QTableView *view : {m_whatIfDocks->legalView(), m_whatIfDocks->comparisonView()})
        view->setContextMenuPolicy(Qt::ActionsContextMenu);
    connect(m_whatIf, &WhatIf::activeChanged, this, [this](bool active) {
        action(QStringLiteral("whatIf"))->setChecked(active);
        m_strip->setVisible(!active); // the strip is the plan's; the bar above speaks now
        if (active) {
            for (const char *name : {"cuts", "legalcuts", "whatif"}) {
                dock(QLatin1String(name))->show();
                dock(QLatin1String(name))->raise();
            }
            m_timeline->setFocus();
        } else {
            m_said->setText(QString());
            refresh(ConsoleState::Plan);
        }
        refreshActions();
    });
    connect(m_whatIf, &WhatIf::moved, this, [this] {
        if (m_whatIf->isActive())
            m_said->setText(m_whatIf->sentence());
        refreshActions();
    });
    connect(m_whatIf, &WhatIf::refused, this, [this](const QString &why) { m_said->setText(why); });
    connect(m_state->selection(), &Selection::changed, this, [this] {
        if (m_state->selection()->compaction() > 0)
            m_whatIf->leave(); // a past cut cannot be tried again
    });
}

void MainWindow::tryCut(int position) { m_whatIf->start(position); }

void MainWindow::useCut()
{
    if (const QString why = m_whatIf->whyNotUse(); !why.isEmpty()) {
        m_said->setText(why);
        return;
    }
    const int cut = m_whatIf->position();
    m_whatIf->leave();
    m_controller->plan(cut);
}

void MainWindow::makeToolBar()
{
    QToolBar *bar = addToolBar(tr("Main toolbar"));
    bar->setObjectName(QStringLiteral("mainToolBar"));
    bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    bar->setIconSize(QSize(16, 16));
    const auto box = [bar](QComboBox *made, const QString &name, const QString &accessible, int width) {
        made->setObjectName(name);
        made->setAccessibleName(accessible);
        made->setToolTip(accessible);
        made->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        made->setMinimumWidth(width);
        made->setMinimumHeight(26);
        bar->addWidget(made);
        return made;
    };
    m_connectionBox = box(new ModeBox, QStringLiteral("connectionBox"), tr("Connection"), 190);
    m_sessionBox = box(new QComboBox, QStringLiteral("sessionBox"), tr("Session"), 150);
    m_slotBox = box(new QComboBox, QStringLiteral("slotBox"), tr("Slot"), 90);
    connect(m_connectionBox, &QComboBox::activated, this, [this](int index) {
        const QString what = m_connectionBox->itemData(index).toString();
        if (what == QLatin1String("connect"))
            showConnect();
        else if (what == QLatin1String("demo"))
            open(ConnectionSpec{});
        else if (what == QLatin1String("disconnect"))
            action(QStringLiteral("disconnect"))->trigger();
        refreshBoxes();
    });
    connect(m_sessionBox, &QComboBox::activated, this,
            [this](int index) { m_controller->openSession(m_sessionBox->itemData(index).toString()); });
    connect(m_slotBox, &QComboBox::activated, this,
            [this](int index) { m_controller->setSlotChoice(m_slotBox->itemData(index).toInt()); });
    bar->addSeparator();
    for (const char *name : {"plan", "apply", "undo", "whatIf"})
        bar->addAction(action(QLatin1String(name)));
    bar->addSeparator();
    bar->addAction(action(QStringLiteral("calibrate")));
    bar->addAction(action(QStringLiteral("pause")));
    action(QStringLiteral("pause"))->setIconText(tr("Pause"));
    bar->addSeparator();
    auto *profile = new QLabel(tr("Profile"));
    profile->setContentsMargins(4, 0, 6, 0);
    bar->addWidget(profile);
    m_profileBox = box(new QComboBox, QStringLiteral("profileBox"), tr("Eviction profile"), 140);
    profile->setBuddy(m_profileBox);
    connect(m_profileBox, &QComboBox::activated, this,
            [this](int index) { m_controller->setProfile(m_profileBox->itemData(index).toString()); });
}

void MainWindow::makeStatusBar()
{
    m_said = new QLabel;
    m_said->setObjectName(QStringLiteral("said"));
    m_said->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    statusBar()->addWidget(m_said, 1);
    const auto part = [this](const QString &name, const QString &dockName) {
        auto *button = new QToolButton;
        button->setObjectName(name);
        button->setAutoRaise(true);
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        button->setIconSize(QSize(14, 14));
        connect(button, &QToolButton::clicked, this, [this, dockName] {
            if (dockName == QLatin1String("connect"))
                showConnect();
            else
                raiseDock(dockName);
        });
        statusBar()->addPermanentWidget(button);
        return button;
    };
    m_statusLink = part(QStringLiteral("statusLink"), QStringLiteral("connect"));
    m_statusMemory = part(QStringLiteral("statusMemory"), QStringLiteral("evidence"));
    m_statusTokens = part(QStringLiteral("statusTokens"), QStringLiteral("evidence"));
    m_statusWindow = part(QStringLiteral("statusWindow"), QStringLiteral("receipt"));
    m_statusReuse = part(QStringLiteral("statusReuse"), QStringLiteral("compactions"));
}

// ---- state ------------------------------------------------------------------------------------------------

void MainWindow::refresh(ConsoleState::Parts parts)
{
    const ConsoleData &console = m_state->data();
    m_centre->setCurrentIndex(console.hasSession ? 1 : 0);
    m_start->setConnected(m_controller->hasClient() && console.link == LinkState::Connected && console.doctor.known,
                          console.doctor.backend);
    if (!m_whatIf->isActive())
        m_strip->setVerdict(m_state->shownPlan(), m_state->picture(),
                            m_state->selection()->compaction() == 0 ? m_controller->staleBy() : 0);
    if (parts & ConsoleState::Compactions) {
        if (m_prefix->isVisible()) {
            std::optional<PrefixComparison> comparison = m_comparison;
            if (comparison && !console.compactions.isEmpty()
                && console.compactions.first().outcome == QLatin1String("waiting"))
                comparison->reused = console.compactions.first().boundary.predictedReuse;
            m_prefix->setComparison(comparison, m_comparisonWhy);
            setDockDetail(QStringLiteral("prefix"),
                          comparison ? tr("%1 against %2").arg(comparison->aName, comparison->bName) : QString());
        }
    }
    if (parts == ConsoleState::Parts(ConsoleState::WhatIfMoved))
        return; // nothing else changes with the cut that is tried
    refreshBoxes();
    refreshMessages();
    refreshStatus();
    refreshTitle();
    refreshActions();
}

void MainWindow::refreshTitle()
{
    const ConsoleData &console = m_state->data();
    QString title = console.hasSession
        ? tr("%1 – Kerf", "session").arg(console.session.title.isEmpty() ? console.session.id : console.session.title)
        : tr("Kerf");
    if (console.doctor.simulated)
        title = tr("%1 [simulated]").arg(title);
    if (m_controller->hasClient() && m_state->picture().disconnected)
        title = tr("%1 [disconnected]").arg(title);
    if (m_shell->isViewer() && m_controller->hasClient())
        title = tr("%1 [read only]").arg(title);
    if (title != windowTitle())
        setWindowTitle(title);
}

void MainWindow::refreshActions()
{
    const QString whyPlan = m_controller->whyNotPlan();
    const QString whyApply = m_controller->whyNotApply();
    action(QStringLiteral("plan"))->setEnabled(whyPlan.isEmpty());
    action(QStringLiteral("plan"))
        ->setToolTip(whyPlan.isEmpty() ? tr("Plan where to cut. Sends nothing. (F6)") : whyPlan);
    action(QStringLiteral("apply"))->setEnabled(whyApply.isEmpty());
    action(QStringLiteral("apply"))->setToolTip(whyApply.isEmpty() ? tr("Apply the plan (Ctrl+Return)") : whyApply);
    const QList<PlanValue> &compactions = m_state->data().compactions;
    action(QStringLiteral("undo"))->setEnabled(whyPlan.isEmpty() && !compactions.isEmpty());
    const QString whyTry = m_whatIf->isActive() ? QString() : m_whatIf->whyNotStart();
    action(QStringLiteral("whatIf"))->setEnabled(whyTry.isEmpty());
    action(QStringLiteral("whatIf"))
        ->setToolTip(whyTry.isEmpty() ? tr("Try cuts. Sends nothing and evicts nothing. (Ctrl+T)") : whyTry);
    action(QStringLiteral("useCut"))->setEnabled(m_whatIf->whyNotUse().isEmpty());
    action(QStringLiteral("disconnect"))->setEnabled(m_controller->hasClient());
    action(QStringLiteral("refresh"))->setEnabled(m_controller->hasClient());
    action(QStringLiteral("newSession"))->setEnabled(m_controller->hasClient());
    const DoctorValue &doctor = m_state->data().doctor;
    action(QStringLiteral("calibrate"))->setEnabled(m_controller->hasClient() && doctor.known && doctor.reachable);
    action(QStringLiteral("connect"))->setEnabled(static_cast<bool>(m_opener));
    action(QStringLiteral("demo"))->setEnabled(static_cast<bool>(m_opener));
    action(QStringLiteral("previousCompaction"))->setEnabled(!compactions.isEmpty());
    action(QStringLiteral("nextCompaction"))
        ->setEnabled(!compactions.isEmpty() && m_state->selection()->compaction() > 0);
    action(QStringLiteral("present"))->setEnabled(m_state->selection()->compaction() > 0);
    action(QStringLiteral("back"))->setEnabled(m_state->selection()->canGoBack());
    action(QStringLiteral("forward"))->setEnabled(m_state->selection()->canGoForward());
}

void MainWindow::refreshMessages()
{
    const ConsoleData &console = m_state->data();
    QList<Message> messages = m_errors;
    const auto since = [&console] {
        return QLocale().toString(console.linkSince.toLocalTime().time(), QStringLiteral("HH:mm:ss"));
    };
    if (m_controller->hasClient()) {
        if (console.link == LinkState::Disconnected) {
            const ServiceClient *client = m_controller->client();
            QStringList parts;
            if (QString why = client->lastError(); !why.isEmpty()) {
                if (why.endsWith(QLatin1Char('.')))
                    why.chop(1);
                parts << why;
            }
            if (client->tries() > 0)
                parts << tr("%n tries", nullptr, client->tries());
            if (client->nextTryMs() >= 0)
                parts << tr("next in %1 s").arg(QLocale().toString(std::max(0, client->nextTryMs() + 500) / 1000));
            messages.append(
                Message{Message::Kind::Warning, QStringLiteral("service-lost"),
                        tr("No answer from %1 since %2.").arg(console.linkDescription, since()),
                        tr("%1. This is the last known state; Plan and Apply are off.")
                            .arg(parts.isEmpty() ? tr("The service is gone") : parts.join(QStringLiteral(", "))),
                        action(QStringLiteral("retry")), false});
        } else if (console.doctor.known && !console.doctor.reachable && !console.doctor.url.isEmpty()) {
            messages.append(
                Message{Message::Kind::Warning, QStringLiteral("server-lost"),
                        tr("No answer from %1 since %2.").arg(console.doctor.url, since()),
                        tr("%1 Kerf tries again by itself. This is the last known state.")
                            .arg(console.linkError.isEmpty() ? QString() : console.linkError + QLatin1Char('.')),
                        action(QStringLiteral("refresh")), false});
        } else if (!console.doctor.known) {
            messages.append(Message{Message::Kind::Question, QStringLiteral("probing"), tr("Looking at the server."),
                                    tr("Health, properties, slots, tokenizer, template."), nullptr, false});
        }
        if (console.doctor.simulated) {
            messages.append(Message{Message::Kind::Simulated, QStringLiteral("simulated"), tr("SIMULATED"),
                                    tr("No server is involved. The embedded backend tests the mechanism; it proves "
                                       "nothing about your server."),
                                    m_opener ? action(QStringLiteral("connect")) : nullptr, false});
        } else if (console.doctor.known && console.doctor.reachable) {
            if (console.doctor.memoryKind == MemoryKind::FullAttention) {
                if (!QSettings().value(QStringLiteral("hints/fullAttention")).toBool())
                    messages.append(Message{Message::Kind::Information, QStringLiteral("full-attention"),
                                            tr("Full attention: no ring is needed."),
                                            console.doctor.chunkReuse.value_or(0) > 0
                                                ? tr("Every token can be a cut. With --cache-reuse %1, equal runs "
                                                     "behind the cut are moved and reused too.")
                                                      .arg(*console.doctor.chunkReuse)
                                                : tr("Every token can be a cut."),
                                            nullptr, true});
            } else if (!console.doctor.ringVisible) {
                messages.append(Message{
                    Message::Kind::Question, QStringLiteral("ring-hidden"), tr("The checkpoint ring is not visible."),
                    console.doctor.advice.isEmpty()
                        ? tr("The server lists no checkpoints and its log is not attached. No reuse is claimed.")
                        : console.doctor.advice.first(),
                    action(QStringLiteral("doctor")), true});
            }
        }
    }
    m_messages->setMessages(messages);
}

void MainWindow::refreshStatus()
{
    const ConsoleData &console = m_state->data();
    const CutPicture &picture = m_state->picture();
    const bool client = m_controller->hasClient();
    const auto put = [](QToolButton *button, const QString &text, const QString &tip, const QString &icon = {}) {
        button->setText(text);
        button->setToolTip(tip);
        button->setAccessibleName(text);
        button->setVisible(!text.isEmpty());
        if (!icon.isEmpty())
            button->setIcon(themedIcon(icon));
    };
    if (!client)
        put(m_statusLink, tr("Not connected"), tr("Ctrl+K connects"), QStringLiteral("network-disconnect"));
    else if (picture.disconnected)
        put(m_statusLink,
            tr("Disconnected · as of %1")
                .arg(console.asOf.isValid()
                         ? QLocale().toString(console.asOf.toLocalTime().time(), QStringLiteral("HH:mm:ss"))
                         : tr("never")),
            console.linkError, QStringLiteral("network-disconnect"));
    else if (console.doctor.simulated)
        put(m_statusLink, tr("Simulated"), tr("The embedded backend"), QStringLiteral("kerf-simulated"));
    else if (!console.doctor.known)
        put(m_statusLink, tr("Looking…"), console.linkDescription, QStringLiteral("network-connect"));
    else
        put(m_statusLink,
            console.doctor.build.isEmpty() ? tr("Connected") : tr("Connected · build %1").arg(console.doctor.build),
            console.doctor.url, QStringLiteral("network-connect"));
    QString memory;
    if (console.doctor.known) {
        switch (console.doctor.memoryKind) {
        case MemoryKind::FullAttention:
            memory = console.doctor.chunkReuse.value_or(0) > 0
                ? tr("Full attention · chunk reuse %1").arg(*console.doctor.chunkReuse)
                : tr("Full attention");
            break;
        case MemoryKind::Checkpointed:
            memory = console.doctor.ringVisible
                ? tr("Checkpointed · ring %1 (%2)")
                      .arg(number(console.doctor.ring.size()),
                           console.doctor.ringSource.isEmpty() ? tr("seen") : console.doctor.ringSource)
                : tr("Checkpointed · ring not visible");
            break;
        case MemoryKind::Unknown:
            memory = tr("Memory unknown");
            break;
        }
    }
    put(m_statusMemory, memory, console.doctor.memoryEvidence);
    put(m_statusTokens,
        console.hasSession ? (console.session.exact ? tr("Tokens exact") : tr("Tokens estimated (~)")) : QString(),
        console.session.exact ? tr("Counted by the server's own tokenizer and template.")
                              : tr("Estimated: this server does not tokenise."));
    QString window;
    if (console.hasSession && console.session.contextWindow > 0 && console.session.liveTokens)
        window = tr("Window %1")
                     .arg(percent(static_cast<double>(*console.session.liveTokens) / console.session.contextWindow));
    put(m_statusWindow, window,
        console.session.liveTokens
            ? tr("%1 of %2 tokens").arg(number(*console.session.liveTokens), number(console.session.contextWindow))
            : QString());
    QString reuse;
    if (console.doctor.simulated)
        reuse = tr("Reuse not counted");
    else if (console.receipt && console.receipt->stats.measuredShare)
        reuse = tr("Reuse measured %1 · claimed %2")
                    .arg(percent(*console.receipt->stats.measuredShare),
                         console.receipt->stats.claimedShare ? percent(*console.receipt->stats.claimedShare)
                                                             : tr("not reported"));
    put(m_statusReuse, console.hasSession ? reuse : QString(), tr("Share of compactions whose cut the cache matched"));
}

void MainWindow::refreshBoxes()
{
    const ConsoleData &console = m_state->data();
    auto *mode = static_cast<ModeBox *>(m_connectionBox);
    if (!m_connectionBox->view()->isVisible()) {
        const QSignalBlocker block(m_connectionBox);
        m_connectionBox->clear();
        QString title = tr("Not connected");
        QIcon icon = themedIcon(QStringLiteral("network-disconnect"));
        if (m_controller->hasClient()) {
            title = console.doctor.simulated    ? tr("embedded (simulated)")
                : !console.doctor.url.isEmpty() ? QString(console.doctor.url).remove(QStringLiteral("http://"))
                                                : m_spec.title();
            if (!console.doctor.known)
                title = console.linkDescription.isEmpty() ? m_spec.title() : console.linkDescription;
            if (m_state->picture().disconnected)
                title = tr("%1 – no answer").arg(title);
            else
                icon = themedIcon(console.doctor.simulated ? QStringLiteral("kerf-simulated")
                                                           : QStringLiteral("network-connect"));
        }
        m_connectionBox->addItem(icon, title);
        m_connectionBox->insertSeparator(1);
        if (m_opener) {
            m_connectionBox->addItem(themedIcon(QStringLiteral("network-connect")), tr("Connect…"),
                                     QStringLiteral("connect"));
            m_connectionBox->addItem(themedIcon(QStringLiteral("kerf-simulated")), tr("Open demo"),
                                     QStringLiteral("demo"));
        }
        if (m_controller->hasClient())
            m_connectionBox->addItem(themedIcon(QStringLiteral("network-disconnect")), tr("Disconnect"),
                                     QStringLiteral("disconnect"));
        m_connectionBox->setCurrentIndex(0);
    }
    mode->setMode(!m_controller->hasClient()            ? ModeBox::Mode::Plain
                      : m_state->picture().disconnected ? ModeBox::Mode::Disconnected
                      : console.doctor.simulated        ? ModeBox::Mode::Simulated
                                                        : ModeBox::Mode::Plain);
    const auto fill = [](QComboBox *box, const QList<std::pair<QString, QVariant>> &items, const QVariant &current) {
        if (box->view()->isVisible())
            return;
        const QSignalBlocker block(box);
        bool same = box->count() == items.size();
        for (qsizetype i = 0; same && i < items.size(); ++i)
            same = box->itemText(static_cast<int>(i)) == items.at(i).first
                && box->itemData(static_cast<int>(i)) == items.at(i).second;
        if (!same) {
            box->clear();
            for (const auto &item : items)
                box->addItem(item.first, item.second);
        }
        box->setCurrentIndex(box->findData(current));
        box->setEnabled(!items.isEmpty());
    };
    QList<std::pair<QString, QVariant>> sessions;
    for (const SessionSummary &session : console.sessions)
        sessions.append({session.title.isEmpty() ? session.id : session.title, session.id});
    if (console.hasSession
        && std::none_of(console.sessions.begin(), console.sessions.end(),
                        [&console](const SessionSummary &s) { return s.id == console.session.id; }))
        sessions.prepend(
            {console.session.title.isEmpty() ? console.session.id : console.session.title, console.session.id});
    fill(m_sessionBox, sessions, console.session.id);
    QList<std::pair<QString, QVariant>> slotItems;
    if (!console.slotList.isEmpty())
        slotItems.append({tr("Any slot"), -1});
    for (const SlotValue &slot : console.slotList)
        slotItems.append({tr("Slot %1").arg(slot.id), slot.id});
    fill(m_slotBox, slotItems, console.slotChoice);
    QList<std::pair<QString, QVariant>> profiles;
    for (const QString &name : console.profile.known)
        profiles.append(
            {name == console.profile.name && console.profile.modified ? tr("%1 (modified)").arg(name) : name, name});
    fill(m_profileBox, profiles, console.profile.name);
    if (m_shell->isViewer())
        m_profileBox->setEnabled(false);
    if (!console.profile.lockedBy.isEmpty()) {
        m_profileBox->setEnabled(false);
        m_profileBox->setToolTip(tr("Set by the environment variable %1").arg(console.profile.lockedBy));
    } else {
        m_profileBox->setToolTip(console.profile.chosenBecause.isEmpty()
                                     ? tr("Eviction profile")
                                     : tr("Eviction profile: %1").arg(console.profile.chosenBecause));
    }
}

void MainWindow::stepCompaction(int step)
{
    const QList<PlanValue> &compactions = m_state->data().compactions; // newest first
    if (compactions.isEmpty())
        return;
    const int now = m_state->selection()->compaction();
    if (now == 0) {
        if (step < 0)
            m_state->selection()->selectCompaction(compactions.first().number);
        return;
    }
    for (qsizetype i = 0; i < compactions.size(); ++i) {
        if (compactions.at(i).number != now)
            continue;
        const qsizetype next = i - step;
        if (next < 0)
            m_state->selection()->selectCompaction(0);
        else if (next < compactions.size())
            m_state->selection()->selectCompaction(compactions.at(next).number);
        return;
    }
}

void MainWindow::stepProblem(int step)
{
    const QList<PlanValue> &compactions = m_state->data().compactions;
    const int now = m_state->selection()->compaction();
    int best = 0;
    for (const PlanValue &plan : compactions) {
        if (plan.outcome != QLatin1String("refuted"))
            continue;
        if (step > 0 && plan.number > now && (best == 0 || plan.number < best))
            best = plan.number;
        if (step < 0 && (now == 0 || plan.number < now) && plan.number > best)
            best = plan.number;
    }
    if (best > 0)
        m_state->selection()->selectCompaction(best);
    else
        m_said->setText(step > 0 ? tr("No further problem.") : tr("No earlier problem."));
}

void MainWindow::copyAsText()
{
    QWidget *focus = QApplication::focusWidget();
    for (QWidget *widget = focus; widget; widget = widget->parentWidget()) {
        if (auto *table = dynamic_cast<TableText *>(widget)) {
            QApplication::clipboard()->setText(tableAsText(*table));
            m_said->setText(tr("Copied."));
            return;
        }
        if (auto *receipt = qobject_cast<ReceiptView *>(widget)) {
            QApplication::clipboard()->setText(receipt->asText());
            m_said->setText(tr("Copied."));
            return;
        }
        if (auto *view = qobject_cast<QTableView *>(widget)) {
            QStringList lines;
            QStringList cells;
            for (int column = 0; column < view->model()->columnCount(); ++column)
                cells << view->model()->headerData(column, Qt::Horizontal).toString();
            lines << cells.join(QLatin1Char('\t'));
            for (int row = 0; row < view->model()->rowCount(); ++row) {
                cells.clear();
                for (int column = 0; column < view->model()->columnCount(); ++column)
                    cells << view->model()->index(row, column).data().toString();
                lines << cells.join(QLatin1Char('\t'));
            }
            QApplication::clipboard()->setText(lines.join(QLatin1Char('\n')) + QLatin1Char('\n'));
            m_said->setText(tr("Copied."));
            return;
        }
    }
    if (QDockWidget *of = dock(m_shell->focusedView()); of && of->widget()) {
        if (const QString text = Exporter::text(of->widget()); !text.isEmpty()) {
            QApplication::clipboard()->setText(text);
            m_said->setText(tr("Copied."));
            return;
        }
    }
    QApplication::clipboard()->setText(tableAsText(*m_timeline));
    m_said->setText(tr("Copied the timeline."));
}

void MainWindow::applyPlan()
{
    const ConsoleData &console = m_state->data();
    if (console.plan && console.plan->verdict == Verdict::FullReprefill
        && console.plan->boundary.predictedMs > kConfirmFullPrefillMs) {
        const auto answer = QMessageBox::question(
            this, tr("Full prefill"),
            tr("After this cut the server computes all %1 tokens again, about %2. Apply it?")
                .arg(number(console.plan->tokensAfter), shortMilliseconds(console.plan->boundary.predictedMs)));
        if (answer != QMessageBox::Yes)
            return;
    }
    m_controller->apply();
}

void MainWindow::showConnect()
{
    if (!m_opener)
        return;
    auto *dialog = new ConnectionDialog(m_spec.kind == ConnectionSpec::Kind::Embedded && !m_controller->hasClient()
                                            ? ConnectionSpec{ConnectionSpec::Kind::Server, {}, {}, {}, {}}
                                            : m_spec,
                                        this, m_prober, m_keyRing);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        dialog->remember([self = QPointer<MainWindow>(this)](const QString &problem) {
            if (self)
                self->m_said->setText(problem);
        });
        open(dialog->spec());
    });
    dialog->open();
}

void MainWindow::openSaved(const SavedConnection &connection)
{
    ConnectionStore::remember(connection);
    if (!connection.keyStored || !m_keyRing) {
        open(connection.spec);
        return;
    }
    m_said->setText(tr("Asking the keyring…"));
    m_keyRing->read(connection.keyId(),
                    [self = QPointer<MainWindow>(this), connection](const QString &key, const QString &problem) {
                        if (!self)
                            return;
                        ConnectionSpec spec = connection.spec;
                        spec.apiKey = key;
                        self->open(spec);
                        if (!problem.isEmpty())
                            self->m_said->setText(problem);
                    });
}

void MainWindow::open(const ConnectionSpec &spec)
{
    if (!m_opener)
        return;
    m_spec = spec;
    m_errors.clear();
    m_messages->forgetDismissed();
    m_controller->disconnectClient(); // two engines must not hold one store
    m_said->setText(tr("Connecting to %1…").arg(spec.title()));
    const quint64 number = ++m_opening;
    const QPointer<MainWindow> self(this);
    m_opener(spec, [self, number, spec](ClientResult result) {
        if (!self || self->m_opening != number)
            return;
        if (!result) {
            self->m_said->setText(QString());
            Q_EMIT self->m_controller->failed(tr("%1 was not opened").arg(spec.title()), result.error());
            return;
        }
        self->m_said->setText(tr("Connected to %1.").arg(spec.title()));
        self->m_shell->setViewer(spec.kind == ConnectionSpec::Kind::Service);
        self->m_controller->setClient(*result);
        if (spec.slotId >= 0)
            self->m_controller->setSlotChoice(spec.slotId);
    });
}

void MainWindow::setTheme(ThemeChoice choice)
{
    m_theme = choice;
    applyTheme(choice);
    if (QAction *made = action(QStringLiteral("theme-%1").arg(themeName(choice))))
        made->setChecked(true);
}

void MainWindow::resetLayout() { m_shell->layouts()->reset(); }

QString MainWindow::keyboardTable() const
{
    QString html = QStringLiteral("<table cellspacing=\"6\">");
    QList<QAction *> all = m_actions.values();
    all += m_timeline->zoomActions() + m_timeline->stepActions();
    all << m_timeline->pinAction();
    for (QAction *made : std::as_const(all)) {
        if (made->shortcuts().isEmpty())
            continue;
        QStringList keys;
        for (const QKeySequence &key : made->shortcuts())
            keys << key.toString(QKeySequence::NativeText);
        QString text = made->text();
        text.remove(QLatin1Char('&'));
        html += QStringLiteral("<tr><td><b>%1</b></td><td>%2</td></tr>")
                    .arg(keys.join(QStringLiteral(", ")).toHtmlEscaped(), text.toHtmlEscaped());
    }
    return html + QStringLiteral("</table>");
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    m_shell->layouts()->store();
    settings.setValue(QStringLiteral("timeline/lanes"), m_timeline->saveLanes());
    QMainWindow::closeEvent(event);
}

void MainWindow::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange && m_receipt) {
        m_receipt->setReceipt(m_state->shownPlan(), m_state->picture(), m_state->data().receipt);
        refreshBoxes();
    }
    QMainWindow::changeEvent(event);
}

} // namespace kerf
