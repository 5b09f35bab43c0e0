/* core/overlap.c: which fires an unfinished job keeps from firing. */
#include "core/overlap.h"

#include "base/arena.h"
#include "base/error.h"
#include "store/run.h"

static bool is_blocked(alk_overlap overlap, bool is_waiting, bool is_started) {
    return (overlap == ALK_OVERLAP_SKIP && (is_waiting || is_started)) ||
           (overlap == ALK_OVERLAP_BUFFER_ONE && is_waiting);
}

static size_t newest_of(const struct alk__plan *plan) {
    size_t newest = plan->fire_count;

    for (size_t i = 0; i < plan->fire_count; i++) {
        if (!plan->fires[i].has_fired)
            newest = i;
    }
    return newest;
}

/* In order of time, as if each boundary had been met at its time: what fires waits for the others.
 */
static void judge(struct alk__plan *plan, bool is_waiting, bool is_started) {
    bool is_replacing = plan->overlap == ALK_OVERLAP_REPLACE_PENDING;
    size_t newest = newest_of(plan);
    int64_t previous_us = plan->row->last_fire_at;
    int64_t left = plan->fires_left;

    for (size_t i = 0; i < plan->fire_count; i++) {
        struct alk__fire *fire = &plan->fires[i];
        fire->is_beyond = !fire->has_fired && left == 0;
        fire->is_skipped =
            !fire->has_fired && !fire->is_beyond &&
            (is_replacing ? i != newest : is_blocked(plan->overlap, is_waiting, is_started));
        if (fire->is_beyond || fire->is_skipped)
            continue;
        fire->previous_us = previous_us;
        previous_us = fire->at_us;
        if (fire->has_fired)
            continue;
        is_waiting = true;
        left -= left != INT64_MAX;
    }
    plan->is_used_up = left == 0;
}

static struct alk__plan *find(struct alk__plan **plans, size_t count, int64_t id) {
    for (size_t i = 0; i < count; i++) {
        if (plans[i]->row->id == id)
            return plans[i];
    }
    return NULL;
}

static bool has_news(const struct alk__plan *plan) {
    return newest_of(plan) < plan->fire_count;
}

/* Of those plans that some unfinished job may matter to. */
static alk_status judge_overlapping(alk_conn *conn, struct alk__plan **plans, size_t count,
                                    const int64_t *ids, alk_error *error) {
    struct alk__rows rows = {0};

    alk_status status = alk__do(conn, ALK__TICK_UNFINISHED, &rows, error, ALK__IS(ids, count));
    for (size_t i = 0; status >= 0 && i < rows.count; i++) {
        const struct alk__row_unfinished *row = ALK__ROW(&rows, alk__row_unfinished, i);
        struct alk__plan *plan = find(plans + i, count - i, row->schedule_id);
        if (plan == NULL)
            plan = find(plans, count, row->schedule_id);
        if (plan != NULL)
            judge(plan, row->is_waiting != 0, row->is_started != 0);
    }
    alk__rows_free(&rows);
    return status;
}

alk_status alk__overlap_judge(alk_conn *conn, struct alk__arena *arena, struct alk__plan **plans,
                              size_t count, struct alk__rows *ret_replaced, alk_error *error) {
    struct alk__plan **asking = alk__arena_alloc(arena, count * sizeof(struct alk__plan *));
    int64_t *ids = alk__arena_alloc(arena, 2 * count * sizeof(*ids));
    int64_t *replacing = ids != NULL ? ids + count : NULL;
    size_t ask_count = 0;
    size_t replace_count = 0;

    if (asking == NULL || ids == NULL)
        return alk__nomem(error);
    for (size_t i = 0; i < count; i++) {
        struct alk__plan *plan = plans[i];
        judge(plan, false, false);
        if (!has_news(plan))
            continue;
        if (plan->overlap == ALK_OVERLAP_REPLACE_PENDING && plan->fires_left > 0)
            replacing[replace_count++] = plan->row->id;
        if (plan->overlap == ALK_OVERLAP_SKIP || plan->overlap == ALK_OVERLAP_BUFFER_ONE) {
            ids[ask_count] = plan->row->id;
            asking[ask_count++] = plan;
        }
    }
    alk_status status = judge_overlapping(conn, asking, ask_count, ids, error);
    if (status >= 0)
        status = alk__do(conn, ALK__TICK_SUPERSEDE, ret_replaced, error,
                         ALK__IS(replacing, replace_count));
    return status;
}

alk_status alk__overlap_ask(alk_conn *conn, int64_t schedule_id, alk_overlap overlap,
                            alk_error *error) {
    struct alk__rows rows = {0};

    alk_status status = alk__do(conn, ALK__TICK_UNFINISHED, &rows, error, ALK__IS(&schedule_id, 1));
    if (status >= 0 && rows.count > 0) {
        const struct alk__row_unfinished *row = ALK__ROW(&rows, alk__row_unfinished, 0);
        status =
            is_blocked(overlap, row->is_waiting != 0, row->is_started != 0) ? ALK_HELD : ALK_OK;
    }
    alk__rows_free(&rows);
    return status;
}
