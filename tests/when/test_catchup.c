/* tests/when/test_catchup.c: what fires, what was missed, what comes next (S129, S131; the table of
 * schedules.md, part 5, is among the vectors). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/random_when.h"
#include "support/tsv.h"
#include "when/catchup.h"

#define HOUR INT64_C(3600)
#define DAY (24 * HOUR)
#define NOON INT64_C(1796126400) /* 2026-12-01T12:00:00Z */

static struct alk__when *parse(const char *spec) {
    struct alk__when *when = NULL;

    assert_int_equal(ALK_OK, alk__when_parse(alk__text_of(spec), NULL, &when, NULL));
    return when;
}

static int64_t fires[ALK__CATCHUP_MAX];

/* One backlog with the boundaries of spec, anchored at NOON. */
static struct alk__catchup_result catch_up(const char *spec, int64_t next_fire_s,
                                           int64_t last_fire_s, int64_t now_s,
                                           const struct alk__catchup_options *options) {
    struct alk__when *when = parse(spec);
    struct alk__catchup_result result = {.fire_s = fires};

    alk__catchup(when, NOON, next_fire_s, last_fire_s, now_s, options, &result);
    alk__when_free(when);
    return result;
}

static void assert_nothing_missed(const struct alk__catchup_result *result) {
    assert_int_equal(0, result->missed_count);
    assert_false(result->missed_is_at_least);
    assert_int_equal(ALK_NO_TIME, result->first_missed_s);
    assert_int_equal(ALK_NO_TIME, result->last_missed_s);
}

/* S131: on time is late by 0 and fires under every policy; nothing was missed. */
static void a_boundary_on_time_fires(void **state) {
    (void)state;
    for (int policy = ALK__CATCHUP_LAST; policy <= ALK__CATCHUP_ALL; policy++) {
        struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;
        options.policy = (enum alk__catchup_policy)policy;
        struct alk__catchup_result result =
            catch_up("0 * * * *", NOON, NOON - HOUR, NOON, &options);

        assert_int_equal(1, result.fire_count);
        assert_int_equal(1, result.late_count);
        assert_int_equal(NOON, fires[0]);
        assert_nothing_missed(&result);
        assert_true(result.has_next);
        assert_int_equal(NOON + HOUR, result.next_s);
    }
}

/* S131: late up to the grace, included; missed one second later. */
static void grace_ends_after_its_last_second(void **state) {
    struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;
    struct alk__catchup_result result;

    (void)state;
    options.policy = ALK__CATCHUP_SKIP;
    result = catch_up("0 * * * *", NOON, ALK_NO_TIME, NOON + 60, &options);
    assert_int_equal(1, result.fire_count);
    result = catch_up("0 * * * *", NOON, ALK_NO_TIME, NOON + 61, &options);
    assert_int_equal(0, result.fire_count);
    assert_int_equal(1, result.missed_count);
    assert_int_equal(NOON, result.first_missed_s);
    assert_int_equal(NOON, result.last_missed_s);
    options.grace_s = 61;
    result = catch_up("0 * * * *", NOON, ALK_NO_TIME, NOON + 61, &options);
    assert_int_equal(1, result.late_count);
}

/* S131: "younger than" the window; older than max_lateness is dropped, exactly so old is not. */
static void window_and_lateness_end_where_they_say(void **state) {
    struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;

    (void)state;
    options.policy = ALK__CATCHUP_ALL;
    options.window_s = 2 * HOUR;
    assert_int_equal(
        2, catch_up("0 * * * *", NOON - 5 * HOUR, ALK_NO_TIME, NOON, &options).fire_count);
    options.window_s = 2 * HOUR + 1;
    assert_int_equal(
        3, catch_up("0 * * * *", NOON - 5 * HOUR, ALK_NO_TIME, NOON, &options).fire_count);
    options.window_s = 0;
    options.max_lateness_s = 2 * HOUR;
    assert_int_equal(
        3, catch_up("0 * * * *", NOON - 5 * HOUR, ALK_NO_TIME, NOON, &options).fire_count);
    options.max_lateness_s = 2 * HOUR - 1;
    assert_int_equal(
        2, catch_up("0 * * * *", NOON - 5 * HOUR, ALK_NO_TIME, NOON, &options).fire_count);
}

/* S131: max_lateness takes the newest missed one away from `last` too, and never a late one. */
static void max_lateness_is_for_every_policy(void **state) {
    struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;
    struct alk__catchup_result result;

    (void)state;
    options.max_lateness_s = HOUR;
    result = catch_up("0 9 * * *", NOON - 3 * HOUR, ALK_NO_TIME, NOON, &options);
    assert_int_equal(0, result.fire_count);
    assert_int_equal(1, result.missed_count);
    options.max_lateness_s = 1;
    result = catch_up("0 12 * * *", NOON, ALK_NO_TIME, NOON + 30, &options);
    assert_int_equal(1, result.late_count);
}

