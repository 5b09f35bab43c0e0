/* tests/when/test_changes.c: what happens where clocks change: the table of schedules.md, part 3,
 * row by row (S107), and that next never stands still or goes back there (S106). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/tsv.h"
#include "when/when.h"
#include "when/zone.h"

static struct alk__zones *zones;

static struct alk__when *parse(const char *spec, const char *zone, enum alk__gap gap,
                               enum alk__fold fold) {
    struct alk__when_options options = {.zone = zone, .zones = zones, .gap = gap, .fold = fold};
    struct alk__when *when = NULL;
    alk_error error = ALK_ERROR_INIT;

    if (alk__when_parse(alk__text_of(spec), &options, &when, &error) < 0)
        fail_msg("'%s': %s", spec, error.message);
    return when;
}

/* The boundaries of one day, from its noon in UTC the day before, as minutes after midnight UTC of
 * day. */
static void assert_day(const char *spec, const char *zone, enum alk__gap gap, enum alk__fold fold,
                       const char *from, const char *to, const char *expected) {
    struct alk__when *when = parse(spec, zone, gap, fold);
    int64_t at_s = seconds_of(from) - 1;
    char found[512] = "";

    while (alk__when_next(when, 0, at_s, &at_s) && at_s < seconds_of(to)) {
        struct alk__civil civil = alk__civil_of(at_s);
        struct alk__when_local local = alk__when_local(when, at_s);
        size_t length = strlen(found);

        snprintf(found + length, sizeof(found) - length, "%s%02d:%02d%s%s", length == 0 ? "" : " ",
                 civil.hour, civil.minute, local.is_shifted ? "s" : "",
                 local.is_repeated ? "r" : "");
    }
    if (strcmp(expected, found) != 0)
        fail_msg("'%s' in %s, gap %d, fold %d: '%s' instead of '%s'", spec, zone, (int)gap,
                 (int)fold, found, expected);
    alk__when_free(when);
}

/* 02:00 becomes 03:00 at 07:00 UTC. */
static void assert_gap(const char *spec, enum alk__gap gap, const char *expected) {
    assert_day(spec, "America/New_York", gap, ALK__FOLD_AUTO, "2027-03-14T06:00:00Z",
               "2027-03-14T08:00:00Z", expected);
}

/* 02:00 becomes 01:00 at 06:00 UTC. */
static void assert_fold(const char *spec, enum alk__fold fold, const char *expected) {
    assert_day(spec, "America/New_York", ALK__GAP_SHIFT, fold, "2027-11-07T05:00:00Z",
               "2027-11-07T07:00:00Z", expected);
}

/* S107: one fire at the change (s), however many local times were left out. */
static void a_wall_clock_job_in_a_gap_fires_once_at_the_change(void **state) {
    (void)state;
    assert_gap("30 2 * * *", ALK__GAP_SHIFT, "07:00s");
    assert_gap("0 2 * * *", ALK__GAP_SHIFT, "07:00s");
    assert_gap("59 2 * * *", ALK__GAP_SHIFT, "07:00s");
    assert_gap("*/15 2 * * *", ALK__GAP_SHIFT, "07:00s");
    assert_gap("* 2 * * *", ALK__GAP_SHIFT, "07:00s");
    assert_gap("30 1,2,3 * * *", ALK__GAP_SHIFT, "06:30 07:00s 07:30");
    assert_gap("30 2 14 3 *", ALK__GAP_SHIFT, "07:00s");
    assert_gap("30 2 15 3 *", ALK__GAP_SHIFT, "");
    assert_gap("0 1,3 * * *", ALK__GAP_SHIFT, "06:00 07:00");
}

/* S107: the same moment is one fire, and not a shifted one. */
static void a_gap_fire_that_equals_a_regular_one_is_one(void **state) {
    (void)state;
    assert_gap("0 2,3 * * *", ALK__GAP_SHIFT, "07:00");
    assert_gap("30 2,3 * * *", ALK__GAP_SHIFT, "07:00s 07:30");
}

