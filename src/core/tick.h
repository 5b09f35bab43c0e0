/* core/tick.h: one tick: everything that is due, up to a batch of schedules, in one transaction
 * (S125). */
#ifndef ALK_CORE_TICK_H
#define ALK_CORE_TICK_H

#include "base/event.h"
#include "core/specs.h"
#include <alkstore/lease.h>

/* A tick with so many fires takes no more schedules, so that no call of it takes long (S170): after
 * an outage each may have a thousand. Never fewer schedules than one. */
#define ALK__TICK_FIRES_MAX 5000

#define ALK__QUARANTINE_BASE_US (60 * INT64_C(1000000)) /* S142 */
#define ALK__QUARANTINE_CAP_US (3600 * INT64_C(1000000))

struct alk__tick_options {
    const alk_lease *lease; /* the fence that must hold at the COMMIT (S136) */
    struct alk__specs *specs;
    const struct alk__reporter *reporter;
    int batch; /* the most schedules */
};

struct alk__tick_result {
    size_t seen;    /* schedules; there may be more that are due */
    size_t resumed; /* whose pause is over; they may be due now */
    size_t fired;
    size_t quarantined;
};

/* Fires what is due. Not inside a transaction. What happened is reported once it is committed.
 *
 * Returns ALK_OK; ALK_LOST when the lease is not ours any more (S136); < 0 otherwise, phase and,
 * where it is known, subject saying what of it failed (S165, S167). On failure nothing was changed,
 * unless error->is_unknown. */
alk_status alk__tick(alk_conn *conn, const struct alk__tick_options *options,
                     struct alk__tick_result *ret_result, alk_error *error);

/* Finds schedules whose next_fire_at would never become due, and makes them due in quarantine
 * (S145). */
alk_status alk__tick_repair(alk_conn *conn, const struct alk__reporter *reporter, size_t *ret_count,
                            alk_error *error);

#endif
