/* program/words.h: a command as people write it, cut into its words. */
#ifndef ALK_PROGRAM_WORDS_H
#define ALK_PROGRAM_WORDS_H

#include "base/arena.h"

#include <alkstore/base.h>

/* A list of texts with a NULL behind the last one, as execve() takes it. */
struct alk__words {
    char **items;
    size_t count;
};

/* Cuts text where blanks, or any byte of separators, stand outside quotes. Quoting is the shell's:
 * '...' keeps all, "..." keeps all but \ before " \ $ and `, \ outside keeps the byte after it.
 * Nothing is expanded: $, *, |, ; are bytes like any other, no shell is ever asked. The words live
 * in arena.
 * ALK_OK, also for none; ALK_INVALID with the column of a quote that does not end. */
alk_status alk__words_split(struct alk__arena *arena, const char *text, const char *separators,
                            struct alk__words *ret_words, alk_error *error);

#endif
