/* base/text.c: slices, growing buffers, and the two ways in which a message shows what somebody
 * wrote. */
#include "base/text.h"

#include <stdarg.h>
#include <string.h>

#include "base/arena.h"

struct alk__text alk__text_of(const char *text) {
    return (struct alk__text){text, text == NULL ? 0 : strlen(text)};
}

bool alk__text_equal(struct alk__text left, struct alk__text right) {
    if (left.bytes == NULL || right.bytes == NULL)
        return left.bytes == right.bytes;
    return left.length == right.length && memcmp(left.bytes, right.bytes, left.length) == 0;
}

bool alk__text_is(struct alk__text text, const char *word) {
    return alk__text_equal(text, alk__text_of(word));
}

/* Makes room for length more bytes and a NUL. */
static bool reserve(struct alk__buffer *buffer, size_t length) {
    if (buffer->is_failed || length > buffer->maximum - buffer->length) {
        buffer->is_failed = true;
        return false;
    }
    size_t needed = buffer->length + length + 1;
    if (needed <= buffer->capacity)
        return true;

    /* Half as much again each time: a buffer that grows by bytes is not copied once a byte. */
    size_t capacity = needed < 64 ? 64 : needed + needed / 2;
    if (capacity > buffer->maximum)
        capacity = buffer->maximum + 1;
    char *bytes = alk__realloc(buffer->bytes, capacity);
    if (bytes == NULL) {
        buffer->is_failed = true;
        return false;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

void alk__buffer_add(struct alk__buffer *buffer, const void *bytes, size_t length) {
    if (!reserve(buffer, length))
        return;
    if (length > 0)
        memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    buffer->bytes[buffer->length] = '\0';
}

void alk__buffer_add_text(struct alk__buffer *buffer, const char *text) {
    alk__buffer_add(buffer, text, strlen(text));
}

void alk__buffer_addf(struct alk__buffer *buffer, const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        buffer->is_failed = true;
    if (length < 0 || !reserve(buffer, (size_t)length))
        return;

    va_start(arguments, format);
    vsnprintf(buffer->bytes + buffer->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    buffer->length += (size_t)length;
}

void alk__buffer_clear(struct alk__buffer *buffer) {
    buffer->length = 0;
    buffer->is_failed = false;
    if (buffer->bytes != NULL)
        buffer->bytes[0] = '\0';
}

void alk__buffer_release(struct alk__buffer *buffer) {
    alk__free(buffer->bytes);
    *buffer = (struct alk__buffer)ALK__BUFFER_INIT(buffer->maximum);
}

struct alk__excerpt alk__excerpt_of(struct alk__text text) {
    struct alk__excerpt excerpt = {.text = ""};
    const size_t room = sizeof(excerpt.text) - sizeof("...");
    size_t length = 0;

    for (size_t at = 0, step; at < text.length; at += step) {
        size_t character = alk__utf8_step(text.bytes + at, text.length - at);
        bool is_shown = character > 0 && !alk__utf8_is_control(text.bytes + at, character);

        step = character > 0 ? character : 1;
        if (length + step > room) {
            memcpy(excerpt.text + length, "...", sizeof("..."));
            return excerpt;
        }
        memcpy(excerpt.text + length, is_shown ? text.bytes + at : "?", is_shown ? step : 1);
        length += is_shown ? step : 1;
    }
    excerpt.text[length] = '\0';
    return excerpt;
}

struct alk__number alk__number_of(uint64_t number) {
    struct alk__number written;
    char digits[24];
    int count = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
    size_t length = 0;

    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            written.text[length++] = ',';
        written.text[length++] = digits[i];
    }
    written.text[length] = '\0';
    return written;
}
