// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/store/database.h"

#include "core/base/log.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QSqlError>
#include <QUuid>

#include <algorithm>
#include <sys/stat.h>

namespace kerf {

namespace {

/// Text that UTF-8 cannot hold byte for byte (a lone surrogate, a NUL) is kept as a blob of UTF-16.
QVariant textValue(const QString &text)
{
    if (text.isNull())
        return QStringLiteral("");
    if (!text.contains(QChar(0)) && text.isValidUtf16())
        return text;
    return QByteArray(reinterpret_cast<const char *>(text.utf16()), text.size() * 2);
}

QString textOf(const QVariant &value)
{
    if (value.typeId() != QMetaType::QByteArray)
        return value.toString();
    const QByteArray bytes = value.toByteArray();
    return QString(reinterpret_cast<const QChar *>(bytes.constData()), bytes.size() / 2);
}

QString json(const QJsonObject &object)
{
    return QString::fromUtf8(QJsonDocument(object).toJson(QJsonDocument::Compact));
}
QString json(const QJsonArray &array) { return QString::fromUtf8(QJsonDocument(array).toJson(QJsonDocument::Compact)); }
QJsonObject objectOf(const QVariant &value) { return QJsonDocument::fromJson(value.toString().toUtf8()).object(); }
QJsonArray arrayOf(const QVariant &value) { return QJsonDocument::fromJson(value.toString().toUtf8()).array(); }

qint64 now() { return QDateTime::currentMSecsSinceEpoch(); }
QDateTime timeOf(const QVariant &value) { return QDateTime::fromMSecsSinceEpoch(value.toLongLong(), Qt::UTC); }

QString toolCallsText(const QList<ToolCall> &calls)
{
    if (calls.isEmpty())
        return QStringLiteral("");
    QJsonArray rows;
    for (const ToolCall &call : calls)
        rows.append(QJsonArray{call.id, call.name, call.arguments});
    return json(rows);
}

QList<ToolCall> toolCallsOf(const QVariant &value)
{
    QList<ToolCall> calls;
    const QJsonArray rows = arrayOf(value);
    for (const QJsonValue &row : rows)
        calls.append({row.toArray().at(0).toString(), row.toArray().at(1).toString(), row.toArray().at(2).toString()});
    return calls;
}

QByteArray idsBytes(const TokenList &tokens)
{
    return QByteArray(reinterpret_cast<const char *>(tokens.constData()), tokens.size() * qsizetype(sizeof(TokenId)));
}

TokenList idsOf(const QByteArray &bytes)
{
    TokenList tokens(bytes.size() / qsizetype(sizeof(TokenId)));
    std::copy_n(bytes.constData(), tokens.size() * qsizetype(sizeof(TokenId)), reinterpret_cast<char *>(tokens.data()));
    return tokens;
}

const QString kEpisodeColumns =
    QStringLiteral("id, session_id, seq, role, content_null, parts, tool_calls, tool_call_id, tool_name, name, "
                   "is_error, droppable, generated, "
                   "has_generated, fold_id, corrects_id, client_ref, created_at, tier, token_count, token_exact");

/// Columns as above, then `content`, `reasoning` where they were asked for (NULL = not loaded).
Episode episodeOf(const QSqlQuery &query)
{
    Episode episode;
    int i = 0;
    episode.id = query.value(i++).toLongLong();
    episode.sessionId = query.value(i++).toString();
    episode.seq = query.value(i++).toInt();
    episode.role = roleFromName(query.value(i++).toString()).value_or(Role::Internal);
    episode.contentIsNull = query.value(i++).toBool();
    episode.contentParts = arrayOf(query.value(i++));
    episode.toolCalls = toolCallsOf(query.value(i++));
    episode.toolCallId = query.value(i++).toString();
    episode.toolName = query.value(i++).toString();
    episode.name = query.value(i++).toString();
    episode.isError = query.value(i++).toBool();
    episode.droppable = query.value(i++).toBool();
    episode.generatedTokens = idsOf(query.value(i++).toByteArray());
    episode.hasGeneratedTokens = query.value(i++).toBool();
    episode.foldId = query.value(i++).toLongLong();
    episode.correctsId = query.value(i++).toLongLong();
    episode.clientRef = query.value(i++).toString();
    episode.createdAt = timeOf(query.value(i++));
    episode.tier = tierFromName(query.value(i++).toString()).value_or(Tier::Live);
    episode.tokenCount = query.value(i++).toInt();
    episode.tokenCountExact = query.value(i++).toBool();
    const QVariant content = query.value(i++);
    episode.contentLoaded = !content.isNull();
    if (episode.contentLoaded) {
        episode.content = textOf(content);
        episode.reasoning = textOf(query.value(i));
    } else {
        episode.contentParts = {};
    }
    return episode;
}

const QString kSessionColumns =
    QStringLiteral("id, title, revision, turn, config, state, server_identity, created_at, updated_at, "
                   "(SELECT COUNT(*) FROM episode e WHERE e.session_id = session.id)");

QJsonObject configJson(const SessionConfig &config)
{
    return {{QStringLiteral("tools"), config.tools},
            {QStringLiteral("kwargs"), config.chatTemplateKwargs},
            {QStringLiteral("max_tokens"), config.maxTokens},
            {QStringLiteral("window"), config.contextWindow}};
}

SessionRecord sessionOf(const QSqlQuery &query)
{
    SessionRecord record;
    record.id = query.value(0).toString();
    record.title = query.value(1).toString();
    record.revision = query.value(2).toLongLong();
    record.turn = query.value(3).toInt();
    const QJsonObject config = objectOf(query.value(4));
    record.config.tools = config.value(QStringLiteral("tools")).toArray();
    record.config.chatTemplateKwargs = config.value(QStringLiteral("kwargs")).toObject();
    record.config.maxTokens = config.value(QStringLiteral("max_tokens")).toInt();
    record.config.contextWindow = config.value(QStringLiteral("window")).toInt();
    record.state = objectOf(query.value(5));
    record.serverIdentity = query.value(6).toString();
    record.createdAt = timeOf(query.value(7));
    record.updatedAt = timeOf(query.value(8));
    record.episodeCount = query.value(9).toLongLong();
    return record;
}

const QString kPlanColumns = QStringLiteral("id, session_id, session_revision, status, plan, internal, outcome, "
                                            "settlement, planned_at, applied_at, number, applied_revision");

PlanRecord planOf(const QSqlQuery &query)
{
    PlanRecord plan;
    plan.id = query.value(0).toString();
    plan.sessionId = query.value(1).toString();
    plan.sessionRevision = query.value(2).toLongLong();
    plan.status = query.value(3).toString();
    plan.plan = objectOf(query.value(4));
    plan.internal = objectOf(query.value(5));
    plan.outcome = query.value(6).toString();
    plan.settlement = objectOf(query.value(7));
    plan.plannedAt = timeOf(query.value(8));
    plan.appliedAt = timeOf(query.value(9));
    plan.number = query.value(10).toInt();
    plan.appliedRevision = query.value(11).toLongLong();
    return plan;
}

const QString kAnchorColumns = QStringLiteral(
    "id, session_id, kind, content, episode_id, token_count, token_exact, in_head, host_seq, created_at");

Anchor anchorOf(const QSqlQuery &query)
{
    Anchor anchor;
    anchor.id = query.value(0).toLongLong();
    anchor.sessionId = query.value(1).toString();
    anchor.kind = anchorKindFromName(query.value(2).toString()).value_or(AnchorKind::TaskContract);
    anchor.content = textOf(query.value(3));
    anchor.episodeId = query.value(4).toLongLong();
    anchor.tokenCount = query.value(5).toInt();
    anchor.tokenCountExact = query.value(6).toBool();
    anchor.inHead = query.value(7).toBool();
    anchor.hostSeq = query.value(8).toInt();
    anchor.createdAt = timeOf(query.value(9));
    return anchor;
}

// What only SQLite knows stands here and in open(): full text and pragmas. All else is plain SQL, for PostgreSQL later.
const char *const kSchema1[] = {
    "CREATE TABLE session (id TEXT PRIMARY KEY, title TEXT NOT NULL, revision INTEGER NOT NULL, turn INTEGER NOT NULL, "
    "config TEXT NOT NULL, "
    "state TEXT NOT NULL, server_identity TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL)",
    "CREATE TABLE episode (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL REFERENCES session(id), seq INTEGER NOT "
    "NULL, role TEXT NOT NULL, "
    "content, content_null INTEGER NOT NULL, parts TEXT NOT NULL, tool_calls TEXT NOT NULL, tool_call_id TEXT NOT "
    "NULL, tool_name TEXT NOT NULL, "
    "name TEXT NOT NULL, reasoning, is_error INTEGER NOT NULL, droppable INTEGER NOT NULL, generated BLOB, "
    "has_generated INTEGER NOT NULL, "
    "fold_id INTEGER NOT NULL, corrects_id INTEGER NOT NULL, client_ref TEXT, created_at INTEGER NOT NULL, tier TEXT "
    "NOT NULL, "
    "token_count INTEGER NOT NULL, token_exact INTEGER NOT NULL, UNIQUE (session_id, seq), UNIQUE (session_id, "
    "client_ref))",
    "CREATE TABLE deletion (session_id TEXT PRIMARY KEY)",
    "CREATE TRIGGER episode_is_append_only BEFORE UPDATE OF id, session_id, seq, role, content, content_null, parts, "
    "tool_calls, tool_call_id, tool_name, "
    "name, reasoning, is_error, generated, has_generated, client_ref, created_at ON episode BEGIN SELECT RAISE(ABORT, "
    "'an episode''s content is never changed'); END",
    "CREATE TRIGGER episode_is_never_deleted BEFORE DELETE ON episode WHEN NOT EXISTS (SELECT 1 FROM deletion WHERE "
    "session_id = OLD.session_id) "
    "BEGIN SELECT RAISE(ABORT, 'an episode is only deleted with its session'); END",
    "CREATE TABLE anchor (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL REFERENCES session(id), kind TEXT NOT NULL, "
    "content, episode_id INTEGER NOT NULL, "
    "token_count INTEGER NOT NULL, token_exact INTEGER NOT NULL, in_head INTEGER NOT NULL, host_seq INTEGER NOT NULL, "
    "created_at INTEGER NOT NULL)",
    "CREATE INDEX anchor_by_session ON anchor (session_id)",
    "CREATE TABLE plan (id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES session(id), session_revision INTEGER "
    "NOT NULL, status TEXT NOT NULL, "
    "plan TEXT NOT NULL, internal TEXT NOT NULL, outcome TEXT NOT NULL, settlement TEXT NOT NULL, planned_at INTEGER "
    "NOT NULL, applied_at INTEGER NOT NULL, "
    "number INTEGER NOT NULL, applied_revision INTEGER NOT NULL)",
    "CREATE INDEX plan_by_session ON plan (session_id, status, number)",
    "CREATE TABLE receipt (session_id TEXT NOT NULL REFERENCES session(id), turn INTEGER NOT NULL, receipt TEXT NOT "
    "NULL, created_at INTEGER NOT NULL, PRIMARY KEY (session_id, turn))",
    "CREATE TABLE provider_usage (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL REFERENCES session(id), turn "
    "INTEGER NOT NULL, payload TEXT NOT NULL, created_at INTEGER NOT NULL)",
    "CREATE INDEX usage_by_session ON provider_usage (session_id, id)",
    "CREATE TABLE token_count (tokenizer TEXT NOT NULL, text_hash BLOB NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY "
    "(tokenizer, text_hash))",
    "CREATE TABLE cache_checkpoint (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL REFERENCES session(id), kind TEXT "
    "NOT NULL, position INTEGER NOT NULL, "
    "slot_id INTEGER NOT NULL, file_name TEXT NOT NULL, prefix_hash TEXT NOT NULL, server_identity TEXT NOT NULL, "
    "size_bytes INTEGER NOT NULL, created_at INTEGER NOT NULL)",
    "CREATE INDEX checkpoint_by_session ON cache_checkpoint (session_id)",
    "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE VIRTUAL TABLE episode_text USING fts5(content, content='', tokenize='trigram')",
};

} // namespace

Database::~Database() { close(); }

void Database::close()
{
    m_queries.clear();
    if (m_db.isValid()) {
        m_db.close();
        m_db = QSqlDatabase();
        QSqlDatabase::removeDatabase(m_connection);
    }
    m_lock.reset();
}

Error Database::failed(const QString &what, const QString &driverText) const
{
    return {Error::Code::Store, QStringLiteral("store %1: %2: %3").arg(m_path, what, driverText), {}};
}

QSqlQuery *Database::prepared(const QString &sql, Error *error)
{
    if (const auto it = m_queries.constFind(sql); it != m_queries.cend())
        return it->get();
    auto query = std::make_shared<QSqlQuery>(m_db);
    query->setForwardOnly(true);
    if (!query->prepare(sql)) {
        *error = failed(QStringLiteral("a statement could not be prepared"), query->lastError().text());
        return nullptr;
    }
    return m_queries.insert(sql, query)->get();
}

Result<QSqlQuery *> Database::run(const QString &sql, const QVariantList &values)
{
    Error error;
    QSqlQuery *query = prepared(sql, &error);
    if (!query)
        return std::unexpected(error);
    for (int i = 0; i < values.size(); ++i)
        query->bindValue(i, values.at(i));
    if (!query->exec()) {
        const QString text = query->lastError().text();
        query->finish();
        return std::unexpected(failed(QStringLiteral("a statement failed"), text));
    }
    return query;
}

Result<void> Database::exec(const QString &sql)
{
    QSqlQuery query(m_db);
    if (!query.exec(sql))
        return std::unexpected(failed(sql.left(60), query.lastError().text()));
    return {};
}

template<typename T>
Result<T> Database::transaction(const std::function<Result<T>()> &work)
{
    if (auto begun = run(QStringLiteral("BEGIN IMMEDIATE"), {}); !begun)
        return std::unexpected(begun.error());
    Result<T> result = work();
    if (result) {
        if (auto committed = run(QStringLiteral("COMMIT"), {}); committed)
            return result;
        else
            result = std::unexpected(committed.error());
    }
    run(QStringLiteral("ROLLBACK"), {});
    m_marks.clear(); // what was counted ahead did not happen
    return result;
}

Result<void> Database::open(const QString &path)
{
    m_path = path;
    const bool memory = path == QLatin1String(":memory:");
    bool fresh = memory;
    if (!memory) {
        const QFileInfo info(path);
        const QString folder = info.absolutePath();
        if (!QFileInfo::exists(folder)) {
            if (!QDir().mkpath(folder))
                return std::unexpected(failed(QStringLiteral("its folder cannot be made"), folder));
            QFile::setPermissions(folder, QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
        }
        m_lock = std::make_unique<QLockFile>(info.absoluteFilePath() + QStringLiteral(".lock"));
        m_lock->setStaleLockTime(0); // a lock is stale when its process is gone, however old it is
        if (!m_lock->tryLock(100)) {
            qint64 pid = 0;
            QString host;
            QString program;
            const bool told = m_lock->getLockInfo(&pid, &host, &program);
            const QString why = m_lock->error() == QLockFile::LockFailedError && told
                ? QStringLiteral("process %1 (%2)").arg(pid).arg(program)
                : QStringLiteral("the lock file cannot be made");
            m_lock.reset();
            return std::unexpected(failed(QStringLiteral("the store is in use or its folder is read only"), why));
        }
        QFile::setPermissions(info.absoluteFilePath() + QStringLiteral(".lock"),
                              QFileDevice::ReadOwner | QFileDevice::WriteOwner);
        fresh = !info.exists() || info.size() == 0;
        if (!fresh) {
            QFile file(path);
            if (!file.open(QIODevice::ReadOnly))
                return std::unexpected(failed(QStringLiteral("cannot be read"), file.errorString()));
            const QByteArray head = file.read(100);
            // Looked at before SQLite touches it: a refused file is left as it is.
            if (!head.startsWith(QByteArray("SQLite format 3\0", 16)) || head.size() < 100)
                return std::unexpected(
                    failed(QStringLiteral("is damaged or no Kerf store; Kerf did not change the file"),
                           QStringLiteral("no SQLite header")));
            const auto version = (uchar(head.at(60)) << 24) | (uchar(head.at(61)) << 16) | (uchar(head.at(62)) << 8)
                | uchar(head.at(63));
            if (version > kSchema)
                return std::unexpected(
                    failed(QStringLiteral("was written by a newer Kerf; Kerf did not change the file"),
                           QStringLiteral("schema %1, this build knows %2").arg(version).arg(kSchema)));
        }
    }
    // Private to this user from the first byte on: -wal and -shm take the mode of the file.
    const mode_t mask = ::umask(0077);
    m_connection = QStringLiteral("kerf-") + QUuid::createUuid().toString(QUuid::WithoutBraces);
    m_db = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), m_connection);
    m_db.setDatabaseName(path);
    m_db.setConnectOptions(QStringLiteral("QSQLITE_BUSY_TIMEOUT=5000"));
    const bool opened = m_db.open();
    ::umask(mask);
    if (!opened)
        return std::unexpected(failed(QStringLiteral("cannot be opened"), m_db.lastError().text()));
    if (!fresh) {
        if (auto checked = check(); !checked)
            return checked;
    }
    for (const char *pragma : {"PRAGMA foreign_keys = ON", "PRAGMA synchronous = FULL", "PRAGMA temp_store = MEMORY"}) {
        if (auto done = exec(QString::fromLatin1(pragma)); !done)
            return done;
    }
    if (!memory) {
        QFile::setPermissions(path, QFileDevice::ReadOwner | QFileDevice::WriteOwner);
        QSqlQuery journal(m_db);
        if (!journal.exec(QStringLiteral("PRAGMA journal_mode = WAL")) || !journal.next())
            return std::unexpected(failed(QStringLiteral("journal mode"), journal.lastError().text()));
        if (journal.value(0).toString().compare(QLatin1String("wal"), Qt::CaseInsensitive) != 0)
            return std::unexpected(
                failed(QStringLiteral("journal mode"),
                       QStringLiteral("the file system gives %1 instead of WAL").arg(journal.value(0).toString())));
    }
    return migrate();
}

