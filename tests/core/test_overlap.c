/* core/overlap: what an unfinished job does to the next fire of its schedule. */
#include "support/jobs.h"
#include "support/schedules.h"

#define PERIOD (10 * ALK__MINUTE)

/* A schedule of every ten minutes that has just fired for the first time. */
static void fire_first(struct scene *scene, struct ticker *ticker, alk_overlap overlap) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;

    schedule.name = "often";
    schedule.spec = "@every 10m";
    schedule.queue = "work";
    schedule.overlap = overlap;
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    make_due(scene, "often", 0);
    ticker_start(scene, ticker);
    ok(scene, ticker_tick(scene, ticker));
    assert_int_equal(job_count(scene, "often"), 1);
}

/* The next boundary comes. */
static void fire_next(struct scene *scene, struct ticker *ticker) {
    scene_pass(scene, PERIOD);
    ok(scene, ticker_tick(scene, ticker));
    assert_int_equal(ticker->result.seen, 1);
}

static int64_t skipped(struct scene *scene) {
    assert_int_equal(ledger_count(scene, "often", "skipped_overlap"),
                     schedule_number(scene, "often", "skipped_total"));
    return schedule_number(scene, "often", "skipped_total");
}

/* How far apart the boundaries of the oldest and the newest job are, in periods. */
static int64_t spread(struct scene *scene) {
    return sql_number(scene, scene->engine == ALK_ENGINE_SQLITE
                                 ? "SELECT (max(fire_at) - min(fire_at)) / 600000000 FROM alk_job"
                                 : "SELECT (extract(epoch FROM max(fire_at) - min(fire_at)) /"
                                   " 600)::bigint FROM alk_job");
}

static void end_claims(struct scene *scene) {
    sql(scene, "UPDATE alk_job SET lease_until = %s WHERE worker IS NOT NULL",
        sql_time(scene, scene_now(scene) - ALK__SECOND));
}

static void hold_claims(struct scene *scene) {
    sql(scene, "UPDATE alk_job SET lease_until = %s WHERE worker IS NOT NULL",
        sql_time(scene, scene_now(scene) + ALK__DAY));
}

/* S122: without a word everything fires. */
static void allow_looks_at_nothing(struct scene *scene) {
    struct ticker ticker;

    fire_first(scene, &ticker, ALK_OVERLAP_ALLOW);
    fire_next(scene, &ticker);
    fire_next(scene, &ticker);
    assert_int_equal(job_count(scene, "often"), 3);
    assert_int_equal(skipped(scene), 0);
    ticker_end(&ticker);
}

/* S122: skip: while a job waits, runs, waits for its retry or for another claim after one lapsed,
 * boundaries are skipped, a line each; then it fires again. */
static void skip_skips_while_a_job_is_unfinished(struct scene *scene) {
    struct ticker ticker;

    fire_first(scene, &ticker, ALK_OVERLAP_SKIP);
    fire_next(scene, &ticker); /* it waits */
    assert_int_equal(skipped(scene), 1);
    assert_int_equal(record_count(ticker.record, "boundary skipped", "often"), 1);
    alk_settlement claim = take_one(scene, "work", "w");
    hold_claims(scene);
    fire_next(scene, &ticker); /* it runs */
    assert_int_equal(skipped(scene), 2);
    assert_int_equal(settle_one(scene, claim, ALK_RETRY), ALK_SETTLED);
    fire_next(scene, &ticker); /* it is to be tried again */
    assert_int_equal(skipped(scene), 3);
    claim = take_one(scene, "work", "w");
    end_claims(scene);
    fire_next(scene, &ticker); /* its claim has lapsed */
    assert_int_equal(skipped(scene), 4);
    assert_int_equal(job_count(scene, "often"), 1);

    claim = take_one(scene, "work", "w");
    assert_int_equal(settle_one(scene, claim, ALK_DONE), ALK_SETTLED);
    fire_next(scene, &ticker);
    assert_int_equal(job_count(scene, "often"), 1);
    assert_int_equal(skipped(scene), 4);
    assert_int_equal(ledger_count(scene, "often", "fired"), 2);
    assert_int_equal(ledger_count(scene, "often", "missed"), 0);
    ticker_end(&ticker);
}

/* S122: a job that will not run any more does not block: expired, cancelled, or lapsed with its
 * attempts used up. */
static void a_job_that_will_not_run_blocks_nothing(struct scene *scene) {
    struct ticker ticker;

    fire_first(scene, &ticker, ALK_OVERLAP_SKIP);
    sql(scene, "UPDATE alk_job SET expires_at = run_at");
    fire_next(scene, &ticker);
    assert_int_equal(job_count(scene, "often"), 2);
    sql(scene, "UPDATE alk_job SET expires_at = NULL, cancel_requested_at = run_at");
    fire_next(scene, &ticker);
    assert_int_equal(job_count(scene, "often"), 3);
    sql(scene,
        "UPDATE alk_job SET cancel_requested_at = NULL, attempt = 20, worker = 'w', lease_until ="
        " run_at");
    end_claims(scene);
    fire_next(scene, &ticker);
    assert_int_equal(job_count(scene, "often"), 4);
    assert_int_equal(skipped(scene), 0);
    sql(scene, "UPDATE alk_job SET max_attempts = 21 WHERE attempt = 20");
    fire_next(scene, &ticker);
    assert_int_equal(skipped(scene), 1);
    ticker_end(&ticker);
}

