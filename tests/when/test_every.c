/* tests/when/test_every.c: @every and @at: what they take and refuse, the grid, the one moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/tsv.h"
#include "when/when.h"
#include "when/zone.h"

static struct alk__when *parse(const char *spec) {
    struct alk__when *when = NULL;
    alk_error error = ALK_ERROR_INIT;

    if (alk__when_parse(alk__text_of(spec), NULL, &when, &error) < 0)
        fail_msg("'%s': %s", spec, error.message);
    return when;
}

static void assert_refused(const char *spec, const char *message) {
    struct alk__when *when = NULL;
    alk_error error = ALK_ERROR_INIT;

    assert_int_equal(ALK_INVALID, alk__when_parse(alk__text_of(spec), NULL, &when, &error));
    assert_null(when);
    assert_string_equal(message, error.message);
}

static int64_t next(const struct alk__when *when, int64_t anchor_s, int64_t after_s) {
    int64_t found_s = ALK_NO_TIME;

    (void)alk__when_next(when, anchor_s, after_s, &found_s);
    return found_s;
}

static int64_t prev(const struct alk__when *when, int64_t anchor_s, int64_t before_s) {
    int64_t found_s = ALK_NO_TIME;

    (void)alk__when_prev(when, anchor_s, before_s, &found_s);
    return found_s;
}

/* S100, S102: w, d, h, m, s; the same duration written in another way is the same. */
static void equal_periods_behave_equally(void **state) {
    static const struct {
        const char *spec;
        int64_t period_s;
    } cases[] = {
        {"@every 1s", 1},         {"@every 90m", 5400},
        {"@every 1h30m", 5400},   {"@every 5400s", 5400},
        {"@every 1w", 604800},    {"@every 7d", 604800},
        {"@every 1d", 86400},     {"@every 1w1d1h1m1s", 694861},
        {" @every \t 2h ", 7200}, {"@every 3652d12h", 315576000},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct alk__when *when = parse(cases[i].spec);

        assert_int_equal(1000 + cases[i].period_s, next(when, 1000, 1000));
        assert_int_equal(1000 + 2 * cases[i].period_s, next(when, 1000, 1000 + cases[i].period_s));
        assert_false(alk__when_is_once(when));
        alk__when_free(when);
    }
}

/* S101, S102: each with its position and its reason. */
static void periods_that_are_none_are_refused(void **state) {
    (void)state;
    assert_refused("@every", "something is missing after @every at column 7 (as in @every 1h30m)");
    assert_refused("@every5m", "a blank is missing after @every at column 7 (as in @every 1h30m)");
    assert_refused("@every 0s", "the shortest period is 1s at column 8");
    assert_refused("@every -5m", "a duration has no sign at column 8");
    assert_refused("@every 1.5h", "a part is a whole number; write a smaller unit at column 9");
    assert_refused("@every 5", "a unit is missing (w, d, h, m, s, ms) at column 9");
    assert_refused("@every 5x", "no such unit (w, d, h, m, s, ms) at column 9");
    assert_refused("@every 5M", "units are in lower case (w, d, h, m, s, ms) at column 9");
    assert_refused("@every m", "a number is missing at column 8");
    assert_refused("@every 1m1h", "units go from large to small, each once at column 11");
    assert_refused("@every 1h1h", "units go from large to small, each once at column 11");
    assert_refused("@every 5m x", "no blanks stand in a duration at column 10");
    assert_refused("@every 500ms",
                   "@every counts whole seconds at column 11 (the shortest period is 1s)");
    assert_refused("@every 1s1000ms",
                   "@every counts whole seconds at column 14 (the shortest period is 1s)");
    assert_refused("@every 1234567890s", "a number has at most 9 digits at column 17");
    assert_refused("@every 315576001s", "the longest period is 3652d12h (ten years) at column 8");
    assert_refused("@every 999999999w", "too long to count in microseconds at column 8");
    assert_refused("@every 6h/6h", "the phase is not shorter than the period at column 11");
    assert_refused("@every 6h/", "a number and a unit are missing, as in 1h30m at column 11");
    assert_refused("@every 6h/1h/1h", "a number is missing at column 13");
    assert_refused("@every 6h/500ms",
                   "@every counts whole seconds at column 14 (the shortest period is 1s)");
    assert_refused("CRON_TZ=UTC @every 5m", "CRON_TZ= stands only before cron fields at column 13 "
                                            "(give the schedule a zone instead)");
}

