/* store/tx: transactions: who may begin one, what they leave behind, what is all or nothing. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "store/store.h"
#include "support/fault.h"
#include "support/test.h"

static alk_status put_version(alk_conn *conn, int64_t version, alk_error *error) {
    return alk__do(conn, ALK__META_PUT, NULL, error, ALK__I(version), ALK__I(1), ALK__I(1));
}

static int64_t version_now(struct scene *scene) {
    return sql_number(scene, "SELECT version FROM alk_meta");
}

/* ---- S26 ---- */

static void expect_nesting_refused(struct scene *scene, alk_conn *second) {
    expect(scene, ALK_USAGE, alk_begin(second, &scene->error));
    assert_int_equal(scene->error.error_class, ALK_CLASS_USAGE);
    assert_contains(scene->error.message, "this thread holds a transaction");
    expect(scene, ALK_USAGE, put_version(second, 5, &scene->error));
    /* reading is not writing */
    ok(scene, alk__run(second, ALK__CLOCK_GET, NULL, 0, NULL, &scene->error));
}

struct elsewhere {
    struct scene *scene;
    alk_status status;
};

static void *write_elsewhere(void *context) {
    struct elsewhere *elsewhere = context;
    alk_conn *conn;

    elsewhere->status = alk_conn_get(elsewhere->scene->store, &conn, NULL);
    if (elsewhere->status < 0)
        return NULL;
    elsewhere->status = put_version(conn, 3, NULL);
    alk_conn_put(conn);
    return NULL;
}

/* S26: it would wait for itself. */
static void a_second_transaction_of_a_thread_is_refused(struct scene *scene) {
    struct elsewhere elsewhere = {.scene = scene};
    pthread_t other;
    alk_conn *second;

    ok(scene, alk_conn_get(scene->store, &second, &scene->error));
    ok(scene, alk_begin(scene->conn, &scene->error));
    expect(scene, ALK_USAGE, alk_begin(scene->conn, &scene->error));
    expect_nesting_refused(scene, second);
    ok(scene, put_version(scene->conn, 2, &scene->error));
    ok(scene, alk_commit(scene->conn, &scene->error));
    assert_int_equal(version_now(scene), 2);

    /* afterwards, and in another thread at any time */
    ok(scene, alk_begin(second, &scene->error));
    alk_rollback(second);
    assert_int_equal(pthread_create(&other, NULL, write_elsewhere, &elsewhere), 0);
    pthread_join(other, NULL);
    assert_int_equal(elsewhere.status, ALK_OK);
    assert_int_equal(version_now(scene), 3);
    alk_conn_put(second);
}

/* S26: given back is ended. */
static void what_was_given_back_holds_nothing(struct scene *scene) {
    alk_conn *second;

    ok(scene, alk_conn_get(scene->store, &second, &scene->error));
    ok(scene, alk_begin(second, &scene->error));
    alk_conn_put(second);
    ok(scene, alk_begin(scene->conn, &scene->error));
    ok(scene, alk_commit(scene->conn, &scene->error));
}

static void ends_without_a_beginning_are_usage(struct scene *scene) {
    expect(scene, ALK_USAGE, alk_commit(scene->conn, &scene->error));
    alk_rollback(scene->conn);
    ok(scene, alk_begin(scene->conn, &scene->error));
    ok(scene, alk_commit(scene->conn, &scene->error));
    expect(scene, ALK_USAGE, alk_commit(scene->conn, &scene->error));
    expect(scene, ALK_USAGE, alk__savepoint(scene->conn, &scene->error));
}

/* ---- S30 ---- */

struct body {
    alk_status answer;
    bool was_in_tx;
};

static alk_status write_and_answer(alk_conn *conn, void *context, alk_error *error) {
    struct body *body = context;
    alk_status status = put_version(conn, 2, error);

    body->was_in_tx = alk_conn_in_tx(conn);
    if (status < 0)
        return status;
    return body->answer < 0 ? alk__fail(error, body->answer, "the body's own words") : body->answer;
}

/* S33: once SQLite has ended a transaction by itself nothing more is done in its place: what came
 * behind would stay without what came before. */
