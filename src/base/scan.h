/* base/scan.h: a cursor over a slice, for the small grammars (durations, times). Inline: a few
 * instructions each. */
#ifndef ALK_BASE_SCAN_H
#define ALK_BASE_SCAN_H

#include "base/text.h"

struct alk__scan {
    struct alk__text text;
    size_t at; /* offset of what comes next; a column in a message is one more */
};

/* The byte that comes next, -1 at the end. */
static inline int alk__scan_peek(const struct alk__scan *scan) {
    return scan->at < scan->text.length ? (unsigned char)scan->text.bytes[scan->at] : -1;
}

static inline bool alk__scan_take(struct alk__scan *scan, char byte) {
    if (alk__scan_peek(scan) != (unsigned char)byte)
        return false;
    scan->at++;
    return true;
}

static inline bool alk__scan_is_digit(const struct alk__scan *scan) {
    return alk__scan_peek(scan) >= '0' && alk__scan_peek(scan) <= '9';
}

/* Takes up to maximum digits (at most 18) and gives how many there were. */
static inline int alk__scan_digits(struct alk__scan *scan, int maximum, int64_t *ret_number) {
    int count = 0;
    int64_t number = 0;

    for (; count < maximum && alk__scan_is_digit(scan); count++)
        number = number * 10 + (scan->text.bytes[scan->at++] - '0');
    *ret_number = number;
    return count;
}

#endif
