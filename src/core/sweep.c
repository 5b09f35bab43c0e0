/* core/sweep.c: reads a batch without locks, works out what is to change, and writes it to those
 * rows that nobody holds and that are still as they were read. */
#include "core/sweep.h"

#include "base/arena.h"
#include "base/error.h"
#include "core/plan.h"
#include "core/tick.h"
#include "store/run.h"

#define BATCH 500

/* What becomes of one schedule. */
struct change {
    int64_t next_us;
    int64_t done_us;
    int64_t fired_until_us; /* its last fire is not later; ALK__NULL = it stays */
    struct alk__text fingerprint;
    struct alk__plan plan; /* only what was missed */
};

/* Parallel arrays, one element a schedule that changes. */
struct changes {
    size_t count;
    int64_t *ids;
    int64_t *versions;
    int64_t *was_us;
    int64_t *next_us;
    int64_t *done_us;
    int64_t *fired_until_us;
    struct alk__text *fingerprints;
    int64_t *missed;
    int64_t *first_missed_us;
    int64_t *last_missed_us;
    int64_t *are_at_least;
};

/* ---- what one row needs; false: nothing ---- */

static int64_t later(int64_t left, int64_t right) {
    return left > right ? left : right;
}

static bool is_used_up(const struct alk__row_schedule *row) {
    return row->max_fires != ALK__NULL && row->fired_total >= row->max_fires;
}

static bool forget(const struct alk__when *when, const struct alk__row_schedule *row,
                   int64_t until_us, struct change *change) {
    bool is_active = row->paused_at == ALK__NULL && row->done_at == ALK__NULL &&
                     row->quarantined_at == ALK__NULL;

    if (!is_active || row->next_fire_at == ALK__NULL || row->next_fire_at > until_us)
        return false;
    alk__plan_skip(when, row, row->next_fire_at, until_us, &change->plan);
    change->next_us = change->plan.next_us;
    change->done_us = change->next_us == ALK__NULL ? row->now : ALK__NULL;
    return true;
}

/* A quarantined row is tested again soon. One that was done under the wrong clock may live again;
 * what it fired then is on the ledger and does not fire anew. What is due already stays so: a last
 * fire that lies ahead does not hide it. */
static bool rearm(const struct alk__when *when, const struct alk__row_schedule *row,
                  struct change *change) {
    int64_t next_us;
    bool is_done = row->done_at != ALK__NULL;

    change->fired_until_us = row->now;
    change->done_us = ALK__NULL;
    if (row->quarantined_at != ALK__NULL) {
        change->next_us = row->now;
        return !is_done && row->next_fire_at > alk__add_us(row->now, ALK__QUARANTINE_CAP_US);
    }
    if ((is_done ? row->done_at <= row->now || is_used_up(row) : row->next_fire_at == ALK__NULL) ||
        !alk__plan_next(when, row->anchor_at, row->not_before, row->not_after, row->now, &next_us))
        return false;
    if (!is_done && row->next_fire_at <= row->now)
        change->fired_until_us = alk__add_us(row->next_fire_at, -ALK__SECOND);
    else
        change->next_us = next_us;
    return is_done || row->next_fire_at > next_us || row->last_fire_at > row->now;
}

/* What is due already fires as it is; only what lies ahead is worked out anew. Where it is not
 * known with which zone file that was done (a row by somebody's own SQL) it counts as done with
 * this one. */
static bool rezone(const struct alk__when *when, const struct alk__row_schedule *row,
                   struct change *change, char *fingerprint) {
    uint64_t current = alk__when_fingerprint(when);

    alk__fingerprint_text(current, fingerprint);
    change->fingerprint = alk__text_of(fingerprint);
    if (row->done_at != ALK__NULL || row->quarantined_at != ALK__NULL ||
        alk__text_equal(change->fingerprint, row->zone_fingerprint))
        return false;
    if (row->zone_fingerprint.bytes != NULL && row->next_fire_at > row->now)
        (void)alk__plan_next(when, row->anchor_at, row->not_before, row->not_after,
                             later(row->last_fire_at, row->now), &change->next_us);
    return true;
}

