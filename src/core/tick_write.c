/* core/tick_write.c: from plans to rows: which fires are new and may fire become jobs, every
 * boundary gets its line, every schedule its next time. Columns of parallel arrays go to the
 * database, one element a fire or a schedule. */
#include "core/tick_write.h"

#include "base/arena.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/json.h"
#include "core/job.h"
#include "core/overlap.h"
#include "store/run.h"

struct writing {
    const struct alk__tick_writer *writer;
    struct alk__arena *arena;
    struct alk__plan **plans;
    size_t count;
    const char *name; /* of the schedule, where it is one alone */
};

/* The fires of all plans. */
struct fires {
    size_t count;
    struct alk__fire **fires;
    const struct alk__row_schedule **rows;
    int64_t *schedule_ids;
    int64_t *at_us;
};

/* Those that become jobs. */
struct news {
    size_t count;
    struct alk__fire **fires;
    struct alk__new_job *jobs;
    int64_t *schedule_ids;
    int64_t *at_us;
    int64_t *are_catchup;
    int64_t *job_ids;
};

struct skips {
    size_t count;
    int64_t *schedule_ids;
    int64_t *at_us;
    int64_t *job_ids;
    struct alk__text *details;
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
    int64_t *skipped;
    int64_t *last_missed_us;
};

alk_status alk__tick_at(alk_error *error, alk_status status, alk_phase phase, const char *name) {
    if (status >= 0)
        return status;
    alk__error_set_phase(error, phase);
    if (name == NULL)
        return alk__wrap(error, status, "%s", alk_phase_text(phase));
    alk__error_set_subject(error, name);
    return alk__wrap(error, status, "%s '%s'", alk_phase_text(phase), name);
}

static int64_t *column(const struct writing *work, size_t count, bool *is_ok) {
    int64_t *values = alk__arena_alloc(work->arena, count * sizeof(*values));

    *is_ok = *is_ok && values != NULL;
    return values;
}

/* ---- which boundaries have fired before ---- */

static bool gather(const struct writing *work, struct fires *all) {
    size_t count = 0;
    bool is_ok = true;

    for (size_t i = 0; i < work->count; i++)
        count += work->plans[i]->fire_count;
    *all = (struct fires){.schedule_ids = column(work, count, &is_ok),
                          .at_us = column(work, count, &is_ok),
                          .fires = alk__arena_alloc(work->arena, count * sizeof(*all->fires)),
                          .rows = alk__arena_alloc(work->arena, count * sizeof(*all->rows))};
    if (!is_ok || all->fires == NULL || all->rows == NULL)
        return false;
    for (size_t i = 0; i < work->count; i++) {
        const struct alk__plan *plan = work->plans[i];
        for (size_t k = 0; k < plan->fire_count; k++, all->count++) {
            plan->fires[k].job_id = 0;
            plan->fires[k].has_fired = false;
            all->fires[all->count] = &plan->fires[k];
            all->rows[all->count] = plan->row;
            all->schedule_ids[all->count] = plan->row->id;
            all->at_us[all->count] = plan->fires[k].at_us;
        }
    }
    return true;
}

/* Those that had fired come back in about the order in which they were asked for. */
static alk_status mark_fired(const struct writing *work, const struct fires *all,
                             alk_error *error) {
    struct alk__rows rows = {0};
    size_t at = 0;

    alk_status status =
        alk__do(work->writer->conn, ALK__TICK_FIRED, &rows, error,
                ALK__IS(all->schedule_ids, all->count), ALK__TS(all->at_us, all->count));
    for (size_t i = 0; status >= 0 && i < rows.count; i++) {
        const struct alk__row_fire *row = ALK__ROW(&rows, alk__row_fire, i);
        for (size_t looked = 0; looked < all->count; looked++, at = (at + 1) % all->count) {
            if (all->schedule_ids[at] == row->schedule_id && all->at_us[at] == row->fire_at) {
                all->fires[at]->has_fired = true;
                break;
            }
        }
    }
    alk__rows_free(&rows);
    return status;
}

/* ---- jobs ---- */

struct alk__text alk__fire_headers(struct alk__arena *arena, const struct alk__row_schedule *row,
                                   const struct alk__fire *fire) {
    struct alk__buffer json = ALK__BUFFER_INIT(ALK__HEADERS_MAX);
    struct alk__text text = {0};
    char time[ALK__TIME_BYTES];

    alk__buffer_add_text(&json, "{\"schedule\":");
    alk__json_add_string(&json, row->name);
    alk__time_format(fire->at_us, time, sizeof(time));
    alk__buffer_addf(&json, ",\"fire_at\":\"%s\"", time);
    if (fire->previous_us != ALK_NO_TIME) {
        alk__time_format(fire->previous_us, time, sizeof(time));
        alk__buffer_addf(&json, ",\"previous_fire_at\":\"%s\"", time);
    }
    alk__buffer_addf(&json, ",\"catchup\":%s}", fire->is_catchup ? "true" : "false");
    if (!json.is_failed)
        text = (struct alk__text){alk__arena_copy(arena, json.bytes, json.length), json.length};
    alk__buffer_release(&json);
    return text;
}

