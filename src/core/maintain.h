/* core/maintain.h: one bounded step of maintenance (S209). The loops decide how often. */
#ifndef ALK_CORE_MAINTAIN_H
#define ALK_CORE_MAINTAIN_H

#include <alkstore/store.h>

#define ALK__MAINTAIN_STEPS_MAX 12
#define ALK__MAINTAIN_IDS_MAX 20

/* What a step did. */
struct alk__maintain_result {
    bool is_held;    /* there was something to do, and somebody else has the lease */
    bool has_more;   /* a batch was filled: call again at once */
    int64_t touched; /* rows moved or deleted */
    size_t step_count;
    struct {
        const char *name; /* "expired", "exhausted", "done", "dead", "ledger", "lanes", "waiters" */
        int64_t touched;
    } steps[ALK__MAINTAIN_STEPS_MAX];
    size_t unreadable_count; /* jobs that could not be read and are dead now; the first of them by
                                id (S9) */
    int64_t unreadable_ids[ALK__MAINTAIN_IDS_MAX];
    size_t
        refused_count; /* rows that the database would not let go; they do not hold up the others */
    int64_t refused_ids[ALK__MAINTAIN_IDS_MAX];
};

/* Looks what there is to do; where there is something, takes the lease "maintenance" under owner
 * (1-200 bytes), does one bounded batch of each step that has work, and gives the lease back.
 * Without work nothing is written. Not inside a transaction. Returns ALK_OK, also when somebody
 * else holds the lease; < 0 on failure. */
alk_status alk__maintain_step(alk_conn *conn, const char *owner,
                              struct alk__maintain_result *ret_result, alk_error *error);

#endif
