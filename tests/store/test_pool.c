/* store/pool: at most so many connections, waited for in turn, none of them lost. */
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "support/fault.h"
#include "support/test.h"

static alk_store *open_small(struct scene *scene, int pool_max, int64_t acquire_timeout_us) {
    alk_store_options options = scene_options(scene);
    alk_store *store;

    options.pool_max = pool_max;
    options.acquire_timeout_us = acquire_timeout_us;
    ok(scene, scene_open(scene, &options, &store));
    return store;
}

static alk_pool_counts counts_of(alk_store *store) {
    alk_pool_counts counts;

    alk_store_pool(store, &counts);
    return counts;
}

/* S19, S20, S29 */
static void at_most_pool_max_are_open(struct scene *scene) {
    alk_store *store = open_small(scene, 3, 0);
    alk_conn *conns[3];
    alk_conn *conn;

    for (int i = 0; i < 3; i++)
        ok(scene, alk_conn_get(store, &conns[i], &scene->error));
    assert_int_equal(counts_of(store).open, 3);
    assert_int_equal(counts_of(store).idle, 0);
    expect(scene, ALK_POOL_TIMEOUT, alk_conn_get(store, &conn, &scene->error));
    assert_int_equal(scene->error.error_class, ALK_CLASS_TRANSIENT);
    assert_int_equal(counts_of(store).open, 3);

    alk_conn_put(conns[1]);
    assert_int_equal(counts_of(store).open, 3);
    assert_int_equal(counts_of(store).idle, 1);
    ok(scene, alk_conn_get(store, &conns[1], &scene->error));
    for (int i = 0; i < 3; i++)
        alk_conn_put(conns[i]);
    assert_int_equal(counts_of(store).open, 3);
    assert_int_equal(counts_of(store).idle, 3);
    alk_close(store);
}

struct waiter {
    alk_store *store;
    pthread_t thread;
    int *order; /* shared; the lock is the one connection */
    int place;
    alk_status status;
};

static void *wait_in_line(void *context) {
    struct waiter *waiter = context;
    alk_conn *conn;

    waiter->status = alk_conn_get(waiter->store, &conn, NULL);
    if (waiter->status == ALK_OK) {
        waiter->place = (*waiter->order)++;
        alk_conn_put(conn);
    }
    return NULL;
}

/* S20, S29 */
static void waiters_are_served_in_turn(struct scene *scene) {
    enum { WAITERS = 5 };
    alk_store *store = open_small(scene, 1, 60 * ALK__SECOND);
    struct waiter waiters[WAITERS];
    int order = 0;
    alk_conn *conn;

    ok(scene, alk_conn_get(store, &conn, &scene->error));
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = (struct waiter){.store = store, .order = &order};
        assert_int_equal(pthread_create(&waiters[i].thread, NULL, wait_in_line, &waiters[i]), 0);
        wait_until(counts_of(store).waiting == i + 1);
    }
    alk_conn_put(conn);
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(waiters[i].thread, NULL);
        assert_int_equal(waiters[i].status, ALK_OK);
        assert_int_equal(waiters[i].place, i);
    }
    alk_close(store);
}

static void *shut(void *store) {
    alk_shut(store);
    return NULL;
}

/* S25 */
static void closing_wakes_who_waits(struct scene *scene) {
    alk_store *store = open_small(scene, 1, 60 * ALK__SECOND);
    struct waiter waiter = {.store = store};
    struct waiter closer = {.store = store};
    alk_conn *conn;

    ok(scene, alk_conn_get(store, &conn, &scene->error));
    assert_int_equal(pthread_create(&waiter.thread, NULL, wait_in_line, &waiter), 0);
    wait_until(counts_of(store).waiting == 1);
    assert_int_equal(pthread_create(&closer.thread, NULL, shut, store), 0);
    pthread_join(waiter.thread, NULL);
    assert_int_equal(waiter.status, ALK_CLOSED);

    /* what is out works until it is given back, and only then the store is shut */
    ok(scene, alk__run(conn, ALK__CLOCK_GET, NULL, 0, NULL, &scene->error));
    assert_int_equal(counts_of(store).open, 1);
    alk_conn_put(conn);
    pthread_join(closer.thread, NULL);
    assert_int_equal(counts_of(store).open, 0);

    expect(scene, ALK_CLOSED, alk_conn_get(store, &conn, &scene->error));
    assert_int_equal(scene->error.error_class, ALK_CLASS_CLOSED);
    alk_shut(store);
    alk_close(store);
    alk_close(NULL);
}

