/* tests/support/random_when.h: random cron specs, zones and policies by a seed, and what is checked
 * of each. */
#ifndef ALK_TESTS_SUPPORT_RANDOM_WHEN_H
#define ALK_TESTS_SUPPORT_RANDOM_WHEN_H

#include "support/slow_when.h"
#include "when/zone.h"

/* A small generator (xorshift64*): the same numbers on every machine. */
uint64_t seeded_bits(uint64_t *seed);
int seeded_below(uint64_t *seed, int end);

/* A spec of 5 to 7 fields that the grammar takes (but that may match no day). is_dense: it may run
 * in every second. */
void random_spec(uint64_t *seed, bool is_dense, char *spec, size_t size);

/* Compares src/when with the slow evaluator over from_s..to_s with a random spec and random
 * policies: next, prev, that next goes on strictly and that next(prev(x)) = x. Fails the test with
 * what is needed to repeat it. */
void compare_random_spec(uint64_t *seed, bool is_dense, struct alk__zones *zones, const char *name,
                         const struct slow_zone *slow, int64_t from_s, int64_t to_s);

#endif
