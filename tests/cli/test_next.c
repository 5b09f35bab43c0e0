/* alk next and alk explain: boundaries and plain words, without a store. */
#include "support/program.h"

#define NEW_YORK "--zone", "America/New_York"

/* S107, S110: the line for people, also across a gap. */
static void next_prints_utc_local_time_and_what_is_odd(void **state) {
    struct place *place = *state;

    assert_int_equal(
        alk(place, "next", "30 2 * * *", NEW_YORK, "--after", "2027-03-13T12:00:00Z", "-n", "3"),
        0);
    assert_string_equal(place->out, "2027-03-14T07:00:00Z  2027-03-14T03:00:00-04:00  shifted\n"
                                    "2027-03-15T06:30:00Z  2027-03-15T02:30:00-04:00\n"
                                    "2027-03-16T06:30:00Z  2027-03-16T02:30:00-04:00\n");
    assert_string_equal(place->err, "");
    assert_int_equal(alk(place, "job", "list"), 3); /* no store was made */
}

/* S107, S110 */
static void next_prints_objects(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "next", "30 1 * * *", NEW_YORK, "--after", "2027-11-07T00:00:00Z",
                         "--fold=both", "-n=2", "--json"),
                     0);
    assert_string_equal(
        place->out,
        "{\"utc\":\"2027-11-07T05:30:00Z\",\"local\":\"2027-11-07T01:30:00-04:00\",\"note\":\"\"}\n"
        "{\"utc\":\"2027-11-07T06:30:00Z\",\"local\":\"2027-11-07T01:30:00-05:00\","
        "\"note\":\"repeated\"}\n");
    assert_int_equal(alk(place, "next", "30 2 * * *", NEW_YORK, "--after", "2027-03-13T12:00:00Z",
                         "-n", "1", "--json"),
                     0);
    assert_string_equal(place->out, "{\"utc\":\"2027-03-14T07:00:00Z\",\"local\":"
                                    "\"2027-03-14T03:00:00-04:00\",\"note\":\"shifted\"}\n");
}

/* S107 */
static void gap_and_fold_decide_where_clocks_change(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "next", "30 2 * * *", NEW_YORK, "--after", "2027-03-13T12:00:00Z",
                         "-n", "1", "--gap", "skip"),
                     0);
    assert_has(place->out, "2027-03-15T06:30:00Z ");
    assert_int_equal(alk(place, "next", "30 1 * * *", NEW_YORK, "--after", "2027-11-07T00:00:00Z",
                         "-n", "1", "--fold", "last"),
                     0);
    assert_has(place->out, "2027-11-07T06:30:00Z ");
    assert_int_equal(alk(place, "next", "@daily", "--gap", "skp"), 2);
    assert_string_equal(place->err, "alk: --gap is one of shift, skip, not 'skp'\n");
    assert_int_equal(alk(place, "next", "@daily", "--fold", "never"), 2);
    assert_string_equal(place->err, "alk: --fold is one of auto, first, last, both, not 'never'\n");
}

/* S110: five of them, after now. */
static void five_after_now_unless_told_otherwise(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "next", "* * * * * *"), 0);
    assert_int_equal(count_of(place->out, "\n"), 5);
    assert_true(strncmp(place->out, "2026-01-01T00:00:00Z", 20) > 0);
}

/* S128: the grid starts at --after, or at --anchor. */
static void the_grid_of_every_has_an_anchor(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "next", "@every 1h", "--after", "2027-01-01T00:10:00Z", "-n", "1"),
                     0);
    assert_has(place->out, "2027-01-01T01:10:00Z ");
    assert_int_equal(alk(place, "next", "@every 1h", "--after", "2027-01-01T00:10:00Z", "--anchor",
                         "2026-01-01T00:45:00Z", "-n", "1"),
                     0);
    assert_has(place->out, "2027-01-01T00:45:00Z ");
}