/// A damaged file is refused before anything is written to it.
Result<void> Database::check()
{
    QSqlQuery query(m_db);
    if (!query.exec(QStringLiteral("PRAGMA quick_check(1)")) || !query.next())
        return std::unexpected(
            failed(QStringLiteral("is damaged; Kerf did not change the file"), query.lastError().text()));
    const QString answer = query.value(0).toString();
    if (answer != QLatin1String("ok"))
        return std::unexpected(failed(QStringLiteral("is damaged; Kerf did not change the file"), answer));
    return {};
}

Result<void> Database::migrate()
{
    QSqlQuery query(m_db);
    if (!query.exec(QStringLiteral("PRAGMA user_version")) || !query.next())
        return std::unexpected(failed(QStringLiteral("schema version"), query.lastError().text()));
    const int version = query.value(0).toInt();
    query.finish();
    if (version > kSchema)
        return std::unexpected(failed(QStringLiteral("was written by a newer Kerf; Kerf did not change the file"),
                                      QStringLiteral("schema %1, this build knows %2").arg(version).arg(kSchema)));
    if (version < 1) {
        // Each step is a transaction of its own that also raises the number.
        const auto made = transaction<bool>([this]() -> Result<bool> {
            for (const char *statement : kSchema1) {
                if (auto done = exec(QString::fromLatin1(statement)); !done)
                    return std::unexpected(done.error());
            }
            if (auto done = exec(QStringLiteral("PRAGMA user_version = 1")); !done)
                return std::unexpected(done.error());
            return true;
        });
        if (!made)
            return std::unexpected(made.error());
    }
    return {};
}

