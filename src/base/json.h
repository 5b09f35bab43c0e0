/* base/json.h: the one check of JSON text (RFC 8259), the same for both engines (S17), and writing
 * of strings. */
#ifndef ALK_BASE_JSON_H
#define ALK_BASE_JSON_H

#include "base/text.h"

#define ALK__JSON_DEPTH_MAX 1000
#define ALK__PAYLOAD_MAX ((size_t)1 << 20)
#define ALK__HEADERS_MAX ((size_t)16 << 10)

/* Checks that text is one JSON value in UTF-8 without NUL (also no \u0000 escape: PostgreSQL cannot
 * keep it as text), nested at most ALK__JSON_DEPTH_MAX deep, at most maximum bytes. what names the
 * text in the message ("payload"). ALK_OK, or ALK_INVALID: "payload is not JSON at column 1:
 * 'hello' (a string is written '\"hello\"')". Touches nothing. */
alk_status alk__json_check(const char *what, struct alk__text text, size_t maximum,
                           alk_error *error);

/* Whether the checked text's value is an object. */
bool alk__json_is_object(struct alk__text text);

/* Adds text as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void alk__json_add_string(struct alk__buffer *buffer, struct alk__text text);

#endif
