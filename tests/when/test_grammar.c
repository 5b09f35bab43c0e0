/* tests/when/test_grammar.c: every rule of the grammar of cron specs, what it takes and what it
 * refuses, each refusal with its column (S103; @every and @at have their own files). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/duration.h"
#include "support/tsv.h"
#include "when/when.h"

#define AS_OF "2026-12-01T00:00:00Z" /* a Tuesday */

static alk_status parse(const char *spec, struct alk__when **ret_when, alk_error *error) {
    struct alk__when_options options = {.name = "report-7"};

    return alk__when_parse(alk__text_of(spec), &options, ret_when, error);
}

struct refusal {
    const char *spec, *message;
};

#define FIELDS_HINT " (minute, hour, day of month, month, day of week, as in 0 6 * * MON-FRI)"

static void assert_refusals(const struct refusal *refusals, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct alk__when *when = NULL;
        alk_error error = ALK_ERROR_INIT;
        alk_status st = parse(refusals[i].spec, &when, &error);

        if (st == ALK_OK)
            fail_msg("'%s' is taken", refusals[i].spec);
        assert_int_equal(ALK_INVALID, st);
        if (strcmp(refusals[i].message, error.message) != 0)
            fail_msg("'%s': '%s' instead of '%s'", refusals[i].spec, error.message,
                     refusals[i].message);
    }
}

#define ASSERT_REFUSALS(refusals) assert_refusals(refusals, sizeof(refusals) / sizeof(*(refusals)))

/* The first boundaries after AS_OF, as many as the text has. */
struct case_ {
    const char *spec, *times;
};

/* "12-01 00:05:00" or "2027-01-01 00:00:00", separated by ", " */
static void add_time(char *text, size_t size, int64_t at_s) {
    struct alk__civil civil = alk__civil_of(at_s);
    size_t length = strlen(text);

    if (length > 0)
        length += (size_t)snprintf(text + length, size - length, ", ");
    if (civil.year != 2026)
        length += (size_t)snprintf(text + length, size - length, "%lld-", (long long)civil.year);
    snprintf(text + length, size - length, "%02d-%02d %02d:%02d:%02d", civil.month, civil.day,
             civil.hour, civil.minute, civil.second);
}

static void assert_times(const struct case_ *expected) {
    struct alk__when *when = NULL;
    alk_error error = ALK_ERROR_INIT;
    char found[512] = "";
    int64_t at_s = seconds_of(AS_OF);

    if (parse(expected->spec, &when, &error) < 0)
        fail_msg("'%s': %s", expected->spec, error.message);
    while (strlen(found) < strlen(expected->times) && alk__when_next(when, 0, at_s, &at_s))
        add_time(found, sizeof(found), at_s);
    if (strcmp(found, expected->times) != 0)
        fail_msg("'%s': '%s' instead of '%s'", expected->spec, found, expected->times);
    alk__when_free(when);
}

#define ASSERT_TIMES(cases)                                                                        \
    for (size_t case_at = 0; case_at < sizeof(cases) / sizeof(*(cases)); case_at++)                \
    assert_times(&(cases)[case_at])

/* S103 */
static void a_spec_has_five_six_or_seven_fields(void **state) {
    static const struct case_ cases[] = {
        {"5 0 * * *", "12-01 00:05:00, 12-02 00:05:00"},
        {"7 5 0 * * *", "12-01 00:05:07, 12-02 00:05:07"},
        {"7 5 0 1 1 * 2028", "2028-01-01 00:05:07"},
        {" \t5\t 0  *\t* *  ", "12-01 00:05:00, 12-02 00:05:00"},
    };
    static const struct refusal refusals[] = {
        {"", "the spec is empty at column 1 (as in '0 3 * * *' or '@every 1h')"},
        {" \t ", "the spec is empty at column 1 (as in '0 3 * * *' or '@every 1h')"},
        {"5", "field 2, hour, is missing at column 2" FIELDS_HINT},
        {"5 0", "field 3, day of month, is missing at column 4" FIELDS_HINT},
        {"5 0 *", "field 4, month, is missing at column 6" FIELDS_HINT},
        {"  5 0 * *  ", "field 5, day of week, is missing at column 10" FIELDS_HINT},
        {"0 0 0 0 0 0 0 0", "a spec has 5, 6 (seconds first) or 7 fields (with a year); field 8 "
                            "is one too many at column 15"},
        {"0 0 12 * * 5;", "';' is not allowed in the day of week at column 13"},
    };

    (void)state;
    ASSERT_TIMES(cases);
    ASSERT_REFUSALS(refusals);
}

