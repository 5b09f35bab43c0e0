/* core/schedule_act.c: what people do to a schedule as it is: remove, pause, resume, run now. Each
 * is one transaction, or a part of the caller's. */
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "core/job.h"
#include "core/overlap.h"
#include "core/schedule.h"
#include "core/unique.h"

/* ---- remove and pause ---- */

struct target {
    const char *name;
};

alk_status alk__schedule_remove(alk_conn *conn, const char *name, alk_error *error) {
    struct alk__rows rows = {0};

    alk_status status = alk__do(conn, ALK__SCHEDULE_REMOVE, &rows, error, ALK__Z(name));
    if (status >= 0 && rows.count == 0)
        status = ALK_ABSENT;
    else if (status >= 0)
        status = alk__do(conn, ALK__SCHEDULE_FORGET, NULL, error,
                         ALK__I(ALK__ROW(&rows, alk__row_number, 0)->number));
    alk__rows_free(&rows);
    return status;
}

static alk_status remove_in_tx(alk_conn *conn, void *context, alk_error *error) {
    const struct target *target = context;

    return alk__schedule_remove(conn, target->name, error);
}

static alk_status pause_in_tx(alk_conn *conn, void *context, alk_error *error) {
    const struct target *target = context;
    struct alk__rows rows = {0};

    alk_status status = alk__do(conn, ALK__SCHEDULE_PAUSE, &rows, error, ALK__Z(target->name));
    if (status >= 0 && rows.count == 0) {
        status = alk__do(conn, ALK__SCHEDULE_GET, &rows, error, ALK__Z(target->name));
        if (status >= 0)
            status = rows.count > 0 ? ALK_UNCHANGED : ALK_ABSENT;
    }
    alk__rows_free(&rows);
    return status;
}

alk_status alk_schedule_remove(alk_conn *conn, const char *name, alk_error *error) {
    return alk__schedule_run(conn, name, remove_in_tx, &(struct target){name}, error);
}

alk_status alk_schedule_pause(alk_conn *conn, const char *name, alk_error *error) {
    return alk__schedule_run(conn, name, pause_in_tx, &(struct target){name}, error);
}

/* ---- resume ---- */

struct resuming {
    const char *name;
    bool is_catchup;
};

/* What is due since then is what the pause left out. */
static int64_t paused_from(const struct alk__row_schedule *row, int64_t now_us) {
    if (row->quarantine_from != ALK__NULL)
        return row->quarantine_from;
    return row->next_fire_at != ALK__NULL ? row->next_fire_at : now_us;
}

static alk_status write_resume(alk_conn *conn, const struct alk__row_schedule *row,
                               const struct alk__plan *plan, alk_error *error) {
    alk_status status = alk__schedule_missed(conn, row->id, plan, row->now, error);

    return status < 0 ? status
                      : alk__do(conn, ALK__SCHEDULE_RESUME, NULL, error, ALK__I(row->id),
                                ALK__T(plan->next_us), ALK__I(plan->missed_count),
                                ALK__T(plan->last_missed_us), ALK__T(row->now));
}

alk_status alk__schedule_end_pause(alk_conn *conn, struct alk__specs *specs,
                                   const struct alk__row_schedule *row, int64_t until_us,
                                   alk_error *error) {
    const struct alk__when *when;
    struct alk__plan plan = {.next_us = row->now, .last_missed_us = ALK_NO_TIME};
    alk_error reason = ALK_ERROR_INIT;
    alk_status status = ALK_UNREADABLE;

    if (row->row.unreadable == NULL)
        status = alk__plan_compile(specs, row, &when, NULL, &reason);
    if (status == ALK_NOMEM)
        return alk__nomem(error);
    if (status >= 0)
        alk__plan_skip(when, row, paused_from(row, until_us), until_us, &plan);
    return write_resume(conn, row, &plan, error);
}

/* What is due is missed, or left to the next tick and the schedule's policy (S117). */
static alk_status resume_row(alk_conn *conn, const struct alk__row_schedule *row, bool is_catchup,
                             alk_error *error) {
    struct alk__specs *specs = NULL;
    const struct alk__when *when;
    struct alk__plan plan = {.next_us = paused_from(row, row->now), .last_missed_us = ALK_NO_TIME};

    if (row->row.unreadable != NULL)
        return alk__schedule_unreadable(row, error);
    if (row->paused_at == ALK__NULL)
        return ALK_UNCHANGED;
    alk_status status = alk__specs_new(1, &specs, error);
    if (status >= 0)
        status = alk__plan_compile(specs, row, &when, NULL, error);
    if (status >= 0 && !is_catchup)
        alk__plan_skip(when, row, plan.next_us, row->now, &plan);
    if (status >= 0)
        status = write_resume(conn, row, &plan, error);
    if (status >= 0)
        status = alk__wake_others(conn, ALK__TOPIC_SCHEDULE, error);
    alk__specs_free(specs);
    return status;
}

