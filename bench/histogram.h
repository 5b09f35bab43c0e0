/* bench/histogram.h: a log-linear histogram of times: each power of two is cut into 64 equal parts,
 * so that a percentile is at most 1.6 % above what was measured, whatever its size. */
#ifndef ALK_BENCH_HISTOGRAM_H
#define ALK_BENCH_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_PARTS 64
#define HISTOGRAM_BUCKETS (HISTOGRAM_PARTS * 59)

/* Starts as {0}. */
struct histogram {
    int64_t count;
    int64_t largest;
    int64_t buckets[HISTOGRAM_BUCKETS];
};

/* Negative values count as 0. Not thread-safe. */
void histogram_add(struct histogram *histogram, int64_t value);

/* The value that percent (0-100) of those added do not exceed, rounded up to its bucket's end; 0
 * when there are none. */
int64_t histogram_percentile(const struct histogram *histogram, double percent);

#endif
