/* loops/upkeep.c: maintenance: one step of it as every loop offers it, and the loop that does
 * nothing else. Stands on core/maintain.h. */
#include "loops/upkeep.h"
#include "base/backoff.h"
#include "base/error.h"
#include "core/maintain.h"
#include "loops/identity.h"
#include "store/run.h"
#include <alkstore/admin.h>

#define UPKEEP_PERIOD_US ALK__SECOND
#define UPKEEP_FAILED_MAX_US (60 * ALK__SECOND)
#define RETRY_MAX 3
#define UPKEEP_CALL_LIMIT_US (30 * ALK__SECOND)

void alk__upkeep_init(struct alk__upkeep *upkeep, const char *owner,
                      const struct alk__reporter *reporter) {
    *upkeep = (struct alk__upkeep){
        .owner = owner, .reporter = {reporter->report, reporter->context, "maintenance"}};
}

static void report_ids(const struct alk__upkeep *upkeep, const char *name, const int64_t *ids,
                       size_t count) {
    for (size_t n = 0; n < count && n < ALK__MAINTAIN_IDS_MAX; n++) {
        alk_event event = alk__event(ALK_LEVEL_WARNING, name);
        event.job_id = ids[n];
        alk__report(&upkeep->reporter, &event);
    }
}

static void report_result(const struct alk__upkeep *upkeep,
                          const struct alk__maintain_result *result) {
    for (size_t n = 0; n < result->step_count; n++) {
        if (result->steps[n].touched == 0)
            continue;
        alk_event event = alk__event(ALK_LEVEL_DEBUG, "maintenance step done");
        event.detail = result->steps[n].name;
        event.count = result->steps[n].touched;
        alk__report(&upkeep->reporter, &event);
    }
    report_ids(upkeep, "job unreadable, moved to dead", result->unreadable_ids,
               result->unreadable_count);
    report_ids(upkeep, "job refused by the database, left", result->refused_ids,
               result->refused_count);
}

/* Reports a failure; the next look waits longer with each. */
static void put_off(struct alk__upkeep *upkeep, alk_store *store, const alk_error *error) {
    alk_event event = alk__event(ALK_LEVEL_WARNING, "maintenance failed");
    upkeep->failures++;
    upkeep->due_us =
        alk__monotonic_us() + alk__backoff_us(UPKEEP_PERIOD_US, UPKEEP_FAILED_MAX_US,
                                              upkeep->failures, alk__store_random(store));
    event.error = error;
    event.count = upkeep->failures;
    alk__report(&upkeep->reporter, &event);
}

alk_status alk__upkeep_offer(alk_conn *conn, struct alk__upkeep *upkeep, alk_error *error) {
    struct alk__maintain_result result = {0};
    alk_error own = ALK_ERROR_INIT;
    if (alk__monotonic_us() < upkeep->due_us)
        return ALK_EMPTY;
    alk_status status = alk__maintain_step(conn, upkeep->owner, &result, &own);
    upkeep->has_more = status >= 0 && result.has_more;
    if (status < 0) {
        put_off(upkeep, alk__conn_store(conn), &own);
        if (error)
            *error = own;
        return status;
    }
    upkeep->failures = 0;
    upkeep->due_us = alk__monotonic_us() + (upkeep->has_more ? 0 : UPKEEP_PERIOD_US);
    report_result(upkeep, &result);
    return result.touched > 0 ? ALK_OK : ALK_EMPTY;
}

/* ---- the loop alone ---- */

struct loop {
    alk_store *store;
    alk_conn *conn; /* NULL while there is none */
    struct alk__wake *wake;
    struct alk__upkeep upkeep;
};

static alk_status ensure_connection(struct loop *loop, alk_error *error) {
    alk_status status = alk__conn_keep(loop->store, &loop->conn, error);
    if (status >= 0)
        alk__conn_set_call_limit(loop->conn, UPKEEP_CALL_LIMIT_US);
    return status;
}

/* Until one look finds nothing to do. */
static alk_status run_once(struct loop *loop, const alk_stop *stop, alk_error *error) {
    alk_status status = ensure_connection(loop, error);
    while (status == ALK_OK && !alk_stop_is_set(stop)) {
        loop->upkeep.due_us = 0;
        status = alk__upkeep_offer(loop->conn, &loop->upkeep, error);
    }
    return status;
}

/* A passing failure is tried again, as often in a row as any loop does (S164). */
static alk_status run_until_stopped(struct loop *loop, const alk_stop *stop, alk_error *error) {
    while (!alk_stop_is_set(stop)) {
        alk_error own = ALK_ERROR_INIT;
        alk_status status = ensure_connection(loop, &own);
        if (status < 0)
            put_off(&loop->upkeep, loop->store, &own);
        else
            status = alk__upkeep_offer(loop->conn, &loop->upkeep, &own);
        bool is_passing = own.error_class == ALK_CLASS_TRANSIENT;
        if (status < 0 && (!is_passing || loop->upkeep.failures > RETRY_MAX)) {
            if (error)
                *error = own;
            return status;
        }
        (void)alk__wake_wait(loop->wake, stop, -1, loop->upkeep.due_us - alk__monotonic_us());
    }
    return ALK_OK;
}

alk_status alk_maintenance_run(alk_store *store, const alk_maintenance_options *options,
                               alk_stop *stop, alk_error *error) {
    static const alk_maintenance_options defaults = ALK_MAINTENANCE_OPTIONS_INIT;
    const alk_maintenance_options *chosen = options ? options : &defaults;
    struct alk__reporter reporter = {chosen->event, chosen->event_context, "maintenance"};
    struct loop loop = {.store = store};
    char owner[ALK_NAME_BYTES];

    alk__identity_name(NULL, owner, sizeof owner);
    alk__upkeep_init(&loop.upkeep, owner, &reporter);
    alk_status status = alk__wake_new(store, &loop.wake, error);
    if (status >= 0)
        status =
            chosen->is_once ? run_once(&loop, stop, error) : run_until_stopped(&loop, stop, error);
    alk_conn_put(loop.conn);
    alk__wake_free(loop.wake);
    return status < 0 ? alk__wrap(error, status, "run maintenance") : ALK_OK;
}
