/* store/wake: who waits hears of what others committed, and of nothing else. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sqlite3.h>
#include <unistd.h>

#include "support/test.h"

#define LONG WAIT_LIMIT_US
#define SHORT (150 * ALK__MS) /* to see that nothing comes; how long does not matter */

static struct alk__wake *start(struct scene *scene) {
    struct alk__wake *wake;

    ok(scene, alk__wake_new(scene->store, &wake, &scene->error));
    return wake;
}

/* Something new each time: SQLite writes nothing where nothing changes. */
static alk_status say(alk_conn *conn, void *context, alk_error *error) {
    int64_t version = alk__monotonic_us() % 1000000000 + 1;
    alk_status status =
        alk__do(conn, ALK__META_PUT, NULL, error, ALK__I(version), ALK__I(1), ALK__I(1));

    return status < 0 ? status : alk__wake_others(conn, context, error);
}

static char topic[] = "mail";

static void commit(struct scene *scene, alk_conn *conn) {
    ok(scene, alk_in_tx(conn, say, topic, &scene->error));
}

static int commit_elsewhere(struct scene *scene, const char *argument) {
    alk_store *store;
    alk_conn *conn;

    (void)argument;
    if (scene_open(scene, NULL, &store) < 0 || alk_conn_get(store, &conn, &scene->error) < 0 ||
        alk_in_tx(conn, say, topic, &scene->error) < 0) {
        fprintf(stderr, "%s\n", scene->error.message);
        return 1;
    }
    alk_conn_put(conn);
    alk_close(store);
    return 0;
}

/* S88 */
static void a_commit_before_the_wait_is_not_missed(struct scene *scene) {
    struct alk__wake *wake = start(scene);

    assert_int_equal(reap(spawn(scene, "commit_elsewhere", "")), 0);
    assert_int_equal(alk__wake_wait(wake, NULL, -1, LONG), ALK__WAKE_CALLED);
    commit(scene, scene->conn);
    assert_int_equal(alk__wake_wait(wake, NULL, -1, LONG), ALK__WAKE_CALLED);
    alk__wake_free(wake);
}

/* S89: three commits and one wake. */
static void several_calls_are_one_wake(struct scene *scene) {
    struct alk__wake *wake = start(scene);

    for (int i = 0; i < 3; i++)
        commit(scene, scene->conn);
    assert_int_equal(alk__wake_wait(wake, NULL, -1, LONG), ALK__WAKE_CALLED);
    assert_true(alk__wake_wait(wake, NULL, -1, SHORT) != ALK__WAKE_STOPPED);
    assert_int_equal(alk__wake_wait(wake, NULL, -1, SHORT), ALK__WAKE_TIME);
    alk__wake_free(wake);
}

/* S92 */
static void a_rolled_back_transaction_wakes_nobody(struct scene *scene) {
    struct alk__wake *wake = start(scene);

    while (alk__wake_wait(wake, NULL, -1, SHORT) == ALK__WAKE_CALLED)
        continue; /* what the opening of the watch itself set off */
    ok(scene, alk_begin(scene->conn, &scene->error));
    ok(scene, say(scene->conn, topic, &scene->error));
    assert_int_equal(alk__wake_wait(wake, NULL, -1, SHORT), ALK__WAKE_TIME);
    alk_rollback(scene->conn);
    assert_int_equal(alk__wake_wait(wake, NULL, -1, SHORT), ALK__WAKE_TIME);

    /* and the next COMMIT does not make up for it */
    ok(scene, alk_begin(scene->conn, &scene->error));
    ok(scene, alk_commit(scene->conn, &scene->error));
    assert_int_equal(alk__wake_wait(wake, NULL, -1, SHORT), ALK__WAKE_TIME);
    alk__wake_free(wake);
}

struct waiting {
    struct alk__wake *wake;
    enum alk__wake_answer answer;
    int64_t timeout_us;
};

static void *wait_for_it(void *context) {
    struct waiting *waiting = context;

    waiting->answer = alk__wake_wait(waiting->wake, NULL, -1, waiting->timeout_us);
    return NULL;
}

/* S155: while it waits; the wait would last ten minutes. */
static void a_waiter_is_woken_by_another_process(struct scene *scene) {
    struct waiting waiting = {.wake = start(scene), .timeout_us = 10 * ALK__MINUTE};
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, wait_for_it, &waiting), 0);
    assert_int_equal(reap(spawn(scene, "commit_elsewhere", "")), 0);
    pthread_join(thread, NULL);
    assert_int_equal(waiting.answer, ALK__WAKE_CALLED);
    alk__wake_free(waiting.wake);
}

/* S31b: a host that commits by itself says nothing to us; its write to the file does. */
static void any_writer_of_the_file_wakes(struct scene *scene) {
    struct alk__wake *wake = start(scene);

    for (int i = 0; i < 20; i++) {
        sql(scene, "UPDATE alk_meta SET version = version + 1");
        assert_int_equal(alk__wake_wait(wake, NULL, -1, LONG), ALK__WAKE_CALLED);
    }
    alk__wake_free(wake);
}

