/* core/tick: what one tick writes, and that it is all of it or nothing. */
#include "base/duration.h"
#include "support/fault.h"
#include "support/schedules.h"

static int64_t time_number(struct scene *scene, const char *expression, const char *from) {
    return sql_number(scene,
                      scene->engine == ALK_ENGINE_SQLITE
                          ? "SELECT %s FROM %s"
                          : "SELECT (extract(epoch FROM %s) * 1000000)::bigint FROM %s",
                      expression, from);
}

/* S118, S119: a job says which schedule and which boundary it is of, and expires counted from
 * that boundary. */
static void a_job_carries_schedule_and_boundary(struct scene *scene) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;
    struct ticker ticker;
    alk_job_list jobs;

    schedule.name = "a \"b\"";
    schedule.spec = "@every 10s";
    schedule.queue = "work";
    schedule.payload = "{\"n\": 1}";
    schedule.payload_length = strlen(schedule.payload);
    schedule.priority = 5;
    schedule.max_attempts = 3;
    schedule.expires_us = 2 * ALK__MINUTE;
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    make_due(scene, schedule.name, 13 * ALK__SECOND);
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.fired, 2);

    int64_t id = sql_number(scene, "SELECT max(id) FROM alk_job");
    ok(scene, alk_job_get(scene->conn, id, &jobs, &scene->error));
    const alk_job *job = &jobs.jobs[0];
    char headers[256];
    char at[ALK__TIME_BYTES];
    char before[ALK__TIME_BYTES];
    alk__time_format(job->fire_at_us, at, sizeof(at));
    alk__time_format(job->fire_at_us - 10 * ALK__SECOND, before, sizeof(before));
    snprintf(headers, sizeof(headers),
             "{\"schedule\":\"a \\\"b\\\"\",\"fire_at\":\"%s\",\"previous_fire_at\":\"%s\","
             "\"catchup\":false}",
             at, before);
    assert_string_equal(job->headers, headers);
    assert_string_equal(job->payload, "{\"n\": 1}");
    assert_string_equal(job->queue, "work");
    assert_int_equal(job->priority, 5);
    assert_int_equal(job->max_attempts, 3);
    assert_int_equal(job->expires_at_us, job->fire_at_us + 2 * ALK__MINUTE);
    assert_true(job->run_at_us >= job->fire_at_us);
    assert_int_equal(job->schedule_id, schedule_number(scene, "a \"b\"", "id"));
    alk_job_list_free(&jobs);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule_event e JOIN alk_job j"
                                       " ON j.id = e.job_id AND j.fire_at = e.fire_at"),
                     2);
    ticker_end(&ticker);
}

/* S118, S127: a boundary that is in the ledger never fires again, whatever becomes of the row
 * and the job. */
static void a_boundary_in_the_ledger_never_fires_again(struct scene *scene) {
    struct ticker ticker;

    put(scene, "often", "@every 10s");
    make_due(scene, "often", 20 * ALK__SECOND);
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(job_count(scene, "often"), 3);

    sql(scene, "DELETE FROM alk_job");
    for (int i = 0; i < 2; i++) { /* by the row's last_fire_at, and by the ledger alone */
        sql(scene,
            "UPDATE alk_schedule SET next_fire_at = (SELECT min(fire_at) FROM "
            "alk_schedule_event)%s",
            i == 0 ? "" : ", last_fire_at = NULL");
        ok(scene, ticker_tick(scene, &ticker));
        assert_int_equal(ticker.result.seen, 1);
        assert_int_equal(ticker.result.fired, 0);
    }
    assert_int_equal(job_count(scene, "often"), 0);
    assert_int_equal(ledger_count(scene, "often", "fired"), 3);
    assert_int_equal(schedule_number(scene, "often", "fired_total"), 3);
    ticker_end(&ticker);
}

/* S125, S166, S172: whichever step of a tick fails, with its effect or without, the boundary has
 * a job and the row has moved, or neither; and the next tick leaves exactly one. */
