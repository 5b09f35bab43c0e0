/* core/asked.h: calls about many claims at once, each of which gets its answer: settle, extend. */
#ifndef ALK_CORE_ASKED_H
#define ALK_CORE_ASKED_H

#include "store/run.h"
#include <alkstore/job.h>

/* One claim that a call is about. */
struct alk__asked {
    int64_t id;
    int64_t stamp;
    const char *worker;
    size_t place; /* in the caller's array */
    bool is_answered;
};

/* Finds the claim that an answer is for in asked, sorted by (id, stamp), that has none yet. */
struct alk__asked *alk__asked_find(struct alk__asked *asked, size_t count, int64_t id,
                                   int64_t stamp);

/* Rows lock in the order of their ids, everywhere: sorted so. */
void alk__asked_sort(struct alk__asked *asked, size_t count);

/* What a statement brought back (alk__row_settled) becomes answers. */
void alk__asked_mark(struct alk__asked *asked, size_t count, const struct alk__rows *rows,
                     alk_settle_answer *answers);

/* Asks the database about those that have no answer yet: lapsed, lost or locked (S51). When the
 * asking itself fails and is_over (what was settled is committed), they are told to try again:
 * nothing changed for them. */
alk_status alk__asked_why(alk_conn *conn, struct alk__asked *asked, size_t count, bool is_over,
                          alk_settle_answer *answers, alk_error *error);

#endif
