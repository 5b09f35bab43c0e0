/* core/schedule.c: what people do to schedules: put, change, remove, pause, resume, run now. Each
 * is one transaction, or a part of the caller's. Timing is worked out here and stored; the tick
 * only reads it. */
#include <alkstore/schedule.h>

#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "core/job.h"
#include "core/plan.h"
#include "store/run.h"
#include "when/catchup.h"

#define ALL_FIELDS                                                                                 \
    (ALK_SCHEDULE_SPEC | ALK_SCHEDULE_ZONE | ALK_SCHEDULE_QUEUE | ALK_SCHEDULE_PAYLOAD |           \
     ALK_SCHEDULE_PRIORITY | ALK_SCHEDULE_MAX_ATTEMPTS | ALK_SCHEDULE_EXPIRES |                    \
     ALK_SCHEDULE_CATCHUP_MAX)

/* Somebody who inserts and somebody who removes the same name may meet this often in a row. */
#define INSERT_TRIES 3

/* What the columns are to hold. */
struct content {
    struct alk__text spec;
    struct alk__text zone; /* null = UTC */
    struct alk__text queue;
    struct alk__text payload;
    int64_t priority;
    int64_t max_attempts;
    int64_t expires;
    int64_t catchup_max;
};

/* When it fires next, and what that leaves out. */
struct timing {
    struct alk__text resolved; /* null: the spec has no H */
    int64_t anchor_us;
    int64_t done_us;
    struct alk__plan plan; /* next_us, and what was missed */
};

struct edit {
    const alk_schedule *given;
    unsigned fields;
    bool may_insert; /* put: the whole is given, and it need not be there */
    struct alk__specs *specs;
    struct alk__buffer resolved;
};

/* ---- the arguments, before the database is touched (S33) ---- */

static struct alk__text payload_of(const alk_schedule *given) {
    if (given->payload == NULL || given->payload_length == 0)
        return ALK__TEXT("null");
    return (struct alk__text){given->payload, given->payload_length};
}

static struct alk__text zone_of(const alk_schedule *given) {
    return alk__text_of(given->zone != NULL && given->zone[0] != '\0' ? given->zone : NULL);
}

static alk_status check_numbers(const alk_schedule *given, unsigned fields, alk_error *error) {
    if ((fields & ALK_SCHEDULE_PRIORITY) != 0 &&
        (given->priority < INT16_MIN || given->priority > INT16_MAX))
        return alk__fail(error, ALK_INVALID, "priority %d is out of range -32768 to 32767",
                         given->priority);
    if ((fields & ALK_SCHEDULE_MAX_ATTEMPTS) != 0 && given->max_attempts < 0)
        return alk__fail(error, ALK_INVALID, "max_attempts %d is below 0", given->max_attempts);
    if ((fields & ALK_SCHEDULE_EXPIRES) != 0 && given->expires_us != ALK_NO_TIME &&
        given->expires_us <= 0)
        return alk__fail(error, ALK_INVALID, "expires is not above 0");
    if ((fields & ALK_SCHEDULE_CATCHUP_MAX) != 0 &&
        (given->catchup_max < 0 || given->catchup_max > ALK__CATCHUP_MAX))
        return alk__fail(error, ALK_INVALID, "catchup_max %d is out of range 0-%d",
                         given->catchup_max, ALK__CATCHUP_MAX);
    return ALK_OK;
}

static alk_status check_given(const struct edit *edit, alk_error *error) {
    const alk_schedule *given = edit->given;
    const struct alk__when *when;
    alk_status status = ALK_OK;

    if ((edit->fields & ~(unsigned)ALL_FIELDS) != 0)
        return alk__fail(error, ALK_INVALID, "a field that there is not is to be changed");
    if ((edit->fields & ALK_SCHEDULE_SPEC) != 0 && given->spec == NULL)
        return alk__fail(error, ALK_INVALID, "there is no spec");
    if ((edit->fields & ALK_SCHEDULE_QUEUE) != 0)
        status = alk__name_check("queue", given->queue, error);
    if (status == ALK_OK && (edit->fields & ALK_SCHEDULE_PAYLOAD) != 0)
        status = alk__json_check("payload", payload_of(given), ALK__PAYLOAD_MAX, error);
    if (status == ALK_OK)
        status = check_numbers(given, edit->fields, error);
    if (status == ALK_OK && edit->may_insert)
        status = alk__specs_get(edit->specs, alk__text_of(given->name), alk__text_of(given->spec),
                                zone_of(given), &when, error);
    return status;
}

