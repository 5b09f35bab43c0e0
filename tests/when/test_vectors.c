/* tests/when/test_vectors.c: the cases that were worked out beforehand with two other evaluators
 * (tests/vectors). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/duration.h"
#include "support/tsv.h"
#include "when/catchup.h"
#include "when/zone.h"

static struct alk__zones *zones;

/* The value behind "name=" among words that are separated by blanks; NULL when it is not there. */
static const char *option_of(const char *options, const char *name, char *value, size_t size) {
    const char *at = strstr(options, name);

    if (at == NULL)
        return NULL;
    at += strlen(name);
    snprintf(value, size, "%.*s", (int)strcspn(at, " "), at);
    return value;
}

static struct alk__when *parse(const char *spec, struct alk__when_options options) {
    struct alk__when *when = NULL;
    alk_error error = ALK_ERROR_INIT;

    options.zones = zones;
    if (alk__when_parse(alk__text_of(spec), &options, &when, &error) < 0)
        fail_msg("'%s': %s", spec, error.message);
    return when;
}

static void assert_time(const char *expected, bool is_found, int64_t found_s, const char *spec,
                        int line) {
    char found[ALK__TIME_BYTES] = "never";

    if (is_found)
        alk__time_format(found_s * ALK__SECOND, found, sizeof(found));
    if (strcmp(found, expected) != 0)
        fail_msg("line %d, '%s': %s instead of %s", line, spec, found, expected);
}

/* S103: accepted or refused, as of 2026-12-01; a spec that was accepted has the first boundary that
 * is given. */
static void each_spec_is_accepted_or_refused(void **state) {
    struct tsv tsv = tsv_open("schedule-accept.tsv");
    const int64_t as_of_s = seconds_of("2026-12-01T00:00:00Z");
    int cases = 0;

    (void)state;
    for (; tsv_next(&tsv); cases++) {
        struct alk__when *when = NULL;
        alk_error error = ALK_ERROR_INIT;
        int64_t first_s = 0;
        bool is_accepted =
            alk__when_parse(alk__text_of(tsv.field[1]), NULL, &when, &error) == ALK_OK &&
            alk__when_next(when, as_of_s, as_of_s, &first_s);

        if (is_accepted != (strcmp(tsv.field[0], "accept") == 0))
            fail_msg("line %d, '%s': %s", tsv.line, tsv.field[1], error.message);
        if (tsv.field[2][0] != '\0')
            assert_time(tsv.field[2], is_accepted, first_s, tsv.field[1], tsv.line);
        alk__when_free(when);
    }
    assert_int_equal(50, cases);
    tsv_close(&tsv);
}

/* "Sun 2027-03-14 03:00:00 -0400" */
static void assert_local(const char *expected, const struct alk__when *when, int64_t at_s,
                         int line) {
    static const char names[] = "SunMonTueWedThuFriSat";
    struct alk__when_local local = alk__when_local(when, at_s);
    const struct alk__civil *civil = &local.civil;
    int weekday = alk__civil_weekday(alk__civil_days(civil->year, civil->month, civil->day));
    int offset = abs(local.offset_s);
    char text[64];

    snprintf(text, sizeof(text), "%.3s %04lld-%02d-%02d %02d:%02d:%02d %c%02d%02d",
             names + 3 * weekday, (long long)civil->year, civil->month, civil->day, civil->hour,
             civil->minute, civil->second, local.offset_s < 0 ? '-' : '+', offset / 3600,
             offset / 60 % 60);
    if (strncmp(text, expected, strlen(text)) != 0)
        fail_msg("line %d: %s instead of %.*s", line, text, (int)strlen(text), expected);
}

/* S103, S107: boundaries one after the other, in UTC and as clocks show them; each is the one
 * before the next. */
