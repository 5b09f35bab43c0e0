/* core/settle_lists.h: settlements laid out as the parameters of the three settling statements; for
 * settle.c. */
#ifndef ALK_CORE_SETTLE_LISTS_H
#define ALK_CORE_SETTLE_LISTS_H

#include "core/asked.h"
#include "core/job.h"

/* What becomes of a job by its outcome: a row of the table in settle_lists.c. */
struct alk__fate {
    int outcome;     /* alk_outcome or enum alk__verdict */
    bool is_done;    /* it ends as done */
    bool may_cancel; /* it ends as cancelled where that was asked for (S55) */
    bool
        is_back; /* it goes back to its queue: always, or where it failed while attempts are left */
    const char *reason; /* it ends as dead, for this reason; with is_back only when none are left */
    bool has_error;     /* the error text is kept (S52) */
    int64_t refund;     /* taken off attempt: it did not run (S48, S75) */
};

/* NULL for what is no outcome. */
const struct alk__fate *alk__fate_of(int outcome);

/* One settlement, in the order in which rows are locked. */
struct alk__entry {
    int64_t id;
    int64_t stamp;
    struct alk__text worker;
    const struct alk__fate *fate;
    int64_t delay_us; /* ALK_NO_TIME: back-off, until alk__entries_delay has worked it out */
    struct alk__text error;
    struct alk__text result;
};

/* Sorts settlements into asked and entries, side by side; error texts are cut and mended in arena.
 */
alk_status alk__entries_fill(struct alk__arena *arena, const alk_settlement *settlements,
                             size_t count, struct alk__asked *asked, struct alk__entry *entries,
                             alk_error *error);

/* Works out the back-off of the failed jobs that have no delay of their own, from what the database
 * knows of their attempts and their queues (S71). */
alk_status alk__entries_delay(alk_conn *conn, struct alk__entry *entries, size_t count,
                              alk_error *error);

#define ALK__DONE_VALUES 6
#define ALK__BACK_VALUES 6
#define ALK__DEAD_VALUES 7

/* The parameters; texts are borrowed from the entries. */
struct alk__lists {
    struct alk__arena arena;
    size_t done_count;
    size_t back_count;
    size_t dead_count;
    struct alk__value done[ALK__DONE_VALUES];
    struct alk__value back[ALK__BACK_VALUES];
    struct alk__value dead[ALK__DEAD_VALUES];
};

alk_status alk__lists_make(struct alk__lists *lists, const struct alk__entry *entries, size_t count,
                           alk_error *error);
void alk__lists_free(struct alk__lists *lists);

#endif
