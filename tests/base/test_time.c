/* base/time: moments as RFC 3339 has them, both ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/duration.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))
#define FIRST_US (INT64_C(-62135596800) * ALK__SECOND)  /* 0001-01-01T00:00:00Z */
#define END_US (INT64_C(253402300800) * ALK__SECOND)    /* 10000-01-01T00:00:00Z */
#define DECEMBER_US (INT64_C(1796083200) * ALK__SECOND) /* 2026-12-01T00:00:00Z */

static int64_t parse(const char *text) {
    alk_error error = ALK_ERROR_INIT;
    int64_t us = -1;

    if (alk__time_parse(alk__text_of(text), &us, &error) != ALK_OK)
        fail_msg("%s", error.message);
    return us;
}

static void a_time_with_an_offset_is_a_moment(void **state) {
    static const struct {
        const char *text;
        int64_t us;
    } accepted[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-12-01T00:00:00Z", DECEMBER_US},
        {"2026-12-01t00:00:00z", DECEMBER_US},
        {"2026-12-01 00:00:00Z", DECEMBER_US},
        {"2026-12-01T00:00:00+00:00", DECEMBER_US},
        {"2026-12-01T00:00:00-00:00", DECEMBER_US},
        {"2026-12-01T05:30:00+05:30", DECEMBER_US},
        {"2026-11-30T16:00:00-08:00", DECEMBER_US},
        {"2026-12-01T23:59:00+23:59", DECEMBER_US},
        {"2026-12-01T00:00:00.5Z", DECEMBER_US + 500000},
        {"2026-12-01T00:00:00.000001Z", DECEMBER_US + 1},
        {"2026-12-01T00:00:00.0000019Z", DECEMBER_US + 1},
        {"2026-12-01T00:00:00.999999999Z", DECEMBER_US + 999999},
        {"1969-12-31T23:59:59.999999999Z", -1},
        {"2024-02-29T00:00:00Z", INT64_C(1709164800) * ALK__SECOND},
        {"0001-01-01T00:00:00Z", FIRST_US},
        {"9999-12-31T23:59:59.999999Z", END_US - 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(accepted); i++)
        assert_true(parse(accepted[i].text) == accepted[i].us);
}

#define SHAPE "a time looks like 2026-12-01T08:30:00Z or 2026-12-01T08:30:00+01:00"
#define SECOND "a second is 00 to 59 (leap seconds are not kept; write the next second)"
#define RANGE "in UTC the year is 0001 to 9999"

static void every_refusal_names_the_column_and_the_reason(void **state) {
    static const struct {
        const char *text;
        int column;
        const char *reason;
    } refused[] = {
        {"", 1, SHAPE},
        {"tomorrow", 1, SHAPE},
        {"1796083200", 5, SHAPE},
        {"26-12-01T00:00:00Z", 3, SHAPE},
        {"+2026-12-01T00:00:00Z", 1, SHAPE},
        {"0000-12-01T00:00:00Z", 1, "a year is 0001 to 9999"},
        {"2026/12/01T00:00:00Z", 5, SHAPE},
        {"2026-13-01T00:00:00Z", 6, "a month is 01 to 12"},
        {"2026-00-01T00:00:00Z", 6, "a month is 01 to 12"},
        {"2026-1-01T00:00:00Z", 7, SHAPE},
        {"2026-12-00T00:00:00Z", 9, "the month has no such day"},
        {"2026-12-32T00:00:00Z", 9, "the month has no such day"},
        {"2026-02-29T00:00:00Z", 9, "the month has no such day"},
        {"2100-02-29T00:00:00Z", 9, "the month has no such day"},
        {"2026-12-01", 11, SHAPE},
        {"2026-12-01_00:00:00Z", 11, SHAPE},
        {"2026-12-01T24:00:00Z", 12, "an hour is 00 to 23"},
        {"2026-12-01T00:60:00Z", 15, "a minute is 00 to 59"},
        {"2026-12-01T00:00Z", 17, SHAPE},
        {"2016-12-31T23:59:60Z", 18, SECOND},
        {"2026-12-01T00:00:61Z", 18, SECOND},
        {"2026-12-01T00:00:00", 20, "an offset is missing (Z, or as in +01:00)"},
        {"2026-12-01T00:00:00 Z", 20, "an offset is missing (Z, or as in +01:00)"},
        {"2026-12-01T00:00:00.Z", 21, "a digit follows the point"},
        {"2026-12-01T00:00:00.1234567890Z", 30, "a fraction has at most 9 digits"},
        {"2026-12-01T00:00:00,5Z", 20, "an offset is missing (Z, or as in +01:00)"},
        {"2026-12-01T00:00:00+24:00", 21, "an offset has 00 to 23 hours"},
        {"2026-12-01T00:00:00+01:60", 24, "an offset has 00 to 59 minutes"},
        {"2026-12-01T00:00:00+0100", 23, SHAPE},
        {"2026-12-01T00:00:00+01", 23, SHAPE},
        {"2026-12-01T00:00:00Z ", 21, "the text goes on after the time"},
        {"2026-12-01T00:00:00+01:00Z", 26, "the text goes on after the time"},
        {"0001-01-01T00:00:00+00:01", 1, RANGE},
        {"9999-12-31T23:59:59-00:01", 1, RANGE},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        alk_error error = ALK_ERROR_INIT;
        int64_t us = 77;
        char message[200];

        snprintf(message, sizeof(message), "'%s' is not a time at column %d: %s", refused[i].text,
                 refused[i].column, refused[i].reason);
        alk_status status = alk__time_parse(alk__text_of(refused[i].text), &us, &error);
        assert_int_equal(status, ALK_INVALID);
        assert_string_equal(error.message, message);
        assert_int_equal(us, 77);
    }
}

static void only_the_slice_is_read(void **state) {
    const char *text = "2026-12-01T00:00:00Z";
    int64_t us = 0;

    (void)state;
    for (size_t length = 0; length < 20; length++)
        assert_int_equal(alk__time_parse((struct alk__text){text, length}, &us, NULL), ALK_INVALID);
    assert_int_equal(alk__time_parse(alk__text_of(NULL), &us, NULL), ALK_INVALID);
}

static void a_moment_is_read_as_written_with_or_without_an_offset(void **state) {
    struct alk__moment moment = {.fraction_us = 0};
    size_t at = 77;

    (void)state;
    assert_null(alk__moment_read(ALK__TEXT("2027-03-14 02:30:00.25"), &moment, &at));
    assert_int_equal(moment.civil.hour, 2);
    assert_int_equal(moment.fraction_us, 250000);
    assert_false(moment.has_offset);

    assert_null(alk__moment_read(ALK__TEXT("2027-03-14T02:30:00-08:00"), &moment, &at));
    assert_int_equal(moment.civil.hour, 2);
    assert_true(moment.has_offset);
    assert_int_equal(moment.offset_s, -8 * 3600);
    assert_int_equal(moment.fraction_us, 0);

    assert_string_equal(alk__moment_read(ALK__TEXT("2027-03-32T02:30:00"), &moment, &at),
                        "the month has no such day");
    assert_int_equal(at, 8);
}

static void a_fraction_is_written_only_where_there_is_one(void **state) {
    static const struct {
        int64_t us;
        const char *text;
    } written[] = {
        {0, "1970-01-01T00:00:00Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
        {-ALK__SECOND, "1969-12-31T23:59:59Z"},
        {DECEMBER_US, "2026-12-01T00:00:00Z"},
        {DECEMBER_US + 20, "2026-12-01T00:00:00.000020Z"},
        {FIRST_US, "0001-01-01T00:00:00Z"},
        {INT64_MAX, "294247-01-10T04:00:54.775807Z"},
        {INT64_MIN, "-290308-12-21T19:59:05.224192Z"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(written); i++) {
        char text[ALK__TIME_BYTES];
        alk__time_format(written[i].us, text, sizeof(text));
        assert_string_equal(text, written[i].text);
    }
}

static void what_is_written_is_read_back(void **state) {
    uint64_t bits = 20261201;
    char text[ALK__TIME_BYTES];

    (void)state;
    for (int i = 0; i < 200000; i++) {
        bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int64_t us = FIRST_US + (int64_t)((bits >> 1) % (uint64_t)(END_US - FIRST_US));
        us -= i % 2 == 0 ? us % ALK__SECOND : 0;
        alk__time_format(us, text, sizeof(text));
        assert_true(parse(text) == us);
    }
}

/* S110 */
static void a_local_time_has_its_offset_in_whole_minutes(void **state) {
    static const struct {
        int64_t us;
        int offset_s;
        const char *text;
    } cases[] = {
        {0, 0, "1970-01-01T00:00:00+00:00"},
        {0, -2670, "1969-12-31T23:16:00-00:44"}, /* Liberia: 44:30 behind */
        {-1, 3600, "1970-01-01T00:59:59+01:00"},
        {INT64_C(1805007600999999), -14400, "2027-03-14T03:00:00-04:00"},
        {INT64_C(1805007600000000), 45900, "2027-03-14T19:45:00+12:45"},
        {0, 59, "1970-01-01T00:00:00+00:00"},
    };
    char text[ALK__TIME_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        alk__time_format_local(cases[i].us, cases[i].offset_s, text, sizeof(text));
        assert_string_equal(text, cases[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_with_an_offset_is_a_moment),
        cmocka_unit_test(every_refusal_names_the_column_and_the_reason),
        cmocka_unit_test(only_the_slice_is_read),
        cmocka_unit_test(a_moment_is_read_as_written_with_or_without_an_offset),
        cmocka_unit_test(a_fraction_is_written_only_where_there_is_one),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(a_local_time_has_its_offset_in_whole_minutes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
