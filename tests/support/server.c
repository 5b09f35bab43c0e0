/* support/server.c: see server.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/server.h"

const char *server_needed(void) {
    const char *url = getenv("ALK_TEST_POSTGRES");

    const char *required = getenv("ALK_TEST_REQUIRE");

    if (url != NULL && *url != '\0')
        return url;
    if (required != NULL && strstr(required, "postgres") != NULL)
        fail_msg("a PostgreSQL server is required (ALK_TEST_REQUIRE) and there is none");
    skip();
    return NULL;
}

static void ignore(void *context, const PGresult *result) {
    (void)context;
    (void)result;
}

PGconn *server_connect(const char *url) {
    PGconn *connection = PQconnectdb(url);

    if (PQstatus(connection) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(connection));
    PQsetNoticeReceiver(connection, ignore, NULL);
    return connection;
}

static PGresult *run(PGconn *connection, const char *sql) {
    PGresult *result = PQexec(connection, sql);

    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(connection));
    return result;
}

#define PRINT(sql, format)                                                                         \
    char sql[4096];                                                                                \
    va_list arguments;                                                                             \
    va_start(arguments, format);                                                                   \
    vsnprintf(sql, sizeof(sql), format, arguments);                                                \
    va_end(arguments)

void server_do(PGconn *connection, const char *format, ...) {
    PRINT(sql, format);
    PQclear(run(connection, sql));
}

static int64_t number(PGconn *connection, const char *sql) {
    PGresult *result = run(connection, sql);

    if (PQntuples(result) != 1)
        fail_msg("%s: %d rows", sql, PQntuples(result));
    int64_t answer = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return answer;
}

int64_t server_number(PGconn *connection, const char *format, ...) {
    PRINT(sql, format);
    return number(connection, sql);
}

void server_wait(PGconn *connection, int64_t wanted, const char *format, ...) {
    PRINT(sql, format);
    int64_t deadline_us = alk__monotonic_us() + WAIT_US;

    for (int64_t is = number(connection, sql); is != wanted; is = number(connection, sql)) {
        if (alk__monotonic_us() > deadline_us)
            fail_msg("%s: still %lld, not %lld", sql, (long long)is, (long long)wanted);
        usleep(5000);
    }
}

void server_settings_init(struct server_settings *settings, const char *url) {
    memset(settings, 0, sizeof(*settings));
    const char *const *texts =
        alk__statements_load(&settings->arena, ALK_ENGINE_POSTGRES, "alk none");
    assert_non_null(texts);
    memcpy(settings->texts, texts, sizeof(settings->texts));
    settings->settings = (struct alk__settings){
        .engine = ALK_ENGINE_POSTGRES,
        .target = url,
        .masked = url,
        .schema = "alk none",
        .may_listen = true,
        .may_prepare = true,
        .pool_max = 8,
        .acquire_timeout_us = 30 * ALK__SECOND,
        .connect_timeout_us = 30 * ALK__SECOND,
        .statements = settings->texts,
    };
}

void server_settings_free(struct server_settings *settings) {
    alk__arena_free(&settings->arena);
}
