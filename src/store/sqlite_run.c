/* store/sqlite_run.c: runs statements of the table on a SQLite handle: prepared once a connection,
 * bound, stepped. */
#include <string.h>

#include "base/error.h"
#include "store/sqlite.h"

#define COLUMNS_MAX 64

/* ---- preparing ---- */

static void finalize(struct alk__sqlite_statement *statement) {
    for (size_t i = 0; i < statement->count; i++)
        sqlite3_finalize(statement->pieces[i]);
    alk__free(statement->pieces);
    *statement = (struct alk__sqlite_statement){0};
}

void alk__sqlite_finalize_all(struct alk__session *session) {
    for (size_t i = 0; i < ALK__STATEMENT_COUNT; i++)
        finalize(&session->statements[i]);
}

static bool add_piece(struct alk__sqlite_statement *statement, sqlite3_stmt *piece) {
    sqlite3_stmt **pieces =
        alk__realloc(statement->pieces, (statement->count + 1) * sizeof(*pieces));

    if (pieces == NULL)
        return false;
    pieces[statement->count++] = piece;
    statement->pieces = pieces;
    return true;
}

static alk_status prepare_pieces(struct alk__session *session,
                                 struct alk__sqlite_statement *statement, const char *text,
                                 alk_error *error) {
    while (*text != '\0') {
        sqlite3_stmt *piece = NULL;
        int code =
            sqlite3_prepare_v3(session->handle, text, -1, SQLITE_PREPARE_PERSISTENT, &piece, &text);
        if (code != SQLITE_OK)
            return alk__sqlite_fail(session, code, error);
        if (piece != NULL && !add_piece(statement, piece)) {
            sqlite3_finalize(piece);
            return alk__nomem(error);
        }
    }
    return ALK_OK;
}

static alk_status prepare(struct alk__session *session, enum alk__statement id,
                          struct alk__sqlite_statement **ret_statement, alk_error *error) {
    struct alk__sqlite_statement *statement = &session->statements[id];
    const char *text = session->settings->statements[id];
    alk_status status = ALK_OK;

    if (text == NULL)
        return alk__fail(error, ALK_USAGE, "statement '%s' is not for SQLite",
                         alk__statements[id].name);
    if (statement->count == 0)
        status = prepare_pieces(session, statement, text, error);
    if (status < 0)
        finalize(statement);
    *ret_statement = statement;
    return status;
}

/* ---- binding ---- */

static bool is_array(const struct alk__value *value) {
    return value->type >= 'A' && value->type <= 'Z';
}

static int bind_text(sqlite3_stmt *piece, int index, struct alk__text text) {
    if (text.bytes == NULL)
        return sqlite3_bind_null(piece, index);
    return sqlite3_bind_text64(piece, index, text.bytes, text.length, SQLITE_STATIC, SQLITE_UTF8);
}

static int bind_integer(sqlite3_stmt *piece, int index, int64_t integer) {
    return integer == ALK__NULL ? sqlite3_bind_null(piece, index)
                                : sqlite3_bind_int64(piece, index, integer);
}

/* element: which one of an array. */
static int bind(sqlite3_stmt *piece, int index, const struct alk__value *value, size_t element) {
    switch (value->type) {
    case ALK__STR:
    case ALK__JSON:
        return bind_text(piece, index, value->text);
    case 'S':
    case 'J':
        return bind_text(piece, index, value->texts[element]);
    case ALK__INT:
    case ALK__BOOL:
    case ALK__TIME:
    case ALK__SPAN:
        return bind_integer(piece, index, value->integer);
    default:
        return bind_integer(piece, index, value->integers[element]);
    }
}

/* :now is the parameter behind the call's own. A piece need not use them all. */
static int bind_all(sqlite3_stmt *piece, const struct alk__call *call, size_t element,
                    int64_t now_us) {
    int count = sqlite3_bind_parameter_count(piece);

    for (int i = 0; i < count; i++) {
        int code = (size_t)i < call->value_count ? bind(piece, i + 1, &call->values[i], element)
                                                 : sqlite3_bind_int64(piece, i + 1, now_us);
        if (code != SQLITE_OK)
            return code;
    }
    return SQLITE_OK;
}

/* ---- rows ---- */

static struct alk__cell cell_of(sqlite3_stmt *piece, int column) {
    struct alk__cell cell = {.kind = ALK__CELL_NULL};

    switch (sqlite3_column_type(piece, column)) {
    case SQLITE_INTEGER:
        cell.kind = ALK__CELL_INT;
        cell.integer = sqlite3_column_int64(piece, column);
        break;
    case SQLITE_TEXT:
        cell.kind = ALK__CELL_TEXT;
        cell.text.bytes = (const char *)sqlite3_column_text(piece, column);
        cell.text.length = (size_t)sqlite3_column_bytes(piece, column);
        break;
    case SQLITE_FLOAT:
        cell.kind = ALK__CELL_OTHER;
        cell.what = "a real number";
        break;
    case SQLITE_BLOB:
        cell.kind = ALK__CELL_OTHER;
        cell.what = "a blob";
        break;
    default:
        break;
    }
    return cell;
}