static bool make_job(const struct writing *work, const struct alk__row_schedule *row,
                     const struct alk__fire *fire, struct alk__new_job *job) {
    *job = (struct alk__new_job)ALK__NEW_JOB_INIT;
    job->queue = row->queue;
    job->payload = row->payload;
    job->headers = alk__fire_headers(work->arena, row, fire);
    job->priority = row->priority;
    job->max_attempts = row->max_attempts;
    job->run_at_us = fire->run_at_us;
    if (row->expires != ALK__NULL)
        job->expires_at_us = alk__add_us(fire->at_us, row->expires); /* S119 */
    job->schedule_id = row->id;
    job->fire_at_us = fire->at_us;
    return job->headers.bytes != NULL;
}

static bool gather_news(const struct writing *work, const struct fires *all, struct news *fresh) {
    bool is_ok = true;

    *fresh =
        (struct news){.schedule_ids = column(work, all->count, &is_ok),
                      .at_us = column(work, all->count, &is_ok),
                      .are_catchup = column(work, all->count, &is_ok),
                      .job_ids = column(work, all->count, &is_ok),
                      .fires = alk__arena_alloc(work->arena, all->count * sizeof(*fresh->fires)),
                      .jobs = alk__arena_alloc(work->arena, all->count * sizeof(*fresh->jobs))};
    if (!is_ok || fresh->fires == NULL || fresh->jobs == NULL)
        return false;
    for (size_t i = 0; i < all->count; i++) {
        struct alk__fire *fire = all->fires[i];
        if (fire->has_fired || fire->is_skipped || fire->is_beyond)
            continue;
        if (!make_job(work, all->rows[i], fire, &fresh->jobs[fresh->count]))
            return false;
        fresh->fires[fresh->count] = fire;
        fresh->schedule_ids[fresh->count] = all->schedule_ids[i];
        fresh->at_us[fresh->count] = fire->at_us;
        fresh->are_catchup[fresh->count++] = fire->is_catchup;
    }
    return true;
}

static alk_status enqueue(const struct writing *work, const struct fires *all, struct news *fresh,
                          alk_error *error) {
    if (!gather_news(work, all, fresh))
        return alk__nomem(error);
    alk_status status =
        alk__enqueue_jobs(work->writer->conn, fresh->jobs, fresh->count, fresh->job_ids, error);
    for (size_t k = 0; status >= 0 && k < fresh->count; k++)
        fresh->fires[k]->job_id = fresh->job_ids[k];
    return status;
}

/* ---- the ledger's other lines and the schedules' new times ---- */

static void add_skip(struct skips *skips, int64_t schedule_id, int64_t at_us, int64_t job_id,
                     struct alk__text detail) {
    size_t at = skips->count++;

    skips->schedule_ids[at] = schedule_id;
    skips->at_us[at] = at_us;
    skips->job_ids[at] = job_id;
    skips->details[at] = detail;
}

static bool gather_skips(const struct writing *work, const struct fires *all,
                         const struct alk__rows *replaced, struct skips *skips) {
    size_t count = all->count + replaced->count;
    bool is_ok = true;

    *skips =
        (struct skips){.schedule_ids = column(work, count, &is_ok),
                       .at_us = column(work, count, &is_ok),
                       .job_ids = column(work, count, &is_ok),
                       .details = alk__arena_alloc(work->arena, count * sizeof(*skips->details))};
    if (!is_ok || skips->details == NULL)
        return false;
    for (size_t i = 0; i < replaced->count; i++) {
        const struct alk__row_replaced *row = ALK__ROW(replaced, alk__row_replaced, i);
        add_skip(skips, row->schedule_id, row->fire_at, row->job_id,
                 ALK__TEXT("its job had not been started and was replaced"));
    }
    for (size_t i = 0; i < all->count; i++) {
        if (all->fires[i]->is_skipped)
            add_skip(skips, all->schedule_ids[i], all->at_us[i], ALK__NULL, (struct alk__text){0});
    }
    return true;
}

