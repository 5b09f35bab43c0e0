/* store/postgres_io.c: waits on a connection under the client-side deadline, and turns what
 * PostgreSQL says into errors.
 *
 * libpq cannot cancel without blocking, so a call that takes too long is ended by shutting its
 * socket: the connection is lost, and so is the answer to a COMMIT that was on its way (S36).
 * This works on Unix sockets and behind poolers too (S170). */
#include "store/postgres.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"

static int milliseconds_until(int64_t deadline_us) {
    if (deadline_us == INT64_MAX)
        return -1;

    int64_t left_us = deadline_us - alk__monotonic_us();
    if (left_us <= 0)
        return 0;
    return left_us / ALK__MS >= INT_MAX ? INT_MAX : (int)((left_us + ALK__MS - 1) / ALK__MS);
}

short alk__postgres_poll(int fd, short events, int64_t deadline_us) {
    struct pollfd entry = {.fd = fd, .events = events};
    int found;

    do {
        int wait_ms = milliseconds_until(deadline_us);
        found = poll(&entry, 1, wait_ms);
        if (found == 0 && wait_ms == 0)
            return 0;
    } while (found == 0 || (found < 0 && errno == EINTR));
    return found < 0 ? POLLERR : entry.revents;
}

static const char unknown[] = ", outcome of the commit unknown";

alk_status alk__postgres_lost(struct alk__postgres *session, const char *why, alk_error *error) {
    bool is_unknown = session->has_commit_in_air;

    session->is_broken = true;
    session->has_commit_in_air = false;
    if (PQsocket(session->connection) >= 0)
        shutdown(PQsocket(session->connection), SHUT_RDWR);
    alk__fail(error, ALK_AGAIN, "postgres: %s%s", why, is_unknown ? unknown : "");
    if (error != NULL)
        error->is_unknown = is_unknown;
    return ALK_AGAIN;
}

static alk_status late(struct alk__postgres *session, alk_error *error) {
    return alk__postgres_lost(session, "no answer before the deadline", error);
}

static alk_status gone(struct alk__postgres *session, alk_error *error) {
    return alk__postgres_lost(session, "connection lost", error);
}

alk_status alk__postgres_flush(struct alk__postgres *session, alk_error *error) {
    PGconn *connection = session->connection;
    int left;

    while ((left = PQflush(connection)) > 0) {
        short found =
            alk__postgres_poll(PQsocket(connection), POLLIN | POLLOUT, session->deadline_us);
        if (found == 0)
            return late(session, error);
        if ((found & ~POLLOUT) != 0 && PQconsumeInput(connection) == 0)
            return gone(session, error);
    }
    return left < 0 ? gone(session, error) : ALK_OK;
}

alk_status alk__postgres_result(struct alk__postgres *session, PGresult **ret_result,
                                alk_error *error) {
    PGconn *connection = session->connection;

    while (PQisBusy(connection)) {
        if (alk__postgres_poll(PQsocket(connection), POLLIN, session->deadline_us) == 0)
            return late(session, error);
        if (PQconsumeInput(connection) == 0)
            return gone(session, error);
    }
    *ret_result = PQgetResult(connection);
    return ALK_OK;
}

/* The details of classes 22 and 23 quote values, which may be anybody's secret; the others are
 * short and say who is in the way. */
static const char *harmless_detail(const PGresult *result, const char *code) {
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);

    if (detail == NULL || strlen(detail) > 200 || strncmp(code, "22", 2) == 0 ||
        strncmp(code, "23", 2) == 0)
        return "";
    return detail;
}

/* FATAL and PANIC end the connection; as the answer to a COMMIT they may have come before it or
 * after. */
static bool is_fatal(const PGresult *result) {
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

    return severity == NULL || strcmp(severity, "ERROR") != 0;
}

alk_status alk__postgres_failure(struct alk__postgres *session, const PGresult *result,
                                 bool is_commit, alk_error *error) {
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

    if (code == NULL)
        return gone(session, error);

    const char *detail = harmless_detail(result, code);
    bool is_unknown = is_commit && is_fatal(result);
    alk_status status = alk__code_status_postgres(code);
    alk__fail(error, status, "postgres: %s (%s)%s%s%s", words != NULL ? words : "failed", code,
              *detail != '\0' ? ": " : "", detail, is_unknown ? unknown : "");
    alk__error_set_code(error, code);
    if (error != NULL)
        error->is_unknown = is_unknown;
    session->is_broken = session->is_broken || is_fatal(result);
    session->has_commit_in_air = false; /* what follows in the pipeline is skipped */
    return status;
}