static void a_tick_is_all_or_nothing_at_every_step(struct scene *scene) {
    static const enum alk__fault_moment moments[] = {ALK__BEFORE, ALK__AFTER};
    struct ticker ticker;
    struct faults faults;
    int failed = 0;

    put(scene, "often", "@every 10s");
    ticker_start(scene, &ticker);
    for (int m = 0; m < 2; m++) {
        for (int n = 1;; n++) {
            sql(scene, "DELETE FROM alk_job; DELETE FROM alk_schedule_event");
            make_due(scene, "often", 0);
            faults_install(&faults, scene->store);
            faults_add(&faults, NULL, n, moments[m], ALK_AGAIN);
            alk_status status = ticker_tick(scene, &ticker);
            int happened = faults_happened(&faults);
            faults_remove(&faults);
            if (alk__conn_is_broken(scene->conn)) {
                alk_conn_put(scene->conn);
                ok(scene, alk_conn_get(scene->store, &scene->conn, &scene->error));
            }
            if (happened == 0)
                break;
            failed += status < 0;
            assert_true(status == ALK_OK || status == ALK_AGAIN);
            int64_t jobs = job_count(scene, "often");
            assert_in_range(jobs, 0, 1);
            assert_int_equal(ledger_count(scene, "often", "fired"), jobs);
            assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"
                                               " WHERE last_fire_at IS NOT NULL"),
                             jobs);
            ok(scene, ticker_tick(scene, &ticker));
            assert_int_equal(job_count(scene, "often"), 1);
            assert_int_equal(ledger_count(scene, "often", "fired"), 1);
        }
    }
    assert_true(failed >=
                16); /* begin, due, savepoint, fired, enqueue, ledger, advance, ..., commit */
    ticker_end(&ticker);
}

/* S126: a tick leaves nothing that it saw due at its now: on time, long overdue, off its grid,
 * bad, or quarantined. */
static void nothing_that_was_seen_is_due_afterwards(struct scene *scene) {
    struct ticker ticker;

    put(scene, "on time", "@every 10s");
    put(scene, "late", "@every 1s");
    put(scene, "off", "@every 1h");
    put(scene, "bad", "@every 10s");
    put(scene, "good again", "@every 10s");
    make_due(scene, "on time", 0);
    make_due(scene, "late", 2 * ALK__HOUR);
    make_due(scene, "off", ALK__MINUTE);
    make_due(scene, "bad", 0);
    make_due(scene, "good again", ALK__HOUR);
    sql(scene, "UPDATE alk_schedule SET next_fire_at = %s WHERE name = 'off'",
        sql_time(scene, scene_now(scene) - 1234567));
    sql(scene, "UPDATE alk_schedule SET spec = 'nonsense' WHERE name = 'bad'");
    sql(scene, "UPDATE alk_schedule SET quarantined_at = next_fire_at, quarantine_from = "
               "next_fire_at WHERE name = 'good again'");
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.seen, 5);
    assert_int_equal(
        sql_number(scene, "SELECT count(*) FROM alk_schedule WHERE next_fire_at > %s",
                   sql_time(scene, time_number(scene, "max(at)", "alk_schedule_event"))),
        5);
    ticker_end(&ticker);
}

/* S126: next_fire_at is written by hand too: what fires is a boundary, never the time that
 * stands there. */
static void a_time_written_by_hand_is_no_boundary(struct scene *scene) {
    struct ticker ticker;

    put(scene, "often", "@every 10s");
    make_due(scene, "often", 20 * ALK__SECOND);
    int64_t boundary_us = time_number(scene, "next_fire_at", "alk_schedule");
    sql(scene, "UPDATE alk_schedule SET next_fire_at = %s", sql_time(scene, boundary_us + 1));
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(time_number(scene, "min(fire_at)", "alk_schedule_event"),
                     boundary_us + 10 * ALK__SECOND);
    ticker_end(&ticker);
}

/* S127: what another tick has in hand is left to it. */
static alk_status tick_elsewhere(void *context, alk_error *error) {
    struct scene *scene = context;
    struct ticker ticker;
    alk_store *store;
    alk_conn *own = scene->conn;

    (void)error;
    ok(scene, scene_open(scene, NULL, &store));
    ok(scene, alk_conn_get(store, &scene->conn, &scene->error));
    ticker = (struct ticker){0};
    ok(scene,
       alk_lease_acquire(scene->conn, "another", "test", ALK__DAY, &ticker.lease, &scene->error));
    ok(scene, alk__specs_new(8, &ticker.specs, &scene->error));
    ticker.options = (struct alk__tick_options){&ticker.lease, ticker.specs, NULL, 500};
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.seen, 1);
    alk__specs_free(ticker.specs);
    alk_conn_put(scene->conn);
    alk_close(store);
    scene->conn = own;
    return ALK_OK;
}

