/* alkstore/when.h: specs of schedules without a database (S110). Specified in
 * docs/spec/schedules.md, parts 2 and 3. */
#ifndef ALKSTORE_WHEN_H
#define ALKSTORE_WHEN_H

#include <alkstore/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A compiled spec: immutable, may be shared by threads. */
typedef struct alk_when alk_when;

/* What becomes of local times that clocks skip when they go forward: one boundary at the change, or
 * none. Specs that run in every hour just go on (S107). */
#define ALK_GAP_MAP(X)                                                                             \
    X(ALK_GAP_SHIFT, "shift")                                                                      \
    X(ALK_GAP_SKIP, "skip")

typedef enum alk_gap {
#define ALK_GAP_ITEM(name, text) name,
    ALK_GAP_MAP(ALK_GAP_ITEM)
#undef ALK_GAP_ITEM
} alk_gap;

/* Which pass counts of local times that come twice when clocks go back. AUTO: the first, and both
 * for specs that run in every hour or whose minute (or second) field starts with '*' (S107). */
#define ALK_FOLD_MAP(X)                                                                            \
    X(ALK_FOLD_AUTO, "auto")                                                                       \
    X(ALK_FOLD_FIRST, "first")                                                                     \
    X(ALK_FOLD_LAST, "last")                                                                       \
    X(ALK_FOLD_BOTH, "both")

typedef enum alk_fold {
#define ALK_FOLD_ITEM(name, text) name,
    ALK_FOLD_MAP(ALK_FOLD_ITEM)
#undef ALK_FOLD_ITEM
} alk_fold;

/* The option of that word; ALK_INVALID for none such, naming those there are. */
ALK_API alk_status alk_gap_parse(const char *text, alk_gap *ret_gap, alk_error *error);
ALK_API alk_status alk_fold_parse(const char *text, alk_fold *ret_fold, alk_error *error);

/* How a spec is to be read. Start with ALK_WHEN_OPTIONS_INIT.
 *
 * zone  an IANA name, NULL or "" = that of CRON_TZ=, else UTC (S105)
 * name  the schedule's name, which H hashes; NULL: H is refused
 * gap   see alk_gap
 * fold  see alk_fold */
typedef struct alk_when_options {
    size_t size;
    const char *zone;
    const char *name;
    alk_gap gap;
    alk_fold fold;
} alk_when_options;

#define ALK_WHEN_OPTIONS_INIT                                                                      \
    { sizeof(alk_when_options), NULL, NULL, ALK_GAP_SHIFT, ALK_FOLD_AUTO }

/* Compiles a spec.
 *
 * spec      at most 256 bytes (schedules.md, part 2)
 * options   NULL = ALK_WHEN_OPTIONS_INIT
 * ret_when  freed with alk_when_free
 * Returns ALK_OK; ALK_INVALID with the column and a hint (S101, S103); ALK_USAGE; ALK_NOMEM. */
ALK_API alk_status alk_when_parse(const char *spec, const alk_when_options *options,
                                  alk_when **ret_when, alk_error *error);

/* The first boundary strictly after after_us, in whole seconds (S106). anchor_us: where the grid of
 * an @every without a phase starts. ALK_OK; ALK_EMPTY when there is none. */
ALK_API alk_status alk_when_next(const alk_when *when, int64_t anchor_us, int64_t after_us,
                                 int64_t *ret_us);

/* The last boundary strictly before before_us. ALK_OK; ALK_EMPTY. */
ALK_API alk_status alk_when_prev(const alk_when *when, int64_t anchor_us, int64_t before_us,
                                 int64_t *ret_us);

/* What a boundary is in local time. */
#define ALK_WHEN_NOTE_MAP(X)                                                                       \
    X(ALK_WHEN_PLAIN, "")            /* the time that the spec names */                            \
    X(ALK_WHEN_SHIFTED, "shifted")   /* clocks skipped that time: this is when they changed */     \
    X(ALK_WHEN_REPEATED, "repeated") /* the second pass of a time that comes twice */

typedef enum alk_when_note {
#define ALK_WHEN_NOTE_ITEM(name, text) name,
    ALK_WHEN_NOTE_MAP(ALK_WHEN_NOTE_ITEM)
#undef ALK_WHEN_NOTE_ITEM
} alk_when_note;

/* The word of a note, "" for ALK_WHEN_PLAIN; static. */
ALK_API const char *alk_when_note_text(alk_when_note note);

/* A boundary in the spec's zone (S107, S110).
 *
 * at_us         a boundary of when
 * ret_offset_s  local time minus UTC in seconds; may be NULL
 * ret_note      may be NULL */
ALK_API void alk_when_local(const alk_when *when, int64_t at_us, int *ret_offset_s,
                            alk_when_note *ret_note);

/* The name of its zone, "UTC" where none was given; owned by when (S105). */
ALK_API const char *alk_when_zone(const alk_when *when);

/* What it means in plain words, and what is legal but surprising about it ("" if nothing); owned by
 * when. */
ALK_API const char *alk_when_explain(const alk_when *when);
ALK_API const char *alk_when_warning(const alk_when *when);

ALK_API void alk_when_free(alk_when *when);

#ifdef __cplusplus
}
#endif
#endif
