/* base/time.c: moments as RFC 3339 has them, both ways (declared in base/duration.h). */
#include "base/civil.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/scan.h"

#define YEAR_MAX 9999
#define FRACTION_DIGITS_MAX 9
#define OFFSET_MISSING "an offset is missing (Z, or as in +01:00)"
#define SHAPE "a time looks like 2026-12-01T08:30:00Z or 2026-12-01T08:30:00+01:00"

/* A number of exactly digits digits from low to high. NULL, or why not, with the cursor where it
 * went wrong. */
static const char *read_field(struct alk__scan *scan, int digits, int low, int high,
                              const char *wrong, int *ret_value) {
    size_t start = scan->at;
    int64_t value;

    if (alk__scan_digits(scan, digits, &value) != digits)
        return SHAPE;
    if (value < low || value > high) {
        scan->at = start;
        return wrong;
    }
    *ret_value = (int)value;
    return NULL;
}

static const char *read_mark(struct alk__scan *scan, char mark) {
    return alk__scan_take(scan, mark) ? NULL : SHAPE;
}

static const char *read_date(struct alk__scan *scan, struct alk__civil *civil) {
    const char *wrong;
    int year = 0;

    if ((wrong = read_field(scan, 4, 1, YEAR_MAX, "a year is 0001 to 9999", &year)) != NULL ||
        (wrong = read_mark(scan, '-')) != NULL ||
        (wrong = read_field(scan, 2, 1, 12, "a month is 01 to 12", &civil->month)) != NULL ||
        (wrong = read_mark(scan, '-')) != NULL)
        return wrong;
    civil->year = year;
    return read_field(scan, 2, 1, alk__civil_month_length(year, civil->month),
                      "the month has no such day", &civil->day);
}

static const char *read_clock(struct alk__scan *scan, struct alk__civil *civil) {
    const char *wrong;

    if ((wrong = read_field(scan, 2, 0, 23, "an hour is 00 to 23", &civil->hour)) != NULL ||
        (wrong = read_mark(scan, ':')) != NULL ||
        (wrong = read_field(scan, 2, 0, 59, "a minute is 00 to 59", &civil->minute)) != NULL ||
        (wrong = read_mark(scan, ':')) != NULL)
        return wrong;
    return read_field(scan, 2, 0, 59,
                      "a second is 00 to 59 (leap seconds are not kept; write the next second)",
                      &civil->second);
}

static const char *read_fraction(struct alk__scan *scan, int64_t *ret_us) {
    int64_t number;

    *ret_us = 0;
    if (!alk__scan_take(scan, '.'))
        return NULL;
    int digits = alk__scan_digits(scan, FRACTION_DIGITS_MAX, &number);
    if (digits == 0)
        return "a digit follows the point";
    if (alk__scan_is_digit(scan))
        return "a fraction has at most 9 digits";
    for (; digits < FRACTION_DIGITS_MAX; digits++)
        number *= 10;
    *ret_us = number / 1000;
    return NULL;
}

/* Nothing at the end of the text is no offset. */
static const char *read_offset(struct alk__scan *scan, struct alk__moment *moment) {
    const char *wrong;
    int hours = 0;
    int minutes = 0;

    moment->has_offset = alk__scan_peek(scan) != -1;
    if (!moment->has_offset || alk__scan_take(scan, 'Z') || alk__scan_take(scan, 'z'))
        return NULL;
    int sign = alk__scan_take(scan, '-') ? -1 : alk__scan_take(scan, '+') ? 1 : 0;
    if (sign == 0)
        return OFFSET_MISSING;
    if ((wrong = read_field(scan, 2, 0, 23, "an offset has 00 to 23 hours", &hours)) != NULL ||
        (wrong = read_mark(scan, ':')) != NULL ||
        (wrong = read_field(scan, 2, 0, 59, "an offset has 00 to 59 minutes", &minutes)) != NULL)
        return wrong;
    moment->offset_s = sign * (hours * 3600 + minutes * 60);
    return NULL;
}

