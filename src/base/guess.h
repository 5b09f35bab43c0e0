/* base/guess.h: "did you mean". */
#ifndef ALK_BASE_GUESS_H
#define ALK_BASE_GUESS_H

#include <stddef.h>

/* The candidate that word most likely was meant to be, NULL if none is near: at most two letters
 * added, left out, changed or swapped with their neighbour, and fewer than half of the word. The
 * first of equals wins. */
const char *alk__guess(const char *word, const char *const *candidates, size_t count);

#endif
