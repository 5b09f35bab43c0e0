/* when/catchup.c: what is due is a row of boundaries; its newest end fires, the rest is missed
 * (schedules.md, part 5).
 *
 * Every policy, the cap and the maximum lateness cut off older boundaries only, so what fires is
 * found by walking back from now and what was dropped is one stretch with a first, a last and a
 * count. */
#include "when/catchup.h"

#include "when/compiled.h"

static int64_t higher(int64_t left, int64_t right) {
    return left > right ? left : right;
}

static int64_t lower(int64_t left, int64_t right) {
    return left < right ? left : right;
}

/* Times a row can hold are anything; boundaries lie in 0..END, and differences of these do not
 * overflow. */
static int64_t clamp(int64_t time_s) {
    return higher(-1, lower(time_s, ALK__WHEN_END_S));
}

static int64_t bounded(int64_t age_s) {
    return higher(0, lower(age_s, ALK__WHEN_END_S));
}

/* The oldest moments, up to now_s, that are late; that may fire as missed ones. */
struct limits {
    int64_t late_from_s;
    int64_t missed_from_s;
    size_t max;
};

static struct limits limits_of(const struct alk__catchup_options *options, int64_t now_s) {
    int64_t from_s = 0;

    if (options->max_lateness_s > 0)
        from_s = now_s - bounded(options->max_lateness_s);
    if (options->policy == ALK__CATCHUP_ALL && options->window_s > 0)
        from_s = higher(from_s, now_s - bounded(options->window_s) + 1);
    return (struct limits){
        .late_from_s = now_s - bounded(options->grace_s),
        .missed_from_s = from_s,
        .max = (size_t)higher(0, lower(options->max, ALK__CATCHUP_MAX)),
    };
}

/* Whether the boundary at at_s fires, after count newer ones that do. */
static bool is_fired(const struct limits *limits, enum alk__catchup_policy policy, int64_t at_s,
                     size_t count) {
    if (count >= limits->max)
        return false;
    if (at_s >= limits->late_from_s)
        return true;
    if (at_s < limits->missed_from_s)
        return false;
    return policy == ALK__CATCHUP_ALL || (policy == ALK__CATCHUP_LAST && count == 0);
}

/* Fills fire_s from the newest boundary of first_s..last_s on, then turns it into the order of
 * time. */
static void collect(const struct alk__when *when, int64_t anchor_s, int64_t first_s, int64_t last_s,
                    int64_t now_s, const struct alk__catchup_options *options,
                    struct alk__catchup_result *result) {
    struct limits limits = limits_of(options, now_s);
    int64_t at_s = last_s + 1;

    while (alk__when_prev(when, anchor_s, at_s, &at_s) && at_s >= first_s &&
           is_fired(&limits, options->policy, at_s, result->fire_count)) {
        result->fire_s[result->fire_count++] = at_s;
        result->late_count += at_s >= limits.late_from_s;
    }
    for (size_t i = 0, j = result->fire_count; i + 1 < j; i++) {
        int64_t newer = result->fire_s[i];
        result->fire_s[i] = result->fire_s[--j];
        result->fire_s[j] = newer;
    }
}

/* What lies before the oldest that fires. */
static void count_missed(const struct alk__when *when, int64_t anchor_s, int64_t first_s,
                         int64_t last_s, struct alk__catchup_result *result) {
    int64_t end_s = result->fire_count > 0 ? result->fire_s[0] : last_s + 1;

    if (first_s >= end_s)
        return;
    result->first_missed_s = first_s;
    (void)alk__when_prev(when, anchor_s, end_s, &result->last_missed_s);
    result->missed_count =
        alk__when_count(when, anchor_s, first_s, end_s - 1, ALK__CATCHUP_COUNT_MAX + 1);
    if (when->kind != ALK__WHEN_EVERY && result->missed_count > ALK__CATCHUP_COUNT_MAX) {
        result->missed_count = ALK__CATCHUP_COUNT_MAX;
        result->missed_is_at_least = true;
    }
}

void alk__catchup(const struct alk__when *when, int64_t anchor_s, int64_t next_fire_s,
                  int64_t last_fire_s, int64_t now_s, const struct alk__catchup_options *options,
                  struct alk__catchup_result *result) {
    bool has_end = options->not_after_s != ALK_NO_TIME;
    int64_t now = clamp(now_s);
    int64_t done_s = clamp(last_fire_s);
    int64_t first_s;

    *result = (struct alk__catchup_result){
        .fire_s = result->fire_s, .first_missed_s = ALK_NO_TIME, .last_missed_s = ALK_NO_TIME};
    if (options->not_before_s != ALK_NO_TIME)
        done_s = higher(done_s, clamp(options->not_before_s) - 1);
    int64_t last_s = has_end ? lower(now, clamp(options->not_after_s) - 1) : now;
    if (alk__when_next(when, anchor_s, higher(done_s, clamp(next_fire_s) - 1), &first_s) &&
        first_s <= last_s) {
        collect(when, anchor_s, first_s, last_s, now, options, result);
        count_missed(when, anchor_s, first_s, last_s, result);
    }
    result->has_next = alk__when_next(when, anchor_s, higher(now, done_s), &result->next_s) &&
                       (!has_end || result->next_s < options->not_after_s);
}

/* The low byte first, on every machine. */
static uint64_t add_number(uint64_t state, int64_t number) {
    unsigned char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)number >> 8 * i);
    return alk__hash_add(state, bytes, sizeof(bytes));
}

int64_t alk__jitter_us(int64_t schedule_id, int64_t fire_s, int64_t jitter_us, int64_t next_s) {
    const int64_t second_us = 1000000;
    int64_t most_us = jitter_us;

    if (next_s != ALK_NO_TIME && next_s - fire_s < most_us / second_us + 1)
        most_us = lower(most_us, (next_s - fire_s) * second_us);
    if (most_us <= 0)
        return 0;
    uint64_t state = add_number(add_number(ALK__HASH_START, schedule_id), fire_s);
    return (int64_t)(alk__hash_finish(state) % (uint64_t)most_us);
}
