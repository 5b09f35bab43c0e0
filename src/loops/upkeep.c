/* loops/upkeep.c: maintenance: one step of it as every loop offers it, and the loop that does nothing else. Stands on core/maintain.h. */
#include "loops/upkeep.h"
#include "base/backoff.h"
#include "core/maintain.h"
#include "loops/identity.h"
#include "store/run.h"
#include <alkstore/admin.h>

#define UPKEEP_PERIOD_US ALK__SECOND
#define UPKEEP_FAILED_MAX_US (60 * ALK__SECOND)
#define UPKEEP_CALL_LIMIT_US (30 * ALK__SECOND)

void alk__upkeep_init(struct alk__upkeep *upkeep, const char *owner,
                      const struct alk__reporter *reporter) {
    *upkeep = (struct alk__upkeep){.owner = owner, .reporter = reporter};
}

static void report_ids(const struct alk__upkeep *upkeep, const char *name, const int64_t *ids,
                       size_t count) {
    for (size_t n = 0; n < count && n < ALK__MAINTAIN_IDS_MAX; n++) {
        alk_event event = alk__event(ALK_LEVEL_WARNING, name);
        event.job_id = ids[n];
        alk__report(upkeep->reporter, &event);
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
        alk__report(upkeep->reporter, &event);
    }
    report_ids(upkeep, "job unreadable, moved to dead", result->unreadable_ids,
               result->unreadable_count);
    report_ids(upkeep, "job refused by the database, left", result->refused_ids,
               result->refused_count);
}

static void report_failure(const struct alk__upkeep *upkeep, const alk_error *error) {
    alk_event event = alk__event(ALK_LEVEL_WARNING, "maintenance failed, trying again");
    event.error = error;
    event.count = upkeep->failures;
    alk__report(upkeep->reporter, &event);
}

alk_status alk__upkeep_offer(alk_conn *conn, struct alk__upkeep *upkeep, alk_error *error) {
    struct alk__maintain_result result = {0};
    alk_error own = ALK_ERROR_INIT;
    if (alk__monotonic_us() < upkeep->due_us)
        return ALK_EMPTY;
    alk_status status = alk__maintain_step(conn, upkeep->owner, &result, &own);
    int64_t now_us = alk__monotonic_us();
    if (status < 0) {
        upkeep->failures++;
        upkeep->due_us =
            now_us + alk__backoff_us(UPKEEP_PERIOD_US, UPKEEP_FAILED_MAX_US, upkeep->failures,
                                     alk__store_random(alk__conn_store(conn)));
        report_failure(upkeep, &own);
        if (error)
            *error = own;
        return status;
    }
    upkeep->failures = 0;
    upkeep->due_us = result.has_more ? now_us : now_us + UPKEEP_PERIOD_US;
    report_result(upkeep, &result);
    return result.touched > 0 ? ALK_OK : ALK_EMPTY;
}

static alk_status run_until_stopped(alk_conn *conn, struct alk__upkeep *upkeep,
                                    struct alk__wake *wake, bool is_once, const alk_stop *stop,
                                    alk_error *error) {
    while (!alk_stop_is_set(stop)) {
        alk_status status = alk__upkeep_offer(conn, upkeep, error);
        if (status < 0)
            return status;
        if (is_once && status == ALK_EMPTY)
            return ALK_OK;
        int64_t wait_us = upkeep->due_us - alk__monotonic_us();
        if (wait_us > 0 &&
            alk__wake_wait(wake, stop, -1, is_once ? 0 : wait_us) == ALK__WAKE_STOPPED)
            break;
        if (is_once)
            upkeep->due_us = 0;
    }
    return ALK_OK;
}

alk_status alk_maintenance_run(alk_store *store, const alk_maintenance_options *options,
                               alk_stop *stop, alk_error *error) {
    static const alk_maintenance_options defaults = ALK_MAINTENANCE_OPTIONS_INIT;
    const alk_maintenance_options *chosen = options ? options : &defaults;
    struct alk__reporter reporter = {chosen->event, chosen->event_context, "maintenance"};
    struct alk__upkeep upkeep;
    struct alk__wake *wake = NULL;
    alk_conn *conn = NULL;
    char owner[ALK_NAME_BYTES];

    alk__identity_name(NULL, owner, sizeof owner);
    alk__upkeep_init(&upkeep, owner, &reporter);
    alk_status status = alk__wake_new(store, &wake, error);
    if (status >= 0)
        status = alk_conn_get(store, &conn, error);
    if (status >= 0) {
        alk__conn_set_call_limit(conn, UPKEEP_CALL_LIMIT_US);
        status = run_until_stopped(conn, &upkeep, wake, chosen->is_once, stop, error);
    }
    alk_conn_put(conn);
    alk__wake_free(wake);
    return status;
}