/* S103: no byte outside the grammar, no NUL, 256 bytes at most. */
static void other_bytes_and_long_specs_are_refused(void **state) {
    static const struct refusal refusals[] = {
        {"0 0 * * *\n", "byte 0x0a is not allowed at column 10"},
        {"0 0 * * \xc3\xa9", "byte 0xc3 is not allowed at column 9"},
        {"0 0 * * *\x7f", "byte 0x7f is not allowed at column 10"},
    };
    char spec[ALK__WHEN_BYTES_MAX + 2];
    struct alk__when *when = NULL;
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    ASSERT_REFUSALS(refusals);
    assert_int_equal(ALK_INVALID, alk__when_parse(ALK__TEXT("0 0 * *\0 *"), NULL, &when, &error));
    assert_string_equal("byte 0x00 is not allowed at column 8", error.message);

    memset(spec, ' ', sizeof(spec));
    memcpy(spec, "0 0 * * *", 9);
    struct alk__text text = {spec, ALK__WHEN_BYTES_MAX + 1};
    assert_int_equal(ALK_INVALID, alk__when_parse(text, NULL, &when, &error));
    assert_string_equal("the spec is longer than 256 bytes at column 257", error.message);
    text.length--;
    assert_int_equal(ALK_OK, alk__when_parse(text, NULL, &when, NULL));
    alk__when_free(when);
}

/* S103 */
static void values_lie_in_the_range_of_their_field(void **state) {
    static const struct case_ cases[] = {
        {"59 59 23 31 12 0", "12-06 23:59:59, 12-13 23:59:59, 12-20 23:59:59"},
        {"0 0 0 1 1 7 1970-2199", "2027-01-01 00:00:00, 2027-01-03 00:00:00"},
        {"00 005 * * *", "12-01 05:00:00"},
    };
    static const struct refusal refusals[] = {
        {"60 0 0 * * *", "second 60 is out of range 0-59 at column 1"},
        {"60 * * * *", "minute 60 is out of range 0-59 at column 1"},
        {"0 24 * * *", "hour 24 is out of range 0-23 at column 3"},
        {"0 0 0 * *", "day of month 0 is out of range 1-31 at column 5"},
        {"0 0 32 * *", "day of month 32 is out of range 1-31 at column 5"},
        {"0 0 * 0 *", "month 0 is out of range 1-12 at column 7"},
        {"0 0 * 13 *", "month 13 is out of range 1-12 at column 7"},
        {"0 0 * * 8", "day of week 8 is out of range 0-7 at column 9"},
        {"0 0 0 1 1 * 1969", "year 1969 is out of range 1970-2199 at column 13"},
        {"0 0 0 1 1 * 2200", "year 2200 is out of range 1970-2199 at column 13"},
        {"99999999999999999999999 * * * *",
         "minute 99999999999999999999 is out of range 0-59 at column 1"},
        {"-5 * * * *", "'-' is not allowed in the minute at column 1 (a range has two ends and "
                       "values have no sign)"},
        {"+5 * * * *", "'+' is not allowed in the minute at column 1 ('+' stands only before the "
                       "day of week)"},
        {"5;x * * * *", "';' is not allowed in the minute at column 2"},
        {"5x * * * *", "'x' is not allowed in the minute at column 2"},
        {"1.5 * * * *", "'.' is not allowed in the minute at column 2"},
        {"0~30 * * * *", "'~' is not allowed in the minute at column 2 (write H)"},
    };

    (void)state;
    ASSERT_TIMES(cases);
    ASSERT_REFUSALS(refusals);
}

