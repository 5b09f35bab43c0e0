/* support/sql.c: SQL of a test's own, beside the library: what a person with psql or the sqlite3
 * shell could do. */
#include <stdlib.h>

#if ALK_WITH_POSTGRES
#include <libpq-fe.h>
#endif
#if ALK_WITH_SQLITE
#include <sqlite3.h>
#endif

#include "base/clock.h"
#include "base/text.h"
#include "support/scene.h"

#define NULL_NUMBER INT64_MIN

/* ---- SQLite ---- */

#if ALK_WITH_SQLITE
static void *sqlite_open(struct scene *scene) {
    sqlite3 *handle;

    if (sqlite3_open_v2(scene->url + strlen("sqlite:"), &handle, SQLITE_OPEN_READWRITE, NULL) !=
        SQLITE_OK)
        fail_msg("sql: %s", sqlite3_errmsg(handle));
    sqlite3_busy_timeout(handle, 30000);
    return handle;
}

/* Runs all statements; the first value of the last row goes into text. */
static bool sqlite_run(struct scene *scene, sqlite3 *handle, const char *sql_, bool *ret_null) {
    const char *rest = sql_;

    while (*rest != '\0') {
        sqlite3_stmt *statement;
        int code = sqlite3_prepare_v2(handle, rest, -1, &statement, &rest);
        while (code == SQLITE_OK && statement != NULL &&
               (code = sqlite3_step(statement)) == SQLITE_ROW) {
            const unsigned char *value = sqlite3_column_text(statement, 0);
            *ret_null = value == NULL;
            snprintf(scene->private->text, sizeof(scene->private->text), "%s",
                     value == NULL ? "" : (const char *)value);
            code = SQLITE_OK;
        }
        sqlite3_finalize(statement);
        if (code != SQLITE_OK && code != SQLITE_DONE) {
            snprintf(scene->private->text, sizeof(scene->private->text), "%s",
                     sqlite3_errmsg(handle));
            return false;
        }
    }
    return true;
}
#endif

/* ---- PostgreSQL ---- */

#if ALK_WITH_POSTGRES
static void ignore_notice(void *context, const PGresult *result) {
    (void)context;
    (void)result;
}

static void *postgres_open(void) {
    PGconn *handle = PQconnectdb(getenv("ALK_TEST_POSTGRES"));

    if (PQstatus(handle) != CONNECTION_OK)
        fail_msg("sql: %s", PQerrorMessage(handle));
    PQsetNoticeReceiver(handle, ignore_notice, NULL);
    return handle;
}

static bool postgres_run(struct scene *scene, PGconn *handle, const char *sql_, bool *ret_null) {
    PGresult *result = PQexec(handle, sql_);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        snprintf(scene->private->text, sizeof(scene->private->text), "%s", PQerrorMessage(handle));
        PQclear(result);
        return false;
    }
    if (status == PGRES_TUPLES_OK && PQntuples(result) > 0) {
        *ret_null = PQgetisnull(result, PQntuples(result) - 1, 0);
        const char *value = PQgetvalue(result, PQntuples(result) - 1, 0);
        snprintf(scene->private->text, sizeof(scene->private->text), "%s",
                 strcmp(value, "t") == 0   ? "1"
                 : strcmp(value, "f") == 0 ? "0"
                                           : value);
    }
    PQclear(result);
    return true;
}

static bool is_name_byte(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '_';
}

/* alk_job becomes "schema".job. */
static void in_schema(const struct scene *scene, const char *sql_, struct alk__buffer *ret_sql) {
    for (const char *at = sql_; *at != '\0'; at++) {
        bool is_start = at == sql_ || !is_name_byte(at[-1]);
        if (is_start && strncmp(at, "alk_", 4) == 0) {
            alk__buffer_addf(ret_sql, "\"%s\".", scene->private->schema);
            at += 3;
        } else {
            alk__buffer_add(ret_sql, at, 1);
        }
    }
}
#endif

/* ---- both ---- */

void *sql_handle(struct scene *scene) {
    struct scene_private *private = scene->private;

    if (private->handle != NULL)
        return private->handle;
#if ALK_WITH_SQLITE
    if (scene->engine == ALK_ENGINE_SQLITE)
    private->handle = sqlite_open(scene);
#endif
#if ALK_WITH_POSTGRES
    if (scene->engine == ALK_ENGINE_POSTGRES)
    private->handle = postgres_open();
#endif
    return private->handle;
}

