/* store/join: the host's own SQLite handle: what is done through it commits with the host's rows,
 * and nothing of ours stays behind. (A joined PostgreSQL connection: test_postgres_join.c.) */
#include <sqlite3.h>
#include <stdlib.h>

#include "support/test.h"

static sqlite3 *open_host(struct scene *scene) {
    sqlite3 *host;

    assert_int_equal(sqlite3_open(scene->url + strlen("sqlite:"), &host), SQLITE_OK);
    return host;
}

static void host_does(sqlite3 *host, const char *text) {
    if (sqlite3_exec(host, text, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(host));
}

static int64_t host_number(sqlite3 *host, const char *text) {
    sqlite3_stmt *statement;

    assert_int_equal(sqlite3_prepare_v2(host, text, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static void enqueue(struct scene *scene, alk_conn *conn) {
    int64_t id;

    ok(scene, alk_enqueue(conn, "mail", "1", 1, NULL, &id, &scene->error));
}

/* S31, S31b */
static void jobs_commit_with_the_hosts_rows(struct scene *scene) {
    sqlite3 *host = open_host(scene);
    alk_conn *joined;

    host_does(host, "CREATE TABLE orders (id INTEGER PRIMARY KEY)");
    host_does(host, "BEGIN; INSERT INTO orders VALUES (1)");
    ok(scene, alk_conn_join_sqlite(scene->store, host, &joined, &scene->error));
    assert_true(alk_conn_in_tx(joined));
    enqueue(scene, joined);
    alk_conn_put(joined);
    assert_int_equal(sqlite3_get_autocommit(host), 0);
    host_does(host, "ROLLBACK");
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 0);

    host_does(host, "BEGIN; INSERT INTO orders VALUES (1)");
    ok(scene, alk_conn_join_sqlite(scene->store, host, &joined, &scene->error));
    enqueue(scene, joined);
    expect(scene, ALK_USAGE, alk_commit(joined, &scene->error));
    assert_contains(scene->error.message, "host");
    alk_rollback(joined);
    assert_int_equal(sqlite3_get_autocommit(host), 0);
    host_does(host, "COMMIT");
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 1);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM orders"), 1);

    alk_conn_put(joined);
    assert_int_equal(sqlite3_close(host), SQLITE_OK);
}

/* S31b: the host's close fails as long as there is a statement. */
static void nothing_is_left_on_the_handle(struct scene *scene) {
    sqlite3 *host = open_host(scene);
    alk_conn *joined;

    ok(scene, alk_conn_join_sqlite(scene->store, host, &joined, &scene->error));
    enqueue(scene, joined);
    assert_non_null(sqlite3_next_stmt(host, NULL));
    alk_conn_put(joined);
    assert_null(sqlite3_next_stmt(host, NULL));
    assert_int_equal(sqlite3_get_autocommit(host), 1);
    assert_int_equal(sqlite3_close(host), SQLITE_OK);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 1);
}

static int busy_calls;

static int count_busy(void *context, int count) {
    (void)context;
    (void)count;
    busy_calls++;
    return 0;
}

/* S31b: its settings and its busy handler are the host's. */
static void nothing_is_set_on_the_handle(struct scene *scene) {
    sqlite3 *host = open_host(scene);
    alk_conn *joined;

    host_does(host, "PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON; PRAGMA cache_size = 77");
    sqlite3_busy_handler(host, count_busy, NULL);
    ok(scene, alk_conn_join_sqlite(scene->store, host, &joined, &scene->error));
    enqueue(scene, joined);
    sql(scene, "BEGIN IMMEDIATE");
    busy_calls = 0;
    expect(scene, ALK_AGAIN, alk_enqueue(joined, "mail", "1", 1, NULL, NULL, &scene->error));
    assert_true(busy_calls > 0);
    sql(scene, "COMMIT");
    alk_conn_put(joined);
    assert_int_equal(host_number(host, "PRAGMA synchronous"), 0);
    assert_int_equal(host_number(host, "PRAGMA foreign_keys"), 1);
    assert_int_equal(host_number(host, "PRAGMA cache_size"), 77);
    assert_int_equal(sqlite3_close(host), SQLITE_OK);
}

/* S31b */
static void a_handle_that_does_not_suit_is_refused(struct scene *scene) {
    alk_conn *joined;
    alk_store *memory;
    sqlite3 *host;
    char path[256];

    /* another file */
    snprintf(path, sizeof(path), "%s/other.db", scene->folder);
    assert_int_equal(sqlite3_open(path, &host), SQLITE_OK);
    host_does(host, "PRAGMA journal_mode = WAL; CREATE TABLE t (x)");
    expect(scene, ALK_USAGE, alk_conn_join_sqlite(scene->store, host, &joined, &scene->error));
    assert_contains(scene->error.message, "is not the store's");
    assert_int_equal(sqlite3_close(host), SQLITE_OK);

    /* memory, on either side */
    assert_int_equal(sqlite3_open(":memory:", &host), SQLITE_OK);
    expect(scene, ALK_USAGE, alk_conn_join_sqlite(scene->store, host, &joined, &scene->error));
    ok(scene, alk_open("sqlite::memory:", NULL, &memory, &scene->error));
    expect(scene, ALK_USAGE, alk_conn_join_sqlite(memory, host, &joined, &scene->error));
    alk_close(memory);
    assert_int_equal(sqlite3_close(host), SQLITE_OK);

    /* no handle, another engine's */
    expect(scene, ALK_USAGE, alk_conn_join_sqlite(scene->store, NULL, &joined, &scene->error));
    expect(scene, ALK_USAGE,
           alk_conn_join_postgres(scene->store, (struct pg_conn *)scene, &joined, &scene->error));

    /* not WAL: nobody else may have the file open for that */
    alk_store *store = scene->store;
    alk_conn_put(scene->conn);
    scene->conn = NULL;
    alk_shut(store);
    sql_close(scene);
    host = open_host(scene);
    host_does(host, "PRAGMA journal_mode = DELETE");
    expect(scene, ALK_USAGE, alk_conn_join_sqlite(store, host, &joined, &scene->error));
    assert_contains(scene->error.message, "journal mode is 'delete', not 'wal'");
    assert_int_equal(sqlite3_close(host), SQLITE_OK);
}

/* S34: a DEFERRED transaction that has read cannot write after somebody else did: at once, and the
 * error says why. */
static void an_old_snapshot_is_told_to_begin_immediate(struct scene *scene) {
    sqlite3 *host = open_host(scene);
    alk_conn *joined;

    host_does(host, "BEGIN; SELECT count(*) FROM alk_job");
    sql(scene, "UPDATE alk_meta SET version = 2");
    ok(scene, alk_conn_join_sqlite(scene->store, host, &joined, &scene->error));
    expect(scene, ALK_AGAIN, alk_enqueue(joined, "mail", "1", 1, NULL, NULL, &scene->error));
    assert_string_equal(scene->error.engine_code, "517");
    assert_contains(scene->error.message, "BEGIN IMMEDIATE");
    alk_conn_put(joined);
    host_does(host, "ROLLBACK; BEGIN IMMEDIATE");
    ok(scene, alk_conn_join_sqlite(scene->store, host, &joined, &scene->error));
    enqueue(scene, joined);
    host_does(host, "COMMIT");
    alk_conn_put(joined);
    assert_int_equal(sqlite3_close(host), SQLITE_OK);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 1);
}