/* S103: names in any case, in the two fields that have some. */
static void months_and_days_of_the_week_have_names(void **state) {
    static const struct case_ cases[] = {
        {"0 0 1 jan *", "2027-01-01 00:00:00, 2028-01-01 00:00:00"},
        {"0 0 1 FEB-Apr *", "2027-02-01 00:00:00, 2027-03-01 00:00:00, 2027-04-01 00:00:00"},
        {"0 0 * * mon", "12-07 00:00:00, 12-14 00:00:00"},
        {"0 0 * * Wed,FRI", "12-02 00:00:00, 12-04 00:00:00, 12-09 00:00:00"},
    };
    static const struct refusal refusals[] = {
        {"MON * * * *", "'M' is not allowed in the minute at column 1"},
        {"0 0 * FOO *", "'F' is not allowed in the month at column 7 (months are 1-12 or JAN-DEC)"},
        {"0 0 * JANUARY *",
         "'U' is not allowed in the month at column 10 (months are 1-12 or JAN-DEC)"},
        {"0 0 * * MONDAY",
         "'D' is not allowed in the day of week at column 12 (days are 0-7 or SUN-SAT)"},
        {"0 0 * * MO",
         "'M' is not allowed in the day of week at column 9 (days are 0-7 or SUN-SAT)"},
    };

    (void)state;
    ASSERT_TIMES(cases);
    ASSERT_REFUSALS(refusals);
}

/* S103: rule 1. */
static void lists_and_ranges_are_complete_and_forward(void **state) {
    static const struct case_ cases[] = {
        {"1,3,5-7 0 * * *", "12-01 00:01:00, 12-01 00:03:00, 12-01 00:05:00, 12-01 00:06:00, "
                            "12-01 00:07:00, 12-02 00:01:00"},
        {"5-5 0 * * *", "12-01 00:05:00, 12-02 00:05:00"},
        {"5,5 0 * * *", "12-01 00:05:00, 12-02 00:05:00"},
    };
    static const struct refusal refusals[] = {
        {"1,,2 * * * *", "a value of the minute is missing at column 3"},
        {",1 * * * *", "a value of the minute is missing at column 1"},
        {"1, * * * *", "a value of the minute is missing at column 3"},
        {"1- * * * *", "the minute is not complete at column 3"},
        {"1-2-3 * * * *", "'-' is not allowed in the minute at column 4 (a range has two ends and "
                          "values have no sign)"},
        {"*-5 * * * *", "'-' is not allowed in the minute at column 2 (a range has two ends and "
                        "values have no sign)"},
        {"22-2 * * * *", "the range 22-2 runs backwards at column 1 (write 22-59,0-2)"},
        {"0 1,22-2 * * *", "the range 22-2 runs backwards at column 5 (write 22-23,0-2)"},
        {"0 0 * * FRI-MON", "the range 5-1 runs backwards at column 9 (write 5-6,0-1)"},
        {"0 0 * * 7-2", "the range 7-2 runs backwards at column 9"},
    };

    (void)state;
    ASSERT_TIMES(cases);
    ASSERT_REFUSALS(refusals);
}

