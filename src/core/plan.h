/* core/plan.h: what a tick does about one schedule, worked out from its row alone: which boundaries
 * fire, which are missed, what comes next, or why the row is put aside. Reads no clock and no
 * database. */
#ifndef ALK_CORE_PLAN_H
#define ALK_CORE_PLAN_H

#include "core/specs.h"
#include "store/rows.h"

/* Rows written by a newer version of the library have a higher number; they are left alone. */
#define ALK__SPEC_VERSION 1

/* A boundary that fires. */
struct alk__fire {
    int64_t at_us;
    int64_t previous_us; /* the boundary that fired before it, ALK_NO_TIME = none */
    int64_t job_id;      /* set by the tick; 0 = it had fired before */
    bool is_catchup;
};

struct alk__plan {
    const struct alk__row_schedule *row;
    const char *name; /* for people, also of a row whose name cannot be read */
    const char *bad; /* why the row goes into quarantine; NULL = it does not, and the rest counts */
    struct alk__fire *fires; /* in order of time */
    size_t fire_count;
    int64_t missed_count;
    int64_t first_missed_us; /* ALK_NO_TIME: none was missed */
    int64_t last_missed_us;
    bool missed_is_at_least; /* there may be more than were counted */
    int64_t next_us;         /* ALK__NULL: there is no boundary any more, the schedule is done */
};

/* Plans for the time row->now. Texts and fires live in arena. ALK_OK, also for a bad row;
 * ALK_NOMEM, never the row's fault. */
alk_status alk__plan_row(struct alk__specs *specs, struct alk__arena *arena,
                         const struct alk__row_schedule *row, struct alk__plan *ret_plan,
                         alk_error *error);

/* Plans as after a pause: what was due since from_us is missed, nothing fires, and the next
 * boundary is the first after now_us (S117). Fills in all but row and name. Needs no memory. */
void alk__plan_skip(const struct alk__when *when, const struct alk__row_schedule *row,
                    int64_t from_us, int64_t now_us, struct alk__plan *plan);

/* The spec that counts: with H replaced as it was when the schedule was stored, unless the spec was
 * changed since by somebody else (schedules.md, part 2, rule 8). */
struct alk__text alk__plan_spec(const struct alk__row_schedule *row);

#endif
