/* core/backfill.c: fires boundaries of the past on request (schedules.md, part 5). The ledger's
 * fired lines say which have fired; nothing else of the schedule is asked or changed. */
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "core/job.h"
#include "core/schedule.h"
#include "core/tick_write.h"

struct backfill {
    const char *name;
    int64_t from_us;
    int64_t to_us;
    size_t max;
    bool is_dry_run;
    struct alk__arena *arena; /* of the result */
    alk_backfill_result result;
};

/* A page of boundaries, as parallel arrays. */
#define PAGE 500
struct page {
    size_t count;
    int64_t ids[PAGE];
    int64_t at_us[PAGE];
    bool has_fired[PAGE];
};

/* ---- finding them ---- */

static void fill_page(const struct alk__when *when, const struct alk__row_schedule *row,
                      int64_t after_us, int64_t to_us, struct page *page) {
    int64_t next_us = after_us;

    page->count = 0;
    while (
        page->count < PAGE &&
        alk__plan_next(when, row->anchor_at, row->not_before, row->not_after, next_us, &next_us) &&
        next_us <= to_us) {
        page->ids[page->count] = row->id;
        page->has_fired[page->count] = false;
        page->at_us[page->count++] = next_us;
    }
}

static alk_status mark_fired(alk_conn *conn, struct page *page, alk_error *error) {
    struct alk__rows rows = {0};

    alk_status status = alk__do(conn, ALK__TICK_FIRED, &rows, error,
                                ALK__IS(page->ids, page->count), ALK__TS(page->at_us, page->count));
    for (size_t i = 0; status >= 0 && i < rows.count; i++) {
        for (size_t k = 0; k < page->count; k++)
            page->has_fired[k] |= page->at_us[k] == ALK__ROW(&rows, alk__row_fire, i)->fire_at;
    }
    alk__rows_free(&rows);
    return status;
}

static void take_page(struct backfill *work, const struct page *page) {
    alk_backfill_result *result = &work->result;

    for (size_t i = 0; i < page->count && !result->has_more; i++) {
        if (page->has_fired[i])
            result->fired_before++;
        else if (result->count == work->max)
            result->has_more = true;
        else
            result->fire_at_us[result->count++] = page->at_us[i];
    }
}

static alk_status find(alk_conn *conn, struct backfill *work, const struct alk__when *when,
                       const struct alk__row_schedule *row, int64_t now_us, alk_error *error) {
    int64_t to_us = work->to_us < now_us ? work->to_us : now_us;
    int64_t after_us = work->from_us - 1;
    struct page *page = alk__arena_alloc(work->arena, sizeof(*page));

    if (page == NULL)
        return alk__nomem(error);
    do {
        fill_page(when, row, after_us, to_us, page);
        alk_status status = mark_fired(conn, page, error);
        if (status < 0)
            return status;
        take_page(work, page);
        if (page->count > 0)
            after_us = page->at_us[page->count - 1];
    } while (page->count == PAGE && !work->result.has_more);
    return ALK_OK;
}

/* ---- firing them ---- */

static bool make_jobs(const struct backfill *work, const struct alk__row_schedule *row,
                      struct alk__new_job *jobs) {
    for (size_t i = 0; i < work->result.count; i++) {
        const struct alk__fire fire = {
            .at_us = work->result.fire_at_us[i], .previous_us = ALK_NO_TIME, .is_catchup = true};
        jobs[i] = (struct alk__new_job)ALK__NEW_JOB_INIT;
        jobs[i].queue = row->queue;
        jobs[i].payload = row->payload;
        jobs[i].headers = alk__fire_headers(work->arena, row, &fire);
        jobs[i].priority = row->priority;
        jobs[i].max_attempts = row->max_attempts;
        jobs[i].expires_us = row->expires;
        jobs[i].schedule_id = row->id;
        jobs[i].fire_at_us = fire.at_us;
        if (jobs[i].headers.bytes == NULL)
            return false;
    }
    return true;
}

static alk_status write_lines(alk_conn *conn, const struct backfill *work,
                              const struct alk__row_schedule *row, int64_t now_us,
                              alk_error *error) {
    const alk_backfill_result *result = &work->result;
    int64_t *ids = alk__arena_alloc(work->arena, 2 * result->count * sizeof(*ids));
    int64_t *are_catchup = ids != NULL ? ids + result->count : NULL;
    struct alk__rows lines = {0};

    if (ids == NULL)
        return alk__nomem(error);
    for (size_t i = 0; i < result->count; i++) {
        ids[i] = row->id;
        are_catchup[i] = 1;
    }
    alk_status status = alk__do(
        conn, ALK__TICK_LEDGER, &lines, error, ALK__IS(ids, result->count),
        ALK__TS(result->fire_at_us, result->count), ALK__BS(are_catchup, result->count),
        ALK__IS(result->job_ids, result->count), ALK__Z(NULL), ALK__I(ALK__NULL), ALK__T(now_us));
    if (status >= 0 && lines.changed != (int64_t)result->count)
        status = alk__fail(error, ALK_AGAIN, "it was fired by somebody else at the same time");
    alk__rows_free(&lines);
    return status;
}

