/* when/zone_rule.c: the rule of a zone for the years its file does not list:
 * "CET-1CEST,M3.5.0,M10.5.0/3". */
#include "base/civil.h"
#include "base/scan.h"
#include "when/zone.h"

#define DAY_S INT64_C(86400)
#define TIME_HOURS_MAX 167 /* RFC 8536, 3.3.1 */
#define OFFSET_HOURS_MAX 24

static bool is_letter(int byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* Three letters or more, or <any of letters, digits and signs>. */
static bool skip_name(struct alk__scan *scan) {
    size_t start = scan->at;

    if (!alk__scan_take(scan, '<')) {
        while (is_letter(alk__scan_peek(scan)))
            scan->at++;
        return scan->at - start >= 3;
    }
    while (is_letter(alk__scan_peek(scan)) || alk__scan_is_digit(scan) ||
           alk__scan_peek(scan) == '+' || alk__scan_peek(scan) == '-')
        scan->at++;
    return scan->at - start >= 4 && alk__scan_take(scan, '>');
}

static bool read_number(struct alk__scan *scan, int digits, int low, int high, int *ret_value) {
    int64_t number;

    if (alk__scan_digits(scan, digits, &number) == 0 || number < low || number > high)
        return false;
    *ret_value = (int)number;
    return true;
}

/* [+-]h[:mm[:ss]] */
static bool read_time(struct alk__scan *scan, int hours_max, int32_t *ret_s) {
    int hours = 0;
    int minutes = 0;
    int seconds = 0;
    bool is_negative = alk__scan_take(scan, '-');

    if (!is_negative)
        (void)alk__scan_take(scan, '+');
    if (!read_number(scan, 3, 0, hours_max, &hours))
        return false;
    if (alk__scan_take(scan, ':')) {
        if (!read_number(scan, 2, 0, 59, &minutes))
            return false;
        if (alk__scan_take(scan, ':') && !read_number(scan, 2, 0, 59, &seconds))
            return false;
    }
    int32_t time_s = hours * 3600 + minutes * 60 + seconds;
    *ret_s = is_negative ? -time_s : time_s;
    return true;
}

/* Jn, n or Mm.w.d, then /time where it is not 02:00. */
static bool read_day(struct alk__scan *scan, struct alk__zone_day *day) {
    bool is_good;

    if (alk__scan_take(scan, 'M')) {
        day->kind = ALK__DAY_OF_WEEK;
        is_good = read_number(scan, 2, 1, 12, &day->month) && alk__scan_take(scan, '.') &&
                  read_number(scan, 1, 1, 5, &day->week) && alk__scan_take(scan, '.') &&
                  read_number(scan, 1, 0, 6, &day->day);
    } else if (alk__scan_take(scan, 'J')) {
        day->kind = ALK__DAY_JULIAN;
        is_good = read_number(scan, 3, 1, 365, &day->day);
    } else {
        day->kind = ALK__DAY_OF_YEAR;
        is_good = read_number(scan, 3, 0, 365, &day->day);
    }
    day->time_s = 2 * 3600;
    if (is_good && alk__scan_take(scan, '/'))
        return read_time(scan, TIME_HOURS_MAX, &day->time_s);
    return is_good;
}

/* POSIX counts offsets west of Greenwich, we count east. */
static bool read_offset(struct alk__scan *scan, int32_t *ret_s) {
    int32_t west_s;

    if (!read_time(scan, OFFSET_HOURS_MAX, &west_s))
        return false;
    *ret_s = -west_s;
    return true;
}

bool alk__zone_rule_parse(struct alk__text text, struct alk__zone_rule *ret_rule) {
    struct alk__scan scan = {.text = text};
    struct alk__zone_rule rule = {.has_summer = false};

    if (!skip_name(&scan) || !read_offset(&scan, &rule.standard_s))
        return false;
    if (alk__scan_peek(&scan) != -1) {
        rule.has_summer = true;
        rule.summer_s = rule.standard_s + 3600;
        if (!skip_name(&scan))
            return false;
        if (alk__scan_peek(&scan) != ',' && !read_offset(&scan, &rule.summer_s))
            return false;
        if (!alk__scan_take(&scan, ',') || !read_day(&scan, &rule.start) ||
            !alk__scan_take(&scan, ',') || !read_day(&scan, &rule.end))
            return false;
    }
    if (alk__scan_peek(&scan) != -1)
        return false;
    *ret_rule = rule;
    return true;
}

/* ---- one year ---- */

static bool is_leap(int64_t year) {
    return alk__civil_month_length(year, 2) == 29;
}

static int64_t days_of_week_rule(const struct alk__zone_day *day, int64_t year) {
    int64_t first = alk__civil_days(year, day->month, 1);
    int n = (day->day - alk__civil_weekday(first) + 7) % 7 + 7 * (day->week - 1);

    while (n >= alk__civil_month_length(year, day->month))
        n -= 7;
    return first + n;
}

/* The second of local time at which the change happens. */
static int64_t local_of(const struct alk__zone_day *day, int64_t year) {
    int64_t days = alk__civil_days(year, 1, 1);

    switch (day->kind) {
    case ALK__DAY_JULIAN: /* 29 February is never counted */
        days += day->day - 1 + (is_leap(year) && day->day > 59);
        break;
    case ALK__DAY_OF_YEAR:
        days += day->day;
        break;
    case ALK__DAY_OF_WEEK:
        days = days_of_week_rule(day, year);
        break;
    }
    return days * DAY_S + day->time_s;
}

void alk__zone_rule_year(const struct alk__zone_rule *rule, int64_t year,
                         struct alk__change ret_change[2]) {
    struct alk__change start = {local_of(&rule->start, year) - rule->standard_s, rule->summer_s};
    struct alk__change end = {local_of(&rule->end, year) - rule->summer_s, rule->standard_s};
    bool is_start_first = start.at < end.at;

    ret_change[0] = is_start_first ? start : end;
    ret_change[1] = is_start_first ? end : start;
}