static void a_transaction_that_the_engine_ended_takes_no_more(struct scene *scene) {
    int64_t before = version_now(scene);
    int64_t now_us;

    ok(scene, alk_begin(scene->conn, &scene->error));
    ok(scene, put_version(scene->conn, before + 1, &scene->error));
    ok(scene, scene->store->driver->control(scene->conn->session, "ROLLBACK", &scene->error));
    expect(scene, ALK_AGAIN, put_version(scene->conn, before + 2, &scene->error));
    assert_contains(scene->error.message, "rolled back by an earlier failure");
    expect(scene, ALK_AGAIN, alk__db_now(scene->conn, &now_us, &scene->error));
    expect(scene, ALK_AGAIN, alk_begin(scene->conn, &scene->error));
    expect(scene, ALK_AGAIN, alk_commit(scene->conn, &scene->error));
    assert_int_equal(version_now(scene), before);
    ok(scene, alk_begin(scene->conn, &scene->error));
    ok(scene, put_version(scene->conn, before + 3, &scene->error));
    ok(scene, alk_commit(scene->conn, &scene->error));
    assert_int_equal(version_now(scene), before + 3);
}

/* S30 */
static void in_tx_commits_what_succeeds_and_undoes_what_fails(struct scene *scene) {
    struct body body = {.answer = ALK_LOST};

    expect(scene, ALK_LOST, alk_in_tx(scene->conn, write_and_answer, &body, &scene->error));
    assert_string_equal(scene->error.message, "the body's own words");
    assert_int_equal(scene->error.error_class, ALK_CLASS_LOST);
    assert_true(body.was_in_tx);
    assert_false(alk_conn_in_tx(scene->conn));
    assert_int_equal(version_now(scene), 1);

    body.answer = ALK_EMPTY;
    expect(scene, ALK_EMPTY, alk_in_tx(scene->conn, write_and_answer, &body, &scene->error));
    assert_int_equal(version_now(scene), 2);

    ok(scene, alk_begin(scene->conn, &scene->error));
    expect(scene, ALK_USAGE, alk_in_tx(scene->conn, write_and_answer, &body, &scene->error));
    alk_rollback(scene->conn);
}

/* ---- S31, S32, S33 ---- */

/* S31 */
static void rolled_back_work_leaves_no_trace(struct scene *scene) {
    alk_lease lease;
    int64_t id;

    ok(scene, alk_begin(scene->conn, &scene->error));
    ok(scene, alk_enqueue(scene->conn, "mail", "1", 1, NULL, &id, &scene->error));
    ok(scene, alk_lease_acquire(scene->conn, "a", "o", ALK__SECOND, &lease, &scene->error));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 0);
    alk_rollback(scene->conn);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 0);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_lane"), 0);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_lease"), 0);
}

static alk_status write_twice(alk_conn *conn, void *context, alk_error *error) {
    alk_status status = put_version(conn, 2, error);

    (void)context;
    return status < 0 ? status : put_version(conn, 3, error);
}

static alk_status die(void *context, alk_error *error) {
    (void)context;
    (void)error;
    raise(SIGKILL);
    return ALK_OK;
}

static int die_at(struct scene *scene, const char *argument) {
    struct faults faults;
    alk_store *store;
    alk_conn *conn;

    if (scene_open(scene, NULL, &store) < 0 || alk_conn_get(store, &conn, &scene->error) < 0)
        return 1;
    faults_install(&faults, store);
    faults_call(&faults, NULL, (int)strtol(argument, NULL, 10), ALK__AFTER, die, NULL);
    alk_status status = alk__atomic(conn, write_twice, NULL, &scene->error);
    faults_remove(&faults);
    alk_conn_put(conn);
    alk_close(store);
    return status < 0 ? 2 : 0;
}

/* S32: killed after BEGIN, after each of two statements, after COMMIT. */
static void a_killed_process_leaves_all_or_nothing(struct scene *scene) {
    static const int64_t left[] = {1, 1, 1, 3};
    char number[16];

    for (int i = 0; i < 4; i++) {
        snprintf(number, sizeof(number), "%d", i + 1);
        assert_int_equal(reap(spawn(scene, "die_at", number)), 128 + SIGKILL);
        wait_until(sql_number(scene, "SELECT version FROM alk_meta") == left[i]);
    }
    assert_int_equal(reap(spawn(scene, "die_at", "5")), 0);
}

