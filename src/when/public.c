/* when/public.c: alkstore/when.h on top of this folder: microseconds outside, seconds inside. */
#include <alkstore/when.h>

#include <string.h>

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

/* The two lists of words are one list each, outside and inside. */
_Static_assert((int)ALK_GAP_SKIP == ALK__GAP_SKIP, "gap");
_Static_assert((int)ALK_FOLD_FIRST == ALK__FOLD_FIRST && (int)ALK_FOLD_LAST == ALK__FOLD_LAST &&
                   (int)ALK_FOLD_BOTH == ALK__FOLD_BOTH,
               "fold");

/* ---- words ---- */

#define ALK__WORD(name, text) [name] = (text),
static const char *const gaps[] = {ALK_GAP_MAP(ALK__WORD)};
static const char *const folds[] = {ALK_FOLD_MAP(ALK__WORD)};
static const char *const notes[] = {ALK_WHEN_NOTE_MAP(ALK__WORD)};
#undef ALK__WORD

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The place of text in words, count for none. */
static size_t find_word(const char *text, const char *const *words, size_t count) {
    size_t i = 0;

    while (i < count && (text == NULL || strcmp(text, words[i]) != 0))
        i++;
    return i;
}

alk_status alk_gap_parse(const char *text, alk_gap *ret_gap, alk_error *error) {
    size_t place = find_word(text, gaps, COUNT(gaps));

    if (place == COUNT(gaps))
        return alk__fail(error, ALK_INVALID, "gap is shift or skip, not '%s'",
                         alk__excerpt_of(alk__text_of(text)).text);
    *ret_gap = (alk_gap)place;
    return ALK_OK;
}

alk_status alk_fold_parse(const char *text, alk_fold *ret_fold, alk_error *error) {
    size_t place = find_word(text, folds, COUNT(folds));

    if (place == COUNT(folds))
        return alk__fail(error, ALK_INVALID, "fold is auto, first, last or both, not '%s'",
                         alk__excerpt_of(alk__text_of(text)).text);
    *ret_fold = (alk_fold)place;
    return ALK_OK;
}

const char *alk_when_note_text(alk_when_note note) {
    return (size_t)note < COUNT(notes) ? notes[note] : "";
}

/* ---- specs ---- */

static alk_status compile(alk_when *when, const char *spec, const alk_when_options *given,
                          alk_error *error) {
    struct alk__when_options options = {.name = given->name,
                                        .zone = given->zone,
                                        .gap = (enum alk__gap)given->gap,
                                        .fold = (enum alk__fold)given->fold};
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

/* Fields that an older caller does not know keep their defaults. */
static alk_status take_options(const alk_when_options *given, alk_when_options *options,
                               alk_error *error) {
    if (given->size < sizeof(given->size))
        return alk__fail(error, ALK_USAGE, "options of a spec begin with their size");
    memcpy(options, given, given->size < sizeof(*options) ? given->size : sizeof(*options));
    if ((size_t)options->gap >= COUNT(gaps))
        return alk__fail(error, ALK_USAGE, "no such gap: %d", (int)options->gap);
    if ((size_t)options->fold >= COUNT(folds))
        return alk__fail(error, ALK_USAGE, "no such fold: %d", (int)options->fold);
    return ALK_OK;
}

alk_status alk_when_parse(const char *spec, const alk_when_options *options, alk_when **ret_when,
                          alk_error *error) {
    alk_when_options all = ALK_WHEN_OPTIONS_INIT;
    alk_status st = ALK_OK;

    if (spec == NULL || ret_when == NULL)
        return alk__fail(error, ALK_USAGE, "spec and ret_when must not be NULL");
    if (options != NULL)
        st = take_options(options, &all, error);
    if (st < 0)
        return st;
    alk_when *when = alk__alloc(sizeof(*when));
    if (when == NULL)
        return alk__nomem(error);
    st = compile(when, spec, &all, error);
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

void alk_when_local(const alk_when *when, int64_t at_us, int *ret_offset_s,
                    alk_when_note *ret_note) {
    struct alk__when_local local = alk__when_local(when->compiled, floor_seconds(at_us));

    if (ret_offset_s != NULL)
        *ret_offset_s = local.offset_s;
    if (ret_note == NULL)
        return;
    *ret_note = ALK_WHEN_PLAIN;
    if (local.is_shifted)
        *ret_note = ALK_WHEN_SHIFTED;
    else if (local.is_repeated)
        *ret_note = ALK_WHEN_REPEATED;
}

const char *alk_when_zone(const alk_when *when) {
    return alk__when_zone(when->compiled);
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
