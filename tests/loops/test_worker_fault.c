/* tests/loops/test_worker_fault.c: a worker whose database fails. */
#include <stdlib.h>

#include "support/fault.h"
#include "support/rig.h"

#if ALK_WITH_POSTGRES
#include "support/relay.h"
#endif

static const char *const retried = "database failed, trying again";

/* The statement with which a look for jobs begins. */
static const char *first_look(const struct scene *scene) {
    return scene->engine == ALK_ENGINE_POSTGRES ? "job_claim" : "job_due";
}

// S164, S85: three tries more, then the error with its chain, its phase and its queue, and an
// event.
static void a_failure_that_stays_is_returned_after_three_retries(struct scene *scene) {
    struct faults faults;
    struct tally tally = {0};
    struct rig rig;

    faults_install(&faults, scene->store);
    faults_add(&faults, first_look(scene), 0, ALK__BEFORE, ALK_AGAIN);
    rig_init(&rig, scene, count_run, &tally);
    expect(scene, ALK_AGAIN, rig_run(&rig));
    assert_int_equal(faults_happened(&faults), 4);
    assert_int_equal(rig_events(&rig, retried), 3);
    assert_int_equal(rig_event(&rig, retried).phase, ALK_PHASE_CLAIM);
    assert_int_equal(rig.error.phase, ALK_PHASE_CLAIM);
    assert_string_equal(rig.error.subject, "mail");
    assert_int_equal(rig.error.error_class, ALK_CLASS_TRANSIENT);
    assert_contains(rig.error.message, "run worker: ");
    assert_contains(rig.error.message, "'mail'");
    struct rig_event event = rig_event(&rig, "worker failed");
    assert_int_equal(event.level, ALK_LEVEL_ERROR);
    assert_int_equal(event.status, ALK_AGAIN);
    faults_remove(&faults);
    rig_free(&rig);
}

static void a_failure_that_passes_is_only_an_event(struct scene *scene) {
    struct faults faults;
    struct tally tally = {0};
    struct rig rig;

    put_work(scene, "mail", "1", NULL);
    faults_install(&faults, scene->store);
    faults_add(&faults, first_look(scene), 1, ALK__BEFORE, ALK_AGAIN);
    rig_init(&rig, scene, count_run, &tally);
    rig.options.is_drain = true;
    ok(scene, rig_run(&rig));
    assert_int_equal(tally.runs, 1);
    assert_int_equal(rig_events(&rig, retried), 1);
    faults_remove(&faults);
    rig_free(&rig);
}

static void a_permanent_failure_is_returned_at_once(struct scene *scene) {
    struct faults faults;
    struct tally tally = {0};
    struct rig rig;

    faults_install(&faults, scene->store);
    faults_add(&faults, first_look(scene), 0, ALK__BEFORE, ALK_FAILED);
    rig_init(&rig, scene, count_run, &tally);
    expect(scene, ALK_FAILED, rig_run(&rig));
    assert_int_equal(faults_happened(&faults), 1);
    assert_int_equal(rig_events(&rig, retried), 0);
    faults_remove(&faults);
    rig_free(&rig);
}

/* Giving up while a handler runs would lose what it does. */
static void while_a_claim_is_good_it_goes_on_trying(struct scene *scene) {
    struct faults faults;
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;

    put_work(scene, "mail", "1", NULL);
    faults_install(&faults, scene->store);
    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.prefetch = 2;
    rig_start(&rig);
    wait_until(gate.tally.at_once == 1);
    faults_add(&faults, first_look(scene), 0, ALK__BEFORE, ALK_AGAIN);
    put_work(scene, "mail", "2", NULL);
    wait_until(rig_events(&rig, retried) >= 5);
    assert_false(rig.has_returned);
    faults_clear(&faults);
    atomic_store(&gate.is_open, true);
    wait_until(done_jobs(scene) == 2);
    ok(scene, rig_stop(&rig));
    faults_remove(&faults);
    rig_free(&rig);
}