static alk_status add_row(sqlite3_stmt *piece, const struct alk__row_type *type,
                          struct alk__rows *rows, alk_error *error) {
    struct alk__cell cells[COLUMNS_MAX];
    int count = sqlite3_column_count(piece);

    if (count > COLUMNS_MAX)
        return alk__fail(error, ALK_FAILED, "%d columns are too many", count);
    for (int i = 0; i < count; i++) {
        cells[i] = cell_of(piece, i);
        if (cells[i].kind == ALK__CELL_TEXT && cells[i].text.bytes == NULL)
            return alk__nomem(error);
    }
    return alk__rows_add(rows, type, cells, (size_t)count, error);
}

static alk_status step_piece(struct alk__session *session, sqlite3_stmt *piece,
                             const struct alk__row_type *type, struct alk__rows *rows,
                             alk_error *error) {
    int code;

    while ((code = sqlite3_step(piece)) == SQLITE_ROW) {
        alk_status status = rows == NULL ? ALK_OK : add_row(piece, type, rows, error);
        if (status < 0)
            return status;
    }
    if (code != SQLITE_DONE)
        return alk__sqlite_fail(session, code, error);
    if (rows != NULL && !sqlite3_stmt_readonly(piece))
        rows->changed += sqlite3_changes(session->handle);
    return ALK_OK;
}

/* ---- running ---- */

static alk_status run_piece(struct alk__session *session, sqlite3_stmt *piece,
                            const struct alk__call *call, size_t element, int64_t now_us,
                            alk_error *error) {
    alk_status status;
    int code = bind_all(piece, call, element, now_us);

    if (code == SQLITE_OK)
        status =
            step_piece(session, piece, alk__statements[call->statement].row, call->rows, error);
    else
        status = alk__sqlite_fail(session, code, error);
    sqlite3_reset(piece);
    sqlite3_clear_bindings(piece);
    return status;
}

static size_t element_count(const struct alk__call *call) {
    for (size_t i = 0; i < call->value_count; i++) {
        if (is_array(&call->values[i]))
            return call->values[i].count;
    }
    return 1;
}

static alk_status run_elements(struct alk__session *session,
                               const struct alk__sqlite_statement *statement,
                               const struct alk__call *call, alk_error *error) {
    int64_t now_us = alk__now_us(&session->settings->clock);
    size_t count = element_count(call);
    alk_status status = ALK_OK;

    for (size_t element = 0; element < count && status >= 0; element++) {
        for (size_t i = 0; i < statement->count && status >= 0; i++)
            status = run_piece(session, statement->pieces[i], call, element, now_us, error);
    }
    return status;
}

/* All or nothing, as on PostgreSQL, where it is one statement: inside a transaction several runs
 * stand under a savepoint. */
static alk_status run_whole(struct alk__session *session,
                            const struct alk__sqlite_statement *statement,
                            const struct alk__call *call, alk_error *error) {
    bool is_guarded =
        sqlite3_get_autocommit(session->handle) == 0 && statement->count * element_count(call) > 1;
    int code = SQLITE_OK;

    if (is_guarded)
        code = sqlite3_exec(session->handle, "SAVEPOINT alk_run", NULL, NULL, NULL);
    if (code != SQLITE_OK)
        return alk__sqlite_fail(session, code, error);
    alk_status status = run_elements(session, statement, call, error);
    if (!is_guarded || sqlite3_get_autocommit(session->handle) != 0)
        return status;
    code = sqlite3_exec(session->handle,
                        status < 0 ? "ROLLBACK TO alk_run; RELEASE alk_run" : "RELEASE alk_run",
                        NULL, NULL, NULL);
    return status >= 0 && code != SQLITE_OK ? alk__sqlite_fail(session, code, error) : status;
}

alk_status alk__sqlite_run(struct alk__session *session, const struct alk__call *calls,
                           size_t call_count, enum alk__run_mode mode, size_t *ret_failed,
                           alk_error *error) {
    const struct alk__statement_def *def = &alk__statements[calls->statement];
    bool was_in_tx = sqlite3_get_autocommit(session->handle) == 0;
    struct alk__sqlite_statement *statement = NULL;
    alk_status status;

    (void)call_count; /* without ALK__CAN_PIPELINE it is one */
    (void)mode;
    *ret_failed = 0;
    alk__sqlite_start_wait(session);
    status = calls->rows == NULL ? ALK_OK : alk__rows_start(calls->rows, def->row, 0, error);
    if (status >= 0)
        status = prepare(session, calls->statement, &statement, error);
    if (status >= 0)
        status = run_whole(session, statement, calls, error);
    if (status >= 0)
        return ALK_OK;
    if (was_in_tx && sqlite3_get_autocommit(session->handle) != 0)
        return alk__wrap(error, status, "%s: the whole transaction was rolled back", def->name);
    return alk__wrap(error, status, "%s", def->name);
}
