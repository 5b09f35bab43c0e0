/* loops/scheduler.c: the scheduler from its options to its end: steps, and the waits between
 * them. */
#include "loops/scheduler.h"

#include <poll.h>
#include <string.h>

#include "base/error.h"
#include "loops/identity.h"
#include "store/run.h"

#define BATCH_MAX 10000
#define BID_DELAY_US (50 * ALK__MS) /* standbys that are woken together do not bid together */
#define LOOK_GAP_US (5 * ALK__MS)   /* wake-ups nearer to each other than this are one */

static alk_status check_options(const alk_scheduler_options *options, alk_error *error) {
    alk_status status = alk__name_check("lease", options->lease_name, error);

    if (status == ALK_OK && options->owner != NULL)
        status = alk__name_check("owner", options->owner, error);
    if (status < 0)
        return status;
    if (options->ttl_us < ALK_SCHEDULER_TTL_MIN_US || options->ttl_us > ALK__DAY)
        return alk__fail(error, ALK_INVALID, "the lease's TTL is out of range 3 s to 1 d");
    if (options->batch < 1 || options->batch > BATCH_MAX)
        return alk__fail(error, ALK_INVALID, "batch %d is out of range 1-%d", options->batch,
                         BATCH_MAX);
    return ALK_OK;
}

alk_status alk__scheduler_init(struct alk__scheduler *scheduler, alk_store *store,
                               const alk_scheduler_options *options, alk_error *error) {
    alk_scheduler_options full = ALK_SCHEDULER_OPTIONS_INIT;

    if (options != NULL)
        memcpy(&full, options, options->size < sizeof(full) ? options->size : sizeof(full));
    if (full.lease_name == NULL)
        full.lease_name = ALK_SCHEDULER_LEASE_DEFAULT;
    *scheduler = (struct alk__scheduler){
        .store = store,
        .options = full,
        .reporter = {full.event, full.event_context, "scheduler"},
    };
    alk_status status = check_options(&full, error);
    if (status < 0)
        return status;
    alk__identity_name(full.owner, scheduler->owner, sizeof(scheduler->owner));
    alk__upkeep_init(&scheduler->upkeep, scheduler->owner, &scheduler->reporter);
    return alk__specs_new(ALK__SPECS_MAX, &scheduler->specs, error);
}

void alk__scheduler_free(struct alk__scheduler *scheduler) {
    if (scheduler->conn != NULL)
        alk__conn_set_call_limit(scheduler->conn, 0);
    alk_conn_put(scheduler->conn);
    alk__specs_free(scheduler->specs);
    *scheduler = (struct alk__scheduler){0};
}

/* Waits for nothing but the stop. */
static void wait_stop(const alk_stop *stop, int64_t wait_us) {
    struct pollfd fd = {.fd = alk_stop_fd(stop), .events = POLLIN};
    int64_t end_us = alk__add_us(alk__monotonic_us(), wait_us);

    while (!alk_stop_is_set(stop) && wait_us > 0) {
        int64_t ms = (wait_us + ALK__MS - 1) / ALK__MS;
        (void)poll(&fd, 1, (int)(ms < 60000 ? ms : 60000));
        wait_us = end_us - alk__monotonic_us();
    }
}

static void wait_between(const struct alk__scheduler *scheduler, struct alk__wake *wake,
                         const alk_stop *stop, int64_t wait_us) {
    if (wait_us <= 0)
        return;
    if (wake == NULL || !scheduler->may_wake) {
        wait_stop(stop, wait_us);
        return;
    }
    if (alk__wake_wait(wake, stop, -1, wait_us) != ALK__WAKE_CALLED)
        return;
    wait_stop(stop, scheduler->is_leader ? LOOK_GAP_US
                                         : alk__random_between(alk__store_random(scheduler->store),
                                                               0, BID_DELAY_US));
}

/* Until stop, or once until nothing is due. */
static alk_status loop(struct alk__scheduler *scheduler, struct alk__wake *wake,
                       const alk_stop *stop, alk_error *error) {
    while (!alk_stop_is_set(stop)) {
        int64_t wait_us;
        alk_status status = alk__scheduler_step(scheduler, &wait_us, error);
        if (status != ALK_OK)
            return status;
        if (scheduler->options.is_once && scheduler->is_idle)
            return ALK_OK;
        wait_between(scheduler, wake, stop, wait_us);
    }
    return ALK_OK;
}

alk_status alk_scheduler_run(alk_store *store, const alk_scheduler_options *options, alk_stop *stop,
                             alk_error *error) {
    struct alk__scheduler scheduler;
    struct alk__wake *wake = NULL;
    alk_error own = ALK_ERROR_INIT;

    alk_status status = alk__scheduler_init(&scheduler, store, options, &own);
    if (status >= 0 && !scheduler.options.is_once)
        status = alk__wake_new(store, &wake, &own);
    if (status >= 0)
        status = loop(&scheduler, wake, stop, &own);
    if (status >= 0)
        alk__scheduler_release(&scheduler);
    alk__wake_free(wake);
    alk__scheduler_free(&scheduler);
    if (status < 0)
        alk__wrap(&own, status, "run scheduler");
    if (status != ALK_OK && error != NULL)
        *error = own;
    return status;
}
