/* base/arena.c: the one door to malloc, and memory in blocks on top of it. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* How many allocations are left until one fails; 0 and below: none does. */
static atomic_long until_failure;

void alk__alloc_fail_at(long n) {
    atomic_store(&until_failure, n);
}

static bool must_fail(void) {
    return atomic_load(&until_failure) > 0 && atomic_fetch_sub(&until_failure, 1) == 1;
}

void *alk__alloc(size_t size) {
    return must_fail() ? NULL : calloc(1, size == 0 ? 1 : size);
}

void *alk__realloc(void *memory, size_t size) {
    return must_fail() ? NULL : realloc(memory, size == 0 ? 1 : size);
}

void alk__free(void *memory) {
    free(memory);
}

struct alk__arena_block {
    struct alk__arena_block *next;
    size_t used;
    size_t size;
    max_align_t bytes[];
};

#define BLOCK_BYTES ((size_t)4000)

static struct alk__arena_block *new_block(size_t size) {
    struct alk__arena_block *block = NULL;

    if (size <= SIZE_MAX - sizeof(*block))
        block = alk__alloc(sizeof(*block) + size);
    if (block != NULL)
        block->size = size;
    return block;
}

/* The block in which size bytes fit. A large piece gets a block of its own behind the first one,
 * whose room stays in use. */
static struct alk__arena_block *block_for(struct alk__arena *arena, size_t size) {
    struct alk__arena_block *first = arena->block;

    if (first != NULL && size <= first->size - first->used)
        return first;

    struct alk__arena_block *block = new_block(size > BLOCK_BYTES / 4 ? size : BLOCK_BYTES);
    if (block == NULL)
        return NULL;
    if (first != NULL && size > BLOCK_BYTES / 4) {
        block->next = first->next;
        first->next = block;
    } else {
        block->next = first;
        arena->block = block;
    }
    return block;
}

void *alk__arena_alloc(struct alk__arena *arena, size_t size) {
    const size_t unit = alignof(max_align_t);

    if (size > SIZE_MAX - unit)
        return NULL;
    size = size == 0 ? unit : (size + unit - 1) / unit * unit;

    struct alk__arena_block *block = block_for(arena, size);
    if (block == NULL)
        return NULL;
    void *memory = (char *)block->bytes + block->used;
    block->used += size;
    return memory;
}

char *alk__arena_copy(struct alk__arena *arena, const void *bytes, size_t length) {
    char *copy = length == SIZE_MAX ? NULL : alk__arena_alloc(arena, length + 1);

    if (copy != NULL && length > 0)
        memcpy(copy, bytes, length);
    return copy;
}

char *alk__arena_text(struct alk__arena *arena, const char *text) {
    return alk__arena_copy(arena, text, strlen(text));
}

void alk__arena_free(struct alk__arena *arena) {
    struct alk__arena_block *next;

    for (struct alk__arena_block *block = arena->block; block != NULL; block = next) {
        next = block->next;
        alk__free(block);
    }
    arena->block = NULL;
}
