/* core/schedule_read.c: schedules and their ledger as people see them. A row that cannot be read is
 * shown as such (S9). */
#include <alkstore/schedule.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/plan.h"
#include "store/run.h"

#define LIMIT_MAX 10000

const char *alk_schedule_state_text(alk_schedule_state state) {
    static const char *const texts[] = {
#define ALK_SCHEDULE_STATE_ITEM(name, text) [name] = text,
        ALK_SCHEDULE_STATE_MAP(ALK_SCHEDULE_STATE_ITEM)
#undef ALK_SCHEDULE_STATE_ITEM
    };

    return (size_t)state < sizeof(texts) / sizeof(texts[0]) ? texts[state] : "";
}

static alk_status check_limit(int limit, alk_error *error) {
    if (limit < 1 || limit > LIMIT_MAX)
        return alk__fail(error, ALK_INVALID, "limit %d is out of range 1-%d", limit, LIMIT_MAX);
    return ALK_OK;
}

static const char *text_of(struct alk__text text) {
    return text.bytes != NULL ? text.bytes : "";
}

static int64_t number_of(int64_t value) {
    return value == ALK__NULL ? 0 : value;
}

static alk_schedule_state state_of(const struct alk__row_schedule *row) {
    if (row->done_at != ALK__NULL)
        return ALK_SCHEDULE_DONE;
    if (row->paused_at != ALK__NULL)
        return ALK_SCHEDULE_PAUSED;
    return row->quarantined_at != ALK__NULL ? ALK_SCHEDULE_QUARANTINED : ALK_SCHEDULE_ACTIVE;
}

static const char *resolved_of(const struct alk__row_schedule *row) {
    struct alk__text text = alk__plan_spec(row);

    return text.bytes != NULL && text.bytes == row->spec_resolved.bytes ? text.bytes : "";
}

static alk_schedule_row schedule_of(const struct alk__row_schedule *row) {
    struct alk__policy policy = {0};

    (void)alk__policy_read(row, &policy, NULL);
    return (alk_schedule_row){.id = number_of(row->id),
                              .name = text_of(row->name),
                              .spec = text_of(row->spec),
                              .zone = text_of(row->zone),
                              .queue = text_of(row->queue),
                              .payload = text_of(row->payload),
                              .payload_length = row->payload.length,
                              .priority = (int)number_of(row->priority),
                              .max_attempts = number_of(row->max_attempts),
                              .expires_us = row->expires,
                              .catchup_max = number_of(row->catchup_max),
                              .state = state_of(row),
                              .next_fire_at_us = row->next_fire_at,
                              .last_fire_at_us = row->last_fire_at,
                              .created_at_us = row->created_at,
                              .anchor_at_us = row->anchor_at,
                              .paused_at_us = row->paused_at,
                              .quarantined_at_us = row->quarantined_at,
                              .quarantine_count = number_of(row->quarantine_count),
                              .last_error = text_of(row->last_error),
                              .fired_total = number_of(row->fired_total),
                              .missed_total = number_of(row->missed_total),
                              .skipped_total = number_of(row->skipped_total),
                              .quarantined_total = number_of(row->quarantined_total),
                              .unreadable = row->row.unreadable,
                              .dst_gap = policy.gap,
                              .dst_fold = policy.fold,
                              .catchup = policy.catchup,
                              .catchup_window_us = row->catchup_window,
                              .grace_us = row->grace,
                              .max_lateness_us = row->max_lateness,
                              .overlap = policy.overlap,
                              .jitter_us = row->jitter,
                              .not_before_us = row->not_before,
                              .not_after_us = row->not_after,
                              .max_fires = number_of(row->max_fires),
                              .pause_until_us = row->pause_until,
                              .done_at_us = row->done_at,
                              .last_missed_at_us = row->last_missed_at,
                              .owner_set = text_of(row->owner_set),
                              .spec_resolved = resolved_of(row),
                              .warning = ""};
}

/* What is surprising about its spec; a bad one is the quarantine's matter. */
static alk_status warn(struct alk__specs *specs, struct alk__arena *arena,
                       const struct alk__row_schedule *row, alk_schedule_row *schedule,
                       alk_error *error) {
    const struct alk__when *when;
    alk_error reason = ALK_ERROR_INIT;

    if (row->row.unreadable != NULL)
        return ALK_OK;
    alk_status status = alk__plan_compile(specs, row, &when, NULL, &reason);
    if (status == ALK_NOMEM)
        return alk__nomem(error);
    if (status < 0)
        return ALK_OK;
    schedule->warning = alk__arena_text(arena, alk__when_warning(when));
    return schedule->warning != NULL ? ALK_OK : alk__nomem(error);
}

/* The rows' memory with what is made of them in it; rows are empty afterwards. NULL: no memory,
 * rows stay. */
static struct alk__rows *keep(struct alk__rows *rows) {
    struct alk__rows *kept = alk__alloc(sizeof(*kept));

    if (kept == NULL)
        return NULL;
    *kept = *rows;
    *rows = (struct alk__rows){0};
    return kept;
}

static void forget(struct alk__rows *kept) {
    if (kept == NULL)
        return;
    alk__rows_free(kept);
    alk__free(kept);
}