/* S122: buffer_one: beside a running job one waits, of the first boundary that came. */
static void buffer_one_keeps_the_first_that_waits(struct scene *scene) {
    struct ticker ticker;

    fire_first(scene, &ticker, ALK_OVERLAP_BUFFER_ONE);
    fire_next(scene, &ticker); /* the first waits */
    assert_int_equal(skipped(scene), 1);
    alk_settlement claim = take_one(scene, "work", "w");
    hold_claims(scene);
    fire_next(scene, &ticker);
    fire_next(scene, &ticker);
    fire_next(scene, &ticker);
    assert_int_equal(job_count(scene, "often"), 2);
    assert_int_equal(spread(scene), 2);
    assert_int_equal(skipped(scene), 3);
    assert_int_equal(settle_one(scene, claim, ALK_DONE), ALK_SETTLED);
    fire_next(scene, &ticker);
    assert_int_equal(skipped(scene), 4); /* one waits still */
    ticker_end(&ticker);
}

/* S122: replace_pending: the one that waits is cancelled for the newest; what runs goes on. */
static void replace_pending_keeps_the_newest(struct scene *scene) {
    struct ticker ticker;

    fire_first(scene, &ticker, ALK_OVERLAP_REPLACE_PENDING);
    int64_t first = sql_number(scene, "SELECT max(id) FROM alk_job");
    fire_next(scene, &ticker);
    int64_t second = sql_number(scene, "SELECT max(id) FROM alk_job");
    assert_int_equal(job_count(scene, "often"), 1);
    assert_int_equal(state_of(scene, first), ALK_JOB_CANCELLED);
    assert_int_equal(skipped(scene), 1);
    assert_int_equal(sql_number(scene, "SELECT job_id FROM alk_schedule_event"
                                       " WHERE outcome = 'skipped_overlap'"),
                     first);

    take_one(scene, "work", "w");
    hold_claims(scene);
    fire_next(scene, &ticker);
    fire_next(scene, &ticker);
    assert_int_equal(job_count(scene, "often"), 2);
    assert_int_equal(spread(scene), 2);
    assert_int_equal(state_of(scene, second), ALK_JOB_RUNNING);
    assert_int_equal(skipped(scene), 2);
    assert_int_equal(ledger_count(scene, "often", "fired"), 4);
    check_store(scene);
    ticker_end(&ticker);
}

/* S122, S131: of several boundaries that are due at once the policy lets the first fire, or, where
 * the newest counts, the last. */
static void several_at_once_overlap_too(struct scene *scene) {
    static const alk_overlap overlaps[] = {ALK_OVERLAP_SKIP, ALK_OVERLAP_BUFFER_ONE,
                                           ALK_OVERLAP_REPLACE_PENDING};
    alk_schedule schedule = ALK_SCHEDULE_INIT;
    struct ticker ticker;

    ticker_start(scene, &ticker);
    schedule.name = "often";
    schedule.spec = "@every 10m";
    schedule.queue = "work";
    schedule.catchup = ALK_CATCHUP_ALL;
    for (size_t i = 0; i < 3; i++) {
        schedule.overlap = overlaps[i];
        ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
        make_due(scene, "often", 3 * PERIOD);
        ok(scene, ticker_tick(scene, &ticker));
        assert_int_equal(job_count(scene, "often"), 1);
        assert_int_equal(skipped(scene), 3);
        assert_int_equal(
            sql_number(scene, "SELECT count(*) FROM alk_schedule_event e, alk_job j"
                              " WHERE e.outcome = 'skipped_overlap' AND e.fire_at < j.fire_at"),
            overlaps[i] == ALK_OVERLAP_REPLACE_PENDING ? 3 : 0);
        ok(scene, alk_schedule_remove(scene->conn, "often", &scene->error));
        sql(scene, "DELETE FROM alk_job");
    }
    ticker_end(&ticker);
}

/* S120, S122: a run by hand asks about overlap only where it is told to. */
static void a_run_by_hand_may_respect_overlap(struct scene *scene) {
    alk_fire_options polite = ALK_FIRE_OPTIONS_INIT;
    struct ticker ticker;
    int64_t id = 0;

    polite.respect_overlap = true;
    fire_first(scene, &ticker, ALK_OVERLAP_SKIP);
    expect(scene, ALK_HELD, alk_schedule_fire(scene->conn, "often", &polite, &id, &scene->error));
    assert_int_equal(id, 0);
    assert_int_equal(job_count(scene, "often"), 1);
    ok(scene, alk_schedule_fire(scene->conn, "often", NULL, NULL, &scene->error));
    assert_int_equal(job_count(scene, "often"), 2);
    sql(scene, "DELETE FROM alk_job");
    ok(scene, alk_schedule_fire(scene->conn, "often", &polite, &id, &scene->error));
    assert_true(id > 0);
    fire_next(scene, &ticker); /* and what was started by hand is in the way of the next */
    assert_int_equal(skipped(scene), 1);
    ticker_end(&ticker);
}

static const struct scene_test tests[] = {
    BOTH(allow_looks_at_nothing),
    BOTH(skip_skips_while_a_job_is_unfinished),
    BOTH(a_job_that_will_not_run_blocks_nothing),
    BOTH(buffer_one_keeps_the_first_that_waits),
    BOTH(replace_pending_keeps_the_newest),
    BOTH(several_at_once_overlap_too),
    BOTH(a_run_by_hand_may_respect_overlap),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
