/* core/plan.h: what a tick does about one schedule, worked out from its row alone: which boundaries
 * fire, which are missed, what comes next, or why the row is put aside. Reads no clock and no
 * database. */
#ifndef ALK_CORE_PLAN_H
#define ALK_CORE_PLAN_H

#include "core/policy.h"
#include "core/specs.h"

/* Rows written by a newer version of the library have a higher number; they are left alone. */
#define ALK__SPEC_VERSION 1

/* A boundary that fires, unless the tick finds that it may not: because of overlap, or because
 * max_fires was reached before it. */
struct alk__fire {
    int64_t at_us;
    int64_t run_at_us;   /* at_us and jitter (S109) */
    int64_t previous_us; /* the boundary that fired before it, ALK_NO_TIME = none */
    bool is_catchup;
    /* Set by the tick: */
    int64_t job_id;  /* 0 = it did not fire now */
    bool has_fired;  /* before */
    bool is_skipped; /* an earlier job is unfinished (S122) */
    bool is_beyond;  /* there were max_fires before it (S121) */
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
    int64_t fires_left;      /* until max_fires; INT64_MAX = no limit */
    bool is_used_up;         /* set by the tick: they are none any more */
    alk_overlap overlap;
};

/* Compiles what the row, which is to be readable, says about its boundaries. ALK_OK; ALK_INVALID;
 * ALK_NOMEM. ret_policy may be NULL. */
alk_status alk__plan_compile(struct alk__specs *specs, const struct alk__row_schedule *row,
                             const struct alk__when **ret_when, struct alk__policy *ret_policy,
                             alk_error *error);

/* The first boundary later than after_us in not_before <= b < not_after (S121). false: none. */
bool alk__plan_next(const struct alk__when *when, int64_t anchor_us, int64_t not_before_us,
                    int64_t not_after_us, int64_t after_us, int64_t *ret_next_us);

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
