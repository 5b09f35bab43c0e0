/* store/postgres.c: the PostgreSQL driver: its table, its sessions and their transactions.
 * postgres.h lists its other files. */
#include "store/postgres.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/wake.h"

/* Notices go nowhere: libpq's own receiver would print them. A server that ends an idle session
 * says so before it closes the socket, and libpq takes that for a notice. */
static void hear_notice(void *context, const PGresult *result) {
    struct alk__postgres *session = context;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

    if (severity != NULL && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0))
        session->is_broken = true;
}

static alk_status new_session(const struct alk__settings *settings, PGconn *connection,
                              bool is_joined, struct alk__session **ret_session, alk_error *error) {
    struct alk__postgres *session = alk__alloc(sizeof(*session));
    const char *version = PQparameterStatus(connection, "server_version");

    if (session == NULL)
        return alk__nomem(error);
    session->settings = settings;
    session->connection = connection;
    session->deadline_us = INT64_MAX;
    session->is_joined = is_joined;
    if (!is_joined)
        PQsetNoticeReceiver(connection, hear_notice, session);
    if (version != NULL) /* "15.18 (Debian 15.18-1)" */
        snprintf(session->version, sizeof(session->version), "PostgreSQL %.*s",
                 (int)strcspn(version, " "), version);
    *ret_session = (struct alk__session *)session;
    return ALK_OK;
}

static alk_status postgres_open(const struct alk__settings *settings,
                                struct alk__session **ret_session, alk_error *error) {
    PGconn *connection = NULL;
    alk_status status = alk__postgres_connect(settings, &connection, error);

    if (status < 0)
        return status;
    status = new_session(settings, connection, false, ret_session, error);
    if (status < 0)
        PQfinish(connection);
    return status;
}

static alk_status postgres_join(const struct alk__settings *settings, void *handle,
                                struct alk__session **ret_session, alk_error *error) {
    alk_status status = alk__postgres_check_joined(handle, error);

    return status < 0 ? status : new_session(settings, handle, true, ret_session, error);
}

static void postgres_close(struct alk__session *opaque) {
    struct alk__postgres *session = alk__postgres_of(opaque);

    if (session == NULL)
        return;
    if (!session->is_joined)
        PQfinish(session->connection);
    alk__free(session);
}

/* ---- transactions ---- */

/* A span as the settings take it: whole milliseconds, at least one, 0 = no limit. */
static int64_t limit_ms(int64_t us) {
    int64_t ms = us / ALK__MS;

    if (us <= 0)
        return 0;
    return ms < 1 ? 1 : ms > INT32_MAX ? INT32_MAX : ms;
}

static alk_status postgres_begin(struct alk__session *opaque, const struct alk__tx_limits *limits,
                                 alk_error *error) {
    struct alk__postgres *session = alk__postgres_of(opaque);
    bool is_limited =
        limits != NULL && !session->is_joined && (limits->idle_us > 0 || limits->lock_us > 0);
    char settings[256] = "";
    const char *sql[] = {ALK__POSTGRES_BEGIN, settings};
    alk_status status = alk__postgres_ready(session, error);

    if (status < 0)
        return status;
    if (PQtransactionStatus(session->connection) != PQTRANS_IDLE)
        return alk__fail(error, ALK_USAGE, "the connection is in a transaction already");
    if (is_limited)
        snprintf(
            settings, sizeof(settings),
            "SELECT pg_catalog.set_config('idle_in_transaction_session_timeout', '%lld', true), "
            "pg_catalog.set_config('lock_timeout', '%lld', true)",
            (long long)limit_ms(limits->idle_us), (long long)limit_ms(limits->lock_us));
    alk__error_clear(&session->failure);
    status = alk__postgres_control(session, sql, is_limited ? 2 : 1, error);
    if (status < 0 && !session->is_broken &&
        PQtransactionStatus(session->connection) != PQTRANS_IDLE)
        alk__postgres_rollback(session, NULL);
    return status;
}

static alk_status postgres_rollback(struct alk__session *opaque, alk_error *error) {
    struct alk__postgres *session = alk__postgres_of(opaque);

    if (session->is_broken)
        return alk__fail(error, ALK_AGAIN, "postgres: the connection is lost");
    if (PQtransactionStatus(session->connection) == PQTRANS_IDLE)
        return ALK_OK;
    return alk__postgres_rollback(session, error);
}

