/* core/backfill and core/apply: runs for the past, and sets of schedules. */
#include "base/arena.h"
#include "support/schedules.h"

/* A schedule of every ten minutes whose boundaries lie at whole periods from the time given back.
 */
static int64_t put_often(struct scene *scene) {
    put(scene, "often", "@every 10m");
    make_due(scene, "often", 0);
    int64_t base_us = scene_now(scene) / ALK__SECOND * ALK__SECOND;

    sql(scene, "UPDATE alk_schedule SET anchor_at = %s, next_fire_at = %s",
        sql_time(scene, base_us - 10 * ALK__DAY), sql_time(scene, base_us + 10 * ALK__MINUTE));
    return base_us;
}

static alk_backfill_result backfill(struct scene *scene, int64_t from_us, int64_t to_us, int max,
                                    bool is_dry_run) {
    alk_backfill_result result = {0};

    ok(scene, alk_schedule_backfill(scene->conn, "often", from_us, to_us, max, is_dry_run, &result,
                                    &scene->error));
    return result;
}

/* S118: boundaries of the past fire whatever the last fire was, each once, both ends included;
 * nothing else of the schedule changes. */
static void a_backfill_fires_what_has_not_fired(struct scene *scene) {
    int64_t base_us = put_often(scene);
    struct ticker ticker;
    alk_backfill_result result;

    ticker_start(scene, &ticker);
    scene_pass(scene, 20 * ALK__MINUTE);
    ok(scene, ticker_tick(scene, &ticker)); /* the newest: last_fire_at lies behind all of it */
    assert_int_equal(job_count(scene, "often"), 1);
    base_us = scene->engine == ALK_ENGINE_POSTGRES ? base_us - 20 * ALK__MINUTE : base_us;
    int64_t next = schedule_number(scene, "often", "version");

    result = backfill(scene, base_us - ALK__HOUR, base_us - 30 * ALK__MINUTE, 100, true);
    assert_int_equal(result.count, 4);
    assert_int_equal(result.fire_at_us[0], base_us - ALK__HOUR);
    assert_int_equal(result.fire_at_us[3], base_us - 30 * ALK__MINUTE);
    assert_int_equal(result.job_ids[0], 0);
    alk_backfill_result_free(&result);
    assert_int_equal(job_count(scene, "often"), 1);

    result = backfill(scene, base_us - ALK__HOUR, base_us - 30 * ALK__MINUTE, 100, false);
    assert_int_equal(result.count, 4);
    assert_true(result.job_ids[3] > 0);
    assert_false(result.has_more);
    alk_backfill_result_free(&result);
    assert_int_equal(job_count(scene, "often"), 5);
    assert_int_equal(ledger_count(scene, "often", "fired"), 5);
    assert_contains(sql_text(scene, "SELECT headers FROM alk_job ORDER BY id DESC LIMIT 1"),
                    "\"catchup\":true");

    result = backfill(scene, base_us - ALK__HOUR, base_us, 100, false);
    assert_int_equal(result.count, 3);
    assert_int_equal(result.fired_before, 4);
    alk_backfill_result_free(&result);
    assert_int_equal(schedule_number(scene, "often", "fired_total"), 1);
    assert_int_equal(schedule_number(scene, "often", "version"), next);
    ticker_end(&ticker);
}

/* At most max, the oldest, and then it goes on where it stopped; more than a page of them, too. */
static void a_backfill_goes_on_where_it_stopped(struct scene *scene) {
    int64_t base_us = put_often(scene);
    alk_backfill_result result = backfill(scene, base_us - 9 * ALK__DAY, base_us, 600, false);

    assert_int_equal(result.count, 600);
    assert_true(result.has_more);
    assert_int_equal(result.fire_at_us[0], base_us - 9 * ALK__DAY);
    alk_backfill_result_free(&result);
    result = backfill(scene, base_us - 9 * ALK__DAY, base_us, 10000, false);
    assert_int_equal(result.count, 9 * 144 + 1 - 600);
    assert_int_equal(result.fired_before, 600);
    assert_false(result.has_more);
    alk_backfill_result_free(&result);
    assert_int_equal(job_count(scene, "often"), 9 * 144 + 1);
}

/* It works while paused, keeps to the bounds and to what is not later than now, and does not count
 * towards max_fires (S121). */