/* S103: rules 2 and 3. */
static void a_step_fits_into_its_range(void **state) {
    static const struct case_ cases[] = {
        {"*/20 0 * * *", "12-01 00:20:00, 12-01 00:40:00, 12-02 00:00:00"},
        {"7/20 0 * * *", "12-01 00:07:00, 12-01 00:27:00, 12-01 00:47:00, 12-02 00:07:00"},
        {"10-20/5 0 * * *", "12-01 00:10:00, 12-01 00:15:00, 12-01 00:20:00, 12-02 00:10:00"},
        {"*/59 0 * * *", "12-01 00:59:00, 12-02 00:00:00"},
        {"0 0 */15 * *", "12-16 00:00:00, 12-31 00:00:00, 2027-01-01 00:00:00"},
        {"0 0 1 2/5 *", "2027-02-01 00:00:00, 2027-07-01 00:00:00"},
        {"0 0 0 1 1 * 2020/20", "2040-01-01 00:00:00, 2060-01-01 00:00:00"},
    };
    static const struct refusal refusals[] = {
        {"*/0 * * * *", "a step is not 0 at column 3"},
        {"*/ * * * *", "the minute is not complete at column 3"},
        {"*/x * * * *", "'x' is not allowed in the minute at column 3"},
        {"*/-5 * * * *", "'-' is not allowed in the minute at column 3 (a range has two ends and "
                         "values have no sign)"},
        {"*/5/5 * * * *", "'/' is not allowed in the minute at column 4 (a step follows *, a "
                          "value, a range or H)"},
        {"*/60 * * * *", "step 60 is longer than the range 0-59 of the minute at column 3 (use "
                         "@every 60m)"},
        {"*/90 0 0 * * *", "step 90 is longer than the range 0-59 of the second at column 3 (use "
                           "@every 90s)"},
        {"0 */24 * * *", "step 24 is longer than the range 0-23 of the hour at column 5 (use "
                         "@every 24h)"},
        {"0 0 */31 * *", "step 31 is longer than the range 1-31 of the day of month at column 7 "
                         "(use @every 31d)"},
        {"0 0 * */12 *", "step 12 is longer than the range 1-12 of the month at column 9"},
        {"0 0 * * */7", "step 7 is longer than the range 0-6 of the day of week at column 11"},
        {"10-20/11 * * * *", "step 11 is longer than the range 10-20 of the minute at column 7"},
        {"50/10 * * * *", "step 10 is longer than the range 50-59 of the minute at column 4"},
    };

    (void)state;
    ASSERT_TIMES(cases);
    ASSERT_REFUSALS(refusals);
}

/* S103: rule 4. */
static void two_restricted_day_fields_mean_either(void **state) {
    static const struct case_ cases[] = {
        {"0 0 13 * 5", "12-04 00:00:00, 12-11 00:00:00, 12-13 00:00:00, 12-18 00:00:00"},
        {"0 0 13 * +5", "2027-08-13 00:00:00, 2028-10-13 00:00:00"},
        {"0 0 */10 * 5", "12-11 00:00:00, 2027-01-01 00:00:00"},
        {"0 0 13 * */5", "12-13 00:00:00, 2027-06-13 00:00:00, 2027-08-13 00:00:00"},
        {"0 0 13 * ?", "12-13 00:00:00, 2027-01-13 00:00:00"},
        {"0 0 13 * +*", "12-13 00:00:00, 2027-01-13 00:00:00"},
        {"0 0 ? * 5", "12-04 00:00:00, 12-11 00:00:00"},
        {"0 0 1-31 * 5", "12-02 00:00:00, 12-03 00:00:00"},
    };
    static const struct refusal refusals[] = {
        {"0 0 * * 5,+1", "'+' is not allowed in the day of week at column 11 ('+' stands only at "
                         "the start)"},
        {"0 0 * * +", "a value of the day of week is missing at column 10"},
        {"0 0 +1 * *", "'+' is not allowed in the day of month at column 5 ('+' stands only "
                       "before the day of week)"},
    };

    (void)state;
    ASSERT_TIMES(cases);
    ASSERT_REFUSALS(refusals);
}

