/* core/specs.h: compiled specs, kept while they are used: a tick of 500 schedules compiles none
 * that it has seen lately, and memory does not grow with the number of schedules. Not
 * thread-safe. */
#ifndef ALK_CORE_SPECS_H
#define ALK_CORE_SPECS_H

#include "when/when.h"

#define ALK__SPECS_MAX 1024

struct alk__specs;

/* Makes a cache of at most capacity specs, with the zone files they need. */
alk_status alk__specs_new(size_t capacity, struct alk__specs **ret_specs, alk_error *error);
void alk__specs_free(struct alk__specs *specs);

/* Compiles a spec, or finds it. name and zone as in struct alk__when_options, each with a NUL
 * behind it; ret_when belongs to the cache and lives until the next call. ALK_OK; ALK_INVALID, the
 * spec's fault; ALK_NOMEM. */
alk_status alk__specs_get(struct alk__specs *specs, struct alk__text name, struct alk__text spec,
                          struct alk__text zone, const struct alk__when **ret_when,
                          alk_error *error);

#endif
