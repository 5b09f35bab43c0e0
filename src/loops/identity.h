/* loops/identity.h: the names that loops give themselves. */
#ifndef ALK_LOOPS_IDENTITY_H
#define ALK_LOOPS_IDENTITY_H

#include "base/clock.h"
#include <alkstore/lease.h>

#define ALK__IDENTITY_BYTES (ALK_NAME_BYTES + 32)

/* name, or "host/pid" where it is NULL: what people read as the owner of a lease (S163). size >= ALK_NAME_BYTES. */
void alk__identity_name(const char *name, char *text, size_t size);

/* The same with a random token behind it, so that no two loops share one (S69, S175). size >= ALK__IDENTITY_BYTES. */
void alk__identity_unique(const char *name, const struct alk__random *random, char *text,
                          size_t size);

#endif
