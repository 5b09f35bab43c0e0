/* tests/support/slow_when.h: a second evaluator of cron specs, slow and simple (S229).
 *
 * It shares nothing with src/when: it reads the text of the spec anew for every day, the calendar
 * and the zones are libc's, and it asks for each local time that matches at which moments clocks
 * show it. It takes valid specs of 5 to 7 fields without H. Not for threads: it sets TZ. */
#ifndef ALK_TESTS_SUPPORT_SLOW_WHEN_H
#define ALK_TESTS_SUPPORT_SLOW_WHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slow_stretch {
    int64_t start, end;
    int64_t offset_s;
};

/* The stretches of constant offset of a zone between two times. */
struct slow_zone {
    struct slow_stretch *stretches;
    size_t count;
};

struct slow_zone slow_zone_read(const char *name, int64_t from_s, int64_t to_s);
void slow_zone_free(struct slow_zone *zone);

enum slow_fold { SLOW_AUTO, SLOW_FIRST, SLOW_LAST, SLOW_BOTH };

/* All boundaries from from_s on and before to_s, ascending; the caller frees them. The zone was
 * read for two days more at both ends. */
size_t slow_boundaries(const char *spec, const struct slow_zone *zone, bool is_gap_skipped,
                       enum slow_fold fold, int64_t from_s, int64_t to_s, int64_t **ret_times);

#endif
