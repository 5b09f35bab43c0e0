/* bench/bench_when.c: what the next boundary of a spec costs (the targets of schedules.md: below
 * 2 us for ordinary specs, below 50 us where the search crosses 2100 for a leap day).
 *
 * scripts/build release bench_when && build/release/bench_when */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "when/when.h"
#include "when/zone.h"

#define CALLS 200000

static const struct {
    const char *spec, *zone;
    int64_t from_s, step_s;
} cases[] = {
    {"*/5 * * * *", "", 1796083200, 317},
    {"0 9 * * 1-5", "", 1796083200, 40000},
    {"30 2 * * *", "Europe/Berlin", 1796083200, 40000},
    {"0 0 13 * 5", "Europe/Berlin", 1796083200, 40000},
    {"0 0 L * *", "America/New_York", 1796083200, 400000},
    {"0 12 1 1 *", "America/New_York", 1796083200, 4000000},
    {"@every 90s", "", 1796083200, 317},
    {"0 0 29 2 *", "", 3981311999, 1000}, /* after 2096-02-29: 2104 */
    {"0 0 29 2 *", "Europe/Berlin", 3981311999, 1000},
    {"0 0 29 2 +1", "Europe/Berlin", 3455654400, 1000}, /* a Monday: 28 to 40 years on */
};

int main(void) {
    struct alk__zones *zones = NULL;

    if (alk__zones_new(NULL, &zones, NULL) < 0)
        return EXIT_FAILURE;
    printf("%-14s %-18s %10s %10s\n", "spec", "zone", "next ns", "prev ns");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct alk__when_options options = {.zone = cases[i].zone, .zones = zones};
        struct alk__when *when = NULL;
        alk_error error = ALK_ERROR_INIT;
        int64_t used_us[2];
        int64_t found_s = 0;

        if (alk__when_parse(alk__text_of(cases[i].spec), &options, &when, &error) < 0) {
            fprintf(stderr, "bench_when: '%s': %s\n", cases[i].spec, error.message);
            return EXIT_FAILURE;
        }
        for (int way = 0; way < 2; way++) {
            int64_t start_us = alk__monotonic_us();

            for (int call = 0; call < CALLS; call++) {
                int64_t at_s = cases[i].from_s + call % 1000 * cases[i].step_s;
                if (way == 0)
                    (void)alk__when_next(when, 0, at_s, &found_s);
                else
                    (void)alk__when_prev(when, 0, at_s, &found_s);
            }
            used_us[way] = alk__monotonic_us() - start_us;
        }
        printf("%-14s %-18s %10" PRId64 " %10" PRId64 "\n", cases[i].spec, alk__when_zone(when),
               used_us[0] * 1000 / CALLS, used_us[1] * 1000 / CALLS);
        alk__when_free(when);
    }
    alk__zones_free(zones);
    return EXIT_SUCCESS;
}