/* S21: the SQLite file is out of reach for a while. */
static void failed_attempts_give_their_place_back(struct scene *scene) {
    alk_store *store = open_small(scene, 2, 0);
    alk_conn *conns[2];
    char away[256];

    snprintf(away, sizeof(away), "%s.away", scene->folder);
    ok(scene, alk_conn_get(store, &conns[0], &scene->error));
    assert_return_code(rename(scene->folder, away), errno);
    for (int i = 0; i < 100; i++)
        assert_true(alk_conn_get(store, &conns[1], &scene->error) < 0);
    assert_int_equal(counts_of(store).open, 1);
    assert_return_code(rename(away, scene->folder), errno);
    ok(scene, alk_conn_get(store, &conns[1], &scene->error));
    alk_conn_put(conns[0]);
    alk_conn_put(conns[1]);
    alk_close(store);
}

static alk_status write_then_fail(alk_conn *conn, void *context, alk_error *error) {
    alk_status status = alk__do(conn, ALK__META_PUT, NULL, error, ALK__I(5), ALK__I(5), ALK__I(5));

    (void)context;
    return status < 0 ? status : alk__fail(error, ALK_LOST, "the body says no");
}

/* S22 */
static void what_is_given_back_is_rolled_back(struct scene *scene) {
    struct faults faults;
    alk_store *store = open_small(scene, 1, 0);
    alk_conn *conn;

    /* dropped */
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    ok(scene, alk_begin(conn, &scene->error));
    ok(scene, alk__do(conn, ALK__META_PUT, NULL, &scene->error, ALK__I(7), ALK__I(7), ALK__I(7)));
    alk_conn_put(conn);
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    assert_false(alk_conn_in_tx(conn));
    assert_int_equal(sql_number(scene, "SELECT version FROM alk_meta"), 1);

    /* the body fails */
    expect(scene, ALK_LOST, alk_in_tx(conn, write_then_fail, NULL, &scene->error));
    assert_false(alk_conn_in_tx(conn));
    assert_int_equal(sql_number(scene, "SELECT version FROM alk_meta"), 1);

    /* COMMIT fails */
    faults_install(&faults, store);
    faults_add(&faults, "commit", 1, ALK__BEFORE, ALK_AGAIN);
    ok(scene, alk_begin(conn, &scene->error));
    ok(scene, alk__do(conn, ALK__META_PUT, NULL, &scene->error, ALK__I(7), ALK__I(7), ALK__I(7)));
    expect(scene, ALK_AGAIN, alk_commit(conn, &scene->error));
    assert_false(alk_conn_in_tx(conn));
    assert_int_equal(sql_number(scene, "SELECT version FROM alk_meta"), 1);
    faults_remove(&faults);
    alk_conn_put(conn);
    assert_int_equal(counts_of(store).idle, 1);
    alk_close(store);
}

/* S23, S37: a failed ROLLBACK makes the connection unusable and hides no other error. */
static void a_failed_rollback_ends_the_connection(struct scene *scene) {
    struct faults faults;
    alk_store *store = open_small(scene, 1, 0);
    alk_conn *conn;

    ok(scene, alk_conn_get(store, &conn, &scene->error));
    faults_install(&faults, store);
    faults_add(&faults, "rollback", 1, ALK__BEFORE, ALK_AGAIN);
    expect(scene, ALK_LOST, alk_in_tx(conn, write_then_fail, NULL, &scene->error));
    assert_string_equal(scene->error.message, "the body says no");
    assert_true(alk__conn_is_broken(conn));
    expect(scene, ALK_AGAIN, alk__run(conn, ALK__CLOCK_GET, NULL, 0, NULL, &scene->error));
    expect(scene, ALK_AGAIN, alk_begin(conn, &scene->error));
    faults_remove(&faults);
    alk_conn_put(conn);
    assert_int_equal(counts_of(store).open, 0);

    ok(scene, alk_conn_get(store, &conn, &scene->error));
    assert_false(alk_conn_in_tx(conn));
    assert_int_equal(sql_number(scene, "SELECT version FROM alk_meta"), 1);
    ok(scene, alk_begin(conn, &scene->error));
    alk_conn_put(conn);
    alk_close(store);
}

