/* tests/support/random_when.c: random cron specs, compared with the slow evaluator. */
#include "support/random_when.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "when/when.h"

uint64_t seeded_bits(uint64_t *seed) {
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(0x2545f4914f6cdd1d);
}

int seeded_below(uint64_t *seed, int end) {
    return (int)(seeded_bits(seed) >> 33) % end;
}

/* ---- specs ---- */

struct shape {
    int low, high;
    const char *names;
};

static const char months[] = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
static const char weekdays[] = "SUNMONTUEWEDTHUFRISAT";
static const struct shape seconds = {0, 59, ""}, hours = {0, 23, ""}, days = {1, 31, ""},
                          month = {1, 12, months}, weekday = {0, 6, weekdays},
                          years = {1990, 2101, ""};

ALK_PRINTF(3, 4)
static void add(char *text, size_t size, const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

static void add_value(uint64_t *seed, const struct shape *shape, int value, char *text,
                      size_t size) {
    if (shape->names[0] != '\0' && seeded_below(seed, 3) == 0)
        add(text, size, "%.3s", shape->names + 3 * (value - shape->low));
    else
        add(text, size, "%d", value);
}

static void add_item(uint64_t *seed, const struct shape *shape, char *text, size_t size) {
    int span = shape->high - shape->low;
    int low = shape->low + seeded_below(seed, span + 1);
    int high = low + seeded_below(seed, shape->high - low + 1);

    switch (seeded_below(seed, 6)) {
    case 0:
        add(text, size, "*/%d", 1 + seeded_below(seed, span));
        return;
    case 1:
        if (low < shape->high) {
            add_value(seed, shape, low, text, size);
            add(text, size, "/%d", 1 + seeded_below(seed, shape->high - low));
            return;
        }
        break;
    case 2:
        add_value(seed, shape, low, text, size);
        add(text, size, "-");
        if (shape == &weekday && seeded_below(seed, 4) == 0)
            add(text, size, seeded_below(seed, 2) == 0 ? "7" : "sun");
        else
            add_value(seed, shape, low == 0 && high == 0 ? 1 : high, text, size);
        if (high > low && seeded_below(seed, 2) == 0)
            add(text, size, "/%d", 1 + seeded_below(seed, high - low));
        return;
    default:
        break;
    }
    add_value(seed, shape, low, text, size);
}

/* What only a day field has. */
static void add_day_item(uint64_t *seed, const struct shape *shape, char *text, size_t size) {
    static const char *const last[] = {"L", "LW", "L-1", "L-3", "L-29"};

    if (shape == &days && seeded_below(seed, 2) == 0) {
        add(text, size, "%s", last[seeded_below(seed, 5)]);
    } else if (shape == &days) {
        add(text, size, "%dW", 1 + seeded_below(seed, 31));
    } else {
        add_value(seed, shape, seeded_below(seed, 7), text, size);
        if (seeded_below(seed, 3) == 0)
            add(text, size, seeded_below(seed, 2) == 0 ? "L" : "#L");
        else
            add(text, size, "#%d", 1 + seeded_below(seed, 5));
    }
}

/* star: how many fields of ten are "*". */
static void add_field(uint64_t *seed, const struct shape *shape, int star, char *text,
                      size_t size) {
    int items = 1 + (seeded_below(seed, 3) == 0) * seeded_below(seed, 3);
    bool is_day = shape == &days || shape == &weekday;

    if (text[0] != '\0')
        add(text, size, " ");
    if (seeded_below(seed, 10) < star) {
        add(text, size, is_day && seeded_below(seed, 4) == 0 ? "?" : "*");
        return;
    }
    if (shape == &weekday && seeded_below(seed, 4) == 0)
        add(text, size, "+");
    for (int i = 0; i < items; i++) {
        if (i > 0)
            add(text, size, ",");
        if (is_day && seeded_below(seed, 3) == 0)
            add_day_item(seed, shape, text, size);
        else
            add_item(seed, shape, text, size);
    }
}

void random_spec(uint64_t *seed, bool is_dense, char *spec, size_t size) {
    int fields = 5 + seeded_below(seed, 3);

    spec[0] = '\0';
    if (fields > 5 && !is_dense)
        add(spec, size, "%d", seeded_below(seed, 60));
    else if (fields > 5)
        add_field(seed, &seconds, 4, spec, size);
    if (is_dense || seeded_below(seed, 4) == 0)
        add_field(seed, &seconds, is_dense ? 5 : 0, spec, size);
    else
        add(spec, size, "%s%d", fields > 5 ? " " : "", seeded_below(seed, 60));
    add_field(seed, &hours, is_dense ? 5 : 1, spec, size);
    add_field(seed, &days, is_dense ? 8 : 5, spec, size);
    add_field(seed, &month, is_dense ? 9 : 6, spec, size);
    add_field(seed, &weekday, is_dense ? 8 : 5, spec, size);
    if (fields == 7)
        add_field(seed, &years, 6, spec, size);
}

/* ---- comparing ---- */

struct comparison {
    const char *spec, *zone;
    enum alk__gap gap;
    enum alk__fold fold;
    uint64_t seed;
};

static void assert_same(const struct comparison *of, const char *what, int64_t from_s,
                        bool is_found, int64_t found_s, int64_t expected_s) {
    if (!is_found || found_s != expected_s)
        fail_msg("'%s' in %s, gap %d, fold %d, seed %llu: %s(%lld) is %lld, not %lld", of->spec,
                 of->zone, (int)of->gap, (int)of->fold, (unsigned long long)of->seed, what,
                 (long long)from_s, is_found ? (long long)found_s : -1, (long long)expected_s);
}

static void compare_all(const struct comparison *of, const struct alk__when *when,
                        const int64_t *times, size_t count, int64_t from_s, int64_t to_s) {
    int64_t at = from_s - 1;
    int64_t found = -1;

    for (size_t i = 0; i < count; at = times[i++]) {
        bool is_found = alk__when_next(when, 0, at, &found);
        assert_same(of, "next", at, is_found, found, times[i]);
    }
    if (alk__when_next(when, 0, at, &found) && found < to_s)
        assert_same(of, "next", at, true, found, to_s);
    at = to_s;
    for (size_t i = count; i > 0; at = times[--i]) {
        bool is_found = alk__when_prev(when, 0, at, &found);
        assert_same(of, "prev", at, is_found, found, times[i - 1]);
        is_found = alk__when_next(when, 0, found, &found);
        if (i < count)
            assert_same(of, "next(prev)", at, is_found, found, at);
    }
    if (alk__when_prev(when, 0, at, &found) && found >= from_s)
        assert_same(of, "prev", at, true, found, from_s - 1);
}

/* Between boundaries as well: what is asked for need not be one. */
static void compare_some(const struct comparison *of, const struct alk__when *when, uint64_t *seed,
                         const int64_t *times, size_t count) {
    for (int i = 0; i < 20 && count > 1; i++) {
        size_t n = (size_t)seeded_below(seed, (int)count - 1);
        int64_t gap = times[n + 1] - times[n];
        int64_t at = times[n] + (int64_t)(seeded_bits(seed) >> 1) % gap;
        int64_t found = -1;
        bool is_found = alk__when_next(when, 0, at, &found);

        assert_same(of, "next", at, is_found, found, times[n + 1]);
        is_found = alk__when_prev(when, 0, at + 1, &found);
        assert_same(of, "prev", at + 1, is_found, found, times[n]);
    }
}

void compare_random_spec(uint64_t *seed, bool is_dense, struct alk__zones *zones, const char *name,
                         const struct slow_zone *slow, int64_t from_s, int64_t to_s) {
    char spec[512];
    struct comparison of = {.spec = spec, .zone = name, .seed = *seed};
    struct alk__when *when = NULL;
    int64_t *times = NULL;
    alk_error error = ALK_ERROR_INIT;

    random_spec(seed, is_dense, spec, sizeof(spec));
    of.gap = seeded_below(seed, 3) == 0 ? ALK__GAP_SKIP : ALK__GAP_SHIFT;
    of.fold = seeded_below(seed, 2) == 0 ? ALK__FOLD_AUTO : (enum alk__fold)seeded_below(seed, 4);
    size_t count = slow_boundaries(spec, slow, of.gap == ALK__GAP_SKIP, (enum slow_fold)of.fold,
                                   from_s, to_s, &times);
    struct alk__when_options options = {
        .zone = name, .zones = zones, .gap = of.gap, .fold = of.fold};
    alk_status st = alk__when_parse(alk__text_of(spec), &options, &when, &error);
    if (st < 0 && (count > 0 || strstr(error.message, "matches no day") == NULL))
        fail_msg("'%s' in %s: %s", spec, name, error.message);
    if (st == ALK_OK) {
        compare_all(&of, when, times, count, from_s, to_s);
        compare_some(&of, when, seed, times, count);
    }
    alk__when_free(when);
    free(times);
}
