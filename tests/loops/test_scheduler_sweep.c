/* loops/scheduler_sweep and core/sweep: what a leader does about a clock that was set, about zone
 * files that changed, and about what was missed before it started. */
#include <stdlib.h>

#include "support/leaders.h"

static int64_t next_of(struct scene *scene, const char *name) {
    alk_schedule_list list;

    ok(scene, alk_schedule_get(scene->conn, name, &list, &scene->error));
    int64_t next_us = list.schedules[0].next_fire_at_us;
    alk_schedule_list_free(&list);
    return next_us;
}

/* The database's clock moves, back where span_us is below 0, while the lease stays held, and the
 * leader looks at it. */
static void clock_moves(struct scene *scene, struct leader *leader, int64_t span_us) {
    scene_pass(scene, span_us);
    sql(scene, "UPDATE alk_lease SET expires_at = %s WHERE name = 'scheduler'",
        sql_time(scene, scene_now(scene) + LEADER_TTL_US));
    leader_age(leader, LEADER_TTL_US / 3);
    leader_settle(scene, leader);
}

static int64_t fired(struct scene *scene) {
    return sql_number(scene, "SELECT count(*) FROM alk_schedule_event WHERE outcome = 'fired'");
}

static void start(struct scene *scene, struct leader *leader) {
    leader_new(scene, leader, "scheduler", "test");
    leader_settle(scene, leader);
}

/* S137: after a step back of an hour what fired in it does not fire again, and schedules fire
 * within one period of theirs, not an hour later; the step is told and counted once. */
static void a_clock_that_goes_back_silences_nothing(struct scene *scene) {
    struct leader leader;

    put(scene, "often", "@every 10m");
    put(scene, "rarely", "@every 3h");
    start(scene, &leader);
    for (int i = 0; i < 6; i++)
        clock_moves(scene, &leader, 10 * ALK__MINUTE);
    assert_int_equal(job_count(scene, "often"), 6);

    clock_moves(scene, &leader, -ALK__HOUR);
    assert_int_equal(record_count(leader.record, "clock went back", "scheduler"), 1);
    assert_int_equal(record_count(leader.record, "schedules armed again", NULL), 1);
    assert_int_equal(record_last(leader.record, "schedules armed again")->count, 1);
    int64_t now_us = scene_now(scene);
    assert_true(next_of(scene, "often") > now_us);
    assert_true(next_of(scene, "often") <= now_us + 10 * ALK__MINUTE);
    assert_true(next_of(scene, "rarely") > now_us + 2 * ALK__HOUR);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule WHERE last_fire_at > %s",
                                sql_time(scene, now_us)),
                     0);

    for (int i = 0; i < 6; i++) /* the same hour again */
        clock_moves(scene, &leader, 10 * ALK__MINUTE);
    assert_int_equal(job_count(scene, "often"), 6);
    assert_int_equal(fired(scene), 6);
    clock_moves(scene, &leader, 10 * ALK__MINUTE);
    assert_int_equal(job_count(scene, "often"), 7);
    assert_int_equal(record_count(leader.record, "clock went back", "scheduler"), 1);
    leader_free(&leader);
}

/* S130, S137: what was due already when the step was met is not passed over: it fires as the policy
 * says, though the wrong clock's last fire lies ahead. */
static void a_step_back_passes_over_nothing_that_is_due(struct scene *scene) {
    struct leader leader;

    put(scene, "often", "@every 10m");
    start(scene, &leader);
    make_due(scene, "often", 20 * ALK__MINUTE);
    int64_t now_us = scene_now(scene);
    sql(scene, "UPDATE alk_schedule SET last_fire_at = %s", sql_time(scene, now_us + ALK__HOUR));
    sql(scene, "UPDATE alk_lease SET high_water = %s", sql_time(scene, now_us + ALK__HOUR));
    leader_age(&leader, LEADER_TTL_US / 3);
    leader_settle(scene, &leader);
    assert_int_equal(record_count(leader.record, "clock went back", NULL), 1);
    assert_int_equal(job_count(scene, "often"), 1);
    assert_int_equal(schedule_number(scene, "often", "missed_total"), 2);
    leader_free(&leader);
}