/* S103 (rule 8 of part 2): the example of the specification. */
static void h_hashes_the_name(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "next", "H H * * *", "--name", "report-7", "--after",
                         "2027-01-01T00:00:00Z", "-n", "1"),
                     0);
    assert_has(place->out, "2027-01-01T07:50:00Z ");
    assert_int_equal(alk(place, "explain", "H H * * *", "--name", "report-7"), 0);
    assert_string_equal(place->out, "at 07:50 every day, UTC\n");
    assert_int_equal(alk(place, "next", "H H * * *", "-n", "1"), 0); /* the empty name */
}

/* S121 */
static void boundaries_lie_from_not_before_up_to_not_after(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "next", "@hourly", "--after", "2027-01-01T00:00:00Z",
                         "--not-before", "2027-01-01T05:00:00Z", "--not-after",
                         "2027-01-01T07:00:00Z"),
                     0);
    assert_string_equal(place->out, "2027-01-01T05:00:00Z  2027-01-01T05:00:00+00:00\n"
                                    "2027-01-01T06:00:00Z  2027-01-01T06:00:00+00:00\n");
    assert_int_equal(alk(place, "next", "@hourly", "--after", "2027-01-01T06:00:00Z",
                         "--not-before", "2027-01-01T05:00:00Z", "-n", "1"),
                     0);
    assert_has(place->out, "2027-01-01T07:00:00Z ");
    assert_int_equal(alk(place, "next", "@hourly", "--after", "2027-01-01T00:00:00Z", "--not-after",
                         "2027-01-01T01:00:00Z"),
                     3);
    assert_string_equal(place->err, "alk: '@hourly' has no boundary after 2027-01-01T00:00:00Z and "
                                    "before --not-after\n");
}

/* S104, S108: fewer than asked for is fine, none is not. */
static void fewer_than_asked_for_is_fine_and_none_is_absent(void **state) {
    struct place *place = *state;

    assert_int_equal(
        alk(place, "next", "@at 2027-03-14 02:30:00", NEW_YORK, "--after", "2027-01-01T00:00:00Z"),
        0);
    assert_string_equal(place->out, "2027-03-14T07:00:00Z  2027-03-14T03:00:00-04:00\n");
    assert_int_equal(
        alk(place, "next", "0 0 0 1 1 * 2026,2027", "--after", "2026-06-01T00:00:00Z", "--json"),
        0);
    assert_int_equal(count_of(place->out, "\n"), 1);
    assert_int_equal(
        alk(place, "next", "0 0 0 1 1 * 2026", "--after", "2026-06-01T00:00:00Z", "--json"), 3);
    assert_string_equal(place->out, "");
    assert_string_equal(place->err,
                        "alk: '0 0 0 1 1 * 2026' has no boundary after 2026-06-01T00:00:00Z\n");
}

/* S101, S103, S105, S108 */
static void a_refused_spec_is_2_and_one_line(void **state) {
    static const char *const specs[] = {
        "",          "60 * * * *",   "*/90 * * * *",         "0 0 31 2 *",
        "@reboot",   "@every 1.5h",  "@at 2027-01-01",       "CRON_TZ=Mars/Base @daily",
        "* * * * x", "0 0 0 0 0 0 ", "@every 1h trailing",   "TZ=UTC @daily",
        "\xff",      "\n",           "0 0 1 1 * * 2200-2201"};
    struct place *place = *state;

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        assert_int_equal(alk(place, "next", specs[i]), 2);
        assert_string_equal(place->out, "");
        assert_int_equal(count_of(place->err, "\n"), 1);
        assert_int_equal(alk(place, "explain", specs[i]), 2);
        assert_string_equal(place->out, "");
    }
    assert_int_equal(alk(place, "next", "0 3 * *"), 2);
    assert_has(place->err, " at column ");
    assert_int_equal(alk(place, "next", "@daily", "--zone", "EST5EDT4"), 2);
    assert_int_equal(alk(place, "next", "CRON_TZ=Asia/Tokyo @daily", "--zone", "Europe/Berlin"), 2);
    assert_has(place->err, "CRON_TZ= differs");
}

