/* core/plans: how the hot statements find their rows: by an index whatever the table looked like
 * when the plan was made, and without reading what they do not want. Work is counted, not timed
 * (S216). */
#include <stdlib.h>

#if ALK_WITH_SQLITE
#include <sqlite3.h>
#endif

#include "base/arena.h"
#include "store/driver.h"
#include "support/jobs.h"

static const enum alk__statement hot[] = {
    ALK__JOB_ENQUEUE,      ALK__JOB_CLAIM,       ALK__JOB_TAKE,        ALK__JOB_DUE,
    ALK__JOB_SETTLE_DONE,  ALK__JOB_SETTLE_BACK, ALK__JOB_SETTLE_DEAD, ALK__JOB_ATTEMPTS,
    ALK__JOB_WHY,          ALK__JOB_EXTEND,      ALK__JOB_GET,         ALK__JOB_SETTLE_DONE_FREE,
    ALK__MAINTAIN_EXPIRED, ALK__MAINTAIN_LAPSED, ALK__TICK_UNFINISHED, ALK__TICK_SUPERSEDE,
    ALK__TICK_DUE,         ALK__TICK_RESUMABLE,  ALK__TICK_FIRED,      ALK__SCHEDULE_SOONEST,
    ALK__SCHEDULE_REPAIR,  ALK__SWEEP_ZONED,     ALK__UNIQUE_TAKE,     ALK__UNIQUE_REPLACE,
    ALK__UNIQUE_FIND,      ALK__UNIQUE_PURGE,
};

/* Ready and delayed jobs in three lanes, some with a claim, a key or an expiry. */
static void fill(struct scene *scene, int count) {
    put_job_at(scene, "mail", ALK_NO_TIME, 0);
    put_job_at(scene, "mail", ALK_NO_TIME, 1);
    put_job_at(scene, "mail", ALK_NO_TIME, 2);
    sql(scene,
        "INSERT INTO alk_job (id, queue, priority, run_at, payload, enqueued_at, expires_at)"
        " SELECT n + 1000, CASE WHEN n %% 10 = 0 THEN 'other' ELSE 'mail' END, n %% 3,"
        " now() + (n %% 7 - 3) * interval '1 min', '1', now(),"
        " CASE WHEN n %% 5 = 0 THEN now() + interval '1 day' END FROM generate_series(1, %d) n",
        count);
}

static const char *type_of(char letter) {
    static const char letters[] = "isjbtdISJBTD";
    static const char *const types[] = {"bigint",      "text",      "json",          "boolean",
                                        "timestamptz", "interval",  "bigint[]",      "text[]",
                                        "json[]",      "boolean[]", "timestamptz[]", "interval[]"};

    return types[strchr(letters, letter) - letters];
}

/* EXPLAIN of the plan that serves all parameters, as a prepared statement on a connection of ours
 * has it. */
static void expect_no_scan(struct scene *scene, const char *const *texts,
                           enum alk__statement statement) {
    const struct alk__statement_def *def = &alk__statements[statement];
    struct alk__buffer prepare = ALK__BUFFER_INIT(65536);
    struct alk__buffer execute = ALK__BUFFER_INIT(4096);

    alk__buffer_addf(&prepare, "PREPARE hot (");
    alk__buffer_addf(&execute, "EXPLAIN (FORMAT JSON) EXECUTE hot (");
    for (size_t i = 0; def->parameters[i] != '\0'; i++) {
        alk__buffer_addf(&prepare, "%s%s", i > 0 ? ", " : "", type_of(def->parameters[i]));
        alk__buffer_addf(&execute, "%sNULL", i > 0 ? ", " : "");
    }
    alk__buffer_addf(&prepare, ") AS %s", texts[statement]);
    alk__buffer_addf(&execute, ")");
    sql(scene, "%s", prepare.bytes);
    char *plan = strdup(sql_text(scene, "SELECT $q$%s$q$", execute.bytes));
    sql(scene,
        "CREATE OR REPLACE FUNCTION pg_temp.scans() RETURNS bigint LANGUAGE plpgsql AS $f$"
        " DECLARE plan json; BEGIN EXECUTE $q$%s$q$ INTO plan;"
        " RETURN (SELECT count(*) FROM regexp_matches(plan::text,"
        " '\"Node Type\": \"Seq Scan\",[^{}]*\"Relation Name\": "
        "\"(job|unique_key|schedule|schedule_event)\"', 'g')); END $f$",
        execute.bytes);
    if (sql_number(scene, "SELECT pg_temp.scans()") != 0)
        fail_msg("%s scans a table: %s", def->name, plan);
    sql(scene, "DEALLOCATE hot");
    free(plan);
    alk__buffer_release(&prepare);
    alk__buffer_release(&execute);
}