/* ---- content and timing ---- */

static struct content content_of_row(const struct alk__row_schedule *row) {
    return (struct content){.spec = row->spec,
                            .zone = row->zone,
                            .queue = row->queue,
                            .payload = row->payload,
                            .priority = row->priority,
                            .max_attempts = row->max_attempts,
                            .expires = row->expires,
                            .catchup_max = row->catchup_max};
}

static void set_given(struct content *content, const alk_schedule *given, unsigned fields) {
    if ((fields & ALK_SCHEDULE_SPEC) != 0)
        content->spec = alk__text_of(given->spec);
    if ((fields & ALK_SCHEDULE_ZONE) != 0)
        content->zone = zone_of(given);
    if ((fields & ALK_SCHEDULE_QUEUE) != 0)
        content->queue = alk__text_of(given->queue);
    if ((fields & ALK_SCHEDULE_PAYLOAD) != 0)
        content->payload = payload_of(given);
    if ((fields & ALK_SCHEDULE_PRIORITY) != 0)
        content->priority = given->priority;
    if ((fields & ALK_SCHEDULE_MAX_ATTEMPTS) != 0)
        content->max_attempts = given->max_attempts == 0 ? ALK__NULL : given->max_attempts;
    if ((fields & ALK_SCHEDULE_EXPIRES) != 0)
        content->expires = given->expires_us;
    if ((fields & ALK_SCHEDULE_CATCHUP_MAX) != 0)
        content->catchup_max =
            given->catchup_max == 0 ? ALK__CATCHUP_MAX_DEFAULT : given->catchup_max;
}

/* Null is unlike everything else, also unlike the empty text. */
static bool is_same_text(struct alk__text left, struct alk__text right) {
    return (left.bytes == NULL) == (right.bytes == NULL) && alk__text_equal(left, right);
}

static bool is_same_timing(const struct content *left, const struct content *right) {
    return is_same_text(left->spec, right->spec) && is_same_text(left->zone, right->zone);
}

static bool is_same(const struct content *left, const struct content *right) {
    return is_same_timing(left, right) && is_same_text(left->queue, right->queue) &&
           is_same_text(left->payload, right->payload) && left->priority == right->priority &&
           left->max_attempts == right->max_attempts && left->expires == right->expires &&
           left->catchup_max == right->catchup_max;
}

/* The first boundary after now, whatever came before (S113): no catch-up across an edit. */
static alk_status time_anew(struct edit *edit, const struct content *content, int64_t now_us,
                            struct timing *timing, alk_error *error) {
    const struct alk__when *when;
    int64_t next_s;

    alk_status status = alk__specs_get(edit->specs, alk__text_of(edit->given->name), content->spec,
                                       content->zone, &when, error);
    if (status < 0)
        return status;
    if (!alk__when_next(when, timing->anchor_us / ALK__SECOND, now_us / ALK__SECOND, &next_s))
        return alk__fail(error, ALK_INVALID, "spec '%s' has no boundary after now",
                         alk__excerpt_of(content->spec).text);
    alk__buffer_clear(&edit->resolved);
    alk__when_resolve(when, &edit->resolved);
    if (edit->resolved.is_failed)
        return alk__nomem(error);
    timing->resolved = (struct alk__text){edit->resolved.length > 0 ? edit->resolved.bytes : NULL,
                                          edit->resolved.length};
    timing->done_us = ALK__NULL;
    timing->plan.next_us = next_s * ALK__SECOND;
    return ALK_OK;
}

/* Out of quarantine with the timing it had: as after a pause (S142, S143). A spec that is still bad
 * is due at once, for the tick to say so. */
static alk_status time_again(struct edit *edit, const struct alk__row_schedule *row, int64_t now_us,
                             struct timing *timing, alk_error *error) {
    const struct alk__when *when;
    int64_t from_us = row->quarantine_from == ALK__NULL ? now_us : row->quarantine_from;

    alk_status status =
        alk__specs_get(edit->specs, row->name, alk__plan_spec(row), row->zone, &when, error);
    if (status == ALK_NOMEM)
        return status;
    if (status < 0) {
        alk__error_clear(error);
        timing->plan.next_us = now_us;
        return ALK_OK;
    }
    alk__plan_skip(when, row, from_us, now_us, &timing->plan);
    timing->done_us = timing->plan.next_us == ALK__NULL ? now_us : ALK__NULL;
    return ALK_OK;
}