/* S32: the same when a step fails instead. */
static void a_failing_step_leaves_all_or_nothing(struct scene *scene) {
    struct faults faults;

    faults_install(&faults, scene->store);
    for (int nth = 1; nth <= 4; nth++) {
        for (int moment = ALK__BEFORE; moment <= ALK__AFTER; moment++) {
            sql(scene, "UPDATE alk_meta SET version = 1");
            faults_add(&faults, NULL, nth, (enum alk__fault_moment)moment, ALK_AGAIN);
            expect(scene, ALK_AGAIN, alk__atomic(scene->conn, write_twice, NULL, &scene->error));
            assert_false(alk_conn_in_tx(scene->conn));
            /* a COMMIT whose answer was lost has happened */
            assert_int_equal(version_now(scene), nth == 4 && moment == ALK__AFTER ? 3 : 1);
            faults_clear(&faults);
        }
    }
    faults_remove(&faults);
}

static alk_status write_then_break(alk_conn *conn, void *context, alk_error *error) {
    alk_status status = put_version(conn, 4, error);

    (void)context;
    return status < 0 ? status : put_version(conn, 0, error); /* a CHECK says no */
}

/* S33 */
static void a_failing_operation_leaves_the_callers_transaction(struct scene *scene) {
    ok(scene, alk_begin(scene->conn, &scene->error));
    ok(scene, put_version(scene->conn, 2, &scene->error));
    expect(scene, ALK_DATA, alk__atomic(scene->conn, write_then_break, NULL, &scene->error));
    if (scene->engine == ALK_ENGINE_SQLITE) {
        /* no half of it, and the caller goes on */
        ok(scene, alk__atomic(scene->conn, write_twice, NULL, &scene->error));
        expect(scene, ALK_DATA, alk__atomic(scene->conn, write_then_break, NULL, &scene->error));
        ok(scene, alk_commit(scene->conn, &scene->error));
        assert_int_equal(version_now(scene), 3);
        return;
    }
    /* there the engine aborts the transaction, and the error says so */
    assert_contains(scene->error.message, "transaction");
    assert_true(put_version(scene->conn, 2, &scene->error) < 0);
    alk_rollback(scene->conn);
    assert_int_equal(version_now(scene), 1);
}

/* S33: refused before the database is asked for anything. */
static void refused_arguments_do_not_reach_the_database(struct scene *scene) {
    struct faults faults;
    int64_t id;

    ok(scene, alk_begin(scene->conn, &scene->error));
    faults_install(&faults, scene->store);
    expect(scene, ALK_INVALID, alk_enqueue(scene->conn, "", "1", 1, NULL, &id, &scene->error));
    expect(scene, ALK_INVALID,
           alk_enqueue(scene->conn, "mail", "hello", 5, NULL, &id, &scene->error));
    assert_int_equal(faults_count(&faults, NULL), 0);
    faults_remove(&faults);
    ok(scene, put_version(scene->conn, 2, &scene->error));
    ok(scene, alk_commit(scene->conn, &scene->error));
    assert_int_equal(version_now(scene), 2);
}

/* S33: a statement that runs once for each element is one all the same. */
static void an_array_is_all_or_nothing(struct scene *scene) {
    static const int64_t ids[] = {1, 2};

    sql(scene, "INSERT INTO alk_job_dead (id, queue, payload, priority, stamp, attempt, run_at,"
               " enqueued_at, finished_at, reason)"
               " SELECT value, 'mail', '1', 0, 0, 0, 1, 1, 1, 'failed' FROM json_each('[1, 2]');"
               "CREATE TRIGGER keep BEFORE DELETE ON alk_job_dead WHEN old.id = 2"
               " BEGIN SELECT raise(ABORT, 'kept'); END");
    ok(scene, alk_begin(scene->conn, &scene->error));
    ok(scene, put_version(scene->conn, 2, &scene->error));
    expect(scene, ALK_DATA,
           alk__do(scene->conn, ALK__JOB_DEAD_PURGE, NULL, &scene->error, ALK__IS(ids, 2)));
    ok(scene, alk_commit(scene->conn, &scene->error));
    assert_int_equal(version_now(scene), 2);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job_dead"), 2);
}

/* ---- S34 ---- */

struct holder {
    struct scene *scene;
    atomic_bool is_waited_for;
};

