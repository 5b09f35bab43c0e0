/* tests/when/test_hash.c: H: where the name of a schedule puts it (rule 8), and jitter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "when/catchup.h"

static alk_status parse(const char *spec, const char *name, struct alk__when **ret_when,
                        alk_error *error) {
    struct alk__when_options options = {.name = name};

    return alk__when_parse(alk__text_of(spec), &options, ret_when, error);
}

/* What the spec resolves to, which must have the same boundaries. */
static void assert_resolved(const char *name, const char *spec, const char *expected) {
    struct alk__buffer text = ALK__BUFFER_INIT(ALK__WHEN_BYTES_MAX);
    struct alk__when *when = NULL;
    struct alk__when *resolved = NULL;
    alk_error error = ALK_ERROR_INIT;
    int64_t at_s = 1796083200;
    int64_t other_s = at_s;

    if (parse(spec, name, &when, &error) < 0)
        fail_msg("'%s': %s", spec, error.message);
    alk__when_resolve(when, &text);
    assert_string_equal(expected, text.bytes);
    assert_int_equal(ALK_OK, parse(text.bytes, NULL, &resolved, NULL));
    for (int i = 0; i < 50; i++) {
        assert_int_equal(alk__when_next(when, 0, at_s, &at_s),
                         alk__when_next(resolved, 0, other_s, &other_s));
        assert_int_equal(at_s, other_s);
    }
    alk__when_free(when);
    alk__when_free(resolved);
    alk__buffer_release(&text);
}

/* S103: the examples of rule 8; they must never change. */
static void h_is_the_same_on_every_machine_for_ever(void **state) {
    (void)state;
    assert_resolved("report-7", "H H * * *", "50 7 * * *");
    assert_resolved("report-7", "H/15 * * * *", "5-50/15 * * * *");
    assert_resolved("billing.nightly", "H H * * *", "47 19 * * *");
    assert_resolved("billing.nightly", "H(0-29) 3 * * *", "17 3 * * *");
    assert_resolved("", "H H H H H", "58 1 23 12 1");
}

/* S103: text around an H stays as it is; each item of a list may be one. */
static void the_rest_of_the_spec_is_kept(void **state) {
    (void)state;
    assert_resolved("report-7", "CRON_TZ=UTC  H\t3 1,H * ?", "CRON_TZ=UTC  50\t3 1,24 * ?");
    assert_resolved("report-7", "H(5-5) H(8-10)/2 * JAN +H(MON-FRI)", "5 9 * JAN +1");
}

/* S103: a day of the month is one that every month has; a weekday is 0-6. */
static void h_stays_in_its_range(void **state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct alk__buffer text = ALK__BUFFER_INIT(ALK__WHEN_BYTES_MAX);
        struct alk__when *when = NULL;
        int fields[7] = {0};
        char name[16];
        int low;
        int high;

        snprintf(name, sizeof(name), "job-%d", i);
        assert_int_equal(ALK_OK, parse("H H H H(1-12) H H", name, &when, NULL));
        alk__when_resolve(when, &text);
        assert_int_equal(6, sscanf(text.bytes, "%d %d %d %d %d %d", &fields[0], &fields[1],
                                   &fields[2], &fields[3], &fields[4], &fields[5]));
        assert_in_range(fields[0], 0, 59);
        assert_in_range(fields[1], 0, 59);
        assert_in_range(fields[2], 0, 23);
        assert_in_range(fields[3], 1, 12);
        assert_in_range(fields[4], 1, 12);
        assert_in_range(fields[5], 0, 6);
        alk__when_free(when);

        alk__buffer_clear(&text);
        assert_int_equal(ALK_OK, parse("0 0 H/7 * *", name, &when, NULL));
        alk__when_resolve(when, &text);
        assert_int_equal(2, sscanf(text.bytes, "0 0 %d-%d/7 * *", &low, &high));
        assert_in_range(low, 1, 7);
        assert_int_equal(low + 21, high);
        alk__when_free(when);
        alk__buffer_release(&text);
    }
}

