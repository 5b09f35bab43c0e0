/* when/catchup.h: which due boundaries of a schedule are fired now, which are counted as missed,
 * and what comes next (schedules.md, part 5; S128, S129, S131). And jitter (part 10). Pure. */
#ifndef ALK_WHEN_CATCHUP_H
#define ALK_WHEN_CATCHUP_H

#include "when/when.h"

#define ALK__CATCHUP_MAX 1000 /* the most that catchup_max may be */
#define ALK__CATCHUP_MAX_DEFAULT 64
#define ALK__CATCHUP_GRACE_DEFAULT_S 60
#define ALK__CATCHUP_COUNT_MAX 10000 /* missed boundaries of cron are counted up to here */

enum alk__catchup_policy { ALK__CATCHUP_LAST, ALK__CATCHUP_SKIP, ALK__CATCHUP_ALL };

/* max counts late and missed ones together, whatever the policy (S129). */
struct alk__catchup_options {
    enum alk__catchup_policy policy;
    int max;                /* the most that fire, the newest; 0..ALK__CATCHUP_MAX */
    int64_t grace_s;        /* a boundary at most this old is late, an older one missed */
    int64_t window_s;       /* ALL: missed ones fire only when younger than this; 0 no limit */
    int64_t max_lateness_s; /* missed ones older than this never fire; 0 no limit */
    int64_t not_before_s;   /* earlier times are no boundaries; ALK_NO_TIME none */
    int64_t not_after_s;    /* this and later times are none; ALK_NO_TIME none */
};

#define ALK__CATCHUP_OPTIONS_INIT                                                                  \
    {                                                                                              \
        .max = ALK__CATCHUP_MAX_DEFAULT, .grace_s = ALK__CATCHUP_GRACE_DEFAULT_S,                  \
        .not_before_s = ALK_NO_TIME, .not_after_s = ALK_NO_TIME                                    \
    }

/* The boundaries that are due are a row in time: those that were missed and stay so, then those
 * that fire. */
struct alk__catchup_result {
    int64_t *fire_s;         /* the caller's array of options.max; in order of time */
    size_t fire_count;       /* how many of it were written */
    size_t late_count;       /* so many of them, the newest, are late; the others are catch-up */
    int64_t missed_count;    /* boundaries that are dropped */
    bool missed_is_at_least; /* counting ended at ALK__CATCHUP_COUNT_MAX: there may be more */
    int64_t first_missed_s;  /* ALK_NO_TIME when none was missed */
    int64_t last_missed_s;
    bool has_next;  /* false: there will never be another boundary */
    int64_t next_s; /* the first one after now_s and last_fire_s; only with has_next */
};

/* Decides about every boundary from next_fire_s (which need not be one) to now_s.
 *
 * last_fire_s  boundaries up to it have fired and are not touched, ALK_NO_TIME if none has
 * result       fire_s and its memory are the caller's; everything else is written
 *
 * Work is bounded: by max for @every even after years (S129), by max and ALK__CATCHUP_COUNT_MAX for
 * cron. */
void alk__catchup(const struct alk__when *when, int64_t anchor_s, int64_t next_fire_s,
                  int64_t last_fire_s, int64_t now_s, const struct alk__catchup_options *options,
                  struct alk__catchup_result *result);

/* How long after its boundary the job of a schedule with jitter runs: the same for the same
 * (schedule_id, fire_s), below jitter_us and below the gap to the next boundary (S109).
 *
 * next_s  the boundary after fire_s, ALK_NO_TIME if there is none */
int64_t alk__jitter_us(int64_t schedule_id, int64_t fire_s, int64_t jitter_us, int64_t next_s);

#endif
