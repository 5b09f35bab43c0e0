/* tests/loops/test_upkeep.c: maintenance as every loop offers it, and the loop that does nothing
 * else. What its steps do is tested in core. */
#include "loops/upkeep.h"
#include "support/fault.h"
#include "support/jobs.h"

/* What was reported. */
struct log {
    _Atomic int done;
    _Atomic int failed;
    _Atomic int count;
};

static void note_event(const alk_event *event, void *context) {
    struct log *log = context;

    /* this may be another thread than the test's: nothing is asserted here */
    if (strcmp(event->component, "maintenance") != 0)
        return;
    if (strcmp(event->name, "maintenance failed") == 0 && event->error != NULL)
        atomic_fetch_add(&log->failed, 1);
    if (strcmp(event->name, "maintenance step done") == 0) {
        atomic_fetch_add(&log->done, 1);
        atomic_fetch_add(&log->count, (int)event->count);
    }
}

struct offered {
    struct faults faults;
    struct alk__upkeep upkeep;
    struct log log;
};

static void offered_init(struct offered *offered, struct scene *scene) {
    struct alk__reporter reporter = {note_event, &offered->log, "worker"};

    offered->log = (struct log){0};
    alk__upkeep_init(&offered->upkeep, "tester", &reporter);
    faults_install(&offered->faults, scene->store);
}

/* count jobs in a queue that nobody serves, expired. */
static void put_expired(struct scene *scene, int count) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
    static alk_new_job jobs[ALK_ENQUEUE_BATCH_MAX];

    options.expires_us = ALK__SECOND;
    for (int i = 0; i < count; i++)
        jobs[i] = (alk_new_job){"1", 1, &options};
    ok(scene, alk_enqueue_many(scene->conn, "unserved", jobs, (size_t)count, NULL, &scene->error));
    scene_pass(scene, 2 * ALK__SECOND);
}

static alk_status offer(struct offered *offered, struct scene *scene) {
    return alk__upkeep_offer(scene->conn, &offered->upkeep, &scene->error);
}

// S209, S54
static void what_expired_is_moved_and_reported(struct scene *scene) {
    struct offered offered;

    put_expired(scene, 3);
    offered_init(&offered, scene);
    ok(scene, offer(&offered, scene));
    assert_int_equal(count_rows(scene, "alk_job_dead", "reason = 'expired'"), 3);
    assert_int_equal(offered.log.done, 1);
    assert_int_equal(offered.log.count, 3);
    faults_remove(&offered.faults);
}

// S209: however often it is offered.
static void it_looks_once_a_second_at_most(struct scene *scene) {
    struct offered offered;
    int64_t begin_us = alk__monotonic_us();

    offered_init(&offered, scene);
    for (int n = 0; n < 1000; n++)
        expect(scene, ALK_EMPTY, offer(&offered, scene));
    int64_t seconds = (alk__monotonic_us() - begin_us) / ALK__SECOND + 1;
    assert_true(faults_count(&offered.faults, "maintain_expired") <= seconds);
    assert_int_equal(faults_count(&offered.faults, "lease_acquire"), 0);
    faults_remove(&offered.faults);
}

/* A batch is 1,000 jobs. */
static void a_full_batch_is_followed_at_once(struct scene *scene) {
    struct offered offered;

    put_expired(scene, 1500);
    offered_init(&offered, scene);
    ok(scene, offer(&offered, scene));
    assert_true(offered.upkeep.has_more);
    ok(scene, offer(&offered, scene));
    assert_false(offered.upkeep.has_more);
    assert_int_equal(count_rows(scene, "alk_job_dead", "1 = 1"), 1500);
    expect(scene, ALK_EMPTY, offer(&offered, scene));
    faults_remove(&offered.faults);
}

static void a_failure_is_reported_and_put_off(struct scene *scene) {
    struct offered offered;

    offered_init(&offered, scene);
    faults_add(&offered.faults, "maintain_expired", 0, ALK__BEFORE, ALK_FAILED);
    int64_t before_us = alk__monotonic_us();
    expect(scene, ALK_FAILED, offer(&offered, scene));
    assert_int_equal(offered.log.failed, 1);
    assert_true(offered.upkeep.due_us >= before_us + ALK__SECOND / 2);

    /* each failure in a row doubles the wait, up to a minute */
    for (int n = 0; n < 20; n++) {
        offered.upkeep.due_us = 0;
        expect(scene, ALK_FAILED, offer(&offered, scene));
    }
    before_us = alk__monotonic_us();
    assert_true(offered.upkeep.due_us - before_us > 20 * ALK__SECOND);
    assert_true(offered.upkeep.due_us - before_us <= 60 * ALK__SECOND);

    faults_clear(&offered.faults);
    offered.upkeep.due_us = 0;
    expect(scene, ALK_EMPTY, offer(&offered, scene));
    assert_true(offered.upkeep.due_us <= alk__monotonic_us() + ALK__SECOND);
    faults_remove(&offered.faults);
}

