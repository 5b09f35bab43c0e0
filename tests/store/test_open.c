/* store/open: stores that open, and what is in the way of those that do not. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
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

static void run_together(struct scene *scene, const char *role, int count) {
    pid_t children[8];

    for (int i = 0; i < count; i++)
        children[i] = spawn(scene, role, "");
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "ready.%d", (int)children[i]);
        wait_until(access(path_in(scene, name), F_OK) == 0);
    }
    close(open(path_in(scene, "go"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    for (int i = 0; i < count; i++)
        assert_int_equal(reap(children[i]), 0);
    unlink(path_in(scene, "go"));
}

/* Waits at the line for the word. */
static void line_up(struct scene *scene) {
    char name[32];

    snprintf(name, sizeof(name), "ready.%d", (int)getpid());
    close(open(path_in(scene, name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    while (access(path_in(scene, "go"), F_OK) != 0)
        sched_yield();
}

static int open_once(struct scene *scene, const char *argument) {
    alk_store *store;

    (void)argument;
    line_up(scene);
    if (scene_open(scene, NULL, &store) < 0) {
        fprintf(stderr, "%s\n", scene->error.message);
        return 1;
    }
    alk_close(store);
    return 0;
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

/* ---- S3, S5 ---- */

/* S3: SQLite refuses the second one at once, unless it is asked again. */
static void processes_open_a_new_file_at_once(struct scene *scene) {
    for (int i = 0; i < 25; i++) {
        scene_forget(scene);
        run_together(scene, "open_once", 4);
        scene_reopen(scene);
        assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_meta"), 1);
    }
}

/* Version 1 as it is, then steps that show if they ran twice. */
static struct alk__sql_file *chain_of(alk_engine engine) {
    static struct alk__sql_file chain[4];
    bool is_postgres = engine == ALK_ENGINE_POSTGRES;

    chain[0] = (is_postgres ? alk__sql_postgres_migrations : alk__sql_sqlite_migrations)[0];
    chain[1] = (struct alk__sql_file){
        "0002_steps", is_postgres
                          ? "-- oldest compatible: 1\nCREATE TABLE alk.steps (n int);"
                            " INSERT INTO alk.steps VALUES (2)"
                          : "-- oldest compatible: 1\nCREATE TABLE alk_steps (n INTEGER) STRICT;"
                            " INSERT INTO alk_steps VALUES (2)"};
    chain[2] = (struct alk__sql_file){
        "0003_more", is_postgres ? "-- oldest compatible: 1\nINSERT INTO alk.steps VALUES (3)"
                                 : "-- oldest compatible: 1\nINSERT INTO alk_steps VALUES (3)"};
    chain[3] = (struct alk__sql_file){NULL, NULL};
    return chain;
}

static int migrate_once(struct scene *scene, const char *argument) {
    alk_store *store;
    alk_conn *conn;

    (void)argument;
    line_up(scene);
    if (scene_open(scene, NULL, &store) < 0 || alk_conn_get(store, &conn, &scene->error) < 0 ||
        alk__migrate(conn, chain_of(scene->engine), &scene->error) < 0) {
        fprintf(stderr, "%s\n", scene->error.message);
        return 1;
    }
    alk_conn_put(conn);
    alk_close(store);
    return 0;
}

/* S5 */
static void each_migration_runs_once_in_eight_processes(struct scene *scene) {
    scene_forget(scene);
    run_together(scene, "migrate_once", 8);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_steps"), 2);
    assert_int_equal(sql_number(scene, "SELECT sum(n) FROM alk_steps"), 5);
    assert_int_equal(sql_number(scene, "SELECT version FROM alk_meta"), 3);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_meta"), 1);
}

/* S5: a step that fails leaves the version before it, and nothing of itself. */
static void a_failing_migration_leaves_nothing(struct scene *scene) {
    struct alk__sql_file *chain = chain_of(scene->engine);
    char broken[256];

    snprintf(broken, sizeof(broken), "%s; INSERT INTO nowhere VALUES (1)", chain[2].text);
    chain[2].text = broken;
    expect(scene, ALK_FAILED, alk__migrate(scene->conn, chain, &scene->error));
    assert_contains(scene->error.message, "migration '0003_more': ");
    assert_contains(scene->error.message, "nowhere");
    assert_int_equal(sql_number(scene, "SELECT version FROM alk_meta"), 2);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_steps"), 1);
    assert_false(alk_conn_in_tx(scene->conn));

    ok(scene, alk__migrate(scene->conn, chain_of(scene->engine), &scene->error));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_steps"), 2);
    assert_int_equal(sql_number(scene, "SELECT oldest FROM alk_meta"), 1);
}

/* ---- S4, S6 ---- */

/* S4 */
static void a_schema_too_new_is_refused_naming_both(struct scene *scene) {
    alk_store *store;

    sql(scene, "UPDATE alk_meta SET version = 7, oldest = 5");
    expect(scene, ALK_TOO_NEW, scene_open(scene, NULL, &store));
    assert_contains(scene->error.message, "version 7");
    assert_contains(scene->error.message, "needs a library of version 5 or later");
    assert_contains(scene->error.message, "this one has version 1");
}

/* S4: what a step says about older libraries is kept. */
static void a_step_says_which_libraries_are_too_old(struct scene *scene) {
    struct alk__sql_file *chain = chain_of(scene->engine);
    alk_store *store;

    chain[2].text = "-- 0003_more: leaves the old ones behind.\n-- oldest compatible: 3\nSELECT 1";
    ok(scene, alk__migrate(scene->conn, chain, &scene->error));
    expect(scene, ALK_TOO_NEW, scene_open(scene, NULL, &store));
    assert_contains(scene->error.message, "has version 3, which needs a library of version 3");
}

/* S4: a rolling upgrade works: the older library goes on, and takes nothing back. */
static void a_newer_schema_that_suits_is_used(struct scene *scene) {
    alk_store *store;

    sql(scene, "UPDATE alk_meta SET version = 7, oldest = 1");
    ok(scene, scene_open(scene, NULL, &store));
    alk_close(store);
    assert_int_equal(sql_number(scene, "SELECT version FROM alk_meta"), 7);
}

/* S4 */
static void an_older_schema_is_not_used_without_migrating(struct scene *scene) {
    scene->store->settings.skip_migrate = true;
    expect(scene, ALK_FAILED, alk__migrate(scene->conn, chain_of(scene->engine), &scene->error));
    assert_contains(scene->error.message, "has version 1 and this library needs 3");
    assert_int_equal(sql_number(scene, "SELECT version FROM alk_meta"), 1);
}

/* Enqueues, claims and settles one job. */
static void work_one_job(struct scene *scene) {
    alk_claim_options options = ALK_CLAIM_OPTIONS_INIT;
    alk_job_list list;
    int64_t id;

    options.worker = "w";
    options.limit = 10;
    ok(scene, alk_enqueue(scene->conn, "mail", "1", 1, NULL, &id, &scene->error));
    ok(scene, alk_claim(scene->conn, "mail", &options, &list, &scene->error));
    assert_true(list.count >= 1);
    for (size_t i = 0; i < list.count; i++) {
        alk_settlement settlement = {
            .id = list.jobs[i].id, .stamp = list.jobs[i].stamp, .worker = "w", .outcome = ALK_DONE};
        alk_settle_answer answer;
        ok(scene, alk_settle(scene->conn, &settlement, 1, &answer, &scene->error));
        assert_int_equal(answer, ALK_SETTLED);
    }
    alk_job_list_free(&list);
}

/* S1: the same calls on each engine. */
static void a_job_goes_its_way(struct scene *scene) {
    work_one_job(scene);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 0);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job_done"), 1);
    assert_int_equal(alk_store_engine(scene->store), scene->engine);
}

/* S6: with what was in it. */
static void an_earlier_version_is_upgraded_and_works(struct scene *scene) {
    int64_t id;

    ok(scene, alk_enqueue(scene->conn, "mail", "1", 1, NULL, &id, &scene->error));
    int64_t epoch = sql_number(scene, "SELECT epoch FROM alk_meta");
    ok(scene, alk__migrate(scene->conn, chain_of(scene->engine), &scene->error));
    assert_int_equal(sql_number(scene, "SELECT version FROM alk_meta"), 3);
    assert_int_equal(sql_number(scene, "SELECT epoch FROM alk_meta"), epoch);
    work_one_job(scene);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 0);
}

/* ---- S7, S8 ---- */

/* S7: with a name that has to be quoted. */
static void two_installations_do_not_meet(struct scene *scene) {
    alk_store_options options = scene_options(scene);
    char url[600];
    alk_store *store;
    alk_conn *conn;
    int64_t id;

    /* the URL's own schema would win */
    snprintf(url, sizeof(url), "%.*s", (int)(strstr(scene->url, "schema=") - 1 - scene->url),
             scene->url);
    options.schema = "it's \"alk.job\" %s";
    ok(scene, alk_open(url, &options, &store, &scene->error));
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    ok(scene, alk_enqueue(conn, "mail", "1", 1, NULL, &id, &scene->error));
    alk_conn_put(conn);
    alk_close(store);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 0);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM \"it's \"\"alk.job\"\" %%s\".job"), 1);
    sql(scene, "DROP SCHEMA \"it's \"\"alk.job\"\" %%s\" CASCADE");
}

