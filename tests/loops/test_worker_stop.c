/* tests/loops/test_worker_stop.c: how a worker ends, and how it makes handlers end. */
#include "support/fault.h"
#include "support/rig.h"

#define NEVER_US ALK__HOUR /* of a poll that no test waits for */

/* ---- stop ---- */

// S75, S79: what no handler began is given back with its attempt and without back-off.
static void a_stop_gives_back_what_no_handler_began(struct scene *scene) {
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;

    put_numbers(scene, "mail", 4);
    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.prefetch = 3;
    rig_start(&rig);
    wait_until(gate.tally.at_once == 1 && running_jobs(scene) == 4);
    alk_stop_set(rig.stop);
    wait_until(running_jobs(scene) == 1);
    assert_int_equal(count_rows(scene, "alk_job", "attempt = 0 AND errors IS NULL"), 3);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job WHERE run_at > %s",
                                sql_time(scene, scene_now(scene))),
                     0);
    atomic_store(&gate.is_open, true);
    ok(scene, rig_join(&rig));
    assert_int_equal(gate.tally.runs, 1);
    assert_int_equal(done_jobs(scene), 1);
    assert_int_equal(running_jobs(scene), 0);
    assert_int_equal(rig_events(&rig, "job released"), 3);
    check_store(scene);
    rig_free(&rig);
}

// S79
static void a_stopping_worker_claims_nothing(struct scene *scene) {
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;

    put_work(scene, "mail", "1", NULL);
    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.concurrency = 4;
    rig_start(&rig);
    wait_until(gate.tally.at_once == 1);
    alk_stop_set(rig.stop);
    wait_until(rig_events(&rig, "worker stopping") == 1);
    put_numbers(scene, "mail", 3);
    atomic_store(&gate.is_open, true);
    ok(scene, rig_join(&rig));
    assert_int_equal(count_rows(scene, "alk_job", "attempt = 0"), 3);
    rig_free(&rig);
}

static void a_worker_that_was_stopped_before_claims_nothing(struct scene *scene) {
    struct tally tally = {0};
    struct rig rig;

    put_work(scene, "mail", "1", NULL);
    rig_init(&rig, scene, count_run, &tally);
    alk_stop_set(rig.stop);
    ok(scene, rig_run(&rig));
    assert_int_equal(tally.runs, 0);
    rig_free(&rig);
}

// S79: until the deadline a handler is left alone, then it is told.
static void handlers_get_until_the_deadline(struct scene *scene) {
    struct gate gate = {.outcome = ALK_RELEASE};
    struct rig rig;
    int64_t id = put_work(scene, "mail", "1", NULL);

    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.shutdown_us = 100 * ALK__MS;
    rig_start(&rig);
    wait_until(gate.tally.at_once == 1);
    int64_t begin_us = alk__monotonic_us();
    ok(scene, rig_stop(&rig));
    assert_true(alk__monotonic_us() - begin_us >= 100 * ALK__MS);
    assert_true(gate.was_told);
    assert_false(gate.was_lost);
    assert_false(gate.was_overdue);
    assert_int_equal(rig_events(&rig, "handler told to end, the worker stops"), 1);
    assert_int_equal(state_of(scene, id), ALK_JOB_READY);
    assert_int_equal(sql_number(scene, "SELECT attempt FROM alk_job"), 0);
    rig_free(&rig);
}

static void a_handler_is_not_told_before_the_deadline(struct scene *scene) {
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;

    put_work(scene, "mail", "1", NULL);
    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.shutdown_us = NEVER_US;
    rig_start(&rig);
    wait_until(gate.tally.at_once == 1);
    alk_stop_set(rig.stop);
    wait_until(rig_events(&rig, "worker stopping") == 1);
    atomic_store(&gate.is_open, true);
    ok(scene, rig_join(&rig));
    assert_false(gate.was_told);
    assert_int_equal(done_jobs(scene), 1);
    rig_free(&rig);
}

/* Nothing can end a thread but itself: its job stays claimed and the worker waits. */
static void a_handler_that_ignores_its_end_is_waited_for(struct scene *scene) {
    struct gate gate = {.is_stubborn = true, .outcome = ALK_DONE};
    struct rig rig;

    put_work(scene, "mail", "1", NULL);
    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.shutdown_us = 0;
    rig_start(&rig);
    wait_until(gate.tally.at_once == 1);
    alk_stop_set(rig.stop);
    wait_until(rig_events(&rig, "handler told to end, the worker stops") == 1);
    assert_false(rig.has_returned);
    assert_int_equal(running_jobs(scene), 1);
    atomic_store(&gate.is_open, true);
    ok(scene, rig_join(&rig));
    assert_int_equal(done_jobs(scene), 1);
    assert_int_equal(rig_events(&rig, "handler told to end, the worker stops"), 1);
    rig_free(&rig);
}

// S80: with a poll of an hour nothing but the stop can have ended the wait.
static void a_stop_wakes_an_idle_worker(struct scene *scene) {
    struct faults faults;
    struct tally tally = {0};
    struct rig rig;

    faults_install(&faults, scene->store);
    rig_init(&rig, scene, count_run, &tally);
    rig.options.poll_us = NEVER_US;
    rig_start(&rig);
    wait_until(faults_count(&faults, "job_due") > 0);
    int64_t begin_us = alk__monotonic_us();
    ok(scene, rig_stop(&rig));
    assert_true(alk__monotonic_us() - begin_us < 5 * ALK__SECOND);
    faults_remove(&faults);
    rig_free(&rig);
}