/* S26: joined handles count, whichever came first. */
static void a_joined_transaction_is_one_of_the_thread(struct scene *scene) {
    sqlite3 *host = open_host(scene);
    alk_conn *joined;

    ok(scene, alk_conn_join_sqlite(scene->store, host, &joined, &scene->error));
    host_does(host, "BEGIN IMMEDIATE");
    expect(scene, ALK_USAGE, alk_begin(scene->conn, &scene->error));
    expect(scene, ALK_USAGE, alk_enqueue(scene->conn, "mail", "1", 1, NULL, NULL, &scene->error));
    host_does(host, "COMMIT");

    ok(scene, alk_begin(scene->conn, &scene->error));
    expect(scene, ALK_USAGE, alk_enqueue(joined, "mail", "1", 1, NULL, NULL, &scene->error));
    expect(scene, ALK_USAGE, alk_begin(joined, &scene->error));
    host_does(host, "BEGIN");
    expect(scene, ALK_USAGE, alk_enqueue(joined, "mail", "1", 1, NULL, NULL, &scene->error));
    host_does(host, "COMMIT");
    ok(scene, alk_commit(scene->conn, &scene->error));
    enqueue(scene, joined);
    alk_conn_put(joined);
    assert_int_equal(sqlite3_close(host), SQLITE_OK);
}

/* S22, S31b: what alk_begin began on it is ours to end. */
static void our_own_transaction_on_the_handle_is_rolled_back(struct scene *scene) {
    sqlite3 *host = open_host(scene);
    alk_conn *joined;

    ok(scene, alk_conn_join_sqlite(scene->store, host, &joined, &scene->error));
    ok(scene, alk_begin(joined, &scene->error));
    enqueue(scene, joined);
    alk_conn_put(joined);
    assert_int_equal(sqlite3_get_autocommit(host), 1);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 0);
    assert_int_equal(sqlite3_close(host), SQLITE_OK);
}

static const struct scene_test tests[] = {
    SQLITE(jobs_commit_with_the_hosts_rows),
    SQLITE(nothing_is_left_on_the_handle),
    SQLITE(nothing_is_set_on_the_handle),
    SQLITE(a_handle_that_does_not_suit_is_refused),
    SQLITE(an_old_snapshot_is_told_to_begin_immediate),
    SQLITE(a_joined_transaction_is_one_of_the_thread),
    SQLITE(our_own_transaction_on_the_handle_is_rolled_back),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
