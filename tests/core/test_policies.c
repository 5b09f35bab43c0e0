/* core/tick with policies: what is fired late, what is not, when it ends, and what an unfinished
 * job does to it. */
#include "base/duration.h"
#include "support/schedules.h"
#include "when/catchup.h"

static alk_schedule schedule_of(const char *name, const char *spec) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;

    schedule.name = name;
    schedule.spec = spec;
    schedule.queue = "work";
    return schedule;
}

static void state(struct scene *scene, const alk_schedule *schedule) {
    ok(scene, alk_schedule_put(scene->conn, schedule, &scene->error));
}

static int64_t us_of(struct scene *scene, const char *query) {
    return scene->engine == ALK_ENGINE_SQLITE
               ? sql_number(scene, "%s", query)
               : sql_number(scene, "SELECT (extract(epoch FROM (%s)) * 1000000)::bigint", query);
}

/* The rows of the table of part 5 that do not hang on the calendar. */
struct missed {
    const char *spec;
    int64_t back_us; /* of the oldest boundary that is due */
    alk_catchup catchup;
    int max;
    int64_t window_us;
    int64_t max_lateness_us;
    int fired;
    int missed;
};

#define HOURS_3_10 (3 * ALK__HOUR + 10 * ALK__MINUTE)
static const struct missed missed[] = {
    {"@every 1h", HOURS_3_10, ALK_CATCHUP_SKIP, 0, NEVER, NEVER, 0, 4},
    {"@every 1h", HOURS_3_10, ALK_CATCHUP_LAST, 0, NEVER, NEVER, 1, 3},
    {"@every 1h", HOURS_3_10, ALK_CATCHUP_ALL, 2, NEVER, NEVER, 2, 2},
    {"@every 1h", HOURS_3_10, ALK_CATCHUP_ALL, 10, NEVER, NEVER, 4, 0},
    {"@every 1h", HOURS_3_10, ALK_CATCHUP_ALL, 0, 90 * ALK__MINUTE, NEVER, 2, 2},
    {"@every 1h", 3 * ALK__HOUR + 20 * ALK__SECOND, ALK_CATCHUP_SKIP, 0, NEVER, NEVER, 1, 3},
    {"@every 5s", 52 * ALK__SECOND, ALK_CATCHUP_SKIP, 0, NEVER, NEVER, 11, 0},
    {"@every 5s", 52 * ALK__SECOND, ALK_CATCHUP_LAST, 0, NEVER, NEVER, 11, 0},
    {"@every 5s", 52 * ALK__SECOND, ALK_CATCHUP_ALL, 3, NEVER, NEVER, 3, 8},
    {"@every 1d", 11 * ALK__HOUR, ALK_CATCHUP_LAST, 0, NEVER, 4 * ALK__HOUR, 0, 1},
};

/* S131: skip, last and all, with window, cap and maximum lateness; what is dropped is counted in
 * the row and is one line of the ledger (S130), and the newest of what fires is the newest due. */
static void catch_up_follows_the_schedules_policy(struct scene *scene) {
    struct ticker ticker;

    ticker_start(scene, &ticker);
    for (size_t i = 0; i < sizeof(missed) / sizeof(*missed); i++) {
        const struct missed *one = &missed[i];
        alk_schedule schedule = schedule_of("often", one->spec);
        schedule.catchup = one->catchup;
        schedule.catchup_max = one->max;
        schedule.catchup_window_us = one->window_us;
        schedule.max_lateness_us = one->max_lateness_us;
        state(scene, &schedule);
        make_due(scene, "often", one->back_us);
        ok(scene, ticker_tick(scene, &ticker));
        /* On PostgreSQL a slow machine meets more boundaries of "@every 5s" than these. */
        bool is_exact = scene->engine == ALK_ENGINE_SQLITE || strcmp(one->spec, "@every 5s") != 0;
        int64_t missed_total = schedule_number(scene, "often", "missed_total");
        assert_true(is_exact ? job_count(scene, "often") == one->fired
                             : job_count(scene, "often") >= one->fired);
        assert_true(is_exact ? missed_total == one->missed : missed_total >= one->missed);
        assert_int_equal(ledger_count(scene, "often", "fired"), job_count(scene, "often"));
        assert_int_equal(ledger_count(scene, "often", "missed"), one->missed > 0);
        assert_int_equal(sql_number(scene, "SELECT coalesce(sum(count), 0) FROM alk_schedule_event"
                                           " WHERE outcome = 'missed'"),
                         missed_total);
        ok(scene, alk_schedule_remove(scene->conn, "often", &scene->error));
        sql(scene, "DELETE FROM alk_job");
    }
    ticker_end(&ticker);
}

