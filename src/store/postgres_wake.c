/* store/postgres_wake.c: wakes by LISTEN and NOTIFY. A watch listens on a connection of its own
 * (S96), is connected step by step, so that nobody waits for it, and asks for one look as soon
 * as it listens: what was committed before that was not heard. What breaks is reported to
 * wake.c, which opens another watch after a pause. */
#include "store/wake.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/postgres.h"
#include "store/store.h"

enum state { CONNECTING, ASKING, LISTENING };

struct watch {
    const struct alk__settings *settings;
    PGconn *connection;
    enum state state;
    PostgresPollingStatusType polling; /* what libpq waits for while CONNECTING */
    int64_t deadline_us;               /* for getting as far as LISTENING */
};

/* While connecting, libpq may want to write and may change its descriptor: it is asked this
 * often. */
#define CONNECT_LOOK_US (5 * ALK__MS)

/* Shared by all stores of a schema in one database: a channel belongs to its database anyway. */
static struct alk__channel channel_of(const struct alk__settings *settings) {
    struct alk__channel channel;

    snprintf(channel.name, sizeof(channel.name), "alk_%016" PRIx64,
             alk__schema_hash(settings->schema));
    return channel;
}

static alk_status postgres_watch_open(const struct alk__settings *settings,
                                      struct alk__watch **ret_watch, alk_error *error) {
    if (!settings->may_listen) {
        *ret_watch = NULL;
        return ALK_OK;
    }

    struct watch *watch = alk__alloc(sizeof(*watch));
    if (watch == NULL)
        return alk__nomem(error);
    watch->settings = settings;
    watch->polling = PGRES_POLLING_WRITING;

    /* Any host first: the next watch tries another one if this is silent. */
    size_t hosts = alk__postgres_host_count(settings->target);
    size_t turn = (size_t)alk__random_between(&settings->random, 0, (int64_t)hosts - 1);
    watch->deadline_us =
        alk__add_us(alk__monotonic_us(), settings->connect_timeout_us / (int64_t)hosts);

    alk_status status = alk__postgres_connect_start(settings, turn, &watch->connection, error);
    if (status < 0) {
        alk__free(watch);
        return status;
    }
    *ret_watch = (struct alk__watch *)watch;
    return ALK_OK;
}

static void postgres_watch_close(struct alk__watch *opaque) {
    struct watch *watch = (struct watch *)opaque;

    if (watch == NULL)
        return;
    PQfinish(watch->connection);
    alk__free(watch);
}

static int postgres_watch_fd(const struct alk__watch *opaque) {
    const struct watch *watch = (const struct watch *)opaque;

    return watch->state == CONNECTING ? -1 : PQsocket(watch->connection);
}

static alk_status lost(alk_error *error) {
    return alk__fail(error, ALK_AGAIN, "postgres: the connection that listens is lost");
}

static alk_status look_connecting(struct watch *watch, alk_error *error) {
    while (watch->polling == PGRES_POLLING_READING || watch->polling == PGRES_POLLING_WRITING) {
        short events = watch->polling == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        if (alk__postgres_poll(PQsocket(watch->connection), events, 0) == 0)
            return ALK_OK;
        watch->polling = PQconnectPoll(watch->connection);
    }
    if (watch->polling != PGRES_POLLING_OK)
        return alk__postgres_connect_failure(watch->connection, error);

    char sql[64];
    snprintf(sql, sizeof(sql), "LISTEN %s", channel_of(watch->settings).name);
    if (PQsetnonblocking(watch->connection, 1) != 0 || PQsendQuery(watch->connection, sql) == 0)
        return lost(error);
    watch->state = ASKING;
    return ALK_OK;
}

/* Waits for the answer to LISTEN; then everybody has to look once. */
static alk_status look_asking(struct watch *watch, bool *ret_called, alk_error *error) {
    PGresult *result;

    if (PQflush(watch->connection) < 0 || PQconsumeInput(watch->connection) == 0)
        return lost(error);
    while (!PQisBusy(watch->connection)) {
        result = PQgetResult(watch->connection);
        if (result == NULL) {
            watch->state = LISTENING;
            *ret_called = true;
            return ALK_OK;
        }
        ExecStatusType answer = PQresultStatus(result);
        PQclear(result);
        if (answer != PGRES_COMMAND_OK)
            return alk__fail(error, ALK_AGAIN, "postgres: LISTEN is refused: %.*s",
                             (int)strcspn(PQerrorMessage(watch->connection), "\n"),
                             PQerrorMessage(watch->connection));
    }
    return ALK_OK;
}

static alk_status look_listening(struct watch *watch, bool *ret_called, alk_error *error) {
    PGnotify *notify;

    if (PQconsumeInput(watch->connection) == 0)
        return lost(error);
    while ((notify = PQnotifies(watch->connection)) != NULL) {
        *ret_called = true;
        PQfreemem(notify);
    }
    return ALK_OK;
}

static alk_status postgres_watch_look(struct alk__watch *opaque, bool *ret_called,
                                      int64_t *ret_next_us, alk_error *error) {
    struct watch *watch = (struct watch *)opaque;
    alk_status status = ALK_OK;

    *ret_called = false;
    if (watch->state == CONNECTING)
        status = look_connecting(watch, error);
    if (status >= 0 && watch->state == ASKING)
        status = look_asking(watch, ret_called, error);
    if (status >= 0 && watch->state == LISTENING)
        status = look_listening(watch, ret_called, error);
    if (status < 0)
        return status;

    int64_t left_us = watch->deadline_us - alk__monotonic_us();
    if (watch->state != LISTENING && left_us <= 0)
        return alk__fail(error, ALK_AGAIN, "postgres: the server did not answer in time");
    *ret_next_us = watch->state == LISTENING ? INT64_MAX
                   : watch->state == ASKING  ? left_us
                                             : CONNECT_LOOK_US;
    return ALK_OK;
}

const struct alk__wake_driver alk__wake_postgres = {
    .open = postgres_watch_open,
    .close = postgres_watch_close,
    .fd = postgres_watch_fd,
    .look = postgres_watch_look,
    .channel = channel_of,
};