static void two_ticks_at_once_share_the_work(struct scene *scene) {
    struct ticker ticker;
    struct faults faults;

    put(scene, "first", "@every 10s");
    put(scene, "second", "@every 10s");
    make_due(scene, "first", 10 * ALK__SECOND);
    make_due(scene, "second", 0);
    ticker_start(scene, &ticker);
    ticker.options.batch = 1;
    faults_install(&faults, scene->store);
    faults_call(&faults, "tick_ledger", 1, ALK__BEFORE, tick_elsewhere, scene);
    ok(scene, ticker_tick(scene, &ticker));
    faults_remove(&faults);
    assert_int_equal(job_count(scene, "first"), 2);
    assert_int_equal(job_count(scene, "second"), 1);
    ticker_end(&ticker);
}

/* S127: a row that somebody moves without a lock, between its read and its write, makes the
 * whole tick go back. */
static alk_status move_by_hand(void *context, alk_error *error) {
    struct alk__rows rows = {0};
    struct scene *scene = context;

    alk_status status = alk__do(scene->conn, ALK__SCHEDULE_PAUSE, &rows, error, ALK__Z("often"));
    alk__rows_free(&rows);
    return status;
}

static void a_row_that_changed_meanwhile_undoes_the_tick(struct scene *scene) {
    struct ticker ticker;
    struct faults faults;

    put(scene, "often", "@every 10s");
    make_due(scene, "often", 0);
    ticker_start(scene, &ticker);
    faults_install(&faults, scene->store);
    faults_call(&faults, "tick_advance", 1, ALK__BEFORE, move_by_hand, scene);
    expect(scene, ALK_AGAIN, ticker_tick(scene, &ticker));
    assert_int_equal(scene->error.phase, ALK_PHASE_ADVANCE);
    faults_remove(&faults);
    assert_int_equal(job_count(scene, "often"), 0);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(job_count(scene, "often"), 1);
    ticker_end(&ticker);
}

/* S129: of many due boundaries the newest 64 fire, or as many as the schedule says, in the order
 * of time; then it goes on at the first one after now, in the same phase. */
static void the_newest_boundaries_fire_in_order_of_time(struct scene *scene) {
    struct ticker ticker;

    put(scene, "five", "@every 1s");
    put(scene, "default", "@every 1s");
    make_due(scene, "five", 50 * ALK__SECOND);
    make_due(scene, "default", ALK__DAY);
    sql(scene, "UPDATE alk_schedule SET catchup_max = 5 WHERE name = 'five'");
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    int64_t now_us = time_number(scene, "max(at)", "alk_schedule_event");
    int64_t last_us = now_us - now_us % ALK__SECOND;
    /* on PostgreSQL the clock may have gone on since they were made due */
    assert_int_equal(job_count(scene, "five"), 5);
    assert_in_range(schedule_number(scene, "five", "missed_total"), 46, 76);
    assert_int_equal(job_count(scene, "default"), 61); /* as late as the grace allows */
    assert_int_equal(time_number(scene, "max(fire_at)", "alk_job"), last_us);
    assert_int_equal(time_number(scene, "max(next_fire_at)", "alk_schedule"),
                     last_us + ALK__SECOND);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job a JOIN alk_job b"
                                       " ON a.schedule_id = b.schedule_id AND a.id < b.id"
                                       " AND a.fire_at >= b.fire_at"),
                     0);
    ticker_end(&ticker);
}

/* S129, S130: what was missed is one line and one warning with name, count, first and last; the
 * newest of it fires. */