/* S131: grace says from which age on a boundary is missed. */
static void grace_is_the_schedules_own(struct scene *scene) {
    alk_schedule schedule = schedule_of("often", "@every 1h");
    struct ticker ticker;

    schedule.catchup = ALK_CATCHUP_SKIP;
    schedule.grace_us = 15 * ALK__MINUTE;
    state(scene, &schedule);
    make_due(scene, "often", 10 * ALK__MINUTE);
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(job_count(scene, "often"), 1);
    assert_contains(sql_text(scene, "SELECT headers FROM alk_job"), "\"catchup\":false");

    schedule.grace_us = 0;
    state(scene, &schedule);
    make_due(scene, "often", 10 * ALK__SECOND);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(job_count(scene, "often"), 1);
    assert_int_equal(schedule_number(scene, "often", "missed_total"), 1);
    ticker_end(&ticker);
}

/* S121: the first boundary is not before not_before, itself one; not_after is none any more, and
 * then the schedule is done. */
static void bounds_are_where_boundaries_begin_and_end(struct scene *scene) {
    alk_schedule schedule = schedule_of("bounded", "@every 10s");
    struct ticker ticker;
    alk_schedule_list list;

    state(scene, &schedule);
    ok(scene, alk_schedule_get(scene->conn, "bounded", &list, &scene->error));
    int64_t anchor_us = list.schedules[0].anchor_at_us;
    alk_schedule_list_free(&list);
    schedule.not_before_us = anchor_us + ALK__HOUR;
    schedule.not_after_us = anchor_us + ALK__HOUR + 20 * ALK__SECOND;
    state(scene, &schedule);
    ok(scene, alk_schedule_get(scene->conn, "bounded", &list, &scene->error));
    assert_int_equal(list.schedules[0].next_fire_at_us, anchor_us + ALK__HOUR);
    assert_int_equal(list.schedules[0].not_before_us, anchor_us + ALK__HOUR);
    alk_schedule_list_free(&list);

    ticker_start(scene, &ticker);
    scene_pass(scene, ALK__HOUR + 30 * ALK__SECOND); /* within the grace */
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ledger_count(scene, "bounded", "fired"), 2); /* the third is not_after */
    assert_int_equal(schedule_number(scene, "bounded", "missed_total"), 0);
    assert_int_equal(schedule_state(scene, "bounded"), ALK_SCHEDULE_DONE);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.seen, 0);

    schedule.not_after_us = scene_now(scene) - ALK__SECOND;
    expect(scene, ALK_INVALID, alk_schedule_put(scene->conn, &schedule, &scene->error));
    ticker_end(&ticker);
}

/* S121: max_fires counts boundaries that fired, the oldest of what is due first; a run by hand
 * counts towards it no more than towards the others. */
static void max_fires_ends_a_schedule(struct scene *scene) {
    alk_schedule schedule = schedule_of("thrice", "@every 10s");
    struct ticker ticker;

    schedule.max_fires = 3;
    state(scene, &schedule);
    ticker_start(scene, &ticker);
    ok(scene, alk_schedule_fire(scene->conn, "thrice", NULL, NULL, &scene->error));
    make_due(scene, "thrice", 5 * ALK__SECOND);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ledger_count(scene, "thrice", "fired"), 1);
    assert_int_equal(schedule_state(scene, "thrice"), ALK_SCHEDULE_ACTIVE);

    scene_pass(scene, 50 * ALK__SECOND); /* five are due */
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ledger_count(scene, "thrice", "fired"), 3);
    assert_int_equal(schedule_state(scene, "thrice"), ALK_SCHEDULE_DONE);
    assert_int_equal(us_of(scene, "SELECT max(fire_at) FROM alk_schedule_event") -
                         us_of(scene, "SELECT min(fire_at) FROM alk_schedule_event"),
                     20 * ALK__SECOND);

    expect(scene, ALK_UNCHANGED, alk_schedule_put(scene->conn, &schedule, &scene->error));
    schedule.max_fires = 4; /* one more: it goes on with the first boundary after now */
    state(scene, &schedule);
    assert_int_equal(schedule_state(scene, "thrice"), ALK_SCHEDULE_ACTIVE);
    scene_pass(scene, 10 * ALK__SECOND);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(schedule_number(scene, "thrice", "fired_total"), 4);
    assert_int_equal(schedule_state(scene, "thrice"), ALK_SCHEDULE_DONE);
    schedule.max_fires = 2;
    state(scene, &schedule);
    assert_int_equal(schedule_state(scene, "thrice"), ALK_SCHEDULE_DONE);
    ticker_end(&ticker);
}

