/* tests/loops/test_worker_wake.c: when a worker looks for jobs: at once when one comes or is due,
 * and seldom when there is nothing to do. Where a poll is an hour nothing but a wake can have
 * helped. */
#include "support/fault.h"
#include "support/rig.h"

#define NEVER_US ALK__HOUR

/* A store of the test's own, on the system's clock. */
static alk_store *open_store(struct scene *scene) {
    alk_store_options options = ALK_STORE_OPTIONS_INIT;
    alk_store *store = NULL;

    ok(scene, scene_open(scene, &options, &store));
    return store;
}

// S40: the wait ends when the job is due.
static void a_delayed_job_runs_when_it_is_due(struct scene *scene) {
    alk_enqueue_options later = ALK_ENQUEUE_OPTIONS_INIT;
    struct tally tally = {0};
    struct rig rig;
    alk_conn *conn;

    rig_init(&rig, scene, count_run, &tally);
    rig.store = open_store(scene);
    rig.options.poll_us = NEVER_US;
    ok(scene, alk_conn_get(rig.store, &conn, &scene->error));
    later.delay_us = 300 * ALK__MS;
    int64_t begin_us = alk__monotonic_us();
    ok(scene, alk_enqueue(conn, "mail", "1", 1, &later, NULL, &scene->error));
    alk_conn_put(conn);
    rig_start(&rig);
    wait_until(rig_events(&rig, "job done") == 1);
    assert_true(alk__monotonic_us() - begin_us >= 300 * ALK__MS);
    ok(scene, rig_stop(&rig));
    alk_close(rig.store);
    rig_free(&rig);
}

/* Enqueued while the worker waits, by somebody else's store, as by another process. */
static void a_new_job_wakes_an_idle_worker(struct scene *scene) {
    struct faults faults;
    struct tally tally = {0};
    struct rig rig;

    rig_init(&rig, scene, count_run, &tally);
    ok(scene, scene_open(scene, NULL, &rig.store));
    faults_install(&faults, rig.store);
    rig.options.poll_us = NEVER_US;
    rig_start(&rig);
    wait_until(faults_count(&faults, "job_due") > 0);
    for (int round = 1; round <= 3; round++) {
        put_work(scene, "mail", "1", NULL);
        wait_until(rig_events(&rig, "job done") == round);
    }
    ok(scene, rig_stop(&rig));
    faults_remove(&faults);
    alk_close(rig.store);
    rig_free(&rig);
}

static alk_status enqueue_meanwhile(void *context, alk_error *error) {
    struct scene *scene = context;

    return alk_enqueue(scene->conn, "mail", "1", 1, NULL, NULL, error);
}

// S88: a job that is committed behind the last look and before the wait begins.
static void a_commit_between_the_look_and_the_wait_is_not_missed(struct scene *scene) {
    /* SQLite looks before it claims as well */
    int last_look = scene->engine == ALK_ENGINE_SQLITE ? 2 : 1;
    struct faults faults;
    struct tally tally = {0};
    struct rig rig;

    rig_init(&rig, scene, count_run, &tally);
    ok(scene, scene_open(scene, NULL, &rig.store));
    faults_install(&faults, rig.store);
    faults_call(&faults, "job_due", last_look, ALK__AFTER, enqueue_meanwhile, scene);
    rig.options.poll_us = NEVER_US;
    rig_start(&rig);
    wait_until(rig_events(&rig, "job done") == 1);
    assert_int_equal(faults_happened(&faults), 1);
    ok(scene, rig_stop(&rig));
    faults_remove(&faults);
    alk_close(rig.store);
    rig_free(&rig);
}

static alk_status enqueue_much_elsewhere(void *context, alk_error *error) {
    struct scene *scene = context;
    alk_status status = ALK_OK;

    for (int n = 0; n < 100 && status >= 0; n++)
        status = alk_enqueue(scene->conn, "elsewhere", "1", 1, NULL, NULL, error);
    return status;
}