Result<StoreStats> Database::count()
{
    StoreStats stats;
    stats.path = m_path;
    stats.schema = kSchema;
    auto query =
        run(QStringLiteral(
                "SELECT (SELECT COUNT(*) FROM episode), (SELECT COUNT(*) FROM session), (SELECT COUNT(*) FROM anchor)"),
            {});
    if (!query)
        return std::unexpected(query.error());
    if ((*query)->next()) {
        stats.episodes = (*query)->value(0).toLongLong();
        stats.sessions = (*query)->value(1).toLongLong();
        stats.anchors = (*query)->value(2).toLongLong();
    }
    (*query)->finish();
    stats.bytes = m_path == QLatin1String(":memory:") ? 0 : QFileInfo(m_path).size();
    return stats;
}

Result<SessionRecord> Database::createSession(const QString &id, const QString &title)
{
    return transaction<SessionRecord>([&]() -> Result<SessionRecord> {
        auto made = run(QStringLiteral("INSERT INTO session (id, title, revision, turn, config, state, "
                                       "server_identity, created_at, updated_at) "
                                       "VALUES (?, ?, 0, 0, '{}', '{}', '', ?, ?) ON CONFLICT (id) DO NOTHING"),
                        {id, textValue(title), now(), now()});
        if (!made)
            return std::unexpected(made.error());
        auto query =
            run(QStringLiteral("SELECT ") + kSessionColumns + QStringLiteral(" FROM session WHERE id = ?"), {id});
        if (!query)
            return std::unexpected(query.error());
        if (!(*query)->next())
            return std::unexpected(failed(QStringLiteral("a session that was just made is not there"), id));
        const SessionRecord record = sessionOf(**query);
        (*query)->finish();
        return record;
    });
}

