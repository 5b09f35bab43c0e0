/* core/tick.c: one tick: lock what is due, plan it (plan.c), write ledger, jobs and new times, put
 * bad rows aside, and COMMIT behind the fence check. The rows are the truth: a failed tick leaves
 * nothing and the next one reads again (S166, S172). */
#include "core/tick.h"

#include <string.h>

#include "base/duration.h"
#include "base/error.h"
#include "base/json.h"
#include "core/job.h"
#include "core/plan.h"
#include "store/run.h"
#include "when/catchup.h"

struct tick {
    alk_conn *conn;
    const struct alk__tick_options *options;
    struct alk__arena arena;
    struct alk__rows due;
    int64_t now_us; /* by the database's clock, read once (S135) */
    struct alk__plan *plans;
    struct alk__plan **good; /* those that are not bad, in order */
    size_t good_count;
};

/* What write() sends: columns of parallel arrays, one element a fire or a schedule. */
struct fires {
    size_t count;
    struct alk__fire **fires;
    struct alk__new_job *jobs;
    int64_t *schedule_ids;
    int64_t *at_us;
    int64_t *are_catchup;
    int64_t *job_ids;
};

struct gaps {
    size_t count;
    int64_t *schedule_ids;
    int64_t *first_us;
    int64_t *last_us;
    int64_t *counts;
    int64_t *are_at_least;
};

struct moves {
    size_t count;
    int64_t *ids;
    int64_t *versions;
    int64_t *was_us;
    int64_t *next_us;
    int64_t *last_fire_us;
    int64_t *fired;
    int64_t *missed;
    int64_t *last_missed_us;
};

/* Names the phase, and the schedule where there is one to name, in field and message (S165,
 * S167). */
static alk_status at(alk_error *error, alk_status status, alk_phase phase, const char *name) {
    if (status >= 0)
        return status;
    alk__error_set_phase(error, phase);
    if (name == NULL)
        return alk__wrap(error, status, "%s", alk_phase_text(phase));
    alk__error_set_subject(error, name);
    return alk__wrap(error, status, "%s '%s'", alk_phase_text(phase), name);
}

static int64_t *column(struct tick *tick, size_t count, bool *is_ok) {
    int64_t *values = alk__arena_alloc(&tick->arena, count * sizeof(*values));

    *is_ok = *is_ok && values != NULL;
    return values;
}

/* ---- fires: what has not fired before becomes a job ---- */

static bool gather(struct tick *tick, size_t first, size_t end, struct fires *all) {
    size_t count = 0;
    bool is_ok = true;

    for (size_t i = first; i < end; i++)
        count += tick->good[i]->fire_count;
    *all = (struct fires){.schedule_ids = column(tick, count, &is_ok),
                          .at_us = column(tick, count, &is_ok),
                          .are_catchup = column(tick, count, &is_ok),
                          .job_ids = column(tick, count, &is_ok),
                          .fires = alk__arena_alloc(&tick->arena, count * sizeof(*all->fires)),
                          .jobs = alk__arena_alloc(&tick->arena, count * sizeof(*all->jobs))};
    if (!is_ok || all->fires == NULL || all->jobs == NULL)
        return false;
    for (size_t i = first; i < end; i++) {
        const struct alk__plan *plan = tick->good[i];
        for (size_t k = 0; k < plan->fire_count; k++, all->count++) {
            plan->fires[k].job_id = 0;
            all->fires[all->count] = &plan->fires[k];
            all->schedule_ids[all->count] = plan->row->id;
            all->at_us[all->count] = plan->fires[k].at_us;
        }
    }
    return true;
}

/* Marks those that had fired. They come back in about the order in which they were asked for. */
static void mark_fired(struct fires *all, const struct alk__rows *rows, bool *has_fired) {
    size_t at = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct alk__row_fire *row = ALK__ROW(rows, alk__row_fire, i);
        for (size_t looked = 0; looked < all->count; looked++, at = (at + 1) % all->count) {
            if (all->schedule_ids[at] == row->schedule_id && all->at_us[at] == row->fire_at) {
                has_fired[at] = true;
                break;
            }
        }
    }
}