/* What the handler did is not lost with the loop: it is settled on the way out. */
static void a_worker_that_gives_up_settles_what_it_can(struct scene *scene) {
    struct faults faults;
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;

    put_numbers(scene, "mail", 2);
    faults_install(&faults, scene->store);
    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.lease_us = 3 * ALK__SECOND; /* extended after one */
    rig_start(&rig);
    wait_until(gate.tally.at_once == 1 && running_jobs(scene) == 2);
    faults_add(&faults, "job_extend", 0, ALK__BEFORE, ALK_FAILED);
    faults_add(&faults, first_look(scene), 0, ALK__BEFORE, ALK_FAILED);
    expect(scene, ALK_FAILED, rig_join(&rig));
    assert_true(gate.was_told);
    assert_int_equal(done_jobs(scene), 1);
    assert_int_equal(running_jobs(scene), 0);
    assert_int_equal(count_rows(scene, "alk_job", "attempt = 0"), 1);
    faults_remove(&faults);
    rig_free(&rig);
}

/* ---- settling ---- */

static void settle_with_fault(struct scene *scene, const char *name,
                              enum alk__fault_moment moment) {
    struct faults faults;
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;
    int64_t id = put_work(scene, "mail", "1", NULL);

    faults_install(&faults, scene->store);
    rig_init(&rig, scene, wait_at_gate, &gate);
    rig_start(&rig);
    wait_until(gate.tally.at_once == 1);
    faults_add(&faults, name, 1, moment, ALK_AGAIN);
    atomic_store(&gate.is_open, true);
    wait_until(rig_events(&rig, "job done") +
                   rig_events(&rig, "outcome refused, the job may run again") ==
               1);
    ok(scene, rig_stop(&rig));
    assert_int_equal(faults_happened(&faults), 1);
    assert_int_equal(rig_events(&rig, retried), 1);
    assert_int_equal(rig_event(&rig, retried).phase, ALK_PHASE_SETTLE);
    assert_int_equal(state_of(scene, id), ALK_JOB_DONE);
    assert_int_equal(gate.tally.runs, 1);
    faults_remove(&faults);
    rig_free(&rig);
}

// S82
static void a_failing_settle_is_tried_again_and_the_job_is_not(struct scene *scene) {
    settle_with_fault(scene, "job_settle_done", ALK__BEFORE);
    settle_with_fault(scene, "job_settle_done", ALK__AFTER);
    settle_with_fault(scene, "commit", ALK__BEFORE);
}

// S82: the settle did happen, and its answer was lost.
static void a_settle_whose_answer_was_lost_is_not_a_retry(struct scene *scene) {
    settle_with_fault(scene, "commit", ALK__AFTER);
}

static void it_is_said_that_a_refusal_may_be_an_earlier_success(struct scene *scene) {
    struct faults faults;
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;

    put_work(scene, "mail", "1", NULL);
    faults_install(&faults, scene->store);
    rig_init(&rig, scene, wait_at_gate, &gate);
    rig_start(&rig);
    wait_until(gate.tally.at_once == 1);
    faults_add(&faults, "commit", 1, ALK__AFTER, ALK_AGAIN);
    atomic_store(&gate.is_open, true);
    wait_until(rig_events(&rig, "outcome refused, the job may run again") == 1);
    assert_contains(rig_event(&rig, "outcome refused, the job may run again").detail,
                    "perhaps by a settle whose answer was lost");
    ok(scene, rig_stop(&rig));
    faults_remove(&faults);
    rig_free(&rig);
}

/* ---- maintenance ---- */

// S209
static void failing_maintenance_is_reported_and_stops_nothing(struct scene *scene) {
    struct faults faults;
    struct tally tally = {0};
    struct rig rig;

    faults_install(&faults, scene->store);
    faults_add(&faults, "maintain_expired", 0, ALK__BEFORE, ALK_FAILED);
    rig_init(&rig, scene, count_run, &tally);
    rig_start(&rig);
    wait_until(rig_events(&rig, "maintenance failed") >= 1);
    assert_string_equal(rig_event(&rig, "maintenance failed").component, "maintenance");
    put_work(scene, "mail", "1", NULL);
    wait_until(tally.runs == 1);
    ok(scene, rig_stop(&rig));
    assert_int_equal(rig_events(&rig, retried), 0);
    assert_int_equal(done_jobs(scene), 1);
    faults_remove(&faults);
    rig_free(&rig);
}

