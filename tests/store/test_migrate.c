/* store/migrate: schemas made once and upgraded, whoever else starts at the same moment; what the
 * tables refuse. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

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

static const struct scene_test tests[] = {
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
};

static const struct role roles[] = {
    {"open_once", open_once},
    {"migrate_once", migrate_once},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, roles);
}