/* S103: rule 5, days of the month. */
static void l_and_w_count_from_the_end_and_to_workdays(void **state) {
    static const struct case_ cases[] = {
        {"0 0 L * *", "12-31 00:00:00, 2027-01-31 00:00:00, 2027-02-28 00:00:00"},
        {"0 0 L-0 * *", "12-31 00:00:00, 2027-01-31 00:00:00"},
        {"0 0 L-2 * *", "12-29 00:00:00, 2027-01-29 00:00:00, 2027-02-26 00:00:00"},
        {"0 0 L-30 * *", "2027-01-01 00:00:00, 2027-03-01 00:00:00"},
        {"0 0 LW 1-5 *", "2027-01-29 00:00:00, 2027-02-26 00:00:00, 2027-03-31 00:00:00, "
                         "2027-04-30 00:00:00, 2027-05-31 00:00:00"},
        {"0 0 1W 5,8 *", "2027-05-03 00:00:00, 2027-08-02 00:00:00"},
        {"0 0 31W * *", "12-31 00:00:00, 2027-01-29 00:00:00, 2027-03-31 00:00:00"},
        {"0 0 15W,L * *", "12-15 00:00:00, 12-31 00:00:00, 2027-01-15 00:00:00"},
    };
    static const struct refusal refusals[] = {
        {"0 0 W * *", "'W' is not allowed in the day of month at column 5 (as in 15W or LW, not "
                      "in a range)"},
        {"0 0 1-5W * *", "'W' is not allowed in the day of month at column 8 (as in 15W or LW, "
                         "not in a range)"},
        {"0 0 5W-7 * *", "'-' is not allowed in the day of month at column 7 (a range has two "
                         "ends and values have no sign)"},
        {"0 0 0W * *", "day of month 0 is out of range 1-31 at column 5"},
        {"0 0 L-31 * *", "number 31 is out of range 0-30 at column 7"},
        {"0 0 L- * *", "the day of month is not complete at column 7"},
        {"0 0 L-3W * *", "'W' is not allowed in the day of month at column 8 (as in 15W or LW, "
                         "not in a range)"},
        {"0 0 LL * *", "'L' is not allowed in the day of month at column 6 (as in L, L-2 or LW "
                       "for days of the month, FRIL for days of the week)"},
        {"0 0 l * *",
         "'l' is not allowed in the day of month at column 5 (H, L and W are capitals)"},
        {"L * * * *",
         "'L' is not allowed in the minute at column 1 ('L' stands only in a day field)"},
        {"5W * * * *",
         "'W' is not allowed in the minute at column 2 ('W' stands only in the day of month)"},
    };

    (void)state;
    ASSERT_TIMES(cases);
    ASSERT_REFUSALS(refusals);
}

/* S103: rule 5, days of the week. */
static void the_nth_and_the_last_weekday_of_a_month(void **state) {
    static const struct case_ cases[] = {
        {"0 0 * * MON#1", "12-07 00:00:00, 2027-01-04 00:00:00"},
        {"0 0 * * 5#5", "2027-01-29 00:00:00, 2027-04-30 00:00:00"},
        {"0 0 * * 7#2", "12-13 00:00:00, 2027-01-10 00:00:00"},
        {"0 0 * * FRIL", "12-25 00:00:00, 2027-01-29 00:00:00"},
        {"0 0 * * FRI#L", "12-25 00:00:00, 2027-01-29 00:00:00"},
        {"0 0 * * 0L", "12-27 00:00:00, 2027-01-31 00:00:00"},
        {"0 0 * * MON#1,MON#3", "12-07 00:00:00, 12-21 00:00:00, 2027-01-04 00:00:00"},
        {"0 0 1-7 * +MON", "12-07 00:00:00, 2027-01-04 00:00:00"},
    };
    static const struct refusal refusals[] = {
        {"0 0 * * MON#0", "number 0 is out of range 1-5 at column 13"},
        {"0 0 * * MON#6", "number 6 is out of range 1-5 at column 13"},
        {"0 0 * * MON#", "the day of week is not complete at column 13"},
        {"0 0 * * MON-FRI#1", "'#' is not allowed in the day of week at column 16 (as in MON#1, "
                              "not in a range)"},
        {"0 0 * * L", "'L' is not allowed in the day of week at column 9 (as in L, L-2 or LW for "
                      "days of the month, FRIL for days of the week)"},
        {"0 0 1#1 * *", "'#' is not allowed in the day of month at column 6 ('#' stands only in "
                        "the day of week)"},
    };

    (void)state;
    ASSERT_TIMES(cases);
    ASSERT_REFUSALS(refusals);
}

