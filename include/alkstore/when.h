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

/* Compiles a spec.
 *
 * spec      at most 256 bytes (schedules.md, part 2)
 * zone      an IANA name, NULL or "" = UTC
 * name      the schedule's name, for H; NULL = none
 * ret_when  freed with alk_when_free
 * Returns ALK_OK; ALK_INVALID with the column and a hint. */
ALK_API alk_status alk_when_parse(const char *spec, const char *zone, const char *name,
                                  alk_when **ret_when, alk_error *error);

/* The first boundary strictly after after_us, in whole seconds (S106). anchor_us: where the grid of
 * an @every without a phase starts. ALK_OK; ALK_EMPTY when there is none. */
ALK_API alk_status alk_when_next(const alk_when *when, int64_t anchor_us, int64_t after_us,
                                 int64_t *ret_us);

/* The last boundary strictly before before_us. ALK_OK; ALK_EMPTY. */
ALK_API alk_status alk_when_prev(const alk_when *when, int64_t anchor_us, int64_t before_us,
                                 int64_t *ret_us);

/* What it means in plain words, and what is legal but surprising about it ("" if nothing); owned by
 * when. */
ALK_API const char *alk_when_explain(const alk_when *when);
ALK_API const char *alk_when_warning(const alk_when *when);

ALK_API void alk_when_free(alk_when *when);

#ifdef __cplusplus
}
#endif
#endif