/* One missed line of the ledger, by nobody's lease. */
static alk_status write_missed(alk_conn *conn, int64_t id, const struct alk__plan *plan,
                               int64_t now_us, alk_error *error) {
    const int64_t is_at_least = plan->missed_is_at_least;

    if (plan->missed_count == 0)
        return ALK_OK;
    return alk__do(conn, ALK__TICK_MISSED, NULL, error, ALK__IS(&id, 1),
                   ALK__TS(&plan->first_missed_us, 1), ALK__TS(&plan->last_missed_us, 1),
                   ALK__IS(&plan->missed_count, 1), ALK__BS(&is_at_least, 1), ALK__Z(NULL),
                   ALK__I(ALK__NULL), ALK__T(now_us));
}

/* ---- put and change ---- */

static alk_status insert(alk_conn *conn, struct edit *edit, int64_t now_us, bool *ret_is_taken,
                         alk_error *error) {
    struct alk__rows rows = {0};
    struct content content = {0};
    struct timing timing = {.anchor_us = now_us - now_us % ALK__SECOND};

    set_given(&content, edit->given, edit->fields);
    alk_status status = time_anew(edit, &content, now_us, &timing, error);
    if (status < 0)
        return status;
    status =
        alk__do(conn, ALK__SCHEDULE_INSERT, &rows, error, ALK__Z(edit->given->name),
                ALK__S(content.spec), ALK__S(timing.resolved), ALK__S(content.zone),
                ALK__S(content.queue), ALK__J(content.payload), ALK__I(content.priority),
                ALK__I(content.max_attempts), ALK__D(content.expires), ALK__I(content.catchup_max),
                ALK__T(timing.anchor_us), ALK__T(timing.plan.next_us), ALK__T(now_us));
    *ret_is_taken = status >= 0 && rows.count == 0;
    alk__rows_free(&rows);
    return status;
}

static alk_status write_update(alk_conn *conn, const struct alk__row_schedule *row,
                               const struct content *content, const struct timing *timing,
                               int64_t now_us, alk_error *error) {
    alk_status status = write_missed(conn, row->id, &timing->plan, now_us, error);

    if (status < 0)
        return status;
    return alk__do(conn, ALK__SCHEDULE_UPDATE, NULL, error, ALK__I(row->id), ALK__S(content->spec),
                   ALK__S(timing->resolved), ALK__S(content->zone), ALK__S(content->queue),
                   ALK__J(content->payload), ALK__I(content->priority),
                   ALK__I(content->max_attempts), ALK__D(content->expires),
                   ALK__I(content->catchup_max), ALK__T(timing->anchor_us),
                   ALK__T(timing->plan.next_us), ALK__T(timing->done_us),
                   ALK__I(timing->plan.missed_count), ALK__T(timing->plan.last_missed_us));
}

static alk_status unreadable(const struct alk__row_schedule *row, alk_error *error) {
    return alk__fail(error, ALK_UNREADABLE, "row %lld of table schedule cannot be read: %s",
                     (long long)row->id, row->row.unreadable);
}

/* put states the whole and so mends a row that cannot be read; change cannot. */
static alk_status update(alk_conn *conn, struct edit *edit, const struct alk__row_schedule *row,
                         int64_t now_us, alk_error *error) {
    bool is_readable = row->row.unreadable == NULL;
    struct content before = content_of_row(row);
    struct content after = before;
    struct timing timing = {
        .resolved = is_same_text(row->spec_resolved_from, row->spec) ? row->spec_resolved
                                                                     : (struct alk__text){0},
        .anchor_us = row->anchor_at == ALK__NULL ? now_us - now_us % ALK__SECOND : row->anchor_at,
        .done_us = row->done_at,
        .plan = {.next_us = row->next_fire_at, .last_missed_us = ALK_NO_TIME}};
    alk_status status = ALK_OK;

    if (!is_readable && !edit->may_insert)
        return unreadable(row, error);
    set_given(&after, edit->given, edit->fields);
    bool is_timed_anew = !is_readable || !is_same_timing(&before, &after);
    bool is_quarantined = row->quarantined_at != ALK__NULL;
    if (!is_timed_anew && !is_quarantined && is_same(&before, &after))
        return ALK_UNCHANGED;
    if (is_timed_anew)
        status = time_anew(edit, &after, now_us, &timing, error);
    else if (is_quarantined)
        status = time_again(edit, row, now_us, &timing, error);
    if (status >= 0)
        status = write_update(conn, row, &after, &timing, now_us, error);
    if (status >= 0 && (is_timed_anew || is_quarantined))
        status = alk__wake_others(conn, ALK__TOPIC_SCHEDULE, error);
    return status;
}