static alk_status fire(alk_conn *conn, const struct backfill *work,
                       const struct alk__row_schedule *row, int64_t now_us, alk_error *error) {
    const alk_backfill_result *result = &work->result;
    struct alk__new_job *jobs = alk__arena_alloc(work->arena, result->count * sizeof(*jobs));

    if (result->count == 0)
        return ALK_OK;
    alk_status status = alk__json_check("payload", row->payload, ALK__PAYLOAD_MAX, error);
    if (status < 0)
        return status;
    if (jobs == NULL || !make_jobs(work, row, jobs))
        return alk__nomem(error);
    status = alk__enqueue_jobs(conn, jobs, result->count, result->job_ids, error);
    return status < 0 ? status : write_lines(conn, work, row, now_us, error);
}

static alk_status backfill_row(alk_conn *conn, struct backfill *work,
                               const struct alk__row_schedule *row, int64_t now_us,
                               alk_error *error) {
    struct alk__specs *specs = NULL;
    const struct alk__when *when;

    if (row->row.unreadable != NULL)
        return alk__schedule_unreadable(row, error);
    alk_status status = alk__specs_new(1, &specs, error);
    if (status >= 0)
        status = alk__plan_compile(specs, row, &when, NULL, error);
    if (status >= 0)
        status = find(conn, work, when, row, now_us, error);
    if (status >= 0 && !work->is_dry_run)
        status = fire(conn, work, row, now_us, error);
    alk__specs_free(specs);
    return status;
}

/* A tick that fires the same schedule is waited for. */
static alk_status backfill_in_tx(alk_conn *conn, void *context, alk_error *error) {
    struct backfill *work = context;
    struct alk__rows rows = {0};
    int64_t now_us = 0;

    alk_status status = alk__schedule_lock(conn, work->name, &rows, &now_us, error);
    if (status >= 0)
        status = rows.count == 0 ? ALK_ABSENT
                                 : backfill_row(conn, work, ALK__ROW(&rows, alk__row_schedule, 0),
                                                now_us, error);
    alk__rows_free(&rows);
    return status;
}

/* ---- the interface ---- */

static alk_status run(alk_conn *conn, struct backfill *work, alk_error *error) {
    work->result.fire_at_us = alk__arena_alloc(work->arena, work->max * sizeof(int64_t));
    work->result.job_ids = alk__arena_alloc(work->arena, work->max * sizeof(int64_t));
    if (work->result.fire_at_us == NULL || work->result.job_ids == NULL)
        return alk__nomem(error);
    return alk__schedule_run(conn, work->name, backfill_in_tx, work, error);
}

alk_status alk_schedule_backfill(alk_conn *conn, const char *name, int64_t from_us, int64_t to_us,
                                 int max, bool is_dry_run, alk_backfill_result *ret_result,
                                 alk_error *error) {
    const int64_t end_us = ALK__WHEN_END_S * ALK__SECOND;

    if (max < 1 || max > ALK_BACKFILL_MAX)
        return alk__fail(error, ALK_INVALID, "max %d is out of range 1-%d", max, ALK_BACKFILL_MAX);
    if (from_us < 0 || from_us > to_us || to_us > end_us)
        return alk__fail(error, ALK_INVALID, "from and to are not in order within 1970-2199");
    struct alk__arena *arena = alk__alloc(sizeof(*arena));
    if (arena == NULL)
        return alk__nomem(error);
    *arena = (struct alk__arena){0};
    struct backfill work = {name,  from_us,          to_us, (size_t)max, is_dry_run,
                            arena, {.memory = arena}};
    alk_status status = run(conn, &work, error);
    if (status == ALK_OK && ret_result != NULL)
        *ret_result = work.result;
    else
        alk_backfill_result_free(&work.result);
    return status;
}

void alk_backfill_result_free(alk_backfill_result *result) {
    if (result == NULL || result->memory == NULL)
        return;
    alk__arena_free(result->memory);
    alk__free(result->memory);
    *result = (alk_backfill_result){0};
}
