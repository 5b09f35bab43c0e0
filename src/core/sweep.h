/* core/sweep.h: goes over all schedules, in batches by id, and gives those that need it another
 * next fire: after the database's clock went back, after zone files changed, and to forget what was
 * missed (schedules.md, parts 3 and 9; S137). */
#ifndef ALK_CORE_SWEEP_H
#define ALK_CORE_SWEEP_H

#include "core/specs.h"
#include <alkstore/lease.h>

enum alk__sweep_kind {
    ALK__SWEEP_FORGET, /* what was due up to until_us is a missed line, and does not fire */
    ALK__SWEEP_REARM,  /* what is due later than its first boundary after now is due then */
    ALK__SWEEP_ZONES,  /* what was worked out with another zone file is worked out anew */
    ALK__SWEEP_KINDS
};

struct alk__sweep {
    enum alk__sweep_kind kind;
    int64_t until_us;   /* FORGET */
    int64_t after_id;   /* how far it is; 0 at first */
    int limit;          /* schedules of the next batch; 0 = as many as may be */
    size_t changed;     /* schedules */
    bool is_over;       /* there was nothing behind the last batch */
    bool is_incomplete; /* some were in somebody's hands: to be done again */
};

/* Does one batch in a transaction of its own. Schedules that cannot be read are left to the tick. A
 * batch whose data the database refuses is done again by halves, and the culprit passed over: it
 * keeps the others from nothing (S144).
 *
 * lease  whose, for the ledger */
alk_status alk__sweep_step(alk_conn *conn, struct alk__sweep *sweep, struct alk__specs *specs,
                           const alk_lease *lease, alk_error *error);

#endif
