/* loops/upkeep.h: maintenance as every loop offers it (S209): one bounded step at a time, at most
 * once a second unless there is more. */
#ifndef ALK_LOOPS_UPKEEP_H
#define ALK_LOOPS_UPKEEP_H

#include "base/event.h"
#include <alkstore/store.h>

struct alk__upkeep {
    const char *owner;
    struct alk__reporter reporter;
    int64_t due_us; /* monotonic: when to look next */
    bool has_more;  /* the last step filled a batch: it is due at once */
    int64_t failures;
};

void alk__upkeep_init(struct alk__upkeep *upkeep, const char *owner,
                      const struct alk__reporter *reporter);

/* Does a step if it is time, and reports what it did. A failure is reported, put off with back-off
 * and returned; whoever runs another loop may go on as if nothing had happened, unless the
 * connection is broken. ALK_EMPTY when there was nothing to do or it is not time. */
alk_status alk__upkeep_offer(alk_conn *conn, struct alk__upkeep *upkeep, alk_error *error);

#endif
