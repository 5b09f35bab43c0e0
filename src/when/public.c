/* when/public.c: alkstore/when.h on top of this folder: microseconds outside, seconds inside. */
#include <alkstore/when.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "when/when.h"
#include "when/zone.h"

#define EXPLANATION_MAX 8192

struct alk_when {
    struct alk__when *compiled;
    struct alk__buffer explanation;
};

static int64_t floor_seconds(int64_t us) {
    return us / ALK__SECOND - (us % ALK__SECOND < 0);
}

static int64_t ceiling_seconds(int64_t us) {
    return us / ALK__SECOND + (us % ALK__SECOND > 0);
}

static alk_status compile(alk_when *when, const char *spec, const char *zone, const char *name,
                          alk_error *error) {
    struct alk__when_options options = {.name = name, .zone = zone};
    alk_status st = alk__zones_new(NULL, &options.zones, error);

    if (st < 0)
        return st;
    st = alk__when_parse(alk__text_of(spec), &options, &when->compiled, error);
    alk__zones_free(options.zones);
    if (st < 0)
        return st;
    when->explanation = (struct alk__buffer)ALK__BUFFER_INIT(EXPLANATION_MAX);
    alk__when_explain(when->compiled, &when->explanation);
    return when->explanation.is_failed ? alk__nomem(error) : ALK_OK;
}

alk_status alk_when_parse(const char *spec, const char *zone, const char *name, alk_when **ret_when,
                          alk_error *error) {
    if (spec == NULL || ret_when == NULL)
        return alk__fail(error, ALK_USAGE, "spec and ret_when must not be NULL");
    alk_when *when = alk__alloc(sizeof(*when));
    if (when == NULL)
        return alk__nomem(error);
    alk_status st = compile(when, spec, zone, name, error);
    if (st < 0) {
        alk_when_free(when);
        return st;
    }
    *ret_when = when;
    return ALK_OK;
}

alk_status alk_when_next(const alk_when *when, int64_t anchor_us, int64_t after_us,
                         int64_t *ret_us) {
    int64_t found_s;

    if (!alk__when_next(when->compiled, floor_seconds(anchor_us), floor_seconds(after_us),
                        &found_s))
        return ALK_EMPTY;
    *ret_us = found_s * ALK__SECOND;
    return ALK_OK;
}

alk_status alk_when_prev(const alk_when *when, int64_t anchor_us, int64_t before_us,
                         int64_t *ret_us) {
    int64_t found_s;

    if (!alk__when_prev(when->compiled, floor_seconds(anchor_us), ceiling_seconds(before_us),
                        &found_s))
        return ALK_EMPTY;
    *ret_us = found_s * ALK__SECOND;
    return ALK_OK;
}

const char *alk_when_explain(const alk_when *when) {
    return when->explanation.bytes;
}

const char *alk_when_warning(const alk_when *when) {
    return alk__when_warning(when->compiled);
}

void alk_when_free(alk_when *when) {
    if (when == NULL)
        return;
    alk__when_free(when->compiled);
    alk__buffer_release(&when->explanation);
    alk__free(when);
}
