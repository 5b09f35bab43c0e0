/* loops/scheduler.h: the loop that fires schedules, as a step that returns when to come back.
 * scheduler.c runs it; tests step it with a fake clock and a failing database. */
#ifndef ALK_LOOPS_SCHEDULER_H
#define ALK_LOOPS_SCHEDULER_H

#include "base/clock.h"
#include "base/event.h"
#include "core/sweep.h"
#include "loops/upkeep.h"
#include <alkstore/schedule.h>

/* A transient failure of a tick is tried again so often, after waits that double (S164). */
#define ALK__TICK_RETRIES 3
#define ALK__TICK_RETRY_US (100 * ALK__MS)

/* The lease is renewed at least every third of its TTL (S150, S158), trusted until a second before
 * it would be over (S159), and no call may take longer than a fifth of it (S170). */
#define ALK__LEASE_RENEW_PARTS 3
#define ALK__LEASE_CALL_PARTS 5
#define ALK__LEASE_MARGIN_US ALK__SECOND

_Static_assert(((1 << ALK__TICK_RETRIES) - 1) * ALK__TICK_RETRY_US < ALK_SCHEDULER_TTL_MIN_US / 2,
               "the waits between retries fit into half of the shortest TTL (S170)");
_Static_assert(ALK__LEASE_RENEW_PARTS >= 3, "a lease is renewed every third of its TTL (S158)");
_Static_assert(ALK_SCHEDULER_TTL_MIN_US / ALK__LEASE_RENEW_PARTS +
                       ALK_SCHEDULER_TTL_MIN_US / ALK__LEASE_CALL_PARTS <
                   ALK_SCHEDULER_TTL_MIN_US - ALK__LEASE_MARGIN_US,
               "a renewal that is in time and slow still counts");

struct alk__scheduler {
    alk_store *store;
    alk_scheduler_options options;
    char owner[ALK_NAME_BYTES];
    struct alk__reporter reporter;
    struct alk__specs *specs;
    struct alk__upkeep upkeep;
    alk_conn *conn; /* NULL: none yet, or the last one broke */

    alk_lease lease;
    bool is_leader;
    bool is_standing_by;      /* and has said so */
    int64_t renewed_us;       /* monotonic, before the last good renewal was sent */
    int64_t repaired_us;      /* monotonic, of the last look for bad times; 0: none yet (S145) */
    int64_t failures;         /* of ticks, in a row */
    int64_t renewal_failures; /* in a row */
    int64_t held_ticks;       /* in a row that found everything due in somebody's hands */

    struct alk__sweep sweep; /* the one that runs, where one of those wanted does */
    bool is_sweeping;
    bool wants[ALK__SWEEP_KINDS];
    int64_t sweep_at_us; /* monotonic: not before it, when one is to be done again */
    int64_t zones_at_us; /* monotonic: when zone files are looked at the next time */
    int64_t zones_asked; /* how often alk_scheduler_refresh_zones had been called then */
    int64_t started_us;  /* by the database's clock, what was due by then is to be forgotten */
    int64_t stepped_us;  /* by the database's clock, when it was seen to have gone back */

    /* What a step says beside the wait. */
    bool is_idle;  /* nothing is due that could be fired now */
    bool may_wake; /* a wake-up ends the wait; not that of a back-off */
};

/* A clock that is further back than this has been set back (schedules.md, part 9). */
#define ALK__CLOCK_STEP_US (2 * ALK__SECOND)

/* Zone files are compared so often. */
#define ALK__ZONES_PERIOD_US ALK__DAY

/* How often alk_scheduler_refresh_zones was called. */
int64_t alk__zones_asked(void);

/* Does a batch of the sweep that is wanted most, if one is (scheduler_sweep.c). */
alk_status alk__scheduler_sweep(struct alk__scheduler *scheduler, bool *ret_has_swept,
                                alk_error *error);

/* Wants what an election wants; what a clock that is behind_us back at now_us wants. */
void alk__scheduler_sweep_elected(struct alk__scheduler *scheduler);
void alk__scheduler_sweep_clock(struct alk__scheduler *scheduler, int64_t behind_us,
                                int64_t now_us);

/* Whether a batch can be done now. */
bool alk__scheduler_may_sweep(const struct alk__scheduler *scheduler);

/* Checks the options and takes them over; their texts must live as long as the scheduler. */
alk_status alk__scheduler_init(struct alk__scheduler *scheduler, alk_store *store,
                               const alk_scheduler_options *options, alk_error *error);

/* Gives the connection back; does not release the lease. */
void alk__scheduler_free(struct alk__scheduler *scheduler);

/* Bids for leadership, or leads: renews and fires at most one batch.
 *
 * ret_wait_us  how long nothing needs to be done, 0 = come back at once
 * error        not NULL
 * Returns ALK_OK, also after a failure that is to be tried again; ALK_HELD when another leads and
 * options say once; ALK_LOST; < 0 when the loop must end. */
alk_status alk__scheduler_step(struct alk__scheduler *scheduler, int64_t *ret_wait_us,
                               alk_error *error);

/* Gives the leadership back, if it is held, and wakes those who wait for it (S152). A failure is
 * reported: then it lapses. */
void alk__scheduler_release(struct alk__scheduler *scheduler);

#endif
