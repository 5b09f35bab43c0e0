/* base/text.h: slices and growing buffers of bytes, never longer than they were told. */
#ifndef ALK_BASE_TEXT_H
#define ALK_BASE_TEXT_H

#include "base/utf8.h"
#include <alkstore/base.h>

/* A run of bytes that somebody else owns; no NUL behind it is promised. bytes NULL = null. */
struct alk__text {
    const char *bytes;
    size_t length;
};

#define ALK__TEXT(literal) ((struct alk__text){(literal), sizeof(literal) - 1})

struct alk__text alk__text_of(const char *text); /* of a NUL-terminated string, NULL gives null */
bool alk__text_equal(struct alk__text left, struct alk__text right);
bool alk__text_is(struct alk__text text, const char *word);

/* A buffer that grows up to maximum bytes; always NUL-terminated once something was added. */
struct alk__buffer {
    char *bytes;
    size_t length;
    size_t capacity;
    size_t maximum;
    bool is_failed; /* out of memory or past maximum: everything after it was dropped */
};

#define ALK__BUFFER_INIT(maximum_)                                                                 \
    { .maximum = (maximum_) }

void alk__buffer_add(struct alk__buffer *buffer, const void *bytes, size_t length);
void alk__buffer_add_text(struct alk__buffer *buffer, const char *text);
void alk__buffer_addf(struct alk__buffer *buffer, const char *format, ...) ALK_PRINTF(2, 3);
void alk__buffer_clear(struct alk__buffer *buffer);
void alk__buffer_release(struct alk__buffer *buffer);

/* What somebody wrote, as a message shows it: at most some 40 bytes and then "...", one line of
 * UTF-8, '?' for what cannot be shown. Used in place: alk__excerpt_of(text).text. */
struct alk__excerpt {
    char text[48];
};
struct alk__excerpt alk__excerpt_of(struct alk__text text);

/* A number with its thousands set apart, "1,048,576", used in place as above. */
struct alk__number {
    char text[32];
};
struct alk__number alk__number_of(uint64_t number);

/* The rule for every name (queue, schedule, lease, worker; S212): 1 to 200 bytes of UTF-8 without
 * control characters. what is the kind of name for the message ("queue"). Returns ALK_OK or
 * ALK_INVALID. */
#define ALK__NAME_MAX 200
alk_status alk__name_check(const char *what, const char *name, alk_error *error);

#endif
