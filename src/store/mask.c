/* store/mask.c: a URL as people may see it: no password in it, in whatever form it was written
 * (S2). */
#include <string.h>

#include "store/store.h"

#define MASKED_MAX ((size_t)16 << 10)

/* Whether what stands before the '=' at end is a key for a password: password, sslpassword. libpq's
 * own form has blanks. */
static bool ends_in_password(const char *start, const char *end) {
    static const char word[] = "password";
    size_t length = sizeof(word) - 1;

    while (end > start && end[-1] == ' ')
        end--;
    return (size_t)(end - start) >= length && strncasecmp(end - length, word, length) == 0;
}

/* Where the value of a password ends: a quoted one behind its quote. */
static const char *skip_value(const char *at) {
    at += strspn(at, " ");
    if (*at != '\'')
        return at + strcspn(at, "& \t\n");
    for (at++; *at != '\0' && *at != '\''; at++) {
        if (*at == '\\' && at[1] != '\0')
            at++;
    }
    return *at == '\'' ? at + 1 : at;
}

/* The password of user:password@: from the first colon behind "//" to the last @ in front of the
 * query, or of all where a '?' in it was not encoded. */
static bool find_user_password(const char *url, const char **ret_start, const char **ret_end) {
    const char *authority = strstr(url, "://");

    if (authority == NULL)
        return false;
    authority += 3;
    const char *at_sign = memrchr(authority, '@', strcspn(authority, "?"));
    if (at_sign == NULL)
        at_sign = strrchr(authority, '@');
    if (at_sign == NULL)
        return false;
    const char *colon = memchr(authority, ':', (size_t)(at_sign - authority));
    if (colon == NULL)
        return false;
    *ret_start = colon + 1;
    *ret_end = at_sign;
    return true;
}

char *alk__url_masked(struct alk__arena *arena, const char *url) {
    struct alk__buffer out = ALK__BUFFER_INIT(MASKED_MAX);
    const char *start = NULL;
    const char *end = NULL;
    char *copy = NULL;

    find_user_password(url, &start, &end);
    for (const char *at = url; *at != '\0';) {
        if (at == start && end > start) {
            alk__buffer_add_text(&out, "***");
            at = end;
        } else if (*at == '=' && ends_in_password(url, at)) {
            alk__buffer_add_text(&out, "=***");
            at = skip_value(at + 1);
        } else {
            alk__buffer_add(&out, at++, 1);
        }
    }
    if (!out.is_failed)
        copy = alk__arena_copy(arena, out.bytes, out.length);
    alk__buffer_release(&out);
    return copy;
}
