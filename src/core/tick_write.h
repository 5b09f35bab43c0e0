/* core/tick_write.h: what a tick writes of its plans: jobs, ledger, new times. */
#ifndef ALK_CORE_TICK_WRITE_H
#define ALK_CORE_TICK_WRITE_H

#include "core/plan.h"
#include <alkstore/lease.h>

struct alk__tick_writer {
    alk_conn *conn;
    struct alk__arena *arena;
    const alk_lease *lease;
    int64_t now_us; /* of the tick */
};

/* Writes everything that the plans say, none of which is bad, in the open transaction. ALK_OK; < 0
 * with phase and, of a single plan, subject set; ALK_DATA and ALK_INVALID may be the fault of one
 * of the schedules. After a failure the transaction, or the savepoint, is to be rolled back. */
alk_status alk__tick_write(const struct alk__tick_writer *writer, struct alk__plan **plans,
                           size_t count, alk_error *error);

/* Names the phase of a tick, and the schedule where there is one to name, in field and message
 * (S165, S167). Returns status. */
alk_status alk__tick_at(alk_error *error, alk_status status, alk_phase phase, const char *name);

/* What a handler may want to know of the fire, as the headers of its job (schedules.md, part 10).
 * bytes NULL: no memory. */
struct alk__text alk__fire_headers(struct alk__arena *arena, const struct alk__row_schedule *row,
                                   const struct alk__fire *fire);

#endif
