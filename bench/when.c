/* bench/when.c: what the next boundary of a spec costs (the targets of schedules.md: below
 * 2 us for ordinary specs, below 50 us where the search crosses 2100 for a leap day). */
#include <stdio.h>

#include "base/clock.h"
#include "bench.h"
#include "when/when.h"
#include "when/zone.h"

#define CALLS 200000

static const struct {
    const char *spec, *zone;
    int64_t from_s, step_s;
    bool is_rare; /* crosses 2100 for a leap day */
} cases[] = {
    {"*/5 * * * *", "", 1796083200, 317, false},
    {"0 9 * * 1-5", "", 1796083200, 40000, false},
    {"30 2 * * *", "Europe/Berlin", 1796083200, 40000, false},
    {"0 0 13 * 5", "Europe/Berlin", 1796083200, 40000, false},
    {"0 0 L * *", "America/New_York", 1796083200, 400000, false},
    {"0 12 1 1 *", "America/New_York", 1796083200, 4000000, false},
    {"@every 90s", "", 1796083200, 317, false},
    {"0 0 29 2 *", "", 3981311999, 1000, true}, /* after 2096-02-29: 2104 */
    {"0 0 29 2 *", "Europe/Berlin", 3981311999, 1000, true},
    {"0 0 29 2 +1", "Europe/Berlin", 3455654400, 1000, true}, /* a Monday: 28 to 40 years on */
};

/* Nanoseconds a call. */
static double measure(const struct alk__when *when, size_t i, bool is_next) {
    int64_t found_s = 0;
    int64_t start_us = alk__monotonic_us();

    for (int call = 0; call < CALLS; call++) {
        int64_t at_s = cases[i].from_s + call % 1000 * cases[i].step_s;
        if (is_next)
            (void)alk__when_next(when, 0, at_s, &found_s);
        else
            (void)alk__when_prev(when, 0, at_s, &found_s);
    }
    return (double)(alk__monotonic_us() - start_us) * 1000 / CALLS;
}

void bench_when(struct bench *bench) {
    struct alk__zones *zones = NULL;
    alk_error error = ALK_ERROR_INIT;

    check(alk__zones_new(NULL, &zones, &error), &error);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct alk__when_options options = {.zone = cases[i].zone, .zones = zones};
        struct alk__when *when = NULL;
        char name[96];

        check(alk__when_parse(alk__text_of(cases[i].spec), &options, &when, &error), &error);
        const char *target = cases[i].is_rare ? "< 50000" : "< 2000";
        snprintf(name, sizeof(name), "next %s %s", cases[i].spec, cases[i].zone);
        figure(bench, name, 0, measure(when, i, true), "ns", target);
        snprintf(name, sizeof(name), "prev %s %s", cases[i].spec, cases[i].zone);
        figure(bench, name, 0, measure(when, i, false), "ns", NULL);
        alk__when_free(when);
    }
    alk__zones_free(zones);
}
