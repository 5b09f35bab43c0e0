/* base/backoff: how long a failed job waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/backoff.h"

#define BASE ALK__SECOND
#define CAP ALK__HOUR

static uint64_t counting(void *context) {
    uint64_t *state = context;

    *state += UINT64_C(0x9E3779B97F4A7C15);
    return *state;
}

static uint64_t zero(void *context) {
    (void)context;
    return 0;
}

static const struct alk__random least = {zero, NULL};

/* S71 */
static void a_wait_doubles_from_the_base_up_to_the_cap(void **state) {
    static const int64_t seconds[] = {1,   2,   4,   8,    16,   32,   64,
                                      128, 256, 512, 1024, 2048, 3600, 3600};
    uint64_t seed = 1;
    struct alk__random source = {counting, &seed};

    (void)state;
    for (int64_t attempt = 1; attempt <= 14; attempt++) {
        int64_t d = seconds[attempt - 1] * ALK__SECOND;
        int64_t low = INT64_MAX;
        int64_t high = 0;

        assert_int_equal(alk__backoff_us(BASE, CAP, attempt, &least), d / 2);
        for (int i = 0; i < 2000; i++) {
            int64_t wait = alk__backoff_us(BASE, CAP, attempt, &source);
            low = wait < low ? wait : low;
            high = wait > high ? wait : high;
        }
        assert_in_range(low, d / 2, d / 2 + d / 50);
        assert_in_range(high, d - d / 50, d);
    }
}

/* S72 */
static void the_generator_pins_the_jitter(void **state) {
    uint64_t seeds[] = {77, 77};
    struct alk__random first = {counting, &seeds[0]};
    struct alk__random second = {counting, &seeds[1]};

    (void)state;
    for (int64_t attempt = 1; attempt < 100; attempt++)
        assert_int_equal(alk__backoff_us(BASE, CAP, attempt, &first),
                         alk__backoff_us(BASE, CAP, attempt, &second));
}

/* S72: the fifth attempt of all of them is spread over the eight seconds from 8 to 16. */
static void a_thousand_jobs_that_fail_together_do_not_come_back_in_the_same_second(void **state) {
    int in_second[16] = {0};

    (void)state;
    for (int i = 0; i < 1000; i++) {
        int64_t wait = alk__backoff_us(BASE, CAP, 5, NULL);
        assert_in_range(wait, 8 * ALK__SECOND, 16 * ALK__SECOND);
        in_second[wait == 16 * ALK__SECOND ? 15 : wait / ALK__SECOND]++;
    }
    for (int second = 8; second < 16; second++)
        assert_in_range(in_second[second], 50, 250);
}

/* S73 */
static void no_attempt_overflows(void **state) {
    static const int64_t attempts[] = {13, 62, 63, 64, 65, 66, 10000, INT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
        assert_int_equal(alk__backoff_us(BASE, CAP, attempts[i], &least), CAP / 2);
        assert_in_range(alk__backoff_us(BASE, CAP, attempts[i], NULL), CAP / 2, CAP);
        assert_in_range(alk__backoff_us(1, INT64_MAX, attempts[i], NULL), 1, INT64_MAX);
    }
    assert_in_range(alk__backoff_us(INT64_MAX, INT64_MAX, INT64_MAX, NULL), INT64_MAX / 2,
                    INT64_MAX);
}

/* S73: what a setting or a row may hold must not make a negative or an endless wait. */
static void odd_settings_wait_between_nothing_and_the_cap(void **state) {
    (void)state;
    assert_int_equal(alk__backoff_us(0, CAP, 3, NULL), 0);
    assert_int_equal(alk__backoff_us(-5, CAP, 3, NULL), 0);
    assert_int_equal(alk__backoff_us(BASE, 0, 3, NULL), 0);
    assert_int_equal(alk__backoff_us(BASE, -5, 3, NULL), 0);
    assert_int_equal(alk__backoff_us(1, 1, 1, &least), 1);
    assert_int_equal(alk__backoff_us(CAP, BASE, 1, &least), BASE / 2);
    assert_int_equal(alk__backoff_us(BASE, CAP, 0, &least), BASE / 2);
    assert_int_equal(alk__backoff_us(BASE, CAP, INT64_MIN, &least), BASE / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_doubles_from_the_base_up_to_the_cap),
        cmocka_unit_test(the_generator_pins_the_jitter),
        cmocka_unit_test(a_thousand_jobs_that_fail_together_do_not_come_back_in_the_same_second),
        cmocka_unit_test(no_attempt_overflows),
        cmocka_unit_test(odd_settings_wait_between_nothing_and_the_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