/* S103: rule 6. */
static void seven_is_sunday_after_saturday(void **state) {
    static const struct case_ cases[] = {
        {"0 0 * * 7", "12-06 00:00:00, 12-13 00:00:00"},
        {"0 0 * * 5-7", "12-04 00:00:00, 12-05 00:00:00, 12-06 00:00:00, 12-11 00:00:00"},
        {"0 0 * * SAT-SUN", "12-05 00:00:00, 12-06 00:00:00, 12-12 00:00:00"},
        {"0 0 * * 5-7/2", "12-04 00:00:00, 12-06 00:00:00, 12-11 00:00:00"},
        {"0 0 * * 0-7", "12-02 00:00:00, 12-03 00:00:00"},
        {"0 0 * * 5/1", "12-04 00:00:00, 12-05 00:00:00, 12-11 00:00:00"},
        {"0 0 * * SUN/3", "12-02 00:00:00, 12-05 00:00:00, 12-06 00:00:00"},
    };
    static const struct refusal refusals[] = {
        {"0 0 * * 7/2", "nothing follows day 7 in the week at column 9 (write 0 for Sunday)"},
        {"0 0 ?/2 * *", "'/' is not allowed in the day of month at column 6 (a step follows *, a "
                        "value, a range or H)"},
        {"0 0 5? * *", "'?' is not allowed in the day of month at column 6 ('?' stands alone)"},
        {"? * * * *", "'?' is not allowed in the minute at column 1 ('?' stands only in a day "
                      "field; write *)"},
        {"0 0 0 1 1 * ?", "'?' is not allowed in the year at column 13 ('?' stands only in a day "
                          "field; write *)"},
    };

    (void)state;
    ASSERT_TIMES(cases);
    ASSERT_REFUSALS(refusals);
}

/* S108: bounded, at once, by month and day. */
static void a_spec_that_matches_no_day_is_refused(void **state) {
    static const struct case_ cases[] = {
        {"0 0 31 4,5 *", "2027-05-31 00:00:00, 2028-05-31 00:00:00"},
        {"0 0 29 2 +1", "2044-02-29 00:00:00, 2072-02-29 00:00:00"},
        {"0 0 30 2 1", "2027-02-01 00:00:00, 2027-02-08 00:00:00"},
        {"0 0 0 29 2 * 2199,2104", "2104-02-29 00:00:00"},
    };
    static const struct refusal refusals[] = {
        {"0 0 30 2 *", "the spec matches no day of 1970-2199 at column 1"},
        {"0 0 31 2,4,6,9,11 *", "the spec matches no day of 1970-2199 at column 1"},
        {"  0 0 30 2 +1", "the spec matches no day of 1970-2199 at column 3"},
        {"0 0 0 29 2 * 2100", "the spec matches no day of 1970-2199 at column 1"},
        {"0 0 L-30 2 *", "the spec matches no day of 1970-2199 at column 1"},
        {"0 0 31W 6 *", "the spec matches no day of 1970-2199 at column 1"},
        {"0 0 1-7 * +MON#5", "the spec matches no day of 1970-2199 at column 1"},
    };

    (void)state;
    ASSERT_TIMES(cases);
    ASSERT_REFUSALS(refusals);
}

/* S108: what has no boundary after a time has none, and says so; the parser still takes it. */
static void a_spec_of_past_years_has_no_next_boundary(void **state) {
    struct alk__when *when = NULL;
    int64_t at_s = 42;

    (void)state;
    assert_int_equal(ALK_OK, parse("0 0 0 1 1 * 2020", &when, NULL));
    assert_false(alk__when_next(when, 0, seconds_of(AS_OF), &at_s));
    assert_int_equal(42, at_s);
    assert_true(alk__when_prev(when, 0, seconds_of(AS_OF), &at_s));
    assert_int_equal(seconds_of("2020-01-01T00:00:00Z"), at_s);
    alk__when_free(when);
}