/* S137: what became done, or was put into quarantine, under a clock that was a day ahead is not so
 * for a day; a step of two seconds is none. */
static void a_step_back_revives_what_was_done_too_soon(struct scene *scene) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;
    struct leader leader;

    schedule.name = "bounded";
    schedule.spec = "@every 1h";
    schedule.queue = "work";
    schedule.not_after_us = scene_now(scene) + 5 * ALK__HOUR;
    schedule.catchup = ALK_CATCHUP_SKIP; /* it is done without having fired */
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    put(scene, "bad", "@every 1h");
    put(scene, "paused", "@every 1h");
    start(scene, &leader);
    clock_moves(scene, &leader, -ALK__SECOND);
    assert_int_equal(record_count(leader.record, "clock went back", NULL), 0);

    sql(scene, "UPDATE alk_schedule SET spec = 'nonsense' WHERE name = 'bad'");
    clock_moves(scene, &leader, ALK__DAY);
    clock_moves(scene, &leader, ALK__HOUR);
    ok(scene, alk_schedule_pause(scene->conn, "paused", &scene->error));
    assert_int_equal(schedule_state(scene, "bounded"), ALK_SCHEDULE_DONE);
    assert_int_equal(schedule_state(scene, "bad"), ALK_SCHEDULE_QUARANTINED);
    sql(scene, "UPDATE alk_schedule SET spec = '@every 1h' WHERE name = 'bad'");
    clock_moves(scene, &leader, ALK__SECOND - ALK__DAY - ALK__HOUR);
    assert_int_equal(schedule_state(scene, "bounded"), ALK_SCHEDULE_ACTIVE);
    assert_true(next_of(scene, "bounded") <= scene_now(scene) + ALK__HOUR);
    assert_true(next_of(scene, "paused") <= scene_now(scene) + ALK__HOUR);
    assert_int_equal(schedule_state(scene, "bad"), ALK_SCHEDULE_ACTIVE);
    assert_true(next_of(scene, "bad") <= scene_now(scene) + ALK__HOUR);
    leader_free(&leader);
}

/* S137: a step forward is a wait that was long: the policy decides about what lies in it. */
static void a_step_forward_follows_the_policy(struct scene *scene) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;
    struct leader leader;

    put(scene, "last", "@every 10m");
    schedule.name = "all";
    schedule.spec = "@every 10m";
    schedule.queue = "work";
    schedule.catchup = ALK_CATCHUP_ALL;
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    start(scene, &leader);
    clock_moves(scene, &leader, 65 * ALK__MINUTE);
    assert_int_equal(job_count(scene, "last"), 1);
    assert_int_equal(schedule_number(scene, "last", "missed_total"), 5);
    assert_int_equal(job_count(scene, "all"), 6);
    leader_free(&leader);
}

/* S137: rows that somebody holds are armed again when they are free; until then the step is not
 * forgotten. */
static void a_held_row_is_armed_again_later(struct scene *scene) {
    struct leader leader;

    put(scene, "held", "@every 10m");
    put(scene, "free", "@every 10m");
    start(scene, &leader);
    clock_moves(scene, &leader, ALK__HOUR);
    sql(scene, "BEGIN");
    sql(scene, "SELECT id FROM alk_schedule WHERE name = 'held' FOR UPDATE");
    int64_t before_us = next_of(scene, "held") + ALK__HOUR;
    sql(scene, "COMMIT");
    scene_pass(scene, -ALK__HOUR);
    sql(scene, "UPDATE alk_lease SET expires_at = %s WHERE name = 'scheduler'",
        sql_time(scene, scene_now(scene) + LEADER_TTL_US));
    sql(scene, "BEGIN");
    sql(scene, "SELECT id FROM alk_schedule WHERE name = 'held' FOR UPDATE");
    leader_age(&leader, LEADER_TTL_US / 3);
    leader_settle(scene, &leader);
    assert_true(next_of(scene, "free") <= scene_now(scene) + 10 * ALK__MINUTE);
    assert_int_equal(next_of(scene, "held"), before_us);
    sql(scene, "COMMIT");
    leader.scheduler.sweep_at_us = 0;
    leader_settle(scene, &leader);
    assert_true(next_of(scene, "held") <= scene_now(scene) + 10 * ALK__MINUTE);
    assert_int_equal(record_count(leader.record, "clock went back", NULL), 1);
    assert_false(leader.scheduler.wants[ALK__SWEEP_REARM]);
    leader_free(&leader);
}

