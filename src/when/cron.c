/* when/cron.c: the next and the last match of a cron spec in local time, where every day has 86,400
 * seconds.
 *
 * Days are found month by month: the days of one month are a word of 32 bits that is made from the
 * month's length and the weekday of its first day. A search that crosses 2100 for a leap day looks
 * at one month a year and never at a second. */
#include "when/compiled.h"

#define DAY_S INT64_C(86400)

/* ---- the days of a month ---- */

static uint32_t bits_up_to(int day) {
    return (uint32_t)((UINT64_C(2) << day) - 1);
}

static uint32_t bits_from(int day) {
    return (uint32_t)(~UINT64_C(0) << day);
}

static uint32_t bit(int day) {
    return UINT32_C(1) << day;
}

/* The weekday of a day in a month whose first is the weekday first. */
static int weekday_of(int day, int first) {
    return (first + day - 1) % 7;
}

static bool is_workday(int day, int first) {
    int weekday = weekday_of(day, first);

    return weekday != 0 && weekday != 6;
}

/* A Saturday goes back and a Sunday forward, unless that leaves the month: then it is the other way
 * round, by two. */
static int nearest_workday(int day, int first, int length) {
    switch (weekday_of(day, first)) {
    case 6:
        return day > 1 ? day - 1 : day + 2;
    case 0:
        return day < length ? day + 1 : day - 2;
    default:
        return day;
    }
}

static uint32_t days_by_number(const struct alk__cron *cron, int first, int length) {
    uint32_t days = cron->days & bits_up_to(length);

    for (int n = 0; n < length && cron->days_before_last >> n != 0; n++) {
        if (cron->days_before_last >> n & 1)
            days |= bit(length - n);
    }
    for (int day = 1; day <= length && cron->workdays >> day != 0; day++) {
        if (cron->workdays >> day & 1)
            days |= bit(nearest_workday(day, first, length));
    }
    if (cron->is_last_workday) {
        int day = length;
        while (day > 1 && !is_workday(day, first))
            day--;
        days |= bit(day);
    }
    return days;
}

static uint32_t days_by_weekday(const struct alk__cron *cron, int first, int length) {
    uint32_t days = 0;

    for (int weekday = 0; weekday < 7; weekday++) {
        int day = 1 + (weekday - first + 7) % 7;
        int last = day + (length - day) / 7 * 7;

        for (int n = 0; day + 7 * n <= length; n++) {
            if (cron->weekdays >> weekday & 1 || cron->nth_weekdays >> (7 * n + weekday) & 1)
                days |= bit(day + 7 * n);
        }
        if (cron->last_weekdays >> weekday & 1)
            days |= bit(last);
    }
    return days;
}

static uint32_t days_of(const struct alk__cron *cron, int64_t year, int month) {
    int length = alk__civil_month_length(year, month);
    int first = alk__civil_weekday(alk__civil_days(year, month, 1));
    uint32_t by_number = days_by_number(cron, first, length);
    uint32_t by_weekday = days_by_weekday(cron, first, length);

    return cron->is_either_day ? by_number | by_weekday : by_number & by_weekday;
}

static bool has_year(const struct alk__cron *cron, int64_t year) {
    int64_t n = year - ALK__WHEN_YEAR_FIRST;

    return cron->years[n / 64] >> n % 64 & 1;
}

/* The first matching day from that date on. */
static bool day_from(const struct alk__cron *cron, int64_t year, int month, int day,
                     int64_t *ret_days) {
    for (; year <= ALK__WHEN_YEAR_LAST; year++, month = 1, day = 1) {
        if (!has_year(cron, year))
            continue;
        for (; month <= 12; month++, day = 1) {
            if (!(cron->months >> month & 1))
                continue;
            uint32_t days = days_of(cron, year, month) & bits_from(day);
            if (days != 0) {
                *ret_days = alk__civil_days(year, month, __builtin_ctz(days));
                return true;
            }
        }
    }
    return false;
}

