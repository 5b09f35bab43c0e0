/* store/open: stores that open, and what is in the way of those that do not. */
#include <errno.h>
#include <grp.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite.h"
#include "store/store.h"
#include "support/test.h"

static char path_text[256];

static const char *path_in(const struct scene *scene, const char *name) {
    snprintf(path_text, sizeof(path_text), "%s/%s", scene->folder, name);
    return path_text;
}

/* ---- S2 ---- */

/* S2 */
static void opening_again_changes_nothing(struct scene *scene) {
    int64_t epoch = sql_number(scene, "SELECT epoch FROM alk_meta");

    scene_close(scene);
    scene_reopen(scene);
    assert_int_equal(sql_number(scene, "SELECT epoch FROM alk_meta"), epoch);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_meta"), 1);
    assert_int_equal(sql_number(scene, "SELECT version FROM alk_meta"), 1);
}

/* S2 */
static void a_missing_store_is_named_and_not_made(struct scene *scene) {
    alk_store_options must_exist = scene_options(scene);
    alk_store_options skip_migrate = scene_options(scene);
    char wanted[512];
    alk_store *store;

    must_exist.must_exist = true;
    skip_migrate.skip_migrate = true;
    snprintf(wanted, sizeof(wanted), "no store at '%s' (alk init makes one)", scene->url);
    scene_forget(scene);
    expect(scene, ALK_NO_STORE, scene_open(scene, &must_exist, &store));
    assert_contains(scene->error.message, wanted);
    expect(scene, ALK_NO_STORE, scene_open(scene, &skip_migrate, &store));
    assert_contains(scene->error.message, wanted);
    if (scene->engine == ALK_ENGINE_SQLITE)
        assert_int_not_equal(access(path_in(scene, "store.db"), F_OK), 0);

    scene_reopen(scene);
    ok(scene, scene_open(scene, &must_exist, &store));
    alk_close(store);
    ok(scene, scene_open(scene, &skip_migrate, &store));
    alk_close(store);
}

