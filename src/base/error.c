/* base/error.c: makes the messages of alk_error. Every message ends up as one line: control
 * characters become spaces, and what is too long is cut between two characters and ends in
 * "...". */
#include "base/error.h"

#include <stdarg.h>
#include <string.h>

#include "base/text.h"

/* Copies the NUL-terminated text into a field of size bytes in the form that every field has. */
static void put(char *field, size_t size, const char *text) {
    size_t length = strlen(text);
    bool is_cut = length >= size;

    if (is_cut) {
        length = size - sizeof("...");
        while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
            length--;
    }
    for (size_t i = 0; i < length; i++)
        field[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7F ? ' ' : text[i];
    memcpy(field + length, is_cut ? "..." : "", is_cut ? sizeof("...") : 1);
}

/* A message is made beside the error first: the arguments may point into it. Longer than a message,
 * so that put sees that there was more. */
struct draft {
    char text[2 * ALK_ERROR_MESSAGE_BYTES];
};

alk_status alk__fail(alk_error *error, alk_status status, const char *format, ...) {
    struct draft draft;
    va_list arguments;

    if (error == NULL)
        return status;
    va_start(arguments, format);
    vsnprintf(draft.text, sizeof(draft.text), format, arguments);
    va_end(arguments);

    alk__error_clear(error);
    error->status = status;
    error->error_class = alk_status_class(status);
    put(error->message, sizeof(error->message), draft.text);
    return status;
}

alk_status alk__wrap(alk_error *error, alk_status status, const char *format, ...) {
    struct draft draft;
    va_list arguments;

    if (error == NULL)
        return status;
    if (error->status >= 0)
        alk__fail(error, status, "%s", alk_status_text(status));

    va_start(arguments, format);
    vsnprintf(draft.text, ALK_ERROR_MESSAGE_BYTES, format, arguments);
    va_end(arguments);
    size_t length = strlen(draft.text);
    snprintf(draft.text + length, sizeof(draft.text) - length, ": %s", error->message);
    put(error->message, sizeof(error->message), draft.text);
    return error->status;
}

struct alk__reason alk__reason_of(int number) {
    struct alk__reason reason;
    char room[sizeof(reason.text)];

    snprintf(reason.text, sizeof(reason.text), "%s", strerror_r(number, room, sizeof(room)));
    return reason;
}

void alk__error_set_subject(alk_error *error, const char *subject) {
    if (error != NULL)
        put(error->subject, sizeof(error->subject), subject == NULL ? "" : subject);
}

void alk__error_set_phase(alk_error *error, alk_phase phase) {
    if (error != NULL)
        error->phase = phase;
}

void alk__error_set_code(alk_error *error, const char *engine_code) {
    if (error != NULL)
        put(error->engine_code, sizeof(error->engine_code), engine_code == NULL ? "" : engine_code);
}

void alk__error_clear(alk_error *error) {
    if (error != NULL)
        *error = (alk_error)ALK_ERROR_INIT;
}