static alk_status judge(const struct alk__sweep *sweep, struct alk__specs *specs,
                        const struct alk__row_schedule *row, struct change *change,
                        char *fingerprint, bool *ret_is_needed, alk_error *error) {
    const struct alk__when *when;
    alk_error reason = ALK_ERROR_INIT;

    *ret_is_needed = false;
    if (row->row.unreadable != NULL)
        return ALK_OK;
    alk_status status = alk__plan_compile(specs, row, &when, NULL, &reason);
    if (status == ALK_NOMEM)
        return alk__nomem(error);
    if (status < 0)
        return ALK_OK;
    *change =
        (struct change){.next_us = row->next_fire_at,
                        .done_us = row->done_at,
                        .fired_until_us = ALK__NULL,
                        .plan = {.first_missed_us = ALK_NO_TIME, .last_missed_us = ALK_NO_TIME}};
    if (sweep->kind == ALK__SWEEP_FORGET)
        *ret_is_needed = forget(when, row, sweep->until_us, change);
    else if (sweep->kind == ALK__SWEEP_REARM)
        *ret_is_needed = rearm(when, row, change);
    else
        *ret_is_needed = rezone(when, row, change, fingerprint);
    return ALK_OK;
}

/* ---- a batch ---- */

static bool changes_alloc(struct changes *all, struct alk__arena *arena, size_t count) {
    int64_t *numbers = alk__arena_alloc(arena, 10 * count * sizeof(*numbers));

    *all =
        (struct changes){.fingerprints = alk__arena_alloc(arena, count * sizeof(struct alk__text))};
    if (numbers == NULL || all->fingerprints == NULL)
        return false;
    all->ids = numbers;
    all->versions = numbers + count;
    all->was_us = numbers + 2 * count;
    all->next_us = numbers + 3 * count;
    all->done_us = numbers + 4 * count;
    all->fired_until_us = numbers + 5 * count;
    all->missed = numbers + 6 * count;
    all->first_missed_us = numbers + 7 * count;
    all->last_missed_us = numbers + 8 * count;
    all->are_at_least = numbers + 9 * count;
    return true;
}

static void changes_add(struct changes *all, const struct alk__row_schedule *row,
                        const struct change *change) {
    size_t at = all->count++;

    all->ids[at] = row->id;
    all->versions[at] = row->version;
    all->was_us[at] = row->next_fire_at;
    all->next_us[at] = change->next_us;
    all->done_us[at] = change->done_us;
    all->fired_until_us[at] = change->fired_until_us;
    all->fingerprints[at] = change->fingerprint;
    all->missed[at] = change->plan.missed_count;
    all->first_missed_us[at] = change->plan.first_missed_us;
    all->last_missed_us[at] = change->plan.last_missed_us;
    all->are_at_least[at] = change->plan.missed_is_at_least;
}

static alk_status gather(const struct alk__sweep *sweep, struct alk__specs *specs,
                         struct alk__rows *rows, struct changes *all, alk_error *error) {
    if (!changes_alloc(all, &rows->arena, rows->count))
        return alk__nomem(error);
    for (size_t i = 0; i < rows->count; i++) {
        const struct alk__row_schedule *row = ALK__ROW(rows, alk__row_schedule, i);
        char fingerprint[ALK__FINGERPRINT_BYTES];
        struct change change;
        bool is_needed;
        alk_status status = judge(sweep, specs, row, &change, fingerprint, &is_needed, error);
        if (status < 0)
            return status;
        if (!is_needed)
            continue;
        if (change.fingerprint.bytes != NULL) {
            change.fingerprint.bytes = alk__arena_text(&rows->arena, fingerprint);
            if (change.fingerprint.bytes == NULL)
                return alk__nomem(error);
        }
        changes_add(all, row, &change);
    }
    return ALK_OK;
}

/* Keeps of the gaps those of schedules that were changed; both are in the order of ids. */
static void keep_gaps(struct changes *all, const struct alk__rows *changed) {
    size_t kept = 0;

    for (size_t i = 0, k = 0; i < all->count; i++) {
        while (k < changed->count && ALK__ROW(changed, alk__row_number, k)->number < all->ids[i])
            k++;
        if (k == changed->count || ALK__ROW(changed, alk__row_number, k)->number != all->ids[i] ||
            all->missed[i] == 0)
            continue;
        all->ids[kept] = all->ids[i];
        all->missed[kept] = all->missed[i];
        all->first_missed_us[kept] = all->first_missed_us[i];
        all->last_missed_us[kept] = all->last_missed_us[i];
        all->are_at_least[kept++] = all->are_at_least[i];
    }
    all->count = kept;
}