/* The last matching day up to that date; day 0 is none of the month. */
static bool day_until(const struct alk__cron *cron, int64_t year, int month, int day,
                      int64_t *ret_days) {
    for (; year >= ALK__WHEN_YEAR_FIRST; year--, month = 12, day = 31) {
        if (!has_year(cron, year))
            continue;
        for (; month >= 1; month--, day = 31) {
            if (!(cron->months >> month & 1))
                continue;
            uint32_t days = days_of(cron, year, month) & bits_up_to(day);
            if (days != 0) {
                *ret_days = alk__civil_days(year, month, 31 - __builtin_clz(days));
                return true;
            }
        }
    }
    return false;
}

/* ---- the time of day ---- */

/* The lowest bit of set at or above at, -1 if there is none; the highest at or below. */
static int up(uint64_t set, int at) {
    uint64_t rest = at > 63 ? 0 : set & ~UINT64_C(0) << at;

    return rest == 0 ? -1 : __builtin_ctzll(rest);
}

static int down(uint64_t set, int at) {
    uint64_t rest = at < 0 ? 0 : set & ~UINT64_C(0) >> (63 - at);

    return rest == 0 ? -1 : 63 - __builtin_clzll(rest);
}

static int clock_of(int hour, int minute, int second) {
    return hour * 3600 + minute * 60 + second;
}

static bool has(uint64_t set, int at) {
    return set >> at & 1;
}

/* The first matching second of the day from that time on, -1 if there is none. */
static int time_from(const struct alk__cron *cron, int hour, int minute, int second) {
    int first_second = up(cron->seconds, 0);

    if (has(cron->hours, hour)) {
        if (has(cron->minutes, minute) && up(cron->seconds, second) >= 0)
            return clock_of(hour, minute, up(cron->seconds, second));
        if (up(cron->minutes, minute + 1) >= 0)
            return clock_of(hour, up(cron->minutes, minute + 1), first_second);
    }
    hour = up(cron->hours, hour + 1);
    return hour < 0 ? -1 : clock_of(hour, up(cron->minutes, 0), first_second);
}

static int time_until(const struct alk__cron *cron, int hour, int minute, int second) {
    int last_second = down(cron->seconds, 59);

    if (has(cron->hours, hour)) {
        if (has(cron->minutes, minute) && down(cron->seconds, second) >= 0)
            return clock_of(hour, minute, down(cron->seconds, second));
        if (down(cron->minutes, minute - 1) >= 0)
            return clock_of(hour, down(cron->minutes, minute - 1), last_second);
    }
    hour = down(cron->hours, hour - 1);
    return hour < 0 ? -1 : clock_of(hour, down(cron->minutes, 59), last_second);
}

/* ---- both ---- */

bool alk__cron_next(const struct alk__cron *cron, int64_t local_s, int64_t *ret_s) {
    struct alk__civil from = alk__civil_of(local_s < 0 ? 0 : local_s);
    int64_t days;

    if (from.year > ALK__WHEN_YEAR_LAST)
        return false;
    int time = time_from(cron, from.hour, from.minute, from.second);
    if (!day_from(cron, from.year, from.month, from.day + (time < 0), &days))
        return false;
    if (time < 0 || days > alk__civil_days(from.year, from.month, from.day))
        time = time_from(cron, 0, 0, 0);
    *ret_s = days * DAY_S + time;
    return true;
}

bool alk__cron_prev(const struct alk__cron *cron, int64_t local_s, int64_t *ret_s) {
    const int64_t last = ALK__WHEN_END_S - 1;
    int64_t days;

    if (local_s < 0)
        return false;
    struct alk__civil from = alk__civil_of(local_s > last ? last : local_s);
    int time = time_until(cron, from.hour, from.minute, from.second);
    if (!day_until(cron, from.year, from.month, from.day - (time < 0), &days))
        return false;
    if (time < 0 || days < alk__civil_days(from.year, from.month, from.day))
        time = time_until(cron, 23, 59, 59);
    *ret_s = days * DAY_S + time;
    return true;
}

bool alk__cron_is_match(const struct alk__cron *cron, int64_t local_s) {
    int64_t found;

    return alk__cron_next(cron, local_s, &found) && found == local_s;
}
