/* tests/support/tsv.h: the vectors: a line a case, fields between single tabs, the names of the
 * columns in the first line. */
#ifndef ALK_TESTS_SUPPORT_TSV_H
#define ALK_TESTS_SUPPORT_TSV_H

#include <stdbool.h>
#include <stdint.h>

#define TSV_FIELDS_MAX 8

/* Zone files of tzdata 2025b (public domain), with which the vectors were worked out: governments
 * change their rules, these cases do not. */
#define PINNED_ZONES ALK_TEST_SOURCE_DIR "/tests/vectors/zones"

struct tsv {
    char *bytes, *next;
    int line;
    char *field[TSV_FIELDS_MAX]; /* of the current line; "" behind the last */
};

/* Opens tests/vectors/NAME; fails the test when it is not there. */
struct tsv tsv_open(const char *name);
bool tsv_next(struct tsv *tsv);
void tsv_close(struct tsv *tsv);

/* The next word of *text, which is cut at single blanks; NULL at the end. */
char *tsv_word(char **text);

/* Seconds since 1970 of an RFC 3339 text; fails the test when it is none. */
int64_t seconds_of(const char *text);

#endif