static alk_status postgres_commit(struct alk__session *opaque, alk_error *error) {
    struct alk__postgres *session = alk__postgres_of(opaque);
    alk_status status = alk__postgres_ready(session, error);

    if (status >= 0)
        return alk__postgres_commit(session, error);
    if (!session->is_broken && PQtransactionStatus(session->connection) == PQTRANS_INERROR)
        alk__postgres_rollback(session, NULL);
    return status;
}

/* A savepoint takes back the settings that were made behind it, and a failure. */
static alk_status roll_back_to(struct alk__postgres *session, const char *sql, alk_error *error) {
    if (session->is_broken)
        return alk__fail(error, ALK_AGAIN, "postgres: the connection is lost");

    alk_status status = alk__postgres_control(session, &sql, 1, error);
    session->plan = ALK__PLAN_UNSURE;
    if (status >= 0)
        alk__error_clear(&session->failure);
    return status;
}

static alk_status postgres_control(struct alk__session *opaque, const char *sql, alk_error *error) {
    struct alk__postgres *session = alk__postgres_of(opaque);

    if (strncmp(sql, "ROLLBACK TO", strlen("ROLLBACK TO")) == 0)
        return roll_back_to(session, sql, error);

    alk_status status = alk__postgres_ready(session, error);
    return status < 0 ? status : alk__postgres_control(session, &sql, 1, error);
}

static alk_status read_script(struct alk__postgres *session, alk_error *error) {
    PGresult *result = NULL;
    alk_status status = ALK_OK;

    do {
        alk_status answer = alk__postgres_result(session, &result, status < 0 ? NULL : error);
        if (answer < 0)
            return status < 0 ? status : answer;
        if (result != NULL && PQresultStatus(result) == PGRES_FATAL_ERROR && status >= 0)
            status = alk__postgres_failure(session, result, false, error);
        PQclear(result);
    } while (result != NULL);
    return status;
}

static alk_status postgres_script(struct alk__session *opaque, const char *sql, alk_error *error) {
    struct alk__postgres *session = alk__postgres_of(opaque);
    alk_error ours = ALK_ERROR_INIT;
    alk_status status = alk__postgres_ready(session, &ours);

    if (status >= 0 && PQsendQuery(session->connection, sql) == 0)
        status = alk__postgres_lost(session, "connection lost", &ours);
    if (status >= 0)
        status = alk__postgres_flush(session, &ours);
    if (status >= 0)
        status = read_script(session, &ours);
    if (status < 0 && session->failure.status >= 0)
        session->failure = ours;
    if (status < 0 && error != NULL)
        *error = ours;
    return status;
}

/* ---- looks ---- */

static bool postgres_is_in_tx(struct alk__session *opaque) {
    PGTransactionStatusType state = PQtransactionStatus(alk__postgres_of(opaque)->connection);

    return state == PQTRANS_INTRANS || state == PQTRANS_INERROR;
}

static bool postgres_is_broken(struct alk__session *opaque) {
    const struct alk__postgres *session = alk__postgres_of(opaque);

    return session->is_broken || PQstatus(session->connection) != CONNECTION_OK;
}

/* A server that ended an idle session has said so by now: its words, or the end of the stream, are
 * there to be read. */
static bool postgres_is_alive(struct alk__session *opaque) {
    struct alk__postgres *session = alk__postgres_of(opaque);
    PGconn *connection = session->connection;

    for (int reads = 0; reads < 8 && !postgres_is_broken(opaque); reads++) {
        if (alk__postgres_poll(PQsocket(connection), POLLIN, 0) == 0)
            return PQtransactionStatus(connection) == PQTRANS_IDLE;
        if (PQconsumeInput(connection) == 0)
            session->is_broken = true;
        else
            PQisBusy(connection); /* takes in what came */
    }
    return false;
}

static void postgres_set_deadline(struct alk__session *opaque, int64_t monotonic_us) {
    alk__postgres_of(opaque)->deadline_us = monotonic_us;
}

static const char *postgres_version(struct alk__session *opaque) {
    return alk__postgres_of(opaque)->version;
}

const struct alk__driver alk__driver_postgres = {
    .name = "postgres",
    .engine = ALK_ENGINE_POSTGRES,
    .features = ALK__CAN_PIPELINE,
    .wake = &alk__wake_postgres,
    .open = postgres_open,
    .join = postgres_join,
    .close = postgres_close,
    .begin = postgres_begin,
    .commit = postgres_commit,
    .rollback = postgres_rollback,
    .control = postgres_control,
    .run = alk__postgres_run,
    .script = postgres_script,
    .is_in_tx = postgres_is_in_tx,
    .is_broken = postgres_is_broken,
    .is_alive = postgres_is_alive,
    .set_deadline = postgres_set_deadline,
    .version = postgres_version,
};