static alk_status drop_fired(struct tick *tick, struct fires *all, alk_error *error) {
    struct alk__rows rows = {0};
    bool *has_fired = alk__arena_alloc(&tick->arena, all->count * sizeof(*has_fired));
    size_t kept = 0;

    if (has_fired == NULL)
        return alk__nomem(error);
    alk_status status =
        alk__do(tick->conn, ALK__TICK_FIRED, &rows, error, ALK__IS(all->schedule_ids, all->count),
                ALK__TS(all->at_us, all->count));
    if (status < 0)
        return status;
    mark_fired(all, &rows, has_fired);
    alk__rows_free(&rows);
    for (size_t i = 0; i < all->count; i++) {
        if (has_fired[i])
            continue;
        all->fires[kept] = all->fires[i];
        all->schedule_ids[kept] = all->schedule_ids[i];
        all->at_us[kept] = all->at_us[i];
        all->are_catchup[kept] = all->fires[i]->is_catchup;
        kept++;
    }
    all->count = kept;
    return ALK_OK;
}

/* What a handler may want to know of the fire (schedules.md, part 10). */
static struct alk__text headers(struct tick *tick, const struct alk__plan *plan,
                                const struct alk__fire *fire) {
    struct alk__buffer json = ALK__BUFFER_INIT(ALK__HEADERS_MAX);
    struct alk__text text = {0};
    char time[ALK__TIME_BYTES];

    alk__buffer_add_text(&json, "{\"schedule\":");
    alk__json_add_string(&json, plan->row->name);
    alk__time_format(fire->at_us, time, sizeof(time));
    alk__buffer_addf(&json, ",\"fire_at\":\"%s\"", time);
    if (fire->previous_us != ALK_NO_TIME) {
        alk__time_format(fire->previous_us, time, sizeof(time));
        alk__buffer_addf(&json, ",\"previous_fire_at\":\"%s\"", time);
    }
    alk__buffer_addf(&json, ",\"catchup\":%s}", fire->is_catchup ? "true" : "false");
    if (!json.is_failed)
        text =
            (struct alk__text){alk__arena_copy(&tick->arena, json.bytes, json.length), json.length};
    alk__buffer_release(&json);
    return text;
}

static alk_status enqueue(struct tick *tick, size_t first, struct fires *fresh, alk_error *error) {
    size_t i = first;

    for (size_t k = 0; k < fresh->count; k++) {
        while (tick->good[i]->row->id != fresh->schedule_ids[k])
            i++;
        const struct alk__row_schedule *row = tick->good[i]->row;
        struct alk__new_job *job = &fresh->jobs[k];
        *job = (struct alk__new_job)ALK__NEW_JOB_INIT;
        job->queue = row->queue;
        job->payload = row->payload;
        job->headers = headers(tick, tick->good[i], fresh->fires[k]);
        job->priority = row->priority;
        job->max_attempts = row->max_attempts;
        job->run_at_us = fresh->at_us[k];
        if (row->expires != ALK__NULL)
            job->expires_at_us = alk__add_us(fresh->at_us[k], row->expires); /* S119 */
        job->schedule_id = row->id;
        job->fire_at_us = fresh->at_us[k];
        if (job->headers.bytes == NULL)
            return alk__nomem(error);
    }
    if (fresh->count == 0)
        return ALK_OK;
    alk_status status =
        alk__enqueue_jobs(tick->conn, fresh->jobs, fresh->count, fresh->job_ids, error);
    for (size_t k = 0; status >= 0 && k < fresh->count; k++)
        fresh->fires[k]->job_id = fresh->job_ids[k];
    return status;
}

/* ---- the ledger's gaps and the schedules' new times ---- */

static bool gather_gaps(struct tick *tick, size_t first, size_t end, struct gaps *gaps) {
    size_t count = end - first;
    bool is_ok = true;

    *gaps = (struct gaps){.schedule_ids = column(tick, count, &is_ok),
                          .first_us = column(tick, count, &is_ok),
                          .last_us = column(tick, count, &is_ok),
                          .counts = column(tick, count, &is_ok),
                          .are_at_least = column(tick, count, &is_ok)};
    for (size_t i = first; is_ok && i < end; i++) {
        const struct alk__plan *plan = tick->good[i];
        if (plan->missed_count == 0)
            continue;
        size_t at = gaps->count++;
        gaps->schedule_ids[at] = plan->row->id;
        gaps->first_us[at] = plan->first_missed_us;
        gaps->last_us[at] = plan->last_missed_us;
        gaps->counts[at] = plan->missed_count;
        gaps->are_at_least[at] = plan->missed_is_at_least;
    }
    return is_ok;
}

