/* bench/histogram.c: values below 64 have a bucket each; above, a bucket is known by the highest
 * seven bits. */
#include "histogram.h"

/* How many bits of the value its bucket does not tell. */
static int shift_of(int64_t value) {
    return value < HISTOGRAM_PARTS ? 0 : 57 - __builtin_clzll((unsigned long long)value);
}

static int bucket_of(int64_t value) {
    int shift = shift_of(value);

    return HISTOGRAM_PARTS * shift + (int)(value >> shift);
}

static int64_t end_of(int bucket) {
    if (bucket < 2 * HISTOGRAM_PARTS)
        return bucket;
    int shift = bucket / HISTOGRAM_PARTS - 1;
    int64_t first = (int64_t)(bucket % HISTOGRAM_PARTS + HISTOGRAM_PARTS) << shift;
    return first + ((INT64_C(1) << shift) - 1);
}

void histogram_add(struct histogram *histogram, int64_t value) {
    if (value < 0)
        value = 0;
    if (value > histogram->largest)
        histogram->largest = value;
    histogram->buckets[bucket_of(value)]++;
    histogram->count++;
}

int64_t histogram_percentile(const struct histogram *histogram, double percent) {
    double wanted = (double)histogram->count * percent / 100;
    int64_t seen = 0;

    for (int bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
        seen += histogram->buckets[bucket];
        if (seen > 0 && (double)seen >= wanted) {
            int64_t end = end_of(bucket);
            return end < histogram->largest ? end : histogram->largest;
        }
    }
    return 0;
}
