/* tests/loops/test_worker_claim.c: how a worker keeps its claims while handlers run, what becomes
 * of those it loses, and settling inside a handler's own transaction. */
#include "support/rig.h"

#define SHORT_LEASE_US (3 * ALK__SECOND) /* extended after one */

static int64_t soonest_end(struct scene *scene) {
    bool is_postgres = scene->engine == ALK_ENGINE_POSTGRES;

    return sql_number(scene, is_postgres
                                 ? "SELECT (extract(epoch FROM min(lease_until)) * 1000000)::bigint"
                                   " FROM alk_job"
                                 : "SELECT min(lease_until) FROM alk_job");
}

// S83, S87: at a third of the lease it is extended, also for jobs that wait for their turn.
static void claims_are_extended_while_handlers_run(struct scene *scene) {
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;

    put_numbers(scene, "mail", 3);
    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.prefetch = 2;
    rig.options.lease_us = 2 * SHORT_LEASE_US;
    rig_start(&rig);
    wait_until(running_jobs(scene) == 3);
    if (scene->engine == ALK_ENGINE_SQLITE)
        scene_pass(scene, ALK__SECOND);
    int64_t end_us = soonest_end(scene);
    wait_until(soonest_end(scene) > end_us);
    assert_true(soonest_end(scene) - end_us >= ALK__SECOND);
    assert_false(gate.was_lost);
    atomic_store(&gate.is_open, true);
    wait_until(done_jobs(scene) == 3);
    ok(scene, rig_stop(&rig));
    assert_int_equal(rig_events(&rig, "claim lost") + rig_events(&rig, "claim lapsed"), 0);
    rig_free(&rig);
}

/* As if another had claimed the job: all that a claim compares is another. */
static void take_away(struct scene *scene, int64_t id) {
    sql(scene, "UPDATE alk_job SET stamp = stamp + 1, worker = 'other' WHERE id = %lld",
        (long long)id);
}

// S83, S76: the handler of a lost claim is told, and its outcome changes nothing.
static void a_lost_claim_is_told_to_its_handler(struct scene *scene) {
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;
    int64_t id = put_work(scene, "mail", "1", NULL);

    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.lease_us = SHORT_LEASE_US;
    rig_start(&rig);
    wait_until(gate.tally.at_once == 1);
    take_away(scene, id);
    wait_until(rig_events(&rig, "outcome refused, the job may run again") >= 1);
    assert_true(gate.was_told && gate.was_lost);
    assert_int_equal(rig_events(&rig, "claim lost") + rig_events(&rig, "claim lapsed"), 1);
    assert_string_equal(sql_text(scene, "SELECT worker FROM alk_job"), "other");
    assert_int_equal(done_jobs(scene), 0);
    ok(scene, rig_stop(&rig));
    rig_free(&rig);
}

/* By the time there is a thread for it, it may run elsewhere. */
static void a_job_lost_while_it_waited_is_not_begun(struct scene *scene) {
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;
    int64_t first = put_work(scene, "mail", "1", NULL);
    int64_t second = put_work(scene, "mail", "2", NULL);

    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.prefetch = 1;
    rig.options.lease_us = SHORT_LEASE_US;
    rig_start(&rig);
    wait_until(running_jobs(scene) == 2);
    take_away(scene, second);
    wait_until(rig_event(&rig, "claim lost").job_id == second);
    atomic_store(&gate.is_open, true);
    wait_until(rig_event(&rig, "job done").job_id == first);
    wait_until(rig_events(&rig, "outcome refused, the job may run again") == 1);
    assert_int_equal(gate.tally.runs, 1);
    ok(scene, rig_stop(&rig));
    rig_free(&rig);
}

// S55: a cancel is seen at the next extension.
static void a_cancel_is_told_to_the_handler(struct scene *scene) {
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;
    int64_t id = put_work(scene, "mail", "1", NULL);

    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.lease_us = SHORT_LEASE_US;
    rig_start(&rig);
    wait_until(gate.tally.at_once == 1);
    sql(scene, "UPDATE alk_job SET cancel_requested_at = %s", sql_time(scene, scene_now(scene)));
    wait_until(rig_events(&rig, "job cancelled") == 1);
    assert_true(gate.was_told && gate.was_lost);
    assert_int_equal(rig_event(&rig, "cancel asked for").job_id, id);
    assert_int_equal(state_of(scene, id), ALK_JOB_CANCELLED);
    assert_int_equal(rig_events(&rig, "job done"), 0);
    ok(scene, rig_stop(&rig));
    rig_free(&rig);
}

