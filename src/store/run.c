/* store/run.c: runs statements and transactions on a connection: who may begin one (S26), what is
 * atomic (S32, S33), and the seam by which tests make anything fail. Statements themselves are the
 * drivers'. */
#include "store/run.h"

#include "base/error.h"
#include "store/store.h"

#define SAVEPOINTS_MAX 64

/* ---- the register: which thread holds a transaction of the store ---- */

void alk__register_add(alk_conn *conn) {
    alk_store *store = conn->store;

    pthread_mutex_lock(&store->lock);
    conn->thread = pthread_self();
    if (!conn->is_registered) {
        conn->register_next = store->register_first;
        store->register_first = conn;
        conn->is_registered = true;
    }
    pthread_mutex_unlock(&store->lock);
}

void alk__register_remove(alk_conn *conn) {
    alk_store *store = conn->store;

    pthread_mutex_lock(&store->lock);
    if (conn->is_registered) {
        alk_conn **at = &store->register_first;
        while (*at != conn)
            at = &(*at)->register_next;
        *at = conn->register_next;
        conn->is_registered = false;
    }
    pthread_mutex_unlock(&store->lock);
}

static bool is_in_tx(const alk_conn *conn) {
    return conn->store->driver->is_in_tx(conn->session);
}

/* A second transaction of the same thread would wait for the first for ever on SQLite: refused on
 * both engines. */
static alk_status check_thread(const alk_conn *conn, alk_error *error) {
    alk_store *store = conn->store;
    bool has_other = false;

    pthread_mutex_lock(&store->lock);
    for (const alk_conn *other = store->register_first; other != NULL && !has_other;
         other = other->register_next)
        has_other =
            other != conn && pthread_equal(other->thread, pthread_self()) && is_in_tx(other);
    pthread_mutex_unlock(&store->lock);
    if (!has_other)
        return ALK_OK;
    return alk__fail(error, ALK_USAGE,
                     "this thread holds a transaction on another connection of the store");
}

/* ---- before and after each step ---- */

static alk_status fault(alk_conn *conn, const char *name, enum alk__fault_moment moment,
                        alk_error *error) {
    alk_store *store = conn->store;

    return store->fault == NULL ? ALK_OK
                                : store->fault(conn, name, moment, store->fault_context, error);
}

bool alk__conn_is_broken(const alk_conn *conn) {
    return conn->is_broken || conn->store->driver->is_broken(conn->session);
}

/* Each step has the call's whole limit: what is left of the one before would end a rollback early.
 */
static void set_deadline(alk_conn *conn) {
    int64_t deadline_us = conn->deadline_us;

    if (conn->call_limit_us > 0) {
        int64_t limit_us = alk__add_us(alk__monotonic_us(), conn->call_limit_us);
        deadline_us = limit_us < deadline_us ? limit_us : deadline_us;
    }
    conn->store->driver->set_deadline(conn->session, deadline_us);
}

/* What every call on a connection starts with. */
static alk_status enter(alk_conn *conn, alk_error *error) {
    alk_status status = alk__store_check_process(conn->store, error);

    if (status < 0)
        return status;
    if (alk__conn_is_broken(conn))
        return alk__fail(error, ALK_AGAIN, "the connection was lost");
    if (conn->is_joined)
        alk__register_add(conn);
    set_deadline(conn);
    return ALK_OK;
}

/* ---- transactions ---- */

/* No transaction of ours is open any more; whoever was to be woken is woken if it was committed
 * (S92). */
static void end(alk_conn *conn, bool is_committed) {
    conn->has_begun = false;
    conn->savepoints = 0;
    if (!conn->is_joined)
        alk__register_remove(conn);
    if (conn->has_wake && is_committed)
        alk__wake_all(conn->store);
    conn->has_wake = false;
}

