/* base/guess.c: the distance between two words, in letters added, left out, changed or swapped with
 * their neighbour. */
#include "base/guess.h"

#include <string.h>

#define LETTERS_MAX 64
#define DISTANCE_MAX 2

static size_t least(size_t left, size_t right) {
    return left < right ? left : right;
}

/* The usual table of distances between beginnings of both words; three rows of it are enough.
 * columns is at most LETTERS_MAX. */
static size_t distance(const char *left, size_t rows, const char *right, size_t columns) {
    size_t table[3][LETTERS_MAX + 1];

    for (size_t j = 0; j <= columns; j++)
        table[0][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t *now = table[i % 3];
        const size_t *above = table[(i - 1) % 3];
        const size_t *two_above = table[(i + 1) % 3];

        now[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            now[j] = least(least(above[j], now[j - 1]) + 1,
                           above[j - 1] + (left[i - 1] != right[j - 1]));
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
                now[j] = least(now[j], two_above[j - 2] + 1);
        }
    }
    return table[rows % 3][columns];
}

const char *alk__guess(const char *word, const char *const *candidates, size_t count) {
    const char *best = NULL;
    size_t best_distance = DISTANCE_MAX + 1;
    size_t length = strlen(word);

    for (size_t i = 0; i < count; i++) {
        size_t candidate_length = strlen(candidates[i]);
        if (candidate_length > LETTERS_MAX)
            continue;
        size_t d = distance(word, length, candidates[i], candidate_length);
        if (d < best_distance && 2 * d < length) {
            best = candidates[i];
            best_distance = d;
        }
    }
    return best;
}
