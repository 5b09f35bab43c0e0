/* base/clock: the seams through which tests own time and chance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

static int64_t fixed_now(void *context) {
    return *(const int64_t *)context;
}

static uint64_t fixed_draw(void *context) {
    return *(const uint64_t *)context;
}

/* S221 */
static void an_injected_clock_is_the_time(void **state) {
    int64_t now_us = 42;
    struct alk__clock clock = {fixed_now, &now_us};

    (void)state;
    assert_int_equal(alk__now_us(&clock), 42);
    now_us = -7;
    assert_int_equal(alk__now_us(&clock), -7);
}

static void without_one_it_is_the_systems(void **state) {
    const int64_t year_2020 = INT64_C(1577836800) * ALK__SECOND;
    struct alk__clock empty = {NULL, NULL};

    (void)state;
    assert_true(alk__now_us(NULL) > year_2020);
    assert_true(alk__now_us(&empty) > year_2020);
}

static void the_monotonic_clock_never_goes_back(void **state) {
    int64_t last = alk__monotonic_us();

    (void)state;
    for (int i = 0; i < 10000; i++) {
        int64_t now = alk__monotonic_us();
        assert_true(now >= last);
        last = now;
    }
}

/* S221 */
static void an_injected_generator_is_chance(void **state) {
    uint64_t bits = 12345;
    struct alk__random source = {fixed_draw, &bits};

    (void)state;
    assert_int_equal(alk__random_bits(&source), 12345);
    assert_int_equal(alk__random_between(&source, 100, 109), 100 + 12345 % 10);
    bits = UINT64_MAX;
    assert_int_equal(alk__random_bits(&source), UINT64_MAX);
}

static void without_one_the_bits_differ_from_draw_to_draw(void **state) {
    uint64_t seen_set = 0;
    uint64_t seen_clear = 0;

    (void)state;
    for (int i = 0; i < 200; i++) {
        uint64_t bits = alk__random_bits(NULL);
        seen_set |= bits;
        seen_clear |= ~bits;
    }
    assert_int_equal(seen_set, UINT64_MAX);
    assert_int_equal(seen_clear, UINT64_MAX);
}

static void a_number_between_two_reaches_both_and_nothing_else(void **state) {
    bool seen[4] = {false};

    (void)state;
    for (uint64_t bits = 0; bits < 100; bits++) {
        struct alk__random source = {fixed_draw, &bits};
        int64_t number = alk__random_between(&source, -2, 1);
        assert_in_range(number + 2, 0, 3);
        seen[number + 2] = true;
    }
    assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
}

static void any_range_works_even_the_widest(void **state) {
    uint64_t bits = UINT64_C(0xFEDCBA9876543210);
    struct alk__random source = {fixed_draw, &bits};

    (void)state;
    assert_true(alk__random_between(&source, INT64_MIN, INT64_MAX) ==
                (int64_t)(UINT64_C(0x8000000000000000) + bits));
    assert_true(alk__random_between(&source, 0, INT64_MAX) >= 0);
    assert_true(alk__random_between(&source, INT64_MIN, 0) <= 0);
    assert_int_equal(alk__random_between(&source, 5, 5), 5);
    assert_int_equal(alk__random_between(&source, 5, 4), 5);
}

static void a_sum_stops_at_the_ends(void **state) {
    (void)state;
    assert_int_equal(alk__add_us(40, 2), 42);
    assert_true(alk__add_us(INT64_MAX, 1) == INT64_MAX);
    assert_true(alk__add_us(INT64_MAX - 1, 1) == INT64_MAX);
    assert_true(alk__add_us(INT64_MIN, -1) == INT64_MIN);
    assert_true(alk__add_us(INT64_MIN, INT64_MAX) == -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_injected_clock_is_the_time),
        cmocka_unit_test(without_one_it_is_the_systems),
        cmocka_unit_test(the_monotonic_clock_never_goes_back),
        cmocka_unit_test(an_injected_generator_is_chance),
        cmocka_unit_test(without_one_the_bits_differ_from_draw_to_draw),
        cmocka_unit_test(a_number_between_two_reaches_both_and_nothing_else),
        cmocka_unit_test(any_range_works_even_the_widest),
        cmocka_unit_test(a_sum_stops_at_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
