/* store/postgres_run.c: runs statements on a PostgreSQL connection. What belongs together goes
 * out as one pipeline up to one Sync and takes one round trip: BEGIN, settings, the calls,
 * COMMIT.
 *
 * On a connection of our own a statement is prepared once under its name; behind a transaction
 * pooler (prepare=off) and on a host's connection it goes unnamed (S28, S31b). Settings are
 * local to the transaction, so a pooler may be in between. */
#include "store/postgres.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum step_kind { STEP_CONTROL, STEP_PREPARE, STEP_CALL, STEP_COMMIT };

/* One answer that is waited for. */
struct step {
    enum step_kind kind;
    size_t call; /* that it belongs to; the count of calls for COMMIT */
};

/* One round trip. */
struct trip {
    struct alk__postgres *session;
    const struct alk__call *calls;
    size_t call_count;
    struct alk__arena arena;
    struct alk__parameters *parameters; /* of each call */
    struct step *steps;
    size_t step_count;
    bool is_refused;   /* libpq did not take something */
    bool is_committed; /* the answer to COMMIT was read: what is lost behind it changes nothing */
};

/* The most steps that one call takes: five settings, PREPARE, the call. */
#define STEPS_A_CALL 7

#define ASYNC_SQL "SELECT pg_catalog.set_config('synchronous_commit', 'off', true)"

/* A plan made while a table was nearly empty is used after it has grown; a job is always found
 * by an index. */
#define BY_ID_SQL                                                                                  \
    "SELECT pg_catalog.set_config('enable_seqscan', 'off', true), "                                \
    "pg_catalog.set_config('enable_hashjoin', 'off', true), "                                      \
    "pg_catalog.set_config('enable_mergejoin', 'off', true), "                                     \
    "pg_catalog.set_config('enable_bitmapscan', 'off', true), "                                    \
    "pg_catalog.set_config('jit', 'off', true)"
static const char *const normal_sql[] = {
    "SET LOCAL enable_seqscan TO DEFAULT",
    "SET LOCAL enable_hashjoin TO DEFAULT",
    "SET LOCAL enable_mergejoin TO DEFAULT",
    "SET LOCAL enable_bitmapscan TO DEFAULT",
    "SET LOCAL jit TO DEFAULT",
};

alk_status alk__postgres_ready(struct alk__postgres *session, alk_error *error) {
    if (session->is_broken)
        return alk__fail(error, ALK_AGAIN, "postgres: the connection is lost");
    if (session->is_joined)
        return alk__postgres_check_joined(session->connection, error);
    if (PQtransactionStatus(session->connection) == PQTRANS_INERROR && error != NULL)
        *error = session->failure;
    return PQtransactionStatus(session->connection) == PQTRANS_INERROR ? session->failure.status
                                                                       : ALK_OK;
}

/* ---- sending ---- */

static void await(struct trip *trip, enum step_kind kind, size_t call, int is_taken) {
    trip->is_refused = trip->is_refused || is_taken == 0;
    trip->steps[trip->step_count++] = (struct step){kind, call};
}

static void send_control(struct trip *trip, enum step_kind kind, size_t call, const char *sql) {
    await(trip, kind, call,
          PQsendQueryParams(trip->session->connection, sql, 0, NULL, NULL, NULL, NULL, 1));
}

static void send_plan(struct trip *trip, size_t call, bool is_by_id) {
    struct alk__postgres *session = trip->session;
    enum alk__plan plan = is_by_id ? ALK__PLAN_BY_ID : ALK__PLAN_NORMAL;

    if (session->is_joined || session->plan == plan)
        return;
    if (is_by_id)
        send_control(trip, STEP_CONTROL, call, BY_ID_SQL);
    else
        for (size_t i = 0; i < sizeof(normal_sql) / sizeof(normal_sql[0]); i++)
            send_control(trip, STEP_CONTROL, call, normal_sql[i]);
    session->plan = plan;
}

