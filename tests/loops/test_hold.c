/* tests/loops/test_hold.c: a lease that is kept alive while something runs under it. */
#include "store/store.h"
#include "support/fault.h"
#include "support/test.h"

#define TTL_US (3 * ALK__SECOND) /* renewed after one */

/* What runs under the lease, and the call of alk_lease_hold in a thread of its own. */
struct held {
    struct scene *scene;
    alk_store *store;
    int64_t ttl_us;
    int64_t wait_us;
    alk_stop *stop;
    alk_status answer;
    bool waits_for_loss;
    _Atomic bool may_end;
    _Atomic bool is_running;
    _Atomic bool saw_loss;
    _Atomic bool has_returned;
    alk_lease lease;
    alk_status status;
    alk_error error;
    pthread_t thread;
};

static alk_status work(const alk_lease *lease, const alk_stop *lost, void *context,
                       alk_error *error) {
    struct held *held = context;

    held->lease = *lease;
    atomic_store(&held->is_running, true);
    while (!atomic_load(&held->may_end) && !(held->waits_for_loss && alk_stop_is_set(lost)))
        nap();
    atomic_store(&held->saw_loss, alk_stop_is_set(lost));
    if (held->answer < 0)
        snprintf(error->message, sizeof(error->message), "the work's own words");
    return held->answer;
}

static void held_init(struct held *held, struct scene *scene) {
    *held = (struct held){.scene = scene, .store = scene->store, .ttl_us = TTL_US};
}

static alk_status hold(struct held *held) {
    held->status = alk_lease_hold(held->store, "nightly", "me", held->ttl_us, held->wait_us,
                                  held->stop, work, held, &held->error);
    atomic_store(&held->has_returned, true);
    return held->status;
}

static void *hold_in_thread(void *context) {
    hold(context);
    return NULL;
}

static void hold_start(struct held *held) {
    assert_int_equal(pthread_create(&held->thread, NULL, hold_in_thread, held), 0);
}

static alk_status hold_join(struct held *held) {
    wait_until(atomic_load(&held->has_returned));
    pthread_join(held->thread, NULL);
    return held->status;
}

static bool is_held(struct scene *scene) {
    alk_lease lease;

    return alk_lease_get(scene->conn, "nightly", &lease, &scene->error) == ALK_OK;
}

static alk_lease other_has_it(struct scene *scene) {
    alk_lease lease;

    ok(scene, alk_lease_acquire(scene->conn, "nightly", "other", ALK__HOUR, &lease, &scene->error));
    return lease;
}

// S180
static void the_lease_is_held_meanwhile_and_released_at_the_end(struct scene *scene) {
    struct held held;

    held_init(&held, scene);
    hold_start(&held);
    wait_until(held.is_running);
    assert_true(is_held(scene));
    assert_string_equal(held.lease.name, "nightly");
    assert_true(held.lease.fence > 0);
    atomic_store(&held.may_end, true);
    ok(scene, hold_join(&held));
    assert_false(is_held(scene));
    assert_false(held.saw_loss);
}

static void the_answer_is_that_of_the_work(struct scene *scene) {
    struct held held;

    held_init(&held, scene);
    held.may_end = true;
    held.answer = ALK_UNCHANGED;
    expect(scene, ALK_UNCHANGED, hold(&held));
    held.answer = ALK_DATA;
    expect(scene, ALK_DATA, hold(&held));
    assert_string_equal(held.error.message, "the work's own words");
    assert_false(is_held(scene));
}

// S180
static void the_lease_is_renewed_meanwhile(struct scene *scene) {
    struct faults faults;
    struct held held;

    faults_install(&faults, scene->store);
    held_init(&held, scene);
    hold_start(&held);
    wait_until(faults_count(&faults, "lease_renew") >= 2);
    assert_true(is_held(scene));
    atomic_store(&held.may_end, true);
    ok(scene, hold_join(&held));
    faults_remove(&faults);
}

