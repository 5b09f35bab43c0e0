/* base/arena.h: memory that is given back all at once. One result, one arena. Not thread-safe. */
#ifndef ALK_BASE_ARENA_H
#define ALK_BASE_ARENA_H

#include <stddef.h>

struct alk__arena {
    struct alk__arena_block *block;
};

/* Zeroed memory aligned for any type, NULL when there is none left. size 0 gives a valid
 * pointer. */
void *alk__arena_alloc(struct alk__arena *arena, size_t size);

/* A copy with a NUL behind it (not counted). */
char *alk__arena_copy(struct alk__arena *arena, const void *bytes, size_t length);
char *alk__arena_text(struct alk__arena *arena, const char *text);

void alk__arena_free(struct alk__arena *arena);

/* The n-th allocation from now fails (1 = the next), 0 = none: the seam by which tests provoke
 * ALK_NOMEM (S218). All allocation in the library goes through these three and the arena. */
void alk__alloc_fail_at(long n);

/* Zeroed memory, also for size 0; NULL when there is none. realloc does not zero what is new. */
void *alk__alloc(size_t size);
void *alk__realloc(void *memory, size_t size);
void alk__free(void *memory);

#endif
