/* core/plan.c: from a schedule's row to what a tick does about it. Boundaries are whole seconds and
 * when/ counts in them; rows have microseconds. */
#include "core/plan.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "when/catchup.h"
#include <alkstore/schedule.h>

static int64_t floor_s(int64_t us) {
    return us / ALK__SECOND - (us % ALK__SECOND < 0);
}

static int64_t ceil_s(int64_t us) {
    return us / ALK__SECOND + (us % ALK__SECOND > 0);
}

static int64_t us_of(int64_t s) {
    return s == ALK_NO_TIME ? ALK_NO_TIME : s * ALK__SECOND;
}

struct alk__text alk__plan_spec(const struct alk__row_schedule *row) {
    bool is_resolved = row->spec_resolved.bytes != NULL && row->spec_resolved_from.bytes != NULL &&
                       alk__text_equal(row->spec_resolved_from, row->spec);
    return is_resolved ? row->spec_resolved : row->spec;
}

/* Whole seconds of a span, one that was begun counted; 0 = none. */
static int64_t span_s(int64_t us) {
    return us == ALK__NULL ? 0 : ceil_s(us);
}

static int64_t bound_s(int64_t us) {
    return us == ALK__NULL ? ALK_NO_TIME : ceil_s(us);
}

_Static_assert((int)ALK_CATCHUP_LAST == (int)ALK__CATCHUP_LAST &&
                   (int)ALK_CATCHUP_SKIP == (int)ALK__CATCHUP_SKIP &&
                   (int)ALK_CATCHUP_ALL == (int)ALK__CATCHUP_ALL &&
                   (int)ALK_DST_GAP_SKIP == (int)ALK__GAP_SKIP &&
                   (int)ALK_DST_FOLD_FIRST == (int)ALK__FOLD_FIRST &&
                   (int)ALK_DST_FOLD_LAST == (int)ALK__FOLD_LAST &&
                   (int)ALK_DST_FOLD_BOTH == (int)ALK__FOLD_BOTH,
               "the words outside are the words of when/");

alk_status alk__plan_compile(struct alk__specs *specs, const struct alk__row_schedule *row,
                             const struct alk__when **ret_when, struct alk__policy *ret_policy,
                             alk_error *error) {
    struct alk__policy policy;

    alk_status status = alk__policy_read(row, &policy, error);
    if (status < 0)
        return status;
    const struct alk__spec spec = {.name = row->name,
                                   .text = alk__plan_spec(row),
                                   .zone = row->zone,
                                   .gap = (enum alk__gap)policy.gap,
                                   .fold = (enum alk__fold)policy.fold};
    status = alk__specs_get(specs, &spec, ret_when, error);
    if (status < 0)
        return alk__wrap(error, status, "spec");
    if (ret_policy != NULL)
        *ret_policy = policy;
    return ALK_OK;
}

bool alk__plan_next(const struct alk__when *when, int64_t anchor_us, int64_t not_before_us,
                    int64_t not_after_us, int64_t after_us, int64_t *ret_next_us) {
    int64_t after_s = floor_s(after_us);
    int64_t next_s;

    if (not_before_us != ALK__NULL && ceil_s(not_before_us) > after_s)
        after_s = ceil_s(not_before_us) - 1;
    if (!alk__when_next(when, floor_s(anchor_us), after_s, &next_s) ||
        (not_after_us != ALK__NULL && next_s >= ceil_s(not_after_us)))
        return false;
    *ret_next_us = us_of(next_s);
    return true;
}

/* max 0 = nothing fires, all of it is missed. */
static void decide(const struct alk__when *when, const struct alk__row_schedule *row,
                   alk_catchup catchup, int64_t from_us, int64_t now_us, int max, int64_t *fire_s,
                   struct alk__catchup_result *result) {
    const struct alk__catchup_options options = {.policy = (enum alk__catchup_policy)catchup,
                                                 .max = max,
                                                 .grace_s = span_s(row->grace),
                                                 .window_s = span_s(row->catchup_window),
                                                 .max_lateness_s = span_s(row->max_lateness),
                                                 .not_before_s = bound_s(row->not_before),
                                                 .not_after_s = bound_s(row->not_after)};

    result->fire_s = fire_s;
    alk__catchup(when, floor_s(row->anchor_at), ceil_s(from_us),
                 row->last_fire_at == ALK__NULL ? ALK_NO_TIME : floor_s(row->last_fire_at),
                 floor_s(now_us), &options, result);
}

static void take_rest(const struct alk__catchup_result *result, struct alk__plan *plan) {
    plan->missed_count = result->missed_count;
    plan->missed_is_at_least = result->missed_is_at_least;
    plan->first_missed_us = us_of(result->first_missed_s);
    plan->last_missed_us = us_of(result->last_missed_s);
    plan->next_us = result->has_next ? us_of(result->next_s) : ALK__NULL;
}

void alk__plan_skip(const struct alk__when *when, const struct alk__row_schedule *row,
                    int64_t from_us, int64_t now_us, struct alk__plan *plan) {
    struct alk__catchup_result result;
    int64_t none = 0;

    decide(when, row, ALK_CATCHUP_SKIP, from_us, now_us, 0, &none, &result);
    plan->fires = NULL;
    plan->fire_count = 0;
    plan->bad = NULL;
    take_rest(&result, plan);
}