static bool gather_moves(struct tick *tick, size_t first, size_t end, struct moves *moves) {
    size_t count = end - first;
    bool is_ok = true;

    *moves = (struct moves){.count = count,
                            .ids = column(tick, count, &is_ok),
                            .versions = column(tick, count, &is_ok),
                            .was_us = column(tick, count, &is_ok),
                            .next_us = column(tick, count, &is_ok),
                            .last_fire_us = column(tick, count, &is_ok),
                            .fired = column(tick, count, &is_ok),
                            .missed = column(tick, count, &is_ok),
                            .last_missed_us = column(tick, count, &is_ok)};
    for (size_t at = 0; is_ok && at < count; at++) {
        const struct alk__plan *plan = tick->good[first + at];
        moves->ids[at] = plan->row->id;
        moves->versions[at] = plan->row->version;
        moves->was_us[at] = plan->row->next_fire_at;
        moves->next_us[at] = plan->next_us;
        moves->last_fire_us[at] =
            plan->fire_count > 0 ? plan->fires[plan->fire_count - 1].at_us : ALK__NULL;
        for (size_t k = 0; k < plan->fire_count; k++)
            moves->fired[at] += plan->fires[k].job_id != 0;
        moves->missed[at] = plan->missed_count;
        moves->last_missed_us[at] = plan->last_missed_us;
    }
    return is_ok;
}

static alk_status settle_rows(struct tick *tick, const struct fires *fresh, const struct gaps *gaps,
                              const struct moves *moves, const char *name, alk_error *error) {
    const struct alk__value owner = ALK__Z(tick->options->lease->owner);
    const struct alk__value fence = ALK__I(tick->options->lease->fence);
    const struct alk__value now = ALK__T(tick->now_us);
    const struct alk__value ledger[] = {ALK__IS(fresh->schedule_ids, fresh->count),
                                        ALK__TS(fresh->at_us, fresh->count),
                                        ALK__BS(fresh->are_catchup, fresh->count),
                                        ALK__IS(fresh->job_ids, fresh->count),
                                        owner,
                                        fence,
                                        now};
    const struct alk__value missed[] = {ALK__IS(gaps->schedule_ids, gaps->count),
                                        ALK__TS(gaps->first_us, gaps->count),
                                        ALK__TS(gaps->last_us, gaps->count),
                                        ALK__IS(gaps->counts, gaps->count),
                                        ALK__BS(gaps->are_at_least, gaps->count),
                                        owner,
                                        fence,
                                        now};
    const struct alk__value advance[] = {ALK__IS(moves->ids, moves->count),
                                         ALK__IS(moves->versions, moves->count),
                                         ALK__TS(moves->was_us, moves->count),
                                         ALK__TS(moves->next_us, moves->count),
                                         ALK__TS(moves->last_fire_us, moves->count),
                                         ALK__IS(moves->fired, moves->count),
                                         ALK__IS(moves->missed, moves->count),
                                         ALK__TS(moves->last_missed_us, moves->count),
                                         now};
    struct alk__rows lines = {0};
    struct alk__rows moved = {0};
    const struct alk__call calls[] = {{ALK__TICK_LEDGER, ledger, 7, &lines},
                                      {ALK__TICK_MISSED, missed, 8, NULL},
                                      {ALK__TICK_ADVANCE, advance, 9, &moved}};
    size_t failed = 0;

    alk_status status = alk__run_all(tick->conn, calls, 3, &failed, error);
    if (status < 0)
        return at(error, status, failed == 0 ? ALK_PHASE_ENQUEUE : ALK_PHASE_ADVANCE, name);
    /* The rows are locked, so that this is somebody who writes without a lock: all of it again. */
    if (lines.changed != (int64_t)fresh->count || moved.changed != (int64_t)moves->count) {
        status = alk__fail(error, ALK_AGAIN, "schedules were changed while they fired");
        status = at(error, status, ALK_PHASE_ADVANCE, name);
    }
    alk__rows_free(&lines);
    alk__rows_free(&moved);
    return status;
}

