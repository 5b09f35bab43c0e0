/* when/when.h: schedule specs: cron with 5 to 7 fields, the @daily family, @every and @at
 * (S100-S108).
 *
 * Text in, boundaries out. Pure apart from reading zone files once: no clock, no libc time, no
 * database. All times are whole seconds since 1970-01-01T00:00:00Z; boundaries lie in 1970-2199 and
 * the search for one is bounded. */
#ifndef ALK_WHEN_WHEN_H
#define ALK_WHEN_WHEN_H

#include "base/civil.h"
#include "base/text.h"

#define ALK__WHEN_BYTES_MAX 256             /* of a spec */
#define ALK__WHEN_END_S INT64_C(7258118400) /* 2200-01-01T00:00:00Z: no boundary at or after it */
#define ALK__EVERY_MAX_S                                                                           \
    INT64_C(315576000) /* the longest period of @every: ten years of 365.25 days */

struct alk__when;  /* a compiled spec: immutable, may be shared between threads */
struct alk__zones; /* zone files that were read, see when/zone.h */

/* Local times that do not exist because clocks go forward over them: one fire at the change, or
 * none. Specs whose hour field covers all 24 hours just go on after it (schedules.md, part 3). */
enum alk__gap { ALK__GAP_SHIFT, ALK__GAP_SKIP };

/* Local times that come twice because clocks go back. AUTO: the first pass, and both for specs that
 * run in every hour or whose minute (or second) field starts with '*' or covers its whole range. */
enum alk__fold { ALK__FOLD_AUTO, ALK__FOLD_FIRST, ALK__FOLD_LAST, ALK__FOLD_BOTH };

/* name   of the schedule, for H; may be empty; NULL: H is refused with a reason
 * zone   an IANA name; NULL or "": the zone of CRON_TZ=, else UTC. Both and different is an error
 * zones  NULL: only UTC works, and the message says so */
struct alk__when_options {
    const char *name;
    const char *zone;
    struct alk__zones *zones;
    enum alk__gap gap;
    enum alk__fold fold;
};

/* Compiles a spec. options may be NULL. A local @at follows S104 whatever gap and fold say.
 * ALK_INVALID: "minute 60 is out of range 0-59 at column 1", with a hint in brackets where there is
 * one; columns count bytes from 1. A spec without any boundary in 1970-2199 is refused too (S108).
 * ALK_NOMEM. The result needs zones no longer. */
alk_status alk__when_parse(struct alk__text spec, const struct alk__when_options *options,
                           struct alk__when **ret_when, alk_error *error);
void alk__when_free(struct alk__when *when);

/* The first boundary strictly after after_s, the last one strictly before before_s; any int64_t may
 * be asked for. anchor_s is where the grid of @every without a phase starts: boundaries are anchor
 * + k periods, k >= 1 (S128). Other kinds ignore it. false: there is none, *ret_s is untouched. */
bool alk__when_next(const struct alk__when *when, int64_t anchor_s, int64_t after_s,
                    int64_t *ret_s);
bool alk__when_prev(const struct alk__when *when, int64_t anchor_s, int64_t before_s,
                    int64_t *ret_s);

/* How many boundaries lie in from_s..to_s, both included: by arithmetic for @every, by steps for
 * cron, which end at limit. */
int64_t alk__when_count(const struct alk__when *when, int64_t anchor_s, int64_t from_s,
                        int64_t to_s, int64_t limit);

/* Whether it fires once (@at). */
bool alk__when_is_once(const struct alk__when *when);

/* What is legal but surprising about it, "" if nothing; owned by when. */
const char *alk__when_warning(const struct alk__when *when);

/* The name of its zone ("UTC" if none was given), and the fingerprint of the zone file it was
 * compiled with (0 for UTC). */
const char *alk__when_zone(const struct alk__when *when);
uint64_t alk__when_fingerprint(const struct alk__when *when);

/* Says in plain words when it fires. */
void alk__when_explain(const struct alk__when *when, struct alk__buffer *text);

/* The spec with each H replaced by its numbers (rule 8), nothing when it has no H. A valid spec
 * with the same boundaries. */
void alk__when_resolve(const struct alk__when *when, struct alk__buffer *text);

/* A boundary as a clock on the wall shows it.
 *
 * offset_s     local time minus UTC
 * is_shifted   the spec names a time that clocks went forward over, and this is when they did
 * is_repeated  the second pass of a local time that comes twice */
struct alk__when_local {
    struct alk__civil civil;
    int offset_s;
    bool is_shifted;
    bool is_repeated;
};

/* at_s: a boundary of when. */
struct alk__when_local alk__when_local(const struct alk__when *when, int64_t at_s);

#endif
