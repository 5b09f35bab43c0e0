/* support/leaders.h: what the tests of the scheduler's loop share: one that is stepped by hand. */
#ifndef ALK_TEST_SUPPORT_LEADERS_H
#define ALK_TEST_SUPPORT_LEADERS_H

#include "loops/scheduler.h"
#include "support/fault.h"
#include "support/schedules.h"

#define LEADER_TTL_US (10 * ALK__SECOND)

struct leader {
    struct alk__scheduler scheduler;
    struct record *record;
    int64_t wait_us; /* of the last step */
};

/* Makes a scheduler of that owner and lease that has not bid yet. */
void leader_new(struct scene *scene, struct leader *leader, const char *lease, const char *owner);
void leader_free(struct leader *leader);

alk_status leader_step(struct scene *scene, struct leader *leader);

/* Steps until there is something to wait for; each step must work. */
void leader_settle(struct scene *scene, struct leader *leader);

/* As if so much time had passed since the lease was last renewed, by the process's own clock. */
void leader_age(struct leader *leader, int64_t span_us);

#endif