static const char *read_moment(struct alk__scan *scan, struct alk__moment *moment) {
    const char *wrong = read_date(scan, &moment->civil);

    if (wrong != NULL)
        return wrong;
    if (!alk__scan_take(scan, 'T') && !alk__scan_take(scan, 't') && !alk__scan_take(scan, ' '))
        return SHAPE;
    if ((wrong = read_clock(scan, &moment->civil)) != NULL ||
        (wrong = read_fraction(scan, &moment->fraction_us)) != NULL ||
        (wrong = read_offset(scan, moment)) != NULL)
        return wrong;
    return alk__scan_peek(scan) == -1 ? NULL : "the text goes on after the time";
}

const char *alk__moment_read(struct alk__text text, struct alk__moment *ret_moment,
                             size_t *ret_at) {
    struct alk__scan scan = {.text = text};
    struct alk__moment moment = {.fraction_us = 0};
    const char *wrong = read_moment(&scan, &moment);

    *ret_at = scan.at;
    if (wrong == NULL)
        *ret_moment = moment;
    return wrong;
}

static const char *read_time(struct alk__text text, int64_t *ret_us, size_t *ret_at) {
    const int64_t first = alk__civil_days(1, 1, 1) * ALK__DAY;
    const int64_t end = alk__civil_days(YEAR_MAX + 1, 1, 1) * ALK__DAY;
    struct alk__moment moment;
    const char *wrong = alk__moment_read(text, &moment, ret_at);

    if (wrong != NULL)
        return wrong;
    if (!moment.has_offset)
        return OFFSET_MISSING;
    int64_t us =
        (alk__civil_seconds(&moment.civil) - moment.offset_s) * ALK__SECOND + moment.fraction_us;
    if (us < first || us >= end) {
        *ret_at = 0;
        return "in UTC the year is 0001 to 9999";
    }
    *ret_us = us;
    return NULL;
}

alk_status alk__time_parse(struct alk__text text, int64_t *ret_us, alk_error *error) {
    size_t at;
    const char *wrong = read_time(text, ret_us, &at);

    if (wrong == NULL)
        return ALK_OK;
    return alk__fail(error, ALK_INVALID, "'%s' is not a time at column %zu: %s",
                     alk__excerpt_of(text).text, at + 1, wrong);
}

/* Whole seconds before us, and the microseconds that are left of it. */
static int64_t cut(int64_t us, int *ret_fraction) {
    int fraction = (int)(us % ALK__SECOND);

    *ret_fraction = fraction < 0 ? fraction + (int)ALK__SECOND : fraction;
    return us / ALK__SECOND - (fraction < 0);
}

/* The civil time at seconds and whatever stands behind it. */
static void format(int64_t seconds, const char *end, char *text, size_t size) {
    struct alk__civil civil = alk__civil_of(seconds);

    snprintf(text, size, "%04lld-%02d-%02dT%02d:%02d:%02d%s", (long long)civil.year, civil.month,
             civil.day, civil.hour, civil.minute, civil.second, end);
}

void alk__time_format(int64_t us, char *text, size_t size) {
    char end[16] = "Z";
    int fraction;
    int64_t seconds = cut(us, &fraction);

    if (fraction > 0)
        snprintf(end, sizeof(end), ".%06dZ", fraction);
    format(seconds, end, text, size);
}

void alk__time_format_local(int64_t us, int offset_s, char *text, size_t size) {
    int minutes = offset_s / 60;
    int ahead = minutes < 0 ? -minutes : minutes;
    char end[16];
    int ignored;

    snprintf(end, sizeof(end), "%c%02d:%02d", minutes < 0 ? '-' : '+', ahead / 60 % 100,
             ahead % 60);
    format(cut(us, &ignored) + (int64_t)minutes * 60, end, text, size);
}