static void send_call(struct trip *trip, size_t i) {
    struct alk__postgres *session = trip->session;
    enum alk__statement statement = trip->calls[i].statement;
    const struct alk__parameters *p = &trip->parameters[i];
    const char *sql = session->settings->statements[statement];
    const char *name = alk__statements[statement].name;
    PGconn *connection = session->connection;

    send_plan(trip, i, (alk__statements[statement].flags & ALK__BY_ID) != 0);
    if (session->is_joined || !session->settings->may_prepare) {
        await(trip, STEP_CALL, i,
              PQsendQueryParams(connection, sql, p->count, p->types, p->values, p->lengths,
                                p->formats, 1));
        return;
    }
    if (!session->is_prepared[statement]) {
        await(trip, STEP_PREPARE, i, PQsendPrepare(connection, name, sql, p->count, p->types));
        session->is_prepared[statement] = true;
    }
    await(trip, STEP_CALL, i,
          PQsendQueryPrepared(connection, name, p->count, p->values, p->lengths, p->formats, 1));
}

/* Whether all that is written may be lost in a crash: then its commit need not wait for the
 * disk. */
static bool is_async(const struct trip *trip) {
    bool has_write = false;

    for (size_t i = 0; i < trip->call_count; i++) {
        unsigned flags = alk__statements[trip->calls[i].statement].flags;
        if ((flags & ALK__WRITE) != 0 && (flags & ALK__ASYNC) == 0)
            return false;
        has_write = has_write || (flags & ALK__WRITE) != 0;
    }
    return has_write;
}

static void send_calls(struct trip *trip, enum alk__run_mode mode) {
    struct alk__postgres *session = trip->session;

    if (mode == ALK__RUN_OWN) {
        send_control(trip, STEP_CONTROL, 0, ALK__POSTGRES_BEGIN);
        if (is_async(trip) && !session->is_joined)
            send_control(trip, STEP_CONTROL, 0, ASYNC_SQL);
    }
    for (size_t i = 0; i < trip->call_count; i++)
        send_call(trip, i);
    if (mode != ALK__RUN_PLAIN) {
        send_control(trip, STEP_COMMIT, trip->call_count, "COMMIT");
        session->has_commit_in_air = true;
    }
}

/* ---- receiving ---- */

static alk_status read_rows(PGresult *result, const struct alk__call *call, alk_error *error) {
    const struct alk__row_type *type = alk__statements[call->statement].row;
    int columns = PQnfields(result);
    struct alk__cell cells[64];

    if (call->rows == NULL)
        return ALK_OK;
    call->rows->changed = strtoll(PQcmdTuples(result), NULL, 10);
    if (type == NULL || type->columns == NULL)
        return ALK_OK;
    if (columns > (int)(sizeof(cells) / sizeof(cells[0])))
        return alk__fail(error, ALK_USAGE, "%s has %d columns",
                         alk__statements[call->statement].name, columns);
    for (int row = 0; row < PQntuples(result); row++) {
        for (int column = 0; column < columns; column++)
            cells[column] = alk__postgres_cell(result, row, column);
        alk_status status = alk__rows_add(call->rows, type, cells, (size_t)columns, error);
        if (status < 0)
            return status;
    }
    return ALK_OK;
}

/* A statement prepared before its table was changed, or forgotten by a pooler: a new connection
 * has it right. */
static alk_status renew_prepared(struct alk__postgres *session, const PGresult *result,
                                 alk_status status, alk_error *error) {
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);

    if (code == NULL || (strcmp(code, "0A000") != 0 && strcmp(code, "26000") != 0) ||
        session->is_joined)
        return status;
    session->is_broken = true;
    if (error != NULL) {
        error->status = ALK_AGAIN;
        error->error_class = alk_status_class(ALK_AGAIN);
    }
    return ALK_AGAIN;
}

static alk_status read_success(struct trip *trip, const struct step *step, PGresult *result,
                               alk_error *error) {
    if (step->kind == STEP_CALL)
        return read_rows(result, &trip->calls[step->call], error);
    if (step->kind != STEP_COMMIT)
        return ALK_OK;
    trip->session->has_commit_in_air = false;
    trip->is_committed = strcmp(PQcmdStatus(result), "COMMIT") == 0;
    if (!trip->is_committed)
        return alk__fail(error, ALK_AGAIN,
                         "postgres: the transaction had failed, COMMIT rolled it back");
    return ALK_OK;
}

static alk_status read_answer(struct trip *trip, const struct step *step, PGresult *result,
                              alk_error *error) {
    ExecStatusType answer = PQresultStatus(result);
    alk_status status = ALK_OK;

    if (answer == PGRES_TUPLES_OK || answer == PGRES_COMMAND_OK)
        return read_success(trip, step, result, error);
    if (step->kind == STEP_PREPARE)
        trip->session->is_prepared[trip->calls[step->call].statement] = false;
    if (answer != PGRES_PIPELINE_ABORTED) /* then the failure has been read */
        status = alk__postgres_failure(trip->session, result, step->kind == STEP_COMMIT, error);
    if (step->kind == STEP_CALL && status < 0)
        status = renew_prepared(trip->session, result, status, error);
    return status;
}

