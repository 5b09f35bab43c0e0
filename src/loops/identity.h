/* loops/identity.h: the names that loops give themselves. */
#ifndef ALK_LOOPS_IDENTITY_H
#define ALK_LOOPS_IDENTITY_H

#include "base/clock.h"
#include <alkstore/lease.h>

/* Writes name, or "host/pid" where it is NULL: what people read as the owner of a lease (S163).
 * What is longer than size is cut between two characters. */
void alk__identity_name(const char *name, char *text, size_t size);

/* The same with a random token behind it, so that no two loops share one (S69): at most 200 bytes,
 * and so a name like any other. */
void alk__identity_unique(const char *name, const struct alk__random *random,
                          char text[ALK_NAME_BYTES]);

#endif