/* S128: on the same phase after ten thousand late ticks, each a different while too late. */
static void a_late_tick_does_not_move_the_grid(void **state) {
    struct alk__when *when = parse("@every 10s");
    const int64_t anchor_s = 1796083203;
    int64_t at_s = anchor_s;

    (void)state;
    for (int64_t tick = 1; tick <= 10000; tick++) {
        int64_t late_s = tick * 7 % 10;

        at_s = next(when, anchor_s, at_s + late_s);
        assert_int_equal(anchor_s + 10 * tick, at_s);
        assert_int_equal(at_s, prev(when, anchor_s, at_s + 1 + late_s % 9));
    }
    alk__when_free(when);
}

/* S128: k >= 1: the anchor itself is no boundary, nor is anything before it. */
static void the_grid_begins_one_period_after_the_anchor(void **state) {
    struct alk__when *when = parse("@every 1h");

    (void)state;
    assert_int_equal(8600, next(when, 5000, INT64_MIN));
    assert_int_equal(8600, next(when, 5000, 4999));
    assert_int_equal(8600, next(when, 5000, 8599));
    assert_int_equal(12200, next(when, 5000, 8600));
    assert_int_equal(8600, prev(when, 5000, 8601));
    assert_int_equal(ALK_NO_TIME, prev(when, 5000, 8600));
    alk__when_free(when);
}

/* Rule 9: with a phase the grid is that of the epoch, whatever the anchor. */
static void a_phase_ties_the_grid_to_the_epoch(void **state) {
    struct alk__when *when = parse("@every 1d/6h");

    (void)state;
    for (int64_t anchor_s = -100000; anchor_s < 10 * 86400; anchor_s += 77777) {
        assert_int_equal(6 * 3600, next(when, anchor_s, -1));
        assert_int_equal(86400 + 6 * 3600, next(when, anchor_s, 6 * 3600));
        assert_int_equal(6 * 3600, prev(when, anchor_s, 6 * 3600 + 1));
        assert_int_equal(ALK_NO_TIME, prev(when, anchor_s, 6 * 3600));
    }
    alk__when_free(when);
}

/* S106: strictly after, strictly before, whatever is asked for; nothing outside 1970-2199. */
static void no_time_is_too_far_away_to_ask_for(void **state) {
    static const int64_t times[] = {
        INT64_MIN,  INT64_MIN + 1,       -315576001,      -1,       0, 1,
        4102444800, ALK__WHEN_END_S - 1, ALK__WHEN_END_S, INT64_MAX};
    static const char *const specs[] = {"@every 1s",    "@every 3652d12h",
                                        "@every 7s/3s", "* * * * * *",
                                        "@yearly",      "@at 2100-01-01T00:00:00Z"};
    const size_t count = sizeof(times) / sizeof(*times);

    (void)state;
    for (size_t i = 0; i < sizeof(specs) / sizeof(*specs) * count * count; i++) {
        struct alk__when *when = parse(specs[i / count / count]);
        int64_t anchor_s = times[i / count % count];
        int64_t asked_s = times[i % count];
        int64_t found_s;

        if (alk__when_next(when, anchor_s, asked_s, &found_s))
            assert_true(found_s > asked_s && found_s >= 0 && found_s < ALK__WHEN_END_S);
        if (alk__when_prev(when, anchor_s, asked_s, &found_s))
            assert_true(found_s < asked_s && found_s >= 0 && found_s < ALK__WHEN_END_S);
        assert_true(alk__when_count(when, anchor_s, asked_s, INT64_MAX, 10) >= 0);
        alk__when_free(when);
    }
}

/* S100: counted by arithmetic, and the count is that of the steps. */
static void periods_are_counted_without_stepping(void **state) {
    struct alk__when *when = parse("@every 1s");

    (void)state;
    assert_int_equal(ALK__WHEN_END_S - 1, alk__when_count(when, 0, INT64_MIN, INT64_MAX, 1));
    assert_int_equal(10, alk__when_count(when, 0, 1, 10, 1));
    assert_int_equal(1, alk__when_count(when, 0, 10, 10, 1));
    assert_int_equal(0, alk__when_count(when, 10, 0, 10, 1));
    assert_int_equal(0, alk__when_count(when, 0, 10, 9, 1));
    alk__when_free(when);

    when = parse("@daily");
    assert_int_equal(3, alk__when_count(when, 0, 86400, 3 * 86400, 100));
    assert_int_equal(2, alk__when_count(when, 0, 86400, 3 * 86400, 2));
    alk__when_free(when);
}