// S180: a broken lease is told to the work, and to the caller where the work thought that all was
// well.
static void a_loss_is_told_to_the_work(struct scene *scene) {
    struct held held;

    held_init(&held, scene);
    held.waits_for_loss = true;
    hold_start(&held);
    wait_until(held.is_running);
    ok(scene, alk_lease_break(scene->conn, "nightly", NULL, &scene->error));
    expect(scene, ALK_LOST, hold_join(&held));
    assert_true(held.saw_loss);
    assert_string_equal(held.error.subject, "nightly");
}

static void a_loss_hides_no_failure_of_the_work(struct scene *scene) {
    struct held held;

    held_init(&held, scene);
    held.waits_for_loss = true;
    held.answer = ALK_DATA;
    hold_start(&held);
    wait_until(held.is_running);
    ok(scene, alk_lease_break(scene->conn, "nightly", NULL, &scene->error));
    expect(scene, ALK_DATA, hold_join(&held));
}

/* Between two renewals nobody has noticed: the release does. */
static void a_loss_found_at_the_end_is_told(struct scene *scene) {
    struct held held;

    held_init(&held, scene);
    held.ttl_us = ALK__HOUR;
    hold_start(&held);
    wait_until(held.is_running);
    ok(scene, alk_lease_break(scene->conn, "nightly", NULL, &scene->error));
    alk_lease other = other_has_it(scene);
    atomic_store(&held.may_end, true);
    expect(scene, ALK_LOST, hold_join(&held));
    assert_false(held.saw_loss);
    ok(scene, alk_lease_renew(scene->conn, &other, &scene->error));
}

// S180: when it cannot be renewed for as long as it lasts, it is lost.
static void renewals_that_fail_till_the_end_are_a_loss(struct scene *scene) {
    struct faults faults;
    struct held held;

    faults_install(&faults, scene->store);
    faults_add(&faults, "lease_renew", 0, ALK__BEFORE, ALK_AGAIN);
    held_init(&held, scene);
    held.waits_for_loss = true;
    held.ttl_us = ALK__SECOND;
    int64_t begin_us = alk__monotonic_us();
    expect(scene, ALK_LOST, hold(&held));
    assert_true(held.saw_loss);
    assert_true(alk__monotonic_us() - begin_us >= ALK__SECOND);
    assert_true(faults_count(&faults, "lease_renew") > 1);
    faults_remove(&faults);
}

static void a_renewal_that_fails_once_is_tried_again(struct scene *scene) {
    struct faults faults;
    struct held held;

    faults_install(&faults, scene->store);
    faults_add(&faults, "lease_renew", 1, ALK__BEFORE, ALK_AGAIN);
    held_init(&held, scene);
    held.ttl_us = 2 * TTL_US;
    hold_start(&held);
    wait_until(faults_count(&faults, "lease_renew") >= 2);
    atomic_store(&held.may_end, true);
    ok(scene, hold_join(&held));
    assert_false(held.saw_loss);
    faults_remove(&faults);
}

static void a_held_lease_is_not_waited_for_unasked(struct scene *scene) {
    struct held held;

    other_has_it(scene);
    held_init(&held, scene);
    expect(scene, ALK_HELD, hold(&held));
    assert_false(held.is_running);
    assert_contains(held.error.message, "lease 'nightly' is held by 'other");
    held.wait_us = 20 * ALK__MS;
    expect(scene, ALK_HELD, hold(&held));
    assert_true(is_held(scene));
}

static void a_held_lease_is_taken_when_it_is_given_back(struct scene *scene) {
    struct held held;
    alk_lease other = other_has_it(scene);

    held_init(&held, scene);
    held.wait_us = INT64_MAX;
    held.may_end = true;
    hold_start(&held);
    for (int n = 0; n < 20; n++)
        nap();
    assert_false(held.is_running);
    ok(scene, alk_lease_release(scene->conn, &other, &scene->error));
    ok(scene, hold_join(&held));
    assert_true(held.lease.fence > other.fence);
}