static void make_many(struct scene *scene, int64_t next_us) {
    put(scene, "often", "@every 10m");
    sql(scene,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)"
        " INSERT INTO alk_schedule (name, spec, queue, payload, anchor_at, next_fire_at,"
        " created_at) SELECT 'n' || i, spec, queue, payload, anchor_at, %s, created_at"
        " FROM n, alk_schedule",
        sql_time(scene, next_us));
}

/* More schedules than a batch: each is armed again, a batch between two renewals. */
static void a_sweep_goes_over_all_schedules(struct scene *scene) {
    struct leader leader;
    struct faults faults;

    make_many(scene, scene_now(scene) + ALK__DAY);
    start(scene, &leader);
    clock_moves(scene, &leader, ALK__MINUTE);
    faults_install(&faults, scene->store);
    clock_moves(scene, &leader, -ALK__MINUTE);
    assert_int_equal(faults_count(&faults, "sweep_all"), 3);
    assert_int_equal(faults_count(&faults, "lease_renew"), 3);
    faults_remove(&faults);
    assert_int_equal(record_last(leader.record, "schedules armed again")->count, 1200);
    assert_int_equal(sql_number(scene,
                                "SELECT count(*) FROM alk_schedule"
                                " WHERE next_fire_at > %s",
                                sql_time(scene, scene_now(scene) + 10 * ALK__MINUTE)),
                     0);
    leader_free(&leader);
}

/* ---- what was missed before the start ---- */

static alk_status run_once(struct scene *scene, bool forget_missed) {
    alk_scheduler_options options = ALK_SCHEDULER_OPTIONS_INIT;

    options.is_once = true;
    options.forget_missed = forget_missed;
    return alk_scheduler_run(scene->store, &options, NULL, &scene->error);
}

/* After a restore of an old backup nothing of the past fires when it is to be forgotten: one line
 * says what was left out (schedules.md, part 9). S130 */
static void what_was_missed_may_be_forgotten(struct scene *scene) {
    alk_schedule_history history;

    put(scene, "often", "@every 10m");
    put(scene, "paused", "@every 10m");
    put(scene, "bad", "@every 10m");
    ok(scene, alk_schedule_pause(scene->conn, "paused", &scene->error));
    sql(scene, "UPDATE alk_schedule SET spec = 'nonsense' WHERE name = 'bad'");
    scene_pass(scene, 65 * ALK__MINUTE);
    ok(scene, run_once(scene, true));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 0);
    assert_int_equal(schedule_number(scene, "often", "missed_total"), 6);
    ok(scene, alk_schedule_history_get(scene->conn, "often", 10, &history, &scene->error));
    assert_int_equal(history.count, 1);
    assert_string_equal(history.events[0].outcome, "missed");
    assert_int_equal(history.events[0].count, 6);
    assert_true(history.events[0].fence > 0);
    alk_schedule_history_free(&history);
    assert_int_equal(ledger_count(scene, "paused", "missed"), 0);
    assert_int_equal(schedule_state(scene, "bad"), ALK_SCHEDULE_QUARANTINED);
    assert_true(next_of(scene, "often") > scene_now(scene));

    scene_pass(scene, 10 * ALK__MINUTE);
    ok(scene, run_once(scene, false));
    assert_int_equal(job_count(scene, "often"), 1);
}