ALK_PRINTF(2, 0)
/* The value is in private->text, or why there is none. */
static bool run(struct scene *scene, const char *format, va_list arguments, bool *ret_null) {
    struct alk__buffer text = ALK__BUFFER_INIT((size_t)1 << 20);
    void *handle = sql_handle(scene);
    char *written = NULL;
    bool is_done = false;

    *ret_null = true;
    if (vasprintf(&written, format, arguments) < 0)
        fail_msg("no memory");
    scene->private->text[0] = '\0';
#if ALK_WITH_SQLITE
    if (scene->engine == ALK_ENGINE_SQLITE)
        is_done = sqlite_run(scene, handle, written, ret_null);
#endif
#if ALK_WITH_POSTGRES
    if (scene->engine == ALK_ENGINE_POSTGRES) {
        in_schema(scene, written, &text);
        is_done = postgres_run(scene, handle, text.bytes, ret_null);
    }
#endif
    alk__buffer_release(&text);
    free(written);
    return is_done;
}

ALK_PRINTF(2, 0)
static bool must_run(struct scene *scene, const char *format, va_list arguments) {
    bool is_null;

    if (!run(scene, format, arguments, &is_null))
        fail_msg("sql: %s: %s", scene->private->text, format);
    return !is_null;
}

void sql(struct scene *scene, const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    must_run(scene, format, arguments);
    va_end(arguments);
}

bool sql_try(struct scene *scene, const char *format, ...) {
    va_list arguments;
    bool is_null;

    va_start(arguments, format);
    bool is_done = run(scene, format, arguments, &is_null);
    va_end(arguments);
    return is_done;
}

int64_t sql_number(struct scene *scene, const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    bool has_value = must_run(scene, format, arguments);
    va_end(arguments);
    return has_value ? strtoll(scene->private->text, NULL, 10) : NULL_NUMBER;
}

const char *sql_text(struct scene *scene, const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    must_run(scene, format, arguments);
    va_end(arguments);
    return scene->private->text;
}

const char *sql_time(struct scene *scene, int64_t us) {
    struct scene_private *private = scene->private;
    char *text = private->times[private->next_time++ % 8];

    snprintf(text, sizeof(private->times[0]),
             scene->engine == ALK_ENGINE_SQLITE
                 ? "%lld"
                 : "(timestamptz 'epoch' + interval '%lld microseconds')",
             (long long)us);
    return text;
}

/* ---- time ---- */

int64_t scene_now(struct scene *scene) {
    int64_t now_us = 0;

    if (scene->engine == ALK_ENGINE_SQLITE)
        return fake_now(&scene->clock);
    ok(scene, alk__db_now(scene->conn, &now_us, &scene->error));
    return now_us;
}

/* On PostgreSQL every time in the test's tables moves back: to them that is the same. By a
 * detour of a thousand years, so that no row on its way meets another in a unique index. */
static void shift(struct scene *scene, int64_t span_us) {
    const int64_t detour_us = 365000 * ALK__DAY;

    sql(scene,
        "DO $do$ DECLARE t record; span bigint; BEGIN"
        " FOR t IN SELECT c.table_name AS name,"
        " string_agg(format('%%1$I = %%1$I - $1', c.column_name), ', ') AS changes"
        " FROM information_schema.columns c"
        " JOIN information_schema.tables b USING (table_schema, table_name)"
        " WHERE c.table_schema = '%s' AND c.data_type = 'timestamp with time zone' AND "
        "b.table_type = 'BASE TABLE'"
        " GROUP BY c.table_name LOOP"
        " FOREACH span IN ARRAY ARRAY[%lld, %lld] LOOP"
        " EXECUTE format('UPDATE %%I.%%I SET ', '%s', t.name) || t.changes"
        " USING span * interval '1 microsecond';"
        " END LOOP; END LOOP; END $do$",
        scene->private->schema, (long long)(detour_us + span_us), (long long)-detour_us,
        scene->private->schema);
}

void scene_pass(struct scene *scene, int64_t span_us) {
    if (scene->engine == ALK_ENGINE_POSTGRES)
        shift(scene, span_us);
    else
        atomic_fetch_add(&scene->clock.now_us, span_us);
}

/* ---- the end ---- */

void sql_drop_schema(struct scene *scene) {
    /* what a failed test still holds must not hold this up for ever */
    sql_try(scene, "SET lock_timeout = '5s'; DROP SCHEMA IF EXISTS \"%s\" CASCADE",
            scene->private->schema);
}

void sql_close(struct scene *scene) {
    void *handle = scene->private->handle;

    scene->private->handle = NULL;
    if (handle == NULL)
        return;
#if ALK_WITH_SQLITE
    if (scene->engine == ALK_ENGINE_SQLITE)
        sqlite3_close(handle);
#endif
#if ALK_WITH_POSTGRES
    if (scene->engine == ALK_ENGINE_POSTGRES)
        PQfinish(handle);
#endif
}
