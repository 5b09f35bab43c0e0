/* base/error.h: builds alk_error objects. The message is made where the fault is found (alk__fail)
 * and prefixed by every layer that knows more (alk__wrap). Every function takes a NULL error. */
#ifndef ALK_BASE_ERROR_H
#define ALK_BASE_ERROR_H

#include <alkstore/base.h>

/* Fills error with the status and a message and returns the status, so that a caller writes `return
 * alk__fail(...)`. */
alk_status alk__fail(alk_error *error, alk_status status, const char *format, ...) ALK_PRINTF(3, 4);

/* Puts "prefix: " before the message that is there; returns error's status, or status where error
 * is NULL. */
alk_status alk__wrap(alk_error *error, alk_status status, const char *format, ...) ALK_PRINTF(3, 4);

/* ALK_NOMEM with the words that are always the same. Inline, so that a compiler sees that it never
 * says that something worked. */
static inline alk_status alk__nomem(alk_error *error) {
    alk__fail(error, ALK_NOMEM, "%s", alk_status_text(ALK_NOMEM));
    return ALK_NOMEM;
}

/* The words for an errno, used in place: alk__reason_of(errno).text. Thread-safe, unlike libc's
 * own. */
struct alk__reason {
    char text[64];
};
struct alk__reason alk__reason_of(int number);

void alk__error_set_subject(alk_error *error, const char *subject);
void alk__error_set_phase(alk_error *error, alk_phase phase);
void alk__error_set_code(alk_error *error, const char *engine_code);
void alk__error_clear(alk_error *error);

#endif