/* S131: with a late one there, `last` leaves the missed ones alone. */
static void last_fires_a_missed_one_only_when_none_is_late(void **state) {
    struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;
    struct alk__catchup_result result =
        catch_up("0 * * * *", NOON - 3 * HOUR, ALK_NO_TIME, NOON + 5, &options);

    (void)state;
    assert_int_equal(1, result.fire_count);
    assert_int_equal(1, result.late_count);
    assert_int_equal(NOON, fires[0]);
    assert_int_equal(3, result.missed_count);
    assert_int_equal(NOON - 3 * HOUR, result.first_missed_s);
    assert_int_equal(NOON - HOUR, result.last_missed_s);

    result = catch_up("0 * * * *", NOON - 3 * HOUR, ALK_NO_TIME, NOON + 500, &options);
    assert_int_equal(1, result.fire_count);
    assert_int_equal(0, result.late_count);
    assert_int_equal(NOON, fires[0]);
}

/* S129: the newest, in time order, late and missed together, whatever the policy. */
static void the_cap_keeps_the_newest(void **state) {
    struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;

    (void)state;
    for (int policy = ALK__CATCHUP_LAST; policy <= ALK__CATCHUP_ALL; policy++) {
        options.policy = (enum alk__catchup_policy)policy;
        options.max = 4;
        struct alk__catchup_result result =
            catch_up("@every 1s", NOON + 1, ALK_NO_TIME, NOON + 50, &options);

        assert_int_equal(4, result.fire_count);
        assert_int_equal(4, result.late_count);
        for (int i = 0; i < 4; i++)
            assert_int_equal(NOON + 47 + i, fires[i]);
        assert_int_equal(46, result.missed_count);
        assert_int_equal(NOON + 1, result.first_missed_s);
        assert_int_equal(NOON + 46, result.last_missed_s);
        assert_int_equal(NOON + 51, result.next_s);
    }
    assert_int_equal(64, ALK__CATCHUP_MAX_DEFAULT);
    options = (struct alk__catchup_options)ALK__CATCHUP_OPTIONS_INIT;
    options.policy = ALK__CATCHUP_ALL;
    assert_int_equal(64, catch_up("@every 1m", NOON, ALK_NO_TIME, NOON + DAY, &options).fire_count);
    options.max = 0;
    assert_int_equal(0, catch_up("@every 1m", NOON, ALK_NO_TIME, NOON + DAY, &options).fire_count);
    options.max = INT32_MAX;
    assert_int_equal(ALK__CATCHUP_MAX,
                     catch_up("@every 1m", NOON, ALK_NO_TIME, NOON + DAY, &options).fire_count);
}

/* S129, S128: after a century of seconds the grid is found by arithmetic and the phase is kept: by
 * steps this would take hours. */
static void a_gap_of_years_costs_no_steps(void **state) {
    struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;
    const int64_t years_s = 5000000000;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct alk__catchup_result result =
            catch_up("@every 3s", NOON + 3, ALK_NO_TIME, NOON + years_s + 100, &options);

        assert_int_equal(21, result.fire_count);
        assert_int_equal((years_s + 100) / 3 - 21, result.missed_count);
        assert_false(result.missed_is_at_least);
        assert_int_equal(NOON + 3, result.first_missed_s);
        assert_int_equal(0, (result.next_s - NOON) % 3);
        assert_in_range(result.next_s, NOON + years_s + 101, NOON + years_s + 103);
    }
}

/* S131: missed boundaries of cron are counted up to 10,000, and then the answer says so. */
static void a_long_count_ends_and_says_at_least(void **state) {
    struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;
    struct alk__catchup_result result;

    (void)state;
    options.policy = ALK__CATCHUP_SKIP;
    result = catch_up("* * * * * *", NOON, ALK_NO_TIME, NOON + 10060, &options);
    assert_int_equal(10000, result.missed_count);
    result = catch_up("0 * * * * *", NOON, ALK_NO_TIME, NOON + 10000 * 60 + 60, &options);
    assert_int_equal(10000, result.missed_count);
    assert_false(result.missed_is_at_least);
    result = catch_up("0 * * * * *", NOON, ALK_NO_TIME, NOON + 10001 * 60 + 60, &options);
    assert_int_equal(10000, result.missed_count);
    assert_true(result.missed_is_at_least);
    assert_int_equal(NOON, result.first_missed_s);
    assert_int_equal(NOON + 10000 * 60, result.last_missed_s);
}

