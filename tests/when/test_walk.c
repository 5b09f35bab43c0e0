/* tests/when/test_walk.c: next and prev against an independent evaluator: a sample by seed (S229;
 * all zones are in test_walk_proof.c). ALK_TEST_SEED repeats one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/random_when.h"
#include "support/tsv.h"

#define DAY INT64_C(86400)
#define SPARSE_CASES 400
#define DENSE_CASES 400

/* Every kind of change: gaps and folds of 30 minutes, an hour, a day; at midnight; negative summer
 * time; Ramadan. */
static const char *const names[] = {
    "UTC",
    "Europe/Berlin",
    "Europe/London",
    "Europe/Dublin",
    "America/New_York",
    "America/Santiago",
    "America/Nuuk",
    "America/Sao_Paulo",
    "America/Caracas",
    "America/St_Johns",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Asia/Gaza",
    "Asia/Kathmandu",
    "Asia/Pyongyang",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Australia/Sydney",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Pacific/Kiritimati",
    "Pacific/Kwajalein",
    "Antarctica/Troll",
    "Antarctica/Casey",
};

static uint64_t seed_of_run(void) {
    const char *text = getenv("ALK_TEST_SEED");

    return text == NULL ? 20261201 : strtoull(text, NULL, 10);
}

static const char *random_name(uint64_t *seed) {
    return names[seeded_below(seed, (int)(sizeof(names) / sizeof(*names)))];
}

/* S229, S107: specs that run some times a day at most, over some years. */
static void sparse_specs_agree_with_the_slow_evaluator(void **state) {
    struct alk__zones *zones = *state;
    uint64_t seed = seed_of_run();
    const int64_t first = seconds_of("1990-01-01T00:00:00Z");
    const int64_t years = 4 * 365 * DAY;

    for (int i = 0; i < SPARSE_CASES; i++) {
        const char *name = random_name(&seed);
        int64_t from = first + seeded_below(&seed, 106 * 365) * DAY + seeded_below(&seed, 86400);
        struct slow_zone slow = slow_zone_read(name, from - 3 * DAY, from + years + 3 * DAY);

        compare_random_spec(&seed, false, zones, name, &slow, from, from + years);
        slow_zone_free(&slow);
    }
}

/* S229, S107: specs of any density, over the days around a change. */
static void dense_specs_agree_with_the_slow_evaluator(void **state) {
    struct alk__zones *zones = *state;
    uint64_t seed = seed_of_run() + 1;
    const int64_t first = seconds_of("1990-01-01T00:00:00Z");

    for (int i = 0; i < DENSE_CASES; i++) {
        const char *name = random_name(&seed);
        int64_t start = first + seeded_below(&seed, 105 * 365) * DAY;
        struct slow_zone slow = slow_zone_read(name, start, start + 3 * 365 * DAY);
        int64_t change = slow.count > 1
                             ? slow.stretches[seeded_below(&seed, (int)slow.count - 1)].end
                             : start + 365 * DAY;
        slow_zone_free(&slow);
        int64_t from = change - DAY - seeded_below(&seed, 7200);
        int64_t to = change + DAY + seeded_below(&seed, 7200);
        slow = slow_zone_read(name, from - 3 * DAY, to + 3 * DAY);

        compare_random_spec(&seed, true, zones, name, &slow, from, to);
        slow_zone_free(&slow);
    }
}

static int set_up(void **state) {
    struct alk__zones *zones = NULL;

    if (alk__zones_new(NULL, &zones, NULL) < 0)
        return -1;
    *state = zones;
    return 0;
}

static int tear_down(void **state) {
    alk__zones_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_specs_agree_with_the_slow_evaluator),
        cmocka_unit_test(dense_specs_agree_with_the_slow_evaluator),
    };

    return cmocka_run_group_tests_name("walk", tests, set_up, tear_down);
}