static void a_backfill_works_while_paused_and_keeps_to_bounds(struct scene *scene) {
    int64_t base_us = put_often(scene);
    alk_backfill_result result;

    ok(scene, alk_schedule_pause(scene->conn, "often", &scene->error));
    sql(scene, "UPDATE alk_schedule SET not_before = %s, max_fires = 1",
        sql_time(scene, base_us - 20 * ALK__MINUTE));
    result = backfill(scene, base_us - ALK__HOUR, base_us + ALK__DAY, 100, false);
    assert_int_equal(result.count, 3);
    assert_int_equal(result.fire_at_us[2], base_us);
    alk_backfill_result_free(&result);
    assert_int_equal(schedule_state(scene, "often"), ALK_SCHEDULE_PAUSED);
    assert_int_equal(schedule_number(scene, "often", "fired_total"), 0);
}

/* A job for the past expires counted from now: else it would be born dead. */
static void a_job_for_the_past_is_not_born_expired(struct scene *scene) {
    int64_t base_us = put_often(scene);

    sql(scene, scene->engine == ALK_ENGINE_SQLITE
                   ? "UPDATE alk_schedule SET expires = 60000000"
                   : "UPDATE alk_schedule SET expires = interval '1 min'");
    alk_backfill_result result =
        backfill(scene, base_us - ALK__HOUR, base_us - ALK__HOUR, 1, false);
    assert_int_equal(result.count, 1);
    alk_backfill_result_free(&result);
    assert_int_equal(
        sql_number(scene, "SELECT count(*) FROM alk_job WHERE expires_at > enqueued_at"), 1);
}

static void what_a_backfill_cannot_do_is_refused(struct scene *scene) {
    alk_backfill_result result;
    int64_t base_us = put_often(scene);

    expect(
        scene, ALK_ABSENT,
        alk_schedule_backfill(scene->conn, "other", 0, base_us, 1, false, &result, &scene->error));
    expect(scene, ALK_INVALID,
           alk_schedule_backfill(scene->conn, "often", base_us, base_us - 1, 1, false, &result,
                                 &scene->error));
    expect(scene, ALK_INVALID,
           alk_schedule_backfill(scene->conn, "often", 0, base_us, 10001, false, &result,
                                 &scene->error));
    sql(scene, "UPDATE alk_schedule SET spec = 'nonsense'");
    expect(
        scene, ALK_INVALID,
        alk_schedule_backfill(scene->conn, "often", 0, base_us, 1, false, &result, &scene->error));
    assert_contains(scene->error.message, "schedule 'often'");
}

/* ---- sets ---- */

static alk_schedule member(const char *name, const char *spec) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;

    schedule.name = name;
    schedule.spec = spec;
    schedule.queue = "work";
    return schedule;
}

static void expect_change(const alk_apply_result *result, size_t n, const char *name,
                          alk_apply_action action) {
    assert_true(n < result->count);
    assert_string_equal(result->changes[n].name, name);
    assert_int_equal(result->changes[n].action, action);
}

/* S123: a set is made what is given; what it owned beside that goes, what others own never does;
 * a dry run says the same and does nothing. */
static void a_set_becomes_what_is_given(struct scene *scene) {
    alk_schedule first[] = {member("b", "@daily"), member("a", "@hourly"), member("c", "@daily")};
    alk_schedule second[] = {member("d", "@daily"), member("a", "@hourly"), member("b", "@weekly")};
    alk_apply_result result;

    put(scene, "dynamic", "@daily");
    first[0].owner_set = "of another";
    alk_schedule theirs = member("theirs", "@daily");
    theirs.owner_set = "another";
    ok(scene, alk_schedule_put(scene->conn, &theirs, &scene->error));
    ok(scene, alk_schedule_apply(scene->conn, "ops", first, 3, false, &result, &scene->error));
    assert_int_equal(result.count, 3);
    expect_change(&result, 0, "b", ALK_APPLY_ADDED);
    expect_change(&result, 2, "c", ALK_APPLY_ADDED);
    alk_apply_result_free(&result);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule WHERE owner_set = 'ops'"),
                     3);

    for (int is_dry_run = 1; is_dry_run >= 0; is_dry_run--) {
        int64_t version = schedule_number(scene, "a", "version");
        ok(scene, alk_schedule_apply(scene->conn, "ops", second, 3, is_dry_run == 1, &result,
                                     &scene->error));
        assert_int_equal(result.count, 4);
        expect_change(&result, 0, "d", ALK_APPLY_ADDED);
        expect_change(&result, 1, "a", ALK_APPLY_UNCHANGED);
        expect_change(&result, 2, "b", ALK_APPLY_CHANGED);
        expect_change(&result, 3, "c", ALK_APPLY_REMOVED);
        alk_apply_result_free(&result);
        assert_int_equal(schedule_number(scene, "a", "version"), version);
        assert_int_equal(
            sql_number(scene, "SELECT count(*) FROM alk_schedule WHERE name IN ('c', 'd')"), 1);
        assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule WHERE name = 'c'"),
                         is_dry_run);
    }
    assert_string_equal(sql_text(scene, "SELECT spec FROM alk_schedule WHERE name = 'b'"),
                        "@weekly");
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"
                                       " WHERE name IN ('dynamic', 'theirs')"),
                     2);
    ok(scene, alk_schedule_apply(scene->conn, "ops", NULL, 0, false, NULL, &scene->error));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"), 2);
}