// S69, S49: an outcome that comes after the lease lapsed is refused and reported; the job runs
// again.
static void an_outcome_after_the_lapse_is_refused_and_reported(struct scene *scene) {
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;
    int64_t id = put_work(scene, "mail", "1", NULL);

    rig_init(&rig, scene, wait_at_gate, &gate);
    rig_start(&rig);
    wait_until(gate.tally.at_once == 1);
    scene_pass(scene, ALK__MINUTE);
    atomic_store(&gate.is_open, true);
    wait_until(rig_events(&rig, "outcome refused, the job may run again") == 1);
    struct rig_event event = rig_event(&rig, "outcome refused, the job may run again");
    assert_int_equal(event.job_id, id);
    assert_int_equal(event.attempt, 1);
    assert_int_equal(event.level, ALK_LEVEL_WARNING);
    wait_until(rig_events(&rig, "job done") == 1);
    assert_int_equal(rig_event(&rig, "job done").attempt, 2);
    assert_int_equal(gate.tally.runs, 2);
    ok(scene, rig_stop(&rig));
    rig_free(&rig);
}

/* ---- settled inside ---- */

struct inside {
    struct scene *scene;
    alk_outcome inside;
    alk_outcome returned;
    bool must_roll_back;
    bool must_lose;
    _Atomic int runs;
    alk_status settled;
};

static alk_status write_and_settle(struct inside *inside, alk_attempt *attempt, alk_conn *conn) {
    alk_status status = alk_begin(conn, NULL);

    if (status >= 0)
        status = alk_enqueue(conn, "audit", "1", 1, NULL, NULL, NULL);
    if (status >= 0)
        status = alk_attempt_settle(attempt, conn, inside->inside, NULL);
    inside->settled = status;
    if (status >= 0 && !inside->must_roll_back)
        return alk_commit(conn, NULL);
    alk_rollback(conn);
    return ALK_OK;
}

static alk_outcome settle_inside(alk_attempt *attempt, void *context) {
    struct inside *inside = context;
    alk_conn *conn;

    atomic_fetch_add(&inside->runs, 1);
    if (inside->must_lose)
        scene_pass(inside->scene, ALK__MINUTE);
    if (alk_conn_get(inside->scene->store, &conn, NULL) < 0)
        return ALK_DEAD;
    alk_status status = write_and_settle(inside, attempt, conn);
    alk_conn_put(conn);
    return status == ALK_OK ? inside->returned : ALK_DEAD;
}

static void run_inside(struct scene *scene, struct rig *rig, struct inside *inside) {
    inside->scene = scene;
    put_work(scene, "mail", "1", NULL);
    rig_init(rig, scene, settle_inside, inside);
    rig->options.is_drain = true;
    ok(scene, rig_run(rig));
}

static void what_is_settled_inside_commits_with_the_handlers_own_rows(struct scene *scene) {
    struct inside inside = {.inside = ALK_DONE, .returned = ALK_DEAD};
    struct rig rig;

    run_inside(scene, &rig, &inside);
    assert_int_equal(inside.settled, ALK_OK);
    assert_int_equal(done_jobs(scene), 1);
    assert_int_equal(count_rows(scene, "alk_job", "queue = 'audit'"), 1);
    assert_int_equal(rig_events(&rig, "job done"), 1);
    assert_int_equal(rig_events(&rig, "outcome refused, the job may run again"), 0);
    check_store(scene);
    rig_free(&rig);
}

/* It is ready again at once, and this worker may have it again before it has heard of the end. */
static void what_is_given_back_inside_runs_again(struct scene *scene) {
    struct inside inside = {.inside = ALK_RETRY, .returned = ALK_DONE};
    struct rig rig;

    run_inside(scene, &rig, &inside);
    assert_int_equal(inside.runs, 1);
    assert_int_equal(count_rows(scene, "alk_job", "queue = 'mail' AND attempt = 1"), 1);
    assert_int_equal(rig_events(&rig, "job failed"), 1);
    rig_free(&rig);
}

static void after_a_rollback_the_returned_outcome_counts(struct scene *scene) {
    struct inside inside = {.inside = ALK_DONE, .returned = ALK_DEAD, .must_roll_back = true};
    struct rig rig;

    run_inside(scene, &rig, &inside);
    assert_int_equal(inside.settled, ALK_OK);
    assert_int_equal(done_jobs(scene), 0);
    assert_int_equal(count_rows(scene, "alk_job_dead", "1 = 1"), 1);
    assert_int_equal(count_rows(scene, "alk_job", "queue = 'audit'"), 0);
    rig_free(&rig);
}

