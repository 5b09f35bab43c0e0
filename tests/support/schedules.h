/* support/schedules.h: what the tests of schedules, ticks and the scheduler share. */
#ifndef ALK_TEST_SUPPORT_SCHEDULES_H
#define ALK_TEST_SUPPORT_SCHEDULES_H

#include "base/clock.h"
#include "core/tick.h"
#include "support/test.h"

#define NEVER ALK_NO_TIME

/* ---- events ---- */

/* Keeps the events a loop reports, in order. Thread-safe. */
#define RECORD_MAX 4096
struct recorded {
    alk_level level;
    char name[64];
    char subject[ALK_NAME_BYTES];
    char owner[ALK_NAME_BYTES + 32];
    char detail[256];
    char message[ALK_ERROR_MESSAGE_BYTES]; /* of its error */
    int64_t count;
    int64_t fence;
    int64_t fire_at_us;
    int64_t last_fire_at_us;
};
struct record {
    _Atomic int count;
    struct recorded events[RECORD_MAX];
};
void record_event(const alk_event *event, void *record); /* an alk_event_fn */

/* How many there are of that name, and of that subject where it is not NULL. */
int record_count(const struct record *record, const char *name, const char *subject);

/* The last of that name; the test fails when there is none. */
const struct recorded *record_last(const struct record *record, const char *name);

/* ---- schedules ---- */

/* A schedule with a queue "work" and a payload of its name; the test fails where it is refused. */
void put(struct scene *scene, const char *name, const char *spec);

/* Makes it due: its next_fire_at is the boundary that lies so far back, as if nobody had ticked.
 * The spec is to be an "@every" whose period divides back_us. Boundaries are at whole periods
 * from there. */
void make_due(struct scene *scene, const char *name, int64_t back_us);

int64_t schedule_number(struct scene *scene, const char *name, const char *column);
int64_t ledger_count(struct scene *scene, const char *name, const char *outcome);
int64_t job_count(struct scene *scene, const char *name);
alk_schedule_state schedule_state(struct scene *scene, const char *name);

/* Takes away from the table of schedules what keeps wrong values out. */
void drop_guards(struct scene *scene);

/* ---- ticks ---- */

struct ticker {
    alk_lease lease;
    struct alk__specs *specs;
    struct record *record;
    struct alk__reporter reporter;
    struct alk__tick_options options;
    struct alk__tick_result result; /* of the last tick */
};

/* Takes a lease that lasts a year, for ticks without a loop. */
void ticker_start(struct scene *scene, struct ticker *ticker);
alk_status ticker_tick(struct scene *scene, struct ticker *ticker);
void ticker_end(struct ticker *ticker);

#endif
