/* core/tick.c: one tick: lock what is due, plan it (plan.c), write ledger, jobs and new times, put
 * bad rows aside, and COMMIT behind the fence check. The rows are the truth: a failed tick leaves
 * nothing and the next one reads again (S166, S172). */
#include "core/tick.h"

#include <string.h>

#include "base/error.h"
#include "core/schedule.h"
#include "core/tick_write.h"
#include "store/run.h"
#include "when/catchup.h"

struct tick {
    alk_conn *conn;
    const struct alk__tick_options *options;
    struct alk__arena arena;
    struct alk__rows due;
    struct alk__rows resumable;
    struct alk__tick_writer writer; /* its now: by the database's clock, read once (S135) */
    struct alk__plan *plans;
    size_t planned;          /* of those that are due, the first */
    struct alk__plan **good; /* those that are not bad, in order */
    size_t good_count;
    const char **unresumed; /* of each resumable: why it was put aside instead; NULL = it was not */
};

/* Writes under a savepoint. What is refused as data, by the database or because its
 * queue takes no payload of that size, is taken apart in halves down to the
 * schedules whose fault it is: those are bad (S144). Any other failure is no schedule's fault. */
static alk_status write_contained(struct tick *tick, size_t first, size_t end, alk_error *error) {
    alk_error reason = ALK_ERROR_INIT;

    if (first == end)
        return ALK_OK;
    alk_status status = alk__savepoint(tick->conn, error);
    if (status < 0)
        return alk__tick_at(error, status, ALK_PHASE_ENQUEUE, NULL);
    status = alk__tick_write(&tick->writer, tick->good + first, end - first, &reason);
    if (status >= 0)
        return alk__tick_at(error, alk__savepoint_release(tick->conn, error), ALK_PHASE_ADVANCE,
                            NULL);
    if (status != ALK_DATA && status != ALK_INVALID) {
        if (error != NULL)
            *error = reason;
        return status;
    }
    status = alk__savepoint_rollback(tick->conn, error);
    if (status < 0)
        return alk__tick_at(error, status, ALK_PHASE_ENQUEUE, NULL);
    if (end - first == 1) {
        tick->good[first]->bad = alk__arena_text(&tick->arena, reason.message);
        return tick->good[first]->bad != NULL
                   ? ALK_OK
                   : alk__tick_at(error, alk__nomem(error), ALK_PHASE_ENQUEUE,
                                  tick->good[first]->name);
    }
    size_t middle = first + (end - first) / 2;
    status = write_contained(tick, first, middle, error);
    return status < 0 ? status : write_contained(tick, middle, end, error);
}

/* A row that cannot even be put aside is named (S146). */
static alk_status quarantine(struct tick *tick, const struct alk__row_schedule *row,
                             const char *name, const char *reason, alk_error *error) {
    struct alk__rows rows = {0};

    alk_status status =
        alk__do(tick->conn, ALK__TICK_QUARANTINE, &rows, error, ALK__I(row->id), ALK__Z(reason),
                ALK__D(ALK__QUARANTINE_BASE_US), ALK__D(ALK__QUARANTINE_CAP_US), ALK__T(row->now));
    if (status >= 0 && rows.changed != 1)
        status = alk__fail(error, ALK_UNREADABLE, "the row cannot be put aside");
    alk__rows_free(&rows);
    return alk__tick_at(error, status, ALK_PHASE_ADVANCE, name);
}

static alk_status quarantine_bad(struct tick *tick, alk_error *error) {
    alk_status status = ALK_OK;

    for (size_t i = 0; status >= 0 && i < tick->planned; i++) {
        const struct alk__plan *plan = &tick->plans[i];
        if (plan->bad != NULL)
            status = quarantine(tick, plan->row, plan->name, plan->bad, error);
    }
    return status;
}

/* ---- the transaction ---- */

static alk_status begin(struct tick *tick, alk_error *error) {
    /* A suspended leader's transaction is ended by the server before its lease is over (S160). */
    const struct alk__tx_limits limits = {.idle_us = tick->options->lease->ttl_us / 3,
                                          .lock_us = tick->options->lease->ttl_us / 10};

    return alk__tick_at(error, alk__begin_tx(tick->conn, &limits, error), ALK_PHASE_BEGIN, NULL);
}

static alk_status read_due(struct tick *tick, alk_error *error) {
    const struct alk__value values[] = {ALK__I(tick->options->batch), ALK__I(ALK__SPEC_VERSION)};
    const struct alk__call calls[] = {{ALK__TICK_DUE, values, 2, &tick->due},
                                      {ALK__TICK_RESUMABLE, values, 2, &tick->resumable}};

    alk_status status = alk__run_all(tick->conn, calls, 2, NULL, error);
    if (status >= 0 && tick->due.count > 0)
        tick->writer.now_us = ALK__ROW(&tick->due, alk__row_schedule, 0)->now;
    return alk__tick_at(error, status, ALK_PHASE_READ_DUE, NULL);
}