static void expect_no_scans(struct scene *scene) {
    struct alk__arena arena = {0};
    const char *schema =
        strdup(sql_text(scene, "SELECT nspname FROM pg_namespace n JOIN pg_class c"
                               " ON c.relnamespace = n.oid WHERE c.oid = 'alk_job'::regclass"));
    const char *const *texts = alk__statements_load(&arena, ALK_ENGINE_POSTGRES, schema);

    assert_non_null(texts);
    for (size_t i = 0; i < sizeof(hot) / sizeof(hot[0]); i++)
        expect_no_scan(scene, texts, hot[i]);
    free((void *)(uintptr_t)schema);
    alk__arena_free(&arena);
}

/* DESIGN 2: no hot statement ever has a sequential scan on job, nor one of the scheduler's on
 * schedule: on an empty, a small analyzed and a large table. */
static void no_hot_statement_scans_the_table(struct scene *scene) {
    sql(scene, "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;"
               "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off;"
               "SET jit = off");
    expect_no_scans(scene);
    fill(scene, 20);
    sql(scene, "ANALYZE alk_job; ANALYZE alk_lane");
    expect_no_scans(scene);
    fill(scene, 0);
    sql(scene, "DELETE FROM alk_job");
    fill(scene, 100000);
    sql(scene, "ANALYZE alk_job; ANALYZE alk_lane");
    expect_no_scans(scene);
}

/* DESIGN 4: no index names a column that a claim changes and pages have room: each claim is a HOT
 * update. */
static void a_claim_touches_no_index(struct scene *scene) {
#define COUNT_OF(what)                                                                             \
    "SELECT n_tup_" what " FROM pg_stat_all_tables WHERE relid = 'alk_job'::regclass"

    put_jobs(scene, "mail", 1000);
    for (int i = 0; i < 10; i++) {
        alk_job_list list = take_jobs(scene, "mail", 100, "w");
        assert_int_equal(list.count, 100);
        alk_job_list_free(&list);
    }
    scene_close(scene); /* what a session counted is reported when it ends */
    wait_until(sql_number(scene, COUNT_OF("upd")) == 1000);
    assert_int_equal(sql_number(scene, COUNT_OF("hot_upd")), 1000);
    scene_reopen(scene);
}

/* ---- S42 ---- */

enum { DELAYED = 200000 };

static void fill_delayed(struct scene *scene) {
    put_job_at(scene, "mail", scene_now(scene) + ALK__HOUR, 5);
    put_job_at(scene, "mail", scene_now(scene) + ALK__HOUR, 0);
    if (scene->engine == ALK_ENGINE_POSTGRES)
        sql(scene,
            "INSERT INTO alk_job (id, queue, priority, run_at, payload, enqueued_at)"
            " SELECT n + 1000, 'mail', 5, now() + interval '1 h', '1', now() FROM "
            "generate_series(1, %d) n",
            DELAYED);
    else
        sql(scene,
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
            " INSERT INTO alk_job (queue, priority, run_at, payload, enqueued_at)"
            " SELECT 'mail', 5, %lld, '1', %lld FROM n",
            DELAYED, (long long)(scene_now(scene) + ALK__HOUR), (long long)scene_now(scene));
}

#if ALK_WITH_SQLITE
static void bind(struct scene *scene, sqlite3_stmt *prepared, enum alk__statement statement,
                 int64_t limit) {
    const char *types = alk__statements[statement].parameters;
    int now = (int)strlen(types) + 1; /* :now comes behind the others */

    for (int i = 0; types[i] != '\0'; i++) {
        if (types[i] == 's')
            sqlite3_bind_text(prepared, i + 1, "mail", -1, SQLITE_STATIC);
        else
            sqlite3_bind_int64(prepared, i + 1, limit);
    }
    if (statement == ALK__SCHEDULE_REPAIR)
        sqlite3_bind_int64(prepared, 1, INT64_MAX);
    if (sqlite3_bind_parameter_count(prepared) == now)
        sqlite3_bind_int64(prepared, now, scene_now(scene));
}

