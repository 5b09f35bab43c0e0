/* base/utf8.h: characters of UTF-8 (RFC 3629). Stands on nothing. */
#ifndef ALK_BASE_UTF8_H
#define ALK_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Valid UTF-8 (RFC 3629: no surrogates, nothing overlong, not above U+10FFFF) without NUL. ret_at
 * may be NULL; receives the offset of the first wrong byte. */
bool alk__utf8_is_valid(const char *bytes, size_t length, size_t *ret_at);

/* The length of the valid character (as above) that bytes begin with, 1 to 4; 0 if there is
 * none. */
size_t alk__utf8_step(const char *bytes, size_t length);

/* Whether that character is a control character (U+0001-U+001F, U+007F-U+009F). */
bool alk__utf8_is_control(const char *bytes, size_t step);

#endif