/* Nothing fires before all of it is forgotten, however many batches that takes. */
static void nothing_fires_before_all_is_forgotten(struct scene *scene) {
    make_many(scene, scene_now(scene) / ALK__SECOND * ALK__SECOND + 10 * ALK__MINUTE);
    scene_pass(scene, 15 * ALK__MINUTE);
    ok(scene, run_once(scene, true));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 0);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule_event"), 1201);
}

/* Only what was due before the start, and only once: later elections forget nothing. */
static void it_is_forgotten_once(struct scene *scene) {
    alk_scheduler_options options = ALK_SCHEDULER_OPTIONS_INIT;
    struct leader leader;

    put(scene, "often", "@every 10m");
    scene_pass(scene, 15 * ALK__MINUTE);
    leader_new(scene, &leader, "scheduler", "test");
    alk__scheduler_free(&leader.scheduler);
    options.forget_missed = true;
    options.ttl_us = LEADER_TTL_US;
    options.event = record_event;
    options.event_context = leader.record;
    ok(scene, alk__scheduler_init(&leader.scheduler, scene->store, &options, &scene->error));
    leader_settle(scene, &leader);
    assert_int_equal(job_count(scene, "often"), 0);
    assert_int_equal(schedule_number(scene, "often", "missed_total"), 1);

    scene_pass(scene, 10 * ALK__MINUTE); /* its lease is over by then */
    expect(scene, ALK_LOST, leader_step(scene, &leader));
    leader_settle(scene, &leader);
    assert_int_equal(job_count(scene, "often"), 1);
    assert_int_equal(schedule_number(scene, "often", "missed_total"), 1);
    leader_free(&leader);
}

/* ---- zone files ---- */

static void copy_zone(const char *from, const char *folder) {
    char path[256];
    char bytes[8192];

    snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", from);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    snprintf(path, sizeof(path), "%s/Place", folder);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

/* S105: next fires follow a zone file that changed: on request, at each election, once a day; what
 * is due already is left as it is, and a zone that is gone stops nothing else (S141). */
static void next_fires_follow_new_zone_files(struct scene *scene) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;
    struct leader leader;

    copy_zone("Asia/Tokyo", scene->folder);
    setenv("TZDIR", scene->folder, 1);
    schedule.name = "noon";
    schedule.spec = "0 12 * * *";
    schedule.zone = "Place";
    schedule.queue = "work";
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    put(scene, "utc", "0 12 * * *");
    assert_int_equal(next_of(scene, "noon") % ALK__DAY, 3 * ALK__HOUR);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"
                                       " WHERE zone_fingerprint <> '0000000000000000'"),
                     1);
    start(scene, &leader);
    assert_int_equal(record_count(leader.record, "schedules follow new zone files", NULL), 0);

    copy_zone("Asia/Kolkata", scene->folder);
    alk_scheduler_refresh_zones();
    leader_age(&leader, LEADER_TTL_US / 3);
    leader_settle(scene, &leader);
    assert_int_equal(record_count(leader.record, "schedules follow new zone files", NULL), 1);
    assert_int_equal(next_of(scene, "noon") % ALK__DAY, 6 * ALK__HOUR + 30 * ALK__MINUTE);
    assert_int_equal(next_of(scene, "utc") % ALK__DAY, 12 * ALK__HOUR);

    copy_zone("Asia/Tokyo", scene->folder);
    leader.scheduler.zones_at_us = 0; /* a day has passed */
    leader_age(&leader, LEADER_TTL_US / 3);
    leader_settle(scene, &leader);
    assert_int_equal(next_of(scene, "noon") % ALK__DAY, 3 * ALK__HOUR);
    alk__scheduler_release(&leader.scheduler);

    copy_zone("Asia/Kolkata", scene->folder);
    leader_settle(scene, &leader);
    assert_int_equal(next_of(scene, "noon") % ALK__DAY, 6 * ALK__HOUR + 30 * ALK__MINUTE);

    char path[256];
    snprintf(path, sizeof(path), "%s/Place", scene->folder);
    remove(path);
    alk_scheduler_refresh_zones();
    put(scene, "often", "@every 10m");
    clock_moves(scene, &leader, 2 * ALK__DAY);
    assert_int_equal(schedule_state(scene, "noon"), ALK_SCHEDULE_QUARANTINED);
    assert_int_equal(job_count(scene, "often"), 1);
    unsetenv("TZDIR");
    leader_free(&leader);
}

