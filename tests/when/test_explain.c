/* tests/when/test_explain.c: plain words, and the public interface (S110). */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <alkstore/when.h>

#include "base/arena.h"
#include "base/clock.h"
#include "support/tsv.h"
#include "when/when.h"
#include "when/zone.h"

/* S110 */
static void a_spec_is_said_in_plain_words(void **state) {
    static const struct {
        const char *spec, *words;
    } cases[] = {
        {"* * * * *", "every minute, UTC"},
        {"* * * * * *", "every second, UTC"},
        {"*/5 * * * *", "every 5 minutes, UTC"},
        {"0 * * * *", "at minute 0 of every hour, UTC"},
        {"5,35 */2 * * *", "at minutes 5 and 35 of every 2 hours every day, UTC"},
        {"30 2 * * *", "at 02:30 every day, UTC"},
        {"15 30 2 * * *", "at 02:30:15 every day, UTC"},
        {"0 9,17 * * 1-5", "at 09:00 and 17:00 on Monday to Friday, UTC"},
        {"*/7 9-17 * * MON-FRI",
         "at minutes 0 to 56 in steps of 7 of hours 9 to 17 on Monday to Friday, UTC"},
        {"0 0 13 * 5", "at 00:00 on day 13 of the month, and also on Friday, UTC"},
        {"0 0 13 * +5", "at 00:00 on day 13 of the month, if it is also Friday, UTC"},
        {"0 0 L,L-1,L-2 * *", "at 00:00 on the last day, 1 day before the last day and 2 days "
                              "before the last day of the month, UTC"},
        {"0 0 1,15W,LW * *", "at 00:00 on day 1, the workday (Monday to Friday) nearest to day 15 "
                             "and the last workday (Monday to Friday) of the month, UTC"},
        {"0 0 * * SUN#1,SAT#5,FRIL", "at 00:00 on the first Sunday of the month, the fifth "
                                     "Saturday of the month and the last Friday of the month, UTC"},
        {"0 0 1 1,6-8 *", "at 00:00 on day 1 of the month in January and June to August, UTC"},
        {"0 0 0 1 1 ? 2027-2040,2050",
         "at 00:00 on day 1 of the month in January in 2027 to 2040 and 2050, UTC"},
        {"@every 90m", "every 1h30m of elapsed time, counted from when the schedule was made"},
        {"@every 6h/0s", "every 6h of elapsed time, counted from 0s after 1970-01-01T00:00:00Z"},
        {"@at 2027-01-01 08:30:00+01:00", "once, at 2027-01-01T07:30:00Z"},
        {"CRON_TZ=America/New_York 30 2 * * *",
         "at 02:30 every day, America/New_York time; a time that clocks skip is made up for when "
         "they change, one that comes twice runs the first time only"},
        {"CRON_TZ=America/New_York */30 2 * * *",
         "at 02:00 and 02:30 every day, America/New_York time; a time that clocks skip is made up "
         "for when they change, one that comes twice runs both times"},
        {"CRON_TZ=America/New_York 0 * * * *", "at minute 0 of every hour, America/New_York time"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        alk_when *when = NULL;
        alk_error error = ALK_ERROR_INIT;

        if (alk_when_parse(cases[i].spec, NULL, &when, &error) < 0)
            fail_msg("'%s': %s", cases[i].spec, error.message);
        assert_string_equal(cases[i].words, alk_when_explain(when));
        alk_when_free(when);
    }
}

/* The longest of each part fits. */
static void no_spec_is_too_long_to_explain(void **state) {
    alk_when *when = NULL;

    (void)state;
    assert_int_equal(
        ALK_OK, alk_when_parse("0,2,4,5,7,9,11,13,14 1,3,5,7,8,11,14,17,20,22,25 0,2,3,5,6,8,9,11 "
                               "1,3,5W,7W,9W,11W,L-1,L-3,L-5,L-7,L-9,L-11,L-13,LW 1,3,5,7,8,10,12 "
                               "SUN,TUE,MON#1,MON#2,MON#3,MON#4,MON#5,WED#1,WED#2,WED#3,WEDL,THUL "
                               "1990,1992,1995,2001,2003,2005",
                               NULL, &when, NULL));
    assert_true(strlen(alk_when_explain(when)) > 500);
    alk_when_free(when);
}

/* S106, S110: microseconds are asked for, whole seconds are the answer, strictly after and
 * before. */
static void boundaries_are_asked_for_in_microseconds(void **state) {
    const int64_t noon_us = seconds_of("2026-12-01T12:00:00Z") * ALK__SECOND;
    alk_when *when = NULL;
    int64_t at_us = 7;

    (void)state;
    assert_int_equal(ALK_OK, alk_when_parse("0 12 * * *", NULL, &when, NULL));
    assert_int_equal(ALK_OK, alk_when_next(when, 0, noon_us - 1, &at_us));
    assert_int_equal(noon_us, at_us);
    assert_int_equal(ALK_OK, alk_when_next(when, 0, noon_us, &at_us));
    assert_int_equal(noon_us + ALK__DAY, at_us);
    assert_int_equal(ALK_OK, alk_when_prev(when, 0, noon_us + 1, &at_us));
    assert_int_equal(noon_us, at_us);
    assert_int_equal(ALK_OK, alk_when_prev(when, 0, noon_us, &at_us));
    assert_int_equal(noon_us - ALK__DAY, at_us);
    alk_when_free(when);
    assert_int_equal(ALK_OK, alk_when_parse("@daily", NULL, &when, NULL));
    assert_int_equal(ALK_OK, alk_when_next(when, 0, -1, &at_us));
    assert_int_equal(0, at_us);
    at_us = 7;
    assert_int_equal(ALK_EMPTY, alk_when_next(when, 0, INT64_MAX, &at_us));
    assert_int_equal(ALK_EMPTY, alk_when_prev(when, 0, INT64_MIN, &at_us));
    assert_int_equal(7, at_us);
    alk_when_free(when);
    assert_int_equal(ALK_OK, alk_when_parse("@every 10s", NULL, &when, NULL));
    assert_int_equal(ALK_OK, alk_when_next(when, noon_us + 999999, noon_us, &at_us));
    assert_int_equal(noon_us + 10 * ALK__SECOND, at_us);
    alk_when_free(when);
}

static void wrong_use_and_wrong_specs_are_told_apart(void **state) {
    alk_when *when = NULL;
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    assert_int_equal(ALK_USAGE, alk_when_parse(NULL, NULL, &when, &error));
    assert_int_equal(ALK_USAGE, alk_when_parse("@daily", NULL, NULL, &error));
    assert_int_equal(ALK_INVALID, alk_when_parse("60 * * * *", NULL, &when, &error));
    assert_null(when);
    alk_when_free(NULL);
}

/* S218 */
static void a_failed_allocation_is_an_error(void **state) {
    long n = 0;
    alk_status st;

    (void)state;
    do {
        alk_when *when = NULL;
        alk_error error = ALK_ERROR_INIT;

        alk__alloc_fail_at(++n);
        st = alk_when_parse("0 3 13 * 5", NULL, &when, &error);
        alk__alloc_fail_at(0);
        assert_true(st == ALK_OK || (st == ALK_NOMEM && error.status == ALK_NOMEM));
        alk_when_free(when);
    } while (st == ALK_NOMEM);
    assert_true(n > 3);
}

/* ---- threads ---- */

#define THREADS 4
#define ROUNDS 300

struct shared {
    struct alk__zones *zones;
    struct alk__when *when;
};

/* Compiles through the shared cache, asks the shared spec, drops zones while others use them. */
static void *ask(void *context) {
    static const char *const names[] = {"Europe/Berlin", "America/New_York", "Asia/Tokyo"};
    const struct shared *shared = context;
    int64_t expected_s = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct alk__when_options options = {.zone = names[i % 3], .zones = shared->zones};
        struct alk__when *when = NULL;
        int64_t at_s = 0;

        if (alk__when_parse(ALK__TEXT("30 2 * * *"), &options, &when, NULL) < 0 ||
            !alk__when_next(when, 0, 1800000000, &at_s))
            return shared->when;
        alk__when_free(when);
        if (!alk__when_next(shared->when, 0, 1800000000, &at_s) || (i > 0 && at_s != expected_s))
            return shared->when;
        expected_s = at_s;
        if (i % 50 == 0)
            (void)alk__zones_refresh(shared->zones);
    }
    return NULL;
}

