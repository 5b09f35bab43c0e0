/* store/postgres_connect.c: makes a connection to PostgreSQL, without blocking, so that an
 * attempt has a deadline of its own.
 *
 * No start-up `options=`: old poolers refuse it. What the store needs is an encoding and a name. */
#include "store/postgres.h"

#include <ctype.h>
#include <poll.h>
#include <string.h>

#include "base/error.h"

#define VERSION_MIN 130000

/* libpq's own would print them to stderr. */
static void ignore_notice(void *context, const PGresult *result) {
    (void)context;
    (void)result;
}

/* libpq gives no SQLSTATE of a failed attempt but in its verbose text: "FATAL:  28P01: password
 * ..." */
static const char *find_code(const char *text) {
    const char *found = NULL;

    for (const char *at = strstr(text, ":  "); at != NULL; at = strstr(at + 1, ":  ")) {
        size_t length = 0;
        while (isupper((unsigned char)at[3 + length]) || isdigit((unsigned char)at[3 + length]))
            length++;
        if (length == 5 && strncmp(at + 8, ": ", 2) == 0)
            found = at + 3;
    }
    return found;
}

static alk_status status_of_code(const char *code) {
    if (*code == '\0')
        return ALK_AGAIN;
    return strcmp(code, "3D000") == 0 ? ALK_NO_STORE : alk__code_status_postgres(code);
}

alk_status alk__postgres_connect_failure(PGconn *connection, alk_error *error) {
    const char *words = PQerrorMessage(connection);
    const char *found = find_code(words);
    char code[6] = "";
    int length = (int)strcspn(words, "\n");

    if (found == NULL) {
        alk_status status = PQconnectionNeedsPassword(connection) ? ALK_FAILED : ALK_AGAIN;
        return alk__fail(error, status, "postgres: %.*s", length, words);
    }
    memcpy(code, found, 5);
    found += strlen("28P01: ");
    alk_status status = status_of_code(code);
    alk__fail(error, status, "postgres: %.*s (%s)", (int)strcspn(found, "\n"), found, code);
    alk__error_set_code(error, code);
    return status;
}

alk_status alk__postgres_check_server(PGconn *connection, alk_error *error) {
    const char *encoding = PQparameterStatus(connection, "server_encoding");

    if (PQserverVersion(connection) < VERSION_MIN)
        return alk__fail(error, ALK_FAILED,
                         "postgres: the server is version %d, 13 is the oldest that will do",
                         PQserverVersion(connection) / 10000);
    if (encoding == NULL || strcmp(encoding, "UTF8") != 0)
        return alk__fail(error, ALK_FAILED,
                         "postgres: the database's encoding is %s, it has to be UTF8",
                         encoding != NULL ? encoding : "not known");
    return ALK_OK;
}

alk_status alk__postgres_connect_start(const struct alk__settings *settings,
                                       PGconn **ret_connection, alk_error *error) {
    /* The URL overrides what stands before it and is overridden by what follows. */
    const char *const keywords[] = {"fallback_application_name", "dbname", "client_encoding", NULL};
    const char *const values[] = {"alkstore", settings->target, "UTF8", NULL};
    PGconn *connection = PQconnectStartParams(keywords, values, 1);

    if (connection == NULL)
        return alk__nomem(error);
    if (PQstatus(connection) == CONNECTION_BAD) {
        alk_status status = alk__postgres_connect_failure(connection, error);
        PQfinish(connection);
        return status;
    }
    PQsetNoticeReceiver(connection, ignore_notice, NULL);
    PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
    *ret_connection = connection;
    return ALK_OK;
}

static alk_status finish(PGconn *connection, int64_t timeout_us, alk_error *error) {
    int64_t deadline_us = alk__add_us(alk__monotonic_us(), timeout_us);
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;

    while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
        short events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        if (alk__postgres_poll(PQsocket(connection), events, deadline_us) == 0)
            return alk__fail(error, ALK_AGAIN, "postgres: the server did not answer within %lld ms",
                             (long long)(timeout_us / ALK__MS));
        state = PQconnectPoll(connection);
    }
    if (state != PGRES_POLLING_OK)
        return alk__postgres_connect_failure(connection, error);
    if (PQsetnonblocking(connection, 1) != 0)
        return alk__nomem(error);
    return alk__postgres_check_server(connection, error);
}

alk_status alk__postgres_connect(const struct alk__settings *settings, PGconn **ret_connection,
                                 alk_error *error) {
    PGconn *connection = NULL;
    alk_status status = alk__postgres_connect_start(settings, &connection, error);

    if (status < 0)
        return status;
    status = finish(connection, settings->connect_timeout_us, error);
    if (status < 0) {
        PQfinish(connection);
        return status;
    }
    *ret_connection = connection;
    return ALK_OK;
}