/* A failure makes the connection unusable and hides no other error (S37). */
static void roll_back(alk_conn *conn) {
    const struct alk__driver *driver = conn->store->driver;
    bool is_done = true;

    set_deadline(conn);
    if (is_in_tx(conn))
        is_done = fault(conn, "rollback", ALK__BEFORE, NULL) >= 0 &&
                  driver->rollback(conn->session, NULL) >= 0 &&
                  fault(conn, "rollback", ALK__AFTER, NULL) >= 0;
    conn->is_broken = conn->is_broken || !is_done;
    end(conn, false);
}

static alk_status begin(alk_conn *conn, const struct alk__tx_limits *limits, alk_error *error) {
    alk_status status = check_thread(conn, error);

    if (status < 0)
        return status;
    status = fault(conn, "begin", ALK__BEFORE, error);
    if (status < 0)
        return status;
    status = conn->store->driver->begin(conn->session, limits, error);
    if (status < 0)
        return status;
    conn->has_begun = true;
    alk__register_add(conn);
    status = fault(conn, "begin", ALK__AFTER, error);
    if (status < 0)
        roll_back(conn);
    return status;
}

static alk_status commit(alk_conn *conn, alk_error *error) {
    alk_status status = fault(conn, "commit", ALK__BEFORE, error);

    if (status >= 0)
        status = conn->store->driver->commit(conn->session, error);
    if (status < 0) {
        roll_back(conn);
        return status;
    }
    end(conn, true);
    return fault(conn, "commit", ALK__AFTER, error);
}

alk_status alk__begin_tx(alk_conn *conn, const struct alk__tx_limits *limits, alk_error *error) {
    alk_status status = enter(conn, error);

    if (status < 0)
        return status;
    if (is_in_tx(conn))
        return alk__fail(error, ALK_USAGE, "the connection is in a transaction already");
    return begin(conn, limits, error);
}

alk_status alk_begin(alk_conn *conn, alk_error *error) {
    return alk__begin_tx(conn, NULL, error);
}

/* Whether there is a transaction that alk_begin opened: a host's is the host's to end. */
static alk_status check_ours(alk_conn *conn, alk_error *error) {
    if (!conn->has_begun)
        return alk__fail(error, ALK_USAGE,
                         is_in_tx(conn) ? "the transaction was begun by the host, who ends it"
                                        : "no transaction is open");
    if (is_in_tx(conn))
        return ALK_OK;
    end(conn, false);
    return alk__fail(error, ALK_AGAIN, "the transaction was rolled back by an earlier failure");
}

alk_status alk_commit(alk_conn *conn, alk_error *error) {
    alk_status status = enter(conn, error);

    if (status >= 0)
        status = check_ours(conn, error);
    return status < 0 ? status : commit(conn, error);
}

void alk_rollback(alk_conn *conn) {
    if (conn->has_begun && alk__store_check_process(conn->store, NULL) >= 0)
        roll_back(conn);
}

void alk__conn_reset(alk_conn *conn) {
    if (conn->has_begun || (!conn->is_joined && is_in_tx(conn)))
        roll_back(conn);
    alk__register_remove(conn);
}

alk_status alk_in_tx(alk_conn *conn, alk_tx_fn function, void *context, alk_error *error) {
    alk_status status = alk_begin(conn, error);

    if (status < 0)
        return status;
    alk_status answer = function(conn, context, error);
    if (answer < 0) {
        alk_rollback(conn);
        return answer;
    }
    status = alk_commit(conn, error);
    return status < 0 ? status : answer;
}

bool alk_conn_in_tx(const alk_conn *conn) {
    return is_in_tx(conn);
}

/* ---- savepoints ---- */

static alk_status control(alk_conn *conn, const char *verb, const char *name, alk_error *error) {
    char sql[40];
    alk_status status = enter(conn, error);

    if (status >= 0)
        status = fault(conn, name, ALK__BEFORE, error);
    if (status < 0)
        return status;
    snprintf(sql, sizeof(sql), "%s alk_%d", verb, conn->savepoints);
    status = conn->store->driver->control(conn->session, sql, error);
    return status < 0 ? status : fault(conn, name, ALK__AFTER, error);
}

