/* base/duration.c: durations as "1h30m", both ways. */
#include "base/duration.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scan.h"

#define DIGITS_MAX 9

static const struct unit {
    const char *word;
    int64_t us;
} units[] = {
    {"w", 7 * ALK__DAY}, {"d", ALK__DAY}, {"h", ALK__HOUR}, {"m", ALK__MINUTE},
    {"s", ALK__SECOND},  {"ms", ALK__MS}, {"us", 1},
};

/* "us" is written and never read. */
#define UNITS (sizeof(units) / sizeof(*units))
#define UNITS_READ (UNITS - 1)

static const char *wrong_number(int next) {
    switch (next) {
    case -1:
        return "a number and a unit are missing, as in 1h30m";
    case '-':
    case '+':
        return "a duration has no sign";
    case '.':
    case ',':
        return "a part is a whole number; write a smaller unit";
    case ' ':
    case '\t':
        return "no blanks stand in a duration";
    default:
        return "a number is missing";
    }
}

static const char *wrong_unit(int next) {
    if (next >= '0' && next <= '9')
        return "a number has at most 9 digits";
    if (next == -1)
        return "a unit is missing (w, d, h, m, s, ms)";
    if (next == '.' || next == ',' || next == ' ' || next == '\t')
        return wrong_number(next);
    return next >= 'A' && next <= 'Z' ? "units are in lower case (w, d, h, m, s, ms)"
                                      : "no such unit (w, d, h, m, s, ms)";
}

/* Takes the letters that come next and gives their place in units, UNITS_READ if they are none. */
static size_t take_unit(struct alk__scan *scan) {
    struct alk__text word = {scan->text.bytes + scan->at, 0};

    while (scan->at + word.length < scan->text.length && word.bytes[word.length] >= 'a' &&
           word.bytes[word.length] <= 'z')
        word.length++;
    for (size_t i = 0; i < UNITS_READ; i++) {
        if (alk__text_is(word, units[i].word)) {
            scan->at += word.length;
            return i;
        }
    }
    return UNITS_READ;
}

const char *alk__duration_read(struct alk__text text, int64_t *ret_us, size_t *ret_at) {
    struct alk__scan scan = {.text = text};
    size_t next_unit = 0;
    int64_t sum = 0;

    do {
        int64_t number;
        int64_t part;
        size_t start = *ret_at = scan.at;

        if (alk__scan_digits(&scan, DIGITS_MAX, &number) == 0)
            return wrong_number(alk__scan_peek(&scan));
        *ret_at = scan.at;
        size_t unit = take_unit(&scan);
        if (unit == UNITS_READ)
            return wrong_unit(alk__scan_peek(&scan));
        if (unit < next_unit)
            return "units go from large to small, each once";
        next_unit = unit + 1;
        *ret_at = start;
        if (__builtin_mul_overflow(number, units[unit].us, &part) ||
            __builtin_add_overflow(sum, part, &sum))
            return "too long to count in microseconds";
    } while (scan.at < text.length);

    *ret_us = sum;
    return NULL;
}

alk_status alk__duration_parse(struct alk__text text, int64_t *ret_us, alk_error *error) {
    size_t at;
    const char *reason = alk__duration_read(text, ret_us, &at);

    if (reason == NULL)
        return ALK_OK;
    return alk__fail(error, ALK_INVALID, "'%s' is not a duration at column %zu: %s",
                     alk__excerpt_of(text).text, at + 1, reason);
}

void alk__duration_format(int64_t us, char *text, size_t size) {
    uint64_t rest = us < 0 ? 0 - (uint64_t)us : (uint64_t)us;
    size_t length = 0;
    char all[ALK__DURATION_BYTES] = "0s";

    if (us < 0)
        all[length++] = '-';
    for (size_t i = 0; i < UNITS; i++) {
        uint64_t count = rest / (uint64_t)units[i].us;
        rest -= count * (uint64_t)units[i].us;
        if (count > 0)
            length += (size_t)snprintf(all + length, sizeof(all) - length, "%llu%s",
                                       (unsigned long long)count, units[i].word);
    }
    snprintf(text, size, "%s", all);
}
