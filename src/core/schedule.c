/* core/schedule.c: put and change: the row as it is to be, and when it fires next. One transaction,
 * or a part of the caller's. Timing is worked out here and stored; the tick only reads it. */
#include "core/schedule.h"

#include <string.h>

#include "base/error.h"

/* Somebody who inserts and somebody who removes the same name may meet this often in a row. */
#define INSERT_TRIES 3

#define RESOLVED_MAX ((size_t)1 << 16)

/* A row as it is to be, with the texts that were made for it, and what that leaves out. */
struct draft {
    struct alk__row_schedule row;
    struct alk__buffer resolved;
    char fingerprint[ALK__FINGERPRINT_BYTES];
    struct alk__plan plan; /* only what was missed */
};

/* ---- rows ---- */

alk_status alk__schedule_lock(alk_conn *conn, const char *name, struct alk__rows *rows,
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

alk_status alk__schedule_unreadable(const struct alk__row_schedule *row, alk_error *error) {
    return alk__fail(error, ALK_UNREADABLE, "row %lld of table schedule cannot be read: %s",
                     (long long)row->id, row->row.unreadable);
}

alk_status alk__schedule_missed(alk_conn *conn, int64_t id, const struct alk__plan *plan,
                                int64_t now_us, alk_error *error) {
    const int64_t is_at_least = plan->missed_is_at_least;

    if (plan->missed_count == 0)
        return ALK_OK;
    return alk__do(conn, ALK__TICK_MISSED, NULL, error, ALK__IS(&id, 1),
                   ALK__TS(&plan->first_missed_us, 1), ALK__TS(&plan->last_missed_us, 1),
                   ALK__IS(&plan->missed_count, 1), ALK__BS(&is_at_least, 1), ALK__Z(NULL),
                   ALK__I(ALK__NULL), ALK__T(now_us));
}

alk_status alk__schedule_named(alk_error *error, alk_status status, const char *name) {
    if (status >= 0)
        return status;
    alk__error_set_subject(error, name);
    return alk__wrap(error, status, "schedule '%s'", name);
}

alk_status alk__schedule_run(alk_conn *conn, const char *name, alk_tx_fn function, void *context,
                             alk_error *error) {
    alk_status status = alk__name_check("schedule", name, error);

    if (status < 0)
        return status;
    return alk__schedule_named(error, alk__atomic(conn, function, context, error), name);
}

/* ---- timing ---- */

static bool is_used_up(const struct alk__row_schedule *row) {
    return row->max_fires != ALK__NULL && row->fired_total >= row->max_fires;
}

/* The texts that go with the timing: H in numbers, the zone file's fingerprint. */
static alk_status note_spec(struct draft *draft, const struct alk__when *when, alk_error *error) {
    uint64_t fingerprint = alk__when_fingerprint(when);

    alk__buffer_clear(&draft->resolved);
    alk__when_resolve(when, &draft->resolved);
    if (draft->resolved.is_failed)
        return alk__nomem(error);
    draft->row.spec_resolved = (struct alk__text){0};
    if (draft->resolved.length > 0)
        draft->row.spec_resolved =
            (struct alk__text){draft->resolved.bytes, draft->resolved.length};
    alk__fingerprint_text(fingerprint, draft->fingerprint);
    draft->row.zone_fingerprint = alk__text_of(fingerprint != 0 ? draft->fingerprint : NULL);
    return ALK_OK;
}

/* The first boundary after now, whatever came before (S113): no catch-up across an edit. */
static alk_status time_anew(const struct alk__edit *edit, struct draft *draft, int64_t now_us,
                            alk_error *error) {
    struct alk__row_schedule *row = &draft->row;
    const struct alk__when *when;
    int64_t late_s;

    row->spec_resolved = (struct alk__text){0};
    alk_status status = alk__plan_compile(edit->specs, row, &when, NULL, error);
    if (status >= 0)
        status = note_spec(draft, when, error);
    if (status < 0)
        return status;
    row->done_at = ALK__NULL;
    if (is_used_up(row)) {
        row->next_fire_at = ALK__NULL;
        row->done_at = now_us;
    } else if (!alk__plan_next(when, row->anchor_at, row->not_before, row->not_after, now_us,
                               &row->next_fire_at)) {
        if (!edit->given.allow_late || !alk__when_is_once(when) ||
            !alk__when_prev(when, 0, now_us / ALK__SECOND + 1, &late_s))
            return alk__fail(error, ALK_INVALID, "spec '%s' has no boundary after now",
                             alk__excerpt_of(row->spec).text);
        row->next_fire_at = late_s * ALK__SECOND;
    }
    return ALK_OK;
}

/* Out of quarantine with the timing it had: as after a pause (S142, S143). A spec that is still bad
 * is due at once, for the tick to say so. */
static alk_status time_again(const struct alk__edit *edit, struct draft *draft, int64_t now_us,
                             alk_error *error) {
    struct alk__row_schedule *row = &draft->row;
    const struct alk__when *when;

    alk_status status = alk__plan_compile(edit->specs, row, &when, NULL, error);
    if (status == ALK_NOMEM)
        return status;
    if (status < 0) {
        alk__error_clear(error);
        row->next_fire_at = now_us;
        return ALK_OK;
    }
    alk__plan_skip(when, row, row->quarantine_from == ALK__NULL ? now_us : row->quarantine_from,
                   now_us, &draft->plan);
    row->next_fire_at = draft->plan.next_us;
    row->done_at = row->next_fire_at == ALK__NULL ? now_us : ALK__NULL;
    return ALK_OK;
}

/* ---- put and change ---- */

static alk_status insert(alk_conn *conn, struct alk__edit *edit, int64_t now_us, bool *ret_is_taken,
                         alk_error *error) {
    struct draft draft = {.row = {.name = alk__text_of(edit->given.name),
                                  .anchor_at = ALK__NULL,
                                  .next_fire_at = ALK__NULL,
                                  .created_at = now_us,
                                  .paused_at = ALK__NULL,
                                  .pause_until = ALK__NULL,
                                  .done_at = ALK__NULL},
                          .resolved = ALK__BUFFER_INIT(RESOLVED_MAX)};
    struct alk__value values[ALK__FIELDS_VALUES + 2];
    struct alk__rows rows = {0};

    alk__fields_set(&draft.row, &edit->given, edit->fields, now_us);
    alk_status status = time_anew(edit, &draft, now_us, error);
    if (status >= 0) {
        values[0] = ALK__S(draft.row.name);
        alk__fields_values(&draft.row, values + 1);
        values[ALK__FIELDS_VALUES + 1] = ALK__T(now_us);
        status = alk__run(conn, ALK__SCHEDULE_INSERT, values, ALK__FIELDS_VALUES + 2, &rows, error);
    }
    *ret_is_taken = status >= 0 && rows.count == 0;
    edit->was_added = status >= 0 && rows.count > 0;
    alk__rows_free(&rows);
    alk__buffer_release(&draft.resolved);
    return status;
}

static alk_status write_update(alk_conn *conn, const struct draft *draft, int64_t now_us,
                               alk_error *error) {
    struct alk__value values[ALK__FIELDS_VALUES + 4];
    const struct alk__row_schedule *row = &draft->row;

    alk_status status = alk__schedule_missed(conn, row->id, &draft->plan, now_us, error);
    if (status < 0)
        return status;
    values[0] = ALK__I(row->id);
    alk__fields_values(row, values + 1);
    values[ALK__FIELDS_VALUES + 1] = ALK__T(row->done_at);
    values[ALK__FIELDS_VALUES + 2] = ALK__I(draft->plan.missed_count);
    values[ALK__FIELDS_VALUES + 3] = ALK__T(draft->plan.last_missed_us);
    return alk__run(conn, ALK__SCHEDULE_UPDATE, values, ALK__FIELDS_VALUES + 4, NULL, error);
}

/* Its boundaries are others now, or max_fires was reached and is not any more, or the other way
 * round. A row that cannot be read has no timing to keep. */
static bool is_timed_anew(const struct alk__row_schedule *before,
                          const struct alk__row_schedule *after) {
    return before->row.unreadable != NULL || !alk__fields_same_timing(before, after) ||
           is_used_up(before) != is_used_up(after);
}

static alk_status write_draft(alk_conn *conn, struct alk__edit *edit,
                              const struct alk__row_schedule *before, struct draft *draft,
                              int64_t now_us, alk_error *error) {
    bool is_quarantined = before->quarantined_at != ALK__NULL;
    bool is_anew = is_timed_anew(before, &draft->row);
    alk_status status = ALK_OK;

    if (!is_anew && !is_quarantined && alk__fields_same(before, &draft->row))
        return ALK_UNCHANGED;
    if (is_anew)
        status = time_anew(edit, draft, now_us, error);
    else if (is_quarantined)
        status = time_again(edit, draft, now_us, error);
    if (status >= 0)
        status = write_update(conn, draft, now_us, error);
    if (status >= 0 && (is_anew || is_quarantined))
        status = alk__wake_others(conn, ALK__TOPIC_SCHEDULE, error);
    return status;
}

/* put states the whole and so mends a row that cannot be read; change cannot. */
static alk_status update(alk_conn *conn, struct alk__edit *edit,
                         const struct alk__row_schedule *before, int64_t now_us, alk_error *error) {
    struct draft draft = {.row = *before,
                          .resolved = ALK__BUFFER_INIT(RESOLVED_MAX),
                          .plan = {.last_missed_us = ALK_NO_TIME}};

    if (before->row.unreadable != NULL && !edit->may_insert)
        return alk__schedule_unreadable(before, error);
    if (!alk__text_equal(before->spec_resolved_from, before->spec))
        draft.row.spec_resolved = (struct alk__text){0};
    draft.row.name = alk__text_of(edit->given.name);
    draft.row.row.unreadable = NULL;
    alk__fields_set(&draft.row, &edit->given, edit->fields, now_us);
    alk_status status = write_draft(conn, edit, before, &draft, now_us, error);
    alk__buffer_release(&draft.resolved);
    return status;
}

static alk_status edit_once(alk_conn *conn, struct alk__edit *edit, bool *ret_is_taken,
                            alk_error *error) {
    struct alk__rows rows = {0};
    int64_t now_us = 0;

    *ret_is_taken = false;
    alk_status status = alk__schedule_lock(conn, edit->given.name, &rows, &now_us, error);
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

alk_status alk__edit_run(alk_conn *conn, struct alk__edit *edit, alk_error *error) {
    for (int i = 0; i < INSERT_TRIES; i++) {
        bool is_taken;
        alk_status status = edit_once(conn, edit, &is_taken, error);
        if (status < 0 || !is_taken)
            return status;
    }
    return alk__fail(error, ALK_AGAIN, "somebody else makes it at the same time");
}

static alk_status edit_in_tx(alk_conn *conn, void *edit, alk_error *error) {
    return alk__edit_run(conn, edit, error);
}

/* A whole schedule is compiled before the database is touched. */
static alk_status check_spec(const struct alk__edit *edit, alk_error *error) {
    const alk_schedule *given = &edit->given;
    const struct alk__when *when;
    const struct alk__spec spec = {
        .name = alk__text_of(given->name),
        .text = alk__text_of(given->spec),
        .zone = alk__text_of(given->zone != NULL && given->zone[0] != '\0' ? given->zone : NULL),
        .gap = (enum alk__gap)given->dst_gap,
        .fold = (enum alk__fold)given->dst_fold};

    return alk__specs_get(edit->specs, &spec, &when, error);
}

alk_status alk__edit_init(struct alk__edit *edit, const alk_schedule *given, unsigned fields,
                          bool may_insert, struct alk__specs *specs, alk_error *error) {
    *edit = (struct alk__edit){
        .given = ALK_SCHEDULE_INIT, .fields = fields, .may_insert = may_insert, .specs = specs};
    memcpy(&edit->given, given,
           given->size < sizeof(edit->given) ? given->size : sizeof(edit->given));
    alk_status status = alk__fields_check(&edit->given, fields, error);
    return status < 0 || !may_insert ? status : check_spec(edit, error);
}

static alk_status edit_one(alk_conn *conn, const alk_schedule *given, unsigned fields,
                           bool may_insert, alk_error *error) {
    struct alk__specs *specs = NULL;
    struct alk__edit edit;

    alk_status status = alk__name_check("schedule", given->name, error);
    if (status < 0)
        return status;
    status = alk__specs_new(1, &specs, error);
    if (status >= 0)
        status = alk__edit_init(&edit, given, fields, may_insert, specs, error);
    if (status >= 0)
        status = alk__atomic(conn, edit_in_tx, &edit, error);
    alk__specs_free(specs);
    return alk__schedule_named(error, status, given->name);
}

alk_status alk_schedule_put(alk_conn *conn, const alk_schedule *schedule, alk_error *error) {
    return edit_one(conn, schedule, ALK__SCHEDULE_FIELDS, true, error);
}

alk_status alk_schedule_change(alk_conn *conn, const alk_schedule *change, unsigned fields,
                               alk_error *error) {
    return edit_one(conn, change, fields, false, error);
}
