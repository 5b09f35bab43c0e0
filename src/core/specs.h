/* core/specs.h: compiled specs, kept while they are used: a tick of 500 schedules compiles none
 * that it has seen lately, and memory does not grow with the number of schedules. Not
 * thread-safe. */
#ifndef ALK_CORE_SPECS_H
#define ALK_CORE_SPECS_H

#include "when/when.h"

#define ALK__SPECS_MAX 1024

struct alk__specs;

/* What a schedule's boundaries depend on; texts have a NUL behind them. name counts only for H. */
struct alk__spec {
    struct alk__text name;
    struct alk__text text;
    struct alk__text zone;
    enum alk__gap gap;
    enum alk__fold fold;
};

/* Makes a cache of at most capacity specs, with the zone files they need. */
alk_status alk__specs_new(size_t capacity, struct alk__specs **ret_specs, alk_error *error);
void alk__specs_free(struct alk__specs *specs);

/* Compiles a spec, or finds it; ret_when belongs to the cache and lives until the next call.
 * ALK_OK; ALK_INVALID, the spec's fault; ALK_NOMEM. */
alk_status alk__specs_get(struct alk__specs *specs, const struct alk__spec *spec,
                          const struct alk__when **ret_when, alk_error *error);

/* A zone's fingerprint (alk__when_fingerprint) as tables have it. */
#define ALK__FINGERPRINT_BYTES 17
void alk__fingerprint_text(uint64_t fingerprint, char text[ALK__FINGERPRINT_BYTES]);

/* Looks at the zone files again: from now on specs are compiled with what they are now. */
void alk__specs_refresh(struct alk__specs *specs);

#endif