static void *commit_soon(void *context) {
    struct holder *holder = context;

    while (!atomic_load(&holder->is_waited_for))
        nap();
    for (int i = 0; i < 20; i++)
        nap();
    sqlite3_exec(sql_handle(holder->scene), "COMMIT", NULL, NULL, NULL);
    return NULL;
}

/* S34: read-then-write under a competing writer waits; DEFERRED would fail at once. */
static void a_competing_writer_is_waited_for(struct scene *scene) {
    struct holder holder = {.scene = scene};
    pthread_t thread;

    sql(scene, "BEGIN IMMEDIATE; UPDATE alk_meta SET version = 5");
    assert_int_equal(pthread_create(&thread, NULL, commit_soon, &holder), 0);
    atomic_store(&holder.is_waited_for, true);
    ok(scene, alk_begin(scene->conn, &scene->error));
    pthread_join(thread, NULL);
    ok(scene, put_version(scene->conn, version_now(scene) + 1, &scene->error));
    ok(scene, alk_commit(scene->conn, &scene->error));
    assert_int_equal(version_now(scene), 6);
}

struct counter {
    struct scene *scene;
    pthread_t thread;
    int failures;
};

static alk_status count_up(alk_conn *conn, void *context, alk_error *error) {
    struct alk__rows rows = {0};
    alk_status status = alk__run(conn, ALK__META_GET, NULL, 0, &rows, error);

    (void)context;
    if (status < 0)
        return status;
    int64_t version = ALK__ROW(&rows, alk__row_meta, 0)->version;
    alk__rows_free(&rows);
    return put_version(conn, version + 1, error);
}

static void *count_on(void *context) {
    struct counter *counter = context;
    alk_conn *conn;

    for (int i = 0; i < 50; i++) {
        if (alk_conn_get(counter->scene->store, &conn, NULL) < 0) {
            counter->failures++;
            continue;
        }
        counter->failures += alk_in_tx(conn, count_up, NULL, NULL) < 0;
        alk_conn_put(conn);
    }
    return NULL;
}

static int count_in_process(struct scene *scene, const char *argument) {
    struct counter counter = {.scene = scene};

    (void)argument;
    if (scene_open(scene, NULL, &scene->store) < 0)
        return 1;
    count_on(&counter);
    alk_close(scene->store);
    return counter.failures == 0 ? 0 : 2;
}

