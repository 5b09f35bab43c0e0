/* program/value.h: what people write for a setting, as an option or in a file.
 *
 * label is what they call it there ("--catchup-max", "catchup_max") and begins the message of a
 * refusal. All give ALK_OK or ALK_INVALID. */
#ifndef ALK_PROGRAM_VALUE_H
#define ALK_PROGRAM_VALUE_H

#include <alkstore/base.h>

alk_status alk__value_integer(const char *label, const char *text, int64_t least, int64_t most,
                              int64_t *ret_number, alk_error *error);

/* Microseconds, from "1h30m" or "500ms". */
alk_status alk__value_duration(const char *label, const char *text, int64_t least, int64_t most,
                               int64_t *ret_us, alk_error *error);

/* Microseconds since 1970, from RFC 3339 with an offset. */
alk_status alk__value_time(const char *label, const char *text, int64_t *ret_us, alk_error *error);

/* The place of the word in choices, which end with NULL. */
alk_status alk__value_choice(const char *label, const char *text, const char *const *choices,
                             size_t *ret_place, alk_error *error);

#endif