Result<SessionData> Database::loadSession(const QString &id)
{
    SessionData data;
    auto query = run(QStringLiteral("SELECT ") + kSessionColumns + QStringLiteral(" FROM session WHERE id = ?"), {id});
    if (!query)
        return std::unexpected(query.error());
    if (!(*query)->next())
        return failure(Error::Code::NotFound, QStringLiteral("there is no session \"%1\"").arg(id));
    data.record = sessionOf(**query);
    (*query)->finish();
    data.episodes.reserve(data.record.episodeCount);
    query =
        run(QStringLiteral("SELECT ") + kEpisodeColumns
                + QStringLiteral(", CASE WHEN tier IN ('live', 'masked') THEN content END, CASE WHEN tier IN ('live', "
                                 "'masked') THEN reasoning END FROM episode WHERE session_id = ? ORDER BY seq"),
            {id});
    if (!query)
        return std::unexpected(query.error());
    while ((*query)->next())
        data.episodes.append(episodeOf(**query));
    (*query)->finish();
    query = run(QStringLiteral("SELECT ") + kAnchorColumns
                    + QStringLiteral(" FROM anchor WHERE session_id = ? ORDER BY id"),
                {id});
    if (!query)
        return std::unexpected(query.error());
    while ((*query)->next())
        data.anchors.append(anchorOf(**query));
    (*query)->finish();
    return data;
}

Result<QList<SessionRecord>> Database::listSessions()
{
    auto query = run(
        QStringLiteral("SELECT ") + kSessionColumns + QStringLiteral(" FROM session ORDER BY updated_at DESC, id"), {});
    if (!query)
        return std::unexpected(query.error());
    QList<SessionRecord> records;
    while ((*query)->next())
        records.append(sessionOf(**query));
    (*query)->finish();
    return records;
}

Result<void> Database::renameSession(const QString &id, const QString &title)
{
    auto query =
        run(QStringLiteral("UPDATE session SET title = ?, updated_at = ? WHERE id = ?"), {textValue(title), now(), id});
    if (!query)
        return std::unexpected(query.error());
    if ((*query)->numRowsAffected() == 0)
        return failure(Error::Code::NotFound, QStringLiteral("there is no session \"%1\"").arg(id));
    return {};
}

Result<int> Database::deleteSession(const QString &id)
{
    auto deleted = transaction<int>([&]() -> Result<int> {
        if (auto guard = run(QStringLiteral("INSERT INTO deletion (session_id) VALUES (?)"), {id}); !guard)
            return std::unexpected(guard.error());
        // The index holds no text of its own: an entry goes by the values that it was made of.
        auto texts = run(QStringLiteral("SELECT id, content FROM episode WHERE session_id = ?"), {id});
        if (!texts)
            return std::unexpected(texts.error());
        QList<std::pair<qint64, QString>> rows;
        while ((*texts)->next())
            rows.append({(*texts)->value(0).toLongLong(), textOf((*texts)->value(1))});
        (*texts)->finish();
        for (const auto &[episodeId, text] : std::as_const(rows)) {
            if (auto gone = run(
                    QStringLiteral("INSERT INTO episode_text (episode_text, rowid, content) VALUES ('delete', ?, ?)"),
                    {episodeId, text});
                !gone)
                return std::unexpected(gone.error());
        }
        for (const char *table : {"provider_usage", "receipt", "plan", "anchor", "cache_checkpoint", "episode"}) {
            if (auto gone = run(QStringLiteral("DELETE FROM %1 WHERE session_id = ?").arg(QLatin1String(table)), {id});
                !gone)
                return std::unexpected(gone.error());
        }
        auto session = run(QStringLiteral("DELETE FROM session WHERE id = ?"), {id});
        if (!session)
            return std::unexpected(session.error());
        if ((*session)->numRowsAffected() == 0)
            return failure(Error::Code::NotFound, QStringLiteral("there is no session \"%1\"").arg(id));
        if (auto guard = run(QStringLiteral("DELETE FROM deletion WHERE session_id = ?"), {id}); !guard)
            return std::unexpected(guard.error());
        return static_cast<int>(rows.size());
    });
    m_marks.remove(id);
    return deleted;
}