// S76: the handler hears of the loss inside its transaction and can undo what it did.
static void settling_inside_after_the_loss_is_refused(struct scene *scene) {
    struct inside inside = {.inside = ALK_DONE, .returned = ALK_DONE, .must_lose = true};
    struct rig rig;

    inside.scene = scene;
    put_work(scene, "mail", "1", NULL);
    rig_init(&rig, scene, settle_inside, &inside);
    rig_start(&rig);
    wait_until(rig_events(&rig, "outcome refused, the job may run again") >= 1);
    alk_stop_set(rig.stop);
    ok(scene, rig_join(&rig));
    assert_int_equal(inside.settled, ALK_LOST);
    assert_int_equal(done_jobs(scene), 0);
    assert_int_equal(count_rows(scene, "alk_job", "queue = 'audit'"), 0);
    rig_free(&rig);
}

/* ---- rows that somebody holds (PostgreSQL) ---- */

// S51: neither the outcome nor the claim is lost by it, and nobody waits for that row.
static void an_outcome_waits_for_a_locked_row(struct scene *scene) {
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;
    int64_t held = put_work(scene, "mail", "1", NULL);
    int64_t other = put_work(scene, "mail", "2", NULL);

    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.concurrency = 2;
    rig_start(&rig);
    wait_until(gate.tally.at_once == 2);
    sql(scene, "BEGIN");
    sql(scene, "SELECT 1 FROM alk_job WHERE id = %lld FOR UPDATE", (long long)held);
    atomic_store(&gate.is_open, true);
    wait_until(rig_event(&rig, "job done").job_id == other);
    assert_int_equal(state_of(scene, held), ALK_JOB_RUNNING);
    sql(scene, "COMMIT");
    wait_until(state_of(scene, held) == ALK_JOB_DONE);
    ok(scene, rig_stop(&rig));
    assert_int_equal(gate.tally.runs, 2);
    assert_int_equal(rig_events(&rig, "outcome refused, the job may run again"), 0);
    rig_free(&rig);
}

struct locked {
    struct scene *scene;
    _Atomic bool is_running;
    _Atomic bool may_settle;
    _Atomic int settled;
};

static alk_outcome settle_locked(alk_attempt *attempt, void *context) {
    struct locked *locked = context;
    alk_conn *conn;

    atomic_store(&locked->is_running, true);
    while (!atomic_load(&locked->may_settle))
        nap();
    if (alk_conn_get(locked->scene->store, &conn, NULL) < 0 || alk_begin(conn, NULL) < 0)
        return ALK_DEAD;
    atomic_store(&locked->settled, (int)alk_attempt_settle(attempt, conn, ALK_DONE, NULL));
    alk_rollback(conn);
    alk_conn_put(conn);
    return ALK_RETRY;
}

static void settling_a_locked_row_inside_can_be_tried_again(struct scene *scene) {
    struct locked locked = {.scene = scene};
    struct rig rig;

    put_work(scene, "mail", "1", NULL);
    rig_init(&rig, scene, settle_locked, &locked);
    rig_start(&rig);
    wait_until(locked.is_running);
    sql(scene, "BEGIN");
    sql(scene, "SELECT 1 FROM alk_job FOR UPDATE");
    atomic_store(&locked.may_settle, true);
    wait_until(locked.settled != ALK_OK);
    assert_int_equal(locked.settled, ALK_AGAIN);
    sql(scene, "COMMIT");
    wait_until(rig_events(&rig, "job failed") == 1);
    ok(scene, rig_stop(&rig));
    rig_free(&rig);
}

static const struct scene_test tests[] = {
    BOTH(claims_are_extended_while_handlers_run),
    BOTH(a_lost_claim_is_told_to_its_handler),
    BOTH(a_job_lost_while_it_waited_is_not_begun),
    BOTH(a_cancel_is_told_to_the_handler),
    BOTH(an_outcome_after_the_lapse_is_refused_and_reported),
    BOTH(what_is_settled_inside_commits_with_the_handlers_own_rows),
    BOTH(what_is_given_back_inside_runs_again),
    BOTH(after_a_rollback_the_returned_outcome_counts),
    BOTH(settling_inside_after_the_loss_is_refused),
    POSTGRES(an_outcome_waits_for_a_locked_row),
    POSTGRES(settling_a_locked_row_inside_can_be_tried_again),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
