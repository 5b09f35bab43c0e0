/* loops/identity.c: the names that loops give themselves. */
#include "loops/identity.h"
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

void alk__identity_name(const char *name, char *text, size_t size) {
    char host[128] = "";
    if (name) {
        snprintf(text, size, "%s", name);
        return;
    }
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == 0)
        snprintf(host, sizeof host, "localhost");
    snprintf(text, size, "%s/%ld", host, (long)getpid());
}

void alk__identity_unique(const char *name, const struct alk__random *random, char *text,
                          size_t size) {
    char plain[ALK_NAME_BYTES];
    alk__identity_name(name, plain, sizeof plain - 18);
    snprintf(text, size, "%s/%016" PRIx64, plain, alk__random_bits(random));
}