// S209: a worker that has more to do than it can does it as well.
static void a_full_worker_offers_maintenance_too(struct scene *scene) {
    alk_enqueue_options expiring = ALK_ENQUEUE_OPTIONS_INIT;
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;

    expiring.expires_us = ALK__SECOND;
    int64_t id = put_work(scene, "unserved", "1", &expiring);
    put_numbers(scene, "mail", 10);
    scene_pass(scene, 2 * ALK__SECOND);
    rig_init(&rig, scene, wait_at_gate, &gate);
    rig_start(&rig);
    wait_until(state_of(scene, id) == ALK_JOB_DEAD);
    assert_int_equal(gate.tally.at_once, 1);
    atomic_store(&gate.is_open, true);
    ok(scene, rig_stop(&rig));
    rig_free(&rig);
}

/* ---- the respawn recipe ---- */

// S78: 0.2 s doubling to 10 s, jittered to between half and the whole.
static void the_respawn_waits_are_bounded(struct scene *scene) {
    int64_t whole_us = 200 * ALK__MS;

    (void)scene;
    for (int64_t failures = 1; failures < 70; failures++) {
        int64_t wait_us = alk_respawn_us(failures);
        assert_in_range(wait_us, whole_us / 2, whole_us);
        whole_us = 2 * whole_us < 10 * ALK__SECOND ? 2 * whole_us : 10 * ALK__SECOND;
    }
    assert_in_range(alk_respawn_us(INT64_MAX), 5 * ALK__SECOND, 10 * ALK__SECOND);
    assert_in_range(alk_respawn_us(0), 100 * ALK__MS, 200 * ALK__MS);
    assert_in_range(alk_respawn_us(INT64_MIN), 100 * ALK__MS, 200 * ALK__MS);
}

struct respawned {
    struct rig *rig;
    _Atomic int deaths;
    pthread_t thread;
};

/* The recipe as a program follows it, without its waits. */
static void *respawn(void *context) {
    struct respawned *respawned = context;

    while (rig_run(respawned->rig) < 0) {
        atomic_fetch_add(&respawned->deaths, 1);
        nap();
    }
    return NULL;
}

static void respawn_start(struct respawned *respawned, struct rig *rig) {
    *respawned = (struct respawned){.rig = rig};
    assert_int_equal(pthread_create(&respawned->thread, NULL, respawn, respawned), 0);
}

static void respawn_stop(struct scene *scene, struct respawned *respawned) {
    alk_stop_set(respawned->rig->stop);
    pthread_join(respawned->thread, NULL);
    ok(scene, respawned->rig->status);
}

// S78
static void run_again_it_works_again(struct scene *scene) {
    struct faults faults;
    struct tally tally = {0};
    struct respawned respawned;
    struct rig rig;

    faults_install(&faults, scene->store);
    rig_init(&rig, scene, count_run, &tally);
    respawn_start(&respawned, &rig);
    wait_until(faults_count(&faults, "job_due") > 0);
    faults_add(&faults, NULL, 0, ALK__BEFORE, ALK_AGAIN);
    wait_until(respawned.deaths >= 2);
    faults_clear(&faults);
    put_work(scene, "mail", "1", NULL);
    wait_until(done_jobs(scene) == 1);
    respawn_stop(scene, &respawned);
    faults_remove(&faults);
    rig_free(&rig);
}

/* ---- a server that hangs, goes away and comes back ---- */

#if ALK_WITH_POSTGRES
struct far {
    struct relay *relay;
    alk_store *store;
    char url[600];
};

