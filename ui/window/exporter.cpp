// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ui/window/exporter.h"

#include "ui/access/tabletext.h"
#include "ui/models/tablemodels.h"
#include "ui/theme/semanticcolors.h"
#include "ui/viewmodel/numbers.h"
#include "ui/viewmodel/privacy.h"
#include "ui/views/profileeditor.h"
#include "ui/views/receiptview.h"

#include <QApplication>
#include <QBuffer>
#include <QCryptographicHash>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLabel>
#include <QPainter>
#include <QPrinter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QTableView>
#include <QTextDocument>

namespace kerf {

namespace {

constexpr int kCaption = 26; ///< height of the line under a picture

/// A number that people read as one that programs read: "1,349" is 1349. `~1,349` stays an estimate: "~1349".
QString rawCell(const QString &text)
{
    const QLocale locale;
    QString plain = text;
    const bool estimate = plain.startsWith(QLatin1Char('~'));
    if (estimate)
        plain.remove(0, 1);
    plain.replace(QChar(0x2212), QLatin1Char('-'));
    bool ok = false;
    const qlonglong whole = locale.toLongLong(plain, &ok);
    if (ok)
        return (estimate ? QStringLiteral("~") : QString()) + QString::number(whole);
    const double real = locale.toDouble(plain, &ok);
    if (ok)
        return (estimate ? QStringLiteral("~") : QString()) + QString::number(real, 'g', 12);
    return text;
}

QString quoted(const QString &cell)
{
    if (!cell.contains(QLatin1Char(',')) && !cell.contains(QLatin1Char('"')) && !cell.contains(QLatin1Char('\n'))
        && !cell.contains(QLatin1Char('\r')))
        return cell;
    QString inner = cell;
    inner.replace(QLatin1Char('"'), QStringLiteral("\"\""));
    return QLatin1Char('"') + inner + QLatin1Char('"');
}

QString line(const QStringList &cells)
{
    QStringList safe;
    for (const QString &cell : cells)
        safe << quoted(cell);
    return safe.join(QLatin1Char(',')) + QStringLiteral("\r\n");
}

/// The palette of a view while it is drawn in other colours.
class Recolored
{
public:
    Recolored(QWidget *view, ThemeChoice colors)
        : m_view(view)
        , m_used(colors != ThemeChoice::System)
        , m_before(view->palette())
        , m_hadOwn(view->testAttribute(Qt::WA_SetPalette))
    {
        if (!m_used)
            return;
        view->setUpdatesEnabled(false);
        view->setPalette(themePalette(colors));
        // Children with a palette of their own follow as they would in the theme.
        QApplication::sendPostedEvents(view, QEvent::PaletteChange);
    }
    ~Recolored()
    {
        if (!m_used)
            return;
        m_view->setPalette(m_hadOwn ? m_before : QPalette());
        m_view->setUpdatesEnabled(true);
    }
    Recolored(const Recolored &) = delete;
    Recolored &operator=(const Recolored &) = delete;

private:
    QWidget *m_view;
    bool m_used;
    QPalette m_before;
    bool m_hadOwn;
};

QFont captionFont()
{
    QFont font = QApplication::font();
    font.setPointSizeF(std::max(8.0, font.pointSizeF() - 1));
    return font;
}

void paintCaption(QPainter &p, const QRect &rect, const QPalette &palette, const PictureOrigin &origin)
{
    const SemanticColors c = SemanticColors::of(palette);
    p.fillRect(rect, palette.color(QPalette::Window));
    p.setFont(captionFont());
    QRect inner = rect.adjusted(8, 0, -8, 0);
    if (origin.simulated) {
        const QString word = Exporter::tr("SIMULATED");
        QFont bold = captionFont();
        bold.setBold(true);
        p.setFont(bold);
        p.setPen(c.simulated);
        p.drawText(inner, Qt::AlignLeft | Qt::AlignVCenter, word);
        inner.setLeft(inner.left() + QFontMetrics(bold).horizontalAdvance(word) + 12);
        p.setFont(captionFont());
    }
    p.setPen(c.dimText);
    p.drawText(inner, Qt::AlignLeft | Qt::AlignVCenter,
               QFontMetrics(captionFont()).elidedText(origin.line(), Qt::ElideRight, inner.width()));
}

QJsonObject hashed(QJsonObject episode)
{
    const auto replace = [&episode](const char *field) {
        const QJsonValue value = episode.value(QLatin1String(field));
        if (value.isNull() || value.isUndefined())
            return;
        QByteArray bytes;
        if (value.isString())
            bytes = value.toString().toUtf8();
        else
            bytes = QJsonDocument(value.isArray() ? QJsonDocument(value.toArray()) : QJsonDocument(value.toObject()))
                        .toJson(QJsonDocument::Compact);
        episode.insert(
            QLatin1String(field),
            QJsonObject{{QStringLiteral("bytes"), bytes.size()},
                        {QStringLiteral("sha256"),
                         QString::fromLatin1(QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex())}});
    };
    for (const char *field : {"content", "tool_calls", "reasoning"})
        replace(field);
    return episode;
}

} // namespace

QString PictureOrigin::line() const
{
    QStringList parts;
    for (const QString &part : {view, session}) {
        if (!part.isEmpty())
            parts << part;
    }
    parts << time.toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
    parts << (simulated             ? Exporter::tr("no server")
                  : build.isEmpty() ? Exporter::tr("server build not known")
                                    : Exporter::tr("server build %1").arg(build));
    return parts.join(QStringLiteral(" · "));
}

Exporter::Exporter(ConsoleState *state, Caller caller, QObject *parent)
    : QObject(parent)
    , m_state(state)
    , m_caller(std::move(caller))
{
}

PictureOrigin Exporter::origin(const QString &view) const
{
    const ConsoleData &data = m_state->data();
    PictureOrigin origin;
    origin.view = view;
    if (data.hasSession)
        origin.session = data.session.title.isEmpty() ? data.session.id : data.session.title;
    origin.time = QDateTime::currentDateTimeUtc();
    origin.build = data.doctor.build;
    origin.simulated = data.doctor.simulated;
    return origin;
}

bool Exporter::isPainted(const QWidget *view) { return dynamic_cast<const TableText *>(view) != nullptr; }

QImage Exporter::picture(QWidget *view, int scale, ThemeChoice colors, const PictureOrigin &origin)
{
    const Recolored recolored(view, colors);
    const QSize size(view->width(), view->height() + kCaption);
    QImage image(size * scale, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    image.fill(view->palette().color(QPalette::Window));
    image.setText(QStringLiteral("Description"),
                  origin.simulated ? tr("SIMULATED") + QStringLiteral(" · ") + origin.line() : origin.line());
    image.setText(QStringLiteral("Software"), QStringLiteral("Kerf ") + QStringLiteral(KERF_VERSION));
    QPainter p(&image);
    view->render(&p, QPoint(), QRegion(), QWidget::DrawWindowBackground | QWidget::DrawChildren);
    paintCaption(p, QRect(0, view->height(), view->width(), kCaption), view->palette(), origin);
    return image;
}

Result<void> Exporter::writePng(QWidget *view, const QString &path, int scale, ThemeChoice colors,
                                const PictureOrigin &origin)
{
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || !picture(view, scale, colors, origin).save(&file, "PNG") || !file.commit())
        return failure(Error::Code::Failed, tr("%1: %2").arg(path, file.errorString()));
    return {};
}

Result<void> Exporter::writeSvg(QWidget *view, const QString &path, ThemeChoice colors, const PictureOrigin &origin)
{
    const Recolored recolored(view, colors);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator svg;
    svg.setOutputDevice(&buffer);
    svg.setResolution(96);
    const QSize size(view->width(), view->height() + kCaption);
    svg.setSize(size);
    svg.setViewBox(QRect(QPoint(), size));
    svg.setTitle(origin.view);
    svg.setDescription(origin.simulated ? tr("SIMULATED") + QStringLiteral(" · ") + origin.line() : origin.line());
    QPainter p;
    if (!p.begin(&svg))
        return failure(Error::Code::Failed, tr("%1 cannot be drawn as SVG").arg(origin.view));
    p.fillRect(QRect(QPoint(), size), view->palette().color(QPalette::Window));
    view->render(&p, QPoint(), QRegion(), QWidget::DrawWindowBackground | QWidget::DrawChildren);
    p.resetTransform();
    p.setClipping(false);
    paintCaption(p, QRect(0, view->height(), view->width(), kCaption), view->palette(), origin);
    p.end();
    return writeFile(path, bytes);
}

Result<void> Exporter::writeFile(const QString &path, const QByteArray &bytes)
{
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
        return failure(Error::Code::Failed, tr("%1: %2").arg(path, file.errorString()));
    return {};
}

QString Exporter::csvOf(const QAbstractItemModel &model)
{
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column)
        cells << model.headerData(column, Qt::Horizontal).toString();
    QString result = line(cells);
    for (int row = 0; row < model.rowCount(); ++row) {
        cells.clear();
        for (int column = 0; column < model.columnCount(); ++column) {
            const QModelIndex at = model.index(row, column);
            const QVariant raw = at.data(RawRole);
            const QString shown = at.data().toString();
            // A number only where a number is shown: "not reported" stays that.
            const bool digits = std::any_of(shown.begin(), shown.end(), [](QChar c) { return c.isDigit(); });
            const int type = digits ? raw.typeId() : QMetaType::UnknownType;
            if (type == QMetaType::Int || type == QMetaType::LongLong || type == QMetaType::UInt)
                cells << (shown.startsWith(QLatin1Char('~')) ? QStringLiteral("~%1") : QStringLiteral("%1"))
                             .arg(raw.toLongLong());
            else
                cells << rawCell(shown);
        }
        result += line(cells);
    }
    return result;
}

