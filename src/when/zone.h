/* when/zone.h: time zones: a cache of zone files, and the changes of offset in one zone.
 *
 * libc's zones are state of the whole process and are not used. A zone is unrolled when it is read:
 * every change of its offset up to 2200 is in one sorted array, whether the file lists it or its
 * rule gives it, so a lookup is one search. */
#ifndef ALK_WHEN_ZONE_H
#define ALK_WHEN_ZONE_H

#include <stdatomic.h>

#include "base/text.h"

#define ALK__ZONE_OFFSET_MAX_S 93600 /* an offset lies within 26 hours of UTC (RFC 8536) */
#define ALK__ZONE_NAME_MAX 64

struct alk__zones; /* thread-safe */

struct alk__change {
    int64_t at; /* from this second on */
    int32_t offset_s;
};

/* Immutable but for the count of its users. */
struct alk__zone {
    atomic_int users;
    uint64_t fingerprint; /* of the bytes of its file */
    size_t count;         /* at least 1 */
    const struct alk__change
        *change; /* ascending, neighbours differ in offset; the first is at INT64_MIN */
};

/* A stretch of time with one offset. */
struct alk__segment {
    int64_t start, end;                  /* start <= t < end; INT64_MIN and INT64_MAX for none */
    int32_t before_s, offset_s, after_s; /* the offset before start, in it, from end on */
};

/* Makes an empty cache. Nothing is read yet.
 *
 * folder  where the files are; NULL: $TZDIR, else /usr/share/zoneinfo, /usr/lib/zoneinfo,
 *         /usr/share/lib/zoneinfo */
alk_status alk__zones_new(const char *folder, struct alk__zones **ret_zones, alk_error *error);
void alk__zones_free(struct alk__zones *zones);

/* Reads every cached zone again. A file that changed is used by specs compiled from now on, one
 * that is gone is forgotten. Returns how many zones that concerned; specs compiled before keep what
 * they have. */
int alk__zones_refresh(struct alk__zones *zones);

/* The zone of that name, read if it is not cached. ALK_INVALID: no IANA name, no such zone, or a
 * file that is not right; ALK_NOMEM. "UTC" works with zones NULL and without files. Give it back
 * with alk__zone_unref. */
alk_status alk__zones_get(struct alk__zones *zones, const char *name, struct alk__zone **ret_zone,
                          alk_error *error);
void alk__zone_unref(struct alk__zone *zone);

/* A number that changes when the zone's file does, 0 for UTC: kept beside what was computed with
 * it. */
alk_status alk__zone_fingerprint(struct alk__zones *zones, const char *name,
                                 uint64_t *ret_fingerprint, alk_error *error);

struct alk__segment alk__zone_segment(const struct alk__zone *zone, int64_t at_s);

/* ---- reading ---- */

/* Parses a file of RFC 8536 (TZif, version 2 or later); bytes may be anything. Files with leap
 * seconds ("right/") are refused. */
alk_status alk__tzif_parse(struct alk__text bytes, struct alk__zone **ret_zone, alk_error *error);

/* The rule behind the last change a file lists (POSIX TZ string with the hours of RFC 8536). */
struct alk__zone_rule {
    int32_t standard_s, summer_s; /* offsets */
    bool has_summer;
    struct alk__zone_day {
        enum { ALK__DAY_JULIAN, ALK__DAY_OF_YEAR, ALK__DAY_OF_WEEK } kind;
        int month, week, day;
        int32_t time_s; /* -167 h to 167 h */
    } start, end;       /* of summer time */
};

bool alk__zone_rule_parse(struct alk__text text, struct alk__zone_rule *ret_rule);

/* The two changes that the rule makes in that year, in order of time; where both are at one second
 * the last rules. */
void alk__zone_rule_year(const struct alk__zone_rule *rule, int64_t year,
                         struct alk__change ret_change[2]);

#endif
