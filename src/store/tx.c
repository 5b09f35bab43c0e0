/* store/tx.c: transactions on a connection: who may begin one (S26), what is all or nothing (S32,
 * S33), and the seam by which tests make any step fail. */
#include "store/tx.h"

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
alk_status alk__tx_check_thread(const alk_conn *conn, alk_error *error) {
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

alk_status alk__fault(alk_conn *conn, const char *name, enum alk__fault_moment moment,
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

static alk_status use(alk_conn *conn, alk_error *error) {
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

/* SQLite may have ended the whole transaction (S33): what came behind would stay by itself. */
static alk_status check_not_ended(const alk_conn *conn, alk_error *error) {
    if (!conn->has_begun || is_in_tx(conn))
        return ALK_OK;
    return alk__fail(error, ALK_AGAIN, "the transaction was rolled back by an earlier failure");
}

alk_status alk__enter(alk_conn *conn, alk_error *error) {
    alk_status status = use(conn, error);

    return status < 0 ? status : check_not_ended(conn, error);
}

/* ---- transactions ---- */

/* No transaction of ours is open any more; whoever was to be woken is woken if it was committed
 * (S92). */
void alk__tx_end(alk_conn *conn, bool is_committed) {
    conn->has_begun = false;
    conn->savepoints = 0;
    if (!conn->is_joined)
        alk__register_remove(conn);
    if (conn->has_wake && is_committed)
        alk__wake_all(conn->store);
    conn->has_wake = false;
}

/* A failure makes the connection unusable and hides no other error (S37). */
void alk__tx_roll_back(alk_conn *conn) {
    const struct alk__driver *driver = conn->store->driver;
    bool is_done = true;

    set_deadline(conn);
    if (is_in_tx(conn))
        is_done = alk__fault(conn, "rollback", ALK__BEFORE, NULL) >= 0 &&
                  driver->rollback(conn->session, NULL) >= 0 &&
                  alk__fault(conn, "rollback", ALK__AFTER, NULL) >= 0;
    conn->is_broken = conn->is_broken || !is_done;
    alk__tx_end(conn, false);
}

alk_status alk__tx_begin(alk_conn *conn, const struct alk__tx_limits *limits, alk_error *error) {
    alk_status status = alk__tx_check_thread(conn, error);

    if (status < 0)
        return status;
    status = alk__fault(conn, "begin", ALK__BEFORE, error);
    if (status < 0)
        return status;
    status = conn->store->driver->begin(conn->session, limits, error);
    if (status < 0)
        return status;
    conn->has_begun = true;
    alk__register_add(conn);
    status = alk__fault(conn, "begin", ALK__AFTER, error);
    if (status < 0)
        alk__tx_roll_back(conn);
    return status;
}

alk_status alk__tx_commit(alk_conn *conn, alk_error *error) {
    alk_status status = alk__fault(conn, "commit", ALK__BEFORE, error);

    if (status >= 0)
        status = conn->store->driver->commit(conn->session, error);
    if (status < 0) {
        alk__tx_roll_back(conn);
        return status;
    }
    alk__tx_end(conn, true);
    return alk__fault(conn, "commit", ALK__AFTER, error);
}

alk_status alk__begin_tx(alk_conn *conn, const struct alk__tx_limits *limits, alk_error *error) {
    alk_status status = alk__enter(conn, error);

    if (status < 0)
        return status;
    if (is_in_tx(conn))
        return alk__fail(error, ALK_USAGE, "the connection is in a transaction already");
    return alk__tx_begin(conn, limits, error);
}

alk_status alk_begin(alk_conn *conn, alk_error *error) {
    return alk__begin_tx(conn, NULL, error);
}

/* A host's transaction is the host's to end. */
alk_status alk__enter_ours(alk_conn *conn, alk_error *error) {
    alk_status status = use(conn, error);

    if (status < 0)
        return status;
    if (!conn->has_begun)
        return alk__fail(error, ALK_USAGE,
                         is_in_tx(conn) ? "the transaction was begun by the host, who ends it"
                                        : "no transaction is open");
    status = check_not_ended(conn, error);
    if (status < 0)
        alk__tx_end(conn, false);
    return status;
}

alk_status alk_commit(alk_conn *conn, alk_error *error) {
    alk_status status = alk__enter_ours(conn, error);

    return status < 0 ? status : alk__tx_commit(conn, error);
}

void alk_rollback(alk_conn *conn) {
    if (conn->has_begun && alk__store_check_process(conn->store, NULL) >= 0)
        alk__tx_roll_back(conn);
}

void alk__conn_reset(alk_conn *conn) {
    if (conn->has_begun || (!conn->is_joined && is_in_tx(conn)))
        alk__tx_roll_back(conn);
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
    alk_status status = alk__enter(conn, error);

    if (status >= 0)
        status = alk__fault(conn, name, ALK__BEFORE, error);
    if (status < 0)
        return status;
    snprintf(sql, sizeof(sql), "%s alk_%d", verb, conn->savepoints);
    status = conn->store->driver->control(conn->session, sql, error);
    return status < 0 ? status : alk__fault(conn, name, ALK__AFTER, error);
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
 * nothing to go back to. A savepoint that function left open goes with ours. */
static alk_status under_savepoint(alk_conn *conn, alk_tx_fn function, void *context,
                                  alk_error *error) {
    alk_status status = alk__savepoint(conn, error);
    int ours = conn->savepoints;

    if (status < 0)
        return status;
    alk_status answer = function(conn, context, error);
    if (answer >= 0)
        status = alk__savepoint_release(conn, error);
    if (answer >= 0 && status >= 0)
        return answer;
    answer = answer < 0 ? answer : status;
    conn->savepoints = is_in_tx(conn) ? ours : 0;
    if (conn->savepoints == 0)
        return answer;
    if (alk__savepoint_rollback(conn, NULL) < 0)
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
