/* base/clock.c: time and chance, from the system or from whoever took their place (S221). */
#include "base/clock.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>

static int64_t read_clock(clockid_t id) {
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * ALK__SECOND + now.tv_nsec / 1000;
}

int64_t alk__now_us(const struct alk__clock *clock) {
    if (clock != NULL && clock->now != NULL)
        return clock->now(clock->context);
    return read_clock(CLOCK_REALTIME);
}

int64_t alk__monotonic_us(void) {
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t alk__random_bits(const struct alk__random *source) {
    if (source != NULL && source->draw != NULL)
        return source->draw(source->context);

    uint64_t bits = 0;
    ssize_t got;
    do
        got = getrandom(&bits, sizeof(bits), 0);
    while (got < 0 && errno == EINTR);
    /* A system without getrandom(): what is drawn here spreads load and keeps no secret, so the
     * clock will do. */
    if (got != (ssize_t)sizeof(bits))
        bits = (uint64_t)read_clock(CLOCK_MONOTONIC) * UINT64_C(0x9E3779B97F4A7C15);
    return bits;
}

int64_t alk__random_between(const struct alk__random *source, int64_t low, int64_t high) {
    if (high <= low)
        return low;

    /* A remainder, not a draw until one fits: a generator that always gives the same must end too.
     * The bias is below range / 2^64. */
    uint64_t bits = alk__random_bits(source);
    uint64_t range = (uint64_t)high - (uint64_t)low + 1;
    return (int64_t)((uint64_t)low + (range == 0 ? bits : bits % range));
}

int64_t alk__add_us(int64_t left, int64_t right) {
    int64_t sum;

    if (!__builtin_add_overflow(left, right, &sum))
        return sum;
    return left < 0 ? INT64_MIN : INT64_MAX;
}