static alk_status resume_in_tx(alk_conn *conn, void *context, alk_error *error) {
    const struct resuming *resuming = context;
    struct alk__rows rows = {0};
    int64_t now_us = 0;

    alk_status status = alk__schedule_lock(conn, resuming->name, &rows, &now_us, error);
    if (status >= 0 && rows.count == 0)
        status = ALK_ABSENT;
    if (status == ALK_OK) {
        struct alk__row_schedule *row = ALK__ROW(&rows, alk__row_schedule, 0);
        row->now = now_us;
        status = resume_row(conn, row, resuming->is_catchup, error);
    }
    alk__rows_free(&rows);
    return status;
}

alk_status alk_schedule_resume(alk_conn *conn, const char *name, const alk_resume_options *options,
                               alk_error *error) {
    alk_resume_options full = ALK_RESUME_OPTIONS_INIT;

    if (options != NULL)
        memcpy(&full, options, options->size < sizeof(full) ? options->size : sizeof(full));
    struct resuming resuming = {name, full.catchup};
    return alk__schedule_run(conn, name, resume_in_tx, &resuming, error);
}

/* ---- run now ---- */

struct manual {
    const char *name;
    bool is_polite;
    struct alk__new_job job; /* with its unique key, if any */
    int64_t job_id;
};

static alk_status put_job(alk_conn *conn, const struct alk__row_schedule *row,
                          const struct manual *manual, int64_t *ret_job_id, alk_error *error) {
    struct alk__buffer headers = ALK__BUFFER_INIT(ALK__HEADERS_MAX);
    struct alk__new_job job = manual->job;

    if (row->row.unreadable != NULL)
        return alk__schedule_unreadable(row, error);
    alk_status status = alk__json_check("payload", row->payload, ALK__PAYLOAD_MAX, error);
    if (status < 0)
        return status;
    alk__buffer_add_text(&headers, "{\"schedule\":");
    alk__json_add_string(&headers, row->name);
    alk__buffer_add_text(&headers, "}");
    job.queue = row->queue;
    job.payload = row->payload;
    job.headers = (struct alk__text){headers.bytes, headers.length};
    job.priority = row->priority;
    job.max_attempts = row->max_attempts;
    job.expires_us = row->expires;
    job.schedule_id = row->id;
    status =
        headers.is_failed ? alk__nomem(error) : alk__enqueue_jobs(conn, &job, 1, ret_job_id, error);
    alk__buffer_release(&headers);
    if (status != ALK_OK)
        return status;
    return alk__do(conn, ALK__SCHEDULE_MANUAL, NULL, error, ALK__I(row->id), ALK__I(*ret_job_id),
                   ALK__T(row->now));
}

static alk_status ask_overlap(alk_conn *conn, const struct alk__row_schedule *row,
                              alk_error *error) {
    struct alk__policy policy;

    if (row->row.unreadable != NULL)
        return alk__schedule_unreadable(row, error);
    alk_status status = alk__policy_read(row, &policy, error);
    return status < 0 ? status : alk__overlap_ask(conn, row->id, policy.overlap, error);
}

/* One that asks about overlap waits for ticks, and they for it. */
static alk_status fire_in_tx(alk_conn *conn, void *context, alk_error *error) {
    struct manual *manual = context;
    struct alk__rows rows = {0};

    alk_status status = alk__do(conn, manual->is_polite ? ALK__SCHEDULE_LOCK : ALK__SCHEDULE_SHARE,
                                &rows, error, ALK__Z(manual->name));
    if (status >= 0 && rows.count == 0)
        status = ALK_ABSENT;
    if (status == ALK_OK && manual->is_polite)
        status = ask_overlap(conn, ALK__ROW(&rows, alk__row_schedule, 0), error);
    if (status == ALK_OK)
        status =
            put_job(conn, ALK__ROW(&rows, alk__row_schedule, 0), manual, &manual->job_id, error);
    alk__rows_free(&rows);
    return status;
}

alk_status alk_schedule_fire(alk_conn *conn, const char *name, const alk_fire_options *options,
                             int64_t *ret_job_id, alk_error *error) {
    alk_fire_options full = ALK_FIRE_OPTIONS_INIT;

    if (options != NULL)
        memcpy(&full, options, options->size < sizeof(full) ? options->size : sizeof(full));
    struct manual manual = {
        .name = name, .is_polite = full.respect_overlap, .job = ALK__NEW_JOB_INIT};
    alk_status status = alk__unique_set(&manual.job, full.unique_key, ALK_UNIQUE_UNTIL_FINISHED,
                                        ALK_NO_TIME, error);
    if (status < 0)
        return alk__schedule_named(error, status, name);
    status = alk__schedule_run(conn, name, fire_in_tx, &manual, error);
    if ((status == ALK_OK || status == ALK_DUPLICATE) && ret_job_id != NULL)
        *ret_job_id = manual.job_id;
    return status;
}