/* S104: an @at fires once and is done then; stating it again changes nothing. */
static void a_one_shot_is_done_when_it_has_fired(struct scene *scene) {
    alk_schedule schedule = schedule_of("once", NULL);
    struct ticker ticker;
    char spec[ALK__TIME_BYTES + 8] = "@at ";
    int64_t at_us = scene_now(scene) / ALK__SECOND * ALK__SECOND + ALK__HOUR;

    alk__time_format(at_us, spec + 4, sizeof(spec) - 4);
    schedule.spec = spec;
    state(scene, &schedule);
    sql(scene, "UPDATE alk_schedule SET next_fire_at = %s",
        sql_time(scene, at_us - ALK__HOUR)); /* due, and yet no boundary before its time */
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(job_count(scene, "once"), 0);
    assert_int_equal(schedule_state(scene, "once"), ALK_SCHEDULE_ACTIVE);
    ok(scene, alk_schedule_remove(scene->conn, "once", &scene->error));

    alk__time_format(at_us - 2 * ALK__HOUR, spec + 4, sizeof(spec) - 4); /* an hour ago */
    expect(scene, ALK_INVALID, alk_schedule_put(scene->conn, &schedule, &scene->error));
    assert_contains(scene->error.message, "no boundary after now");
    schedule.allow_late = true;
    state(scene, &schedule);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(job_count(scene, "once"), 1);
    assert_int_equal(schedule_state(scene, "once"), ALK_SCHEDULE_DONE);
    schedule.allow_late = false;
    expect(scene, ALK_UNCHANGED, alk_schedule_put(scene->conn, &schedule, &scene->error));
    scene_pass(scene, ALK__DAY);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.seen, 0);
    ticker_end(&ticker);
}

/* S109: jitter lies in the job's run_at, hangs on schedule and boundary alone, and moves no
 * boundary. */
static void jitter_moves_the_job_and_not_the_boundary(struct scene *scene) {
    alk_schedule schedule = schedule_of("jittery", "@every 1h");
    struct ticker ticker;
    bool has_moved = false;

    schedule.jitter_us = 30 * ALK__MINUTE;
    state(scene, &schedule);
    int64_t id = schedule_number(scene, "jittery", "id");
    ticker_start(scene, &ticker);
    for (int i = 0; i < 5; i++) {
        make_due(scene, "jittery", i * ALK__SECOND);
        sql(scene, "DELETE FROM alk_job; DELETE FROM alk_schedule_event");
        ok(scene, ticker_tick(scene, &ticker));
        int64_t fire_us = us_of(scene, "SELECT fire_at FROM alk_job");
        int64_t run_us = us_of(scene, "SELECT run_at FROM alk_job");
        int64_t least_us = us_of(scene, "SELECT enqueued_at FROM alk_job");
        int64_t wanted_us = fire_us + alk__jitter_us(id, fire_us / ALK__SECOND, schedule.jitter_us,
                                                     fire_us / ALK__SECOND + 3600);
        assert_int_equal(fire_us % ALK__SECOND, 0);
        assert_int_equal(fire_us, us_of(scene, "SELECT fire_at FROM alk_schedule_event"));
        assert_int_equal(run_us, wanted_us > least_us ? wanted_us : least_us);
        assert_true(run_us - fire_us < schedule.jitter_us || run_us == least_us);
        has_moved = has_moved || run_us - fire_us > ALK__MINUTE;
    }
    assert_true(has_moved);
    ticker_end(&ticker);
}

static const struct scene_test tests[] = {
    BOTH(catch_up_follows_the_schedules_policy),
    BOTH(grace_is_the_schedules_own),
    BOTH(bounds_are_where_boundaries_begin_and_end),
    BOTH(max_fires_ends_a_schedule),
    BOTH(a_one_shot_is_done_when_it_has_fired),
    BOTH(jitter_moves_the_job_and_not_the_boundary),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