/* S2: somebody else's database is looked at and stays as it is. */
static void another_database_is_no_store(struct scene *scene) {
    alk_store_options options = scene_options(scene);
    const char *path = path_in(scene, "theirs.db");
    sqlite3 *theirs;
    sqlite3_stmt *mode;
    alk_store *store;

    options.must_exist = true;
    assert_int_equal(sqlite3_open(path, &theirs), SQLITE_OK);
    assert_int_equal(sqlite3_exec(theirs, "CREATE TABLE t (x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(theirs);
    expect(scene, ALK_NO_STORE, alk_open(path, &options, &store, &scene->error));
    assert_int_equal(sqlite3_open(path, &theirs), SQLITE_OK);
    assert_int_equal(sqlite3_exec(theirs, "SELECT * FROM t", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(theirs, "PRAGMA journal_mode", -1, &mode, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(mode), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(mode, 0), "delete");
    sqlite3_finalize(mode);
    sqlite3_close(theirs);
}

static int64_t version_of(struct scene *scene, alk_conn *conn) {
    struct alk__rows rows = {0};

    ok(scene, alk__run(conn, ALK__META_GET, NULL, 0, &rows, &scene->error));
    int64_t version = ALK__ROW(&rows, alk__row_meta, 0)->version;
    alk__rows_free(&rows);
    return version;
}

/* S2 */
static void a_store_in_memory_is_shared_by_its_connections(struct scene *scene) {
    alk_store *stores[2];
    alk_conn *conns[3];
    sqlite3_stmt *mode;

    for (int i = 0; i < 2; i++)
        ok(scene, alk_open("sqlite::memory:", NULL, &stores[i], &scene->error));
    ok(scene, alk_conn_get(stores[0], &conns[0], &scene->error));
    ok(scene, alk_conn_get(stores[0], &conns[1], &scene->error));
    ok(scene, alk_conn_get(stores[1], &conns[2], &scene->error));
    ok(scene,
       alk__do(conns[0], ALK__META_PUT, NULL, &scene->error, ALK__I(7), ALK__I(1), ALK__I(1)));
    assert_int_equal(version_of(scene, conns[1]), 7);
    assert_int_equal(version_of(scene, conns[2]), 1);

    sqlite3 *handle = conns[1]->session->handle;
    assert_int_equal(sqlite3_prepare_v2(handle, "PRAGMA journal_mode", -1, &mode, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(mode), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(mode, 0), "memory");
    sqlite3_finalize(mode);
    for (int i = 0; i < 3; i++)
        alk_conn_put(conns[i]);
    for (int i = 0; i < 2; i++)
        alk_close(stores[i]);
}

/* ---- S9, S10 ---- */

/* S9 */
static void a_version_that_cannot_be_read_is_no_missing_store(struct scene *scene) {
    alk_store *store;

    if (scene->engine == ALK_ENGINE_SQLITE)
        sql(scene, "ALTER TABLE alk_meta RENAME TO old_meta;"
                   "CREATE TABLE alk_meta (only_row, version, oldest, epoch);"
                   "INSERT INTO alk_meta VALUES (1, 'one', 1, 1)");
    else
        sql(scene, "ALTER TABLE alk_meta DROP CONSTRAINT meta_version_check;"
                   "ALTER TABLE alk_meta ALTER version TYPE text USING 'one'");
    expect(scene, ALK_UNREADABLE, scene_open(scene, NULL, &store));
    assert_contains(scene->error.message, "'meta': column 'version' holds ");
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_meta"), 1);
}

/* S10 */
static void a_missing_folder_is_said(struct scene *scene) {
    alk_store *store;

    expect(scene, ALK_NO_STORE, alk_open(path_in(scene, "no/x.db"), NULL, &store, &scene->error));
    assert_contains(scene->error.message, "no folder '");
    expect(scene, ALK_FAILED, alk_open(scene->folder, NULL, &store, &scene->error));
    assert_contains(scene->error.message, "is a folder");
}

static void write_file(const char *path, const char *text, long at) {
    FILE *file = fopen(path, at == 0 ? "w" : "r+");

    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    fputs(text, file);
    fclose(file);
}

/* S10 */
static void a_file_that_is_no_database_is_said(struct scene *scene) {
    const char *path = path_in(scene, "letter.txt");
    alk_store *store;

    write_file(path, "Dear Sir or Madam, this is a letter and not a database at all.", 0);
    expect(scene, ALK_FAILED, alk_open(path, NULL, &store, &scene->error));
    assert_string_equal(scene->error.engine_code, "26");
    assert_contains(scene->error.message, "letter.txt': sqlite: file is not a database");
}

/* S10: the file is scribbled over while nobody has it open. */
static void a_corrupt_file_is_said(struct scene *scene) {
    alk_store *store;
    alk_conn *conn;
    char nonsense[3000];

    sql_close(scene);
    scene_close(scene);
    memset(nonsense, 0x55, sizeof(nonsense) - 1);
    nonsense[sizeof(nonsense) - 1] = '\0';
    write_file(path_in(scene, "store.db"), nonsense, 100);
    alk_status status = scene_open(scene, NULL, &store);
    if (status >= 0) {
        ok(scene, alk_conn_get(store, &conn, &scene->error));
        status = alk__run(conn, ALK__META_GET, NULL, 0, NULL, &scene->error);
        alk_conn_put(conn);
        alk_close(store);
    }
    expect(scene, ALK_FAILED, status);
    assert_string_equal(scene->error.engine_code, "11");
}

/* S10 */
static void a_busy_file_is_said(struct scene *scene) {
    alk_store_options options = scene_options(scene);
    alk_store *store;
    alk_conn *conn;

    options.busy_timeout_us = 0;
    ok(scene, scene_open(scene, &options, &store));
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    sql(scene, "BEGIN IMMEDIATE");
    expect(scene, ALK_AGAIN, alk_begin(conn, &scene->error));
    assert_string_equal(scene->error.engine_code, "5");
    assert_int_equal(scene->error.error_class, ALK_CLASS_TRANSIENT);
    sql(scene, "COMMIT");
    ok(scene, alk_begin(conn, &scene->error));
    alk_conn_put(conn);
    alk_close(store);
}

static int open_read_only(struct scene *scene, const char *argument) {
    alk_store *store;

    (void)argument;
    if (getuid() == 0 && (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
        return 1;
    if (scene_open(scene, NULL, &store) != ALK_FAILED)
        return 2;
    if (strcmp(scene->error.engine_code, "8") != 0)
        return 3;
    return strstr(scene->error.message, "is read-only") == NULL ? 4 : 0;
}

/* S10: as a user who may read and not write, which root is not. */
static void a_read_only_file_is_said(struct scene *scene) {
    char above[128];

    sql_close(scene);
    scene_close(scene);
    snprintf(above, sizeof(above), "%.*s", (int)(strrchr(scene->folder, '/') - scene->folder),
             scene->folder);
    assert_return_code(chmod(path_in(scene, "store.db"), 0444), errno);
    assert_return_code(chmod(scene->folder, 0777), errno);
    assert_return_code(chmod(above, 0711), errno);
    assert_int_equal(reap(spawn(scene, "open_read_only", "")), 0);
}

static void limit_pages(alk_conn *conn, const char *more) {
    sqlite3_stmt *pages;
    char text[80];

    assert_int_equal(
        sqlite3_prepare_v2(conn->session->handle, "PRAGMA page_count", -1, &pages, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(pages), SQLITE_ROW);
    snprintf(text, sizeof(text), "PRAGMA max_page_count = %d%s", sqlite3_column_int(pages, 0),
             more);
    sqlite3_finalize(pages);
    assert_int_equal(sqlite3_exec(conn->session->handle, text, NULL, NULL, NULL), SQLITE_OK);
}

/* S10: the disk is full. S33: then SQLite may have ended the whole transaction, and the error says
 * so. */
static void a_full_disk_is_said(struct scene *scene) {
    static char payload[300000];
    int64_t id;

    memset(payload, ' ', sizeof(payload));
    payload[0] = '1';
    limit_pages(scene->conn, "");
    ok(scene, alk_begin(scene->conn, &scene->error));
    expect(scene, ALK_AGAIN,
           alk_enqueue(scene->conn, "mail", payload, sizeof(payload), NULL, &id, &scene->error));
    assert_string_equal(scene->error.engine_code, "13");
    bool is_over = !alk_conn_in_tx(scene->conn);
    assert_int_equal(is_over,
                     strstr(scene->error.message, "the whole transaction was rolled back") != NULL);
    if (is_over) {
        expect(scene, ALK_AGAIN, alk_commit(scene->conn, &scene->error));
        assert_contains(scene->error.message, "rolled back by an earlier failure");
    } else {
        alk_rollback(scene->conn);
    }
    limit_pages(scene->conn, "000");
    ok(scene, alk_enqueue(scene->conn, "mail", payload, sizeof(payload), NULL, &id, &scene->error));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 1);
}

/* ---- S12, S13, S14, S16, S221 ---- */

static int64_t pragma(alk_conn *conn, const char *text) {
    sqlite3_stmt *statement;

    assert_int_equal(sqlite3_prepare_v2(conn->session->handle, text, -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

/* S12 */
static void durability_is_what_was_asked_for(struct scene *scene) {
    char url[300];
    alk_store *store;
    alk_conn *conn;

    assert_int_equal(pragma(scene->conn, "PRAGMA synchronous"), 2);
    assert_string_equal(sql_text(scene, "PRAGMA journal_mode"), "wal");
    snprintf(url, sizeof(url), "%s?durability=normal", scene->url);
    ok(scene, alk_open(url, NULL, &store, &scene->error));
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    assert_int_equal(pragma(conn, "PRAGMA synchronous"), 1);
    alk_conn_put(conn);
    alk_close(store);
}

/* S13 */
static void times_have_microseconds(struct scene *scene) {
    int64_t span_us = 1234567;
    alk_lease lease;

    ok(scene, alk_lease_acquire(scene->conn, "a", "o", span_us, &lease, &scene->error));
    assert_int_equal(lease.expires_at_us - lease.acquired_at_us, span_us);
    if (scene->engine == ALK_ENGINE_SQLITE) {
        scene_pass(scene, 10 * ALK__SECOND + 1);
        assert_int_equal(scene_now(scene), SCENE_START_US + 10 * ALK__SECOND + 1);
        ok(scene, alk_lease_acquire(scene->conn, "a", "o", span_us, &lease, &scene->error));
        assert_int_equal(lease.acquired_at_us, SCENE_START_US + 10 * ALK__SECOND + 1);
        assert_int_equal(sql_number(scene, "SELECT acquired_at FROM alk_lease"),
                         lease.acquired_at_us);
    } else {
        assert_int_equal(sql_number(scene,
                                    "SELECT (extract(epoch FROM acquired_at) * 1000000)::bigint"
                                    " FROM alk_lease"),
                         lease.acquired_at_us);
    }
}

struct told {
    int count;
    int64_t skew_us;
};

static void count_skews(const alk_event *event, void *context) {
    struct told *told = context;

    if (strcmp(event->name, "clock skew") == 0) {
        told->count++;
        told->skew_us = event->duration_us;
    }
}

static int64_t an_hour_ahead(void *context) {
    (void)context;
    return alk__now_us(&(struct alk__clock){0}) + ALK__HOUR;
}

/* S14: the database's clock rules. S16: the difference is told once a start. */
static void a_wrong_clock_changes_nothing_and_is_told_once(struct scene *scene) {
    alk_store_options options = scene_options(scene);
    struct told told = {0};
    alk_lease lease;
    alk_store *store;
    alk_conn *conn;
    int64_t now_us;

    options.event = count_skews;
    options.event_context = &told;
    ok(scene, scene_open(scene, &options, &store));
    alk_close(store);
    assert_int_equal(told.count, 0);

    options.now = an_hour_ahead;
    ok(scene, scene_open(scene, &options, &store));
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    assert_int_equal(told.count, 1);
    assert_true(told.skew_us > 59 * ALK__MINUTE && told.skew_us < 61 * ALK__MINUTE);
    ok(scene,
       alk_lease_acquire(scene->conn, "a", "theirs", 10 * ALK__MINUTE, &lease, &scene->error));
    expect(scene, ALK_HELD,
           alk_lease_acquire(conn, "a", "ours", ALK__MINUTE, &lease, &scene->error));
    ok(scene, alk__db_now(conn, &now_us, &scene->error));
    assert_true(now_us < an_hour_ahead(NULL) - 50 * ALK__MINUTE);
    alk_conn_put(conn);
    alk_close(store);
    assert_int_equal(told.count, 1);
}

/* S221 */
static void the_same_clock_and_numbers_give_the_same_store(struct scene *scene) {
    int64_t epochs[2];

    for (int i = 0; i < 2; i++) {
        scene_forget(scene);
        atomic_store(&scene->random.state, 42);
        scene_reopen(scene);
        epochs[i] = sql_number(scene, "SELECT epoch FROM alk_meta");
    }
    assert_int_equal(epochs[0], epochs[1]);
    if (scene->engine == ALK_ENGINE_SQLITE)
        assert_int_equal(scene_now(scene), SCENE_START_US);
}

static const struct scene_test tests[] = {
    BOTH(opening_again_changes_nothing),
    BOTH(a_missing_store_is_named_and_not_made),
    ALONE(another_database_is_no_store),
    ALONE(a_store_in_memory_is_shared_by_its_connections),
    BOTH(a_version_that_cannot_be_read_is_no_missing_store),
    ALONE(a_missing_folder_is_said),
    ALONE(a_file_that_is_no_database_is_said),
    SQLITE(a_corrupt_file_is_said),
    SQLITE(a_busy_file_is_said),
    SQLITE(a_read_only_file_is_said),
    SQLITE(a_full_disk_is_said),
    SQLITE(durability_is_what_was_asked_for),
    BOTH(times_have_microseconds),
    POSTGRES(a_wrong_clock_changes_nothing_and_is_told_once),
    BOTH(the_same_clock_and_numbers_give_the_same_store),
};

static const struct role roles[] = {
    {"open_read_only", open_read_only},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, roles);
}
