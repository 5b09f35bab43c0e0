/* store/sqlite.c: SQLite as a driver: connections and transactions. Threads of this process take
 * turns to write (sqlite_file.c); other processes are waited for in the busy handler. */
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "store/wake.h"

/* ---- failures ---- */

alk_status alk__sqlite_fail(const struct alk__session *session, int code, alk_error *error) {
    int extended = session->handle == NULL ? code : sqlite3_extended_errcode(session->handle);
    char number[ALK_ERROR_CODE_BYTES];

    if ((extended & 0xFF) != (code & 0xFF))
        extended = code;
    alk_status status = alk__code_status_sqlite(extended);
    bool has_words =
        session->handle != NULL && (sqlite3_errcode(session->handle) & 0xFF) == (code & 0xFF);
    alk__fail(
        error, status, "sqlite: %s (%d)%s",
        has_words ? sqlite3_errmsg(session->handle) : sqlite3_errstr(code), extended,
        extended == SQLITE_BUSY_SNAPSHOT
            ? "; others wrote since this transaction first read: start it with BEGIN IMMEDIATE"
            : "");
    snprintf(number, sizeof(number), "%d", extended);
    alk__error_set_code(error, number);
    return status;
}

/* ---- waiting for locks ---- */

void alk__sqlite_start_wait(struct alk__session *session) {
    int64_t ends_us = alk__add_us(alk__monotonic_us(), session->settings->busy_timeout_us);

    session->wait_ends_us = ends_us < session->deadline_us ? ends_us : session->deadline_us;
}

/* Short steps: another process's transaction takes a millisecond, and SQLite has no queue. */
static int wait_a_little(void *context, int count) {
    const struct alk__session *session = context;
    int64_t left_us = session->wait_ends_us - alk__monotonic_us();
    int64_t step_us = count < 5 ? ALK__MS / 2 : count < 50 ? 2 * ALK__MS : 10 * ALK__MS;

    if (left_us <= 0)
        return 0;
    if (step_us > left_us)
        step_us = left_us;
    struct timespec step = {.tv_nsec = (long)(step_us * 1000)};
    nanosleep(&step, NULL);
    return 1;
}

static alk_status take_turn(struct alk__session *session, alk_error *error) {
    int64_t left_us = session->wait_ends_us - alk__monotonic_us();

    if (session->has_turn)
        return ALK_OK;
    if (alk__turns_take(&session->file->writer, left_us > 0 ? left_us : 0) == ALK__TURN_GOT) {
        session->has_turn = true;
        return ALK_OK;
    }
    alk__fail(error, ALK_AGAIN, "sqlite: another thread of this process holds the write lock (%d)",
              SQLITE_BUSY);
    alk__error_set_code(error, "5");
    return ALK_AGAIN;
}

static void give_turn(struct alk__session *session) {
    if (session->has_turn)
        alk__turns_give(&session->file->writer);
    session->has_turn = false;
}

/* ---- connecting ---- */

