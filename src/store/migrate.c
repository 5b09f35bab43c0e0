/* store/migrate.c: brings a schema to the newest version this library knows. Each step of the chain
 * runs once, in a transaction of its own, whoever else starts at the same moment (S5). */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/store.h"

/* What store_look finds. */
enum { NO_SCHEMA = 0, NO_TABLES = 1, IS_STORE = 2 };

struct migration {
    alk_conn *conn;
    const struct alk__sql_file *chain;
    int64_t newest;  /* of the chain */
    int64_t found;   /* NO_SCHEMA, NO_TABLES, IS_STORE */
    int64_t version; /* in the database, 0 without one */
    int64_t oldest;
};

/* "0003_lanes": 3. */
static int64_t version_of(const struct alk__sql_file *file) {
    return strtol(file->name, NULL, 10);
}

/* The head line "-- oldest compatible: N": the oldest library version that works with the schema
 * after this step. */
static int64_t oldest_of(const struct alk__sql_file *file) {
    static const char words[] = "-- oldest compatible: ";
    const char *at = strstr(file->text, words);

    return at == NULL ? version_of(file) : strtol(at + sizeof(words) - 1, NULL, 10);
}

/* ---- what is there ---- */

static alk_status read_version(struct migration *migration, alk_error *error) {
    struct alk__rows rows = {0};
    alk_status status = alk__run(migration->conn, ALK__META_GET, NULL, 0, &rows, error);

    if (status < 0)
        return status;
    const struct alk__row_meta *meta = rows.count == 1 ? ALK__ROW(&rows, alk__row_meta, 0) : NULL;
    if (meta == NULL)
        status = alk__fail(error, ALK_UNREADABLE, "the version of the schema is missing in 'meta'");
    else if (meta->row.unreadable != NULL)
        status = alk__fail(error, ALK_UNREADABLE, "'meta': %s", meta->row.unreadable);
    if (status >= 0) {
        migration->version = meta->version;
        migration->oldest = meta->oldest;
    }
    alk__rows_free(&rows);
    return status;
}

static alk_status look(struct migration *migration, alk_error *error) {
    const char *schema = migration->conn->store->settings.schema;
    struct alk__rows rows = {0};
    alk_status status = alk__do(migration->conn, ALK__STORE_LOOK, &rows, error, ALK__Z(schema));

    if (status < 0)
        return status;
    migration->found = ALK__ROW(&rows, alk__row_number, 0)->number;
    alk__rows_free(&rows);
    migration->version = 0;
    migration->oldest = 0;
    return migration->found == IS_STORE ? read_version(migration, error) : ALK_OK;
}

/* What is there may forbid to go on (S2, S4). */
static alk_status check(const struct migration *migration, alk_error *error) {
    const struct alk__settings *settings = &migration->conn->store->settings;

    if (migration->found != IS_STORE && (settings->must_exist || settings->skip_migrate))
        return alk__fail(error, ALK_NO_STORE, "no store at '%s' (alk init makes one)",
                         settings->masked);
    if (migration->oldest > migration->newest)
        return alk__fail(
            error, ALK_TOO_NEW,
            "the schema of '%s' has version %lld, which needs a library of version %lld or "
            "later; this one has version %lld",
            settings->masked, (long long)migration->version, (long long)migration->oldest,
            (long long)migration->newest);
    if (migration->version < migration->newest && settings->skip_migrate)
        return alk__fail(
            error, ALK_FAILED,
            "the schema of '%s' has version %lld and this library needs %lld (alk init "
            "upgrades it)",
            settings->masked, (long long)migration->version, (long long)migration->newest);
    return ALK_OK;
}

/* ---- one step ---- */

static alk_status run_script(alk_conn *conn, const char *sql, alk_error *error) {
    const struct alk__settings *settings = &conn->store->settings;
    struct alk__arena arena = {0};

    if (settings->engine == ALK_ENGINE_POSTGRES)
        sql = alk__sql_in_schema(&arena, sql, settings->schema);
    alk_status status =
        sql == NULL ? alk__nomem(error) : conn->store->driver->script(conn->session, sql, error);
    alk__arena_free(&arena);
    return status;
}

static alk_status make_schema(alk_conn *conn, alk_error *error) {
    struct alk__arena arena = {0};
    struct alk__buffer sql = ALK__BUFFER_INIT(1024);
    const char *name = alk__sql_quoted(&arena, conn->store->settings.schema);
    alk_status status;

    alk__buffer_addf(&sql, "CREATE SCHEMA %s", name == NULL ? "" : name);
    if (name == NULL || sql.is_failed)
        status = alk__nomem(error);
    else
        status = conn->store->driver->script(conn->session, sql.bytes, error);
    alk__buffer_release(&sql);
    alk__arena_free(&arena);
    return status;
}

/* One migration at a time a schema. SQLite's BEGIN IMMEDIATE is lock enough. */
static alk_status lock(alk_conn *conn, alk_error *error) {
    int64_t key = (int64_t)alk__schema_hash(conn->store->settings.schema);

    if (!alk__is_postgres(conn))
        return ALK_OK;
    return alk__do(conn, ALK__MIGRATE_LOCK, NULL, error, ALK__I(key));
}

static alk_status apply(struct migration *migration, const struct alk__sql_file *file,
                        alk_error *error) {
    alk_conn *conn = migration->conn;
    int64_t epoch = (int64_t)(alk__random_bits(&conn->store->settings.random) >> 1);
    alk_status status = ALK_OK;

    if (migration->found == NO_SCHEMA)
        status = make_schema(conn, error);
    if (status >= 0)
        status = run_script(conn, file->text, error);
    if (status >= 0)
        status = alk__do(conn, ALK__META_PUT, NULL, error, ALK__I(version_of(file)),
                         ALK__I(oldest_of(file)), ALK__I(epoch));
    return status < 0 ? alk__wrap(error, status, "migration '%s'", file->name) : ALK_OK;
}

/* The first step that is missing, looked for once more under the lock. */
static alk_status step(alk_conn *conn, void *context, alk_error *error) {
    struct migration *migration = context;
    const struct alk__sql_file *file = migration->chain;
    alk_status status = lock(conn, error);

    if (status >= 0)
        status = look(migration, error);
    if (status >= 0)
        status = check(migration, error);
    if (status < 0)
        return status;
    while (file->name != NULL && version_of(file) <= migration->version)
        file++;
    return file->name == NULL ? ALK_OK : apply(migration, file, error);
}

alk_status alk__migrate(alk_conn *conn, const struct alk__sql_file *chain, alk_error *error) {
    struct migration migration = {.conn = conn, .chain = chain};
    alk_status status;

    for (const struct alk__sql_file *file = chain; file->name != NULL; file++)
        migration.newest = version_of(file);
    status = look(&migration, error);
    if (status >= 0)
        status = check(&migration, error);
    while (status >= 0 && migration.version < migration.newest) {
        status = alk_in_tx(conn, step, &migration, error);
        if (status >= 0)
            status = look(&migration, error);
    }
    return status;
}
