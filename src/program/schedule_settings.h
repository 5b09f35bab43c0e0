/* program/schedule_settings.h: the one table of what can be set of a schedule: its words as an
 * option (--catchup-max) and as a key of a file (catchup_max), and what a value may be.
 *
 * schedule put and set, the configuration's [schedule NAME] and alk next are made from it. */
#ifndef ALK_PROGRAM_SCHEDULE_SETTINGS_H
#define ALK_PROGRAM_SCHEDULE_SETTINGS_H

#include "base/clock.h"

#include <alkstore/schedule.h>
#include <alkstore/when.h>

#include <stdio.h>

#define ALK__SPAN_MOST (36500 * ALK__DAY)
#define ALK__COUNT_MOST INT64_C(999999999999)

/* clang-format off */
/* X(FIELD, member, option, key, argument, kind, least, most, choices, help)
 * FIELD    as in ALK_SCHEDULE_FIELD
 * kind     see below
 * least    for a text: 1 = it may not be empty */
#define ALK__SCHEDULE_SPEC_SETTING(X) \
    X(SPEC, spec, "spec", "spec", "SPEC", TEXT, 1, 0, NULL, "when it fires")

/* Those that bear on its boundaries. */
#define ALK__SCHEDULE_TIMING_SETTINGS(X) \
    X(ZONE, zone, "zone", "zone", "Z", TEXT, 0, 0, NULL, "an IANA name; that of CRON_TZ=, else UTC, unless given") \
    X(ANCHOR, anchor_us, "anchor", "anchor", "T", TIME, 0, 0, NULL, "where the grid of @every starts; now unless given") \
    X(DST_GAP, dst_gap, "gap", "gap", "G", CHOICE, 0, 0, words_of_gap, "times that clocks skip: shift or skip") \
    X(DST_FOLD, dst_fold, "fold", "fold", "F", CHOICE, 0, 0, words_of_fold, "times that come twice: auto, first, last or both") \
    X(NOT_BEFORE, not_before_us, "not-before", "not_before", "T", TIME, 0, 0, NULL, "no boundary before it") \
    X(NOT_AFTER, not_after_us, "not-after", "not_after", "T", TIME, 0, 0, NULL, "no boundary at it or after it")

#define ALK__SCHEDULE_POLICY_SETTINGS(X) \
    X(CATCHUP, catchup, "catchup", "catchup", "C", CHOICE, 0, 0, words_of_catchup, "what was missed: last (the newest fires), skip or all") \
    X(CATCHUP_MAX, catchup_max, "catchup-max", "catchup_max", "N", INT, 1, 1000, NULL, "at most so many at once, the newest; 64 unless given") \
    X(CATCHUP_WINDOW, catchup_window_us, "catchup-window", "catchup_window", "D", DURATION, ALK__MS, ALK__SPAN_MOST, NULL, "with all: only what was missed since then") \
    X(GRACE, grace_us, "grace", "grace", "D", DURATION, 0, ALK__SPAN_MOST, NULL, "not missed but late up to then; 1m unless given") \
    X(MAX_LATENESS, max_lateness_us, "max-lateness", "max_lateness", "D", DURATION, ALK__MS, ALK__SPAN_MOST, NULL, "what was missed longer ago never fires") \
    X(JITTER, jitter_us, "jitter", "jitter", "D", DURATION, ALK__MS, ALK__SPAN_MOST, NULL, "its jobs run up to so long after the boundary") \
    X(OVERLAP, overlap, "overlap", "overlap", "O", CHOICE, 0, 0, words_of_overlap, "allow, skip, buffer_one or replace_pending") \
    X(MAX_FIRES, max_fires, "max-fires", "max_fires", "N", INTEGER, 1, ALK__COUNT_MOST, NULL, "done after so many") \
    X(PAUSE_UNTIL, pause_until_us, "pause-until", "pause_until", "T", TIME, 0, 0, NULL, "paused, and resumed by itself then")

#define ALK__SCHEDULE_JOB_SETTINGS(X) \
    X(QUEUE, queue, "queue", "queue", "Q", TEXT, 1, 0, NULL, "where its jobs go") \
    X(PAYLOAD, payload, "payload", "payload", "P", PAYLOAD, 0, 0, NULL, "of its jobs: JSON, null unless given") \
    X(PRIORITY, priority, "priority", "priority", "N", INT, -32768, 32767, NULL, "of its jobs; 0 unless given") \
    X(MAX_ATTEMPTS, max_attempts, "max-attempts", "max_attempts", "N", INT, 1, INT32_MAX, NULL, "of its jobs; else the queue's") \
    X(EXPIRES, expires_us, "expires", "expires", "D", DURATION, ALK__MS, 3650 * ALK__DAY, NULL, "of its jobs, counted from the boundary")

#define ALK__SCHEDULE_SETTINGS(X) \
    ALK__SCHEDULE_SPEC_SETTING(X) \
    ALK__SCHEDULE_TIMING_SETTINGS(X) \
    ALK__SCHEDULE_JOB_SETTINGS(X) \
    ALK__SCHEDULE_POLICY_SETTINGS(X)
/* clang-format on */

enum alk__schedule_place {
#define ALK__SCHEDULE_PLACE(FIELD, ...) ALK__SCHEDULE_PLACE_##FIELD,
    ALK__SCHEDULE_SETTINGS(ALK__SCHEDULE_PLACE)
#undef ALK__SCHEDULE_PLACE
        ALK__SCHEDULE_PLACES
};

enum alk__schedule_kind {
    ALK__SCHEDULE_TEXT,
    ALK__SCHEDULE_PAYLOAD_TEXT, /* its length is written, too */
    ALK__SCHEDULE_INT,          /* int */
    ALK__SCHEDULE_INTEGER,      /* int64_t */
    ALK__SCHEDULE_DURATION,     /* int64_t microseconds */
    ALK__SCHEDULE_TIME,         /* int64_t microseconds since 1970 */
    ALK__SCHEDULE_CHOICE        /* an enum, the place of the word in choices */
};

struct alk__schedule_setting {
    const char *key;
    unsigned field; /* its bit of alk_schedule_field */
    enum alk__schedule_kind kind;
    size_t offset; /* into alk_schedule */
    int64_t least;
    int64_t most;
    const char *const *choices;
};

extern const struct alk__schedule_setting alk__schedule_settings[ALK__SCHEDULE_PLACES];

/* NULL when there is no such key. */
const struct alk__schedule_setting *alk__schedule_setting_find(const char *key);

/* Reads text into the schedule, which keeps a pointer to it. The empty text is the default, which
 * for most is none ("set null", S115); a spec, a queue and a payload are not empty. label begins
 * the message of a refusal. ALK_OK; ALK_INVALID. */
alk_status alk__schedule_setting_read(const struct alk__schedule_setting *setting,
                                      const char *label, const char *text, alk_schedule *schedule,
                                      alk_error *error);

/* Prints the value as the reader takes it back. */
void alk__schedule_setting_print(const struct alk__schedule_setting *setting,
                                 const alk_schedule *schedule, FILE *stream);

/* Compiles its spec as the library will: ALK_OK; ALK_INVALID naming schedule and column.
 * ret_when may be NULL, else it is freed with alk_when_free. */
alk_status alk__schedule_check(const alk_schedule *schedule, alk_when **ret_when, alk_error *error);

#endif