/* Reads the row, held, and then the time: not before, as it may have been waited for. */
static alk_status lock(alk_conn *conn, const char *name, struct alk__rows *rows,
                       int64_t *ret_now_us, alk_error *error) {
    const struct alk__value value = ALK__Z(name);
    struct alk__rows clock = {0};
    const struct alk__call calls[] = {{ALK__SCHEDULE_LOCK, &value, 1, rows},
                                      {ALK__CLOCK_GET, NULL, 0, &clock}};

    alk_status status = alk__run_all(conn, calls, 2, NULL, error);
    if (status >= 0)
        *ret_now_us = ALK__ROW(&clock, alk__row_number, 0)->number;
    alk__rows_free(&clock);
    return status;
}

static alk_status edit_once(alk_conn *conn, struct edit *edit, bool *ret_is_taken,
                            alk_error *error) {
    struct alk__rows rows = {0};
    int64_t now_us = 0;

    *ret_is_taken = false;
    alk_status status = lock(conn, edit->given->name, &rows, &now_us, error);
    if (status >= 0 && rows.count > 0)
        status = update(conn, edit, ALK__ROW(&rows, alk__row_schedule, 0), now_us, error);
    else if (status >= 0 && !edit->may_insert)
        status = ALK_ABSENT;
    else if (status >= 0) {
        status = insert(conn, edit, now_us, ret_is_taken, error);
        if (status >= 0 && !*ret_is_taken)
            status = alk__wake_others(conn, ALK__TOPIC_SCHEDULE, error);
    }
    alk__rows_free(&rows);
    return status;
}

static alk_status edit_in_tx(alk_conn *conn, void *context, alk_error *error) {
    for (int i = 0; i < INSERT_TRIES; i++) {
        bool is_taken;
        alk_status status = edit_once(conn, context, &is_taken, error);
        if (status < 0 || !is_taken)
            return status;
    }
    return alk__fail(error, ALK_AGAIN, "somebody else makes it at the same time");
}

static alk_status named(alk_error *error, alk_status status, const char *name) {
    if (status >= 0)
        return status;
    alk__error_set_subject(error, name);
    return alk__wrap(error, status, "schedule '%s'", name);
}

static alk_status edit_run(alk_conn *conn, const alk_schedule *given, unsigned fields,
                           bool may_insert, alk_error *error) {
    alk_schedule full = ALK_SCHEDULE_INIT;
    struct edit edit = {.given = &full,
                        .fields = fields,
                        .may_insert = may_insert,
                        .resolved = ALK__BUFFER_INIT((size_t)1 << 16)};

    memcpy(&full, given, given->size < sizeof(full) ? given->size : sizeof(full));
    alk_status status = alk__name_check("schedule", full.name, error);
    if (status < 0)
        return status;
    status = alk__specs_new(1, &edit.specs, error);
    if (status >= 0)
        status = check_given(&edit, error);
    if (status >= 0)
        status = alk__atomic(conn, edit_in_tx, &edit, error);
    alk__buffer_release(&edit.resolved);
    alk__specs_free(edit.specs);
    return named(error, status, full.name);
}

alk_status alk_schedule_put(alk_conn *conn, const alk_schedule *schedule, alk_error *error) {
    return edit_run(conn, schedule, ALL_FIELDS, true, error);
}

alk_status alk_schedule_change(alk_conn *conn, const alk_schedule *change, unsigned fields,
                               alk_error *error) {
    return edit_run(conn, change, fields, false, error);
}

/* ---- remove, pause, resume, fire ---- */

/* What each of them is about, and what firing brings. */
struct target {
    const char *name;
    int64_t job_id;
};