/* Leaves what would be too much to the next tick; of what is planned, all counts. */
static alk_status make_plans(struct tick *tick, alk_error *error) {
    size_t count = tick->due.count;
    size_t most = (size_t)tick->options->batch > ALK__TICK_FIRES_MAX ? (size_t)tick->options->batch
                                                                     : ALK__TICK_FIRES_MAX;
    size_t fires = 0;

    tick->plans = alk__arena_alloc(&tick->arena, count * sizeof(*tick->plans));
    tick->good = alk__arena_alloc(&tick->arena, count * sizeof(struct alk__plan *));
    if (tick->plans == NULL || tick->good == NULL)
        return alk__tick_at(error, alk__nomem(error), ALK_PHASE_PARSE, NULL);
    for (size_t i = 0; i < count && fires < most; i++) {
        const struct alk__row_schedule *row = ALK__ROW(&tick->due, alk__row_schedule, i);
        alk_status status =
            alk__plan_row(tick->options->specs, &tick->arena, row, &tick->plans[i], error);
        if (status < 0)
            return alk__tick_at(error, status, ALK_PHASE_PARSE, row->name.bytes);
        if (tick->plans[i].bad == NULL)
            tick->good[tick->good_count++] = &tick->plans[i];
        fires += tick->plans[i].fire_count;
        tick->planned = i + 1;
    }
    return ALK_OK;
}

/* A pause that is over: what was due until its end is missed, what was due later is left to the
 * next tick, and a bad spec too (S117). A row whose data keep it from being resumed is put aside
 * (S144). */
static alk_status resume_row(struct tick *tick, const struct alk__row_schedule *row,
                             const char **ret_reason, alk_error *error) {
    const char *name = row->name.bytes;
    alk_error reason = ALK_ERROR_INIT;

    alk_status status = alk__savepoint(tick->conn, error);
    if (status < 0)
        return alk__tick_at(error, status, ALK_PHASE_ADVANCE, name);
    status =
        alk__schedule_end_pause(tick->conn, tick->options->specs, row, row->pause_until, &reason);
    if (status >= 0)
        return alk__tick_at(error, alk__savepoint_release(tick->conn, error), ALK_PHASE_ADVANCE,
                            name);
    if (status != ALK_DATA) {
        if (error != NULL)
            *error = reason;
        return alk__tick_at(error, status, ALK_PHASE_ADVANCE, name);
    }
    status = alk__savepoint_rollback(tick->conn, error);
    *ret_reason = alk__arena_text(&tick->arena, reason.message);
    if (status >= 0 && *ret_reason == NULL)
        status = alk__nomem(error);
    return status < 0 ? alk__tick_at(error, status, ALK_PHASE_ADVANCE, name)
                      : quarantine(tick, row, name, *ret_reason, error);
}

static alk_status resume(struct tick *tick, alk_error *error) {
    size_t count = tick->resumable.count;
    alk_status status = ALK_OK;

    tick->unresumed = alk__arena_alloc(&tick->arena, count * sizeof(*tick->unresumed));
    if (tick->unresumed == NULL)
        return alk__tick_at(error, alk__nomem(error), ALK_PHASE_ADVANCE, NULL);
    for (size_t i = 0; status >= 0 && i < count; i++)
        status = resume_row(tick, ALK__ROW(&tick->resumable, alk__row_schedule, i),
                            &tick->unresumed[i], error);
    return status;
}

static alk_status commit(struct tick *tick, alk_error *error) {
    const alk_lease *lease = tick->options->lease;
    const struct alk__value values[] = {ALK__Z(lease->name), ALK__Z(lease->owner),
                                        ALK__I(lease->fence)};
    struct alk__rows rows = {0};
    const struct alk__call fence = {ALK__TICK_FENCE, values, 3, &rows};
    size_t failed = 0;

    alk_status status = alk__commit_with(tick->conn, &fence, 1, &failed, error);
    alk__rows_free(&rows);
    if (status != ALK_DATA || failed != 0)
        return alk__tick_at(error, status, ALK_PHASE_COMMIT, NULL);
    alk__error_clear(error);
    status = alk__fail(error, ALK_LOST, "lease '%s' is not held any more", lease->name);
    alk__tick_at(error, status, ALK_PHASE_COMMIT, NULL);
    alk__error_set_subject(error, lease->name);
    return status;
}

static alk_status run(struct tick *tick, alk_error *error) {
    alk_status status = read_due(tick, error);

    if (status < 0 || tick->due.count + tick->resumable.count == 0) {
        alk_rollback(tick->conn);
        return status;
    }
    status = make_plans(tick, error);
    if (status >= 0)
        status = write_contained(tick, 0, tick->good_count, error);
    if (status >= 0)
        status = quarantine_bad(tick, error);
    if (status >= 0)
        status = resume(tick, error);
    if (status < 0) {
        alk_rollback(tick->conn);
        return status;
    }
    return commit(tick, error);
}