/* S107 */
static void gap_skip_leaves_out_what_clocks_leave_out(void **state) {
    (void)state;
    assert_gap("30 2 * * *", ALK__GAP_SKIP, "");
    assert_gap("0 2,3 * * *", ALK__GAP_SKIP, "07:00");
    assert_gap("*/15 2 * * *", ALK__GAP_SKIP, "");
}

/* S107: hour_full */
static void an_hourly_job_goes_on_after_a_gap(void **state) {
    (void)state;
    assert_gap("5 * * * *", ALK__GAP_SHIFT, "06:05 07:05");
    assert_gap("0 * * * *", ALK__GAP_SHIFT, "06:00 07:00");
    assert_gap("5 0-23 * * *", ALK__GAP_SHIFT, "06:05 07:05");
    assert_gap("5 */1 * * *", ALK__GAP_SHIFT, "06:05 07:05");
    assert_gap("5 * * * *", ALK__GAP_SKIP, "06:05 07:05");
    assert_gap("5 0-22 * * *", ALK__GAP_SHIFT, "06:05 07:00s 07:05");
}

/* S107: the first pass; what comes in the second is marked (r). */
static void a_wall_clock_job_in_a_fold_fires_in_the_first_pass(void **state) {
    (void)state;
    assert_fold("30 1 * * *", ALK__FOLD_AUTO, "05:30");
    assert_fold("0,30 1 * * *", ALK__FOLD_AUTO, "05:00 05:30");
    assert_fold("0-58 1 * * *", ALK__FOLD_FIRST,
                "05:00 05:01 05:02 05:03 05:04 05:05 05:06 05:07 05:08 05:09 05:10 05:11 05:12 "
                "05:13 05:14 05:15 05:16 05:17 05:18 05:19 05:20 05:21 05:22 05:23 05:24 05:25 "
                "05:26 05:27 05:28 05:29 05:30 05:31 05:32 05:33 05:34 05:35 05:36 05:37 05:38 "
                "05:39 05:40 05:41 05:42 05:43 05:44 05:45 05:46 05:47 05:48 05:49 05:50 05:51 "
                "05:52 05:53 05:54 05:55 05:56 05:57 05:58");
}

/* S107: hour_full, and star_min: a minute or second field that starts with '*' or covers its
 * range. */
static void frequent_jobs_fire_in_both_passes(void **state) {
    (void)state;
    assert_fold("0 * * * *", ALK__FOLD_AUTO, "05:00 06:00r");
    assert_fold("15 0-23 * * *", ALK__FOLD_AUTO, "05:15 06:15r");
    assert_fold("*/30 1 * * *", ALK__FOLD_AUTO, "05:00 05:30 06:00r 06:30r");
    assert_fold("*/30,7 1 * * *", ALK__FOLD_AUTO, "05:00 05:07 05:30 06:00r 06:07r 06:30r");
    assert_fold("*/59 30 1 * * *", ALK__FOLD_AUTO, "05:30 05:30 06:30r 06:30r");
    assert_fold("0 */30 1 * * *", ALK__FOLD_AUTO, "05:00 05:30 06:00r 06:30r");
    assert_fold("0-59/59 30 1 * * *", ALK__FOLD_AUTO, "05:30 05:30");
    assert_fold("30/15 1 * * *", ALK__FOLD_AUTO, "05:30 05:45");
}

/* S107 */
static void fold_first_last_both_are_taken_at_their_word(void **state) {
    (void)state;
    assert_fold("30 1 * * *", ALK__FOLD_FIRST, "05:30");
    assert_fold("30 1 * * *", ALK__FOLD_LAST, "06:30r");
    assert_fold("30 1 * * *", ALK__FOLD_BOTH, "05:30 06:30r");
    assert_fold("30 * * * *", ALK__FOLD_FIRST, "05:30");
    assert_fold("30 * * * *", ALK__FOLD_LAST, "06:30r");
    assert_fold("*/30 1 * * *", ALK__FOLD_FIRST, "05:00 05:30");
}