static int64_t fires_left(const struct alk__row_schedule *row) {
    if (row->max_fires == ALK__NULL)
        return INT64_MAX;
    int64_t fired = row->fired_total > 0 ? row->fired_total : 0;
    return row->max_fires > fired ? row->max_fires - fired : 0;
}

/* The fires are neighbours, and behind the last of them comes after_s (ALK_NO_TIME = nothing). */
static void fill_fires(const struct alk__row_schedule *row, const int64_t *fire_s, int64_t after_s,
                       size_t late_count, struct alk__plan *plan) {
    int64_t jitter_us = row->jitter == ALK__NULL ? 0 : row->jitter;
    int64_t previous_us = row->last_fire_at;

    for (size_t i = 0; i < plan->fire_count; i++) {
        int64_t next_s = i + 1 < plan->fire_count ? fire_s[i + 1] : after_s;
        int64_t late_us = alk__jitter_us(row->id, fire_s[i], jitter_us, next_s);
        plan->fires[i] = (struct alk__fire){.at_us = us_of(fire_s[i]),
                                            .run_at_us = alk__add_us(us_of(fire_s[i]), late_us),
                                            .previous_us = previous_us,
                                            .is_catchup = i + late_count < plan->fire_count};
        previous_us = plan->fires[i].at_us;
    }
}

static alk_status plan_fires(const struct alk__when *when, struct alk__arena *arena,
                             const struct alk__policy *policy, struct alk__plan *plan,
                             alk_error *error) {
    const struct alk__row_schedule *row = plan->row;
    struct alk__catchup_result result;
    int64_t fire_s[ALK__CATCHUP_MAX];

    plan->overlap = policy->overlap;
    if (plan->fires_left == 0)
        return ALK_OK;
    decide(when, row, policy->catchup, row->next_fire_at, row->now, (int)row->catchup_max, fire_s,
           &result);
    take_rest(&result, plan);
    plan->fires = alk__arena_alloc(arena, result.fire_count * sizeof(*plan->fires));
    if (plan->fires == NULL)
        return alk__nomem(error);
    plan->fire_count = result.fire_count;
    fill_fires(row, fire_s, result.has_next ? result.next_s : ALK_NO_TIME, result.late_count, plan);
    return ALK_OK;
}

/* What is wrong with the row itself, apart from its spec: ALK_OK or ALK_INVALID. */
static alk_status check(const struct alk__row_schedule *row, alk_error *error) {
    if (row->row.unreadable != NULL)
        return alk__fail(error, ALK_INVALID, "%s", row->row.unreadable);
    if (row->next_fire_at == ALK__NULL)
        return alk__fail(error, ALK_INVALID, "next_fire_at is no time");
    if (row->catchup_max < 1 || row->catchup_max > ALK__CATCHUP_MAX)
        return alk__fail(error, ALK_INVALID, "catchup_max is out of range 1-%d", ALK__CATCHUP_MAX);
    alk_status status = alk__name_check("schedule", row->name.bytes, error);
    if (status == ALK_OK)
        status = alk__name_check("queue", row->queue.bytes, error);
    if (status == ALK_OK)
        status = alk__json_check("payload", row->payload, ALK__PAYLOAD_MAX, error);
    return status;
}

static const char *name_of(struct alk__arena *arena, const struct alk__row_schedule *row) {
    char text[48];

    if (row->name.bytes != NULL)
        return row->name.bytes;
    snprintf(text, sizeof(text), "schedule %lld", (long long)row->id);
    return alk__arena_text(arena, text);
}

alk_status alk__plan_row(struct alk__specs *specs, struct alk__arena *arena,
                         const struct alk__row_schedule *row, struct alk__plan *ret_plan,
                         alk_error *error) {
    struct alk__plan plan = {.row = row,
                             .name = name_of(arena, row),
                             .first_missed_us = ALK_NO_TIME,
                             .last_missed_us = ALK_NO_TIME,
                             .next_us = ALK__NULL,
                             .fires_left = fires_left(row)};
    const struct alk__when *when = NULL;
    struct alk__policy policy;
    alk_error reason = ALK_ERROR_INIT;

    alk_status status = plan.name == NULL ? alk__nomem(&reason) : check(row, &reason);
    if (status == ALK_OK)
        status = alk__plan_compile(specs, row, &when, &policy, &reason);
    if (status == ALK_OK && row->quarantined_at != ALK__NULL)
        alk__plan_skip(when, row,
                       row->quarantine_from == ALK__NULL ? row->now : row->quarantine_from,
                       row->now, &plan);
    else if (status == ALK_OK)
        status = plan_fires(when, arena, &policy, &plan, &reason);

    if (status == ALK_INVALID) {
        plan.bad = alk__arena_text(arena, reason.message);
        status = plan.bad == NULL ? alk__nomem(&reason) : ALK_OK;
    }
    if (status == ALK_OK)
        *ret_plan = plan;
    else if (error != NULL)
        *error = reason;
    return status;
}