// S209: somebody else is at it.
static void a_held_lease_is_left_to_its_holder(struct scene *scene) {
    struct offered offered;
    alk_lease lease;

    put_expired(scene, 1);
    ok(scene,
       alk_lease_acquire(scene->conn, "maintenance", "other", ALK__HOUR, &lease, &scene->error));
    offered_init(&offered, scene);
    expect(scene, ALK_EMPTY, offer(&offered, scene));
    assert_false(offered.upkeep.has_more);
    assert_int_equal(offered.log.failed, 0);
    assert_int_equal(count_rows(scene, "alk_job_dead", "1 = 1"), 0);
    faults_remove(&offered.faults);
}

/* ---- the loop alone ---- */

struct alone {
    struct scene *scene;
    struct log log;
    alk_stop *stop;
    alk_status status;
    alk_error error;
    _Atomic bool has_returned;
    pthread_t thread;
};

static void *run_alone(void *context) {
    struct alone *alone = context;
    alk_maintenance_options options = ALK_MAINTENANCE_OPTIONS_INIT;

    options.event = note_event;
    options.event_context = &alone->log;
    alone->status = alk_maintenance_run(alone->scene->store, &options, alone->stop, &alone->error);
    atomic_store(&alone->has_returned, true);
    return NULL;
}

static void alone_start(struct alone *alone, struct scene *scene) {
    *alone = (struct alone){.scene = scene};
    ok(scene, alk_stop_new(&alone->stop, &scene->error));
    assert_int_equal(pthread_create(&alone->thread, NULL, run_alone, alone), 0);
}

static alk_status alone_join(struct alone *alone) {
    wait_until(atomic_load(&alone->has_returned));
    pthread_join(alone->thread, NULL);
    alk_stop_free(alone->stop);
    return alone->status;
}

static void once_is_until_nothing_is_left(struct scene *scene) {
    alk_maintenance_options options = ALK_MAINTENANCE_OPTIONS_INIT;

    put_expired(scene, 2500);
    options.is_once = true;
    ok(scene, alk_maintenance_run(scene->store, &options, NULL, &scene->error));
    assert_int_equal(count_rows(scene, "alk_job_dead", "1 = 1"), 2500);
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 0);
    ok(scene, alk_maintenance_run(scene->store, &options, NULL, &scene->error));
}

// S80
static void alone_it_goes_on_till_it_is_stopped(struct scene *scene) {
    struct alone alone;

    alone_start(&alone, scene);
    put_expired(scene, 1);
    wait_until(count_rows(scene, "alk_job_dead", "1 = 1") == 1);
    put_expired(scene, 1);
    wait_until(count_rows(scene, "alk_job_dead", "1 = 1") == 2);
    assert_false(alone.has_returned);
    alk_stop_set(alone.stop);
    ok(scene, alone_join(&alone));
}

static void alone_a_passing_failure_is_survived(struct scene *scene) {
    struct faults faults;
    struct alone alone;

    faults_install(&faults, scene->store);
    faults_add(&faults, "maintain_expired", 1, ALK__BEFORE, ALK_AGAIN);
    alone_start(&alone, scene);
    wait_until(alone.log.failed == 1);
    put_expired(scene, 1);
    wait_until(count_rows(scene, "alk_job_dead", "1 = 1") == 1);
    alk_stop_set(alone.stop);
    ok(scene, alone_join(&alone));
    faults_remove(&faults);
}

static void alone_a_permanent_failure_is_returned(struct scene *scene) {
    struct faults faults;
    struct alone alone;

    faults_install(&faults, scene->store);
    faults_add(&faults, "maintain_expired", 0, ALK__BEFORE, ALK_FAILED);
    alone_start(&alone, scene);
    expect(scene, ALK_FAILED, alone_join(&alone));
    assert_contains(alone.error.message, "run maintenance: ");
    assert_int_equal(alone.log.failed, 1);
    faults_remove(&faults);
}

static const struct scene_test tests[] = {
    BOTH(what_expired_is_moved_and_reported),    BOTH(it_looks_once_a_second_at_most),
    BOTH(a_full_batch_is_followed_at_once),      BOTH(a_failure_is_reported_and_put_off),
    BOTH(a_held_lease_is_left_to_its_holder),    BOTH(once_is_until_nothing_is_left),
    BOTH(alone_it_goes_on_till_it_is_stopped),   BOTH(alone_a_passing_failure_is_survived),
    BOTH(alone_a_permanent_failure_is_returned),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