/* S104 */
static void at_fires_once(void **state) {
    static const char *const specs[] = {"@at 2027-01-01T08:30:00Z", "@at 2027-01-01 08:30:00Z",
                                        "@at 2027-01-01T10:30:00+02:00", "@at 2027-01-01 08:30:00",
                                        " @at  2027-01-01T03:30:00-05:00 "};
    const int64_t at_s = seconds_of("2027-01-01T08:30:00Z");

    (void)state;
    for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
        struct alk__when *when = parse(specs[i]);

        assert_true(alk__when_is_once(when));
        assert_int_equal(at_s, next(when, 0, INT64_MIN));
        assert_int_equal(at_s, next(when, 0, at_s - 1));
        assert_int_equal(ALK_NO_TIME, next(when, 0, at_s));
        assert_int_equal(at_s, prev(when, 0, INT64_MAX));
        assert_int_equal(ALK_NO_TIME, prev(when, 0, at_s));
        alk__when_free(when);
    }
}

/* S104 */
static void an_at_that_is_no_time_is_refused(void **state) {
    (void)state;
    assert_refused("@at", "something is missing after @at at column 4 (as in @at "
                          "2027-01-01T08:30:00Z)");
    assert_refused("@at2027-01-01T08:30:00Z", "a blank is missing after @at at column 4 (as in "
                                              "@at 2027-01-01T08:30:00Z)");
    assert_refused("@at 2027-01-01", "a time looks like 2026-12-01T08:30:00Z or "
                                     "2026-12-01T08:30:00+01:00 at column 15");
    assert_refused("@at 2027-02-29T00:00:00Z", "the month has no such day at column 13");
    assert_refused("@at 2027-01-01T24:00:00Z", "an hour is 00 to 23 at column 16");
    assert_refused("@at 2027-01-01T00:00:00.5Z", "@at counts whole seconds at column 5");
    assert_refused("@at 2027-01-01T00:00:00Z x", "the text goes on after the time at column 25");
    assert_refused("@at 2200-01-01T00:00:00Z", "the year is 1970 to 2199 at column 5");
    assert_refused("@at 1969-12-31T23:59:59Z", "the year is 1970 to 2199 at column 5");
}

/* S104: a local time in a gap is the transition, in a fold the first pass, whatever the policies
 * say. */
static void a_local_at_follows_the_clocks_of_its_zone(void **state) {
    static const struct {
        const char *spec, *utc;
    } cases[] = {
        {"@at 2027-03-14 01:59:59", "2027-03-14T06:59:59Z"},
        {"@at 2027-03-14 02:00:00", "2027-03-14T07:00:00Z"},
        {"@at 2027-03-14T02:59:59", "2027-03-14T07:00:00Z"},
        {"@at 2027-03-14 03:00:00", "2027-03-14T07:00:00Z"},
        {"@at 2027-03-14 03:00:01", "2027-03-14T07:00:01Z"},
        {"@at 2027-11-07 00:59:59", "2027-11-07T04:59:59Z"},
        {"@at 2027-11-07 01:00:00", "2027-11-07T05:00:00Z"},
        {"@at 2027-11-07 01:59:59", "2027-11-07T05:59:59Z"},
        {"@at 2027-11-07 02:00:00", "2027-11-07T07:00:00Z"},
        {"@at 2027-11-07 01:30:00-05:00", "2027-11-07T06:30:00Z"},
        {"@at 2170-07-01 00:00:00", "2170-07-01T04:00:00Z"},
    };
    struct alk__zones *zones = NULL;

    (void)state;
    assert_int_equal(ALK_OK, alk__zones_new(PINNED_ZONES, &zones, NULL));
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct alk__when_options options = {.zone = "America/New_York", .zones = zones};
        struct alk__when *when = NULL;

        options.gap = i % 2 == 0 ? ALK__GAP_SHIFT : ALK__GAP_SKIP;
        options.fold = i % 2 == 0 ? ALK__FOLD_AUTO : ALK__FOLD_LAST;
        assert_int_equal(ALK_OK,
                         alk__when_parse(alk__text_of(cases[i].spec), &options, &when, NULL));
        assert_int_equal(seconds_of(cases[i].utc), next(when, 0, 0));
        alk__when_free(when);
    }
    alk__zones_free(zones);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_periods_behave_equally),
        cmocka_unit_test(periods_that_are_none_are_refused),
        cmocka_unit_test(a_late_tick_does_not_move_the_grid),
        cmocka_unit_test(the_grid_begins_one_period_after_the_anchor),
        cmocka_unit_test(a_phase_ties_the_grid_to_the_epoch),
        cmocka_unit_test(no_time_is_too_far_away_to_ask_for),
        cmocka_unit_test(periods_are_counted_without_stepping),
        cmocka_unit_test(at_fires_once),
        cmocka_unit_test(an_at_that_is_no_time_is_refused),
        cmocka_unit_test(a_local_at_follows_the_clocks_of_its_zone),
    };

    return cmocka_run_group_tests_name("every", tests, NULL, NULL);
}