/* Writes everything that the plans good[first..end) say. */
static alk_status write_plans(struct tick *tick, size_t first, size_t end, alk_error *error) {
    const char *name = end - first == 1 ? tick->good[first]->name : NULL;
    struct fires fresh;
    struct gaps gaps;
    struct moves moves;

    if (!gather(tick, first, end, &fresh))
        return at(error, alk__nomem(error), ALK_PHASE_ENQUEUE, name);
    alk_status status = drop_fired(tick, &fresh, error);
    if (status >= 0)
        status = enqueue(tick, first, &fresh, error);
    if (status < 0)
        return at(error, status, ALK_PHASE_ENQUEUE, name);
    if (!gather_gaps(tick, first, end, &gaps) || !gather_moves(tick, first, end, &moves))
        return at(error, alk__nomem(error), ALK_PHASE_ADVANCE, name);
    return settle_rows(tick, &fresh, &gaps, &moves, name, error);
}

/* Writes under a savepoint. What is refused as data, by the database or because its
 * queue takes no payload of that size, is taken apart in halves down to the
 * schedules whose fault it is: those are bad (S144). Any other failure is no schedule's fault. */
static alk_status write_contained(struct tick *tick, size_t first, size_t end, alk_error *error) {
    alk_error reason = ALK_ERROR_INIT;

    if (first == end)
        return ALK_OK;
    alk_status status = alk__savepoint(tick->conn, error);
    if (status < 0)
        return at(error, status, ALK_PHASE_ENQUEUE, NULL);
    status = write_plans(tick, first, end, &reason);
    if (status >= 0)
        return at(error, alk__savepoint_release(tick->conn, error), ALK_PHASE_ADVANCE, NULL);
    if (status != ALK_DATA && status != ALK_INVALID) {
        if (error != NULL)
            *error = reason;
        return status;
    }
    status = alk__savepoint_rollback(tick->conn, error);
    if (status < 0)
        return at(error, status, ALK_PHASE_ENQUEUE, NULL);
    if (end - first == 1) {
        tick->good[first]->bad = alk__arena_text(&tick->arena, reason.message);
        return tick->good[first]->bad != NULL
                   ? ALK_OK
                   : at(error, alk__nomem(error), ALK_PHASE_ENQUEUE, tick->good[first]->name);
    }
    size_t middle = first + (end - first) / 2;
    status = write_contained(tick, first, middle, error);
    return status < 0 ? status : write_contained(tick, middle, end, error);
}

/* One by one: a row that cannot even be put aside is named (S146). */
static alk_status quarantine_bad(struct tick *tick, alk_error *error) {
    for (size_t i = 0; i < tick->due.count; i++) {
        const struct alk__plan *plan = &tick->plans[i];
        if (plan->bad == NULL)
            continue;
        struct alk__rows rows = {0};
        alk_status status =
            alk__do(tick->conn, ALK__TICK_QUARANTINE, &rows, error, ALK__I(plan->row->id),
                    ALK__Z(plan->bad), ALK__D(ALK__QUARANTINE_BASE_US),
                    ALK__D(ALK__QUARANTINE_CAP_US), ALK__T(tick->now_us));
        if (status >= 0 && rows.changed != 1)
            status = alk__fail(error, ALK_UNREADABLE, "the row cannot be put aside");
        alk__rows_free(&rows);
        if (status < 0)
            return at(error, status, ALK_PHASE_ADVANCE, plan->name);
    }
    return ALK_OK;
}

/* ---- the transaction ---- */

static alk_status begin(struct tick *tick, alk_error *error) {
    /* A suspended leader's transaction is ended by the server before its lease is over (S160). */
    const struct alk__tx_limits limits = {.idle_us = tick->options->lease->ttl_us / 3,
                                          .lock_us = tick->options->lease->ttl_us / 10};

    return at(error, alk__begin_tx(tick->conn, &limits, error), ALK_PHASE_BEGIN, NULL);
}

static alk_status read_due(struct tick *tick, alk_error *error) {
    alk_status status = alk__do(tick->conn, ALK__TICK_DUE, &tick->due, error,
                                ALK__I(tick->options->batch), ALK__I(ALK__SPEC_VERSION));

    if (status >= 0 && tick->due.count > 0)
        tick->now_us = ALK__ROW(&tick->due, alk__row_schedule, 0)->now;
    return at(error, status, ALK_PHASE_READ_DUE, NULL);
}