alk_status alk__savepoint(alk_conn *conn, alk_error *error) {
    if (conn->savepoints == SAVEPOINTS_MAX || !is_in_tx(conn))
        return alk__fail(error, ALK_USAGE, "a savepoint needs a transaction and at most %d others",
                         SAVEPOINTS_MAX);
    conn->savepoints++;
    alk_status status = control(conn, "SAVEPOINT", "savepoint", error);
    if (status < 0)
        conn->savepoints--;
    return status;
}

alk_status alk__savepoint_release(alk_conn *conn, alk_error *error) {
    alk_status status = control(conn, "RELEASE", "release", error);

    if (status >= 0)
        conn->savepoints--;
    return status;
}

alk_status alk__savepoint_rollback(alk_conn *conn, alk_error *error) {
    alk_status status = control(conn, "ROLLBACK TO", "rollback_to", error);

    return status < 0 ? status : alk__savepoint_release(conn, error);
}

/* After FULL, IOERR, NOMEM or INTERRUPT SQLite may have ended the whole transaction: then there is
 * nothing to go back to. */
static alk_status under_savepoint(alk_conn *conn, alk_tx_fn function, void *context,
                                  alk_error *error) {
    alk_status status = alk__savepoint(conn, error);

    if (status < 0)
        return status;
    alk_status answer = function(conn, context, error);
    if (answer >= 0)
        status = alk__savepoint_release(conn, error);
    if (answer >= 0 && status >= 0)
        return answer;
    answer = answer < 0 ? answer : status;
    if (!is_in_tx(conn))
        conn->savepoints = 0;
    else if (alk__savepoint_rollback(conn, NULL) < 0)
        conn->is_broken = true;
    return answer;
}

alk_status alk__atomic(alk_conn *conn, alk_tx_fn function, void *context, alk_error *error) {
    if (!is_in_tx(conn))
        return alk_in_tx(conn, function, context, error);
    if (alk__is_postgres(conn))
        return function(conn, context, error);
    return under_savepoint(conn, function, context, error);
}

/* ---- statements ---- */

static bool is_nothing(const struct alk__call *call) {
    for (size_t i = 0; i < call->value_count; i++) {
        char type = call->values[i].type;
        if (type >= 'A' && type <= 'Z')
            return call->values[i].count == 0;
    }
    return false;
}

static void free_rows(const struct alk__call *calls, size_t call_count) {
    for (size_t i = 0; i < call_count; i++)
        alk__rows_free(calls[i].rows);
}

/* The statement alone, in whatever transaction there is. */
static alk_status run_one(alk_conn *conn, const struct alk__call *call, alk_error *error) {
    const char *name = alk__statements[call->statement].name;
    size_t failed;
    alk_status status;

    alk__rows_free(call->rows);
    if (is_nothing(call))
        return ALK_OK;
    status = fault(conn, name, ALK__BEFORE, error);
    if (status >= 0)
        status = conn->store->driver->run(conn->session, call, 1, ALK__RUN_PLAIN, &failed, error);
    if (status >= 0)
        status = fault(conn, name, ALK__AFTER, error);
    if (status < 0)
        alk__rows_free(call->rows);
    return status;
}

static bool is_write(const struct alk__call *calls, size_t call_count) {
    for (size_t i = 0; i < call_count; i++) {
        if (alk__statements[calls[i].statement].flags & ALK__WRITE)
            return true;
    }
    return false;
}

/* One after the other: where the engine has no pipeline, and where a test wants to come between. */
static alk_status run_each(alk_conn *conn, const struct alk__call *calls, size_t call_count,
                           enum alk__run_mode mode, size_t *ret_failed, alk_error *error) {
    alk_status status = ALK_OK;

    *ret_failed = 0;
    if (mode == ALK__RUN_OWN)
        status = begin(conn, NULL, error);
    if (status < 0)
        return status;
    for (size_t i = 0; i < call_count && status >= 0; i++) {
        *ret_failed = i;
        status = run_one(conn, &calls[i], error);
    }
    if (status < 0) {
        if (mode != ALK__RUN_PLAIN)
            roll_back(conn);
        return status;
    }
    *ret_failed = call_count;
    return mode == ALK__RUN_PLAIN ? ALK_OK : commit(conn, error);
}

