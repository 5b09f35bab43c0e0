/* when/compiled.h: what a spec becomes; for the files of this folder only.
 *
 * Three kinds. @every and @at are numbers. Cron is sets of numbers in local time (cron.c), which a
 * walk over the stretches of constant offset of a zone turns into moments (walk.c). */
#ifndef ALK_WHEN_COMPILED_H
#define ALK_WHEN_COMPILED_H

#include "base/scan.h"
#include "when/when.h"
#include "when/zone.h"

#define ALK__WHEN_YEAR_FIRST 1970
#define ALK__WHEN_YEAR_LAST 2199

/* Bit n stands for value n, in years for 1970 + n. */
struct alk__cron {
    uint64_t seconds;
    uint64_t minutes;
    uint32_t hours;
    uint32_t days;
    uint32_t days_before_last; /* L and L-n: bit n for n days before the month's last */
    uint32_t workdays;         /* nW: the Monday to Friday nearest to day n, in the same month */
    bool is_last_workday;      /* LW */
    uint32_t months;
    uint32_t weekdays;      /* 0 Sunday */
    uint64_t nth_weekdays;  /* wd#n: bit 7 * (n - 1) + wd */
    uint32_t last_weekdays; /* wdL */
    uint64_t years[4];
    bool
        is_star_minute; /* the minute (or second) field starts with '*' or covers its whole range */
    bool is_either_day; /* both day fields are restricted: a day of one of them is enough */
};

#define ALK__CRON_EVERY_HOUR ((UINT32_C(1) << 24) - 1)

struct alk__every {
    int64_t period_s;
    int64_t phase_s;
    bool has_phase;
};

enum alk__when_kind { ALK__WHEN_CRON, ALK__WHEN_EVERY, ALK__WHEN_AT };

struct alk__when {
    enum alk__when_kind kind;
    struct alk__cron cron;
    struct alk__every every;
    int64_t at_s;
    struct alk__zone *zone;
    char zone_name[ALK__ZONE_NAME_MAX + 1];
    bool is_gap_fired;   /* a local time in a gap is made up for at the change */
    enum alk__fold fold; /* never AUTO: decided by the parser */
    char resolved[ALK__WHEN_BYTES_MAX + 1];
    char warning[512];
};

/* ---- refusals ---- */

/* What every parser here works on: the cursor runs over the whole spec, so that columns are those
 * of the spec. */
struct alk__when_parser {
    struct alk__scan scan;
    const char *name; /* for H, NULL without */
    struct alk__when *when;
    alk_error *error;
};

/* "reason at column N (hint)", ALK_INVALID. at is an offset into the spec; hint may be NULL. */
alk_status alk__when_refuse(struct alk__when_parser *parser, size_t at, const char *hint,
                            const char *format, ...) ALK_PRINTF(4, 5);

/* Adds to the warnings, after "; " where there is one. What does not fit is cut. */
void alk__when_warn(struct alk__when *when, const char *format, ...) ALK_PRINTF(2, 3);

/* ---- cron ---- */

/* Compiles 5 to 7 fields, which begin at the cursor and fill the rest of the text. */
alk_status alk__cron_parse(struct alk__when_parser *parser);

/* The first match at or after local_s, the last one at or before it, in seconds of local time;
 * bounded work. */
bool alk__cron_next(const struct alk__cron *cron, int64_t local_s, int64_t *ret_s);
bool alk__cron_prev(const struct alk__cron *cron, int64_t local_s, int64_t *ret_s);
bool alk__cron_is_match(const struct alk__cron *cron, int64_t local_s);

/* The same in the spec's zone, in seconds of UTC; strictly after, strictly before. */
bool alk__walk_next(const struct alk__when *when, int64_t after_s, int64_t *ret_s);
bool alk__walk_prev(const struct alk__when *when, int64_t before_s, int64_t *ret_s);

/* The first moment at which the zone's clocks show that local time or, in a gap, have passed it. */
int64_t alk__walk_first(const struct alk__zone *zone, int64_t local_s);

/* ---- every, at ---- */

/* Each begins at the cursor, behind the word and its blanks. */
alk_status alk__every_parse(struct alk__when_parser *parser);
alk_status alk__at_parse(struct alk__when_parser *parser);

bool alk__every_next(const struct alk__every *every, int64_t anchor_s, int64_t after_s,
                     int64_t *ret_s);
bool alk__every_prev(const struct alk__every *every, int64_t anchor_s, int64_t before_s,
                     int64_t *ret_s);

/* ---- hash ---- */

/* FNV-1a over bytes, chained through state (start with ALK__HASH_START), and the murmur3 finish
 * (rule 8). */
#define ALK__HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t alk__hash_add(uint64_t state, const void *bytes, size_t length);
uint64_t alk__hash_finish(uint64_t state);

#endif