/* S123, S32: all of it or nothing, in a caller's transaction too. */
static void a_set_with_a_bad_schedule_changes_nothing(struct scene *scene) {
    alk_schedule good[] = {member("a", "@hourly"), member("b", "@daily")};
    alk_schedule bad[] = {member("c", "@hourly"), member("a", "0 0 12 1 1 * 2020")};
    alk_schedule twice[] = {member("c", "@hourly"), member("c", "@daily")};

    ok(scene, alk_schedule_apply(scene->conn, "ops", good, 2, false, NULL, &scene->error));
    expect(scene, ALK_INVALID,
           alk_schedule_apply(scene->conn, "ops", bad, 2, false, NULL, &scene->error));
    assert_contains(scene->error.message, "schedule 'a'");
    expect(scene, ALK_INVALID,
           alk_schedule_apply(scene->conn, "ops", twice, 2, false, NULL, &scene->error));
    assert_contains(scene->error.message, "'c' is given twice");
    expect(scene, ALK_INVALID,
           alk_schedule_apply(scene->conn, "", good, 2, false, NULL, &scene->error));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"), 2);

    ok(scene, alk_begin(scene->conn, &scene->error));
    ok(scene, alk_schedule_apply(scene->conn, "ops", good, 1, true, NULL, &scene->error));
    ok(scene, alk_schedule_apply(scene->conn, "ops", good, 1, false, NULL, &scene->error));
    alk_rollback(scene->conn);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"), 2);
}

static alk_status no_memory_here(struct scene *scene, alk_schedule *set, long n) {
    alk_apply_result applied = {0};
    alk_backfill_result filled = {0};
    int64_t now_us = scene_now(scene);

    alk__alloc_fail_at(n);
    alk_status status =
        alk_schedule_apply(scene->conn, "ops", set, 2, true, &applied, &scene->error);
    if (status >= 0)
        status = alk_schedule_backfill(scene->conn, "often", now_us - ALK__HOUR, now_us, 100, true,
                                       &filled, &scene->error);
    alk__alloc_fail_at(0);
    alk_apply_result_free(&applied);
    alk_backfill_result_free(&filled);
    return status;
}

static void no_memory_is_an_error_at_every_place(struct scene *scene) {
    alk_schedule set[] = {member("a", "@hourly"), member("b", "H H * * *")};
    alk_status status = ALK_NOMEM;

    put_often(scene);
    for (long n = 1; status == ALK_NOMEM; n++) {
        assert_true(n < 2000);
        status = no_memory_here(scene, set, n);
    }
    assert_int_equal(status, ALK_OK);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"), 1);
}

static const struct scene_test tests[] = {
    BOTH(a_backfill_fires_what_has_not_fired),
    BOTH(a_backfill_goes_on_where_it_stopped),
    BOTH(a_backfill_works_while_paused_and_keeps_to_bounds),
    BOTH(a_job_for_the_past_is_not_born_expired),
    BOTH(what_a_backfill_cannot_do_is_refused),
    BOTH(a_set_becomes_what_is_given),
    BOTH(a_set_with_a_bad_schedule_changes_nothing),
    SQLITE(no_memory_is_an_error_at_every_place),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