/* S34, S217: threads share a store and processes a file; nothing is lost and nobody fails. */
static void writers_take_turns(struct scene *scene) {
    enum { THREADS = 4 };
    struct counter counters[THREADS];
    pid_t child = spawn(scene, "count_in_process", "");

    for (int i = 0; i < THREADS; i++) {
        counters[i] = (struct counter){.scene = scene};
        assert_int_equal(pthread_create(&counters[i].thread, NULL, count_on, &counters[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(counters[i].thread, NULL);
        assert_int_equal(counters[i].failures, 0);
    }
    assert_int_equal(reap(child), 0);
    assert_int_equal(version_now(scene), 1 + 50 * (THREADS + 1));
}

/* A call waits for a lock no longer than its limit; without one it would be an hour here. */
static void a_limit_ends_the_wait_for_a_lock(struct scene *scene) {
    alk_store_options options = scene_options(scene);
    alk_store *store;
    alk_conn *conn;

    options.busy_timeout_us = ALK__HOUR;
    ok(scene, scene_open(scene, &options, &store));
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    sql(scene, "BEGIN IMMEDIATE");
    alk__conn_set_call_limit(conn, 20 * ALK__MS);
    expect(scene, ALK_AGAIN, alk_begin(conn, &scene->error));
    alk__conn_set_call_limit(conn, 0);
    alk__conn_set_deadline(conn, alk__monotonic_us() + 20 * ALK__MS);
    expect(scene, ALK_AGAIN, put_version(conn, 2, &scene->error));
    alk__conn_set_deadline(conn, INT64_MAX);
    sql(scene, "COMMIT");
    ok(scene, put_version(conn, 2, &scene->error));
    alk_conn_put(conn);
    alk_close(store);
}

/* ---- savepoints, several calls ---- */

static void savepoints_undo_what_is_behind_them(struct scene *scene) {
    alk_conn *conn = scene->conn;

    ok(scene, alk_begin(conn, &scene->error));
    ok(scene, put_version(conn, 2, &scene->error));
    ok(scene, alk__savepoint(conn, &scene->error));
    ok(scene, put_version(conn, 3, &scene->error));
    ok(scene, alk__savepoint(conn, &scene->error));
    expect(scene, ALK_DATA, put_version(conn, 0, &scene->error));
    ok(scene, alk__savepoint_rollback(conn, &scene->error));
    ok(scene, alk__savepoint_rollback(conn, &scene->error));
    ok(scene, alk__savepoint(conn, &scene->error));
    ok(scene, alk__savepoint_release(conn, &scene->error));
    ok(scene, alk_commit(conn, &scene->error));
    assert_int_equal(version_now(scene), 2);
}

static void several_calls_are_one(struct scene *scene) {
    struct alk__rows rows = {0};
    const struct alk__value good[] = {ALK__I(2), ALK__I(1), ALK__I(1)};
    const struct alk__value bad[] = {ALK__I(0), ALK__I(1), ALK__I(1)};
    struct alk__call calls[] = {{ALK__META_PUT, good, 3, NULL},
                                {ALK__META_GET, NULL, 0, &rows},
                                {ALK__META_PUT, bad, 3, NULL}};
    size_t failed = 99;

    expect(scene, ALK_DATA, alk__run_all(scene->conn, calls, 3, &failed, &scene->error));
    assert_int_equal(failed, 2);
    assert_int_equal(rows.count, 0);
    assert_int_equal(version_now(scene), 1);
    ok(scene, alk__run_all(scene->conn, calls, 2, NULL, &scene->error));
    assert_int_equal(ALK__ROW(&rows, alk__row_meta, 0)->version, 2);
    assert_int_equal(version_now(scene), 2);

    expect(scene, ALK_USAGE, alk__commit_with(scene->conn, calls, 2, NULL, &scene->error));
    ok(scene, alk_begin(scene->conn, &scene->error));
    expect(scene, ALK_DATA, alk__commit_with(scene->conn, calls, 3, &failed, &scene->error));
    assert_false(alk_conn_in_tx(scene->conn));
    ok(scene, alk_begin(scene->conn, &scene->error));
    ok(scene, put_version(scene->conn, 7, &scene->error));
    ok(scene, alk__commit_with(scene->conn, &calls[1], 1, NULL, &scene->error));
    assert_int_equal(ALK__ROW(&rows, alk__row_meta, 0)->version, 7);
    assert_false(alk_conn_in_tx(scene->conn));
    assert_int_equal(version_now(scene), 7);
    alk__rows_free(&rows);
}

static void an_empty_array_runs_nothing(struct scene *scene) {
    struct faults faults;

    faults_install(&faults, scene->store);
    struct alk__rows rows = {0};
    ok(scene, alk__do(scene->conn, ALK__JOB_ATTEMPTS, &rows, &scene->error, ALK__IS(NULL, 0)));
    assert_int_equal(rows.count, 0);
    assert_int_equal(faults_count(&faults, "job_attempts"), 0);
    faults_remove(&faults);
}

static const struct scene_test tests[] = {
    BOTH(a_second_transaction_of_a_thread_is_refused),
    BOTH(what_was_given_back_holds_nothing),
    BOTH(ends_without_a_beginning_are_usage),
    SQLITE(a_transaction_that_the_engine_ended_takes_no_more),
    BOTH(in_tx_commits_what_succeeds_and_undoes_what_fails),
    BOTH(rolled_back_work_leaves_no_trace),
    BOTH(a_killed_process_leaves_all_or_nothing),
    BOTH(a_failing_step_leaves_all_or_nothing),
    BOTH(a_failing_operation_leaves_the_callers_transaction),
    BOTH(refused_arguments_do_not_reach_the_database),
    SQLITE(an_array_is_all_or_nothing),
    SQLITE(a_competing_writer_is_waited_for),
    SQLITE(writers_take_turns),
    SQLITE(a_limit_ends_the_wait_for_a_lock),
    BOTH(savepoints_undo_what_is_behind_them),
    BOTH(several_calls_are_one),
    BOTH(an_empty_array_runs_nothing),
};

static const struct role roles[] = {
    {"die_at", die_at},
    {"count_in_process", count_in_process},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, roles);
}
