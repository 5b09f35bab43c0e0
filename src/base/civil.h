/* base/civil.h: the proleptic Gregorian calendar in 64-bit arithmetic, without libc. */
#ifndef ALK_BASE_CIVIL_H
#define ALK_BASE_CIVIL_H

#include <stdint.h>

struct alk__civil {
    int64_t year;
    int month;  /* 1-12 */
    int day;    /* 1-31 */
    int hour;   /* 0-23 */
    int minute; /* 0-59 */
    int second; /* 0-59 */
};

int64_t alk__civil_days(int64_t year, int month, int day); /* since 1970-01-01 */
int64_t alk__civil_seconds(const struct alk__civil *civil);
struct alk__civil alk__civil_of(int64_t seconds);
int alk__civil_weekday(int64_t days); /* 0 = Sunday */
int alk__civil_month_length(int64_t year, int month);

#endif