/* The answer of a step, and the NULL that ends it. */
static alk_status receive_step(struct trip *trip, const struct step *step, alk_error *error) {
    PGresult *result = NULL;
    PGresult *end = NULL;
    alk_status status = alk__postgres_result(trip->session, &result, error);

    if (status < 0)
        return status;
    if (result == NULL)
        return alk__postgres_lost(trip->session, "an answer is missing", error);
    status = read_answer(trip, step, result, error);
    PQclear(result);
    if (trip->session->is_broken)
        return status;
    alk_status ended = alk__postgres_result(trip->session, &end, status < 0 ? NULL : error);
    PQclear(end);
    return status < 0 || trip->is_committed ? status : ended;
}

/* Every answer is read, so that the connection is usable afterwards; the first failure counts. */
static alk_status receive_steps(struct trip *trip, size_t *ret_failed, alk_error *error) {
    struct alk__postgres *session = trip->session;
    alk_status status = ALK_OK;

    for (size_t i = 0; i < trip->step_count && !session->is_broken; i++) {
        bool is_first = status >= 0;
        alk_status answer = receive_step(trip, &trip->steps[i], is_first ? error : NULL);
        if (answer >= 0 || !is_first)
            continue;
        status = answer;
        /* A failure that is ours alone does not keep the server from going on to commit. */
        if (session->has_commit_in_air)
            error->is_unknown = true;
        *ret_failed = error->is_unknown ? trip->call_count : trip->steps[i].call;
    }
    return status;
}

static alk_status receive_sync(struct alk__postgres *session, alk_error *error) {
    PGresult *result = NULL;
    alk_status status = alk__postgres_result(session, &result, error);

    if (status >= 0 && PQresultStatus(result) != PGRES_PIPELINE_SYNC)
        status = alk__postgres_lost(session, "the end of the answers is missing", error);
    PQclear(result);
    return status;
}

static alk_status receive(struct trip *trip, size_t *ret_failed, alk_error *error) {
    alk_status status = receive_steps(trip, ret_failed, error);
    alk_status synced = ALK_OK;

    if (!trip->session->is_broken)
        synced = receive_sync(trip->session, status < 0 ? NULL : error);
    if (status >= 0 && !trip->is_committed)
        return synced;
    return status;
}

/* ---- the round trip ---- */

static alk_status trip_start(struct trip *trip, size_t steps, alk_error *error) {
    trip->steps = alk__arena_alloc(&trip->arena, steps * sizeof(struct step));
    return trip->steps == NULL ? alk__nomem(error) : ALK_OK;
}

static alk_status trip_open(struct trip *trip, alk_error *error) {
    struct alk__postgres *session = trip->session;

    if (PQtransactionStatus(session->connection) == PQTRANS_IDLE)
        session->plan = ALK__PLAN_NORMAL;
    if (PQsetnonblocking(session->connection, 1) != 0 ||
        PQenterPipelineMode(session->connection) == 0)
        return alk__postgres_lost(session, "the connection is not idle", error);
    return ALK_OK;
}

/* Ends what was queued, waits for the answers and leaves the connection as it was found. */
static alk_status trip_close(struct trip *trip, bool was_nonblocking, size_t *ret_failed,
                             alk_error *error) {
    struct alk__postgres *session = trip->session;
    alk_status status;

    if (PQpipelineSync(session->connection) == 0 || trip->is_refused)
        status = alk__postgres_lost(session, "connection lost", error);
    else
        status = alk__postgres_flush(session, error);
    if (status >= 0)
        status = receive(trip, ret_failed, error);
    session->has_commit_in_air = false;
    PQexitPipelineMode(session->connection);
    PQsetnonblocking(session->connection, was_nonblocking);
    return status;
}