static alk_status make_plans(struct tick *tick, alk_error *error) {
    size_t count = tick->due.count;

    tick->plans = alk__arena_alloc(&tick->arena, count * sizeof(*tick->plans));
    tick->good = alk__arena_alloc(&tick->arena, count * sizeof(struct alk__plan *));
    if (tick->plans == NULL || tick->good == NULL)
        return at(error, alk__nomem(error), ALK_PHASE_PARSE, NULL);
    for (size_t i = 0; i < count; i++) {
        const struct alk__row_schedule *row = ALK__ROW(&tick->due, alk__row_schedule, i);
        alk_status status =
            alk__plan_row(tick->options->specs, &tick->arena, row, &tick->plans[i], error);
        if (status < 0)
            return at(error, status, ALK_PHASE_PARSE, row->name.bytes);
        if (tick->plans[i].bad == NULL)
            tick->good[tick->good_count++] = &tick->plans[i];
    }
    return ALK_OK;
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
        return at(error, status, ALK_PHASE_COMMIT, NULL);
    alk__error_clear(error);
    status = alk__fail(error, ALK_LOST, "lease '%s' is not held any more", lease->name);
    at(error, status, ALK_PHASE_COMMIT, NULL);
    alk__error_set_subject(error, lease->name);
    return status;
}

static alk_status run(struct tick *tick, alk_error *error) {
    alk_status status = read_due(tick, error);

    if (status < 0 || tick->due.count == 0) {
        alk_rollback(tick->conn);
        return status;
    }
    status = make_plans(tick, error);
    if (status >= 0)
        status = write_contained(tick, 0, tick->good_count, error);
    if (status >= 0)
        status = quarantine_bad(tick, error);
    if (status < 0) {
        alk_rollback(tick->conn);
        return status;
    }
    return commit(tick, error);
}

/* ---- what is told of it ---- */

static void report_bad(const struct tick *tick, const struct alk__plan *plan) {
    alk_event event = alk__event(ALK_LEVEL_WARNING, "schedule quarantined");

    event.subject = plan->name;
    event.detail = plan->bad;
    if (plan->row->quarantine_count >= 0)
        event.count = plan->row->quarantine_count + 1;
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
        alk_event event = alk__event(ALK_LEVEL_DEBUG, "schedule fired");
        event.subject = plan->name;
        event.job_id = plan->fires[k].job_id;
        event.fire_at_us = plan->fires[k].at_us;
        event.fence = tick->options->lease->fence;
        if (plan->fires[k].job_id != 0)
            alk__report(tick->options->reporter, &event);
    }
}

static struct alk__tick_result report(const struct tick *tick) {
    struct alk__tick_result result = {.seen = tick->due.count};

    for (size_t i = 0; i < tick->due.count; i++) {
        const struct alk__plan *plan = &tick->plans[i];
        if (plan->bad != NULL) {
            result.quarantined++;
            report_bad(tick, plan);
            continue;
        }
        for (size_t k = 0; k < plan->fire_count; k++)
            result.fired += plan->fires[k].job_id != 0;
        report_good(tick, plan);
    }
    return result;
}

alk_status alk__tick(alk_conn *conn, const struct alk__tick_options *options,
                     struct alk__tick_result *ret_result, alk_error *error) {
    struct tick tick = {.conn = conn, .options = options};

    alk_status status = begin(&tick, error);
    if (status >= 0)
        status = run(&tick, error);
    if (status >= 0)
        *ret_result = report(&tick);
    alk__rows_free(&tick.due);
    alk__arena_free(&tick.arena);
    return status < 0 ? alk__wrap(error, status, "tick") : ALK_OK;
}

alk_status alk__tick_repair(alk_conn *conn, const struct alk__reporter *reporter, size_t *ret_count,
                            alk_error *error) {
    struct alk__rows rows = {0};

    alk_status status =
        alk__do(conn, ALK__SCHEDULE_REPAIR, &rows, error, ALK__T(ALK__WHEN_END_S * ALK__SECOND));
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
    return at(error, status, ALK_PHASE_READ_DUE, NULL);
}