/* schedules.md, part 3: a schedule that somebody's own SQL wrote, without a fingerprint, gets one,
 * its next fire left as it is; then it follows the zone's file as others do. */
static void a_row_without_a_fingerprint_gets_one(struct scene *scene) {
    struct leader leader;

    copy_zone("Asia/Tokyo", scene->folder);
    setenv("TZDIR", scene->folder, 1);
    put(scene, "column", "0 12 * * *");
    put(scene, "prefix", "0 12 * * *");
    put(scene, "utc", "0 12 * * *");
    sql(scene, "UPDATE alk_schedule SET zone_fingerprint = NULL");
    sql(scene, "UPDATE alk_schedule SET zone = 'Place' WHERE name = 'column'");
    sql(scene, "UPDATE alk_schedule SET spec = 'CRON_TZ=Place 0 12 * * *' WHERE name = 'prefix'");
    start(scene, &leader);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"
                                       " WHERE zone_fingerprint IS NULL"),
                     0);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"
                                       " WHERE zone_fingerprint = '0000000000000000'"),
                     1);
    assert_int_equal(next_of(scene, "column") % ALK__DAY, 12 * ALK__HOUR);

    copy_zone("Asia/Kolkata", scene->folder);
    alk_scheduler_refresh_zones();
    leader_age(&leader, LEADER_TTL_US / 3);
    leader_settle(scene, &leader);
    assert_int_equal(next_of(scene, "column") % ALK__DAY, 6 * ALK__HOUR + 30 * ALK__MINUTE);
    assert_int_equal(next_of(scene, "prefix") % ALK__DAY, 6 * ALK__HOUR + 30 * ALK__MINUTE);
    assert_int_equal(next_of(scene, "utc") % ALK__DAY, 12 * ALK__HOUR);
    unsetenv("TZDIR");
    leader_free(&leader);
}

/* S138, S144: a schedule that the database will not have changed keeps no other from being armed.
 */
static void one_that_cannot_be_written_is_passed_over(struct scene *scene) {
    struct leader leader;

    make_many(scene, scene_now(scene) + 2 * ALK__DAY);
    sql(scene, "UPDATE alk_schedule SET version = 9223372036854775807 WHERE id = 700");
    start(scene, &leader);
    sql(scene, "UPDATE alk_lease SET high_water = %s",
        sql_time(scene, scene_now(scene) + ALK__DAY));
    leader_age(&leader, LEADER_TTL_US / 3);
    leader_settle(scene, &leader);
    assert_int_equal(record_count(leader.record, "schedules armed again", NULL), 1);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule WHERE next_fire_at > %s",
                                sql_time(scene, scene_now(scene) + ALK__DAY)),
                     1);
    leader_free(&leader);
}

static const struct scene_test tests[] = {
    BOTH(a_step_back_passes_over_nothing_that_is_due),
    BOTH(a_clock_that_goes_back_silences_nothing),
    BOTH(a_step_back_revives_what_was_done_too_soon),
    BOTH(a_step_forward_follows_the_policy),
    POSTGRES(a_held_row_is_armed_again_later),
    BOTH(a_sweep_goes_over_all_schedules),
    BOTH(what_was_missed_may_be_forgotten),
    BOTH(nothing_fires_before_all_is_forgotten),
    BOTH(it_is_forgotten_once),
    BOTH(next_fires_follow_new_zone_files),
    BOTH(a_row_without_a_fingerprint_gets_one),
    BOTH(one_that_cannot_be_written_is_passed_over),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