static alk_status write(alk_conn *conn, struct alk__sweep *sweep, const alk_lease *lease,
                        struct changes *all, int64_t now_us, alk_error *error) {
    struct alk__rows changed = {0};

    alk_status status =
        alk__do(conn, ALK__SWEEP_WRITE, &changed, error, ALK__IS(all->ids, all->count),
                ALK__IS(all->versions, all->count), ALK__TS(all->was_us, all->count),
                ALK__TS(all->next_us, all->count), ALK__TS(all->done_us, all->count),
                ALK__TS(all->fired_until_us, all->count), ALK__SS(all->fingerprints, all->count),
                ALK__IS(all->missed, all->count), ALK__TS(all->last_missed_us, all->count));
    if (status >= 0) {
        sweep->changed += changed.count;
        sweep->is_incomplete = sweep->is_incomplete || changed.count < all->count;
        keep_gaps(all, &changed);
        status = alk__do(conn, ALK__TICK_MISSED, NULL, error, ALK__IS(all->ids, all->count),
                         ALK__TS(all->first_missed_us, all->count),
                         ALK__TS(all->last_missed_us, all->count), ALK__IS(all->missed, all->count),
                         ALK__BS(all->are_at_least, all->count), ALK__Z(lease->owner),
                         ALK__I(lease->fence), ALK__T(now_us));
    }
    alk__rows_free(&changed);
    return status;
}

struct sweeping {
    struct alk__sweep *sweep;
    struct alk__specs *specs;
    const alk_lease *lease;
};

static alk_status step_in_tx(alk_conn *conn, void *context, alk_error *error) {
    struct sweeping *work = context;
    struct alk__sweep *sweep = work->sweep;
    struct alk__rows rows = {0};
    struct changes all;

    alk_status status =
        alk__do(conn, sweep->kind == ALK__SWEEP_ZONES ? ALK__SWEEP_ZONED : ALK__SWEEP_ALL, &rows,
                error, ALK__I(sweep->after_id), ALK__I(sweep->limit), ALK__I(ALK__SPEC_VERSION));
    if (status >= 0)
        status = gather(sweep, work->specs, &rows, &all, error);
    if (status >= 0 && rows.count > 0)
        sweep->after_id = ALK__ROW(&rows, alk__row_schedule, rows.count - 1)->id;
    if (status >= 0)
        sweep->is_over = (int64_t)rows.count < sweep->limit;
    if (status >= 0 && all.count > 0)
        status = write(conn, sweep, work->lease, &all, ALK__ROW(&rows, alk__row_schedule, 0)->now,
                       error);
    alk__rows_free(&rows);
    return status;
}

/* Half as many the next time; of one alone, whose fault it is, what lies behind it. */
static void contain(struct alk__sweep *sweep, const struct alk__sweep *failed) {
    if (sweep->limit > 1) {
        sweep->limit /= 2;
        return;
    }
    sweep->after_id = failed->after_id;
    sweep->limit = 0;
}

alk_status alk__sweep_step(alk_conn *conn, struct alk__sweep *sweep, struct alk__specs *specs,
                           const alk_lease *lease, alk_error *error) {
    if (sweep->limit == 0)
        sweep->limit = BATCH;
    struct alk__sweep after = *sweep;
    struct sweeping work = {&after, specs, lease};

    if (sweep->kind == ALK__SWEEP_ZONES && sweep->after_id == 0)
        alk__specs_refresh(specs);
    alk_status status = alk__atomic(conn, step_in_tx, &work, error);
    if (status == ALK_DATA) {
        alk__error_clear(error);
        contain(sweep, &after);
        return ALK_OK;
    }
    if (status < 0)
        return alk__wrap(error, status, "sweep");
    *sweep = after;
    return ALK_OK;
}