/* ---- what is told of it ---- */

static void report_bad(const struct tick *tick, const struct alk__row_schedule *row,
                       const char *name, const char *reason) {
    alk_event event = alk__event(ALK_LEVEL_WARNING, "schedule quarantined");

    event.subject = name;
    event.detail = reason;
    if (row->quarantine_count >= 0 && row->quarantine_count < INT64_MAX)
        event.count = row->quarantine_count + 1;
    alk__report(tick->options->reporter, &event);
}

static void report_good(const struct tick *tick, const struct alk__plan *plan) {
    if (plan->row->quarantined_at != ALK__NULL) {
        alk_event event = alk__event(ALK_LEVEL_INFO, "schedule recovered");
        event.subject = plan->name;
        event.fire_at_us = plan->next_us;
        alk__report(tick->options->reporter, &event);
    }
    if (plan->missed_count > 0) { /* S130 */
        alk_event event = alk__event(ALK_LEVEL_WARNING, "boundaries missed");
        event.subject = plan->name;
        event.count = plan->missed_count;
        event.fire_at_us = plan->first_missed_us;
        event.last_fire_at_us = plan->last_missed_us;
        event.detail = plan->missed_is_at_least ? "at least" : "";
        alk__report(tick->options->reporter, &event);
    }
    for (size_t k = 0; k < plan->fire_count; k++) {
        bool is_skipped = plan->fires[k].is_skipped; /* S122 */
        alk_event event = is_skipped ? alk__event(ALK_LEVEL_INFO, "boundary skipped")
                                     : alk__event(ALK_LEVEL_DEBUG, "schedule fired");
        event.subject = plan->name;
        event.job_id = is_skipped ? -1 : plan->fires[k].job_id;
        event.fire_at_us = plan->fires[k].at_us;
        event.fence = tick->options->lease->fence;
        if (plan->fires[k].job_id != 0 || is_skipped)
            alk__report(tick->options->reporter, &event);
    }
}

static struct alk__tick_result report(const struct tick *tick) {
    struct alk__tick_result result = {.seen = tick->planned, .resumed = tick->resumable.count};

    for (size_t i = 0; i < tick->planned; i++) {
        const struct alk__plan *plan = &tick->plans[i];
        if (plan->bad != NULL) {
            result.quarantined++;
            report_bad(tick, plan->row, plan->name, plan->bad);
            continue;
        }
        for (size_t k = 0; k < plan->fire_count; k++)
            result.fired += plan->fires[k].job_id != 0;
        report_good(tick, plan);
    }
    for (size_t i = 0; i < tick->resumable.count; i++) {
        const struct alk__row_schedule *row = ALK__ROW(&tick->resumable, alk__row_schedule, i);
        const char *name = row->name.bytes != NULL ? row->name.bytes : "";
        alk_event event = alk__event(ALK_LEVEL_INFO, "schedule resumed");
        if (tick->unresumed[i] != NULL) {
            result.quarantined++;
            report_bad(tick, row, name, tick->unresumed[i]);
            continue;
        }
        event.subject = name;
        alk__report(tick->options->reporter, &event);
    }
    return result;
}

alk_status alk__tick(alk_conn *conn, const struct alk__tick_options *options,
                     struct alk__tick_result *ret_result, alk_error *error) {
    struct tick tick = {.conn = conn, .options = options};
    tick.writer = (struct alk__tick_writer){conn, &tick.arena, options->lease, 0};

    alk_status status = begin(&tick, error);
    if (status >= 0)
        status = run(&tick, error);
    if (status >= 0)
        *ret_result = report(&tick);
    alk__rows_free(&tick.due);
    alk__rows_free(&tick.resumable);
    alk__arena_free(&tick.arena);
    return status < 0 ? alk__wrap(error, status, "tick") : ALK_OK;
}

alk_status alk__tick_repair(alk_conn *conn, const struct alk__reporter *reporter, size_t *ret_count,
                            alk_error *error) {
    struct alk__rows rows = {0};

    alk_status status = alk__do(conn, ALK__SCHEDULE_REPAIR, &rows, error,
                                ALK__T(ALK__WHEN_END_S * ALK__SECOND), ALK__I(ALK__SPEC_VERSION));
    for (size_t i = 0; status >= 0 && i < rows.count; i++) {
        const struct alk__row_schedule_name *row = ALK__ROW(&rows, alk__row_schedule_name, i);
        alk_event event = alk__event(ALK_LEVEL_WARNING, "schedule quarantined");
        event.subject = row->name.bytes != NULL ? row->name.bytes : "";
        event.detail = "next_fire_at was not a time before 2200";
        alk__report(reporter, &event);
    }
    if (status >= 0)
        *ret_count = rows.count;
    alk__rows_free(&rows);
    return alk__tick_at(error, status, ALK_PHASE_READ_DUE, NULL);
}
