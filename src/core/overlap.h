/* core/overlap.h: what becomes of a fire while an earlier job of its schedule is unfinished (S122,
 * schedules.md, part 6). Read inside the transaction that fires, which holds the schedule's row. */
#ifndef ALK_CORE_OVERLAP_H
#define ALK_CORE_OVERLAP_H

#include "core/plan.h"

/* Says of each fire of the plans that has not fired whether it is skipped, or lies beyond
 * max_fires, and cancels the jobs that newer fires replace.
 *
 * ret_replaced  those jobs, struct alk__row_replaced; start with {0}, free with alk__rows_free */
alk_status alk__overlap_judge(alk_conn *conn, struct alk__arena *arena, struct alk__plan **plans,
                              size_t count, struct alk__rows *ret_replaced, alk_error *error);

/* Whether a run that is asked for by hand may be: ALK_OK, ALK_HELD. It replaces nothing. */
alk_status alk__overlap_ask(alk_conn *conn, int64_t schedule_id, alk_overlap overlap,
                            alk_error *error);

#endif