/* S127, S131: what has fired is not due again, whatever next_fire_at says. */
static void nothing_up_to_the_last_fire_fires_again(void **state) {
    struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;
    struct alk__catchup_result result;

    (void)state;
    options.policy = ALK__CATCHUP_ALL;
    result = catch_up("0 * * * *", NOON - 5 * HOUR, NOON - HOUR, NOON + 10, &options);
    assert_int_equal(1, result.fire_count);
    assert_int_equal(NOON, fires[0]);
    assert_nothing_missed(&result);

    /* The clock was put back: what comes next comes after what fired. */
    result = catch_up("0 * * * *", NOON - 5 * HOUR, NOON + 2 * HOUR, NOON, &options);
    assert_int_equal(0, result.fire_count);
    assert_nothing_missed(&result);
    assert_int_equal(NOON + 3 * HOUR, result.next_s);
}

/* S128: a next_fire_at that somebody wrote by hand need not be a boundary; fires always are. */
static void the_first_due_boundary_is_a_true_one(void **state) {
    struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;
    struct alk__catchup_result result;

    (void)state;
    options.policy = ALK__CATCHUP_ALL;
    result = catch_up("0 * * * *", NOON - 2 * HOUR + 1, ALK_NO_TIME, NOON + 1, &options);
    assert_int_equal(2, result.fire_count);
    assert_int_equal(NOON - HOUR, fires[0]);
    result = catch_up("0 * * * *", NOON - 2 * HOUR, ALK_NO_TIME, NOON + 1, &options);
    assert_int_equal(3, result.fire_count);
    assert_int_equal(NOON - 2 * HOUR, fires[0]);

    /* Due in the row, but no boundary has passed. */
    result = catch_up("0 * * * *", NOON + 1, ALK_NO_TIME, NOON + 5, &options);
    assert_int_equal(0, result.fire_count);
    assert_nothing_missed(&result);
    assert_int_equal(NOON + HOUR, result.next_s);
}

/* S121: not_before included, not_after excluded; what lies outside is no boundary and not
 * missed. */
static void times_outside_the_window_of_a_schedule_are_no_boundaries(void **state) {
    struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;
    struct alk__catchup_result result;

    (void)state;
    options.policy = ALK__CATCHUP_ALL;
    options.not_before_s = NOON - 2 * HOUR;
    options.not_after_s = NOON;
    result = catch_up("0 * * * *", NOON - 9 * HOUR, ALK_NO_TIME, NOON + HOUR, &options);
    assert_int_equal(2, result.fire_count);
    assert_int_equal(NOON - 2 * HOUR, fires[0]);
    assert_int_equal(NOON - HOUR, fires[1]);
    assert_nothing_missed(&result);
    assert_false(result.has_next);

    options.not_before_s = NOON + 5 * HOUR;
    options.not_after_s = NOON + 6 * HOUR;
    result = catch_up("0 * * * *", NOON, ALK_NO_TIME, NOON + HOUR, &options);
    assert_int_equal(0, result.fire_count);
    assert_true(result.has_next);
    assert_int_equal(NOON + 5 * HOUR, result.next_s);
}

/* S104, S108: never again is an answer. */
static void an_end_of_boundaries_is_said(void **state) {
    struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;
    struct alk__catchup_result result =
        catch_up("@at 2026-12-01T12:00:00Z", NOON, ALK_NO_TIME, NOON + DAY, &options);

    (void)state;
    assert_int_equal(1, result.fire_count);
    assert_int_equal(NOON, fires[0]);
    assert_false(result.has_next);
    result = catch_up("0 0 12 1 12 ? 2026", NOON, NOON, NOON + DAY, &options);
    assert_int_equal(0, result.fire_count);
    assert_false(result.has_next);
}

/* Rows that were tampered with: any number is taken, nothing overflows. */
static void hostile_numbers_do_no_harm(void **state) {
    static const int64_t numbers[] = {INT64_MIN,  INT64_MIN + 1,   -1,       0, NOON,
                                      NOON + DAY, ALK__WHEN_END_S, INT64_MAX};
    static const char *const specs[] = {"@every 10s", "@every 3652d/7s", "* * * * *", "@yearly"};
    const size_t count = sizeof(numbers) / sizeof(*numbers);
    uint64_t seed = 131;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;
        int64_t value[9];

        for (size_t j = 0; j < 9; j++)
            value[j] = numbers[(size_t)seeded_below(&seed, (int)count)];
        options.policy = (enum alk__catchup_policy)seeded_below(&seed, 3);
        options.max = seeded_below(&seed, 5) - 1;
        options.grace_s = value[0];
        options.window_s = value[1];
        options.max_lateness_s = value[2];
        options.not_before_s = value[3];
        options.not_after_s = value[4];
        struct alk__when *when = parse(specs[seeded_below(&seed, 4)]);
        struct alk__catchup_result result = {.fire_s = fires};
        alk__catchup(when, value[5], value[6], value[7], value[8], &options, &result);
        assert_true((int)result.fire_count <= (options.max < 0 ? 0 : options.max));
        assert_true(result.late_count <= result.fire_count && result.missed_count >= 0);
        assert_true(!result.has_next || result.next_s > value[8]);
        alk__when_free(when);
    }
}

