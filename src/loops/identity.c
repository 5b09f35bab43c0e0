/* loops/identity.c: the names that loops give themselves. */
#include "loops/identity.h"
#include "base/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TOKEN_BYTES 17 /* "/" and 16 digits */

static void copy_characters(const char *from, char *text, size_t size) {
    size_t length = strlen(from);
    size_t at = 0;
    size_t step;
    while ((step = alk__utf8_step(from + at, length - at)) > 0 && at + step < size)
        at += step;
    memcpy(text, from, at);
    text[at] = 0;
}

void alk__identity_name(const char *name, char *text, size_t size) {
    char host[128] = "";
    char own[sizeof host + 24];
    if (!name && (gethostname(host, sizeof host - 1) != 0 || host[0] == 0))
        snprintf(host, sizeof host, "localhost");
    snprintf(own, sizeof own, "%s/%ld", host, (long)getpid());
    copy_characters(name ? name : own, text, size);
}

void alk__identity_unique(const char *name, const struct alk__random *random,
                          char text[ALK_NAME_BYTES]) {
    alk__identity_name(name, text, ALK_NAME_BYTES - TOKEN_BYTES);
    size_t length = strlen(text);
    snprintf(text + length, ALK_NAME_BYTES - length, "/%016" PRIx64, alk__random_bits(random));
}