static void far_open(struct far *far, struct scene *scene) {
    const char *schema = strstr(scene->url, "schema=");
    alk_store_options options = scene_options(scene);

    far->relay = relay_start(getenv("ALK_TEST_POSTGRES"));
    assert_true(far->relay != NULL && schema != NULL);
    snprintf(far->url, sizeof(far->url), "%s&%s", relay_url(far->relay), schema);
    options.connect_timeout_us = ALK__SECOND;
    ok(scene, alk_open(far->url, &options, &far->store, &scene->error));
}

static void far_close(struct far *far) {
    alk_close(far->store);
    relay_stop(far->relay);
}

/* The limit of a call, a third of the lease, makes of a hung server a passing failure. */
static void a_hung_server_is_a_passing_failure(struct scene *scene) {
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;
    struct far far;

    far_open(&far, scene);
    put_work(scene, "mail", "1", NULL);
    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.store = far.store;
    rig.options.lease_us = 9 * ALK__SECOND;
    rig_start(&rig);
    wait_until(gate.tally.at_once == 1);
    relay_hold(far.relay, true);
    wait_until(rig_events(&rig, retried) >= 1);
    relay_hold(far.relay, false);
    atomic_store(&gate.is_open, true);
    wait_until(rig_events(&rig, "job done") == 1);
    assert_false(rig.has_returned);
    ok(scene, rig_stop(&rig));
    far_close(&far);
    rig_free(&rig);
}

// S78: every connection cut and none to be had; then all is as before, in the same process.
static void a_server_that_was_away_is_served_again(struct scene *scene) {
    struct tally tally = {0};
    struct respawned respawned;
    struct rig rig;
    struct far far;

    far_open(&far, scene);
    rig_init(&rig, scene, count_run, &tally);
    rig.store = far.store;
    respawn_start(&respawned, &rig);
    put_work(scene, "mail", "1", NULL);
    wait_until(done_jobs(scene) == 1);
    relay_hold(far.relay, true);
    relay_cut(far.relay);
    wait_until(respawned.deaths >= 1);
    relay_hold(far.relay, false);
    relay_cut(far.relay);
    put_work(scene, "mail", "1", NULL);
    wait_until(done_jobs(scene) == 2);
    assert_int_equal(tally.runs, 2);
    respawn_stop(scene, &respawned);
    far_close(&far);
    rig_free(&rig);
}

/* A connection that dies alone costs a retry. */
static void a_cut_connection_is_replaced(struct scene *scene) {
    struct tally tally = {0};
    struct rig rig;
    struct far far;

    far_open(&far, scene);
    rig_init(&rig, scene, count_run, &tally);
    rig.store = far.store;
    rig_start(&rig);
    put_work(scene, "mail", "1", NULL);
    wait_until(done_jobs(scene) == 1);
    relay_cut(far.relay);
    put_work(scene, "mail", "1", NULL);
    wait_until(done_jobs(scene) == 2);
    ok(scene, rig_stop(&rig));
    far_close(&far);
    rig_free(&rig);
}
#endif

static const struct scene_test tests[] = {
    BOTH(a_failure_that_stays_is_returned_after_three_retries),
    BOTH(a_failure_that_passes_is_only_an_event),
    BOTH(a_permanent_failure_is_returned_at_once),
    BOTH(while_a_claim_is_good_it_goes_on_trying),
    BOTH(a_worker_that_gives_up_settles_what_it_can),
    BOTH(a_failing_settle_is_tried_again_and_the_job_is_not),
    BOTH(a_settle_whose_answer_was_lost_is_not_a_retry),
    BOTH(it_is_said_that_a_refusal_may_be_an_earlier_success),
    BOTH(failing_maintenance_is_reported_and_stops_nothing),
    BOTH(a_full_worker_offers_maintenance_too),
    ALONE(the_respawn_waits_are_bounded),
    BOTH(run_again_it_works_again),
#if ALK_WITH_POSTGRES
    POSTGRES(a_hung_server_is_a_passing_failure),
    POSTGRES(a_server_that_was_away_is_served_again),
    POSTGRES(a_cut_connection_is_replaced),
#endif
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