/* S103 */
static void macros_are_words_in_lower_case(void **state) {
    static const struct case_ cases[] = {
        {"@yearly", "2027-01-01 00:00:00, 2028-01-01 00:00:00"},
        {"@annually", "2027-01-01 00:00:00, 2028-01-01 00:00:00"},
        {"@monthly", "2027-01-01 00:00:00, 2027-02-01 00:00:00"},
        {"@weekly", "12-06 00:00:00, 12-13 00:00:00"},
        {"@daily", "12-02 00:00:00, 12-03 00:00:00"},
        {" @midnight ", "12-02 00:00:00, 12-03 00:00:00"},
        {"@hourly", "12-01 01:00:00, 12-01 02:00:00"},
        {"CRON_TZ=UTC  @daily", "12-02 00:00:00, 12-03 00:00:00"},
    };
    static const struct refusal refusals[] = {
        {"@Daily", "write @daily in lower case at column 1"},
        {"@EVERY 5m", "write @every in lower case at column 1"},
        {"@daily x", "nothing stands after the word at column 8"},
        {" @dayly", "no such word: '@dayly' at column 2 (@every, @at, @hourly, @daily, @midnight, "
                    "@weekly, @monthly, @yearly, @annually)"},
        {"@", "no such word: '@' at column 1 (@every, @at, @hourly, @daily, @midnight, @weekly, "
              "@monthly, @yearly, @annually)"},
        {"@reboot", "@reboot has no meaning: many machines share a schedule at column 1 (use @at, "
                    "@every or cron fields)"},
    };

    (void)state;
    ASSERT_TIMES(cases);
    ASSERT_REFUSALS(refusals);
}

/* S103: a surprise is legal and said. */
static void surprises_are_warnings(void **state) {
    static const struct {
        const char *spec, *warning;
    } cases[] = {
        {"*/15 * * * *", ""},
        {"0 */6 * * *", ""},
        {"10-50/7 * * * *", ""},
        {"*/7 * * * *", "step 7 of the minute starts anew with each hour: the last one is shorter"},
        {"3/7 * * * *", "step 7 of the minute starts anew with each hour: the last one is shorter"},
        {"0 */5 * * *", "step 5 of the hour starts anew with each day: the last one is shorter"},
        {"0 0 */2 * *",
         "step 2 of the day of month starts anew with each month: the last one is shorter"},
        {"0 0 13 * 5", "it runs on each of these days of the month and also on each of these days "
                       "of the week; for days that are both, write '+' before the day of week"},
        {"0 0 13 * +5", ""},
        {"0 0 * * SUN-SUN", "from Sunday to Sunday is every day of the week"},
        {"*/7 */5 * * *",
         "step 7 of the minute starts anew with each hour: the last one is shorter; step 5 of the "
         "hour starts anew with each day: the last one is shorter"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct alk__when *when = NULL;

        assert_int_equal(ALK_OK, parse(cases[i].spec, &when, NULL));
        assert_string_equal(cases[i].warning, alk__when_warning(when));
        alk__when_free(when);
    }
}

/* Every field with a step that does not go into it and both day fields: the text ends, the spec
 * works. */
static void many_surprises_are_cut(void **state) {
    struct alk__when *when = NULL;

    (void)state;
    assert_int_equal(ALK_OK,
                     parse("*/7,*/7,*/7,*/7 */7,*/7,*/7,*/7 */5,*/5 3/2 */5 2/4", &when, NULL));
    assert_true(strlen(alk__when_warning(when)) < 512);
    alk__when_free(when);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spec_has_five_six_or_seven_fields),
        cmocka_unit_test(other_bytes_and_long_specs_are_refused),
        cmocka_unit_test(values_lie_in_the_range_of_their_field),
        cmocka_unit_test(months_and_days_of_the_week_have_names),
        cmocka_unit_test(lists_and_ranges_are_complete_and_forward),
        cmocka_unit_test(a_step_fits_into_its_range),
        cmocka_unit_test(two_restricted_day_fields_mean_either),
        cmocka_unit_test(l_and_w_count_from_the_end_and_to_workdays),
        cmocka_unit_test(the_nth_and_the_last_weekday_of_a_month),
        cmocka_unit_test(seven_is_sunday_after_saturday),
        cmocka_unit_test(a_spec_that_matches_no_day_is_refused),
        cmocka_unit_test(a_spec_of_past_years_has_no_next_boundary),
        cmocka_unit_test(macros_are_words_in_lower_case),
        cmocka_unit_test(surprises_are_warnings),
        cmocka_unit_test(many_surprises_are_cut),
    };

    return cmocka_run_group_tests_name("grammar", tests, NULL, NULL);
}