/* The instructions that a statement takes; what it does is undone. */
static int64_t sqlite_work(struct scene *scene, enum alk__statement statement, int64_t limit) {
    struct alk__arena arena = {0};
    const char *const *texts = alk__statements_load(&arena, ALK_ENGINE_SQLITE, NULL);
    sqlite3 *handle = sql_handle(scene);
    sqlite3_stmt *prepared;
    int64_t steps;

    assert_non_null(texts);
    sql(scene, "BEGIN");
    assert_int_equal(sqlite3_prepare_v2(handle, texts[statement], -1, &prepared, NULL), SQLITE_OK);
    bind(scene, prepared, statement, limit);
    int code;
    while ((code = sqlite3_step(prepared)) == SQLITE_ROW)
        continue;
    assert_int_equal(code, SQLITE_DONE);
    steps = sqlite3_stmt_status(prepared, SQLITE_STMTSTATUS_VM_STEP, 0);
    assert_int_equal(sqlite3_stmt_status(prepared, SQLITE_STMTSTATUS_SORT, 0), 0);
    sqlite3_finalize(prepared);
    sql(scene, "ROLLBACK");
    alk__arena_free(&arena);
    return steps;
}

/* S42: 200,000 delayed jobs of a higher priority cost a claim nothing. */
static void delayed_jobs_cost_a_claim_nothing_on_sqlite(struct scene *scene) {
    fill_delayed(scene);
    assert_in_range(sqlite_work(scene, ALK__JOB_DUE, 0), 1, 2000);
    assert_in_range(sqlite_work(scene, ALK__JOB_CLAIM, 100), 1, 2000);
    put_jobs(scene, "mail", 150);
    assert_in_range(sqlite_work(scene, ALK__JOB_CLAIM, 100), 1000, 100000);
}
#endif

#if ALK_WITH_SQLITE
/* S134: what the scheduler asks each time, and each minute, costs nothing where 20,000 schedules
 * are not due. */
static void idle_schedules_cost_the_scheduler_nothing(struct scene *scene) {
    static const enum alk__statement asked[] = {ALK__TICK_DUE, ALK__TICK_RESUMABLE,
                                                ALK__SCHEDULE_SOONEST, ALK__SCHEDULE_REPAIR,
                                                ALK__SWEEP_ZONED};

    sql(scene,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        " INSERT INTO alk_schedule (name, spec, queue, payload, anchor_at, created_at, "
        "next_fire_at,"
        " zone_fingerprint) SELECT 's' || i, '@every 1h', 'work', '1', %lld, %lld, %lld + i,"
        " '0000000000000000' FROM n",
        (long long)scene_now(scene), (long long)scene_now(scene),
        (long long)(scene_now(scene) + ALK__HOUR));
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
        assert_in_range(sqlite_work(scene, asked[i], 500), 1, 500);
}
#endif

/* The pages that a claim reads; what it does is undone. */
static int64_t postgres_pages(struct scene *scene, int limit) {
    struct alk__arena arena = {0};
    const char *schema =
        strdup(sql_text(scene, "SELECT nspname FROM pg_namespace n JOIN pg_class c"
                               " ON c.relnamespace = n.oid WHERE c.oid = 'alk_job'::regclass"));
    const char *const *texts = alk__statements_load(&arena, ALK_ENGINE_POSTGRES, schema);

    assert_non_null(texts);
    sql(scene, "PREPARE hot (text, bigint, text, interval) AS %s", texts[ALK__JOB_CLAIM]);
    sql(scene,
        "CREATE OR REPLACE FUNCTION pg_temp.pages() RETURNS bigint LANGUAGE plpgsql AS $f$"
        " DECLARE plan json; BEGIN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)"
        " EXECUTE hot (''mail'', %d, ''w'', ''1 s'')' INTO plan;"
        " RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::bigint + (plan->0->'Plan'->>'Shared Read "
        "Blocks')::bigint;"
        " END $f$",
        limit);
    sql(scene, "BEGIN");
    int64_t pages = sql_number(scene, "SELECT pg_temp.pages()");
    sql(scene, "ROLLBACK");
    sql(scene, "DEALLOCATE hot");
    free((void *)(uintptr_t)schema);
    alk__arena_free(&arena);
    return pages;
}

/* S42: the same on PostgreSQL, in pages. */
static void delayed_jobs_cost_a_claim_nothing_on_postgres(struct scene *scene) {
    sql(scene,
        "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;"
        "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off");
    fill_delayed(scene);
    assert_in_range(postgres_pages(scene, 100), 1, 100);
    put_jobs(scene, "mail", 150);
    assert_in_range(postgres_pages(scene, 100), 50, 3000);
}

static const struct scene_test tests[] = {
    POSTGRES(no_hot_statement_scans_the_table),
    POSTGRES(a_claim_touches_no_index),
#if ALK_WITH_SQLITE
    SQLITE(delayed_jobs_cost_a_claim_nothing_on_sqlite),
    SQLITE(idle_schedules_cost_the_scheduler_nothing),
#endif
    POSTGRES(delayed_jobs_cost_a_claim_nothing_on_postgres),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