static alk_status fill_list(struct alk__rows *rows, alk_schedule_list *list, alk_error *error) {
    struct alk__specs *specs = NULL;

    alk_status status = alk__specs_new(ALK__SPECS_MAX, &specs, error);
    for (size_t i = 0; status >= 0 && i < rows->count; i++) {
        const struct alk__row_schedule *row = ALK__ROW(rows, alk__row_schedule, i);
        list->schedules[i] = schedule_of(row);
        list->now_us = row->now;
        status = warn(specs, &rows->arena, row, &list->schedules[i], error);
    }
    alk__specs_free(specs);
    return status;
}

static alk_status make_list(struct alk__rows *rows, alk_schedule_list *ret_list, alk_error *error) {
    alk_schedule_row *schedules = alk__arena_alloc(&rows->arena, rows->count * sizeof(*schedules));
    alk_schedule_list list = {.count = rows->count, .schedules = schedules};

    if (schedules == NULL)
        return alk__nomem(error);
    alk_status status = fill_list(rows, &list, error);
    if (status < 0)
        return status;
    list.memory = keep(rows);
    if (list.memory == NULL)
        return alk__nomem(error);
    *ret_list = list;
    return ALK_OK;
}

/* Reads one row. ALK_ABSENT; ALK_UNREADABLE only where that matters to the caller. */
static alk_status read_one(alk_conn *conn, const char *name, struct alk__rows *rows,
                           alk_error *error) {
    alk_status status = alk__name_check("schedule", name, error);

    if (status == ALK_OK)
        status = alk__do(conn, ALK__SCHEDULE_GET, rows, error, ALK__Z(name));
    if (status < 0) {
        alk__error_set_subject(error, name != NULL ? name : "");
        return alk__wrap(error, status, "schedule '%s'", name != NULL ? name : "");
    }
    return rows->count == 0 ? ALK_ABSENT : ALK_OK;
}

alk_status alk_schedule_get(alk_conn *conn, const char *name, alk_schedule_list *ret_list,
                            alk_error *error) {
    struct alk__rows rows = {0};

    alk_status status = read_one(conn, name, &rows, error);
    if (status == ALK_OK) {
        const struct alk__row_schedule *row = ALK__ROW(&rows, alk__row_schedule, 0);
        if (row->row.unreadable != NULL) {
            status = alk__fail(error, ALK_UNREADABLE,
                               "schedule '%s': row %lld of table schedule cannot be read: %s", name,
                               (long long)row->id, row->row.unreadable);
            alk__error_set_subject(error, name);
        } else {
            status = make_list(&rows, ret_list, error);
        }
    }
    alk__rows_free(&rows);
    return status;
}

alk_status alk_schedule_list_get(alk_conn *conn, const char *after, int limit,
                                 alk_schedule_list *ret_list, alk_error *error) {
    struct alk__rows rows = {0};

    alk_status status = check_limit(limit, error);
    if (status == ALK_OK)
        status = alk__do(conn, ALK__SCHEDULE_LIST, &rows, error, ALK__Z(after != NULL ? after : ""),
                         ALK__I(limit));
    if (status == ALK_OK)
        status = make_list(&rows, ret_list, error);
    alk__rows_free(&rows);
    return status < 0 ? alk__wrap(error, status, "list schedules") : status;
}

void alk_schedule_list_free(alk_schedule_list *list) {
    if (list == NULL)
        return;
    forget(list->memory);
    *list = (alk_schedule_list){0};
}

static alk_schedule_event event_of(const struct alk__row_schedule_event *row) {
    return (alk_schedule_event){.id = number_of(row->id),
                                .outcome = text_of(row->outcome),
                                .fire_at_us = row->fire_at,
                                .to_us = row->to_at,
                                .count = number_of(row->count),
                                .job_id = number_of(row->job_id),
                                .lateness_us = number_of(row->lateness),
                                .owner = text_of(row->owner),
                                .fence = number_of(row->fence),
                                .detail = text_of(row->detail),
                                .at_us = row->at,
                                .is_catchup = number_of(row->is_catchup) != 0,
                                .is_at_least = number_of(row->is_at_least) != 0,
                                .unreadable = row->row.unreadable};
}

static alk_status make_history(struct alk__rows *rows, alk_schedule_history *ret_history,
                               alk_error *error) {
    alk_schedule_event *events = alk__arena_alloc(&rows->arena, rows->count * sizeof(*events));
    alk_schedule_history history = {.count = rows->count, .events = events};

    if (events == NULL)
        return alk__nomem(error);
    for (size_t i = 0; i < rows->count; i++)
        events[i] = event_of(ALK__ROW(rows, alk__row_schedule_event, i));
    history.memory = keep(rows);
    if (history.memory == NULL)
        return alk__nomem(error);
    *ret_history = history;
    return ALK_OK;
}

alk_status alk_schedule_history_get(alk_conn *conn, const char *name, int limit,
                                    alk_schedule_history *ret_history, alk_error *error) {
    struct alk__rows rows = {0};

    alk_status status = check_limit(limit, error);
    if (status == ALK_OK)
        status = read_one(conn, name, &rows, error);
    if (status == ALK_OK) {
        int64_t id = ALK__ROW(&rows, alk__row_schedule, 0)->id;
        status = alk__do(conn, ALK__SCHEDULE_HISTORY, &rows, error, ALK__I(id), ALK__I(limit));
    }
    if (status == ALK_OK)
        status = make_history(&rows, ret_history, error);
    alk__rows_free(&rows);
    return status;
}

void alk_schedule_history_free(alk_schedule_history *history) {
    if (history == NULL)
        return;
    forget(history->memory);
    *history = (alk_schedule_history){0};
}