QString Exporter::csvOf(const TableText &table)
{
    QStringList cells;
    for (int column = 0; column < table.tableColumns(); ++column)
        cells << table.tableHeader(column);
    QString result = line(cells);
    for (int row = 0; row < table.tableRows(); ++row) {
        cells.clear();
        for (int column = 0; column < table.tableColumns(); ++column)
            cells << rawCell(table.tableCell(row, column));
        result += line(cells);
    }
    return result;
}

QString Exporter::csv(const QWidget *view)
{
    if (const auto *table = dynamic_cast<const TableText *>(view))
        return csvOf(*table);
    if (const auto *table = qobject_cast<const QTableView *>(view))
        return csvOf(*table->model());
    if (const auto *table = view->findChild<const QTableView *>())
        return csvOf(*table->model());
    if (const auto *profile = qobject_cast<const ProfileEditor *>(view)) {
        QString result;
        const QStringList rows = profile->asText().split(QLatin1Char('\n'));
        for (const QString &row : rows) {
            QStringList cells = row.split(QLatin1Char('\t'));
            if (cells.size() < 2)
                continue;
            for (QString &cell : cells)
                cell = rawCell(cell);
            result += line(cells);
        }
        return result;
    }
    return {};
}

QString Exporter::text(const QWidget *view)
{
    if (const auto *receipt = qobject_cast<const ReceiptView *>(view))
        return receipt->asText();
    if (const auto *profile = qobject_cast<const ProfileEditor *>(view))
        return profile->asText();
    if (const auto *table = dynamic_cast<const TableText *>(view))
        return tableAsText(*table);
    const auto *table = qobject_cast<const QTableView *>(view);
    if (!table)
        table = view->findChild<const QTableView *>();
    if (table) {
        const QAbstractItemModel *model = table->model();
        QStringList lines;
        QStringList cells;
        for (int column = 0; column < model->columnCount(); ++column)
            cells << model->headerData(column, Qt::Horizontal).toString();
        lines << cells.join(QLatin1Char('\t'));
        for (int row = 0; row < model->rowCount(); ++row) {
            cells.clear();
            for (int column = 0; column < model->columnCount(); ++column)
                cells << model->index(row, column).data().toString();
            lines << cells.join(QLatin1Char('\t'));
        }
        return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
    }
    QStringList lines; // a page of words
    for (const QLabel *label : view->findChildren<const QLabel *>()) {
        if (label->isVisibleTo(view) && !label->text().isEmpty())
            lines << label->text();
    }
    return lines.isEmpty() ? QString() : lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

void Exporter::json(const QString &view, std::function<void(const Result<QJsonObject> &)> done) const
{
    const ConsoleData &data = m_state->data();
    QJsonObject params;
    if (data.hasSession)
        params.insert(QStringLiteral("session_id"), data.session.id);
    QString method = QStringLiteral("session.get");
    if (view == QLatin1String("ring") || view == QLatin1String("checkpoints") || view == QLatin1String("slots")) {
        method = QStringLiteral("server.slots");
        params = {};
    } else if (view == QLatin1String("evidence")) {
        method = QStringLiteral("server.doctor");
        params = {};
    } else if (view == QLatin1String("log")) {
        method = QStringLiteral("server.log");
        params = {{QStringLiteral("limit"), 5000}};
    } else if (view == QLatin1String("compactions") || view == QLatin1String("prefill")) {
        method = QStringLiteral("context.compactions");
        params.insert(QStringLiteral("limit"), 5000);
    } else if (view == QLatin1String("receipt")) {
        method = QStringLiteral("context.receipt");
    } else if (view == QLatin1String("cuts") || view == QLatin1String("legalcuts") || view == QLatin1String("whatif")) {
        method = QStringLiteral("context.cuts");
    } else if (view == QLatin1String("profile")) {
        method = QStringLiteral("profile.get");
    } else if (view == QLatin1String("prefix")) {
        method = QStringLiteral("context.diff");
        params.insert(QStringLiteral("a"), QStringLiteral("held"));
        params.insert(QStringLiteral("b"), QStringLiteral("next"));
    } else if (view == QLatin1String("timeline")) {
        method = QStringLiteral("session.episodes");
        params.insert(QStringLiteral("limit"), 20000);
    }
    m_caller(method, params, std::move(done));
}

void Exporter::writeJson(const QString &view, const QString &path, Done done) const
{
    json(view, [path, done](const Result<QJsonObject> &result) {
        if (!result) {
            done(std::unexpected(result.error()));
            return;
        }
        if (const auto written = writeFile(path, QJsonDocument(*result).toJson(QJsonDocument::Indented)); !written)
            done(std::unexpected(written.error()));
        else
            done(path);
    });
}

void Exporter::receipt(std::function<void(const Result<QJsonObject> &)> done) const
{
    m_caller(QStringLiteral("context.receipt"), {{QStringLiteral("session_id"), m_state->data().session.id}},
             std::move(done));
}

QString Exporter::receiptText(const QJsonObject &receipt)
{
    return receipt.value(QLatin1String("rendered")).toString();
}

// ---- a whole session ---------------------------------------------------------------------------------------

struct Exporter::SessionRun {
    QString path;
    QString id;
    bool hashes = false;
    Done done;
    QSaveFile file;
    QJsonArray page;
    qsizetype at = 0;
    int next = 1; ///< seq of the next page; 0 = none
    int episodes = 0;
    bool write(const QJsonObject &object)
    {
        return file.write(QJsonDocument(object).toJson(QJsonDocument::Compact) + '\n') > 0;
    }
};

void Exporter::writeSession(const QString &path, bool hashesOnly, Done done)
{
    auto run = std::make_shared<SessionRun>();
    run->path = path;
    run->id = m_state->data().session.id;
    run->hashes = hashesOnly || isTextHidden();
    run->done = std::move(done);
    run->file.setFileName(path);
    if (!run->file.open(QIODevice::WriteOnly)) {
        run->done(failure(Error::Code::Failed, tr("%1: %2").arg(path, run->file.errorString())));
        return;
    }
    const QPointer<Exporter> self(this);
    m_caller(QStringLiteral("session.get"), {{QStringLiteral("session_id"), run->id}},
             [self, run](const Result<QJsonObject> &result) {
                 if (!self)
                     return;
                 if (!result) {
                     run->done(std::unexpected(result.error()));
                     return;
                 }
                 QJsonObject head = *result;
                 head.insert(QStringLiteral("type"), QStringLiteral("session"));
                 head.insert(QStringLiteral("texts"), run->hashes ? QStringLiteral("hashes") : QStringLiteral("full"));
                 head.insert(QStringLiteral("simulated"), self->m_state->data().doctor.simulated);
                 head.insert(QStringLiteral("exported_at"),
                             QDateTime::currentDateTimeUtc().toString(Qt::ISODateWithMs));
                 if (run->hashes)
                     head.remove(QStringLiteral("last_receipt")); // its rendering may quote texts
                 run->write(head);
                 self->nextPage(run);
             });
}

void Exporter::nextPage(const std::shared_ptr<SessionRun> &run)
{
    const QPointer<Exporter> self(this);
    if (run->next <= 0) {
        m_caller(QStringLiteral("context.compactions"),
                 {{QStringLiteral("session_id"), run->id}, {QStringLiteral("limit"), 5000}},
                 [self, run](const Result<QJsonObject> &result) {
                     if (!self)
                         return;
                     if (!result) {
                         run->done(std::unexpected(result.error()));
                         return;
                     }
                     const QJsonArray all = result->value(QLatin1String("compactions")).toArray();
                     for (const QJsonValue &each : all) {
                         QJsonObject row = each.toObject();
                         row.insert(QStringLiteral("type"), QStringLiteral("compaction"));
                         run->write(row);
                     }
                     if (!run->file.commit())
                         run->done(failure(Error::Code::Failed, tr("%1: %2").arg(run->path, run->file.errorString())));
                     else
                         run->done(run->path);
                 });
        return;
    }
    m_caller(QStringLiteral("session.episodes"),
             {{QStringLiteral("session_id"), run->id},
              {QStringLiteral("from_seq"), run->next},
              {QStringLiteral("limit"), 500}},
             [self, run](const Result<QJsonObject> &result) {
                 if (!self)
                     return;
                 if (!result) {
                     run->done(std::unexpected(result.error()));
                     return;
                 }
                 run->page = result->value(QLatin1String("episodes")).toArray();
                 run->at = 0;
                 run->next = result->value(QLatin1String("next_seq")).toInt();
                 self->nextText(run);
             });
}

void Exporter::nextText(const std::shared_ptr<SessionRun> &run)
{
    if (run->at >= run->page.size()) {
        nextPage(run);
        return;
    }
    const QJsonValue id = run->page.at(run->at++).toObject().value(QLatin1String("episode_id"));
    const QPointer<Exporter> self(this);
    m_caller(QStringLiteral("memory.get_episode"),
             {{QStringLiteral("session_id"), run->id}, {QStringLiteral("episode_id"), id}},
             [self, run](const Result<QJsonObject> &result) {
                 if (!self)
                     return;
                 if (!result) {
                     run->done(std::unexpected(result.error()));
                     return;
                 }
                 QJsonObject row = run->hashes ? hashed(*result) : *result;
                 row.insert(QStringLiteral("type"), QStringLiteral("episode"));
                 ++run->episodes;
                 if (!run->write(row)) {
                     run->done(failure(Error::Code::Failed, tr("%1: %2").arg(run->path, run->file.errorString())));
                     return;
                 }
                 self->nextText(run);
             });
}

void Exporter::printText(QPrinter *printer, const QString &text, const PictureOrigin &origin)
{
    QTextDocument document;
    QFont font = tokenFont();
    font.setPointSize(9);
    document.setDefaultFont(font);
    QString page = origin.line() + QLatin1Char('\n');
    if (origin.simulated)
        page = tr("SIMULATED") + QStringLiteral(" · ") + page;
    document.setPlainText(page + QLatin1Char('\n') + text);
    document.print(printer);
}

} // namespace kerf