// S89: a hundred commits during one call of the database are not a hundred looks.
static void wakes_that_come_while_it_is_busy_are_one(struct scene *scene) {
    struct faults faults;
    struct tally tally = {0};
    struct rig rig;

    rig_init(&rig, scene, count_run, &tally);
    ok(scene, scene_open(scene, NULL, &rig.store));
    faults_install(&faults, rig.store);
    faults_call(&faults, "job_due", 1, ALK__AFTER, enqueue_much_elsewhere, scene);
    rig.options.poll_us = NEVER_US;
    rig_start(&rig);
    wait_until(faults_count(&faults, "maintain_expired") > 0); /* behind the call */
    put_work(scene, "mail", "1", NULL);
    wait_until(rig_events(&rig, "job done") == 1);
    ok(scene, rig_stop(&rig));
    assert_in_range(faults_count(&faults, "job_due"), 1, 40);
    faults_remove(&faults);
    alk_close(rig.store);
    rig_free(&rig);
}

// S46: an idle worker reads a little once a poll and maintenance's look once a second, and writes
// nothing. The bounds are of work in a span that may be longer, never shorter, than it seems.
static void an_idle_worker_sends_little_and_writes_nothing(struct scene *scene) {
    struct faults faults;
    struct tally tally = {0};
    struct rig rig;
    int64_t begin_us = alk__monotonic_us();

    faults_install(&faults, scene->store);
    rig_init(&rig, scene, count_run, &tally);
    rig_start(&rig);
    wait_until(faults_count(&faults, "maintain_expired") >= 3);
    ok(scene, rig_stop(&rig));
    int64_t seconds = (alk__monotonic_us() - begin_us) / ALK__SECOND + 1;
    int looks = faults_count(&faults, "job_due");
    int maintenance = faults_count(&faults, "maintain_expired");
    assert_true(maintenance <= seconds);
    assert_true(looks <=
                2 * 2 * seconds + 4); /* two reads a look, a poll is half a second at least */
    assert_true(faults_count(&faults, NULL) <= 12 * seconds + 40);
    assert_int_equal(faults_count(&faults, "lease_acquire"), 0);
    if (scene->engine == ALK_ENGINE_SQLITE)
        assert_int_equal(faults_count(&faults, "begin"), 0);
    faults_remove(&faults);
    rig_free(&rig);
}

// S87, S89: without room nothing is looked for, whatever is committed meanwhile.
static void a_full_worker_looks_for_nothing(struct scene *scene) {
    struct gate gate = {.outcome = ALK_DONE};
    struct faults faults;
    struct rig rig;

    put_numbers(scene, "mail", 2);
    rig_init(&rig, scene, wait_at_gate, &gate);
    ok(scene, scene_open(scene, NULL, &rig.store));
    faults_install(&faults, rig.store);
    rig.options.poll_us = NEVER_US;
    rig_start(&rig);
    wait_until(gate.tally.at_once == 1 && running_jobs(scene) == 2);
    wait_until(faults_count(&faults, "maintain_expired") > 0); /* the first round is over */
    int looks = faults_count(&faults, "job_due") + faults_count(&faults, "job_claim");
    for (int n = 0; n < 20; n++) {
        put_work(scene, "mail", "1", NULL);
        nap();
    }
    assert_int_equal(faults_count(&faults, "job_due") + faults_count(&faults, "job_claim"), looks);
    atomic_store(&gate.is_open, true);
    wait_until(rig_events(&rig, "job done") == 22);
    ok(scene, rig_stop(&rig));
    faults_remove(&faults);
    alk_close(rig.store);
    rig_free(&rig);
}

static const struct scene_test tests[] = {
    BOTH(a_delayed_job_runs_when_it_is_due),
    BOTH(a_new_job_wakes_an_idle_worker),
    BOTH(a_commit_between_the_look_and_the_wait_is_not_missed),
    BOTH(wakes_that_come_while_it_is_busy_are_one),
    BOTH(an_idle_worker_sends_little_and_writes_nothing),
    BOTH(a_full_worker_looks_for_nothing),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