static void missed_boundaries_are_counted_and_told(struct scene *scene) {
    struct ticker ticker;
    alk_schedule_history history;

    put(scene, "hourly", "@every 1h");
    make_due(scene, "hourly", 5 * ALK__HOUR);
    sql(scene, "UPDATE alk_schedule SET anchor_at = %s, next_fire_at = %s",
        sql_time(scene,
                 scene_now(scene) / ALK__SECOND * ALK__SECOND - 305 * ALK__MINUTE - ALK__DAY),
        sql_time(scene, scene_now(scene) / ALK__SECOND * ALK__SECOND - 305 * ALK__MINUTE));
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    ok(scene, alk_schedule_history_get(scene->conn, "hourly", 10, &history, &scene->error));
    assert_int_equal(history.count, 2);
    const alk_schedule_event *missed = &history.events[0];
    const alk_schedule_event *fired = &history.events[1];
    if (strcmp(missed->outcome, "missed") != 0) {
        missed = &history.events[1];
        fired = &history.events[0];
    }
    assert_string_equal(missed->outcome, "missed");
    assert_int_equal(missed->count, 5);
    assert_int_equal(missed->to_us - missed->fire_at_us, 4 * ALK__HOUR);
    assert_string_equal(fired->outcome, "fired");
    assert_true(fired->is_catchup);
    assert_int_equal(fired->fire_at_us - missed->to_us, ALK__HOUR);
    assert_true(fired->lateness_us >= 5 * ALK__MINUTE);
    assert_int_equal(fired->fence, ticker.lease.fence);
    assert_string_equal(fired->owner, ticker.lease.owner);

    const struct recorded *event = record_last(ticker.record, "boundaries missed");
    assert_string_equal(event->subject, "hourly");
    assert_int_equal(event->level, ALK_LEVEL_WARNING);
    assert_int_equal(event->count, 5);
    assert_int_equal(event->fire_at_us, missed->fire_at_us);
    assert_int_equal(event->last_fire_at_us, missed->to_us);
    alk_schedule_history_free(&history);

    scene_pass(scene, ALK__MINUTE);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(job_count(scene, "hourly"), 1);
    ticker_end(&ticker);
}

/* S128: late ticks, each by another span, leave the phase as it is and fire each boundary once. */
static void late_ticks_stay_in_phase(struct scene *scene) {
    struct ticker ticker;
    int64_t fired = 0;

    put(scene, "often", "@every 10s");
    make_due(scene, "often", 0);
    ticker_start(scene, &ticker);
    for (int i = 0; i < 40; i++) {
        ok(scene, ticker_tick(scene, &ticker));
        fired += (int64_t)ticker.result.fired;
        scene_pass(scene, (10 + i % 7) * ALK__SECOND);
    }
    assert_int_equal(ledger_count(scene, "often", "fired"), fired);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule_event"), fired);
    int64_t first_us = time_number(scene, "min(fire_at)", "alk_schedule_event");
    int64_t last_us = time_number(scene, "max(fire_at)", "alk_schedule_event");
    int64_t anchor_us = time_number(scene, "anchor_at", "alk_schedule");
    assert_int_equal(last_us - first_us, (fired - 1) * 10 * ALK__SECOND);
    assert_int_equal((first_us - anchor_us) % (10 * ALK__SECOND), 0);
    assert_true(fired > 40);
    ticker_end(&ticker);
}

/* S128: 10,000 ticks, each late by another time up to 9 s: each boundary fires once and on the
 * grid, none is left out. */
static void ten_thousand_late_ticks_stay_in_phase(struct scene *scene) {
    alk_store_options options = scene_options(scene);
    struct ticker ticker;

    scene_close(scene);
    options.durability = ALK_DURABILITY_NORMAL;
    ok(scene, scene_open(scene, &options, &scene->store));
    ok(scene, alk_conn_get(scene->store, &scene->conn, &scene->error));
    put(scene, "often", "@every 10s");
    int64_t anchor_us = scene->clock.now_us;
    ticker_start(scene, &ticker);
    for (int64_t i = 1; i <= 10000; i++) {
        int64_t late_us = alk__random_between(&(struct alk__random){fixed_bits, &scene->random}, 0,
                                              9 * ALK__SECOND);
        scene->clock.now_us = anchor_us + 10 * i * ALK__SECOND + late_us;
        ok(scene, ticker_tick(scene, &ticker));
        assert_int_equal(ticker.result.fired, 1);
    }
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule_event"), 10000);
    assert_int_equal(
        sql_number(scene, "SELECT count(*) FROM alk_schedule_event e JOIN alk_schedule s"
                          " WHERE outcome <> 'fired' OR (fire_at - anchor_at) %% 10000000 <> 0"),
        0);
    assert_int_equal(
        sql_number(scene, "SELECT max(fire_at) - min(fire_at) FROM alk_schedule_event"),
        9999 * 10 * ALK__SECOND);
    ticker_end(&ticker);
}

/* S132, S133: batch after batch in the order of next_fire_at and id; a backlog of one delays
 * none of the same tick. */
