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

/* ---- several hosts ---- */

/* What a URL may list for each host. */
static const char *const list_words[] = {"host", "hostaddr", "port"};
#define LISTS (sizeof(list_words) / sizeof(list_words[0]))

static size_t length_of(const char *list) {
    size_t length = list == NULL ? 0 : 1;

    for (; list != NULL && *list != '\0'; list++)
        length += *list == ',';
    return length;
}

static const char *value_of(const PQconninfoOption *options, const char *word) {
    while (options->keyword != NULL && strcmp(options->keyword, word) != 0)
        options++;
    return options->val;
}

static size_t count_hosts(const PQconninfoOption *options) {
    size_t hosts = length_of(value_of(options, "host"));
    size_t addresses = length_of(value_of(options, "hostaddr"));
    size_t count = hosts > addresses ? hosts : addresses;

    return count == 0 ? 1 : count;
}

size_t alk__postgres_host_count(const char *url) {
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    size_t count = options == NULL ? 1 : count_hosts(options);

    PQconninfoFree(options);
    return count;
}

/* The list with its first element put behind the last, turn times. */
static void turn_list(struct alk__buffer *out, const char *list, size_t turn) {
    const char *at = list;

    for (; turn > 0; turn--)
        at += strcspn(at, ",") + 1;
    alk__buffer_add_text(out, at);
    if (at == list)
        return;
    alk__buffer_add_text(out, ",");
    alk__buffer_add(out, list, (size_t)(at - list) - 1);
}

/* ---- an attempt ---- */

/* Connects with the lists turned. The URL overrides what stands before it and is overridden by what
 * follows. */
static PGconn *start_turned(const char *url, const PQconninfoOption *options, size_t turn) {
    const char *keywords[4 + LISTS] = {"fallback_application_name", "dbname", "client_encoding"};
    const char *values[4 + LISTS] = {"alkstore", url, "UTF8"};
    struct alk__buffer lists[LISTS];
    size_t hosts = count_hosts(options);
    PGconn *connection = NULL;
    bool is_failed = false;
    size_t count = 3;

    for (size_t i = 0; i < LISTS; i++) {
        const char *list = value_of(options, list_words[i]);
        lists[i] = (struct alk__buffer)ALK__BUFFER_INIT(strlen(url) + 1);
        if (length_of(list) != hosts)
            continue; /* not there, or one for all */
        turn_list(&lists[i], list, turn % hosts);
        is_failed = is_failed || lists[i].is_failed;
        keywords[count] = list_words[i];
        values[count++] = lists[i].bytes;
    }
    if (!is_failed)
        connection = PQconnectStartParams(keywords, values, 1);
    for (size_t i = 0; i < LISTS; i++)
        alk__buffer_release(&lists[i]);
    return connection;
}

alk_status alk__postgres_connect_start(const struct alk__settings *settings, size_t turn,
                                       PGconn **ret_connection, alk_error *error) {
    PQconninfoOption *options = PQconninfoParse(settings->target, NULL);

    if (options == NULL) /* libpq's words would quote the URL, password and all */
        return alk__fail(error, ALK_INVALID, "postgres: '%s' is no URL that libpq understands",
                         settings->masked);
    PGconn *connection = start_turned(settings->target, options, turn);
    PQconninfoFree(options);
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

/* ret_is_late   the time was over before there was an answer */
static alk_status finish(PGconn *connection, int64_t timeout_us, bool *ret_is_late,
                         alk_error *error) {
    int64_t deadline_us = alk__add_us(alk__monotonic_us(), timeout_us);
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;

    while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
        short events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        *ret_is_late = alk__postgres_poll(PQsocket(connection), events, deadline_us) == 0;
        if (*ret_is_late)
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

static alk_status attempt(const struct alk__settings *settings, size_t turn, int64_t timeout_us,
                          PGconn **ret_connection, bool *ret_is_late, alk_error *error) {
    PGconn *connection = NULL;
    alk_status status = alk__postgres_connect_start(settings, turn, &connection, error);

    *ret_is_late = false;
    if (status < 0)
        return status;
    status = finish(connection, timeout_us, ret_is_late, error);
    if (status < 0) {
        PQfinish(connection);
        return status;
    }
    *ret_connection = connection;
    return ALK_OK;
}

/* libpq goes on to the next host by itself when one refuses, but waits for a silent one as long as
 * it is let. So each host gets its share of the time, and the next attempt begins with another. */
alk_status alk__postgres_connect(const struct alk__settings *settings, PGconn **ret_connection,
                                 alk_error *error) {
    size_t hosts = alk__postgres_host_count(settings->target);
    int64_t share_us = settings->connect_timeout_us / (int64_t)hosts;
    bool is_late = true;
    alk_status status = ALK_AGAIN;

    for (size_t turn = 0; turn < hosts && is_late; turn++)
        status = attempt(settings, turn, share_us, ret_connection, &is_late, error);
    return status;
}