static alk_status execute(struct alk__session *session, const char *sql, alk_error *error) {
    alk__sqlite_start_wait(session);
    int code = sqlite3_exec(session->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? ALK_OK : alk__sqlite_fail(session, code, error);
}

/* The one value of a query as text, "" for none. */
static alk_status query_text(struct alk__session *session, const char *sql, char *text, size_t size,
                             alk_error *error) {
    sqlite3_stmt *statement = NULL;

    alk__sqlite_start_wait(session);
    int code = sqlite3_prepare_v2(session->handle, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    text[0] = '\0';
    if (code == SQLITE_ROW) {
        const unsigned char *value = sqlite3_column_text(statement, 0);
        snprintf(text, size, "%s", value == NULL ? "" : (const char *)value);
    }
    alk_status status =
        code == SQLITE_ROW || code == SQLITE_DONE ? ALK_OK : alk__sqlite_fail(session, code, error);
    sqlite3_finalize(statement);
    return status;
}

/* Two processes that open one new file at the same moment: whoever comes second gets BUSY at once,
 * whatever the busy handler says, and tries again (S3). */
static alk_status switch_to_wal(struct alk__session *session, alk_error *error) {
    char mode[16];
    alk_status status;

    alk__sqlite_start_wait(session);
    int64_t ends_us = session->wait_ends_us;
    for (int count = 0;; count++) {
        status = query_text(session, "PRAGMA journal_mode = WAL", mode, sizeof(mode), error);
        session->wait_ends_us = ends_us;
        if (status != ALK_AGAIN || !wait_a_little(session, count))
            break;
    }
    if (status >= 0 && strcmp(mode, "wal") != 0)
        return alk__fail(error, ALK_FAILED, "sqlite: the journal mode stays '%s', WAL is needed",
                         mode);
    return status;
}

/* A file that is only to be looked at (S2) and has no store in it is left as it is: no WAL for
 * other people's databases. */
static alk_status check_is_store(struct alk__session *session, alk_error *error) {
    char name[16];
    alk_status status;

    if (!session->settings->must_exist && !session->settings->skip_migrate)
        return ALK_OK;
    status = query_text(session, "SELECT name FROM sqlite_schema WHERE name = 'alk_meta'", name,
                        sizeof(name), error);
    if (status < 0 || name[0] != '\0')
        return status;
    return alk__fail(error, ALK_NO_STORE, "no store at '%s' (alk init makes one)",
                     session->settings->masked);
}

static alk_status set_up(struct alk__session *session, alk_error *error) {
    const struct alk__settings *settings = session->settings;
    alk_status status;

    sqlite3_busy_handler(session->handle, wait_a_little, session);
    if (settings->is_memory)
        return execute(session, "PRAGMA journal_mode = MEMORY", error);
    if (sqlite3_db_readonly(session->handle, "main") == 1) {
        alk__fail(error, ALK_FAILED, "sqlite: '%s' is read-only (%d)", settings->target,
                  SQLITE_READONLY);
        alk__error_set_code(error, "8");
        return ALK_FAILED;
    }
    status = check_is_store(session, error);
    if (status >= 0)
        status = switch_to_wal(session, error);
    if (status >= 0) /* what a savepoint may have to undo: else it goes through a temporary file */
        status = execute(session, "PRAGMA temp_store = MEMORY", error);
    if (status >= 0)
        status =
            execute(session,
                    settings->durability == ALK_DURABILITY_FULL ? "PRAGMA synchronous = FULL"
                                                                : "PRAGMA synchronous = NORMAL",
                    error);
    return status;
}

/* SQLite has tried to read as well, so of a file that cannot be made it knows only that it is not
 * there. */
static bool is_forbidden(const struct alk__session *session, const char *folder) {
    int reason = sqlite3_system_errno(session->handle);

    return reason == EACCES ||
           (reason == ENOENT && faccessat(AT_FDCWD, folder, W_OK, AT_EACCESS) != 0 &&
            errno == EACCES);
}

/* SQLite says "unable to open database file" for whatever is in the way. */
static alk_status cannot_open(const struct alk__session *session, int code, alk_error *error) {
    const struct alk__settings *settings = session->settings;
    const char *slash = strrchr(settings->target, '/');
    size_t length =
        slash == NULL || slash == settings->target ? 1 : (size_t)(slash - settings->target);
    struct alk__arena arena = {0};
    const char *folder = alk__arena_copy(&arena, slash == NULL ? "." : settings->target, length);
    struct stat found;
    alk_status status;

    if (folder == NULL)
        status = alk__nomem(error);
    else if (stat(folder, &found) != 0 && errno == ENOENT)
        status = alk__fail(error, ALK_NO_STORE, "no folder '%s' for the store '%s'", folder,
                           settings->target);
    else if (stat(settings->target, &found) != 0 && errno == ENOENT &&
             (settings->must_exist || settings->skip_migrate))
        status = alk__fail(error, ALK_NO_STORE, "no store at '%s' (alk init makes one)",
                           settings->masked);
    else if (stat(settings->target, &found) == 0 && S_ISDIR(found.st_mode))
        status = alk__fail(error, ALK_FAILED, "'%s' is a folder", settings->target);
    else if (is_forbidden(session, folder)) {
        alk__fail(error, ALK_FAILED, "open '%s': %s (%d)", settings->target,
                  alk__reason_of(EACCES).text, SQLITE_CANTOPEN);
        status = ALK_FAILED;
        alk__error_set_code(error, "14");
    } else {
        status = alk__sqlite_fail(session, code, error);
        status = alk__wrap(error, status, "open '%s'", settings->target);
    }
    alk__arena_free(&arena);
    return status;
}

static int open_handle(struct alk__session *session) {
    const struct alk__settings *settings = session->settings;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    char name[64];

    if (settings->is_memory) {
        snprintf(name, sizeof(name), "file:/alkstore-%llx?vfs=memdb",
                 (unsigned long long)(uintptr_t)settings);
        return sqlite3_open_v2(name, &session->handle, flags | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                               NULL);
    }
    if (!settings->must_exist && !settings->skip_migrate)
        flags |= SQLITE_OPEN_CREATE;
    return sqlite3_open_v2(settings->target, &session->handle, flags, NULL);
}

alk_status alk__sqlite_connect(struct alk__session *session, alk_error *error) {
    const struct alk__settings *settings = session->settings;
    alk_status status = ALK_OK;

    if (!settings->is_memory)
        status = alk__sqlite_file_check(settings->target, error);
    if (status < 0)
        return status;
    int code = open_handle(session);
    if (code != SQLITE_OK) {
        status = cannot_open(session, code, error);
    } else {
        status = set_up(session, error);
        if (status < 0 && status != ALK_NO_STORE)
            status = alk__wrap(error, status, "open '%s'", settings->target);
    }
    if (status < 0) {
        sqlite3_close(session->handle);
        session->handle = NULL;
    }
    return status;
}

static alk_status new_session(const struct alk__settings *settings,
                              struct alk__session **ret_session, alk_error *error) {
    struct alk__session *session = alk__alloc(sizeof(*session));

    if (session == NULL)
        return alk__nomem(error);
    *session = (struct alk__session){.settings = settings, .deadline_us = INT64_MAX};
    snprintf(session->version, sizeof(session->version), "SQLite %s", sqlite3_libversion());
    *ret_session = session;
    return ALK_OK;
}

static void close_session(struct alk__session *session) {
    alk__sqlite_finalize_all(session);
    if (!session->is_joined)
        sqlite3_close(session->handle);
    give_turn(session);
    alk__sqlite_file_release(session->file);
    alk__free(session);
}

static alk_status open_session(const struct alk__settings *settings,
                               struct alk__session **ret_session, alk_error *error) {
    struct alk__session *session;
    alk_status status = new_session(settings, &session, error);

    if (status < 0)
        return status;
    status = alk__sqlite_connect(session, error);
    if (status >= 0)
        status = alk__sqlite_file_use(settings, &session->file, error);
    if (status < 0) {
        close_session(session);
        return status;
    }
    *ret_session = session;
    return ALK_OK;
}

/* ---- joining ---- */

/* The host's handle is asked, and nothing is set on it (S31b). */
static alk_status check_joined(struct alk__session *session, alk_error *error) {
    const char *path = sqlite3_db_filename(session->handle, "main");
    struct stat found;
    char mode[16];

    if (session->file->device == 0 || path == NULL || stat(path, &found) != 0 ||
        found.st_dev != session->file->device || found.st_ino != session->file->inode)
        return alk__fail(error, ALK_USAGE, "the handle's file '%s' is not the store's '%s'",
                         path == NULL ? "" : path, session->settings->masked);
    alk_status status = query_text(session, "PRAGMA main.journal_mode", mode, sizeof(mode), error);
    if (status < 0)
        return status;
    if (strcmp(mode, "wal") != 0)
        return alk__fail(error, ALK_USAGE, "the handle's journal mode is '%s', not 'wal'", mode);
    return ALK_OK;
}

static alk_status join_session(const struct alk__settings *settings, void *handle,
                               struct alk__session **ret_session, alk_error *error) {
    struct alk__session *session;
    alk_status status = new_session(settings, &session, error);

    if (status < 0)
        return status;
    session->handle = handle;
    session->is_joined = true;
    status = alk__sqlite_file_use(settings, &session->file, error);
    if (status >= 0)
        status = check_joined(session, error);
    if (status < 0) {
        close_session(session);
        return status;
    }
    *ret_session = session;
    return ALK_OK;
}

/* ---- transactions ---- */

static bool is_in_tx(struct alk__session *session) {
    return sqlite3_get_autocommit(session->handle) == 0;
}

static alk_status begin(struct alk__session *session, const struct alk__tx_limits *limits,
                        alk_error *error) {
    (void)limits;
    alk__sqlite_start_wait(session);
    int64_t ends_us = session->wait_ends_us;
    alk_status status = take_turn(session, error);

    if (status < 0)
        return status;
    session->wait_ends_us = ends_us;
    int code = sqlite3_exec(session->handle, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        return ALK_OK;
    status = alk__sqlite_fail(session, code, error);
    give_turn(session);
    return status;
}

static alk_status commit(struct alk__session *session, alk_error *error) {
    alk_status status = execute(session, "COMMIT", error);

    if (!is_in_tx(session))
        give_turn(session);
    return status;
}

static alk_status rollback(struct alk__session *session, alk_error *error) {
    alk_status status = is_in_tx(session) ? execute(session, "ROLLBACK", error) : ALK_OK;

    if (status < 0)
        session->is_broken = !session->is_joined && !session->settings->is_memory;
    give_turn(session);
    return status;
}

static alk_status script(struct alk__session *session, const char *sql, alk_error *error) {
    return execute(session, sql, error);
}

static bool is_broken(struct alk__session *session) {
    return session->is_broken;
}

/* The file may have been replaced since: then this connection writes where nobody reads. */
static bool is_alive(struct alk__session *session) {
    struct stat found;

    if (session->settings->is_memory)
        return true;
    return stat(session->settings->target, &found) == 0 && found.st_dev == session->file->device &&
           found.st_ino == session->file->inode;
}

static void set_deadline(struct alk__session *session, int64_t monotonic_us) {
    session->deadline_us = monotonic_us;
}

static const char *version(struct alk__session *session) {
    return session->version;
}

const struct alk__driver alk__driver_sqlite = {
    .name = "sqlite",
    .engine = ALK_ENGINE_SQLITE,
    .wake = &alk__wake_sqlite,
    .open = open_session,
    .join = join_session,
    .close = close_session,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .control = script,
    .run = alk__sqlite_run,
    .script = script,
    .is_in_tx = is_in_tx,
    .is_broken = is_broken,
    .is_alive = is_alive,
    .set_deadline = set_deadline,
    .version = version,
};