static void due_rows_are_taken_in_batches_and_in_order(struct scene *scene) {
    static const size_t seen[] = {3, 3, 1, 0};
    struct ticker ticker;
    char name[16];

    for (int i = 0; i < 7; i++) {
        snprintf(name, sizeof(name), "s%d", i);
        put(scene, name, "@every 1s");
        make_due(scene, name, (6 - i / 2) * ALK__SECOND);
    }
    make_due(scene, "s6", ALK__DAY); /* the oldest, with the longest backlog */
    ticker_start(scene, &ticker);
    ticker.options.batch = 3;
    for (size_t i = 0; i < 4; i++) {
        if (scene->engine == ALK_ENGINE_POSTGRES) /* the clock goes on */
            sql(scene, "UPDATE alk_schedule SET next_fire_at = next_fire_at + interval '1 d'"
                       " WHERE last_fire_at IS NOT NULL AND next_fire_at < now() + interval '1 h'");
        ok(scene, ticker_tick(scene, &ticker));
        assert_int_equal(ticker.result.seen, seen[i]);
    }
    const char *order = sql_text(
        scene,
        scene->engine == ALK_ENGINE_SQLITE
            ? "SELECT group_concat(name, ' ') FROM (SELECT s.name FROM alk_job j JOIN "
              "alk_schedule s ON s.id = j.schedule_id GROUP BY s.name ORDER BY min(j.id))"
            : "SELECT string_agg(name, ' ' ORDER BY m) FROM (SELECT s.name, min(j.id) AS m "
              "FROM alk_job j JOIN alk_schedule s ON s.id = j.schedule_id GROUP BY s.name) x");
    assert_string_equal(order, "s6 s0 s1 s2 s3 s4 s5");
    ticker_end(&ticker);
}

/* S135: the tick's now is one, for all that it decides and writes. */
static alk_status let_time_pass(void *context, alk_error *error) {
    struct scene *scene = context;

    (void)error;
    if (scene->engine == ALK_ENGINE_SQLITE)
        scene->clock.now_us += 3 * ALK__SECOND;
    return ALK_OK;
}

static void all_lines_of_a_tick_are_of_one_time(struct scene *scene) {
    struct ticker ticker;
    struct faults faults;

    put(scene, "a", "@every 10s");
    put(scene, "b", "@every 10s");
    put(scene, "c", "@every 1h");
    put(scene, "bad", "@every 1h");
    make_due(scene, "a", 0);
    make_due(scene, "b", 0);
    make_due(scene, "c", 5 * ALK__HOUR);
    make_due(scene, "bad", 5 * ALK__HOUR);
    sql(scene, "UPDATE alk_schedule SET spec = 'nonsense' WHERE name = 'bad'");
    ticker_start(scene, &ticker);
    faults_install(&faults, scene->store);
    faults_call(&faults, NULL, 0, ALK__AFTER, let_time_pass, scene);
    ok(scene, ticker_tick(scene, &ticker));
    faults_remove(&faults);
    assert_int_equal(sql_number(scene, "SELECT count(DISTINCT at) FROM alk_schedule_event"), 1);
    assert_int_equal(time_number(scene, "max(quarantined_at)", "alk_schedule"),
                     time_number(scene, "max(at)", "alk_schedule_event"));
    ticker_end(&ticker);
}

/* S136: a lease that is over when the tick commits undoes it, whoever holds it then; the row is
 * as it was. */
static alk_status end_lease(void *context, alk_error *error) {
    struct scene *scene = context;

    (void)error;
    if (scene->engine == ALK_ENGINE_SQLITE)
        scene->clock.now_us += 366 * ALK__DAY;
    else
        sql(scene, "UPDATE alk_lease SET expires_at = now()");
    return ALK_OK;
}

static void a_tick_without_its_lease_is_undone(struct scene *scene) {
    struct ticker ticker;
    struct faults faults;

    put(scene, "often", "@every 10s");
    make_due(scene, "often", 0);
    ticker_start(scene, &ticker);
    faults_install(&faults, scene->store);
    faults_call(&faults, "tick_advance", 1, ALK__AFTER, end_lease, scene);
    expect(scene, ALK_LOST, ticker_tick(scene, &ticker));
    faults_remove(&faults);
    assert_int_equal(scene->error.phase, ALK_PHASE_COMMIT);
    assert_string_equal(scene->error.subject, "scheduler");
    assert_int_equal(job_count(scene, "often"), 0);
    assert_int_equal(schedule_number(scene, "often", "fired_total"), 0);
    assert_int_equal(record_count(ticker.record, "schedule fired", NULL), 0);
    ticker_end(&ticker);
}