/* S23: a store whose file was replaced gives connections to the new one. */
static void a_connection_to_a_replaced_file_is_discarded(struct scene *scene) {
    alk_store *store = open_small(scene, 1, 0);
    alk_conn *conn;
    alk_store *other;

    scene_move_store(scene);
    expect(scene, ALK_NO_STORE, alk_conn_get(store, &conn, &scene->error));
    ok(scene, scene_open(scene, NULL, &other));
    alk_close(other);
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    assert_int_equal(counts_of(store).open, 1);
    ok(scene, alk__do(conn, ALK__META_PUT, NULL, &scene->error, ALK__I(1), ALK__I(1), ALK__I(1)));
    alk_conn_put(conn);
    alk_close(store);
}

/* S27 */
static int use_in_child(alk_store *store, alk_conn *conn) {
    alk_error error = ALK_ERROR_INIT;
    alk_conn *other;
    struct alk__wake *wake;

    if (alk__run(conn, ALK__CLOCK_GET, NULL, 0, NULL, &error) != ALK_USAGE)
        return 1;
    if (alk_begin(conn, &error) != ALK_USAGE || alk_commit(conn, &error) != ALK_USAGE)
        return 2;
    if (alk_conn_get(store, &other, &error) != ALK_USAGE)
        return 3;
    if (alk__wake_new(store, &wake, &error) != ALK_USAGE)
        return 4;
    if (strstr(error.message, "fork") == NULL)
        return 5;
    alk_rollback(conn);
    alk_conn_put(conn);
    alk_shut(store);
    alk_close(store);
    return 0;
}

/* S27 */
static void a_forked_child_touches_nothing(struct scene *scene) {
    ok(scene, alk_begin(scene->conn, &scene->error));
    ok(scene,
       alk__do(scene->conn, ALK__META_PUT, NULL, &scene->error, ALK__I(9), ALK__I(1), ALK__I(1)));
    pid_t child = fork();
    if (child == 0)
        _exit(use_in_child(scene->store, scene->conn));
    assert_int_equal(reap(child), 0);
    ok(scene, alk_commit(scene->conn, &scene->error));
    assert_int_equal(sql_number(scene, "SELECT version FROM alk_meta"), 9);
}

/* S27: the locks that SQLite remembers in the child are the parent's. */
static int open_in_child(struct scene *scene) {
    alk_store *store;

    if (alk_open(scene->url, NULL, &store, &scene->error) != ALK_USAGE)
        return 1;
    return strstr(scene->error.message, "fork") == NULL ? 2 : 0;
}

static void a_forked_child_cannot_open_its_parents_file(struct scene *scene) {
    pid_t child = fork();
    if (child == 0)
        _exit(open_in_child(scene));
    assert_int_equal(reap(child), 0);
}

static int open_elsewhere(struct scene *scene) {
    alk_store *store;
    alk_status status = alk_open(scene->url, NULL, &store, &scene->error);

    if (status < 0)
        return 1;
    alk_close(store);
    return 0;
}

/* S27: without an open store of the parent there is nothing to be afraid of. */
static void a_child_forked_before_may_open_it(struct scene *scene) {
    scene_close(scene);
    pid_t child = fork();
    if (child == 0)
        _exit(open_elsewhere(scene));
    assert_int_equal(reap(child), 0);
    scene_reopen(scene);
}

static const struct scene_test tests[] = {
    BOTH(at_most_pool_max_are_open),
    BOTH(waiters_are_served_in_turn),
    BOTH(closing_wakes_who_waits),
    SQLITE(failed_attempts_give_their_place_back),
    BOTH(what_is_given_back_is_rolled_back),
    BOTH(a_failed_rollback_ends_the_connection),
    SQLITE(a_connection_to_a_replaced_file_is_discarded),
    BOTH(a_forked_child_touches_nothing),
    SQLITE(a_forked_child_cannot_open_its_parents_file),
    SQLITE(a_child_forked_before_may_open_it),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