/* S150: stop ends the wait, and so does whatever else the loop waits for. */
static void stop_and_another_descriptor_end_the_wait(struct scene *scene) {
    struct alk__wake *wake = start(scene);
    alk_stop *stop;
    int ends[2];

    ok(scene, alk_stop_new(&stop, &scene->error));
    assert_return_code(pipe(ends), errno);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(alk__wake_wait(wake, stop, ends[0], LONG), ALK__WAKE_CALLED);
    alk_stop_set(stop);
    assert_int_equal(alk__wake_wait(wake, stop, -1, LONG), ALK__WAKE_STOPPED);
    assert_int_equal(alk__wake_wait(wake, stop, -1, 0), ALK__WAKE_STOPPED);
    alk_stop_free(stop);
    close(ends[0]);
    close(ends[1]);
    alk__wake_free(wake);
}

/* S93: without a watch a wait lasts as long as it was asked to, and calls inside the process are
 * heard. */
static void without_a_watch_the_time_is_left(struct scene *scene) {
    char url[600];
    alk_store *store;
    alk_conn *conn;
    struct alk__wake *wake;

    snprintf(url, sizeof(url), "%s%clisten=off", scene->url,
             strchr(scene->url, '?') == NULL ? '?' : '&');
    ok(scene, alk_open(url, NULL, &store, &scene->error));
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    ok(scene, alk__wake_new(store, &wake, &scene->error));
    assert_int_equal(reap(spawn(scene, "commit_elsewhere", "")), 0);
    assert_int_equal(alk__wake_wait(wake, NULL, -1, SHORT), ALK__WAKE_TIME);
    commit(scene, conn);
    assert_int_equal(alk__wake_wait(wake, NULL, -1, LONG), ALK__WAKE_CALLED);
    alk__wake_free(wake);
    alk_conn_put(conn);
    alk_close(store);
}

static void a_store_in_memory_wakes_its_own(struct scene *scene) {
    alk_store *store;
    alk_conn *conn;
    struct alk__wake *wake;

    ok(scene, alk_open("sqlite::memory:", NULL, &store, &scene->error));
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    ok(scene, alk__wake_new(store, &wake, &scene->error));
    assert_int_equal(alk__wake_wait(wake, NULL, -1, 0), ALK__WAKE_TIME);
    commit(scene, conn);
    assert_int_equal(alk__wake_wait(wake, NULL, -1, LONG), ALK__WAKE_CALLED);
    alk__wake_free(wake);
    alk_conn_put(conn);
    alk_close(store);
}

static int try_to_write(struct scene *scene, const char *argument) {
    sqlite3 *handle;

    (void)argument;
    if (sqlite3_open(scene->url + strlen("sqlite:"), &handle) != SQLITE_OK)
        return 1;
    int code = sqlite3_exec(handle, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    sqlite3_close(handle);
    return code == SQLITE_BUSY ? 0 : 2;
}

/* S11: had anything opened and closed the file, the lock of the transaction would be gone. */
static void a_watch_keeps_the_locks_of_its_process(struct scene *scene) {
    ok(scene, alk_begin(scene->conn, &scene->error));
    for (int i = 0; i < 3; i++) {
        struct alk__wake *wake = start(scene);
        assert_int_equal(reap(spawn(scene, "try_to_write", "")), 0);
        alk__wake_wait(wake, NULL, -1, 1);
        alk__wake_free(wake);
        assert_int_equal(reap(spawn(scene, "try_to_write", "")), 0);
    }
    ok(scene, alk_commit(scene->conn, &scene->error));
    assert_int_equal(reap(spawn(scene, "try_to_write", "")), 2);
}

/* S94: a replaced file is watched in its turn, and whoever waits looks once more. */
static void a_replaced_file_is_watched_again(struct scene *scene) {
    struct alk__wake *wake = start(scene);

    alk_conn_put(scene->conn);
    scene->conn = NULL;
    sql_close(scene);
    scene_move_store(scene);
    assert_int_equal(reap(spawn(scene, "commit_elsewhere", "")), 0);

    /* called when the new file is watched; then each commit is heard again */
    wait_until(alk__wake_wait(wake, NULL, -1, SHORT) == ALK__WAKE_CALLED);
    while (alk__wake_wait(wake, NULL, -1, 3 * ALK__SECOND) == ALK__WAKE_CALLED)
        continue;
    assert_int_equal(reap(spawn(scene, "commit_elsewhere", "")), 0);
    assert_int_equal(alk__wake_wait(wake, NULL, -1, LONG), ALK__WAKE_CALLED);
    alk__wake_free(wake);
    ok(scene, alk_conn_get(scene->store, &scene->conn, &scene->error));
}

static const struct scene_test tests[] = {
    BOTH(a_commit_before_the_wait_is_not_missed),   BOTH(several_calls_are_one_wake),
    BOTH(a_rolled_back_transaction_wakes_nobody),   BOTH(a_waiter_is_woken_by_another_process),
    SQLITE(any_writer_of_the_file_wakes),           BOTH(stop_and_another_descriptor_end_the_wait),
    BOTH(without_a_watch_the_time_is_left),         ALONE(a_store_in_memory_wakes_its_own),
    SQLITE(a_watch_keeps_the_locks_of_its_process), SQLITE(a_replaced_file_is_watched_again),
};

static const struct role roles[] = {
    {"commit_elsewhere", commit_elsewhere},
    {"try_to_write", try_to_write},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, roles);
}