static void a_number_has_one_dash(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "next", "-n", "1", "--", "@daily"), 0);
    assert_int_equal(alk(place, "next", "@daily", "--n", "1"), 2);
    assert_string_equal(place->err, "alk: unknown option '--n' (did you mean -n?)\n");
    assert_int_equal(alk(place, "next", "@daily", "-zone", "UTC"), 2);
    assert_string_equal(place->err, "alk: unknown option '-zone' (did you mean --zone?)\n");
    assert_int_equal(alk(place, "next", "@daily", "-n", "0"), 2);
    assert_string_equal(place->err, "alk: -n is a number from 1 to 1000000, not '0'\n");
    assert_int_equal(alk(place, "next", "@daily", "-n"), 2);
    assert_string_equal(place->err, "alk: -n needs a value (N)\n");
}

/* S103 (rule 4 of part 2), S105, S110 */
static void explain_says_it_in_plain_words(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "explain", "0 9 13 * 5", "--zone", "Europe/Berlin"), 0);
    assert_has(place->out, "at 09:00 on day 13 of the month, and also on Friday, Europe/Berlin ");
    assert_has(place->err, "alk: it runs on each of these days of the month and also on");
    assert_int_equal(alk(place, "explain", "CRON_TZ=Asia/Tokyo 0 9 * * *", "--json"), 0);
    assert_has(
        place->out,
        "{\"spec\":\"CRON_TZ=Asia/Tokyo 0 9 * * *\",\"zone\":\"Asia/Tokyo\",\"meaning\":\"at "
        "09:00 every day, Asia/Tokyo time");
    assert_has(place->out, ",\"warning\":\"\"}\n");
    assert_int_equal(alk(place, "next", "0 9 13 * 5", "-n", "1", "--json"), 0);
    assert_has(place->err, "alk: it runs on each of these days of the month and also on");
    assert_int_equal(count_of(place->out, "\n"), 1);
}

/* S105 */
static void the_tz_of_the_process_does_not_matter(void **state) {
    struct place *place = *state;

    place->extra = "TZ=Asia/Tokyo";
    assert_int_equal(alk(place, "next", "@daily", "--after", "2027-01-01T00:00:00Z", "-n", "1"), 0);
    assert_string_equal(place->out, "2027-01-02T00:00:00Z  2027-01-02T00:00:00+00:00\n");
    assert_int_equal(alk(place, "explain", "@daily"), 0);
    assert_string_equal(place->out, "at 00:00 every day, UTC\n");
}

/* S105: what is missing is said. */
static void without_zone_files_utc_still_works(void **state) {
    struct place *place = *state;

    place->extra = "TZDIR=/nowhere";
    assert_int_equal(alk(place, "next", "@daily", "--after", "2027-01-01T00:00:00Z", "-n", "1"), 0);
    assert_int_equal(alk(place, "next", "@daily", "--zone", "Europe/Berlin"), 2);
    assert_has(place->err, "/nowhere");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        EMPTY(next_prints_utc_local_time_and_what_is_odd),
        EMPTY(next_prints_objects),
        EMPTY(gap_and_fold_decide_where_clocks_change),
        EMPTY(five_after_now_unless_told_otherwise),
        EMPTY(the_grid_of_every_has_an_anchor),
        EMPTY(h_hashes_the_name),
        EMPTY(boundaries_lie_from_not_before_up_to_not_after),
        EMPTY(fewer_than_asked_for_is_fine_and_none_is_absent),
        EMPTY(a_refused_spec_is_2_and_one_line),
        EMPTY(a_number_has_one_dash),
        EMPTY(explain_says_it_in_plain_words),
        EMPTY(the_tz_of_the_process_does_not_matter),
        EMPTY(without_zone_files_utc_still_works),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