static void each_spec_has_its_boundaries(void **state) {
    struct tsv tsv = tsv_open("schedule-next.tsv");
    int cases = 0;

    (void)state;
    for (; tsv_next(&tsv); cases++) {
        char value[16];
        const char *gap = option_of(tsv.field[2], "gap=", value, sizeof(value));
        struct alk__when_options options = {.zone = tsv.field[0]};
        options.gap = gap != NULL && strcmp(gap, "skip") == 0 ? ALK__GAP_SKIP : ALK__GAP_SHIFT;
        const char *fold = option_of(tsv.field[2], "fold=", value, sizeof(value));
        if (fold != NULL)
            options.fold = strcmp(fold, "last") == 0   ? ALK__FOLD_LAST
                           : strcmp(fold, "both") == 0 ? ALK__FOLD_BOTH
                                                       : ALK__FOLD_FIRST;
        struct alk__when *when = parse(tsv.field[1], options);
        int64_t at_s = seconds_of(tsv.field[3]);
        int64_t last_s = at_s;
        const char *local = tsv.field[5];

        for (char *expected; (expected = tsv_word(&tsv.field[4])) != NULL; last_s = at_s) {
            bool is_found = alk__when_next(when, 0, at_s, &at_s);
            assert_time(expected, is_found, at_s, tsv.field[1], tsv.line);
            if (!is_found)
                break;
            assert_local(local, when, at_s, tsv.line);
            local = strstr(local, " ; ") == NULL ? "" : strstr(local, " ; ") + 3;
            int64_t before_s = last_s;
            if (last_s != seconds_of(tsv.field[3])) {
                assert_true(alk__when_prev(when, 0, at_s, &before_s));
                assert_int_equal(last_s, before_s);
            }
        }
        alk__when_free(when);
    }
    assert_int_equal(46, cases);
    tsv_close(&tsv);
}

/* S100, S128: the grid of @every. */
static void each_period_has_its_grid(void **state) {
    struct tsv tsv = tsv_open("every-next.tsv");
    int cases = 0;

    (void)state;
    for (; tsv_next(&tsv); cases++) {
        struct alk__when *when = parse(tsv.field[0], (struct alk__when_options){.zone = NULL});
        int64_t anchor_s =
            strcmp(tsv.field[1], "(ignored)") == 0 ? 12345 : seconds_of(tsv.field[1]);
        int64_t next_s = 0;
        bool is_found = alk__when_next(when, anchor_s, seconds_of(tsv.field[2]), &next_s);

        assert_time(tsv.field[3], is_found, next_s, tsv.field[0], tsv.line);
        alk__when_free(when);
    }
    assert_int_equal(9, cases);
    tsv_close(&tsv);
}

static int64_t seconds_option(const char *options, const char *name) {
    char value[16];
    int64_t us = 0;

    if (option_of(options, name, value, sizeof(value)) != NULL)
        assert_int_equal(ALK_OK, alk__duration_parse(alk__text_of(value), &us, NULL));
    return us / ALK__SECOND;
}

/* S131: what fires, what was missed, what comes next. */
static void each_backlog_is_caught_up(void **state) {
    struct tsv tsv = tsv_open("catchup.tsv");
    int cases = 0;

    (void)state;
    for (; tsv_next(&tsv); cases++) {
        struct alk__when *when = parse(tsv.field[0], (struct alk__when_options){.zone = NULL});
        struct alk__catchup_options options = ALK__CATCHUP_OPTIONS_INIT;
        int64_t fires[ALK__CATCHUP_MAX];
        struct alk__catchup_result result = {.fire_s = fires};
        char value[16];

        options.policy = strcmp(tsv.field[3], "skip") == 0  ? ALK__CATCHUP_SKIP
                         : strcmp(tsv.field[3], "all") == 0 ? ALK__CATCHUP_ALL
                                                            : ALK__CATCHUP_LAST;
        if (option_of(tsv.field[4], "max=", value, sizeof(value)) != NULL)
            options.max = atoi(value);
        options.window_s = seconds_option(tsv.field[4], "window=");
        options.max_lateness_s = seconds_option(tsv.field[4], "max_lateness=");
        alk__catchup(when, 0, seconds_of(tsv.field[1]), ALK_NO_TIME, seconds_of(tsv.field[2]),
                     &options, &result);

        size_t count = 0;
        for (char *expected; (expected = tsv_word(&tsv.field[5])) != NULL; count++)
            assert_time(expected, count < result.fire_count, fires[count], tsv.field[0], tsv.line);
        assert_int_equal(count, result.fire_count);
        assert_int_equal(atoi(tsv.field[6]), result.missed_count);
        assert_time(tsv.field[7], result.has_next, result.next_s, tsv.field[0], tsv.line);
        alk__when_free(when);
    }
    assert_int_equal(9, cases);
    tsv_close(&tsv);
}

static int read_zones(void **state) {
    (void)state;
    return alk__zones_new(PINNED_ZONES, &zones, NULL);
}

static int forget_zones(void **state) {
    (void)state;
    alk__zones_free(zones);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_spec_is_accepted_or_refused),
        cmocka_unit_test(each_spec_has_its_boundaries),
        cmocka_unit_test(each_period_has_its_grid),
        cmocka_unit_test(each_backlog_is_caught_up),
    };

    return cmocka_run_group_tests_name("vectors", tests, read_zones, forget_zones);
}