/* S103 */
static void an_h_that_cannot_be_is_refused(void **state) {
    static const struct {
        const char *spec, *message;
    } cases[] = {
        {"0 0 0 1 1 * H", "H does not stand in the year at column 13"},
        {"H(5-2) * * * *", "the range 5-2 runs backwards at column 3"},
        {"H(5) * * * *", "')' is not allowed in the minute at column 4 (as in H(0-29))"},
        {"H(5-9 * * * *", "the minute is not complete at column 6 (as in H(0-29))"},
        {"H(0-60) * * * *", "minute 60 is out of range 0-59 at column 5"},
        {"H() * * * *", "')' is not allowed in the minute at column 3"},
        {"H/60 * * * *", "step 60 is longer than the range 0-59 of the minute at column 3 (use "
                         "@every 60m)"},
        {"H(0-9)/10 * * * *", "step 10 is longer than the range 0-9 of the minute at column 8"},
        {"H/0 * * * *", "a step is not 0 at column 3"},
        {"H-5 * * * *", "'-' is not allowed in the minute at column 2 (a range has two ends and "
                        "values have no sign)"},
        {"h * * * *", "'h' is not allowed in the minute at column 1 (H, L and W are capitals)"},
        {"0 0 H(30-31) 2 *", "the spec matches no day of 1970-2199 at column 1"},
    };
    struct alk__when *when = NULL;
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(ALK_INVALID, parse(cases[i].spec, "report-7", &when, &error));
        assert_string_equal(cases[i].message, error.message);
    }
    assert_int_equal(ALK_INVALID, parse("0 H * * *", NULL, &when, &error));
    assert_string_equal("H needs the name of the schedule, which is not given at column 3",
                        error.message);
}

/* S103: what is stored must be a spec again. */
static void numbers_that_make_the_spec_too_long_are_refused(void **state) {
    char spec[ALK__WHEN_BYTES_MAX + 1] = "H/2";
    struct alk__when *when = NULL;
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    while (strlen(spec) < 240)
        memcpy(spec + strlen(spec), ",H/2", 5);
    memcpy(spec + strlen(spec), " * * * *", 9);
    assert_int_equal(ALK_INVALID, parse(spec, "report-7", &when, &error));
    assert_non_null(
        strstr(error.message, "with numbers in place of H the spec is longer than 256"));
}

static void a_spec_without_h_resolves_to_nothing(void **state) {
    struct alk__buffer text = ALK__BUFFER_INIT(ALK__WHEN_BYTES_MAX);
    struct alk__when *when = NULL;

    (void)state;
    assert_int_equal(ALK_OK, parse("0 0 * * THU", "report-7", &when, NULL));
    alk__when_resolve(when, &text);
    assert_int_equal(0, text.length);
    alk__when_free(when);
    alk__buffer_release(&text);
}

/* S109: from the schedule and the boundary alone, within the jitter and before the next
 * boundary. */
static void jitter_is_the_same_each_time_and_bounded(void **state) {
    const int64_t minute_us = 60 * INT64_C(1000000);
    int64_t least = minute_us;
    int64_t most = 0;

    (void)state;
    for (int64_t fire_s = 0; fire_s < 3600 * 1000; fire_s += 3600) {
        int64_t jitter_us = alk__jitter_us(7, fire_s, minute_us, fire_s + 3600);

        assert_int_equal(jitter_us, alk__jitter_us(7, fire_s, minute_us, fire_s + 3600));
        assert_in_range(jitter_us, 0, minute_us - 1);
        assert_in_range(alk__jitter_us(7, fire_s, minute_us, fire_s + 5), 0, 5000000 - 1);
        assert_in_range(alk__jitter_us(7, fire_s, minute_us, ALK_NO_TIME), 0, minute_us - 1);
        least = jitter_us < least ? jitter_us : least;
        most = jitter_us > most ? jitter_us : most;
    }
    assert_true(least < minute_us / 20 && most > minute_us - minute_us / 20);
    assert_int_equal(0, alk__jitter_us(7, 1000, 0, 2000));
    assert_int_equal(0, alk__jitter_us(7, 1000, minute_us, 1000));
    assert_true(alk__jitter_us(7, 1000, minute_us, 2000) !=
                alk__jitter_us(8, 1000, minute_us, 2000));
}

/* S109: the number itself is pinned: a release that changes it moves jobs. */
static void jitter_is_the_same_on_every_machine_for_ever(void **state) {
    (void)state;
    assert_int_equal(1699802047, alk__jitter_us(42, 1796083200, INT64_C(3600000000), ALK_NO_TIME));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(h_is_the_same_on_every_machine_for_ever),
        cmocka_unit_test(the_rest_of_the_spec_is_kept),
        cmocka_unit_test(h_stays_in_its_range),
        cmocka_unit_test(an_h_that_cannot_be_is_refused),
        cmocka_unit_test(numbers_that_make_the_spec_too_long_are_refused),
        cmocka_unit_test(a_spec_without_h_resolves_to_nothing),
        cmocka_unit_test(jitter_is_the_same_each_time_and_bounded),
        cmocka_unit_test(jitter_is_the_same_on_every_machine_for_ever),
    };

    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
