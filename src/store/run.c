/* store/run.c: runs statements of the table on a connection, alone, in the transaction that is open
 * or in one of their own. The statements themselves are the drivers'. */
#include "store/run.h"

#include "base/error.h"
#include "store/tx.h"

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
    status = alk__fault(conn, name, ALK__BEFORE, error);
    if (status >= 0)
        status = conn->store->driver->run(conn->session, call, 1, ALK__RUN_PLAIN, &failed, error);
    if (status >= 0)
        status = alk__fault(conn, name, ALK__AFTER, error);
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
        status = alk__tx_begin(conn, NULL, error);
    if (status < 0)
        return status;
    for (size_t i = 0; i < call_count && status >= 0; i++) {
        *ret_failed = i;
        status = run_one(conn, &calls[i], error);
    }
    if (status < 0) {
        if (mode != ALK__RUN_PLAIN)
            alk__tx_roll_back(conn);
        return status;
    }
    *ret_failed = call_count;
    return mode == ALK__RUN_PLAIN ? ALK_OK : alk__tx_commit(conn, error);
}

/* All in one round trip. Calls with nothing in their arrays do not come this far. */
static alk_status run_pipeline(alk_conn *conn, const struct alk__call *calls, size_t call_count,
                               enum alk__run_mode mode, size_t *ret_failed, alk_error *error) {
    alk_status status = mode == ALK__RUN_OWN ? alk__tx_check_thread(conn, error) : ALK_OK;

    *ret_failed = 0;
    if (status < 0)
        return status;
    free_rows(calls, call_count);
    status = conn->store->driver->run(conn->session, calls, call_count, mode, ret_failed, error);
    if (mode != ALK__RUN_PLAIN)
        alk__tx_end(conn, status >= 0);
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
    alk_status status = alk__enter(conn, error);

    if (status < 0)
        return status;
    has_tx = alk_conn_in_tx(conn);
    if (has_tx && conn->is_joined && is_write(calls, call_count)) {
        status = alk__tx_check_thread(conn, error);
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
    alk_status status = ALK_OK;

    if (conn->is_joined)
        status = alk__fail(error, ALK_USAGE, "a joined connection is committed by its host");
    if (status >= 0)
        status = alk__enter_ours(conn, error);
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