/* A compiled spec and the cache of zones may be shared. */
static void threads_share_specs_and_zones(void **state) {
    struct shared shared = {.zones = NULL};
    pthread_t threads[THREADS];

    (void)state;
    assert_int_equal(ALK_OK, alk__zones_new(PINNED_ZONES, &shared.zones, NULL));
    struct alk__when_options options = {.zone = "Australia/Sydney", .zones = shared.zones};
    assert_int_equal(ALK_OK,
                     alk__when_parse(ALK__TEXT("30 2 * * *"), &options, &shared.when, NULL));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, ask, &shared));
    for (int i = 0; i < THREADS; i++) {
        void *failure = NULL;

        assert_int_equal(0, pthread_join(threads[i], &failure));
        assert_null(failure);
    }
    alk__when_free(shared.when);
    alk__zones_free(shared.zones);
}

static int pin_zones(void **state) {
    (void)state;
    return setenv("TZDIR", PINNED_ZONES, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spec_is_said_in_plain_words),
        cmocka_unit_test(no_spec_is_too_long_to_explain),
        cmocka_unit_test(boundaries_are_asked_for_in_microseconds),
        cmocka_unit_test(wrong_use_and_wrong_specs_are_told_apart),
        cmocka_unit_test(a_failed_allocation_is_an_error),
        cmocka_unit_test(threads_share_specs_and_zones),
    };

    return cmocka_run_group_tests_name("explain", tests, pin_zones, NULL);
}