static alk_status control(struct alk__postgres *session, const char *const *sql, size_t count,
                          bool is_commit, alk_error *error) {
    struct trip trip = {.session = session, .call_count = count};
    bool was_nonblocking = PQisnonblocking(session->connection) != 0;
    size_t failed = 0;
    alk_error ours = ALK_ERROR_INIT;
    alk_status status = trip_start(&trip, count, &ours);

    if (status >= 0)
        status = trip_open(&trip, &ours);
    if (status >= 0) {
        for (size_t i = 0; i < count; i++)
            send_control(&trip, is_commit ? STEP_COMMIT : STEP_CONTROL, i, sql[i]);
        session->has_commit_in_air = is_commit;
        status = trip_close(&trip, was_nonblocking, &failed, &ours);
    }
    alk__arena_free(&trip.arena);
    if (status < 0 && error != NULL)
        *error = ours;
    return status;
}

alk_status alk__postgres_control(struct alk__postgres *session, const char *const *sql,
                                 size_t count, alk_error *error) {
    return control(session, sql, count, false, error);
}

alk_status alk__postgres_commit(struct alk__postgres *session, alk_error *error) {
    const char *sql = "COMMIT";

    return control(session, &sql, 1, true, error);
}

alk_status alk__postgres_rollback(struct alk__postgres *session, alk_error *error) {
    const char *sql = "ROLLBACK";
    alk_status status = control(session, &sql, 1, false, error);

    session->is_broken = session->is_broken || status < 0;
    alk__error_clear(&session->failure);
    return status;
}

/* ---- calls ---- */

/* What is given in arrays brings at most a row for each element. */
static size_t element_count(const struct alk__call *call) {
    size_t count = 0;

    for (size_t i = 0; i < call->value_count; i++)
        count = call->values[i].count > count ? call->values[i].count : count;
    return count;
}

/* All that may want memory comes first: once something is sent, there is no way back. */
static alk_status trip_fill(struct trip *trip, alk_error *error) {
    alk_status status = trip_start(trip, 3 + STEPS_A_CALL * trip->call_count, error);

    if (status < 0)
        return status;
    trip->parameters =
        alk__arena_alloc(&trip->arena, trip->call_count * sizeof(struct alk__parameters));
    if (trip->parameters == NULL)
        return alk__nomem(error);
    for (size_t i = 0; i < trip->call_count && status >= 0; i++) {
        const struct alk__call *call = &trip->calls[i];
        status = alk__postgres_encode(&trip->arena, &alk__statements[call->statement], call,
                                      &trip->parameters[i], error);
        if (status >= 0 && call->rows != NULL)
            status = alk__rows_start(call->rows, alk__statements[call->statement].row,
                                     element_count(call), error);
    }
    return status;
}

static void free_rows(const struct trip *trip) {
    for (size_t i = 0; i < trip->call_count; i++)
        if (trip->calls[i].rows != NULL)
            alk__rows_free(trip->calls[i].rows);
}

/* What a failure leaves behind: no transaction where it was ours to end, and the memory of it where
 * it was not (S33). */
static void undo(struct alk__postgres *session, enum alk__run_mode mode, bool is_sent,
                 alk_error *error) {
    PGTransactionStatusType state = PQtransactionStatus(session->connection);

    if (session->is_broken || state == PQTRANS_IDLE)
        return;
    if (mode == ALK__RUN_COMMIT || (mode == ALK__RUN_OWN && is_sent))
        alk__postgres_rollback(session, NULL);
    else if (is_sent && state == PQTRANS_INERROR) {
        alk__wrap(error, error->status, "the transaction is aborted");
        session->failure = *error;
    }
}

alk_status alk__postgres_run(struct alk__session *opaque, const struct alk__call *calls,
                             size_t call_count, enum alk__run_mode mode, size_t *ret_failed,
                             alk_error *error) {
    struct alk__postgres *session = alk__postgres_of(opaque);
    struct trip trip = {.session = session, .calls = calls, .call_count = call_count};
    bool was_nonblocking = PQisnonblocking(session->connection) != 0;
    size_t failed = 0;
    alk_error ours = ALK_ERROR_INIT;
    alk_status status = alk__postgres_ready(session, &ours);

    if (status >= 0)
        status = trip_fill(&trip, &ours);
    if (status >= 0)
        status = trip_open(&trip, &ours);
    bool is_sent = status >= 0;
    if (is_sent) {
        send_calls(&trip, mode);
        status = trip_close(&trip, was_nonblocking, &failed, &ours);
    }
    alk__arena_free(&trip.arena);
    if (status >= 0)
        return status;
    undo(session, mode, is_sent, &ours);
    free_rows(&trip);
    if (ret_failed != NULL)
        *ret_failed = failed;
    if (error != NULL)
        *error = ours;
    return status;
}