// S80
static void a_stop_ends_the_waiting(struct scene *scene) {
    struct held held;

    other_has_it(scene);
    held_init(&held, scene);
    held.wait_us = INT64_MAX;
    ok(scene, alk_stop_new(&held.stop, &scene->error));
    hold_start(&held);
    for (int n = 0; n < 20; n++)
        nap();
    assert_false(held.has_returned);
    alk_stop_set(held.stop);
    expect(scene, ALK_EMPTY, hold_join(&held));
    assert_false(held.is_running);
    alk_stop_free(held.stop);
}

/* The work may have every other connection: the renewals keep their own. */
static void renewals_do_not_wait_for_the_pool(struct scene *scene) {
    alk_store_options options = scene_options(scene);
    struct faults faults;
    struct held held;
    alk_conn *conn;

    options.pool_max = 2;
    held_init(&held, scene);
    ok(scene, scene_open(scene, &options, &held.store));
    faults_install(&faults, held.store);
    hold_start(&held);
    wait_until(held.is_running);
    ok(scene, alk_conn_get(held.store, &conn, &scene->error));
    wait_until(faults_count(&faults, "lease_renew") >= 2);
    alk_conn_put(conn);
    atomic_store(&held.may_end, true);
    ok(scene, hold_join(&held));
    faults_remove(&faults);
    alk_close(held.store);
}

static alk_status note_limit(alk_conn *conn, const char *name, enum alk__fault_moment moment,
                             void *context, alk_error *error) {
    int64_t *limit_us = context;

    (void)error;
    if (moment == ALK__BEFORE && strncmp(name, "lease_", 6) == 0 && conn->call_limit_us > *limit_us)
        *limit_us = conn->call_limit_us;
    return ALK_OK;
}

/* A call against a silent server ends in seconds, however long the lease lasts. */
static void no_call_waits_for_hours(struct scene *scene) {
    struct held held;
    int64_t limit_us = 0;

    held_init(&held, scene);
    held.ttl_us = ALK__DAY;
    held.may_end = true;
    alk__store_set_fault(scene->store, note_limit, &limit_us);
    ok(scene, hold(&held));
    alk__store_set_fault(scene->store, NULL, NULL);
    assert_in_range(limit_us, ALK__SECOND, 10 * ALK__SECOND);
}

static void wrong_names_and_spans_are_refused(struct scene *scene) {
    struct held held;

    held_init(&held, scene);
    held.ttl_us = 0;
    expect(scene, ALK_INVALID, hold(&held));
    expect(scene, ALK_INVALID,
           alk_lease_hold(scene->store, "", "me", TTL_US, 0, NULL, work, &held, &held.error));
    expect(scene, ALK_USAGE,
           alk_lease_hold(scene->store, "nightly", "me", TTL_US, 0, NULL, NULL, NULL, &held.error));
    assert_false(held.is_running);
}

static const struct scene_test tests[] = {
    BOTH(the_lease_is_held_meanwhile_and_released_at_the_end),
    BOTH(the_answer_is_that_of_the_work),
    BOTH(the_lease_is_renewed_meanwhile),
    BOTH(a_loss_is_told_to_the_work),
    BOTH(a_loss_hides_no_failure_of_the_work),
    BOTH(a_loss_found_at_the_end_is_told),
    BOTH(renewals_that_fail_till_the_end_are_a_loss),
    BOTH(a_renewal_that_fails_once_is_tried_again),
    BOTH(a_held_lease_is_not_waited_for_unasked),
    BOTH(a_held_lease_is_taken_when_it_is_given_back),
    BOTH(a_stop_ends_the_waiting),
    BOTH(renewals_do_not_wait_for_the_pool),
    BOTH(no_call_waits_for_hours),
    BOTH(wrong_names_and_spans_are_refused),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
