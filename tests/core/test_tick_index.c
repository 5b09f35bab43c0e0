/* core/tick: how it finds what is due among 100,000 schedules. */
#include "support/fault.h"
#include "support/schedules.h"
#include <sqlite3.h>

/* The statement as it stands in its file, without its parameters. */
static const char *statement_text(struct scene *scene, const char *name) {
    static char text[8192];
    char path[512];

    snprintf(path, sizeof(path), "%s/sql/%s/%s.sql", ALK_TEST_SOURCE_DIR,
             scene->engine == ALK_ENGINE_SQLITE ? "sqlite" : "postgres", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';
    for (char *at = text; *at != '\0'; at++) {
        if ((*at == '?' || *at == '$') && at[1] >= '1' && at[1] <= '9')
            memcpy(at, "10", 2);
        if (strncmp(at, "alk.", 4) == 0)
            at[3] = '_';
    }
    return text;
}

/* How the engine goes about it, in its own words. */
static const char *plan_of(struct scene *scene, const char *statement) {
    static char plan[8192];
    struct alk__buffer sql_ = ALK__BUFFER_INIT(16384);

    plan[0] = '\0';
    alk__buffer_addf(&sql_, "%s %s",
                     scene->engine == ALK_ENGINE_SQLITE ? "EXPLAIN QUERY PLAN"
                                                        : "EXPLAIN (FORMAT JSON)",
                     statement_text(scene, statement));
    if (scene->engine == ALK_ENGINE_SQLITE) {
        sqlite3_stmt *query;
        assert_int_equal(sqlite3_prepare_v2(sql_handle(scene), sql_.bytes, -1, &query, NULL),
                         SQLITE_OK);
        while (sqlite3_step(query) == SQLITE_ROW) {
            size_t length = strlen(plan);
            snprintf(plan + length, sizeof(plan) - length, "%s\n",
                     (const char *)sqlite3_column_text(query, 3));
        }
        sqlite3_finalize(query);
    } else {
        snprintf(plan, sizeof(plan), "%s", sql_text(scene, "%s", sql_.bytes));
    }
    alk__buffer_release(&sql_);
    return plan;
}

static void make_100000(struct scene *scene) {
    if (scene->engine == ALK_ENGINE_SQLITE)
        sql(scene, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)"
                   " INSERT INTO alk_schedule (name, spec, queue, payload, anchor_at, next_fire_at,"
                   " created_at) SELECT 'n' || i, spec, queue, payload, anchor_at,"
                   " next_fire_at + i, created_at FROM n, alk_schedule; ANALYZE");
    else
        sql(scene, "INSERT INTO alk_schedule (name, spec, queue, payload, anchor_at, next_fire_at,"
                   " created_at) SELECT 'n' || i, spec, queue, payload, anchor_at,"
                   " next_fire_at + i * interval '1 s', created_at"
                   " FROM generate_series(1, 99999) i, alk_schedule; ANALYZE alk_schedule");
}

static int64_t timed_tick(struct scene *scene, struct ticker *ticker) {
    int64_t started_us = alk__monotonic_us();

    ok(scene, ticker_tick(scene, ticker));
    return alk__monotonic_us() - started_us;
}

static int64_t shorter(int64_t left, int64_t right) {
    return left < right ? left : right;
}

/* S134: among 100,000 schedules a tick with nothing due looks into the index, writes nothing,
 * and can take less than 2 ms. */
static void with_nothing_due_a_tick_looks_into_an_index(struct scene *scene) {
    static const char *const statements[] = {"tick_due", "schedule_soonest", "tick_resumable"};
    struct ticker ticker;
    struct faults faults;

    put(scene, "often", "@every 365d");
    make_100000(scene);
    ticker_start(scene, &ticker);
    for (size_t i = 0; i < 3; i++) {
        const char *plan = plan_of(scene, statements[i]);
        assert_contains(plan, i == 2 ? "schedule_pause" : "schedule_due");
        assert_null(strstr(plan, "Seq Scan"));
        assert_null(strstr(plan, "SCAN s\n"));
        assert_null(strstr(plan, "TEMP B-TREE"));
        assert_null(strstr(plan, "\"Sort\""));
    }

    faults_install(&faults, scene->store);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.seen, 0);
    assert_int_equal(faults_count(&faults, NULL), 4);
    assert_int_equal(faults_count(&faults, "begin"), 1);
    assert_int_equal(faults_count(&faults, "tick_due"), 1);
    assert_int_equal(faults_count(&faults, "tick_resumable"), 1);
    assert_int_equal(faults_count(&faults, "rollback"), 1);
    faults_remove(&faults);

    int64_t best_us = INT64_MAX;
    wait_until((best_us = shorter(best_us, timed_tick(scene, &ticker))) < 2 * ALK__MS);
    ticker_end(&ticker);
}

/* S134: the ledger is asked boundary by boundary, by its index, also by a plan that knows no
 * parameters, made while there were no statistics. */
static void the_ledger_is_asked_by_its_index(struct scene *scene) {
    struct alk__buffer sql_ = ALK__BUFFER_INIT(16384);
    char path[512];
    char text[4096];

    snprintf(path, sizeof(path), "%s/sql/postgres/tick_fired.sql", ALK_TEST_SOURCE_DIR);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    for (char *at = strstr(text, "alk."); at != NULL; at = strstr(at, "alk."))
        at[3] = '_';
    sql(scene, "INSERT INTO alk_schedule_event (schedule_id, fire_at, outcome, at)"
               " SELECT i, now(), 'fired', now() FROM generate_series(1, 5000) i");
    alk__buffer_addf(&sql_, "PREPARE fired (bigint[], timestamptz[]) AS %s", text);
    sql(scene,
        "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;"
        "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off");
    sql(scene, "%s", sql_.bytes);
    alk__buffer_release(&sql_);
    const char *plan = sql_text(scene, "EXPLAIN (FORMAT JSON) EXECUTE fired ('{}', '{}')");
    assert_contains(plan, "(fire_at = u.fire_at)");
    assert_contains(plan, "Index Cond");
    assert_null(strstr(plan, "Join Filter"));
    assert_null(strstr(plan, "Materialize"));
}

static const struct scene_test tests[] = {
    POSTGRES(the_ledger_is_asked_by_its_index),
    BOTH(with_nothing_due_a_tick_looks_into_an_index),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
