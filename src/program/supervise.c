/* program/supervise.c: loops that do not end because something failed, and stores that are not
 * there yet. */
#include "program/supervise.h"

#include <poll.h>

#include "base/clock.h"

/* A loop that ran this long before it failed was well: its failures count anew. */
#define WELL_US ALK__MINUTE

void alk__stop_wait(const alk_stop *stop, int64_t us) {
    struct pollfd fd = {.fd = alk_stop_fd(stop), .events = POLLIN};
    int64_t end_us = alk__monotonic_us() + us;

    for (int64_t left_us = us; left_us > 0 && !alk_stop_is_set(stop);
         left_us = end_us - alk__monotonic_us())
        poll(&fd, 1, (int)(left_us / ALK__MS + 1));
}

/* A leader that lost its lease is no fault: it goes back to standing by. */
static void log_failure(struct alk__log *log, const char *subject, alk_status st,
                        const alk_error *error) {
    if (st == ALK_LOST)
        alk__log_say(log, ALK_LEVEL_WARNING, "loop stands by", subject, error, "%s", "");
    else
        alk__log_say(log, ALK_LEVEL_ERROR, "loop failed", subject, error, "it is run again");
}

alk_status alk__supervise(const char *subject, alk__run_fn run, void *context, alk_stop *stop,
                          struct alk__log *log, alk_error *error) {
    int64_t failures = 0;

    for (;;) {
        int64_t started_us = alk__monotonic_us();
        alk_status st = run(context, stop, error);

        if (st >= 0 || (error != NULL && error->error_class == ALK_CLASS_CLOSED))
            return st;
        if (alk_stop_is_set(stop))
            return ALK_OK;
        log_failure(log, subject, st, error);
        failures = alk__monotonic_us() - started_us >= WELL_US ? 1 : failures + 1;
        alk__stop_wait(stop, alk_respawn_us(failures));
        if (alk_stop_is_set(stop))
            return ALK_OK;
    }
}

static alk_store_options options_of(const struct alk__config *config) {
    alk_store_options options = ALK_STORE_OPTIONS_INIT;

    options.schema = config->schema;
    options.durability = (alk_durability)config->durability;
    options.must_exist = true;
    if (config->pool_max > 0)
        options.pool_max = (int)config->pool_max;
    return options;
}

alk_status alk__store_check(const struct alk__config *config, alk_error *error) {
    alk_store_options options = options_of(config);

    return alk_url_check(config->store_url, &options, error);
}

alk_status alk__store_open(const struct alk__config *config, int connections, struct alk__log *log,
                           alk_store **ret_store, alk_error *error) {
    alk_store_options options = options_of(config);

    if (config->pool_max == 0 && options.pool_max < connections)
        options.pool_max = connections;
    if (log != NULL) {
        options.event = alk__log_event;
        options.event_context = log;
    }
    return alk_open(config->store_url, &options, ret_store, error);
}

alk_status alk__store_await(const struct alk__config *config, int connections, alk_stop *stop,
                            struct alk__log *log, alk_store **ret_store, alk_error *error) {
    for (int64_t failures = 1; !alk_stop_is_set(stop); failures++) {
        alk_status st = alk__store_open(config, connections, log, ret_store, error);

        if (st >= 0 || alk_status_class(st) != ALK_CLASS_TRANSIENT)
            return st;
        alk__log_say(log, ALK_LEVEL_WARNING, "waiting for the database", NULL, error, "%s", "");
        alk__stop_wait(stop, alk_respawn_us(failures));
    }
    return ALK_EMPTY;
}
