/* base/civil: the calendar, against a walk that counts days one by one and knows nothing but the
 * lengths of months. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/civil.h"

struct walk {
    int64_t days;
    int64_t year;
    int month;
    int day;
    int weekday;
};

static int length_of(int64_t year, int month) {
    if (month == 2)
        return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

static void step(struct walk *walk) {
    walk->days++;
    walk->weekday = (walk->weekday + 1) % 7;
    if (++walk->day <= length_of(walk->year, walk->month))
        return;
    walk->day = 1;
    if (++walk->month <= 12)
        return;
    walk->month = 1;
    walk->year++;
}

static void assert_is(struct alk__civil civil, const struct walk *walk, int hour, int minute,
                      int second) {
    if (civil.year != walk->year || civil.month != walk->month || civil.day != walk->day ||
        civil.hour != hour || civil.minute != minute || civil.second != second)
        fail_msg("day %lld is not %lld-%d-%d %d:%d:%d", (long long)walk->days,
                 (long long)civil.year, civil.month, civil.day, civil.hour, civil.minute,
                 civil.second);
}

static void check(const struct walk *walk) {
    const int64_t midnight = walk->days * 86400;
    struct alk__civil last = {walk->year, walk->month, walk->day, 23, 59, 59};

    assert_true(alk__civil_days(walk->year, walk->month, walk->day) == walk->days);
    assert_int_equal(alk__civil_weekday(walk->days), walk->weekday);
    assert_int_equal(alk__civil_month_length(walk->year, walk->month),
                     length_of(walk->year, walk->month));
    assert_true(alk__civil_seconds(&last) == midnight + 86399);
    assert_is(alk__civil_of(midnight), walk, 0, 0, 0);
    assert_is(alk__civil_of(midnight + 45296), walk, 12, 34, 56);
    assert_is(alk__civil_of(midnight + 86399), walk, 23, 59, 59);
}

/* 1890-01-01 was a Wednesday, 29,219 days before 1970. */
static void every_day_from_1890_to_2210_is_right(void **state) {
    struct walk walk = {-29219, 1890, 1, 1, 3};

    (void)state;
    for (; walk.year <= 2210; step(&walk))
        check(&walk);
    assert_true(walk.days == 88023);
}

/* A whole round of the calendar around the year 0: 0000-03-01 was a Wednesday, 719,468 days before
 * 1970. */
static void the_calendar_goes_on_before_the_first_year(void **state) {
    struct walk walk = {-719468, 0, 3, 1, 3};

    (void)state;
    for (; walk.year <= 401; step(&walk))
        check(&walk);

    struct alk__civil leap = alk__civil_of(alk__civil_days(-400, 2, 29) * 86400);
    assert_true(leap.year == -400 && leap.month == 2 && leap.day == 29);
    assert_true(alk__civil_days(-399, 1, 1) - alk__civil_days(-400, 1, 1) == 366);
    assert_true(alk__civil_days(-99, 1, 1) - alk__civil_days(-100, 1, 1) == 365);
}

static void any_number_of_seconds_is_a_date_and_comes_back(void **state) {
    uint64_t bits = 20261201;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int64_t seconds = (int64_t)bits >> (i % 40);
        struct alk__civil civil = alk__civil_of(seconds);

        assert_in_range(civil.month, 1, 12);
        assert_in_range(civil.day, 1, length_of(civil.year, civil.month));
        assert_in_range(civil.hour, 0, 23);
        assert_in_range(civil.minute, 0, 59);
        assert_in_range(civil.second, 0, 59);
        assert_true(alk__civil_seconds(&civil) == seconds);
    }
    struct alk__civil last = alk__civil_of(INT64_MAX);
    assert_true(alk__civil_seconds(&last) == INT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_day_from_1890_to_2210_is_right),
        cmocka_unit_test(the_calendar_goes_on_before_the_first_year),
        cmocka_unit_test(any_number_of_seconds_is_a_date_and_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