static bool gather_gaps(const struct writing *work, struct gaps *gaps) {
    size_t count = work->count;
    bool is_ok = true;

    *gaps = (struct gaps){.schedule_ids = column(work, count, &is_ok),
                          .first_us = column(work, count, &is_ok),
                          .last_us = column(work, count, &is_ok),
                          .counts = column(work, count, &is_ok),
                          .are_at_least = column(work, count, &is_ok)};
    for (size_t i = 0; is_ok && i < count; i++) {
        const struct alk__plan *plan = work->plans[i];
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

static void move_of(const struct alk__plan *plan, struct moves *moves, size_t at) {
    moves->ids[at] = plan->row->id;
    moves->versions[at] = plan->row->version;
    moves->was_us[at] = plan->row->next_fire_at;
    moves->next_us[at] = plan->is_used_up ? ALK__NULL : plan->next_us;
    moves->last_fire_us[at] = ALK__NULL;
    for (size_t k = 0; k < plan->fire_count; k++) {
        const struct alk__fire *fire = &plan->fires[k];
        moves->fired[at] += fire->job_id != 0;
        moves->skipped[at] += fire->is_skipped;
        if (fire->has_fired || fire->job_id != 0)
            moves->last_fire_us[at] = fire->at_us;
    }
    moves->missed[at] = plan->missed_count;
    moves->last_missed_us[at] = plan->last_missed_us;
}

static bool gather_moves(const struct writing *work, const struct alk__rows *replaced,
                         struct moves *moves) {
    size_t count = work->count;
    bool is_ok = true;

    *moves = (struct moves){.count = count,
                            .ids = column(work, count, &is_ok),
                            .versions = column(work, count, &is_ok),
                            .was_us = column(work, count, &is_ok),
                            .next_us = column(work, count, &is_ok),
                            .last_fire_us = column(work, count, &is_ok),
                            .fired = column(work, count, &is_ok),
                            .missed = column(work, count, &is_ok),
                            .skipped = column(work, count, &is_ok),
                            .last_missed_us = column(work, count, &is_ok)};
    for (size_t at = 0; is_ok && at < count; at++) {
        move_of(work->plans[at], moves, at);
        for (size_t i = 0; i < replaced->count; i++)
            moves->skipped[at] +=
                ALK__ROW(replaced, alk__row_replaced, i)->schedule_id == moves->ids[at];
    }
    return is_ok;
}

static alk_status settle_rows(const struct writing *work, const struct news *fresh,
                              const struct skips *skips, const struct gaps *gaps,
                              const struct moves *moves, alk_error *error) {
    const struct alk__value owner = ALK__Z(work->writer->lease->owner);
    const struct alk__value fence = ALK__I(work->writer->lease->fence);
    const struct alk__value now = ALK__T(work->writer->now_us);
    const struct alk__value ledger[] = {ALK__IS(fresh->schedule_ids, fresh->count),
                                        ALK__TS(fresh->at_us, fresh->count),
                                        ALK__BS(fresh->are_catchup, fresh->count),
                                        ALK__IS(fresh->job_ids, fresh->count),
                                        owner,
                                        fence,
                                        now};
    const struct alk__value skipped[] = {ALK__IS(skips->schedule_ids, skips->count),
                                         ALK__TS(skips->at_us, skips->count),
                                         ALK__IS(skips->job_ids, skips->count),
                                         ALK__SS(skips->details, skips->count),
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
                                         ALK__IS(moves->skipped, moves->count),
                                         ALK__TS(moves->last_missed_us, moves->count),
                                         now};
    struct alk__rows lines = {0};
    struct alk__rows moved = {0};
    const struct alk__call calls[] = {{ALK__TICK_LEDGER, ledger, 7, &lines},
                                      {ALK__TICK_SKIPPED, skipped, 7, NULL},
                                      {ALK__TICK_MISSED, missed, 8, NULL},
                                      {ALK__TICK_ADVANCE, advance, 10, &moved}};
    size_t failed = 0;

    alk_status status = alk__run_all(work->writer->conn, calls, 4, &failed, error);
    if (status < 0)
        return alk__tick_at(error, status, failed == 0 ? ALK_PHASE_ENQUEUE : ALK_PHASE_ADVANCE,
                            work->name);
    /* The rows are locked, so that this is somebody who writes without a lock: all of it again. */
    if (lines.changed != (int64_t)fresh->count || moved.changed != (int64_t)moves->count) {
        status = alk__fail(error, ALK_AGAIN, "schedules were changed while they fired");
        status = alk__tick_at(error, status, ALK_PHASE_ADVANCE, work->name);
    }
    alk__rows_free(&lines);
    alk__rows_free(&moved);
    return status;
}

static alk_status write_rows(const struct writing *work, const struct news *fresh,
                             const struct fires *all, const struct alk__rows *replaced,
                             alk_error *error) {
    struct skips skips;
    struct gaps gaps;
    struct moves moves;

    if (!gather_skips(work, all, replaced, &skips) || !gather_gaps(work, &gaps) ||
        !gather_moves(work, replaced, &moves))
        return alk__tick_at(error, alk__nomem(error), ALK_PHASE_ADVANCE, work->name);
    return settle_rows(work, fresh, &skips, &gaps, &moves, error);
}

alk_status alk__tick_write(const struct alk__tick_writer *writer, struct alk__plan **plans,
                           size_t count, alk_error *error) {
    const struct writing work = {writer, writer->arena, plans, count,
                                 count == 1 ? plans[0]->name : NULL};
    struct alk__rows replaced = {0};
    struct fires all;
    struct news fresh;

    alk_status status = gather(&work, &all) ? mark_fired(&work, &all, error) : alk__nomem(error);
    if (status >= 0)
        status = alk__overlap_judge(writer->conn, writer->arena, plans, count, &replaced, error);
    if (status >= 0)
        status = enqueue(&work, &all, &fresh, error);
    status = alk__tick_at(error, status, ALK_PHASE_ENQUEUE, work.name);
    if (status >= 0)
        status = write_rows(&work, &fresh, &all, &replaced, error);
    alk__rows_free(&replaced);
    return status;
}