/* S107: the whole of 30 December 2011 is missing in Samoa. */
static void a_day_that_clocks_skip_is_made_up_for_once(void **state) {
    (void)state;
    assert_day("0 6,18 * * *", "Pacific/Apia", ALK__GAP_SHIFT, ALK__FOLD_AUTO,
               "2011-12-30T09:00:00Z", "2011-12-30T17:00:00Z", "10:00s 16:00");
    assert_day("0 6 30 12 *", "Pacific/Apia", ALK__GAP_SHIFT, ALK__FOLD_AUTO,
               "2011-12-30T09:00:00Z", "2011-12-30T17:00:00Z", "10:00s");
    assert_day("0 * * * *", "Pacific/Apia", ALK__GAP_SHIFT, ALK__FOLD_AUTO, "2011-12-30T09:00:00Z",
               "2011-12-30T12:00:00Z", "09:00 10:00 11:00");
}

/* S108: what exists only in a gap that is left out matches no moment. */
static void a_spec_that_lies_in_a_gap_only_is_refused(void **state) {
    struct alk__when_options options = {
        .zone = "America/New_York", .zones = zones, .gap = ALK__GAP_SKIP};
    struct alk__when *when = NULL;
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    assert_int_equal(ALK_INVALID,
                     alk__when_parse(ALK__TEXT("0 30 2 14 3 ? 2027"), &options, &when, &error));
    assert_string_equal("the spec matches no day of 1970-2199 at column 1", error.message);
}

/* S106: strictly later for every second of both changes, never falling back, and prev the mirror of
 * it. */
static void next_goes_on_at_every_second_of_a_change(void **state) {
    static const struct {
        const char *zone, *changes[2];
    } places[] = {
        {"America/New_York", {"2027-03-14T07:00:00Z", "2027-11-07T06:00:00Z"}},
        {"Europe/Dublin", {"2027-03-28T01:00:00Z", "2027-10-31T01:00:00Z"}},
        {"Australia/Lord_Howe", {"2027-04-03T15:00:00Z", "2027-10-02T15:30:00Z"}},
    };
    static const char *const specs[] = {"* * * * * *", "*/7 * * * *",  "0 * * * *",
                                        "30 1 * * *",  "45 1,2 * * *", "0 0 29 2 *"};

    (void)state;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places) * 2; i++) {
        int64_t change_s = seconds_of(places[i / 2].changes[i % 2]);

        for (size_t j = 0; j < sizeof(specs) / sizeof(*specs) * 5; j++) {
            /* Four folds, and one of them with the other gap. */
            struct alk__when *when =
                parse(specs[j / 5], places[i / 2].zone, j % 5 == 4 ? ALK__GAP_SKIP : ALK__GAP_SHIFT,
                      (enum alk__fold)(j % 4));
            int64_t last_s = INT64_MIN;

            for (int64_t at_s = change_s - 3700; at_s <= change_s + 3700; at_s++) {
                int64_t next_s = at_s;
                int64_t prev_s = at_s;

                assert_true(alk__when_next(when, 0, at_s, &next_s));
                assert_true(next_s > at_s && next_s >= last_s);
                assert_true(alk__when_prev(when, 0, next_s, &prev_s));
                assert_true(prev_s <= at_s);
                last_s = next_s;
            }
            alk__when_free(when);
        }
    }
}

static int read_zones(void **state) {
    (void)state;
    return alk__zones_new(PINNED_ZONES, &zones, NULL);
}

static int forget_zones(void **state) {
    (void)state;
    alk__zones_free(zones);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wall_clock_job_in_a_gap_fires_once_at_the_change),
        cmocka_unit_test(a_gap_fire_that_equals_a_regular_one_is_one),
        cmocka_unit_test(gap_skip_leaves_out_what_clocks_leave_out),
        cmocka_unit_test(an_hourly_job_goes_on_after_a_gap),
        cmocka_unit_test(a_wall_clock_job_in_a_fold_fires_in_the_first_pass),
        cmocka_unit_test(frequent_jobs_fire_in_both_passes),
        cmocka_unit_test(fold_first_last_both_are_taken_at_their_word),
        cmocka_unit_test(a_day_that_clocks_skip_is_made_up_for_once),
        cmocka_unit_test(a_spec_that_lies_in_a_gap_only_is_refused),
        cmocka_unit_test(next_goes_on_at_every_second_of_a_change),
    };

    return cmocka_run_group_tests_name("changes", tests, read_zones, forget_zones);
}
