/* base/clock.h: the only ways to know the time and to draw a number. */
#ifndef ALK_BASE_CLOCK_H
#define ALK_BASE_CLOCK_H

#include <alkstore/base.h>

#define ALK__MS INT64_C(1000)
#define ALK__SECOND INT64_C(1000000)
#define ALK__MINUTE (60 * ALK__SECOND)
#define ALK__HOUR (60 * ALK__MINUTE)
#define ALK__DAY (24 * ALK__HOUR)

struct alk__clock {
    alk_now_fn now; /* NULL: CLOCK_REALTIME */
    void *context;
};

struct alk__random {
    alk_random_fn draw; /* NULL: getrandom() */
    void *context;
};

int64_t alk__now_us(const struct alk__clock *clock);
int64_t alk__monotonic_us(void);
uint64_t alk__random_bits(const struct alk__random *source);

/* A number between low and high, both included; low when high <= low. */
int64_t alk__random_between(const struct alk__random *source, int64_t low, int64_t high);

/* Adds without leaving the range of int64_t: the result stops at its ends. */
int64_t alk__add_us(int64_t left, int64_t right);

#endif