static alk_status remove_in_tx(alk_conn *conn, void *context, alk_error *error) {
    const struct target *target = context;
    struct alk__rows rows = {0};

    alk_status status = alk__do(conn, ALK__SCHEDULE_REMOVE, &rows, error, ALK__Z(target->name));
    if (status >= 0 && rows.count == 0)
        status = ALK_ABSENT;
    else if (status >= 0)
        status = alk__do(conn, ALK__SCHEDULE_FORGET, NULL, error,
                         ALK__I(ALK__ROW(&rows, alk__row_number, 0)->number));
    alk__rows_free(&rows);
    return status;
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

/* What is due is missed: since it went into quarantine, where it was in one, else since what would
 * have been next (S117). */
static alk_status resume_row(alk_conn *conn, const struct alk__row_schedule *row, int64_t now_us,
                             alk_error *error) {
    struct alk__specs *specs = NULL;
    const struct alk__when *when;
    struct alk__plan plan = {0};
    int64_t from_us = row->quarantine_from != ALK__NULL ? row->quarantine_from : row->next_fire_at;

    if (row->row.unreadable != NULL)
        return unreadable(row, error);
    if (row->paused_at == ALK__NULL)
        return ALK_UNCHANGED;
    alk_status status = alk__specs_new(1, &specs, error);
    if (status >= 0)
        status = alk__specs_get(specs, row->name, alk__plan_spec(row), row->zone, &when, error);
    if (status >= 0) {
        alk__plan_skip(when, row, from_us == ALK__NULL ? now_us : from_us, now_us, &plan);
        status = write_missed(conn, row->id, &plan, now_us, error);
    }
    if (status >= 0)
        status =
            alk__do(conn, ALK__SCHEDULE_RESUME, NULL, error, ALK__I(row->id), ALK__T(plan.next_us),
                    ALK__I(plan.missed_count), ALK__T(plan.last_missed_us), ALK__T(now_us));
    if (status >= 0)
        status = alk__wake_others(conn, ALK__TOPIC_SCHEDULE, error);
    alk__specs_free(specs);
    return status;
}

static alk_status resume_in_tx(alk_conn *conn, void *context, alk_error *error) {
    const struct target *target = context;
    struct alk__rows rows = {0};
    int64_t now_us = 0;

    alk_status status = lock(conn, target->name, &rows, &now_us, error);
    if (status >= 0)
        status = rows.count == 0
                     ? ALK_ABSENT
                     : resume_row(conn, ALK__ROW(&rows, alk__row_schedule, 0), now_us, error);
    alk__rows_free(&rows);
    return status;
}

static alk_status fire_row(alk_conn *conn, const struct alk__row_schedule *row, int64_t *ret_job_id,
                           alk_error *error) {
    struct alk__buffer headers = ALK__BUFFER_INIT(ALK__HEADERS_MAX);
    struct alk__new_job job = ALK__NEW_JOB_INIT;

    if (row->row.unreadable != NULL)
        return unreadable(row, error);
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
    if (status < 0)
        return status;
    return alk__do(conn, ALK__SCHEDULE_MANUAL, NULL, error, ALK__I(row->id), ALK__I(*ret_job_id),
                   ALK__T(row->now));
}

static alk_status fire_in_tx(alk_conn *conn, void *context, alk_error *error) {
    struct target *target = context;
    struct alk__rows rows = {0};

    alk_status status = alk__do(conn, ALK__SCHEDULE_SHARE, &rows, error, ALK__Z(target->name));
    if (status >= 0)
        status = rows.count == 0 ? ALK_ABSENT
                                 : fire_row(conn, ALK__ROW(&rows, alk__row_schedule, 0),
                                            &target->job_id, error);
    alk__rows_free(&rows);
    return status;
}

static alk_status run(alk_conn *conn, struct target *target, alk_tx_fn function, alk_error *error) {
    alk_status status = alk__name_check("schedule", target->name, error);

    if (status < 0)
        return status;
    return named(error, alk__atomic(conn, function, target, error), target->name);
}

alk_status alk_schedule_remove(alk_conn *conn, const char *name, alk_error *error) {
    return run(conn, &(struct target){.name = name}, remove_in_tx, error);
}

alk_status alk_schedule_pause(alk_conn *conn, const char *name, alk_error *error) {
    return run(conn, &(struct target){.name = name}, pause_in_tx, error);
}

alk_status alk_schedule_resume(alk_conn *conn, const char *name, alk_error *error) {
    return run(conn, &(struct target){.name = name}, resume_in_tx, error);
}

alk_status alk_schedule_fire(alk_conn *conn, const char *name, int64_t *ret_job_id,
                             alk_error *error) {
    struct target target = {.name = name};

    alk_status status = run(conn, &target, fire_in_tx, error);
    if (status == ALK_OK && ret_job_id != NULL)
        *ret_job_id = target.job_id;
    return status;
}
