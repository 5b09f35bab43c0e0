/* base/backoff.h: how long to wait before trying again (S71-S73). */
#ifndef ALK_BASE_BACKOFF_H
#define ALK_BASE_BACKOFF_H

#include "base/clock.h"

/* d = min(cap, base * 2^(attempt - 1)), then a time between d/2 and d. attempt counts from 1; any
 * base, cap and attempt give a time between 0 and cap. */
int64_t alk__backoff_us(int64_t base_us, int64_t cap_us, int64_t attempt,
                        const struct alk__random *source);

#endif
