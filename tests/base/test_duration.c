/* base/duration: durations as people write them, both ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/duration.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

static int64_t parse(const char *text) {
    alk_error error = ALK_ERROR_INIT;
    int64_t us = -1;

    if (alk__duration_parse(alk__text_of(text), &us, &error) != ALK_OK)
        fail_msg("%s", error.message);
    return us;
}

/* S102: the schedules, where milliseconds and nothing at all are refused, say so themselves. */
static void parts_are_added_up(void **state) {
    static const struct {
        const char *text;
        int64_t us;
    } accepted[] = {
        {"0s", 0},
        {"0ms", 0},
        {"1ms", ALK__MS},
        {"500ms", 500 * ALK__MS},
        {"1s", ALK__SECOND},
        {"1m", ALK__MINUTE},
        {"1h", ALK__HOUR},
        {"1d", ALK__DAY},
        {"1w", 7 * ALK__DAY},
        {"1h30m", 90 * ALK__MINUTE},
        {"90m", 90 * ALK__MINUTE},
        {"1m1ms", ALK__MINUTE + ALK__MS},
        {"007s", 7 * ALK__SECOND},
        {"1w2d3h4m5s6ms",
         9 * ALK__DAY + 3 * ALK__HOUR + 4 * ALK__MINUTE + 5 * ALK__SECOND + 6 * ALK__MS},
        {"999999999s", 999999999 * ALK__SECOND},
        {"15250284w", 15250284 * 7 * ALK__DAY},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(accepted); i++)
        assert_int_equal(parse(accepted[i].text), accepted[i].us);
}

#define UNITS "(w, d, h, m, s, ms)"

/* S101 S102 */
static void every_refusal_names_the_column_and_the_reason(void **state) {
    static const struct {
        const char *text;
        int column;
        const char *reason;
    } refused[] = {
        {"", 1, "a number and a unit are missing, as in 1h30m"},
        {"-5m", 1, "a duration has no sign"},
        {"+5m", 1, "a duration has no sign"},
        {"1h-5m", 3, "a duration has no sign"},
        {"1.5h", 2, "a part is a whole number; write a smaller unit"},
        {"1,5h", 2, "a part is a whole number; write a smaller unit"},
        {".5h", 1, "a part is a whole number; write a smaller unit"},
        {" 5m", 1, "no blanks stand in a duration"},
        {"5 m", 2, "no blanks stand in a duration"},
        {"1h 5m", 3, "no blanks stand in a duration"},
        {"5m ", 3, "no blanks stand in a duration"},
        {"5m\t", 3, "no blanks stand in a duration"},
        {"h", 1, "a number is missing"},
        {"1hm", 2, "no such unit " UNITS},
        {"five", 1, "a number is missing"},
        {"5", 2, "a unit is missing " UNITS},
        {"1h30", 5, "a unit is missing " UNITS},
        {"5x", 2, "no such unit " UNITS},
        {"5us", 2, "no such unit " UNITS},
        {"5min", 2, "no such unit " UNITS},
        {"1d5y", 4, "no such unit " UNITS},
        {"5\xC2\xB5s", 2, "no such unit " UNITS},
        {"5M", 2, "units are in lower case " UNITS},
        {"5S", 2, "units are in lower case " UNITS},
        {"30m1h", 5, "units go from large to small, each once"},
        {"1h1h", 4, "units go from large to small, each once"},
        {"1ms1s", 5, "units go from large to small, each once"},
        {"5m;", 3, "a number is missing"},
        {"1234567890s", 10, "a number has at most 9 digits"},
        {"999999999w", 1, "too long to count in microseconds"},
        {"15250284w4d", 10, "too long to count in microseconds"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        alk_error error = ALK_ERROR_INIT;
        int64_t us = 77;
        char message[200];

        snprintf(message, sizeof(message), "'%s' is not a duration at column %d: %s",
                 alk__excerpt_of(alk__text_of(refused[i].text)).text, refused[i].column,
                 refused[i].reason);
        alk_status status = alk__duration_parse(alk__text_of(refused[i].text), &us, &error);
        assert_int_equal(status, ALK_INVALID);
        assert_string_equal(error.message, message);
        assert_int_equal(us, 77);
    }
}

static void only_the_slice_is_read(void **state) {
    int64_t us = 0;

    (void)state;
    assert_int_equal(alk__duration_parse((struct alk__text){"15ms", 2}, &us, NULL), ALK_INVALID);
    assert_int_equal(alk__duration_parse((struct alk__text){"15ms", 3}, &us, NULL), ALK_OK);
    assert_int_equal(us, 15 * ALK__MINUTE);
    assert_int_equal(alk__duration_parse((struct alk__text){"1s\0"
                                                            "2s",
                                                            4},
                                         &us, NULL),
                     ALK_INVALID);
    assert_int_equal(alk__duration_parse(alk__text_of(NULL), &us, NULL), ALK_INVALID);
}

static void a_duration_is_written_as_short_as_it_goes(void **state) {
    static const struct {
        int64_t us;
        const char *text;
    } written[] = {
        {0, "0s"},
        {12, "12us"},
        {ALK__MS, "1ms"},
        {1500, "1ms500us"},
        {1500 * ALK__MS, "1s500ms"},
        {90 * ALK__SECOND, "1m30s"},
        {ALK__HOUR, "1h"},
        {90 * ALK__MINUTE, "1h30m"},
        {10 * ALK__DAY, "1w3d"},
        {-ALK__SECOND, "-1s"},
        {INT64_MAX, "15250284w3d4h54s775ms807us"},
        {INT64_MIN, "-15250284w3d4h54s775ms808us"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(written); i++) {
        char text[ALK__DURATION_BYTES];
        alk__duration_format(written[i].us, text, sizeof(text));
        assert_string_equal(text, written[i].text);
    }
}

static void what_is_written_is_read_back(void **state) {
    uint64_t bits = 20261201;
    char text[ALK__DURATION_BYTES];

    (void)state;
    for (int i = 0; i < 200000; i++) {
        bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int64_t us = (int64_t)(bits >> (1 + i % 50)) / ALK__MS * ALK__MS;
        alk__duration_format(us, text, sizeof(text));
        assert_true(parse(text) == us);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_added_up),
        cmocka_unit_test(every_refusal_names_the_column_and_the_reason),
        cmocka_unit_test(only_the_slice_is_read),
        cmocka_unit_test(a_duration_is_written_as_short_as_it_goes),
        cmocka_unit_test(what_is_written_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