/* S136: the same without the seam, whole pipeline and all, when another has it. */
static void a_tick_under_anothers_lease_is_undone(struct scene *scene) {
    struct ticker ticker;

    put(scene, "often", "@every 10s");
    make_due(scene, "often", 0);
    ticker_start(scene, &ticker);
    ok(scene, alk_lease_break(scene->conn, "scheduler", NULL, &scene->error));
    expect(scene, ALK_LOST, ticker_tick(scene, &ticker));
    assert_int_equal(job_count(scene, "often"), 0);
    alk_lease other;
    ok(scene,
       alk_lease_acquire(scene->conn, "scheduler", "other", ALK__HOUR, &other, &scene->error));
    expect(scene, ALK_LOST, ticker_tick(scene, &ticker));
    assert_int_equal(job_count(scene, "often"), 0);
    ticker.lease = other;
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(job_count(scene, "often"), 1);
    ticker_end(&ticker);
}

/* A row of a newer version is left alone (schedules.md, part 8), and a one-shot is done once it
 * fired. */
static void newer_rows_are_left_alone_and_one_shots_are_done(struct scene *scene) {
    struct ticker ticker;

    put(scene, "newer", "@every 10s");
    put(scene, "once", "@at 2100-01-01T00:00:00Z");
    make_due(scene, "newer", 0);
    sql(scene, "UPDATE alk_schedule SET spec_version = 2 WHERE name = 'newer'");
    int64_t due_us = scene_now(scene) / ALK__SECOND * ALK__SECOND - ALK__SECOND;
    char spec[ALK__TIME_BYTES + 8] = "@at ";
    alk__time_format(due_us, spec + 4, ALK__TIME_BYTES);
    sql(scene, "UPDATE alk_schedule SET spec = '%s', next_fire_at = %s WHERE name = 'once'", spec,
        sql_time(scene, due_us));
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.seen, 1);
    assert_int_equal(job_count(scene, "once"), 1);
    assert_int_equal(schedule_state(scene, "once"), ALK_SCHEDULE_DONE);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.seen, 0);
    ticker_end(&ticker);
}

/* S132, S133: many fires of few schedules, as after an outage, are several ticks: none takes longer
 * than a call may, and none is lost. */
static void a_tick_has_a_limit_of_fires(struct scene *scene) {
    struct ticker ticker;
    char name[8];

    for (int i = 0; i < 7; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        put(scene, name, "@every 10m");
        make_due(scene, name, 999 * 10 * ALK__MINUTE);
    }
    sql(scene, "UPDATE alk_schedule SET catchup = 'all', catchup_max = 1000");
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.seen, 5);
    assert_int_equal(ticker.result.fired, 5000);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.seen, 2);
    for (int i = 0; i < 7; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        assert_int_equal(job_count(scene, name), 1000);
    }
    ticker_end(&ticker);
}

static const struct scene_test tests[] = {
    BOTH(a_job_carries_schedule_and_boundary),
    BOTH(a_boundary_in_the_ledger_never_fires_again),
    BOTH(a_tick_is_all_or_nothing_at_every_step),
    BOTH(nothing_that_was_seen_is_due_afterwards),
    BOTH(a_time_written_by_hand_is_no_boundary),
    POSTGRES(two_ticks_at_once_share_the_work),
    BOTH(a_row_that_changed_meanwhile_undoes_the_tick),
    BOTH(the_newest_boundaries_fire_in_order_of_time),
    BOTH(missed_boundaries_are_counted_and_told),
    BOTH(late_ticks_stay_in_phase),
    SQLITE(ten_thousand_late_ticks_stay_in_phase),
    BOTH(due_rows_are_taken_in_batches_and_in_order),
    BOTH(all_lines_of_a_tick_are_of_one_time),
    BOTH(a_tick_without_its_lease_is_undone),
    BOTH(a_tick_under_anothers_lease_is_undone),
    BOTH(newer_rows_are_left_alone_and_one_shots_are_done),
    BOTH(a_tick_has_a_limit_of_fires),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
