/* bench/place.c: the store of a bench, and SQL of the bench's own beside the library. */
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "bench.h"
#include "store/driver.h"

/* ---- SQL ---- */

static void sqlite_connect(struct bench *bench) {
    sqlite3 *handle = NULL;

    if (sqlite3_open(bench->url + strlen("sqlite:"), &handle) != SQLITE_OK)
        die("%s", sqlite3_errmsg(handle));
    bench->handle = handle;
    sqlite3_busy_timeout(handle, 60000);
    place_do(bench, "PRAGMA synchronous = FULL");
}

static void ignore(void *context, const PGresult *result) {
    (void)context;
    (void)result;
}

static void postgres_connect(struct bench *bench, const char *url) {
    bench->handle = PQconnectdb(url);
    if (PQstatus(bench->handle) != CONNECTION_OK)
        die("%s", PQerrorMessage(bench->handle));
    PQsetNoticeReceiver(bench->handle, ignore, NULL);
    place_do(bench, "SET search_path = %s", bench->schema);
}

static int64_t postgres_do(struct bench *bench, const char *sql) {
    PGresult *result = PQexec(bench->handle, sql);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        die("%s", PQerrorMessage(bench->handle));
    int64_t changed = strtoll(PQcmdTuples(result), NULL, 10);
    PQclear(result);
    return changed;
}

int64_t place_do(struct bench *bench, const char *format, ...) {
    char text[8192];
    int64_t changed = 0;
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    if (bench->engine == ALK_ENGINE_POSTGRES) {
        changed = postgres_do(bench, text);
    } else {
        if (sqlite3_exec(bench->handle, text, NULL, NULL, NULL) != SQLITE_OK)
            die("%s", sqlite3_errmsg(bench->handle));
        changed = sqlite3_changes(bench->handle);
    }
    return changed;
}

/* ---- work ---- */

static int64_t sqlite_work(struct bench *bench, const char *sql) {
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(bench->handle, sql, -1, &statement, NULL) != SQLITE_OK)
        die("%s", sqlite3_errmsg(bench->handle));
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++)
        sqlite3_bind_int64(statement, i, 1);
    while (sqlite3_step(statement) == SQLITE_ROW)
        continue;
    int64_t steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0);
    sqlite3_finalize(statement);
    return steps;
}

static int64_t number_behind(const char *text, const char *word) {
    const char *at = strstr(text, word);

    return at == NULL ? 0 : strtoll(at + strlen(word), NULL, 10);
}

static int64_t postgres_work(struct bench *bench, const char *sql) {
    place_do(bench, "PREPARE work (bigint) AS %s", sql);
    PGresult *result =
        PQexec(bench->handle, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE work (1)");
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        die("%s", PQerrorMessage(bench->handle));
    const char *plan = PQgetvalue(result, 0, 0);
    int64_t pages = number_behind(plan, "\"Shared Hit Blocks\": ") +
                    number_behind(plan, "\"Shared Read Blocks\": ");
    PQclear(result);
    place_do(bench, "DEALLOCATE work");
    return pages;
}

int64_t place_work(struct bench *bench, int statement) {
    struct alk__arena arena = {0};
    const char *const *texts = alk__statements_load(&arena, bench->engine, bench->schema);

    if (texts == NULL)
        die("no memory");
    int64_t work = (bench->engine == ALK_ENGINE_POSTGRES ? postgres_work
                                                         : sqlite_work)(bench, texts[statement]);
    alk__arena_free(&arena);
    return work;
}

/* ---- making and removing ---- */

static void make_file(struct bench *bench) {
    const char *base = getenv("TMPDIR");

    bench->engine = ALK_ENGINE_SQLITE;
    snprintf(bench->folder, sizeof(bench->folder), "%s/alk-bench.XXXXXX",
             base != NULL && strlen(base) < 40 ? base : "/tmp");
    if (mkdtemp(bench->folder) == NULL)
        die("no folder '%s'", bench->folder);
    snprintf(bench->url, sizeof(bench->url), "sqlite:%s/bench.db", bench->folder);
}

static void make_schema(struct bench *bench, const char *base_url) {
    bench->engine = ALK_ENGINE_POSTGRES;
    snprintf(bench->schema, sizeof(bench->schema), "alk_bench_%d", (int)getpid());
    snprintf(bench->url, sizeof(bench->url), "%s%cschema=%s", base_url,
             strchr(base_url, '?') == NULL ? '?' : '&', bench->schema);
}

void place_open(struct bench *bench, const char *base_url) {
    alk_error error = ALK_ERROR_INIT;

    if (strncmp(base_url, "sqlite:", strlen("sqlite:")) == 0)
        make_file(bench);
    else
        make_schema(bench, base_url);
    check(alk_open(bench->url, NULL, &bench->store, &error), &error);
    check(alk_conn_get(bench->store, &bench->conn, &error), &error);
    if (bench->engine == ALK_ENGINE_SQLITE)
        sqlite_connect(bench);
    else
        postgres_connect(bench, base_url);
}

static void remove_file(const struct bench *bench) {
    static const char *const names[] = {"bench.db", "bench.db-wal", "bench.db-shm"};
    char path[128];

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s/%s", bench->folder, names[i]);
        unlink(path);
    }
    rmdir(bench->folder);
}

void place_remove(struct bench *bench) {
    char sql[128];

    if (bench->engine == ALK_ENGINE_SQLITE) {
        sqlite3_close(bench->handle);
        remove_file(bench);
    } else if (bench->engine == ALK_ENGINE_POSTGRES && bench->handle != NULL) {
        snprintf(sql, sizeof(sql), "DROP SCHEMA %s CASCADE", bench->schema);
        PQclear(PQexec(bench->handle, "ROLLBACK"));
        PQclear(PQexec(bench->handle, sql));
        PQfinish(bench->handle);
    }
    bench->handle = NULL;
}

void place_close(struct bench *bench) {
    alk_conn_put(bench->conn);
    alk_close(bench->store);
    place_remove(bench);
}