/* S8 */
static void sqlite_tables_are_strict(struct scene *scene) {
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM pragma_table_list"
                                       " WHERE name LIKE 'alk~_%%' ESCAPE '~' AND NOT strict"),
                     0);
    assert_true(sql_number(scene, "SELECT count(*) FROM pragma_table_list"
                                  " WHERE name LIKE 'alk~_%%' ESCAPE '~'") >= 12);
}

/* S8: attempts, limits and every enumerated column. */
static void tables_refuse_what_cannot_be(struct scene *scene) {
    static const struct {
        const char *table;
        const char *columns;
        const char *good;
        const char *bad;
    } cases[] = {
        {"queue", "name, max_attempts", "'a', 1", "'b', 0"},
        {"queue", "name, payload_bytes", "'c', 1", "'d', 0"},
        {"queue", "name, on_dead", "'e', 'move'", "'f', 'drop'"},
        {"queue", "name", "'g'", "''"},
        {"lane", "queue, priority", "'a', 32767", "'a', 32768"},
        {"unique_key", "queue, key, job_id, scope", "'a', 'b', 1, 'started'",
         "'a', 'c', 1, 'never'"},
        {"schedule", "name, spec, queue, payload, anchor_at, created_at, catchup",
         "'a', 'x', 'q', '1', %s, %s, 'last'", "'b', 'x', 'q', '1', %s, %s, 'first'"},
        {"schedule", "name, spec, queue, payload, anchor_at, created_at, overlap",
         "'c', 'x', 'q', '1', %s, %s, 'skip'", "'d', 'x', 'q', '1', %s, %s, 'both'"},
        {"schedule", "name, spec, queue, payload, anchor_at, created_at, dst_gap",
         "'e', 'x', 'q', '1', %s, %s, 'skip'", "'f', 'x', 'q', '1', %s, %s, 'none'"},
        {"schedule", "name, spec, queue, payload, anchor_at, created_at, dst_fold",
         "'g', 'x', 'q', '1', %s, %s, 'both'", "'h', 'x', 'q', '1', %s, %s, 'none'"},
        {"schedule", "name, spec, queue, payload, anchor_at, created_at, max_attempts",
         "'i', 'x', 'q', '1', %s, %s, 1", "'j', 'x', 'q', '1', %s, %s, 0"},
        {"schedule", "name, spec, queue, payload, anchor_at, created_at, catchup_max",
         "'k', 'x', 'q', '1', %s, %s, 1000", "'l', 'x', 'q', '1', %s, %s, 1001"},
        {"schedule_event", "schedule_id, outcome, at", "1, 'missed', %s", "1, 'lost', %s"},
        {"job", "id, queue, payload, run_at, enqueued_at, attempt", "1, 'a', '1', %s, %s, 0",
         "2, 'a', '1', %s, %s, -1"},
        {"job", "id, queue, payload, run_at, enqueued_at, max_attempts", "3, 'a', '1', %s, %s, 1",
         "4, 'a', '1', %s, %s, 0"},
        {"job_done",
         "id, queue, payload, priority, stamp, attempt, run_at, enqueued_at, finished_at, outcome",
         "1, 'a', '1', 0, 0, 0, %s, %s, %s, 'done'", "2, 'a', '1', 0, 0, 0, %s, %s, %s, 'dead'"},
        {"job_dead",
         "id, queue, payload, priority, stamp, attempt, run_at, enqueued_at, finished_at, reason",
         "1, 'a', '1', 0, 0, 0, %s, %s, %s, 'expired'",
         "2, 'a', '1', 0, 0, 0, %s, %s, %s, 'tired'"},
        {"lease", "name, owner, fence, ttl, acquired_at, expires_at, high_water",
         "'a', 'o', 1, %d, %s, %s, %s", "'b', 'o', 0, %d, %s, %s, %s"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        for (int is_bad = 0; is_bad < 2; is_bad++) {
            struct alk__buffer values = ALK__BUFFER_INIT(1024);
            const char *text = is_bad ? cases[i].bad : cases[i].good;
            for (const char *at = text; *at != '\0'; at++) {
                if (strncmp(at, "%s", 2) == 0)
                    alk__buffer_add_text(&values, sql_time(scene, SCENE_START_US));
                else if (strncmp(at, "%d", 2) == 0)
                    alk__buffer_add_text(&values, scene->engine == ALK_ENGINE_SQLITE
                                                      ? "1000000"
                                                      : "interval '1 second'");
                else {
                    alk__buffer_add(&values, at, 1);
                    continue;
                }
                at++;
            }
            bool is_taken = sql_try(scene, "INSERT INTO alk_%s (%s) VALUES (%s)", cases[i].table,
                                    cases[i].columns, values.bytes);
            if (is_taken == (is_bad == 1))
                fail_msg("%s (%s) VALUES (%s) was %s", cases[i].table, cases[i].columns,
                         values.bytes, is_taken ? "taken" : "refused");
            alk__buffer_release(&values);
        }
    }
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
    SQLITE(processes_open_a_new_file_at_once),
    BOTH(each_migration_runs_once_in_eight_processes),
    BOTH(a_failing_migration_leaves_nothing),
    BOTH(a_schema_too_new_is_refused_naming_both),
    BOTH(a_step_says_which_libraries_are_too_old),
    BOTH(a_newer_schema_that_suits_is_used),
    BOTH(an_older_schema_is_not_used_without_migrating),
    BOTH(a_job_goes_its_way),
    BOTH(an_earlier_version_is_upgraded_and_works),
    POSTGRES(two_installations_do_not_meet),
    SQLITE(sqlite_tables_are_strict),
    BOTH(tables_refuse_what_cannot_be),
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
    {"open_once", open_once},
    {"migrate_once", migrate_once},
    {"open_read_only", open_read_only},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, roles);
}
