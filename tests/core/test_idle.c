/* core/idle: what it costs to find nothing due, or what is, in work (S216): the same among a
 * hundred schedules and a hundred thousand. */
#include <stdlib.h>

#include "base/arena.h"
#include "store/driver.h"
#include "support/schedules.h"
#if ALK_WITH_SQLITE
#include <sqlite3.h>
#endif

enum { FEW = 100, MANY = 100000 };
#define END_US INT64_C(7258118400000000) /* 2200; as a limit and a version it takes all */

/* Rows first to last, due from a day to a week from now; each tenth is paused until then. */
static void fill(struct scene *scene, int first, int last) {
    if (scene->engine == ALK_ENGINE_SQLITE)
        sql(scene,
            "WITH RECURSIVE n (i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
            " INSERT INTO alk_schedule (name, spec, queue, payload, anchor_at, created_at,"
            " next_fire_at, paused_at, pause_until)"
            " SELECT 's' || i, '0 0 * * *', 'work', '1', t.now, t.now,"
            " t.now + (86400 + i * 7919 %% 518400) * 1000000,"
            " iif(i %% 10 = 0, t.now, NULL), iif(i %% 10 = 0, t.now + 86400000000, NULL)"
            " FROM n, (SELECT %lld AS now) t",
            first, last, (long long)scene_now(scene));
    else
        sql(scene,
            "INSERT INTO alk_schedule (name, spec, queue, payload, anchor_at, created_at,"
            " next_fire_at, paused_at, pause_until)"
            " SELECT 's' || i, '0 0 * * *', 'work', '1', now(), now(),"
            " now() + (86400 + i * 7919 %% 518400) * interval '1 s',"
            " CASE WHEN i %% 10 = 0 THEN now() END,"
            " CASE WHEN i %% 10 = 0 THEN now() + interval '1 d' END"
            " FROM generate_series(%d, %d) i",
            first, last);
}

#if ALK_WITH_SQLITE
/* The instructions of a statement; its parameters are numbers, and behind them comes now. */
static int64_t sqlite_work(struct scene *scene, enum alk__statement statement, const char *text) {
    int count = (int)strlen(alk__statements[statement].parameters);
    sqlite3_stmt *prepared;

    assert_int_equal(sqlite3_prepare_v2(sql_handle(scene), text, -1, &prepared, NULL), SQLITE_OK);
    for (int i = 1; i <= sqlite3_bind_parameter_count(prepared); i++)
        sqlite3_bind_int64(prepared, i, i > count ? scene_now(scene) : END_US);
    while (sqlite3_step(prepared) == SQLITE_ROW)
        continue;
    int64_t steps = sqlite3_stmt_status(prepared, SQLITE_STMTSTATUS_VM_STEP, 0);
    assert_int_equal(sqlite3_stmt_status(prepared, SQLITE_STMTSTATUS_SORT, 0), 0);
    sqlite3_finalize(prepared);
    return steps;
}
#endif

/* The pages of a statement with these parameters, as a plan that serves all of them reads them. */
static int64_t postgres_work(struct scene *scene, const char *text, const char *types,
                             const char *values) {
    sql(scene, "PREPARE idle (%s) AS %s", types, text);
    sql(scene,
        "CREATE OR REPLACE FUNCTION pg_temp.pages() RETURNS bigint LANGUAGE plpgsql AS $f$"
        " DECLARE plan json; BEGIN EXECUTE $q$EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)"
        " EXECUTE idle (%s)$q$ INTO plan;"
        " RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::bigint"
        " + (plan->0->'Plan'->>'Shared Read Blocks')::bigint; END $f$",
        values);
    int64_t pages = sql_number(scene, "SELECT pg_temp.pages()");
    sql(scene, "DEALLOCATE idle");
    return pages;
}

static const struct {
    enum alk__statement statement;
    const char *types;
    const char *values;
} looks[] = {
    {ALK__SCHEDULE_SOONEST, "bigint", "1"},
    {ALK__TICK_DUE, "bigint, bigint", "500, 1"},
    {ALK__TICK_RESUMABLE, "bigint, bigint", "500, 1"},
    {ALK__SCHEDULE_REPAIR, "timestamptz, bigint", "'2200-01-01 00:00Z', 1"},
};
enum { LOOKS = sizeof(looks) / sizeof(*looks) };

static void measure(struct scene *scene, int64_t work[LOOKS]) {
    struct alk__arena arena = {0};
    char *schema = scene->engine == ALK_ENGINE_SQLITE
                       ? NULL
                       : strdup(sql_text(scene, "SELECT nspname FROM pg_namespace n JOIN pg_class c"
                                                " ON c.relnamespace = n.oid"
                                                " WHERE c.oid = 'alk_schedule'::regclass"));
    const char *const *texts = alk__statements_load(&arena, scene->engine, schema);

    assert_non_null(texts);
    for (int i = 0; i < LOOKS; i++) {
#if ALK_WITH_SQLITE
        if (scene->engine == ALK_ENGINE_SQLITE) {
            work[i] = sqlite_work(scene, looks[i].statement, texts[looks[i].statement]);
            continue;
        }
#endif
        work[i] = postgres_work(scene, texts[looks[i].statement], looks[i].types, looks[i].values);
    }
    free(schema);
    alk__arena_free(&arena);
}

/* S134: each look of a scheduler with nothing to do is a probe of an index: a thousand times as
 * many schedules cost at most the levels by which the index grows. */
static void an_idle_look_costs_the_same_among_many(struct scene *scene) {
    int64_t few[LOOKS];
    int64_t many[LOOKS];
    bool is_sqlite = scene->engine == ALK_ENGINE_SQLITE;

    if (!is_sqlite)
        sql(scene, "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off");
    fill(scene, 1, FEW);
    sql(scene, is_sqlite ? "ANALYZE" : "VACUUM ANALYZE alk_schedule");
    measure(scene, few);
    fill(scene, FEW + 1, MANY);
    sql(scene, is_sqlite ? "ANALYZE" : "VACUUM ANALYZE alk_schedule");
    if (!is_sqlite)
        sql(scene, "RESET enable_seqscan");
    measure(scene, many);
    for (int i = 0; i < LOOKS; i++) {
        print_message("# %s: %lld, %lld\n", alk__statements[looks[i].statement].name,
                      (long long)few[i], (long long)many[i]);
        assert_in_range(few[i], 1, 200);
        assert_in_range(many[i], 1, is_sqlite ? few[i] : few[i] + 6);
    }
}

static const struct scene_test tests[] = {
    BOTH(an_idle_look_costs_the_same_among_many),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