/* ---- against the rules, read one boundary at a time ---- */

/* Whether the i-th of count boundaries fires, from what part 5 says and nothing else. */
static bool is_fired(const int64_t *due, size_t i, size_t count, int64_t now_s,
                     const struct alk__catchup_options *options) {
    int64_t age_s = now_s - due[i];
    bool is_late = age_s <= options->grace_s;
    bool is_newest_late = now_s - due[count - 1] <= options->grace_s;

    if (i + (size_t)options->max < count)
        return false;
    if (is_late)
        return true;
    if (options->max_lateness_s > 0 && age_s > options->max_lateness_s)
        return false;
    switch (options->policy) {
    case ALK__CATCHUP_LAST:
        return !is_newest_late && i == count - 1;
    case ALK__CATCHUP_SKIP:
        return false;
    case ALK__CATCHUP_ALL:
        return options->window_s == 0 || age_s < options->window_s;
    }
    return false;
}

/* S129, S131: random backlogs of random specs. */
static void backlogs_agree_with_the_rules_boundary_by_boundary(void **state) {
    static const char *const specs[] = {"* * * * *",   "*/7 * * * *", "*/20 * * * * *", "0 * * * *",
                                        "0 9 * * 1-5", "@every 37s",  "@every 1h/5m"};
    static int64_t due[20000];
    uint64_t seed = 20261201;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct alk__when *when = parse(specs[seeded_below(&seed, 7)]);
        struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;
        struct alk__catchup_result result = {.fire_s = fires};
        int64_t next_fire_s = NOON + seeded_below(&seed, 1000);
        int64_t last_fire_s = NOON + seeded_below(&seed, 2000);
        int64_t now_s =
            next_fire_s + seeded_below(&seed, seeded_below(&seed, 2) == 0 ? 200 : 50000);
        int64_t at_s = last_fire_s >= next_fire_s ? last_fire_s : next_fire_s - 1;
        size_t count = 0;
        size_t fired = 0;

        options.policy = (enum alk__catchup_policy)seeded_below(&seed, 3);
        options.max = 1 + seeded_below(&seed, 20);
        options.grace_s = seeded_below(&seed, 300);
        options.window_s = seeded_below(&seed, 2) * seeded_below(&seed, 20000);
        options.max_lateness_s = seeded_below(&seed, 2) * seeded_below(&seed, 20000);
        while (alk__when_next(when, NOON, at_s, &at_s) && at_s <= now_s)
            due[count++] = at_s;
        alk__catchup(when, NOON, next_fire_s, last_fire_s, now_s, &options, &result);
        for (size_t j = 0; j < count; j++) {
            if (!is_fired(due, j, count, now_s, &options))
                continue;
            assert_true(fired < result.fire_count);
            assert_int_equal(due[j], fires[fired++]);
        }
        assert_int_equal(fired, result.fire_count);
        assert_int_equal(count - fired, result.missed_count);
        if (count > fired) {
            assert_int_equal(due[0], result.first_missed_s);
            assert_int_equal(due[count - fired - 1], result.last_missed_s);
        }
        assert_true(result.has_next);
        assert_int_equal(at_s > now_s && at_s > last_fire_s ? at_s : 0, result.next_s);
        alk__when_free(when);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_boundary_on_time_fires),
        cmocka_unit_test(grace_ends_after_its_last_second),
        cmocka_unit_test(window_and_lateness_end_where_they_say),
        cmocka_unit_test(max_lateness_is_for_every_policy),
        cmocka_unit_test(last_fires_a_missed_one_only_when_none_is_late),
        cmocka_unit_test(the_cap_keeps_the_newest),
        cmocka_unit_test(a_gap_of_years_costs_no_steps),
        cmocka_unit_test(a_long_count_ends_and_says_at_least),
        cmocka_unit_test(nothing_up_to_the_last_fire_fires_again),
        cmocka_unit_test(the_first_due_boundary_is_a_true_one),
        cmocka_unit_test(times_outside_the_window_of_a_schedule_are_no_boundaries),
        cmocka_unit_test(an_end_of_boundaries_is_said),
        cmocka_unit_test(hostile_numbers_do_no_harm),
        cmocka_unit_test(backlogs_agree_with_the_rules_boundary_by_boundary),
    };

    return cmocka_run_group_tests_name("catch-up", tests, NULL, NULL);
}