/* All in one round trip. Calls with nothing in their arrays do not come this far. */
static alk_status run_pipeline(alk_conn *conn, const struct alk__call *calls, size_t call_count,
                               enum alk__run_mode mode, size_t *ret_failed, alk_error *error) {
    alk_status status = mode == ALK__RUN_OWN ? check_thread(conn, error) : ALK_OK;

    *ret_failed = 0;
    if (status < 0)
        return status;
    free_rows(calls, call_count);
    status = conn->store->driver->run(conn->session, calls, call_count, mode, ret_failed, error);
    if (mode != ALK__RUN_PLAIN)
        end(conn, status >= 0);
    return status;
}

static alk_status run(alk_conn *conn, const struct alk__call *calls, size_t call_count,
                      enum alk__run_mode mode, size_t *ret_failed, alk_error *error) {
    bool can_pipeline =
        (conn->store->driver->features & ALK__CAN_PIPELINE) && conn->store->fault == NULL;
    size_t failed;

    for (size_t i = 0; i < call_count; i++)
        can_pipeline = can_pipeline && !is_nothing(&calls[i]);
    alk_status status =
        (can_pipeline ? run_pipeline : run_each)(conn, calls, call_count, mode, &failed, error);
    if (status < 0) {
        free_rows(calls, call_count);
        if (ret_failed != NULL)
            *ret_failed = failed;
    }
    return status;
}

alk_status alk__run_all(alk_conn *conn, const struct alk__call *calls, size_t call_count,
                        size_t *ret_failed, alk_error *error) {
    bool has_tx;
    alk_status status = enter(conn, error);

    if (status < 0)
        return status;
    has_tx = is_in_tx(conn);
    if (has_tx && conn->is_joined && is_write(calls, call_count)) {
        status = check_thread(conn, error);
        if (status < 0)
            return status;
    }
    bool needs_tx = !has_tx && (call_count > 1 || is_write(calls, call_count));
    return run(conn, calls, call_count, needs_tx ? ALK__RUN_OWN : ALK__RUN_PLAIN, ret_failed,
               error);
}

alk_status alk__run(alk_conn *conn, enum alk__statement statement, const struct alk__value *values,
                    size_t value_count, struct alk__rows *rows, alk_error *error) {
    struct alk__call call = {statement, values, value_count, rows};

    return alk__run_all(conn, &call, 1, NULL, error);
}

alk_status alk__commit_with(alk_conn *conn, const struct alk__call *calls, size_t call_count,
                            size_t *ret_failed, alk_error *error) {
    alk_status status = enter(conn, error);

    if (status >= 0 && conn->is_joined)
        status = alk__fail(error, ALK_USAGE, "a joined connection is committed by its host");
    if (status >= 0)
        status = check_ours(conn, error);
    return status < 0 ? status : run(conn, calls, call_count, ALK__RUN_COMMIT, ret_failed, error);
}

alk_status alk__db_now(alk_conn *conn, int64_t *ret_us, alk_error *error) {
    struct alk__rows rows = {0};
    alk_status status = alk__run(conn, ALK__CLOCK_GET, NULL, 0, &rows, error);

    if (status >= 0)
        *ret_us = ALK__ROW(&rows, alk__row_number, 0)->number;
    alk__rows_free(&rows);
    return status;
}

void alk__conn_set_deadline(alk_conn *conn, int64_t monotonic_us) {
    conn->deadline_us = monotonic_us;
}

void alk__conn_set_call_limit(alk_conn *conn, int64_t limit_us) {
    conn->call_limit_us = limit_us;
}

alk_store *alk__conn_store(alk_conn *conn) {
    return conn->store;
}

const char *alk__conn_version(alk_conn *conn) {
    return conn->store->driver->version(conn->session);
}

bool alk__conn_is_joined(const alk_conn *conn) {
    return conn->is_joined;
}

bool alk__is_postgres(const alk_conn *conn) {
    return conn->store->settings.engine == ALK_ENGINE_POSTGRES;
}
