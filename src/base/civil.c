/* base/civil.c: dates from day numbers and back, by counting the leap days before a year. */
#include "base/civil.h"

#include <stdbool.h>

#define DAY_SECONDS INT64_C(86400)
#define DAYS_IN_400_YEARS INT64_C(146097)
#define DAYS_BEFORE_1970 INT64_C(719162) /* since 0001-01-01 */

static int64_t floor_div(int64_t number, int64_t by) {
    return number / by - (number % by < 0);
}

static bool is_leap(int64_t year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* From 1970-01-01 to the first of January of year. */
static int64_t days_before_year(int64_t year) {
    int64_t whole = year - 1;

    return 365 * whole + floor_div(whole, 4) - floor_div(whole, 100) + floor_div(whole, 400) -
           DAYS_BEFORE_1970;
}

int alk__civil_month_length(int64_t year, int month) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return lengths[month - 1] + (month == 2 && is_leap(year));
}

int64_t alk__civil_days(int64_t year, int month, int day) {
    int64_t days = days_before_year(year) + day - 1;

    for (int m = 1; m < month; m++)
        days += alk__civil_month_length(year, m);
    return days;
}

int64_t alk__civil_seconds(const struct alk__civil *civil) {
    return alk__civil_days(civil->year, civil->month, civil->day) * DAY_SECONDS +
           civil->hour * 3600 + civil->minute * 60 + civil->second;
}

/* Dividing by the mean length of a year gives the year or the one before it: no run of years that
 * starts with the year 1 is longer than its mean by a whole day. */
static int64_t year_of(int64_t days) {
    int64_t year = floor_div((days + DAYS_BEFORE_1970) * 400, DAYS_IN_400_YEARS) + 1;

    return days_before_year(year + 1) <= days ? year + 1 : year;
}

struct alk__civil alk__civil_of(int64_t seconds) {
    int64_t days = floor_div(seconds, DAY_SECONDS);
    int rest = (int)(seconds - days * DAY_SECONDS);
    struct alk__civil civil = {
        .year = year_of(days),
        .month = 1,
        .hour = rest / 3600,
        .minute = rest / 60 % 60,
        .second = rest % 60,
    };

    int day = (int)(days - days_before_year(civil.year));
    while (day >= alk__civil_month_length(civil.year, civil.month))
        day -= alk__civil_month_length(civil.year, civil.month++);
    civil.day = day + 1;
    return civil;
}

int alk__civil_weekday(int64_t days) {
    const int64_t thursday = 4; /* 1970-01-01 */
    int64_t rest = (days % 7 + thursday) % 7;

    return (int)(rest < 0 ? rest + 7 : rest);
}