Result<Database::SessionMark *> Database::mark(const QString &sessionId)
{
    if (const auto it = m_marks.find(sessionId); it != m_marks.end())
        return &it.value();
    auto query = run(QStringLiteral("SELECT revision, (SELECT COALESCE(MAX(seq), 0) FROM episode WHERE session_id = "
                                    "session.id) FROM session WHERE id = ?"),
                     {sessionId});
    if (!query)
        return std::unexpected(query.error());
    if (!(*query)->next()) {
        (*query)->finish();
        return failure(Error::Code::NotFound, QStringLiteral("there is no session \"%1\"").arg(sessionId));
    }
    const SessionMark mark{(*query)->value(1).toInt(), (*query)->value(0).toLongLong()};
    (*query)->finish();
    return &m_marks.insert(sessionId, mark).value();
}

Result<qint64> Database::bump(const QString &sessionId)
{
    auto known = mark(sessionId);
    if (!known)
        return std::unexpected(known.error());
    ++(*known)->revision;
    if (auto done = run(QStringLiteral("UPDATE session SET revision = ?, updated_at = ? WHERE id = ?"),
                        {(*known)->revision, now(), sessionId});
        !done)
        return std::unexpected(done.error());
    return (*known)->revision;
}

Result<AppendedEpisode> Database::insertEpisode(Episode draft)
{
    auto known = mark(draft.sessionId);
    if (!known && known.error().code == Error::Code::NotFound) {
        if (auto made =
                run(QStringLiteral("INSERT INTO session (id, title, revision, turn, config, state, server_identity, "
                                   "created_at, updated_at) VALUES (?, '', 0, 0, '{}', '{}', '', ?, ?)"),
                    {draft.sessionId, now(), now()});
            !made)
            return std::unexpected(made.error());
        known = &m_marks.insert(draft.sessionId, SessionMark()).value();
    }
    if (!known)
        return std::unexpected(known.error());
    if (!draft.clientRef.isEmpty()) {
        auto query =
            run(QStringLiteral("SELECT ") + kEpisodeColumns
                    + QStringLiteral(", content, reasoning FROM episode WHERE session_id = ? AND client_ref = ?"),
                {draft.sessionId, draft.clientRef});
        if (!query)
            return std::unexpected(query.error());
        if ((*query)->next()) {
            AppendedEpisode there{episodeOf(**query), (*known)->revision, true};
            (*query)->finish();
            return there;
        }
        (*query)->finish();
    }
    draft.seq = (*known)->seq + 1;
    draft.createdAt = QDateTime::currentDateTimeUtc();
    auto inserted =
        run(QStringLiteral("INSERT INTO episode (session_id, seq, role, content, content_null, parts, tool_calls, "
                           "tool_call_id, tool_name, name, reasoning, is_error, droppable, "
                           "generated, has_generated, fold_id, corrects_id, client_ref, created_at, tier, "
                           "token_count, token_exact) "
                           "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
            {draft.sessionId,
             draft.seq,
             roleName(draft.role),
             textValue(draft.content),
             draft.contentIsNull ? 1 : 0,
             draft.contentParts.isEmpty() ? QStringLiteral("") : json(draft.contentParts),
             toolCallsText(draft.toolCalls),
             draft.toolCallId.isNull() ? QStringLiteral("") : draft.toolCallId,
             draft.toolName.isNull() ? QStringLiteral("") : draft.toolName,
             draft.name.isNull() ? QStringLiteral("") : draft.name,
             textValue(draft.reasoning),
             draft.isError ? 1 : 0,
             draft.droppable ? 1 : 0,
             idsBytes(draft.generatedTokens),
             draft.hasGeneratedTokens ? 1 : 0,
             draft.foldId,
             draft.correctsId,
             draft.clientRef.isEmpty() ? QVariant(QMetaType(QMetaType::QString)) : QVariant(draft.clientRef),
             draft.createdAt.toMSecsSinceEpoch(),
             tierName(draft.tier),
             draft.tokenCount,
             draft.tokenCountExact ? 1 : 0});
    if (!inserted)
        return std::unexpected(inserted.error());
    draft.id = (*inserted)->lastInsertId().toLongLong();
    if (auto indexed =
            run(QStringLiteral("INSERT INTO episode_text (rowid, content) VALUES (?, ?)"), {draft.id, draft.content});
        !indexed)
        return std::unexpected(indexed.error());
    ++(*known)->seq;
    auto revision = bump(draft.sessionId);
    if (!revision)
        return std::unexpected(revision.error());
    return AppendedEpisode{draft, *revision, false};
}

Result<AppendedEpisode> Database::appendEpisode(Episode draft)
{
    return transaction<AppendedEpisode>([&]() -> Result<AppendedEpisode> { return insertEpisode(std::move(draft)); });
}

Result<AppendedEpisode> Database::closeFold(const QString &key, const QJsonObject &fold, const QList<TierChange> &tiers,
                                            Episode summary, const QJsonObject &state)
{
    return transaction<AppendedEpisode>([&]() -> Result<AppendedEpisode> {
        if (auto done = writeTiers(tiers); !done)
            return std::unexpected(done.error());
        if (auto done =
                run(QStringLiteral("UPDATE session SET state = ? WHERE id = ?"), {json(state), summary.sessionId});
            !done)
            return std::unexpected(done.error());
        if (auto done = setValue(key, fold); !done)
            return std::unexpected(done.error());
        return insertEpisode(std::move(summary));
    });
}

Result<Episode> Database::episode(qint64 id)
{
    auto found = episodesById({id});
    if (!found)
        return std::unexpected(found.error());
    if (found->isEmpty())
        return failure(Error::Code::NotFound, QStringLiteral("there is no episode %1").arg(id));
    return found->constFirst();
}

Result<QList<Episode>> Database::episodesById(const QList<qint64> &ids)
{
    QList<Episode> episodes;
    for (const qint64 id : ids) {
        auto query = run(QStringLiteral("SELECT ") + kEpisodeColumns
                             + QStringLiteral(", content, reasoning FROM episode WHERE id = ?"),
                         {id});
        if (!query)
            return std::unexpected(query.error());
        if ((*query)->next())
            episodes.append(episodeOf(**query));
        (*query)->finish();
    }
    return episodes;
}

Result<QList<Episode>> Database::episodesFrom(const QString &sessionId, int fromSeq, int limit, bool withContent)
{
    auto query = run(QStringLiteral("SELECT ") + kEpisodeColumns
                         + (withContent ? QStringLiteral(", content, reasoning") : QStringLiteral(", NULL, NULL"))
                         + QStringLiteral(" FROM episode WHERE session_id = ? AND seq >= ? ORDER BY seq LIMIT ?"),
                     {sessionId, fromSeq, limit});
    if (!query)
        return std::unexpected(query.error());
    QList<Episode> episodes;
    while ((*query)->next())
        episodes.append(episodeOf(**query));
    (*query)->finish();
    return episodes;
}

Result<qint64> Database::saveConfig(const QString &sessionId, const SessionConfig &config)
{
    return transaction<qint64>([&]() -> Result<qint64> {
        if (auto done = run(QStringLiteral("UPDATE session SET config = ? WHERE id = ?"),
                            {json(configJson(config)), sessionId});
            !done)
            return std::unexpected(done.error());
        return bump(sessionId);
    });
}

Result<void> Database::saveState(const QString &sessionId, const QJsonObject &state, const QString &serverIdentity,
                                 int turn)
{
    auto done =
        run(QStringLiteral("UPDATE session SET state = ?, server_identity = ?, turn = ?, updated_at = ? WHERE id = ?"),
            {json(state), serverIdentity.isNull() ? QStringLiteral("") : serverIdentity, turn, now(), sessionId});
    if (!done)
        return std::unexpected(done.error());
    return {};
}

Result<std::pair<Anchor, qint64>> Database::addAnchor(Anchor anchor)
{
    return transaction<std::pair<Anchor, qint64>>([&]() -> Result<std::pair<Anchor, qint64>> {
        anchor.createdAt = QDateTime::currentDateTimeUtc();
        auto made =
            run(QStringLiteral("INSERT INTO anchor (session_id, kind, content, episode_id, token_count, token_exact, "
                               "in_head, host_seq, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
                {anchor.sessionId, anchorKindName(anchor.kind), textValue(anchor.content), anchor.episodeId,
                 anchor.tokenCount, anchor.tokenCountExact ? 1 : 0, anchor.inHead ? 1 : 0, anchor.hostSeq,
                 anchor.createdAt.toMSecsSinceEpoch()});
        if (!made)
            return std::unexpected(made.error());
        anchor.id = (*made)->lastInsertId().toLongLong();
        auto revision = bump(anchor.sessionId);
        if (!revision)
            return std::unexpected(revision.error());
        return std::pair{anchor, *revision};
    });
}

Result<std::pair<Anchor, qint64>> Database::removeAnchor(qint64 anchorId)
{
    return transaction<std::pair<Anchor, qint64>>([&]() -> Result<std::pair<Anchor, qint64>> {
        auto query =
            run(QStringLiteral("SELECT ") + kAnchorColumns + QStringLiteral(" FROM anchor WHERE id = ?"), {anchorId});
        if (!query)
            return std::unexpected(query.error());
        if (!(*query)->next()) {
            (*query)->finish();
            return failure(Error::Code::NotFound, QStringLiteral("there is no anchor %1").arg(anchorId));
        }
        const Anchor anchor = anchorOf(**query);
        (*query)->finish();
        if (auto gone = run(QStringLiteral("DELETE FROM anchor WHERE id = ?"), {anchorId}); !gone)
            return std::unexpected(gone.error());
        auto revision = bump(anchor.sessionId);
        if (!revision)
            return std::unexpected(revision.error());
        return std::pair{anchor, *revision};
    });
}

Result<void> Database::writeAnchors(const QList<Anchor> &anchors)
{
    for (const Anchor &anchor : anchors) {
        if (auto done = run(
                QStringLiteral(
                    "UPDATE anchor SET token_count = ?, token_exact = ?, in_head = ?, host_seq = ? WHERE id = ?"),
                {anchor.tokenCount, anchor.tokenCountExact ? 1 : 0, anchor.inHead ? 1 : 0, anchor.hostSeq, anchor.id});
            !done)
            return std::unexpected(done.error());
    }
    return {};
}

Result<void> Database::updateAnchors(const QList<Anchor> &anchors)
{
    auto done = transaction<bool>([&]() -> Result<bool> {
        if (auto written = writeAnchors(anchors); !written)
            return std::unexpected(written.error());
        return true;
    });
    if (!done)
        return std::unexpected(done.error());
    return {};
}

Result<void> Database::savePlan(const PlanRecord &plan)
{
    auto done = run(
        QStringLiteral("INSERT INTO plan (id, session_id, session_revision, status, plan, internal, outcome, "
                       "settlement, planned_at, applied_at, number, applied_revision) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET status = "
                       "excluded.status, plan = excluded.plan, internal = excluded.internal, "
                       "outcome = excluded.outcome, settlement = excluded.settlement, applied_at = "
                       "excluded.applied_at, number = excluded.number, applied_revision = excluded.applied_revision"),
        {plan.id, plan.sessionId, plan.sessionRevision, plan.status, json(plan.plan), json(plan.internal),
         plan.outcome.isNull() ? QStringLiteral("") : plan.outcome, json(plan.settlement),
         plan.plannedAt.toMSecsSinceEpoch(), plan.appliedAt.isValid() ? plan.appliedAt.toMSecsSinceEpoch() : 0,
         plan.number, plan.appliedRevision});
    if (!done)
        return std::unexpected(done.error());
    return {};
}

Result<PlanRecord> Database::plan(const QString &id)
{
    auto query = run(QStringLiteral("SELECT ") + kPlanColumns + QStringLiteral(" FROM plan WHERE id = ?"), {id});
    if (!query)
        return std::unexpected(query.error());
    if (!(*query)->next()) {
        (*query)->finish();
        return failure(Error::Code::NotFound, QStringLiteral("there is no plan \"%1\"").arg(id));
    }
    const PlanRecord plan = planOf(**query);
    (*query)->finish();
    return plan;
}

Result<void> Database::writeTiers(const QList<TierChange> &tiers)
{
    for (const TierChange &change : tiers) {
        if (auto done = run(QStringLiteral("UPDATE episode SET tier = ? WHERE id = ?"),
                            {tierName(change.tier), change.episodeId});
            !done)
            return std::unexpected(done.error());
    }
    return {};
}

Result<PlanRecord> Database::applyPlan(PlanRecord plan, const QList<TierChange> &tiers, const QJsonObject &state,
                                       const QList<Anchor> &anchors)
{
    return transaction<PlanRecord>([&]() -> Result<PlanRecord> {
        if (auto done = writeTiers(tiers); !done)
            return std::unexpected(done.error());
        if (auto done = writeAnchors(anchors); !done)
            return std::unexpected(done.error());
        if (auto done = run(QStringLiteral("UPDATE session SET state = ? WHERE id = ?"), {json(state), plan.sessionId});
            !done)
            return std::unexpected(done.error());
        auto number =
            run(QStringLiteral("SELECT COALESCE(MAX(number), 0) + 1 FROM plan WHERE session_id = ?"), {plan.sessionId});
        if (!number)
            return std::unexpected(number.error());
        (*number)->next();
        plan.number = (*number)->value(0).toInt();
        (*number)->finish();
        auto revision = bump(plan.sessionId);
        if (!revision)
            return std::unexpected(revision.error());
        plan.appliedRevision = *revision;
        if (auto done = savePlan(plan); !done)
            return std::unexpected(done.error());
        return plan;
    });
}

Result<qint64> Database::undoPlan(const QString &planId, const QList<TierChange> &tiers, const QJsonObject &state,
                                  const QList<Anchor> &anchors)
{
    return transaction<qint64>([&]() -> Result<qint64> {
        auto record = plan(planId);
        if (!record)
            return std::unexpected(record.error());
        if (auto done = writeTiers(tiers); !done)
            return std::unexpected(done.error());
        if (auto done = writeAnchors(anchors); !done)
            return std::unexpected(done.error());
        if (auto done =
                run(QStringLiteral("UPDATE session SET state = ? WHERE id = ?"), {json(state), record->sessionId});
            !done)
            return std::unexpected(done.error());
        if (auto done = run(QStringLiteral("UPDATE plan SET status = 'undone' WHERE id = ?"), {planId}); !done)
            return std::unexpected(done.error());
        return bump(record->sessionId);
    });
}

Result<QList<PlanRecord>> Database::appliedPlans(const QString &sessionId, int limit)
{
    auto query =
        run(QStringLiteral("SELECT ") + kPlanColumns
                + QStringLiteral(" FROM plan WHERE session_id = ? AND status = 'applied' ORDER BY number DESC LIMIT ?"),
            {sessionId, limit > 0 ? limit : -1});
    if (!query)
        return std::unexpected(query.error());
    QList<PlanRecord> plans;
    while ((*query)->next())
        plans.append(planOf(**query));
    (*query)->finish();
    return plans;
}

Result<void> Database::settlePlan(const QString &planId, const QString &outcome, const QJsonObject &settlement)
{
    auto done = run(QStringLiteral("UPDATE plan SET outcome = ?, settlement = ? WHERE id = ?"),
                    {outcome, json(settlement), planId});
    if (!done)
        return std::unexpected(done.error());
    return {};
}

Result<void> Database::saveReceipt(const QString &sessionId, int turn, const QJsonObject &receipt)
{
    auto done = run(QStringLiteral("INSERT INTO receipt (session_id, turn, receipt, created_at) VALUES (?, ?, ?, ?) ON "
                                   "CONFLICT (session_id, turn) DO UPDATE SET receipt = excluded.receipt"),
                    {sessionId, turn, json(receipt), now()});
    if (!done)
        return std::unexpected(done.error());
    return {};
}

Result<QJsonObject> Database::receipt(const QString &sessionId, int turn)
{
    auto query = turn > 0
        ? run(QStringLiteral("SELECT receipt FROM receipt WHERE session_id = ? AND turn = ?"), {sessionId, turn})
        : run(QStringLiteral("SELECT receipt FROM receipt WHERE session_id = ? ORDER BY turn DESC LIMIT 1"),
              {sessionId});
    if (!query)
        return std::unexpected(query.error());
    if (!(*query)->next()) {
        (*query)->finish();
        return failure(Error::Code::NotFound, QStringLiteral("session \"%1\" has no such receipt").arg(sessionId));
    }
    const QJsonObject receipt = objectOf((*query)->value(0));
    (*query)->finish();
    return receipt;
}

Result<void> Database::saveUsage(const QString &sessionId, int turn, const QJsonObject &usage)
{
    auto done =
        run(QStringLiteral("INSERT INTO provider_usage (session_id, turn, payload, created_at) VALUES (?, ?, ?, ?)"),
            {sessionId, turn, json(usage), now()});
    if (!done)
        return std::unexpected(done.error());
    return {};
}

Result<QList<QJsonObject>> Database::usages(const QString &sessionId, int limit)
{
    auto query = run(QStringLiteral("SELECT payload FROM provider_usage WHERE session_id = ? ORDER BY id DESC LIMIT ?"),
                     {sessionId, limit > 0 ? limit : -1});
    if (!query)
        return std::unexpected(query.error());
    QList<QJsonObject> rows;
    while ((*query)->next())
        rows.append(objectOf((*query)->value(0)));
    (*query)->finish();
    return rows;
}

Result<std::optional<int>> Database::tokenCount(const QString &tokenizer, const QByteArray &hash)
{
    auto query =
        run(QStringLiteral("SELECT tokens FROM token_count WHERE tokenizer = ? AND text_hash = ?"), {tokenizer, hash});
    if (!query)
        return std::unexpected(query.error());
    std::optional<int> count;
    if ((*query)->next())
        count = (*query)->value(0).toInt();
    (*query)->finish();
    return count;
}

Result<void> Database::saveTokenCount(const QString &tokenizer, const QByteArray &hash, int count)
{
    auto done = run(QStringLiteral("INSERT INTO token_count (tokenizer, text_hash, tokens) VALUES (?, ?, ?) ON "
                                   "CONFLICT (tokenizer, text_hash) DO UPDATE SET tokens = excluded.tokens"),
                    {tokenizer, hash, count});
    if (!done)
        return std::unexpected(done.error());
    return {};
}

Result<void> Database::saveEpisodeCount(qint64 episodeId, int count, bool exact)
{
    auto done = run(QStringLiteral("UPDATE episode SET token_count = ?, token_exact = ? WHERE id = ?"),
                    {count, exact ? 1 : 0, episodeId});
    if (!done)
        return std::unexpected(done.error());
    return {};
}

Result<qint64> Database::saveCheckpoint(const QString &sessionId, const Checkpoint &checkpoint)
{
    auto done =
        run(QStringLiteral("INSERT INTO cache_checkpoint (session_id, kind, position, slot_id, file_name, prefix_hash, "
                           "server_identity, size_bytes, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
            {sessionId, checkpointKindName(checkpoint.kind), checkpoint.position, checkpoint.slotId,
             checkpoint.fileName.isNull() ? QStringLiteral("") : checkpoint.fileName,
             QString::number(checkpoint.prefixHash),
             checkpoint.serverIdentity.isNull() ? QStringLiteral("") : checkpoint.serverIdentity, checkpoint.sizeBytes,
             now()});
    if (!done)
        return std::unexpected(done.error());
    return (*done)->lastInsertId().toLongLong();
}

Result<QList<Checkpoint>> Database::checkpoints(const QString &sessionId)
{
    auto query = run(QStringLiteral("SELECT id, kind, position, slot_id, file_name, prefix_hash, server_identity, "
                                    "size_bytes, created_at FROM cache_checkpoint WHERE session_id = ? ORDER BY id"),
                     {sessionId});
    if (!query)
        return std::unexpected(query.error());
    QList<Checkpoint> rows;
    while ((*query)->next()) {
        Checkpoint checkpoint;
        checkpoint.recordId = (*query)->value(0).toLongLong();
        checkpoint.kind = checkpointKindFromName((*query)->value(1).toString()).value_or(CheckpointKind::SlotSaveFile);
        checkpoint.position = (*query)->value(2).toInt();
        checkpoint.slotId = (*query)->value(3).toInt();
        checkpoint.fileName = (*query)->value(4).toString();
        checkpoint.prefixHash = (*query)->value(5).toString().toULongLong();
        checkpoint.serverIdentity = (*query)->value(6).toString();
        checkpoint.sizeBytes = (*query)->value(7).toLongLong();
        checkpoint.createdAt = timeOf((*query)->value(8));
        rows.append(checkpoint);
    }
    (*query)->finish();
    return rows;
}

Result<void> Database::deleteCheckpoint(qint64 recordId)
{
    auto done = run(QStringLiteral("DELETE FROM cache_checkpoint WHERE id = ?"), {recordId});
    if (!done)
        return std::unexpected(done.error());
    return {};
}

Result<QList<RecallHit>> Database::recall(const QString &text, int k, const QString &sessionId, bool includeFolded)
{
    // Words of three characters and more go to the trigram index, quoted: a query is never read as FTS syntax.
    QStringList phrases;
    QStringList shortWords;
    const QStringList words = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    for (const QString &word : words) {
        if (word.toUcs4().size() >= 3)
            phrases.append(QLatin1Char('"') + QString(word).replace(QLatin1Char('"'), QStringLiteral("\"\""))
                           + QLatin1Char('"'));
        else
            shortWords.append(word);
    }
    const QString tiers = includeFolded ? QString() : QStringLiteral(" AND e.tier IN ('live', 'masked', 'referenced')");
    QString columns =
        QStringLiteral("e.id, e.role, e.content, e.tier, e.seq, e.token_count, e.token_exact, e.session_id");
    Result<QSqlQuery *> query = nullptr;
    if (!phrases.isEmpty()) {
        query = run(QStringLiteral("SELECT ") + columns
                        + QStringLiteral(", -bm25(episode_text) AS score FROM episode_text JOIN episode e ON e.id = "
                                         "episode_text.rowid WHERE episode_text MATCH ? AND e.session_id = ?")
                        + tiers + QStringLiteral(" ORDER BY score DESC, e.seq DESC LIMIT ?"),
                    {phrases.join(QStringLiteral(" OR ")), sessionId, k});
    } else {
        QString pattern = shortWords.isEmpty() ? text : shortWords.join(QLatin1Char(' '));
        pattern.replace(QLatin1Char('\\'), QStringLiteral("\\\\"))
            .replace(QLatin1Char('%'), QStringLiteral("\\%"))
            .replace(QLatin1Char('_'), QStringLiteral("\\_"));
        query = run(QStringLiteral("SELECT ") + columns
                        + QStringLiteral(
                            ", 0.0 AS score FROM episode e WHERE e.session_id = ? AND e.content LIKE ? ESCAPE '\\'")
                        + tiers + QStringLiteral(" ORDER BY e.seq DESC LIMIT ?"),
                    {sessionId, QString(QLatin1Char('%') + pattern + QLatin1Char('%')), k});
    }
    if (!query)
        return std::unexpected(query.error());
    QList<RecallHit> hits;
    while ((*query)->next()) {
        RecallHit hit;
        hit.id = (*query)->value(0).toLongLong();
        hit.kind = (*query)->value(1).toString();
        hit.text = textOf((*query)->value(2));
        hit.tier = tierFromName((*query)->value(3).toString()).value_or(Tier::Live);
        hit.seq = (*query)->value(4).toInt();
        hit.tokenCount = (*query)->value(5).toInt();
        hit.tokenCountExact = (*query)->value(6).toBool();
        hit.sessionId = (*query)->value(7).toString();
        hit.score = (*query)->value(8).toDouble();
        hits.append(hit);
    }
    (*query)->finish();
    return hits;
}

Result<QJsonObject> Database::value(const QString &key)
{
    auto query = run(QStringLiteral("SELECT value FROM setting WHERE name = ?"), {key});
    if (!query)
        return std::unexpected(query.error());
    QJsonObject object;
    if ((*query)->next())
        object = objectOf((*query)->value(0));
    (*query)->finish();
    return object;
}

Result<void> Database::setValue(const QString &key, const QJsonObject &value)
{
    auto done = run(
        QStringLiteral(
            "INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"),
        {key, json(value)});
    if (!done)
        return std::unexpected(done.error());
    return {};
}

Result<QList<std::pair<QString, QJsonObject>>> Database::valuesWithPrefix(const QString &prefix)
{
    QString pattern = prefix;
    pattern.replace(QLatin1Char('\\'), QStringLiteral("\\\\"))
        .replace(QLatin1Char('%'), QStringLiteral("\\%"))
        .replace(QLatin1Char('_'), QStringLiteral("\\_"));
    auto query = run(QStringLiteral("SELECT name, value FROM setting WHERE name LIKE ? ESCAPE '\\' ORDER BY name"),
                     {QString(pattern + QLatin1Char('%'))});
    if (!query)
        return std::unexpected(query.error());
    QList<std::pair<QString, QJsonObject>> rows;
    while ((*query)->next())
        rows.append({(*query)->value(0).toString(), objectOf((*query)->value(1))});
    (*query)->finish();
    return rows;
}

} // namespace kerf