struct call {
    _Atomic bool has_begun;
    _Atomic bool may_end;
};

static alk_status hang(void *context, alk_error *error) {
    struct call *call = context;

    (void)error;
    atomic_store(&call->has_begun, true);
    while (!atomic_load(&call->may_end))
        nap();
    return ALK_OK;
}

// S80: in a call of the database the stop is seen at its end: no other statement follows.
static void a_stop_in_a_call_is_seen_at_its_end(struct scene *scene) {
    static const char *const two[] = {"mail", "other"};
    struct call call = {false, false};
    struct faults faults;
    struct tally tally = {0};
    struct rig rig;

    faults_install(&faults, scene->store);
    faults_call(&faults, "job_due", 1, ALK__AFTER, hang, &call);
    rig_init(&rig, scene, count_run, &tally);
    rig.options.queues = two;
    rig.options.queue_count = 2;
    rig.options.poll_us = NEVER_US;
    rig_start(&rig);
    wait_until(call.has_begun);
    alk_stop_set(rig.stop);
    int looks = faults_count(&faults, "job_due");
    int claims = faults_count(&faults, "job_claim");
    atomic_store(&call.may_end, true);
    ok(scene, rig_join(&rig));
    assert_in_range(faults_count(&faults, "job_due"), looks, looks + 1);
    assert_int_equal(faults_count(&faults, "job_claim"), claims);
    faults_remove(&faults);
    rig_free(&rig);
}

/* ---- time limits of handlers ---- */

// S84
static void an_overdue_handler_is_told_to_stop(struct scene *scene) {
    struct gate gate = {.outcome = ALK_RETRY};
    struct rig rig;
    int64_t id = put_work(scene, "mail", "1", NULL);

    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.timeout_us = 50 * ALK__MS;
    rig_start(&rig);
    wait_until(rig_events(&rig, "job failed") == 1);
    assert_true(gate.was_told);
    assert_true(gate.was_overdue);
    assert_false(gate.was_lost);
    assert_int_equal(rig_event(&rig, "handler overdue").job_id, id);
    assert_int_equal(state_of(scene, id), ALK_JOB_DELAYED);
    ok(scene, rig_stop(&rig));
    rig_free(&rig);
}

// S84: as long as the handler has not ended nobody else gets the job.
static void an_overdue_job_stays_claimed_till_its_handler_ends(struct scene *scene) {
    const alk_claim_options other = {sizeof(other), 1, ALK__MINUTE, "other"};
    struct gate gate = {.is_stubborn = true, .outcome = ALK_RETRY};
    struct rig rig;
    alk_job_list list;
    int64_t id = put_work(scene, "mail", "1", NULL);

    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.timeout_us = ALK__MS;
    rig_start(&rig);
    wait_until(rig_events(&rig, "handler overdue") == 1);
    expect(scene, ALK_EMPTY, alk_claim(scene->conn, "mail", &other, &list, &scene->error));
    assert_int_equal(state_of(scene, id), ALK_JOB_RUNNING);
    atomic_store(&gate.is_open, true);
    wait_until(state_of(scene, id) == ALK_JOB_DELAYED);
    ok(scene, rig_stop(&rig));
    assert_int_equal(rig_events(&rig, "handler overdue"), 1);
    rig_free(&rig);
}

static alk_outcome note_deadline(alk_attempt *attempt, void *context) {
    *(int64_t *)context = alk_attempt_deadline_us(attempt);
    return ALK_DONE;
}

static int64_t deadline_of(struct scene *scene, int64_t timeout_us) {
    int64_t deadline_us = 0;
    struct rig rig;

    put_work(scene, "mail", "1", NULL);
    rig_init(&rig, scene, note_deadline, &deadline_us);
    rig.options.timeout_us = timeout_us;
    rig.options.is_drain = true;
    ok(scene, rig_run(&rig));
    rig_free(&rig);
    return deadline_us;
}

// S84
static void a_handler_can_ask_for_its_deadline(struct scene *scene) {
    int64_t before_us = alk__now_us(alk__store_clock(scene->store));
    int64_t deadline_us = deadline_of(scene, ALK__HOUR);

    assert_true(deadline_us >= before_us + ALK__HOUR);
    assert_true(deadline_us <= alk__now_us(alk__store_clock(scene->store)) + ALK__HOUR);
    assert_true(deadline_of(scene, 0) == ALK_NO_TIME);
    assert_true(deadline_of(scene, INT64_MAX) == INT64_MAX);
}

static const struct scene_test tests[] = {
    BOTH(a_stop_gives_back_what_no_handler_began),
    BOTH(a_stopping_worker_claims_nothing),
    BOTH(a_worker_that_was_stopped_before_claims_nothing),
    BOTH(handlers_get_until_the_deadline),
    BOTH(a_handler_is_not_told_before_the_deadline),
    BOTH(a_handler_that_ignores_its_end_is_waited_for),
    BOTH(a_stop_wakes_an_idle_worker),
    BOTH(a_stop_in_a_call_is_seen_at_its_end),
    BOTH(an_overdue_handler_is_told_to_stop),
    BOTH(an_overdue_job_stays_claimed_till_its_handler_ends),
    BOTH(a_handler_can_ask_for_its_deadline),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
